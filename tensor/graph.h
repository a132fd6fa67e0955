// SPDX-License-Identifier: Apache-2.0
// The lazy graph of one request: nodes with known dtype, shape and device whose values
// are not computed yet. Builders (ops_*.c, one per row of ops.def) add nodes after
// checking dtypes, shapes and devices; the planner turns chains of elementwise nodes,
// with a reduction at the end, into passes; the executor runs them. POST /v1/ops builds
// the nodes of one operation; programs will build many.
//
// Ownership: the graph owns its nodes (one arena, freed together). One thread at a time.
#ifndef TENSORD_TENSOR_GRAPH_H
#define TENSORD_TENSOR_GRAPH_H

#include "kernels/ops.h"
#include "tensor/shape.h"

struct graph;
struct node;

struct working_generators; // tensor/generators.h

// devices: the daemon's table (borrowed). account pays for everything the graph computes.
struct graph_context {
    struct device *const *devices; // a NULL entry is a device that failed
    int n_devices;
    struct account *account;
    // Where random operations draw from; NULL: they are STATUS_NOT_IMPLEMENTED.
    struct working_generators *generators;
};
enum status graph_create(const struct graph_context *context, struct graph **out,
                         struct problem *problem);
void graph_free(struct graph *graph);

// A node whose value is an existing tensor (takes a reference of its own; pins its block
// when it runs).
enum status graph_source(struct graph *graph, struct tensor *tensor, struct node **out,
                         struct problem *problem);
// A 0-d node that is a weak Python scalar in promotion; it has no device.
enum status graph_scalar(struct graph *graph, struct scalar scalar, struct node **out,
                         struct problem *problem);

// Where the nodes that are made from now on come from (a place in a program): opaque here;
// executor_mark gives it back for the node at which a run failed.
void graph_mark(struct graph *graph, const void *mark);

enum dtype node_dtype(const struct node *node);
// Shape; the strides are those the value has or will have.
const struct layout *node_layout(const struct node *node);
struct device *node_device(const struct node *node); // NULL for a scalar
// The existing tensor that a node is: a source, a view of one, the target of a write.
// Borrowed from the graph; NULL for a computed value.
struct tensor *node_tensor(const struct node *node);

// An argument, one per parameter of the row, in the signature's order. NONE where an
// optional one is absent and for absent ones with a default (builders know their
// defaults).
enum argument_kind {
    ARGUMENT_NONE,
    ARGUMENT_TENSOR,
    ARGUMENT_TENSORS,
    ARGUMENT_NUMBER,
    ARGUMENT_INT,
    ARGUMENT_INTS,
    ARGUMENT_FLOAT,
    ARGUMENT_BOOL,
    ARGUMENT_STR,
    ARGUMENT_DTYPE,
    ARGUMENT_DEVICE,
};
struct argument {
    enum argument_kind kind;
    union {
        struct node *tensor; // graph_scalar for a number in a Tensor position
        struct {
            int count;
            struct node **items;
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

enum { OP_MAX_RESULTS = 2 };
// Whether op draws random numbers (or may, as dropout).
bool op_draws(enum op op);
// Adds the nodes of op. in_place: the result is written to argument 0 (a source);
// results[0] is then its view (in the graph of a program: the value that its cell is to
// get, converted; see cells.h). Errors: STATUS_TYPE, SHAPE, DTYPE, DEVICE, INDEX, VALUE
// with the operands' shapes, dtypes or devices in problem.
enum status graph_op(struct graph *graph, enum op op, bool in_place,
                     const struct argument *arguments, struct node **results,
                     int *n_results, struct problem *problem);
// Writes value (broadcast, converted) into the elements of target, a view of an existing
// tensor: PUT ?index=.
enum status graph_write(struct graph *graph, struct tensor *target, struct node *value,
                        struct problem *problem);
// value as C-contiguous elements of dtype on device: read-back and uploads use it. A node
// that is so already is returned as it is, but for one that the graph writes: its new
// elements are copied out, since the tensor has them only after the commit.
enum status graph_materialize(struct graph *graph, struct node *value, enum dtype dtype,
                              struct device *device, struct node **out,
                              struct problem *problem);
#endif
