// SPDX-License-Identifier: Apache-2.0
// The compute pool (pool.h). Helpers run helper_main, everybody else pool_run.
#include "kernels/host/pool.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#include "kernels/host/clock.h"

enum {
    HELPER_STACK = 2 << 20, // bytes; passes need 512 KiB, sanitizers more
    SPIN_NANOSECONDS = 30000,
    SPIN_ROUNDS = 64, // pauses between two looks at the clock
};

struct job {
    pool_chunk *chunk;
    void *context;
    int64_t chunks;
    atomic_int_fast64_t next;        // the first chunk nobody has claimed
    atomic_int helpers;              // in this job now; changed with the mutex held
    atomic_int_fast64_t nanoseconds; // CPU time of helpers
    struct job *older, *newer;       // in the pool's list
    bool waiting; // the caller sleeps until helpers is 0; with the mutex held
};

struct helper {
    struct pool *pool;
    pthread_t thread;
    int number; // from 1
};

struct pool {
    pthread_mutex_t mutex;
    pthread_cond_t work, finished;
    struct job *oldest, *newest;
    atomic_int open; // jobs with unclaimed chunks: what helpers look at without the mutex
    int sleeping;    // helpers
    atomic_bool stopping;
    int n_helpers;
    struct helper helpers[];
};

