// SPDX-License-Identifier: Apache-2.0
// Names, and what can stand on the left of an assignment. Any thread.
#include "api/lang/compile_internal.h"

static struct symbol *resolve(struct compiler *compiler, const struct syntax_name *name)
{
    return scope_resolve(compiler, compiler->emitter->host, name);
}

void compile_load_name(struct compiler *compiler, const struct syntax_name *name,
                       const struct syntax_place *place)
{
    const struct symbol *symbol = resolve(compiler, name);
    if (!symbol)
        emit(compiler, OPCODE_global, global_number(compiler, name), place);
    else
        emit(compiler, symbol->boxed ? OPCODE_boxed : OPCODE_local,
             (uint32_t)symbol->slot, place);
}

void compile_store_name(struct compiler *compiler, const struct syntax_name *name,
                        const struct syntax_place *place)
{
    const struct symbol *symbol = resolve(compiler, name);
    if (!symbol)
        emit(compiler, OPCODE_set_global, global_number(compiler, name), place);
    else
        emit(compiler, symbol->boxed ? OPCODE_set_boxed : OPCODE_set_local,
             (uint32_t)symbol->slot, place);
}

static void delete_name(struct compiler *compiler, const struct syntax *target)
{
    const struct symbol *symbol = resolve(compiler, target->name);
    if (!symbol)
        emit(compiler, OPCODE_delete_global, global_number(compiler, target->name),
             &target->place);
    else
        emit(compiler, symbol->boxed ? OPCODE_delete_boxed : OPCODE_delete_local,
             (uint32_t)symbol->slot, &target->place);
}

// ---- Stores

enum { UNPACK_MAX = 4095 };

static void compile_unpack(struct compiler *compiler, const struct syntax *target)
{
    const struct syntax_list *elements = &target->elements;
    int star = -1, n = elements->count;
    for (int i = 0; i < n; i++)
        if (elements->items[i]->kind == SYNTAX_STARRED)
            star = i;
    if (star >= 0 && (star > UNPACK_MAX || n - 1 - star > UNPACK_MAX)) {
        compile_fail(compiler, STATUS_LIMIT, "too many targets beside a starred one");
        return;
    }
    if (star < 0) {
        // The items lie above the iterable for a moment.
        emit_height(compiler, compiler->emitter->height + n + 1);
        emit_height(compiler, compiler->emitter->height - n - 1);
        emit_effect(compiler, OPCODE_unpack, (uint32_t)n, n - 1, &target->place);
    } else {
        emit_effect(compiler, OPCODE_unpack_rest,
                    (uint32_t)star | (uint32_t)(n - 1 - star) << 12, n - 1,
                    &target->place);
    }
    for (int i = 0; i < n; i++)
        compile_store(compiler,
                      i == star ? elements->items[i]->value : elements->items[i]);
}

void compile_store(struct compiler *compiler, const struct syntax *target)
{
    if (compiler->failed)
        return;
    switch ((enum syntax_kind)target->kind) {
    case SYNTAX_NAME:
        compile_store_name(compiler, target->name, &target->place);
        break;
    case SYNTAX_ATTRIBUTE:
        compile_expression(compiler, target->attribute.object);
        emit(compiler, OPCODE_set_attribute,
             attribute_number(compiler, target->attribute.name), &target->place);
        break;
    case SYNTAX_INDEX:
        compile_expression(compiler, target->index.object);
        compile_expression(compiler, target->index.key);
        emit(compiler, OPCODE_set_index, 0, &target->place);
        break;
    default: // TUPLE, LIST
        compile_unpack(compiler, target);
    }
}

// ---- Statements

static bool has_star(const struct syntax_list *elements)
{
    for (int i = 0; i < elements->count; i++)
        if (elements->items[i]->kind == SYNTAX_STARRED)
            return true;
    return false;
}

// a, b = b, a: two or three values change places without a tuple.
static bool compile_exchange(struct compiler *compiler, const struct syntax *target,
                             const struct syntax *value)
{
    int n = target->kind == SYNTAX_TUPLE ? target->elements.count : 0;
    if (n < 2 || n > 3 || value->kind != SYNTAX_TUPLE || value->elements.count != n ||
        has_star(&target->elements) || has_star(&value->elements))
        return false;
    for (int i = 0; i < n; i++)
        compile_expression(compiler, value->elements.items[i]);
    emit(compiler, OPCODE_swap, (uint32_t)n, NULL);
    for (int i = 0; i < n; i++)
        compile_store(compiler, target->elements.items[i]);
    return true;
}

