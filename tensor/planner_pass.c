// SPDX-License-Identifier: Apache-2.0
// Writing the struct pass of a step: registers, and an iteration space with as few dims
// as its operands' strides allow.
#include "tensor/planner.h"

enum { OUTPUT = PASS_MAX_INPUTS, N_OPERANDS };

// One dim of the iteration space with every operand's stride.
struct axis {
    int64_t size;
    int64_t strides[N_OPERANDS];
};

struct axes {
    int n, n_reduced; // the reduced ones come last
    struct axis items[TENSOR_MAX_NDIM + 1];
};

void *node_address(struct node *node)
{
    struct node *base = node_base(node);
    const struct block *block =
        base->plan.buffer ? base->plan.buffer->block : base->plan.block;
    int64_t offset = node->kind == NODE_VIEW     ? node->offset
                     : node->kind == NODE_SOURCE ? node->source.tensor->offset
                                                 : 0;
    if (!block || !block->data)
        return NULL;
    return (char *)block->data + offset * dtype_size((enum dtype)node->dtype);
}

static bool in_memory(const struct node *node)
{
    return node->kind != NODE_CONSTANT && node->kind != NODE_INDEX;
}

// Stride of dim `dim` of the space in an operand that is broadcast to it.
static int64_t stride_in(const struct layout *operand, const struct layout *space,
                         int dim)
{
    int own = dim - (space->ndim - operand->ndim);
    return own < 0 || operand->shape[own] == 1 ? 0 : operand->strides[own];
}

// Appends dim `dim` of the space, or joins it to the last axis (not one before `first`)
// if every operand steps evenly from one to the other.
static void add_axis(const struct step *step, int dim, int first, int64_t output_stride,
                     struct axes *axes)
{
    int64_t size = step->space->shape[dim];
    struct axis *axis = &axes->items[axes->n], *last = axes->n > first ? axis - 1 : NULL;
    bool joins = last && last->strides[OUTPUT] == output_stride * size;
    axis->size = size;
    axis->strides[OUTPUT] = output_stride;
    for (int i = 0; i < step->n_reads; i++) {
        if (!in_memory(step->reads[i]))
            continue;
        axis->strides[i] = stride_in(step->reads[i]->layout, step->space, dim);
        joins = joins && last->strides[i] == axis->strides[i] * size;
    }
    if (!joins) {
        axes->n++;
        return;
    }
    last->size *= size;
    last->strides[OUTPUT] = output_stride;
    for (int i = 0; i < step->n_reads; i++)
        if (in_memory(step->reads[i]))
            last->strides[i] = axis->strides[i];
}

// A dim of size 1: a pass has at least one dim, a reduction at least one reduced one.
static void add_unit(const struct step *step, struct axes *axes)
{
    struct axis *axis = &axes->items[axes->n++];
    axis->size = 1;
    axis->strides[OUTPUT] = 0;
    for (int i = 0; i < step->n_reads; i++)
        axis->strides[i] = 0;
}

static void find_axes(const struct step *step, struct axes *axes)
{
    const struct layout *space = step->space;
    int64_t strides[TENSOR_MAX_NDIM], stride = 1;
    for (int d = space->ndim - 1; d >= 0; d--) { // of a contiguous output
        strides[d] = stride;
        if (!(step->reduced >> d & 1))
            stride *= space->shape[d];
    }
    const int64_t *output = step->output_strides ? step->output_strides : strides;
    axes->n = 0;
    for (int d = 0; d < space->ndim; d++)
        if (!(step->reduced >> d & 1) && space->shape[d] != 1)
            add_axis(step, d, 0, output[d], axes);
    int kept = axes->n;
    for (int d = 0; d < space->ndim && step->reduced; d++)
        if ((step->reduced >> d & 1) && space->shape[d] != 1)
            add_axis(step, d, kept, 0, axes);
    if (axes->n == kept && (kept == 0 || step->node->kind == NODE_REDUCE))
        add_unit(step, axes);
    axes->n_reduced = step->node->kind == NODE_REDUCE ? axes->n - kept : 0;
}

