// SPDX-License-Identifier: Apache-2.0
// A handler with one behaviour per path, and the server around it.
#ifndef TENSORD_TESTS_HTTP_FIXTURE_H
#define TENSORD_TESTS_HTTP_FIXTURE_H

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>

#include "server/http.h"
#include "tests/unit/server/raw_client.h"

enum { BIG = 3 << 20 };

struct exchange { // a request's state
    char *body;
    size_t used, capacity;
    int pieces;
};

static struct http_server *server;
static atomic_int begun, closed, vanished, opened_connections, closed_connections,
    released;
static atomic_int suspended_now;
static char big[BIG];

static char expected_byte(size_t position)
{
    return (char)(position * 2654435761u >> 13);
}

static void count_release(void *context)
{
    atomic_fetch_add((atomic_int *)context, 1);
}

// ---- A worker: answers or resumes what it is handed

struct errand {
    struct http_request *request;
    bool resume_read;
};
static struct errand errands[256];
static int n_errands, taken_errands;
static bool worker_stopping;
static pthread_mutex_t worker_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t worker_wake = PTHREAD_COND_INITIALIZER;
static pthread_t worker_thread;

static void hand_over(struct http_request *request, bool resume_read)
{
    pthread_mutex_lock(&worker_mutex);
    errands[n_errands++ % 256] = (struct errand){request, resume_read};
    pthread_cond_signal(&worker_wake);
    pthread_mutex_unlock(&worker_mutex);
}

static void *worker_run(void *argument)
{
    pthread_mutex_lock(&worker_mutex);
    for (;;) {
        while (taken_errands == n_errands && !worker_stopping)
            pthread_cond_wait(&worker_wake, &worker_mutex);
        if (taken_errands == n_errands)
            break;
        struct errand errand = errands[taken_errands++ % 256];
        pthread_mutex_unlock(&worker_mutex);
        if (errand.resume_read)
            http_resume_read(errand.request);
        else
            http_answer(errand.request, http_response_copy(200, "worked", 6));
        pthread_mutex_lock(&worker_mutex);
    }
    pthread_mutex_unlock(&worker_mutex);
    return NULL;
}

// ---- A stream that is late before every second piece

struct stream {
    struct http_request *request;
    int64_t length;
    bool late;
};

static int64_t stream_read(void *context, int64_t position, char *buffer, size_t size)
{
    struct stream *stream = context;
    if (position >= stream->length)
        return HTTP_READ_END;
    stream->late = !stream->late;
    if (stream->late) {
        hand_over(stream->request, true);
        return HTTP_READ_LATER;
    }
    int64_t count = stream->length - position;
    if (count > (int64_t)size)
        count = (int64_t)size;
    for (int64_t i = 0; i < count; i++)
        buffer[i] = expected_byte((size_t)(position + i));
    return count;
}

static int64_t failing_read(void *context, int64_t position, char *buffer, size_t size)
{
    if (position >= 1000)
        return HTTP_READ_FAILED;
    memset(buffer, 'x', 1000);
    return 1000;
}

static void stream_release(void *context)
{
    atomic_fetch_add(&released, 1);
    free(context);
}

static void answer_stream(struct http_request *request, int64_t length)
{
    struct stream *stream = malloc(sizeof *stream);
    *stream = (struct stream){request, BIG, false};
    http_answer(request,
                http_response_stream(200, length, stream_read, stream_release, stream));
}

// ---- The handler

static bool path_is(struct http_request *request, const char *path)
{
    return strcmp(http_path(request), path) == 0;
}

static void on_begin(void *context, struct http_request *request)
{
    atomic_fetch_add(&begun, 1);
    http_set_state(request, calloc(1, sizeof(struct exchange)));
    if (path_is(request, "/begin"))
        http_answer(request, http_response_copy(200, "begin", 5));
    else if (path_is(request, "/refuse"))
        http_answer(request, http_response_copy(413, "refused", 7));
    else if (path_is(request, "/null"))
        http_answer(request, NULL);
    else if (path_is(request, "/worker-begin")) {
        http_suspend(request);
        hand_over(request, false);
    }
}

static void on_data(void *context, struct http_request *request, const char *bytes,
                    size_t count)
{
    struct exchange *exchange = http_state(request);
    exchange->pieces++;
    if (path_is(request, "/discard")) {
        http_discard(request, http_response_copy(422, "bad", 3));
        return;
    }
    if (exchange->capacity < exchange->used + count) {
        exchange->capacity = 2 * (exchange->used + count);
        exchange->body = realloc(exchange->body, exchange->capacity);
    }
    memcpy(exchange->body + exchange->used, bytes, count);
    exchange->used += count;
}

