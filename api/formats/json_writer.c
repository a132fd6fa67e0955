// SPDX-License-Identifier: Apache-2.0
// The JSON value of a tensor, or its nested list alone: one innermost row a line, the
// shortest digits that come back as the same element. What JSON has no number for is a
// string: NaN, infinities, integers that a double does not hold. One thread at a time;
// nothing but the head is kept in memory.
#include "api/formats/writer.h"

#include <inttypes.h>
#include <stdio.h>

enum {
    ELEMENT_ROOM = PRINT_ROOM + 4, // quotes, digits and ", "
    ROW_ROOM = 2 * FORMAT_MAX_NDIM + ELEMENT_ROOM +
               4, // closing and opening brackets around a row's first
};
#define EXACT_INTEGER ((1LL << 53) - 1)

enum json_part { JSON_HEAD, JSON_ROW_BEGIN, JSON_ROW, JSON_TAIL, JSON_DONE };

struct json_writer {
    struct writer base;
    enum json_part part;
    // The list of lists ends at the first dimension of size 0: depth lists around rows of
    // `inner` elements.
    int depth;
    int64_t inner;
    int64_t outer[FORMAT_MAX_NDIM]; // index of the row in the depth - 1 outer dimensions
    int opening;                    // brackets before the next row
    int64_t position, row_end;      // elements
    size_t head_sent, head_length;
    char head[];
};

// ---- The head

// text as a JSON string; the characters written, at most 6 for each of length and 2
// quotes.
static size_t print_string(const char *text, char *out)
{
    char *p = out;
    *p++ = '"';
    for (; *text != '\0'; text++) {
        unsigned char c = (unsigned char)*text;
        if (c < 0x20) {
            p += snprintf(p, 7, "\\u%04x", c);
            continue;
        }
        if (c == '"' || c == '\\')
            *p++ = '\\';
        *p++ = (char)c;
    }
    *p++ = '"';
    return (size_t)(p - out);
}

static size_t print_text(const char *text, char *out)
{
    size_t length = strlen(text);
    memcpy(out, text, length);
    return length;
}

static size_t head_room(const struct writer_options *options)
{
    size_t name = options->name != NULL ? strlen(options->name) : 0;
    size_t device = options->device != NULL ? strlen(options->device) : 0;
    return 6 * (name + device) + 22 * FORMAT_MAX_NDIM + 128;
}

static void print_head(struct json_writer *json)
{
    const struct writer_options *options = &json->base.options;
    char *p = json->head;
    *p++ = '{';
    if (options->name != NULL) {
        p += print_text("\"name\": ", p);
        p += print_string(options->name, p);
        p += print_text(", ", p);
    }
    p += print_text("\"dtype\": ", p);
    p += print_string(dtype_name(options->dtype), p);
    p += print_text(", \"shape\": [", p);
    for (int i = 0; i < options->ndim; i++) {
        p += i > 0 ? print_text(", ", p) : 0;
        p += print_int64(options->shape[i], p);
    }
    *p++ = ']';
    if (options->device != NULL) {
        p += print_text(", \"device\": ", p);
        p += print_string(options->device, p);
    }
    p += print_text(", \"data\": ", p);
    json->head_length = (size_t)(p - json->head);
}

// ---- Rows

static size_t print_json_element(union element element, enum dtype dtype, char *p)
{
    size_t length = print_element_fast(element, dtype, p);
    // Floats have at least three characters ("0.0"), so p[1] has been written.
    bool word = dtype_is_float(dtype) && (p[0] == 'N' || p[0] == 'I' || p[1] == 'I');
    bool large = dtype == DTYPE_INT64 &&
                 (element.i64 > EXACT_INTEGER || element.i64 < -EXACT_INTEGER);
    if (!word && !large)
        return length;
    memmove(p + 1, p, length);
    p[0] = p[length + 1] = '"';
    return length + 2;
}

