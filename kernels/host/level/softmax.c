// SPDX-License-Identifier: Apache-2.0
// The loops of softmax but for the exponential (kernels/host/softmax.h). Long sums and
// maxima of one column go through a fixed number of lanes, the same at every level.
#include "kernels/host/level/level.h"
#include "kernels/host/softmax.h"

enum { MAXIMUM_LANES = 32, SUM_LANES = 8 };

#define LARGER(a, b) ((b) > (a) ? (b) : (a))

#define SOFTMAX(T)                                                                       \
    static T maximum_of_##T(const T *x, int64_t n, T largest)                            \
    {                                                                                    \
        T lanes[MAXIMUM_LANES];                                                          \
        int64_t i = 0;                                                                   \
        for (int lane = 0; lane < MAXIMUM_LANES; lane++)                                 \
            lanes[lane] = largest;                                                       \
        for (; i + MAXIMUM_LANES <= n; i += MAXIMUM_LANES)                               \
            for (int lane = 0; lane < MAXIMUM_LANES; lane++)                             \
                lanes[lane] = LARGER(lanes[lane], x[i + lane]);                          \
        for (int lane = 0; i < n; i++, lane++)                                           \
            lanes[lane] = LARGER(lanes[lane], x[i]);                                     \
        for (int lane = 0; lane < MAXIMUM_LANES; lane++)                                 \
            largest = LARGER(largest, lanes[lane]);                                      \
        return largest;                                                                  \
    }                                                                                    \
    static void maximum_##T(void *maxima, const void *values, int64_t rows,              \
                            int64_t columns)                                             \
    {                                                                                    \
        T *largest = maxima;                                                             \
        const T *x = values;                                                             \
        if (columns == 1)                                                                \
            *largest = maximum_of_##T(x, rows, *largest);                                \
        else                                                                             \
            for (int64_t r = 0; r < rows; r++, x += columns)                             \
                for (int64_t c = 0; c < columns; c++)                                    \
                    largest[c] = LARGER(largest[c], x[c]);                               \
    }                                                                                    \
    static void subtract_##T(void *result, const void *values, const void *maxima,       \
                             int64_t rows, int64_t columns)                              \
    {                                                                                    \
        T *to = result;                                                                  \
        const T *x = values, *largest = maxima;                                          \
        if (columns == 1) {                                                              \
            T one = *largest;                                                            \
            IGNORE_ALIASES                                                               \
            for (int64_t r = 0; r < rows; r++)                                           \
                to[r] = x[r] - one;                                                      \
            return;                                                                      \
        }                                                                                \
        for (int64_t r = 0; r < rows; r++, x += columns, to += columns) {                \
            IGNORE_ALIASES                                                               \
            for (int64_t c = 0; c < columns; c++)                                        \
                to[c] = x[c] - largest[c];                                               \
        }                                                                                \
    }                                                                                    \
    static double sum_of_##T(const T *x, int64_t n)                                      \
    {                                                                                    \
        double lanes[SUM_LANES] = {0}, sum = 0;                                          \
        int64_t i = 0;                                                                   \
        for (; i + SUM_LANES <= n; i += SUM_LANES)                                       \
            for (int lane = 0; lane < SUM_LANES; lane++)                                 \
                lanes[lane] += (double)x[i + lane];                                      \
        for (int lane = 0; i < n; i++, lane++)                                           \
            lanes[lane] += (double)x[i];                                                 \
        for (int lane = 0; lane < SUM_LANES; lane++)                                     \
            sum += lanes[lane];                                                          \
        return sum;                                                                      \
    }                                                                                    \
    static void sum_##T(double *sums, const void *values, int64_t rows, int64_t columns) \
    {                                                                                    \
        const T *x = values;                                                             \
        if (columns == 1)                                                                \
            *sums += sum_of_##T(x, rows);                                                \
        else                                                                             \
            for (int64_t r = 0; r < rows; r++, x += columns)                             \
                for (int64_t c = 0; c < columns; c++)                                    \
                    sums[c] += (double)x[c];                                             \
    }                                                                                    \
    static void divide_##T(void *result, const void *values, const double *sums,         \
                           int64_t rows, int64_t columns)                                \
    {                                                                                    \
        T *to = result;                                                                  \
        const T *x = values;                                                             \
        if (columns == 1) {                                                              \
            T one = (T)*sums;                                                            \
            IGNORE_ALIASES                                                               \
            for (int64_t r = 0; r < rows; r++)                                           \
                to[r] = x[r] / one;                                                      \
            return;                                                                      \
        }                                                                                \
        for (int64_t r = 0; r < rows; r++, x += columns, to += columns) {                \
            IGNORE_ALIASES                                                               \
            for (int64_t c = 0; c < columns; c++)                                        \
                to[c] = x[c] / (T)sums[c];                                               \
        }                                                                                \
    }

SOFTMAX(float)
SOFTMAX(double)

extern const struct level_softmaxes LEVEL_TABLE(level_softmaxes, LEVEL);
const struct level_softmaxes LEVEL_TABLE(level_softmaxes, LEVEL) = {
    .float32 = {maximum_float, subtract_float, sum_float, divide_float},
    .float64 = {maximum_double, subtract_double, sum_double, divide_double},
};
