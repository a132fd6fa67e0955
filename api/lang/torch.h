// SPDX-License-Identifier: Apache-2.0
// What the files of torch and NumPy in programs share. operate.h has the entry points.
//
//   torch_names.c       tables of names (members of namespaces and tensors), nearest
//   names torch_value.c       making tensor objects; dtypes and devices out of values
//   torch_grad.c        requires_grad and the printed grad_fn
//   torch_bind.c        arguments of a call -> the parameters of an operation's row
//   torch_convert.c     ... each value -> a lazy_argument
//   torch_overload.c    forms of a call beyond the row: max(x, y), randint(high, size)
//   ... torch_call.c        torch_call_op: bind, compute, wrap the results
//   torch_operator.c    + - < [] ... : operators, truth, length, `in`
//   torch_index.c       x[...]: what a key means, and the view it names
//   torch_index_list.c  x[mask], x[[0, 2]]: gathered on the host
//   torch_index_write.c x[mask] = y
//   torch_literal.c     nested lists -> elements
//   torch_create.c      tensor(), from_numpy, new_zeros ...
//   torch_attribute.c   members of tensors, arrays, dtypes, devices, types
//   torch_method.c      methods that are no operation
//   torch_pool.c        several operations in a row
//   torch_compute.c     functions and methods made of such
//   torch_compare.c     equal, allclose, nonzero ...: answered on the host
//   torch_function.c    functions of torch that are no operation
//   torch_functional.c  torch.nn.functional
//   torch_cuda.c        torch.cuda, torch.version
//   torch_space.c       namespaces, bare names, imports
//   torch_type.c        calls of torch's types: torch.device(...), torch.Size(...)
//   torch_print.c       repr, str, format
//   numpy_promote.c     which dtype NumPy computes in
//   numpy_print.c       arrays as NumPy prints them
//   numpy_function.c    functions of np and of arrays
//
// Threads: the program's; tables are made once, by whoever comes first.
#ifndef TENSORD_API_LANG_TORCH_H
#define TENSORD_API_LANG_TORCH_H

#include "api/lang/builtins.h"
#include "kernels/base/size.h"
#include "kernels/ops.h"
#include "tensor/cells.h"

// ---- Namespaces: VALUE_NAMESPACE's i
enum namespace {
    NAMESPACE_TORCH,
    NAMESPACE_CUDA,
    NAMESPACE_VERSION,
    NAMESPACE_NN,
    NAMESPACE_FUNCTIONAL,
    NAMESPACE_LINALG,
    NAMESPACE_NUMPY,
    NAMESPACE_NUMPY_LINALG,
    NAMESPACE_MATH,
    NAMESPACE_COUNT
};
static inline struct value value_namespace(enum namespace name)
{
    return (struct value){.tag = VALUE_NAMESPACE, .i = name};
}
static inline struct value value_native(const struct native *native)
{
    return (struct value){.tag = VALUE_NATIVE, .native = native};
}
static inline struct value value_op(enum op op, uint32_t flags)
{
    return (struct value){.tag = VALUE_OP, .flags = flags, .i = op};
}
static inline struct value value_type_of(enum type type)
{
    return (struct value){.tag = VALUE_TYPE, .i = type};
}
// Flags of a VALUE_DTYPE: how it prints.
enum dtype_flags {
    DTYPE_OF_ARRAY = 1, // a.dtype: dtype('float32')
    DTYPE_SCALAR = 2,   // np.float32: <class 'numpy.float32'>
};

// ---- Tables of names (torch_names.c)
typedef enum outcome property_function(struct vm *vm, struct value self,
                                       struct value *result);
struct member {
    const char *name; // static
    size_t length;
    struct value value;          // what the name is: a constant, NATIVE, OP ...
    property_function *property; // or how to make it; NULL
};
enum { MEMBERS_MAX = 512, MEMBERS_SLOTS = 2048 };
struct members {
    int count;
    struct member items[MEMBERS_MAX];
    int16_t slots[MEMBERS_SLOTS]; // item + 1, or 0
};
// A later one of the same name is ignored. Names are checked to fit by the unit test.
void members_add(struct members *members, const char *name, struct value value,
                 property_function *property);
void members_add_natives(struct members *members, struct native *table);
const struct member *members_find(const struct members *members, const char *name,
                                  size_t length);
// The nearest name by edit distance, or NULL.
const char *members_nearest(const struct members *members, const char *name,
                            size_t length);
