// SPDX-License-Identifier: Apache-2.0
// What builders share: reading arguments, and bringing the operands of an elementwise
// operation to one device, one shape and one dtype.
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tensor/graph_internal.h"
#include "tensor/promote.h"

// ---- Arguments
struct node *build_tensor(struct build *build, int index)
{
    struct node *node = build->arguments[index].tensor;
    if (!node_is_scalar(node))
        return node;
    problem_set(build->problem, STATUS_TYPE,
                "%s(): argument %s must be a tensor, not a number", build->row->name,
                build->row->parameters[index].name);
    return NULL;
}

enum status build_dims(struct build *build, int index, int ndim, uint32_t *out)
{
    const struct argument *argument = build_argument(build, index);
    uint32_t all = ndim == TENSOR_MAX_NDIM ? UINT32_MAX : ((uint32_t)1 << ndim) - 1;
    int count = 0;
    const int64_t *items = NULL;
    if (argument && argument->kind == ARGUMENT_INT) {
        count = 1;
        items = &argument->integer;
    } else if (argument) {
        count = argument->integers.count;
        items = argument->integers.items;
    }
    *out = count > 0 ? 0 : all;
    for (int i = 0; i < count; i++) {
        int dim;
        enum status status = dim_normalize(items[i], ndim, &dim, build->problem);
        if (status != STATUS_OK)
            return status;
        if (ndim == 0)
            continue;
        if (*out >> dim & 1)
            return problem_set(build->problem, STATUS_VALUE,
                               "%s(): dimension %d is named twice", build->row->name,
                               dim);
        *out |= (uint32_t)1 << dim;
    }
    return STATUS_OK;
}

enum dtype build_dtype(const struct build *build, int index, enum dtype absent)
{
    const struct argument *argument = build_argument(build, index);
    return argument ? argument->dtype : absent;
}

struct device *build_device(const struct build *build, int index, struct device *absent)
{
    const struct argument *argument = build_argument(build, index);
    return argument && argument->device ? argument->device : absent;
}

enum status scalar_checked(struct scalar scalar, enum dtype dtype, union element *out,
                           struct problem *problem)
{
    bool in_range = true;
    *out = scalar_to_element(scalar, dtype, &in_range);
    double value = scalar.kind == SCALAR_FLOAT ? scalar.f : (double)scalar.i;
    if (dtype_is_float(dtype)) {
        static const double largest[DTYPE_COUNT] = {[DTYPE_FLOAT16] = 65504.0,
                                                    [DTYPE_BFLOAT16] = 0x1.FEp127,
                                                    [DTYPE_FLOAT32] = 0x1.FFFFFEp127,
                                                    [DTYPE_FLOAT64] =
                                                        0x1.FFFFFFFFFFFFFp1023};
        in_range = !isfinite(value) || fabs(value) <= largest[dtype];
    } else if (scalar.kind == SCALAR_FLOAT && dtype != DTYPE_BOOL) {
        // Truncation first: 255.5 is 255 as uint8.
        in_range = value >= -0x1p63 && value < 0x1p63;
        struct scalar whole = {.kind = SCALAR_INT, .i = in_range ? (int64_t)value : 0};
        if (in_range)
            *out = scalar_to_element(whole, dtype, &in_range);
    }
    if (in_range)
        return STATUS_OK;
    if (scalar.kind == SCALAR_FLOAT)
        return problem_set(problem, STATUS_VALUE,
                           "%.17g is outside the range of dtype %s", scalar.f,
                           dtype_name(dtype));
    return problem_set(problem, STATUS_VALUE,
                       "%" PRId64 " is outside the range of dtype %s", scalar.i,
                       dtype_name(dtype));
}

// ---- Problems
struct member_text {
    char *text;
    size_t size;
};

static void append_text(struct member_text member, const char *text)
{
    size_t length = strlen(member.text);
    snprintf(member.text + length, member.size - length, "%s%s", length ? " " : "", text);
}

static void describe(struct problem *problem, bool shapes, const struct node *node)
{
    char shape[96];
    append_text((struct member_text){problem->dtypes, sizeof problem->dtypes},
                dtype_name((enum dtype)node->dtype));
    if (node_is_scalar(node))
        return;
    shape_text(node->layout->ndim, node->layout->shape, shape, sizeof shape);
    if (shapes)
        append_text((struct member_text){problem->shapes, sizeof problem->shapes}, shape);
    append_text((struct member_text){problem->devices, sizeof problem->devices},
                node->device->id);
}

void problem_operands(struct problem *problem, const struct op_row *row,
                      const struct argument *arguments)
{
    bool shapes =
        problem->shapes[0] == '\0'; // shape rules know better which ones did not fit
    problem->dtypes[0] = problem->devices[0] = '\0';
    for (int i = 0; i < row->n_parameters; i++) {
        if (arguments[i].kind == ARGUMENT_TENSOR)
            describe(problem, shapes, arguments[i].tensor);
        for (int j = 0;
             arguments[i].kind == ARGUMENT_TENSORS && j < arguments[i].tensors.count; j++)
            if (j < 8)
                describe(problem, shapes, arguments[i].tensors.items[j]);
    }
}

