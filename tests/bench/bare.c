// SPDX-License-Identifier: Apache-2.0
// The limit of the library: libmicrohttpd with a handler that does nothing. `bare PORT`
// answers POST and GET with a fixed small document, swallows PUT bodies into one warm
// buffer, and serves /bulk (256 MiB) from memory. One epoll thread, as tensord. Not part
// of the product.
#include <microhttpd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BULK = 256 << 20 };
static const char answer[] =
    "{\"name\": \"y\", \"dtype\": \"float32\", \"shape\": [3]}\n";
static char *bulk;

struct request {
    size_t received;
};

static enum MHD_Result respond(struct MHD_Connection *connection, const char *url)
{
    int large = strcmp(url, "/bulk") == 0;
    struct MHD_Response *response = MHD_create_response_from_buffer(
        large ? BULK : sizeof answer - 1, large ? (void *)bulk : (void *)answer,
        MHD_RESPMEM_PERSISTENT);
    MHD_add_response_header(response, "Content-Type", "application/json");
    enum MHD_Result result = MHD_queue_response(connection, 200, response);
    MHD_destroy_response(response);
    return result;
}

static enum MHD_Result handle(void *context, struct MHD_Connection *connection,
                              const char *url, const char *method, const char *version,
                              const char *upload, size_t *size, void **state)
{
    (void)context, (void)method, (void)version;
    struct request *request = *state;
    if (request == NULL) {
        *state = calloc(1, sizeof *request);
        return *state != NULL ? MHD_YES : MHD_NO;
    }
    if (*size > 0) {
        if (request->received + *size <= BULK)
            memcpy(bulk + request->received, upload, *size);
        request->received += *size;
        *size = 0;
        return MHD_YES;
    }
    return respond(connection, url);
}

static void completed(void *context, struct MHD_Connection *connection, void **state,
                      enum MHD_RequestTerminationCode code)
{
    (void)context, (void)connection, (void)code;
    free(*state);
    *state = NULL;
}

int main(int count, char **arguments)
{
    if (count != 2)
        return 2;
    signal(SIGPIPE, SIG_IGN);
    bulk = malloc(BULK);
    if (bulk == NULL)
        return 1;
    memset(bulk, 1, BULK);
    struct MHD_Daemon *daemon = MHD_start_daemon(
        MHD_USE_EPOLL_INTERNAL_THREAD, (uint16_t)strtol(arguments[1], NULL, 10), NULL,
        NULL, handle, NULL, MHD_OPTION_NOTIFY_COMPLETED, completed, NULL,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)32768, MHD_OPTION_CONNECTION_TIMEOUT,
        30u, MHD_OPTION_END);
    if (daemon == NULL)
        return 1;
    puts("ready");
    fflush(stdout);
    pause();
    return 0;
}