// STATUS_ATTRIBUTE: "module 'torch' has no attribute 'foo'", with the nearest name.
enum outcome members_missing(struct vm *vm, const struct members *members,
                             const char *owner, const struct string *name);
void torch_prepare(void); // makes all tables, once
const struct members *tensor_members(void);
const struct members *array_members(void);
const struct members *namespace_members(enum namespace name);
const char *namespace_name(enum namespace name); // "torch.nn"
void torch_fill_spaces(struct members *spaces);  // torch_space.c
void torch_fill_tensor(struct members *tensor,
                       struct members *array);                 // torch_attribute.c
void torch_add_aliases(struct members *members, bool methods); // clip, multiply ...
void numpy_fill_array(struct members *array);                  // numpy_function.c
void numpy_fill_space(struct members *numpy, struct members *linalg);

enum { TENSOR_STEPS = 50 }; // that a native counts for each tensor of many that it makes

// ---- Making tensor objects (torch_value.c)
struct flavor { // of a result
    bool is_array, is_scalar, requires_grad, is_parameter, is_leaf_view;
    const char *grad_fn;
};
// Takes the reference to lazy (NULL: the problem is set already).
enum outcome torch_wrap(struct vm *vm, struct lazy *lazy, struct flavor flavor,
                        struct value *result);
static inline struct tensor_object *tensor_of(struct value value)
{
    return VALUE_AS(tensor_object, value);
}
static inline bool value_is_array(struct value value)
{
    return value_is_tensor(value) && tensor_of(value)->is_array;
}
// Elements of a host tensor as vm_host gives it: C-contiguous. NULL if there are none.
const void *torch_elements(const struct tensor *tensor);
struct scalar torch_scalar_of(struct value number); // BOOL, INT, FLOAT
struct value torch_number_of(struct scalar scalar);
// The i-th of elements.
struct scalar torch_element(const void *elements, enum dtype dtype, int64_t i);
// A number: of Python's, or the element of a tensor with one (which may WAIT).
// STATUS_TYPE says that `what` must be a number.
enum outcome torch_number(struct vm *vm, struct value value, const char *what,
                          struct scalar *out);
// "Tensor", "numpy.ndarray", "int": as messages name it.
const char *torch_type_name(struct value value);

// VALUE_DTYPE, the types float, int and bool; with numpy the names too.
enum outcome torch_dtype_of(struct vm *vm, struct value value, bool numpy,
                            enum dtype *out);
bool value_names_dtype(struct value value);
// "cuda:1" as a device, which need not exist. STATUS_VALUE.
enum outcome torch_device_parse(struct vm *vm, const struct string *text,
                                struct value *device);
// The device that a VALUE_DEVICE, a string or an index of a cuda device names.
// STATUS_DEVICE names those there are.
enum outcome torch_device_of(struct vm *vm, struct value value, struct device **out);
struct value torch_device_value(const struct device *device);
int torch_cuda_count(struct vm *vm);
struct device *torch_host(struct vm *vm);
// Integers of a list, tuple or torch.Size into out; at most `most` (STATUS_LIMIT). WAIT
// for those that are tensors.
enum outcome torch_integers(struct vm *vm, struct value sequence, const char *what,
                            int64_t *out, int most, int *count);
// The items of a list or tuple; false for anything else.
bool sequence_items(struct value value, const struct value **items, int64_t *count);
// A torch.Size (is_size) or plain tuple of integers.
enum outcome torch_size(struct vm *vm, int count, const int64_t *sizes, bool is_size,
                        struct value *result);
enum outcome torch_tuple(struct vm *vm, int64_t count, struct value *items,
                         struct value *result); // takes the references
enum outcome torch_text(struct vm *vm, const char *text, struct value *result);

// ---- requires_grad (torch_grad.c)
void torch_prepare_grad(void);
// What the result of op on these has: a grad_fn if one of them requires grad and grad is
// on.
bool torch_wants_grad(struct vm *vm, struct value value);
const char *torch_grad_name(enum op op);
struct call;
const char *torch_call_grad(const struct call *call);
// A leaf that requires grad, or a view of one, must not be written while grad is on.
enum outcome torch_check_write(struct vm *vm, struct value tensor);
// self was written by op with an operand that wants grad.
void torch_note_write(struct value self, const char *grad_fn);
// The flavor of a view of self.
struct flavor torch_view_flavor(struct vm *vm, struct value self, const char *grad_fn);

