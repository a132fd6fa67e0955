// SPDX-License-Identifier: Apache-2.0
// Functions of torch that are no operation: questions, seeds, gradients on and off,
// joins. The program's thread.
#include "api/lang/torch.h"
#include "api/lang/vm.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <sys/random.h>

static enum outcome not_tensor(struct vm *vm, const char *function, struct value value)
{
    return vm_raise(vm, STATUS_TYPE, "%s(): argument 'input' must be Tensor, not %s",
                    function, torch_type_name(value));
}

static bool is_true_tensor(struct value value)
{
    return value_is_tensor(value) && !value_is_array(value);
}

// ---- Questions

static enum outcome function_is_tensor(struct vm *vm, struct value *slots,
                                       struct value *result)
{
    *result = value_bool(is_true_tensor(slots[0]));
    return OUTCOME_OK;
}

static enum outcome function_is_floating_point(struct vm *vm, struct value *slots,
                                               struct value *result)
{
    if (!is_true_tensor(slots[0]))
        return not_tensor(vm, "is_floating_point", slots[0]);
    *result = value_bool(dtype_is_float(lazy_dtype(tensor_of(slots[0])->lazy)));
    return OUTCOME_OK;
}

static enum outcome function_numel(struct vm *vm, struct value *slots,
                                   struct value *result)
{
    if (!is_true_tensor(slots[0]))
        return not_tensor(vm, "numel", slots[0]);
    *result = value_int(lazy_count(tensor_of(slots[0])->lazy));
    return OUTCOME_OK;
}

static enum outcome function_get_default_dtype(struct vm *vm, struct value *slots,
                                               struct value *result)
{
    *result = value_dtype(DTYPE_FLOAT32);
    return OUTCOME_OK;
}

static enum outcome function_promote_types(struct vm *vm, struct value *slots,
                                           struct value *result)
{
    enum dtype a, b;
    if (torch_dtype_of(vm, slots[0], false, &a) != OUTCOME_OK ||
        torch_dtype_of(vm, slots[1], false, &b) != OUTCOME_OK)
        return OUTCOME_ERROR;
    *result = value_dtype(dtype_promote(a, b));
    return OUTCOME_OK;
}

// ---- Limits of dtypes

static struct value limit_of(enum dtype dtype, int sign)
{
    static const int64_t least[] = {[DTYPE_INT8] = INT8_MIN,
                                    [DTYPE_INT16] = INT16_MIN,
                                    [DTYPE_INT32] = INT32_MIN,
                                    [DTYPE_INT64] = INT64_MIN};
    static const int64_t most[] = {[DTYPE_UINT8] = UINT8_MAX,
                                   [DTYPE_INT8] = INT8_MAX,
                                   [DTYPE_INT16] = INT16_MAX,
                                   [DTYPE_INT32] = INT32_MAX,
                                   [DTYPE_INT64] = INT64_MAX};
    return value_int(sign < 0 ? least[dtype] : most[dtype]);
}

static enum outcome read_dtype(struct vm *vm, struct value value, enum dtype absent,
                               enum dtype *out)
{
    *out = absent;
    return value.tag == VALUE_ABSENT ? OUTCOME_OK : torch_dtype_of(vm, value, true, out);
}

enum outcome torch_iinfo(struct vm *vm, struct value *slots, struct value *result)
{
    static const char *const fields[] = {"min", "max", "bits", "dtype"};
    enum dtype dtype;
    if (read_dtype(vm, slots[0], DTYPE_INT64, &dtype) != OUTCOME_OK)
        return OUTCOME_ERROR;
    if (dtype_category(dtype) != CATEGORY_INTEGER)
        return vm_raise(vm, STATUS_TYPE, "iinfo() is for integers, not %s; use finfo()",
                        dtype_name(dtype));
    struct value items[] = {limit_of(dtype, -1), limit_of(dtype, 1),
                            value_int(8 * dtype_size(dtype)), value_none()};
    enum outcome outcome = torch_text(vm, dtype_name(dtype), &items[3]);
    return outcome == OUTCOME_OK ? torch_record(vm, "iinfo", 4, fields, items, result)
                                 : outcome;
}

