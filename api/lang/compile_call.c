// SPDX-License-Identifier: Apache-2.0
// Calls: function, self, arguments by position, arguments by name. Calls with * or **, or
// with very many arguments, gather them in a list and a dict. Any thread.
#include "api/lang/compile_internal.h"

static bool is_named(const struct syntax_argument *argument)
{
    return argument->kind == SYNTAX_ARGUMENT_KEYWORD ||
           argument->kind == SYNTAX_ARGUMENT_KEYWORDS;
}

// The function, and self or its absence.
static void compile_callee(struct compiler *compiler, const struct syntax *callee)
{
    if (callee->kind == SYNTAX_ATTRIBUTE) {
        compile_expression(compiler, callee->attribute.object);
        emit(compiler, OPCODE_method, attribute_number(compiler, callee->attribute.name),
             &callee->place);
    } else {
        compile_expression(compiler, callee);
        emit(compiler, OPCODE_absent, 0, NULL);
    }
}

static void compile_argument(struct compiler *compiler, const struct syntax *value)
{
    if (value->kind == SYNTAX_GENERATOR)
        compile_generator(compiler, value);
    else
        compile_expression(compiler, value);
}

// ---- The usual call

static uint32_t call_row(struct compiler *compiler, const struct syntax *node,
                         int n_positional, int n_named)
{
    struct string **names =
        arena_take(&compiler->unit->arena, (size_t)n_named * sizeof *names);
    if (!names)
        compile_fail(compiler, STATUS_OUT_OF_MEMORY, "memory ran out");
    if (!names || !array_grow(compiler, &compiler->calls, sizeof(struct code_call)))
        return 0;
    int n = 0;
    for (int i = 0; i < node->call.count; i++)
        if (is_named(&node->call.arguments[i]))
            names[n++] = name_string(compiler, node->call.arguments[i].name);
    struct code_call *rows = compiler->calls.items;
    rows[compiler->calls.n] = (struct code_call){n_positional, n_named, names};
    return (uint32_t)compiler->calls.n++;
}

static void compile_plain_call(struct compiler *compiler, const struct syntax *node)
{
    int n_named = 0, count = node->call.count;
    for (int i = 0; i < count; i++) {
        n_named += is_named(&node->call.arguments[i]);
        compile_argument(compiler, node->call.arguments[i].value);
    }
    if (n_named == 0)
        emit_effect(compiler, OPCODE_call, (uint32_t)count, -count - 1, &node->place);
    else
        emit_effect(compiler, OPCODE_call_named,
                    call_row(compiler, node, count - n_named, n_named), -count - 1,
                    &node->place);
}

// ---- Gathered arguments

static void compile_positional(struct compiler *compiler, const struct syntax *node)
{
    int pending = 0;
    emit_effect(compiler, OPCODE_list, 0, 1, &node->place);
    for (int i = 0; i < node->call.count && !compiler->failed; i++) {
        const struct syntax_argument *argument = &node->call.arguments[i];
        if (is_named(argument))
            continue;
        bool star = argument->kind == SYNTAX_ARGUMENT_STAR;
        if (pending > 0 && (star || pending == DISPLAY_CHUNK)) {
            emit_effect(compiler, OPCODE_list_add, (uint32_t)pending, -pending, NULL);
            pending = 0;
        }
        compile_argument(compiler, argument->value);
        if (star)
            emit(compiler, OPCODE_extend, EXTEND_CALL, &argument->value->place);
        else
            pending++;
    }
    if (pending > 0)
        emit_effect(compiler, OPCODE_list_add, (uint32_t)pending, -pending, NULL);
}

// One run of names after another goes to a dict of its own, which is merged into the
// first: so that a name that is given twice is noticed.
static int compile_run(struct compiler *compiler, const struct syntax *node, int first)
{
    int i = first, n = 0;
    for (; i < node->call.count && n < DISPLAY_CHUNK; i++) {
        const struct syntax_argument *argument = &node->call.arguments[i];
        if (argument->kind == SYNTAX_ARGUMENT_KEYWORDS)
            break;
        if (argument->kind != SYNTAX_ARGUMENT_KEYWORD)
            continue;
        struct string *name = name_string(compiler, argument->name);
        if (!name)
            return node->call.count;
        emit(compiler, OPCODE_constant, constant_number(compiler, value_of(name)), NULL);
        compile_argument(compiler, argument->value);
        n++;
    }
    if (n > 0) {
        emit_effect(compiler, OPCODE_dict, (uint32_t)n, 1 - 2 * n, &node->place);
        emit(compiler, OPCODE_merge, 0, &node->place);
    }
    return i;
}

static void compile_named(struct compiler *compiler, const struct syntax *node)
{
    bool any = false;
    for (int i = 0; i < node->call.count; i++)
        any |= is_named(&node->call.arguments[i]);
    if (!any) {
        emit(compiler, OPCODE_absent, 0, NULL);
        return;
    }
    emit_effect(compiler, OPCODE_dict, 0, 1, &node->place);
    for (int i = 0; i < node->call.count && !compiler->failed;) {
        const struct syntax_argument *argument = &node->call.arguments[i];
        if (argument->kind == SYNTAX_ARGUMENT_KEYWORDS) {
            compile_argument(compiler, argument->value);
            emit(compiler, OPCODE_merge, 0, &argument->value->place);
            i++;
        } else {
            i = compile_run(compiler, node, i);
        }
    }
}

void compile_call(struct compiler *compiler, const struct syntax *node)
{
    bool plain = node->call.count <= DISPLAY_CHUNK;
    for (int i = 0; i < node->call.count; i++) {
        enum syntax_argument_kind kind = node->call.arguments[i].kind;
        plain &= kind == SYNTAX_ARGUMENT_POSITIONAL || kind == SYNTAX_ARGUMENT_KEYWORD;
    }
    compile_callee(compiler, node->call.callee);
    if (plain) {
        compile_plain_call(compiler, node);
        return;
    }
    compile_positional(compiler, node);
    compile_named(compiler, node);
    emit(compiler, OPCODE_call_spread, 0, &node->place);
}
