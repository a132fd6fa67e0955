// SPDX-License-Identifier: Apache-2.0
// Type promotion (torch.result_type, torch.can_cast). Pure functions; any thread.
#include "tensor/promote.h"

static void promote_into(int *weight, enum dtype dtype)
{
    *weight = *weight < 0 ? (int)dtype : (int)dtype_promote((enum dtype) * weight, dtype);
}

void promote_tensor(struct promotion *promotion, enum dtype dtype, int ndim)
{
    promote_into(ndim > 0 ? &promotion->dimensioned : &promotion->dimensionless, dtype);
}

enum dtype promote_default(enum scalar_kind kind)
{
    switch (kind) {
    case SCALAR_BOOL:
        return DTYPE_BOOL;
    case SCALAR_INT:
        return DTYPE_INT64;
    case SCALAR_FLOAT:
        break;
    }
    return DTYPE_FLOAT32;
}

void promote_number(struct promotion *promotion, enum scalar_kind kind)
{
    promote_into(&promotion->number, promote_default(kind));
}

// A lighter operand changes the dtype only by its category: int32 with 2.5 is float32,
// float16 with a 0-d float64 stays float16.
static int promote_combine(int heavier, int lighter)
{
    if (heavier < 0 || lighter < 0)
        return heavier < 0 ? lighter : heavier;
    if (dtype_category((enum dtype)lighter) <= dtype_category((enum dtype)heavier))
        return heavier;
    return (int)dtype_promote((enum dtype)heavier, (enum dtype)lighter);
}

enum dtype promote_result(const struct promotion *promotion)
{
    int light = promote_combine(promotion->dimensionless, promotion->number);
    return (enum dtype)promote_combine(promotion->dimensioned, light);
}

bool promote_can_cast(enum dtype from, enum dtype to)
{
    return dtype_category(from) <= dtype_category(to);
}
