// SPDX-License-Identifier: Apache-2.0
// The heap of one program: its objects, what they weigh, and how they go.
//
// In front of every object stands a prefix with its heap and size, so that a release
// needs neither. An object whose count reaches 0 leaves the list of live ones; if another
// is being taken apart at that moment it waits on the list of dead ones, so that the
// depth of a structure never becomes depth of the C stack. Immortal objects (constants of
// code) have no prefix and are on no list. Memory is admitted in portions (`grow`): a
// refusal is a problem before anything is taken. Threads: the program's.
#include <stdlib.h>
#include <string.h>

#include "api/lang/code.h"
#include "api/lang/container.h"
#include "api/lang/nn.h"
#include "api/lang/vm_internal.h"
#include "kernels/base/size.h"
#include "tensor/cells.h"

enum { PORTION = 64 << 10 };
// Every reference lies in 16 bytes of the heap, so that fewer than 2^32 exist and no
// count of an object wraps.
static const int64_t heap_max = (int64_t)1 << 36;

struct heap {
    struct heap_options options;
    int64_t granted, used;
    struct object live; // the head of a ring
    struct object *dead;
    bool draining;
    // Constants of a code are not counted, and any object may hold one: so the units of
    // functions stay until the heap goes. The last function of each, taken apart, stays
    // too and holds the unit.
    struct function *kept;
};
struct prefix {
    struct heap *heap;
    size_t size; // of the object and the prefix
};
_Static_assert(sizeof(struct prefix) % 16 == 0, "objects are aligned to 16 bytes");

static struct prefix *prefix_of(struct object *object)
{
    return (struct prefix *)(void *)object - 1;
}

enum status heap_create(const struct heap_options *options, struct heap **out,
                        struct problem *problem)
{
    struct heap *heap = calloc(1, sizeof *heap);
    if (!heap)
        return problem_set(problem, STATUS_OUT_OF_MEMORY, "The host has no memory left.");
    heap->options = *options;
    heap->live.next = heap->live.previous = &heap->live;
    *out = heap;
    return STATUS_OK;
}

int64_t heap_granted(const struct heap *heap)
{
    return heap->granted;
}

// Counts bytes more. A portion that is refused may still have room for what is needed.
static bool heap_charge(struct heap *heap, size_t bytes, struct problem *problem)
{
    int64_t used, missing;
    if (bytes > INT64_MAX || !size_add(heap->used, (int64_t)bytes, &used)) {
        problem_set(problem, STATUS_OUT_OF_MEMORY, "No memory is that large.");
        return false;
    }
    if (used > heap_max) {
        problem_set(problem, STATUS_LIMIT, "A program's values take 64 GiB at most.");
        return false;
    }
    if (used > heap->granted) {
        missing = used - heap->granted;
        int64_t portion = heap->granted / 8 + PORTION;
        if (portion > missing &&
            heap->options.grow(heap->options.context, portion, problem) == STATUS_OK) {
            heap->granted += portion;
        } else if (heap->options.grow(heap->options.context, missing, problem) ==
                   STATUS_OK) {
            heap->granted += missing;
        } else {
            return false;
        }
    }
    heap->used = used;
    return true;
}

void *heap_object(struct heap *heap, enum object_kind kind, size_t size,
                  struct problem *problem)
{
    size_t whole = size + sizeof(struct prefix);
    if (whole < size) {
        problem_set(problem, STATUS_OUT_OF_MEMORY, "No memory is that large.");
        return NULL;
    }
    if (!heap_charge(heap, whole, problem))
        return NULL;
    struct prefix *prefix = malloc(whole);
    if (!prefix) {
        heap->used -= (int64_t)whole;
        problem_set(problem, STATUS_OUT_OF_MEMORY, "The host has no memory left.");
        return NULL;
    }
    *prefix = (struct prefix){heap, whole};
    struct object *object = (struct object *)(void *)(prefix + 1);
    // The text of a string is filled by its maker; it may be long.
    memset(object, 0, kind == OBJECT_STRING ? sizeof(struct string) : size);
    object->references = 1;
    object->kind = (uint8_t)kind;
    object->next = heap->live.next;
    object->previous = &heap->live;
    heap->live.next->previous = object;
    heap->live.next = object;
    return object;
}

void *heap_resize(struct heap *heap, void *memory, size_t old_size, size_t new_size,
                  struct problem *problem)
{
    if (new_size == 0) {
        free(memory);
        heap->used -= (int64_t)old_size;
        return NULL;
    }
    if (new_size > old_size && !heap_charge(heap, new_size - old_size, problem))
        return NULL;
    void *moved = realloc(memory, new_size);
    if (!moved) {
        if (new_size > old_size)
            heap->used -= (int64_t)(new_size - old_size);
        problem_set(problem, STATUS_OUT_OF_MEMORY, "The host has no memory left.");
        return NULL;
    }
    if (new_size < old_size)
        heap->used -= (int64_t)(old_size - new_size);
    return moved;
}

struct heap *object_heap(struct object *object)
{
    return object->immortal ? NULL : prefix_of(object)->heap;
}

// ---- Taking apart

static void release_items(struct value *items, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        struct value item = items[i];
        items[i] = value_none();
        value_release(item);
    }
}

static void release_object(void *object) // NULL is ignored
{
    if (object)
        value_release(value_of(object));
}