// ---- Calls of operations (torch_bind.c, torch_convert.c, torch_overload.c,
// torch_call.c)
enum { CALL_INTEGERS = 64, CALL_FEW = 8, CALL_MADE = 16 };
struct call {
    struct vm *vm;
    enum op op;
    const struct op_row *row;
    bool in_place, numpy;
    // What was given, one per parameter: borrowed, ABSENT where nothing was.
    struct value given[OP_MAX_PARAMETERS];
    int rest_at, n_rest; // the parameter whose integers came one by one, or -1
    const struct value *rest;
    struct value requires_grad; // ABSENT: not given
    // What it is as arguments
    struct lazy_argument arguments[OP_MAX_PARAMETERS];
    int n_integers;
    int64_t integers[CALL_INTEGERS];
    struct lazy **items, *few[CALL_FEW]; // of a Tensor[]; more than CALL_FEW: the heap's
    int n_items;
    struct lazy *made[CALL_MADE]; // references of this call's own
    int n_made;
    bool wants_grad;   // the result requires grad
    bool leaf_view;    // one of the tensors is a leaf or a view of one
    struct value self; // argument 0 as it was given, or ABSENT
};
// Fills given from positional and keyword arguments. STATUS_TYPE.
enum outcome call_collect(struct call *call, int n, const struct value *arguments,
                          int n_keywords, struct string *const *keywords);
// The same, and turns what has another form than the row (max(x, y)) into one that it
// has.
enum outcome call_overload(struct call *call, int n, int n_keywords,
                           const struct value *arguments, struct string *const *keywords);
void torch_prepare_overloads(void);
// given -> arguments.
enum outcome call_convert(struct call *call);
bool call_keep(struct call *call, struct lazy *lazy); // takes it into made; false: full
void call_end(struct call *call);
int parameter_index(const struct op_row *row, const char *name); // -1: none
// torch_call_op for callers in C: positional arguments only.
enum outcome torch_apply(struct vm *vm, enum op op, uint32_t flags, int n,
                         const struct value *arguments, struct value *result);

// ---- Several operations as one function (torch_pool.c). What the functions return is
// borrowed from the pool, which remembers a failure (the problem is set): after one every
// call gives NULL.
enum outcome torch_to(struct vm *vm, struct value self, struct device *device,
                      enum dtype dtype, bool copy,
                      struct value *result); // device NULL: its own
enum outcome torch_set_requires_grad(struct vm *vm, struct value tensor, bool wanted);
enum { POOL_MAX = 40 };
struct pool {
    struct vm *vm;
    bool failed;
    int count;
    struct lazy *items[POOL_MAX];
};
struct lazy *pool_keep(struct pool *pool, struct lazy *lazy); // takes it
void pool_release(struct pool *pool);
struct lazy *pool_call(struct pool *pool, enum op op,
                       const struct lazy_argument *arguments);
struct lazy *pool_map(struct pool *pool, enum op op, int n, struct lazy *const *operands);
struct lazy *pool_one(struct pool *pool, enum op op, struct lazy *a);
struct lazy *pool_two(struct pool *pool, enum op op, struct lazy *a, struct lazy *b);
struct lazy *pool_scalar(struct pool *pool, enum op op, struct lazy *a,
                         struct scalar number);
struct lazy *pool_number(struct pool *pool, enum op op, struct lazy *a, double number);
// A reduction over dims (NULL: all).
struct lazy *pool_reduce(struct pool *pool, enum op op, struct lazy *a, int n_dims,
                         const int64_t *dims, bool keep);
struct lazy *pool_cast(struct pool *pool, struct lazy *a, enum dtype dtype,
                       struct device *device); // device NULL: its own
struct lazy *pool_view(struct pool *pool, struct lazy *a, const struct layout *layout,
                       int64_t offset);
// where(mask, item, target) with item (a number, or a tensor without dimensions) in the
// target's dtype.
struct lazy *torch_choose(struct pool *pool, struct lazy *mask, struct value item,
                          struct lazy *target);
// Ends the pool; *result is a value (a reference of its own is taken).
enum outcome pool_end(struct pool *pool, struct lazy *value, struct flavor flavor,
                      struct value *result);

// ---- Elements of nested lists (torch_literal.c)
struct literal {
    enum dtype dtype;
    struct layout layout;
    int64_t count;
    void *elements; // memory of the heap's, C-contiguous
    size_t bytes;
};
// Numbers, tensors, lists and tuples of them. has_dtype: that one, else what the elements
// say (numpy: floats are float64). May WAIT. STATUS_VALUE (ragged, out of range),
// STATUS_TYPE.
enum outcome literal_read(struct vm *vm, struct value value, bool numpy, bool has_dtype,
                          enum dtype dtype, struct literal *out);
