// SPDX-License-Identifier: Apache-2.0
// The nodes of a graph, for those who make them (graph.c, node.c, operands.c, ops_*.c)
// and those who run them (planner.c, executor*.c). Nobody else includes this.
//
// Invariants. A node's inputs are older than itself, so walking from the newest to the
// oldest is a reverse topological order. dtype, shape and device never change. Every node
// but a SCALAR has a device. The layout of a computed node is C-contiguous: that is how
// it is materialised.
#ifndef TENSORD_TENSOR_GRAPH_INTERNAL_H
#define TENSORD_TENSOR_GRAPH_INTERNAL_H

#include "kernels/base/size.h"
#include "kernels/device.h"
#include "kernels/pass.h"
#include "tensor/arena.h"
#include "tensor/graph.h"
#include "tensor/ledger.h"

enum node_kind {
    NODE_SOURCE, // an existing tensor, as the request found it or as an earlier WRITE of
                 // the graph left it
    NODE_SCALAR, // a Python number: weak in promotion; becomes a CONSTANT where it is
                 // used
    NODE_CONSTANT, // one element, 0-d, of a pass
    NODE_INDEX,    // int64: the linear index of each element
    NODE_MAP,      // op (enum map_op) in the computation dtype `computation`
    NODE_CLONE,    // the input broadcast to this shape; no arithmetic
    NODE_REDUCE,   // reduction of the dims in `dims`
    NODE_GEMM,     // strides in *gemm, pointers still missing
    NODE_SOFTMAX,  // of a contiguous input
    NODE_VIEW,     // of a computed node: layout and offset in its block
    NODE_CONCAT,   // the inputs one after another along `dim`
    NODE_COPY,     // of a contiguous input, to another device
    NODE_WRITE,    // the input, converted already, written into the elements of a tensor
    NODE_UPDATE, // input 1 (none: all of it is written) but for a part, which is input 0
    NODE_RANDOM, // drawn from the generator of its device
};

// What a RANDOM draws (kernels/random.h, struct random).
struct draw {
    enum random_form form;
    double low, high;
    int64_t base;
    uint64_t range;
    // Element by element, as PyTorch draws the normals of a tensor that is not
    // contiguous.
    bool one_by_one;
    bool seeds; // the generator is seeded first
    uint64_t seed;
};

struct node {
    struct node *older;
    const struct layout *layout;
    struct device *device;
    struct node **inputs;
    struct node *few_inputs[3]; // where `inputs` points if there are at most 3
    int n_inputs;
    const void *mark; // graph_mark
    uint32_t id;  // rises with every node of the graph
    uint8_t kind; // enum node_kind
    uint8_t dtype;
    uint8_t op;          // MAP: enum map_op; REDUCE: enum pass_reduce
    uint8_t computation; // MAP: computation dtype
    bool contiguous;
    bool may_fault;  // by its elements: integer division by what may be zero
    bool must_run;   // even if nobody needs its value
    bool is_content; // of a cell (cells.h)
    // The UPDATE whose base it is, by id, or 0. Elementwise readers that are older run
    // before it, so that it may take over the memory.
    uint32_t updated_by;
    int64_t count; // elements
    union {
        struct {
            struct tensor *tensor;
            struct node *after; // the WRITE of this graph whose effect is seen, or NULL
        } source;
        struct scalar scalar;
        union element constant;
        uint32_t dims;  // REDUCE: bit d: dim d of the input is reduced
        int dim;        // CONCAT, SOFTMAX
        int64_t offset; // VIEW, in elements of the input's memory
        const struct gemm *gemm;
        struct {
            struct tensor *tensor;
            struct node *previous; // the WRITE before it to the same storage, or NULL
        } write;
        struct {
            const struct layout *part; // in the elements of the UPDATE
            int64_t offset;
        } update;
        struct draw draw; // RANDOM
    };
    // The planner's and the executor's notes; reset by executor_create.
    struct {
        uint32_t uses; // by needed nodes and roots
        uint32_t seen; // of them inside the pass being gathered
        uint32_t pass; // in which `seen` counts
        int first_step, last_step;
        uint8_t reg; // in the pass being built
        bool needed, required, result;
        struct buffer *buffer;   // computed nodes and WRITEs
        struct block *block;     // SOURCE: pinned
        struct storage *storage; // results
    } plan;
};

