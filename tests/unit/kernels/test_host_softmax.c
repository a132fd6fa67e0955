// SPDX-License-Identifier: Apache-2.0
// Softmax on the host against the definition in double precision.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kernels/host/softmax.h"

static uint64_t random_state = 1;
static double random_real(void) // in [-10, 10)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (double)(random_state >> 33) / 0x1p31 * 20 - 10;
}

static double get(const void *memory, enum dtype dtype, int64_t i)
{
    switch (dtype) {
    case DTYPE_FLOAT16:
        return (double)float16_to_float(((const uint16_t *)memory)[i]);
    case DTYPE_BFLOAT16:
        return (double)bfloat16_to_float(((const uint16_t *)memory)[i]);
    case DTYPE_FLOAT32:
        return (double)((const float *)memory)[i];
    default:
        return ((const double *)memory)[i];
    }
}

static void set(void *memory, enum dtype dtype, int64_t i, double value)
{
    switch (dtype) {
    case DTYPE_FLOAT16:
        ((uint16_t *)memory)[i] = float16_from_float((float)value);
        break;
    case DTYPE_BFLOAT16:
        ((uint16_t *)memory)[i] = bfloat16_from_float((float)value);
        break;
    case DTYPE_FLOAT32:
        ((float *)memory)[i] = (float)value;
        break;
    default:
        ((double *)memory)[i] = value;
    }
}

// All units, those that may run together in reverse order.
static void run(const struct softmax *softmax)
{
    struct softmax_cut cut;
    softmax_prepare(&cut, softmax);
    if (cut.workspace_bytes > 0)
        cut.workspace = aligned_alloc(64, (size_t)(cut.workspace_bytes + 63) / 64 * 64);
    for (int64_t first = 0; first < cut.units;) {
        int64_t together = softmax_together(&cut, first);
        assert_true(together >= 1 && first + together <= cut.units);
        for (int64_t i = together - 1; i >= 0; i--)
            softmax_run(&cut, first + i);
        first += together;
    }
    free(cut.workspace);
}

// x - max loses up to an ulp of 20 in float32, which exp turns into a relative error of
// about 2e-6; float16 and bfloat16 round to 11 and 8 bits; below float16's normal range
// the spacing is 2^-24.
static double tolerance(enum dtype dtype, double truth)
{
    switch (dtype) {
    case DTYPE_FLOAT16:
        return truth * 0x1.1p-11 + 0x1.1p-25;
    case DTYPE_BFLOAT16:
        return truth * 0x1.1p-8;
    case DTYPE_FLOAT32:
        return truth * 3e-6;
    default:
        return truth * 1e-14;
    }
}

static void check_line(const struct softmax *s, const void *x, int64_t outer,
                       int64_t inner)
{
    int64_t base = outer * s->n * s->inner + inner;
    double largest = -INFINITY;
    long double sum = 0; // so that the oracle's own error is out of the question
    for (int64_t l = 0; l < s->n; l++)
        largest = fmax(largest, get(x, s->dtype, base + l * s->inner));
    for (int64_t l = 0; l < s->n; l++)
        sum += (long double)exp(get(x, s->dtype, base + l * s->inner) - largest);
    for (int64_t l = 0; l < s->n; l += l < 5000 ? 1 : 97) {
        int64_t i = base + l * s->inner;
        double truth = exp(get(x, s->dtype, i) - largest) / (double)sum,
               value = get(s->y, s->dtype, i);
        if (!(fabs(value - truth) <= tolerance(s->dtype, truth)))
            fail_msg("%s [%lld, %lld, %lld] at %lld: %.9g instead of %.9g",
                     dtype_name(s->dtype), (long long)s->outer, (long long)s->n,
                     (long long)s->inner, (long long)i, value, truth);
    }
}

