// SPDX-License-Identifier: Apache-2.0
// Arguments of calls and parameters of functions.
#include "api/lang/parser_internal.h"

#include <string.h>

// ---- Arguments

// name=value, or a positional argument, or a generator (then it must be alone).
static bool parse_plain_argument(struct parser *parser, struct syntax_argument *argument)
{
    struct token first = parser->token;
    argument->value = parse_expression(parser);
    if (argument->value == NULL)
        return false;
    if (!parser_at(parser, TOKEN_ASSIGN))
        return true;
    bool is_name = argument->value->kind == SYNTAX_NAME && first.kind == TOKEN_NAME;
    if (!is_name)
        return parser_fail(parser, first.place,
                           first.kind >= TOKEN_FIRST_KEYWORD &&
                                   first.kind != TOKEN_LAMBDA && first.kind != TOKEN_NOT
                               ? "a keyword cannot be the name of an argument"
                               : "an expression cannot be assigned to here; did you mean "
                                 "'=='?");
    argument->kind = SYNTAX_ARGUMENT_KEYWORD;
    argument->name = argument->value->name;
    parser_advance(parser);
    argument->value = parse_expression(parser);
    return argument->value != NULL;
}

static bool parse_argument(struct parser *parser, struct syntax_argument *argument)
{
    *argument = (struct syntax_argument){.place = parser->token.place};
    if (parser_accept(parser, TOKEN_STAR)) {
        argument->kind = SYNTAX_ARGUMENT_STAR;
        argument->value = parse_expression(parser);
    } else if (parser_accept(parser, TOKEN_POWER)) {
        argument->kind = SYNTAX_ARGUMENT_KEYWORDS;
        argument->value = parse_expression(parser);
    } else {
        argument->kind = SYNTAX_ARGUMENT_POSITIONAL;
        if (!parse_plain_argument(parser, argument))
            return false;
    }
    argument->place.end = parser->previous.end;
    return argument->value != NULL;
}

// Order of kinds and no keyword twice, once all are there.
static bool check_arguments(struct parser *parser, int count,
                            const struct syntax_argument *arguments)
{
    bool keyword = false, keywords = false;
    uint32_t mark = ++parser->marks;
    for (int i = 0; i < count; i++) {
        const struct syntax_argument *argument = &arguments[i];
        switch (argument->kind) {
        case SYNTAX_ARGUMENT_POSITIONAL:
            if (keyword || keywords)
                return parser_fail(parser, argument->place,
                                   "a positional argument follows a keyword argument%s",
                                   keywords ? " unpacking" : "");
            break;
        case SYNTAX_ARGUMENT_STAR:
            if (keywords)
                return parser_fail(parser, argument->place,
                                   "unpacking with * follows unpacking with **");
            break;
        case SYNTAX_ARGUMENT_KEYWORD:
            keyword = true;
            if (names_mark(argument->name, mark))
                return parser_fail(parser, argument->place,
                                   "keyword argument repeated: %.100s",
                                   argument->name->text);
            break;
        case SYNTAX_ARGUMENT_KEYWORDS:
            keywords = true;
        }
    }
    return true;
}

// A generator without parentheses of its own: it takes the call's.
static bool finish_generator(struct parser *parser, struct syntax_place start,
                             struct syntax_argument *argument, bool first)
{
    argument->value =
        argument->kind == SYNTAX_ARGUMENT_POSITIONAL
            ? parse_comprehension(parser, SYNTAX_GENERATOR, start, NULL, argument->value)
            : NULL;
    if (argument->value == NULL)
        return parser_unexpected(parser);
    if (!first || parser_at(parser, TOKEN_COMMA))
        return parser_fail(parser, argument->place,
                           "a generator expression beside other arguments needs "
                           "parentheses");
    argument->value->place.end = parser->token.place.end;
    argument->place = argument->value->place;
    return true;
}

