// SPDX-License-Identifier: Apache-2.0
// From a parsed request to its answer through the queue: the order of what it touches,
// its graph, its executor. A handler names what it reads and writes, then starts the
// work:
//
//   work_read/write... -> work_start -> prepare -> (executor or run) -> complete ->
//   release -> the answer
//
// Small host work runs to its end on the HTTP thread when nothing that it meets is
// pending; everything else is a task of the queue. Failure at any point leaves everything
// as it was: only complete changes names.
#ifndef TENSORD_API_WORK_H
#define TENSORD_API_WORK_H

#include "api/request.h"

// What advance says.
enum advance {
    ADVANCE_DONE,    // complete may be called
    ADVANCE_MORE,    // it goes on another time; request->prepared false: from its beginning
    ADVANCE_EXECUTE, // request->executor is to be run first
    ADVANCE_FAILED,
};

struct work {
    // Names what the request touches, if it cannot run at once as the only one: a
    // cheaper way than to name everything first. NULL: it was done before work_start.
    // Called once at most.
    void (*declare)(struct request *request);
    // The turn has come: looks up names, checks conditions, builds the graph
    // (request->graph and ->executor), or neither. May be NULL. HTTP thread or a worker.
    enum status (*prepare)(struct request *request, struct problem *problem);
    // One slice of its own on the device that prepare chose (request->task.device),
    // instead of an executor. NULL: none.
    bool (*needs_run)(const struct request *request);
    int (*run_device)(const struct request *request);
    enum status (*run)(struct request *request, struct problem *problem);
    // Work that makes executors as it goes (programs), instead of one that prepare made:
    // called first, and again after MORE and when an executor has run
    // (request->executed), which it frees. steps: about how many instructions it may take
    // now. NULL: none.
    enum advance (*advance)(struct request *request, int64_t steps,
                            struct problem *problem);
    // Everything is computed: commits and makes the answer. NULL with problem filled.
    struct http_response *(*complete)(struct request *request, struct problem *problem);
    // Adds to a problem of the executor what the handler knows of it. May be NULL.
    void (*explain)(const struct request *request, struct problem *problem);
    // Lets go what the handler holds in request->state. Always called, before the answer.
    // May be NULL.
    void (*release)(struct request *request);
};

// What the request touches, in the order of requests. name: lives as long as the request.
void work_read(struct request *request, const char *name);
// Binds or frees the name. like: the new value may share that name's storage; NULL: its
// storage is fresh.
void work_bind(struct request *request, const char *name, const char *like);
void work_unbind(struct request *request, const char *name);
// Writes elements through the name, seen by all views.
void work_write(struct request *request, const char *name);
// Draws from the user's random generators, or seeds them.
void work_generators(struct request *request);
// Meets everything of the user.
void work_write_all(struct request *request);

// device: the one whose worker will probably be needed first. Answers, now or later.
void work_start(struct request *request, const struct work *work, int device);
// The graph of this request, paid for by its user.
enum status work_graph(struct request *request, struct problem *problem);
// The device of a name as it is bound now; 0 if it is not.
int work_device_of(const struct request *request, const char *name);
// Bills host time that was spent outside a task (parsing, printing).
void work_bill(const struct request *request, int64_t nanoseconds);
int64_t work_clock(void); // nanoseconds, monotonic

// The client is gone. Watcher thread.
void work_cancel(struct request *request);
#endif
