// SPDX-License-Identifier: Apache-2.0
// Matrix products: every dtype, both storage orders, batches of every kind, tiles and
// panels.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/cuda/fixture.h"

struct product_case {
    int64_t m, n, k;
    bool a_turned, b_turned;
    int batch_ndim;
    int64_t batch_shape[3];
    int a_batch,
        b_batch; // bit d: the operand has batch dim d (else it is broadcast there)
};

// Fills dims' strides for an operand whose matrices have `matrix` elements; total
// elements.
static int64_t batch_strides(const struct product_case *c, int present, int64_t matrix,
                             int64_t *strides)
{
    int64_t stride = matrix;
    for (int d = c->batch_ndim - 1; d >= 0; d--) {
        bool here = present >> d & 1;
        strides[d] = here ? stride : 0;
        stride *= here ? c->batch_shape[d] : 1;
    }
    return stride;
}

static double small(enum dtype dtype, uint32_t *random)
{
    if (dtype_is_float(dtype))
        return (double)(fixture_random(random) % 257) / 128 - 1;
    return (double)(fixture_random(random) % 256) - (dtype == DTYPE_UINT8 ? 0 : 128);
}

static char *random_operand(enum dtype dtype, int64_t count, unsigned seed)
{
    char *host = malloc((size_t)(count * dtype_size(dtype)));
    uint32_t random = seed;
    for (int64_t i = 0; i < count; i++)
        fixture_set(host, dtype, i, small(dtype, &random));
    return host;
}

static void check_element(const struct gemm *gemm, const char *a, const char *b,
                          const char *c, int64_t at_a, int64_t at_b, int64_t at_c)
{
    enum dtype dtype = gemm->dtype;
    long double sum = 0, magnitude = 0;
    uint64_t whole = 0;
    for (int64_t l = 0; l < gemm->k; l++) {
        double x = fixture_get(a, dtype, at_a + l * gemm->a_column);
        double y = fixture_get(b, dtype, at_b + l * gemm->b_row);
        sum += (long double)x * y;
        magnitude += fabsl((long double)x * y);
        whole += (uint64_t)(int64_t)x * (uint64_t)(int64_t)y;
    }
    double got = fixture_get(c, dtype, at_c);
    if (!dtype_is_float(dtype)) {
        int64_t stored = 0;
        memcpy(&stored, &whole, (size_t)dtype_size(dtype));
        assert_memory_equal(&stored, c + at_c * dtype_size(dtype),
                            (size_t)dtype_size(dtype));
        return;
    }
    double accumulated = dtype == DTYPE_FLOAT64 ? 0x1p-50 : 0x1p-20;
    if (fabs(got - (double)sum) >
        (double)magnitude * accumulated + fixture_ulp(dtype, (double)sum))
        fail_msg("product %s %ldx%ldx%ld: %.9g, not %.9g", dtype_name(dtype),
                 (long)gemm->m, (long)gemm->n, (long)gemm->k, got, (double)sum);
}

static void run_case(enum dtype dtype, const struct product_case *c)
{
    struct gemm gemm = {.dtype = dtype,
                        .m = c->m,
                        .n = c->n,
                        .k = c->k,
                        .a_row = c->a_turned ? 1 : c->k,
                        .a_column = c->a_turned ? c->m : 1,
                        .b_row = c->b_turned ? 1 : c->n,
                        .b_column = c->b_turned ? c->k : 1,
                        .c_row = c->n,
                        .batch_ndim = c->batch_ndim};
    memcpy(gemm.batch_shape, c->batch_shape, sizeof c->batch_shape);
    int64_t a_count = batch_strides(c, c->a_batch, c->m * c->k, gemm.a_batch);
    int64_t b_count = batch_strides(c, c->b_batch, c->k * c->n, gemm.b_batch);
    int64_t c_count = batch_strides(c, 7, c->m * c->n, gemm.c_batch);
    int size = dtype_size(dtype);
    char *a = random_operand(dtype, a_count, 1), *b = random_operand(dtype, b_count, 2);
    char *out = malloc((size_t)(c_count * size));
    void *blocks[3] = {fixture_put(a, a_count * size), fixture_put(b, b_count * size),
                       fixture_block(c_count * size)};
    gemm.a = blocks[0];
    gemm.b = blocks[1];
    gemm.c = blocks[2];
    fixture_do(&(struct kernel){.form = KERNEL_GEMM, .gemm = gemm});
    fixture_take(blocks[2], out, c_count * size);
    fixture_drop(blocks[0], a_count * size);
    fixture_drop(blocks[1], b_count * size);
    for (int64_t item = 0; item < c_count / (c->m * c->n); item++) {
        int64_t rest = item, a_base = 0, b_base = 0;
        for (int d = c->batch_ndim - 1; d >= 0; d--) {
            a_base += rest % c->batch_shape[d] * gemm.a_batch[d];
            b_base += rest % c->batch_shape[d] * gemm.b_batch[d];
            rest /= c->batch_shape[d];
        }
        for (int64_t i = 0; i < c->m; i++)
            for (int64_t j = 0; j < c->n; j++)
                check_element(&gemm, a, b, out, a_base + i * gemm.a_row,
                              b_base + j * gemm.b_column,
                              item * c->m * c->n + i * c->n + j);
    }
    free(a);
    free(b);
    free(out);
}

