// SPDX-License-Identifier: Apache-2.0
// What the methods of str know about characters, and UTF-8 one character at a time. All
// of Unicode 14.0 as Python 3.11 has it (unicode.inc); nothing depends on a locale. Pure
// functions over constant tables; any thread.
#ifndef TENSORD_API_LANG_UNICODE_H
#define TENSORD_API_LANG_UNICODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum unicode_property {
    UNICODE_ALPHA = 1,
    UNICODE_NUMERIC = 6, // any of the two bits; 2: numeric, 4: digit, 6: decimal
    UNICODE_DIGIT = 4,
    UNICODE_DECIMAL = 6,
    UNICODE_SPACE = 8,
    UNICODE_PRINTABLE = 16,
    UNICODE_IS_LOWER = 32,
    UNICODE_IS_UPPER = 64,
    UNICODE_IS_TITLE = 128,
    UNICODE_CASED = 224,
    UNICODE_IGNORABLE = 256, // by the rule of the final sigma
    UNICODE_WORD_START = 512,
    UNICODE_WORD = 1024,
};
// The bits of enum unicode_property.
unsigned unicode_properties(uint32_t code);
static inline bool unicode_is_space(uint32_t code)
{
    return code < 128 ? code == ' ' || (code - 9 < 5) || (code - 28 < 4)
                      : (unicode_properties(code) & UNICODE_SPACE) != 0;
}
// Ends a line for splitlines: \n \r \v \f \x1c-\x1e \x85 U+2028 U+2029.
bool unicode_ends_line(uint32_t code);
// 0 to 9 of a decimal digit of any script, else -1.
int unicode_decimal(uint32_t code);

// Full mappings: writes 1 to 3 codes, returns how many. CASE_KEEP is for callers alone.
enum unicode_case { CASE_LOWER, CASE_UPPER, CASE_TITLE, CASE_FOLD, CASE_KEEP };
enum { UNICODE_MAX_CHANGED = 3 };
int unicode_change(enum unicode_case change, uint32_t code,
                   uint32_t out[UNICODE_MAX_CHANGED]);

// ---- UTF-8, beside strings.h. Text of strings is valid, so decoding does not look for
// errors; it never reads at or beyond end.
static inline uint32_t utf8_next(const char **p, const char *end)
{
    const unsigned char *u = (const unsigned char *)*p;
    int more = u[0] < 0xC0 ? 0 : u[0] < 0xE0 ? 1 : u[0] < 0xF0 ? 2 : 3;
    if (more >= end - *p)
        more = (int)(end - *p) - 1;
    uint32_t code = more == 0 ? u[0] : u[0] & (0x3FU >> more);
    for (int i = 1; i <= more; i++)
        code = code << 6 | (u[i] & 0x3F);
    *p += more + 1;
    return code;
}
// Steps back over one character; begin < *p.
static inline uint32_t utf8_previous(const char **p, const char *begin)
{
    const char *end = *p, *q = end - 1;
    while (q > begin && ((unsigned char)*q & 0xC0) == 0x80)
        q--;
    *p = q;
    return utf8_next(&q, end);
}
// The byte offset of a character, at most bytes.
size_t utf8_offset(const char *text, size_t bytes, int64_t characters);
#endif
