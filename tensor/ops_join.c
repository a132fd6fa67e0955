// SPDX-License-Identifier: Apache-2.0
// Builders of cat and stack: every input is written into its slice of one new block.
#include <inttypes.h>

#include "tensor/graph_internal.h"
#include "tensor/promote.h"

// PyTorch's oldest habit: an empty 1-D tensor joins anything.
static bool is_skipped(const struct node *node)
{
    return node->layout->ndim == 1 && node->layout->shape[0] == 0;
}

static enum status check_items(struct build *build, int n, struct node *const *items)
{
    if (n < 1)
        return problem_set(build->problem, STATUS_VALUE,
                           "%s(): the list of tensors is empty", build->row->name);
    for (int i = 0; i < n; i++)
        if (node_is_scalar(items[i]))
            return problem_set(build->problem, STATUS_TYPE,
                               "%s(): item %d must be a tensor, not a number",
                               build->row->name, i);
    return operands_same_device(build, n, items);
}

static enum dtype common_dtype(int n, struct node *const *items)
{
    struct promotion promotion = PROMOTION_NONE;
    for (int i = 0; i < n; i++)
        promote_tensor(&promotion, (enum dtype)items[i]->dtype, items[i]->layout->ndim);
    return promote_result(&promotion);
}

static enum status refuse_item(struct build *build, const struct node *item,
                               const struct node *first, int index, int dim)
{
    char text[80], first_text[80];
    shape_text(item->layout->ndim, item->layout->shape, text, sizeof text);
    shape_text(first->layout->ndim, first->layout->shape, first_text, sizeof first_text);
    return problem_set(
        build->problem, STATUS_SHAPE,
        "%s(): item %d has shape %s; all but dimension %d must equal that of %s",
        build->row->name, index, text, dim, first_text);
}

// The joined shape. `first`: the first item that counts.
static enum status join_shapes(struct build *build, int n, struct node *const *items,
                               int dim, const struct node *first, struct layout *out)
{
    layout_copy(out, first->layout);
    out->shape[dim] = 0;
    for (int i = 0; i < n; i++) {
        const struct layout *in = items[i]->layout;
        if (is_skipped(items[i]))
            continue;
        bool fits = in->ndim == out->ndim;
        for (int d = 0; fits && d < in->ndim; d++)
            fits = d == dim || in->shape[d] == out->shape[d];
        if (!fits)
            return refuse_item(build, items[i], first, i, dim);
        if (!size_add(out->shape[dim], in->shape[dim], &out->shape[dim]))
            return problem_set(build->problem, STATUS_SHAPE, "%s(): the size overflows",
                               build->row->name);
    }
    return STATUS_OK;
}

static struct node *join(struct build *build, int n, struct node *const *items, int dim,
                         const struct layout *shape, enum dtype dtype)
{
    struct graph *graph = build->graph;
    const struct layout *layout =
        graph_layout(graph, shape->ndim, shape->shape, dtype, build->problem);
    struct node **inputs =
        layout ? graph_take(graph, (size_t)n * sizeof *inputs, build->problem) : NULL;
    if (!inputs)
        return NULL;
    int kept = 0;
    for (int i = 0; i < n; i++) {
        if (items[i]->count == 0)
            continue;
        inputs[kept] = node_cast(graph, items[i], dtype, build->problem);
        if (!inputs[kept++])
            return NULL;
    }
    if (kept == 0)
        return node_fill(graph, (union element){.i64 = 0}, dtype, layout,
                         items[0]->device, build->problem);
    return node_concat(graph, kept, inputs, dim, layout, dtype, build->problem);
}

enum status build_cat(struct build *build)
{
    int n = build->arguments[0].tensors.count;
    struct node *const *items = build->arguments[0].tensors.items;
    enum status status = check_items(build, n, items);
    if (status != STATUS_OK)
        return status;
    const struct node *first = NULL;
    for (int i = 0; i < n; i++) {
        if (items[i]->layout->ndim == 0)
            return problem_set(build->problem, STATUS_SHAPE,
                               "cat(): item %d has no dimensions; use stack", i);
        if (!first && !is_skipped(items[i]))
            first = items[i];
    }
    if (!first)
        first = items[0];
    const struct argument *argument = build_argument(build, 1);
    int dim;
    status = dim_normalize(argument ? argument->integer : 0, first->layout->ndim, &dim,
                           build->problem);
    struct layout shape;
    if (status == STATUS_OK)
        status = join_shapes(build, n, items, dim, first, &shape);
    if (status != STATUS_OK)
        return status;
    return build_result(build,
                        join(build, n, items, dim, &shape, common_dtype(n, items)));
}

// Every item with a dimension of size 1 inserted, then joined.
enum status build_stack(struct build *build)
{
    int n = build->arguments[0].tensors.count, dim;
    struct node *const *items = build->arguments[0].tensors.items;
    enum status status = check_items(build, n, items);
    if (status != STATUS_OK)
        return status;
    const struct layout *in = items[0]->layout;
    const struct argument *argument = build_argument(build, 1);
    if (in->ndim == TENSOR_MAX_NDIM)
        return problem_set(build->problem, STATUS_LIMIT,
                           "a tensor has at most %d dimensions", TENSOR_MAX_NDIM);
    status = dim_normalize(argument ? argument->integer : 0, in->ndim + 1, &dim,
                           build->problem);
    struct node **inputs =
        graph_take(build->graph, (size_t)n * sizeof *inputs, build->problem);
    if (status != STATUS_OK || !inputs)
        return build->problem->status;
    struct layout shape = {.ndim = in->ndim + 1};
    for (int i = 0; i < n; i++) {
        const struct layout *own = items[i]->layout;
        if (!layout_same_shape(own, in))
            return problem_set(
                build->problem, STATUS_SHAPE,
                "stack(): all tensors must have the same shape; item %d differs", i);
        for (int d = 0; d < shape.ndim; d++) {
            int from = d < dim ? d : d - 1;
            shape.shape[d] = d == dim ? 1 : own->shape[from];
            shape.strides[d] = d == dim ? 1 : own->strides[from];
        }
        inputs[i] = node_view(build->graph, items[i], &shape, 0, build->problem);
        if (!inputs[i])
            return build->problem->status;
    }
    shape.shape[dim] = n;
    return build_result(build,
                        join(build, n, inputs, dim, &shape, common_dtype(n, items)));
}
