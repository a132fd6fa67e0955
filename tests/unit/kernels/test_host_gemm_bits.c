// SPDX-License-Identifier: Apache-2.0
// Matrix products on the host have the same bits for every order of units, number of
// threads and batch; the levels agree.
#include "kernels/host/levels.h"
#include "tests/unit/kernels/gemm_oracle.h"

static void check_same_bits(enum dtype dtype, const struct shape *shape,
                            const struct layout *layout)
{
    struct product p;
    product_make(&p, dtype, shape, layout);
    fill_reals(&p);
    size_t bytes = (size_t)(p.c_count * dtype_size(dtype));
    char *first = malloc(bytes);
    run(&p.gemm, 1);
    memcpy(first, p.c, bytes);
    for (int threads = 2; threads <= 5; threads++) {
        memset(p.c, 0xFF, bytes);
        run(&p.gemm, threads);
        assert_memory_equal(p.c, first, bytes);
    }
    free(first);
    product_free(&p);
}

static void threads_and_order_change_no_bits(void **state)
{
    static const struct shape cut[] = {{260, 300, 280, 0, {0}},
                                       {600, 40, 900, 0, {0}},
                                       {5000, 1, 700, 0, {0}},
                                       {20, 30, 10, 2, {30, 2}},
                                       {40, 40, 20000, 0, {0}}};
    for (int dtype = DTYPE_FLOAT16; dtype < DTYPE_COUNT; dtype++)
        for (size_t s = 0; s < sizeof cut / sizeof *cut; s++)
            check_same_bits((enum dtype)dtype, &cut[s], &layouts[s % 2]);
}

// With panels in k (more than 5.4e8 operations a tile).
static void panels_change_no_bits(void **state)
{
    struct gemm_cut cut;
    static const struct shape shape = {520, 700, 1200, 0, {0}};
    struct product p;
    product_make(&p, DTYPE_FLOAT64, &shape, &layouts[0]);
    gemm_prepare(&cut, &p.gemm, 2);
    assert_true(cut.panels > 1);
    product_free(&p);
    check_same_bits(DTYPE_FLOAT64, &shape, &layouts[0]);
}

// One matrix of a batch gives the bits it gives alone.
static void a_batch_changes_no_bits(void **state)
{
    static const struct shape many = {70, 80, 20, 1, {30}};
    struct product p;
    product_make(&p, DTYPE_FLOAT32, &many, &layouts[0]);
    fill_reals(&p);
    run(&p.gemm, 2);
    float alone[70 * 80];
    struct gemm one = p.gemm;
    one.batch_ndim = 0;
    one.a = p.a + 17 * p.gemm.a_batch[0] * 4;
    one.b = p.b + 17 * p.gemm.b_batch[0] * 4;
    one.c = alone;
    run(&one, 1);
    assert_memory_equal(alone, p.c + 17 * p.gemm.c_batch[0] * 4, sizeof alone);
    product_free(&p);
}

static void levels_agree(void **state)
{
    static const struct shape shape = {33, 65, 300, 0, {0}};
    const struct level *before = level_current();
    for (int dtype = DTYPE_UINT8; dtype <= DTYPE_BFLOAT16; dtype++)
        for (int i = 0; level_available(i) != NULL; i++) {
            struct product p;
            level_select(level_available(i));
            product_make(&p, (enum dtype)dtype, &shape, &layouts[3]);
            fill_integers(&p, 1);
            run(&p.gemm, 1);
            check(&p);
            product_free(&p);
        }
    level_select(before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_and_order_change_no_bits),
        cmocka_unit_test(panels_change_no_bits),
        cmocka_unit_test(a_batch_changes_no_bits),
        cmocka_unit_test(levels_agree),
    };
    random_state = 1;
    blas_single_threaded();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
