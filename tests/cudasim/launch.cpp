// SPDX-License-Identifier: Apache-2.0
// Launching kernels: by the address of a kernel that g++ compiled, or by the stub that
// nvcc's host code registered under the kernel's name. Arguments are checked and their
// device addresses replaced by real ones, also inside structures (every aligned word that
// carries a tag).
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "sim.h"

using namespace cudasim;

namespace
{
struct state {
    std::mutex mutex;
    std::map<std::string, const cudasim_kernel *> by_name;
    std::map<const void *, const cudasim_kernel *> by_function;
    std::map<const void *, std::string> stubs;
};
state &kernels()
{
    static state *one = new state;
    return *one;
}

const cudasim_kernel *find(const void *function)
{
    state &s = kernels();
    std::lock_guard<std::mutex> lock(s.mutex);
    auto own = s.by_function.find(function);
    if (own != s.by_function.end())
        return own->second;
    auto stub = s.stubs.find(function);
    if (stub == s.stubs.end())
        return nullptr;
    auto named = s.by_name.find(stub->second);
    if (named != s.by_name.end())
        return named->second;
    fprintf(stderr, "cudasim: kernel %s has no version for the CPU\n",
            stub->second.c_str());
    return nullptr;
}

// A private copy of the arguments of one launch.
struct arguments {
    std::vector<uint64_t> words; // 16-byte aligned pieces
    std::vector<void *> pointers;

    arguments(const cudasim_kernel &kernel, void **from)
    {
        size_t total = 0;
        for (int i = 0; i < kernel.n_arguments; i++)
            total += (kernel.sizes[i] + 15) / 16 * 2;
        words.resize(total + 2);
        size_t at = reinterpret_cast<uintptr_t>(words.data()) % 16 / 8;
        for (int i = 0; i < kernel.n_arguments; i++) {
            pointers.push_back(&words[at]);
            memcpy(&words[at], from[i], kernel.sizes[i]);
            at += (kernel.sizes[i] + 15) / 16 * 2;
        }
    }
};

// An error text, or nullptr. Replaces device addresses.
const char *check(const cudasim_kernel &kernel, arguments &list, int device)
{
    for (int i = 0; i < kernel.n_arguments; i++) {
        for (size_t at = 0; at + 8 <= kernel.sizes[i]; at += 8) {
            void *word;
            char *place = static_cast<char *>(list.pointers[i]) + at;
            memcpy(&word, place, 8);
            if (!is_device_address(word)) {
                if (kernel.is_pointer[i] && word)
                    return "a pointer argument is not a device address";
                continue;
            }
            switch (locate(word, 0)) {
            case place::freed:
                return "an argument points to freed device memory";
            case place::nowhere:
                if (kernel.is_pointer[i])
                    return "a pointer argument is outside every block of device memory";
                continue; // a number that looks like an address
            case place::inside:
                break;
            }
            if (device_of(word) != device)
                return "an argument points to another device's memory";
            word = real_address(word);
            memcpy(place, &word, 8);
        }
    }
    return nullptr;
}

bool shape_is_valid(dim3 grid, dim3 block, size_t shared_bytes)
{
    uint64_t threads = uint64_t(block.x) * block.y * block.z;
    return threads >= 1 && threads <= 1024 && block.z <= 64 && grid.x >= 1 &&
           grid.y >= 1 && grid.z >= 1 && grid.x <= 0x7fffffffu && grid.y <= 65535 &&
           grid.z <= 65535 && shared_bytes <= 48 << 10;
}

void run_grid(const cudasim_kernel *kernel, const std::shared_ptr<arguments> &list,
              dim3 grid, dim3 block, size_t shared_bytes, int device)
{
    static const long seed = setting("CUDASIM_SEED", 1);
    const char *error = check(*kernel, *list, device);
    if (error) {
        fprintf(stderr, "cudasim: launch of %s\n", kernel->name);
        return break_device(device, cudaErrorIllegalAddress, error);
    }
    void *const *pointers = list->pointers.data();
    std::function<void()> body = [=] { kernel->call(pointers); };
    uint64_t blocks = uint64_t(grid.x) * grid.y * grid.z;
    for (uint64_t i = 0; i < blocks && !is_broken(device); i++) {
        uint3 position = {static_cast<unsigned>(i % grid.x),
                          static_cast<unsigned>(i / grid.x % grid.y),
                          static_cast<unsigned>(i / grid.x / grid.y)};
        unsigned order =
            seed ? static_cast<unsigned>(static_cast<uint64_t>(seed) + i) : 0;
        error = run_block({grid, block, shared_bytes, order}, position, body);
        if (error) {
            fprintf(stderr, "cudasim: kernel %s\n", kernel->name);
            break_device(device, cudaErrorLaunchFailure, error);
        }
    }
}

// Loads the library with the CPU versions of the kernels: CUDASIM_KERNELS, or the one
// beside this library.
void load_kernels()
{
    const char *path = getenv("CUDASIM_KERNELS");
    std::string beside;
    Dl_info self;
    if (!path && dladdr(reinterpret_cast<const void *>(&cudasim_register), &self)) {
        beside = self.dli_fname;
        beside = beside.substr(0, beside.rfind('/') + 1) + "libtensord_cuda.so";
        path = beside.c_str();
    }
    if (path && !dlopen(path, RTLD_NOW | RTLD_LOCAL))
        fprintf(stderr, "cudasim: %s\n", dlerror());
}
} // namespace

