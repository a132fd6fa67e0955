// SPDX-License-Identifier: Apache-2.0
// Strings: making, indexing by character, comparing, hashing.
// Strings of one ASCII character are constants, so that walking over text allocates
// nothing. Threads: the program's; immortal strings are shared.
#include <stdlib.h>
#include <string.h>

#include "api/lang/strings.h"
#include "kernels/base/size.h"

uint32_t utf8_decode(const char *text, int *length)
{
    const unsigned char *byte = (const unsigned char *)text;
    *length = utf8_length(*text);
    switch (*length) {
    case 1:
        return byte[0];
    case 2:
        return (byte[0] & 0x1Fu) << 6 | (byte[1] & 0x3Fu);
    case 3:
        return (byte[0] & 0x0Fu) << 12 | (byte[1] & 0x3Fu) << 6 | (byte[2] & 0x3Fu);
    default:
        return (byte[0] & 0x07u) << 18 | (byte[1] & 0x3Fu) << 12 |
               (byte[2] & 0x3Fu) << 6 | (byte[3] & 0x3Fu);
    }
}

int utf8_encode(uint32_t code, char text[4])
{
    if (code < 0x80) {
        text[0] = (char)code;
        return 1;
    }
    int length = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (int i = length - 1; i > 0; i--, code >>= 6)
        text[i] = (char)(0x80 | (code & 0x3F));
    static const unsigned char leads[] = {0, 0, 0xC0, 0xE0, 0xF0};
    text[0] = (char)(leads[length] | code);
    return length;
}

int64_t utf8_count(const char *text, size_t bytes)
{
    int64_t count = 0;
    for (size_t i = 0; i < bytes; i++)
        count += (text[i] & 0xC0) != 0x80;
    return count;
}

// ---- Making

static struct string *allocate_immortal(size_t size, struct problem *problem)
{
    struct string *string = calloc(1, size);
    if (!string) {
        problem_set(problem, STATUS_OUT_OF_MEMORY, "The host has no memory left.");
        return NULL;
    }
    string->object.kind = OBJECT_STRING;
    string->object.immortal = true;
    string->object.references = 1;
    return string;
}

struct string *string_allocate(struct heap *heap, size_t bytes, struct problem *problem)
{
    size_t size = sizeof(struct string) + bytes + 1;
    if (size < bytes) {
        problem_set(problem, STATUS_OUT_OF_MEMORY, "No memory is that large.");
        return NULL;
    }
    struct string *string = heap ? heap_object(heap, OBJECT_STRING, size, problem)
                                 : allocate_immortal(size, problem);
    if (!string)
        return NULL;
    string->bytes = (int64_t)bytes;
    string->text[bytes] = '\0';
    return string;
}

void string_finish(struct string *string)
{
    string->characters = utf8_count(string->text, (size_t)string->bytes);
}

struct string *string_new(struct heap *heap, const char *text, size_t bytes,
                          struct problem *problem)
{
    struct string *string = string_allocate(heap, bytes, problem);
    if (!string)
        return NULL;
    if (bytes > 0)
        memcpy(string->text, text, bytes);
    string_finish(string);
    return string;
}

// The same layout as a struct string with its text.
struct short_string {
    struct object object;
    int64_t bytes, characters;
    uint64_t hash;
    char text[8];
};
_Static_assert(offsetof(struct short_string, text) == offsetof(struct string, text),
               "a short_string is a string");

#define ONE(c)                                                                           \
    {                                                                                    \
        .object = {.references = 1, .kind = OBJECT_STRING, .immortal = true},            \
        .bytes = 1, .characters = 1, .text = {                                           \
            c                                                                            \
        }                                                                                \
    }
#define EIGHT(c)                                                                         \
    ONE(c), ONE((c) + 1), ONE((c) + 2), ONE((c) + 3), ONE((c) + 4), ONE((c) + 5),        \
        ONE((c) + 6), ONE((c) + 7)
