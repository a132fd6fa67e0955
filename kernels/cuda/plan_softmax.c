// SPDX-License-Identifier: Apache-2.0
// Plans of softmax. Contiguous rows of moderate length have a kernel of their own
// (softmax.cu); every other shape is three passes: the largest of each line, the sum of
// exponentials, the quotients.
#include "kernels/cuda/state.h"

#include <stdlib.h>

#include "kernels/base/size.h"

// ---- rows
struct rows_plan {
    struct plan base;
    struct softmax softmax;
    int64_t per_slice;
};

static enum status rows_launch(struct plan *base, int64_t slice, struct problem *problem)
{
    struct rows_plan *plan = (struct rows_plan *)base;
    const struct softmax *softmax = &plan->softmax;
    int64_t first = slice * plan->per_slice, rows = softmax->outer - first;
    rows = rows < plan->per_slice ? rows : plan->per_slice;
    int64_t offset = first * softmax->n * dtype_size(softmax->dtype);
    cudaError_t error = launch_softmax(softmax->dtype, (const char *)softmax->x + offset,
                                       (char *)softmax->y + offset, rows, (int)softmax->n,
                                       base->device->stream);
    return fault_of(base->device, error, "softmax", problem);
}

static void rows_free(struct plan *plan)
{
    free(plan);
}

static enum status rows_create(struct cuda_device *device, const struct softmax *softmax,
                               struct plan **out, struct problem *problem)
{
    static const struct plan_form form = {rows_launch, rows_free};
    struct rows_plan *plan = calloc(1, sizeof *plan);
    if (!plan)
        return fault_out_of_host_memory(device, problem);
    int64_t row_bytes = 4 * softmax->n * dtype_size(softmax->dtype);
    plan->softmax = *softmax;
    plan->per_slice = device->slice_bytes / row_bytes;
    plan->per_slice = plan->per_slice < 64        ? 64
                      : plan->per_slice > 1 << 24 ? 1 << 24
                                                  : plan->per_slice;
    plan->base.device = device;
    plan->base.form = &form;
    plan->base.total = (softmax->outer + plan->per_slice - 1) / plan->per_slice;
    atomic_init(&plan->base.done, 0);
    *out = &plan->base;
    return STATUS_OK;
}

// ---- three passes
enum { PASSES = 3 };
struct lines_plan {
    struct plan base;
    struct plan *passes[PASSES];
    void *largest, *sums; // one element of the computation dtype for each line
};

static enum status lines_launch(struct plan *base, int64_t slice, struct problem *problem)
{
    struct lines_plan *plan = (struct lines_plan *)base;
    int i = 0;
    while (slice >= plan->passes[i]->total)
        slice -= plan->passes[i++]->total;
    return plan_launch(plan->passes[i], slice, problem);
}

static void lines_free(struct plan *base)
{
    struct lines_plan *plan = (struct lines_plan *)base;
    for (int i = 0; i < PASSES; i++)
        if (plan->passes[i])
            plan->passes[i]->form->free(plan->passes[i]);
    if (plan->largest)
        pool_release(&base->device->pool, plan->largest);
    if (plan->sums)
        pool_release(&base->device->pool, plan->sums);
    free(plan);
}

// Adds an instruction to a pass and gives its register.
static uint8_t add(struct pass *pass, enum map_op op, enum dtype dtype, uint8_t a,
                   uint8_t b)
{
    pass->instructions[pass->n_instructions] = (struct pass_instruction){
        .op = (uint8_t)op, .dtype = (uint8_t)dtype, .a = a, .b = b};
    return (uint8_t)(pass->n_inputs + pass->n_instructions++);
}

static void add_memory(struct pass *pass, const void *data, enum dtype dtype,
                       int64_t outer, int64_t n, int64_t inner)
{
    pass->inputs[pass->n_inputs++] = (struct pass_input){
        .kind = PASS_MEMORY, .dtype = dtype, .data = data, .strides = {outer, n, inner}};
}