extern "C" {

void cudasim_register(const struct cudasim_kernel *kernel)
{
    std::lock_guard<std::mutex> lock(kernels().mutex);
    kernels().by_name[kernel->name] = kernel;
    kernels().by_function[kernel->function] = kernel;
}

void cudasim_unregister(const struct cudasim_kernel *kernel)
{
    std::lock_guard<std::mutex> lock(kernels().mutex);
    kernels().by_name.erase(kernel->name);
    kernels().by_function.erase(kernel->function);
}

cudaError_t cudaLaunchKernel(const void *function, dim3 grid, dim3 block, void **list,
                             size_t shared_bytes, cudaStream_t stream)
{
    cudaError_t error = enter("cudaLaunchKernel");
    if (error)
        return answer(error);
    const cudasim_kernel *kernel = find(function);
    if (!kernel)
        return answer(cudaErrorInvalidDeviceFunction);
    if (!shape_is_valid(grid, block, shared_bytes))
        return answer(cudaErrorInvalidConfiguration);
    auto copied = std::make_shared<arguments>(*kernel, list);
    int device = device_of_stream(stream);
    cudaError_t later = enter(
        "kernel"); // an injected fault of the kernel itself: it shows only afterwards
    return answer(enqueue(stream, [=] {
        if (later)
            break_device(device, later, "an injected fault in a kernel");
        if (!is_broken(device))
            run_grid(kernel, copied, grid, block, shared_bytes, device);
    }));
}

// ---- what nvcc's host code calls
void **__cudaRegisterFatBinary(void *)
{
    static std::once_flag once;
    static void *handle;
    std::call_once(once, load_kernels);
    return &handle;
}
void __cudaRegisterFatBinaryEnd(void **) {}
void __cudaUnregisterFatBinary(void **) {}
void __cudaRegisterFunction(void **, const char *stub, char *, const char *name, int,
                            uint3 *, uint3 *, dim3 *, dim3 *, int *)
{
    std::lock_guard<std::mutex> lock(kernels().mutex);
    kernels().stubs[stub] = name;
}
char __cudaInitModule(void **)
{
    return 1;
}
cudaError_t __cudaGetKernel(void **kernel, const void *function)
{
    *kernel = const_cast<void *>(function);
    return cudaSuccess;
}
cudaError_t __cudaLaunchKernel(void *kernel, dim3 grid, dim3 block, void **list,
                               size_t shared_bytes, cudaStream_t stream)
{
    return cudaLaunchKernel(kernel, grid, block, list, shared_bytes, stream);
}
// Of kernel<<<...>>>, which tensord does not use.
unsigned __cudaPushCallConfiguration(dim3, dim3, size_t, cudaStream_t)
{
    return 1;
}
cudaError_t __cudaPopCallConfiguration(dim3 *, dim3 *, size_t *, void *)
{
    return cudaErrorNotSupported;
}

} // extern "C"
