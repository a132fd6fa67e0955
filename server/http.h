// SPDX-License-Identifier: Apache-2.0
// HTTP/1.1 over libmicrohttpd: one epoll thread, one watcher thread. Framing, connection
// limits, idle timeouts, Host and Origin rules and the bearer token live here; what a
// request means does not (api/).
//
// A request's life on the HTTP thread: begin (headers are in; may refuse at once) ->
// data... -> end (all of the body is in) -> answer -> closed. From begin or end the
// handler may answer at once, or suspend and let another thread answer later. After an
// error in the middle of an upload the handler keeps swallowing data and answers at end
// (answering earlier would drop the connection): http_discard does that. After an answer
// in begin the handler sees neither data nor end.
#ifndef TENSORD_SERVER_HTTP_H
#define TENSORD_SERVER_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/base/problem.h"

struct http_server;
struct http_request;
struct http_response;

struct http_handler {
    void (*begin)(void *context, struct http_request *);
    void (*data)(void *context, struct http_request *, const char *bytes, size_t count);
    void (*end)(void *context, struct http_request *);
    // Exactly once for every request that began, after everything else, HTTP thread: free
    // the request's state.
    void (*closed)(void *context, struct http_request *);
    // The client is gone while the request was suspended by http_suspend (EPOLLRDHUP; a
    // half-close counts). At most once, watcher thread, after begin or end has returned;
    // the answer may be on its way from another thread. The request is alive during the
    // call. The handler cancels its work, and still answers if it has not.
    void (*vanished)(void *context, struct http_request *);
    // A connection's own state, made at its first request and freed when it closes (a
    // lane). HTTP thread.
    void *(*connection_open)(void *context);
    void (*connection_close)(void *context, void *state);
    // Writes a problem raised in server/ itself (framing, Host, Origin, token, limits) as
    // a response.
    struct http_response *(*problem)(void *context, const struct problem *);
    void *context;
};

struct http_options {
    const char *listen; // "127.0.0.1:8080", "[::1]:0", "unix:PATH"
    int idle_seconds;
    int max_connections;
    size_t connection_memory;   // bytes libmicrohttpd keeps per connection
    const char *const *hosts;   // --host names; NULL-terminated; may be NULL
    const char *const *origins; // --origin URLs; NULL-terminated; may be NULL
    struct users *users;        // whose bearer tokens are taken, or NULL; borrowed
};

// Binds and starts serving. *out is the caller's. Options and handler are copied; strings
// are borrowed.
enum status http_start(const struct http_options *options,
                       const struct http_handler *handler, struct http_server **out,
                       struct problem *problem);
// "http://127.0.0.1:8080" or "unix:PATH"; the port is the real one. Borrowed.
const char *http_address(const struct http_server *server);
int http_connections(const struct http_server *server);
// Requests that are suspended or whose answer is being sent.
int http_pending(const struct http_server *server);
// No suspended request may be left. Closes the listener and all connections, joins the
// threads.
void http_stop(struct http_server *server);

// ---- The request. Strings are borrowed until closed.
const char *http_method(const struct http_request *request);
const char *http_path(const struct http_request *request); // percent-encoded, no query
const char *
http_query(const struct http_request *request); // raw, without '?'; "" if none
const char *http_header(const struct http_request *request,
                        const char *name); // NULL if absent
// Declared body length; -1 if chunked or unknown, 0 if none.
int64_t http_content_length(const struct http_request *request);
// The user whose token was sent (server/users.h); -1: none was needed.
int http_user(const struct http_request *request);
void *http_connection_state(const struct http_request *request);
void *http_state(const struct http_request *request);
void http_set_state(struct http_request *request, void *state);
const char *http_id(const struct http_request *request); // request id for the log

// ---- Answering. Takes the response. From begin or end (HTTP thread), or, after
// http_suspend, once from any thread.
void http_answer(struct http_request *request, struct http_response *response);
// Called in begin or end before the request is handed to another thread.
void http_suspend(struct http_request *request);
// Swallows the rest of the body, then answers with response (taken). In data only.
void http_discard(struct http_request *request, struct http_response *response);

// ---- Responses. All constructors return NULL when memory is out (http_answer(NULL) then
// closes the connection).
// A copy of bytes. Of a small one the response that has been sent serves again, for an
// answer of the same status, headers and length.
struct http_response *http_response_copy(int status, const char *bytes, size_t count);
// The same with the two headers that a small answer has.
struct http_response *http_response_text(int status, const char *type,
                                         const char *cache_control, const char *bytes,
                                         size_t count);
// head (copied), then memory of the caller's, valid until release(context) is called
// (once, any time later, any thread; not if NULL is returned).
struct http_response *http_response_borrow(int status, const void *head,
                                           size_t head_count, const void *bytes,
                                           size_t count, void (*release)(void *context),
                                           void *context);
// Writes up to size bytes from position on. Returns bytes written (> 0), HTTP_READ_END,
// HTTP_READ_FAILED (the connection is closed), or HTTP_READ_LATER after having arranged
// that http_resume_read will be called once. HTTP thread.
enum { HTTP_READ_END = -1, HTTP_READ_FAILED = -2, HTTP_READ_LATER = 0 };
typedef int64_t http_reader(void *context, int64_t position, char *buffer, size_t size);
// Produced while it is sent. length -1: chunked. release as above.
struct http_response *http_response_stream(int status, int64_t length, http_reader *read,
                                           void (*release)(void *context), void *context);
void http_resume_read(struct http_request *request); // any thread
// Copies name and value; false when memory is out or the value is no header value.
bool http_response_header(struct http_response *response, const char *name,
                          const char *value);
void http_response_free(struct http_response *response); // only if it was never answered
#endif
