// SPDX-License-Identifier: Apache-2.0
// Small answers that are made over and over. Making a response of libmicrohttpd's costs a
// dozen allocations, most of them for headers that never change, so a response that has
// been sent is kept, and the next answer of the same status, headers and length is
// written over its bytes.
//
// A kept response has one reference, ours; nobody reads its bytes. It is taken by any
// thread, and given back by the HTTP thread when its request has completed: then
// libmicrohttpd may still hold a reference, but has sent the bytes.
#include <string.h>

#include "server/http_internal.h"

enum { TEXT_MAX = 4096 }; // of a body that is kept

void response_pool_create(struct response_pool *pool)
{
    pthread_mutex_init(&pool->mutex, NULL);
}

void response_pool_free(struct response_pool *pool)
{
    for (int i = 0; i < pool->count; i++)
        http_response_free(pool->kept[i].response);
    pthread_mutex_destroy(&pool->mutex);
}

static bool forms_equal(const struct response_form *a, const struct response_form *b)
{
    return a->count == b->count && a->status == b->status && a->type == b->type &&
           a->cache_control == b->cache_control;
}

static struct http_response *take(struct response_pool *pool,
                                  const struct response_form *form)
{
    struct http_response *response = NULL;
    pthread_mutex_lock(&pool->mutex);
    for (int i = pool->count - 1; i >= 0 && response == NULL; i--)
        if (forms_equal(&pool->kept[i].form, form)) {
            response = pool->kept[i].response;
            pool->kept[i] = pool->kept[--pool->count];
        }
    pthread_mutex_unlock(&pool->mutex);
    return response;
}

void response_keep(struct response_pool *pool, struct http_response *response)
{
    struct http_response *dropped = NULL;
    pthread_mutex_lock(&pool->mutex);
    int place = pool->count;
    if (place < HTTP_KEPT_RESPONSES)
        pool->count++;
    else {
        place = pool->victim++ % HTTP_KEPT_RESPONSES;
        dropped = pool->kept[place].response;
    }
    pool->kept[place] = (struct kept_response){response->form, response};
    pthread_mutex_unlock(&pool->mutex);
    http_response_free(dropped);
}

struct http_response *http_response_text(struct http_request *request, int status,
                                         const char *type, const char *cache_control,
                                         const char *bytes, size_t count)
{
    struct response_form form = {status, count, type, cache_control};
    struct http_response *response = NULL;
    if (count <= TEXT_MAX)
        response = take(&request->server->responses, &form);
    if (response != NULL) {
        memcpy(response->data, bytes, count);
        return response;
    }
    response = http_response_copy(status, bytes, count);
    if (response == NULL)
        return NULL;
    if (!http_response_header(response, "Content-Type", type) ||
        !http_response_header(response, "Cache-Control", cache_control)) {
        http_response_free(response);
        return NULL;
    }
    response->form = form;
    response->reusable = count <= TEXT_MAX;
    return response;
}
