// SPDX-License-Identifier: Apache-2.0
// One pass over a request document (json.h). The open containers stand on a small stack;
// a container that is too deep is skipped by counting brackets outside strings.
#include "api/json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api/formats/format.h"
#include "api/json_token.h"

// ---- Containers

// A container that stays as it is: to the bracket that closes it. Its inside is checked
// by whoever reads it.
static enum status skip_container(struct json_parser *parser)
{
    struct json_value *value;
    char *start = parser->at, *c = start;
    enum status status =
        json_token_add(parser, *c == '[' ? JSON_ARRAY : JSON_OBJECT, &value);
    if (status != STATUS_OK)
        return status;
    int64_t level = 0;
    bool quoted = false;
    for (; c < parser->end; c++) {
        if (quoted) {
            if (*c == '\\' && c + 1 < parser->end)
                c++;
            else if (*c == '"')
                quoted = false;
        } else if (*c == '"') {
            quoted = true;
        } else if (*c == '[' || *c == '{') {
            level++;
        } else if ((*c == ']' || *c == '}') && --level == 0) {
            break;
        }
    }
    if (c == parser->end)
        return json_token_malformed(parser, start,
                                    "the bracket that closes this one is missing");
    parser->at = c + 1;
    value->opaque = true;
    value->length = (size_t)(parser->at - start);
    return STATUS_OK;
}

static enum status open_container(struct json_parser *parser)
{
    if (parser->n_open == parser->depth)
        return skip_container(parser);
    struct json_value *value;
    enum status status =
        json_token_add(parser, *parser->at == '[' ? JSON_ARRAY : JSON_OBJECT, &value);
    if (status != STATUS_OK)
        return status;
    parser->open[parser->n_open++] = parser->json->count - 1;
    parser->at++;
    return STATUS_OK;
}

// Refuses the member whose name was read last if its object has it already.
static enum status check_duplicate(struct json_parser *parser, struct json_value *object,
                                   const char *at)
{
    const struct json *json = parser->json;
    const struct json_value *name = &json->values[json->count - 1];
    const struct json_value *other = object + 1;
    for (uint32_t i = 0; i < object->count; i++) {
        if (other->length == name->length &&
            memcmp(other->text, name->text, name->length) == 0)
            return json_token_malformed(parser, at, "this member is there already");
        other = json_next(json, &json->values[other->next]);
    }
    if (object->count == JSON_MAX_MEMBERS)
        return problem_set(parser->problem, STATUS_LIMIT,
                           "An object has more than %d members.", JSON_MAX_MEMBERS);
    return STATUS_OK;
}

// A member's name and its colon.
static enum status read_name(struct json_parser *parser)
{
    char *at = parser->at;
    if (at == parser->end || *at != '"')
        return json_token_malformed(parser, at,
                                    "a member's name in quotes is missing here");
    enum status status = json_token_string(parser);
    if (status != STATUS_OK)
        return status;
    uint32_t top = parser->open[parser->n_open - 1];
    if ((status = check_duplicate(parser, &parser->json->values[top], at)) != STATUS_OK)
        return status;
    json_token_skip_blanks(parser);
    if (parser->at == parser->end || *parser->at != ':')
        return json_token_malformed(parser, parser->at, "a colon is missing here");
    parser->at++;
    json_token_skip_blanks(parser);
    return STATUS_OK;
}

static enum status read_value(struct json_parser *parser)
{
    char c = parser->at < parser->end ? *parser->at : '\0';
    if (c == '"')
        return json_token_string(parser);
    if (c == '[' || c == '{')
        return open_container(parser);
    if (c == '-' || (c >= '0' && c <= '9') || c == 'N' || c == 'I')
        return json_token_number(parser);
    return json_token_literal(parser);
}

