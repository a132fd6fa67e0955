// SPDX-License-Identifier: Apache-2.0
// Iterators over what is built in, and `in`. An iterator keeps a place, not a copy: lists
// and dicts may change under it, and what it makes of that is Python's. Threads: the
// program's.
#include "api/lang/builtins.h"
#include "api/lang/nn.h"
#include "api/lang/sequence.h"
#include "api/lang/sets.h"
#include "api/lang/strings.h"
#include "tensor/cells.h"

static enum outcome make_iterator(struct vm *vm, struct value over, int64_t position,
                                  int64_t expected, bool backwards, struct value *out)
{
    struct iterator *iterator =
        heap_object(vm_heap(vm), OBJECT_ITERATOR, sizeof *iterator, vm_problem(vm));
    if (!iterator)
        return OUTCOME_ERROR;
    iterator->over = value_reference(over);
    iterator->position = position;
    iterator->expected = expected;
    iterator->backwards = backwards;
    *out = value_of(iterator);
    return OUTCOME_OK;
}

enum outcome value_iterate(struct vm *vm, struct value value, struct value *iterator)
{
    int64_t expected = 0;
    enum outcome outcome = OUTCOME_OK;
    if (value.tag != VALUE_OBJECT)
        return vm_raise(vm, STATUS_TYPE, "'%s' object is not iterable",
                        value_type_name(value));
    switch ((enum object_kind)value.object->kind) {
    case OBJECT_ITERATOR:
    case OBJECT_PRODUCER:
        *iterator = value_reference(value);
        return OUTCOME_OK;
    case OBJECT_STRING:
    case OBJECT_TUPLE:
    case OBJECT_LIST:
    case OBJECT_RANGE:
        break;
    case OBJECT_DICT:
        expected = VALUE_AS(dict, value)->count;
        break;
    case OBJECT_SET:
        expected = VALUE_AS(set, value)->count;
        break;
    case OBJECT_VIEW:
        expected = VALUE_AS(view, value)->dict->count;
        break;
    case OBJECT_TENSOR:
        if (lazy_layout(VALUE_AS(tensor_object, value)->lazy)->ndim == 0)
            return vm_raise(vm, STATUS_TYPE, "iteration over a 0-d %s",
                            VALUE_AS(tensor_object, value)->is_array ? "array"
                                                                     : "tensor");
        outcome = torch_length(vm, value, &expected);
        break;
    case OBJECT_MODULE:
        outcome = module_length(vm, VALUE_AS(module, value), &expected);
        if (outcome == OUTCOME_ERROR && vm_problem(vm)->status == STATUS_TYPE)
            return vm_raise(vm, STATUS_TYPE, "'%s' object is not iterable",
                            value_type_name(value));
        break;
    default:
        return vm_raise(vm, STATUS_TYPE, "'%s' object is not iterable",
                        value_type_name(value));
    }
    return outcome == OUTCOME_OK ? make_iterator(vm, value, 0, expected, false, iterator)
                                 : outcome;
}

enum outcome value_reversed(struct vm *vm, struct value value, struct value *iterator)
{
    int64_t position, expected = 0;
    switch (value.tag == VALUE_OBJECT ? value.object->kind : OBJECT_BOX) {
    case OBJECT_STRING:
        position = VALUE_AS(string, value)->bytes;
        break;
    case OBJECT_TUPLE:
    case OBJECT_LIST:
        sequence_items(value, &position);
        break;
    case OBJECT_RANGE:
        position = VALUE_AS(range, value)->count;
        break;
    case OBJECT_DICT:
    case OBJECT_VIEW: {
        const struct dict *dict = value_is_object(value, OBJECT_DICT)
                                      ? VALUE_AS(dict, value)
                                      : VALUE_AS(view, value)->dict;
        position = dict->n_entries;
        expected = dict->count;
        break;
    }
    default:
        return vm_raise(vm, STATUS_TYPE, "'%s' object is not reversible",
                        value_type_name(value));
    }
    return make_iterator(vm, value, position, expected, true, iterator);
}

// ---- The next item of each kind. False: there is none.

static bool next_index(struct iterator *iterator, int64_t count, int64_t *index)
{
    if (iterator->backwards) {
        if (iterator->position <= 0 || iterator->position > count)
            return false;
        *index = --iterator->position;
        return true;
    }
    if (iterator->position >= count)
        return false;
    *index = iterator->position++;
    return true;
}

static enum outcome next_character(struct vm *vm, struct iterator *iterator,
                                   struct value *item)
{
    const struct string *string = VALUE_AS(string, iterator->over);
    int64_t at = iterator->position;
    int length;
    if (iterator->backwards) {
        if (at == 0)
            return OUTCOME_OK;
        do
            at--;
        while ((string->text[at] & 0xC0) == 0x80);
        iterator->position = at;
    } else if (at >= string->bytes) {
        return OUTCOME_OK;
    }
    uint32_t code = utf8_decode(string->text + at, &length);
    struct string *character = string_of_code(vm_heap(vm), code, vm_problem(vm));
    if (!character)
        return OUTCOME_ERROR;
    if (!iterator->backwards)
        iterator->position = at + length;
    *item = value_of(character);
    return OUTCOME_OK;
}

