// SPDX-License-Identifier: Apache-2.0
// JSON's grammar as a table of states, and the members of the object that a tensor is
// written as. One thread at a time (the reader's).
#include "api/formats/json_reader.h"

#include <inttypes.h>
#include <stdio.h>

static const struct {
    const char *name;
    enum json_role role;
} members[] = {
    {"data", ROLE_DATA},           {"dtype", ROLE_DTYPE},
    {"shape", ROLE_SHAPE},         {"device", ROLE_DEVICE},
    {"name", ROLE_IGNORED},        {"strides", ROLE_IGNORED},
    {"bytes", ROLE_IGNORED},       {"storage_bytes", ROLE_IGNORED},
    {"shared_with", ROLE_IGNORED}, {"etag", ROLE_IGNORED},
    {"created", ROLE_IGNORED},     {"modified", ROLE_IGNORED},
    {"readonly", ROLE_IGNORED},    {"ttl", ROLE_IGNORED},
    {"pinned", ROLE_IGNORED},      {"type", ROLE_IGNORED},
};
enum { MEMBER_DATA = 1, N_MEMBERS = sizeof members / sizeof *members };

static bool in_object(const struct json_reader *json)
{
    return json->depth > 0 && (json->objects >> (json->depth - 1) & 1) != 0;
}

// Inside the value of a member of the object that the body is.
static bool is_member_value(const struct json_reader *json)
{
    return json->depth == 1 && in_object(json);
}

static enum status unexpected(const struct json_reader *json, const char *text,
                              size_t length, struct problem *problem)
{
    static const char *const expected[] = {
        [JSON_VALUE] = "a value",
        [JSON_VALUE_OR_CLOSE] = "a value or ]",
        [JSON_COMMA_OR_CLOSE] = "a comma or ]",
        [JSON_KEY] = "a member's name in quotes",
        [JSON_KEY_OR_CLOSE] = "a member's name in quotes or }",
        [JSON_COLON] = "a colon",
        [JSON_END] = "nothing more",
    };
    const char *want = expected[json->state];
    if (json->state == JSON_COMMA_OR_CLOSE && in_object(json))
        want = "a comma or }";
    return problem_set(problem, STATUS_MALFORMED,
                       "This is not JSON: %s expected, not %.*s.", want,
                       (int)(length < 40 ? length : 40), text);
}

// ---- Members

// Whether all but two characters agree from either end.
static bool is_misspelling(const char *known, const char *name, size_t length)
{
    size_t known_length = strlen(known), front = 0, back = 0;
    size_t least = known_length < length ? known_length : length;
    size_t most = known_length < length ? length : known_length;
    while (front < least && known[front] == name[front])
        front++;
    while (back < least - front &&
           known[known_length - 1 - back] == name[length - 1 - back])
        back++;
    return front + back > 0 && front + back + 2 >= most;
}

static enum status unknown_member(const char *name, size_t length,
                                  struct problem *problem)
{
    problem_set(problem, STATUS_MALFORMED,
                "A tensor has no member '%.*s'. Known are data, dtype, shape and device.",
                (int)(length < 60 ? length : 60), name);
    for (int i = N_MEMBERS - 1; i >= 0; i--) {
        if (is_misspelling(members[i].name, name, length))
            snprintf(problem->nearest, sizeof problem->nearest, "%s", members[i].name);
    }
    return problem->status;
}

// The value of "data" begins: which dtype will its elements have?
static void begin_data(struct json_reader *json)
{
    const struct reader_options *options = &json->base.options;
    if (options->has_dtype)
        elements_fix(&json->data.elements, options->dtype);
    else if (json->has_dtype)
        elements_fix(&json->data.elements, json->dtype);
    else
        json->data.elements.late_dtype = json->data.in_object;
}

