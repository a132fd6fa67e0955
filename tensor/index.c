// SPDX-License-Identifier: Apache-2.0
// Index expressions: "0:2,:,-1", "...", "None", "::2", as Python and torch read them
// between brackets.
//
//   index  = item {"," item} [","]
//   item   = integer | [integer] ":" [integer] [":" [integer]] | "..." | "None"
//
// Spaces may stand between tokens. The text is read twice: once for its grammar and to
// count what "..." stands for, then to apply it, so that a malformed text is reported as
// such whatever the shape. Numbers of any length are read; beyond int64 they saturate,
// which is the same for clamping and for range checks.
#include <inttypes.h>
#include <string.h>

#include "tensor/shape.h"

enum item_kind { ITEM_INTEGER, ITEM_SLICE, ITEM_ELLIPSIS, ITEM_NONE };

struct number {
    bool given;
    int64_t value;
    const char *text; // the token, for messages
    int length;
};

struct item {
    enum item_kind kind;
    struct number parts[3]; // INTEGER: [0]; SLICE: start, stop, step
};

struct cursor {
    const char *text;
    size_t length, at;
};

static enum status malformed(const struct cursor *cursor, const char *expected,
                             struct problem *problem)
{
    int64_t column = 1;
    for (size_t i = 0; i < cursor->at; i++)
        column += ((unsigned char)cursor->text[i] & 0xC0) != 0x80;
    problem_set(problem, STATUS_MALFORMED,
                "the index is not understood at column %" PRId64
                ": expected %s. An index is written like 0:2,:,-1",
                column, expected);
    problem->line = 1;
    problem->column = column;
    return STATUS_MALFORMED;
}

static void skip_spaces(struct cursor *cursor)
{
    while (cursor->at < cursor->length &&
           (cursor->text[cursor->at] == ' ' || cursor->text[cursor->at] == '\t'))
        cursor->at++;
}

// Whether word comes next; takes it and the spaces after it.
static bool take(struct cursor *cursor, const char *word)
{
    size_t count = strlen(word);
    if (cursor->length - cursor->at < count ||
        memcmp(cursor->text + cursor->at, word, count) != 0)
        return false;
    cursor->at += count;
    skip_spaces(cursor);
    return true;
}

static bool digit_at(const struct cursor *cursor)
{
    return cursor->at < cursor->length && cursor->text[cursor->at] >= '0' &&
           cursor->text[cursor->at] <= '9';
}

// An optional integer: sign, digits. As in Python, only zero may begin with 0.
static enum status take_number(struct cursor *cursor, struct number *out,
                               struct problem *problem)
{
    size_t start = cursor->at;
    bool negative = take(cursor, "-");
    bool sign = negative || take(cursor, "+");
    *out = (struct number){.text = cursor->text + start};
    if (!digit_at(cursor))
        return sign ? malformed(cursor, "digits after the sign", problem) : STATUS_OK;
    bool leading_zero = cursor->text[cursor->at] == '0';
    int64_t value = 0; // negative, which reaches one further
    for (; digit_at(cursor); cursor->at++) {
        int digit = cursor->text[cursor->at] - '0';
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_sub_overflow(value, digit, &value))
            value = INT64_MIN;
        if (value == INT64_MIN)
            break;
    }
    while (digit_at(cursor))
        cursor->at++;
    if (leading_zero && value != 0)
        return malformed(cursor, "a number without leading zeros", problem);
    out->given = true;
    out->value = negative ? value : value == INT64_MIN ? INT64_MAX : -value;
    out->length = (int)(cursor->at - start > 24 ? 24 : cursor->at - start);
    skip_spaces(cursor);
    return STATUS_OK;
}

static enum status take_item(struct cursor *cursor, struct item *item,
                             struct problem *problem)
{
    memset(item, 0, sizeof *item);
    item->kind = ITEM_ELLIPSIS;
    if (take(cursor, "..."))
        return STATUS_OK;
    item->kind = ITEM_NONE;
    if (take(cursor, "None"))
        return STATUS_OK;
    size_t start = cursor->at;
    item->kind = ITEM_INTEGER;
    enum status status = take_number(cursor, &item->parts[0], problem);
    for (int i = 1; i < 3 && status == STATUS_OK && take(cursor, ":"); i++) {
        item->kind = ITEM_SLICE;
        status = take_number(cursor, &item->parts[i], problem);
    }
    if (status == STATUS_OK && cursor->at == start)
        return malformed(cursor, "a number, a slice, ... or None", problem);
    return status;
}

// Takes the comma after an item; false at the end of the text.
static enum status take_comma(struct cursor *cursor, bool *more, struct problem *problem)
{
    *more = false;
    if (cursor->at == cursor->length)
        return STATUS_OK;
    if (!take(cursor, ","))
        return malformed(cursor, "a comma or the end", problem);
    *more = cursor->at < cursor->length;
    return STATUS_OK;
}

struct census {
    int64_t consuming, removed, added; // integers and slices; integers; None
    bool ellipsis;
};

