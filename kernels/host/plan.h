// SPDX-License-Identifier: Apache-2.0
// Plans of the host device: a kernel as a row of units, of which a slice runs as many as
// a few milliseconds allow, alone or together with the pool.
//
// Invariants. Units [0, done) have finished; nothing runs between two slices. The number
// of units in a slice follows the clock; the bits of the result do not depend on it,
// since every unit's work is fixed when the plan is made. A tiny pass is not prepared at
// all: it is copied, and runs as it is in the only slice. Faults. A division by zero
// fails the plan that met it, once its work has ended (so that it cannot leak into
// another request that computes on the host at the same time). Threads: a plan belongs to
// one thread at a time; plan_host_progress from any.
#ifndef TENSORD_KERNELS_HOST_PLAN_H
#define TENSORD_KERNELS_HOST_PLAN_H

#include <stdatomic.h>

#include "kernels/device.h"
#include "kernels/host/alloc.h"
#include "kernels/host/pool.h"

struct host_device {
    struct device device; // first: a struct device * is a struct host_device *
    struct host_alloc *alloc;
    struct pool *pool;
    atomic_int_fast64_t busy;     // nanoseconds
    _Atomic(struct plan *) spare; // one freed plan, kept for the next; malloc's
    char name[128];               // the processor's model
};

static inline struct host_device *host_device(struct device *device)
{
    return (struct host_device *)device;
}

// The functions of struct device_interface.
enum status plan_host_create(struct device *device, const struct kernel *kernel,
                             struct plan **out, struct problem *problem);
enum slice plan_host_next(struct plan *plan, struct problem *problem);
void plan_host_progress(const struct plan *plan, int64_t *done, int64_t *total);
void plan_host_free(struct plan *plan);
#endif