static enum status member_key(struct json_reader *json, const char *text, size_t length,
                              struct problem *problem)
{
    char name[JSON_MAX_TOKEN];
    size_t used;
    enum status status = json_string_decode(text, length, name, &used, problem);
    if (status != STATUS_OK || json->depth > 1)
        return status;
    for (int i = 0; i < N_MEMBERS; i++) {
        if (strlen(members[i].name) != used || memcmp(members[i].name, name, used) != 0)
            continue;
        if ((json->seen >> i & 1) != 0)
            return problem_set(problem, STATUS_MALFORMED,
                               "The member '%s' is there twice.", members[i].name);
        json->seen |= 1U << i;
        json->role = members[i].role;
        if (json->role == ROLE_DATA)
            begin_data(json);
        return STATUS_OK;
    }
    return unknown_member(name, used, problem);
}

// The value of a member is not what its role asks for.
static enum status wrong_member(enum json_role role, struct problem *problem)
{
    static const struct {
        const char *name, *expected;
    } roles[] = {
        [ROLE_DTYPE] = {"dtype", "a string, as \"float32\""},
        [ROLE_SHAPE] = {"shape", "a list of integers from 0 up, one of them -1 at most"},
        [ROLE_DEVICE] = {"device", "a string, as \"cpu\""},
    };
    problem_set(problem, STATUS_VALUE, "The member '%s' must be %s.", roles[role].name,
                roles[role].expected);
    snprintf(problem->pointer, sizeof problem->pointer, "/%s", roles[role].name);
    return problem->status;
}

static enum status member_dtype(struct json_reader *json, const char *name, size_t length,
                                struct problem *problem)
{
    if (!dtype_parse(name, length, &json->dtype)) {
        problem_set(problem, STATUS_DTYPE,
                    "There is no dtype '%.*s'. Known are bool, uint8, int8, int16, "
                    "int32, int64, float16, "
                    "bfloat16, float32 and float64.",
                    (int)(length < 60 ? length : 60), name);
        snprintf(problem->pointer, sizeof problem->pointer, "/dtype");
        return problem->status;
    }
    json->has_dtype = true;
    return STATUS_OK;
}

static enum status member_device(struct json_reader *json, const char *name,
                                 size_t length, struct problem *problem)
{
    if (length == 0 || length >= sizeof json->device ||
        memchr(name, '\0', length) != NULL) {
        problem_set(problem, STATUS_DEVICE, "There is no device '%.*s'.",
                    (int)(length < 60 ? length : 60), name);
        snprintf(problem->pointer, sizeof problem->pointer, "/device");
        return problem->status;
    }
    memcpy(json->device, name, length);
    json->has_device = true;
    return STATUS_OK;
}

// A size in the list "shape".
static enum status shape_size(struct json_reader *json, int token, const char *text,
                              size_t length, struct problem *problem)
{
    struct decimal decimal;
    int64_t size;
    if (is_member_value(json) || token != JSON_NUMBER ||
        decimal_scan(text, length, &decimal) != length || !decimal.integer ||
        !decimal_to_int64(&decimal, &size) || size < -1)
        return wrong_member(ROLE_SHAPE, problem);
    if (json->ndim == FORMAT_MAX_NDIM)
        return problem_set(problem, STATUS_LIMIT, "A tensor has at most %d dimensions.",
                           FORMAT_MAX_NDIM);
    json->shape[json->ndim++] = size;
    return STATUS_OK;
}

// ---- Values

static enum status check_scalar(const struct json_reader *json, int token,
                                const char *text, size_t length, struct problem *problem)
{
    struct decimal decimal;
    double special;
    if (token == JSON_NUMBER && decimal_scan(text, length, &decimal) != length)
        return problem_set(problem, STATUS_MALFORMED,
                           "This is not JSON: '%.*s' is no number.",
                           (int)(length < 40 ? length : 40), text);
    if (token != JSON_WORD || json_special(text, length, &special) ||
        (length == 4 && (memcmp(text, "true", 4) == 0 || memcmp(text, "null", 4) == 0)) ||
        (length == 5 && memcmp(text, "false", 5) == 0))
        return STATUS_OK;
    return problem_set(problem, STATUS_MALFORMED,
                       "This is not JSON: '%.*s' is no value; strings need quotes.",
                       (int)(length < 40 ? length : 40), text);
}

