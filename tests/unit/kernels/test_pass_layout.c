// SPDX-License-Identifier: Apache-2.0
// Passes over strided, broadcast, transposed and many-dimensional memory: the same bits
// as a plain loop over packed copies, however the spans are run, on every instruction-set
// level.
#include "tests/unit/kernels/pass_oracle.h"

// ---- Random layouts
struct layout_case {
    int ndim;
    int64_t shape[PASS_MAX_NDIM], count;
};

static struct layout_case random_shape(int64_t max_count)
{
    static const int64_t sizes[] = {1, 2, 3, 5, 8, 17, 33, 70, 300, 1100};
    struct layout_case made = {.ndim = (int)random_below(PASS_MAX_NDIM + 1), .count = 1};
    for (int d = 0; d < made.ndim; d++) {
        int64_t size = sizes[random_below(10)];
        made.shape[d] = made.count * size <= max_count ? size : 1;
        made.count *= made.shape[d];
    }
    return made;
}

// Strides of a random permutation of the dims with gaps; some dims broadcast. The
// elements spanned.
static int64_t random_strides(const struct layout_case *layout, bool may_broadcast,
                              int64_t *strides)
{
    int order[PASS_MAX_NDIM];
    for (int d = 0; d < layout->ndim; d++)
        order[d] = d;
    int kind = (int)random_below(3); // C order, permuted, permuted with gaps
    for (int d = layout->ndim - 1; kind > 0 && d > 0; d--) {
        int other = (int)random_below(d + 1), saved = order[d];
        order[d] = order[other];
        order[other] = saved;
    }
    int64_t stride = 1;
    for (int i = layout->ndim - 1; i >= 0; i--) {
        strides[order[i]] = stride;
        stride *= layout->shape[order[i]];
        if (kind == 2)
            stride += random_below(3);
    }
    for (int d = 0; may_broadcast && d < layout->ndim; d++)
        if (random_below(5) == 0)
            strides[d] = 0;
    return stride + 4;
}

static int64_t offset_of(const struct layout_case *layout, const int64_t *strides,
                         int64_t i)
{
    int64_t offset = 0;
    for (int d = layout->ndim - 1; d >= 0; d--) {
        offset += i % layout->shape[d] * strides[d];
        i /= layout->shape[d];
    }
    return offset;
}

static char *random_memory(enum dtype dtype, int64_t n)
{
    char *memory = malloc((size_t)(n * dtype_size(dtype)));
    for (int64_t i = 0; i < n; i++)
        random_element(dtype, memory + i * dtype_size(dtype));
    return memory;
}

// ---- (x + y) * x + index, cast to `to`
enum { INPUTS = 3 };
struct computation {
    struct layout_case layout;
    struct pass pass;
    enum dtype dtype, to;
    int64_t spans[INPUTS + 1]; // elements of memory
};

static struct computation random_computation(enum dtype dtype, enum dtype to)
{
    struct computation made = {.layout = random_shape(60000), .dtype = dtype, .to = to};
    struct pass *pass = &made.pass;
    pass->ndim = made.layout.ndim;
    memcpy(pass->shape, made.layout.shape, sizeof pass->shape);
    pass->n_inputs = INPUTS;
    for (int i = 0; i < 2; i++) {
        struct pass_input *input = &pass->inputs[i];
        input->kind = PASS_MEMORY;
        input->dtype = dtype;
        made.spans[i] = random_strides(&made.layout, true, input->strides);
        input->data = random_memory(dtype, made.spans[i]);
    }
    pass->inputs[2].kind = PASS_INDEX;
    pass->inputs[2].dtype = DTYPE_INT64;
    const struct pass_instruction program[] = {{MAP_add, (uint8_t)dtype, 0, 1, 0},
                                               {MAP_mul, (uint8_t)dtype, 3, 0, 0},
                                               {MAP_CAST, (uint8_t)dtype, 2, 0, 0},
                                               {MAP_add, (uint8_t)dtype, 4, 5, 0},
                                               {MAP_CAST, (uint8_t)to, 6, 0, 0}};
    pass->n_instructions = sizeof program / sizeof program[0];
    memcpy(pass->instructions, program, sizeof program);
    pass->output_dtype = to;
    made.spans[INPUTS] = random_strides(&made.layout, false, pass->output_strides);
    return made;
}

