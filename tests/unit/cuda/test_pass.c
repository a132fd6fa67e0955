// SPDX-License-Identifier: Apache-2.0
// Passes beyond single operations: casts, layouts, constants and indices, chains, in
// place, slices.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/cuda/fixture.h"

// A pass over `count` elements with one contiguous input and contiguous output.
static struct pass unary(int64_t count, const void *data, enum dtype from, void *out,
                         enum dtype to)
{
    return (struct pass){
        .ndim = 1,
        .shape = {count},
        .n_inputs = 1,
        .inputs = {{.kind = PASS_MEMORY, .dtype = from, .data = data, .strides = {1}}},
        .output = out,
        .output_dtype = to,
        .output_strides = {1}};
}

static void add(struct pass *pass, enum map_op op, enum dtype dtype, int a, int b)
{
    pass->instructions[pass->n_instructions++] =
        (struct pass_instruction){(uint8_t)op, (uint8_t)dtype, (uint8_t)a, (uint8_t)b, 0};
}

// ---- casts
static const double cast_values[] = {
    0,          1,          -1,           0.5,           -0.5,      1.9,
    -1.9,       127,        128,          -128,          -129,      255,
    256,        32767,      32768,        65504,         65519,     65520,
    1e5,        2147483647, 2147483648.0, -2147483649.0, 1e10,      9007199254740993.0,
    9.2e18,     9.3e18,     -9.3e18,      1e30,          -1e30,     1e39,
    1e-8,       6e-8,       1e-40,        INFINITY,      -INFINITY, NAN,
    3.14159274, 0.1,        1.00390625,   1.01171875};
enum { CASTS = sizeof cast_values / sizeof *cast_values };

// The rule of pass.h, from the stored source element.
static void cast_oracle(const void *from, enum dtype source, void *to, enum dtype target,
                        int i)
{
    if (source == DTYPE_INT64 && !dtype_is_float(target) && target != DTYPE_BOOL) {
        memcpy((char *)to + i * dtype_size(target), (const char *)from + i * 8,
               (size_t)dtype_size(target));
        return;
    }
    if (source == DTYPE_INT64 && target == DTYPE_FLOAT32) { // once, not through double
        int64_t exact;
        memcpy(&exact, (const char *)from + i * 8, 8);
        ((float *)to)[i] = (float)exact;
        return;
    }
    fixture_set(to, target, i, fixture_get(from, source, i));
}

static void test_casts(void **state)
{
    char from[CASTS * 8], expected[CASTS * 8], got[CASTS * 8];
    for (enum dtype source = 0; source < DTYPE_COUNT; source++) {
        for (int i = 0; i < CASTS; i++)
            fixture_set(from, source, i, cast_values[i]);
        for (enum dtype target = 0; target < DTYPE_COUNT; target++) {
            int64_t bytes = CASTS * dtype_size(target);
            void *data = fixture_put(from, CASTS * dtype_size(source));
            memset(got, 0x77, sizeof got);
            void *out = fixture_put(got, bytes);
            struct pass pass = unary(CASTS, data, source, out, target);
            add(&pass, MAP_CAST, target, 0, 0);
            fixture_pass(&pass);
            fixture_take(out, got, bytes);
            fixture_drop(data, CASTS * dtype_size(source));
            for (int i = 0; i < CASTS; i++) {
                cast_oracle(from, source, expected, target, i);
                double want = fixture_get(expected, target, i),
                       have = fixture_get(got, target, i);
                if (isnan(want) ? !isnan(have)
                                : memcmp(expected + i * dtype_size(target),
                                         got + i * dtype_size(target),
                                         (size_t)dtype_size(target)))
                    fail_msg("%s to %s, %g: %.17g, not %.17g", dtype_name(source),
                             dtype_name(target), cast_values[i], have, want);
            }
        }
    }
}

