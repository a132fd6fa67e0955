// SPDX-License-Identifier: Apache-2.0
// The lexer's core: which kind of token stands at the position, brackets, lines. Places
// are counted on the way, so that a program of any shape takes linear time.
#include "api/lang/lexer.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "api/lang/parser.h"

struct syntax_place lexer_place(const struct lexer *lexer, uint32_t bytes)
{
    return (struct syntax_place){lexer->at.line, lexer->at.column, lexer->at.position,
                                 lexer->at.position + bytes};
}

bool lexer_fail_bare(struct lexer *lexer, enum status status, struct syntax_place place,
                     const char *message)
{
    if (!lexer->failed) {
        problem_set(lexer->problem, status, "%s", message);
        lexer->problem->line = place.line;
        lexer->problem->column = place.column;
    }
    lexer->failed = true;
    return false;
}

bool lexer_fail(struct lexer *lexer, enum status status, struct syntax_place place,
                const char *format, ...)
{
    char message[256], near[192], whole[PROBLEM_DETAIL_MAX];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    place.end = lexer->bytes;
    syntax_excerpt(lexer->source, lexer->bytes, place, near, sizeof near);
    if (near[0] != '\0')
        snprintf(whole, sizeof whole, "%s near \"%s\"", message, near);
    else
        snprintf(whole, sizeof whole, "%s at the end of line %d", message,
                 (int)place.line);
    return lexer_fail_bare(lexer, status, place, whole);
}

bool lexer_no_memory(struct lexer *lexer)
{
    if (!lexer->failed)
        problem_set(lexer->problem, STATUS_OUT_OF_MEMORY,
                    "Memory ran out while the program was read.");
    lexer->failed = true;
    return false;
}

void lexer_skip_newline(struct lexer *lexer)
{
    bool pair = lexer_peek(lexer, 0) == '\r' && lexer_peek(lexer, 1) == '\n';
    lexer->at.position += pair ? 2 : 1;
    lexer->at.line++;
    lexer->at.column = 1;
}

static void skip_comment(struct lexer *lexer)
{
    const char *source = lexer->source;
    for (int c; (c = lexer_peek(lexer, 0)) >= 0 && c != '\n' && c != '\r';) {
        lexer->at.position++;
        // A character counts where it begins.
        lexer->at.column += (source[lexer->at.position - 1] & 0xC0) != 0x80;
    }
}

// Over a backslash and the line's end.
static bool skip_continuation(struct lexer *lexer)
{
    int next = lexer_peek(lexer, 1);
    struct syntax_place place = lexer_place(lexer, 1);
    if (next >= 0 && next != '\n' && next != '\r')
        return lexer_fail(lexer, STATUS_SYNTAX, place,
                          "there is something behind the \\ that continues the line");
    lexer_skip(lexer, 1);
    if (next >= 0)
        lexer_skip_newline(lexer);
    if (lexer_peek(lexer, 0) < 0)
        return lexer_fail(lexer, STATUS_SYNTAX, place,
                          "the program ends behind the \\ that continues the line");
    return true;
}

// What a line begins with, up to its first token: its columns. *blank: it has none.
static bool measure(struct lexer *lexer, struct lexer_indent *indent, bool *blank)
{
    struct lexer_indent first = {0, 0};
    bool continued = false;
    *indent = first;
    for (;;) {
        int c = lexer_peek(lexer, 0);
        if (c == ' ') {
            indent->column++;
            indent->strict++;
        } else if (c == '\t') {
            indent->column = (indent->column / 8 + 1) * 8;
            indent->strict++;
        } else if (c == '\f') {
            *indent = (struct lexer_indent){0, 0};
        } else if (c == '\\') {
            // The first of joined lines decides.
            if (!continued)
                first = *indent;
            continued = true;
            if (!skip_continuation(lexer))
                return false;
            continue;
        } else {
            if (continued)
                *indent = first;
            *blank = c < 0 || c == '#' || c == '\n' || c == '\r';
            return true;
        }
        lexer_skip(lexer, 1);
    }
}

static bool inconsistent(struct lexer *lexer)
{
    return lexer_fail(lexer, STATUS_SYNTAX, lexer_place(lexer, 0),
                      "inconsistent use of tabs and spaces in indentation");
}

