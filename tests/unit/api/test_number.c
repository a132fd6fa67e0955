// SPDX-License-Identifier: Apache-2.0
// Parsing and printing of numbers: against repr and NumPy (printed_numbers.inc), against
// the C library's strtod and strtof, and all 65,536 values of the 16-bit floats there and
// back.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "api/formats/number.h"

enum { RANDOM_CASES = 100000 };

static uint64_t random_state = 88172645463325252;

static uint64_t random64(void) // xorshift64*
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state * 2685821657736338717U;
}

static size_t print_terminated(union element element, enum dtype dtype, char *text)
{
    size_t length = print_element(element, dtype, text);
    assert_true(length > 0 && length <= 32);
    text[length] = '\0';
    return length;
}

static void assert_prints(union element element, enum dtype dtype, const char *expected)
{
    char text[64];
    print_terminated(element, dtype, text);
    assert_string_equal(text, expected);
}

// ---- Printing

static void test_print_as_repr(void **state)
{
    static const struct {
        enum dtype dtype;
        uint64_t bits;
        const char *text;
    } cases[] = {
#include "tests/cases/printed_numbers.inc"
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        union element element = {.i64 = (int64_t)cases[i].bits};
        assert_prints(element, cases[i].dtype, cases[i].text);
    }
}

static void test_print_special(void **state)
{
    assert_prints((union element){.u8 = 1}, DTYPE_BOOL, "true");
    assert_prints((union element){.u8 = 0}, DTYPE_BOOL, "false");
    assert_prints((union element){.u8 = 255}, DTYPE_UINT8, "255");
    assert_prints((union element){.i8 = -128}, DTYPE_INT8, "-128");
    assert_prints((union element){.i16 = -32768}, DTYPE_INT16, "-32768");
    assert_prints((union element){.i32 = 0}, DTYPE_INT32, "0");
    assert_prints((union element){.i64 = INT64_MIN}, DTYPE_INT64, "-9223372036854775808");
    assert_prints((union element){.i64 = INT64_MAX}, DTYPE_INT64, "9223372036854775807");
    assert_prints((union element){.i64 = -1000}, DTYPE_INT64, "-1000");
    assert_prints((union element){.f32 = 0}, DTYPE_FLOAT32, "0.0");
    assert_prints((union element){.f32 = -0.0F}, DTYPE_FLOAT32, "-0.0");
    assert_prints((union element){.f64 = -0.0}, DTYPE_FLOAT64, "-0.0");
    assert_prints((union element){.f64 = NAN}, DTYPE_FLOAT64, "NaN");
    assert_prints((union element){.f64 = -INFINITY}, DTYPE_FLOAT64, "-Infinity");
    assert_prints((union element){.f32 = INFINITY}, DTYPE_FLOAT32, "Infinity");
    assert_prints((union element){.bits16 = 0xFC00}, DTYPE_FLOAT16, "-Infinity");
    assert_prints((union element){.bits16 = 0x7E00}, DTYPE_FLOAT16, "NaN");
    assert_prints((union element){.bits16 = 0x3F80}, DTYPE_BFLOAT16, "1.0");
    assert_prints((union element){.bits16 = 0x3DCD}, DTYPE_BFLOAT16,
                  "0.1"); // 0.10009765625
}

static void test_print_integers(void **state)
{
    char text[64], expected[64];
    for (int i = 0; i < RANDOM_CASES; i++) {
        int64_t value = (int64_t)random64() >> random64() % 64;
        size_t length = print_int64(value, text);
        text[length] = '\0';
        snprintf(expected, sizeof expected, "%lld", (long long)value);
        assert_string_equal(text, expected);
    }
}

static bool is_shorter_possible(double value, enum dtype dtype, union element element,
                                const char *text)
{
    char rounded[64];
    int digits = 0, significant = 0;
    for (const char *p = text; *p != '\0' && *p != 'e'; p++) {
        if (!is_digit(*p) || (digits == 0 && *p == '0'))
            continue;
        digits++;
        significant = *p != '0' ? digits : significant;
    }
    if (significant < 2)
        return false;
    snprintf(rounded, sizeof rounded, "%.*e", significant - 2, value);
    struct scalar scalar = {.kind = SCALAR_FLOAT, .f = strtod(rounded, NULL)};
    union element back = scalar_to_element(scalar, dtype, NULL);
    return memcmp(&back, &element, (size_t)dtype_size(dtype)) == 0;
}

