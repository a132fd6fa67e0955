// SPDX-License-Identifier: Apache-2.0
// The instructions that programs spend their time in, inlined into the loop (vm_run.c
// alone includes this). What is not an int or a float goes to operate.h, out of line.
#ifndef TENSORD_API_LANG_VM_HOT_H
#define TENSORD_API_LANG_VM_HOT_H

#include "api/lang/vm_internal.h"

#define HOT static inline __attribute__((always_inline)) int

HOT run_constant(struct vm *vm, struct frame *frame, uint32_t n)
{
    *frame->top++ = value_reference(frame->constants[n]);
    return OUTCOME_OK;
}

HOT run_integer(struct vm *vm, struct frame *frame, uint32_t n)
{
    *frame->top++ = value_int((int32_t)(n << 8) >> 8);
    return OUTCOME_OK;
}

HOT run_none(struct vm *vm, struct frame *frame, uint32_t n)
{
    *frame->top++ = value_none();
    return OUTCOME_OK;
}

HOT run_pop(struct vm *vm, struct frame *frame, uint32_t n)
{
    value_release(*--frame->top);
    return OUTCOME_OK;
}

HOT run_copy(struct vm *vm, struct frame *frame, uint32_t n)
{
    *frame->top = value_reference(frame->top[-(int32_t)n]);
    frame->top++;
    return OUTCOME_OK;
}

HOT run_swap(struct vm *vm, struct frame *frame, uint32_t n)
{
    struct value *other = frame->top - n, value = *other;
    *other = frame->top[-1];
    frame->top[-1] = value;
    return OUTCOME_OK;
}

// ---- Variables

HOT run_local(struct vm *vm, struct frame *frame, uint32_t n)
{
    if (__builtin_expect(frame->slots[n].tag == VALUE_ABSENT, 0))
        return raise_unbound(vm, frame, n);
    *frame->top++ = value_reference(frame->slots[n]);
    return OUTCOME_OK;
}

HOT run_set_local(struct vm *vm, struct frame *frame, uint32_t n)
{
    struct value old = frame->slots[n];
    frame->slots[n] = *--frame->top;
    value_release(old);
    return OUTCOME_OK;
}

HOT run_boxed(struct vm *vm, struct frame *frame, uint32_t n)
{
    struct value value = VALUE_AS(box, frame->slots[n])->value;
    if (__builtin_expect(value.tag == VALUE_ABSENT, 0))
        return raise_unbound(vm, frame, n);
    *frame->top++ = value_reference(value);
    return OUTCOME_OK;
}

HOT run_global(struct vm *vm, struct frame *frame, uint32_t n)
{
    const struct global *global = frame->globals[n];
    if (__builtin_expect(!global || global->value.tag == VALUE_ABSENT, 0))
        return push_global(vm, frame, n);
    *frame->top++ = value_reference(global->value);
    return OUTCOME_OK;
}

HOT run_set_global(struct vm *vm, struct frame *frame, uint32_t n)
{
    struct global *global = frame->globals[n];
    if (__builtin_expect(!global || !global->changed, 0))
        return global_store(vm, frame, n);
    struct value old = global->value;
    global->value = *--frame->top;
    global->builtin = false;
    value_release(old);
    return OUTCOME_OK;
}

// ---- Operators

// The operands are numbers: they need not be released.
HOT put_int(struct frame *frame, int64_t i)
{
    frame->top--;
    frame->top[-1] = value_int(i);
    return OUTCOME_OK;
}

HOT put_float(struct frame *frame, double f)
{
    frame->top--;
    frame->top[-1] = value_float(f);
    return OUTCOME_OK;
}

HOT put_bool(struct frame *frame, bool b)
{
    frame->top--;
    frame->top[-1] = value_bool(b);
    return OUTCOME_OK;
}

// Both operands as doubles, if one is a float and the other a float or an int.
static inline bool are_floats(const struct value *operands, double *a, double *b)
{
    uint32_t left = operands[0].tag, right = operands[1].tag;
    if (left == VALUE_FLOAT && right == VALUE_FLOAT)
        return *a = operands[0].f, *b = operands[1].f, true;
    if (left == VALUE_FLOAT && right == VALUE_INT)
        return *a = operands[0].f, *b = (double)operands[1].i, true;
    if (left == VALUE_INT && right == VALUE_FLOAT)
        return *a = (double)operands[0].i, *b = operands[1].f, true;
    return false;
}

static inline bool are_ints(const struct value *operands)
{
    return operands[0].tag == VALUE_INT && operands[1].tag == VALUE_INT;
}

