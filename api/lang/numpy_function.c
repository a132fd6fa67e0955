// SPDX-License-Identifier: Apache-2.0
// np.* and the members of arrays: the operations of the table under NumPy's names, and
// what is no operation. The program's thread; tables are made once.
#include "api/lang/torch.h"

#include <math.h>

static bool is_given(struct value value)
{
    return value.tag != VALUE_ABSENT && value.tag != VALUE_NONE;
}

// The array that an argument is, or the lists of one become. A reference.
static enum outcome as_array(struct vm *vm, struct value value, struct value *out)
{
    if (value_is_tensor(value)) {
        *out = value_reference(value);
        return OUTCOME_OK;
    }
    struct lazy *lazy;
    enum outcome outcome =
        literal_lazy(vm, value, true, false, DTYPE_FLOAT64, NULL, &lazy);
    return outcome == OUTCOME_OK
               ? torch_wrap(vm, lazy, (struct flavor){.is_array = true}, out)
               : outcome;
}

// ---- transpose

// Axes absent: all in the opposite order.
static enum outcome transposed(struct vm *vm, struct value self, int n,
                               const int64_t *axes, struct value *result)
{
    int64_t reversed[TENSOR_MAX_NDIM];
    int ndim = lazy_layout(tensor_of(self)->lazy)->ndim;
    for (int i = 0; i < ndim; i++)
        reversed[i] = ndim - 1 - i;
    struct value dims;
    if (torch_size(vm, n < 0 ? ndim : n, n < 0 ? reversed : axes, false, &dims) !=
        OUTCOME_OK)
        return OUTCOME_ERROR;
    struct value arguments[] = {self, dims};
    enum outcome outcome = torch_apply(vm, OP_permute, OP_NUMPY, 2, arguments, result);
    value_release(dims);
    return outcome;
}

static enum outcome numpy_transpose(struct vm *vm, struct value *slots,
                                    struct value *result)
{
    int64_t axes[TENSOR_MAX_NDIM];
    int n = -1;
    struct value array;
    enum outcome outcome = OUTCOME_OK;
    if (is_given(slots[1]))
        outcome = torch_integers(vm, slots[1], "axes", axes, TENSOR_MAX_NDIM, &n);
    if (outcome == OUTCOME_OK)
        outcome = as_array(vm, slots[0], &array);
    if (outcome != OUTCOME_OK)
        return outcome;
    outcome = transposed(vm, array, n, axes, result);
    value_release(array);
    return outcome;
}

static enum outcome method_transpose(struct vm *vm, struct value *slots,
                                     struct value *result)
{
    int64_t axes[TENSOR_MAX_NDIM];
    int n = -1;
    const struct tuple *rest = VALUE_AS(tuple, slots[1]);
    bool none =
        rest->count == 0 || (rest->count == 1 && rest->items[0].tag == VALUE_NONE);
    enum outcome outcome = none ? OUTCOME_OK : torch_sizes(vm, slots[1], axes, &n);
    return outcome == OUTCOME_OK ? transposed(vm, slots[0], n, axes, result) : outcome;
}

// ---- dot: of vectors and matrices a product, with a number a multiple.

static enum outcome numpy_dot(struct vm *vm, struct value *slots, struct value *result)
{
    struct value arrays[2];
    enum outcome outcome = as_array(vm, slots[0], &arrays[0]);
    if (outcome != OUTCOME_OK)
        return outcome;
    outcome = as_array(vm, slots[1], &arrays[1]);
    if (outcome == OUTCOME_OK) {
        int a = lazy_layout(tensor_of(arrays[0])->lazy)->ndim;
        int b = lazy_layout(tensor_of(arrays[1])->lazy)->ndim;
        if (a > 2 || b > 2)
            outcome = vm_raise(vm, STATUS_NOT_IMPLEMENTED,
                               "dot() is implemented for vectors and matrices; use "
                               "matmul()");
        else
            outcome = torch_apply(vm, a == 0 || b == 0 ? OP_mul : OP_matmul, OP_NUMPY, 2,
                                  arrays, result);
        value_release(arrays[1]);
    }
    value_release(arrays[0]);
    return outcome;
}

