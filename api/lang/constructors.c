// SPDX-License-Identifier: Apache-2.0
// Calls of built-in types: int("3"), list(x), type(x). The program's thread.
#include "api/lang/builtins.h"
#include "api/lang/number.h"
#include "api/lang/sequence.h"
#include "api/lang/sets.h"
#include "api/lang/strings.h"

static bool is_given(struct value value)
{
    return value.tag != VALUE_ABSENT;
}

// ---- Numbers

static enum outcome int_of_text(struct vm *vm, struct value *slots, struct value *result)
{
    int64_t base = 10, number;
    const struct string *string = VALUE_AS(string, slots[0]);
    if (is_given(slots[1])) {
        enum outcome outcome = value_to_index(vm, slots[1], &base);
        if (outcome != OUTCOME_OK)
            return outcome;
        if (base != 0 && (base < 2 || base > 36))
            return vm_raise(vm, STATUS_VALUE, "int() base must be >= 2 and <= 36, or 0");
    }
    if (text_to_int(vm, string->text, (size_t)string->bytes, (int)base, &number) ==
        OUTCOME_ERROR)
        return OUTCOME_ERROR;
    *result = value_int(number);
    return OUTCOME_OK;
}

static enum outcome make_int(struct vm *vm, struct value *slots, struct value *result)
{
    struct value from = slots[0];
    if (!is_given(from)) {
        *result = value_int(0);
        return is_given(slots[1])
                   ? vm_raise(vm, STATUS_TYPE, "int() missing string argument")
                   : OUTCOME_OK;
    }
    if (value_is_object(from, OBJECT_STRING))
        return int_of_text(vm, slots, result);
    if (is_given(slots[1]))
        return vm_raise(vm, STATUS_TYPE,
                        "int() can't convert non-string with explicit base");
    if (value_is_tensor(from)) {
        enum outcome outcome = tensor_number(vm, from, &from);
        if (outcome != OUTCOME_OK)
            return outcome;
    }
    if (value_is_integer(from)) {
        *result = value_int(from.i);
        return OUTCOME_OK;
    }
    if (from.tag == VALUE_WIDE) {
        *result = from;
        return OUTCOME_OK;
    }
    if (from.tag != VALUE_FLOAT)
        return vm_raise(vm, STATUS_TYPE,
                        "int() argument must be a string, a bytes-like object or a real "
                        "number, not '%s'",
                        value_type_name(from));
    int64_t whole;
    if (float_to_int(vm, from.f, &whole) == OUTCOME_ERROR)
        return OUTCOME_ERROR;
    *result = value_int(whole);
    return OUTCOME_OK;
}

static enum outcome make_float(struct vm *vm, struct value *slots, struct value *result)
{
    double number = 0.0;
    enum outcome outcome = OUTCOME_OK;
    if (value_is_object(slots[0], OBJECT_STRING)) {
        const struct string *string = VALUE_AS(string, slots[0]);
        outcome = text_to_float(vm, string->text, (size_t)string->bytes, &number);
    } else if (value_is_arithmetic(slots[0]) || value_is_tensor(slots[0])) {
        outcome = value_to_double(vm, slots[0], &number);
    } else if (is_given(slots[0])) {
        return vm_raise(vm, STATUS_TYPE,
                        "float() argument must be a string or a real number, not '%s'",
                        value_type_name(slots[0]));
    }
    *result = value_float(number);
    return outcome;
}

static enum outcome make_bool(struct vm *vm, struct value *slots, struct value *result)
{
    bool truth = false;
    enum outcome outcome =
        is_given(slots[0]) ? value_truth(vm, slots[0], &truth) : OUTCOME_OK;
    *result = value_bool(truth);
    return outcome;
}

// ---- Text and sequences

static enum outcome make_str(struct vm *vm, struct value *slots, struct value *result)
{
    if (value_is_object(slots[0], OBJECT_STRING)) {
        *result = value_reference(slots[0]);
        return OUTCOME_OK;
    }
    char small[256];
    struct text text;
    text_begin(&text, small, sizeof small);
    enum outcome outcome =
        is_given(slots[0]) ? value_str(vm, slots[0], &text) : OUTCOME_OK;
    return text_to_string(vm, &text, outcome, result);
}

static enum outcome make_list(struct vm *vm, struct value *slots, struct value *result)
{
    struct list *list;
    enum outcome outcome = OUTCOME_OK;
    if (is_given(slots[0])) {
        outcome = sequence_collect(vm, slots[0], &list);
    } else {
        list = list_new(vm_heap(vm), 0, NULL, vm_problem(vm));
        outcome = list == NULL ? OUTCOME_ERROR : OUTCOME_OK;
    }
    if (outcome == OUTCOME_OK)
        *result = value_of(list);
    return outcome;
}

static bool is_plain_tuple(struct value value)
{
    return value_is_object(value, OBJECT_TUPLE) && !VALUE_AS(tuple, value)->is_size &&
           VALUE_AS(tuple, value)->fields == NULL;
}

