// SPDX-License-Identifier: Apache-2.0
// Arguments to the parameters of functions that programs define. The texts of what is
// wrong are those that Python's users know. Thread: the machine's.
#include <stdio.h>
#include <string.h>

#include "api/lang/vm_internal.h"

static bool same_text(const struct string *a, const struct string *b)
{
    return a == b ||
           (a->bytes == b->bytes && memcmp(a->text, b->text, (size_t)a->bytes) == 0);
}

static struct string *parameter_name(const struct code *code, int32_t i)
{
    return code->slot_names[i];
}

// "from 1 to 2" or "2", of positional arguments that are taken.
int raise_too_many(struct vm *vm, const char *name, int least, int most, int given,
                   int n_named_only)
{
    char takes[64], also[96] = "";
    bool plural = least != most || most != 1;
    if (least != most)
        snprintf(takes, sizeof takes, "from %d to %d", least, most);
    else
        snprintf(takes, sizeof takes, "%d", most);
    if (n_named_only > 0)
        snprintf(also, sizeof also,
                 " positional argument%s (and %d keyword-only argument%s)",
                 given == 1 ? "" : "s", n_named_only, n_named_only == 1 ? "" : "s");
    return vm_raise(vm, STATUS_TYPE,
                    "%s() takes %s positional argument%s but %d%s %s given", name, takes,
                    plural ? "s" : "", given, also,
                    given == 1 && n_named_only == 0 ? "was" : "were");
}

int raise_missing(struct vm *vm, const char *name, const char *kind, int count,
                  const char *const *names)
{
    char list[PROBLEM_DETAIL_MAX / 2];
    size_t length = 0;
    list[0] = '\0';
    for (int i = 0; i < count && length + 1 < sizeof list; i++) {
        const char *before = i == 0           ? ""
                             : count == 2     ? " and "
                             : i == count - 1 ? ", and "
                                              : ", ";
        int added =
            snprintf(list + length, sizeof list - length, "%s'%s'", before, names[i]);
        length += added > 0 ? (size_t)added : 0;
    }
    return vm_raise(vm, STATUS_TYPE, "%s() missing %d required %s argument%s: %s", name,
                    count, kind, count == 1 ? "" : "s", list);
}

// ---- Arguments by name

enum { COMPARED_PER_STEP = 8 };

static int32_t find_parameter(const struct code *code, const struct string *name)
{
    for (int32_t i = code->n_positional_only;
         i < code->n_positional + code->n_keyword_only; i++)
        if (same_text(parameter_name(code, i), name))
            return i;
    return -1;
}

// A name that no parameter has: positional-only ones are told apart.
static int raise_unexpected(struct vm *vm, const struct code *code,
                            const struct string *name)
{
    for (int32_t i = 0; i < code->n_positional_only; i++)
        if (same_text(parameter_name(code, i), name))
            return vm_raise(vm, STATUS_TYPE,
                            "%s() got some positional-only arguments passed as keyword "
                            "arguments: '%s'",
                            code->qualified->text, name->text);
    return vm_raise(vm, STATUS_TYPE, "%s() got an unexpected keyword argument '%s'",
                    code->qualified->text, name->text);
}

static int bind_names(struct vm *vm, const struct call *call, struct frame *frame,
                      struct dict *others)
{
    const struct code *code = frame->code;
    // Every name is looked for among all parameters.
    int64_t compared =
        (int64_t)call->n_named * (code->n_positional + code->n_keyword_only);
    if (vm_spend(vm, compared / COMPARED_PER_STEP) != OUTCOME_OK)
        return OUTCOME_ERROR;
    for (int k = 0; k < call->n_named; k++) {
        struct string *name = call->names[k];
        struct value value = call->arguments[call->n + k];
        int32_t slot = find_parameter(code, name);
        if (slot < 0 && !others)
            return raise_unexpected(vm, code, name);
        if (slot < 0) {
            if (dict_set(vm->heap, others, value_of(name), value, &vm->problem) !=
                STATUS_OK)
                return OUTCOME_ERROR;
        } else if (frame->slots[slot].tag != VALUE_ABSENT) {
            return vm_raise(vm, STATUS_TYPE, "%s() got multiple values for argument '%s'",
                            code->qualified->text, name->text);
        } else {
            frame->slots[slot] = value_reference(value);
        }
    }
    return OUTCOME_OK;
}

