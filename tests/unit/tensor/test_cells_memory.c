// SPDX-License-Identifier: Apache-2.0
// Cells and memory: what they hold, when they ask for a flush, many results, every call
// of a device failing in turn, programs that end in the middle.
#include "cells_fixture.h"

static struct lazy *counting(struct cells *cells, int64_t n)
{
    double values[64];
    for (int64_t i = 0; i < n; i++)
        values[i] = (double)i;
    return literal(cells, DTYPE_INT64, 1, &n, values);
}

static void test_books(void **state)
{
    struct cells *cells = cells_new();
    struct tensor *stored = tensor_of(DTYPE_INT64, SHAPE(4), VALUES(1, 2, 3, 4));
    int64_t before = fixture_used(0);
    struct lazy *x = import(cells, stored);
    assert_int_equal(cells_held(cells, 0), 0); // it is another's
    struct lazy *y = lazy_with(cells, "add", x, whole(1));
    struct lazy *z = counting(cells, 3);
    assert_int_equal(cells_held(cells, 0), 24);
    flush(cells);
    assert_int_equal(cells_held(cells, 0), 24 + 32);
    assert_int_equal(fixture_used(0) - before, 24 + 32);
    lazy_release(lazy_with(cells, "add_", x, whole(1)));
    lazy_release(lazy_with(cells, "add_", y, whole(1))); // both blocks are still read
    assert_int_equal(cells_held(cells, 0), 24 + 32);
    flush(cells);
    assert_int_equal(cells_held(cells, 0), 24 + 32 + 32);
    assert_int_equal(fixture_used(0) - before, 24 + 32 + 32);
    lazy_release(z);
    lazy_release(y);
    lazy_release(x);
    assert_int_equal(cells_held(cells, 0), 32); // the write waits for the commit
    cells_free(cells);
    assert_int_equal(fixture_used(0), before);
    tensor_release(stored);
}

static void test_host_copies(void **state)
{
    struct cells *cells = cells_new();
    struct tensor *stored =
        tensor_on(fixture.table[1], DTYPE_INT64, SHAPE(2), VALUES(1, 2));
    struct lazy *x = import(cells, stored);
    struct tensor *first = on_host(cells, x);
    assert_true(tensor_device(first)->is_host);
    check_values(first, VALUES(1, 2));
    assert_int_equal(cells_held(cells, 0), 16);
    assert_ptr_equal(on_host(cells, x), first); // it is there
    lazy_release(lazy_with(cells, "mul_", x, whole(5)));
    check_lazy(cells, x, VALUES(5, 10));
    assert_int_equal(cells_held(cells, 0), 16);
    assert_int_equal(cells_held(cells, 1), 16);
    lazy_release(x);
    assert_int_equal(cells_held(cells, 0), 0);
    cells_free(cells);
    tensor_release(stored);
}

static void test_pressure(void **state)
{
    struct cells *cells = cells_new();
    struct lazy *x = counting(cells, 6);
    int n = 0;
    while (!cells_pressure(cells) && n < 100000) {
        lazy_release(lazy_with(cells, "add_", x, whole(1)));
        n++;
    }
    assert_true(n > 100 && n < 3000);
    flush(cells);
    assert_false(cells_pressure(cells));
    check_lazy(cells, x, VALUES(n, n + 1, n + 2, n + 3, n + 4, n + 5));
    const int64_t large = FIXTURE_LIMIT / 40; // float32: a tenth of the limit
    struct lazy *big[3];
    for (int i = 0; i < 3; i++) {
        assert_false(cells_pressure(cells));
        big[i] =
            lazy_call(cells, "ones", 1, (struct lazy_argument[]){lazy_ints(1, &large)});
    }
    assert_true(cells_pressure(cells));
    for (int i = 0; i < 3; i++)
        lazy_release(big[i]);
    assert_false(cells_pressure(cells));
    lazy_release(x);
    cells_free(cells);
}