// Compares a line's columns with those of the blocks around it.
static bool enter_or_leave(struct lexer *lexer, struct lexer_indent indent)
{
    struct lexer_indent top = {0, 0};
    if (lexer->n_indents > 0)
        top = lexer->indents[lexer->n_indents - 1];
    if (indent.column > top.column) {
        if (indent.strict <= top.strict)
            return inconsistent(lexer);
        if (lexer->n_indents == program_max_nesting())
            return lexer_fail(lexer, STATUS_LIMIT, lexer_place(lexer, 0),
                              "blocks are nested deeper than %d levels",
                              program_max_nesting());
        lexer->indents[lexer->n_indents++] = indent;
        lexer->at.pending = -1;
        return true;
    }
    while (indent.column < top.column) {
        lexer->at.pending++;
        lexer->n_indents--;
        top = lexer->n_indents > 0 ? lexer->indents[lexer->n_indents - 1]
                                   : (struct lexer_indent){0, 0};
    }
    if (indent.column != top.column)
        return lexer_fail(lexer, STATUS_SYNTAX, lexer_place(lexer, 0),
                          "unindent does not match any outer indentation level");
    return indent.strict == top.strict || inconsistent(lexer);
}

bool lexer_indentation(struct lexer *lexer)
{
    struct lexer_indent indent;
    bool blank;
    for (;;) {
        if (!measure(lexer, &indent, &blank))
            return false;
        if (!blank)
            break;
        skip_comment(lexer);
        if (lexer_peek(lexer, 0) < 0) { // the end closes all blocks
            lexer->at.pending = lexer->n_indents;
            lexer->n_indents = 0;
            return true;
        }
        lexer_skip_newline(lexer);
    }
    lexer->at.line_start = false;
    return enter_or_leave(lexer, indent);
}

// Spaces, comments, joined lines. False: failed.
static bool skip_between(struct lexer *lexer)
{
    for (;;) {
        int c = lexer_peek(lexer, 0);
        if (c == ' ' || c == '\t' || c == '\f')
            lexer_skip(lexer, 1);
        else if (c == '#')
            skip_comment(lexer);
        else if ((c == '\n' || c == '\r') && lexer->at.nesting > 0)
            lexer_skip_newline(lexer);
        else if (c != '\\')
            return true;
        else if (!skip_continuation(lexer))
            return false;
    }
}

static bool open_bracket(struct lexer *lexer, char open)
{
    if (lexer->at.nesting == program_max_nesting())
        return lexer_fail(lexer, STATUS_LIMIT, lexer_place(lexer, 1),
                          "brackets are nested deeper than %d levels",
                          program_max_nesting());
    lexer->brackets[lexer->at.nesting++] =
        (struct lexer_bracket){open, lexer_place(lexer, 1)};
    return true;
}

static bool close_bracket(struct lexer *lexer, char close)
{
    struct syntax_place place = lexer_place(lexer, 1);
    if (lexer->at.nesting == lexer->at.base)
        return lexer_fail(lexer, STATUS_SYNTAX, place, "unmatched '%c'", close);
    struct lexer_bracket *bracket = &lexer->brackets[--lexer->at.nesting];
    char wanted = bracket->open == '(' ? ')' : bracket->open == '[' ? ']' : '}';
    if (close == wanted)
        return true;
    return lexer_fail(
        lexer, STATUS_SYNTAX, place,
        "'%c' does not close the '%c' that was opened on line %d, column %d", close,
        bracket->open, (int)bracket->place.line, (int)bracket->place.column);
}

static bool lexer_operator(struct lexer *lexer, struct token *token)
{
    int c = lexer_peek(lexer, 0);
    token->kind = token_operator(c, lexer_peek(lexer, 1), lexer_peek(lexer, 2));
    if (token->kind == TOKEN_FAILED)
        return lexer_refuse_character(lexer);
    uint32_t bytes = (uint32_t)strlen(token_text(token->kind));
    token->place = lexer_place(lexer, bytes);
    if ((c == '(' || c == '[' || c == '{') && !open_bracket(lexer, (char)c))
        return false;
    if ((c == ')' || c == ']' || c == '}') && !close_bracket(lexer, (char)c))
        return false;
    lexer_skip(lexer, bytes);
    return true;
}

