// SPDX-License-Identifier: Apache-2.0
// The prelude: builtins written in the language (prelude_source.c), and the table of all
// builtins. Compiled once by vm_initialize; immutable after it, read by every thread.
#ifndef TENSORD_API_LANG_PRELUDE_H
#define TENSORD_API_LANG_PRELUDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/lang/value.h"

extern const char prelude_source[];
extern const size_t prelude_source_bytes;

struct unit;
struct global;
enum status prelude_initialize(struct problem *problem);
void prelude_finalize(void);
// The prelude's own names, resolved; NULL while it is being compiled.
struct global **prelude_globals(void);
// A method of a built-in type that is written in the language: list.sort. *function is
// borrowed (immortal), an OBJECT_FUNCTION whose first parameter is self.
bool prelude_method(enum type type, const char *name, size_t length,
                    struct value *function);

// ---- prelude_table.c: natives, types and the prelude's functions, by name.
enum status builtins_initialize(struct heap *heap, struct problem *problem);
// What a name means without any program, or ABSENT. Borrowed (all are immortal).
struct value builtin_find(const char *name, size_t length, uint64_t hash);
bool builtin_add(const char *name, size_t length, uint64_t hash, struct value value);
// Names that begin with an underscore are the prelude's: from now on they are not found.
void builtins_close(void);
struct nearest;
void builtins_offer(struct nearest *nearest); // every name there is NULL: none.
const char *builtin_nearest(const char *name, size_t length, int *distance);
#endif
