// SPDX-License-Identifier: Apache-2.0
// The parser's door and its tools: tokens, nodes, lists in the making, limits. A
// recursive descent with one token of lookahead. Pure functions; any thread.
#include "api/lang/parser_internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int max_nesting = PROGRAM_MAX_NESTING;

void program_set_max_nesting(int levels)
{
    max_nesting = levels;
}

int program_max_nesting(void)
{
    return max_nesting;
}

void parser_advance(struct parser *parser)
{
    enum token_kind kind = parser->token.kind;
    if (kind != TOKEN_NEWLINE && kind != TOKEN_INDENT && kind != TOKEN_DEDENT)
        parser->previous = parser->token.place;
    lexer_next(&parser->lexer, &parser->token);
}

bool parser_expect(struct parser *parser, enum token_kind kind)
{
    if (parser_accept(parser, kind))
        return true;
    bool special =
        parser->token.kind >= TOKEN_FIRST_REFUSED || parser_at(parser, TOKEN_WALRUS);
    if (special)
        return parser_unexpected(parser);
    if (kind == TOKEN_NAME)
        return parser_fail(parser, parser->token.place, "expected a name");
    return parser_fail(parser, parser->token.place, "expected '%s'", token_text(kind));
}

bool parser_close(struct parser *parser, enum token_kind kind)
{
    if (parser_at(parser, kind)) {
        parser_advance(parser);
        return true;
    }
    if (token_begins_expression(parser->token.kind)) {
        bool same_line = parser->previous.line == parser->token.place.line;
        return parser_fail(parser, same_line ? parser->token.place : parser->previous,
                           "invalid syntax: is a comma missing %s?",
                           same_line ? "here" : "behind this");
    }
    return parser_unexpected(parser);
}

const struct syntax_name *parser_name(struct parser *parser)
{
    if (!parser_at(parser, TOKEN_NAME)) {
        parser_expect(parser, TOKEN_NAME);
        return NULL;
    }
    const struct syntax_name *name = parser->token.name;
    const char *end = name->text + name->bytes;
    if (!parser->is_prelude && name->bytes > 4 && memcmp(name->text, "__", 2) == 0 &&
        memcmp(end - 2, "__", 2) == 0) {
        parser_fail(parser, parser->token.place,
                    "dunder names are not part of the language, save the attributes "
                    "__version__ and __name__");
        return NULL;
    }
    parser_advance(parser);
    return name;
}

bool token_begins_expression(enum token_kind kind)
{
    switch (kind) {
    case TOKEN_NAME:
    case TOKEN_INT:
    case TOKEN_FLOAT:
    case TOKEN_STRING:
    case TOKEN_LEFT_PAREN:
    case TOKEN_LEFT_SQUARE:
    case TOKEN_LEFT_BRACE:
    case TOKEN_MINUS:
    case TOKEN_PLUS:
    case TOKEN_TILDE:
    case TOKEN_DOTS:
    case TOKEN_NOT:
    case TOKEN_LAMBDA:
    case TOKEN_NONE:
    case TOKEN_TRUE:
    case TOKEN_FALSE:
        return true;
    default:
        return false;
    }
}

