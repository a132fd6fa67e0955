// SPDX-License-Identifier: Apache-2.0
// Shapes without strides: checks, texts, broadcasting, the inferred size, dimension
// numbers.
#include "tensor/shape.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "kernels/base/size.h"

enum { SHAPE_TEXT = 128 };

enum status shape_check(int ndim, const int64_t *shape, int element_size, int64_t *count,
                        struct problem *problem)
{
    if (ndim < 0 || ndim > TENSOR_MAX_NDIM)
        return problem_set(problem, STATUS_LIMIT,
                           "%d dimensions; a tensor has at most %d", ndim,
                           TENSOR_MAX_NDIM);
    int64_t product = 1, bytes;
    bool zero = false, fits = true;
    for (int i = 0; i < ndim; i++) {
        if (shape[i] < 0)
            return problem_set(problem, STATUS_SHAPE,
                               "dimension %d has the negative size %" PRId64, i,
                               shape[i]);
        if (shape[i] == 0)
            zero = true;
        else
            fits = fits && size_multiply(product, shape[i], &product);
    }
    if (!fits || !size_multiply(product, element_size, &bytes)) {
        char text[SHAPE_TEXT];
        shape_text(ndim, shape, text, sizeof text);
        problem_set(problem, STATUS_SHAPE, "the size of a tensor of shape %s overflows",
                    text);
        shape_text(ndim, shape, problem->shapes, sizeof problem->shapes);
        return STATUS_SHAPE;
    }
    if (count)
        *count = zero ? 0 : product;
    return STATUS_OK;
}

void shape_text(int ndim, const int64_t *shape, char *text, size_t size)
{
    char full[TENSOR_MAX_NDIM * 22 + 4];
    size_t length = 0;
    full[length++] = '(';
    for (int i = 0; i < ndim; i++)
        length += (size_t)snprintf(full + length, sizeof full - length, "%s%" PRId64,
                                   i ? ", " : "", shape[i]);
    if (ndim == 1)
        full[length++] = ',';
    full[length++] = ')';
    if (size == 0)
        return;
    size_t kept = length < size ? length : size - 1;
    memcpy(text, full, kept);
    text[kept] = '\0';
    if (kept < length && kept >= 3)
        memcpy(text + kept - 3, "...", 3);
}

// "(2, 3) (4,)" into problem->shapes.
static void list_shapes(int n, const struct layout *const *layouts,
                        struct problem *problem)
{
    size_t length = 0, size = sizeof problem->shapes;
    for (int i = 0; i < n && length + 2 < size; i++) {
        if (i > 0)
            problem->shapes[length++] = ' ';
        shape_text(layouts[i]->ndim, layouts[i]->shape, problem->shapes + length,
                   size - length);
        length += strlen(problem->shapes + length);
    }
}

enum status shape_broadcast(int n, const struct layout *const *layouts,
                            struct layout *out, struct problem *problem)
{
    int ndim = 0;
    for (int i = 0; i < n; i++)
        if (layouts[i]->ndim > ndim)
            ndim = layouts[i]->ndim;
    int64_t shape[TENSOR_MAX_NDIM];
    for (int d = 0; d < ndim; d++)
        shape[d] = 1;
    for (int i = 0; i < n; i++) {
        int skipped = ndim - layouts[i]->ndim;
        for (int d = skipped; d < ndim; d++) {
            int64_t size = layouts[i]->shape[d - skipped];
            if (size == 1 || size == shape[d])
                continue;
            if (shape[d] != 1) {
                problem_set(problem, STATUS_SHAPE,
                            "sizes %" PRId64 " and %" PRId64
                            " of dimension %d do not broadcast: "
                            "they must be equal, or one of them 1",
                            shape[d], size, d);
                list_shapes(n, layouts, problem);
                return STATUS_SHAPE;
            }
            shape[d] = size;
        }
    }
    out->ndim = ndim;
    for (int d = 0; d < ndim; d++)
        out->shape[d] = shape[d];
    return STATUS_OK;
}

static enum status refuse_shape(const char *why, int64_t count, int ndim,
                                const int64_t *shape, struct problem *problem)
{
    char text[SHAPE_TEXT];
    shape_text(ndim, shape, text, sizeof text);
    problem_set(problem, STATUS_SHAPE, "shape %s does not fit %" PRId64 " elements%s",
                text, count, why);
    shape_text(ndim, shape, problem->shapes, sizeof problem->shapes);
    return STATUS_SHAPE;
}

enum status shape_infer(int64_t count, int ndim, int64_t *shape, struct problem *problem)
{
    if (ndim < 0 || ndim > TENSOR_MAX_NDIM)
        return shape_check(ndim, shape, 1, NULL, problem);
    int unknown = -1;
    int64_t known[TENSOR_MAX_NDIM], product;
    for (int i = 0; i < ndim; i++) {
        known[i] = shape[i];
        if (shape[i] >= 0)
            continue;
        if (shape[i] != -1)
            return problem_set(problem, STATUS_SHAPE,
                               "dimension %d has the negative size %" PRId64
                               "; only -1 is inferred",
                               i, shape[i]);
        if (unknown >= 0)
            return problem_set(problem, STATUS_SHAPE,
                               "only one dimension can be inferred, and %d "
                               "and %d are -1",
                               unknown, i);
        unknown = i;
        known[i] = 1;
    }
    if (!size_of_shape(ndim, known, &product))
        return refuse_shape("", count, ndim, shape, problem);
    if (unknown < 0)
        return product == count ? STATUS_OK
                                : refuse_shape("", count, ndim, shape, problem);
    if (product == 0)
        return refuse_shape(count == 0 ? ": any size would do for -1" : "", count, ndim,
                            shape, problem);
    if (count % product != 0)
        return refuse_shape("", count, ndim, shape, problem);
    shape[unknown] = count / product;
    return STATUS_OK;
}

enum status dim_normalize(int64_t dim, int ndim, int *out, struct problem *problem)
{
    int limit =
        ndim > 0 ? ndim : 1; // a 0-d tensor has the dimensions -1 and 0, as in torch
    if (dim < -limit || dim >= limit)
        return problem_set(problem, STATUS_INDEX,
                           "dimension %" PRId64 " is out of range: expected %d to %d",
                           dim, -limit, limit - 1);
    *out = (int)(dim < 0 ? dim + limit : dim);
    return STATUS_OK;
}
