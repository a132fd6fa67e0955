// SPDX-License-Identifier: Apache-2.0
// Builders of random numbers. Each draws from the generator of its device, in the order
// in which the nodes were made, and fills memory in its order: a tensor whose dims lie in
// another order than C's is drawn along that order, as PyTorch does.
#include <inttypes.h>

#include "tensor/compose.h"
#include "tensor/promote.h"

bool op_draws(enum op op)
{
    switch (op) {
    case OP_rand:
    case OP_randn:
    case OP_randint:
    case OP_randperm:
    case OP_normal:
    case OP_bernoulli:
    case OP_rand_like:
    case OP_randn_like:
    case OP_randint_like:
    case OP_uniform_:
    case OP_normal_:
    case OP_random_:
    case OP_bernoulli_:
    case OP_dropout:
        return true;
    default:
        return false;
    }
}

// ---- Drawing
static enum status check_draw(struct build *build, const struct draw *draw,
                              enum dtype dtype)
{
    const char *name = build->row->name;
    bool real = draw->form == RANDOM_UNIFORM || draw->form == RANDOM_NORMAL;
    if (real && !dtype_is_float(dtype))
        return problem_set(build->problem, STATUS_DTYPE,
                           "%s() is not defined for dtype %s; it needs a floating one",
                           name, dtype_name(dtype));
    if (draw->form == RANDOM_UNIFORM && !(draw->low <= draw->high))
        return problem_set(build->problem, STATUS_VALUE,
                           "%s() draws from [from, to), but from=%g > to=%g", name,
                           draw->low, draw->high);
    if (draw->form == RANDOM_NORMAL && !(draw->high >= 0))
        return problem_set(build->problem, STATUS_VALUE,
                           "%s() expects std >= 0, but found std %g", name, draw->high);
    if (draw->form == RANDOM_BERNOULLI && !(draw->low >= 0 && draw->low <= 1))
        return problem_set(build->problem, STATUS_VALUE,
                           "%s() expects p to be in [0, 1], but got p=%g", name,
                           draw->low);
    return STATUS_OK;
}

static struct node *draw_canonical(struct build *build, struct draw draw,
                                   enum dtype dtype, const struct layout *layout,
                                   struct device *device)
{
    if (!layout || check_draw(build, &draw, dtype) != STATUS_OK)
        return NULL;
    return node_random(build->graph, &draw, dtype, layout, device, build->problem);
}

static bool is_expanded(const struct layout *layout)
{
    for (int d = 0; d < layout->ndim; d++)
        if (layout->strides[d] == 0 && layout->shape[d] > 1)
            return true;
    return false;
}

// order: the dims by falling stride. False if that is the order they have.
static bool dims_by_stride(const struct layout *layout, int *order)
{
    bool moved = false;
    for (int d = 0; d < layout->ndim; d++) {
        int at = d;
        while (layout->shape[d] != 1 && at > 0 &&
               (layout->shape[order[at - 1]] == 1 ||
                layout->strides[order[at - 1]] < layout->strides[d])) {
            moved = moved || layout->shape[order[at - 1]] != 1;
            order[at] = order[at - 1];
            at--;
        }
        order[at] = d;
    }
    return moved;
}

// A draw with the shape of `like`, in the order of its memory. into: for that very
// memory.
static struct node *draw_like(struct build *build, struct draw draw, enum dtype dtype,
                              const struct layout *like, struct device *device, bool into)
{
    int order[TENSOR_MAX_NDIM];
    if (is_expanded(like) || !dims_by_stride(like, order)) {
        draw.one_by_one = draw.form == RANDOM_NORMAL && device->is_host && into &&
                          !layout_is_contiguous(like);
        return draw_canonical(
            build, draw, dtype,
            graph_layout(build->graph, like->ndim, like->shape, dtype, build->problem),
            device);
    }
    int64_t shape[TENSOR_MAX_NDIM];
    for (int i = 0; i < like->ndim; i++)
        shape[i] = like->shape[order[i]];
    draw.one_by_one = draw.form == RANDOM_NORMAL && device->is_host;
    struct node *drawn = draw_canonical(
        build, draw, dtype,
        graph_layout(build->graph, like->ndim, shape, dtype, build->problem), device);
    if (!drawn)
        return NULL;
    struct layout back = {.ndim = like->ndim};
    for (int i = 0; i < like->ndim; i++) {
        back.shape[order[i]] = shape[i];
        back.strides[order[i]] = drawn->layout->strides[i];
    }
    return node_view(build->graph, drawn, &back, 0, build->problem);
}

// ---- Sizes, dtype and device
static enum status draw_sizes(struct build *build, int size, int dtype_index,
                              enum dtype absent, struct draw draw)
{
    const struct argument *sizes = &build->arguments[size];
    enum dtype dtype = build_dtype(build, dtype_index, absent);
    struct device *device =
        build_device(build, dtype_index + 1, build->graph->context.devices[0]);
    const struct layout *layout =
        graph_layout(build->graph, sizes->integers.count, sizes->integers.items, dtype,
                     build->problem);
    return build_result(build, draw_canonical(build, draw, dtype, layout, device));
}