static struct short_string ascii[128] = {
    EIGHT(0),  EIGHT(8),   EIGHT(16),  EIGHT(24),  EIGHT(32), EIGHT(40),
    EIGHT(48), EIGHT(56),  EIGHT(64),  EIGHT(72),  EIGHT(80), EIGHT(88),
    EIGHT(96), EIGHT(104), EIGHT(112), EIGHT(120),
};

struct string *string_of_code(struct heap *heap, uint32_t code, struct problem *problem)
{
    if (code < 128)
        return (struct string *)(void *)&ascii[code];
    char text[4];
    int length = utf8_encode(code, text);
    return string_new(heap, text, (size_t)length, problem);
}

// ---- Positions

int64_t string_offset(const struct string *string, int64_t index)
{
    if (string_is_ascii(string))
        return index;
    if (index > string->characters / 2) { // from the end
        int64_t offset = string->bytes;
        for (int64_t i = string->characters; i > index; i--)
            do
                offset--;
            while ((string->text[offset] & 0xC0) == 0x80);
        return offset;
    }
    int64_t offset = 0;
    for (int64_t i = 0; i < index; i++)
        offset += utf8_length(string->text[offset]);
    return offset;
}

int64_t string_index(const struct string *string, int64_t offset)
{
    return string_is_ascii(string) ? offset : utf8_count(string->text, (size_t)offset);
}

// ---- Operations

static enum outcome whole_string(struct string *string, struct value *result)
{
    *result = value_reference(value_of(string));
    return OUTCOME_OK;
}

static enum outcome made_string(struct string *string, struct value *result)
{
    if (!string)
        return OUTCOME_ERROR;
    *result = value_of(string);
    return OUTCOME_OK;
}

// Copies count characters from offset on, each `step` characters behind the one before.
// `to` NULL: only measures. Returns the bytes.
static int64_t copy_characters(const struct string *string, int64_t offset, int64_t step,
                               int64_t count, char *to)
{
    int64_t bytes = 0;
    for (int64_t i = 0; i < count; i++) {
        int length = utf8_length(string->text[offset]);
        if (to)
            memcpy(to + bytes, string->text + offset, (size_t)length);
        bytes += length;
        if (i + 1 == count)
            break;
        for (int64_t k = 0; k < step; k++)
            offset += utf8_length(string->text[offset]);
        for (int64_t k = 0; k > step; k--)
            do
                offset--;
            while ((string->text[offset] & 0xC0) == 0x80);
    }
    return bytes;
}

enum outcome string_slice(struct vm *vm, struct string *string, int64_t start,
                          int64_t step, int64_t count, struct value *result)
{
    if (step == 1 && count == string->characters)
        return whole_string(string, result);
    int64_t walked = !string_is_ascii(string) ? string->bytes / 8
                     : step == 1              ? count / 64
                                              : count / 4;
    enum outcome outcome = vm_spend(vm, walked + 1);
    if (outcome != OUTCOME_OK)
        return outcome;
    int64_t offset = count > 0 ? string_offset(string, start) : 0;
    if (count == 1 && (unsigned char)string->text[offset] < 128) {
        *result = value_of(&ascii[(unsigned char)string->text[offset]]);
        return OUTCOME_OK;
    }
    int64_t bytes = step == 1 && count > 0
                        ? string_offset(string, start + count) - offset
                        : copy_characters(string, offset, step, count, NULL);
    struct string *part = string_allocate(vm_heap(vm), (size_t)bytes, vm_problem(vm));
    if (!part)
        return OUTCOME_ERROR;
    if (step == 1)
        memcpy(part->text, string->text + offset, (size_t)bytes);
    else
        copy_characters(string, offset, step, count, part->text);
    part->characters = count;
    return made_string(part, result);
}

