// SPDX-License-Identifier: Apache-2.0
// Source text to syntax tree. A pure function, linear in the length of the source; any
// thread.
#ifndef TENSORD_API_LANG_PARSER_H
#define TENSORD_API_LANG_PARSER_H

#include "api/lang/syntax.h"
#include "kernels/base/problem.h"
#include "tensor/arena.h"

// *out is a SYNTAX_MODULE whose tree lies in the arena (so does what a failure leaves;
// the arena is the caller's). source need not be terminated, and the tree does not point
// into it. is_prelude allows `yield` as a statement of a function, and dunder names.
// STATUS_SYNTAX; STATUS_LIMIT (nested deeper than PROGRAM_MAX_NESTING); STATUS_OVERFLOW
// (an integer beyond 2^64-1); STATUS_OUT_OF_MEMORY. Line, column and, in detail, the
// offending text are filled.
enum status parse_program(const char *source, size_t bytes, bool is_prelude,
                          struct arena *arena, struct syntax **out,
                          struct problem *problem);
// Cuts the text of a place for a message: the first line of it, at most 40 characters,
// then
// "...". Writes at most size bytes with the terminator, whole characters only.
void syntax_excerpt(const char *source, size_t bytes, struct syntax_place place,
                    char *text, size_t size);
#endif