static enum status count_items(const char *text, size_t length, struct census *census,
                               struct problem *problem)
{
    struct cursor cursor = {text, length, 0};
    struct item item;
    bool more = true;
    *census = (struct census){0};
    skip_spaces(&cursor);
    while (more) {
        size_t start = cursor.at;
        enum status status = take_item(&cursor, &item, problem);
        if (status == STATUS_OK && item.kind == ITEM_ELLIPSIS && census->ellipsis) {
            cursor.at = start;
            return malformed(&cursor, "no second ...", problem);
        }
        if (status == STATUS_OK)
            status = take_comma(&cursor, &more, problem);
        if (status != STATUS_OK)
            return status;
        census->ellipsis |= item.kind == ITEM_ELLIPSIS;
        census->added += item.kind == ITEM_NONE;
        census->removed += item.kind == ITEM_INTEGER;
        census->consuming += item.kind == ITEM_INTEGER || item.kind == ITEM_SLICE;
    }
    return STATUS_OK;
}

// What has been applied so far.
struct application {
    const struct layout *in;
    int dimension; // the next one of in
    struct layout out;
    int64_t offset;
};

static void add_dimension(struct application *state, int64_t size, int64_t stride)
{
    state->out.shape[state->out.ndim] = size;
    state->out.strides[state->out.ndim++] = stride;
}

static void keep_dimensions(struct application *state, int count)
{
    for (; count > 0; count--, state->dimension++)
        add_dimension(state, state->in->shape[state->dimension],
                      state->in->strides[state->dimension]);
}

static enum status apply_integer(struct application *state, const struct number *number,
                                 struct problem *problem)
{
    int64_t size = state->in->shape[state->dimension];
    if (number->value < -size || number->value >= size)
        return problem_set(
            problem, STATUS_INDEX,
            "index %.*s is out of bounds for dimension %d with size %" PRId64,
            number->length, number->text, state->dimension, size);
    int64_t index = number->value < 0 ? number->value + size : number->value;
    state->offset += index * state->in->strides[state->dimension++];
    return STATUS_OK;
}

// A bound of a slice: the default if absent, counted from the end if negative, clamped to
// [0, size].
static int64_t clamp_bound(const struct number *number, int64_t absent, int64_t size)
{
    if (!number->given)
        return absent;
    int64_t value = number->value < 0 ? number->value + size : number->value;
    return value < 0 ? 0 : value > size ? size : value;
}

static enum status apply_slice(struct application *state, const struct number *parts,
                               struct problem *problem)
{
    int64_t size = state->in->shape[state->dimension];
    int64_t stride = state->in->strides[state->dimension];
    int64_t start = clamp_bound(&parts[0], 0, size),
            stop = clamp_bound(&parts[1], size, size);
    int64_t step = parts[2].given ? parts[2].value : 1;
    if (step <= 0)
        return problem_set(
            problem, STATUS_VALUE,
            "the step of dimension %d is %.*s: it must be greater than zero",
            state->dimension, parts[2].length, parts[2].text);
    int64_t count = stop > start ? (stop - start - 1) / step + 1 : 0, between;
    // Where only one element is left the stride is never used. It is torch's, unless that
    // could overflow in bytes.
    if (__builtin_mul_overflow(stride, step, &between) || between > INT64_MAX / 16)
        between = stride;
    if (count > 0)
        state->offset += start * stride;
    add_dimension(state, count, between);
    state->dimension++;
    return STATUS_OK;
}

static enum status apply_item(struct application *state, const struct item *item,
                              int ellipsis, struct problem *problem)
{
    switch (item->kind) {
    case ITEM_INTEGER:
        return apply_integer(state, &item->parts[0], problem);
    case ITEM_SLICE:
        return apply_slice(state, item->parts, problem);
    case ITEM_ELLIPSIS:
        keep_dimensions(state, ellipsis);
        return STATUS_OK;
    case ITEM_NONE:
        // torch's unsqueeze: the stride is the extent of the dimension that follows.
        add_dimension(state, 1,
                      state->dimension < state->in->ndim
                          ? state->in->shape[state->dimension] *
                                state->in->strides[state->dimension]
                          : 1);
        return STATUS_OK;
    }
    return STATUS_OK;
}

enum status index_apply(const char *text, size_t length, const struct layout *in,
                        struct layout *out, int64_t *offset, struct problem *problem)
{
    struct census census;
    enum status status = count_items(text, length, &census, problem);
    if (status != STATUS_OK)
        return status;
    if (census.consuming > in->ndim) {
        problem_set(problem, STATUS_INDEX,
                    "%" PRId64 " indices for a tensor of %d dimensions", census.consuming,
                    in->ndim);
        shape_text(in->ndim, in->shape, problem->shapes, sizeof problem->shapes);
        return STATUS_INDEX;
    }
    if (in->ndim - census.removed + census.added > TENSOR_MAX_NDIM)
        return problem_set(problem, STATUS_LIMIT,
                           "the index makes more than %d dimensions", TENSOR_MAX_NDIM);
    struct application state = {.in = in};
    struct cursor cursor = {text, length, 0};
    struct item item;
    bool more = true;
    skip_spaces(&cursor);
    while (more && status == STATUS_OK) {
        take_item(&cursor, &item, problem);
        take_comma(&cursor, &more, problem);
        status = apply_item(&state, &item, in->ndim - (int)census.consuming, problem);
    }
    if (status != STATUS_OK)
        return status;
    keep_dimensions(&state, in->ndim - state.dimension);
    bool empty = false;
    for (int i = 0; i < state.out.ndim; i++)
        empty |= state.out.shape[i] == 0;
    *offset = empty ? 0 : state.offset;
    layout_copy(out, &state.out);
    return STATUS_OK;
}
