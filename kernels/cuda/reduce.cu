// SPDX-License-Identifier: Apache-2.0
// Reductions: the interpreter with a tail. A task is one block of PASS_REDUCE_BLOCK
// elements of one output; a thread block runs up to eight tasks (fewer where values need
// the room) with 32 threads each, whose four elements make the 128 lanes of the tree that
// program.h states. Whether neighbouring threads take neighbouring elements or
// neighbouring outputs changes the memory access, never the tree.
#include "kernels/cuda/interpret.h"
#include "kernels/cuda/kernels.h"

enum { MAX_TASKS = 8, TASK_THREADS = 32, REDUCE_THREADS = MAX_TASKS * TASK_THREADS };

// A partial result. Extrema with their index: an empty one has index INT64_MAX.
template <class T> struct partial {
    T value;
    int64_t index;
};

template <class T> static __device__ __forceinline__ bool is_nan(T value)
{
    return value != value;
}

template <class T> static __device__ __forceinline__ T lowest()
{
    if constexpr (class_of<T>::value == VALUE_INT64)
        return INT64_MIN;
    else
        return bits_as<T>(class_of<T>::value == VALUE_FLOAT32
                              ? static_cast<int64_t>(0xFF800000u)
                              : static_cast<int64_t>(0xFFF0000000000000ull));
}
template <class T> static __device__ __forceinline__ T highest()
{
    if constexpr (class_of<T>::value == VALUE_INT64)
        return INT64_MAX;
    else
        return -lowest<T>();
}

template <class T> static __device__ __forceinline__ partial<T> identity(unsigned kind)
{
    switch (kind) {
    case PASS_PROD:
    case PASS_ALL:
        return {T(1), INT64_MAX};
    case PASS_MIN:
        return {highest<T>(), INT64_MAX};
    case PASS_MAX:
        return {lowest<T>(), INT64_MAX};
    default:
        return {T(0), INT64_MAX};
    }
}

// Sum and product; integers wrap.
template <class T> static __device__ __forceinline__ T plus(T a, T b)
{
    if constexpr (class_of<T>::value == VALUE_INT64)
        return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
    else
        return a + b;
}
template <class T> static __device__ __forceinline__ T times(T a, T b)
{
    if constexpr (class_of<T>::value == VALUE_INT64)
        return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
    else
        return a * b;
}

// Whether b displaces a: NaN before numbers, then the better value, then the smaller
// index.
template <class T>
static __device__ __forceinline__ bool displaces(partial<T> b, partial<T> a,
                                                 bool smallest)
{
    if (b.index == INT64_MAX || a.index == INT64_MAX)
        return b.index != INT64_MAX;
    if (is_nan(a.value) || is_nan(b.value))
        return is_nan(b.value) && (!is_nan(a.value) || b.index < a.index);
    if (a.value == b.value)
        return b.index < a.index;
    return smallest ? b.value < a.value : b.value > a.value;
}

template <class T>
static __device__ __forceinline__ void combine(unsigned kind, partial<T> &a, partial<T> b)
{
    switch (kind) {
    case PASS_SUM:
    case PASS_MEAN:
        a.value = plus(a.value, b.value);
        break;
    case PASS_PROD:
        a.value = times(a.value, b.value);
        break;
    case PASS_MIN:
        if (!is_nan(a.value) && (is_nan(b.value) || b.value < a.value))
            a.value = b.value;
        break;
    case PASS_MAX:
        if (!is_nan(a.value) && (is_nan(b.value) || b.value > a.value))
            a.value = b.value;
        break;
    case PASS_ARGMIN:
    case PASS_ARGMAX:
        if (displaces(b, a, kind == PASS_ARGMIN))
            a = b;
        break;
    case PASS_ALL:
        a.value = a.value != 0 && b.value != 0;
        break;
    default: // PASS_ANY
        a.value = a.value != 0 || b.value != 0;
    }
}

// The lanes of a thread, as bits: one set of registers for all three classes.
struct lanes {
    int64_t bits[ELEMENTS], index[ELEMENTS];
};

template <class T>
static __device__ __forceinline__ void lanes_clear(const reduction &r, lanes &accumulated)
{
    EACH_ELEMENT
    {
        partial<T> one = identity<T>(r.kind);
        accumulated.bits[e] = bits_as<int64_t>(one.value);
        accumulated.index[e] = one.index;
    }
}

template <class T>
static __device__ __forceinline__ void lanes_add(const reduction &r, const span &s,
                                                 unsigned slot, int64_t base,
                                                 lanes &accumulated)
{
    EACH_ELEMENT
    {
        if (s.active(e)) {
            int64_t index = r.from_index ? r.from_index[s.index(e)] : s.index(e) - base;
            partial<T> a = {bits_as<T>(accumulated.bits[e]), accumulated.index[e]};
            combine<T>(r.kind, a, {cell_read<T>(s, slot, e), index});
            accumulated.bits[e] = bits_as<int64_t>(a.value);
            accumulated.index[e] = a.index;
        }
    }
}

