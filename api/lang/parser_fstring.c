// SPDX-License-Identifier: Apache-2.0
// F-strings by the rules of Python 3.11, where an f-string is a string first: no
// backslash and no comment within its expressions, nor the quotes around it; replacements
// nest in a format spec once. The lexer is set on the text of each expression and put
// back after it.
#include "api/lang/parser_internal.h"

#include <string.h>

struct formatted {
    struct joined *joined;
    struct lexer_cursor at; // what has been read
    uint32_t end;
    bool raw;
};

static bool fail_at(struct formatted *formatted, uint32_t position, const char *message)
{
    cursor_move(formatted->joined->parser, &formatted->at, position);
    struct syntax_place place = {formatted->at.line, formatted->at.column, position,
                                 position + 1};
    return parser_fail(formatted->joined->parser, place, "f-string: %s", message);
}

static int byte_at(const struct formatted *formatted, uint32_t position)
{
    return position < formatted->end
               ? (unsigned char)formatted->joined->parser->lexer.source[position]
               : -1;
}

// Reads literal text up to a replacement's {, the } that ends a spec, or the end.
static bool read_literal(struct formatted *formatted, int level)
{
    uint32_t i = formatted->at.position;
    for (int c; (c = byte_at(formatted, i)) >= 0; i++) {
        if (c == '\\' && !formatted->raw) {
            int next = byte_at(formatted, i + 1);
            i += next >= 0 && next != '{' && next != '}';
            continue;
        }
        if (c != '{' && c != '}')
            continue;
        if (level > 0)
            break;
        bool twice = byte_at(formatted, i + 1) == c;
        if (!twice && c == '}')
            return fail_at(formatted, i, "a single '}' must be written twice");
        if (!twice)
            break;
        // {{ is {: the first goes with the text before it, the second is passed over.
        if (!joined_decode(formatted->joined, &formatted->at, i + 1, formatted->raw))
            return false;
        cursor_move(formatted->joined->parser, &formatted->at, i + 2);
        i++;
    }
    if (!joined_decode(formatted->joined, &formatted->at, i, formatted->raw))
        return false;
    cursor_move(formatted->joined->parser, &formatted->at, i);
    return true;
}

// Over the string that begins at position i within an expression; the position behind it,
// or 0 (failed).
static uint32_t skip_string(struct formatted *formatted, uint32_t i)
{
    uint32_t start = i;
    int quote = byte_at(formatted, i);
    bool triple =
        byte_at(formatted, i + 1) == quote && byte_at(formatted, i + 2) == quote;
    i += triple ? 3 : 1;
    for (int c; (c = byte_at(formatted, i)) >= 0; i++) {
        if (c == '\\')
            return fail_at(formatted, i, "an expression cannot hold a backslash");
        if (c != quote)
            continue;
        if (!triple)
            return i + 1;
        if (byte_at(formatted, i + 1) == quote && byte_at(formatted, i + 2) == quote)
            return i + 3;
    }
    return fail_at(formatted, start, "unterminated string");
}

// Does the character end an expression outside of brackets?
static bool ends_expression(const struct formatted *formatted, uint32_t i)
{
    int c = byte_at(formatted, i), next = byte_at(formatted, i + 1);
    return c == ':' || c == '}' || ((c == '!' || c == '=') && next != '=');
}

// Where the expression that begins at `first` ends, or 0 (failed).
static uint32_t find_end(struct formatted *formatted, uint32_t first)
{
    int depth = 0;
    uint32_t i = first;
    for (int c; (c = byte_at(formatted, i)) >= 0;) {
        if (c == '\\')
            return fail_at(formatted, i, "an expression cannot hold a backslash");
        if (c == '#')
            return fail_at(formatted, i, "an expression cannot hold '#'");
        if (c == '\'' || c == '"') {
            i = skip_string(formatted, i);
            if (i == 0)
                return 0;
            continue;
        }
        if (depth == 0 && ends_expression(formatted, i))
            return i;
        // Of == != <= >= the second = ends nothing.
        if (depth == 0 && (c == '!' || c == '=' || c == '<' || c == '>') &&
            byte_at(formatted, i + 1) == '=')
            i++;
        depth += c == '(' || c == '[' || c == '{';
        if (c == ')' || c == ']' || c == '}') {
            if (depth == 0)
                return fail_at(formatted, i, "unmatched bracket");
            depth--;
        }
        i++;
    }
    return fail_at(formatted, first - 1,
                   depth > 0 ? "a bracket is not closed" : "'}' is missing");
}