static const struct dict_entry *entry_before(const struct dict *dict, int64_t *position)
{
    if (*position > dict->n_entries)
        *position = dict->n_entries;
    while (*position > 0) {
        const struct dict_entry *entry = &dict->entries[--*position];
        if (entry->key.tag != VALUE_ABSENT)
            return entry;
    }
    return NULL;
}

static enum outcome next_entry(struct vm *vm, struct iterator *iterator,
                               const struct dict *dict, enum view_kind which,
                               struct value *item)
{
    if (dict->count != iterator->expected)
        return vm_raise(vm, STATUS_VALUE, "dictionary changed size during iteration");
    const struct dict_entry *entry = iterator->backwards
                                         ? entry_before(dict, &iterator->position)
                                         : dict_next(dict, &iterator->position);
    if (!entry)
        return OUTCOME_OK;
    if (which != VIEW_ITEMS) {
        *item = value_reference(which == VIEW_KEYS ? entry->key : entry->value);
        return OUTCOME_OK;
    }
    struct value pair[] = {entry->key, entry->value};
    struct tuple *tuple = tuple_new(vm_heap(vm), 2, pair, vm_problem(vm));
    if (!tuple)
        return OUTCOME_ERROR;
    *item = value_of(tuple);
    return OUTCOME_OK;
}

static enum outcome next_element(struct vm *vm, struct iterator *iterator,
                                 const struct set *set, struct value *item)
{
    if (set->count != iterator->expected)
        return vm_raise(vm, STATUS_VALUE, "Set changed size during iteration");
    const struct set_entry *entry = set_next(set, &iterator->position);
    if (entry)
        *item = value_reference(entry->key);
    return OUTCOME_OK;
}

static enum outcome next_of_object(struct vm *vm, struct iterator *iterator,
                                   struct value *item)
{
    struct value over = iterator->over;
    int64_t index, count = iterator->expected;
    switch ((enum object_kind)over.object->kind) {
    case OBJECT_STRING:
        return next_character(vm, iterator, item);
    case OBJECT_LIST:
    case OBJECT_TUPLE: {
        const struct value *items = sequence_items(over, &count);
        if (next_index(iterator, count, &index))
            *item = value_reference(items[index]);
        return OUTCOME_OK;
    }
    case OBJECT_RANGE:
        if (next_index(iterator, VALUE_AS(range, over)->count, &index))
            *item = value_int(range_item(VALUE_AS(range, over), index));
        return OUTCOME_OK;
    case OBJECT_DICT:
        return next_entry(vm, iterator, VALUE_AS(dict, over), VIEW_KEYS, item);
    case OBJECT_VIEW:
        return next_entry(vm, iterator, VALUE_AS(view, over)->dict,
                          VALUE_AS(view, over)->which, item);
    case OBJECT_SET:
        return next_element(vm, iterator, VALUE_AS(set, over), item);
    default:
        break;
    }
    if (!next_index(iterator, count, &index))
        return OUTCOME_OK;
    enum { ITEM_STEPS = 50 }; // a tensor made, a module found
    enum outcome outcome = vm_spend(vm, ITEM_STEPS);
    if (outcome == OUTCOME_OK && value_is_tensor(over))
        outcome = torch_get_item(vm, over, value_int(index), item);
    else if (outcome == OUTCOME_OK)
        outcome = module_get_item(vm, VALUE_AS(module, over), value_int(index), item);
    if (outcome != OUTCOME_OK) {
        iterator->position = index; // it was not given out
        item->tag = VALUE_ABSENT;
    }
    return outcome;
}

enum outcome iterator_next(struct vm *vm, struct iterator *iterator, struct value *item)
{
    *item = (struct value){.tag = VALUE_ABSENT};
    if (iterator->over.tag == VALUE_ABSENT)
        return OUTCOME_OK;
    enum outcome outcome = next_of_object(vm, iterator, item);
    if (outcome == OUTCOME_OK && item->tag == VALUE_ABSENT) { // at the end for good
        struct value over = iterator->over;
        iterator->over.tag = VALUE_ABSENT;
        value_release(over);
    }
    return outcome;
}

// ---- In natives

enum outcome walk_begin(struct vm *vm, struct value iterable, struct iterator **out)
{
    struct value iterator;
    if (value_is_object(iterable, OBJECT_PRODUCER))
        return vm_raise(vm, STATUS_TYPE,
                        "a generator cannot be used here: make a list of it "
                        "with list()");
    enum outcome outcome = value_iterate(vm, iterable, &iterator);
    if (outcome == OUTCOME_OK)
        *out = VALUE_AS(iterator, iterator);
    return outcome;
}

