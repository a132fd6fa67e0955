// SPDX-License-Identifier: Apache-2.0
// Instructions on variables, jumps that keep a value, iteration, functions and the few
// statements with an instruction of their own. Thread: the machine's.
#include <string.h>

#include "api/lang/vm_internal.h"

int run_absent(struct vm *vm, struct frame *frame, uint32_t n)
{
    *frame->top++ = (struct value){.tag = VALUE_ABSENT};
    return OUTCOME_OK;
}

// ---- Variables

int raise_unbound(struct vm *vm, struct frame *frame, uint32_t slot)
{
    const struct code *code = frame->code;
    const struct string *name = code->slot_names[slot];
    bool is_free = (int32_t)slot >= code->first_free;
    return vm_raise(vm, STATUS_UNDEFINED,
                    "cannot access %s variable '%s' where it is not associated with a "
                    "value%s",
                    is_free ? "free" : "local", name ? name->text : "",
                    is_free ? " in enclosing scope" : "");
}

static void empty(struct value *place)
{
    struct value old = *place;
    *place = (struct value){.tag = VALUE_ABSENT};
    value_release(old);
}

int run_delete_local(struct vm *vm, struct frame *frame, uint32_t n)
{
    if (frame->slots[n].tag == VALUE_ABSENT)
        return raise_unbound(vm, frame, n);
    empty(&frame->slots[n]);
    return OUTCOME_OK;
}

int run_clear(struct vm *vm, struct frame *frame, uint32_t n)
{
    empty(&frame->slots[n]);
    return OUTCOME_OK;
}

int run_box(struct vm *vm, struct frame *frame, uint32_t n)
{
    struct box *box = heap_object(vm->heap, OBJECT_BOX, sizeof *box, &vm->problem);
    if (!box)
        return OUTCOME_ERROR;
    box->value = frame->slots[n];
    frame->slots[n] = value_of(box);
    return OUTCOME_OK;
}

int run_set_boxed(struct vm *vm, struct frame *frame, uint32_t n)
{
    struct box *box = VALUE_AS(box, frame->slots[n]);
    struct value old = box->value;
    box->value = *--frame->top;
    value_release(old);
    return OUTCOME_OK;
}

int run_delete_boxed(struct vm *vm, struct frame *frame, uint32_t n)
{
    struct box *box = VALUE_AS(box, frame->slots[n]);
    if (box->value.tag == VALUE_ABSENT)
        return raise_unbound(vm, frame, n);
    empty(&box->value);
    return OUTCOME_OK;
}

int run_share(struct vm *vm, struct frame *frame, uint32_t n)
{
    *frame->top++ = value_reference(frame->slots[n]);
    return OUTCOME_OK;
}

int run_delete_global(struct vm *vm, struct frame *frame, uint32_t n)
{
    return global_delete(vm, frame, n);
}

// ---- Jumps

static int jump_keeping(struct vm *vm, struct frame *frame, uint32_t n, bool when)
{
    bool truth = false;
    int outcome = value_truth(vm, frame->top[-1], &truth);
    if (outcome != OUTCOME_OK)
        return outcome;
    if (truth == when)
        frame->pc = frame->code->instructions + n;
    else
        value_release(*--frame->top);
    return OUTCOME_OK;
}

int run_and(struct vm *vm, struct frame *frame, uint32_t n)
{
    return jump_keeping(vm, frame, n, false);
}

int run_or(struct vm *vm, struct frame *frame, uint32_t n)
{
    return jump_keeping(vm, frame, n, true);
}

// ---- Iteration

int run_iterate(struct vm *vm, struct frame *frame, uint32_t n)
{
    struct value iterator;
    int outcome = value_iterate(vm, frame->top[-1], &iterator);
    if (outcome != OUTCOME_OK)
        return outcome;
    value_release(frame->top[-1]);
    frame->top[-1] = iterator;
    return OUTCOME_OK;
}

int for_next(struct vm *vm, struct frame *frame, uint32_t end)
{
    struct value iterator = frame->top[-1], item;
    if (value_is_object(iterator, OBJECT_PRODUCER))
        return producer_resume(vm, frame, VALUE_AS(producer, iterator));
    int outcome = iterator_next(vm, VALUE_AS(iterator, iterator), &item);
    if (outcome != OUTCOME_OK)
        return outcome;
    if (item.tag == VALUE_ABSENT) {
        value_release(*--frame->top);
        frame->pc = frame->code->instructions + end;
    } else {
        *frame->top++ = item;
    }
    return OUTCOME_OK;
}

