// SPDX-License-Identifier: Apache-2.0
// Runs a graph: plans each root, admits the memory it needs, runs it slice by slice, and
// commits the results.
//
//   create -> admit (until READY) -> step on the worker of executor_device, until DONE ->
//   commit -> free
//
// Nothing outside the executor changes before executor_commit; freeing it earlier undoes
// everything. In place only where tensor.h's rule allows. Device faults and element
// faults (zero division) surface at the last step, which synchronizes. Threads: one at a
// time; step runs on the device's worker (host: any thread).
#ifndef TENSORD_TENSOR_EXECUTOR_H
#define TENSORD_TENSOR_EXECUTOR_H

#include "tensor/graph.h"
#include "tensor/ledger.h"
#include "tensor/registry.h"

struct executor;

// Prepares the roots (and all writes of the graph, in their order). The graph stays the
// caller's and outlives the executor. Plans are made lazily; only sizes are computed
// here.
enum status executor_create(struct graph *graph, int n_roots, struct node *const *roots,
                            struct executor **out, struct problem *problem);
// With an unfinished step of a CUDA device: on its worker.
void executor_free(struct executor *executor);
// While it is lent, executor_free only stops it: somebody else takes its results and
// frees it (cells.h).
void executor_set_lent(struct executor *executor, bool lent);
// Nothing is written in place: for a caller who may still refuse, cancel or fail to bind
// names after DONE. Before the first step.
void executor_set_private(struct executor *executor);
// The caller holds this many transient bytes on a device (an uploaded body, the values of
// a program): see ledger_reserve_more. Before executor_admit.
void executor_set_held(struct executor *executor, int device, int64_t bytes);
// Reserves the bytes of results and temporaries not reserved yet. READY, WAIT or NEVER
// (see ledger.h).
enum admission executor_admit(struct executor *executor, struct problem *problem);
// The device whose worker must run the next step.
struct device *executor_device(const struct executor *executor);
// An estimate of the remaining work in nanoseconds on one core (host work only; -1 for
// CUDA): decides whether a request may run inline.
int64_t executor_estimate(const struct executor *executor);

enum executor_step { EXECUTOR_MORE, EXECUTOR_MOVE, EXECUTOR_DONE, EXECUTOR_FAILED };
// Runs one slice. MOVE: the next step belongs to another device's worker.
enum executor_step executor_step(struct executor *executor, struct problem *problem);
// After EXECUTOR_FAILED or ADMISSION_NEVER: the mark of the node that is to blame (the
// largest one, if memory can never suffice), or NULL.
const void *executor_mark(const struct executor *executor);
double executor_progress(const struct executor *executor); // 0 to 1; any thread

// After DONE: the i-th root's value, a new reference.
enum status executor_result(struct executor *executor, int i, struct tensor **out,
                            struct problem *problem);
// One registry step (names keep readonly, pinned and ttl): names[i] is bound to root i's
// value where not NULL; writes are swapped in. Nothing happens on failure.
enum status executor_commit(struct executor *executor, struct name_space *space,
                            int n_names, const char *const *names,
                            struct problem *problem);
#endif
