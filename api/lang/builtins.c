// SPDX-License-Identifier: Apache-2.0
// Builtins that print, ask and convert characters; and the table of all that are natives
// (map, sorted, sum ... are written in the language: prelude). The program's thread.
#include "api/lang/builtins.h"

#include "api/lang/builtins_table.h"
#include "api/lang/sequence.h"
#include "api/lang/strings.h"
#include "api/lang/unicode.h"

enum { CLASSES_MAX_DEPTH = 100 };

static bool is_given(struct value value)
{
    return value.tag != VALUE_ABSENT;
}

// ---- print

// sep= and end=.
static enum outcome read_separator(struct vm *vm, struct value value, const char *name,
                                   const char *otherwise, const char **text,
                                   size_t *bytes)
{
    *text = otherwise;
    *bytes = 1;
    if (!is_given(value) || value.tag == VALUE_NONE)
        return OUTCOME_OK;
    if (!value_is_object(value, OBJECT_STRING))
        return vm_raise(vm, STATUS_TYPE, "%s must be None or a string, not %s", name,
                        value_type_name(value));
    *text = VALUE_AS(string, value)->text;
    *bytes = (size_t)VALUE_AS(string, value)->bytes;
    return OUTCOME_OK;
}

// All values are asked for their text before any is waited for.
static enum outcome add_line(struct vm *vm, const struct tuple *values, const char *sep,
                             size_t sep_bytes, struct text *line)
{
    enum outcome all = OUTCOME_OK;
    for (int64_t i = 0; i < values->count; i++) {
        if (text_charge(vm, line, (int64_t)sep_bytes) == OUTCOME_ERROR)
            return OUTCOME_ERROR;
        if (i > 0)
            text_add(line, sep, sep_bytes);
        if (!outcome_keep(&all, value_str(vm, values->items[i], line)))
            return OUTCOME_ERROR;
    }
    return all;
}

static enum outcome builtin_print(struct vm *vm, struct value *slots,
                                  struct value *result)
{
    const char *sep, *end;
    size_t sep_bytes, end_bytes;
    if (read_separator(vm, slots[1], "sep", " ", &sep, &sep_bytes) == OUTCOME_ERROR ||
        read_separator(vm, slots[2], "end", "\n", &end, &end_bytes) == OUTCOME_ERROR)
        return OUTCOME_ERROR;
    if (is_given(slots[3]) && slots[3].tag != VALUE_NONE)
        return vm_raise(vm, STATUS_TYPE, "print() has no files here: leave file= out");
    char small[1024];
    struct text line;
    text_begin(&line, small, sizeof small);
    enum outcome outcome = add_line(vm, VALUE_AS(tuple, slots[0]), sep, sep_bytes, &line);
    if (outcome == OUTCOME_OK)
        outcome = text_charge(vm, &line, (int64_t)end_bytes);
    if (outcome == OUTCOME_OK) {
        text_add(&line, end, end_bytes);
        outcome =
            line.failed ? text_out_of_memory(vm) : vm_print(vm, line.data, line.length);
    }
    text_end(&line);
    *result = value_none();
    return outcome;
}

// ---- Text of a value

typedef enum outcome text_function(struct vm *vm, struct value value, struct text *text);

static enum outcome as_text(struct vm *vm, text_function *function, struct value value,
                            struct value *result)
{
    char small[256];
    struct text text;
    text_begin(&text, small, sizeof small);
    return text_to_string(vm, &text, function(vm, value, &text), result);
}

static enum outcome builtin_repr(struct vm *vm, struct value *slots, struct value *result)
{
    return as_text(vm, value_repr, slots[0], result);
}

static enum outcome builtin_ascii(struct vm *vm, struct value *slots,
                                  struct value *result)
{
    return as_text(vm, value_ascii, slots[0], result);
}

static enum outcome builtin_format(struct vm *vm, struct value *slots,
                                   struct value *result)
{
    const struct string *spec = VALUE_AS(string, slots[1]);
    if (is_given(slots[1]) && !value_is_object(slots[1], OBJECT_STRING))
        return vm_raise(vm, STATUS_TYPE, "format() argument 2 must be str, not %s",
                        value_type_name(slots[1]));
    char small[256];
    struct text text;
    text_begin(&text, small, sizeof small);
    enum outcome outcome =
        value_format(vm, slots[0], is_given(slots[1]) ? spec->text : "",
                     is_given(slots[1]) ? (size_t)spec->bytes : 0, &text);
    return text_to_string(vm, &text, outcome, result);
}

// ---- Characters

static enum outcome builtin_ord(struct vm *vm, struct value *slots, struct value *result)
{
    if (!value_is_object(slots[0], OBJECT_STRING))
        return vm_raise(vm, STATUS_TYPE,
                        "ord() expected string of length 1, but %s found",
                        value_type_name(slots[0]));
    const struct string *string = VALUE_AS(string, slots[0]);
    if (string->characters != 1)
        return vm_raise(vm, STATUS_TYPE,
                        "ord() expected a character, but string of length %lld found",
                        (long long)string->characters);
    const char *p = string->text;
    *result = value_int((int64_t)utf8_next(&p, p + string->bytes));
    return OUTCOME_OK;
}

static enum outcome builtin_chr(struct vm *vm, struct value *slots, struct value *result)
{
    int64_t code;
    enum outcome outcome = value_to_index(vm, slots[0], &code);
    if (outcome != OUTCOME_OK)
        return outcome;
    if (code < 0 || code > 0x10FFFF)
        return vm_raise(vm, STATUS_VALUE, "chr() arg not in range(0x110000)");
    if (code >= 0xD800 && code < 0xE000)
        return vm_raise(vm, STATUS_VALUE, "surrogates are not allowed in text");
    struct string *string = string_of_code(vm_heap(vm), (uint32_t)code, vm_problem(vm));
    if (string == NULL)
        return OUTCOME_ERROR;
    *result = value_of(string);
    return OUTCOME_OK;
}

