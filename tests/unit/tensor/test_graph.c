// SPDX-License-Identifier: Apache-2.0
// Graphs from outside: facts of nodes, argument checks, the device rule, writes and what
// is read after them, read-back.
#include "graph_fixture.h"

static void test_facts(void **state)
{
    struct graph *graph = graph_new();
    struct tensor *x = tensor_of(DTYPE_FLOAT32, SHAPE(2, 2), VALUES(1, 2, 3, 4));
    struct node *a = source(graph, x), *two = scalar_node(graph, whole(2));
    assert_int_equal(node_dtype(a), DTYPE_FLOAT32);
    assert_ptr_equal(node_device(a), fixture.table[0]);
    assert_null(node_device(two));
    assert_int_equal(node_dtype(two), DTYPE_INT64);
    assert_int_equal(node_dtype(scalar_node(graph, number(2))), DTYPE_FLOAT32);
    struct node *sum = op2(graph, "add", a, two);
    assert_int_equal(node_dtype(sum), DTYPE_FLOAT32);
    check_shape(node_layout(sum), SHAPE(2, 2));
    assert_ptr_equal(node_tensor(a), x);
    assert_null(node_tensor(sum));
    assert_ptr_equal(node_tensor(op1(graph, "squeeze", a))->storage, x->storage);
    graph_free(graph);
    tensor_release(x);
    graph_free(NULL);
}

static void check_refused(enum status status, const char *name, int n,
                          struct argument *arguments)
{
    struct graph *graph = graph_new();
    struct node *results[OP_MAX_RESULTS];
    struct problem problem;
    int n_results;
    struct tensor *x = tensor_of(DTYPE_FLOAT32, SHAPE(2), VALUES(1, 2));
    for (int i = 0; i < n; i++) // a tensor argument without a node stands for x
        if (arguments[i].kind == ARGUMENT_TENSOR && !arguments[i].tensor)
            arguments[i].tensor = source(graph, x);
    assert_int_equal(try_op(graph, name, n, arguments, results, &n_results, &problem),
                     status);
    assert_true(strlen(problem.detail) > 0);
    graph_free(graph);
    tensor_release(x);
}

static void test_argument_kinds(void **state)
{
    struct argument x = {.kind = ARGUMENT_TENSOR}, none = {.kind = ARGUMENT_NONE};
    check_refused(STATUS_TYPE, "add", 1, (struct argument[]){x});
    check_refused(STATUS_TYPE, "add", 2, (struct argument[]){none, x});
    check_refused(STATUS_TYPE, "add", 2, (struct argument[]){x, int_argument(1)});
    check_refused(STATUS_TYPE, "transpose", 3,
                  (struct argument[]){x, x, int_argument(0)});
    check_refused(STATUS_TYPE, "sum", 2, (struct argument[]){x, int_argument(0)});
}

static void test_numbers_alone(void **state)
{
    struct graph *graph = graph_new();
    struct node *results[OP_MAX_RESULTS], *two = scalar_node(graph, whole(2));
    struct argument numbers[2] = {tensor_argument(two), tensor_argument(two)};
    struct problem problem;
    int n;
    const char *const refused[] = {"add",     "eq",   "exp",   "sum",  "matmul",
                                   "reshape", "add_", "copy_", "clone"};
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        struct argument arguments[2] = {numbers[0], numbers[1]};
        int64_t shape = 1;
        if (strcmp(refused[i], "reshape") == 0)
            arguments[1] =
                (struct argument){.kind = ARGUMENT_INTS, .integers = {1, &shape}};
        int count = strcmp(refused[i], "sum") == 0 || strcmp(refused[i], "exp") == 0 ||
                            strcmp(refused[i], "clone") == 0
                        ? 1
                        : 2;
        assert_int_equal(
            try_op(graph, refused[i], count, arguments, results, &n, &problem),
            STATUS_TYPE);
    }
    graph_free(graph);
}

static void test_problem_members(void **state)
{
    struct graph *graph = graph_new();
    struct tensor *x = tensor_of(DTYPE_FLOAT32, SHAPE(2, 3), VALUES(1, 2, 3, 4, 5, 6));
    struct tensor *y = tensor_of(DTYPE_INT64, SHAPE(4), VALUES(1, 2, 3, 4));
    struct tensor *far =
        tensor_on(fixture.table[1], DTYPE_FLOAT32, SHAPE(3), VALUES(1, 2, 3));
    struct node *results[OP_MAX_RESULTS];
    struct problem problem;
    int n;
    struct argument arguments[2] = {tensor_argument(source(graph, x)),
                                    tensor_argument(source(graph, y))};
    assert_int_equal(try_op(graph, "add", 2, arguments, results, &n, &problem),
                     STATUS_SHAPE);
    assert_string_equal(problem.shapes, "(2, 3) (4,)");
    assert_string_equal(problem.dtypes, "float32 int64");
    assert_string_equal(problem.devices, "cpu cpu");
    arguments[1] = tensor_argument(source(graph, far));
    assert_int_equal(try_op(graph, "add", 2, arguments, results, &n, &problem),
                     STATUS_DEVICE);
    assert_string_equal(problem.devices, "cpu cuda:0");
    assert_non_null(strstr(problem.detail, "cpu"));
    assert_non_null(strstr(problem.detail, "cuda:0"));
    assert_int_equal(try_op(graph, "matmul", 2, arguments, results, &n, &problem),
                     STATUS_DEVICE);
    arguments[0] = tensor_argument(scalar_node(graph, number(1)));
    arguments[1] = tensor_argument(source(graph, y));
    assert_int_equal(try_op(graph, "bitwise_and", 2, arguments, results, &n, &problem),
                     STATUS_DTYPE);
    assert_string_equal(problem.dtypes, "float32 int64");
    assert_string_equal(problem.shapes, "(4,)");
    graph_free(graph);
    tensor_release(x);
    tensor_release(y);
    tensor_release(far);
}

