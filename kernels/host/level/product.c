// SPDX-License-Identifier: Apache-2.0
// Integer matrix products that wrap (product_template.h). b is packed in blocks a few
// vectors wide, a in strips of MICRO_ROWS rows; the micro-kernel keeps a block of sums in
// registers. Elements of one byte are summed in 16 bits: the low byte is the same.
#include "kernels/host/gemm.h"
#include "kernels/host/level/level.h"

#include <string.h>

enum {
#if defined(__AVX512BW__)
    VECTOR = 64, // bytes
#elif defined(__AVX2__)
    VECTOR = 32,
#else
    VECTOR = 16,
#endif
    MICRO_ROWS = 4,
    DEPTH = 256,            // of k in a packed block
    PANEL_BYTES = 64 << 10, // of a packed block of b
    COLUMN_ROWS = 512,
};

#define PRODUCT product_1
#define ELEMENT uint8_t
#define SUM uint16_t
#define WIDE uint32_t
#include "kernels/host/level/product_template.h"

#define PRODUCT product_2
#define ELEMENT uint16_t
#define SUM uint16_t
#define WIDE uint32_t
#include "kernels/host/level/product_template.h"

#define PRODUCT product_4
#define ELEMENT uint32_t
#define SUM uint32_t
#define WIDE uint32_t
#include "kernels/host/level/product_template.h"

#define PRODUCT product_8
#define ELEMENT uint64_t
#define SUM uint64_t
#define WIDE uint64_t
#include "kernels/host/level/product_template.h"

extern const struct level_products LEVEL_TABLE(level_products, LEVEL);
const struct level_products LEVEL_TABLE(level_products, LEVEL) = {
    .integer = {product_1, product_2, product_4, product_8},
};
