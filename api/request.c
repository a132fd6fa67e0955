// SPDX-License-Identifier: Apache-2.0
// The callbacks of the HTTP server: from headers to a route, from a body to its
// collector, from the end of the body to the handler. Runs on the HTTP thread, but for
// api_vanished (the watcher's).
#include "api/request.h"

#include <stdlib.h>

#include "api/body.h"
#include "api/upload.h"
#include "api/work.h"

// ---- Life

static struct request *request_open(struct api *api, struct http_request *http)
{
    struct request *request = api->free_requests;
    if (request != NULL) {
        api->free_requests = request->next;
        api->n_free_requests--;
    } else if ((request = malloc(sizeof *request)) == NULL) {
        return NULL;
    }
    // The large members are written when they are used.
    memset(&request->task, 0, offsetof(struct task, keys));
    memset(&request->task.queue, 0, sizeof request->task.queue);
    memset(&request->in_data, 0,
           offsetof(struct request, problem) - offsetof(struct request, in_data));
    request->query.memory = NULL;
    request->api = api;
    request->http = http;
    request->user = NULL;
    request->body_memory.api = api;
    request->body_memory.held = &request->held;
    request->held = 0;
    request->chunks = NULL;
    request->arena_used = 0;
    problem_clear(&request->problem);
    return request;
}

static void request_close(struct request *request)
{
    struct api *api = request->api;
    upload_free(request->upload);
    memory_free(&request->body_memory);
    query_free(&request->query);
    while (request->chunks != NULL) {
        void *next = *(void **)request->chunks;
        free(request->chunks);
        request->chunks = next;
    }
    if (api->n_free_requests == FREE_REQUESTS) {
        free(request);
        return;
    }
    request->next = api->free_requests;
    api->free_requests = request;
    api->n_free_requests++;
}

void requests_free(struct api *api)
{
    while (api->free_requests != NULL) {
        struct request *next = api->free_requests->next;
        free(api->free_requests);
        api->free_requests = next;
    }
    api->n_free_requests = 0;
}

void *request_allocate(struct request *request, size_t size)
{
    size_t rounded = (size + 15) & ~(size_t)15;
    if (rounded <= REQUEST_ARENA - request->arena_used) {
        void *memory = request->arena + request->arena_used;
        request->arena_used += rounded;
        return memory;
    }
    char *chunk = rounded < size ? NULL : malloc(rounded + 16);
    if (chunk == NULL) {
        problem_set(&request->problem, STATUS_OUT_OF_MEMORY,
                    "No host memory for the request.");
        return NULL;
    }
    *(void **)chunk = request->chunks;
    request->chunks = chunk;
    return chunk + 16;
}

const char *request_header(const struct request *request, const char *name)
{
    return http_header(request->http, name);
}

// ---- Answering

void request_answer(struct request *request, struct http_response *response)
{
    request->answered = true;
    if (request->in_data)
        http_discard(request->http, response);
    else
        http_answer(request->http, response);
}

void request_fail(struct request *request)
{
    struct http_response *response =
        problem_answer(&request->problem, request->match.allowed);
    if (request->problem.status == STATUS_RATE)
        response = user_rate_headers(request->user, response);
    request_answer(request, response);
}

// ---- Headers

// OPTIONS: which methods the path answers.
static void answer_options(struct request *request)
{
    char allowed[64];
    methods_text(request->match.allowed, allowed, sizeof allowed);
    request_answer(request,
                   answer_header(http_response_copy(204, NULL, 0), "Allow", allowed));
}

static bool collects(const struct request *request)
{
    enum route_body body = request->match.route->body;
    return body == BODY_JSON || body == BODY_PROGRAM;
}

static enum status check_length(struct request *request, int64_t length,
                                struct problem *problem)
{
    int64_t limit = request->api->options.max_body;
    if (collects(request) && limit > CALL_BODY_MAX)
        limit = CALL_BODY_MAX;
    if (length <= limit)
        return STATUS_OK;
    return problem_set(
        problem, STATUS_TOO_LARGE, "The body may have %lld bytes.%s", (long long)limit,
        collects(request) ? " Send large data with PUT and name it in the request." : "");
}

