// SPDX-License-Identifier: Apache-2.0
// A lane's own limits: how many of its tasks wait, and how many have started on all
// devices together.
#include "fake_task.h"

static void assert_lane(struct lane *lane, int waiting, int running)
{
    struct lane_facts facts;
    lane_facts(lane, &facts);
    assert_int_equal(facts.waiting, waiting);
    assert_int_equal(facts.running, running);
}

static void finish(sem_t *gate, sem_t *done, int count)
{
    for (int i = 0; i < count; i++) {
        if (gate != NULL)
            sem_post(gate);
        sem_wait(done);
    }
}

static void submit_on(struct queue *queue, struct fake *fake, struct lane *lane,
                      int device, sem_t *done)
{
    fake_init(fake, lane, 1);
    fake->task.device = device;
    fake->done = done;
    fake_submit(queue, fake);
}

// ann's first task holds device 0; her second may not start on device 1, bob's may.
static void one_task_at_a_time(void **state)
{
    struct queue *queue = fake_queue(2, 100, 100);
    struct lane *ann = fake_lane(queue, 1), *bob = fake_lane(queue, 1);
    struct fake first, second, other;
    sem_t gate, entered, second_done, other_done;
    sem_init(&second_done, 0, 0);
    sem_init(&other_done, 0, 0);
    lane_set_limits(ann, 1, 10, 1);
    fake_block(queue, &first, ann, &gate, &entered);
    assert_lane(ann, 0, 1);
    submit_on(queue, &second, ann, 1, &second_done);
    submit_on(queue, &other, bob, 1, &other_done);
    sem_wait(&other_done); // the worker of device 1 passed by ann's
    assert_int_equal(atomic_load(&second.admits), 0);
    assert_lane(ann, 1, 1);
    sem_post(&gate);
    sem_wait(&second_done);
    assert_true(queue_wait_idle(queue, 10));
    assert_lane(ann, 0, 0);
    // A higher limit takes effect at once.
    fake_block(queue, &first, ann, &gate, &entered);
    submit_on(queue, &second, ann, 1, &second_done);
    assert_lane(ann, 1, 1);
    lane_set_limits(ann, 1, 10, 2);
    sem_wait(&second_done);
    sem_post(&gate);
    assert_true(queue_wait_idle(queue, 10));
    lane_release(ann);
    lane_release(bob);
    queue_free(queue);
}

// Work that has started goes on beside the waiting, step after step and across devices.
static void started_work_goes_on(void **state)
{
    struct queue *queue = fake_queue(2, 100, 100);
    struct lane *lane = fake_lane(queue, 1);
    struct fake first, moving, last;
    sem_t gate, entered, done;
    sem_init(&done, 0, 0);
    lane_set_limits(lane, 1, 10, 1);
    fake_block(queue, &first, lane, &gate, &entered);
    fake_init(&moving, lane, 9);
    moving.move_to = 1;
    moving.done = &done;
    fake_submit(queue, &moving);
    submit_on(queue, &last, lane, 1, &done);
    sem_post(&gate);
    finish(NULL, &done, 2);
    assert_true(queue_wait_idle(queue, 10));
    assert_int_equal(atomic_load(&moving.runs), 9);
    assert_int_equal(atomic_load(&last.runs), 1);
    lane_release(lane);
    queue_free(queue);
}

// ---- Turns
static char trace[64];

static void note_step(struct fake *fake)
{
    size_t length = strlen(trace);
    trace[length] = (char)fake->tag;
    trace[length + 1] = '\0';
}

static void assert_trace(int max_running, const char *expected)
{
    struct queue *queue = fake_queue(1, 100, 100);
    struct lane *lane = fake_lane(queue, 1), *other = fake_lane(queue, 1);
    struct fake first, tasks[3];
    sem_t gate, entered, done;
    static const int steps[] = {3, 3, 1};
    sem_init(&done, 0, 0);
    trace[0] = '\0';
    lane_set_limits(lane, 1, 10, max_running);
    fake_block(queue, &first, other, &gate, &entered);
    for (int i = 0; i < 3; i++) {
        fake_init(&tasks[i], lane, steps[i]);
        tasks[i].tag = 'a' + i;
        tasks[i].on_step = note_step;
        tasks[i].done = &done;
        fake_submit(queue, &tasks[i]);
    }
    sem_post(&gate);
    finish(NULL, &done, 3);
    assert_true(queue_wait_idle(queue, 10));
    assert_string_equal(trace, expected);
    lane_release(lane);
    lane_release(other);
    queue_free(queue);
}

// What has started, as many as the limit allows, takes turns; without a limit it goes on.
static void started_tasks_take_turns(void **state)
{
    assert_trace(0, "aaabbbc");
    assert_trace(1, "aaabbbc");
    assert_trace(2, "ababacb");
    assert_trace(3, "abcabab");
}

// Who waits for memory has not started: he does not keep the others from it.
static void waiting_for_memory_does_not_count(void **state)
{
    struct queue *queue = fake_queue(1, 100, 100);
    struct lane *lane = fake_lane(queue, 1);
    struct fake poor, rich;
    sem_t poor_done, rich_done;
    sem_init(&poor_done, 0, 0);
    sem_init(&rich_done, 0, 0);
    lane_set_limits(lane, 1, 10, 1);
    fake_init(&poor, lane, 1);
    atomic_store(&poor.admissions_refused, 1);
    poor.done = &poor_done;
    fake_submit(queue, &poor);
    submit_on(queue, &rich, lane, 0, &rich_done);
    sem_wait(&rich_done);
    assert_lane(lane, 1, 0);
    queue_wake(queue);
    sem_wait(&poor_done);
    assert_true(queue_wait_idle(queue, 10));
    assert_lane(lane, 0, 0);
    lane_release(lane);
    queue_free(queue);
}

