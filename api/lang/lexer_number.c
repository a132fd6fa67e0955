// SPDX-License-Identifier: Apache-2.0
// Number literals. Digits are checked here, then converted from a copy without
// underscores.
#include "api/lang/lexer.h"

#include <stdlib.h>
#include <string.h>

static int digit_value(int c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : 99;
}

// The length of a run of digits below base with single underscores between them, from
// `ahead` on. *bad: an underscore has no digit behind it.
static uint32_t digits(const struct lexer *lexer, uint32_t ahead, int base, bool *bad)
{
    uint32_t first = ahead;
    for (;;) {
        while (digit_value(lexer_peek(lexer, ahead)) < base)
            ahead++;
        if (lexer_peek(lexer, ahead) != '_' || ahead == first)
            return ahead - first;
        if (digit_value(lexer_peek(lexer, ahead + 1)) >= base) {
            *bad = true;
            return ahead - first;
        }
        ahead++;
    }
}

static bool fail(struct lexer *lexer, uint32_t bytes, const char *kind)
{
    struct syntax_place place = lexer_place(lexer, bytes);
    return lexer_fail(lexer, STATUS_SYNTAX, place, "this is not a valid %s literal",
                      kind);
}

// A number may be followed directly only by an operator or, as in Python, one of these.
static bool check_end(struct lexer *lexer, uint32_t ahead, const char *kind)
{
    static const char *const words[] = {"and", "else", "for", "if",
                                        "in",  "is",   "not", "or"};
    char word[5] = "";
    uint32_t length = 0;
    int c;
    while ((c = lexer_peek(lexer, ahead + length)) == '_' || (c >= '0' && c <= '9') ||
           ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || c >= 0x80) {
        if (length < sizeof word - 1)
            word[length] = (char)c;
        length++;
    }
    if (length == 0)
        return true;
    if (length == 1 && (word[0] | 0x20) == 'j') {
        struct syntax_place place = lexer_place(lexer, ahead + 1);
        return lexer_fail(lexer, STATUS_SYNTAX, place,
                          "complex numbers are not part of the language");
    }
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (length < sizeof word && strcmp(word, words[i]) == 0)
            return true;
    if ((unsigned char)word[0] >= 0x80) { // not a name perhaps: the next token will tell
        uint32_t bytes;
        if (!lexer_is_letter(
                lexer_character(lexer->source + lexer->at.position + ahead, &bytes)))
            return true;
    }
    return fail(lexer, ahead + 1, kind);
}

static bool convert_integer(struct lexer *lexer, uint32_t first, uint32_t end, int base,
                            uint64_t *out)
{
    uint64_t value = 0;
    for (uint32_t i = first; i < end; i++) {
        int c = lexer_peek(lexer, i);
        if (c == '_')
            continue;
        if (__builtin_mul_overflow(value, (uint64_t)base, &value) ||
            __builtin_add_overflow(value, (uint64_t)digit_value(c), &value)) {
            struct syntax_place place = lexer_place(lexer, end);
            return lexer_fail(lexer, STATUS_OVERFLOW, place,
                              "integers have 64 bits; this literal is too large");
        }
    }
    *out = value;
    return true;
}

static bool convert_float(struct lexer *lexer, uint32_t bytes, double *out)
{
    char small[64], *copy = small;
    if (bytes >= sizeof small && (copy = arena_take(lexer->arena, bytes + 1)) == NULL)
        return lexer_no_memory(lexer);
    uint32_t length = 0;
    for (uint32_t i = 0; i < bytes; i++)
        if (lexer_peek(lexer, i) != '_')
            copy[length++] = (char)lexer_peek(lexer, i);
    copy[length] = '\0';
    *out = strtod(copy, NULL);
    return true;
}

static bool based(struct lexer *lexer, struct token *token, int base, const char *kind)
{
    bool bad = false;
    uint32_t first = lexer_peek(lexer, 2) == '_' ? 3 : 2;
    uint32_t end = first + digits(lexer, first, base, &bad);
    if (bad || end == first || digit_value(lexer_peek(lexer, end)) < 10)
        return fail(lexer, end + 1, kind);
    if (!check_end(lexer, end, kind) ||
        !convert_integer(lexer, first, end, base, &token->integer))
        return false;
    token->kind = TOKEN_INT;
    token->place = lexer_place(lexer, end);
    lexer_skip(lexer, end);
    return true;
}

// The length of an exponent from `ahead` on, 0 if there is none.
static uint32_t exponent(const struct lexer *lexer, uint32_t ahead, bool *bad)
{
    if ((lexer_peek(lexer, ahead) | 0x20) != 'e')
        return 0;
    int sign = lexer_peek(lexer, ahead + 1);
    uint32_t mark = sign == '+' || sign == '-' ? 2 : 1;
    uint32_t count = digits(lexer, ahead + mark, 10, bad);
    if (count == 0 && mark == 2)
        *bad = true;
    return count > 0 ? mark + count : 0;
}

static bool decimal(struct lexer *lexer, struct token *token)
{
    bool bad = false, zeros = true;
    uint32_t whole = digits(lexer, 0, 10, &bad), end = whole, more;
    for (uint32_t i = 0; i < whole; i++)
        zeros = zeros && (lexer_peek(lexer, i) == '0' || lexer_peek(lexer, i) == '_');
    if (!bad && lexer_peek(lexer, end) == '.') {
        end++;
        end += digits(lexer, end, 10, &bad);
    }
    if (!bad && (more = exponent(lexer, end, &bad)) > 0)
        end += more;
    if (bad)
        return fail(lexer, end + 1, "decimal");
    if (!check_end(lexer, end, "decimal"))
        return false;
    token->place = lexer_place(lexer, end);
    token->kind = end > whole ? TOKEN_FLOAT : TOKEN_INT;
    if (token->kind == TOKEN_INT && !zeros && lexer_peek(lexer, 0) == '0')
        return lexer_fail(lexer, STATUS_SYNTAX, token->place,
                          "an integer does not start with 0; octal ones start with 0o");
    bool fine = token->kind == TOKEN_INT
                    ? convert_integer(lexer, 0, whole, 10, &token->integer)
                    : convert_float(lexer, end, &token->number);
    lexer_skip(lexer, end);
    return fine;
}

bool lexer_number(struct lexer *lexer, struct token *token)
{
    int mark = lexer_peek(lexer, 0) == '0' ? lexer_peek(lexer, 1) | 0x20 : 0;
    if (mark == 'x')
        return based(lexer, token, 16, "hexadecimal");
    if (mark == 'o')
        return based(lexer, token, 8, "octal");
    if (mark == 'b')
        return based(lexer, token, 2, "binary");
    return decimal(lexer, token);
}
