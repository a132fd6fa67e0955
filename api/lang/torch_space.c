// SPDX-License-Identifier: Apache-2.0
// The namespaces torch, torch.cuda, torch.nn, torch.nn.functional, np, math ... : what is
// in them, what an import statement names, and what a bare name means that nobody has
// defined. The tables are made once; then the program's thread.
#include "api/lang/torch.h"

#include <math.h>

static const char *const names[NAMESPACE_COUNT] = {
    [NAMESPACE_TORCH] = "torch",
    [NAMESPACE_CUDA] = "torch.cuda",
    [NAMESPACE_VERSION] = "torch.version",
    [NAMESPACE_NN] = "torch.nn",
    [NAMESPACE_FUNCTIONAL] = "torch.nn.functional",
    [NAMESPACE_LINALG] = "torch.linalg",
    [NAMESPACE_NUMPY] = "numpy",
    [NAMESPACE_NUMPY_LINALG] = "numpy.linalg",
    [NAMESPACE_MATH] = "math",
};

const char *namespace_name(enum namespace name)
{
    return names[name];
}

static void add(struct members *members, const char *name, struct value value)
{
    members_add(members, name, value, NULL);
}

static void add_op(struct members *members, const char *name, const char *op_name,
                   uint32_t flags)
{
    enum op op;
    bool in_place;
    if (op_find(op_name, strlen(op_name), &op, &in_place, NULL) && !in_place)
        add(members, name, value_op(op, flags));
}

// ---- torch

static const struct {
    const char *name;
    enum dtype dtype;
} dtypes[] = {
    {"float32", DTYPE_FLOAT32}, {"float", DTYPE_FLOAT32},     {"float64", DTYPE_FLOAT64},
    {"double", DTYPE_FLOAT64},  {"float16", DTYPE_FLOAT16},   {"half", DTYPE_FLOAT16},
    {"int64", DTYPE_INT64},     {"bfloat16", DTYPE_BFLOAT16}, {"long", DTYPE_INT64},
    {"int32", DTYPE_INT32},     {"int", DTYPE_INT32},         {"int16", DTYPE_INT16},
    {"short", DTYPE_INT16},     {"int8", DTYPE_INT8},         {"uint8", DTYPE_UINT8},
    {"bool", DTYPE_BOOL},
};

// The torch release whose semantics hold.
static enum outcome property_version(struct vm *vm, struct value self,
                                     struct value *result)
{
    return torch_text(vm, "1.13.1", result);
}

static enum outcome property_cuda(struct vm *vm, struct value self, struct value *result)
{
    const struct graph_context *context = cells_context(vm_cells(vm));
    *result = value_none();
    for (int i = 1; i < context->n_devices; i++) {
        struct device_details details = {0};
        if (context->devices[i] == NULL)
            continue;
        context->devices[i]->vt->details(context->devices[i], &details);
        return torch_text(vm, details.runtime, result);
    }
    return OUTCOME_OK;
}

// Operations that torch has as methods or elsewhere only.
static bool is_function(const char *name)
{
    static const char *const methods[] = {"view",  "expand", "contiguous", "to",
                                          "slice", "repeat", "linear",     "gelu"};
    if (name[strlen(name) - 1] == '_')
        return false;
    for (size_t i = 0; i < sizeof methods / sizeof methods[0]; i++)
        if (strcmp(methods[i], name) == 0)
            return false;
    return true;
}

static void fill_torch(struct members *torch)
{
    struct value absent = {.tag = VALUE_ABSENT};
    add(torch, "Tensor", value_type_of(TYPE_Tensor));
    add(torch, "device", value_type_of(TYPE_device));
    add(torch, "dtype", value_type_of(TYPE_dtype));
    add(torch, "Size", value_type_of(TYPE_Size));
    add(torch, "no_grad", value_type_of(TYPE_no_grad));
    add(torch, "inference_mode", value_type_of(TYPE_inference_mode));
    add(torch, "cuda", value_namespace(NAMESPACE_CUDA));
    add(torch, "version", value_namespace(NAMESPACE_VERSION));
    add(torch, "nn", value_namespace(NAMESPACE_NN));
    add(torch, "linalg", value_namespace(NAMESPACE_LINALG));
    members_add(torch, "__version__", absent, property_version);
    for (size_t i = 0; i < sizeof dtypes / sizeof dtypes[0]; i++)
        add(torch, dtypes[i].name, value_dtype(dtypes[i].dtype));
    add(torch, "pi", value_float(M_PI));
    add(torch, "e", value_float(M_E));
    add(torch, "inf", value_float(INFINITY));
    add(torch, "nan", value_float(NAN));
    // Formats of memory: there is one, which None stands for.
    add(torch, "strided", value_none());
    add(torch, "preserve_format", value_none());
    add(torch, "contiguous_format", value_none());
    members_add_natives(torch, torch_functions);
    members_add_natives(torch, torch_create_functions);
    members_add_natives(torch, torch_compute_functions);
    for (int op = 0; op < OP_COUNT; op++)
        if (is_function(op_row((enum op)op)->name))
            add(torch, op_row((enum op)op)->name, value_op((enum op)op, 0));
    torch_add_aliases(torch, false);
}

// ---- Its parts

