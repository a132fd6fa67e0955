// SPDX-License-Identifier: Apache-2.0
// Order by keys: tasks whose keys meet take effect as if one after another, in order of
// acceptance; the others overlap. Checked against a plain list of what was accepted.
#include <pthread.h>

#include "tests/unit/server/fake_task.h"

static int trace[4096], n_trace;
static pthread_mutex_t trace_mutex = PTHREAD_MUTEX_INITIALIZER;
static void trace_finish(struct fake *fake)
{
    pthread_mutex_lock(&trace_mutex);
    trace[n_trace++] = fake->tag;
    pthread_mutex_unlock(&trace_mutex);
}
static int position_of(int tag)
{
    for (int i = 0; i < n_trace; i++)
        if (trace[i] == tag)
            return i;
    return -1;
}

// Two devices, so that what may overlap does. The slow device 0 is held by a gate.
static void conflicting_tasks_keep_their_order(void **state)
{
    struct queue *queue = fake_queue(2, 100, 100);
    struct lane *lane = fake_lane(queue, 1);
    struct fake blocker, tasks[6];
    sem_t gate, entered;
    n_trace = 0;
    fake_block(queue, &blocker, lane, &gate, &entered);
    struct {
        int device;
        uint64_t key;
        bool write;
    } plan[6] = {
        {0, 1, true},  // 0: behind the gate
        {1, 1, false}, // 1: reads what 0 writes
        {1, 1, false}, // 2: so does this
        {1, 1, true},  // 3: writes after both
        {1, 2, true},  // 4: has nothing to do with it
        {0, 1, false}, // 5: reads what 3 wrote
    };
    for (int i = 0; i < 6; i++) {
        fake_init(&tasks[i], lane, 1);
        tasks[i].tag = i;
        tasks[i].task.device = plan[i].device;
        tasks[i].on_finish = trace_finish;
        fake_key(&tasks[i], plan[i].key, plan[i].write);
        fake_submit(queue, &tasks[i]);
    }
    while (atomic_load(&tasks[4].finishes) == 0)
        sched_yield();
    for (int i = 0; i < 6; i++)
        assert_int_equal(tasks[i].finishes, i == 4);
    sem_post(&gate);
    assert_true(queue_wait_idle(queue, 10));
    assert_int_equal(n_trace, 6);
    assert_int_equal(trace[0], 4);
    assert_int_equal(trace[1], 0);
    assert_true(position_of(1) < position_of(3) && position_of(2) < position_of(3));
    assert_int_equal(trace[5], 5);
    lane_release(lane);
    queue_free(queue);
}

static void domains_do_not_meet(void **state)
{
    struct queue *queue = fake_queue(2, 100, 100);
    struct lane *lane = fake_lane(queue, 1);
    struct fake blocker, first, same, other;
    sem_t gate, entered;
    fake_block(queue, &blocker, lane, &gate, &entered);
    fake_init(&first, lane, 1);
    first.task.domain = 1;
    fake_key(&first, 5, true);
    fake_submit(queue, &first); // device 0: waits behind the gate
    fake_init(&same, lane, 1);
    same.task.domain = 1;
    same.task.device = 1;
    fake_key(&same, 5, true);
    fake_submit(queue, &same);
    fake_init(&other, lane, 1);
    other.task.domain = 2;
    other.task.device = 1;
    fake_key(&other, 5, true);
    fake_submit(queue, &other);
    while (atomic_load(&other.finishes) == 0)
        sched_yield();
    assert_int_equal(same.finishes, 0);
    sem_post(&gate);
    assert_true(queue_wait_idle(queue, 10));
    assert_int_equal(same.finishes, 1);
    lane_release(lane);
    queue_free(queue);
}

static void a_barrier_meets_every_key(void **state)
{
    struct queue *queue = fake_queue(2, 100, 100);
    struct lane *lane = fake_lane(queue, 1);
    struct fake blocker, before, barrier, after, keyless;
    sem_t gate, entered, done;
    n_trace = 0;
    sem_init(&done, 0, 0);
    fake_block(queue, &blocker, lane, &gate, &entered);
    fake_init(&before, lane, 1);
    fake_key(&before, 1, false);
    fake_init(&barrier, lane, 1);
    barrier.task.barrier = true;
    barrier.task.device = 1;
    fake_init(&after, lane, 1);
    after.task.device = 1;
    fake_key(&after, 2, false);
    fake_init(&keyless, lane, 1);
    keyless.task.device = 1;
    keyless.done = &done;
    before.tag = 0, barrier.tag = 1, after.tag = 2;
    before.on_finish = barrier.on_finish = after.on_finish = trace_finish;
    fake_submit(queue, &before);
    fake_submit(queue, &barrier);
    fake_submit(queue, &after);
    fake_submit(queue, &keyless);
    sem_wait(&done); // who touches nothing does not wait for the barrier
    assert_int_equal(n_trace, 0);
    sem_post(&gate);
    assert_true(queue_wait_idle(queue, 10));
    sem_destroy(&done);
    for (int i = 0; i < 3; i++)
        assert_int_equal(trace[i], i);
    lane_release(lane);
    queue_free(queue);
}

