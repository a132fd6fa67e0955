// SPDX-License-Identifier: Apache-2.0
// The generators of a user and the working copies of a request (generators.h).
#include "tensor/generators.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/random.h>
#include <time.h>

#include "kernels/device.h"

struct generators {
    pthread_mutex_t mutex; // of items
    int count;
    // One set of working copies that nobody uses: they are large, and most requests that
    // might draw do not.
    _Atomic(struct working_generators *) spare;
    struct generator items[]; // by device
};

struct working_generators {
    struct generators *origin;
    struct working {
        bool used; // the generator is a copy
        struct generator generator;
    } items[]; // by device
};

// Differs between processes and users even where no random bytes are to be had.
static uint64_t fresh_seed(const void *salt)
{
    uint64_t seed = 0;
    if (getrandom(&seed, sizeof seed, GRND_NONBLOCK) == (ssize_t)sizeof seed)
        return seed;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000007u ^ (uint64_t)now.tv_nsec << 20 ^
           (uint64_t)(uintptr_t)salt;
}

enum status generators_create(struct device *const *devices, int n_devices,
                              struct generators **out, struct problem *problem)
{
    struct generators *generators =
        malloc(sizeof *generators + (size_t)n_devices * sizeof generators->items[0]);
    if (!generators)
        return problem_set(problem, STATUS_OUT_OF_MEMORY,
                           "no host memory for random generators");
    pthread_mutex_init(&generators->mutex, NULL);
    generators->count = n_devices;
    atomic_init(&generators->spare, NULL);
    uint64_t seed = fresh_seed(generators);
    // The host is device 0; a failed device keeps its place.
    for (int i = 0; i < n_devices; i++)
        generator_seed(&generators->items[i], devices[i] ? devices[i]->is_host : i == 0,
                       seed);
    *out = generators;
    return STATUS_OK;
}

void generators_free(struct generators *generators)
{
    if (!generators)
        return;
    pthread_mutex_destroy(&generators->mutex);
    free(atomic_load(&generators->spare));
    free(generators);
}

enum status working_create(struct generators *generators, struct working_generators **out,
                           struct problem *problem)
{
    struct working_generators *working = atomic_exchange(&generators->spare, NULL);
    if (!working)
        working = malloc(sizeof *working +
                         (size_t)generators->count * sizeof working->items[0]);
    if (!working)
        return problem_set(problem, STATUS_OUT_OF_MEMORY,
                           "no host memory for random generators");
    working->origin = generators;
    for (int i = 0; i < generators->count; i++)
        working->items[i].used = false;
    *out = working;
    return STATUS_OK;
}

void working_free(struct working_generators *working)
{
    if (working)
        free(atomic_exchange(&working->origin->spare, working));
}

struct generator *working_generator(struct working_generators *working, int device)
{
    struct working *item = &working->items[device];
    if (!item->used) {
        pthread_mutex_lock(&working->origin->mutex);
        item->generator = working->origin->items[device];
        pthread_mutex_unlock(&working->origin->mutex);
        item->used = true;
    }
    return &item->generator;
}

uint64_t working_initial_seed(struct working_generators *working, int device)
{
    if (working->items[device].used)
        return working->items[device].generator.seed;
    pthread_mutex_lock(&working->origin->mutex);
    uint64_t seed = working->origin->items[device].seed;
    pthread_mutex_unlock(&working->origin->mutex);
    return seed;
}

void working_store(struct working_generators *working)
{
    struct generators *generators = working->origin;
    bool used = false;
    for (int i = 0; i < generators->count; i++)
        used |= working->items[i].used;
    if (!used)
        return;
    pthread_mutex_lock(&generators->mutex);
    for (int i = 0; i < generators->count; i++)
        if (working->items[i].used)
            generators->items[i] = working->items[i].generator;
    pthread_mutex_unlock(&generators->mutex);
}
