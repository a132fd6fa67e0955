// SPDX-License-Identifier: Apache-2.0
// Python's operators on tensors and arrays, truth, length and `in`. A tensor with a
// Python number is the common case and takes the shortest way to lazy_op. The program's
// thread.
#include "api/lang/torch.h"

static const struct {
    enum op op;
    const char *sign;
    bool in_place; // x op= y writes x
} binaries[] = {
    [BINARY_ADD] = {OP_add, "+", true},
    [BINARY_SUB] = {OP_sub, "-", true},
    [BINARY_MUL] = {OP_mul, "*", true},
    [BINARY_DIV] = {OP_div, "/", true},
    [BINARY_FLOOR_DIV] = {OP_floor_divide, "//", true},
    [BINARY_MOD] = {OP_remainder, "%", true},
    [BINARY_POW] = {OP_pow, "**", true},
    [BINARY_MATMUL] = {OP_matmul, "@", false},
    [BINARY_AND] = {OP_bitwise_and, "&", true},
    [BINARY_OR] = {OP_bitwise_or, "|", true},
    [BINARY_XOR] = {OP_bitwise_xor, "^", true},
    [BINARY_LSHIFT] = {OP_mul, "<<", true},
    [BINARY_RSHIFT] = {OP_floor_divide, ">>", true},
};
static const struct {
    enum op op;
    const char *sign;
} compares[] = {
    [COMPARE_LT] = {OP_lt, "<"},  [COMPARE_LE] = {OP_le, "<="},
    [COMPARE_EQ] = {OP_eq, "=="}, [COMPARE_NE] = {OP_ne, "!="},
    [COMPARE_GT] = {OP_gt, ">"},  [COMPARE_GE] = {OP_ge, ">="},
};

static enum outcome unsupported(struct vm *vm, const char *sign, bool in_place,
                                struct value a, struct value b)
{
    return vm_raise(vm, STATUS_TYPE,
                    "unsupported operand type(s) for %s%s: '%s' and '%s'", sign,
                    in_place ? "=" : "", torch_type_name(a), torch_type_name(b));
}

static bool is_operand(struct value value)
{
    return value_is_number(value) || value_is_tensor(value);
}

// NumPy's rules hold when an array takes part and no tensor does.
static bool is_numpy(struct value a, struct value b)
{
    bool tensor = (value_is_tensor(a) && !value_is_array(a)) ||
                  (value_is_tensor(b) && !value_is_array(b));
    return !tensor && (value_is_array(a) || value_is_array(b));
}

static void set_operand(struct lazy_argument *argument, struct value value)
{
    argument->kind = ARGUMENT_TENSOR;
    argument->is_number = !value_is_tensor(value);
    if (argument->is_number)
        argument->number = torch_scalar_of(value);
    else
        argument->tensor = tensor_of(value)->lazy;
}

static const char *grad_name(struct vm *vm, enum op op,
                             const struct lazy_argument *arguments)
{
    struct call call = {.vm = vm, .op = op, .row = op_row(op)};
    memcpy(call.arguments, arguments, sizeof call.arguments);
    return torch_call_grad(&call);
}

// An operation on two operands, either of which may be a number.
static enum outcome two(struct vm *vm, enum op op, bool in_place, struct value a,
                        struct value b, struct value *result)
{
    struct lazy_argument arguments[OP_MAX_PARAMETERS];
    struct lazy *results[OP_MAX_RESULTS];
    int n_results;
    bool grad = torch_wants_grad(vm, a) || torch_wants_grad(vm, b);
    for (int i = 2; i < OP_MAX_PARAMETERS; i++)
        arguments[i].kind = ARGUMENT_NONE;
    set_operand(&arguments[0], a);
    set_operand(&arguments[1], b);
    if (in_place && torch_check_write(vm, a) != OUTCOME_OK)
        return OUTCOME_ERROR;
    if (lazy_op(vm_cells(vm), op, in_place, arguments, results, &n_results,
                vm_problem(vm)) != STATUS_OK)
        return OUTCOME_ERROR;
    if (in_place) {
        lazy_release(results[0]);
        if (grad)
            torch_note_write(a, grad_name(vm, op, arguments));
        *result = value_reference(a);
        return OUTCOME_OK;
    }
    struct flavor flavor = {0};
    if (grad && dtype_is_float(lazy_dtype(results[0]))) {
        flavor.requires_grad = true;
        flavor.grad_fn = grad_name(vm, op, arguments);
    }
    return torch_wrap(vm, results[0], flavor, result);
}

