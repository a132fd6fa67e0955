// SPDX-License-Identifier: Apache-2.0
// One loop per elementwise opcode and slot type, from the expressions of ops.def
// (map_template.h).
#include "kernels/host/level/elementary.h"
#include "kernels/host/level/level.h"
#include "kernels/scalar_math.h"

// a < 0 on unsigned types, in expressions for all types.
#pragma GCC diagnostic ignored "-Wtype-limits"

// HAS_<class>_<set>: keeps its arguments if the set of dtypes of a row contains the
// class.
#define HAS_BOOL_ALL(...) __VA_ARGS__
#define HAS_BOOL_NUMBER(...)
#define HAS_BOOL_INTEGER(...)
#define HAS_BOOL_FLOAT(...)
#define HAS_BOOL_BOOL(...) __VA_ARGS__
#define HAS_BOOL_BITS(...) __VA_ARGS__
#define HAS_INTEGER_ALL(...) __VA_ARGS__
#define HAS_INTEGER_NUMBER(...) __VA_ARGS__
#define HAS_INTEGER_INTEGER(...) __VA_ARGS__
#define HAS_INTEGER_FLOAT(...)
#define HAS_INTEGER_BOOL(...)
#define HAS_INTEGER_BITS(...) __VA_ARGS__
#define HAS_FLOAT_ALL(...) __VA_ARGS__
#define HAS_FLOAT_NUMBER(...) __VA_ARGS__
#define HAS_FLOAT_INTEGER(...)
#define HAS_FLOAT_FLOAT(...) __VA_ARGS__
#define HAS_FLOAT_BOOL(...)
#define HAS_FLOAT_BITS(...)

#define PICK_BOOL(integer, floating) integer
#define PICK_INTEGER(integer, floating) integer
#define PICK_FLOAT(integer, floating) floating

// RESULT_<rule>: the type of the result and how the expression becomes it.
#define RESULT_PROMOTE T
#define RESULT_FLOATING T
#define RESULT_SELECT T
#define RESULT_COMPARE uint8_t
#define RESULT_LOGICAL uint8_t

#define SIGNATURE                                                                        \
    (void *result, const void *x, const void *y, const void *z, int64_t n, int *fault)

// Operand a of SELECT is bool, all others have type T.
#define OPERAND_A_PROMOTE T
#define OPERAND_A_FLOATING T
#define OPERAND_A_COMPARE T
#define OPERAND_A_LOGICAL T
#define OPERAND_A_SELECT uint8_t

#define LOOP_1(rule, expression)                                                         \
    {                                                                                    \
        RESULT_##rule *r = result;                                                       \
        const T *xs = x;                                                                 \
        IGNORE_ALIASES                                                                   \
        for (int64_t i = 0; i < n; i++) {                                                \
            const T a = xs[i];                                                           \
            r[i] = (RESULT_##rule)FINISH(expression);                                    \
        }                                                                                \
    }
#define LOOP_2(rule, expression)                                                         \
    {                                                                                    \
        RESULT_##rule *r = result;                                                       \
        const T *xs = x, *ys = y;                                                        \
        IGNORE_ALIASES                                                                   \
        for (int64_t i = 0; i < n; i++) {                                                \
            const T a = xs[i], b = ys[i];                                                \
            r[i] = (RESULT_##rule)FINISH(expression);                                    \
        }                                                                                \
    }
#define LOOP_3(rule, expression)                                                         \
    {                                                                                    \
        RESULT_##rule *r = result;                                                       \
        const OPERAND_A_##rule *xs = x;                                                  \
        const T *ys = y, *zs = z;                                                        \
        IGNORE_ALIASES                                                                   \
        for (int64_t i = 0; i < n; i++) {                                                \
            const OPERAND_A_##rule a = xs[i];                                            \
            const T b = ys[i], c = zs[i];                                                \
            r[i] = (RESULT_##rule)FINISH(expression);                                    \
        }                                                                                \
    }

#define PASTE_2(a, b) a##_##b
#define PASTE(a, b) PASTE_2(a, b)

#define M(name) name
#define T uint8_t
#define SUFFIX boolean
#define FN(name) scalar_##name##_u8
#define CLASS BOOL
#define FINISH(expression) ((expression) != 0)
#include "kernels/host/level/map_template.h"

#define FINISH(expression) (expression)
#define CLASS INTEGER
#define T uint8_t
#define SUFFIX u8
#define FN(name) scalar_##name##_u8
#include "kernels/host/level/map_template.h"

#define FINISH(expression) (expression)
#define CLASS INTEGER
#define T int8_t
#define SUFFIX i8
#define FN(name) scalar_##name##_i8
#include "kernels/host/level/map_template.h"

#define FINISH(expression) (expression)
#define CLASS INTEGER
#define T int16_t
#define SUFFIX i16
#define FN(name) scalar_##name##_i16
#include "kernels/host/level/map_template.h"

#define FINISH(expression) (expression)
#define CLASS INTEGER
#define T int32_t
#define SUFFIX i32
#define FN(name) scalar_##name##_i32
#include "kernels/host/level/map_template.h"

#define FINISH(expression) (expression)
#define CLASS INTEGER
#define T int64_t
#define SUFFIX i64
#define FN(name) scalar_##name##_i64
#include "kernels/host/level/map_template.h"

#define FINISH(expression) (expression)
#define CLASS FLOAT
#define T double
#define SUFFIX f64
#define FN(name) scalar_##name##_f64
#include "kernels/host/level/map_template.h"

// M(name) becomes libm's name##f, but for the functions of elementary.h.
#define expf elementary_exp
#define expm1f elementary_expm1
#define tanhf elementary_tanh
#define logf elementary_log
#define log1pf elementary_log1p
#define log2f elementary_log2
#define scalar_sigmoid_f32 elementary_sigmoid
#undef M
#define M(name) name##f
#define FINISH(expression) (expression)
#define CLASS FLOAT
#define T float
#define SUFFIX f32
#define FN(name) scalar_##name##_f32
#include "kernels/host/level/map_template.h"

const struct level_maps LEVEL_TABLE(level_maps, LEVEL) = {{
    [DTYPE_BOOL] = maps_boolean,
    [DTYPE_UINT8] = maps_u8,
    [DTYPE_INT8] = maps_i8,
    [DTYPE_INT16] = maps_i16,
    [DTYPE_INT32] = maps_i32,
    [DTYPE_INT64] = maps_i64,
    [DTYPE_FLOAT32] = maps_f32,
    [DTYPE_FLOAT64] = maps_f64,
}};
