// SPDX-License-Identifier: Apache-2.0
// Statements of one line: assignments and those that begin with a word.
#include "api/lang/parser_internal.h"

static struct syntax *wrap(struct parser *parser, enum syntax_kind kind,
                           struct syntax_place start, struct syntax *value)
{
    struct syntax *node = parser_node(parser, kind, start);
    if (node == NULL)
        return NULL;
    node->value = value;
    node_over(node, value);
    return parser_finish(parser, node);
}

// ---- Assignments

// first = ... = value, at the first =.
static struct syntax *parse_assignment(struct parser *parser, struct syntax_place start,
                                       struct syntax *value)
{
    size_t mark = parser->scratch_length;
    while (parser_accept(parser, TOKEN_ASSIGN)) {
        if (!check_target(parser, value, TARGET_ASSIGN) ||
            !parser_push(parser, &value, sizeof value))
            return NULL;
        value = parse_expressions_loose(parser);
        if (value == NULL)
            return NULL;
    }
    if (value->kind == SYNTAX_STARRED) {
        parser_fail(parser, value->place, "a starred expression cannot stand alone");
        return NULL;
    }
    struct syntax *node = parser_node(parser, SYNTAX_ASSIGN, start);
    if (node == NULL || !parser_take_list(parser, mark, &node->assign.targets))
        return NULL;
    node->assign.value = value;
    node_over(node, value);
    node_over_list(node, node->assign.targets);
    return parser_finish(parser, node);
}

static struct syntax *parse_annotated(struct parser *parser, struct syntax_place start,
                                      struct syntax *target)
{
    // match (x): reads like one
    if (target->kind != SYNTAX_NAME && parser_refuse_match(parser))
        return NULL;
    if (!check_single_target(parser, target, "an annotation"))
        return NULL;
    parser_advance(parser);
    struct syntax *annotation = parse_expression(parser), *value = NULL;
    if (annotation == NULL || (parser_accept(parser, TOKEN_ASSIGN) &&
                               (value = parse_expressions(parser)) == NULL))
        return NULL;
    struct syntax *node = parser_node(parser, SYNTAX_ANNOTATED, start);
    if (node == NULL)
        return NULL;
    node->annotated.target = target;
    node->annotated.annotation = annotation;
    node->annotated.value = value;
    node->annotated.parenthesised = target->place.start != start.start;
    node_over(node, target);
    node_over(node, annotation);
    node_over(node, value);
    return parser_finish(parser, node);
}

// The operator of an augmented assignment. False: the token is none.
static bool augmented_operator(enum token_kind kind, enum syntax_operator *op)
{
    static const uint8_t operators[TOKEN_KIND_COUNT] = {
        [TOKEN_PLUS_ASSIGN] = SYNTAX_ADD + 1,
        [TOKEN_MINUS_ASSIGN] = SYNTAX_SUBTRACT + 1,
        [TOKEN_STAR_ASSIGN] = SYNTAX_MULTIPLY + 1,
        [TOKEN_SLASH_ASSIGN] = SYNTAX_DIVIDE + 1,
        [TOKEN_FLOOR_ASSIGN] = SYNTAX_FLOOR_DIVIDE + 1,
        [TOKEN_PERCENT_ASSIGN] = SYNTAX_REMAINDER + 1,
        [TOKEN_AT_ASSIGN] = SYNTAX_MATMUL + 1,
        [TOKEN_LEFT_SHIFT_ASSIGN] = SYNTAX_LEFT_SHIFT + 1,
        [TOKEN_RIGHT_SHIFT_ASSIGN] = SYNTAX_RIGHT_SHIFT + 1,
        [TOKEN_AND_ASSIGN] = SYNTAX_BIT_AND + 1,
        [TOKEN_OR_ASSIGN] = SYNTAX_BIT_OR + 1,
        [TOKEN_XOR_ASSIGN] = SYNTAX_BIT_XOR + 1,
        [TOKEN_POWER_ASSIGN] = SYNTAX_POWER + 1,
    };
    if (operators[kind] == 0)
        return false;
    *op = (enum syntax_operator)(operators[kind] - 1);
    return true;
}

static struct syntax *parse_augmented(struct parser *parser, struct syntax_place start,
                                      struct syntax *target, enum syntax_operator op)
{
    if (!check_single_target(parser, target, "an augmented assignment"))
        return NULL;
    parser_advance(parser);
    struct syntax *value = parse_expressions(parser);
    struct syntax *node = value ? parser_node(parser, SYNTAX_AUGMENTED, start) : NULL;
    if (node == NULL)
        return NULL;
    node->augmented.op = op;
    node->augmented.target = target;
    node->augmented.value = value;
    node_over(node, target);
    node_over(node, value);
    return parser_finish(parser, node);
}

