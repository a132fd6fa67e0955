// SPDX-License-Identifier: Apache-2.0
// From the instructions of a pass to steps: picks kernels, drops conversions that change
// nothing in a slot, assigns slots. Runs once per pass, on the thread that prepares it;
// touches no tensor memory.
#include "kernels/host/pass_internal.h"

struct compiler {
    struct host_pass *out;
    const struct pass *pass;
    const struct level *level;
    enum dtype dtypes[MAX_REGISTERS]; // as the program means them
    uint8_t roots[MAX_REGISTERS];     // the register whose slot holds the value
    int16_t last_use[MAX_REGISTERS];  // step, -1: never
    uint8_t slots[MAX_REGISTERS];
    int n_registers;
};

static int size_log2(int size)
{
    return size == 1 ? 0 : size == 2 ? 1 : size == 4 ? 2 : 3;
}

static bool is_half(enum dtype dtype)
{
    return dtype == DTYPE_FLOAT16 || dtype == DTYPE_BFLOAT16;
}

static void prepare_input(struct compiler *compiler, int i)
{
    const struct pass *pass = compiler->pass;
    const struct pass_input *from = &pass->inputs[i];
    struct host_input *to = &compiler->out->inputs[i];
    enum dtype dtype = from->kind == PASS_INDEX ? DTYPE_INT64 : from->dtype;
    bool widens = is_half(dtype) && !compiler->out->copy;
    to->kind = from->kind;
    to->used = false;
    to->slot = NO_SLOT;
    to->operand.data = (char *)(uintptr_t)from->data;
    to->operand.size = dtype_size(dtype);
    to->operand.size_log2 = size_log2(to->operand.size);
    if (from->kind == PASS_MEMORY)
        operand_prepare(&to->operand, pass->ndim, pass->shape, from->strides);
    to->widen = widens ? compiler->level->casts->widen[dtype] : NULL;
    to->slot_size_log2 = (uint8_t)(widens ? 2 : to->operand.size_log2);
    to->constant = from->constant;
    if (widens && from->kind == PASS_CONSTANT)
        to->constant.f32 = dtype == DTYPE_FLOAT16
                               ? float16_to_float(from->constant.bits16)
                               : bfloat16_to_float(from->constant.bits16);
    compiler->dtypes[i] = dtype;
    compiler->roots[i] = (uint8_t)i;
}

static void add_step(struct compiler *compiler, int result, map_function *function,
                     map_function *round, int a, int b, int c)
{
    struct step *step = &compiler->out->steps[compiler->out->n_steps++];
    *step = (struct step){function,
                          round,
                          compiler->roots[a],
                          compiler->roots[b],
                          compiler->roots[c],
                          (uint8_t)result,
                          NO_SLOT};
    compiler->roots[result] = (uint8_t)result;
}

// x ** 2 is x * x (scalar_power says the same, slowly).
static bool is_square(const struct pass *pass, const struct pass_instruction *instruction)
{
    if (instruction->op != MAP_pow || instruction->b >= pass->n_inputs)
        return false;
    const struct pass_input *exponent = &pass->inputs[instruction->b];
    return exponent->kind == PASS_CONSTANT &&
           element_to_scalar(exponent->constant, exponent->dtype).f == 2.0 &&
           dtype_is_float(exponent->dtype);
}

static double estimate(int op, enum dtype dtype)
{
    if (op == MAP_CAST)
        return 0.3;
    if (op == MAP_add || op == MAP_sub || op == MAP_mul)
        return 0.1;
    if (op == MAP_div || op == MAP_sqrt || op == MAP_rsqrt)
        return 0.5;
    if (map_dtypes((enum map_op)op) == DTYPES_FLOAT) { // elementary functions
        bool scalar = op == MAP_sin || op == MAP_cos || op == MAP_tan;
        return scalar || dtype == DTYPE_FLOAT64 ? 8 : 1.5;
    }
    bool divides = op == MAP_floor_divide || op == MAP_remainder ||
                   op == MAP_truncate_divide || op == MAP_pow;
    return divides ? 8 : 0.1 + 0.05 * dtype_size(dtype);
}

static void compile_cast(struct compiler *compiler, int result, int a, enum dtype to)
{
    const struct level_casts *casts = compiler->level->casts;
    enum dtype from = compiler->dtypes[a], from_slot = slot_dtype(from),
               to_slot = slot_dtype(to);
    bool same = from_slot == to_slot || (from == DTYPE_BOOL && to == DTYPE_UINT8);
    map_function *function = same ? NULL : casts->cast[to_slot][from_slot];
    map_function *round = is_half(to) && from != to ? casts->round[to] : NULL;
    if (function == NULL && round == NULL)
        compiler->roots[result] = compiler->roots[a];
    else
        add_step(compiler, result, function, round, a, a, a);
    compiler->dtypes[result] = to;
}

