// SPDX-License-Identifier: Apache-2.0
// The simulator's own parts, in reading order: faults.cpp (errors on demand), memory.cpp
// (tagged device memory), stream.cpp (a thread per stream, events), fiber.cpp and
// block.cpp (the threads of a block), launch.cpp (kernels by name), runtime.cpp (the rest
// of the runtime's interface).
#ifndef CUDASIM_SIM_H
#define CUDASIM_SIM_H

#include <atomic>
#include <functional>

#include "include/cudasim_device.h"

namespace cudasim
{

enum { MOST_DEVICES = 8 };

// ---- faults.cpp
long setting(const char *name, long otherwise); // from the environment
int device_count();
int current_device(); // of this thread
void set_current_device(int device);
// Counts a call of `api` and gives the error it must answer: the device's sticky one or
// an injected one.
cudaError_t enter(const char *api);
// Remembers an error for cudaGetLastError and returns it.
cudaError_t answer(cudaError_t error);
cudaError_t last_error(bool clear);
// The device reports `error` (700 or more) from now on. `why` is printed.
void break_device(int device, cudaError_t error, const char *why);
cudaError_t sticky_error(int device);
bool is_broken(int device);

// ---- memory.cpp
// Device addresses carry a tag in their upper bits that makes the processor refuse them.
bool is_device_address(const void *address);
int device_of(const void *address);
void *real_address(const void *address);
enum class place { inside, freed, nowhere };
// Where the bytes [address, address + bytes) of a device address lie.
place locate(const void *address, size_t bytes);
bool is_pinned(const void *address);
size_t memory_used(int device);
size_t memory_limit();

// ---- stream.cpp
cudaError_t enqueue(cudaStream_t stream, std::function<void()> work);
int device_of_stream(cudaStream_t stream);
void wait_for_device(int device);

// ---- block.cpp
struct launch_shape {
    dim3 grid, block;
    size_t shared_bytes;
    unsigned seed; // order of lanes; 0: ascending
};
// Runs all lanes of one block; an error text, or nullptr.
const char *run_block(const launch_shape &shape, uint3 position,
                      const std::function<void()> &body);

} // namespace cudasim
#endif
