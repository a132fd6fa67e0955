// SPDX-License-Identifier: Apache-2.0
// Expressions: literals, operators, attributes, items. Any thread.
#include "api/lang/compile_internal.h"

// ---- Operators

static enum binary_op binary_op(enum syntax_operator op)
{
    switch (op) {
    case SYNTAX_ADD:
        return BINARY_ADD;
    case SYNTAX_SUBTRACT:
        return BINARY_SUB;
    case SYNTAX_MULTIPLY:
        return BINARY_MUL;
    case SYNTAX_DIVIDE:
        return BINARY_DIV;
    case SYNTAX_FLOOR_DIVIDE:
        return BINARY_FLOOR_DIV;
    case SYNTAX_REMAINDER:
        return BINARY_MOD;
    case SYNTAX_MATMUL:
        return BINARY_MATMUL;
    case SYNTAX_LEFT_SHIFT:
        return BINARY_LSHIFT;
    case SYNTAX_RIGHT_SHIFT:
        return BINARY_RSHIFT;
    case SYNTAX_BIT_AND:
        return BINARY_AND;
    case SYNTAX_BIT_OR:
        return BINARY_OR;
    case SYNTAX_BIT_XOR:
        return BINARY_XOR;
    default:
        return BINARY_POW;
    }
}

void compile_operator(struct compiler *compiler, enum syntax_operator op, bool in_place,
                      const struct syntax_place *place)
{
    if (op == SYNTAX_ADD)
        emit(compiler, OPCODE_add, in_place, place);
    else if (op == SYNTAX_SUBTRACT)
        emit(compiler, OPCODE_subtract, in_place, place);
    else if (op == SYNTAX_MULTIPLY)
        emit(compiler, OPCODE_multiply, in_place, place);
    else
        emit(compiler, OPCODE_binary, (uint32_t)binary_op(op) | (uint32_t)in_place << 8,
             place);
}

// Where the first operands up to `last` are: what an operator in the middle covers.
static struct syntax_place chain_place(const struct syntax *node, int last)
{
    struct syntax_place place = node->place;
    if (last + 1 < node->chain.count)
        place.end = node->chain.operands[last]->place.end;
    return place;
}

static void compile_chain(struct compiler *compiler, const struct syntax *node)
{
    compile_expression(compiler, node->chain.operands[0]);
    for (int i = 1; i < node->chain.count; i++) {
        struct syntax_place place = chain_place(node, i);
        compile_expression(compiler, node->chain.operands[i]);
        compile_operator(compiler, node->chain.operators[i - 1], false, &place);
    }
}

static void compile_comparison(struct compiler *compiler, enum syntax_operator op,
                               const struct syntax_place *place)
{
    static const enum compare_op ops[] = {
        [SYNTAX_EQ - SYNTAX_EQ] = COMPARE_EQ, [SYNTAX_NE - SYNTAX_EQ] = COMPARE_NE,
        [SYNTAX_LT - SYNTAX_EQ] = COMPARE_LT, [SYNTAX_LE - SYNTAX_EQ] = COMPARE_LE,
        [SYNTAX_GT - SYNTAX_EQ] = COMPARE_GT, [SYNTAX_GE - SYNTAX_EQ] = COMPARE_GE,
    };
    if (op == SYNTAX_IS || op == SYNTAX_IS_NOT)
        emit(compiler, OPCODE_is, op == SYNTAX_IS_NOT, place);
    else if (op == SYNTAX_IN || op == SYNTAX_NOT_IN)
        emit(compiler, OPCODE_in, op == SYNTAX_NOT_IN, place);
    else
        emit(compiler, OPCODE_compare, ops[op - SYNTAX_EQ], place);
}