void compile_assign(struct compiler *compiler, const struct syntax *statement)
{
    const struct syntax_list *targets = &statement->assign.targets;
    const struct syntax *value = statement->assign.value;
    if (targets->count == 1 && compile_exchange(compiler, targets->items[0], value))
        return;
    compile_expression(compiler, value);
    for (int i = 0; i < targets->count; i++) {
        if (i + 1 < targets->count)
            emit(compiler, OPCODE_copy, 1, NULL);
        compile_store(compiler, targets->items[i]);
    }
}

void compile_augmented(struct compiler *compiler, const struct syntax *statement)
{
    const struct syntax *target = statement->augmented.target,
                        *value = statement->augmented.value;
    enum syntax_operator op = statement->augmented.op;
    const struct syntax_place *place = &statement->place;
    if (target->kind == SYNTAX_NAME) {
        compile_load_name(compiler, target->name, &target->place);
        compile_expression(compiler, value);
        compile_operator(compiler, op, true, place);
        compile_store_name(compiler, target->name, &target->place);
    } else if (target->kind == SYNTAX_ATTRIBUTE) {
        uint32_t name = attribute_number(compiler, target->attribute.name);
        compile_expression(compiler, target->attribute.object);
        emit(compiler, OPCODE_copy, 1, NULL);
        emit(compiler, OPCODE_attribute, name, &target->place);
        compile_expression(compiler, value);
        compile_operator(compiler, op, true, place);
        emit(compiler, OPCODE_swap, 2, NULL);
        emit(compiler, OPCODE_set_attribute, name, &target->place);
    } else {
        compile_expression(compiler, target->index.object);
        compile_expression(compiler, target->index.key);
        emit(compiler, OPCODE_copy, 2, NULL);
        emit(compiler, OPCODE_copy, 2, NULL);
        emit(compiler, OPCODE_index, 0, &target->place);
        compile_expression(compiler, value);
        compile_operator(compiler, op, true, place);
        emit(compiler, OPCODE_swap, 3, NULL); // object key value -> value key object
        emit(compiler, OPCODE_swap, 2, NULL);
        emit(compiler, OPCODE_set_index, 0, &target->place);
    }
}

// Without a value the parts of the target are still evaluated, and, at the top level, the
// annotation, last.
void compile_annotated(struct compiler *compiler, const struct syntax *statement)
{
    const struct syntax *target = statement->annotated.target,
                        *value = statement->annotated.value;
    if (value) {
        compile_expression(compiler, value);
        compile_store(compiler, target);
    } else if (target->kind == SYNTAX_ATTRIBUTE) {
        compile_expression(compiler, target->attribute.object);
        emit(compiler, OPCODE_pop, 0, NULL);
    } else if (target->kind == SYNTAX_INDEX) {
        compile_expression(compiler, target->index.object);
        emit(compiler, OPCODE_pop, 0, NULL);
        compile_expression(compiler, target->index.key);
        emit(compiler, OPCODE_pop, 0, NULL);
    }
    if (compiler->emitter->host->kind == SCOPE_PROGRAM) {
        compile_expression(compiler, statement->annotated.annotation);
        emit(compiler, OPCODE_pop, 0, NULL);
    }
}

void compile_delete(struct compiler *compiler, const struct syntax *target)
{
    switch ((enum syntax_kind)target->kind) {
    case SYNTAX_NAME:
        delete_name(compiler, target);
        break;
    case SYNTAX_INDEX:
        compile_expression(compiler, target->index.object);
        compile_expression(compiler, target->index.key);
        emit(compiler, OPCODE_delete_index, 0, &target->place);
        break;
    case SYNTAX_ATTRIBUTE:
        compile_expression(compiler, target->attribute.object);
        emit(compiler, OPCODE_delete_attribute,
             attribute_number(compiler, target->attribute.name), &target->place);
        break;
    default: // TUPLE, LIST
        for (int i = 0; i < target->elements.count; i++)
            compile_delete(compiler, target->elements.items[i]);
    }
}
