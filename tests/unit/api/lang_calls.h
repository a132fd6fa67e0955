// SPDX-License-Identifier: Apache-2.0
// Calls of natives as tests/cases/python_text.inc writes them down: a reader of Python
// literals, a machine without a program, and the comparison with what CPython said.
#ifndef TENSORD_TESTS_UNIT_API_LANG_CALLS_H
#define TENSORD_TESTS_UNIT_API_LANG_CALLS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "api/lang/builtins.h"
#include "api/lang/sequence.h"
#include "api/lang/sets.h"
#include "api/lang/strings.h"
#include "api/lang/vm_internal.h"

struct python_call {
    const char *function, *positional, *keywords, *result, *error;
};

// ---- A machine that natives can ask, with nothing to run

static int64_t heap_limit = INT64_MAX; // bytes that may be admitted

static inline enum status admit_bytes(void *context, int64_t bytes,
                                      struct problem *problem)
{
    int64_t *admitted = context;
    if (bytes > heap_limit - *admitted)
        return problem_set(problem, STATUS_OUT_OF_MEMORY, "no more");
    *admitted += bytes;
    return STATUS_OK;
}

static inline void machine_open(struct vm *vm, int64_t *admitted)
{
    struct problem problem;
    *admitted = 0;
    memset(vm, 0, sizeof *vm);
    vm->options = (struct vm_options){.max_steps = 200000000, .max_print = 1 << 20};
    text_begin(&vm->printed, NULL, 0);
    struct heap_options options = {.grow = admit_bytes, .context = admitted};
    assert_int_equal(heap_create(&options, &vm->heap, &problem), STATUS_OK);
}

static inline void machine_close(struct vm *vm)
{
    text_end(&vm->printed);
    heap_free(vm->heap);
}

// ---- Literals

struct reader_of_literals {
    struct vm *vm;
    const char *p;
};

static inline struct value read_literal(struct reader_of_literals *reader);

static inline bool skip_word(struct reader_of_literals *reader, const char *word)
{
    size_t length = strlen(word);
    if (strncmp(reader->p, word, length) != 0)
        return false;
    reader->p += length;
    return true;
}

static inline struct value read_string_literal(struct reader_of_literals *reader)
{
    struct text text;
    text_begin(&text, NULL, 0);
    char quote = *reader->p++;
    while (*reader->p != quote) {
        assert_true(*reader->p != '\0');
        if (*reader->p != '\\') {
            text_add(&text, reader->p++, 1);
            continue;
        }
        char kind = reader->p[1];
        reader->p += 2;
        const char *simple = strchr("n\nr\rt\t\\\\'\'\"\"", kind);
        int digits = kind == 'x' ? 2 : kind == 'u' ? 4 : kind == 'U' ? 8 : 0;
        if (digits == 0) {
            assert_non_null(simple);
            text_add(&text, simple + 1, 1);
            continue;
        }
        char hex[9] = {0};
        memcpy(hex, reader->p, (size_t)digits);
        text_code(&text, (uint32_t)strtoul(hex, NULL, 16));
        reader->p += digits;
    }
    reader->p++;
    struct value value;
    assert_int_equal(text_to_string(reader->vm, &text, OUTCOME_OK, &value), OUTCOME_OK);
    return value;
}

static inline struct value read_number_literal(struct reader_of_literals *reader)
{
    char *end, *end_of_integer;
    double number = strtod(reader->p, &end);
    assert_true(end > reader->p);
    int64_t integer = strtoll(reader->p, &end_of_integer, 10);
    bool is_integer = end_of_integer == end;
    reader->p = end;
    return is_integer ? value_int(integer) : value_float(number);
}

// Items up to the closing bracket, as a list; with pairs, keys and values in turn.
static inline struct list *read_items(struct reader_of_literals *reader, char close)
{
    struct vm *vm = reader->vm;
    struct list *list = list_new(vm->heap, 0, NULL, &vm->problem);
    assert_non_null(list);
    while (*reader->p != close) {
        struct value item = read_literal(reader);
        assert_true(list_append(vm->heap, list, item, &vm->problem));
        value_release(item);
        if (*reader->p == ',' || *reader->p == ':')
            reader->p++;
        while (*reader->p == ' ')
            reader->p++;
    }
    reader->p++;
    return list;
}

static inline struct value take_tuple(struct vm *vm, struct list *items)
{
    struct tuple *tuple = tuple_new(vm->heap, items->count, items->items, &vm->problem);
    value_release(value_of(items));
    assert_non_null(tuple);
    return value_of(tuple);
}

