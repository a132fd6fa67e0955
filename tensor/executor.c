// SPDX-License-Identifier: Apache-2.0
// The executor's life: sizes and admission before the run, results and commit after it.
#include <limits.h>

#include "tensor/executor_internal.h"

static void sum_up(struct executor *executor)
{
    executor->host_only = true;
    for (const struct step *step = executor->schedule.steps; step; step = step->next) {
        executor->total_cost += step->cost;
        executor->host_only = executor->host_only && step->device->is_host;
    }
}

// Bytes of the buffers on each device; they cannot overflow together without one
// saturating above every limit.
static void sum_buffers(struct executor *executor)
{
    for (const struct buffer *buffer = executor->schedule.buffers; buffer;
         buffer = buffer->next) {
        int64_t *needed = &executor->needed[buffer->device->index];
        if (!size_add(*needed, buffer->bytes, needed))
            *needed = INT64_MAX;
    }
}

enum status executor_create(struct graph *graph, int n_roots, struct node *const *roots,
                            struct executor **out, struct problem *problem)
{
    struct executor *executor = graph_take(graph, sizeof *executor, problem);
    struct node **copy = graph_take(graph, (size_t)n_roots * sizeof *copy, problem);
    if (!executor || !copy)
        return problem->status;
    *executor = (struct executor){.graph = graph, .n_roots = n_roots, .roots = copy};
    atomic_init(&executor->done, 0);
    for (int i = 0; i < n_roots; i++)
        copy[i] = roots[i];
    enum status status =
        schedule_make(graph, n_roots, roots, &executor->schedule, problem);
    if (status == STATUS_OK)
        status = schedule_memory(&executor->schedule, problem);
    if (status != STATUS_OK)
        return status;
    executor->step = executor->schedule.steps;
    sum_up(executor);
    sum_buffers(executor);
    *out = executor;
    return STATUS_OK;
}

void executor_set_private(struct executor *executor)
{
    executor->is_private = true;
}

void executor_set_held(struct executor *executor, int device, int64_t bytes)
{
    executor->held[device] = bytes;
}

void executor_unreserve(struct executor *executor)
{
    for (int i = 0; i < executor->graph->context.n_devices; i++) {
        if (executor->reserved[i] > 0)
            ledger_unreserve(executor->graph->context.account, i, executor->reserved[i]);
        executor->reserved[i] = 0;
    }
}

static void unpin(struct node *node)
{
    block_release(node->plan.block);
    node->plan.block = NULL;
}

static void stop(struct executor *executor)
{
    if (executor->plan)
        executor->step->device->vt->plan_free(executor->plan);
    executor->plan = NULL;
    block_release(executor->old);
    executor->old = NULL;
}

void executor_set_lent(struct executor *executor, bool lent)
{
    executor->is_lent = lent;
}

void executor_free(struct executor *executor)
{
    if (!executor)
        return;
    stop(executor);
    if (executor->is_lent)
        return;
    for (struct step *step = executor->schedule.steps; step; step = step->next) {
        for (int i = 0; i < step->n_reads; i++)
            unpin(node_base(step->reads[i]));
        if (step->base)
            unpin(step->base);
        storage_release(step->node->plan.storage);
        step->node->plan.storage = NULL;
    }
    for (struct buffer *buffer = executor->schedule.buffers; buffer;
         buffer = buffer->next) {
        block_release(buffer->block);
        buffer->block = NULL;
    }
    executor_unreserve(executor);
}

const void *executor_mark(const struct executor *executor)
{
    return executor->mark;
}

// The node that takes most memory on a device.
static const void *largest_mark(const struct executor *executor, int device)
{
    const struct node *largest = NULL;
    for (const struct step *step = executor->schedule.steps; step; step = step->next) {
        const struct buffer *buffer = step->node->plan.buffer;
        if (buffer && buffer->device->index == device &&
            (!largest || buffer->bytes > largest->plan.buffer->bytes))
            largest = step->node;
    }
    return largest ? largest->mark : NULL;
}

enum admission executor_admit(struct executor *executor, struct problem *problem)
{
    if (executor->admitted)
        return ADMISSION_READY;
    struct account *account = executor->graph->context.account;
    for (int i = 0; i < executor->graph->context.n_devices; i++) {
        if (executor->needed[i] == 0)
            continue;
        enum admission answer = ledger_reserve_more(account, i, executor->needed[i],
                                                    executor->held[i], problem);
        if (answer != ADMISSION_READY) {
            executor->mark = largest_mark(executor, i);
            executor_unreserve(
                executor); // nobody waits for one device while holding another's memory
            return answer;
        }
        executor->reserved[i] = executor->needed[i];
    }
    executor->admitted = true;
    return ADMISSION_READY;
}

