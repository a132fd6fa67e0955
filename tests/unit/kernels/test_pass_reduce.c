// SPDX-License-Identifier: Apache-2.0
// Reductions: values against a plain loop, sums bit for bit against the tree that
// host/pass.h describes, on random shapes and strides, however spans are run, on every
// instruction-set level.
#include "tests/unit/kernels/pass_oracle.h"

#include <pthread.h>
#include <stdatomic.h>

// ---- A tensor of kept x reduced dims in random memory order
struct reduction {
    struct pass pass;
    int64_t kept, reduced;
    int64_t strides[PASS_MAX_NDIM];
    int64_t span; // elements of memory
};

static struct reduction random_reduction(int64_t max_count)
{
    static const int64_t sizes[] = {1, 2, 3, 7, 16, 31, 100, 257, 1000, 4100};
    struct reduction made = {.kept = 1, .reduced = 1};
    int ndim = 1 + (int)random_below(5), n_reduced = 1 + (int)random_below(ndim),
        order[8];
    int64_t count = 1;
    made.pass.ndim = ndim;
    made.pass.n_reduced = n_reduced;
    for (int d = 0; d < ndim; d++) {
        int64_t size = sizes[random_below(10)];
        made.pass.shape[d] = count * size <= max_count ? size : 1;
        count *= made.pass.shape[d];
        if (d < ndim - n_reduced)
            made.kept *= made.pass.shape[d];
        else
            made.reduced *= made.pass.shape[d];
        order[d] = d;
    }
    bool shuffle = random_below(3) > 0;
    for (int d = ndim - 1; shuffle && d > 0; d--) {
        int other = (int)random_below(d + 1), saved = order[d];
        order[d] = order[other];
        order[other] = saved;
    }
    int64_t stride = 1, output_stride = 1;
    for (int i = ndim - 1; i >= 0; i--) {
        made.strides[order[i]] = stride;
        stride *= made.pass.shape[order[i]];
    }
    for (int d = ndim - n_reduced - 1; d >= 0; d--) {
        made.pass.output_strides[d] = output_stride;
        output_stride *= made.pass.shape[d];
    }
    made.span = stride;
    return made;
}

static int64_t offset_of(const struct reduction *r, int64_t kept, int64_t reduced)
{
    int64_t i = kept * r->reduced + reduced, offset = 0;
    for (int d = r->pass.ndim - 1; d >= 0; d--) {
        offset += i % r->pass.shape[d] * r->strides[d];
        i /= r->pass.shape[d];
    }
    return offset;
}

// ---- The tree of host/pass.h, written from its description
static double operate(enum pass_reduce op, double a, double b)
{
    return op == PASS_PROD ? a * b : a + b;
}

static double leaf(enum pass_reduce op, const double *x, int64_t n)
{
    double lanes[8];
    for (int k = 0; k < 8; k++)
        lanes[k] = op == PASS_PROD ? 1 : 0;
    for (int64_t i = 0; i < n; i++)
        lanes[i % 8] = operate(op, lanes[i % 8], x[i]);
    for (int half = 4; half > 0; half /= 2)
        for (int k = 0; k < half; k++)
            lanes[k] = operate(op, lanes[k], lanes[k + half]);
    return lanes[0];
}

// The left child is the largest power of two of leaves below the whole.
static double tree(enum pass_reduce op, const double *x, int64_t n)
{
    if (n <= 256)
        return leaf(op, x, n);
    int64_t left = 256;
    while (left * 2 < n)
        left *= 2;
    return operate(op, tree(op, x, left), tree(op, x + left, n - left));
}

// ---- Expected results of one output, from its elements in order
static void check_sum(const struct reduction *r, enum dtype dtype, const char *memory,
                      int64_t kept, const char *output)
{
    const struct pass *pass = &r->pass;
    struct number got = load(pass->output_dtype, output);
    double *values = malloc(sizeof *values * (size_t)r->reduced);
    __int128 exact = pass->reduce == PASS_PROD ? 1 : 0;
    for (int64_t i = 0; i < r->reduced; i++) {
        struct number x = load(dtype, memory + offset_of(r, kept, i) * dtype_size(dtype));
        values[i] = (double)x.f;
        exact = pass->reduce == PASS_PROD ? wrap(DTYPE_INT64, exact * x.i) : exact + x.i;
    }
    if (dtype_is_float(dtype)) {
        double sum = tree(pass->reduce, values, r->reduced);
        if (pass->reduce == PASS_MEAN)
            sum /= (double)r->reduced;
        struct number expected =
            convert((struct number){true, 0, sum}, pass->output_dtype);
        if (got.f != expected.f && !(isnan(got.f) && isnan(expected.f)))
            fail_msg("%s: %.20Lg, expected %.20Lg", dtype_name(dtype), got.f, expected.f);
    } else {
        assert_true(got.i == wrap(DTYPE_INT64, exact));
    }
    free(values);
}

