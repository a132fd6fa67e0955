// SPDX-License-Identifier: Apache-2.0
// Running one operation through the graph and the executor, as a request would.
#include "tests/conformance/conformance.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct device *host, *device;
static struct device *table[2];
static int n_devices;
static struct ledger *ledger;
static struct account *account;

static void must(enum status status, const struct problem *problem)
{
    if (status == STATUS_OK)
        return;
    fprintf(stderr, "setting up: %s\n", problem->detail);
    exit(2);
}

void open_devices(const char *id)
{
    struct problem problem;
    int64_t limits[2] = {INT64_MAX / 4, INT64_MAX / 4};
    ops_initialize();
    must(host_open(2, 1 << 26, &host, &problem), &problem);
    table[n_devices++] = host;
    device = host;
    if (strcmp(id, "cpu") != 0) {
        if (plugin_probe(&problem) < 1) {
            fprintf(stderr, "no CUDA device: %s\n", problem.detail);
            exit(2);
        }
        must(plugin_device_open(0, 0, &device, &problem), &problem);
        device->index = n_devices;
        table[n_devices++] = device;
    }
    must(ledger_create(n_devices, limits, &ledger, &problem), &problem);
    must(ledger_account(ledger, "", &account, &problem), &problem);
}

void close_devices(void)
{
    struct ledger_usage usage;
    for (int i = 0; i < n_devices; i++) {
        ledger_usage(ledger, i, &usage);
        check(usage.used == 0 && usage.reserved == 0,
              "%s: %lld bytes used, %lld reserved at the end", table[i]->id,
              (long long)usage.used, (long long)usage.reserved);
    }
    ledger_free(ledger);
    if (device != host)
        device->vt->close(device);
    host->vt->close(host);
}

static struct block *admitted_block(struct device *on, int64_t bytes)
{
    struct problem problem;
    struct block *block;
    if (ledger_reserve(account, on->index, bytes, &problem) != ADMISSION_READY)
        must(STATUS_OUT_OF_MEMORY, &problem);
    must(block_create(on, account, bytes, &block, &problem), &problem);
    return block;
}

struct tensor *make_tensor(enum dtype dtype, int ndim, const int64_t *shape,
                           const struct scalar *items)
{
    struct problem problem;
    struct layout layout = {.ndim = ndim};
    int64_t count = 1, size = dtype_size(dtype);
    for (int i = 0; i < ndim; i++)
        count *= layout.shape[i] = shape[i];
    layout_contiguous(&layout);
    char *bytes = malloc((size_t)(count * size) + 1);
    for (int64_t i = 0; i < count; i++) {
        union element element = scalar_to_element(items[i], dtype, NULL);
        memcpy(bytes + i * size, element.bytes, (size_t)size);
    }
    struct block *block = admitted_block(device, count * size);
    if (count > 0)
        must(device->vt->copy(device, block->data, bytes, count * size, COPY_TO_DEVICE,
                              &problem),
             &problem);
    free(bytes);
    struct storage *storage;
    struct tensor *tensor;
    must(storage_create(block, &storage, &problem), &problem);
    must(tensor_create(storage, 0, dtype, &layout, &tensor, &problem), &problem);
    storage_release(storage);
    return tensor;
}

struct argument operand(int i)
{
    return (struct argument){.kind = ARGUMENT_TENSOR, .integer = i};
}
struct argument operands(int count)
{
    return (struct argument){.kind = ARGUMENT_TENSORS, .tensors = {count, NULL}};
}
struct argument number(struct scalar scalar)
{
    return (struct argument){.kind = ARGUMENT_NUMBER, .number = scalar};
}
struct argument integer(int64_t value)
{
    return (struct argument){.kind = ARGUMENT_INT, .integer = value};
}
struct argument integers(int count, const int64_t *items)
{
    return (struct argument){.kind = ARGUMENT_INTS, .integers = {count, items}};
}
struct argument boolean(bool value)
{
    return (struct argument){.kind = ARGUMENT_BOOL, .boolean = value};
}

