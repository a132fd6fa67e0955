// SPDX-License-Identifier: Apache-2.0
// The order of tasks that touch the same keys: a table of keys, each with a first-come
// first-served reader-writer list. A task enters all its lists in one step under the
// mutex, so that the lists agree on who came first and no cycle can arise; it may run
// when it is granted in each. A barrier is a writer of the domain itself, which all
// others read.
#include <stdlib.h>

#include "server/queue_internal.h"

static size_t key_hash(uint64_t domain, uint64_t value, bool whole)
{
    uint64_t h = value ^ (domain + whole) * 0x9E3779B97F4A7C15u;
    h = (h ^ h >> 32) * 0xD6E8FEB86659FD93u;
    return (size_t)(h ^ h >> 32);
}

static struct key_entry *entry_find(const struct queue *queue, uint64_t domain,
                                    uint64_t value, bool whole)
{
    size_t bucket = key_hash(domain, value, whole) & (queue->n_buckets - 1);
    struct key_entry *entry = queue->buckets[bucket];
    while (entry != NULL &&
           (entry->value != value || entry->domain != domain || entry->whole != whole))
        entry = entry->next;
    return entry;
}

// Doubles the table. Without memory the chains just grow longer.
static void table_grow(struct queue *queue)
{
    size_t n = queue->n_buckets * 2;
    struct key_entry **buckets = calloc(n, sizeof(struct key_entry *));
    if (buckets == NULL)
        return;
    for (size_t i = 0; i < queue->n_buckets; i++) {
        struct key_entry *next;
        for (struct key_entry *e = queue->buckets[i]; e != NULL; e = next) {
            struct key_entry **to =
                &buckets[key_hash(e->domain, e->value, e->whole) & (n - 1)];
            next = e->next;
            e->next = *to;
            *to = e;
        }
    }
    free(queue->buckets);
    queue->buckets = buckets;
    queue->n_buckets = n;
}

// A spare entry is there: order_prepare saw to it.
static struct key_entry *entry_make(struct queue *queue, uint64_t domain, uint64_t value,
                                    bool whole)
{
    struct key_entry *entry = queue->spare_entries;
    queue->spare_entries = entry->next;
    queue->n_spare_entries--;
    if (++queue->n_entries > queue->n_buckets)
        table_grow(queue);
    size_t bucket = key_hash(domain, value, whole) & (queue->n_buckets - 1);
    *entry = (struct key_entry){
        .next = queue->buckets[bucket], .domain = domain, .value = value, .whole = whole};
    queue->buckets[bucket] = entry;
    return entry;
}

static void entry_drop(struct queue *queue, struct key_entry *entry)
{
    size_t hash = key_hash(entry->domain, entry->value, entry->whole);
    struct key_entry **at = &queue->buckets[hash & (queue->n_buckets - 1)];
    while (*at != entry)
        at = &(*at)->next;
    *at = entry->next;
    queue->n_entries--;
    entry->next = queue->spare_entries;
    queue->spare_entries = entry;
    queue->n_spare_entries++;
}

static bool spare_entries_reserve(struct queue *queue, size_t count)
{
    while (queue->n_spare_entries < count) {
        struct key_entry *entry = malloc(sizeof *entry);
        if (entry == NULL)
            return false;
        entry->next = queue->spare_entries;
        queue->spare_entries = entry;
        queue->n_spare_entries++;
    }
    return true;
}

static int task_n_keys(const struct task *task)
{
    return task->barrier || task->n_keys > TASK_MAX_KEYS ? 0 : task->n_keys;
}

static bool task_is_barrier(const struct task *task)
{
    return task->barrier || task->n_keys > TASK_MAX_KEYS;
}

struct hold *order_prepare(struct queue *queue, const struct task *task)
{
    int n = task_n_keys(task) + 1;
    if (!spare_entries_reserve(queue, (size_t)n))
        return NULL;
    struct hold *hold = queue->spare_holds;
    if (n <= QUEUE_HOLD_LINKS && hold != NULL) {
        queue->spare_holds = hold->next;
        queue->n_spare_holds--;
    } else {
        int capacity = n <= QUEUE_HOLD_LINKS ? QUEUE_HOLD_LINKS : n;
        hold = malloc(sizeof *hold + (size_t)capacity * sizeof hold->links[0]);
        if (hold == NULL)
            return NULL;
        hold->capacity = capacity;
    }
    hold->blockers = hold->n_links = 0;
    return hold;
}

void order_discard(struct queue *queue, struct hold *hold)
{
    if (hold->capacity != QUEUE_HOLD_LINKS || queue->n_spare_holds >= QUEUE_SPARE_HOLDS) {
        free(hold);
        return;
    }
    hold->next = queue->spare_holds;
    queue->spare_holds = hold;
    queue->n_spare_holds++;
}

