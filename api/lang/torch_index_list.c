// SPDX-License-Identifier: Apache-2.0
// Indices that are lists: masks and tensors of integers (NumPy calls them advanced).
// There is no kernel that gathers, so the elements are brought to the host, picked there,
// and become a new tensor; x[mask] = number alone stays lazy, as where(). Rules are
// torch's: lists broadcast together; their dimensions stand where they stood if they are
// neighbours, else in front. The program's thread.
#include "api/lang/torch_picking.h"

void *picking_take(struct picking *picking, int64_t count, size_t size)
{
    struct vm *vm = picking->vm;
    int64_t bytes;
    if (!size_multiply(count > 0 ? count : 1, (int64_t)size, &bytes) ||
        picking->n_scratch == SCRATCH_MAX) {
        vm_raise(vm, STATUS_LIMIT, "the index selects too much");
        return NULL;
    }
    if (vm_spend(vm, count) != OUTCOME_OK)
        return NULL;
    void *memory = heap_resize(vm_heap(vm), NULL, 0, (size_t)bytes, vm_problem(vm));
    if (memory != NULL) {
        picking->scratch[picking->n_scratch].memory = memory;
        picking->scratch[picking->n_scratch++].bytes = (size_t)bytes;
    }
    return memory;
}

void picking_end(struct picking *picking)
{
    for (int i = 0; i < picking->n_scratch; i++)
        heap_resize(vm_heap(picking->vm), picking->scratch[i].memory,
                    picking->scratch[i].bytes, 0, vm_problem(picking->vm));
    picking->n_scratch = 0;
}

// ---- The lists as columns

static enum outcome add_column(struct picking *picking, int dim, const int64_t *values,
                               const struct layout *layout)
{
    struct column *column = &picking->columns[picking->n_columns++];
    column->dim = dim;
    column->values = values;
    layout_copy(&column->layout, layout);
    return OUTCOME_OK;
}

static enum outcome add_integers(struct picking *picking, int dim,
                                 const struct layout *layout, int64_t count,
                                 enum dtype dtype, const void *elements)
{
    int64_t size = picking->view.layout.shape[dim];
    int64_t *values = picking_take(picking, count, sizeof *values);
    if (values == NULL)
        return OUTCOME_ERROR;
    for (int64_t i = 0; i < count; i++) {
        int64_t index = torch_element(elements, dtype, i).i;
        if (index < -size || index >= size)
            return vm_raise(picking->vm, STATUS_INDEX,
                            "index %lld is out of bounds for dimension %d with size %lld",
                            (long long)index, dim, (long long)size);
        values[i] = index < 0 ? index + size : index;
    }
    return add_column(picking, dim, values, layout);
}

static enum outcome check_mask(struct vm *vm, const struct layout *mask,
                               const struct layout *view, int dim)
{
    for (int i = 0; i < mask->ndim; i++)
        if (mask->shape[i] != view->shape[dim + i])
            return vm_raise(vm, STATUS_INDEX,
                            "The shape of the mask (%lld at dimension %d) does not match "
                            "the shape of the indexed tensor (%lld)",
                            (long long)mask->shape[i], i,
                            (long long)view->shape[dim + i]);
    return OUTCOME_OK;
}

// The indices of what is true, a column for each dimension of the mask.
static enum outcome add_mask(struct picking *picking, int dim,
                             const struct layout *layout, int64_t count, enum dtype dtype,
                             const void *elements)
{
    if (check_mask(picking->vm, layout, &picking->view.layout, dim) != OUTCOME_OK)
        return OUTCOME_ERROR;
    struct layout one = {.ndim = 1};
    for (int64_t i = 0; i < count; i++)
        one.shape[0] += torch_element(elements, dtype, i).i != 0;
    layout_contiguous(&one);
    for (int d = 0; d < layout->ndim; d++) {
        int64_t *values = picking_take(picking, one.shape[0], sizeof *values), used = 0;
        if (values == NULL || vm_spend(picking->vm, count) != OUTCOME_OK)
            return OUTCOME_ERROR;
        for (int64_t i = 0; i < count; i++)
            if (torch_element(elements, dtype, i).i != 0)
                values[used++] = i / layout->strides[d] % layout->shape[d];
        add_column(picking, dim + d, values, &one);
    }
    return OUTCOME_OK;
}