struct graph {
    struct arena arena;
    const void *mark; // of the nodes to come
    struct graph_context context;
    struct node *newest;
    struct node *newest_write; // linked by few_inputs[1]
    // Of a program: nothing is written (cells.h does it by UPDATEs), and a view of a
    // SOURCE is a VIEW.
    bool is_program;
    bool must_run; // there is a node that must run
    // Of the devices: the seed that the next RANDOM there takes along.
    struct seed {
        bool set;
        uint64_t value;
    } seeds[LEDGER_MAX_DEVICES];
};

// ---- Making nodes (node.c). All return NULL with problem filled when memory is out or a
// size is too large.
void *graph_take(struct graph *graph, size_t size, struct problem *problem);
// A contiguous layout in the arena. Sizes have been checked (shape_check) for
// element_size.
const struct layout *graph_layout(struct graph *graph, int ndim, const int64_t *shape,
                                  enum dtype dtype, struct problem *problem);
struct node *node_constant(struct graph *graph, union element element, enum dtype dtype,
                           struct device *device, struct problem *problem);
struct node *node_index(struct graph *graph, const struct layout *layout,
                        struct device *device, struct problem *problem);
// layout: contiguous, in the arena (or of an input); inputs broadcast to it.
struct node *node_map(struct graph *graph, enum map_op op, enum dtype computation, int n,
                      struct node *const *inputs, const struct layout *layout,
                      struct problem *problem);
// value in dtype: itself, another constant, or a cast.
struct node *node_cast(struct graph *graph, struct node *value, enum dtype dtype,
                       struct problem *problem);
struct node *node_clone(struct graph *graph, struct node *value,
                        const struct layout *layout, struct problem *problem);
// value with C-contiguous elements: itself if it is so.
struct node *node_contiguous(struct graph *graph, struct node *value,
                             struct problem *problem);
// A constant in every element of a shape.
struct node *node_fill(struct graph *graph, union element element, enum dtype dtype,
                       const struct layout *layout, struct device *device,
                       struct problem *problem);
struct node *node_reduce(struct graph *graph, enum pass_reduce reduce, struct node *value,
                         uint32_t dims, const struct layout *layout, enum dtype dtype,
                         struct problem *problem);
struct node *node_softmax(struct graph *graph, struct node *value, int dim,
                          struct problem *problem);
// Another layout over the elements of value, from `offset` (added to its own): a tensor
// on the same storage for a SOURCE (but in a program's graph), else a VIEW.
struct node *node_view(struct graph *graph, struct node *value,
                       const struct layout *layout, int64_t offset,
                       struct problem *problem);
struct node *node_gemm(struct graph *graph, struct node *a, struct node *b,
                       const struct gemm *gemm, const struct layout *layout,
                       struct problem *problem);
struct node *node_concat(struct graph *graph, int n, struct node *const *inputs, int dim,
                         const struct layout *layout, enum dtype dtype,
                         struct problem *problem);
// value on device: itself if it is there. From one CUDA device to another it passes
// through the host.
struct node *node_move(struct graph *graph, struct node *value, struct device *device,
                       struct problem *problem);
// value (converted already, broadcast) into the elements of target. NULL in *out when
// there are none.
enum status node_write(struct graph *graph, struct tensor *target, struct node *value,
                       struct problem *problem);
// base (NULL: all elements are written) with `part`, from `offset`, replaced by value
// (converted already, broadcast). layout: of the whole, canonical.
struct node *node_update(struct graph *graph, struct node *base, struct node *value,
                         const struct layout *layout, const struct layout *part,
                         int64_t offset, struct problem *problem);
// layout: contiguous, in the arena. STATUS_NOT_IMPLEMENTED without generators.
struct node *node_random(struct graph *graph, const struct draw *draw, enum dtype dtype,
                         const struct layout *layout, struct device *device,
                         struct problem *problem);
// value brought to dtype and device, if it broadcasts to the shape of `target`: what may
// be written there.
enum status graph_convert(struct graph *graph, enum dtype dtype,
                          const struct layout *target, struct device *device,
                          struct node *value, struct node **out, struct problem *problem);
