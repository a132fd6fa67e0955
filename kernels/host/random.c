// SPDX-License-Identifier: Apache-2.0
// Fills memory from a host generator (kernels/host/random.h): the cut, uniforms,
// integers, bernoulli and permutations. Normals are in random_normal.c.
#include "kernels/host/random.h"

#include <math.h>
#include <string.h>

enum {
    UNIT = 16384, // elements; a multiple of the 16 that normals are made in
    CHUNK = 1024, // elements at a time, in L1
};

// ---- The cut. A permutation has two rows of units: one that writes 0, 1, 2, ... and one
// that exchanges.
static int64_t units_of(int64_t count)
{
    return count / UNIT + (count % UNIT != 0);
}

void random_prepare(struct random_cut *cut, const struct random *random)
{
    bool permutation = random->form == RANDOM_PERMUTATION;
    cut->random = *random;
    cut->units = units_of(random->count) * (permutation ? 2 : 1);
    cut->units = cut->units > 0 ? cut->units : 1;
    cut->unit_nanoseconds = UNIT * (random->form == RANDOM_NORMAL ? 10.0 : 4.0);
}

// ---- Uniforms
#if defined(__x86_64__)
extern const struct level_randoms level_randoms_v2, level_randoms_v3, level_randoms_v4;
static const struct level_randoms *const tables[] = {&level_randoms_v2, &level_randoms_v3,
                                                     &level_randoms_v4};
#else
extern const struct level_randoms level_randoms_base;
static const struct level_randoms *const tables[] = {&level_randoms_base};
#endif

const struct level_randoms *random_level(void)
{
    int i = 0;
    while (level_available(i) != level_current() && level_available(i + 1) != NULL)
        i++;
    return tables[i];
}

// As many low bits of a word as the type has digits. The bounds and their distance are
// rounded to the type, the rest is float32.
static void uniform16(enum dtype dtype, uint16_t *to, const uint32_t *words, int64_t n,
                      float low, float high)
{
    uint32_t mask = dtype == DTYPE_FLOAT16 ? 0x7FF : 0xFF;
    float step = dtype == DTYPE_FLOAT16 ? 0x1p-11f : 0x1p-8f;
    low = random_round16(dtype, low);
    float range = random_round16(dtype, random_round16(dtype, high) - low);
    for (int64_t i = 0; i < n; i++)
        to[i] = random_store16(dtype, fmaf((float)(words[i] & mask) * step, range, low));
}

void random_fill_uniform(struct generator *generator, enum dtype dtype, void *to,
                         int64_t count, double low, double high)
{
    const struct level_randoms *level = random_level();
    uint32_t words[2 * CHUNK];
    char *at = to;
    for (int64_t n; count > 0; count -= n, at += n * dtype_size(dtype)) {
        n = count < CHUNK ? count : CHUNK;
        generator_words(generator, words, dtype == DTYPE_FLOAT64 ? 2 * n : n);
        if (dtype == DTYPE_FLOAT64)
            level->uniform64((double *)(void *)at, words, n, low, high);
        else if (dtype == DTYPE_FLOAT32)
            level->uniform32((float *)(void *)at, words, n, (float)low, (float)high);
        else
            uniform16(dtype, (uint16_t *)(void *)at, words, n, (float)low, (float)high);
    }
}

// ---- Integers: made as int64 and converted.
static void store_integers(enum dtype dtype, void *to, int64_t *values, int64_t n)
{
    const struct level_casts *casts = level_current()->casts;
    int fault = 0;
    if (dtype == slot_dtype(dtype)) {
        casts->cast[dtype][DTYPE_INT64](to, values, NULL, NULL, n, &fault);
        return;
    }
    float wide[CHUNK];
    casts->cast[DTYPE_FLOAT32][DTYPE_INT64](wide, values, NULL, NULL, n, &fault);
    casts->narrow[dtype](to, wide, NULL, NULL, n, &fault);
}

// words[i] or pairs of them modulo range (0: none), plus base.
static void make_integers(int64_t *values, const uint32_t *words, int64_t n, bool wide,
                          uint64_t range, int64_t base)
{
    if (!wide && range != 0 && range <= UINT32_MAX) { // a 32-bit division is faster
        uint32_t divisor = (uint32_t)range;
        for (int64_t i = 0; i < n; i++)
            values[i] = (int64_t)((uint64_t)base + words[i] % divisor);
        return;
    }
    for (int64_t i = 0; i < n; i++) {
        uint64_t word = wide ? (uint64_t)words[2 * i] << 32 | words[2 * i + 1] : words[i];
        values[i] = (int64_t)((uint64_t)base + (range == 0 ? word : word % range));
    }
}

