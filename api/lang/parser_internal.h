// SPDX-License-Identifier: Apache-2.0
// What the parser's files share. A function that parses leaves the token behind its form
// in parser->token and returns NULL (false) once something has failed; the problem is set
// then.
//
// Depth: whatever recurses with the input goes through parser_enter, so the C stack is
// bounded; whatever makes a node goes through parser_finish, so the tree's height is.
#ifndef TENSORD_API_LANG_PARSER_INTERNAL_H
#define TENSORD_API_LANG_PARSER_INTERNAL_H

#include "api/lang/lexer.h"
#include "api/lang/parser.h"

struct parser {
    struct lexer lexer;
    struct token token;           // the next one, not taken yet
    struct syntax_place previous; // of the last token taken that is more than layout
    int depth;
    bool is_prelude;
    int functions;          // around the statement
    int loops;              // around it, within its function
    uint32_t marks;         // the last number given to names_mark
    struct token statement; // the statement's first token
    // Lists that are being collected, the innermost last: in scratch_room, or on the heap
    // once that is full.
    char *scratch;
    size_t scratch_length, scratch_capacity;
    _Alignas(8) char scratch_room[1024];
};

// ---- Tokens
void parser_advance(struct parser *parser);
static inline bool parser_at(const struct parser *parser, enum token_kind kind)
{
    return parser->token.kind == kind;
}
static inline bool parser_accept(struct parser *parser, enum token_kind kind)
{
    if (parser->token.kind != kind)
        return false;
    parser_advance(parser);
    return true;
}
bool parser_expect(struct parser *parser, enum token_kind kind);
// The bracket that ends a list; says when a comma seems to be missing.
bool parser_close(struct parser *parser, enum token_kind kind);
// Takes a name and refuses dunders. NULL: failed.
const struct syntax_name *parser_name(struct parser *parser);
// Can an expression begin with it (a * before it aside)?
bool token_begins_expression(enum token_kind kind);

// ---- Problems; always false
bool parser_fail(struct parser *parser, struct syntax_place place, const char *format,
                 ...) __attribute__((format(printf, 3, 4)));
bool parser_limit(struct parser *parser, struct syntax_place place);
bool parser_unexpected(struct parser *parser); // the token stands in the wrong place
// Before another problem is set: true if the statement is a match, which is said then.
bool parser_refuse_match(struct parser *parser);

// ---- Memory
bool parser_push(struct parser *parser, const void *item, size_t size); // to the scratch
// What lies in the scratch from mark on, copied to the arena (NULL if that is nothing)
// and taken away. *count items of size each. False: memory is out.
bool parser_take(struct parser *parser, size_t mark, size_t size, void **items,
                 int *count);
bool parser_take_list(struct parser *parser, size_t mark, struct syntax_list *list);
// A node from start to the last token taken. NULL: memory is out.
struct syntax *parser_node(struct parser *parser, enum syntax_kind kind,
                           struct syntax_place start);
// node is higher than child (NULL: none).
static inline void node_over(struct syntax *node, const struct syntax *child)
{
    if (child && child->height >= node->height)
        node->height = (uint16_t)(child->height + 1);
}
static inline void node_over_list(struct syntax *node, struct syntax_list list)
{
    for (int i = 0; i < list.count; i++)
        node_over(node, list.items[i]);
}
struct syntax *parser_finish(struct parser *parser, struct syntax *node); // checks height
bool parser_enter(struct parser *parser);
static inline void parser_leave(struct parser *parser)
{
    parser->depth--;
}

// ---- Expressions (parser_expression.c, parser_primary.c, parser_display.c,
// parser_call.c)
struct syntax *parse_expression(struct parser *parser); // conditional or lambda, no comma
struct syntax *parse_condition(struct parser *parser);  // or, and, not, comparison
struct syntax *parse_operand(struct parser *parser);    // what may be compared: sums ...
struct syntax *parse_unary(struct parser *parser);
struct syntax *parse_power(struct parser *parser);
struct syntax *parse_primary(struct parser *parser);
struct syntax *parse_starred_or(struct parser *parser,
                                struct syntax *(*parse)(struct parser *parser));
// One expression, or several with commas: a tuple. Only with commas may one be starred.
struct syntax *parse_expressions(struct parser *parser);
// The same without the check of a lone starred expression.
struct syntax *parse_expressions_loose(struct parser *parser);
struct syntax *parse_parenthesis(struct parser *parser);
struct syntax *parse_square(struct parser *parser);
struct syntax *parse_brace(struct parser *parser);
// What may stand between ( and ), not empty; start is where the whole begins.
// *grouped: it is a plain expression, which keeps its own place.
struct syntax *parse_enclosed(struct parser *parser, struct syntax_place start,
                              bool *grouped);
// for ... in ... if ...: a comprehension of the kind with this element (and key). Its end
// is the caller's to set.
struct syntax *parse_comprehension(struct parser *parser, enum syntax_kind kind,
                                   struct syntax_place start, struct syntax *key,
                                   struct syntax *element);
struct syntax *parse_call(struct parser *parser, struct syntax_place start,
                          struct syntax *callee);
// Up to the token that ends them: ) or, of a lambda, a colon.
bool parse_parameters(struct parser *parser, struct syntax *node, enum token_kind end);
struct syntax *parse_lambda(struct parser *parser);
struct syntax *parse_strings(struct parser *parser);

// ---- F-strings (parser_fstring.c): parts of a concatenation being joined
struct joined {
    struct parser *parser;
    struct syntax_place place; // of the concatenation
    char *text;                // the piece that is being written, in one buffer
    size_t length;
    size_t mark; // elements in the scratch
};
bool joined_flush(struct joined *joined); // the piece becomes an element
// Decodes source[start..end) to the piece. at: where start is, for problems.
bool joined_decode(struct joined *joined, const struct lexer_cursor *at, uint32_t end,
                   bool raw);
bool parse_formatted(struct joined *joined, const struct token *token);
// Moves a cursor on to a byte, lines and characters counted.
void cursor_move(const struct parser *parser, struct lexer_cursor *cursor, uint32_t to);

// ---- Targets (parser_target.c)
enum target_use { TARGET_ASSIGN, TARGET_FOR, TARGET_WITH, TARGET_DELETE };
bool check_target(struct parser *parser, const struct syntax *node, enum target_use use);
bool check_single_target(struct parser *parser, const struct syntax *node,
                         const char *what); // of += and of annotations
struct syntax *parse_targets(struct parser *parser, enum target_use use); // before `in`
struct syntax *parse_with_target(struct parser *parser);
const char *syntax_description(const struct syntax *node); // "function call"

// ---- Statements (parser_statement.c, parser_simple.c, parser_import.c)
bool parse_statements(struct parser *parser, enum token_kind end,
                      struct syntax_list *list);
// : and a block. opener: the first token of the statement, for messages.
bool parse_block(struct parser *parser, const struct token *opener,
                 struct syntax_list *list);
struct syntax *parse_compound(struct parser *parser); // at its keyword
struct syntax *parse_simple(struct parser *parser);
struct syntax *parse_import(struct parser *parser);
bool token_begins_compound(enum token_kind kind);
#endif
