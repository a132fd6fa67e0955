// SPDX-License-Identifier: Apache-2.0
// Builders of constructors. Each is a pass over the linear index, or a fill. The
// arithmetic is PyTorch's: arange in double (int64 for integer dtypes), linspace
// symmetric about the middle.
#include <inttypes.h>
#include <math.h>

#include "tensor/graph_internal.h"
#include "tensor/promote.h"

static struct device *host_of(const struct build *build)
{
    return build->graph->context.devices[0];
}

// A layout of the sizes in argument `index`.
static const struct layout *sizes_layout(struct build *build, int index, enum dtype dtype)
{
    const struct argument *argument = &build->arguments[index];
    return graph_layout(build->graph, argument->integers.count, argument->integers.items,
                        dtype, build->problem);
}

static enum status fill(struct build *build, const struct layout *layout,
                        struct scalar scalar, enum dtype dtype, struct device *device)
{
    union element element;
    if (!layout)
        return build->problem->status;
    enum status status = scalar_checked(scalar, dtype, &element, build->problem);
    if (status != STATUS_OK)
        return status;
    return build_result(
        build, node_fill(build->graph, element, dtype, layout, device, build->problem));
}

static enum status fill_sizes(struct build *build, struct scalar scalar, int dtype_index,
                              enum dtype absent)
{
    enum dtype dtype = build_dtype(build, dtype_index, absent);
    struct device *device = build_device(build, dtype_index + 1, host_of(build));
    return fill(build, sizes_layout(build, 0, dtype), scalar, dtype, device);
}

enum status build_zeros(struct build *build)
{
    return fill_sizes(build, (struct scalar){.kind = SCALAR_INT, .i = 0}, 1,
                      DTYPE_FLOAT32);
}

enum status build_ones(struct build *build)
{
    return fill_sizes(build, (struct scalar){.kind = SCALAR_INT, .i = 1}, 1,
                      DTYPE_FLOAT32);
}

enum status build_full(struct build *build)
{
    struct scalar value = build->arguments[1].number;
    return fill_sizes(build, value, 2, promote_default(value.kind));
}

static enum status fill_like(struct build *build, struct scalar scalar, int dtype_index)
{
    struct node *like = build_tensor(build, 0);
    if (!like)
        return build->problem->status;
    enum dtype dtype = build_dtype(build, dtype_index, (enum dtype)like->dtype);
    const struct layout *layout = graph_layout(
        build->graph, like->layout->ndim, like->layout->shape, dtype, build->problem);
    return fill(build, layout, scalar, dtype,
                build_device(build, dtype_index + 1, like->device));
}

enum status build_zeros_like(struct build *build)
{
    return fill_like(build, (struct scalar){.kind = SCALAR_INT, .i = 0}, 1);
}

enum status build_ones_like(struct build *build)
{
    return fill_like(build, (struct scalar){.kind = SCALAR_INT, .i = 1}, 1);
}

enum status build_full_like(struct build *build)
{
    return fill_like(build, build->arguments[1].number, 2);
}

// ---- Formulas over the linear index. A failed step makes every later one NULL.
struct formula {
    struct build *build;
    const struct layout *layout;
    struct device *device;
};

static struct node *constant(const struct formula *f, struct scalar scalar,
                             enum dtype dtype)
{
    return node_constant(f->build->graph, scalar_to_element(scalar, dtype, NULL), dtype,
                         f->device, f->build->problem);
}

static struct node *integer(const struct formula *f, int64_t value)
{
    return constant(f, (struct scalar){.kind = SCALAR_INT, .i = value}, DTYPE_INT64);
}

static struct node *apply(const struct formula *f, enum map_op op, struct node *a,
                          struct node *b)
{
    if (!a || !b)
        return NULL;
    enum dtype dtype = a->dtype == DTYPE_BOOL ? DTYPE_BOOL : (enum dtype)a->dtype;
    return node_map(f->build->graph, op, dtype, 2, (struct node *[]){a, b}, f->layout,
                    f->build->problem);
}

static struct node *cast(const struct formula *f, struct node *value, enum dtype dtype)
{
    return value ? node_cast(f->build->graph, value, dtype, f->build->problem) : NULL;
}

static struct node *index_of(const struct formula *f)
{
    return node_index(f->build->graph, f->layout, f->device, f->build->problem);
}

// ---- eye
enum status build_eye(struct build *build)
{
    const struct argument *columns = build_argument(build, 1);
    int64_t n = build->arguments[0].integer, m = columns ? columns->integer : n;
    enum dtype dtype = build_dtype(build, 2, DTYPE_FLOAT32);
    struct formula f = {.build = build, .device = build_device(build, 3, host_of(build))};
    if (n < 0 || m < 0)
        return problem_set(build->problem, STATUS_VALUE,
                           "eye(): %" PRId64 " is a negative size", n < 0 ? n : m);
    f.layout = graph_layout(build->graph, 2, (int64_t[]){n, m}, dtype, build->problem);
    if (!f.layout)
        return build->problem->status;
    if (n == 0 || m == 0)
        return fill(build, f.layout, (struct scalar){.kind = SCALAR_INT}, dtype,
                    f.device);
    // The diagonal's linear indices are the multiples of m + 1 below m * (m + 1). m <
    // 2^63 - 1, as n * m fits.
    struct node *index = index_of(&f);
    struct node *on = apply(
        &f, MAP_eq, apply(&f, MAP_remainder, index, integer(&f, m + 1)), integer(&f, 0));
    int64_t bound;
    if (n > m && size_multiply(m, m + 1, &bound))
        on = apply(&f, MAP_logical_and, on, apply(&f, MAP_lt, index, integer(&f, bound)));
    return build_result(build, cast(&f, on, dtype));
}

