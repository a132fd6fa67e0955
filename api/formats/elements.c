// SPDX-License-Identifier: Apache-2.0
// Typed, growing storage for elements that arrive as text. One thread at a time (the
// reader's).
#include "api/formats/elements.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

enum { FIRST_CAPACITY = 1024 };

void elements_open(struct elements *elements, const struct reader_memory *memory,
                   int64_t body_length)
{
    *elements = (struct elements){
        .memory = *memory, .body_length = body_length, .stored = DTYPE_BOOL};
}

void elements_fix(struct elements *elements, enum dtype dtype)
{
    elements->stored = dtype;
    elements->fixed = true;
}

// ---- Memory

static enum status reserve(struct elements *elements, int64_t count,
                           struct problem *problem)
{
    int64_t bytes;
    if (!size_multiply(count, dtype_size(elements->stored), &bytes))
        return problem_set(problem, STATUS_TOO_LARGE, "The body has too many elements.");
    enum status status = elements->memory.reserve(elements->memory.context, bytes,
                                                  &elements->data, problem);
    if (status == STATUS_OK)
        elements->capacity = count;
    return status;
}

// Room for one more: what the rest of the body will need, judged by the bytes an element
// took so far, or twice as much when its length is unknown.
static enum status grow(struct elements *elements, struct problem *problem)
{
    int64_t count = elements->count, least = count + count / 4 + FIRST_CAPACITY,
            wanted = 2 * least;
    if (count > 0 && elements->body_length > elements->body_read &&
        elements->body_read > 0) {
        double each = (double)elements->body_read / (double)count;
        double estimate = (double)elements->body_length / each * 1.02 + 64;
        // Two bytes an element is the densest there is.
        double most =
            (double)count + (double)(elements->body_length - elements->body_read) / 2 + 1;
        wanted = (int64_t)(estimate < most ? estimate : most);
    }
    if (wanted <= least)
        return reserve(elements, least, problem);
    enum status status = reserve(elements, wanted, problem);
    return status == STATUS_OUT_OF_MEMORY ? reserve(elements, least, problem) : status;
}

// ---- Changing the stored dtype

// What is stored becomes int64 (from bool, from the end, since it grows).
static enum status widen_bools(struct elements *elements, struct problem *problem)
{
    elements->stored = DTYPE_INT64;
    if (elements->capacity == 0)
        return STATUS_OK;
    enum status status = reserve(elements, elements->capacity, problem);
    if (status != STATUS_OK)
        return status;
    const uint8_t *bytes = elements->data;
    for (int64_t i = elements->count - 1; i >= 0; i--) {
        int64_t value = bytes[i];
        memcpy((char *)elements->data + i * 8, &value, sizeof value);
    }
    return STATUS_OK;
}

// Integers up to 2^53 survive as a float64.
static bool is_beyond_float64(int64_t value)
{
    return value > 1LL << 53 || value < -(1LL << 53);
}

// What is stored becomes the float that floats are kept in (from int64, from the start,
// since it does not grow).
static void integers_to_floats(struct elements *elements)
{
    enum dtype to = elements->late_dtype ? DTYPE_FLOAT64 : DTYPE_FLOAT32;
    int size = dtype_size(to);
    for (int64_t i = 0; i < elements->count; i++) {
        union element element;
        memcpy(&element, (char *)elements->data + i * 8, 8);
        elements->inexact |= is_beyond_float64(element.i64);
        element = scalar_to_element((struct scalar){.kind = SCALAR_INT, .i = element.i64},
                                    to, NULL);
        memcpy((char *)elements->data + i * size, &element, (size_t)size);
    }
    elements->capacity = elements->capacity * 8 / size;
    elements->stored = to;
}

// Makes stored able to hold a number, or a float.
static enum status promote(struct elements *elements, bool to_float,
                           struct problem *problem)
{
    if (elements->stored == DTYPE_BOOL) {
        enum status status = widen_bools(elements, problem);
        if (status != STATUS_OK)
            return status;
    }
    if (to_float && elements->stored == DTYPE_INT64)
        integers_to_floats(elements);
    return STATUS_OK;
}

// ---- Adding

static enum status append(struct elements *elements, union element element,
                          struct problem *problem)
{
    if (elements->count == elements->capacity) {
        enum status status = grow(elements, problem);
        if (status != STATUS_OK)
            return status;
    }
    char *data = elements->data;
    int64_t i = elements->count++;
    switch (
        dtype_size(elements->stored)) { // sizes known to the compiler make plain stores
    case 1:
        memcpy(data + i, &element, 1);
        break;
    case 2:
        memcpy(data + i * 2, &element, 2);
        break;
    case 4:
        memcpy(data + i * 4, &element, 4);
        break;
    default:
        memcpy(data + i * 8, &element, 8);
    }
    return STATUS_OK;
}

static enum status out_of_range(enum dtype dtype, const char *text, size_t length,
                                struct problem *problem)
{
    enum { SHOWN = 40 };
    return problem_set(problem, STATUS_VALUE, "%.*s%s is outside the range of %s.",
                       (int)(length < SHOWN ? length : SHOWN), text,
                       length > SHOWN ? "..." : "", dtype_name(dtype));
}

static enum status append_scalar(struct elements *elements, struct scalar scalar,
                                 const char *text, size_t length, struct problem *problem)
{
    bool in_range;
    union element element = scalar_to_element(scalar, elements->stored, &in_range);
    if (!in_range)
        return out_of_range(elements->stored, text, length, problem);
    return append(elements, element, problem);
}

