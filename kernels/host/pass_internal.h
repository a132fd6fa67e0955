// SPDX-License-Identifier: Apache-2.0
// A prepared pass, shared by the files host/pass*.c and nobody else:
//   pass_program.c   instructions to steps: kernels, aliases, slots
//   pass_geometry.c  strides to blocks and spans
//   pass_block.c     one block: load inputs, run the steps, store
//   pass_map.c       spans without a reduction
//   pass_reduce.c    spans with one along rows; results; segments
//   pass_columns.c   spans with one, column beside column
//   pass_tree.h      how partial sums are added up
//   pass.c           the functions of pass.h
//
// Vocabulary. The space is the pass's shape in C order; kept is the product of its kept
// dims, reduced that of its reduced ones. A block is what one call of a kernel handles:
// either a linear range of the space or a tile (rows x columns of it). A slot is a packed
// block of a register in the arena.
#ifndef TENSORD_KERNELS_HOST_PASS_INTERNAL_H
#define TENSORD_KERNELS_HOST_PASS_INTERNAL_H

#include "kernels/host/levels.h"
#include "kernels/host/pass.h"

enum {
    MAX_STEPS = PASS_MAX_INSTRUCTIONS + 1, // and the widening before an integer sum
    MAX_REGISTERS = PASS_MAX_INPUTS + MAX_STEPS,
    MAX_SLOTS = MAX_REGISTERS,
    MAX_BLOCK = 1024, // elements; a multiple of REDUCE_LEAF, as MIN_BLOCK is
    MIN_BLOCK = REDUCE_LEAF,
    ARENA_COMFORT = 48 << 10, // bytes of slots beyond which blocks get smaller
    ARENA_SIZE = MAX_SLOTS * MIN_BLOCK * 8,
    NO_SLOT = 255,
    LONGEST_SEGMENT = 1 << 21, // elements of a row or column added up by one unit
    SEGMENT_DEPTH = 16,        // subtrees open at a time: 2^21 elements are 2^13 leaves
    STRIP = MAX_BLOCK / (2 * REDUCE_LANES), // most columns of a block that is two turns
                                            // of the lanes high
    BAND = 8,                               // strips of a unit of columns
};
_Static_assert(ARENA_SIZE >= ARENA_COMFORT, "comfortable blocks must fit the arena");

// Dims of size 1 dropped, dims that continue each other merged.
struct view {
    int ndim;
    int64_t shape[PASS_MAX_NDIM], strides[PASS_MAX_NDIM];
};

struct operand {
    char *data; // never written through for inputs
    int size;   // bytes of an element in memory
    int size_log2;
    bool linear;      // C-contiguous: element i of the space is at data + i * size
    bool uniform;     // one element for the whole space
    int64_t run;      // elements of the innermost dim if they are adjacent, else 1
    struct view view; // for linear ranges
    int64_t tile_strides[PASS_MAX_NDIM]; // for tiles: in the order of tile_shape
};

struct host_input {
    struct operand operand; // of INDEX: the strides of the linear index
    enum pass_input_kind kind;
    bool used;
    uint8_t slot;
    uint8_t slot_size_log2;
    map_function *widen;    // 16-bit floats in memory to float32 slots
    union element constant; // of the slot type; uniform memory is read when a run begins
};

// registers[slot] = round(function(a, b, c)). Without function: round(a).
struct step {
    map_function *function, *round;
    uint8_t a, b, c; // registers
    uint8_t result;  // register
    uint8_t slot;
};

enum pass_mode {
    MODE_LINEAR,  // map: blocks are linear ranges
    MODE_TILES,   // map: blocks are tiles, because an input crosses the innermost dim
    MODE_ROWS,    // reduction: blocks are linear ranges, rows of reduced elements
    MODE_COLUMNS, // reduction: blocks are tiles, rows along the reduced dims
};