static void test_what_cannot_fit(void **state)
{
    struct cells *cells = cells_new();
    struct problem problem;
    const int64_t large = FIXTURE_LIMIT / 4 + 1;
    struct lazy *x =
        lazy_call(cells, "ones", 1, (struct lazy_argument[]){lazy_ints(1, &large)});
    assert_int_equal(try_flush(cells, &problem), STATUS_OUT_OF_MEMORY);
    assert_int_equal(problem.required_bytes, 4 * large);
    lazy_release(x);
    cells_free(cells);
    cells = cells_new();
    const struct layout shape = {.ndim = 1, .shape = {FIXTURE_LIMIT}};
    assert_int_equal(cells_literal(cells, DTYPE_INT64, &shape, NULL, &x, &problem),
                     STATUS_OUT_OF_MEMORY);
    cells_free(cells);
}

// Thousands of results in one flush.
static void test_many_results(void **state)
{
    enum { MANY = 4000 };
    struct cells *cells = cells_new();
    struct lazy *x = counting(cells, 4);
    static struct lazy *results[MANY];
    for (int i = 0; i < MANY; i++)
        results[i] = lazy_with(cells, "add", x, whole(i));
    flush(cells);
    for (int i = 0; i < MANY; i++) {
        check_lazy(cells, results[i], VALUES(i, i + 1, i + 2, i + 3));
        lazy_release(results[i]);
    }
    lazy_release(x);
    cells_free(cells);
}

// ---- Failing devices
static enum status program(struct problem *problem)
{
    struct cells *cells = cells_new();
    struct tensor *stored =
        tensor_on(fixture.table[1], DTYPE_INT64, SHAPE(4), VALUES(1, 2, 3, 4));
    struct lazy *x = import(cells, stored), *y = lazy_with(cells, "mul", x, whole(3)),
                *part = lazy_slice(cells, y, "1:3");
    struct tensor *host;
    lazy_release(lazy_with(cells, "add_", part, whole(5)));
    lazy_release(lazy_two(cells, "sub_", x, y));
    enum status status = cells_host(cells, y, &host, problem);
    if (status == STATUS_OK)
        status = try_flush(cells, problem);
    if (status == STATUS_OK) {
        check_lazy(cells, y, VALUES(3, 11, 14, 12));
        check_values(stored, VALUES(1, 2, 3, 4));
    }
    lazy_release(x);
    lazy_release(y);
    lazy_release(part);
    cells_free(cells);
    tensor_release(stored);
    return status;
}

static void test_every_call_fails(void **state)
{
    struct problem problem;
    for (int device = 0; device < 2; device++) {
        struct test_device *test = &fixture.devices[device];
        enum status status = STATUS_OUT_OF_MEMORY;
        for (int n = 2; status != STATUS_OK; n++) { // call 1 makes the stored tensor
            test->calls = device == 0;
            test->fail_at = n;
            status = program(&problem);
            test->fail_at = 0;
            assert_true(status == STATUS_OK || status == STATUS_OUT_OF_MEMORY);
            assert_int_equal(fixture_used(0), 0);
            assert_int_equal(fixture_used(1), 0);
            assert_true(n < 200);
        }
    }
}

// Left in the middle: a flush that has begun, one that has run.
static void test_abandoned(void **state)
{
    struct problem problem;
    struct executor *executor;
    for (int ran = 0; ran < 2; ran++) {
        struct cells *cells = cells_new();
        struct lazy *x = counting(cells, 6), *y = lazy_two(cells, "mul", x, x);
        assert_int_equal(cells_flush_begin(cells, &executor, &problem), STATUS_OK);
        if (ran)
            assert_int_equal(run_executor(executor, &problem), STATUS_OK);
        executor_free(executor); // lent: the cells go on
        if (ran) {
            assert_int_equal(cells_flush_end(cells, &problem), STATUS_OK);
            check_lazy(cells, y, VALUES(0, 1, 4, 9, 16, 25));
        }
        cells_free(cells);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_books),        cmocka_unit_test(test_host_copies),
        cmocka_unit_test(test_pressure),     cmocka_unit_test(test_what_cannot_fit),
        cmocka_unit_test(test_many_results), cmocka_unit_test(test_every_call_fails),
        cmocka_unit_test(test_abandoned),
    };
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
