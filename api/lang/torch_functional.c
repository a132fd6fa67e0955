// SPDX-License-Identifier: Apache-2.0
// torch.nn.functional beyond the operations of the table: losses and a few activations,
// made of operations, all lazy. The program's thread.
#include "api/lang/torch.h"

static enum outcome need_tensors(struct vm *vm, const char *function,
                                 const struct value *slots, int n)
{
    for (int i = 0; i < n; i++)
        if (!value_is_tensor(slots[i]) || value_is_array(slots[i]))
            return vm_raise(vm, STATUS_TYPE, "%s(): argument %d must be Tensor, not %s",
                            function, i + 1, torch_type_name(slots[i]));
    return OUTCOME_OK;
}

static struct flavor flavor_of(struct vm *vm, const struct value *slots, int n,
                               const char *grad_fn)
{
    struct flavor flavor = {0};
    for (int i = 0; i < n; i++)
        flavor.requires_grad |= torch_wants_grad(vm, slots[i]);
    flavor.grad_fn = flavor.requires_grad ? grad_fn : NULL;
    return flavor;
}

// ---- reduction="mean", "sum", "none"

enum reduction { REDUCTION_MEAN, REDUCTION_SUM, REDUCTION_NONE };

static enum outcome read_reduction(struct vm *vm, struct value value, enum reduction *out)
{
    static const char *const names[] = {"mean", "sum", "none"};
    *out = REDUCTION_MEAN;
    if (value.tag == VALUE_ABSENT)
        return OUTCOME_OK;
    if (!value_is_object(value, OBJECT_STRING))
        return vm_raise(vm, STATUS_TYPE, "reduction must be str, not %s",
                        torch_type_name(value));
    for (int i = 0; i < 3; i++)
        if (strcmp(VALUE_AS(string, value)->text, names[i]) == 0) {
            *out = (enum reduction)i;
            return OUTCOME_OK;
        }
    return vm_raise(vm, STATUS_VALUE, "%.40s is not a valid value for reduction",
                    VALUE_AS(string, value)->text);
}

static struct lazy *reduce(struct pool *pool, struct lazy *loss, enum reduction reduction)
{
    if (reduction == REDUCTION_NONE)
        return loss;
    return pool_reduce(pool, reduction == REDUCTION_MEAN ? OP_mean : OP_sum, loss, 0,
                       NULL, false);
}

// ---- Losses

static enum outcome functional_mse_loss(struct vm *vm, struct value *slots,
                                        struct value *result)
{
    struct pool pool = {.vm = vm};
    enum reduction reduction;
    if (need_tensors(vm, "mse_loss", slots, 2) != OUTCOME_OK ||
        read_reduction(vm, slots[2], &reduction) != OUTCOME_OK)
        return OUTCOME_ERROR;
    struct lazy *difference =
        pool_two(&pool, OP_sub, tensor_of(slots[0])->lazy, tensor_of(slots[1])->lazy);
    struct lazy *loss = pool_two(&pool, OP_mul, difference, difference);
    return pool_end(&pool, reduce(&pool, loss, reduction),
                    flavor_of(vm, slots, 2, "MseLossBackward0"), result);
}

static enum outcome functional_l1_loss(struct vm *vm, struct value *slots,
                                       struct value *result)
{
    static const char *const grads[] = {"MeanBackward0", "SumBackward0", "AbsBackward0"};
    struct pool pool = {.vm = vm};
    enum reduction reduction;
    if (need_tensors(vm, "l1_loss", slots, 2) != OUTCOME_OK ||
        read_reduction(vm, slots[2], &reduction) != OUTCOME_OK)
        return OUTCOME_ERROR;
    struct lazy *loss = pool_one(
        &pool, OP_abs,
        pool_two(&pool, OP_sub, tensor_of(slots[0])->lazy, tensor_of(slots[1])->lazy));
    return pool_end(&pool, reduce(&pool, loss, reduction),
                    flavor_of(vm, slots, 2, grads[reduction]), result);
}

// target as [..., 1, ...]: a dimension where the classes stand in the input.
static struct lazy *with_class_dimension(struct pool *pool, struct lazy *target, int dim)
{
    struct lazy_argument arguments[OP_MAX_PARAMETERS] = {{.kind = ARGUMENT_NONE}};
    arguments[0].kind = ARGUMENT_TENSOR;
    arguments[0].tensor = target;
    arguments[1].kind = ARGUMENT_INT;
    arguments[1].integer = dim;
    return pool_call(pool, OP_unsqueeze, arguments);
}

