// SPDX-License-Identifier: Apache-2.0
// What operators, indexing, iteration and attributes do to values: one entry point each,
// which looks at the kinds of its operands and goes to the file that knows them (number.c,
// string_*.c, list.c, container.c ..., and torch_*.c as soon as an operand is a tensor).
// All follow native.h's rules for outcomes; *result is a new reference.
#ifndef TENSORD_API_LANG_OPERATE_H
#define TENSORD_API_LANG_OPERATE_H

#include "api/lang/native.h"

enum binary_op {
    BINARY_ADD,
    BINARY_SUB,
    BINARY_MUL,
    BINARY_DIV,
    BINARY_FLOOR_DIV,
    BINARY_MOD,
    BINARY_POW,
    BINARY_MATMUL,
    BINARY_AND,
    BINARY_OR,
    BINARY_XOR,
    BINARY_LSHIFT,
    BINARY_RSHIFT,
};
enum unary_op { UNARY_NEG, UNARY_POS, UNARY_INVERT };
enum compare_op { COMPARE_LT, COMPARE_LE, COMPARE_EQ, COMPARE_NE, COMPARE_GT, COMPARE_GE };

// in_place: an augmented assignment (+=): lists, sets, dicts and tensors change themselves and
// are the result; others make a new value.
enum outcome value_binary(struct vm *vm, enum binary_op op, bool in_place, struct value a,
                          struct value b, struct value *result);
enum outcome value_unary(struct vm *vm, enum unary_op op, struct value a,
                         struct value *result);
// Rich comparison: of tensors a tensor of bool, else a bool.
enum outcome value_compare(struct vm *vm, enum compare_op op, struct value a,
                           struct value b, struct value *result);
// == of elements inside containers and for `in`: identity or equality, always a bool.
enum outcome value_equal(struct vm *vm, struct value a, struct value b, bool *equal);
bool value_identical(struct value a, struct value b); // `is`
enum outcome value_contains(struct vm *vm, struct value container, struct value item,
                            bool *contains);
enum outcome value_truth(struct vm *vm, struct value value, bool *truth);
enum outcome value_length(struct vm *vm, struct value value, int64_t *length);
// An integer for an index position (int, bool, or a 0-d integer tensor).
enum outcome value_to_index(struct vm *vm, struct value value, int64_t *index);

enum outcome value_get_item(struct vm *vm, struct value container, struct value key,
                            struct value *result);
enum outcome value_set_item(struct vm *vm, struct value container, struct value key,
                            struct value item);
enum outcome value_delete_item(struct vm *vm, struct value container, struct value key);

// iter(): an iterator over list, tuple, str, dict, set, range, view, tensor, nn module; a
// producer or iterator is its own.
enum outcome value_iterate(struct vm *vm, struct value value, struct value *iterator);
// next(): *item ABSENT at the end. Not for producers: the machine runs these.
enum outcome iterator_next(struct vm *vm, struct iterator *iterator, struct value *item);

// Attributes. STATUS_ATTRIBUTE with the nearest name. Methods come as OBJECT_BOUND.
enum outcome value_get_attribute(struct vm *vm, struct value value,
                                 const struct string *name, struct value *result);
// The same without making a bound object: *function is NATIVE or OP and *self the receiver
// (a reference), or *self is ABSENT and *function is the attribute's value.
enum outcome value_get_method(struct vm *vm, struct value value, const struct string *name,
                              struct value *function, struct value *self);
enum outcome value_set_attribute(struct vm *vm, struct value value,
                                 const struct string *name, struct value item);

// ---- Text (text.h has the builder)
struct text;
// repr() and str(), appended. Depth is limited; a container inside itself prints as [...].
enum outcome value_repr(struct vm *vm, struct value value, struct text *text);
enum outcome value_str(struct vm *vm, struct value value, struct text *text);
// format(value, spec).
enum outcome value_format(struct vm *vm, struct value value, const char *spec,
                          size_t spec_bytes, struct text *text);

