// SPDX-License-Identifier: Apache-2.0
// Calls: of natives, operations, types, functions, modules. The stack of the caller holds
// function, self (or ABSENT), arguments; a call leaves its result in their place. A
// producer that a native wants to iterate is drained first, and the instruction runs
// again. Thread: the machine's.
#include <string.h>

#include "api/lang/vm_internal.h"

// Everything from call->pop on gives way to the result.
static int finish(struct call *call, struct value result)
{
    struct frame *frame = call->frame;
    while (frame->top > call->pop)
        value_release(*--frame->top);
    *frame->top++ = result;
    return OUTCOME_OK;
}

// ---- Natives

// Where argument i lies, so that a list can take a producer's place.
static struct value *argument_home(const struct call *call, int i)
{
    if (!call->listed)
        return (struct value *)call->arguments + i;
    int with_self = call->n - (int)call->listed->count;
    if (i < with_self)
        return call->pop + 1;
    if (i < call->n)
        return &call->listed->items[i - with_self];
    struct dict_entry *entry = NULL;
    int64_t position = 0;
    for (int k = call->n; k <= i; k++)
        entry = dict_next(call->named, &position);
    return &entry->value;
}

static int call_native(struct vm *vm, struct call *call, const struct native *native)
{
    const struct signature *signature = signature_of(native);
    if (!signature)
        return vm_raise(vm, STATUS_OUT_OF_MEMORY, "memory ran out");
    struct value slots[NATIVE_MAX_SLOTS], result = {.tag = VALUE_ABSENT};
    int drain = -1, outcome = bind_native(vm, signature, call, slots, &drain);
    if (outcome == OUTCOME_OK && drain < 0)
        outcome = native->function(vm, slots, &result);
    if (signature->rest >= 0)
        value_release(slots[signature->rest]);
    if (signature->keywords >= 0)
        value_release(slots[signature->keywords]);
    if (outcome == OUTCOME_OK && drain >= 0)
        return producer_drain(vm, call->frame, argument_home(call, drain));
    return outcome == OUTCOME_OK ? finish(call, result) : outcome;
}

static int call_type(struct vm *vm, struct call *call)
{
    enum type type = (enum type)call->function.i;
    const struct native *native = type_constructor(type);
    if (!native)
        native = torch_type_constructor(type);
    if (!native)
        native = module_constructor(type);
    if (!native)
        return vm_raise(vm, STATUS_TYPE, "cannot create '%s' instances", type_name(type));
    return call_native(vm, call, native);
}

static int call_op(struct vm *vm, struct call *call)
{
    struct value result;
    int outcome = torch_call_op(vm, call->function, call->n, call->n_named,
                                call->arguments, call->names, &result);
    return outcome == OUTCOME_OK ? finish(call, result) : outcome;
}

static int call_module(struct vm *vm, struct call *call)
{
    struct value result;
    if (call->n_named > 0)
        return vm_raise(vm, STATUS_TYPE,
                        "forward() got an unexpected keyword argument '%s'",
                        call->names[0]->text);
    int outcome = module_call(vm, VALUE_AS(module, call->function), call->n,
                              call->arguments, &result);
    return outcome == OUTCOME_OK ? finish(call, result) : outcome;
}

// ---- Functions

// The usual call: as many arguments by position as there are parameters, on the stack in
// order. They move into the frame.
static bool is_plain(const struct call *call, const struct code *code)
{
    return call->n == code->n_positional && call->n_named == 0 && !call->listed &&
           code->n_keyword_only == 0 && !code->has_rest && !code->has_keywords;
}

static int call_function(struct vm *vm, struct call *call)
{
    const struct function *function = VALUE_AS(function, call->function);
    const struct code *code = function->code;
    struct frame *frame = frame_new(vm, code);
    if (!frame)
        return OUTCOME_ERROR;
    if (is_plain(call, code)) {
        if (call->n > 0)
            memcpy(frame->slots, call->arguments, (size_t)call->n * sizeof(struct value));
        call->frame->top -= call->n;
    } else if (bind_function(vm, call, frame) != OUTCOME_OK) {
        frame_free(vm, frame);
        return OUTCOME_ERROR;
    }
    for (int32_t i = 0; i < code->n_free; i++)
        frame->slots[code->first_free + i] = value_reference(function->closure->items[i]);
    if (code->is_producer) {
        struct producer *producer = producer_new(vm, frame);
        if (producer)
            return finish(call, value_of(producer));
        frame_free(vm, frame);
        return OUTCOME_ERROR;
    }
    int outcome = frame_enter(vm, frame, DELIVER_VALUE);
    if (outcome == OUTCOME_ERROR) {
        frame_free(vm, frame);
        return outcome;
    }
    // The unit stays: the machine is linked to it.
    while (call->frame->top > call->pop)
        value_release(*--call->frame->top);
    return outcome;
}

