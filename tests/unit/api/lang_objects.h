// SPDX-License-Identifier: Apache-2.0
// A machine that runs nothing, for tests that call operate.h directly; values read from
// and written as texts, in the notation of tests/cases/python_objects.py.
#ifndef TENSORD_TESTS_UNIT_API_LANG_OBJECTS_H
#define TENSORD_TESTS_UNIT_API_LANG_OBJECTS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/lang/builtins.h"
#include "api/lang/container.h"
#include "api/lang/number.h"
#include "api/lang/sequence.h"
#include "api/lang/sets.h"
#include "api/lang/strings.h"
#include "api/lang/vm_internal.h"

struct machine {
    struct heap *heap;
    struct vm *vm;
    struct code *program;
    int64_t limit, granted; // what grow admits, what it has admitted
};

static enum status machine_grow(void *context, int64_t bytes, struct problem *problem)
{
    struct machine *machine = context;
    if (bytes > machine->limit - machine->granted)
        return problem_set(problem, STATUS_OUT_OF_MEMORY, "the test admits no more");
    machine->granted += bytes;
    return STATUS_OK;
}

static inline void machine_open(struct machine *machine, int64_t memory, int64_t steps)
{
    struct problem problem;
    *machine = (struct machine){.limit = memory};
    struct heap_options heap_options = {machine_grow, machine};
    assert_int_equal(heap_create(&heap_options, &machine->heap, &problem), STATUS_OK);
    assert_int_equal(program_compile("0", 1, false, &machine->program, &problem),
                     STATUS_OK);
    struct vm_options options = {.heap = machine->heap, .max_steps = steps};
    assert_int_equal(vm_create(&options, machine->program, &machine->vm, &problem),
                     STATUS_OK);
}

static inline void machine_close(struct machine *machine)
{
    vm_free(machine->vm);
    heap_free(machine->heap);
    code_release(machine->program);
}

static inline const struct problem *problem_of(struct machine *machine)
{
    return vm_problem(machine->vm);
}

static inline void assert_fails(struct machine *machine, enum outcome outcome,
                                enum status status, const char *detail)
{
    assert_int_equal(outcome, OUTCOME_ERROR);
    assert_int_equal(problem_of(machine)->status, status);
    if (detail)
        assert_string_equal(problem_of(machine)->detail, detail);
}

static inline struct value text_value(struct machine *machine, const char *text)
{
    struct value value =
        value_of(string_new(machine->heap, text, strlen(text), vm_problem(machine->vm)));
    return value;
}

// ---- Reading

static struct value read_value(struct machine *machine, const char **at);

static bool take(const char **at, const char *word)
{
    size_t length = strlen(word);
    if (strncmp(*at, word, length) != 0)
        return false;
    *at += length;
    return true;
}

static struct list *read_items(struct machine *machine, const char **at, const char *end)
{
    struct problem problem;
    struct list *list = list_new(machine->heap, 0, NULL, &problem);
    while (!take(at, end)) {
        struct value item = read_value(machine, at);
        assert_true(list_append(machine->heap, list, item, &problem));
        value_release(item);
        take(at, ",");
        take(at, " ");
        if (take(at, ": ")) // of a dict: keys and values by turns
            continue;
    }
    return list;
}

static struct value read_braces(struct machine *machine, const char **at)
{
    struct problem problem;
    bool is_dict = false;
    int depth = 0;
    for (const char *p = *at; *p && depth >= 0; p++) {
        depth +=
            (*p == '{' || *p == '(' || *p == '[') - (*p == '}' || *p == ')' || *p == ']');
        is_dict |= depth == 0 && *p == ':';
    }
    struct list *items = read_items(machine, at, "}");
    struct value made;
    if (is_dict || items->count == 0) {
        made = value_of(dict_new(machine->heap, &problem));
        for (int64_t i = 0; i < items->count; i += 2)
            assert_int_equal(dict_set(machine->heap, VALUE_AS(dict, made),
                                      items->items[i], items->items[i + 1], &problem),
                             STATUS_OK);
    } else {
        made = value_of(set_new(machine->heap, &problem));
        for (int64_t i = 0; i < items->count; i++)
            assert_int_equal(
                set_add(machine->heap, VALUE_AS(set, made), items->items[i], &problem),
                STATUS_OK);
    }
    value_release(value_of(items));
    return made;
}

