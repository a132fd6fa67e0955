// SPDX-License-Identifier: Apache-2.0
// Every elementwise opcode and every conversion in every dtype, on edge values, against
// pass_oracle.h; on every instruction-set level of this machine.
#include "tests/unit/kernels/pass_oracle.h"

enum { MAX_EDGES = 40 };

static const double float_edges[] = {NAN,        INFINITY,
                                     -INFINITY,  0.0,
                                     -0.0,       1,
                                     -1,         0.5,
                                     -0.5,       1.5,
                                     2.5,        -2.5,
                                     2,          -3,
                                     7,          10.25,
                                     -88.5,      88.75,
                                     -103,       100,
                                     1e-3,       -1e-3,
                                     3e-8,       -6e-8,
                                     1e-40,      -1e-45,
                                     5e4,        -6.5504e4,
                                     3e38,       -3e38,
                                     1e-300,     1e300,
                                     0.1,        0.33325,
                                     16777217.0, 3.0e9,
                                     1e19,       9007199254740993.0};
static const int64_t integer_edges[] = {
    0,         1,     -1,        2,         -2,      3,        7,     -7,     100,
    -128,      127,   128,       255,       256,     -300,     32767, -32768, INT32_MAX,
    INT32_MIN, 65536, INT64_MAX, INT64_MIN, 1000003, -1000003, 5,     63,     64};

// Edge values of a dtype, without those that do not fit it; count.
static int edges(enum dtype dtype, union element *out, bool no_zero)
{
    int n = 0;
    if (dtype_is_float(dtype)) {
        for (size_t i = 0; i < sizeof float_edges / sizeof float_edges[0]; i++) {
            struct scalar scalar = {.kind = SCALAR_FLOAT, .f = float_edges[i]};
            out[n++] = scalar_to_element(scalar, dtype, NULL);
        }
        return n;
    }
    for (size_t i = 0; i < sizeof integer_edges / sizeof integer_edges[0]; i++) {
        struct scalar scalar = {.kind = SCALAR_INT, .i = integer_edges[i]};
        bool in_range = dtype != DTYPE_BOOL || integer_edges[i] >> 1 == 0;
        union element element =
            scalar_to_element(scalar, dtype, dtype == DTYPE_BOOL ? NULL : &in_range);
        if (in_range && !(no_zero && integer_edges[i] == 0))
            out[n++] = element;
    }
    return n;
}

static struct pass_input memory_input(enum dtype dtype, const void *data)
{
    return (struct pass_input){
        .kind = PASS_MEMORY, .dtype = dtype, .data = data, .strides = {1}};
}

// Elementary functions: within 2 ulp of the true value. Others are exact.
static bool is_approximate(const char *op)
{
    static const char *const names[] = {
        "exp",  "expm1",   "log", "log1p", "log2",  "rsqrt", "sin", "cos", "tan",
        "tanh", "sigmoid", "pow", "exp2",  "log10", "atan",  "erf", "gelu"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(op, names[i]) == 0)
            return true;
    return false;
}

static bool same_float(long double a, long double b)
{
    return (isnan(a) && isnan(b)) || (a == b && signbit(a) == signbit(b));
}

static void check_float(const char *op, enum dtype dtype, long double a, long double b,
                        long double got)
{
    // 16-bit floats compute in float32
    enum dtype computed = dtype == DTYPE_FLOAT64 ? DTYPE_FLOAT64 : DTYPE_FLOAT32;
    long double exact = float_oracle(op, a, b);
    long double expected = nearest(computed, exact);
    if (strcmp(op, "truncate_divide") == 0)
        expected = truncl(expected);
    expected = nearest(dtype, expected);
    if (same_float(got, expected) || (dtype == DTYPE_FLOAT64 && expected == got))
        return;
    // The sign of a zero from minimum(0, -0) or maximum is free.
    if (got == 0 && expected == 0 && a == b)
        return;
    bool quotient = strcmp(op, "floor_divide") == 0 || strcmp(op, "remainder") == 0;
    long double ulps = is_approximate(op) ? 2
                       : quotient         ? 1 // of operands that differ by many digits
                       : dtype == DTYPE_FLOAT64             ? 0.5L
                       : strcmp(op, "truncate_divide") == 0 ? 0
                                                            : 0;
    long double error = fabsl(got - exact);
    if (isfinite(got) && error <= ulps * spacing(dtype, exact))
        return;
    if (ulps > 0 && isinf(got) && signbit(got) == signbit(exact) &&
        isinf(nearest(dtype, exact * (1 + ldexpl(4, -24)))))
        return;
    if (quotient && fabsl(expected) > 0x1p20L && error <= fabsl(expected) * 0x1p-6L)
        return;
    fail_msg("%s %s(%.20Lg, %.20Lg) = %.20Lg, expected %.20Lg", op, dtype_name(dtype), a,
             b, got, expected);
}

