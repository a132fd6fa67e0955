// SPDX-License-Identifier: Apache-2.0
// From source to a unit: parse, walk the scopes, emit code, gather what the unit keeps.
// A pure function; any thread.
#include <string.h>

#include "api/lang/compile_internal.h"
#include "api/lang/parser.h"

enum { QUALIFIED_MAX = 400 };

void compile_fail(struct compiler *compiler, enum status status, const char *text)
{
    if (!compiler->failed)
        problem_set(compiler->problem, status, "%s", text);
    compiler->failed = true;
}

void compile_refuse(struct compiler *compiler, const struct syntax_place *place,
                    const char *text)
{
    char excerpt[PROBLEM_TEXT_MAX];
    if (compiler->failed)
        return;
    syntax_excerpt(compiler->unit->source, compiler->unit->source_bytes, *place, excerpt,
                   sizeof excerpt);
    problem_set(compiler->problem, STATUS_SYNTAX, "%s near \"%s\"", text, excerpt);
    compiler->problem->line = place->line;
    compiler->problem->column = place->column;
    compiler->failed = true;
}

void *compile_take(struct compiler *compiler, size_t size)
{
    void *memory = arena_take(compiler->tree, size);
    if (!memory)
        compile_fail(compiler, STATUS_OUT_OF_MEMORY, "memory ran out");
    return memory ? memset(memory, 0, size) : NULL;
}

bool array_grow(struct compiler *compiler, struct array *array, size_t item)
{
    if (compiler->failed)
        return false;
    if (array->n < array->capacity)
        return true;
    // The old items stay in the arena: together they are no more than the new ones.
    int32_t capacity = array->capacity ? array->capacity * 2 : 16;
    void *items = capacity <= INT32_MAX / 2
                      ? arena_take(compiler->tree, (size_t)capacity * item)
                      : NULL;
    if (!items) {
        compile_fail(compiler, STATUS_OUT_OF_MEMORY, "memory ran out");
        return false;
    }
    if (array->n > 0)
        memcpy(items, array->items, (size_t)array->n * item);
    array->items = items;
    array->capacity = capacity;
    return true;
}

struct name_info *name_of(struct compiler *compiler, const struct syntax_name *name)
{
    if (name->index >= compiler->n_names) {
        uint32_t count = compiler->n_names ? compiler->n_names : 16;
        while (count <= name->index)
            count *= 2;
        struct name_info *names = compile_take(compiler, count * sizeof *names);
        if (!names)
            return NULL;
        if (compiler->n_names > 0)
            memcpy(names, compiler->names, compiler->n_names * sizeof *names);
        compiler->names = names;
        compiler->n_names = count;
    }
    struct name_info *info = &compiler->names[name->index];
    info->name = name;
    if (name->index >= compiler->n_named)
        compiler->n_named = name->index + 1;
    return info;
}

// ---- A function's code

void function_begin(struct compiler *compiler, struct emitter *emitter,
                    struct scope *host, const char *name)
{
    *emitter = (struct emitter){.outer = compiler->emitter, .host = host, .scope = host};
    compiler->emitter = emitter;
    scope_enter(compiler, host);
    if (name && emitter->outer) {
        const char *around = emitter->outer->qualified;
        size_t length = around ? strlen(around) : 0;
        // Names of deeply nested functions would grow without end.
        char *qualified = compile_take(compiler, length + strlen(name) + 16);
        if (!qualified)
            return;
        if (around && length < QUALIFIED_MAX) {
            memcpy(qualified, around, length);
            memcpy(qualified + length, ".<locals>.", 10);
            length += 10;
        } else {
            length = 0;
        }
        memcpy(qualified + length, name, strlen(name) + 1);
        emitter->qualified = qualified;
    }
}

// Copies count items from the tree's arena to the unit's.
static const void *keep(struct compiler *compiler, const void *items, int32_t count,
                        size_t size)
{
    void *kept = arena_take(&compiler->unit->arena, (size_t)count * size + 1);
    if (!kept)
        compile_fail(compiler, STATUS_OUT_OF_MEMORY, "memory ran out");
    else if (count > 0)
        memcpy(kept, items, (size_t)count * size);
    return kept;
}

static struct string *kept_text(struct compiler *compiler, const char *text)
{
    struct string *string = unit_string(compiler->unit, text, strlen(text));
    if (!string)
        compile_fail(compiler, STATUS_OUT_OF_MEMORY, "memory ran out");
    return string;
}

static void name_slots(struct compiler *compiler, const struct scope *scope,
                       struct string **names)
{
    for (struct symbol *symbol = scope->symbols; symbol; symbol = symbol->next)
        names[symbol->slot] = name_string(compiler, symbol->name);
    for (struct symbol *symbol = scope->captures; symbol; symbol = symbol->next)
        names[symbol->slot] = name_string(compiler, symbol->name);
    for (const struct scope *child = scope->children; child; child = child->next)
        if (child->kind == SCOPE_COMPREHENSION)
            name_slots(compiler, child, names);
}

