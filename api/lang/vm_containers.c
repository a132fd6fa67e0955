// SPDX-License-Identifier: Apache-2.0
// Instructions that make containers and take them apart. Items move from the stack into
// the container; what is iterated is drained first if it is a producer. Thread: the
// machine's.
#include <stdio.h>

#include "api/lang/vm_internal.h"

// Drops n values and pushes what was made of them.
static int replace(struct vm *vm, struct frame *frame, uint32_t n, void *made)
{
    if (!made)
        return OUTCOME_ERROR;
    for (uint32_t i = 0; i < n; i++)
        value_release(*--frame->top);
    *frame->top++ = value_of(made);
    return OUTCOME_OK;
}

int run_tuple(struct vm *vm, struct frame *frame, uint32_t n)
{
    return replace(vm, frame, n, tuple_new(vm->heap, n, frame->top - n, &vm->problem));
}

int run_list(struct vm *vm, struct frame *frame, uint32_t n)
{
    return replace(vm, frame, n, list_new(vm->heap, n, frame->top - n, &vm->problem));
}

int run_list_to_tuple(struct vm *vm, struct frame *frame, uint32_t n)
{
    const struct list *list = VALUE_AS(list, frame->top[-1]);
    return replace(vm, frame, 1,
                   tuple_new(vm->heap, list->count, list->items, &vm->problem));
}

// Appends count values, then drops them.
static int list_add(struct vm *vm, struct frame *frame, struct list *list, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (!list_append(vm->heap, list, frame->top[(int64_t)i - count], &vm->problem))
            return OUTCOME_ERROR;
    for (uint32_t i = 0; i < count; i++)
        value_release(*--frame->top);
    return OUTCOME_OK;
}

int run_list_add(struct vm *vm, struct frame *frame, uint32_t n)
{
    return list_add(vm, frame, VALUE_AS(list, frame->top[-1 - (int64_t)n]), n);
}

int run_append(struct vm *vm, struct frame *frame, uint32_t n)
{
    return list_add(vm, frame, VALUE_AS(list, frame->top[-(int64_t)n]), 1);
}

static int set_fill(struct vm *vm, struct frame *frame, struct set *set, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (set_add(vm->heap, set, frame->top[(int64_t)i - count], &vm->problem) !=
            STATUS_OK)
            return OUTCOME_ERROR;
    for (uint32_t i = 0; i < count; i++)
        value_release(*--frame->top);
    return OUTCOME_OK;
}

int run_set_add(struct vm *vm, struct frame *frame, uint32_t n)
{
    return set_fill(vm, frame, VALUE_AS(set, frame->top[-1 - (int64_t)n]), n);
}

int run_insert(struct vm *vm, struct frame *frame, uint32_t n)
{
    return set_fill(vm, frame, VALUE_AS(set, frame->top[-(int64_t)n]), 1);
}

int run_set(struct vm *vm, struct frame *frame, uint32_t n)
{
    struct set *set = set_new(vm->heap, &vm->problem);
    if (!set)
        return OUTCOME_ERROR;
    int outcome = set_fill(vm, frame, set, n);
    if (outcome == OUTCOME_OK)
        *frame->top++ = value_of(set);
    else
        value_release(value_of(set));
    return outcome;
}

static int dict_fill(struct vm *vm, struct frame *frame, struct dict *dict,
                     uint32_t count)
{
    const struct value *pairs = frame->top - 2 * (int64_t)count;
    for (uint32_t i = 0; i < count; i++)
        if (dict_set(vm->heap, dict, pairs[2 * i], pairs[2 * i + 1], &vm->problem) !=
            STATUS_OK)
            return OUTCOME_ERROR;
    for (uint32_t i = 0; i < 2 * count; i++)
        value_release(*--frame->top);
    return OUTCOME_OK;
}

int run_dict_add(struct vm *vm, struct frame *frame, uint32_t n)
{
    return dict_fill(vm, frame, VALUE_AS(dict, frame->top[-1 - 2 * (int64_t)n]), n);
}

int run_enter(struct vm *vm, struct frame *frame, uint32_t n)
{
    return dict_fill(vm, frame, VALUE_AS(dict, frame->top[-(int64_t)n]), 1);
}

int run_dict(struct vm *vm, struct frame *frame, uint32_t n)
{
    struct dict *dict = dict_new(vm->heap, &vm->problem);
    if (!dict)
        return OUTCOME_ERROR;
    int outcome = dict_fill(vm, frame, dict, n);
    if (outcome == OUTCOME_OK)
        *frame->top++ = value_of(dict);
    else
        value_release(value_of(dict));
    return outcome;
}

// ---- Other containers' items. The iterable on top gives way to its iterator, so that
// the instruction goes on where it stopped when it is run again.

// OK: *item is the next one of the iterable on top, or ABSENT.
static int next_item(struct vm *vm, struct frame *frame, struct value *item)
{
    struct value *top = frame->top - 1, iterator;
    if (value_is_object(*top, OBJECT_PRODUCER))
        return producer_drain(vm, frame, top);
    if (!value_is_object(*top, OBJECT_ITERATOR)) {
        int outcome = value_iterate(vm, *top, &iterator);
        if (outcome != OUTCOME_OK)
            return outcome;
        value_release(*top);
        *top = iterator;
    }
    int outcome = vm_spend(vm, 1);
    return outcome == OUTCOME_OK ? (int)iterator_next(vm, VALUE_AS(iterator, *top), item)
                                 : outcome;
}