// ---- By family. Natives of methods, found by the type of the receiver.
extern struct native str_methods[], list_methods[], tuple_methods[], dict_methods[],
    set_methods[], range_methods[], int_methods[], float_methods[], slice_methods[];
extern struct native builtin_functions[]; // print, len, ... that are natives
extern struct native math_functions[];
// A call of a type: int("3"), list(x), torch.device("cpu"), nn.Linear(2, 3). The native that
// makes a value of that type, or NULL if it cannot be called.
const struct native *type_constructor(enum type type);
extern struct native type_constructors[]; // of the built-in types, by name: "int", "list"

// ---- Tensors, arrays, dtypes, devices, namespaces (torch_*.c): called by the functions above
// when an operand is one of those.
enum outcome torch_binary(struct vm *vm, enum binary_op op, bool in_place, struct value a,
                          struct value b, struct value *result);
enum outcome torch_unary(struct vm *vm, enum unary_op op, struct value a,
                         struct value *result);
enum outcome torch_compare(struct vm *vm, enum compare_op op, struct value a,
                           struct value b, struct value *result);
enum outcome torch_truth(struct vm *vm, struct value tensor, bool *truth);
enum outcome torch_length(struct vm *vm, struct value tensor, int64_t *length);
enum outcome torch_get_item(struct vm *vm, struct value tensor, struct value key,
                            struct value *result);
enum outcome torch_set_item(struct vm *vm, struct value tensor, struct value key,
                            struct value item);
enum outcome torch_contains(struct vm *vm, struct value tensor, struct value item,
                            bool *contains);
// Attributes of TENSOR, DTYPE, DEVICE, NAMESPACE, TYPE of torch's, torch.Size's numel.
enum outcome torch_get_method(struct vm *vm, struct value value, const struct string *name,
                              struct value *function, struct value *self);
enum outcome torch_set_attribute(struct vm *vm, struct value value,
                                 const struct string *name, struct value item);
enum outcome torch_repr(struct vm *vm, struct value value, struct text *text);
enum outcome torch_str(struct vm *vm, struct value value, struct text *text);
enum outcome torch_format(struct vm *vm, struct value value, const char *spec,
                          size_t spec_bytes, struct text *text);
// A call of a VALUE_OP: arguments[0..n) positional (a receiver first), then n_keywords values
// whose names are `keywords`.
enum outcome torch_call_op(struct vm *vm, struct value op, int n, int n_keywords,
                           const struct value *arguments,
                           struct string *const *keywords, struct value *result);
const struct native *torch_type_constructor(enum type type);
// A call of a dtype: np.float32(1.5). NULL: torch's, which cannot be called.
const struct native *torch_dtype_constructor(struct value dtype);
// The value of a bare name that torch's cells use without import: torch, nn, F, np, math,
// and every operation of the table (`softmax(x)`), or ABSENT. Looked at after the names of the
// program, of the user and Python's builtins.
struct value torch_bare_name(const char *name, size_t length);
// The namespace an import statement names ("torch", "torch.nn", "torch.nn.functional",
// "numpy", "math"), or ABSENT.
struct value torch_import(const char *name, size_t length);

// ---- nn modules (nn_*.c)
struct module;
enum outcome module_call(struct vm *vm, struct module *module, int n,
                         const struct value *arguments, struct value *result);
enum outcome module_length(struct vm *vm, struct module *module, int64_t *length);
enum outcome module_get_item(struct vm *vm, struct module *module, struct value key,
                             struct value *result);
enum outcome module_get_method(struct vm *vm, struct module *module,
                               const struct string *name, struct value *function,
                               struct value *self);
enum outcome module_set_attribute(struct vm *vm, struct module *module,
                                  const struct string *name, struct value item);
enum outcome module_repr(struct vm *vm, struct module *module, struct text *text);
enum type module_type(const struct module *module);
void module_clear(struct heap *heap, struct module *module); // releases what it holds
const struct native *module_constructor(enum type type);
#endif
