// SPDX-License-Identifier: Apache-2.0
// Elementwise passes: one precompiled kernel interprets a program for every element of a
// slice. The slice is the linear range [first, end) of the iteration space; a block takes
// consecutive elements, so that accesses of a warp to contiguous memory are contiguous.
#include "kernels/cuda/interpret.h"
#include "kernels/cuda/kernels.h"

enum { PASS_THREADS = 256 };

template <class R>
static __device__ __forceinline__ void store_result(const program &p, const span &s)
{
    EACH_ELEMENT if (s.active(e))
        store(p.output.data, view_offset(p.output, p.wide, s.index(e)), p.output.dtype,
              cell_read<R>(s, p.result, e));
}

extern "C" __global__ void __launch_bounds__(PASS_THREADS)
    tensord_pass(const __grid_constant__ program p, int64_t first, int64_t end,
                 int *fault)
{
    DYNAMIC_SHARED(cells);
    int64_t block = static_cast<int64_t>(blockIdx.x) * blockDim.x * ELEMENTS;
    span s = {
        first + block + threadIdx.x, blockDim.x, end, cells, threadIdx.x, blockDim.x};
    interpret(p, s, fault);
    if (p.result_class == VALUE_INT64)
        store_result<int64_t>(p, s);
    else if (p.result_class == VALUE_FLOAT32)
        store_result<float>(p, s);
    else
        store_result<double>(p, s);
}
LAUNCHABLE(tensord_pass)

extern "C" cudaError_t launch_pass(const struct program *p, int64_t first, int64_t end,
                                   int *fault, cudaStream_t stream)
{
    int64_t count = end - first;
    int64_t wanted = (count + ELEMENTS * 32 - 1) / (ELEMENTS * 32) * 32;
    unsigned threads =
        wanted < PASS_THREADS ? static_cast<unsigned>(wanted) : unsigned(PASS_THREADS);
    while (threads > 32 && p->n_slots * PROGRAM_SLOT_BYTES * threads > PROGRAM_MAX_SHARED)
        threads = (threads / 2 + 31) & ~31u;
    int64_t blocks = (count + threads * ELEMENTS - 1) / (threads * ELEMENTS);
    return launch(tensord_pass, dim3(static_cast<unsigned>(blocks)), dim3(threads),
                  static_cast<size_t>(p->n_slots) * PROGRAM_SLOT_BYTES * threads, stream,
                  *p, first, end, fault);
}