static bool parse_arguments(struct parser *parser, struct syntax_place start)
{
    size_t mark = parser->scratch_length;
    while (!parser_at(parser, TOKEN_RIGHT_PAREN)) {
        struct syntax_argument argument;
        if (!parse_argument(parser, &argument))
            return false;
        if (parser_at(parser, TOKEN_FOR) &&
            !finish_generator(parser, start, &argument, parser->scratch_length == mark))
            return false;
        if (!parser_push(parser, &argument, sizeof argument))
            return false;
        if (!parser_accept(parser, TOKEN_COMMA))
            break;
    }
    return true;
}

struct syntax *parse_call(struct parser *parser, struct syntax_place start,
                          struct syntax *callee)
{
    size_t mark = parser->scratch_length;
    struct syntax_place open = parser->token.place;
    void *arguments;
    int count;
    parser_advance(parser);
    if (!parse_arguments(parser, open) || !parser_close(parser, TOKEN_RIGHT_PAREN))
        return NULL;
    struct syntax *node = parser_node(parser, SYNTAX_CALL, start);
    if (node == NULL ||
        !parser_take(parser, mark, sizeof(struct syntax_argument), &arguments, &count) ||
        !check_arguments(parser, count, arguments))
        return NULL;
    node->call.callee = callee;
    node->call.count = count;
    node->call.arguments = arguments;
    node_over(node, callee);
    for (int i = 0; i < count; i++)
        node_over(node, node->call.arguments[i].value);
    return parser_finish(parser, node);
}

// ---- Parameters

struct signature_state {
    enum syntax_parameter_kind kind; // of the next plain one
    bool has_default;                // one of the positional ones before has
    bool bare_star;                  // a * that still needs a name behind it
    bool slash, rest;
    bool is_def; // annotations are allowed
    size_t mark;
};

// The annotation, which is read and dropped.
static bool parse_annotation(struct parser *parser, const struct signature_state *state,
                             bool starred)
{
    if (!state->is_def || !parser_accept(parser, TOKEN_COLON))
        return true;
    return starred ? parse_starred_or(parser, parse_expression) != NULL
                   : parse_expression(parser) != NULL;
}

static bool parse_default(struct parser *parser, struct signature_state *state,
                          struct syntax_parameter *parameter)
{
    bool positional = parameter->kind <= SYNTAX_POSITIONAL;
    if (parser_accept(parser, TOKEN_ASSIGN)) {
        if (parameter->kind == SYNTAX_REST || parameter->kind == SYNTAX_KEYWORDS)
            return parser_fail(parser, parameter->place,
                               "a parameter with %s cannot have a default",
                               parameter->kind == SYNTAX_REST ? "*" : "**");
        parameter->default_value = parse_expression(parser);
        state->has_default = state->has_default || positional;
        return parameter->default_value != NULL;
    }
    if (positional && state->has_default)
        return parser_fail(parser, parameter->place,
                           "a parameter without a default follows one with a default");
    return true;
}

static bool parse_parameter(struct parser *parser, struct signature_state *state,
                            enum syntax_parameter_kind kind)
{
    struct syntax_parameter parameter = {.kind = kind, .place = parser->token.place};
    parameter.name = parser_name(parser);
    state->bare_star = false;
    return parameter.name && parse_annotation(parser, state, kind == SYNTAX_REST) &&
           parse_default(parser, state, &parameter) &&
           parser_push(parser, &parameter, sizeof parameter);
}

// * alone or with a name: what follows goes by keyword.
static bool parse_star(struct parser *parser, struct signature_state *state)
{
    struct syntax_place place = parser->token.place;
    parser_advance(parser);
    if (state->rest)
        return parser_fail(parser, place, "a second * among the parameters");
    state->rest = true;
    state->kind = SYNTAX_KEYWORD_ONLY;
    if (!parser_at(parser, TOKEN_COMMA))
        return parser_at(parser, TOKEN_NAME) || parser->token.kind >= TOKEN_FIRST_KEYWORD
                   ? parse_parameter(parser, state, SYNTAX_REST)
                   : parser_fail(parser, place, "names must follow a bare *");
    state->bare_star = true;
    return true;
}

