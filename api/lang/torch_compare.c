// SPDX-License-Identifier: Apache-2.0
// Questions about elements whose answer is a Python value, or whose shape depends on
// them: equal, allclose, nonzero. The elements are looked at on the host. The program's
// thread.
#include "api/lang/torch.h"

#include <math.h>

// Elements of an argument: a tensor's, or those of a list where NumPy takes one.
struct elements {
    struct layout layout;
    enum dtype dtype;
    const void *data;
    int64_t count;
    struct literal literal; // what data is in, if it was a list or a number
};

static enum outcome read_elements(struct vm *vm, struct value value, bool numpy,
                                  const char *function, struct elements *out)
{
    out->literal.elements = NULL;
    if (value_is_tensor(value)) {
        struct lazy *lazy = tensor_of(value)->lazy;
        struct tensor *host;
        enum outcome outcome = vm_host(vm, lazy, &host);
        if (outcome != OUTCOME_OK)
            return outcome;
        layout_copy(&out->layout, lazy_layout(lazy));
        layout_contiguous(&out->layout);
        out->dtype = lazy_dtype(lazy);
        out->data = torch_elements(host);
        out->count = lazy_count(lazy);
        return OUTCOME_OK;
    }
    if (!numpy)
        return vm_raise(vm, STATUS_TYPE, "%s(): the arguments must be Tensors, not %s",
                        function, torch_type_name(value));
    enum outcome outcome =
        literal_read(vm, value, true, false, DTYPE_FLOAT64, &out->literal);
    layout_copy(&out->layout, &out->literal.layout);
    out->dtype = out->literal.dtype;
    out->data = out->literal.elements;
    out->count = out->literal.count;
    return outcome;
}

static enum outcome read_two(struct vm *vm, struct value *slots, bool numpy,
                             const char *function, struct elements *a, struct elements *b)
{
    enum outcome all = OUTCOME_OK;
    a->literal.elements = b->literal.elements = NULL;
    if (outcome_keep(&all, read_elements(vm, slots[0], numpy, function, a)) &&
        outcome_keep(&all, read_elements(vm, slots[1], numpy, function, b)) &&
        all == OUTCOME_OK)
        all = vm_spend(vm, a->count / 2 + b->count / 2);
    if (all != OUTCOME_OK) {
        literal_free(vm, &a->literal);
        literal_free(vm, &b->literal);
    }
    return all;
}

static bool same_shape(const struct layout *a, const struct layout *b)
{
    return a->ndim == b->ndim &&
           memcmp(a->shape, b->shape, (size_t)a->ndim * sizeof a->shape[0]) == 0;
}

static double real_of(struct scalar scalar)
{
    return scalar.kind == SCALAR_FLOAT ? scalar.f : (double)scalar.i;
}

static bool same_element(struct scalar a, struct scalar b)
{
    if (a.kind != SCALAR_FLOAT && b.kind != SCALAR_FLOAT)
        return a.i == b.i;
    return real_of(a) == real_of(b);
}

// ---- equal

static enum outcome check_devices(struct vm *vm, const struct value *slots)
{
    if (!value_is_tensor(slots[0]) || !value_is_tensor(slots[1]))
        return OUTCOME_OK;
    const struct device *a = lazy_device(tensor_of(slots[0])->lazy),
                        *b = lazy_device(tensor_of(slots[1])->lazy);
    if (a == b)
        return OUTCOME_OK;
    return vm_raise(vm, STATUS_DEVICE,
                    "Expected all tensors to be on the same device, but found at least "
                    "two devices, %s and %s!",
                    a->id, b->id);
}

static enum outcome equal(struct vm *vm, struct value *slots, bool numpy,
                          struct value *result)
{
    struct elements a, b;
    if (check_devices(vm, slots) != OUTCOME_OK)
        return OUTCOME_ERROR;
    enum outcome outcome =
        read_two(vm, slots, numpy, numpy ? "array_equal" : "equal", &a, &b);
    if (outcome != OUTCOME_OK)
        return outcome;
    bool same = same_shape(&a.layout, &b.layout);
    for (int64_t i = 0; same && i < a.count; i++)
        same = same_element(torch_element(a.data, a.dtype, i),
                            torch_element(b.data, b.dtype, i));
    literal_free(vm, &a.literal);
    literal_free(vm, &b.literal);
    *result = value_bool(same);
    return OUTCOME_OK;
}

enum outcome torch_equal(struct vm *vm, struct value *slots, struct value *result)
{
    return equal(vm, slots, false, result);
}

enum outcome numpy_array_equal(struct vm *vm, struct value *slots, struct value *result)
{
    return equal(vm, slots, true, result);
}