// A 0-d tensor on the host meets a device; a 0-d tensor of a device does not meet the
// host.
static void test_visitors(void **state)
{
    struct graph *graph = graph_new();
    struct tensor *far =
        tensor_on(fixture.table[1], DTYPE_FLOAT32, SHAPE(3), VALUES(1, 2, 3));
    struct tensor *ten = tensor_of(DTYPE_INT64, 0, NULL, VALUES(10));
    struct tensor *far_one =
        tensor_on(fixture.table[1], DTYPE_FLOAT32, 0, NULL, VALUES(1));
    struct tensor *near = tensor_of(DTYPE_FLOAT32, SHAPE(2), VALUES(1, 2));
    struct node *product = op2(graph, "mul", source(graph, ten), source(graph, far));
    assert_ptr_equal(node_device(product), fixture.table[1]);
    struct tensor *result = run(graph, product);
    check_values(result, VALUES(10, 20, 30));
    assert_ptr_equal(tensor_device(result), fixture.table[1]);
    struct node *results[OP_MAX_RESULTS];
    struct problem problem;
    int n;
    struct argument arguments[2] = {tensor_argument(source(graph, near)),
                                    tensor_argument(source(graph, far_one))};
    assert_int_equal(try_op(graph, "add", 2, arguments, results, &n, &problem),
                     STATUS_DEVICE);
    graph_free(graph);
    tensor_release(result);
    tensor_release(far);
    tensor_release(ten);
    tensor_release(far_one);
    tensor_release(near);
}

// Arithmetic on 16-bit floats sees a Python number unrounded: 3 * 0.1 in float32 rounds
// to 0.300048828125; with 0.1 rounded to float16 first it would be 0.2998046875 (computed
// with NumPy). Comparisons round it.
static void test_numbers_stay_exact(void **state)
{
    struct graph *graph = graph_new();
    struct tensor *x = tensor_of(DTYPE_FLOAT16, SHAPE(2), VALUES(3, 0.0999755859375));
    struct node *tenth = scalar_node(graph, number(0.1)), *a = source(graph, x);
    struct node *roots[2] = {op2(graph, "mul", a, tenth), op2(graph, "eq", a, tenth)};
    struct tensor *results[2];
    struct problem problem;
    assert_int_equal(try_run(graph, false, 2, roots, results, &problem), STATUS_OK);
    assert_true(tensor_get(results[0], 0) == 0.300048828125);
    check_values(results[1], VALUES(0, 1));
    graph_free(graph);
    tensor_release(results[0]);
    tensor_release(results[1]);
    tensor_release(x);
}

static struct node *materialize(struct graph *graph, struct node *node, enum dtype dtype,
                                int device)
{
    struct problem problem;
    struct node *out;
    assert_int_equal(
        graph_materialize(graph, node, dtype, fixture.table[device], &out, &problem),
        STATUS_OK);
    return out;
}

static void test_materialize(void **state)
{
    struct graph *graph = graph_new();
    struct tensor *x = tensor_of(DTYPE_INT32, SHAPE(2, 2), VALUES(1, 2, 3, 4));
    struct node *a = source(graph, x);
    assert_ptr_equal(materialize(graph, a, DTYPE_INT32, 0), a);
    struct argument arguments[3] = {tensor_argument(a), int_argument(0), int_argument(1)};
    struct node *turned = op(graph, "transpose", 3, arguments);
    struct node *roots[4] = {
        materialize(graph, turned, DTYPE_FLOAT64, 0),
        materialize(graph, turned, DTYPE_INT32, 0), materialize(graph, a, DTYPE_INT8, 2),
        materialize(graph, scalar_node(graph, number(2.5)), DTYPE_FLOAT32, 0)};
    struct tensor *results[4];
    struct problem problem;
    assert_int_equal(try_run(graph, false, 4, roots, results, &problem), STATUS_OK);
    check_values(results[0], VALUES(1, 3, 2, 4));
    check_values(results[1], VALUES(1, 3, 2, 4));
    assert_int_equal(results[1]->layout.strides[0], 2);
    check_values(results[2], VALUES(1, 2, 3, 4));
    assert_ptr_equal(tensor_device(results[2]), fixture.table[2]);
    check_values(results[3], VALUES(2.5));
    for (int i = 0; i < 4; i++)
        tensor_release(results[i]);
    graph_free(graph);
    tensor_release(x);
}

