// SPDX-License-Identifier: Apache-2.0
// Strings: the parts of an implicit concatenation, decoded and joined. Decoding never
// makes a text longer, so one buffer of the size of the source serves a whole
// concatenation.
#include "api/lang/parser_internal.h"

#include <string.h>

void cursor_move(const struct parser *parser, struct lexer_cursor *cursor, uint32_t to)
{
    const char *source = parser->lexer.source;
    while (cursor->position < to) {
        char c = source[cursor->position++];
        if (c == '\n' || (c == '\r' && source[cursor->position] != '\n')) {
            cursor->line++;
            cursor->column = 1;
        } else if ((c & 0xC0) != 0x80) {
            cursor->column++;
        }
    }
}

bool joined_flush(struct joined *joined)
{
    struct parser *parser = joined->parser;
    if (joined->length == 0)
        return true;
    struct syntax *node = parser_node(parser, SYNTAX_STRING, joined->place);
    if (node == NULL)
        return false;
    joined->text[joined->length] = '\0';
    node->string.text = joined->text;
    node->string.bytes = joined->length;
    // At least the braces of a replacement were not copied: there is room for the NUL.
    joined->text += joined->length + 1;
    joined->length = 0;
    return parser_push(parser, &node, sizeof node);
}

static void append(struct joined *joined, uint32_t character)
{
    char *out = joined->text + joined->length;
    if (character < 0x80) {
        out[0] = (char)character;
        joined->length += 1;
    } else if (character < 0x800) {
        out[0] = (char)(0xC0 | character >> 6);
        out[1] = (char)(0x80 | (character & 0x3F));
        joined->length += 2;
    } else if (character < 0x10000) {
        out[0] = (char)(0xE0 | character >> 12);
        out[1] = (char)(0x80 | (character >> 6 & 0x3F));
        out[2] = (char)(0x80 | (character & 0x3F));
        joined->length += 3;
    } else {
        out[0] = (char)(0xF0 | character >> 18);
        out[1] = (char)(0x80 | (character >> 12 & 0x3F));
        out[2] = (char)(0x80 | (character >> 6 & 0x3F));
        out[3] = (char)(0x80 | (character & 0x3F));
        joined->length += 4;
    }
}

static int hex_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

// \x, \u, \U: so many digits from source[first] on. -1: there are not.
static int64_t read_hex(const char *source, uint32_t first, uint32_t end, uint32_t digits)
{
    int64_t value = 0;
    for (uint32_t i = 0; i < digits; i++) {
        int digit = first + i < end ? hex_value(source[first + i]) : -1;
        if (digit < 0)
            return -1;
        value = value * 16 + digit;
    }
    return value;
}

static bool refuse_escape(struct joined *joined, const struct lexer_cursor *at,
                          uint32_t position, const char *message)
{
    struct lexer_cursor cursor = *at;
    cursor_move(joined->parser, &cursor, position);
    struct syntax_place place = {cursor.line, cursor.column, position, position + 1};
    return parser_fail(joined->parser, place, "%s", message);
}

// \x41 and the like, the backslash at position; *next is where to go on.
static bool decode_hex(struct joined *joined, const struct lexer_cursor *at,
                       uint32_t position, uint32_t end, uint32_t *next)
{
    const char *source = joined->parser->lexer.source;
    char letter = source[position + 1];
    uint32_t digits = letter == 'x' ? 2 : letter == 'u' ? 4 : 8;
    int64_t value = read_hex(source, position + 2, end, digits);
    if (value < 0)
        return refuse_escape(joined, at, position,
                             digits == 2   ? "two hexadecimal digits must follow \\x"
                             : digits == 4 ? "four hexadecimal digits must follow \\u"
                                           : "eight hexadecimal digits must follow \\U");
    if (value > 0x10FFFF)
        return refuse_escape(joined, at, position, "there is no such character");
    if (value >= 0xD800 && value <= 0xDFFF)
        return refuse_escape(joined, at, position,
                             "surrogates are not characters; write \\U and eight digits");
    append(joined, (uint32_t)value);
    *next = position + 2 + digits;
    return true;
}