// Parses source[first..end), which stands in braces, as if in parentheses.
static struct syntax *parse_embedded(struct formatted *formatted, uint32_t first,
                                     uint32_t end)
{
    struct parser *parser = formatted->joined->parser;
    struct lexer *lexer = &parser->lexer;
    struct token token = parser->token;
    struct lexer_cursor kept = lexer->at;
    struct syntax_place previous = parser->previous;
    bool grouped;
    if (kept.nesting == program_max_nesting() || !parser_enter(parser)) {
        parser_limit(parser, formatted->joined->place);
        return NULL;
    }
    cursor_move(parser, &formatted->at, first);
    lexer->at = (struct lexer_cursor){.position = first,
                                      .end = end,
                                      .line = formatted->at.line,
                                      .column = formatted->at.column,
                                      .nesting = kept.nesting + 1,
                                      .base = kept.nesting + 1};
    lexer->brackets[kept.nesting].open = '{';
    lexer->brackets[kept.nesting].place = lexer_place(lexer, 0);
    lexer_next(lexer, &parser->token);
    if (parser_at(parser, TOKEN_END)) {
        fail_at(formatted, first, "an expression is missing");
        return NULL;
    }
    struct syntax *node = parse_enclosed(parser, parser->token.place, &grouped);
    if (node && !parser_at(parser, TOKEN_END)) {
        parser_unexpected(parser);
        return NULL;
    }
    parser_leave(parser);
    lexer->at = kept;
    parser->token = token;
    parser->previous = previous;
    return node;
}

static bool parse_parts(struct formatted *formatted, int level);

// The spec behind a colon, up to its }.
static struct syntax *parse_spec(struct formatted *formatted, int level)
{
    struct joined *joined = formatted->joined;
    struct parser *parser = joined->parser;
    size_t mark = parser->scratch_length;
    if (!parse_parts(formatted, level) || !joined_flush(joined))
        return NULL;
    struct syntax *node = parser_node(parser, SYNTAX_FSTRING, joined->place);
    if (node == NULL || !parser_take_list(parser, mark, &node->elements))
        return NULL;
    node_over_list(node, node->elements);
    return parser_finish(parser, node);
}

// "x=" of {x=}: the text goes before the value. *i: behind the sign and its spaces.
static bool add_expression_text(struct formatted *formatted, uint32_t first, uint32_t *i)
{
    struct joined *joined = formatted->joined;
    struct lexer_cursor from = {.position = first, .line = 1, .column = 1};
    do
        ++*i;
    while (byte_at(formatted, *i) == ' ' ||
           (byte_at(formatted, *i) >= '\t' && byte_at(formatted, *i) <= '\r'));
    return joined_decode(joined, &from, *i, true);
}

// !r and the like at i, which moves on.
static bool read_conversion(struct formatted *formatted, uint32_t *i, char *conversion)
{
    int c = byte_at(formatted, *i + 1);
    if (c != 'r' && c != 's' && c != 'a')
        return fail_at(formatted, *i, "'r', 's' or 'a' must follow '!'");
    *conversion = (char)c;
    *i += 2;
    return true;
}

// {expression=!r:spec}, at its {.
static bool parse_replacement(struct formatted *formatted, int level)
{
    struct joined *joined = formatted->joined;
    struct parser *parser = joined->parser;
    uint32_t open = formatted->at.position, first = open + 1;
    char conversion = 0;
    if (level >= 2)
        return fail_at(formatted, open, "replacements are nested too deeply");
    struct syntax_place place = {formatted->at.line, formatted->at.column, open, open};
    uint32_t i = find_end(formatted, first);
    struct syntax *value = i > 0 ? parse_embedded(formatted, first, i) : NULL,
                  *spec = NULL;
    if (value == NULL)
        return false;
    bool shown = byte_at(formatted, i) == '=';
    if ((shown && !add_expression_text(formatted, first, &i)) || !joined_flush(joined) ||
        (byte_at(formatted, i) == '!' && !read_conversion(formatted, &i, &conversion)))
        return false;
    if (byte_at(formatted, i) == ':') {
        cursor_move(parser, &formatted->at, i + 1);
        spec = parse_spec(formatted, level + 1);
        if (spec == NULL)
            return false;
        i = formatted->at.position;
    }
    if (byte_at(formatted, i) != '}')
        return fail_at(formatted, i, "expected '}'");
    cursor_move(parser, &formatted->at, i + 1);
    place.end = i + 1;
    struct syntax *node = parser_node(parser, SYNTAX_FORMAT, place);
    if (node == NULL)
        return false;
    node->place.end = place.end;
    node->format.value = value;
    node->format.conversion = shown && spec == NULL && conversion == 0 ? 'r' : conversion;
    node->format.spec = spec;
    node_over(node, value);
    node_over(node, spec);
    return parser_finish(parser, node) && parser_push(parser, &node, sizeof node);
}

// Literal text and replacements in turn: at level 0 to the end, in a spec to its }.
static bool parse_parts(struct formatted *formatted, int level)
{
    for (;;) {
        if (!read_literal(formatted, level))
            return false;
        if (byte_at(formatted, formatted->at.position) != '{')
            return true;
        if (!parse_replacement(formatted, level))
            return false;
    }
}

bool parse_formatted(struct joined *joined, const struct token *token)
{
    struct formatted formatted = {.joined = joined,
                                  .at = {.position = token->string.start,
                                         .line = token->string.line,
                                         .column = token->string.column},
                                  .end = token->string.end,
                                  .raw = token->string.raw};
    return parse_parts(&formatted, 0);
}
