// SPDX-License-Identifier: Apache-2.0
// The simulator's own tests: `selftest CASE` exits with 0 if the simulator does what the
// case expects. Run by tests/unit/cuda/test_simulator.c, each case in a process of its
// own.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "kernels/cuda/launch.h"

#define REQUIRE(condition)                                                               \
    do {                                                                                 \
        if (!(condition)) {                                                              \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);              \
            exit(1);                                                                     \
        }                                                                                \
    } while (0)

// ---- kernels
extern "C" __global__ void tensord_test_indices(unsigned *out)
{
    unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    unsigned threads = blockDim.x * blockDim.y * blockDim.z;
    out[block * threads + thread] += 1 + block * threads + thread;
}
LAUNCHABLE(tensord_test_indices)

// Sum over a block through shared memory; without the barrier neighbours may not have
// written yet.
extern "C" __global__ void tensord_test_block_sum(unsigned *out, const unsigned *in,
                                                  bool barrier)
{
    DYNAMIC_SHARED(bytes);
    unsigned *shared = reinterpret_cast<unsigned *>(bytes);
    shared[threadIdx.x] = in[blockIdx.x * blockDim.x + threadIdx.x];
    for (unsigned distance = blockDim.x / 2; distance > 0; distance /= 2) {
        if (barrier)
            __syncthreads();
        if (threadIdx.x < distance)
            shared[threadIdx.x] += shared[threadIdx.x + distance];
    }
    if (threadIdx.x == 0)
        out[blockIdx.x] = shared[0];
}
LAUNCHABLE(tensord_test_block_sum)

extern "C" __global__ void tensord_test_warp(int *out)
{
    int lane = static_cast<int>(threadIdx.x), value = lane * lane;
    const unsigned all = 0xFFFFFFFFu;
    int *mine = out + lane * 6;
    mine[0] = __shfl_xor_sync(all, value, 5);
    mine[1] = __shfl_down_sync(all, value, 3);
    mine[2] = __shfl_sync(all, value, 7);
    mine[3] = static_cast<int>(__ballot_sync(all, lane % 3 == 0));
    mine[4] = __any_sync(all, lane == 31) + 2 * __all_sync(all, lane < 31);
    __syncwarp();
    mine[5] = lane < 16 ? __shfl_xor_sync(0x0000FFFFu, value, 1) : -1;
}
LAUNCHABLE(tensord_test_warp)

extern "C" __global__ void tensord_test_atomics(unsigned *counts,
                                                const unsigned char *data, int n)
{
    int step = static_cast<int>(gridDim.x * blockDim.x);
    for (int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); i < n;
         i += step)
        atomicAdd(&counts[data[i]], 1u);
    atomicMax(&counts[256], threadIdx.x);
    atomicMin(&counts[257], threadIdx.x);
}
LAUNCHABLE(tensord_test_atomics)

extern "C" __global__ void tensord_test_order(unsigned *order, unsigned *next)
{
    order[atomicAdd(next, 1u)] = threadIdx.x;
}
LAUNCHABLE(tensord_test_order)

extern "C" __global__ void tensord_test_divergent(int *out)
{
    if (threadIdx.x < 16)
        __syncthreads();
    else
        out[threadIdx.x] = __shfl_down_sync(0xFFFFFFFFu, 1, 1);
}
LAUNCHABLE(tensord_test_divergent)

// ---- helpers
static cudaStream_t stream;

template <class T> static T *device_copy(const std::vector<T> &values)
{
    void *block;
    REQUIRE(cudaMalloc(&block, values.size() * sizeof(T)) == cudaSuccess);
    REQUIRE(cudaMemcpyAsync(block, values.data(), values.size() * sizeof(T),
                            cudaMemcpyHostToDevice, stream) == cudaSuccess);
    return static_cast<T *>(block);
}
template <class T> static std::vector<T> host_copy(const T *block, size_t count)
{
    std::vector<T> values(count);
    REQUIRE(cudaMemcpyAsync(values.data(), block, count * sizeof(T),
                            cudaMemcpyDeviceToHost, stream) == cudaSuccess);
    return values;
}
static cudaError_t wait()
{
    return cudaStreamSynchronize(stream);
}

