// SPDX-License-Identifier: Apache-2.0
// The launchers of the .cu files, for the plugin's C code. Each enqueues on the stream
// and returns; the caller holds the arguments only during the call. Pointers in arguments
// are device memory unless said otherwise.
#ifndef TENSORD_KERNELS_CUDA_KERNELS_H
#define TENSORD_KERNELS_CUDA_KERNELS_H

#include <cuda_runtime_api.h>
#include <stdint.h>

#include "kernels/cuda/program.h"
#ifdef __cplusplus
extern "C" {
#include "kernels/random.h"
}
#else
#include "kernels/random.h"
#endif

#ifdef __cplusplus
extern "C" {
#endif
// Elements [first, end) of the iteration space, at most 2^31 of them. *fault becomes 1 on
// a division by zero.
cudaError_t launch_pass(const struct program *p, int64_t first, int64_t end, int *fault,
                        cudaStream_t stream);
// Tasks [first_task, first_task + n_tasks) of a reduction stage.
cudaError_t launch_reduce(const struct program *p, const struct reduction *r, int *fault,
                          cudaStream_t stream);
// softmax over the rows of a C-contiguous [rows, n] array, n <= SOFTMAX_MAX_ROW. y may be
// x.
enum { SOFTMAX_MAX_ROW = 16384 };
cudaError_t launch_softmax(enum dtype dtype, const void *x, void *y, int64_t rows, int n,
                           cudaStream_t stream);

// Products of integers, wrapped. Element strides; m and n below 2^20.
struct integer_product {
    const void *a, *b;
    void *c;
    int64_t m, n, k;
    int64_t a_row, a_column, b_row, b_column, c_row;
    int64_t batch, a_batch, b_batch, c_batch; // batch <= 65535
    bool add;                                 // to what is in c (a later panel of k)
};
cudaError_t launch_integer_product(int dtype_bytes, const struct integer_product *product,
                                   cudaStream_t stream);

// Random numbers. Row r takes the counters position + r of all lanes and makes 4 *
// PHILOX_LANES elements, or 2 * PHILOX_LANES if wide. Bounds are already rounded to the
// dtype. Permutations write struct random_key to output.
struct random_key {
    uint64_t key;
    int64_t index;
};
struct random_cells {
    void *output;
    int64_t count, first_row;
    uint64_t seed, position;
    double low, high;
    int64_t base;
    uint64_t range;  // 0: 2^64
    int form, dtype; // enum random_form, enum dtype
    bool wide;
};
// rows <= 65535.
cudaError_t launch_random(const struct random_cells *cells, int64_t rows,
                          cudaStream_t stream);
// Puts pairs [first, first + pairs) of one step of the sorting network in order.
cudaError_t launch_random_exchange(struct random_key *keys, int64_t count, int64_t first,
                                   int64_t pairs, int64_t distance, bool flip,
                                   cudaStream_t stream);
// output[i] = keys[i].index for i in [first, first + count).
cudaError_t launch_random_indices(const struct random_key *keys, void *output,
                                  int64_t first, int64_t count, enum dtype dtype,
                                  cudaStream_t stream);
#ifdef __cplusplus
}
#endif
#endif