static void check_integer(const char *op, enum dtype dtype, struct number a,
                          struct number b, struct number c, __int128 got)
{
    bool fault = false;
    __int128 expected = integer_oracle(op, dtype, a.i, b.i, c.i, &fault);
    expected = fault ? 0 : wrap(dtype, expected);
    if (got != expected)
        fail_msg("%s %s(%lld, %lld) = %lld, expected %lld", op, dtype_name(dtype),
                 (long long)a.i, (long long)b.i, (long long)got, (long long)expected);
}

static void check_comparison(const char *op, enum dtype dtype, struct number a,
                             struct number b, __int128 got)
{
    bool less = a.real ? a.f < b.f : a.i < b.i, equal = a.real ? a.f == b.f : a.i == b.i;
    bool greater = a.real ? a.f > b.f : a.i > b.i;
    bool expected = IS("eq")   ? equal
                    : IS("ne") ? !equal
                    : IS("lt") ? less
                    : IS("le") ? less || equal
                    : IS("gt") ? greater
                               : greater || equal;
    if (got != expected)
        fail_msg("%s %s(%Lg|%lld, %Lg|%lld) = %d", op, dtype_name(dtype), a.f,
                 (long long)a.i, b.f, (long long)b.i, (int)got);
}

static void check_element(enum map_op op, enum dtype dtype, const union element *x,
                          const union element *y, const union element *z,
                          const void *result)
{
    const char *name = map_name(op);
    enum dtype to = map_result_dtype(op, dtype);
    struct number a = load(op == MAP_where ? DTYPE_BOOL : dtype, x), b = load(dtype, y);
    struct number c = load(dtype, z), got = load(to, result);
    if (to == DTYPE_BOOL && dtype != DTYPE_BOOL)
        check_comparison(name, dtype, a, b, got.i);
    else if (op == MAP_where && b.real)
        assert_true(same_float(got.f, a.i ? b.f : c.f));
    else if (!b.real)
        check_integer(name, dtype, a, b, c, got.i);
    else
        check_float(name, dtype, a.f, b.f, got.f);
}

// All combinations of edge values.
static void check_map(enum map_op op, enum dtype dtype)
{
    union element first[MAX_EDGES], second[MAX_EDGES];
    bool divides =
        op == MAP_floor_divide || op == MAP_remainder || op == MAP_truncate_divide;
    enum dtype first_dtype = op == MAP_where ? DTYPE_BOOL : dtype;
    int n_first = edges(first_dtype, first, false);
    int n_second = map_arity(op) > 1 ? edges(dtype, second, divides) : 1;
    if (map_arity(op) == 1)
        second[0] = first[0];
    int n = n_first * n_second, size = dtype_size(dtype),
        first_size = dtype_size(first_dtype);
    int result_size = dtype_size(map_result_dtype(op, dtype));
    char *a = malloc((size_t)(n * 8)), *b = malloc((size_t)(n * 8)),
         *c = malloc((size_t)(n * 8));
    char *result = malloc((size_t)(n * 8)), *again = malloc((size_t)(n * 8));
    for (int i = 0; i < n; i++) {
        memcpy(a + i * first_size, &first[i / n_second], (size_t)first_size);
        memcpy(b + i * size, &second[i % n_second], (size_t)size);
        memcpy(c + i * size, &second[(i + 1) % n_second], (size_t)size);
    }
    struct pass pass = {
        .ndim = 1,
        .shape = {n},
        .n_inputs = 3,
        .n_instructions = 1,
        .inputs = {memory_input(first_dtype, a), memory_input(dtype, b),
                   memory_input(dtype, c)},
        .instructions =
            {{.op = (uint8_t)op, .dtype = (uint8_t)dtype, .a = 0, .b = 1, .c = 2}},
        .output = result,
        .output_dtype = map_result_dtype(op, dtype),
        .output_strides = {1}};
    int faults = 0, small_faults = 0;
    run_spans(&pass, false, &faults);
    assert_int_equal(faults, 0);
    for (int i = 0; i < n; i++)
        check_element(op, dtype, &first[i / n_second], &second[i % n_second],
                      &second[(i + 1) % n_second], result + i * result_size);
    pass.output = again;
    assert_true(host_pass_run_small(&pass, &small_faults));
    assert_memory_equal(result, again, (size_t)(n * result_size));
    free(a);
    free(b);
    free(c);
    free(result);
    free(again);
}