// ---- Methods

static enum outcome method_astype(struct vm *vm, struct value *slots,
                                  struct value *result)
{
    enum dtype dtype;
    if (torch_dtype_of(vm, slots[1], true, &dtype) != OUTCOME_OK)
        return OUTCOME_ERROR;
    bool copy = !(slots[2].tag == VALUE_BOOL && slots[2].i == 0);
    return torch_to(vm, slots[0], NULL, dtype, copy, result);
}

static enum outcome method_copy(struct vm *vm, struct value *slots, struct value *result)
{
    return torch_apply(vm, OP_clone, OP_NUMPY, 1, slots, result);
}

static enum outcome ravel(struct vm *vm, struct value self, struct value *result)
{
    struct value arguments[] = {self, value_int(-1)};
    return torch_apply(vm, OP_reshape, OP_NUMPY, 2, arguments, result);
}

static enum outcome method_ravel(struct vm *vm, struct value *slots, struct value *result)
{
    return ravel(vm, slots[0], result);
}

static enum outcome numpy_ravel(struct vm *vm, struct value *slots, struct value *result)
{
    struct value array;
    enum outcome outcome = as_array(vm, slots[0], &array);
    if (outcome != OUTCOME_OK)
        return outcome;
    outcome = ravel(vm, array, result);
    value_release(array);
    return outcome;
}

// flatten() copies, ravel() does not.
static enum outcome method_flatten(struct vm *vm, struct value *slots,
                                   struct value *result)
{
    struct value flat;
    enum outcome outcome = ravel(vm, slots[0], &flat);
    if (outcome != OUTCOME_OK)
        return outcome;
    outcome = torch_apply(vm, OP_clone, OP_NUMPY, 1, &flat, result);
    value_release(flat);
    return outcome;
}

static enum outcome method_fill(struct vm *vm, struct value *slots, struct value *result)
{
    struct value written;
    enum outcome outcome = torch_apply(vm, OP_fill_, OP_NUMPY, 2, slots, &written);
    if (outcome == OUTCOME_OK)
        value_release(written);
    *result = value_none();
    return outcome;
}

struct native array_methods[] = {
    {.name = "transpose", .signature = "self, *axes", .function = method_transpose},
    {.name = "dot", .signature = "self, b", .function = numpy_dot},
    {.name = "astype", .signature = "self, dtype, *, copy=", .function = method_astype},
    {.name = "copy", .signature = "self, order=", .function = method_copy},
    {.name = "ravel", .signature = "self, order=", .function = method_ravel},
    {.name = "flatten", .signature = "self, order=", .function = method_flatten},
    {.name = "fill", .signature = "self, value", .function = method_fill},
    {.name = "round", .signature = "self, decimals=", .function = torch_round},
    {.name = NULL},
};

// ---- Norms

static enum outcome norm(struct vm *vm, struct value *slots, bool numpy,
                         struct value *result)
{
    struct value array, ord = slots[1];
    if (value_is_object(ord, OBJECT_STRING) &&
        strcmp(VALUE_AS(string, ord)->text, "fro") == 0)
        ord = value_none();
    if (is_given(ord) && !value_is_number(ord))
        return vm_raise(vm, STATUS_NOT_IMPLEMENTED,
                        "norm(): of the named norms only \"fro\" is implemented");
    if (!numpy && !value_is_tensor(slots[0]))
        return vm_raise(vm, STATUS_TYPE, "norm(): argument 'A' must be Tensor, not %s",
                        torch_type_name(slots[0]));
    enum outcome outcome = as_array(vm, slots[0], &array);
    if (outcome != OUTCOME_OK)
        return outcome;
    int ndim = lazy_layout(tensor_of(array)->lazy)->ndim;
    bool vector =
        !is_given(ord) || (is_given(slots[2]) ? value_is_integer(slots[2]) : ndim <= 1);
    if (vector) {
        struct value arguments[] = {array, is_given(ord) ? ord : value_int(2),
                                    is_given(slots[2]) ? slots[2] : value_none(),
                                    slots[3].tag == VALUE_ABSENT ? value_bool(false)
                                                                 : slots[3]};
        outcome = torch_apply(vm, OP_norm, numpy ? OP_NUMPY : 0, 4, arguments, result);
        if (outcome == OUTCOME_OK && tensor_of(*result)->grad_fn != NULL)
            tensor_of(*result)->grad_fn = "LinalgVectorNormBackward0";
    } else {
        outcome = vm_raise(vm, STATUS_NOT_IMPLEMENTED,
                           "norm(): orders of matrix norms are not implemented");
    }
    value_release(array);
    return outcome;
}