static struct syntax *parse_expression_statement(struct parser *parser)
{
    struct syntax_place start = parser->token.place;
    enum syntax_operator op;
    struct syntax *first = parse_expressions_loose(parser);
    if (first == NULL)
        return NULL;
    if (parser_at(parser, TOKEN_ASSIGN))
        return parse_assignment(parser, start, first);
    if (parser_at(parser, TOKEN_COLON))
        return parse_annotated(parser, start, first);
    if (augmented_operator(parser->token.kind, &op))
        return parse_augmented(parser, start, first, op);
    if (first->kind == SYNTAX_STARRED) {
        parser_fail(parser, first->place, "a starred expression cannot stand alone");
        return NULL;
    }
    return wrap(parser, SYNTAX_EXPRESSION, start, first);
}

// ---- Statements that begin with a word, at that word

static struct syntax *parse_delete(struct parser *parser)
{
    struct syntax_place start = parser->token.place;
    size_t mark = parser->scratch_length;
    parser_advance(parser);
    do {
        struct syntax *target = parse_starred_or(parser, parse_primary);
        if (target == NULL || !check_target(parser, target, TARGET_DELETE) ||
            !parser_push(parser, &target, sizeof target))
            return NULL;
    } while (parser_accept(parser, TOKEN_COMMA) &&
             token_begins_expression(parser->token.kind));
    if (!parser_at(parser, TOKEN_NEWLINE) && !parser_at(parser, TOKEN_SEMICOLON)) {
        parser_unexpected(parser);
        return NULL;
    }
    struct syntax *node = parser_node(parser, SYNTAX_DELETE, start);
    if (node == NULL || !parser_take_list(parser, mark, &node->assign.targets))
        return NULL;
    node_over_list(node, node->assign.targets);
    return parser_finish(parser, node);
}

static struct syntax *parse_jump(struct parser *parser, enum syntax_kind kind)
{
    struct syntax_place start = parser->token.place;
    if (kind != SYNTAX_PASS && parser->loops == 0) {
        parser_fail(parser, start, "'%s' outside of a loop",
                    token_text(parser->token.kind));
        return NULL;
    }
    parser_advance(parser);
    return parser_node(parser, kind, start);
}

static bool ends_statement(enum token_kind kind)
{
    return kind == TOKEN_NEWLINE || kind == TOKEN_SEMICOLON;
}

// return, or the prelude's yield, with or without a value.
static struct syntax *parse_result(struct parser *parser, enum syntax_kind kind)
{
    struct syntax_place start = parser->token.place;
    struct syntax *value = NULL;
    if (parser->functions == 0) {
        parser_fail(parser, start, "'%s' outside of a function",
                    token_text(parser->token.kind));
        return NULL;
    }
    parser_advance(parser);
    if (!ends_statement(parser->token.kind) &&
        (value = parse_expressions(parser)) == NULL)
        return NULL;
    return wrap(parser, kind, start, value);
}

static struct syntax *parse_assert(struct parser *parser)
{
    struct syntax_place start = parser->token.place;
    struct syntax *message = NULL;
    parser_advance(parser);
    struct syntax *condition = parse_expression(parser);
    if (condition == NULL || (parser_accept(parser, TOKEN_COMMA) &&
                              (message = parse_expression(parser)) == NULL))
        return NULL;
    struct syntax *node = parser_node(parser, SYNTAX_ASSERT, start);
    if (node == NULL)
        return NULL;
    node->assertion.condition = condition;
    node->assertion.message = message;
    node_over(node, condition);
    node_over(node, message);
    return parser_finish(parser, node);
}

struct syntax *parse_simple(struct parser *parser)
{
    switch (parser->token.kind) {
    case TOKEN_DEL:
        return parse_delete(parser);
    case TOKEN_BREAK:
        return parse_jump(parser, SYNTAX_BREAK);
    case TOKEN_CONTINUE:
        return parse_jump(parser, SYNTAX_CONTINUE);
    case TOKEN_PASS:
        return parse_jump(parser, SYNTAX_PASS);
    case TOKEN_RETURN:
        return parse_result(parser, SYNTAX_RETURN);
    case TOKEN_YIELD:
        if (parser->is_prelude)
            return parse_result(parser, SYNTAX_YIELD);
        parser_unexpected(parser);
        return NULL;
    case TOKEN_ASSERT:
        return parse_assert(parser);
    case TOKEN_IMPORT:
    case TOKEN_FROM:
        return parse_import(parser);
    default:
        return parse_expression_statement(parser);
    }
}