static enum status read_head(struct request *request, struct problem *problem)
{
    const struct route *route = request->match.route;
    enum status status = query_parse(&request->query, http_query(request->http),
                                     route->parameters, problem);
    if (status != STATUS_OK)
        return status;
    if (request->match.suffix != NULL && request->query.values[QUERY_FORMAT] != NULL)
        return problem_set(problem, STATUS_MALFORMED,
                           "The format is given twice: by the suffix .%s and by format=.",
                           request->match.suffix);
    if (request->match.suffix != NULL)
        request->query.values[QUERY_FORMAT] = request->match.suffix;
    if ((status = check_length(request, http_content_length(request->http), problem)) !=
        STATUS_OK)
        return status;
    if (route->body == BODY_JSON)
        return body_check_json(request, problem);
    if (route->body == BODY_PROGRAM)
        return body_check_program(request, problem);
    return route->body == BODY_UPLOAD ? upload_begin(request, problem) : STATUS_OK;
}

// Whose request it is, and whether it is one too many.
static enum status find_user(struct request *request, struct problem *problem)
{
    struct api *api = request->api;
    int number = api->options.users == NULL ? 0 : http_user(request->http);
    if (number < 0)
        return STATUS_OK;
    enum status status = user_get(api, number, &request->user, problem);
    request->body_memory.user = request->user;
    return status == STATUS_OK ? user_admit(request->user, problem) : status;
}

void api_begin(void *context, struct http_request *http)
{
    struct request *request = request_open(context, http);
    http_set_state(http, request);
    if (request == NULL) {
        http_answer(http, NULL);
        return;
    }
    struct problem *problem = &request->problem;
    if (find_user(request, problem) != STATUS_OK) {
        request->match.allowed = 0;
        request_fail(request);
        return;
    }
    enum status status =
        route_find(http_method(http), http_path(http), &request->match, problem);
    if (status != STATUS_METHOD && request->match.route != NULL)
        request->match.allowed = 0;
    if (status == STATUS_OK && request->match.route == NULL)
        answer_options(request);
    else if (status != STATUS_OK || read_head(request, problem) != STATUS_OK)
        request_fail(request);
}

// ---- The body

// Room for count more bytes of a JSON body and the one behind it.
static enum status body_reserve(struct request *request, size_t count,
                                struct problem *problem)
{
    int64_t needed = request->body_length + (int64_t)count + 1;
    if (needed <= request->body_capacity)
        return STATUS_OK;
    int64_t declared = http_content_length(request->http) + 1;
    if (needed <= REQUEST_BODY + 1 && declared <= REQUEST_BODY + 1) {
        request->body = request->small_body;
        request->body_capacity = sizeof request->small_body;
        return STATUS_OK;
    }
    int64_t capacity = declared > needed ? declared : 2 * needed;
    void *data;
    bool was_small = request->body == request->small_body;
    enum status status = memory_grow(&request->body_memory, capacity, &data, problem);
    if (status != STATUS_OK)
        return status;
    if (was_small)
        memcpy(data, request->small_body, (size_t)request->body_length);
    request->body = data;
    request->body_capacity = capacity;
    return STATUS_OK;
}

static enum status collect(struct request *request, const char *bytes, size_t count,
                           struct problem *problem)
{
    enum status status = body_reserve(request, count, problem);
    if (status != STATUS_OK)
        return status;
    memcpy(request->body + request->body_length, bytes, count);
    request->body_length += (int64_t)count;
    return STATUS_OK;
}

static enum status take_bytes(struct request *request, const char *bytes, size_t count,
                              struct problem *problem)
{
    request->received += (int64_t)count;
    enum status status = check_length(request, request->received, problem);
    if (status != STATUS_OK)
        return status;
    switch (request->match.route->body) {
    case BODY_JSON:
    case BODY_PROGRAM:
        return collect(request, bytes, count, problem);
    case BODY_UPLOAD:
        return upload_data(request, bytes, count, problem);
    case BODY_NONE:
        break;
    }
    return STATUS_OK;
}

void api_data(void *context, struct http_request *http, const char *bytes, size_t count)
{
    struct request *request = http_state(http);
    if (request == NULL || request->answered)
        return;
    request->in_data = true;
    if (take_bytes(request, bytes, count, &request->problem) != STATUS_OK)
        request_fail(request);
    request->in_data = false;
}

void api_end(void *context, struct http_request *http)
{
    struct request *request = http_state(http);
    if (request == NULL || request->answered)
        return;
    if (collects(request) && body_reserve(request, 0, &request->problem) != STATUS_OK)
        request_fail(request);
    else
        request->match.route->handler(request);
}

void api_closed(void *context, struct http_request *http)
{
    struct request *request = http_state(http);
    if (request != NULL)
        request_close(request);
}

void api_vanished(void *context, struct http_request *http)
{
    struct request *request = http_state(http);
    if (request != NULL)
        work_cancel(request);
}
