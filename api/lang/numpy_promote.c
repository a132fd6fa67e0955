// SPDX-License-Identifier: Apache-2.0
// The dtype NumPy computes in (1.24, value-based casting as far as it depends on kinds):
// int64 with float32 is float64, an array of integers with a Python float is float64,
// functions of integers are float64. Arguments are converted before the operation sees
// them, so that its own rules leave them alone. The program's thread.
#include "api/lang/torch.h"

enum dtype numpy_default(struct scalar number)
{
    return number.kind == SCALAR_FLOAT ? DTYPE_FLOAT64
           : number.kind == SCALAR_INT ? DTYPE_INT64
                                       : DTYPE_BOOL;
}

enum dtype numpy_promote_types(enum dtype a, enum dtype b)
{
    if (dtype_is_float(a) == dtype_is_float(b) || a == DTYPE_BOOL || b == DTYPE_BOOL)
        return dtype_promote(a, b);
    enum dtype real = dtype_is_float(a) ? a : b, integer = dtype_is_float(a) ? b : a;
    int bytes = dtype_size(integer);
    if (bytes == 1 || (bytes == 2 && real == DTYPE_FLOAT32))
        return real;
    return bytes == 2 && real == DTYPE_FLOAT16 ? DTYPE_FLOAT32 : DTYPE_FLOAT64;
}

enum dtype numpy_floating(enum dtype dtype)
{
    if (dtype_is_float(dtype))
        return dtype;
    int bytes = dtype_size(dtype);
    return bytes == 1 ? DTYPE_FLOAT16 : bytes == 2 ? DTYPE_FLOAT32 : DTYPE_FLOAT64;
}

// ---- The common dtype

struct census {
    int arrays, scalars; // dtypes; -1: none
};

static void see(int *dtype, enum dtype other)
{
    *dtype =
        *dtype < 0 ? (int)other : (int)numpy_promote_types((enum dtype) * dtype, other);
}

static void see_argument(struct census *census, const struct lazy_argument *argument)
{
    if (argument->kind != ARGUMENT_TENSOR)
        return;
    if (argument->is_number)
        see(&census->scalars, numpy_default(argument->number));
    else
        see(lazy_layout(argument->tensor)->ndim > 0 ? &census->arrays : &census->scalars,
            lazy_dtype(argument->tensor));
}

// Scalars count only by a higher kind (bool < integer < float) than that of the arrays.
static enum dtype common(const struct census *census)
{
    enum dtype scalars = (enum dtype)census->scalars, arrays = (enum dtype)census->arrays;
    if (census->arrays < 0 || census->scalars < 0)
        return census->arrays < 0 ? scalars : arrays;
    return dtype_category(scalars) > dtype_category(arrays)
               ? numpy_promote_types(arrays, scalars)
               : arrays;
}

// ---- Conversions

static enum outcome convert(struct call *call, struct lazy_argument *argument,
                            enum dtype dtype)
{
    struct pool pool = {.vm = call->vm};
    if (argument->kind != ARGUMENT_TENSOR || argument->is_number ||
        lazy_dtype(argument->tensor) == dtype)
        return OUTCOME_OK;
    struct lazy *lazy = pool_cast(&pool, argument->tensor, dtype, NULL);
    bool kept = lazy != NULL && call_keep(call, lazy_reference(lazy));
    if (kept)
        argument->tensor = lazy;
    pool_release(&pool);
    return kept ? OUTCOME_OK : OUTCOME_ERROR;
}

// np.exp(1.0): a number alone becomes an array without dimensions.
static enum outcome make_array(struct call *call, struct lazy_argument *argument)
{
    struct lazy *lazy;
    struct layout layout = {.ndim = 0};
    enum dtype dtype = numpy_default(argument->number);
    union element element = scalar_to_element(argument->number, dtype, NULL);
    if (cells_literal(vm_cells(call->vm), dtype, &layout, &element, &lazy,
                      vm_problem(call->vm)) != STATUS_OK ||
        !call_keep(call, lazy))
        return OUTCOME_ERROR;
    argument->is_number = false;
    argument->tensor = lazy;
    return OUTCOME_OK;
}

static bool is_named(const struct call *call, const char *const *list)
{
    for (; *list != NULL; list++)
        if (strcmp(call->row->name, *list) == 0)
            return true;
    return false;
}

// What an operation computes in, when its operands have `dtype` in common.
static enum dtype computation(const struct call *call, enum dtype dtype)
{
    static const char *const wide[] = {"div", "mean", "std", "var", NULL};
    static const char *const floating[] = {"floor", "ceil", "trunc", "norm", NULL};
    if (is_named(call, wide) && !dtype_is_float(dtype))
        return DTYPE_FLOAT64;
    if (call->row->rule == RULE_FLOATING || is_named(call, floating))
        return numpy_floating(dtype);
    return dtype;
}

static enum outcome promote_operands(struct call *call)
{
    struct census census = {-1, -1};
    int first = call->row->rule == RULE_SELECT ? 1 : 0, tensors = 0;
    for (int i = 0; i < call->row->n_parameters; i++)
        tensors +=
            call->arguments[i].kind == ARGUMENT_TENSOR && !call->arguments[i].is_number;
    if (tensors == 0 && call->arguments[0].kind == ARGUMENT_TENSOR &&
        make_array(call, &call->arguments[0]) != OUTCOME_OK)
        return OUTCOME_ERROR;
    for (int i = first; i < call->row->n_parameters; i++)
        see_argument(&census, &call->arguments[i]);
    if (census.arrays < 0 && census.scalars < 0)
        return OUTCOME_OK;
    enum dtype dtype = computation(call, common(&census));
    // A Python float that meets integers only must not make them float32.
    for (int i = first; i < call->row->n_parameters; i++)
        if (convert(call, &call->arguments[i], dtype) != OUTCOME_OK)
            return OUTCOME_ERROR;
    return OUTCOME_OK;
}

static enum outcome promote_items(struct call *call)
{
    int common_dtype = -1;
    for (int i = 0; i < call->n_items; i++)
        see(&common_dtype, lazy_dtype(call->items[i]));
    for (int i = 0; i < call->n_items; i++) {
        struct pool pool = {.vm = call->vm};
        struct lazy *lazy =
            pool_cast(&pool, call->items[i], (enum dtype)common_dtype, NULL);
        if (lazy == NULL)
            return OUTCOME_ERROR;
        lazy_reference(lazy);
        lazy_release(call->items[i]);
        call->items[i] = lazy;
        pool_release(&pool);
    }
    return OUTCOME_OK;
}

enum outcome numpy_promote(struct call *call)
{
    if (call->items != NULL)
        return promote_items(call);
    // In place the array's own dtype decides; views and logic take what there is.
    if (call->in_place || call->row->form == FORM_VIEW || call->row->rule == RULE_LOGICAL)
        return OUTCOME_OK;
    static const char *const spread[] = {"std", "var", "norm", NULL};
    if (call->row->rule == RULE_PROMOTE || call->row->rule == RULE_FLOATING ||
        call->row->rule == RULE_COMPARE || call->row->rule == RULE_SELECT ||
        is_named(call, spread))
        return promote_operands(call);
    return OUTCOME_OK;
}
