// SPDX-License-Identifier: Apache-2.0
// Unpacking: an iterable's items to the targets of an assignment. Thread: the machine's.
#include "api/lang/vm_internal.h"

static int raise_too_few(struct vm *vm, const char *least, int64_t expected, int64_t got)
{
    return vm_raise(vm, STATUS_VALUE,
                    "not enough values to unpack (expected %s%lld, got %lld)", least,
                    (long long)expected, (long long)got);
}

static int raise_too_many_values(struct vm *vm, int64_t expected)
{
    return vm_raise(vm, STATUS_VALUE, "too many values to unpack (expected %lld)",
                    (long long)expected);
}

static int start(struct vm *vm, struct value iterable, struct value *iterator)
{
    int outcome = value_iterate(vm, iterable, iterator);
    enum type type = value_type(iterable);
    if (outcome == OUTCOME_ERROR && vm->problem.status == STATUS_TYPE &&
        !type_is_subtype(type, TYPE_Tensor))
        return vm_raise(vm, STATUS_TYPE, "cannot unpack non-iterable %s object",
                        type_short_name(type));
    return outcome;
}

// The items of a list or tuple.
static const struct value *items_of(struct value value, int64_t *count)
{
    if (value_is_object(value, OBJECT_LIST)) {
        *count = VALUE_AS(list, value)->count;
        return VALUE_AS(list, value)->items;
    }
    if (value_is_object(value, OBJECT_TUPLE)) {
        *count = VALUE_AS(tuple, value)->count;
        return VALUE_AS(tuple, value)->items;
    }
    return NULL;
}

static void push_backwards(struct frame *frame, const struct value *items, int64_t count)
{
    while (count-- > 0)
        *frame->top++ = value_reference(items[count]);
}

// Takes n items and looks whether there is one more; they lie above the top meanwhile.
static int take(struct vm *vm, struct iterator *iterator, struct value *to, int64_t n)
{
    int64_t got = 0;
    int outcome = OUTCOME_OK;
    while (got <= n) {
        struct value item = {.tag = VALUE_ABSENT};
        outcome = iterator_next(vm, iterator, &item);
        if (outcome != OUTCOME_OK || item.tag == VALUE_ABSENT)
            break;
        if (got == n) {
            value_release(item);
            outcome = raise_too_many_values(vm, n);
            break;
        }
        to[got++] = item;
    }
    if (outcome == OUTCOME_OK && got < n)
        outcome = raise_too_few(vm, "", n, got);
    if (outcome != OUTCOME_OK)
        while (got > 0)
            value_release(to[--got]);
    return outcome;
}

int run_unpack(struct vm *vm, struct frame *frame, uint32_t n)
{
    struct value iterable = frame->top[-1], iterator;
    int64_t count = 0;
    if (value_is_object(iterable, OBJECT_PRODUCER))
        return producer_drain(vm, frame, frame->top - 1);
    const struct value *items = items_of(iterable, &count);
    if (items || count > 0 || value_is_object(iterable, OBJECT_LIST)) {
        if (count < n)
            return raise_too_few(vm, "", n, count);
        if (count > n)
            return raise_too_many_values(vm, n);
        frame->top--;
        push_backwards(frame, items, count);
        value_release(iterable);
        return OUTCOME_OK;
    }
    int outcome = start(vm, iterable, &iterator);
    if (outcome != OUTCOME_OK)
        return outcome;
    // The stack is n higher afterwards, and has one place for the iterable.
    struct value *place = frame->top - 1;
    frame->top[-1] = iterator;
    value_release(iterable);
    outcome = take(vm, VALUE_AS(iterator, iterator), frame->top, n);
    if (outcome != OUTCOME_OK)
        return outcome;
    for (uint32_t i = 0; i < n / 2; i++) {
        struct value other = frame->top[i];
        frame->top[i] = frame->top[n - 1 - i];
        frame->top[n - 1 - i] = other;
    }
    for (uint32_t i = 0; i < n; i++)
        place[i] = frame->top[i];
    frame->top = place + n;
    value_release(iterator);
    return OUTCOME_OK;
}

// Replaces the top with a list of its items.
static int to_list(struct vm *vm, struct frame *frame)
{
    struct value iterator;
    int outcome = start(vm, frame->top[-1], &iterator);
    if (outcome != OUTCOME_OK)
        return outcome;
    struct list *list = list_new(vm->heap, 0, NULL, &vm->problem);
    outcome = list ? OUTCOME_OK : OUTCOME_ERROR;
    while (outcome == OUTCOME_OK) {
        struct value item;
        outcome = vm_spend(vm, 1);
        if (outcome == OUTCOME_OK)
            outcome = iterator_next(vm, VALUE_AS(iterator, iterator), &item);
        if (outcome != OUTCOME_OK || item.tag == VALUE_ABSENT)
            break;
        if (!list_append(vm->heap, list, item, &vm->problem))
            outcome = OUTCOME_ERROR;
        value_release(item);
    }
    value_release(iterator);
    if (outcome != OUTCOME_OK) {
        if (list)
            value_release(value_of(list));
        return outcome;
    }
    value_release(frame->top[-1]);
    frame->top[-1] = value_of(list);
    return OUTCOME_OK;
}

int run_unpack_rest(struct vm *vm, struct frame *frame, uint32_t n)
{
    int64_t before = n & 0xFFF, behind = n >> 12, count = 0;
    if (value_is_object(frame->top[-1], OBJECT_PRODUCER))
        return producer_drain(vm, frame, frame->top - 1);
    if (!value_is_object(frame->top[-1], OBJECT_LIST) &&
        !value_is_object(frame->top[-1], OBJECT_TUPLE)) {
        int outcome = to_list(vm, frame);
        if (outcome != OUTCOME_OK)
            return outcome;
    }
    struct value iterable = frame->top[-1];
    const struct value *items = items_of(iterable, &count);
    if (count < before + behind)
        return raise_too_few(vm, "at least ", before + behind, count);
    if (vm_spend(vm, count / 8) != OUTCOME_OK)
        return OUTCOME_ERROR;
    struct list *rest =
        list_new(vm->heap, count - before - behind, items + before, &vm->problem);
    if (!rest)
        return OUTCOME_ERROR;
    frame->top--;
    push_backwards(frame, items + count - behind, behind);
    *frame->top++ = value_of(rest);
    push_backwards(frame, items, before);
    value_release(iterable);
    return OUTCOME_OK;
}
