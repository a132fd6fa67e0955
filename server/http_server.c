// SPDX-License-Identifier: Apache-2.0
// The server's life and libmicrohttpd's callbacks. libmicrohttpd runs one epoll thread
// (the HTTP thread); everything here but start and stop runs on it.
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "server/http_internal.h"
#include "server/listen.h"

// Called with the raw target, before libmicrohttpd splits and unescapes it.
static void *on_target(void *argument, const char *target,
                       struct MHD_Connection *connection)
{
    struct http_server *server = argument;
    struct http_request *request =
        request_create(server, connection, target == NULL ? "" : target);
    // The query is ours to read. Cut off, it is not also split into libmicrohttpd's small
    // pool (the text is a buffer of the connection).
    char *mark = target == NULL ? NULL : strchr(target, '?');
    if (mark != NULL)
        mark[1] = '\0';
    return request;
}

// The path is decoded by whoever routes it.
static size_t leave_escaped(void *argument, struct MHD_Connection *connection, char *text)
{
    return strlen(text);
}

static enum MHD_Result on_call(void *argument, struct MHD_Connection *connection,
                               const char *url, const char *method, const char *version,
                               const char *bytes, size_t *count, void **request)
{
    if (*request == NULL)
        return MHD_NO; // memory was out
    return request_advance(*request, method, version, bytes, count);
}

static void on_completed(void *argument, struct MHD_Connection *connection,
                         void **request, enum MHD_RequestTerminationCode code)
{
    if (*request != NULL)
        request_completed(*request);
    *request = NULL;
}

// Input left unread would turn the close into a reset, which can take the answer with it.
static void drain_input(int socket)
{
    char waste[16384];
    for (int i = 0; i < 64; i++)
        if (recv(socket, waste, sizeof waste, MSG_DONTWAIT) <= 0)
            return;
}

static void connection_closed(struct http_server *server, struct http_connection *mine)
{
    watcher_forget(server->watcher, mine->socket);
    if (mine->refused)
        drain_input(mine->socket);
    if (mine->opened && server->handler.connection_close != NULL)
        server->handler.connection_close(server->handler.context, mine->state);
    free(mine);
}

static void on_connection(void *argument, struct MHD_Connection *connection,
                          void **context, enum MHD_ConnectionNotificationCode code)
{
    struct http_server *server = argument;
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        atomic_fetch_add_explicit(&server->connections, 1, memory_order_relaxed);
        struct http_connection *mine = calloc(1, sizeof *mine);
        const union MHD_ConnectionInfo *info =
            MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
        if (mine != NULL)
            mine->socket = info->connect_fd;
        *context = mine;
        return;
    }
    atomic_fetch_sub_explicit(&server->connections, 1, memory_order_relaxed);
    if (*context != NULL)
        connection_closed(server, *context);
    *context = NULL;
}

static struct MHD_Daemon *start_daemon(struct http_server *server,
                                       const struct http_options *options, int socket)
{
    return MHD_start_daemon(
        MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ITC, 0, NULL,
        NULL, on_call, server, // port and accept policy unused: the socket is ours
        MHD_OPTION_LISTEN_SOCKET, socket,                               //
        MHD_OPTION_URI_LOG_CALLBACK, on_target, server,                 //
        MHD_OPTION_UNESCAPE_CALLBACK, leave_escaped, server,            //
        MHD_OPTION_NOTIFY_COMPLETED, on_completed, server,              //
        MHD_OPTION_NOTIFY_CONNECTION, on_connection, server,            //
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, options->connection_memory, //
        // Let the read buffer of a body grow to most of that (it starts with half).
        MHD_OPTION_CONNECTION_MEMORY_INCREMENT, options->connection_memory / 8 * 5, //
        MHD_OPTION_CONNECTION_LIMIT, (unsigned)options->max_connections,            //
        MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)options->idle_seconds,             //
        MHD_OPTION_END);
}

static enum status start(struct http_server *server, const struct http_options *options,
                         struct problem *problem)
{
    struct listen_address address;
    enum status status = listen_parse(options->listen, &address, problem);
    if (status != STATUS_OK)
        return status;
    server->rules = (struct guard_rules){
        .check_host = address.is_loopback && !address.is_unix,
        .hosts = options->hosts,
        .origins = options->origins,
        .users = options->users,
    };
    status = watcher_create(request_vanished, server, &server->watcher, problem);
    if (status != STATUS_OK)
        return status;
    int socket;
    status =
        listen_open(&address, &socket, server->address, sizeof server->address, problem);
    if (status != STATUS_OK)
        return status;
    if (address.is_unix)
        memcpy(server->unix_path, address.path, sizeof server->unix_path);
    server->daemon = start_daemon(server, options, socket);
    if (server->daemon == NULL) {
        close(socket);
        return problem_set(problem, STATUS_OUT_OF_MEMORY,
                           "The HTTP server does not start.");
    }
    return STATUS_OK;
}

enum status http_start(const struct http_options *options,
                       const struct http_handler *handler, struct http_server **out,
                       struct problem *problem)
{
    struct http_server *server = calloc(1, sizeof *server);
    if (server == NULL)
        return problem_set(problem, STATUS_OUT_OF_MEMORY,
                           "No memory for the HTTP server.");
    server->handler = *handler;
    if (getrandom(&server->boot, sizeof server->boot, GRND_NONBLOCK) < 0)
        server->boot = (uint64_t)getpid();
    enum status status = start(server, options, problem);
    if (status != STATUS_OK)
        http_stop(server);
    else
        *out = server;
    return status;
}

const char *http_address(const struct http_server *server)
{
    return server->address;
}

int http_connections(const struct http_server *server)
{
    return atomic_load_explicit(&server->connections, memory_order_relaxed);
}

int http_pending(const struct http_server *server)
{
    return atomic_load_explicit(&server->pending, memory_order_relaxed);
}

void http_stop(struct http_server *server)
{
    if (server == NULL)
        return;
    if (server->daemon != NULL)
        MHD_stop_daemon(server->daemon);
    watcher_free(server->watcher);
    if (server->unix_path[0] != '\0')
        unlink(server->unix_path);
    request_free_spare(server);
    response_pool_free(&server->responses);
    free(server);
}
