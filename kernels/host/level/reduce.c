// SPDX-License-Identifier: Apache-2.0
// Reductions of blocks. Sums and products of floats follow the lanes of host/pass.h to
// the letter; integers, minima and maxima do not depend on order and are written as the
// compiler vectorizes them best.
#include "kernels/host/level/level.h"

#include <math.h>

// ---- Keys: integers in the order of floats, NaN beyond every number in the direction
// that wins, so that NaN and zeros need no care in the loops. Without branches, or they
// would not vectorize.
#define KEYS(suffix, F, I, HIGHEST, LOWEST)                                              \
    static inline I key_##suffix(F value, I for_nan)                                     \
    {                                                                                    \
        I bits, is_nan = -(I)(value != value);                                           \
        memcpy(&bits, &value, sizeof bits);                                              \
        bits ^= (bits >> (sizeof bits * 8 - 1) & HIGHEST);                               \
        return (bits & ~is_nan) | (for_nan & is_nan);                                    \
    }                                                                                    \
    static inline I low_key_##suffix(F value)                                            \
    {                                                                                    \
        return key_##suffix(value, LOWEST);                                              \
    }                                                                                    \
    static inline I high_key_##suffix(F value)                                           \
    {                                                                                    \
        return key_##suffix(value, HIGHEST);                                             \
    }                                                                                    \
    /* Adding +0 makes -0 equal to +0. */                                                \
    static inline I arg_low_key_##suffix(F value)                                        \
    {                                                                                    \
        return low_key_##suffix(value + 0);                                              \
    }                                                                                    \
    static inline I arg_high_key_##suffix(F value)                                       \
    {                                                                                    \
        return high_key_##suffix(value + 0);                                             \
    }                                                                                    \
    static void finish_##suffix(void *accumulators, int64_t count)                       \
    {                                                                                    \
        I *keys = accumulators;                                                          \
        for (int64_t i = 0; i < count; i++) {                                            \
            I bits = keys[i] ^ (keys[i] >> (sizeof bits * 8 - 1) & HIGHEST);             \
            F value;                                                                     \
            memcpy(&value, &bits, sizeof value);                                         \
            value = value != value ? (F)NAN : value;                                     \
            memcpy(&keys[i], &value, sizeof value);                                      \
        }                                                                                \
    }

KEYS(f32, float, int32_t, INT32_MAX, INT32_MIN)
KEYS(f64, double, int64_t, INT64_MAX, INT64_MIN)

#define ADD(a, b) ((a) + (b))
#define MULTIPLY(a, b) ((a) * (b))
#define SMALLER(a, b) ((b) < (a) ? (b) : (a))
#define LARGER(a, b) ((b) > (a) ? (b) : (a))

#define PLAIN(value) (value)

// ---- What all reducers share. A: accumulator; V: values; LOAD: value to accumulator.
#define REDUCER_COMMON(name, A, V, IDENTITY, LOAD, OP)                                   \
    static void name##_start(void *accumulators, int64_t count)                          \
    {                                                                                    \
        A *to = accumulators;                                                            \
        for (int64_t i = 0; i < count; i++)                                              \
            to[i] = IDENTITY;                                                            \
    }                                                                                    \
    static void name##_columns(void *lanes, const void *values, int64_t rows,            \
                               int64_t columns)                                          \
    {                                                                                    \
        const V *from = values;                                                          \
        const int64_t turn = REDUCE_LANES * columns;                                     \
        A *to = lanes;                                                                   \
        int64_t r = 0;                                                                   \
        for (; r + 2 * REDUCE_LANES <= rows; r += 2 * REDUCE_LANES, from += 2 * turn) {  \
            IGNORE_ALIASES                                                               \
            for (int64_t i = 0; i < turn; i++) {                                         \
                const A first = LOAD(from[i]), second = LOAD(from[turn + i]);            \
                const A sum = OP(to[i], first);                                          \
                to[i] = OP(sum, second);                                                 \
            }                                                                            \
        }                                                                                \
        for (; r < rows; r += REDUCE_LANES, from += turn) {                              \
            const int64_t some = rows - r < REDUCE_LANES ? rows - r : REDUCE_LANES;      \
            IGNORE_ALIASES                                                               \
            for (int64_t i = 0; i < some * columns; i++) {                               \
                const A value = LOAD(from[i]);                                           \
                to[i] = OP(to[i], value);                                                \
            }                                                                            \
        }                                                                                \
    }                                                                                    \
    static void name##_merge(void *left, const void *right, int64_t count)               \
    {                                                                                    \
        A *to = left;                                                                    \
        const A *from = right;                                                           \
        IGNORE_ALIASES                                                                   \
        for (int64_t i = 0; i < count; i++)                                              \
            to[i] = OP(to[i], from[i]);                                                  \
    }                                                                                    \
    static void name##_fold(void *lanes, int64_t columns)                                \
    {                                                                                    \
        A *to = lanes;                                                                   \
        for (int64_t half = REDUCE_LANES / 2; half > 0; half /= 2)                       \
            name##_merge(to, to + half * columns, half * columns);                       \
    }

