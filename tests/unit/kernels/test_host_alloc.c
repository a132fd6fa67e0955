// SPDX-License-Identifier: Apache-2.0
// The caching allocator: alignment, reuse, limits, trimming, failing memory, many
// threads.
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kernels/host/alloc.h"

#define MIB ((int64_t)1 << 20)

static uint64_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33;
}

static void blocks_are_aligned_and_whole(void **state)
{
    static const int64_t sizes[] = {
        1,           63,   64,      65,          1000,    1024,
        1025,        1280, 1281,    4096,        5000,    100000,
        MIB - 1,     MIB,  MIB + 1, 2 * MIB - 1, 2 * MIB, 2 * MIB + 4097,
        20 * MIB + 5};
    enum { COUNT = sizeof sizes / sizeof *sizes };
    struct host_alloc *alloc = host_alloc_create(64 * MIB);
    for (int round = 0; round < 2; round++) {
        unsigned char *blocks[COUNT];
        for (int i = 0; i < COUNT; i++) {
            blocks[i] = host_alloc_take(alloc, sizes[i]);
            assert_non_null(blocks[i]);
            assert_int_equal((uintptr_t)blocks[i] % 64, 0);
            if (sizes[i] >= 2 * MIB)
                assert_int_equal((uintptr_t)blocks[i] % (uintptr_t)(2 * MIB), 0);
            memset(blocks[i], i + 1, (size_t)sizes[i]);
        }
        for (int i = 0; i < COUNT; i++) {
            for (int64_t at = 0; at < sizes[i]; at += at < 8000 ? 1 : 4001)
                assert_int_equal(blocks[i][at], i + 1);
            assert_int_equal(blocks[i][sizes[i] - 1], i + 1);
            host_alloc_give(alloc, blocks[i], sizes[i]);
        }
    }
    host_alloc_free(alloc);
}

static void blocks_are_reused(void **state)
{
    struct host_alloc *alloc = host_alloc_create(64 * MIB);
    for (int64_t bytes = 1; bytes <= 16 * MIB; bytes = bytes * 3 + 1) {
        void *first = host_alloc_take(alloc, bytes);
        host_alloc_give(alloc, first, bytes);
        assert_true(host_alloc_cached(alloc) >= bytes);
        void *second = host_alloc_take(alloc, bytes);
        assert_ptr_equal(first, second);
        host_alloc_give(alloc, second, bytes);
    }
    host_alloc_free(alloc);
}

// A small block is at most a quarter larger than asked for, from 1 KiB on; 64 bytes
// below.
static void small_classes_waste_little(void **state)
{
    struct host_alloc *alloc = host_alloc_create(64 * MIB);
    for (int64_t bytes = 1; bytes < MIB; bytes += bytes / 7 + 1) {
        void *block = host_alloc_take(alloc, bytes);
        int64_t before = host_alloc_cached(alloc);
        host_alloc_give(alloc, block, bytes);
        int64_t capacity = host_alloc_cached(alloc) - before;
        assert_true(capacity >= bytes && capacity % 64 == 0);
        assert_true(capacity - bytes < (bytes / 4 > 64 ? bytes / 4 : 64));
        host_alloc_trim(alloc);
    }
    host_alloc_free(alloc);
}

static void large_blocks_fit_best_within_a_quarter(void **state)
{
    struct host_alloc *alloc = host_alloc_create(64 * MIB);
    void *four = host_alloc_take(alloc, 4 * MIB), *five = host_alloc_take(alloc, 5 * MIB);
    host_alloc_give(alloc, four, 4 * MIB);
    host_alloc_give(alloc, five, 5 * MIB);
    void *block = host_alloc_take(alloc, 4 * MIB - 100000);
    assert_ptr_equal(block, four);
    void *other = host_alloc_take(alloc, 4 * MIB); // 5 MiB is exactly a quarter more
    assert_ptr_equal(other, five);
    host_alloc_give(alloc, block, 4 * MIB - 100000);
    host_alloc_give(alloc, other, 4 * MIB);
    assert_int_equal(host_alloc_cached(alloc), 9 * MIB); // whole blocks came back
    void *three = host_alloc_take(alloc, 3 * MIB);       // 4 MiB would waste a third
    assert_ptr_not_equal(three, four);
    assert_int_equal(host_alloc_cached(alloc), 9 * MIB);
    host_alloc_give(alloc, three, 3 * MIB);
    host_alloc_free(alloc);
}

static void the_cache_has_a_limit(void **state)
{
    struct host_alloc *alloc = host_alloc_create(10 * MIB);
    void *blocks[4];
    for (int i = 0; i < 4; i++)
        blocks[i] = host_alloc_take(alloc, 4 * MIB);
    for (int i = 0; i < 4; i++) {
        host_alloc_give(alloc, blocks[i], 4 * MIB);
        assert_true(host_alloc_cached(alloc) <= 10 * MIB);
    }
    assert_int_equal(host_alloc_cached(alloc), 8 * MIB);
    void *huge = host_alloc_take(alloc, 12 * MIB); // never fits: the others stay
    host_alloc_give(alloc, huge, 12 * MIB);
    assert_int_equal(host_alloc_cached(alloc), 8 * MIB);
    void *block = host_alloc_take(alloc, 4 * MIB); // the last two given back were kept
    assert_true(block == blocks[2] || block == blocks[3]);
    host_alloc_give(alloc, block, 4 * MIB);
    host_alloc_free(alloc);

    alloc = host_alloc_create(0);
    for (int64_t bytes = 10; bytes < 8 * MIB; bytes *= 9) {
        host_alloc_give(alloc, host_alloc_take(alloc, bytes), bytes);
        assert_int_equal(host_alloc_cached(alloc), 0);
    }
    host_alloc_free(alloc);
}

