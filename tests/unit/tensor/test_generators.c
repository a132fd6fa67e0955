// SPDX-License-Identifier: Apache-2.0
// Random numbers through lazies: PyTorch's numbers (tests/cases/rng_*.inc), drawn in the
// order of the program whatever is read when; layouts and composed operations
// (torch_draws.py); generators that only a commit moves on.
#include "cells_fixture.h"

static struct generators *generators;
static struct working_generators *working;

static int open_all(void **state)
{
    struct problem problem;
    fixture_setup(state);
    assert_int_equal(
        generators_create(fixture.table, FIXTURE_DEVICES, &generators, &problem),
        STATUS_OK);
    return 0;
}

static int close_all(void **state)
{
    generators_free(generators);
    return fixture_teardown(state);
}

static struct cells *drawing_cells(void)
{
    struct problem problem;
    assert_int_equal(working_create(generators, &working, &problem), STATUS_OK);
    fixture.context.generators = working;
    struct cells *cells = cells_new();
    fixture.context.generators = NULL;
    return cells;
}

static void close_cells(struct cells *cells)
{
    cells_free(cells);
    working_free(working);
}

static struct lazy *zeros(struct cells *cells, int ndim, const int64_t *shape,
                          enum dtype dtype)
{
    return lazy_call(cells, "zeros", 2,
                     (struct lazy_argument[]){lazy_ints(ndim, shape),
                                              {.kind = ARGUMENT_DTYPE, .dtype = dtype}});
}

// ---- PyTorch's stream
struct row {
    const char *name; // NULL: a seed, in range
    enum random_form form;
    enum dtype dtype;
    int64_t count;
    double low, high;
    int64_t base;
    uint64_t range;
    int64_t first, n;
    const uint64_t *bits;
};
#define RNG_SEED(number) {NULL, 0, 0, 0, 0, 0, 0, number, 0, 0, NULL},
#define RNG_DRAW(name, form, dtype, count, low, high, base, range, first, n, ...)        \
    {name,                                                                               \
     form,                                                                               \
     dtype,                                                                              \
     count,                                                                              \
     low,                                                                                \
     high,                                                                               \
     base,                                                                               \
     range,                                                                              \
     first,                                                                              \
     n,                                                                                  \
     (const uint64_t[]){__VA_ARGS__}},
static const struct row rows[] = {
#include "tests/cases/rng_tables.inc"
};
enum { ROWS = sizeof rows / sizeof *rows, TOGETHER = 24 };

// The operation of a program that draws the row.
static struct lazy *draw(struct cells *cells, const struct row *row)
{
    struct lazy_argument dtype = {.kind = ARGUMENT_DTYPE, .dtype = row->dtype};
    if (row->form == RANDOM_PERMUTATION)
        return lazy_call(cells, "randperm", 2,
                         (struct lazy_argument[]){lazy_int(row->count), dtype});
    if (row->form == RANDOM_INTEGERS && row->range < UINT32_MAX)
        return lazy_call(
            cells, "randint", 4,
            (struct lazy_argument[]){lazy_int(row->base),
                                     lazy_int(row->base + (int64_t)row->range),
                                     lazy_ints(1, &row->count), dtype});
    struct lazy *x = zeros(cells, 1, &row->count, row->dtype);
    struct lazy_argument arguments[3] = {lazy_of(x), lazy_real(row->low),
                                         lazy_real(row->high)};
    const char *op = "uniform_";
    int n = 3;
    if (row->form == RANDOM_NORMAL)
        op = "normal_";
    if (row->form == RANDOM_BERNOULLI)
        op = "bernoulli_", n = 2;
    if (row->form == RANDOM_INTEGERS)
        op = "random_", arguments[1] = lazy_int(row->base),
        arguments[2] = lazy_int(row->base + (int64_t)row->range);
    lazy_release(lazy_call(cells, op, n, arguments));
    return x;
}

static bool is_drawn(const struct row *row)
{
    // Words of 32 bits have no operation: their range is beyond their dtype.
    return !(row->form == RANDOM_INTEGERS && row->dtype == DTYPE_INT32);
}

