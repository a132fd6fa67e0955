// SPDX-License-Identifier: Apache-2.0
// A task with a script, for the tests of the queue: how many steps, what each is billed,
// what admit answers, and hooks. Time is what the script says.
#ifndef TENSORD_TESTS_FAKE_TASK_H
#define TENSORD_TESTS_FAKE_TASK_H

#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "server/queue.h"

struct fake {
    struct task task;
    int steps;                     // left
    int64_t nanoseconds;           // of each
    int move_to;                   // device after each step; -1: stays
    bool asks;                     // for admission before each further step
    atomic_int admissions_refused; // admit answers WAIT this often
    bool never;
    sem_t *gate;    // each step waits for it
    sem_t *entered; // posted before that
    void (*on_step)(struct fake *);
    void (*on_finish)(struct fake *);
    void *data;
    int tag;
    atomic_int finishes, admits, runs;
    enum task_end end;
    sem_t *done; // posted when it has finished
};

static enum task_admission fake_admit(struct task *task)
{
    struct fake *fake = (struct fake *)task;
    atomic_fetch_add(&fake->admits, 1);
    if (fake->never)
        return TASK_NEVER;
    if (atomic_load(&fake->admissions_refused) > 0) {
        atomic_fetch_sub(&fake->admissions_refused, 1);
        return TASK_WAIT;
    }
    return TASK_READY;
}

static enum task_step fake_step(struct task *task, int64_t *nanoseconds)
{
    struct fake *fake = (struct fake *)task;
    if (fake->entered != NULL)
        sem_post(fake->entered);
    if (fake->gate != NULL)
        sem_wait(fake->gate);
    atomic_fetch_add(&fake->runs, 1);
    if (fake->on_step != NULL)
        fake->on_step(fake);
    *nanoseconds = fake->nanoseconds;
    if (--fake->steps <= 0)
        return TASK_DONE;
    if (fake->move_to < 0)
        return fake->asks ? TASK_ADMIT : TASK_MORE;
    int here = task->device;
    task->device = fake->move_to;
    fake->move_to = here;
    return fake->asks ? TASK_ADMIT : TASK_MOVE;
}

static void fake_finish(struct task *task, enum task_end end)
{
    struct fake *fake = (struct fake *)task;
    fake->end = end;
    atomic_fetch_add(&fake->finishes, 1);
    if (fake->on_finish != NULL)
        fake->on_finish(fake);
    if (fake->done != NULL)
        sem_post(fake->done);
}

static const struct task_interface fake_interface = {fake_admit, fake_step, fake_finish};

static inline void fake_init(struct fake *fake, struct lane *lane, int steps)
{
    memset(fake, 0, sizeof *fake);
    fake->task.vt = &fake_interface;
    fake->task.lane = lane;
    fake->steps = steps;
    fake->nanoseconds = 1000;
    fake->move_to = -1;
}

static inline void fake_key(struct fake *fake, uint64_t value, bool write)
{
    fake->task.keys[fake->task.n_keys++] = (struct task_key){value, write};
}

static inline struct queue *fake_queue(int devices, int max_waiting, int max_lane_waiting)
{
    struct queue_options options = {.n_devices = devices,
                                    .max_waiting = max_waiting,
                                    .max_lane_waiting = max_lane_waiting};
    struct queue *queue;
    struct problem problem;
    assert_int_equal(queue_create(&options, &queue, &problem), STATUS_OK);
    return queue;
}

static inline struct lane *fake_lane(struct queue *queue, double weight)
{
    struct lane *lane;
    struct problem problem;
    assert_int_equal(lane_create(queue, weight, &lane, &problem), STATUS_OK);
    return lane;
}

static inline void fake_submit(struct queue *queue, struct fake *fake)
{
    struct problem problem;
    assert_int_equal(queue_submit(queue, &fake->task, &problem), STATUS_OK);
}

// Occupies the worker of device 0 until the gate is posted; returns once it is occupied.
static inline void fake_block(struct queue *queue, struct fake *fake, struct lane *lane,
                              sem_t *gate, sem_t *entered)
{
    fake_init(fake, lane, 1);
    fake->task.domain = UINT64_MAX; // meets nobody
    fake->nanoseconds = 0;
    sem_init(gate, 0, 0);
    sem_init(entered, 0, 0);
    fake->gate = gate;
    fake->entered = entered;
    fake_submit(queue, fake);
    sem_wait(entered);
}
#endif