// ---- Questions

static enum outcome builtin_len(struct vm *vm, struct value *slots, struct value *result)
{
    int64_t length;
    enum outcome outcome = value_length(vm, slots[0], &length);
    if (outcome == OUTCOME_OK)
        *result = value_int(length);
    return outcome;
}

static enum outcome builtin_hash(struct vm *vm, struct value *slots, struct value *result)
{
    uint64_t hash;
    if (value_hash(slots[0], &hash, vm_problem(vm)) != STATUS_OK)
        return OUTCOME_ERROR;
    *result = value_int((int64_t)hash);
    return OUTCOME_OK;
}

static enum outcome builtin_id(struct vm *vm, struct value *slots, struct value *result)
{
    *result = value_int(value_id(slots[0]));
    return OUTCOME_OK;
}

static enum outcome builtin_callable(struct vm *vm, struct value *slots,
                                     struct value *result)
{
    struct value value = slots[0];
    *result = value_bool(
        value.tag == VALUE_NATIVE || value.tag == VALUE_OP || value.tag == VALUE_TYPE ||
        value_is_object(value, OBJECT_FUNCTION) || value_is_object(value, OBJECT_BOUND) ||
        value_is_object(value, OBJECT_MODULE));
    return OUTCOME_OK;
}

// type against a type or a tuple of types, which may hold tuples.
static enum outcome is_of(struct vm *vm, enum type type, struct value classes,
                          const char *function, int depth, bool *is)
{
    if (classes.tag == VALUE_TYPE) {
        *is = type_is_subtype(type, (enum type)classes.i);
        return OUTCOME_OK;
    }
    if (!value_is_object(classes, OBJECT_TUPLE))
        return vm_raise(vm, STATUS_TYPE,
                        "%s() arg 2 must be a type, a tuple of types, or a union",
                        function);
    if (depth > CLASSES_MAX_DEPTH)
        return vm_raise(vm, STATUS_LIMIT, "maximum recursion depth exceeded");
    const struct tuple *tuple = VALUE_AS(tuple, classes);
    *is = false;
    for (int64_t i = 0; i < tuple->count && !*is; i++)
        if (vm_spend(vm, 1) == OUTCOME_ERROR ||
            is_of(vm, type, tuple->items[i], function, depth + 1, is) == OUTCOME_ERROR)
            return OUTCOME_ERROR;
    return OUTCOME_OK;
}

static enum outcome builtin_isinstance(struct vm *vm, struct value *slots,
                                       struct value *result)
{
    bool is;
    if (is_of(vm, value_type(slots[0]), slots[1], "isinstance", 1, &is) == OUTCOME_ERROR)
        return OUTCOME_ERROR;
    *result = value_bool(is);
    return OUTCOME_OK;
}

static enum outcome builtin_issubclass(struct vm *vm, struct value *slots,
                                       struct value *result)
{
    bool is;
    if (slots[0].tag != VALUE_TYPE)
        return vm_raise(vm, STATUS_TYPE, "issubclass() arg 1 must be a class");
    if (is_of(vm, (enum type)slots[0].i, slots[1], "issubclass", 1, &is) == OUTCOME_ERROR)
        return OUTCOME_ERROR;
    *result = value_bool(is);
    return OUTCOME_OK;
}

static enum outcome builtin_reversed(struct vm *vm, struct value *slots,
                                     struct value *result)
{
    return value_reversed(vm, slots[0], result);
}

struct native builtin_functions[] = {
    {.name = "_sorted",
     .signature = "items, keys, reverse, /",
     .function = builtin_sorted},
    {.name = "abs", .signature = "x, /", .function = builtin_abs},
    {.name = "ascii", .signature = "obj, /", .function = builtin_ascii},
    {.name = "bin", .signature = "number, /", .function = builtin_bin},
    {.name = "callable", .signature = "obj, /", .function = builtin_callable},
    {.name = "chr", .signature = "i, /", .function = builtin_chr},
    {.name = "divmod", .signature = "x, y, /", .function = builtin_divmod},
    {.name = "format", .signature = "value, format_spec=, /", .function = builtin_format},
    {.name = "hash", .signature = "obj, /", .function = builtin_hash},
    {.name = "hex", .signature = "number, /", .function = builtin_hex},
    {.name = "id", .signature = "obj, /", .function = builtin_id},
    {.name = "isinstance",
     .signature = "obj, class_or_tuple, /",
     .function = builtin_isinstance},
    {.name = "issubclass",
     .signature = "cls, class_or_tuple, /",
     .function = builtin_issubclass},
    {.name = "len", .signature = "obj, /", .function = builtin_len},
    {.name = "oct", .signature = "number, /", .function = builtin_oct},
    {.name = "ord", .signature = "c, /", .function = builtin_ord},
    {.name = "pow", .signature = "base, exp, mod=", .function = builtin_pow},
    {.name = "print",
     .signature = "*values, sep=, end=, file=, flush=",
     .function = builtin_print},
    {.name = "repr", .signature = "obj, /", .function = builtin_repr},
    {.name = "reversed", .signature = "sequence, /", .function = builtin_reversed},
    {.name = "round", .signature = "number, ndigits=", .function = builtin_round},
    {0},
};
