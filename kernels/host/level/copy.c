// SPDX-License-Identifier: Apache-2.0
// Moving elements: strided to strided, broadcasts, index ramps and stores past the cache.
// By element size.
#include "kernels/host/level/level.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

// A row of n elements. Strides 1 and 0 are the common ones.
#define COPY(bits)                                                                       \
    static inline void copy_row_##bits(uint##bits##_t *to, int64_t to_step,              \
                                       const uint##bits##_t *from, int64_t from_step,    \
                                       int64_t n)                                        \
    {                                                                                    \
        if (to_step == 1 && from_step == 1) {                                            \
            memcpy(to, from, (size_t)n * sizeof *to);                                    \
        } else if (to_step == 1 && from_step == 0) {                                     \
            uint##bits##_t value = *from;                                                \
            for (int64_t i = 0; i < n; i++)                                              \
                to[i] = value;                                                           \
        } else if (to_step == 1) {                                                       \
            IGNORE_ALIASES                                                               \
            for (int64_t i = 0; i < n; i++)                                              \
                to[i] = from[i * from_step];                                             \
        } else {                                                                         \
            IGNORE_ALIASES                                                               \
            for (int64_t i = 0; i < n; i++)                                              \
                to[i * to_step] = from[i * from_step];                                   \
        }                                                                                \
    }                                                                                    \
    static void copy_##bits(void *to, int64_t to_row, int64_t to_column,                 \
                            const void *from, int64_t from_row, int64_t from_column,     \
                            int64_t rows, int64_t columns)                               \
    {                                                                                    \
        uint##bits##_t *target = to;                                                     \
        const uint##bits##_t *source = from;                                             \
        if (columns < rows && columns < 8) { /* the longer loop inside */                \
            for (int64_t c = 0; c < columns; c++)                                        \
                copy_row_##bits(target + c * to_column, to_row,                          \
                                source + c * from_column, from_row, rows);               \
            return;                                                                      \
        }                                                                                \
        for (int64_t r = 0; r < rows; r++)                                               \
            copy_row_##bits(target + r * to_row, to_column, source + r * from_row,       \
                            from_column, columns);                                       \
    }                                                                                    \
    static void fill_##bits(void *to, const void *element, int64_t n)                    \
    {                                                                                    \
        uint##bits##_t *target = to, value;                                              \
        memcpy(&value, element, sizeof value);                                           \
        for (int64_t i = 0; i < n; i++)                                                  \
            target[i] = value;                                                           \
    }

COPY(8)
COPY(16)
COPY(32)
COPY(64)

static void iota(int64_t *to, int64_t base, int64_t row_step, int64_t column_step,
                 int64_t rows, int64_t columns)
{
    for (int64_t r = 0; r < rows; r++) {
        int64_t first = base + r * row_step;
        int64_t *row = to + r * columns;
        for (int64_t c = 0; c < columns; c++)
            row[c] = first + c * column_step;
    }
}

#if defined(__x86_64__)
// Ordinary stores up to a 64-byte boundary, whole lines past the cache, the rest
// ordinary.
static void stream(void *to, const void *from, int64_t bytes)
{
    char *target = to;
    const char *source = from;
    int64_t head = (int64_t)(-(uintptr_t)target & 63);
    if (head > bytes)
        head = bytes;
    memcpy(target, source, (size_t)head);
    int64_t i = head;
    for (; i + 64 <= bytes; i += 64) {
#if defined(__AVX__)
        __m256i low = _mm256_loadu_si256((const __m256i *)(const void *)(source + i));
        __m256i high =
            _mm256_loadu_si256((const __m256i *)(const void *)(source + i + 32));
        _mm256_stream_si256((__m256i *)(void *)(target + i), low);
        _mm256_stream_si256((__m256i *)(void *)(target + i + 32), high);
#else
        for (int64_t j = i; j < i + 64; j += 16) {
            __m128i part = _mm_loadu_si128((const __m128i *)(const void *)(source + j));
            _mm_stream_si128((__m128i *)(void *)(target + j), part);
        }
#endif
    }
    memcpy(target + i, source + i, (size_t)(bytes - i));
}

static void stream_end(void)
{
    _mm_sfence();
}
#else
static void stream(void *to, const void *from, int64_t bytes)
{
    memcpy(to, from, (size_t)bytes);
}

static void stream_end(void) {}
#endif

const struct level_copies LEVEL_TABLE(level_copies, LEVEL) = {
    .copy = {copy_8, copy_16, copy_32, copy_64},
    .fill = {fill_8, fill_16, fill_32, fill_64},
    .iota = iota,
    .stream = stream,
    .stream_end = stream_end,
};
