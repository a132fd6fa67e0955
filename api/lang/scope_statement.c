// SPDX-License-Identifier: Apache-2.0
// The first walk over statements: which names a function assigns, and then everything
// in the order of execution. Any thread.
#include "api/lang/compile_internal.h"

// ---- Declarations: a name that is bound anywhere in a function is its own everywhere.

void declare_target(struct compiler *compiler, struct scope *scope,
                    const struct syntax *target)
{
    if (compiler->failed)
        return;
    if (target->kind == SYNTAX_NAME)
        scope_declare(compiler, scope, target->name);
    else if (target->kind == SYNTAX_STARRED)
        declare_target(compiler, scope, target->value);
    else if (target->kind == SYNTAX_TUPLE || target->kind == SYNTAX_LIST)
        for (int i = 0; i < target->elements.count; i++)
            declare_target(compiler, scope, target->elements.items[i]);
}

static void declare_statement(struct compiler *compiler, struct scope *scope,
                              const struct syntax *statement)
{
    switch ((enum syntax_kind)statement->kind) {
    case SYNTAX_ASSIGN:
    case SYNTAX_DELETE:
        for (int i = 0; i < statement->assign.targets.count; i++)
            declare_target(compiler, scope, statement->assign.targets.items[i]);
        break;
    case SYNTAX_AUGMENTED:
        declare_target(compiler, scope, statement->augmented.target);
        break;
    case SYNTAX_ANNOTATED:
        if (!statement->annotated.parenthesised || statement->annotated.value)
            declare_target(compiler, scope, statement->annotated.target);
        break;
    case SYNTAX_DEF:
        scope_declare(compiler, scope, statement->function->name);
        break;
    case SYNTAX_IF:
        for (int i = 0; i < statement->choice.count; i++)
            declare_body(compiler, scope, &statement->choice.branches[i].body);
        declare_body(compiler, scope, &statement->choice.otherwise);
        break;
    case SYNTAX_FOR:
        declare_target(compiler, scope, statement->loop.target);
        declare_body(compiler, scope, &statement->loop.body);
        declare_body(compiler, scope, &statement->loop.otherwise);
        break;
    case SYNTAX_WHILE:
        declare_body(compiler, scope, &statement->loop.body);
        declare_body(compiler, scope, &statement->loop.otherwise);
        break;
    case SYNTAX_WITH:
        for (int i = 0; i < statement->with.count; i++)
            if (statement->with.items[i].target)
                declare_target(compiler, scope, statement->with.items[i].target);
        declare_body(compiler, scope, &statement->with.body);
        break;
    case SYNTAX_IMPORT:
        for (int i = 0; i < statement->imports.count; i++)
            scope_declare(compiler, scope, statement->imports.items[i].bound);
        break;
    default:
        break;
    }
}

void declare_body(struct compiler *compiler, struct scope *scope,
                  const struct syntax_list *body)
{
    for (int i = 0; i < body->count; i++)
        declare_statement(compiler, scope, body->items[i]);
}

// ---- The walk

static void bind_name(struct compiler *compiler, const struct syntax_name *name)
{
    if (!scope_resolve(compiler, compiler->scope->host, name))
        facts_write(compiler, name);
}

void walk_target(struct compiler *compiler, const struct syntax *target)
{
    if (compiler->failed)
        return;
    switch ((enum syntax_kind)target->kind) {
    case SYNTAX_NAME:
        bind_name(compiler, target->name);
        break;
    case SYNTAX_STARRED:
        walk_target(compiler, target->value);
        break;
    case SYNTAX_TUPLE:
    case SYNTAX_LIST:
        for (int i = 0; i < target->elements.count; i++)
            walk_target(compiler, target->elements.items[i]);
        break;
    default: // ATTRIBUTE, INDEX
        compiler->unit->facts.writes_elements = true;
        walk_expression(compiler, target);
    }
}

static void walk_targets(struct compiler *compiler, const struct syntax_list *targets)
{
    for (int i = 0; i < targets->count; i++)
        walk_target(compiler, targets->items[i]);
}