static enum outcome linalg_norm(struct vm *vm, struct value *slots, struct value *result)
{
    return norm(vm, slots, false, result);
}

static enum outcome numpy_norm(struct vm *vm, struct value *slots, struct value *result)
{
    return norm(vm, slots, true, result);
}

struct native torch_linalg_functions[] = {
    {.name = "norm", .signature = "A, ord=, dim=, keepdim=", .function = linalg_norm},
    {.name = "vector_norm",
     .signature = "x, ord=, dim=, keepdim=",
     .function = linalg_norm},
    {.name = NULL},
};
static struct native numpy_linalg_functions[] = {
    {.name = "norm", .signature = "x, ord=, axis=, keepdims=", .function = numpy_norm},
    {.name = NULL},
};

struct native numpy_functions[] = {
    {.name = "transpose", .signature = "a, axes=", .function = numpy_transpose},
    {.name = "dot", .signature = "a, b", .function = numpy_dot},
    {.name = "ravel", .signature = "a", .function = numpy_ravel},
    {.name = "vstack", .signature = "tup", .function = numpy_vstack},
    {.name = "hstack", .signature = "tup", .function = numpy_hstack},
    {.name = "array_equal", .signature = "a1, a2", .function = numpy_array_equal},
    {.name = "allclose",
     .signature = "a, b, rtol=, atol=, equal_nan=",
     .function = numpy_allclose},
    {.name = "isclose",
     .signature = "a, b, rtol=, atol=, equal_nan=",
     .function = torch_isclose},
    {.name = "count_nonzero", .signature = "a, axis=", .function = torch_count_nonzero},
    {.name = "round", .signature = "a, decimals=", .function = torch_round},
    {.name = "around", .signature = "a, decimals=", .function = torch_round},
    {.name = "iinfo", .signature = "type", .function = torch_iinfo},
    {.name = "finfo", .signature = "dtype", .function = torch_finfo},
    {.name = NULL},
};

// ---- Tables

