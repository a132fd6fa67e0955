// SPDX-License-Identifier: Apache-2.0
// The virtual machine: runs a program's code on a stack of its own on the heap, so that it
// stops and goes on between any two instructions, on whatever thread.
//
// vm_run goes on until its budget of steps is used up (MORE), until elements of tensors are
// needed (WAIT: the caller flushes the cells, then calls vm_run again), or to the end. Nothing
// outside the program changes: the caller takes the results and commits them.
// Names. A global name is looked up among the program's own, then the user's (lookup), then
// Python's builtins and the prelude, then torch_bare_name. Assignments make the program's own.
// Threads: one at a time.
#ifndef TENSORD_API_LANG_VM_H
#define TENSORD_API_LANG_VM_H

#include "api/lang/native.h"
#include "api/lang/program.h"
#include "api/text.h"

enum { VM_MAX_FRAMES = 1000 };

struct vm_options {
    struct heap *heap;
    struct cells *cells;
    int64_t max_steps;
    int64_t max_print; // bytes of printed lines
    // The user's value of a name (a new reference), or ABSENT. Called once a name and program;
    // the machine keeps the value among the program's own. Errors are problems.
    enum status (*lookup)(void *context, struct vm *vm, const char *name, size_t length,
                          struct value *out, struct problem *problem);
    // torch.cuda.empty_cache() was called: the devices' cached memory should go back (by their
    // workers). May be NULL.
    void (*empty_cache)(void *context);
    // The user's name nearest to one that does not exist, or NULL; may be NULL itself. The
    // text lives as long as the context.
    const char *(*nearest)(void *context, const char *name);
    void *context;
};
enum vm_state {
    VM_MORE,
    VM_WAIT,
    VM_DONE,
    VM_FAILED, // vm_problem says why
};

// Compiles the prelude; once, before any machine. Natives and types are ready after it.
enum status vm_initialize(struct problem *problem);
void vm_finalize(void);

enum status vm_create(const struct vm_options *options, struct code *program,
                      struct vm **out, struct problem *problem);
// The heap (whose objects may be left) goes after the machine, and the codes (the program's,
// those of functions that lookup gave) after the heap: values point to their constants.
void vm_free(struct vm *vm);
// Runs at most so many steps more. After VM_WAIT: only when the cells have been flushed.
enum vm_state vm_run(struct vm *vm, int64_t steps);
int64_t vm_steps(const struct vm *vm); // done so far
void vm_set_max_steps(struct vm *vm, int64_t max_steps); // between two runs

// Adds to a problem that showed when values were computed where in the program the node with
// this mark was made (executor_mark). Nothing if that cannot be told.
void vm_locate(const struct vm *vm, const void *mark, struct problem *problem);

// ---- After VM_DONE
// The value of the last statement if it is an expression, else ABSENT. Borrowed.
struct value vm_result(const struct vm *vm);
// What was printed, with its newlines. Borrowed.
void vm_printed(const struct vm *vm, const char **text, size_t *bytes);
// Visits the global names that the program assigned or deleted (ABSENT), in the order of their
// first assignment. Names that were only looked up are not among them.
struct vm_name {
    const struct string *name;
    struct value value; // borrowed
};
bool vm_next_name(const struct vm *vm, int64_t *position, struct vm_name *out);

// Reads the user's names from natives: tensor("any.name"). ABSENT if there is none.
enum outcome vm_lookup(struct vm *vm, const char *name, size_t length,
                       struct value *result);
// torch.no_grad(), torch.set_grad_enabled: what `with` does on entry and exit.
void vm_set_grad(struct vm *vm, bool enabled);
#endif
