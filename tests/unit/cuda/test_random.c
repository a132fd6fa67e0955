// SPDX-License-Identifier: Apache-2.0
// Random numbers of the CUDA device: against what PyTorch prints on NVIDIA cards, against
// the rule of kernels/random.h (which word of which block an element gets) and plain
// formulas in double, and bit for bit against random_math.h on the host, so that a card,
// the simulator and another card agree. Philox itself has its known answers in
// unit/kernels/test_random.c.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/random_math.h"
#include "tests/unit/cuda/fixture.h"

enum { ONE_ROW = FIXTURE_SLOW ? 700 : 4 * PHILOX_LANES };

static struct generator generator;

// The numbers, in memory that the caller frees.
static void *draw(struct random random)
{
    int64_t bytes = random.count * dtype_size(random.dtype);
    void *data = malloc((size_t)bytes + 1), *block = fixture_block(bytes + 1);
    assert_non_null(data);
    random.output = block;
    random.generator = &generator;
    fixture_do(&(struct kernel){.form = KERNEL_RANDOM, .random = random});
    if (bytes > 0)
        fixture_take(block, data, bytes);
    else
        fixture_drop(block, bytes + 1);
    return data;
}

// ---- PyTorch's own: seed 0, two calls of rand(10), then randn(8, 8) with the seed
// again, to the four decimals it prints (T4, A100 and other cards).
static void test_published(void **state)
{
    static const double uniforms[20] = {
        0.3990, 0.5167, 0.0249, 0.9401, 0.9459, 0.7967, 0.4150, 0.8203, 0.2290, 0.9096,
        0.9722, 0.7910, 0.4690, 0.3300, 0.3345, 0.3783, 0.7640, 0.6405, 0.1103, 0.3594};
    static const double normals[24] = {
        -0.9247, -0.4253, -2.6438, 0.1452, -0.1209, -0.5797, -0.6229, -0.3284,
        -1.0745, -0.3631, -1.6711, 2.2655, 0.3117,  -0.1842, 1.2866,  1.1820,
        -0.1271, 1.2169,  1.4353,  1.0605, -0.4941, -1.4244, -0.7244, -1.2973};
    struct random kind = {RANDOM_UNIFORM, DTYPE_FLOAT32, 10, NULL, 0, 1, 0, 0, NULL};
    generator_seed(&generator, false, 0);
    for (int call = 0; call < 2; call++) {
        float *values = draw(kind);
        for (int i = 0; i < 10; i++)
            assert_true(fabs((double)values[i] - uniforms[10 * call + i]) < 6e-5);
        free(values);
        assert_int_equal(generator.offset, 4 * (call + 1));
    }
    generator_seed(&generator, false, 0);
    kind.form = RANDOM_NORMAL;
    kind.count = 64;
    float *values = draw(kind);
    for (int i = 0; i < 24; i++)
        assert_true(fabs((double)values[i] - normals[i]) < 6e-5);
    free(values);
}

// ---- The rule
// The block of element i, with words_each words an element, from an offset on.
static struct philox block_of(int64_t i, int words_each, uint64_t offset)
{
    int64_t lane = i % PHILOX_LANES, row = i / PHILOX_LANES * words_each / 4;
    uint64_t position = offset / 4 + (uint64_t)row;
    struct philox counter = {
        {(uint32_t)position, (uint32_t)(position >> 32), (uint32_t)lane, 0}};
    return philox_block(counter, generator.seed);
}

// The word of an element, and the 64-bit number and the 53 bits of one.
static uint32_t word_of(int64_t i, uint64_t offset)
{
    return block_of(i, 1, offset).words[i / PHILOX_LANES % 4];
}
static uint64_t pair_of(int64_t i, uint64_t offset)
{
    struct philox block = block_of(i, 2, offset);
    int first = (int)(i / PHILOX_LANES % 2 * 2);
    return (uint64_t)block.words[first] << 32 | block.words[first + 1];
}
static uint64_t bits53_of(int64_t i, uint64_t offset)
{
    uint64_t pair = pair_of(i, offset);
    return pair >> 32 ^ (pair & UINT32_MAX) << 21;
}

