// SPDX-License-Identifier: Apache-2.0
// The facts about element types, as tables. Pure functions; any thread.
#include "kernels/base/dtype.h"

struct dtype_row {
    const char *name;
    const char *alias; // torch's other name
    int size;
    enum dtype_category category;
};

static const struct dtype_row rows[DTYPE_COUNT] = {
    [DTYPE_BOOL] = {"bool", NULL, 1, CATEGORY_BOOL},
    [DTYPE_UINT8] = {"uint8", NULL, 1, CATEGORY_INTEGER},
    [DTYPE_INT8] = {"int8", NULL, 1, CATEGORY_INTEGER},
    [DTYPE_INT16] = {"int16", "short", 2, CATEGORY_INTEGER},
    [DTYPE_INT32] = {"int32", "int", 4, CATEGORY_INTEGER},
    [DTYPE_INT64] = {"int64", "long", 8, CATEGORY_INTEGER},
    [DTYPE_FLOAT16] = {"float16", "half", 2, CATEGORY_FLOAT},
    [DTYPE_BFLOAT16] = {"bfloat16", NULL, 2, CATEGORY_FLOAT},
    [DTYPE_FLOAT32] = {"float32", "float", 4, CATEGORY_FLOAT},
    [DTYPE_FLOAT64] = {"float64", "double", 8, CATEGORY_FLOAT},
};

const char *dtype_name(enum dtype dtype)
{
    return rows[dtype].name;
}

static bool text_is(const char *text, size_t length, const char *word)
{
    return word != NULL && strlen(word) == length && memcmp(text, word, length) == 0;
}

bool dtype_parse(const char *text, size_t length, enum dtype *out)
{
    static const char prefix[] = "torch.";
    const size_t prefix_length = sizeof prefix - 1;
    if (length > prefix_length && memcmp(text, prefix, prefix_length) == 0) {
        text += prefix_length;
        length -= prefix_length;
    }
    for (int i = 0; i < DTYPE_COUNT; i++) {
        if (text_is(text, length, rows[i].name) || text_is(text, length, rows[i].alias)) {
            *out = (enum dtype)i;
            return true;
        }
    }
    return false;
}

int dtype_size(enum dtype dtype)
{
    return rows[dtype].size;
}

enum dtype_category dtype_category(enum dtype dtype)
{
    return rows[dtype].category;
}

enum dtype dtype_promote(enum dtype a, enum dtype b)
{
    enum dtype low = a < b ? a : b, high = a < b ? b : a;
    if (low == DTYPE_UINT8 && high == DTYPE_INT8)
        return DTYPE_INT16;
    if (low == DTYPE_FLOAT16 && high == DTYPE_BFLOAT16)
        return DTYPE_FLOAT32;
    return high; // the order of the enum is the order of the lattice everywhere else
}

// The smallest and largest value of an integer dtype.
static void integer_limits(enum dtype dtype, int64_t *low, int64_t *high)
{
    static const struct {
        int64_t low, high;
    } limits[] = {
        [DTYPE_UINT8] = {0, UINT8_MAX},         [DTYPE_INT8] = {INT8_MIN, INT8_MAX},
        [DTYPE_INT16] = {INT16_MIN, INT16_MAX}, [DTYPE_INT32] = {INT32_MIN, INT32_MAX},
        [DTYPE_INT64] = {INT64_MIN, INT64_MAX},
    };
    *low = limits[dtype].low;
    *high = limits[dtype].high;
}

// Truncates towards zero; what does not fit and NaN give INT64_MIN.
static int64_t truncate_to_int64(double value)
{
    return value >= -0x1p63 && value < 0x1p63 ? (int64_t)value : INT64_MIN;
}

static bool fits_integer(struct scalar scalar, enum dtype dtype)
{
    int64_t low, high, value = scalar.i;
    if (scalar.kind == SCALAR_FLOAT) {
        if (!(scalar.f >= -0x1p63 && scalar.f < 0x1p63))
            return false;
        value = truncate_to_int64(scalar.f);
    }
    integer_limits(dtype, &low, &high);
    return low <= value && value <= high;
}

