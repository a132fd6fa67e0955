// SPDX-License-Identifier: Apache-2.0
// Lists and tuples: making, growing, concatenation, repetition, items (sequence.h).
// Threads: the program's.
#include "api/lang/sequence.h"

#include "api/lang/builtins.h"
#include "api/lang/strings.h"
#include "kernels/base/size.h"

static const int64_t max_items = INT64_MAX / (int64_t)sizeof(struct value) / 2;

// ---- Making

static size_t tuple_size(int64_t count)
{
    return sizeof(struct tuple) + (size_t)count * sizeof(struct value);
}

static bool count_fits(int64_t count, struct problem *problem)
{
    if (count <= max_items)
        return true;
    problem_set(problem, STATUS_OUT_OF_MEMORY, "No memory is that large.");
    return false;
}

struct tuple *tuple_new(struct heap *heap, int64_t count, const struct value *items,
                        struct problem *problem)
{
    if (!count_fits(count, problem))
        return NULL;
    struct tuple *tuple = heap_object(heap, OBJECT_TUPLE, tuple_size(count), problem);
    if (!tuple)
        return NULL;
    tuple->count = count;
    for (int64_t i = 0; i < count; i++)
        tuple->items[i] = items ? value_reference(items[i]) : value_none();
    return tuple;
}

struct tuple *tuple_like(struct vm *vm, const struct tuple *like, int64_t count,
                         const struct value *items)
{
    struct tuple *tuple = tuple_new(vm_heap(vm), count, items, vm_problem(vm));
    if (tuple)
        tuple->is_size = like->is_size;
    return tuple;
}

struct list *list_new(struct heap *heap, int64_t count, const struct value *items,
                      struct problem *problem)
{
    struct list *list = heap_object(heap, OBJECT_LIST, sizeof *list, problem);
    if (!list)
        return NULL;
    if (count > 0) {
        if (count_fits(count, problem))
            list->items =
                heap_resize(heap, NULL, 0, (size_t)count * sizeof *list->items, problem);
        if (!list->items) {
            value_release(value_of(list));
            return NULL;
        }
        list->capacity = list->count = count;
        for (int64_t i = 0; i < count; i++)
            list->items[i] = items ? value_reference(items[i]) : value_none();
    }
    return list;
}

// An eighth more than is needed, so that appending n items moves 9 n at most.
bool list_reserve(struct heap *heap, struct list *list, int64_t more,
                  struct problem *problem)
{
    int64_t needed = list->count + more;
    if (more <= list->capacity - list->count)
        return true;
    if (!count_fits(more, problem) || !count_fits(needed, problem))
        return false;
    int64_t capacity = (needed + (needed >> 3) + 6) & ~(int64_t)3;
    struct value *items =
        heap_resize(heap, list->items, (size_t)list->capacity * sizeof *items,
                    (size_t)capacity * sizeof *items, problem);
    if (!items)
        return false;
    list->items = items;
    list->capacity = capacity;
    return true;
}

bool list_append(struct heap *heap, struct list *list, struct value item,
                 struct problem *problem)
{
    if (list->count == list->capacity && !list_reserve(heap, list, 1, problem))
        return false;
    list->items[list->count++] = value_reference(item);
    return true;
}

// Gives memory back when less than half is used.
static void list_shrink(struct heap *heap, struct list *list)
{
    if (list->capacity < 16 || list->count >= list->capacity / 2)
        return;
    struct problem ignored;
    int64_t capacity = list->count > 4 ? list->count : 4;
    struct value *items =
        heap_resize(heap, list->items, (size_t)list->capacity * sizeof *items,
                    (size_t)capacity * sizeof *items, &ignored);
    if (!items)
        return; // it stays as large as it was
    list->items = items;
    list->capacity = capacity;
}

enum outcome list_splice(struct vm *vm, struct list *list, int64_t at, int64_t removed,
                         const struct value *items, int64_t count)
{
    enum outcome outcome =
        vm_spend(vm, (list->count - at) / 16 + (removed + count) / 4 + 1);
    if (outcome != OUTCOME_OK)
        return outcome;
    if (count > removed &&
        !list_reserve(vm_heap(vm), list, count - removed, vm_problem(vm)))
        return OUTCOME_ERROR;
    if (removed == 0 && count == 0)
        return OUTCOME_OK;
    for (int64_t i = at; i < at + removed; i++)
        value_release(list->items[i]);
    memmove(list->items + at + count, list->items + at + removed,
            (size_t)(list->count - at - removed) * sizeof *items);
    for (int64_t i = 0; i < count; i++)
        list->items[at + i] = value_reference(items[i]);
    list->count += count - removed;
    list_shrink(vm_heap(vm), list);
    return OUTCOME_OK;
}

// ---- From other iterables

