// SPDX-License-Identifier: Apache-2.0
// Reductions: op x dtype x (which dims) against sums in long double and exact integers.
#include "tests/conformance/conformance.h"

#include <math.h>
#include <stdio.h>

struct extent {
    const char *name;
    int64_t shape[3];
    int n_dims; // 0: all
    int64_t dims[3];
};
static const struct extent extents[] = {
    {"all", {5, 7, 11}, 0, {0}},          {"last", {5, 7, 11}, 1, {2}},
    {"first", {5, 7, 11}, 1, {0}},        {"middle", {5, 7, 11}, 1, {1}},
    {"outer two", {5, 7, 11}, 2, {0, 1}}, {"first and last", {5, 7, 11}, 2, {0, 2}},
    {"long", {1, 2, 9001}, 1, {-1}},      {"columns", {1, 901, 13}, 1, {1}},
    {"one", {1, 1, 1}, 0, {0}},
};
enum { N_EXTENTS = sizeof extents / sizeof *extents };

static struct scalar items[MAX_ELEMENTS];
static struct values got;

static bool reduced(const struct extent *extent, int dim)
{
    if (extent->n_dims == 0)
        return true;
    for (int i = 0; i < extent->n_dims; i++)
        if ((extent->dims[i] + 3) % 3 == dim)
            return true;
    return false;
}

// What a reduction needs of the elements that fall on one result.
struct summary {
    long double sum, product, magnitude, least, greatest;
    __int128 integer_sum;
    unsigned __int128 integer_product;
    int64_t count, first_least, first_greatest;
    bool all, any, nan;
};

static void take(struct summary *s, struct scalar item)
{
    long double value = real(item);
    bool first = s->count == 0;
    if (isnan(value) && !s->nan) {
        s->nan = true;
        s->first_least = s->first_greatest = s->count;
    }
    if (!s->nan && (first || value < s->least))
        s->least = value, s->first_least = s->count;
    if (!s->nan && (first || value > s->greatest))
        s->greatest = value, s->first_greatest = s->count;
    s->sum += value;
    s->magnitude += fabsl(value);
    s->product = first ? value : s->product * value;
    s->integer_sum += item.i;
    s->integer_product = (first ? 1 : s->integer_product) * (unsigned __int128)item.i;
    s->all = (first || s->all) && (value != 0);
    s->any = s->any || value != 0;
    s->count++;
}

// Fills out[] with one summary per result, in C order over the kept dims; the number of
// results.
static int64_t summarize(const struct extent *extent, struct summary *out)
{
    int64_t results = 1, at = 0;
    for (int d = 0; d < 3; d++)
        results *= reduced(extent, d) ? 1 : extent->shape[d];
    for (int64_t i = 0; i < results; i++)
        out[i] = (struct summary){0};
    for (int64_t i = 0; i < extent->shape[0]; i++)
        for (int64_t j = 0; j < extent->shape[1]; j++)
            for (int64_t k = 0; k < extent->shape[2]; k++, at++) {
                int64_t index[3] = {i, j, k}, target = 0;
                for (int d = 0; d < 3; d++)
                    if (!reduced(extent, d))
                        target = target * extent->shape[d] + index[d];
                take(&out[target], items[at]);
            }
    return results;
}

static bool close_to(double ours, long double theirs, enum dtype dtype, long double scale)
{
    if (isnan(theirs) || isinf(theirs))
        return isnan(theirs) ? isnan(ours) : ours == (double)theirs;
    // One rounding to the result's dtype, and the error of adding in float32 (float16
    // too) or double.
    static const double unit[] = {[DTYPE_FLOAT16] = 0x1p-10,
                                  [DTYPE_BFLOAT16] = 0x1p-7,
                                  [DTYPE_FLOAT32] = 0x1p-21,
                                  [DTYPE_FLOAT64] = 0x1p-48};
    return fabsl(ours - theirs) <=
           unit[dtype] * (fabsl(theirs) + scale * 0x1p-4L) + 1e-30L;
}

