// SPDX-License-Identifier: Apache-2.0
// From numbers to the shortest decimal text that rounds back to them, by Raffaello
// Giulietti's Schubfach: of the decimals inside the rounding interval take the shortest,
// of these the closest. Layout as Python's repr. Pure functions; any thread.
#include "api/formats/number.h"

#include <math.h>
#include <stdlib.h>

static const char pairs[] =
    "00010203040506070809101112131415161718192021222324252627282930313233343536373839"
    "40414243444546474849505152535455565758596061626364656667686970717273747576777879"
    "8081828384858687888990919293949596979899";

// ---- Shortest digits

static int floor_log2_power10(int k)
{
    return (k * 1741647) >> 19;
}

// floor(log10(2^q)), or of 3/4 * 2^q
static int floor_log10_power2(int q, bool three_quarters)
{
    return (q * 1262611 - (three_quarters ? 524031 : 0)) >> 22;
}

// digits * 10^exponent.
struct shortest {
    uint64_t digits;
    int exponent;
};

// The choice among the candidates around value / 4, given the interval (lower, upper),
// all scaled by 4: one digit less if exactly one of its neighbours lies inside, else the
// same with this digit, else the closest. Which is it cannot be predicted, so all are
// computed.
static inline struct shortest choose(uint64_t lower, uint64_t value, uint64_t upper,
                                     int k)
{
    uint64_t s = value / 4, tens = s / 10, middle = 4 * s + 2;
    bool tens_below = lower <= 40 * tens, tens_above = 40 * tens + 40 <= upper;
    bool ones_below = lower <= 4 * s, ones_above = 4 * s + 4 <= upper;
    bool up = (value > middle) | ((value == middle) & (s & 1));
    bool one_inside = ones_below != ones_above;
    up = (one_inside & ones_above) | (!one_inside & up);
    uint64_t take_tens = 0 - (uint64_t)((s >= 10) & (tens_below != tens_above));
    return (struct shortest){((tens + tens_above) & take_tens) | ((s + up) & ~take_tens),
                             k + (int)(take_tens & 1)};
}

// Bits 128 and up of g * c, the rest as a sticky bit.
static uint64_t multiply_odd64(struct power g, uint64_t c)
{
    unsigned __int128 low = (unsigned __int128)g.low * c,
                      high = (unsigned __int128)g.high * c;
    high += (uint64_t)(low >> 64);
    return (uint64_t)(high >> 64) | ((uint64_t)high > 1);
}

static uint32_t multiply_odd32(uint64_t g, uint32_t c)
{
    unsigned __int128 whole = (unsigned __int128)g * c;
    return (uint32_t)(whole >> 64) | ((uint32_t)(whole >> 32) > 1);
}

// The shortest digits for a finite positive value.
static struct shortest shortest_float64(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    uint64_t fraction = bits & ((1ULL << 52) - 1), c = fraction;
    int exponent = (int)(bits >> 52 & 0x7FF), q = -1074;
    if (exponent != 0) {
        c |= 1ULL << 52;
        q = exponent - 1075;
        if ((q <= 0) & (q > -53) & ((c & ((1ULL << (-q & 63)) - 1)) == 0))
            return (struct shortest){c >> -q, 0};
    }
    bool closer = fraction == 0 && exponent > 1, odd = c & 1;
    int k = floor_log10_power2(q, closer), h = q + floor_log2_power10(-k) + 1;
    struct power g = powers_of_ten[-k - POWERS_FIRST];
    uint64_t lower = multiply_odd64(g, (4 * c - 2 + closer) << h);
    uint64_t middle = multiply_odd64(g, 4 * c << h);
    uint64_t upper = multiply_odd64(g, (4 * c + 2) << h);
    return choose(lower + odd, middle, upper - odd, k);
}

// For significand * 2^exponent2 (> 0, significand < 2^24) in a binary format whose next
// lower value is half a step away if closer_below: float32, float16, bfloat16.
static inline struct shortest shortest_float32(uint32_t significand, int exponent2,
                                               bool closer_below)
{
    uint32_t c = significand;
    int q = exponent2;
    // An integer: one condition, since q alone cannot be predicted.
    if ((q <= 0) & (q > -24) & ((c & ((1U << (-q & 31)) - 1)) == 0))
        return (struct shortest){c >> -q, 0};
    bool odd = c & 1;
    int k = floor_log10_power2(q, closer_below), h = q + floor_log2_power10(-k) + 1;
    struct power power = powers_of_ten[-k - POWERS_FIRST];
    uint64_t g = power.high + (power.low != 0);
    uint32_t lower = multiply_odd32(g, (4 * c - 2 + closer_below) << h);
    uint32_t middle = multiply_odd32(g, 4 * c << h);
    uint32_t upper = multiply_odd32(g, (4 * c + 2) << h);
    return choose(lower + odd, middle, upper - odd, k);
}