enum status elements_add_bool(struct elements *elements, bool value,
                              struct problem *problem)
{
    if (!elements->fixed && elements->late_dtype && elements->stored == DTYPE_BOOL) {
        enum status status = widen_bools(elements, problem);
        if (status != STATUS_OK)
            return status;
    }
    struct scalar scalar = {.kind = SCALAR_BOOL, .i = value};
    return append(elements, scalar_to_element(scalar, elements->stored, NULL), problem);
}

// Any number, to a float dtype: rounded once from the decimal.
static enum status add_float(struct elements *elements, const struct decimal *decimal,
                             const char *text, size_t length, struct problem *problem)
{
    union element element;
    if (elements->stored == DTYPE_FLOAT64)
        element.f64 = decimal_to_float64(decimal, text, length);
    else
        element.f32 = decimal_to_float32(decimal, text, length);
    bool finite = elements->stored == DTYPE_FLOAT64 ? isfinite(element.f64) != 0
                                                    : isfinite(element.f32) != 0;
    if (!finite && isinf(decimal_to_float64(decimal, text, length)))
        return out_of_range(DTYPE_FLOAT64, text, length, problem);
    if (elements->stored == DTYPE_FLOAT16)
        element.bits16 = float16_from_float(element.f32);
    else if (elements->stored == DTYPE_BFLOAT16)
        element.bits16 = bfloat16_from_float(element.f32);
    return append(elements, element, problem);
}

// Any number, to bool or an integer dtype that was given. Floats lose their fraction, as
// in torch.
static enum status add_converted(struct elements *elements, const struct decimal *decimal,
                                 const char *text, size_t length, struct problem *problem)
{
    struct scalar scalar = {.kind = SCALAR_INT};
    if (!decimal->integer || !decimal_to_int64(decimal, &scalar.i)) {
        scalar.kind = SCALAR_FLOAT;
        scalar.f = decimal_to_float64(decimal, text, length);
        if (isinf(scalar.f))
            return out_of_range(elements->stored == DTYPE_BOOL ? DTYPE_FLOAT64
                                                               : elements->stored,
                                text, length, problem);
    }
    return append_scalar(elements, scalar, text, length, problem);
}

enum status elements_add_decimal(struct elements *elements, const struct decimal *decimal,
                                 const char *text, size_t length, struct problem *problem)
{
    if (elements->fixed)
        return dtype_is_float(elements->stored)
                   ? add_float(elements, decimal, text, length, problem)
                   : add_converted(elements, decimal, text, length, problem);
    struct scalar scalar = {.kind = SCALAR_INT};
    bool fits = decimal->integer && decimal_to_int64(decimal, &scalar.i);
    bool big = decimal->integer && !fits;
    enum status status = promote(elements, !fits, problem);
    if (status != STATUS_OK)
        return status;
    if (big && !elements->seen_big) {
        elements->seen_big = true;
        elements->big_index = elements->count;
    }
    elements->seen_number = true;
    elements->seen_float |= !decimal->integer;
    if (elements->stored != DTYPE_INT64) {
        elements->inexact |= fits && is_beyond_float64(scalar.i);
        return add_float(elements, decimal, text, length, problem);
    }
    return append_scalar(elements, scalar, text, length, problem);
}

enum status elements_add_special(struct elements *elements, double value,
                                 struct problem *problem)
{
    const char *name = isnan(value) ? "NaN" : value > 0 ? "Infinity" : "-Infinity";
    if (!elements->fixed) {
        enum status status = promote(elements, true, problem);
        if (status != STATUS_OK)
            return status;
        elements->seen_number = elements->seen_float = true;
    }
    return append_scalar(elements, (struct scalar){.kind = SCALAR_FLOAT, .f = value},
                         name, strlen(name), problem);
}

// ---- The end

// The 64-bit values that waited for a dtype become it, in place from the start.
static enum status convert_late(struct elements *elements, enum dtype dtype,
                                int64_t *index, struct problem *problem)
{
    int size = dtype_size(dtype);
    for (*index = 0; *index < elements->count; ++*index) {
        union element element, converted;
        bool in_range;
        memcpy(&element, (char *)elements->data + *index * 8, 8);
        struct scalar scalar = element_to_scalar(element, elements->stored);
        converted = scalar_to_element(scalar, dtype, &in_range);
        if (!in_range) {
            char text[32];
            size_t length = print_element(element, elements->stored, text);
            return out_of_range(dtype, text, length, problem);
        }
        memcpy((char *)elements->data + *index * size, &converted, (size_t)size);
    }
    elements->stored = dtype;
    return STATUS_OK;
}

static enum dtype found_dtype(const struct elements *elements)
{
    if (elements->count == 0 || elements->seen_float)
        return DTYPE_FLOAT32;
    return elements->seen_number ? DTYPE_INT64 : DTYPE_BOOL;
}

enum status elements_finish(struct elements *elements, bool has_dtype, enum dtype dtype,
                            int64_t *index, struct problem *problem)
{
    *index = -1;
    if (elements->fixed)
        return STATUS_OK;
    if (!has_dtype)
        dtype = found_dtype(elements);
    bool integer = dtype_category(dtype) == CATEGORY_INTEGER;
    if (integer && elements->seen_big) {
        *index = elements->big_index;
        return problem_set(
            problem, STATUS_VALUE,
            "The integer is outside the range of %s; for floats name a dtype.",
            dtype_name(dtype));
    }
    if (integer && elements->inexact)
        return problem_set(problem, STATUS_VALUE,
                           "The list mixes floats and integers beyond 2^53: name the "
                           "dtype before data.");
    if (elements->late_dtype && elements->count > 0)
        return convert_late(elements, dtype, index, problem);
    elements->stored = dtype; // it is already, unless there are no elements
    return STATUS_OK;
}
