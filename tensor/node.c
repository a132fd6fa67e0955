// SPDX-License-Identifier: Apache-2.0
// Making nodes. No rules of operations here: who calls has checked shapes, dtypes and
// devices. One thread at a time (the graph's).
#include <stddef.h>
#include <string.h>

#include "tensor/graph_internal.h"

void *graph_take(struct graph *graph, size_t size, struct problem *problem)
{
    void *memory = arena_take(&graph->arena, size);
    if (!memory)
        problem_set(problem, STATUS_OUT_OF_MEMORY,
                    "no host memory for the graph of the request");
    return memory;
}

// Layouts live in the arena without the entries beyond ndim: strides are the last member.
static struct layout *layout_take(struct graph *graph, int ndim, struct problem *problem)
{
    size_t size = offsetof(struct layout, strides) + (size_t)ndim * sizeof(int64_t);
    return graph_take(graph, size, problem);
}

const struct layout *graph_layout(struct graph *graph, int ndim, const int64_t *shape,
                                  enum dtype dtype, struct problem *problem)
{
    if (shape_check(ndim, shape, dtype_size(dtype), NULL, problem) != STATUS_OK)
        return NULL;
    struct layout *layout = layout_take(graph, ndim, problem);
    if (!layout)
        return NULL;
    layout->ndim = ndim;
    for (int i = 0; i < ndim; i++)
        layout->shape[i] = shape[i];
    layout_contiguous(layout);
    return layout;
}

// The node that a new consumer of `node` reads: a SOURCE whose storage this graph has
// written becomes one that sees the last write.
static struct node *node_current(struct graph *graph, struct node *node,
                                 struct problem *problem);

static struct node *node_new(struct graph *graph, enum node_kind kind, enum dtype dtype,
                             const struct layout *layout, struct device *device,
                             struct problem *problem)
{
    struct node *node = graph_take(graph, sizeof *node, problem);
    if (!node)
        return NULL;
    *node = (struct node){.older = graph->newest,
                          .layout = layout,
                          .device = device,
                          .mark = graph->mark,
                          .id = graph->newest ? graph->newest->id + 1 : 1,
                          .kind = (uint8_t)kind,
                          .dtype = (uint8_t)dtype,
                          .contiguous = true};
    node->inputs = node->few_inputs;
    // shape_check or tensor_create has seen every layout: this cannot overflow.
    size_of_shape(layout->ndim, layout->shape, &node->count);
    graph->newest = node;
    return node;
}

const struct layout *layout_keep(struct graph *graph, const struct layout *layout,
                                 struct problem *problem)
{
    struct layout *copy = layout_take(graph, layout->ndim, problem);
    if (copy)
        layout_copy(copy, layout);
    return copy;
}

static struct node *node_with_inputs(struct graph *graph, enum node_kind kind,
                                     enum dtype dtype, int n, struct node *const *inputs,
                                     const struct layout *layout, struct problem *problem)
{
    struct node *read[3];
    struct node **items = read;
    if (n > 3 && !(items = graph_take(graph, (size_t)n * sizeof *items, problem)))
        return NULL;
    for (int i = 0; i < n; i++)
        if (!(items[i] = node_current(graph, inputs[i], problem)))
            return NULL;
    struct node *node = node_new(graph, kind, dtype, layout, inputs[0]->device, problem);
    if (!node)
        return NULL;
    node->n_inputs = n;
    if (n > 3)
        node->inputs = items;
    else
        for (int i = 0; i < n; i++)
            node->few_inputs[i] = items[i];
    return node;
}

static struct node *node_source(struct graph *graph, struct tensor *tensor,
                                struct node *after, struct problem *problem)
{
    struct node *node = node_new(graph, NODE_SOURCE, tensor->dtype, &tensor->layout,
                                 tensor_device(tensor), problem);
    if (!node)
        return NULL;
    node->contiguous = layout_is_contiguous(&tensor->layout);
    node->source.tensor = tensor_reference(tensor);
    node->source.after = after;
    return node;
}