bool parser_fail(struct parser *parser, struct syntax_place place, const char *format,
                 ...)
{
    char message[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    return lexer_fail(&parser->lexer, STATUS_SYNTAX, place, "%s", message);
}

bool parser_limit(struct parser *parser, struct syntax_place place)
{
    return lexer_fail(&parser->lexer, STATUS_LIMIT, place,
                      "the program is nested too deeply (%d levels at most)",
                      program_max_nesting());
}

bool parser_enter(struct parser *parser)
{
    // The statement itself is no level.
    if (parser->depth > program_max_nesting())
        return parser_limit(parser, parser->token.place);
    parser->depth++;
    return true;
}

bool parser_push(struct parser *parser, const void *item, size_t size)
{
    if (parser->scratch_capacity - parser->scratch_length < size) {
        size_t capacity = parser->scratch_capacity * 2;
        bool first = parser->scratch == parser->scratch_room;
        char *larger = realloc(first ? NULL : parser->scratch, capacity);
        if (larger == NULL)
            return lexer_no_memory(&parser->lexer);
        if (first)
            memcpy(larger, parser->scratch_room, parser->scratch_length);
        parser->scratch = larger;
        parser->scratch_capacity = capacity;
    }
    memcpy(parser->scratch + parser->scratch_length, item, size);
    parser->scratch_length += size;
    return true;
}

bool parser_take(struct parser *parser, size_t mark, size_t size, void **items,
                 int *count)
{
    size_t bytes = parser->scratch_length - mark;
    *items = NULL;
    *count = (int)(bytes / size);
    if (bytes == 0)
        return true;
    *items = arena_take(parser->lexer.arena, bytes);
    if (*items == NULL)
        return lexer_no_memory(&parser->lexer);
    memcpy(*items, parser->scratch + mark, bytes);
    parser->scratch_length = mark;
    return true;
}

bool parser_take_list(struct parser *parser, size_t mark, struct syntax_list *list)
{
    void *items;
    bool taken = parser_take(parser, mark, sizeof *list->items, &items, &list->count);
    list->items = items;
    return taken;
}

// Leaves are most of a tree: they get the room that they need.
static size_t node_size(enum syntax_kind kind)
{
    switch (kind) {
    case SYNTAX_NAME:
    case SYNTAX_INT:
    case SYNTAX_FLOAT:
    case SYNTAX_NONE:
    case SYNTAX_TRUE:
    case SYNTAX_FALSE:
    case SYNTAX_ELLIPSIS:
    case SYNTAX_EXPRESSION:
    case SYNTAX_PASS:
        return offsetof(struct syntax, integer) + sizeof(uint64_t);
    case SYNTAX_STRING:
    case SYNTAX_TUPLE:
    case SYNTAX_LIST:
    case SYNTAX_SET:
    case SYNTAX_INDEX:
    case SYNTAX_UNARY:
        return offsetof(struct syntax, integer) + sizeof(struct syntax_list);
    default:
        return sizeof(struct syntax);
    }
}

struct syntax *parser_node(struct parser *parser, enum syntax_kind kind,
                           struct syntax_place start)
{
    size_t size = node_size(kind);
    struct syntax *node = arena_take(parser->lexer.arena, size);
    if (node == NULL) {
        lexer_no_memory(&parser->lexer);
        return NULL;
    }
    memset(node, 0, size);
    node->kind = (uint8_t)kind;
    node->height = 1;
    node->place = start;
    node->place.end = parser->previous.end;
    return node;
}

struct syntax *parser_finish(struct parser *parser, struct syntax *node)
{
    if (node->height > SYNTAX_MAX_HEIGHT) {
        parser_limit(parser, node->place);
        return NULL;
    }
    return node;
}

void syntax_excerpt(const char *source, size_t bytes, struct syntax_place place,
                    char *text, size_t size)
{
    enum { MAX_CHARACTERS = 40 };
    size_t end = place.end < bytes ? place.end : bytes, i = place.start, length = 0;
    for (int count = 0; i < end && source[i] != '\n' && source[i] != '\r'; count++) {
        uint32_t step = 1;
        while (i + step < end && ((unsigned char)source[i + step] & 0xC0) == 0x80)
            step++;
        bool full = count == MAX_CHARACTERS;
        if (full || length + step + 4 > size) {
            if (length + 4 <= size)
                memcpy(text + length, "...", 3);
            length += length + 4 <= size ? 3 : 0;
            break;
        }
        memcpy(text + length, source + i, step);
        length += step;
        i += step;
    }
    if (size > 0)
        text[length] = '\0';
}

// A syntax error within brackets that are never closed is most often about these.
static void blame_bracket(struct parser *parser, struct problem *problem)
{
    struct lexer *lexer = &parser->lexer;
    struct problem other;
    struct token token;
    if (problem->status != STATUS_SYNTAX || lexer->at.base > 0 || lexer->at.nesting == 0)
        return;
    problem_clear(&other);
    lexer->problem = &other;
    lexer->failed = false;
    do
        lexer_next(lexer, &token);
    while (token.kind != TOKEN_END && token.kind != TOKEN_FAILED);
    if (lexer->at.position < lexer->bytes || lexer->at.nesting == 0)
        return;
    struct syntax_place place = lexer->brackets[lexer->at.nesting - 1].place;
    if (other.line == place.line && other.column == place.column &&
        other.line < problem->line)
        *problem = other;
}

enum status parse_program(const char *source, size_t bytes, bool is_prelude,
                          struct arena *arena, struct syntax **out,
                          struct problem *problem)
{
    struct parser parser;
    if (bytes > INT32_MAX / 2)
        return problem_set(problem, STATUS_LIMIT, "The program is longer than 1 GiB.");
    memset(&parser.token, 0, sizeof parser.token);
    parser.previous = (struct syntax_place){1, 1, 0, 0};
    parser.depth = parser.functions = parser.loops = 0;
    parser.is_prelude = is_prelude;
    parser.marks = 0;
    parser.scratch = parser.scratch_room;
    parser.scratch_length = 0;
    parser.scratch_capacity = sizeof parser.scratch_room;
    if (!lexer_open(&parser.lexer, source, (uint32_t)bytes, arena, problem))
        return problem->status;
    struct syntax_place start = {1, 1, 0, 0};
    parser.statement.kind = TOKEN_END;
    lexer_next(&parser.lexer, &parser.token);
    struct syntax_list body;
    struct syntax *module = NULL;
    if (parse_statements(&parser, TOKEN_END, &body) &&
        (module = parser_node(&parser, SYNTAX_MODULE, start)) != NULL) {
        module->place.end = (uint32_t)bytes;
        module->body = body;
        node_over_list(module, body);
        module = parser_finish(&parser, module);
    }
    if (parser.scratch != parser.scratch_room)
        free(parser.scratch);
    if (module == NULL) {
        blame_bracket(&parser, problem);
        return problem->status;
    }
    *out = module;
    return STATUS_OK;
}
