// SPDX-License-Identifier: Apache-2.0
// Frames: made, entered, left; producers, which keep theirs between two items. Frames are
// of the heap's counted memory, in sizes of FRAME_UNIT; small ones are pooled by the
// machine. Thread: the machine's.
#include <string.h>

#include "api/lang/vm_internal.h"

enum { SLOTS_PER_STEP = 32 }; // emptied at the beginning, released at the end

static size_t frame_size(const struct code *code)
{
    size_t size = sizeof(struct frame) +
                  (size_t)(code->n_slots + code->stack_size) * sizeof(struct value);
    return (size + FRAME_UNIT - 1) / FRAME_UNIT * FRAME_UNIT;
}

struct frame *frame_new(struct vm *vm, const struct code *code)
{
    size_t size = frame_size(code), pool = size / FRAME_UNIT;
    if (code->n_slots >= SLOTS_PER_STEP &&
        vm_spend(vm, code->n_slots / SLOTS_PER_STEP) != OUTCOME_OK)
        return NULL;
    struct global **globals = vm->frame && vm->frame->code->unit == code->unit
                                  ? vm->frame->globals
                                  : globals_of(vm, code->unit);
    if (!globals)
        return NULL;
    struct frame *frame = NULL;
    if (pool < FRAME_POOLS && vm->pools[pool]) {
        frame = vm->pools[pool];
        vm->pools[pool] = frame->caller;
    } else {
        frame = heap_resize(vm->heap, NULL, 0, size, &vm->problem);
        if (!frame)
            return NULL;
    }
    frame->caller = NULL;
    frame->code = code;
    frame->pc = code->instructions;
    frame->top = frame->slots + code->n_slots;
    frame->constants = code->unit->constants;
    frame->globals = globals;
    frame->producer = NULL;
    frame->items = NULL;
    frame->home = NULL;
    memset(frame->slots, 0, (size_t)code->n_slots * sizeof(struct value));
    return frame;
}

static void frame_release(struct frame *frame)
{
    for (struct value *value = frame->slots; value < frame->top; value++)
        value_release(*value);
    if (frame->items)
        value_release(value_of(frame->items));
}

void frame_free(struct vm *vm, struct frame *frame)
{
    size_t size = frame_size(frame->code), pool = size / FRAME_UNIT;
    frame_release(frame);
    if (pool < FRAME_POOLS) {
        frame->caller = vm->pools[pool];
        vm->pools[pool] = frame;
    } else {
        heap_resize(vm->heap, frame, size, 0, &vm->problem);
    }
}

int frame_enter(struct vm *vm, struct frame *frame, enum delivery delivery)
{
    if (vm->depth >= VM_MAX_FRAMES)
        return vm_raise(vm, STATUS_LIMIT, "maximum recursion depth exceeded");
    vm->depth++;
    frame->delivery = delivery;
    frame->caller = vm->frame;
    vm->frame = frame;
    return vm->cells && cells_pressure(vm->cells) ? OUTCOME_PAUSE : OUTCOME_FRAME;
}

static void frame_leave(struct vm *vm, struct frame *frame)
{
    vm->frame = frame->caller;
    vm->depth--;
}

// The producer has no more items: the FOR ends, or the list takes its place.
static void producer_end(struct vm *vm, struct frame *frame)
{
    struct frame *caller = frame->caller;
    struct producer *producer = frame->producer;
    producer->running = false;
    producer->frame = NULL;
    frame_leave(vm, frame);
    if (frame->delivery == DELIVER_ITEM) {
        caller->pc = caller->code->instructions + (caller->pc[-1] >> 8);
        value_release(*--caller->top);
    } else {
        *frame->home = value_of(frame->items);
        frame->items = NULL;
        value_release(value_of(producer));
    }
    frame_free(vm, frame);
}

int frame_return(struct vm *vm, struct frame *frame, struct value result)
{
    if (frame->producer) {
        value_release(result);
        producer_end(vm, frame);
        return OUTCOME_FRAME;
    }
    frame_leave(vm, frame);
    *vm->frame->top++ = result;
    frame_free(vm, frame);
    return OUTCOME_FRAME;
}

int frame_yield(struct vm *vm, struct frame *frame, struct value item)
{
    if (frame->delivery == DELIVER_LIST) {
        bool added = list_append(vm->heap, frame->items, item, &vm->problem);
        value_release(item);
        return added ? OUTCOME_OK : OUTCOME_ERROR;
    }
    frame->producer->running = false;
    frame_leave(vm, frame);
    *vm->frame->top++ = item;
    return OUTCOME_FRAME;
}

struct producer *producer_new(struct vm *vm, struct frame *frame)
{
    struct producer *producer =
        heap_object(vm->heap, OBJECT_PRODUCER, sizeof *producer, &vm->problem);
    if (producer) {
        producer->frame = frame;
        frame->producer = producer;
    }
    return producer;
}

void producer_clear(struct heap *heap, struct producer *producer)
{
    struct frame *frame = producer->frame;
    if (!frame)
        return;
    producer->frame = NULL;
    struct problem problem;
    size_t size = frame_size(frame->code);
    frame_release(frame);
    heap_resize(heap, frame, size, 0, &problem);
}

static int producer_enter(struct vm *vm, struct producer *producer,
                          enum delivery delivery)
{
    int outcome = frame_enter(vm, producer->frame, delivery);
    producer->running = outcome != OUTCOME_ERROR;
    return outcome;
}

int producer_resume(struct vm *vm, struct frame *frame, struct producer *producer)
{
    if (producer->running)
        return vm_raise(vm, STATUS_VALUE, "generator already executing");
    if (producer->frame)
        return producer_enter(vm, producer, DELIVER_ITEM);
    frame->pc = frame->code->instructions + (frame->pc[-1] >> 8);
    value_release(*--frame->top);
    return OUTCOME_OK;
}

int producer_drain(struct vm *vm, struct frame *frame, struct value *home)
{
    struct producer *producer = VALUE_AS(producer, *home);
    if (producer->running)
        return vm_raise(vm, STATUS_VALUE, "generator already executing");
    struct list *items = list_new(vm->heap, 0, NULL, &vm->problem);
    if (!items)
        return OUTCOME_ERROR;
    if (!producer->frame) { // at its end already
        value_release(*home);
        *home = value_of(items);
        return OUTCOME_AGAIN;
    }
    producer->frame->items = items;
    producer->frame->home = home;
    int outcome = producer_enter(vm, producer, DELIVER_LIST);
    // The instruction that drains is not done: a pause must run it again, as AGAIN does.
    if (outcome == OUTCOME_PAUSE)
        frame->pc--;
    return outcome == OUTCOME_FRAME ? OUTCOME_AGAIN : outcome;
}

void frames_free(struct vm *vm)
{
    while (vm->frame) {
        struct frame *frame = vm->frame;
        struct producer *producer = frame->producer;
        frame_leave(vm, frame);
        if (producer) { // it may be kept elsewhere, and releases its frame then
            producer->running = false;
            if (frame->items)
                value_release(value_of(frame->items));
            frame->items = NULL;
        } else {
            frame_free(vm, frame);
        }
    }
    for (int i = 0; i < FRAME_POOLS; i++)
        while (vm->pools[i]) {
            struct frame *frame = vm->pools[i];
            vm->pools[i] = frame->caller;
            heap_resize(vm->heap, frame, (size_t)i * FRAME_UNIT, 0, &vm->problem);
        }
}
