// SPDX-License-Identifier: Apache-2.0
// x[key] and x[key] = item. Integers, slices, ... and None name a view; masks and lists
// of integers are gathered or scattered (torch_index_list.c). Texts of errors are
// torch's. The program's thread.
#include "api/lang/torch.h"

// ---- What a key means

static bool is_index_list(struct value value)
{
    return value_is_object(value, OBJECT_LIST) || value_is_tensor(value);
}

// Whether the leaves of a list of lists are bools, and its dimensions.
static bool list_is_mask(struct value value, int *ndim)
{
    const struct value *items;
    int64_t count;
    for (*ndim = 0; *ndim < TENSOR_MAX_NDIM && sequence_items(value, &items, &count);
         ++*ndim) {
        if (count == 0) {
            ++*ndim;
            return false;
        }
        value = items[0];
    }
    return value.tag == VALUE_BOOL;
}

static enum outcome read_list(struct vm *vm, struct value value, struct index_item *item)
{
    item->kind = INDEX_LIST;
    item->list = value;
    int ndim;
    if (value_is_tensor(value)) {
        const struct lazy *lazy = tensor_of(value)->lazy;
        ndim = lazy_layout(lazy)->ndim;
        item->is_mask = lazy_dtype(lazy) == DTYPE_BOOL ||
                        (lazy_dtype(lazy) == DTYPE_UINT8 && !value_is_array(value));
        if (dtype_is_float(lazy_dtype(lazy)))
            return vm_raise(vm, STATUS_INDEX,
                            "tensors used as indices must be long, byte or bool tensors");
    } else {
        item->is_mask = list_is_mask(value, &ndim);
    }
    if (item->is_mask && ndim == 0)
        return vm_raise(vm, STATUS_NOT_IMPLEMENTED,
                        "an index of one bool is not implemented; use where()");
    item->consumes = item->is_mask ? ndim : 1;
    return OUTCOME_OK;
}

static enum outcome read_item(struct vm *vm, struct value value, struct index_item *item)
{
    item->consumes = 1;
    if (value.tag == VALUE_INT) {
        item->kind = INDEX_INTEGER;
        item->integer = value.i;
    } else if (value.tag == VALUE_NONE) {
        item->kind = INDEX_NEW;
        item->consumes = 0;
    } else if (value.tag == VALUE_ELLIPSIS) {
        item->kind = INDEX_ELLIPSIS;
        item->consumes = 0;
    } else if (value_is_object(value, OBJECT_SLICE)) {
        item->kind = INDEX_SLICE;
        item->slice = VALUE_AS(slice_object, value);
    } else if (value_is_tensor(value) && lazy_layout(tensor_of(value)->lazy)->ndim == 0 &&
               dtype_category(lazy_dtype(tensor_of(value)->lazy)) == CATEGORY_INTEGER) {
        item->kind = INDEX_INTEGER;
        return value_to_index(vm, value, &item->integer);
    } else if (is_index_list(value)) {
        return read_list(vm, value, item);
    } else if (value.tag == VALUE_BOOL && value.i) { // x[True] is x[None]
        item->kind = INDEX_NEW;
        item->consumes = 0;
    } else if (value.tag == VALUE_BOOL) {
        return vm_raise(vm, STATUS_NOT_IMPLEMENTED,
                        "an index of False is not implemented; use where()");
    } else {
        return vm_raise(
            vm, value_is_object(value, OBJECT_STRING) ? STATUS_TYPE : STATUS_INDEX,
            "only integers, slices (`:`), ellipsis (`...`), None and long or "
            "byte Variables are valid indices (got %s)",
            torch_type_name(value));
    }
    return OUTCOME_OK;
}

