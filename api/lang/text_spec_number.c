// SPDX-License-Identifier: Apache-2.0
// format() of integers and floats: sign, prefix, digits in groups, the rest. The
// program's thread.
#include "api/lang/builtins.h"

#include <ctype.h>
#include <math.h>

#include "api/lang/strings.h"
#include "kernels/base/size.h"

// A number taken apart.
struct parts {
    char prefix[4]; // the sign and 0x
    size_t prefix_bytes;
    const char *digits; // before the point
    size_t n_digits;
    const char *rest; // the point and behind, or all of "inf"
    size_t rest_bytes;
};

static void put_sign(struct parts *parts, bool negative, char sign)
{
    if (negative)
        parts->prefix[parts->prefix_bytes++] = '-';
    else if (sign == '+' || sign == ' ')
        parts->prefix[parts->prefix_bytes++] = sign;
}

// How many digits, with zeros before, fill at least so many characters when separators
// stand between groups. No separator comes first.
static int64_t digits_for_width(int64_t width, int64_t n_digits, int group)
{
    int64_t needed = width - width / (group + 1);
    if (width > 0 && needed + (needed - 1) / group < width)
        needed++;
    return needed > n_digits ? needed : n_digits;
}

static void add_grouped(struct text *body, const struct parts *parts, int64_t count,
                        char separator, int group)
{
    for (int64_t i = 0; i < count; i++) {
        int64_t left = count - i; // digits from here on
        if (i > 0 && left % group == 0)
            text_add(body, &separator, 1);
        int64_t index = (int64_t)parts->n_digits - left;
        text_add(body, index < 0 ? "0" : parts->digits + index, 1);
    }
}

static enum outcome format_parts(struct vm *vm, const struct format_spec *spec,
                                 const struct parts *parts, int group, struct text *text)
{
    char small[128];
    struct text body;
    text_begin(&body, small, sizeof small);
    enum outcome outcome = OUTCOME_OK;
    if (spec->grouping != 0 && parts->n_digits > 0) {
        int64_t count = (int64_t)parts->n_digits;
        bool zeros = spec->align == '=' && spec->fill_bytes == 1 && *spec->fill == '0';
        if (zeros)
            count = digits_for_width(spec->width - (int64_t)parts->prefix_bytes -
                                         (int64_t)parts->rest_bytes,
                                     count, group);
        int64_t cost;
        if (!size_multiply(count, 2, &cost))
            return text_out_of_memory(vm);
        outcome = vm_spend(vm, count / 4);
        if (outcome == OUTCOME_OK)
            outcome = text_charge(vm, &body, cost);
        if (outcome == OUTCOME_OK)
            add_grouped(&body, parts, count, spec->grouping, group);
    } else {
        text_add(&body, parts->digits, parts->n_digits);
    }
    text_add(&body, parts->rest, parts->rest_bytes);
    if (outcome == OUTCOME_OK && body.failed)
        outcome = text_out_of_memory(vm);
    if (outcome == OUTCOME_OK)
        outcome = format_padded(vm, spec, parts->prefix, parts->prefix_bytes, body.data,
                                body.length, (int64_t)body.length, text);
    text_end(&body);
    return outcome;
}

// ---- Integers

static enum outcome format_character(struct vm *vm, int64_t value,
                                     const struct format_spec *spec, struct text *text)
{
    if (spec->sign != 0)
        return vm_raise(vm, STATUS_VALUE,
                        "Sign not allowed with integer format specifier 'c'");
    if (spec->alternate)
        return vm_raise(vm, STATUS_VALUE,
                        "Alternate form (#) not allowed with integer format specifier "
                        "'c'");
    if (value < 0 || value > 0x10FFFF)
        return vm_raise(vm, STATUS_OVERFLOW, "%%c arg not in range(0x110000)");
    if (value >= 0xD800 && value < 0xE000)
        return vm_raise(vm, STATUS_VALUE, "surrogates are not allowed in text");
    char bytes[4];
    int count = utf8_encode((uint32_t)value, bytes);
    return format_padded(vm, spec, "", 0, bytes, (size_t)count, 1, text);
}

static enum outcome format_float_spec(struct vm *vm, double value,
                                      const struct format_spec *spec, const char *what,
                                      struct text *text);

static int integer_base(uint32_t type)
{
    switch (type) {
    case 'b':
        return 2;
    case 'o':
        return 8;
    case 'x':
    case 'X':
        return 16;
    case 0:
    case 'd':
    case 'n':
        return 10;
    default:
        return 0;
    }
}

enum outcome format_integer(struct vm *vm, int64_t value, const char *spec_text,
                            size_t spec_bytes, const char *what, struct text *text)
{
    struct format_spec spec;
    if (format_spec_read(vm, spec_text, spec_bytes, '>', what, &spec) == OUTCOME_ERROR)
        return OUTCOME_ERROR;
    if (spec.type != 0 && spec.type < 128 && strchr("eEfFgG%", (int)spec.type) != NULL)
        return format_float_spec(vm, (double)value, &spec, what, text);
    int base = integer_base(spec.type);
    if (base == 0 && spec.type != 'c')
        return format_unknown_code(vm, spec.type, what);
    if (spec.precision >= 0)
        return vm_raise(vm, STATUS_VALUE,
                        "Precision not allowed in integer format specifier");
    if (spec.zero_coercion)
        return vm_raise(vm, STATUS_VALUE,
                        "Negative zero coercion (z) not allowed in integer format "
                        "specifier");
    if (spec.type == 'c')
        return format_character(vm, value, &spec, text);
    char digits[NUMBER_TEXT_MAX];
    struct parts parts = {.digits = digits, .rest = ""};
    parts.n_digits =
        integer_digits(integer_magnitude(value), base, spec.type == 'X', digits);
    put_sign(&parts, value < 0, spec.sign);
    if (spec.alternate && base != 10) {
        parts.prefix[parts.prefix_bytes++] = '0';
        parts.prefix[parts.prefix_bytes++] = (char)spec.type;
    }
    return format_parts(vm, &spec, &parts, base == 10 ? 3 : 4, text);
}