// A task that names a key twice does not wait for itself; if it writes it, it is a
// writer.
static void a_key_named_twice(void **state)
{
    struct queue *queue = fake_queue(2, 100, 100);
    struct lane *lane = fake_lane(queue, 1);
    struct fake blocker, reader, twice, later;
    sem_t gate, entered;
    n_trace = 0;
    fake_block(queue, &blocker, lane, &gate, &entered);
    fake_init(&reader, lane, 1);
    fake_key(&reader, 9, false);
    fake_init(&twice, lane, 1);
    twice.task.device = 1;
    fake_key(&twice, 9, false);
    fake_key(&twice, 9, true);
    fake_key(&twice, 9, false);
    fake_init(&later, lane, 1);
    later.task.device = 1;
    fake_key(&later, 9, false);
    reader.tag = 0, twice.tag = 1, later.tag = 2;
    reader.on_finish = twice.on_finish = later.on_finish = trace_finish;
    fake_submit(queue, &reader);
    fake_submit(queue, &twice);
    fake_submit(queue, &later);
    sem_post(&gate);
    assert_true(queue_wait_idle(queue, 10));
    for (int i = 0; i < 3; i++)
        assert_int_equal(trace[i], i);
    // Alone, it runs at once.
    struct fake alone;
    fake_init(&alone, lane, 1);
    fake_key(&alone, 9, false);
    fake_key(&alone, 9, true);
    fake_submit(queue, &alone);
    assert_true(queue_wait_idle(queue, 10));
    assert_int_equal(alone.runs, 1);
    lane_release(lane);
    queue_free(queue);
}

// ---- Keys are released after finish

static atomic_bool in_finish, overlapped;
static void slow_finish(struct fake *fake)
{
    atomic_store(&in_finish, true);
    for (int i = 0; i < 50; i++)
        sched_yield();
    atomic_store(&in_finish, false);
}
static void check_finish(struct fake *fake)
{
    if (atomic_load(&in_finish))
        atomic_store(&overlapped, true);
}
static void the_next_starts_after_finish_has_returned(void **state)
{
    struct queue *queue = fake_queue(2, 100, 100);
    struct lane *lane = fake_lane(queue, 1);
    struct fake first, second;
    fake_init(&first, lane, 1);
    fake_key(&first, 3, true);
    first.on_finish = slow_finish;
    fake_init(&second, lane, 1);
    second.task.device = 1;
    fake_key(&second, 3, true);
    second.on_step = check_finish;
    fake_submit(queue, &first);
    fake_submit(queue, &second);
    assert_true(queue_wait_idle(queue, 10));
    assert_int_equal(second.runs, 1);
    assert_false(overlapped);
    lane_release(lane);
    queue_free(queue);
}

// ---- Inline tasks

static void inline_tasks_take_part(void **state)
{
    struct queue *queue = fake_queue(1, 100, 100);
    struct lane *lane = fake_lane(queue, 1), *other = fake_lane(queue, 1);
    struct fake inlined, same_key, same_lane, elsewhere;
    fake_init(&inlined, lane, 1);
    fake_key(&inlined, 4, true);
    assert_true(queue_inline_begin(queue, &inlined.task));
    // Another lane's task that meets it waits; an inline one is refused.
    fake_init(&same_key, other, 1);
    fake_key(&same_key, 4, false);
    assert_false(queue_inline_begin(queue, &same_key.task));
    fake_submit(queue, &same_key);
    // The same lane has a task already; another lane with other keys may.
    fake_init(&same_lane, lane, 1);
    fake_key(&same_lane, 5, true);
    assert_false(queue_inline_begin(queue, &same_lane.task));
    struct lane *third = fake_lane(queue, 1);
    fake_init(&elsewhere, third, 1);
    fake_key(&elsewhere, 6, true);
    assert_true(queue_inline_begin(queue, &elsewhere.task));
    queue_inline_end(queue, &elsewhere.task, 10);
    assert_int_equal(same_key.runs, 0);
    struct queue_facts facts;
    queue_facts(queue, 0, &facts);
    assert_int_equal(facts.waiting, 1);
    queue_inline_end(queue, &inlined.task, 1000);
    assert_true(queue_wait_idle(queue, 10));
    assert_int_equal(same_key.runs, 1);
    assert_int_equal(inlined.finishes + elsewhere.finishes, 0);
    // Now nothing is pending.
    assert_true(queue_inline_begin(queue, &same_lane.task));
    queue_inline_end(queue, &same_lane.task, 10);
    lane_release(lane);
    lane_release(other);
    lane_release(third);
    queue_free(queue);
}

// ---- N increments add N, from many threads, inline and queued, on two devices