static void check_extremum(const struct reduction *r, enum dtype dtype,
                           const char *memory, int64_t kept, const char *output)
{
    enum pass_reduce op = r->pass.reduce;
    bool low = op == PASS_MIN || op == PASS_ARGMIN || op == PASS_ALL;
    struct number best = {0}, got = load(r->pass.output_dtype, output);
    int64_t index = -1;
    for (int64_t i = 0; i < r->reduced; i++) {
        struct number x = load(dtype, memory + offset_of(r, kept, i) * dtype_size(dtype));
        bool beats =
            x.real ? (low ? x.f < best.f : x.f > best.f) || (isnan(x.f) && !isnan(best.f))
                   : (low ? x.i < best.i : x.i > best.i);
        if (index < 0 || beats) {
            best = x;
            index = i;
        }
    }
    if (op == PASS_ARGMIN || op == PASS_ARGMAX)
        assert_true(got.i == index);
    else if (best.real)
        assert_true(got.f == best.f || (isnan(got.f) && isnan(best.f)));
    else
        assert_true(got.i == best.i);
}

static void check_outputs(const struct reduction *r, enum dtype dtype, const char *memory)
{
    bool sums = r->pass.reduce == PASS_SUM || r->pass.reduce == PASS_PROD ||
                r->pass.reduce == PASS_MEAN;
    for (int64_t k = 0; k < r->kept; k++) {
        const char *output =
            (const char *)r->pass.output + k * dtype_size(r->pass.output_dtype);
        (sums ? check_sum : check_extremum)(r, dtype, memory, k, output);
    }
}

static enum dtype result_dtype(enum pass_reduce op, enum dtype dtype)
{
    if (op == PASS_ARGMIN || op == PASS_ARGMAX)
        return DTYPE_INT64;
    bool sums = op == PASS_SUM || op == PASS_PROD;
    return sums && !dtype_is_float(dtype) ? DTYPE_INT64 : dtype;
}

static bool is_defined(enum pass_reduce op, enum dtype dtype)
{
    if (op == PASS_ALL || op == PASS_ANY)
        return dtype == DTYPE_BOOL;
    if (op == PASS_MEAN)
        return dtype_is_float(dtype);
    return true;
}

// All levels and orders of spans agree to the bit with the first run, which is checked.
static void run_reduction(struct reduction *r, enum pass_reduce op, enum dtype dtype,
                          const char *memory)
{
    const struct level *before = level_current();
    struct pass *pass = &r->pass;
    pass->reduce = op;
    pass->output_dtype = result_dtype(op, dtype);
    pass->n_inputs = 1;
    pass->inputs[0] =
        (struct pass_input){.kind = PASS_MEMORY, .dtype = dtype, .data = memory};
    memcpy(pass->inputs[0].strides, r->strides, sizeof r->strides);
    size_t bytes = (size_t)(r->kept * dtype_size(pass->output_dtype));
    char *first = malloc(bytes), *other = malloc(bytes);
    int faults = 0;
    pass->output = first;
    run_spans(pass, false, &faults);
    check_outputs(r, dtype, memory);
    pass->output = other;
    for (int i = 0; level_available(i) != NULL; i++) {
        level_select(level_available(i));
        memset(other, 0x55, bytes);
        run_spans(pass, true, &faults);
        assert_memory_equal(first, other, bytes);
        memset(other, 0x55, bytes);
        if (host_pass_run_small(pass, &faults))
            assert_memory_equal(first, other, bytes);
    }
    level_select(before);
    free(first);
    free(other);
}

// Sums of thirds and large and small numbers: every rounding shows.
static void uneven_element(enum dtype dtype, char *at)
{
    random_element(dtype, at);
    if (dtype == DTYPE_FLOAT32) {
        float value = (float)random_below(1000000) / 3 - 100000;
        memcpy(at, &value, sizeof value);
    } else if (dtype == DTYPE_FLOAT64) {
        double value = (double)random_below(1000000) / 3 - 100000;
        memcpy(at, &value, sizeof value);
    }
}