struct host_pass {
    const struct level *level;
    // Program
    int n_inputs, n_steps, n_slots;
    uint8_t result; // register
    bool copy;      // no steps, no conversion: elements are moved
    int slot_bytes; // per element: the widest slot
    double cost;    // nanoseconds per element, roughly
    struct host_input inputs[PASS_MAX_INPUTS];
    struct step steps[MAX_STEPS];
    enum dtype result_dtype; // slot type of the result
    // Output
    struct operand output;
    enum dtype output_dtype;
    map_function *narrow; // float32 slots to 16-bit floats in memory
    bool stream;          // the output is written past the cache
    // Geometry
    enum pass_mode mode;
    int64_t count, kept, reduced;
    int64_t block; // largest number of elements of a block
    int64_t spans, units, units_per_span;
    // LINEAR: a unit is a block: the space is cut into runs, each into `pieces` of at
    // most `piece`
    int64_t run, piece, pieces;
    // TILES, COLUMNS: dims are outer ones, row dims, one column dim
    int tile_ndim, tile_outer_ndim;
    int64_t tile_shape[PASS_MAX_NDIM];
    int64_t tile_rows, tile_columns;   // extents of the space: all rows, all columns
    int64_t block_rows, block_columns; // of a block
    int64_t row_blocks, column_blocks; // how many
    int64_t bands;                     // COLUMNS: BAND column blocks each
    // Reductions. ROWS: a unit is `rows_per_unit` whole rows, or a segment of one.
    // COLUMNS: a unit is a segment of a band.
    enum pass_reduce reduce;
    const struct level_reducer *reducer;
    const struct level_arg_reducer *arg_reducer;
    int accumulator_size;
    int64_t rows_per_unit, segment, segments;
    char *partials;           // [segments][kept] accumulators if segments > 1
    int64_t *partial_indices; // for arg reductions
};

static inline bool input_is_uniform(const struct host_input *input)
{
    return input->kind == PASS_CONSTANT ||
           (input->kind == PASS_MEMORY && input->operand.uniform);
}

// What one thread needs while it runs spans.
struct frame {
    const struct host_pass *pass;
    int *faults;
    const void *registers[MAX_REGISTERS];
    _Alignas(64) char raw[MAX_BLOCK * 2]; // 16-bit floats on their way
    _Alignas(64) char arena[ARENA_SIZE];
};

// A tile: outer indices, rows and columns of the space.
struct tile {
    int64_t outer, row, column, rows, columns;
};

// pass_program.c
void pass_program_prepare(struct host_pass *out, const struct pass *pass);
// pass_geometry.c
// The view, linear, uniform and run of an operand whose data and size are set.
void operand_prepare(struct operand *operand, int ndim, const int64_t *shape,
                     const int64_t *strides);
// After the program: modes, blocks and spans. Everything but the memory for partials.
void pass_geometry_prepare(struct host_pass *out, const struct pass *pass);

// pass_block.c
// Fills the slots of uniform inputs.
void frame_begin(struct frame *frame, const struct host_pass *pass, int *faults);
static inline char *frame_slot(struct frame *frame, int slot)
{
    return frame->arena + (int64_t)slot * frame->pass->slot_bytes * frame->pass->block;
}
// The result of a block as a packed array of result_dtype: `into` if it could be written
// there (into may be NULL), else a slot or the memory of an input.
const void *evaluate_linear(struct frame *frame, int64_t start, int64_t n, void *into);
const void *evaluate_tile(struct frame *frame, const struct tile *tile);
// The address of elements [start, start + n) if they are adjacent, else NULL.
char *operand_address(const struct operand *operand, int64_t start, int64_t n);
// Packed elements to the operand's memory.
void operand_scatter(const struct level *level, const struct operand *operand,
                     int64_t start, int64_t n, const void *packed);
// Packed values of result_dtype, or already of the output's dtype if the pass is a copy.
void store_linear(struct frame *frame, const void *values, int64_t start, int64_t n);
// The element offset of a tile's corner.
int64_t tile_offset(const struct host_pass *pass, const int64_t *strides, int64_t outer,
                    int64_t row, int64_t column);

// The accumulators (and indices, of arg reductions) of outputs [first, first + n) of a
// segment: stored, or kept as partials. They may be changed.
void deliver(struct frame *frame, void *accumulators, const int64_t *indices,
             int64_t first, int64_t n, int64_t segment);
int64_t segment_length(const struct host_pass *pass, int64_t segment);

// pass_map.c, pass_reduce.c, pass_columns.c: one unit
void map_unit(struct frame *frame, int64_t unit);
void reduce_unit(struct frame *frame, int64_t unit);
void columns_unit(struct frame *frame, int64_t unit);
// Combines the partials of all segments and stores.
void reduce_finish(struct frame *frame);
#endif
