// SPDX-License-Identifier: Apache-2.0
// A growing piece of text and its appenders: how small answers are written by hand.
// Starts in memory of the caller's (a stack buffer), moves to the heap when that is full.
// Running out of memory is remembered in `failed`, so that callers check once at the end.
// One thread at a time.
#ifndef TENSORD_API_TEXT_H
#define TENSORD_API_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct text {
    char *data;
    size_t length, capacity;
    bool owned;  // data is on the heap
    bool failed; // memory ran out: the content is not whole
};

// Starts empty in buffer (may be NULL with size 0), which must outlive the text.
static inline void text_begin(struct text *text, char *buffer, size_t size)
{
    *text = (struct text){.data = buffer, .capacity = size};
}
void text_end(struct text *text);

// Makes room for more bytes; false when memory is out.
bool text_reserve(struct text *text, size_t more);
static inline void text_add(struct text *text, const char *bytes, size_t count)
{
    if (text->capacity - text->length < count && !text_reserve(text, count))
        return;
    if (count > 0)
        memcpy(text->data + text->length, bytes, count);
    text->length += count;
}
#define text_literal(text, literal) text_add(text, "" literal, sizeof literal - 1)
static inline void text_string(struct text *text, const char *string)
{
    text_add(text, string, strlen(string));
}
void text_integer(struct text *text, int64_t value);
// Lower-case hexadecimal without leading zeros.
void text_hex(struct text *text, uint64_t value);
// A duration in seconds with three decimals.
void text_seconds(struct text *text, double seconds);
static inline void text_boolean(struct text *text, bool value)
{
    text_string(text, value ? "true" : "false");
}
// A JSON string with its quotes. Bytes that are no UTF-8 become U+FFFD.
void text_quoted(struct text *text, const char *string, size_t length);
// "[2, 3]".
void text_integers(struct text *text, int count, const int64_t *values);
// "2026-01-31T12:00:00.000Z" with quotes (RFC 3339), from seconds since the epoch.
void text_time(struct text *text, double seconds);
// Percent-encodes everything but unreserved characters.
void text_url(struct text *text, const char *string);
// &, <, >, " escaped for HTML.
void text_html(struct text *text, const char *string);
#endif
