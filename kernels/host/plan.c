// SPDX-License-Identifier: Apache-2.0
// Plans of the host device (plan.h).
#include "kernels/host/plan.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/size.h"
#include "kernels/host/clock.h"
#include "kernels/host/gemm.h"
#include "kernels/host/pass.h"
#include "kernels/host/random.h"
#include "kernels/host/softmax.h"

static const double SLICE_NANOSECONDS = 3e6;
static const double SHARE_NANOSECONDS =
    1.5e5; // less work than this is not worth waking helpers
enum {
    SPAN_NANOSECONDS = 30000, // of a pass, until one has been measured
    FIRST_SPANS = 8,          // a thread, until then
};

enum plan_form { PLAN_SMALL_PASS, PLAN_PASS, PLAN_GEMM, PLAN_SOFTMAX, PLAN_RANDOM };

struct plan {
    struct host_device *host;
    enum plan_form form;
    int64_t units;
    atomic_int_fast64_t done;
    double unit_nanoseconds; // on one core; estimated, then measured
    void *workspace;
    int64_t workspace_bytes;
    atomic_int faults; // of a pass
    union {
        struct pass small;
        struct host_pass *pass;
        struct gemm_cut gemm;
        struct softmax_cut softmax;
        struct random_cut random;
    };
};

// ---- Making one. The last plan freed is kept for the next, so that a small request pays
// for no malloc.
static struct plan *plan_new(struct host_device *host, enum plan_form form,
                             struct problem *problem)
{
    struct plan *plan = NULL;
    if (host_alloc_permitted()) {
        plan = atomic_exchange_explicit(&host->spare, NULL, memory_order_acquire);
        plan = plan != NULL ? plan : malloc(sizeof *plan);
    }
    if (plan == NULL) {
        problem_set(problem, STATUS_OUT_OF_MEMORY, "The host has no memory for a plan.");
        return NULL;
    }
    plan->host = host;
    plan->form = form;
    plan->units = 1;
    plan->unit_nanoseconds = 0;
    plan->workspace = NULL;
    plan->workspace_bytes = 0;
    atomic_init(&plan->done, 0);
    atomic_init(&plan->faults, 0);
    return plan;
}

static void plan_release(struct plan *plan)
{
    free(atomic_exchange_explicit(&plan->host->spare, plan, memory_order_acq_rel));
}

static enum status take_workspace(struct plan *plan, int64_t bytes,
                                  struct problem *problem)
{
    plan->workspace_bytes = bytes;
    if (bytes == 0)
        return STATUS_OK;
    plan->workspace = host_alloc_take(plan->host->alloc, bytes);
    if (plan->workspace != NULL)
        return STATUS_OK;
    problem_set(problem, STATUS_OUT_OF_MEMORY,
                "The host has no memory for %lld bytes of workspace.", (long long)bytes);
    problem->required_bytes = bytes;
    return STATUS_OUT_OF_MEMORY;
}

static bool is_small(const struct pass *pass)
{
    int64_t count = 1;
    for (int d = 0; d < pass->ndim; d++)
        if (!size_multiply(count, pass->shape[d], &count) || count > HOST_PASS_SMALL)
            return false;
    return true;
}

// Copies what a pass uses of its arrays.
static void copy_pass(struct pass *to, const struct pass *from)
{
    memcpy(to, from, offsetof(struct pass, inputs));
    memcpy(to->inputs, from->inputs, (size_t)from->n_inputs * sizeof from->inputs[0]);
    memcpy(to->instructions, from->instructions,
           (size_t)from->n_instructions * sizeof from->instructions[0]);
    to->reduce = from->reduce;
    to->output = from->output;
    to->output_dtype = from->output_dtype;
    memcpy(to->output_strides, from->output_strides, sizeof to->output_strides);
}