// Looks at some elements of a long array: all of the ends, others in steps.
static int64_t following(int64_t i, int64_t count)
{
    return i < 600 || i >= count - 600 ? i + 1 : i + 997 < count ? i + 997 : i + 1;
}

static void test_words(void **state)
{
    int64_t count = ONE_ROW + 1234;
    generator_seed(&generator, false, 0x123456789ABCDEF0);
    generator.offset = UINT64_C(0x3FFFFFFFC); // the counter's upper word comes into play
    uint64_t offset = generator.offset;
    uint32_t *words = draw(
        (struct random){.form = RANDOM_INTEGERS, .dtype = DTYPE_INT32, .count = count});
    for (int64_t i = 0; i < count; i = following(i, count))
        assert_int_equal(words[i], word_of(i, offset));
    free(words);
    assert_int_equal(generator.offset - offset, FIXTURE_SLOW ? 4 : 8);
    offset = generator.offset;
    uint64_t *pairs = draw(
        (struct random){.form = RANDOM_INTEGERS, .dtype = DTYPE_INT64, .count = count});
    for (int64_t i = 0; i < count; i = following(i, count))
        assert_int_equal(pairs[i], pair_of(i, offset));
    free(pairs);
    assert_int_equal(generator.offset - offset, FIXTURE_SLOW ? 4 : 12);
}

static void test_uniforms(void **state)
{
    static const double bounds[][2] = {{0, 1}, {-3, 0.5}, {2, 2}, {1000, 1001}};
    int64_t count = 3000;
    generator_seed(&generator, false, 7);
    for (enum dtype dtype = DTYPE_FLOAT16; dtype <= DTYPE_FLOAT64; dtype++)
        for (int b = 0; b < 4; b++) {
            double low = bounds[b][0], high = bounds[b][1];
            bool wide = dtype == DTYPE_FLOAT64;
            char rounded[8];
            fixture_set(rounded, dtype, 0, high); // bfloat16 has no 1001
            double top = fixture_get(rounded, dtype, 0);
            uint64_t offset = generator.offset;
            void *values = draw((struct random){.form = RANDOM_UNIFORM,
                                                .dtype = dtype,
                                                .count = count,
                                                .low = low,
                                                .high = high});
            double step = fixture_ulp(dtype, fmax(fabs(low), fabs(top)));
            for (int64_t i = 0; i < count; i++) {
                double u = wide ? ((double)bits53_of(i, offset) + 0.5) * 0x1p-53
                                : (word_of(i, offset) + 0.5) * 0x1p-32;
                double value = fixture_get(values, dtype, i);
                assert_true(value >= low && (value < top || low == top));
                double off = fabs(value - (low + u * (top - low)));
                assert_true(off <= step || (value == low && off >= top - low - step));
            }
            free(values);
        }
}

// Sine and cosine of a pair go to neighbouring words of a lane.
static double normal_of(int64_t i, bool wide, uint64_t offset)
{
    const double tau = 6.283185307179586;
    int word = (int)(i / PHILOX_LANES % (wide ? 2 : 4)), pair = word / 2 * 2;
    struct philox block = block_of(i, wide ? 2 : 1, offset);
    // float32 keeps 24 bits of a word, which matters where the logarithm is near 0.
    double u = (double)((float)block.words[pair] * 0x1p-32f + 0x1p-33f);
    double v = (double)((float)block.words[pair + 1] * 0x1p-32f + 0x1p-33f);
    if (wide) {
        const uint32_t *w = block.words;
        u = ((double)(w[0] ^ (uint64_t)w[1] << 21) + 0.5) * 0x1p-53;
        v = ((double)(w[2] ^ (uint64_t)w[3] << 21) + 0.5) * 0x1p-53;
    }
    double radius = sqrt(-2 * log(u));
    return word % 2 == 0 ? radius * sin(tau * v) : radius * cos(tau * v);
}

