// SPDX-License-Identifier: Apache-2.0
// Slices and items of lists, tuples, strings and ranges (sequence.h). Threads: the
// program's.
#include "api/lang/builtins.h"
#include "api/lang/sequence.h"
#include "api/lang/strings.h"

struct slice_object *slice_new(struct heap *heap, struct value start, struct value stop,
                               struct value step, struct problem *problem)
{
    struct slice_object *slice = heap_object(heap, OBJECT_SLICE, sizeof *slice, problem);
    if (!slice)
        return NULL;
    slice->start = value_reference(start);
    slice->stop = value_reference(stop);
    slice->step = value_reference(step);
    return slice;
}

// ---- Positions

static enum outcome slice_part(struct vm *vm, struct value part, int64_t absent,
                               int64_t *out)
{
    if (part.tag == VALUE_NONE) {
        *out = absent;
        return OUTCOME_OK;
    }
    if (part.tag == VALUE_WIDE) { // clipped in any case
        *out = INT64_MAX;
        return OUTCOME_OK;
    }
    if (!value_is_integer(part) && !value_is_object(part, OBJECT_TENSOR))
        return vm_raise(vm, STATUS_TYPE,
                        "slice indices must be integers or None or have an "
                        "__index__ method");
    return value_to_index(vm, part, out);
}

// A bound, clipped to 0..length (or -1..length-1 backwards).
static int64_t clip(int64_t bound, int64_t length, bool backwards)
{
    int64_t low = backwards ? -1 : 0, high = backwards ? length - 1 : length;
    if (bound < 0)
        return bound < -length ? low : bound + length;
    return bound > high ? high : bound;
}

enum outcome slice_resolve(struct vm *vm, const struct slice_object *slice,
                           int64_t length, struct span *span)
{
    int64_t start, stop, step;
    enum outcome outcome = slice_part(vm, slice->step, 1, &step);
    if (outcome != OUTCOME_OK)
        return outcome;
    if (step == 0)
        return vm_raise(vm, STATUS_VALUE, "slice step cannot be zero");
    if (step == INT64_MIN)
        step = -INT64_MAX;
    outcome = slice_part(vm, slice->start, step < 0 ? INT64_MAX : 0, &start);
    if (outcome == OUTCOME_OK)
        outcome = slice_part(vm, slice->stop, step < 0 ? INT64_MIN : INT64_MAX, &stop);
    if (outcome != OUTCOME_OK)
        return outcome;
    *span = (struct span){clip(start, length, step < 0), clip(stop, length, step < 0),
                          step, 0};
    if (step > 0 && span->start < span->stop)
        span->count = (span->stop - span->start - 1) / step + 1;
    else if (step < 0 && span->stop < span->start)
        span->count = (span->start - span->stop - 1) / -step + 1;
    return OUTCOME_OK;
}

enum outcome sequence_index(struct vm *vm, struct value key, int64_t length,
                            const char *what, const char *range, int64_t *index)
{
    if (key.tag == VALUE_WIDE)
        return vm_raise(vm, STATUS_INDEX, "cannot fit 'int' into an index-sized integer");
    if (key.tag == VALUE_INT) {
        *index = key.i;
    } else if (value_is_integer(key) || value_is_object(key, OBJECT_TENSOR)) {
        enum outcome outcome = value_to_index(vm, key, index);
        if (outcome != OUTCOME_OK)
            return outcome;
    } else {
        return vm_raise(vm, STATUS_TYPE, "%s%s", what, value_type_name(key));
    }
    if (*index < 0)
        *index += length;
    if (*index < 0 || *index >= length)
        return vm_raise(vm, STATUS_INDEX, "%s", range);
    return OUTCOME_OK;
}

// ---- Reading

static enum outcome items_slice(struct vm *vm, struct value sequence,
                                const struct span *span, struct value *result)
{
    int64_t length, ignored;
    enum outcome outcome = vm_spend(vm, span->count / 4 + 1);
    if (outcome != OUTCOME_OK)
        return outcome;
    struct value *from = sequence_items(sequence, &length), *to;
    bool is_tuple = value_is_object(sequence, OBJECT_TUPLE);
    if (is_tuple && span->count == length && span->step == 1 &&
        !VALUE_AS(tuple, sequence)->fields) {
        *result = value_reference(sequence);
        return OUTCOME_OK;
    }
    void *made =
        is_tuple ? (void *)tuple_like(vm, VALUE_AS(tuple, sequence), span->count, NULL)
                 : (void *)list_new(vm_heap(vm), span->count, NULL, vm_problem(vm));
    if (!made)
        return OUTCOME_ERROR;
    *result = value_of(made);
    to = sequence_items(*result, &ignored);
    for (int64_t i = 0; i < span->count; i++)
        to[i] = value_reference(from[span->start + i * span->step]);
    return OUTCOME_OK;
}

