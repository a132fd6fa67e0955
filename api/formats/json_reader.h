// SPDX-License-Identifier: Apache-2.0
// The JSON reader's parts, in the order in which a byte passes them:
//
//   json_reader.c  cuts the pieces of the body into tokens; numbers of a list take a
//   short road from there json_parser.c  the grammar: which token may come now, and whose
//   value it is (members of the object) json_data.c    the nested list: its shape, and
//   what its elements may be; elements.c stores them json_string.c  strings: escapes,
//   UTF-8
//
// Nothing recurses: open lists and objects are counted and kept as bits. The formats' own
// header.
#ifndef TENSORD_API_FORMATS_JSON_READER_H
#define TENSORD_API_FORMATS_JSON_READER_H

#include "api/formats/elements.h"
#include "api/formats/position.h"
#include "api/formats/reader.h"

enum {
    JSON_MAX_TOKEN =
        NUMBER_MAX_LENGTH, // bytes of a string with its quotes, of a number or word
    JSON_MAX_DEPTH = FORMAT_MAX_NDIM + 1,
};

// What a token is; the punctuation is its own kind.
enum json_token { JSON_STRING = '"', JSON_NUMBER = '0', JSON_WORD = 'a' };

enum json_state {
    JSON_VALUE,          // a value must follow
    JSON_VALUE_OR_CLOSE, // right after [
    JSON_COMMA_OR_CLOSE, // right after a value
    JSON_KEY,
    JSON_KEY_OR_CLOSE, // right after {
    JSON_COLON,
    JSON_END,
};

enum json_role { ROLE_DATA, ROLE_DTYPE, ROLE_SHAPE, ROLE_DEVICE, ROLE_IGNORED };

// The nested list of elements.
struct json_data {
    struct elements elements;
    bool in_object;                  // pointers begin with /data
    int depth;                       // open lists
    int ndim;                        // -1 until the first element or the first ]
    int64_t counts[FORMAT_MAX_NDIM]; // of each open list: items that are complete
    int64_t sizes[FORMAT_MAX_NDIM];  // of the lists of each depth, -1 until the first is
                                     // complete
};

struct json_reader {
    struct reader base;
    // The grammar
    enum json_state state;
    int depth;           // open lists and objects
    uint64_t objects;    // bit i: the i-th of them is an object
    enum json_role role; // of the value being read
    unsigned seen;       // members of the object so far
    // Found in members
    bool has_dtype, has_shape, has_device;
    enum dtype dtype;
    int ndim;
    int64_t shape[FORMAT_MAX_NDIM];
    char device[16];
    struct json_data data;
    // A token cut by the end of a piece
    struct position position; // of the next piece
    struct position carry_position;
    size_t carry_length;
    bool carry_escaped; // the last byte is an open backslash in a string
    char carry[JSON_MAX_TOKEN];
};

// json_parser.c. Token is one of [ ] { } , : or an enum json_token; text is the token
// itself.
enum status json_parser_token(struct json_reader *json, int token, const char *text,
                              size_t length, struct problem *problem);
// The end of the body after a complete value: puts together what the members said.
enum status json_parser_result(struct json_reader *json, struct reader_result *result,
                               struct problem *problem);

// json_data.c
void json_data_open(struct json_data *data, const struct reader_memory *memory,
                    int64_t length);
enum status json_data_open_list(struct json_data *data, struct problem *problem);
enum status json_data_close_list(struct json_data *data, struct problem *problem);
// A string, number or word in the list (or instead of it).
enum status json_data_scalar(struct json_data *data, int token, const char *text,
                             size_t length, struct problem *problem);
// Says in problem which element is being read.
void json_data_point(const struct json_data *data, struct problem *problem);
// The same for the element at index in C order, once the list is complete.
void json_data_point_index(const struct json_data *data, int64_t index,
                           struct problem *problem);

// json_string.c. text has its quotes; out has room for length bytes. STATUS_MALFORMED for
// unknown escapes, control characters, lone surrogates and what is not UTF-8.
enum status json_string_decode(const char *text, size_t length, char *out,
                               size_t *out_length, struct problem *problem);
// Whether text is one of the words NaN, Infinity, -Infinity, and which value it means.
bool json_special(const char *text, size_t length, double *value);
#endif
