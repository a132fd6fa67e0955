// SPDX-License-Identifier: Apache-2.0
// Atoms and what follows them: attributes, calls, indices.
#include "api/lang/parser_internal.h"

#include <string.h>

static struct syntax *parse_word(struct parser *parser, enum syntax_kind kind)
{
    struct syntax_place start = parser->token.place;
    parser_advance(parser);
    return parser_node(parser, kind, start);
}

static struct syntax *parse_variable(struct parser *parser)
{
    struct syntax_place start = parser->token.place;
    const struct syntax_name *name = parser_name(parser);
    struct syntax *node = name ? parser_node(parser, SYNTAX_NAME, start) : NULL;
    if (node)
        node->name = name;
    return node;
}

static struct syntax *parse_number(struct parser *parser)
{
    struct token token = parser->token;
    bool whole = token.kind == TOKEN_INT;
    struct syntax *node = parse_word(parser, whole ? SYNTAX_INT : SYNTAX_FLOAT);
    if (node && whole)
        node->integer = token.integer;
    else if (node)
        node->number = token.number;
    return node;
}

static struct syntax *parse_atom(struct parser *parser)
{
    switch (parser->token.kind) {
    case TOKEN_NAME:
        return parse_variable(parser);
    case TOKEN_INT:
    case TOKEN_FLOAT:
        return parse_number(parser);
    case TOKEN_STRING:
        return parse_strings(parser);
    case TOKEN_LEFT_PAREN:
        return parse_parenthesis(parser);
    case TOKEN_LEFT_SQUARE:
        return parse_square(parser);
    case TOKEN_LEFT_BRACE:
        return parse_brace(parser);
    case TOKEN_NONE:
        return parse_word(parser, SYNTAX_NONE);
    case TOKEN_TRUE:
        return parse_word(parser, SYNTAX_TRUE);
    case TOKEN_FALSE:
        return parse_word(parser, SYNTAX_FALSE);
    case TOKEN_DOTS:
        return parse_word(parser, SYNTAX_ELLIPSIS);
    default:
        parser_unexpected(parser);
        return NULL;
    }
}

// The two dunder attributes there are.
static bool is_allowed_dunder(const struct token *token)
{
    return token->kind == TOKEN_NAME && (strcmp(token->name->text, "__version__") == 0 ||
                                         strcmp(token->name->text, "__name__") == 0);
}

static struct syntax *parse_attribute(struct parser *parser, struct syntax_place start,
                                      struct syntax *object)
{
    parser_advance(parser);
    struct syntax_place place = parser->token.place;
    const struct syntax_name *name;
    if (is_allowed_dunder(&parser->token)) {
        name = parser->token.name;
        parser_advance(parser);
    } else if ((name = parser_name(parser)) == NULL) {
        return NULL;
    }
    struct syntax *node = parser_node(parser, SYNTAX_ATTRIBUTE, start);
    if (node == NULL)
        return NULL;
    node->attribute.object = object;
    node->attribute.name = name;
    node->attribute.place = place;
    node_over(node, object);
    return parser_finish(parser, node);
}

// One bound of a slice, *out NULL where it is absent.
static bool parse_bound(struct parser *parser, struct syntax **out)
{
    *out = NULL;
    if (!token_begins_expression(parser->token.kind))
        return true;
    *out = parse_expression(parser);
    return *out != NULL;
}

// *expression, which in an index may be any expression.
static struct syntax *parse_starred_index(struct parser *parser)
{
    struct syntax_place start = parser->token.place;
    parser_advance(parser);
    struct syntax *value = parse_expression(parser);
    struct syntax *node = value ? parser_node(parser, SYNTAX_STARRED, start) : NULL;
    if (node == NULL)
        return NULL;
    node->value = value;
    node_over(node, value);
    return parser_finish(parser, node);
}

// What stands between the commas of an index: an expression, *expression or a slice.
static struct syntax *parse_index_part(struct parser *parser)
{
    struct syntax_place start = parser->token.place;
    struct syntax *first = NULL, *stop, *step = NULL;
    if (parser_at(parser, TOKEN_STAR))
        return parse_starred_index(parser);
    if (!parser_at(parser, TOKEN_COLON) && (first = parse_expression(parser)) == NULL)
        return NULL;
    if (!parser_accept(parser, TOKEN_COLON))
        return first;
    if (!parse_bound(parser, &stop) ||
        (parser_accept(parser, TOKEN_COLON) && !parse_bound(parser, &step)))
        return NULL;
    struct syntax *node = parser_node(parser, SYNTAX_SLICE, start);
    if (node == NULL)
        return NULL;
    node->slice.start = first;
    node->slice.stop = stop;
    node->slice.step = step;
    node_over(node, first);
    node_over(node, stop);
    node_over(node, step);
    return parser_finish(parser, node);
}

static bool begins_index_part(enum token_kind kind)
{
    return token_begins_expression(kind) || kind == TOKEN_COLON || kind == TOKEN_STAR;
}

// The key of an index, up to its bracket.
static struct syntax *parse_key(struct parser *parser)
{
    struct syntax_place start = parser->token.place;
    size_t mark = parser->scratch_length;
    struct syntax *part = parse_index_part(parser);
    if (part == NULL || (!parser_at(parser, TOKEN_COMMA) && part->kind != SYNTAX_STARRED))
        return part;
    if (!parser_push(parser, &part, sizeof part))
        return NULL;
    while (parser_accept(parser, TOKEN_COMMA) && begins_index_part(parser->token.kind)) {
        part = parse_index_part(parser);
        if (part == NULL || !parser_push(parser, &part, sizeof part))
            return NULL;
    }
    struct syntax *node = parser_node(parser, SYNTAX_TUPLE, start);
    if (node == NULL || !parser_take_list(parser, mark, &node->elements))
        return NULL;
    node_over_list(node, node->elements);
    return parser_finish(parser, node);
}

static struct syntax *parse_index(struct parser *parser, struct syntax_place start,
                                  struct syntax *object)
{
    parser_advance(parser);
    struct syntax *key = parse_key(parser);
    if (key == NULL || !parser_close(parser, TOKEN_RIGHT_SQUARE))
        return NULL;
    struct syntax *node = parser_node(parser, SYNTAX_INDEX, start);
    if (node == NULL)
        return NULL;
    node->index.object = object;
    node->index.key = key;
    node_over(node, object);
    node_over(node, key);
    return parser_finish(parser, node);
}

struct syntax *parse_primary(struct parser *parser)
{
    struct syntax_place start = parser->token.place;
    struct syntax *node = parse_atom(parser);
    while (node) {
        if (parser_at(parser, TOKEN_DOT))
            node = parse_attribute(parser, start, node);
        else if (parser_at(parser, TOKEN_LEFT_PAREN))
            node = parse_call(parser, start, node);
        else if (parser_at(parser, TOKEN_LEFT_SQUARE))
            node = parse_index(parser, start, node);
        else
            break;
    }
    return node;
}