enum outcome string_concat(struct vm *vm, const struct string *a, const struct string *b,
                           struct value *result)
{
    int64_t bytes;
    if (!size_add(a->bytes, b->bytes, &bytes))
        return vm_raise(vm, STATUS_LIMIT, "the string is too long");
    enum outcome outcome = vm_spend(vm, bytes / 64 + 1);
    if (outcome != OUTCOME_OK)
        return outcome;
    struct string *string = string_allocate(vm_heap(vm), (size_t)bytes, vm_problem(vm));
    if (!string)
        return OUTCOME_ERROR;
    memcpy(string->text, a->text, (size_t)a->bytes);
    memcpy(string->text + a->bytes, b->text, (size_t)b->bytes);
    string->characters = a->characters + b->characters;
    return made_string(string, result);
}

enum outcome string_repeat(struct vm *vm, struct string *string, int64_t times,
                           struct value *result)
{
    if (times == 1)
        return whole_string(string, result);
    int64_t bytes;
    if (times < 0)
        times = 0;
    if (!size_multiply(string->bytes, times, &bytes))
        return vm_raise(vm, STATUS_OUT_OF_MEMORY, "the repeated string is too long");
    enum outcome outcome = vm_spend(vm, bytes / 64 + 1);
    if (outcome != OUTCOME_OK)
        return outcome;
    struct string *repeated = string_allocate(vm_heap(vm), (size_t)bytes, vm_problem(vm));
    if (!repeated)
        return OUTCOME_ERROR;
    int64_t done = bytes > 0 ? string->bytes : 0;
    memcpy(repeated->text, string->text, (size_t)done);
    while (done < bytes) { // doubling
        int64_t piece = done <= bytes - done ? done : bytes - done;
        memcpy(repeated->text + done, repeated->text, (size_t)piece);
        done += piece;
    }
    repeated->characters = bytes > 0 ? string->characters * times : 0;
    return made_string(repeated, result);
}

int string_compare(const struct string *a, const struct string *b)
{
    int64_t common = a->bytes < b->bytes ? a->bytes : b->bytes;
    int order = memcmp(a->text, b->text, (size_t)common); // UTF-8 sorts as code points do
    return order != 0 ? order : (a->bytes > b->bytes) - (a->bytes < b->bytes);
}

bool string_contains(const struct string *string, const struct string *part)
{
    return memmem(string->text, (size_t)string->bytes, part->text, (size_t)part->bytes) !=
           NULL;
}

// ---- Hash: a multiplication folds 16 bytes a step.

static uint64_t fold(uint64_t a, uint64_t b)
{
    unsigned __int128 product = (unsigned __int128)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static uint64_t load(const char *text, size_t bytes)
{
    uint64_t word = 0;
    memcpy(&word, text, bytes < 8 ? bytes : 8);
    return word;
}

uint64_t text_hash(const char *text, size_t bytes)
{
    static const uint64_t odd = 0x9E3779B97F4A7C15u, other = 0xE7037ED1A0B428DBu;
    uint64_t hash = bytes ^ odd;
    size_t left = bytes;
    for (; left > 16; left -= 16, text += 16)
        hash = fold(load(text, 8) ^ odd, load(text + 8, 8) ^ hash);
    if (left > 8)
        hash = fold(load(text, 8) ^ odd, load(text + 8, left - 8) ^ hash);
    else if (left > 0)
        hash = fold(load(text, left) ^ odd, hash ^ other);
    hash = fold(hash ^ other, bytes ^ odd);
    return hash ? hash : 1;
}

// The hash of a constant may be computed by two threads at once: both write the same.
uint64_t string_hash(const struct string *string)
{
    uint64_t hash = __atomic_load_n(&string->hash, __ATOMIC_RELAXED);
    if (hash == 0) {
        hash = text_hash(string->text, (size_t)string->bytes);
        __atomic_store_n((uint64_t *)(uintptr_t)&string->hash, hash, __ATOMIC_RELAXED);
    }
    return hash;
}