static struct number binary(const char *op, enum dtype dtype, struct number a,
                            struct number b)
{
    struct number out = {dtype_is_float(dtype), 0, 0};
    bool fault = false;
    if (out.real) {
        long double exact = float_oracle(op, a.f, b.f);
        if (dtype != DTYPE_FLOAT64)
            exact = nearest(DTYPE_FLOAT32, exact);
        out.f = nearest(dtype, exact);
    } else {
        out.i = wrap(dtype, integer_oracle(op, dtype, a.i, b.i, 0, &fault));
    }
    return out;
}

static struct number expected_element(const struct computation *c, int64_t i)
{
    struct number x[2];
    for (int k = 0; k < 2; k++) {
        const struct pass_input *input = &c->pass.inputs[k];
        int64_t offset = offset_of(&c->layout, input->strides, i);
        x[k] = load(c->dtype, (const char *)input->data + offset * dtype_size(c->dtype));
    }
    struct number sum = binary("add", c->dtype, x[0], x[1]);
    struct number product = binary("mul", c->dtype, sum, x[0]);
    struct number index = convert((struct number){false, i, 0}, c->dtype);
    return convert(binary("add", c->dtype, product, index), c->to);
}

static void check_output(const struct computation *c, const char *output)
{
    for (int64_t i = 0; i < c->layout.count; i++) {
        int64_t offset = offset_of(&c->layout, c->pass.output_strides, i);
        struct number got = load(c->to, output + offset * dtype_size(c->to));
        struct number expected = expected_element(c, i);
        if (got.real ? got.f != expected.f : got.i != expected.i)
            fail_msg(
                "%s to %s, ndim %d, element %lld of %lld: %Lg|%lld, expected %Lg|%lld",
                dtype_name(c->dtype), dtype_name(c->to), c->layout.ndim, (long long)i,
                (long long)c->layout.count, got.f, (long long)got.i, expected.f,
                (long long)expected.i);
    }
}

// Bytes between the output's elements are never touched.
static void run_computation(struct computation *c)
{
    const struct level *before = level_current();
    size_t bytes = (size_t)(c->spans[INPUTS] * dtype_size(c->to));
    char *first = malloc(bytes), *other = malloc(bytes);
    int faults = 0;
    memset(first, 0x55, bytes);
    c->pass.output = first;
    run_spans(&c->pass, false, &faults);
    check_output(c, first);
    c->pass.output = other;
    for (int i = 0; level_available(i) != NULL; i++) {
        level_select(level_available(i));
        memset(other, 0x55, bytes);
        run_spans(&c->pass, true, &faults);
        assert_memory_equal(first, other, bytes);
        memset(other, 0x55, bytes);
        bool small = host_pass_run_small(&c->pass, &faults);
        assert_int_equal(small, c->layout.count <= HOST_PASS_SMALL);
        if (small)
            assert_memory_equal(first, other, bytes);
    }
    level_select(before);
    assert_int_equal(faults, 0);
    free(first);
    free(other);
    free((void *)(uintptr_t)c->pass.inputs[0].data);
    free((void *)(uintptr_t)c->pass.inputs[1].data);
}

static void test_random_layouts(void **state)
{
    for (int round = 0; round < 12; round++) {
        for (int dtype = DTYPE_UINT8; dtype < DTYPE_COUNT; dtype++) {
            enum dtype to = (enum dtype)random_below(DTYPE_COUNT);
            struct computation c = random_computation((enum dtype)dtype, to);
            run_computation(&c);
        }
    }
}

// ---- Copies: a pass without instructions moves any bits, 16-bit NaNs and all
static void check_copy(const struct layout_case *layout, enum dtype dtype)
{
    struct pass pass = {.ndim = layout->ndim, .n_inputs = 1, .output_dtype = dtype};
    int size = dtype_size(dtype), faults = 0;
    memcpy(pass.shape, layout->shape, sizeof pass.shape);
    pass.inputs[0] = (struct pass_input){.kind = PASS_MEMORY, .dtype = dtype};
    int64_t from_span = random_strides(layout, true, pass.inputs[0].strides);
    int64_t to_span = random_strides(layout, false, pass.output_strides);
    char *from = malloc((size_t)(from_span * size)),
         *to = malloc((size_t)(to_span * size));
    for (int64_t i = 0; i < from_span * size; i++)
        from[i] = (char)random_bits();
    memset(to, 0x55, (size_t)(to_span * size));
    pass.inputs[0].data = from;
    pass.output = to;
    run_spans(&pass, true, &faults);
    for (int64_t i = 0; i < layout->count; i++)
        assert_memory_equal(to + offset_of(layout, pass.output_strides, i) * size,
                            from + offset_of(layout, pass.inputs[0].strides, i) * size,
                            (size_t)size);
    free(from);
    free(to);
}