static enum outcome range_slice(struct vm *vm, const struct range *range,
                                const struct span *span, struct value *result)
{
    int64_t start, stop, step;
    if (__builtin_mul_overflow(range->step, span->step, &step) ||
        __builtin_mul_overflow(range->step, span->start, &start) ||
        __builtin_mul_overflow(range->step, span->stop, &stop) ||
        __builtin_add_overflow(range->start, start, &start) ||
        __builtin_add_overflow(range->start, stop, &stop))
        return vm_raise(vm, STATUS_OVERFLOW, "the range does not fit 64 bits");
    struct range *made =
        heap_object(vm_heap(vm), OBJECT_RANGE, sizeof *made, vm_problem(vm));
    if (!made)
        return OUTCOME_ERROR;
    made->start = start;
    made->stop = stop;
    made->step = step;
    made->count = span->count;
    *result = value_of(made);
    return OUTCOME_OK;
}

static enum outcome get_slice(struct vm *vm, struct value sequence,
                              const struct slice_object *slice, int64_t length,
                              struct value *result)
{
    struct span span = {0};
    enum outcome outcome = slice_resolve(vm, slice, length, &span);
    if (outcome != OUTCOME_OK)
        return outcome;
    if (value_is_object(sequence, OBJECT_STRING))
        return string_slice(vm, VALUE_AS(string, sequence), span.start, span.step,
                            span.count, result);
    if (value_is_object(sequence, OBJECT_RANGE))
        return range_slice(vm, VALUE_AS(range, sequence), &span, result);
    return items_slice(vm, sequence, &span, result);
}

static const char *const key_texts[] = {
    [OBJECT_LIST] = "list indices must be integers or slices, not ",
    [OBJECT_TUPLE] = "tuple indices must be integers or slices, not ",
    [OBJECT_RANGE] = "range indices must be integers or slices, not ",
};
static const char *const range_texts[] = {
    [OBJECT_STRING] = "string index out of range",
    [OBJECT_LIST] = "list index out of range",
    [OBJECT_TUPLE] = "tuple index out of range",
    [OBJECT_RANGE] = "range object index out of range",
};

static bool is_index(struct value key)
{
    return value_is_integer(key) || key.tag == VALUE_WIDE ||
           value_is_object(key, OBJECT_TENSOR);
}

enum outcome sequence_get(struct vm *vm, struct value sequence, struct value key,
                          struct value *result)
{
    int kind = sequence.object->kind;
    int64_t length, index;
    if (kind == OBJECT_STRING)
        length = VALUE_AS(string, sequence)->characters;
    else if (kind == OBJECT_RANGE)
        length = VALUE_AS(range, sequence)->count;
    else
        sequence_items(sequence, &length);
    if (value_is_object(key, OBJECT_SLICE))
        return get_slice(vm, sequence, VALUE_AS(slice_object, key), length, result);
    if (kind == OBJECT_STRING && !is_index(key))
        return vm_raise(vm, STATUS_TYPE, "string indices must be integers, not '%s'",
                        value_type_name(key));
    enum outcome outcome =
        sequence_index(vm, key, length, key_texts[kind], range_texts[kind], &index);
    if (outcome != OUTCOME_OK)
        return outcome;
    if (kind == OBJECT_STRING)
        return string_slice(vm, VALUE_AS(string, sequence), index, 1, 1, result);
    if (kind == OBJECT_RANGE)
        *result = value_int(range_item(VALUE_AS(range, sequence), index));
    else
        *result = value_reference(sequence_items(sequence, &length)[index]);
    return OUTCOME_OK;
}

// ---- Writing

static enum outcome list_index(struct vm *vm, const struct list *list, struct value key,
                               int64_t *index)
{
    return sequence_index(vm, key, list->count, key_texts[OBJECT_LIST],
                          "list assignment index out of range", index);
}

