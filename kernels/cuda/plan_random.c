// SPDX-License-Identifier: Apache-2.0
// Plans of random numbers (random.cu). Elements come in rows of all lanes; a permutation
// gives each place a 64-bit key, sorts the pairs of key and place by a network (exact:
// every order is as likely, but for equal keys, of which 2^32 places have one pair), and
// writes the places.
//
// The generator's offset is taken when the plan is made and moves on by 4 for each row:
// slices run later, but in the order their plans were made for.
#include "kernels/cuda/state.h"

#include <stdlib.h>

#include "kernels/base/size.h"

enum { MOST_ROWS = 65535, MOST_THREADS = 1 << 30, MOST_STEPS = 32 };

struct random_plan {
    struct plan base;
    struct random_cells cells;
    int64_t rows, rows_per_slice, row_slices;
    // permutations
    void *output;
    struct random_key *keys;
    int64_t pairs, pairs_per_launch, parts; // of one step of the network
    int64_t launches, launches_per_slice, exchange_slices;
    int64_t indices_per_slice;
};

static int64_t slices_of(int64_t work, int64_t per_slice)
{
    return work / per_slice + (work % per_slice != 0);
}

static int64_t clamp(int64_t value, int64_t low, int64_t high)
{
    return value < low ? low : value > high ? high : value;
}

// ---- The network: for k = 2, 4, 8, ... a flip in blocks of k, then steps of k / 4, k /
// 8, ... 1 elements.
static int64_t count_steps(int64_t pairs)
{
    int64_t levels = 0;
    for (; pairs > 0; pairs /= 2)
        levels++;
    return levels * (levels + 1) / 2;
}

// Pairs of a step are `distance` apart; the first step of each k flips.
static void find_step(int64_t step, int64_t *distance, bool *flip)
{
    int64_t level = 1;
    for (; step >= level; level++)
        step -= level;
    *flip = step == 0;
    *distance = INT64_C(1) << (level - 1 - step);
}

static cudaError_t exchange(const struct random_plan *plan, int64_t launch)
{
    int64_t first = launch % plan->parts * plan->pairs_per_launch, distance;
    int64_t rest = plan->pairs - first;
    bool flip;
    find_step(launch / plan->parts, &distance, &flip);
    return launch_random_exchange(plan->keys, plan->cells.count, first,
                                  rest < plan->pairs_per_launch ? rest
                                                                : plan->pairs_per_launch,
                                  distance, flip, plan->base.device->stream);
}

static cudaError_t exchange_slice(const struct random_plan *plan, int64_t slice)
{
    int64_t first = slice * plan->launches_per_slice,
            end = first + plan->launches_per_slice;
    cudaError_t error = cudaSuccess;
    for (; first < end && first < plan->launches && error == cudaSuccess; first++)
        error = exchange(plan, first);
    return error;
}

static cudaError_t indices_slice(const struct random_plan *plan, int64_t slice)
{
    int64_t first = slice * plan->indices_per_slice, rest = plan->cells.count - first;
    return launch_random_indices(
        plan->keys, plan->output, first,
        rest < plan->indices_per_slice ? rest : plan->indices_per_slice,
        (enum dtype)plan->cells.dtype, plan->base.device->stream);
}

static cudaError_t rows_slice(const struct random_plan *plan, int64_t slice)
{
    struct random_cells cells = plan->cells;
    cells.first_row = slice * plan->rows_per_slice;
    int64_t rest = plan->rows - cells.first_row;
    return launch_random(&cells,
                         rest < plan->rows_per_slice ? rest : plan->rows_per_slice,
                         plan->base.device->stream);
}

static enum status random_launch(struct plan *base, int64_t slice,
                                 struct problem *problem)
{
    struct random_plan *plan = (struct random_plan *)base;
    cudaError_t error;
    if (slice < plan->row_slices)
        error = rows_slice(plan, slice);
    else if (slice < plan->row_slices + plan->exchange_slices)
        error = exchange_slice(plan, slice - plan->row_slices);
    else
        error = indices_slice(plan, slice - plan->row_slices - plan->exchange_slices);
    return fault_of(base->device, error, "random numbers", problem);
}

static void random_free(struct plan *base)
{
    struct random_plan *plan = (struct random_plan *)base;
    if (plan->keys)
        pool_release(&base->device->pool, plan->keys);
    free(plan);
}

