// SPDX-License-Identifier: Apache-2.0
// String literals: where they end. What stands between the quotes is decoded by the
// parser (parser_string.c), which needs all parts of a concatenation first.
#include "api/lang/lexer.h"

// Over one character of the text, lines counted.
static void skip_character(struct lexer *lexer)
{
    int c = lexer_peek(lexer, 0);
    if (c == '\n' || c == '\r') {
        lexer_skip_newline(lexer);
        return;
    }
    lexer->at.position++;
    lexer->at.column += (c & 0xC0) != 0x80; // counted where it begins
}

static bool unterminated(struct lexer *lexer, const struct token *token, bool triple)
{
    if (triple)
        return lexer_fail(
            lexer, STATUS_SYNTAX, token->place,
            "this triple-quoted string has no end (looked for until line %d)",
            (int)lexer->at.line);
    return lexer_fail(lexer, STATUS_SYNTAX, token->place, "this string has no end quote");
}

static bool at_quotes(const struct lexer *lexer, int quote, bool triple)
{
    return lexer_peek(lexer, 0) == quote &&
           (!triple || (lexer_peek(lexer, 1) == quote && lexer_peek(lexer, 2) == quote));
}

bool lexer_string(struct lexer *lexer, struct token *token, uint32_t prefix)
{
    bool raw = false, formatted = false;
    for (uint32_t i = 0; i < prefix; i++) {
        int mark = lexer_peek(lexer, i) | 0x20;
        raw = raw || mark == 'r';
        formatted = formatted || mark == 'f';
        if (mark == 'b')
            return lexer_fail(lexer, STATUS_SYNTAX, token->place,
                              "bytes literals are not part of the language");
    }
    lexer_skip(lexer, prefix);
    int quote = lexer_peek(lexer, 0), c;
    bool triple = lexer_peek(lexer, 1) == quote && lexer_peek(lexer, 2) == quote;
    lexer_skip(lexer, triple ? 3 : 1);
    token->kind = TOKEN_STRING;
    token->string.raw = raw;
    token->string.formatted = formatted;
    token->string.start = lexer->at.position;
    token->string.line = lexer->at.line;
    token->string.column = lexer->at.column;
    while (!at_quotes(lexer, quote, triple)) {
        c = lexer_peek(lexer, 0);
        if (c < 0 || (!triple && (c == '\n' || c == '\r')))
            return unterminated(lexer, token, triple);
        if (c == '\\') {
            lexer_skip(lexer, 1);
            if (lexer_peek(lexer, 0) < 0)
                return unterminated(lexer, token, triple);
        }
        skip_character(lexer);
    }
    token->string.end = lexer->at.position;
    lexer_skip(lexer, triple ? 3 : 1);
    token->place.end = lexer->at.position;
    return true;
}
