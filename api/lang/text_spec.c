// SPDX-License-Identifier: Apache-2.0
// format(): the mini-language of format specifications
//
//   [[fill]align][sign]["z"]["#"]["0"][width][grouping]["." precision][type]
//
// read into a struct format_spec, and what it says done to strings; text_spec_number.c
// does it to numbers. Widths are bounded by what the heap admits, precisions by their own
// limit. The program's thread.
#include "api/lang/builtins.h"

#include "api/lang/unicode.h"
#include "kernels/base/size.h"

// ---- Reading

// Digits from *p on; -1: none. False: beyond 64 bits.
static bool read_number(const char **p, const char *end, int64_t *out)
{
    *out = -1;
    while (*p < end) {
        const char *next = *p;
        int digit = unicode_decimal(utf8_next(&next, end));
        if (digit < 0)
            break;
        int64_t number = *out < 0 ? 0 : *out;
        if (number > (INT64_MAX - digit) / 10)
            return false;
        *out = number * 10 + digit;
        *p = next;
    }
    return true;
}

static bool is_align(uint32_t code)
{
    return code == '<' || code == '>' || code == '^' || code == '=';
}

// Takes *p's character if it is `wanted`.
static bool take(const char **p, const char *end, char wanted)
{
    if (*p == end || **p != wanted)
        return false;
    ++*p;
    return true;
}

// True if a character to fill with is named.
static bool read_fill(const char **p, const char *end, struct format_spec *spec)
{
    const char *second = *p;
    if (*p < end)
        utf8_next(&second, end);
    bool given = second < end && is_align((unsigned char)*second);
    if (given) {
        spec->fill = *p;
        spec->fill_bytes = (size_t)(second - *p);
        *p = second;
    }
    if (*p < end && is_align((unsigned char)**p)) {
        spec->align = *(*p)++;
        spec->align_given = true;
    }
    return given;
}

static enum outcome read_grouping(struct vm *vm, const char **p, const char *end,
                                  struct format_spec *spec)
{
    for (int i = 0; i < 2; i++) {
        char wanted = i == 0 ? ',' : '_';
        if (!take(p, end, wanted))
            continue;
        if (spec->grouping != 0)
            return vm_raise(vm, STATUS_VALUE, "Cannot specify both ',' and '_'.");
        spec->grouping = wanted;
    }
    if (spec->grouping == '_' && *p < end && **p == ',')
        return vm_raise(vm, STATUS_VALUE, "Cannot specify both ',' and '_'.");
    return OUTCOME_OK;
}

// A grouping that the type does not know.
static enum outcome check_grouping(struct vm *vm, const struct format_spec *spec)
{
    if (spec->grouping == 0)
        return OUTCOME_OK;
    switch (spec->type) {
    case 'd':
    case 'e':
    case 'E':
    case 'f':
    case 'F':
    case 'g':
    case 'G':
    case '%':
    case 0:
        return OUTCOME_OK;
    case 'b':
    case 'o':
    case 'x':
    case 'X':
        if (spec->grouping == '_')
            return OUTCOME_OK;
        break;
    default:
        break;
    }
    if (spec->type > 32 && spec->type < 128)
        return vm_raise(vm, STATUS_VALUE, "Cannot specify '%c' with '%c'.",
                        spec->grouping, (char)spec->type);
    return vm_raise(vm, STATUS_VALUE, "Cannot specify '%c' with '\\x%x'.", spec->grouping,
                    spec->type);
}

enum outcome format_spec_read(struct vm *vm, const char *text, size_t bytes,
                              char default_align, const char *what,
                              struct format_spec *spec)
{
    const char *p = text, *end = text + bytes;
    *spec = (struct format_spec){.fill = " ",
                                 .fill_bytes = 1,
                                 .align = default_align,
                                 .width = -1,
                                 .precision = -1};
    bool fill_given = read_fill(&p, end, spec);
    if (p < end && (*p == '+' || *p == '-' || *p == ' '))
        spec->sign = *p++;
    spec->zero_coercion = take(&p, end, 'z');
    spec->alternate = take(&p, end, '#');
    if (!fill_given && take(&p, end, '0')) {
        spec->fill = "0";
        if (!spec->align_given && default_align == '>')
            spec->align = '=';
    }
    if (!read_number(&p, end, &spec->width))
        return vm_raise(vm, STATUS_VALUE, "Too many decimal digits in format string");
    if (read_grouping(vm, &p, end, spec) == OUTCOME_ERROR)
        return OUTCOME_ERROR;
    if (take(&p, end, '.')) {
        if (!read_number(&p, end, &spec->precision))
            return vm_raise(vm, STATUS_VALUE, "Too many decimal digits in format string");
        if (spec->precision < 0)
            return vm_raise(vm, STATUS_VALUE, "Format specifier missing precision");
    }
    if (p < end)
        spec->type = utf8_next(&p, end);
    if (p < end)
        return vm_raise(vm, STATUS_VALUE,
                        "Invalid format specifier '%.*s' for object of type '%s'",
                        bytes > 200 ? 200 : (int)bytes, text, what);
    return check_grouping(vm, spec);
}

