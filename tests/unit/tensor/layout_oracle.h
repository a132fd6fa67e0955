// SPDX-License-Identifier: Apache-2.0
// The plain meaning of a layout: the addresses of its elements in C order, summed up as
// layout_cases.py does.
#ifndef TENSORD_TESTS_TENSOR_LAYOUT_ORACLE_H
#define TENSORD_TESTS_TENSOR_LAYOUT_ORACLE_H

#include "tensor/shape.h"

static inline uint64_t addresses_checksum(const struct layout *layout, int64_t offset)
{
    int64_t index[TENSOR_MAX_NDIM] = {0};
    uint64_t sum = 0, position = 0;
    for (int d = 0; d < layout->ndim; d++)
        if (layout->shape[d] == 0)
            return 0;
    for (;;) {
        int64_t address = offset;
        for (int d = 0; d < layout->ndim; d++)
            address += index[d] * layout->strides[d];
        sum += ++position * (uint64_t)address;
        int d = layout->ndim - 1;
        while (d >= 0 && ++index[d] == layout->shape[d])
            index[d--] = 0;
        if (d < 0)
            return sum;
    }
}
#endif
