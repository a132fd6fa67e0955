// SPDX-License-Identifier: Apache-2.0
// Operations on whole sets (sets.h). Each walks its operands and fills its result in the
// way CPython 3.11 does, down to which operand is walked, because the order of the result
// follows from it. Threads: the program's.
#include "api/lang/sets.h"

#include "api/lang/sequence.h"

static enum outcome begin_result(struct vm *vm, int64_t elements, struct set **out)
{
    enum outcome outcome = vm_spend(vm, elements / 2 + 1);
    if (outcome != OUTCOME_OK)
        return outcome;
    *out = set_new(vm_heap(vm), vm_problem(vm));
    return *out ? OUTCOME_OK : OUTCOME_ERROR;
}

// Hands the result out, or lets it go.
static enum outcome end_result(enum outcome outcome, struct set *result, struct set **out)
{
    if (outcome == OUTCOME_OK)
        *out = result;
    else
        value_release(value_of(result));
    return outcome;
}

static enum outcome merge(struct vm *vm, struct set *set, const struct set *other)
{
    enum outcome outcome = vm_spend(vm, other->table_size / 2 + 1);
    return outcome == OUTCOME_OK
               ? outcome_of(set_merge(vm_heap(vm), set, other, vm_problem(vm)))
               : outcome;
}

enum outcome set_copy(struct vm *vm, const struct set *set, struct set **out)
{
    struct set *copy;
    enum outcome outcome = begin_result(vm, set->count, &copy);
    return outcome == OUTCOME_OK ? end_result(merge(vm, copy, set), copy, out) : outcome;
}

// ---- A visit of every element of an iterable with its hash.

typedef enum outcome visitor(struct vm *vm, void *context, struct value key,
                             uint64_t hash);

static enum outcome each_of_set(struct vm *vm, const struct set *set, visitor *visit,
                                void *context)
{
    enum outcome outcome = vm_spend(vm, set->table_size / 2 + 1);
    int64_t position = 0;
    struct set_entry *entry;
    while (outcome == OUTCOME_OK && (entry = set_next(set, &position)))
        outcome = visit(vm, context, entry->key, entry->hash);
    return outcome;
}

static enum outcome each_of_dict(struct vm *vm, const struct dict *dict, visitor *visit,
                                 void *context)
{
    enum outcome outcome = vm_spend(vm, dict->n_entries / 2 + 1);
    int64_t position = 0;
    struct dict_entry *entry;
    while (outcome == OUTCOME_OK && (entry = dict_next(dict, &position)))
        outcome = visit(vm, context, entry->key, entry->hash);
    return outcome;
}

static enum outcome each(struct vm *vm, struct value iterable, visitor *visit,
                         void *context)
{
    if (value_is_object(iterable, OBJECT_SET))
        return each_of_set(vm, VALUE_AS(set, iterable), visit, context);
    if (value_is_object(iterable, OBJECT_DICT))
        return each_of_dict(vm, VALUE_AS(dict, iterable), visit, context);
    struct iterator *iterator = NULL;
    enum outcome outcome = walk_begin(vm, iterable, &iterator);
    if (outcome != OUTCOME_OK)
        return outcome;
    for (;;) {
        struct value key;
        uint64_t hash;
        outcome = walk_next(vm, iterator, &key);
        if (outcome != OUTCOME_OK || key.tag == VALUE_ABSENT)
            break;
        outcome = key_hash(vm, key, &hash);
        if (outcome == OUTCOME_OK)
            outcome = visit(vm, context, key, hash);
        value_release(key);
        if (outcome != OUTCOME_OK)
            break;
    }
    value_release(value_of(iterator));
    return outcome;
}

static enum outcome visit_add(struct vm *vm, void *set, struct value key, uint64_t hash)
{
    return outcome_of(set_add_hashed(vm_heap(vm), set, key, hash, vm_problem(vm)));
}

static enum outcome visit_remove(struct vm *vm, void *set, struct value key,
                                 uint64_t hash)
{
    set_remove_hashed(set, key, hash);
    return OUTCOME_OK;
}

