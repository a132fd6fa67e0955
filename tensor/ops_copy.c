// SPDX-License-Identifier: Apache-2.0
// Builders of copies: clone, to, and the writes copy_, fill_ and zero_.
#include "tensor/graph_internal.h"

enum status build_clone(struct build *build)
{
    struct node *value = build_tensor(build, 0);
    if (!value)
        return build->problem->status;
    const struct layout *layout =
        graph_layout(build->graph, value->layout->ndim, value->layout->shape,
                     (enum dtype)value->dtype, build->problem);
    return build_result(
        build, layout ? node_clone(build->graph, value, layout, build->problem) : NULL);
}

enum status build_to(struct build *build)
{
    struct node *value = build_tensor(build, 0);
    if (!value)
        return build->problem->status;
    struct device *device = build_device(build, 1, value->device);
    enum dtype dtype = build_dtype(build, 2, (enum dtype)value->dtype);
    // Fewer bytes travel.
    if (dtype_size(dtype) < dtype_size((enum dtype)value->dtype))
        value = node_cast(build->graph, value, dtype, build->problem);
    if (value)
        value = node_move(build->graph, value, device, build->problem);
    if (value)
        value = node_cast(build->graph, value, dtype, build->problem);
    return build_result(build, value);
}

enum status build_write(struct build *build, struct node *value)
{
    struct node *target = build_tensor(build, 0);
    if (!target || !value)
        return build->problem->status;
    if (build->graph->is_program)
        return graph_convert(build->graph, (enum dtype)target->dtype, target->layout,
                             target->device, value, &build->results[0], build->problem);
    if (target->kind != NODE_SOURCE)
        return problem_set(build->problem, STATUS_TYPE,
                           "%s(): a computed value cannot be written", build->row->name);
    build->results[0] = target;
    return graph_write(build->graph, target->source.tensor, value, build->problem);
}

enum status build_copy_(struct build *build)
{
    struct node *value = build->arguments[1].tensor;
    const struct layout *to = build->arguments[0].tensor->layout;
    if (value->layout->ndim > to->ndim)
        return problem_set(
            build->problem, STATUS_SHAPE,
            "copy_(): src has more dimensions than the tensor it is written to");
    return build_write(build, value);
}

static struct node *number(struct build *build, struct scalar scalar)
{
    struct node *node = NULL;
    graph_scalar(build->graph, scalar, &node, build->problem);
    return node;
}

enum status build_fill_(struct build *build)
{
    return build_write(build, number(build, build->arguments[1].number));
}

enum status build_zero_(struct build *build)
{
    return build_write(build, number(build, (struct scalar){.kind = SCALAR_INT, .i = 0}));
}