// NumPy's name and the operation's; NULL: the same.
static const struct {
    const char *name, *op;
    bool method;
} ops[] = {
    {"zeros", NULL, false},
    {"ones", NULL, false},
    {"full", NULL, false},
    {"empty", "zeros", false},
    {"arange", NULL, false},
    {"linspace", NULL, false},
    {"eye", NULL, false},
    {"identity", "eye", false},
    {"zeros_like", NULL, false},
    {"ones_like", NULL, false},
    {"full_like", NULL, false},
    {"empty_like", "zeros_like", false},
    {"add", NULL, false},
    {"subtract", "sub", false},
    {"multiply", "mul", false},
    {"divide", "div", false},
    {"true_divide", "div", false},
    {"floor_divide", NULL, false},
    {"mod", "remainder", false},
    {"remainder", NULL, false},
    {"power", "pow", false},
    {"negative", "neg", false},
    {"absolute", "abs", false},
    {"abs", NULL, false},
    {"sign", NULL, false},
    {"square", NULL, false},
    {"reciprocal", NULL, false},
    {"exp", NULL, false},
    {"exp2", NULL, false},
    {"expm1", NULL, false},
    {"log", NULL, false},
    {"log1p", NULL, false},
    {"log2", NULL, false},
    {"log10", NULL, false},
    {"sqrt", NULL, false},
    {"sin", NULL, false},
    {"cos", NULL, false},
    {"tan", NULL, false},
    {"tanh", NULL, false},
    {"arctan", "atan", false},
    {"floor", NULL, false},
    {"ceil", NULL, false},
    {"trunc", NULL, false},
    {"rint", "round", false},
    {"minimum", NULL, false},
    {"maximum", NULL, false},
    {"where", NULL, false},
    {"clip", "clamp", true},
    {"equal", "eq", false},
    {"not_equal", "ne", false},
    {"less", "lt", false},
    {"less_equal", "le", false},
    {"greater", "gt", false},
    {"greater_equal", "ge", false},
    {"logical_and", NULL, false},
    {"logical_or", NULL, false},
    {"logical_xor", NULL, false},
    {"logical_not", NULL, false},
    {"bitwise_and", NULL, false},
    {"bitwise_or", NULL, false},
    {"bitwise_xor", NULL, false},
    {"invert", "bitwise_not", false},
    {"sum", NULL, true},
    {"prod", NULL, true},
    {"mean", NULL, true},
    {"std", NULL, true},
    {"var", NULL, true},
    {"min", NULL, true},
    {"max", NULL, true},
    {"amin", NULL, false},
    {"amax", NULL, false},
    {"argmin", NULL, true},
    {"argmax", NULL, true},
    {"all", NULL, true},
    {"any", NULL, true},
    {"matmul", NULL, false},
    {"outer", NULL, false},
    {"reshape", NULL, true},
    {"squeeze", NULL, true},
    {"expand_dims", "unsqueeze", false},
    {"swapaxes", "transpose", true},
    {"stack", NULL, false},
    {"concatenate", "cat", false},
    {"tile", NULL, false},
    {"tril", NULL, false},
    {"triu", NULL, false},
    {"copy", "clone", false},
};

static void add_ops(struct members *members, bool methods)
{
    for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++) {
        const char *name = ops[i].op != NULL ? ops[i].op : ops[i].name;
        enum op op;
        bool in_place;
        if ((!methods || ops[i].method) &&
            op_find(name, strlen(name), &op, &in_place, NULL))
            members_add(members, ops[i].name, value_op(op, OP_NUMPY), NULL);
    }
}

void numpy_fill_array(struct members *array)
{
    static const char *const shared[] = {"item", "tolist"};
    members_add_natives(array, array_methods);
    for (size_t i = 0; i < sizeof shared / sizeof shared[0]; i++)
        members_add(array, shared[i], value_native(native_in(tensor_methods, shared[i])),
                    NULL);
    add_ops(array, true);
}

static void add_dtype(struct members *members, const char *name, enum dtype dtype)
{
    struct value value = value_dtype(dtype);
    value.flags = DTYPE_SCALAR;
    members_add(members, name, value, NULL);
}

void numpy_fill_space(struct members *numpy, struct members *linalg)
{
    static const char *const tests[] = {"isnan", "isinf", "isfinite"};
    members_add_natives(numpy, numpy_functions);
    members_add_natives(numpy, numpy_create_functions);
    members_add_natives(linalg, numpy_linalg_functions);
    for (size_t i = 0; i < sizeof tests / sizeof tests[0]; i++)
        members_add(numpy, tests[i],
                    value_native(native_in(torch_compute_functions, tests[i])), NULL);
    add_ops(numpy, false);
    for (int dtype = 0; dtype < DTYPE_COUNT; dtype++)
        if (dtype != DTYPE_BFLOAT16 && dtype != DTYPE_BOOL)
            add_dtype(numpy, dtype_name((enum dtype)dtype), (enum dtype)dtype);
    add_dtype(numpy, "bool_", DTYPE_BOOL);
    members_add(numpy, "ndarray", value_type_of(TYPE_ndarray), NULL);
    members_add(numpy, "linalg", value_namespace(NAMESPACE_NUMPY_LINALG), NULL);
    members_add(numpy, "pi", value_float(M_PI), NULL);
    members_add(numpy, "e", value_float(M_E), NULL);
    members_add(numpy, "inf", value_float(INFINITY), NULL);
    members_add(numpy, "nan", value_float(NAN), NULL);
    members_add(numpy, "newaxis", value_none(), NULL);
}
