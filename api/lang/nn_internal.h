// SPDX-License-Identifier: Apache-2.0
// What the files of nn share: nn_table.c (making, the tree), nn_forward.c (calls),
// nn_methods.c and nn_state.c (methods), nn_attribute.c (attributes, items, repr).
#ifndef TENSORD_API_LANG_NN_INTERNAL_H
#define TENSORD_API_LANG_NN_INTERNAL_H

#include "api/lang/nn.h"
#include "tensor/cells.h"

enum { MODULE_DEVICES = 16 };
struct module_devices {
    int count;
    struct device *items[MODULE_DEVICES];
};
// Where DataParallel runs a module: all CUDA devices if its parameters are on one, else
// none.
struct module_devices module_devices(struct vm *vm, struct module *module);
// The device of the first parameter, or NULL.
struct device *module_home(struct module *module);
// x through the module; device: where its parameters shall be, NULL: where they are.
enum outcome module_forward(struct vm *vm, struct module *module,
                            const struct device *device, struct value x, int depth,
                            struct value *result);
enum outcome module_gelu_tanh(struct vm *vm, struct value x, struct value *result);
// A tensor on device (NULL: where it is) in dtype (has_dtype): the same value, with its
// gradient's bookkeeping, if nothing changes.
enum outcome module_move(struct vm *vm, struct value tensor, const struct device *device,
                         bool has_dtype, enum dtype dtype, struct value *result);
// Adds the modules of a list or tuple, named by their place.
enum outcome module_extend(struct vm *vm, struct module *module, struct value modules);
extern struct native module_methods[];
// Counts the modules of the tree, at each place where they stand, as steps of the
// program. ERROR: STATUS_LIMIT.
enum outcome module_spend(struct vm *vm, const struct module *module);
// The receiver of a method; NULL: it is no module, raised.
struct module *module_self(struct vm *vm, struct value self);
// nn_state.c
native_function module_method_parameters, module_method_named_parameters,
    module_method_state_dict, module_method_load_state_dict, module_method_children,
    module_method_named_children, module_method_modules, module_method_append,
    module_method_extend;
#endif
