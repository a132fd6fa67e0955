// SPDX-License-Identifier: Apache-2.0
// What a program computes with: lazy tensors, whose elements are computed when somebody needs
// them, and which may be written.
//
// A cell is the content of one storage as the program sees it at this moment: an existing
// storage (bound) or one that will exist; all views of it share the cell. Its content is a
// node of the current graph or a block that has been computed. Writing replaces the content:
// a write to the whole cell is just another node, one to a part a NODE_UPDATE of the old
// content; whoever read before keeps the node he read. So `y = x + 1; x[0] = 9; y` and
// `x[1:] = x[:-1]` need no order but that of the program, and nothing that existed before is
// touched until the commit.
//
//   lazy (dtype, layout, offset) -> cell -> node of the graph | tensor
//
// A flush computes the content of every cell that is alive, in one executor, and starts a new
// graph: read (vm_host), branch, end of the program, or a graph that grew large. Operations
// that may fail by their elements (integer division) and random draws are roots too, whether
// their value is alive or not.
// Random numbers are drawn in the order of the program from the working copies of the user's
// generators (generators.h), which are stored back at the commit.
// Ownership: lazies are counted (not atomically). Threads: one at a time; the flush's executor
// runs where executor.h says.
#ifndef TENSORD_TENSOR_CELLS_H
#define TENSORD_TENSOR_CELLS_H

#include "tensor/executor.h"
#include "tensor/generators.h"
#include "tensor/graph.h"

struct cells; // of one program
struct lazy;

// context.generators is set by cells_create's caller (may be NULL: then random operations are
// STATUS_NOT_IMPLEMENTED).
enum status cells_create(const struct graph_context *context, struct cells **out,
                         struct problem *problem);
// All lazies have been released, or are forgotten: their memory goes too.
void cells_free(struct cells *cells);
const struct graph_context *cells_context(const struct cells *cells);
// Who says where an operation stands in the program (graph_mark); called when one is recorded.
void cells_set_place(struct cells *cells, const void *(*place)(void *context),
                     void *context);

// An existing tensor. Tensors of one storage share a cell. readonly: every write through any
// view of it is STATUS_FORBIDDEN.
enum status cells_import(struct cells *cells, struct tensor *tensor, bool readonly,
                         struct lazy **out, struct problem *problem);
// Host elements that the program brings along (torch.tensor([...])): copied, C-contiguous, on
// the host. Admitted as memory; small ones (up to 64 elements) may become constants.
enum status cells_literal(struct cells *cells, enum dtype dtype,
                          const struct layout *shape, const void *elements,
                          struct lazy **out, struct problem *problem);

struct lazy *lazy_reference(struct lazy *lazy);
void lazy_release(struct lazy *lazy); // NULL is ignored
enum dtype lazy_dtype(const struct lazy *lazy);
const struct layout *lazy_layout(const struct lazy *lazy); // with true strides
int64_t lazy_offset(const struct lazy *lazy);              // elements
int64_t lazy_count(const struct lazy *lazy);
struct device *lazy_device(const struct lazy *lazy);
bool lazy_same_cell(const struct lazy *a, const struct lazy *b);
uint64_t lazy_storage_id(const struct lazy *lazy); // opaque, for data_ptr()
int64_t lazy_storage_count(const struct lazy *lazy); // elements of the whole cell

// An argument of an operation: as graph.h's, with lazies for tensors.
struct lazy_argument {
    enum argument_kind kind;
    bool is_number; // ARGUMENT_TENSOR: `number` stands in the position (a Python scalar)
    union {
        struct lazy *tensor;
        struct {
            int count;
            struct lazy *const *items;
        } tensors;
        struct scalar number;
        int64_t integer;
        struct {
            int count;
            const int64_t *items;
        } integers;
        double real;
        bool boolean;
        struct {
            const char *text;
            size_t length;
        } string;
        enum dtype dtype;
        struct device *device;
    };
};
// One operation of the table, one argument per parameter of its row. View operations give
// views of the same cell (reshape and flatten where they can; contiguous, expand too: the
// very same lazy with another reference where torch returns self, as in x.to("cpu") is x).
// in_place writes argument 0, whose lazy is the result. results: OP_MAX_RESULTS places, new
// references. Errors as graph_op's.
enum status lazy_op(struct cells *cells, enum op op, bool in_place,
                    const struct lazy_argument *arguments, struct lazy **results,
                    int *n_results, struct problem *problem);
// Another view of lazy's cell; every element must lie inside it (STATUS_SHAPE).
enum status lazy_view(struct lazy *lazy, const struct layout *layout, int64_t offset,
                      struct lazy **out, struct problem *problem);
// target[...] = value: broadcast and converted (promote_can_cast does not matter, as in
// torch's index assignment). value may overlap target: it is read as it was before.
enum status lazy_write(struct cells *cells, struct lazy *target, struct lazy *value,
                       struct problem *problem);
enum status lazy_write_number(struct cells *cells, struct lazy *target,
                              struct scalar value, struct problem *problem);

// ---- Random state
enum status cells_seed(struct cells *cells, int device, uint64_t seed); // -1: all devices
uint64_t cells_initial_seed(const struct cells *cells, int device);

// ---- Elements
// The elements now, C-contiguous on the host, borrowed until the next call of any function
// here; NULL: noted as wanted, flush and ask again.
enum status cells_host(struct cells *cells, struct lazy *lazy, struct tensor **out,
                       struct problem *problem);
// The graph is large, or its temporaries would hold much memory: flush soon.
bool cells_pressure(const struct cells *cells);
// Something is not computed yet, or wanted on the host.
bool cells_dirty(const struct cells *cells);
// The executor that computes everything alive. Admit and step it, then cells_flush_end; after a
// failure only cells_free may follow. *out is NULL if there is nothing to do. It is lent:
// executor_free stops it and no more, the cells free it.
enum status cells_flush_begin(struct cells *cells, struct executor **out,
                              struct problem *problem);
enum status cells_flush_end(struct cells *cells, struct problem *problem);
// Bytes of memory that the program's cells hold on a device (transient: executor_set_held).
int64_t cells_held(const struct cells *cells, int device);

// ---- The end: after a flush, when nothing is dirty.
// The tensor that lazy is (a new reference): a view of the storage its cell is bound to or has
// been given.
enum status lazy_tensor(struct lazy *lazy, struct tensor **out, struct problem *problem);
// Existing storages that were written, and their new blocks (references of the caller's, which
// registry_commit takes). *writes is malloc'ed.
enum status cells_writes(struct cells *cells, struct registry_write **writes, int *count,
                         struct problem *problem);
// Stores the working copies of the generators that were used: part of the commit, cannot fail.
void cells_store_generators(struct cells *cells);
#endif
