// SPDX-License-Identifier: Apache-2.0
// One float as NumPy writes it: the shortest digits that mean it in its dtype, cut to a
// precision where there are more. Pure functions; any thread.
#include "api/lang/numpy_print.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "api/formats/format.h"

enum { DIGITS_MAX = 20 };

// The shortest digits d1 d2 ... with value 0.d1d2... * 10^point; "0" and point 1 for
// zero.
struct decimal {
    bool negative;
    int count, point;
    char digits[DIGITS_MAX + 1];
};

static struct decimal decimal_of(union element element, enum dtype dtype)
{
    char text[40];
    struct decimal decimal = {0};
    size_t length = print_element(element, dtype, text);
    int exponent = 0, before = 0;
    bool point = false, started = false;
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '-')
            decimal.negative = true;
        else if (text[i] == '.')
            point = true;
        else if (text[i] == 'e' || text[i] == 'E') {
            text[length] = '\0';
            exponent = (int)strtol(text + i + 1, NULL, 10);
            break;
        } else {
            started |= text[i] != '0';
            if (started && decimal.count < DIGITS_MAX)
                decimal.digits[decimal.count++] = text[i];
            if (!point && started)
                before++;
            if (point && !started)
                before--;
        }
    }
    while (decimal.count > 0 && decimal.digits[decimal.count - 1] == '0')
        decimal.count--;
    decimal.point = before + exponent;
    if (decimal.count == 0) {
        decimal.digits[decimal.count++] = '0';
        decimal.point = 1;
    }
    return decimal;
}

static double value_of_element(union element element, enum dtype dtype)
{
    return element_to_scalar(element, dtype).f;
}

// "12.5", "0.001", "3.": at most `precision` digits behind the point (-1: all).
int numpy_print_positional(union element element, enum dtype dtype, int precision,
                           char *out)
{
    struct decimal decimal = decimal_of(element, dtype);
    int behind = decimal.count - decimal.point;
    if (precision >= 0 && behind > precision) {
        int length = snprintf(out, NUMPY_NUMBER_ROOM, "%.*f", precision,
                              value_of_element(element, dtype));
        while (out[length - 1] == '0')
            length--;
        out[length] = '\0';
        return length;
    }
    char *to = out;
    if (decimal.negative)
        *to++ = '-';
    if (decimal.point <= 0)
        *to++ = '0';
    for (int i = 0; i < decimal.point; i++)
        *to++ = i < decimal.count ? decimal.digits[i] : '0';
    *to++ = '.';
    for (int i = decimal.point; i < decimal.count; i++)
        *to++ = i < 0 ? '0' : decimal.digits[i];
    *to = '\0';
    return (int)(to - out);
}

// "1.25e+10", "2.e-05" with at least two digits of exponent.
int numpy_print_scientific(union element element, enum dtype dtype, int precision,
                           char *out)
{
    struct decimal decimal = decimal_of(element, dtype);
    if (decimal.count - 1 > precision) {
        char exact[NUMPY_NUMBER_ROOM];
        snprintf(exact, sizeof exact, "%.*e", precision,
                 value_of_element(element, dtype));
        char *e = strchr(exact, 'e'), *end = e;
        while (end[-1] == '0')
            end--;
        return snprintf(out, NUMPY_NUMBER_ROOM, "%.*s%s", (int)(end - exact), exact, e);
    }
    bool zero = decimal.count == 1 && decimal.digits[0] == '0';
    return snprintf(out, NUMPY_NUMBER_ROOM, "%s%c.%.*se%+03d",
                    decimal.negative ? "-" : "", decimal.digits[0], decimal.count - 1,
                    decimal.digits + 1, zero ? 0 : decimal.point - 1);
}

// A scalar as NumPy's float types print: as Python's repr, with the dtype's own digits.
int numpy_print_scalar_float(union element element, enum dtype dtype, char *out)
{
    double size = fabs(value_of_element(element, dtype));
    if (!isfinite(size))
        return snprintf(out, NUMPY_NUMBER_ROOM, "%s",
                        isnan(size)                            ? "nan"
                        : value_of_element(element, dtype) < 0 ? "-inf"
                                                               : "inf");
    int length;
    if (size == 0 || (size >= 1e-4 && size < 1e16)) {
        length = numpy_print_positional(element, dtype, -1, out);
        if (out[length - 1] == '.') {
            out[length++] = '0';
            out[length] = '\0';
        }
        return length;
    }
    length = numpy_print_scientific(element, dtype, DIGITS_MAX, out);
    char *dot = strstr(out, ".e"); // 1.e+20 -> 1e+20
    if (dot != NULL) {
        memmove(dot, dot + 1, strlen(dot));
        length--;
    }
    return length;
}