static enum outcome add_list(struct picking *picking, const struct index_item *item,
                             int dim)
{
    struct vm *vm = picking->vm;
    struct layout layout;
    struct literal literal = {.elements = NULL};
    const void *elements;
    enum dtype dtype;
    if (value_is_tensor(item->list)) {
        struct lazy *lazy = tensor_of(item->list)->lazy;
        struct tensor *host;
        enum outcome outcome = vm_host(vm, lazy, &host);
        if (outcome != OUTCOME_OK)
            return outcome;
        layout_copy(&layout, lazy_layout(lazy));
        dtype = lazy_dtype(lazy);
        elements = torch_elements(host);
    } else {
        enum outcome outcome =
            literal_read(vm, item->list, false, false, DTYPE_INT64, &literal);
        if (outcome != OUTCOME_OK)
            return outcome;
        layout_copy(&layout, &literal.layout);
        dtype = literal.dtype;
        elements = literal.elements;
    }
    layout_contiguous(&layout);
    int64_t count = 0;
    enum outcome outcome = OUTCOME_OK;
    size_of_shape(layout.ndim, layout.shape, &count);
    if (dtype_is_float(dtype) && count > 0)
        outcome = vm_raise(vm, STATUS_INDEX,
                           "tensors used as indices must be long, byte or bool tensors");
    else if (vm_spend(vm, count) != OUTCOME_OK)
        outcome = OUTCOME_ERROR;
    else if (item->is_mask)
        outcome = add_mask(picking, dim, &layout, count, dtype, elements);
    else
        outcome = add_integers(picking, dim, &layout, count, dtype, elements);
    literal_free(vm, &literal);
    return outcome;
}

// ---- What is picked

// Offsets of a layout's elements in C order.
void layout_enumerate(const struct layout *layout, int64_t count, int64_t *out)
{
    int64_t index[TENSOR_MAX_NDIM] = {0}, offset = 0;
    for (int64_t i = 0; i < count; i++) {
        out[i] = offset;
        for (int d = layout->ndim - 1; d >= 0; d--) {
            offset += layout->strides[d];
            if (++index[d] < layout->shape[d])
                break;
            offset -= layout->strides[d] * layout->shape[d];
            index[d] = 0;
        }
    }
}

static bool is_column(const struct picking *picking, int dim)
{
    for (int i = 0; i < picking->n_columns; i++)
        if (picking->columns[i].dim == dim)
            return true;
    return false;
}

static bool are_neighbours(const struct picking *picking)
{
    for (int i = 1; i < picking->n_columns; i++)
        if (picking->columns[i].dim != picking->columns[i - 1].dim + 1)
            return false;
    return true;
}

static enum outcome append(struct picking *picking, struct layout *to,
                           const struct layout *from, int dim)
{
    if (to->ndim == TENSOR_MAX_NDIM)
        return vm_raise(picking->vm, STATUS_LIMIT, "a tensor has at most %d dimensions",
                        TENSOR_MAX_NDIM);
    to->shape[to->ndim] = from->shape[dim];
    to->strides[to->ndim++] = from->strides[dim];
    return OUTCOME_OK;
}

// The dimensions before and behind the lists, and the result's shape.
static enum outcome arrange(struct picking *picking, const struct layout *broadcast,
                            struct layout *outer, struct layout *inner)
{
    const struct layout *view = &picking->view.layout;
    int first = are_neighbours(picking) ? picking->columns[0].dim : 0;
    outer->ndim = inner->ndim = picking->result.ndim = 0;
    for (int d = 0; d < view->ndim; d++)
        if (!is_column(picking, d) &&
            append(picking, d < first ? outer : inner, view, d) != OUTCOME_OK)
            return OUTCOME_ERROR;
    const struct layout *parts[] = {outer, broadcast, inner};
    for (int p = 0; p < 3; p++)
        for (int d = 0; d < parts[p]->ndim; d++)
            if (append(picking, &picking->result, parts[p], d) != OUTCOME_OK)
                return OUTCOME_ERROR;
    int64_t count;
    if (shape_check(picking->result.ndim, picking->result.shape, 8, &count,
                    vm_problem(picking->vm)) != STATUS_OK ||
        !size_of_shape(outer->ndim, outer->shape, &picking->n_outer) ||
        !size_of_shape(inner->ndim, inner->shape, &picking->n_inner) ||
        !size_of_shape(broadcast->ndim, broadcast->shape, &picking->n_index))
        return vm_raise(picking->vm, STATUS_SHAPE, "the index selects too much");
    layout_contiguous(&picking->result);
    return OUTCOME_OK;
}

static enum outcome sum_columns(struct picking *picking, const struct layout *broadcast)
{
    int64_t *places = picking_take(picking, picking->n_index, sizeof *places);
    if (places == NULL)
        return OUTCOME_ERROR;
    memset(picking->index, 0, (size_t)picking->n_index * sizeof *picking->index);
    for (int i = 0; i < picking->n_columns; i++) {
        const struct column *column = &picking->columns[i];
        struct layout wide;
        if (layout_expand(&column->layout, broadcast->ndim, broadcast->shape, &wide,
                          vm_problem(picking->vm)) != STATUS_OK ||
            vm_spend(picking->vm, picking->n_index) != OUTCOME_OK)
            return OUTCOME_ERROR;
        layout_enumerate(&wide, picking->n_index, places);
        int64_t stride = picking->view.layout.strides[column->dim];
        for (int64_t b = 0; b < picking->n_index; b++)
            picking->index[b] += column->values[places[b]] * stride;
    }
    return OUTCOME_OK;
}

