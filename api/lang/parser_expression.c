// SPDX-License-Identifier: Apache-2.0
// Expressions by precedence: conditional, or, and, not, comparison, arithmetic, powers.
// What associates to the left is collected into one node by a loop.
#include "api/lang/parser_internal.h"

#include <string.h>

struct link { // an operand and the operator before it
    struct syntax *operand;
    uint64_t op;
};

static bool push_link(struct parser *parser, uint64_t op, struct syntax *operand)
{
    struct link link = {operand, op};
    return operand != NULL && parser_push(parser, &link, sizeof link);
}

// The links from mark on as one node.
static struct syntax *make_chain(struct parser *parser, enum syntax_kind kind,
                                 struct syntax_place start, size_t mark)
{
    size_t count = (parser->scratch_length - mark) / sizeof(struct link);
    struct syntax *node = parser_node(parser, kind, start);
    struct syntax **operands =
        arena_take(parser->lexer.arena, count * (sizeof *operands + 1));
    if (node == NULL || operands == NULL) {
        lexer_no_memory(&parser->lexer);
        return NULL;
    }
    uint8_t *operators = (uint8_t *)(operands + count);
    for (size_t i = 0; i < count; i++) {
        struct link link;
        memcpy(&link, parser->scratch + mark + i * sizeof link, sizeof link);
        operands[i] = link.operand;
        if (i > 0)
            operators[i - 1] = (uint8_t)link.op;
        node_over(node, link.operand);
    }
    parser->scratch_length = mark;
    node->chain.count = (int)count;
    node->chain.operands = operands;
    node->chain.operators = operators;
    return parser_finish(parser, node);
}

// How tightly a binary operator binds, 0: it is none.
static int binding(enum token_kind kind, enum syntax_operator *op)
{
    static const struct {
        uint8_t level, op;
    } table[TOKEN_KIND_COUNT] = {
        [TOKEN_BAR] = {1, SYNTAX_BIT_OR},
        [TOKEN_CARET] = {2, SYNTAX_BIT_XOR},
        [TOKEN_AMPERSAND] = {3, SYNTAX_BIT_AND},
        [TOKEN_LEFT_SHIFT] = {4, SYNTAX_LEFT_SHIFT},
        [TOKEN_RIGHT_SHIFT] = {4, SYNTAX_RIGHT_SHIFT},
        [TOKEN_PLUS] = {5, SYNTAX_ADD},
        [TOKEN_MINUS] = {5, SYNTAX_SUBTRACT},
        [TOKEN_STAR] = {6, SYNTAX_MULTIPLY},
        [TOKEN_SLASH] = {6, SYNTAX_DIVIDE},
        [TOKEN_FLOOR] = {6, SYNTAX_FLOOR_DIVIDE},
        [TOKEN_PERCENT] = {6, SYNTAX_REMAINDER},
        [TOKEN_AT] = {6, SYNTAX_MATMUL},
    };
    *op = table[kind].op;
    return table[kind].level;
}

// Goes on behind `left` with operators that bind at least as tightly as `least`.
static struct syntax *parse_operators(struct parser *parser, struct syntax *left,
                                      struct syntax_place start, int least)
{
    enum syntax_operator op, next;
    for (int level; left && (level = binding(parser->token.kind, &op)) >= least;) {
        size_t mark = parser->scratch_length;
        if (!push_link(parser, 0, left))
            return NULL;
        while (binding(parser->token.kind, &op) == level) {
            parser_advance(parser);
            struct syntax_place right_start = parser->token.place;
            struct syntax *right = parse_unary(parser);
            if (right && binding(parser->token.kind, &next) > level)
                right = parse_operators(parser, right, right_start, level + 1);
            if (!push_link(parser, op, right))
                return NULL;
        }
        left = make_chain(parser, SYNTAX_BINARY, start, mark);
    }
    return left;
}

struct syntax *parse_operand(struct parser *parser)
{
    struct syntax_place start = parser->token.place;
    return parse_operators(parser, parse_unary(parser), start, 1);
}

static struct syntax *make_unary(struct parser *parser, struct syntax_place start,
                                 enum syntax_operator op, struct syntax *operand)
{
    struct syntax *node = operand ? parser_node(parser, SYNTAX_UNARY, start) : NULL;
    if (node == NULL)
        return NULL;
    node->unary.op = op;
    node->unary.operand = operand;
    node_over(node, operand);
    return parser_finish(parser, node);
}

struct syntax *parse_unary(struct parser *parser)
{
    enum syntax_operator op;
    switch (parser->token.kind) {
    case TOKEN_MINUS:
        op = SYNTAX_MINUS;
        break;
    case TOKEN_PLUS:
        op = SYNTAX_PLUS;
        break;
    case TOKEN_TILDE:
        op = SYNTAX_INVERT;
        break;
    default:
        return parse_power(parser);
    }
    struct syntax_place start = parser->token.place;
    if (!parser_enter(parser))
        return NULL;
    parser_advance(parser);
    struct syntax *node = make_unary(parser, start, op, parse_unary(parser));
    parser_leave(parser);
    return node;
}

