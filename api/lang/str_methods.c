// SPDX-License-Identifier: Apache-2.0
// The table of str's methods, and those that ask one thing of every character. The
// program's thread.
#include "api/lang/str_methods.h"

#include "api/lang/sequence.h"

// ---- Shared

enum outcome str_self(struct vm *vm, const struct value *slots, const char *method,
                      const struct string **out)
{
    if (method_self(vm, slots[0], OBJECT_STRING, method) == OUTCOME_ERROR)
        return OUTCOME_ERROR;
    *out = VALUE_AS(string, slots[0]);
    return OUTCOME_OK;
}

enum outcome str_new(struct vm *vm, const char *text, size_t bytes, struct value *result)
{
    struct string *string = string_new(vm_heap(vm), text, bytes, vm_problem(vm));
    if (string == NULL)
        return OUTCOME_ERROR;
    *result = value_of(string);
    return OUTCOME_OK;
}

enum outcome str_integer(struct vm *vm, struct value value, int64_t otherwise,
                         int64_t *out)
{
    *out = otherwise;
    return is_given(value) ? value_to_index(vm, value, out) : OUTCOME_OK;
}

// ---- Predicates

// Every character has one of the properties (all bits of UNICODE_DECIMAL), and there is
// one.
static enum outcome all_have(struct vm *vm, const struct value *slots, const char *method,
                             unsigned any, unsigned all, struct value *result)
{
    const struct string *self;
    if (str_self(vm, slots, method, &self) == OUTCOME_ERROR ||
        vm_spend(vm, self->bytes / 2) == OUTCOME_ERROR)
        return OUTCOME_ERROR;
    bool holds = self->bytes > 0;
    for (const char *p = self->text, *end = p + self->bytes; holds && p < end;) {
        unsigned properties = unicode_properties(utf8_next(&p, end));
        holds = (properties & any) != 0 || (all != 0 && (properties & all) == all);
    }
    *result = value_bool(holds);
    return OUTCOME_OK;
}

