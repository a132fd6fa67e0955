// SPDX-License-Identifier: Apache-2.0
// What to say of a token in the wrong place: which construct of Python it would have
// been, or what was probably meant.
#include "api/lang/parser_internal.h"

#include <string.h>

const char *syntax_operator_text(enum syntax_operator op)
{
    static const char *const texts[SYNTAX_OPERATOR_COUNT] = {
        "+",  "-",  "*",      "/",  "//",     "%",  "@", "<<", ">>",
        "&",  "|",  "^",      "**", "==",     "!=", "<", "<=", ">",
        ">=", "is", "is not", "in", "not in", "-",  "+", "~",  "not"};
    return texts[op];
}

// Is the statement one that begins with this name and ends its line with a colon?
static bool looks_like_block(const struct parser *parser, const char *name)
{
    const struct lexer *lexer = &parser->lexer;
    if (parser->statement.kind != TOKEN_NAME ||
        strcmp(parser->statement.name->text, name) != 0)
        return false;
    uint32_t i = parser->statement.place.start;
    char last = '\0';
    for (; i < lexer->bytes && lexer->source[i] != '\n' && lexer->source[i] != '\r'; i++)
        if (lexer->source[i] != ' ' && lexer->source[i] != '\t')
            last = lexer->source[i];
    return last == ':';
}

// The statement is a name directly followed by the token.
static bool follows_name(const struct parser *parser, const char *name)
{
    return parser->statement.kind == TOKEN_NAME &&
           strcmp(parser->statement.name->text, name) == 0 &&
           parser->previous.end == parser->statement.place.end;
}

static bool refuse_word(struct parser *parser, enum token_kind kind)
{
    const char *word =
        kind == TOKEN_EXCEPT || kind == TOKEN_FINALLY ? "try" : token_text(kind);
    return parser_fail(parser, parser->token.place, "%s is not part of the language",
                       word);
}

static bool unexpected_sign(struct parser *parser)
{
    struct syntax_place place = parser->token.place;
    switch (parser->token.kind) {
    case TOKEN_WALRUS:
        return parser_fail(parser, place, ":= is not part of the language");
    case TOKEN_ASSIGN:
        return parser_fail(parser, place,
                           "'=' cannot stand here; did you mean '==' or a new line?");
    case TOKEN_AT:
        if (place.start == parser->statement.place.start)
            return parser_fail(parser, place, "decorators are not part of the language");
        break;
    case TOKEN_AMPERSAND:
        if (parser->lexer.source[place.start - (place.start > 0)] == '&')
            return parser_fail(parser, place, "&& is no operator; write and");
        break;
    case TOKEN_BAR:
        if (parser->lexer.source[place.start - (place.start > 0)] == '|')
            return parser_fail(parser, place, "|| is no operator; write or");
        break;
    default:
        break;
    }
    return parser_fail(parser, place, "invalid syntax");
}

static bool unexpected_word(struct parser *parser)
{
    enum token_kind kind = parser->token.kind;
    struct syntax_place place = parser->token.place;
    bool first = place.start == parser->statement.place.start;
    if (kind == TOKEN_ELSE || kind == TOKEN_ELIF)
        return parser_fail(parser, place,
                           first ? "there is no 'if' or loop that this '%s' belongs to"
                                 : "'%s' must begin a line of its own",
                           token_text(kind));
    if (token_begins_compound(kind) || (kind >= TOKEN_FIRST_KEYWORD && !first &&
                                        (kind == TOKEN_RETURN || kind == TOKEN_IMPORT)))
        return parser_fail(parser, place, "'%s' must begin a line of its own",
                           token_text(kind));
    return parser_fail(parser, place, "invalid syntax");
}

bool parser_refuse_match(struct parser *parser)
{
    if (!looks_like_block(parser, "match"))
        return false;
    parser_fail(parser, parser->statement.place, "match is not part of the language");
    return true;
}

bool parser_unexpected(struct parser *parser)
{
    enum token_kind kind = parser->token.kind;
    struct syntax_place place = parser->token.place;
    if (parser->lexer.failed)
        return false;
    if (kind >= TOKEN_FIRST_REFUSED || kind == TOKEN_YIELD)
        return refuse_word(parser, kind);
    if (parser_refuse_match(parser))
        return false;
    if (follows_name(parser, "print") && token_begins_expression(kind))
        return parser_fail(parser, parser->statement.place,
                           "missing parentheses in call to 'print': write print(...)");
    if (kind == TOKEN_INDENT)
        return parser_fail(parser, place, "unexpected indent");
    if (kind == TOKEN_DEDENT || kind == TOKEN_END || kind == TOKEN_NEWLINE)
        return parser_fail(parser, place, "invalid syntax: something is missing");
    if (kind >= TOKEN_FIRST_KEYWORD)
        return unexpected_word(parser);
    return unexpected_sign(parser);
}
