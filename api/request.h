// SPDX-License-Identifier: Apache-2.0
// A request's own state, from its headers to its answer, and what handlers do with it.
// One allocation, reused by later requests. Small things live in its arena and go with
// it.
//
// Threads. The HTTP thread owns a request until work_start hands it to the queue; then
// the worker does, until it answers. After request_answer nobody but the HTTP thread may
// touch it.
#ifndef TENSORD_API_REQUEST_H
#define TENSORD_API_REQUEST_H

#include "api/memory.h"
#include "api/query.h"
#include "api/router.h"
#include "api/text.h"
#include "api/user.h"

struct work;
struct upload;

enum {
    REQUEST_ARENA = 2048, // bytes before the arena asks the heap
    REQUEST_BODY = 1024,  // a JSON body up to this size needs no memory of its own
    REQUEST_REBINDS = 16, // predictions of what names will be bound to
};

struct request {
    struct task task; // the queue's handle; first, so that a task is its request
    struct api *api;
    struct user *user; // NULL: a page that is open to all
    struct http_request *http;
    struct route_match match;
    struct query query;
    bool in_data; // the body is arriving: an answer must wait for its end
    bool answered;

    // The body of a JSON request, with one byte more than its length.
    char *body;
    int64_t body_length, body_capacity;
    struct memory body_memory;
    int64_t held;     // transient bytes of host memory in bodies and inline tensors
    int64_t received; // bytes of any body
    struct upload *upload;

    // Work (work.c).
    const struct work *work;
    const char *if_match, *if_none_match; // conditions_read
    void *state;                          // the handler's own, for its callbacks
    bool declared, prepared;
    bool inlined; // the HTTP thread carries it out
    struct graph *graph;
    struct executor *executor;
    bool executed;     // the executor has run to its end
    bool holds_memory; // beside the executor's: such a request does not wait for more
    int n_rebinds;
    struct rebind {
        const char *name, *like; // like: shares that name's storage; NULL: a fresh one
        uint64_t group;
        bool predicted;
    } rebinds[REQUEST_REBINDS];
    atomic_bool submitted, gone;

    struct problem problem;
    struct request *next; // among the free ones
    void *chunks;         // of the arena
    size_t arena_used;
    _Alignas(16) char arena[REQUEST_ARENA];
    char small_body[REQUEST_BODY + 1];
};

// size bytes that live as long as the request, 16-byte aligned; NULL with
// request->problem set.
void *request_allocate(struct request *request, size_t size);
const char *request_header(const struct request *request, const char *name);

// Answers (takes the response; NULL: memory is out, the connection closes). Nothing of
// the request may be used after.
void request_answer(struct request *request, struct http_response *response);
// Answers with request->problem.
void request_fail(struct request *request);
// A JSON text (ended by this call) with a status and Cache-Control; `private` only for
// GET.
struct http_response *answer_json(const struct request *request, int status,
                                  struct text *text);
struct http_response *answer_text(const struct request *request, int status,
                                  const char *type, struct text *text);
void request_answer_json(struct request *request, int status, struct text *text);
// Adds a header; on failure frees the response and returns NULL. A NULL response stays
// NULL.
struct http_response *answer_header(struct http_response *response, const char *name,
                                    const char *value);

// The answer to a problem. allowed: methods for the Allow header, 0 for none.
struct http_response *problem_answer(const struct problem *problem, unsigned allowed);

// The callbacks of http_handler (request.c).
void api_begin(void *context, struct http_request *http);
void api_data(void *context, struct http_request *http, const char *bytes, size_t count);
void api_end(void *context, struct http_request *http);
void api_closed(void *context, struct http_request *http);
void api_vanished(void *context, struct http_request *http);
void requests_free(struct api *api);
#endif
