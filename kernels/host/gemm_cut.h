// SPDX-License-Identifier: Apache-2.0
// Where the workspace of a packed product lies: shared by gemm_cut.c and gemm.c alone.
#ifndef TENSORD_KERNELS_HOST_GEMM_CUT_H
#define TENSORD_KERNELS_HOST_GEMM_CUT_H

#include "kernels/host/gemm.h"

struct gemm_scratch {
    char *a, *b; // of one thread: a converted tile of each operand
    // The sums: of a thread or, while panels are added up, of an item of the group.
    char *c;
    int64_t a_bytes, b_bytes, c_bytes;
};

// thread, member < cut->group. With cut->workspace NULL only the sizes are meant.
struct gemm_scratch gemm_scratch(const struct gemm_cut *cut, int thread, int64_t member);
#endif