HOT run_add(struct vm *vm, struct frame *frame, uint32_t n)
{
    const struct value *operands = frame->top - 2;
    int64_t sum;
    double a, b;
    if (are_ints(operands) && !__builtin_add_overflow(operands[0].i, operands[1].i, &sum))
        return put_int(frame, sum);
    if (are_floats(operands, &a, &b))
        return put_float(frame, a + b);
    return run_binary(vm, frame, BINARY_ADD | n << 8);
}

HOT run_subtract(struct vm *vm, struct frame *frame, uint32_t n)
{
    const struct value *operands = frame->top - 2;
    int64_t difference;
    double a, b;
    if (are_ints(operands) &&
        !__builtin_sub_overflow(operands[0].i, operands[1].i, &difference))
        return put_int(frame, difference);
    if (are_floats(operands, &a, &b))
        return put_float(frame, a - b);
    return run_binary(vm, frame, BINARY_SUB | n << 8);
}

HOT run_multiply(struct vm *vm, struct frame *frame, uint32_t n)
{
    const struct value *operands = frame->top - 2;
    int64_t product;
    double a, b;
    if (are_ints(operands) &&
        !__builtin_mul_overflow(operands[0].i, operands[1].i, &product))
        return put_int(frame, product);
    if (are_floats(operands, &a, &b))
        return put_float(frame, a * b);
    return run_binary(vm, frame, BINARY_MUL | n << 8);
}

#define COMPARED(op)                                                                     \
    if (is_int)                                                                          \
        return put_bool(frame, operands[0].i op operands[1].i);                          \
    return put_bool(frame, operands[0].f op operands[1].f)

// An int and a float are not compared here: a double does not hold every int.
HOT run_compare(struct vm *vm, struct frame *frame, uint32_t n)
{
    const struct value *operands = frame->top - 2;
    bool is_int = are_ints(operands);
    if (!is_int && !(operands[0].tag == VALUE_FLOAT && operands[1].tag == VALUE_FLOAT))
        return compare_values(vm, frame, n);
    switch ((enum compare_op)n) {
    case COMPARE_LT:
        COMPARED(<);
    case COMPARE_LE:
        COMPARED(<=);
    case COMPARE_EQ:
        COMPARED(==);
    case COMPARE_NE:
        COMPARED(!=);
    case COMPARE_GT:
        COMPARED(>);
    case COMPARE_GE:
        COMPARED(>=);
    }
    return OUTCOME_ERROR;
}

// ---- Jumps

HOT jump_to(struct frame *frame, uint32_t n)
{
    frame->pc = frame->code->instructions + n;
    return OUTCOME_OK;
}

HOT run_jump(struct vm *vm, struct frame *frame, uint32_t n)
{
    return jump_to(frame, n);
}

HOT run_loop(struct vm *vm, struct frame *frame, uint32_t n)
{
    jump_to(frame, n);
    return vm->cells && cells_pressure(vm->cells) ? OUTCOME_PAUSE : OUTCOME_OK;
}

// The truth of the top: of what is neither bool nor int, out of line.
HOT top_truth(struct vm *vm, struct frame *frame, bool *truth)
{
    struct value value = frame->top[-1];
    if (value.tag != VALUE_BOOL && value.tag != VALUE_INT)
        return value_truth(vm, value, truth);
    *truth = value.i != 0;
    return OUTCOME_OK;
}

HOT run_if_false(struct vm *vm, struct frame *frame, uint32_t n)
{
    bool truth;
    int outcome = top_truth(vm, frame, &truth);
    if (outcome != OUTCOME_OK)
        return outcome;
    value_release(*--frame->top);
    return truth ? OUTCOME_OK : jump_to(frame, n);
}

HOT run_if_true(struct vm *vm, struct frame *frame, uint32_t n)
{
    bool truth;
    int outcome = top_truth(vm, frame, &truth);
    if (outcome != OUTCOME_OK)
        return outcome;
    value_release(*--frame->top);
    return truth ? jump_to(frame, n) : OUTCOME_OK;
}

// Ranges are counted here.
HOT run_for(struct vm *vm, struct frame *frame, uint32_t n)
{
    struct value top = frame->top[-1];
    if (value_is_object(top, OBJECT_ITERATOR)) {
        struct iterator *iterator = VALUE_AS(iterator, top);
        if (value_is_object(iterator->over, OBJECT_RANGE) && !iterator->backwards) {
            const struct range *range = VALUE_AS(range, iterator->over);
            if (iterator->position < range->count) {
                *frame->top++ = value_int(
                    (int64_t)((uint64_t)range->start +
                              (uint64_t)iterator->position * (uint64_t)range->step));
                iterator->position++;
                return OUTCOME_OK;
            }
        }
    }
    return for_next(vm, frame, n);
}
#endif
