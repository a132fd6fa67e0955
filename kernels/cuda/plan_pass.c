// SPDX-License-Identifier: Apache-2.0
// Plans of elementwise passes and of reductions. A pass is cut into linear ranges of its
// iteration space. A reduction is one or more stages (program.h), each cut into ranges of
// tasks; partial values lie in a workspace that the pool takes back with the plan, which
// the stream's order makes safe.
#include "kernels/cuda/state.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/base/size.h"

// Kernels address at most this many elements of a slice with 32 bits.
enum { SLICE_MOST = 1 << 30, SLICE_LEAST = 1 << 14 };

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t elements_of(const struct pass *pass, int from, int to)
{
    int64_t count = 1;
    for (int d = from; d < to; d++)
        count *= pass->shape[d]; // the planner has checked the product
    return count;
}

int64_t plan_slice_elements(const struct cuda_device *device, const struct pass *pass)
{
    int64_t cost = dtype_size(pass->output_dtype) + pass->n_instructions;
    for (int i = 0; i < pass->n_inputs; i++)
        if (pass->inputs[i].kind == PASS_MEMORY)
            cost += dtype_size(pass->inputs[i].dtype);
    int64_t elements = device->slice_bytes / cost;
    elements = elements > SLICE_MOST    ? SLICE_MOST
               : elements < SLICE_LEAST ? SLICE_LEAST
                                        : elements;
    return elements - elements % 1024;
}

static cudaError_t note_fault(struct cuda_device *device, const struct program *program,
                              cudaError_t error)
{
    device->may_fault |= program->may_fault;
    return error;
}

// ---- elementwise
struct pass_plan {
    struct plan base;
    int64_t count, per_slice;
    struct program program;
};

static enum status pass_launch(struct plan *base, int64_t slice, struct problem *problem)
{
    struct pass_plan *plan = (struct pass_plan *)base;
    struct cuda_device *device = base->device;
    int64_t first = slice * plan->per_slice;
    int64_t end = smaller(first + plan->per_slice, plan->count);
    cudaError_t error =
        launch_pass(&plan->program, first, end, device->fault_flag, device->stream);
    return fault_of(device, note_fault(device, &plan->program, error), "a pass", problem);
}

static void pass_free(struct plan *plan)
{
    free(plan);
}

enum status plan_pass_create(struct cuda_device *device, const struct pass *pass,
                             struct plan **out, struct problem *problem)
{
    static const struct plan_form form = {pass_launch, pass_free};
    if (pass->reduce != PASS_NO_REDUCE)
        return plan_reduce_create(device, pass, out, problem);
    struct pass_plan *plan = malloc(sizeof *plan);
    if (!plan)
        return fault_out_of_host_memory(device, problem);
    plan->count = elements_of(pass, 0, pass->ndim);
    plan->per_slice = plan_slice_elements(device, pass);
    program_encode(pass, &plan->program);
    plan->base.device = device;
    plan->base.form = &form;
    plan->base.total = (plan->count + plan->per_slice - 1) / plan->per_slice;
    atomic_init(&plan->base.done, 0);
    *out = &plan->base;
    return STATUS_OK;
}

// ---- reductions
struct stage {
    struct program program;
    struct reduction reduction; // of the whole stage
    int64_t slices, per_slice;  // tasks
    void *values, *indices;     // workspace it writes
};

struct reduce_plan {
    struct plan base;
    int n_stages;
    struct stage stages[];
};

static enum status reduce_launch(struct plan *base, int64_t slice,
                                 struct problem *problem)
{
    struct reduce_plan *plan = (struct reduce_plan *)base;
    struct cuda_device *device = base->device;
    struct stage *stage = plan->stages;
    while (slice >= stage->slices)
        slice -= stage++->slices;
    struct reduction part = stage->reduction;
    part.first_task = slice * stage->per_slice;
    part.n_tasks = smaller(stage->per_slice, stage->reduction.n_tasks - part.first_task);
    cudaError_t error =
        launch_reduce(&stage->program, &part, device->fault_flag, device->stream);
    return fault_of(device, note_fault(device, &stage->program, error), "a reduction",
                    problem);
}

static void reduce_free(struct plan *base)
{
    struct reduce_plan *plan = (struct reduce_plan *)base;
    for (int s = 0; s < plan->n_stages; s++) {
        if (plan->stages[s].values)
            pool_release(&base->device->pool, plan->stages[s].values);
        if (plan->stages[s].indices)
            pool_release(&base->device->pool, plan->stages[s].indices);
    }
    free(plan);
}

// Whether neighbouring threads should take neighbouring outputs: where that is how memory
// lies, or where the extent is too short to keep a warp busy.
static bool reads_across(const struct pass *pass, int64_t outer, int64_t extent)
{
    if (outer == 1 || extent <= 16)
        return outer > 1;
    int kept = pass->ndim - pass->n_reduced - 1, reduced = pass->ndim - 1;
    while (kept > 0 && pass->shape[kept] == 1)
        kept--;
    while (reduced > kept + 1 && pass->shape[reduced] == 1)
        reduced--;
    int64_t votes = 0;
    for (int i = 0; i < pass->n_inputs; i++) {
        const int64_t *strides = pass->inputs[i].strides;
        if (pass->inputs[i].kind == PASS_MEMORY && strides[reduced] != strides[kept])
            votes += strides[reduced] > strides[kept] ? 1 : -1;
    }
    return votes > 0;
}