// ---- Floats

// Removes zeros at the end of the digits before an exponent, and the point if none is
// left.
static size_t strip_zeros(char *text, size_t length)
{
    char *exponent = memchr(text, 'e', length);
    size_t end = exponent != NULL ? (size_t)(exponent - text) : length, keep = end;
    if (memchr(text, '.', end) == NULL)
        return length;
    while (keep > 0 && text[keep - 1] == '0')
        keep--;
    if (keep > 0 && text[keep - 1] == '.')
        keep--;
    memmove(text + keep, text + end, length - end);
    return keep + length - end;
}

// Without a type but with a precision: as 'g', with ".0" behind whole numbers, and an
// exponent already where this would not fit the precision.
static size_t print_general(double value, int precision, bool alternate, char *buffer)
{
    precision = precision == 0 ? 1 : precision;
    size_t length = float_print(value, 'e', precision - 1, alternate, buffer);
    char *mark = memchr(buffer, 'e', length);
    if (mark == NULL)
        return length;
    int exponent = 0;
    for (const char *p = mark + 2; p < buffer + length; p++)
        exponent = exponent * 10 + (*p - '0');
    exponent = mark[1] == '-' ? -exponent : exponent;
    if (exponent < -4 || exponent + 1 > precision - 1)
        return alternate ? length : strip_zeros(buffer, length);
    length = float_print(value, 'f', precision - 1 - exponent, alternate, buffer);
    if (!alternate)
        length = strip_zeros(buffer, length);
    if (memchr(buffer, '.', length) == NULL) {
        memcpy(buffer + length, ".0", 2);
        length += 2;
    }
    return length;
}

static size_t print_repr(double value, bool alternate, char *buffer)
{
    size_t length = float_repr(value, buffer);
    char *mark = memchr(buffer, 'e', length);
    if (alternate && mark != NULL && memchr(buffer, '.', length) == NULL) {
        memmove(mark + 1, mark, (size_t)(buffer + length - mark));
        *mark = '.';
        length++;
    }
    return length;
}

static bool is_zero_text(const char *text, size_t length)
{
    for (size_t i = 0; i < length && tolower((unsigned char)text[i]) != 'e'; i++)
        if (text[i] != '0' && text[i] != '.' && text[i] != '-')
            return false;
    return true;
}

// The digits of a float by its spec; %'s sign is not among them.
static size_t print_by_spec(double value, const struct format_spec *spec, char *buffer)
{
    int precision = (int)spec->precision;
    if (spec->type == 0)
        return precision < 0 || !isfinite(value)
                   ? print_repr(value, spec->alternate, buffer)
                   : print_general(value, precision, spec->alternate, buffer);
    char conversion = spec->type == '%'   ? 'f'
                      : spec->type == 'n' ? 'g'
                                          : (char)spec->type;
    if (precision < 0)
        precision = 6;
    return float_print(value, conversion, precision, spec->alternate, buffer);
}

static enum outcome format_float_spec(struct vm *vm, double value,
                                      const struct format_spec *spec, const char *what,
                                      struct text *text)
{
    if (spec->type != 0 &&
        (spec->type >= 128 || strchr("eEfFgGn%", (int)spec->type) == NULL))
        return format_unknown_code(vm, spec->type, what);
    if (spec->precision > FLOAT_MAX_PRECISION)
        return vm_raise(vm, STATUS_VALUE, "precision too big");
    char buffer[FLOAT_TEXT_MAX + 2];
    if (spec->type == '%')
        value *= 100;
    size_t length = print_by_spec(value, spec, buffer);
    bool negative = length > 0 && buffer[0] == '-';
    char *digits = buffer + negative;
    length -= negative;
    if (spec->zero_coercion && negative && is_zero_text(digits, length))
        negative = false;
    struct parts parts = {.digits = digits};
    put_sign(&parts, negative, spec->sign);
    while (parts.n_digits < length && isdigit((unsigned char)digits[parts.n_digits]))
        parts.n_digits++;
    parts.rest = digits + parts.n_digits;
    parts.rest_bytes = length - parts.n_digits;
    if (spec->type == '%')
        digits[length] = '%';
    parts.rest_bytes += spec->type == '%';
    return format_parts(vm, spec, &parts, 3, text);
}

enum outcome format_float(struct vm *vm, double value, const char *spec_text,
                          size_t spec_bytes, struct text *text)
{
    struct format_spec spec;
    if (format_spec_read(vm, spec_text, spec_bytes, '>', "float", &spec) == OUTCOME_ERROR)
        return OUTCOME_ERROR;
    return format_float_spec(vm, value, &spec, "float", text);
}
