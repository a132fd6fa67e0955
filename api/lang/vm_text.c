// SPDX-License-Identifier: Apache-2.0
// Instructions that make text, and how an error is told: its place and the text there.
// Thread: the machine's.
#include <stdio.h>
#include <string.h>

#include "api/lang/parser.h"
#include "api/lang/vm_internal.h"
#include "kernels/base/size.h"

enum { FORMAT_PLAIN, FORMAT_STR, FORMAT_REPR, FORMAT_ASCII, FORMAT_SPEC };

static int push_text(struct vm *vm, struct frame *frame, int operands,
                     const struct text *text)
{
    if (text->failed)
        return vm_raise(vm, STATUS_OUT_OF_MEMORY, "memory ran out");
    if (vm_spend(vm, (int64_t)text->length / 16) != OUTCOME_OK)
        return OUTCOME_ERROR;
    struct string *string = string_new(vm->heap, text->data, text->length, &vm->problem);
    if (!string)
        return OUTCOME_ERROR;
    for (int i = 0; i < operands; i++)
        value_release(*--frame->top);
    *frame->top++ = value_of(string);
    return OUTCOME_OK;
}

// The characters of text as ascii() shows them.
static void add_ascii(struct text *out, const char *text, size_t bytes)
{
    for (size_t i = 0; i < bytes;) {
        unsigned char lead = (unsigned char)text[i];
        size_t count = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
        if (count == 1) {
            text_add(out, text + i++, 1);
            continue;
        }
        uint32_t point = lead & (0x7F >> count);
        for (size_t k = 1; k < count && i + k < bytes; k++)
            point = point << 6 | ((unsigned char)text[i + k] & 0x3F);
        char escaped[16];
        int length = point < 0x100 ? snprintf(escaped, sizeof escaped, "\\x%02x", point)
                     : point < 0x10000
                         ? snprintf(escaped, sizeof escaped, "\\u%04x", point)
                         : snprintf(escaped, sizeof escaped, "\\U%08x", point);
        text_add(out, escaped, (size_t)length);
        i += count;
    }
}

static int convert_ascii(struct vm *vm, struct value value, struct text *text)
{
    struct text plain;
    char buffer[256];
    text_begin(&plain, buffer, sizeof buffer);
    int outcome = value_repr(vm, value, &plain);
    if (outcome == OUTCOME_OK)
        add_ascii(text, plain.data, plain.length);
    text->failed |= plain.failed;
    text_end(&plain);
    return outcome;
}

static int format_top(struct vm *vm, struct value value, uint32_t how,
                      const struct string *spec, struct text *text)
{
    switch (how) {
    case FORMAT_STR:
        return value_str(vm, value, text);
    case FORMAT_REPR:
        return value_repr(vm, value, text);
    case FORMAT_ASCII:
        return convert_ascii(vm, value, text);
    default:
        return value_format(vm, value, spec ? spec->text : "",
                            spec ? (size_t)spec->bytes : 0, text);
    }
}

int run_format(struct vm *vm, struct frame *frame, uint32_t n)
{
    int operands = n == FORMAT_SPEC ? 2 : 1;
    struct value value = frame->top[-operands];
    const struct string *spec = operands == 2 ? VALUE_AS(string, frame->top[-1]) : NULL;
    if (n <= FORMAT_STR && value_is_object(value, OBJECT_STRING))
        return OUTCOME_OK;
    struct text text;
    char buffer[256];
    text_begin(&text, buffer, sizeof buffer);
    int outcome = format_top(vm, value, n, spec, &text);
    if (outcome == OUTCOME_OK)
        outcome = push_text(vm, frame, operands, &text);
    text_end(&text);
    return outcome;
}

