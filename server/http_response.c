// SPDX-License-Identifier: Apache-2.0
// Responses: a copy of bytes, borrowed memory, or a reader; each carries the two headers
// that every answer has. The wrapper lives until libmicrohttpd drops the response, which
// calls response_release.
//
// A reader that says LATER is suspended here. Its resume may come at any moment, also
// before the suspension: read_state decides who of the two wakes the connection.
#include <stdlib.h>
#include <string.h>

#include "server/http_internal.h"

enum { STREAM_BLOCK = 1 << 20 };

static void response_release(void *argument)
{
    struct http_response *response = argument;
    if (response->release != NULL)
        response->release(response->context);
    free(response);
}

static struct http_response *response_allocate(int status, size_t extra)
{
    struct http_response *response = malloc(sizeof *response + extra);
    if (response != NULL)
        memset(response, 0, offsetof(struct http_response, headers));
    if (response != NULL)
        response->status = status;
    return response;
}

// Adds what every answer carries.
static bool add_standing(struct http_response *response)
{
    return MHD_add_response_header(response->mhd, "X-Content-Type-Options", "nosniff") ==
               MHD_YES &&
           MHD_add_response_header(response->mhd, "Cross-Origin-Resource-Policy",
                                   "same-origin") == MHD_YES;
}

static struct http_response *response_finish(struct http_response *response)
{
    if (response->mhd == NULL) {
        free(response);
        return NULL;
    }
    if (add_standing(response))
        return response;
    response->release = NULL; // the caller keeps what it lent
    MHD_destroy_response(response->mhd);
    return NULL;
}

bool response_create(struct http_response *response)
{
    response->mhd = MHD_create_response_from_buffer_with_free_callback_cls(
        response->count, response->data, response_release, response);
    if (response->mhd == NULL || !add_standing(response))
        return false;
    const char *end = response->headers + response->headers_length;
    for (const char *name = response->headers; name < end;) {
        const char *value = name + strlen(name) + 1;
        if (MHD_add_response_header(response->mhd, name, value) != MHD_YES)
            return false;
        name = value + strlen(value) + 1;
    }
    return true;
}

struct http_response *http_response_copy(int status, const char *bytes, size_t count)
{
    struct http_response *response = response_allocate(status, count);
    if (response == NULL)
        return NULL;
    if (count > 0)
        memcpy(response->data, bytes, count);
    response->count = count;
    response->reusable = count <= HTTP_KEPT_BODY;
    if (response->reusable || response_create(response))
        return response;
    http_response_free(response);
    return NULL;
}

struct http_response *http_response_text(int status, const char *type,
                                         const char *cache_control, const char *bytes,
                                         size_t count)
{
    struct http_response *response = http_response_copy(status, bytes, count);
    if (response == NULL)
        return NULL;
    if (http_response_header(response, "Content-Type", type) &&
        http_response_header(response, "Cache-Control", cache_control))
        return response;
    http_response_free(response);
    return NULL;
}

struct http_response *http_response_borrow(int status, const void *head,
                                           size_t head_count, const void *bytes,
                                           size_t count, void (*release)(void *context),
                                           void *context)
{
    struct http_response *response = response_allocate(status, head_count);
    if (response == NULL)
        return NULL;
    if (head_count > 0)
        memcpy(response->data, head, head_count);
    struct MHD_IoVec parts[2] = {{response->data, head_count}, {bytes, count}};
    response->release = release;
    response->context = context;
    response->mhd = MHD_create_response_from_iovec(parts, 2, response_release, response);
    return response_finish(response);
}

// ---- Readers

static ssize_t read_content(void *argument, uint64_t position, char *buffer, size_t size)
{
    struct http_response *response = argument;
    struct http_request *request = response->request;
    for (;;) {
        atomic_store(&request->read_state, READ_RUNNING);
        int64_t count =
            response->read(response->context, (int64_t)position, buffer, size);
        if (count == HTTP_READ_END)
            return MHD_CONTENT_READER_END_OF_STREAM;
        if (count < 0)
            return MHD_CONTENT_READER_END_WITH_ERROR;
        if (count > 0)
            return (ssize_t)count;
        if (atomic_load(&request->read_state) == READ_RESUMED)
            continue; // there is something by now
        MHD_suspend_connection(request->connection);
        int expected = READ_RUNNING;
        if (!atomic_compare_exchange_strong(&request->read_state, &expected,
                                            READ_SUSPENDED))
            MHD_resume_connection(request->connection);
        return 0;
    }
}