enum outcome index_read(struct vm *vm, struct value self, struct value key,
                        struct index_key *out)
{
    const struct value *items = &key;
    int64_t count = 1;
    int ndim = lazy_layout(tensor_of(self)->lazy)->ndim, consumed = 0;
    if (value_is_object(key, OBJECT_TUPLE))
        sequence_items(key, &items, &count);
    if (count > INDEX_ITEMS)
        return vm_raise(vm, STATUS_INDEX, "too many indices for tensor of dimension %d",
                        ndim);
    out->count = (int)count;
    out->n_lists = 0;
    enum outcome all = OUTCOME_OK;
    for (int i = 0; i < out->count; i++) {
        if (!outcome_keep(&all, read_item(vm, items[i], &out->items[i])))
            return OUTCOME_ERROR;
        consumed += out->items[i].consumes;
        out->n_lists += out->items[i].kind == INDEX_LIST;
    }
    if (ndim == 0 && consumed > 0)
        return vm_raise(vm, STATUS_INDEX,
                        "invalid index of a 0-dim tensor. Use tensor.item() to convert a "
                        "0-dim tensor to a number");
    if (consumed > ndim)
        return vm_raise(vm, STATUS_INDEX, "too many indices for tensor of dimension %d",
                        ndim);
    return all;
}

// ---- The view

struct walk {
    struct vm *vm;
    const struct layout *in;
    struct index_view *out;
    int dim; // the next of in
    int64_t offset;
};

static enum outcome add_dimension(struct walk *walk, int64_t size, int64_t stride)
{
    struct layout *layout = &walk->out->layout;
    if (layout->ndim == TENSOR_MAX_NDIM)
        return vm_raise(walk->vm, STATUS_LIMIT, "a tensor has at most %d dimensions",
                        TENSOR_MAX_NDIM);
    layout->shape[layout->ndim] = size;
    layout->strides[layout->ndim++] = stride;
    return OUTCOME_OK;
}

static enum outcome keep_dimension(struct walk *walk)
{
    int dim = walk->dim++;
    return add_dimension(walk, walk->in->shape[dim], walk->in->strides[dim]);
}

static enum outcome apply_integer(struct walk *walk, int64_t index)
{
    int dim = walk->dim++;
    int64_t size = walk->in->shape[dim];
    if (index < -size || index >= size)
        return vm_raise(walk->vm, STATUS_INDEX,
                        "index %lld is out of bounds for dimension %d with size %lld",
                        (long long)index, dim, (long long)size);
    walk->offset += (index < 0 ? index + size : index) * walk->in->strides[dim];
    walk->out->grad_fn = "SelectBackward0";
    return OUTCOME_OK;
}

// One end of a slice, clamped as in Python.
static enum outcome slice_end(struct vm *vm, struct value value, int64_t size,
                              int64_t absent, int64_t *out)
{
    if (value.tag == VALUE_NONE) {
        *out = absent;
        return OUTCOME_OK;
    }
    if (!value_is_integer(value) && !value_is_tensor(value))
        return vm_raise(vm, STATUS_TYPE,
                        "slice indices must be integers or None or have an __index__ "
                        "method");
    enum outcome outcome = value_to_index(vm, value, out);
    if (outcome != OUTCOME_OK)
        return outcome;
    if (*out < 0)
        *out = *out < -size ? 0 : *out + size;
    if (*out > size)
        *out = size;
    return OUTCOME_OK;
}

static enum outcome apply_slice(struct walk *walk, const struct slice_object *slice)
{
    int64_t size = walk->in->shape[walk->dim], stride = walk->in->strides[walk->dim];
    int64_t start = 0, stop = 0, step = 1;
    enum outcome all = OUTCOME_OK;
    if (slice->step.tag != VALUE_NONE &&
        (value_is_integer(slice->step) || value_is_tensor(slice->step)) &&
        !outcome_keep(&all, value_to_index(walk->vm, slice->step, &step)))
        return OUTCOME_ERROR;
    if (slice->step.tag != VALUE_NONE && !value_is_integer(slice->step) &&
        !value_is_tensor(slice->step))
        return vm_raise(walk->vm, STATUS_TYPE,
                        "slice indices must be integers or None or have an __index__ "
                        "method");
    if (all == OUTCOME_OK && step <= 0)
        return vm_raise(walk->vm, STATUS_VALUE,
                        "step must be greater than zero (a view with a negative step is "
                        "not implemented)");
    if (!outcome_keep(&all, slice_end(walk->vm, slice->start, size, 0, &start)) ||
        !outcome_keep(&all, slice_end(walk->vm, slice->stop, size, size, &stop)))
        return OUTCOME_ERROR;
    if (all != OUTCOME_OK)
        return all;
    walk->dim++;
    walk->out->grad_fn = "SliceBackward0";
    int64_t length = stop > start ? (stop - start - 1) / step + 1 : 0;
    if (length > 0)
        walk->offset += start * stride;
    // A stride is only used between two elements.
    return add_dimension(walk, length, length > 1 ? stride * step : stride);
}