static void answer_facts(struct http_request *request)
{
    char text[16384];
    const char *header = http_header(request, "x-test");
    int length = snprintf(text, sizeof text, "%s|%s|%s|%s|%lld", http_method(request),
                          http_path(request), http_query(request),
                          header == NULL ? "none" : header,
                          (long long)http_content_length(request));
    http_answer(request, http_response_copy(200, text, (size_t)length));
}

// The body, as an answer that may serve again; with one more header it is another one.
static void answer_text(struct http_request *request, bool more)
{
    struct exchange *exchange = http_state(request);
    struct http_response *response =
        http_response_text(200, "text/plain", "no-store", exchange->body, exchange->used);
    if (more && response != NULL)
        http_response_header(response, "X-More", "yes");
    http_answer(request, response);
}

static void on_end(void *context, struct http_request *request)
{
    struct exchange *exchange = http_state(request);
    if (path_is(request, "/worker")) {
        http_suspend(request);
        hand_over(request, false);
    } else if (path_is(request, "/self")) { // as when the queue refuses the task
        http_suspend(request);
        http_answer(request, http_response_copy(503, "self", 4));
    } else if (path_is(request, "/hang")) {
        http_suspend(request);
        atomic_fetch_add(&suspended_now, 1);
    } else if (path_is(request, "/borrow")) {
        http_answer(request, http_response_borrow(200, "head:", 5, big, BIG,
                                                  count_release, &released));
    } else if (path_is(request, "/stream")) {
        answer_stream(request, BIG);
    } else if (path_is(request, "/chunked")) {
        answer_stream(request, -1);
    } else if (path_is(request, "/failing")) {
        http_answer(request, http_response_stream(200, 5000, failing_read, NULL, NULL));
    } else if (strncmp(http_path(request), "/text", 5) == 0) {
        answer_text(request, path_is(request, "/text-more"));
    } else if (strncmp(http_path(request), "/facts", 6) == 0) {
        answer_facts(request);
    } else {
        http_answer(request, http_response_copy(200, exchange->body, exchange->used));
    }
}

static void on_closed(void *context, struct http_request *request)
{
    struct exchange *exchange = http_state(request);
    free(exchange->body);
    free(exchange);
    atomic_fetch_add(&closed, 1);
}

static void on_vanished(void *context, struct http_request *request)
{
    atomic_fetch_add(&vanished, 1);
    if (path_is(request, "/hang"))
        http_answer(request, NULL);
}

static void *on_connection_open(void *context)
{
    atomic_fetch_add(&opened_connections, 1);
    return &opened_connections;
}

static void on_connection_close(void *context, void *state)
{
    if (state == &opened_connections)
        atomic_fetch_add(&closed_connections, 1);
}

static struct http_response *on_problem(void *context, const struct problem *problem)
{
    return http_response_copy(problem_kind(problem->status)->http_status, problem->detail,
                              strlen(problem->detail));
}

static const struct http_handler fixture_handler = {on_begin,
                                                    on_data,
                                                    on_end,
                                                    on_closed,
                                                    on_vanished,
                                                    on_connection_open,
                                                    on_connection_close,
                                                    on_problem,
                                                    NULL};

static struct http_options fixture_options = {.listen = "127.0.0.1:0",
                                              .idle_seconds = 60,
                                              .max_connections = 1000,
                                              .connection_memory = 32 * 1024};

static void server_start(void)
{
    struct problem problem;
    n_errands = taken_errands = 0;
    worker_stopping = false;
    begun = closed = vanished = opened_connections = closed_connections = released = 0;
    suspended_now = 0;
    for (size_t i = 0; i < BIG; i++)
        big[i] = expected_byte(i);
    assert_int_equal(pthread_create(&worker_thread, NULL, worker_run, NULL), 0);
    assert_int_equal(http_start(&fixture_options, &fixture_handler, &server, &problem),
                     STATUS_OK);
}

// Every request that began was closed, every connection's state was given back.
static void server_stop(void)
{
    pthread_mutex_lock(&worker_mutex);
    worker_stopping = true;
    pthread_cond_signal(&worker_wake);
    pthread_mutex_unlock(&worker_mutex);
    pthread_join(worker_thread, NULL);
    http_stop(server);
    assert_int_equal(begun, closed);
    assert_int_equal(opened_connections, closed_connections);
}

// Sends text on a connection of its own and expects this status; with body, that body.
static inline void expect(const char *text, int status, const char *body)
{
    struct client client;
    struct reply reply;
    client_open(&client, http_address(server));
    client_send(&client, text);
    assert_true(client_reply(&client, &reply, strncmp(text, "HEAD", 4) != 0));
    assert_int_equal(reply.status, status);
    if (body != NULL)
        assert_string_equal(reply.body, body);
    reply_free(&reply);
    client_close(&client);
}

static inline void wait_for(atomic_int *counter, int value)
{
    for (int i = 0; i < 20000 && atomic_load(counter) < value; i++)
        usleep(1000);
    assert_int_equal(atomic_load(counter), value);
}
#endif
