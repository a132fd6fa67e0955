// SPDX-License-Identifier: Apache-2.0
// Numbers as text: scanning decimals, rounding them to a dtype, and the shortest digits
// that come back. Pure functions; any thread. The formats' own header; others use
// print_element and parse_number (format.h).
#ifndef TENSORD_API_FORMATS_NUMBER_H
#define TENSORD_API_FORMATS_NUMBER_H

#include "api/formats/format.h"

// The longest text of one number that is read; longer ones are refused by the readers.
enum { NUMBER_MAX_LENGTH = 4096 };

struct power {
    uint64_t high, low;
};
enum { POWERS_FIRST = -342, POWERS_LAST = 324 };
// 10^k is about powers_of_ten[k - POWERS_FIRST] * 2^(floor(log2(10^k)) - 127), rounded
// up.
extern const struct power powers_of_ten[POWERS_LAST - POWERS_FIRST + 1];

// (-1)^negative * digits * 10^exponent. With truncated, more digits follow that are not
// all zero.
struct decimal {
    uint64_t digits; // the first 19 significant ones
    int32_t exponent;
    bool negative;
    bool integer; // neither point nor exponent
    bool truncated;
};

static inline bool is_digit(char c)
{
    return (unsigned char)(c - '0') < 10;
}

// The rest of decimal_scan for what is rare: more than 19 digits, or an exponent.
size_t decimal_scan_long(const char *text, size_t length, struct decimal *out);

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
// The high bit of each byte of text (xor '0') that is no digit, right up to and including
// the first of them.
static inline uint64_t mark_others(uint64_t word)
{
    return ((word + 0x7676767676767676) | word) & 0x8080808080808080;
}

// The value of eight digits (xor '0'), the first in the lowest byte: pairs, then fours,
// then all.
static inline uint64_t value_of_eight(uint64_t word)
{
    word = word * 10 + (word >> 8);
    return ((word & 0x000000FF000000FF) * (100 + (1000000ULL << 32)) +
            (word >> 16 & 0x000000FF000000FF) * (1 + (10000ULL << 32))) >>
           32;
}
#endif

// Adds the digits from p on to *digits; returns their end. How many there are cannot be
// predicted, so up to 15 are taken without a branch on it, where sixteen bytes can be
// looked at.
static inline const char *scan_fraction(const char *p, const char *end, uint64_t *digits)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    // clang-format off
    static const uint64_t tens[] = {
        1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000, 1000000000, 10000000000,
        100000000000, 1000000000000, 10000000000000, 100000000000000, 1000000000000000};
    // clang-format on
    uint64_t low, high;
    if (end - p >= 16) {
        memcpy(&low, p, sizeof low);
        memcpy(&high, p + 8, sizeof high);
        low ^= 0x3030303030303030;
        high ^= 0x3030303030303030;
        uint64_t others_low = mark_others(low), others_high = mark_others(high);
        if (__builtin_expect((others_low | others_high) != 0, true)) {
            bool more = others_low == 0;
            int count =
                (__builtin_ctzll(more ? others_high : others_low) >> 3) + 8 * more;
            // The digits at the end of sixteen, zeros before; in two steps, for no shift
            // may be by 128.
            unsigned __int128 all = ((unsigned __int128)high << 64 | low) << 8;
            all <<= 8 * (15 - count);
            *digits = *digits * tens[count] + value_of_eight((uint64_t)all) * 100000000 +
                      value_of_eight((uint64_t)(all >> 64));
            return p + count;
        }
    }
#endif
    while (p < end && is_digit(*p))
        *digits = *digits * 10 + (uint64_t)(*p++ - '0');
    return p;
}

// Reads JSON's number syntax: -? (0 | [1-9][0-9]*) (.[0-9]+)? ([eE][+-]?[0-9]+)?. Returns
// the characters used, 0 if text does not begin with a number ("01", "1.", "-", "" are
// none).
static inline size_t decimal_scan(const char *text, size_t length, struct decimal *out)
{
    const char *p = text, *end = text + length;
    uint64_t digits = 0;
    out->negative = p < end && *p == '-';
    p += out->negative;
    const char *first = p;
    while (p < end && is_digit(*p))
        digits = digits * 10 + (uint64_t)(*p++ - '0');
    size_t count = (size_t)(p - first);
    if (count == 0 || (count > 1 && *first == '0'))
        return 0;
    out->integer = true;
    out->exponent = 0;
    out->truncated = false;
    if (p < end && *p == '.') {
        const char *fraction = ++p;
        p = scan_fraction(p, end, &digits);
        if (p == fraction)
            return 0;
        out->exponent = (int32_t)(fraction - p);
        out->integer = false;
        count += (size_t)(p - fraction);
    }
    if (__builtin_expect(count > 19 || (p < end && (*p | 0x20) == 'e'), false))
        return decimal_scan_long(text, length, out);
    out->digits = digits;
    return (size_t)(p - text);
}

// The same for hand-written tables: a leading '+', "5." and ".5" are numbers too, and
// leading zeros.
size_t decimal_scan_loose(const char *text, size_t length, struct decimal *out);

// Rounded to nearest even, once. text and length are what the decimal was scanned from
// (at most NUMBER_MAX_LENGTH). Too large gives an infinity.
double decimal_to_float64(const struct decimal *decimal, const char *text, size_t length);
float decimal_to_float32(const struct decimal *decimal, const char *text, size_t length);
// Only for decimals with integer set. False if it does not fit.
static inline bool decimal_to_int64(const struct decimal *decimal, int64_t *out)
{
    uint64_t limit = (uint64_t)INT64_MAX + decimal->negative;
    if (decimal->exponent != 0 || decimal->truncated || decimal->digits > limit)
        return false;
    *out = decimal->negative ? (int64_t)(0 - decimal->digits) : (int64_t)decimal->digits;
    return true;
}

// decimal_to_float32's common case inlined; false for the others. Digits and power of ten
// are exact doubles, so their quotient is rounded once; rounding it again to a float is
// right unless it lies half-way between two.
static inline bool decimal_to_float32_fast(const struct decimal *decimal, float *out)
{
    static const double tens[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                  1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                  1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    uint32_t places = (uint32_t)-decimal->exponent;
    if (decimal->digits > 1ULL << 53 || places > 22 || decimal->truncated)
        return false;
    double value = (double)(int64_t)decimal->digits / tens[places];
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    if ((bits & 0x1FFFFFFF) == 0x10000000)
        return false;
    bits |= (uint64_t)decimal->negative << 63;
    memcpy(&value, &bits, sizeof value);
    *out = (float)value;
    return true;
}

// print_element where the buffer has room for PRINT_ROOM bytes, which may be written
// beyond the length returned.
enum { PRINT_ROOM = 64 };
size_t print_element_fast(union element element, enum dtype dtype, char *buffer);
// Writes value in decimal; the length (<= 20).
size_t print_int64(int64_t value, char *buffer);
#endif