static enum outcome apply_list(struct walk *walk, const struct index_key *key, int i)
{
    struct index_view *out = walk->out;
    out->list_at[out->n_lists] = out->layout.ndim;
    out->list_item[out->n_lists++] = i;
    out->grad_fn = "IndexBackward0";
    for (int n = 0; n < key->items[i].consumes; n++)
        if (keep_dimension(walk) != OUTCOME_OK)
            return OUTCOME_ERROR;
    return OUTCOME_OK;
}

static enum outcome apply(struct walk *walk, const struct index_key *key, int i, int rest)
{
    const struct index_item *item = &key->items[i];
    switch (item->kind) {
    case INDEX_INTEGER:
        return apply_integer(walk, item->integer);
    case INDEX_SLICE:
        return apply_slice(walk, item->slice);
    case INDEX_NEW:
        walk->out->grad_fn = "UnsqueezeBackward0";
        return add_dimension(walk, 1, 1);
    case INDEX_ELLIPSIS:
        for (int n = 0; n < rest; n++)
            if (keep_dimension(walk) != OUTCOME_OK)
                return OUTCOME_ERROR;
        return OUTCOME_OK;
    case INDEX_LIST:
    default:
        return apply_list(walk, key, i);
    }
}

enum outcome index_view(struct vm *vm, const struct layout *layout, int64_t offset,
                        const struct index_key *key, struct index_view *out)
{
    struct walk walk = {vm, layout, out, 0, offset};
    int rest = walk.in->ndim;
    bool ellipsis = false;
    out->layout.ndim = out->n_lists = 0;
    out->grad_fn = "AliasBackward0";
    for (int i = 0; i < key->count; i++)
        rest -= key->items[i].consumes;
    for (int i = 0; i < key->count; i++) {
        enum outcome outcome = apply(&walk, key, i, ellipsis ? 0 : rest);
        if (outcome != OUTCOME_OK)
            return outcome;
        ellipsis |= key->items[i].kind == INDEX_ELLIPSIS;
    }
    while (walk.dim < walk.in->ndim)
        if (keep_dimension(&walk) != OUTCOME_OK)
            return OUTCOME_ERROR;
    int64_t count;
    // A view without elements begins where it is sure to lie inside.
    out->offset = size_of_shape(out->layout.ndim, out->layout.shape, &count) && count > 0
                      ? walk.offset
                      : 0;
    return OUTCOME_OK;
}

// ---- The entry points

// The common x[3]: one integer, without the general parts.
static enum outcome select_one(struct vm *vm, struct value self, int64_t index,
                               struct value *result)
{
    struct lazy *lazy = tensor_of(self)->lazy, *view;
    const struct layout *in = lazy_layout(lazy);
    int64_t size = in->shape[0];
    if (index < -size || index >= size)
        return vm_raise(vm, STATUS_INDEX,
                        "index %lld is out of bounds for dimension 0 with size %lld",
                        (long long)index, (long long)size);
    struct layout layout = {.ndim = in->ndim - 1};
    memcpy(layout.shape, in->shape + 1, (size_t)layout.ndim * sizeof layout.shape[0]);
    memcpy(layout.strides, in->strides + 1, (size_t)layout.ndim * sizeof layout.shape[0]);
    int64_t offset =
        lazy_offset(lazy) + (index < 0 ? index + size : index) * in->strides[0];
    if (lazy_view(lazy, &layout, offset, &view, vm_problem(vm)) != STATUS_OK)
        return OUTCOME_ERROR;
    return torch_wrap(vm, view, torch_view_flavor(vm, self, "SelectBackward0"), result);
}

