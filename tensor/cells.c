// SPDX-License-Identifier: Apache-2.0
// Cells: their life, their content, and how tensors and literals become cells (cells.h).
#include "tensor/cells_internal.h"

#include <stdlib.h>

// ---- Life
enum status cells_create(const struct graph_context *context, struct cells **out,
                         struct problem *problem)
{
    struct cells *cells = calloc(1, sizeof *cells);
    if (!cells)
        return problem_set(problem, STATUS_OUT_OF_MEMORY,
                           "no host memory for the values of a program");
    cells->context = *context;
    *out = cells;
    return STATUS_OK;
}

static void free_list(struct lazy *lazy)
{
    while (lazy) {
        struct lazy *next = lazy->next;
        free(lazy);
        lazy = next;
    }
}

void cells_free(struct cells *cells)
{
    if (!cells)
        return;
    if (cells->executor)
        executor_set_lent(cells->executor, false);
    executor_free(cells->executor);
    for (struct lazy *lazy = cells->lazies; lazy; lazy = lazy->next)
        tensor_release(lazy->host);
    free_list(cells->lazies);
    free_list(cells->free_lazies);
    for (struct cell *cell = cells->first, *next; cell; cell = next) {
        next = cell->next;
        tensor_release(cell->tensor);
        storage_release(cell->storage);
        free(cell);
    }
    graph_free(cells->graph);
    free(cells);
}

const struct graph_context *cells_context(const struct cells *cells)
{
    return &cells->context;
}

struct graph *cells_graph(struct cells *cells, struct problem *problem)
{
    if (!cells->graph) {
        if (graph_create(&cells->context, &cells->graph, problem) != STATUS_OK)
            return NULL;
        cells->graph->is_program = true;
        cells->epoch++;
    }
    if (cells->place)
        graph_mark(cells->graph, cells->place(cells->place_context));
    return cells->graph;
}

void cells_set_place(struct cells *cells, const void *(*place)(void *context),
                     void *context)
{
    cells->place = place;
    cells->place_context = context;
}

int64_t cells_held(const struct cells *cells, int device)
{
    return cells->held[device];
}

// ---- Cells
struct cell *cell_new(struct cells *cells, struct device *device, enum dtype dtype,
                      int64_t count, struct problem *problem)
{
    struct cell *cell = malloc(sizeof *cell);
    if (!cell) {
        problem_set(problem, STATUS_OUT_OF_MEMORY,
                    "no host memory for a value of the program");
        return NULL;
    }
    *cell = (struct cell){.cells = cells,
                          .device = device,
                          .dtype = dtype,
                          .count = count,
                          .next = cells->first};
    if (cell->next)
        cell->next->previous = cell;
    cells->first = cell;
    return cell;
}

static bool is_owned(const struct cell *cell)
{
    return cell->tensor && cell->tensor->storage != cell->storage;
}

void cell_clear(struct cell *cell)
{
    struct cells *cells = cell->cells;
    int device = cell->device->index;
    if (cell->node && cell_pending(cell)) {
        cells->pending[device] -= cell_bytes(cell);
        cells->n_pending--;
    }
    if (is_owned(cell)) {
        // The SOURCE holds the memory until the graph goes.
        if (cell->node)
            cells->leaving[device] += cell_bytes(cell);
        else
            cells->held[device] -= cell_bytes(cell);
    }
    tensor_release(cell->tensor);
    cell->tensor = NULL;
    cell->node = NULL;
}

void cell_release(struct cell *cell)
{
    if (--cell->references > 0)
        return;
    // Bound cells keep a reference of their own: this one is in no bucket.
    cell_clear(cell);
    if (cell->next)
        cell->next->previous = cell->previous;
    if (cell->previous)
        cell->previous->next = cell->next;
    else
        cell->cells->first = cell->next;
    free(cell);
}

static bool is_content_kind(const struct node *node)
{
    return node->kind != NODE_SOURCE && node->kind != NODE_VIEW &&
           node->kind != NODE_CONSTANT && node->kind != NODE_INDEX;
}

