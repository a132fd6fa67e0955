// SPDX-License-Identifier: Apache-2.0
// The Range field of range.h.
#include "api/range.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

// Decimal digits, saturating: a position beyond 2^63 is beyond every length. False if
// there is none.
static bool read_position(const char **text, int64_t *out)
{
    const char *c = *text;
    int64_t value = 0;
    for (; *c >= '0' && *c <= '9'; c++)
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, *c - '0', &value))
            value = INT64_MAX;
    if (c == *text)
        return false;
    *text = c;
    *out = value;
    return true;
}

static bool at_end(const char *text)
{
    return text[strspn(text, " \t")] == '\0';
}

enum range range_parse(const char *field, int64_t length, int64_t *start, int64_t *end)
{
    if (strncasecmp(field, "bytes=", 6) != 0)
        return RANGE_WHOLE;
    field += 6;
    field += strspn(field, " \t");
    int64_t first, last;
    if (*field == '-') {
        field++;
        if (!read_position(&field, &last) || !at_end(field))
            return RANGE_WHOLE;
        if (last == 0 || length == 0)
            return RANGE_OUTSIDE;
        *start = last >= length ? 0 : length - last;
        *end = length;
        return RANGE_PART;
    }
    if (!read_position(&field, &first) || *field++ != '-')
        return RANGE_WHOLE;
    if (!read_position(&field, &last))
        last = INT64_MAX;
    if (!at_end(field) || last < first)
        return RANGE_WHOLE;
    if (first >= length)
        return RANGE_OUTSIDE;
    *start = first;
    *end = last >= length ? length : last + 1;
    return RANGE_PART;
}
