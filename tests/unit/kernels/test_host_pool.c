// SPDX-License-Identifier: Apache-2.0
// The compute pool: every chunk once, several callers, no waiting for work nobody has
// begun.
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

#include "kernels/host/pool.h"

static struct pool *open_pool(int threads)
{
    struct pool *pool;
    struct problem problem;
    assert_int_equal(pool_create(threads, &pool, &problem), STATUS_OK);
    return pool;
}

// A job that counts how often each chunk runs and checks the thread numbers.
enum { MAX_CHUNKS = 1000, MAX_THREADS = 8 };
struct count {
    int threads;
    int64_t ran
        [MAX_CHUNKS]; // plain: the pool must order these writes before pool_run returns
    atomic_int busy[MAX_THREADS];
    atomic_int wrong;
};

static void count_chunk(void *context, int64_t chunk, int thread)
{
    struct count *count = context;
    if (thread < 0 || thread >= count->threads ||
        atomic_exchange(&count->busy[thread], 1) != 0)
        atomic_fetch_add(&count->wrong, 1);
    count->ran[chunk] += chunk + 1;
    for (volatile int i = 0; i < 200; i++) {
    }
    atomic_store(&count->busy[thread], 0);
}

static int64_t run_counting(struct pool *pool, int64_t chunks)
{
    struct count *count = calloc(1, sizeof *count);
    count->threads = pool_threads(pool);
    int64_t nanoseconds = pool_run(pool, count_chunk, count, chunks);
    int64_t wrong = atomic_load(&count->wrong);
    for (int64_t i = 0; i < MAX_CHUNKS; i++)
        wrong += count->ran[i] != (i < chunks ? i + 1 : 0);
    free(count);
    return wrong != 0 || nanoseconds < 0 ? -1 : nanoseconds;
}

static void every_chunk_runs_once(void **state)
{
    for (int threads = 1; threads <= 4; threads++) {
        struct pool *pool = open_pool(threads);
        assert_int_equal(pool_threads(pool), threads);
        for (int round = 0; round < 200; round++)
            assert_true(run_counting(pool, round % 50) >= 0);
        assert_true(run_counting(pool, MAX_CHUNKS) > 0);
        pool_free(pool);
    }
}

static void a_pool_may_go_unused(void **state)
{
    for (int i = 0; i < 20; i++)
        pool_free(open_pool(1 + i % 4));
}

// ---- Several callers at once.
static void *call_often(void *argument)
{
    for (int i = 0; i < 300; i++)
        if (run_counting(argument, 1 + i % 40) < 0)
            abort();
    return NULL;
}

static void several_callers_share_the_helpers(void **state)
{
    struct pool *pool = open_pool(3);
    pthread_t callers[3];
    for (int i = 0; i < 3; i++)
        assert_int_equal(pthread_create(&callers[i], NULL, call_often, pool), 0);
    for (int i = 0; i < 3; i++)
        pthread_join(callers[i], NULL);
    assert_true(run_counting(pool, 100) > 0);
    pool_free(pool);
}

// ---- A job whose chunks stand still until they are released.
struct gate {
    atomic_int inside;
    atomic_bool open;
};
static void stand_still(void *context, int64_t chunk, int thread)
{
    struct gate *gate = context;
    atomic_fetch_add(&gate->inside, 1);
    while (!atomic_load(&gate->open))
        sched_yield();
}
struct blocked {
    struct pool *pool;
    struct gate gate;
};
static void *call_blocked(void *argument)
{
    struct blocked *blocked = argument;
    pool_run(blocked->pool, stand_still, &blocked->gate, 2);
    return NULL;
}

// The helper and one caller are held up; another caller still finishes, by himself.
static void a_caller_needs_no_helper(void **state)
{
    struct blocked blocked = {.pool = open_pool(2)};
    pthread_t caller;
    assert_int_equal(pthread_create(&caller, NULL, call_blocked, &blocked), 0);
    while (atomic_load(&blocked.gate.inside) < 2)
        sched_yield();
    for (int i = 0; i < 20; i++)
        assert_true(run_counting(blocked.pool, 30) >= 0);
    assert_int_equal(atomic_load(&blocked.gate.inside), 2);
    atomic_store(&blocked.gate.open, true);
    pthread_join(caller, NULL);
    pool_free(blocked.pool);
}

// pool_run of two chunks that wait for each other returns only if a helper takes part.
struct meeting {
    atomic_int arrived;
};
static void meet(void *context, int64_t chunk, int thread)
{
    struct meeting *meeting = context;
    atomic_fetch_add(&meeting->arrived, 1);
    while (atomic_load(&meeting->arrived) < 2)
        sched_yield();
}
static void helpers_take_part(void **state)
{
    struct pool *pool = open_pool(2);
    for (int i = 0; i < 50; i++) {
        struct meeting meeting = {0};
        pool_run(pool, meet, &meeting, 2);
        assert_int_equal(atomic_load(&meeting.arrived), 2);
        if (i % 10 == 0)
            nanosleep(&(struct timespec){.tv_nsec = 1000000},
                      NULL); // the helper falls asleep
    }
    pool_free(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_chunk_runs_once),
        cmocka_unit_test(a_pool_may_go_unused),
        cmocka_unit_test(several_callers_share_the_helpers),
        cmocka_unit_test(a_caller_needs_no_helper),
        cmocka_unit_test(helpers_take_part),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
