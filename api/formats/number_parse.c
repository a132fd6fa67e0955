// SPDX-License-Identifier: Apache-2.0
// From decimal text to numbers, correctly rounded to the target format in one step: an
// exact fast path for few digits (Clinger), the 128-bit product of Eisel and Lemire for
// the rest, and strtod where even that cannot decide. Pure functions; any thread. The C
// locale's decimal point is assumed.
#include "api/formats/number.h"

#include <math.h>
#include <stdlib.h>

#define P(high, low)                                                                     \
    {                                                                                    \
        0x##high, 0x##low                                                                \
    }
const struct power powers_of_ten[POWERS_LAST - POWERS_FIRST + 1] = {
#include "api/formats/powers.inc"
};
#undef P

enum { EXPONENT_BOUND = 100000 }; // far outside every format, far inside int32_t

// ---- Scanning

// Adds the digits at p to out as long as there is room for them.
static const char *scan_digits(const char *p, const char *end, struct decimal *out,
                               int *significant)
{
    for (; p < end && is_digit(*p); p++) {
        if (*significant < 19) {
            out->digits = out->digits * 10 + (uint64_t)(*p - '0');
            *significant += out->digits != 0;
        } else {
            out->truncated |= *p != '0';
            out->exponent++;
        }
    }
    return p;
}

// [eE][+-]?[0-9]+ at p; p itself if it is none, NULL if it begins like one and is not.
static const char *scan_exponent(const char *p, const char *end, struct decimal *out)
{
    if (p >= end || (*p | 0x20) != 'e')
        return p;
    bool negative = ++p < end && *p == '-';
    if (p < end && (*p == '-' || *p == '+'))
        p++;
    const char *first = p;
    int32_t exponent = 0;
    for (; p < end && is_digit(*p); p++)
        exponent = exponent < EXPONENT_BOUND ? exponent * 10 + (*p - '0') : exponent;
    if (p == first)
        return NULL;
    out->exponent += negative ? -exponent : exponent;
    out->integer = false;
    return p;
}

// A number after its sign; NULL if it is none. loose: see decimal_scan_loose.
static const char *scan_unsigned(const char *p, const char *end, struct decimal *out,
                                 bool loose)
{
    int significant = 0;
    const char *first = p;
    out->digits = 0;
    out->exponent = 0;
    out->truncated = false;
    out->integer = true;
    p = scan_digits(p, end, out, &significant);
    int64_t whole = p - first, fraction = 0;
    if (!loose && (whole == 0 || (whole > 1 && *first == '0')))
        return NULL;
    if (p < end && *p == '.') {
        const char *start = ++p;
        p = scan_digits(p, end, out, &significant);
        fraction = p - start;
        out->exponent -= (int32_t)fraction;
        out->integer = false;
        if (!loose && fraction == 0)
            return NULL;
    }
    return whole + fraction == 0 ? NULL : scan_exponent(p, end, out);
}

size_t decimal_scan_long(const char *text, size_t length, struct decimal *out)
{
    out->negative = length > 0 && text[0] == '-';
    const char *end = scan_unsigned(text + out->negative, text + length, out, false);
    return end == NULL ? 0 : (size_t)(end - text);
}

size_t decimal_scan_loose(const char *text, size_t length, struct decimal *out)
{
    bool sign = length > 0 && (text[0] == '-' || text[0] == '+');
    out->negative = sign && text[0] == '-';
    const char *end = scan_unsigned(text + sign, text + length, out, true);
    return end == NULL ? 0 : (size_t)(end - text);
}

// ---- Rounding

// What Eisel and Lemire's algorithm needs to know of a binary format.
struct binary_format {
    int mantissa_bits; // without the hidden one
    int bias;          // minus the smallest exponent
    int infinity;      // the exponent field of infinities
    int ties_first,
        ties_last; // powers of ten for which a product can be exactly half-way
    int power_first, power_last; // below: zero; above: infinity
};
static const struct binary_format binary64 = {52, 1023, 0x7FF, -4, 23, -342, 308};
static const struct binary_format binary32 = {23, 127, 0xFF, -17, 10, -64, 38};

// The significant bits of w * 10^q, w normalised, and whether more than that was needed.
static unsigned __int128 product(uint64_t w, int q, int bits, bool *uncertain)
{
    struct power power = powers_of_ten[q - POWERS_FIRST];
    if (q > 55 && power.low-- == 0) // the algorithm wants large powers rounded down
        power.high--;
    unsigned __int128 first = (unsigned __int128)w * power.high;
    uint64_t mask = UINT64_MAX >> bits;
    if (((uint64_t)(first >> 64) & mask) == mask) {
        first += (uint64_t)(((unsigned __int128)w * power.low) >> 64);
        *uncertain = (uint64_t)first == UINT64_MAX && (q < -27 || q > 55);
    }
    return first;
}

