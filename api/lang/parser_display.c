// SPDX-License-Identifier: Apache-2.0
// Tuples, lists, sets, dicts and their comprehensions, in brackets or (tuples) without.
#include "api/lang/parser_internal.h"

#include <string.h>

struct syntax *parse_starred_or(struct parser *parser,
                                struct syntax *(*parse)(struct parser *parser))
{
    struct syntax_place start = parser->token.place;
    if (!parser_accept(parser, TOKEN_STAR))
        return parse(parser);
    struct syntax *value = parse_operand(parser);
    struct syntax *node = value ? parser_node(parser, SYNTAX_STARRED, start) : NULL;
    if (node == NULL)
        return NULL;
    node->value = value;
    node_over(node, value);
    return parser_finish(parser, node);
}

static bool begins_element(enum token_kind kind)
{
    return token_begins_expression(kind) || kind == TOKEN_STAR;
}

// The elements behind the first, each after a comma, into the scratch.
static bool collect_elements(struct parser *parser, struct syntax *first)
{
    if (!parser_push(parser, &first, sizeof first))
        return false;
    while (parser_accept(parser, TOKEN_COMMA) && begins_element(parser->token.kind)) {
        struct syntax *element = parse_starred_or(parser, parse_expression);
        if (element == NULL || !parser_push(parser, &element, sizeof element))
            return false;
    }
    return true;
}

static struct syntax *make_display(struct parser *parser, enum syntax_kind kind,
                                   struct syntax_place start, size_t mark)
{
    struct syntax *node = parser_node(parser, kind, start);
    if (node == NULL || !parser_take_list(parser, mark, &node->elements))
        return NULL;
    node_over_list(node, node->elements);
    return parser_finish(parser, node);
}

struct syntax *parse_expressions_loose(struct parser *parser)
{
    struct syntax_place start = parser->token.place;
    size_t mark = parser->scratch_length;
    struct syntax *first = parse_starred_or(parser, parse_expression);
    if (first == NULL || !parser_at(parser, TOKEN_COMMA))
        return first;
    if (!collect_elements(parser, first))
        return NULL;
    return make_display(parser, SYNTAX_TUPLE, start, mark);
}

static struct syntax *refuse_starred(struct parser *parser, struct syntax *node)
{
    if (node == NULL || node->kind != SYNTAX_STARRED)
        return node;
    parser_fail(parser, node->place, "a starred expression cannot stand alone");
    return NULL;
}

struct syntax *parse_expressions(struct parser *parser)
{
    return refuse_starred(parser, parse_expressions_loose(parser));
}

// One `for ... in ... if ...`.
static bool parse_clause(struct parser *parser, struct syntax *node)
{
    struct syntax_clause clause;
    size_t mark = parser->scratch_length;
    parser_advance(parser);
    clause.target = parse_targets(parser, TARGET_FOR);
    if (clause.target == NULL || !parser_expect(parser, TOKEN_IN))
        return false;
    clause.iterable = parse_condition(parser);
    if (clause.iterable == NULL)
        return false;
    node_over(node, clause.target);
    node_over(node, clause.iterable);
    while (parser_accept(parser, TOKEN_IF)) {
        struct syntax *condition = parse_condition(parser);
        if (condition == NULL || !parser_push(parser, &condition, sizeof condition))
            return false;
    }
    if (!parser_take_list(parser, mark, &clause.conditions))
        return false;
    node_over_list(node, clause.conditions);
    return parser_push(parser, &clause, sizeof clause);
}

struct syntax *parse_comprehension(struct parser *parser, enum syntax_kind kind,
                                   struct syntax_place start, struct syntax *key,
                                   struct syntax *element)
{
    if (element->kind == SYNTAX_STARRED) {
        parser_fail(parser, element->place, "a comprehension cannot unpack with *");
        return NULL;
    }
    struct syntax *node = parser_node(parser, kind, start);
    if (node == NULL)
        return NULL;
    node->comprehension.key = key;
    node->comprehension.element = element;
    node_over(node, key);
    node_over(node, element);
    size_t mark = parser->scratch_length;
    while (parser_at(parser, TOKEN_FOR))
        if (!parse_clause(parser, node))
            return NULL;
    void *clauses;
    if (!parser_take(parser, mark, sizeof(struct syntax_clause), &clauses,
                     &node->comprehension.count))
        return NULL;
    node->comprehension.clauses = clauses;
    return parser_finish(parser, node);
}

struct syntax *parse_enclosed(struct parser *parser, struct syntax_place start,
                              bool *grouped)
{
    size_t mark = parser->scratch_length;
    struct syntax *first = parse_starred_or(parser, parse_expression);
    *grouped = false;
    if (first == NULL)
        return NULL;
    if (parser_at(parser, TOKEN_FOR))
        return parse_comprehension(parser, SYNTAX_GENERATOR, start, NULL, first);
    if (parser_at(parser, TOKEN_COMMA)) {
        if (!collect_elements(parser, first))
            return NULL;
        return make_display(parser, SYNTAX_TUPLE, start, mark);
    }
    *grouped = true;
    return refuse_starred(parser, first);
}

