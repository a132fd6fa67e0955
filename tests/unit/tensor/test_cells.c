// SPDX-License-Identifier: Apache-2.0
// Cells by hand: identity of lazies, aliasing, what is computed and what is not, faults.
// Random programs are in test_cells_programs.c, memory in test_cells_memory.c.
#include "cells_fixture.h"

static struct lazy *counting(struct cells *cells, int64_t n)
{
    double values[64];
    for (int64_t i = 0; i < n; i++)
        values[i] = (double)i;
    return literal(cells, DTYPE_INT64, 1, &n, values);
}

// ---- The examples
static void test_reader_keeps_what_it_read(void **state)
{
    struct cells *cells = cells_new();
    struct tensor *stored = tensor_of(DTYPE_FLOAT32, SHAPE(3), VALUES(1, 2, 3));
    struct lazy *x = import(cells, stored);
    struct lazy *y = lazy_with(cells, "add", x, whole(1));
    struct lazy *first = lazy_slice(cells, x, "0");
    struct problem problem;
    assert_int_equal(lazy_write_number(cells, first, whole(9), &problem), STATUS_OK);
    check_lazy(cells, y, VALUES(2, 3, 4));
    check_lazy(cells, x, VALUES(9, 2, 3));
    check_values(stored, VALUES(1, 2, 3)); // nothing outside has changed
    commit(cells);
    check_values(stored, VALUES(9, 2, 3));
    lazy_release(x);
    lazy_release(y);
    lazy_release(first);
    cells_free(cells);
    tensor_release(stored);
}

static void test_overlapping_assignment(void **state)
{
    struct problem problem;
    struct cells *cells = cells_new();
    struct lazy *x = counting(cells, 6), *to = lazy_slice(cells, x, "1:"),
                *from = lazy_slice(cells, x, ":-1");
    assert_int_equal(lazy_write(cells, to, from, &problem), STATUS_OK);
    check_lazy(cells, x, VALUES(0, 0, 1, 2, 3, 4));
    assert_int_equal(lazy_write(cells, from, to, &problem), STATUS_OK);
    check_lazy(cells, x, VALUES(0, 1, 2, 3, 4, 4));
    lazy_release(x);
    lazy_release(to);
    lazy_release(from);
    cells_free(cells);
}

// ---- Identity
static void test_the_same_lazy(void **state)
{
    struct cells *cells = cells_new();
    struct lazy *x = counting(cells, 6);
    struct lazy *same =
        lazy_call(cells, "to", 2,
                  (struct lazy_argument[]){
                      lazy_of(x), {.kind = ARGUMENT_DEVICE, .device = fixture.table[0]}});
    assert_ptr_equal(same, x);
    lazy_release(same);
    same = lazy_call(cells, "contiguous", 1, (struct lazy_argument[]){lazy_of(x)});
    assert_ptr_equal(same, x);
    lazy_release(same);
    struct lazy *part = lazy_slice(cells, x, "::2");
    assert_true(lazy_same_cell(part, x));
    same = lazy_call(
        cells, "to", 3,
        (struct lazy_argument[]){lazy_of(part),
                                 {.kind = ARGUMENT_NONE},
                                 {.kind = ARGUMENT_DTYPE, .dtype = DTYPE_INT64}});
    assert_ptr_equal(same, part);
    lazy_release(same);
    struct lazy *copy =
        lazy_call(cells, "contiguous", 1, (struct lazy_argument[]){lazy_of(part)});
    assert_false(lazy_same_cell(copy, x));
    lazy_release(copy);
    lazy_release(part);
    lazy_release(x);
    cells_free(cells);
}

