// SPDX-License-Identifier: Apache-2.0
// Operations that are made of others: products by rank, linear, statistics, log_softmax,
// triangles, repetitions, range, against sums in long double and index arithmetic.
// Random operations are not compared here: tests/unit/tensor/test_generators.c holds them
// to PyTorch's numbers.
#include "tests/conformance/conformance.h"

#include <math.h>
#include <string.h>

enum { A = 400, B = 401 }; // seeds
static struct scalar a_items[MAX_ELEMENTS], b_items[MAX_ELEMENTS], c_items[MAX_ELEMENTS];
static struct scalar want[MAX_ELEMENTS];
static struct values got;

static struct argument real_number(double value)
{
    return number(of_float(value));
}

// Whether ours is exact but for `ulps` units in its last place or, near zero, in that
// of 1.
static bool close_to(struct scalar ours, struct scalar exact, enum dtype dtype, int ulps)
{
    if (!dtype_is_float(dtype))
        return ours.i == exact.i;
    if (ulp_distance(ours.f, exact.f, dtype) <= ulps)
        return true;
    static const double unit[] = {[DTYPE_FLOAT16] = 0x1p-10,
                                  [DTYPE_BFLOAT16] = 0x1p-7,
                                  [DTYPE_FLOAT32] = 0x1p-23,
                                  [DTYPE_FLOAT64] = 0x1p-52};
    return fabs(ours.f - exact.f) <= ulps * unit[dtype];
}

// Runs op and compares its result with want[0..].
static void expect(enum op op, bool in_place, int n_tensors, struct tensor **tensors,
                   const struct argument *arguments, int ndim, const int64_t *shape,
                   enum dtype dtype, int ulps)
{
    struct problem problem;
    struct tensor *results[OP_MAX_RESULTS];
    int n_results;
    const char *name = op_row(op)->name;
    enum status status = run_op(op, in_place, n_tensors, tensors, arguments, results,
                                &n_results, &problem);
    if (status != STATUS_OK) {
        check(false, "%s %s: %s", name, dtype_name(dtype), problem.detail);
        return;
    }
    read_tensor(results[0], &got);
    bool right =
        got.dtype == dtype && got.ndim == ndim &&
        (ndim == 0 || memcmp(got.shape, shape, sizeof *shape * (size_t)ndim) == 0);
    for (int64_t i = 0; i < got.count && right; i++)
        right = close_to(got.items[i], want[i], dtype, ulps);
    check(right, "%s %s", name, dtype_name(dtype));
    tensor_release(results[0]);
}

// ---- Products
// Sum over l of a[a_at + l * a_step] * b[b_at + l * b_step], then `plus`.
struct series {
    int64_t a_at, a_step, b_at, b_step;
};
static struct scalar product(enum dtype dtype, struct series s, int64_t k,
                             const struct scalar *plus)
{
    long double sum = 0;
    __int128 whole = 0;
    for (int64_t l = 0; l < k; l++) {
        struct scalar x = a_items[s.a_at + l * s.a_step],
                      y = b_items[s.b_at + l * s.b_step];
        sum += real(x) * real(y);
        whole += (__int128)x.i * y.i;
    }
    if (dtype_is_float(dtype)) {
        struct scalar rounded = to_dtype(sum, dtype);
        return plus ? to_dtype(real(rounded) + real(*plus), dtype) : rounded;
    }
    return wrap_integer(whole + (plus ? plus->i : 0), dtype);
}

static void check_products_by_rank(enum dtype dtype)
{
    enum { M = 3, K = 5, N = 4, BATCH = 2 };
    int64_t a2[2] = {M, K}, b2[2] = {K, N}, c2[2] = {M, N}, a3[3] = {BATCH, M, K},
            b3[3] = {BATCH, K, N}, c3[3] = {BATCH, M, N}, k1[1] = {K}, m1[1] = {M};
    fill(a_items, BATCH * M * K, dtype, A, true);
    fill(b_items, BATCH * K * N, dtype, B, true);
    struct argument two[OP_MAX_PARAMETERS] = {operand(0), operand(1)};
    struct tensor *t[2] = {make_tensor(dtype, 2, a2, a_items),
                           make_tensor(dtype, 2, b2, b_items)};
    struct tensor *batches[2] = {make_tensor(dtype, 3, a3, a_items),
                                 make_tensor(dtype, 3, b3, b_items)};
    struct tensor *vectors[2] = {make_tensor(dtype, 1, k1, a_items),
                                 make_tensor(dtype, 1, k1, b_items)};
    struct tensor *mixed[2] = {t[0], vectors[1]};
    for (int64_t i = 0; i < BATCH * M * N; i++) {
        int64_t batch = i / (M * N), row = i / N % M, column = i % N;
        want[i] = product(
            dtype, (struct series){batch * M * K + row * K, 1, batch * K * N + column, N},
            K, NULL);
    }
    expect(OP_mm, false, 2, t, two, 2, c2, dtype, 2);
    expect(OP_bmm, false, 2, batches, two, 3, c3, dtype, 2);
    for (int64_t i = 0; i < M; i++)
        want[i] = product(dtype, (struct series){i * K, 1, 0, 1}, K, NULL);
    expect(OP_mv, false, 2, mixed, two, 1, m1, dtype, 2);
    expect(OP_dot, false, 2, vectors, two, 0, NULL, dtype, 2);
    int64_t square[2] = {K, K};
    for (int64_t i = 0; i < K * K; i++)
        want[i] = product(dtype, (struct series){i / K, 1, i % K, 1}, 1, NULL);
    expect(OP_outer, false, 2, vectors, two, 2, square, dtype, 1);
    for (int i = 0; i < 2; i++) {
        tensor_release(t[i]);
        tensor_release(batches[i]);
        tensor_release(vectors[i]);
    }
}

