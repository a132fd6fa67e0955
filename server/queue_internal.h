// SPDX-License-Identifier: Apache-2.0
// What the files of the queue share. queue.c: accepting and ending; queue_order.c: keys;
// queue_lane.c: lanes, the choice of the next one, billing; queue_worker.c: the threads;
// queue_life.c: start and stop.
//
// Every function here that takes a queue is called with its mutex held, unless it says
// otherwise. queue_unlock wakes the workers that got work meanwhile, after the mutex is
// free, so that they do not run into it.
#ifndef TENSORD_SERVER_QUEUE_INTERNAL_H
#define TENSORD_SERVER_QUEUE_INTERNAL_H

#include <pthread.h>
#include <semaphore.h>

#include "server/queue.h"

enum task_state {
    STATE_NONE,    // not the queue's
    STATE_BLOCKED, // waits for keys
    STATE_READY,   // in its lane's list
    STATE_WAITING, // waits for memory, in its device's list
    STATE_RUNNING, // on the worker
    STATE_INLINE,  // on the caller's thread
    STATE_ENDED,   // finish is being or has been called
};

struct task_list {
    struct task *head, *tail;
};

// A key that some unfinished task touches: the tasks in order of acceptance, a prefix of
// which is granted (many readers or one writer), the rest waits.
struct key_entry {
    struct key_entry *next; // in its bucket, or among the spare ones
    uint64_t domain, value;
    bool whole; // the domain itself: barriers write it, all others read it
    bool written;
    int readers;
    struct key_link *head, *tail, *waiting; // waiting: the first that is not granted
};

struct key_link {
    struct hold *hold;
    struct key_entry *entry;
    struct key_link *previous, *next;
    bool write, granted;
};

// An accepted task's place in the order. Lives until its keys are released, which is
// after the task's memory may have gone.
struct hold {
    struct task *task; // NULL once the task is ending
    struct lane *lane;
    int device;
    bool admitted, started;
    int64_t nanoseconds; // billed so far
    struct hold *previous, *next;
    int blockers; // links not granted
    int n_links, capacity;
    struct key_link links[];
};

struct lane_device {
    double virtual_time;      // nanoseconds / weight
    struct task_list started; // ready tasks that have started; they go first
    struct task_list ready;   // the others
    int position;             // in the device's heap; -1: no task may run
};

struct lane {
    atomic_int references;
    struct queue *queue;
    double weight;
    int tasks;                    // accepted and not ended
    int waiting;                  // of these, not started
    int running;                  // the others
    int max_waiting, max_running; // 0: the queue's; any number
    struct lane_device devices[];
};

struct queue_device {
    struct queue *queue;
    int index;
    pthread_t thread;
    // Posted once for each time it went to sleep. No condition variable: whoever returns from
    // one holds the mutex as contended, and its unlock calls the kernel for nobody.
    sem_t wake;
    bool sleeping; // until somebody has undertaken to wake it
    bool begun;
    double virtual_time;
    struct lane **heap; // lanes with ready tasks, least virtual time first
    int n_heap;
    struct task *current;
    struct task_list waiting; // for memory
    int n_waiting, n_running;
};

enum { QUEUE_BUCKETS = 256, QUEUE_HOLD_LINKS = 8, QUEUE_SPARE_HOLDS = 64 };

struct queue {
    pthread_mutex_t mutex;
    pthread_cond_t changed; // a worker has begun, or no task is left
    struct queue_options options;
    bool draining, stopping;
    uint64_t sequence;
    int n_waiting, n_tasks;
    double mean_nanoseconds; // of a task, moving average
    uint32_t to_wake;        // devices, a bit each
    struct hold *holds;      // all accepted tasks
    struct hold *spare_holds;
    int n_spare_holds;
    struct key_entry **buckets;
    size_t n_buckets, n_entries;
    struct key_entry *spare_entries;
    size_t n_spare_entries;
    int n_lanes, heap_capacity;
    atomic_uint_fast64_t wake_epoch; // counts queue_wake
    atomic_int n_memory_waiters;     // tasks in STATE_WAITING
    int n_devices;
    struct queue_device devices[];
};

void queue_lock(struct queue *queue);
void queue_unlock(struct queue *queue);
// The next queue_unlock wakes the device's worker if it sleeps.
void queue_rouse(struct queue_device *device);
// Ends a task that is in no list: calls finish without the mutex, then releases its keys.
void queue_end(struct queue *queue, struct task *task, enum task_end end);

// ---- queue_order.c
// Memory for the task's keys, so that order_accept cannot fail. NULL: none.
struct hold *order_prepare(struct queue *queue, const struct task *task);
void order_discard(struct queue *queue, struct hold *hold); // back to the spare ones
// Would the task be free to run if it were accepted now?
bool order_is_free(const struct queue *queue, const struct task *task);
// Enters the task's keys. hold->blockers says whether it must wait.
void order_accept(struct queue *queue, struct hold *hold);
// Leaves the order; tasks that become free are made ready.
void order_release(struct queue *queue, struct hold *hold);
void order_free_all(struct queue *queue);

// ---- queue_lane.c
void task_list_append(struct task_list *list, struct task *task);
void task_list_prepend(struct task_list *list, struct task *task);
void task_list_remove(struct task_list *list, struct task *task);
// A task of the lane begins (or goes back to those that wait) or ends: change is 1 or -1.
// A lane at its limit leaves the heaps, and comes back.
void lane_count_running(struct queue *queue, struct lane *lane, int change);
// Puts the task into its lane's list, at the end or (one that has been there) in front.
void lane_add_ready(struct queue *queue, struct task *task, bool in_front);
void lane_remove_ready(struct queue *queue, struct task *task);
// The next task of the lane whose turn it is; NULL if there is none. It leaves its list.
struct task *lane_take_next(struct queue_device *device);
void lane_bill(struct lane *lane, struct queue_device *device, int64_t nanoseconds);
void lane_release_locked(struct queue *queue, struct lane *lane);

// ---- queue_worker.c
void *worker_main(void *device);
#endif
