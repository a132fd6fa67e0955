// SPDX-License-Identifier: Apache-2.0
// Methods of str that take characters off the ends or add some: strip, center, zfill,
// expandtabs; and translate. The program's thread.
#include "api/lang/str_methods.h"

#include "kernels/base/size.h"

// ---- strip

static bool is_stripped(uint32_t code, const struct string *set)
{
    if (set == NULL)
        return unicode_is_space(code);
    for (const char *p = set->text, *end = p + set->bytes; p < end;)
        if (utf8_next(&p, end) == code)
            return true;
    return false;
}

static enum outcome strip(struct vm *vm, struct value *slots, const char *method,
                          bool left, bool right, struct value *result)
{
    const struct string *self, *set = str_of(slots[1]);
    int64_t cost;
    if (str_self(vm, slots, method, &self) == OUTCOME_ERROR)
        return OUTCOME_ERROR;
    if (is_given(slots[1]) && slots[1].tag != VALUE_NONE && set == NULL)
        return vm_raise(vm, STATUS_TYPE, "%s arg must be None or str", method);
    const char *begin = self->text, *end = begin + self->bytes;
    if (!size_multiply(self->bytes, 1 + (set != NULL ? set->bytes / 4 : 0), &cost))
        cost = INT64_MAX;
    if (vm_spend(vm, cost / 4) == OUTCOME_ERROR)
        return OUTCOME_ERROR;
    while (left && begin < end) {
        const char *next = begin;
        if (!is_stripped(utf8_next(&next, end), set))
            break;
        begin = next;
    }
    while (right && begin < end) {
        const char *next = end;
        if (!is_stripped(utf8_previous(&next, begin), set))
            break;
        end = next;
    }
    if (end - begin == self->bytes)
        return str_same(self, result);
    return str_new(vm, begin, (size_t)(end - begin), result);
}

enum outcome str_strip(struct vm *vm, struct value *slots, struct value *result)
{
    return strip(vm, slots, "strip", true, true, result);
}

enum outcome str_lstrip(struct vm *vm, struct value *slots, struct value *result)
{
    return strip(vm, slots, "lstrip", true, false, result);
}

enum outcome str_rstrip(struct vm *vm, struct value *slots, struct value *result)
{
    return strip(vm, slots, "rstrip", false, true, result);
}

// ---- Padding

static enum outcome read_fill(struct vm *vm, struct value value, const char **fill,
                              size_t *bytes)
{
    *fill = " ";
    *bytes = 1;
    if (!is_given(value))
        return OUTCOME_OK;
    const struct string *string = str_of(value);
    if (string == NULL)
        return vm_raise(vm, STATUS_TYPE,
                        "The fill character must be a unicode character, not %s",
                        value_type_name(value));
    if (string->characters != 1)
        return vm_raise(vm, STATUS_TYPE,
                        "The fill character must be exactly one character long");
    *fill = string->text;
    *bytes = (size_t)string->bytes;
    return OUTCOME_OK;
}

// side: -1 text at the left, 0 in the middle, 1 at the right.
static enum outcome pad(struct vm *vm, struct value *slots, const char *method, int side,
                        struct value *result)
{
    const struct string *self;
    int64_t width;
    if (str_self(vm, slots, method, &self) == OUTCOME_ERROR)
        return OUTCOME_ERROR;
    enum outcome outcome = value_to_index(vm, slots[1], &width);
    if (outcome != OUTCOME_OK)
        return outcome;
    struct format_spec spec = {.align = '<', .width = width};
    if (read_fill(vm, slots[2], &spec.fill, &spec.fill_bytes) == OUTCOME_ERROR)
        return OUTCOME_ERROR;
    if (width <= self->characters)
        return str_same(self, result);
    struct text text;
    text_begin(&text, NULL, 0);
    int64_t padding = width - self->characters;
    int64_t left = side < 0   ? 0
                   : side > 0 ? padding
                              : padding / 2 + (padding & width & 1);
    // The left part as a pad of nothing, then the text with the rest.
    spec.width = left;
    outcome = format_padded(vm, &spec, "", 0, "", 0, 0, &text);
    spec.width = width - left;
    if (outcome == OUTCOME_OK)
        outcome = format_padded(vm, &spec, "", 0, self->text, (size_t)self->bytes,
                                self->characters, &text);
    return text_to_string(vm, &text, outcome, result);
}

