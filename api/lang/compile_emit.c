// SPDX-License-Identifier: Apache-2.0
// Instructions as they are made: the height of the stack, positions, jumps. Any thread.
#include <string.h>

#include "api/lang/compile_internal.h"

enum { VARIES = 100 };
static const int8_t effects[] = {
#define OPCODE(name, effect, doc) effect,
#include "api/lang/opcodes.def"
#undef OPCODE
};

static bool room(struct compiler *compiler, void **items, int32_t n, int32_t *capacity,
                 size_t size)
{
    struct array array = {*items, n, *capacity};
    if (!array_grow(compiler, &array, size))
        return false;
    *items = array.items;
    *capacity = array.capacity;
    return true;
}

static void note_position(struct compiler *compiler, const struct syntax_place *place)
{
    struct emitter *emitter = compiler->emitter;
    const struct code_position *last =
        emitter->n_positions > 0 ? &emitter->positions[emitter->n_positions - 1] : NULL;
    if (last && last->start == place->start && last->end == place->end)
        return;
    void *items = emitter->positions;
    if (!room(compiler, &items, emitter->n_positions, &emitter->positions_capacity,
              sizeof *emitter->positions))
        return;
    emitter->positions = items;
    emitter->positions[emitter->n_positions++] = (struct code_position){
        emitter->n, place->line, place->column, place->start, place->end};
}

void emit_height(struct compiler *compiler, int height)
{
    struct emitter *emitter = compiler->emitter;
    emitter->height = height;
    if (height > emitter->most)
        emitter->most = height;
}

void emit_effect(struct compiler *compiler, enum opcode opcode, uint32_t argument,
                 int effect, const struct syntax_place *place)
{
    struct emitter *emitter = compiler->emitter;
    if (compiler->failed)
        return;
    if (argument > CODE_MAX_ARGUMENT || emitter->n >= CODE_MAX_ARGUMENT) {
        compile_fail(compiler, STATUS_LIMIT,
                     "the program is too large: too many names, constants or jumps");
        return;
    }
    void *items = emitter->instructions;
    if (!room(compiler, &items, emitter->n, &emitter->capacity, sizeof(uint32_t)))
        return;
    emitter->instructions = items;
    if (place)
        note_position(compiler, place);
    emitter->instructions[emitter->n++] = instruction_make(opcode, argument);
    emit_height(compiler, emitter->height + effect);
}

void emit(struct compiler *compiler, enum opcode opcode, uint32_t argument,
          const struct syntax_place *place)
{
    emit_effect(compiler, opcode, argument, effects[opcode], place);
}

int32_t emit_here(const struct compiler *compiler)
{
    return compiler->emitter->n;
}

int32_t emit_jump(struct compiler *compiler, enum opcode opcode,
                  const struct syntax_place *place)
{
    emit(compiler, opcode, 0, place);
    return compiler->emitter->n - 1;
}

void patch(struct compiler *compiler, int32_t instruction)
{
    struct emitter *emitter = compiler->emitter;
    if (!compiler->failed)
        emitter->instructions[instruction] |= (uint32_t)emitter->n << 8;
}

void jumps_add(struct compiler *compiler, struct jump **jumps, int32_t instruction)
{
    struct jump *jump = compile_take(compiler, sizeof *jump);
    if (!jump)
        return;
    *jump = (struct jump){*jumps, instruction};
    *jumps = jump;
}

void jumps_patch(struct compiler *compiler, struct jump *jumps)
{
    for (; jumps; jumps = jumps->next)
        patch(compiler, jumps->instruction);
}
