// SPDX-License-Identifier: Apache-2.0
// Methods of set. Threads: the program's.
#include "api/lang/sequence.h"
#include "api/lang/sets.h"

#define SELF(name)                                                                       \
    struct set *set = VALUE_AS(set, slots[0]);                                           \
    if (method_self(vm, slots[0], OBJECT_SET, name) != OUTCOME_OK)                       \
        return OUTCOME_ERROR;

static enum outcome done(enum outcome outcome, struct value *result) // -> None
{
    *result = value_none();
    return outcome;
}

static enum outcome made(enum outcome outcome, struct set *set, struct value *result)
{
    if (outcome == OUTCOME_OK)
        *result = value_of(set);
    return outcome;
}

static enum outcome set_add_method(struct vm *vm, struct value *slots,
                                   struct value *result)
{
    uint64_t hash;
    SELF("add")
    enum outcome outcome = key_hash(vm, slots[1], &hash);
    if (outcome != OUTCOME_OK)
        return outcome;
    return done(
        outcome_of(set_add_hashed(vm_heap(vm), set, slots[1], hash, vm_problem(vm))),
        result);
}

// Removes an element if it is there. A set in its place is asked for as a frozenset, of
// which there are none.
static enum outcome take_out(struct vm *vm, struct set *set, struct value element,
                             bool *had)
{
    uint64_t hash;
    *had = false;
    if (value_is_object(element, OBJECT_SET))
        return OUTCOME_OK;
    enum outcome outcome = key_hash(vm, element, &hash);
    if (outcome == OUTCOME_OK)
        *had = set_remove_hashed(set, element, hash);
    return outcome;
}

static enum outcome set_discard_method(struct vm *vm, struct value *slots,
                                       struct value *result)
{
    bool had;
    SELF("discard")
    return done(take_out(vm, set, slots[1], &had), result);
}

static enum outcome set_remove_method(struct vm *vm, struct value *slots,
                                      struct value *result)
{
    bool had;
    SELF("remove")
    enum outcome outcome = take_out(vm, set, slots[1], &had);
    if (outcome == OUTCOME_OK && !had)
        return raise_key(vm, slots[1]);
    return done(outcome, result);
}

static enum outcome set_pop_method(struct vm *vm, struct value *slots,
                                   struct value *result)
{
    SELF("pop")
    if (set->count == 0)
        return vm_raise(vm, STATUS_KEY, "'pop from an empty set'");
    enum outcome outcome = vm_spend(vm, 1);
    if (outcome == OUTCOME_OK)
        set_pop(set, result);
    return outcome;
}

static enum outcome set_clear_method(struct vm *vm, struct value *slots,
                                     struct value *result)
{
    SELF("clear")
    set_clear(vm_heap(vm), set);
    return done(OUTCOME_OK, result);
}

static enum outcome set_copy_method(struct vm *vm, struct value *slots,
                                    struct value *result)
{
    struct set *copy = NULL;
    SELF("copy")
    enum outcome outcome = set_copy(vm, set, &copy);
    return made(outcome, copy, result);
}

// ---- With any number of others, a tuple in slots[1]

typedef enum outcome updater(struct vm *vm, struct set *set, struct value other);

static enum outcome update_all(struct vm *vm, struct set *set, const struct tuple *others,
                               int64_t from, updater *update)
{
    enum outcome outcome = OUTCOME_OK;
    for (int64_t i = from; i < others->count && outcome == OUTCOME_OK; i++)
        outcome = update(vm, set, others->items[i]);
    return outcome;
}

static enum outcome update_other(struct vm *vm, struct set *set, struct value other)
{
    bool same = value_is_object(other, OBJECT_SET) && VALUE_AS(set, other) == set;
    return same ? OUTCOME_OK : set_update(vm, set, other);
}

static enum outcome finish(enum outcome outcome, struct set *set, struct value *result)
{
    if (outcome == OUTCOME_OK)
        *result = value_of(set);
    else
        value_release(value_of(set));
    return outcome;
}

static enum outcome set_union_method(struct vm *vm, struct value *slots,
                                     struct value *result)
{
    struct set *out;
    SELF("union")
    enum outcome outcome = set_copy(vm, set, &out);
    if (outcome != OUTCOME_OK)
        return outcome;
    return finish(update_all(vm, out, VALUE_AS(tuple, slots[1]), 0, update_other), out,
                  result);
}

static enum outcome set_update_method(struct vm *vm, struct value *slots,
                                      struct value *result)
{
    SELF("update")
    return done(update_all(vm, set, VALUE_AS(tuple, slots[1]), 0, update_other), result);
}

static enum outcome intersect_all(struct vm *vm, struct set *set,
                                  const struct tuple *others, struct set **out)
{
    if (others->count == 0)
        return set_copy(vm, set, out);
    enum outcome outcome = OUTCOME_OK;
    struct set *common = VALUE_AS(set, value_reference(value_of(set)));
    for (int64_t i = 0; i < others->count && outcome == OUTCOME_OK; i++) {
        struct set *smaller;
        outcome = set_intersection(vm, common, others->items[i], &smaller);
        if (outcome == OUTCOME_OK) {
            value_release(value_of(common));
            common = smaller;
        }
    }
    if (outcome == OUTCOME_OK)
        *out = common;
    else
        value_release(value_of(common));
    return outcome;
}

