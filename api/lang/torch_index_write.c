// SPDX-License-Identifier: Apache-2.0
// x[lists] = item. A mask with a number is where(), lazily; everything else is written
// into a copy of the elements on the host, which then replaces the tensor's content. The
// program's thread.
#include "api/lang/torch_picking.h"

// ---- x[mask] = number

// The mask as it stands in the view: with a dimension of size 1 for each behind it.
static enum outcome place_mask(struct vm *vm, struct lazy *mask,
                               const struct index_view *view, struct lazy **out)
{
    struct layout layout;
    layout_copy(&layout, lazy_layout(mask));
    int at = view->list_at[0];
    for (int i = 0; i < layout.ndim; i++)
        if (layout.shape[i] != view->layout.shape[at + i])
            return vm_raise(vm, STATUS_INDEX,
                            "The shape of the mask (%lld at dimension %d) does not match "
                            "the shape of the indexed tensor (%lld)",
                            (long long)layout.shape[i], i,
                            (long long)view->layout.shape[at + i]);
    while (at + layout.ndim < view->layout.ndim) {
        layout.shape[layout.ndim] = 1;
        layout.strides[layout.ndim++] = 1;
    }
    return outcome_of(lazy_view(mask, &layout, lazy_offset(mask), out, vm_problem(vm)));
}

struct lazy *torch_choose(struct pool *pool, struct lazy *mask, struct value item,
                          struct lazy *target)
{
    struct lazy_argument arguments[OP_MAX_PARAMETERS] = {{.kind = ARGUMENT_NONE}};
    struct lazy *results[OP_MAX_RESULTS];
    int n_results;
    enum dtype dtype = lazy_dtype(target);
    arguments[0].kind = arguments[1].kind = arguments[2].kind = ARGUMENT_TENSOR;
    arguments[0].tensor = pool_cast(pool, mask, lazy_dtype(mask), lazy_device(target));
    if (value_is_number(item)) {
        bool in_range = true;
        union element element =
            scalar_to_element(torch_scalar_of(item), dtype, &in_range);
        if (!in_range) {
            vm_raise(pool->vm, STATUS_VALUE,
                     "value cannot be converted to type %s without overflow",
                     dtype_name(dtype));
            pool->failed = true;
            return NULL;
        }
        arguments[1].is_number = true;
        arguments[1].number = element_to_scalar(element, dtype);
    } else {
        arguments[1].tensor =
            pool_cast(pool, tensor_of(item)->lazy, dtype, lazy_device(target));
    }
    arguments[2].tensor = target;
    if (pool->failed || lazy_op(vm_cells(pool->vm), OP_where, false, arguments, results,
                                &n_results, vm_problem(pool->vm)) != STATUS_OK)
        return NULL;
    return pool_keep(pool, results[0]);
}

static enum outcome mask_write(struct vm *vm, struct value self,
                               const struct index_key *key, const struct index_view *view,
                               struct value item)
{
    struct pool pool = {.vm = vm};
    struct lazy *mask = tensor_of(key->items[view->list_item[0]].list)->lazy, *placed;
    struct lazy *lazy = tensor_of(self)->lazy, *target;
    enum outcome outcome = place_mask(vm, mask, view, &placed);
    if (outcome != OUTCOME_OK)
        return outcome;
    pool_keep(&pool, placed);
    outcome = OUTCOME_ERROR;
    if (lazy_view(lazy, &view->layout, view->offset, &target, vm_problem(vm)) ==
        STATUS_OK) {
        pool_keep(&pool, target);
        struct lazy *chosen = torch_choose(&pool, placed, item, target);
        if (chosen != NULL)
            outcome =
                outcome_of(lazy_write(vm_cells(vm), target, chosen, vm_problem(vm)));
    }
    pool_release(&pool);
    return outcome;
}

// ---- x[lists] = item

// The item's elements in the dtype of self, and where each of the result's comes from.
struct supply {
    struct scalar number; // without elements
    const void *elements;
    enum dtype dtype;
    int64_t *places;
    struct literal literal;
};

static enum outcome supply_elements(struct picking *picking, struct value item,
                                    enum dtype dtype, struct supply *supply,
                                    struct layout *layout)
{
    if (!value_is_tensor(item)) {
        enum outcome outcome =
            literal_read(picking->vm, item, true, true, dtype, &supply->literal);
        if (outcome != OUTCOME_OK)
            return outcome;
        supply->elements = supply->literal.elements;
        supply->dtype = dtype;
        layout_copy(layout, &supply->literal.layout);
        return OUTCOME_OK;
    }
    struct tensor *host;
    struct lazy *lazy = tensor_of(item)->lazy;
    enum outcome outcome = vm_host(picking->vm, lazy, &host);
    if (outcome != OUTCOME_OK)
        return outcome;
    supply->elements = torch_elements(host);
    supply->dtype = lazy_dtype(lazy);
    layout_copy(layout, lazy_layout(lazy));
    layout_contiguous(layout);
    return OUTCOME_OK;
}