// ---- Devices
static enum status refuse_devices(struct build *build, const struct device *a,
                                  const struct device *b)
{
    return problem_set(build->problem, STATUS_DEVICE,
                       "%s(): all tensors must be on one device, and these are on %s and "
                       "%s; move one of "
                       "them with to",
                       build->row->name, a->id, b->id);
}

enum status operands_same_device(struct build *build, int n, struct node *const *items)
{
    for (int i = 1; i < n; i++)
        if (items[i]->device != items[0]->device)
            return refuse_devices(build, items[0]->device, items[i]->device);
    return STATUS_OK;
}

static bool is_visitor(const struct node *node)
{
    return node->device->is_host && node->layout->ndim == 0;
}

// A 0-d tensor on the host counts like a number: it is moved to where the others are.
static enum status settle_device(struct build *build, struct operands *operands)
{
    struct device *home = NULL;
    for (int i = 0; i < operands->n; i++) {
        const struct node *item = operands->items[i];
        if (node_is_scalar(item) || (home && home == item->device))
            continue;
        if (!home || home->is_host)
            home = item->device;
    }
    operands->device = home ? home : build->graph->context.devices[0];
    for (int i = 0; i < operands->n; i++) {
        struct node *item = operands->items[i];
        if (node_is_scalar(item) || item->device == home)
            continue;
        if (!is_visitor(item))
            return refuse_devices(build, item->device, home);
        operands->items[i] = node_move(build->graph, item, home, build->problem);
        if (!operands->items[i])
            return build->problem->status;
    }
    return STATUS_OK;
}

// ---- Shape and dtype
static enum status settle_shape(struct build *build, struct operands *operands)
{
    const struct layout *layouts[OPERANDS_MAX], *shared = NULL;
    bool same = true;
    int n = 0;
    for (int i = 0; i < operands->n; i++) {
        const struct node *item = operands->items[i];
        if (node_is_scalar(item))
            continue;
        layouts[n++] = item->layout;
        same = same && layout_same_shape(item->layout, layouts[0]);
        // Sharing needs room for the widest operand: shape_check has seen that one.
        if (!shared && layout_is_canonical(item->layout) &&
            dtype_size((enum dtype)item->dtype) >= dtype_size(operands->dtype))
            shared = item->layout;
    }
    if (same && shared) {
        operands->layout = shared;
        return STATUS_OK;
    }
    struct layout shape;
    enum status status = shape_broadcast(n, layouts, &shape, build->problem);
    if (status != STATUS_OK)
        return status;
    operands->layout = graph_layout(build->graph, shape.ndim, shape.shape,
                                    operands->dtype, build->problem);
    return operands->layout ? STATUS_OK : build->problem->status;
}

enum status operands_prepare(struct build *build, int n, struct node *const *items,
                             int first_promoted, bool allow_scalars, struct operands *out)
{
    struct promotion promotion = PROMOTION_NONE;
    bool any_tensor = false;
    out->n = n;
    for (int i = 0; i < n; i++) {
        struct node *item = items[i];
        out->items[i] = item;
        any_tensor = any_tensor || !node_is_scalar(item);
        if (i < first_promoted)
            continue;
        if (node_is_scalar(item))
            promote_number(&promotion, item->scalar.kind);
        else
            promote_tensor(&promotion, (enum dtype)item->dtype, item->layout->ndim);
    }
    if (!any_tensor && !allow_scalars)
        return problem_set(build->problem, STATUS_TYPE,
                           "%s(): at least one argument must be a tensor",
                           build->row->name);
    out->dtype = promote_result(&promotion);
    enum status status = settle_device(build, out);
    return status == STATUS_OK ? settle_shape(build, out) : status;
}

struct node *operand_convert(struct build *build, struct node *operand, enum dtype dtype,
                             struct device *device, bool exact)
{
    if (!node_is_scalar(operand))
        return node_cast(build->graph, operand, dtype, build->problem);
    if (exact && (dtype == DTYPE_FLOAT16 || dtype == DTYPE_BFLOAT16))
        dtype = DTYPE_FLOAT32;
    return node_constant(build->graph, scalar_to_element(operand->scalar, dtype, NULL),
                         dtype, device, build->problem);
}

enum status operands_check_dtype(struct build *build, enum map_op op, enum dtype dtype)
{
    if (dtype_in(dtype, map_dtypes(op)))
        return STATUS_OK;
    return problem_set(build->problem, STATUS_DTYPE, "%s() is not defined for dtype %s",
                       build->row->name, dtype_name(dtype));
}
