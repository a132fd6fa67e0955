// SPDX-License-Identifier: Apache-2.0
// The random generators of one user: one for each device, seeded from the system at start.
// A request draws from working copies and stores them when it commits, so that a failing one
// leaves them as they were. The order of requests (a key for the generators) keeps two from
// drawing the same numbers.
// Threads: a set has a lock of its own, held while it is copied.
#ifndef TENSORD_TENSOR_GENERATORS_H
#define TENSORD_TENSOR_GENERATORS_H

#include "kernels/base/problem.h"
#include "kernels/random.h"

struct device;
struct generators; // of one user

enum status generators_create(struct device *const *devices, int n_devices,
                              struct generators **out, struct problem *problem);
void generators_free(struct generators *generators);

// The working copies of one request: copied at the first use of each.
struct working_generators;
enum status working_create(struct generators *generators, struct working_generators **out,
                           struct problem *problem);
void working_free(struct working_generators *working); // NULL is ignored
// Borrowed; marked as used.
struct generator *working_generator(struct working_generators *working, int device);
// The seed of a device's generator, which need not be copied for that.
uint64_t working_initial_seed(struct working_generators *working, int device);
void working_store(struct working_generators *working); // those that were used
#endif