// ---- layouts
// Eight dims with odd sizes, permuted and broadcast inputs, strided output.
static void test_eight_dims(void **state)
{
    enum { N = 2 * 3 * 2 * 3 * 5 * 2 * 3 * 2 };
    static const int64_t shape[8] = {2, 3, 2, 3, 5, 2, 3, 2};
    static const int64_t reversed[8] = {1, 2, 6, 12, 36, 180, 360, 1080};
    static const int64_t broadcast[8] = {0, 6, 0, 2, 0, 1, 0, 0};
    int32_t a[N], b[18], out[2 * N];
    for (int i = 0; i < N; i++)
        a[i] = 3 * i;
    for (int i = 0; i < 18; i++)
        b[i] = 100000 * i;
    memset(out, 0, sizeof out);
    struct pass pass = {.ndim = 8, .n_inputs = 2};
    memcpy(pass.shape, shape, sizeof shape);
    pass.inputs[0] = (struct pass_input){
        .kind = PASS_MEMORY, .dtype = DTYPE_INT32, .data = fixture_put(a, sizeof a)};
    memcpy(pass.inputs[0].strides, reversed, sizeof reversed);
    pass.inputs[1] = (struct pass_input){
        .kind = PASS_MEMORY, .dtype = DTYPE_INT32, .data = fixture_put(b, sizeof b)};
    memcpy(pass.inputs[1].strides, broadcast, sizeof broadcast);
    add(&pass, MAP_add, DTYPE_INT32, 0, 1);
    pass.output = fixture_put(out, sizeof out);
    pass.output_dtype = DTYPE_INT32;
    for (int d = 7, stride = 2; d >= 0; stride *= (int)shape[d--])
        pass.output_strides[d] = stride;
    fixture_pass(&pass);
    fixture_take(pass.output, out, sizeof out);
    for (int i = 0; i < N; i++) {
        int64_t rest = i, at_a = 0, at_b = 0;
        for (int d = 7; d >= 0; d--) {
            at_a += rest % shape[d] * reversed[d];
            at_b += rest % shape[d] * broadcast[d];
            rest /= shape[d];
        }
        assert_int_equal(out[2 * i], a[at_a] + b[at_b]);
        assert_int_equal(out[2 * i + 1], 0); // between the elements nothing is written
    }
    fixture_drop((void *)pass.inputs[0].data, sizeof a);
    fixture_drop((void *)pass.inputs[1].data, sizeof b);
}

// Divisors of every kind: sizes around powers of two in the inner dim.
static void test_divisors(void **state)
{
    static const int64_t sizes[] = {2,   3,   5,   7,   31,   32,   33,   127,
                                    255, 256, 257, 641, 1000, 4095, 4097, 65537};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        int64_t inner = sizes[s], outer = 70000 / inner + 2, bytes = inner * outer * 4;
        int32_t *host = malloc((size_t)bytes);
        struct pass pass = {.ndim = 2,
                            .shape = {outer, inner},
                            .n_inputs = 2,
                            .output_dtype = DTYPE_INT32,
                            .output_strides = {inner, 1}};
        int32_t *column = malloc((size_t)outer * 4);
        for (int i = 0; i < outer; i++)
            column[i] = 7 * i;
        pass.inputs[0] = (struct pass_input){.kind = PASS_MEMORY,
                                             .dtype = DTYPE_INT32,
                                             .data = fixture_put(column, outer * 4),
                                             .strides = {1, 0}};
        pass.inputs[1] = (struct pass_input){.kind = PASS_INDEX, .dtype = DTYPE_INT64};
        add(&pass, MAP_CAST, DTYPE_INT32, 1, 0);
        add(&pass, MAP_add, DTYPE_INT32, 0, 2);
        pass.output = fixture_block(bytes);
        fixture_pass(&pass);
        fixture_take(pass.output, host, bytes);
        for (int64_t i = 0; i < inner * outer; i++)
            assert_int_equal(host[i], 7 * (i / inner) + i);
        fixture_drop((void *)pass.inputs[0].data, outer * 4);
        free(column);
        free(host);
    }
}