// One escape with its backslash at position. Unknown ones stay as they are.
static bool decode_escape(struct joined *joined, const struct lexer_cursor *at,
                          uint32_t position, uint32_t end, uint32_t *next)
{
    static const char letters[] = "\\'\"abfnrtv", values[] = "\\'\"\a\b\f\n\r\t\v";
    const char *source = joined->parser->lexer.source, *found;
    char c = source[position + 1];
    *next = position + 2;
    if (c == 'x' || c == 'u' || c == 'U')
        return decode_hex(joined, at, position, end, next);
    if (c == 'N')
        return refuse_escape(
            joined, at, position,
            "\\N is not part of the language; write \\u and four digits");
    if (c == '\n' || c == '\r') {
        *next += c == '\r' && position + 2 < end && source[position + 2] == '\n';
    } else if (c >= '0' && c <= '7') {
        uint32_t value = 0, i = position + 1;
        for (; i < end && i < position + 4 && source[i] >= '0' && source[i] <= '7'; i++)
            value = value * 8 + (uint32_t)(source[i] - '0');
        append(joined, value);
        *next = i;
    } else if ((found = memchr(letters, c, sizeof letters - 1)) != NULL) {
        append(joined, (unsigned char)values[found - letters]);
    } else {
        append(joined, '\\');
        *next = position + 1;
    }
    return true;
}

bool joined_decode(struct joined *joined, const struct lexer_cursor *at, uint32_t end,
                   bool raw)
{
    const char *source = joined->parser->lexer.source;
    for (uint32_t i = at->position; i < end;) {
        char c = source[i];
        if (c == '\\' && !raw && i + 1 < end) {
            if (!decode_escape(joined, at, i, end, &i))
                return false;
        } else {
            bool pair = c == '\r' && i + 1 < end && source[i + 1] == '\n';
            joined->text[joined->length++] = c == '\r' ? '\n' : c;
            i += pair ? 2 : 1;
        }
    }
    return true;
}

// One part of a concatenation.
static bool join_token(struct joined *joined, const struct token *token)
{
    if (token->string.formatted)
        return parse_formatted(joined, token);
    struct lexer_cursor at = {.position = token->string.start,
                              .line = token->string.line,
                              .column = token->string.column};
    return joined_decode(joined, &at, token->string.end, token->string.raw);
}

static struct syntax *finish_plain(struct joined *joined)
{
    struct syntax *node = parser_node(joined->parser, SYNTAX_STRING, joined->place);
    if (node == NULL)
        return NULL;
    joined->text[joined->length] = '\0';
    node->string.text = joined->text;
    node->string.bytes = joined->length;
    return node;
}

static struct syntax *finish_formatted(struct joined *joined)
{
    struct parser *parser = joined->parser;
    if (!joined_flush(joined))
        return NULL;
    struct syntax *node = parser_node(parser, SYNTAX_FSTRING, joined->place);
    if (node == NULL || !parser_take_list(parser, joined->mark, &node->elements))
        return NULL;
    node_over_list(node, node->elements);
    return parser_finish(parser, node);
}

struct syntax *parse_strings(struct parser *parser)
{
    struct joined joined = {.parser = parser, .place = parser->token.place};
    size_t tokens = parser->scratch_length, room = 1;
    bool formatted = false;
    while (parser_at(parser, TOKEN_STRING)) {
        room += parser->token.string.end - parser->token.string.start;
        formatted = formatted || parser->token.string.formatted;
        if (!parser_push(parser, &parser->token, sizeof parser->token))
            return NULL;
        parser_advance(parser);
    }
    joined.place.end = parser->previous.end;
    joined.text = arena_take(parser->lexer.arena, room);
    if (joined.text == NULL) {
        lexer_no_memory(&parser->lexer);
        return NULL;
    }
    size_t end = joined.mark = parser->scratch_length;
    for (size_t i = tokens; i < end; i += sizeof parser->token) {
        struct token token;
        memcpy(&token, parser->scratch + i, sizeof token);
        if (!join_token(&joined, &token))
            return NULL;
    }
    struct syntax *node = formatted ? finish_formatted(&joined) : finish_plain(&joined);
    parser->scratch_length = tokens;
    return node;
}