static bool entry_admits(const struct key_entry *entry, bool write)
{
    return !entry->written && (!write || entry->readers == 0);
}

static bool key_is_free(const struct queue *queue, uint64_t domain, uint64_t value,
                        bool whole, bool write)
{
    const struct key_entry *entry = entry_find(queue, domain, value, whole);
    return entry == NULL || (entry->waiting == NULL && entry_admits(entry, write));
}

// Who touches nothing waits for nobody, and nobody for him.
static bool task_meets_nothing(const struct task *task)
{
    return task_n_keys(task) == 0 && !task_is_barrier(task);
}

bool order_is_free(const struct queue *queue, const struct task *task)
{
    if (task_meets_nothing(task))
        return true;
    if (!key_is_free(queue, task->domain, 0, true, task_is_barrier(task)))
        return false;
    for (int i = 0; i < task_n_keys(task); i++)
        if (!key_is_free(queue, task->domain, task->keys[i].value, false,
                         task->keys[i].write))
            return false;
    return true;
}

static void link_grant(struct key_link *link)
{
    link->granted = true;
    if (link->write)
        link->entry->written = true;
    else
        link->entry->readers++;
}

// The task named the key before, as a reader, and now also writes it.
static void link_upgrade(struct key_link *link)
{
    struct key_entry *entry = link->entry;
    link->write = true;
    if (!link->granted)
        return;
    entry->readers--;
    if (entry_admits(entry, true)) {
        link_grant(link);
        return;
    }
    link->granted = false;
    entry->waiting = link; // it is the last, and all before it were granted
    link->hold->blockers++;
}

static void order_enter(struct queue *queue, struct hold *hold, uint64_t value,
                        bool whole, bool write)
{
    uint64_t domain = hold->task->domain;
    struct key_entry *entry = entry_find(queue, domain, value, whole);
    if (entry == NULL)
        entry = entry_make(queue, domain, value, whole);
    if (entry->tail != NULL && entry->tail->hold == hold) {
        if (write && !entry->tail->write)
            link_upgrade(entry->tail);
        return;
    }
    struct key_link *link = &hold->links[hold->n_links++];
    *link = (struct key_link){
        .hold = hold, .entry = entry, .previous = entry->tail, .write = write};
    if (entry->tail != NULL)
        entry->tail->next = link;
    else
        entry->head = link;
    entry->tail = link;
    if (entry->waiting == NULL && entry_admits(entry, write)) {
        link_grant(link);
        return;
    }
    if (entry->waiting == NULL)
        entry->waiting = link;
    hold->blockers++;
}

void order_accept(struct queue *queue, struct hold *hold)
{
    const struct task *task = hold->task;
    if (task_meets_nothing(task))
        return;
    order_enter(queue, hold, 0, true, task_is_barrier(task));
    for (int i = 0; i < task_n_keys(task); i++)
        order_enter(queue, hold, task->keys[i].value, false, task->keys[i].write);
}

// Grants what the entry admits now, in order.
static void entry_advance(struct queue *queue, struct key_entry *entry)
{
    struct key_link *link;
    while ((link = entry->waiting) != NULL && entry_admits(entry, link->write)) {
        entry->waiting = link->next;
        link_grant(link);
        if (--link->hold->blockers == 0 && link->hold->task != NULL)
            lane_add_ready(queue, link->hold->task, false);
    }
}

static void link_leave(struct queue *queue, struct key_link *link)
{
    struct key_entry *entry = link->entry;
    if (!link->granted) {
        if (entry->waiting == link)
            entry->waiting = link->next;
    } else if (link->write) {
        entry->written = false;
    } else {
        entry->readers--;
    }
    if (link->previous != NULL)
        link->previous->next = link->next;
    else
        entry->head = link->next;
    if (link->next != NULL)
        link->next->previous = link->previous;
    else
        entry->tail = link->previous;
    if (entry->head == NULL)
        entry_drop(queue, entry);
    else
        entry_advance(queue, entry);
}

void order_release(struct queue *queue, struct hold *hold)
{
    for (int i = 0; i < hold->n_links; i++)
        link_leave(queue, &hold->links[i]);
    hold->n_links = 0;
}

void order_free_all(struct queue *queue)
{
    struct key_entry *next_entry;
    for (struct key_entry *e = queue->spare_entries; e != NULL; e = next_entry) {
        next_entry = e->next;
        free(e);
    }
    struct hold *next_hold;
    for (struct hold *h = queue->spare_holds; h != NULL; h = next_hold) {
        next_hold = h->next;
        free(h);
    }
    free(queue->buckets);
}