static enum outcome extend_walking(struct vm *vm, struct list *list,
                                   struct value iterable)
{
    struct iterator *iterator = NULL;
    struct value item;
    enum outcome outcome = walk_begin(vm, iterable, &iterator);
    if (outcome != OUTCOME_OK)
        return outcome;
    while ((outcome = walk_next(vm, iterator, &item)) == OUTCOME_OK &&
           item.tag != VALUE_ABSENT) {
        bool appended = list_append(vm_heap(vm), list, item, vm_problem(vm));
        value_release(item);
        if (!appended) {
            outcome = OUTCOME_ERROR;
            break;
        }
    }
    value_release(value_of(iterator));
    return outcome;
}

enum outcome list_extend(struct vm *vm, struct list *list, struct value iterable)
{
    if (!value_is_sequence(iterable))
        return extend_walking(vm, list, iterable);
    int64_t count;
    sequence_items(iterable, &count);
    enum outcome outcome = vm_spend(vm, count / 4 + 1);
    if (outcome != OUTCOME_OK)
        return outcome;
    if (!list_reserve(vm_heap(vm), list, count, vm_problem(vm)))
        return OUTCOME_ERROR;
    const struct value *items =
        sequence_items(iterable, &count); // may be the list itself
    for (int64_t i = 0; i < count; i++)
        list->items[list->count + i] = value_reference(items[i]);
    list->count += count;
    return OUTCOME_OK;
}

enum outcome sequence_collect(struct vm *vm, struct value iterable, struct list **out)
{
    struct list *list = list_new(vm_heap(vm), 0, NULL, vm_problem(vm));
    if (!list)
        return OUTCOME_ERROR;
    enum outcome outcome = list_extend(vm, list, iterable);
    if (outcome == OUTCOME_OK)
        *out = list;
    else
        value_release(value_of(list));
    return outcome;
}

// ---- + and *

// An empty list or tuple of the kind of `like` with room for count items.
static enum outcome begin_items(struct vm *vm, struct value like, int64_t count,
                                struct value *made, struct value **items)
{
    enum outcome outcome = vm_spend(vm, count / 4 + 1);
    if (outcome != OUTCOME_OK)
        return outcome;
    int64_t ignored;
    void *object;
    if (value_is_object(like, OBJECT_LIST))
        object = list_new(vm_heap(vm), count, NULL, vm_problem(vm));
    else
        object = tuple_like(vm, VALUE_AS(tuple, like), count, NULL);
    if (!object)
        return OUTCOME_ERROR;
    *made = value_of(object);
    *items = sequence_items(*made, &ignored);
    return OUTCOME_OK;
}

static void copy_items(struct value *to, const struct value *from, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        to[i] = value_reference(from[i]);
}

// Two lists, or two tuples. torch.Size stays one where it stands on the left.
enum outcome sequence_concat(struct vm *vm, struct value a, struct value b,
                             struct value *result)
{
    int64_t left, right, count;
    const struct value *first = sequence_items(a, &left),
                       *second = sequence_items(b, &right);
    struct value *items;
    if (!size_add(left, right, &count))
        return vm_raise(vm, STATUS_OUT_OF_MEMORY, "the list is too long");
    enum outcome outcome = begin_items(vm, a, count, result, &items);
    if (outcome != OUTCOME_OK)
        return outcome;
    copy_items(items, first, left);
    copy_items(items + left, second, right);
    return OUTCOME_OK;
}

static bool repeated_count(int64_t count, int64_t times, int64_t *out)
{
    return size_multiply(count, times < 0 ? 0 : times, out) && *out <= max_items;
}

enum outcome sequence_repeat(struct vm *vm, struct value sequence, int64_t times,
                             struct value *result)
{
    int64_t count, whole;
    const struct value *items = sequence_items(sequence, &count);
    struct value *to;
    if (!repeated_count(count, times, &whole))
        return vm_raise(vm, STATUS_OUT_OF_MEMORY, "the repeated %s is too long",
                        type_short_name(value_type(sequence)));
    enum outcome outcome = begin_items(vm, sequence, whole, result, &to);
    for (int64_t i = 0; outcome == OUTCOME_OK && i < whole; i += count)
        copy_items(to + i, items, count);
    return outcome;
}

enum outcome list_repeat_in_place(struct vm *vm, struct list *list, int64_t times)
{
    int64_t count = list->count, whole;
    if (!repeated_count(count, times, &whole))
        return vm_raise(vm, STATUS_OUT_OF_MEMORY, "the repeated list is too long");
    if (whole == 0)
        return list_splice(vm, list, 0, count, NULL, 0);
    enum outcome outcome = vm_spend(vm, whole / 4 + 1);
    if (outcome != OUTCOME_OK)
        return outcome;
    if (!list_reserve(vm_heap(vm), list, whole - count, vm_problem(vm)))
        return OUTCOME_ERROR;
    for (int64_t i = count; i < whole; i += count)
        copy_items(list->items + i, list->items, count);
    list->count = whole;
    return OUTCOME_OK;
}
