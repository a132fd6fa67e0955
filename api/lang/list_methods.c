// SPDX-License-Identifier: Apache-2.0
// Methods of list and tuple; sort is written in the language (prelude). Threads: the
// program's.
#include "api/lang/builtins.h"
#include "api/lang/sequence.h"

#define SELF(name)                                                                       \
    struct list *list = VALUE_AS(list, slots[0]);                                        \
    if (method_self(vm, slots[0], OBJECT_LIST, name) != OUTCOME_OK)                      \
        return OUTCOME_ERROR;

enum outcome method_self(struct vm *vm, struct value self, enum object_kind kind,
                         const char *method)
{
    static const char *const kinds[] = {
        [OBJECT_STRING] = "str",  [OBJECT_TUPLE] = "tuple", [OBJECT_LIST] = "list",
        [OBJECT_DICT] = "dict",   [OBJECT_SET] = "set",     [OBJECT_RANGE] = "range",
        [OBJECT_SLICE] = "slice",
    };
    if (value_is_object(self, kind))
        return OUTCOME_OK;
    return vm_raise(vm, STATUS_TYPE,
                    "descriptor '%s' for '%s' objects doesn't apply to a '%s' object",
                    method, kinds[kind], value_type_name(self));
}

static enum outcome done(enum outcome outcome, struct value *result)
{
    *result = value_none();
    return outcome;
}

static enum outcome list_append_method(struct vm *vm, struct value *slots,
                                       struct value *result)
{
    SELF("append")
    bool appended = list_append(vm_heap(vm), list, slots[1], vm_problem(vm));
    return done(appended ? OUTCOME_OK : OUTCOME_ERROR, result);
}

static enum outcome list_extend_method(struct vm *vm, struct value *slots,
                                       struct value *result)
{
    SELF("extend")
    return done(list_extend(vm, list, slots[1]), result);
}

static enum outcome list_insert_method(struct vm *vm, struct value *slots,
                                       struct value *result)
{
    int64_t at;
    SELF("insert")
    enum outcome outcome = value_to_index(vm, slots[1], &at);
    if (outcome != OUTCOME_OK)
        return outcome;
    if (at < 0)
        at = at < -list->count ? 0 : at + list->count;
    else if (at > list->count)
        at = list->count;
    return done(list_splice(vm, list, at, 0, &slots[2], 1), result);
}

static enum outcome list_pop_method(struct vm *vm, struct value *slots,
                                    struct value *result)
{
    int64_t at = -1;
    SELF("pop")
    if (slots[1].tag != VALUE_ABSENT) {
        enum outcome outcome = value_to_index(vm, slots[1], &at);
        if (outcome != OUTCOME_OK)
            return outcome;
    }
    if (list->count == 0)
        return vm_raise(vm, STATUS_INDEX, "pop from empty list");
    if (at < 0)
        at += list->count;
    if (at < 0 || at >= list->count)
        return vm_raise(vm, STATUS_INDEX, "pop index out of range");
    struct value item = value_reference(list->items[at]);
    enum outcome outcome = list_splice(vm, list, at, 1, NULL, 0);
    if (outcome == OUTCOME_OK)
        *result = item;
    else
        value_release(item);
    return outcome;
}

static enum outcome list_clear_method(struct vm *vm, struct value *slots,
                                      struct value *result)
{
    SELF("clear")
    return done(list_splice(vm, list, 0, list->count, NULL, 0), result);
}

static enum outcome list_copy_method(struct vm *vm, struct value *slots,
                                     struct value *result)
{
    struct list *copy;
    SELF("copy")
    enum outcome outcome = sequence_collect(vm, value_of(list), &copy);
    if (outcome == OUTCOME_OK)
        *result = value_of(copy);
    return outcome;
}

static enum outcome list_reverse_method(struct vm *vm, struct value *slots,
                                        struct value *result)
{
    SELF("reverse")
    enum outcome outcome = vm_spend(vm, list->count / 8 + 1);
    if (outcome != OUTCOME_OK)
        return outcome;
    for (int64_t i = 0, k = list->count - 1; i < k; i++, k--) {
        struct value item = list->items[i];
        list->items[i] = list->items[k];
        list->items[k] = item;
    }
    return done(OUTCOME_OK, result);
}

// ---- Looking for an item: of lists and tuples

// Where in start..stop the first item equal to `item` is, -1 if nowhere; with count how
// many.
static enum outcome find_item(struct vm *vm, struct value sequence, struct value item,
                              int64_t start, int64_t stop, int64_t *found, int64_t *count)
{
    int64_t length;
    *found = -1;
    for (int64_t i = start; i < stop; i++) {
        const struct value *items = sequence_items(sequence, &length);
        bool equal;
        enum outcome outcome = (i & 3) == 0 ? vm_spend(vm, 1) : OUTCOME_OK;
        if (outcome == OUTCOME_OK && i < length)
            outcome = value_equal(vm, items[i], item, &equal);
        if (outcome != OUTCOME_OK)
            return outcome;
        if (i >= length || !equal)
            continue;
        if (!count) {
            *found = i;
            return OUTCOME_OK;
        }
        ++*count;
    }
    return OUTCOME_OK;
}

