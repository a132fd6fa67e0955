// SPDX-License-Identifier: Apache-2.0
// What the files of the HTTP layer share. http_server.c: life, callbacks of connections;
// http_request.c: a request's states; http_handler.c: what a handler calls on a request;
// http_response.c: responses; http_reuse.c: responses that serve again. microhttpd.h
// appears in these alone.
#ifndef TENSORD_SERVER_HTTP_INTERNAL_H
#define TENSORD_SERVER_HTTP_INTERNAL_H

#include <microhttpd.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "server/guard.h"
#include "server/http.h"
#include "server/watcher.h"

enum {
    // A refused body is swallowed up to this size, so that a client that sends before it
    // listens reads the answer; beyond it the connection is closed.
    HTTP_SWALLOW_MAX = 64 << 20,
    // The same for a chunked body that turned out to be bad half-way.
    HTTP_DISCARD_MAX = 1 << 30,
    HTTP_INLINE_TARGET = 256,
    HTTP_SPARE_REQUESTS = 256,
    HTTP_KEPT_RESPONSES = 16,
    HTTP_KEPT_HEADERS = 256, // bytes of the headers of a response that is kept
    HTTP_KEPT_BODY = 4096,
};

struct response_pool { // HTTP thread
    int count;
    unsigned victim; // whose place the next one takes when all are taken
    struct http_response *kept[HTTP_KEPT_RESPONSES];
};

struct http_server {
    struct http_handler handler;
    struct guard_rules rules;
    struct MHD_Daemon *daemon;
    struct watcher *watcher;
    struct http_request *spare; // HTTP thread
    int n_spare;
    uint64_t boot, next_number; // HTTP thread
    struct response_pool responses;
    atomic_int connections, pending;
    char unix_path[sizeof((struct sockaddr_un *)0)->sun_path]; // "" if it is none
    char address[192];
};

// From accept to close; HTTP thread.
struct http_connection {
    int socket;
    bool refused; // unread input may be left when it closes
    bool opened;  // state was made
    void *state;
};

enum http_phase {
    PHASE_NEW,     // the target is known, the headers are not
    PHASE_BODY,    // begun, the body is coming
    PHASE_DISCARD, // the answer is there, the body is swallowed
    PHASE_ENDED,   // end was called (or begin has answered)
    PHASE_QUEUED,  // libmicrohttpd has the answer
    PHASE_FAILED,  // the connection is closed
};

enum http_read_state { READ_RUNNING, READ_SUSPENDED, READ_RESUMED };

struct http_request {
    struct http_server *server;
    struct MHD_Connection *connection;
    struct http_connection *mine; // the same connection, our part
    void *state;
    enum http_phase phase;
    bool begun;              // the handler knows it
    bool suspended;          // by http_suspend, ever
    bool pending;            // counted in the server's pending
    atomic_bool answered;    // response is valid; NULL: close the connection
    bool first_call_pending; // suspended in begin: libmicrohttpd repeats the first call
    struct http_response *response;
    struct http_response *lent; // queued, and kept once it has been sent
    atomic_int read_state;      // enum http_read_state
    int64_t discarded;
    struct guard_facts facts;
    const char *allow_origin;
    int user; // http_user
    uint64_t number;
    char id[24];
    const char *path, *query;
    char *target;
    char inline_target[HTTP_INLINE_TARGET];
    struct http_request *next; // among the spare ones
};

struct http_response {
    struct MHD_Response *mhd; // NULL: a small answer that was not queued yet
    int status;
    struct http_request *request; // once queued
    http_reader *read;
    bool unsized;  // the reader's length is unknown: chunked
    bool reusable; // all its headers are in `headers`
    size_t count;  // bytes of data, of a copy
    size_t headers_length;
    void (*release)(void *context);
    void *context;
    char headers[HTTP_KEPT_HEADERS]; // of a copy: name, value, name..., zeros between
    char data[];
};

// ---- http_request.c: called by libmicrohttpd through http_server.c. HTTP thread.
struct http_request *request_create(struct http_server *server,
                                    struct MHD_Connection *connection,
                                    const char *target);
enum MHD_Result request_advance(struct http_request *request, const char *method,
                                const char *version, const char *bytes, size_t *count);
void request_completed(struct http_request *request);
void request_count_pending(struct http_request *request);
void request_vanished(void *server, void *request); // watcher thread
void request_free_spare(struct http_server *server);

// ---- http_response.c
// The response of libmicrohttpd for a small answer that has none yet. False when memory
// is out.
bool response_create(struct http_response *response);
// Hands the response to libmicrohttpd; takes it. HTTP thread.
enum MHD_Result response_queue(struct http_request *request,
                               struct http_response *response);

// ---- http_reuse.c. HTTP thread.
void response_pool_free(struct response_pool *pool);
// A kept response that has become the same answer as this new one, which is freed; NULL:
// there is none.
struct http_response *response_reuse(struct response_pool *pool,
                                     struct http_response *fresh);
// Takes a reusable response that nobody reads any more.
void response_keep(struct response_pool *pool, struct http_response *response);
#endif
