// SPDX-License-Identifier: Apache-2.0
// Members of request documents (document.h).
#include "api/document.h"

enum status document_parse(struct request *request, struct json *json, int depth,
                           struct problem *problem)
{
    enum status status =
        json_parse(json, request->body, (size_t)request->body_length, depth, problem);
    if (status != STATUS_OK)
        return status;
    if (json->values[0].type != JSON_OBJECT)
        return problem_set(problem, STATUS_MALFORMED,
                           "The body is JSON, but no object: {...} was expected.");
    return STATUS_OK;
}

static enum status unknown_member(const struct json_value *name, int n,
                                  const char *const *names, struct problem *problem)
{
    char buffer[200];
    struct text text;
    text_begin(&text, buffer, sizeof buffer);
    for (int i = 0; i < n; i++) {
        if (i > 0)
            text_literal(&text, ", ");
        text_string(&text, names[i]);
    }
    text_add(&text, "", 1);
    problem_set(problem, STATUS_MALFORMED,
                "There is no member \"%.60s\" here; there are %s.", name->text,
                text.failed ? "" : text.data);
    text_end(&text);
    return STATUS_MALFORMED;
}

enum status document_members(const struct json *json, const struct json_value *object,
                             int n, const char *const *names,
                             const struct json_value **values, struct problem *problem)
{
    for (int i = 0; i < n; i++)
        values[i] = NULL;
    const struct json_value *name = json_first(object);
    for (uint32_t member = 0; member < object->count; member++) {
        const struct json_value *value = json_next(json, name);
        int i = 0;
        while (i < n && !json_is(name, names[i]))
            i++;
        if (i == n)
            return unknown_member(name, n, names, problem);
        values[i] = value;
        name = json_next(json, value);
    }
    return STATUS_OK;
}

enum status document_string(const struct json_value *value, const char *what,
                            struct problem *problem)
{
    if (value->type == JSON_STRING)
        return STATUS_OK;
    return problem_set(problem, STATUS_MALFORMED, "%s must be a string.", what);
}

const char *document_copy(struct request *request, const struct json_value *value,
                          struct problem *problem)
{
    char *copy = request_allocate(request, value->length + 1);
    if (copy == NULL) {
        problem_set(problem, STATUS_OUT_OF_MEMORY, "No host memory for the request.");
        return NULL;
    }
    return memcpy(copy, value->text, value->length + 1);
}
