// SPDX-License-Identifier: Apache-2.0
// From a struct pass to a device program: operands, slots by last use, merged dims,
// divisors. Runs on the device's worker; no state.
#include "kernels/cuda/program.h"

#include <string.h>

_Static_assert(sizeof(struct program) + sizeof(struct reduction) + 64 <= 4096,
               "a launch's parameters fit the 4 KiB that every driver takes");

// Opcodes whose integer expression can fault.
static const char *const integer_expressions[MAP_COUNT] = {
#define MAP(name, arity, dtypes, rule, integer, floating, signature, build, doc)         \
    [MAP_##name] = #integer,
#define HELPER(name, arity, dtypes, rule, integer, floating) [MAP_##name] = #integer,
#include "kernels/ops.def"
};

enum value_class value_class_of(enum dtype dtype)
{
    if (dtype == DTYPE_FLOAT64)
        return VALUE_FLOAT64;
    return dtype_is_float(dtype) ? VALUE_FLOAT32 : VALUE_INT64;
}

static uint8_t operand(enum operand_mode mode, int number)
{
    return (uint8_t)((unsigned)mode << 6 | (unsigned)number);
}

// The constant as bits of its class's type.
static int64_t constant_bits(const struct pass_input *input)
{
    struct scalar scalar = element_to_scalar(input->constant, input->dtype);
    double wide = scalar.f;
    float narrow = (float)scalar.f;
    int64_t bits = scalar.i;
    if (scalar.kind == SCALAR_FLOAT) {
        bits = 0;
        if (input->dtype == DTYPE_FLOAT64)
            memcpy(&bits, &wide, sizeof wide);
        else
            memcpy(&bits, &narrow, sizeof narrow);
    }
    return bits;
}

// Multiplier and shift with (high32(n * magic) + n) >> shift == n / size for every n <
// 2^31.
static void set_divisor(struct program_view *view, int dim, int64_t size)
{
    view->sizes[dim] = size;
    unsigned shift = 0;
    while (shift < 31 && INT64_C(1) << shift < size)
        shift++;
    view->shifts[dim] = (uint8_t)shift;
    if (size < INT64_C(1) << 31)
        view->magics[dim] =
            (uint32_t)(((UINT64_C(1) << 32) * ((UINT64_C(1) << shift) - (uint64_t)size)) /
                           (uint64_t)size +
                       1);
}

// Dims of size 1 go, neighbours with one common stride become one.
static void encode_view(struct program_view *view, const void *data, enum dtype dtype,
                        int ndim, const int64_t *shape, const int64_t *strides)
{
    view->data = (char *)data;
    view->dtype = (uint8_t)dtype;
    int n = 0;
    int64_t sizes[PASS_MAX_NDIM] = {1};
    int64_t merged[PASS_MAX_NDIM] = {0};
    for (int d = 0; d < ndim; d++) {
        if (shape[d] == 1)
            continue;
        if (n > 0 && merged[n - 1] == strides[d] * shape[d]) {
            sizes[n - 1] *= shape[d];
            merged[n - 1] = strides[d];
        } else {
            sizes[n] = shape[d];
            merged[n] = strides[d];
            n++;
        }
    }
    view->ndim = (uint8_t)n;
    for (int d = 0; d < PASS_MAX_NDIM; d++) {
        set_divisor(view, d, d < n ? sizes[d] : 1);
        view->strides[d] = d < n ? merged[d] : 0;
    }
}

// State of one encoding. last_use: the last step that reads a register; place: its
// operand byte.
struct encoding {
    const struct pass *pass;
    struct program *program;
    int n_registers;
    enum dtype dtypes[PASS_MAX_INPUTS + PASS_MAX_INSTRUCTIONS];
    int last_use[PASS_MAX_INPUTS + PASS_MAX_INSTRUCTIONS];
    int n_uses[PASS_MAX_INPUTS + PASS_MAX_INSTRUCTIONS];
    uint8_t place[PASS_MAX_INPUTS + PASS_MAX_INSTRUCTIONS];
    bool taken[PROGRAM_MAX_SLOTS];
};

static void count_uses(struct encoding *encoding)
{
    const struct pass *pass = encoding->pass;
    for (int r = 0; r < pass->n_inputs; r++)
        encoding->dtypes[r] =
            pass->inputs[r].kind == PASS_INDEX ? DTYPE_INT64 : pass->inputs[r].dtype;
    for (int i = 0; i < pass->n_instructions; i++) {
        const struct pass_instruction *instruction = &pass->instructions[i];
        const uint8_t operands[3] = {instruction->a, instruction->b, instruction->c};
        encoding->dtypes[pass->n_inputs + i] = map_result_dtype(
            (enum map_op)instruction->op, (enum dtype)instruction->dtype);
        for (int o = 0; o < map_arity((enum map_op)instruction->op); o++) {
            encoding->n_uses[operands[o]]++;
            encoding->last_use[operands[o]] = i;
        }
    }
}

// The lowest free slot, or -1.
static int take_slot(struct encoding *encoding)
{
    for (int s = 0; s < PROGRAM_MAX_SLOTS; s++) {
        if (!encoding->taken[s]) {
            encoding->taken[s] = true;
            if (s >= encoding->program->n_slots)
                encoding->program->n_slots = (uint8_t)(s + 1);
            return s;
        }
    }
    return -1;
}

static void release_slot(struct encoding *encoding, uint8_t place)
{
    if (place >> 6 == OPERAND_SLOT)
        encoding->taken[place & 63] = false;
}

static struct program_step *add_step(struct encoding *encoding, enum map_op op,
                                     enum value_class value_class, enum dtype result,
                                     int slot)
{
    struct program_step *step = &encoding->program->steps[encoding->program->n_steps++];
    step->op = (uint8_t)op;
    step->value_class = (uint8_t)value_class;
    step->result_class = (uint8_t)value_class_of(result);
    step->result_dtype = (uint8_t)result;
    step->target = (uint8_t)slot;
    return step;
}

// A step that moves register r, as it is, to a slot of its own; false if there is none.
static bool move_to_slot(struct encoding *encoding, int r)
{
    int slot = take_slot(encoding);
    if (slot < 0)
        return false;
    enum dtype dtype = encoding->dtypes[r];
    struct program_step *step =
        add_step(encoding, MAP_CAST, value_class_of(dtype), dtype, slot);
    step->a = step->b = step->c = encoding->place[r];
    encoding->place[r] = operand(OPERAND_SLOT, slot);
    return true;
}

static void encode_inputs(struct encoding *encoding)
{
    const struct pass *pass = encoding->pass;
    for (int r = 0; r < pass->n_inputs; r++) {
        const struct pass_input *input = &pass->inputs[r];
        if (input->kind == PASS_CONSTANT) {
            encoding->program->constants[r] = constant_bits(input);
            encoding->place[r] = operand(OPERAND_CONSTANT, r);
        } else if (input->kind == PASS_INDEX) {
            encoding->place[r] = operand(OPERAND_INDEX, 0);
        } else {
            encode_view(&encoding->program->inputs[r], input->data, input->dtype,
                        pass->ndim, pass->shape, input->strides);
            encoding->place[r] = operand(OPERAND_MEMORY, r);
        }
    }
}

// One instruction: its operands, then a slot for its result, which may be that of an
// operand read for the last time. False if slots run out.
static bool encode_instruction(struct encoding *encoding, int i, bool load_inputs)
{
    const struct pass *pass = encoding->pass;
    const struct pass_instruction *instruction = &pass->instructions[i];
    enum map_op op = (enum map_op)instruction->op;
    int arity = map_arity(op);
    const uint8_t registers[3] = {instruction->a, instruction->b, instruction->c};
    uint8_t places[3];
    for (int o = 0; o < arity; o++) {
        int r = registers[o];
        bool repeated =
            encoding->place[r] >> 6 == OPERAND_MEMORY && encoding->n_uses[r] > 1;
        if (load_inputs && repeated && !move_to_slot(encoding, r))
            return false;
    }
    for (int o = 0; o < 3; o++)
        places[o] = encoding->place[registers[o < arity ? o : 0]];
    for (int o = 0; o < arity; o++)
        if (encoding->last_use[registers[o]] == i)
            release_slot(encoding, places[o]);
    int slot = take_slot(encoding);
    if (slot < 0)
        return false;
    enum dtype operand_dtype = op == MAP_CAST ? encoding->dtypes[instruction->a]
                                              : (enum dtype)instruction->dtype;
    struct program_step *step = add_step(encoding, op, value_class_of(operand_dtype),
                                         encoding->dtypes[pass->n_inputs + i], slot);
    step->a = places[0];
    step->b = places[1];
    step->c = places[2];
    encoding->place[pass->n_inputs + i] = operand(OPERAND_SLOT, slot);
    if (step->value_class == VALUE_INT64 && op != MAP_CAST &&
        strstr(integer_expressions[op], "fault") != NULL)
        encoding->program->may_fault = 1;
    return true;
}

static bool encode_steps(struct encoding *encoding, bool load_inputs)
{
    struct program *program = encoding->program;
    memset(encoding->taken, 0, sizeof encoding->taken);
    program->n_steps = program->n_slots = 0;
    encode_inputs(encoding);
    for (int i = 0; i < encoding->pass->n_instructions; i++)
        if (!encode_instruction(encoding, i, load_inputs))
            return false;
    int last = encoding->pass->n_inputs + encoding->pass->n_instructions - 1;
    if (encoding->place[last] >> 6 != OPERAND_SLOT && !move_to_slot(encoding, last))
        return false;
    program->result = encoding->place[last] & 63;
    program->result_dtype = (uint8_t)encoding->dtypes[last];
    program->result_class = (uint8_t)value_class_of(encoding->dtypes[last]);
    return true;
}

void program_encode(const struct pass *pass, struct program *program)
{
    memset(program, 0, sizeof *program);
    struct encoding encoding = {.pass = pass, .program = program};
    count_uses(&encoding);
    int64_t count = 1;
    for (int d = 0; d < pass->ndim; d++)
        count *= pass->shape[d];
    program->wide = count >= INT64_C(1) << 31;
    if (!encode_steps(&encoding, true))
        encode_steps(&encoding, false);
    encode_view(&program->output, pass->output, pass->output_dtype,
                pass->ndim - pass->n_reduced, pass->shape, pass->output_strides);
}
