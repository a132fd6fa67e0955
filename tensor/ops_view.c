// SPDX-License-Identifier: Apache-2.0
// Builders of view operations: other layouts over the same elements (PyTorch's rules).
// The view of a stored tensor is a tensor on the same storage.
#include <inttypes.h>

#include "tensor/graph_internal.h"

// Reads an int[] argument into shape; its count, or -1 with a problem.
static int read_sizes(struct build *build, int index, int64_t *shape)
{
    const struct argument *argument = &build->arguments[index];
    if (argument->integers.count > TENSOR_MAX_NDIM) {
        problem_set(build->problem, STATUS_LIMIT,
                    "%s(): a tensor has at most %d dimensions", build->row->name,
                    TENSOR_MAX_NDIM);
        return -1;
    }
    for (int i = 0; i < argument->integers.count; i++)
        shape[i] = argument->integers.items[i];
    return argument->integers.count;
}

static enum status view_result(struct build *build, struct node *value,
                               const struct layout *layout, int64_t offset)
{
    return build_result(build,
                        node_view(build->graph, value, layout, offset, build->problem));
}

// Views value in that shape, copying if its strides do not allow it.
static enum status reshape_to(struct build *build, struct node *value, int ndim,
                              const int64_t *shape)
{
    struct layout out;
    if (layout_view(value->layout, ndim, shape, &out))
        return view_result(build, value, &out, 0);
    struct node *copy = node_contiguous(build->graph, value, build->problem);
    if (!copy)
        return build->problem->status;
    layout_view(copy->layout, ndim, shape, &out);
    return view_result(build, copy, &out, 0);
}

enum status build_reshape(struct build *build)
{
    int64_t shape[TENSOR_MAX_NDIM];
    struct node *value = build_tensor(build, 0);
    int ndim = value ? read_sizes(build, 1, shape) : -1;
    if (ndim < 0)
        return build->problem->status;
    enum status status = shape_infer(value->count, ndim, shape, build->problem);
    return status == STATUS_OK ? reshape_to(build, value, ndim, shape) : status;
}

enum status build_view(struct build *build)
{
    int64_t shape[TENSOR_MAX_NDIM];
    struct node *value = build_tensor(build, 0);
    int ndim = value ? read_sizes(build, 1, shape) : -1;
    if (ndim < 0)
        return build->problem->status;
    enum status status = shape_infer(value->count, ndim, shape, build->problem);
    if (status != STATUS_OK)
        return status;
    struct layout out;
    if (!layout_view(value->layout, ndim, shape, &out))
        return problem_set(build->problem, STATUS_SHAPE,
                           "view(): the strides of the tensor do not allow this shape "
                           "without a copy; use "
                           "reshape");
    return view_result(build, value, &out, 0);
}

enum status build_flatten(struct build *build)
{
    struct node *value = build_tensor(build, 0);
    if (!value)
        return build->problem->status;
    const struct layout *in = value->layout;
    const struct argument *arguments[2] = {build_argument(build, 1),
                                           build_argument(build, 2)};
    int start, end;
    enum status status = dim_normalize(arguments[0] ? arguments[0]->integer : 0, in->ndim,
                                       &start, build->problem);
    if (status == STATUS_OK)
        status = dim_normalize(arguments[1] ? arguments[1]->integer : -1, in->ndim, &end,
                               build->problem);
    if (status != STATUS_OK)
        return status;
    if (start > end)
        return problem_set(build->problem, STATUS_VALUE,
                           "flatten(): start_dim comes after end_dim");
    if (in->ndim == 0)
        return reshape_to(build, value, 1, (int64_t[]){1});
    int64_t shape[TENSOR_MAX_NDIM];
    int ndim = 0;
    for (int d = 0; d < in->ndim; d++) {
        if (d <= start || d > end)
            shape[ndim++] = in->shape[d];
        else if (!size_multiply(shape[ndim - 1], in->shape[d], &shape[ndim - 1]))
            return problem_set(build->problem, STATUS_SHAPE,
                               "flatten(): the size overflows");
    }
    if (start == end) // nothing is joined: the tensor itself, whatever its strides
        return build_result(build, value);
    return reshape_to(build, value, ndim, shape);
}

enum status build_transpose(struct build *build)
{
    struct node *value = build_tensor(build, 0);
    int first, second;
    if (!value)
        return build->problem->status;
    const struct layout *in = value->layout;
    enum status status =
        dim_normalize(build->arguments[1].integer, in->ndim, &first, build->problem);
    if (status == STATUS_OK)
        status =
            dim_normalize(build->arguments[2].integer, in->ndim, &second, build->problem);
    if (status != STATUS_OK)
        return status;
    struct layout out;
    layout_copy(&out, in);
    if (in->ndim > 0) {
        out.shape[first] = in->shape[second];
        out.strides[first] = in->strides[second];
        out.shape[second] = in->shape[first];
        out.strides[second] = in->strides[first];
    }
    return view_result(build, value, &out, 0);
}

