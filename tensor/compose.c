// SPDX-License-Identifier: Apache-2.0
// Operations made of operations (compose.h).
#include "tensor/compose.h"

struct node *compose(struct build *build, enum op op, int n,
                     const struct argument *arguments)
{
    struct argument all[OP_MAX_PARAMETERS];
    struct node *results[OP_MAX_RESULTS];
    int n_results;
    for (int i = 0; i < OP_MAX_PARAMETERS; i++) {
        all[i] = i < n ? arguments[i] : (struct argument){.kind = ARGUMENT_NONE};
        if (all[i].kind == ARGUMENT_TENSOR && !all[i].tensor)
            return NULL;
    }
    enum status status =
        graph_op(build->graph, op, false, all, results, &n_results, build->problem);
    return status == STATUS_OK ? results[0] : NULL;
}

struct node *compose1(struct build *build, enum op op, struct node *a)
{
    return compose(build, op, 1, (struct argument[]){argument_tensor(a)});
}

struct node *compose2(struct build *build, enum op op, struct node *a, struct node *b)
{
    return compose(build, op, 2,
                   (struct argument[]){argument_tensor(a), argument_tensor(b)});
}

struct node *compose_number(struct build *build, struct scalar scalar)
{
    struct node *node = NULL;
    graph_scalar(build->graph, scalar, &node, build->problem);
    return node;
}

enum status compose_check_float(struct build *build, const struct node *node)
{
    if (dtype_is_float((enum dtype)node->dtype))
        return STATUS_OK;
    return problem_set(build->problem, STATUS_DTYPE,
                       "%s() needs a floating dtype, not %s; convert with to",
                       build->row->name, dtype_name((enum dtype)node->dtype));
}