// Behind a complete value: closes containers, up to the comma before the next value or
// the end. *more: a value follows.
static enum status after_value(struct json_parser *parser, bool *more)
{
    struct json *json = parser->json;
    for (;;) {
        json_token_skip_blanks(parser);
        if (parser->n_open == 0) {
            *more = false;
            return parser->at == parser->end
                       ? STATUS_OK
                       : json_token_malformed(parser, parser->at,
                                              "something follows the end of the value");
        }
        struct json_value *top = &json->values[parser->open[parser->n_open - 1]];
        char c = parser->at < parser->end ? *parser->at : '\0';
        top->count++;
        if (c == ',') {
            parser->at++;
            json_token_skip_blanks(parser);
            *more = true;
            return STATUS_OK;
        }
        if (c != (top->type == JSON_ARRAY ? ']' : '}'))
            return json_token_malformed(parser, parser->at,
                                        top->type == JSON_ARRAY
                                            ? "a comma or ] is missing here"
                                            : "a comma or } is missing here");
        parser->at++;
        top->next = json->count;
        parser->n_open--;
    }
}

// An empty container that was just opened is closed and counts as a complete value.
static bool close_empty(struct json_parser *parser)
{
    struct json_value *top = &parser->json->values[parser->open[parser->n_open - 1]];
    json_token_skip_blanks(parser);
    if (parser->at == parser->end || *parser->at != (top->type == JSON_ARRAY ? ']' : '}'))
        return false;
    parser->at++;
    top->next = parser->json->count;
    parser->n_open--;
    return true;
}

enum status json_parse(struct json *json, char *text, size_t length, int depth,
                       struct problem *problem)
{
    struct json_parser parser = {.json = json,
                                 .at = text,
                                 .end = text + length,
                                 .depth = depth,
                                 .problem = problem};
    json->text = text;
    json->length = length;
    json->count = 0;
    json->capacity = JSON_FEW_VALUES;
    json->values = json->few;
    json_token_skip_blanks(&parser);
    if (parser.at == parser.end)
        return json_token_malformed(&parser, parser.at, "it is empty");
    for (bool more = true; more;) {
        enum status status = STATUS_OK;
        int n_open = parser.n_open;
        if (n_open > 0 && json->values[parser.open[n_open - 1]].type == JSON_OBJECT)
            status = read_name(&parser);
        if (status == STATUS_OK)
            status = read_value(&parser);
        if (status != STATUS_OK)
            return status;
        if (parser.n_open > n_open && !close_empty(&parser))
            continue; // inside the new container
        if ((status = after_value(&parser, &more)) != STATUS_OK)
            return status;
    }
    return STATUS_OK;
}

void json_free(struct json *json)
{
    if (json->values != json->few)
        free(json->values);
    json->values = json->few;
    json->count = 0;
}

bool json_is(const struct json_value *value, const char *string)
{
    size_t length = strlen(string);
    return value->length == length && memcmp(value->text, string, length) == 0;
}

enum status json_scalar(const struct json_value *value, struct scalar *out,
                        struct problem *problem)
{
    if (value->type == JSON_TRUE || value->type == JSON_FALSE) {
        *out = (struct scalar){.kind = SCALAR_BOOL, .i = value->type == JSON_TRUE};
        return STATUS_OK;
    }
    if (value->type != JSON_NUMBER)
        return problem_set(problem, STATUS_TYPE, "A number was expected.");
    bool is_big;
    size_t used = parse_number(value->text, value->length, out, &is_big);
    int shown = value->length > 40 ? 40 : (int)value->length;
    if (used != value->length)
        return problem_set(problem, STATUS_MALFORMED, "%.*s is no number.", shown,
                           value->text);
    if (is_big)
        return problem_set(problem, STATUS_VALUE,
                           "The integer %.*s%s does not fit 64 bits.", shown, value->text,
                           value->length > 40 ? "..." : "");
    char first = value->text[value->text[0] == '-'];
    if (out->kind == SCALAR_FLOAT && isinf(out->f) && first != 'I')
        return problem_set(problem, STATUS_VALUE,
                           "The number %.*s is beyond the range of float64.", shown,
                           value->text);
    return STATUS_OK;
}
