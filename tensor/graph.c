// SPDX-License-Identifier: Apache-2.0
// The graph of one request: its life, the way from an operation to its builder, writes
// and read-back.
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tensor/graph_internal.h"
#include "tensor/promote.h"

enum status graph_create(const struct graph_context *context, struct graph **out,
                         struct problem *problem)
{
    struct arena arena;
    if (!arena_open(&arena))
        return problem_set(problem, STATUS_OUT_OF_MEMORY,
                           "no host memory for the graph of a request");
    struct graph *graph = arena_take(&arena, sizeof *graph);
    if (!graph) {
        arena_close(&arena);
        return problem_set(problem, STATUS_OUT_OF_MEMORY,
                           "no host memory for the graph of a request");
    }
    *graph = (struct graph){.arena = arena, .context = *context};
    *out = graph;
    return STATUS_OK;
}

void graph_free(struct graph *graph)
{
    if (!graph)
        return;
    for (struct node *node = graph->newest; node; node = node->older) {
        if (node->kind == NODE_SOURCE)
            tensor_release(node->source.tensor);
        else if (node->kind == NODE_WRITE)
            tensor_release(node->write.tensor);
    }
    struct arena arena = graph->arena;
    arena_close(&arena);
}

void graph_mark(struct graph *graph, const void *mark)
{
    graph->mark = mark;
}

enum dtype node_dtype(const struct node *node)
{
    return (enum dtype)node->dtype;
}

const struct layout *node_layout(const struct node *node)
{
    return node->layout;
}

struct device *node_device(const struct node *node)
{
    return node->device;
}

struct tensor *node_tensor(const struct node *node)
{
    return node->kind == NODE_SOURCE ? node->source.tensor : NULL;
}

// ---- Arguments
static const char *const kind_names[] = {
    [ARGUMENT_NONE] = "nothing",
    [ARGUMENT_TENSOR] = "a tensor",
    [ARGUMENT_TENSORS] = "a list of tensors",
    [ARGUMENT_NUMBER] = "a number",
    [ARGUMENT_INT] = "an integer",
    [ARGUMENT_INTS] = "integers",
    [ARGUMENT_FLOAT] = "a float",
    [ARGUMENT_BOOL] = "a bool",
    [ARGUMENT_STR] = "a string",
    [ARGUMENT_DTYPE] = "a dtype",
    [ARGUMENT_DEVICE] = "a device",
};

static enum argument_kind kind_of_parameter(enum parameter_type type)
{
    static const enum argument_kind kinds[] = {
        [PARAMETER_TENSOR] = ARGUMENT_TENSOR, [PARAMETER_TENSORS] = ARGUMENT_TENSORS,
        [PARAMETER_NUMBER] = ARGUMENT_NUMBER, [PARAMETER_INT] = ARGUMENT_INT,
        [PARAMETER_INTS] = ARGUMENT_INTS,     [PARAMETER_FLOAT] = ARGUMENT_FLOAT,
        [PARAMETER_BOOL] = ARGUMENT_BOOL,     [PARAMETER_STR] = ARGUMENT_STR,
        [PARAMETER_DTYPE] = ARGUMENT_DTYPE,   [PARAMETER_DEVICE] = ARGUMENT_DEVICE,
    };
    return kinds[type];
}

static enum status check_arguments(const struct op_row *row,
                                   const struct argument *arguments,
                                   struct problem *problem)
{
    for (int i = 0; i < row->n_parameters; i++) {
        const struct parameter *parameter = &row->parameters[i];
        enum argument_kind kind = arguments[i].kind,
                           wanted = kind_of_parameter(parameter->type);
        if (kind == wanted)
            continue;
        if (kind != ARGUMENT_NONE)
            return problem_set(problem, STATUS_TYPE,
                               "%s(): argument %s must be %s, not %s", row->name,
                               parameter->name, kind_names[wanted], kind_names[kind]);
        if (!parameter->optional && !parameter->has_default)
            return problem_set(problem, STATUS_TYPE, "%s(): argument %s is missing",
                               row->name, parameter->name);
    }
    return STATUS_OK;
}

