// SPDX-License-Identifier: Apache-2.0
// Builders of reductions and of softmax. A reduction over no elements is written as a
// fill: sum 0, prod 1, mean NaN, all true, any false; there is no smallest of nothing.
#include <math.h>

#include "tensor/graph_internal.h"

// A reduction being built.
struct reduction {
    struct node *value;
    uint32_t dims;
    bool keepdim;
    bool some_dims;              // named by the request
    const struct layout *layout; // of the result
    bool empty;                  // the reduced extent is empty while the result is not
};

static uint32_t bit(int dim)
{
    return (uint32_t)1 << dim;
}

static const struct layout *reduced_layout(struct build *build,
                                           const struct reduction *reduction)
{
    const struct layout *in = reduction->value->layout;
    int64_t shape[TENSOR_MAX_NDIM];
    int ndim = 0;
    for (int d = 0; d < in->ndim; d++) {
        if (!(reduction->dims & bit(d)))
            shape[ndim++] = in->shape[d];
        else if (reduction->keepdim)
            shape[ndim++] = 1;
    }
    return graph_layout(build->graph, ndim, shape, DTYPE_FLOAT64, build->problem);
}

// Reads input, dim, keepdim: arguments 0 to 2.
static enum status prepare(struct build *build, struct reduction *out)
{
    out->value = build_tensor(build, 0);
    if (!out->value)
        return build->problem->status;
    const struct layout *in = out->value->layout;
    enum status status = build_dims(build, 1, in->ndim, &out->dims);
    if (status != STATUS_OK)
        return status;
    const struct argument *dim = build_argument(build, 1),
                          *keepdim = build_argument(build, 2);
    out->keepdim = keepdim && keepdim->boolean;
    out->some_dims = dim && (dim->kind == ARGUMENT_INT || dim->integers.count > 0);
    out->layout = reduced_layout(build, out);
    if (!out->layout)
        return build->problem->status;
    int64_t count = 0;
    size_of_shape(out->layout->ndim, out->layout->shape, &count);
    out->empty = out->value->count == 0 && count > 0;
    return STATUS_OK;
}

// Dims of size 1 apart, runs of reduced dims that follow each other count as one.
static int reduced_runs(const struct layout *in, uint32_t dims)
{
    int runs = 0;
    bool inside = false;
    for (int d = 0; d < in->ndim; d++) {
        if (in->shape[d] == 1)
            continue;
        bool reduced = dims & bit(d);
        runs += reduced && !inside;
        inside = reduced;
    }
    return runs;
}

static struct node *in_reduction_order(struct build *build, struct node *value,
                                       uint32_t *dims)
{
    const struct layout *in = value->layout;
    struct layout view = {.ndim = in->ndim};
    int next = 0, kept;
    for (int d = 0; d < in->ndim; d++)
        if (!(*dims & bit(d))) {
            view.shape[next] = in->shape[d];
            view.strides[next++] = in->strides[d];
        }
    kept = next;
    for (int d = 0; d < in->ndim; d++)
        if (*dims & bit(d)) {
            view.shape[next] = in->shape[d];
            view.strides[next++] = in->strides[d];
        }
    *dims = 0;
    for (int d = kept; d < in->ndim; d++)
        *dims |= bit(d);
    return node_view(build->graph, value, &view, 0, build->problem);
}

// The value as a C-contiguous block in memory: a view of a computed node keeps it out of
// the reduction's pass.
static struct node *in_memory(struct build *build, struct node *value)
{
    value = node_contiguous(build->graph, value, build->problem);
    if (!value || value->kind == NODE_SOURCE || value->kind == NODE_VIEW)
        return value;
    return node_view(build->graph, value, value->layout, 0, build->problem);
}

// A pass has 8 dims, and reduced ones cannot be looped over from outside. With more, the
// value is laid out first so that each run of reduced dims is one; if there are still too
// many runs, in the order [kept..., reduced...].
static struct node *reduce(struct build *build, const struct reduction *reduction,
                           enum pass_reduce kind, struct node *value, enum dtype dtype)
{
    uint32_t dims = reduction->dims;
    if (value->layout->ndim > PASS_MAX_NDIM) {
        if (reduced_runs(value->layout, dims) > PASS_MAX_NDIM)
            value = in_reduction_order(build, value, &dims);
        if (value)
            value = in_memory(build, value);
        if (!value)
            return NULL;
    }
    return node_reduce(build->graph, kind, value, dims, reduction->layout, dtype,
                       build->problem);
}

static struct node *fill(struct build *build, const struct reduction *reduction,
                         struct scalar scalar, enum dtype dtype)
{
    return node_fill(build->graph, scalar_to_element(scalar, dtype, NULL), dtype,
                     reduction->layout, reduction->value->device, build->problem);
}

// sum and prod: the value is converted to the result's dtype first; integers and bool
// then add as int64, which gives the same bits as adding in a narrower integer dtype.
enum status build_sum(struct build *build)
{
    struct reduction reduction;
    enum status status = prepare(build, &reduction);
    if (status != STATUS_OK)
        return status;
    enum dtype own = (enum dtype)reduction.value->dtype;
    enum dtype dtype = build_dtype(build, 3, dtype_is_float(own) ? own : DTYPE_INT64);
    if (reduction.empty) {
        struct scalar nothing = {.kind = SCALAR_INT, .i = build->op == OP_prod};
        return build_result(build, fill(build, &reduction, nothing, dtype));
    }
    struct node *value = node_cast(build->graph, reduction.value, dtype, build->problem);
    if (value && !dtype_is_float(dtype))
        value = node_cast(build->graph, value, DTYPE_INT64, build->problem);
    enum pass_reduce kind = build->op == OP_prod ? PASS_PROD : PASS_SUM;
    return build_result(build,
                        value ? reduce(build, &reduction, kind, value, dtype) : NULL);
}