static void test_normals(void **state)
{
    generator_seed(&generator, false, 11);
    for (enum dtype dtype = DTYPE_FLOAT16; dtype <= DTYPE_FLOAT64; dtype++) {
        bool wide = dtype == DTYPE_FLOAT64;
        int64_t count = wide || dtype == DTYPE_FLOAT32 ? ONE_ROW + 99 : 2000;
        uint64_t offset = generator.offset;
        void *values = draw((struct random){
            .form = RANDOM_NORMAL, .dtype = dtype, .count = count, .low = 2, .high = 3});
        for (int64_t i = 0; i < count; i = following(i, count)) {
            double expected = 2 + 3 * normal_of(i, wide, offset);
            double step = wide ? 2e-14 : fmax(4e-6, fixture_ulp(dtype, expected));
            assert_true(fabs(fixture_get(values, dtype, i) - expected) <= step);
        }
        free(values);
    }
}

// The same bits as on the host, and so on every device.
static void test_normal_bits(void **state)
{
    enum { COUNT = 5000 };
    generator_seed(&generator, false, 12);
    float *values = draw((struct random){
        .form = RANDOM_NORMAL, .dtype = DTYPE_FLOAT32, .count = COUNT, .high = 1});
    double *wide = draw((struct random){
        .form = RANDOM_NORMAL, .dtype = DTYPE_FLOAT64, .count = COUNT, .high = 1});
    for (int64_t i = 0; i < COUNT; i++) {
        struct philox block = block_of(i, 1, 0);
        float u = (float)block.words[0] * 0x1p-32f + 0x1p-33f;
        float scale = 0x1p-32f * 6.2831855f;
        float angle = fmaf((float)block.words[1], scale, scale / 2);
        float narrow = random_sincos(angle).sine * sqrtf(-2.0f * random_log(u));
        assert_true(values[i] == narrow);
        const uint32_t *w = block.words;
        block = block_of(i, 2, 4);
        double a = (double)(w[0] ^ (uint64_t)w[1] << 21) * 0x1p-53 + 0x1p-54;
        double v = (double)(w[2] ^ (uint64_t)w[3] << 21) * 0x1p-52 + 0x1p-53;
        double expected = random_sincospi_f64(v).sine * sqrt(-2.0 * random_log_f64(a));
        assert_true(wide[i] == expected);
    }
    free(values);
    free(wide);
}

static void test_integers(void **state)
{
    enum { COUNT = 2000 };
    generator_seed(&generator, false, 5);
    for (enum dtype dtype = DTYPE_BOOL; dtype <= DTYPE_FLOAT64; dtype++) {
        int64_t base = dtype <= DTYPE_UINT8 ? 0 : -50;
        uint64_t range = dtype == DTYPE_BOOL ? 2 : 101, offset = generator.offset;
        void *values = draw((struct random){.form = RANDOM_INTEGERS,
                                            .dtype = dtype,
                                            .count = COUNT,
                                            .base = base,
                                            .range = range});
        for (int64_t i = 0; i < COUNT; i++)
            assert_true(fixture_get(values, dtype, i) ==
                        (double)base + (double)(word_of(i, offset) % range));
        free(values);
    }
    uint64_t range = (UINT64_C(1) << 40) + 7, offset = generator.offset;
    int64_t *wide = draw((struct random){.form = RANDOM_INTEGERS,
                                         .dtype = DTYPE_INT64,
                                         .count = COUNT,
                                         .base = INT64_MIN,
                                         .range = range});
    for (int64_t i = 0; i < COUNT; i++)
        assert_true(wide[i] == INT64_MIN + (int64_t)(pair_of(i, offset) % range));
    free(wide);
}

static void test_bits(void **state)
{
    enum { COUNT = 2000 };
    static const double largest[DTYPE_COUNT] = {1,      255,  127, 32767,  0x1p31 - 1,
                                                0x1p63, 2048, 256, 0x1p24, 0x1p53};
    generator_seed(&generator, false, 15);
    for (enum dtype dtype = DTYPE_BOOL; dtype <= DTYPE_FLOAT64; dtype++) {
        double most = 0;
        void *values =
            draw((struct random){.form = RANDOM_BITS, .dtype = dtype, .count = COUNT});
        for (int64_t i = 0; i < COUNT; i++) {
            double value = fixture_get(values, dtype, i);
            assert_true(value >= 0 && value <= largest[dtype]);
            most = fmax(most, value);
        }
        assert_true(most > 0.98 * largest[dtype]);
        free(values);
    }
}