// ---- Operations
static build_function *const builders[OP_COUNT] = {
#define MAP(name, arity, dtypes, rule, integer, floating, signature, build, doc)         \
    [OP_##name] = build_##build,
#define REDUCE(name, dtypes, rule, signature, build, doc) [OP_##name] = build_##build,
#define CUSTOM(name, dtypes, rule, sliceable, signature, build, doc)                     \
    [OP_##name] = build_##build,
#define VIEW(name, signature, build, doc) [OP_##name] = build_##build,
#include "kernels/ops.def"
};

static enum status check_target(const struct layout *target, struct problem *problem)
{
    if (!layout_overlaps_itself(target))
        return STATUS_OK;
    return problem_set(
        problem, STATUS_VALUE,
        "an expanded tensor cannot be written: several of its elements are one place in "
        "memory; clone it first");
}

// The result of an in-place operation becomes a write of argument 0, or, in a program's
// graph, what its cell gets.
static enum status write_result(struct build *build)
{
    struct node *target = build->arguments[0].tensor, *result = build->results[0];
    struct problem *problem = build->problem;
    if (!layout_same_shape(result->layout, target->layout)) {
        char from[80], to[80];
        shape_text(result->layout->ndim, result->layout->shape, from, sizeof from);
        shape_text(target->layout->ndim, target->layout->shape, to, sizeof to);
        return problem_set(
            problem, STATUS_SHAPE,
            "%s_(): the result has shape %s and the tensor written has shape %s",
            build->row->name, from, to);
    }
    if (!promote_can_cast((enum dtype)result->dtype, (enum dtype)target->dtype))
        return problem_set(
            problem, STATUS_DTYPE,
            "%s_(): a result of dtype %s cannot be written to a tensor of dtype %s",
            build->row->name, dtype_name((enum dtype)result->dtype),
            dtype_name((enum dtype)target->dtype));
    if (result->device != target->device)
        return problem_set(problem, STATUS_DEVICE,
                           "%s_(): the result is on %s and the tensor on %s",
                           build->row->name, result->device->id, target->device->id);
    if (build->graph->is_program)
        return graph_convert(build->graph, (enum dtype)target->dtype, target->layout,
                             target->device, result, &build->results[0], problem);
    build->results[0] = target;
    return graph_write(build->graph, target->source.tensor, result, problem);
}

static enum status build_in_place(struct build *build)
{
    struct node *target = build->arguments[0].tensor;
    if (!build->row->in_place)
        return problem_set(build->problem, STATUS_TYPE, "there is no operation %s_",
                           build->row->name);
    if (target->kind != NODE_SOURCE &&
        (node_is_scalar(target) || !build->graph->is_program))
        return problem_set(build->problem, STATUS_TYPE, "%s_(): %s cannot be written",
                           build->row->name,
                           target->kind == NODE_SCALAR ? "a number" : "a computed value");
    enum status status =
        target->count > 0 ? check_target(target->layout, build->problem) : STATUS_OK;
    if (status == STATUS_OK)
        status = builders[build->op](build);
    if (status == STATUS_OK)
        status = write_result(build);
    return status;
}

enum status graph_op(struct graph *graph, enum op op, bool in_place,
                     const struct argument *arguments, struct node **results,
                     int *n_results, struct problem *problem)
{
    struct build build = {.graph = graph,
                          .op = op,
                          .row = op_row(op),
                          .arguments = arguments,
                          .results = results,
                          .n_results = 1,
                          .problem = problem};
    enum status status = check_arguments(build.row, arguments, problem);
    if (status != STATUS_OK)
        return status;
    status = in_place ? build_in_place(&build) : builders[op](&build);
    if (status != STATUS_OK)
        problem_operands(problem, build.row, arguments);
    *n_results = build.n_results;
    return status;
}

// ---- Writes
// Whether value broadcasts to the target's shape; its leading dimensions of size 1 do not
// count.
static enum status check_broadcast(const struct layout *value,
                                   const struct layout *target, struct problem *problem)
{
    bool fits = true;
    for (int i = 0; i < value->ndim; i++) {
        int d = target->ndim - value->ndim + i;
        fits = fits &&
               (value->shape[i] == 1 || (d >= 0 && value->shape[i] == target->shape[d]));
    }
    if (fits)
        return STATUS_OK;
    char from[80], to[80];
    shape_text(value->ndim, value->shape, from, sizeof from);
    shape_text(target->ndim, target->shape, to, sizeof to);
    problem_set(problem, STATUS_SHAPE,
                "shape %s does not broadcast to the shape %s it is written to", from, to);
    snprintf(problem->shapes, sizeof problem->shapes, "%s %s", from, to);
    return STATUS_SHAPE;
}

enum status graph_convert(struct graph *graph, enum dtype dtype,
                          const struct layout *target, struct device *device,
                          struct node *value, struct node **out, struct problem *problem)
{
    enum status status;
    if (node_is_scalar(value)) {
        union element element;
        status = scalar_checked(value->scalar, dtype, &element, problem);
        if (status != STATUS_OK)
            return status;
        value = node_constant(graph, element, dtype, device, problem);
    } else if ((status = check_broadcast(value->layout, target, problem)) != STATUS_OK) {
        return status;
    } else {
        bool shrinks = dtype_size(dtype) < dtype_size((enum dtype)value->dtype);
        if (shrinks)
            value = node_cast(graph, value, dtype, problem);
        if (value)
            value = node_move(graph, value, device, problem);
        if (value)
            value = node_cast(graph, value, dtype, problem);
    }
    *out = value;
    return value ? STATUS_OK : problem->status;
}

enum status graph_write(struct graph *graph, struct tensor *target, struct node *value,
                        struct problem *problem)
{
    enum status status = check_target(&target->layout, problem);
    if (status == STATUS_OK)
        status = graph_convert(graph, target->dtype, &target->layout,
                               tensor_device(target), value, &value, problem);
    if (status != STATUS_OK || tensor_count(target) == 0)
        return status;
    return node_write(graph, target, value, problem);
}

enum status graph_materialize(struct graph *graph, struct node *value, enum dtype dtype,
                              struct device *device, struct node **out,
                              struct problem *problem)
{
    if (node_is_scalar(value)) {
        union element element = scalar_to_element(value->scalar, dtype, NULL);
        *out = node_fill(graph, element, dtype, value->layout, device, problem);
        return *out ? STATUS_OK : problem->status;
    }
    if (dtype_size(dtype) < dtype_size((enum dtype)value->dtype))
        value = node_cast(graph, value, dtype, problem);
    if (value)
        value = node_move(graph, value, device, problem);
    if (value)
        value = node_cast(graph, value, dtype, problem);
    if (value)
        value = node_contiguous(graph, value, problem);
    // A tensor that this graph writes is not read back before the commit: its new
    // elements are copied out.
    if (value && value->kind == NODE_SOURCE && graph->newest_write)
        value = node_clone(graph, value, value->layout, problem);
    *out = value;
    return value ? STATUS_OK : problem->status;
}
