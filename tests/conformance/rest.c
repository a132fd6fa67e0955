// SPDX-License-Identifier: Apache-2.0
// Views, joining, copies, selections and constructors on each dtype; the expected
// elements are written out by index arithmetic or by hand.
#include "tests/conformance/conformance.h"

#include <stdio.h>
#include <string.h>

static struct scalar items[MAX_ELEMENTS], other[MAX_ELEMENTS];
static struct values got;

static bool same(struct scalar a, struct scalar b)
{
    return a.kind == b.kind &&
           (a.kind == SCALAR_FLOAT ? ulp_distance(a.f, b.f, DTYPE_FLOAT64) == 0
                                   : a.i == b.i);
}

// Runs op and compares result 0 with the shape and expected[i] = from[index[i]] (index
// NULL: i).
static void expect(enum op op, int n_tensors, struct tensor **tensors,
                   const struct argument *arguments, int ndim, const int64_t *shape,
                   const struct scalar *from, const int *index)
{
    struct problem problem;
    struct tensor *results[OP_MAX_RESULTS];
    int n_results;
    const char *name = op_row(op)->name;
    enum status status =
        run_op(op, false, n_tensors, tensors, arguments, results, &n_results, &problem);
    if (status != STATUS_OK) {
        check(false, "%s: %s", name, problem.detail);
        return;
    }
    read_tensor(results[0], &got);
    bool right =
        got.ndim == ndim && memcmp(got.shape, shape, sizeof *shape * (size_t)ndim) == 0;
    for (int64_t i = 0; i < got.count && right; i++)
        right = same(got.items[i], from[index != NULL ? index[i] : i]);
    check(right, "%s %s", name, dtype_name(got.dtype));
    for (int i = 0; i < n_results; i++)
        tensor_release(results[i]);
}

static void check_views(enum dtype dtype)
{
    int64_t shape[3] = {2, 1, 3}, flat[1] = {6}, three[2] = {3, 2}, wide[3] = {2, 4, 3},
            two[2] = {2, 3}, four[4] = {2, 1, 1, 3};
    int64_t turned[3] = {3, 1, 2}, order[3] = {2, 1, 0}, column[1] = {2};
    int swapped[6] = {0, 3, 1, 4, 2, 5}, repeated[24], last[2] = {2, 5};
    for (int i = 0; i < 24; i++)
        repeated[i] = i / 12 * 3 + i % 3;
    fill(items, 6, dtype, 40 + (unsigned)dtype, false);
    struct tensor *x = make_tensor(dtype, 3, shape, items);
    struct argument a[OP_MAX_PARAMETERS] = {operand(0)};
    expect(OP_flatten, 1, &x, a, 1, flat, items, NULL);
    expect(OP_squeeze, 1, &x, a, 2, two, items, NULL);
    expect(OP_contiguous, 1, &x, a, 3, shape, items, NULL);
    expect(OP_clone, 1, &x, a, 3, shape, items, NULL);
    a[1] = integers(2, three);
    expect(OP_reshape, 1, &x, a, 2, three, items, NULL);
    expect(OP_view, 1, &x, a, 2, three, items, NULL);
    a[1] = integers(3, wide);
    expect(OP_expand, 1, &x, a, 3, wide, items, repeated);
    a[1] = integers(3, order);
    expect(OP_permute, 1, &x, a, 3, turned, items, swapped);
    a[1] = integer(1);
    expect(OP_unsqueeze, 1, &x, a, 4, four, items, NULL);
    a[1] = integer(0), a[2] = integer(-1);
    expect(OP_transpose, 1, &x, a, 3, turned, items, swapped);
    a[1] = (struct argument){.kind = ARGUMENT_STR, .string = {":,0,-1", 6}},
    a[2] = (struct argument){.kind = ARGUMENT_NONE};
    expect(OP_slice, 1, &x, a, 1, column, items, last);
    tensor_release(x);
}

static void check_joining(enum dtype dtype)
{
    int64_t shape[2] = {2, 3}, tall[2] = {4, 3}, broad[2] = {2, 6}, deep[3] = {2, 2, 3};
    int beside[12] = {0, 1, 2, 6, 7, 8, 3, 4, 5, 9, 10, 11};
    fill(items, 12, dtype, 60 + (unsigned)dtype, false);
    struct tensor *parts[2] = {make_tensor(dtype, 2, shape, items),
                               make_tensor(dtype, 2, shape, items + 6)};
    struct argument a[OP_MAX_PARAMETERS] = {operands(2)};
    expect(OP_cat, 2, parts, a, 2, tall, items, NULL);
    expect(OP_stack, 2, parts, a, 3, deep, items, NULL);
    a[1] = integer(1);
    expect(OP_cat, 2, parts, a, 2, broad, items, beside);
    expect(OP_stack, 2, parts, a, 3, deep, items, beside);
    tensor_release(parts[0]);
    tensor_release(parts[1]);
}

// Casts between all dtypes: to_dtype states the rule.
static void check_casts(enum dtype from)
{
    int64_t shape[1] = {200};
    fill(items, 200, from, 80 + (unsigned)from, false);
    struct tensor *x = make_tensor(from, 1, shape, items);
    for (int to = 0; to < DTYPE_COUNT; to++) {
        struct argument a[OP_MAX_PARAMETERS] = {
            operand(0), {0}, {.kind = ARGUMENT_DTYPE, .dtype = to}};
        for (int i = 0; i < 200; i++)
            other[i] = dtype_is_float(from) ? to_dtype((long double)items[i].f, to)
                       : dtype_is_float(to) ? to_dtype((long double)items[i].i, to)
                                            : wrap_integer(items[i].i, to);
        expect(OP_to, 1, &x, a, 1, shape, other, NULL);
    }
    tensor_release(x);
}