static void pause_briefly(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static void claim(struct pool *pool, struct job *job, int thread)
{
    for (;;) {
        int64_t chunk = atomic_fetch_add_explicit(&job->next, 1, memory_order_relaxed);
        if (chunk >= job->chunks)
            return;
        if (chunk == job->chunks - 1)
            atomic_fetch_sub_explicit(&pool->open, 1, memory_order_relaxed);
        job->chunk(job->context, chunk, thread);
    }
}

static bool has_unclaimed(struct job *job)
{
    return atomic_load_explicit(&job->next, memory_order_relaxed) < job->chunks;
}

static void unlink_job(struct pool *pool, struct job *job)
{
    *(job->older != NULL ? &job->older->newer : &pool->oldest) = job->newer;
    *(job->newer != NULL ? &job->newer->older : &pool->newest) = job->older;
}

// ---- Helpers
static void work_on(struct pool *pool, struct job *job, int number)
{
    atomic_fetch_add(&job->helpers, 1);
    pthread_mutex_unlock(&pool->mutex);
    int64_t start = clock_cpu();
    claim(pool, job, number);
    atomic_fetch_add_explicit(&job->nanoseconds, clock_cpu() - start,
                              memory_order_relaxed);
    pthread_mutex_lock(&pool->mutex);
    bool waiting = job->waiting;
    // The caller may return as soon as it reads 0 here: job is not touched any more.
    if (atomic_fetch_sub_explicit(&job->helpers, 1, memory_order_release) == 1 && waiting)
        pthread_cond_broadcast(&pool->finished);
}

// Waits for work without the mutex until the wall clock shows `end`.
static void look_out(struct pool *pool, int64_t end)
{
    do {
        for (int i = 0; i < SPIN_ROUNDS; i++) {
            if (atomic_load_explicit(&pool->open, memory_order_relaxed) > 0)
                return;
            pause_briefly();
        }
    } while (clock_wall() < end && !atomic_load(&pool->stopping));
}

static void *helper_main(void *argument)
{
    struct helper *helper = argument;
    struct pool *pool = helper->pool;
    int64_t awake_until = 0;
    pthread_mutex_lock(&pool->mutex);
    while (!atomic_load(&pool->stopping)) {
        struct job *job = pool->oldest;
        while (job != NULL && !has_unclaimed(job))
            job = job->newer;
        if (job != NULL) {
            work_on(pool, job, helper->number);
            awake_until = clock_wall() + SPIN_NANOSECONDS;
        } else if (clock_wall() < awake_until) {
            pthread_mutex_unlock(&pool->mutex);
            look_out(pool, awake_until);
            pthread_mutex_lock(&pool->mutex);
        } else {
            pool->sleeping++;
            pthread_cond_wait(&pool->work, &pool->mutex);
            pool->sleeping--;
        }
    }
    pthread_mutex_unlock(&pool->mutex);
    return NULL;
}

// ---- Callers
static void publish(struct pool *pool, struct job *job)
{
    pthread_mutex_lock(&pool->mutex);
    job->older = pool->newest;
    job->newer = NULL;
    *(pool->newest != NULL ? &pool->newest->newer : &pool->oldest) = job;
    pool->newest = job;
    atomic_fetch_add(&pool->open, 1);
    int64_t wanted = job->chunks - 1;
    int sleeping = pool->sleeping;
    pthread_mutex_unlock(&pool->mutex);
    if (sleeping > 0 && wanted >= sleeping)
        pthread_cond_broadcast(&pool->work);
    else
        for (; wanted > 0 && sleeping > 0; wanted--, sleeping--)
            pthread_cond_signal(&pool->work);
}

static bool is_alone(struct job *job)
{
    return atomic_load_explicit(&job->helpers, memory_order_acquire) == 0;
}

// Takes the job off the list, so that no helper joins any more, and waits for those who
// are in it. First a little while awake: chunks of one job take about as long as each
// other.
static void withdraw(struct pool *pool, struct job *job)
{
    pthread_mutex_lock(&pool->mutex);
    unlink_job(pool, job);
    bool alone = is_alone(job);
    pthread_mutex_unlock(&pool->mutex);
    int64_t end = alone ? 0 : clock_wall() + SPIN_NANOSECONDS;
    while (!alone && clock_wall() < end) {
        for (int i = 0; i < SPIN_ROUNDS && !alone; i++) {
            pause_briefly();
            alone = is_alone(job);
        }
    }
    if (alone)
        return;
    pthread_mutex_lock(&pool->mutex);
    job->waiting = true;
    while (!is_alone(job))
        pthread_cond_wait(&pool->finished, &pool->mutex);
    pthread_mutex_unlock(&pool->mutex);
}

int64_t pool_run(struct pool *pool, pool_chunk *chunk, void *context, int64_t chunks)
{
    int64_t start = clock_cpu();
    if (chunks <= 1 || pool->n_helpers == 0) {
        for (int64_t i = 0; i < chunks; i++)
            chunk(context, i, 0);
        return clock_cpu() - start;
    }
    struct job job = {.chunk = chunk, .context = context, .chunks = chunks};
    publish(pool, &job);
    claim(pool, &job, 0);
    int64_t nanoseconds = clock_cpu() - start;
    withdraw(pool, &job);
    return nanoseconds + atomic_load_explicit(&job.nanoseconds, memory_order_relaxed);
}

// ---- Life
// Helpers take no signals: those belong to the threads that expect them.
static void start_helpers(struct pool *pool, int wanted)
{
    sigset_t all, before;
    pthread_attr_t attributes;
    sigfillset(&all);
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, HELPER_STACK);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    for (int i = 0; i < wanted; i++) {
        struct helper *helper = &pool->helpers[i];
        *helper = (struct helper){.pool = pool, .number = i + 1};
        if (pthread_create(&helper->thread, &attributes, helper_main, helper) != 0)
            break;
        pool->n_helpers++;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
}

enum status pool_create(int threads, struct pool **out, struct problem *problem)
{
    size_t helpers = threads > 1 ? (size_t)threads - 1 : 0;
    struct pool *pool = calloc(1, sizeof *pool + helpers * sizeof pool->helpers[0]);
    if (pool == NULL)
        return problem_set(problem, STATUS_OUT_OF_MEMORY,
                           "There is no memory for the compute pool.");
    pthread_mutex_init(&pool->mutex, NULL);
    pthread_cond_init(&pool->work, NULL);
    pthread_cond_init(&pool->finished, NULL);
    start_helpers(pool, (int)helpers);
    *out = pool;
    return STATUS_OK;
}

void pool_free(struct pool *pool)
{
    pthread_mutex_lock(&pool->mutex);
    atomic_store(&pool->stopping, true);
    pthread_mutex_unlock(&pool->mutex);
    pthread_cond_broadcast(&pool->work);
    for (int i = 0; i < pool->n_helpers; i++)
        pthread_join(pool->helpers[i].thread, NULL);
    pthread_cond_destroy(&pool->work);
    pthread_cond_destroy(&pool->finished);
    pthread_mutex_destroy(&pool->mutex);
    free(pool);
}

int pool_threads(const struct pool *pool)
{
    return pool->n_helpers + 1;
}
