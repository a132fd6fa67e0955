// SPDX-License-Identifier: Apache-2.0
// Predicted groups: which storage a name will stand for when the requests accepted so far
// have run.
//
// A group is a number that stands for one storage, existing or to come, so that requests
// that write in place and requests that read meet in the queue whatever names they use.
// Until a request has committed, its outputs have predicted groups; when it commits, a
// storage that gets its first name takes the predicted number over (storage_group), so
// that keys which later requests derived from the prediction and keys derived from the
// binding are equal. As requests may fail, a name may turn out to stand for an older
// group: registry_groups names them all.
#include <stdlib.h>
#include <string.h>

#include "tensor/registry_internal.h"

static uint64_t key_of(uint64_t hash)
{
    return hash ? hash : 1;
}

uint64_t registry_name_key(const struct name_space *space, const char *name)
{
    return key_of(space_hash(space, name, strlen(name)));
}

static struct predicted_name **bucket_of(struct name_space *space, uint64_t hash)
{
    return &space->predicted[hash & (space->n_predicted_buckets - 1)];
}

// The link to the name's predictions; *link is NULL if there are none.
static struct predicted_name **find_predicted(struct name_space *space, const char *name,
                                              uint64_t hash)
{
    struct predicted_name **link = bucket_of(space, hash);
    while (*link && ((*link)->hash != hash || strcmp((*link)->name, name) != 0))
        link = &(*link)->chain;
    return link;
}

static void grow_predicted(struct name_space *space)
{
    struct predicted_name **old = space->predicted;
    size_t n_old = space->n_predicted_buckets;
    struct predicted_name **buckets = calloc(n_old * 2, sizeof *buckets);
    if (!buckets)
        return; // longer chains serve as well
    space->predicted = buckets;
    space->n_predicted_buckets = n_old * 2;
    for (size_t i = 0; i < n_old; i++)
        while (old[i]) {
            struct predicted_name *moved = old[i],
                                  **bucket = bucket_of(space, moved->hash);
            old[i] = moved->chain;
            moved->chain = *bucket;
            *bucket = moved;
        }
    free(old);
}

static struct predicted_name *add_predicted(struct name_space *space, const char *name,
                                            uint64_t hash)
{
    size_t size = strlen(name) + 1;
    struct predicted_name *predicted = calloc(1, sizeof *predicted + size);
    if (!predicted)
        return NULL;
    predicted->hash = hash;
    memcpy(predicted->name, name, size);
    if (++space->n_predicted > space->n_predicted_buckets)
        grow_predicted(space);
    struct predicted_name **bucket = bucket_of(space, hash);
    predicted->chain = *bucket;
    *bucket = predicted;
    return predicted;
}

static void append(struct predicted_name *predicted, struct prediction *prediction)
{
    prediction->previous = predicted->latest;
    if (predicted->latest)
        predicted->latest->next = prediction;
    else
        predicted->oldest = prediction;
    predicted->latest = prediction;
}

static void unlink_prediction(struct predicted_name *predicted,
                              struct prediction *prediction)
{
    if (prediction->previous)
        prediction->previous->next = prediction->next;
    else
        predicted->oldest = prediction->next;
    if (prediction->next)
        prediction->next->previous = prediction->previous;
    else
        predicted->latest = prediction->previous;
}

uint64_t registry_predict(struct name_space *space, const char *name, uint64_t group)
{
    uint64_t hash = space_hash(space, name, strlen(name));
    struct prediction *prediction = calloc(1, sizeof *prediction);
    if (!prediction)
        return 0;
    prediction->group = group ? group : storage_fresh_id();
    group = prediction->group;
    pthread_mutex_lock(&space->mutex);
    struct predicted_name *predicted = *find_predicted(space, name, hash);
    if (!predicted)
        predicted = add_predicted(space, name, hash);
    if (predicted)
        append(predicted, prediction);
    pthread_mutex_unlock(&space->mutex);
    if (predicted)
        return group;
    free(prediction);
    return 0;
}

