// SPDX-License-Identifier: Apache-2.0
// Running steps, slice by slice, on the worker of the step's device.
//
// A step begins by pinning the blocks of the tensors it reads and by making the block it
// writes; temporaries and pins go when their last reader has run. Device faults and zero
// divisions surface when the executor leaves a device (synchronize); a step that can
// divide by zero synchronizes after every slice, so that nobody else's request is blamed
// when slices interleave.
#include "tensor/executor_internal.h"
#include "tensor/generators.h"

enum {
    COPY_SLICE = 16 << 20,    // bytes
    STEP_BUDGET = 200 * 1000, // nanoseconds of small steps that run without a pause
    OUTER_PASSES = 64,        // of a layout with too many dims, at one go
};

// What a part of a step says.
enum progress { STEP_FAILED, STEP_MORE, STEP_FINISHED };

// ---- Memory
static bool reads_storage(const struct node *node, const struct storage *storage)
{
    return node->kind == NODE_SOURCE && !node->source.after &&
           node->source.tensor->storage == storage;
}

static void pin(struct node *node)
{
    if (node->kind == NODE_SOURCE && !node->plan.block)
        node->plan.block = storage_pin(node->source.tensor->storage);
}

static void pin_reads(struct executor *executor)
{
    struct step *step = executor->step;
    for (int i = 0; i < step->n_reads; i++)
        pin(node_base(step->reads[i]));
    if (step->base)
        pin(step->base);
}

static enum status make_block(struct executor *executor, struct buffer *buffer,
                              struct problem *problem)
{
    struct account *account = executor->graph->context.account;
    if (buffer->block)
        return STATUS_OK;
    enum status status =
        block_create(buffer->device, account, buffer->bytes, &buffer->block, problem);
    if (status == STATUS_OK)
        executor->reserved[buffer->device->index] -= buffer->bytes;
    return status;
}

static void release_node(struct node *base, const struct step *step)
{
    struct buffer *buffer = base->plan.buffer;
    if (base->kind == NODE_SOURCE && base->plan.last_step <= step->index) {
        block_release(base->plan.block);
        base->plan.block = NULL;
    } else if (buffer && !buffer->kept && buffer->last_step <= step->index) {
        block_release(buffer->block);
        buffer->block = NULL;
    }
}

// The step's own node has no reader left if it only had to run.
void executor_release(struct executor *executor, const struct step *step)
{
    for (int i = 0; i < step->n_reads; i++)
        release_node(node_base(step->reads[i]), step);
    if (step->base)
        release_node(step->base, step);
    release_node(step->node, step);
}

// ---- Writes
// True if the write replaces every byte of the storage.
static bool covers_storage(const struct node *write)
{
    const struct tensor *target = write->write.tensor;
    int64_t bytes;
    return write->contiguous &&
           size_multiply(write->count, dtype_size(target->dtype), &bytes) &&
           bytes == storage_bytes(target->storage);
}

// A write goes in place only as the request's only and last write, if it cannot fail by
// its elements, and if what it reads of the same storage are the very elements it writes.
static bool may_go_in_place(const struct executor *executor)
{
    const struct step *step = executor->step;
    const struct node *write = step->node;
    if (executor->is_private || write->kind != NODE_WRITE || step->next ||
        step->may_fault || executor->graph->newest_write != write || write->few_inputs[1])
        return false;
    for (int i = 0; i < step->n_reads; i++)
        if (reads_storage(step->reads[i], write->write.tensor->storage) &&
            (step->reads[i]->plan.block || // pinned by an earlier step
             !tensor_same_elements(step->reads[i]->source.tensor, write->write.tensor)))
            return false;
    return true;
}

static enum status plan_pass(struct executor *executor, void *output,
                             struct problem *problem)
{
    struct device *device = executor->step->device;
    struct pass pass; // large; pass_build sets what counts
    pass_build(executor->step, output, executor->outer, &pass, &executor->n_outer);
    struct kernel kernel = {.form = KERNEL_PASS, .pass = &pass};
    return device->vt->plan(device, &kernel, &executor->plan, problem);
}