enum outcome list_set(struct vm *vm, struct list *list, struct value key,
                      struct value item)
{
    int64_t index;
    if (value_is_object(key, OBJECT_SLICE))
        return list_set_slice(vm, list, VALUE_AS(slice_object, key), item);
    enum outcome outcome = list_index(vm, list, key, &index);
    if (outcome != OUTCOME_OK)
        return outcome;
    struct value old = list->items[index];
    list->items[index] = value_reference(item);
    value_release(old);
    return OUTCOME_OK;
}

enum outcome list_delete(struct vm *vm, struct list *list, struct value key)
{
    int64_t index;
    if (value_is_object(key, OBJECT_SLICE))
        return list_delete_slice(vm, list, VALUE_AS(slice_object, key));
    enum outcome outcome = list_index(vm, list, key, &index);
    return outcome == OUTCOME_OK ? list_splice(vm, list, index, 1, NULL, 0) : outcome;
}

// Whether iter() would take the value: asked first, for the text of the error.
static bool is_iterable(struct vm *vm, struct value value)
{
    if (value.tag != VALUE_OBJECT)
        return false;
    switch ((enum object_kind)value.object->kind) {
    case OBJECT_SLICE:
    case OBJECT_FUNCTION:
    case OBJECT_BOUND:
    case OBJECT_BOX:
    case OBJECT_RECORD:
        return false;
    default:
        return true;
    }
}

static enum outcome set_stepped(struct vm *vm, struct list *list, const struct span *span,
                                const struct list *items)
{
    if (items->count != span->count)
        return vm_raise(
            vm, STATUS_VALUE,
            "attempt to assign sequence of size %lld to extended slice of size %lld",
            (long long)items->count, (long long)span->count);
    enum outcome outcome = vm_spend(vm, span->count / 4 + 1);
    for (int64_t i = 0; outcome == OUTCOME_OK && i < span->count; i++) {
        struct value *place = &list->items[span->start + i * span->step], old = *place;
        *place = value_reference(items->items[i]);
        value_release(old); // `items` is a list of its own: nothing read later goes
    }
    return outcome;
}

enum outcome list_set_slice(struct vm *vm, struct list *list,
                            const struct slice_object *slice, struct value items)
{
    struct span span = {0};
    struct list *copy;
    enum outcome outcome = slice_resolve(vm, slice, list->count, &span);
    if (outcome != OUTCOME_OK)
        return outcome;
    if (!is_iterable(vm, items))
        return vm_raise(vm, STATUS_TYPE,
                        span.step == 1 ? "can only assign an iterable"
                                       : "must assign iterable to extended slice");
    outcome = sequence_collect(vm, items, &copy);
    if (outcome != OUTCOME_OK)
        return outcome;
    if (span.step == 1) {
        int64_t removed = span.stop > span.start ? span.stop - span.start : 0;
        outcome = list_splice(vm, list, span.start, removed, copy->items, copy->count);
    } else {
        outcome = set_stepped(vm, list, &span, copy);
    }
    value_release(value_of(copy));
    return outcome;
}

enum outcome list_delete_slice(struct vm *vm, struct list *list,
                               const struct slice_object *slice)
{
    struct span span = {0};
    enum outcome outcome = slice_resolve(vm, slice, list->count, &span);
    if (outcome != OUTCOME_OK || span.count == 0)
        return outcome;
    if (span.step == 1)
        return list_splice(vm, list, span.start, span.count, NULL, 0);
    outcome = vm_spend(vm, list->count / 4 + 1);
    if (outcome != OUTCOME_OK)
        return outcome;
    if (span.step < 0) { // the same places forwards
        span.start += (span.count - 1) * span.step;
        span.step = -span.step;
    }
    // What is deleted gathers behind what stays, and goes as the end of the list does.
    struct list *kept =
        list_new(vm_heap(vm), list->count - span.count, NULL, vm_problem(vm));
    if (!kept)
        return OUTCOME_ERROR;
    int64_t next = span.start, deleted = 0, stays = 0;
    for (int64_t i = 0; i < list->count; i++) {
        if (i == next && deleted < span.count) {
            deleted++;
            next += deleted < span.count ? span.step : 0;
        } else {
            kept->items[stays++] = value_reference(list->items[i]);
        }
    }
    struct list old = *list;
    list->items = kept->items, list->count = kept->count, list->capacity = kept->capacity;
    kept->items = old.items, kept->count = old.count, kept->capacity = old.capacity;
    value_release(value_of(kept));
    return OUTCOME_OK;
}
