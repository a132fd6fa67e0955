// SPDX-License-Identifier: Apache-2.0
// Running graphs: writes in place and in private, overlapping writes, admission, devices,
// commits, and every call of a device failing in turn.
#include "graph_fixture.h"

static void *address(const struct tensor *tensor)
{
    return tensor_at(tensor, 0);
}

// x, one dimension of n elements 0, 1, 2, ...
static struct tensor *counting(int device, enum dtype dtype, int64_t n)
{
    struct tensor *tensor = tensor_empty(fixture.table[device], dtype, 1, &n);
    for (int64_t i = 0; i < n; i++)
        tensor_set(tensor, i, whole(i));
    return tensor;
}

static struct tensor *part_of(const struct tensor *tensor, int64_t offset, int64_t count,
                              int64_t step)
{
    struct layout layout = {.ndim = 1, .shape = {count}, .strides = {step}};
    struct tensor *part;
    struct problem problem;
    assert_int_equal(
        tensor_create(tensor->storage, offset, tensor->dtype, &layout, &part, &problem),
        STATUS_OK);
    return part;
}

// Runs name_(x, 5) and says whether it went in place.
static bool add_five(struct tensor *x, bool private)
{
    struct graph *graph = graph_new();
    struct node *root =
        op2(graph, "add_", source(graph, x), scalar_node(graph, whole(5)));
    struct executor *executor;
    struct problem problem;
    void *before = address(x);
    uint64_t writes = storage_writes(x->storage);
    assert_int_equal(executor_create(graph, 1, &root, &executor, &problem), STATUS_OK);
    if (private)
        executor_set_private(executor);
    assert_int_equal(run_executor(executor, &problem), STATUS_OK);
    assert_int_equal(executor_commit(executor, fixture.space, 0, NULL, &problem),
                     STATUS_OK);
    executor_free(executor);
    graph_free(graph);
    assert_int_equal(storage_writes(x->storage), writes + 1);
    return address(x) == before;
}

static void test_in_place(void **state)
{
    struct tensor *x = counting(0, DTYPE_INT64, 4);
    assert_true(add_five(x, false));
    check_values(x, VALUES(5, 6, 7, 8));
    assert_false(add_five(x, true));
    check_values(x, VALUES(10, 11, 12, 13));
    // A reader has the block pinned: it keeps what it saw.
    struct block *pinned = storage_pin(x->storage);
    assert_false(add_five(x, false));
    assert_int_equal(((int64_t *)pinned->data)[0], 10);
    check_values(x, VALUES(15, 16, 17, 18));
    block_release(pinned);
    assert_true(add_five(x, false));
    tensor_release(x);
}

// What can divide by zero is never written in place: the tensor is as it was.
static void test_fault_leaves_target(void **state)
{
    for (int device = 0; device < 2; device++) {
        struct tensor *x = counting(device, DTYPE_INT32, 3),
                      *y = counting(device, DTYPE_INT32, 3);
        struct graph *graph = graph_new();
        struct node *root =
            op2(graph, "floor_divide_", source(graph, x), source(graph, y));
        struct tensor *result;
        struct problem problem;
        assert_int_equal(try_run(graph, true, 1, &root, &result, &problem),
                         STATUS_ZERO_DIVISION);
        graph_free(graph);
        check_values(x, VALUES(0, 1, 2));
        tensor_release(x);
        tensor_release(y);
        // The fault is gone with its request.
        x = counting(device, DTYPE_INT32, 2);
        add_five(x, false);
        check_values(x, VALUES(5, 6));
        tensor_release(x);
    }
}

// x[1:] = x[:-1], and the other way round; x[::2] = x[1::2].
static void check_overlap(int64_t to, int64_t from, int64_t count, int64_t step,
                          const double *expected)
{
    struct tensor *x = counting(0, DTYPE_FLOAT32, 6);
    struct tensor *target = part_of(x, to, count, step),
                  *value = part_of(x, from, count, step);
    struct graph *graph = graph_new();
    struct node *root = op2(graph, "copy_", source(graph, target), source(graph, value));
    tensor_release(run(graph, root));
    check_values(x, expected);
    graph_free(graph);
    tensor_release(target);
    tensor_release(value);
    tensor_release(x);
}

