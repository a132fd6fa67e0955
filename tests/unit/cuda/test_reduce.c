// SPDX-License-Identifier: Apache-2.0
// Reductions: every kind and dtype, several dims, both memory orders, extents over
// several stages, and softmax, whose long lines are reductions too.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/cuda/fixture.h"

static const char *const names[] = {"none", "sum",    "prod",   "mean", "min",
                                    "max",  "argmin", "argmax", "all",  "any"};

// What the planner reduces: integers and bool as int64 for sums and products, bool for
// ALL and ANY.
static enum dtype register_dtype(enum pass_reduce kind, enum dtype dtype)
{
    if (kind == PASS_ALL || kind == PASS_ANY)
        return DTYPE_BOOL;
    bool adds = kind == PASS_SUM || kind == PASS_PROD;
    return adds && !dtype_is_float(dtype) ? DTYPE_INT64 : dtype;
}

static enum dtype result_dtype(enum pass_reduce kind, enum dtype of_register)
{
    return kind == PASS_ARGMIN || kind == PASS_ARGMAX ? DTYPE_INT64 : of_register;
}

static bool kind_takes(enum pass_reduce kind, enum dtype dtype)
{
    if (kind == PASS_MEAN)
        return dtype_is_float(dtype);
    return (kind != PASS_ARGMIN && kind != PASS_ARGMAX) || dtype != DTYPE_BOOL;
}

// The reduction of values[0..count-1] in extended precision (indices for ARG*).
static double oracle(enum pass_reduce kind, const double *values, int64_t count)
{
    long double sum = 0, product = 1;
    double best = values[0];
    int64_t where = 0;
    bool all = true, any = false, smallest = kind == PASS_MIN || kind == PASS_ARGMIN;
    for (int64_t i = 0; i < count; i++) {
        double value = values[i];
        sum += value;
        product *= value;
        all &= value != 0;
        any |= value != 0;
        bool better = smallest ? value < best : value > best;
        if (!isnan(best) && (better || isnan(value))) {
            best = value;
            where = i;
        }
    }
    switch (kind) {
    case PASS_SUM:
        return (double)sum;
    case PASS_PROD:
        return (double)product;
    case PASS_MEAN:
        return (double)(sum / count);
    case PASS_MIN:
    case PASS_MAX:
        return best;
    case PASS_ALL:
        return all;
    case PASS_ANY:
        return any;
    default:
        return (double)where;
    }
}

// A case: shape with the reduced dims last, and how the input lies in memory.
struct shape_case {
    int ndim, n_reduced;
    int64_t shape[4];
    int order[4]; // dims from outermost to innermost in memory
};

static const struct shape_case cases[] = {
    {1, 1, {1}, {0}},
    {1, 1, {5}, {0}},
    {1, 1, {4096}, {0}},
    {1, 1, {4097}, {0}},
    {1, 1, {100003}, {0}},
    {2, 1, {7, 3}, {0, 1}},
    {2, 1, {100, 33}, {0, 1}},
    {2, 1, {33, 100}, {1, 0}},
    {2, 1, {70, 5000}, {1, 0}},
    {2, 1, {3, 9001}, {0, 1}},
    {3, 2, {6, 5, 40}, {1, 0, 2}},
    {4, 2, {3, 4, 50, 6}, {2, 0, 3, 1}},
    {4, 4, {3, 4, 5, 6}, {3, 1, 0, 2}},
    {2, 2, {200, 300}, {1, 0}},
};
enum { CASES = sizeof cases / sizeof *cases };

static void strides_of(const struct shape_case *c, int64_t *strides)
{
    int64_t stride = 1;
    for (int i = c->ndim - 1; i >= 0; i--) {
        strides[c->order[i]] = stride;
        stride *= c->shape[c->order[i]];
    }
}

static int64_t offset_of(const struct shape_case *c, const int64_t *strides,
                         int64_t index)
{
    int64_t offset = 0;
    for (int d = c->ndim - 1; d >= 0; d--) {
        offset += index % c->shape[d] * strides[d];
        index /= c->shape[d];
    }
    return offset;
}

static double value_for(enum pass_reduce kind, enum dtype dtype, uint32_t *random)
{
    double spread = (double)(fixture_random(random) % 2001) / 100 - 10;
    if (kind == PASS_PROD && dtype_is_float(dtype))
        return 1 + spread / 1000;
    if (kind == PASS_PROD) // few factors above 1, so that the product stays exact
        return fixture_random(random) % 8000 == 0                  ? 3
               : dtype > DTYPE_UINT8 && fixture_random(random) % 2 ? -1
                                                                   : 1;
    if (dtype == DTYPE_BOOL)
        return kind == PASS_ANY ? fixture_random(random) % 5000 == 0
                                : fixture_random(random) % 5000 != 0;
    return dtype_is_float(dtype) ? spread
                                 : floor(dtype == DTYPE_UINT8 ? fabs(spread) : spread);
}