static enum status plan_pass(struct host_device *host, const struct pass *pass,
                             struct plan **out, struct problem *problem)
{
    bool small = is_small(pass);
    struct plan *plan = plan_new(host, small ? PLAN_SMALL_PASS : PLAN_PASS, problem);
    if (plan == NULL)
        return STATUS_OUT_OF_MEMORY;
    if (small) {
        copy_pass(&plan->small, pass);
    } else {
        enum status status = host_pass_create(pass, &plan->pass, problem);
        if (status != STATUS_OK) {
            plan_release(plan);
            return status;
        }
        plan->units = host_pass_spans(plan->pass);
        plan->unit_nanoseconds = SPAN_NANOSECONDS;
    }
    *out = plan;
    return STATUS_OK;
}

static enum status plan_gemm(struct host_device *host, const struct gemm *gemm,
                             struct plan **out, struct problem *problem)
{
    struct plan *plan = plan_new(host, PLAN_GEMM, problem);
    if (plan == NULL)
        return STATUS_OUT_OF_MEMORY;
    gemm_prepare(&plan->gemm, gemm, pool_threads(host->pool));
    enum status status = take_workspace(plan, plan->gemm.workspace_bytes, problem);
    if (status != STATUS_OK) {
        plan_release(plan);
        return status;
    }
    plan->gemm.workspace = plan->workspace;
    plan->units = plan->gemm.units;
    plan->unit_nanoseconds = plan->gemm.unit_nanoseconds;
    *out = plan;
    return STATUS_OK;
}

static enum status plan_softmax(struct host_device *host, const struct softmax *softmax,
                                struct plan **out, struct problem *problem)
{
    struct plan *plan = plan_new(host, PLAN_SOFTMAX, problem);
    if (plan == NULL)
        return STATUS_OUT_OF_MEMORY;
    softmax_prepare(&plan->softmax, softmax);
    enum status status = take_workspace(plan, plan->softmax.workspace_bytes, problem);
    if (status != STATUS_OK) {
        plan_release(plan);
        return status;
    }
    plan->softmax.workspace = plan->workspace;
    plan->units = plan->softmax.units;
    plan->unit_nanoseconds = plan->softmax.unit_nanoseconds;
    *out = plan;
    return STATUS_OK;
}

static enum status plan_random(struct host_device *host, const struct random *random,
                               struct plan **out, struct problem *problem)
{
    if (!random_is_valid(random))
        return problem_set(problem, STATUS_DTYPE,
                           "Random numbers of this kind need a floating dtype.");
    struct plan *plan = plan_new(host, PLAN_RANDOM, problem);
    if (plan == NULL)
        return STATUS_OUT_OF_MEMORY;
    random_prepare(&plan->random, random);
    plan->units = plan->random.units;
    plan->unit_nanoseconds = plan->random.unit_nanoseconds;
    *out = plan;
    return STATUS_OK;
}

enum status plan_host_create(struct device *device, const struct kernel *kernel,
                             struct plan **out, struct problem *problem)
{
    struct host_device *host = host_device(device);
    switch (kernel->form) {
    case KERNEL_PASS:
        return plan_pass(host, kernel->pass, out, problem);
    case KERNEL_GEMM:
        return plan_gemm(host, &kernel->gemm, out, problem);
    case KERNEL_SOFTMAX:
        return plan_softmax(host, &kernel->softmax, out, problem);
    case KERNEL_RANDOM:
        return plan_random(host, &kernel->random, out, problem);
    }
    return problem_set(problem, STATUS_NOT_IMPLEMENTED,
                       "The host does not know this kernel.");
}

// ---- Running one
static void run_unit(struct plan *plan, int64_t unit, int thread)
{
    int faults = 0;
    switch (plan->form) {
    case PLAN_SMALL_PASS:
        host_pass_run_small(&plan->small, &faults);
        break;
    case PLAN_PASS:
        host_pass_run(plan->pass, unit, 1, &faults);
        break;
    case PLAN_GEMM:
        gemm_run(&plan->gemm, unit, thread);
        break;
    case PLAN_SOFTMAX:
        softmax_run(&plan->softmax, unit);
        break;
    case PLAN_RANDOM:
        random_run(&plan->random, unit);
        break;
    }
    if (faults != 0)
        atomic_fetch_or_explicit(&plan->faults, faults, memory_order_relaxed);
}

