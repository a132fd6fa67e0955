// SPDX-License-Identifier: Apache-2.0
// softmax over rows that one warp or one block can hold: the largest element, the sum of
// exponentials, the quotients. Lane l of the row's 32 or 256 threads takes elements l, l
// + threads, ...; sums combine in a fixed tree. Other shapes are composed of passes
// (plan_softmax.c).
#include "kernels/cuda/kernels.h"
#include "kernels/cuda/launch.h"

enum { SOFTMAX_THREADS = 256, WARP = 32, WARP_ROW = 1024 };

template <class T>
static __device__ __forceinline__ T load(const void *data, int64_t i, int dtype)
{
    if constexpr (sizeof(T) == 8)
        return static_cast<const double *>(data)[i];
    else if (dtype == DTYPE_FLOAT32)
        return static_cast<const float *>(data)[i];
    else if (dtype == DTYPE_FLOAT16)
        return half_to_float(static_cast<const uint16_t *>(data)[i]);
    else
        return brain_to_float(static_cast<const uint16_t *>(data)[i]);
}
template <class T>
static __device__ __forceinline__ void store(void *data, int64_t i, int dtype, T value)
{
    if constexpr (sizeof(T) == 8)
        static_cast<double *>(data)[i] = value;
    else if (dtype == DTYPE_FLOAT32)
        static_cast<float *>(data)[i] = value;
    else if (dtype == DTYPE_FLOAT16)
        static_cast<uint16_t *>(data)[i] = half_from_float(value);
    else
        static_cast<uint16_t *>(data)[i] = brain_from_float(value);
}

static __device__ __forceinline__ float exponential(float x)
{
    return expf(x);
}
static __device__ __forceinline__ double exponential(double x)
{
    return exp(x);
}

template <class T> static __device__ __forceinline__ T join(bool sum, T a, T b)
{
    return sum ? a + b : a > b ? a : b;
}

// The values of the row's threads combined, in each of them.
template <class T>
static __device__ __forceinline__ T row_join(bool sum, T value, int threads, T *shared)
{
    for (int distance = WARP / 2; distance > 0; distance /= 2)
        value = join(sum, value, __shfl_xor_sync(0xFFFFFFFFu, value, distance));
    if (threads == WARP)
        return value;
    if (threadIdx.x % WARP == 0)
        shared[threadIdx.x / WARP] = value;
    __syncthreads();
    value = shared[0];
    for (int warp = 1; warp < SOFTMAX_THREADS / WARP; warp++)
        value = join(sum, value, shared[warp]);
    __syncthreads();
    return value;
}

template <class T>
static __device__ __forceinline__ void softmax_rows(const void *x, void *y, int64_t rows,
                                                    int n, int threads, int dtype)
{
    __shared__ T shared[SOFTMAX_THREADS / WARP];
    int64_t row = static_cast<int64_t>(blockIdx.x) * (SOFTMAX_THREADS / threads) +
                  threadIdx.x / threads;
    if (row >= rows)
        return;
    int64_t base = row * n;
    int lane = threadIdx.x % threads;
    T largest = -T(INFINITY), sum = 0;
    for (int i = lane; i < n; i += threads)
        largest = join(false, largest, load<T>(x, base + i, dtype));
    largest = row_join(false, largest, threads, shared);
    for (int i = lane; i < n; i += threads)
        sum += exponential(load<T>(x, base + i, dtype) - largest);
    sum = row_join(true, sum, threads, shared);
    for (int i = lane; i < n; i += threads)
        store<T>(y, base + i, dtype,
                 exponential(load<T>(x, base + i, dtype) - largest) / sum);
}

extern "C" __global__ void __launch_bounds__(SOFTMAX_THREADS)
    tensord_softmax_float(const void *x, void *y, int64_t rows, int n, int threads,
                          int dtype)
{
    softmax_rows<float>(x, y, rows, n, threads, dtype);
}
LAUNCHABLE(tensord_softmax_float)

extern "C" __global__ void __launch_bounds__(SOFTMAX_THREADS)
    tensord_softmax_double(const void *x, void *y, int64_t rows, int n, int threads,
                           int dtype)
{
    softmax_rows<double>(x, y, rows, n, threads, dtype);
}
LAUNCHABLE(tensord_softmax_double)

extern "C" cudaError_t launch_softmax(enum dtype dtype, const void *x, void *y,
                                      int64_t rows, int n, cudaStream_t stream)
{
    int threads = n <= WARP_ROW ? WARP : SOFTMAX_THREADS;
    int64_t per_block = SOFTMAX_THREADS / threads;
    dim3 grid(static_cast<unsigned>((rows + per_block - 1) / per_block));
    auto kernel = dtype == DTYPE_FLOAT64 ? tensord_softmax_double : tensord_softmax_float;
    return launch(kernel, grid, dim3(SOFTMAX_THREADS), 0, stream, x, y, rows, n, threads,
                  static_cast<int>(dtype));
}