static void drop_plan(struct executor *executor)
{
    if (executor->plan)
        executor->step->device->vt->plan_free(executor->plan);
    executor->plan = NULL;
}

static bool is_one_slice(const struct executor *executor)
{
    int64_t done, total;
    executor->step->device->vt->plan_progress(executor->plan, &done, &total);
    return executor->n_outer == 1 && total <= 1;
}

// Reads of the target's storage look at its block without a pin: a pin of our own would
// forbid the write.
static void lend_block(struct executor *executor, struct block *block)
{
    struct storage *storage = executor->step->node->write.tensor->storage;
    for (int i = 0; i < executor->step->n_reads; i++)
        if (reads_storage(executor->step->reads[i], storage))
            executor->step->reads[i]->plan.block = block;
}

// Plans the write into the storage's own block and claims it. Without a claim nothing has
// happened.
static bool go_in_place(struct executor *executor, struct problem *problem)
{
    struct tensor *target = executor->step->node->write.tensor;
    struct block *block = storage_pin(target->storage);
    lend_block(executor, block);
    pin_reads(executor);
    enum status status = plan_pass(executor, block->data, problem);
    bool fits = status == STATUS_OK && is_one_slice(executor);
    block_release(block); // the storage holds it; who swaps it waits for this request
    if (fits && storage_claim(target->storage)) {
        executor->in_place = executor->step->node;
        return true;
    }
    drop_plan(executor);
    lend_block(executor, NULL);
    return false;
}

// The bytes as they are, when a write or update leaves some of them alone. NULL: it does
// not.
static struct block *old_block(const struct step *step, bool fresh)
{
    const struct node *node = step->node, *base = step->base;
    if (base && takes_over(step))
        return NULL;
    if (base)
        return block_reference(base->plan.buffer ? base->plan.buffer->block
                                                 : base->plan.block);
    if (node->kind != NODE_WRITE || !fresh || covers_storage(node))
        return NULL;
    const struct node *previous = node->write.previous;
    if (previous)
        return block_reference(previous->plan.buffer->block);
    return storage_pin(node->write.tensor->storage);
}

static enum progress copy_old(struct executor *executor, struct problem *problem)
{
    struct device *device = executor->step->device;
    const struct node *node = executor->step->node;
    const struct buffer *buffer = node->plan.buffer;
    int64_t total = node->kind == NODE_UPDATE
                        ? node->count * dtype_size((enum dtype)node->dtype)
                        : buffer->bytes;
    int64_t rest = total - executor->copied;
    int64_t bytes = rest < COPY_SLICE ? rest : COPY_SLICE;
    if (bytes > 0 &&
        device->vt->copy(device, (char *)buffer->block->data + executor->copied,
                         (const char *)executor->old->data + executor->copied, bytes,
                         COPY_WITHIN, problem) != STATUS_OK)
        return STEP_FAILED;
    executor->copied += bytes;
    if (executor->copied < total)
        return STEP_MORE;
    block_release(executor->old);
    executor->old = NULL;
    executor->copied = 0;
    executor->phase = PHASE_RUN;
    return STEP_FINISHED;
}

// ---- Random numbers
enum { ONE_BY_ONE = 15 }; // so few normals are drawn one by one (kernels/random.h)

static struct generator *generator_of(const struct executor *executor)
{
    return working_generator(executor->graph->context.generators,
                             executor->step->node->device->index);
}

static void begin_random(struct executor *executor)
{
    const struct node *node = executor->step->node;
    if (node->draw.seeds)
        generator_seed(generator_of(executor), node->device->is_host, node->draw.seed);
    if (node->draw.one_by_one)
        executor->n_outer = (node->count + ONE_BY_ONE - 1) / ONE_BY_ONE;
}