static struct value read_call(struct machine *machine, const char **at)
{
    struct problem problem;
    static const char *const views[] = {"keys", "values", "items"};
    struct value made;
    for (int i = 0; i < 3; i++) {
        if (!take(at, views[i]))
            continue;
        assert_true(take(at, "{"));
        struct value dict = read_braces(machine, at);
        made = value_of(
            view_new(machine->heap, (enum view_kind)i, VALUE_AS(dict, dict), &problem));
        value_release(dict);
        return made;
    }
    if (take(at, "set("))
        return assert_true(take(at, ")")), value_of(set_new(machine->heap, &problem));
    bool is_range = take(at, "range(");
    assert_true(is_range || take(at, "slice("));
    struct list *items = read_items(machine, at, ")");
    const struct value *part = items->items;
    assert_int_equal(items->count, 3);
    if (is_range)
        made =
            value_of(range_new(machine->heap, part[0].i, part[1].i, part[2].i, &problem));
    else
        made = value_of(slice_new(machine->heap, part[0], part[1], part[2], &problem));
    value_release(value_of(items));
    return made;
}

static struct value read_number(const char **at)
{
    const char *end = *at + strcspn(*at, ",)]}: |");
    const char *start = *at;
    *at = end;
    if (end[-1] == 'f')
        return value_float(strncmp(start, "nan", 3) == 0 ? NAN : strtod(start, NULL));
    return value_int(strtoll(start, NULL, 10));
}

static struct value read_value(struct machine *machine, const char **at)
{
    struct problem problem;
    struct value made;
    if (take(at, "None"))
        return value_none();
    if (take(at, "True"))
        return value_bool(true);
    if (take(at, "False"))
        return value_bool(false);
    if (take(at, "'")) {
        size_t length = strcspn(*at, "'");
        made = value_of(string_new(machine->heap, *at, length, &problem));
        *at += length + 1;
        return made;
    }
    if (take(at, "["))
        return value_of(read_items(machine, at, "]"));
    if (take(at, "{"))
        return read_braces(machine, at);
    if (take(at, "(")) {
        struct list *items = read_items(machine, at, ")");
        made = value_of(tuple_new(machine->heap, items->count, items->items, &problem));
        value_release(value_of(items));
        return made;
    }
    if (strncmp(*at, "inff", 4) != 0 && strncmp(*at, "nanf", 4) != 0 && **at >= 'a')
        return read_call(machine, at);
    return read_number(at);
}

static inline struct value value_read(struct machine *machine, const char *text)
{
    const char *at = text;
    struct value value = read_value(machine, &at);
    assert_string_equal(at, "");
    return value;
}

// ---- Writing

static void write_value(struct value value, struct text *text);

static void write_all(struct text *text, const struct value *items, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        if (i > 0)
            text_string(text, ", ");
        write_value(items[i], text);
    }
}

static void write_dict(const struct dict *dict, struct text *text)
{
    int64_t position = 0;
    const char *before = "{";
    for (const struct dict_entry *entry; (entry = dict_next(dict, &position));) {
        text_string(text, before);
        write_value(entry->key, text);
        text_string(text, ": ");
        write_value(entry->value, text);
        before = ", ";
    }
    text_string(text, dict->count > 0 ? "}" : "{}");
}

static void write_set(const struct set *set, struct text *text)
{
    int64_t position = 0;
    const char *before = "{";
    for (const struct set_entry *entry; (entry = set_next(set, &position));) {
        text_string(text, before);
        write_value(entry->key, text);
        before = ", ";
    }
    text_string(text, set->count > 0 ? "}" : "set()");
}

