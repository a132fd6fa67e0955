// SPDX-License-Identifier: Apache-2.0
// For the tests of graphs: the host device, two devices that pretend to be CUDA ones
// (host memory behind is_host = false), accounts, tensors from plain numbers, and running
// graphs to their end. Every device can be told to fail at its n-th fallible call.
#ifndef TENSORD_TESTS_TENSOR_GRAPH_FIXTURE_H
#define TENSORD_TESTS_TENSOR_GRAPH_FIXTURE_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kernels/base/size.h"
#include "tensor/executor.h"

enum { FIXTURE_DEVICES = 3, FIXTURE_LIMIT = 1 << 30, FIXTURE_ROOTS = 8 };

struct test_device {
    struct device device; // first
    struct device *host;
    int64_t calls, fail_at; // fallible calls so far; the one that fails (0: none)
    int64_t plans, synchronized, copies;
};

static struct fixture {
    struct device *host;
    struct test_device devices[FIXTURE_DEVICES];
    struct device *table[FIXTURE_DEVICES];
    struct ledger *ledger;
    struct account *account;
    struct registry *registry;
    struct name_space *space;
    struct graph_context context;
} fixture;

// ---- Devices
static inline struct test_device *test_device(struct device *device)
{
    return (struct test_device *)device;
}

static inline bool test_device_fails(struct device *device, struct problem *problem)
{
    struct test_device *test = test_device(device);
    if (++test->calls != test->fail_at)
        return false;
    problem_set(problem, STATUS_OUT_OF_MEMORY, "call %d was told to fail",
                (int)test->calls);
    return true;
}

static inline enum status test_allocate(struct device *device, int64_t bytes, void **out,
                                        struct problem *problem)
{
    if (test_device_fails(device, problem))
        return problem->status;
    enum status status = fixture.host->vt->allocate(fixture.host, bytes, out, problem);
    if (status == STATUS_OK)
        memset(*out, 0xA5, (size_t)bytes); // nobody may count on zeros
    return status;
}

static inline void test_release(struct device *device, void *block, int64_t bytes)
{
    (void)device;
    fixture.host->vt->release(fixture.host, block, bytes);
}

static inline enum status test_copy(struct device *device, void *to, const void *from,
                                    int64_t bytes, enum copy_direction direction,
                                    struct problem *problem)
{
    test_device(device)->copies++;
    if (test_device_fails(device, problem))
        return problem->status;
    return fixture.host->vt->copy(fixture.host, to, from, bytes, direction, problem);
}

// A plan and the device that made it.
struct test_plan {
    struct plan *plan;
    struct device *device;
};

static inline enum status test_plan_make(struct device *device,
                                         const struct kernel *kernel, struct plan **out,
                                         struct problem *problem)
{
    test_device(device)->plans++;
    if (test_device_fails(device, problem))
        return problem->status;
    struct test_plan *plan = malloc(sizeof *plan);
    if (!plan)
        return problem_set(problem, STATUS_OUT_OF_MEMORY, "no memory for a test's plan");
    plan->device = device;
    enum status status =
        fixture.host->vt->plan(fixture.host, kernel, &plan->plan, problem);
    if (status != STATUS_OK)
        free(plan);
    else
        *out = (struct plan *)plan;
    return status;
}

static inline enum slice test_plan_next(struct plan *made, struct problem *problem)
{
    struct test_plan *plan = (struct test_plan *)made;
    if (test_device_fails(plan->device, problem))
        return SLICE_FAILED;
    return fixture.host->vt->plan_next(plan->plan, problem);
}

static inline void test_plan_progress(const struct plan *made, int64_t *done,
                                      int64_t *total)
{
    fixture.host->vt->plan_progress(((const struct test_plan *)made)->plan, done, total);
}

static inline void test_plan_free(struct plan *made)
{
    fixture.host->vt->plan_free(((struct test_plan *)made)->plan);
    free(made);
}

static inline enum status test_synchronize(struct device *device, struct problem *problem)
{
    test_device(device)->synchronized++;
    if (test_device_fails(device, problem))
        return problem->status;
    return fixture.host->vt->synchronize(fixture.host, problem);
}

static const struct device_interface test_interface = {
    .allocate = test_allocate,
    .release = test_release,
    .copy = test_copy,
    .plan = test_plan_make,
    .plan_next = test_plan_next,
    .plan_progress = test_plan_progress,
    .plan_free = test_plan_free,
    .synchronize = test_synchronize,
};

