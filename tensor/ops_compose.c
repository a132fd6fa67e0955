// SPDX-License-Identifier: Apache-2.0
// Builders of operations that are made of others: statistics, log_softmax, linear, and
// copies by index. Statistics are computed in float64 and rounded once.
#include <inttypes.h>
#include <math.h>

#include "tensor/compose.h"

// ---- Products
static enum status check_rank(struct build *build, const struct node *node, int ndim,
                              const char *text)
{
    if (node->layout->ndim == ndim)
        return STATUS_OK;
    return problem_set(build->problem, STATUS_SHAPE, "%s(): %s, and it has %d dimensions",
                       build->row->name, text, node->layout->ndim);
}

struct ranks {
    int left, right;
    const char *left_text, *right_text;
};

static enum status multiply(struct build *build, const struct ranks *ranks)
{
    struct node *a = build_tensor(build, 0), *b = a ? build_tensor(build, 1) : NULL;
    if (!b)
        return build->problem->status;
    enum status status = check_rank(build, a, ranks->left, ranks->left_text);
    if (status == STATUS_OK)
        status = check_rank(build, b, ranks->right, ranks->right_text);
    if (status != STATUS_OK)
        return status;
    return build_result(build, compose2(build, OP_matmul, a, b));
}

enum status build_mm(struct build *build)
{
    return multiply(
        build, &(struct ranks){2, 2, "self must be a matrix", "mat2 must be a matrix"});
}

// Batches do not broadcast here.
enum status build_bmm(struct build *build)
{
    const struct node *a = build_tensor(build, 0), *b = a ? build_tensor(build, 1) : NULL;
    if (b && a->layout->ndim == 3 && b->layout->ndim == 3 &&
        a->layout->shape[0] != b->layout->shape[0])
        return problem_set(build->problem, STATUS_SHAPE,
                           "bmm(): the batches have %" PRId64 " and %" PRId64 " matrices",
                           a->layout->shape[0], b->layout->shape[0]);
    return multiply(build, &(struct ranks){3, 3, "batch1 must be a 3D tensor",
                                           "batch2 must be a 3D tensor"});
}

enum status build_mv(struct build *build)
{
    return multiply(
        build, &(struct ranks){2, 1, "input must be a matrix", "vec must be a vector"});
}

enum status build_dot(struct build *build)
{
    return multiply(build,
                    &(struct ranks){1, 1, "1D tensors expected", "1D tensors expected"});
}

static struct node *transposed(struct build *build, struct node *node)
{
    return compose(
        build, OP_transpose, 3,
        (struct argument[]){argument_tensor(node), argument_int(-2), argument_int(-1)});
}

// As F.linear: input @ weight.T + bias.
enum status build_linear(struct build *build)
{
    struct node *input = build_tensor(build, 0),
                *weight = input ? build_tensor(build, 1) : NULL;
    const struct argument *bias = build_argument(build, 2);
    if (!weight)
        return build->problem->status;
    if (weight->layout->ndim == 2)
        weight = transposed(build, weight);
    else if (weight->layout->ndim != 1)
        return check_rank(build, weight, 2, "weight must be a matrix or a vector");
    struct node *product = compose2(build, OP_matmul, input, weight);
    if (product && bias)
        product = compose2(build, OP_add, product, bias->tensor);
    return build_result(build, product);
}

enum status build_outer(struct build *build)
{
    struct node *a = build_tensor(build, 0), *b = a ? build_tensor(build, 1) : NULL;
    if (!b)
        return build->problem->status;
    enum status status = check_rank(build, a, 1, "expected 1-D argument self");
    if (status == STATUS_OK)
        status = check_rank(build, b, 1, "expected 1-D argument vec2");
    if (status != STATUS_OK)
        return status;
    struct node *column = compose(
        build, OP_unsqueeze, 2, (struct argument[]){argument_tensor(a), argument_int(1)});
    return build_result(build, compose2(build, OP_mul, column, b));
}

// ---- Reductions
static struct node *over(struct build *build, enum op op, struct node *value,
                         const struct argument *dims, bool keepdim)
{
    struct argument none = {.kind = ARGUMENT_NONE};
    return compose(build, op, 3,
                   (struct argument[]){argument_tensor(value), dims ? *dims : none,
                                       argument_bool(keepdim)});
}

static bool flag(const struct build *build, int index, bool absent)
{
    const struct argument *argument = build_argument(build, index);
    return argument ? argument->boolean : absent;
}

