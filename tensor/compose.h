// SPDX-License-Identifier: Apache-2.0
// Builders made of other operations: each step is an operation of the table, with its
// checks and its rules. A failed step makes every later one NULL.
#ifndef TENSORD_TENSOR_COMPOSE_H
#define TENSORD_TENSOR_COMPOSE_H

#include "tensor/graph_internal.h"

static inline struct argument argument_tensor(struct node *node)
{
    return (struct argument){.kind = ARGUMENT_TENSOR, .tensor = node};
}
static inline struct argument argument_int(int64_t value)
{
    return (struct argument){.kind = ARGUMENT_INT, .integer = value};
}
static inline struct argument argument_ints(int count, const int64_t *items)
{
    return (struct argument){.kind = ARGUMENT_INTS,
                             .integers = {.count = count, .items = items}};
}
static inline struct argument argument_bool(bool value)
{
    return (struct argument){.kind = ARGUMENT_BOOL, .boolean = value};
}
// Result 0 of op on n arguments, the others absent. NULL: problem set, or one of the
// tensors was NULL.
struct node *compose(struct build *build, enum op op, int n,
                     const struct argument *arguments);
struct node *compose1(struct build *build, enum op op, struct node *a);
struct node *compose2(struct build *build, enum op op, struct node *a, struct node *b);
// A Python number.
struct node *compose_number(struct build *build, struct scalar scalar);
static inline struct node *compose_float(struct build *build, double value)
{
    return compose_number(build, (struct scalar){.kind = SCALAR_FLOAT, .f = value});
}
static inline struct node *compose_cast(struct build *build, struct node *node,
                                        enum dtype dtype)
{
    return node ? node_cast(build->graph, node, dtype, build->problem) : NULL;
}
// STATUS_DTYPE unless the node has a floating dtype.
enum status compose_check_float(struct build *build, const struct node *node);
#endif
