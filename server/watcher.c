// SPDX-License-Identifier: Apache-2.0
// See watcher.h.
#include "server/watcher.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

struct slot {
    void *subject;   // NULL: nobody is watched
    uint32_t number; // of the socket that has this descriptor now
    bool entered;    // in the epoll set
    bool gone;       // the client has gone
};

struct watcher {
    pthread_mutex_t mutex;
    pthread_cond_t returned;
    void (*gone)(void *context, void *subject);
    void *context;
    void *current;      // the subject being told
    struct slot *slots; // by descriptor
    int n_slots;
    uint32_t next_number;
    int epoll, stop;
    pthread_t thread;
};

static const uint64_t stop_event = UINT64_MAX;

static uint64_t event_of(int socket, uint32_t number)
{
    return (uint64_t)number << 32 | (uint32_t)socket;
}

static bool slots_reserve(struct watcher *watcher, int socket)
{
    if (socket < watcher->n_slots)
        return true;
    int n = watcher->n_slots == 0 ? 64 : watcher->n_slots;
    while (n <= socket)
        n *= 2;
    struct slot *slots = realloc(watcher->slots, (size_t)n * sizeof *slots);
    if (slots == NULL)
        return false;
    memset(slots + watcher->n_slots, 0, (size_t)(n - watcher->n_slots) * sizeof *slots);
    watcher->slots = slots;
    watcher->n_slots = n;
    return true;
}

// The socket's slot, entered in the epoll set; NULL when memory is out. Mutex held.
static struct slot *slot_enter(struct watcher *watcher, int socket)
{
    if (!slots_reserve(watcher, socket))
        return NULL;
    struct slot *slot = &watcher->slots[socket];
    if (slot->entered)
        return slot;
    slot->number = watcher->next_number++;
    slot->gone = false;
    struct epoll_event event = {.events = EPOLLRDHUP | EPOLLET,
                                .data.u64 = event_of(socket, slot->number)};
    slot->entered = epoll_ctl(watcher->epoll, EPOLL_CTL_ADD, socket, &event) == 0;
    return slot->entered ? slot : NULL;
}

bool watcher_enter(struct watcher *watcher, int socket)
{
    pthread_mutex_lock(&watcher->mutex);
    bool entered = slot_enter(watcher, socket) != NULL;
    pthread_mutex_unlock(&watcher->mutex);
    return entered;
}

bool watcher_begin(struct watcher *watcher, int socket, void *subject)
{
    pthread_mutex_lock(&watcher->mutex);
    struct slot *slot = slot_enter(watcher, socket);
    if (slot != NULL)
        slot->subject = subject;
    if (slot != NULL && slot->gone) {
        // The edge has passed; asking anew makes epoll report it again.
        struct epoll_event event = {.events = EPOLLRDHUP | EPOLLET,
                                    .data.u64 = event_of(socket, slot->number)};
        epoll_ctl(watcher->epoll, EPOLL_CTL_MOD, socket, &event);
    }
    pthread_mutex_unlock(&watcher->mutex);
    return slot != NULL;
}

void watcher_end(struct watcher *watcher, int socket, void *subject)
{
    pthread_mutex_lock(&watcher->mutex);
    if (socket < watcher->n_slots && watcher->slots[socket].subject == subject)
        watcher->slots[socket].subject = NULL;
    pthread_mutex_unlock(&watcher->mutex);
}

void watcher_wait(struct watcher *watcher, const void *subject)
{
    pthread_mutex_lock(&watcher->mutex);
    while (watcher->current == subject)
        pthread_cond_wait(&watcher->returned, &watcher->mutex);
    pthread_mutex_unlock(&watcher->mutex);
}

void watcher_forget(struct watcher *watcher, int socket)
{
    pthread_mutex_lock(&watcher->mutex);
    if (socket < watcher->n_slots && watcher->slots[socket].entered) {
        epoll_ctl(watcher->epoll, EPOLL_CTL_DEL, socket, NULL);
        memset(&watcher->slots[socket], 0, sizeof watcher->slots[socket]);
    }
    pthread_mutex_unlock(&watcher->mutex);
}

static void handle(struct watcher *watcher, uint64_t event)
{
    int socket = (int)(event & 0xFFFFFFFFu);
    pthread_mutex_lock(&watcher->mutex);
    struct slot *slot = socket < watcher->n_slots ? &watcher->slots[socket] : NULL;
    if (slot != NULL && slot->entered && slot->number == event >> 32) {
        slot->gone = true;
        if (slot->subject == NULL) {
            shutdown(socket, SHUT_RD); // not closed yet: watcher_forget comes first
        } else {
            void *subject = watcher->current = slot->subject;
            slot->subject = NULL;
            pthread_mutex_unlock(&watcher->mutex);
            watcher->gone(watcher->context, subject);
            pthread_mutex_lock(&watcher->mutex);
            watcher->current = NULL;
            pthread_cond_broadcast(&watcher->returned);
        }
    }
    pthread_mutex_unlock(&watcher->mutex);
}

static void *watcher_main(void *argument)
{
    struct watcher *watcher = argument;
    pthread_setname_np(pthread_self(), "watcher");
    struct epoll_event events[64];
    for (;;) {
        int n = epoll_wait(watcher->epoll, events, 64, -1);
        if (n < 0 && errno != EINTR)
            return NULL;
        for (int i = 0; i < n; i++) {
            if (events[i].data.u64 == stop_event)
                return NULL;
            handle(watcher, events[i].data.u64);
        }
    }
}

static void destroy(struct watcher *watcher)
{
    if (watcher->epoll >= 0)
        close(watcher->epoll);
    if (watcher->stop >= 0)
        close(watcher->stop);
    pthread_cond_destroy(&watcher->returned);
    pthread_mutex_destroy(&watcher->mutex);
    free(watcher->slots);
    free(watcher);
}

enum status watcher_create(void (*gone)(void *context, void *subject), void *context,
                           struct watcher **out, struct problem *problem)
{
    struct watcher *watcher = calloc(1, sizeof *watcher);
    if (watcher == NULL)
        return problem_set(problem, STATUS_OUT_OF_MEMORY, "No memory for the watcher.");
    pthread_mutex_init(&watcher->mutex, NULL);
    pthread_cond_init(&watcher->returned, NULL);
    watcher->gone = gone;
    watcher->context = context;
    watcher->epoll = epoll_create1(EPOLL_CLOEXEC);
    watcher->stop = eventfd(0, EFD_CLOEXEC);
    struct epoll_event event = {.events = EPOLLIN, .data.u64 = stop_event};
    if (watcher->epoll < 0 || watcher->stop < 0 ||
        epoll_ctl(watcher->epoll, EPOLL_CTL_ADD, watcher->stop, &event) != 0 ||
        pthread_create(&watcher->thread, NULL, watcher_main, watcher) != 0) {
        destroy(watcher);
        return problem_set(problem, STATUS_OUT_OF_MEMORY,
                           "No resources for the watcher.");
    }
    *out = watcher;
    return STATUS_OK;
}

void watcher_free(struct watcher *watcher)
{
    if (watcher == NULL)
        return;
    ssize_t written = write(watcher->stop, &(uint64_t){1}, sizeof(uint64_t));
    if (written == sizeof(uint64_t))
        pthread_join(watcher->thread, NULL);
    destroy(watcher);
}