static void check_selections(enum dtype dtype)
{
    int64_t shape[1] = {50};
    static struct scalar truth[50], chosen[50];
    fill(items, 50, dtype, 100 + (unsigned)dtype, true);
    fill(other, 50, dtype, 101 + (unsigned)dtype, true);
    fill(truth, 50, DTYPE_BOOL, 102, true);
    struct tensor *t[3] = {make_tensor(DTYPE_BOOL, 1, shape, truth),
                           make_tensor(dtype, 1, shape, items),
                           make_tensor(dtype, 1, shape, other)};
    struct argument a[OP_MAX_PARAMETERS] = {operand(0), operand(1), operand(2)};
    for (int i = 0; i < 50; i++)
        chosen[i] = truth[i].i ? items[i] : other[i];
    expect(OP_where, 3, t, a, 1, shape, chosen, NULL);
    if (dtype != DTYPE_BOOL) {
        struct argument limits[OP_MAX_PARAMETERS] = {operand(1), number(of_int(1)),
                                                     number(of_int(2))};
        for (int i = 0; i < 50; i++)
            chosen[i] = real(items[i]) < 1   ? to_dtype(1, dtype)
                        : real(items[i]) > 2 ? to_dtype(2, dtype)
                                             : items[i];
        expect(OP_clamp, 2, t, limits, 1, shape, chosen, NULL);
    }
    for (int i = 0; i < 3; i++)
        tensor_release(t[i]);
}

static struct argument on_device(void)
{
    return (struct argument){.kind = ARGUMENT_DEVICE, .device = device};
}

static void check_constructors(enum dtype dtype)
{
    int64_t shape[2] = {3, 5}, line[1] = {9}, square[2] = {3, 3};
    struct argument kind = {.kind = ARGUMENT_DTYPE, .dtype = dtype};
    struct argument sized[OP_MAX_PARAMETERS] = {integers(2, shape), kind, on_device()};
    for (int i = 0; i < 15; i++)
        items[i] = to_dtype(0, dtype), other[i] = to_dtype(1, dtype);
    expect(OP_zeros, 0, NULL, sized, 2, shape, items, NULL);
    expect(OP_ones, 0, NULL, sized, 2, shape, other, NULL);
    struct tensor *x = make_tensor(dtype, 2, shape, other);
    struct argument like[OP_MAX_PARAMETERS] = {operand(0)};
    expect(OP_zeros_like, 1, &x, like, 2, shape, items, NULL);
    expect(OP_ones_like, 1, &x, like, 2, shape, other, NULL);
    struct argument filled[OP_MAX_PARAMETERS] = {integers(2, shape), number(of_int(1)),
                                                 kind, on_device()};
    expect(OP_full, 0, NULL, filled, 2, shape, other, NULL);
    struct argument like_one[OP_MAX_PARAMETERS] = {operand(0), number(of_int(1))};
    expect(OP_full_like, 1, &x, like_one, 2, shape, other, NULL);
    tensor_release(x);
    struct argument diagonal[OP_MAX_PARAMETERS] = {integer(3), {0}, kind, on_device()};
    for (int i = 0; i < 9; i++)
        items[i] = to_dtype(i % 4 == 0, dtype);
    expect(OP_eye, 0, NULL, diagonal, 2, square, items, NULL);
    if (dtype == DTYPE_BOOL)
        return;
    struct argument range[OP_MAX_PARAMETERS] = {number(of_int(1)), number(of_int(28)),
                                                number(of_int(3)), kind, on_device()};
    for (int i = 0; i < 9; i++)
        items[i] = to_dtype(1 + 3 * i, dtype);
    expect(OP_arange, 0, NULL, range, 1, line, items, NULL);
    struct argument spaced[OP_MAX_PARAMETERS] = {number(of_int(0)), number(of_int(32)),
                                                 integer(9), kind, on_device()};
    for (int i = 0; i < 9; i++)
        items[i] = to_dtype(4 * i, dtype);
    expect(OP_linspace, 0, NULL, spaced, 1, line, items, NULL);
}

// In-place rows: the executor's result is what was written.
static void check_writes(enum dtype dtype)
{
    int64_t shape[2] = {3, 5};
    fill(items, 15, dtype, 130, true);
    fill(other, 15, dtype, 131, true);
    struct tensor *t[2] = {make_tensor(dtype, 2, shape, items),
                           make_tensor(dtype, 2, shape, other)};
    struct argument copy[OP_MAX_PARAMETERS] = {operand(0), operand(1)};
    expect(OP_copy_, 2, t, copy, 2, shape, other, NULL);
    struct argument fill_one[OP_MAX_PARAMETERS] = {operand(0), number(of_int(1))};
    for (int i = 0; i < 15; i++)
        items[i] = to_dtype(1, dtype), other[i] = to_dtype(0, dtype);
    expect(OP_fill_, 1, t, fill_one, 2, shape, items, NULL);
    struct argument zero[OP_MAX_PARAMETERS] = {operand(0)};
    expect(OP_zero_, 1, t, zero, 2, shape, other, NULL);
    tensor_release(t[0]);
    tensor_release(t[1]);
}

void check_rest(void)
{
    for (int dtype = 0; dtype < DTYPE_COUNT; dtype++) {
        check_views(dtype);
        check_joining(dtype);
        check_casts(dtype);
        check_selections(dtype);
        check_constructors(dtype);
        check_writes(dtype);
    }
}