static void test_every_16_bit_float(void **state)
{
    char text[64];
    for (int half = 0; half < 2; half++) {
        enum dtype dtype = half ? DTYPE_FLOAT16 : DTYPE_BFLOAT16;
        for (uint32_t bits = 0; bits < 65536; bits++) {
            union element element = {.bits16 = (uint16_t)bits};
            double value = element_to_scalar(element, dtype).f;
            print_terminated(element, dtype, text);
            if (!isfinite(value)) {
                assert_true(strpbrk(text, "NI") != NULL);
                continue;
            }
            struct scalar scalar = {.kind = SCALAR_FLOAT, .f = strtod(text, NULL)};
            assert_int_equal(scalar_to_element(scalar, dtype, NULL).bits16, bits);
            assert_false(is_shorter_possible(value, dtype, element, text));
            assert_non_null(strpbrk(text, ".e"));
        }
    }
}

static void test_random_floats_come_back(void **state)
{
    char text[64];
    for (int i = 0; i < RANDOM_CASES; i++) {
        uint64_t bits = random64();
        union element single = {.i32 = (int32_t)bits}, real = {.i64 = (int64_t)bits};
        if (i % 2 == 0)
            single.f32 = (float)(real.f64 = (double)(int64_t)bits * 0x1p-62);
        if (isfinite(single.f32)) {
            print_terminated(single, DTYPE_FLOAT32, text);
            float back = strtof(text, NULL);
            assert_memory_equal(&back, &single.f32, sizeof back);
            assert_false(
                is_shorter_possible((double)single.f32, DTYPE_FLOAT32, single, text));
        }
        if (isfinite(real.f64)) {
            print_terminated(real, DTYPE_FLOAT64, text);
            double back = strtod(text, NULL);
            assert_memory_equal(&back, &real.f64, sizeof back);
            assert_false(is_shorter_possible(real.f64, DTYPE_FLOAT64, real, text));
        }
    }
}

// ---- Parsing

// Against the C library, which rounds correctly.
static void check_parse(const char *text)
{
    struct decimal decimal;
    size_t length = strlen(text);
    assert_int_equal(decimal_scan(text, length, &decimal), length);
    double real = decimal_to_float64(&decimal, text, length),
           expected = strtod(text, NULL);
    assert_memory_equal(&real, &expected, sizeof real);
    float single = decimal_to_float32(&decimal, text, length),
          expected_single = strtof(text, NULL);
    assert_memory_equal(&single, &expected_single, sizeof single);
}

