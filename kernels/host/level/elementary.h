// SPDX-License-Identifier: Apache-2.0
// float32 exp, expm1, sigmoid, tanh, log, log1p and log2 without branches, so that the
// loops around them vectorize. Within 2 ulp of the true value for every input
// (tests/unit/kernels/test_elementary.c samples them), the same bits on every
// instruction-set level: only +, -, *, / and bit operations, none of them contracted.
// Coefficients are minimax fits of the stated remainders, rounded to float32.
#ifndef TENSORD_KERNELS_HOST_LEVEL_ELEMENTARY_H
#define TENSORD_KERNELS_HOST_LEVEL_ELEMENTARY_H

#include <math.h>
#include <stdint.h>
#include <string.h>

static inline float float_of_bits(int32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}
static inline int32_t bits_of_float(float value)
{
    int32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}
// 2^k for k in [-127, 128]: 0 and infinity at the ends.
static inline float power_of_two(int32_t k)
{
    return float_of_bits((int32_t)((uint32_t)(k + 127) << 23));
}

// x = k ln 2 + r, |r| <= ln 2 / 2, for |x| < 2^22. Adding 1.5 * 2^23 rounds to an
// integer, which then stands in the low bits. The upper part of ln 2 has 9 bits, so that
// its product with k is exact.
struct reduced_exp {
    int32_t k;
    float r;
};
static inline struct reduced_exp reduce_exp(float x)
{
    const float shift = 0x1.8p23f;
    float shifted = x * 0x1.715476p0f + shift, k = shifted - shift;
    float r = (x - k * 0x1.63p-1f) - k * -0x1.bd0106p-13f;
    return (struct reduced_exp){bits_of_float(shifted) - bits_of_float(shift), r};
}
// e^r - 1 for |r| <= ln 2 / 2: r + r^2 q(r).
static inline float small_expm1(float r)
{
    float q = 0x1.9f08a8p-13f;
    q = q * r + 0x1.6d8cf8p-10f;
    q = q * r + 0x1.11127p-7f;
    q = q * r + 0x1.55548ep-5f;
    q = q * r + 0x1.555554p-3f;
    q = q * r + 0.5f;
    return r + r * r * q;
}
// y * 2^k in two exact steps, so that subnormal and infinite results come out right.
static inline float scale(float y, int32_t k)
{
    int32_t half = k >> 1;
    return y * power_of_two(half) * power_of_two(k - half);
}

static inline float elementary_exp(float x)
{
    float clamped = x < -104 ? -104 : x > 89 ? 89 : x; // NaN stays
    struct reduced_exp e = reduce_exp(clamped);
    return scale(1 + small_expm1(e.r), e.k);
}

// (e^r - 1) 2^k + 2^k - 1, with 2^k taken out.
static inline float elementary_expm1(float x)
{
    float clamped = x < -20 ? -20 : x > 89 ? 89 : x;
    struct reduced_exp e = reduce_exp(clamped);
    float rest = 1 - power_of_two(e.k > 127 ? -127 : -e.k);
    float y = scale(rest + small_expm1(e.r), e.k);
    return x == 0 ? x : y; // -0
}

// 1 / (1 + e^-x); e^x / (1 + e^x) below 0, where e^-x may overflow. The quotient is taken
// in float64: in float32 it would cost another half ulp.
static inline float elementary_sigmoid(float x)
{
    float e = elementary_exp(-fabsf(x));
    return (float)((double)(x < 0 ? e : 1) / (1 + (double)e));
}

// An odd polynomial up to 0.625, 1 - 2 / (e^2x + 1) beyond.
static inline float elementary_tanh(float x)
{
    float magnitude = fabsf(x), z = x * x;
    float p = 0x1.0e9e9p-9f;
    p = p * z + -0x1.092852p-7f;
    p = p * z + 0x1.62fb3cp-6f;
    p = p * z + -0x1.b9e19p-5f;
    p = p * z + 0x1.111026p-3f;
    p = p * z + -0x1.555552p-2f;
    float near = magnitude + magnitude * z * p;
    float clamped = magnitude > 10 ? 10 : magnitude;
    struct reduced_exp e = reduce_exp(clamped + clamped);
    float far = 1 - 2 / (scale(1 + small_expm1(e.r), e.k) + 1);
    return copysignf(magnitude < 0.625f ? near : far, x);
}

// x = 2^k (1 + f) for positive finite x, 1 + f in [sqrt 1/2, sqrt 2).
struct reduced_log {
    float k, f;
};
static inline struct reduced_log reduce_log(float x)
{
    int subnormal = x < 0x1p-126f;
    int32_t bits = bits_of_float(subnormal ? x * 0x1p23f : x);
    // From sqrt 1/2 on; negative numbers and NaN may wrap, their results are replaced.
    int32_t shifted = (int32_t)((uint32_t)bits - 0x3F3504F3u);
    int32_t k = shifted >> 23;
    float m = float_of_bits((shifted & 0x7FFFFF) + 0x3F3504F3);
    return (struct reduced_log){(float)(k - (subnormal ? 23 : 0)), m - 1};
}
// log(1 + f) - f = s (f^2 / 2 + R(s^2)) - f^2 / 2 with s = f / (2 + f), the series of 2
// atanh(s).
static inline float log_rest(float f)
{
    float s = f / (2 + f), z = s * s, half = 0.5f * f * f;
    float r = 0x1.e30a18p-3f;
    r = r * z + 0x1.24385ap-2f;
    r = r * z + 0x1.999a7cp-2f;
    r = r * z + 0x1.555554p-1f;
    return s * (half + r * z) - half;
}
// NaN below 0, -infinity at 0, infinity and NaN as they are.
static inline float log_domain(float x, float y)
{
    float special = x == 0 ? -INFINITY : x < 0 ? NAN : x;
    return x > 0 && x < INFINITY ? y : special;
}

// k ln 2 in two parts; the upper one has 9 bits, so that its product with k is exact.
static inline float elementary_log(float x)
{
    struct reduced_log l = reduce_log(x);
    float y = l.k * 0x1.63p-1f + (l.f + (log_rest(l.f) + l.k * -0x1.bd0106p-13f));
    return log_domain(x, y);
}

// log of u = 1 + x, and what the rounding of u lost, relative to u.
static inline float elementary_log1p(float x)
{
    float u = 1 + x;
    float lost = x > 1 ? 1 - (u - x) : x - (u - 1);
    struct reduced_log l = reduce_log(u);
    float low = l.k * -0x1.bd0106p-13f + lost / u;
    float y = l.k * 0x1.63p-1f + (l.f + (log_rest(l.f) + low));
    return x == 0 || u == INFINITY ? x : log_domain(u, y);
}

// log(1 + f) / ln 2 with 1 / ln 2 = 1 + 0.4427: the product with the integer part is
// exact.
static inline float elementary_log2(float x)
{
    const float rest_of_inverse = 0x1.c551d9p-2f;
    struct reduced_log l = reduce_log(x);
    float rest = log_rest(l.f);
    float low = rest * rest_of_inverse + l.f * rest_of_inverse + rest;
    return log_domain(x, l.k + (l.f + low));
}
#endif
