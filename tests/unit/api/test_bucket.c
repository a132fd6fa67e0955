// SPDX-License-Identifier: Apache-2.0
// The token bucket, with time by hand.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "api/bucket.h"

enum { SECOND = 1000000000 };

static int take_all(struct bucket *bucket, int64_t now)
{
    int count = 0;
    while (bucket_take(bucket, now))
        count++;
    return count;
}

static void a_second_at_once_then_the_rate(void **state)
{
    struct bucket bucket = {0};
    int64_t now = 5 * (int64_t)SECOND;
    bucket_set(&bucket, 10, now);
    assert_int_equal(bucket_size(&bucket), 10);
    assert_int_equal(bucket_window(&bucket), 1);
    assert_int_equal(take_all(&bucket, now), 10);
    assert_int_equal(bucket_wait(&bucket), 1);
    assert_int_equal(take_all(&bucket, now + SECOND / 2), 5);
    // It holds no more than a second's worth, however long nobody came.
    assert_int_equal(take_all(&bucket, now + 1000 * (int64_t)SECOND), 10);
    // 25 tokens in 2.5 seconds, taken as they come.
    int count = 0;
    now += 1000 * (int64_t)SECOND;
    for (int i = 1; i <= 250; i++)
        count += take_all(&bucket, now + (int64_t)i * (SECOND / 100));
    assert_in_range(count, 24, 25);
}

static void slower_than_one_a_second(void **state)
{
    struct bucket bucket = {0};
    bucket_set(&bucket, 0.25, 0);
    assert_int_equal(bucket_size(&bucket), 1);
    assert_int_equal(bucket_window(&bucket), 4);
    assert_int_equal(take_all(&bucket, 0), 1);
    assert_int_equal(bucket_wait(&bucket), 4);
    assert_false(bucket_take(&bucket, 3 * (int64_t)SECOND));
    assert_int_equal(bucket_wait(&bucket), 1);
    assert_true(bucket_take(&bucket, 4 * (int64_t)SECOND));
}

static void a_clock_that_goes_back_gives_nothing(void **state)
{
    struct bucket bucket = {0};
    int64_t now = 100 * (int64_t)SECOND;
    bucket_set(&bucket, 2, now);
    assert_int_equal(take_all(&bucket, now), 2);
    assert_int_equal(take_all(&bucket, now - 50 * (int64_t)SECOND), 0);
    assert_int_equal(take_all(&bucket, now - 49 * (int64_t)SECOND), 2);
}

static void rates_change(void **state)
{
    struct bucket bucket = {0};
    bucket_set(&bucket, 100, 0);
    assert_int_equal(take_all(&bucket, 0), 100);
    bucket_set(&bucket, 10, 0); // an empty one stays empty
    assert_int_equal(take_all(&bucket, 0), 0);
    bucket_set(&bucket, 100, SECOND);
    bucket_set(&bucket, 5, SECOND); // a full one holds what the new rate allows
    assert_int_equal(take_all(&bucket, SECOND), 5);
    bucket_set(&bucket, 0, SECOND); // no limit
    for (int i = 0; i < 1000; i++)
        assert_true(bucket_take(&bucket, SECOND));
    bucket_set(&bucket, 3, SECOND);
    assert_int_equal(take_all(&bucket, SECOND), 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_second_at_once_then_the_rate),
        cmocka_unit_test(slower_than_one_a_second),
        cmocka_unit_test(a_clock_that_goes_back_gives_nothing),
        cmocka_unit_test(rates_change),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
