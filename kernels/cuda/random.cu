// SPDX-License-Identifier: Apache-2.0
// Random numbers from Philox (kernels/random.h says which element gets which words) and
// the sorting network that makes permutations. A thread is one lane in one row: it makes
// one block of four words and writes the two or four elements that share it, PHILOX_LANES
// apart. Only exact operations and those of random_math.h: every card and the simulator
// give the same bits.
#include "kernels/cuda/kernels.h"
#include "kernels/cuda/launch.h"
#include "kernels/random_math.h"

enum { RANDOM_THREADS = 256 };

static __device__ __forceinline__ struct philox draw(const struct random_cells &cells,
                                                     int64_t lane, int64_t row)
{
    uint64_t position = cells.position + static_cast<uint64_t>(row);
    struct philox counter;
    counter.words[0] = static_cast<uint32_t>(position);
    counter.words[1] = static_cast<uint32_t>(position >> 32);
    counter.words[2] = static_cast<uint32_t>(lane);
    counter.words[3] = 0;
    return philox_block(counter, cells.seed);
}

// ---- storing
static __device__ __forceinline__ void store_integer(void *to, int64_t i, int dtype,
                                                     int64_t value)
{
    switch (dtype) {
    case DTYPE_BOOL:
        static_cast<uint8_t *>(to)[i] = value != 0;
        break;
    case DTYPE_UINT8:
    case DTYPE_INT8:
        static_cast<uint8_t *>(to)[i] = static_cast<uint8_t>(value);
        break;
    case DTYPE_INT16:
        static_cast<uint16_t *>(to)[i] = static_cast<uint16_t>(value);
        break;
    case DTYPE_INT32:
        static_cast<uint32_t *>(to)[i] = static_cast<uint32_t>(value);
        break;
    case DTYPE_INT64:
        static_cast<int64_t *>(to)[i] = value;
        break;
    case DTYPE_FLOAT16:
        static_cast<uint16_t *>(to)[i] = half_from_float(static_cast<float>(value));
        break;
    case DTYPE_BFLOAT16:
        static_cast<uint16_t *>(to)[i] = brain_from_float(static_cast<float>(value));
        break;
    case DTYPE_FLOAT32:
        static_cast<float *>(to)[i] = static_cast<float>(value);
        break;
    default:
        static_cast<double *>(to)[i] = static_cast<double>(value);
        break;
    }
}

// The value as the dtype holds it.
static __device__ __forceinline__ float round_to(int dtype, float value)
{
    return dtype == DTYPE_FLOAT16    ? half_to_float(half_from_float(value))
           : dtype == DTYPE_BFLOAT16 ? brain_to_float(brain_from_float(value))
                                     : value;
}

static __device__ __forceinline__ void store_float(void *to, int64_t i, int dtype,
                                                   float value)
{
    if (dtype == DTYPE_FLOAT16)
        static_cast<uint16_t *>(to)[i] = half_from_float(value);
    else if (dtype == DTYPE_BFLOAT16)
        static_cast<uint16_t *>(to)[i] = brain_from_float(value);
    else
        static_cast<float *>(to)[i] = value;
}

static __device__ __forceinline__ int64_t integer_of(const struct random_cells &cells,
                                                     uint64_t word)
{
    uint64_t rest = word;
    if (!cells.wide && cells.range - 1 < UINT32_MAX) // a 32-bit division is faster
        rest = static_cast<uint32_t>(word) % static_cast<uint32_t>(cells.range);
    else if (cells.range != 0)
        rest = word % cells.range;
    return static_cast<int64_t>(static_cast<uint64_t>(cells.base) + rest);
}

// ---- one word an element
// (0, 1], as curand makes it.
static __device__ __forceinline__ float uniform_of(uint32_t word)
{
    return static_cast<float>(word) * 0x1p-32f + 0x1p-33f;
}

// [low, high): the upper bound, which 1 and roundings give, becomes the lower one.
static __device__ __forceinline__ float place(const struct random_cells &cells, float u)
{
    float low = static_cast<float>(cells.low), high = static_cast<float>(cells.high);
    float value = round_to(cells.dtype, fmaf(u, round_to(cells.dtype, high - low), low));
    return value >= high ? low : value;
}

