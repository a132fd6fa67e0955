// SPDX-License-Identifier: Apache-2.0
// The device side of CUDA C++ for g++: what kernels/cuda/launch.h includes in place of
// the toolkit. Each CUDA thread (lane) of a block runs on one OS thread, one lane at a
// time; a lane gives way only in barriers and in exchanges between the lanes of a warp.
#ifndef CUDASIM_DEVICE_H
#define CUDASIM_DEVICE_H

#include <cmath>
#include <cstdint>
#include <cstring>
#include <tuple>
#include <type_traits>
#include <utility>

#include "cuda_runtime_api.h"

#define __host__
#define __device__
#define __global__
#define __forceinline__ inline
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)
#define __grid_constant__
#define __shared__ static // one block at a time runs in the whole process
#define DYNAMIC_SHARED(name)                                                             \
    unsigned char *const name = static_cast<unsigned char *>(cudasim_lane->shared)

// The lane that runs now.
struct cudasim_lane_view {
    uint3 thread, block;
    dim3 block_size, grid_size;
    void *shared;
    unsigned in_warp;
};
extern "C" {
extern __thread struct cudasim_lane_view *cudasim_lane;
void cudasim_barrier(void);
enum cudasim_exchange { CUDASIM_SYNC, CUDASIM_SHUFFLE, CUDASIM_BALLOT };
// Waits for the lanes of mask. SHUFFLE: gives way `bytes` of `value` and receives those
// of lane `source`. BALLOT: *value (an unsigned) in: the vote; out: the lanes that voted
// for.
void cudasim_exchange(enum cudasim_exchange kind, unsigned mask, void *value,
                      unsigned bytes, int source);

struct cudasim_kernel {
    const char *name;
    const void *function;
    void (*call)(void *const *arguments);
    int n_arguments;
    const size_t *sizes;
    const bool *is_pointer;
};
void cudasim_register(const struct cudasim_kernel *kernel);
void cudasim_unregister(const struct cudasim_kernel *kernel);
}

#define threadIdx (cudasim_lane->thread)
#define blockIdx (cudasim_lane->block)
#define blockDim (cudasim_lane->block_size)
#define gridDim (cudasim_lane->grid_size)

static inline void __syncthreads()
{
    cudasim_barrier();
}
static inline void __syncwarp(unsigned mask = 0xFFFFFFFFu)
{
    cudasim_exchange(CUDASIM_SYNC, mask, nullptr, 0, 0);
}
template <class T> static inline T cudasim_shuffle(unsigned mask, T value, int source)
{
    static_assert(sizeof(T) <= 16, "a shuffle moves at most 16 bytes here");
    cudasim_exchange(CUDASIM_SHUFFLE, mask, &value, sizeof value, source);
    return value;
}
template <class T>
static inline T __shfl_sync(unsigned mask, T value, int source, int width = 32)
{
    int lane = static_cast<int>(cudasim_lane->in_warp);
    return cudasim_shuffle(mask, value, (lane & ~(width - 1)) | (source & (width - 1)));
}
template <class T>
static inline T __shfl_down_sync(unsigned mask, T value, unsigned distance,
                                 int width = 32)
{
    int lane = static_cast<int>(cudasim_lane->in_warp),
        from = lane + static_cast<int>(distance);
    bool inside = (lane & (width - 1)) + static_cast<int>(distance) < width;
    return cudasim_shuffle(mask, value, inside ? from : lane);
}
template <class T>
static inline T __shfl_xor_sync(unsigned mask, T value, int bits, int width = 32)
{
    int lane = static_cast<int>(cudasim_lane->in_warp), from = lane ^ bits;
    bool inside = (from & ~(width - 1)) == (lane & ~(width - 1));
    return cudasim_shuffle(mask, value, inside ? from : lane);
}
static inline unsigned __ballot_sync(unsigned mask, int vote)
{
    unsigned value = vote != 0;
    cudasim_exchange(CUDASIM_BALLOT, mask, &value, sizeof value, 0);
    return value;
}
static inline int __any_sync(unsigned mask, int vote)
{
    return __ballot_sync(mask, vote) != 0;
}
static inline int __all_sync(unsigned mask, int vote)
{
    return __ballot_sync(mask, vote) == mask;
}

template <class T, class F> static inline T cudasim_update(T *place, F next)
{
    T before, after;
    __atomic_load(place, &before, __ATOMIC_RELAXED);
    do
        after = next(before);
    while (!__atomic_compare_exchange(place, &before, &after, false, __ATOMIC_RELAXED,
                                      __ATOMIC_RELAXED));
    return before;
}
template <class T> static inline T atomicAdd(T *place, T value)
{
    return cudasim_update(place,
                          [=](T before) { return static_cast<T>(before + value); });
}
template <class T> static inline T atomicExch(T *place, T value)
{
    return cudasim_update(place, [=](T) { return value; });
}
template <class T> static inline T atomicMax(T *place, T value)
{
    return cudasim_update(place,
                          [=](T before) { return before > value ? before : value; });
}
template <class T> static inline T atomicMin(T *place, T value)
{
    return cudasim_update(place,
                          [=](T before) { return before < value ? before : value; });
}
template <class T> static inline T atomicCAS(T *place, T expected, T value)
{
    return cudasim_update(place,
                          [=](T before) { return before == expected ? value : before; });
}
static inline void __threadfence()
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

// Makes a kernel known to the simulator while its library is loaded.
template <class F, F *kernel> struct cudasim_registration;
template <class... P, void (*kernel)(P...)>
struct cudasim_registration<void(P...), kernel> {
    template <size_t... I>
    static void call_with(void *const *arguments, std::index_sequence<I...>)
    {
        kernel(*static_cast<std::remove_const_t<P> *>(arguments[I])...);
    }
    static void call(void *const *arguments)
    {
        call_with(arguments, std::index_sequence_for<P...>());
    }
    static constexpr size_t sizes[] = {sizeof(P)..., 0};
    static constexpr bool is_pointer[] = {std::is_pointer_v<P>..., false};
    cudasim_kernel entry;
    explicit cudasim_registration(const char *name)
        : entry{name,  reinterpret_cast<const void *>(kernel),
                call,  sizeof...(P),
                sizes, is_pointer}
    {
        cudasim_register(&entry);
    }
    ~cudasim_registration() { cudasim_unregister(&entry); }
};
#define LAUNCHABLE(kernel)                                                               \
    static cudasim_registration<decltype(kernel), kernel> kernel##_registration(#kernel);
#endif
