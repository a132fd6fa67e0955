// SPDX-License-Identifier: Apache-2.0
// Lanes: their ready tasks, whose turn it is, and what they are billed.
//
// Start-time fair queueing. A lane's virtual time on a device grows by nanoseconds
// divided by its weight; the device's virtual time is that of the lane served last. A
// lane that becomes ready is lifted to the device's virtual time: it starts beside the
// others, neither rewarded for having idled nor punished for having used what nobody
// wanted. When a device runs dry its virtual time catches up with the lane billed last,
// so that a newcomer is not served alone until it has caught up.
#include <stdlib.h>
#include <string.h>

#include "server/queue_internal.h"

// ---- Lists of tasks

void task_list_append(struct task_list *list, struct task *task)
{
    task->queue.next = NULL;
    task->queue.previous = list->tail;
    if (list->tail != NULL)
        list->tail->queue.next = task;
    else
        list->head = task;
    list->tail = task;
}

void task_list_prepend(struct task_list *list, struct task *task)
{
    task->queue.previous = NULL;
    task->queue.next = list->head;
    if (list->head != NULL)
        list->head->queue.previous = task;
    else
        list->tail = task;
    list->head = task;
}

void task_list_remove(struct task_list *list, struct task *task)
{
    if (task->queue.previous != NULL)
        task->queue.previous->queue.next = task->queue.next;
    else
        list->head = task->queue.next;
    if (task->queue.next != NULL)
        task->queue.next->queue.previous = task->queue.previous;
    else
        list->tail = task->queue.previous;
    task->queue.next = task->queue.previous = NULL;
}

// ---- A device's heap of lanes, least virtual time first; the older task decides a tie

// The task that the device would take of the lane; NULL: none may run. Without a limit
// what has started goes on to its end; with one, as many as it allows start and then take
// turns.
static struct task *lane_next(const struct lane *lane, const struct lane_device *mine)
{
    if (lane->max_running == 0)
        return mine->started.head != NULL ? mine->started.head : mine->ready.head;
    if (mine->ready.head != NULL && lane->running < lane->max_running)
        return mine->ready.head;
    return mine->started.head;
}

static bool lane_before(const struct lane *a, const struct lane *b, int device)
{
    const struct lane_device *x = &a->devices[device], *y = &b->devices[device];
    if (x->virtual_time != y->virtual_time)
        return x->virtual_time < y->virtual_time;
    return lane_next(a, x)->queue.sequence < lane_next(b, y)->queue.sequence;
}

static void heap_place(struct queue_device *device, int position, struct lane *lane)
{
    device->heap[position] = lane;
    lane->devices[device->index].position = position;
}

static void heap_sift_up(struct queue_device *device, int position)
{
    struct lane *lane = device->heap[position];
    while (position > 0) {
        int parent = (position - 1) / 2;
        if (!lane_before(lane, device->heap[parent], device->index))
            break;
        heap_place(device, position, device->heap[parent]);
        position = parent;
    }
    heap_place(device, position, lane);
}

static void heap_sift_down(struct queue_device *device, int position)
{
    struct lane *lane = device->heap[position];
    for (;;) {
        int child = 2 * position + 1;
        if (child >= device->n_heap)
            break;
        if (child + 1 < device->n_heap &&
            lane_before(device->heap[child + 1], device->heap[child], device->index))
            child++;
        if (!lane_before(device->heap[child], lane, device->index))
            break;
        heap_place(device, position, device->heap[child]);
        position = child;
    }
    heap_place(device, position, lane);
}

// lane_create made room for every lane.
static void heap_insert(struct queue_device *device, struct lane *lane)
{
    heap_place(device, device->n_heap++, lane);
    heap_sift_up(device, device->n_heap - 1);
}

static void heap_remove(struct queue_device *device, struct lane *lane)
{
    int position = lane->devices[device->index].position;
    struct lane *last = device->heap[--device->n_heap];
    lane->devices[device->index].position = -1;
    if (last == lane)
        return;
    heap_place(device, position, last);
    heap_sift_up(device, position);
    heap_sift_down(device, last->devices[device->index].position);
}

// ---- Ready tasks

void queue_rouse(struct queue_device *device)
{
    if (device->sleeping)
        device->queue->to_wake |= 1u << device->index;
    device->sleeping = false;
}

// Puts the lane into the device's heap or takes it out, as its tasks and its limit say.
static void lane_settle(struct lane *lane, struct queue_device *device)
{
    struct lane_device *mine = &lane->devices[device->index];
    if (mine->position >= 0) // what it is compared by may have changed
        heap_remove(device, lane);
    if (lane_next(lane, mine) == NULL)
        return;
    if (mine->virtual_time < device->virtual_time)
        mine->virtual_time = device->virtual_time;
    heap_insert(device, lane);
    queue_rouse(device);
}

static void lane_settle_all(struct queue *queue, struct lane *lane)
{
    for (int i = 0; i < queue->n_devices; i++)
        lane_settle(lane, &queue->devices[i]);
}