// A copy of a layout in the arena.
const struct layout *layout_keep(struct graph *graph, const struct layout *layout,
                                 struct problem *problem);
// True if the layout addresses an element twice: then it cannot be written.
bool layout_overlaps_itself(const struct layout *layout);
// Exactly the strides that layout_contiguous gives: a computed node may share such a
// layout.
bool layout_is_canonical(const struct layout *layout);
bool layout_same_shape(const struct layout *a, const struct layout *b);
static inline bool node_is_scalar(const struct node *node)
{
    return node->kind == NODE_SCALAR;
}

// ---- Builders (ops_*.c): one per build symbol of ops.def.
struct build {
    struct graph *graph;
    enum op op;
    const struct op_row *row;
    const struct argument *arguments;
    struct node **results;
    int n_results; // set by graph_op to 1
    struct problem *problem;
};
typedef enum status build_function(struct build *build);
#define MAP(name, arity, dtypes, rule, integer, floating, signature, build, doc)         \
    build_function build_##build;
#define REDUCE(name, dtypes, rule, signature, build, doc) build_function build_##build;
#define CUSTOM(name, dtypes, rule, sliceable, signature, build, doc)                     \
    build_function build_##build;
#define VIEW(name, signature, build, doc) build_function build_##build;
#include "kernels/ops.def"

// Stores a result: STATUS_OK, or the problem's status if node is NULL.
static inline enum status build_result(struct build *build, struct node *node)
{
    build->results[0] = node;
    return node ? STATUS_OK : build->problem->status;
}

// Writes value into argument 0 (in a program's graph: the result is what its cell gets).
enum status build_write(struct build *build, struct node *value);

// ---- Operands of elementwise operations (operands.c).
enum { OPERANDS_MAX = 3 };
struct operands {
    int n;
    struct node *items[OPERANDS_MAX];
    const struct layout *layout; // the broadcast, contiguous
    enum dtype dtype;            // torch.result_type
    struct device *device;
};
// One device (a 0-d tensor on the host may meet a device: it is moved), one shape, one
// result_type, of which only the operands from `first_promoted` on count. At least one
// must be a tensor unless `allow_scalars`, which then live on the host.
enum status operands_prepare(struct build *build, int n, struct node *const *items,
                             int first_promoted, bool allow_scalars,
                             struct operands *out);
// An operand in the computation dtype. Numbers become constants: with `exact`, float32
// ones for float16 and bfloat16 (pass.h).
struct node *operand_convert(struct build *build, struct node *operand, enum dtype dtype,
                             struct device *device, bool exact);
// STATUS_DTYPE unless the opcode is compiled for dtype.
enum status operands_check_dtype(struct build *build, enum map_op op, enum dtype dtype);
// STATUS_DEVICE unless all n nodes (no scalars among them) are on one device.
enum status operands_same_device(struct build *build, int n, struct node *const *items);
// The number as an element of dtype; STATUS_VALUE if an integer or float dtype cannot
// hold it.
enum status scalar_checked(struct scalar scalar, enum dtype dtype, union element *out,
                           struct problem *problem);
// Fills the members shapes, dtypes and devices of a problem from the tensor arguments.
void problem_operands(struct problem *problem, const struct op_row *row,
                      const struct argument *arguments);

// The argument at index of the row, or NULL if it is absent.
static inline const struct argument *build_argument(const struct build *build, int index)
{
    const struct argument *argument = &build->arguments[index];
    return argument->kind == ARGUMENT_NONE ? NULL : argument;
}
// The tensor at index, refused (NULL, STATUS_TYPE) if it is a bare number.
struct node *build_tensor(struct build *build, int index);
// Dims of an int[]? or int? argument as a bit mask of ndim dims; all of them if absent or
// empty. STATUS_INDEX, STATUS_VALUE (twice the same).
enum status build_dims(struct build *build, int index, int ndim, uint32_t *out);
// The dtype (device) argument at index, or the default.
enum dtype build_dtype(const struct build *build, int index, enum dtype absent);
struct device *build_device(const struct build *build, int index, struct device *absent);
#endif