// x.append: its function and self take its place on the stack, and the call starts again.
static int call_bound(struct vm *vm, struct call *call)
{
    const struct bound *bound = VALUE_AS(bound, call->function);
    struct value function = value_reference(bound->function),
                 self = value_reference(bound->self);
    if (call->pop[1].tag != VALUE_ABSENT) { // cannot be: a method is not a bound object
        value_release(function);
        value_release(self);
        return vm_raise(vm, STATUS_TYPE, "a bound method cannot be a method");
    }
    value_release(call->pop[0]);
    call->pop[0] = function;
    call->pop[1] = self;
    return OUTCOME_AGAIN;
}

int call_run(struct vm *vm, struct call *call)
{
    struct value function = call->function;
    if (function.tag == VALUE_NATIVE)
        return call_native(vm, call, function.native);
    if (function.tag == VALUE_OP)
        return call_op(vm, call);
    if (function.tag == VALUE_TYPE)
        return call_type(vm, call);
    if (function.tag == VALUE_DTYPE && torch_dtype_constructor(function) != NULL)
        return call_native(vm, call, torch_dtype_constructor(function));
    if (value_is_object(function, OBJECT_FUNCTION))
        return call_function(vm, call);
    if (value_is_object(function, OBJECT_BOUND))
        return call_bound(vm, call);
    if (value_is_object(function, OBJECT_MODULE))
        return call_module(vm, call);
    return vm_raise(vm, STATUS_TYPE, "'%s' object is not callable",
                    type_short_name(value_type(function)));
}

// ---- Instructions

static void call_begin(struct call *call, struct frame *frame, struct value *at, int n)
{
    bool has_self = at[1].tag != VALUE_ABSENT;
    *call = (struct call){.function = at[0],
                          .n = n + has_self,
                          .arguments = at + (has_self ? 1 : 2),
                          .frame = frame,
                          .pop = at};
}

int run_call(struct vm *vm, struct frame *frame, uint32_t n)
{
    struct call call;
    call_begin(&call, frame, frame->top - n - 2, (int)n);
    return call_run(vm, &call);
}

int run_call_named(struct vm *vm, struct frame *frame, uint32_t n)
{
    const struct code_call *row = &frame->code->unit->calls[n];
    struct call call;
    call_begin(&call, frame, frame->top - row->n_positional - row->n_named - 2,
               row->n_positional);
    call.n_named = row->n_named;
    call.names = row->names;
    return call_run(vm, &call);
}

static bool scratch_reserve(struct vm *vm, int64_t count)
{
    if (count <= vm->scratch_capacity)
        return true;
    int64_t capacity = count < 16 ? 16 : count;
    struct value *values =
        heap_resize(vm->heap, vm->scratch, (size_t)vm->scratch_capacity * sizeof *values,
                    (size_t)capacity * sizeof *values, &vm->problem);
    if (!values)
        return false;
    vm->scratch = values;
    struct string **names = heap_resize(vm->heap, vm->scratch_names,
                                        (size_t)vm->scratch_capacity * sizeof *names,
                                        (size_t)capacity * sizeof *names, &vm->problem);
    if (!names) { // both have one size: the values go back to theirs
        values = heap_resize(vm->heap, values, (size_t)capacity * sizeof *values,
                             (size_t)vm->scratch_capacity * sizeof *values, &vm->problem);
        vm->scratch = values;
        return false;
    }
    vm->scratch_names = names;
    vm->scratch_capacity = capacity;
    return true;
}

int run_call_spread(struct vm *vm, struct frame *frame, uint32_t n)
{
    struct call call;
    struct value *at = frame->top - 4;
    struct list *list = VALUE_AS(list, at[2]);
    struct dict *dict = at[3].tag == VALUE_ABSENT ? NULL : VALUE_AS(dict, at[3]);
    int64_t named = dict ? dict->count : 0;
    if (list->count > INT32_MAX - 1 || named > INT32_MAX - 1 - list->count)
        return vm_raise(vm, STATUS_LIMIT, "too many arguments");
    if (vm_spend(vm, list->count + named) != OUTCOME_OK ||
        !scratch_reserve(vm, list->count + named + 1))
        return OUTCOME_ERROR;
    call_begin(&call, frame, at, (int)list->count);
    call.arguments = vm->scratch;
    call.listed = list;
    call.named = dict;
    call.names = vm->scratch_names;
    call.n_named = (int)named;
    struct value *to = vm->scratch;
    if (call.n > list->count)
        *to++ = at[1];
    if (list->count > 0)
        memcpy(to, list->items, (size_t)list->count * sizeof *to);
    to += list->count;
    struct dict_entry *entry;
    struct string **names = vm->scratch_names;
    for (int64_t position = 0; dict && (entry = dict_next(dict, &position));) {
        *to++ = entry->value;
        *names++ = VALUE_AS(string, entry->key);
    }
    return call_run(vm, &call);
}
