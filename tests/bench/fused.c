// SPDX-License-Identifier: Apache-2.0
// relu(a * b + c) as one plain loop on several threads, into memory that is there: what a
// fused pass is held against.
//   fused ELEMENTS THREADS
// answers every line on its input with the best seconds of a few rounds.
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

enum { ROUNDS = 5, MAX_THREADS = 64 };

static float *a, *b, *c, *out;
static long elements;
static int threads;
static atomic_int arrived;

#ifdef __x86_64__
__attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#endif
static void
chain(long first, long end)
{
    float *restrict to = out;
    const float *restrict p = a, *restrict q = b, *restrict r = c;
    for (long i = first; i < end; i++) {
        float value = p[i] * q[i] + r[i];
        to[i] = value > 0 ? value : 0;
    }
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

// Waits, spinning, until all threads have come for the n-th time.
static void meet(int n)
{
    atomic_fetch_add(&arrived, 1);
    while (atomic_load(&arrived) < n * threads) {
    }
}

static double part(long index)
{
    long first = elements / threads * index,
         end = index == threads - 1 ? elements : first + elements / threads;
    double least = 1e9;
    for (int round = 0; round < ROUNDS; round++) {
        meet(2 * round + 1);
        double start = now();
        chain(first, end);
        meet(2 * round + 2);
        double seconds = now() - start;
        least = seconds < least ? seconds : least;
    }
    return least;
}

static void *helper(void *index)
{
    part((long)(intptr_t)index);
    return NULL;
}

static double measure(void)
{
    pthread_t helpers[MAX_THREADS];
    atomic_store(&arrived, 0);
    for (long i = 1; i < threads; i++)
        if (pthread_create(&helpers[i], NULL, helper, (void *)(intptr_t)i) != 0)
            exit(1);
    double seconds = part(0);
    for (int i = 1; i < threads; i++)
        pthread_join(helpers[i], NULL);
    return seconds;
}

static float *filled(void)
{
    size_t bytes = ((size_t)elements * sizeof(float) + ((1 << 21) - 1)) >> 21 << 21;
    float *values = aligned_alloc(1 << 21, bytes);
    if (values == NULL)
        exit(1);
    madvise(values, bytes, MADV_HUGEPAGE);
    for (long i = 0; i < elements; i++)
        values[i] = (float)(i % 1999) / 1000 - 1;
    return values;
}

int main(int count, char **arguments)
{
    char line[64];
    if (count != 3)
        return 2;
    elements = strtol(arguments[1], NULL, 10);
    threads = (int)strtol(arguments[2], NULL, 10);
    if (elements < 1 || threads < 1 || threads > MAX_THREADS)
        return 2;
    a = filled(), b = filled(), c = filled(), out = filled();
    while (fgets(line, sizeof line, stdin)) {
        printf("%.9f\n", measure());
        fflush(stdout);
    }
    free(a), free(b), free(c), free(out);
    return 0;
}
