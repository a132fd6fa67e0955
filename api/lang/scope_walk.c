// SPDX-License-Identifier: Apache-2.0
// The first walk over expressions: every use of a name, in the order of evaluation, and
// the scopes of functions and comprehensions. Any thread.
#include "api/lang/compile_internal.h"

static void use_name(struct compiler *compiler, const struct syntax_name *name)
{
    if (!scope_resolve(compiler, compiler->scope->host, name))
        facts_read(compiler, name);
}

static void walk_list(struct compiler *compiler, const struct syntax_list *list)
{
    for (int i = 0; i < list->count; i++)
        walk_expression(compiler, list->items[i]);
}

static void walk_optional(struct compiler *compiler, const struct syntax *node)
{
    if (node)
        walk_expression(compiler, node);
}

// ---- Functions

static void declare_parameters(struct compiler *compiler, struct scope *scope,
                               const struct syntax_function *function)
{
    // Slots come in the order of struct code: *rest and **keywords last.
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < function->n_parameters; i++) {
            const struct syntax_parameter *parameter = &function->parameters[i];
            bool gathers =
                parameter->kind == SYNTAX_REST || parameter->kind == SYNTAX_KEYWORDS;
            if (gathers == (pass == 1))
                scope_declare(compiler, scope, parameter->name);
        }
}

void walk_function(struct compiler *compiler, const struct syntax_function *function)
{
    for (int i = 0; i < function->n_parameters; i++)
        walk_optional(compiler, function->parameters[i].default_value);
    struct scope *scope = scope_new(compiler, SCOPE_FUNCTION, function);
    if (!scope)
        return;
    struct scope *around = compiler->scope;
    compiler->unit->facts.loops = true;
    compiler->scope = scope;
    declare_parameters(compiler, scope, function);
    if (function->value) {
        walk_expression(compiler, function->value);
    } else {
        declare_body(compiler, scope, &function->body);
        walk_body(compiler, &function->body);
    }
    scope_complete(scope);
    scope_leave(compiler, scope);
    compiler->scope = around;
}

// ---- Comprehensions: the first iterable belongs to the scope around.

static void walk_comprehension(struct compiler *compiler, const struct syntax *node)
{
    bool is_generator = node->kind == SYNTAX_GENERATOR;
    const struct syntax_clause *clauses = node->comprehension.clauses;
    walk_expression(compiler, clauses[0].iterable);
    struct scope *around = compiler->scope;
    struct scope *scope =
        scope_new(compiler, is_generator ? SCOPE_GENERATOR : SCOPE_COMPREHENSION, node);
    if (!scope)
        return;
    compiler->unit->facts.loops = true;
    compiler->scope = scope;
    if (is_generator)
        scope->n_slots = 1; // the iterator of the first clause
    for (int i = 0; i < node->comprehension.count; i++)
        declare_target(compiler, scope, clauses[i].target);
    for (int i = 0; i < node->comprehension.count; i++) {
        if (i > 0)
            walk_expression(compiler, clauses[i].iterable);
        walk_target(compiler, clauses[i].target);
        walk_list(compiler, &clauses[i].conditions);
    }
    walk_optional(compiler, node->comprehension.key);
    walk_expression(compiler, node->comprehension.element);
    if (is_generator)
        scope_complete(scope);
    scope_leave(compiler, scope);
    compiler->scope = around;
}

// ---- The rest

static void walk_call(struct compiler *compiler, const struct syntax *node)
{
    const struct syntax *callee = node->call.callee;
    if (callee->kind == SYNTAX_NAME) {
        use_name(compiler, callee->name);
        if (facts_is_tensor(callee->name))
            facts_call(compiler, node);
    } else if (callee->kind == SYNTAX_ATTRIBUTE) {
        walk_expression(compiler, callee->attribute.object);
        facts_attribute(compiler, callee->attribute.name);
    } else {
        walk_expression(compiler, callee);
    }
    // As compile_call.c: the keywords after everything by position.
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < node->call.count; i++) {
            enum syntax_argument_kind kind = node->call.arguments[i].kind;
            bool named =
                kind == SYNTAX_ARGUMENT_KEYWORD || kind == SYNTAX_ARGUMENT_KEYWORDS;
            if (named == (pass == 1))
                walk_expression(compiler, node->call.arguments[i].value);
        }
}

static void walk_dict(struct compiler *compiler, const struct syntax *node)
{
    for (int i = 0; i < node->dict.count; i++) {
        walk_optional(compiler, node->dict.keys[i]);
        walk_expression(compiler, node->dict.values[i]);
    }
}

static void walk_name(struct compiler *compiler, const struct syntax *node)
{
    use_name(compiler, node->name);
    if (facts_is_tensor(node->name)) // not called here: it may be called by another name
        compiler->unit->facts.dynamic = true;
}

static void walk_attribute(struct compiler *compiler, const struct syntax *node)
{
    walk_expression(compiler, node->attribute.object);
    facts_attribute(compiler, node->attribute.name);
    if (facts_is_tensor(node->attribute.name))
        compiler->unit->facts.dynamic = true;
}

// Nodes with a few operands. False: it is none of these.
static bool walk_operands(struct compiler *compiler, const struct syntax *node)
{
    switch ((enum syntax_kind)node->kind) {
    case SYNTAX_BINARY:
    case SYNTAX_COMPARE:
        for (int i = 0; i < node->chain.count; i++)
            walk_expression(compiler, node->chain.operands[i]);
        return true;
    case SYNTAX_UNARY:
        walk_expression(compiler, node->unary.operand);
        return true;
    case SYNTAX_STARRED:
        walk_expression(compiler, node->value);
        return true;
    case SYNTAX_CONDITIONAL:
        walk_expression(compiler, node->conditional.condition);
        walk_expression(compiler, node->conditional.value);
        walk_expression(compiler, node->conditional.otherwise);
        return true;
    case SYNTAX_INDEX:
        walk_expression(compiler, node->index.object);
        walk_expression(compiler, node->index.key);
        return true;
    case SYNTAX_SLICE:
        walk_optional(compiler, node->slice.start);
        walk_optional(compiler, node->slice.stop);
        walk_optional(compiler, node->slice.step);
        return true;
    case SYNTAX_FORMAT:
        walk_expression(compiler, node->format.value);
        walk_optional(compiler, node->format.spec);
        return true;
    default:
        return false;
    }
}

void walk_expression(struct compiler *compiler, const struct syntax *node)
{
    if (compiler->failed || walk_operands(compiler, node))
        return;
    switch ((enum syntax_kind)node->kind) {
    case SYNTAX_NAME:
        walk_name(compiler, node);
        break;
    case SYNTAX_ATTRIBUTE:
        walk_attribute(compiler, node);
        break;
    case SYNTAX_CALL:
        walk_call(compiler, node);
        break;
    case SYNTAX_DICT:
        walk_dict(compiler, node);
        break;
    case SYNTAX_TUPLE:
    case SYNTAX_LIST:
    case SYNTAX_SET:
    case SYNTAX_FSTRING:
    case SYNTAX_AND:
    case SYNTAX_OR:
        walk_list(compiler, &node->elements);
        break;
    case SYNTAX_LAMBDA:
        walk_function(compiler, node->function);
        break;
    case SYNTAX_LIST_COMPREHENSION:
    case SYNTAX_SET_COMPREHENSION:
    case SYNTAX_DICT_COMPREHENSION:
    case SYNTAX_GENERATOR:
        walk_comprehension(compiler, node);
        break;
    default:
        break; // literals
    }
}