enum outcome torch_finfo(struct vm *vm, struct value *slots, struct value *result)
{
    static const char *const fields[] = {"resolution",      "min",  "max",  "eps",
                                         "smallest_normal", "tiny", "bits", "dtype"};
    static const struct {
        double resolution, max, eps, tiny;
    } facts[DTYPE_COUNT] = {
        [DTYPE_FLOAT16] = {1e-3, 65504, 0x1p-10, 0x1p-14},
        [DTYPE_BFLOAT16] = {1e-2, 0x1.FEp127, 0x1p-7, 0x1p-126},
        [DTYPE_FLOAT32] = {1e-6, FLT_MAX, FLT_EPSILON, FLT_MIN},
        [DTYPE_FLOAT64] = {1e-15, DBL_MAX, DBL_EPSILON, DBL_MIN},
    };
    enum dtype dtype;
    if (read_dtype(vm, slots[0], DTYPE_FLOAT32, &dtype) != OUTCOME_OK)
        return OUTCOME_ERROR;
    if (!dtype_is_float(dtype))
        return vm_raise(vm, STATUS_TYPE, "finfo() is for floats, not %s; use iinfo()",
                        dtype_name(dtype));
    struct value items[] = {
        value_float(facts[dtype].resolution), value_float(-facts[dtype].max),
        value_float(facts[dtype].max),        value_float(facts[dtype].eps),
        value_float(facts[dtype].tiny),       value_float(facts[dtype].tiny),
        value_int(8 * dtype_size(dtype)),     value_none()};
    enum outcome outcome = torch_text(vm, dtype_name(dtype), &items[7]);
    return outcome == OUTCOME_OK ? torch_record(vm, "finfo", 8, fields, items, result)
                                 : outcome;
}

// ---- Seeds

static enum outcome function_manual_seed(struct vm *vm, struct value *slots,
                                         struct value *result)
{
    *result = value_none();
    return torch_manual_seed(vm, -1, slots[0]);
}

static struct value seed_value(uint64_t seed)
{
    return (struct value){.tag = seed >> 63 ? VALUE_WIDE : VALUE_INT, .i = (int64_t)seed};
}

static enum outcome function_seed(struct vm *vm, struct value *slots,
                                  struct value *result)
{
    uint64_t seed;
    if (getrandom(&seed, sizeof seed, 0) != (ssize_t)sizeof seed)
        return vm_raise(vm, STATUS_DEVICE_FAULT, "The system has no random bytes.");
    *result = seed_value(seed);
    return torch_manual_seed(vm, -1, *result);
}

static enum outcome function_initial_seed(struct vm *vm, struct value *slots,
                                          struct value *result)
{
    *result = seed_value(cells_initial_seed(vm_cells(vm), 0));
    return OUTCOME_OK;
}

// ---- Gradients on and off

static enum outcome grad_mode(struct vm *vm, const char *type_text, bool mode,
                              struct value *result)
{
    static const char *const fields[] = {"mode", "prev"};
    struct value items[] = {value_bool(mode), value_bool(vm_grad_enabled(vm))};
    return torch_record(vm, type_text, 2, fields, items, result);
}

// no_grad() and inference_mode() are made by their types; these have none.
static enum outcome function_enable_grad(struct vm *vm, struct value *slots,
                                         struct value *result)
{
    return grad_mode(vm, "torch.autograd.grad_mode.enable_grad", true, result);
}

static enum outcome function_set_grad_enabled(struct vm *vm, struct value *slots,
                                              struct value *result)
{
    if (!value_is_integer(slots[0]))
        return vm_raise(vm, STATUS_TYPE, "set_grad_enabled() takes a bool, not %s",
                        torch_type_name(slots[0]));
    enum outcome outcome = grad_mode(vm, "torch.autograd.grad_mode.set_grad_enabled",
                                     slots[0].i != 0, result);
    if (outcome == OUTCOME_OK)
        vm_set_grad(vm, slots[0].i != 0);
    return outcome;
}

static enum outcome function_is_grad_enabled(struct vm *vm, struct value *slots,
                                             struct value *result)
{
    *result = value_bool(vm_grad_enabled(vm));
    return OUTCOME_OK;
}

// ---- Joins along the first or second dimension

static enum outcome join(struct vm *vm, struct value *slots, bool vertical, bool numpy,
                         struct value *result)
{
    const struct value *items;
    int64_t count;
    if (!sequence_items(slots[0], &items, &count) || count == 0)
        return vm_raise(vm, STATUS_TYPE, "the tensors to join must be a list or tuple");
    for (int64_t i = 0; i < count; i++)
        if (!value_is_tensor(items[i]))
            return vm_raise(vm, STATUS_TYPE,
                            "expected Tensor as element %lld, but got %s", (long long)i,
                            torch_type_name(items[i]));
    bool vectors = lazy_layout(tensor_of(items[0])->lazy)->ndim <= 1;
    bool numbers = lazy_layout(tensor_of(items[0])->lazy)->ndim == 0;
    enum op op = (vertical ? vectors : numbers) ? OP_stack : OP_cat;
    struct value arguments[] = {slots[0], value_int(vertical || vectors ? 0 : 1)};
    return torch_apply(vm, op, numpy ? OP_NUMPY : 0, 2, arguments, result);
}