static void write_object(struct value value, struct text *text)
{
    static const char *const views[] = {"keys", "values", "items"};
    struct value parts[3];
    switch (value.object->kind) {
    case OBJECT_STRING:
        text_string(text, "'");
        text_add(text, VALUE_AS(string, value)->text,
                 (size_t)VALUE_AS(string, value)->bytes);
        text_string(text, "'");
        return;
    case OBJECT_LIST:
        text_string(text, "[");
        write_all(text, VALUE_AS(list, value)->items, VALUE_AS(list, value)->count);
        text_string(text, "]");
        return;
    case OBJECT_TUPLE:
        text_string(text, "(");
        write_all(text, VALUE_AS(tuple, value)->items, VALUE_AS(tuple, value)->count);
        text_string(text, VALUE_AS(tuple, value)->count == 1 ? ",)" : ")");
        return;
    case OBJECT_DICT:
        write_dict(VALUE_AS(dict, value), text);
        return;
    case OBJECT_SET:
        write_set(VALUE_AS(set, value), text);
        return;
    case OBJECT_VIEW:
        text_string(text, views[VALUE_AS(view, value)->which]);
        write_dict(VALUE_AS(view, value)->dict, text);
        return;
    case OBJECT_RANGE:
        parts[0] = value_int(VALUE_AS(range, value)->start);
        parts[1] = value_int(VALUE_AS(range, value)->stop);
        parts[2] = value_int(VALUE_AS(range, value)->step);
        text_string(text, "range(");
        write_all(text, parts, 3);
        text_string(text, ")");
        return;
    case OBJECT_SLICE:
        parts[0] = VALUE_AS(slice_object, value)->start;
        parts[1] = VALUE_AS(slice_object, value)->stop;
        parts[2] = VALUE_AS(slice_object, value)->step;
        text_string(text, "slice(");
        write_all(text, parts, 3);
        text_string(text, ")");
        return;
    default:
        text_string(text, "?");
    }
}

static void write_value(struct value value, struct text *text)
{
    char number[40];
    switch (value.tag) {
    case VALUE_NONE:
        text_string(text, "None");
        return;
    case VALUE_BOOL:
        text_string(text, value.i ? "True" : "False");
        return;
    case VALUE_INT:
        text_integer(text, value.i);
        return;
    case VALUE_FLOAT:
        snprintf(number, sizeof number, "%.17gf", value.f);
        text_string(text, isnan(value.f) ? "nanf" : number);
        return;
    case VALUE_OBJECT:
        write_object(value, text);
        return;
    default:
        text_string(text, "?");
    }
}

// What an operation gave: its result (released here), or its problem as "!kind: detail".
static inline void write_outcome(struct machine *machine, enum outcome outcome,
                                 struct value result, struct text *text)
{
    assert_int_not_equal(outcome, OUTCOME_WAIT);
    if (outcome == OUTCOME_OK) {
        write_value(result, text);
        value_release(result);
        return;
    }
    const struct problem *problem = vm_problem(machine->vm);
    text_string(text, "!");
    text_string(text, problem_kind(problem->status)->kind);
    text_string(text, ": ");
    text_string(text, problem->detail);
}

// Calls a method (or the function of a type) with arguments by position.
static inline enum outcome call_method(struct machine *machine, struct value self,
                                       const struct string *name, int n,
                                       const struct value *arguments,
                                       struct value *result)
{
    struct value function, receiver, all[NATIVE_MAX_SLOTS], slots[NATIVE_MAX_SLOTS];
    enum outcome outcome =
        value_get_method(machine->vm, self, name, &function, &receiver);
    if (outcome != OUTCOME_OK)
        return outcome;
    assert_int_equal(function.tag, VALUE_NATIVE);
    int count = 0, drain = -1;
    if (receiver.tag != VALUE_ABSENT)
        all[count++] = receiver;
    for (int i = 0; i < n; i++)
        all[count++] = arguments[i];
    const struct signature *signature = signature_of(function.native);
    assert_non_null(signature);
    struct call call = {.function = function, .n = count, .arguments = all};
    outcome = (enum outcome)bind_native(machine->vm, signature, &call, slots, &drain);
    if (outcome == OUTCOME_OK)
        outcome = function.native->function(machine->vm, slots, result);
    if (signature->rest >= 0)
        value_release(slots[signature->rest]);
    if (signature->keywords >= 0)
        value_release(slots[signature->keywords]);
    value_release(receiver);
    return outcome;
}
#endif
