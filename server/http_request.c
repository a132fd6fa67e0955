// SPDX-License-Identifier: Apache-2.0
// A request's states. libmicrohttpd calls request_advance: once when the headers are in,
// then for each piece of the body, then once when all is in, and again after each resume.
//
// What shapes this file:
//   - A response queued in the first call closes the connection, so an answer given in
//   begin
//     waits for the last call, unless a body too long to swallow is coming.
//   - A response queued in the middle of a body drops the connection, so it never is.
//   - A connection is suspended before the request is published to another thread, and
//   the
//     answer is set before it is resumed; libmicrohttpd's lock orders the two.
// All functions run on the HTTP thread. What the handler calls: http_handler.c.
#include <stdlib.h>
#include <string.h>

#include "server/http_internal.h"

// ---- Life

static const char *store_target(struct http_request *request, const char *target)
{
    size_t length = strlen(target);
    request->target = request->inline_target;
    if (length >= sizeof request->inline_target) {
        request->target = malloc(length + 1);
        if (request->target == NULL)
            return NULL;
    }
    return memcpy(request->target, target, length + 1);
}

static void split_target(struct http_request *request)
{
    char *target = request->target, *authority;
    if (target[0] != '/' && guard_split_absolute(target, &authority, &target))
        request->facts.authority = authority;
    char *mark = strchr(target, '?');
    request->query = "";
    if (mark != NULL) {
        *mark = '\0';
        request->query = mark + 1;
    }
    if (request->facts.authority != NULL && target[0] == '\0')
        target = "/";
    request->path = request->facts.target = target;
    request->facts.query = request->query;
}

struct http_request *request_create(struct http_server *server,
                                    struct MHD_Connection *connection, const char *target)
{
    struct http_request *request = server->spare;
    if (request != NULL) {
        server->spare = request->next;
        server->n_spare--;
    } else if ((request = malloc(sizeof *request)) == NULL) {
        return NULL;
    }
    // Not the buffers at the end.
    memset(request, 0, offsetof(struct http_request, id));
    request->id[0] = '\0';
    request->server = server;
    request->connection = connection;
    request->number = server->next_number++;
    if (store_target(request, target) == NULL) {
        free(request);
        return NULL;
    }
    split_target(request);
    return request;
}

static void request_free(struct http_request *request)
{
    struct http_server *server = request->server;
    if (request->target != request->inline_target)
        free(request->target);
    if (server->n_spare >= HTTP_SPARE_REQUESTS) {
        free(request);
        return;
    }
    request->next = server->spare;
    server->spare = request;
    server->n_spare++;
}

void request_free_spare(struct http_server *server)
{
    struct http_request *next;
    for (struct http_request *r = server->spare; r != NULL; r = next) {
        next = r->next;
        free(r);
    }
}

void request_completed(struct http_request *request)
{
    struct http_server *server = request->server;
    if (request->suspended) {
        watcher_end(server->watcher, request->mine->socket, request);
        watcher_wait(server->watcher, request);
    }
    if (request->pending)
        atomic_fetch_sub(&server->pending, 1);
    if (request->answered)
        http_response_free(request->response); // the connection went first
    if (request->lent != NULL)
        response_keep(&server->responses, request->lent);
    if (request->begun)
        server->handler.closed(server->handler.context, request);
    request_free(request);
}

// ---- Handing the answer over

static enum MHD_Result fail(struct http_request *request)
{
    request->phase = PHASE_FAILED;
    request->mine->refused = true;
    return MHD_NO; // closes the connection
}

void request_count_pending(struct http_request *request)
{
    if (!request->pending)
        atomic_fetch_add(&request->server->pending, 1);
    request->pending = true;
}

static enum MHD_Result queue_answer(struct http_request *request)
{
    struct http_response *response = request->response;
    request->answered = false;
    if (response == NULL)
        return fail(request);
    request->phase = PHASE_QUEUED;
    request_count_pending(request);
    return response_queue(request, response);
}

// The answer is there before the body is. Decides between swallowing and closing.
static enum MHD_Result answer_early(struct http_request *request)
{
    int64_t length = http_content_length(request);
    if (request->response != NULL && !request->facts.expects_continue &&
        length <= HTTP_SWALLOW_MAX) {
        request->phase = length == 0 ? PHASE_ENDED : PHASE_DISCARD;
        return MHD_YES;
    }
    if (length == 0 && request->response != NULL) {
        request->phase = PHASE_ENDED; // an Expect without a body
        return MHD_YES;
    }
    request->mine->refused = true;
    return queue_answer(request);
}

static enum MHD_Result swallow(struct http_request *request, size_t *count)
{
    request->discarded += (int64_t)*count;
    *count = 0;
    if (request->discarded > HTTP_DISCARD_MAX)
        return fail(request);
    return MHD_YES;
}

// ---- The first call

static enum MHD_Result note_header(void *argument, enum MHD_ValueKind kind,
                                   const char *name, size_t name_length,
                                   const char *value, size_t value_length)
{
    struct guard_facts *facts = argument;
    if (value == NULL) {
        value = "";
        value_length = 0;
    } else if ((uintptr_t)value < (uintptr_t)name) {
        // libmicrohttpd hangs a continuation line onto the name, which it moves behind
        // the value for that; otherwise the value follows its name in the buffer.
        facts->folded = true;
    }
    guard_note(facts, name, name_length, value, value_length);
    return MHD_YES;
}