void http_resume_read(struct http_request *request)
{
    // The request stays while its connection is suspended; if it is not, it is the HTTP
    // thread's and must not be touched after the exchange.
    struct MHD_Connection *connection = request->connection;
    if (atomic_exchange(&request->read_state, READ_RESUMED) == READ_SUSPENDED)
        MHD_resume_connection(connection);
}

struct http_response *http_response_stream(int status, int64_t length, http_reader *read,
                                           void (*release)(void *context), void *context)
{
    struct http_response *response = response_allocate(status, 0);
    if (response == NULL)
        return NULL;
    response->read = read;
    response->unsized = length < 0;
    response->release = release;
    response->context = context;
    size_t block = length < 0              ? 4096
                   : length < STREAM_BLOCK ? (size_t)length
                                           : STREAM_BLOCK;
    response->mhd = MHD_create_response_from_callback(
        length < 0 ? MHD_SIZE_UNKNOWN : (uint64_t)length, block == 0 ? 1 : block,
        read_content, response, response_release);
    return response_finish(response);
}

// ---- Headers and handing over

// Enters the header among those of a small answer. False: there is no room, or
// libmicrohttpd shall judge it.
static bool note_header(struct http_response *response, const char *name,
                        const char *value)
{
    size_t n = strlen(name) + 1, v = strlen(value) + 1;
    if (n + v > HTTP_KEPT_HEADERS - response->headers_length || v == 1 ||
        value[strcspn(value, "\t\r\n")] != '\0')
        return false;
    char *at = response->headers + response->headers_length;
    memcpy(at, name, n);
    memcpy(at + n, value, v);
    response->headers_length += n + v;
    return true;
}

bool http_response_header(struct http_response *response, const char *name,
                          const char *value)
{
    if (response->mhd == NULL && note_header(response, name, value))
        return true;
    response->reusable = false;
    if (response->mhd == NULL && !response_create(response))
        return false;
    return MHD_add_response_header(response->mhd, name, value) == MHD_YES;
}

void http_response_free(struct http_response *response)
{
    if (response == NULL)
        return;
    if (response->mhd != NULL)
        MHD_destroy_response(response->mhd);
    else
        response_release(response);
}

static bool add_cors(struct http_response *response, const char *origin)
{
    static const char *const exposed =
        "ETag, Link, Location, Retry-After, Content-Range, Tensor-Dtype, Tensor-Shape, "
        "Tensor-Device";
    return http_response_header(response, "Access-Control-Allow-Origin", origin) &&
           http_response_header(response, "Vary", "Origin") &&
           http_response_header(response, "Access-Control-Expose-Headers", exposed);
}

// libmicrohttpd 0.9.75 ends the answer to a HEAD with the last chunk of a body that it
// did not send, and a client takes that for the next answer. So: no chunks.
static bool end_head(struct http_request *request, struct http_response *response)
{
    const char *method = request->facts.method;
    if (!response->unsized || method == NULL || strcmp(method, "HEAD") != 0)
        return true;
    return MHD_set_response_options(response->mhd, MHD_RF_HTTP_1_0_COMPATIBLE_STRICT,
                                    MHD_RO_END) == MHD_YES;
}

enum MHD_Result response_queue(struct http_request *request,
                               struct http_response *response)
{
    enum MHD_Result result = MHD_NO;
    if (request->allow_origin == NULL || add_cors(response, request->allow_origin)) {
        struct http_response *kept = NULL;
        if (response->mhd == NULL)
            kept = response_reuse(&request->server->responses, response);
        if (kept != NULL)
            response = kept;
        response->request = request;
        if ((response->mhd != NULL || response_create(response)) &&
            end_head(request, response))
            result = MHD_queue_response(request->connection, (unsigned)response->status,
                                        response->mhd);
    }
    if (response->reusable && result == MHD_YES)
        request->lent = response;
    else
        http_response_free(response);
    return result;
}