static void test_every_dtype(void **state)
{
    static const struct product_case cases[] = {
        {1, 1, 1, false, false, 0, {0}, 0, 0},
        {1, 7, 5, false, true, 0, {0}, 0, 0},
        {9, 1, 4, true, false, 0, {0}, 0, 0},
        {33, 65, 31, false, false, 0, {0}, 0, 0},
        {31, 17, 70, true, true, 0, {0}, 0, 0},
        {5, 6, 7, false, true, 1, {4}, 1, 1},
        {3, 4, 5, true, false, 2, {3, 2}, 2, 3},
        {4, 3, 2, false, false, 3, {2, 3, 2}, 5, 2},
    };
    for (enum dtype dtype = DTYPE_UINT8; dtype < DTYPE_COUNT; dtype++)
        for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
            run_case(dtype, &cases[c]);
}

// Larger than a slice of the simulated card: cut in rows and columns, and in k for a deep
// one.
static void test_tiles(void **state)
{
    static const struct product_case wide = {300, 200, 130, false, false, 0, {0}, 0, 0};
    static const struct product_case deep = {20, 24, 9000, false, true, 0, {0}, 0, 0};
    run_case(DTYPE_FLOAT32, &wide);
    run_case(DTYPE_INT32, &wide);
    run_case(DTYPE_FLOAT64, &deep);
    run_case(DTYPE_FLOAT16, &deep);
    run_case(DTYPE_INT64, &(struct product_case){5, 6, 9000, true, false, 0, {0}, 0, 0});
}

// Rows of c further apart than its columns need: nothing in between is written.
static void test_row_gaps(void **state)
{
    float a[2 * 3] = {1, 2, 3, 4, 5, 6}, b[3 * 2] = {1, 0, 0, 1, 1, 1}, c[2 * 5];
    for (int i = 0; i < 10; i++)
        c[i] = -9;
    void *blocks[3] = {fixture_put(a, sizeof a), fixture_put(b, sizeof b),
                       fixture_put(c, sizeof c)};
    fixture_do(&(struct kernel){.form = KERNEL_GEMM,
                                .gemm = {.dtype = DTYPE_FLOAT32,
                                         .m = 2,
                                         .n = 2,
                                         .k = 3,
                                         .a = blocks[0],
                                         .b = blocks[1],
                                         .c = blocks[2],
                                         .a_row = 3,
                                         .a_column = 1,
                                         .b_row = 2,
                                         .b_column = 1,
                                         .c_row = 5}});
    fixture_take(blocks[2], c, sizeof c);
    fixture_drop(blocks[0], sizeof a);
    fixture_drop(blocks[1], sizeof b);
    const float expected[10] = {4, 5, -9, -9, -9, 10, 11, -9, -9, -9};
    assert_memory_equal(c, expected, sizeof c);
}

// The cut depends on the shape alone: the same product twice has the same bits.
static void test_repeatable(void **state)
{
    enum { N = 150, BYTES = N * N * 4 };
    char *a = random_operand(DTYPE_FLOAT32, N * N, 5);
    static char first[BYTES], second[BYTES];
    void *block = fixture_put(a, BYTES);
    for (int t = 0; t < 2; t++) {
        void *out = fixture_block(BYTES);
        fixture_do(&(struct kernel){.form = KERNEL_GEMM,
                                    .gemm = {.dtype = DTYPE_FLOAT32,
                                             .m = N,
                                             .n = N,
                                             .k = N,
                                             .a = block,
                                             .b = block,
                                             .c = out,
                                             .a_row = N,
                                             .a_column = 1,
                                             .b_row = 1,
                                             .b_column = N,
                                             .c_row = N}});
        fixture_take(out, t ? second : first, BYTES);
    }
    fixture_drop(block, BYTES);
    free(a);
    assert_memory_equal(first, second, BYTES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_dtype),
        cmocka_unit_test(test_tiles),
        cmocka_unit_test(test_row_gaps),
        cmocka_unit_test(test_repeatable),
    };
    return fixture_run("product", tests, sizeof tests / sizeof *tests);
}
