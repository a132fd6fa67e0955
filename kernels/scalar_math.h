// SPDX-License-Identifier: Apache-2.0
// The scalar functions behind FN(name) in ops.def, one per element type:
// scalar_<name>_<type>. Compiled as C17 by the host kernels, as CUDA C++ by nvcc and as
// C++ by g++ for the simulator. The includer defines
//
//     #define T float
//     #define FN(name) scalar_##name##_f32
//     #define M(name) name##f
//
// Types: i64 f32 f64 everywhere (CUDA computes integers in int64_t and wraps to the
// dtype), and u8 i8 i16 i32 for the host. Integers wrap (two's complement), so nothing
// here is undefined; dividing by zero sets bit 0 of *fault and gives 0.
#ifndef TENSORD_KERNELS_SCALAR_MATH_H
#define TENSORD_KERNELS_SCALAR_MATH_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#ifndef SCALAR_MATH_FUNCTION
#if defined(__CUDACC__)
#define SCALAR_MATH_FUNCTION static __device__ __forceinline__
#else
#define SCALAR_MATH_FUNCTION static inline __attribute__((unused, always_inline))
#endif
#endif

// Integers. S: the type; U: the unsigned type that arithmetic wraps in (at least as wide
// as unsigned int, so that no operand is promoted to a signed type).
#define SCALAR_MATH_RING(suffix, S, U)                                                   \
    SCALAR_MATH_FUNCTION S scalar_add_##suffix(S a, S b)                                 \
    {                                                                                    \
        return (S)((U)a + (U)b);                                                         \
    }                                                                                    \
    SCALAR_MATH_FUNCTION S scalar_sub_##suffix(S a, S b)                                 \
    {                                                                                    \
        return (S)((U)a - (U)b);                                                         \
    }                                                                                    \
    SCALAR_MATH_FUNCTION S scalar_mul_##suffix(S a, S b)                                 \
    {                                                                                    \
        return (S)((U)a * (U)b);                                                         \
    }                                                                                    \
    /* a to the power of b >= 0 by squaring. */                                          \
    SCALAR_MATH_FUNCTION S scalar_square_multiply_##suffix(S a, U b)                     \
    {                                                                                    \
        U result = 1, factor = (U)a;                                                     \
        for (; b != 0; b >>= 1) {                                                        \
            if (b & 1)                                                                   \
                result *= factor;                                                        \
            factor *= factor;                                                            \
        }                                                                                \
        return (S)result;                                                                \
    }

#define SCALAR_MATH_SIGNED(suffix, S, U)                                                 \
    SCALAR_MATH_RING(suffix, S, U)                                                       \
    SCALAR_MATH_FUNCTION S scalar_absolute_##suffix(S a)                                 \
    {                                                                                    \
        return a < 0 ? (S)((U)0 - (U)a) : a;                                             \
    }                                                                                    \
    /* The quotient towards zero; the smallest integer divided by -1 wraps to itself. */ \
    SCALAR_MATH_FUNCTION S scalar_truncate_divide_##suffix(S a, S b, int *fault)         \
    {                                                                                    \
        if (b == 0) {                                                                    \
            *fault |= 1;                                                                 \
            return 0;                                                                    \
        }                                                                                \
        return b == -1 ? (S)((U)0 - (U)a) : (S)(a / b);                                  \
    }                                                                                    \
    /* a - floor_divide(a, b) * b: the sign of b (Python's %). */                        \
    SCALAR_MATH_FUNCTION S scalar_remainder_##suffix(S a, S b, int *fault)               \
    {                                                                                    \
        if (b == 0) {                                                                    \
            *fault |= 1;                                                                 \
            return 0;                                                                    \
        }                                                                                \
        S rest = b == -1 ? 0 : (S)(a % b);                                               \
        return rest != 0 && (rest < 0) != (b < 0) ? (S)(rest + b) : rest;                \
    }                                                                                    \
    /* The quotient rounded down (Python's //). */                                       \
    SCALAR_MATH_FUNCTION S scalar_floor_divide_##suffix(S a, S b, int *fault)            \
    {                                                                                    \
        S quotient = scalar_truncate_divide_##suffix(a, b, fault);                       \
        int inexact = b != 0 && b != -1 && a % b != 0;                                   \
        return inexact && (a < 0) != (b < 0) ? (S)(quotient - 1) : quotient;             \
    }                                                                                    \
    /* Negative exponents: 1 to 1, -1 to 1 or -1, others to 0. */                        \
    SCALAR_MATH_FUNCTION S scalar_power_##suffix(S a, S b)                               \
    {                                                                                    \
        if (b < 0)                                                                       \
            return (S)(a == 1 ? 1 : a == -1 ? (b & 1 ? -1 : 1) : 0);                     \
        return scalar_square_multiply_##suffix(a, (U)b);                                 \
    }