// 0 .. n-1 along dimension `dim` of ndim.
static struct lazy *class_numbers(struct pool *pool, int64_t n, int dim, int ndim,
                                  struct device *device)
{
    const struct op_row *row = op_row(OP_arange);
    struct lazy_argument arguments[OP_MAX_PARAMETERS] = {{.kind = ARGUMENT_NONE}};
    arguments[0].kind = ARGUMENT_NUMBER;
    arguments[0].number = (struct scalar){.kind = SCALAR_INT, .i = n};
    struct lazy_argument *on = &arguments[parameter_index(row, "device")];
    on->kind = ARGUMENT_DEVICE;
    on->device = device;
    struct lazy *numbers = pool_call(pool, OP_arange, arguments);
    struct layout layout = {.ndim = ndim};
    for (int i = 0; i < ndim; i++)
        layout.shape[i] = i == dim ? n : 1;
    layout_contiguous(&layout);
    return pool_view(pool, numbers, &layout, 0);
}

static enum outcome check_classes(struct vm *vm, const struct lazy *input,
                                  const struct lazy *target)
{
    const struct layout *in = lazy_layout(input), *to = lazy_layout(target);
    if (lazy_dtype(target) != DTYPE_INT64)
        return vm_raise(vm, STATUS_DTYPE,
                        "expected scalar type Long but found %s: the target holds the "
                        "numbers of classes",
                        dtype_name(lazy_dtype(target)));
    bool fits = in->ndim >= 1 && to->ndim == in->ndim - 1;
    for (int i = 0, d = 0; fits && i < in->ndim; i++)
        if (i != (in->ndim > 1 ? 1 : 0))
            fits = to->shape[d++] == in->shape[i];
    if (fits)
        return OUTCOME_OK;
    char a[80], b[80];
    shape_text(in->ndim, in->shape, a, sizeof a);
    shape_text(to->ndim, to->shape, b, sizeof b);
    return vm_raise(vm, STATUS_SHAPE,
                    "Expected a class for each row: input has shape %s, target %s", a, b);
}

// -input[target]: there is no operation that gathers, so the class is found by comparing.
static struct lazy *pick_class(struct pool *pool, struct lazy *input, struct lazy *target,
                               int dim)
{
    const struct layout *layout = lazy_layout(input);
    int64_t dims[] = {dim};
    struct lazy_argument arguments[OP_MAX_PARAMETERS] = {{.kind = ARGUMENT_NONE}};
    struct lazy *numbers =
        class_numbers(pool, layout->shape[dim], dim, layout->ndim, lazy_device(input));
    struct lazy *mask =
        pool_two(pool, OP_eq, with_class_dimension(pool, target, dim), numbers);
    for (int i = 0; i < 3; i++)
        arguments[i].kind = ARGUMENT_TENSOR;
    arguments[0].tensor = mask;
    arguments[1].tensor = input;
    arguments[2].is_number = true;
    arguments[2].number = (struct scalar){.kind = SCALAR_FLOAT};
    pool->failed |= mask == NULL;
    struct lazy *picked =
        pool_reduce(pool, OP_sum, pool_call(pool, OP_where, arguments), 1, dims, false);
    return pool_one(pool, OP_neg, picked);
}

// Every class must exist: a comparison alone would not notice.
static enum outcome check_targets(struct vm *vm, struct lazy *target, int64_t classes)
{
    struct tensor *host;
    enum outcome outcome = vm_host(vm, target, &host);
    if (outcome != OUTCOME_OK)
        return outcome;
    if (vm_spend(vm, lazy_count(target)) != OUTCOME_OK)
        return OUTCOME_ERROR;
    const void *elements = torch_elements(host);
    for (int64_t i = 0; i < lazy_count(target); i++) {
        int64_t class = torch_element(elements, DTYPE_INT64, i).i;
        if (class < 0 || class >= classes)
            return vm_raise(vm, STATUS_INDEX, "Target %lld is out of bounds.",
                            (long long)class);
    }
    return OUTCOME_OK;
}