static bool agree(const struct row *row, uint64_t ours, uint64_t theirs)
{
    double a, b;
    memcpy(&a, &ours, sizeof a);
    memcpy(&b, &theirs, sizeof b);
    if (row->form == RANDOM_NORMAL && row->dtype == DTYPE_FLOAT64)
        return fabs(a - b) <= 1e-14 * (1 + fabs(b) + fabs(row->low));
    return ours == theirs;
}

static void check_row(struct cells *cells, const struct row *row, struct lazy *lazy)
{
    struct tensor *got = on_host(cells, lazy);
    assert_int_equal(tensor_count(got), row->count);
    for (int64_t i = 0; i < row->n; i++) {
        uint64_t bits = 0;
        memcpy(&bits, tensor_at(got, row->first + i), (size_t)dtype_size(row->dtype));
        if (!agree(row, bits, row->bits[i]))
            fail_msg("%s: element %d differs", row->name, (int)i);
    }
}

// The rows up to the next seed from `first`: drawn in order; read together, the last
// first.
static int run_block(struct cells *cells, int first, bool read_at_once)
{
    struct lazy *drawn[TOGETHER];
    int n = 0;
    for (; first + n < ROWS && n < TOGETHER && rows[first + n].name; n++) {
        drawn[n] = is_drawn(&rows[first + n]) ? draw(cells, &rows[first + n]) : NULL;
        if (drawn[n] && read_at_once)
            check_row(cells, &rows[first + n], drawn[n]);
        if (!drawn[n]) // so the stream would be another one from here on
            break;
    }
    for (int i = n - 1; i >= 0; i--) {
        check_row(cells, &rows[first + i], drawn[i]);
        lazy_release(drawn[i]);
    }
    while (first + n < ROWS && rows[first + n].name)
        n++;
    return first + n;
}

static void test_torch_stream(void **state)
{
    for (int at_once = 0; at_once < 2; at_once++) {
        struct cells *cells = drawing_cells();
        for (int i = 0; i < ROWS;) {
            assert_null(rows[i].name);
            assert_int_equal(cells_seed(cells, at_once ? -1 : 0, rows[i].range),
                             STATUS_OK);
            assert_int_equal(cells_initial_seed(cells, 0), rows[i].range);
            i = run_block(cells, i + 1, at_once);
        }
        close_cells(cells);
    }
}

// A seed belongs to its place in the program, though everything is computed at the end.
static void test_seeds_in_order(void **state)
{
    struct cells *cells = drawing_cells();
    struct lazy *drawn[4];
    const int64_t size = 2;
    struct lazy_argument sizes = lazy_ints(1, &size);
    for (int i = 0; i < 4; i++) {
        if (i != 1)
            cells_seed(cells, -1, i == 3 ? 42 : 0);
        drawn[i] = lazy_call(cells, "rand", 1, &sizes);
    }
    const double first[2] = {0.49625658988952637, 0.7682217955589294};
    check_lazy(cells, drawn[2], first);
    check_lazy(cells, drawn[0], first);
    check_lazy(cells, drawn[1], VALUES(0.08847743272781372, 0.13203048706054688));
    // torch.manual_seed(42); torch.rand(2)
    check_lazy(cells, drawn[3], VALUES(0.8822692632675171, 0.9150039553642273));
    for (int i = 0; i < 4; i++)
        lazy_release(drawn[i]);
    close_cells(cells);
}

// A draw that nobody reads moves the stream on; one without elements does not.
static void test_unread_draws(void **state)
{
    struct cells *cells = drawing_cells();
    const int64_t two = 2, none = 0;
    struct lazy_argument sizes = lazy_ints(1, &two), nothing = lazy_ints(1, &none);
    cells_seed(cells, 0, 0);
    lazy_release(lazy_call(cells, "rand", 1, &nothing));
    lazy_release(lazy_call(cells, "rand", 1, &sizes));
    assert_true(cells_dirty(cells));
    flush(cells);
    struct lazy *next = lazy_call(cells, "rand", 1, &sizes);
    check_lazy(cells, next, VALUES(0.08847743272781372, 0.13203048706054688));
    lazy_release(next);
    close_cells(cells);
}

