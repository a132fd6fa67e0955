// SPDX-License-Identifier: Apache-2.0
// The loop of the machine: fetches an instruction, runs it, looks at the outcome. It
// stops between two instructions only. Thread: the machine's.
#include "api/lang/vm_hot.h"

static int after(struct frame *frame, int outcome)
{
    if (outcome == OUTCOME_AGAIN || outcome == OUTCOME_WAIT)
        frame->pc--;
    return outcome == OUTCOME_AGAIN ? OUTCOME_FRAME : outcome;
}

int vm_loop(struct vm *vm, int fuel)
{
    struct frame *frame = vm->frame;
    int64_t left = fuel;
    int outcome = OUTCOME_OK;
    while (left > 0) {
        uint32_t instruction = *frame->pc++, n = instruction >> 8;
        left--;
        switch (instruction & 0xFF) {
#define OPCODE(name, effect, doc)                                                        \
    case OPCODE_##name:                                                                  \
        outcome = run_##name(vm, frame, n);                                              \
        break;
#include "api/lang/opcodes.def"
#undef OPCODE
        default:
            outcome = vm_raise(vm, STATUS_NOT_IMPLEMENTED, "unknown instruction");
        }
        if (__builtin_expect(outcome != OUTCOME_OK, 0)) {
            outcome = after(frame, outcome);
            if (outcome != OUTCOME_FRAME)
                break;
            frame = vm->frame;
        }
        if (__builtin_expect(vm->spent != 0, 0)) {
            left -= vm->spent;
            vm->spent = 0;
        }
    }
    vm->steps += fuel - left;
    return outcome;
}