enum status cell_set_node(struct cell *cell, struct node *node, struct problem *problem)
{
    struct graph *graph = cell->cells->graph;
    if (node->is_content || !is_content_kind(node)) {
        const struct layout *layout =
            graph_layout(graph, node->layout->ndim, node->layout->shape,
                         (enum dtype)node->dtype, problem);
        node = layout ? node_clone(graph, node, layout, problem) : NULL;
        if (!node)
            return problem->status;
    }
    cell_clear(cell);
    node->is_content = true;
    cell->node = node;
    cell->cells->pending[cell->device->index] += cell_bytes(cell);
    cell->cells->n_pending++;
    return STATUS_OK;
}

void cell_set_tensor(struct cell *cell, struct tensor *tensor)
{
    cell_clear(cell);
    cell->tensor = tensor;
    if (is_owned(cell))
        cell->cells->held[cell->device->index] += cell_bytes(cell);
}

struct node *cell_node(struct cell *cell, struct problem *problem)
{
    struct graph *graph = cells_graph(cell->cells, problem);
    if (!graph || cell->node)
        return graph ? cell->node : NULL;
    if (graph_source(graph, cell->tensor, &cell->node, problem) != STATUS_OK)
        return NULL;
    cell->node->is_content = true;
    return cell->node;
}

// ---- Existing tensors
static struct cell **bucket_of(struct cells *cells, const struct storage *storage)
{
    return &cells->bound[storage_id(storage) % BUCKETS];
}

// The whole storage in C order: tensor itself if it is that.
static struct tensor *whole_of(struct tensor *tensor, int64_t count,
                               struct problem *problem)
{
    if (tensor->offset == 0 && tensor_count(tensor) == count &&
        layout_is_canonical(&tensor->layout))
        return tensor_reference(tensor);
    struct layout flat = {.ndim = 1, .shape = {count}, .strides = {1}};
    struct tensor *whole;
    return tensor_create(tensor->storage, 0, tensor->dtype, &flat, &whole, problem) ==
                   STATUS_OK
               ? whole
               : NULL;
}

static struct cell *bind(struct cells *cells, struct tensor *tensor,
                         struct problem *problem)
{
    int64_t count = storage_bytes(tensor->storage) / dtype_size(tensor->dtype);
    struct tensor *whole = whole_of(tensor, count, problem);
    struct cell *cell =
        whole ? cell_new(cells, tensor_device(tensor), tensor->dtype, count, problem)
              : NULL;
    if (!cell) {
        tensor_release(whole);
        return NULL;
    }
    struct cell **bucket = bucket_of(cells, tensor->storage);
    cell->storage = storage_reference(tensor->storage);
    cell->references = 1;
    cell->chain = *bucket;
    *bucket = cell;
    cell_set_tensor(cell, whole);
    return cell;
}

enum status cells_import(struct cells *cells, struct tensor *tensor, bool readonly,
                         struct lazy **out, struct problem *problem)
{
    struct cell *cell = *bucket_of(cells, tensor->storage);
    while (cell && cell->storage != tensor->storage)
        cell = cell->chain;
    if (!cell && !(cell = bind(cells, tensor, problem)))
        return problem->status;
    cell->readonly = cell->readonly || readonly;
    *out = lazy_new(cell, &tensor->layout, tensor->offset, problem);
    return *out ? STATUS_OK : problem->status;
}

// ---- Literals
// Memory of the host for bytes; the program holds memory, so it does not wait for more.
static struct block *literal_block(struct cells *cells, int64_t bytes,
                                   struct problem *problem)
{
    struct account *account = cells->context.account;
    struct block *block;
    switch (ledger_reserve_more(account, 0, bytes, cells->held[0], problem)) {
    case ADMISSION_READY:
        break;
    case ADMISSION_WAIT:
        problem_set(
            problem, STATUS_QUEUE_FULL,
            "running requests hold the memory that the program needs now; send it "
            "again in a moment");
        problem->retry_after = 1;
        return NULL;
    case ADMISSION_NEVER:
        return NULL;
    }
    if (block_create(cells->context.devices[0], account, bytes, &block, problem) ==
        STATUS_OK)
        return block;
    ledger_unreserve(account, 0, bytes);
    return NULL;
}

