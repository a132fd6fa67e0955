// SPDX-License-Identifier: Apache-2.0
// Scopes and their symbols. While a scope is entered, name_info.symbol leads to the
// innermost symbol of each name, so that a name resolves at once however many there are.
// Any thread.
#include "api/lang/compile_internal.h"

struct scope *scope_new(struct compiler *compiler, enum scope_kind kind, const void *node)
{
    struct scope *scope = compile_take(compiler, sizeof *scope);
    if (!scope)
        return NULL;
    struct scope *parent = compiler->scope;
    scope->kind = kind;
    scope->node = node;
    scope->parent = parent;
    scope->host = kind == SCOPE_COMPREHENSION ? parent->host : scope;
    scope->last_child = &scope->children;
    scope->last_symbol = &scope->symbols;
    scope->last_capture = &scope->captures;
    if (parent) {
        *parent->last_child = scope;
        parent->last_child = &scope->next;
    }
    return scope;
}

static void push(struct compiler *compiler, struct symbol *symbol)
{
    struct name_info *info = name_of(compiler, symbol->name);
    if (!info)
        return;
    symbol->shadowed = info->symbol;
    info->symbol = symbol;
}

static void pop(struct compiler *compiler, struct symbol *symbol)
{
    struct name_info *info = name_of(compiler, symbol->name);
    if (info)
        info->symbol = symbol->shadowed;
}

void scope_enter(struct compiler *compiler, struct scope *scope)
{
    for (struct symbol *symbol = scope->symbols; symbol; symbol = symbol->next)
        push(compiler, symbol);
    for (struct symbol *symbol = scope->captures; symbol; symbol = symbol->next)
        push(compiler, symbol);
    scope->cursor = scope->children;
}

void scope_leave(struct compiler *compiler, struct scope *scope)
{
    for (struct symbol *symbol = scope->symbols; symbol; symbol = symbol->next)
        pop(compiler, symbol);
    for (struct symbol *symbol = scope->captures; symbol; symbol = symbol->next)
        pop(compiler, symbol);
}

static struct symbol *symbol_new(struct compiler *compiler, struct scope *scope,
                                 const struct syntax_name *name, struct symbol ***last)
{
    struct symbol *symbol = compile_take(compiler, sizeof *symbol);
    if (!symbol)
        return NULL;
    symbol->name = name;
    symbol->scope = scope;
    **last = symbol;
    *last = &symbol->next;
    push(compiler, symbol);
    return symbol;
}

void scope_declare(struct compiler *compiler, struct scope *scope,
                   const struct syntax_name *name)
{
    struct name_info *info = name_of(compiler, name);
    if (!info || (info->symbol && info->symbol->scope == scope))
        return;
    struct symbol *symbol = symbol_new(compiler, scope, name, &scope->last_symbol);
    if (symbol)
        symbol->slot = scope->host->n_slots++;
}

// A symbol in host for one of a host further out, and in every host between.
static struct symbol *capture(struct compiler *compiler, struct scope *host,
                              struct symbol *symbol)
{
    struct scope *around = host->parent ? host->parent->host : NULL;
    struct symbol *source = symbol;
    if (around && symbol->scope->host != around)
        source = capture(compiler, around, symbol);
    if (!source)
        return NULL;
    source->boxed = true;
    struct symbol *captured =
        symbol_new(compiler, host, symbol->name, &host->last_capture);
    if (!captured)
        return NULL;
    captured->source = source;
    captured->boxed = true;
    captured->slot = host->n_captures++; // among the captures until the scope is complete
    return captured;
}

void scope_complete(struct scope *host)
{
    for (struct symbol *symbol = host->captures; symbol; symbol = symbol->next)
        symbol->slot += host->n_slots;
}

struct symbol *scope_resolve(struct compiler *compiler, struct scope *host,
                             const struct syntax_name *name)
{
    struct name_info *info = name_of(compiler, name);
    struct symbol *symbol = info ? info->symbol : NULL;
    if (symbol && symbol->scope->host != host)
        symbol = capture(compiler, host, symbol);
    return symbol;
}

struct scope *scope_child(struct scope *scope, const void *node)
{
    // Both walks meet the scopes in the same order.
    if (!scope->cursor || scope->cursor->node != node)
        for (scope->cursor = scope->children;
             scope->cursor && scope->cursor->node != node;
             scope->cursor = scope->cursor->next)
            ;
    struct scope *child = scope->cursor;
    if (child)
        scope->cursor = child->next;
    return child;
}

struct scope *scope_program(struct compiler *compiler, const struct syntax *program)
{
    struct scope *scope = scope_new(compiler, SCOPE_PROGRAM, program);
    compiler->scope = scope;
    if (scope)
        walk_body(compiler, &program->body);
    compiler->scope = NULL;
    return scope;
}