static void test_storage_ids(void **state)
{
    struct cells *cells = cells_new();
    struct tensor *stored = tensor_of(DTYPE_FLOAT32, SHAPE(3), VALUES(1, 2, 3));
    struct lazy *x = import(cells, stored), *again = import(cells, stored),
                *y = counting(cells, 6), *part = lazy_slice(cells, y, "2:4");
    assert_true(lazy_same_cell(x, again));
    assert_int_equal(lazy_storage_id(x), storage_id(stored->storage));
    assert_int_equal(lazy_storage_id(y), lazy_storage_id(part));
    assert_int_not_equal(lazy_storage_id(x), lazy_storage_id(y));
    assert_int_equal(lazy_offset(part), 2);
    assert_int_equal(lazy_count(part), 2);
    assert_int_equal(lazy_storage_count(part), 6);
    flush(cells);
    assert_int_equal(lazy_storage_id(y), lazy_storage_id(part));
    lazy_release(x);
    lazy_release(again);
    lazy_release(y);
    lazy_release(part);
    cells_free(cells);
    tensor_release(stored);
}

static void test_views_stay_inside(void **state)
{
    struct cells *cells = cells_new();
    struct lazy *x = counting(cells, 6), *view;
    struct problem problem;
    const struct layout inside = {.ndim = 2, .shape = {2, 3}, .strides = {1, 2}},
                        outside = {.ndim = 2, .shape = {3, 3}, .strides = {1, 2}},
                        huge = {.ndim = 1, .shape = {3}, .strides = {INT64_MAX}},
                        negative = {.ndim = 1, .shape = {2}, .strides = {-1}},
                        empty = {.ndim = 1, .shape = {0}, .strides = {1}};
    assert_int_equal(lazy_view(x, &inside, 0, &view, &problem), STATUS_OK);
    check_lazy(cells, view, VALUES(0, 2, 4, 1, 3, 5));
    lazy_release(view);
    assert_int_equal(lazy_view(x, &inside, 1, &view, &problem), STATUS_SHAPE);
    assert_int_equal(lazy_view(x, &inside, -1, &view, &problem), STATUS_SHAPE);
    assert_int_equal(lazy_view(x, &outside, 0, &view, &problem), STATUS_SHAPE);
    assert_int_equal(lazy_view(x, &huge, 1, &view, &problem), STATUS_SHAPE);
    assert_int_equal(lazy_view(x, &negative, 1, &view, &problem), STATUS_SHAPE);
    assert_int_equal(lazy_view(x, &empty, 6, &view, &problem), STATUS_OK);
    assert_int_equal(lazy_count(view), 0);
    lazy_release(view);
    lazy_release(x);
    cells_free(cells);
}

// ---- Existing tensors
// A write through a view that is gone by the end, seen by every view of the storage.
static void test_write_outlives_its_lazies(void **state)
{
    struct cells *cells = cells_new();
    struct tensor *stored = tensor_of(DTYPE_INT64, SHAPE(2, 3), VALUES(0, 1, 2, 3, 4, 5));
    struct lazy *x = import(cells, stored), *row = lazy_slice(cells, x, "1");
    lazy_release(lazy_with(cells, "add_", row, whole(10)));
    lazy_release(row);
    lazy_release(x);
    flush(cells);
    x = import(cells, stored);
    check_lazy(cells, x, VALUES(0, 1, 2, 13, 14, 15));
    struct tensor *named;
    struct problem problem;
    commit(cells);
    check_values(stored, VALUES(0, 1, 2, 13, 14, 15));
    assert_int_equal(lazy_tensor(x, &named, &problem), STATUS_OK);
    assert_ptr_equal(named->storage, stored->storage);
    tensor_release(named);
    lazy_release(x);
    cells_free(cells);
    tensor_release(stored);
}

