// SPDX-License-Identifier: Apache-2.0
// Numbers as text. The digits of repr come from the formats' printer (the shortest that
// come back), those of a given precision from the C library, which rounds exactly. Pure
// functions; any thread.
#include "api/lang/builtins.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>

#include "api/formats/format.h"

static size_t put_special(double value, bool upper, char *buffer)
{
    const char *word = isnan(value)  ? (upper ? "NAN" : "nan")
                       : value > 0.0 ? (upper ? "INF" : "inf")
                                     : (upper ? "-INF" : "-inf");
    size_t length = strlen(word);
    memcpy(buffer, word, length);
    return length;
}

size_t float_repr(double value, char buffer[NUMBER_TEXT_MAX])
{
    if (!isfinite(value))
        return put_special(value, false, buffer);
    return print_element((union element){.f64 = value}, DTYPE_FLOAT64, buffer);
}

size_t float_print(double value, char conversion, int precision, bool alternate,
                   char buffer[FLOAT_TEXT_MAX])
{
    if (!isfinite(value))
        return put_special(value, isupper((unsigned char)conversion), buffer);
    if (conversion == 'r')
        return float_repr(value, buffer);
    size_t size = FLOAT_TEXT_MAX;
    int length = 0;
    if (precision > FLOAT_MAX_PRECISION)
        precision = FLOAT_MAX_PRECISION;
    switch (conversion) {
    case 'e':
        length = alternate ? snprintf(buffer, size, "%#.*e", precision, value)
                           : snprintf(buffer, size, "%.*e", precision, value);
        break;
    case 'E':
        length = alternate ? snprintf(buffer, size, "%#.*E", precision, value)
                           : snprintf(buffer, size, "%.*E", precision, value);
        break;
    case 'f':
    case 'F':
        length = alternate ? snprintf(buffer, size, "%#.*f", precision, value)
                           : snprintf(buffer, size, "%.*f", precision, value);
        break;
    case 'G':
        length = alternate ? snprintf(buffer, size, "%#.*G", precision, value)
                           : snprintf(buffer, size, "%.*G", precision, value);
        break;
    case 'g':
    default:
        length = alternate ? snprintf(buffer, size, "%#.*g", precision, value)
                           : snprintf(buffer, size, "%.*g", precision, value);
        break;
    }
    return length < 0 ? 0 : (size_t)length;
}

size_t integer_digits(uint64_t magnitude, int base, bool upper,
                      char buffer[NUMBER_TEXT_MAX])
{
    char reversed[NUMBER_TEXT_MAX];
    const char *digits = upper ? "0123456789ABCDEF" : "0123456789abcdef";
    size_t count = 0;
    do {
        reversed[count++] = digits[magnitude % (unsigned)base];
        magnitude /= (unsigned)base;
    } while (magnitude > 0);
    for (size_t i = 0; i < count; i++)
        buffer[i] = reversed[count - 1 - i];
    return count;
}
