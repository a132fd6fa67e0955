// SPDX-License-Identifier: Apache-2.0
// The interpreter of programs: device functions shared by pass.cu and reduce.cu. All
// threads of a launch follow the same steps, so its branches never diverge;
// PROGRAM_ELEMENTS elements a thread share the cost of decoding. Values between steps lie
// in shared memory, where each thread touches only its own cells.
#ifndef TENSORD_KERNELS_CUDA_INTERPRET_H
#define TENSORD_KERNELS_CUDA_INTERPRET_H

#include "kernels/cuda/launch.h"
#include "kernels/cuda/program.h"
#include "kernels/scalar_math.h"

#define NONE 0

// Operations that compile to many instructions, or that can fault.
static constexpr __device__ bool is_long(unsigned op)
{
    return op == MAP_floor_divide || op == MAP_remainder || op == MAP_truncate_divide ||
           op == MAP_pow || op == MAP_exp || op == MAP_expm1 || op == MAP_log ||
           op == MAP_log1p || op == MAP_log2 || op == MAP_rsqrt || op == MAP_sin ||
           op == MAP_cos || op == MAP_tan || op == MAP_tanh || op == MAP_sigmoid ||
           op == MAP_exp2 || op == MAP_log10 || op == MAP_atan || op == MAP_erf ||
           op == MAP_gelu || op == MAP_reciprocal;
}

#define EXPRESSION(integer, floating) integer
#define T int64_t
#define FN(name) scalar_##name##_i64
#define M(name) name
#define CLASS(name) name##_int64
#include "kernels/cuda/evaluate.h"
#undef EXPRESSION
#undef T
#undef FN
#undef M
#undef CLASS
#define EXPRESSION(integer, floating) floating
#define T float
#define FN(name) scalar_##name##_f32
#define M(name) name##f
#define CLASS(name) name##_float32
#include "kernels/cuda/evaluate.h"
#undef T
#undef FN
#undef M
#undef CLASS
#define T double
#define FN(name) scalar_##name##_f64
#define M(name) name
#define CLASS(name) name##_float64
#include "kernels/cuda/evaluate.h"
#undef T
#undef FN
#undef M
#undef CLASS
#undef EXPRESSION
#undef NONE

enum { ELEMENTS = PROGRAM_ELEMENTS };
#define EACH_ELEMENT _Pragma("unroll") for (int e = 0; e < ELEMENTS; e++)

static __device__ __forceinline__ unsigned
evaluate(unsigned op, const int64_t *a, const int64_t *b, const int64_t *c, int64_t *r)
{
    return evaluate_int64(op, a, b, c, r);
}
static __device__ __forceinline__ unsigned
evaluate(unsigned op, const float *a, const float *b, const float *c, float *r)
{
    return evaluate_float32(op, a, b, c, r);
}
static __device__ __forceinline__ unsigned
evaluate(unsigned op, const double *a, const double *b, const double *c, double *r)
{
    return evaluate_float64(op, a, b, c, r);
}

template <class T> struct class_of;
template <> struct class_of<int64_t> {
    static constexpr int value = VALUE_INT64;
};
template <> struct class_of<float> {
    static constexpr int value = VALUE_FLOAT32;
};
template <> struct class_of<double> {
    static constexpr int value = VALUE_FLOAT64;
};

// The elements of a thread: first + e * step, those below end; and its cells in shared
// memory.
struct span {
    int64_t first, step, end;
    unsigned char *cells;
    unsigned thread, threads;
    __device__ __forceinline__ int64_t index(int e) const { return first + e * step; }
    __device__ __forceinline__ bool active(int e) const { return index(e) < end; }
};

// A cell is two words, `threads` words apart, so that neighbours meet no bank twice and a
// thread's cell is its own whichever class it holds.
static __device__ __forceinline__ uint32_t *cell(const span &s, unsigned slot, int e)
{
    return reinterpret_cast<uint32_t *>(s.cells) +
           (slot * ELEMENTS + e) * (s.threads * 2) + s.thread;
}
template <class T>
static __device__ __forceinline__ T cell_read(const span &s, unsigned slot, int e)
{
    const uint32_t *words = cell(s, slot, e);
    if constexpr (sizeof(T) == 4)
        return bits_as<T>(words[0]);
    else
        return bits_as<T>(static_cast<uint64_t>(words[s.threads]) << 32 | words[0]);
}
template <class T>
static __device__ __forceinline__ void cell_write(const span &s, unsigned slot, int e,
                                                  T value)
{
    uint32_t *words = cell(s, slot, e);
    uint64_t bits = bits_as<uint64_t>(value);
    words[0] = static_cast<uint32_t>(bits);
    if constexpr (sizeof(T) == 8)
        words[s.threads] = static_cast<uint32_t>(bits >> 32);
}