static void test_readonly(void **state)
{
    struct cells *cells = cells_new();
    struct problem problem;
    struct tensor *stored = tensor_of(DTYPE_INT64, SHAPE(2), VALUES(1, 2));
    struct lazy *x = import(cells, stored), *y, *view = lazy_slice(cells, x, "0");
    assert_int_equal(cells_import(cells, stored, true, &y, &problem), STATUS_OK);
    assert_int_equal(lazy_write_number(cells, view, whole(1), &problem),
                     STATUS_FORBIDDEN);
    assert_int_equal(lazy_write(cells, x, y, &problem), STATUS_FORBIDDEN);
    struct lazy_argument arguments[2] = {lazy_of(x), lazy_number(whole(1))};
    assert_null(try_lazy(cells, "add_", 2, arguments, &problem));
    assert_int_equal(problem.status, STATUS_FORBIDDEN);
    assert_null(try_lazy(cells, "fill_", 1, arguments, &problem));
    struct lazy *sum = lazy_call(cells, "add", 2, arguments);
    check_lazy(cells, sum, VALUES(2, 3));
    lazy_release(sum);
    lazy_release(view);
    lazy_release(x);
    lazy_release(y);
    cells_free(cells);
    tensor_release(stored);
}

// Results get storages of their own, bound to names by lazy_tensor.
static void test_results_are_apart(void **state)
{
    struct cells *cells = cells_new();
    struct problem problem;
    struct lazy *x = counting(cells, 3), *y = lazy_with(cells, "mul", x, whole(2));
    struct lazy *z = lazy_call(cells, "clone", 1, (struct lazy_argument[]){lazy_of(y)});
    struct lazy *view = lazy_slice(cells, y, "1:");
    struct tensor *tensors[3];
    assert_int_equal(lazy_write(cells, z, y, &problem), STATUS_OK); // the same elements
    flush(cells);
    assert_int_equal(lazy_tensor(y, &tensors[0], &problem), STATUS_OK);
    assert_int_equal(lazy_tensor(z, &tensors[1], &problem), STATUS_OK);
    assert_int_equal(lazy_tensor(view, &tensors[2], &problem), STATUS_OK);
    assert_ptr_not_equal(tensors[0]->storage, tensors[1]->storage);
    assert_ptr_equal(tensors[0]->storage, tensors[2]->storage);
    lazy_release(x);
    lazy_release(y);
    lazy_release(z);
    lazy_release(view);
    cells_free(cells);
    check_values(tensors[0], VALUES(0, 2, 4));
    check_values(tensors[1], VALUES(0, 2, 4));
    check_values(tensors[2], VALUES(2, 4));
    for (int i = 0; i < 3; i++)
        tensor_release(tensors[i]);
}

// ---- What is computed
static void test_unneeded_is_not_computed(void **state)
{
    struct cells *cells = cells_new();
    struct lazy *x = counting(cells, 6);
    flush(cells);
    lazy_release(lazy_with(cells, "add", x, whole(1)));
    assert_false(cells_dirty(cells));
    int64_t plans = fixture.devices[0].plans;
    struct lazy *y = lazy_with(cells, "add", x, whole(1)),
                *z = lazy_with(cells, "mul", y, whole(3));
    lazy_release(y);
    lazy_release(lazy_with(cells, "sub", x, whole(1)));
    flush(cells);
    assert_int_equal(fixture.devices[0].plans, plans + 1); // one pass of add and mul
    check_lazy(cells, z, VALUES(3, 6, 9, 12, 15, 18));
    lazy_release(z);
    lazy_release(x);
    cells_free(cells);
}

static void test_faults_are_raised_unread(void **state)
{
    struct problem problem;
    const char *const ops[] = {"floor_divide", "remainder"};
    for (int i = 0; i < 2; i++) {
        struct cells *cells = cells_new();
        struct lazy *x = counting(cells, 6);
        lazy_release(lazy_two(cells, ops[i], x, x)); // x[0] is 0
        assert_true(cells_dirty(cells));
        assert_int_equal(try_flush(cells, &problem), STATUS_ZERO_DIVISION);
        lazy_release(x);
        cells_free(cells);
    }
    struct cells *cells = cells_new();
    struct lazy *x = counting(cells, 6);
    flush(cells);
    lazy_release(lazy_with(cells, "remainder", x, whole(4))); // cannot fail
    assert_false(cells_dirty(cells));
    lazy_release(lazy_with(cells, "remainder", x, whole(0)));
    assert_int_equal(try_flush(cells, &problem), STATUS_ZERO_DIVISION);
    lazy_release(x);
    cells_free(cells);
}

