// SPDX-License-Identifier: Apache-2.0
// Modules of torch.nn: objects with parameters (tensors) and children (modules), whose
// call computes. One structure serves all kinds; nn_table.c says what each is made of. A
// tree of modules has no cycle (appending an ancestor is refused) and at most
// MODULE_MAX_DEPTH levels, so that walks may recurse. One module may stand at many places
// of it; walks that meet it at each are refused beyond MODULE_MAX_PLACES. Rules are those
// of torch 1.13: names ("0.weight"), initialisation and its order of draws, printing,
// train() and eval(), requires_grad.
#ifndef TENSORD_API_LANG_NN_H
#define TENSORD_API_LANG_NN_H

#include "api/lang/operate.h"

enum {
    MODULE_PARAMETERS = 2,
    MODULE_MAX_DEPTH = 32,
    MODULE_MAX_PLACES = 1 << 16,
    MODULE_SIZES = 2
};

struct child {
    struct string *name;   // a reference; "0" in a Sequential
    struct module *module; // a reference
};
struct module {
    struct object object;
    enum type type;
    bool training;
    int level; // the most modules that have ever been above it
    // What the constructor was given: Linear (in_features, out_features), Softmax (dim),
    // Flatten (start_dim, end_dim); dim may be absent: sizes[0] == INT64_MIN.
    int64_t sizes[MODULE_SIZES];
    double p;         // Dropout
    bool approximate; // GELU("tanh")
    struct value
        parameters[MODULE_PARAMETERS]; // weight, bias: Parameters; NONE: bias=False
    int64_t n_children, capacity;
    struct child *children; // counted memory of the heap's
};

// The name of parameter i of a kind of module ("weight", "bias"), or NULL behind the
// last.
const char *module_parameter_name(enum type type, int i);
// Visits every parameter of the tree once, in torch's order: its dotted name below the
// module
// ("0.weight"), the module that has it and its index there. Stops when visit says
// something but STATUS_OK. STATUS_LIMIT: a name is longer than names may be, or
// there are too many places.
typedef enum status module_visit(void *context, const char *name, struct module *owner,
                                 int index, struct problem *problem);
enum status module_each_parameter(struct module *module, module_visit *visit,
                                  void *context, struct problem *problem);
// A module without parameters or children; NULL: problem set.
struct module *module_new(struct heap *heap, enum type type, struct problem *problem);
// Adds a child at the end (references of its own). STATUS_VALUE: a cycle; STATUS_LIMIT.
enum status module_add_child(struct heap *heap, struct module *module,
                             struct string *name, struct module *child,
                             struct problem *problem);
#endif
