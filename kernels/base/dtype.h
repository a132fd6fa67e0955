// SPDX-License-Identifier: Apache-2.0
// The element types, their names, sizes and promotion (torch.result_type's lattice),
// Python scalars, and the exact conversions of the 16-bit floats.
#ifndef TENSORD_KERNELS_BASE_DTYPE_H
#define TENSORD_KERNELS_BASE_DTYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

// Order matters: categories are contiguous, integers by width. Values are stored nowhere
// outside the process. Complex types will come after FLOAT64.
enum dtype {
    DTYPE_BOOL,
    DTYPE_UINT8,
    DTYPE_INT8,
    DTYPE_INT16,
    DTYPE_INT32,
    DTYPE_INT64,
    DTYPE_FLOAT16,
    DTYPE_BFLOAT16,
    DTYPE_FLOAT32,
    DTYPE_FLOAT64,
    DTYPE_COUNT
};

enum dtype_category { CATEGORY_BOOL, CATEGORY_INTEGER, CATEGORY_FLOAT };

// Sets of dtypes as bit masks (ops.def).
enum {
    DTYPES_BOOL = 1 << DTYPE_BOOL,
    DTYPES_INTEGER = 1 << DTYPE_UINT8 | 1 << DTYPE_INT8 | 1 << DTYPE_INT16 |
                     1 << DTYPE_INT32 | 1 << DTYPE_INT64,
    DTYPES_FLOAT = 1 << DTYPE_FLOAT16 | 1 << DTYPE_BFLOAT16 | 1 << DTYPE_FLOAT32 |
                   1 << DTYPE_FLOAT64,
    DTYPES_NUMBER = DTYPES_INTEGER | DTYPES_FLOAT,
    DTYPES_ALL = DTYPES_BOOL | DTYPES_NUMBER,
};

// A Python number: bool is an int, integers are 64-bit, floats are double. Weak in
// promotion.
enum scalar_kind { SCALAR_BOOL, SCALAR_INT, SCALAR_FLOAT };
struct scalar {
    enum scalar_kind kind;
    int64_t i; // BOOL (0 or 1) and INT
    double f;  // FLOAT
};

// One element of any dtype, in memory order (the first dtype_size bytes).
union element {
    uint8_t bytes[8];
    uint8_t u8;
    int8_t i8;
    int16_t i16;
    int32_t i32;
    int64_t i64;
    uint16_t bits16; // float16 and bfloat16
    float f32;
    double f64;
};

// "float32"; never NULL for a valid dtype.
const char *dtype_name(enum dtype dtype);
// Accepts the names and torch's aliases (half, float, double, short, int, long), with or
// without the prefix "torch."; text need not be terminated. False if unknown.
bool dtype_parse(const char *text, size_t length, enum dtype *out);
int dtype_size(enum dtype dtype); // bytes
enum dtype_category dtype_category(enum dtype dtype);
// The smallest dtype both convert to (torch.promote_types): uint8 with int8 is int16,
// float16 with bfloat16 is float32, an integer with a float is the float.
enum dtype dtype_promote(enum dtype a, enum dtype b);
static inline bool dtype_is_float(enum dtype dtype)
{
    return dtype >= DTYPE_FLOAT16;
}
static inline bool dtype_in(enum dtype dtype, unsigned set)
{
    return set >> dtype & 1;
}

// The scalar as an element of dtype, by the conversion rule of kernels (pass.h
// "Conversion"). Sets *exact (if not NULL) to whether an integer or bool scalar is in the
// range of an integer dtype.
union element scalar_to_element(struct scalar scalar, enum dtype dtype, bool *in_range);
// The element as a Python number: bool, int or float (float16/bfloat16/float32 widened
// exactly).
struct scalar element_to_scalar(union element element, enum dtype dtype);

// float64 becomes float16 or bfloat16 through float32, as in PyTorch (it rounds twice).
// IEEE binary16 and bfloat16, round to nearest even, NaN stays NaN (quiet), infinities
// and subnormals exact.
float float16_to_float(uint16_t bits);
uint16_t float16_from_float(float value);
static inline float bfloat16_to_float(uint16_t bits)
{
    uint32_t word = (uint32_t)bits << 16;
    float value;
    memcpy(&value, &word, sizeof value);
    return value;
}
static inline uint16_t bfloat16_from_float(float value)
{
    uint32_t word;
    memcpy(&word, &value, sizeof word);
    if ((word & 0x7FFFFFFFu) > 0x7F800000u)
        return (uint16_t)(word >> 16 | 0x40);
    return (uint16_t)((word + 0x7FFFu + (word >> 16 & 1)) >> 16);
}
#endif
