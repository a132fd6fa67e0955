// SPDX-License-Identifier: Apache-2.0
// From source text to code: lexer -> parser (syntax.h) -> compiler -> struct code, plus what
// can be said about a program without running it (its facts), from which the order of
// requests follows. Pure functions; any thread.
#ifndef TENSORD_API_LANG_PROGRAM_H
#define TENSORD_API_LANG_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>

#include "kernels/base/problem.h"

enum { PROGRAM_MAX_NESTING = 200 };

// Fewer levels from now on (1 to PROGRAM_MAX_NESTING). Once, before there are threads.
void program_set_max_nesting(int levels);
int program_max_nesting(void);

struct code; // immutable, counted atomically: functions that are stored keep their own
struct code *code_reference(struct code *code);
void code_release(struct code *code); // NULL is ignored

// Compiles a program (or, for the prelude, a part of the language itself, in which `yield` is
// allowed). source need not be terminated and is borrowed for the call: code keeps what it
// needs, its source text included (functions that are stored go on reporting lines of it).
// STATUS_SYNTAX with line, column and the offending text in detail; STATUS_LIMIT (nesting,
// too many constants, names or jumps).
enum status program_compile(const char *source, size_t bytes, bool is_prelude,
                            struct code **out, struct problem *problem);

// What a program touches. Strings live as long as the code. A name that is assigned in the
// program before any use still counts as read, unless that is certain.
struct program_facts {
    int n_reads;
    const char *const *reads; // global names loaded anywhere, nested functions included
    int n_writes;
    const char *const *writes; // names assigned or deleted at top level
    int n_tensors;
    const char *const *tensors; // constant arguments of tensor("...")
    bool dynamic;               // tensor() is used in any other way
    int n_attributes;
    const char *const *attributes; // names after a dot, each once
    bool writes_elements; // may write a tensor in place: an augmented assignment, an
                          // assignment to an index or attribute, or an attribute whose name
                          // ends in "_" (add_); dunders do not count
    bool loops;                    // has a loop, a comprehension or a function
    int n_statements;              // at top level
    bool ends_in_expression;
};
const struct program_facts *program_facts(const struct code *program);
#endif
