// SPDX-License-Identifier: Apache-2.0
// See listen.h. Runs on the main thread, before there are others.
#include "server/listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LISTEN_BACKLOG = 4096 };

static bool is_loopback(const struct sockaddr *address)
{
    if (address->sa_family == AF_INET) {
        const struct sockaddr_in *in = (const struct sockaddr_in *)address;
        return ntohl(in->sin_addr.s_addr) >> 24 == 127;
    }
    const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)address;
    return IN6_IS_ADDR_LOOPBACK(&in6->sin6_addr);
}

static enum status parse_unix(const char *path, struct listen_address *out,
                              struct problem *problem)
{
    size_t length = strlen(path);
    if (length == 0 || length >= sizeof out->path)
        return problem_set(problem, STATUS_VALUE,
                           "The path of a unix socket has 1 to %zu bytes.",
                           sizeof out->path - 1);
    struct sockaddr_un *address = (struct sockaddr_un *)&out->socket_address;
    address->sun_family = AF_UNIX;
    memcpy(address->sun_path, path, length + 1);
    memcpy(out->path, path, length + 1);
    out->length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length + 1);
    out->is_unix = out->is_loopback = true;
    return STATUS_OK;
}

// Splits "host:port" and "[v6]:port". False if it is neither.
static bool split_host_port(const char *text, char *host, size_t size, const char **port)
{
    const char *colon = strrchr(text, ':');
    if (colon == NULL || colon == text || colon[1] == '\0')
        return false;
    const char *start = text, *end = colon;
    if (*start == '[') {
        if (end[-1] != ']')
            return false;
        start++;
        end--;
    } else if (memchr(start, ':', (size_t)(end - start)) != NULL) {
        return false;
    }
    size_t length = (size_t)(end - start);
    if (length == 0 || length >= size)
        return false;
    memcpy(host, start, length);
    host[length] = '\0';
    *port = colon + 1;
    size_t digits = strspn(*port, "0123456789");
    return digits <= 5 && (*port)[digits] == '\0' && strtoul(*port, NULL, 10) <= 65535;
}

enum status listen_parse(const char *text, struct listen_address *out,
                         struct problem *problem)
{
    memset(out, 0, sizeof *out);
    if (strncmp(text, "unix:", 5) == 0)
        return parse_unix(text + 5, out, problem);
    char host[256];
    const char *port;
    if (!split_host_port(text, host, sizeof host, &port))
        return problem_set(problem, STATUS_VALUE,
                           "'%s' is no address to listen on: 127.0.0.1:8080, [::1]:8080 "
                           "and unix:PATH are.",
                           text);
    // localhost is IPv4, whatever the machine's tables say.
    const char *node = strcmp(host, "localhost") == 0 ? "127.0.0.1" : host;
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICHOST};
    struct addrinfo *found = NULL;
    int error = getaddrinfo(node, port, &hints, &found);
    if (error == EAI_NONAME) {
        hints.ai_flags = 0;
        error = getaddrinfo(node, port, &hints, &found);
    }
    if (error != 0)
        return problem_set(problem, STATUS_VALUE, "'%s': %s.", text, gai_strerror(error));
    memcpy(&out->socket_address, found->ai_addr, found->ai_addrlen);
    out->length = found->ai_addrlen;
    out->is_loopback = is_loopback(found->ai_addr);
    freeaddrinfo(found);
    return STATUS_OK;
}

// Removes the socket file of a server that is gone. One that answers stays.
static void remove_stale(const struct listen_address *address)
{
    struct stat info;
    if (lstat(address->path, &info) != 0 || !S_ISSOCK(info.st_mode))
        return;
    int probe = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (probe < 0)
        return;
    int refused = connect(probe, (const struct sockaddr *)&address->socket_address,
                          address->length) != 0 &&
                  errno == ECONNREFUSED;
    close(probe);
    if (refused)
        unlink(address->path);
}

static enum status describe(const struct listen_address *address, int socket, char *text,
                            size_t size, struct problem *problem)
{
    if (address->is_unix) {
        snprintf(text, size, "unix:%s", address->path);
        return STATUS_OK;
    }
    struct sockaddr_storage bound;
    socklen_t length = sizeof bound;
    char host[INET6_ADDRSTRLEN], port[8];
    if (getsockname(socket, (struct sockaddr *)&bound, &length) != 0 ||
        getnameinfo((struct sockaddr *)&bound, length, host, sizeof host, port,
                    sizeof port, NI_NUMERICHOST | NI_NUMERICSERV) != 0)
        return problem_set(problem, STATUS_CONFLICT, "The socket has no address.");
    snprintf(text, size, strchr(host, ':') != NULL ? "http://[%s]:%s" : "http://%s:%s",
             host, port);
    return STATUS_OK;
}

static int bind_and_listen(const struct listen_address *address, int socket)
{
    // The socket file is private from its first moment.
    mode_t before = umask(0177);
    int failed =
        bind(socket, (const struct sockaddr *)&address->socket_address, address->length);
    int error = errno;
    umask(before);
    errno = error;
    return failed != 0 ? failed : listen(socket, LISTEN_BACKLOG);
}

enum status listen_open(const struct listen_address *address, int *out, char *text,
                        size_t size, struct problem *problem)
{
    int fd = socket(address->socket_address.ss_family,
                    SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return problem_set(problem, STATUS_CONFLICT, "No socket: %s.", strerror(errno));
    int on = 1;
    if (address->is_unix)
        remove_stale(address);
    else
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind_and_listen(address, fd) != 0) {
        problem_set(problem, STATUS_CONFLICT, "The address cannot be used: %s.",
                    strerror(errno));
        close(fd);
        return STATUS_CONFLICT;
    }
    enum status status = describe(address, fd, text, size, problem);
    if (status != STATUS_OK)
        close(fd);
    else
        *out = fd;
    return status;
}
