// SPDX-License-Identifier: Apache-2.0
// Products of integer matrices, wrapped: tiles in shared memory, four results a thread.
// Sums are kept modulo 2^32 or 2^64, which is exact for every result that fits in it,
// signed or not.
#include "kernels/cuda/kernels.h"
#include "kernels/cuda/launch.h"

enum { TILE = 32, TILE_K = 32, PRODUCT_THREADS = 256, ROW_STEP = PRODUCT_THREADS / TILE };

template <class Word>
static __device__ __forceinline__ Word load(const void *data, int64_t i, int bytes)
{
    if (bytes == 1)
        return static_cast<const uint8_t *>(data)[i];
    if (bytes == 2)
        return static_cast<const uint16_t *>(data)[i];
    if (bytes == 4)
        return static_cast<const uint32_t *>(data)[i];
    return static_cast<Word>(static_cast<const uint64_t *>(data)[i]);
}
template <class Word>
static __device__ __forceinline__ void store(void *data, int64_t i, int bytes, Word value)
{
    if (bytes == 1)
        static_cast<uint8_t *>(data)[i] = static_cast<uint8_t>(value);
    else if (bytes == 2)
        static_cast<uint16_t *>(data)[i] = static_cast<uint16_t>(value);
    else if (bytes == 4)
        static_cast<uint32_t *>(data)[i] = static_cast<uint32_t>(value);
    else
        static_cast<uint64_t *>(data)[i] = static_cast<uint64_t>(value);
}

// Block x: the tile of c; block y: the product of the batch.
template <class Word>
static __device__ __forceinline__ void product(const integer_product &p, int bytes)
{
    __shared__ Word left[TILE][TILE_K + 1], right[TILE_K][TILE + 1];
    int64_t tiles = (p.n + TILE - 1) / TILE;
    int64_t top = blockIdx.x / tiles * TILE, side = blockIdx.x % tiles * TILE;
    int64_t a_base = blockIdx.y * p.a_batch, b_base = blockIdx.y * p.b_batch;
    int64_t c_base = blockIdx.y * p.c_batch;
    int x = threadIdx.x % TILE, y = threadIdx.x / TILE;
    Word sums[TILE / ROW_STEP] = {};
    for (int64_t depth = 0; depth < p.k; depth += TILE_K) {
        for (int row = y; row < TILE; row += ROW_STEP) {
            int64_t i = top + row, l = depth + x;
            left[row][x] =
                i < p.m && l < p.k
                    ? load<Word>(p.a, a_base + i * p.a_row + l * p.a_column, bytes)
                    : Word(0);
            l = depth + row;
            int64_t j = side + x;
            right[row][x] =
                l < p.k && j < p.n
                    ? load<Word>(p.b, b_base + l * p.b_row + j * p.b_column, bytes)
                    : Word(0);
        }
        __syncthreads();
        for (int l = 0; l < TILE_K; l++)
            for (int s = 0; s < TILE / ROW_STEP; s++)
                sums[s] += left[y + s * ROW_STEP][l] * right[l][x];
        __syncthreads();
    }
    for (int s = 0; s < TILE / ROW_STEP; s++) {
        int64_t i = top + y + s * ROW_STEP, j = side + x;
        int64_t place = c_base + i * p.c_row + j;
        if (i < p.m && j < p.n)
            store<Word>(p.c, place, bytes,
                        sums[s] + (p.add ? load<Word>(p.c, place, bytes) : 0));
    }
}

extern "C" __global__ void __launch_bounds__(PRODUCT_THREADS)
    tensord_product_32(const __grid_constant__ integer_product p, int bytes)
{
    product<uint32_t>(p, bytes);
}
LAUNCHABLE(tensord_product_32)

extern "C" __global__ void __launch_bounds__(PRODUCT_THREADS)
    tensord_product_64(const __grid_constant__ integer_product p, int bytes)
{
    product<uint64_t>(p, bytes);
}
LAUNCHABLE(tensord_product_64)

extern "C" cudaError_t launch_integer_product(int dtype_bytes,
                                              const struct integer_product *p,
                                              cudaStream_t stream)
{
    int64_t tiles = ((p->m + TILE - 1) / TILE) * ((p->n + TILE - 1) / TILE);
    dim3 grid(static_cast<unsigned>(tiles), static_cast<unsigned>(p->batch));
    return launch(dtype_bytes == 8 ? tensord_product_64 : tensord_product_32, grid,
                  dim3(PRODUCT_THREADS), 0, stream, *p, dtype_bytes);
}
