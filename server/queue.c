// SPDX-License-Identifier: Apache-2.0
// Accepting tasks and ending them. Properties and safety: queue.h; the parts:
// queue_internal.h.
//
// A task's states: BLOCKED -> READY -> RUNNING (-> WAITING -> READY)* -> ENDED, or
// INLINE. The worker owns a RUNNING task, the caller an INLINE one; in all other states
// the mutex does, and whoever holds it may take the task out of its list and end it.
#include <math.h>

#include "server/queue_internal.h"

void queue_lock(struct queue *queue)
{
    pthread_mutex_lock(&queue->mutex);
}

void queue_unlock(struct queue *queue)
{
    uint32_t to_wake = queue->to_wake;
    queue->to_wake = 0;
    pthread_mutex_unlock(&queue->mutex);
    while (to_wake != 0) {
        int device = __builtin_ctz(to_wake);
        to_wake &= to_wake - 1;
        sem_post(&queue->devices[device].wake);
    }
}

// ---- Counting

static void hold_insert(struct queue *queue, struct hold *hold, struct task *task)
{
    hold->task = task;
    hold->lane = lane_reference(task->lane);
    hold->device = task->device;
    hold->admitted = hold->started = false;
    hold->nanoseconds = 0;
    hold->previous = NULL;
    hold->next = queue->holds;
    if (hold->next != NULL)
        hold->next->previous = hold;
    queue->holds = hold;
    queue->n_tasks++;
    hold->lane->tasks++;
    task->queue.hold = hold;
    task->queue.next = task->queue.previous = NULL;
    task->queue.sequence = queue->sequence++;
    atomic_store_explicit(&task->queue.cancelled, false, memory_order_relaxed);
}

static void hold_remove(struct queue *queue, struct hold *hold)
{
    if (hold->next != NULL)
        hold->next->previous = hold->previous;
    if (hold->previous != NULL)
        hold->previous->next = hold->next;
    else
        queue->holds = hold->next;
    hold->lane->tasks--;
    lane_release_locked(queue, hold->lane);
    order_discard(queue, hold);
    if (--queue->n_tasks == 0)
        pthread_cond_broadcast(&queue->changed);
}

static void count_waiting(struct queue *queue, struct hold *hold, int change)
{
    queue->n_waiting += change;
    hold->lane->waiting += change;
    queue->devices[hold->device].n_waiting += change;
}

// Leaves the counts of the waiting or the running.
static void hold_uncount(struct queue *queue, struct hold *hold)
{
    if (!hold->started) {
        count_waiting(queue, hold, -1);
        return;
    }
    queue->devices[hold->device].n_running--;
    lane_count_running(queue, hold->lane, -1);
}

// ---- Accepting

// Seconds until the waiting tasks should be done, judged by those before.
static int retry_after(const struct queue *queue)
{
    double seconds = ceil(queue->n_waiting * queue->mean_nanoseconds * 1e-9);
    return seconds < 1 ? 1 : seconds > 60 ? 60 : (int)seconds;
}

static enum status check_room(struct queue *queue, const struct task *task,
                              struct problem *problem)
{
    if (queue->draining) {
        problem_set(problem, STATUS_DRAINING,
                    "The server is stopping; send the request to "
                    "its successor in a moment.");
        problem->retry_after = 1;
        return STATUS_DRAINING;
    }
    const struct queue_options *options = &queue->options;
    const struct lane *lane = task->lane;
    int lane_limit =
        lane->max_waiting > 0 ? lane->max_waiting : options->max_lane_waiting;
    bool lane_full = lane->waiting >= lane_limit;
    if (!lane_full && queue->n_waiting < options->max_waiting)
        return STATUS_OK;
    problem_set(problem, STATUS_QUEUE_FULL,
                lane_full ? "%d requests of yours are waiting already; at most %d may."
                          : "%d requests are waiting already; at most %d may.",
                lane_full ? lane->waiting : queue->n_waiting,
                lane_full ? lane_limit : options->max_waiting);
    problem->retry_after = retry_after(queue);
    return STATUS_QUEUE_FULL;
}

static enum status submit(struct queue *queue, struct task *task, struct problem *problem)
{
    enum status status = check_room(queue, task, problem);
    if (status != STATUS_OK)
        return status;
    struct hold *hold = order_prepare(queue, task);
    if (hold == NULL)
        return problem_set(problem, STATUS_OUT_OF_MEMORY,
                           "No memory to queue the request.");
    hold_insert(queue, hold, task);
    count_waiting(queue, hold, 1);
    order_accept(queue, hold);
    task->queue.state = STATE_BLOCKED;
    if (hold->blockers == 0)
        lane_add_ready(queue, task, false);
    return STATUS_OK;
}

enum status queue_submit(struct queue *queue, struct task *task, struct problem *problem)
{
    queue_lock(queue);
    enum status status = submit(queue, task, problem);
    queue_unlock(queue);
    return status;
}

