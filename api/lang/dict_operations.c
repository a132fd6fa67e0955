// SPDX-License-Identifier: Apache-2.0
// Operations on whole dicts and their views (sets.h). Threads: the program's.
#include "api/lang/builtins.h"
#include "api/lang/sequence.h"
#include "api/lang/sets.h"

enum outcome raise_key(struct vm *vm, struct value key)
{
    char buffer[256];
    struct text text;
    text_begin(&text, buffer, sizeof buffer);
    enum outcome outcome = value_repr(vm, key, &text);
    if (outcome == OUTCOME_OK) // a long one is cut by the problem
        outcome = vm_raise(
            vm, STATUS_KEY, "%.*s",
            (int)(text.length < PROBLEM_DETAIL_MAX ? text.length : PROBLEM_DETAIL_MAX),
            text.data);
    text_end(&text);
    return outcome;
}

// ---- Copies and updates

static enum outcome update_from_dict(struct vm *vm, struct dict *dict,
                                     const struct dict *other)
{
    enum outcome outcome = vm_spend(vm, other->n_entries / 2 + 1);
    int64_t position = 0;
    struct dict_entry *entry;
    while (outcome == OUTCOME_OK && other != dict &&
           (entry = dict_next(other, &position)))
        outcome = outcome_of(dict_set_hashed(vm_heap(vm), dict, entry->key, entry->hash,
                                             entry->value, vm_problem(vm)));
    return outcome;
}

enum outcome dict_copy(struct vm *vm, const struct dict *dict, struct dict **out)
{
    struct dict *copy = dict_new(vm_heap(vm), vm_problem(vm));
    if (!copy)
        return OUTCOME_ERROR;
    enum outcome outcome = update_from_dict(vm, copy, dict);
    if (outcome == OUTCOME_OK)
        *out = copy;
    else
        value_release(value_of(copy));
    return outcome;
}

// Element number `index` of an update as key and value (references).
static enum outcome pair_of(struct vm *vm, struct value element, int64_t index,
                            struct value pair[2])
{
    struct list *items;
    bool iterable = element.tag == VALUE_OBJECT &&
                    element.object->kind != OBJECT_FUNCTION &&
                    element.object->kind != OBJECT_SLICE;
    if (!iterable)
        return vm_raise(
            vm, STATUS_TYPE,
            "cannot convert dictionary update sequence element #%lld to a sequence",
            (long long)index);
    enum outcome outcome = sequence_collect(vm, element, &items);
    if (outcome != OUTCOME_OK)
        return outcome;
    if (items->count == 2) {
        pair[0] = value_reference(items->items[0]);
        pair[1] = value_reference(items->items[1]);
    } else {
        outcome =
            vm_raise(vm, STATUS_VALUE,
                     "dictionary update sequence element #%lld has length %lld; 2 is "
                     "required",
                     (long long)index, (long long)items->count);
    }
    value_release(value_of(items));
    return outcome;
}

static enum outcome update_from_pairs(struct vm *vm, struct dict *dict,
                                      struct value pairs)
{
    struct iterator *iterator = NULL;
    enum outcome outcome = walk_begin(vm, pairs, &iterator);
    if (outcome != OUTCOME_OK)
        return outcome;
    for (int64_t index = 0;; index++) {
        struct value element, pair[2];
        outcome = walk_next(vm, iterator, &element);
        if (outcome != OUTCOME_OK || element.tag == VALUE_ABSENT)
            break;
        outcome = pair_of(vm, element, index, pair);
        value_release(element);
        if (outcome != OUTCOME_OK)
            break;
        outcome =
            outcome_of(dict_set(vm_heap(vm), dict, pair[0], pair[1], vm_problem(vm)));
        value_release(pair[0]);
        value_release(pair[1]);
        if (outcome != OUTCOME_OK)
            break;
    }
    value_release(value_of(iterator));
    return outcome;
}

enum outcome dict_update(struct vm *vm, struct dict *dict, struct value other)
{
    if (value_is_object(other, OBJECT_DICT))
        return update_from_dict(vm, dict, VALUE_AS(dict, other));
    return update_from_pairs(vm, dict, other);
}

// ---- Views

struct view *view_new(struct heap *heap, enum view_kind which, struct dict *dict,
                      struct problem *problem)
{
    struct view *view = heap_object(heap, OBJECT_VIEW, sizeof *view, problem);
    if (!view)
        return NULL;
    view->which = which;
    view->dict = VALUE_AS(dict, value_reference(value_of(dict)));
    return view;
}

// & walks one side and keeps what the other has: a set if it is the larger, else the view
// that is not larger.
static enum outcome intersect_view(struct vm *vm, struct value view, struct value other,
                                   struct set **out)
{
    int64_t count = VALUE_AS(view, view)->dict->count;
    struct value item;
    if (value_is_object(other, OBJECT_SET) && count <= VALUE_AS(set, other)->count)
        return set_intersection(vm, VALUE_AS(set, other), view, out);
    if (value_is_set_view(other) && VALUE_AS(view, other)->dict->count > count) {
        struct value swapped = view;
        view = other;
        other = swapped;
    }
    struct iterator *iterator = NULL;
    enum outcome outcome = walk_begin(vm, other, &iterator);
    if (outcome != OUTCOME_OK)
        return outcome;
    struct set *common = set_new(vm_heap(vm), vm_problem(vm));
    outcome = common ? OUTCOME_OK : OUTCOME_ERROR;
    while (outcome == OUTCOME_OK &&
           (outcome = walk_next(vm, iterator, &item)) == OUTCOME_OK &&
           item.tag != VALUE_ABSENT) {
        bool has;
        outcome = value_contains(vm, view, item, &has);
        if (outcome == OUTCOME_OK && has)
            outcome = outcome_of(set_add(vm_heap(vm), common, item, vm_problem(vm)));
        value_release(item);
    }
    value_release(value_of(iterator));
    if (outcome == OUTCOME_OK)
        *out = common;
    else if (common)
        value_release(value_of(common));
    return outcome;
}

// op is one of | & - ^; one of a and b is a view of keys or items, the other any
// iterable.
enum outcome view_binary(struct vm *vm, enum binary_op op, struct value a, struct value b,
                         struct value *result)
{
    struct set *set;
    enum outcome outcome;
    if (op == BINARY_AND) {
        outcome = value_is_set_view(a) ? intersect_view(vm, a, b, &set)
                                       : intersect_view(vm, b, a, &set);
        if (outcome == OUTCOME_OK)
            *result = value_of(set);
        return outcome;
    }
    set = set_new(vm_heap(vm), vm_problem(vm));
    if (!set)
        return OUTCOME_ERROR;
    outcome = set_update(vm, set, a);
    if (outcome == OUTCOME_OK)
        outcome = op == BINARY_OR    ? set_update(vm, set, b)
                  : op == BINARY_SUB ? set_difference_update(vm, set, b)
                                     : set_symmetric_difference_update(vm, set, b);
    if (outcome == OUTCOME_OK)
        *result = value_of(set);
    else
        value_release(value_of(set));
    return outcome;
}
