// SPDX-License-Identifier: Apache-2.0
// The tokens of request documents: strings, decoded where they stand, numbers and words.
#include "api/json_token.h"

#include <stdlib.h>
#include <string.h>

void json_position(const char *text, const char *at, int64_t *line, int64_t *column)
{
    *line = *column = 1;
    for (const char *c = text; c < at; c++) {
        if (*c == '\n') {
            ++*line;
            *column = 1;
        } else if (((unsigned char)*c & 0xC0) != 0x80) {
            ++*column;
        }
    }
}

// The problem at a place.
enum status json_token_malformed(struct json_parser *parser, const char *at,
                                 const char *what)
{
    problem_set(parser->problem, STATUS_MALFORMED,
                "The body is not the JSON it should be: %s.", what);
    json_position(parser->json->text, at, &parser->problem->line,
                  &parser->problem->column);
    return STATUS_MALFORMED;
}

enum status json_token_add(struct json_parser *parser, enum json_type type,
                           struct json_value **out)
{
    struct json *json = parser->json;
    *out = NULL;
    if (json->count == JSON_MAX_VALUES) {
        problem_set(
            parser->problem, STATUS_LIMIT,
            "The body has more than %d values; send large data as a tensor, with PUT.",
            JSON_MAX_VALUES);
        return STATUS_LIMIT;
    }
    if (json->count == json->capacity) {
        uint32_t capacity = json->capacity * 4;
        bool few = json->values == json->few;
        struct json_value *values =
            realloc(few ? NULL : json->values, capacity * sizeof *values);
        if (values == NULL) {
            problem_set(parser->problem, STATUS_OUT_OF_MEMORY,
                        "No memory to read the body.");
            return STATUS_OUT_OF_MEMORY;
        }
        if (few)
            memcpy(values, json->few, sizeof json->few);
        json->values = values;
        json->capacity = capacity;
    }
    struct json_value *value = &json->values[json->count++];
    *value = (struct json_value){.type = type, .next = json->count, .text = parser->at};
    *out = value;
    return STATUS_OK;
}

// ---- Strings

static int hex_value(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

// The code unit of \uXXXX at c (on the u); -1 if it is none.
static int32_t code_unit(const char *c, const char *end)
{
    int32_t unit = 0;
    if (end - c < 5)
        return -1;
    for (int i = 1; i <= 4; i++) {
        int digit = hex_value(c[i]);
        if (digit < 0)
            return -1;
        unit = unit << 4 | digit;
    }
    return unit;
}

static char *put_character(char *to, int32_t c)
{
    if (c < 0x80) {
        *to++ = (char)c;
    } else if (c < 0x800) {
        *to++ = (char)(0xC0 | c >> 6);
        *to++ = (char)(0x80 | (c & 0x3F));
    } else if (c < 0x10000) {
        *to++ = (char)(0xE0 | c >> 12);
        *to++ = (char)(0x80 | (c >> 6 & 0x3F));
        *to++ = (char)(0x80 | (c & 0x3F));
    } else {
        *to++ = (char)(0xF0 | c >> 18);
        *to++ = (char)(0x80 | (c >> 12 & 0x3F));
        *to++ = (char)(0x80 | (c >> 6 & 0x3F));
        *to++ = (char)(0x80 | (c & 0x3F));
    }
    return to;
}

// An escape at parser->at (behind the backslash); *to moves behind what it stands for.
static enum status read_escape(struct json_parser *parser, char **to)
{
    static const char from[] = "\"\\/bfnrt", means[] = "\"\\/\b\f\n\r\t";
    char *c = parser->at;
    const char *known = c < parser->end && *c != '\0' ? strchr(from, *c) : NULL;
    if (known != NULL) {
        *(*to)++ = means[known - from];
        parser->at = c + 1;
        return STATUS_OK;
    }
    int32_t unit = c < parser->end && *c == 'u' ? code_unit(c, parser->end) : -1;
    if (unit < 0)
        return json_token_malformed(parser, c, "this escape does not exist");
    c += 5;
    if (unit >= 0xD800 && unit < 0xDC00) {
        int32_t low = parser->end - c >= 6 && c[0] == '\\' && c[1] == 'u'
                          ? code_unit(c + 1, parser->end)
                          : -1;
        if (low < 0xDC00 || low > 0xDFFF)
            return json_token_malformed(parser, parser->at, "half of a surrogate pair");
        unit = 0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00);
        c += 6;
    } else if (unit >= 0xDC00 && unit <= 0xDFFF) {
        return json_token_malformed(parser, parser->at, "half of a surrogate pair");
    }
    if (unit == 0)
        return json_token_malformed(parser, parser->at, "\\u0000 is not allowed");
    *to = put_character(*to, unit);
    parser->at = c;
    return STATUS_OK;
}