static __device__ __forceinline__ void normals_of(const struct philox &words, float *out)
{
    const float scale = 0x1p-32f * 6.2831855f;
    for (int pair = 0; pair < 4; pair += 2) {
        float radius = sqrtf(-2.0f * random_log(uniform_of(words.words[pair])));
        float angle = fmaf(static_cast<float>(words.words[pair + 1]), scale, scale / 2);
        struct random_pair turn = random_sincos(angle);
        out[pair] = turn.sine * radius;
        out[pair + 1] = turn.cosine * radius;
    }
}

static __device__ __forceinline__ void write_word(const struct random_cells &cells,
                                                  int64_t i, uint32_t word, float normal)
{
    switch (cells.form) {
    case RANDOM_UNIFORM:
        store_float(cells.output, i, cells.dtype, place(cells, uniform_of(word)));
        break;
    case RANDOM_NORMAL:
        store_float(
            cells.output, i, cells.dtype,
            fmaf(normal, static_cast<float>(cells.high), static_cast<float>(cells.low)));
        break;
    case RANDOM_BERNOULLI: {
        float u = uniform_of(word);
        store_integer(cells.output, i, cells.dtype,
                      (u == 1 ? 0 : u) < static_cast<float>(cells.low));
        break;
    }
    default:
        store_integer(cells.output, i, cells.dtype, integer_of(cells, word));
        break;
    }
}

extern "C" __global__ void __launch_bounds__(RANDOM_THREADS)
    tensord_random_words(struct random_cells cells)
{
    int64_t lane = static_cast<int64_t>(blockIdx.x) * RANDOM_THREADS + threadIdx.x;
    int64_t row = cells.first_row + blockIdx.y;
    int64_t i = row * 4 * PHILOX_LANES + lane;
    if (i >= cells.count)
        return;
    struct philox words = draw(cells, lane, row);
    float normals[4] = {0, 0, 0, 0};
    if (cells.form == RANDOM_NORMAL)
        normals_of(words, normals);
    for (int k = 0; k < 4 && i < cells.count; k++, i += PHILOX_LANES)
        write_word(cells, i, words.words[k], normals[k]);
}
LAUNCHABLE(tensord_random_words)

// ---- two words an element
static __device__ __forceinline__ uint64_t joined(uint32_t x, uint32_t y)
{
    return x ^ static_cast<uint64_t>(y) << 21; // 53 bits
}

static __device__ __forceinline__ double place_f64(const struct random_cells &cells,
                                                   double u)
{
    double value = fma(u, cells.high - cells.low, cells.low);
    return value >= cells.high ? cells.low : value;
}

static __device__ __forceinline__ double float_of_pair(const struct random_cells &cells,
                                                       const struct philox &words, int k)
{
    const uint32_t *w = words.words;
    if (cells.form == RANDOM_NORMAL) {
        double u = static_cast<double>(joined(w[0], w[1])) * 0x1p-53 + 0x1p-54;
        double v = static_cast<double>(joined(w[2], w[3])) * 0x1p-52 + 0x1p-53;
        struct random_pair_f64 turn = random_sincospi_f64(v);
        double radius = sqrt(-2.0 * random_log_f64(u));
        return fma((k == 0 ? turn.sine : turn.cosine) * radius, cells.high, cells.low);
    }
    double u = static_cast<double>(joined(w[2 * k], w[2 * k + 1])) * 0x1p-53 + 0x1p-54;
    if (cells.form == RANDOM_BERNOULLI)
        return (u == 1 ? 0 : u) < cells.low;
    return place_f64(cells, u);
}

static __device__ __forceinline__ uint64_t word_of_pair(const struct philox &words, int k)
{
    return static_cast<uint64_t>(words.words[2 * k]) << 32 | words.words[2 * k + 1];
}

