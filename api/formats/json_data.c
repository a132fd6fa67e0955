// SPDX-License-Identifier: Apache-2.0
// The nested list of elements: finds its shape as lists open and close, and hands the
// elements on. One thread at a time (the reader's).
#include "api/formats/json_reader.h"

#include <inttypes.h>
#include <stdio.h>

void json_data_open(struct json_data *data, const struct reader_memory *memory,
                    int64_t length)
{
    elements_open(&data->elements, memory, length);
    data->depth = 0;
    data->ndim = -1;
    for (int i = 0; i < FORMAT_MAX_NDIM; i++)
        data->sizes[i] = -1;
}

// Adds /index to the pointer.
static void point_at(struct problem *problem, int64_t index)
{
    size_t used = strlen(problem->pointer);
    snprintf(problem->pointer + used, sizeof problem->pointer - used, "/%" PRId64, index);
}

void json_data_point(const struct json_data *data, struct problem *problem)
{
    snprintf(problem->pointer, sizeof problem->pointer, "%s",
             data->in_object ? "/data" : "");
    for (int i = 0; i < data->depth; i++)
        point_at(problem, data->counts[i]);
}

void json_data_point_index(const struct json_data *data, int64_t index,
                           struct problem *problem)
{
    int64_t indices[FORMAT_MAX_NDIM];
    for (int i = data->ndim - 1; i >= 0; i--) {
        indices[i] = index % data->sizes[i];
        index /= data->sizes[i];
    }
    snprintf(problem->pointer, sizeof problem->pointer, "%s",
             data->in_object ? "/data" : "");
    for (int i = 0; i < data->ndim; i++)
        point_at(problem, indices[i]);
}

enum status json_data_open_list(struct json_data *data, struct problem *problem)
{
    enum status status = STATUS_OK;
    if (data->depth == FORMAT_MAX_NDIM)
        status = problem_set(
            problem, STATUS_LIMIT,
            "Lists are nested deeper than the %d dimensions a tensor can have.",
            FORMAT_MAX_NDIM);
    else if (data->depth == data->ndim)
        status = problem_set(problem, STATUS_SHAPE,
                             "A list stands where the lists before have an element.");
    if (status != STATUS_OK) {
        json_data_point(data, problem);
        return status;
    }
    data->counts[data->depth++] = 0;
    return STATUS_OK;
}

enum status json_data_close_list(struct json_data *data, struct problem *problem)
{
    if (data->ndim < 0)
        data->ndim = data->depth;
    int64_t count = data->counts[--data->depth], *size = &data->sizes[data->depth];
    if (*size < 0)
        *size = count;
    if (*size != count) {
        problem_set(problem, STATUS_SHAPE,
                    "The list has %" PRId64
                    " items, the first one at its depth has %" PRId64 ".",
                    count, *size);
        json_data_point(data, problem);
        return problem->status;
    }
    if (data->depth > 0)
        data->counts[data->depth - 1]++;
    return STATUS_OK;
}

// "Infinity", and integers of any size: they come as strings from where numbers are
// doubles.
static enum status add_string(struct json_data *data, const char *text, size_t length,
                              struct problem *problem)
{
    char decoded[JSON_MAX_TOKEN];
    size_t used;
    double special;
    struct decimal decimal;
    enum status status = json_string_decode(text, length, decoded, &used, problem);
    if (status != STATUS_OK)
        return status;
    if (json_special(decoded, used, &special))
        return elements_add_special(&data->elements, special, problem);
    if (used > 0 && decimal_scan(decoded, used, &decimal) == used && decimal.integer)
        return elements_add_decimal(&data->elements, &decimal, decoded, used, problem);
    return problem_set(problem, STATUS_VALUE,
                       "A string is no element, but for \"NaN\", \"Infinity\", "
                       "\"-Infinity\" and integers.");
}

static enum status add_word(struct json_data *data, const char *text, size_t length,
                            struct problem *problem)
{
    double special;
    if (length == 4 && memcmp(text, "true", 4) == 0)
        return elements_add_bool(&data->elements, true, problem);
    if (length == 5 && memcmp(text, "false", 5) == 0)
        return elements_add_bool(&data->elements, false, problem);
    if (json_special(text, length, &special))
        return elements_add_special(&data->elements, special, problem);
    return problem_set(problem, STATUS_VALUE,
                       "null is no element; write \"NaN\" for a missing number.");
}

enum status json_data_scalar(struct json_data *data, int token, const char *text,
                             size_t length, struct problem *problem)
{
    enum status status;
    struct decimal decimal;
    if (data->ndim < 0)
        data->ndim = data->depth;
    if (data->depth != data->ndim) {
        status = problem_set(problem, STATUS_SHAPE,
                             "An element stands where the lists before have a list.");
    } else if (token == JSON_STRING) {
        status = add_string(data, text, length, problem);
    } else if (token == JSON_NUMBER) {
        decimal_scan(text, length, &decimal); // the grammar has seen that it is one
        status = elements_add_decimal(&data->elements, &decimal, text, length, problem);
    } else {
        status = add_word(data, text, length, problem);
    }
    if (status != STATUS_OK)
        json_data_point(data, problem);
    else if (data->depth > 0)
        data->counts[data->depth - 1]++;
    return status;
}
