// SPDX-License-Identifier: Apache-2.0
// The scalar expressions of ops.def as one device function for each computation class.
// Included three times by interpret.h, which defines
//
//     T, FN(name), M(name)          as scalar_math.h says
//     CLASS(name)                   name with the class's suffix
//     EXPRESSION(integer, floating) the one for this class
//
// No include guard. Expressions that compile to a long sequence are called, the others
// expanded for each element of a thread.

// r[e] for one element, for the operations that is_long() names.
static __device__ __noinline__ T CLASS(evaluate_long)(unsigned op, T a, T b, int *fault)
{
    T r = 0;
    switch (op) {
#define MAP(name, arity, dtypes, rule, integer, floating, signature, build, doc)         \
    LONG_CASE(name, EXPRESSION(integer, floating))
#define HELPER(name, arity, dtypes, rule, integer, floating)                             \
    LONG_CASE(name, EXPRESSION(integer, floating))
#define LONG_CASE(name, expression)                                                      \
    case MAP_##name:                                                                     \
        if constexpr (is_long(MAP_##name)) {                                             \
            [[maybe_unused]] const T c = 0;                                              \
            r = static_cast<T>(expression);                                              \
        }                                                                                \
        break;
#include "kernels/ops.def"
#undef LONG_CASE
    default:
        break;
    }
    (void)a, (void)b, (void)fault;
    return r;
}

// result[e] = op(left[e], right[e], third[e]); faults has bit e set where an element
// divided by zero.
static __device__ __forceinline__ unsigned
CLASS(evaluate)(unsigned op, const T *left, const T *right, const T *third, T *result)
{
    unsigned faults = 0;
    switch (op) {
#define MAP(name, arity, dtypes, rule, integer, floating, signature, build, doc)         \
    EACH_CASE(name, EXPRESSION(integer, floating))
#define HELPER(name, arity, dtypes, rule, integer, floating)                             \
    EACH_CASE(name, EXPRESSION(integer, floating))
#define EACH_CASE(name, expression)                                                      \
    case MAP_##name:                                                                     \
        _Pragma("unroll") for (int e = 0; e < PROGRAM_ELEMENTS; e++)                     \
        {                                                                                \
            [[maybe_unused]] const T a = left[e], b = right[e], c = third[e];            \
            int fault_of_one = 0;                                                        \
            [[maybe_unused]] int *const fault = &fault_of_one;                           \
            if constexpr (is_long(MAP_##name))                                           \
                result[e] = CLASS(evaluate_long)(MAP_##name, a, b, fault);               \
            else                                                                         \
                result[e] = static_cast<T>(expression);                                  \
            faults |= static_cast<unsigned>(fault_of_one) << e;                          \
        }                                                                                \
        break;
#include "kernels/ops.def"
#undef EACH_CASE
    default: // MAP_CAST
        _Pragma("unroll") for (int e = 0; e < PROGRAM_ELEMENTS; e++) result[e] = left[e];
        break;
    }
    return faults;
}