static enum dtype partial_dtype(uint8_t value_class)
{
    return value_class == VALUE_INT64     ? DTYPE_INT64
           : value_class == VALUE_FLOAT32 ? DTYPE_FLOAT32
                                          : DTYPE_FLOAT64;
}

// The pass of a later stage: the partial values of the one before.
static void partial_pass(const struct stage *before, const struct pass *first,
                         struct pass *out)
{
    memset(out, 0, sizeof *out);
    const struct reduction *r = &before->reduction;
    out->ndim = 2;
    out->n_reduced = 1;
    out->shape[0] = r->outer;
    out->shape[1] = r->blocks;
    out->n_inputs = 1;
    out->inputs[0] =
        (struct pass_input){.kind = PASS_MEMORY,
                            .dtype = partial_dtype(before->program.result_class),
                            .data = before->values,
                            .strides = {r->blocks, 1}};
    out->reduce = first->reduce;
    out->output = first->output;
    out->output_dtype = first->output_dtype;
}

static enum status make_workspace(struct cuda_device *device, struct stage *stage,
                                  struct problem *problem)
{
    int64_t bytes;
    if (!size_multiply(stage->reduction.n_tasks, 8, &bytes))
        return fault_out_of_host_memory(device, problem);
    enum status status = pool_take(device, bytes, &stage->values, problem);
    bool indexed =
        stage->reduction.kind == PASS_ARGMIN || stage->reduction.kind == PASS_ARGMAX;
    if (status == STATUS_OK && indexed)
        status = pool_take(device, bytes, &stage->indices, problem);
    stage->reduction.values = stage->values;
    stage->reduction.indices = stage->indices;
    return status;
}

// Fills stage number s; `pass` is what it runs, `first` the caller's.
static enum status make_stage(struct reduce_plan *plan, int s, const struct pass *pass,
                              const struct pass *first, int64_t count,
                              struct problem *problem)
{
    struct cuda_device *device = plan->base.device;
    struct stage *stage = &plan->stages[s];
    int kept = pass->ndim - pass->n_reduced;
    int64_t outer = elements_of(pass, 0, kept),
            extent = elements_of(pass, kept, pass->ndim);
    int64_t blocks = (extent + PASS_REDUCE_BLOCK - 1) / PASS_REDUCE_BLOCK;
    program_encode(pass, &stage->program);
    if (s > 0) { // the output's dims are the first stage's
        struct program whole;
        program_encode(first, &whole);
        stage->program.output = whole.output;
        stage->program.wide |= whole.wide;
    }
    stage->reduction =
        (struct reduction){.outer = outer,
                           .extent = extent,
                           .blocks = blocks,
                           .n_tasks = outer * blocks,
                           .count = count,
                           .from_index = s > 0 ? plan->stages[s - 1].indices : NULL,
                           .kind = (uint8_t)first->reduce,
                           .across = reads_across(pass, outer, extent)};
    stage->per_slice =
        plan_slice_elements(device, pass) / smaller(extent, PASS_REDUCE_BLOCK);
    stage->per_slice = stage->per_slice < 8 ? 8 : stage->per_slice;
    stage->slices = (stage->reduction.n_tasks + stage->per_slice - 1) / stage->per_slice;
    plan->base.total += stage->slices;
    return blocks > 1 ? make_workspace(device, stage, problem) : STATUS_OK;
}

static int count_stages(int64_t extent)
{
    int stages = 1;
    for (; extent > PASS_REDUCE_BLOCK; stages++)
        extent = (extent + PASS_REDUCE_BLOCK - 1) / PASS_REDUCE_BLOCK;
    return stages;
}

enum status plan_reduce_create(struct cuda_device *device, const struct pass *pass,
                               struct plan **out, struct problem *problem)
{
    static const struct plan_form form = {reduce_launch, reduce_free};
    int64_t extent = elements_of(pass, pass->ndim - pass->n_reduced, pass->ndim);
    int n_stages = count_stages(extent);
    struct reduce_plan *plan =
        calloc(1, sizeof *plan + (size_t)n_stages * sizeof plan->stages[0]);
    if (!plan)
        return fault_out_of_host_memory(device, problem);
    plan->base.device = device;
    plan->base.form = &form;
    atomic_init(&plan->base.done, 0);
    struct pass partial;
    enum status status = STATUS_OK;
    for (int s = 0; s < n_stages && status == STATUS_OK; s++) {
        if (s > 0)
            partial_pass(&plan->stages[s - 1], pass, &partial);
        plan->n_stages = s + 1;
        status = make_stage(plan, s, s > 0 ? &partial : pass, pass, extent, problem);
    }
    if (status != STATUS_OK) {
        reduce_free(&plan->base);
        return status;
    }
    *out = &plan->base;
    return STATUS_OK;
}
