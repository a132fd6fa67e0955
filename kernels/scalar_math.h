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
#endif