static void clear_list(struct heap *heap, struct list *list)
{
    struct value *items = list->items;
    int64_t count = list->count, capacity = list->capacity;
    list->items = NULL;
    list->count = list->capacity = 0;
    if (!items)
        return;
    release_items(items, count);
    heap_resize(heap, items, (size_t)capacity * sizeof *items, 0, NULL);
}

static void clear_function(struct function *function) // code: keep_function
{
    struct function held = *function;
    function->defaults = NULL;
    function->keyword_defaults = NULL;
    function->closure = NULL;
    release_object(held.defaults);
    release_object(held.keyword_defaults);
    release_object(held.closure);
}

static void clear_slice(struct slice_object *slice)
{
    struct slice_object held = *slice;
    slice->start = slice->stop = slice->step = value_none();
    value_release(held.start);
    value_release(held.stop);
    value_release(held.step);
}

static void clear_value(struct value *value)
{
    struct value held = *value;
    *value = (struct value){.tag = VALUE_ABSENT};
    value_release(held);
}

// Gives up what the object holds; may be called again.
static void object_clear(struct heap *heap, struct object *object)
{
    switch ((enum object_kind)object->kind) {
    case OBJECT_STRING:
    case OBJECT_RANGE:
        break;
    case OBJECT_TUPLE:
        release_items(((struct tuple *)object)->items, ((struct tuple *)object)->count);
        break;
    case OBJECT_RECORD:
        release_items(((struct record *)object)->items, ((struct record *)object)->count);
        break;
    case OBJECT_LIST:
        clear_list(heap, (struct list *)object);
        break;
    case OBJECT_DICT:
        dict_clear(heap, (struct dict *)object);
        break;
    case OBJECT_SET:
        set_clear(heap, (struct set *)object);
        break;
    case OBJECT_SLICE:
        clear_slice((struct slice_object *)object);
        break;
    case OBJECT_VIEW: {
        struct dict *dict = ((struct view *)object)->dict;
        ((struct view *)object)->dict = NULL;
        release_object(dict);
        break;
    }
    case OBJECT_ITERATOR:
        clear_value(&((struct iterator *)object)->over);
        break;
    case OBJECT_PRODUCER:
        producer_clear(heap, (struct producer *)object);
        break;
    case OBJECT_FUNCTION:
        clear_function((struct function *)object);
        break;
    case OBJECT_BOUND:
        clear_value(&((struct bound *)object)->self);
        clear_value(&((struct bound *)object)->function);
        break;
    case OBJECT_BOX:
        clear_value(&((struct box *)object)->value);
        break;
    case OBJECT_TENSOR: {
        struct lazy *lazy = ((struct tensor_object *)object)->lazy;
        ((struct tensor_object *)object)->lazy = NULL;
        lazy_release(lazy);
        break;
    }
    case OBJECT_MODULE:
        module_clear(heap, (struct module *)object);
        break;
    }
}

static void unlink_object(struct object *object)
{
    object->next->previous = object->previous;
    object->previous->next = object->next;
}

static void free_memory(struct heap *heap, struct object *object)
{
    heap->used -= (int64_t)prefix_of(object)->size;
    free(prefix_of(object));
}

// True if the function stays to hold its unit; else its code has been released.
static bool keep_function(struct heap *heap, struct function *function)
{
    struct function *kept = heap->kept;
    if (!function->code)
        return false;
    while (kept && kept->code->unit != function->code->unit)
        kept = (struct function *)kept->object.next;
    if (kept) {
        code_release(function->code);
        return false;
    }
    function->object.next = (struct object *)heap->kept;
    heap->kept = function;
    return true;
}

static void free_object(struct heap *heap, struct object *object)
{
    if (object->kind != OBJECT_FUNCTION ||
        !keep_function(heap, (struct function *)object))
        free_memory(heap, object);
}

static void drain(struct heap *heap)
{
    while (heap->dead) {
        struct object *object = heap->dead;
        heap->dead = object->next;
        object_clear(heap, object);
        free_object(heap, object);
    }
}

void object_release_last(struct object *object)
{
    struct heap *heap = prefix_of(object)->heap;
    unlink_object(object);
    if (object->kind == OBJECT_STRING) { // holds nothing
        free_object(heap, object);
        return;
    }
    object->next = heap->dead;
    heap->dead = object;
    if (heap->draining)
        return;
    heap->draining = true;
    drain(heap);
    heap->draining = false;
}

// What is left at the end are cycles, and what they hold. Every object is held once more
// while all give up what they hold, so that none goes while others still refer to it.
void heap_free(struct heap *heap)
{
    if (!heap)
        return;
    struct object *cleared = NULL;
    heap->draining = true;
    while (heap->live.next != &heap->live) {
        struct object *object = heap->live.next;
        unlink_object(object);
        object->next = object->previous = object; // a ring of its own
        object->references++;
        object_clear(heap, object);
        object->next = cleared;
        cleared = object;
        drain(heap);
    }
    while (cleared) {
        struct object *object = cleared;
        cleared = object->next;
        free_object(heap, object);
    }
    while (heap->kept) {
        struct function *function = heap->kept;
        heap->kept = (struct function *)function->object.next;
        code_release(function->code);
        free_memory(heap, &function->object);
    }
    free(heap);
}