static void on_each_level(void (*check)(void))
{
    const struct level *before = level_current();
    for (int i = 0; level_available(i) != NULL; i++) {
        level_select(level_available(i));
        check();
    }
    level_select(before);
}

static void check_all_maps(void)
{
    for (int op = MAP_CAST + 1; op < MAP_COUNT; op++)
        for (int dtype = 0; dtype < DTYPE_COUNT; dtype++)
            if (dtype_in((enum dtype)dtype, map_dtypes((enum map_op)op)))
                check_map((enum map_op)op, (enum dtype)dtype);
}

static void test_maps(void **state)
{
    on_each_level(check_all_maps);
}

static void check_cast(enum dtype from, enum dtype to)
{
    union element values[MAX_EDGES];
    enum { N = 100 }; // the edges again and again: vector loops and their tails
    int n = edges(from, values, false), size = dtype_size(from);
    char data[N * 8], result[N * 8];
    for (int i = 0; i < N; i++)
        memcpy(data + i * size, &values[i % n], (size_t)size);
    struct pass pass = {.ndim = 1,
                        .shape = {N},
                        .n_inputs = 1,
                        .n_instructions = 1,
                        .inputs = {memory_input(from, data)},
                        .instructions = {{.op = MAP_CAST, .dtype = (uint8_t)to}},
                        .output = result,
                        .output_dtype = to,
                        .output_strides = {1}};
    for (int first = 0; first < 2; first++) { // once with and once without far values
        int faults = 0;
        for (int i = 0; first == 1 && i < N; i++)
            random_element(from, data + i * size);
        assert_true(host_pass_run_small(&pass, &faults));
        for (int i = 0; i < N; i++) {
            struct number value = load(from, data + i * size);
            struct number got = load(to, result + i * dtype_size(to));
            struct number expected = convert(value, to);
            if (got.real ? !same_float(got.f, expected.f) : got.i != expected.i)
                fail_msg("%s to %s: %.20Lg|%lld gave %.20Lg|%lld, expected %.20Lg|%lld",
                         dtype_name(from), dtype_name(to), value.f, (long long)value.i,
                         got.f, (long long)got.i, expected.f, (long long)expected.i);
        }
    }
}

static void check_all_casts(void)
{
    for (int from = 0; from < DTYPE_COUNT; from++)
        for (int to = 0; to < DTYPE_COUNT; to++)
            check_cast((enum dtype)from, (enum dtype)to);
}

static void test_casts(void **state)
{
    on_each_level(check_all_casts);
}

// Every 16-bit pattern widens to what the format says, and narrows back to itself (NaNs
// stay NaNs).
static void check_all_halves(void)
{
    enum { N = 1 << 16 };
    static uint16_t bits[N], back[N];
    static float wide[N];
    for (int i = 0; i < N; i++)
        bits[i] = (uint16_t)i;
    for (int d = DTYPE_FLOAT16; d <= DTYPE_BFLOAT16; d++) {
        enum dtype half = (enum dtype)d;
        struct pass widen = {.ndim = 1,
                             .shape = {N},
                             .n_inputs = 1,
                             .n_instructions = 1,
                             .inputs = {memory_input(half, bits)},
                             .instructions = {{.op = MAP_CAST, .dtype = DTYPE_FLOAT32}},
                             .output = wide,
                             .output_dtype = DTYPE_FLOAT32,
                             .output_strides = {1}};
        struct pass narrow = {.ndim = 1,
                              .shape = {N},
                              .n_inputs = 1,
                              .n_instructions = 1,
                              .inputs = {memory_input(DTYPE_FLOAT32, wide)},
                              .instructions = {{.op = MAP_CAST, .dtype = (uint8_t)d}},
                              .output = back,
                              .output_dtype = half,
                              .output_strides = {1}};
        int faults = 0;
        run_spans(&widen, false, &faults);
        run_spans(&narrow, false, &faults);
        for (int i = 0; i < N; i++) {
            assert_true(same_float(wide[i], load(half, &bits[i]).f));
            if (isnan(wide[i]))
                assert_true(isnan(load(half, &back[i]).f));
            else
                assert_int_equal(back[i], bits[i]);
        }
    }
}