enum outcome torch_get_item(struct vm *vm, struct value tensor, struct value key,
                            struct value *result)
{
    struct lazy *lazy = tensor_of(tensor)->lazy, *view;
    if (key.tag == VALUE_INT && lazy_layout(lazy)->ndim > 0)
        return select_one(vm, tensor, key.i, result);
    struct index_key parts;
    struct index_view where;
    enum outcome outcome = index_read(vm, tensor, key, &parts);
    if (outcome == OUTCOME_OK)
        outcome = index_view(vm, lazy_layout(lazy), lazy_offset(lazy), &parts, &where);
    if (outcome != OUTCOME_OK)
        return outcome;
    if (parts.n_lists > 0)
        return index_gather(vm, tensor, &parts, result);
    if (lazy_view(lazy, &where.layout, where.offset, &view, vm_problem(vm)) != STATUS_OK)
        return OUTCOME_ERROR;
    return torch_wrap(vm, view, torch_view_flavor(vm, tensor, where.grad_fn), result);
}

// x[0] += 1 ends with x[0] = (the view that was written): nothing is left to do.
static bool is_view_itself(const struct lazy *target, struct value item)
{
    if (!value_is_tensor(item))
        return false;
    const struct lazy *lazy = tensor_of(item)->lazy;
    const struct layout *a = lazy_layout(target), *b = lazy_layout(lazy);
    size_t bytes = (size_t)a->ndim * sizeof a->shape[0];
    return lazy_same_cell(target, lazy) && lazy_dtype(target) == lazy_dtype(lazy) &&
           lazy_offset(target) == lazy_offset(lazy) && a->ndim == b->ndim &&
           memcmp(a->shape, b->shape, bytes) == 0 &&
           memcmp(a->strides, b->strides, bytes) == 0;
}

static enum outcome write_view(struct vm *vm, struct lazy *view, struct value item)
{
    struct cells *cells = vm_cells(vm);
    struct problem *problem = vm_problem(vm);
    if (value_is_number(item))
        return outcome_of(lazy_write_number(cells, view, torch_scalar_of(item), problem));
    if (is_view_itself(view, item))
        return OUTCOME_OK;
    if (value_is_tensor(item))
        return outcome_of(lazy_write(cells, view, tensor_of(item)->lazy, problem));
    const struct value *items;
    int64_t count;
    if (!sequence_items(item, &items, &count))
        return vm_raise(vm, STATUS_TYPE, "can't assign a %s to a tensor",
                        torch_type_name(item));
    struct lazy *lazy;
    enum outcome outcome =
        literal_lazy(vm, item, true, true, lazy_dtype(view), lazy_device(view), &lazy);
    if (outcome != OUTCOME_OK)
        return outcome;
    outcome = outcome_of(lazy_write(cells, view, lazy, problem));
    lazy_release(lazy);
    return outcome;
}

enum outcome torch_set_item(struct vm *vm, struct value tensor, struct value key,
                            struct value item)
{
    struct index_key parts;
    struct index_view where;
    struct lazy *lazy = tensor_of(tensor)->lazy, *view;
    enum outcome outcome = torch_check_write(vm, tensor);
    if (outcome == OUTCOME_OK)
        outcome = index_read(vm, tensor, key, &parts);
    if (outcome == OUTCOME_OK)
        outcome = index_view(vm, lazy_layout(lazy), lazy_offset(lazy), &parts, &where);
    if (outcome != OUTCOME_OK)
        return outcome;
    if (parts.n_lists > 0) {
        outcome = index_scatter(vm, tensor, &parts, &where, item);
    } else {
        if (lazy_view(lazy, &where.layout, where.offset, &view, vm_problem(vm)) !=
            STATUS_OK)
            return OUTCOME_ERROR;
        outcome = write_view(vm, view, item);
        lazy_release(view);
    }
    bool grad = torch_wants_grad(vm, item) || torch_wants_grad(vm, tensor);
    if (outcome == OUTCOME_OK && grad)
        torch_note_write(tensor, parts.n_lists > 0 ? "IndexPutBackward0" : "CopySlices");
    return outcome;
}
