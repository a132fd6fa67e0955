// SPDX-License-Identifier: Apache-2.0
// A device's worker: takes the next task, asks for admission, runs one step, bills it,
// and puts the task where it belongs. The only thread that steps tasks of its device.
#include <stdio.h>

#include "server/queue_internal.h"

struct turn {
    enum task_admission admission;
    enum task_step step;
    int64_t nanoseconds;
    uint64_t wake_epoch; // before admit was asked
};

// Without the mutex.
static void run_step(struct queue *queue, struct task *task, bool admitted,
                     struct turn *turn)
{
    turn->wake_epoch = atomic_load(&queue->wake_epoch);
    turn->admission = admitted ? TASK_READY : task->vt->admit(task);
    if (turn->admission == TASK_READY)
        turn->step = task->vt->step(task, &turn->nanoseconds);
}

static void wait_for_memory(struct queue *queue, struct task *task,
                            const struct turn *turn)
{
    if (queue->draining) {
        queue_end(queue, task, TASK_DRAINED);
        return;
    }
    struct task_list *waiting = &queue->devices[task->device].waiting;
    task->queue.state = STATE_WAITING;
    task_list_append(waiting, task);
    atomic_fetch_add(&queue->n_memory_waiters, 1);
    if (atomic_load(&queue->wake_epoch) == turn->wake_epoch)
        return;
    // Memory came back since admit was asked.
    task_list_remove(waiting, task);
    atomic_fetch_sub(&queue->n_memory_waiters, 1);
    lane_add_ready(queue, task, true);
}

// The task goes on, here or (MOVE, ADMIT) on another device.
static void put_back(struct queue *queue, struct task *task, struct hold *hold)
{
    queue->devices[hold->device].n_running--;
    hold->device = task->device;
    queue->devices[hold->device].n_running++;
    lane_add_ready(queue, task, true);
}

// Moves the task from the waiting to the running, or back.
static void note_started(struct queue *queue, struct hold *hold, bool started)
{
    struct queue_device *device = &queue->devices[hold->device];
    int change = started ? 1 : -1;
    hold->started = started;
    queue->n_waiting -= change;
    hold->lane->waiting -= change;
    device->n_waiting -= change;
    device->n_running += change;
    lane_count_running(queue, hold->lane, change);
}

static void serve(struct queue *queue, struct queue_device *device, struct task *task)
{
    struct hold *hold = task->queue.hold;
    struct turn turn = {.step = TASK_DONE};
    bool admitted = hold->admitted;
    task->queue.state = STATE_RUNNING;
    device->current = task;
    if (!hold->started)
        note_started(queue, hold, true);
    queue_unlock(queue);
    run_step(queue, task, admitted, &turn);
    queue_lock(queue);
    device->current = NULL;
    if (turn.admission == TASK_READY) {
        hold->admitted = turn.step != TASK_ADMIT;
        hold->nanoseconds += turn.nanoseconds;
        lane_bill(hold->lane, device, turn.nanoseconds);
    } else if (turn.admission == TASK_WAIT) {
        note_started(queue, hold, false);
    }
    bool ended = turn.admission == TASK_NEVER ||
                 (turn.admission == TASK_READY && turn.step == TASK_DONE);
    if (ended)
        queue_end(queue, task, TASK_FINISHED);
    else if (atomic_load(&task->queue.cancelled))
        queue_end(queue, task, TASK_CANCELLED);
    else if (turn.admission == TASK_WAIT)
        wait_for_memory(queue, task, &turn);
    else
        put_back(queue, task, hold);
}

void *worker_main(void *argument)
{
    struct queue_device *device = argument;
    struct queue *queue = device->queue;
    char name[16];
    snprintf(name, sizeof name, "device-%d", device->index);
    pthread_setname_np(pthread_self(), name);
    if (queue->options.worker_begin != NULL)
        queue->options.worker_begin(queue->options.context, device->index);
    queue_lock(queue);
    device->begun = true;
    pthread_cond_broadcast(&queue->changed);
    while (!queue->stopping) {
        struct task *task = lane_take_next(device);
        if (task != NULL) {
            serve(queue, device, task);
            continue;
        }
        device->sleeping = true;
        queue_unlock(queue);
        while (sem_wait(&device->wake) != 0) // a signal
            ;
        queue_lock(queue);
    }
    queue_unlock(queue);
    if (queue->options.worker_end != NULL)
        queue->options.worker_end(queue->options.context, device->index);
    return NULL;
}