static inline int fixture_setup(void **state)
{
    (void)state;
    static const char *const ids[FIXTURE_DEVICES] = {"cpu", "cuda:0", "cuda:1"};
    struct problem problem;
    const int64_t limits[FIXTURE_DEVICES] = {FIXTURE_LIMIT, FIXTURE_LIMIT, FIXTURE_LIMIT};
    ops_initialize();
    assert_int_equal(host_open(2, 1 << 20, &fixture.host, &problem), STATUS_OK);
    for (int i = 0; i < FIXTURE_DEVICES; i++) {
        fixture.devices[i] = (struct test_device){.host = fixture.host};
        fixture.devices[i].device =
            (struct device){.vt = &test_interface, .index = i, .is_host = i == 0};
        snprintf(fixture.devices[i].device.id, sizeof fixture.devices[i].device.id, "%s",
                 ids[i]);
        fixture.table[i] = &fixture.devices[i].device;
    }
    assert_int_equal(ledger_create(FIXTURE_DEVICES, limits, &fixture.ledger, &problem),
                     STATUS_OK);
    assert_int_equal(ledger_account(fixture.ledger, "", &fixture.account, &problem),
                     STATUS_OK);
    assert_int_equal(registry_create(&fixture.registry, &problem), STATUS_OK);
    assert_int_equal(registry_space(fixture.registry, "", &fixture.space, &problem),
                     STATUS_OK);
    fixture.context = (struct graph_context){.devices = fixture.table,
                                             .n_devices = FIXTURE_DEVICES,
                                             .account = fixture.account};
    return 0;
}

// Nothing may be left: no bytes used or reserved on any device.
static inline int fixture_teardown(void **state)
{
    (void)state;
    registry_free(fixture.registry);
    for (int i = 0; i < FIXTURE_DEVICES; i++) {
        struct ledger_usage usage;
        ledger_usage(fixture.ledger, i, &usage);
        assert_int_equal(usage.used, 0);
        assert_int_equal(usage.reserved, 0);
    }
    ledger_free(fixture.ledger);
    fixture.host->vt->close(fixture.host);
    return 0;
}

static inline int64_t fixture_used(int device)
{
    struct ledger_usage usage;
    ledger_usage(fixture.ledger, device, &usage);
    return usage.used + usage.reserved;
}

// ---- Tensors
static inline struct scalar number(double value)
{
    return (struct scalar){.kind = SCALAR_FLOAT, .f = value};
}

static inline struct scalar whole(int64_t value)
{
    return (struct scalar){.kind = SCALAR_INT, .i = value};
}

// A tensor of its own storage of `count` elements, seen through layout.
static inline struct tensor *tensor_with_layout(struct device *device, enum dtype dtype,
                                                const struct layout *layout,
                                                int64_t count)
{
    struct problem problem;
    struct block *block;
    struct storage *storage;
    struct tensor *tensor;
    int64_t bytes = count * dtype_size(dtype);
    assert_int_equal(ledger_reserve(fixture.account, device->index, bytes, &problem),
                     ADMISSION_READY);
    assert_int_equal(block_create(device, fixture.account, bytes, &block, &problem),
                     STATUS_OK);
    assert_int_equal(storage_create(block, &storage, &problem), STATUS_OK);
    assert_int_equal(tensor_create(storage, 0, dtype, layout, &tensor, &problem),
                     STATUS_OK);
    storage_release(storage);
    return tensor;
}

static inline struct tensor *tensor_empty(struct device *device, enum dtype dtype,
                                          int ndim, const int64_t *shape)
{
    struct layout layout = {.ndim = ndim};
    int64_t count = 0;
    for (int i = 0; i < ndim; i++)
        layout.shape[i] = shape[i];
    layout_contiguous(&layout);
    assert_true(size_of_shape(ndim, shape, &count));
    return tensor_with_layout(device, dtype, &layout, count);
}

// Memory of element `index` in logical (C) order.
static inline void *tensor_at(const struct tensor *tensor, int64_t index)
{
    const struct layout *layout = &tensor->layout;
    int64_t at = tensor->offset;
    for (int d = layout->ndim - 1; d >= 0; d--) {
        at += index % layout->shape[d] * layout->strides[d];
        index /= layout->shape[d];
    }
    struct block *block = storage_pin(tensor->storage);
    char *data = block->data;
    block_release(block);
    return data + at * dtype_size(tensor->dtype);
}

static inline void tensor_set(struct tensor *tensor, int64_t index, struct scalar value)
{
    union element element = scalar_to_element(value, tensor->dtype, NULL);
    memcpy(tensor_at(tensor, index), &element, (size_t)dtype_size(tensor->dtype));
}

static inline double tensor_get(const struct tensor *tensor, int64_t index)
{
    union element element;
    memcpy(&element, tensor_at(tensor, index), (size_t)dtype_size(tensor->dtype));
    struct scalar scalar = element_to_scalar(element, tensor->dtype);
    return scalar.kind == SCALAR_FLOAT ? scalar.f : (double)scalar.i;
}

#define SHAPE(...)                                                                       \
    ((int)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t))), (int64_t[])             \
    {                                                                                    \
        __VA_ARGS__                                                                      \
    }
#define VALUES(...)                                                                      \
    (double[])                                                                           \
    {                                                                                    \
        __VA_ARGS__                                                                      \
    }