static void fill_nn(struct members *nn)
{
    add(nn, "functional", value_namespace(NAMESPACE_FUNCTIONAL));
    add(nn, "Parameter", value_type_of(TYPE_Parameter));
    for (int type = 0; type < TYPE_COUNT; type++)
        if (type_is_subtype((enum type)type, TYPE_Module))
            add(nn, type_short_name((enum type)type), value_type_of((enum type)type));
}

static void fill_functional(struct members *functional)
{
    static const char *const ops[] = {"relu", "gelu",    "softmax", "log_softmax",
                                      "tanh", "sigmoid", "linear",  "dropout"};
    members_add_natives(functional, functional_functions);
    for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++)
        add_op(functional, ops[i], ops[i], 0);
}

static void fill_math(struct members *math)
{
    static const char *const constants[] = {"pi", "e", "tau", "inf", "nan"};
    members_add_natives(math, math_functions);
    for (size_t i = 0; i < sizeof constants / sizeof constants[0]; i++) {
        double value;
        if (math_constant(constants[i], strlen(constants[i]), &value))
            add(math, constants[i], value_float(value));
    }
}

void torch_fill_spaces(struct members *spaces)
{
    struct value absent = {.tag = VALUE_ABSENT};
    fill_torch(&spaces[NAMESPACE_TORCH]);
    add(&spaces[NAMESPACE_CUDA], "device", value_type_of(TYPE_cuda_device));
    members_add_natives(&spaces[NAMESPACE_CUDA], torch_cuda_functions);
    members_add(&spaces[NAMESPACE_VERSION], "cuda", absent, property_cuda);
    members_add(&spaces[NAMESPACE_VERSION], "__version__", absent, property_version);
    fill_nn(&spaces[NAMESPACE_NN]);
    fill_functional(&spaces[NAMESPACE_FUNCTIONAL]);
    add_op(&spaces[NAMESPACE_LINALG], "matmul", "matmul", 0);
    members_add_natives(&spaces[NAMESPACE_LINALG], torch_linalg_functions);
    numpy_fill_space(&spaces[NAMESPACE_NUMPY], &spaces[NAMESPACE_NUMPY_LINALG]);
    fill_math(&spaces[NAMESPACE_MATH]);
}

// ---- Looking up

enum outcome torch_namespace_member(struct vm *vm, enum namespace name,
                                    const struct string *member, struct value *result)
{
    const struct members *members = namespace_members(name);
    const struct member *found =
        members_find(members, member->text, (size_t)member->bytes);
    if (found == NULL) {
        char owner[48] = "module '";
        size_t length = strlen(owner);
        memcpy(owner + length, names[name], strlen(names[name]));
        memcpy(owner + length + strlen(names[name]), "'", 2);
        return members_missing(vm, members, owner, member);
    }
    if (found->property != NULL)
        return found->property(vm, value_namespace(name), result);
    *result = found->value;
    return OUTCOME_OK;
}

static const struct {
    const char *name;
    enum namespace space;
    bool bare, imported; // known without an import; to an import statement
} roads[] = {
    {"torch", NAMESPACE_TORCH, true, true},
    {"nn", NAMESPACE_NN, true, false},
    {"F", NAMESPACE_FUNCTIONAL, true, false},
    {"np", NAMESPACE_NUMPY, true, false},
    {"math", NAMESPACE_MATH, true, true},
    {"numpy", NAMESPACE_NUMPY, false, true},
    {"numpy.linalg", NAMESPACE_NUMPY_LINALG, false, true},
    {"torch.nn", NAMESPACE_NN, false, true},
    {"torch.nn.functional", NAMESPACE_FUNCTIONAL, false, true},
    {"torch.cuda", NAMESPACE_CUDA, false, true},
    {"torch.linalg", NAMESPACE_LINALG, false, true},
    {"torch.version", NAMESPACE_VERSION, false, true},
};

static struct value find_road(const char *name, size_t length, bool bare)
{
    for (size_t i = 0; i < sizeof roads / sizeof roads[0]; i++)
        if ((bare ? roads[i].bare : roads[i].imported) &&
            strlen(roads[i].name) == length && memcmp(roads[i].name, name, length) == 0)
            return value_namespace(roads[i].space);
    return (struct value){.tag = VALUE_ABSENT};
}

struct value torch_import(const char *name, size_t length)
{
    return find_road(name, length, false);
}

struct value torch_bare_name(const char *name, size_t length)
{
    struct value value = find_road(name, length, true);
    if (value.tag != VALUE_ABSENT)
        return value;
    if (length == 6 && memcmp(name, "tensor", 6) == 0)
        return value_native(torch_bare_tensor);
    const struct member *member =
        members_find(namespace_members(NAMESPACE_TORCH), name, length);
    if (member != NULL &&
        (member->value.tag == VALUE_OP || member->value.tag == VALUE_NATIVE ||
         member->value.tag == VALUE_DTYPE || member->value.tag == VALUE_TYPE))
        return member->value;
    member = members_find(namespace_members(NAMESPACE_FUNCTIONAL), name, length);
    if (member != NULL)
        return member->value;
    enum op op;
    bool in_place;
    if (op_find(name, length, &op, &in_place, NULL))
        return value_op(op, in_place ? OP_IN_PLACE : 0);
    return value;
}
