// SPDX-License-Identifier: Apache-2.0
// The vector kernels, compiled once per instruction-set level (kernels/host/level/*.c
// with -DLEVEL=...), behind tables of functions; and the level chosen for this machine.
// Every level gives the same bits.
//
// Slots. Kernels work on packed blocks of one type: the dtype itself, except that float16
// and bfloat16 are held as the float32 of the same value ("slot type", slot_dtype) and
// rounded after each instruction.
//
// Threads: tables are constant; level_current may be called from any thread.
#ifndef TENSORD_KERNELS_HOST_LEVELS_H
#define TENSORD_KERNELS_HOST_LEVELS_H

#include "kernels/pass.h"

// Elementwise: result[i] = f(a[i], b[i], c[i]) for i < n. Unused operands may be NULL.
// The result may be one of the operands if element sizes agree. Bit 0 of *fault is set by
// an integer division by zero.
typedef void map_function(void *result, const void *a, const void *b, const void *c,
                          int64_t n, int *fault);

struct level_maps {
    // [slot dtype][enum map_op]; NULL for float16 and bfloat16.
    map_function *const *of[DTYPE_COUNT];
};

struct level_casts {
    // [to][from], slot dtypes; the rule of pass.h.
    map_function *cast[DTYPE_COUNT][DTYPE_COUNT];
    // [DTYPE_FLOAT16] and [DTYPE_BFLOAT16] only: 16-bit to float32, float32 to 16-bit,
    // and float32 rounded to what the 16-bit type can hold.
    map_function *widen[DTYPE_COUNT], *narrow[DTYPE_COUNT], *round[DTYPE_COUNT];
};

// Moves rows x columns elements; strides in elements, >= 0.
typedef void copy_function(void *to, int64_t to_row, int64_t to_column, const void *from,
                           int64_t from_row, int64_t from_column, int64_t rows,
                           int64_t columns);
struct level_copies {
    copy_function *copy[4]; // by log2 of the element size
    void (*fill[4])(void *to, const void *element, int64_t n); // the same element n times
    // to[r * columns + c] = base + r * row_step + c * column_step
    void (*iota)(int64_t *to, int64_t base, int64_t row_step, int64_t column_step,
                 int64_t rows, int64_t columns);
    // memcpy past the cache; stream_end before another thread may read.
    void (*stream)(void *to, const void *from, int64_t bytes);
    void (*stream_end)(void);
};

// Reductions keep accumulators of type `accumulator`: SUM and PROD float64 or int64; MIN
// and MAX the slot type, floats as integer keys in their order (NaN beyond every number,
// -0 below +0). See host/pass.h for the tree.
enum { REDUCE_LANES = 8, REDUCE_LEAF = 256 };
enum reducer { REDUCER_SUM, REDUCER_PROD, REDUCER_MIN, REDUCER_MAX, REDUCER_COUNT };
struct level_reducer {
    enum dtype accumulator;
    // Sets count accumulators to the identity.
    void (*start)(void *accumulators, int64_t count);
    // accumulators[r] = the leaf of values[r * n] to values[r * n + n - 1].
    // n <= REDUCE_LEAF.
    void (*rows)(void *accumulators, const void *values, int64_t rows, int64_t n);
    // Adds row r of values to lanes[r % REDUCE_LANES]; lanes are rows of `columns`
    // accumulators.
    void (*columns)(void *lanes, const void *values, int64_t rows, int64_t columns);
    // Folds the lanes into lane 0.
    void (*fold)(void *lanes, int64_t columns);
    // left[i] = left[i] combined with right[i], left being the earlier.
    void (*merge)(void *left, const void *right, int64_t count);
    // Accumulators to slot values of `accumulator`'s type (keys back to floats; NaN is
    // quiet and positive).
    void (*finish)(void *accumulators, int64_t count);
};

// argmin and argmax: best are keys as above (-0 equal to +0); index < 0 means nothing was
// seen yet. Equal keys: the lower index wins.
struct level_arg_reducer {
    // For each row r: considers values[r * n + i] with index base + i.
    void (*rows)(void *best, int64_t *index, const void *values, int64_t rows, int64_t n,
                 int64_t base);
    // For each column c: considers values[r * columns + c] with index base + r.
    void (*columns)(void *best, int64_t *index, const void *values, int64_t rows,
                    int64_t columns, int64_t base);
    void (*merge)(void *best, int64_t *index, const void *other_best,
                  const int64_t *other_index, int64_t count);
};

struct level_reducers {
    // [..][slot dtype]; SUM and PROD: int64 and floats.
    const struct level_reducer *of[REDUCER_COUNT][DTYPE_COUNT];
    const struct level_arg_reducer *minimum[DTYPE_COUNT], *maximum[DTYPE_COUNT];
};

struct level {
    const char *name; // "v3"
    const struct level_maps *maps;
    const struct level_casts *casts;
    const struct level_copies *copies;
    const struct level_reducers *reducers;
};

// The best level of this machine, or a lower one named by $TENSORD_CPU_LEVEL (v2, v3, v4)
// at the first call.
const struct level *level_current(void);
// The i-th level this machine can run, lowest first; NULL past the last.
const struct level *level_available(int i);
// For tests: passes prepared from now on use this level.
void level_select(const struct level *level);

static inline enum dtype slot_dtype(enum dtype dtype)
{
    return dtype == DTYPE_FLOAT16 || dtype == DTYPE_BFLOAT16 ? DTYPE_FLOAT32 : dtype;
}

// The tables' names: level_maps_v3 and so on.
#define LEVEL_PASTE(name, level) name##_##level
#define LEVEL_TABLE(name, level) LEVEL_PASTE(name, level)
#define LEVEL_DECLARE(level)                                                             \
    extern const struct level_maps level_maps_##level;                                   \
    extern const struct level_casts level_casts_##level;                                 \
    extern const struct level_copies level_copies_##level;                               \
    extern const struct level_reducers level_reducers_##level;
#if defined(__x86_64__)
LEVEL_DECLARE(v2)
LEVEL_DECLARE(v3)
LEVEL_DECLARE(v4)
#else
LEVEL_DECLARE(base)
#endif
#endif
