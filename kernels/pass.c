// SPDX-License-Identifier: Apache-2.0
// The facts about elementwise opcodes, from ops.def. Pure functions; any thread.
#include "kernels/pass.h"

#include "kernels/ops.h"

enum { DTYPES_BITS = DTYPES_BOOL | DTYPES_INTEGER };

struct map_row {
    const char *name;
    int arity;
    unsigned dtypes;
    enum op_rule rule;
};

static const struct map_row rows[MAP_COUNT] = {
    [MAP_CAST] = {"cast", 1, DTYPES_ALL, RULE_PROMOTE},
#define MAP(name, arity, dtypes, rule, ...)                                              \
    [MAP_##name] = {#name, arity, DTYPES_##dtypes, RULE_##rule},
#define HELPER(name, arity, dtypes, rule, ...)                                           \
    [MAP_##name] = {#name, arity, DTYPES_##dtypes, RULE_##rule},
#include "kernels/ops.def"
};

int map_arity(enum map_op op)
{
    return rows[op].arity;
}

const char *map_name(enum map_op op)
{
    return rows[op].name;
}

unsigned map_dtypes(enum map_op op)
{
    return rows[op].dtypes;
}

enum dtype map_result_dtype(enum map_op op, enum dtype dtype)
{
    enum op_rule rule = rows[op].rule;
    return rule == RULE_COMPARE || rule == RULE_LOGICAL ? DTYPE_BOOL : dtype;
}