// Over [outer, n, inner], in that order for the quotients and with n last (reduced) for
// the others.
static void exchange_last(struct pass *pass)
{
    for (int i = 0; i < pass->n_inputs; i++) {
        int64_t *strides = pass->inputs[i].strides, middle = strides[1];
        strides[1] = strides[2];
        strides[2] = middle;
    }
    int64_t middle = pass->shape[1];
    pass->shape[1] = pass->shape[2];
    pass->shape[2] = middle;
    pass->n_reduced = 1;
}

// x - largest, exponentiated; a register.
static uint8_t add_exponential(struct pass *pass, enum dtype dtype, enum dtype computed)
{
    uint8_t x = dtype == computed ? 0 : add(pass, MAP_CAST, computed, 0, 0);
    return add(pass, MAP_exp, computed, add(pass, MAP_sub, computed, x, 1), 0);
}

static void write_pass(const struct lines_plan *plan, const struct softmax *s, int step,
                       struct pass *pass)
{
    enum dtype computed = s->dtype == DTYPE_FLOAT64 ? DTYPE_FLOAT64 : DTYPE_FLOAT32;
    *pass = (struct pass){.ndim = 3, .shape = {s->outer, s->n, s->inner}};
    add_memory(pass, s->x, s->dtype, s->n * s->inner, s->inner, 1);
    if (step > 0)
        add_memory(pass, plan->largest, computed, s->inner, 0, 1);
    if (step > 1)
        add_memory(pass, plan->sums, computed, s->inner, 0, 1);
    if (step == 0 && s->dtype != computed)
        add(pass, MAP_CAST, computed, 0, 0);
    if (step > 0) {
        uint8_t exponential = add_exponential(pass, s->dtype, computed);
        if (step == 2) {
            uint8_t quotient = add(pass, MAP_div, computed, exponential, 2);
            if (s->dtype != computed)
                add(pass, MAP_CAST, s->dtype, quotient, 0);
        }
    }
    if (step == 2) {
        pass->output = s->y;
        pass->output_dtype = s->dtype;
        int64_t strides[3] = {s->n * s->inner, s->inner, 1};
        for (int d = 0; d < 3; d++)
            pass->output_strides[d] = strides[d];
        return;
    }
    exchange_last(pass);
    pass->reduce = step == 0 ? PASS_MAX : PASS_SUM;
    pass->output = step == 0 ? plan->largest : plan->sums;
    pass->output_dtype = computed;
    pass->output_strides[0] = s->inner;
    pass->output_strides[1] = 1;
}

static enum status lines_create(struct cuda_device *device, const struct softmax *softmax,
                                struct plan **out, struct problem *problem)
{
    static const struct plan_form form = {lines_launch, lines_free};
    struct lines_plan *plan = calloc(1, sizeof *plan);
    if (!plan)
        return fault_out_of_host_memory(device, problem);
    plan->base.device = device;
    plan->base.form = &form;
    atomic_init(&plan->base.done, 0);
    int64_t bytes =
        softmax->outer * softmax->inner * (softmax->dtype == DTYPE_FLOAT64 ? 8 : 4);
    enum status status = pool_take(device, bytes, &plan->largest, problem);
    if (status == STATUS_OK)
        status = pool_take(device, bytes, &plan->sums, problem);
    for (int i = 0; i < PASSES && status == STATUS_OK; i++) {
        struct pass pass;
        write_pass(plan, softmax, i, &pass);
        status = plan_pass_create(device, &pass, &plan->passes[i], problem);
        plan->base.total += status == STATUS_OK ? plan->passes[i]->total : 0;
    }
    if (status != STATUS_OK) {
        lines_free(&plan->base);
        return status;
    }
    *out = &plan->base;
    return STATUS_OK;
}

enum status plan_softmax_create(struct cuda_device *device, const struct softmax *softmax,
                                struct plan **out, struct problem *problem)
{
    return softmax->inner == 1 && softmax->n <= SOFTMAX_MAX_ROW
               ? rows_create(device, softmax, out, problem)
               : lines_create(device, softmax, out, problem);
}