#define REDUCER_TABLE(name, type, finishing)                                             \
    static const struct level_reducer name = {                                           \
        type,        name##_start, name##_rows, name##_columns,                          \
        name##_fold, name##_merge, finishing};

// ---- Ordered: eight lanes, in the registers of every level.
#define ORDERED_REDUCER(name, V, IDENTITY, OP)                                           \
    REDUCER_COMMON(name, double, V, IDENTITY, PLAIN, OP)                                 \
    static void name##_rows(void *accumulators, const void *values, int64_t rows,        \
                            int64_t n)                                                   \
    {                                                                                    \
        double *to = accumulators;                                                       \
        const V *from = values;                                                          \
        for (int64_t r = 0; r < rows; r++, from += n) {                                  \
            double lanes[REDUCE_LANES];                                                  \
            int64_t i = 0;                                                               \
            for (int k = 0; k < REDUCE_LANES; k++)                                       \
                lanes[k] = IDENTITY;                                                     \
            for (; i + REDUCE_LANES <= n; i += REDUCE_LANES)                             \
                for (int k = 0; k < REDUCE_LANES; k++)                                   \
                    lanes[k] = OP(lanes[k], (double)from[i + k]);                        \
            for (int k = 0; i + k < n; k++)                                              \
                lanes[k] = OP(lanes[k], (double)from[i + k]);                            \
            for (int half = REDUCE_LANES / 2; half > 0; half /= 2)                       \
                for (int k = 0; k < half; k++)                                           \
                    lanes[k] = OP(lanes[k], lanes[k + half]);                            \
            to[r] = lanes[0];                                                            \
        }                                                                                \
    }                                                                                    \
    REDUCER_TABLE(name, DTYPE_FLOAT64, nothing)

// ---- Free of order: one accumulator, which the compiler spreads over vectors.
#define FREE_REDUCER(name, A, V, IDENTITY, LOAD, OP, type, finishing)                    \
    REDUCER_COMMON(name, A, V, IDENTITY, LOAD, OP)                                       \
    static void name##_rows(void *accumulators, const void *values, int64_t rows,        \
                            int64_t n)                                                   \
    {                                                                                    \
        A *to = accumulators;                                                            \
        const V *from = values;                                                          \
        for (int64_t r = 0; r < rows; r++, from += n) {                                  \
            A best = IDENTITY;                                                           \
            for (int64_t i = 0; i < n; i++) {                                            \
                const A value = LOAD(from[i]);                                           \
                best = OP(best, value);                                                  \
            }                                                                            \
            to[r] = best;                                                                \
        }                                                                                \
    }                                                                                    \
    REDUCER_TABLE(name, type, finishing)

