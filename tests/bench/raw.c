// SPDX-License-Identifier: Apache-2.0
// Raw sockets: the limit of bulk transfers, and the client that measures them.
//   raw serve PORT                 sends or swallows 256 MiB per command byte ('g' or
//   'p') raw rawget|rawput PORT N       N transfers with `raw serve`; prints the median
//   GiB/s raw get|put PORT N PATH FILE   the same over HTTP: GET PATH, or PUT PATH with
//   FILE's bytes as the body
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { BULK = 256 << 20, PIECE = 256 << 10 };
static char *buffer; // BULK + PIECE bytes, touched

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static int endpoint(int port, int server)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM, 0), on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    int failed = server ? bind(fd, (void *)&address, sizeof address) || listen(fd, 16)
                        : connect(fd, (void *)&address, sizeof address);
    if (failed) {
        perror("socket");
        exit(1);
    }
    return fd;
}

static void send_all(int fd, const char *bytes, size_t count)
{
    for (size_t done = 0; done < count;) {
        ssize_t n =
            send(fd, bytes + done, count - done < PIECE ? count - done : PIECE, 0);
        if (n <= 0)
            exit(1);
        done += (size_t)n;
    }
}

static void receive_all(int fd, char *bytes, size_t count)
{
    for (size_t done = 0; done < count;) {
        ssize_t n =
            recv(fd, bytes + done, count - done < PIECE ? count - done : PIECE, 0);
        if (n <= 0)
            exit(1);
        done += (size_t)n;
    }
}

static void serve(int port)
{
    int listener = endpoint(port, 1);
    puts("ready");
    fflush(stdout);
    for (;;) {
        int fd = accept(listener, NULL, NULL);
        for (char command; recv(fd, &command, 1, 0) == 1;) {
            if (command == 'g') {
                send_all(fd, buffer, BULK);
            } else {
                receive_all(fd, buffer, BULK);
                send_all(fd, "k", 1);
            }
        }
        close(fd);
    }
}

// Reads one HTTP answer; its body goes to buffer. Exits unless the status is 2xx.
static void read_answer(int fd)
{
    char head[8192];
    size_t have = 0;
    char *end = NULL;
    while (end == NULL && have < sizeof head - 1) {
        ssize_t n = recv(fd, head + have, sizeof head - 1 - have, 0);
        if (n <= 0)
            exit(1);
        have += (size_t)n;
        head[have] = '\0';
        end = strstr(head, "\r\n\r\n");
    }
    char *length = strcasestr(head, "content-length:");
    if (end == NULL || length == NULL || head[9] != '2') {
        fprintf(stderr, "%s\n", head);
        exit(1);
    }
    size_t body = strtoull(length + 15, NULL, 10), got = have - (size_t)(end + 4 - head);
    memcpy(buffer, end + 4, got);
    while (got < body) {
        size_t want = body - got < PIECE ? body - got : PIECE;
        ssize_t n = recv(fd, buffer + (got < BULK ? got : BULK), want, 0);
        if (n <= 0)
            exit(1);
        got += (size_t)n;
    }
}

static void http(int fd, const char *path, const char *body, size_t count)
{
    char head[512];
    int length = snprintf(head, sizeof head, "%s %s HTTP/1.1\r\nHost: localhost\r\n",
                          body ? "PUT" : "GET", path);
    if (body != NULL)
        length +=
            snprintf(head + length, sizeof head - (size_t)length,
                     "Content-Type: application/x-npy\r\nContent-Length: %zu\r\n", count);
    length += snprintf(head + length, sizeof head - (size_t)length, "\r\n");
    send_all(fd, head, (size_t)length);
    if (body != NULL)
        send_all(fd, body, count);
    read_answer(fd);
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int count, char **arguments)
{
    signal(SIGPIPE, SIG_IGN);
    buffer = malloc((size_t)BULK + PIECE);
    if (count < 3 || buffer == NULL)
        return 2;
    memset(buffer, 3, (size_t)BULK + PIECE);
    int port = (int)strtol(arguments[2], NULL, 10);
    if (strcmp(arguments[1], "serve") == 0)
        serve(port);
    int repetitions = count > 3 ? (int)strtol(arguments[3], NULL, 10) : 5;
    char *body = NULL;
    size_t body_size = 0;
    if (strcmp(arguments[1], "put") == 0 && count > 5) {
        FILE *file = fopen(arguments[5], "rb");
        body = malloc((size_t)BULK + PIECE);
        if (file == NULL || body == NULL)
            return 1;
        body_size = fread(body, 1, (size_t)BULK + PIECE, file);
        fclose(file);
    }
    double speeds[64];
    int fd = endpoint(port, 0);
    for (int i = 0; i < repetitions && i < 64; i++) {
        double start = now();
        if (strcmp(arguments[1], "rawget") == 0) {
            send_all(fd, "g", 1);
            receive_all(fd, buffer, BULK);
        } else if (strcmp(arguments[1], "rawput") == 0) {
            send_all(fd, "p", 1);
            send_all(fd, buffer, BULK);
            receive_all(fd, buffer, 1);
        } else {
            http(fd, arguments[4], body, body_size);
        }
        speeds[i] = 0.25 / (now() - start);
    }
    qsort(speeds, (size_t)repetitions, sizeof *speeds, ascending);
    printf("%.3f\n", speeds[repetitions / 2]);
    return 0;
}
