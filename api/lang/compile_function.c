// SPDX-License-Identifier: Apache-2.0
// Functions, comprehensions and generator expressions. A comprehension is inlined: its
// variables are slots of the function around, boxed anew each time it runs and emptied at
// its end. Any thread.
#include "api/lang/compile_internal.h"

// Fresh boxes for the variables of a scope that functions inside share.
static void box_symbols(struct compiler *compiler, const struct scope *scope,
                        const struct syntax_place *place)
{
    for (const struct symbol *symbol = scope->symbols; symbol; symbol = symbol->next)
        if (symbol->boxed)
            emit(compiler, OPCODE_box, (uint32_t)symbol->slot, place);
}

bool compile_closure(struct compiler *compiler, const struct scope *host)
{
    int count = 0;
    for (const struct symbol *symbol = host->captures; symbol; symbol = symbol->next) {
        emit(compiler, OPCODE_share, (uint32_t)symbol->source->slot, NULL);
        count++;
    }
    if (count > 0)
        emit_effect(compiler, OPCODE_tuple, (uint32_t)count, 1 - count, NULL);
    return count > 0;
}

// ---- def and lambda

static int compile_defaults(struct compiler *compiler,
                            const struct syntax_function *function,
                            const struct syntax_place *place)
{
    int n = 0, parts = 0;
    for (int i = 0; i < function->n_parameters; i++) {
        const struct syntax_parameter *parameter = &function->parameters[i];
        if (parameter->kind <= SYNTAX_POSITIONAL && parameter->default_value) {
            compile_expression(compiler, parameter->default_value);
            n++;
        }
    }
    if (n > 0) {
        emit_effect(compiler, OPCODE_tuple, (uint32_t)n, 1 - n, place);
        parts |= FUNCTION_DEFAULTS;
    }
    n = 0;
    for (int i = 0; i < function->n_parameters; i++) {
        const struct syntax_parameter *parameter = &function->parameters[i];
        if (parameter->kind != SYNTAX_KEYWORD_ONLY || !parameter->default_value)
            continue;
        struct string *name = name_string(compiler, parameter->name);
        if (!name)
            return parts;
        emit(compiler, OPCODE_constant, constant_number(compiler, value_of(name)), NULL);
        compile_expression(compiler, parameter->default_value);
        n++;
    }
    if (n > 0) {
        emit_effect(compiler, OPCODE_dict, (uint32_t)n, 1 - 2 * n, place);
        parts |= FUNCTION_KEYWORDS;
    }
    return parts;
}

static void count_parameters(struct code *code, const struct syntax_function *function)
{
    for (int i = 0; i < function->n_parameters; i++) {
        enum syntax_parameter_kind kind = function->parameters[i].kind;
        code->n_positional_only += kind == SYNTAX_POSITIONAL_ONLY;
        code->n_positional += kind <= SYNTAX_POSITIONAL;
        code->n_keyword_only += kind == SYNTAX_KEYWORD_ONLY;
        code->has_rest |= kind == SYNTAX_REST;
        code->has_keywords |= kind == SYNTAX_KEYWORDS;
    }
}

// Whether yield stands in it: only in the prelude.
static bool yields(const struct syntax_list *body)
{
    for (int i = 0; i < body->count; i++) {
        const struct syntax *statement = body->items[i];
        if (statement->kind == SYNTAX_YIELD)
            return true;
        if ((statement->kind == SYNTAX_FOR || statement->kind == SYNTAX_WHILE) &&
            (yields(&statement->loop.body) || yields(&statement->loop.otherwise)))
            return true;
        if (statement->kind == SYNTAX_IF) {
            for (int k = 0; k < statement->choice.count; k++)
                if (yields(&statement->choice.branches[k].body))
                    return true;
            if (yields(&statement->choice.otherwise))
                return true;
        }
    }
    return false;
}

static struct code *compile_inside(struct compiler *compiler, struct scope *scope,
                                   const struct syntax_function *function,
                                   const struct syntax_place *place)
{
    struct emitter emitter;
    const char *name = function->name ? function->name->text : "<lambda>";
    function_begin(compiler, &emitter, scope, name);
    box_symbols(compiler, scope, place);
    if (function->value) {
        compile_expression(compiler, function->value);
        emit(compiler, OPCODE_return, 0, place);
    } else {
        compile_body(compiler, &function->body);
        emit(compiler, OPCODE_none, 0, NULL);
        emit(compiler, OPCODE_return, 0, place);
    }
    struct code *code = function_end(compiler, name);
    if (code) {
        count_parameters(code, function);
        code->is_producer = compiler->unit->is_prelude && yields(&function->body);
    }
    return code;
}

void compile_function(struct compiler *compiler, const struct syntax_function *function,
                      const struct syntax_place *place)
{
    int parts = compile_defaults(compiler, function, place);
    struct scope *scope = scope_child(compiler->emitter->scope, function);
    if (!scope) {
        compile_fail(compiler, STATUS_NOT_IMPLEMENTED, "a function has no scope");
        return;
    }
    struct code *code = compile_inside(compiler, scope, function, place);
    if (!code)
        return;
    if (compile_closure(compiler, scope))
        parts |= FUNCTION_CLOSURE;
    int count = (parts & 1) + (parts >> 1 & 1) + (parts >> 2 & 1);
    emit_effect(compiler, OPCODE_function,
                code_number(compiler, code) << 3 | (uint32_t)parts, 1 - count, place);
}