static void test_overlap(void **state)
{
    check_overlap(1, 0, 5, 1, VALUES(0, 0, 1, 2, 3, 4));
    check_overlap(0, 1, 5, 1, VALUES(1, 2, 3, 4, 5, 5));
    check_overlap(0, 1, 3, 2, VALUES(1, 1, 3, 3, 5, 5));
    check_overlap(1, 1, 5, 1, VALUES(0, 1, 2, 3, 4, 5));
}

// Views see a write through another view, whole or partial, private or in place.
static void test_views_stay_tied(void **state)
{
    for (int private = 0; private < 2; private ++) {
        struct tensor *x = counting(0, DTYPE_INT16, 6), *odd = part_of(x, 1, 3, 2);
        add_five(odd, private);
        check_values(x, VALUES(0, 6, 2, 8, 4, 10));
        add_five(x, private);
        check_values(odd, VALUES(11, 13, 15));
        tensor_release(odd);
        tensor_release(x);
    }
}

// Two writes of one request to one storage: the second continues the private block of the
// first.
static void test_two_writes(void **state)
{
    struct tensor *x = counting(0, DTYPE_INT64, 4), *head = part_of(x, 0, 2, 1),
                  *tail = part_of(x, 1, 3, 1);
    struct graph *graph = graph_new();
    op2(graph, "add_", source(graph, head), scalar_node(graph, whole(10)));
    struct tensor *front = part_of(x, 0, 3, 1);
    struct node *root = op2(graph, "copy_", source(graph, tail), source(graph, front));
    struct tensor *result = run(graph, root);
    tensor_release(front);
    check_values(x, VALUES(10, 10, 11, 2));
    check_values(result, VALUES(10, 11, 2));
    tensor_release(result);
    tensor_release(head);
    tensor_release(tail);
    tensor_release(x);
    graph_free(graph);
}

// Without a commit a write has not happened, unless it went in place as the last act.
static void test_uncommitted(void **state)
{
    struct tensor *x = counting(0, DTYPE_INT64, 3), *target = part_of(x, 0, 2, 1),
                  *value = part_of(x, 1, 2, 1);
    struct graph *graph = graph_new();
    struct node *root = op2(graph, "copy_", source(graph, target), source(graph, value));
    struct tensor *result;
    struct problem problem;
    assert_int_equal(try_run(graph, false, 1, &root, &result, &problem), STATUS_OK);
    check_values(x, VALUES(0, 1, 2));
    graph_free(graph);
    tensor_release(result);
    tensor_release(target);
    tensor_release(value);
    tensor_release(x);
}

static void test_moves(void **state)
{
    struct tensor *x = counting(1, DTYPE_INT32, 5);
    struct graph *graph = graph_new();
    struct argument to[3] = {tensor_argument(source(graph, x)),
                             {.kind = ARGUMENT_DEVICE, .device = fixture.table[2]},
                             {.kind = ARGUMENT_DTYPE, .dtype = DTYPE_FLOAT64}};
    struct node *root = op(graph, "to", 3, to);
    assert_ptr_equal(node_device(root), fixture.table[2]);
    struct executor *executor;
    struct problem problem;
    assert_int_equal(executor_create(graph, 1, &root, &executor, &problem), STATUS_OK);
    assert_int_equal(executor_estimate(executor), -1);
    assert_int_equal(executor_admit(executor, &problem), ADMISSION_READY);
    // Down on its own worker, up and converted on the other's.
    assert_ptr_equal(executor_device(executor), fixture.table[1]);
    assert_int_equal(executor_step(executor, &problem), EXECUTOR_MOVE);
    assert_ptr_equal(executor_device(executor), fixture.table[2]);
    assert_int_equal(executor_step(executor, &problem), EXECUTOR_DONE);
    struct tensor *result;
    assert_int_equal(executor_result(executor, 0, &result, &problem), STATUS_OK);
    check_values(result, VALUES(0, 1, 2, 3, 4));
    assert_int_equal(result->dtype, DTYPE_FLOAT64);
    assert_ptr_equal(tensor_device(result), fixture.table[2]);
    executor_free(executor);
    graph_free(graph);
    tensor_release(result);
    // Nothing to change: the tensor itself.
    graph = graph_new();
    struct node *same = op1(graph, "to", source(graph, x));
    result = run(graph, same);
    assert_ptr_equal(result, x);
    tensor_release(result);
    graph_free(graph);
    tensor_release(x);
}