SCALAR_MATH_SIGNED(i8, int8_t, uint32_t)
SCALAR_MATH_SIGNED(i16, int16_t, uint32_t)
SCALAR_MATH_SIGNED(i32, int32_t, uint32_t)
SCALAR_MATH_SIGNED(i64, int64_t, uint64_t)

SCALAR_MATH_RING(u8, uint8_t, uint32_t)
SCALAR_MATH_FUNCTION uint8_t scalar_absolute_u8(uint8_t a)
{
    return a;
}
SCALAR_MATH_FUNCTION uint8_t scalar_truncate_divide_u8(uint8_t a, uint8_t b, int *fault)
{
    *fault |= b == 0;
    return b == 0 ? 0 : (uint8_t)(a / b);
}
SCALAR_MATH_FUNCTION uint8_t scalar_floor_divide_u8(uint8_t a, uint8_t b, int *fault)
{
    return scalar_truncate_divide_u8(a, b, fault);
}
SCALAR_MATH_FUNCTION uint8_t scalar_remainder_u8(uint8_t a, uint8_t b, int *fault)
{
    *fault |= b == 0;
    return b == 0 ? 0 : (uint8_t)(a % b);
}
SCALAR_MATH_FUNCTION uint8_t scalar_power_u8(uint8_t a, uint8_t b)
{
    return scalar_square_multiply_u8(a, b);
}

// Floats. floor_divide and remainder are PyTorch's (c10::div_floor_floating, at::native
// remainder): built on the exact fmod, so that a == floor_divide(a, b) * b + remainder(a,
// b) as nearly as it can. power gives exactly a * a for the exponent 2, on every device.
// sigmoid never overflows: where 1 / (1 + exp(-a)) gives 0, results are still subnormal.
#define SCALAR_MATH_FLOAT(suffix, F, f)                                                  \
    SCALAR_MATH_FUNCTION F scalar_floor_divide_##suffix(F a, F b)                        \
    {                                                                                    \
        if (b == 0)                                                                      \
            return a / b;                                                                \
        F rest = fmod##f(a, b);                                                          \
        F quotient = (a - rest) / b;                                                     \
        if (rest != 0 && (b < 0) != (rest < 0))                                          \
            quotient -= 1;                                                               \
        if (quotient == 0)                                                               \
            return copysign##f((F)0, a / b);                                             \
        F down = floor##f(quotient);                                                     \
        return quotient - down > (F)0.5 ? down + 1 : down;                               \
    }                                                                                    \
    SCALAR_MATH_FUNCTION F scalar_remainder_##suffix(F a, F b)                           \
    {                                                                                    \
        F rest = fmod##f(a, b);                                                          \
        return rest != 0 && (b < 0) != (rest < 0) ? rest + b : rest;                     \
    }                                                                                    \
    SCALAR_MATH_FUNCTION F scalar_power_##suffix(F a, F b)                               \
    {                                                                                    \
        return b == 2 ? a * a : pow##f(a, b);                                            \
    }                                                                                    \
    SCALAR_MATH_FUNCTION F scalar_sigmoid_##suffix(F a)                                  \
    {                                                                                    \
        F e = exp##f(-fabs##f(a));                                                       \
        return (a < 0 ? e : 1) / (1 + e);                                                \
    }

SCALAR_MATH_FLOAT(f32, float, f)
SCALAR_MATH_FLOAT(f64, double, )

// ---- erf and gelu. For float32 in double, without branches so that loops vectorize, and
// with nothing of libm's, so that every device gives the same bits.