void lane_count_running(struct queue *queue, struct lane *lane, int change)
{
    bool was_full = lane->running >= lane->max_running;
    lane->running += change;
    if (lane->max_running > 0 && was_full != (lane->running >= lane->max_running))
        lane_settle_all(queue, lane);
}

static struct task_list *list_of(struct lane_device *mine, const struct task *task)
{
    const struct hold *hold = task->queue.hold;
    return hold->started ? &mine->started : &mine->ready;
}

void lane_add_ready(struct queue *queue, struct task *task, bool in_front)
{
    struct queue_device *device = &queue->devices[task->device];
    struct lane_device *mine = &task->lane->devices[task->device];
    struct task_list *list = list_of(mine, task);
    bool takes_turns = list == &mine->started && task->lane->max_running > 0;
    task->queue.state = STATE_READY;
    if (in_front && !takes_turns)
        task_list_prepend(list, task);
    else
        task_list_append(list, task);
    lane_settle(task->lane, device);
}

void lane_remove_ready(struct queue *queue, struct task *task)
{
    struct lane_device *mine = &task->lane->devices[task->device];
    task_list_remove(list_of(mine, task), task);
    lane_settle(task->lane, &queue->devices[task->device]);
}

struct task *lane_take_next(struct queue_device *device)
{
    if (device->n_heap == 0)
        return NULL;
    struct lane *lane = device->heap[0];
    struct lane_device *mine = &lane->devices[device->index];
    struct task *task = lane_next(lane, mine);
    if (device->virtual_time < mine->virtual_time)
        device->virtual_time = mine->virtual_time;
    lane_remove_ready(device->queue, task);
    return task;
}

void lane_bill(struct lane *lane, struct queue_device *device, int64_t nanoseconds)
{
    struct lane_device *mine = &lane->devices[device->index];
    if (nanoseconds > 0)
        mine->virtual_time += (double)nanoseconds / lane->weight;
    if (mine->position >= 0)
        heap_sift_down(device, mine->position);
    else if (device->n_heap == 0 && device->current == NULL &&
             device->virtual_time < mine->virtual_time)
        device->virtual_time = mine->virtual_time;
}

// ---- Life

// Room in every device's heap for one more lane.
static bool heaps_reserve(struct queue *queue)
{
    if (queue->n_lanes < queue->heap_capacity)
        return true;
    int capacity = queue->heap_capacity == 0 ? 64 : 2 * queue->heap_capacity;
    for (int i = 0; i < queue->n_devices; i++) {
        struct lane **heap =
            realloc(queue->devices[i].heap, (size_t)capacity * sizeof(struct lane *));
        if (heap == NULL)
            return false;
        queue->devices[i].heap = heap;
    }
    queue->heap_capacity = capacity;
    return true;
}

enum status lane_create(struct queue *queue, double weight, struct lane **out,
                        struct problem *problem)
{
    size_t n = (size_t)queue->n_devices;
    struct lane *lane = malloc(sizeof *lane + n * sizeof lane->devices[0]);
    if (lane == NULL)
        return problem_set(problem, STATUS_OUT_OF_MEMORY, "No memory for a lane.");
    memset(lane, 0, sizeof *lane + n * sizeof lane->devices[0]);
    atomic_init(&lane->references, 1);
    lane->queue = queue;
    lane->weight = weight;
    for (size_t i = 0; i < n; i++)
        lane->devices[i].position = -1;
    queue_lock(queue);
    bool room = heaps_reserve(queue);
    if (room)
        queue->n_lanes++;
    queue_unlock(queue);
    if (!room) {
        free(lane);
        return problem_set(problem, STATUS_OUT_OF_MEMORY, "No memory for a lane.");
    }
    *out = lane;
    return STATUS_OK;
}

void lane_set_limits(struct lane *lane, double weight, int max_waiting, int max_running)
{
    queue_lock(lane->queue);
    lane->weight = weight;
    lane->max_waiting = max_waiting;
    lane->max_running = max_running;
    lane_settle_all(lane->queue, lane);
    queue_unlock(lane->queue);
}

void lane_facts(struct lane *lane, struct lane_facts *out)
{
    queue_lock(lane->queue);
    *out = (struct lane_facts){lane->waiting, lane->running};
    queue_unlock(lane->queue);
}

struct lane *lane_reference(struct lane *lane)
{
    atomic_fetch_add_explicit(&lane->references, 1, memory_order_relaxed);
    return lane;
}

void lane_release_locked(struct queue *queue, struct lane *lane)
{
    if (atomic_fetch_sub_explicit(&lane->references, 1, memory_order_acq_rel) != 1)
        return;
    queue->n_lanes--;
    free(lane);
}

void lane_release(struct lane *lane)
{
    if (lane == NULL)
        return;
    struct queue *queue = lane->queue;
    queue_lock(queue);
    lane_release_locked(queue, lane);
    queue_unlock(queue);
}

void queue_bill(struct queue *queue, struct lane *lane, int device, int64_t nanoseconds)
{
    queue_lock(queue);
    lane_bill(lane, &queue->devices[device], nanoseconds);
    queue_unlock(queue);
}
