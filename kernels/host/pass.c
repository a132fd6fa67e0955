// SPDX-License-Identifier: Apache-2.0
// The functions of pass.h: prepare, run, finish. A prepared pass is one allocation (and
// one for partials) and immutable while spans run; frames live on the stack of the thread
// that runs.
#include "kernels/host/pass_internal.h"

#include "kernels/base/size.h"

#include <stdlib.h>

static void prepare(struct host_pass *out, const struct pass *pass)
{
    pass_program_prepare(out, pass);
    pass_geometry_prepare(out, pass);
}

// Partial results, if the reduced extents are cut into segments.
static bool allocate_partials(struct host_pass *pass)
{
    int64_t count, bytes, index_bytes;
    if (pass->reduce == PASS_NO_REDUCE || pass->segments == 1)
        return true;
    if (!size_multiply(pass->segments, pass->kept, &count) ||
        !size_multiply(count, pass->accumulator_size, &bytes) ||
        !size_multiply(count, sizeof(int64_t), &index_bytes))
        return false;
    pass->partials = aligned_alloc(64, (size_t)(bytes + 63) / 64 * 64);
    if (pass->arg_reducer != NULL)
        pass->partial_indices = malloc((size_t)index_bytes);
    return pass->partials != NULL &&
           (pass->arg_reducer == NULL || pass->partial_indices != NULL);
}

enum status host_pass_create(const struct pass *pass, struct host_pass **out,
                             struct problem *problem)
{
    struct host_pass *made = malloc(sizeof *made);
    if (made == NULL)
        return problem_set(problem, STATUS_OUT_OF_MEMORY,
                           "No memory to prepare a computation.");
    prepare(made, pass);
    if (!allocate_partials(made)) {
        host_pass_free(made);
        return problem_set(problem, STATUS_OUT_OF_MEMORY,
                           "No memory for the partial results of a reduction.");
    }
    *out = made;
    return STATUS_OK;
}

void host_pass_free(struct host_pass *pass)
{
    if (pass == NULL)
        return;
    free(pass->partials);
    free(pass->partial_indices);
    free(pass);
}

int64_t host_pass_spans(const struct host_pass *pass)
{
    return pass->spans;
}

static void run_units(const struct host_pass *pass, int64_t first, int64_t end,
                      int *faults)
{
    struct frame frame;
    frame_begin(&frame, pass, faults);
    for (int64_t unit = first; unit < end; unit++) {
        if (pass->reduce == PASS_NO_REDUCE)
            map_unit(&frame, unit);
        else
            reduce_unit(&frame, unit);
    }
    if (pass->stream)
        pass->level->copies->stream_end();
}

void host_pass_run(const struct host_pass *pass, int64_t first, int64_t count,
                   int *faults)
{
    int64_t begin = first * pass->units_per_span,
            end = (first + count) * pass->units_per_span;
    run_units(pass, begin, end < pass->units ? end : pass->units, faults);
}

void host_pass_finish(const struct host_pass *pass)
{
    if (pass->reduce == PASS_NO_REDUCE || pass->segments == 1)
        return;
    int faults = 0; // conversions of results cannot fault
    struct frame frame;
    frame.pass = pass;
    frame.faults = &faults;
    reduce_finish(&frame);
}

bool host_pass_run_small(const struct pass *pass, int *faults)
{
    int64_t count = 1;
    for (int d = 0; d < pass->ndim; d++) {
        count *= pass->shape[d];
        if (count > HOST_PASS_SMALL)
            return false;
    }
    struct host_pass small;
    prepare(&small, pass);
    run_units(&small, 0, small.units, faults);
    return true;
}