// e^-y for y in [0, 745): y = n ln 2 - r, |r| <= ln 2 / 2, then the series. Adding 1.5 *
// 2^52 rounds to an integer, which then stands in the low bits.
SCALAR_MATH_FUNCTION double scalar_exp_of_minus(double y)
{
    const double shift = 0x1.8p52;
    double shifted = y * 0x1.71547652b82fep0 + shift, n = shifted - shift, power;
    double r = (n * 0x1.62e42feep-1 - y) + n * 0x1.a39ef35793c76p-33;
    double e = 1.0 / 362880;
    e = e * r + 1.0 / 40320;
    e = e * r + 1.0 / 5040;
    e = e * r + 1.0 / 720;
    e = e * r + 1.0 / 120;
    e = e * r + 1.0 / 24;
    e = e * r + 1.0 / 6;
    e = e * r + 0.5;
    e = (e * r + 1.0) * r + 1.0;
    uint64_t bits;
    memcpy(&bits, &shifted, sizeof bits);
    bits = (1023 - bits) << 52;
    memcpy(&power, &bits, sizeof power);
    return e * power;
}

// erfc(x) for x >= 0 within 1e-10 of itself; 0 from 10.5 on, where a float32 is. A
// polynomial in (x - 3) / (x + 3) fitted to (1 + 2 x) e^(x^2) erfc(x).
SCALAR_MATH_FUNCTION double scalar_erfc_for_f32(double x)
{
    double near = x < 10.5 ? x : 10.5, t = (near - 3) / (near + 3);
    double p = 0x1.174aa346a3c3bp-15;
    p = p * t + 0x1.0a65a39df18f6p-13;
    p = p * t - 0x1.0a4e7927a77f3p-13;
    p = p * t - 0x1.9e8a9abfe78cbp-11;
    p = p * t + 0x1.f08b7d46899e1p-10;
    p = p * t + 0x1.4c1e465092050p-9;
    p = p * t - 0x1.857693cd812eep-6;
    p = p * t + 0x1.17c967db37cb9p-4;
    p = p * t - 0x1.e88b8321a2291p-4;
    p = p * t + 0x1.09836ce34002ep-3;
    p = p * t - 0x1.85a15b7198814p-5;
    p = p * t - 0x1.15c084d9375f0p-3;
    p = p * t + 0x1.40c522d7d5649p+0;
    return x < 10.5 ? scalar_exp_of_minus(near * near) * p / (1 + near + near) : 0;
}

// An odd polynomial up to 1, 1 - erfc beyond.
SCALAR_MATH_FUNCTION float scalar_erf_f32(float a)
{
    double x = fabs((double)a), z = x * x, p = -0x1.44978351f7f8fp-17;
    p = p * z + 0x1.d89ff48366f07p-14;
    p = p * z - 0x1.bcd3a493d07ebp-11;
    p = p * z + 0x1.562abda879246p-8;
    p = p * z - 0x1.b829d0bbf0189p-6;
    p = p * z + 0x1.ce2f0955e8c22p-4;
    p = p * z - 0x1.81274666d37f9p-2;
    p = p * z + 0x1.20dd750405436p+0;
    double y = x < 1 ? x * p : 1 - scalar_erfc_for_f32(x);
    return a != a ? a : (float)copysign(y, (double)a);
}

// a / 2 erfc(-a / sqrt 2): a times the share of the normal distribution below it. NaN at
// -infinity, as PyTorch has it.
SCALAR_MATH_FUNCTION float scalar_gelu_f32(float a)
{
    double tail = scalar_erfc_for_f32(fabs((double)a) * 0.7071067811865476);
    return (float)(0.5 * (double)a * (a < 0 ? tail : 2 - tail));
}

SCALAR_MATH_FUNCTION double scalar_erf_f64(double a)
{
    return erf(a);
}

// What rounding -a / sqrt 2 loses would show many times over in erfc of large numbers: it
// is put back with the derivative.
SCALAR_MATH_FUNCTION double scalar_gelu_f64(double a)
{
    double x = a * -0.7071067811865476;
    double lost = fma(a, -0.7071067811865476, -x) + a * 4.833646656726457e-17;
    double slope = fabs(x) < 40 ? 1.1283791670955126 * exp(-x * x) * lost : 0;
    return 0.5 * a * (erfc(x) - slope);
}
#endif
