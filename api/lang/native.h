// SPDX-License-Identifier: Apache-2.0
// Functions of the language that are written in C, and how they are called.
//
// A native gets its arguments in slots, one per parameter of its signature, bound by the
// virtual machine; absent optional ones are VALUE_ABSENT. It returns a new reference in
// *result. It must not call back into the program: whatever calls functions of the program
// (map, sorted with a key) is written in the language itself (prelude).
//
// Waiting. A native that needs the elements of a tensor (item, print, bool) asks vm_host; if
// they are not there yet it returns OUTCOME_WAIT, having changed nothing. The machine has
// the values computed, perhaps on another thread, and calls the native again with the same
// arguments. So: first look at everything, then act.
//
// Signatures: names separated by ", "; "=" after a name makes it optional; "*" alone starts
// keyword-only ones, "/" ends positional-only ones; "*name" gets a tuple of the rest, "**name"
// a dict; "~" before a name says that the argument is iterated: a producer (generator
// expression, map, zip) given there is drained to a list before the call. The first
// parameter of a method is self. "self, ~iterable=, /, *, key=".
#ifndef TENSORD_API_LANG_NATIVE_H
#define TENSORD_API_LANG_NATIVE_H

#include "api/lang/value.h"

enum outcome {
    OUTCOME_OK,
    OUTCOME_ERROR, // vm's problem is set
    OUTCOME_WAIT,  // call again when the cells have been flushed
};
typedef enum outcome native_function(struct vm *vm, struct value *slots,
                                     struct value *result);
enum { NATIVE_MAX_SLOTS = 16 };
struct signature; // call.c
struct native {
    const char *name;
    const char *signature;
    native_function *function;
    _Atomic(const struct signature *) parsed; // at the first call; start with nothing
};
// A table of natives ends with a NULL name. Tables are static and not const.
struct native *native_find(struct native *table, const char *name, size_t length);

// ---- What natives ask of the machine (vm.c)
struct heap *vm_heap(struct vm *vm);
struct cells *vm_cells(struct vm *vm);
struct problem *vm_problem(struct vm *vm);
const struct vm_options *vm_options(const struct vm *vm);
// Sets the problem; the machine adds line, column and the offending text. Always
// OUTCOME_ERROR.
enum outcome vm_raise(struct vm *vm, enum status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
// OK or ERROR (the problem has been filled already).
static inline enum outcome outcome_of(enum status status)
{
    return status == STATUS_OK ? OUTCOME_OK : OUTCOME_ERROR;
}
// Counts work that one instruction does beyond the usual (elements copied, characters made)
// as steps, so that no native runs unbounded: OUTCOME_ERROR with STATUS_LIMIT at the limit.
// To be called before the work, with what it will cost in units of about 10 ns.
enum outcome vm_spend(struct vm *vm, int64_t units);

// The elements of a tensor, C-contiguous on the host, as a tensor borrowed until the native
// returns. OUTCOME_WAIT if they must be computed or copied first: the need is noted, and one
// WAIT serves all needs noted before it.
struct tensor;
enum outcome vm_host(struct vm *vm, struct lazy *lazy, struct tensor **out);
// A line was printed (without the newline that ends it): goes to the answer. Text may hold
// several lines or, with print's end=, a part of one.
enum outcome vm_print(struct vm *vm, const char *text, size_t bytes);
// Whether gradients are off (torch.no_grad()).
bool vm_grad_enabled(const struct vm *vm);
#endif