// As torch.t: a matrix transposed; what has fewer dimensions as it is.
enum status build_t(struct build *build)
{
    struct node *value = build_tensor(build, 0);
    if (!value)
        return build->problem->status;
    struct layout out;
    layout_copy(&out, value->layout);
    if (out.ndim > 2)
        return problem_set(build->problem, STATUS_SHAPE,
                           "t() expects a tensor with <= 2 dimensions, but self is %dD",
                           out.ndim);
    for (int i = 0; i < 2 && out.ndim == 2; i++) {
        out.shape[i] = value->layout->shape[1 - i];
        out.strides[i] = value->layout->strides[1 - i];
    }
    return view_result(build, value, &out, 0);
}

enum status build_permute(struct build *build)
{
    struct node *value = build_tensor(build, 0);
    if (!value)
        return build->problem->status;
    const struct layout *in = value->layout;
    const struct argument *dims = &build->arguments[1];
    if (dims->integers.count != in->ndim)
        return problem_set(build->problem, STATUS_SHAPE,
                           "permute(): %d dims are named and the tensor has %d",
                           dims->integers.count, in->ndim);
    struct layout out = {.ndim = in->ndim};
    uint32_t seen = 0;
    for (int i = 0; i < in->ndim; i++) {
        int dim;
        enum status status =
            dim_normalize(dims->integers.items[i], in->ndim, &dim, build->problem);
        if (status != STATUS_OK)
            return status;
        if (seen >> dim & 1)
            return problem_set(build->problem, STATUS_VALUE,
                               "permute(): dimension %d is named twice", dim);
        seen |= (uint32_t)1 << dim;
        out.shape[i] = in->shape[dim];
        out.strides[i] = in->strides[dim];
    }
    return view_result(build, value, &out, 0);
}

enum status build_squeeze(struct build *build)
{
    struct node *value = build_tensor(build, 0);
    if (!value)
        return build->problem->status;
    const struct layout *in = value->layout;
    const struct argument *argument = build_argument(build, 1);
    int only = -1;
    if (argument) {
        enum status status =
            dim_normalize(argument->integer, in->ndim, &only, build->problem);
        if (status != STATUS_OK)
            return status;
    }
    struct layout out = {.ndim = 0};
    for (int d = 0; d < in->ndim; d++) {
        if (in->shape[d] == 1 && (!argument || d == only))
            continue;
        out.shape[out.ndim] = in->shape[d];
        out.strides[out.ndim++] = in->strides[d];
    }
    return view_result(build, value, &out, 0);
}

enum status build_unsqueeze(struct build *build)
{
    struct node *value = build_tensor(build, 0);
    if (!value)
        return build->problem->status;
    const struct layout *in = value->layout;
    int dim;
    if (in->ndim == TENSOR_MAX_NDIM)
        return problem_set(build->problem, STATUS_LIMIT,
                           "a tensor has at most %d dimensions", TENSOR_MAX_NDIM);
    enum status status =
        dim_normalize(build->arguments[1].integer, in->ndim + 1, &dim, build->problem);
    if (status != STATUS_OK)
        return status;
    struct layout out = {.ndim = in->ndim + 1};
    for (int d = 0; d < out.ndim; d++) {
        int from = d < dim ? d : d - 1;
        out.shape[d] = d == dim ? 1 : in->shape[from];
        out.strides[d] = d == dim ? 1 : in->strides[from];
    }
    // As torch: the stride that the dimension would have had in C order.
    int64_t stride = 1;
    if (dim < in->ndim && size_multiply(in->shape[dim], in->strides[dim], &stride))
        out.strides[dim] = stride;
    return view_result(build, value, &out, 0);
}

enum status build_expand(struct build *build)
{
    int64_t shape[TENSOR_MAX_NDIM];
    struct node *value = build_tensor(build, 0);
    int ndim = value ? read_sizes(build, 1, shape) : -1;
    if (ndim < 0)
        return build->problem->status;
    struct layout out;
    enum status status = layout_expand(value->layout, ndim, shape, &out, build->problem);
    return status == STATUS_OK ? view_result(build, value, &out, 0) : status;
}

enum status build_slice(struct build *build)
{
    struct node *value = build_tensor(build, 0);
    if (!value)
        return build->problem->status;
    const struct argument *index = &build->arguments[1];
    struct layout out;
    int64_t offset;
    enum status status = index_apply(index->string.text, index->string.length,
                                     value->layout, &out, &offset, build->problem);
    return status == STATUS_OK ? view_result(build, value, &out, offset) : status;
}

enum status build_contiguous(struct build *build)
{
    struct node *value = build_tensor(build, 0);
    return build_result(
        build, value ? node_contiguous(build->graph, value, build->problem) : NULL);
}