// ---- Comprehensions

// Clauses from i on; the first one's iterator is on the stack already. Every clause holds
// its iterator while those inside it run.
static void compile_clause(struct compiler *compiler, const struct syntax *node, int i,
                           void (*add)(struct compiler *, const struct syntax *, int))
{
    const struct syntax_clause *clause = &node->comprehension.clauses[i];
    const struct syntax_place *place = &clause->iterable->place;
    if (i > 0) {
        compile_expression(compiler, clause->iterable);
        emit(compiler, OPCODE_iterate, 0, place);
    }
    int32_t start = emit_here(compiler), end = emit_jump(compiler, OPCODE_for, place);
    compile_store(compiler, clause->target);
    for (int k = 0; k < clause->conditions.count; k++) {
        const struct syntax *condition = clause->conditions.items[k];
        compile_expression(compiler, condition);
        int32_t holds = emit_jump(compiler, OPCODE_if_true, &condition->place);
        emit(compiler, OPCODE_loop, (uint32_t)start, NULL);
        patch(compiler, holds);
    }
    if (i + 1 < node->comprehension.count)
        compile_clause(compiler, node, i + 1, add);
    else
        add(compiler, node, node->comprehension.count);
    emit(compiler, OPCODE_loop, (uint32_t)start, NULL);
    patch(compiler, end);
    emit_height(compiler, compiler->emitter->height - 1);
}

enum { CLAUSES_MAX = 200 };

void compile_clauses(struct compiler *compiler, const struct syntax *node,
                     void (*add)(struct compiler *, const struct syntax *, int))
{
    if (node->comprehension.count > CLAUSES_MAX)
        compile_fail(compiler, STATUS_LIMIT, "a comprehension has too many clauses");
    else
        compile_clause(compiler, node, 0, add);
}

// The container lies below the iterators of all clauses.
static void add_element(struct compiler *compiler, const struct syntax *node, int clauses)
{
    uint32_t depth = (uint32_t)clauses + 2;
    const struct syntax_place *place = &node->comprehension.element->place;
    if (node->kind == SYNTAX_DICT_COMPREHENSION) {
        compile_expression(compiler, node->comprehension.key);
        compile_expression(compiler, node->comprehension.element);
        emit(compiler, OPCODE_enter, depth + 1, &node->comprehension.key->place);
        return;
    }
    compile_expression(compiler, node->comprehension.element);
    emit(compiler,
         node->kind == SYNTAX_LIST_COMPREHENSION ? OPCODE_append : OPCODE_insert, depth,
         place);
}

void compile_comprehension(struct compiler *compiler, const struct syntax *node)
{
    const struct syntax *first = node->comprehension.clauses[0].iterable;
    enum opcode begin = node->kind == SYNTAX_LIST_COMPREHENSION  ? OPCODE_list
                        : node->kind == SYNTAX_SET_COMPREHENSION ? OPCODE_set
                                                                 : OPCODE_dict;
    emit_effect(compiler, begin, 0, 1, &node->place);
    compile_expression(compiler, first);
    emit(compiler, OPCODE_iterate, 0, &first->place);
    struct scope *around = compiler->emitter->scope;
    struct scope *scope = scope_child(around, node);
    if (!scope) {
        compile_fail(compiler, STATUS_NOT_IMPLEMENTED, "a comprehension has no scope");
        return;
    }
    scope_enter(compiler, scope);
    compiler->emitter->scope = scope;
    box_symbols(compiler, scope, &node->place);
    compile_clauses(compiler, node, add_element);
    for (const struct symbol *symbol = scope->symbols; symbol; symbol = symbol->next)
        emit(compiler, OPCODE_clear, (uint32_t)symbol->slot, NULL);
    compiler->emitter->scope = around;
    scope_leave(compiler, scope);
}

// ---- Generator expressions: a host of their own, whose slot 0 is the first iterator.

static void add_item(struct compiler *compiler, const struct syntax *node, int clauses)
{
    compile_expression(compiler, node->comprehension.element);
    emit(compiler, OPCODE_yield, 0, &node->comprehension.element->place);
}

void compile_generator(struct compiler *compiler, const struct syntax *node)
{
    const struct syntax *first = node->comprehension.clauses[0].iterable;
    struct emitter emitter;
    // The scopes inside the iterable come first, in the walk and so here: the closure,
    // which lies below the iterator, waits until the generator's scope is known.
    compile_expression(compiler, first);
    emit(compiler, OPCODE_iterate, 0, &first->place);
    struct scope *scope = scope_child(compiler->emitter->scope, node);
    if (!scope) {
        compile_fail(compiler, STATUS_NOT_IMPLEMENTED, "a generator has no scope");
        return;
    }
    function_begin(compiler, &emitter, scope, "<genexpr>");
    box_symbols(compiler, scope, &node->place);
    emit(compiler, OPCODE_local, 0, NULL);
    compile_clauses(compiler, node, add_item);
    emit(compiler, OPCODE_none, 0, NULL);
    emit(compiler, OPCODE_return, 0, &node->place);
    struct code *code = function_end(compiler, "<genexpr>");
    if (!code)
        return;
    code->is_producer = true;
    bool has_closure = compile_closure(compiler, scope);
    if (has_closure)
        emit(compiler, OPCODE_swap, 2, NULL);
    emit_effect(compiler, OPCODE_generator,
                code_number(compiler, code) << 1 | has_closure, has_closure ? -1 : 0,
                &node->place);
}