static void cancels_what_the_limit_holds_back(void **state)
{
    struct queue *queue = fake_queue(2, 100, 100);
    struct lane *lane = fake_lane(queue, 1);
    struct fake first, held;
    sem_t gate, entered, done;
    sem_init(&done, 0, 0);
    lane_set_limits(lane, 1, 10, 1);
    fake_block(queue, &first, lane, &gate, &entered);
    submit_on(queue, &held, lane, 1, &done);
    queue_cancel(queue, &held.task);
    sem_wait(&done);
    assert_int_equal(held.end, TASK_CANCELLED);
    assert_lane(lane, 0, 1);
    submit_on(queue, &held, lane, 1, &done);
    queue_drain(queue);
    sem_wait(&done);
    assert_int_equal(held.end, TASK_DRAINED);
    sem_post(&gate);
    assert_true(queue_wait_idle(queue, 10));
    lane_release(lane);
    queue_free(queue);
}

static void lanes_have_bounds_of_their_own(void **state)
{
    struct queue *queue = fake_queue(1, 100, 3);
    struct lane *ann = fake_lane(queue, 1), *bob = fake_lane(queue, 1);
    struct fake first, tasks[8];
    struct problem problem;
    sem_t gate, entered, done;
    sem_init(&done, 0, 0);
    lane_set_limits(ann, 1, 5, 0);
    fake_block(queue, &first, ann, &gate, &entered);
    for (int i = 0; i < 8; i++) {
        fake_init(&tasks[i], i < 5 ? ann : bob, 1);
        tasks[i].done = &done;
        fake_submit(queue, &tasks[i]);
    }
    struct fake more;
    fake_init(&more, ann, 1);
    assert_int_equal(queue_submit(queue, &more.task, &problem), STATUS_QUEUE_FULL);
    assert_non_null(strstr(problem.detail, "at most 5 may"));
    fake_init(&more, bob, 1);
    assert_int_equal(queue_submit(queue, &more.task, &problem), STATUS_QUEUE_FULL);
    assert_non_null(strstr(problem.detail, "at most 3 may"));
    sem_post(&gate);
    finish(NULL, &done, 8);
    assert_true(queue_wait_idle(queue, 10));
    lane_release(ann);
    lane_release(bob);
    queue_free(queue);
}

// ---- Many tasks that move between devices: the limit holds at every step, all end.
enum { MANY = 400, DEVICES = 3, LANES = 3 };
static atomic_int too_many;

static void watch_limit(struct fake *fake)
{
    struct lane_facts facts;
    lane_facts(fake->task.lane, &facts);
    if (facts.running > fake->tag)
        atomic_fetch_add(&too_many, 1);
}

static void limits_hold_under_load(void **state)
{
    struct queue *queue = fake_queue(DEVICES, MANY, MANY);
    struct lane *lanes[LANES];
    struct fake *tasks = calloc(MANY, sizeof *tasks);
    sem_t done;
    unsigned seed = 11;
    assert_non_null(tasks);
    sem_init(&done, 0, 0);
    for (int i = 0; i < LANES; i++) {
        lanes[i] = fake_lane(queue, 1 + i);
        lane_set_limits(lanes[i], 1 + i, MANY, 1 + i);
    }
    for (int i = 0; i < MANY; i++) {
        struct fake *fake = &tasks[i];
        fake_init(fake, lanes[i % LANES], 1 + rand_r(&seed) % 4);
        fake->task.device = rand_r(&seed) % DEVICES;
        fake->move_to = rand_r(&seed) % (DEVICES + 1) - 1;
        fake->tag = 1 + i % LANES;
        fake->on_step = watch_limit;
        fake->done = &done;
        atomic_store(&fake->admissions_refused, rand_r(&seed) % 8 == 0);
        fake_key(fake, (uint64_t)(rand_r(&seed) % 5), rand_r(&seed) % 2);
        fake_submit(queue, fake);
        if (i % 16 == 0)
            queue_cancel(queue, &fake->task);
        queue_wake(queue);
    }
    for (int i = 0; i < MANY; i++)
        while (sem_trywait(&done) != 0)
            queue_wake(queue); // whoever was told to wait asks again
    assert_true(queue_wait_idle(queue, 10));
    assert_int_equal(atomic_load(&too_many), 0);
    for (int i = 0; i < LANES; i++) {
        assert_lane(lanes[i], 0, 0);
        lane_release(lanes[i]);
    }
    queue_free(queue);
    free(tasks);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_task_at_a_time),
        cmocka_unit_test(started_work_goes_on),
        cmocka_unit_test(started_tasks_take_turns),
        cmocka_unit_test(waiting_for_memory_does_not_count),
        cmocka_unit_test(cancels_what_the_limit_holds_back),
        cmocka_unit_test(lanes_have_bounds_of_their_own),
        cmocka_unit_test(limits_hold_under_load),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