static void run_integers(const struct random *random, char *to, int64_t count,
                         uint64_t range, int64_t base)
{
    bool wide = random_is_wide(random);
    uint32_t words[2 * CHUNK];
    int64_t values[CHUNK];
    for (int64_t n; count > 0; count -= n, to += n * dtype_size(random->dtype)) {
        n = count < CHUNK ? count : CHUNK;
        generator_words(random->generator, words, wide ? 2 * n : n);
        make_integers(values, words, n, wide, range, base);
        store_integers(random->dtype, to, values, n);
    }
}

static void run_bernoulli(const struct random *random, char *to, int64_t count)
{
    double uniforms[CHUNK];
    int64_t values[CHUNK];
    for (int64_t n; count > 0; count -= n, to += n * dtype_size(random->dtype)) {
        n = count < CHUNK ? count : CHUNK;
        random_fill_uniform(random->generator, DTYPE_FLOAT64, uniforms, n, 0, 1);
        for (int64_t i = 0; i < n; i++)
            values[i] = uniforms[i] < random->low;
        store_integers(random->dtype, to, values, n);
    }
}

// ---- Permutations
static void run_iota(const struct random *random, int64_t first, int64_t count)
{
    int64_t values[CHUNK], end = first + count;
    int size = dtype_size(random->dtype);
    for (int64_t n; first < end; first += n) {
        n = end - first < CHUNK ? end - first : CHUNK;
        for (int64_t i = 0; i < n; i++)
            values[i] = first + i;
        store_integers(random->dtype, (char *)random->output + first * size, values, n);
    }
}

#define EXCHANGE(T)                                                                      \
    {                                                                                    \
        T *a = (T *)random->output + first + i, *b = a + steps[i], kept = *a;            \
        *a = *b;                                                                         \
        *b = kept;                                                                       \
        break;                                                                           \
    }

static void exchange(const struct random *random, int64_t first, const int64_t *steps,
                     int64_t i)
{
    switch (dtype_size(random->dtype)) {
    case 1:
        EXCHANGE(uint8_t)
    case 2:
        EXCHANGE(uint16_t)
    case 4:
        EXCHANGE(uint32_t)
    default:
        EXCHANGE(uint64_t)
    }
}

// Exchanges element i with i + (a word modulo what is left), for i in [first, first +
// count) without the last element of all. Where to is known before what: far elements are
// fetched ahead.
static void run_exchanges(const struct random *random, int64_t first, int64_t count)
{
    uint32_t words[CHUNK];
    int64_t steps[CHUNK], last = random->count - 1, end = first + count;
    int size = dtype_size(random->dtype);
    end = end < last ? end : last;
    for (int64_t n; first < end; first += n) {
        n = end - first < CHUNK ? end - first : CHUNK;
        generator_words(random->generator, words, n);
        for (int64_t i = 0; i < n; i++) {
            steps[i] = (int64_t)(words[i] % (uint64_t)(random->count - first - i));
            __builtin_prefetch((char *)random->output + (first + i + steps[i]) * size, 1);
        }
        for (int64_t i = 0; i < n; i++)
            exchange(random, first, steps, i);
    }
}

void random_run(const struct random_cut *cut, int64_t unit)
{
    const struct random *random = &cut->random;
    int64_t row = units_of(random->count), first = (row > 0 ? unit % row : 0) * UNIT;
    int64_t rest = random->count - first, count = rest < UNIT ? rest : UNIT;
    char *to = (char *)random->output + first * dtype_size(random->dtype);
    switch (random->form) {
    case RANDOM_UNIFORM:
        random_fill_uniform(random->generator, random->dtype, to, count, random->low,
                            random->high);
        break;
    case RANDOM_NORMAL:
        random_run_normal(random, first, count);
        break;
    case RANDOM_INTEGERS:
        run_integers(random, to, count, random->range, random->base);
        break;
    case RANDOM_BITS:
        run_integers(random, to, count, random_modulus(random->dtype), 0);
        break;
    case RANDOM_BERNOULLI:
        run_bernoulli(random, to, count);
        break;
    case RANDOM_PERMUTATION:
        if (unit < row)
            run_iota(random, first, count);
        else
            run_exchanges(random, first, count);
        break;
    }
}