static int64_t units_together(const struct plan *plan, int64_t first)
{
    switch (plan->form) {
    case PLAN_GEMM:
        return gemm_together(&plan->gemm, first);
    case PLAN_SOFTMAX:
        return softmax_together(&plan->softmax, first);
    case PLAN_RANDOM: // a generator is one stream
        return 1;
    default:
        return plan->units - first;
    }
}

// The slice under way: chunk i of the pool's job is unit first + i.
struct slice_run {
    struct plan *plan;
    int64_t first;
};

static void run_chunk(void *context, int64_t chunk, int thread)
{
    struct slice_run *slice = context;
    run_unit(slice->plan, slice->first + chunk, thread);
}

// Runs units [first, first + count), which may run together. Returns CPU nanoseconds; 0
// for work so short that the caller's wall clock tells as well and costs no system call.
static int64_t run_units(struct plan *plan, int64_t first, int64_t count)
{
    double nanoseconds = (double)count * plan->unit_nanoseconds;
    if (count > 1 && nanoseconds > SHARE_NANOSECONDS) {
        struct slice_run slice = {plan, first};
        return pool_run(plan->host->pool, run_chunk, &slice, count);
    }
    bool brief = nanoseconds < SHARE_NANOSECONDS;
    int64_t start = brief ? 0 : clock_cpu();
    for (int64_t i = 0; i < count; i++)
        run_unit(plan, first + i, 0);
    return brief ? 0 : clock_cpu() - start;
}

// Units for the rest of a slice of which `left` nanoseconds of wall time remain. At least
// one for each thread.
static int64_t units_of_slice(const struct plan *plan, int64_t first, double left)
{
    int64_t threads = pool_threads(plan->host->pool),
            together = units_together(plan, first);
    double units = left * (double)threads / plan->unit_nanoseconds;
    int64_t count = units < (double)together ? (int64_t)units : together;
    if (plan->form == PLAN_PASS && first == 0 && count > FIRST_SPANS * threads)
        count = FIRST_SPANS * threads;
    if (count < threads)
        count = threads < together ? threads : together;
    return count;
}

static enum slice finish(struct plan *plan, struct problem *problem)
{
    if (plan->form == PLAN_PASS)
        host_pass_finish(plan->pass);
    if (atomic_load_explicit(&plan->faults, memory_order_relaxed) == 0)
        return SLICE_DONE;
    problem_set(problem, STATUS_ZERO_DIVISION, "An integer was divided by zero.");
    return SLICE_FAILED;
}

enum slice plan_host_next(struct plan *plan, struct problem *problem)
{
    int64_t done = atomic_load_explicit(&plan->done, memory_order_relaxed), busy = 0;
    int64_t start = clock_wall(), before = start;
    double left = SLICE_NANOSECONDS;
    do {
        int64_t count = units_of_slice(plan, done, left);
        int64_t nanoseconds = run_units(plan, done, count), now = clock_wall();
        if (nanoseconds == 0)
            nanoseconds = now - before;
        plan->unit_nanoseconds = (double)(nanoseconds + 1) / (double)count;
        busy += nanoseconds;
        done += count;
        before = now;
        left = SLICE_NANOSECONDS - (double)(now - start);
    } while (done < plan->units && left >= SLICE_NANOSECONDS / 2 &&
             left >= plan->unit_nanoseconds);
    atomic_store_explicit(&plan->done, done, memory_order_relaxed);
    atomic_fetch_add_explicit(&plan->host->busy, busy, memory_order_relaxed);
    return done < plan->units ? SLICE_MORE : finish(plan, problem);
}

void plan_host_progress(const struct plan *plan, int64_t *done, int64_t *total)
{
    *done = atomic_load_explicit(&plan->done, memory_order_relaxed);
    *total = plan->units;
}

void plan_host_free(struct plan *plan)
{
    if (plan == NULL)
        return;
    if (plan->form == PLAN_PASS)
        host_pass_free(plan->pass);
    if (plan->workspace != NULL)
        host_alloc_give(plan->host->alloc, plan->workspace, plan->workspace_bytes);
    plan_release(plan);
}