static enum status scalar_value(struct json_reader *json, int token, const char *text,
                                size_t length, struct problem *problem)
{
    enum status status = check_scalar(json, token, text, length, problem);
    if (status != STATUS_OK || json->role == ROLE_DATA)
        return status != STATUS_OK
                   ? status
                   : json_data_scalar(&json->data, token, text, length, problem);
    if (json->role == ROLE_SHAPE)
        return shape_size(json, token, text, length, problem);
    if (token != JSON_STRING)
        return json->role == ROLE_IGNORED ? STATUS_OK : wrong_member(json->role, problem);
    char decoded[JSON_MAX_TOKEN];
    size_t used;
    status = json_string_decode(text, length, decoded, &used, problem);
    if (status != STATUS_OK || json->role == ROLE_IGNORED)
        return status;
    return json->role == ROLE_DTYPE ? member_dtype(json, decoded, used, problem)
                                    : member_device(json, decoded, used, problem);
}

// A value is complete.
static void end_value(struct json_reader *json)
{
    json->state = json->depth == 0 ? JSON_END : JSON_COMMA_OR_CLOSE;
}

static enum status open_list(struct json_reader *json, struct problem *problem)
{
    enum status status = STATUS_OK;
    if (json->role == ROLE_DATA)
        status = json_data_open_list(&json->data, problem);
    else if (json->role != ROLE_IGNORED &&
             !(json->role == ROLE_SHAPE && is_member_value(json)))
        status = wrong_member(json->role, problem);
    else if (json->depth == JSON_MAX_DEPTH)
        status = problem_set(problem, STATUS_LIMIT, "The JSON is nested too deeply.");
    if (status != STATUS_OK)
        return status;
    json->has_shape |= json->role == ROLE_SHAPE;
    json->objects &= ~(1ULL << json->depth++);
    json->state = JSON_VALUE_OR_CLOSE;
    return STATUS_OK;
}

static enum status open_object(struct json_reader *json, struct problem *problem)
{
    if (json->depth == 0) {
        json->data.in_object = true;
    } else if (json->role == ROLE_DATA) {
        problem_set(problem, STATUS_VALUE, "An object is no element.");
        json_data_point(&json->data, problem);
        return problem->status;
    } else if (json->role != ROLE_IGNORED) {
        return wrong_member(json->role, problem);
    } else if (json->depth == JSON_MAX_DEPTH) {
        return problem_set(problem, STATUS_LIMIT, "The JSON is nested too deeply.");
    }
    json->objects |= 1ULL << json->depth++;
    json->state = JSON_KEY_OR_CLOSE;
    return STATUS_OK;
}

static enum status close_container(struct json_reader *json, struct problem *problem)
{
    bool list = !in_object(json);
    json->depth--;
    end_value(json);
    return list && json->role == ROLE_DATA ? json_data_close_list(&json->data, problem)
                                           : STATUS_OK;
}

static enum status value_token(struct json_reader *json, int token, const char *text,
                               size_t length, struct problem *problem)
{
    if (token == '[') {
        if (json->depth == 0)
            begin_data(json);
        return open_list(json, problem);
    }
    if (token == '{')
        return open_object(json, problem);
    if (token == ']' && json->state == JSON_VALUE_OR_CLOSE)
        return close_container(json, problem);
    if (token != JSON_STRING && token != JSON_NUMBER && token != JSON_WORD)
        return unexpected(json, text, length, problem);
    if (json->depth == 0)
        begin_data(json);
    enum status status = scalar_value(json, token, text, length, problem);
    end_value(json);
    return status;
}

