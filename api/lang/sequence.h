// SPDX-License-Identifier: Apache-2.0
// Lists, tuples and ranges, and what all sequences share: index and slice rules.
// Copying is counted with vm_spend before it happens, so that no size a program can write
// down ends anywhere but in a problem. Threads: the program's.
#ifndef TENSORD_API_LANG_SEQUENCE_H
#define TENSORD_API_LANG_SEQUENCE_H

#include "api/lang/operate.h"

// ---- Making
// step is not 0. STATUS_OVERFLOW: more elements than 64 bits count.
struct range *range_new(struct heap *heap, int64_t start, int64_t stop, int64_t step,
                        struct problem *problem);
// Values are borrowed.
struct slice_object *slice_new(struct heap *heap, struct value start, struct value stop,
                               struct value step, struct problem *problem);
static inline int64_t range_item(const struct range *range, int64_t index)
{
    // The sum fits for an index inside, the product need not.
    return (int64_t)((uint64_t)range->start + (uint64_t)index * (uint64_t)range->step);
}
// Whether the number is an element, and which.
bool range_find(const struct range *range, int64_t number, int64_t *index);

// ---- Positions
struct span { // resolved slice: start, start + step ..., count of them
    int64_t start, stop, step, count;
};
// Python's rules for a slice of a sequence of so many elements. Out of range is clipped.
enum outcome slice_resolve(struct vm *vm, const struct slice_object *slice,
                           int64_t length, struct span *span);
// key as an index into a sequence: negative ones count from the end. `what` is the text
// of the error for other types without the type's name: "list indices must be integers or
// slices, not "; `range` is the whole text of STATUS_INDEX.
enum outcome sequence_index(struct vm *vm, struct value key, int64_t length,
                            const char *what, const char *range, int64_t *index);

// ---- Items
// The items of a list or tuple in place.
static inline struct value *sequence_items(struct value sequence, int64_t *count)
{
    if (value_is_object(sequence, OBJECT_LIST)) {
        *count = VALUE_AS(list, sequence)->count;
        return VALUE_AS(list, sequence)->items;
    }
    *count = VALUE_AS(tuple, sequence)->count;
    return VALUE_AS(tuple, sequence)->items;
}
static inline bool value_is_sequence(struct value value) // list or tuple
{
    return value.tag == VALUE_OBJECT &&
           (value.object->kind == OBJECT_LIST || value.object->kind == OBJECT_TUPLE);
}
// A new list of what iterating gives. A producer cannot be run here: STATUS_TYPE.
enum outcome sequence_collect(struct vm *vm, struct value iterable, struct list **out);
// A tuple of the same kind (torch.Size stays one) with these items.
struct tuple *tuple_like(struct vm *vm, const struct tuple *like, int64_t count,
                         const struct value *items);

// ---- Operators: dispatched to by operate.c
enum outcome sequence_concat(struct vm *vm, struct value a, struct value b,
                             struct value *result);
enum outcome sequence_repeat(struct vm *vm, struct value sequence, int64_t times,
                             struct value *result);
enum outcome sequence_get(struct vm *vm, struct value sequence, struct value key,
                          struct value *result);
enum outcome list_set(struct vm *vm, struct list *list, struct value key,
                      struct value item);
enum outcome list_delete(struct vm *vm, struct list *list, struct value key);
enum outcome list_set_slice(struct vm *vm, struct list *list,
                            const struct slice_object *slice, struct value items);
enum outcome list_delete_slice(struct vm *vm, struct list *list,
                               const struct slice_object *slice);
enum outcome list_repeat_in_place(struct vm *vm, struct list *list, int64_t times);

// ---- Lists
// Room for `more` items behind those that are there. False: problem set.
bool list_reserve(struct heap *heap, struct list *list, int64_t more,
                  struct problem *problem);
enum outcome list_extend(struct vm *vm, struct list *list, struct value iterable);
// Replaces `removed` items at `at` by others, which somebody else holds.
enum outcome list_splice(struct vm *vm, struct list *list, int64_t at, int64_t removed,
                         const struct value *items, int64_t count);

// ---- Iteration in natives
// An iterator (a reference) over any iterable but a producer, which only the machine can
// run: STATUS_TYPE. walk_next counts a step and gives a reference, ABSENT at the end.
enum outcome walk_begin(struct vm *vm, struct value iterable, struct iterator **out);
enum outcome walk_next(struct vm *vm, struct iterator *iterator, struct value *item);
// Backwards: reversed().
enum outcome value_reversed(struct vm *vm, struct value value, struct value *iterator);

// STATUS_VALUE "5 is not in list".
enum outcome raise_not_in(struct vm *vm, struct value item, const char *where);
// The place of an item in a range, -1 if it is none; floats count by value.
enum outcome range_has(struct vm *vm, struct value range, struct value item,
                       int64_t *index);

// ---- Slots of natives
// The receiver, after checking that it is of the kind: methods can be reached through
// their type (list.append), so that a program chooses the receiver.
enum outcome method_self(struct vm *vm, struct value self, enum object_kind kind,
                         const char *method);
#endif
