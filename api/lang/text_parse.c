// SPDX-License-Identifier: Apache-2.0
// int("...") and float("..."): Python's literals with blanks around them, underscores
// between digits, digits of every script. The program's thread.
#include "api/lang/builtins.h"

#include <math.h>
#include <stdlib.h>
#include <strings.h>

#include "api/lang/unicode.h"

enum { QUOTED_MAX = 400 };

// STATUS_VALUE with the text as a literal behind the message.
static enum outcome refuse(struct vm *vm, const char *text, size_t bytes,
                           const char *message, int base)
{
    struct text quoted;
    char small[QUOTED_MAX];
    text_begin(&quoted, small, sizeof small);
    text_repr_string(&quoted, text, bytes > QUOTED_MAX ? QUOTED_MAX : bytes, false);
    int length = quoted.length > QUOTED_MAX ? QUOTED_MAX : (int)quoted.length;
    if (base >= 0)
        vm_raise(vm, STATUS_VALUE, "invalid literal for int() with base %d: %.*s", base,
                 length, quoted.data);
    else
        vm_raise(vm, STATUS_VALUE, "%s: %.*s", message, length, quoted.data);
    text_end(&quoted);
    return OUTCOME_ERROR;
}

static void strip(const char **p, const char **end)
{
    while (*p < *end) {
        const char *next = *p;
        if (!unicode_is_space(utf8_next(&next, *end)))
            break;
        *p = next;
    }
    while (*p < *end) {
        const char *before = *end;
        if (!unicode_is_space(utf8_previous(&before, *p)))
            break;
        *end = before;
    }
}

// The text between the blanks in ASCII: digits of other scripts become 0 to 9, what else
// is beyond ASCII a '?'. False: memory is out.
static bool to_ascii(const char *p, const char *end, struct text *out)
{
    strip(&p, &end);
    while (p < end) {
        uint32_t code = utf8_next(&p, end);
        int digit = unicode_decimal(code);
        char c = digit >= 0 ? (char)('0' + digit) : code < 128 ? (char)code : '?';
        text_add(out, c == '\0' ? "?" : &c, 1);
    }
    text_add(out, "", 1);
    return !out->failed;
}

// ---- Integers

static int digit_value(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'z' ? c - 'a' + 10
           : c >= 'A' && c <= 'Z' ? c - 'A' + 10
                                  : 99;
}

static int prefix_base(const char *p)
{
    if (p[0] != '0')
        return 0;
    char letter = (char)(p[1] | 0x20);
    return letter == 'x' ? 16 : letter == 'o' ? 8 : letter == 'b' ? 2 : 0;
}

// Digits up to the terminator: false if it is no number. *fits is false beyond 64 bits.
static bool read_digits(const char *p, int base, bool negative, int64_t *out, bool *fits)
{
    uint64_t magnitude = 0, limit = (uint64_t)INT64_MAX + negative;
    bool after_digit = false;
    *fits = true;
    if (*p == '\0')
        return false;
    for (; *p != '\0'; p++) {
        if (*p == '_' && after_digit) {
            after_digit = false;
            continue;
        }
        int digit = digit_value(*p);
        if (digit >= base)
            return false;
        after_digit = true;
        if (magnitude > (limit - (unsigned)digit) / (unsigned)base)
            *fits = false;
        else
            magnitude = magnitude * (unsigned)base + (unsigned)digit;
    }
    *out = (int64_t)(negative ? 0 - magnitude : magnitude);
    return after_digit;
}

static bool read_integer(const char *p, int base, int64_t *out, bool *fits)
{
    bool negative = *p == '-';
    p += *p == '-' || *p == '+';
    int prefix = prefix_base(p);
    bool octal_like = false;
    if (base == 0) {
        octal_like = prefix == 0 && *p == '0';
        base = prefix == 0 ? 10 : prefix;
    }
    if (prefix == base) {
        p += 2;
        p += *p == '_';
    }
    if (!read_digits(p, base, negative, out, fits))
        return false;
    return !octal_like || (*out == 0 && *fits); // 010 is no literal, 000 is
}

