// SPDX-License-Identifier: Apache-2.0
// The structures behind cells.h, for cells.c (life, imports), lazy.c (views, writes),
// lazy_op.c (operations) and cells_flush.c (elements, the end).
//
// Invariants. The content of a cell is canonical: C-contiguous from the first element of
// its memory, whatever shape its node or tensor happens to have. It is pending (a
// computed node, no tensor) or computed (a tensor; the node, if any, is the SOURCE of it
// in the current graph). A computed node is the content of at most one cell
// (node.is_content), so that every cell gets memory of its own.
#ifndef TENSORD_TENSOR_CELLS_INTERNAL_H
#define TENSORD_TENSOR_CELLS_INTERNAL_H

#include "tensor/cells.h"
#include "tensor/graph_internal.h"

struct cell {
    struct cell *next, *previous; // of all cells
    struct cell *chain;           // of its bucket, if bound
    struct cells *cells;
    int64_t references; // lazies, and 1 if it is bound
    struct device *device;
    enum dtype dtype;
    bool readonly, written;  // written: since it was imported
    uint32_t version;        // writes so far: host copies of an older one are out of date
    int64_t count;           // elements
    uint64_t id;             // for data_ptr(); 0: nobody has asked
    struct storage *storage; // that it is bound to (a reference), or NULL
    struct tensor *tensor;
    struct node *node;
};

struct lazy {
    struct lazy *next, *previous; // of all lazies; next: of the free ones
    struct cell *cell;
    int64_t references;
    int64_t offset, count;
    // The node that reads it, while `content` is its cell's content in graph `epoch`.
    struct node *read, *content;
    uint64_t epoch;
    // Its elements on the host, of the cell's version host_version; a reference.
    struct tensor *host;
    uint32_t host_version;
    bool wanted;        // is on the list of those whose elements are wanted
    int64_t host_bytes; // that `host` holds beside the cell
    struct lazy *next_wanted;
    struct layout layout; // only the first ndim entries exist
};

enum { BUCKETS = 64, POOLED_NDIM = 8 };

struct cells {
    struct graph_context context;
    struct graph *graph; // made when it is needed
    uint64_t epoch;      // counts graphs
    const void *(*place)(void *context); // cells_set_place
    void *place_context;
    struct cell *first;
    struct cell *bound[BUCKETS]; // by storage
    struct lazy *lazies, *free_lazies;
    struct lazy *wanted; // each holds a reference
    int64_t n_pending;
    int64_t pending[LEDGER_MAX_DEVICES]; // bytes that pending contents will take
    int64_t held[LEDGER_MAX_DEVICES];
    int64_t leaving[LEDGER_MAX_DEVICES]; // of held: only the graph still needs it
    // The seed that manual_seed gave last.
    struct seed seeds[LEDGER_MAX_DEVICES];
    // A flush
    struct executor *executor;
    int64_t n_roots, n_wanted; // cells first, then lazies
    struct cell **root_cells;
    struct lazy **root_lazies;
};

static inline int64_t cell_bytes(const struct cell *cell)
{
    return cell->count * dtype_size(cell->dtype); // checked when it was made
}
static inline bool cell_pending(const struct cell *cell)
{
    return cell->tensor == NULL;
}
// The current graph. NULL: problem set.
struct graph *cells_graph(struct cells *cells, struct problem *problem);
// A cell without content and references, on the list.
struct cell *cell_new(struct cells *cells, struct device *device, enum dtype dtype,
                      int64_t count, struct problem *problem);
void cell_release(struct cell *cell);
// Gives up the content.
void cell_clear(struct cell *cell);
// node, of the current graph, becomes the content; it is copied if it is not canonical or
// another cell's.
enum status cell_set_node(struct cell *cell, struct node *node, struct problem *problem);
// Takes the reference.
void cell_set_tensor(struct cell *cell, struct tensor *tensor);
// The content as a node of the current graph.
struct node *cell_node(struct cell *cell, struct problem *problem);
// A view of the cell (a reference of its own to it).
struct lazy *lazy_new(struct cell *cell, const struct layout *layout, int64_t offset,
                      struct problem *problem);
// The elements as a node of the current graph.
struct node *lazy_node(struct lazy *lazy, struct problem *problem);
// uniform: all elements get the same value, so that repeated ones may be written.
enum status lazy_check_writable(const struct lazy *target, bool uniform,
                                struct problem *problem);
// Writes a node that graph_convert has made; target is writable.
enum status lazy_write_node(struct lazy *target, struct node *value,
                            struct problem *problem);
void lazy_drop_host(struct lazy *lazy);
// Seeds that no draw has taken along, in the working generators.
void cells_apply_seeds(struct cells *cells);
#endif