static void compare(enum pass_reduce kind, enum dtype dtype, const struct shape_case *c,
                    int64_t o, double got, double expected, const double *values,
                    int64_t extent)
{
    double allowed = 0;
    if (dtype_is_float(dtype) &&
        (kind == PASS_SUM || kind == PASS_MEAN || kind == PASS_PROD)) {
        double magnitude = 0; // of the terms: bounds the rounding of the sums
        for (int64_t i = 0; i < extent; i++)
            magnitude += fabs(values[i]);
        magnitude = kind == PASS_PROD   ? fabs(expected) * (double)extent
                    : kind == PASS_MEAN ? magnitude / (double)extent
                                        : magnitude;
        double accumulated = dtype == DTYPE_FLOAT64 ? 0x1p-50 : 0x1p-21;
        allowed = magnitude * accumulated + fixture_ulp(dtype, expected);
    }
    if (isnan(expected) ? !isnan(got) : fabs(got - expected) > allowed)
        fail_msg("%s of %s, case of %ld x %ld, output %ld: %.17g, not %.17g", names[kind],
                 dtype_name(dtype), (long)c->shape[0], (long)c->shape[c->ndim - 1],
                 (long)o, got, expected);
}

static void run_case(enum pass_reduce kind, enum dtype dtype, const struct shape_case *c,
                     bool nans)
{
    int64_t outer = 1, extent = 1, strides[4];
    for (int d = 0; d < c->ndim; d++)
        *(d < c->ndim - c->n_reduced ? &outer : &extent) *= c->shape[d];
    strides_of(c, strides);
    int64_t bytes = outer * extent * dtype_size(dtype);
    char *host = malloc((size_t)bytes);
    uint32_t random = 99;
    for (int64_t i = 0; i < outer * extent; i++)
        fixture_set(host, dtype, i,
                    nans && fixture_random(&random) % 50 == 0
                        ? NAN
                        : value_for(kind, dtype, &random));
    enum dtype of_register = register_dtype(kind, dtype);
    struct pass pass = {.ndim = c->ndim,
                        .n_reduced = c->n_reduced,
                        .n_inputs = 1,
                        .reduce = kind,
                        .output_dtype = result_dtype(kind, of_register)};
    memcpy(pass.shape, c->shape, sizeof c->shape);
    pass.inputs[0] = (struct pass_input){
        .kind = PASS_MEMORY, .dtype = dtype, .data = fixture_put(host, bytes)};
    memcpy(pass.inputs[0].strides, strides, sizeof strides);
    if (of_register != dtype)
        pass.instructions[pass.n_instructions++] =
            (struct pass_instruction){MAP_CAST, (uint8_t)of_register, 0, 0, 0};
    int kept =
        c->ndim -
        c->n_reduced; // the output in reverse order of dims, to see its strides used
    for (int64_t d = 0, stride = 1; d < kept; stride *= c->shape[d++])
        pass.output_strides[d] = stride;
    int size = dtype_size(pass.output_dtype);
    char *out = malloc((size_t)(outer * size));
    pass.output = fixture_block(outer * size);
    fixture_pass(&pass);
    fixture_take(pass.output, out, outer * size);
    fixture_drop((void *)pass.inputs[0].data, bytes);
    double *values = malloc((size_t)extent * sizeof *values);
    for (int64_t o = 0; o < outer; o++) {
        for (int64_t k = 0; k < extent; k++)
            values[k] = fixture_get(host, dtype, offset_of(c, strides, o * extent + k));
        int64_t place = 0, rest = o;
        for (int d = kept - 1; d >= 0; rest /= c->shape[d--])
            place += rest % c->shape[d] * pass.output_strides[d];
        compare(kind, dtype, c, o, fixture_get(out, pass.output_dtype, place),
                oracle(kind, values, extent), values, extent);
    }
    free(values);
    free(out);
    free(host);
}

static void test_every_reduction(void **state)
{
    for (enum pass_reduce kind = PASS_SUM; kind <= PASS_ANY; kind++)
        for (enum dtype dtype = 0; dtype < DTYPE_COUNT; dtype++)
            for (int c = 0; c < CASES && kind_takes(kind, dtype);
                 c += FIXTURE_SLOW ? 3 : 1)
                if (dtype == DTYPE_FLOAT32 || dtype == DTYPE_INT64 ||
                    c % 3 == (int)dtype % 3)
                    run_case(kind, dtype, &cases[c], false);
}