// Removes what is there, adds what is not.
static enum outcome visit_toggle(struct vm *vm, void *set, struct value key,
                                 uint64_t hash)
{
    return set_remove_hashed(set, key, hash) ? OUTCOME_OK : visit_add(vm, set, key, hash);
}

struct filter {
    struct set *result;
    const struct set *set;   // that is asked, or
    const struct dict *dict; // this one
    bool keep;               // keys that are in it, or those that are not
};

static enum outcome visit_filter(struct vm *vm, void *context, struct value key,
                                 uint64_t hash)
{
    struct filter *filter = context;
    bool has = filter->set ? set_has_hashed(filter->set, key, hash)
                           : dict_find_hashed(filter->dict, key, hash) != NULL;
    return has == filter->keep ? visit_add(vm, filter->result, key, hash) : OUTCOME_OK;
}

// ---- Union

enum outcome set_update(struct vm *vm, struct set *set, struct value other)
{
    if (value_is_object(other, OBJECT_SET))
        return merge(vm, set, VALUE_AS(set, other));
    if (value_is_object(other, OBJECT_DICT)) {
        int64_t more = VALUE_AS(dict, other)->count;
        int64_t size = set->table_size > 0 ? set->table_size : 8;
        if ((set->fill + more) * 5 >= (size - 1) * 3 &&
            set_resize(vm_heap(vm), set, (set->count + more) * 2, vm_problem(vm)) !=
                STATUS_OK)
            return OUTCOME_ERROR;
    }
    return each(vm, other, visit_add, set);
}

enum outcome set_of(struct vm *vm, struct value iterable, struct set **out)
{
    if (value_is_object(iterable, OBJECT_SET)) {
        *out = VALUE_AS(set, value_reference(iterable));
        return OUTCOME_OK;
    }
    struct set *set;
    enum outcome outcome = begin_result(vm, 0, &set);
    return outcome == OUTCOME_OK ? end_result(set_update(vm, set, iterable), set, out)
                                 : outcome;
}

// ---- Intersection

enum outcome set_intersection(struct vm *vm, struct set *set, struct value other,
                              struct set **out)
{
    struct filter filter = {.set = set, .keep = true};
    if (value_is_object(other, OBJECT_SET)) { // the smaller one is walked
        struct set *second = VALUE_AS(set, other);
        if (second == set)
            return set_copy(vm, set, out);
        if (second->count > set->count) {
            filter.set = second;
            other = value_of(set);
        }
    }
    enum outcome outcome = begin_result(vm, 0, &filter.result);
    return outcome == OUTCOME_OK
               ? end_result(each(vm, other, visit_filter, &filter), filter.result, out)
               : outcome;
}

// ---- Difference

enum outcome set_difference_update(struct vm *vm, struct set *set, struct value other)
{
    struct set *common = NULL;
    enum outcome outcome = OUTCOME_OK;
    if (value_is_object(other, OBJECT_SET)) {
        if (VALUE_AS(set, other) == set) {
            set_clear(vm_heap(vm), set);
            return OUTCOME_OK;
        }
        if (VALUE_AS(set, other)->count >> 3 > set->count) {
            outcome = set_intersection(vm, set, other, &common);
            if (outcome != OUTCOME_OK)
                return outcome;
            other = value_of(common);
        }
    }
    outcome = each(vm, other, visit_remove, set);
    if (common)
        value_release(value_of(common));
    if (outcome != OUTCOME_OK || set->fill - set->count <= (set->table_size - 1) / 4)
        return outcome;
    return outcome_of(set_resize(vm_heap(vm), set,
                                 set->count > 50000 ? set->count * 2 : set->count * 4,
                                 vm_problem(vm)));
}

enum outcome set_difference(struct vm *vm, struct set *set, struct value other,
                            struct set **out)
{
    struct filter filter = {.keep = false};
    int64_t size = -1;
    if (value_is_object(other, OBJECT_SET)) {
        filter.set = VALUE_AS(set, other);
        size = filter.set->count;
    } else if (value_is_object(other, OBJECT_DICT)) {
        filter.dict = VALUE_AS(dict, other);
        size = filter.dict->count;
    }
    enum outcome outcome;
    if (size < 0 || set->count >> 2 > size) { // a copy without the others
        struct set *copy;
        outcome = set_copy(vm, set, &copy);
        return outcome == OUTCOME_OK
                   ? end_result(set_difference_update(vm, copy, other), copy, out)
                   : outcome;
    }
    outcome = begin_result(vm, 0, &filter.result);
    return outcome == OUTCOME_OK ? end_result(each_of_set(vm, set, visit_filter, &filter),
                                              filter.result, out)
                                 : outcome;
}

