// SPDX-License-Identifier: Apache-2.0
// Statements with blocks, and the lists of statements that blocks are.
#include "api/lang/parser_internal.h"

bool token_begins_compound(enum token_kind kind)
{
    return kind == TOKEN_IF || kind == TOKEN_FOR || kind == TOKEN_WHILE ||
           kind == TOKEN_DEF || kind == TOKEN_WITH;
}

// Simple statements with semicolons between them, and the line's end.
static bool parse_line(struct parser *parser)
{
    for (;;) {
        parser->statement = parser->token;
        struct syntax *node = parse_simple(parser);
        if (node == NULL)
            return false;
        if (!parser_at(parser, TOKEN_NEWLINE) && !parser_at(parser, TOKEN_SEMICOLON))
            return parser_unexpected(parser);
        if (!parser_push(parser, &node, sizeof node))
            return false;
        if (parser_accept(parser, TOKEN_SEMICOLON) && !parser_at(parser, TOKEN_NEWLINE))
            continue;
        return parser_accept(parser, TOKEN_NEWLINE) && !parser->lexer.failed;
    }
}

bool parse_statements(struct parser *parser, enum token_kind end,
                      struct syntax_list *list)
{
    size_t mark = parser->scratch_length;
    while (!parser_at(parser, end)) {
        parser->statement = parser->token;
        if (!token_begins_compound(parser->token.kind)) {
            if (!parse_line(parser))
                return false;
            continue;
        }
        struct syntax *node = parse_compound(parser);
        if (node == NULL || !parser_push(parser, &node, sizeof node))
            return false;
    }
    return parser_take_list(parser, mark, list);
}

// The colon before a block, or what was probably meant.
static bool take_colon(struct parser *parser, const struct token *opener)
{
    struct syntax_place place = parser->token.place;
    if (parser_at(parser, TOKEN_ASSIGN))
        return parser_fail(parser, place, "'=' is no comparison; did you mean '=='?");
    if (opener->kind == TOKEN_ELSE && parser_at(parser, TOKEN_IF))
        return parser_fail(parser, place, "'else if' is written 'elif'");
    return parser_expect(parser, TOKEN_COLON);
}

bool parse_block(struct parser *parser, const struct token *opener,
                 struct syntax_list *list)
{
    if (!take_colon(parser, opener) || !parser_enter(parser))
        return false;
    if (!parser_at(parser, TOKEN_NEWLINE)) {
        size_t mark = parser->scratch_length;
        if (!parse_line(parser) || !parser_take_list(parser, mark, list))
            return false;
    } else {
        parser_advance(parser);
        if (!parser_at(parser, TOKEN_INDENT))
            return parser_fail(parser, parser->token.place,
                               "expected an indented block after '%s' on line %d",
                               token_text(opener->kind), (int)opener->place.line);
        parser_advance(parser);
        if (!parse_statements(parser, TOKEN_DEDENT, list))
            return false;
        parser_advance(parser);
    }
    parser_leave(parser);
    return !parser->lexer.failed;
}

// ---- Each at its keyword

static bool parse_otherwise(struct parser *parser, struct syntax_list *list)
{
    struct token opener = parser->token;
    *list = (struct syntax_list){0, NULL};
    return !parser_accept(parser, TOKEN_ELSE) || parse_block(parser, &opener, list);
}

static struct syntax *parse_if(struct parser *parser)
{
    struct syntax *node = parser_node(parser, SYNTAX_IF, parser->token.place);
    size_t mark = parser->scratch_length;
    if (node == NULL)
        return NULL;
    do {
        struct token opener = parser->token;
        struct syntax_branch branch;
        parser_advance(parser);
        branch.condition = parse_expression(parser);
        if (branch.condition == NULL || !parse_block(parser, &opener, &branch.body) ||
            !parser_push(parser, &branch, sizeof branch))
            return NULL;
        node_over(node, branch.condition);
        node_over_list(node, branch.body);
    } while (parser_at(parser, TOKEN_ELIF));
    void *branches;
    if (!parse_otherwise(parser, &node->choice.otherwise) ||
        !parser_take(parser, mark, sizeof(struct syntax_branch), &branches,
                     &node->choice.count))
        return NULL;
    node->choice.branches = branches;
    node_over_list(node, node->choice.otherwise);
    node->place.end = parser->previous.end;
    return parser_finish(parser, node);
}

// for and while
static struct syntax *parse_loop(struct parser *parser)
{
    struct token opener = parser->token;
    bool is_for = opener.kind == TOKEN_FOR;
    struct syntax *node =
        parser_node(parser, is_for ? SYNTAX_FOR : SYNTAX_WHILE, opener.place);
    if (node == NULL)
        return NULL;
    parser_advance(parser);
    if (is_for) {
        node->loop.target = parse_targets(parser, TARGET_FOR);
        if (node->loop.target == NULL || !parser_expect(parser, TOKEN_IN))
            return NULL;
    }
    node->loop.iterable = is_for ? parse_expressions(parser) : parse_expression(parser);
    if (node->loop.iterable == NULL)
        return NULL;
    parser->loops++;
    bool parsed = parse_block(parser, &opener, &node->loop.body);
    parser->loops--;
    if (!parsed || !parse_otherwise(parser, &node->loop.otherwise))
        return NULL;
    node_over(node, node->loop.target);
    node_over(node, node->loop.iterable);
    node_over_list(node, node->loop.body);
    node_over_list(node, node->loop.otherwise);
    node->place.end = parser->previous.end;
    return parser_finish(parser, node);
}

