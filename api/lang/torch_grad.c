// SPDX-License-Identifier: Apache-2.0
// requires_grad: what a result inherits, what may not be written, and the names that
// torch prints as grad_fn. Nothing is recorded for a backward pass. The program's thread.
#include "api/lang/torch.h"

// The names that are not the operation's own in capitals ("exp" -> ExpBackward0).
static const struct {
    const char *op, *name;
} irregular[] = {
    {"floor_divide", "NotImplemented"},
    {"expand", "ExpandBackward0"},
    {"reshape", "ReshapeAliasBackward0"},
    {"view", "ViewBackward0"},
    {"flatten", "ReshapeAliasBackward0"},
    {"slice", "SliceBackward0"},
    {"to", "ToCopyBackward0"},
    {"copy_", "CopyBackwards"},
    {"fill_", "FillBackward2"},
    {"zero_", "ZeroBackward0"},
    {"amax", "AmaxBackward0"},
    {"amin", "AminBackward0"},
    {"max", "MaxBackward1"},
    {"min", "MinBackward1"},
    {"linear", "AddmmBackward0"},
    {"matmul", "MmBackward0"},
    {"t", "TBackward0"},
    {"log_softmax", "LogSoftmaxBackward0"},
    {"norm", "NormBackward1"},
    {"log1p", "Log1PBackward0"},
    {"clamp", "ClampBackward1"},
    {"uniform_", "UniformBackward0"},
    {"normal_", "NormalBackward0"},
    {"random_", "RandomBackward0"},
    {"bernoulli_", "BernoulliBackward1"},
    {"square", "PowBackward0"},
    {"outer", "MulBackward0"},
    {"dropout", "MulBackward0"},
    {"bernoulli", "BernoulliBackward0"},
    {"contiguous", "CloneBackward0"},
};
enum { NAME_ROOM = 40 };
static char regular[OP_COUNT][NAME_ROOM];
static const char *names[OP_COUNT];

// "log_softmax" -> "LogSoftmaxBackward0"
static void name_regular(const char *op, char out[NAME_ROOM])
{
    size_t used = 0;
    bool capital = true;
    for (; *op != '\0' && used < NAME_ROOM - 12; op++) {
        if (*op == '_') {
            capital = true;
            continue;
        }
        out[used++] = capital && *op >= 'a' && *op <= 'z' ? (char)(*op - 'a' + 'A') : *op;
        capital = false;
    }
    memcpy(out + used, "Backward0", sizeof "Backward0");
}

void torch_prepare_grad(void)
{
    for (int op = 0; op < OP_COUNT; op++) {
        const char *name = op_row((enum op)op)->name;
        name_regular(name, regular[op]);
        names[op] = regular[op];
        for (size_t i = 0; i < sizeof irregular / sizeof irregular[0]; i++)
            if (strcmp(irregular[i].op, name) == 0)
                names[op] = irregular[i].name;
    }
}

const char *torch_grad_name(enum op op)
{
    torch_prepare();
    return names[op];
}

// ---- Names that depend on the arguments

static int ndim_of(const struct call *call, int index)
{
    const struct lazy_argument *argument = &call->arguments[index];
    return argument->kind == ARGUMENT_TENSOR && !argument->is_number
               ? lazy_layout(argument->tensor)->ndim
               : 0;
}

static bool is_given(const struct call *call, const char *name)
{
    int index = parameter_index(call->row, name);
    return index >= 0 && call->arguments[index].kind != ARGUMENT_NONE;
}

static const char *product_name(int a, int b)
{
    if (a == 1 && b == 1)
        return "DotBackward0";
    if (a == 2 && b <= 2)
        return b == 1 ? "MvBackward0" : "MmBackward0";
    return a == 1 && b == 2 ? "SqueezeBackward3" : "UnsafeViewBackward0";
}

static const char *linear_name(int ndim, bool bias)
{
    if (ndim == 1)
        return bias ? "AddBackward0" : "SqueezeBackward3";
    if (ndim == 2)
        return bias ? "AddmmBackward0" : "MmBackward0";
    return bias ? "ViewBackward0" : "UnsafeViewBackward0";
}

const char *torch_call_grad(const struct call *call)
{
    const char *op = call->row->name, *name = names[call->op];
    bool has_dim = is_given(call, "dim");
    if (strcmp(op, "matmul") == 0)
        return product_name(ndim_of(call, 0), ndim_of(call, 1));
    if (strcmp(op, "linear") == 0)
        return linear_name(ndim_of(call, 0), call->arguments[2].kind != ARGUMENT_NONE);
    if (strcmp(op, "pow") == 0)
        return call->arguments[1].is_number ? "PowBackward0" : "PowBackward1";
    if (strcmp(op, "div") == 0 && call->arguments[0].is_number)
        return "MulBackward0";
    if (strcmp(op, "div") == 0 && is_given(call, "rounding_mode"))
        return "DivBackward2";
    if (strcmp(op, "sub") == 0 && call->arguments[0].is_number)
        return "RsubBackward1";
    if (strcmp(op, "remainder") == 0 && !call->arguments[1].is_number)
        return call->arguments[0].is_number ? "NotImplemented" : "RemainderBackward1";
    if (strcmp(op, "max") == 0 && has_dim)
        return "MaxBackward0";
    if (strcmp(op, "min") == 0 && has_dim)
        return "MinBackward0";
    if (strcmp(op, "sum") == 0 && has_dim)
        return "SumBackward1";
    if (strcmp(op, "mean") == 0 && has_dim)
        return "MeanBackward1";
    if (strcmp(op, "prod") == 0 && has_dim)
        return "ProdBackward1";
    if (strcmp(op, "squeeze") == 0 && has_dim)
        return "SqueezeBackward1";
    return name;
}

bool torch_wants_grad(struct vm *vm, struct value value)
{
    return value_is_tensor(value) && tensor_of(value)->requires_grad &&
           vm_grad_enabled(vm);
}

enum outcome torch_check_write(struct vm *vm, struct value tensor)
{
    const struct tensor_object *object = tensor_of(tensor);
    if (!object->requires_grad || !vm_grad_enabled(vm))
        return OUTCOME_OK;
    if (object->is_leaf_view)
        return vm_raise(vm, STATUS_VALUE,
                        "a view of a leaf Variable that requires grad is being used in "
                        "an in-place operation. Use torch.no_grad() or .data");
    if (object->grad_fn == NULL)
        return vm_raise(vm, STATUS_VALUE,
                        "a leaf Variable that requires grad is being used in an in-place "
                        "operation. Use torch.no_grad() or .data");
    return OUTCOME_OK;
}

void torch_note_write(struct value self, const char *grad_fn)
{
    struct tensor_object *object = tensor_of(self);
    if (object->is_array || !dtype_is_float(lazy_dtype(object->lazy)))
        return;
    object->requires_grad = true;
    object->grad_fn = grad_fn;
}

struct flavor torch_view_flavor(struct vm *vm, struct value self, const char *grad_fn)
{
    const struct tensor_object *object = tensor_of(self);
    struct flavor flavor = {.is_array = object->is_array, .is_scalar = true};
    if (!torch_wants_grad(vm, self))
        return flavor;
    flavor.requires_grad = true;
    flavor.grad_fn = grad_fn;
    flavor.is_leaf_view = object->is_leaf_view || object->grad_fn == NULL;
    return flavor;
}
