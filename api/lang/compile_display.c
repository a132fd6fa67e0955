// SPDX-License-Identifier: Apache-2.0
// Displays and f-strings. Long ones are made in pieces of DISPLAY_CHUNK, so that the
// height of the stack does not follow the length of the source. Any thread.
#include "api/lang/compile_internal.h"

// A container that exists, and values above it that are not in it yet.
struct pending {
    enum opcode add, extend;
    int count;     // pending
    int per_value; // stack places of one: 2 in a dict
};

static void add_pending(struct compiler *compiler, struct pending *pending)
{
    if (pending->count > 0)
        emit_effect(compiler, pending->add, (uint32_t)pending->count,
                    -pending->count * pending->per_value, NULL);
    pending->count = 0;
}

static void add_one(struct compiler *compiler, struct pending *pending)
{
    if (++pending->count == DISPLAY_CHUNK)
        add_pending(compiler, pending);
}

static bool is_simple(const struct syntax_list *elements)
{
    for (int i = 0; i < elements->count; i++)
        if (elements->items[i]->kind == SYNTAX_STARRED)
            return false;
    return elements->count <= DISPLAY_CHUNK;
}

// Pushes all elements for an instruction that takes them at once; or begins an empty
// container and adds them piece by piece: false.
static bool compile_elements(struct compiler *compiler, const struct syntax *node,
                             enum opcode begin, enum opcode add, enum opcode extend)
{
    const struct syntax_list *elements = &node->elements;
    bool simple = is_simple(elements);
    struct pending pending = {add, extend, 0, 1};
    if (!simple)
        emit_effect(compiler, begin, 0, 1, &node->place);
    for (int i = 0; i < elements->count && !compiler->failed; i++) {
        const struct syntax *element = elements->items[i];
        if (element->kind != SYNTAX_STARRED) {
            compile_expression(compiler, element);
            if (!simple)
                add_one(compiler, &pending);
            continue;
        }
        add_pending(compiler, &pending);
        compile_expression(compiler, element->value);
        emit(compiler, extend, EXTEND_DISPLAY, &element->place);
    }
    add_pending(compiler, &pending);
    return simple;
}

void compile_list(struct compiler *compiler, const struct syntax *node)
{
    int count = node->elements.count;
    if (compile_elements(compiler, node, OPCODE_list, OPCODE_list_add, OPCODE_extend))
        emit_effect(compiler, OPCODE_list, (uint32_t)count, 1 - count, &node->place);
}

void compile_tuple(struct compiler *compiler, const struct syntax *node)
{
    int count = node->elements.count;
    if (compile_elements(compiler, node, OPCODE_list, OPCODE_list_add, OPCODE_extend))
        emit_effect(compiler, OPCODE_tuple, (uint32_t)count, 1 - count, &node->place);
    else
        emit(compiler, OPCODE_list_to_tuple, 0, &node->place);
}

void compile_set(struct compiler *compiler, const struct syntax *node)
{
    int count = node->elements.count;
    if (compile_elements(compiler, node, OPCODE_set, OPCODE_set_add, OPCODE_set_extend))
        emit_effect(compiler, OPCODE_set, (uint32_t)count, 1 - count, &node->place);
}

void compile_dict(struct compiler *compiler, const struct syntax *node)
{
    struct pending pending = {OPCODE_dict_add, OPCODE_dict_extend, 0, 2};
    emit_effect(compiler, OPCODE_dict, 0, 1, &node->place);
    for (int i = 0; i < node->dict.count && !compiler->failed; i++) {
        const struct syntax *value = node->dict.values[i];
        if (node->dict.keys[i]) {
            compile_expression(compiler, node->dict.keys[i]);
            compile_expression(compiler, value);
            add_one(compiler, &pending);
            continue;
        }
        add_pending(compiler, &pending);
        compile_expression(compiler, value);
        emit(compiler, OPCODE_dict_extend, 0, &value->place);
    }
    // An unhashable key is told at the display, as the last thing it does.
    if (pending.count > 0)
        emit_effect(compiler, OPCODE_dict_add, (uint32_t)pending.count,
                    -2 * pending.count, &node->place);
}

// ---- f-strings

static void compile_format(struct compiler *compiler, const struct syntax *node)
{
    uint32_t conversion = node->format.conversion == 's'   ? 1
                          : node->format.conversion == 'r' ? 2
                          : node->format.conversion == 'a' ? 3
                                                           : 0;
    compile_expression(compiler, node->format.value);
    if (conversion > 0 || !node->format.spec)
        emit_effect(compiler, OPCODE_format, conversion, 0, &node->place);
    if (node->format.spec) {
        compile_expression(compiler, node->format.spec);
        emit_effect(compiler, OPCODE_format, 4, -1, &node->place);
    }
}

void compile_fstring(struct compiler *compiler, const struct syntax *node)
{
    const struct syntax_list *elements = &node->elements;
    if (elements->count == 0)
        emit_text(compiler, "", 0);
    int pending = 0;
    for (int i = 0; i < elements->count && !compiler->failed; i++) {
        const struct syntax *element = elements->items[i];
        if (element->kind == SYNTAX_FORMAT)
            compile_format(compiler, element);
        else
            compile_expression(compiler, element);
        if (++pending == DISPLAY_CHUNK) {
            emit_effect(compiler, OPCODE_join, (uint32_t)pending, 1 - pending,
                        &node->place);
            pending = 1;
        }
    }
    if (pending > 1)
        emit_effect(compiler, OPCODE_join, (uint32_t)pending, 1 - pending, &node->place);
}