// The last WRITE of the graph to the storage, or NULL.
static struct node *last_write(const struct graph *graph, const struct storage *storage)
{
    struct node *write = graph->newest_write;
    while (write && write->write.tensor->storage != storage)
        write = write->few_inputs[1];
    return write;
}

static struct node *node_current(struct graph *graph, struct node *node,
                                 struct problem *problem)
{
    if (!graph->newest_write || node->kind != NODE_SOURCE)
        return node;
    struct node *write = last_write(graph, node->source.tensor->storage);
    if (write == node->source.after)
        return node;
    return node_source(graph, node->source.tensor, write, problem);
}

enum status graph_source(struct graph *graph, struct tensor *tensor, struct node **out,
                         struct problem *problem)
{
    *out = node_source(graph, tensor, NULL, problem);
    return *out ? STATUS_OK : problem->status;
}

static const struct layout layout_of_scalar = {.ndim = 0};

enum status graph_scalar(struct graph *graph, struct scalar scalar, struct node **out,
                         struct problem *problem)
{
    enum dtype dtype = scalar.kind == SCALAR_BOOL  ? DTYPE_BOOL
                       : scalar.kind == SCALAR_INT ? DTYPE_INT64
                                                   : DTYPE_FLOAT32;
    *out = node_new(graph, NODE_SCALAR, dtype, &layout_of_scalar, NULL, problem);
    if (!*out)
        return problem->status;
    (*out)->scalar = scalar;
    return STATUS_OK;
}

struct node *node_constant(struct graph *graph, union element element, enum dtype dtype,
                           struct device *device, struct problem *problem)
{
    struct node *node =
        node_new(graph, NODE_CONSTANT, dtype, &layout_of_scalar, device, problem);
    if (node)
        node->constant = element;
    return node;
}

struct node *node_index(struct graph *graph, const struct layout *layout,
                        struct device *device, struct problem *problem)
{
    return node_new(graph, NODE_INDEX, DTYPE_INT64, layout, device, problem);
}

// Integer division by anything but a constant that is not zero.
static bool may_divide_by_zero(const struct node *node)
{
    if ((node->op != MAP_floor_divide && node->op != MAP_remainder &&
         node->op != MAP_truncate_divide) ||
        dtype_is_float((enum dtype)node->computation))
        return false;
    const struct node *divisor = node->inputs[1];
    if (divisor->kind == NODE_CLONE)
        divisor = divisor->inputs[0];
    return divisor->kind != NODE_CONSTANT ||
           element_to_scalar(divisor->constant, (enum dtype)divisor->dtype).i == 0;
}

struct node *node_map(struct graph *graph, enum map_op op, enum dtype computation, int n,
                      struct node *const *inputs, const struct layout *layout,
                      struct problem *problem)
{
    enum dtype dtype = map_result_dtype(op, computation);
    struct node *node =
        node_with_inputs(graph, NODE_MAP, dtype, n, inputs, layout, problem);
    if (!node)
        return NULL;
    node->op = (uint8_t)op;
    node->computation = (uint8_t)computation;
    node->may_fault = node->must_run = may_divide_by_zero(node);
    graph->must_run = graph->must_run || node->must_run;
    return node;
}

bool layout_is_canonical(const struct layout *layout)
{
    int64_t stride = 1;
    for (int i = layout->ndim - 1; i >= 0; i--) {
        if (layout->strides[i] != stride)
            return false;
        if (layout->shape[i] > 1)
            stride *= layout->shape[i]; // a tensor's: fits
    }
    return true;
}

// The layout that a computed value of the same shape has; NULL if memory is out.
static const struct layout *contiguous_like(struct graph *graph, const struct node *node,
                                            enum dtype dtype, struct problem *problem)
{
    if (dtype_size(dtype) <= dtype_size((enum dtype)node->dtype) &&
        layout_is_canonical(node->layout))
        return node->layout;
    return graph_layout(graph, node->layout->ndim, node->layout->shape, dtype, problem);
}

