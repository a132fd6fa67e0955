// SPDX-License-Identifier: Apache-2.0
// Small answers: a text, its type and what caches may do with it.
#include "api/request.h"

struct http_response *answer_header(struct http_response *response, const char *name,
                                    const char *value)
{
    if (response == NULL || http_response_header(response, name, value))
        return response;
    http_response_free(response);
    return NULL;
}

// Answers of GET may be kept and asked about again; what a POST or PUT answered may not.
static const char *cache_control(const struct request *request)
{
    enum method method = request->match.method;
    return method == METHOD_GET || method == METHOD_HEAD
               ? "private, no-cache, no-transform"
               : "no-store";
}

struct http_response *answer_text(const struct request *request, int status,
                                  const char *type, struct text *text)
{
    struct http_response *response = NULL;
    if (!text->failed)
        response = http_response_text(status, type, cache_control(request), text->data,
                                      text->length);
    text_end(text);
    return response;
}

struct http_response *answer_json(const struct request *request, int status,
                                  struct text *text)
{
    return answer_text(request, status, "application/json", text);
}

void request_answer_json(struct request *request, int status, struct text *text)
{
    request_answer(request, answer_json(request, status, text));
}
