// SPDX-License-Identifier: Apache-2.0
// The queue with a fake device: bounds, admission, slices, moving, cancelling in every
// state, draining, shares. Order by keys is test_queue_order.c.
#include <pthread.h>

#include "tests/unit/server/fake_task.h"

static void runs_steps_and_finishes_once(void **state)
{
    struct queue *queue = fake_queue(1, 10, 10);
    struct lane *lane = fake_lane(queue, 1);
    struct fake task;
    sem_t done;
    sem_init(&done, 0, 0);
    fake_init(&task, lane, 5);
    task.done = &done;
    fake_submit(queue, &task);
    sem_wait(&done);
    assert_true(queue_wait_idle(queue, 10));
    assert_int_equal(task.runs, 5);
    assert_int_equal(task.admits, 1);
    assert_int_equal(task.finishes, 1);
    assert_int_equal(task.end, TASK_FINISHED);
    lane_release(lane);
    queue_free(queue);
}

static void refuses_beyond_its_bounds(void **state)
{
    struct queue *queue = fake_queue(1, 3, 2);
    struct lane *a = fake_lane(queue, 1), *b = fake_lane(queue, 1);
    struct fake blocker, tasks[5];
    sem_t gate, entered;
    struct problem problem;
    fake_block(queue, &blocker, a, &gate, &entered);
    for (int i = 0; i < 5; i++)
        fake_init(&tasks[i], i < 3 ? a : b, 1);
    fake_submit(queue, &tasks[0]);
    fake_submit(queue, &tasks[1]);
    assert_int_equal(queue_submit(queue, &tasks[2].task, &problem), STATUS_QUEUE_FULL);
    assert_in_range(problem.retry_after, 1, 60);
    fake_submit(queue, &tasks[3]); // another lane still may
    assert_int_equal(queue_submit(queue, &tasks[4].task, &problem), STATUS_QUEUE_FULL);
    struct queue_facts facts;
    queue_facts(queue, 0, &facts);
    assert_int_equal(facts.waiting, 3);
    assert_int_equal(facts.running, 1);
    sem_post(&gate);
    assert_true(queue_wait_idle(queue, 10));
    assert_int_equal(tasks[2].finishes, 0);
    assert_int_equal(tasks[4].finishes, 0);
    assert_int_equal(tasks[3].finishes, 1);
    queue_facts(queue, 0, &facts);
    assert_int_equal(facts.waiting, 0);
    assert_int_equal(facts.running, 0);
    lane_release(a);
    lane_release(b);
    queue_free(queue);
}

// ---- Moving between devices

static atomic_int steps_on[2];
static void count_device(struct fake *fake)
{
    atomic_fetch_add(&steps_on[fake->task.device], 1);
}
static void moves_between_devices(void **state)
{
    struct queue *queue = fake_queue(2, 10, 10);
    struct lane *lane = fake_lane(queue, 1);
    struct fake task;
    fake_init(&task, lane, 7);
    task.move_to = 1;
    task.on_step = count_device;
    fake_submit(queue, &task);
    assert_true(queue_wait_idle(queue, 10));
    assert_int_equal(steps_on[0], 4);
    assert_int_equal(steps_on[1], 3);
    assert_int_equal(task.finishes, 1);
    lane_release(lane);
    queue_free(queue);
}

// ---- Cancelling