static void test_admission(void **state)
{
    const int64_t n = FIXTURE_LIMIT / 2;
    struct graph *graph = graph_new();
    struct argument zeros[2] = {{.kind = ARGUMENT_INTS, .integers = {1, &n}},
                                {.kind = ARGUMENT_DTYPE, .dtype = DTYPE_FLOAT32}};
    struct node *root = op(graph, "zeros", 2, zeros), *small;
    struct executor *executor;
    struct problem problem;
    int64_t before = fixture_used(0);
    assert_int_equal(executor_create(graph, 1, &root, &executor, &problem), STATUS_OK);
    assert_int_equal(executor_admit(executor, &problem), ADMISSION_NEVER);
    assert_int_equal(problem.status, STATUS_OUT_OF_MEMORY);
    assert_int_equal(problem.required_bytes, 4 * n);
    assert_int_equal(fixture_used(0), before);
    executor_free(executor);
    // What a running request holds comes back: its neighbour waits.
    zeros[1].dtype = DTYPE_BOOL;
    root = op(graph, "zeros", 2, zeros);
    small = op(graph, "ones", 2, zeros);
    struct executor *waiting;
    struct node *both[2] = {root, small};
    assert_int_equal(executor_create(graph, 1, &root, &executor, &problem), STATUS_OK);
    assert_int_equal(executor_admit(executor, &problem), ADMISSION_READY);
    assert_int_equal(executor_admit(executor, &problem), ADMISSION_READY); // once only
    assert_int_equal(fixture_used(0), before + n);
    struct graph *other = graph_new();
    both[0] = op(other, "zeros", 2, zeros);
    both[1] = op(other, "ones", 2, zeros);
    assert_int_equal(executor_create(other, 2, both, &waiting, &problem), STATUS_OK);
    assert_int_equal(executor_admit(waiting, &problem), ADMISSION_WAIT);
    executor_free(executor);
    assert_int_equal(executor_admit(waiting, &problem), ADMISSION_READY);
    executor_free(waiting);
    assert_int_equal(fixture_used(0), before);
    graph_free(other);
    graph_free(graph);
}

static void test_commit_names(void **state)
{
    struct tensor *x = counting(0, DTYPE_FLOAT32, 3);
    struct graph *graph = graph_new();
    struct argument dim[2] = {tensor_argument(source(graph, x)), int_argument(0)};
    struct node *roots[OP_MAX_RESULTS];
    struct problem problem;
    int n;
    assert_int_equal(try_op(graph, "max", 2, dim, roots, &n, &problem), STATUS_OK);
    assert_int_equal(n, 2);
    struct executor *executor;
    assert_int_equal(executor_create(graph, 2, roots, &executor, &problem), STATUS_OK);
    assert_int_equal(run_executor(executor, &problem), STATUS_OK);
    const char *const names[2] = {NULL, "where_max"};
    assert_int_equal(executor_commit(executor, fixture.space, 2, names, &problem),
                     STATUS_OK);
    executor_free(executor);
    graph_free(graph);
    struct binding binding;
    assert_int_equal(registry_find(fixture.space, "where_max", &binding, &problem),
                     STATUS_OK);
    check_values(binding.tensor, VALUES(2));
    assert_int_equal(binding.tensor->dtype, DTYPE_INT64);
    binding_release(&binding);
    tensor_release(x);
}

static void test_progress(void **state)
{
    struct tensor *x = counting(0, DTYPE_FLOAT32, 100);
    struct graph *graph = graph_new();
    struct node *root = op1(graph, "exp", source(graph, x));
    struct executor *executor;
    struct problem problem;
    assert_int_equal(executor_create(graph, 1, &root, &executor, &problem), STATUS_OK);
    assert_true(executor_progress(executor) == 0);
    assert_true(executor_estimate(executor) > 0 && executor_estimate(executor) < 50000);
    assert_int_equal(run_executor(executor, &problem), STATUS_OK);
    assert_true(executor_progress(executor) == 1);
    assert_int_equal(executor_estimate(executor), 0);
    executor_free(executor);
    graph_free(graph);
    tensor_release(x);
}