// Stores the result of one task: a partial value, or the output.
template <class T>
static __device__ __forceinline__ void task_store(const program &p, const reduction &r,
                                                  int64_t output, int64_t block,
                                                  partial<T> result)
{
    if (r.values != nullptr) {
        int64_t place = output * r.blocks + block;
        reinterpret_cast<T *>(r.values)[place] = result.value;
        if (r.indices != nullptr)
            r.indices[place] = result.index;
        return;
    }
    int64_t offset = view_offset(p.output, p.wide, output);
    unsigned dtype = p.output.dtype;
    if (r.kind == PASS_ARGMIN || r.kind == PASS_ARGMAX) {
        store(p.output.data, offset, DTYPE_INT64, result.index);
        return;
    }
    T value = result.value;
    if (r.kind == PASS_MEAN)
        value = value / static_cast<T>(r.count);
    if (dtype <= DTYPE_INT64)
        store(p.output.data, offset, dtype,
              rounded(converted<int64_t>(value, dtype), dtype));
    else if (dtype <= DTYPE_FLOAT32)
        store(p.output.data, offset, dtype, converted<float>(value, dtype));
    else
        store(p.output.data, offset, dtype, converted<double>(value, dtype));
}

// Combines the lanes of the block's tasks (x: task, y: thread of the task) and stores the
// results. `exchange` is shared memory for one partial result of each thread.
template <class T>
static __device__ __forceinline__ void
tasks_finish(const program &p, const reduction &r, const lanes &accumulated,
             void *exchange, unsigned x, unsigned y, bool present, int64_t output,
             int64_t block)
{
    partial<T> *shared = static_cast<partial<T> *>(exchange) + x * TASK_THREADS;
    partial<T> lane[ELEMENTS];
    EACH_ELEMENT lane[e] = {bits_as<T>(accumulated.bits[e]), accumulated.index[e]};
    combine(r.kind, lane[0], lane[2]);
    combine(r.kind, lane[1], lane[3]);
    combine(r.kind, lane[0], lane[1]);
    shared[y] = lane[0];
    for (unsigned distance = TASK_THREADS / 2; distance > 0; distance /= 2) {
        __syncthreads();
        if (y < distance) {
            combine(r.kind, lane[0], shared[y + distance]);
            shared[y] = lane[0];
        }
    }
    if (y == 0 && present)
        task_store<T>(p, r, output, block, lane[0]);
}

extern "C" __global__ void __launch_bounds__(REDUCE_THREADS)
    tensord_reduce(const __grid_constant__ program p, const __grid_constant__ reduction r,
                   int *fault)
{
    DYNAMIC_SHARED(cells);
    __shared__ partial<double> exchange[REDUCE_THREADS];
    unsigned tasks = blockDim.x / TASK_THREADS;
    unsigned x = r.across ? threadIdx.x % tasks : threadIdx.x / TASK_THREADS;
    unsigned y = r.across ? threadIdx.x / tasks : threadIdx.x % TASK_THREADS;
    int64_t number = static_cast<int64_t>(blockIdx.x) * tasks + x;
    bool present = number < r.n_tasks;
    int64_t task = r.first_task + (present ? number : 0);
    int64_t output = r.across ? task % r.outer : task / r.blocks;
    int64_t block = r.across ? task / r.outer : task % r.blocks;
    int64_t base = output * r.extent;
    int64_t last = (block + 1) * PASS_REDUCE_BLOCK;
    last = last < r.extent ? last : r.extent;
    lanes accumulated;
    if (p.result_class == VALUE_INT64)
        lanes_clear<int64_t>(r, accumulated);
    else if (p.result_class == VALUE_FLOAT32)
        lanes_clear<float>(r, accumulated);
    else
        lanes_clear<double>(r, accumulated);
    for (int64_t k = block * PASS_REDUCE_BLOCK; present && k < last;
         k += ELEMENTS * TASK_THREADS) {
        span s = {base + k + y, TASK_THREADS, base + last,
                  cells,        threadIdx.x,  blockDim.x};
        interpret(p, s, fault);
        if (p.result_class == VALUE_INT64)
            lanes_add<int64_t>(r, s, p.result, base, accumulated);
        else if (p.result_class == VALUE_FLOAT32)
            lanes_add<float>(r, s, p.result, base, accumulated);
        else
            lanes_add<double>(r, s, p.result, base, accumulated);
    }
    if (p.result_class == VALUE_INT64)
        tasks_finish<int64_t>(p, r, accumulated, exchange, x, y, present, output, block);
    else if (p.result_class == VALUE_FLOAT32)
        tasks_finish<float>(p, r, accumulated, exchange, x, y, present, output, block);
    else
        tasks_finish<double>(p, r, accumulated, exchange, x, y, present, output, block);
}
LAUNCHABLE(tensord_reduce)

extern "C" cudaError_t launch_reduce(const struct program *p, const struct reduction *r,
                                     int *fault, cudaStream_t stream)
{
    unsigned tasks = MAX_TASKS,
             task_bytes = p->n_slots * PROGRAM_SLOT_BYTES * TASK_THREADS;
    while (tasks > 1 &&
           (task_bytes * tasks > PROGRAM_MAX_SHARED || tasks >= 2 * r->n_tasks))
        tasks /= 2;
    int64_t blocks = (r->n_tasks + tasks - 1) / tasks;
    return launch(tensord_reduce, dim3(static_cast<unsigned>(blocks)),
                  dim3(tasks * TASK_THREADS), task_bytes * tasks, stream, *p, *r, fault);
}