// The bytes of a name at the position, 0 if there is none. *wide: how many of them do not
// begin a character.
static uint32_t name_length(const struct lexer *lexer, uint32_t *wide)
{
    uint32_t length = 0, bytes;
    *wide = 0;
    for (int c; (c = lexer_peek(lexer, length)) >= 0; length += bytes) {
        bytes = 1;
        if (c == '_' || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') ||
            (length > 0 && c >= '0' && c <= '9'))
            continue;
        if (c < 0x80 || !lexer_is_letter(lexer_character(
                            lexer->source + lexer->at.position + length, &bytes)))
            break;
        *wide += bytes - 1;
    }
    return length;
}

static bool is_string_prefix(const char *text, uint32_t bytes)
{
    static const char *const prefixes[] = {"r", "u", "b", "f", "br", "rb", "fr", "rf"};
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (strlen(prefixes[i]) == bytes && (text[0] | 0x20) == prefixes[i][0] &&
            (bytes < 2 || (text[1] | 0x20) == prefixes[i][1]))
            return true;
    return false;
}

static bool lexer_word(struct lexer *lexer, struct token *token)
{
    uint32_t wide, bytes = name_length(lexer, &wide);
    const char *text = lexer->source + lexer->at.position;
    if (bytes == 0)
        return lexer_refuse_character(lexer);
    int next = lexer_peek(lexer, bytes);
    token->place = lexer_place(lexer, bytes);
    if ((next == '"' || next == '\'') && is_string_prefix(text, bytes))
        return lexer_string(lexer, token, bytes);
    lexer->at.position += bytes;
    lexer->at.column += (int32_t)(bytes - wide);
    token->kind = token_keyword(text, bytes);
    if (token->kind != TOKEN_NAME)
        return true;
    token->name = names_intern(&lexer->names, text, bytes);
    return token->name != NULL || lexer_no_memory(lexer);
}

// At the end of the source, or of the expression of an f-string.
static bool lexer_end(struct lexer *lexer, struct token *token)
{
    if (lexer->at.nesting > lexer->at.base) {
        struct lexer_bracket *bracket = &lexer->brackets[lexer->at.nesting - 1];
        return lexer_fail(lexer, STATUS_SYNTAX, bracket->place, "'%c' was never closed",
                          bracket->open);
    }
    token->place = lexer_place(lexer, 0);
    token->kind = TOKEN_END;
    if (!lexer->at.line_start && lexer->at.base == 0) {
        token->kind = TOKEN_NEWLINE;
        lexer->at.line_start = true;
    }
    return true;
}

static bool lexer_token(struct lexer *lexer, struct token *token)
{
    if (lexer->at.line_start && lexer->at.pending == 0 && !lexer_indentation(lexer))
        return false;
    if (lexer->at.pending != 0) {
        token->kind = lexer->at.pending < 0 ? TOKEN_INDENT : TOKEN_DEDENT;
        lexer->at.pending += lexer->at.pending < 0 ? 1 : -1;
        token->place = lexer_place(lexer, 0);
        return true;
    }
    if (!skip_between(lexer))
        return false;
    int c = lexer_peek(lexer, 0);
    if (c < 0)
        return lexer_end(lexer, token);
    if (c == '\n' || c == '\r') {
        token->kind = TOKEN_NEWLINE;
        token->place = lexer_place(lexer, 0);
        lexer_skip_newline(lexer);
        lexer->at.line_start = true;
        return true;
    }
    if (c == '_' || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || c >= 0x80)
        return lexer_word(lexer, token);
    int next = lexer_peek(lexer, 1);
    if ((c >= '0' && c <= '9') || (c == '.' && next >= '0' && next <= '9'))
        return lexer_number(lexer, token);
    if (c == '"' || c == '\'') {
        token->place = lexer_place(lexer, 1);
        return lexer_string(lexer, token, 0);
    }
    return lexer_operator(lexer, token);
}

void lexer_next(struct lexer *lexer, struct token *token)
{
    if (lexer->failed || !lexer_token(lexer, token)) {
        token->kind = TOKEN_FAILED;
        token->place = lexer_place(lexer, 0);
    }
}