static void check_linear(enum dtype dtype)
{
    enum { ROWS = 6, IN = 5, OUT = 3 };
    int64_t x[2] = {ROWS, IN}, weight[2] = {OUT, IN}, bias[1] = {OUT}, y[2] = {ROWS, OUT};
    fill(a_items, ROWS * IN, dtype, A, true);
    fill(b_items, OUT * IN, dtype, B, true);
    fill(c_items, OUT, dtype, B + 1, true);
    struct tensor *t[3] = {make_tensor(dtype, 2, x, a_items),
                           make_tensor(dtype, 2, weight, b_items),
                           make_tensor(dtype, 1, bias, c_items)};
    struct argument three[OP_MAX_PARAMETERS] = {operand(0), operand(1), operand(2)};
    for (int64_t i = 0; i < ROWS * OUT; i++)
        want[i] = product(dtype, (struct series){i / OUT * IN, 1, i % OUT * IN, 1}, IN,
                          &c_items[i % OUT]);
    expect(OP_linear, false, 3, t, three, 2, y, dtype, 2);
    for (int i = 0; i < 3; i++)
        tensor_release(t[i]);
}

// ---- Statistics of a (4, 9, 6) tensor over its middle dim
enum { OUTER = 4, LENGTH = 9, INNER = 6, ALL = OUTER * LENGTH * INNER };

static long double at(int64_t i, int64_t l)
{
    return real(a_items[(i / INNER * LENGTH + l) * INNER + i % INNER]);
}

static long double variance_at(int64_t i)
{
    long double mean = 0, sum = 0;
    for (int64_t l = 0; l < LENGTH; l++)
        mean += at(i, l) / LENGTH;
    for (int64_t l = 0; l < LENGTH; l++)
        sum += (at(i, l) - mean) * (at(i, l) - mean);
    return sum / (LENGTH - 1);
}

static long double norm_at(int64_t i, double p)
{
    long double sum = 0, largest = 0;
    for (int64_t l = 0; l < LENGTH; l++) {
        long double size = fabsl(at(i, l));
        sum += p == 0 ? size != 0 : powl(size, isinf(p) ? 1 : p);
        largest = size > largest ? size : largest;
    }
    return isinf(p) ? largest : p == 0 ? sum : powl(sum, 1 / (long double)p);
}

static void check_statistics(enum dtype dtype)
{
    static const double powers[] = {2, 1, 0, 3, (double)INFINITY};
    int64_t shape[3] = {OUTER, LENGTH, INNER}, kept[2] = {OUTER, INNER}, dim[1] = {1};
    fill(a_items, ALL, dtype, A, true);
    struct tensor *x = make_tensor(dtype, 3, shape, a_items);
    struct argument a[OP_MAX_PARAMETERS] = {operand(0), integers(1, dim)};
    for (int64_t i = 0; i < OUTER * INNER; i++)
        want[i] = to_dtype(variance_at(i), dtype);
    expect(OP_var, false, 1, &x, a, 2, kept, dtype, 1);
    for (int64_t i = 0; i < OUTER * INNER; i++)
        want[i] = to_dtype(sqrtl(variance_at(i)), dtype);
    expect(OP_std, false, 1, &x, a, 2, kept, dtype, 1);
    for (size_t p = 0; p < sizeof powers / sizeof *powers; p++) {
        struct argument b[OP_MAX_PARAMETERS] = {operand(0), real_number(powers[p]),
                                                integers(1, dim)};
        for (int64_t i = 0; i < OUTER * INNER; i++)
            want[i] = to_dtype(norm_at(i, powers[p]), dtype);
        expect(OP_norm, false, 1, &x, b, 2, kept, dtype, 2);
    }
    struct argument c[OP_MAX_PARAMETERS] = {operand(0), integer(1)};
    for (int64_t i = 0; i < ALL; i++) {
        long double sum = 0;
        int64_t column = i / (LENGTH * INNER) * INNER + i % INNER;
        for (int64_t l = 0; l < LENGTH; l++)
            sum += expl(at(column, l));
        want[i] = to_dtype(real(a_items[i]) - logl(sum), dtype);
    }
    expect(OP_log_softmax, false, 1, &x, c, 3, shape, dtype, 4);
    tensor_release(x);
}