union element scalar_to_element(struct scalar scalar, enum dtype dtype, bool *in_range)
{
    bool is_float = scalar.kind == SCALAR_FLOAT;
    int64_t integer = is_float ? truncate_to_int64(scalar.f) : scalar.i;
    double real = is_float ? scalar.f : (double)scalar.i;
    // Not through double: an int64 would round twice.
    float single = is_float ? (float)scalar.f : (float)scalar.i;
    union element element = {.i64 = 0};
    if (in_range != NULL)
        *in_range =
            dtype_category(dtype) != CATEGORY_INTEGER || fits_integer(scalar, dtype);
    switch (dtype) {
    case DTYPE_BOOL:
        element.u8 = is_float ? scalar.f != 0 : scalar.i != 0;
        break;
    case DTYPE_UINT8:
        element.u8 = (uint8_t)integer;
        break;
    case DTYPE_INT8:
        element.i8 = (int8_t)integer;
        break;
    case DTYPE_INT16:
        element.i16 = (int16_t)integer;
        break;
    case DTYPE_INT32:
        element.i32 = (int32_t)integer;
        break;
    case DTYPE_INT64:
        element.i64 = integer;
        break;
    case DTYPE_FLOAT16:
        element.bits16 = float16_from_float(single);
        break;
    case DTYPE_BFLOAT16:
        element.bits16 = bfloat16_from_float(single);
        break;
    case DTYPE_FLOAT32:
        element.f32 = single;
        break;
    case DTYPE_FLOAT64:
    case DTYPE_COUNT:
        element.f64 = real;
        break;
    }
    return element;
}

static struct scalar integer_scalar(int64_t value)
{
    return (struct scalar){.kind = SCALAR_INT, .i = value};
}

static struct scalar float_scalar(double value)
{
    return (struct scalar){.kind = SCALAR_FLOAT, .f = value};
}

struct scalar element_to_scalar(union element element, enum dtype dtype)
{
    switch (dtype) {
    case DTYPE_BOOL:
        return (struct scalar){.kind = SCALAR_BOOL, .i = element.u8 != 0};
    case DTYPE_UINT8:
        return integer_scalar(element.u8);
    case DTYPE_INT8:
        return integer_scalar(element.i8);
    case DTYPE_INT16:
        return integer_scalar(element.i16);
    case DTYPE_INT32:
        return integer_scalar(element.i32);
    case DTYPE_INT64:
        return integer_scalar(element.i64);
    case DTYPE_FLOAT16:
        return float_scalar(float16_to_float(element.bits16));
    case DTYPE_BFLOAT16:
        return float_scalar(bfloat16_to_float(element.bits16));
    case DTYPE_FLOAT32:
        return float_scalar(element.f32);
    case DTYPE_FLOAT64:
    case DTYPE_COUNT:
        break;
    }
    return float_scalar(element.f64);
}

// binary16: 1 sign, 5 exponent (bias 15), 10 fraction bits. A NaN becomes quiet both
// ways, as the F16C instructions do it, so that every instruction-set level gives the
// same bits.
float float16_to_float(uint16_t bits)
{
    uint32_t sign = (uint32_t)(bits & 0x8000) << 16;
    uint32_t exponent = bits >> 10 & 0x1F, fraction = bits & 0x3FF, word;
    if (exponent == 0x1F) {
        word = 0x7F800000u | fraction << 13 | (fraction != 0 ? 0x400000u : 0);
    } else if (exponent != 0) {
        word = (exponent + 127 - 15) << 23 | fraction << 13;
    } else {
        float value = (float)fraction * 0x1p-24f; // subnormal or zero: exact
        memcpy(&word, &value, sizeof word);
    }
    word |= sign;
    float result;
    memcpy(&result, &word, sizeof result);
    return result;
}

uint16_t float16_from_float(float value)
{
    uint32_t word;
    memcpy(&word, &value, sizeof word);
    uint32_t sign = word >> 16 & 0x8000, magnitude = word & 0x7FFFFFFFu;
    if (magnitude > 0x7F800000u)
        return (uint16_t)(sign | 0x7E00 | (magnitude >> 13 & 0x3FF));
    if (magnitude >= 0x477FF000u) // 65520, halfway between the largest and the next power
        return (uint16_t)(sign | 0x7C00);
    if (magnitude < 0x38800000u) { // below 2^-14: the sum with 0.5 rounds at 2^-24
        float shifted;
        memcpy(&shifted, &magnitude, sizeof shifted);
        shifted += 0.5f;
        memcpy(&word, &shifted, sizeof word);
        return (uint16_t)(sign | (word - 0x3F000000u));
    }
    uint32_t rounded =
        magnitude + 0xFFF + (magnitude >> 13 & 1) - ((uint32_t)(127 - 15) << 23);
    return (uint16_t)(sign | rounded >> 13);
}
