// SPDX-License-Identifier: Apache-2.0
// Functions and methods made of several operations, all lazy: nothing here waits for
// elements. The program's thread.
#include "api/lang/torch.h"

#include <math.h>

static enum outcome not_tensor(struct vm *vm, const char *function, const char *argument,
                               struct value value)
{
    return vm_raise(vm, STATUS_TYPE, "%s(): argument '%s' must be Tensor, not %s",
                    function, argument, torch_type_name(value));
}

static struct flavor flavor_of(struct vm *vm, struct value a, const char *grad_fn)
{
    struct flavor flavor = {.is_array = value_is_array(a), .is_scalar = true};
    if (torch_wants_grad(vm, a)) {
        flavor.requires_grad = true;
        flavor.grad_fn = grad_fn;
    }
    return flavor;
}

// ---- Shapes of another tensor

static enum outcome reshape_like(struct vm *vm, struct value *slots, enum op op,
                                 const char *function, struct value *result)
{
    if (!value_is_tensor(slots[1]))
        return not_tensor(vm, function, "other", slots[1]);
    const struct layout *layout = lazy_layout(tensor_of(slots[1])->lazy);
    struct value size;
    if (torch_size(vm, layout->ndim, layout->shape, true, &size) != OUTCOME_OK)
        return OUTCOME_ERROR;
    struct value arguments[] = {slots[0], size};
    enum outcome outcome = torch_apply(vm, op, value_is_array(slots[0]) ? OP_NUMPY : 0, 2,
                                       arguments, result);
    value_release(size);
    return outcome;
}

static enum outcome method_view_as(struct vm *vm, struct value *slots,
                                   struct value *result)
{
    return reshape_like(vm, slots, OP_view, "view_as", result);
}

static enum outcome method_reshape_as(struct vm *vm, struct value *slots,
                                      struct value *result)
{
    return reshape_like(vm, slots, OP_reshape, "reshape_as", result);
}

static enum outcome method_expand_as(struct vm *vm, struct value *slots,
                                     struct value *result)
{
    return reshape_like(vm, slots, OP_expand, "expand_as", result);
}

// ---- Parts

// [start, start + length) of a dimension, as a view.
static enum outcome part(struct vm *vm, struct value self, int dim, int64_t start,
                         int64_t length, const char *grad_fn, struct value *result)
{
    struct lazy *lazy = tensor_of(self)->lazy, *view;
    struct layout layout;
    int64_t offset = lazy_offset(lazy), count = 0;
    layout_copy(&layout, lazy_layout(lazy));
    layout.shape[dim] = length;
    size_of_shape(layout.ndim, layout.shape, &count);
    if (count > 0)
        offset += start * layout.strides[dim];
    if (lazy_view(lazy, &layout, count > 0 ? offset : 0, &view, vm_problem(vm)) !=
        STATUS_OK)
        return OUTCOME_ERROR;
    return torch_wrap(vm, view, torch_view_flavor(vm, self, grad_fn), result);
}

static enum outcome read_dim(struct vm *vm, struct value value, struct value self,
                             int *out)
{
    int64_t dim = 0;
    int ndim = lazy_layout(tensor_of(self)->lazy)->ndim;
    if (ndim == 0)
        return vm_raise(vm, STATUS_INDEX, "a tensor without dimensions has no parts");
    if (value.tag != VALUE_ABSENT) {
        enum outcome outcome = value_to_index(vm, value, &dim);
        if (outcome != OUTCOME_OK)
            return outcome;
    }
    return outcome_of(dim_normalize(dim, ndim, out, vm_problem(vm)));
}

