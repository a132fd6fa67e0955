// SPDX-License-Identifier: Apache-2.0
// Programs from their text to the value they end in, on the host device, without HTTP:
// whatever the text is, the run ends in a value or a problem with a place, within its
// limits, and gives every byte back. One program is run twice, in slices of different
// lengths, and must end alike.
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "api/lang/operate.h"
#include "api/lang/vm.h"
#include "api/text.h"
#include "kernels/ops.h"
#include "tensor/cells.h"

enum {
    MAX_STEPS = 20000,
    MAX_PRINT = 1 << 16,
    HEAP_LIMIT = 32 << 20,
    DEVICE_LIMIT = 64 << 20
};

static struct {
    bool open;
    struct device *devices[1];
    struct ledger *ledger;
    struct account *account;
    struct generators *generators;
} house;

static void close_house(void)
{
    vm_finalize();
    generators_free(house.generators);
    ledger_free(house.ledger);
    house.devices[0]->vt->close(house.devices[0]);
}

static void open_house(void)
{
    struct problem problem;
    int64_t limits[1] = {DEVICE_LIMIT};
    if (house.open)
        return;
    house.open = true;
    ops_initialize();
    FUZZ_REQUIRE(host_open(1, 1 << 20, &house.devices[0], &problem) == STATUS_OK);
    FUZZ_REQUIRE(ledger_create(1, limits, &house.ledger, &problem) == STATUS_OK);
    FUZZ_REQUIRE(ledger_account(house.ledger, "", &house.account, &problem) == STATUS_OK);
    FUZZ_REQUIRE(generators_create(house.devices, 1, &house.generators, &problem) ==
                 STATUS_OK);
    FUZZ_REQUIRE(vm_initialize(&problem) == STATUS_OK);
    FUZZ_REQUIRE(atexit(close_house) == 0);
}

static enum status grow(void *context, int64_t bytes, struct problem *problem)
{
    struct heap **heap = context;
    if (heap_granted(*heap) + bytes <= HEAP_LIMIT)
        return STATUS_OK;
    return problem_set(problem, STATUS_OUT_OF_MEMORY, "the heap's limit");
}

static enum status look_up(void *context, struct vm *vm, const char *name, size_t length,
                           struct value *out, struct problem *problem)
{
    *out = (struct value){.tag = VALUE_ABSENT};
    return STATUS_OK;
}

// True: go on.
static bool flush(struct cells *cells, enum status *status, struct problem *problem)
{
    struct executor *executor;
    *status = cells_flush_begin(cells, &executor, problem);
    if (*status != STATUS_OK || executor == NULL)
        return *status == STATUS_OK;
    enum executor_step step = EXECUTOR_FAILED;
    if (executor_admit(executor, problem) == ADMISSION_READY)
        do {
            step = executor_step(executor, problem);
        } while (step == EXECUTOR_MORE || step == EXECUTOR_MOVE);
    executor_free(executor);
    if (step == EXECUTOR_DONE)
        *status = cells_flush_end(cells, problem);
    else
        *status = problem->status;
    return step == EXECUTOR_DONE && *status == STATUS_OK;
}

struct ending {
    enum status status;
    struct text text; // repr of the value, after what was printed
};

static void finish(struct vm *vm, struct cells *cells, struct ending *ending,
                   struct problem *problem)
{
    struct value value = vm_result(vm);
    const char *printed;
    size_t length;
    for (;;) {
        enum outcome outcome = OUTCOME_OK;
        text_end(&ending->text);
        text_begin(&ending->text, NULL, 0);
        vm_printed(vm, &printed, &length);
        text_add(&ending->text, printed, length);
        if (value.tag != VALUE_ABSENT)
            outcome = value_repr(vm, value, &ending->text);
        if (outcome == OUTCOME_ERROR) {
            *problem = *vm_problem(vm);
            ending->status = problem->status;
            return;
        }
        if (outcome == OUTCOME_OK && !cells_dirty(cells))
            return;
        if (!flush(cells, &ending->status, problem))
            return;
    }
}