static struct http_response *preflight_response(const struct http_request *request)
{
    struct http_response *response = http_response_copy(204, NULL, 0);
    if (response == NULL)
        return NULL;
    bool ok = http_response_header(response, "Access-Control-Allow-Methods",
                                   "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS") &&
              http_response_header(
                  response, "Access-Control-Allow-Headers",
                  "Authorization, Content-Type, Accept, If-Match, If-None-Match, "
                  "If-Range, Range, Prefer") &&
              http_response_header(response, "Access-Control-Max-Age", "600");
    if (ok && request->facts.preflight_private)
        ok = http_response_header(response, "Access-Control-Allow-Private-Network",
                                  "true");
    if (ok)
        return response;
    http_response_free(response);
    return NULL;
}

static struct http_response *problem_response(struct http_server *server,
                                              const struct problem *problem)
{
    struct http_response *response =
        server->handler.problem(server->handler.context, problem);
    if (response != NULL && problem->status == STATUS_UNAUTHORIZED)
        http_response_header(response, "WWW-Authenticate", "Bearer");
    return response;
}

// True if the handler shall see the request; else *result is what to return.
static bool check(struct http_request *request, enum MHD_Result *result)
{
    struct http_server *server = request->server;
    struct problem problem;
    MHD_get_connection_values_n(request->connection, MHD_HEADER_KIND, note_header,
                                &request->facts);
    enum guard_verdict verdict =
        guard_check(&server->rules, &request->facts, &request->allow_origin,
                    &request->user, &problem);
    if (verdict == GUARD_PASS)
        return true;
    request->answered = true;
    request->response = verdict == GUARD_PREFLIGHT ? preflight_response(request)
                                                   : problem_response(server, &problem);
    if (verdict == GUARD_CLOSE) {
        request->mine->refused = true;
        *result = queue_answer(request);
    } else {
        *result = answer_early(request);
    }
    return false;
}

static struct http_connection *connection_of(const struct http_request *request)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(request->connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info == NULL ? NULL : info->socket_context;
}

static void connection_open(struct http_connection *mine,
                            const struct http_handler *handler, struct watcher *watcher)
{
    if (mine->opened)
        return;
    mine->opened = true;
    watcher_enter(watcher, mine->socket);
    if (handler->connection_open != NULL)
        mine->state = handler->connection_open(handler->context);
}

// Only now that the handler has returned, so that it never hears of a client's end before
// it has handed its work over. It may have been answered meanwhile.
static enum MHD_Result watch(struct http_request *request)
{
    struct watcher *watcher = request->server->watcher;
    if (atomic_load(&request->answered))
        return MHD_YES;
    watcher_begin(watcher, request->mine->socket, request);
    if (atomic_load(&request->answered))
        watcher_end(watcher, request->mine->socket, request);
    return MHD_YES;
}

static enum MHD_Result first_call(struct http_request *request, const char *method,
                                  const char *version)
{
    request->phase = PHASE_BODY;
    request->facts.method = method;
    request->facts.http_1_1 = strcmp(version, MHD_HTTP_VERSION_1_0) != 0;
    request->mine = connection_of(request);
    if (request->mine == NULL) { // memory was out when it was accepted
        request->phase = PHASE_FAILED;
        return MHD_NO;
    }
    enum MHD_Result result;
    if (!check(request, &result))
        return result;
    const struct http_handler *handler = &request->server->handler;
    connection_open(request->mine, handler, request->server->watcher);
    request->begun = true;
    handler->begin(handler->context, request);
    if (request->suspended) {
        request->first_call_pending = true;
        return watch(request);
    }
    return request->answered ? answer_early(request) : MHD_YES;
}

// ---- The other calls

static enum MHD_Result body_call(struct http_request *request, const char *bytes,
                                 size_t *count)
{
    if (request->phase == PHASE_DISCARD)
        return swallow(request, count);
    if (request->phase != PHASE_BODY)
        return fail(request);
    struct http_handler *handler = &request->server->handler;
    handler->data(handler->context, request, bytes, *count);
    *count = 0;
    return MHD_YES;
}

static enum MHD_Result last_call(struct http_request *request)
{
    if (request->phase == PHASE_BODY) {
        struct http_handler *handler = &request->server->handler;
        request->phase = PHASE_ENDED;
        handler->end(handler->context, request);
        if (request->suspended)
            return watch(request);
    }
    if (request->answered)
        return queue_answer(request);
    return request->phase == PHASE_QUEUED ? MHD_YES : fail(request);
}

enum MHD_Result request_advance(struct http_request *request, const char *method,
                                const char *version, const char *bytes, size_t *count)
{
    if (request->phase == PHASE_NEW)
        return first_call(request, method, version);
    if (*count > 0)
        return body_call(request, bytes, count);
    if (request->first_call_pending) {
        request->first_call_pending = false;
        return request->answered ? answer_early(request) : fail(request);
    }
    return last_call(request);
}