// a < b < c evaluates b once and stops at the first that does not hold, with its result.
static void compile_compare(struct compiler *compiler, const struct syntax *node)
{
    int count = node->chain.count;
    struct jump *ends = NULL;
    compile_expression(compiler, node->chain.operands[0]);
    for (int i = 1; i < count; i++) {
        struct syntax_place place = node->place;
        place.start = node->chain.operands[i - 1]->place.start;
        place.end = node->chain.operands[i]->place.end;
        place.line = node->chain.operands[i - 1]->place.line;
        place.column = node->chain.operands[i - 1]->place.column;
        if (count == 2)
            place = node->place;
        compile_expression(compiler, node->chain.operands[i]);
        if (i + 1 < count) {
            emit(compiler, OPCODE_swap, 2, NULL);
            emit(compiler, OPCODE_copy, 2, NULL);
        }
        compile_comparison(compiler, node->chain.operators[i - 1], &place);
        if (i + 1 < count)
            jumps_add(compiler, &ends, emit_jump(compiler, OPCODE_and, &place));
    }
    if (!ends)
        return;
    int height = compiler->emitter->height;
    int32_t done = emit_jump(compiler, OPCODE_jump, NULL);
    jumps_patch(compiler, ends);
    emit_height(compiler, height + 1); // the operand in the middle, then the result
    emit(compiler, OPCODE_swap, 2, NULL);
    emit(compiler, OPCODE_pop, 0, NULL);
    patch(compiler, done);
}

static void compile_logical(struct compiler *compiler, const struct syntax *node)
{
    struct jump *ends = NULL;
    enum opcode opcode = node->kind == SYNTAX_AND ? OPCODE_and : OPCODE_or;
    for (int i = 0; i < node->elements.count; i++) {
        const struct syntax *element = node->elements.items[i];
        compile_expression(compiler, element);
        if (i + 1 < node->elements.count)
            jumps_add(compiler, &ends, emit_jump(compiler, opcode, &element->place));
    }
    jumps_patch(compiler, ends);
}

static void compile_unary(struct compiler *compiler, const struct syntax *node)
{
    const struct syntax *operand = node->unary.operand;
    if (node->unary.op == SYNTAX_MINUS && operand->kind == SYNTAX_INT &&
        operand->integer <= (uint64_t)INT64_MAX + 1) {
        emit_value(compiler, value_int((int64_t)(0 - operand->integer)));
        return;
    }
    if (node->unary.op == SYNTAX_MINUS && operand->kind == SYNTAX_FLOAT) {
        emit_value(compiler, value_float(-operand->number));
        return;
    }
    compile_expression(compiler, operand);
    if (node->unary.op == SYNTAX_NOT)
        emit(compiler, OPCODE_not, 0, &node->place);
    else
        emit(compiler, OPCODE_unary,
             node->unary.op == SYNTAX_MINUS  ? UNARY_NEG
             : node->unary.op == SYNTAX_PLUS ? UNARY_POS
                                             : UNARY_INVERT,
             &node->place);
}

static void compile_conditional(struct compiler *compiler, const struct syntax *node)
{
    const struct syntax *condition = node->conditional.condition;
    compile_expression(compiler, condition);
    int32_t skip = emit_jump(compiler, OPCODE_if_false, &condition->place);
    compile_expression(compiler, node->conditional.value);
    int32_t end = emit_jump(compiler, OPCODE_jump, NULL);
    patch(compiler, skip);
    emit_height(compiler, compiler->emitter->height - 1);
    compile_expression(compiler, node->conditional.otherwise);
    patch(compiler, end);
}

// ---- The rest

static void compile_integer(struct compiler *compiler, uint64_t integer)
{
    if (integer > INT64_MAX)
        emit_value(compiler, (struct value){.tag = VALUE_WIDE, .i = (int64_t)integer});
    else
        emit_value(compiler, value_int((int64_t)integer));
}

static void compile_part(struct compiler *compiler, const struct syntax *part)
{
    if (part)
        compile_expression(compiler, part);
    else
        emit(compiler, OPCODE_none, 0, NULL);
}

