// SPDX-License-Identifier: Apache-2.0
// The queue's questions for admission: before the first step, after a wake, and wherever
// a step says so.
#include <sched.h>

#include "fake_task.h"

static void waits_for_memory_until_woken(void **state)
{
    struct queue *queue = fake_queue(1, 10, 10);
    struct lane *lane = fake_lane(queue, 1);
    struct fake hungry, other, never;
    sem_t done;
    sem_init(&done, 0, 0);
    fake_init(&hungry, lane, 1);
    hungry.admissions_refused = 2;
    hungry.done = &done;
    fake_submit(queue, &hungry);
    // Others pass it while it waits.
    fake_init(&other, lane, 1);
    other.done = &done;
    fake_submit(queue, &other);
    sem_wait(&done);
    assert_int_equal(hungry.runs, 0);
    while (atomic_load(&hungry.finishes) == 0) {
        queue_wake(queue);
        sched_yield();
    }
    sem_wait(&done);
    assert_int_equal(hungry.admits, 3);
    assert_int_equal(hungry.runs, 1);
    fake_init(&never, lane, 1);
    never.never = true;
    never.done = &done;
    fake_submit(queue, &never);
    sem_wait(&done);
    assert_int_equal(never.runs, 0);
    assert_int_equal(never.end, TASK_FINISHED);
    assert_true(queue_wait_idle(queue, 10));
    lane_release(lane);
    queue_free(queue);
}

// A wake that falls between admit's answer and the task's going to wait is not lost.
static void wake_inside_admit(struct fake *fake)
{
    queue_wake(fake->data);
}
static enum task_admission admit_waking(struct task *task)
{
    enum task_admission admission = fake_admit(task);
    wake_inside_admit((struct fake *)task);
    return admission;
}
static void a_wake_during_admit_counts(void **state)
{
    static const struct task_interface waking = {admit_waking, fake_step, fake_finish};
    struct queue *queue = fake_queue(1, 10, 10);
    struct lane *lane = fake_lane(queue, 1);
    struct fake task;
    fake_init(&task, lane, 1);
    task.task.vt = &waking;
    task.data = queue;
    task.admissions_refused = 5;
    fake_submit(queue, &task);
    assert_true(queue_wait_idle(queue, 10));
    assert_int_equal(task.admits, 6);
    assert_int_equal(task.runs, 1);
    lane_release(lane);
    queue_free(queue);
}

// A program makes executors as it goes: each is admitted before it runs.
static void asks_again_where_a_step_says_so(void **state)
{
    struct queue *queue = fake_queue(2, 10, 10);
    struct lane *lane = fake_lane(queue, 1);
    struct fake task;
    sem_t done;
    sem_init(&done, 0, 0);
    fake_init(&task, lane, 3);
    task.asks = true;
    task.move_to = 1;
    task.admissions_refused = 1;
    task.done = &done;
    fake_submit(queue, &task);
    while (atomic_load(&task.finishes) == 0) {
        queue_wake(queue);
        sched_yield();
    }
    sem_wait(&done);
    assert_int_equal(task.runs, 3);
    assert_int_equal(task.admits, 4); // one refusal, then one before each step
    assert_int_equal(task.end, TASK_FINISHED);
    sem_destroy(&done);
    lane_release(lane);
    queue_free(queue);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(waits_for_memory_until_woken),
        cmocka_unit_test(a_wake_during_admit_counts),
        cmocka_unit_test(asks_again_where_a_step_says_so),
    };
    return cmocka_run_group_tests_name("queue_admission", tests, NULL, NULL);
}
