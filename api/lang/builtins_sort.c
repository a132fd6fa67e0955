// SPDX-License-Identifier: Apache-2.0
// _sorted(items, keys, reverse): the list in the order of its keys (None: of the items),
// by a stable merge sort of indices. Nothing changes before the order is known, so that
// it may wait and start again. Keys that are tensors of one element are compared as
// numbers: all are asked for at once. The program's thread.
#include "api/lang/builtins.h"
#include "api/lang/builtins_table.h"
#include "api/lang/sequence.h"
#include "api/lang/strings.h"

struct sort {
    struct vm *vm;
    struct value *keys; // numbers in place of tensors; borrowed
    bool reverse;
    enum outcome outcome;
};

// keys[a] < keys[b]; for a reversed order the other way round.
static bool is_less(struct sort *sort, int64_t a, int64_t b)
{
    struct value x = sort->keys[sort->reverse ? b : a],
                 y = sort->keys[sort->reverse ? a : b], less;
    if (x.tag == VALUE_INT && y.tag == VALUE_INT)
        return x.i < y.i;
    if (x.tag == VALUE_FLOAT && y.tag == VALUE_FLOAT)
        return x.f < y.f;
    if (sort->outcome != OUTCOME_OK)
        return false;
    if (value_is_object(x, OBJECT_STRING) && value_is_object(y, OBJECT_STRING))
        return string_compare(VALUE_AS(string, x), VALUE_AS(string, y)) < 0;
    bool truth = false;
    sort->outcome = value_compare(sort->vm, COMPARE_LT, x, y, &less);
    if (sort->outcome == OUTCOME_OK) {
        sort->outcome = value_truth(sort->vm, less, &truth);
        value_release(less);
    }
    return truth;
}

// Two neighbouring sorted runs into one.
static void merge(struct sort *sort, const int64_t *from, int64_t left, int64_t middle,
                  int64_t right, int64_t *to)
{
    int64_t i = left, k = middle, at = left;
    if (middle < right && !is_less(sort, from[middle], from[middle - 1])) {
        memcpy(to + left, from + left, (size_t)(right - left) * sizeof *to);
        return;
    }
    while (i < middle && k < right)
        to[at++] = is_less(sort, from[k], from[i]) ? from[k++] : from[i++];
    while (i < middle)
        to[at++] = from[i++];
    while (k < right)
        to[at++] = from[k++];
}

// Sorts order[0, count); *sorted is the half that has the result.
static void merge_sort(struct sort *sort, int64_t *order, int64_t *spare, int64_t count,
                       int64_t **sorted)
{
    for (int64_t i = 0; i < count; i++)
        order[i] = i;
    for (int64_t width = 1; width < count && sort->outcome == OUTCOME_OK; width *= 2) {
        for (int64_t left = 0; left < count; left += 2 * width) {
            int64_t middle = left + width < count ? left + width : count;
            int64_t right = left + 2 * width < count ? left + 2 * width : count;
            merge(sort, order, left, middle, right, spare);
            if (sort->outcome != OUTCOME_OK)
                return;
        }
        int64_t *other = order;
        order = spare;
        spare = other;
    }
    *sorted = order;
}

static enum outcome read_keys(struct vm *vm, const struct value *from, int64_t count,
                              struct value *keys)
{
    enum outcome all = OUTCOME_OK;
    for (int64_t i = 0; i < count; i++) {
        keys[i] = from[i];
        if (value_is_tensor(from[i]) && count > 1 &&
            !outcome_keep(&all, tensor_number(vm, from[i], &keys[i])))
            return vm_problem(vm)->status == STATUS_VALUE
                       ? vm_raise(vm, STATUS_VALUE,
                                  "Boolean value of Tensor with more than one value is "
                                  "ambiguous")
                       : OUTCOME_ERROR;
    }
    return all;
}

// About what comparing costs.
static int64_t sort_cost(int64_t count)
{
    int64_t levels = 64 - __builtin_clzll((uint64_t)count | 1);
    return count > INT64_MAX / 128 ? INT64_MAX : count * levels;
}

enum outcome builtin_sorted(struct vm *vm, struct value *slots, struct value *result)
{
    struct list *list = VALUE_AS(list, slots[0]);
    bool has_keys = slots[1].tag != VALUE_NONE;
    const struct list *keys = has_keys ? VALUE_AS(list, slots[1]) : list;
    struct sort sort = {.vm = vm, .outcome = OUTCOME_OK};
    int64_t count = list->count;
    enum outcome outcome = value_truth(vm, slots[2], &sort.reverse);
    if (outcome != OUTCOME_OK)
        return outcome;
    if (keys->count != count)
        return vm_raise(vm, STATUS_VALUE, "list modified during sort");
    if (vm_spend(vm, sort_cost(count)) == OUTCOME_ERROR)
        return OUTCOME_ERROR;
    size_t key_bytes = (size_t)count * sizeof *sort.keys,
           order_bytes = (size_t)count * sizeof(int64_t),
           bytes = key_bytes + 2 * order_bytes + 1;
    char *memory = heap_resize(vm_heap(vm), NULL, 0, bytes, vm_problem(vm));
    if (memory == NULL)
        return OUTCOME_ERROR;
    sort.keys = (struct value *)(void *)memory;
    int64_t *order = (int64_t *)(void *)(memory + key_bytes), *sorted = order;
    sort.outcome = read_keys(vm, keys->items, count, sort.keys);
    if (sort.outcome == OUTCOME_OK)
        merge_sort(&sort, order, order + count, count, &sorted);
    if (sort.outcome == OUTCOME_OK) {
        struct list *made = list_new(vm_heap(vm), count, list->items, vm_problem(vm));
        for (int64_t i = 0; made != NULL && i < count; i++) // the references only move
            made->items[i] = list->items[sorted[i]];
        *result = value_of(made);
        sort.outcome = made == NULL ? OUTCOME_ERROR : OUTCOME_OK;
    }
    heap_resize(vm_heap(vm), memory, bytes, 0, vm_problem(vm));
    return sort.outcome;
}
