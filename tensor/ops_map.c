// SPDX-License-Identifier: Apache-2.0
// Builders of elementwise operations. The rules are PyTorch's: promotion, refused dtypes,
// Python scalars.
#include <string.h>

#include "tensor/graph_internal.h"
#include "tensor/promote.h"

static const uint8_t opcodes[OP_COUNT] = {
#define MAP(name, arity, dtypes, rule, integer, floating, signature, build, doc)         \
    [OP_##name] = MAP_##name,
#include "kernels/ops.def"
};

static enum dtype floating(enum dtype dtype)
{
    return dtype_is_float(dtype) ? dtype : DTYPE_FLOAT32;
}

// The computation dtype of a row's rule when its operands promote to dtype.
static enum dtype computation_of(enum op_rule rule, enum dtype dtype)
{
    if (rule == RULE_FLOATING)
        return floating(dtype);
    return rule == RULE_LOGICAL ? DTYPE_BOOL : dtype;
}

// Converts the operands and applies the opcode. Comparisons see a Python scalar rounded
// to their dtype, as PyTorch's do; arithmetic on float16 and bfloat16 sees it unrounded.
static struct node *apply(struct build *build, enum map_op op, enum dtype computation,
                          struct operands *operands)
{
    bool exact = map_result_dtype(op, computation) == computation;
    struct node *inputs[OPERANDS_MAX];
    if (operands_check_dtype(build, op, computation) != STATUS_OK)
        return NULL;
    for (int i = 0; i < operands->n; i++) {
        inputs[i] = i > 0 && operands->items[i] == operands->items[i - 1]
                        ? inputs[i - 1]
                        : operand_convert(build, operands->items[i], computation,
                                          operands->device, exact);
        if (!inputs[i])
            return NULL;
    }
    return node_map(build->graph, op, computation, operands->n, inputs, operands->layout,
                    build->problem);
}

static enum status prepare_two(struct build *build, struct operands *operands)
{
    struct node *items[2] = {build->arguments[0].tensor, build->arguments[1].tensor};
    return operands_prepare(build, 2, items, 0, false, operands);
}

enum status build_binary(struct build *build)
{
    struct operands operands;
    enum status status = prepare_two(build, &operands);
    if (status != STATUS_OK)
        return status;
    enum dtype computation = computation_of(build->row->rule, operands.dtype);
    return build_result(build, apply(build, opcodes[build->op], computation, &operands));
}

enum status build_unary(struct build *build)
{
    struct operands operands;
    struct node *item = build_tensor(build, 0);
    if (!item)
        return build->problem->status;
    enum status status = operands_prepare(build, 1, &item, 0, false, &operands);
    if (status != STATUS_OK)
        return status;
    enum dtype computation = computation_of(build->row->rule, operands.dtype);
    return build_result(build, apply(build, opcodes[build->op], computation, &operands));
}

enum status build_bitwise_not(struct build *build)
{
    struct operands operands;
    struct node *item = build_tensor(build, 0);
    if (!item)
        return build->problem->status;
    enum status status = operands_prepare(build, 1, &item, 0, false, &operands);
    if (status != STATUS_OK)
        return status;
    enum map_op op = operands.dtype == DTYPE_BOOL ? MAP_logical_not : MAP_bitwise_not;
    return build_result(build, apply(build, op, operands.dtype, &operands));
}

// ---- add and sub
static enum status check_sub(struct build *build, const struct operands *operands)
{
    for (int i = 0; i < 2; i++)
        if (operands->items[i]->dtype == DTYPE_BOOL)
            return problem_set(
                build->problem, STATUS_DTYPE,
                "sub() is not defined for bool; use logical_xor or logical_not");
    return STATUS_OK;
}

static enum status check_alpha(struct build *build, struct scalar alpha, enum dtype dtype)
{
    if (alpha.kind == SCALAR_FLOAT && !dtype_is_float(dtype))
        return problem_set(build->problem, STATUS_DTYPE,
                           "%s(): alpha must be an integer for tensors of dtype %s",
                           build->row->name, dtype_name(dtype));
    if (alpha.kind == SCALAR_BOOL && dtype != DTYPE_BOOL)
        return problem_set(build->problem, STATUS_DTYPE,
                           "%s(): a bool alpha is for bool tensors only",
                           build->row->name);
    return STATUS_OK;
}

// other * alpha in the computation dtype, then the addition. The 16-bit floats do both in
// float32 and round once, as PyTorch does.
static struct node *apply_scaled(struct build *build, struct operands *operands,
                                 struct scalar alpha)
{
    enum dtype dtype = operands->dtype;
    bool narrow = dtype == DTYPE_FLOAT16 || dtype == DTYPE_BFLOAT16;
    enum dtype wide = narrow ? DTYPE_FLOAT32 : dtype;
    struct graph *graph = build->graph;
    union element element;
    struct node *inputs[2];
    if (scalar_checked(alpha, wide, &element, build->problem) != STATUS_OK)
        return NULL;
    for (int i = 0; i < 2; i++) {
        inputs[i] =
            operand_convert(build, operands->items[i], dtype, operands->device, true);
        if (inputs[i] && narrow)
            inputs[i] = node_cast(graph, inputs[i], wide, build->problem);
        if (!inputs[i])
            return NULL;
    }
    struct node *factor =
        node_constant(graph, element, wide, operands->device, build->problem);
    if (!factor)
        return NULL;
    inputs[1] = node_map(graph, MAP_mul, wide, 2, (struct node *[]){inputs[1], factor},
                         operands->layout, build->problem);
    if (!inputs[1])
        return NULL;
    struct node *sum = node_map(graph, opcodes[build->op], wide, 2, inputs,
                                operands->layout, build->problem);
    return sum ? node_cast(graph, sum, dtype, build->problem) : NULL;
}

enum status build_scaled(struct build *build)
{
    struct operands operands;
    enum status status = prepare_two(build, &operands);
    if (status == STATUS_OK && build->op == OP_sub)
        status = check_sub(build, &operands);
    if (status != STATUS_OK)
        return status;
    const struct argument *alpha = build_argument(build, 2);
    if (alpha &&
        (status = check_alpha(build, alpha->number, operands.dtype)) != STATUS_OK)
        return status;
    if (!alpha || (alpha->number.kind != SCALAR_FLOAT && alpha->number.i == 1))
        return build_result(build,
                            apply(build, opcodes[build->op], operands.dtype, &operands));
    return build_result(build, apply_scaled(build, &operands, alpha->number));
}

// ---- div and pow
static bool text_is(const struct argument *argument, const char *text)
{
    size_t length = strlen(text);
    return argument->string.length == length &&
           memcmp(argument->string.text, text, length) == 0;
}

enum status build_div(struct build *build)
{
    struct operands operands;
    const struct argument *mode = build_argument(build, 2);
    if (mode && !text_is(mode, "floor") && !text_is(mode, "trunc"))
        return problem_set(build->problem, STATUS_VALUE,
                           "div(): rounding_mode must be None, 'trunc' or 'floor'");
    enum status status = prepare_two(build, &operands);
    if (status != STATUS_OK)
        return status;
    if (!mode)
        return build_result(build,
                            apply(build, MAP_div, floating(operands.dtype), &operands));
    enum map_op op = text_is(mode, "floor") ? MAP_floor_divide : MAP_truncate_divide;
    return build_result(build, apply(build, op, operands.dtype, &operands));
}

enum status build_pow(struct build *build)
{
    struct operands operands;
    enum status status = prepare_two(build, &operands);
    if (status != STATUS_OK)
        return status;
    const struct node *exponent = build->arguments[1].tensor;
    if (node_is_scalar(exponent) && exponent->scalar.kind == SCALAR_INT &&
        exponent->scalar.i < 0 && !dtype_is_float(operands.dtype))
        return problem_set(build->problem, STATUS_VALUE,
                           "pow(): integers to negative integer powers are not allowed; "
                           "convert the base to "
                           "a float dtype first");
    return build_result(build, apply(build, MAP_pow, operands.dtype, &operands));
}

// ---- where and clamp
// PyTorch also takes a uint8 condition.
static enum status check_condition(struct build *build, const struct node *condition)
{
    if (condition->dtype == DTYPE_BOOL || condition->dtype == DTYPE_UINT8)
        return STATUS_OK;
    return problem_set(build->problem, STATUS_DTYPE,
                       "where(): the condition must be bool, not %s",
                       dtype_name((enum dtype)condition->dtype));
}

enum status build_where(struct build *build)
{
    struct node *condition = build_tensor(build, 0);
    if (!condition)
        return build->problem->status;
    enum status status = check_condition(build, condition);
    if (status != STATUS_OK)
        return status;
    struct node *items[3] = {condition, build->arguments[1].tensor,
                             build->arguments[2].tensor};
    struct operands operands;
    if ((status = operands_prepare(build, 3, items, 1, false, &operands)) != STATUS_OK)
        return status;
    struct node *inputs[3];
    for (int i = 0; i < 3; i++) {
        enum dtype dtype = i == 0 ? DTYPE_BOOL : operands.dtype;
        inputs[i] =
            operand_convert(build, operands.items[i], dtype, operands.device, false);
        if (!inputs[i])
            return build->problem->status;
    }
    return build_result(build, node_map(build->graph, MAP_where, operands.dtype, 3,
                                        inputs, operands.layout, build->problem));
}

// A number as a bound must be in the range of an integer dtype.
static enum status check_bound(struct build *build, const struct node *bound,
                               enum dtype dtype)
{
    union element element;
    if (!node_is_scalar(bound) || dtype_is_float(dtype))
        return STATUS_OK;
    return scalar_checked(bound->scalar, dtype, &element, build->problem);
}

static enum status clamp(struct build *build)
{
    struct node *items[3] = {build_tensor(build, 0)};
    enum map_op steps[3];
    int n = 1;
    if (!items[0])
        return build->problem->status;
    for (int i = 1; i <= 2; i++) {
        const struct argument *bound = build_argument(build, i);
        if (!bound)
            continue;
        steps[n] = i == 1 ? MAP_maximum : MAP_minimum;
        items[n++] = bound->tensor;
    }
    if (n == 1)
        return problem_set(build->problem, STATUS_VALUE, "%s(): min or max must be given",
                           build->row->name);
    struct operands operands;
    enum status status = operands_prepare(build, n, items, 0, false, &operands);
    if (status == STATUS_OK && !dtype_in(operands.dtype, build->row->dtypes))
        status =
            problem_set(build->problem, STATUS_DTYPE, "%s() is not defined for dtype %s",
                        build->row->name, dtype_name(operands.dtype));
    if (status != STATUS_OK)
        return status;
    struct node *value =
        operand_convert(build, operands.items[0], operands.dtype, operands.device, true);
    for (int i = 1; value && i < n; i++) {
        if (check_bound(build, operands.items[i], operands.dtype) != STATUS_OK)
            return build->problem->status;
        struct node *bound = operand_convert(build, operands.items[i], operands.dtype,
                                             operands.device, true);
        if (!bound)
            return build->problem->status;
        value =
            node_map(build->graph, steps[i], operands.dtype, 2,
                     (struct node *[]){value, bound}, operands.layout, build->problem);
    }
    return build_result(build, value);
}

enum status build_clamp(struct build *build)
{
    return clamp(build);
}

enum status build_clamp_(struct build *build)
{
    enum status status = clamp(build);
    const struct node *target = build->arguments[0].tensor;
    if (status != STATUS_OK)
        return status;
    struct node *value = build->results[0];
    if (!promote_can_cast((enum dtype)value->dtype, (enum dtype)target->dtype))
        return problem_set(
            build->problem, STATUS_DTYPE,
            "clamp_(): a result of dtype %s cannot be written to a tensor of dtype %s",
            dtype_name((enum dtype)value->dtype), dtype_name((enum dtype)target->dtype));
    return build_write(build, value);
}
