// SPDX-License-Identifier: Apache-2.0
// Random numbers of the host against PyTorch's (tests/cases/rng_*.inc), on every
// instruction-set level; and what holds of any stream: kernels continue each other, and
// neither units nor dtypes change what is drawn.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kernels/device.h"
#include "kernels/host/random.h"
#include "kernels/random_math.h"

static struct device *device;
static struct generator generator;

static int open_device(void **state)
{
    struct problem problem;
    return host_open(2, 1 << 20, &device, &problem) == STATUS_OK ? 0 : -1;
}

static int close_device(void **state)
{
    device->vt->close(device);
    return 0;
}

// Runs a kernel through the device; the memory is the caller's to free.
static void *draw(struct random random)
{
    struct problem problem;
    struct plan *plan;
    enum slice slice;
    random.output = calloc((size_t)random.count + 1, 8);
    random.generator = &generator;
    assert_non_null(random.output);
    struct kernel kernel = {.form = KERNEL_RANDOM, .random = random};
    assert_int_equal(device->vt->plan(device, &kernel, &plan, &problem), STATUS_OK);
    while ((slice = device->vt->plan_next(plan, &problem)) == SLICE_MORE)
        continue;
    assert_int_equal(slice, SLICE_DONE);
    device->vt->plan_free(plan);
    return random.output;
}

static uint64_t element_bits(const void *data, enum dtype dtype, int64_t i)
{
    uint64_t bits = 0;
    int size = dtype_size(dtype);
    memcpy(&bits, (const char *)data + i * size, (size_t)size);
    return bits;
}

// ---- PyTorch's numbers
struct row {
    const char *name; // NULL: a seed, in range
    struct random random;
    int64_t first, n;
    const uint64_t *bits; // NULL: sum is the hash of all bytes
    uint64_t sum;
};
#define RNG_SEED(number) {NULL, {.range = number}, 0, 0, NULL, 0},
#define RNG_DRAW(name, form, dtype, count, low, high, base, range, first, n, ...)        \
    {name,                                                                               \
     {form, dtype, count, NULL, low, high, base, range, NULL},                           \
     first,                                                                              \
     n,                                                                                  \
     (const uint64_t[]){__VA_ARGS__},                                                    \
     0},
#define RNG_SUM(name, form, dtype, count, low, high, base, range, sum)                   \
    {name, {form, dtype, count, NULL, low, high, base, range, NULL}, 0, count, NULL, sum},
static const struct row rows[] = {
#include "tests/cases/rng_tables.inc"
#include "tests/cases/rng_torch.inc"
};
enum { ROWS = sizeof rows / sizeof *rows };

// Normals of float64 are made with the system's log, sin and cos, whose last bit may be
// another's.
static bool agree(const struct random *random, uint64_t ours, uint64_t theirs)
{
    double a, b;
    memcpy(&a, &ours, sizeof a);
    memcpy(&b, &theirs, sizeof b);
    if (random->form == RANDOM_NORMAL && random->dtype == DTYPE_FLOAT64)
        return fabs(a - b) <= 1e-14 * (1 + fabs(b) + fabs(random->low));
    return ours == theirs;
}

static uint64_t hash(const void *data, int64_t bytes)
{
    uint64_t total = 0xCBF29CE484222325u;
    for (int64_t i = 0; i < bytes; i++)
        total = (total ^ ((const uint8_t *)data)[i]) * 0x100000001B3u;
    return total;
}

static void check_row(const struct row *row, const char *level, uint64_t seed)
{
    enum dtype dtype = row->random.dtype;
    void *data = draw(row->random);
    if (row->bits == NULL && hash(data, row->n * dtype_size(dtype)) != row->sum)
        fail_msg("%s, seed %llu, %s %s: another hash", level, (unsigned long long)seed,
                 row->name, dtype_name(dtype));
    for (int64_t i = 0; row->bits != NULL && i < row->n; i++) {
        uint64_t ours = element_bits(data, dtype, row->first + i);
        if (!agree(&row->random, ours, row->bits[i]))
            fail_msg("%s, seed %llu, %s %s, element %lld: %llx, not %llx", level,
                     (unsigned long long)seed, row->name, dtype_name(dtype),
                     (long long)(row->first + i), (unsigned long long)ours,
                     (unsigned long long)row->bits[i]);
    }
    free(data);
}

static void test_torch(void **state)
{
    const struct level *before = level_current();
    assert_true(ROWS > 800);
    for (int level = 0; level_available(level) != NULL; level++) {
        level_select(level_available(level));
        for (int i = 0; i < ROWS; i++) {
            if (rows[i].name == NULL)
                generator_seed(&generator, true, rows[i].random.range);
            else
                check_row(&rows[i], level_available(level)->name, generator.seed);
        }
    }
    level_select(before);
}

