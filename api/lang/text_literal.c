// SPDX-License-Identifier: Apache-2.0
// Growing text under the heap's eye, literals of strings, and the opaque number of an
// object. The program's thread.
#include "api/lang/builtins.h"

#include <stdatomic.h>
#include <sys/random.h>

#include "api/lang/strings.h"
#include "api/lang/unicode.h"
#include "kernels/base/size.h"

// ---- Growing

enum { FREE_BYTES = 1 << 16, BYTES_PER_STEP = 32 };

enum outcome text_out_of_memory(struct vm *vm)
{
    return vm_raise(vm, STATUS_OUT_OF_MEMORY, "memory ran out while text was made");
}

// The heap admits twice what will be needed (the text's own growth) and has it back at
// once: text is short-lived, and becomes a string of the heap at the end.
static enum outcome admit(struct vm *vm, int64_t bytes)
{
    int64_t twice;
    if (!size_multiply(bytes, 2, &twice))
        return text_out_of_memory(vm);
    void *memory = heap_resize(vm_heap(vm), NULL, 0, (size_t)twice, vm_problem(vm));
    if (memory == NULL)
        return OUTCOME_ERROR;
    heap_resize(vm_heap(vm), memory, (size_t)twice, 0, vm_problem(vm));
    return OUTCOME_OK;
}

enum outcome text_charge(struct vm *vm, struct text *text, int64_t more)
{
    int64_t need;
    if (vm_spend(vm, 1 + more / BYTES_PER_STEP) == OUTCOME_ERROR)
        return OUTCOME_ERROR;
    if (text->failed || !size_add((int64_t)text->length, more, &need))
        return text_out_of_memory(vm);
    if (need <= (int64_t)text->capacity)
        return OUTCOME_OK;
    if (need > FREE_BYTES && admit(vm, need) == OUTCOME_ERROR)
        return OUTCOME_ERROR;
    return text_reserve(text, (size_t)more) ? OUTCOME_OK : text_out_of_memory(vm);
}

enum outcome text_to_string(struct vm *vm, struct text *text, enum outcome outcome,
                            struct value *result)
{
    if (outcome == OUTCOME_OK && text->failed)
        outcome = text_out_of_memory(vm);
    if (outcome == OUTCOME_OK) {
        struct string *string =
            string_new(vm_heap(vm), text->length > 0 ? text->data : "", text->length,
                       vm_problem(vm));
        if (string == NULL)
            outcome = OUTCOME_ERROR;
        else
            *result = value_of(string);
    }
    text_end(text);
    return outcome;
}

void text_code(struct text *text, uint32_t code)
{
    char bytes[4];
    text_add(text, bytes, (size_t)utf8_encode(code, bytes));
}

void text_fill(struct text *text, const char *fill, size_t bytes, int64_t count)
{
    if (count <= 0 || !text_reserve(text, bytes * (size_t)count))
        return;
    if (bytes == 1) {
        memset(text->data + text->length, *fill, (size_t)count);
        text->length += (size_t)count;
        return;
    }
    for (; count > 0; count--)
        text_add(text, fill, bytes);
}

// ---- Strings

static void escape_code(struct text *text, uint32_t code)
{
    int digits = code < 0x100 ? 2 : code < 0x10000 ? 4 : 8;
    text_add(text, digits == 2 ? "\\x" : digits == 4 ? "\\u" : "\\U", 2);
    while (digits-- > 0)
        text_add(text, &"0123456789abcdef"[code >> 4 * digits & 15], 1);
}

static void repr_code(struct text *text, uint32_t code, char quote, bool ascii)
{
    switch (code) {
    case '\n':
        text_literal(text, "\\n");
        return;
    case '\r':
        text_literal(text, "\\r");
        return;
    case '\t':
        text_literal(text, "\\t");
        return;
    case '\\':
        text_literal(text, "\\\\");
        return;
    default:
        break;
    }
    if (code == (unsigned char)quote) {
        text_literal(text, "\\");
        text_add(text, &quote, 1);
    } else if (code < 127 ? code >= ' '
                          : !ascii && (unicode_properties(code) & UNICODE_PRINTABLE)) {
        text_code(text, code);
    } else {
        escape_code(text, code);
    }
}

void text_repr_string(struct text *text, const char *string, size_t bytes, bool ascii)
{
    bool single = bytes > 0 && memchr(string, '\'', bytes) != NULL;
    bool twofold = bytes > 0 && memchr(string, '"', bytes) != NULL;
    char quote = single && !twofold ? '"' : '\'';
    text_add(text, &quote, 1);
    for (const char *p = string, *end = string + bytes; p < end;)
        repr_code(text, utf8_next(&p, end), quote, ascii);
    text_add(text, &quote, 1);
}

enum outcome value_ascii(struct vm *vm, struct value value, struct text *text)
{
    struct text scratch;
    text_begin(&scratch, NULL, 0);
    enum outcome outcome = value_repr(vm, value, &scratch);
    if (outcome == OUTCOME_OK && scratch.failed)
        outcome = text_out_of_memory(vm);
    if (outcome == OUTCOME_OK)
        outcome = text_charge(vm, text, (int64_t)scratch.length);
    const char *p = scratch.data, *end = p + scratch.length;
    while (outcome == OUTCOME_OK && p < end) {
        uint32_t code = utf8_next(&p, end);
        if (code < 128)
            text_code(text, code);
        else
            escape_code(text, code);
    }
    text_end(&scratch);
    return outcome;
}

// ---- Identity

// A permutation of 44 bits under a key of this process's: four rounds of a Feistel
// network. Addresses are aligned to 16, so that 44 bits of them are all.
static uint64_t scramble(uint64_t number)
{
    static _Atomic uint64_t key;
    uint64_t now = atomic_load(&key);
    if (now == 0) {
        uint64_t drawn = 0;
        if (getrandom(&drawn, sizeof drawn, 0) != (ssize_t)sizeof drawn)
            drawn = (uint64_t)(uintptr_t)&key;
        if (atomic_compare_exchange_strong(&key, &now, drawn | 1))
            now = drawn | 1;
    }
    uint32_t half = (1U << 22) - 1;
    uint32_t left = (uint32_t)(number >> 22) & half, right = (uint32_t)number & half;
    for (int round = 0; round < 4; round++) {
        uint64_t mixed = (right ^ now) * 0xD6E8FEB86659FD93u + (uint64_t)round;
        mixed = (mixed ^ mixed >> 29) * 0x9E3779B97F4A7C15u ^ now >> 7;
        uint32_t next = left ^ ((uint32_t)(mixed >> 40) & half);
        left = right;
        right = next;
    }
    return (uint64_t)left << 22 | right;
}

int64_t value_id(struct value value)
{
    if (value.tag == VALUE_OBJECT)
        return (int64_t)(scramble((uint64_t)(uintptr_t)value.object >> 4) << 4);
    uint64_t mixed = ((uint64_t)value.i + value.tag) * 0x9E3779B97F4A7C15u;
    return (int64_t)(1ULL << 48 | (mixed >> 16 & ~15ULL));
}