static inline struct value take_range(struct vm *vm, struct list *items)
{
    int64_t step = items->count > 2 ? items->items[2].i : 1;
    struct range *range =
        range_new(vm->heap, items->items[0].i, items->items[1].i, step, &vm->problem);
    value_release(value_of(items));
    assert_non_null(range);
    return value_of(range);
}

static inline struct value take_dict(struct vm *vm, struct list *items)
{
    struct dict *dict = dict_new(vm->heap, &vm->problem);
    assert_non_null(dict);
    for (int64_t i = 0; i < items->count; i += 2)
        assert_int_equal(
            dict_set(vm->heap, dict, items->items[i], items->items[i + 1], &vm->problem),
            STATUS_OK);
    value_release(value_of(items));
    return value_of(dict);
}

static inline struct value take_set(struct vm *vm, struct list *items)
{
    struct set *set = set_new(vm->heap, &vm->problem);
    assert_non_null(set);
    for (int64_t i = 0; i < items->count; i++)
        assert_int_equal(set_add(vm->heap, set, items->items[i], &vm->problem),
                         STATUS_OK);
    value_release(value_of(items));
    return value_of(set);
}

static inline bool is_dict_ahead(const char *p) // behind the opening brace
{
    int depth = 0;
    char quote = 0;
    for (; depth >= 0 && *p != '\0'; p++) {
        if (quote != 0) {
            p += *p == '\\';
            quote = *p == quote ? 0 : quote;
        } else if (*p == '\'' || *p == '"') {
            quote = *p;
        } else if (depth == 0 && (*p == ':' || *p == ',')) {
            return *p == ':';
        } else {
            depth += strchr("([{", *p) != NULL;
            depth -= strchr(")]}", *p) != NULL;
        }
    }
    return false;
}

static inline struct value read_literal(struct reader_of_literals *reader)
{
    struct vm *vm = reader->vm;
    if (*reader->p == '\'' || *reader->p == '"')
        return read_string_literal(reader);
    if (skip_word(reader, "None"))
        return value_none();
    if (skip_word(reader, "True"))
        return value_bool(true);
    if (skip_word(reader, "False"))
        return value_bool(false);
    if (skip_word(reader, "set()"))
        return value_of(set_new(vm->heap, &vm->problem));
    if (skip_word(reader, "range("))
        return take_range(vm, read_items(reader, ')'));
    if (skip_word(reader, "["))
        return value_of(read_items(reader, ']'));
    if (skip_word(reader, "("))
        return take_tuple(vm, read_items(reader, ')'));
    if (skip_word(reader, "{}"))
        return value_of(dict_new(vm->heap, &vm->problem));
    if (skip_word(reader, "{")) {
        bool is_dict = is_dict_ahead(reader->p);
        struct list *items = read_items(reader, '}');
        return is_dict ? take_dict(vm, items) : take_set(vm, items);
    }
    return read_number_literal(reader);
}

static inline struct value literal(struct vm *vm, const char *text)
{
    struct reader_of_literals reader = {.vm = vm, .p = text};
    struct value value = read_literal(&reader);
    assert_int_equal(*reader.p, '\0');
    return value;
}

// ---- Calling

static inline const struct native *find_native(const char *name)
{
    static const struct {
        const char *prefix;
        struct native *table;
    } tables[] = {{"str.", str_methods},
                  {"math.", math_functions},
                  {"new.", type_constructors},
                  {"", builtin_functions}};
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        size_t length = strlen(tables[i].prefix);
        if (strncmp(name, tables[i].prefix, length) != 0)
            continue;
        const char *rest = name + length;
        return native_find(tables[i].table, rest, strlen(rest));
    }
    return NULL;
}

enum { ARGUMENTS_MAX = 24 };

static inline enum outcome call_bound_native(struct vm *vm, const struct native *native,
                                             const struct tuple *positional,
                                             const struct dict *keywords,
                                             struct value *result)
{
    const struct signature *signature = signature_of(native);
    assert_non_null(signature);
    struct value arguments[ARGUMENTS_MAX], slots[NATIVE_MAX_SLOTS];
    struct string *names[ARGUMENTS_MAX];
    assert_true(positional->count + keywords->count <= ARGUMENTS_MAX);
    struct call call = {
        .n = (int)positional->count, .arguments = arguments, .names = names};
    for (int64_t i = 0; i < positional->count; i++)
        arguments[i] = positional->items[i];
    int64_t position = 0;
    for (struct dict_entry *entry; (entry = dict_next(keywords, &position)) != NULL;) {
        names[call.n_named] = VALUE_AS(string, entry->key);
        arguments[call.n + call.n_named++] = entry->value;
    }
    int drain = -1;
    int outcome = bind_native(vm, signature, &call, slots, &drain);
    if (outcome == OUTCOME_OK)
        outcome = native->function(vm, slots, result);
    if (signature->rest >= 0)
        value_release(slots[signature->rest]);
    if (signature->keywords >= 0)
        value_release(slots[signature->keywords]);
    return (enum outcome)outcome;
}

