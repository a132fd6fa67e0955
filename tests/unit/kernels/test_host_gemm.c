// SPDX-License-Identifier: Apache-2.0
// Matrix products on the host against plain loops: exact on small integers for every
// dtype, within the rounding error bound on random floats; and the check of the BLAS.
#include "tests/unit/kernels/gemm_oracle.h"

static const struct shape shapes[] = {
    {1, 1, 1, 0, {0}},      {2, 3, 4, 0, {0}},       {8, 8, 8, 0, {0}},
    {9, 8, 8, 0, {0}},      {5, 7, 1, 0, {0}},       {40, 50, 1, 0, {0}},
    {1, 30, 17, 0, {0}},    {30, 1, 17, 0, {0}},     {1, 1, 1000, 0, {0}},
    {1, 5000, 3, 0, {0}},   {600, 1, 700, 0, {0}},   {1, 600, 700, 0, {0}},
    {4, 4, 300, 0, {0}},    {64, 64, 64, 0, {0}},    {130, 70, 33, 0, {0}},
    {37, 129, 257, 0, {0}}, {260, 300, 280, 0, {0}}, {3, 1700, 20, 0, {0}},
    {1000, 9, 9, 0, {0}},   {129, 257, 700, 0, {0}}, {4500, 1, 300, 0, {0}},
    {2, 3, 4, 1, {5}},      {3, 2, 5, 3, {2, 3, 4}}, {20, 30, 10, 2, {3, 2}},
    {1, 9, 20, 1, {7}},     {9, 1, 20, 2, {2, 2}},   {70, 80, 20, 1, {30}},
    {1, 1, 9, 1, {100}},    {2, 2, 2, 1, {3000}},    {32, 32, 20000, 0, {0}},
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static void every_dtype_is_exact_on_small_integers(void **state)
{
    for (int dtype = DTYPE_UINT8; dtype < DTYPE_COUNT; dtype++)
        for (size_t s = 0; s < SHAPES; s++)
            for (size_t l = 0; l < sizeof layouts / sizeof *layouts; l++) {
                struct product p;
                if (s == SHAPES - 1 && l > 0)
                    continue; // long
                product_make(&p, (enum dtype)dtype, &shapes[s], &layouts[l]);
                fill_integers(&p, dtype == DTYPE_FLOAT16 ? 1 : 3);
                run(&p.gemm, 1);
                check(&p);
                product_free(&p);
            }
}

static void integers_wrap(void **state)
{
    static const struct shape wrapping[] = {
        {5, 6, 7, 0, {0}}, {33, 65, 300, 0, {0}}, {20, 1, 50, 0, {0}}};
    for (int dtype = DTYPE_UINT8; dtype <= DTYPE_INT32; dtype++)
        for (size_t s = 0; s < sizeof wrapping / sizeof *wrapping; s++)
            for (size_t l = 0; l < 2; l++) {
                struct product p;
                product_make(&p, (enum dtype)dtype, &wrapping[s], &layouts[l]);
                for (int64_t i = 0; i < p.a_count * dtype_size(dtype); i++)
                    p.a[i] = (char)random_next();
                for (int64_t i = 0; i < p.b_count * dtype_size(dtype); i++)
                    p.b[i] = (char)random_next();
                run(&p.gemm, 2);
                check(&p);
                product_free(&p);
            }
}

// 2^40 * 2^30 * 3 wraps to 0; (2^32 + 1)^2 = 2^64 + 2^33 + 1 wraps to 2^33 + 1.
static void int64_wraps(void **state)
{
    int64_t a[9] = {[0] = INT64_C(1) << 40, [1] = (INT64_C(1) << 32) + 1}, b[9] = {0},
            c[1];
    struct gemm g = {.dtype = DTYPE_INT64,
                     .m = 1,
                     .n = 1,
                     .k = 9,
                     .a = a,
                     .b = b,
                     .c = c,
                     .a_row = 9,
                     .a_column = 1,
                     .b_row = 1,
                     .b_column = 1,
                     .c_row = 1};
    b[0] = INT64_C(3) << 30;
    b[1] = a[1];
    run(&g, 1);
    assert_int_equal(c[0], (INT64_C(1) << 33) + 1);
}

static void floats_stay_within_the_bound(void **state)
{
    for (int dtype = DTYPE_FLOAT16; dtype < DTYPE_COUNT; dtype++)
        for (size_t s = 0; s < SHAPES; s++) {
            struct product p;
            product_make(&p, (enum dtype)dtype, &shapes[s], &layouts[s % 4]);
            fill_reals(&p);
            run(&p.gemm, 2);
            check(&p);
            product_free(&p);
        }
}

// The products of the largest shapes are cut in tiles and panels; a dot product in
// panels.
static void large_products_are_right(void **state)
{
    static const struct shape large[] = {{300, 1600, 640, 0, {0}},
                                         {256, 700, 1600, 0, {0}}};
    static const struct shape columns[] = {{2, 1, 600000, 0, {0}},
                                           {5000, 1, 600, 0, {0}}};
    for (size_t s = 0; s < 2; s++) {
        struct product p;
        product_make(&p, s == 0 ? DTYPE_FLOAT32 : DTYPE_FLOAT64, &large[s], &layouts[s]);
        fill_integers(&p, 2);
        run(&p.gemm, 2);
        check(&p);
        product_free(&p);
        for (int dtype = DTYPE_BFLOAT16; dtype < DTYPE_COUNT; dtype++) {
            product_make(&p, (enum dtype)dtype, &columns[s], &layouts[s]);
            fill_integers(&p, 2);
            run(&p.gemm, 2);
            check(&p);
            product_free(&p);
        }
    }
}

// IEEE: 0 * infinity is NaN, also where the other operand's row is all zero; what was in
// c does not matter.
static void nan_and_infinity_propagate(void **state)
{
    static const struct shape special[] = {{4, 4, 4, 0, {0}},
                                           {40, 50, 30, 0, {0}},
                                           {40, 1, 30, 0, {0}},
                                           {1, 40, 30, 0, {0}},
                                           {1, 1, 30, 0, {0}}};
    for (int dtype = DTYPE_FLOAT16; dtype < DTYPE_COUNT; dtype++)
        for (size_t s = 0; s < sizeof special / sizeof *special; s++)
            for (size_t l = 0; l < 4; l += 3) {
                struct product p;
                product_make(&p, (enum dtype)dtype, &special[s], &layouts[l]);
                for (int64_t i = 0; i < p.b_count; i++)
                    set(p.b, (enum dtype)dtype, i, 0);
                for (int64_t i = 0; i < p.a_count; i++)
                    set(p.a, (enum dtype)dtype, i, 1);
                run(&p.gemm, 1);
                check(&p); // zeros, though c was NaN
                set(p.a, (enum dtype)dtype, 3 * p.gemm.a_column,
                    (double)INFINITY); // row 0
                run(&p.gemm, 1);
                for (int64_t j = 0; j < p.gemm.n; j++)
                    assert_true(isnan(get(p.c, (enum dtype)dtype, j)));
                for (int64_t j = 0; j < p.gemm.n && p.gemm.m > 1; j++)
                    assert_true(get(p.c, (enum dtype)dtype, p.gemm.c_row + j) == 0);
                product_free(&p);
            }
}

// Strides no BLAS takes (a column of every third element, repeated rows) are converted
// first.
static void odd_strides_are_right(void **state)
{
    for (int dtype = DTYPE_UINT8; dtype < DTYPE_COUNT; dtype++) {
        static const struct shape shape = {20, 30, 40, 0, {0}};
        struct product p;
        product_make(&p, (enum dtype)dtype, &shape, &layouts[0]);
        fill_integers(&p, 2);
        p.gemm.a_row = 0; // the same row 20 times
        p.gemm.k = 13;
        p.gemm.a_column = 3;
        run(&p.gemm, 2);
        check(&p);
        product_free(&p);
    }
}

// float16: 1 + 2^-11 * 2048 times is 2, not 1: the sum is kept in float32 and rounded
// once.
static void half_sums_are_rounded_once(void **state)
{
    enum { K = 2049 };
    uint16_t a[K], b[K], c[1];
    for (int i = 0; i < K; i++) {
        a[i] = float16_from_float(1);
        b[i] = float16_from_float(i == 0 ? 1 : 0x1p-11f);
    }
    struct gemm g = {.dtype = DTYPE_FLOAT16,
                     .m = 1,
                     .n = 1,
                     .k = K,
                     .a = a,
                     .b = b,
                     .c = c,
                     .a_row = K,
                     .a_column = 1,
                     .b_row = 1,
                     .b_column = 1,
                     .c_row = 1};
    run(&g, 1);
    assert_true(float16_to_float(c[0]) == 2);
}

// ---- The check of the BLAS at start.
static void wrong_float32(int order, int transpose_a, int transpose_b, int m, int n,
                          int k, float alpha, const float *a, int a_step, const float *b,
                          int b_step, float beta, float *c, int c_step)
{
    for (int i = 0; i < m * n; i++)
        c[i] = 0;
}
static void wrong_float64(int order, int transpose_a, int transpose_b, int m, int n,
                          int k, double alpha, const double *a, int a_step,
                          const double *b, int b_step, double beta, double *c, int c_step)
{
}

static void a_wrong_blas_is_refused(void **state)
{
    struct problem problem;
    assert_int_equal(blas_check(NULL, NULL, &problem), STATUS_OK);
    assert_int_equal(blas_check(wrong_float32, NULL, &problem), STATUS_DEVICE_FAULT);
    assert_non_null(strstr(problem.detail, "BLAS"));
    assert_non_null(strstr(problem.detail, "float32"));
    assert_int_equal(blas_check(NULL, wrong_float64, &problem), STATUS_DEVICE_FAULT);
    assert_non_null(strstr(problem.detail, "float64"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_dtype_is_exact_on_small_integers),
        cmocka_unit_test(integers_wrap),
        cmocka_unit_test(int64_wraps),
        cmocka_unit_test(floats_stay_within_the_bound),
        cmocka_unit_test(large_products_are_right),
        cmocka_unit_test(nan_and_infinity_propagate),
        cmocka_unit_test(odd_strides_are_right),
        cmocka_unit_test(half_sums_are_rounded_once),
        cmocka_unit_test(a_wrong_blas_is_refused),
    };
    random_state = 1;
    blas_single_threaded();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