static void test_nan_wins(void **state)
{
    for (enum pass_reduce kind = PASS_MIN; kind <= PASS_ARGMAX; kind++)
        for (enum dtype dtype = DTYPE_FLOAT16; dtype < DTYPE_COUNT; dtype++)
            for (int c = 0; c < CASES; c += FIXTURE_SLOW ? 4 : 1)
                run_case(kind, dtype, &cases[c], true);
}

// The first of equal elements, wherever its block and lane.
static void test_first_index(void **state)
{
    enum { N = 20000 };
    static const int firsts[] = {0, 1, 31, 32, 127, 128, 4095, 4096, 9999, 19999};
    int32_t *host = calloc(N, 4);
    for (size_t f = 0; f < sizeof firsts / sizeof *firsts; f++) {
        for (int i = 0; i < N; i++)
            host[i] = i >= firsts[f] && (i - firsts[f]) % 97 == 0 ? 7 : 3;
        int64_t got;
        struct pass pass = {.ndim = 1,
                            .n_reduced = 1,
                            .shape = {N},
                            .n_inputs = 1,
                            .reduce = PASS_ARGMAX,
                            .output_dtype = DTYPE_INT64};
        pass.inputs[0] = (struct pass_input){.kind = PASS_MEMORY,
                                             .dtype = DTYPE_INT32,
                                             .strides = {1},
                                             .data = fixture_put(host, N * 4)};
        pass.output = fixture_block(8);
        fixture_pass(&pass);
        fixture_take(pass.output, &got, 8);
        fixture_drop((void *)pass.inputs[0].data, N * 4);
        assert_int_equal(got, firsts[f]);
    }
    free(host);
}

// The tree does not depend on the memory order: the sum over the rows of a matrix and
// over the columns of its transposed copy have the same bits. (Neighbouring threads take
// elements in one and outputs in the other.)
static void test_same_tree(void **state)
{
    enum { ROWS = 40, COLUMNS = 6000 };
    static float host[ROWS * COLUMNS], turned[ROWS * COLUMNS];
    float by_row[ROWS], by_column[ROWS];
    uint32_t random = 3;
    for (int r = 0; r < ROWS; r++)
        for (int c = 0; c < COLUMNS; c++)
            turned[c * ROWS + r] = host[r * COLUMNS + c] =
                (float)fixture_random(&random) / 977 - 5000;
    for (int t = 0; t < 2; t++) {
        struct pass pass = {.ndim = 2,
                            .n_reduced = 1,
                            .shape = {ROWS, COLUMNS},
                            .n_inputs = 1,
                            .reduce = PASS_SUM,
                            .output_dtype = DTYPE_FLOAT32,
                            .output_strides = {1}};
        pass.inputs[0] =
            (struct pass_input){.kind = PASS_MEMORY,
                                .dtype = DTYPE_FLOAT32,
                                .data = fixture_put(t ? turned : host, sizeof host),
                                .strides = {t ? 1 : COLUMNS, t ? ROWS : 1}};
        pass.output = fixture_block(sizeof by_row);
        fixture_pass(&pass);
        fixture_take(pass.output, t ? by_column : by_row, sizeof by_row);
        fixture_drop((void *)pass.inputs[0].data, sizeof host);
    }
    assert_memory_equal(by_row, by_column, sizeof by_row);
}

// A chain with a reduction at its end, its output in another dtype: sum((x > 2) as int64)
// as int32.
static void test_chain_and_conversion(void **state)
{
    enum { N = 5001 };
    double host[N];
    int expected = 0, got;
    for (int i = 0; i < N; i++) {
        host[i] = i % 7;
        expected += host[i] > 2;
    }
    struct pass pass = {.ndim = 1,
                        .n_reduced = 1,
                        .shape = {N},
                        .n_inputs = 2,
                        .reduce = PASS_SUM,
                        .output_dtype = DTYPE_INT32,
                        .n_instructions = 2};
    pass.inputs[0] = (struct pass_input){.kind = PASS_MEMORY,
                                         .dtype = DTYPE_FLOAT64,
                                         .strides = {1},
                                         .data = fixture_put(host, sizeof host)};
    pass.inputs[1] = (struct pass_input){
        .kind = PASS_CONSTANT, .dtype = DTYPE_FLOAT64, .constant = {.f64 = 2}};
    pass.instructions[0] = (struct pass_instruction){MAP_gt, DTYPE_FLOAT64, 0, 1, 0};
    pass.instructions[1] = (struct pass_instruction){MAP_CAST, DTYPE_INT64, 2, 0, 0};
    pass.output = fixture_block(4);
    fixture_pass(&pass);
    fixture_take(pass.output, &got, 4);
    fixture_drop((void *)pass.inputs[0].data, sizeof host);
    assert_int_equal(got, expected);
}