// print gives what it printed.
static inline enum outcome run_call_row(struct vm *vm, const struct python_call *row,
                                        const struct tuple *positional,
                                        const struct dict *keywords, struct value *result)
{
    if (strcmp(row->function, "percent") == 0)
        return string_percent(vm, VALUE_AS(string, positional->items[0]),
                              positional->items[1], result);
    const struct native *native = find_native(row->function);
    assert_non_null(native);
    vm->printed.length = 0;
    enum outcome outcome = call_bound_native(vm, native, positional, keywords, result);
    if (outcome == OUTCOME_OK && strcmp(row->function, "print") == 0) {
        *result = value_of(
            string_new(vm->heap, vm->printed.data, vm->printed.length, &vm->problem));
        assert_non_null(result->object);
    }
    return outcome;
}

static inline enum status status_of_error(const char *name)
{
    static const struct {
        const char *name;
        enum status status;
    } errors[] = {
        {"ValueError", STATUS_VALUE},
        {"TypeError", STATUS_TYPE},
        {"OverflowError", STATUS_OVERFLOW},
        {"KeyError", STATUS_KEY},
        {"IndexError", STATUS_INDEX},
        {"AttributeError", STATUS_ATTRIBUTE},
        {"ZeroDivisionError", STATUS_ZERO_DIVISION},
    };
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        if (strcmp(errors[i].name, name) == 0)
            return errors[i].status;
    fail_msg("no status for %s", name);
    return STATUS_OK;
}

// Floats of math may differ by two units in the last place, as libraries do.
static inline bool is_near(const char *a, const char *b)
{
    char *end_a, *end_b;
    double x = strtod(a, &end_a), y = strtod(b, &end_b);
    double unit = nextafter(fabs(y), INFINITY) - fabs(y);
    return *end_a == '\0' && *end_b == '\0' && strchr(b, '.') != NULL &&
           fabs(x - y) <= 2 * unit;
}

// True if the row's call does what CPython did; else says what it did.
static inline bool check_call(struct vm *vm, const struct python_call *row)
{
    struct value positional = literal(vm, row->positional),
                 keywords = literal(vm, row->keywords), result = value_none();
    problem_clear(&vm->problem);
    vm->spent = 0;
    enum outcome outcome = run_call_row(vm, row, VALUE_AS(tuple, positional),
                                        VALUE_AS(dict, keywords), &result);
    struct text text;
    text_begin(&text, NULL, 0);
    bool passed;
    if (row->error[0] != '\0') {
        passed = outcome == OUTCOME_ERROR &&
                 vm->problem.status == status_of_error(row->error) &&
                 (strcmp(row->result, "*") == 0 ||
                  strcmp(row->result, vm->problem.detail) == 0);
    } else {
        passed = outcome == OUTCOME_OK && value_ascii(vm, result, &text) == OUTCOME_OK;
        text_add(&text, "", 1);
        passed = passed && (strcmp(text.data, row->result) == 0 ||
                            (strncmp(row->function, "math.", 5) == 0 &&
                             is_near(text.data, row->result)));
    }
    if (!passed)
        print_error("%s%s %s: %s %s, not %s %s\n", row->function, row->positional,
                    row->keywords, outcome == OUTCOME_OK ? "gives" : "raises",
                    outcome == OUTCOME_OK && text.length > 0 ? text.data
                                                             : vm->problem.detail,
                    row->error, row->result);
    text_end(&text);
    if (outcome == OUTCOME_OK)
        value_release(result);
    value_release(positional);
    value_release(keywords);
    return passed;
}

// All rows whose function `wanted` accepts; their number.
static inline int check_calls(const struct python_call *rows, size_t count,
                              bool (*wanted)(const char *function))
{
    struct vm vm;
    int64_t admitted;
    int checked = 0, failed = 0;
    machine_open(&vm, &admitted);
    for (size_t i = 0; i < count; i++)
        if (wanted(rows[i].function)) {
            checked++;
            failed += !check_call(&vm, &rows[i]);
        }
    machine_close(&vm);
    assert_int_equal(failed, 0);
    return checked;
}
#endif
