// SPDX-License-Identifier: Apache-2.0
// Programs run in tests: a machine without tensors, and what becomes of a program as
// text.
#ifndef TENSORD_TESTS_LANG_VM_H
#define TENSORD_TESTS_LANG_VM_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "api/lang/vm_internal.h"
#include "kernels/ops.h"

enum { MACHINE_STEPS = 2000000, MACHINE_PRINT = 4096 };
struct machine {
    struct heap *heap;
    struct vm *vm;
    struct code *code;
    struct problem problem;
    enum status status; // of compiling or of running
    int64_t granted;
    struct text text; // of the result
};
typedef enum status machine_lookup(void *context, struct vm *vm, const char *name,
                                   size_t length, struct value *out,
                                   struct problem *problem);

static inline enum status machine_grow(void *context, int64_t bytes,
                                       struct problem *problem)
{
    int64_t *granted = context;
    *granted += bytes;
    return *granted < 64 << 20
               ? STATUS_OK
               : problem_set(problem, STATUS_OUT_OF_MEMORY, "memory ran out");
}

static inline void machine_begin(struct machine *machine, const char *source,
                                 machine_lookup *lookup, void *context)
{
    memset(machine, 0, sizeof *machine);
    const struct heap_options heap = {.grow = machine_grow, .context = &machine->granted};
    assert_int_equal(heap_create(&heap, &machine->heap, &machine->problem), STATUS_OK);
    text_begin(&machine->text, NULL, 0);
    machine->status =
        program_compile(source, strlen(source), false, &machine->code, &machine->problem);
    if (machine->status != STATUS_OK)
        return;
    const struct vm_options options = {
        .heap = machine->heap,
        .max_steps = MACHINE_STEPS,
        .max_print = MACHINE_PRINT,
        .lookup = lookup,
        .context = context,
    };
    assert_int_equal(vm_create(&options, machine->code, &machine->vm, &machine->problem),
                     STATUS_OK);
}

static inline void machine_run(struct machine *machine, int64_t slice)
{
    enum vm_state state = VM_MORE;
    if (!machine->vm)
        return;
    while (state == VM_MORE || state == VM_WAIT)
        state = vm_run(machine->vm, slice);
    if (state == VM_FAILED) {
        machine->problem = *vm_problem(machine->vm);
        machine->status = machine->problem.status;
        assert_int_not_equal(machine->status, STATUS_OK);
        return;
    }
    struct value result = vm_result(machine->vm);
    if (result.tag != VALUE_ABSENT)
        assert_int_equal(value_repr(machine->vm, result, &machine->text), OUTCOME_OK);
    text_add(&machine->text, "", 1);
}

static inline void machine_end(struct machine *machine)
{
    text_end(&machine->text);
    vm_free(machine->vm);
    heap_free(machine->heap);
    code_release(machine->code);
}

static inline void machine_whole(struct machine *machine, const char *source,
                                 int64_t slice)
{
    machine_begin(machine, source, NULL, NULL);
    machine_run(machine, slice);
}

// The program's answer is that text.
static inline void assert_answer(const char *source, const char *text)
{
    static const int64_t slices[] = {1 << 20, 1, 7};
    for (size_t i = 0; i < sizeof slices / sizeof *slices; i++) {
        struct machine machine;
        machine_whole(&machine, source, slices[i]);
        if (machine.status != STATUS_OK)
            fail_msg("%s\nfailed: %s", source, machine.problem.detail);
        if (strcmp(machine.text.data, text) != 0)
            fail_msg("%s\nis %s, not %s", source, machine.text.data, text);
        machine_end(&machine);
    }
}

static inline void assert_failure(const char *source, enum status status,
                                  const char *detail, int line)
{
    struct machine machine;
    machine_whole(&machine, source, 1 << 20);
    if (machine.status != status)
        fail_msg("%s\nhas status %d, not %d: %s", source, (int)machine.status,
                 (int)status, machine.problem.detail);
    if (strncmp(machine.problem.detail, detail, strlen(detail)) != 0)
        fail_msg("%s\nsays %s, not %s", source, machine.problem.detail, detail);
    if (line > 0 && machine.problem.line != line)
        fail_msg("%s\nis told at line %d, not %d", source, (int)machine.problem.line,
                 line);
    machine_end(&machine);
}

static inline int machine_setup(void **state)
{
    struct problem problem;
    ops_initialize();
    return vm_initialize(&problem) == STATUS_OK ? 0 : -1;
}

static inline int machine_teardown(void **state)
{
    vm_finalize();
    return 0;
}
#endif