static void test_halves(void **state)
{
    on_each_level(check_all_halves);
}

static void check_faults(void)
{
    static const enum map_op ops[] = {MAP_floor_divide, MAP_remainder,
                                      MAP_truncate_divide};
    for (int i = 0; i < 3; i++) {
        for (int d = DTYPE_UINT8; d <= DTYPE_INT64; d++) {
            char a[64] = {0}, b[64] = {0}, result[64];
            memset(a, 1, sizeof a);
            memset(b, 1, sizeof b);
            memset(b + 3 * dtype_size((enum dtype)d), 0,
                   (size_t)dtype_size((enum dtype)d));
            struct pass pass = {.ndim = 1,
                                .shape = {3},
                                .n_inputs = 2,
                                .n_instructions = 1,
                                .inputs = {memory_input((enum dtype)d, a),
                                           memory_input((enum dtype)d, b)},
                                .instructions = {{(uint8_t)ops[i], (uint8_t)d, 0, 1, 0}},
                                .output = result,
                                .output_dtype = (enum dtype)d,
                                .output_strides = {1}};
            int faults = 0;
            assert_true(host_pass_run_small(&pass, &faults));
            assert_int_equal(faults, 0);
            pass.shape[0] = 8;
            assert_true(host_pass_run_small(&pass, &faults));
            assert_int_equal(faults, 1);
            faults = 0;
            run_spans(&pass, false, &faults);
            assert_int_equal(faults, 1);
        }
    }
}

static void test_faults(void **state)
{
    on_each_level(check_faults);
}

// The same operands give the same bits on every level, where only arithmetic is used.
static void test_levels_agree(void **state)
{
    enum { N = 1000 };
    static float a[N], b[N], results[2][N];
    const struct level *before = level_current();
    for (int i = 0; i < N; i++) {
        uint32_t bits = (uint32_t)random_bits();
        memcpy(&a[i], &bits, 4);
        b[i] = (float)random_below(1000) / 7 - 50;
    }
    static const enum map_op ops[] = {MAP_add,   MAP_mul,   MAP_div,     MAP_sqrt,
                                      MAP_rsqrt, MAP_round, MAP_maximum, MAP_sigmoid,
                                      MAP_exp,   MAP_tanh,  MAP_log};
    for (size_t op = 0; op < sizeof ops / sizeof ops[0]; op++) {
        for (int i = 0; level_available(i) != NULL; i++) {
            struct pass pass = {
                .ndim = 1,
                .shape = {N},
                .n_inputs = 2,
                .n_instructions = 1,
                .inputs = {memory_input(DTYPE_FLOAT32, a),
                           memory_input(DTYPE_FLOAT32, b)},
                .instructions = {{(uint8_t)ops[op], DTYPE_FLOAT32, 0, 1, 0}},
                .output = results[i > 0],
                .output_dtype = DTYPE_FLOAT32,
                .output_strides = {1}};
            int faults = 0;
            level_select(level_available(i));
            assert_true(host_pass_run_small(&pass, &faults));
            for (int j = 0; i > 0 && j < N; j++)
                if (!isnan(results[0][j]) || !isnan(results[1][j]))
                    assert_memory_equal(&results[0][j], &results[1][j], 4);
        }
    }
    level_select(before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_maps),         cmocka_unit_test(test_casts),
        cmocka_unit_test(test_halves),       cmocka_unit_test(test_faults),
        cmocka_unit_test(test_levels_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