static void test_bernoulli(void **state)
{
    enum { COUNT = 4000 };
    static const double chances[] = {0, 0.3, 1};
    generator_seed(&generator, false, 9);
    for (enum dtype dtype = DTYPE_BOOL; dtype <= DTYPE_FLOAT64; dtype++)
        for (int c = 0; c < 3; c++) {
            double sum = 0;
            void *values = draw((struct random){.form = RANDOM_BERNOULLI,
                                                .dtype = dtype,
                                                .count = COUNT,
                                                .low = chances[c]});
            for (int64_t i = 0; i < COUNT; i++) {
                double value = fixture_get(values, dtype, i);
                assert_true(value == 0 || value == 1);
                sum += value;
            }
            free(values);
            assert_true(c == 1 ? fabs(sum / COUNT - 0.3) < 0.04
                               : sum == chances[c] * COUNT);
        }
}

// ---- Permutations
static uint64_t sort_offset;
static int by_key(const void *a, const void *b)
{
    uint64_t x = pair_of(*(const int64_t *)a, sort_offset);
    uint64_t y = pair_of(*(const int64_t *)b, sort_offset);
    return (x > y) - (x < y);
}

static void test_permutations(void **state)
{
    static const int64_t counts[] = {1, 2, 3, 5, 64, 100, FIXTURE_SLOW ? 120 : 4099};
    static const enum dtype dtypes[] = {DTYPE_INT64, DTYPE_INT32, DTYPE_FLOAT64};
    generator_seed(&generator, false, 2);
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
        for (int d = 0; d < 3; d++) {
            int64_t count = counts[c], *expected = malloc((size_t)count * 8);
            for (int64_t i = 0; i < count; i++)
                expected[i] = i;
            sort_offset = generator.offset;
            qsort(expected, (size_t)count, 8, by_key);
            void *order = draw((struct random){
                .form = RANDOM_PERMUTATION, .dtype = dtypes[d], .count = count});
            for (int64_t i = 0; i < count; i++)
                assert_true(fixture_get(order, dtypes[d], i) == (double)expected[i]);
            free(order);
            free(expected);
        }
}

static void test_empty(void **state)
{
    generator_seed(&generator, false, 2);
    for (enum random_form form = RANDOM_UNIFORM; form <= RANDOM_BITS; form++)
        free(draw((struct random){.form = form, .dtype = DTYPE_FLOAT32, .high = 1}));
    assert_int_equal(generator.offset, 0);
}

// A plan that cannot be made leaves the generator alone.
static void test_refused(void **state)
{
    struct problem problem;
    struct random random = {
        .form = RANDOM_NORMAL, .dtype = DTYPE_INT32, .count = 4, .generator = &generator};
    generator_seed(&generator, false, 2);
    assert_int_equal(
        fixture_try(&(struct kernel){.form = KERNEL_RANDOM, .random = random}, &problem),
        STATUS_DTYPE);
    random.form = RANDOM_PERMUTATION;
    random.count = INT64_C(1) << 45; // the keys fit in no memory
    assert_int_equal(
        fixture_try(&(struct kernel){.form = KERNEL_RANDOM, .random = random}, &problem),
        STATUS_OUT_OF_MEMORY);
    random.count = INT64_MAX;
    assert_int_equal(
        fixture_try(&(struct kernel){.form = KERNEL_RANDOM, .random = random}, &problem),
        STATUS_OUT_OF_MEMORY);
    assert_int_equal(generator.offset, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_published),    cmocka_unit_test(test_words),
        cmocka_unit_test(test_uniforms),     cmocka_unit_test(test_normals),
        cmocka_unit_test(test_normal_bits),  cmocka_unit_test(test_integers),
        cmocka_unit_test(test_bits),         cmocka_unit_test(test_bernoulli),
        cmocka_unit_test(test_permutations), cmocka_unit_test(test_empty),
        cmocka_unit_test(test_refused),
    };
    return fixture_run("random", tests, sizeof tests / sizeof *tests);
}