// ---- cases
static void indices()
{
    unsigned *out = device_copy(std::vector<unsigned>(2 * 3 * 2 * 60, 0));
    REQUIRE(launch(tensord_test_indices, dim3(2, 3, 2), dim3(5, 4, 3), 0, stream, out) ==
            cudaSuccess);
    std::vector<unsigned> got = host_copy(out, 2 * 3 * 2 * 60);
    for (unsigned i = 0; i < got.size(); i++)
        REQUIRE(got[i] == i + 1);
    REQUIRE(launch(tensord_test_indices, dim3(1), dim3(1025), 0, stream, out) ==
            cudaErrorInvalidConfiguration);
    REQUIRE(launch(tensord_test_indices, dim3(1), dim3(32), 0, nullptr, out) ==
            cudaErrorNotSupported);
}

static std::vector<unsigned> block_sums(bool barrier)
{
    std::vector<unsigned> values(4 * 256);
    for (size_t i = 0; i < values.size(); i++)
        values[i] = static_cast<unsigned>(i);
    unsigned *in = device_copy(values), *out = device_copy(std::vector<unsigned>(4));
    REQUIRE(launch(tensord_test_block_sum, dim3(4), dim3(256), 1024, stream, out, in,
                   barrier) == cudaSuccess);
    return host_copy(out, 4);
}

static void barriers()
{
    std::vector<unsigned> sums = block_sums(true);
    for (unsigned b = 0; b < 4; b++)
        REQUIRE(sums[b] == 256 * (256 * b) + 255 * 128);
}

// The random order of lanes makes a missing barrier visible.
static void missing_barrier()
{
    std::vector<unsigned> sums = block_sums(false);
    bool right = true;
    for (unsigned b = 0; b < 4; b++)
        right = right && sums[b] == 256 * (256 * b) + 255 * 128;
    REQUIRE(!right);
}

static void warp()
{
    int *out = device_copy(std::vector<int>(32 * 6));
    REQUIRE(launch(tensord_test_warp, dim3(1), dim3(32), 0, stream, out) == cudaSuccess);
    std::vector<int> got = host_copy(out, 32 * 6);
    for (int i = 0; i < 32; i++) {
        const int *mine = &got[static_cast<size_t>(i) * 6];
        REQUIRE(mine[0] == (i ^ 5) * (i ^ 5));
        REQUIRE(mine[1] == (i + 3 < 32 ? (i + 3) * (i + 3) : i * i));
        REQUIRE(mine[2] == 49);
        REQUIRE(static_cast<unsigned>(mine[3]) == 0x49249249u);
        REQUIRE(mine[4] == 1);
        REQUIRE(mine[5] == (i < 16 ? (i ^ 1) * (i ^ 1) : -1));
    }
}

static void atomics()
{
    std::vector<unsigned char> data(10000);
    std::vector<unsigned> expected(256);
    for (size_t i = 0; i < data.size(); i++) {
        data[i] = static_cast<unsigned char>(i * 7 % 251);
        expected[data[i]]++;
    }
    std::vector<unsigned> zeros(258);
    zeros[257] = 1000;
    unsigned *counts = device_copy(zeros);
    const unsigned char *from = device_copy(data);
    REQUIRE(launch(tensord_test_atomics, dim3(3), dim3(96), 0, stream, counts, from,
                   10000) == cudaSuccess);
    std::vector<unsigned> got = host_copy(counts, 258);
    REQUIRE(memcmp(got.data(), expected.data(), 1024) == 0);
    REQUIRE(got[256] == 95 && got[257] == 0);
}

// Lanes run in an order that the seed decides (the environment sets 7; 0 is ascending).
static void order()
{
    unsigned *seen = device_copy(std::vector<unsigned>(64)),
             *next = device_copy(std::vector<unsigned>(1));
    REQUIRE(launch(tensord_test_order, dim3(1), dim3(64), 0, stream, seen, next) ==
            cudaSuccess);
    std::vector<unsigned> got = host_copy(seen, 64);
    bool ascending = true, present[64] = {};
    for (unsigned i = 0; i < 64; i++) {
        ascending = ascending && got[i] == i;
        present[got[i]] = true;
    }
    for (bool one : present)
        REQUIRE(one);
    const char *seed = getenv("CUDASIM_SEED");
    REQUIRE(ascending == (seed && strcmp(seed, "0") == 0));
}

static void divergent()
{
    int *out = device_copy(std::vector<int>(32));
    REQUIRE(launch(tensord_test_divergent, dim3(1), dim3(32), 0, stream, out) ==
            cudaSuccess);
    REQUIRE(wait() == cudaErrorLaunchFailure);
    REQUIRE(cudaGetLastError() == cudaErrorLaunchFailure);
    void *more;
    REQUIRE(cudaMalloc(&more, 16) == cudaErrorLaunchFailure); // for good
}

