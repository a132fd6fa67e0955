// SPDX-License-Identifier: Apache-2.0
// Instructions on values: operators, items, attributes. What the values make of them
// stands in operate.h; here are the stack and the producers, which are drained first.
// Thread: the machine's.
#include "api/lang/vm_internal.h"

// Puts the result of an operation in the place of its operands.
static int put(struct frame *frame, int operands, int outcome, struct value result)
{
    if (outcome != OUTCOME_OK)
        return outcome;
    for (int i = 0; i < operands; i++)
        value_release(*--frame->top);
    *frame->top++ = result;
    return OUTCOME_OK;
}

int run_binary(struct vm *vm, struct frame *frame, uint32_t n)
{
    struct value *operands = frame->top - 2, result;
    bool in_place = n >> 8;
    if (in_place && value_is_object(operands[1], OBJECT_PRODUCER) &&
        value_is_object(operands[0], OBJECT_LIST))
        return producer_drain(vm, frame, operands + 1);
    int outcome = value_binary(vm, (enum binary_op)(n & 0xFF), in_place, operands[0],
                               operands[1], &result);
    return put(frame, 2, outcome, result);
}

int run_unary(struct vm *vm, struct frame *frame, uint32_t n)
{
    struct value result;
    int outcome = value_unary(vm, (enum unary_op)n, frame->top[-1], &result);
    return put(frame, 1, outcome, result);
}

int run_not(struct vm *vm, struct frame *frame, uint32_t n)
{
    bool truth = false;
    int outcome = value_truth(vm, frame->top[-1], &truth);
    return put(frame, 1, outcome, value_bool(!truth));
}

int compare_values(struct vm *vm, struct frame *frame, uint32_t op)
{
    struct value result;
    int outcome =
        value_compare(vm, (enum compare_op)op, frame->top[-2], frame->top[-1], &result);
    return put(frame, 2, outcome, result);
}

int run_is(struct vm *vm, struct frame *frame, uint32_t n)
{
    bool same = value_identical(frame->top[-2], frame->top[-1]);
    return put(frame, 2, OUTCOME_OK, value_bool(same != (n != 0)));
}

int run_in(struct vm *vm, struct frame *frame, uint32_t n)
{
    bool contains = false;
    if (value_is_object(frame->top[-1], OBJECT_PRODUCER))
        return producer_drain(vm, frame, frame->top - 1);
    int outcome = value_contains(vm, frame->top[-1], frame->top[-2], &contains);
    return put(frame, 2, outcome, value_bool(contains != (n != 0)));
}

// ---- Items

int run_index(struct vm *vm, struct frame *frame, uint32_t n)
{
    struct value container = frame->top[-2], key = frame->top[-1], result;
    if (value_is_object(container, OBJECT_LIST) && key.tag == VALUE_INT) {
        const struct list *list = VALUE_AS(list, container);
        int64_t at = key.i < 0 ? key.i + list->count : key.i;
        if (at >= 0 && at < list->count)
            return put(frame, 2, OUTCOME_OK, value_reference(list->items[at]));
    }
    int outcome = value_get_item(vm, container, key, &result);
    return put(frame, 2, outcome, result);
}

static int drop(struct frame *frame, int operands, int outcome)
{
    if (outcome == OUTCOME_OK)
        for (int i = 0; i < operands; i++)
            value_release(*--frame->top);
    return outcome;
}

int run_set_index(struct vm *vm, struct frame *frame, uint32_t n)
{
    struct value *operands = frame->top - 3;
    if (value_is_object(operands[0], OBJECT_PRODUCER) &&
        value_is_object(operands[2], OBJECT_SLICE))
        return producer_drain(vm, frame, operands);
    return drop(frame, 3, value_set_item(vm, operands[1], operands[2], operands[0]));
}

int run_delete_index(struct vm *vm, struct frame *frame, uint32_t n)
{
    return drop(frame, 2, value_delete_item(vm, frame->top[-2], frame->top[-1]));
}

int run_slice(struct vm *vm, struct frame *frame, uint32_t n)
{
    struct slice_object *slice =
        heap_object(vm->heap, OBJECT_SLICE, sizeof *slice, &vm->problem);
    if (!slice)
        return OUTCOME_ERROR;
    slice->step = *--frame->top; // the references move
    slice->stop = *--frame->top;
    slice->start = *--frame->top;
    *frame->top++ = value_of(slice);
    return OUTCOME_OK;
}

// ---- Attributes

int run_attribute(struct vm *vm, struct frame *frame, uint32_t n)
{
    struct value result;
    int outcome =
        value_get_attribute(vm, frame->top[-1], frame->code->unit->names[n], &result);
    return put(frame, 1, outcome, result);
}

int run_method(struct vm *vm, struct frame *frame, uint32_t n)
{
    struct value function, self = {.tag = VALUE_ABSENT};
    int outcome = value_get_method(vm, frame->top[-1], frame->code->unit->names[n],
                                   &function, &self);
    outcome = put(frame, 1, outcome, function);
    if (outcome == OUTCOME_OK)
        *frame->top++ = self;
    return outcome;
}

int run_set_attribute(struct vm *vm, struct frame *frame, uint32_t n)
{
    const struct string *name = frame->code->unit->names[n];
    return drop(frame, 2, value_set_attribute(vm, frame->top[-1], name, frame->top[-2]));
}

int run_delete_attribute(struct vm *vm, struct frame *frame, uint32_t n)
{
    const struct string *name = frame->code->unit->names[n];
    struct value there;
    int outcome = value_get_attribute(vm, frame->top[-1], name, &there);
    if (outcome != OUTCOME_OK)
        return outcome;
    value_release(there);
    return vm_raise(vm, STATUS_ATTRIBUTE,
                    "attribute '%s' of '%s' objects cannot be deleted", name->text,
                    type_short_name(value_type(frame->top[-1])));
}