// Parts of `sizes` along dim (the last size repeats) as a tuple.
static enum outcome cut(struct vm *vm, struct value self, int dim, const int64_t *sizes,
                        int64_t n_sizes, struct value *result)
{
    int64_t size = lazy_layout(tensor_of(self)->lazy)->shape[dim], at = 0;
    struct heap *heap = vm_heap(vm);
    struct list *parts = list_new(heap, 0, NULL, vm_problem(vm));
    enum outcome outcome = parts == NULL ? OUTCOME_ERROR : OUTCOME_OK;
    for (int64_t i = 0; outcome == OUTCOME_OK && (i < n_sizes || at < size); i++) {
        int64_t length = sizes[i < n_sizes ? i : n_sizes - 1];
        struct value item;
        if (length > size - at)
            length = size - at;
        outcome = vm_spend(vm, TENSOR_STEPS);
        if (outcome == OUTCOME_OK)
            outcome = part(vm, self, dim, at, length, "SplitBackward0", &item);
        if (outcome == OUTCOME_OK && !list_append(heap, parts, item, vm_problem(vm)))
            outcome = OUTCOME_ERROR;
        if (outcome == OUTCOME_OK)
            value_release(item);
        at += length;
    }
    if (outcome == OUTCOME_OK) {
        struct tuple *tuple = tuple_new(heap, parts->count, parts->items, vm_problem(vm));
        outcome = tuple == NULL ? OUTCOME_ERROR : OUTCOME_OK;
        if (tuple != NULL)
            *result = value_of(tuple);
    }
    if (parts != NULL)
        value_release(value_of(parts));
    return outcome;
}

static enum outcome compute_chunk(struct vm *vm, struct value *slots,
                                  struct value *result)
{
    int dim;
    int64_t chunks;
    if (!value_is_tensor(slots[0]))
        return not_tensor(vm, "chunk", "input", slots[0]);
    enum outcome outcome = read_dim(vm, slots[2], slots[0], &dim);
    if (outcome == OUTCOME_OK)
        outcome = value_to_index(vm, slots[1], &chunks);
    if (outcome != OUTCOME_OK)
        return outcome;
    if (chunks <= 0)
        return vm_raise(vm, STATUS_VALUE, "chunk expects `chunks` to be greater than 0");
    int64_t size = lazy_layout(tensor_of(slots[0])->lazy)->shape[dim];
    int64_t length = size > 0 ? (size - 1) / chunks + 1 : 0;
    return cut(vm, slots[0], dim, &length, 1, result);
}

static enum outcome compute_split(struct vm *vm, struct value *slots,
                                  struct value *result)
{
    enum { MOST = 256 };
    int dim, count = 1;
    int64_t sizes[MOST], sum = 0;
    if (!value_is_tensor(slots[0]))
        return not_tensor(vm, "split", "input", slots[0]);
    enum outcome outcome = read_dim(vm, slots[2], slots[0], &dim);
    if (outcome != OUTCOME_OK)
        return outcome;
    bool list = !value_is_integer(slots[1]);
    outcome = list ? torch_integers(vm, slots[1], "split_size", sizes, MOST, &count)
                   : value_to_index(vm, slots[1], &sizes[0]);
    int64_t size = lazy_layout(tensor_of(slots[0])->lazy)->shape[dim];
    for (int i = 0; outcome == OUTCOME_OK && i < count; i++)
        if (sizes[i] < 0 || !size_add(sum, sizes[i], &sum))
            outcome = vm_raise(vm, STATUS_VALUE, "split sizes must not be negative");
    if (outcome != OUTCOME_OK)
        return outcome;
    if (list && sum != size)
        return vm_raise(vm, STATUS_VALUE,
                        "split sizes add up to %lld, but dimension %d has size %lld",
                        (long long)sum, dim, (long long)size);
    if (!list && sizes[0] == 0 && size > 0)
        return vm_raise(vm, STATUS_VALUE, "split_size 0 is for empty dimensions only");
    return cut(vm, slots[0], dim, sizes, count, result);
}