// Elements of the row while there is room for one; true at the end of the row.
static bool print_row(struct json_writer *json, char **p, const char *end)
{
    const enum dtype dtype = json->base.options.dtype;
    char *at = *p;
    int64_t i = json->position;
    for (; i < json->row_end && end - at >= ELEMENT_ROOM; i++) {
        at += print_json_element(writer_element(&json->base, i), dtype, at);
        if (i + 1 < json->row_end) {
            memcpy(at, ", ", 2);
            at += 2;
        }
    }
    json->position = i;
    *p = at;
    return i == json->row_end;
}

// Steps to the next row; the number of lists that end before it, all of them at the end.
static int next_row(struct json_writer *json)
{
    int closing = 1;
    for (int i = json->depth - 2; i >= 0; i--, closing++) {
        if (++json->outer[i] < json->base.options.shape[i])
            return closing;
        json->outer[i] = 0;
    }
    return json->depth;
}

static void end_row(struct json_writer *json, char **p)
{
    int closing = json->depth > 0 ? next_row(json) : 0;
    memset(*p, ']', (size_t)closing);
    *p += closing;
    if (closing == json->depth) {
        json->part = JSON_TAIL;
        return;
    }
    memcpy(*p, ",\n", 2);
    *p += 2;
    json->opening = closing;
    json->part = JSON_ROW_BEGIN;
}

static void begin_row(struct json_writer *json, char **p)
{
    memset(*p, '[', (size_t)json->opening);
    *p += json->opening;
    json->row_end = json->position + json->inner;
    json->part = JSON_ROW;
}

static void send_head(struct json_writer *json, char **p, const char *end)
{
    size_t part = json->head_length - json->head_sent;
    if (part > (size_t)(end - *p))
        part = (size_t)(end - *p);
    memcpy(*p, json->head + json->head_sent, part);
    *p += part;
    json->head_sent += part;
    if (json->head_sent == json->head_length)
        json->part = JSON_ROW_BEGIN;
}

static size_t json_next(struct writer *writer, char *buffer, size_t size)
{
    struct json_writer *json = (struct json_writer *)writer;
    char *p = buffer;
    const char *end = buffer + size;
    if (json->part == JSON_HEAD)
        send_head(json, &p, end);
    while (end - p >= ROW_ROOM && json->part > JSON_HEAD && json->part < JSON_TAIL) {
        if (json->part == JSON_ROW_BEGIN)
            begin_row(json, &p);
        if (print_row(json, &p, end) && end - p >= ROW_ROOM)
            end_row(json, &p);
    }
    if (json->part == JSON_TAIL && end - p >= ROW_ROOM) {
        if (!writer->options.bare)
            p += print_text("}\n", p);
        json->part = JSON_DONE;
    }
    return (size_t)(p - buffer);
}

static const struct writer_vtable json_writer_vtable = {json_next};

enum status json_writer_open(const struct writer_options *options, struct writer **out,
                             struct problem *problem)
{
    int depth = 0;
    int64_t count, rows = 1;
    while (depth < options->ndim && options->shape[depth] > 0)
        depth++;
    depth += depth < options->ndim; // the dimension of size 0 is still a list
    *out = NULL;
    if (!size_of_shape(options->ndim, options->shape, &count) ||
        !size_of_shape(depth > 0 ? depth - 1 : 0, options->shape, &rows))
        return problem_set(problem, STATUS_SHAPE, "The shape has too many elements.");
    enum status status = writer_check_rows(count, rows, problem);
    if (status != STATUS_OK)
        return status;
    status = writer_allocate(sizeof(struct json_writer) + head_room(options),
                             &json_writer_vtable, options, out, problem);
    if (status != STATUS_OK)
        return status;
    struct json_writer *json = (struct json_writer *)*out;
    json->depth = json->opening = depth;
    json->inner = depth > 0 ? options->shape[depth - 1] : 1;
    if (options->bare)
        json->part = JSON_ROW_BEGIN;
    else
        print_head(json);
    return STATUS_OK;
}