static struct tensor *literal_tensor(struct cells *cells, enum dtype dtype,
                                     const struct layout *layout, int64_t bytes,
                                     const void *elements, struct problem *problem)
{
    struct storage *storage;
    struct tensor *tensor = NULL;
    struct block *block = literal_block(cells, bytes, problem);
    if (!block)
        return NULL;
    if (storage_create(block, &storage, problem) != STATUS_OK) {
        block_release(block);
        return NULL;
    }
    if (bytes > 0)
        memcpy(block->data, elements, (size_t)bytes);
    if (tensor_create(storage, 0, dtype, layout, &tensor, problem) != STATUS_OK)
        tensor = NULL;
    storage_release(storage);
    return tensor;
}

// One element is a constant of the passes that use it.
static struct node *literal_node(struct cells *cells, enum dtype dtype,
                                 const struct layout *shape, const void *elements,
                                 struct problem *problem)
{
    struct graph *graph = cells_graph(cells, problem);
    union element element = {.i64 = 0};
    memcpy(&element, elements, (size_t)dtype_size(dtype));
    const struct layout *layout =
        graph ? graph_layout(graph, shape->ndim, shape->shape, dtype, problem) : NULL;
    return layout ? node_fill(graph, element, dtype, layout, cells->context.devices[0],
                              problem)
                  : NULL;
}

enum status cells_literal(struct cells *cells, enum dtype dtype,
                          const struct layout *shape, const void *elements,
                          struct lazy **out, struct problem *problem)
{
    struct layout layout;
    int64_t count;
    enum status status =
        shape_check(shape->ndim, shape->shape, dtype_size(dtype), &count, problem);
    if (status != STATUS_OK)
        return status;
    layout_copy(&layout, shape);
    layout_contiguous(&layout);
    struct cell *cell = cell_new(cells, cells->context.devices[0], dtype, count, problem);
    if (!cell)
        return problem->status;
    cell->references = 1;
    *out = NULL;
    struct node *node = NULL;
    struct tensor *tensor = NULL;
    if (count == 1)
        node = literal_node(cells, dtype, &layout, elements, problem);
    else
        tensor = literal_tensor(cells, dtype, &layout, count * dtype_size(dtype),
                                elements, problem);
    if (tensor)
        cell_set_tensor(cell, tensor);
    if (tensor || (node && cell_set_node(cell, node, problem) == STATUS_OK))
        *out = lazy_new(cell, &layout, 0, problem);
    cell_release(cell);
    return *out ? STATUS_OK : problem->status;
}

// ---- Random state
enum status cells_seed(struct cells *cells, int device, uint64_t seed)
{
    struct graph_context *context = &cells->context;
    struct problem *problem = &(struct problem){.status = STATUS_OK};
    if (device >= context->n_devices)
        return STATUS_DEVICE;
    struct graph *graph = cells_graph(cells, problem);
    if (!graph)
        return problem->status;
    for (int i = 0; i < context->n_devices; i++)
        if (device < 0 || i == device)
            graph->seeds[i] = cells->seeds[i] = (struct seed){.set = true, .value = seed};
    return STATUS_OK;
}

uint64_t cells_initial_seed(const struct cells *cells, int device)
{
    if (cells->seeds[device].set || !cells->context.generators)
        return cells->seeds[device].value;
    return working_initial_seed(cells->context.generators, device);
}

void cells_apply_seeds(struct cells *cells)
{
    struct graph_context *context = &cells->context;
    for (int i = 0; cells->graph && context->generators && i < context->n_devices; i++) {
        struct seed *seed = &cells->graph->seeds[i];
        if (seed->set)
            generator_seed(working_generator(context->generators, i), i == 0,
                           seed->value);
        seed->set = false;
    }
}

void cells_store_generators(struct cells *cells)
{
    cells_apply_seeds(cells);
    if (cells->context.generators)
        working_store(cells->context.generators);
}