// No instruction: fills (a constant), aranges (the index) and strided copies, of every
// dtype.
static void test_no_instruction(void **state)
{
    enum { N = 300 };
    char host[N * 8], from[2 * N * 8];
    for (enum dtype dtype = 0; dtype < DTYPE_COUNT; dtype++) {
        struct pass pass = {.ndim = 1,
                            .shape = {N},
                            .n_inputs = 1,
                            .output_dtype = dtype,
                            .output_strides = {1}};
        pass.inputs[0] = (struct pass_input){.kind = PASS_CONSTANT, .dtype = dtype};
        fixture_set(&pass.inputs[0].constant, dtype, 0, dtype == DTYPE_BOOL ? 1 : 42);
        pass.output = fixture_block(N * dtype_size(dtype));
        fixture_pass(&pass);
        fixture_take(pass.output, host, N * dtype_size(dtype));
        for (int i = 0; i < N; i++)
            assert_true(fixture_get(host, dtype, i) == (dtype == DTYPE_BOOL ? 1 : 42));

        for (int i = 0; i < 2 * N; i++)
            fixture_set(from, dtype, i, i % 100);
        pass.inputs[0] =
            (struct pass_input){.kind = PASS_MEMORY,
                                .dtype = dtype,
                                .strides = {2},
                                .data = fixture_put(from, 2 * N * dtype_size(dtype))};
        pass.output = fixture_block(N * dtype_size(dtype));
        fixture_pass(&pass);
        fixture_take(pass.output, host, N * dtype_size(dtype));
        for (int i = 0; i < N; i++)
            assert_true(fixture_get(host, dtype, i) == fixture_get(from, dtype, 2 * i));
        fixture_drop((void *)pass.inputs[0].data, 2 * N * dtype_size(dtype));
    }
    struct pass pass = {.ndim = 1,
                        .shape = {N},
                        .n_inputs = 1,
                        .output_dtype = DTYPE_INT64,
                        .output_strides = {1},
                        .inputs = {{.kind = PASS_INDEX, .dtype = DTYPE_INT64}}};
    pass.output = fixture_block(N * 8);
    fixture_pass(&pass);
    fixture_take(pass.output, host, N * 8);
    for (int i = 0; i < N; i++)
        assert_true(fixture_get(host, DTYPE_INT64, i) == i);
}

// ---- chains
// ((x * x + c) - x) / x in one pass against one pass for each operation: the same bits in
// every float dtype.
static void test_fused_equals_unfused(void **state)
{
    enum { N = 5000 };
    char host[N * 8], fused[N * 8], single[N * 8];
    uint32_t random = 5;
    for (enum dtype dtype = DTYPE_FLOAT16; dtype <= DTYPE_FLOAT64; dtype++) {
        int64_t bytes = N * dtype_size(dtype);
        for (int i = 0; i < N; i++)
            fixture_set(host, dtype, i, fixture_random(&random) / 1e6 + 0.01);
        void *x = fixture_put(host, bytes), *y = fixture_put(host, bytes);
        struct pass_input constant = {.kind = PASS_CONSTANT, .dtype = dtype};
        fixture_set(&constant.constant, dtype, 0, 1.7);
        static const enum map_op ops[] = {MAP_mul, MAP_add, MAP_sub, MAP_div};
        struct pass pass = unary(N, x, dtype, y, dtype);
        pass.n_inputs = 2;
        pass.inputs[1] = constant;
        add(&pass, MAP_mul, dtype, 0, 0);
        add(&pass, MAP_add, dtype, 2, 1);
        add(&pass, MAP_sub, dtype, 3, 0);
        add(&pass, MAP_div, dtype, 4, 0);
        fixture_pass(&pass);
        fixture_take(y, fused, bytes);

        void *step = fixture_put(host, bytes);
        for (int i = 0; i < 4; i++) { // step = step op (x or the constant), in place
            pass = unary(N, step, dtype, step, dtype);
            pass.n_inputs = 2;
            pass.inputs[1] =
                i == 1
                    ? constant
                    : (struct pass_input){
                          .kind = PASS_MEMORY, .dtype = dtype, .data = x, .strides = {1}};
            add(&pass, ops[i], dtype, 0, 1);
            fixture_pass(&pass);
        }
        fixture_take(step, single, bytes);
        assert_memory_equal(fused, single, (size_t)bytes);
        fixture_drop(x, bytes);
    }
}

