// SPDX-License-Identifier: Apache-2.0
// What becomes one pass and what does not, the limits of a pass, layouts with too many
// dims, and that a fused chain gives the bits of its single operations.
#include "graph_fixture.h"

#include "tensor/planner.h"

static struct schedule plan(struct graph *graph, int n, struct node *const *roots)
{
    struct schedule schedule;
    struct problem problem;
    assert_int_equal(schedule_make(graph, n, roots, &schedule, &problem), STATUS_OK);
    assert_int_equal(schedule_memory(&schedule, &problem), STATUS_OK);
    return schedule;
}

static int count_steps(struct graph *graph, int n, struct node *const *roots)
{
    return plan(graph, n, roots).n_steps;
}

static struct tensor *ramp(enum dtype dtype, int ndim, const int64_t *shape)
{
    struct tensor *tensor = tensor_empty(fixture.table[0], dtype, ndim, shape);
    for (int64_t i = 0; i < tensor_count(tensor); i++)
        tensor_set(tensor, i, number((double)(i % 17) * 0.37 - 2.1));
    return tensor;
}

static void test_chain_is_one_pass(void **state)
{
    struct graph *graph = graph_new();
    struct tensor *x = ramp(DTYPE_FLOAT32, SHAPE(4, 5)),
                  *y = ramp(DTYPE_FLOAT32, SHAPE(5));
    struct node *a = source(graph, x), *b = source(graph, y);
    struct node *root = op1(graph, "relu", op2(graph, "add", op2(graph, "mul", a, b), a));
    struct schedule schedule = plan(graph, 1, &root);
    assert_int_equal(schedule.n_steps, 1);
    assert_int_equal(schedule.steps->n_members, 3);
    assert_int_equal(schedule.steps->n_reads, 2);
    root = op1(graph, "sum", root);
    assert_int_equal(count_steps(graph, 1, &root), 1);
    graph_free(graph);
    tensor_release(x);
    tensor_release(y);
}

// s = a + b is used twice inside one pass, and computed once.
static void test_shared_inside(void **state)
{
    struct graph *graph = graph_new();
    struct tensor *x = ramp(DTYPE_FLOAT32, SHAPE(7)), *y = ramp(DTYPE_FLOAT32, SHAPE(7));
    struct node *s = op2(graph, "add", source(graph, x), source(graph, y));
    struct node *root = op2(graph, "mul", op1(graph, "exp", s), op1(graph, "neg", s));
    struct schedule schedule = plan(graph, 1, &root);
    assert_int_equal(schedule.n_steps, 1);
    assert_int_equal(schedule.steps->n_members, 4);
    // Used by two results, it is materialised: one pass for itself and one for each.
    struct node *roots[2] = {op1(graph, "exp", s), op1(graph, "neg", s)};
    assert_int_equal(count_steps(graph, 2, roots), 3);
    // A result itself is in memory, and is read by the other.
    struct node *both[2] = {s, op1(graph, "exp", s)};
    assert_int_equal(count_steps(graph, 2, both), 2);
    graph_free(graph);
    tensor_release(x);
    tensor_release(y);
}

static struct node *long_chain(struct graph *graph, struct node *node, int length)
{
    for (int i = 0; i < length; i++)
        node = op1(graph, i % 2 ? "neg" : "sin", node);
    return node;
}

static void test_instruction_limit(void **state)
{
    struct tensor *x = ramp(DTYPE_FLOAT32, SHAPE(3));
    const int lengths[4] = {64, 65, 128, 129}, steps[4] = {1, 2, 2, 3};
    for (int i = 0; i < 4; i++) {
        struct graph *graph = graph_new();
        struct node *root = long_chain(graph, source(graph, x), lengths[i]);
        assert_int_equal(count_steps(graph, 1, &root), steps[i]);
        graph_free(graph);
    }
    tensor_release(x);
}

static void test_input_limit(void **state)
{
    for (int n = 15; n <= 18; n++) {
        struct graph *graph = graph_new();
        struct tensor *tensors[18];
        struct node *sum = NULL;
        for (int i = 0; i < n; i++) {
            tensors[i] = tensor_of(DTYPE_INT64, SHAPE(2), VALUES(i, 1));
            struct node *node = source(graph, tensors[i]);
            sum = sum ? op2(graph, "add", sum, node) : node;
        }
        assert_int_equal(count_steps(graph, 1, &sum), n <= 16 ? 1 : 2);
        struct tensor *result = run(graph, sum);
        check_values(result, VALUES(n * (n - 1) / 2, n));
        tensor_release(result);
        graph_free(graph);
        for (int i = 0; i < n; i++)
            tensor_release(tensors[i]);
    }
}

