// SPDX-License-Identifier: Apache-2.0
// The device form of a struct pass: at most 4 KiB, passed to a kernel by value. Written
// on the host by encode.c, read by interpret.h. C and C++.
//
// Values live in three computation classes: integers and bool in int64, float16, bfloat16
// and float32 in float, float64 in double. A step computes in one class, converts to the
// class of its result and rounds or wraps that to the result's dtype, so that a chain
// gives the bits of its single operations.
#ifndef TENSORD_KERNELS_CUDA_PROGRAM_H
#define TENSORD_KERNELS_CUDA_PROGRAM_H

#ifdef __cplusplus
#include <stddef.h>
#include <stdint.h>
#include <string.h>
extern "C" {
#include "kernels/pass.h"
}
#else
#include "kernels/pass.h"
#endif

enum {
    PROGRAM_ELEMENTS = 4,   // elements of one thread
    PROGRAM_MAX_SLOTS = 44, // values alive at once; 64 instructions of arity 3 need 43
    PROGRAM_MAX_STEPS = PASS_MAX_INSTRUCTIONS + PASS_MAX_INPUTS,
    PROGRAM_SLOT_BYTES = 8 * PROGRAM_ELEMENTS, // shared memory of a slot, per thread
    PROGRAM_MAX_SHARED =
        44 << 10, // of a block, for slots; at least PROGRAM_MAX_SLOTS for 32 threads
};

enum value_class { VALUE_INT64, VALUE_FLOAT32, VALUE_FLOAT64 };

// An operand is mode << 6 | number. MEMORY and INDEX are fetched for each use; inputs
// used more than once are loaded into a slot by a step of their own while slots last.
enum operand_mode { OPERAND_SLOT, OPERAND_CONSTANT, OPERAND_MEMORY, OPERAND_INDEX };

struct program_step {
    uint8_t op;          // enum map_op
    uint8_t value_class; // enum value_class of the computation (of operand a for casts)
    uint8_t result_class;
    uint8_t result_dtype;
    uint8_t a, b, c; // operands; b and c repeat a where the arity is smaller
    uint8_t target;  // slot
};

// Memory seen from the iteration space: dims merged where the strides allow, innermost
// last. An index below 2^31 is split by multiplication: quotient = (high32(index * magic)
// + index) >> shift.
struct program_view {
    char *data;
    uint8_t dtype, ndim;
    uint8_t shifts[PASS_MAX_NDIM];
    uint32_t magics[PASS_MAX_NDIM];
    int64_t sizes[PASS_MAX_NDIM];
    int64_t strides[PASS_MAX_NDIM]; // in elements
};

struct program {
    uint8_t n_steps, n_slots;
    uint8_t result; // slot of the value
    uint8_t result_class, result_dtype;
    uint8_t wide; // the iteration space has 2^31 elements or more: 64-bit division
    uint8_t may_fault;
    int64_t constants[PASS_MAX_INPUTS]; // bits of the class's type
    struct program_step steps[PROGRAM_MAX_STEPS];
    struct program_view inputs[PASS_MAX_INPUTS];
    struct program_view output; // over the kept dims
};

// What a reduction stage adds. A stage turns `extent` values per output into ceil(extent
// / PASS_REDUCE_BLOCK) partial values, the last one into the output. The tree: element k
// of a block belongs to lane k mod 128; a lane adds in order; lanes combine with the one
// 64, 32, 16, 8, 4, 2, 1 further on.
struct reduction {
    int64_t outer, extent, blocks; // blocks: per output
    int64_t first_task;            // task: one block of one output
    int64_t n_tasks;
    int64_t count; // MEAN: divisor
    const int64_t
        *from_index; // ARGMIN, ARGMAX: indices of partial values; NULL in the first stage
    char *values;    // partial values (8 or 4 bytes each), NULL in the last stage
    int64_t *indices;
    uint8_t kind;   // enum pass_reduce
    uint8_t across; // neighbouring threads take neighbouring outputs, else neighbouring
                    // elements
};

#ifdef __cplusplus
extern "C" {
#endif
enum value_class value_class_of(enum dtype dtype);
// Writes the program of a pass. The output's address and strides are taken over for the
// kept dims.
void program_encode(const struct pass *pass, struct program *program);
#ifdef __cplusplus
}
#endif
#endif
