// SPDX-License-Identifier: Apache-2.0
// Small answers that are made over and over. Making a response of libmicrohttpd's costs a
// dozen allocations, most of them for headers that never change. So a small answer is
// only noted until it is queued; a response that has been sent is kept, and the next
// answer of the same status, headers and length is written over its bytes.
//
// A kept response has one reference, ours; nobody reads its bytes. It is given back when
// its request has completed: then libmicrohttpd may still hold a reference, but has sent
// the bytes. HTTP thread.
#include <stdlib.h>
#include <string.h>

#include "server/http_internal.h"

void response_pool_free(struct response_pool *pool)
{
    for (int i = 0; i < pool->count; i++)
        http_response_free(pool->kept[i]);
}

static bool same_form(const struct http_response *a, const struct http_response *b)
{
    return a->count == b->count && a->status == b->status &&
           a->headers_length == b->headers_length &&
           memcmp(a->headers, b->headers, a->headers_length) == 0;
}

struct http_response *response_reuse(struct response_pool *pool,
                                     struct http_response *fresh)
{
    for (int i = pool->count - 1; i >= 0; i--) {
        struct http_response *response = pool->kept[i];
        if (!same_form(response, fresh))
            continue;
        pool->kept[i] = pool->kept[--pool->count];
        memcpy(response->data, fresh->data, fresh->count);
        free(fresh);
        return response;
    }
    return NULL;
}

void response_keep(struct response_pool *pool, struct http_response *response)
{
    struct http_response *dropped = NULL;
    int place = pool->count;
    if (place < HTTP_KEPT_RESPONSES)
        pool->count++;
    else {
        place = (int)(pool->victim++ % HTTP_KEPT_RESPONSES);
        dropped = pool->kept[place];
    }
    pool->kept[place] = response;
    http_response_free(dropped);
}
