// SPDX-License-Identifier: Apache-2.0
// What json.c (containers) and json_token.c (strings, numbers, words) share. Nobody else
// includes this.
#ifndef TENSORD_API_JSON_TOKEN_H
#define TENSORD_API_JSON_TOKEN_H

#include "api/json.h"

struct json_parser {
    struct json *json;
    char *at, *end;
    int depth, n_open;
    uint32_t open[JSON_MAX_DEPTH];
    struct problem *problem;
};

// STATUS_MALFORMED at a place.
enum status json_token_malformed(struct json_parser *parser, const char *at,
                                 const char *what);
// Appends a value that starts where the parser is. STATUS_LIMIT, OUT_OF_MEMORY.
enum status json_token_add(struct json_parser *parser, enum json_type type,
                           struct json_value **out);
static inline void json_token_skip_blanks(struct json_parser *parser)
{
    while (parser->at < parser->end && (*parser->at == ' ' || *parser->at == '\n' ||
                                        *parser->at == '\r' || *parser->at == '\t'))
        parser->at++;
}

// The token where the parser is: a string (on its quote), a number, or a word.
enum status json_token_string(struct json_parser *parser);
enum status json_token_number(struct json_parser *parser);
enum status json_token_literal(struct json_parser *parser);
#endif