static void cancels_in_each_state(void **state)
{
    struct queue *queue = fake_queue(1, 20, 20);
    struct lane *lane = fake_lane(queue, 1);
    struct fake running, ready, blocked, memory, after;
    sem_t gate, entered;
    // waiting for memory
    fake_init(&memory, lane, 1);
    memory.admissions_refused = 1000000;
    fake_submit(queue, &memory);
    while (atomic_load(&memory.admits) == 0)
        sched_yield();
    // running (more steps to come), ready, blocked by ready's key
    sem_init(&gate, 0, 0);
    sem_init(&entered, 0, 0);
    fake_init(&running, lane, 3);
    running.gate = &gate;
    running.entered = &entered;
    fake_submit(queue, &running);
    sem_wait(&entered);
    fake_init(&ready, lane, 1);
    fake_key(&ready, 7, true);
    fake_submit(queue, &ready);
    fake_init(&blocked, lane, 1);
    fake_key(&blocked, 7, false);
    fake_submit(queue, &blocked);
    fake_init(&after, lane, 1);
    fake_key(&after, 7, true);
    fake_submit(queue, &after);

    queue_cancel(queue, &blocked.task);
    assert_int_equal(blocked.finishes, 1);
    assert_int_equal(blocked.end, TASK_CANCELLED);
    queue_cancel(queue, &ready.task);
    assert_int_equal(ready.end, TASK_CANCELLED);
    queue_cancel(queue, &memory.task);
    assert_int_equal(memory.finishes, 1);
    assert_int_equal(memory.end, TASK_CANCELLED);
    queue_cancel(queue, &running.task);
    assert_int_equal(running.finishes, 0);
    sem_post(&gate);
    assert_true(queue_wait_idle(queue, 10));
    assert_int_equal(running.runs, 1);
    assert_int_equal(running.end, TASK_CANCELLED);
    assert_int_equal(after.runs, 1);    // its key was released by the cancelled
    queue_cancel(queue, &running.task); // ended: harmless
    assert_int_equal(running.finishes, 1);
    lane_release(lane);
    queue_free(queue);
}

// ---- Draining

static void drains(void **state)
{
    struct queue *queue = fake_queue(1, 20, 20);
    struct lane *lane = fake_lane(queue, 1);
    struct fake running, ready, blocked, late;
    struct problem problem;
    sem_t gate, entered;
    sem_init(&gate, 0, 0);
    sem_init(&entered, 0, 0);
    fake_init(&running, lane, 2);
    fake_key(&running, 1, true);
    running.gate = &gate;
    running.entered = &entered;
    fake_submit(queue, &running);
    sem_wait(&entered);
    fake_init(&ready, lane, 1);
    fake_submit(queue, &ready);
    fake_init(&blocked, lane, 1);
    fake_key(&blocked, 1, false);
    fake_submit(queue, &blocked);
    queue_drain(queue);
    assert_int_equal(ready.end, TASK_DRAINED);
    assert_int_equal(blocked.end, TASK_DRAINED);
    assert_int_equal(ready.finishes + blocked.finishes, 2);
    fake_init(&late, lane, 1);
    assert_int_equal(queue_submit(queue, &late.task, &problem), STATUS_DRAINING);
    assert_true(problem.retry_after > 0);
    assert_false(queue_inline_begin(queue, &late.task));
    struct queue_facts facts;
    queue_facts(queue, 0, &facts);
    assert_true(facts.draining);
    assert_false(queue_wait_idle(queue, 0.01));
    sem_post(&gate);
    sem_post(&gate);
    assert_true(queue_wait_idle(queue, 10));
    assert_int_equal(running.runs, 2); // what ran went on to its end
    assert_int_equal(running.end, TASK_FINISHED);
    lane_release(lane);
    queue_free(queue);
}

static void cancels_all(void **state)
{
    struct queue *queue = fake_queue(1, 20, 20);
    struct lane *lane = fake_lane(queue, 1);
    struct fake running, waiting;
    sem_t gate, entered;
    sem_init(&gate, 0, 0);
    sem_init(&entered, 0, 0);
    fake_init(&running, lane, 1000000);
    running.gate = &gate;
    running.entered = &entered;
    fake_submit(queue, &running);
    sem_wait(&entered);
    fake_init(&waiting, lane, 1);
    fake_submit(queue, &waiting);
    queue_cancel_all(queue);
    assert_int_equal(waiting.end, TASK_CANCELLED);
    sem_post(&gate);
    assert_true(queue_wait_idle(queue, 10));
    assert_int_equal(running.end, TASK_CANCELLED);
    lane_release(lane);
    queue_free(queue);
}

// ---- Shares