static void test_parse_edges(void **state)
{
    static const char *const texts[] = {
        "0",
        "-0",
        "0.0",
        "-0.0",
        "0e5",
        "1",
        "10",
        "123456789",
        "1234567890123456789",
        "12345678901234567890",
        "123456789012345678901234567890",
        "9007199254740993",
        "9007199254740992.99999999999999999999",
        "9007199254740993.00000000000000000001",
        "1e22",
        "1e23",
        "8.5e-45",
        "7e-46",
        "7.1e-46",
        "1.4e-45",
        "1.17549435e-38",
        "1.1754943e-38",
        "3.4028235e38",
        "3.4028236e38",
        "3.40282356779733661637e38",
        "3.40282356779733661638e38",
        "2.2250738585072011e-308",
        "2.2250738585072014e-308",
        "4.9e-324",
        "2.5e-324",
        "2.4e-324",
        "1.7976931348623157e308",
        "1.7976931348623158e308",
        "1.7976931348623159e308",
        "1e309",
        "1e-400",
        "1e99999999999999999999",
        "1e-99999999999999999999",
        "0.000000000000000000000000000001",
        "100000000000000000000000000000000000000000",
        "16777217",
        "16777217.0000000000000000000001",
        "16777219",
        "33554434.5",
        "1.00000005960464477539062500",
        "1.00000005960464477539062501",
        "1.00000005960464477539062499",
        "5e-324",
        "0.1e1",
        "1E5",
        "1e+5",
        "1.5E-7",
        "0.00000000000000000000000000000000000000000000000000000000000000000001e70",
        "2.4703282292062327208299999999999999999999999999999999e-324",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        check_parse(texts[i]);
}

static void test_parse_random(void **state)
{
    char text[64];
    for (int i = 0; i < RANDOM_CASES; i++) {
        int digits = 1 + (int)(random64() % 25), point = (int)(random64() % 30), used = 0;
        text[used++] = (char)('1' + random64() % 9);
        for (int k = 1; k < digits; k++) {
            if (k == point)
                text[used++] = '.';
            text[used++] = (char)('0' + random64() % 10);
        }
        text[used] = '\0';
        int range = i % 3 == 0 ? 20 : i % 3 == 1 ? 100 : 700;
        if (i % 5 != 0)
            snprintf(text + used, sizeof text - (size_t)used, "e%d",
                     (int)(random64() % (uint64_t)range) - range / 2);
        check_parse(text);
    }
}

// Exactly half-way between two floats, and a little to either side.
static void test_parse_half_way(void **state)
{
    char text[400];
    for (int i = 0; i < 20000; i++) {
        uint32_t bits = (uint32_t)(random64() >> 33);
        float low;
        memcpy(&low, &bits, sizeof low);
        if (!isfinite(low) || !isfinite(nextafterf(low, INFINITY)))
            continue;
        double middle = ((double)low + (double)nextafterf(low, INFINITY)) / 2;
        int length = snprintf(text, sizeof text, "%.160e", middle);
        check_parse(text);
        char *digit = strchr(text, 'e') - 1;
        *digit = '1';
        check_parse(text);
        snprintf(text, sizeof text, "%.*e", (int)(random64() % 20), middle);
        check_parse(text);
        assert_true(length > 160);
    }
}

static void expect_number(const char *text, size_t used, enum scalar_kind kind, int64_t i,
                          double f, bool big)
{
    struct scalar scalar;
    bool is_big;
    assert_int_equal(parse_number(text, strlen(text), &scalar, &is_big), used);
    if (used == 0)
        return;
    assert_int_equal(scalar.kind, kind);
    assert_int_equal(is_big, big);
    if (kind == SCALAR_INT)
        assert_int_equal(scalar.i, i);
    else
        assert_true(scalar.f == f || (isnan(f) && isnan(scalar.f)));
}

static void test_parse_number(void **state)
{
    expect_number("12,", 2, SCALAR_INT, 12, 0, false);
    expect_number("-9223372036854775808]", 20, SCALAR_INT, INT64_MIN, 0, false);
    expect_number("9223372036854775808", 19, SCALAR_FLOAT, 0, 0x1p63, true);
    expect_number("1.5e3 ", 5, SCALAR_FLOAT, 0, 1500, false);
    expect_number("1e400", 5, SCALAR_FLOAT, 0, INFINITY, false);
    expect_number("NaN", 3, SCALAR_FLOAT, 0, NAN, false);
    expect_number("Infinity,", 8, SCALAR_FLOAT, 0, INFINITY, false);
    expect_number("-Infinity", 9, SCALAR_FLOAT, 0, -INFINITY, false);
    static const char *const none[] = {"",    "-",  "+1", ".5", "5.",  "5.x", "1e",
                                       "1e+", "01", "x",  "-x", "Inf", "--1"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        expect_number(none[i], 0, SCALAR_INT, 0, 0, false);
}

static void test_scan_is_bounded(void **state)
{
    // The scan never looks behind the length it is given, whatever follows.
    static const char text[] = "-12345678.12345678e12";
    struct decimal decimal;
    for (size_t length = 0; length <= strlen(text); length++) {
        char *copy = malloc(length + 1);
        assert_non_null(copy);
        memcpy(copy, text, length);
        size_t used = decimal_scan(copy, length, &decimal);
        bool whole = length >= 2 && text[length - 1] != '.' && text[length - 1] != 'e';
        assert_int_equal(used, whole ? length : 0);
        free(copy);
    }
}

static void test_loose(void **state)
{
    struct decimal decimal;
    int64_t value = 0;
    assert_int_equal(decimal_scan_loose("+007", 4, &decimal), 4);
    assert_true(decimal.integer && decimal_to_int64(&decimal, &value) && value == 7);
    assert_int_equal(decimal_scan_loose("5.", 2, &decimal), 2);
    assert_true(!decimal.integer && decimal_to_float64(&decimal, "5.", 2) == 5);
    assert_int_equal(decimal_scan_loose("-.5", 3, &decimal), 3);
    assert_true(decimal_to_float64(&decimal, "-.5", 3) == -0.5);
    assert_int_equal(decimal_scan_loose(".", 1, &decimal), 0);
    assert_int_equal(decimal_scan_loose("+-1", 3, &decimal), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_print_as_repr),
        cmocka_unit_test(test_print_special),
        cmocka_unit_test(test_print_integers),
        cmocka_unit_test(test_every_16_bit_float),
        cmocka_unit_test(test_random_floats_come_back),
        cmocka_unit_test(test_parse_edges),
        cmocka_unit_test(test_parse_random),
        cmocka_unit_test(test_parse_half_way),
        cmocka_unit_test(test_parse_number),
        cmocka_unit_test(test_scan_is_bounded),
        cmocka_unit_test(test_loose),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