static void run(struct vm *vm, struct cells *cells, int64_t slice, struct ending *ending,
                struct problem *problem)
{
    for (;;) {
        switch (vm_run(vm, slice)) {
        case VM_MORE:
            break;
        case VM_WAIT:
            if (!flush(cells, &ending->status, problem))
                return;
            break;
        case VM_FAILED:
            *problem = *vm_problem(vm);
            ending->status = problem->status;
            FUZZ_REQUIRE(ending->status != STATUS_OK);
            FUZZ_REQUIRE(problem->line > 0);
            return;
        case VM_DONE:
            finish(vm, cells, ending, problem);
            return;
        }
    }
}

static void run_whole(struct code *code, int64_t slice, struct ending *ending)
{
    struct problem problem;
    struct heap *heap;
    struct cells *cells;
    struct working_generators *working;
    struct vm *vm;
    struct heap_options options = {.grow = grow, .context = &heap};
    FUZZ_REQUIRE(heap_create(&options, &heap, &problem) == STATUS_OK);
    FUZZ_REQUIRE(working_create(house.generators, &working, &problem) == STATUS_OK);
    struct graph_context context = {.devices = house.devices,
                                    .n_devices = 1,
                                    .account = house.account,
                                    .generators = working};
    FUZZ_REQUIRE(cells_create(&context, &cells, &problem) == STATUS_OK);
    struct vm_options machine = {.heap = heap,
                                 .cells = cells,
                                 .max_steps = MAX_STEPS,
                                 .max_print = MAX_PRINT,
                                 .lookup = look_up};
    *ending = (struct ending){.status = STATUS_OK};
    text_begin(&ending->text, NULL, 0);
    FUZZ_REQUIRE(vm_create(&machine, code, &vm, &problem) == STATUS_OK);
    run(vm, cells, slice, ending, &problem);
    vm_free(vm);
    heap_free(heap);
    cells_free(cells);
    working_free(working);
    struct ledger_usage usage;
    ledger_usage(house.ledger, 0, &usage);
    FUZZ_REQUIRE(usage.used == 0 && usage.reserved == 0);
}

// What a run may say differently the second time: random numbers, and numbers that stand
// for identities.
static bool may_differ(const uint8_t *data, size_t size)
{
    static const char *const words[] = {
        "rand", "normal", "uniform", "dropout", "Dropout", "Linear", "bernoulli",
        "seed", "id",     "ptr",     "lambda",  "def",     "print",  " at "};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (memmem(data, size, words[i], strlen(words[i])) != NULL)
            return true;
    return false;
}

// "<built-in method upper of str object at 0x...>".
static bool shows_identity(const struct text *text)
{
    return text->length > 0 && memmem(text->data, text->length, "0x", 2) != NULL;
}

int fuzz_eval(const uint8_t *data, size_t size)
{
    struct code *code;
    struct problem problem;
    open_house();
    problem_clear(&problem);
    if (program_compile((const char *)data, size, false, &code, &problem) != STATUS_OK) {
        FUZZ_REQUIRE(problem.status != STATUS_OK && problem.detail[0] != '\0');
        return 0;
    }
    struct ending first, second;
    run_whole(code, 1 << 20, &first);
    run_whole(code, 7, &second);
    if (!may_differ(data, size)) {
        // Where a program has two faults, memory that can never suffice may show first.
        FUZZ_REQUIRE(first.status == second.status ||
                     first.status == STATUS_OUT_OF_MEMORY ||
                     second.status == STATUS_OUT_OF_MEMORY);
        if (first.status != second.status)
            first.status = STATUS_OUT_OF_MEMORY;
        FUZZ_REQUIRE(first.status != STATUS_OK || shows_identity(&first.text) ||
                     (first.text.length == second.text.length &&
                      (first.text.length == 0 || memcmp(first.text.data, second.text.data,
                                                        first.text.length) == 0)));
    }
    text_end(&first.text);
    text_end(&second.text);
    code_release(code);
    return 0;
}
