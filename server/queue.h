// SPDX-License-Identifier: Apache-2.0
// Work: lanes (who), tasks (what) and one worker thread per device (where). Sees opaque
// devices and tasks.
//
// Properties
//   Fair      Each device serves the lane with the least virtual time among those with a
//             ready task: weighted fair queueing on the nanoseconds that steps report,
//             divided by the lane's weight. A lane that wakes starts at the device's
//             virtual time, so idling earns no credit.
//   Ordered   Tasks take effect in order of acceptance where their keys meet: a task runs
//             only when no earlier accepted task that has not finished writes a key it
//             touches, or touches a key it writes.
//   Bounded   At most limit tasks wait; beyond that STATUS_QUEUE_FULL with retry_after.
//   Limited   A lane may bound how many of its tasks wait, and how many have started and
//             not ended, on all devices together; these then take turns, slice by slice.
//   Sliced    A worker calls step again and again; between two steps it may serve another
//             lane. Tasks of a lane without such a bound do not take turns: the one that
//             has started goes on.
//   Drained   After queue_drain new and waiting tasks end with TASK_DRAINED
//             (STATUS_DRAINING); running ones go on.
// Safety
//   One mutex guards lanes, keys and states; callbacks run without it. A task is the
//   queue's from submit until finish is called, exactly once, on a worker or the thread
//   that cancels or drains.
#ifndef TENSORD_SERVER_QUEUE_H
#define TENSORD_SERVER_QUEUE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "kernels/base/problem.h"

struct queue;
struct lane; // opaque, reference counted
struct task;

enum { TASK_MAX_KEYS = 64 };
// What a task touches. Equal values meet. A task with more keys than TASK_MAX_KEYS sets
// `barrier`.
struct task_key {
    uint64_t value;
    bool write;
};

enum task_admission { TASK_READY, TASK_WAIT, TASK_NEVER };
enum task_step { TASK_MORE, TASK_MOVE, TASK_ADMIT, TASK_DONE };
enum task_end { TASK_FINISHED, TASK_CANCELLED, TASK_DRAINED };

struct task_interface {
    // Asked when the task's keys are free, before its first step and again after
    // queue_wake, and after a step that said ADMIT. NEVER ends the task as TASK_FINISHED
    // (it knows why). Worker thread.
    enum task_admission (*admit)(struct task *);
    // Runs one slice on the worker of task->device; *nanoseconds is what the lane is
    // billed. MOVE: task->device has been changed. ADMIT: admit is to be asked before the
    // next step, on the worker of task->device. DONE: finished, well or badly.
    enum task_step (*step)(struct task *, int64_t *nanoseconds);
    // The last call. The task is the owner's again. Keys are released after it returns,
    // so that what it commits is visible to the next.
    void (*finish)(struct task *, enum task_end);
};

struct task {
    const struct task_interface *vt;
    struct lane *lane; // the queue takes its own reference while it holds the task
    int device;
    uint64_t domain; // order domain (a user): keys of different domains never meet
    bool barrier;    // meets every task of its domain that has a key
    int n_keys;
    struct task_key keys[TASK_MAX_KEYS];
    struct { // the queue's own; zero before the first queue_cancel, submit sets the rest
        struct task *next, *previous;
        int state;
        uint64_t sequence;
        void *hold; // its place in the order
        atomic_bool cancelled;
    } queue;
};

struct queue_options {
    int n_devices;
    int max_waiting;      // tasks in all
    int max_lane_waiting; // of one lane
    // Called on each worker thread before its first task and after its last (opens and
    // closes a CUDA device).
    void (*worker_begin)(void *context, int device);
    void (*worker_end)(void *context, int device);
    void *context;
};

// Starts the workers and waits until each has returned from worker_begin.
enum status queue_create(const struct queue_options *options, struct queue **out,
                         struct problem *problem);
// All tasks must have ended and all lanes have been released. Joins the workers.
void queue_free(struct queue *queue);

// weight > 0.
enum status lane_create(struct queue *queue, double weight, struct lane **out,
                        struct problem *problem);
// From now on: at most max_waiting tasks wait (0: as the queue's options say),
// max_running have started and not ended (0: any number). More than that may be there
// already.
void lane_set_limits(struct lane *lane, double weight, int max_waiting, int max_running);
struct lane_facts {
    int waiting, running;
};
void lane_facts(struct lane *lane, struct lane_facts *out);
struct lane *lane_reference(struct lane *lane);
void lane_release(struct lane *lane);

// Accepts a task (its place in the order is now) or refuses it (QUEUE_FULL, DRAINING,
// OUT_OF_MEMORY); then finish is not called.
enum status queue_submit(struct queue *queue, struct task *task, struct problem *problem);
// Accepts the task and, if nothing it must wait for is pending in its domain and its lane
// has no other task, leaves it to the caller, who runs it now and then calls
// queue_inline_end: true. Else false and nothing happened (call queue_submit). While
// inline, later tasks that meet its keys wait for it.
bool queue_inline_begin(struct queue *queue, struct task *task);
// Bills the lane and releases the keys. finish is not called.
void queue_inline_end(struct queue *queue, struct task *task, int64_t nanoseconds);
// Bills work done elsewhere (parsing and printing of large bodies).
void queue_bill(struct queue *queue, struct lane *lane, int device, int64_t nanoseconds);

// Ends a waiting task now (finish(TASK_CANCELLED) on this thread) or a running one after
// its current step (a step that says DONE has finished all the same). Harmless if it has
// ended, as long as the task's memory is still there. Any thread.
void queue_cancel(struct queue *queue, struct task *task);
// Memory came back on some device: ask waiting admissions again. Any thread, also from
// inside callbacks. Costs two atomic operations when nobody waits.
void queue_wake(struct queue *queue);
// Stops accepting; ends all waiting tasks.
void queue_drain(struct queue *queue);
// True as soon as no task is left, false after seconds.
bool queue_wait_idle(struct queue *queue, double seconds);
// Cancels all tasks, waiting and running ones.
void queue_cancel_all(struct queue *queue);

struct queue_facts {
    int waiting, running;
    bool draining;
};
void queue_facts(struct queue *queue, int device, struct queue_facts *out);
#endif