bool queue_inline_begin(struct queue *queue, struct task *task)
{
    bool accepted = false;
    struct hold *hold;
    queue_lock(queue);
    if (!queue->draining && task->lane->tasks == 0 && order_is_free(queue, task) &&
        (hold = order_prepare(queue, task)) != NULL) {
        hold_insert(queue, hold, task);
        hold->started = true;
        queue->devices[hold->device].n_running++;
        lane_count_running(queue, hold->lane, 1);
        order_accept(queue, hold);
        task->queue.state = STATE_INLINE;
        accepted = true;
    }
    queue_unlock(queue);
    return accepted;
}

// ---- Ending

static void note_duration(struct queue *queue, const struct hold *hold)
{
    double change = (double)hold->nanoseconds - queue->mean_nanoseconds;
    queue->mean_nanoseconds += change / 16;
}

void queue_inline_end(struct queue *queue, struct task *task, int64_t nanoseconds)
{
    queue_lock(queue);
    struct hold *hold = task->queue.hold;
    task->queue.state = STATE_ENDED;
    hold->task = NULL;
    hold->nanoseconds = nanoseconds;
    note_duration(queue, hold);
    lane_bill(hold->lane, &queue->devices[hold->device], nanoseconds);
    hold_uncount(queue, hold);
    order_release(queue, hold);
    hold_remove(queue, hold);
    queue_unlock(queue);
}

void queue_end(struct queue *queue, struct task *task, enum task_end end)
{
    struct hold *hold = task->queue.hold;
    task->queue.state = STATE_ENDED;
    hold->task = NULL;
    if (end == TASK_FINISHED)
        note_duration(queue, hold);
    hold_uncount(queue, hold);
    queue_unlock(queue);
    task->vt->finish(task, end);
    // The task's memory may be gone, or be another task.
    queue_lock(queue);
    order_release(queue, hold);
    hold_remove(queue, hold);
}

// Takes a task that nobody runs out of its list. False if it is running or has ended.
static bool take_waiting(struct queue *queue, struct task *task)
{
    switch ((enum task_state)task->queue.state) {
    case STATE_BLOCKED:
        return true;
    case STATE_READY:
        lane_remove_ready(queue, task);
        return true;
    case STATE_WAITING:
        task_list_remove(&queue->devices[task->device].waiting, task);
        atomic_fetch_sub(&queue->n_memory_waiters, 1);
        return true;
    case STATE_NONE:
    case STATE_RUNNING:
    case STATE_INLINE:
    case STATE_ENDED:
        break;
    }
    return false;
}

void queue_cancel(struct queue *queue, struct task *task)
{
    queue_lock(queue);
    if (take_waiting(queue, task))
        queue_end(queue, task, TASK_CANCELLED);
    else if (task->queue.state == STATE_RUNNING || task->queue.state == STATE_INLINE)
        atomic_store(&task->queue.cancelled, true);
    queue_unlock(queue);
}

void queue_wake(struct queue *queue)
{
    // The worker counts itself a waiter before it reads the epoch again (queue_worker.c),
    // so that one of the two sees the other.
    atomic_fetch_add(&queue->wake_epoch, 1);
    if (atomic_load(&queue->n_memory_waiters) == 0)
        return;
    queue_lock(queue);
    for (int i = 0; i < queue->n_devices; i++) {
        struct task_list *waiting = &queue->devices[i].waiting;
        // From the end, each to the front of its lane: the oldest asks first.
        for (struct task *task; (task = waiting->tail) != NULL;) {
            task_list_remove(waiting, task);
            atomic_fetch_sub(&queue->n_memory_waiters, 1);
            lane_add_ready(queue, task, true);
        }
    }
    queue_unlock(queue);
}

// Ends all tasks that have not started (and, with all, those between two steps).
static void end_waiting(struct queue *queue, enum task_end end, bool all)
{
    struct hold *hold = queue->holds;
    while (hold != NULL) {
        struct task *task = hold->task;
        if (task == NULL || (hold->started && !all) || !take_waiting(queue, task)) {
            hold = hold->next;
            continue;
        }
        queue_end(queue, task, end);
        hold = queue->holds; // the mutex was open
    }
}

void queue_drain(struct queue *queue)
{
    queue_lock(queue);
    queue->draining = true;
    end_waiting(queue, TASK_DRAINED, false);
    queue_unlock(queue);
}

void queue_cancel_all(struct queue *queue)
{
    queue_lock(queue);
    for (struct hold *hold = queue->holds; hold != NULL; hold = hold->next)
        if (hold->task != NULL)
            atomic_store(&hold->task->queue.cancelled, true);
    end_waiting(queue, TASK_CANCELLED, true);
    queue_unlock(queue);
}

void queue_facts(struct queue *queue, int device, struct queue_facts *out)
{
    queue_lock(queue);
    out->waiting = queue->devices[device].n_waiting;
    out->running = queue->devices[device].n_running;
    out->draining = queue->draining;
    queue_unlock(queue);
}
