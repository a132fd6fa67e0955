// SPDX-License-Identifier: Apache-2.0
// What the tests of the CUDA device share: opening a plugin on the simulator, moving
// data, running kernels.
//
// The plugins are found from the program's own place in the build folder. A test program
// runs its tests once for each: the one g++ compiled and, if it was built, the one nvcc
// compiled. With TENSORD_REAL_GPU set it runs them on a real card instead.
#ifndef TENSORD_TESTS_CUDA_FIXTURE_H
#define TENSORD_TESTS_CUDA_FIXTURE_H

#include <setjmp.h> // cmocka needs these four
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kernels/device.h"

// ThreadSanitizer makes every lane a thread: the longest tests shrink.
#ifdef __SANITIZE_THREAD__
#define FIXTURE_SLOW 1
#else
#define FIXTURE_SLOW 0
#endif

// The device under test, set by fixture_open.
extern struct device *device;

enum fixture_plugin { FIXTURE_GCC, FIXTURE_NVCC };
// Whether the build has it.
bool fixture_has(enum fixture_plugin plugin);
// Loads a plugin on the simulator and makes kernels/plugin.c probe it; number of devices.
int fixture_probe(enum fixture_plugin plugin, struct problem *problem);
// Opens cuda:0 as `device` (fails the test otherwise); fixture_close closes it.
void fixture_open(enum fixture_plugin plugin, int64_t memory_limit);
void fixture_close(void);
// Runs the tests on each plugin with `device` open; the number of failures.
int fixture_run(const char *name, const struct CMUnitTest *tests, size_t count);

// Device memory with a copy of the bytes. fixture_take copies back and releases it.
void *fixture_put(const void *bytes, int64_t length);
void *fixture_block(int64_t length); // content undefined
void fixture_take(void *block, void *bytes, int64_t length);
void fixture_drop(void *block, int64_t length);
// Plans a kernel and runs it to its end; the status of the first failure.
enum status fixture_try(const struct kernel *kernel, struct problem *problem);
// The same, failing the test unless it succeeds.
void fixture_do(const struct kernel *kernel);
void fixture_pass(const struct pass *pass);

// Element i of an array as double; element i set by rounding to dtype (as pass.h
// "Conversion" says).
double fixture_get(const void *data, enum dtype dtype, int64_t i);
void fixture_set(void *data, enum dtype dtype, int64_t i, double value);
// The distance to the next float of dtype at the size of value (1 for integers).
double fixture_ulp(enum dtype dtype, double value);
// A small pseudo-random number, the same in every run; `state` starts at any value.
uint32_t fixture_random(uint32_t *state);
#endif