// ---- Layouts and composed operations
#define DRAW(name, count, ...)                                                           \
    static const double want_##name[] = {__VA_ARGS__};                                   \
    enum { count_##name = count };
#include "tests/cases/torch_draws.inc"
#undef DRAW

static struct cells *stream;

static void expect(struct lazy *lazy, const double *values, int count)
{
    assert_int_equal(lazy_count(lazy), count);
    check_lazy(stream, lazy, values);
    lazy_release(lazy);
}
#define EXPECT(lazy, name) expect(lazy, want_##name, count_##name)

// op on a view of zeros; gives the whole.
static struct lazy *drawn_into(int ndim, const int64_t *shape, const char *view, int n,
                               struct lazy_argument *arguments, const char *op, int m,
                               struct lazy_argument *numbers)
{
    struct lazy *whole = zeros(stream, ndim, shape, DTYPE_FLOAT32);
    arguments[0] = lazy_of(whole);
    struct lazy *part = lazy_call(stream, view, n, arguments);
    numbers[0] = lazy_of(part);
    lazy_release(lazy_call(stream, op, m, numbers));
    lazy_release(part);
    return whole;
}

static struct lazy_argument text(const char *index)
{
    return (struct lazy_argument){.kind = ARGUMENT_STR, .string = {index, strlen(index)}};
}

static void check_into(void)
{
    struct lazy_argument view[3], n[3];
    const int64_t turned[3] = {2, 0, 1};
    struct lazy *x = drawn_into(SHAPE(4, 5), "t", 1, view, "uniform_", 1, n);
    EXPECT(x, uniform_transposed);
    x = drawn_into(SHAPE(5, 4), "t", 1, view, "normal_", 1, n);
    EXPECT(x, normal_transposed);
    view[1] = text(":,1:3"), n[1] = lazy_real(1), n[2] = lazy_real(2);
    x = drawn_into(SHAPE(9, 6), "slice", 2, view, "normal_", 3, n);
    EXPECT(x, normal_columns);
    view[1] = text("1");
    x = drawn_into(SHAPE(3, 18), "slice", 2, view, "normal_", 1, n);
    EXPECT(x, normal_row);
    view[1] = lazy_ints(3, turned), n[1] = lazy_int(10);
    x = drawn_into(SHAPE(2, 3, 4), "permute", 2, view, "random_", 2, n);
    EXPECT(x, random_permuted);
    x = zeros(stream, SHAPE(3, 4), DTYPE_FLOAT32);
    lazy_release(lazy_call(stream, "bernoulli_", 2,
                           (struct lazy_argument[]){lazy_of(x), lazy_real(0.3)}));
    EXPECT(x, bernoulli_number);
}

static struct lazy *like(const char *op, int ndim, const int64_t *shape, const char *view,
                         int n, struct lazy_argument *arguments)
{
    struct lazy *whole = zeros(stream, ndim, shape, DTYPE_FLOAT32);
    arguments[0] = lazy_of(whole);
    struct lazy *part = lazy_call(stream, view, n, arguments);
    struct lazy *drawn =
        lazy_call(stream, op, 1, (struct lazy_argument[]){lazy_of(part)});
    lazy_release(whole);
    lazy_release(part);
    return drawn;
}

static void check_like(void)
{
    struct lazy_argument view[3];
    struct lazy *x = like("rand_like", SHAPE(3, 4), "t", 1, view);
    assert_int_equal(lazy_layout(x)->strides[0], 1); // as the tensor's
    EXPECT(x, rand_like_transposed);
    x = like("randn_like", SHAPE(5, 4), "t", 1, view);
    EXPECT(x, randn_like_transposed);
    view[1] = text(":,1:3");
    x = like("randn_like", SHAPE(9, 6), "slice", 2, view);
    EXPECT(x, randn_like_columns);
    struct lazy *shape = zeros(stream, SHAPE(3, 4), DTYPE_FLOAT32);
    x = lazy_call(stream, "randint_like", 3,
                  (struct lazy_argument[]){lazy_of(shape), lazy_int(2), lazy_int(9)});
    EXPECT(x, randint_like);
    lazy_release(shape);
}

static struct lazy *counting(double first, double step, int64_t n)
{
    double values[64];
    for (int64_t i = 0; i < n; i++)
        values[i] = first + step * (double)i;
    return literal(stream, DTYPE_FLOAT32, 1, &n, values);
}

static void check_composed(void)
{
    struct lazy_argument line[4] = {
        {.kind = ARGUMENT_NUMBER, .number = whole(0)},
        {.kind = ARGUMENT_NUMBER, .number = whole(1)},
        lazy_int(20),
    };
    struct lazy *p = lazy_call(stream, "linspace", 3, line);
    EXPECT(lazy_call(stream, "bernoulli", 1, (struct lazy_argument[]){lazy_of(p)}),
           bernoulli_tensor);
    struct lazy *x = counting(1, 1, 12), *up = counting(1, 1, 4),
                *down = counting(4, -1, 4), *many = counting(1, 1, 20);
    EXPECT(lazy_call(stream, "dropout", 3,
                     (struct lazy_argument[]){lazy_of(x),
                                              lazy_real(0.25),
                                              {.kind = ARGUMENT_BOOL, .boolean = true}}),
           dropout);
    EXPECT(lazy_two(stream, "normal", up, down), normal_tensors);
    EXPECT(lazy_call(stream, "normal", 2,
                     (struct lazy_argument[]){lazy_number(number(2)), lazy_of(down)}),
           normal_std);
    EXPECT(lazy_with(stream, "normal", many, number(0.5)), normal_mean);
    const int64_t two = 2;
    EXPECT(lazy_call(stream, "rand", 1, (struct lazy_argument[]){lazy_ints(1, &two)}),
           rand);
    lazy_release(p);
    lazy_release(x);
    lazy_release(up);
    lazy_release(down);
    lazy_release(many);
}

static void test_layouts_and_composed(void **state)
{
    stream = drawing_cells();
    cells_seed(stream, -1, 7);
    check_into();
    check_like();
    check_composed();
    close_cells(stream);
}

// dropout without training, or with nothing to drop, is its argument.
static void test_dropout_is_identity(void **state)
{
    stream = drawing_cells();
    struct lazy *x = counting(1, 1, 4);
    struct lazy *same = lazy_call(
        stream, "dropout", 3,
        (struct lazy_argument[]){
            lazy_of(x), lazy_real(0.5), {.kind = ARGUMENT_BOOL, .boolean = false}});
    assert_ptr_equal(same, x);
    lazy_release(same);
    same = lazy_call(stream, "dropout", 2,
                     (struct lazy_argument[]){lazy_of(x), lazy_real(0)});
    assert_ptr_equal(same, x);
    lazy_release(same);
    struct lazy *gone = lazy_call(stream, "dropout", 2,
                                  (struct lazy_argument[]){lazy_of(x), lazy_real(1)});
    check_lazy(stream, gone, VALUES(0, 0, 0, 0));
    lazy_release(gone);
    lazy_release(x);
    close_cells(stream);
}

// ---- Refusals
static void refuse(const char *op, int n, const struct lazy_argument *arguments,
                   enum status status)
{
    struct problem problem;
    assert_null(try_lazy(stream, op, n, arguments, &problem));
    assert_int_equal(problem.status, status);
    assert_true(strlen(problem.detail) > 0);
}

static void test_refusals(void **state)
{
    stream = drawing_cells();
    const int64_t two = 2;
    struct lazy_argument sizes = lazy_ints(1, &two),
                         int8 = {.kind = ARGUMENT_DTYPE, .dtype = DTYPE_INT8};
    struct lazy *x = counting(0, 1, 4);
    struct lazy_argument self = lazy_of(x);
    refuse("rand", 2, (struct lazy_argument[]){sizes, int8}, STATUS_DTYPE);
    refuse("randn", 2, (struct lazy_argument[]){sizes, int8}, STATUS_DTYPE);
    refuse("randint", 3, (struct lazy_argument[]){lazy_int(3), lazy_int(3), sizes},
           STATUS_VALUE);
    refuse("randint", 4,
           (struct lazy_argument[]){lazy_int(0), lazy_int(129), sizes, int8},
           STATUS_VALUE);
    refuse("randint", 4,
           (struct lazy_argument[]){lazy_int(-129), lazy_int(0), sizes, int8},
           STATUS_VALUE);
    refuse("randperm", 1, (struct lazy_argument[]){lazy_int(-1)}, STATUS_VALUE);
    refuse("randperm", 2, (struct lazy_argument[]){lazy_int(129), int8}, STATUS_VALUE);
    refuse("uniform_", 3, (struct lazy_argument[]){self, lazy_real(1), lazy_real(0)},
           STATUS_VALUE);
    refuse("normal_", 3, (struct lazy_argument[]){self, lazy_real(0), lazy_real(-1)},
           STATUS_VALUE);
    refuse("bernoulli_", 2, (struct lazy_argument[]){self, lazy_real(1.5)}, STATUS_VALUE);
    refuse("bernoulli_", 2, (struct lazy_argument[]){self, lazy_real((double)NAN)},
           STATUS_VALUE);
    refuse("dropout", 2, (struct lazy_argument[]){self, lazy_real(2)}, STATUS_VALUE);
    refuse("random_", 3, (struct lazy_argument[]){self, lazy_int(5), lazy_int(5)},
           STATUS_VALUE);
    refuse("normal", 2,
           (struct lazy_argument[]){lazy_number(number(0)), lazy_number(number(1))},
           STATUS_TYPE);
    refuse("normal", 3, (struct lazy_argument[]){self, lazy_number(number(1)), sizes},
           STATUS_TYPE);
    lazy_release(x);
    close_cells(stream);
    // Without generators there is nothing to draw from.
    stream = cells_new();
    refuse("rand", 1, &sizes, STATUS_NOT_IMPLEMENTED);
    cells_free(stream);
}

// ---- The user's generators
static double first_of(struct cells *cells)
{
    const int64_t one = 1;
    struct lazy_argument sizes = lazy_ints(1, &one);
    struct lazy *lazy = lazy_call(cells, "rand", 1, &sizes);
    double value = tensor_get(on_host(cells, lazy), 0);
    lazy_release(lazy);
    return value;
}

static void test_only_a_commit_moves_on(void **state)
{
    struct cells *cells = drawing_cells();
    cells_seed(cells, -1, 0);
    commit(cells); // a seed alone
    close_cells(cells);
    cells = drawing_cells();
    assert_int_equal(cells_initial_seed(cells, 0), 0);
    assert_true(first_of(cells) == 0.49625658988952637);
    close_cells(cells); // fails: nothing is stored
    cells = drawing_cells();
    assert_true(first_of(cells) == 0.49625658988952637);
    commit(cells);
    close_cells(cells);
    cells = drawing_cells();
    assert_true(first_of(cells) == 0.7682217955589294);
    close_cells(cells);
}

// manual_seed of a device leaves the host's stream alone.
static void test_a_stream_for_each_device(void **state)
{
    struct cells *cells = drawing_cells();
    cells_seed(cells, -1, 0);
    cells_seed(cells, 1, 5);
    assert_int_equal(cells_initial_seed(cells, 0), 0);
    assert_int_equal(cells_initial_seed(cells, 1), 5);
    assert_int_equal(cells_initial_seed(cells, 2), 0);
    assert_true(first_of(cells) == 0.49625658988952637);
    close_cells(cells);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_torch_stream),
        cmocka_unit_test(test_seeds_in_order),
        cmocka_unit_test(test_unread_draws),
        cmocka_unit_test(test_layouts_and_composed),
        cmocka_unit_test(test_dropout_is_identity),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_only_a_commit_moves_on),
        cmocka_unit_test(test_a_stream_for_each_device),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