// / : what is before it goes by position only.
static bool parse_slash(struct parser *parser, struct signature_state *state)
{
    struct syntax_place place = parser->token.place;
    parser_advance(parser);
    if (state->slash || state->rest || parser->scratch_length == state->mark)
        return parser_fail(parser, place,
                           "a / must stand once, behind a parameter and "
                           "before any *");
    state->slash = true;
    for (size_t at = state->mark; at < parser->scratch_length;
         at += sizeof(struct syntax_parameter)) {
        struct syntax_parameter *parameter = (void *)(parser->scratch + at);
        parameter->kind = SYNTAX_POSITIONAL_ONLY;
    }
    return true;
}

static bool parse_next_parameter(struct parser *parser, struct signature_state *state)
{
    switch (parser->token.kind) {
    case TOKEN_STAR:
        return parse_star(parser, state);
    case TOKEN_SLASH:
        return parse_slash(parser, state);
    case TOKEN_POWER:
        if (state->bare_star)
            return parser_fail(parser, parser->token.place, "names must follow a bare *");
        parser_advance(parser);
        return parse_parameter(parser, state, SYNTAX_KEYWORDS);
    default:
        return parse_parameter(parser, state, state->kind);
    }
}

static bool check_parameters(struct parser *parser,
                             const struct syntax_function *function)
{
    uint32_t mark = ++parser->marks;
    for (int i = 0; i < function->n_parameters; i++) {
        const struct syntax_parameter *parameter = &function->parameters[i];
        if (names_mark(parameter->name, mark))
            return parser_fail(parser, parameter->place, "parameter %.100s stands twice",
                               parameter->name->text);
    }
    return true;
}

bool parse_parameters(struct parser *parser, struct syntax *node, enum token_kind end)
{
    struct signature_state state = {.kind = SYNTAX_POSITIONAL,
                                    .is_def = end == TOKEN_RIGHT_PAREN,
                                    .mark = parser->scratch_length};
    while (!parser_at(parser, end)) {
        struct token first = parser->token;
        if (!parse_next_parameter(parser, &state))
            return false;
        if (!parser_accept(parser, TOKEN_COMMA))
            break;
        if (first.kind == TOKEN_POWER && !parser_at(parser, end))
            return parser_fail(parser, parser->token.place,
                               "no parameter may follow one with **");
    }
    if (state.bare_star)
        return parser_fail(parser, parser->token.place, "names must follow a bare *");
    void *parameters;
    struct syntax_function *function = node->function;
    if (!parser_take(parser, state.mark, sizeof(struct syntax_parameter), &parameters,
                     &function->n_parameters))
        return false;
    function->parameters = parameters;
    for (int i = 0; i < function->n_parameters; i++)
        node_over(node, function->parameters[i].default_value);
    return check_parameters(parser, function);
}

struct syntax *parse_lambda(struct parser *parser)
{
    struct syntax *node = parser_node(parser, SYNTAX_LAMBDA, parser->token.place);
    struct syntax_function *function = arena_take(parser->lexer.arena, sizeof *function);
    if (node == NULL || function == NULL) {
        lexer_no_memory(&parser->lexer);
        return NULL;
    }
    *function = (struct syntax_function){.name = NULL};
    node->function = function;
    parser_advance(parser);
    if (!parse_parameters(parser, node, TOKEN_COLON) ||
        !parser_expect(parser, TOKEN_COLON))
        return NULL;
    function->value = parse_expression(parser);
    if (function->value == NULL)
        return NULL;
    node->place.end = parser->previous.end;
    node_over(node, function->value);
    return parser_finish(parser, node);
}