// Broadcasting a computed value does not compute it again for every element; a cast of a
// stored one is cheap enough.
static void test_broadcast_is_materialized(void **state)
{
    struct graph *graph = graph_new();
    struct tensor *x = ramp(DTYPE_FLOAT32, SHAPE(4, 5)),
                  *row = ramp(DTYPE_INT32, SHAPE(5));
    struct node *a = source(graph, x), *b = source(graph, row);
    struct node *root = op2(graph, "add", a, op1(graph, "exp", b));
    assert_int_equal(count_steps(graph, 1, &root), 2);
    root = op2(graph, "add", a, b);
    assert_int_equal(count_steps(graph, 1, &root), 1);
    root = op2(graph, "add", op2(graph, "mul", a, b), b); // one cast each, in one pass
    assert_int_equal(count_steps(graph, 1, &root), 1);
    graph_free(graph);
    tensor_release(x);
    tensor_release(row);
}

// The linear index of arange and eye means nothing in a pass that runs in another order.
static void test_index_and_order(void **state)
{
    struct graph *graph = graph_new();
    struct argument n = int_argument(3), m = int_argument(4);
    struct node *eye = op(graph, "eye", 2, (struct argument[]){n, m});
    const int64_t rows = 0, columns = 1;
    struct argument arguments[2] = {tensor_argument(eye),
                                    {.kind = ARGUMENT_INTS, .integers = {1, &columns}}};
    struct node *by_row = op(graph, "sum", 2, arguments);
    arguments[1].integers.items = &rows;
    struct node *by_column = op(graph, "sum", 2, arguments);
    assert_int_equal(count_steps(graph, 1, &by_row), 1);
    assert_int_equal(count_steps(graph, 1, &by_column), 2);
    struct tensor *result = run(graph, by_row);
    check_values(result, VALUES(1, 1, 1));
    tensor_release(result);
    result = run(graph, by_column);
    check_values(result, VALUES(1, 1, 1, 0));
    tensor_release(result);
    graph_free(graph);
}

// x (2, 2, ..., 2) of 12 dims, transposed so that nothing collapses.
static struct node *turned(struct graph *graph, struct tensor *x)
{
    int64_t dims[12];
    for (int i = 0; i < 12; i++)
        dims[i] = 11 - i;
    return op(graph, "permute", 2,
              (struct argument[]){tensor_argument(source(graph, x)),
                                  {.kind = ARGUMENT_INTS, .integers = {12, dims}}});
}

static int reverse_bits(int i, int n)
{
    int reversed = 0;
    for (int b = 0; b < n; b++)
        reversed |= (i >> b & 1) << (n - 1 - b);
    return reversed;
}

static void test_many_dims(void **state)
{
    struct graph *graph = graph_new();
    const int64_t twos[12] = {2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2};
    struct tensor *x = tensor_empty(fixture.table[0], DTYPE_INT64, 12, twos);
    for (int i = 0; i < 4096; i++)
        tensor_set(x, i, whole(i));
    struct node *a = source(graph, x), *b = turned(graph, x);
    struct tensor *result = run(graph, op2(graph, "sub", a, b));
    for (int i = 0; i < 4096; i++)
        assert_true(tensor_get(result, i) == i - reverse_bits(i, 12));
    tensor_release(result);
    // Every second dim reduced: element k of the result, bit j of k being dim 2j + 1 of
    // the turned tensor. The reduced bits of the number at [d0..d11] of it, sum of d_i <<
    // i, are its even ones: all of them together add 64 / 2 * 1365.
    int64_t even[6] = {0, 2, 4, 6, 8, 10};
    struct argument arguments[2] = {tensor_argument(b),
                                    {.kind = ARGUMENT_INTS, .integers = {6, even}}};
    result = run(graph, op(graph, "sum", 2, arguments));
    check_shape(&result->layout, SHAPE(2, 2, 2, 2, 2, 2));
    for (int k = 0; k < 64; k++) {
        int64_t kept = 0;
        for (int j = 0; j < 6; j++)
            kept += (int64_t)(k >> (5 - j) & 1) << (2 * j + 1);
        assert_true(tensor_get(result, k) == (double)(64 * kept + 32 * 1365));
    }
    tensor_release(result);
    result = run(graph, op1(graph, "sum", op2(graph, "add", a, b)));
    check_values(result, VALUES(4096 * 4095));
    tensor_release(result);
    graph_free(graph);
    tensor_release(x);
}