static enum status draw_as(struct build *build, int dtype_index, struct draw draw)
{
    struct node *like = build_tensor(build, 0);
    if (!like)
        return build->problem->status;
    enum dtype dtype = build_dtype(build, dtype_index, (enum dtype)like->dtype);
    struct device *device = build_device(build, dtype_index + 1, like->device);
    return build_result(build,
                        draw_like(build, draw, dtype, like->layout, device, false));
}

static const struct draw uniform = {.form = RANDOM_UNIFORM, .low = 0, .high = 1};
static const struct draw normal = {.form = RANDOM_NORMAL, .low = 0, .high = 1};

enum status build_rand(struct build *build)
{
    return draw_sizes(build, 0, 1, DTYPE_FLOAT32, uniform);
}

enum status build_randn(struct build *build)
{
    return draw_sizes(build, 0, 1, DTYPE_FLOAT32, normal);
}

enum status build_rand_like(struct build *build)
{
    return draw_as(build, 1, uniform);
}

enum status build_randn_like(struct build *build)
{
    return draw_as(build, 1, normal);
}

// ---- Integers
static enum status draw_integers(struct build *build, int64_t low, int64_t high,
                                 enum dtype dtype, struct draw *out)
{
    union element element;
    if (low >= high)
        return problem_set(build->problem, STATUS_VALUE,
                           "%s() expects low to be less than high, but got low=%" PRId64
                           " >= high=%" PRId64,
                           build->row->name, low, high);
    struct scalar first = {.kind = SCALAR_INT, .i = low},
                  last = {.kind = SCALAR_INT, .i = high - 1};
    enum status status = scalar_checked(first, dtype, &element, build->problem);
    if (status == STATUS_OK)
        status = scalar_checked(last, dtype, &element, build->problem);
    *out = (struct draw){
        .form = RANDOM_INTEGERS, .base = low, .range = (uint64_t)high - (uint64_t)low};
    return status;
}

enum status build_randint(struct build *build)
{
    struct draw draw;
    enum status status =
        draw_integers(build, build->arguments[0].integer, build->arguments[1].integer,
                      build_dtype(build, 3, DTYPE_INT64), &draw);
    return status == STATUS_OK ? draw_sizes(build, 2, 3, DTYPE_INT64, draw) : status;
}

// (input, high) or (input, low, high).
enum status build_randint_like(struct build *build)
{
    struct node *like = build_tensor(build, 0);
    if (!like)
        return build->problem->status;
    const struct argument *high = build_argument(build, 2);
    int64_t first = build->arguments[1].integer;
    struct draw draw;
    enum status status =
        draw_integers(build, high ? first : 0, high ? high->integer : first,
                      build_dtype(build, 3, (enum dtype)like->dtype), &draw);
    return status == STATUS_OK ? draw_as(build, 3, draw) : status;
}

enum status build_randperm(struct build *build)
{
    int64_t n = build->arguments[0].integer;
    enum dtype dtype = build_dtype(build, 1, DTYPE_INT64);
    union element element;
    if (n < 0)
        return problem_set(build->problem, STATUS_VALUE,
                           "randperm(): n must not be negative, got %" PRId64, n);
    struct scalar last = {.kind = SCALAR_INT, .i = n > 0 ? n - 1 : 0};
    enum status status = scalar_checked(last, dtype, &element, build->problem);
    if (status != STATUS_OK)
        return status;
    struct draw draw = {.form = RANDOM_PERMUTATION};
    return build_result(
        build, draw_canonical(build, draw, dtype,
                              graph_layout(build->graph, 1, &n, dtype, build->problem),
                              build_device(build, 2, build->graph->context.devices[0])));
}

// ---- Normals with a mean and a deviation of their own for each element
static double number_of(const struct node *node)
{
    return node->scalar.kind == SCALAR_FLOAT ? node->scalar.f : (double)node->scalar.i;
}

static enum status normal_of_tensors(struct build *build, struct node *mean,
                                     struct node *std)
{
    bool mean_is_number = node_is_scalar(mean), std_is_number = node_is_scalar(std);
    const struct node *first = mean_is_number ? std : mean;
    enum dtype dtype = (enum dtype)first->dtype;
    const struct layout *layouts[2] = {mean->layout, std->layout};
    struct layout shape;
    enum status status = compose_check_float(build, first);
    if (status == STATUS_OK)
        status = shape_broadcast(2, layouts, &shape, build->problem);
    if (status != STATUS_OK)
        return status;
    struct draw draw = {
        .form = RANDOM_NORMAL, .low = 0, .high = std_is_number ? number_of(std) : 1};
    struct node *value = draw_canonical(
        build, draw, dtype,
        graph_layout(build->graph, shape.ndim, shape.shape, dtype, build->problem),
        first->device);
    if (!std_is_number)
        value = compose2(build, OP_mul, value, compose_cast(build, std, dtype));
    if (!mean_is_number)
        mean = compose_cast(build, mean, dtype);
    return build_result(build, compose2(build, OP_add, value, mean));
}