// ---- allclose

struct tolerance {
    double relative, absolute;
    bool equal_nan;
};

static bool is_close(double a, double b, const struct tolerance *tolerance)
{
    if (a == b)
        return true;
    if (isnan(a) && isnan(b))
        return tolerance->equal_nan;
    if (!isfinite(a) || !isfinite(b))
        return false;
    return fabs(a - b) <= tolerance->absolute + fabs(tolerance->relative * b);
}

// The i-th of the broadcast shape.
static int64_t place(const struct layout *layout, const struct layout *wide, int64_t i)
{
    int64_t offset = 0;
    for (int d = wide->ndim - 1; d >= 0; d--) {
        offset += i % wide->shape[d] * layout->strides[d];
        i /= wide->shape[d];
    }
    return offset;
}

static enum outcome all_close(struct vm *vm, const struct elements *a,
                              const struct elements *b, const struct tolerance *tolerance,
                              bool *close)
{
    struct layout wide, wide_a, wide_b;
    const struct layout *both[] = {&a->layout, &b->layout};
    struct problem *problem = vm_problem(vm);
    int64_t count;
    if (shape_broadcast(2, both, &wide, problem) != STATUS_OK ||
        shape_check(wide.ndim, wide.shape, 8, &count, problem) != STATUS_OK ||
        layout_expand(&a->layout, wide.ndim, wide.shape, &wide_a, problem) != STATUS_OK ||
        layout_expand(&b->layout, wide.ndim, wide.shape, &wide_b, problem) != STATUS_OK ||
        vm_spend(vm, count) != OUTCOME_OK)
        return OUTCOME_ERROR;
    bool plain = same_shape(&a->layout, &b->layout);
    *close = true;
    for (int64_t i = 0; *close && i < count; i++) {
        int64_t at_a = plain ? i : place(&wide_a, &wide, i);
        int64_t at_b = plain ? i : place(&wide_b, &wide, i);
        *close = is_close(real_of(torch_element(a->data, a->dtype, at_a)),
                          real_of(torch_element(b->data, b->dtype, at_b)), tolerance);
    }
    return OUTCOME_OK;
}

static enum outcome read_tolerance(struct vm *vm, const struct value *slots,
                                   struct tolerance *out)
{
    struct scalar scalar;
    enum outcome all = OUTCOME_OK;
    *out = (struct tolerance){1e-5, 1e-8, false};
    if (slots[2].tag != VALUE_ABSENT) {
        if (!outcome_keep(&all, torch_number(vm, slots[2], "rtol", &scalar)))
            return OUTCOME_ERROR;
        out->relative = real_of(scalar);
    }
    if (slots[3].tag != VALUE_ABSENT) {
        if (!outcome_keep(&all, torch_number(vm, slots[3], "atol", &scalar)))
            return OUTCOME_ERROR;
        out->absolute = real_of(scalar);
    }
    out->equal_nan = value_is_integer(slots[4]) && slots[4].i != 0;
    return all;
}

static enum outcome close_to(struct vm *vm, struct value *slots, bool numpy,
                             struct value *result)
{
    struct tolerance tolerance;
    struct elements a, b;
    bool close = false;
    enum outcome outcome = read_tolerance(vm, slots, &tolerance);
    if (outcome != OUTCOME_OK)
        return outcome;
    if (check_devices(vm, slots) != OUTCOME_OK)
        return OUTCOME_ERROR;
    outcome = read_two(vm, slots, numpy, "allclose", &a, &b);
    if (outcome != OUTCOME_OK)
        return outcome;
    if (!numpy && a.dtype != b.dtype)
        outcome = vm_raise(vm, STATUS_DTYPE,
                           "allclose(): the dtypes must be the same, but they are %s and "
                           "%s",
                           dtype_name(a.dtype), dtype_name(b.dtype));
    else
        outcome = all_close(vm, &a, &b, &tolerance, &close);
    literal_free(vm, &a.literal);
    literal_free(vm, &b.literal);
    *result = value_bool(close);
    return outcome;
}

enum outcome torch_allclose(struct vm *vm, struct value *slots, struct value *result)
{
    return close_to(vm, slots, false, result);
}

enum outcome numpy_allclose(struct vm *vm, struct value *slots, struct value *result)
{
    return close_to(vm, slots, true, result);
}