static inline struct tensor *tensor_on(struct device *device, enum dtype dtype, int ndim,
                                       const int64_t *shape, const double *values)
{
    struct tensor *tensor = tensor_empty(device, dtype, ndim, shape);
    for (int64_t i = 0; i < tensor_count(tensor); i++)
        tensor_set(tensor, i,
                   dtype_is_float(dtype) ? number(values[i]) : whole((int64_t)values[i]));
    return tensor;
}

static inline struct tensor *tensor_of(enum dtype dtype, int ndim, const int64_t *shape,
                                       const double *values)
{
    return tensor_on(fixture.table[0], dtype, ndim, shape, values);
}

static inline void check_values(const struct tensor *tensor, const double *values)
{
    for (int64_t i = 0; i < tensor_count(tensor); i++) {
        double value = tensor_get(tensor, i);
        if (value != values[i] && !(isnan(value) && isnan(values[i])))
            fail_msg("element %d is %.17g and not %.17g", (int)i, value, values[i]);
    }
}

static inline void check_shape(const struct layout *layout, int ndim,
                               const int64_t *shape)
{
    assert_int_equal(layout->ndim, ndim);
    for (int i = 0; i < ndim; i++)
        assert_int_equal(layout->shape[i], shape[i]);
}

// ---- Graphs
static inline struct graph *graph_new(void)
{
    struct problem problem;
    struct graph *graph;
    assert_int_equal(graph_create(&fixture.context, &graph, &problem), STATUS_OK);
    return graph;
}

static inline struct node *source(struct graph *graph, struct tensor *tensor)
{
    struct problem problem;
    struct node *node;
    assert_int_equal(graph_source(graph, tensor, &node, &problem), STATUS_OK);
    return node;
}

static inline struct node *scalar_node(struct graph *graph, struct scalar scalar)
{
    struct problem problem;
    struct node *node;
    assert_int_equal(graph_scalar(graph, scalar, &node, &problem), STATUS_OK);
    return node;
}

static inline struct argument tensor_argument(struct node *node)
{
    return (struct argument){.kind = ARGUMENT_TENSOR, .tensor = node};
}

static inline struct argument int_argument(int64_t value)
{
    return (struct argument){.kind = ARGUMENT_INT, .integer = value};
}

// Runs "add" or "add_" on arguments that fill the signature from the left.
static inline enum status try_op(struct graph *graph, const char *name, int n,
                                 const struct argument *given, struct node **results,
                                 int *n_results, struct problem *problem)
{
    struct argument arguments[OP_MAX_PARAMETERS];
    enum op op;
    bool in_place;
    if (!op_find(name, strlen(name), &op, &in_place, NULL))
        fail_msg("no operation %s", name);
    for (int i = 0; i < OP_MAX_PARAMETERS; i++)
        arguments[i] = i < n ? given[i] : (struct argument){.kind = ARGUMENT_NONE};
    return graph_op(graph, op, in_place, arguments, results, n_results, problem);
}

static inline struct node *op(struct graph *graph, const char *name, int n,
                              const struct argument *given)
{
    struct node *results[OP_MAX_RESULTS];
    int n_results;
    struct problem problem;
    if (try_op(graph, name, n, given, results, &n_results, &problem) != STATUS_OK)
        fail_msg("%s: %s", name, problem.detail);
    return results[0];
}

static inline struct node *op1(struct graph *graph, const char *name, struct node *a)
{
    return op(graph, name, 1, (struct argument[]){tensor_argument(a)});
}

static inline struct node *op2(struct graph *graph, const char *name, struct node *a,
                               struct node *b)
{
    return op(graph, name, 2,
              (struct argument[]){tensor_argument(a), tensor_argument(b)});
}

// ---- Running
static inline enum status run_executor(struct executor *executor, struct problem *problem)
{
    enum executor_step step;
    if (executor_admit(executor, problem) != ADMISSION_READY)
        return problem->status;
    do {
        step = executor_step(executor, problem);
    } while (step == EXECUTOR_MORE || step == EXECUTOR_MOVE);
    return step == EXECUTOR_DONE ? STATUS_OK : problem->status;
}

// Runs the roots; commits the graph's writes if asked to; the results are the caller's.
static inline enum status try_run(struct graph *graph, bool commit, int n,
                                  struct node *const *roots, struct tensor **results,
                                  struct problem *problem)
{
    struct executor *executor;
    enum status status = executor_create(graph, n, roots, &executor, problem);
    if (status != STATUS_OK)
        return status;
    status = run_executor(executor, problem);
    int made = 0;
    while (status == STATUS_OK && made < n) {
        status = executor_result(executor, made, &results[made], problem);
        made += status == STATUS_OK;
    }
    if (status == STATUS_OK && commit)
        status = executor_commit(executor, fixture.space, 0, NULL, problem);
    for (int i = 0; status != STATUS_OK && i < made; i++)
        tensor_release(results[i]);
    executor_free(executor);
    return status;
}

static inline struct tensor *run(struct graph *graph, struct node *root)
{
    struct tensor *result;
    struct problem problem;
    if (try_run(graph, true, 1, &root, &result, &problem) != STATUS_OK)
        fail_msg("%s", problem.detail);
    return result;
}
#endif
