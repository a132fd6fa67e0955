// SPDX-License-Identifier: Apache-2.0
// Targets: what can be assigned to, deleted, iterated into. They are read as expressions
// and looked at afterwards.
#include "api/lang/parser_internal.h"

const char *syntax_description(const struct syntax *node)
{
    static const char *const descriptions[SYNTAX_KIND_COUNT] = {
        [SYNTAX_NAME] = "a name",
        [SYNTAX_INT] = "a number",
        [SYNTAX_FLOAT] = "a number",
        [SYNTAX_STRING] = "a string",
        [SYNTAX_FSTRING] = "an f-string",
        [SYNTAX_NONE] = "None",
        [SYNTAX_TRUE] = "True",
        [SYNTAX_FALSE] = "False",
        [SYNTAX_ELLIPSIS] = "...",
        [SYNTAX_TUPLE] = "a tuple",
        [SYNTAX_LIST] = "a list",
        [SYNTAX_SET] = "a set",
        [SYNTAX_DICT] = "a dict",
        [SYNTAX_LIST_COMPREHENSION] = "a list comprehension",
        [SYNTAX_SET_COMPREHENSION] = "a set comprehension",
        [SYNTAX_DICT_COMPREHENSION] = "a dict comprehension",
        [SYNTAX_GENERATOR] = "a generator expression",
        [SYNTAX_ATTRIBUTE] = "an attribute",
        [SYNTAX_CALL] = "a function call",
        [SYNTAX_INDEX] = "an index",
        [SYNTAX_UNARY] = "an expression",
        [SYNTAX_BINARY] = "an expression",
        [SYNTAX_COMPARE] = "a comparison",
        [SYNTAX_AND] = "an expression",
        [SYNTAX_OR] = "an expression",
        [SYNTAX_CONDITIONAL] = "a conditional expression",
        [SYNTAX_LAMBDA] = "a lambda",
        [SYNTAX_STARRED] = "a starred expression",
    };
    return descriptions[node->kind] ? descriptions[node->kind] : "this";
}

static bool refuse(struct parser *parser, const struct syntax *node, enum target_use use)
{
    if (use == TARGET_DELETE)
        return parser_fail(parser, node->place, "cannot delete %s",
                           syntax_description(node));
    return parser_fail(parser, node->place, "cannot assign to %s%s",
                       syntax_description(node),
                       use == TARGET_ASSIGN ? "; did you mean '==' instead of '='?" : "");
}

static bool check_elements(struct parser *parser, const struct syntax *node,
                           enum target_use use)
{
    bool starred = false;
    for (int i = 0; i < node->elements.count; i++) {
        const struct syntax *element = node->elements.items[i];
        if (element->kind == SYNTAX_STARRED && use != TARGET_DELETE) {
            if (starred)
                return parser_fail(parser, element->place,
                                   "two starred expressions in one assignment");
            starred = true;
            element = element->value;
            if (element->kind == SYNTAX_STARRED)
                return refuse(parser, element, use);
        }
        if (!check_target(parser, element, use))
            return false;
    }
    return true;
}

// Recursion by the height of the tree.
bool check_target(struct parser *parser, const struct syntax *node, enum target_use use)
{
    switch (node->kind) {
    case SYNTAX_NAME:
    case SYNTAX_ATTRIBUTE:
    case SYNTAX_INDEX:
        return true;
    case SYNTAX_TUPLE:
    case SYNTAX_LIST:
        return check_elements(parser, node, use);
    case SYNTAX_STARRED:
        if (use == TARGET_DELETE)
            return refuse(parser, node, use);
        return parser_fail(parser, node->place,
                           "a starred target must be in a list or tuple");
    default:
        return refuse(parser, node, use);
    }
}

bool check_single_target(struct parser *parser, const struct syntax *node,
                         const char *what)
{
    if (node->kind == SYNTAX_NAME || node->kind == SYNTAX_ATTRIBUTE ||
        node->kind == SYNTAX_INDEX)
        return true;
    return parser_fail(parser, node->place, "%s cannot be the target of %s",
                       syntax_description(node), what);
}

struct syntax *parse_targets(struct parser *parser, enum target_use use)
{
    struct syntax_place start = parser->token.place;
    size_t mark = parser->scratch_length;
    struct syntax *target = parse_starred_or(parser, parse_operand);
    if (target == NULL)
        return NULL;
    if (parser_at(parser, TOKEN_COMMA)) {
        if (!parser_push(parser, &target, sizeof target))
            return NULL;
        while (parser_accept(parser, TOKEN_COMMA) &&
               (token_begins_expression(parser->token.kind) ||
                parser_at(parser, TOKEN_STAR))) {
            target = parse_starred_or(parser, parse_operand);
            if (target == NULL || !parser_push(parser, &target, sizeof target))
                return NULL;
        }
        target = parser_node(parser, SYNTAX_TUPLE, start);
        if (target == NULL || !parser_take_list(parser, mark, &target->elements))
            return NULL;
        node_over_list(target, target->elements);
        target = parser_finish(parser, target);
    }
    return target && check_target(parser, target, use) ? target : NULL;
}

struct syntax *parse_with_target(struct parser *parser)
{
    struct syntax *target = parse_operand(parser);
    return target && check_target(parser, target, TARGET_WITH) ? target : NULL;
}