// ---- Copies by index
static void check_triangles(enum dtype dtype)
{
    enum { ROWS = 4, COLUMNS = 3 };
    int64_t shape[3] = {2, ROWS, COLUMNS};
    fill(a_items, 2 * ROWS * COLUMNS, dtype, A, false);
    struct tensor *x = make_tensor(dtype, 3, shape, a_items);
    for (int64_t diagonal = -2; diagonal <= 2; diagonal++)
        for (int lower = 0; lower < 2; lower++) {
            struct argument a[OP_MAX_PARAMETERS] = {operand(0), integer(diagonal)};
            for (int64_t i = 0; i < 2 * ROWS * COLUMNS; i++) {
                int64_t above = i % COLUMNS - i / COLUMNS % ROWS;
                bool kept = lower ? above <= diagonal : above >= diagonal;
                want[i] = kept ? a_items[i] : to_dtype(0, dtype);
            }
            expect(lower ? OP_tril : OP_triu, false, 1, &x, a, 3, shape, dtype, 0);
        }
    tensor_release(x);
}

static void check_repetitions(enum dtype dtype)
{
    int64_t shape[2] = {2, 3}, turned[2] = {3, 2}, times[3] = {2, 1, 2},
            repeated[3] = {2, 2, 6}, twice[1] = {2}, tiled[2] = {2, 6};
    fill(a_items, 6, dtype, A, false);
    struct tensor *x = make_tensor(dtype, 2, shape, a_items);
    struct argument a[OP_MAX_PARAMETERS] = {operand(0)};
    for (int i = 0; i < 6; i++)
        want[i] = a_items[i % 2 * 3 + i / 2];
    expect(OP_t, false, 1, &x, a, 2, turned, dtype, 0);
    for (int i = 0; i < 24; i++)
        want[i] = a_items[i / 6 % 2 * 3 + i % 3];
    a[1] = integers(3, times);
    expect(OP_repeat, false, 1, &x, a, 3, repeated, dtype, 0);
    a[1] = integers(1, twice);
    expect(OP_tile, false, 1, &x, a, 2, tiled, dtype, 0);
    tensor_release(x);
}

static void check_range(enum dtype dtype)
{
    int64_t line[1] = {10};
    struct argument a[OP_MAX_PARAMETERS] = {
        number(of_int(1)),
        number(of_int(29)), // beyond the last step, which leads to 28
        number(of_int(3)),
        {.kind = ARGUMENT_DTYPE, .dtype = dtype},
        {.kind = ARGUMENT_DEVICE, .device = device},
    };
    for (int i = 0; i < 10; i++)
        want[i] = to_dtype(1 + 3 * i, dtype);
    expect(OP_range, false, 0, NULL, a, 1, line, dtype, 0);
    a[1] = number(of_int(28));
    expect(OP_range, false, 0, NULL, a, 1, line, dtype, 0);
}

static void check_clamp_(enum dtype dtype)
{
    int64_t shape[1] = {50};
    fill(a_items, 50, dtype, A, true);
    struct tensor *x = make_tensor(dtype, 1, shape, a_items);
    struct argument a[OP_MAX_PARAMETERS] = {operand(0), number(of_int(1)),
                                            number(of_int(2))};
    for (int i = 0; i < 50; i++)
        want[i] = real(a_items[i]) < 1   ? to_dtype(1, dtype)
                  : real(a_items[i]) > 2 ? to_dtype(2, dtype)
                                         : a_items[i];
    expect(OP_clamp_, false, 1, &x, a, 1, shape, dtype, 0);
    tensor_release(x);
}

void check_composed(void)
{
    for (int dtype = 0; dtype < DTYPE_COUNT; dtype++) {
        check_triangles(dtype);
        check_repetitions(dtype);
        if (dtype == DTYPE_BOOL)
            continue;
        check_range(dtype);
        check_clamp_(dtype);
        check_products_by_rank(dtype);
        check_linear(dtype);
        if (dtype_is_float(dtype))
            check_statistics(dtype);
    }
}
