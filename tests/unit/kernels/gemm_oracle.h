// SPDX-License-Identifier: Apache-2.0
// Matrix products for the tests of kernels/host/gemm*.c: memory of their own, a run of
// all units, and the truth by plain loops.
#ifndef TENSORD_TESTS_GEMM_ORACLE_H
#define TENSORD_TESTS_GEMM_ORACLE_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kernels/host/gemm.h"

static uint64_t random_state;
static inline uint64_t random_next(void)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return random_state >> 33;
}

// ---- A product with memory of its own.
struct shape {
    int64_t m, n, k;
    int batch_ndim;
    int64_t batch[3];
};
struct layout {
    bool a_transposed, b_transposed;
    int64_t padding;           // elements between rows of all three
    bool a_repeats, b_repeats; // the same matrix for every index of the first batch dim
};
struct product {
    struct gemm gemm;
    char *a, *b, *c;
    int64_t a_count, b_count, c_count;
};

static inline int64_t lay_out(int ndim, const int64_t *batch, int64_t matrix,
                              bool repeats, int64_t *strides)
{
    int64_t count = matrix;
    for (int d = ndim - 1; d >= 0; d--) {
        strides[d] = d == 0 && repeats ? 0 : count;
        count *= d == 0 && repeats ? 1 : batch[d];
    }
    return count;
}

static inline void product_make(struct product *p, enum dtype dtype,
                                const struct shape *s, const struct layout *l)
{
    struct gemm *g = &p->gemm;
    int64_t pad = l->padding, size = dtype_size(dtype);
    *g = (struct gemm){
        .dtype = dtype, .m = s->m, .n = s->n, .k = s->k, .batch_ndim = s->batch_ndim};
    g->a_row = l->a_transposed ? 1 : s->k + pad;
    g->a_column = l->a_transposed ? s->m + pad : 1;
    g->b_row = l->b_transposed ? 1 : s->n + pad;
    g->b_column = l->b_transposed ? s->k + pad : 1;
    g->c_row = s->n + pad;
    memcpy(g->batch_shape, s->batch, (size_t)s->batch_ndim * sizeof s->batch[0]);
    p->a_count = lay_out(s->batch_ndim, s->batch, (s->m + pad) * (s->k + pad),
                         l->a_repeats, g->a_batch);
    p->b_count = lay_out(s->batch_ndim, s->batch, (s->k + pad) * (s->n + pad),
                         l->b_repeats, g->b_batch);
    p->c_count = lay_out(s->batch_ndim, s->batch, s->m * (s->n + pad), false, g->c_batch);
    g->a = p->a = malloc((size_t)(p->a_count * size));
    g->b = p->b = malloc((size_t)(p->b_count * size));
    g->c = p->c = malloc((size_t)(p->c_count * size));
    assert_true(p->a != NULL && p->b != NULL && p->c != NULL);
    memset(p->c, 0xFF, (size_t)(p->c_count * size)); // NaN in every float dtype
}

static inline void product_free(struct product *p)
{
    free(p->a);
    free(p->b);
    free(p->c);
}

static inline void set(char *memory, enum dtype dtype, int64_t i, double value)
{
    union element e = {.i64 = 0};
    if (dtype == DTYPE_FLOAT64)
        e.f64 = value;
    else if (dtype == DTYPE_FLOAT32)
        e.f32 = (float)value;
    else if (dtype == DTYPE_FLOAT16)
        e.bits16 = float16_from_float((float)value);
    else if (dtype == DTYPE_BFLOAT16)
        e.bits16 = bfloat16_from_float((float)value);
    else
        e.i64 = (int64_t)value; // little-endian: the low bytes
    memcpy(memory + i * dtype_size(dtype), e.bytes, (size_t)dtype_size(dtype));
}

static inline double get(const char *memory, enum dtype dtype, int64_t i)
{
    union element e = {.i64 = 0};
    memcpy(e.bytes, memory + i * dtype_size(dtype), (size_t)dtype_size(dtype));
    switch (dtype) {
    case DTYPE_FLOAT64:
        return e.f64;
    case DTYPE_FLOAT32:
        return (double)e.f32;
    case DTYPE_FLOAT16:
        return (double)float16_to_float(e.bits16);
    case DTYPE_BFLOAT16:
        return (double)bfloat16_to_float(e.bits16);
    case DTYPE_UINT8:
        return e.u8;
    case DTYPE_INT8:
        return e.i8;
    case DTYPE_INT16:
        return e.i16;
    case DTYPE_INT32:
        return e.i32;
    default:
        return (double)e.i64;
    }
}

// Elements beyond the first PERIOD repeat them (a prime number, so that rows differ).
enum { PERIOD = 4099 };
static inline void repeat(char *memory, int64_t count, int64_t size)
{
    for (int64_t done = PERIOD; done < count;) {
        int64_t next = count - done < PERIOD ? count - done : PERIOD;
        memcpy(memory + done * size, memory, (size_t)(next * size));
        done += next;
    }
}

// Integers of a few units: every partial sum is exact in every dtype's accumulator.
static inline void fill_integers(struct product *p, int range)
{
    enum dtype dtype = p->gemm.dtype;
    int low = dtype == DTYPE_UINT8 ? 0 : -range;
    for (int64_t i = 0; i < p->a_count && i < PERIOD; i++)
        set(p->a, dtype, i,
            (double)((int)(random_next() % (unsigned)(2 * range + 1)) + low));
    for (int64_t i = 0; i < p->b_count && i < PERIOD; i++)
        set(p->b, dtype, i,
            (double)((int)(random_next() % (unsigned)(2 * range + 1)) + low));
    repeat(p->a, p->a_count, dtype_size(dtype));
    repeat(p->b, p->b_count, dtype_size(dtype));
}