void registry_forget(struct name_space *space, const char *name, uint64_t group)
{
    uint64_t hash = space_hash(space, name, strlen(name));
    struct predicted_name *emptied = NULL;
    pthread_mutex_lock(&space->mutex);
    struct predicted_name **link = find_predicted(space, name, hash), *predicted = *link;
    struct prediction *prediction = predicted ? predicted->oldest : NULL;
    while (prediction && prediction->group != group)
        prediction = prediction->next;
    if (prediction)
        unlink_prediction(predicted, prediction);
    if (predicted && !predicted->oldest) {
        *link = predicted->chain;
        space->n_predicted--;
        emptied = predicted;
    }
    pthread_mutex_unlock(&space->mutex);
    free(prediction);
    free(emptied);
}

uint64_t prediction_use(struct name_space *space, const char *name, uint64_t hash,
                        uint64_t group)
{
    struct predicted_name *predicted = *find_predicted(space, name, hash);
    struct prediction *prediction = predicted ? predicted->oldest : NULL;
    while (prediction && (prediction->used || (group != 0 && prediction->group != group)))
        prediction = prediction->next;
    if (!prediction)
        return 0;
    prediction->used = true;
    return prediction->group;
}

// The group of the visible binding, or 0. With the mutex held.
static uint64_t bound_group(struct name_space *space, const char *name, size_t length,
                            uint64_t hash)
{
    struct entry *entry = space_find(space, name, length, hash);
    return entry && entry->tensor ? storage_group(entry->tensor->storage) : 0;
}

uint64_t registry_group(struct name_space *space, const char *name)
{
    size_t length = strlen(name);
    uint64_t hash = space_hash(space, name, length);
    pthread_mutex_lock(&space->mutex);
    const struct predicted_name *predicted = *find_predicted(space, name, hash);
    // A prediction that has come true says less than the binding it became.
    uint64_t group = predicted && !predicted->latest->used ? predicted->latest->group : 0;
    if (group == 0)
        group = bound_group(space, name, length, hash);
    if (group == 0 && predicted)
        group = predicted->latest->group;
    pthread_mutex_unlock(&space->mutex);
    return group;
}

bool registry_pending(struct name_space *space, const char *name)
{
    uint64_t hash = space_hash(space, name, strlen(name));
    pthread_mutex_lock(&space->mutex);
    bool pending = *find_predicted(space, name, hash) != NULL;
    pthread_mutex_unlock(&space->mutex);
    return pending;
}

static void add_group(uint64_t group, uint64_t *groups, int limit, int *count)
{
    for (int i = 0; i < *count && i < limit; i++)
        if (groups[i] == group)
            return;
    if (*count < limit)
        groups[*count] = group;
    if (*count <= limit)
        (*count)++; // beyond the limit repeats cannot be told, so it stays at one more
}

int registry_groups(struct name_space *space, const char *name, uint64_t *key,
                    uint64_t *groups, int limit)
{
    size_t length = strlen(name);
    uint64_t hash = space_hash(space, name, length);
    int count = 0;
    *key = key_of(hash);
    pthread_mutex_lock(&space->mutex);
    uint64_t bound = bound_group(space, name, length, hash);
    if (bound != 0)
        add_group(bound, groups, limit, &count);
    const struct predicted_name *predicted = *find_predicted(space, name, hash);
    const struct prediction *prediction = predicted ? predicted->latest : NULL;
    for (; prediction && count <= limit; prediction = prediction->previous)
        add_group(prediction->group, groups, limit, &count);
    pthread_mutex_unlock(&space->mutex);
    return count;
}

void predictions_free(struct name_space *space)
{
    for (size_t i = 0; space->predicted && i < space->n_predicted_buckets; i++)
        while (space->predicted[i]) {
            struct predicted_name *predicted = space->predicted[i];
            space->predicted[i] = predicted->chain;
            while (predicted->oldest) {
                struct prediction *prediction = predicted->oldest;
                unlink_prediction(predicted, prediction);
                free(prediction);
            }
            free(predicted);
        }
}