enum outcome walk_next(struct vm *vm, struct iterator *iterator, struct value *item)
{
    enum outcome outcome = vm_spend(vm, 1);
    return outcome == OUTCOME_OK ? iterator_next(vm, iterator, item) : outcome;
}

// ---- in

static enum outcome walk_contains(struct vm *vm, struct value container,
                                  struct value item, bool *contains)
{
    struct iterator *iterator = NULL;
    struct value candidate;
    enum outcome outcome = walk_begin(vm, container, &iterator);
    if (outcome != OUTCOME_OK)
        return outcome;
    int64_t start =
        iterator->position; // an iterator of the program's goes back to it to wait
    *contains = false;
    while (!*contains && (outcome = walk_next(vm, iterator, &candidate)) == OUTCOME_OK &&
           candidate.tag != VALUE_ABSENT) {
        outcome = value_equal(vm, candidate, item, contains);
        value_release(candidate);
        if (outcome != OUTCOME_OK)
            break;
    }
    if (outcome == OUTCOME_WAIT)
        iterator->position = start;
    value_release(value_of(iterator));
    return outcome;
}

static enum outcome view_contains(struct vm *vm, const struct view *view,
                                  struct value item, bool *contains)
{
    *contains = false;
    if (view->which != VIEW_VALUES) {
        bool pair =
            value_is_object(item, OBJECT_TUPLE) && VALUE_AS(tuple, item)->count == 2;
        if (view->which == VIEW_ITEMS && !pair)
            return OUTCOME_OK;
        struct value key =
            view->which == VIEW_KEYS ? item : VALUE_AS(tuple, item)->items[0];
        uint64_t hash;
        enum outcome outcome = key_hash(vm, key, &hash);
        if (outcome != OUTCOME_OK)
            return outcome;
        const struct value *found = dict_find_hashed(view->dict, key, hash);
        if (!found || view->which == VIEW_KEYS) {
            *contains = found != NULL;
            return OUTCOME_OK;
        }
        return value_equal(vm, *found, VALUE_AS(tuple, item)->items[1], contains);
    }
    enum outcome outcome = vm_spend(vm, view->dict->n_entries / 4 + 1);
    int64_t position = 0;
    const struct dict_entry *entry;
    while (outcome == OUTCOME_OK && !*contains &&
           (entry = dict_next(view->dict, &position)))
        outcome = value_equal(vm, entry->value, item, contains);
    return outcome;
}

static enum outcome text_contains(struct vm *vm, const struct string *string,
                                  struct value item, bool *contains)
{
    if (!value_is_object(item, OBJECT_STRING))
        return vm_raise(vm, STATUS_TYPE,
                        "'in <string>' requires string as left operand, not %s",
                        value_type_name(item));
    enum outcome outcome = vm_spend(vm, string->bytes / 32 + 1);
    if (outcome == OUTCOME_OK)
        *contains = string_contains(string, VALUE_AS(string, item));
    return outcome;
}

enum outcome value_contains(struct vm *vm, struct value container, struct value item,
                            bool *contains)
{
    int64_t index;
    uint64_t hash;
    enum outcome outcome;
    switch (container.tag == VALUE_OBJECT ? container.object->kind : OBJECT_BOX) {
    case OBJECT_STRING:
        return text_contains(vm, VALUE_AS(string, container), item, contains);
    case OBJECT_DICT:
        outcome = key_hash(vm, item, &hash);
        *contains = outcome == OUTCOME_OK &&
                    dict_find_hashed(VALUE_AS(dict, container), item, hash) != NULL;
        return outcome;
    case OBJECT_SET:
        *contains = false;
        if (value_is_object(item,
                            OBJECT_SET)) // asked as a frozenset, of which there are none
            return OUTCOME_OK;
        outcome = key_hash(vm, item, &hash);
        *contains =
            outcome == OUTCOME_OK && set_has_hashed(VALUE_AS(set, container), item, hash);
        return outcome;
    case OBJECT_RANGE:
        outcome = range_has(vm, container, item, &index);
        *contains = index >= 0;
        return outcome;
    case OBJECT_VIEW:
        return view_contains(vm, VALUE_AS(view, container), item, contains);
    case OBJECT_TENSOR:
        return torch_contains(vm, container, item, contains);
    case OBJECT_LIST:
    case OBJECT_TUPLE:
    case OBJECT_ITERATOR:
    case OBJECT_PRODUCER:
    case OBJECT_MODULE:
        return walk_contains(vm, container, item, contains);
    default:
        return vm_raise(vm, STATUS_TYPE, "argument of type '%s' is not iterable",
                        value_type_name(container));
    }
}