static void walk_import(struct compiler *compiler, const struct syntax *statement)
{
    for (int i = 0; i < statement->imports.count; i++) {
        const struct syntax_import *import = &statement->imports.items[i];
        if (import->attribute)
            facts_attribute(compiler, import->attribute);
        // Under another name its calls are not seen.
        if (import->attribute && facts_is_tensor(import->attribute) &&
            import->bound != import->attribute)
            compiler->unit->facts.dynamic = true;
    }
}

static void walk_loop(struct compiler *compiler, const struct syntax *statement)
{
    compiler->unit->facts.loops = true;
    walk_expression(compiler, statement->loop.iterable);
    compiler->conditional++;
    if (statement->kind == SYNTAX_FOR)
        walk_target(compiler, statement->loop.target);
    walk_body(compiler, &statement->loop.body);
    walk_body(compiler, &statement->loop.otherwise);
    compiler->conditional--;
}

static void walk_choice(struct compiler *compiler, const struct syntax *statement)
{
    compiler->conditional++;
    for (int i = 0; i < statement->choice.count; i++) {
        walk_expression(compiler, statement->choice.branches[i].condition);
        walk_body(compiler, &statement->choice.branches[i].body);
    }
    walk_body(compiler, &statement->choice.otherwise);
    compiler->conditional--;
}

static void walk_annotated(struct compiler *compiler, const struct syntax *statement)
{
    if (statement->annotated.value)
        walk_expression(compiler, statement->annotated.value);
    if (statement->annotated.value || statement->annotated.target->kind != SYNTAX_NAME)
        walk_target(compiler, statement->annotated.target);
    if (compiler->scope->kind == SCOPE_PROGRAM)
        walk_expression(compiler, statement->annotated.annotation);
}

static void walk_with(struct compiler *compiler, const struct syntax *statement)
{
    for (int i = 0; i < statement->with.count; i++) {
        walk_expression(compiler, statement->with.items[i].context);
        if (statement->with.items[i].target)
            walk_target(compiler, statement->with.items[i].target);
    }
    walk_body(compiler, &statement->with.body);
}

static void walk_augmented(struct compiler *compiler, const struct syntax *statement)
{
    walk_expression(compiler, statement->augmented.target); // read first
    walk_expression(compiler, statement->augmented.value);
    if (statement->augmented.target->kind == SYNTAX_NAME)
        walk_target(compiler, statement->augmented.target);
}

static void walk_statement(struct compiler *compiler, const struct syntax *statement)
{
    switch ((enum syntax_kind)statement->kind) {
    case SYNTAX_EXPRESSION:
    case SYNTAX_RETURN:
    case SYNTAX_YIELD:
        if (statement->value)
            walk_expression(compiler, statement->value);
        break;
    case SYNTAX_ASSIGN:
        walk_expression(compiler, statement->assign.value);
        walk_targets(compiler, &statement->assign.targets);
        break;
    case SYNTAX_DELETE:
        walk_targets(compiler, &statement->assign.targets);
        break;
    case SYNTAX_AUGMENTED:
        compiler->unit->facts.writes_elements = true;
        walk_augmented(compiler, statement);
        break;
    case SYNTAX_ANNOTATED:
        walk_annotated(compiler, statement);
        break;
    case SYNTAX_DEF:
        walk_function(compiler, statement->function);
        bind_name(compiler, statement->function->name);
        break;
    case SYNTAX_IF:
        walk_choice(compiler, statement);
        break;
    case SYNTAX_FOR:
    case SYNTAX_WHILE:
        walk_loop(compiler, statement);
        break;
    case SYNTAX_ASSERT:
        walk_expression(compiler, statement->assertion.condition);
        if (statement->assertion.message)
            walk_expression(compiler, statement->assertion.message);
        break;
    case SYNTAX_WITH:
        walk_with(compiler, statement);
        break;
    case SYNTAX_IMPORT:
        walk_import(compiler, statement);
        break;
    default:
        break;
    }
}

void walk_body(struct compiler *compiler, const struct syntax_list *body)
{
    for (int i = 0; i < body->count && !compiler->failed; i++)
        walk_statement(compiler, body->items[i]);
}