// Replaces operand(i) and numbers in Tensor positions by nodes.
static enum status bind(struct graph *graph, const struct op_row *row, int n_tensors,
                        struct tensor *const *tensors, const struct argument *given,
                        struct argument *bound, struct node **nodes,
                        struct problem *problem)
{
    for (int i = 0; i < n_tensors; i++) {
        enum status status = graph_source(graph, tensors[i], &nodes[i], problem);
        if (status != STATUS_OK)
            return status;
    }
    for (int i = 0; i < row->n_parameters; i++) {
        bound[i] = given[i];
        bool wants_tensor = row->parameters[i].type == PARAMETER_TENSOR;
        if (given[i].kind == ARGUMENT_TENSOR) {
            bound[i].tensor = nodes[given[i].integer];
        } else if (given[i].kind == ARGUMENT_TENSORS) {
            bound[i].tensors.items = nodes;
        } else if (given[i].kind == ARGUMENT_NUMBER && wants_tensor) {
            bound[i].kind = ARGUMENT_TENSOR;
            enum status status =
                graph_scalar(graph, given[i].number, &bound[i].tensor, problem);
            if (status != STATUS_OK)
                return status;
        }
    }
    return STATUS_OK;
}

static enum status execute(struct graph *graph, int n_roots, struct node **roots,
                           struct tensor **results, struct problem *problem)
{
    struct executor *executor;
    enum status status = executor_create(graph, n_roots, roots, &executor, problem);
    if (status != STATUS_OK)
        return status;
    enum executor_step step = EXECUTOR_FAILED;
    if (executor_admit(executor, problem) == ADMISSION_READY)
        do
            step = executor_step(executor, problem);
        while (step == EXECUTOR_MORE || step == EXECUTOR_MOVE);
    status = step == EXECUTOR_DONE ? STATUS_OK : problem->status;
    for (int i = 0; i < n_roots && status == STATUS_OK; i++)
        status = executor_result(executor, i, &results[i], problem);
    executor_free(executor);
    return status;
}

enum status run_op(enum op op, bool in_place, int n_tensors,
                   struct tensor *const *tensors, const struct argument *arguments,
                   struct tensor **results, int *n_results, struct problem *problem)
{
    struct graph_context context = {
        .devices = table, .n_devices = n_devices, .account = account};
    struct graph *graph;
    struct node *nodes[16], *roots[OP_MAX_RESULTS];
    struct argument bound[OP_MAX_PARAMETERS];
    exercised(op);
    must(graph_create(&context, &graph, problem), problem);
    enum status status =
        bind(graph, op_row(op), n_tensors, tensors, arguments, bound, nodes, problem);
    if (status == STATUS_OK)
        status = graph_op(graph, op, in_place, bound, roots, n_results, problem);
    if (status == STATUS_OK)
        status = execute(graph, *n_results, roots, results, problem);
    graph_free(graph);
    return status;
}

void read_tensor(struct tensor *tensor, struct values *out)
{
    struct problem problem;
    struct graph_context context = {
        .devices = table, .n_devices = n_devices, .account = account};
    struct graph *graph;
    struct node *source, *plain;
    struct tensor *on_host;
    must(graph_create(&context, &graph, &problem), &problem);
    must(graph_source(graph, tensor, &source, &problem), &problem);
    must(graph_materialize(graph, source, tensor->dtype, host, &plain, &problem),
         &problem);
    must(execute(graph, 1, &plain, &on_host, &problem), &problem);
    struct block *block = storage_pin(on_host->storage);
    out->dtype = tensor->dtype;
    out->ndim = tensor->layout.ndim;
    memcpy(out->shape, tensor->layout.shape, sizeof *out->shape * (size_t)out->ndim);
    out->count = tensor_count(on_host);
    size_t size = (size_t)dtype_size(tensor->dtype);
    const char *bytes = (const char *)block->data + (size_t)on_host->offset * size;
    for (int64_t i = 0; i < out->count && i < MAX_ELEMENTS; i++) {
        union element element = {0};
        memcpy(element.bytes, bytes + (size_t)i * size, size);
        out->items[i] = element_to_scalar(element, tensor->dtype);
    }
    block_release(block);
    tensor_release(on_host);
    graph_free(graph);
}