static enum outcome compute_unbind(struct vm *vm, struct value *slots,
                                   struct value *result)
{
    int dim;
    if (!value_is_tensor(slots[0]))
        return not_tensor(vm, "unbind", "input", slots[0]);
    enum outcome outcome = read_dim(vm, slots[1], slots[0], &dim);
    if (outcome != OUTCOME_OK)
        return outcome;
    struct lazy *lazy = tensor_of(slots[0])->lazy;
    struct layout layout;
    layout_copy(&layout, lazy_layout(lazy));
    int64_t size = layout.shape[dim], stride = layout.strides[dim], count = 0;
    for (int d = dim; d + 1 < layout.ndim; d++) {
        layout.shape[d] = layout.shape[d + 1];
        layout.strides[d] = layout.strides[d + 1];
    }
    layout.ndim--;
    size_of_shape(layout.ndim, layout.shape, &count);
    struct heap *heap = vm_heap(vm);
    if (vm_spend(vm, size < INT64_MAX / 20 ? size * 20 : INT64_MAX) != OUTCOME_OK)
        return OUTCOME_ERROR;
    struct tuple *tuple = tuple_new(heap, size, NULL, vm_problem(vm));
    if (tuple == NULL)
        return OUTCOME_ERROR;
    for (int64_t i = 0; outcome == OUTCOME_OK && i < size; i++) {
        struct lazy *view = NULL;
        int64_t offset = count > 0 ? lazy_offset(lazy) + i * stride : 0;
        outcome = outcome_of(lazy_view(lazy, &layout, offset, &view, vm_problem(vm)));
        if (outcome == OUTCOME_OK)
            outcome =
                torch_wrap(vm, view, torch_view_flavor(vm, slots[0], "UnbindBackward0"),
                           &tuple->items[i]);
    }
    if (outcome == OUTCOME_OK)
        *result = value_of(tuple);
    else
        value_release(value_of(tuple));
    return outcome;
}

static enum outcome compute_narrow(struct vm *vm, struct value *slots,
                                   struct value *result)
{
    int dim;
    int64_t start, length;
    if (!value_is_tensor(slots[0]))
        return not_tensor(vm, "narrow", "input", slots[0]);
    enum outcome all = read_dim(vm, slots[1], slots[0], &dim);
    if (all == OUTCOME_ERROR ||
        !outcome_keep(&all, value_to_index(vm, slots[2], &start)) ||
        !outcome_keep(&all, value_to_index(vm, slots[3], &length)) || all != OUTCOME_OK)
        return all;
    int64_t size = lazy_layout(tensor_of(slots[0])->lazy)->shape[dim];
    if (start < -size || start > size)
        return vm_raise(vm, STATUS_INDEX, "narrow(): start %lld is out of range",
                        (long long)start);
    start += start < 0 ? size : 0;
    if (length < 0 || length > size - start)
        return vm_raise(vm, STATUS_VALUE,
                        "start (%lld) + length (%lld) exceeds dimension size (%lld).",
                        (long long)start, (long long)length, (long long)size);
    return part(vm, slots[0], dim, start, length, "SliceBackward0", result);
}

static enum outcome compute_select(struct vm *vm, struct value *slots,
                                   struct value *result)
{
    int dim;
    int64_t index;
    if (!value_is_tensor(slots[0]))
        return not_tensor(vm, "select", "input", slots[0]);
    enum outcome all = read_dim(vm, slots[1], slots[0], &dim);
    if (all == OUTCOME_ERROR ||
        !outcome_keep(&all, value_to_index(vm, slots[2], &index)) || all != OUTCOME_OK)
        return all;
    struct value key[TENSOR_MAX_NDIM], tuple;
    struct slice_object *whole =
        heap_object(vm_heap(vm), OBJECT_SLICE, sizeof *whole, vm_problem(vm));
    if (whole == NULL)
        return OUTCOME_ERROR;
    whole->start = whole->stop = whole->step = value_none();
    for (int d = 0; d < dim; d++)
        key[d] = value_reference(value_of(whole));
    value_release(value_of(whole));
    key[dim] = value_int(index);
    if (torch_tuple(vm, dim + 1, key, &tuple) != OUTCOME_OK)
        return OUTCOME_ERROR;
    all = torch_get_item(vm, slots[0], tuple, result);
    value_release(tuple);
    return all;
}

// ---- Choices

// x.where(condition, other) is where(condition, x, other).
static enum outcome method_where(struct vm *vm, struct value *slots, struct value *result)
{
    struct value arguments[] = {slots[1], slots[0], slots[2]};
    return torch_apply(vm, OP_where, 0, 3, arguments, result);
}

static enum outcome check_fill(struct vm *vm, const struct value *slots)
{
    if (!value_is_tensor(slots[1]) || lazy_dtype(tensor_of(slots[1])->lazy) != DTYPE_BOOL)
        return vm_raise(vm, STATUS_TYPE, "masked_fill(): the mask must be a bool tensor");
    if (value_is_number(slots[2]) ||
        (value_is_tensor(slots[2]) && lazy_layout(tensor_of(slots[2])->lazy)->ndim == 0))
        return OUTCOME_OK;
    return vm_raise(
        vm, STATUS_VALUE,
        "masked_fill(): the value must be a number or a 0-dimensional tensor");
}