// y = x + 1; x += 10; z = x * 2; x += 100; the values in program order, whatever runs
// when.
static void test_reads_around_writes(void **state)
{
    struct graph *graph = graph_new();
    struct tensor *x = tensor_of(DTYPE_INT64, SHAPE(3), VALUES(1, 2, 3));
    struct node *a = source(graph, x);
    struct node *before = op2(graph, "add", a, scalar_node(graph, whole(1)));
    op2(graph, "add_", a, scalar_node(graph, whole(10)));
    struct node *between = op2(graph, "mul", a, scalar_node(graph, whole(2)));
    op2(graph, "add_", a, scalar_node(graph, whole(100)));
    struct node *roots[4] = {before, between, materialize(graph, a, DTYPE_INT64, 0), a};
    struct tensor *results[4];
    struct problem problem;
    assert_int_equal(try_run(graph, true, 4, roots, results, &problem), STATUS_OK);
    check_values(results[0], VALUES(2, 3, 4));
    check_values(results[1], VALUES(22, 24, 26));
    check_values(results[2], VALUES(111, 112, 113));
    check_values(results[3], VALUES(111, 112, 113));
    assert_ptr_equal(results[3], x);
    for (int i = 0; i < 4; i++)
        tensor_release(results[i]);
    graph_free(graph);
    tensor_release(x);
}

static void test_write_into_part(void **state)
{
    struct graph *graph = graph_new();
    struct tensor *x = tensor_of(DTYPE_INT16, SHAPE(2, 3), VALUES(1, 2, 3, 4, 5, 6));
    struct layout column = {.ndim = 1, .shape = {2}, .strides = {3}};
    struct tensor *part, *result;
    struct problem problem;
    assert_int_equal(tensor_create(x->storage, 1, DTYPE_INT16, &column, &part, &problem),
                     STATUS_OK);
    struct tensor *value = tensor_of(DTYPE_FLOAT64, SHAPE(1, 2), VALUES(70.9, -80.9));
    assert_int_equal(graph_write(graph, part, source(graph, value), &problem), STATUS_OK);
    result = run(graph, source(graph, x));
    check_values(x, VALUES(1, 70, 3, 4, -80, 6));
    tensor_release(result);
    tensor_release(value);
    value = tensor_of(DTYPE_FLOAT64, SHAPE(3), VALUES(1, 2, 3));
    assert_int_equal(graph_write(graph, part, source(graph, value), &problem),
                     STATUS_SHAPE);
    assert_string_equal(problem.shapes, "(3,) (2,)");
    assert_int_equal(graph_write(graph, part, scalar_node(graph, whole(40000)), &problem),
                     STATUS_VALUE);
    graph_free(graph);
    tensor_release(value);
    tensor_release(part);
    tensor_release(x);
}

static void test_write_refused(void **state)
{
    struct graph *graph = graph_new();
    struct tensor *x = tensor_of(DTYPE_FLOAT32, SHAPE(1), VALUES(1));
    struct layout expanded = {.ndim = 1, .shape = {3}, .strides = {0}};
    struct tensor *many;
    struct problem problem;
    assert_int_equal(
        tensor_create(x->storage, 0, DTYPE_FLOAT32, &expanded, &many, &problem),
        STATUS_OK);
    assert_int_equal(graph_write(graph, many, scalar_node(graph, number(1)), &problem),
                     STATUS_VALUE);
    struct node *results[OP_MAX_RESULTS];
    int n;
    struct node *sum = op2(graph, "add", source(graph, x), source(graph, x));
    struct argument arguments[2] = {tensor_argument(sum),
                                    tensor_argument(source(graph, x))};
    assert_int_equal(try_op(graph, "add_", 2, arguments, results, &n, &problem),
                     STATUS_TYPE);
    assert_int_equal(try_op(graph, "copy_", 2, arguments, results, &n, &problem),
                     STATUS_TYPE);
    // No row says that clamp_ exists.
    struct argument clamp[3] = {arguments[1], arguments[1], arguments[1]};
    assert_int_equal(graph_op(graph, OP_clamp, true, clamp, results, &n, &problem),
                     STATUS_TYPE);
    graph_free(graph);
    tensor_release(many);
    tensor_release(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_facts),
        cmocka_unit_test(test_argument_kinds),
        cmocka_unit_test(test_numbers_alone),
        cmocka_unit_test(test_problem_members),
        cmocka_unit_test(test_visitors),
        cmocka_unit_test(test_numbers_stay_exact),
        cmocka_unit_test(test_materialize),
        cmocka_unit_test(test_reads_around_writes),
        cmocka_unit_test(test_write_into_part),
        cmocka_unit_test(test_write_refused),
    };
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