enum status build_normal(struct build *build)
{
    struct node *mean = build->arguments[0].tensor, *std = build->arguments[1].tensor;
    const struct argument *size = build_argument(build, 2);
    bool numbers = node_is_scalar(mean) && node_is_scalar(std);
    if (numbers != (size != NULL))
        return problem_set(build->problem, STATUS_TYPE,
                           numbers
                               ? "normal(): size is missing"
                               : "normal(): size is for numbers; tensors have theirs");
    if (!numbers)
        return normal_of_tensors(build, mean, std);
    struct draw draw = {
        .form = RANDOM_NORMAL, .low = number_of(mean), .high = number_of(std)};
    return draw_sizes(build, 2, 3, DTYPE_FLOAT32, draw);
}

// ---- bernoulli and dropout
enum status build_bernoulli(struct build *build)
{
    struct node *input = build_tensor(build, 0);
    const struct argument *p = build_argument(build, 1);
    if (!input)
        return build->problem->status;
    if (p) {
        struct draw draw = {.form = RANDOM_BERNOULLI, .low = p->real};
        return build_result(build, draw_like(build, draw, (enum dtype)input->dtype,
                                             input->layout, input->device, false));
    }
    enum status status = compose_check_float(build, input);
    if (status != STATUS_OK)
        return status;
    enum dtype wide = input->dtype == DTYPE_FLOAT64 ? DTYPE_FLOAT64 : DTYPE_FLOAT32;
    struct node *drawn =
        draw_like(build, uniform, wide, input->layout, input->device, false);
    struct node *hits = compose2(build, OP_lt, drawn, compose_cast(build, input, wide));
    return build_result(build, compose_cast(build, hits, (enum dtype)input->dtype));
}

enum status build_dropout(struct build *build)
{
    struct node *input = build_tensor(build, 0);
    const struct argument *given = build_argument(build, 1),
                          *training = build_argument(build, 2);
    double p = given ? given->real : 0.5;
    if (!input)
        return build->problem->status;
    if (!(p >= 0 && p <= 1))
        return problem_set(build->problem, STATUS_VALUE,
                           "dropout probability has to be between 0 and 1, but got %g",
                           p);
    if (p == 0 || (training && !training->boolean) || input->count == 0)
        return build_result(build, input);
    enum status status = compose_check_float(build, input);
    if (status != STATUS_OK)
        return status;
    if (p == 1)
        return build_result(build,
                            compose2(build, OP_mul, input, compose_float(build, 0)));
    struct draw draw = {.form = RANDOM_BERNOULLI, .low = 1 - p};
    struct node *noise = draw_like(build, draw, (enum dtype)input->dtype, input->layout,
                                   input->device, false);
    noise = compose2(build, OP_div, noise, compose_float(build, 1 - p));
    return build_result(build, compose2(build, OP_mul, input, noise));
}

// ---- In place
static enum status draw_into(struct build *build, struct draw draw)
{
    struct node *target = build_tensor(build, 0);
    if (!target)
        return build->problem->status;
    return build_write(build, draw_like(build, draw, (enum dtype)target->dtype,
                                        target->layout, target->device, true));
}

static double real_at(const struct build *build, int index, double absent)
{
    const struct argument *argument = build_argument(build, index);
    return argument ? argument->real : absent;
}

enum status build_uniform_(struct build *build)
{
    return draw_into(build, (struct draw){.form = RANDOM_UNIFORM,
                                          .low = real_at(build, 1, 0),
                                          .high = real_at(build, 2, 1)});
}

enum status build_normal_(struct build *build)
{
    return draw_into(build, (struct draw){.form = RANDOM_NORMAL,
                                          .low = real_at(build, 1, 0),
                                          .high = real_at(build, 2, 1)});
}

enum status build_bernoulli_(struct build *build)
{
    return draw_into(
        build, (struct draw){.form = RANDOM_BERNOULLI, .low = real_at(build, 1, 0.5)});
}

// (): all that the dtype holds; (to): from 0; (from, to).
enum status build_random_(struct build *build)
{
    struct node *target = build_tensor(build, 0);
    const struct argument *from = build_argument(build, 1),
                          *to = build_argument(build, 2);
    struct draw draw = {.form = RANDOM_BITS};
    if (!target)
        return build->problem->status;
    enum status status = STATUS_OK;
    if (from || to)
        status = draw_integers(build, from && to ? from->integer : 0,
                               to ? to->integer : from->integer,
                               (enum dtype)target->dtype, &draw);
    return status == STATUS_OK ? draw_into(build, draw) : status;
}
