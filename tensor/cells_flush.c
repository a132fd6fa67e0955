// SPDX-License-Identifier: Apache-2.0
// Elements: computing everything that is alive in one executor, elements on the host, and
// what a program leaves behind (cells.h).
#include "tensor/cells_internal.h"

#include <assert.h>
#include <stdlib.h>

enum {
    MANY_NODES = 1500,
    FREE_SHARE = 4,           // of the account's free bytes, that may be pending
    LITTLE_PENDING = 16 << 20 // bytes, not worth asking the ledger
};

bool cells_pressure(const struct cells *cells)
{
    const struct graph *graph = cells->graph;
    if (graph && graph->newest && graph->newest->id > MANY_NODES)
        return true;
    for (int i = 0; i < cells->context.n_devices; i++)
        if (cells->pending[i] > LITTLE_PENDING &&
            cells->pending[i] > ledger_free_bytes(cells->context.account, i) / FREE_SHARE)
            return true;
    return false;
}

bool cells_dirty(const struct cells *cells)
{
    return cells->n_pending > 0 || cells->wanted ||
           (cells->graph && cells->graph->must_run);
}

// ---- Elements on the host
// The computed elements as they lie in the cell's memory; false if they do not lie so.
static enum status borrow(struct lazy *lazy, bool *lies, struct problem *problem)
{
    struct cell *cell = lazy->cell;
    *lies = !cell_pending(cell) && cell->device->is_host &&
            layout_is_contiguous(&lazy->layout);
    if (!*lies)
        return STATUS_OK;
    lazy_drop_host(lazy);
    lazy->host_version = cell->version;
    if (lazy->offset == 0 && layout_same_shape(&cell->tensor->layout, &lazy->layout)) {
        lazy->host = tensor_reference(cell->tensor);
        return STATUS_OK;
    }
    return tensor_create(cell->tensor->storage, lazy->offset, cell->dtype, &lazy->layout,
                         &lazy->host, problem);
}

enum status cells_host(struct cells *cells, struct lazy *lazy, struct tensor **out,
                       struct problem *problem)
{
    if (lazy->host && lazy->host_version != lazy->cell->version)
        lazy_drop_host(lazy);
    *out = lazy->host;
    if (*out || lazy->wanted)
        return STATUS_OK;
    bool lies;
    enum status status = borrow(lazy, &lies, problem);
    if (status != STATUS_OK)
        return status;
    *out = lazy->host;
    if (lies)
        return STATUS_OK;
    lazy->wanted = true;
    lazy->next_wanted = cells->wanted;
    cells->wanted = lazy_reference(lazy);
    return STATUS_OK;
}

// ---- The flush
static int64_t count_wanted(const struct cells *cells)
{
    int64_t n = 0;
    for (const struct lazy *lazy = cells->wanted; lazy; lazy = lazy->next_wanted)
        n++;
    return n;
}

static enum status gather_roots(struct cells *cells, struct node **roots,
                                struct problem *problem)
{
    int64_t n = 0;
    for (struct cell *cell = cells->first; cell; cell = cell->next)
        if (cell_pending(cell)) {
            cells->root_cells[n] = cell;
            roots[n++] = cell->node;
        }
    cells->n_roots = n;
    for (struct lazy *lazy = cells->wanted; lazy; lazy = lazy->next_wanted) {
        struct node *node = lazy_node(lazy, problem);
        if (!node ||
            graph_materialize(cells->graph, node, lazy->cell->dtype,
                              cells->context.devices[0], &roots[n], problem) != STATUS_OK)
            return problem->status;
        cells->root_lazies[n++ - cells->n_roots] = lazy;
    }
    cells->n_wanted = n - cells->n_roots;
    return STATUS_OK;
}