// ---- Seeds
static void test_seeds(void **state)
{
    // The 10,000th word of the default seed, as the C++ standard states it for mt19937.
    generator_seed(&generator, true, 5489);
    uint32_t word = 0;
    for (int i = 0; i < 10000; i++)
        word = generator_word(&generator);
    assert_int_equal(word, 4123659995u);

    static const uint64_t same[][2] = {
        {0, UINT64_C(1) << 32}, {UINT64_MAX, UINT32_MAX}, {7, (UINT64_C(9) << 32) + 7}};
    for (int i = 0; i < 3; i++) {
        generator_seed(&generator, true, same[i][0]);
        uint32_t first = generator_word(&generator);
        generator_seed(&generator, true, same[i][1]);
        assert_int_equal(generator_word(&generator), first);
        assert_true(generator.seed == same[i][1]);
    }
    generator_seed(&generator, true, 1);
    free(draw((struct random){
        .form = RANDOM_NORMAL, .dtype = DTYPE_FLOAT32, .count = 1, .high = 1}));
    assert_true(generator.has_spare);
    generator_seed(&generator, true, 1);
    assert_false(generator.has_spare);
    generator_seed(&generator, false, 12);
    assert_true(!generator.is_host && generator.seed == 12 && generator.offset == 0);
}

// ---- Streams
// A copy of a generator goes its own way.
static void test_copies(void **state)
{
    generator_seed(&generator, true, 3);
    generator_word(&generator);
    struct generator copy = generator;
    uint32_t words[1500];
    generator_words(&copy, words, 1500);
    for (int i = 0; i < 1500; i++)
        assert_int_equal(words[i], generator_word(&generator));
}

// One kernel of 30,001 elements, or several.
static void test_pieces(void **state)
{
    static const struct random kinds[] = {
        {.form = RANDOM_UNIFORM, .dtype = DTYPE_FLOAT16, .high = 1},
        {.form = RANDOM_UNIFORM, .dtype = DTYPE_FLOAT32, .low = -3, .high = 4},
        {.form = RANDOM_UNIFORM, .dtype = DTYPE_FLOAT64, .low = -3, .high = 4},
        {.form = RANDOM_INTEGERS, .dtype = DTYPE_UINT8, .range = 100},
        {.form = RANDOM_INTEGERS, .dtype = DTYPE_INT64, .range = UINT64_C(1) << 40},
        {.form = RANDOM_BERNOULLI, .dtype = DTYPE_BOOL, .low = 0.25},
        {.form = RANDOM_BITS, .dtype = DTYPE_INT16},
        {.form = RANDOM_BITS, .dtype = DTYPE_FLOAT64},
    };
    static const int64_t lengths[] = {1, 1000, 623, 0, 20000, 8377};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        struct random kind = kinds[k];
        kind.count = 30001;
        generator_seed(&generator, true, 99);
        char *whole = draw(kind), *at = whole;
        uint32_t next = generator_word(&generator);
        generator_seed(&generator, true, 99);
        for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
            kind.count = lengths[i];
            size_t bytes = (size_t)(lengths[i] * dtype_size(kind.dtype));
            void *piece = draw(kind);
            assert_memory_equal(piece, at, bytes);
            free(piece);
            at += bytes;
        }
        assert_int_equal(generator_word(&generator), next);
        free(whole);
    }
}

// 40,005 normals are 2,500 blocks of 16, five more words that come to nothing, and a
// last block made of 16 new ones.
static void test_normal_blocks(void **state)
{
    enum { COUNT = 40005, BLOCKS = COUNT / 16 };
    for (enum dtype dtype = DTYPE_FLOAT16; dtype <= DTYPE_FLOAT64; dtype++) {
        size_t size = (size_t)dtype_size(dtype);
        struct random kind = {
            .form = RANDOM_NORMAL, .dtype = dtype, .count = COUNT, .low = 2, .high = 3};
        generator_seed(&generator, true, 4);
        char *whole = draw(kind), *expected = calloc(COUNT, size);
        generator_seed(&generator, true, 4);
        for (int block = 0; block <= BLOCKS; block++) {
            kind.count = 16;
            if (block == BLOCKS)
                for (int i = 0; i < COUNT % 16 * (dtype == DTYPE_FLOAT64 ? 2 : 1); i++)
                    generator_word(&generator);
            void *values = draw(kind);
            size_t first = block == BLOCKS ? COUNT - 16 : (size_t)block * 16;
            memcpy(expected + first * size, values, 16 * size);
            free(values);
        }
        assert_memory_equal(whole, expected, COUNT * size);
        free(whole);
        free(expected);
    }
}

static double sum_of(const double *values, int64_t n, double power)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += pow(values[i], power);
    return sum / (double)n;
}

static void test_moments(void **state)
{
    generator_seed(&generator, true, 8);
    double *values = draw((struct random){
        .form = RANDOM_NORMAL, .dtype = DTYPE_FLOAT64, .count = 100000, .high = 1});
    assert_true(fabs(sum_of(values, 100000, 1)) < 0.02);
    assert_true(fabs(sum_of(values, 100000, 2) - 1) < 0.02);
    assert_true(fabs(sum_of(values, 100000, 4) - 3) < 0.15);
    free(values);
}