static enum outcome function_vstack(struct vm *vm, struct value *slots,
                                    struct value *result)
{
    return join(vm, slots, true, false, result);
}

static enum outcome function_hstack(struct vm *vm, struct value *slots,
                                    struct value *result)
{
    return join(vm, slots, false, false, result);
}

enum outcome numpy_vstack(struct vm *vm, struct value *slots, struct value *result)
{
    return join(vm, slots, true, true, result);
}

enum outcome numpy_hstack(struct vm *vm, struct value *slots, struct value *result)
{
    return join(vm, slots, false, true, result);
}

// ---- rsub(x, other) is other - x.

static enum outcome function_rsub(struct vm *vm, struct value *slots,
                                  struct value *result)
{
    if (!is_true_tensor(slots[0]))
        return not_tensor(vm, "rsub", slots[0]);
    return torch_binary(vm, BINARY_SUB, false, slots[1], slots[0], result);
}

// round(x, decimals=n): torch scales, rounds, scales back.
enum outcome torch_round(struct vm *vm, struct value *slots, struct value *result)
{
    struct pool pool = {.vm = vm};
    int64_t decimals = 0;
    if (!value_is_tensor(slots[0]))
        return not_tensor(vm, "round", slots[0]);
    bool array = value_is_array(slots[0]);
    enum outcome outcome = slots[1].tag == VALUE_ABSENT
                               ? OUTCOME_OK
                               : value_to_index(vm, slots[1], &decimals);
    if (outcome != OUTCOME_OK)
        return outcome;
    struct lazy *lazy = tensor_of(slots[0])->lazy;
    if (decimals == 0 || !dtype_is_float(lazy_dtype(lazy)))
        return torch_apply(vm, OP_round, array ? OP_NUMPY : 0, 1, slots, result);
    if (decimals < -300 || decimals > 300)
        return vm_raise(vm, STATUS_VALUE, "round(): decimals must be from -300 to 300");
    double scale = pow(10, (double)llabs(decimals));
    enum op up = decimals > 0 ? OP_mul : OP_div, down = decimals > 0 ? OP_div : OP_mul;
    lazy = pool_one(&pool, OP_round, pool_number(&pool, up, lazy, scale));
    struct flavor flavor = {.is_array = array, .is_scalar = true};
    if (torch_wants_grad(vm, slots[0])) {
        flavor.requires_grad = true;
        flavor.grad_fn = "RoundBackward1";
    }
    return pool_end(&pool, pool_number(&pool, down, lazy, scale), flavor, result);
}

struct native torch_functions[] = {
    {.name = "is_tensor", .signature = "obj", .function = function_is_tensor},
    {.name = "is_floating_point",
     .signature = "input",
     .function = function_is_floating_point},
    {.name = "numel", .signature = "input", .function = function_numel},
    {.name = "get_default_dtype",
     .signature = "",
     .function = function_get_default_dtype},
    {.name = "promote_types",
     .signature = "type1, type2",
     .function = function_promote_types},
    {.name = "iinfo", .signature = "type=", .function = torch_iinfo},
    {.name = "finfo", .signature = "type=", .function = torch_finfo},
    {.name = "manual_seed", .signature = "seed", .function = function_manual_seed},
    {.name = "seed", .signature = "", .function = function_seed},
    {.name = "initial_seed", .signature = "", .function = function_initial_seed},
    {.name = "enable_grad", .signature = "", .function = function_enable_grad},
    {.name = "set_grad_enabled",
     .signature = "mode",
     .function = function_set_grad_enabled},
    {.name = "is_grad_enabled", .signature = "", .function = function_is_grad_enabled},
    {.name = "vstack", .signature = "tensors", .function = function_vstack},
    {.name = "hstack", .signature = "tensors", .function = function_hstack},
    {.name = "rsub", .signature = "input, other", .function = function_rsub},
    {.name = "equal", .signature = "input, other", .function = torch_equal},
    {.name = "allclose",
     .signature = "input, other, rtol=, atol=, equal_nan=",
     .function = torch_allclose},
    {.name = "isclose",
     .signature = "input, other, rtol=, atol=, equal_nan=",
     .function = torch_isclose},
    {.name = "nonzero", .signature = "input", .function = torch_nonzero},
    {.name = "count_nonzero",
     .signature = "input, dim=",
     .function = torch_count_nonzero},
    {.name = "round", .signature = "input, *, decimals=", .function = torch_round},
    {.name = NULL},
};

// The ones of these that are methods too.
const char *const torch_shared_methods[] = {
    "equal", "allclose", "isclose", "nonzero", "count_nonzero", "round", NULL};
