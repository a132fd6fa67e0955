// SPDX-License-Identifier: Apache-2.0
// range, and the methods of range and slice. Threads: the program's.
#include "api/lang/number.h"
#include "api/lang/sequence.h"

// How many numbers from start towards stop; above INT64_MAX too.
static uint64_t count_range(int64_t start, int64_t stop, int64_t step)
{
    if (step > 0 ? start >= stop : start <= stop)
        return 0;
    uint64_t distance =
        step > 0 ? (uint64_t)stop - (uint64_t)start : (uint64_t)start - (uint64_t)stop;
    uint64_t stride = step > 0 ? (uint64_t)step : 0 - (uint64_t)step;
    return (distance - 1) / stride + 1;
}

struct range *range_new(struct heap *heap, int64_t start, int64_t stop, int64_t step,
                        struct problem *problem)
{
    uint64_t count = count_range(start, stop, step);
    if (count > INT64_MAX) {
        problem_set(problem, STATUS_OVERFLOW, "the range has more than 2**63-1 numbers");
        return NULL;
    }
    struct range *range = heap_object(heap, OBJECT_RANGE, sizeof *range, problem);
    if (!range)
        return NULL;
    range->start = start;
    range->stop = stop;
    range->step = step;
    range->count = (int64_t)count;
    return range;
}

bool range_find(const struct range *range, int64_t number, int64_t *index)
{
    if (range->count == 0)
        return false;
    int64_t last = range_item(range, range->count - 1);
    int64_t low = range->step > 0 ? range->start : last;
    int64_t high = range->step > 0 ? last : range->start;
    if (number < low || number > high)
        return false;
    uint64_t distance = range->step > 0 ? (uint64_t)number - (uint64_t)range->start
                                        : (uint64_t)range->start - (uint64_t)number;
    uint64_t stride = range->step > 0 ? (uint64_t)range->step : 0 - (uint64_t)range->step;
    if (distance % stride != 0)
        return false;
    *index = (int64_t)(distance / stride);
    return true;
}

// ---- Methods of range

// The number that a value equals if it can be an element.
static bool whole_number(struct value value, int64_t *number)
{
    if (value_is_integer(value)) {
        *number = value.i;
        return true;
    }
    if (value.tag != VALUE_FLOAT || !(value.f >= -0x1p63 && value.f < 0x1p63))
        return false;
    *number = (int64_t)value.f;
    return (double)*number == value.f;
}

enum outcome range_has(struct vm *vm, struct value range, struct value item,
                       int64_t *index)
{
    int64_t number;
    *index = -1;
    if (value_is_object(item, OBJECT_TENSOR))
        return vm_raise(vm, STATUS_TYPE,
                        "a tensor is not looked for in a range: use item()");
    if (whole_number(item, &number) && !range_find(VALUE_AS(range, range), number, index))
        *index = -1;
    return OUTCOME_OK;
}

static enum outcome range_count_method(struct vm *vm, struct value *slots,
                                       struct value *result)
{
    int64_t index;
    if (method_self(vm, slots[0], OBJECT_RANGE, "count") != OUTCOME_OK)
        return OUTCOME_ERROR;
    enum outcome outcome = range_has(vm, slots[0], slots[1], &index);
    *result = value_int(index >= 0);
    return outcome;
}

static enum outcome range_index_method(struct vm *vm, struct value *slots,
                                       struct value *result)
{
    int64_t index;
    if (method_self(vm, slots[0], OBJECT_RANGE, "index") != OUTCOME_OK)
        return OUTCOME_ERROR;
    enum outcome outcome = range_has(vm, slots[0], slots[1], &index);
    if (outcome == OUTCOME_OK && index < 0 && !value_is_integer(slots[1]))
        return vm_raise(vm, STATUS_VALUE, "sequence.index(x): x not in sequence");
    if (outcome == OUTCOME_OK && index < 0)
        return raise_not_in(vm, slots[1], "range");
    *result = value_int(index);
    return outcome;
}

struct native range_methods[] = {
    {"count", "self, value, /", range_count_method, NULL},
    {"index", "self, value, /", range_index_method, NULL},
    {0},
};

// ---- Methods of slice

static enum outcome slice_indices_method(struct vm *vm, struct value *slots,
                                         struct value *result)
{
    int64_t length;
    struct span span = {0};
    if (method_self(vm, slots[0], OBJECT_SLICE, "indices") != OUTCOME_OK)
        return OUTCOME_ERROR;
    enum outcome outcome = value_to_index(vm, slots[1], &length);
    if (outcome != OUTCOME_OK)
        return outcome;
    if (length < 0)
        return vm_raise(vm, STATUS_VALUE, "length should not be negative");
    outcome = slice_resolve(vm, VALUE_AS(slice_object, slots[0]), length, &span);
    if (outcome != OUTCOME_OK)
        return outcome;
    struct value parts[] = {value_int(span.start), value_int(span.stop),
                            value_int(span.step)};
    struct tuple *tuple = tuple_new(vm_heap(vm), 3, parts, vm_problem(vm));
    if (!tuple)
        return OUTCOME_ERROR;
    *result = value_of(tuple);
    return OUTCOME_OK;
}

struct native slice_methods[] = {
    {"indices", "self, length, /", slice_indices_method, NULL},
    {0},
};
