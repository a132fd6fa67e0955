// SPDX-License-Identifier: Apache-2.0
// Choosing the steps of a graph. See planner.h for the idea.
#include "tensor/planner.h"

struct planner {
    struct graph *graph;
    struct step *steps; // newest node's first
    uint32_t pass;      // number of the pass being gathered
    struct problem *problem;
};

struct node *node_base(struct node *node)
{
    if (node->kind == NODE_VIEW)
        return node->inputs[0];
    return node->kind == NODE_SOURCE && node->source.after ? node->source.after : node;
}

bool layout_same_elements(const struct layout *a, const struct layout *b)
{
    if (!layout_same_shape(a, b))
        return false;
    for (int i = 0; i < a->ndim; i++)
        if (a->shape[i] != 1 && a->strides[i] != b->strides[i])
            return false;
    return true;
}

bool tensor_same_elements(const struct tensor *a, const struct tensor *b)
{
    return a->storage == b->storage && a->offset == b->offset && a->dtype == b->dtype &&
           layout_same_elements(&a->layout, &b->layout);
}

// Computed by a step of its own, or not at all.
static bool is_computed(const struct node *node)
{
    return node->kind != NODE_SOURCE && node->kind != NODE_CONSTANT &&
           node->kind != NODE_INDEX && node->kind != NODE_VIEW &&
           node->kind != NODE_SCALAR;
}

static void require(struct node *node)
{
    struct node *base = node_base(node);
    if (is_computed(base))
        base->plan.required = true;
}

// ---- Gathering a pass
struct gather {
    struct planner *planner;
    const struct layout *space;
    bool index_fits;         // the linear index means the same to members as to the pass
    const struct node *root; // the node the step computes, a member if it is elementwise
    int n_members, n_instructions, n_inputs, n_pending;
    struct node
        *members[2 * PASS_MAX_INSTRUCTIONS]; // newest first; CLONEs cost no instruction
    struct node *inputs[PASS_MAX_INPUTS];
    struct node *pending[PASS_MAX_INPUTS];
};

// Equal but for leading sizes of 1: then elements correspond, and linear indices too.
static bool same_elements(const struct layout *a, const struct layout *b)
{
    for (int i = 1; i <= a->ndim || i <= b->ndim; i++) {
        int64_t a_size = i <= a->ndim ? a->shape[a->ndim - i] : 1;
        int64_t b_size = i <= b->ndim ? b->shape[b->ndim - i] : 1;
        if (a_size != b_size)
            return false;
    }
    return true;
}

static bool is_elementwise(const struct node *node)
{
    return node->kind == NODE_MAP || node->kind == NODE_CLONE;
}

// Recomputed wherever it is used, in whatever shape: a constant, or the conversion of a
// stored value.
static bool is_cheap(const struct node *node)
{
    const struct node *input = node->inputs[0];
    if (node->kind == NODE_CLONE)
        return input->kind == NODE_CONSTANT;
    return node->op == MAP_CAST && input->kind != NODE_INDEX && !is_elementwise(input);
}

static bool holds(struct node *const *items, int n, const struct node *node)
{
    for (int i = 0; i < n; i++)
        if (items[i] == node)
            return true;
    return false;
}

static bool fits_limits(const struct gather *g, const struct node *node)
{
    int added = 0;
    for (int i = 0; i < node->n_inputs; i++)
        if (!holds(g->inputs, g->n_inputs, node->inputs[i]) &&
            !holds(g->pending, g->n_pending, node->inputs[i]) &&
            !holds(node->inputs, i, node->inputs[i]))
            added++;
    return g->n_inputs + g->n_pending + added <= PASS_MAX_INPUTS &&
           g->n_instructions + (node->kind == NODE_MAP) <= PASS_MAX_INSTRUCTIONS &&
           g->n_members < 2 * PASS_MAX_INSTRUCTIONS;
}