// ---- memory
// The offset of a large index; rare, so it is not expanded.
static __device__ __noinline__ int64_t wide_offset(const program_view &view,
                                                   int64_t index)
{
    int64_t offset = 0;
    for (int d = view.ndim - 1; d > 0; d--) {
        int64_t quotient = index / view.sizes[d];
        offset += (index - quotient * view.sizes[d]) * view.strides[d];
        index = quotient;
    }
    return offset + index * view.strides[0];
}

static __device__ __forceinline__ int64_t view_offset(const program_view &view, bool wide,
                                                      int64_t index)
{
    if (view.ndim <= 1)
        return index * view.strides[0];
    if (wide)
        return wide_offset(view, index);
    int64_t offset = 0;
    uint32_t rest = static_cast<uint32_t>(index);
    for (int d = view.ndim - 1; d > 0; d--) {
        uint32_t high =
            static_cast<uint32_t>(static_cast<uint64_t>(rest) * view.magics[d] >> 32);
        uint32_t quotient = (high + rest) >> view.shifts[d];
        offset +=
            (rest - quotient * static_cast<uint32_t>(view.sizes[d])) * view.strides[d];
        rest = quotient;
    }
    return offset + rest * view.strides[0];
}

template <class Stored, class T>
static __device__ __forceinline__ void load_as(const char *data, const int64_t *offsets,
                                               const span &s, T *values)
{
    const Stored *from = reinterpret_cast<const Stored *>(data);
    EACH_ELEMENT values[e] = s.active(e) ? static_cast<T>(from[offsets[e]]) : T(0);
}

template <class T>
static __device__ __forceinline__ void
load_typed(const program_view &view, const int64_t *offsets, const span &s, T *values)
{
    if constexpr (class_of<T>::value == VALUE_FLOAT64) {
        load_as<double>(view.data, offsets, s, values);
    } else if constexpr (class_of<T>::value == VALUE_FLOAT32) {
        if (view.dtype == DTYPE_FLOAT32) {
            load_as<float>(view.data, offsets, s, values);
            return;
        }
        int64_t raw[ELEMENTS];
        load_as<uint16_t>(view.data, offsets, s, raw);
        if (view.dtype == DTYPE_FLOAT16)
            EACH_ELEMENT values[e] = half_to_float(static_cast<uint16_t>(raw[e]));
        else
            EACH_ELEMENT values[e] = brain_to_float(static_cast<uint16_t>(raw[e]));
    } else {
        switch (view.dtype) {
        case DTYPE_INT8:
            return load_as<int8_t>(view.data, offsets, s, values);
        case DTYPE_INT16:
            return load_as<int16_t>(view.data, offsets, s, values);
        case DTYPE_INT32:
            return load_as<int32_t>(view.data, offsets, s, values);
        case DTYPE_INT64:
            return load_as<int64_t>(view.data, offsets, s, values);
        default: // bool, uint8
            return load_as<uint8_t>(view.data, offsets, s, values);
        }
    }
}

template <class T>
static __device__ __forceinline__ void fetch(const program &p, unsigned operand,
                                             const span &s, T *values)
{
    unsigned number = operand & 63;
    switch (operand >> 6) {
    case OPERAND_SLOT:
        EACH_ELEMENT values[e] = cell_read<T>(s, number, e);
        break;
    case OPERAND_CONSTANT:
        EACH_ELEMENT values[e] = bits_as<T>(p.constants[number]);
        break;
    case OPERAND_INDEX:
        EACH_ELEMENT values[e] = static_cast<T>(s.index(e));
        break;
    default: {
        const program_view &view = p.inputs[number];
        int64_t offsets[ELEMENTS];
        EACH_ELEMENT offsets[e] = s.active(e) ? view_offset(view, p.wide, s.index(e)) : 0;
        load_typed(view, offsets, s, values);
    }
    }
}

// ---- conversion (pass.h "Conversion")
template <class F> static __device__ __forceinline__ int64_t truncated(F value)
{
    if (!(value >= F(-9223372036854775808.0) && value < F(9223372036854775808.0)))
        return INT64_MIN;
    return static_cast<int64_t>(value);
}

template <class R, class V>
static __device__ __forceinline__ R converted(V value, unsigned dtype)
{
    if constexpr (class_of<R>::value == VALUE_INT64 && class_of<V>::value != VALUE_INT64)
        return dtype == DTYPE_BOOL ? value != 0 : truncated(value);
    else
        return static_cast<R>(value);
}