static const int64_t shapes[][3] = {
    {1, 1, 1},    {3, 10, 1},     {1000, 2, 1},   {2, 4096, 1}, {2, 4097, 1},
    {3, 9000, 1}, {2, 530000, 1}, {2, 10, 5},     {2, 3000, 5}, {2, 7, 300},
    {3, 40, 256}, {1, 140000, 4}, {1, 2100, 260},
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

// Elements beyond the first PERIOD repeat them.
enum { PERIOD = 8191 };
static struct softmax make(enum dtype dtype, const int64_t *shape)
{
    int64_t count = shape[0] * shape[1] * shape[2];
    struct softmax s = {
        .dtype = dtype, .outer = shape[0], .n = shape[1], .inner = shape[2]};
    void *x = malloc((size_t)(count * dtype_size(dtype)));
    s.y = malloc((size_t)(count * dtype_size(dtype)));
    for (int64_t i = 0; i < count && i < PERIOD; i++)
        set(x, dtype, i, random_real());
    for (int64_t done = PERIOD; done < count;) {
        int64_t next = count - done < PERIOD ? count - done : PERIOD;
        memcpy((char *)x + done * dtype_size(dtype), x,
               (size_t)(next * dtype_size(dtype)));
        done += next;
    }
    s.x = x;
    return s;
}

static void free_softmax(struct softmax *s)
{
    free((void *)(uintptr_t)s->x);
    free(s->y);
}

static void every_shape_is_right(void **state)
{
    for (int dtype = DTYPE_FLOAT16; dtype < DTYPE_COUNT; dtype++)
        for (int i = 0; i < SHAPES; i++) {
            struct softmax s = make((enum dtype)dtype, shapes[i]);
            run(&s);
            for (int64_t outer = 0; outer < s.outer; outer++)
                for (int64_t inner = 0; inner<s.inner; inner += s.inner> 8 ? 37 : 1)
                    check_line(&s, s.x, outer, inner);
            free_softmax(&s);
        }
}

static void in_place_gives_the_same_bits(void **state)
{
    for (int dtype = DTYPE_FLOAT16; dtype < DTYPE_COUNT; dtype++)
        for (int i = 0; i < SHAPES; i++) {
            struct softmax s = make((enum dtype)dtype, shapes[i]), place = s;
            run(&s);
            place.y = (void *)(uintptr_t)s.x;
            run(&place);
            assert_memory_equal(place.y, s.y,
                                (size_t)(s.outer * s.n * s.inner * dtype_size(s.dtype)));
            free_softmax(&s);
        }
}

static void levels_give_the_same_bits(void **state)
{
    const struct level *before = level_current();
    for (int dtype = DTYPE_FLOAT16; dtype < DTYPE_COUNT; dtype++)
        for (int i = 0; i < SHAPES; i++) {
            struct softmax s = make((enum dtype)dtype, shapes[i]);
            size_t bytes = (size_t)(s.outer * s.n * s.inner * dtype_size(s.dtype));
            char *first = malloc(bytes);
            for (int level = 0; level_available(level) != NULL; level++) {
                level_select(level_available(level));
                run(&s);
                if (level == 0) // the lowest
                    memcpy(first, s.y, bytes);
                assert_memory_equal(s.y, first, bytes);
            }
            free(first);
            free_softmax(&s);
        }
    level_select(before);
}

// As in PyTorch: a NaN or a positive infinity spoils its line and no other; -infinity has
// probability 0, and a line of nothing else is NaN.
static void special_values(void **state)
{
    double nan = (double)NAN, infinity = (double)INFINITY;
    double x[4][4] = {{1, nan, 2, 3},
                      {1, infinity, 2, 3},
                      {-infinity, 0, 0, -infinity},
                      {-infinity, -infinity, -infinity, -infinity}},
           y[4][4];
    struct softmax s = {
        .dtype = DTYPE_FLOAT64, .outer = 4, .n = 4, .inner = 1, .x = x, .y = y};
    run(&s);
    for (int i = 0; i < 4; i++) {
        assert_true(isnan(y[0][i]));
        assert_true(isnan(y[1][i]));
        assert_true(isnan(y[3][i]));
        assert_true(y[2][i] == (i == 1 || i == 2 ? 0.5 : 0));
    }
    s.outer = 1; // by columns
    s.inner = 4;
    double z[4][4];
    s.y = z;
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            y[j][i] = x[i][j];
    s.x = y;
    run(&s);
    for (int i = 0; i < 4; i++)
        assert_true(isnan(z[i][0]) && isnan(z[i][1]) && isnan(z[i][3]) &&
                    z[i][2] == (i == 1 || i == 2 ? 0.5 : 0));
}

// In a long line the NaN is in another block than most elements.
static void nan_in_a_long_line(void **state)
{
    int64_t n = 600000;
    float *x = calloc((size_t)n, sizeof *x), *y = malloc((size_t)n * sizeof *y);
    struct softmax s = {
        .dtype = DTYPE_FLOAT32, .outer = 1, .n = n, .inner = 1, .x = x, .y = y};
    run(&s);
    for (int64_t i = 0; i < n; i++)
        assert_true(y[i] == 1.0f / 600000.0f);
    x[7] = NAN;
    run(&s);
    for (int64_t i = 0; i < n; i++)
        assert_true(isnan(y[i]));
    free(x);
    free(y);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_shape_is_right),
        cmocka_unit_test(in_place_gives_the_same_bits),
        cmocka_unit_test(levels_give_the_same_bits),
        cmocka_unit_test(special_values),
        cmocka_unit_test(nan_in_a_long_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
