// SPDX-License-Identifier: Apache-2.0
// Normals of a host generator, by the two roads of PyTorch's CPU code: fewer than 16
// elements come one by one in float64; more are made of uniforms of the dtype in blocks
// of 16, where a count that is no multiple of 16 draws its last 16 elements again.
#include "kernels/host/random.h"

#include <math.h>

enum { BLOCK = 16 };

// ---- One by one
static double next_uniform(struct generator *generator)
{
    double uniform;
    random_fill_uniform(generator, DTYPE_FLOAT64, &uniform, 1, 0, 1);
    return uniform;
}

static double next_normal(struct generator *generator)
{
    if (generator->has_spare) {
        generator->has_spare = false;
        return generator->spare;
    }
    double turn = next_uniform(generator), u = next_uniform(generator);
    double radius = sqrt(-2.0 * log(1.0 - u)), angle = 2.0 * M_PI * turn;
    generator->spare = radius * sin(angle);
    generator->has_spare = true;
    return radius * cos(angle);
}

static void run_small(const struct random *random)
{
    int size = dtype_size(random->dtype);
    for (int64_t i = 0; i < random->count; i++) {
        struct scalar value = {.kind = SCALAR_FLOAT};
        value.f = fma(next_normal(random->generator), random->high, random->low);
        union element element = scalar_to_element(value, random->dtype, NULL);
        memcpy((char *)random->output + i * size, element.bytes, (size_t)size);
    }
}

// ---- Blocks
static void blocks64(double *values, int64_t blocks, double mean, double deviation)
{
    for (int64_t block = 0; block < blocks; block++, values += BLOCK)
        for (int j = 0; j < BLOCK / 2; j++) {
            double radius = sqrt(-2.0 * log(1.0 - values[j]));
            double angle = 2.0 * M_PI * values[j + BLOCK / 2];
            values[j] = fma(radius * cos(angle), deviation, mean);
            values[j + BLOCK / 2] = fma(radius * sin(angle), deviation, mean);
        }
}

// bfloat16: every operation rounds to it. float16: only uniforms, radii, angles and
// results do, and the last product and sum are one operation.
static inline float rounded(enum dtype dtype, float value)
{
    return dtype == DTYPE_BFLOAT16 ? random_round16(dtype, value) : value;
}

static inline float scaled(enum dtype dtype, float value, float deviation, float mean)
{
    if (dtype == DTYPE_FLOAT16)
        return fmaf(value, deviation, mean);
    return random_round16(dtype, value * deviation) + mean;
}

static void blocks16(enum dtype dtype, uint16_t *values, int64_t blocks, float mean,
                     float deviation)
{
    mean = random_round16(dtype, mean);
    deviation = random_round16(dtype, deviation);
    for (int64_t block = 0; block < blocks; block++, values += BLOCK)
        for (int j = 0; j < BLOCK / 2; j++) {
            uint16_t *first = &values[j], *second = &values[j + BLOCK / 2];
            float u = random_round16(dtype, 1.0f - random_load16(dtype, *first));
            float squared = rounded(dtype, -2.0f * rounded(dtype, logf(u)));
            float radius = random_round16(dtype, sqrtf(squared));
            double turns = (double)random_load16(dtype, *second);
            float angle = random_round16(dtype, (float)(2.0 * M_PI * turns));
            float x = rounded(dtype, radius * rounded(dtype, cosf(angle)));
            float y = rounded(dtype, radius * rounded(dtype, sinf(angle)));
            *first = random_store16(dtype, scaled(dtype, x, deviation, mean));
            *second = random_store16(dtype, scaled(dtype, y, deviation, mean));
        }
}

static void transform(const struct random *random, void *at, int64_t blocks)
{
    double mean = random->low, deviation = random->high;
    if (random->dtype == DTYPE_FLOAT32)
        random_level()->normal32(at, blocks, (float)mean, (float)deviation);
    else if (random->dtype == DTYPE_FLOAT64)
        blocks64(at, blocks, mean, deviation);
    else
        blocks16(random->dtype, at, blocks, (float)mean, (float)deviation);
}

void random_run_normal(const struct random *random, int64_t first, int64_t count)
{
    if (random->count < BLOCK) {
        run_small(random);
        return;
    }
    int size = dtype_size(random->dtype);
    char *at = (char *)random->output + first * size;
    random_fill_uniform(random->generator, random->dtype, at, count, 0, 1);
    transform(random, at, count / BLOCK);
    if (first + count < random->count || count % BLOCK == 0)
        return;
    at = (char *)random->output + (random->count - BLOCK) * size;
    random_fill_uniform(random->generator, random->dtype, at, BLOCK, 0, 1);
    transform(random, at, 1);
}