// A subnormal, or what rounds up to the smallest normal number.
static uint64_t round_subnormal(uint64_t mantissa, int exponent)
{
    if (exponent <= -63)
        return 0;
    mantissa >>= 1 - exponent;
    return (mantissa + (mantissa & 1)) >> 1;
}

// w * 10^q as the bits of the format. False if it cannot decide.
static bool eisel_lemire(uint64_t w, int64_t power, const struct binary_format *format,
                         uint64_t *bits)
{
    int mantissa_bits = format->mantissa_bits;
    *bits = 0;
    if (w == 0 || power < format->power_first)
        return true;
    *bits = (uint64_t)format->infinity << mantissa_bits;
    if (power > format->power_last)
        return true;
    int q = (int)power, zeros = __builtin_clzll(w);
    bool uncertain = false;
    unsigned __int128 whole = product(w << zeros, q, mantissa_bits + 3, &uncertain);
    if (uncertain)
        return false;
    uint64_t high = (uint64_t)(whole >> 64), low = (uint64_t)whole;
    int upper = (int)(high >> 63), shift = upper + 64 - mantissa_bits - 3;
    uint64_t mantissa = high >> shift;
    int exponent = ((217706 * q) >> 16) + 63 + upper - zeros + format->bias;
    if (exponent <= 0) {
        *bits = round_subnormal(mantissa, exponent);
        return true;
    }
    bool tie = low <= 1 && q >= format->ties_first && q <= format->ties_last &&
               (mantissa & 3) == 1 && mantissa << shift == high;
    mantissa = tie ? mantissa >> 1 : (mantissa + (mantissa & 1)) >> 1;
    if (mantissa >> (mantissa_bits + 1) != 0) {
        mantissa >>= 1;
        exponent++;
    }
    if (exponent < format->infinity)
        *bits = (uint64_t)exponent << mantissa_bits |
                (mantissa & ((1ULL << mantissa_bits) - 1));
    return true;
}

// With truncated digits the true value lies between w and w + 1: good if both round
// alike.
static bool round_decimal(const struct decimal *decimal,
                          const struct binary_format *format, uint64_t *bits)
{
    uint64_t above;
    if (!eisel_lemire(decimal->digits, decimal->exponent, format, bits))
        return false;
    return !decimal->truncated ||
           (eisel_lemire(decimal->digits + 1, decimal->exponent, format, &above) &&
            *bits == above);
}

// A terminated copy for strtod and strtof.
static void copy_text(const char *text, size_t length, char *copy)
{
    if (length > NUMBER_MAX_LENGTH)
        length = NUMBER_MAX_LENGTH;
    memcpy(copy, text, length);
    copy[length] = '\0';
}

double decimal_to_float64(const struct decimal *decimal, const char *text, size_t length)
{
    static const double tens[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                  1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                  1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    int exponent = decimal->exponent;
    double value;
    uint64_t bits;
    if (decimal->digits <= 1ULL << 53 && exponent >= -22 && exponent <= 22 &&
        !decimal->truncated) {
        value = (double)decimal->digits;
        value = exponent < 0 ? value / tens[-exponent] : value * tens[exponent];
    } else if (round_decimal(decimal, &binary64, &bits)) {
        memcpy(&value, &bits, sizeof value);
    } else {
        char copy[NUMBER_MAX_LENGTH + 1];
        copy_text(text, length, copy);
        return strtod(copy, NULL);
    }
    return decimal->negative ? -value : value;
}

float decimal_to_float32(const struct decimal *decimal, const char *text, size_t length)
{
    uint64_t bits;
    float value;
    if (decimal_to_float32_fast(decimal, &value))
        return value;
    if (!round_decimal(decimal, &binary32, &bits)) {
        char copy[NUMBER_MAX_LENGTH + 1];
        copy_text(text, length, copy);
        return strtof(copy, NULL);
    }
    uint32_t word = (uint32_t)bits | (uint32_t)decimal->negative << 31;
    memcpy(&value, &word, sizeof value);
    return value;
}

static bool word_at(const char *text, size_t length, const char *word, size_t *used)
{
    *used = strlen(word);
    return length >= *used && memcmp(text, word, *used) == 0;
}

size_t parse_number(const char *text, size_t length, struct scalar *out, bool *is_big)
{
    size_t used;
    *out = (struct scalar){.kind = SCALAR_FLOAT};
    *is_big = false;
    if (word_at(text, length, "NaN", &used))
        return out->f = (double)NAN, used;
    if (word_at(text, length, "Infinity", &used))
        return out->f = (double)INFINITY, used;
    if (word_at(text, length, "-Infinity", &used))
        return out->f = -(double)INFINITY, used;
    struct decimal decimal;
    used = decimal_scan(text, length, &decimal);
    if (used == 0 || used > NUMBER_MAX_LENGTH)
        return 0;
    if (decimal.integer && decimal_to_int64(&decimal, &out->i)) {
        out->kind = SCALAR_INT;
        return used;
    }
    out->f = decimal_to_float64(&decimal, text, used);
    *is_big = decimal.integer;
    return used;
}
