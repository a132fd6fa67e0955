// SPDX-License-Identifier: Apache-2.0
// The host's random words: MT19937 (Matsumoto and Nishimura, 1998) as PyTorch seeds it,
// and seeding for both kinds of generator. No state of its own; any thread.
#include "kernels/random.h"

enum { MT_SHIFT = 397 };

void generator_seed(struct generator *generator, bool is_host, uint64_t seed)
{
    memset(generator, 0, sizeof *generator);
    generator->is_host = is_host;
    generator->seed = seed;
    if (!is_host)
        return;
    uint32_t word = (uint32_t)seed;
    generator->state[0] = word;
    for (uint32_t i = 1; i < MT_WORDS; i++) {
        word = 1812433253u * (word ^ word >> 30) + i;
        generator->state[i] = word;
    }
    generator->next = MT_WORDS;
}

static inline uint32_t twisted(uint32_t word, uint32_t following, uint32_t shifted)
{
    uint32_t joined = (word & 0x80000000u) | (following & 0x7FFFFFFFu);
    return shifted ^ joined >> 1 ^ (-(following & 1) & 0x9908B0DFu);
}

// The next MT_WORDS words of state, each from the ones 0, 1 and 397 further on in the
// cycle. Three loops without a modulo, which vectorize.
static void twist(uint32_t *state)
{
    enum { REST = MT_WORDS - MT_SHIFT };
    for (int i = 0; i < REST; i++)
        state[i] = twisted(state[i], state[i + 1], state[i + MT_SHIFT]);
    for (int i = REST; i < MT_WORDS - 1; i++)
        state[i] = twisted(state[i], state[i + 1], state[i - REST]);
    state[MT_WORDS - 1] = twisted(state[MT_WORDS - 1], state[0], state[MT_SHIFT - 1]);
}

static inline uint32_t tempered(uint32_t word)
{
    word ^= word >> 11;
    word ^= word << 7 & 0x9D2C5680u;
    word ^= word << 15 & 0xEFC60000u;
    return word ^ word >> 18;
}

void generator_words(struct generator *generator, uint32_t *words, int64_t count)
{
    while (count > 0) {
        if (generator->next == MT_WORDS) {
            twist(generator->state);
            generator->next = 0;
        }
        int64_t left = MT_WORDS - generator->next, n = count < left ? count : left;
        const uint32_t *state = generator->state + generator->next;
        for (int64_t i = 0; i < n; i++)
            words[i] = tempered(state[i]);
        generator->next += (int)n;
        words += n;
        count -= n;
    }
}

uint32_t generator_word(struct generator *generator)
{
    uint32_t word;
    generator_words(generator, &word, 1);
    return word;
}