// ---- Edges
static void test_bounds(void **state)
{
    generator_seed(&generator, true, 21);
    int8_t *bytes = draw((struct random){.form = RANDOM_INTEGERS,
                                         .dtype = DTYPE_INT8,
                                         .count = 5000,
                                         .base = -128,
                                         .range = 256});
    int seen[256] = {0}, distinct = 0;
    for (int i = 0; i < 5000; i++)
        distinct += seen[bytes[i] + 128]++ == 0;
    assert_int_equal(distinct, 256);
    free(bytes);
    uint8_t *bools = draw((struct random){
        .form = RANDOM_BERNOULLI, .dtype = DTYPE_BOOL, .count = 3000, .low = 0});
    for (int i = 0; i < 3000; i++)
        assert_int_equal(bools[i], 0);
    free(bools);
    float *ones = draw((struct random){
        .form = RANDOM_BERNOULLI, .dtype = DTYPE_FLOAT32, .count = 3000, .low = 1});
    for (int i = 0; i < 3000; i++)
        assert_true(ones[i] == 1);
    free(ones);
    double *same = draw((struct random){.form = RANDOM_UNIFORM,
                                        .dtype = DTYPE_FLOAT64,
                                        .count = 20,
                                        .low = 3,
                                        .high = 3});
    for (int i = 0; i < 20; i++)
        assert_true(same[i] == 3);
    free(same);
}

static void test_permutation(void **state)
{
    enum { COUNT = 50000 };
    static bool seen[COUNT];
    generator_seed(&generator, true, 6);
    int32_t *order = draw((struct random){
        .form = RANDOM_PERMUTATION, .dtype = DTYPE_INT32, .count = COUNT});
    uint32_t next = generator_word(&generator);
    for (int i = 0; i < COUNT; i++) {
        assert_true(order[i] >= 0 && order[i] < COUNT && !seen[order[i]]);
        seen[order[i]] = true;
    }
    free(order);
    generator_seed(&generator, true, 6); // one word for each element but the last
    for (int i = 0; i < COUNT - 1; i++)
        generator_word(&generator);
    assert_int_equal(generator_word(&generator), next);
}

static void test_refused(void **state)
{
    struct problem problem;
    struct plan *plan;
    int64_t output[4];
    generator_seed(&generator, true, 6);
    struct generator before = generator;
    for (enum random_form form = RANDOM_UNIFORM; form <= RANDOM_NORMAL; form++) {
        struct random random = {.form = form,
                                .dtype = DTYPE_INT64,
                                .count = 4,
                                .output = output,
                                .generator = &generator};
        struct kernel kernel = {.form = KERNEL_RANDOM, .random = random};
        assert_int_equal(device->vt->plan(device, &kernel, &plan, &problem),
                         STATUS_DTYPE);
    }
    assert_memory_equal(&before, &generator, sizeof before);
}

// ---- random_math.h
// Known answers of the Random123 library for philox4x32-10.
static void test_philox(void **state)
{
    static const struct {
        struct philox counter;
        uint64_t key;
        struct philox words;
    } cases[] = {
        {{{0, 0, 0, 0}}, 0, {{0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8}}},
        {{{UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX}},
         UINT64_MAX,
         {{0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD}}},
        {{{0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344}},
         0x299F31D0A4093822,
         {{0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1}}},
    };
    for (int i = 0; i < 3; i++) {
        struct philox words = philox_block(cases[i].counter, cases[i].key);
        assert_memory_equal(&words, &cases[i].words, sizeof words);
    }
}

static void test_functions(void **state)
{
    generator_seed(&generator, true, 17);
    for (int i = 0; i < 200000; i++) {
        uint32_t word = generator_word(&generator) >> generator_word(&generator) % 32;
        double u = (word + 0.5) * 0x1p-32, turn = u * 2;
        float narrow = (float)u, angle = narrow * 6.2831855f;
        struct random_pair pair = random_sincos(angle);
        struct random_pair_f64 wide = random_sincospi_f64(turn);
        double log_error = fabs((double)random_log(narrow) / log((double)narrow) - 1);
        assert_true(narrow == 1 ? random_log(narrow) == 0 : log_error < 3e-7);
        assert_true(fabs((double)pair.sine - sin((double)angle)) < 2e-7);
        assert_true(fabs((double)pair.cosine - cos((double)angle)) < 2e-7);
        assert_true(fabs(random_log_f64(u) / log(u) - 1) < 1e-15);
        assert_true(fabs((double)(wide.sine - sinl(3.14159265358979323846L * turn))) <
                    5e-16);
        assert_true(fabs((double)(wide.cosine - cosl(3.14159265358979323846L * turn))) <
                    5e-16);
    }
    assert_true(random_log_f64(1) == 0 && random_log(1) == 0);
    assert_true(fabs(random_log_f64(0x1p-54) + 54 * log(2)) < 1e-13);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_torch),         cmocka_unit_test(test_seeds),
        cmocka_unit_test(test_copies),        cmocka_unit_test(test_pieces),
        cmocka_unit_test(test_normal_blocks), cmocka_unit_test(test_moments),
        cmocka_unit_test(test_bounds),        cmocka_unit_test(test_permutation),
        cmocka_unit_test(test_refused),       cmocka_unit_test(test_philox),
        cmocka_unit_test(test_functions),
    };
    return cmocka_run_group_tests(tests, open_device, close_device);
}
