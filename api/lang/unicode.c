// SPDX-License-Identifier: Apache-2.0
// Characters by table: unicode.inc is made from Python's own answers by make_unicode.py.
// A run of properties is one word (21 bits of its first character, 11 of flags); a run of
// changes of case says how far its characters move.
#include "api/lang/unicode.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

// ---- Properties

static const uint32_t property_runs[] = {
#define R(first, flags) 0x##first##U << 11 | 0x##flags##U,
#define UNICODE_PROPERTIES
#include "api/lang/unicode.inc"
#undef UNICODE_PROPERTIES
#undef R
};

// The run that holds code.
static uint32_t find_run(uint32_t code)
{
    size_t low = 0, high = COUNT(property_runs);
    while (high - low > 1) {
        size_t middle = (low + high) / 2;
        if (property_runs[middle] >> 11 <= code)
            low = middle;
        else
            high = middle;
    }
    return property_runs[low];
}

unsigned unicode_properties(uint32_t code)
{
    return find_run(code) & 0x7FF;
}

bool unicode_ends_line(uint32_t code)
{
    return code - 10 < 4 || code - 0x1C < 3 || code == 0x85 || code - 0x2028 < 2;
}

int unicode_decimal(uint32_t code)
{
    if (code < 128)
        return code - '0' < 10 ? (int)(code - '0') : -1;
    uint32_t run = find_run(code);
    if ((run & UNICODE_NUMERIC) != UNICODE_DECIMAL)
        return -1;
    return (int)((code - (run >> 11)) % 10);
}

// ---- Case

struct case_run {
    uint32_t first, last;
    int32_t step, delta;
};
struct case_special {
    uint32_t code, to[UNICODE_MAX_CHANGED];
};
#define C(first, last, step, delta) {0x##first, 0x##last, step, delta},
#define S(code, a, b, c) {0x##code, {0x##a, 0x##b, 0x##c}},
#define UNICODE_LOWER
static const struct case_run lower_runs[] = {
#include "api/lang/unicode.inc"
};
#undef UNICODE_LOWER
#define UNICODE_UPPER
static const struct case_run upper_runs[] = {
#include "api/lang/unicode.inc"
};
#undef UNICODE_UPPER
#define UNICODE_TITLE
static const struct case_run title_runs[] = {
#include "api/lang/unicode.inc"
};
#undef UNICODE_TITLE
#define UNICODE_FOLD
static const struct case_run fold_runs[] = {
#include "api/lang/unicode.inc"
};
#undef UNICODE_FOLD
#define UNICODE_LOWER_SPECIAL
static const struct case_special lower_specials[] = {
#include "api/lang/unicode.inc"
};
#undef UNICODE_LOWER_SPECIAL
#define UNICODE_UPPER_SPECIAL
static const struct case_special upper_specials[] = {
#include "api/lang/unicode.inc"
};
#undef UNICODE_UPPER_SPECIAL
#define UNICODE_TITLE_SPECIAL
static const struct case_special title_specials[] = {
#include "api/lang/unicode.inc"
};
#undef UNICODE_TITLE_SPECIAL
#define UNICODE_FOLD_SPECIAL
static const struct case_special fold_specials[] = {
#include "api/lang/unicode.inc"
};
#undef UNICODE_FOLD_SPECIAL

static const struct case_table {
    const struct case_run *runs;
    size_t n_runs;
    const struct case_special *specials;
    size_t n_specials;
    enum unicode_case otherwise; // where the table says nothing; itself: no change
} tables[] = {
#define TABLE(name, otherwise)                                                           \
    {                                                                                    \
        name##_runs, COUNT(name##_runs), name##_specials, COUNT(name##_specials),        \
            otherwise                                                                    \
    }
    [CASE_LOWER] = TABLE(lower, CASE_LOWER),
    [CASE_UPPER] = TABLE(upper, CASE_UPPER),
    [CASE_TITLE] = TABLE(title, CASE_UPPER),
    [CASE_FOLD] = TABLE(fold, CASE_LOWER),
#undef TABLE
};

static const struct case_special *find_special(const struct case_table *table,
                                               uint32_t code)
{
    size_t low = 0, high = table->n_specials;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (table->specials[middle].code < code)
            low = middle + 1;
        else
            high = middle;
    }
    return low < table->n_specials && table->specials[low].code == code
               ? &table->specials[low]
               : NULL;
}

// Runs are sorted by their first character, and may interleave by two (step 2): the run
// before the last candidate is looked at too.
static const struct case_run *find_case(const struct case_table *table, uint32_t code)
{
    size_t low = 0, high = table->n_runs;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (table->runs[middle].first <= code)
            low = middle + 1;
        else
            high = middle;
    }
    for (size_t back = 1; back <= 2 && back <= low; back++) {
        const struct case_run *run = &table->runs[low - back];
        if (code <= run->last && (code - run->first) % (uint32_t)run->step == 0)
            return run;
    }
    return NULL;
}

int unicode_change(enum unicode_case change, uint32_t code,
                   uint32_t out[UNICODE_MAX_CHANGED])
{
    if (code < 128) {
        bool to_upper = change == CASE_UPPER || change == CASE_TITLE;
        uint32_t letter = code - (to_upper ? 'a' : 'A');
        out[0] = letter < 26 ? code ^ 0x20 : code;
        return 1;
    }
    const struct case_table *table = &tables[change];
    const struct case_special *special = find_special(table, code);
    if (special != NULL) {
        int n = 0;
        while (n < UNICODE_MAX_CHANGED && special->to[n] != 0) {
            out[n] = special->to[n];
            n++;
        }
        return n;
    }
    const struct case_run *run = find_case(table, code);
    if (run != NULL) {
        out[0] = (uint32_t)((int32_t)code + run->delta);
        return 1;
    }
    if (table->otherwise != change)
        return unicode_change(table->otherwise, code, out);
    out[0] = code;
    return 1;
}

// ---- UTF-8

size_t utf8_offset(const char *text, size_t bytes, int64_t characters)
{
    size_t i = 0;
    for (; i < bytes; i++)
        if (((unsigned char)text[i] & 0xC0) != 0x80 && characters-- == 0)
            break;
    return i;
}
