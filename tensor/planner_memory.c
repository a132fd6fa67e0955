// SPDX-License-Identifier: Apache-2.0
// Which memory the nodes of a schedule get. A temporary's buffer serves a later temporary
// once its last reader has run, so that the bytes of all buffers are what a request needs
// at most, and may be reserved at once.
#include "tensor/planner.h"

enum { REUSE_PROBES = 32 }; // buffers looked at for a free one

static bool has_buffer(const struct node *node)
{
    switch ((enum node_kind)node->kind) {
    case NODE_SOURCE:
    case NODE_SCALAR:
    case NODE_CONSTANT:
    case NODE_INDEX:
    case NODE_VIEW:
        return false;
    default:
        return true;
    }
}

static void note_uses(struct schedule *schedule)
{
    for (struct step *step = schedule->steps; step; step = step->next) {
        if (step->node->plan.first_step < 0)
            step->node->plan.first_step = step->index;
        step->node->plan.last_step = step->index;
        for (int i = 0; i < step->n_reads; i++) {
            struct node *base = node_base(step->reads[i]);
            if (base->plan.last_step < step->index)
                base->plan.last_step = step->index;
        }
        if (step->base && step->base->plan.last_step < step->index)
            step->base->plan.last_step = step->index;
    }
}

static struct buffer *find_free(struct schedule *schedule, const struct device *device,
                                int64_t bytes, int step)
{
    struct buffer *best = NULL;
    int probes = REUSE_PROBES;
    struct buffer **link = &schedule->temporaries;
    while (*link && probes-- > 0) {
        struct buffer *buffer = *link;
        if (buffer->kept) { // became a result meanwhile
            *link = buffer->next_temporary;
            continue;
        }
        if (buffer->last_step < step && buffer->device == device &&
            buffer->bytes >= bytes && (!best || buffer->bytes < best->bytes))
            best = buffer;
        link = &buffer->next_temporary;
    }
    return best;
}

static struct buffer *buffer_new(struct schedule *schedule, struct device *device,
                                 int64_t bytes, struct problem *problem)
{
    struct buffer *buffer = graph_take(schedule->graph, sizeof *buffer, problem);
    if (!buffer)
        return NULL;
    *buffer =
        (struct buffer){.next = schedule->buffers, .device = device, .bytes = bytes};
    schedule->buffers = buffer;
    return buffer;
}

// Whether the write may go into the memory of the version before it: every reader of that
// has run, or reads exactly the elements it writes.
static bool continues(const struct step *step, const struct node *previous)
{
    if (previous->plan.last_step > step->index)
        return false;
    for (int i = 0; i < step->n_reads; i++) {
        const struct node *read = step->reads[i];
        if (read->kind == NODE_SOURCE && read->source.after == previous &&
            !tensor_same_elements(read->source.tensor, step->node->write.tensor))
            return false;
    }
    return true;
}

static struct buffer *buffer_of_write(struct schedule *schedule, const struct step *step,
                                      struct problem *problem)
{
    struct node *node = step->node, *previous = node->write.previous;
    if (previous && continues(step, previous))
        return previous->plan.buffer;
    struct buffer *buffer = buffer_new(
        schedule, node->device, storage_bytes(node->write.tensor->storage), problem);
    if (buffer)
        buffer->kept = true;
    return buffer;
}

// Whether an UPDATE may go into its base's memory: nobody reads that afterwards, and what
// this pass reads of it are exactly the elements it writes. A result's memory has its
// size.
static bool may_take_over(const struct step *step, int64_t bytes)
{
    const struct node *base = step->base, *node = step->node;
    const struct buffer *buffer = base->plan.buffer;
    if (!buffer || buffer->kept || base->plan.last_step > step->index ||
        (node->plan.result && buffer->bytes != bytes))
        return false;
    for (int i = 0; i < step->n_reads; i++) {
        struct node *read = step->reads[i];
        if (node_base(read) != base)
            continue;
        int64_t offset = read->kind == NODE_VIEW ? read->offset : 0;
        if (offset != node->update.offset ||
            !layout_same_elements(read->layout, node->update.part))
            return false;
    }
    return true;
}

static struct buffer *buffer_of_value(struct schedule *schedule, const struct step *step,
                                      struct problem *problem)
{
    const struct node *node = step->node;
    int64_t bytes;
    if (!size_multiply(node->count, dtype_size((enum dtype)node->dtype), &bytes)) {
        problem_set(problem, STATUS_SHAPE,
                    "the size of an intermediate result overflows");
        return NULL;
    }
    struct buffer *buffer = NULL;
    if (step->base && may_take_over(step, bytes))
        buffer = step->base->plan.buffer;
    if (!buffer && !node->plan.result && bytes > 0)
        buffer = find_free(schedule, node->device, bytes, step->index);
    if (!buffer) {
        buffer = buffer_new(schedule, node->device, bytes, problem);
        if (!buffer)
            return NULL;
        if (!node->plan.result) {
            buffer->next_temporary = schedule->temporaries;
            schedule->temporaries = buffer;
        }
    }
    buffer->kept = node->plan.result;
    if (buffer->last_step < node->plan.last_step)
        buffer->last_step = node->plan.last_step;
    return buffer;
}

enum status schedule_memory(struct schedule *schedule, struct problem *problem)
{
    note_uses(schedule);
    for (struct step *step = schedule->steps; step; step = step->next) {
        struct node *node = step->node;
        if (!has_buffer(node) || node->plan.buffer)
            continue;
        node->plan.buffer = node->kind == NODE_WRITE
                                ? buffer_of_write(schedule, step, problem)
                                : buffer_of_value(schedule, step, problem);
        if (!node->plan.buffer)
            return problem->status;
    }
    return STATUS_OK;
}