static void test_copies(void **state)
{
    static const enum dtype dtypes[] = {DTYPE_UINT8, DTYPE_FLOAT16, DTYPE_FLOAT32,
                                        DTYPE_INT64};
    for (int round = 0; round < 40; round++) {
        struct layout_case layout = random_shape(60000);
        for (int i = 0; i < 4; i++)
            check_copy(&layout, dtypes[i]);
    }
}

static void test_transpose(void **state)
{
    struct layout_case layout = {.ndim = 2, .shape = {333, 450}, .count = 333 * 450};
    int32_t *from = malloc(sizeof *from * 333 * 450),
            *to = malloc(sizeof *to * 333 * 450);
    for (int i = 0; i < 333 * 450; i++)
        from[i] = i;
    struct pass pass = {.ndim = 2,
                        .shape = {333, 450},
                        .n_inputs = 1,
                        .output = to,
                        .output_dtype = DTYPE_INT32,
                        .output_strides = {450, 1}};
    pass.inputs[0] = (struct pass_input){
        .kind = PASS_MEMORY, .dtype = DTYPE_INT32, .data = from, .strides = {1, 333}};
    int faults = 0;
    run_spans(&pass, true, &faults);
    for (int64_t i = 0; i < layout.count; i++)
        assert_int_equal(to[i], i % 450 * 333 + i / 450);
    free(from);
    free(to);
}

// ---- Fills, ramps, and results beyond the cache
static void test_constants(void **state)
{
    enum { N = 3 << 20 };
    float *out = malloc(sizeof *out * N);
    struct pass fill = {.ndim = 2,
                        .shape = {3, 1 << 20},
                        .n_inputs = 1,
                        .output = out,
                        .output_dtype = DTYPE_FLOAT32,
                        .output_strides = {1 << 20, 1}};
    fill.inputs[0] = (struct pass_input){
        .kind = PASS_CONSTANT, .dtype = DTYPE_FLOAT32, .constant.f32 = 2.5f};
    int faults = 0;
    run_spans(&fill, false, &faults);
    for (int i = 0; i < N; i++)
        assert_true(out[i] == 2.5f);
    // index * 0.5 + 1
    struct pass ramp = {.ndim = 1,
                        .shape = {N},
                        .n_inputs = 3,
                        .n_instructions = 3,
                        .instructions = {{MAP_CAST, DTYPE_FLOAT32, 0, 0, 0},
                                         {MAP_mul, DTYPE_FLOAT32, 3, 1, 0},
                                         {MAP_add, DTYPE_FLOAT32, 4, 2, 0}},
                        .output = out,
                        .output_dtype = DTYPE_FLOAT32,
                        .output_strides = {1}};
    ramp.inputs[0] = (struct pass_input){.kind = PASS_INDEX};
    ramp.inputs[1] = (struct pass_input){
        .kind = PASS_CONSTANT, .dtype = DTYPE_FLOAT32, .constant.f32 = 0.5f};
    ramp.inputs[2] = (struct pass_input){
        .kind = PASS_CONSTANT, .dtype = DTYPE_FLOAT32, .constant.f32 = 1};
    run_spans(&ramp, true, &faults);
    for (int i = 0; i < N; i++)
        assert_true(out[i] == (float)i * 0.5f + 1);
    free(out);
}

// x += y and x = -x in place, x being a strided view.
static void test_in_place(void **state)
{
    enum { ROWS = 700, COLUMNS = 300, PITCH = 310 };
    int32_t *x = malloc(sizeof *x * ROWS * PITCH), *y = malloc(sizeof *y * COLUMNS);
    for (int i = 0; i < ROWS * PITCH; i++)
        x[i] = i;
    for (int i = 0; i < COLUMNS; i++)
        y[i] = 1000 * i;
    struct pass pass = {.ndim = 2,
                        .shape = {ROWS, COLUMNS},
                        .n_inputs = 2,
                        .n_instructions = 2,
                        .instructions = {{MAP_add, DTYPE_INT32, 0, 1, 0},
                                         {MAP_neg, DTYPE_INT32, 2, 0, 0}},
                        .output = x,
                        .output_dtype = DTYPE_INT32,
                        .output_strides = {PITCH, 1}};
    pass.inputs[0] = (struct pass_input){
        .kind = PASS_MEMORY, .dtype = DTYPE_INT32, .data = x, .strides = {PITCH, 1}};
    pass.inputs[1] = (struct pass_input){
        .kind = PASS_MEMORY, .dtype = DTYPE_INT32, .data = y, .strides = {0, 1}};
    int faults = 0;
    run_spans(&pass, true, &faults);
    for (int r = 0; r < ROWS; r++)
        for (int c = 0; c < PITCH; c++)
            assert_int_equal(x[r * PITCH + c],
                             c < COLUMNS ? -(r * PITCH + c + 1000 * c) : r * PITCH + c);
    free(x);
    free(y);
}

