// SPDX-License-Identifier: Apache-2.0
// Random numbers on the host (kernels/random.h): the cut of a kernel into units, and the
// loops of level/random.c.
//
// A generator is one stream, so units run one after another, in order, each a fixed range
// of elements; the numbers do not depend on how many units make a slice. Every level
// gives the same bits. Threads: a cut belongs to one thread at a time.
#ifndef TENSORD_KERNELS_HOST_RANDOM_H
#define TENSORD_KERNELS_HOST_RANDOM_H

#include "kernels/host/levels.h"
#include "kernels/random.h"

struct random_cut {
    struct random random;
    int64_t units;
    double unit_nanoseconds; // estimated
};

// random is valid (random_is_valid).
void random_prepare(struct random_cut *cut, const struct random *random);
// Unit `unit`, all before it having run.
void random_run(const struct random_cut *cut, int64_t unit);

// ---- random_normal.c: RANDOM_NORMAL, elements [first, first + count) of the kernel's.
void random_run_normal(const struct random *random, int64_t first, int64_t count);
// ---- random.c: uniforms in [low, high) of a float dtype, one after another.
void random_fill_uniform(struct generator *generator, enum dtype dtype, void *to,
                         int64_t count, double low, double high);

// ---- float16 and bfloat16 as float32.
static inline float random_load16(enum dtype dtype, uint16_t bits)
{
    return dtype == DTYPE_FLOAT16 ? float16_to_float(bits) : bfloat16_to_float(bits);
}
static inline uint16_t random_store16(enum dtype dtype, float value)
{
    return dtype == DTYPE_FLOAT16 ? float16_from_float(value)
                                  : bfloat16_from_float(value);
}
static inline float random_round16(enum dtype dtype, float value)
{
    return random_load16(dtype, random_store16(dtype, value));
}

// ---- level/random.c. PyTorch's uniform and normal loops with their fused operations.
struct level_randoms {
    // to[i] = the low 24 bits of words[i] / 2^24 * (high - low) + low.
    void (*uniform32)(float *to, const uint32_t *words, int64_t n, float low, float high);
    // to[i] = the low 53 bits of (words[2i], words[2i + 1]) / 2^53 * (high - low) + low.
    void (*uniform64)(double *to, const uint32_t *words, int64_t n, double low,
                      double high);
    // Blocks of 16 uniforms become normals: j and j + 8 make a pair.
    void (*normal32)(float *values, int64_t blocks, float mean, float deviation);
};
// Those of the current level.
const struct level_randoms *random_level(void);
#endif
