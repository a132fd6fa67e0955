// SPDX-License-Identifier: Apache-2.0
// Which dtype an operation computes in (torch.result_type) and what a result may be
// written to (torch.can_cast). Pure functions; any thread.
#ifndef TENSORD_TENSOR_PROMOTE_H
#define TENSORD_TENSOR_PROMOTE_H

#include "kernels/base/dtype.h"

// The operands seen so far, by their weight in promotion: tensors with dimensions,
// tensors without, Python numbers. -1 where there are none. Start with PROMOTION_NONE.
struct promotion {
    int dimensioned, dimensionless, number;
};
#define PROMOTION_NONE ((struct promotion){-1, -1, -1})

void promote_tensor(struct promotion *promotion, enum dtype dtype, int ndim);
void promote_number(struct promotion *promotion, enum scalar_kind kind);
// torch.result_type of what was added; at least one operand. A lighter operand counts
// only when its category (bool < integer < float) is above that of every heavier one.
enum dtype promote_result(const struct promotion *promotion);

// The dtype of a tensor made of one Python number: bool, int64, float32.
enum dtype promote_default(enum scalar_kind kind);
// Whether a result of dtype from may be stored in a tensor of dtype to by an in-place
// operation: not float to integer, not a number to bool.
bool promote_can_cast(enum dtype from, enum dtype to);
#endif
