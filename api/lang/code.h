// SPDX-License-Identifier: Apache-2.0
// Compiled programs: a unit is what one program was compiled to, a code one of its
// functions (or its top level). Everything lies in the unit's arena and never changes
// after program_compile; references count for the whole unit, atomically, since functions
// are kept by name and shared by the threads that run them.
//
// Constants are immortal objects inside the unit: a value that points to one lives as
// long as the unit does. Names are immortal strings whose hash has been computed.
#ifndef TENSORD_API_LANG_CODE_H
#define TENSORD_API_LANG_CODE_H

#include <stdatomic.h>

#include "api/lang/program.h"
#include "api/lang/value.h"
#include "tensor/arena.h"

enum opcode {
#define OPCODE(name, effect, doc) OPCODE_##name,
#include "api/lang/opcodes.def"
#undef OPCODE
    OPCODE_COUNT
};
enum { CODE_MAX_ARGUMENT = (1 << 24) - 1, CODE_MAX_INTEGER = (1 << 23) - 1 };
// What EXTEND's iterable is, for the text of its failure.
enum extend_use { EXTEND_DISPLAY, EXTEND_CALL };
enum function_parts {
    FUNCTION_DEFAULTS = 1,
    FUNCTION_KEYWORDS = 2,
    FUNCTION_CLOSURE = 4
};

static inline uint32_t instruction_make(enum opcode opcode, uint32_t argument)
{
    return (uint32_t)opcode | argument << 8;
}

// Where in the source the instructions from `instruction` on (up to the next position)
// are.
struct code_position {
    int32_t instruction, line, column;
    uint32_t start, end;
};
// The arguments of a CALL_NAMED: so many by position, then one for each name.
struct code_call {
    int32_t n_positional, n_named;
    struct string *const *names;
};

struct unit;
struct code {
    struct unit *unit;
    const struct string *name;      // "f"
    const struct string *qualified; // "outer.<locals>.f", for messages
    int32_t n_instructions, n_positions;
    const uint32_t *instructions;
    const struct code_position *positions;
    // Slots: the parameters in the order of the signature (positional ones, keyword-only
    // ones, *rest, **keywords), other variables, then the closure's boxes.
    int32_t n_slots, stack_size, first_free, n_free;
    struct string *const *slot_names;                        // NULL for a nameless one
    int32_t n_positional_only, n_positional, n_keyword_only; // positional: all of them
    bool has_rest, has_keywords;
    bool is_producer; // a call makes a generator
};

struct unit {
    _Atomic int64_t references;
    struct arena arena;
    bool is_prelude;
    const char *source;
    size_t source_bytes;
    struct code *main;
    int32_t n_constants, n_names, n_globals, n_codes, n_calls;
    const struct value *constants;
    struct string *const *names;   // of attributes
    struct string *const *globals; // global names
    struct code *const *codes;
    const struct code_call *calls;
    struct program_facts facts;
};

static inline const char *code_name(const struct code *code)
{
    return code->name->text;
}
static inline bool code_is_prelude(const struct code *code)
{
    return code->unit->is_prelude;
}
// The position of an instruction, or NULL if there is none.
const struct code_position *code_position(const struct code *code, int64_t instruction);
// A string in the unit's arena: immortal, hash computed. NULL when memory is out.
struct string *unit_string(struct unit *unit, const char *text, size_t bytes);
// Writes the instructions as text, for tests and for reading.
struct text;
void code_disassemble(const struct code *code, struct text *text);
#endif
