// SPDX-License-Identifier: Apache-2.0
// Products too small for a call of the BLAS to pay: plain loops, the sum over k in order,
// in the type the larger products accumulate in.
#include "kernels/host/gemm.h"
#include "kernels/host/level/level.h"

#include <string.h>

#define SAME(value) (value)

// E: element; W: sum; LOAD and STORE convert. A row of sums is one vector; b is copied
// with rows of that width.
#define TINY(name, E, W, LOAD, STORE)                                                    \
    typedef W name##_row __attribute__((vector_size(GEMM_TINY_EXTENT * sizeof(W))));     \
    static void name(const struct gemm *g, const char *a, const char *b, char *c)        \
    {                                                                                    \
        name##_row right[GEMM_TINY_EXTENT];                                              \
        for (int64_t l = 0; l < g->k; l++) {                                             \
            const E *from = (const E *)b + l * g->b_row;                                 \
            W row[GEMM_TINY_EXTENT] = {0};                                               \
            for (int64_t j = 0; j < g->n; j++)                                           \
                row[j] = (W)LOAD(from[j * g->b_column]);                                 \
            memcpy(&right[l], row, sizeof row);                                          \
        }                                                                                \
        for (int64_t i = 0; i < g->m; i++) {                                             \
            const E *left = (const E *)a + i * g->a_row;                                 \
            name##_row sums = {0};                                                       \
            for (int64_t l = 0; l < g->k; l++)                                           \
                sums += (W)LOAD(left[l * g->a_column]) * right[l];                       \
            E *to = (E *)c + i * g->c_row;                                               \
            for (int64_t j = 0; j < g->n; j++)                                           \
                to[j] = STORE(sums[j]);                                                  \
        }                                                                                \
    }

TINY(tiny_8, uint8_t, uint32_t, SAME, (uint8_t))
TINY(tiny_16, uint16_t, uint32_t, SAME, (uint16_t))
TINY(tiny_32, uint32_t, uint32_t, SAME, (uint32_t))
TINY(tiny_64, uint64_t, uint64_t, SAME, (uint64_t))
TINY(tiny_float16, uint16_t, float, float16_to_float, float16_from_float)
TINY(tiny_bfloat16, uint16_t, float, bfloat16_to_float, bfloat16_from_float)
TINY(tiny_float32, float, float, SAME, SAME)
TINY(tiny_float64, double, double, SAME, SAME)

extern const struct level_tinies LEVEL_TABLE(level_tinies, LEVEL);
const struct level_tinies LEVEL_TABLE(level_tinies, LEVEL) = {
    .of = {[DTYPE_UINT8] = tiny_8,
           [DTYPE_INT8] = tiny_8,
           [DTYPE_INT16] = tiny_16,
           [DTYPE_INT32] = tiny_32,
           [DTYPE_INT64] = tiny_64,
           [DTYPE_FLOAT16] = tiny_float16,
           [DTYPE_BFLOAT16] = tiny_bfloat16,
           [DTYPE_FLOAT32] = tiny_float32,
           [DTYPE_FLOAT64] = tiny_float64},
};