static void compile_slice(struct compiler *compiler, const struct syntax *node)
{
    compile_part(compiler, node->slice.start);
    compile_part(compiler, node->slice.stop);
    compile_part(compiler, node->slice.step);
    emit(compiler, OPCODE_slice, 0, &node->place);
}

static bool compile_literal(struct compiler *compiler, const struct syntax *node)
{
    switch ((enum syntax_kind)node->kind) {
    case SYNTAX_INT:
        compile_integer(compiler, node->integer);
        return true;
    case SYNTAX_FLOAT:
        emit_value(compiler, value_float(node->number));
        return true;
    case SYNTAX_STRING:
        emit_text(compiler, node->string.text, node->string.bytes);
        return true;
    case SYNTAX_NONE:
        emit_value(compiler, value_none());
        return true;
    case SYNTAX_TRUE:
    case SYNTAX_FALSE:
        emit_value(compiler, value_bool(node->kind == SYNTAX_TRUE));
        return true;
    case SYNTAX_ELLIPSIS:
        emit_value(compiler, (struct value){.tag = VALUE_ELLIPSIS});
        return true;
    default:
        return false;
    }
}

static bool compile_operation(struct compiler *compiler, const struct syntax *node)
{
    switch ((enum syntax_kind)node->kind) {
    case SYNTAX_UNARY:
        compile_unary(compiler, node);
        return true;
    case SYNTAX_BINARY:
        compile_chain(compiler, node);
        return true;
    case SYNTAX_COMPARE:
        compile_compare(compiler, node);
        return true;
    case SYNTAX_AND:
    case SYNTAX_OR:
        compile_logical(compiler, node);
        return true;
    case SYNTAX_CONDITIONAL:
        compile_conditional(compiler, node);
        return true;
    default:
        return false;
    }
}

static bool compile_access(struct compiler *compiler, const struct syntax *node)
{
    switch ((enum syntax_kind)node->kind) {
    case SYNTAX_NAME:
        compile_load_name(compiler, node->name, &node->place);
        return true;
    case SYNTAX_ATTRIBUTE:
        compile_expression(compiler, node->attribute.object);
        emit(compiler, OPCODE_attribute, attribute_number(compiler, node->attribute.name),
             &node->place);
        return true;
    case SYNTAX_INDEX:
        compile_expression(compiler, node->index.object);
        compile_expression(compiler, node->index.key);
        emit(compiler, OPCODE_index, 0, &node->place);
        return true;
    case SYNTAX_SLICE:
        compile_slice(compiler, node);
        return true;
    case SYNTAX_CALL:
        compile_call(compiler, node);
        return true;
    case SYNTAX_LAMBDA:
        compile_function(compiler, node->function, &node->place);
        return true;
    default:
        return false;
    }
}

void compile_expression(struct compiler *compiler, const struct syntax *node)
{
    if (compiler->failed || compile_access(compiler, node) ||
        compile_literal(compiler, node) || compile_operation(compiler, node))
        return;
    switch ((enum syntax_kind)node->kind) {
    case SYNTAX_TUPLE:
        compile_tuple(compiler, node);
        break;
    case SYNTAX_LIST:
        compile_list(compiler, node);
        break;
    case SYNTAX_SET:
        compile_set(compiler, node);
        break;
    case SYNTAX_DICT:
        compile_dict(compiler, node);
        break;
    case SYNTAX_FSTRING:
        compile_fstring(compiler, node);
        break;
    case SYNTAX_LIST_COMPREHENSION:
    case SYNTAX_SET_COMPREHENSION:
    case SYNTAX_DICT_COMPREHENSION:
        compile_comprehension(compiler, node);
        break;
    case SYNTAX_GENERATOR:
        compile_refuse(compiler, &node->place,
                       "a generator expression can only be an argument; write a list: "
                       "[...]");
        break;
    default:
        compile_fail(compiler, STATUS_SYNTAX, "this cannot stand here");
    }
}