static void trim_gives_everything_back(void **state)
{
    struct host_alloc *alloc = host_alloc_create(64 * MIB);
    int64_t sizes[] = {100, 5000, 300000, 3 * MIB, 9 * MIB};
    for (int i = 0; i < 5; i++)
        host_alloc_give(alloc, host_alloc_take(alloc, sizes[i]), sizes[i]);
    int64_t cached = host_alloc_cached(alloc);
    assert_true(cached >= 12 * MIB);
    assert_int_equal(host_alloc_trim(alloc), cached);
    assert_int_equal(host_alloc_cached(alloc), 0);
    assert_int_equal(host_alloc_trim(alloc), 0);
    host_alloc_free(alloc);
}

// No system has 2^60 bytes: the cache is given up for it, the answer is NULL, and life
// goes on.
static void a_system_without_memory(void **state)
{
    struct host_alloc *alloc = host_alloc_create(64 * MIB);
    host_alloc_give(alloc, host_alloc_take(alloc, 5 * MIB), 5 * MIB);
    assert_null(host_alloc_take(alloc, (int64_t)1 << 60));
    assert_int_equal(host_alloc_cached(alloc), 0);
    assert_null(host_alloc_take(alloc, INT64_MAX));
    void *block = host_alloc_take(alloc, 5 * MIB);
    assert_non_null(block);
    host_alloc_give(alloc, block, 5 * MIB);
    host_alloc_free(alloc);
}

static void the_nth_allocation_fails(void **state)
{
    struct host_alloc *alloc = host_alloc_create(MIB);
    host_alloc_fail_after(3);
    for (int i = 1; i <= 5; i++) {
        void *block = host_alloc_take(alloc, 100);
        if (i == 3)
            assert_null(block);
        else
            assert_non_null(block);
        if (block != NULL)
            host_alloc_give(alloc, block, 100);
    }
    host_alloc_fail_after(2);
    host_alloc_fail_after(0);
    assert_true(host_alloc_permitted());
    assert_true(host_alloc_permitted());
    host_alloc_free(alloc);
}

// ---- Many threads: blocks wander from thread to thread through shared places.
enum { THREADS = 4, PLACES = 64, STEPS = 4000 };
struct parcel {
    unsigned char *data;
    int64_t bytes;
};
static struct host_alloc *shared;
static struct parcel places[PLACES];
static pthread_mutex_t places_mutex = PTHREAD_MUTEX_INITIALIZER;

static void open_parcel(struct parcel parcel)
{
    if (parcel.data == NULL)
        return;
    unsigned char mark = (unsigned char)parcel.bytes;
    if (parcel.data[0] != mark || parcel.data[parcel.bytes / 2] != mark ||
        parcel.data[parcel.bytes - 1] != mark)
        abort(); // somebody else wrote to it
    host_alloc_give(shared, parcel.data, parcel.bytes);
}

static struct parcel exchange(struct parcel parcel, uint64_t place)
{
    pthread_mutex_lock(&places_mutex);
    struct parcel old = places[place % PLACES];
    places[place % PLACES] = parcel;
    pthread_mutex_unlock(&places_mutex);
    return old;
}

static void *wander(void *argument)
{
    uint64_t random = (uint64_t)(uintptr_t)argument;
    for (int i = 0; i < STEPS; i++) {
        int64_t bytes = 1 + (int64_t)(next_random(&random) % (uint64_t)(3 * MIB)) /
                                (i % 8 == 0 ? 1 : 1000);
        struct parcel parcel = {host_alloc_take(shared, bytes), bytes};
        if (parcel.data == NULL)
            abort();
        unsigned char mark = (unsigned char)bytes;
        parcel.data[0] = parcel.data[bytes / 2] = parcel.data[bytes - 1] = mark;
        open_parcel(exchange(parcel, next_random(&random)));
        if (i % 500 == 0)
            host_alloc_trim(shared);
    }
    return NULL;
}

static void many_threads_share_it(void **state)
{
    pthread_t threads[THREADS];
    shared = host_alloc_create(20 * MIB);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(
            pthread_create(&threads[i], NULL, wander, (void *)(uintptr_t)(i + 1)), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (uint64_t i = 0; i < PLACES; i++)
        open_parcel(exchange((struct parcel){NULL, 0}, i));
    int64_t cached = host_alloc_cached(shared);
    assert_true(cached <= 20 * MIB);
    assert_int_equal(host_alloc_trim(shared), cached);
    assert_int_equal(host_alloc_cached(shared), 0);
    host_alloc_free(shared);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_are_aligned_and_whole),
        cmocka_unit_test(blocks_are_reused),
        cmocka_unit_test(small_classes_waste_little),
        cmocka_unit_test(large_blocks_fit_best_within_a_quarter),
        cmocka_unit_test(the_cache_has_a_limit),
        cmocka_unit_test(trim_gives_everything_back),
        cmocka_unit_test(a_system_without_memory),
        cmocka_unit_test(the_nth_allocation_fails),
        cmocka_unit_test(many_threads_share_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
