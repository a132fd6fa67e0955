// SPDX-License-Identifier: Apache-2.0
// Source text to tokens, one at a time, as Python's tokenizer cuts them: indentation
// becomes INDENT and DEDENT, brackets join lines, comments and blank lines vanish.
//
// The lexer knows places, names and brackets; what a token may be followed by is the
// parser's business. The first failure is kept: after it every call fails. One thread.
#ifndef TENSORD_API_LANG_LEXER_H
#define TENSORD_API_LANG_LEXER_H

#include "api/lang/program.h"
#include "api/lang/syntax.h"
#include "tensor/arena.h"

// Operators with their texts: those with the same first character together, longer ones
// behind their beginnings.
#define LEXER_OPERATORS(OPERATOR)                                                        \
    OPERATOR(LEFT_PAREN, "(")                                                            \
    OPERATOR(RIGHT_PAREN, ")")                                                           \
    OPERATOR(LEFT_SQUARE, "[")                                                           \
    OPERATOR(RIGHT_SQUARE, "]")                                                          \
    OPERATOR(LEFT_BRACE, "{")                                                            \
    OPERATOR(RIGHT_BRACE, "}")                                                           \
    OPERATOR(COMMA, ",")                                                                 \
    OPERATOR(SEMICOLON, ";")                                                             \
    OPERATOR(COLON, ":")                                                                 \
    OPERATOR(WALRUS, ":=")                                                               \
    OPERATOR(DOT, ".")                                                                   \
    OPERATOR(DOTS, "...")                                                                \
    OPERATOR(ASSIGN, "=")                                                                \
    OPERATOR(EQ, "==")                                                                   \
    OPERATOR(NE, "!=")                                                                   \
    OPERATOR(PLUS, "+")                                                                  \
    OPERATOR(PLUS_ASSIGN, "+=")                                                          \
    OPERATOR(MINUS, "-")                                                                 \
    OPERATOR(MINUS_ASSIGN, "-=")                                                         \
    OPERATOR(ARROW, "->")                                                                \
    OPERATOR(STAR, "*")                                                                  \
    OPERATOR(STAR_ASSIGN, "*=")                                                          \
    OPERATOR(POWER, "**")                                                                \
    OPERATOR(POWER_ASSIGN, "**=")                                                        \
    OPERATOR(SLASH, "/")                                                                 \
    OPERATOR(SLASH_ASSIGN, "/=")                                                         \
    OPERATOR(FLOOR, "//")                                                                \
    OPERATOR(FLOOR_ASSIGN, "//=")                                                        \
    OPERATOR(PERCENT, "%")                                                               \
    OPERATOR(PERCENT_ASSIGN, "%=")                                                       \
    OPERATOR(AT, "@")                                                                    \
    OPERATOR(AT_ASSIGN, "@=")                                                            \
    OPERATOR(LT, "<")                                                                    \
    OPERATOR(LE, "<=")                                                                   \
    OPERATOR(LEFT_SHIFT, "<<")                                                           \
    OPERATOR(LEFT_SHIFT_ASSIGN, "<<=")                                                   \
    OPERATOR(GT, ">")                                                                    \
    OPERATOR(GE, ">=")                                                                   \
    OPERATOR(RIGHT_SHIFT, ">>")                                                          \
    OPERATOR(RIGHT_SHIFT_ASSIGN, ">>=")                                                  \
    OPERATOR(AMPERSAND, "&")                                                             \
    OPERATOR(AND_ASSIGN, "&=")                                                           \
    OPERATOR(BAR, "|")                                                                   \
    OPERATOR(OR_ASSIGN, "|=")                                                            \
    OPERATOR(CARET, "^")                                                                 \
    OPERATOR(XOR_ASSIGN, "^=")                                                           \
    OPERATOR(TILDE, "~")

// Words that are no names. KEYWORD of the language, REFUSED elsewhere in Python.
#define LEXER_KEYWORDS(KEYWORD, REFUSED)                                                 \
    KEYWORD(FALSE, "False")                                                              \
    KEYWORD(NONE, "None")                                                                \
    KEYWORD(TRUE, "True")                                                                \
    KEYWORD(AND, "and")                                                                  \
    KEYWORD(AS, "as")                                                                    \
    KEYWORD(ASSERT, "assert")                                                            \
    KEYWORD(BREAK, "break")                                                              \
    KEYWORD(CONTINUE, "continue")                                                        \
    KEYWORD(DEF, "def")                                                                  \
    KEYWORD(DEL, "del")                                                                  \
    KEYWORD(ELIF, "elif")                                                                \
    KEYWORD(ELSE, "else")                                                                \
    KEYWORD(FOR, "for")                                                                  \
    KEYWORD(FROM, "from")                                                                \
    KEYWORD(IF, "if")                                                                    \
    KEYWORD(IMPORT, "import")                                                            \
    KEYWORD(IN, "in")                                                                    \
    KEYWORD(IS, "is")                                                                    \
    KEYWORD(LAMBDA, "lambda")                                                            \
    KEYWORD(NOT, "not")                                                                  \
    KEYWORD(OR, "or")                                                                    \
    KEYWORD(PASS, "pass")                                                                \
    KEYWORD(RETURN, "return")                                                            \
    KEYWORD(WHILE, "while")                                                              \
    KEYWORD(WITH, "with")                                                                \
    KEYWORD(YIELD, "yield")                                                              \
    REFUSED(ASYNC, "async")                                                              \
    REFUSED(AWAIT, "await")                                                              \
    REFUSED(CLASS, "class")                                                              \
    REFUSED(EXCEPT, "except")                                                            \
    REFUSED(FINALLY, "finally")                                                          \
    REFUSED(GLOBAL, "global")                                                            \
    REFUSED(NONLOCAL, "nonlocal")                                                        \
    REFUSED(RAISE, "raise")                                                              \
    REFUSED(TRY, "try")