enum status json_parser_token(struct json_reader *json, int token, const char *text,
                              size_t length, struct problem *problem)
{
    switch (json->state) {
    case JSON_VALUE:
    case JSON_VALUE_OR_CLOSE:
        return value_token(json, token, text, length, problem);
    case JSON_COMMA_OR_CLOSE:
        if (token == ',') {
            json->state = in_object(json) ? JSON_KEY : JSON_VALUE;
            return STATUS_OK;
        }
        if (token == (in_object(json) ? '}' : ']'))
            return close_container(json, problem);
        break;
    case JSON_KEY:
    case JSON_KEY_OR_CLOSE:
        if (token == '}' && json->state == JSON_KEY_OR_CLOSE)
            return close_container(json, problem);
        if (token == JSON_STRING) {
            json->state = JSON_COLON;
            return member_key(json, text, length, problem);
        }
        break;
    case JSON_COLON:
        if (token == ':') {
            json->state = JSON_VALUE;
            return STATUS_OK;
        }
        break;
    case JSON_END:
        break;
    }
    return unexpected(json, text, length, problem);
}

// ---- The end

static enum status shape_disagrees(const struct json_reader *json,
                                   struct problem *problem)
{
    char found[PROBLEM_TEXT_MAX / 2], given[PROBLEM_TEXT_MAX / 2];
    reader_shape_text(json->data.ndim, json->data.sizes, found, sizeof found);
    reader_shape_text(json->ndim, json->shape, given, sizeof given);
    problem_set(problem, STATUS_SHAPE,
                "The nested data has the shape %s, the member 'shape' says %s.", found,
                given);
    snprintf(problem->shapes, sizeof problem->shapes, "%.90s %.90s", found, given);
    snprintf(problem->pointer, sizeof problem->pointer, "/shape");
    return problem->status;
}

// Nested data must have the shape that the member says. Without elements, lists end at
// the first size 0.
static enum status compare_shapes(const struct json_reader *json,
                                  struct reader_result *result, struct problem *problem)
{
    const struct json_data *data = &json->data;
    bool empty = data->elements.count == 0;
    if (empty ? json->ndim < data->ndim : json->ndim != data->ndim)
        return shape_disagrees(json, problem);
    for (int i = 0; i < json->ndim; i++) {
        bool listed = i < data->ndim, inferred = json->shape[i] == -1;
        if (listed ? !inferred && json->shape[i] != data->sizes[i] : inferred)
            return shape_disagrees(json, problem);
        result->shape[i] = listed ? data->sizes[i] : json->shape[i];
    }
    result->ndim = json->ndim;
    return STATUS_OK;
}

static enum status result_shape(struct json_reader *json, struct reader_result *result,
                                struct problem *problem)
{
    const struct json_data *data = &json->data;
    result->ndim = data->ndim;
    memcpy(result->shape, data->sizes, sizeof data->sizes);
    if (!json->has_shape)
        return STATUS_OK;
    if (data->ndim != 1)
        return compare_shapes(json, result, problem);
    enum status status =
        reader_infer_shape(data->elements.count, json->ndim, json->shape, problem);
    if (status != STATUS_OK)
        snprintf(problem->pointer, sizeof problem->pointer, "/shape");
    result->ndim = json->ndim;
    memcpy(result->shape, json->shape, sizeof json->shape);
    return status;
}

enum status json_parser_result(struct json_reader *json, struct reader_result *result,
                               struct problem *problem)
{
    struct elements *elements = &json->data.elements;
    if (json->data.in_object && (json->seen & MEMBER_DATA) == 0)
        return problem_set(problem, STATUS_MALFORMED, "The object has no member 'data'.");
    int64_t index;
    enum status status =
        elements_finish(elements, json->has_dtype, json->dtype, &index, problem);
    if (status != STATUS_OK) {
        if (index >= 0)
            json_data_point_index(&json->data, index, problem);
        return status;
    }
    status = result_shape(json, result, problem);
    result->dtype = elements->stored;
    result->data = elements->count > 0 ? elements->data : NULL;
    result->bytes = elements->count * dtype_size(elements->stored);
    result->has_device = json->has_device;
    memcpy(result->device, json->device, sizeof result->device);
    return status;
}