enum outcome str_ljust(struct vm *vm, struct value *slots, struct value *result)
{
    return pad(vm, slots, "ljust", -1, result);
}

enum outcome str_center(struct vm *vm, struct value *slots, struct value *result)
{
    return pad(vm, slots, "center", 0, result);
}

enum outcome str_rjust(struct vm *vm, struct value *slots, struct value *result)
{
    return pad(vm, slots, "rjust", 1, result);
}

enum outcome str_zfill(struct vm *vm, struct value *slots, struct value *result)
{
    const struct string *self;
    int64_t width;
    if (str_self(vm, slots, "zfill", &self) == OUTCOME_ERROR)
        return OUTCOME_ERROR;
    enum outcome outcome = value_to_index(vm, slots[1], &width);
    if (outcome != OUTCOME_OK)
        return outcome;
    if (width <= self->characters)
        return str_same(self, result);
    struct text text;
    text_begin(&text, NULL, 0);
    struct format_spec spec = {
        .align = '=', .fill = "0", .fill_bytes = 1, .width = width};
    size_t sign = self->bytes > 0 && (*self->text == '-' || *self->text == '+');
    outcome = format_padded(vm, &spec, self->text, sign, self->text + sign,
                            (size_t)self->bytes - sign, self->characters - (int64_t)sign,
                            &text);
    return text_to_string(vm, &text, outcome, result);
}

enum outcome str_expandtabs(struct vm *vm, struct value *slots, struct value *result)
{
    const struct string *self;
    int64_t size, column = 0;
    if (str_self(vm, slots, "expandtabs", &self) == OUTCOME_ERROR)
        return OUTCOME_ERROR;
    enum outcome outcome = str_integer(vm, slots[1], 8, &size);
    if (outcome != OUTCOME_OK)
        return outcome;
    struct text text;
    text_begin(&text, NULL, 0);
    outcome = text_charge(vm, &text, self->bytes);
    const char *p = self->text, *end = p + self->bytes;
    while (outcome == OUTCOME_OK && p < end) {
        uint32_t code = utf8_next(&p, end);
        if (code != '\t') {
            text_code(&text, code);
            column = code == '\n' || code == '\r' ? 0 : column + 1;
        } else if (size > 0) {
            int64_t blanks = size - column % size;
            outcome = text_charge(vm, &text, blanks);
            if (outcome == OUTCOME_OK)
                text_fill(&text, " ", 1, blanks);
            column = 0; // as good as any multiple of the size
        }
    }
    return text_to_string(vm, &text, outcome, result);
}

// ---- translate

// What a table says about a character.
static enum outcome add_translated(struct vm *vm, const struct dict *table, uint32_t code,
                                   struct text *text)
{
    struct value to;
    enum status status = dict_find(table, value_int((int64_t)code), &to, vm_problem(vm));
    if (status != STATUS_OK)
        return OUTCOME_ERROR;
    if (to.tag == VALUE_ABSENT) {
        text_code(text, code);
        return OUTCOME_OK;
    }
    if (to.tag == VALUE_NONE)
        return OUTCOME_OK;
    const struct string *string = str_of(to);
    if (string != NULL) {
        if (text_charge(vm, text, string->bytes) == OUTCOME_ERROR)
            return OUTCOME_ERROR;
        text_add(text, string->text, (size_t)string->bytes);
        return OUTCOME_OK;
    }
    if (!value_is_integer(to))
        return vm_raise(vm, STATUS_TYPE,
                        "character mapping must return integer, None or str");
    if (to.i < 0 || to.i > 0x10FFFF || (to.i >= 0xD800 && to.i < 0xE000))
        return vm_raise(vm, STATUS_VALUE, "character mapping must be in range(0x110000)");
    text_code(text, (uint32_t)to.i);
    return OUTCOME_OK;
}