static enum outcome supply_places(struct picking *picking, const struct layout *layout,
                                  struct supply *supply)
{
    struct layout wide;
    int64_t count = picking->n_outer * picking->n_index * picking->n_inner;
    if (layout_expand(layout, picking->result.ndim, picking->result.shape, &wide,
                      vm_problem(picking->vm)) != STATUS_OK) {
        char from[80], to[80];
        shape_text(layout->ndim, layout->shape, from, sizeof from);
        shape_text(picking->result.ndim, picking->result.shape, to, sizeof to);
        return vm_raise(picking->vm, STATUS_SHAPE,
                        "shape mismatch: value tensor of shape %s cannot be broadcast to "
                        "indexing result of shape %s",
                        from, to);
    }
    supply->places = picking_take(picking, count, sizeof *supply->places);
    if (supply->places == NULL)
        return OUTCOME_ERROR;
    layout_enumerate(&wide, count, supply->places);
    return OUTCOME_OK;
}

// A copy of the whole tensor with the picked elements replaced, written back lazily.
static enum outcome scatter(struct picking *picking, struct value self,
                            const char *elements, const struct supply *supply)
{
    struct lazy *lazy = tensor_of(self)->lazy, *fresh;
    enum dtype dtype = lazy_dtype(lazy);
    size_t size = (size_t)dtype_size(dtype);
    struct layout layout;
    char *copy = picking_take(picking, lazy_count(lazy), size);
    if (copy == NULL)
        return OUTCOME_ERROR;
    if (lazy_count(lazy) > 0)
        memcpy(copy, elements, (size_t)lazy_count(lazy) * size);
    union element element = scalar_to_element(supply->number, dtype, NULL);
    const int64_t *place = supply->places;
    for (int64_t o = 0; o < picking->n_outer; o++)
        for (int64_t b = 0; b < picking->n_index; b++)
            for (int64_t i = 0; i < picking->n_inner; i++) {
                if (supply->elements != NULL)
                    element = scalar_to_element(
                        torch_element(supply->elements, supply->dtype, *place++), dtype,
                        NULL);
                int64_t at = picking->outer[o] + picking->index[b] + picking->inner[i] +
                             picking->view.offset;
                memcpy(copy + (size_t)at * size, &element, size);
            }
    layout_copy(&layout, lazy_layout(lazy));
    layout_contiguous(&layout);
    struct cells *cells = vm_cells(picking->vm);
    struct problem *problem = vm_problem(picking->vm);
    if (cells_literal(cells, dtype, &layout, copy, &fresh, problem) != STATUS_OK)
        return OUTCOME_ERROR;
    struct pool pool = {.vm = picking->vm};
    struct lazy *there =
        pool_cast(&pool, pool_keep(&pool, fresh), dtype, lazy_device(lazy));
    enum outcome outcome = there == NULL
                               ? OUTCOME_ERROR
                               : outcome_of(lazy_write(cells, lazy, there, problem));
    pool_release(&pool);
    return outcome;
}

static enum outcome scatter_item(struct picking *picking, struct value self,
                                 const struct index_key *key, struct value item)
{
    struct supply supply = {.literal = {.elements = NULL}};
    struct layout layout;
    const char *elements = NULL;
    enum outcome all = OUTCOME_OK;
    enum dtype dtype = lazy_dtype(tensor_of(self)->lazy);
    bool number = value_is_number(item);
    if (number)
        supply.number = torch_scalar_of(item);
    else if (!outcome_keep(&all, supply_elements(picking, item, dtype, &supply, &layout)))
        return OUTCOME_ERROR;
    if (outcome_keep(&all, picking_begin(picking, self, key, &elements)) &&
        all == OUTCOME_OK) {
        if (!number)
            all = supply_places(picking, &layout, &supply);
        if (all == OUTCOME_OK)
            all = scatter(picking, self, elements, &supply);
    }
    literal_free(picking->vm, &supply.literal);
    return all;
}

enum outcome index_scatter(struct vm *vm, struct value self, const struct index_key *key,
                           const struct index_view *view, struct value item)
{
    bool lazily =
        key->n_lists == 1 && key->items[view->list_item[0]].is_mask &&
        value_is_tensor(key->items[view->list_item[0]].list) &&
        (value_is_number(item) ||
         (value_is_tensor(item) && lazy_layout(tensor_of(item)->lazy)->ndim == 0));
    if (lazily)
        return mask_write(vm, self, key, view, item);
    struct picking picking = {.vm = vm};
    enum outcome outcome = scatter_item(&picking, self, key, item);
    picking_end(&picking);
    return outcome;
}