struct code *function_end(struct compiler *compiler, const char *name)
{
    struct emitter *emitter = compiler->emitter;
    struct scope *host = emitter->host;
    scope_leave(compiler, host);
    compiler->emitter = emitter->outer;
    int32_t n_slots = host->n_slots + host->n_captures;
    struct code *code = arena_take(&compiler->unit->arena, sizeof *code);
    struct string **names =
        arena_take(&compiler->unit->arena, ((size_t)n_slots + 1) * sizeof *names);
    if (!code || !names || compiler->failed) {
        compile_fail(compiler, STATUS_OUT_OF_MEMORY, "memory ran out");
        return NULL;
    }
    memset(names, 0, ((size_t)n_slots + 1) * sizeof *names);
    name_slots(compiler, host, names);
    *code = (struct code){
        .unit = compiler->unit,
        .name = kept_text(compiler, name),
        .n_instructions = emitter->n,
        .n_positions = emitter->n_positions,
        .instructions = keep(compiler, emitter->instructions, emitter->n,
                             sizeof *emitter->instructions),
        .positions = keep(compiler, emitter->positions, emitter->n_positions,
                          sizeof *emitter->positions),
        .n_slots = n_slots,
        .stack_size = emitter->most + 1,
        .first_free = host->n_slots,
        .n_free = host->n_captures,
        .slot_names = names,
    };
    code->qualified =
        emitter->qualified ? kept_text(compiler, emitter->qualified) : code->name;
    return compiler->failed ? NULL : code;
}

uint32_t code_number(struct compiler *compiler, struct code *code)
{
    if (!array_grow(compiler, &compiler->codes, sizeof code))
        return 0;
    ((struct code **)compiler->codes.items)[compiler->codes.n++] = code;
    return (uint32_t)compiler->codes.n - 1;
}

// ---- The program

// The last statement, if it is an expression, is what the program answers.
static void compile_program(struct compiler *compiler, const struct syntax *program)
{
    struct syntax_list body = program->body;
    bool answers =
        body.count > 0 && body.items[body.count - 1]->kind == SYNTAX_EXPRESSION;
    if (answers)
        body.count--;
    compile_body(compiler, &body);
    if (answers)
        compile_expression(compiler, body.items[body.count]->value);
    emit_effect(compiler, OPCODE_end, answers, answers ? -1 : 0, NULL);
}

static void unit_finish(struct compiler *compiler, const struct syntax *program)
{
    struct unit *unit = compiler->unit;
    facts_finish(compiler, program);
    unit->n_constants = compiler->constants.n;
    unit->n_names = compiler->attributes.n;
    unit->n_globals = compiler->globals.n;
    unit->n_codes = compiler->codes.n;
    unit->n_calls = compiler->calls.n;
    unit->constants = keep(compiler, compiler->constants.items, compiler->constants.n,
                           sizeof *unit->constants);
    unit->names = keep(compiler, compiler->attributes.items, compiler->attributes.n,
                       sizeof *unit->names);
    unit->globals = keep(compiler, compiler->globals.items, compiler->globals.n,
                         sizeof *unit->globals);
    unit->codes =
        keep(compiler, compiler->codes.items, compiler->codes.n, sizeof *unit->codes);
    unit->calls =
        keep(compiler, compiler->calls.items, compiler->calls.n, sizeof *unit->calls);
}

static void compile_unit(struct compiler *compiler, const struct syntax *program)
{
    struct emitter emitter;
    struct scope *scope = scope_program(compiler, program);
    if (!scope || compiler->failed)
        return;
    function_begin(compiler, &emitter, scope, NULL);
    compile_program(compiler, program);
    compiler->unit->main = function_end(compiler, "<program>");
    if (!compiler->failed)
        unit_finish(compiler, program);
}

static struct unit *unit_new(const char *source, size_t bytes, bool is_prelude)
{
    struct arena arena;
    if (!arena_open(&arena))
        return NULL;
    struct unit *unit = arena_take(&arena, sizeof *unit);
    char *text = arena_take(&arena, bytes + 1);
    if (!unit || !text) {
        arena_close(&arena);
        return NULL;
    }
    memset(unit, 0, sizeof *unit);
    if (bytes > 0)
        memcpy(text, source, bytes);
    text[bytes] = '\0';
    unit->arena = arena;
    atomic_store_explicit(&unit->references, 1, memory_order_relaxed);
    unit->is_prelude = is_prelude;
    unit->source = text;
    unit->source_bytes = bytes;
    return unit;
}

static enum status compile_tree(const char *source, size_t bytes, bool is_prelude,
                                struct arena *tree, struct code **out,
                                struct problem *problem)
{
    struct syntax *program;
    enum status status =
        parse_program(source, bytes, is_prelude, tree, &program, problem);
    if (status != STATUS_OK)
        return status;
    struct unit *unit = unit_new(source, bytes, is_prelude);
    if (!unit)
        return problem_set(problem, STATUS_OUT_OF_MEMORY, "memory ran out");
    struct compiler compiler = {.tree = tree, .unit = unit, .problem = problem};
    compile_unit(&compiler, program);
    if (compiler.failed) {
        struct arena arena = unit->arena; // the unit lies in it
        arena_close(&arena);
        return problem->status;
    }
    *out = unit->main;
    return STATUS_OK;
}

enum status program_compile(const char *source, size_t bytes, bool is_prelude,
                            struct code **out, struct problem *problem)
{
    struct arena tree;
    if (bytes > UINT32_MAX / 2)
        return problem_set(problem, STATUS_LIMIT, "the program is too long");
    if (!arena_open(&tree))
        return problem_set(problem, STATUS_OUT_OF_MEMORY, "memory ran out");
    enum status status = compile_tree(source, bytes, is_prelude, &tree, out, problem);
    arena_close(&tree);
    return status;
}