// ---- Symmetric difference

enum outcome set_symmetric_difference_update(struct vm *vm, struct set *set,
                                             struct value other)
{
    if (value_is_object(other, OBJECT_DICT))
        return each(vm, other, visit_toggle, set);
    struct set *keys; // each once
    enum outcome outcome = set_of(vm, other, &keys);
    if (outcome != OUTCOME_OK)
        return outcome;
    if (keys == set)
        set_clear(vm_heap(vm), set);
    else
        outcome = each_of_set(vm, keys, visit_toggle, set);
    value_release(value_of(keys));
    return outcome;
}

enum outcome set_symmetric_difference(struct vm *vm, struct set *set, struct value other,
                                      struct set **out)
{
    struct set *result;
    enum outcome outcome = begin_result(vm, 0, &result);
    if (outcome != OUTCOME_OK)
        return outcome;
    outcome = set_update(vm, result, other);
    if (outcome == OUTCOME_OK)
        outcome = set_symmetric_difference_update(vm, result, value_of(set));
    return end_result(outcome, result, out);
}

// ---- The rest

void set_swap(struct set *a, struct set *b)
{
    struct set_entry *table = a->table;
    int64_t count = a->count, fill = a->fill, size = a->table_size;
    a->table = b->table, b->table = table;
    a->count = b->count, b->count = count;
    a->fill = b->fill, b->fill = fill;
    a->table_size = b->table_size, b->table_size = size;
}

enum outcome set_is_subset(struct vm *vm, const struct set *set, const struct set *of,
                           bool *is)
{
    int64_t position = 0;
    struct set_entry *entry;
    *is = false;
    if (set->count > of->count)
        return OUTCOME_OK;
    enum outcome outcome = vm_spend(vm, set->table_size / 2 + 1);
    if (outcome != OUTCOME_OK)
        return outcome;
    while ((entry = set_next(set, &position)))
        if (!set_has_hashed(of, entry->key, entry->hash))
            return OUTCOME_OK;
    *is = true;
    return OUTCOME_OK;
}

static enum outcome binary_in_place(struct vm *vm, enum binary_op op, struct set *a,
                                    struct value b)
{
    if (op == BINARY_OR)
        return set_update(vm, a, b);
    if (op == BINARY_SUB)
        return set_difference_update(vm, a, b);
    if (op == BINARY_XOR)
        return set_symmetric_difference_update(vm, a, b);
    struct set *common;
    enum outcome outcome = set_intersection(vm, a, b, &common);
    if (outcome == OUTCOME_OK) {
        set_swap(a, common);
        value_release(value_of(common));
    }
    return outcome;
}

// op is one of | & - ^.
enum outcome set_binary(struct vm *vm, enum binary_op op, bool in_place, struct set *a,
                        struct set *b, struct value *result)
{
    struct set *out = a;
    enum outcome outcome;
    if (in_place) {
        outcome = binary_in_place(vm, op, a, value_of(b));
        if (outcome == OUTCOME_OK)
            *result = value_reference(value_of(a));
        return outcome;
    }
    if (op == BINARY_AND) {
        outcome = set_intersection(vm, a, value_of(b), &out);
    } else if (op == BINARY_SUB) {
        outcome = set_difference(vm, a, value_of(b), &out);
    } else if (op == BINARY_XOR) {
        outcome = set_symmetric_difference(vm, a, value_of(b), &out);
    } else {
        outcome = set_copy(vm, a, &out);
        if (outcome == OUTCOME_OK)
            outcome = end_result(set_update(vm, out, value_of(b)), out, &out);
    }
    if (outcome == OUTCOME_OK)
        *result = value_of(out);
    return outcome;
}
