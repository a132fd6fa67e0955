// SPDX-License-Identifier: Apache-2.0
// Device memory: blocks of the C library, exactly as long as asked (so that
// AddressSanitizer sees what a kernel does beyond their ends), filled with a pattern,
// known by a map. The program gets addresses with a tag.
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>

#include "sim.h"

namespace cudasim
{

namespace
{
// 0x5d in the top byte, 1 + device in the next: no canonical address on x86-64, and none
// on arm64, where the top byte is ignored.
constexpr uintptr_t TAG = uintptr_t(0x5d) << 56, TAG_MASK = uintptr_t(0xff) << 56;
constexpr int DEVICE_SHIFT = 48;
constexpr uintptr_t ADDRESS_MASK = (uintptr_t(1) << DEVICE_SHIFT) - 1;
constexpr size_t GRAIN = 512;

struct block {
    size_t bytes;
    int device; // -1: pinned host memory
};
struct state {
    std::mutex mutex;
    std::map<uintptr_t, block> live;
    std::map<uintptr_t, size_t> freed;
    size_t used[MOST_DEVICES] = {};
};
state &memory()
{
    static state *one = new state;
    return *one;
}

size_t rounded(size_t bytes)
{
    return (bytes + GRAIN - 1) / GRAIN * GRAIN;
}

// Forgets freed blocks that overlap a new one.
void reuse(state &s, uintptr_t start, size_t bytes)
{
    auto at = s.freed.lower_bound(start);
    if (at != s.freed.begin() && std::prev(at)->first + std::prev(at)->second > start)
        --at;
    while (at != s.freed.end() && at->first < start + bytes)
        at = s.freed.erase(at);
}

cudaError_t allocate(void **out, size_t bytes, int device)
{
    if (!out)
        return cudaErrorInvalidValue;
    *out = nullptr;
    if (bytes == 0)
        return cudaSuccess;
    state &s = memory();
    std::lock_guard<std::mutex> lock(s.mutex);
    if (device >= 0 &&
        (bytes > memory_limit() || s.used[device] + rounded(bytes) > memory_limit()))
        return cudaErrorMemoryAllocation;
    void *raw = nullptr;
    if (posix_memalign(&raw, GRAIN, bytes) != 0)
        return cudaErrorMemoryAllocation;
    memset(raw, 0xcb, bytes);
    uintptr_t start = reinterpret_cast<uintptr_t>(raw);
    reuse(s, start, bytes);
    s.live[start] = {bytes, device};
    if (device < 0) {
        *out = raw;
        return cudaSuccess;
    }
    s.used[device] += rounded(bytes);
    *out = reinterpret_cast<void *>(start | TAG | uintptr_t(device + 1) << DEVICE_SHIFT);
    return cudaSuccess;
}

cudaError_t release(void *address, bool on_device)
{
    if (!address)
        return cudaSuccess;
    state &s = memory();
    std::lock_guard<std::mutex> lock(s.mutex);
    auto at = s.live.find(reinterpret_cast<uintptr_t>(real_address(address)));
    if (at == s.live.end() || (at->second.device >= 0) != on_device ||
        is_device_address(address) != on_device)
        return cudaErrorInvalidValue;
    if (on_device) {
        s.used[at->second.device] -= rounded(at->second.bytes);
        s.freed[at->first] = at->second.bytes;
    }
    free(reinterpret_cast<void *>(at->first));
    s.live.erase(at);
    return cudaSuccess;
}
} // namespace

size_t memory_limit()
{
    static const long megabytes = setting("CUDASIM_MEM_MB", 1024);
    return static_cast<size_t>(megabytes) << 20;
}

size_t memory_used(int device)
{
    state &s = memory();
    std::lock_guard<std::mutex> lock(s.mutex);
    return s.used[device];
}

bool is_device_address(const void *address)
{
    uintptr_t value = reinterpret_cast<uintptr_t>(address);
    int device = device_of(address);
    return (value & TAG_MASK) == TAG && device >= 0 && device < MOST_DEVICES;
}

int device_of(const void *address)
{
    return static_cast<int>(reinterpret_cast<uintptr_t>(address) >> DEVICE_SHIFT & 0xff) -
           1;
}

void *real_address(const void *address)
{
    if (!is_device_address(address))
        return const_cast<void *>(address);
    return reinterpret_cast<void *>(reinterpret_cast<uintptr_t>(address) & ADDRESS_MASK);
}

place locate(const void *address, size_t bytes)
{
    uintptr_t start = reinterpret_cast<uintptr_t>(real_address(address));
    state &s = memory();
    std::lock_guard<std::mutex> lock(s.mutex);
    auto at = s.live.upper_bound(start);
    if (at != s.live.begin()) {
        --at;
        if (at->second.device == device_of(address) &&
            start <= at->first + at->second.bytes &&
            bytes <= at->first + at->second.bytes - start)
            return place::inside;
    }
    auto gone = s.freed.upper_bound(start);
    if (gone != s.freed.begin() &&
        start < std::prev(gone)->first + std::prev(gone)->second)
        return place::freed;
    return place::nowhere;
}

bool is_pinned(const void *address)
{
    uintptr_t start = reinterpret_cast<uintptr_t>(address);
    state &s = memory();
    std::lock_guard<std::mutex> lock(s.mutex);
    auto at = s.live.upper_bound(start);
    return at != s.live.begin() && (--at, at->second.device < 0) &&
           start < at->first + at->second.bytes;
}

} // namespace cudasim