static void compile_instruction(struct compiler *compiler, int i)
{
    const struct pass_instruction *from = &compiler->pass->instructions[i];
    int result = compiler->pass->n_inputs + i;
    enum dtype dtype = (enum dtype)from->dtype;
    compiler->out->cost += estimate(from->op, dtype);
    if (from->op == MAP_CAST) {
        compile_cast(compiler, result, from->a, dtype);
        return;
    }
    enum dtype to = map_result_dtype((enum map_op)from->op, dtype);
    map_function *const *maps = compiler->level->maps->of[slot_dtype(dtype)];
    bool square = is_square(compiler->pass, from);
    int arity = map_arity((enum map_op)from->op);
    int b = arity < 2 || square ? from->a : from->b, c = arity < 3 ? from->a : from->c;
    add_step(compiler, result, maps[square ? MAP_mul : from->op],
             is_half(to) ? compiler->level->casts->round[to] : NULL, from->a, b, c);
    compiler->dtypes[result] = to;
}

// The last rounding is the narrowing store's work.
static void drop_last_round(struct host_pass *out)
{
    if (out->narrow == NULL || out->n_steps == 0)
        return;
    struct step *last = &out->steps[out->n_steps - 1];
    if (last->result != out->result || last->round == NULL)
        return;
    last->round = NULL;
    if (last->function == NULL) {
        out->result = last->a;
        out->n_steps--;
    }
}

static void find_last_uses(struct compiler *compiler)
{
    const struct host_pass *out = compiler->out;
    for (int r = 0; r < compiler->n_registers; r++) {
        compiler->last_use[r] = -1;
        compiler->slots[r] = NO_SLOT;
    }
    for (int i = 0; i < out->n_steps; i++) {
        compiler->last_use[out->steps[i].a] = (int16_t)i;
        compiler->last_use[out->steps[i].b] = (int16_t)i;
        compiler->last_use[out->steps[i].c] = (int16_t)i;
    }
    compiler->last_use[out->result] = MAX_STEPS;
}

// A slot is free again after the step that uses its register last; the result of that
// step has another one, because element sizes may differ. Inputs hold theirs from the
// start; a uniform input keeps it for all blocks.
static void assign_slots(struct compiler *compiler)
{
    struct host_pass *out = compiler->out;
    uint8_t free_slots[MAX_SLOTS];
    int n_free = 0;
    find_last_uses(compiler);
    for (int i = 0; i < out->n_inputs; i++) {
        out->inputs[i].used = compiler->last_use[i] >= 0;
        if (out->inputs[i].used)
            out->inputs[i].slot = compiler->slots[i] = (uint8_t)out->n_slots++;
        if (input_is_uniform(&out->inputs[i]))
            compiler->last_use[i] = MAX_STEPS;
    }
    for (int i = 0; i < out->n_steps; i++) {
        struct step *step = &out->steps[i];
        step->slot = n_free > 0 ? free_slots[--n_free] : (uint8_t)out->n_slots++;
        compiler->slots[step->result] = step->slot;
        const uint8_t operands[3] = {step->a, step->b, step->c};
        for (int j = 0; j < 3; j++) {
            uint8_t operand = operands[j];
            if (compiler->last_use[operand] == i && compiler->slots[operand] != NO_SLOT) {
                free_slots[n_free++] = compiler->slots[operand];
                compiler->slots[operand] = NO_SLOT;
            }
        }
    }
}

static int widest_slot(const struct compiler *compiler)
{
    int widest = 1;
    for (int r = 0; r < compiler->n_registers; r++) {
        int size = dtype_size(slot_dtype(compiler->dtypes[r]));
        widest = size > widest ? size : widest;
    }
    return widest;
}

// Sums and products of integers accumulate in int64: a conversion the planner may have
// left out.
static void widen_for_sum(struct compiler *compiler)
{
    enum pass_reduce reduce = compiler->pass->reduce;
    int last = compiler->n_registers - 1;
    bool sums = reduce == PASS_SUM || reduce == PASS_PROD || reduce == PASS_MEAN;
    if (!sums || dtype_is_float(compiler->dtypes[last]) ||
        compiler->dtypes[last] == DTYPE_INT64)
        return;
    compile_cast(compiler, compiler->n_registers++, last, DTYPE_INT64);
}

void pass_program_prepare(struct host_pass *out, const struct pass *pass)
{
    struct compiler compiler = {.out = out, .pass = pass, .level = level_current()};
    out->level = compiler.level;
    out->n_inputs = pass->n_inputs;
    out->n_steps = out->n_slots = 0;
    out->cost = 0.2;
    out->reduce = pass->reduce;
    out->copy = pass->n_instructions == 0 && pass->reduce == PASS_NO_REDUCE;
    for (int i = 0; i < pass->n_inputs; i++)
        prepare_input(&compiler, i);
    for (int i = 0; i < pass->n_instructions; i++)
        compile_instruction(&compiler, i);
    compiler.n_registers = pass->n_inputs + pass->n_instructions;
    widen_for_sum(&compiler);
    int last = compiler.n_registers - 1;
    out->result = compiler.roots[last];
    out->result_dtype = slot_dtype(compiler.dtypes[last]);
    out->output_dtype = pass->output_dtype;
    out->output.data = pass->output;
    out->output.size = dtype_size(pass->output_dtype);
    out->output.size_log2 = size_log2(out->output.size);
    operand_prepare(&out->output, pass->ndim - pass->n_reduced, pass->shape,
                    pass->output_strides);
    out->narrow = is_half(pass->output_dtype) && !out->copy
                      ? out->level->casts->narrow[pass->output_dtype]
                      : NULL;
    if (pass->reduce == PASS_NO_REDUCE)
        drop_last_round(out);
    assign_slots(&compiler);
    out->slot_bytes = widest_slot(&compiler);
}