static inline void fill_reals(struct product *p)
{
    enum dtype dtype = p->gemm.dtype;
    for (int64_t i = 0; i < p->a_count && i < PERIOD; i++)
        set(p->a, dtype, i, (double)random_next() / 0x1p30 - 1);
    for (int64_t i = 0; i < p->b_count && i < PERIOD; i++)
        set(p->b, dtype, i, (double)random_next() / 0x1p30 - 1);
    repeat(p->a, p->a_count, dtype_size(dtype));
    repeat(p->b, p->b_count, dtype_size(dtype));
}

// ---- Running: all units, those that may run together in reverse order on threads taken
// in turn.
static inline void run(const struct gemm *g, int threads)
{
    struct gemm_cut cut;
    gemm_prepare(&cut, g, threads);
    if (cut.workspace_bytes > 0)
        cut.workspace = aligned_alloc(64, (size_t)cut.workspace_bytes);
    for (int64_t first = 0; first < cut.units;) {
        int64_t together = gemm_together(&cut, first);
        assert_true(together >= 1 && first + together <= cut.units);
        for (int64_t i = together - 1; i >= 0; i--)
            gemm_run(&cut, first + i, (int)(i % threads));
        first += together;
    }
    free(cut.workspace);
}

// ---- The oracle of one element: exact sums and sums of magnitudes.
struct truth {
    long double sum, magnitude;
    uint64_t wrapped;
};
static inline struct truth oracle(const struct product *p, const int64_t *index,
                                  int64_t i, int64_t j)
{
    const struct gemm *g = &p->gemm;
    struct truth truth = {0, 0, 0};
    int64_t a = i * g->a_row, b = j * g->b_column;
    for (int d = 0; d < g->batch_ndim; d++) {
        a += index[d] * g->a_batch[d];
        b += index[d] * g->b_batch[d];
    }
    for (int64_t l = 0; l < g->k; l++) {
        double x = get(p->a, g->dtype, a + l * g->a_column),
               y = get(p->b, g->dtype, b + l * g->b_row);
        truth.sum += (long double)x * (long double)y;
        truth.magnitude += fabsl((long double)x * (long double)y);
        if (!dtype_is_float(g->dtype))
            truth.wrapped += (uint64_t)(int64_t)x * (uint64_t)(int64_t)y;
    }
    return truth;
}

// Relative spacing of a dtype: half an ulp at 1 and above.
static inline long double rounding(enum dtype dtype)
{
    switch (dtype) {
    case DTYPE_FLOAT16:
        return 0x1p-11L;
    case DTYPE_BFLOAT16:
        return 0x1p-8L;
    case DTYPE_FLOAT32:
        return 0x1p-24L;
    default:
        return 0x1p-53L;
    }
}

static inline void check_element(const struct product *p, const int64_t *index, int64_t i,
                                 int64_t j)
{
    const struct gemm *g = &p->gemm;
    struct truth truth = oracle(p, index, i, j);
    int64_t c = i * g->c_row + j, size = dtype_size(g->dtype);
    for (int d = 0; d < g->batch_ndim; d++)
        c += index[d] * g->c_batch[d];
    if (!dtype_is_float(g->dtype)) {
        assert_memory_equal(p->c + c * size, &truth.wrapped, (size_t)size);
        return;
    }
    // The bound of a sum of k products in the accumulator's precision, then one rounding.
    long double accumulator = g->dtype == DTYPE_FLOAT64 ? 0x1p-53L : 0x1p-24L;
    long double bound = (long double)(g->k + 1) * accumulator * truth.magnitude +
                        rounding(g->dtype) * fabsl(truth.sum) + 0x1p-25L * (size == 2);
    long double error = fabsl((long double)get(p->c, g->dtype, c) - truth.sum);
    if (!(error <= bound))
        fail_msg("%s %lld x %lld x %lld at %lld, %lld: %.9g instead of %.9Lg",
                 dtype_name(g->dtype), (long long)g->m, (long long)g->k, (long long)g->n,
                 (long long)i, (long long)j, get(p->c, g->dtype, c), truth.sum);
}

// All elements, or some hundreds in large products; and that padding stays as it was.
static inline void check(const struct product *p)
{
    const struct gemm *g = &p->gemm;
    int64_t batches = 1, size = dtype_size(g->dtype);
    for (int d = 0; d < g->batch_ndim; d++)
        batches *= g->batch_shape[d];
    double work = (double)batches * (double)g->m * (double)g->n * (double)g->k;
    int64_t count = batches * g->m * g->n,
            step = work > 5e4 ? (int64_t)(work / 5e4) * 2 + 1 : 1;
    for (int64_t e = 0; e < count; e += step) {
        int64_t index[3] = {0}, rest = e / (g->m * g->n);
        for (int d = g->batch_ndim - 1; d >= 0; rest /= g->batch_shape[d], d--)
            index[d] = rest % g->batch_shape[d];
        check_element(p, index, e / g->n % g->m, e % g->n);
    }
    for (int64_t row = 0; row < batches * g->m; row += row < 500 ? 1 : 101)
        for (int64_t byte = g->n * size; byte < g->c_row * size; byte++)
            assert_int_equal((unsigned char)p->c[row * g->c_row * size + byte], 0xFF);
}

static const struct layout layouts[] = {
    {false, false, 0, false, false},
    {true, false, 3, false, true},
    {false, true, 0, true, false},
    {true, true, 5, false, false},
};
#endif