struct node *node_cast(struct graph *graph, struct node *value, enum dtype dtype,
                       struct problem *problem)
{
    if (value->dtype == dtype)
        return value;
    if (value->kind == NODE_CONSTANT) {
        struct scalar scalar =
            element_to_scalar(value->constant, (enum dtype)value->dtype);
        return node_constant(graph, scalar_to_element(scalar, dtype, NULL), dtype,
                             value->device, problem);
    }
    const struct layout *layout = contiguous_like(graph, value, dtype, problem);
    if (!layout)
        return NULL;
    return node_map(graph, MAP_CAST, dtype, 1, &value, layout, problem);
}

struct node *node_clone(struct graph *graph, struct node *value,
                        const struct layout *layout, struct problem *problem)
{
    return node_with_inputs(graph, NODE_CLONE, (enum dtype)value->dtype, 1, &value,
                            layout, problem);
}

struct node *node_contiguous(struct graph *graph, struct node *value,
                             struct problem *problem)
{
    if (value->contiguous && value->kind != NODE_CONSTANT)
        return value;
    const struct layout *layout =
        contiguous_like(graph, value, (enum dtype)value->dtype, problem);
    return layout ? node_clone(graph, value, layout, problem) : NULL;
}

struct node *node_fill(struct graph *graph, union element element, enum dtype dtype,
                       const struct layout *layout, struct device *device,
                       struct problem *problem)
{
    struct node *constant = node_constant(graph, element, dtype, device, problem);
    return constant ? node_clone(graph, constant, layout, problem) : NULL;
}

struct node *node_reduce(struct graph *graph, enum pass_reduce reduce, struct node *value,
                         uint32_t dims, const struct layout *layout, enum dtype dtype,
                         struct problem *problem)
{
    struct node *node =
        node_with_inputs(graph, NODE_REDUCE, dtype, 1, &value, layout, problem);
    if (!node)
        return NULL;
    node->op = (uint8_t)reduce;
    node->dims = dims;
    return node;
}

struct node *node_softmax(struct graph *graph, struct node *value, int dim,
                          struct problem *problem)
{
    struct node *input = node_contiguous(graph, value, problem);
    if (!input)
        return NULL;
    struct node *node = node_with_inputs(graph, NODE_SOFTMAX, (enum dtype)input->dtype, 1,
                                         &input, input->layout, problem);
    if (node)
        node->dim = dim;
    return node;
}

static struct node *view_of_source(struct graph *graph, struct node *value,
                                   const struct layout *layout, int64_t offset,
                                   struct problem *problem)
{
    const struct tensor *base = value->source.tensor;
    struct tensor *tensor;
    if (!size_add(base->offset, offset, &offset)) {
        problem_set(problem, STATUS_SHAPE, "the view lies outside its tensor");
        return NULL;
    }
    if (tensor_create(base->storage, offset, base->dtype, layout, &tensor, problem) !=
        STATUS_OK)
        return NULL;
    struct node *node = node_source(graph, tensor, value->source.after, problem);
    tensor_release(tensor);
    return node;
}

struct node *node_view(struct graph *graph, struct node *value,
                       const struct layout *layout, int64_t offset,
                       struct problem *problem)
{
    if (value->kind == NODE_SOURCE && !graph->is_program)
        return view_of_source(graph, value, layout, offset, problem);
    struct node *base = value;
    if (value->kind == NODE_SOURCE) {
        offset += value->source.tensor->offset; // both inside the storage
    } else if (value->kind == NODE_VIEW) {
        base = value->inputs[0];
        offset += value->offset; // both inside the base's block
    } else if (value->kind == NODE_CONSTANT || value->kind == NODE_INDEX) {
        base = node_clone(graph, value, value->layout, problem);
    }
    const struct layout *copy = layout_keep(graph, layout, problem);
    if (!copy || !base)
        return NULL;
    struct node *node = node_with_inputs(graph, NODE_VIEW, (enum dtype)value->dtype, 1,
                                         &base, copy, problem);
    if (!node)
        return NULL;
    node->offset = offset;
    node->contiguous = layout_is_contiguous(copy);
    return node;
}

