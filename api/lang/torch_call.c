// SPDX-License-Identifier: Apache-2.0
// A call of an operation: its arguments bound, computed lazily, its results as values.
// The program's thread.
#include "api/lang/torch.h"

static bool writes(const struct call *call)
{
    const char *name = call->row->name;
    return call->in_place || name[strlen(name) - 1] == '_';
}

// Whether the elements of the result depend on those of the arguments, so that a gradient
// would pass.
static bool passes_grad(const struct call *call)
{
    const char *name = call->row->name;
    size_t length = strlen(name);
    return !(length > 5 && strcmp(name + length - 5, "_like") == 0);
}

static struct flavor flavor_of(const struct call *call, int i, enum dtype dtype)
{
    struct flavor flavor = {.is_array = call->numpy};
    flavor.is_scalar = call->numpy && call->row->form != FORM_VIEW &&
                       parameter_index(call->row, "size") < 0;
    if (!call->wants_grad || i > 0 || !dtype_is_float(dtype) || !passes_grad(call))
        return flavor;
    flavor.requires_grad = true;
    flavor.grad_fn = torch_call_grad(call);
    flavor.is_leaf_view = call->leaf_view && call->row->form == FORM_VIEW;
    return flavor;
}

// requires_grad=True of a creation function.
static enum outcome require_grad(struct call *call, struct value result)
{
    struct tensor_object *object = tensor_of(result);
    if (call->requires_grad.tag == VALUE_ABSENT || call->requires_grad.tag == VALUE_NONE)
        return OUTCOME_OK;
    if (!value_is_integer(call->requires_grad))
        return vm_raise(call->vm, STATUS_TYPE,
                        "%s(): argument 'requires_grad' must be bool, not %s",
                        call->row->name, torch_type_name(call->requires_grad));
    if (call->requires_grad.i == 0)
        return OUTCOME_OK;
    if (!dtype_is_float(lazy_dtype(object->lazy)))
        return vm_raise(call->vm, STATUS_DTYPE,
                        "Only Tensors of floating point and complex dtype can require "
                        "gradients");
    object->requires_grad = true;
    object->grad_fn = NULL;
    return OUTCOME_OK;
}

// torch.return_types.max(values=..., indices=...)
static enum outcome wrap_two(struct call *call, struct lazy **lazies,
                             struct value *result)
{
    static const char *const fields[] = {"values", "indices"};
    struct value items[2];
    enum outcome outcome = torch_wrap(
        call->vm, lazies[0], flavor_of(call, 0, lazy_dtype(lazies[0])), &items[0]);
    if (outcome != OUTCOME_OK) {
        lazy_release(lazies[1]);
        return outcome;
    }
    outcome = torch_wrap(call->vm, lazies[1], flavor_of(call, 1, DTYPE_INT64), &items[1]);
    if (outcome != OUTCOME_OK) {
        value_release(items[0]);
        return outcome;
    }
    outcome = torch_tuple(call->vm, 2, items, result);
    if (outcome != OUTCOME_OK)
        return outcome;
    VALUE_AS(tuple, *result)->fields = fields;
    VALUE_AS(tuple, *result)->type_text = strcmp(call->row->name, "max") == 0
                                              ? "torch.return_types.max"
                                              : "torch.return_types.min";
    return OUTCOME_OK;
}

// A call that writes gives the tensor it wrote.
static enum outcome wrap_written(struct call *call, struct lazy *lazy,
                                 struct value *result)
{
    lazy_release(lazy);
    if (call->wants_grad)
        torch_note_write(call->self, torch_call_grad(call));
    *result = value_reference(call->self);
    return OUTCOME_OK;
}

static enum outcome compute(struct call *call, struct value *result)
{
    struct lazy *results[OP_MAX_RESULTS];
    int n_results = 0;
    bool write = writes(call);
    if (write && (!value_is_tensor(call->self) ||
                  torch_check_write(call->vm, call->self) != OUTCOME_OK))
        return value_is_tensor(call->self)
                   ? OUTCOME_ERROR
                   : vm_raise(call->vm, STATUS_TYPE,
                              "%s(): argument 'input' must be "
                              "Tensor, not %s",
                              call->row->name, torch_type_name(call->self));
    if (lazy_op(vm_cells(call->vm), call->op, call->in_place, call->arguments, results,
                &n_results, vm_problem(call->vm)) != STATUS_OK)
        return OUTCOME_ERROR;
    if (write)
        return wrap_written(call, results[0], result);
    if (n_results == 2)
        return wrap_two(call, results, result);
    if (value_is_tensor(call->self) && results[0] == tensor_of(call->self)->lazy &&
        call->op == OP_contiguous) {
        lazy_release(results[0]);
        *result = value_reference(call->self);
        return OUTCOME_OK;
    }
    enum outcome outcome = torch_wrap(call->vm, results[0],
                                      flavor_of(call, 0, lazy_dtype(results[0])), result);
    if (outcome == OUTCOME_OK && (outcome = require_grad(call, *result)) != OUTCOME_OK)
        value_release(*result);
    return outcome;
}

static enum outcome run(struct call *call, struct value *result)
{
    call->self = call->row->n_parameters > 0 ? call->given[0]
                                             : (struct value){.tag = VALUE_ABSENT};
    enum outcome outcome = call_convert(call);
    if (outcome == OUTCOME_OK && call->numpy)
        outcome = numpy_promote(call);
    if (outcome == OUTCOME_OK)
        outcome = compute(call, result);
    call_end(call);
    return outcome;
}

enum outcome torch_call_op(struct vm *vm, struct value op, int n, int n_keywords,
                           const struct value *arguments, struct string *const *keywords,
                           struct value *result)
{
    torch_prepare();
    struct call call;
    call.vm = vm;
    call.op = (enum op)op.i;
    call.row = op_row(call.op);
    call.in_place = (op.flags & OP_IN_PLACE) != 0;
    call.numpy = (op.flags & OP_NUMPY) != 0;
    enum outcome outcome = call_overload(&call, n, n_keywords, arguments, keywords);
    return outcome == OUTCOME_OK ? run(&call, result) : outcome;
}

enum outcome torch_apply(struct vm *vm, enum op op, uint32_t flags, int n,
                         const struct value *arguments, struct value *result)
{
    return torch_call_op(vm, value_op(op, flags), n, 0, arguments, NULL, result);
}
