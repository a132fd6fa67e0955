// SPDX-License-Identifier: Apache-2.0
// The reader of request documents: JSON bodies that hold arguments, not data. One pass
// over the text fills a flat array of values; nothing is copied and, for the usual
// request, nothing is allocated. Strings are decoded where they stand. Containers below
// `depth` are left as they were written (`opaque`): inline tensors go to the data reader
// of formats/ and long lists of integers are walked when their parameter is known.
//
// Stricter than JSON: duplicate members and \u0000 are refused. Wider: NaN, Infinity and
// -Infinity are numbers, and integers have any length (formats/ converts them). No
// recursion; every size is bounded. One thread at a time.
#ifndef TENSORD_API_JSON_H
#define TENSORD_API_JSON_H

#include "kernels/base/dtype.h"
#include "kernels/base/problem.h"

enum json_type {
    JSON_NULL,
    JSON_FALSE,
    JSON_TRUE,
    JSON_NUMBER,
    JSON_STRING,
    JSON_ARRAY,
    JSON_OBJECT
};

enum {
    JSON_MAX_DEPTH = 8,      // containers that are opened
    JSON_MAX_VALUES = 65536, // values in all
    JSON_MAX_MEMBERS = 1024, // of one object
    JSON_FEW_VALUES = 24,    // without an allocation
};

struct json_value {
    enum json_type type;
    bool opaque;      // a container that was not opened
    uint32_t count;   // elements or members
    uint32_t next;    // the value after this one and all in it
    const char *text; // STRING: decoded and terminated. NUMBER, opaque: as written.
                      // Within the parsed text
    size_t length;
};

struct json {
    const char *text;
    size_t length;
    uint32_t count, capacity;
    struct json_value
        *values; // values[0] is the document; a member is its name, then its value
    struct json_value few[JSON_FEW_VALUES];
};

// Parses text, which is changed and must have one writable byte after its end. Containers
// at a nesting of more than depth (1 to JSON_MAX_DEPTH) stay opaque. STATUS_MALFORMED
// with line and column; STATUS_LIMIT. json_free in any case.
enum status json_parse(struct json *json, char *text, size_t length, int depth,
                       struct problem *problem);
void json_free(struct json *json);

// The first element (array) or name (object); NULL if empty.
static inline const struct json_value *json_first(const struct json_value *container)
{
    return container->count > 0 ? container + 1 : NULL;
}
// The value after value in its container; past the end if it was the last.
static inline const struct json_value *json_next(const struct json *json,
                                                 const struct json_value *value)
{
    return &json->values[value->next];
}
// Line and column (from 1, in characters) of a place in text.
void json_position(const char *text, const char *at, int64_t *line, int64_t *column);
bool json_is(const struct json_value *value, const char *string);
// The scalar of a NUMBER, TRUE or FALSE. STATUS_VALUE for integers beyond int64 and
// numbers beyond double; STATUS_TYPE for anything else.
enum status json_scalar(const struct json_value *value, struct scalar *out,
                        struct problem *problem);
#endif