enum status cells_flush_begin(struct cells *cells, struct executor **out,
                              struct problem *problem)
{
    *out = NULL;
    if (!cells_dirty(cells))
        return STATUS_OK;
    assert(!cells->executor);
    struct graph *graph = cells_graph(cells, problem);
    if (!graph)
        return problem->status;
    size_t n = (size_t)(cells->n_pending + count_wanted(cells));
    struct node **roots = graph_take(graph, n * sizeof *roots, problem);
    cells->root_cells =
        graph_take(graph, (size_t)cells->n_pending * sizeof *cells->root_cells, problem);
    cells->root_lazies = graph_take(graph, n * sizeof *cells->root_lazies, problem);
    if (!roots || !cells->root_cells || !cells->root_lazies)
        return problem->status;
    enum status status = gather_roots(cells, roots, problem);
    if (status == STATUS_OK)
        status = executor_create(graph, (int)(cells->n_roots + cells->n_wanted), roots,
                                 &cells->executor, problem);
    if (status != STATUS_OK)
        return status;
    executor_set_private(cells->executor);
    executor_set_lent(cells->executor, true);
    for (int i = 0; i < cells->context.n_devices; i++)
        executor_set_held(cells->executor, i, cells->held[i]);
    *out = cells->executor;
    return STATUS_OK;
}

static void set_host(struct lazy *lazy, struct tensor *tensor)
{
    struct cell *cell = lazy->cell;
    lazy_drop_host(lazy);
    lazy->host = tensor;
    lazy->host_version = cell->version;
    // A view of the cell's own memory holds nothing more.
    bool shares = (cell->tensor && tensor->storage == cell->tensor->storage) ||
                  tensor->storage == cell->storage;
    lazy->host_bytes = shares ? 0 : storage_bytes(tensor->storage);
    cell->cells->held[0] += lazy->host_bytes;
}

static enum status take_results(struct cells *cells, struct problem *problem)
{
    int64_t n = cells->n_roots + cells->n_wanted;
    for (int64_t i = 0; i < n; i++) {
        struct tensor *tensor;
        enum status status = executor_result(cells->executor, (int)i, &tensor, problem);
        if (status != STATUS_OK)
            return status;
        if (i < cells->n_roots)
            cell_set_tensor(cells->root_cells[i], tensor);
        else
            set_host(cells->root_lazies[i - cells->n_roots], tensor);
    }
    return STATUS_OK;
}

static void drop_graph(struct cells *cells)
{
    executor_set_lent(cells->executor, false);
    executor_free(cells->executor);
    cells->executor = NULL;
    for (struct cell *cell = cells->first; cell; cell = cell->next)
        cell->node = NULL;
    graph_free(cells->graph);
    cells->graph = NULL;
    for (int i = 0; i < cells->context.n_devices; i++) {
        cells->held[i] -= cells->leaving[i];
        cells->leaving[i] = 0;
    }
}

enum status cells_flush_end(struct cells *cells, struct problem *problem)
{
    if (!cells->executor)
        return STATUS_OK;
    enum status status = take_results(cells, problem);
    if (status != STATUS_OK)
        return status;
    cells_apply_seeds(cells);
    drop_graph(cells);
    while (cells->wanted) {
        struct lazy *lazy = cells->wanted;
        cells->wanted = lazy->next_wanted;
        lazy->wanted = false;
        lazy_release(lazy);
    }
    return STATUS_OK;
}

// ---- The end
enum status lazy_tensor(struct lazy *lazy, struct tensor **out, struct problem *problem)
{
    struct cell *cell = lazy->cell;
    assert(!cell_pending(cell)); // a flush came before
    return tensor_create(cell->storage ? cell->storage : cell->tensor->storage,
                         lazy->offset, cell->dtype, &lazy->layout, out, problem);
}

static bool is_write(const struct cell *cell)
{
    return cell->storage && cell->written && !cell_pending(cell);
}

enum status cells_writes(struct cells *cells, struct registry_write **writes, int *count,
                         struct problem *problem)
{
    int n = 0;
    for (const struct cell *cell = cells->first; cell; cell = cell->next)
        n += is_write(cell);
    *writes = NULL;
    *count = 0;
    if (n == 0)
        return STATUS_OK;
    struct registry_write *items = malloc((size_t)n * sizeof *items);
    if (!items)
        return problem_set(problem, STATUS_OUT_OF_MEMORY,
                           "no host memory for the writes of a program");
    n = 0;
    for (const struct cell *cell = cells->first; cell; cell = cell->next)
        if (is_write(cell))
            items[n++] = (struct registry_write){
                .storage = cell->storage, .block = storage_pin(cell->tensor->storage)};
    *writes = items;
    *count = n;
    return STATUS_OK;
}