using namespace cudasim;

extern "C" cudaError_t cudaMalloc(void **out, size_t bytes)
{
    cudaError_t error = enter("cudaMalloc");
    return answer(error ? error : allocate(out, bytes, current_device()));
}

extern "C" cudaError_t cudaFree(void *address)
{
    cudaError_t error = enter("cudaFree");
    if (error)
        return answer(error);
    if (address)
        wait_for_device(current_device()); // as the real one does
    return answer(release(address, true));
}

extern "C" cudaError_t cudaHostAlloc(void **out, size_t bytes, unsigned)
{
    cudaError_t error = enter("cudaHostAlloc");
    return answer(error ? error : allocate(out, bytes, -1));
}

extern "C" cudaError_t cudaFreeHost(void *address)
{
    release(address, false); // pinned memory comes back even from a broken device
    return answer(enter("cudaFreeHost"));
}

extern "C" cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total)
{
    cudaError_t error = enter("cudaMemGetInfo");
    if (error)
        return answer(error);
    *total = memory_limit();
    *free_bytes = memory_limit() - memory_used(current_device());
    return cudaSuccess;
}

// The direction must be what the addresses say, and device ranges must lie in live
// blocks.
static bool copy_is_valid(void *to, const void *from, size_t bytes, cudaMemcpyKind kind)
{
    bool to_device = is_device_address(to), from_device = is_device_address(from);
    if (to_device && locate(to, bytes) != place::inside)
        return false;
    if (from_device && locate(from, bytes) != place::inside)
        return false;
    switch (kind) {
    case cudaMemcpyHostToDevice:
        return to_device && !from_device;
    case cudaMemcpyDeviceToHost:
        return from_device && !to_device;
    case cudaMemcpyDeviceToDevice:
        return to_device && from_device;
    default:
        return kind == cudaMemcpyDefault;
    }
}

extern "C" cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes,
                                       cudaMemcpyKind kind, cudaStream_t stream)
{
    cudaError_t error = enter("cudaMemcpyAsync");
    if (error || bytes == 0)
        return answer(error);
    if (!copy_is_valid(to, from, bytes, kind))
        return answer(cudaErrorInvalidValue);
    int device = device_of_stream(stream);
    error = enqueue(stream, [=] {
        if (!is_broken(device))
            memcpy(real_address(to), real_address(from), bytes);
    });
    // Pageable memory must not be needed after the call.
    bool pageable = (!is_device_address(to) && !is_pinned(to)) ||
                    (!is_device_address(from) && !is_pinned(from));
    if (!error && pageable)
        error = cudaStreamSynchronize(stream);
    return answer(error);
}

extern "C" cudaError_t cudaMemsetAsync(void *block, int value, size_t bytes,
                                       cudaStream_t stream)
{
    cudaError_t error = enter("cudaMemsetAsync");
    if (error)
        return answer(error);
    if (!is_device_address(block) || locate(block, bytes) != place::inside)
        return answer(cudaErrorInvalidValue);
    int device = device_of_stream(stream);
    return answer(enqueue(stream, [=] {
        if (!is_broken(device))
            memset(real_address(block), value, bytes);
    }));
}