// ---- Layout

static int count_digits(uint64_t value)
{
    // clang-format off
    static const uint64_t tens[] = {
        0, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000, 1000000000, 10000000000,
        100000000000, 1000000000000, 10000000000000, 100000000000000, 1000000000000000,
        10000000000000000, 100000000000000000, 1000000000000000000, 10000000000000000000U};
    // clang-format on
    int guess =
        (64 - __builtin_clzll(value | 1)) * 1233 >> 12; // log10(2) is about 1233 / 4096
    return guess + (value >= tens[guess]);
}

// Writes exactly count digits, leading zeros included.
static void write_digits(uint64_t value, int count, char *buffer)
{
    char *p = buffer + count;
    uint32_t small;
    for (; value > UINT32_MAX; value /= 100) {
        p -= 2;
        memcpy(p, pairs + value % 100 * 2, 2);
    }
    for (small = (uint32_t)value; p - buffer >= 2; small /= 100) {
        p -= 2;
        memcpy(p, pairs + small % 100 * 2, 2);
    }
    if (p > buffer)
        *buffer = (char)('0' + small % 10);
}

size_t print_int64(int64_t value, char *buffer)
{
    uint64_t magnitude = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    int count = count_digits(magnitude);
    *buffer = '-';
    write_digits(magnitude, count, buffer + (value < 0));
    return (size_t)count + (value < 0);
}

// value < 10^8 as eight digits, the first in the lowest byte, all at once: halves of
// four, pairs and single digits side by side in a word.
static inline uint64_t eight_digits(uint32_t value)
{
    uint64_t fours = value / 10000 | (uint64_t)(value % 10000) << 32;
    uint64_t hundreds = (fours * 10486 >> 20) & 0x7F0000007F;
    uint64_t twos = hundreds | (fours - 100 * hundreds) << 16;
    uint64_t tens = (twos * 103 >> 10) & 0x000F000F000F000F;
    return tens | (twos - 10 * tens) << 8 | 0x3030303030303030;
}

static void write_eight(uint32_t value, char *buffer)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    uint64_t word = eight_digits(value);
    memcpy(buffer, &word, sizeof word);
#else
    write_digits(value, 8, buffer);
#endif
}

enum { PADDED_END = 24, PADDED_SIZE = 48, EIGHT_DIGITS = 100000000 };

// digits (at most 17) right-aligned before PADDED_END, zeros before.
static void write_padded(uint64_t digits, char *padded)
{
    memset(padded, '0', 16);
    write_eight((uint32_t)(digits % EIGHT_DIGITS), padded + 16);
    digits /= EIGHT_DIGITS;
    if (digits == 0)
        return;
    write_eight((uint32_t)(digits % EIGHT_DIGITS), padded + 8);
    padded[7] = (char)('0' + digits / EIGHT_DIGITS);
}

// d.ddde+XX for a value whose first digit stands before the point.
static char *print_exponent(uint64_t digits, int count, int exponent, char *p)
{
    while (digits % 10 == 0) {
        digits /= 10;
        count--;
    }
    write_digits(digits, count, p + 1);
    p[0] = p[1];
    p[1] = '.';
    p += count == 1 ? 1 : count + 1;
    *p++ = 'e';
    *p++ = exponent < 0 ? '-' : '+';
    unsigned magnitude = (unsigned)abs(exponent);
    int width = magnitude < 100 ? 2 : 3;
    write_digits(magnitude, width, p);
    return p + width;
}

// Drops zeros after the point.
static inline void drop_zeros(struct shortest *value)
{
    while (value->exponent < 0 && value->digits % 10 == 0) {
        value->digits /= 10;
        value->exponent++;
    }
}

