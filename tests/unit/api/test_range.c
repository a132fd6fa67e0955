// SPDX-License-Identifier: Apache-2.0
// Byte ranges, by the examples of RFC 9110, 14.1.2 (a representation of 10000 bytes) and
// by hand.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "api/range.h"

static void expect(const char *field, int64_t length, enum range range, int64_t start,
                   int64_t end)
{
    int64_t got_start = -1, got_end = -1;
    assert_int_equal(range_parse(field, length, &got_start, &got_end), range);
    if (range != RANGE_PART)
        return;
    assert_int_equal(got_start, start);
    assert_int_equal(got_end, end);
}

static void test_parts(void **state)
{
    expect("bytes=0-499", 10000, RANGE_PART, 0, 500);
    expect("bytes=500-999", 10000, RANGE_PART, 500, 1000);
    expect("bytes=-500", 10000, RANGE_PART, 9500, 10000);
    expect("bytes=9500-", 10000, RANGE_PART, 9500, 10000);
    expect("bytes=0-0", 10000, RANGE_PART, 0, 1);
    expect("bytes=0-99999", 10000, RANGE_PART, 0, 10000);
    expect("bytes=-99999", 10000, RANGE_PART, 0, 10000);
    expect("bytes=9999-99999999999999999999999999", 10000, RANGE_PART, 9999, 10000);
    expect("Bytes= 1-2 ", 10000, RANGE_PART, 1, 3);
}

static void test_outside(void **state)
{
    expect("bytes=10000-", 10000, RANGE_OUTSIDE, 0, 0);
    expect("bytes=-0", 10000, RANGE_OUTSIDE, 0, 0);
    expect("bytes=0-", 0, RANGE_OUTSIDE, 0, 0);
    expect("bytes=-5", 0, RANGE_OUTSIDE, 0, 0);
    expect("bytes=99999999999999999999999999-", 10000, RANGE_OUTSIDE, 0, 0);
}

static void test_ignored(void **state)
{
    static const char *const fields[] = {
        "bytes=0-1,4-5", "bytes=",    "bytes=a-b", "bytes=5-4",  "lines=0-1",
        "bytes 0-1",     "bytes=--1", "bytes=1",   "bytes=1-2x", ""};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        expect(fields[i], 10000, RANGE_WHOLE, 0, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parts),
        cmocka_unit_test(test_outside),
        cmocka_unit_test(test_ignored),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