// A fault that only a value without elements would have read.
static void test_fault_behind_nothing(void **state)
{
    struct problem problem;
    struct cells *cells = cells_new();
    struct lazy *x = counting(cells, 6);
    struct lazy *one = lazy_slice(cells, x, "0:1");
    struct lazy *bad = lazy_two(cells, "floor_divide", one, one);
    struct lazy *none = literal(cells, DTYPE_INT64, SHAPE(0), NULL);
    struct lazy *sum = lazy_two(cells, "add", bad, none);
    lazy_release(bad);
    assert_int_equal(lazy_count(sum), 0);
    assert_int_equal(try_flush(cells, &problem), STATUS_ZERO_DIVISION);
    cells_free(cells); // lazies are forgotten
}

// Many writes of parts go into one memory: nothing is copied but the first time.
static void test_writes_take_over(void **state)
{
    struct problem problem;
    struct cells *cells = cells_new();
    const int64_t size = 64;
    struct lazy *x =
        lazy_call(cells, "zeros", 1, (struct lazy_argument[]){lazy_ints(1, &size)});
    int64_t copies = fixture.devices[0].copies;
    for (int64_t i = 0; i < size; i++) {
        struct layout place = {.ndim = 0};
        struct lazy *element;
        assert_int_equal(lazy_view(x, &place, i, &element, &problem), STATUS_OK);
        assert_int_equal(lazy_write_number(cells, element, whole(i * i), &problem),
                         STATUS_OK);
        lazy_release(element);
    }
    struct tensor *host = on_host(cells, x);
    for (int64_t i = 0; i < size; i++)
        assert_true(tensor_get(host, i) == (double)(i * i));
    assert_int_equal(fixture.devices[0].copies, copies);
    lazy_release(x);
    cells_free(cells);
}

// A running sum of the elements that are being written: every reader runs before the next
// write, so that nothing is copied here either.
static void test_reads_between_writes(void **state)
{
    struct problem problem;
    struct cells *cells = cells_new();
    const int64_t size = 32;
    struct lazy *x =
        lazy_call(cells, "zeros", 1, (struct lazy_argument[]){lazy_ints(1, &size)});
    struct lazy *sum =
        lazy_call(cells, "zeros", 1, (struct lazy_argument[]){lazy_ints(0, NULL)});
    int64_t copies = fixture.devices[0].copies;
    for (int64_t i = 0; i < size; i++) {
        struct layout place = {.ndim = 0};
        struct lazy *element;
        assert_int_equal(lazy_view(x, &place, i, &element, &problem), STATUS_OK);
        assert_int_equal(lazy_write_number(cells, element, whole(i), &problem),
                         STATUS_OK);
        struct lazy *next = lazy_two(cells, "add", sum, element);
        lazy_release(sum);
        lazy_release(element);
        sum = next;
    }
    check_lazy(cells, sum, VALUES(31 * 32 / 2));
    assert_int_equal(fixture.devices[0].copies, copies);
    lazy_release(sum);
    lazy_release(x);
    cells_free(cells);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reader_keeps_what_it_read),
        cmocka_unit_test(test_overlapping_assignment),
        cmocka_unit_test(test_the_same_lazy),
        cmocka_unit_test(test_storage_ids),
        cmocka_unit_test(test_views_stay_inside),
        cmocka_unit_test(test_write_outlives_its_lazies),
        cmocka_unit_test(test_readonly),
        cmocka_unit_test(test_results_are_apart),
        cmocka_unit_test(test_unneeded_is_not_computed),
        cmocka_unit_test(test_faults_are_raised_unread),
        cmocka_unit_test(test_fault_behind_nothing),
        cmocka_unit_test(test_writes_take_over),
        cmocka_unit_test(test_reads_between_writes),
    };
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