// ---- arange
static double as_double(struct scalar scalar)
{
    return scalar.kind == SCALAR_FLOAT ? scalar.f : (double)scalar.i;
}

struct progression {
    struct scalar start, end, step;
};

static enum status check_progression(struct build *build, const struct progression *p)
{
    double start = as_double(p->start), end = as_double(p->end),
           step = as_double(p->step);
    if (step == 0)
        return problem_set(build->problem, STATUS_VALUE, "%s(): step must not be 0",
                           build->row->name);
    if (!isfinite(start) || !isfinite(end) || isnan(step))
        return problem_set(build->problem, STATUS_VALUE, "%s(): %g to %g is no range",
                           build->row->name, start, end);
    if ((step > 0 && end < start) || (step < 0 && end > start))
        return problem_set(build->problem, STATUS_VALUE,
                           "%s(): the step %g does not lead from %g to %g",
                           build->row->name, step, start, end);
    return STATUS_OK;
}

// ceil((end - start) / step) of int64 numbers, exactly; the signs agree.
static bool count_integers(const struct progression *p, int64_t *count)
{
    int64_t distance;
    if (__builtin_sub_overflow(p->end.i, p->start.i, &distance))
        return false;
    if (distance == 0) {
        *count = 0;
        return true;
    }
    if (p->step.i == INT64_MIN) { // farther than any distance
        *count = 1;
        return true;
    }
    *count = distance / p->step.i + (distance % p->step.i != 0);
    return true;
}

static enum status count_progression(struct build *build, const struct progression *p,
                                     enum dtype dtype, int64_t *count)
{
    bool fits;
    if (dtype == DTYPE_INT64 && p->start.kind != SCALAR_FLOAT &&
        p->end.kind != SCALAR_FLOAT && p->step.kind != SCALAR_FLOAT) {
        fits = count_integers(p, count);
    } else {
        double size =
            ceil((as_double(p->end) - as_double(p->start)) / as_double(p->step));
        fits = size >= 0 && size < 0x1p62;
        *count = fits ? (int64_t)size : 0;
    }
    if (fits)
        return STATUS_OK;
    return problem_set(build->problem, STATUS_VALUE, "arange(): too many elements");
}

// The numbers in the dtype of the arithmetic: int64 for integers (truncated), else
// double.
static enum status accumulate_dtype(struct build *build, struct progression *p,
                                    enum dtype dtype)
{
    struct scalar *scalars[3] = {&p->start, &p->end, &p->step};
    if (dtype_is_float(dtype))
        return STATUS_OK;
    for (int i = 0; i < 3; i++) {
        union element element;
        enum status status =
            scalar_checked(*scalars[i], DTYPE_INT64, &element, build->problem);
        if (status != STATUS_OK)
            return status;
        if (dtype == DTYPE_INT64 ||
            i != 1) // the end only counts elements, and does so as it was given
            *scalars[i] = (struct scalar){.kind = SCALAR_INT, .i = element.i64};
    }
    return STATUS_OK;
}

// start + step * i in every element.
static enum status progress(struct build *build, const struct progression *p,
                            int64_t count, enum dtype dtype)
{
    struct formula f = {.build = build, .device = build_device(build, 4, host_of(build))};
    enum dtype computation = dtype_is_float(dtype) ? DTYPE_FLOAT64 : DTYPE_INT64;
    f.layout = graph_layout(build->graph, 1, &count, DTYPE_FLOAT64, build->problem);
    if (!f.layout)
        return build->problem->status;
    struct node *index = cast(&f, index_of(&f), computation);
    struct node *steps = apply(&f, MAP_mul, index, constant(&f, p->step, computation));
    struct node *value = apply(&f, MAP_add, steps, constant(&f, p->start, computation));
    return build_result(build, cast(&f, value, dtype));
}

static enum status check_dtype(struct build *build, enum dtype dtype)
{
    if (dtype_in(dtype, build->row->dtypes))
        return STATUS_OK;
    return problem_set(build->problem, STATUS_DTYPE, "%s() is not defined for dtype %s",
                       build->row->name, dtype_name(dtype));
}

