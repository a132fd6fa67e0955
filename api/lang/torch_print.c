// SPDX-License-Identifier: Apache-2.0
// repr(), str() and format() of tensors, dtypes, devices, namespaces. Elements are
// written by api/formats (as torch prints them); arrays are numpy_print.c's. The
// program's thread.
#include "api/lang/torch.h"

#include <stdio.h>

#include "api/formats/format.h"

// ---- Tensors

static void grad_suffix(const struct tensor_object *object, char *out, size_t size)
{
    out[0] = '\0';
    if (object->requires_grad && object->grad_fn != NULL)
        snprintf(out, size, "grad_fn=<%s>", object->grad_fn);
    else if (object->requires_grad)
        snprintf(out, size, "requires_grad=True");
}

static enum outcome write_all(struct vm *vm, struct writer *writer, struct text *text)
{
    enum outcome outcome = OUTCOME_OK;
    char piece[4096];
    size_t length;
    while (outcome == OUTCOME_OK &&
           (length = writer_next(writer, piece, sizeof piece)) > 0) {
        outcome = text_charge(vm, text, (int64_t)length);
        if (outcome == OUTCOME_OK)
            text_add(text, piece, length);
    }
    if (outcome == OUTCOME_OK && text->length > 0 && text->data[text->length - 1] == '\n')
        text->length--;
    return outcome;
}

static enum outcome tensor_repr(struct vm *vm, struct value value, struct text *text)
{
    const struct tensor_object *object = tensor_of(value);
    const struct layout *layout = lazy_layout(object->lazy);
    struct tensor *host;
    struct writer *writer;
    char suffix[80];
    enum outcome outcome = vm_host(vm, object->lazy, &host);
    if (outcome != OUTCOME_OK)
        return outcome;
    grad_suffix(object, suffix, sizeof suffix);
    struct writer_options options = {
        .format = FORMAT_TEXT,
        .dtype = lazy_dtype(object->lazy),
        .ndim = layout->ndim,
        .data = torch_elements(host),
        .device = lazy_device(object->lazy)->id,
        .suffix = suffix[0] != '\0' ? suffix : NULL,
    };
    memcpy(options.shape, layout->shape, (size_t)layout->ndim * sizeof layout->shape[0]);
    if (writer_open(&options, &writer, vm_problem(vm)) != STATUS_OK)
        return vm_problem(vm)->status == STATUS_OUT_OF_MEMORY
                   ? OUTCOME_ERROR
                   : vm_raise(vm, STATUS_LIMIT,
                              "The tensor has too many dimensions to be printed.");
    if (object->is_parameter)
        text_literal(text, "Parameter containing:\n");
    outcome = write_all(vm, writer, text);
    writer_close(writer);
    return outcome;
}

// ---- Small values

static void device_text(struct value device, bool is_repr, struct text *text)
{
    const char *type = device_is_cuda(device) ? "cuda" : "cpu";
    int index = device_index(device);
    text_string(text, is_repr ? "device(type='" : "");
    text_string(text, type);
    text_string(text, is_repr ? "'" : "");
    if (index >= 0) {
        text_string(text, is_repr ? ", index=" : ":");
        text_integer(text, index);
    }
    text_string(text, is_repr ? ")" : "");
}

static void dtype_text(struct value dtype, bool is_repr, struct text *text)
{
    bool class = dtype.flags == DTYPE_SCALAR, of_array = dtype.flags == DTYPE_OF_ARRAY;
    text_string(text, class                 ? "<class 'numpy."
                      : of_array && is_repr ? "dtype('"
                      : of_array            ? ""
                                            : "torch.");
    text_string(text, dtype_name((enum dtype)dtype.i));
    if (class && dtype.i == DTYPE_BOOL)
        text_literal(text, "_");
    text_string(text, class ? "'>" : of_array && is_repr ? "')" : "");
}

static enum outcome small_text(struct vm *vm, struct value value, bool is_repr,
                               struct text *text)
{
    switch (value.tag) {
    case VALUE_DTYPE:
        dtype_text(value, is_repr, text);
        return OUTCOME_OK;
    case VALUE_DEVICE:
        device_text(value, is_repr, text);
        return OUTCOME_OK;
    case VALUE_NAMESPACE:
        text_literal(text, "<module '");
        text_string(text, namespace_name((enum namespace)value.i));
        text_literal(text, "'>");
        return OUTCOME_OK;
    case VALUE_OP:
        text_literal(text, "<built-in method ");
        text_string(text, op_row((enum op)value.i)->name);
        text_string(text, value.flags & OP_IN_PLACE ? "_>" : ">");
        return OUTCOME_OK;
    default:
        return vm_raise(vm, STATUS_TYPE, "a %s has no printed form",
                        torch_type_name(value));
    }
}

// ---- The entry points

enum outcome torch_repr(struct vm *vm, struct value value, struct text *text)
{
    if (!value_is_tensor(value))
        return small_text(vm, value, true, text);
    return value_is_array(value) ? array_repr(vm, value, false, text)
                                 : tensor_repr(vm, value, text);
}

enum outcome torch_str(struct vm *vm, struct value value, struct text *text)
{
    if (!value_is_tensor(value))
        return small_text(vm, value, false, text);
    return value_is_array(value) ? array_repr(vm, value, true, text)
                                 : tensor_repr(vm, value, text);
}

// Without dimensions a tensor is formatted as its number.
enum outcome torch_format(struct vm *vm, struct value value, const char *spec,
                          size_t spec_bytes, struct text *text)
{
    if (value_is_tensor(value) && lazy_layout(tensor_of(value)->lazy)->ndim == 0) {
        struct value number;
        enum outcome outcome = tensor_number(vm, value, &number);
        return outcome == OUTCOME_OK ? value_format(vm, number, spec, spec_bytes, text)
                                     : outcome;
    }
    if (spec_bytes == 0)
        return torch_str(vm, value, text);
    return vm_raise(vm, STATUS_TYPE, "unsupported format string passed to %s.__format__",
                    torch_type_name(value));
}
