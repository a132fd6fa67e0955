// SPDX-License-Identifier: Apache-2.0
// The rules of torch's printing for single elements (torch 1.13, default print options).
// Pure functions; any thread.
#include "api/formats/text_format.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

void text_format_begin(struct text_format *format, enum dtype dtype)
{
    *format = (struct text_format){.dtype = dtype, .width = 1};
}

void text_format_see(struct text_format *format, union element element)
{
    struct scalar scalar = element_to_scalar(element, format->dtype);
    if (scalar.kind != SCALAR_FLOAT) {
        format->low = format->seen && format->low < scalar.i ? format->low : scalar.i;
        format->high = format->seen && format->high > scalar.i ? format->high : scalar.i;
        format->seen = true;
        return;
    }
    double value = fabs(scalar.f);
    int negative = scalar.f < 0;
    if (!isfinite(value) || value == 0)
        return;
    format->fractions |= value != ceil(value);
    if (format->most[negative] == 0 || value < format->least[negative])
        format->least[negative] = value;
    if (value > format->most[negative])
        format->most[negative] = value;
    format->seen = true;
}

// Without padding.
static int print_plain(const struct text_format *format, union element element, char *out)
{
    struct scalar scalar = element_to_scalar(element, format->dtype);
    if (scalar.kind == SCALAR_BOOL)
        return snprintf(out, TEXT_MAX_WIDTH + 1, "%s", scalar.i ? "True" : "False");
    if (scalar.kind == SCALAR_INT)
        return snprintf(out, TEXT_MAX_WIDTH + 1, "%" PRId64, scalar.i);
    if (!isfinite(scalar.f))
        return snprintf(out, TEXT_MAX_WIDTH + 1, "%s",
                        isnan(scalar.f) ? "nan"
                        : scalar.f < 0  ? "-inf"
                                        : "inf");
    if (format->scientific)
        return snprintf(out, TEXT_MAX_WIDTH + 1, "%.4e", scalar.f);
    return snprintf(out, TEXT_MAX_WIDTH + 1, format->fractions ? "%.4f" : "%.0f.",
                    scalar.f);
}

static void widen(struct text_format *format, struct scalar scalar)
{
    char text[TEXT_MAX_WIDTH + 1];
    // Through the widest dtype of the kind: float32 and its like widen exactly.
    struct text_format wide = *format;
    if (scalar.kind != SCALAR_BOOL)
        wide.dtype = scalar.kind == SCALAR_INT ? DTYPE_INT64 : DTYPE_FLOAT64;
    int length = print_plain(&wide, scalar_to_element(scalar, wide.dtype, NULL), text);
    format->width = length > format->width ? length : format->width;
}

void text_format_decide(struct text_format *format)
{
    if (!format->seen)
        return;
    if (!dtype_is_float(format->dtype)) {
        enum scalar_kind kind = format->dtype == DTYPE_BOOL ? SCALAR_BOOL : SCALAR_INT;
        widen(format, (struct scalar){.kind = kind, .i = format->low});
        widen(format, (struct scalar){.kind = kind, .i = format->high});
        return;
    }
    double least = INFINITY, most = 0;
    for (int sign = 0; sign < 2; sign++) {
        if (format->most[sign] > 0 && format->least[sign] < least)
            least = format->least[sign];
        if (format->most[sign] > most)
            most = format->most[sign];
    }
    format->scientific =
        most / least > 1000 || most > 1e8 || (format->fractions && least < 1e-4);
    // Lengths grow with the size, exponents towards both ends: the extremes of each sign
    // are enough.
    for (int sign = 0; sign < 2; sign++) {
        double factor = sign ? -1 : 1;
        if (format->most[sign] == 0)
            continue;
        widen(format,
              (struct scalar){.kind = SCALAR_FLOAT, .f = factor * format->least[sign]});
        widen(format,
              (struct scalar){.kind = SCALAR_FLOAT, .f = factor * format->most[sign]});
    }
}

size_t text_format_print(const struct text_format *format, union element element,
                         char *out)
{
    char text[TEXT_MAX_WIDTH + 1];
    int length = print_plain(format, element, text);
    int padding = format->width > length ? format->width - length : 0;
    memset(out, ' ', (size_t)padding);
    memcpy(out + padding, text, (size_t)length);
    return (size_t)(padding + length);
}
