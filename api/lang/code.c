// SPDX-License-Identifier: Apache-2.0
// The life of compiled code; positions; strings of a unit; a listing for readers. Any
// thread.
#include "api/lang/code.h"

#include <string.h>

#include "api/lang/container.h"
#include "api/text.h"

struct code *code_reference(struct code *code)
{
    atomic_fetch_add_explicit(&code->unit->references, 1, memory_order_relaxed);
    return code;
}

void code_release(struct code *code)
{
    if (!code)
        return;
    struct unit *unit = code->unit;
    if (atomic_fetch_sub_explicit(&unit->references, 1, memory_order_acq_rel) == 1) {
        struct arena arena = unit->arena;
        arena_close(&arena);
    }
}

const struct program_facts *program_facts(const struct code *program)
{
    return &program->unit->facts;
}

const struct code_position *code_position(const struct code *code, int64_t instruction)
{
    int32_t low = 0, high = code->n_positions;
    while (low < high) { // the first position behind the instruction
        int32_t middle = low + (high - low) / 2;
        if (code->positions[middle].instruction <= instruction)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 ? &code->positions[low - 1] : NULL;
}

struct string *unit_string(struct unit *unit, const char *text, size_t bytes)
{
    struct string *string = arena_take(&unit->arena, sizeof *string + bytes + 1);
    if (!string)
        return NULL;
    memset(string, 0, sizeof *string);
    string->object.kind = OBJECT_STRING;
    string->object.immortal = true;
    string->object.references = 1;
    string->bytes = (int64_t)bytes;
    if (bytes > 0)
        memcpy(string->text, text, bytes);
    string->text[bytes] = '\0';
    string_finish(string);
    // Computed now: later, threads that share the string would write it at the same time.
    struct problem problem;
    uint64_t hash;
    return value_hash(value_of(string), &hash, &problem) == STATUS_OK ? string : NULL;
}

static const char *const opcode_names[] = {
#define OPCODE(name, effect, doc) #name,
#include "api/lang/opcodes.def"
#undef OPCODE
};

void code_disassemble(const struct code *code, struct text *text)
{
    for (int32_t i = 0; i < code->n_instructions; i++) {
        uint32_t instruction = code->instructions[i];
        text_integer(text, i);
        text_literal(text, " ");
        text_string(text, opcode_names[instruction & 0xFF]);
        text_literal(text, " ");
        text_integer(text, instruction >> 8);
        text_literal(text, "\n");
    }
}