struct syntax *parse_parenthesis(struct parser *parser)
{
    struct syntax_place start = parser->token.place;
    bool grouped = false;
    parser_advance(parser);
    if (parser_accept(parser, TOKEN_RIGHT_PAREN))
        return parser_node(parser, SYNTAX_TUPLE, start);
    struct syntax *node = parse_enclosed(parser, start, &grouped);
    if (node == NULL || !parser_close(parser, TOKEN_RIGHT_PAREN))
        return NULL;
    if (!grouped)
        node->place.end = parser->previous.end;
    return node;
}

struct syntax *parse_square(struct parser *parser)
{
    struct syntax_place start = parser->token.place;
    size_t mark = parser->scratch_length;
    struct syntax *node;
    parser_advance(parser);
    if (parser_accept(parser, TOKEN_RIGHT_SQUARE))
        return parser_node(parser, SYNTAX_LIST, start);
    struct syntax *first = parse_starred_or(parser, parse_expression);
    if (first == NULL)
        return NULL;
    if (parser_at(parser, TOKEN_FOR))
        node = parse_comprehension(parser, SYNTAX_LIST_COMPREHENSION, start, NULL, first);
    else if (collect_elements(parser, first))
        node = make_display(parser, SYNTAX_LIST, start, mark);
    else
        return NULL;
    if (node == NULL || !parser_close(parser, TOKEN_RIGHT_SQUARE))
        return NULL;
    node->place.end = parser->previous.end;
    return node;
}

struct pair {
    struct syntax *key, *value; // key NULL: **value
};

static bool parse_pair(struct parser *parser, struct pair *pair)
{
    pair->key = NULL;
    if (parser_accept(parser, TOKEN_POWER))
        return (pair->value = parse_operand(parser)) != NULL;
    pair->key = parse_expression(parser);
    if (pair->key == NULL)
        return false;
    if (!parser_at(parser, TOKEN_COLON) && parser->token.kind < TOKEN_FIRST_REFUSED &&
        !parser_at(parser, TOKEN_WALRUS))
        return parser_fail(parser, parser->token.place,
                           "expected ':' behind the key of a dict");
    return parser_expect(parser, TOKEN_COLON) &&
           (pair->value = parse_expression(parser)) != NULL;
}

static bool fill_dict(struct parser *parser, struct syntax *node, size_t mark)
{
    size_t count = (parser->scratch_length - mark) / sizeof(struct pair);
    struct syntax **both = arena_take(parser->lexer.arena, 2 * count * sizeof *both);
    if (both == NULL)
        return lexer_no_memory(&parser->lexer);
    for (size_t i = 0; i < count; i++) {
        struct pair pair;
        memcpy(&pair, parser->scratch + mark + i * sizeof pair, sizeof pair);
        both[i] = pair.key;
        both[count + i] = pair.value;
        node_over(node, pair.key);
        node_over(node, pair.value);
    }
    parser->scratch_length = mark;
    node->dict.count = (int)count;
    node->dict.keys = both;
    node->dict.values = both + count;
    return true;
}

// A dict whose first pair has been read.
static struct syntax *parse_dict(struct parser *parser, struct syntax_place start,
                                 struct pair pair)
{
    size_t mark = parser->scratch_length;
    if (parser_at(parser, TOKEN_FOR)) {
        if (pair.key == NULL) {
            parser_fail(parser, pair.value->place,
                        "a comprehension cannot unpack with **");
            return NULL;
        }
        return parse_comprehension(parser, SYNTAX_DICT_COMPREHENSION, start, pair.key,
                                   pair.value);
    }
    if (!parser_push(parser, &pair, sizeof pair))
        return NULL;
    while (
        parser_accept(parser, TOKEN_COMMA) &&
        (token_begins_expression(parser->token.kind) || parser_at(parser, TOKEN_POWER)))
        if (!parse_pair(parser, &pair) || !parser_push(parser, &pair, sizeof pair))
            return NULL;
    struct syntax *node = parser_node(parser, SYNTAX_DICT, start);
    if (node == NULL || !fill_dict(parser, node, mark))
        return NULL;
    return parser_finish(parser, node);
}

struct syntax *parse_brace(struct parser *parser)
{
    struct syntax_place start = parser->token.place;
    size_t mark = parser->scratch_length;
    struct pair pair = {NULL, NULL};
    struct syntax *node;
    parser_advance(parser);
    if (parser_accept(parser, TOKEN_RIGHT_BRACE))
        return parser_node(parser, SYNTAX_DICT, start);
    if (parser_at(parser, TOKEN_POWER)) {
        node = parse_pair(parser, &pair) ? parse_dict(parser, start, pair) : NULL;
    } else {
        struct syntax *first = parse_starred_or(parser, parse_expression);
        if (first == NULL)
            return NULL;
        if (first->kind != SYNTAX_STARRED && parser_accept(parser, TOKEN_COLON)) {
            pair.key = first;
            pair.value = parse_expression(parser);
            node = pair.value ? parse_dict(parser, start, pair) : NULL;
        } else if (parser_at(parser, TOKEN_FOR)) {
            node =
                parse_comprehension(parser, SYNTAX_SET_COMPREHENSION, start, NULL, first);
        } else {
            node = collect_elements(parser, first)
                       ? make_display(parser, SYNTAX_SET, start, mark)
                       : NULL;
        }
    }
    if (node == NULL || !parser_close(parser, TOKEN_RIGHT_BRACE))
        return NULL;
    node->place.end = parser->previous.end;
    return node;
}