// isclose stays lazy: |a - b| <= atol + rtol * |b|, and a == b for infinities.
enum outcome torch_isclose(struct vm *vm, struct value *slots, struct value *result)
{
    struct tolerance tolerance;
    struct pool pool = {.vm = vm};
    enum outcome outcome = read_tolerance(vm, slots, &tolerance);
    if (outcome != OUTCOME_OK)
        return outcome;
    if (!value_is_tensor(slots[0]) || !value_is_tensor(slots[1]))
        return vm_raise(vm, STATUS_TYPE, "isclose(): the arguments must be Tensors");
    struct lazy *a = tensor_of(slots[0])->lazy, *b = tensor_of(slots[1])->lazy;
    struct lazy *bound =
        pool_number(&pool, OP_mul, pool_one(&pool, OP_abs, b), tolerance.relative);
    bound = pool_number(&pool, OP_add, bound, tolerance.absolute);
    struct lazy *distance = pool_one(&pool, OP_abs, pool_two(&pool, OP_sub, a, b));
    // An infinite bound is no excuse for an infinite distance.
    struct lazy *near = pool_two(&pool, OP_le, distance, bound);
    near = pool_two(&pool, OP_logical_and, near,
                    pool_number(&pool, OP_lt, distance, INFINITY));
    near = pool_two(&pool, OP_logical_or, near, pool_two(&pool, OP_eq, a, b));
    if (tolerance.equal_nan)
        near = pool_two(&pool, OP_logical_or, near,
                        pool_two(&pool, OP_logical_and, pool_two(&pool, OP_ne, a, a),
                                 pool_two(&pool, OP_ne, b, b)));
    struct flavor flavor = {.is_array = value_is_array(slots[0]), .is_scalar = true};
    return pool_end(&pool, near, flavor, result);
}

// ---- nonzero: a row of indices for each element that is not 0.

enum outcome torch_nonzero(struct vm *vm, struct value *slots, struct value *result)
{
    struct elements a;
    enum outcome outcome = read_elements(vm, slots[0], false, "nonzero", &a);
    if (outcome != OUTCOME_OK)
        return outcome;
    struct layout layout = {.ndim = 2, .shape = {0, a.layout.ndim}};
    for (int64_t i = 0; i < a.count; i++)
        layout.shape[0] += real_of(torch_element(a.data, a.dtype, i)) != 0;
    layout_contiguous(&layout);
    int64_t count = layout.shape[0] * a.layout.ndim, *indices, *to;
    if (vm_spend(vm, a.count) != OUTCOME_OK || vm_spend(vm, count) != OUTCOME_OK)
        return OUTCOME_ERROR;
    size_t bytes = (size_t)(count > 0 ? count : 1) * sizeof *indices;
    indices = to = heap_resize(vm_heap(vm), NULL, 0, bytes, vm_problem(vm));
    if (indices == NULL)
        return OUTCOME_ERROR;
    for (int64_t i = 0; i < a.count; i++)
        if (real_of(torch_element(a.data, a.dtype, i)) != 0)
            for (int d = 0; d < a.layout.ndim; d++)
                *to++ = i / a.layout.strides[d] % a.layout.shape[d];
    struct lazy *lazy = NULL;
    outcome = outcome_of(cells_literal(vm_cells(vm), DTYPE_INT64, &layout, indices, &lazy,
                                       vm_problem(vm)));
    heap_resize(vm_heap(vm), indices, bytes, 0, vm_problem(vm));
    if (outcome != OUTCOME_OK)
        return outcome;
    struct pool pool = {.vm = vm};
    struct lazy *there = pool_cast(&pool, pool_keep(&pool, lazy), DTYPE_INT64,
                                   lazy_device(tensor_of(slots[0])->lazy));
    return pool_end(&pool, there, (struct flavor){0}, result);
}

enum outcome torch_count_nonzero(struct vm *vm, struct value *slots, struct value *result)
{
    struct pool pool = {.vm = vm};
    int64_t dim = 0;
    if (!value_is_tensor(slots[0]))
        return vm_raise(vm, STATUS_TYPE,
                        "count_nonzero(): argument 'input' must be Tensor, "
                        "not %s",
                        torch_type_name(slots[0]));
    bool all = slots[1].tag == VALUE_ABSENT || slots[1].tag == VALUE_NONE;
    enum outcome outcome = all ? OUTCOME_OK : value_to_index(vm, slots[1], &dim);
    if (outcome != OUTCOME_OK)
        return outcome;
    struct lazy *other = pool_scalar(&pool, OP_ne, tensor_of(slots[0])->lazy,
                                     (struct scalar){.kind = SCALAR_INT});
    return pool_end(
        &pool, pool_reduce(&pool, OP_sum, other, 1, all ? NULL : &dim, false),
        (struct flavor){.is_array = value_is_array(slots[0]), .is_scalar = true}, result);
}