// ---- Functions

// A part of a function that lies on the stack if the argument says so.
static void *take_part(struct frame *frame, bool is_there)
{
    return is_there ? (void *)(--frame->top)->object : NULL;
}

int run_function(struct vm *vm, struct frame *frame, uint32_t n)
{
    struct function *function =
        heap_object(vm->heap, OBJECT_FUNCTION, sizeof *function, &vm->problem);
    if (!function)
        return OUTCOME_ERROR;
    function->code = code_reference(frame->code->unit->codes[n >> 3]);
    function->closure = take_part(frame, n & FUNCTION_CLOSURE);
    function->keyword_defaults = take_part(frame, n & FUNCTION_KEYWORDS);
    function->defaults = take_part(frame, n & FUNCTION_DEFAULTS);
    *frame->top++ = value_of(function);
    return OUTCOME_OK;
}

int run_generator(struct vm *vm, struct frame *frame, uint32_t n)
{
    const struct code *code = frame->code->unit->codes[n >> 1];
    struct frame *inner = frame_new(vm, code);
    struct producer *producer = inner ? producer_new(vm, inner) : NULL;
    if (!producer) {
        if (inner)
            frame_free(vm, inner);
        return OUTCOME_ERROR;
    }
    inner->slots[0] = *--frame->top;
    if (n & 1) {
        struct tuple *closure = VALUE_AS(tuple, *--frame->top);
        for (int64_t i = 0; i < closure->count; i++)
            inner->slots[code->first_free + i] = value_reference(closure->items[i]);
        value_release(value_of(closure));
    }
    *frame->top++ = value_of(producer);
    return OUTCOME_OK;
}

int run_return(struct vm *vm, struct frame *frame, uint32_t n)
{
    return frame_return(vm, frame, *--frame->top);
}

int run_yield(struct vm *vm, struct frame *frame, uint32_t n)
{
    return frame_yield(vm, frame, *--frame->top);
}

int run_end(struct vm *vm, struct frame *frame, uint32_t n)
{
    if (n)
        vm->result = *--frame->top;
    return OUTCOME_END;
}

// ---- Statements

// The part of a type's text behind the last dot.
static bool is_called(const struct record *record, const char *name)
{
    const char *dot = strrchr(record->type_text, '.');
    return strcmp(dot ? dot + 1 : record->type_text, name) == 0;
}

// What entering the context does to the gradients, or false: not a context.
static bool context_grad(const struct record *record, bool *enabled)
{
    bool given = record->count > 0 && record->items[0].tag == VALUE_BOOL;
    bool mode = given ? record->items[0].i != 0 : true;
    if (is_called(record, "no_grad"))
        return *enabled = false, true;
    if (is_called(record, "inference_mode"))
        return *enabled = !mode && *enabled, true;
    if (is_called(record, "enable_grad"))
        return *enabled = true, true;
    if (is_called(record, "set_grad_enabled"))
        return *enabled = mode, true;
    return false;
}

int run_with(struct vm *vm, struct frame *frame, uint32_t n)
{
    struct value context = frame->top[-1];
    bool before = vm->grad_enabled, enabled = before;
    const struct record *record =
        value_is_object(context, OBJECT_RECORD) ? VALUE_AS(record, context) : NULL;
    if (!record || !context_grad(record, &enabled))
        return vm_raise(vm, STATUS_TYPE,
                        "with takes torch.no_grad() or torch.inference_mode(), not '%s'",
                        type_short_name(value_type(context)));
    // set_grad_enabled has acted when it was called and knows what was before.
    if (is_called(record, "set_grad_enabled") && record->count > 1 &&
        record->items[1].tag == VALUE_BOOL)
        before = record->items[1].i != 0;
    vm->grad_enabled = enabled;
    value_release(context);
    frame->top[-1] = value_bool(before);
    return OUTCOME_OK;
}

int run_leave(struct vm *vm, struct frame *frame, uint32_t n)
{
    vm->grad_enabled = frame->slots[frame->code->n_slots + n].i != 0;
    return OUTCOME_OK;
}