// Read before and after its memory is taken over: the older reader runs before that.
static bool is_updated(const struct gather *g, const struct node *reader,
                       struct node *input)
{
    const struct node *base = node_base(input);
    return base->updated_by > reader->id && base->updated_by < g->root->id &&
           base->kind != NODE_SOURCE;
}

static bool can_join(const struct gather *g, const struct node *node)
{
    if (!is_elementwise(node) || !fits_limits(g, node))
        return false;
    if (node == g->root)
        return true;
    if (node->plan.required)
        return false;
    for (int i = 0; i < node->n_inputs; i++)
        if ((node->inputs[i]->kind == NODE_INDEX && !g->index_fits) ||
            is_updated(g, node, node->inputs[i]))
            return false;
    return is_cheap(node) ||
           (node->plan.seen == node->plan.uses && same_elements(node->layout, g->space));
}

// A node that a member reads: a candidate if it is elementwise, else an input.
static void refer(struct gather *g, struct node *node)
{
    if (node->plan.pass != g->planner->pass) {
        node->plan.pass = g->planner->pass;
        node->plan.seen = 0;
    }
    node->plan.seen++;
    if (is_elementwise(node)) {
        if (!holds(g->pending, g->n_pending, node))
            g->pending[g->n_pending++] = node;
    } else if (!holds(g->inputs, g->n_inputs, node)) {
        g->inputs[g->n_inputs++] = node;
        require(node);
    }
}

static struct node *take_newest(struct gather *g)
{
    int newest = 0;
    for (int i = 1; i < g->n_pending; i++)
        if (g->pending[i]->id > g->pending[newest]->id)
            newest = i;
    struct node *node = g->pending[newest];
    g->pending[newest] = g->pending[--g->n_pending];
    return node;
}

static void gather(struct gather *g, struct node *value)
{
    g->planner->pass++;
    g->n_members = g->n_instructions = g->n_inputs = g->n_pending = 0;
    refer(g, value);
    while (g->n_pending > 0) {
        struct node *node = take_newest(g);
        if (!can_join(g, node)) {
            g->inputs[g->n_inputs++] = node;
            require(node);
            continue;
        }
        g->members[g->n_members++] = node;
        g->n_instructions += node->kind == NODE_MAP;
        for (int i = 0; i < node->n_inputs; i++)
            refer(g, node->inputs[i]);
    }
}

// ---- Steps
static struct step *step_new(struct planner *planner, enum step_kind kind,
                             struct node *node)
{
    struct step *step = graph_take(planner->graph, sizeof *step, planner->problem);
    if (!step)
        return NULL;
    *step = (struct step){
        .next = planner->steps, .kind = kind, .node = node, .device = node->device};
    planner->steps = step;
    return step;
}

static enum status step_pass(struct planner *planner, struct node *node,
                             struct node *value, const struct layout *space,
                             struct gather *g, struct step **out)
{
    g->planner = planner;
    g->space = space;
    g->root = node;
    gather(g, value);
    struct step *step = step_new(planner, STEP_PASS, node);
    struct node **items =
        graph_take(planner->graph, (size_t)(g->n_members + g->n_inputs) * sizeof *items,
                   planner->problem);
    if (!step || !items)
        return planner->problem->status;
    step->value = value;
    step->space = space;
    step->n_members = g->n_members;
    step->members = items;
    int64_t picoseconds = 250 * (1 + g->n_inputs), count = 0;
    for (int i = 0; i < g->n_members; i++) {
        struct node *member = g->members[g->n_members - 1 - i];
        items[i] = member;
        if (member->kind == NODE_MAP) {
            picoseconds += cost_of_opcode(member);
            step->may_fault = step->may_fault || member->may_fault;
        }
    }
    step->n_reads = g->n_inputs;
    step->reads = items + g->n_members;
    for (int i = 0; i < g->n_inputs; i++)
        step->reads[i] = g->inputs[i];
    size_of_shape(space->ndim, space->shape, &count);
    step->cost = cost_of((double)count, (double)picoseconds);
    *out = step;
    return STATUS_OK;
}

