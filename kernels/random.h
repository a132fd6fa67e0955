// SPDX-License-Identifier: Apache-2.0
// Random numbers: the state of a generator, and the kernel that fills memory from one.
//
// Host. The generator is MT19937, and the numbers are those of PyTorch 1.13's CPU
// generator, bit for bit where tests/cases/rng_reference.json promises it: one stream of
// 32-bit words, drawn in memory order; a normal left over from a pair waits in `spare`.
// float32 normals of 16 elements and more follow PyTorch's AVX2 code on every processor.
//
// CUDA. Philox 4x32-10 (Salmon et al., 2011), keyed by the seed. Element i belongs to
// lane i % PHILOX_LANES of a grid that is the same on every card, and takes word j % 4 of
// the block with counter (offset / 4 + j / 4, lane), where j = i / PHILOX_LANES; 64-bit
// numbers take two words, so that a block holds two. These are PyTorch's own numbers on a
// card with that many lanes (108 multiprocessors of 2048), and on any larger one for
// tensors up to that size, but for the last bits of normals. A permutation sorts the
// 64-bit numbers of its elements.
//
// Threads: a generator is a plain value that belongs to one thread at a time. Copy it to
// try something; assign the copy back to keep it.
#ifndef TENSORD_KERNELS_RANDOM_H
#define TENSORD_KERNELS_RANDOM_H

#include "kernels/base/dtype.h"

enum { MT_WORDS = 624, PHILOX_LANES = 108 * 2048 };

struct generator {
    bool is_host;
    uint64_t seed; // as given, for initial_seed()
    // host
    uint32_t state[MT_WORDS];
    int next; // words of state already drawn
    bool has_spare;
    double spare;
    // cuda
    uint64_t offset; // 32-bit words that every lane has drawn; a multiple of 4
};

// As torch.manual_seed: only the low 32 bits reach the host's engine; any spare normal is
// dropped, the offset is 0. A negative seed is passed as seed + 2^64.
void generator_seed(struct generator *generator, bool is_host, uint64_t seed);
// Host: the next 32-bit word.
uint32_t generator_word(struct generator *generator);
// Host: the next count words.
void generator_words(struct generator *generator, uint32_t *words, int64_t count);

enum random_form {
    RANDOM_UNIFORM,     // [low, high); float dtypes
    RANDOM_NORMAL,      // low: mean, high: standard deviation; float dtypes
    RANDOM_INTEGERS,    // base + a word modulo range, converted to the dtype. range 0
                        // means 2^64
    RANDOM_PERMUTATION, // of 0 ... count - 1, converted to the dtype
    RANDOM_BERNOULLI,   // 1 with probability low, else 0
    RANDOM_BITS,        // random_() without bounds: 0 to the dtype's largest integer, to
                        // 2^digits for floats
};

// Fills `output`, contiguous device memory of count >= 0 elements. The generator is that
// of the same kind of device and must outlive the plan. On the host it advances while
// slices run; on cuda its offset advances when the plan is made, by 4 for every 4 *
// PHILOX_LANES elements begun (2 * PHILOX_LANES of 64-bit numbers). A plan that could not
// be made leaves it alone.
struct random {
    enum random_form form;
    enum dtype dtype;
    int64_t count;
    void *output;
    double low, high;
    int64_t base;
    uint64_t range;
    struct generator *generator;
};

// Whether the elements of a kernel are made of 64-bit numbers (two words each) rather
// than of single words: float64 uniforms and normals; integers of a dtype that can hold
// them, where range >= 2^32 (PyTorch 1.13; releases after 2.6 do from 2^28 on);
// permutations on cuda. Host bernoulli is always of float64 uniforms.
static inline bool random_is_wide(const struct random *random)
{
    enum dtype dtype = random->dtype;
    switch (random->form) {
    case RANDOM_INTEGERS:
        return (dtype == DTYPE_INT64 || dtype == DTYPE_FLOAT64 ||
                dtype == DTYPE_FLOAT32 || dtype == DTYPE_BFLOAT16) &&
               random->range - 1 >= UINT32_MAX;
    case RANDOM_BITS:
        return dtype == DTYPE_INT64 || dtype == DTYPE_FLOAT64;
    case RANDOM_PERMUTATION:
        return true;
    default:
        return dtype == DTYPE_FLOAT64;
    }
}

// Whether the form exists for the dtype.
static inline bool random_is_valid(const struct random *random)
{
    bool real = random->form == RANDOM_UNIFORM || random->form == RANDOM_NORMAL;
    return random->count >= 0 && (!real || dtype_is_float(random->dtype));
}

// RANDOM_BITS: numbers are taken modulo this.
static inline uint64_t random_modulus(enum dtype dtype)
{
    static const uint64_t moduli[DTYPE_COUNT] = {
        [DTYPE_BOOL] = 2,
        [DTYPE_UINT8] = 1 << 8,
        [DTYPE_INT8] = 1 << 7,
        [DTYPE_INT16] = 1 << 15,
        [DTYPE_INT32] = UINT64_C(1) << 31,
        [DTYPE_INT64] = UINT64_C(1) << 63,
        [DTYPE_FLOAT16] = (1 << 11) + 1,
        [DTYPE_BFLOAT16] = (1 << 8) + 1,
        [DTYPE_FLOAT32] = (1 << 24) + 1,
        [DTYPE_FLOAT64] = (UINT64_C(1) << 53) + 1,
    };
    return moduli[dtype];
}
#endif