enum { LANES = 8, TASKS = 40 };
static int64_t served[LANES], served_until_first_dry[LANES];
static int left[LANES];
static bool dry;
static void count_share(struct fake *fake)
{
    served[fake->tag] += fake->nanoseconds;
    if (fake->steps == 1 && --left[fake->tag] == 0 && !dry) {
        dry = true;
        memcpy(served_until_first_dry, served, sizeof served);
    }
}

// All lanes have work; until the first runs dry, what each was billed is in proportion to
// its weight, though the slices differ in length. Time is the script's, so the result is
// always the same.
static double jain_of_shares(const double *weights, const int64_t *slice)
{
    struct queue *queue = fake_queue(1, 10000, 10000);
    struct lane *lanes[LANES];
    static struct fake tasks[LANES][TASKS];
    struct fake blocker;
    sem_t gate, entered;
    memset(served, 0, sizeof served);
    dry = false;
    for (int i = 0; i < LANES; i++)
        lanes[i] = fake_lane(queue, weights[i]);
    fake_block(queue, &blocker, lanes[0], &gate, &entered);
    for (int i = 0; i < LANES; i++) {
        left[i] = TASKS;
        for (int j = 0; j < TASKS; j++) {
            fake_init(&tasks[i][j], lanes[i], 20);
            tasks[i][j].nanoseconds = slice[i];
            tasks[i][j].tag = i;
            tasks[i][j].on_step = count_share;
            fake_submit(queue, &tasks[i][j]);
        }
    }
    sem_post(&gate);
    assert_true(queue_wait_idle(queue, 60));
    double sum = 0, squares = 0;
    for (int i = 0; i < LANES; i++) {
        double share = (double)served_until_first_dry[i] / weights[i];
        sum += share;
        squares += share * share;
        lane_release(lanes[i]);
    }
    queue_free(queue);
    return sum * sum / (LANES * squares);
}

static void shares_are_equal_for_equal_weights(void **state)
{
    const double weights[LANES] = {1, 1, 1, 1, 1, 1, 1, 1};
    const int64_t slice[LANES] = {5000, 1000, 3000, 5000, 2000, 700, 4100, 5000};
    assert_true(jain_of_shares(weights, slice) >= 0.99);
}

static void shares_follow_weights(void **state)
{
    const double weights[LANES] = {1, 3, 1, 3, 1, 3, 1, 3};
    const int64_t slice[LANES] = {5000, 5000, 1000, 3000, 2000, 2000, 4000, 900};
    assert_true(jain_of_shares(weights, slice) >= 0.99);
}

// A lane that comes late gets neither all of the device nor none of it; one that was
// billed elsewhere (queue_bill) gets less.
static int first_of[2], order_index;
static void note_first(struct fake *fake)
{
    order_index++;
    if (first_of[fake->tag] == 0)
        first_of[fake->tag] = order_index;
}
static void a_billed_lane_waits_its_turn(void **state)
{
    struct queue *queue = fake_queue(1, 100, 100);
    struct lane *gatekeeper = fake_lane(queue, 1);
    struct lane *a = fake_lane(queue, 1), *b = fake_lane(queue, 1);
    struct fake blocker, task_a, task_b;
    sem_t gate, entered;
    memset(first_of, 0, sizeof first_of);
    order_index = 0;
    fake_block(queue, &blocker, gatekeeper, &gate, &entered);
    fake_init(&task_a, a, 10);
    task_a.on_step = note_first;
    task_a.tag = 0;
    fake_submit(queue, &task_a);
    fake_init(&task_b, b, 10);
    task_b.on_step = note_first;
    task_b.tag = 1;
    fake_submit(queue, &task_b);
    queue_bill(queue, a, 0, 4500); // as much as 4.5 of its steps
    sem_post(&gate);
    assert_true(queue_wait_idle(queue, 10));
    assert_int_equal(first_of[1], 1);
    assert_int_equal(first_of[0], 6); // after five of b's
    lane_release(gatekeeper);
    lane_release(a);
    lane_release(b);
    queue_free(queue);
}

// ---- Worker hooks

