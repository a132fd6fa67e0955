// SPDX-License-Identifier: Apache-2.0
// From nodes to steps: which nodes run together as one pass, which are materialised, in
// which order, and which memory each needs. Only sizes are computed here; no memory of a
// device is touched.
//
// How it fuses. Nodes are visited from the newest to the oldest, so every consumer of a
// node has been seen before it. A pass starts at a node that must be in memory (a result,
// an operand of a product, a reduction, a node with consumers elsewhere) and takes in,
// newest first, elementwise nodes whose consumers all lie in the pass already, as long as
// the limits of struct pass hold; what it cannot take in becomes an input in memory.
// Threads: the graph's.
#ifndef TENSORD_TENSOR_PLANNER_H
#define TENSORD_TENSOR_PLANNER_H

#include "tensor/graph_internal.h"

enum step_kind {
    STEP_NOTHING, // a node without elements
    STEP_PASS,
    STEP_GEMM,
    STEP_SOFTMAX,
    STEP_COPY, // to another device
    STEP_RANDOM,
};

// Memory for nodes that need it one after another; a result's is its own.
struct buffer {
    struct buffer *next, *next_temporary;
    struct device *device;
    int64_t bytes;
    int last_step; // of the nodes that use it
    bool kept;     // beyond the last step: results and writes
    struct block *block;
};

struct step {
    struct step *next;
    int index;
    enum step_kind kind;
    struct node *node;     // whose buffer it writes
    struct device *device; // whose worker runs it
    int64_t cost;          // estimated nanoseconds on one core
    // In memory, or constants and the index; of a pass: its inputs, in order.
    int n_reads;
    struct node **reads;
    struct node *base; // of an UPDATE: what its elements were before; or NULL
    // Passes
    struct node *value; // what is computed: the last register
    const struct layout *space;
    uint32_t reduced; // dims of the space
    int n_members;
    struct node **members; // instructions, oldest first; CLONEs among them are none
    const int64_t *output_strides; // over the space; NULL: contiguous over the kept dims
    int64_t output_offset;         // in elements
    bool may_fault;                // integer division
};

struct schedule {
    struct graph *graph;
    struct step *steps;
    int n_steps;
    struct buffer *buffers, *temporaries; // temporaries: those that may serve again
};

// Steps for the roots and all writes of the graph. Memory is the graph's.
// STATUS_OUT_OF_MEMORY, STATUS_SHAPE (sizes), STATUS_TYPE (a root that is a bare number).
enum status schedule_make(struct graph *graph, int n_roots, struct node *const *roots,
                          struct schedule *out, struct problem *problem);
// Gives every node of the steps its memory: schedule->buffers. The first thing
// schedule_make's caller does.
enum status schedule_memory(struct schedule *schedule, struct problem *problem);
// The node whose memory a read looks at: the base of a view, the WRITE behind a source,
// or the node itself.
struct node *node_base(struct node *node);
// Of an UPDATE: nobody else reads its base after it, so that it goes into the same
// memory.
static inline bool takes_over(const struct step *step)
{
    return step->base && step->base->plan.buffer == step->node->plan.buffer;
}
// True if both address the same elements in the same order; offsets apart.
bool layout_same_elements(const struct layout *a, const struct layout *b);
// True if both see the same elements of one storage in the same order.
bool tensor_same_elements(const struct tensor *a, const struct tensor *b);

// ---- Costs (planner_cost.c)
enum { COPIED_BYTES_PER_NANOSECOND = 8 };
// Nanoseconds for count things of `picoseconds` each; a step has its own price.
int64_t cost_of(double count, double picoseconds);
int64_t cost_of_opcode(const struct node *node); // of a MAP: picoseconds an element
int64_t cost_of_gemm(const struct node *node);

// ---- Building a pass (planner_pass.c)
// The outer-th pass of a step, with addresses; `output`: the first element of the node's
// buffer. A layout of more than 8 dims is looped over from outside: *n_outer passes in
// all.
void pass_build(const struct step *step, void *output, int64_t outer, struct pass *pass,
                int64_t *n_outer);
// The address of a node's first element in memory (its block is there), or NULL for
// constants and the index.
void *node_address(struct node *node);
#endif
