// SPDX-License-Identifier: Apache-2.0
// Layouts: strides of C order, repeated dimensions, and seeing the same elements in
// another shape.
#include <inttypes.h>
#include <stdio.h>

#include "kernels/base/size.h"
#include "tensor/shape.h"

void layout_contiguous(struct layout *layout)
{
    int64_t stride = 1;
    for (int i = layout->ndim - 1; i >= 0; i--) {
        layout->strides[i] = stride;
        if (layout->shape[i] > 1)
            stride *=
                layout
                    ->shape[i]; // fits: shape_check leaves zero sizes out of the product
    }
}

bool layout_is_contiguous(const struct layout *layout)
{
    for (int i = 0; i < layout->ndim; i++)
        if (layout->shape[i] == 0)
            return true;
    int64_t expected = 1;
    for (int i = layout->ndim - 1; i >= 0; i--) {
        if (layout->shape[i] == 1)
            continue; // its stride is never used
        if (layout->strides[i] != expected)
            return false;
        expected *= layout->shape[i];
    }
    return true;
}

enum { REASON = 160 };

static enum status refuse_expand(const struct layout *in, int ndim, const int64_t *shape,
                                 const char *reason, struct problem *problem)
{
    char text[80], target[80];
    shape_text(in->ndim, in->shape, text, sizeof text);
    shape_text(ndim, shape, target, sizeof target);
    problem_set(problem, STATUS_SHAPE, "shape %s cannot be expanded to %s: %s", text,
                target, reason);
    snprintf(problem->shapes, sizeof problem->shapes, "%s %s", text, target);
    return STATUS_SHAPE;
}

// Dimension i of the expansion; `own` is the dimension of `in` behind it, negative for a
// new one.
static bool expand_dimension(const struct layout *in, int own, int i, int64_t target,
                             struct layout *out, char reason[REASON])
{
    int64_t size = own >= 0 ? in->shape[own] : 1;
    int64_t wanted = target == -1 && own >= 0 ? size : target;
    if (wanted < 0) {
        snprintf(reason, REASON, "dimension %d has the size %" PRId64 "%s", i, target,
                 target == -1 ? ", and there is none to keep" : "");
        return false;
    }
    if (wanted != size && size != 1) {
        snprintf(reason, REASON,
                 "size %" PRId64 " must match the existing size %" PRId64
                 " at dimension %d, which is not 1",
                 wanted, size, i);
        return false;
    }
    out->shape[i] = wanted;
    if (wanted != size)
        out->strides[i] = 0;
    else if (own >= 0)
        out->strides[i] = in->strides[own];
    else if (i + 1 >= out->ndim ||
             !size_multiply(out->shape[i + 1], out->strides[i + 1], &out->strides[i]))
        out->strides[i] =
            1; // a new dimension of size 1: torch gives it the extent of the next one
    return true;
}

enum status layout_expand(const struct layout *in, int ndim, const int64_t *shape,
                          struct layout *out, struct problem *problem)
{
    if (ndim < 0 || ndim > TENSOR_MAX_NDIM)
        return shape_check(ndim, shape, 1, NULL, problem);
    char reason[REASON];
    if (ndim < in->ndim) {
        snprintf(reason, sizeof reason, "%d sizes are given for %d dimensions", ndim,
                 in->ndim);
        return refuse_expand(in, ndim, shape, reason, problem);
    }
    struct layout result = {.ndim = ndim};
    for (int i = ndim - 1; i >= 0; i--)
        if (!expand_dimension(in, i - (ndim - in->ndim), i, shape[i], &result, reason))
            return refuse_expand(in, ndim, shape, reason, problem);
    // Though nothing is copied, a shape whose size in bytes overflows exists nowhere.
    enum status status = shape_check(ndim, result.shape, 8, NULL, problem);
    if (status == STATUS_OK)
        layout_copy(out, &result);
    return status;
}

static bool same_shape(const struct layout *in, int ndim, const int64_t *shape)
{
    if (in->ndim != ndim)
        return false;
    for (int i = 0; i < ndim; i++)
        if (in->shape[i] != shape[i])
            return false;
    return true;
}

// Strides of dimensions *next, *next - 1, ... of out until they hold `count` elements
// that lie `stride` apart; sizes of 1 before them come along. False if they cannot hold
// exactly that many.
static bool cut_run(struct layout *out, int *next, int64_t count, int64_t stride)
{
    int64_t held = 1;
    while (*next >= 0 && (held < count || out->shape[*next] == 1)) {
        if (!size_multiply(held, stride, &out->strides[*next]) ||
            !size_multiply(held, out->shape[*next], &held))
            return false;
        (*next)--;
    }
    return held == count;
}

// torch's rule (at::detail::computeStride): dimensions of `in` whose elements follow each
// other at one distance form a run; every run must be cut by whole dimensions of the new
// shape, from the last to the first.
bool layout_view(const struct layout *in, int ndim, const int64_t *shape,
                 struct layout *out)
{
    int64_t count, wanted;
    if (ndim > TENSOR_MAX_NDIM || !size_of_shape(in->ndim, in->shape, &count) ||
        !size_of_shape(ndim, shape, &wanted) || count != wanted)
        return false;
    struct layout result = {.ndim = ndim};
    for (int i = 0; i < ndim; i++)
        result.shape[i] = shape[i];
    if (count == 0) {
        if (same_shape(in, ndim, shape))
            layout_copy(&result, in);
        else
            layout_contiguous(&result);
        layout_copy(out, &result);
        return true;
    }
    int next = ndim - 1;
    int64_t run = 1, stride = in->ndim > 0 ? in->strides[in->ndim - 1] : 1, reach;
    for (int i = in->ndim - 1; i >= 0; i--) {
        run *= in->shape[i];
        bool joined =
            i > 0 && (in->shape[i - 1] == 1 || (size_multiply(run, stride, &reach) &&
                                                in->strides[i - 1] == reach));
        if (joined)
            continue;
        if (!cut_run(&result, &next, run, stride))
            return false;
        run = 1;
        stride = i > 0 ? in->strides[i - 1] : 1;
    }
    if (in->ndim == 0 && !cut_run(&result, &next, 1, 1))
        return false;
    if (next >= 0)
        return false;
    layout_copy(out, &result);
    return true;
}
