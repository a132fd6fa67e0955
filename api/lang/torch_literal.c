// SPDX-License-Identifier: Apache-2.0
// Nested lists, tuples, ranges and numbers as the elements of a tensor: torch.tensor([[1,
// 2], [3, 4]]). The shape is that of the first elements; all is checked against it on one
// walk, which also finds the dtype, and stored on a second. The depth of both is the
// number of dimensions, at most 32. The program's thread.
#include "api/lang/torch.h"

#include <math.h>

struct reading {
    struct vm *vm;
    bool numpy;
    struct literal *literal;
    int dtype;      // what was seen promotes to; -1: nothing
    int64_t stored; // elements
    enum outcome all;
};

static bool length_of(struct value value, int64_t *length)
{
    const struct value *items;
    if (value_is_object(value, OBJECT_RANGE)) {
        *length = VALUE_AS(range, value)->count;
        return true;
    }
    return sequence_items(value, &items, length);
}

static struct value item_of(struct value value, int64_t i)
{
    const struct value *items = NULL;
    int64_t count;
    if (value_is_object(value, OBJECT_RANGE)) {
        const struct range *range = VALUE_AS(range, value);
        return value_int(range->start + i * range->step);
    }
    sequence_items(value, &items, &count);
    return items[i];
}

// The shape along the first elements.
static enum outcome measure(struct reading *reading, struct value value)
{
    struct layout *layout = &reading->literal->layout;
    int64_t length;
    layout->ndim = 0;
    while (length_of(value, &length)) {
        if (layout->ndim == TENSOR_MAX_NDIM)
            return vm_raise(reading->vm, STATUS_VALUE,
                            "too many dimensions: a tensor has at most %d",
                            TENSOR_MAX_NDIM);
        layout->shape[layout->ndim++] = length;
        if (length == 0)
            break;
        value = item_of(value, 0);
    }
    if (shape_check(layout->ndim, layout->shape, 8, &reading->literal->count,
                    vm_problem(reading->vm)) != STATUS_OK)
        return OUTCOME_ERROR;
    layout_contiguous(layout);
    return vm_spend(reading->vm, 2 * (reading->literal->count / 2 + 1));
}

static void see(struct reading *reading, enum dtype dtype)
{
    reading->dtype = reading->dtype < 0
                         ? (int)dtype
                         : (int)dtype_promote((enum dtype)reading->dtype, dtype);
}

static enum outcome bad_leaf(struct reading *reading, struct value value, int dim)
{
    if (value_is_object(value, OBJECT_STRING) && dim > 0)
        return vm_raise(reading->vm, STATUS_VALUE, "too many dimensions 'str'");
    return vm_raise(reading->vm, STATUS_TYPE,
                    "a tensor is made of numbers, not of '%s' objects",
                    torch_type_name(value));
}

static enum outcome leaf_number(struct reading *reading, struct value value, int dim,
                                struct scalar *out)
{
    if (value_is_number(value)) {
        *out = torch_scalar_of(value);
        return OUTCOME_OK;
    }
    if (value.tag == VALUE_WIDE)
        return vm_raise(reading->vm, STATUS_OVERFLOW, "Overflow when unpacking long");
    if (!value_is_tensor(value))
        return bad_leaf(reading, value, dim);
    struct value number;
    enum outcome outcome = tensor_number(reading->vm, value, &number);
    if (outcome == OUTCOME_OK)
        *out = torch_scalar_of(number);
    return outcome;
}

static enum outcome see_leaf(struct reading *reading, struct value value, int dim)
{
    struct scalar scalar = {.kind = SCALAR_INT};
    int64_t length;
    if (length_of(value, &length))
        return vm_raise(reading->vm, STATUS_VALUE,
                        "expected a number at dim %d (got a sequence of length %lld)",
                        dim, (long long)length);
    enum outcome outcome = leaf_number(reading, value, dim, &scalar);
    if (outcome == OUTCOME_ERROR)
        return outcome;
    if (value_is_tensor(value))
        see(reading, lazy_dtype(tensor_of(value)->lazy));
    else if (scalar.kind == SCALAR_FLOAT)
        see(reading, reading->numpy ? DTYPE_FLOAT64 : DTYPE_FLOAT32);
    else
        see(reading, scalar.kind == SCALAR_INT ? DTYPE_INT64 : DTYPE_BOOL);
    return outcome;
}

static enum outcome store_leaf(struct reading *reading, struct value value, int dim)
{
    struct literal *literal = reading->literal;
    struct scalar scalar = {.kind = SCALAR_INT};
    bool in_range = true;
    enum outcome outcome = leaf_number(reading, value, dim, &scalar);
    if (outcome != OUTCOME_OK)
        return outcome;
    union element element = scalar_to_element(scalar, literal->dtype, &in_range);
    if (scalar.kind == SCALAR_FLOAT && dtype_category(literal->dtype) == CATEGORY_INTEGER)
        in_range = fabs(scalar.f) < 0x1p63;
    if (!in_range)
        return vm_raise(reading->vm, STATUS_VALUE,
                        "value cannot be converted to type %s without overflow",
                        dtype_name(literal->dtype));
    size_t size = (size_t)dtype_size(literal->dtype);
    memcpy((char *)literal->elements + (size_t)reading->stored * size, &element, size);
    reading->stored++;
    return OUTCOME_OK;
}