static void set_random(const struct executor *executor, void *output,
                       struct random *random)
{
    const struct node *node = executor->step->node;
    const struct draw *draw = &node->draw;
    *random = (struct random){.form = draw->form,
                              .dtype = (enum dtype)node->dtype,
                              .count = node->count,
                              .output = output,
                              .low = draw->low,
                              .high = draw->high,
                              .base = draw->base,
                              .range = draw->range,
                              .generator = generator_of(executor)};
    if (!draw->one_by_one)
        return;
    int64_t first = executor->outer * ONE_BY_ONE;
    random->output = (char *)output + first * dtype_size(random->dtype);
    random->count = node->count - first < ONE_BY_ONE ? node->count - first : ONE_BY_ONE;
}

// ---- Beginning
static enum progress begin(struct executor *executor, struct problem *problem)
{
    struct node *node = executor->step->node;
    struct buffer *buffer = node->plan.buffer;
    executor->outer = executor->copied = 0;
    executor->n_outer = 1;
    executor->phase = PHASE_RUN;
    if (may_go_in_place(executor) && go_in_place(executor, problem))
        return STEP_FINISHED;
    pin_reads(executor);
    bool fresh = buffer->block == NULL;
    if (make_block(executor, buffer, problem) != STATUS_OK)
        return STEP_FAILED;
    if ((executor->old = old_block(executor->step, fresh)) != NULL)
        executor->phase = PHASE_OLD;
    if (executor->step->kind == STEP_RANDOM)
        begin_random(executor);
    return STEP_FINISHED;
}

// ---- Kernels
static enum status plan_kernel(struct executor *executor, struct problem *problem)
{
    const struct step *step = executor->step;
    const struct node *node = step->node;
    struct device *device = step->device;
    void *output = node->plan.buffer->block->data;
    struct kernel kernel;
    if (step->kind == STEP_PASS)
        return plan_pass(executor, output, problem);
    if (step->kind == STEP_GEMM) {
        kernel.form = KERNEL_GEMM;
        kernel.gemm = *node->gemm;
        kernel.gemm.a = node_address(node->inputs[0]);
        kernel.gemm.b = node_address(node->inputs[1]);
        kernel.gemm.c = output;
        return device->vt->plan(device, &kernel, &executor->plan, problem);
    }
    if (step->kind == STEP_RANDOM) {
        kernel.form = KERNEL_RANDOM;
        set_random(executor, output, &kernel.random);
        return device->vt->plan(device, &kernel, &executor->plan, problem);
    }
    kernel.form = KERNEL_SOFTMAX;
    struct softmax *softmax = &kernel.softmax;
    *softmax = (struct softmax){.dtype = (enum dtype)node->dtype,
                                .outer = 1,
                                .n = 1,
                                .inner = 1,
                                .x = node_address(node->inputs[0]),
                                .y = output};
    for (int d = 0; d < node->layout->ndim; d++) {
        int64_t *extent = d < node->dim    ? &softmax->outer
                          : d == node->dim ? &softmax->n
                                           : &softmax->inner;
        *extent *= node->layout->shape[d]; // within the count of elements
    }
    return device->vt->plan(device, &kernel, &executor->plan, problem);
}

// One slice of the current pass or product.
static enum progress run_plan(struct executor *executor, struct problem *problem)
{
    struct device *device = executor->step->device;
    if (!executor->plan && plan_kernel(executor, problem) != STATUS_OK)
        return STEP_FAILED;
    enum slice slice = device->vt->plan_next(executor->plan, problem);
    if (slice != SLICE_FAILED && executor->step->may_fault &&
        device->vt->synchronize(device, problem) != STATUS_OK)
        slice = SLICE_FAILED;
    if (slice == SLICE_FAILED)
        return STEP_FAILED;
    if (slice == SLICE_MORE)
        return STEP_MORE;
    drop_plan(executor);
    return STEP_FINISHED;
}

static enum progress run_kernel(struct executor *executor, struct problem *problem)
{
    for (int i = 0; i < OUTER_PASSES; i++) {
        enum progress progress = run_plan(executor, problem);
        if (progress != STEP_FINISHED)
            return progress;
        if (++executor->outer == executor->n_outer)
            return STEP_FINISHED;
    }
    return STEP_MORE;
}