struct node *node_gemm(struct graph *graph, struct node *a, struct node *b,
                       const struct gemm *gemm, const struct layout *layout,
                       struct problem *problem)
{
    struct gemm *copy = graph_take(graph, sizeof *copy, problem);
    if (!copy)
        return NULL;
    *copy = *gemm;
    struct node *node = node_with_inputs(graph, NODE_GEMM, gemm->dtype, 2,
                                         (struct node *[]){a, b}, layout, problem);
    if (node)
        node->gemm = copy;
    return node;
}

struct node *node_concat(struct graph *graph, int n, struct node *const *inputs, int dim,
                         const struct layout *layout, enum dtype dtype,
                         struct problem *problem)
{
    struct node *node =
        node_with_inputs(graph, NODE_CONCAT, dtype, n, inputs, layout, problem);
    if (node)
        node->dim = dim;
    return node;
}

static struct node *node_copy(struct graph *graph, struct node *value,
                              struct device *device, struct problem *problem)
{
    struct node *node = node_with_inputs(graph, NODE_COPY, (enum dtype)value->dtype, 1,
                                         &value, value->layout, problem);
    if (node)
        node->device = device;
    return node;
}

struct node *node_move(struct graph *graph, struct node *value, struct device *device,
                       struct problem *problem)
{
    if (value->device == device)
        return value;
    if (value->kind == NODE_CONSTANT)
        return node_constant(graph, value->constant, (enum dtype)value->dtype, device,
                             problem);
    if (value->kind == NODE_CLONE && value->inputs[0]->kind == NODE_CONSTANT)
        return node_fill(graph, value->inputs[0]->constant, (enum dtype)value->dtype,
                         value->layout, device, problem);
    value = node_contiguous(graph, value, problem);
    if (value && !value->device->is_host && !device->is_host)
        value = node_copy(graph, value, graph->context.devices[0], problem);
    return value ? node_copy(graph, value, device, problem) : NULL;
}

bool layout_overlaps_itself(const struct layout *layout)
{
    for (int i = 0; i < layout->ndim; i++)
        if (layout->strides[i] == 0 && layout->shape[i] > 1)
            return true;
    return false;
}

bool layout_same_shape(const struct layout *a, const struct layout *b)
{
    if (a->ndim != b->ndim)
        return false;
    for (int i = 0; i < a->ndim; i++)
        if (a->shape[i] != b->shape[i])
            return false;
    return true;
}

enum status node_write(struct graph *graph, struct tensor *target, struct node *value,
                       struct problem *problem)
{
    struct node *node = node_with_inputs(graph, NODE_WRITE, target->dtype, 1, &value,
                                         &target->layout, problem);
    if (!node)
        return problem->status;
    node->write.tensor = tensor_reference(target);
    node->write.previous = last_write(graph, target->storage);
    node->few_inputs[1] = graph->newest_write;
    graph->newest_write = node;
    return STATUS_OK;
}

struct node *node_update(struct graph *graph, struct node *base, struct node *value,
                         const struct layout *layout, const struct layout *part,
                         int64_t offset, struct problem *problem)
{
    struct node *node =
        node_with_inputs(graph, NODE_UPDATE, (enum dtype)value->dtype, base ? 2 : 1,
                         (struct node *[]){value, base}, layout, problem);
    if (!node)
        return NULL;
    node->update.part = layout_keep(graph, part, problem);
    node->update.offset = offset;
    if (base)
        base->updated_by = node->id;
    return node->update.part ? node : NULL;
}

struct node *node_random(struct graph *graph, const struct draw *draw, enum dtype dtype,
                         const struct layout *layout, struct device *device,
                         struct problem *problem)
{
    if (!graph->context.generators) {
        problem_set(problem, STATUS_NOT_IMPLEMENTED,
                    "there are no random numbers here: the request has no generators");
        return NULL;
    }
    struct node *node = node_new(graph, NODE_RANDOM, dtype, layout, device, problem);
    if (!node)
        return NULL;
    struct seed *seed = &graph->seeds[device->index];
    node->draw = *draw;
    if (node->count == 0) // draws nothing: the next one takes the seed
        return node;
    node->draw.seeds = seed->set;
    node->draw.seed = seed->value;
    node->must_run = graph->must_run = true;
    seed->set = false;
    return node;
}