// As Python's repr: "0.1", "1e-05", "1e+16". Up to PRINT_ROOM bytes are written.
static size_t print_shortest(bool negative, struct shortest value, char *buffer)
{
    char *p = buffer, padded[PADDED_SIZE];
    drop_zeros(&value);
    int count = count_digits(value.digits),
        point = count + value.exponent; // digits before it
    *p = '-';
    p += negative;
    if (point > 16 || point < -3)
        return (size_t)(print_exponent(value.digits, count, point - 1, p) - buffer);
    write_padded(value.digits, padded);
    const char *first = padded + PADDED_END - count;
    if (value.exponent >= 0) {
        memcpy(p, first, 20);
        memcpy(p + count, "0000000000000000", 16);
        memcpy(p + point, ".0", 2);
        return (size_t)(p + point + 2 - buffer);
    }
    // At least one digit before the point, from the padding if need be.
    int zeros = point < 1 ? 1 - point : 0;
    first -= zeros;
    point += zeros;
    memcpy(p, first, 24);
    memcpy(p + point + 1, first + point, 24);
    p[point] = '.';
    return (size_t)(p + count + zeros + 1 - buffer);
}

// The same for at most eight digits with some behind the point, in registers and without
// branches: the digits as one word, the first in its lowest byte.
static inline size_t print_short(bool negative, uint32_t digits, int count, int point,
                                 char *buffer)
{
    const uint64_t zeros = 0x3030303030302E30; // "0.000000"
    uint64_t word = eight_digits(digits) >> (64 - 8 * count);
    uint64_t whole =
        0 - (uint64_t)(point > 0); // all bits: there are digits before the point
    int before = point & (int)whole, dot = before + (point <= 0),
        after = dot + 1 + before - point;
    uint64_t start = (word & whole) | (zeros & ~whole);
    char *p = buffer;
    word >>= 8 * before;
    *p = '-';
    p += negative;
    memcpy(p, &start, sizeof start);
    p[dot] = '.';
    memcpy(p + after, &word, sizeof word);
    return (size_t)(p + after + count - before - buffer);
}

// ---- Elements

static size_t print_word(const char *word, char *buffer)
{
    size_t length = strlen(word);
    memcpy(buffer, word, length);
    return length;
}

// An IEEE-like value given by its parts; bias counts the exponent of the last fraction
// bit.
static inline size_t print_parts(bool negative, uint32_t exponent, uint32_t fraction,
                                 int fraction_bits, int exponent_bits, int bias,
                                 char *buffer)
{
    uint32_t infinity = (1U << exponent_bits) - 1;
    if (exponent == infinity)
        return print_word(fraction != 0 ? "NaN"
                          : negative    ? "-Infinity"
                                        : "Infinity",
                          buffer);
    if (exponent == 0 && fraction == 0)
        return print_word(negative ? "-0.0" : "0.0", buffer);
    uint32_t significand = exponent == 0 ? fraction : fraction | 1U << fraction_bits;
    int exponent2 = (exponent == 0 ? 1 : (int)exponent) - bias;
    struct shortest value =
        shortest_float32(significand, exponent2, fraction == 0 && exponent > 1);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    drop_zeros(&value);
    int count = count_digits(value.digits), point = count + value.exponent;
    if (count <= 8 && value.exponent < 0 && point >= -3)
        return print_short(negative, (uint32_t)value.digits, count, point, buffer);
#endif
    return print_shortest(negative, value, buffer);
}

static size_t print_float64(double value, char *buffer)
{
    bool negative = signbit(value);
    if (!isfinite(value))
        return print_word(isnan(value) ? "NaN"
                          : negative   ? "-Infinity"
                                       : "Infinity",
                          buffer);
    if (value == 0)
        return print_word(negative ? "-0.0" : "0.0", buffer);
    return print_shortest(negative, shortest_float64(fabs(value)), buffer);
}

size_t print_element_fast(union element element, enum dtype dtype, char *buffer)
{
    uint32_t bits = element.bits16;
    switch (dtype) {
    case DTYPE_BOOL:
        return print_word(element.u8 ? "true" : "false", buffer);
    case DTYPE_FLOAT16:
        return print_parts(bits >> 15, bits >> 10 & 0x1F, bits & 0x3FF, 10, 5, 15 + 10,
                           buffer);
    case DTYPE_BFLOAT16:
        return print_parts(bits >> 15, bits >> 7 & 0xFF, bits & 0x7F, 7, 8, 127 + 7,
                           buffer);
    case DTYPE_FLOAT32:
        memcpy(&bits, &element.f32, sizeof bits);
        return print_parts(bits >> 31, bits >> 23 & 0xFF, bits & 0x7FFFFF, 23, 8,
                           127 + 23, buffer);
    case DTYPE_FLOAT64:
        return print_float64(element.f64, buffer);
    default:
        return print_int64(element_to_scalar(element, dtype).i, buffer);
    }
}

size_t print_element(union element element, enum dtype dtype, char *buffer)
{
    char text[PRINT_ROOM];
    size_t length = print_element_fast(element, dtype, text);
    memcpy(buffer, text, length);
    return length;
}
