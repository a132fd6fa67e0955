// SPDX-License-Identifier: Apache-2.0
// Operations on lazies: their arguments become nodes of the current graph, and the nodes
// that come out become cells, or views of the cells that went in (cells.h).
#include "tensor/cells_internal.h"

struct call {
    struct cells *cells;
    const struct op_row *row;
    const struct lazy_argument *given;
    struct argument arguments[OP_MAX_PARAMETERS];
    struct problem *problem;
};

// ---- Arguments
static struct node *tensor_argument(struct call *call, const struct lazy_argument *given)
{
    struct node *node = NULL;
    if (!given->is_number)
        return lazy_node(given->tensor, call->problem);
    graph_scalar(call->cells->graph, given->number, &node, call->problem);
    return node;
}

static bool tensors_argument(struct call *call, const struct lazy_argument *given,
                             struct argument *out)
{
    int n = given->tensors.count;
    struct node **items =
        graph_take(call->cells->graph, (size_t)n * sizeof *items, call->problem);
    if (!items)
        return false;
    for (int i = 0; i < n; i++)
        if (!(items[i] = lazy_node(given->tensors.items[i], call->problem)))
            return false;
    out->tensors.count = n;
    out->tensors.items = items;
    return true;
}

static bool convert(struct call *call, const struct lazy_argument *given,
                    struct argument *out)
{
    out->kind = given->kind;
    switch (given->kind) {
    case ARGUMENT_NONE:
        break;
    case ARGUMENT_TENSOR:
        out->tensor = tensor_argument(call, given);
        return out->tensor != NULL;
    case ARGUMENT_TENSORS:
        return tensors_argument(call, given, out);
    case ARGUMENT_NUMBER:
        out->number = given->number;
        break;
    case ARGUMENT_INT:
        out->integer = given->integer;
        break;
    case ARGUMENT_INTS:
        out->integers.count = given->integers.count;
        out->integers.items = given->integers.items;
        break;
    case ARGUMENT_FLOAT:
        out->real = given->real;
        break;
    case ARGUMENT_BOOL:
        out->boolean = given->boolean;
        break;
    case ARGUMENT_STR:
        out->string.text = given->string.text;
        out->string.length = given->string.length;
        break;
    case ARGUMENT_DTYPE:
        out->dtype = given->dtype;
        break;
    case ARGUMENT_DEVICE:
        out->device = given->device;
        break;
    }
    return true;
}

// ---- Results
// The lazy among the arguments that is read by `node` (whole: that has it for its cell's
// content), or NULL.
static struct lazy *argument_of(const struct call *call, const struct node *node,
                                bool content)
{
    for (int i = 0; i < call->row->n_parameters; i++) {
        const struct lazy_argument *given = &call->given[i];
        int n = given->kind == ARGUMENT_TENSOR && !given->is_number ? 1
                : given->kind == ARGUMENT_TENSORS                   ? given->tensors.count
                                                                    : 0;
        for (int j = 0; j < n; j++) {
            struct lazy *lazy =
                given->kind == ARGUMENT_TENSOR ? given->tensor : given->tensors.items[j];
            if ((content ? lazy->cell->node : lazy->read) == node)
                return lazy;
        }
    }
    return NULL;
}

static struct lazy *new_cell(struct call *call, struct node *content,
                             const struct layout *layout, int64_t offset)
{
    struct lazy *lazy = NULL;
    struct cell *cell = cell_new(call->cells, content->device, (enum dtype)content->dtype,
                                 content->count, call->problem);
    if (!cell)
        return NULL;
    cell->references = 1;
    if (cell_set_node(cell, content, call->problem) == STATUS_OK)
        lazy = lazy_new(cell, layout, offset, call->problem);
    cell_release(cell);
    return lazy;
}

static struct lazy *result(struct call *call, struct node *node)
{
    if (node->kind == NODE_VIEW) {
        struct node *base = node->inputs[0];
        struct lazy *lazy = argument_of(call, node, false);
        if (lazy)
            return lazy_reference(lazy);
        lazy = argument_of(call, base, true);
        return lazy ? lazy_new(lazy->cell, node->layout, node->offset, call->problem)
                    : new_cell(call, base, node->layout, node->offset);
    }
    struct lazy *lazy = node->is_content ? argument_of(call, node, false) : NULL;
    return lazy ? lazy_reference(lazy) : new_cell(call, node, node->layout, 0);
}

static bool writes(const struct op_row *row, bool in_place)
{
    return in_place || row->name[strlen(row->name) - 1] == '_';
}

static enum status write_target(struct call *call, struct node *value,
                                struct lazy **results)
{
    struct lazy *target = call->given[0].tensor;
    enum status status = lazy_write_node(target, value, call->problem);
    if (status == STATUS_OK)
        results[0] = lazy_reference(target);
    return status;
}

enum status lazy_op(struct cells *cells, enum op op, bool in_place,
                    const struct lazy_argument *arguments, struct lazy **results,
                    int *n_results, struct problem *problem)
{
    struct call call = {
        .cells = cells, .row = op_row(op), .given = arguments, .problem = problem};
    bool write = writes(call.row, in_place) && arguments[0].kind == ARGUMENT_TENSOR &&
                 !arguments[0].is_number;
    bool uniform = op == OP_fill_ || op == OP_zero_;
    if (write && lazy_check_writable(arguments[0].tensor, uniform, problem) != STATUS_OK)
        return problem->status;
    if (!cells_graph(cells, problem))
        return problem->status;
    for (int i = 0; i < call.row->n_parameters; i++)
        if (!convert(&call, &arguments[i], &call.arguments[i]))
            return problem->status;
    struct node *nodes[OP_MAX_RESULTS];
    int n;
    enum status status =
        graph_op(cells->graph, op, in_place, call.arguments, nodes, &n, problem);
    if (status != STATUS_OK)
        return status;
    *n_results = n;
    if (write)
        return write_target(&call, nodes[0], results);
    for (int i = 0; i < n; i++)
        if (!(results[i] = result(&call, nodes[i]))) {
            while (i-- > 0)
                lazy_release(results[i]);
            return problem->status;
        }
    return STATUS_OK;
}
