// SPDX-License-Identifier: Apache-2.0
// The executor's own structure, for executor.c (life, admission, results, commit) and
// executor_run.c (steps).
#ifndef TENSORD_TENSOR_EXECUTOR_INTERNAL_H
#define TENSORD_TENSOR_EXECUTOR_INTERNAL_H

#include "tensor/executor.h"
#include "tensor/planner.h"

enum phase {
    PHASE_BEGIN, // memory and pins of the step
    PHASE_OLD,   // a write or update of a part: the other elements are copied first
    PHASE_RUN,
};

// Lives in the graph's arena. One thread at a time, but `done`, which executor_progress
// reads.
struct executor {
    struct graph *graph;
    struct schedule schedule;
    int n_roots;
    struct node **roots;
    bool is_private; // nothing may be written in place
    bool is_lent;    // executor_free leaves the results alone
    bool failed, finished;
    const void *mark; // of what failed

    // The current step
    struct step *step; // NULL at the end
    enum phase phase;
    struct plan *plan;      // of its current kernel, or NULL
    int64_t outer, n_outer; // of its passes
    int64_t copied;         // bytes
    struct block *old;      // PHASE_OLD: where the other elements come from
    struct node *in_place;  // the WRITE that went in place, or NULL

    // Bytes of the buffers, and those of them that are reserved and not used yet, by
    // device.
    bool admitted;
    int64_t held[LEDGER_MAX_DEVICES]; // transient bytes that the caller holds
    int64_t needed[LEDGER_MAX_DEVICES], reserved[LEDGER_MAX_DEVICES];

    int64_t total_cost, finished_cost;
    bool host_only;
    atomic_llong done; // of total_cost
};

// Gives back what is reserved and will not be used.
void executor_unreserve(struct executor *executor);
// Drops the pins and buffers whose last reader has run by `step`; all of them for
// INT_MAX.
void executor_release(struct executor *executor, const struct step *step);
#endif