// Whether the reduced dims come last: then [kept..., reduced...] is C order.
static bool reduces_last(const struct layout *layout, uint32_t dims)
{
    bool inside = false;
    for (int d = 0; d < layout->ndim; d++) {
        if (layout->shape[d] == 1)
            continue;
        bool reduced = dims >> d & 1;
        if (inside && !reduced)
            return false;
        inside = inside || reduced;
    }
    return true;
}

static enum status plan_reduce(struct planner *planner, struct node *node,
                               struct gather *g)
{
    struct node *value = node->inputs[0];
    struct step *step;
    g->index_fits = reduces_last(value->layout, node->dims);
    enum status status = step_pass(planner, node, value, value->layout, g, &step);
    if (status == STATUS_OK)
        step->reduced = node->dims;
    return status;
}

// One pass for each input, last first.
static enum status plan_concat(struct planner *planner, struct node *node,
                               struct gather *g)
{
    int64_t start = node->layout->shape[node->dim];
    g->index_fits = true;
    for (int i = node->n_inputs - 1; i >= 0; i--) {
        struct step *step;
        struct node *input = node->inputs[i];
        enum status status = step_pass(planner, node, input, input->layout, g, &step);
        if (status != STATUS_OK)
            return status;
        start -= input->layout->shape[node->dim];
        step->output_strides = node->layout->strides;
        step->output_offset = start * node->layout->strides[node->dim];
    }
    return STATUS_OK;
}

static enum status plan_write(struct planner *planner, struct node *node,
                              struct gather *g)
{
    struct step *step;
    g->index_fits = true;
    enum status status =
        step_pass(planner, node, node->inputs[0], node->layout, g, &step);
    if (status != STATUS_OK)
        return status;
    step->output_strides = node->layout->strides;
    step->output_offset = node->write.tensor->offset;
    // The storage's other bytes are copied unless the write goes in place.
    step->cost +=
        storage_bytes(node->write.tensor->storage) / COPIED_BYTES_PER_NANOSECOND;
    return STATUS_OK;
}

static enum status plan_update(struct planner *planner, struct node *node,
                               struct gather *g)
{
    struct step *step;
    struct node *base = node->n_inputs > 1 ? node->inputs[1] : NULL;
    if (base)
        require(base);
    g->index_fits = true;
    enum status status =
        step_pass(planner, node, node->inputs[0], node->update.part, g, &step);
    if (status != STATUS_OK)
        return status;
    step->base = base;
    step->output_strides = node->update.part->strides;
    step->output_offset = node->update.offset;
    if (base && base->kind == NODE_SOURCE)
        step->cost += node->count * dtype_size((enum dtype)node->dtype) /
                      COPIED_BYTES_PER_NANOSECOND;
    return STATUS_OK;
}

// GEMM, SOFTMAX, COPY, RANDOM: the inputs are in memory.
static enum status plan_kernel(struct planner *planner, struct node *node,
                               enum step_kind kind, int64_t cost)
{
    struct step *step = step_new(planner, kind, node);
    if (!step)
        return planner->problem->status;
    step->n_reads = node->n_inputs;
    step->reads = node->inputs;
    step->cost = cost;
    for (int i = 0; i < node->n_inputs; i++)
        require(node->inputs[i]);
    return STATUS_OK;
}

static enum status plan_copy(struct planner *planner, struct node *node)
{
    struct device *from = node->inputs[0]->device;
    enum status status =
        plan_kernel(planner, node, STEP_COPY, cost_of((double)node->count, 1000));
    if (status == STATUS_OK &&
        node->device->is_host) // only a CUDA device's worker calls CUDA
        planner->steps->device = from;
    return status;
}