// The longest program: 16 inputs, 64 instructions, all inputs alive to the end.
static void test_longest_program(void **state)
{
    enum { N = 5000 };
    static int64_t inputs[PASS_MAX_INPUTS][N], out[N];
    struct pass pass = {.ndim = 1,
                        .shape = {N},
                        .n_inputs = PASS_MAX_INPUTS,
                        .n_instructions = PASS_MAX_INSTRUCTIONS,
                        .output = out,
                        .output_dtype = DTYPE_INT64,
                        .output_strides = {1}};
    for (int k = 0; k < PASS_MAX_INPUTS; k++) {
        for (int i = 0; i < N; i++)
            inputs[k][i] = random_below(1000);
        pass.inputs[k] = (struct pass_input){
            .kind = PASS_MEMORY, .dtype = DTYPE_INT64, .data = inputs[k], .strides = {1}};
    }
    // 40 differences of neighbouring registers, then a sum over the last of them and the
    // inputs.
    for (int k = 0; k < 40; k++)
        pass.instructions[k] = (struct pass_instruction){MAP_sub, DTYPE_INT64, (uint8_t)k,
                                                         (uint8_t)(k + 1), 0};
    for (int k = 40; k < PASS_MAX_INSTRUCTIONS; k++)
        pass.instructions[k] = (struct pass_instruction){
            MAP_add, DTYPE_INT64, (uint8_t)(k + 15), (uint8_t)(63 - k), 0};
    int faults = 0;
    run_spans(&pass, true, &faults);
    for (int i = 0; i < N; i++) {
        int64_t registers[PASS_MAX_INPUTS + PASS_MAX_INSTRUCTIONS];
        for (int k = 0; k < PASS_MAX_INPUTS; k++)
            registers[k] = inputs[k][i];
        for (int k = 0; k < PASS_MAX_INSTRUCTIONS; k++) {
            const struct pass_instruction *step = &pass.instructions[k];
            uint64_t a = (uint64_t)registers[step->a], b = (uint64_t)registers[step->b];
            registers[16 + k] = (int64_t)(k < 40 ? a - b : a + b);
        }
        assert_int_equal(out[i], registers[79]);
    }
}

// A float32 constant enters a float16 instruction unrounded; every instruction rounds.
static void test_half_rounding(void **state)
{
    uint16_t x[] = {0x3C00, 0x4000, 0x5640}, out[3]; // 1, 2, 100
    struct pass pass = {.ndim = 1,
                        .shape = {3},
                        .n_inputs = 2,
                        .n_instructions = 2,
                        .instructions = {{MAP_mul, DTYPE_FLOAT16, 0, 1, 0},
                                         {MAP_sub, DTYPE_FLOAT16, 2, 1, 0}},
                        .output = out,
                        .output_dtype = DTYPE_FLOAT16,
                        .output_strides = {1}};
    pass.inputs[0] = (struct pass_input){
        .kind = PASS_MEMORY, .dtype = DTYPE_FLOAT16, .data = x, .strides = {1}};
    pass.inputs[1] = (struct pass_input){
        .kind = PASS_CONSTANT, .dtype = DTYPE_FLOAT32, .constant.f32 = 0.1f};
    int faults = 0;
    assert_true(host_pass_run_small(&pass, &faults));
    for (int i = 0; i < 3; i++) {
        long double value = decode_small_float(x[i], 5, 10), constant = 0.1f;
        long double product =
            nearest(DTYPE_FLOAT16, nearest(DTYPE_FLOAT32, value * constant));
        long double rest =
            nearest(DTYPE_FLOAT16, nearest(DTYPE_FLOAT32, product - constant));
        assert_true(decode_small_float(out[i], 5, 10) == rest);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_layouts), cmocka_unit_test(test_copies),
        cmocka_unit_test(test_transpose),      cmocka_unit_test(test_constants),
        cmocka_unit_test(test_in_place),       cmocka_unit_test(test_longest_program),
        cmocka_unit_test(test_half_rounding),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