static void reduce_randomly(int64_t max_count, int rounds, bool specials)
{
    for (int round = 0; round < rounds; round++) {
        struct reduction r = random_reduction(max_count);
        for (int d = 0; d < DTYPE_COUNT; d++) {
            enum dtype dtype = (enum dtype)d;
            int size = dtype_size(dtype);
            char *memory = malloc((size_t)(r.span * size));
            for (int64_t i = 0; i < r.span; i++)
                uneven_element(dtype, memory + i * size);
            struct scalar nan = {.kind = SCALAR_FLOAT, .f = NAN};
            union element e = scalar_to_element(nan, dtype, NULL);
            for (int k = 0; specials && dtype_is_float(dtype) && k < 2; k++)
                memcpy(memory + random_below(r.span) * size, e.bytes, (size_t)size);
            for (int op = PASS_SUM; op <= PASS_ANY; op++)
                if (is_defined((enum pass_reduce)op, dtype))
                    run_reduction(&r, (enum pass_reduce)op, dtype, memory);
            free(memory);
        }
    }
}

static void test_small(void **state)
{
    reduce_randomly(3000, 15, false);
}
static void test_nan(void **state)
{
    reduce_randomly(2000, 8, true);
}
static void test_large(void **state)
{
    reduce_randomly(100000, 3, false);
}

// Extents long enough for segments: one row, and one column among several.
static void check_long(int64_t kept, int64_t reduced, bool columns)
{
    struct reduction r = {.kept = kept, .reduced = reduced, .span = kept * reduced};
    static const enum dtype dtypes[] = {DTYPE_INT16, DTYPE_FLOAT16, DTYPE_FLOAT32,
                                        DTYPE_FLOAT64};
    r.pass.ndim = 2;
    r.pass.n_reduced = 1;
    r.pass.shape[0] = kept;
    r.pass.shape[1] = reduced;
    r.strides[0] = columns ? 1 : reduced;
    r.strides[1] = columns ? kept : 1;
    r.pass.output_strides[0] = 1;
    for (int d = 0; d < 4; d++) {
        int size = dtype_size(dtypes[d]);
        char *memory = malloc((size_t)(r.span * size));
        for (int64_t i = 0; i < r.span; i++)
            uneven_element(dtypes[d], memory + i * size);
        run_reduction(&r, PASS_SUM, dtypes[d], memory);
        run_reduction(&r, PASS_ARGMAX, dtypes[d], memory);
        run_reduction(&r, PASS_MIN, dtypes[d], memory);
        free(memory);
    }
}

static void test_long(void **state)
{
    check_long(1, 1000003, false);
    check_long(3, 300001, false);
    check_long(5, 150007, true);
    check_long(300, 2049, true);
}

// A chain before the reduction: mean of (x - 2) ** 2 over columns; the exponent is a
// constant.
static void test_fused(void **state)
{
    enum { ROWS = 500, COLUMNS = 40 };
    static float x[ROWS][COLUMNS], out[COLUMNS];
    for (int i = 0; i < ROWS * COLUMNS; i++)
        x[i / COLUMNS][i % COLUMNS] = (float)random_below(1000) / 10;
    struct pass pass = {.ndim = 2,
                        .n_reduced = 1,
                        .shape = {COLUMNS, ROWS},
                        .n_inputs = 2,
                        .n_instructions = 2,
                        .reduce = PASS_MEAN,
                        .instructions = {{MAP_sub, DTYPE_FLOAT32, 0, 1, 0},
                                         {MAP_pow, DTYPE_FLOAT32, 2, 1, 0}},
                        .output = out,
                        .output_dtype = DTYPE_FLOAT32,
                        .output_strides = {1}};
    pass.inputs[0] = (struct pass_input){
        .kind = PASS_MEMORY, .dtype = DTYPE_FLOAT32, .data = x, .strides = {1, COLUMNS}};
    pass.inputs[1] = (struct pass_input){
        .kind = PASS_CONSTANT, .dtype = DTYPE_FLOAT32, .constant.f32 = 2};
    int faults = 0;
    run_spans(&pass, false, &faults);
    for (int c = 0; c < COLUMNS; c++) {
        double squares[ROWS];
        for (int r = 0; r < ROWS; r++) {
            float difference = x[r][c] - 2;
            squares[r] = difference * difference;
        }
        assert_true(out[c] == (float)(tree(PASS_SUM, squares, ROWS) / ROWS));
    }
}