static enum progress run_copy(struct executor *executor, struct problem *problem)
{
    struct node *node = executor->step->node, *input = node->inputs[0];
    struct device *device = executor->step->device;
    int64_t bytes = node->count * dtype_size((enum dtype)node->dtype) - executor->copied;
    if (bytes > COPY_SLICE)
        bytes = COPY_SLICE;
    enum copy_direction direction =
        node->device->is_host ? COPY_FROM_DEVICE : COPY_TO_DEVICE;
    const char *from = node_address(input);
    char *to = node->plan.buffer->block->data;
    if (device->vt->copy(device, to + executor->copied, from + executor->copied, bytes,
                         direction, problem) != STATUS_OK)
        return STEP_FAILED;
    executor->copied += bytes;
    return executor->copied < node->count * dtype_size((enum dtype)node->dtype)
               ? STEP_MORE
               : STEP_FINISHED;
}

static enum progress run_slice(struct executor *executor, struct problem *problem)
{
    enum progress progress;
    if (executor->phase == PHASE_BEGIN &&
        (progress = begin(executor, problem)) != STEP_FINISHED)
        return progress;
    if (executor->phase == PHASE_OLD &&
        (progress = copy_old(executor, problem)) != STEP_FINISHED)
        return progress;
    switch (executor->step->kind) {
    case STEP_NOTHING:
        return STEP_FINISHED;
    case STEP_COPY:
        return run_copy(executor, problem);
    case STEP_PASS:
    case STEP_GEMM:
    case STEP_SOFTMAX:
    case STEP_RANDOM:
        break;
    }
    return run_kernel(executor, problem);
}

// ---- Steps
static void report(struct executor *executor)
{
    double within = 0;
    int64_t done, total;
    if (executor->plan) {
        executor->step->device->vt->plan_progress(executor->plan, &done, &total);
        within = total > 0 ? (double)done / (double)total : 0;
    }
    int64_t cost = executor->finished_cost;
    if (executor->step)
        cost += (int64_t)(within * (double)executor->step->cost);
    atomic_store_explicit(&executor->done, cost, memory_order_relaxed);
}

static void finish_step(struct executor *executor)
{
    struct step *step = executor->step;
    if (executor->in_place)
        lend_block(executor, NULL);
    executor_release(executor, step);
    executor->finished_cost += step->cost;
    executor->phase = PHASE_BEGIN;
    executor->step = step->next;
}

// Of a fused pass that can divide by zero, the division.
static const void *blame(const struct step *step)
{
    for (int i = 0; step->may_fault && i < step->n_members; i++)
        if (step->members[i]->may_fault)
            return step->members[i]->mark;
    return step->node->mark;
}

static enum executor_step fail(struct executor *executor)
{
    if (executor->in_place && executor->step)
        lend_block(executor, NULL);
    executor->failed = true;
    if (executor->step)
        executor->mark = blame(executor->step);
    return EXECUTOR_FAILED;
}

enum executor_step executor_step(struct executor *executor, struct problem *problem)
{
    int64_t budget = STEP_BUDGET;
    while (executor->step) {
        struct device *device = executor->step->device;
        if (executor->failed)
            return EXECUTOR_FAILED;
        int64_t cost = executor->step->cost;
        enum progress progress = run_slice(executor, problem);
        if (progress == STEP_FAILED)
            return fail(executor);
        if (progress == STEP_FINISHED)
            finish_step(executor);
        report(executor);
        if (progress == STEP_MORE)
            return EXECUTOR_MORE;
        bool leaves = !executor->step || executor->step->device != device;
        if (leaves && device->vt->synchronize(device, problem) != STATUS_OK)
            return fail(executor);
        if (!executor->step)
            break;
        if (leaves)
            return EXECUTOR_MOVE;
        if ((budget -= cost) < 0)
            return EXECUTOR_MORE;
    }
    if (executor->failed)
        return EXECUTOR_FAILED;
    executor->finished = true;
    executor_unreserve(executor);
    return EXECUTOR_DONE;
}