#define PREDICATE(name, any, all)                                                        \
    static enum outcome str_##name(struct vm *vm, struct value *slots,                   \
                                   struct value *result)                                 \
    {                                                                                    \
        return all_have(vm, slots, #name, any, all, result);                             \
    }
PREDICATE(isalpha, UNICODE_ALPHA, 0)
PREDICATE(isdecimal, 0, UNICODE_DECIMAL)
PREDICATE(isdigit, UNICODE_DIGIT, 0)
PREDICATE(isnumeric, UNICODE_NUMERIC, 0)
PREDICATE(isalnum, UNICODE_ALPHA | UNICODE_NUMERIC, 0)
PREDICATE(isspace, UNICODE_SPACE, 0)

static enum outcome str_isprintable(struct vm *vm, struct value *slots,
                                    struct value *result)
{
    enum outcome outcome =
        all_have(vm, slots, "isprintable", UNICODE_PRINTABLE, 0, result);
    if (outcome == OUTCOME_OK && str_of(slots[0])->bytes == 0)
        *result = value_bool(true);
    return outcome;
}

static enum outcome str_isascii(struct vm *vm, struct value *slots, struct value *result)
{
    const struct string *self;
    if (str_self(vm, slots, "isascii", &self) == OUTCOME_ERROR)
        return OUTCOME_ERROR;
    *result = value_bool(string_is_ascii(self));
    return OUTCOME_OK;
}

static enum outcome str_isidentifier(struct vm *vm, struct value *slots,
                                     struct value *result)
{
    enum outcome outcome = all_have(vm, slots, "isidentifier", UNICODE_WORD, 0, result);
    if (outcome == OUTCOME_OK && result->i) {
        const struct string *self = str_of(slots[0]);
        const char *p = self->text;
        unsigned first = unicode_properties(utf8_next(&p, p + self->bytes));
        *result = value_bool((first & UNICODE_WORD_START) != 0);
    }
    return outcome;
}

// Letters of the wanted case, and none of another.
static enum outcome one_case(struct vm *vm, const struct value *slots, const char *method,
                             unsigned wanted, struct value *result)
{
    const struct string *self;
    if (str_self(vm, slots, method, &self) == OUTCOME_ERROR ||
        vm_spend(vm, self->bytes / 2) == OUTCOME_ERROR)
        return OUTCOME_ERROR;
    unsigned seen = 0;
    for (const char *p = self->text, *end = p + self->bytes; p < end;)
        seen |= unicode_properties(utf8_next(&p, end)) & UNICODE_CASED;
    *result = value_bool(seen == wanted);
    return OUTCOME_OK;
}

static enum outcome str_islower(struct vm *vm, struct value *slots, struct value *result)
{
    return one_case(vm, slots, "islower", UNICODE_IS_LOWER, result);
}

static enum outcome str_isupper(struct vm *vm, struct value *slots, struct value *result)
{
    return one_case(vm, slots, "isupper", UNICODE_IS_UPPER, result);
}

static enum outcome str_istitle(struct vm *vm, struct value *slots, struct value *result)
{
    const struct string *self;
    if (str_self(vm, slots, "istitle", &self) == OUTCOME_ERROR ||
        vm_spend(vm, self->bytes / 2) == OUTCOME_ERROR)
        return OUTCOME_ERROR;
    bool in_word = false, any = false, holds = true;
    for (const char *p = self->text, *end = p + self->bytes; holds && p < end;) {
        unsigned properties = unicode_properties(utf8_next(&p, end)) & UNICODE_CASED;
        if (properties != 0)
            holds = in_word == (properties == UNICODE_IS_LOWER);
        in_word = properties != 0;
        any = any || in_word;
    }
    *result = value_bool(holds && any);
    return OUTCOME_OK;
}

// ---- format

static enum outcome str_format(struct vm *vm, struct value *slots, struct value *result)
{
    const struct string *self;
    if (str_self(vm, slots, "format", &self) == OUTCOME_ERROR)
        return OUTCOME_ERROR;
    return string_template(vm, self, VALUE_AS(tuple, slots[1]), VALUE_AS(dict, slots[2]),
                           result);
}

static enum outcome str_format_map(struct vm *vm, struct value *slots,
                                   struct value *result)
{
    const struct string *self;
    if (str_self(vm, slots, "format_map", &self) == OUTCOME_ERROR)
        return OUTCOME_ERROR;
    if (!value_is_object(slots[1], OBJECT_DICT))
        return vm_raise(vm, STATUS_TYPE, "format_map() wants a dict, not '%s'",
                        value_type_name(slots[1]));
    struct tuple *none = tuple_new(vm_heap(vm), 0, NULL, vm_problem(vm));
    if (none == NULL)
        return OUTCOME_ERROR;
    enum outcome outcome =
        string_template(vm, self, none, VALUE_AS(dict, slots[1]), result);
    value_release(value_of(none));
    return outcome;
}

struct native str_methods[] = {
    {.name = "capitalize", .signature = "self, /", .function = str_capitalize},
    {.name = "casefold", .signature = "self, /", .function = str_casefold},
    {.name = "center", .signature = "self, width, fillchar=, /", .function = str_center},
    {.name = "count", .signature = "self, sub, start=, end=, /", .function = str_count},
    {.name = "endswith",
     .signature = "self, suffix, start=, end=, /",
     .function = str_endswith},
    {.name = "expandtabs", .signature = "self, /, tabsize=", .function = str_expandtabs},
    {.name = "find", .signature = "self, sub, start=, end=, /", .function = str_find},
    {.name = "format", .signature = "self, /, *args, **kwargs", .function = str_format},
    {.name = "format_map", .signature = "self, mapping, /", .function = str_format_map},
    {.name = "index", .signature = "self, sub, start=, end=, /", .function = str_index},
    {.name = "isalnum", .signature = "self, /", .function = str_isalnum},
    {.name = "isalpha", .signature = "self, /", .function = str_isalpha},
    {.name = "isascii", .signature = "self, /", .function = str_isascii},
    {.name = "isdecimal", .signature = "self, /", .function = str_isdecimal},
    {.name = "isdigit", .signature = "self, /", .function = str_isdigit},
    {.name = "isidentifier", .signature = "self, /", .function = str_isidentifier},
    {.name = "islower", .signature = "self, /", .function = str_islower},
    {.name = "isnumeric", .signature = "self, /", .function = str_isnumeric},
    {.name = "isprintable", .signature = "self, /", .function = str_isprintable},
    {.name = "isspace", .signature = "self, /", .function = str_isspace},
    {.name = "istitle", .signature = "self, /", .function = str_istitle},
    {.name = "isupper", .signature = "self, /", .function = str_isupper},
    {.name = "join", .signature = "self, ~iterable, /", .function = str_join},
    {.name = "ljust", .signature = "self, width, fillchar=, /", .function = str_ljust},
    {.name = "lower", .signature = "self, /", .function = str_lower},
    {.name = "lstrip", .signature = "self, chars=, /", .function = str_lstrip},
    {.name = "maketrans", .signature = "x, y=, z=, /", .function = str_maketrans},
    {.name = "partition", .signature = "self, sep, /", .function = str_partition},
    {.name = "removeprefix",
     .signature = "self, prefix, /",
     .function = str_removeprefix},
    {.name = "removesuffix",
     .signature = "self, suffix, /",
     .function = str_removesuffix},
    {.name = "replace",
     .signature = "self, old, new, count=, /",
     .function = str_replace},
    {.name = "rfind", .signature = "self, sub, start=, end=, /", .function = str_rfind},
    {.name = "rindex", .signature = "self, sub, start=, end=, /", .function = str_rindex},
    {.name = "rjust", .signature = "self, width, fillchar=, /", .function = str_rjust},
    {.name = "rpartition", .signature = "self, sep, /", .function = str_rpartition},
    {.name = "rsplit", .signature = "self, /, sep=, maxsplit=", .function = str_rsplit},
    {.name = "rstrip", .signature = "self, chars=, /", .function = str_rstrip},
    {.name = "split", .signature = "self, /, sep=, maxsplit=", .function = str_split},
    {.name = "splitlines", .signature = "self, /, keepends=", .function = str_splitlines},
    {.name = "startswith",
     .signature = "self, prefix, start=, end=, /",
     .function = str_startswith},
    {.name = "strip", .signature = "self, chars=, /", .function = str_strip},
    {.name = "swapcase", .signature = "self, /", .function = str_swapcase},
    {.name = "title", .signature = "self, /", .function = str_title},
    {.name = "translate", .signature = "self, table, /", .function = str_translate},
    {.name = "upper", .signature = "self, /", .function = str_upper},
    {.name = "zfill", .signature = "self, width, /", .function = str_zfill},
    {0},
};