static void nothing(void *accumulators, int64_t count) {}
// Wrapping sums and products: unsigned.
FREE_REDUCER(sum_i64, uint64_t, uint64_t, 0, PLAIN, ADD, DTYPE_INT64, nothing)
FREE_REDUCER(prod_i64, uint64_t, uint64_t, 1, PLAIN, MULTIPLY, DTYPE_INT64, nothing)
ORDERED_REDUCER(sum_f32, float, 0, ADD)
ORDERED_REDUCER(sum_f64, double, 0, ADD)
ORDERED_REDUCER(prod_f32, float, 1, MULTIPLY)
ORDERED_REDUCER(prod_f64, double, 1, MULTIPLY)

FREE_REDUCER(min_u8, uint8_t, uint8_t, UINT8_MAX, PLAIN, SMALLER, DTYPE_UINT8, nothing)
FREE_REDUCER(max_u8, uint8_t, uint8_t, 0, PLAIN, LARGER, DTYPE_UINT8, nothing)
FREE_REDUCER(min_i8, int8_t, int8_t, INT8_MAX, PLAIN, SMALLER, DTYPE_INT8, nothing)
FREE_REDUCER(max_i8, int8_t, int8_t, INT8_MIN, PLAIN, LARGER, DTYPE_INT8, nothing)
FREE_REDUCER(min_i16, int16_t, int16_t, INT16_MAX, PLAIN, SMALLER, DTYPE_INT16, nothing)
FREE_REDUCER(max_i16, int16_t, int16_t, INT16_MIN, PLAIN, LARGER, DTYPE_INT16, nothing)
FREE_REDUCER(min_i32, int32_t, int32_t, INT32_MAX, PLAIN, SMALLER, DTYPE_INT32, nothing)
FREE_REDUCER(max_i32, int32_t, int32_t, INT32_MIN, PLAIN, LARGER, DTYPE_INT32, nothing)
FREE_REDUCER(min_i64, int64_t, int64_t, INT64_MAX, PLAIN, SMALLER, DTYPE_INT64, nothing)
FREE_REDUCER(max_i64, int64_t, int64_t, INT64_MIN, PLAIN, LARGER, DTYPE_INT64, nothing)
FREE_REDUCER(min_f32, int32_t, float, INT32_MAX, low_key_f32, SMALLER, DTYPE_FLOAT32,
             finish_f32)
FREE_REDUCER(max_f32, int32_t, float, INT32_MIN, high_key_f32, LARGER, DTYPE_FLOAT32,
             finish_f32)
FREE_REDUCER(min_f64, int64_t, double, INT64_MAX, low_key_f64, SMALLER, DTYPE_FLOAT64,
             finish_f64)
FREE_REDUCER(max_f64, int64_t, double, INT64_MIN, high_key_f64, LARGER, DTYPE_FLOAT64,
             finish_f64)

