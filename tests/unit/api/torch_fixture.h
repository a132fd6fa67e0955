// SPDX-License-Identifier: Apache-2.0
// Runs a program on the host device with nothing around it: compile, run, flush where
// elements are needed, and the value of its last statement as text.
#ifndef TENSORD_TESTS_UNIT_API_TORCH_FIXTURE_H
#define TENSORD_TESTS_UNIT_API_TORCH_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>

#include "api/lang/builtins.h"
#include "api/lang/vm.h"
#include "kernels/ops.h"
#include "tensor/cells.h"

static struct torch_fixture {
    struct device *devices[1];
    struct ledger *ledger;
    struct account *account;
    struct generators *generators;
    int empties; // calls of empty_cache
} fixture;

// What a program did.
struct outcome_text {
    enum status status;
    struct problem problem;
    struct text printed, result; // result: repr of the last statement's value
};

static inline int fixture_open(void **state)
{
    struct problem problem;
    int64_t limit = 256 << 20;
    ops_initialize();
    assert_int_equal(host_open(1, 0, &fixture.devices[0], &problem), STATUS_OK);
    assert_int_equal(ledger_create(1, &limit, &fixture.ledger, &problem), STATUS_OK);
    assert_int_equal(ledger_account(fixture.ledger, "", &fixture.account, &problem),
                     STATUS_OK);
    assert_int_equal(generators_create(fixture.devices, 1, &fixture.generators, &problem),
                     STATUS_OK);
    assert_int_equal(vm_initialize(&problem), STATUS_OK);
    return 0;
}

static inline int fixture_close(void **state)
{
    vm_finalize();
    generators_free(fixture.generators);
    ledger_free(fixture.ledger);
    fixture.devices[0]->vt->close(fixture.devices[0]);
    return 0;
}

static inline enum status fixture_grow(void *context, int64_t bytes,
                                       struct problem *problem)
{
    int64_t *used = context;
    if (bytes > (64 << 20) - *used)
        return problem_set(problem, STATUS_OUT_OF_MEMORY, "no more");
    *used += bytes;
    return STATUS_OK;
}

static inline enum status fixture_lookup(void *context, struct vm *vm, const char *name,
                                         size_t length, struct value *out,
                                         struct problem *problem)
{
    *out = (struct value){.tag = VALUE_ABSENT};
    return STATUS_OK;
}

static inline void fixture_empty_cache(void *context)
{
    fixture.empties++;
}

static inline enum status fixture_flush(struct cells *cells, struct problem *problem)
{
    struct executor *executor;
    enum status status = cells_flush_begin(cells, &executor, problem);
    if (status != STATUS_OK || executor == NULL)
        return status;
    if (executor_admit(executor, problem) != ADMISSION_READY)
        return problem->status;
    enum executor_step step;
    do
        step = executor_step(executor, problem);
    while (step == EXECUTOR_MORE || step == EXECUTOR_MOVE);
    return step == EXECUTOR_DONE ? cells_flush_end(cells, problem) : problem->status;
}

// Runs until it is done; how the last value prints takes part.
static inline enum status fixture_drive(struct vm *vm, struct cells *cells,
                                        struct outcome_text *out)
{
    enum vm_state state;
    while ((state = vm_run(vm, 100000)) == VM_MORE || state == VM_WAIT)
        if (state == VM_WAIT && fixture_flush(cells, &out->problem) != STATUS_OK)
            return out->problem.status;
    if (state == VM_FAILED) {
        out->problem = *vm_problem(vm);
        return out->problem.status;
    }
    struct value value = vm_result(vm);
    enum outcome outcome = OUTCOME_OK;
    for (int tries = 0; value.tag != VALUE_ABSENT && tries < 3; tries++) {
        out->result.length = 0;
        outcome = value_repr(vm, value, &out->result);
        if (outcome != OUTCOME_WAIT)
            break;
        if (fixture_flush(cells, &out->problem) != STATUS_OK)
            return out->problem.status;
    }
    assert_int_not_equal(outcome, OUTCOME_WAIT);
    if (outcome == OUTCOME_ERROR) {
        out->problem = *vm_problem(vm);
        return out->problem.status;
    }
    return fixture_flush(cells, &out->problem);
}

static inline void fixture_run(const char *source, struct outcome_text *out)
{
    struct code *code = NULL;
    struct vm *vm = NULL;
    struct heap *heap;
    struct cells *cells;
    struct working_generators *working;
    int64_t used = 0;
    text_begin(&out->printed, NULL, 0);
    text_begin(&out->result, NULL, 0);
    problem_clear(&out->problem);
    struct graph_context context = {
        .devices = fixture.devices, .n_devices = 1, .account = fixture.account};
    assert_int_equal(working_create(fixture.generators, &working, &out->problem),
                     STATUS_OK);
    context.generators = working;
    struct heap_options heap_options = {fixture_grow, &used};
    assert_int_equal(heap_create(&heap_options, &heap, &out->problem), STATUS_OK);
    assert_int_equal(cells_create(&context, &cells, &out->problem), STATUS_OK);
    struct vm_options options = {.heap = heap,
                                 .cells = cells,
                                 .max_steps = 50000000,
                                 .max_print = 1 << 20,
                                 .lookup = fixture_lookup,
                                 .empty_cache = fixture_empty_cache};
    out->status = program_compile(source, strlen(source), false, &code, &out->problem);
    if (out->status == STATUS_OK) {
        assert_int_equal(vm_create(&options, code, &vm, &out->problem), STATUS_OK);
        out->status = fixture_drive(vm, cells, out);
        const char *printed;
        size_t bytes;
        vm_printed(vm, &printed, &bytes);
        text_add(&out->printed, printed, bytes);
        vm_free(vm);
    }
    heap_free(heap);
    code_release(code);
    cells_free(cells);
    working_free(working);
    text_add(&out->printed, "", 1);
    text_add(&out->result, "", 1);
}

static inline void fixture_end(struct outcome_text *out)
{
    text_end(&out->printed);
    text_end(&out->result);
}
#endif