extern "C" __global__ void __launch_bounds__(RANDOM_THREADS)
    tensord_random_pairs(struct random_cells cells)
{
    int64_t lane = static_cast<int64_t>(blockIdx.x) * RANDOM_THREADS + threadIdx.x;
    int64_t row = cells.first_row + blockIdx.y;
    int64_t i = row * 2 * PHILOX_LANES + lane;
    bool real = cells.form != RANDOM_INTEGERS && cells.form != RANDOM_BITS;
    if (i >= cells.count)
        return;
    struct philox words = draw(cells, lane, row);
    for (int k = 0; k < 2 && i < cells.count; k++, i += PHILOX_LANES) {
        if (cells.form == RANDOM_PERMUTATION) {
            struct random_key key = {word_of_pair(words, k), i};
            static_cast<struct random_key *>(cells.output)[i] = key;
        } else if (real) {
            static_cast<double *>(cells.output)[i] = float_of_pair(cells, words, k);
        } else {
            store_integer(cells.output, i, cells.dtype,
                          integer_of(cells, word_of_pair(words, k)));
        }
    }
}
LAUNCHABLE(tensord_random_pairs)

extern "C" cudaError_t launch_random(const struct random_cells *cells, int64_t rows,
                                     cudaStream_t stream)
{
    int64_t lanes = PHILOX_LANES;
    lanes = cells->count < lanes ? cells->count : lanes;
    dim3 grid(static_cast<unsigned>((lanes + RANDOM_THREADS - 1) / RANDOM_THREADS),
              static_cast<unsigned>(rows));
    auto kernel = cells->wide ? tensord_random_pairs : tensord_random_words;
    return launch(kernel, grid, dim3(RANDOM_THREADS), 0, stream, *cells);
}

// ---- permutations: one step of a bitonic sorting network in the form that always moves
// the smaller key down, so that places from count on need not exist. Pairs are mirrored
// in blocks of 2 * distance (flip), or `distance` apart.
extern "C" __global__ void __launch_bounds__(RANDOM_THREADS)
    tensord_random_exchange(struct random_key *keys, int64_t count, int64_t first,
                            int64_t pairs, int64_t distance, int flip)
{
    int64_t t = static_cast<int64_t>(blockIdx.x) * RANDOM_THREADS + threadIdx.x;
    if (t >= pairs)
        return;
    int64_t block = (first + t) / distance * 2 * distance,
            within = (first + t) % distance;
    int64_t i = block + within;
    int64_t j = flip ? block + 2 * distance - 1 - within : i + distance;
    if (j >= count)
        return;
    struct random_key a = keys[i], b = keys[j];
    if (a.key > b.key || (a.key == b.key && a.index > b.index)) {
        keys[i] = b;
        keys[j] = a;
    }
}
LAUNCHABLE(tensord_random_exchange)

extern "C" __global__ void __launch_bounds__(RANDOM_THREADS)
    tensord_random_indices(const struct random_key *keys, void *output, int64_t first,
                           int64_t count, int dtype)
{
    int64_t t = static_cast<int64_t>(blockIdx.x) * RANDOM_THREADS + threadIdx.x;
    if (t < count)
        store_integer(output, first + t, dtype, keys[first + t].index);
}
LAUNCHABLE(tensord_random_indices)

static dim3 grid_of(int64_t threads)
{
    return dim3(static_cast<unsigned>((threads + RANDOM_THREADS - 1) / RANDOM_THREADS));
}

extern "C" cudaError_t launch_random_exchange(struct random_key *keys, int64_t count,
                                              int64_t first, int64_t pairs,
                                              int64_t distance, bool flip,
                                              cudaStream_t stream)
{
    return launch(tensord_random_exchange, grid_of(pairs), dim3(RANDOM_THREADS), 0,
                  stream, keys, count, first, pairs, distance, flip ? 1 : 0);
}

extern "C" cudaError_t launch_random_indices(const struct random_key *keys, void *output,
                                             int64_t first, int64_t count,
                                             enum dtype dtype, cudaStream_t stream)
{
    return launch(tensord_random_indices, grid_of(count), dim3(RANDOM_THREADS), 0, stream,
                  keys, output, first, count, static_cast<int>(dtype));
}