// ---- argmin, argmax. A row first finds its best key (vectorized), and looks for it only
// if that beats what was seen.
#define ARG_REDUCER(name, A, V, IDENTITY, LOAD, OP, BEATS)                               \
    static void name##_rows(void *best, int64_t *index, const void *values,              \
                            int64_t rows, int64_t n, int64_t base)                       \
    {                                                                                    \
        A *bests = best;                                                                 \
        const V *from = values;                                                          \
        for (int64_t r = 0; r < rows; r++, from += n) {                                  \
            A found = IDENTITY;                                                          \
            for (int64_t i = 0; i < n; i++) {                                            \
                const A value = LOAD(from[i]);                                           \
                found = OP(found, value);                                                \
            }                                                                            \
            if (index[r] >= 0 && !(found BEATS bests[r]))                                \
                continue;                                                                \
            int64_t i = 0;                                                               \
            while (LOAD(from[i]) != found)                                               \
                i++;                                                                     \
            bests[r] = found;                                                            \
            index[r] = base + i;                                                         \
        }                                                                                \
    }                                                                                    \
    static void name##_columns(void *best, int64_t *index, const void *values,           \
                               int64_t rows, int64_t columns, int64_t base)              \
    {                                                                                    \
        A *bests = best;                                                                 \
        const V *from = values;                                                          \
        for (int64_t r = 0; r < rows; r++, from += columns) {                            \
            IGNORE_ALIASES                                                               \
            for (int64_t c = 0; c < columns; c++) {                                      \
                A key = LOAD(from[c]);                                                   \
                int take = (index[c] < 0) | (key BEATS bests[c]);                        \
                bests[c] = take ? key : bests[c];                                        \
                index[c] = take ? base + r : index[c];                                   \
            }                                                                            \
        }                                                                                \
    }                                                                                    \
    static void name##_merge(void *best, int64_t *index, const void *other_best,         \
                             const int64_t *other_index, int64_t count)                  \
    {                                                                                    \
        A *bests = best;                                                                 \
        const A *others = other_best;                                                    \
        for (int64_t i = 0; i < count; i++) {                                            \
            int later = others[i] == bests[i] && other_index[i] > index[i];              \
            if (index[i] < 0 || others[i] BEATS bests[i] ||                              \
                (others[i] == bests[i] && !later)) {                                     \
                bests[i] = others[i];                                                    \
                index[i] = other_index[i];                                               \
            }                                                                            \
        }                                                                                \
    }                                                                                    \
    static const struct level_arg_reducer name = {name##_rows, name##_columns,           \
                                                  name##_merge};

ARG_REDUCER(argmin_u8, uint8_t, uint8_t, UINT8_MAX, PLAIN, SMALLER, <)
ARG_REDUCER(argmax_u8, uint8_t, uint8_t, 0, PLAIN, LARGER, >)
ARG_REDUCER(argmin_i8, int8_t, int8_t, INT8_MAX, PLAIN, SMALLER, <)
ARG_REDUCER(argmax_i8, int8_t, int8_t, INT8_MIN, PLAIN, LARGER, >)
ARG_REDUCER(argmin_i16, int16_t, int16_t, INT16_MAX, PLAIN, SMALLER, <)
ARG_REDUCER(argmax_i16, int16_t, int16_t, INT16_MIN, PLAIN, LARGER, >)
ARG_REDUCER(argmin_i32, int32_t, int32_t, INT32_MAX, PLAIN, SMALLER, <)
ARG_REDUCER(argmax_i32, int32_t, int32_t, INT32_MIN, PLAIN, LARGER, >)
ARG_REDUCER(argmin_i64, int64_t, int64_t, INT64_MAX, PLAIN, SMALLER, <)
ARG_REDUCER(argmax_i64, int64_t, int64_t, INT64_MIN, PLAIN, LARGER, >)
ARG_REDUCER(argmin_f32, int32_t, float, INT32_MAX, arg_low_key_f32, SMALLER, <)
ARG_REDUCER(argmax_f32, int32_t, float, INT32_MIN, arg_high_key_f32, LARGER, >)
ARG_REDUCER(argmin_f64, int64_t, double, INT64_MAX, arg_low_key_f64, SMALLER, <)
ARG_REDUCER(argmax_f64, int64_t, double, INT64_MIN, arg_high_key_f64, LARGER, >)

#define BY_TYPE(name)                                                                    \
    {                                                                                    \
        [DTYPE_BOOL] = &name##_u8, [DTYPE_UINT8] = &name##_u8,                           \
        [DTYPE_INT8] = &name##_i8, [DTYPE_INT16] = &name##_i16,                          \
        [DTYPE_INT32] = &name##_i32, [DTYPE_INT64] = &name##_i64,                        \
        [DTYPE_FLOAT32] = &name##_f32, [DTYPE_FLOAT64] = &name##_f64                     \
    }

const struct level_reducers LEVEL_TABLE(level_reducers, LEVEL) = {
    .of = {[REDUCER_SUM] = {[DTYPE_INT64] = &sum_i64,
                            [DTYPE_FLOAT32] = &sum_f32,
                            [DTYPE_FLOAT64] = &sum_f64},
           [REDUCER_PROD] = {[DTYPE_INT64] = &prod_i64,
                             [DTYPE_FLOAT32] = &prod_f32,
                             [DTYPE_FLOAT64] = &prod_f64},
           [REDUCER_MIN] = BY_TYPE(min),
           [REDUCER_MAX] = BY_TYPE(max)},
    .minimum = BY_TYPE(argmin),
    .maximum = BY_TYPE(argmax),
};