// 20 dims, every second one reduced: ten runs, more than a pass has dims.
static void test_many_reduced_runs(void **state)
{
    struct graph *graph = graph_new();
    int64_t shape[20], odd[10];
    for (int i = 0; i < 20; i++)
        shape[i] = 2;
    for (int i = 0; i < 10; i++)
        odd[i] = 2 * i + 1;
    struct tensor *x = tensor_empty(fixture.table[0], DTYPE_INT32, 20, shape);
    for (int i = 0; i < 1 << 20; i++)
        tensor_set(x, i, whole(i));
    struct argument arguments[2] = {tensor_argument(source(graph, x)),
                                    {.kind = ARGUMENT_INTS, .integers = {10, odd}}};
    const char *const names[2] = {"sum", "amax"};
    for (int r = 0; r < 2; r++) {
        struct tensor *result = run(graph, op(graph, names[r], 2, arguments));
        for (int k = 0; k < 1024; k++) {
            int64_t kept = 0; // dim 2j has weight 2^(19 - 2j)
            for (int j = 0; j < 10; j++)
                kept += (int64_t)(k >> (9 - j) & 1) << (19 - 2 * j);
            double sum = (double)(1024 * kept) + 512.0 * 349525,
                   most = (double)kept + 349525;
            assert_true(tensor_get(result, k) == (r == 0 ? sum : most));
        }
        tensor_release(result);
    }
    graph_free(graph);
    tensor_release(x);
}

// The same operations with and without a result in between have the same bits.
static void check_fused(enum dtype dtype, const char *last)
{
    const int64_t shape[2] = {37, 113};
    struct tensor *x = ramp(dtype, 2, shape), *y = ramp(dtype, SHAPE(113));
    struct tensor *fused, *single[5];
    const char *const names[4] = {"mul", "add", "sigmoid", "sub"};
    struct graph *graph = graph_new();
    struct node *a = source(graph, x), *b = source(graph, y), *node = a;
    for (int i = 0; i < 4; i++)
        node = i == 2 ? op1(graph, names[i], node) : op2(graph, names[i], node, b);
    fused = run(graph, op1(graph, last, node));
    graph_free(graph);
    single[0] = x;
    for (int i = 0; i < 4; i++) {
        graph = graph_new();
        a = source(graph, single[i]);
        single[i + 1] = run(graph, i == 2 ? op1(graph, names[i], a)
                                          : op2(graph, names[i], a, source(graph, y)));
        graph_free(graph);
    }
    graph = graph_new();
    struct tensor *apart = run(graph, op1(graph, last, source(graph, single[4])));
    graph_free(graph);
    assert_int_equal(tensor_bytes(fused), tensor_bytes(apart));
    assert_memory_equal(tensor_at(fused, 0), tensor_at(apart, 0),
                        (size_t)tensor_bytes(apart));
    tensor_release(apart);
    tensor_release(fused);
    tensor_release(y);
    for (int i = 0; i < 5; i++)
        tensor_release(single[i]);
}

static void test_fused_equals_unfused(void **state)
{
    const char *const last[5] = {"exp", "sum", "mean", "amax", "prod"};
    for (int dtype = DTYPE_FLOAT16; dtype <= DTYPE_FLOAT64; dtype++)
        for (int i = 0; i < 5; i++)
            check_fused((enum dtype)dtype, last[i]);
}

// A chain of products needs two blocks at a time, however long it is.
static void test_temporaries_share_memory(void **state)
{
    struct graph *graph = graph_new();
    struct tensor *x = ramp(DTYPE_FLOAT32, SHAPE(8, 8));
    struct node *node = source(graph, x);
    for (int i = 0; i < 10; i++)
        node = op2(graph, "matmul", node, source(graph, x));
    struct schedule schedule = plan(graph, 1, &node);
    int buffers = 0;
    for (const struct buffer *buffer = schedule.buffers; buffer;
         buffer = buffer->next, buffers++)
        assert_int_equal(buffer->bytes, 256);
    assert_int_equal(schedule.n_steps, 10);
    assert_int_equal(buffers, 3); // two in turn, and the result
    graph_free(graph);
    tensor_release(x);
}

static void test_roots_without_work(void **state)
{
    struct graph *graph = graph_new();
    struct tensor *x = ramp(DTYPE_FLOAT32, SHAPE(2, 2));
    struct node *a = source(graph, x), *unused = op1(graph, "exp", a);
    assert_non_null(unused);
    assert_int_equal(count_steps(graph, 1, &a), 0);
    struct node *number_root = scalar_node(graph, whole(1));
    struct schedule schedule;
    struct problem problem;
    assert_int_equal(schedule_make(graph, 1, &number_root, &schedule, &problem),
                     STATUS_TYPE);
    graph_free(graph);
    tensor_release(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_chain_is_one_pass),
        cmocka_unit_test(test_shared_inside),
        cmocka_unit_test(test_instruction_limit),
        cmocka_unit_test(test_input_limit),
        cmocka_unit_test(test_broadcast_is_materialized),
        cmocka_unit_test(test_index_and_order),
        cmocka_unit_test(test_many_dims),
        cmocka_unit_test(test_many_reduced_runs),
        cmocka_unit_test(test_fused_equals_unfused),
        cmocka_unit_test(test_temporaries_share_memory),
        cmocka_unit_test(test_roots_without_work),
    };
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