static enum outcome method_masked_fill(struct vm *vm, struct value *slots,
                                       struct value *result)
{
    struct pool pool = {.vm = vm};
    if (check_fill(vm, slots) != OUTCOME_OK)
        return OUTCOME_ERROR;
    struct lazy *chosen = torch_choose(&pool, tensor_of(slots[1])->lazy, slots[2],
                                       tensor_of(slots[0])->lazy);
    return pool_end(&pool, chosen, flavor_of(vm, slots[0], "MaskedFillBackward0"),
                    result);
}

static enum outcome method_masked_fill_(struct vm *vm, struct value *slots,
                                        struct value *result)
{
    struct pool pool = {.vm = vm};
    struct lazy *self = tensor_of(slots[0])->lazy;
    if (check_fill(vm, slots) != OUTCOME_OK ||
        torch_check_write(vm, slots[0]) != OUTCOME_OK)
        return OUTCOME_ERROR;
    struct lazy *chosen = torch_choose(&pool, tensor_of(slots[1])->lazy, slots[2], self);
    enum outcome outcome = OUTCOME_ERROR;
    if (chosen != NULL)
        outcome = outcome_of(lazy_write(vm_cells(vm), self, chosen, vm_problem(vm)));
    pool_release(&pool);
    if (outcome != OUTCOME_OK)
        return outcome;
    if (torch_wants_grad(vm, slots[0]))
        torch_note_write(slots[0], "MaskedFillBackward0");
    *result = value_reference(slots[0]);
    return outcome;
}

static enum outcome method_masked_select(struct vm *vm, struct value *slots,
                                         struct value *result)
{
    if (!value_is_tensor(slots[0]) || !value_is_tensor(slots[1]))
        return not_tensor(vm, "masked_select", "mask", slots[1]);
    return torch_get_item(vm, slots[0], slots[1], result);
}

// ---- Tests of elements

static enum outcome compute_isnan(struct vm *vm, struct value *slots,
                                  struct value *result)
{
    if (!value_is_tensor(slots[0]))
        return not_tensor(vm, "isnan", "input", slots[0]);
    struct pool pool = {.vm = vm};
    struct lazy *a = tensor_of(slots[0])->lazy;
    return pool_end(&pool, pool_two(&pool, OP_ne, a, a), flavor_of(vm, slots[0], NULL),
                    result);
}

static enum outcome against_infinity(struct vm *vm, struct value a, enum op op,
                                     struct value *result)
{
    struct pool pool = {.vm = vm};
    struct lazy *lazy = tensor_of(a)->lazy;
    struct flavor flavor = {.is_array = value_is_array(a), .is_scalar = true};
    if (lazy_dtype(lazy) == DTYPE_BOOL)
        lazy = pool_cast(&pool, lazy, DTYPE_UINT8, NULL);
    lazy = pool_number(&pool, op, pool_one(&pool, OP_abs, lazy), INFINITY);
    return pool_end(&pool, lazy, flavor, result);
}

static enum outcome compute_isinf(struct vm *vm, struct value *slots,
                                  struct value *result)
{
    return value_is_tensor(slots[0]) ? against_infinity(vm, slots[0], OP_eq, result)
                                     : not_tensor(vm, "isinf", "input", slots[0]);
}

static enum outcome compute_isfinite(struct vm *vm, struct value *slots,
                                     struct value *result)
{
    return value_is_tensor(slots[0]) ? against_infinity(vm, slots[0], OP_lt, result)
                                     : not_tensor(vm, "isfinite", "input", slots[0]);
}

// ---- Formulas