enum status build_mean(struct build *build)
{
    struct reduction reduction;
    enum status status = prepare(build, &reduction);
    if (status != STATUS_OK)
        return status;
    enum dtype dtype = build_dtype(build, 3, (enum dtype)reduction.value->dtype);
    if (!dtype_is_float(dtype))
        return problem_set(
            build->problem, STATUS_DTYPE,
            "mean() needs a floating dtype, not %s; pass dtype, e.g. float32",
            dtype_name(dtype));
    if (reduction.empty) {
        struct scalar scalar = {.kind = SCALAR_FLOAT, .f = (double)NAN};
        return build_result(build, fill(build, &reduction, scalar, dtype));
    }
    struct node *value = node_cast(build->graph, reduction.value, dtype, build->problem);
    return build_result(build, value ? reduce(build, &reduction, PASS_MEAN, value, dtype)
                                     : NULL);
}

// PyTorch's IndexError when a dim without elements is named, else its RuntimeError.
static enum status check_not_empty(struct build *build, const struct reduction *reduction,
                                   enum status without_dim)
{
    const struct layout *in = reduction->value->layout;
    if (reduction->value->count > 0)
        return STATUS_OK;
    if (!reduction->some_dims)
        return problem_set(build->problem, without_dim,
                           "%s(): the tensor has no elements; name a dim that has some",
                           build->row->name);
    for (int d = 0; d < in->ndim; d++)
        if ((reduction->dims & bit(d)) && in->shape[d] == 0)
            return problem_set(build->problem, STATUS_INDEX,
                               "%s(): dimension %d has no elements to choose from",
                               build->row->name, d);
    return STATUS_OK;
}

enum status build_extremum(struct build *build)
{
    struct reduction reduction;
    enum status status = prepare(build, &reduction);
    if (status == STATUS_OK)
        status = check_not_empty(build, &reduction, STATUS_VALUE);
    if (status != STATUS_OK)
        return status;
    return build_result(
        build, reduce(build, &reduction, build->op == OP_amin ? PASS_MIN : PASS_MAX,
                      reduction.value, (enum dtype)reduction.value->dtype));
}

enum status build_arg_extremum(struct build *build)
{
    struct reduction reduction;
    enum status status = prepare(build, &reduction);
    if (status == STATUS_OK &&
        !dtype_in((enum dtype)reduction.value->dtype, build->row->dtypes))
        status =
            problem_set(build->problem, STATUS_DTYPE, "%s() is not defined for dtype %s",
                        build->row->name, dtype_name((enum dtype)reduction.value->dtype));
    if (status == STATUS_OK)
        status = check_not_empty(build, &reduction, STATUS_INDEX);
    if (status != STATUS_OK)
        return status;
    return build_result(build, reduce(build, &reduction,
                                      build->op == OP_argmin ? PASS_ARGMIN : PASS_ARGMAX,
                                      reduction.value, DTYPE_INT64));
}

enum status build_truth(struct build *build)
{
    struct reduction reduction;
    enum status status = prepare(build, &reduction);
    if (status != STATUS_OK)
        return status;
    if (reduction.empty) {
        struct scalar scalar = {.kind = SCALAR_BOOL, .i = build->op == OP_all};
        return build_result(build, fill(build, &reduction, scalar, DTYPE_BOOL));
    }
    struct node *value =
        node_cast(build->graph, reduction.value, DTYPE_BOOL, build->problem);
    return build_result(build, value ? reduce(build, &reduction,
                                              build->op == OP_all ? PASS_ALL : PASS_ANY,
                                              value, DTYPE_BOOL)
                                     : NULL);
}

// min and max: the value alone, or with dim the values and the indices of the first ones.
enum status build_min_max(struct build *build)
{
    struct reduction reduction;
    enum status status = prepare(build, &reduction);
    if (status == STATUS_OK)
        status = check_not_empty(build, &reduction, STATUS_VALUE);
    if (status != STATUS_OK)
        return status;
    bool least = build->op == OP_min;
    struct node *value = reduction.value;
    build->results[0] = reduce(build, &reduction, least ? PASS_MIN : PASS_MAX, value,
                               (enum dtype)value->dtype);
    if (!build->results[0] || !reduction.some_dims)
        return build_result(build, build->results[0]);
    if (value->dtype == DTYPE_BOOL)
        value = node_cast(build->graph, value, DTYPE_UINT8, build->problem);
    if (!value)
        return build->problem->status;
    build->results[1] =
        reduce(build, &reduction, least ? PASS_ARGMIN : PASS_ARGMAX, value, DTYPE_INT64);
    build->n_results = 2;
    return build->results[1] ? STATUS_OK : build->problem->status;
}

enum status build_softmax(struct build *build)
{
    struct node *value = build_tensor(build, 0);
    int dim;
    if (!value)
        return build->problem->status;
    enum status status = dim_normalize(build->arguments[1].integer, value->layout->ndim,
                                       &dim, build->problem);
    if (status != STATUS_OK)
        return status;
    enum dtype dtype = build_dtype(build, 2, (enum dtype)value->dtype);
    if (!dtype_is_float(dtype))
        return problem_set(
            build->problem, STATUS_DTYPE,
            "softmax() is not defined for dtype %s; pass dtype, e.g. float32",
            dtype_name(dtype));
    value = node_cast(build->graph, value, dtype, build->problem);
    return build_result(
        build, value ? node_softmax(build->graph, value, dim, build->problem) : NULL);
}