// x << n is x * 2**n, x >> n is floor(x / 2**n), on integers.
static enum outcome shift_operand(struct vm *vm, enum binary_op op, struct value a,
                                  struct value *b)
{
    if (!value_is_tensor(a) || !value_is_integer(*b))
        return vm_raise(vm, STATUS_NOT_IMPLEMENTED,
                        "%s of tensors is implemented for a tensor and a number; use "
                        "x * 2**n or x // 2**n",
                        binaries[op].sign);
    if (lazy_dtype(tensor_of(a)->lazy) == DTYPE_BOOL ||
        dtype_is_float(lazy_dtype(tensor_of(a)->lazy)))
        return vm_raise(vm, STATUS_DTYPE, "%s is for tensors of integers, not %s",
                        binaries[op].sign, dtype_name(lazy_dtype(tensor_of(a)->lazy)));
    int bits = 8 * dtype_size(lazy_dtype(tensor_of(a)->lazy));
    if (b->i < 0 || b->i >= bits - 1)
        return vm_raise(vm, STATUS_VALUE, "the shift count must be from 0 to %d",
                        bits - 2);
    *b = value_int((int64_t)1 << b->i);
    return OUTCOME_OK;
}

enum outcome torch_binary(struct vm *vm, enum binary_op op, bool in_place, struct value a,
                          struct value b, struct value *result)
{
    in_place = in_place && binaries[op].in_place && value_is_tensor(a);
    bool numpy = is_numpy(a, b);
    const struct value *items;
    int64_t count;
    if (!is_operand(a) || !is_operand(b)) {
        // NumPy takes lists for arrays.
        bool lists = numpy && (is_operand(a) || sequence_items(a, &items, &count)) &&
                     (is_operand(b) || sequence_items(b, &items, &count));
        if (!lists)
            return unsupported(vm, binaries[op].sign, in_place, a, b);
    }
    if (op == BINARY_MATMUL && (value_is_number(a) || value_is_number(b)))
        return unsupported(vm, "@", in_place, a, b);
    if (op >= BINARY_LSHIFT && shift_operand(vm, op, a, &b) != OUTCOME_OK)
        return OUTCOME_ERROR;
    if (numpy) {
        struct value operands[] = {a, b};
        uint32_t flags = OP_NUMPY | (in_place ? OP_IN_PLACE : 0);
        return torch_apply(vm, binaries[op].op, flags, 2, operands, result);
    }
    return two(vm, binaries[op].op, in_place, a, b, result);
}

enum outcome torch_compare(struct vm *vm, enum compare_op op, struct value a,
                           struct value b, struct value *result)
{
    const struct value *items;
    int64_t count;
    bool numpy = is_numpy(a, b);
    bool lists = numpy && (is_operand(a) || sequence_items(a, &items, &count)) &&
                 (is_operand(b) || sequence_items(b, &items, &count));
    if ((!is_operand(a) || !is_operand(b)) && !lists) {
        if (op != COMPARE_EQ && op != COMPARE_NE)
            return vm_raise(vm, STATUS_TYPE,
                            "'%s' not supported between instances of '%s' and '%s'",
                            compares[op].sign, torch_type_name(a), torch_type_name(b));
        *result = value_bool(op == COMPARE_NE);
        return OUTCOME_OK;
    }
    if (numpy) {
        struct value operands[] = {a, b};
        return torch_apply(vm, compares[op].op, OP_NUMPY, 2, operands, result);
    }
    return two(vm, compares[op].op, false, a, b, result);
}