struct syntax *parse_power(struct parser *parser)
{
    struct syntax_place start = parser->token.place;
    struct syntax *base = parse_primary(parser);
    if (base == NULL || !parser_at(parser, TOKEN_POWER))
        return base;
    size_t mark = parser->scratch_length;
    if (!parser_enter(parser) || !push_link(parser, 0, base))
        return NULL;
    parser_advance(parser);
    if (!push_link(parser, SYNTAX_POWER, parse_unary(parser)))
        return NULL;
    parser_leave(parser);
    return make_chain(parser, SYNTAX_BINARY, start, mark);
}

// Takes a comparison's operator. False: there is none, or it failed.
static bool take_comparison(struct parser *parser, enum syntax_operator *op)
{
    switch (parser->token.kind) {
    case TOKEN_EQ:
        *op = SYNTAX_EQ;
        break;
    case TOKEN_NE:
        *op = SYNTAX_NE;
        break;
    case TOKEN_LT:
        *op = SYNTAX_LT;
        break;
    case TOKEN_LE:
        *op = SYNTAX_LE;
        break;
    case TOKEN_GT:
        *op = SYNTAX_GT;
        break;
    case TOKEN_GE:
        *op = SYNTAX_GE;
        break;
    case TOKEN_IN:
        *op = SYNTAX_IN;
        break;
    case TOKEN_NOT:
        *op = SYNTAX_NOT_IN;
        parser_advance(parser);
        return parser_expect(parser, TOKEN_IN);
    case TOKEN_IS:
        parser_advance(parser);
        *op = parser_accept(parser, TOKEN_NOT) ? SYNTAX_IS_NOT : SYNTAX_IS;
        return true;
    default:
        return false;
    }
    parser_advance(parser);
    return true;
}

static struct syntax *parse_comparison(struct parser *parser)
{
    struct syntax_place start = parser->token.place;
    size_t mark = parser->scratch_length;
    enum syntax_operator op;
    struct syntax *first = parse_operand(parser);
    if (first == NULL || !take_comparison(parser, &op))
        return parser->lexer.failed ? NULL : first;
    if (!push_link(parser, 0, first))
        return NULL;
    do {
        if (!push_link(parser, op, parse_operand(parser)))
            return NULL;
    } while (take_comparison(parser, &op));
    if (parser->lexer.failed)
        return NULL;
    return make_chain(parser, SYNTAX_COMPARE, start, mark);
}

static struct syntax *parse_not(struct parser *parser)
{
    if (!parser_at(parser, TOKEN_NOT))
        return parse_comparison(parser);
    struct syntax_place start = parser->token.place;
    if (!parser_enter(parser))
        return NULL;
    parser_advance(parser);
    struct syntax *node = make_unary(parser, start, SYNTAX_NOT, parse_not(parser));
    parser_leave(parser);
    return node;
}

// Operands of `and` or `or` with that word between them.
static struct syntax *parse_logical(struct parser *parser, enum token_kind word,
                                    enum syntax_kind kind,
                                    struct syntax *(*parse)(struct parser *parser))
{
    struct syntax_place start = parser->token.place;
    size_t mark = parser->scratch_length;
    struct syntax *operand = parse(parser);
    if (operand == NULL || !parser_at(parser, word))
        return operand;
    if (!parser_push(parser, &operand, sizeof operand))
        return NULL;
    while (parser_accept(parser, word)) {
        operand = parse(parser);
        if (operand == NULL || !parser_push(parser, &operand, sizeof operand))
            return NULL;
    }
    struct syntax *node = parser_node(parser, kind, start);
    if (node == NULL || !parser_take_list(parser, mark, &node->elements))
        return NULL;
    node_over_list(node, node->elements);
    return parser_finish(parser, node);
}

static struct syntax *parse_and(struct parser *parser)
{
    return parse_logical(parser, TOKEN_AND, SYNTAX_AND, parse_not);
}

struct syntax *parse_condition(struct parser *parser)
{
    return parse_logical(parser, TOKEN_OR, SYNTAX_OR, parse_and);
}

// value if condition else otherwise, at the `if`.
static struct syntax *parse_conditional(struct parser *parser, struct syntax_place start,
                                        struct syntax *value)
{
    parser_advance(parser);
    struct syntax *condition = parse_condition(parser), *otherwise;
    if (condition == NULL)
        return NULL;
    if (!parser_at(parser, TOKEN_ELSE) && parser->token.kind < TOKEN_FIRST_REFUSED) {
        parser_fail(parser, parser->token.place,
                    "expected 'else' after the condition of an 'if' expression");
        return NULL;
    }
    if (!parser_expect(parser, TOKEN_ELSE) ||
        (otherwise = parse_expression(parser)) == NULL)
        return NULL;
    struct syntax *node = parser_node(parser, SYNTAX_CONDITIONAL, start);
    if (node == NULL)
        return NULL;
    node->conditional.condition = condition;
    node->conditional.value = value;
    node->conditional.otherwise = otherwise;
    node_over(node, condition);
    node_over(node, value);
    node_over(node, otherwise);
    return parser_finish(parser, node);
}

struct syntax *parse_expression(struct parser *parser)
{
    struct syntax_place start = parser->token.place;
    if (!parser_enter(parser))
        return NULL;
    struct syntax *node;
    if (parser_at(parser, TOKEN_LAMBDA)) {
        node = parse_lambda(parser);
    } else {
        node = parse_condition(parser);
        if (node && parser_at(parser, TOKEN_IF))
            node = parse_conditional(parser, start, node);
    }
    parser_leave(parser);
    return node;
}