int run_join(struct vm *vm, struct frame *frame, uint32_t n)
{
    const struct value *parts = frame->top - n;
    int64_t bytes = 0;
    for (uint32_t i = 0; i < n; i++)
        if (!size_add(bytes, VALUE_AS(string, parts[i])->bytes, &bytes))
            return vm_raise(vm, STATUS_OUT_OF_MEMORY, "the text is too long");
    if (vm_spend(vm, bytes / 64) != OUTCOME_OK)
        return OUTCOME_ERROR;
    struct string *string = string_allocate(vm->heap, (size_t)bytes, &vm->problem);
    if (!string)
        return OUTCOME_ERROR;
    char *to = string->text;
    for (uint32_t i = 0; i < n; i++) {
        const struct string *part = VALUE_AS(string, parts[i]);
        memcpy(to, part->text, (size_t)part->bytes);
        to += part->bytes;
    }
    string_finish(string);
    for (uint32_t i = 0; i < n; i++)
        value_release(*--frame->top);
    *frame->top++ = value_of(string);
    return OUTCOME_OK;
}

// ---- Errors

// The frame of the program that runs now or has called the prelude; NULL: none.
static const struct frame *own_frame(const struct vm *vm)
{
    const struct frame *frame = vm->frame;
    while (frame && code_is_prelude(frame->code) && frame->caller)
        frame = frame->caller;
    return frame && !code_is_prelude(frame->code) ? frame : NULL;
}

static void add_position(const struct code *code, int64_t instruction,
                         struct problem *problem)
{
    const struct code_position *position = code_position(code, instruction);
    if (!position)
        return;
    problem->line = position->line;
    problem->column = position->column;
    char excerpt[PROBLEM_TEXT_MAX];
    struct syntax_place place = {position->line, position->column, position->start,
                                 position->end};
    syntax_excerpt(code->unit->source, code->unit->source_bytes, place, excerpt,
                   sizeof excerpt);
    char *detail = problem->detail;
    size_t length = strlen(detail);
    // What names the text already (an undefined name) need not say it twice.
    if (!excerpt[0] || length + strlen(excerpt) + 8 > sizeof problem->detail ||
        strstr(detail, excerpt))
        return;
    snprintf(detail + length, sizeof problem->detail - length, " (in \"%s\")", excerpt);
}

void error_locate(struct vm *vm)
{
    // The program counter is behind the instruction that failed, or that calls; a frame that
    // has done nothing yet (the steps ran out) has its caller's place.
    for (const struct frame *frame = own_frame(vm); frame && vm->problem.line == 0;
         frame = frame->caller)
        if (!code_is_prelude(frame->code))
            add_position(frame->code, frame->pc - frame->code->instructions - 1,
                         &vm->problem);
}

const void *vm_place(void *context)
{
    const struct frame *frame = own_frame(context);
    return frame ? frame->pc - 1 : NULL;
}

static bool holds(const struct code *code, const uint32_t *instruction)
{
    return instruction >= code->instructions &&
           instruction < code->instructions + code->n_instructions;
}

void vm_locate(const struct vm *vm, const void *mark, struct problem *problem)
{
    const uint32_t *instruction = mark;
    for (const struct link *link = vm->links; link && mark; link = link->next) {
        const struct unit *unit = link->unit;
        for (int32_t i = -1; i < unit->n_codes; i++) {
            const struct code *code = i < 0 ? unit->main : unit->codes[i];
            if (!holds(code, instruction))
                continue;
            add_position(code, instruction - code->instructions, problem);
            return;
        }
    }
}

int run_assert(struct vm *vm, struct frame *frame, uint32_t n)
{
    if (!n)
        return vm_raise(vm, STATUS_ASSERTION, "the assertion does not hold");
    struct text text;
    char buffer[256];
    text_begin(&text, buffer, sizeof buffer);
    int outcome = value_str(vm, frame->top[-1], &text);
    if (outcome == OUTCOME_OK)
        outcome = vm_raise(vm, STATUS_ASSERTION, "%.*s",
                           text.length > PROBLEM_DETAIL_MAX ? PROBLEM_DETAIL_MAX
                                                            : (int)text.length,
                           text.data ? text.data : "");
    text_end(&text);
    return outcome;
}