static struct syntax *parse_def(struct parser *parser)
{
    struct token opener = parser->token;
    struct syntax *node = parser_node(parser, SYNTAX_DEF, opener.place);
    struct syntax_function *function = arena_take(parser->lexer.arena, sizeof *function);
    if (node == NULL || function == NULL) {
        lexer_no_memory(&parser->lexer);
        return NULL;
    }
    *function = (struct syntax_function){.value = NULL};
    node->function = function;
    parser_advance(parser);
    function->name = parser_name(parser);
    if (function->name == NULL || !parser_expect(parser, TOKEN_LEFT_PAREN) ||
        !parse_parameters(parser, node, TOKEN_RIGHT_PAREN) ||
        !parser_close(parser, TOKEN_RIGHT_PAREN) ||
        (parser_accept(parser, TOKEN_ARROW) && parse_expression(parser) == NULL))
        return NULL;
    int loops = parser->loops;
    parser->loops = 0;
    parser->functions++;
    bool parsed = parse_block(parser, &opener, &function->body);
    parser->functions--;
    parser->loops = loops;
    if (!parsed)
        return NULL;
    node_over_list(node, function->body);
    node->place.end = parser->previous.end;
    return parser_finish(parser, node);
}

// ---- with

// Is the ( that stands here the bracket around all items? It is if a colon follows its
// end. Reads on to there and comes back.
static bool encloses_items(struct parser *parser)
{
    struct lexer *lexer = &parser->lexer;
    struct lexer_cursor kept = lexer->at;
    struct lexer_bracket open = lexer->brackets[kept.nesting - 1];
    struct problem *problem = lexer->problem, other;
    struct token token = parser->token, previous = token;
    problem_clear(&other);
    lexer->problem = &other;
    while (lexer->at.nesting >= kept.nesting && token.kind != TOKEN_FAILED &&
           token.kind != TOKEN_END) {
        previous = token;
        lexer_next(lexer, &token);
        // A generator: the items of a with never have a `for` at this level.
        if (token.kind == TOKEN_FOR && lexer->at.nesting == kept.nesting)
            break;
    }
    bool closed = token.kind == TOKEN_RIGHT_PAREN;
    bool empty = closed && previous.kind == TOKEN_LEFT_PAREN &&
                 previous.place.start == parser->token.place.start;
    if (closed)
        lexer_next(lexer, &token);
    lexer->problem = problem;
    lexer->failed = false;
    lexer->at = kept;
    lexer->brackets[kept.nesting - 1] = open;
    return closed && !empty && token.kind == TOKEN_COLON;
}

static bool parse_with_items(struct parser *parser, struct syntax *node, bool enclosed)
{
    size_t mark = parser->scratch_length;
    do {
        struct syntax_with_item item = {NULL, NULL};
        item.context = parse_expression(parser);
        if (item.context == NULL ||
            (parser_accept(parser, TOKEN_AS) &&
             (item.target = parse_with_target(parser)) == NULL) ||
            !parser_push(parser, &item, sizeof item))
            return false;
        node_over(node, item.context);
        node_over(node, item.target);
    } while (parser_accept(parser, TOKEN_COMMA) &&
             !(enclosed && parser_at(parser, TOKEN_RIGHT_PAREN)));
    void *items;
    if (!parser_take(parser, mark, sizeof(struct syntax_with_item), &items,
                     &node->with.count))
        return false;
    node->with.items = items;
    return !enclosed || parser_close(parser, TOKEN_RIGHT_PAREN);
}

static struct syntax *parse_with(struct parser *parser)
{
    struct token opener = parser->token;
    struct syntax *node = parser_node(parser, SYNTAX_WITH, opener.place);
    if (node == NULL)
        return NULL;
    parser_advance(parser);
    bool enclosed = parser_at(parser, TOKEN_LEFT_PAREN) && encloses_items(parser);
    if (enclosed)
        parser_advance(parser);
    if (!parse_with_items(parser, node, enclosed) ||
        !parse_block(parser, &opener, &node->with.body))
        return NULL;
    node_over_list(node, node->with.body);
    node->place.end = parser->previous.end;
    return parser_finish(parser, node);
}

struct syntax *parse_compound(struct parser *parser)
{
    switch (parser->token.kind) {
    case TOKEN_IF:
        return parse_if(parser);
    case TOKEN_DEF:
        return parse_def(parser);
    case TOKEN_WITH:
        return parse_with(parser);
    default:
        return parse_loop(parser);
    }
}
