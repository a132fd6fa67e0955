// SPDX-License-Identifier: Apache-2.0
// Runs a pass (kernels/pass.h) on the host: blocks that stay in L1, one vector kernel per
// instruction. The work is cut into spans, which any thread may run in any order; the
// bits of the result depend on neither.
//
// The host tree (reductions). The reduced elements of one output, in C order, are cut
// into leaves of REDUCE_LEAF = 256. In a leaf, element i goes to lane i % 8; each lane
// adds up in order from the identity; lanes are folded in halves (0 with 4, 1 with 5,
// ...; then 0 with 2; then 0 with 1). The leaves are the bottom of a binary tree that
// pairs neighbours: 2 leaves, 4, 8, ...; a PASS_REDUCE_BLOCK of 4096 elements is a
// subtree of 16 leaves; the incomplete subtrees at the right end are added from the right
// to the left. float16, bfloat16, float32 and float64 sums and products accumulate in
// float64, bool and integers in int64 (wrapping); MIN and MAX in the register's dtype.
// The tree follows from the number of reduced elements alone: strides, threads, spans and
// instruction sets do not change it.
//
// Threads: a prepared pass is immutable while spans run; disjoint spans may run at the
// same time. A thread that runs spans needs 512 KiB of stack. Memory of the pass (inputs,
// output) is borrowed until it is freed.
#ifndef TENSORD_KERNELS_HOST_PASS_H
#define TENSORD_KERNELS_HOST_PASS_H

#include "kernels/base/problem.h"
#include "kernels/pass.h"

struct host_pass;

// Prepares a pass: copies the program, allocates registers, cuts spans. The struct pass
// may go away afterwards. STATUS_OUT_OF_MEMORY if there is no memory for it. *out is the
// caller's (host_pass_free).
enum status host_pass_create(const struct pass *pass, struct host_pass **out,
                             struct problem *problem);

// Independent units of work, at least 1; each about 64 to 256 KiB of traffic, some 10 to
// 100 us.
int64_t host_pass_spans(const struct host_pass *pass);

// Runs the spans [first, first + count) on the calling thread. Sets bit 0 of *faults if
// an integer was divided by zero (never clears it). Cannot fail otherwise and allocates
// nothing.
void host_pass_run(const struct host_pass *pass, int64_t first, int64_t count,
                   int *faults);

// After every span has run (a happens-before of the caller's): combines the partial
// results of reductions whose extents were split. Cheap, one thread, once; without effect
// on other passes.
void host_pass_finish(const struct host_pass *pass);

void host_pass_free(struct host_pass *pass);

// The road of small passes: prepares and runs all on the calling thread and stack,
// without allocating. False (nothing done) if the pass has more than HOST_PASS_SMALL
// elements. Same bits as the spans.
enum { HOST_PASS_SMALL = 4096 };
bool host_pass_run_small(const struct pass *pass, int *faults);
#endif
