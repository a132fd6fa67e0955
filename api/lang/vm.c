// SPDX-License-Identifier: Apache-2.0
// A machine's life, and what natives ask of it. A machine is used by one thread at a
// time.
#include "api/lang/vm_internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { BUCKETS = 32 };

static void vm_begin(struct vm *vm, const struct vm_options *options,
                     struct code *program)
{
    vm->heap = options->heap;
    vm->cells = options->cells;
    vm->frame = NULL;
    memset(vm->pools, 0, sizeof vm->pools);
    vm->depth = 0;
    vm->grad_enabled = true;
    vm->state = VM_MORE;
    vm->steps = vm->spent = 0;
    vm->options = *options;
    vm->program = code_reference(program);
    vm->result = (struct value){.tag = VALUE_ABSENT};
    text_begin(&vm->printed, vm->print_buffer, sizeof vm->print_buffer);
    vm->links = NULL;
    vm->n_globals = 0;
    vm->changed = NULL;
    vm->n_changed = vm->changed_capacity = 0;
    vm->scratch = NULL;
    vm->scratch_names = NULL;
    vm->scratch_capacity = 0;
    problem_clear(&vm->problem);
}

enum status vm_create(const struct vm_options *options, struct code *program,
                      struct vm **out, struct problem *problem)
{
    struct arena arena;
    if (!arena_open(&arena))
        return problem_set(problem, STATUS_OUT_OF_MEMORY, "memory ran out");
    struct vm *vm = arena_take(&arena, sizeof *vm);
    struct global **buckets = arena_take(&arena, BUCKETS * sizeof(struct global *));
    if (!vm || !buckets) {
        arena_close(&arena);
        return problem_set(problem, STATUS_OUT_OF_MEMORY, "memory ran out");
    }
    vm_begin(vm, options, program);
    vm->arena = arena;
    vm->buckets = memset(buckets, 0, BUCKETS * sizeof(struct global *));
    vm->n_buckets = BUCKETS;
    struct frame *frame = frame_new(vm, program);
    if (!frame) {
        *problem = vm->problem;
        vm_free(vm);
        return problem->status;
    }
    frame_enter(vm, frame, DELIVER_VALUE);
    if (options->cells)
        cells_set_place(options->cells, vm_place, vm);
    *out = vm;
    return STATUS_OK;
}

void vm_free(struct vm *vm)
{
    if (!vm)
        return;
    if (vm->cells)
        cells_set_place(vm->cells, NULL, NULL);
    frames_free(vm);
    value_release(vm->result);
    for (int64_t i = 0; i < vm->n_buckets; i++)
        for (struct global *global = vm->buckets[i]; global; global = global->chain)
            value_release(global->value);
    text_end(&vm->printed);
    heap_resize(vm->heap, vm->scratch, (size_t)vm->scratch_capacity * sizeof *vm->scratch,
                0, &vm->problem);
    heap_resize(vm->heap, vm->scratch_names,
                (size_t)vm->scratch_capacity * sizeof *vm->scratch_names, 0,
                &vm->problem);
    for (struct link *link = vm->links; link; link = link->next)
        code_release(link->unit->main);
    code_release(vm->program);
    struct arena arena = vm->arena; // the machine lies in it
    arena_close(&arena);
}

void vm_set_max_steps(struct vm *vm, int64_t max_steps)
{
    vm->options.max_steps = max_steps;
}

int64_t vm_steps(const struct vm *vm)
{
    return vm->steps;
}

struct value vm_result(const struct vm *vm)
{
    return vm->result;
}

void vm_printed(const struct vm *vm, const char **text, size_t *bytes)
{
    *text = vm->printed.data;
    *bytes = vm->printed.length;
}

struct heap *vm_heap(struct vm *vm)
{
    return vm->heap;
}

struct cells *vm_cells(struct vm *vm)
{
    return vm->cells;
}

struct problem *vm_problem(struct vm *vm)
{
    return &vm->problem;
}

const struct vm_options *vm_options(const struct vm *vm)
{
    return &vm->options;
}

bool vm_grad_enabled(const struct vm *vm)
{
    return vm->grad_enabled;
}

void vm_set_grad(struct vm *vm, bool enabled)
{
    vm->grad_enabled = enabled;
}

enum outcome vm_raise(struct vm *vm, enum status status, const char *format, ...)
{
    // Formatted beside the problem: an argument may be a text of it.
    char detail[PROBLEM_DETAIL_MAX + 8];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(detail, sizeof detail, format, arguments);
    va_end(arguments);
    problem_set(&vm->problem, status, "%s", detail);
    return OUTCOME_ERROR;
}

enum { NATIVE_LIMIT = 50 * 1000 * 1000 }; // of one call of a native: half a second

enum outcome vm_spend(struct vm *vm, int64_t units)
{
    if (units <= 0)
        return OUTCOME_OK;
    if (units > vm->options.max_steps - vm->steps - vm->spent)
        return vm_raise(
            vm, STATUS_LIMIT,
            "the program takes more than %lld steps, which is the limit (--max-steps)",
            (long long)vm->options.max_steps);
    if (units > NATIVE_LIMIT - vm->spent)
        return vm_raise(
            vm, STATUS_LIMIT,
            "one call may take at most %d steps, so that others get their turn; "
            "cut it into parts, or use tensors",
            NATIVE_LIMIT);
    vm->spent += units;
    return OUTCOME_OK;
}

enum outcome vm_host(struct vm *vm, struct lazy *lazy, struct tensor **out)
{
    if (cells_host(vm->cells, lazy, out, &vm->problem) != STATUS_OK)
        return OUTCOME_ERROR;
    return *out ? OUTCOME_OK : OUTCOME_WAIT;
}

enum outcome vm_print(struct vm *vm, const char *text, size_t bytes)
{
    int64_t room = vm->options.max_print - (int64_t)vm->printed.length;
    if (room < 0 || bytes > (uint64_t)room)
        return vm_raise(vm, STATUS_LIMIT,
                        "the program prints more than %lld bytes, which is the limit",
                        (long long)vm->options.max_print);
    text_add(&vm->printed, text, bytes);
    if (vm->printed.failed)
        return vm_raise(vm, STATUS_OUT_OF_MEMORY, "memory ran out");
    return OUTCOME_OK;
}

// ---- The loop's frame: slices, limits, ends.

static bool is_pressed(const struct vm *vm)
{
    return vm->cells && cells_pressure(vm->cells);
}

enum vm_state vm_run(struct vm *vm, int64_t steps)
{
    if (vm->state == VM_DONE || vm->state == VM_FAILED)
        return vm->state;
    int64_t end = vm->steps + (steps > 0 ? steps : 0);
    vm->state = VM_MORE;
    while (vm->steps < end) {
        int64_t left = vm->options.max_steps - vm->steps;
        if (left <= 0) {
            vm_raise(vm, STATUS_LIMIT,
                     "the program takes more than %lld steps, which is the limit "
                     "(--max-steps)",
                     (long long)vm->options.max_steps);
            error_locate(vm);
            return vm->state = VM_FAILED;
        }
        int64_t fuel = end - vm->steps;
        fuel = fuel < left ? fuel : left;
        int outcome = vm_loop(vm, fuel < VM_STRIDE ? (int)fuel : VM_STRIDE);
        if (outcome == OUTCOME_ERROR) {
            error_locate(vm);
            return vm->state = VM_FAILED;
        }
        if (outcome == OUTCOME_END)
            return vm->state = VM_DONE;
        if (outcome == OUTCOME_WAIT || is_pressed(vm))
            return vm->state = VM_WAIT;
    }
    return vm->state;
}