// A request with temporaries, several devices, a partial write and a copy between
// devices; its n-th device call fails.
static enum status run_everything(struct tensor *x, struct tensor *far,
                                  struct problem *problem)
{
    struct graph *graph = graph_new();
    struct node *a = source(graph, x), *b = source(graph, far);
    struct argument to[2] = {tensor_argument(b),
                             {.kind = ARGUMENT_DEVICE, .device = fixture.table[0]}};
    struct node *near = op(graph, "to", 2, to);
    struct node *sum = op2(graph, "add", op2(graph, "matmul", a, a), near);
    struct node *scores = op(graph, "softmax", 2,
                             (struct argument[]){tensor_argument(near), int_argument(0)});
    struct tensor *part = part_of(x, 1, 2, 1), *results[2];
    struct problem ignored;
    assert_int_equal(graph_write(graph, part, op1(graph, "amax", sum), &ignored),
                     STATUS_OK);
    struct node *roots[2] = {sum, scores};
    enum status status = try_run(graph, true, 2, roots, results, problem);
    for (int i = 0; i < 2 && status == STATUS_OK; i++)
        tensor_release(results[i]);
    tensor_release(part);
    graph_free(graph);
    return status;
}

static void test_every_call_fails(void **state)
{
    int failures = 0;
    for (int device = 0; device < 2; device++)
        for (int at = 1;; at++) {
            struct tensor *x = counting(0, DTYPE_FLOAT32, 3),
                          *far = counting(1, DTYPE_FLOAT32, 3);
            int64_t used[2] = {fixture_used(0), fixture_used(1)};
            struct problem problem = {.status = STATUS_OK};
            fixture.devices[device].calls = 0;
            fixture.devices[device].fail_at = at;
            enum status status = run_everything(x, far, &problem);
            fixture.devices[device].fail_at = 0;
            assert_int_equal(fixture_used(0), used[0]);
            assert_int_equal(fixture_used(1), used[1]);
            if (status == STATUS_OK)
                check_values(x, VALUES(0, 7, 7)); // 0 + 1 + 4 and far's 2
            else
                check_values(x, VALUES(0, 1, 2));
            failures += status != STATUS_OK;
            tensor_release(x);
            tensor_release(far);
            if (status == STATUS_OK)
                break;
            assert_int_equal(status, STATUS_OUT_OF_MEMORY);
        }
    assert_true(failures > 10);
}

// Freed in the middle, an executor gives everything back.
static void test_freed_halfway(void **state)
{
    struct tensor *far = counting(1, DTYPE_FLOAT32, 3);
    int64_t used[2] = {fixture_used(0), fixture_used(1)};
    struct graph *graph = graph_new();
    struct argument to[2] = {tensor_argument(source(graph, far)),
                             {.kind = ARGUMENT_DEVICE, .device = fixture.table[0]}};
    struct node *root = op1(graph, "exp", op(graph, "to", 2, to));
    struct executor *executor;
    struct problem problem;
    assert_int_equal(executor_create(graph, 1, &root, &executor, &problem), STATUS_OK);
    assert_int_equal(executor_admit(executor, &problem), ADMISSION_READY);
    assert_int_equal(executor_step(executor, &problem), EXECUTOR_MOVE);
    executor_free(executor);
    graph_free(graph);
    assert_int_equal(fixture_used(0), used[0]);
    assert_int_equal(fixture_used(1), used[1]);
    tensor_release(far);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_in_place),
        cmocka_unit_test(test_fault_leaves_target),
        cmocka_unit_test(test_overlap),
        cmocka_unit_test(test_views_stay_tied),
        cmocka_unit_test(test_two_writes),
        cmocka_unit_test(test_uncommitted),
        cmocka_unit_test(test_moves),
        cmocka_unit_test(test_admission),
        cmocka_unit_test(test_commit_names),
        cmocka_unit_test(test_progress),
        cmocka_unit_test(test_every_call_fails),
        cmocka_unit_test(test_freed_halfway),
    };
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
