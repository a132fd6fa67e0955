// SPDX-License-Identifier: Apache-2.0
// What a program touches, found in the first walk (program.h). Any thread.
#include <string.h>

#include "api/lang/compile_internal.h"

// Nobody's tensors have these names (DESIGN: names).
static bool is_reserved(const struct syntax_name *name)
{
    static const char *const words[] = {"torch", "np", "nn", "F"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i], name->text) == 0)
            return true;
    return false;
}

void facts_read(struct compiler *compiler, const struct syntax_name *name)
{
    struct name_info *info = name_of(compiler, name);
    if (info && !info->is_certain && !is_reserved(name))
        info->is_read = true;
}

// Assigned for certain: at the top level, where nothing can lead around it. Then every
// later use finds the program's own.
void facts_write(struct compiler *compiler, const struct syntax_name *name)
{
    struct name_info *info = name_of(compiler, name);
    if (!info)
        return;
    info->is_written = true;
    if (compiler->conditional == 0)
        info->is_certain = true;
}

void facts_attribute(struct compiler *compiler, const struct syntax_name *name)
{
    struct name_info *info = name_of(compiler, name);
    if (info)
        info->is_attribute = true;
    if (name->bytes > 1 && name->text[name->bytes - 1] == '_' && name->text[0] != '_')
        compiler->unit->facts.writes_elements = true; // add_
}

bool facts_is_tensor(const struct syntax_name *name)
{
    return name->bytes == 6 && memcmp(name->text, "tensor", 6) == 0;
}

void facts_call(struct compiler *compiler, const struct syntax *call)
{
    const struct syntax_argument *first = call->call.arguments;
    if (call->call.count == 0)
        return; // fails when it runs
    if (first->kind != SYNTAX_ARGUMENT_POSITIONAL) {
        compiler->unit->facts.dynamic = true;
        return;
    }
    switch ((enum syntax_kind)first->value->kind) {
    case SYNTAX_LIST: // elements, never a name
    case SYNTAX_TUPLE:
    case SYNTAX_LIST_COMPREHENSION:
    case SYNTAX_INT:
    case SYNTAX_FLOAT:
    case SYNTAX_TRUE:
    case SYNTAX_FALSE:
    case SYNTAX_UNARY:
        return;
    case SYNTAX_STRING:
        break;
    default:
        compiler->unit->facts.dynamic = true;
        return;
    }
    if (!array_grow(compiler, &compiler->tensors, sizeof(struct string *)))
        return;
    struct string **items = compiler->tensors.items;
    struct string *name = unit_string(compiler->unit, first->value->string.text,
                                      first->value->string.bytes);
    if (name)
        items[compiler->tensors.n++] = name;
    else
        compile_fail(compiler, STATUS_OUT_OF_MEMORY, "memory ran out");
}

// ---- The lists

static bool has(const struct name_info *info, int which)
{
    return which == 0   ? info->is_read
           : which == 1 ? info->is_written
                        : info->is_attribute;
}

static const char *const *list(struct compiler *compiler, int which, int *count)
{
    int n = 0;
    for (uint32_t i = 0; i < compiler->n_named; i++)
        n += compiler->names[i].name && has(&compiler->names[i], which);
    const char **texts =
        arena_take(&compiler->unit->arena, ((size_t)n + 1) * sizeof *texts);
    if (!texts) {
        compile_fail(compiler, STATUS_OUT_OF_MEMORY, "memory ran out");
        return NULL;
    }
    *count = 0;
    for (uint32_t i = 0; i < compiler->n_named; i++)
        if (compiler->names[i].name && has(&compiler->names[i], which)) {
            struct string *string = name_string(compiler, compiler->names[i].name);
            texts[(*count)++] = string ? string->text : "";
        }
    return texts;
}

void facts_finish(struct compiler *compiler, const struct syntax *program)
{
    struct program_facts *facts = &compiler->unit->facts;
    facts->reads = list(compiler, 0, &facts->n_reads);
    facts->writes = list(compiler, 1, &facts->n_writes);
    facts->attributes = list(compiler, 2, &facts->n_attributes);
    int n = compiler->tensors.n;
    const char **tensors =
        arena_take(&compiler->unit->arena, ((size_t)n + 1) * sizeof *tensors);
    if (!tensors) {
        compile_fail(compiler, STATUS_OUT_OF_MEMORY, "memory ran out");
        return;
    }
    for (int i = 0; i < n; i++)
        tensors[i] = ((struct string **)compiler->tensors.items)[i]->text;
    facts->tensors = tensors;
    facts->n_tensors = n;
    facts->n_statements = program->body.count;
    facts->ends_in_expression =
        program->body.count > 0 &&
        program->body.items[program->body.count - 1]->kind == SYNTAX_EXPRESSION;
}