// ---- Defaults

enum { MISSING_SHOWN = 16 };

static int fill_positional(struct vm *vm, const struct function *function,
                           struct frame *frame)
{
    const struct code *code = frame->code;
    int64_t n_defaults = function->defaults ? function->defaults->count : 0;
    int64_t required = code->n_positional - n_defaults;
    const char *names[MISSING_SHOWN];
    int missing = 0;
    for (int32_t i = 0; i < required; i++)
        if (frame->slots[i].tag == VALUE_ABSENT && missing < MISSING_SHOWN)
            names[missing++] = parameter_name(code, i)->text;
    if (missing > 0)
        return raise_missing(vm, code->qualified->text, "positional", missing, names);
    for (int64_t i = required < 0 ? 0 : required; i < code->n_positional; i++)
        if (frame->slots[i].tag == VALUE_ABSENT)
            frame->slots[i] = value_reference(function->defaults->items[i - required]);
    return OUTCOME_OK;
}

static int fill_keyword_only(struct vm *vm, const struct function *function,
                             struct frame *frame)
{
    const struct code *code = frame->code;
    const char *names[MISSING_SHOWN];
    int missing = 0;
    for (int32_t k = 0; k < code->n_keyword_only; k++) {
        struct value *slot = &frame->slots[code->n_positional + k];
        struct string *name = parameter_name(code, code->n_positional + k);
        struct value value = {.tag = VALUE_ABSENT};
        if (slot->tag != VALUE_ABSENT)
            continue;
        if (function->keyword_defaults &&
            dict_find(function->keyword_defaults, value_of(name), &value, &vm->problem) !=
                STATUS_OK)
            return OUTCOME_ERROR;
        *slot = value_reference(value);
        if (value.tag == VALUE_ABSENT && missing < MISSING_SHOWN)
            names[missing++] = name->text;
    }
    return missing > 0
               ? raise_missing(vm, code->qualified->text, "keyword-only", missing, names)
               : OUTCOME_OK;
}

// ---- All of it

static int refuse_surplus(struct vm *vm, const struct call *call,
                          const struct function *function, const struct frame *frame)
{
    const struct code *code = frame->code;
    int64_t n_defaults = function->defaults ? function->defaults->count : 0;
    int named_only = 0;
    for (int32_t k = 0; k < code->n_keyword_only; k++)
        named_only += frame->slots[code->n_positional + k].tag != VALUE_ABSENT;
    return raise_too_many(vm, code->qualified->text, code->n_positional - (int)n_defaults,
                          code->n_positional, call->n, named_only);
}

int bind_function(struct vm *vm, const struct call *call, struct frame *frame)
{
    const struct function *function = VALUE_AS(function, call->function);
    const struct code *code = frame->code;
    int32_t rest = code->n_positional + code->n_keyword_only,
            keywords = rest + code->has_rest;
    int taken = call->n < code->n_positional ? call->n : code->n_positional;
    struct dict *others = NULL;
    for (int i = 0; i < taken; i++)
        frame->slots[i] = value_reference(call->arguments[i]);
    if (code->has_rest) {
        struct tuple *tuple =
            tuple_new(vm->heap, call->n - taken, call->arguments + taken, &vm->problem);
        if (!tuple)
            return OUTCOME_ERROR;
        frame->slots[rest] = value_of(tuple);
    }
    if (code->has_keywords) {
        others = dict_new(vm->heap, &vm->problem);
        if (!others)
            return OUTCOME_ERROR;
        frame->slots[keywords] = value_of(others);
    }
    if (bind_names(vm, call, frame, others) != OUTCOME_OK)
        return OUTCOME_ERROR;
    if (call->n > code->n_positional && !code->has_rest)
        return refuse_surplus(vm, call, function, frame);
    if (fill_positional(vm, function, frame) != OUTCOME_OK)
        return OUTCOME_ERROR;
    return fill_keyword_only(vm, function, frame);
}