struct device *executor_device(const struct executor *executor)
{
    return executor->step ? executor->step->device : executor->graph->context.devices[0];
}

int64_t executor_estimate(const struct executor *executor)
{
    return executor->host_only ? executor->total_cost - executor->finished_cost : -1;
}

double executor_progress(const struct executor *executor)
{
    if (executor->total_cost == 0)
        return 1;
    double done = (double)atomic_load_explicit(&executor->done, memory_order_relaxed);
    return done / (double)executor->total_cost;
}

// ---- Results
// The storage of a computed node; its buffer's block moves into it.
static enum status storage_of(struct node *base, struct problem *problem)
{
    if (base->plan.storage)
        return STATUS_OK;
    struct buffer *buffer = base->plan.buffer;
    enum status status = storage_create(buffer->block, &base->plan.storage, problem);
    if (status == STATUS_OK)
        buffer->block = NULL;
    return status;
}

enum status executor_result(struct executor *executor, int i, struct tensor **out,
                            struct problem *problem)
{
    struct node *root = executor->roots[i];
    if (root->kind == NODE_SOURCE) {
        *out = tensor_reference(root->source.tensor);
        return STATUS_OK;
    }
    struct node *base = node_base(root);
    bool stored = base->kind == NODE_SOURCE; // a view of it
    enum status status = stored ? STATUS_OK : storage_of(base, problem);
    if (status != STATUS_OK)
        return status;
    return tensor_create(stored ? base->source.tensor->storage : base->plan.storage,
                         root->kind == NODE_VIEW ? root->offset : 0,
                         (enum dtype)root->dtype, root->layout, out, problem);
}

// ---- Commit
// The last write to each storage; the buffers' blocks stay the executor's until the
// commit has succeeded.
static int collect_writes(struct executor *executor, struct registry_write *writes)
{
    int n = 0;
    for (struct node *node = executor->graph->newest_write; node;
         node = node->few_inputs[1]) {
        struct storage *storage = node->write.tensor->storage;
        bool later = false;
        for (int i = 0; i < n; i++)
            later = later || writes[i].storage == storage;
        if (later || !node->plan.buffer)
            continue;
        struct block *block =
            executor->in_place == node ? NULL : node->plan.buffer->block;
        if (block)
            block_reference(block);
        writes[n++] = (struct registry_write){.storage = storage, .block = block};
    }
    return n;
}

enum { FEW = 4 };

static int count_writes(const struct graph *graph)
{
    int n = 0;
    for (const struct node *node = graph->newest_write; node; node = node->few_inputs[1])
        n++;
    return n;
}

static enum status collect_names(struct executor *executor, int n_names,
                                 const char *const *names,
                                 struct registry_change *changes, int *n,
                                 struct problem *problem)
{
    *n = 0;
    for (int i = 0; i < n_names; i++) {
        if (!names[i])
            continue;
        struct tensor *tensor;
        enum status status = executor_result(executor, i, &tensor, problem);
        if (status != STATUS_OK)
            return status;
        changes[(*n)++] = (struct registry_change){
            .name = names[i], .tensor = tensor, .keep_attributes = true};
    }
    return STATUS_OK;
}

enum status executor_commit(struct executor *executor, struct name_space *space,
                            int n_names, const char *const *names,
                            struct problem *problem)
{
    struct graph *graph = executor->graph;
    int most = count_writes(graph), n_writes = 0, n_changes = 0;
    // A few need no memory: after a write in place nothing may fail any more.
    struct registry_change few_changes[FEW], *changes = few_changes;
    struct registry_write few_writes[FEW], *writes = few_writes;
    if (n_names > FEW)
        changes = graph_take(graph, (size_t)n_names * sizeof *changes, problem);
    if (most > FEW)
        writes = graph_take(graph, (size_t)most * sizeof *writes, problem);
    if (!changes || !writes)
        return problem->status;
    enum status status =
        collect_names(executor, n_names, names, changes, &n_changes, problem);
    if (status == STATUS_OK) {
        n_writes = collect_writes(executor, writes);
        struct registry_commit commit = {.n_changes = n_changes,
                                         .changes = changes,
                                         .n_writes = n_writes,
                                         .writes = writes};
        status = registry_commit(space, &commit, problem);
        for (int i = 0; i < n_writes && status != STATUS_OK; i++)
            block_release(writes[i].block);
    }
    for (int i = 0; i < n_changes; i++)
        tensor_release(changes[i].tensor);
    return status;
}
