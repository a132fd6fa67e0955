// SPDX-License-Identifier: Apache-2.0
// The arithmetic of random numbers that must give the same bits everywhere: normals from
// uniforms in float32 (host and CUDA) and float64 (CUDA), and Philox 4x32-10. C17 and
// CUDA C++. Nothing here may be contracted; where a product and a sum are one operation,
// fma stands written.
#ifndef TENSORD_KERNELS_RANDOM_MATH_H
#define TENSORD_KERNELS_RANDOM_MATH_H

#include <string.h>

#include "kernels/scalar_math.h"

SCALAR_MATH_FUNCTION float random_float_of(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

SCALAR_MATH_FUNCTION uint32_t random_bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

// ---- float32. The Cephes library's single-precision log and sincos (S. Moshier) with
// the products and sums fused that PyTorch's AVX2 build fuses.

// The logarithm of a normal number in (0, 1]: x = 2^e (1 + m), 1 + m in [sqrt 1/2,
// sqrt 2).
SCALAR_MATH_FUNCTION float random_log(float x)
{
    const float sqrt_half = 0.707106781186547524f;
    uint32_t bits = random_bits_of(x);
    float m = random_float_of((bits & 0x7FFFFFu) | 0x3F000000u);
    int32_t low = m < sqrt_half;
    float e = (float)((int32_t)(bits >> 23) - 126 - low);
    m = (low ? m + m : m) - 1.0f;
    float z = m * m, y = 7.0376836292e-2f;
    y = fmaf(y, m, -1.1514610310e-1f);
    y = fmaf(y, m, 1.1676998740e-1f);
    y = fmaf(y, m, -1.2420140846e-1f);
    y = fmaf(y, m, 1.4249322787e-1f);
    y = fmaf(y, m, -1.6668057665e-1f);
    y = fmaf(y, m, 2.0000714765e-1f);
    y = fmaf(y, m, -2.4999993993e-1f);
    y = fmaf(y, m, 3.3333331174e-1f);
    y = y * m;
    y = fmaf(y, z, e * -2.12194440e-4f);
    y = fmaf(-z, 0.5f, y);
    return fmaf(e, 0.693359375f, m + y);
}

struct random_pair {
    float sine, cosine;
};

// For x in [0, 8192): x less j quarters of pi, j even, then a polynomial for each.
SCALAR_MATH_FUNCTION struct random_pair random_sincos(float x)
{
    int32_t j = ((int32_t)(x * 1.27323954473516f) + 1) & ~1;
    float quarters = (float)j;
    x = fmaf(quarters, -0.78515625f, x);
    x = fmaf(quarters, -2.4187564849853515625e-4f, x);
    x = fmaf(quarters, -3.77489497744594108e-8f, x);
    float z = x * x, c = 2.443315711809948e-5f, s = -1.9515295891e-4f;
    c = fmaf(c, z, -1.388731625493765e-3f);
    c = fmaf(c, z, 4.166664568298827e-2f);
    c = c * z;
    c = fmaf(c, z, -(z * 0.5f)) + 1.0f;
    s = fmaf(s, z, 8.3321608736e-3f);
    s = fmaf(s, z, -1.6666654611e-1f);
    s = s * z;
    s = fmaf(s, x, x);
    uint32_t sine = random_bits_of(j & 2 ? c : s), cosine = random_bits_of(j & 2 ? s : c);
    uint32_t sine_sign = ((uint32_t)j & 4u) << 29;
    uint32_t cosine_sign = (~((uint32_t)j - 2u) & 4u) << 29;
    struct random_pair pair = {random_float_of(sine ^ sine_sign),
                               random_float_of(cosine ^ cosine_sign)};
    return pair;
}

// ---- float64: +, -, *, /, sqrt alone, so that a card and the simulator agree.

// The logarithm of u in [2^-54, 1]: u = 2^k (1 + f) with 1 + f in [sqrt 1/2, sqrt 2), and
// with s = f / (2 + f): log(1 + f) = 2 atanh(s) = f - s (f - 2 (s^2 / 3 + s^4 / 5 ...)).
SCALAR_MATH_FUNCTION double random_log_f64(double u)
{
    uint64_t bits;
    memcpy(&bits, &u, sizeof bits);
    uint64_t shifted = bits - 0x3FE6A09E667F3BCDu; // from sqrt 1/2 on
    int32_t k = (int32_t)((int64_t)shifted >> 52);
    bits = (shifted & 0xFFFFFFFFFFFFFu) + 0x3FE6A09E667F3BCDu;
    double m, n = (double)k;
    memcpy(&m, &bits, sizeof m);
    double f = m - 1.0, s = f / (2.0 + f), z = s * s, r = 2.0 / 25;
    r = r * z + 2.0 / 23;
    r = r * z + 2.0 / 21;
    r = r * z + 2.0 / 19;
    r = r * z + 2.0 / 17;
    r = r * z + 2.0 / 15;
    r = r * z + 2.0 / 13;
    r = r * z + 2.0 / 11;
    r = r * z + 2.0 / 9;
    r = r * z + 2.0 / 7;
    r = r * z + 2.0 / 5;
    r = r * z + 2.0 / 3;
    // ln 2 in two parts; the upper one has 32 bits, so that its product with k is exact.
    double low = n * 1.9082149292705877e-10 - s * (f - r * z);
    return n * 0.6931471803691238 + (f + low);
}

struct random_pair_f64 {
    double sine, cosine;
};

// Of v half turns, v in [0, 2]: v is a multiple of a half and r in [-1/4, 1/4], then the
// series.
SCALAR_MATH_FUNCTION struct random_pair_f64 random_sincospi_f64(double v)
{
    int32_t j = (int32_t)(v * 2.0 + 0.5);
    double t = (v - j * 0.5) * 3.141592653589793, z = t * t;
    double s = 1.0 / 355687428096000, c = -1.0 / 6402373705728000;
    s = s * z - 1.0 / 1307674368000;
    s = s * z + 1.0 / 6227020800;
    s = s * z - 1.0 / 39916800;
    s = s * z + 1.0 / 362880;
    s = s * z - 1.0 / 5040;
    s = s * z + 1.0 / 120;
    s = s * z - 1.0 / 6;
    s = t + t * z * s;
    c = c * z + 1.0 / 20922789888000;
    c = c * z - 1.0 / 87178291200;
    c = c * z + 1.0 / 479001600;
    c = c * z - 1.0 / 3628800;
    c = c * z + 1.0 / 40320;
    c = c * z - 1.0 / 720;
    c = c * z + 1.0 / 24;
    c = c * z - 0.5;
    c = 1.0 + z * c;
    double sine = j & 1 ? c : s, cosine = j & 1 ? s : c;
    struct random_pair_f64 pair = {j & 2 ? -sine : sine, (j + 1) & 2 ? -cosine : cosine};
    return pair;
}

// ---- Philox 4x32-10: ten rounds of two products over a 128-bit counter.
struct philox {
    uint32_t words[4];
};

SCALAR_MATH_FUNCTION struct philox philox_block(struct philox counter, uint64_t key)
{
    uint32_t k0 = (uint32_t)key, k1 = (uint32_t)(key >> 32), *c = counter.words;
    for (int round = 0; round < 10; round++) {
        uint64_t a = (uint64_t)0xD2511F53u * c[0], b = (uint64_t)0xCD9E8D57u * c[2];
        uint32_t c0 = (uint32_t)(b >> 32) ^ c[1] ^ k0;
        uint32_t c2 = (uint32_t)(a >> 32) ^ c[3] ^ k1;
        c[1] = (uint32_t)b;
        c[3] = (uint32_t)a;
        c[0] = c0;
        c[2] = c2;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    return counter;
}
#endif