static void set_input(struct node *node, struct pass_input *input)
{
    input->dtype = (enum dtype)node->dtype;
    if (node->kind == NODE_CONSTANT) {
        input->kind = PASS_CONSTANT;
        input->constant = node->constant;
    } else if (node->kind == NODE_INDEX) {
        input->kind = PASS_INDEX;
    } else {
        input->kind = PASS_MEMORY;
        input->data = node_address(node);
    }
}

static void set_instructions(const struct step *step, struct pass *pass)
{
    pass->n_inputs = step->n_reads;
    for (int i = 0; i < step->n_reads; i++) {
        step->reads[i]->plan.reg = (uint8_t)i;
        set_input(step->reads[i], &pass->inputs[i]);
    }
    pass->n_instructions = 0;
    for (int i = 0; i < step->n_members; i++) {
        struct node *node = step->members[i];
        if (node->kind == NODE_CLONE) {
            node->plan.reg = node->inputs[0]->plan.reg;
            continue;
        }
        struct pass_instruction *instruction = &pass->instructions[pass->n_instructions];
        *instruction =
            (struct pass_instruction){.op = node->op, .dtype = node->computation};
        instruction->a = node->inputs[0]->plan.reg;
        if (node->n_inputs > 1)
            instruction->b = node->inputs[1]->plan.reg;
        if (node->n_inputs > 2)
            instruction->c = node->inputs[2]->plan.reg;
        node->plan.reg = (uint8_t)(pass->n_inputs + pass->n_instructions++);
    }
}

// Moves the addresses to the outer-th place of the axes that do not fit into the pass.
static int64_t set_outer(const struct step *step, const struct axes *axes, int n_outer,
                         int64_t outer, struct pass *pass)
{
    int64_t total = 1, rest = outer;
    for (int a = n_outer - 1; a >= 0; a--) {
        const struct axis *axis = &axes->items[a];
        int64_t at = rest % axis->size;
        rest /= axis->size;
        total *= axis->size;
        pass->output = (char *)pass->output +
                       at * axis->strides[OUTPUT] * dtype_size(pass->output_dtype);
        for (int i = 0; i < pass->n_inputs; i++) {
            struct pass_input *input = &pass->inputs[i];
            if (input->kind == PASS_MEMORY)
                input->data = (const char *)input->data +
                              at * axis->strides[i] * dtype_size(input->dtype);
        }
    }
    return total;
}

void pass_build(const struct step *step, void *output, int64_t outer, struct pass *pass,
                int64_t *n_outer)
{
    struct axes axes; // large; find_axes sets what counts
    find_axes(step, &axes);
    int left_out = axes.n > PASS_MAX_NDIM ? axes.n - PASS_MAX_NDIM : 0;
    set_instructions(step, pass);
    pass->ndim = axes.n - left_out;
    pass->n_reduced = axes.n_reduced;
    pass->reduce = step->node->kind == NODE_REDUCE ? (enum pass_reduce)step->node->op
                                                   : PASS_NO_REDUCE;
    pass->output_dtype = (enum dtype)step->node->dtype;
    pass->output = (char *)output + step->output_offset * dtype_size(pass->output_dtype);
    for (int d = 0; d < pass->ndim; d++) {
        const struct axis *axis = &axes.items[left_out + d];
        pass->shape[d] = axis->size;
        if (d < pass->ndim - pass->n_reduced)
            pass->output_strides[d] = axis->strides[OUTPUT];
        for (int i = 0; i < pass->n_inputs; i++)
            if (pass->inputs[i].kind == PASS_MEMORY)
                pass->inputs[i].strides[d] = axis->strides[i];
    }
    *n_outer = set_outer(step, &axes, left_out, outer, pass);
}