void literal_free(struct vm *vm, struct literal *literal);
// The same as a lazy on device (NULL: the host).
enum outcome literal_lazy(struct vm *vm, struct value value, bool numpy, bool has_dtype,
                          enum dtype dtype, struct device *device, struct lazy **out);

// torch.tensor(data, dtype=, device=, requires_grad=), where NONE and ABSENT are
// defaults.
enum outcome torch_make(struct vm *vm, struct value data, struct value dtype,
                        struct value device, struct value requires_grad,
                        struct value *result);
// zeros, ones, full, rand ... of a size. A reference of the caller's.
enum outcome torch_filled(struct vm *vm, enum op op, int n_sizes, const int64_t *sizes,
                          struct scalar fill, enum dtype dtype, struct device *device,
                          struct lazy **out);
// Sizes as a tuple of arguments: one by one, or one sequence. out: TENSOR_MAX_NDIM
// places.
enum outcome torch_sizes(struct vm *vm, struct value rest, int64_t *out, int *count);

// ---- Indexing (torch_index.c, torch_index_list.c)
enum { INDEX_ITEMS = 64 };
struct index_item {
    enum index_kind {
        INDEX_INTEGER,
        INDEX_SLICE,
        INDEX_ELLIPSIS,
        INDEX_NEW,
        INDEX_LIST
    } kind;
    int64_t integer;            // INTEGER
    struct slice_object *slice; // SLICE
    struct value list;          // LIST: an integer or bool tensor, or a list
    bool is_mask;               // LIST
    int consumes;               // dimensions
};
struct index_key {
    int count, n_lists;
    struct index_item items[INDEX_ITEMS];
};
// What a key's parts do to self: the layout where dimensions of lists still stand whole,
// and where those are.
struct index_view {
    struct layout layout;
    int64_t offset;
    const char *grad_fn;
    int n_lists, list_at[INDEX_ITEMS], list_item[INDEX_ITEMS];
};
enum outcome index_read(struct vm *vm, struct value self, struct value key,
                        struct index_key *out);
// layout and offset: of the tensor, or as its elements lie on the host.
enum outcome index_view(struct vm *vm, const struct layout *layout, int64_t offset,
                        const struct index_key *key, struct index_view *out);
enum outcome index_gather(struct vm *vm, struct value self, const struct index_key *key,
                          struct value *result);
enum outcome index_scatter(struct vm *vm, struct value self, const struct index_key *key,
                           const struct index_view *view, struct value item);

// ---- Natives that torch, np and tensors share (torch_compare.c, torch_function.c)
native_function torch_equal, torch_allclose, torch_isclose, torch_nonzero,
    torch_count_nonzero, numpy_array_equal, numpy_allclose, torch_iinfo, torch_finfo,
    torch_round, numpy_vstack, numpy_hstack;
extern const char *const torch_shared_methods[]; // of torch_functions; ends with NULL

// ---- Tables of natives, by file
extern struct native tensor_methods[], tensor_compute_methods[], array_methods[],
    tensor_create_methods[], torch_size_methods[], torch_functions[],
    torch_create_functions[], torch_compute_functions[], torch_cuda_functions[],
    functional_functions[], torch_linalg_functions[], numpy_functions[],
    numpy_create_functions[];
extern struct native torch_bare_tensor[]; // tensor("name") or torch.tensor
const struct native *native_in(struct native *table, const char *name);
enum outcome torch_namespace_member(struct vm *vm, enum namespace name,
                                    const struct string *member, struct value *result);
// A record; takes the references to items.
enum outcome torch_record(struct vm *vm, const char *type_text, int count,
                          const char *const *fields, struct value *items,
                          struct value *result);
enum outcome torch_manual_seed(struct vm *vm, int device, struct value seed);

// ---- NumPy (numpy_promote.c)
// The tensors among arguments[i] (of a map, for all i with tensor_at[i]) converted to the
// dtype NumPy computes in.
enum outcome numpy_promote(struct call *call);
// A dtype for a creation function of np that was given none.
enum dtype numpy_default(struct scalar number);
enum dtype numpy_promote_types(enum dtype a, enum dtype b);
enum dtype numpy_floating(enum dtype dtype); // what exp and / compute in
enum outcome array_repr(struct vm *vm, struct value value, bool is_str,
                        struct text *text);

#endif
