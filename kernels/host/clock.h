// SPDX-License-Identifier: Apache-2.0
// Clocks in nanoseconds. Any thread.
#ifndef TENSORD_KERNELS_HOST_CLOCK_H
#define TENSORD_KERNELS_HOST_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline int64_t clock_nanoseconds(clockid_t id)
{
    struct timespec now;
    clock_gettime(id, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}
// Of the wall; some 25 ns a call.
static inline int64_t clock_wall(void)
{
    return clock_nanoseconds(CLOCK_MONOTONIC);
}
// CPU time of the calling thread; a system call.
static inline int64_t clock_cpu(void)
{
    return clock_nanoseconds(CLOCK_THREAD_CPUTIME_ID);
}
#endif
