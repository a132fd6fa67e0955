// SPDX-License-Identifier: Apache-2.0
// Notices clients that go away. libmicrohttpd does not look at a suspended connection,
// and misses an end of input that came together with data (its epoll is edge-triggered,
// and a short read counts as having read all): such a connection would keep half a body
// until it times out. One thread with an epoll of its own.
//
// A socket is entered once, at its first request, edge-triggered for EPOLLRDHUP (a
// half-close counts as gone), so that further requests cost no system call. A slot names
// the socket's suspended request, if any: it is told. Otherwise the socket is shut for
// reading, which makes libmicrohttpd look again. Slots are numbered, so that events of an
// earlier socket with the same descriptor are harmless.
#ifndef TENSORD_SERVER_WATCHER_H
#define TENSORD_SERVER_WATCHER_H

#include "kernels/base/problem.h"

struct watcher;

// gone(context, subject) runs on the watcher's thread, at most once per watcher_begin.
enum status watcher_create(void (*gone)(void *context, void *subject), void *context,
                           struct watcher **out, struct problem *problem);
void watcher_free(struct watcher *watcher); // joins the thread

// Enters a socket. False when memory is out.
bool watcher_enter(struct watcher *watcher, int socket);
// From now on subject is told about socket, which is entered if it was not. A client that
// is gone already is noticed. False when memory is out (the subject is then not watched).
bool watcher_begin(struct watcher *watcher, int socket, void *subject);
// No call for the subject starts any more; one that has begun may still run. Any thread,
// and also from within the call.
void watcher_end(struct watcher *watcher, int socket, void *subject);
// Returns when no call for subject runs. Not from within the call.
void watcher_wait(struct watcher *watcher, const void *subject);
// The socket is about to be closed.
void watcher_forget(struct watcher *watcher, int socket);
#endif
