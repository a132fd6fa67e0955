// SPDX-License-Identifier: Apache-2.0
// Where the server listens: parsing of --listen and the socket itself.
#ifndef TENSORD_SERVER_LISTEN_H
#define TENSORD_SERVER_LISTEN_H

#include <sys/socket.h>
#include <sys/un.h>

#include "kernels/base/problem.h"

struct listen_address {
    bool is_unix;
    bool is_loopback; // nobody but this machine reaches it; unix sockets too
    struct sockaddr_storage socket_address;
    socklen_t length;
    char path[sizeof((struct sockaddr_un *)0)->sun_path]; // of a unix socket
};

// "127.0.0.1:8080", "localhost:0", "[::1]:8080", "unix:PATH". STATUS_VALUE says what is
// wrong.
enum status listen_parse(const char *text, struct listen_address *out,
                         struct problem *problem);
// A listening socket (the caller's) and its address as text, with the real port:
// "http://127.0.0.1:8080" or "unix:PATH". A unix socket that nobody serves any more is
// replaced; the new one has mode 0600. STATUS_CONFLICT if the address is taken.
enum status listen_open(const struct listen_address *address, int *out, char *text,
                        size_t size, struct problem *problem);
#endif
