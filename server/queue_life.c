// SPDX-License-Identifier: Apache-2.0
// The queue's beginning and end: threads started and joined, memory, waiting for the last
// task. Main thread.
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "server/queue_internal.h"

static void stop_workers(struct queue *queue, int count)
{
    queue_lock(queue);
    queue->stopping = true;
    for (int i = 0; i < count; i++)
        queue_rouse(&queue->devices[i]);
    queue_unlock(queue);
    for (int i = 0; i < count; i++)
        pthread_join(queue->devices[i].thread, NULL);
}

static void destroy(struct queue *queue)
{
    for (int i = 0; i < queue->n_devices; i++) {
        sem_destroy(&queue->devices[i].wake);
        free(queue->devices[i].heap);
    }
    order_free_all(queue);
    pthread_cond_destroy(&queue->changed);
    pthread_mutex_destroy(&queue->mutex);
    free(queue);
}

// Allocated and initialized, without threads.
static struct queue *construct(const struct queue_options *options)
{
    size_t n = (size_t)options->n_devices;
    struct queue *queue = calloc(1, sizeof *queue + n * sizeof queue->devices[0]);
    if (queue == NULL)
        return NULL;
    queue->buckets = calloc(QUEUE_BUCKETS, sizeof(struct key_entry *));
    if (queue->buckets == NULL) {
        free(queue);
        return NULL;
    }
    queue->n_buckets = QUEUE_BUCKETS;
    queue->options = *options;
    queue->n_devices = options->n_devices;
    pthread_mutex_init(&queue->mutex, NULL);
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&queue->changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    for (int i = 0; i < queue->n_devices; i++) {
        queue->devices[i].queue = queue;
        queue->devices[i].index = i;
        sem_init(&queue->devices[i].wake, 0, 0);
    }
    return queue;
}

enum status queue_create(const struct queue_options *options, struct queue **out,
                         struct problem *problem)
{
    struct queue *queue = construct(options);
    if (queue == NULL)
        return problem_set(problem, STATUS_OUT_OF_MEMORY, "No memory for the queue.");
    for (int i = 0; i < queue->n_devices; i++) {
        struct queue_device *device = &queue->devices[i];
        if (pthread_create(&device->thread, NULL, worker_main, device) != 0) {
            stop_workers(queue, i);
            destroy(queue);
            return problem_set(problem, STATUS_OUT_OF_MEMORY, "No thread for a device.");
        }
    }
    queue_lock(queue);
    for (int i = 0; i < queue->n_devices; i++)
        while (!queue->devices[i].begun)
            pthread_cond_wait(&queue->changed, &queue->mutex);
    queue_unlock(queue);
    *out = queue;
    return STATUS_OK;
}

void queue_free(struct queue *queue)
{
    if (queue == NULL)
        return;
    assert(queue->n_tasks == 0 && queue->n_lanes == 0);
    stop_workers(queue, queue->n_devices);
    destroy(queue);
}

bool queue_wait_idle(struct queue *queue, double seconds)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    double whole = floor(seconds);
    until.tv_sec += (time_t)whole;
    until.tv_nsec += (long)((seconds - whole) * 1e9);
    if (until.tv_nsec >= 1000000000) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000;
    }
    queue_lock(queue);
    while (queue->n_tasks > 0)
        if (pthread_cond_timedwait(&queue->changed, &queue->mutex, &until) != 0)
            break;
    bool idle = queue->n_tasks == 0;
    queue_unlock(queue);
    return idle;
}
