// SPDX-License-Identifier: Apache-2.0
// Conversions between slot types by the rule of pass.h, and between float32 and the
// 16-bit floats.
#include "kernels/host/level/level.h"

#if defined(__F16C__)
#include <immintrin.h>
#endif

#define SIGNATURE                                                                        \
    (void *result, const void *x, const void *y, const void *z, int64_t n, int *fault)

static inline int64_t truncate_float(double value)
{
    return value >= -0x1p63 && value < 0x1p63 ? (int64_t)value : INT64_MIN;
}

#define FUNCTION_LOOP(name, FROM, TO, expression)                                        \
    static void name SIGNATURE                                                           \
    {                                                                                    \
        const FROM *from = x;                                                            \
        TO *to = result;                                                                 \
        IGNORE_ALIASES                                                                   \
        for (int64_t i = 0; i < n; i++) {                                                \
            const FROM value = from[i];                                                  \
            to[i] = (TO)(expression);                                                    \
        }                                                                                \
    }

// From floats to integers. Where all values fit int32, a loop that vectorizes; the
// results are the same.
#define FLOAT_TO_INTEGER(name, FROM, TO)                                                 \
    FUNCTION_LOOP(near_##name, FROM, TO, (int32_t)value)                                 \
    FUNCTION_LOOP(far_##name, FROM, TO, truncate_float(value))                           \
    static void name SIGNATURE                                                           \
    {                                                                                    \
        const FROM *from = x;                                                            \
        int outside = 0;                                                                 \
        for (int64_t i = 0; i < n; i++)                                                  \
            outside |= !(from[i] > -0x1p31 && from[i] < 0x1p31);                         \
        if (outside)                                                                     \
            far_##name(result, x, y, z, n, fault);                                       \
        else                                                                             \
            near_##name(result, x, y, z, n, fault);                                      \
    }

#define FROM_INTEGER(from, FROM)                                                         \
    FUNCTION_LOOP(from##_to_boolean, FROM, uint8_t, value != 0)                          \
    FUNCTION_LOOP(from##_to_u8, FROM, uint8_t, value)                                    \
    FUNCTION_LOOP(from##_to_i8, FROM, int8_t, value)                                     \
    FUNCTION_LOOP(from##_to_i16, FROM, int16_t, value)                                   \
    FUNCTION_LOOP(from##_to_i32, FROM, int32_t, value)                                   \
    FUNCTION_LOOP(from##_to_i64, FROM, int64_t, value)                                   \
    FUNCTION_LOOP(from##_to_f32, FROM, float, value)                                     \
    FUNCTION_LOOP(from##_to_f64, FROM, double, value)

#define FROM_FLOAT(from, FROM)                                                           \
    FUNCTION_LOOP(from##_to_boolean, FROM, uint8_t, value != 0)                          \
    FLOAT_TO_INTEGER(from##_to_u8, FROM, uint8_t)                                        \
    FLOAT_TO_INTEGER(from##_to_i8, FROM, int8_t)                                         \
    FLOAT_TO_INTEGER(from##_to_i16, FROM, int16_t)                                       \
    FLOAT_TO_INTEGER(from##_to_i32, FROM, int32_t)                                       \
    FLOAT_TO_INTEGER(from##_to_i64, FROM, int64_t)                                       \
    FUNCTION_LOOP(from##_to_f32, FROM, float, value)                                     \
    FUNCTION_LOOP(from##_to_f64, FROM, double, value)

FROM_INTEGER(u8, uint8_t) // bool, too
FROM_INTEGER(i8, int8_t)
FROM_INTEGER(i16, int16_t)
FROM_INTEGER(i32, int32_t)
FROM_INTEGER(i64, int64_t)
FROM_FLOAT(f32, float)
FROM_FLOAT(f64, double)

// ---- float16. The instructions and the functions of dtype.c agree bit for bit, NaNs
// included.
static void widen_f16 SIGNATURE
{
    const uint16_t *from = x;
    float *to = result;
    int64_t i = 0;
#if defined(__F16C__)
    for (; i + 8 <= n; i += 8) {
        __m128i bits = _mm_loadu_si128((const __m128i *)(const void *)(from + i));
        _mm256_storeu_ps(to + i, _mm256_cvtph_ps(bits));
    }
#endif
    for (; i < n; i++)
        to[i] = float16_to_float(from[i]);
}

static void narrow_f16 SIGNATURE
{
    const float *from = x;
    uint16_t *to = result;
    int64_t i = 0;
#if defined(__F16C__)
    for (; i + 8 <= n; i += 8) {
        __m128i bits =
            _mm256_cvtps_ph(_mm256_loadu_ps(from + i), _MM_FROUND_TO_NEAREST_INT);
        _mm_storeu_si128((__m128i *)(void *)(to + i), bits);
    }
#endif
    for (; i < n; i++)
        to[i] = float16_from_float(from[i]);
}

static void round_f16 SIGNATURE
{
    const float *from = x;
    float *to = result;
    int64_t i = 0;
#if defined(__F16C__)
    for (; i + 8 <= n; i += 8) {
        __m128i bits =
            _mm256_cvtps_ph(_mm256_loadu_ps(from + i), _MM_FROUND_TO_NEAREST_INT);
        _mm256_storeu_ps(to + i, _mm256_cvtph_ps(bits));
    }
#endif
    for (; i < n; i++)
        to[i] = float16_to_float(float16_from_float(from[i]));
}

// ---- bfloat16, on the bits so that the loops vectorize.
static inline uint32_t round_bits(uint32_t word)
{
    uint32_t rounded = (word + 0x7FFFu + (word >> 16 & 1)) & 0xFFFF0000u;
    return (word & 0x7FFFFFFFu) > 0x7F800000u ? (word & 0xFFFF0000u) | 0x400000u
                                              : rounded;
}

FUNCTION_LOOP(widen_bf16, uint16_t, uint32_t, (uint32_t)value << 16)
FUNCTION_LOOP(narrow_bf16, uint32_t, uint16_t, round_bits(value) >> 16)
FUNCTION_LOOP(round_bf16, uint32_t, uint32_t, round_bits(value))

#define TO(to)                                                                           \
    {                                                                                    \
        [DTYPE_BOOL] = u8_to_##to, [DTYPE_UINT8] = u8_to_##to,                           \
        [DTYPE_INT8] = i8_to_##to, [DTYPE_INT16] = i16_to_##to,                          \
        [DTYPE_INT32] = i32_to_##to, [DTYPE_INT64] = i64_to_##to,                        \
        [DTYPE_FLOAT32] = f32_to_##to, [DTYPE_FLOAT64] = f64_to_##to                     \
    }

const struct level_casts LEVEL_TABLE(level_casts, LEVEL) = {
    .cast = {[DTYPE_BOOL] = TO(boolean),
             [DTYPE_UINT8] = TO(u8),
             [DTYPE_INT8] = TO(i8),
             [DTYPE_INT16] = TO(i16),
             [DTYPE_INT32] = TO(i32),
             [DTYPE_INT64] = TO(i64),
             [DTYPE_FLOAT32] = TO(f32),
             [DTYPE_FLOAT64] = TO(f64)},
    .widen = {[DTYPE_FLOAT16] = widen_f16, [DTYPE_BFLOAT16] = widen_bf16},
    .narrow = {[DTYPE_FLOAT16] = narrow_f16, [DTYPE_BFLOAT16] = narrow_bf16},
    .round = {[DTYPE_FLOAT16] = round_f16, [DTYPE_BFLOAT16] = round_bf16},
};