// The variance in float64; (input, dim, unbiased, keepdim).
static struct node *variance(struct build *build, struct node *input)
{
    const struct argument *dims = build_argument(build, 1);
    uint32_t mask;
    if (compose_check_float(build, input) != STATUS_OK ||
        build_dims(build, 1, input->layout->ndim, &mask) != STATUS_OK)
        return NULL;
    double count = 1;
    for (int d = 0; d < input->layout->ndim; d++)
        if (mask >> d & 1)
            count *= (double)input->layout->shape[d];
    double freedom = count - flag(build, 2, true);
    struct node *value = compose_cast(build, input, DTYPE_FLOAT64);
    struct node *distance =
        compose2(build, OP_sub, value, over(build, OP_mean, value, dims, true));
    struct node *sum = over(build, OP_sum, compose2(build, OP_mul, distance, distance),
                            dims, flag(build, 3, false));
    return compose2(build, OP_div, sum, compose_float(build, freedom > 0 ? freedom : 0));
}

enum status build_var(struct build *build)
{
    struct node *input = build_tensor(build, 0);
    if (!input)
        return build->problem->status;
    struct node *value = variance(build, input);
    return build_result(build, compose_cast(build, value, (enum dtype)input->dtype));
}

enum status build_std(struct build *build)
{
    struct node *input = build_tensor(build, 0);
    if (!input)
        return build->problem->status;
    struct node *value = compose1(build, OP_sqrt, variance(build, input));
    return build_result(build, compose_cast(build, value, (enum dtype)input->dtype));
}

// (sum of |x| ** p) ** (1 / p), with its limits.
static struct node *power_norm(struct build *build, struct node *value, double p,
                               const struct argument *dims, bool keepdim)
{
    if (p == 0) {
        value = compose2(build, OP_ne, value, compose_float(build, 0));
        return over(build, OP_sum, compose_cast(build, value, DTYPE_FLOAT64), dims,
                    keepdim);
    }
    if (p == 2)
        return compose1(
            build, OP_sqrt,
            over(build, OP_sum, compose2(build, OP_mul, value, value), dims, keepdim));
    value = compose1(build, OP_abs, value);
    if (isinf(p))
        return over(build, p > 0 ? OP_amax : OP_amin, value, dims, keepdim);
    if (p == 1)
        return over(build, OP_sum, value, dims, keepdim);
    value = compose2(build, OP_pow, value, compose_float(build, p));
    value = over(build, OP_sum, value, dims, keepdim);
    return compose2(build, OP_pow, value, compose_float(build, 1 / p));
}

enum status build_norm(struct build *build)
{
    struct node *input = build_tensor(build, 0);
    const struct argument *p = build_argument(build, 1);
    if (!input || compose_check_float(build, input) != STATUS_OK)
        return build->problem->status;
    double power = !p                               ? 2
                   : p->number.kind == SCALAR_FLOAT ? p->number.f
                                                    : (double)p->number.i;
    struct node *value =
        power_norm(build, compose_cast(build, input, DTYPE_FLOAT64), power,
                   build_argument(build, 2), flag(build, 3, false));
    return build_result(build, compose_cast(build, value, (enum dtype)input->dtype));
}

enum status build_log_softmax(struct build *build)
{
    struct node *input = build_tensor(build, 0);
    int dim;
    if (!input || dim_normalize(build->arguments[1].integer, input->layout->ndim, &dim,
                                build->problem) != STATUS_OK)
        return build->problem->status;
    enum dtype dtype = build_dtype(build, 2, (enum dtype)input->dtype);
    struct node *value = compose_cast(build, input, dtype);
    if (!value || compose_check_float(build, value) != STATUS_OK)
        return build->problem->status;
    if (value->count == 0)
        return build_result(build, compose1(build, OP_clone, value));
    if (dtype_size(dtype) == 2)
        value = compose_cast(build, value, DTYPE_FLOAT32);
    struct argument dims = argument_ints(1, (int64_t[]){dim});
    value = compose2(build, OP_sub, value, over(build, OP_amax, value, &dims, true));
    struct node *sum = over(build, OP_sum, compose1(build, OP_exp, value), &dims, true);
    value = compose2(build, OP_sub, value, compose1(build, OP_log, sum));
    return build_result(build, compose_cast(build, value, dtype));
}

// ---- repeat and tile
static enum status too_many_dims(struct build *build)
{
    return problem_set(build->problem, STATUS_LIMIT,
                       "%s(): a tensor has at most %d dimensions", build->row->name,
                       TENSOR_MAX_NDIM);
}