static __device__ __forceinline__ int64_t rounded(int64_t value, unsigned dtype)
{
    switch (dtype) {
    case DTYPE_BOOL:
        return value != 0;
    case DTYPE_UINT8:
        return static_cast<uint8_t>(value);
    case DTYPE_INT8:
        return static_cast<int8_t>(value);
    case DTYPE_INT16:
        return static_cast<int16_t>(value);
    case DTYPE_INT32:
        return static_cast<int32_t>(value);
    default:
        return value;
    }
}
static __device__ __forceinline__ float rounded(float value, unsigned dtype)
{
    if (dtype == DTYPE_FLOAT16)
        return half_to_float(half_from_float(value));
    if (dtype == DTYPE_BFLOAT16)
        return brain_to_float(brain_from_float(value));
    return value;
}
static __device__ __forceinline__ double rounded(double value, unsigned)
{
    return value;
}

// Stores a value of class R, already rounded to dtype.
static __device__ __forceinline__ void store(char *data, int64_t offset, unsigned dtype,
                                             int64_t value)
{
    switch (dtype) {
    case DTYPE_INT16:
        reinterpret_cast<int16_t *>(data)[offset] = static_cast<int16_t>(value);
        break;
    case DTYPE_INT32:
        reinterpret_cast<int32_t *>(data)[offset] = static_cast<int32_t>(value);
        break;
    case DTYPE_INT64:
        reinterpret_cast<int64_t *>(data)[offset] = value;
        break;
    default:
        reinterpret_cast<int8_t *>(data)[offset] = static_cast<int8_t>(value);
    }
}
static __device__ __forceinline__ void store(char *data, int64_t offset, unsigned dtype,
                                             float value)
{
    if (dtype == DTYPE_FLOAT32)
        reinterpret_cast<float *>(data)[offset] = value;
    else
        reinterpret_cast<uint16_t *>(data)[offset] =
            dtype == DTYPE_FLOAT16 ? half_from_float(value) : brain_from_float(value);
}
static __device__ __forceinline__ void store(char *data, int64_t offset, unsigned,
                                             double value)
{
    reinterpret_cast<double *>(data)[offset] = value;
}

// ---- steps
template <class R, class V>
static __device__ __forceinline__ void put(const program_step &step, const span &s,
                                           const V *values)
{
    EACH_ELEMENT cell_write<R>(
        s, step.target, e,
        rounded(converted<R>(values[e], step.result_dtype), step.result_dtype));
}

template <class T>
static __device__ __forceinline__ unsigned
run_step(const program &p, const program_step &step, const span &s)
{
    T a[ELEMENTS], b[ELEMENTS] = {}, c[ELEMENTS] = {}, r[ELEMENTS];
    if (class_of<T>::value != VALUE_INT64 && step.op == MAP_where) {
        int64_t condition[ELEMENTS];
        fetch(p, step.a, s, condition);
        EACH_ELEMENT a[e] = static_cast<T>(condition[e] != 0);
    } else {
        fetch(p, step.a, s, a);
    }
    if (step.b != step.a)
        fetch(p, step.b, s, b);
    else
        EACH_ELEMENT b[e] = a[e];
    if (step.c != step.a)
        fetch(p, step.c, s, c);
    else
        EACH_ELEMENT c[e] = a[e];
    unsigned faults = evaluate(step.op, a, b, c, r);
    if (step.result_class == VALUE_INT64)
        put<int64_t>(step, s, r);
    else if (step.result_class == VALUE_FLOAT32)
        put<float>(step, s, r);
    else
        put<double>(step, s, r);
    return faults;
}

// Runs the program on the thread's elements; cell_read(s, p.result, e) has the values.
// *fault becomes 1 if an element divided by zero.
static __device__ __forceinline__ void interpret(const program &p, const span &s,
                                                 int *fault)
{
    unsigned faults = 0;
    for (int i = 0; i < p.n_steps; i++) {
        const program_step &step = p.steps[i];
        if (step.value_class == VALUE_INT64)
            faults |= run_step<int64_t>(p, step, s);
        else if (step.value_class == VALUE_FLOAT32)
            faults |= run_step<float>(p, step, s);
        else
            faults |= run_step<double>(p, step, s);
    }
    if (faults == 0)
        return;
    EACH_ELEMENT if ((faults >> e & 1) != 0 && s.active(e)) atomicExch(fault, 1);
}
#endif