enum token_kind {
    TOKEN_FAILED, // the lexer's problem is set
    TOKEN_END,
    TOKEN_NEWLINE,
    TOKEN_INDENT,
    TOKEN_DEDENT,
    TOKEN_NAME,
    TOKEN_INT,
    TOKEN_FLOAT,
    TOKEN_STRING,
#define OPERATOR(symbol, text) TOKEN_##symbol,
    LEXER_OPERATORS(OPERATOR)
#undef OPERATOR
#define KEYWORD(symbol, text) TOKEN_##symbol,
        LEXER_KEYWORDS(KEYWORD, KEYWORD)
#undef KEYWORD
            TOKEN_KIND_COUNT,
    TOKEN_FIRST_KEYWORD = TOKEN_FALSE,
    TOKEN_FIRST_REFUSED = TOKEN_ASYNC,
};

struct token {
    enum token_kind kind;
    struct syntax_place place;
    union {
        const struct syntax_name *name;
        uint64_t integer;
        double number;
        struct {
            uint32_t start, end;  // between the quotes
            int32_t line, column; // of start
            bool raw, formatted;
        } string;
    };
};

struct lexer_bracket {
    char open;
    struct syntax_place place;
};
struct lexer_indent {
    int32_t column; // tabs go to the next multiple of 8
    int32_t strict; // tabs count as one: both must agree
};
// What a position in the source is made of: kept and put back to read on elsewhere.
struct lexer_cursor {
    uint32_t position, end;
    int32_t line, column; // of position
    int nesting;          // open brackets
    int base;             // of them, those that may not be closed here
    int pending;          // DEDENTs (positive) or INDENT (-1) to be given
    bool line_start;      // no token of this logical line yet
};

struct name_entry;
struct names {
    struct arena *arena;
    struct name_entry **buckets;
    uint32_t n_buckets, count;
    uint64_t key;
};

struct lexer {
    const char *source;
    uint32_t bytes;
    bool failed;
    struct lexer_cursor at;
    int n_indents;
    struct lexer_bracket brackets[PROGRAM_MAX_NESTING];
    struct lexer_indent indents[PROGRAM_MAX_NESTING];
    struct names names;
    struct arena *arena;
    struct problem *problem;
};

// False (problem set): the source is no UTF-8, has a NUL, or memory is out.
bool lexer_open(struct lexer *lexer, const char *source, uint32_t bytes,
                struct arena *arena, struct problem *problem);
// The next token; TOKEN_FAILED if there is none. After TOKEN_END comes TOKEN_END.
void lexer_next(struct lexer *lexer, struct token *token);
// Sets the problem with the place, its text behind the message, unless one is set
// already. Always false.
bool lexer_fail(struct lexer *lexer, enum status status, struct syntax_place place,
                const char *format, ...) __attribute__((format(printf, 4, 5)));
bool lexer_fail_bare(struct lexer *lexer, enum status status, struct syntax_place place,
                     const char *message);    // without the text of the place
bool lexer_no_memory(struct lexer *lexer);    // always false
const char *token_text(enum token_kind kind); // "+=", "while", "" for others

// ---- Between the lexer's files
// The longest operator that begins with these characters, TOKEN_FAILED if none does.
enum token_kind token_operator(int a, int b, int c);
enum token_kind token_keyword(const char *text, uint32_t bytes); // TOKEN_NAME: it is none
// The place of the next bytes characters of ASCII from where the lexer is.
struct syntax_place lexer_place(const struct lexer *lexer, uint32_t bytes);
static inline int lexer_peek(const struct lexer *lexer, uint32_t ahead) // -1: the end
{
    return ahead < lexer->at.end - lexer->at.position
               ? (unsigned char)lexer->source[lexer->at.position + ahead]
               : -1;
}
static inline void lexer_skip(struct lexer *lexer, uint32_t bytes) // ASCII, no newline
{
    lexer->at.position += bytes;
    lexer->at.column += (int32_t)bytes;
}
// Over the line's end at the position, whichever of the three it is.
void lexer_skip_newline(struct lexer *lexer);
// The character at a byte of valid UTF-8, and its length.
uint32_t lexer_character(const char *text, uint32_t *bytes);
bool lexer_is_letter(uint32_t character); // of a name, beyond ASCII
// Says what is wrong with the character at the position.
bool lexer_refuse_character(struct lexer *lexer);

bool lexer_number(struct lexer *lexer, struct token *token);
// At the quote; token->place is of the prefix, whose length is given.
bool lexer_string(struct lexer *lexer, struct token *token, uint32_t prefix);
// Sets pending at the start of a logical line. False: failed.
bool lexer_indentation(struct lexer *lexer);

// The one syntax_name of a spelling; NULL when memory is out.
void names_open(struct names *names, struct arena *arena);
const struct syntax_name *names_intern(struct names *names, const char *text,
                                       uint32_t bytes);
// Marks a name with a number; true if it had that one already: who meets a name twice in
// one list sees it at once.
bool names_mark(const struct syntax_name *name, uint32_t mark);
#endif