static enum outcome class_loss(struct vm *vm, struct value *slots, bool logits,
                               struct value *result)
{
    struct pool pool = {.vm = vm};
    enum reduction reduction;
    const char *name = logits ? "cross_entropy" : "nll_loss";
    if (need_tensors(vm, name, slots, 2) != OUTCOME_OK ||
        read_reduction(vm, slots[2], &reduction) != OUTCOME_OK)
        return OUTCOME_ERROR;
    struct lazy *input = tensor_of(slots[0])->lazy, *target = tensor_of(slots[1])->lazy;
    if (check_classes(vm, input, target) != OUTCOME_OK)
        return OUTCOME_ERROR;
    int64_t dim = lazy_layout(input)->ndim > 1 ? 1 : 0;
    enum outcome outcome = check_targets(vm, target, lazy_layout(input)->shape[dim]);
    if (outcome != OUTCOME_OK)
        return outcome;
    if (logits) {
        struct lazy_argument arguments[OP_MAX_PARAMETERS] = {{.kind = ARGUMENT_NONE}};
        arguments[0].kind = ARGUMENT_TENSOR;
        arguments[0].tensor = input;
        arguments[1].kind = ARGUMENT_INT;
        arguments[1].integer = dim;
        input = pool_call(&pool, OP_log_softmax, arguments);
    }
    struct lazy *loss = input == NULL ? NULL : pick_class(&pool, input, target, (int)dim);
    return pool_end(&pool, reduce(&pool, loss, reduction),
                    flavor_of(vm, slots, 1, "NllLossBackward0"), result);
}

static enum outcome functional_cross_entropy(struct vm *vm, struct value *slots,
                                             struct value *result)
{
    return class_loss(vm, slots, true, result);
}

static enum outcome functional_nll_loss(struct vm *vm, struct value *slots,
                                        struct value *result)
{
    return class_loss(vm, slots, false, result);
}

// -(target * log(input) + (1 - target) * log(1 - input)), logarithms at least -100.
static enum outcome functional_binary_cross_entropy(struct vm *vm, struct value *slots,
                                                    struct value *result)
{
    struct pool pool = {.vm = vm};
    enum reduction reduction;
    if (need_tensors(vm, "binary_cross_entropy", slots, 2) != OUTCOME_OK ||
        read_reduction(vm, slots[2], &reduction) != OUTCOME_OK)
        return OUTCOME_ERROR;
    struct lazy *p = tensor_of(slots[0])->lazy, *y = tensor_of(slots[1])->lazy;
    struct lazy *q = pool_number(&pool, OP_add, pool_one(&pool, OP_neg, p), 1);
    struct lazy *z = pool_number(&pool, OP_add, pool_one(&pool, OP_neg, y), 1);
    struct lazy *floor = pool_cast(&pool, p, lazy_dtype(p), NULL);
    floor = pool_number(&pool, OP_sub, pool_number(&pool, OP_mul, floor, 0), 100);
    struct lazy *log_p = pool_two(&pool, OP_maximum, pool_one(&pool, OP_log, p), floor);
    struct lazy *log_q = pool_two(&pool, OP_maximum, pool_one(&pool, OP_log, q), floor);
    struct lazy *loss = pool_two(&pool, OP_add, pool_two(&pool, OP_mul, y, log_p),
                                 pool_two(&pool, OP_mul, z, log_q));
    loss = pool_one(&pool, OP_neg, loss);
    return pool_end(&pool, reduce(&pool, loss, reduction),
                    flavor_of(vm, slots, 1, "BinaryCrossEntropyBackward0"), result);
}

// ---- Activations

// max(x, 0) + slope * min(x, 0)
static enum outcome functional_leaky_relu(struct vm *vm, struct value *slots,
                                          struct value *result)
{
    struct pool pool = {.vm = vm};
    struct scalar slope = {.kind = SCALAR_FLOAT, .f = 0.01};
    if (need_tensors(vm, "leaky_relu", slots, 1) != OUTCOME_OK)
        return OUTCOME_ERROR;
    enum outcome outcome = slots[1].tag == VALUE_ABSENT
                               ? OUTCOME_OK
                               : torch_number(vm, slots[1], "negative_slope", &slope);
    if (outcome != OUTCOME_OK)
        return outcome;
    struct lazy *x = tensor_of(slots[0])->lazy;
    struct lazy_argument arguments[OP_MAX_PARAMETERS] = {{.kind = ARGUMENT_NONE}};
    for (int i = 0; i < 3; i++)
        arguments[i].kind = ARGUMENT_TENSOR;
    arguments[0].tensor =
        pool_scalar(&pool, OP_gt, x, (struct scalar){.kind = SCALAR_INT});
    arguments[1].tensor = x;
    arguments[2].tensor = pool_scalar(&pool, OP_mul, x, slope);
    return pool_end(&pool, pool_call(&pool, OP_where, arguments),
                    flavor_of(vm, slots, 1, "LeakyReluBackward0"), result);
}