static enum status plan_node(struct planner *planner, struct node *node, struct gather *g)
{
    struct step *step;
    if (node->count == 0 && is_computed(node) && node->kind != NODE_WRITE)
        return node->plan.required && !step_new(planner, STEP_NOTHING, node)
                   ? planner->problem->status
                   : STATUS_OK;
    switch ((enum node_kind)node->kind) {
    case NODE_SOURCE:
    case NODE_SCALAR:
    case NODE_CONSTANT:
    case NODE_INDEX:
        return STATUS_OK;
    case NODE_MAP:
    case NODE_CLONE:
        g->index_fits = true;
        return node->plan.required
                   ? step_pass(planner, node, node, node->layout, g, &step)
                   : STATUS_OK;
    case NODE_REDUCE:
        return plan_reduce(planner, node, g);
    case NODE_GEMM:
        return plan_kernel(planner, node, STEP_GEMM, cost_of_gemm(node));
    case NODE_SOFTMAX:
        return plan_kernel(planner, node, STEP_SOFTMAX,
                           cost_of((double)node->count, 5000));
    case NODE_VIEW:
        require(node);
        return STATUS_OK;
    case NODE_CONCAT:
        return plan_concat(planner, node, g);
    case NODE_COPY:
        return plan_copy(planner, node);
    case NODE_WRITE:
        return plan_write(planner, node, g);
    case NODE_UPDATE:
        return plan_update(planner, node, g);
    case NODE_RANDOM:
        return plan_kernel(planner, node, STEP_RANDOM,
                           cost_of((double)node->count, 5000));
    }
    return STATUS_OK;
}

// ---- The whole graph
static enum status mark_roots(struct planner *planner, int n_roots,
                              struct node *const *roots)
{
    for (struct node *node = planner->graph->newest; node; node = node->older) {
        node->plan.uses = node->plan.pass = 0;
        node->plan.needed = node->plan.required = node->plan.result = false;
        node->plan.first_step = node->plan.last_step = -1;
        node->plan.buffer = NULL;
        node->plan.block = NULL;
        node->plan.storage = NULL;
    }
    for (int i = 0; i < n_roots; i++) {
        if (node_is_scalar(roots[i]))
            return problem_set(planner->problem, STATUS_TYPE,
                               "a bare number is no tensor");
        struct node *base = node_base(roots[i]);
        roots[i]->plan.needed = base->plan.needed = true;
        roots[i]->plan.uses++;
        require(base);
        base->plan.result = true;
    }
    for (struct node *write = planner->graph->newest_write; write;
         write = write->few_inputs[1])
        write->plan.needed = true;
    return STATUS_OK;
}

// A value without elements needs no inputs. What must run although nobody needs it is
// like a root.
static void count_uses(struct graph *graph)
{
    for (struct node *node = graph->newest; node; node = node->older) {
        if (node->must_run && !node->plan.needed) {
            node->plan.needed = true;
            node->plan.uses++;
            require(node);
        }
        if (!node->plan.needed || (node->count == 0 && is_computed(node)))
            continue;
        for (int i = 0; i < node->n_inputs; i++) {
            node->inputs[i]->plan.needed = true;
            node->inputs[i]->plan.uses++;
        }
    }
}

enum status schedule_make(struct graph *graph, int n_roots, struct node *const *roots,
                          struct schedule *out, struct problem *problem)
{
    struct planner planner = {.graph = graph, .problem = problem};
    struct gather g; // large; only what is counted is set
    enum status status = mark_roots(&planner, n_roots, roots);
    if (status != STATUS_OK)
        return status;
    count_uses(graph);
    for (struct node *node = graph->newest; node; node = node->older) {
        if (!node->plan.needed)
            continue;
        status = plan_node(&planner, node, &g);
        if (status != STATUS_OK)
            return status;
    }
    *out = (struct schedule){.graph = graph, .steps = planner.steps};
    for (struct step *step = out->steps; step; step = step->next)
        step->index = out->n_steps++;
    return STATUS_OK;
}