enum outcome raise_not_in(struct vm *vm, struct value item, const char *where)
{
    char buffer[256];
    struct text text;
    text_begin(&text, buffer, sizeof buffer);
    enum outcome outcome = value_repr(vm, item, &text);
    if (outcome == OUTCOME_OK)
        outcome =
            vm_raise(vm, STATUS_VALUE, "%.*s is not in %s",
                     (int)(text.length < 200 ? text.length : 200), text.data, where);
    text_end(&text);
    return outcome;
}

static enum outcome search_bound(struct vm *vm, struct value slot, int64_t length,
                                 int64_t absent, int64_t *bound)
{
    *bound = absent;
    if (slot.tag == VALUE_ABSENT)
        return OUTCOME_OK;
    if (slot.tag == VALUE_NONE)
        return vm_raise(vm, STATUS_TYPE,
                        "slice indices must be integers or have an __index__ method");
    enum outcome outcome = value_to_index(vm, slot, bound);
    if (outcome == OUTCOME_OK && *bound < 0)
        *bound = *bound < -length ? 0 : *bound + length;
    if (outcome == OUTCOME_OK && *bound > length)
        *bound = length;
    return outcome;
}

static enum outcome index_method(struct vm *vm, struct value *slots, struct value *result)
{
    int64_t length, start, stop, found;
    sequence_items(slots[0], &length);
    enum outcome outcome = search_bound(vm, slots[2], length, 0, &start);
    if (outcome == OUTCOME_OK)
        outcome = search_bound(vm, slots[3], length, length, &stop);
    if (outcome == OUTCOME_OK)
        outcome = find_item(vm, slots[0], slots[1], start, stop, &found, NULL);
    if (outcome != OUTCOME_OK)
        return outcome;
    if (found < 0 && value_is_object(slots[0], OBJECT_TUPLE))
        return vm_raise(vm, STATUS_VALUE, "tuple.index(x): x not in tuple");
    if (found < 0)
        return raise_not_in(vm, slots[1], "list");
    *result = value_int(found);
    return OUTCOME_OK;
}

static enum outcome count_method(struct vm *vm, struct value *slots, struct value *result)
{
    int64_t length, found, count = 0;
    sequence_items(slots[0], &length);
    enum outcome outcome = find_item(vm, slots[0], slots[1], 0, length, &found, &count);
    *result = value_int(count);
    return outcome;
}

static enum outcome list_index_method(struct vm *vm, struct value *slots,
                                      struct value *result)
{
    if (method_self(vm, slots[0], OBJECT_LIST, "index") != OUTCOME_OK)
        return OUTCOME_ERROR;
    return index_method(vm, slots, result);
}

static enum outcome list_count_method(struct vm *vm, struct value *slots,
                                      struct value *result)
{
    if (method_self(vm, slots[0], OBJECT_LIST, "count") != OUTCOME_OK)
        return OUTCOME_ERROR;
    return count_method(vm, slots, result);
}

static enum outcome tuple_index_method(struct vm *vm, struct value *slots,
                                       struct value *result)
{
    if (method_self(vm, slots[0], OBJECT_TUPLE, "index") != OUTCOME_OK)
        return OUTCOME_ERROR;
    return index_method(vm, slots, result);
}

static enum outcome tuple_count_method(struct vm *vm, struct value *slots,
                                       struct value *result)
{
    if (method_self(vm, slots[0], OBJECT_TUPLE, "count") != OUTCOME_OK)
        return OUTCOME_ERROR;
    return count_method(vm, slots, result);
}

static enum outcome list_remove_method(struct vm *vm, struct value *slots,
                                       struct value *result)
{
    int64_t found;
    SELF("remove")
    enum outcome outcome =
        find_item(vm, slots[0], slots[1], 0, list->count, &found, NULL);
    if (outcome != OUTCOME_OK)
        return outcome;
    if (found < 0)
        return vm_raise(vm, STATUS_VALUE, "list.remove(x): x not in list");
    return done(list_splice(vm, list, found, 1, NULL, 0), result);
}

struct native list_methods[] = {
    {"append", "self, object, /", list_append_method, NULL},
    {"clear", "self, /", list_clear_method, NULL},
    {"copy", "self, /", list_copy_method, NULL},
    {"count", "self, value, /", list_count_method, NULL},
    {"extend", "self, ~iterable, /", list_extend_method, NULL},
    {"index", "self, value, start=, stop=, /", list_index_method, NULL},
    {"insert", "self, index, object, /", list_insert_method, NULL},
    {"pop", "self, index=, /", list_pop_method, NULL},
    {"remove", "self, value, /", list_remove_method, NULL},
    {"reverse", "self, /", list_reverse_method, NULL},
    {0},
};
struct native tuple_methods[] = {
    {"count", "self, value, /", tuple_count_method, NULL},
    {"index", "self, value, start=, stop=, /", tuple_index_method, NULL},
    {0},
};
