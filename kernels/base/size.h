// SPDX-License-Identifier: Apache-2.0
// The one checked helper for size arithmetic. Counts and byte sizes are int64_t and never
// negative (a tensor larger than 2^63-1 bytes does not exist), so that a wrapped value
// cannot hide.
#ifndef TENSORD_KERNELS_BASE_SIZE_H
#define TENSORD_KERNELS_BASE_SIZE_H

#include <stdbool.h>
#include <stdint.h>

// *out = a * b; false on overflow or a negative operand, *out untouched.
static inline bool size_multiply(int64_t a, int64_t b, int64_t *out)
{
    int64_t result;
    if (a < 0 || b < 0 || __builtin_mul_overflow(a, b, &result))
        return false;
    *out = result;
    return true;
}

// *out = a + b; false on overflow or a negative operand, *out untouched.
static inline bool size_add(int64_t a, int64_t b, int64_t *out)
{
    int64_t result;
    if (a < 0 || b < 0 || __builtin_add_overflow(a, b, &result))
        return false;
    *out = result;
    return true;
}

// *out = product of shape[0..ndim-1] (1 for ndim 0). A zero anywhere gives 0 even if the
// others overflow together only when their non-zero product does not (as PyTorch refuses
// such shapes too).
static inline bool size_of_shape(int ndim, const int64_t *shape, int64_t *out)
{
    int64_t product = 1;
    bool zero = false;
    for (int i = 0; i < ndim; i++) {
        if (shape[i] == 0)
            zero = true;
        else if (!size_multiply(product, shape[i], &product))
            return false;
    }
    *out = zero ? 0 : product;
    return true;
}
#endif
