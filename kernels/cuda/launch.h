// SPDX-License-Identifier: Apache-2.0
// The one header kernels include and the one way they are launched. The same source
// compiles with nvcc for the GPU and with g++ -DCUDASIM for the simulator
// (tests/cudasim).
//
// Kernels are extern "C", named tensord_*, and followed by LAUNCHABLE(kernel): the
// simulator finds the code of a kernel by its name.
#ifndef TENSORD_KERNELS_CUDA_LAUNCH_H
#define TENSORD_KERNELS_CUDA_LAUNCH_H

#include "kernels/cuda/program.h"

#ifdef CUDASIM
#include "cudasim_device.h"
#else
#include <cuda_runtime.h>
#include <cuda_fp16.h>
#define LAUNCHABLE(kernel)
#define DYNAMIC_SHARED(name) extern __shared__ __align__(16) unsigned char name[]
#endif

template <class X> struct exactly {
    using type = X;
};

// Launches kernel(arguments...), converted to the kernel's own parameter types.
template <class... P>
static inline cudaError_t launch(void (*kernel)(P...), dim3 grid, dim3 block,
                                 size_t shared_bytes, cudaStream_t stream,
                                 const typename exactly<P>::type &...arguments)
{
    void *list[] = {const_cast<void *>(static_cast<const void *>(&arguments))...};
    return cudaLaunchKernel(reinterpret_cast<const void *>(kernel), grid, block, list,
                            shared_bytes, stream);
}

// The bits of a value as another type.
template <class To, class From> static __device__ __forceinline__ To bits_as(From value)
{
    To result = 0;
    memcpy(&result, &value, sizeof(To) < sizeof(From) ? sizeof(To) : sizeof(From));
    return result;
}

static __device__ __forceinline__ float half_to_float(uint16_t bits)
{
#ifdef CUDASIM
    return float16_to_float(bits);
#else
    return __half2float(__ushort_as_half(bits));
#endif
}

static __device__ __forceinline__ uint16_t half_from_float(float value)
{
#ifdef CUDASIM
    return float16_from_float(value);
#else
    return __half_as_ushort(__float2half_rn(value));
#endif
}

static __device__ __forceinline__ float brain_to_float(uint16_t bits)
{
    return bits_as<float>(static_cast<uint32_t>(bits) << 16);
}

// Round to nearest even; NaN stays NaN.
static __device__ __forceinline__ uint16_t brain_from_float(float value)
{
    uint32_t word = bits_as<uint32_t>(value);
    if ((word & 0x7FFFFFFFu) > 0x7F800000u)
        return static_cast<uint16_t>(word >> 16 | 0x40);
    return static_cast<uint16_t>((word + 0x7FFFu + (word >> 16 & 1)) >> 16);
}
#endif