static atomic_int begun, ended;
static void hook_begin(void *context, int device)
{
    atomic_fetch_add(&begun, device + 1);
}
static void hook_end(void *context, int device)
{
    atomic_fetch_add(&ended, device + 1);
}
static void workers_begin_and_end(void **state)
{
    struct queue_options options = {.n_devices = 3,
                                    .max_waiting = 1,
                                    .max_lane_waiting = 1,
                                    .worker_begin = hook_begin,
                                    .worker_end = hook_end};
    struct queue *queue;
    struct problem problem;
    assert_int_equal(queue_create(&options, &queue, &problem), STATUS_OK);
    assert_int_equal(begun, 6);
    assert_int_equal(ended, 0);
    queue_free(queue);
    assert_int_equal(ended, 6);
}

// ---- Many threads

enum { THREADS = 6, ROUNDS = 300 };
static void *submit_many(void *argument)
{
    struct queue *queue = argument;
    struct lane *lane = fake_lane(queue, 1);
    struct fake *tasks = calloc(ROUNDS, sizeof *tasks);
    for (int i = 0; i < ROUNDS; i++) {
        fake_init(&tasks[i], lane, 1 + i % 3);
        tasks[i].task.device = i % 2;
        tasks[i].move_to = i % 5 == 0 ? 1 - i % 2 : -1;
        fake_key(&tasks[i], (uint64_t)(i % 7), i % 3 == 0);
        tasks[i].admissions_refused = i % 11 == 0;
        fake_submit(queue, &tasks[i]);
        if (i % 4 == 0)
            queue_cancel(queue, &tasks[i / 2].task);
        queue_wake(queue);
        if (i % 16 == 0)
            queue_bill(queue, lane, 0, 100);
    }
    for (int i = 0; i < ROUNDS; i++)
        while (atomic_load(&tasks[i].finishes) == 0) {
            queue_wake(queue);
            sched_yield();
        }
    int total = 0;
    for (int i = 0; i < ROUNDS; i++)
        total += atomic_load(&tasks[i].finishes);
    lane_release(lane);
    // The tasks stay until the queue is idle: the last finish may still be returning.
    return total == ROUNDS ? tasks : NULL;
}
static void many_threads_submit_and_cancel(void **state)
{
    struct queue *queue = fake_queue(2, 100000, 100000);
    pthread_t threads[THREADS];
    void *tasks[THREADS];
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, submit_many, queue), 0);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], &tasks[i]);
        assert_non_null(tasks[i]);
    }
    assert_true(queue_wait_idle(queue, 30));
    for (int i = 0; i < THREADS; i++)
        free(tasks[i]);
    queue_free(queue);
}

// A connection may go while its task waits: the queue's reference keeps the lane.
static void a_lane_outlives_its_owner(void **state)
{
    struct queue *queue = fake_queue(1, 10, 10);
    struct lane *gatekeeper = fake_lane(queue, 1);
    struct lane *lane = fake_lane(queue, 1);
    struct fake blocker, task;
    sem_t gate, entered;
    fake_block(queue, &blocker, gatekeeper, &gate, &entered);
    fake_init(&task, lane, 4);
    fake_submit(queue, &task);
    lane_release(lane);
    sem_post(&gate);
    assert_true(queue_wait_idle(queue, 10));
    assert_int_equal(task.runs, 4);
    lane_release(gatekeeper);
    queue_free(queue);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_steps_and_finishes_once),
        cmocka_unit_test(refuses_beyond_its_bounds),
        cmocka_unit_test(moves_between_devices),
        cmocka_unit_test(cancels_in_each_state),
        cmocka_unit_test(drains),
        cmocka_unit_test(cancels_all),
        cmocka_unit_test(shares_are_equal_for_equal_weights),
        cmocka_unit_test(shares_follow_weights),
        cmocka_unit_test(a_billed_lane_waits_its_turn),
        cmocka_unit_test(workers_begin_and_end),
        cmocka_unit_test(many_threads_submit_and_cancel),
        cmocka_unit_test(a_lane_outlives_its_owner),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