// Copies one character of more than one byte if it is UTF-8.
static bool read_multibyte(struct json_parser *parser, char **to)
{
    const unsigned char *c = (const unsigned char *)parser->at;
    ptrdiff_t length = c[0] < 0xC2   ? 0
                       : c[0] < 0xE0 ? 2
                       : c[0] < 0xF0 ? 3
                       : c[0] < 0xF5 ? 4
                                     : 0;
    if (length == 0 || parser->end - parser->at < length)
        return false;
    for (ptrdiff_t i = 1; i < length; i++)
        if ((c[i] & 0xC0) != 0x80)
            return false;
    if ((c[0] == 0xE0 && c[1] < 0xA0) || (c[0] == 0xED && c[1] > 0x9F) ||
        (c[0] == 0xF0 && c[1] < 0x90) || (c[0] == 0xF4 && c[1] > 0x8F))
        return false;
    memmove(*to, c, (size_t)length);
    *to += length;
    parser->at += length;
    return true;
}

// parser->at is on the opening quote. The decoded string replaces the written one.
enum status json_token_string(struct json_parser *parser)
{
    struct json_value *value;
    enum status status = json_token_add(parser, JSON_STRING, &value);
    if (status != STATUS_OK)
        return status;
    char *start = ++parser->at, *to = start;
    while (to < parser->end && *to >= 0x20 && *to != '"' && *to != '\\' && *to < 0x7F)
        to++; // what needs no decoding stays where it is
    parser->at = to;
    for (;;) {
        if (parser->at == parser->end)
            return json_token_malformed(parser, start - 1, "this string does not end");
        unsigned char c = (unsigned char)*parser->at;
        if (c == '"')
            break;
        if (c == '\\') {
            parser->at++;
            if ((status = read_escape(parser, &to)) != STATUS_OK)
                return status;
        } else if (c < 0x20) {
            return json_token_malformed(parser, parser->at,
                                        "a control character in a string");
        } else if (c < 0x80) {
            *to++ = (char)c;
            parser->at++;
        } else if (!read_multibyte(parser, &to)) {
            return json_token_malformed(parser, parser->at, "bytes that are no UTF-8");
        }
    }
    *to = '\0'; // at most on the closing quote
    parser->at++;
    value->text = start;
    value->length = (size_t)(to - start);
    return STATUS_OK;
}

// ---- Numbers and words

static bool is_digit(const struct json_parser *parser, const char *c)
{
    return c < parser->end && *c >= '0' && *c <= '9';
}

static bool read_word(struct json_parser *parser, const char *word)
{
    size_t length = strlen(word);
    if ((size_t)(parser->end - parser->at) < length ||
        memcmp(parser->at, word, length) != 0)
        return false;
    parser->at += length;
    return true;
}

// The end of a number by JSON's grammar that starts at c; NULL if there is none.
static char *number_end(const struct json_parser *parser, char *c)
{
    if (c < parser->end && *c == '-')
        c++;
    if (!is_digit(parser, c))
        return NULL;
    if (*c == '0')
        c++;
    else
        while (is_digit(parser, c))
            c++;
    if (c < parser->end && *c == '.') {
        if (!is_digit(parser, ++c))
            return NULL;
        while (is_digit(parser, c))
            c++;
    }
    if (c < parser->end && (*c == 'e' || *c == 'E')) {
        c++;
        if (c < parser->end && (*c == '+' || *c == '-'))
            c++;
        if (!is_digit(parser, c))
            return NULL;
        while (is_digit(parser, c))
            c++;
    }
    return c;
}

enum status json_token_number(struct json_parser *parser)
{
    struct json_value *value;
    enum status status = json_token_add(parser, JSON_NUMBER, &value);
    if (status != STATUS_OK)
        return status;
    if (!read_word(parser, "NaN") && !read_word(parser, "Infinity") &&
        !read_word(parser, "-Infinity")) {
        char *end = number_end(parser, parser->at);
        if (end == NULL)
            return json_token_malformed(parser, parser->at, "this is no number");
        parser->at = end;
    }
    value->length = (size_t)(parser->at - value->text);
    return STATUS_OK;
}

enum status json_token_literal(struct json_parser *parser)
{
    struct json_value *value;
    enum status status = json_token_add(parser, JSON_NULL, &value);
    if (status != STATUS_OK)
        return status;
    if (read_word(parser, "true"))
        value->type = JSON_TRUE;
    else if (read_word(parser, "false"))
        value->type = JSON_FALSE;
    else if (!read_word(parser, "null"))
        return json_token_malformed(parser, parser->at, "a value is missing here");
    return STATUS_OK;
}