// torch.range: the end is included if a step hits it.
enum status build_range(struct build *build)
{
    const struct argument *step = build_argument(build, 2);
    struct progression p = {.start = build->arguments[0].number,
                            .end = build->arguments[1].number,
                            .step = step ? step->number
                                         : (struct scalar){.kind = SCALAR_INT, .i = 1}};
    enum dtype dtype = build_dtype(build, 3, DTYPE_FLOAT32);
    enum status status = check_dtype(build, dtype);
    if (status == STATUS_OK)
        status = accumulate_dtype(build, &p, dtype);
    if (status == STATUS_OK)
        status = check_progression(build, &p);
    if (status != STATUS_OK)
        return status;
    double steps = floor((as_double(p.end) - as_double(p.start)) / as_double(p.step));
    if (!(steps >= 0 && steps < 0x1p62))
        return problem_set(build->problem, STATUS_VALUE, "range(): too many elements");
    return progress(build, &p, (int64_t)steps + 1, dtype);
}

enum status build_arange(struct build *build)
{
    const struct argument *end = build_argument(build, 1),
                          *step = build_argument(build, 2);
    struct scalar zero = {.kind = SCALAR_INT, .i = 0}, one = {.kind = SCALAR_INT, .i = 1};
    struct progression p = {.start = end ? build->arguments[0].number : zero,
                            .end = end ? end->number : build->arguments[0].number,
                            .step = step ? step->number : one};
    bool floats = p.start.kind == SCALAR_FLOAT || p.end.kind == SCALAR_FLOAT ||
                  p.step.kind == SCALAR_FLOAT;
    enum dtype dtype = build_dtype(build, 3, floats ? DTYPE_FLOAT32 : DTYPE_INT64);
    struct progression exact = p;
    int64_t count;
    enum status status = check_dtype(build, dtype);
    if (status == STATUS_OK)
        status = accumulate_dtype(build, &exact, dtype);
    if (status == STATUS_OK)
        status = check_progression(build, &exact);
    if (status == STATUS_OK)
        status =
            count_progression(build, dtype == DTYPE_INT64 ? &exact : &p, dtype, &count);
    return status == STATUS_OK ? progress(build, &exact, count, dtype) : status;
}

// ---- linspace
static double value_in(struct scalar scalar, enum dtype dtype)
{
    return as_double(element_to_scalar(scalar_to_element(scalar, dtype, NULL), dtype));
}

// start + step * i in the first half, end - step * (steps - 1 - i) in the second. The
// step is rounded to a floating dtype, and each value once: PyTorch's compiled kernels
// fuse the product and the sum.
static struct node *linspace_value(const struct formula *f, struct scalar start,
                                   struct scalar end, int64_t steps, enum dtype dtype)
{
    struct scalar from = {.kind = SCALAR_FLOAT, .f = value_in(start, dtype)};
    struct scalar to = {.kind = SCALAR_FLOAT, .f = value_in(end, dtype)};
    struct scalar step = {.kind = SCALAR_FLOAT,
                          .f = (to.f - from.f) / (double)(steps > 1 ? steps - 1 : 1)};
    if (dtype_is_float(dtype))
        step.f = value_in(step, dtype);
    struct node *index = index_of(f);
    struct node *rest = index ? apply(f, MAP_sub, integer(f, steps - 1), index) : NULL;
    struct node *width = constant(f, step, DTYPE_FLOAT64);
    struct node *up = apply(f, MAP_mul, cast(f, index, DTYPE_FLOAT64), width);
    struct node *down = apply(f, MAP_mul, cast(f, rest, DTYPE_FLOAT64), width);
    up = apply(f, MAP_add, constant(f, from, DTYPE_FLOAT64), up);
    down = apply(f, MAP_sub, constant(f, to, DTYPE_FLOAT64), down);
    struct node *early = index ? apply(f, MAP_lt, index, integer(f, steps / 2)) : NULL;
    if (!early || !up || !down)
        return NULL;
    return node_map(f->build->graph, MAP_where, DTYPE_FLOAT64, 3,
                    (struct node *[]){early, up, down}, f->layout, f->build->problem);
}

enum status build_linspace(struct build *build)
{
    struct scalar start = build->arguments[0].number, end = build->arguments[1].number;
    int64_t steps = build->arguments[2].integer;
    enum dtype dtype = build_dtype(build, 3, DTYPE_FLOAT32);
    union element element;
    enum status status = STATUS_OK;
    if (steps < 0)
        status = problem_set(build->problem, STATUS_VALUE,
                             "linspace(): steps must not be negative");
    else
        status = check_dtype(build, dtype);
    if (status == STATUS_OK)
        status = scalar_checked(start, dtype, &element, build->problem);
    if (status == STATUS_OK)
        status = scalar_checked(end, dtype, &element, build->problem);
    if (status != STATUS_OK)
        return status;
    struct formula f = {.build = build, .device = build_device(build, 4, host_of(build))};
    f.layout = graph_layout(build->graph, 1, &steps, DTYPE_FLOAT64, build->problem);
    if (!f.layout)
        return build->problem->status;
    if (steps == 1)
        return fill(build, f.layout, start, dtype, f.device);
    struct node *value = linspace_value(&f, start, end, steps, dtype);
    return build_result(build, cast(&f, value, dtype));
}
