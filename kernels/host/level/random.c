// SPDX-License-Identifier: Apache-2.0
// The loops of random numbers (kernels/host/random.h). fmaf and fma are instructions
// where the level has them and libm's exact functions elsewhere: the same bits.
#include "kernels/host/level/level.h"
#include "kernels/host/random.h"
#include "kernels/random_math.h"

static void uniform32(float *to, const uint32_t *words, int64_t n, float low, float high)
{
    float range = high - low;
    if (low == 0 && range == 1) { // the product and sum below are exact
        for (int64_t i = 0; i < n; i++)
            to[i] = (float)(int32_t)(words[i] & 0xFFFFFFu) * 0x1p-24f;
        return;
    }
    for (int64_t i = 0; i < n; i++)
        to[i] = fmaf((float)(int32_t)(words[i] & 0xFFFFFFu) * 0x1p-24f, range, low);
}

static void uniform64(double *to, const uint32_t *words, int64_t n, double low,
                      double high)
{
    double range = high - low;
    for (int64_t i = 0; i < n; i++) {
        int64_t bits = (int64_t)(words[2 * i] & 0x1FFFFFu) << 32 | words[2 * i + 1];
        to[i] = fma((double)bits * 0x1p-53, range, low);
    }
}

static void normal32(float *values, int64_t blocks, float mean, float deviation)
{
    for (int64_t block = 0; block < blocks; block++, values += 16)
        for (int j = 0; j < 8; j++) {
            float radius = sqrtf(-2.0f * random_log(1.0f - values[j]));
            struct random_pair pair = random_sincos(6.2831855f * values[j + 8]);
            values[j] = fmaf(radius * pair.cosine, deviation, mean);
            values[j + 8] = fmaf(radius * pair.sine, deviation, mean);
        }
}

const struct level_randoms LEVEL_TABLE(level_randoms, LEVEL) = {
    .uniform32 = uniform32,
    .uniform64 = uniform64,
    .normal32 = normal32,
};