enum outcome str_translate(struct vm *vm, struct value *slots, struct value *result)
{
    const struct string *self;
    if (str_self(vm, slots, "translate", &self) == OUTCOME_ERROR)
        return OUTCOME_ERROR;
    if (!value_is_object(slots[1], OBJECT_DICT))
        return vm_raise(vm, STATUS_TYPE,
                        "translate() wants a dict, as str.maketrans makes it, not '%s'",
                        value_type_name(slots[1]));
    struct text text;
    text_begin(&text, NULL, 0);
    enum outcome outcome = vm_spend(vm, self->bytes * 3);
    if (outcome == OUTCOME_OK)
        outcome = text_charge(vm, &text, self->bytes);
    const char *p = self->text, *end = p + self->bytes;
    while (outcome == OUTCOME_OK && p < end)
        outcome = add_translated(vm, VALUE_AS(dict, slots[1]), utf8_next(&p, end), &text);
    return text_to_string(vm, &text, outcome, result);
}

static bool set_code(struct vm *vm, struct dict *dict, uint32_t code, struct value to)
{
    return dict_set(vm_heap(vm), dict, value_int((int64_t)code), to, vm_problem(vm)) ==
           STATUS_OK;
}

// maketrans of a dict: its keys as characters.
static enum outcome table_of_dict(struct vm *vm, const struct dict *from,
                                  struct dict *table)
{
    int64_t position = 0;
    if (vm_spend(vm, from->count * 4) == OUTCOME_ERROR)
        return OUTCOME_ERROR;
    for (struct dict_entry *entry; (entry = dict_next(from, &position)) != NULL;) {
        const struct string *key = str_of(entry->key);
        if (key == NULL && !value_is_integer(entry->key))
            return vm_raise(vm, STATUS_TYPE,
                            "keys in translate table must be strings or integers");
        if (key != NULL && key->characters != 1)
            return vm_raise(vm, STATUS_VALUE,
                            "string keys in translate table must be of length 1");
        struct value code = entry->key;
        if (key != NULL) {
            const char *p = key->text;
            code = value_int((int64_t)utf8_next(&p, p + key->bytes));
        }
        if (dict_set(vm_heap(vm), table, code, entry->value, vm_problem(vm)) != STATUS_OK)
            return OUTCOME_ERROR;
    }
    return OUTCOME_OK;
}

static enum outcome table_of_strings(struct vm *vm, struct value *slots,
                                     struct dict *table)
{
    const struct string *from = str_of(slots[0]), *to = str_of(slots[1]);
    if (from == NULL)
        return vm_raise(vm, STATUS_TYPE,
                        "first maketrans argument must be a string if there is a second "
                        "argument");
    for (int i = 1; i < 3; i++)
        if (is_given(slots[i]) && str_of(slots[i]) == NULL)
            return vm_raise(vm, STATUS_TYPE,
                            "maketrans() argument %d must be str, not %s", i + 1,
                            value_type_name(slots[i]));
    if (from->characters != to->characters)
        return vm_raise(vm, STATUS_VALUE,
                        "the first two maketrans arguments must have equal length");
    const struct string *drop = str_of(slots[2]);
    if (vm_spend(vm, (from->bytes + (drop != NULL ? drop->bytes : 0)) * 4) ==
        OUTCOME_ERROR)
        return OUTCOME_ERROR;
    const char *p = from->text, *end = p + from->bytes, *q = to->text;
    while (p < end) {
        uint32_t code = utf8_next(&p, end);
        uint32_t into = utf8_next(&q, to->text + to->bytes);
        if (!set_code(vm, table, code, value_int((int64_t)into)))
            return OUTCOME_ERROR;
    }
    if (drop == NULL)
        return OUTCOME_OK;
    for (p = drop->text, end = p + drop->bytes; p < end;)
        if (!set_code(vm, table, utf8_next(&p, end), value_none()))
            return OUTCOME_ERROR;
    return OUTCOME_OK;
}

enum outcome str_maketrans(struct vm *vm, struct value *slots, struct value *result)
{
    if (!is_given(slots[1]) && !value_is_object(slots[0], OBJECT_DICT))
        return vm_raise(vm, STATUS_TYPE,
                        "if you give only one argument to maketrans it must be a dict");
    struct dict *table = dict_new(vm_heap(vm), vm_problem(vm));
    if (table == NULL)
        return OUTCOME_ERROR;
    enum outcome outcome = is_given(slots[1])
                               ? table_of_strings(vm, slots, table)
                               : table_of_dict(vm, VALUE_AS(dict, slots[0]), table);
    *result = value_of(table);
    if (outcome != OUTCOME_OK)
        value_release(*result);
    return outcome;
}
