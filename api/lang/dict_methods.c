// SPDX-License-Identifier: Apache-2.0
// Methods of dict. Threads: the program's.
#include "api/lang/sequence.h"
#include "api/lang/sets.h"

#define SELF(name)                                                                       \
    struct dict *dict = VALUE_AS(dict, slots[0]);                                        \
    if (method_self(vm, slots[0], OBJECT_DICT, name) != OUTCOME_OK)                      \
        return OUTCOME_ERROR;

static struct value or_none(struct value value)
{
    return value.tag == VALUE_ABSENT ? value_none() : value;
}

static enum outcome dict_get_method(struct vm *vm, struct value *slots,
                                    struct value *result)
{
    uint64_t hash;
    SELF("get")
    enum outcome outcome = key_hash(vm, slots[1], &hash);
    if (outcome != OUTCOME_OK)
        return outcome;
    const struct value *found = dict_find_hashed(dict, slots[1], hash);
    *result = value_reference(found ? *found : or_none(slots[2]));
    return OUTCOME_OK;
}

static enum outcome make_view(struct vm *vm, struct dict *dict, enum view_kind which,
                              struct value *result)
{
    struct view *view = view_new(vm_heap(vm), which, dict, vm_problem(vm));
    if (!view)
        return OUTCOME_ERROR;
    *result = value_of(view);
    return OUTCOME_OK;
}

static enum outcome dict_keys_method(struct vm *vm, struct value *slots,
                                     struct value *result)
{
    SELF("keys")
    return make_view(vm, dict, VIEW_KEYS, result);
}

static enum outcome dict_values_method(struct vm *vm, struct value *slots,
                                       struct value *result)
{
    SELF("values")
    return make_view(vm, dict, VIEW_VALUES, result);
}

static enum outcome dict_items_method(struct vm *vm, struct value *slots,
                                      struct value *result)
{
    SELF("items")
    return make_view(vm, dict, VIEW_ITEMS, result);
}

static enum outcome dict_pop_method(struct vm *vm, struct value *slots,
                                    struct value *result)
{
    uint64_t hash;
    SELF("pop")
    enum outcome outcome = key_hash(vm, slots[1], &hash);
    if (outcome != OUTCOME_OK)
        return outcome;
    struct value removed = dict_remove_hashed(dict, slots[1], hash);
    if (removed.tag == VALUE_ABSENT && slots[2].tag == VALUE_ABSENT)
        return raise_key(vm, slots[1]);
    *result = removed.tag != VALUE_ABSENT ? removed : value_reference(slots[2]);
    return OUTCOME_OK;
}

static enum outcome dict_popitem_method(struct vm *vm, struct value *slots,
                                        struct value *result)
{
    SELF("popitem")
    if (dict->count == 0)
        return vm_raise(vm, STATUS_KEY, "'popitem(): dictionary is empty'");
    const struct dict_entry *entry =
        &dict->entries[dict->n_entries - 1]; // always a live one
    struct value pair[] = {entry->key, entry->value}, removed;
    struct tuple *tuple = tuple_new(vm_heap(vm), 2, pair, vm_problem(vm));
    if (!tuple)
        return OUTCOME_ERROR;
    enum status status = dict_remove(dict, pair[0], &removed, vm_problem(vm));
    value_release(removed);
    *result = value_of(tuple);
    return outcome_of(status);
}

static enum outcome dict_setdefault_method(struct vm *vm, struct value *slots,
                                           struct value *result)
{
    struct value found;
    uint64_t hash;
    SELF("setdefault")
    enum outcome outcome = key_hash(vm, slots[1], &hash);
    if (outcome != OUTCOME_OK)
        return outcome;
    const struct value *place = dict_find_hashed(dict, slots[1], hash);
    found = place ? *place : or_none(slots[2]);
    if (!place && dict_set_hashed(vm_heap(vm), dict, slots[1], hash, found,
                                  vm_problem(vm)) != STATUS_OK)
        return OUTCOME_ERROR;
    *result = value_reference(found);
    return OUTCOME_OK;
}

static enum outcome dict_update_method(struct vm *vm, struct value *slots,
                                       struct value *result)
{
    SELF("update")
    enum outcome outcome = OUTCOME_OK;
    if (slots[1].tag != VALUE_ABSENT)
        outcome = dict_update(vm, dict, slots[1]);
    if (outcome == OUTCOME_OK)
        outcome = dict_update(vm, dict, slots[2]);
    *result = value_none();
    return outcome;
}

static enum outcome dict_clear_method(struct vm *vm, struct value *slots,
                                      struct value *result)
{
    SELF("clear")
    dict_clear(vm_heap(vm), dict);
    *result = value_none();
    return OUTCOME_OK;
}

static enum outcome dict_copy_method(struct vm *vm, struct value *slots,
                                     struct value *result)
{
    struct dict *copy;
    SELF("copy")
    enum outcome outcome = dict_copy(vm, dict, &copy);
    if (outcome == OUTCOME_OK)
        *result = value_of(copy);
    return outcome;
}

// Without self: dict.fromkeys and {}.fromkeys are the same function.
static enum outcome dict_fromkeys_function(struct vm *vm, struct value *slots,
                                           struct value *result)
{
    struct iterator *iterator = NULL;
    struct value key;
    enum outcome outcome = walk_begin(vm, slots[0], &iterator);
    if (outcome != OUTCOME_OK)
        return outcome;
    struct dict *dict = dict_new(vm_heap(vm), vm_problem(vm));
    outcome = dict ? OUTCOME_OK : OUTCOME_ERROR;
    while (outcome == OUTCOME_OK &&
           (outcome = walk_next(vm, iterator, &key)) == OUTCOME_OK &&
           key.tag != VALUE_ABSENT) {
        outcome = outcome_of(
            dict_set(vm_heap(vm), dict, key, or_none(slots[1]), vm_problem(vm)));
        value_release(key);
    }
    value_release(value_of(iterator));
    if (outcome == OUTCOME_OK)
        *result = value_of(dict);
    else if (dict)
        value_release(value_of(dict));
    return outcome;
}

struct native dict_methods[] = {
    {"clear", "self, /", dict_clear_method, NULL},
    {"copy", "self, /", dict_copy_method, NULL},
    {"fromkeys", "~iterable, value=, /", dict_fromkeys_function, NULL},
    {"get", "self, key, default=, /", dict_get_method, NULL},
    {"items", "self, /", dict_items_method, NULL},
    {"keys", "self, /", dict_keys_method, NULL},
    {"pop", "self, key, default=, /", dict_pop_method, NULL},
    {"popitem", "self, /", dict_popitem_method, NULL},
    {"setdefault", "self, key, default=, /", dict_setdefault_method, NULL},
    {"update", "self, ~other=, /, **items", dict_update_method, NULL},
    {"values", "self, /", dict_values_method, NULL},
    {0},
};

// ---- Views

static enum outcome view_isdisjoint_method(struct vm *vm, struct value *slots,
                                           struct value *result)
{
    struct value common;
    if (!value_is_set_view(slots[0]))
        return vm_raise(vm, STATUS_TYPE, "isdisjoint() is a method of keys and items");
    enum outcome outcome = view_binary(vm, BINARY_AND, slots[0], slots[1], &common);
    if (outcome != OUTCOME_OK)
        return outcome;
    *result = value_bool(VALUE_AS(set, common)->count == 0);
    value_release(common);
    return OUTCOME_OK;
}

struct native view_methods[] = {
    {"isdisjoint", "self, ~other, /", view_isdisjoint_method, NULL},
    {0},
};