enum outcome torch_unary(struct vm *vm, enum unary_op op, struct value a,
                         struct value *result)
{
    uint32_t flags = value_is_array(a) ? OP_NUMPY : 0;
    if (op == UNARY_POS) {
        if (lazy_dtype(tensor_of(a)->lazy) == DTYPE_BOOL)
            return vm_raise(vm, STATUS_DTYPE, "+ is not defined for bool");
        *result = value_reference(a);
        return OUTCOME_OK;
    }
    return torch_apply(vm, op == UNARY_NEG ? OP_neg : OP_bitwise_not, flags, 1, &a,
                       result);
}

// ---- Questions

enum outcome torch_truth(struct vm *vm, struct value tensor, bool *truth)
{
    const struct tensor_object *object = tensor_of(tensor);
    int64_t count = lazy_count(object->lazy);
    if (count != 1 && object->is_array && count == 0) {
        *truth = false;
        return OUTCOME_OK;
    }
    if (count != 1)
        return vm_raise(vm, STATUS_VALUE, "%s",
                        object->is_array
                            ? "The truth value of an array with more than one element "
                              "is ambiguous. Use a.any() or a.all()"
                        : count == 0 ? "Boolean value of Tensor with no values is "
                                       "ambiguous"
                                     : "Boolean value of Tensor with more than one value "
                                       "is ambiguous");
    struct value number;
    enum outcome outcome = tensor_number(vm, tensor, &number);
    if (outcome == OUTCOME_OK)
        *truth = number.tag == VALUE_FLOAT ? number.f != 0 : number.i != 0;
    return outcome;
}

enum outcome torch_length(struct vm *vm, struct value tensor, int64_t *length)
{
    const struct tensor_object *object = tensor_of(tensor);
    const struct layout *layout = lazy_layout(object->lazy);
    if (layout->ndim == 0)
        return vm_raise(vm, STATUS_TYPE, "%s",
                        object->is_array ? "len() of unsized object"
                                         : "len() of a 0-d tensor");
    *length = layout->shape[0];
    return OUTCOME_OK;
}

static bool same_number(struct scalar a, struct scalar b)
{
    if (a.kind != SCALAR_FLOAT && b.kind != SCALAR_FLOAT)
        return a.i == b.i;
    double x = a.kind == SCALAR_FLOAT ? a.f : (double)a.i;
    double y = b.kind == SCALAR_FLOAT ? b.f : (double)b.i;
    return x == y;
}

enum outcome torch_contains(struct vm *vm, struct value tensor, struct value item,
                            bool *contains)
{
    struct lazy *lazy = tensor_of(tensor)->lazy;
    struct tensor *host;
    struct scalar wanted;
    if (!is_operand(item))
        return vm_raise(vm, STATUS_VALUE,
                        "Tensor.__contains__ only supports Tensor or scalar, but you "
                        "passed in a %s",
                        torch_type_name(item));
    enum outcome outcome = torch_number(vm, item, "the element", &wanted);
    if (!outcome_keep(&outcome, vm_host(vm, lazy, &host)) || outcome != OUTCOME_OK)
        return outcome;
    if (vm_spend(vm, lazy_count(lazy)) != OUTCOME_OK)
        return OUTCOME_ERROR;
    enum dtype dtype = lazy_dtype(lazy);
    // As the comparison does: the number in the tensor's dtype.
    if (value_is_number(item) && dtype_is_float(dtype))
        wanted = element_to_scalar(scalar_to_element(wanted, dtype, NULL), dtype);
    const void *elements = torch_elements(host);
    *contains = false;
    for (int64_t i = 0; i < lazy_count(lazy) && !*contains; i++)
        *contains = same_number(torch_element(elements, dtype, i), wanted);
    return OUTCOME_OK;
}
