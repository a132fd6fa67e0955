// SPDX-License-Identifier: Apache-2.0
// What every device offers: memory, copies, and plans that run kernels in slices.
// Implemented by host/ (in the daemon) and cuda/ (a plugin opened with dlopen).
//
// Threads. A device has one worker thread. Functions marked [worker] are called by it
// alone, except on the host device, where any thread may call them at any time. [any] may
// be called from every thread.
//
// Memory. Pointers of a CUDA device are never dereferenced outside the plugin.
//
// Errors. STATUS_OUT_OF_MEMORY: memory ran out, nothing changed, try again after freeing.
// STATUS_ZERO_DIVISION: an element fault of the work since the last synchronize.
// STATUS_DEVICE_FAULT: the device is broken; every later call on it fails the same way.
#ifndef TENSORD_KERNELS_DEVICE_H
#define TENSORD_KERNELS_DEVICE_H

#include "kernels/base/problem.h"
#include "kernels/pass.h"
#include "kernels/random.h"

struct device;
struct plan;

enum { GEMM_MAX_BATCH_NDIM = 8 };

// c[i, j] = sum over l of a[i, l] * b[l, j], for every index of the batch dims. Element
// strides. Each of a and b has a unit stride in rows or columns (the other at least the
// extent); c has c_column == 1. dtype: all but bool. float16 and bfloat16 accumulate in
// float32; integers wrap. m, n, batch >= 1; k >= 1.
struct gemm {
    enum dtype dtype;
    int64_t m, n, k;
    const void *a, *b;
    void *c;
    int64_t a_row, a_column, b_row, b_column, c_row;
    int batch_ndim;
    int64_t batch_shape[GEMM_MAX_BATCH_NDIM];
    int64_t a_batch[GEMM_MAX_BATCH_NDIM], b_batch[GEMM_MAX_BATCH_NDIM],
        c_batch[GEMM_MAX_BATCH_NDIM];
};

// y = softmax(x) over the middle extent of a C-contiguous [outer, n, inner] array; float
// dtypes; float16 and bfloat16 compute in float32. All extents >= 1. x may equal y.
struct softmax {
    enum dtype dtype;
    int64_t outer, n, inner;
    const void *x;
    void *y;
};

enum kernel_form { KERNEL_PASS, KERNEL_GEMM, KERNEL_SOFTMAX, KERNEL_RANDOM };
struct kernel {
    enum kernel_form form;
    union {
        const struct pass *pass; // read while the plan is made; copied if needed later
        struct gemm gemm;
        struct softmax softmax;
        struct random random;
    };
};

enum copy_direction { COPY_TO_DEVICE, COPY_FROM_DEVICE, COPY_WITHIN };

struct device_memory {
    int64_t total; // of the machine or card
    int64_t used;  // by everybody
    int64_t free;
    int64_t cached; // held by this device's allocator, in no block
};

struct device_details {
    const char *kind; // "cpu" or "cuda"
    char name[128];   // model
    char driver[32];  // "" where there is none
    char runtime[32]; // CUDA version "13.0"; "" on the host
    int major, minor; // compute capability; 0 on the host
    int multiprocessors;
    int n_processes; // machine-wide processes on the card, at most 32
    struct {
        int64_t pid, bytes; // bytes -1 if unknown
    } processes[32];
};

// Results of plan_next.
enum slice { SLICE_MORE, SLICE_DONE, SLICE_FAILED };

struct device_interface {
    // A block of at least bytes (> 0) bytes, 64-byte aligned (256 on cuda). Content
    // undefined. [worker]
    enum status (*allocate)(struct device *, int64_t bytes, void **out, struct problem *);
    // Takes back a block of the same size as given to allocate. Never calls CUDA. [any]
    void (*release)(struct device *, void *block, int64_t bytes);
    // Gives cached memory back to the system; bytes given back. [worker]
    int64_t (*trim)(struct device *);
    // The block, just allocated with these bytes, is owner's from now on (an address that
    // is compared). True: it may hold what is another's, so that clear must come before
    // the first reader. NULL: it always may. [any]
    bool (*claim)(struct device *, void *block, int64_t bytes, const void *owner);
    // Sets bytes to zero (memory that changes user). [worker]
    enum status (*clear)(struct device *, void *block, int64_t bytes, struct problem *);
    // Copies and has finished when it returns, after all work launched before. TO and
    // FROM have one host end. On the host all directions are memcpy. [worker]
    enum status (*copy)(struct device *, void *to, const void *from, int64_t bytes,
                        enum copy_direction, struct problem *);

    // Checks and cuts a kernel; nothing runs yet. The plan is the caller's until
    // plan_free. Out of memory if workspace is missing. [worker]
    enum status (*plan)(struct device *, const struct kernel *, struct plan **out,
                        struct problem *);
    // Runs (host) or launches (cuda, at most two in flight) the next slice, a few
    // milliseconds. [worker]
    enum slice (*plan_next)(struct plan *, struct problem *);
    // Slices in all and done, for progress. [any]
    void (*plan_progress)(const struct plan *, int64_t *done, int64_t *total);
    void (*plan_free)(struct plan *); // [worker]

    // Waits for all launched work; reports element faults (zero division) since the last
    // call and device faults. [worker]
    enum status (*synchronize)(struct device *, struct problem *);
    // Nanoseconds of device time used so far, monotonic (host: CPU time of plans; cuda:
    // events). [worker]
    int64_t (*busy)(struct device *);
    // Facts for GET /v1/devices. Never blocks on running work. [any]
    void (*details)(struct device *, struct device_details *);
    void (*memory)(struct device *, struct device_memory *);
    void (*close)(struct device *); // [worker], when nothing is left running
};

struct device {
    const struct device_interface *vt;
    int index;    // position in the daemon's device table; the host is 0
    char id[16];  // "cpu", "cuda:0"
    bool is_host; // memory may be dereferenced
};

// Opens the host device. threads: compute threads, the caller's included (>= 1).
// cache_limit: bytes of free blocks kept. Checks a small product of the BLAS against a
// plain loop; STATUS_DEVICE_FAULT if it computes wrongly. The device is the caller's.
enum status host_open(int threads, int64_t cache_limit, struct device **out,
                      struct problem *);

// ---- The plugin's side: symbols of libtensord_cuda.so, looked up by kernels/plugin.c.
enum { DEVICE_PLUGIN_VERSION = 3 };
// tensord_plugin_version(): must equal DEVICE_PLUGIN_VERSION.
typedef int plugin_version(void);
// tensord_plugin_count(): usable CUDA devices, 0 with a reason in problem.
typedef int plugin_count(struct problem *);
// tensord_plugin_open(): opens the ordinal-th device; called on the thread that will be
// its worker. memory_limit: bytes it may hold, 0 for no limit.
typedef enum status plugin_open(int ordinal, int64_t memory_limit, struct device **out,
                                struct problem *);

// Opens the plugin beside the executable (or $TENSORD_CUDA_PLUGIN). Probes libcuda.so.1
// by dlopen first, which costs 2 ms, so that a machine without a driver never loads
// cuBLAS. Returns the number of devices; 0 and a problem that says why (no driver, no
// plugin, broken driver). [main thread, once]
int plugin_probe(struct problem *);
// Opens device `ordinal` of the probed plugin, on the calling thread (its worker).
enum status plugin_device_open(int ordinal, int64_t memory_limit, struct device **out,
                               struct problem *);
#endif
