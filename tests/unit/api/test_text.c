// SPDX-License-Identifier: Apache-2.0
// The text format against torch's own printing: tests/cases/printed_tensors.inc was made
// with torch 1.13.
#include "tests/unit/api/reading.h"

struct printed {
    enum dtype dtype;
    int ndim;
    int64_t shape[8];
    struct {
        int64_t factor, modulus, offset;
        double scale;
    } rule;
    int n_values;
    uint64_t values[16]; // bits of a float64 for float dtypes, else of an int64
    const char *text;
};

static const struct printed cases[] = {
#include "tests/cases/printed_tensors.inc"
};

static union element listed_value(const struct printed *printed, int64_t i)
{
    struct scalar scalar = {.kind = SCALAR_INT, .i = (int64_t)printed->values[i]};
    if (dtype_is_float(printed->dtype)) {
        scalar.kind = SCALAR_FLOAT;
        memcpy(&scalar.f, &printed->values[i], sizeof scalar.f);
    }
    return scalar_to_element(scalar, printed->dtype, NULL);
}

static union element ruled_value(const struct printed *printed, int64_t i)
{
    double value = (double)(i * printed->rule.factor % printed->rule.modulus -
                            printed->rule.offset) *
                   printed->rule.scale;
    return scalar_to_element((struct scalar){.kind = SCALAR_FLOAT, .f = value},
                             printed->dtype, NULL);
}

static char *make_data(const struct printed *printed)
{
    int64_t count = 0;
    size_t size = (size_t)dtype_size(printed->dtype);
    assert_true(size_of_shape(printed->ndim, printed->shape, &count));
    char *data = malloc((size_t)count * size + 1);
    assert_non_null(data);
    for (int64_t i = 0; i < count; i++) {
        union element element =
            printed->n_values > 0 ? listed_value(printed, i) : ruled_value(printed, i);
        memcpy(data + (size_t)i * size, &element, size);
    }
    return data;
}

static void check(const struct printed *printed, const char *device, const char *expected)
{
    char *data = make_data(printed);
    struct writer_options options = {.format = FORMAT_TEXT,
                                     .dtype = printed->dtype,
                                     .ndim = printed->ndim,
                                     .data = data,
                                     .device = device,
                                     .name = "x"};
    memcpy(options.shape, printed->shape, sizeof printed->shape);
    size_t length;
    char *text = write_all_ways(&options, &length);
    assert_string_equal(text, expected);
    free(text);
    free(data);
}

static void test_as_torch(void **state)
{
    assert_true(sizeof cases / sizeof *cases > 200);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check(&cases[i], "cpu", cases[i].text);
}

static void test_device(void **state)
{
    struct printed one = {DTYPE_FLOAT32, 1, {2}, {1, 10, 0, 0.5}, 0, {0}, NULL};
    check(&one, "cuda:0", "tensor([0.0000, 0.5000], device='cuda:0')\n");
    struct printed empty = {DTYPE_INT8, 2, {0, 3}, {1, 10, 0, 0.5}, 0, {0}, NULL};
    check(&empty, "cuda:1",
          "tensor([], device='cuda:1', size=(0, 3), dtype=torch.int8)\n");
    check(&empty, NULL, "tensor([], size=(0, 3), dtype=torch.int8)\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_as_torch),
                                       cmocka_unit_test(test_device)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
