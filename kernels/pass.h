// SPDX-License-Identifier: Apache-2.0
// A pass: a straight-line program of elementwise instructions run once per element of an
// iteration space, with an optional reduction at its end. The one form in which
// elementwise work, casts, fills, strided copies, constructors and reductions reach a
// device; the planner (tensor/planner.c) writes passes, host/ and cuda/ run them. Fused
// equals unfused bit for bit: every instruction rounds to its own dtype.
//
// Registers are SSA: register r < n_inputs is input r, register n_inputs + i is the
// result of instruction i. The value of the pass is its last register.
#ifndef TENSORD_KERNELS_PASS_H
#define TENSORD_KERNELS_PASS_H

#include "kernels/base/dtype.h"

enum {
    PASS_MAX_INSTRUCTIONS = 64,
    PASS_MAX_INPUTS = 16,
    PASS_MAX_NDIM = 8,
};

// Opcodes: a cast, then one per MAP and HELPER row.
enum map_op {
    MAP_CAST,
#define MAP(name, arity, dtypes, rule, integer, floating, signature, build, doc)         \
    MAP_##name,
#define HELPER(name, arity, dtypes, rule, integer, floating) MAP_##name,
#include "kernels/ops.def"
    MAP_COUNT
};

// dtype is the computation dtype: all operands have it, but for
//   - MAP_where, whose operand a is bool,
//   - MAP_CAST, whose operand a has any dtype and whose result has `dtype`,
//   - a float32 CONSTANT used by a float16 or bfloat16 instruction, which enters
//   unrounded (PyTorch keeps
//     Python scalars in the computation type).
// The result has dtype, or bool for COMPARE and LOGICAL rules (map_result_dtype).
struct pass_instruction {
    uint8_t op; // enum map_op
    uint8_t dtype;
    uint8_t a, b, c; // registers below this instruction's own; unused ones are 0
};

enum pass_input_kind {
    PASS_MEMORY,   // data + strides
    PASS_CONSTANT, // one element, the same everywhere
    PASS_INDEX, // int64: the linear index of the element in the iteration space (C order)
};

struct pass_input {
    enum pass_input_kind kind;
    enum dtype dtype;
    const void *data; // MEMORY: the element at index 0; device memory
    int64_t
        strides[PASS_MAX_NDIM]; // MEMORY: in elements; 0 where broadcast; never negative
    union element constant;     // CONSTANT
};

enum pass_reduce {
    PASS_NO_REDUCE,
    PASS_SUM, // float16/bfloat16/float32 accumulate in float32 blocks, float64 in double,
              // integers in int64
    PASS_PROD,
    PASS_MEAN, // SUM divided by the count in the accumulation dtype, then rounded
    PASS_MIN,  // NaN wins
    PASS_MAX,
    PASS_ARGMIN, // int64 linear index in the reduced dims (C order) of the first; the
                 // first NaN wins
    PASS_ARGMAX,
    PASS_ALL, // bool
    PASS_ANY,
};

// The iteration space has shape[0..ndim-1]; its last n_reduced dims are reduced (0 for
// PASS_NO_REDUCE), in C order. Sizes are >= 1 (the planner answers empty results itself;
// a reduction over an empty extent is written as a fill). The output has strides over the
// first ndim - n_reduced dims; it never overlaps an input unless it is exactly that
// input's elements (in place, elementwise). The output dtype is that of the last register
// for NO_REDUCE, MIN and MAX; for SUM, PROD and MEAN it may be any dtype the accumulator
// converts to by the conversion rule (the planner casts the register first: bool and
// integers to int64); ARGMIN/ARGMAX give int64, ALL/ANY bool (the register is bool).
//
// Reduction order (fixed by shape alone, never by slices, threads or CPU level): host.h
// and cuda state their trees; both split a long extent into blocks of PASS_REDUCE_BLOCK
// elements.
//
// Conversion (MAP_CAST, scalars and outputs): to bool: != 0 (NaN is true). Integer to
// integer wraps. Float to integer truncates towards zero to int64 (out of range and NaN
// give INT64_MIN), then wraps. To float32 from int64/float64: nearest even. To
// float16/bfloat16: through float32.
enum { PASS_REDUCE_BLOCK = 4096 };

struct pass {
    int ndim, n_reduced;
    int64_t shape[PASS_MAX_NDIM];
    int n_inputs, n_instructions;
    struct pass_input inputs[PASS_MAX_INPUTS];
    struct pass_instruction instructions[PASS_MAX_INSTRUCTIONS];
    enum pass_reduce reduce;
    void *output;
    enum dtype output_dtype;
    int64_t output_strides[PASS_MAX_NDIM];
};

// Arity of an opcode (1 to 3).
int map_arity(enum map_op op);
// Name for error texts: "add", "cast".
const char *map_name(enum map_op op);
// The dtypes the opcode is compiled for, as a mask.
unsigned map_dtypes(enum map_op op);
// dtype of an instruction's result.
enum dtype map_result_dtype(enum map_op op, enum dtype dtype);
#endif