// A float32 constant in a float16 instruction enters unrounded: 0.1f rounded to float16
// would give other bits.
static void test_unrounded_constant(void **state)
{
    enum { N = 64 };
    uint16_t host[N], out[N];
    for (int i = 0; i < N; i++)
        host[i] = float16_from_float((float)(i + 1));
    struct pass pass = unary(N, fixture_put(host, sizeof host), DTYPE_FLOAT16,
                             fixture_block(sizeof out), DTYPE_FLOAT16);
    pass.n_inputs = 2;
    pass.inputs[1] = (struct pass_input){
        .kind = PASS_CONSTANT, .dtype = DTYPE_FLOAT32, .constant = {.f32 = 0.1f}};
    add(&pass, MAP_mul, DTYPE_FLOAT16, 0, 1);
    fixture_pass(&pass);
    fixture_take(pass.output, out, sizeof out);
    fixture_drop((void *)pass.inputs[0].data, sizeof host);
    for (int i = 0; i < N; i++)
        assert_int_equal(out[i], float16_from_float((float)(i + 1) * 0.1f));
}

// The largest program: 43 values alive at once, then folded by `where` (three operands
// each).
static void test_largest_program(void **state)
{
    enum { N = 1000, PRODUCED = 43, FOLDS = 21 };
    int64_t host[N], out[N];
    for (int i = 0; i < N; i++)
        host[i] = i - 500;
    struct pass pass = unary(N, fixture_put(host, sizeof host), DTYPE_INT64,
                             fixture_block(sizeof out), DTYPE_INT64);
    pass.n_inputs = 16;
    for (int c = 1; c < 16; c++)
        pass.inputs[c] = (struct pass_input){
            .kind = PASS_CONSTANT, .dtype = DTYPE_INT64, .constant = {.i64 = c}};
    for (int i = 0; i < PRODUCED; i++) // x + (i mod 16, where 0 stands for x)
        add(&pass, MAP_add, DTYPE_INT64, 0, i % 16);
    int value =
        16 + PRODUCED - 1; // the last produced, folded with two earlier ones each time
    for (int f = 0; f < FOLDS; f++) {
        pass.instructions[pass.n_instructions] =
            (struct pass_instruction){MAP_where, DTYPE_INT64, (uint8_t)(16 + 2 * f),
                                      (uint8_t)(16 + 2 * f + 1), (uint8_t)value};
        value = 16 + pass.n_instructions++;
    }
    // `where` wants a bool condition: the produced int64 values serve as one in a cast of
    // their own.
    for (int f = 0; f < FOLDS; f++)
        pass.instructions[2 * f] =
            (struct pass_instruction){MAP_gt, DTYPE_INT64, 0, (uint8_t)((2 * f) % 16), 0};
    assert_int_equal(pass.n_instructions, PASS_MAX_INSTRUCTIONS);
    fixture_pass(&pass);
    fixture_take(pass.output, out, sizeof out);
    fixture_drop((void *)pass.inputs[0].data, sizeof host);
    for (int i = 0; i < N; i++) {
        int64_t x = host[i], expected = x + 42 % 16;
        for (int f = 0; f < FOLDS; f++) {
            int64_t right = (2 * f) % 16 ? (2 * f) % 16 : x;
            int64_t taken = (2 * f + 1) % 16 ? x + (2 * f + 1) % 16 : 2 * x;
            expected = x > right ? taken : expected;
        }
        assert_int_equal(out[i], expected);
    }
}

// Sixteen inputs, each used twice, in two classes.
static void test_many_inputs(void **state)
{
    enum { N = 700 };
    float host[16][N], out[N];
    struct pass pass =
        unary(N, NULL, DTYPE_FLOAT32, fixture_block(sizeof out), DTYPE_FLOAT32);
    pass.n_inputs = 16;
    for (int k = 0; k < 16; k++) {
        for (int i = 0; i < N; i++)
            host[k][i] = (float)((i * (k + 3)) % 17) - 8;
        pass.inputs[k] = (struct pass_input){.kind = PASS_MEMORY,
                                             .dtype = DTYPE_FLOAT32,
                                             .data = fixture_put(host[k], sizeof host[k]),
                                             .strides = {1}};
    }
    add(&pass, MAP_mul, DTYPE_FLOAT32, 0, 0);
    for (int k = 1; k < 16; k++) {
        add(&pass, MAP_mul, DTYPE_FLOAT32, k, k);
        add(&pass, MAP_add, DTYPE_FLOAT32, 16 + 2 * k - 2, 16 + 2 * k - 1);
    }
    fixture_pass(&pass);
    fixture_take(pass.output, out, sizeof out);
    for (int k = 0; k < 16; k++)
        fixture_drop((void *)pass.inputs[k].data, sizeof host[k]);
    for (int i = 0; i < N; i++) {
        double expected = 0;
        for (int k = 0; k < 16; k++)
            expected += (double)host[k][i] * host[k][i];
        assert_true(out[i] == expected); // small integers: exact
    }
}

