// SPDX-License-Identifier: Apache-2.0
// What a handler calls on its request: suspending, answering, and looking at it. HTTP
// thread, but for http_answer on a suspended request, which comes from any.
#include <inttypes.h>
#include <stdio.h>

#include "server/http_internal.h"

void http_suspend(struct http_request *request)
{
    request->suspended = true;
    request_count_pending(request);
    MHD_suspend_connection(request->connection);
}

void http_answer(struct http_request *request, struct http_response *response)
{
    request->response = response;
    atomic_store(&request->answered, true);
    if (!request->suspended)
        return;
    watcher_end(request->server->watcher, request->mine->socket, request);
    MHD_resume_connection(request->connection);
}

void http_discard(struct http_request *request, struct http_response *response)
{
    request->answered = true;
    request->response = response;
    request->phase = PHASE_DISCARD;
}

void request_vanished(void *server, void *argument)
{
    const struct http_handler *handler = &((struct http_server *)server)->handler;
    handler->vanished(handler->context, argument);
}

const char *http_method(const struct http_request *request)
{
    return request->facts.method;
}

const char *http_path(const struct http_request *request)
{
    return request->path;
}

const char *http_query(const struct http_request *request)
{
    return request->query;
}

const char *http_header(const struct http_request *request, const char *name)
{
    return MHD_lookup_connection_value(request->connection, MHD_HEADER_KIND, name);
}

int64_t http_content_length(const struct http_request *request)
{
    return guard_body_length(&request->facts);
}

int http_user(const struct http_request *request)
{
    return request->user;
}

void *http_connection_state(const struct http_request *request)
{
    return request->mine->state;
}

void *http_state(const struct http_request *request)
{
    return request->state;
}

void http_set_state(struct http_request *request, void *state)
{
    request->state = state;
}

const char *http_id(const struct http_request *request)
{
    // Made when it is asked for; the buffer is the request's own.
    struct http_request *mutable = (struct http_request *)request;
    if (request->id[0] == '\0')
        snprintf(mutable->id, sizeof mutable->id, "%06" PRIx64 "-%" PRIu64,
                 request->server->boot & 0xFFFFFF, request->number);
    return request->id;
}
