// SPDX-License-Identifier: Apache-2.0
// A client that sends exactly the bytes it is told to, for the tests of the HTTP layer.
#ifndef TENSORD_TESTS_RAW_CLIENT_H
#define TENSORD_TESTS_RAW_CLIENT_H

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

enum { CLIENT_PATIENCE_MS = 20000 };

struct client {
    int socket;
    char *input; // bytes received and not yet read as a reply
    size_t used, capacity;
    bool closed; // by the server
};

struct reply {
    int status;
    char *head; // status line and headers, terminated
    char *body;
    size_t length;
};

// address: "http://127.0.0.1:PORT" or "unix:PATH".
static inline void client_open(struct client *client, const char *address)
{
    memset(client, 0, sizeof *client);
    struct sockaddr_in in = {.sin_family = AF_INET};
    struct sockaddr_un un = {.sun_family = AF_UNIX};
    bool is_unix = strncmp(address, "unix:", 5) == 0;
    client->socket = socket(is_unix ? AF_UNIX : AF_INET, SOCK_STREAM, 0);
    assert_true(client->socket >= 0);
    if (is_unix) {
        snprintf(un.sun_path, sizeof un.sun_path, "%s", address + 5);
        assert_int_equal(connect(client->socket, (struct sockaddr *)&un, sizeof un), 0);
        return;
    }
    in.sin_port = htons((uint16_t)strtoul(strrchr(address, ':') + 1, NULL, 10));
    in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_int_equal(connect(client->socket, (struct sockaddr *)&in, sizeof in), 0);
}

static inline void client_close(struct client *client)
{
    close(client->socket);
    free(client->input);
}

static inline void client_send_bytes(struct client *client, const char *bytes,
                                     size_t count)
{
    while (count > 0) {
        ssize_t sent = send(client->socket, bytes, count, MSG_NOSIGNAL);
        if (sent <= 0)
            return; // the server has closed; the reply tells
        bytes += sent;
        count -= (size_t)sent;
    }
}

static inline void client_send(struct client *client, const char *text)
{
    client_send_bytes(client, text, strlen(text));
}

// Receives something more. False at the end of the stream or of patience.
static inline bool client_receive(struct client *client, int patience_ms)
{
    struct pollfd poll_one = {.fd = client->socket, .events = POLLIN};
    if (client->closed || poll(&poll_one, 1, patience_ms) <= 0)
        return false;
    if (client->capacity - client->used < 65536) {
        client->capacity = 2 * client->capacity + 131072;
        client->input = realloc(client->input, client->capacity);
        assert_non_null(client->input);
    }
    ssize_t got = recv(client->socket, client->input + client->used,
                       client->capacity - client->used - 1, 0);
    if (got <= 0) {
        client->closed = true;
        return false;
    }
    client->used += (size_t)got;
    client->input[client->used] = '\0';
    return true;
}

static inline void client_consume(struct client *client, size_t count)
{
    memmove(client->input, client->input + count, client->used - count + 1);
    client->used -= count;
}

static inline const char *reply_header(const struct reply *reply, const char *name)
{
    static _Thread_local char value[512];
    size_t length = strlen(name);
    for (const char *line = strstr(reply->head, "\r\n"); line != NULL;
         line = strstr(line + 2, "\r\n"))
        if (strncasecmp(line + 2, name, length) == 0 && line[2 + length] == ':') {
            const char *start = line + 3 + length + strspn(line + 3 + length, " ");
            snprintf(value, sizeof value, "%.*s", (int)strcspn(start, "\r"), start);
            return value;
        }
    return NULL;
}

static inline bool read_chunks(struct client *client, struct reply *reply)
{
    for (;;) {
        char *end;
        while (client->used == 0 || strstr(client->input, "\r\n") == NULL)
            if (!client_receive(client, CLIENT_PATIENCE_MS))
                return false;
        size_t size = strtoul(client->input, &end, 16);
        size_t start = (size_t)(end - client->input) + 2;
        while (client->used < start + size + 2)
            if (!client_receive(client, CLIENT_PATIENCE_MS))
                return false;
        reply->body = realloc(reply->body, reply->length + size + 1);
        memcpy(reply->body + reply->length, client->input + start, size);
        reply->length += size;
        reply->body[reply->length] = '\0';
        client_consume(client, start + size + 2);
        if (size == 0)
            return true;
    }
}

static inline void reply_free(struct reply *reply)
{
    free(reply->head);
    free(reply->body);
    memset(reply, 0, sizeof *reply);
}

// Reads one reply. False if the connection ends before one is complete.
static inline bool client_reply(struct client *client, struct reply *reply, bool has_body)
{
    memset(reply, 0, sizeof *reply);
    char *end;
    while (client->used == 0 || (end = strstr(client->input, "\r\n\r\n")) == NULL)
        if (!client_receive(client, CLIENT_PATIENCE_MS))
            return false;
    size_t head = (size_t)(end - client->input) + 4;
    reply->head = strndup(client->input, head);
    reply->status = (int)strtol(client->input + 9, NULL, 10);
    client_consume(client, head);
    const char *encoding = reply_header(reply, "Transfer-Encoding");
    if (!has_body)
        return true;
    if (encoding != NULL && strcmp(encoding, "chunked") == 0)
        return read_chunks(client, reply);
    const char *length = reply_header(reply, "Content-Length");
    reply->length = length == NULL ? 0 : strtoul(length, NULL, 10);
    while (client->used < reply->length)
        if (!client_receive(client, CLIENT_PATIENCE_MS)) {
            reply_free(reply);
            return false;
        }
    reply->body = malloc(reply->length + 1);
    if (reply->length > 0) {
        memcpy(reply->body, client->input, reply->length);
        client_consume(client, reply->length);
    }
    reply->body[reply->length] = '\0';
    return true;
}

// Whether the server closes the connection, with nothing more to read.
static inline bool client_is_closed(struct client *client)
{
    while (client_receive(client, CLIENT_PATIENCE_MS))
        ;
    return client->closed && client->used == 0;
}
#endif