enum outcome format_unknown_code(struct vm *vm, uint32_t code, const char *what)
{
    if (code > 32 && code < 128)
        return vm_raise(vm, STATUS_VALUE,
                        "Unknown format code '%c' for object of type '%s'", (char)code,
                        what);
    return vm_raise(vm, STATUS_VALUE,
                    "Unknown format code '\\x%x' for object of type '%s'", code, what);
}

// ---- Padding

enum outcome format_padded(struct vm *vm, const struct format_spec *spec,
                           const char *prefix, size_t prefix_bytes, const char *body,
                           size_t body_bytes, int64_t body_characters, struct text *text)
{
    int64_t padding = spec->width - body_characters - (int64_t)prefix_bytes, cost;
    padding = padding < 0 ? 0 : padding;
    if (!size_multiply(padding, (int64_t)spec->fill_bytes, &cost) ||
        !size_add(cost, (int64_t)(body_bytes + prefix_bytes), &cost))
        return text_out_of_memory(vm);
    if (text_charge(vm, text, cost) == OUTCOME_ERROR)
        return OUTCOME_ERROR;
    int64_t before = spec->align == '<' ? 0 : spec->align == '^' ? padding / 2 : padding;
    if (spec->align != '=')
        text_fill(text, spec->fill, spec->fill_bytes, before);
    text_add(text, prefix, prefix_bytes);
    if (spec->align == '=')
        text_fill(text, spec->fill, spec->fill_bytes, before);
    text_add(text, body, body_bytes);
    text_fill(text, spec->fill, spec->fill_bytes, padding - before);
    return OUTCOME_OK;
}

// ---- Strings

static enum outcome check_string_spec(struct vm *vm, const struct format_spec *spec)
{
    if (spec->type != 0 && spec->type != 's')
        return format_unknown_code(vm, spec->type, "str");
    if (spec->sign != 0)
        return vm_raise(vm, STATUS_VALUE, "%s not allowed in string format specifier",
                        spec->sign == ' ' ? "Space" : "Sign");
    if (spec->zero_coercion)
        return vm_raise(vm, STATUS_VALUE,
                        "Negative zero coercion (z) not allowed in string format "
                        "specifier");
    if (spec->alternate)
        return vm_raise(vm, STATUS_VALUE,
                        "Alternate form (#) not allowed in string format specifier");
    if (spec->grouping != 0)
        return vm_raise(vm, STATUS_VALUE, "Cannot specify '%c' with 's'.",
                        spec->grouping);
    if (spec->align == '=')
        return vm_raise(vm, STATUS_VALUE,
                        "'=' alignment not allowed in string format specifier");
    return OUTCOME_OK;
}

enum outcome format_string(struct vm *vm, const char *string, size_t bytes,
                           int64_t characters, const char *spec_text, size_t spec_bytes,
                           struct text *text)
{
    struct format_spec spec;
    if (format_spec_read(vm, spec_text, spec_bytes, '<', "str", &spec) == OUTCOME_ERROR ||
        check_string_spec(vm, &spec) == OUTCOME_ERROR)
        return OUTCOME_ERROR;
    if (spec.precision >= 0 && spec.precision < characters) {
        if (vm_spend(vm, (int64_t)bytes / 32) == OUTCOME_ERROR)
            return OUTCOME_ERROR;
        bytes = utf8_offset(string, bytes, spec.precision);
        characters = spec.precision;
    }
    return format_padded(vm, &spec, "", 0, string, bytes, characters, text);
}

// ---- Any value

enum outcome value_format(struct vm *vm, struct value value, const char *spec,
                          size_t spec_bytes, struct text *text)
{
    if (value_is_tensor(value) || value.tag == VALUE_DTYPE || value.tag == VALUE_DEVICE)
        return torch_format(vm, value, spec, spec_bytes, text);
    if (spec_bytes == 0)
        return value_str(vm, value, text);
    if (value_is_object(value, OBJECT_STRING)) {
        const struct string *string = VALUE_AS(string, value);
        return format_string(vm, string->text, (size_t)string->bytes, string->characters,
                             spec, spec_bytes, text);
    }
    if (value_is_integer(value))
        return format_integer(vm, value.i, spec, spec_bytes,
                              value.tag == VALUE_BOOL ? "bool" : "int", text);
    if (value.tag == VALUE_FLOAT)
        return format_float(vm, value.f, spec, spec_bytes, text);
    if (value.tag == VALUE_WIDE)
        return vm_raise(vm, STATUS_OVERFLOW, "integers have 64 bits");
    return vm_raise(vm, STATUS_TYPE, "unsupported format string passed to %s.__format__",
                    value_type_name(value));
}