static enum outcome functional_silu(struct vm *vm, struct value *slots,
                                    struct value *result)
{
    struct pool pool = {.vm = vm};
    if (need_tensors(vm, "silu", slots, 1) != OUTCOME_OK)
        return OUTCOME_ERROR;
    struct lazy *x = tensor_of(slots[0])->lazy;
    return pool_end(&pool, pool_two(&pool, OP_mul, x, pool_one(&pool, OP_sigmoid, x)),
                    flavor_of(vm, slots, 1, "SiluBackward0"), result);
}

// The number of classes, or one more than the largest label, which is looked at.
static enum outcome functional_one_hot(struct vm *vm, struct value *slots,
                                       struct value *result)
{
    struct pool pool = {.vm = vm};
    int64_t classes = -1;
    enum outcome outcome = need_tensors(vm, "one_hot", slots, 1);
    if (outcome == OUTCOME_OK && slots[1].tag != VALUE_ABSENT)
        outcome = value_to_index(vm, slots[1], &classes);
    if (outcome != OUTCOME_OK)
        return outcome;
    struct lazy *labels = tensor_of(slots[0])->lazy;
    const struct layout *layout = lazy_layout(labels);
    if (lazy_dtype(labels) != DTYPE_INT64)
        return vm_raise(vm, STATUS_DTYPE, "one_hot is only applicable to index tensor.");
    struct tensor *host;
    if ((outcome = vm_host(vm, labels, &host)) != OUTCOME_OK)
        return outcome;
    if (vm_spend(vm, lazy_count(labels)) != OUTCOME_OK)
        return OUTCOME_ERROR;
    const void *elements = torch_elements(host);
    int64_t most = -1;
    for (int64_t i = 0; i < lazy_count(labels); i++) {
        int64_t label = torch_element(elements, DTYPE_INT64, i).i;
        if (label < 0 || (classes >= 0 && label >= classes))
            return vm_raise(vm, STATUS_VALUE,
                            "Class values must be non-negative and "
                            "smaller than num_classes.");
        most = label > most ? label : most;
    }
    if (layout->ndim == TENSOR_MAX_NDIM || most == INT64_MAX)
        return vm_raise(vm, STATUS_LIMIT, "one_hot(): too many dimensions or classes");
    if (classes < 0)
        classes = most + 1;
    struct lazy *numbers = class_numbers(&pool, classes, layout->ndim, layout->ndim + 1,
                                         lazy_device(labels));
    struct lazy *mask =
        pool_two(&pool, OP_eq, with_class_dimension(&pool, labels, -1), numbers);
    return pool_end(&pool, pool_cast(&pool, mask, DTYPE_INT64, NULL), (struct flavor){0},
                    result);
}

struct native functional_functions[] = {
    {.name = "mse_loss",
     .signature = "input, target, reduction=",
     .function = functional_mse_loss},
    {.name = "l1_loss",
     .signature = "input, target, reduction=",
     .function = functional_l1_loss},
    {.name = "cross_entropy",
     .signature = "input, target, *, reduction=",
     .function = functional_cross_entropy},
    {.name = "nll_loss",
     .signature = "input, target, *, reduction=",
     .function = functional_nll_loss},
    {.name = "binary_cross_entropy",
     .signature = "input, target, *, reduction=",
     .function = functional_binary_cross_entropy},
    {.name = "leaky_relu",
     .signature = "input, negative_slope=, inplace=",
     .function = functional_leaky_relu},
    {.name = "silu", .signature = "input, inplace=", .function = functional_silu},
    {.name = "one_hot",
     .signature = "tensor, num_classes=",
     .function = functional_one_hot},
    {.name = NULL},
};
