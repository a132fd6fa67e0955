// SPDX-License-Identifier: Apache-2.0
// The tables of operators and keywords. Pure functions; any thread.
#include "api/lang/lexer.h"

#include <string.h>

static const char texts[TOKEN_KIND_COUNT][10] = {
#define OPERATOR(symbol, text) [TOKEN_##symbol] = text,
    LEXER_OPERATORS(OPERATOR)
#undef OPERATOR
#define KEYWORD(symbol, text) [TOKEN_##symbol] = text,
        LEXER_KEYWORDS(KEYWORD, KEYWORD)
#undef KEYWORD
};

const char *token_text(enum token_kind kind)
{
    return texts[kind];
}

enum token_kind token_operator(int a, int b, int c)
{
    // The first operator with each first character.
    static const uint8_t first[128] = {
        ['('] = TOKEN_LEFT_PAREN,   [')'] = TOKEN_RIGHT_PAREN, ['['] = TOKEN_LEFT_SQUARE,
        [']'] = TOKEN_RIGHT_SQUARE, ['{'] = TOKEN_LEFT_BRACE,  ['}'] = TOKEN_RIGHT_BRACE,
        [','] = TOKEN_COMMA,        [';'] = TOKEN_SEMICOLON,   [':'] = TOKEN_COLON,
        ['.'] = TOKEN_DOT,          ['='] = TOKEN_ASSIGN,      ['!'] = TOKEN_NE,
        ['+'] = TOKEN_PLUS,         ['-'] = TOKEN_MINUS,       ['*'] = TOKEN_STAR,
        ['/'] = TOKEN_SLASH,        ['%'] = TOKEN_PERCENT,     ['@'] = TOKEN_AT,
        ['<'] = TOKEN_LT,           ['>'] = TOKEN_GT,          ['&'] = TOKEN_AMPERSAND,
        ['|'] = TOKEN_BAR,          ['^'] = TOKEN_CARET,       ['~'] = TOKEN_TILDE,
    };
    enum token_kind found = TOKEN_FAILED;
    if (a < 0 || a >= 128 || first[a] == 0)
        return found;
    // A longer one comes behind its beginnings, so the last that fits is the longest.
    for (unsigned kind = first[a]; texts[kind][0] == a; kind++)
        if (texts[kind][1] == '\0' ||
            (texts[kind][1] == b && (texts[kind][2] == '\0' || texts[kind][2] == c)))
            found = (enum token_kind)kind;
    return found;
}

enum token_kind token_keyword(const char *text, uint32_t bytes)
{
    enum { MOST = 5 };
    static const uint8_t candidates[32][MOST] = {
        // by the letter, whatever its case
        ['a' & 31] = {TOKEN_AND, TOKEN_AS, TOKEN_ASSERT, TOKEN_ASYNC, TOKEN_AWAIT},
        ['b' & 31] = {TOKEN_BREAK},
        ['c' & 31] = {TOKEN_CONTINUE, TOKEN_CLASS},
        ['d' & 31] = {TOKEN_DEF, TOKEN_DEL},
        ['e' & 31] = {TOKEN_ELSE, TOKEN_ELIF, TOKEN_EXCEPT},
        ['f' & 31] = {TOKEN_FOR, TOKEN_FROM, TOKEN_FALSE, TOKEN_FINALLY},
        ['g' & 31] = {TOKEN_GLOBAL},
        ['i' & 31] = {TOKEN_IF, TOKEN_IN, TOKEN_IS, TOKEN_IMPORT},
        ['l' & 31] = {TOKEN_LAMBDA},
        ['n' & 31] = {TOKEN_NOT, TOKEN_NONE, TOKEN_NONLOCAL},
        ['o' & 31] = {TOKEN_OR},
        ['p' & 31] = {TOKEN_PASS},
        ['r' & 31] = {TOKEN_RETURN, TOKEN_RAISE},
        ['t' & 31] = {TOKEN_TRUE, TOKEN_TRY},
        ['w' & 31] = {TOKEN_WHILE, TOKEN_WITH},
        ['y' & 31] = {TOKEN_YIELD},
    };
    if (bytes < 2 || bytes > 8)
        return TOKEN_NAME;
    const uint8_t *row = candidates[text[0] & 31];
    for (int i = 0; i < MOST && row[i] != 0; i++) {
        const char *keyword = texts[row[i]];
        if (keyword[1] == text[1] && memcmp(keyword, text, bytes) == 0 &&
            keyword[bytes] == '\0')
            return (enum token_kind)row[i];
    }
    return TOKEN_NAME;
}