// Dims of the result are pairs (repeats, size), of which the one that is 1 is left out.
static enum status repeat(struct build *build, struct node *value, int n,
                          const int64_t *repeats)
{
    struct layout pairs = {.ndim = 0}, shape = {.ndim = n};
    const struct layout *in = value->layout;
    for (int i = 0; i < n; i++) {
        int own = i - (n - in->ndim);
        int64_t size = own < 0 ? 1 : in->shape[own];
        if (!size_multiply(repeats[i], size, &shape.shape[i]))
            return problem_set(build->problem, STATUS_VALUE,
                               "%s(): %" PRId64 " repetitions of %" PRId64
                               " elements are no size",
                               build->row->name, repeats[i], size);
        if (pairs.ndim + 2 > TENSOR_MAX_NDIM)
            return too_many_dims(build);
        if (repeats[i] != 1) {
            pairs.shape[pairs.ndim] = repeats[i];
            pairs.strides[pairs.ndim++] = 0;
        }
        if (size != 1) {
            pairs.shape[pairs.ndim] = size;
            pairs.strides[pairs.ndim++] = in->strides[own];
        }
    }
    const struct layout *out = graph_layout(build->graph, n, shape.shape,
                                            (enum dtype)value->dtype, build->problem);
    const struct layout *wide = graph_layout(build->graph, pairs.ndim, pairs.shape,
                                             (enum dtype)value->dtype, build->problem);
    struct node *view =
        out && wide ? node_view(build->graph, value, &pairs, 0, build->problem) : NULL;
    struct node *copy =
        view ? node_clone(build->graph, view, wide, build->problem) : NULL;
    return build_result(
        build, copy ? node_view(build->graph, copy, out, 0, build->problem) : NULL);
}

enum status build_repeat(struct build *build)
{
    struct node *value = build_tensor(build, 0);
    const struct argument *repeats = &build->arguments[1];
    if (!value)
        return build->problem->status;
    if (repeats->integers.count < value->layout->ndim)
        return problem_set(build->problem, STATUS_SHAPE,
                           "repeat(): the number of repetitions (%d) is less than the "
                           "number of dimensions (%d)",
                           repeats->integers.count, value->layout->ndim);
    if (repeats->integers.count > TENSOR_MAX_NDIM)
        return too_many_dims(build);
    return repeat(build, value, repeats->integers.count, repeats->integers.items);
}

// As repeat, with ones put before too few numbers.
enum status build_tile(struct build *build)
{
    struct node *value = build_tensor(build, 0);
    const struct argument *dims = &build->arguments[1];
    int64_t repeats[TENSOR_MAX_NDIM];
    if (!value)
        return build->problem->status;
    int given = dims->integers.count, ndim = value->layout->ndim;
    if (given > TENSOR_MAX_NDIM)
        return too_many_dims(build);
    int n = given > ndim ? given : ndim;
    for (int i = 0; i < n; i++)
        repeats[i] = i < n - given ? 1 : dims->integers.items[i - (n - given)];
    return repeat(build, value, n, repeats);
}

// ---- tril and triu
// Whether an element (row, column) of a matrix is kept.
static struct node *triangle(struct build *build, const struct layout *matrix,
                             struct device *device, int64_t diagonal, bool lower)
{
    struct node *index = node_index(build->graph, matrix, device, build->problem);
    struct scalar columns = {.kind = SCALAR_INT, .i = matrix->shape[1]};
    struct node *width = compose_number(build, columns);
    struct node *row =
        index && width ? compose2(build, OP_floor_divide, index, width) : NULL;
    struct node *column = row ? compose2(build, OP_remainder, index, width) : NULL;
    struct scalar limit = {.kind = SCALAR_INT, .i = diagonal};
    return compose2(build, lower ? OP_le : OP_ge, compose2(build, OP_sub, column, row),
                    compose_number(build, limit));
}

static enum status keep_triangle(struct build *build, bool lower)
{
    struct node *value = build_tensor(build, 0);
    const struct argument *diagonal = build_argument(build, 1);
    if (!value)
        return build->problem->status;
    const struct layout *in = value->layout;
    if (in->ndim < 2)
        return problem_set(build->problem, STATUS_INDEX,
                           "%s(): the tensor must have at least 2 dimensions",
                           build->row->name);
    if (value->count == 0)
        return build_result(build, compose1(build, OP_clone, value));
    const struct layout *matrix = graph_layout(build->graph, 2, in->shape + in->ndim - 2,
                                               DTYPE_INT64, build->problem);
    struct node *kept = matrix ? triangle(build, matrix, value->device,
                                          diagonal ? diagonal->integer : 0, lower)
                               : NULL;
    struct scalar zero = {.kind = value->dtype == DTYPE_BOOL ? SCALAR_BOOL : SCALAR_INT};
    return build_result(
        build,
        compose(build, OP_where, 3,
                (struct argument[]){argument_tensor(kept), argument_tensor(value),
                                    argument_tensor(compose_number(build, zero))}));
}

enum status build_tril(struct build *build)
{
    return keep_triangle(build, true);
}

enum status build_triu(struct build *build)
{
    return keep_triangle(build, false);
}