static enum outcome set_intersection_method(struct vm *vm, struct value *slots,
                                            struct value *result)
{
    struct set *out = NULL;
    SELF("intersection")
    enum outcome outcome = intersect_all(vm, set, VALUE_AS(tuple, slots[1]), &out);
    return made(outcome, out, result);
}

static enum outcome set_intersection_update_method(struct vm *vm, struct value *slots,
                                                   struct value *result)
{
    struct set *out;
    SELF("intersection_update")
    enum outcome outcome = intersect_all(vm, set, VALUE_AS(tuple, slots[1]), &out);
    if (outcome != OUTCOME_OK)
        return outcome;
    set_swap(set, out);
    value_release(value_of(out));
    return done(OUTCOME_OK, result);
}

static enum outcome set_difference_method(struct vm *vm, struct value *slots,
                                          struct value *result)
{
    struct set *out;
    SELF("difference")
    const struct tuple *others = VALUE_AS(tuple, slots[1]);
    enum outcome outcome = others->count > 0
                               ? set_difference(vm, set, others->items[0], &out)
                               : set_copy(vm, set, &out);
    if (outcome != OUTCOME_OK)
        return outcome;
    return finish(update_all(vm, out, others, 1, set_difference_update), out, result);
}

static enum outcome set_difference_update_method(struct vm *vm, struct value *slots,
                                                 struct value *result)
{
    SELF("difference_update")
    return done(update_all(vm, set, VALUE_AS(tuple, slots[1]), 0, set_difference_update),
                result);
}

// ---- With one other

static enum outcome set_symmetric_difference_method(struct vm *vm, struct value *slots,
                                                    struct value *result)
{
    struct set *out = NULL;
    SELF("symmetric_difference")
    enum outcome outcome = set_symmetric_difference(vm, set, slots[1], &out);
    return made(outcome, out, result);
}

static enum outcome set_symmetric_difference_update_method(struct vm *vm,
                                                           struct value *slots,
                                                           struct value *result)
{
    SELF("symmetric_difference_update")
    return done(set_symmetric_difference_update(vm, set, slots[1]), result);
}

static enum outcome compare_subset(struct vm *vm, struct value *slots, bool turned,
                                   struct value *result)
{
    struct set *set = VALUE_AS(set, slots[0]), *other;
    bool is = false;
    enum outcome outcome = set_of(vm, slots[1], &other);
    if (outcome != OUTCOME_OK)
        return outcome;
    outcome =
        turned ? set_is_subset(vm, other, set, &is) : set_is_subset(vm, set, other, &is);
    value_release(value_of(other));
    *result = value_bool(is);
    return outcome;
}

static enum outcome set_issubset_method(struct vm *vm, struct value *slots,
                                        struct value *result)
{
    if (method_self(vm, slots[0], OBJECT_SET, "issubset") != OUTCOME_OK)
        return OUTCOME_ERROR;
    return compare_subset(vm, slots, false, result);
}

static enum outcome set_issuperset_method(struct vm *vm, struct value *slots,
                                          struct value *result)
{
    if (method_self(vm, slots[0], OBJECT_SET, "issuperset") != OUTCOME_OK)
        return OUTCOME_ERROR;
    return compare_subset(vm, slots, true, result);
}

static enum outcome set_isdisjoint_method(struct vm *vm, struct value *slots,
                                          struct value *result)
{
    struct set *common;
    SELF("isdisjoint")
    enum outcome outcome = set_intersection(vm, set, slots[1], &common);
    if (outcome != OUTCOME_OK)
        return outcome;
    *result = value_bool(common->count == 0);
    value_release(value_of(common));
    return OUTCOME_OK;
}

struct native set_methods[] = {
    {"add", "self, elem, /", set_add_method, NULL},
    {"clear", "self, /", set_clear_method, NULL},
    {"copy", "self, /", set_copy_method, NULL},
    {"difference", "self, /, *~others", set_difference_method, NULL},
    {"difference_update", "self, /, *~others", set_difference_update_method, NULL},
    {"discard", "self, elem, /", set_discard_method, NULL},
    {"intersection", "self, /, *~others", set_intersection_method, NULL},
    {"intersection_update", "self, /, *~others", set_intersection_update_method, NULL},
    {"isdisjoint", "self, ~other, /", set_isdisjoint_method, NULL},
    {"issubset", "self, ~other, /", set_issubset_method, NULL},
    {"issuperset", "self, ~other, /", set_issuperset_method, NULL},
    {"pop", "self, /", set_pop_method, NULL},
    {"remove", "self, elem, /", set_remove_method, NULL},
    {"symmetric_difference", "self, ~other, /", set_symmetric_difference_method, NULL},
    {"symmetric_difference_update", "self, ~other, /",
     set_symmetric_difference_update_method, NULL},
    {"union", "self, /, *~others", set_union_method, NULL},
    {"update", "self, /, *~others", set_update_method, NULL},
    {0},
};