enum outcome text_to_int(struct vm *vm, const char *text, size_t bytes, int base,
                         int64_t *out)
{
    char small[128];
    struct text ascii;
    bool fits = true;
    text_begin(&ascii, small, sizeof small);
    enum outcome outcome = vm_spend(vm, (int64_t)bytes / 2);
    if (outcome == OUTCOME_OK)
        outcome = text_charge(vm, &ascii, (int64_t)bytes);
    if (outcome == OUTCOME_OK && !to_ascii(text, text + bytes, &ascii))
        outcome = text_out_of_memory(vm);
    if (outcome == OUTCOME_OK && !read_integer(ascii.data, base, out, &fits))
        outcome = refuse(vm, text, bytes, "", base);
    else if (outcome == OUTCOME_OK && !fits)
        outcome = vm_raise(vm, STATUS_OVERFLOW,
                           "the integer does not fit in 64 bits, as integers do here");
    text_end(&ascii);
    return outcome;
}

enum outcome float_to_int(struct vm *vm, double value, int64_t *out)
{
    if (isnan(value))
        return vm_raise(vm, STATUS_VALUE, "cannot convert float NaN to integer");
    if (isinf(value))
        return vm_raise(vm, STATUS_OVERFLOW, "cannot convert float infinity to integer");
    value = trunc(value);
    if (!(value >= -0x1p63 && value < 0x1p63))
        return vm_raise(vm, STATUS_OVERFLOW,
                        "%.17g does not fit in 64 bits, as integers do here", value);
    *out = (int64_t)value;
    return OUTCOME_OK;
}

// ---- Floats

// Moves digits (without their underscores) from *p to *to; false if an underscore stands
// elsewhere than between two.
static bool move_digits(const char **p, char **to, bool *any)
{
    bool after_digit = false;
    *any = false;
    for (;; ++*p) {
        if (**p == '_') {
            if (!after_digit || !(p[0][1] >= '0' && p[0][1] <= '9'))
                return false;
            continue;
        }
        after_digit = **p >= '0' && **p <= '9';
        if (!after_digit)
            return true;
        *(*to)++ = **p;
        *any = true;
    }
}

// Rewrites text, terminated, without underscores; false if it is no decimal number.
static bool clean_decimal(char *text)
{
    const char *p = text;
    char *to = text;
    bool whole, fraction = false, exponent = true;
    if (*p == '-' || *p == '+')
        *to++ = *p++;
    if (!move_digits(&p, &to, &whole))
        return false;
    if (*p == '.') {
        *to++ = *p++;
        if (!move_digits(&p, &to, &fraction))
            return false;
    }
    if (!whole && !fraction)
        return false;
    if (*p == 'e' || *p == 'E') {
        *to++ = *p++;
        if (*p == '-' || *p == '+')
            *to++ = *p++;
        if (!move_digits(&p, &to, &exponent))
            return false;
    }
    bool ended = *p == '\0';
    *to = '\0';
    return exponent && ended;
}

static bool read_float(char *text, double *out)
{
    const char *word = text + (*text == '-' || *text == '+');
    double sign = *text == '-' ? -1.0 : 1.0;
    if (strcasecmp(word, "inf") == 0 || strcasecmp(word, "infinity") == 0) {
        *out = copysign(INFINITY, sign);
        return true;
    }
    if (strcasecmp(word, "nan") == 0) {
        *out = copysign(NAN, sign);
        return true;
    }
    if (!clean_decimal(text))
        return false;
    *out = strtod(text, NULL);
    return true;
}

enum outcome text_to_float(struct vm *vm, const char *text, size_t bytes, double *out)
{
    char small[128];
    struct text ascii;
    text_begin(&ascii, small, sizeof small);
    enum outcome outcome = vm_spend(vm, (int64_t)bytes / 2);
    if (outcome == OUTCOME_OK)
        outcome = text_charge(vm, &ascii, (int64_t)bytes);
    if (outcome == OUTCOME_OK && !to_ascii(text, text + bytes, &ascii))
        outcome = text_out_of_memory(vm);
    if (outcome == OUTCOME_OK && !read_float(ascii.data, out))
        outcome = refuse(vm, text, bytes, "could not convert string to float", -1);
    text_end(&ascii);
    return outcome;
}