static bool right(enum op op, enum dtype dtype, const struct summary *s,
                  struct scalar ours)
{
    bool floating = dtype_is_float(dtype);
    switch ((int)op) {
    case OP_sum:
        return floating ? close_to(ours.f, s->sum, dtype, s->magnitude)
                        : ours.i == wrap_integer(s->integer_sum, DTYPE_INT64).i;
    case OP_prod:
        return floating
                   ? close_to(ours.f, to_dtype(s->product, dtype).f, dtype,
                              fabsl(s->product))
                   : ours.i == wrap_integer((__int128)s->integer_product, DTYPE_INT64).i;
    case OP_mean:
        return close_to(ours.f, s->sum / (long double)s->count, dtype,
                        s->magnitude / (long double)s->count);
    case OP_amin:
    case OP_min:
        return s->nan ? isnan(ours.f) : real(ours) == s->least;
    case OP_amax:
    case OP_max:
        return s->nan ? isnan(ours.f) : real(ours) == s->greatest;
    case OP_argmin:
        return ours.i == s->first_least;
    case OP_argmax:
        return ours.i == s->first_greatest;
    case OP_all:
        return ours.kind == SCALAR_BOOL && ours.i == s->all;
    default:
        return ours.kind == SCALAR_BOOL && ours.i == s->any;
    }
}

static enum dtype result_dtype(enum op op, enum dtype dtype)
{
    if (op == OP_argmin || op == OP_argmax)
        return DTYPE_INT64;
    if (op == OP_all || op == OP_any)
        return DTYPE_BOOL;
    return (op == OP_sum || op == OP_prod) && !dtype_is_float(dtype) ? DTYPE_INT64
                                                                     : dtype;
}

static bool refused(enum op op, enum dtype dtype)
{
    return (op == OP_mean && !dtype_is_float(dtype)) ||
           ((op == OP_argmin || op == OP_argmax) && dtype == DTYPE_BOOL);
}

// The dim argument of a row: int[] for some, a single int for others (then several dims
// are not for it).
static bool dim_argument(enum op op, const struct extent *extent, struct argument *out)
{
    if (extent->n_dims == 0)
        return true;
    if (op_row(op)->parameters[1].type == PARAMETER_INTS)
        *out = integers(extent->n_dims, extent->dims);
    else if (extent->n_dims == 1)
        *out = integer(extent->dims[0]);
    else
        return false;
    return true;
}

static void check_one(enum op op, enum dtype dtype, const struct extent *extent,
                      bool keepdim, unsigned seed)
{
    static struct summary summaries[MAX_ELEMENTS];
    struct problem problem;
    struct tensor *tensor, *results[OP_MAX_RESULTS];
    struct argument arguments[OP_MAX_PARAMETERS] = {operand(0)};
    int n_results = 0;
    if (!dim_argument(op, extent, &arguments[1]))
        return;
    arguments[2] = boolean(keepdim);
    fill(items, extent->shape[0] * extent->shape[1] * extent->shape[2], dtype, seed,
         op == OP_prod || op == OP_mean);
    if (op == OP_sum &&
        dtype_is_float(
            dtype)) // sums without infinities; NaN rules are minimum's and maximum's
        fill(items, extent->shape[0] * extent->shape[1] * extent->shape[2], dtype, seed,
             true);
    tensor = make_tensor(dtype, 3, extent->shape, items);
    enum status status =
        run_op(op, false, 1, &tensor, arguments, results, &n_results, &problem);
    const char *name = op_row(op)->name;
    if (refused(op, dtype)) {
        check(status == STATUS_DTYPE, "%s %s: not refused with dtype", name,
              dtype_name(dtype));
    } else if (status != STATUS_OK) {
        check(false, "%s %s %s: %s", name, dtype_name(dtype), extent->name,
              problem.detail);
    } else {
        int64_t count = summarize(extent, summaries), wrong = -1;
        read_tensor(results[0], &got);
        bool fits = got.count == count && got.dtype == result_dtype(op, dtype) &&
                    (!keepdim || got.ndim == 3);
        for (int64_t i = 0; i < count && fits && wrong < 0; i++)
            if (!right(op, dtype, &summaries[i], got.items[i]))
                wrong = i;
        check(fits && wrong < 0, "%s %s %s: result %lld is %.9Lg", name,
              dtype_name(dtype), extent->name, (long long)wrong,
              wrong < 0 ? 0 : real(got.items[wrong]));
    }
    for (int i = 0; i < n_results && status == STATUS_OK; i++)
        tensor_release(results[i]);
    tensor_release(tensor);
}

void check_reductions(void)
{
    static const enum op ops[] = {OP_sum, OP_prod,   OP_mean,   OP_amin, OP_amax, OP_min,
                                  OP_max, OP_argmin, OP_argmax, OP_all,  OP_any};
    unsigned seed = 77;
    for (size_t o = 0; o < sizeof ops / sizeof *ops; o++)
        for (int dtype = 0; dtype < DTYPE_COUNT; dtype++)
            for (int e = 0; e < N_EXTENTS; e++)
                check_one(ops[o], dtype, &extents[e], e % 2, seed++);
}
