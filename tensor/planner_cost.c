// SPDX-License-Identifier: Apache-2.0
// What steps cost: rough nanoseconds on one core. They decide whether a request may run
// at once on the HTTP thread.
#include "tensor/planner.h"

// Picoseconds an element.
int64_t cost_of_opcode(const struct node *node)
{
    bool integer = !dtype_is_float((enum dtype)node->computation);
    switch ((enum map_op)node->op) {
    case MAP_floor_divide:
    case MAP_remainder:
    case MAP_truncate_divide:
        return integer ? 4000 : 3000;
    case MAP_pow:
        return 15000;
    case MAP_exp:
    case MAP_exp2:
    case MAP_expm1:
    case MAP_log:
    case MAP_log1p:
    case MAP_log2:
    case MAP_log10:
    case MAP_sin:
    case MAP_cos:
    case MAP_tan:
    case MAP_atan:
    case MAP_tanh:
    case MAP_sigmoid:
    case MAP_erf:
    case MAP_gelu:
        return node->computation == DTYPE_FLOAT64 ? 8000 : 2000;
    default:
        return node->computation == DTYPE_FLOAT16 ? 600 : 300;
    }
}

int64_t cost_of(double count, double picoseconds)
{
    double nanoseconds = 200.0 + count * picoseconds / 1000.0;
    return nanoseconds < 1e17 ? (int64_t)nanoseconds : (int64_t)1e17;
}

int64_t cost_of_gemm(const struct node *node)
{
    const struct gemm *gemm = node->gemm;
    double per_product = gemm->dtype == DTYPE_FLOAT32   ? 40
                         : gemm->dtype == DTYPE_FLOAT64 ? 80
                                                        : 500;
    return cost_of((double)node->count * (double)gemm->k, per_product);
}