static void freed_argument()
{
    unsigned *out = device_copy(std::vector<unsigned>(64));
    REQUIRE(wait() == cudaSuccess && cudaFree(out) == cudaSuccess);
    REQUIRE(launch(tensord_test_indices, dim3(1), dim3(64), 0, stream, out) ==
            cudaSuccess);
    REQUIRE(wait() == cudaErrorIllegalAddress);
}

static void host_argument()
{
    unsigned host[64];
    REQUIRE(launch(tensord_test_indices, dim3(1), dim3(64), 0, stream, host) ==
            cudaSuccess);
    REQUIRE(wait() == cudaErrorIllegalAddress);
}

static void host_touch() // must end in a signal
{
    volatile int *block = device_copy(std::vector<int>(4));
    printf("%d\n", block[0]);
}

static void bad_copies()
{
    std::vector<char> host(100);
    char *block = device_copy(host);
    REQUIRE(cudaMemcpyAsync(block + 1, host.data(), 100, cudaMemcpyHostToDevice,
                            stream) == cudaErrorInvalidValue);
    REQUIRE(cudaMemcpyAsync(block, host.data(), 100, cudaMemcpyDeviceToHost, stream) ==
            cudaErrorInvalidValue);
    REQUIRE(cudaMemsetAsync(host.data(), 0, 100, stream) == cudaErrorInvalidValue);
    REQUIRE(cudaFree(block + 1) == cudaErrorInvalidValue);
    REQUIRE(cudaFree(block) == cudaSuccess);
    REQUIRE(cudaFree(block) == cudaErrorInvalidValue);
    REQUIRE(cudaGetLastError() == cudaErrorInvalidValue);
    REQUIRE(cudaGetLastError() == cudaSuccess); // not sticky
}

static void events()
{
    cudaEvent_t start, end;
    cudaStream_t other;
    REQUIRE(cudaEventCreateWithFlags(&start, 0) == cudaSuccess);
    REQUIRE(cudaEventCreateWithFlags(&end, 0) == cudaSuccess);
    REQUIRE(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking) == cudaSuccess);
    REQUIRE(cudaEventQuery(start) == cudaSuccess); // never recorded
    unsigned *out = device_copy(std::vector<unsigned>(64 * 4096));
    REQUIRE(cudaEventRecord(start, stream) == cudaSuccess);
    REQUIRE(launch(tensord_test_indices, dim3(4096), dim3(64), 0, stream, out) ==
            cudaSuccess);
    REQUIRE(cudaEventRecord(end, stream) == cudaSuccess);
    REQUIRE(cudaStreamWaitEvent(other, end, 0) == cudaSuccess);
    REQUIRE(cudaMemsetAsync(out, 0, 64 * 4096 * 4, other) ==
            cudaSuccess); // after the kernel
    REQUIRE(cudaStreamSynchronize(other) == cudaSuccess);
    REQUIRE(cudaEventQuery(end) == cudaSuccess);
    float milliseconds = -1;
    REQUIRE(cudaEventElapsedTime(&milliseconds, start, end) == cudaSuccess &&
            milliseconds > 0);
    for (unsigned value : host_copy(out, 64 * 4096))
        REQUIRE(value == 0);
    REQUIRE(cudaEventDestroy(start) == cudaSuccess &&
            cudaEventDestroy(end) == cudaSuccess);
    REQUIRE(cudaStreamDestroy(other) == cudaSuccess);
}

static const struct {
    const char *name;
    void (*run)();
} cases[] = {
    {"indices", indices},
    {"barriers", barriers},
    {"missing-barrier", missing_barrier},
    {"warp", warp},
    {"atomics", atomics},
    {"order", order},
    {"divergent", divergent},
    {"freed-argument", freed_argument},
    {"host-argument", host_argument},
    {"host-touch", host_touch},
    {"bad-copies", bad_copies},
    {"events", events},
};

int main(int count, char **arguments)
{
    for (const auto &one : cases) {
        if (count != 2 || strcmp(arguments[1], one.name) != 0)
            continue;
        REQUIRE(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) == cudaSuccess);
        one.run();
        cudaStreamDestroy(stream);
        return 0;
    }
    fprintf(stderr, "no such case\n");
    return 2;
}