// input * beta + mat1 @ mat2 * alpha
static enum outcome compute_addmm(struct vm *vm, struct value *slots,
                                  struct value *result)
{
    struct pool pool = {.vm = vm};
    struct scalar beta = {.kind = SCALAR_INT, .i = 1}, alpha = beta;
    for (int i = 0; i < 3; i++)
        if (!value_is_tensor(slots[i]))
            return not_tensor(vm, "addmm", "mat", slots[i]);
    enum outcome all = OUTCOME_OK;
    if ((slots[3].tag != VALUE_ABSENT &&
         !outcome_keep(&all, torch_number(vm, slots[3], "beta", &beta))) ||
        (slots[4].tag != VALUE_ABSENT &&
         !outcome_keep(&all, torch_number(vm, slots[4], "alpha", &alpha))) ||
        all != OUTCOME_OK)
        return all;
    struct lazy *sum = tensor_of(slots[0])->lazy;
    struct lazy *product =
        pool_two(&pool, OP_mm, tensor_of(slots[1])->lazy, tensor_of(slots[2])->lazy);
    if (slots[4].tag != VALUE_ABSENT)
        product = pool_scalar(&pool, OP_mul, product, alpha);
    if (slots[3].tag != VALUE_ABSENT)
        sum = pool_scalar(&pool, OP_mul, sum, beta);
    bool grad = false;
    for (int i = 0; i < 3; i++)
        grad |= torch_wants_grad(vm, slots[i]);
    struct flavor flavor = {.requires_grad = grad,
                            .grad_fn = grad ? "AddmmBackward0" : NULL};
    return pool_end(&pool, pool_two(&pool, OP_add, sum, product), flavor, result);
}

// log(sum(exp(x))), from the largest element.
static enum outcome compute_logsumexp(struct vm *vm, struct value *slots,
                                      struct value *result)
{
    int dim;
    if (!value_is_tensor(slots[0]))
        return not_tensor(vm, "logsumexp", "input", slots[0]);
    enum outcome outcome = read_dim(vm, slots[1], slots[0], &dim);
    if (outcome != OUTCOME_OK)
        return outcome;
    struct pool pool = {.vm = vm};
    struct lazy *x = tensor_of(slots[0])->lazy;
    int64_t dims[] = {dim};
    bool keep = value_is_integer(slots[2]) && slots[2].i != 0;
    struct lazy *high = pool_reduce(&pool, OP_amax, x, 1, dims, true);
    struct lazy *sum = pool_one(&pool, OP_exp, pool_two(&pool, OP_sub, x, high));
    sum = pool_one(&pool, OP_log, pool_reduce(&pool, OP_sum, sum, 1, dims, keep));
    if (!keep)
        high = pool_reduce(&pool, OP_amax, x, 1, dims, false);
    return pool_end(&pool, pool_two(&pool, OP_add, sum, high),
                    flavor_of(vm, slots[0], "LogsumexpBackward0"), result);
}

struct native tensor_compute_methods[] = {
    {.name = "view_as", .signature = "self, other", .function = method_view_as},
    {.name = "reshape_as", .signature = "self, other", .function = method_reshape_as},
    {.name = "expand_as", .signature = "self, other", .function = method_expand_as},
    {.name = "where", .signature = "self, condition, other", .function = method_where},
    {.name = "masked_fill",
     .signature = "self, mask, value",
     .function = method_masked_fill},
    {.name = "masked_fill_",
     .signature = "self, mask, value",
     .function = method_masked_fill_},
    {.name = NULL},
};

// Functions of torch and methods of tensors alike.
struct native torch_compute_functions[] = {
    {.name = "chunk", .signature = "input, chunks, dim=", .function = compute_chunk},
    {.name = "split",
     .signature = "input, split_size_or_sections, dim=",
     .function = compute_split},
    {.name = "unbind", .signature = "input, dim=", .function = compute_unbind},
    {.name = "narrow",
     .signature = "input, dim, start, length",
     .function = compute_narrow},
    {.name = "select", .signature = "input, dim, index", .function = compute_select},
    {.name = "masked_select",
     .signature = "input, mask",
     .function = method_masked_select},
    {.name = "isnan", .signature = "input", .function = compute_isnan},
    {.name = "isinf", .signature = "input", .function = compute_isinf},
    {.name = "isfinite", .signature = "input", .function = compute_isfinite},
    {.name = "addmm",
     .signature = "input, mat1, mat2, *, beta=, alpha=",
     .function = compute_addmm},
    {.name = "logsumexp",
     .signature = "input, dim, keepdim=",
     .function = compute_logsumexp},
    {.name = NULL},
};