// Why a value cannot be iterated, in the words of its use; other failures stay.
static int raise_not_iterable(struct vm *vm, struct value value, const char *format)
{
    enum type type = value_type(value);
    if (vm->problem.status != STATUS_TYPE || type_is_subtype(type, TYPE_Tensor))
        return OUTCOME_ERROR;
    char text[PROBLEM_DETAIL_MAX];
    snprintf(text, sizeof text, "%s%s", format, type_short_name(type));
    return vm_raise(vm, STATUS_TYPE, "%s", text);
}

static void called_name(struct value function, char *text, size_t size)
{
    if (value_is_object(function, OBJECT_FUNCTION))
        snprintf(text, size, "%s() ",
                 VALUE_AS(function, function)->code->qualified->text);
    else if (function.tag == VALUE_NATIVE)
        snprintf(text, size, "%s() ", function.native->name);
    else
        text[0] = '\0';
}

int run_extend(struct vm *vm, struct frame *frame, uint32_t n)
{
    struct list *list = VALUE_AS(list, frame->top[-2]);
    for (;;) {
        struct value item;
        int outcome = next_item(vm, frame, &item);
        if (outcome == OUTCOME_ERROR && n == EXTEND_DISPLAY)
            return raise_not_iterable(vm, frame->top[-1],
                                      "Value after * must be an iterable, not ");
        if (outcome == OUTCOME_ERROR) {
            char name[PROBLEM_TEXT_MAX], text[PROBLEM_TEXT_MAX + 64];
            called_name(frame->top[-4], name, sizeof name);
            snprintf(text, sizeof text, "%sargument after * must be an iterable, not ",
                     name);
            return raise_not_iterable(vm, frame->top[-1], text);
        }
        if (outcome != OUTCOME_OK)
            return outcome;
        if (item.tag == VALUE_ABSENT)
            break;
        bool added = list_append(vm->heap, list, item, &vm->problem);
        value_release(item);
        if (!added)
            return OUTCOME_ERROR;
    }
    value_release(*--frame->top);
    return OUTCOME_OK;
}

int run_set_extend(struct vm *vm, struct frame *frame, uint32_t n)
{
    struct set *set = VALUE_AS(set, frame->top[-2]);
    for (;;) {
        struct value item;
        int outcome = next_item(vm, frame, &item);
        if (outcome != OUTCOME_OK)
            return outcome;
        if (item.tag == VALUE_ABSENT)
            break;
        enum status status = set_add(vm->heap, set, item, &vm->problem);
        value_release(item);
        if (status != STATUS_OK)
            return OUTCOME_ERROR;
    }
    value_release(*--frame->top);
    return OUTCOME_OK;
}

int run_dict_extend(struct vm *vm, struct frame *frame, uint32_t n)
{
    struct value mapping = frame->top[-1];
    struct dict *dict = VALUE_AS(dict, frame->top[-2]);
    if (!value_is_object(mapping, OBJECT_DICT))
        return vm_raise(vm, STATUS_TYPE, "'%s' object is not a mapping",
                        type_short_name(value_type(mapping)));
    struct dict_entry *entry;
    const struct dict *from = VALUE_AS(dict, mapping);
    if (vm_spend(vm, from->count) != OUTCOME_OK)
        return OUTCOME_ERROR;
    for (int64_t at = 0; (entry = dict_next(from, &at));)
        if (dict_set(vm->heap, dict, entry->key, entry->value, &vm->problem) != STATUS_OK)
            return OUTCOME_ERROR;
    value_release(*--frame->top);
    return OUTCOME_OK;
}

int run_merge(struct vm *vm, struct frame *frame, uint32_t n)
{
    struct value mapping = frame->top[-1];
    struct dict *dict = VALUE_AS(dict, frame->top[-2]);
    char name[PROBLEM_TEXT_MAX];
    called_name(frame->top[-5], name, sizeof name);
    if (!value_is_object(mapping, OBJECT_DICT))
        return vm_raise(vm, STATUS_TYPE, "%sargument after ** must be a mapping, not %s",
                        name, type_short_name(value_type(mapping)));
    if (vm_spend(vm, VALUE_AS(dict, mapping)->count) != OUTCOME_OK)
        return OUTCOME_ERROR;
    struct dict_entry *entry;
    for (int64_t at = 0; (entry = dict_next(VALUE_AS(dict, mapping), &at));) {
        struct value there = {.tag = VALUE_ABSENT};
        if (!value_is_object(entry->key, OBJECT_STRING))
            return vm_raise(vm, STATUS_TYPE, "keywords must be strings");
        if (dict_find(dict, entry->key, &there, &vm->problem) != STATUS_OK)
            return OUTCOME_ERROR;
        if (there.tag != VALUE_ABSENT)
            return vm_raise(vm, STATUS_TYPE,
                            "%sgot multiple values for keyword argument '%s'", name,
                            VALUE_AS(string, entry->key)->text);
        if (dict_set(vm->heap, dict, entry->key, entry->value, &vm->problem) != STATUS_OK)
            return OUTCOME_ERROR;
    }
    value_release(*--frame->top);
    return OUTCOME_OK;
}
