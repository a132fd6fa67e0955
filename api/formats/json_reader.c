// SPDX-License-Identifier: Apache-2.0
// JSON bodies, in pieces cut anywhere. A token that a piece's end cuts is carried over;
// numbers in a list go straight from the piece to their place. jansson is not used: it
// would take 40 bytes and 200 ns an element. One thread at a time.
#include "api/formats/json_reader.h"

static bool is_blank(char c)
{
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

// What numbers and words consist of; what is wrong among them is found when the token is
// whole.
static bool is_word_character(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' ||
           c == '+' || c == '.' || c == '_';
}

static int word_kind(const char *text, size_t length)
{
    bool number = is_digit(text[0]) || (text[0] == '-' && (length < 2 || text[1] != 'I'));
    return number || text[0] == '+' || text[0] == '.' ? JSON_NUMBER : JSON_WORD;
}

static enum status token_too_long(struct problem *problem)
{
    return problem_set(problem, STATUS_LIMIT,
                       "A string or number has more than %d bytes.", JSON_MAX_TOKEN);
}

static enum status bad_character(const struct json_reader *json, char c,
                                 struct problem *problem)
{
    if (json->state == JSON_VALUE && json->depth == 0 && json->base.fed == 0 &&
        (unsigned char)c == 0xEF)
        return problem_set(
            problem, STATUS_MALFORMED,
            "The body begins with a byte order mark; save it as UTF-8 without one.");
    if (c > ' ' && c <= '~')
        return problem_set(problem, STATUS_MALFORMED,
                           "This is not JSON: '%c' stands outside a string.", c);
    return problem_set(
        problem, STATUS_MALFORMED,
        "This is not JSON: byte 0x%02X stands outside a string. The body must be UTF-8.",
        (unsigned char)c);
}

// ---- Tokens

// The end of the string that begins at p, past its quote; end if it is not there.
// *escaped: see json_reader.
static const char *string_end(const char *p, const char *end, bool *escaped)
{
    for (; p < end; p++) {
        if (*escaped)
            *escaped = false;
        else if (*p == '\\')
            *escaped = true;
        else if (*p == '"')
            return p + 1;
    }
    return NULL;
}

static const char *word_end(const char *p, const char *end)
{
    while (p < end && is_word_character(*p))
        p++;
    return p < end ? p : NULL;
}

// Keeps what there is of a token until the next piece comes.
static enum status carry_over(struct json_reader *json, const char *p, const char *end,
                              struct problem *problem)
{
    size_t length = (size_t)(end - p);
    if (length > JSON_MAX_TOKEN - json->carry_length)
        return token_too_long(problem);
    memcpy(json->carry + json->carry_length, p, length);
    json->carry_length += length;
    return STATUS_OK;
}

static enum status carried_token(struct json_reader *json, struct problem *problem)
{
    size_t length = json->carry_length;
    int kind = json->carry[0] == '"' ? JSON_STRING : word_kind(json->carry, length);
    json->carry_length = 0;
    enum status status = json_parser_token(json, kind, json->carry, length, problem);
    if (status != STATUS_OK) {
        problem->line = json->carry_position.line;
        problem->column = json->carry_position.column;
    }
    return status;
}

// Completes the carried token from the new piece; *p moves past it.
static enum status continue_carry(struct json_reader *json, const char **p,
                                  const char *end, struct problem *problem)
{
    bool string = json->carry[0] == '"';
    const char *stop =
        string ? string_end(*p, end, &json->carry_escaped) : word_end(*p, end);
    enum status status = carry_over(json, *p, stop == NULL ? end : stop, problem);
    if (status != STATUS_OK) {
        problem->line = json->carry_position.line;
        problem->column = json->carry_position.column;
        return status;
    }
    *p = stop == NULL ? end : stop;
    return stop == NULL ? STATUS_OK : carried_token(json, problem);
}

// The string, number or word at *p.
static enum status long_token(struct json_reader *json, const char *piece, const char **p,
                              const char *end, struct problem *problem)
{
    const char *start = *p, *stop;
    bool string = *start == '"';
    json->carry_escaped = false;
    stop =
        string ? string_end(start + 1, end, &json->carry_escaped) : word_end(start, end);
    if (stop == start)
        return bad_character(json, *start, problem);
    if (stop == NULL) {
        json->carry_position = json->position;
        position_advance(&json->carry_position, piece, (size_t)(start - piece));
        enum status status = carry_over(json, start, end, problem);
        *p = status == STATUS_OK ? end : start;
        return status;
    }
    size_t length = (size_t)(stop - start);
    if (length > JSON_MAX_TOKEN)
        return token_too_long(problem);
    int kind = string ? JSON_STRING : word_kind(start, length);
    enum status status = json_parser_token(json, kind, start, length, problem);
    *p = status == STATUS_OK ? stop : start;
    return status;
}

// ---- The short road: numbers of an innermost list, one after the other

static bool is_in_row(const struct json_reader *json)
{
    const struct json_data *data = &json->data;
    return json->role == ROLE_DATA &&
           (json->state == JSON_VALUE || json->state == JSON_VALUE_OR_CLOSE) &&
           data->depth > 0 && data->depth == data->ndim;
}

// A number at *p that a comma or the end of the list follows; *p moves to that. False,
// and *p unchanged, for whatever is less simple or cut by the end of the piece: it is
// left to the grammar.
static inline bool scan_item(const char **p, const char *end, const char **text,
                             struct decimal *decimal)
{
    const char *start = *p;
    while (start < end && is_blank(*start))
        start++;
    size_t length = decimal_scan(start, (size_t)(end - start), decimal);
    const char *stop = start + length;
    if (length == 0 || length > JSON_MAX_TOKEN || stop >= end ||
        (*stop != ',' && *stop != ']'))
        return false;
    *text = start;
    *p = stop;
    return true;
}

// Takes float32 numbers and the commas behind them as long as there is room and nothing
// is unusual.
static const char *take_floats(struct elements *elements, const char *p, const char *end)
{
    float *out = (float *)elements->data + elements->count;
    const float *full = (float *)elements->data + elements->capacity;
    const char *text, *next = p;
    struct decimal decimal;
    while (out < full && scan_item(&next, end, &text, &decimal) && *next == ',' &&
           (elements->fixed || !decimal.integer) &&
           decimal_to_float32_fast(&decimal, out)) {
        out++;
        p = ++next;
    }
    elements->count = out - (float *)elements->data;
    return p;
}

// The same for int64.
static const char *take_integers(struct elements *elements, const char *p,
                                 const char *end)
{
    int64_t *out = (int64_t *)elements->data + elements->count;
    const int64_t *full = (int64_t *)elements->data + elements->capacity;
    const char *text, *next = p;
    struct decimal decimal;
    while (out < full && scan_item(&next, end, &text, &decimal) && *next == ',' &&
           decimal.integer && decimal_to_int64(&decimal, out)) {
        out++;
        p = ++next;
    }
    int64_t count = out - (int64_t *)elements->data;
    elements->seen_number |= count > elements->count;
    elements->count = count;
    return p;
}

// Takes numbers of an innermost list from *p on; *p moves past them.
static enum status take_row(struct json_reader *json, const char *piece, const char **p,
                            const char *end, struct problem *problem)
{
    struct json_data *data = &json->data;
    struct elements *elements = &data->elements;
    const char *text;
    struct decimal decimal;
    for (;;) {
        int64_t before = elements->count;
        if (elements->stored == DTYPE_FLOAT32 && elements->count < elements->capacity)
            *p = take_floats(elements, *p, end);
        else if (elements->stored == DTYPE_INT64 && elements->count < elements->capacity)
            *p = take_integers(elements, *p, end);
        data->counts[data->depth - 1] += elements->count - before;
        json->state = elements->count > before ? JSON_VALUE : json->state;
        if (!scan_item(p, end, &text, &decimal))
            return STATUS_OK;
        elements->body_read = json->base.fed + (text - piece);
        enum status status =
            elements_add_decimal(elements, &decimal, text, (size_t)(*p - text), problem);
        if (status != STATUS_OK) {
            json_data_point(data, problem);
            *p = text;
            return status;
        }
        data->counts[data->depth - 1]++;
        if (**p == ']') {
            json->state = JSON_COMMA_OR_CLOSE;
            return STATUS_OK;
        }
        json->state = JSON_VALUE;
        ++*p;
    }
}

// ---- The reader

static enum status next_token(struct json_reader *json, const char *piece, const char **p,
                              const char *end, struct problem *problem)
{
    enum status status = STATUS_OK;
    if (is_in_row(json)) {
        status = take_row(json, piece, p, end, problem);
        if (status != STATUS_OK)
            return status;
    }
    while (*p < end && is_blank(**p))
        ++*p;
    if (*p == end)
        return STATUS_OK;
    json->data.elements.body_read = json->base.fed + (*p - piece);
    if (memchr("[]{},:", **p, 6) == NULL)
        return long_token(json, piece, p, end, problem);
    status = json_parser_token(json, **p, *p, 1, problem);
    *p += status == STATUS_OK;
    return status;
}

static enum status json_feed(struct reader *reader, const char *bytes, size_t count,
                             struct problem *problem)
{
    struct json_reader *json = (struct json_reader *)reader;
    const char *p = bytes, *end = bytes + count;
    if (json->carry_length > 0) {
        enum status status = continue_carry(json, &p, end, problem);
        if (status != STATUS_OK)
            return status;
    }
    while (p < end) {
        enum status status = next_token(json, bytes, &p, end, problem);
        if (status != STATUS_OK) {
            position_report(json->position, bytes, p, problem);
            return status;
        }
    }
    position_advance(&json->position, bytes, count);
    return STATUS_OK;
}

static enum status json_finish(struct reader *reader, struct reader_result *result,
                               struct problem *problem)
{
    struct json_reader *json = (struct json_reader *)reader;
    if (json->carry_length > 0 && json->carry[0] != '"') {
        enum status status = carried_token(json, problem);
        if (status != STATUS_OK)
            return status;
    }
    if (json->state != JSON_END || json->carry_length > 0) {
        problem_set(problem, STATUS_MALFORMED,
                    reader->fed == 0 ? "The body is empty; a JSON value is expected."
                                     : "The JSON ends in the middle of a value.");
        problem->line = json->position.line;
        problem->column = json->position.column;
        return problem->status;
    }
    return json_parser_result(json, result, problem);
}

static const struct reader_vtable json_reader_vtable = {json_feed, json_finish};

enum status json_reader_open(const struct reader_options *options,
                             const struct reader_memory *memory, struct reader **out,
                             struct problem *problem)
{
    *out = reader_allocate(sizeof(struct json_reader), &json_reader_vtable, options,
                           memory, problem);
    if (*out == NULL)
        return problem->status;
    struct json_reader *json = (struct json_reader *)*out;
    json->position = (struct position){1, 1};
    json->role = ROLE_DATA;
    json_data_open(&json->data, memory, options->length);
    return STATUS_OK;
}