static enum outcome prepare(struct picking *picking, const struct index_key *key)
{
    enum outcome all = OUTCOME_OK;
    for (int i = 0; i < picking->view.n_lists; i++)
        if (!outcome_keep(&all, add_list(picking, &key->items[picking->view.list_item[i]],
                                         picking->view.list_at[i])))
            return OUTCOME_ERROR;
    if (all != OUTCOME_OK)
        return all;
    const struct layout *layouts[COLUMNS_MAX];
    struct layout broadcast, outer, inner;
    for (int i = 0; i < picking->n_columns; i++)
        layouts[i] = &picking->columns[i].layout;
    if (shape_broadcast(picking->n_columns, layouts, &broadcast,
                        vm_problem(picking->vm)) != STATUS_OK)
        return vm_raise(picking->vm, STATUS_INDEX,
                        "shape mismatch: indexing tensors could not be broadcast "
                        "together");
    layout_contiguous(&broadcast);
    if (arrange(picking, &broadcast, &outer, &inner) != OUTCOME_OK)
        return OUTCOME_ERROR;
    picking->outer = picking_take(picking, picking->n_outer, sizeof *picking->outer);
    picking->index = picking_take(picking, picking->n_index, sizeof *picking->index);
    picking->inner = picking_take(picking, picking->n_inner, sizeof *picking->inner);
    if (picking->outer == NULL || picking->index == NULL || picking->inner == NULL)
        return OUTCOME_ERROR;
    layout_enumerate(&outer, picking->n_outer, picking->outer);
    layout_enumerate(&inner, picking->n_inner, picking->inner);
    return sum_columns(picking, &broadcast);
}

// The elements of self on the host, and what the key picks of them.
enum outcome picking_begin(struct picking *picking, struct value self,
                           const struct index_key *key, const char **elements)
{
    struct lazy *lazy = tensor_of(self)->lazy;
    struct layout layout;
    struct tensor *host;
    layout_copy(&layout, lazy_layout(lazy));
    layout_contiguous(&layout);
    enum outcome all = index_view(picking->vm, &layout, 0, key, &picking->view);
    if (all == OUTCOME_ERROR || !outcome_keep(&all, vm_host(picking->vm, lazy, &host)) ||
        !outcome_keep(&all, prepare(picking, key)))
        return OUTCOME_ERROR;
    if (all == OUTCOME_OK)
        *elements = torch_elements(host);
    return all;
}

// ---- x[lists]

static enum outcome gather(struct picking *picking, struct value self,
                           const char *elements, struct lazy **out)
{
    struct lazy *lazy = tensor_of(self)->lazy;
    size_t size = (size_t)dtype_size(lazy_dtype(lazy));
    int64_t count = picking->n_outer * picking->n_index * picking->n_inner;
    char *picked = picking_take(picking, count, size), *to = picked;
    if (picked == NULL)
        return OUTCOME_ERROR;
    for (int64_t o = 0; o < picking->n_outer; o++)
        for (int64_t b = 0; b < picking->n_index; b++)
            for (int64_t i = 0; i < picking->n_inner; i++, to += size) {
                int64_t at = picking->outer[o] + picking->index[b] + picking->inner[i] +
                             picking->view.offset;
                memcpy(to, elements + (size_t)at * size, size);
            }
    return outcome_of(cells_literal(vm_cells(picking->vm), lazy_dtype(lazy),
                                    &picking->result, picked, out,
                                    vm_problem(picking->vm)));
}

enum outcome index_gather(struct vm *vm, struct value self, const struct index_key *key,
                          struct value *result)
{
    struct picking picking = {.vm = vm};
    const char *elements = NULL;
    struct lazy *picked;
    enum outcome outcome = picking_begin(&picking, self, key, &elements);
    if (outcome == OUTCOME_OK)
        outcome = gather(&picking, self, elements, &picked);
    picking_end(&picking);
    if (outcome != OUTCOME_OK)
        return outcome;
    struct pool pool = {.vm = vm};
    struct lazy *there = pool_cast(&pool, pool_keep(&pool, picked), lazy_dtype(picked),
                                   lazy_device(tensor_of(self)->lazy));
    struct flavor flavor = torch_view_flavor(vm, self, "IndexBackward0");
    flavor.is_leaf_view = false;
    return pool_end(&pool, there, flavor, result);
}