// Many slices and a last partial block.
static void test_slices(void **state)
{
    int64_t count = 3000001, bytes = count * 4;
    int32_t *host = malloc((size_t)bytes);
    for (int64_t i = 0; i < count; i++)
        host[i] = (int32_t)i;
    void *block = fixture_put(host, bytes);
    struct pass pass = unary(count, block, DTYPE_INT32, block, DTYPE_INT32);
    pass.n_inputs = 2;
    pass.inputs[1] = (struct pass_input){
        .kind = PASS_CONSTANT, .dtype = DTYPE_INT32, .constant = {.i32 = 2147483647}};
    add(&pass, MAP_add, DTYPE_INT32, 0, 1);
    int64_t busy = device->vt->busy(device);
    struct plan *plan;
    struct problem problem;
    struct kernel kernel = {.form = KERNEL_PASS, .pass = &pass};
    assert_int_equal(device->vt->plan(device, &kernel, &plan, &problem), STATUS_OK);
    int64_t done, total;
    device->vt->plan_progress(plan, &done, &total);
    assert_int_equal(done, 0);
    assert_true(total > 3);
    device->vt->plan_free(plan); // unused plans cost nothing
    fixture_pass(&pass);
    assert_true(device->vt->busy(device) > busy);
    fixture_take(block, host, bytes);
    for (int64_t i = 0; i < count; i++)
        assert_int_equal(host[i], (int32_t)(uint32_t)(i + 2147483647));
    free(host);
}

// Two plans of one device, slice about: each does its own work.
static void test_interleaved(void **state)
{
    enum { N = 400000 };
    static int32_t host[2][N];
    struct plan *plans[2];
    struct pass passes[2];
    struct problem problem;
    for (int p = 0; p < 2; p++) {
        void *block = fixture_block(sizeof host[p]);
        passes[p] = unary(N, block, DTYPE_INT32, block, DTYPE_INT32);
        passes[p].inputs[0] =
            (struct pass_input){.kind = PASS_INDEX, .dtype = DTYPE_INT64};
        add(&passes[p], MAP_CAST, DTYPE_INT32, 0, 0);
        if (p == 1)
            add(&passes[p], MAP_neg, DTYPE_INT32, 1, 0);
        struct kernel kernel = {.form = KERNEL_PASS, .pass = &passes[p]};
        assert_int_equal(device->vt->plan(device, &kernel, &plans[p], &problem),
                         STATUS_OK);
    }
    enum slice slices[2] = {SLICE_MORE, SLICE_MORE};
    int turns = 0;
    while (slices[0] == SLICE_MORE || slices[1] == SLICE_MORE) {
        for (int p = 0; p < 2; p++)
            if (slices[p] == SLICE_MORE)
                slices[p] = device->vt->plan_next(plans[p], &problem);
        turns++;
    }
    assert_true(turns > 2);
    for (int p = 0; p < 2; p++) {
        assert_int_equal(slices[p], SLICE_DONE);
        device->vt->plan_free(plans[p]);
        fixture_take(passes[p].output, host[p], sizeof host[p]);
        for (int i = 0; i < N; i++)
            assert_int_equal(host[p][i], p ? -i : i);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_casts),
        cmocka_unit_test(test_eight_dims),
        cmocka_unit_test(test_divisors),
        cmocka_unit_test(test_no_instruction),
        cmocka_unit_test(test_fused_equals_unfused),
        cmocka_unit_test(test_unrounded_constant),
        cmocka_unit_test(test_largest_program),
        cmocka_unit_test(test_many_inputs),
        cmocka_unit_test(test_slices),
        cmocka_unit_test(test_interleaved),
    };
    return fixture_run("pass", tests, sizeof tests / sizeof *tests);
}