// ---- Making one
static double rounded(enum dtype dtype, double value)
{
    switch (dtype) {
    case DTYPE_FLOAT16:
        return (double)float16_to_float(float16_from_float((float)value));
    case DTYPE_BFLOAT16:
        return (double)bfloat16_to_float(bfloat16_from_float((float)value));
    case DTYPE_FLOAT32:
        return (double)(float)value;
    default:
        return value;
    }
}

static void describe_cells(struct random_cells *cells, const struct random *random)
{
    bool bounds = random->form == RANDOM_UNIFORM;
    cells->output = random->output;
    cells->count = random->count;
    cells->seed = random->generator->seed;
    cells->position = random->generator->offset / 4;
    cells->low = bounds ? rounded(random->dtype, random->low) : random->low;
    cells->high = bounds ? rounded(random->dtype, random->high) : random->high;
    cells->base = random->form == RANDOM_BITS ? 0 : random->base;
    cells->range =
        random->form == RANDOM_BITS ? random_modulus(random->dtype) : random->range;
    cells->form = (int)random->form;
    cells->dtype = (int)random->dtype;
    cells->wide = random_is_wide(random);
}

static void cut_rows(struct random_plan *plan, int element_bytes)
{
    int64_t row = (plan->cells.wide ? 2 : 4) * (int64_t)PHILOX_LANES;
    plan->rows = slices_of(plan->cells.count, row);
    plan->rows_per_slice =
        clamp(plan->base.device->slice_bytes / (row * element_bytes), 1, MOST_ROWS);
    plan->row_slices = slices_of(plan->rows, plan->rows_per_slice);
}

// Memory for the keys, and the slices that sort and write them.
static enum status plan_permutation(struct random_plan *plan, struct problem *problem)
{
    struct cuda_device *device = plan->base.device;
    int64_t bytes, count = plan->cells.count;
    if (!size_multiply(count, sizeof(struct random_key), &bytes))
        return problem_set(problem, STATUS_OUT_OF_MEMORY,
                           "A permutation of that length does not fit in memory.");
    void *keys;
    enum status status = pool_take(device, bytes, &keys, problem);
    if (status != STATUS_OK)
        return status;
    plan->keys = keys;
    plan->output = plan->cells.output;
    plan->cells.output = keys;
    plan->pairs = count > 1 ? 1 : 0;
    while (plan->pairs != 0 && plan->pairs * 2 < count)
        plan->pairs *= 2;
    plan->pairs_per_launch = clamp(device->slice_bytes / 64, 1 << 10, MOST_THREADS);
    plan->parts = slices_of(plan->pairs, plan->pairs_per_launch);
    plan->launches = plan->parts * count_steps(plan->pairs);
    plan->launches_per_slice =
        clamp(plan->pairs_per_launch / (plan->pairs + 1), 1, MOST_STEPS);
    plan->exchange_slices = slices_of(plan->launches, plan->launches_per_slice);
    plan->indices_per_slice = clamp(device->slice_bytes / 24, 1 << 10, MOST_THREADS);
    plan->base.total += plan->exchange_slices + slices_of(count, plan->indices_per_slice);
    return STATUS_OK;
}

enum status plan_random_create(struct cuda_device *device, const struct random *random,
                               struct plan **out, struct problem *problem)
{
    static const struct plan_form form = {random_launch, random_free};
    bool permutation = random->form == RANDOM_PERMUTATION;
    if (!random_is_valid(random))
        return problem_set(problem, STATUS_DTYPE,
                           "Random numbers of this kind need a floating dtype.");
    struct random_plan *plan = calloc(1, sizeof *plan);
    if (!plan)
        return fault_out_of_host_memory(device, problem);
    plan->base.device = device;
    plan->base.form = &form;
    atomic_init(&plan->base.done, 0);
    describe_cells(&plan->cells, random);
    cut_rows(plan,
             permutation ? (int)sizeof(struct random_key) : dtype_size(random->dtype));
    plan->base.total = plan->row_slices;
    if (permutation && random->count > 0) {
        enum status status = plan_permutation(plan, problem);
        if (status != STATUS_OK) {
            random_free(&plan->base);
            return status;
        }
    }
    random->generator->offset += 4 * (uint64_t)plan->rows;
    *out = &plan->base;
    return STATUS_OK;
}