static enum outcome make_tuple(struct vm *vm, struct value *slots, struct value *result)
{
    if (is_plain_tuple(slots[0])) {
        *result = value_reference(slots[0]);
        return OUTCOME_OK;
    }
    struct value list = {.tag = VALUE_ABSENT};
    const struct value *items = NULL;
    int64_t count = 0;
    if (is_given(slots[0])) {
        enum outcome outcome = make_list(vm, slots, &list);
        if (outcome != OUTCOME_OK)
            return outcome;
        items = sequence_items(list, &count);
    }
    struct tuple *tuple = tuple_new(vm_heap(vm), count, items, vm_problem(vm));
    value_release(list);
    if (tuple == NULL)
        return OUTCOME_ERROR;
    *result = value_of(tuple);
    return OUTCOME_OK;
}

static enum outcome make_set(struct vm *vm, struct value *slots, struct value *result)
{
    struct set *set = set_new(vm_heap(vm), vm_problem(vm));
    if (set == NULL)
        return OUTCOME_ERROR;
    enum outcome outcome =
        is_given(slots[0]) ? set_update(vm, set, slots[0]) : OUTCOME_OK;
    *result = value_of(set);
    if (outcome != OUTCOME_OK)
        value_release(*result);
    return outcome;
}

static enum outcome make_dict(struct vm *vm, struct value *slots, struct value *result)
{
    struct dict *dict = dict_new(vm_heap(vm), vm_problem(vm));
    if (dict == NULL)
        return OUTCOME_ERROR;
    enum outcome outcome =
        is_given(slots[0]) ? dict_update(vm, dict, slots[0]) : OUTCOME_OK;
    if (outcome == OUTCOME_OK)
        outcome = dict_update(vm, dict, slots[1]);
    *result = value_of(dict);
    if (outcome != OUTCOME_OK)
        value_release(*result);
    return outcome;
}

// ---- range, slice, type

static enum outcome make_range(struct vm *vm, struct value *slots, struct value *result)
{
    int64_t numbers[3] = {0, 0, 1};
    int count = 1 + is_given(slots[1]) + is_given(slots[2]);
    enum outcome all = OUTCOME_OK;
    for (int i = 0; i < count; i++)
        if (!outcome_keep(&all, value_to_index(vm, slots[i], &numbers[i])))
            return OUTCOME_ERROR;
    if (all != OUTCOME_OK)
        return all;
    if (numbers[2] == 0)
        return vm_raise(vm, STATUS_VALUE, "range() arg 3 must not be zero");
    int64_t start = count == 1 ? 0 : numbers[0];
    int64_t stop = count == 1 ? numbers[0] : numbers[1];
    struct range *range = range_new(vm_heap(vm), start, stop, numbers[2], vm_problem(vm));
    if (range == NULL)
        return OUTCOME_ERROR;
    *result = value_of(range);
    return OUTCOME_OK;
}

static enum outcome make_slice(struct vm *vm, struct value *slots, struct value *result)
{
    bool one = !is_given(slots[1]);
    struct slice_object *slice =
        slice_new(vm_heap(vm), one ? value_none() : slots[0], one ? slots[0] : slots[1],
                  is_given(slots[2]) ? slots[2] : value_none(), vm_problem(vm));
    if (slice == NULL)
        return OUTCOME_ERROR;
    *result = value_of(slice);
    return OUTCOME_OK;
}

static enum outcome make_type(struct vm *vm, struct value *slots, struct value *result)
{
    *result = (struct value){.tag = VALUE_TYPE, .i = value_type(slots[0])};
    return OUTCOME_OK;
}

struct native type_constructors[] = {
    {.name = "int", .signature = "x=, /, base=", .function = make_int},
    {.name = "float", .signature = "x=, /", .function = make_float},
    {.name = "bool", .signature = "x=, /", .function = make_bool},
    {.name = "str", .signature = "object=", .function = make_str},
    {.name = "list", .signature = "~iterable=, /", .function = make_list},
    {.name = "tuple", .signature = "~iterable=, /", .function = make_tuple},
    {.name = "set", .signature = "~iterable=, /", .function = make_set},
    {.name = "dict", .signature = "~iterable=, /, **kwargs", .function = make_dict},
    {.name = "range", .signature = "start, stop=, step=, /", .function = make_range},
    {.name = "slice", .signature = "start, stop=, step=, /", .function = make_slice},
    {.name = "type", .signature = "object, /", .function = make_type},
    {0},
};

const struct native *type_constructor(enum type type)
{
    static const struct {
        enum type type;
        int row;
    } rows[] = {
        {TYPE_int, 0},   {TYPE_float, 1}, {TYPE_bool, 2},  {TYPE_str, 3},
        {TYPE_list, 4},  {TYPE_tuple, 5}, {TYPE_set, 6},   {TYPE_dict, 7},
        {TYPE_range, 8}, {TYPE_slice, 9}, {TYPE_type, 10},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].type == type)
            return &type_constructors[rows[i].row];
    const struct native *native = torch_type_constructor(type);
    return native != NULL ? native : module_constructor(type);
}