// A sum of 0.1 loses no more than pairwise summation does.
static void test_accuracy(void **state)
{
    enum { N = 1000000 };
    double *x = malloc(sizeof *x * N), sum = 0;
    for (int i = 0; i < N; i++)
        x[i] = 0.1;
    struct pass pass = {.ndim = 1,
                        .n_reduced = 1,
                        .shape = {N},
                        .n_inputs = 1,
                        .reduce = PASS_SUM,
                        .output = &sum,
                        .output_dtype = DTYPE_FLOAT64};
    pass.inputs[0] = (struct pass_input){
        .kind = PASS_MEMORY, .dtype = DTYPE_FLOAT64, .data = x, .strides = {1}};
    int faults = 0;
    run_spans(&pass, false, &faults);
    long double exact = (long double)0.1 * N;
    assert_true(fabsl(sum - exact) <= 16 * spacing(DTYPE_FLOAT64, exact));
    free(x);
}

// ---- Spans of one pass on several threads at once
struct claim {
    struct host_pass *pass;
    atomic_long next;
    atomic_int faults;
};

static void *claim_spans(void *context)
{
    struct claim *claim = context;
    int faults = 0;
    for (;;) {
        int64_t span = atomic_fetch_add(&claim->next, 1);
        if (span >= host_pass_spans(claim->pass))
            break;
        host_pass_run(claim->pass, span, 1, &faults);
    }
    atomic_fetch_or(&claim->faults, faults);
    return NULL;
}

static void run_threads(const struct pass *pass)
{
    enum { THREADS = 3 };
    struct claim claim = {.next = 0};
    struct problem problem;
    pthread_t threads[THREADS];
    assert_int_equal(host_pass_create(pass, &claim.pass, &problem), STATUS_OK);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, claim_spans, &claim), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    host_pass_finish(claim.pass);
    host_pass_free(claim.pass);
    assert_int_equal(claim.faults, 0);
}

// Column sums, the total and the index of the largest, of a / 3 for integers a.
static void test_threads(void **state)
{
    enum { ROWS = 2000, COLUMNS = 150, COUNT = ROWS * COLUMNS };
    int32_t *x = malloc(sizeof *x * COUNT);
    int64_t sums[2][COLUMNS], index = -1;
    for (int i = 0; i < COUNT; i++)
        x[i] = (int32_t)random_below(1000000);
    x[123456] = 1000001;
    struct pass pass = {.ndim = 2,
                        .n_reduced = 1,
                        .shape = {COLUMNS, ROWS},
                        .n_inputs = 1,
                        .reduce = PASS_SUM,
                        .output = sums[0],
                        .output_dtype = DTYPE_INT64,
                        .output_strides = {1}};
    pass.inputs[0] = (struct pass_input){
        .kind = PASS_MEMORY, .dtype = DTYPE_INT32, .data = x, .strides = {1, COLUMNS}};
    run_threads(&pass);
    memset(sums[1], 0, sizeof sums[1]);
    for (int i = 0; i < COUNT; i++)
        sums[1][i % COLUMNS] += x[i];
    assert_memory_equal(sums[0], sums[1], sizeof sums[0]);
    pass = (struct pass){.ndim = 1,
                         .n_reduced = 1,
                         .shape = {COUNT},
                         .n_inputs = 1,
                         .reduce = PASS_ARGMAX,
                         .output = &index,
                         .output_dtype = DTYPE_INT64};
    pass.inputs[0] = (struct pass_input){
        .kind = PASS_MEMORY, .dtype = DTYPE_INT32, .data = x, .strides = {1}};
    run_threads(&pass);
    assert_int_equal(index, 123456);
    free(x);
}

// Zeros of both signs are equal for argmin and argmax: the first wins. The least of them
// is -0.
static void test_zeros(void **state)
{
    float x[] = {3, 0.0f, -0.0f, 5}, low = 1;
    int64_t index = -1;
    struct pass pass = {.ndim = 1,
                        .n_reduced = 1,
                        .shape = {4},
                        .n_inputs = 1,
                        .reduce = PASS_ARGMIN,
                        .output = &index,
                        .output_dtype = DTYPE_INT64};
    pass.inputs[0] = (struct pass_input){
        .kind = PASS_MEMORY, .dtype = DTYPE_FLOAT32, .data = x, .strides = {1}};
    int faults = 0;
    assert_true(host_pass_run_small(&pass, &faults));
    assert_int_equal(index, 1);
    pass.reduce = PASS_MIN;
    pass.output = &low;
    pass.output_dtype = DTYPE_FLOAT32;
    assert_true(host_pass_run_small(&pass, &faults));
    assert_true(low == 0 && signbit(low));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_small), cmocka_unit_test(test_nan),
        cmocka_unit_test(test_large), cmocka_unit_test(test_long),
        cmocka_unit_test(test_fused), cmocka_unit_test(test_accuracy),
        cmocka_unit_test(test_zeros), cmocka_unit_test(test_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