enum { THREADS = 8, ROUNDS = 400 };
static long counter; // no atomic: the order is what protects it
static void increment(struct fake *fake)
{
    counter++;
}
struct incrementer {
    struct queue *queue;
    struct fake tasks[ROUNDS];
    int index, inlined;
};
static void *increment_many(void *argument)
{
    struct incrementer *self = argument;
    struct lane *lane = fake_lane(self->queue, 1);
    for (int i = 0; i < ROUNDS; i++) {
        struct fake *task = &self->tasks[i];
        fake_init(task, lane, 1);
        task->task.device = (i + self->index) % 2;
        task->on_step = increment;
        fake_key(task, 77, true);
        fake_key(task, (uint64_t)(1000 + self->index), false);
        if (i % 3 == 0 && queue_inline_begin(self->queue, &task->task)) {
            counter++;
            self->inlined++;
            queue_inline_end(self->queue, &task->task, 50);
        } else {
            fake_submit(self->queue, task);
        }
    }
    lane_release(lane);
    return NULL;
}
static void increments_add_up(void **state)
{
    struct queue *queue = fake_queue(2, 100000, 100000);
    struct incrementer *all = calloc(THREADS, sizeof *all);
    pthread_t threads[THREADS];
    counter = 0;
    for (int i = 0; i < THREADS; i++) {
        all[i].queue = queue;
        all[i].index = i;
        assert_int_equal(pthread_create(&threads[i], NULL, increment_many, &all[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_true(queue_wait_idle(queue, 60));
    assert_int_equal(counter, THREADS * ROUNDS);
    free(all);
    queue_free(queue);
}

// ---- Random plans against a plain rule

static uint32_t random_state;
static int next_random(int below)
{
    random_state = random_state * 1664525u + 1013904223u;
    return (int)(random_state >> 16) % below;
}
static int started_at[512], finished_at[512];
static atomic_int tick;
static void note_start(struct fake *fake)
{
    started_at[fake->tag] = atomic_fetch_add(&tick, 1);
}
static void note_end(struct fake *fake)
{
    finished_at[fake->tag] = atomic_fetch_add(&tick, 1);
}
static bool meet(const struct task *a, const struct task *b)
{
    if (a->domain != b->domain)
        return false;
    if ((a->barrier && (b->barrier || b->n_keys > 0)) || (b->barrier && a->n_keys > 0))
        return true;
    for (int i = 0; i < a->n_keys; i++)
        for (int j = 0; j < b->n_keys; j++)
            if (a->keys[i].value == b->keys[j].value &&
                (a->keys[i].write || b->keys[j].write))
                return true;
    return false;
}
static void random_plans_are_serial_where_they_meet(void **state)
{
    enum { N = 500 };
    static struct fake tasks[N];
    random_state = 12345;
    for (int round = 0; round < 4; round++) {
        struct queue *queue = fake_queue(3, 1000, 1000);
        struct lane *lanes[3];
        for (int i = 0; i < 3; i++)
            lanes[i] = fake_lane(queue, 1 + i);
        atomic_store(&tick, 1);
        for (int i = 0; i < N; i++) {
            fake_init(&tasks[i], lanes[next_random(3)], 1);
            tasks[i].tag = i;
            tasks[i].on_step = note_start;
            tasks[i].on_finish = note_end;
            tasks[i].task.device = next_random(3);
            tasks[i].task.domain = (uint64_t)next_random(2);
            tasks[i].task.barrier = next_random(50) == 0;
            for (int k = next_random(12); k > 0; k--) {
                uint64_t value = (uint64_t)next_random(20);
                fake_key(&tasks[i], value, next_random(4) == 0);
            }
            fake_submit(queue, &tasks[i]);
        }
        assert_true(queue_wait_idle(queue, 60));
        for (int i = 0; i < N; i++)
            for (int j = i + 1; j < N; j++)
                if (meet(&tasks[i].task, &tasks[j].task))
                    assert_true(finished_at[i] < started_at[j]);
        for (int i = 0; i < 3; i++)
            lane_release(lanes[i]);
        queue_free(queue);
    }
}

// The most keys a task may have, many times over: the table grows and empties.
static void many_keys(void **state)
{
    enum { N = 40 };
    struct queue *queue = fake_queue(1, 1000, 1000);
    struct lane *lane = fake_lane(queue, 1);
    static struct fake tasks[N];
    struct fake blocker;
    sem_t gate, entered;
    fake_block(queue, &blocker, lane, &gate, &entered);
    for (int i = 0; i < N; i++) {
        fake_init(&tasks[i], lane, 1);
        for (int k = 0; k < TASK_MAX_KEYS; k++)
            fake_key(&tasks[i], (uint64_t)(i * TASK_MAX_KEYS + k), true);
        fake_submit(queue, &tasks[i]);
    }
    sem_post(&gate);
    assert_true(queue_wait_idle(queue, 10));
    for (int i = 0; i < N; i++)
        assert_int_equal(tasks[i].runs, 1);
    lane_release(lane);
    queue_free(queue);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(conflicting_tasks_keep_their_order),
        cmocka_unit_test(domains_do_not_meet),
        cmocka_unit_test(a_barrier_meets_every_key),
        cmocka_unit_test(a_key_named_twice),
        cmocka_unit_test(the_next_starts_after_finish_has_returned),
        cmocka_unit_test(inline_tasks_take_part),
        cmocka_unit_test(increments_add_up),
        cmocka_unit_test(random_plans_are_serial_where_they_meet),
        cmocka_unit_test(many_keys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