// Visits the leaves under value, a sequence at dim (or a leaf where dim is ndim).
static bool walk(struct reading *reading, struct value value, int dim, bool store)
{
    const struct layout *layout = &reading->literal->layout;
    int64_t length;
    if (dim == layout->ndim)
        return outcome_keep(&reading->all, store ? store_leaf(reading, value, dim)
                                                 : see_leaf(reading, value, dim));
    if (!length_of(value, &length)) {
        outcome_keep(&reading->all,
                     vm_raise(reading->vm, STATUS_TYPE,
                              "expected sequence of length %lld at dim %d (got '%s')",
                              (long long)layout->shape[dim], dim,
                              torch_type_name(value)));
        return false;
    }
    if (length != layout->shape[dim]) {
        outcome_keep(&reading->all,
                     vm_raise(reading->vm, STATUS_VALUE,
                              "expected sequence of length %lld at dim %d (got %lld)",
                              (long long)layout->shape[dim], dim, (long long)length));
        return false;
    }
    for (int64_t i = 0; i < length; i++)
        if (!walk(reading, item_of(value, i), dim + 1, store))
            return false;
    return true;
}

static enum outcome store(struct reading *reading, struct value value)
{
    struct literal *literal = reading->literal;
    int64_t bytes;
    if (!size_multiply(literal->count, dtype_size(literal->dtype), &bytes))
        return vm_raise(reading->vm, STATUS_SHAPE, "the tensor is too large");
    literal->bytes = (size_t)bytes;
    if (bytes > 0) {
        literal->elements = heap_resize(vm_heap(reading->vm), NULL, 0, (size_t)bytes,
                                        vm_problem(reading->vm));
        if (literal->elements == NULL)
            return OUTCOME_ERROR;
    }
    if (literal->count > 0)
        walk(reading, value, 0, true);
    if (reading->all != OUTCOME_OK)
        literal_free(reading->vm, literal);
    return reading->all;
}

enum outcome literal_read(struct vm *vm, struct value value, bool numpy, bool has_dtype,
                          enum dtype dtype, struct literal *out)
{
    struct reading reading = {vm, numpy, out, -1, 0, OUTCOME_OK};
    out->elements = NULL;
    out->bytes = 0;
    int64_t length;
    if (!value_is_number(value) && !value_is_tensor(value) && value.tag != VALUE_WIDE &&
        !length_of(value, &length))
        return bad_leaf(&reading, value, 0);
    if (measure(&reading, value) != OUTCOME_OK)
        return OUTCOME_ERROR;
    // Walked even if there are no elements: [[], [1]] is ragged.
    walk(&reading, value, 0, false);
    if (reading.all != OUTCOME_OK)
        return reading.all;
    out->dtype = has_dtype           ? dtype
                 : reading.dtype < 0 ? (numpy ? DTYPE_FLOAT64 : DTYPE_FLOAT32)
                                     : (enum dtype)reading.dtype;
    return store(&reading, value);
}

void literal_free(struct vm *vm, struct literal *literal)
{
    if (literal->elements != NULL)
        heap_resize(vm_heap(vm), literal->elements, literal->bytes, 0, vm_problem(vm));
    literal->elements = NULL;
}

// On another device than the host: a copy there.
static struct lazy *move(struct vm *vm, struct lazy *lazy, struct device *device)
{
    struct pool pool = {.vm = vm};
    struct lazy *moved =
        pool_cast(&pool, pool_keep(&pool, lazy), lazy_dtype(lazy), device);
    if (moved != NULL)
        moved = lazy_reference(moved);
    pool_release(&pool);
    return moved;
}

enum outcome literal_lazy(struct vm *vm, struct value value, bool numpy, bool has_dtype,
                          enum dtype dtype, struct device *device, struct lazy **out)
{
    struct literal literal;
    enum outcome outcome = literal_read(vm, value, numpy, has_dtype, dtype, &literal);
    if (outcome != OUTCOME_OK)
        return outcome;
    outcome = outcome_of(cells_literal(vm_cells(vm), literal.dtype, &literal.layout,
                                       literal.elements, out, vm_problem(vm)));
    literal_free(vm, &literal);
    if (outcome == OUTCOME_OK && device != NULL && !device->is_host) {
        *out = move(vm, *out, device);
        outcome = *out == NULL ? OUTCOME_ERROR : OUTCOME_OK;
    }
    return outcome;
}
