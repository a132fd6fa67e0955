// SPDX-License-Identifier: Apache-2.0
// The float32 functions of level/elementary.h, and erf and gelu, against libm in float64:
// at most 2 ulp, for a sample of all bit patterns that meets every exponent, and exactly
// at the special values. On every instruction-set level, with the same bits.
#include "tests/unit/kernels/pass_oracle.h"

enum { STEP = 3989, CHUNK = 4096 }; // a prime step through 2^32

typedef double function(double);

static double true_sigmoid(double x)
{
    return x >= 0 ? 1 / (1 + exp(-x)) : exp(x) / (1 + exp(x));
}

static double true_gelu(double x)
{
    return x * (erfc(-x * sqrt(0.5)) / 2);
}

static const struct {
    enum map_op op;
    function *truth;
} functions[] = {
    {MAP_exp, exp},
    {MAP_expm1, expm1},
    {MAP_tanh, tanh},
    {MAP_log, log},
    {MAP_log1p, log1p},
    {MAP_log2, log2},
    {MAP_sigmoid, true_sigmoid},
    {MAP_erf, erf},
    {MAP_gelu, true_gelu},
};
enum { FUNCTIONS = sizeof functions / sizeof functions[0] };

static void apply(enum map_op op, const float *x, float *y, int64_t n)
{
    struct pass pass = {.ndim = 1,
                        .shape = {n},
                        .n_inputs = 1,
                        .n_instructions = 1,
                        .instructions = {{(uint8_t)op, DTYPE_FLOAT32, 0, 0, 0}},
                        .output = y,
                        .output_dtype = DTYPE_FLOAT32,
                        .output_strides = {1}};
    pass.inputs[0] = (struct pass_input){
        .kind = PASS_MEMORY, .dtype = DTYPE_FLOAT32, .data = x, .strides = {1}};
    int faults = 0;
    assert_true(host_pass_run_small(&pass, &faults));
    assert_int_equal(faults, 0);
}

static void check_value(int i, float x, float y)
{
    double truth = functions[i].truth(x), largest = 0x1.FFFFFEp127;
    const char *name = map_name(functions[i].op);
    bool fine;
    if (isnan(truth))
        fine = isnan(y);
    else if (isinf(truth))
        fine = y == (float)truth;
    else if (fabs(truth) > largest)
        fine = isinf(y) ? !signbit(y) == !signbit(truth)
                        : fabs(truth) < largest * (1 + 0x1p-22);
    else if (truth == 0)
        fine = y == 0 && !signbit(y) == !signbit(truth);
    else
        fine = fabs((double)y - truth) <= 2 * (double)spacing(DTYPE_FLOAT32, truth);
    if (!fine)
        fail_msg("%s(%a) = %a, true value %a", name, (double)x, (double)y, truth);
}

static float float_at(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static void test_sample(void **state)
{
    static float x[CHUNK], first[CHUNK], other[CHUNK];
    const struct level *before = level_current();
    uint64_t bits = 0;
    while (bits < UINT64_C(1) << 32) {
        int n = 0;
        for (; n < CHUNK && bits < UINT64_C(1) << 32; n++, bits += STEP)
            x[n] = float_at((uint32_t)bits);
        for (int i = 0; i < FUNCTIONS; i++) {
            level_select(level_available(0));
            apply(functions[i].op, x, first, n);
            for (int k = 0; k < n; k++)
                check_value(i, x[k], first[k]);
            for (int level = 1; level_available(level) != NULL; level++) {
                level_select(level_available(level));
                apply(functions[i].op, x, other, n);
                for (int k = 0; k < n; k++)
                    if (memcmp(&first[k], &other[k], sizeof first[k]) != 0)
                        assert_true(isnan(first[k]) && isnan(other[k]));
            }
        }
    }
    level_select(before);
}

// Where an argument leaves a domain, overflows, or meets a boundary of the methods.
static void test_boundaries(void **state)
{
    static const float centers[] = {
        0.0f,     1.0f,       -1.0f,       0x1p-126f,       0x1.6A09E6p-1f, 88.72284f,
        89.0f,    -87.33655f, -103.972f,   -104.0f,         0.625f,         -0.625f,
        10.0f,    -20.0f,     0.34657359f, 10.5f,           -14.2f,         -14.84924f,
        INFINITY, -INFINITY,  NAN,         0x1.FFFFFEp127f, 17.0f};
    for (size_t c = 0; c < sizeof centers / sizeof centers[0]; c++) {
        float x[201], y[201];
        uint32_t center;
        memcpy(&center, &centers[c], sizeof center);
        for (int k = 0; k < 201; k++)
            x[k] = float_at(center + (uint32_t)k - 100);
        for (int i = 0; i < FUNCTIONS; i++) {
            apply(functions[i].op, x, y, 201);
            for (int k = 0; k < 201; k++)
                check_value(i, x[k], y[k]);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sample),
        cmocka_unit_test(test_boundaries),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