// A large extent: three stages, its sum known.
static void test_three_stages(void **state)
{
    if (FIXTURE_SLOW)
        skip();
    int64_t count = INT64_C(4096) * 4096 + 5, got;
    struct pass pass = {.ndim = 1,
                        .n_reduced = 1,
                        .shape = {count},
                        .n_inputs = 1,
                        .inputs = {{.kind = PASS_INDEX, .dtype = DTYPE_INT64}},
                        .reduce = PASS_SUM,
                        .output_dtype = DTYPE_INT64};
    pass.output = fixture_block(8);
    fixture_pass(&pass);
    fixture_take(pass.output, &got, 8);
    assert_true(got == count * (count - 1) / 2);
}

// ---- softmax
static void softmax_case(enum dtype dtype, int64_t outer, int64_t n, int64_t inner,
                         bool in_place)
{
    int64_t count = outer * n * inner, bytes = count * dtype_size(dtype);
    char *host = malloc((size_t)bytes), *out = malloc((size_t)bytes);
    uint32_t random = 17;
    for (int64_t i = 0; i < count; i++)
        fixture_set(host, dtype, i, (double)(fixture_random(&random) % 4001) / 200 - 10);
    void *x = fixture_put(host, bytes), *y = in_place ? x : fixture_block(bytes);
    fixture_do(&(struct kernel){
        .form = KERNEL_SOFTMAX,
        .softmax = {
            .dtype = dtype, .outer = outer, .n = n, .inner = inner, .x = x, .y = y}});
    fixture_take(y, out, bytes);
    if (!in_place)
        fixture_drop(x, bytes);
    for (int64_t line = 0; line < outer * inner; line++) {
        int64_t base = line / inner * n * inner + line % inner;
        double largest = -INFINITY;
        long double sum = 0;
        for (int64_t k = 0; k < n; k++)
            largest = fmax(largest, fixture_get(host, dtype, base + k * inner));
        for (int64_t k = 0; k < n; k++)
            sum += expl(fixture_get(host, dtype, base + k * inner) - largest);
        for (int64_t k = 0; k < n; k++) {
            double expected =
                (double)(expl(fixture_get(host, dtype, base + k * inner) - largest) /
                         sum);
            double got = fixture_get(out, dtype, base + k * inner);
            double relative = dtype == DTYPE_FLOAT64 ? 1e-14 : 3e-6;
            if (fabs(got - expected) > expected * relative + fixture_ulp(dtype, expected))
                fail_msg("softmax %s [%ld, %ld, %ld]: %.9g, not %.9g", dtype_name(dtype),
                         (long)outer, (long)n, (long)inner, got, expected);
        }
    }
    free(host);
    free(out);
}

static void test_softmax(void **state)
{
    for (enum dtype dtype = DTYPE_FLOAT16; dtype < DTYPE_COUNT; dtype++) {
        softmax_case(dtype, 1, 1, 1, false);
        softmax_case(dtype, 17, 33, 1, false);
        softmax_case(dtype, 3, 1025, 1, true);
        softmax_case(dtype, 2, 70, 11, true);
        softmax_case(dtype, 2, 5000, 3, false);
        softmax_case(dtype, 1, 20000, 1, false);
    }
}

// All -inf and NaN anywhere give NaN; a lone +inf too (inf - inf), as in PyTorch.
static void test_softmax_specials(void **state)
{
    float host[3][4] = {{-INFINITY, -INFINITY, -INFINITY, -INFINITY},
                        {1, NAN, 2, 3},
                        {-INFINITY, 0, 0, -INFINITY}};
    void *x = fixture_put(host, sizeof host);
    fixture_do(&(struct kernel){.form = KERNEL_SOFTMAX,
                                .softmax = {DTYPE_FLOAT32, 3, 4, 1, x, x}});
    fixture_take(x, host, sizeof host);
    for (int i = 0; i < 4; i++)
        assert_true(isnan(host[0][i]) && isnan(host[1][i]));
    assert_true(host[2][0] == 0 && host[2][1] == 0.5f && host[2][2] == 0.5f &&
                host[2][3] == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_reduction),
        cmocka_unit_test(test_nan_wins),
        cmocka_unit_test(test_first_index),
        cmocka_unit_test(test_same_tree),
        cmocka_unit_test(test_chain_and_conversion),
        cmocka_unit_test(test_three_stages),
        cmocka_unit_test(test_softmax),
        cmocka_unit_test(test_softmax_specials),
    };
    return fixture_run("reduce", tests, sizeof tests / sizeof *tests);
}
