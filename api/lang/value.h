// SPDX-License-Identifier: Apache-2.0
// Values of the program language: what a name, a stack slot or a list element holds.
//
// A value is 16 bytes: a tag and a number or a pointer. Numbers, dtypes, devices, types,
// namespaces and native functions are immediate; everything else is an object: counted by
// reference, owned by the heap of one program, freed together at its end (which is what
// becomes of cycles).
//
// Ownership. A `struct value` passed as an argument is borrowed; one returned through a
// pointer, or stored, is a reference of the holder's. value_release never recurses: objects
// that contain others go on a list of the heap and are taken apart one by one.
// Threads. A heap belongs to one program, and a program runs on one thread at a time.
#ifndef TENSORD_API_LANG_VALUE_H
#define TENSORD_API_LANG_VALUE_H

#include "kernels/base/dtype.h"
#include "kernels/base/problem.h"

struct heap;
struct vm;
struct code;
struct lazy;   // tensor/cells.h
struct native; // api/lang/native.h

enum value_tag {
    VALUE_ABSENT, // no value: an unbound slot, an argument that was not given
    VALUE_NONE,
    VALUE_BOOL,      // i: 0 or 1
    VALUE_INT,       // i
    VALUE_WIDE,      // 2^63 to 2^64-1, in i as uint64_t: only seeds may be so large; any
                     // arithmetic on it is STATUS_OVERFLOW
    VALUE_FLOAT,     // f
    VALUE_ELLIPSIS,  // ...
    VALUE_DTYPE,     // i: enum dtype; torch.float32
    VALUE_DEVICE,    // i: device_pack()
    VALUE_TYPE,      // i: enum type; int, torch.Tensor, nn.Linear
    VALUE_NAMESPACE, // i: enum namespace; torch, np, nn, F, math ...
    VALUE_NATIVE,    // native: a function written in C
    VALUE_OP,        // i: enum op (kernels/ops.h), `flags`: enum op_flags; torch.add, x.add_
    VALUE_OBJECT,    // object
};
enum op_flags { OP_IN_PLACE = 1, OP_NUMPY = 2 };

struct value {
    uint32_t tag, flags;
    union {
        int64_t i;
        double f;
        struct object *object;
        const struct native *native;
    };
};

static inline struct value value_none(void)
{
    return (struct value){.tag = VALUE_NONE};
}
static inline struct value value_bool(bool b)
{
    return (struct value){.tag = VALUE_BOOL, .i = b};
}
static inline struct value value_int(int64_t i)
{
    return (struct value){.tag = VALUE_INT, .i = i};
}
static inline struct value value_float(double f)
{
    return (struct value){.tag = VALUE_FLOAT, .f = f};
}
static inline struct value value_dtype(enum dtype dtype)
{
    return (struct value){.tag = VALUE_DTYPE, .i = dtype};
}
// A device as a program names it; it need not exist. index -1: none ("cuda").
static inline struct value value_device(bool is_cuda, int index)
{
    return (struct value){.tag = VALUE_DEVICE, .i = (int64_t)is_cuda << 16 | (index + 1)};
}
static inline bool device_is_cuda(struct value device)
{
    return device.i >> 16 & 1;
}
static inline int device_index(struct value device)
{
    return (int)(device.i & 0xFFFF) - 1;
}

// Every type that type(x) can name, isinstance can test and a program can call.
// TYPE(symbol, "printed name" as in <class '...'>, base)
enum type {
#define TYPE(symbol, name, base) TYPE_##symbol,
#include "api/lang/types.def"
#undef TYPE
    TYPE_COUNT
};
const char *type_name(enum type type);       // "torch.Tensor"
const char *type_short_name(enum type type); // the last part: "Tensor", as in messages
enum type type_base(enum type type);         // TYPE_object at the root (its own base)
bool type_is_subtype(enum type type, enum type of);

// ---- Objects
enum object_kind {
    OBJECT_STRING,
    OBJECT_TUPLE,
    OBJECT_LIST,
    OBJECT_DICT,
    OBJECT_SET,
    OBJECT_RANGE,
    OBJECT_SLICE,
    OBJECT_VIEW,     // d.keys(), d.values(), d.items()
    OBJECT_ITERATOR, // of the built-in sequences
    OBJECT_PRODUCER, // a generator expression, map, zip ...: a suspended frame (vm)
    OBJECT_FUNCTION, // def and lambda
    OBJECT_BOUND,    // x.append: a native or op with its self
    OBJECT_BOX,      // a variable that a closure shares
    OBJECT_TENSOR,
    OBJECT_MODULE, // nn.*
    OBJECT_RECORD, // named fields: device properties, torch.no_grad()
};

struct object {
    uint32_t references;
    uint8_t kind; // enum object_kind
    bool immortal; // a constant of code: not counted, not on a heap's list
    uint32_t origin; // the image (image.h) it was taken from, 0 if it is new
    struct object *next, *previous; // on the heap's list
};

struct string { // immutable, UTF-8
    struct object object;
    int64_t bytes, characters;
    uint64_t hash; // 0: not computed yet
    char text[];   // terminated; may contain NUL
};
struct tuple {
    struct object object;
    int64_t count;
    bool is_size;              // torch.Size
    const char *const *fields; // of a named tuple (torch.return_types.max), or NULL
    const char *type_text;     // its printed name, "torch.return_types.max"
    struct value items[];
};
struct list {
    struct object object;
    int64_t count, capacity;
    struct value *items;
};
struct range {
    struct object object;
    int64_t start, stop, step, count;
};
struct slice_object {
    struct object object;
    struct value start, stop, step; // NONE where absent
};
struct view {
    struct object object;
    enum view_kind { VIEW_KEYS, VIEW_VALUES, VIEW_ITEMS } which;
    struct dict *dict; // a reference
};
struct iterator {
    struct object object;
    struct value over; // a reference; ABSENT once exhausted
    int64_t position, expected; // expected: size of a dict or set when it began
    bool backwards; // reversed()
};
struct bound {
    struct object object;
    struct value self, function; // function: NATIVE or OP
};
struct box {
    struct object object;
    struct value value; // ABSENT: not assigned yet
};
struct function {
    struct object object;
    struct code *code;          // a reference
    struct tuple *defaults;     // of the last positional parameters, or NULL
    struct dict *keyword_defaults; // or NULL
    struct tuple *closure;      // boxes, or NULL
};
struct tensor_object {
    struct object object;
    struct lazy *lazy; // a reference (tensor/cells.h)
    bool is_array;     // a NumPy ndarray on the host: prints and promotes as one
    bool is_scalar;    // an array without dimensions that is a NumPy scalar: a[0], a.sum()
    bool is_parameter; // nn.Parameter
    bool is_leaf_view; // a view of a leaf that requires grad: may not be written either
    bool requires_grad;
    const char *grad_fn; // "AddmmBackward0" of a value that was computed from such; or NULL
};
struct record {
    struct object object;
    const char *type_text;     // "_CudaDeviceProperties"
    int count;
    const char *const *fields; // static
    struct value items[];
};
// struct dict and struct set: container.h. struct module: nn.h. struct producer: vm.

static inline bool value_is_object(struct value value, enum object_kind kind)
{
    return value.tag == VALUE_OBJECT && value.object->kind == kind;
}
#define VALUE_AS(type, value) ((struct type *)(void *)(value).object)
static inline bool value_is_integer(struct value value) // bool is an int
{
    return value.tag == VALUE_INT || value.tag == VALUE_BOOL;
}
static inline bool value_is_number(struct value value)
{
    return value_is_integer(value) || value.tag == VALUE_FLOAT;
}
static inline struct value value_of(void *object) // takes the reference
{
    return (struct value){.tag = VALUE_OBJECT, .object = object};
}
static inline struct value value_reference(struct value value)
{
    if (value.tag == VALUE_OBJECT && !value.object->immortal)
        value.object->references++;
    return value;
}
void object_release_last(struct object *object); // heap.c: the count has reached 0
static inline void value_release(struct value value)
{
    if (value.tag == VALUE_OBJECT && !value.object->immortal &&
        --value.object->references == 0)
        object_release_last(value.object);
}
enum type value_type(struct value value); // what type() gives

// ---- The heap (heap.c)
// grow: called when the heap needs more memory than `granted`; admits bytes more (or refuses
// with a problem). Everything a program holds in objects is counted.
struct heap_options {
    enum status (*grow)(void *context, int64_t bytes, struct problem *problem);
    void *context;
};
enum status heap_create(const struct heap_options *options, struct heap **out,
                        struct problem *problem);
void heap_free(struct heap *heap); // with all objects that are left
int64_t heap_granted(const struct heap *heap); // bytes that grow admitted
// Zeroed behind the object header, one reference, on the heap's list. NULL: problem set.
void *heap_object(struct heap *heap, enum object_kind kind, size_t size,
                  struct problem *problem);
// Counted memory of an object's own (a list's items). size 0 frees. NULL: problem set, the
// old memory is as it was.
void *heap_resize(struct heap *heap, void *memory, size_t old_size, size_t new_size,
                  struct problem *problem);
struct heap *object_heap(struct object *object); // NULL for an immortal one

// ---- Making objects. NULL: problem set. Items are borrowed (referenced by the new object).
struct string *string_new(struct heap *heap, const char *text, size_t bytes,
                          struct problem *problem); // valid UTF-8
// Uninitialised text of so many bytes, to be filled by the caller, who then calls
// string_finish, which counts characters.
struct string *string_allocate(struct heap *heap, size_t bytes, struct problem *problem);
void string_finish(struct string *string);
struct tuple *tuple_new(struct heap *heap, int64_t count, const struct value *items,
                        struct problem *problem); // items NULL: all NONE
struct list *list_new(struct heap *heap, int64_t count, const struct value *items,
                      struct problem *problem);
bool list_append(struct heap *heap, struct list *list, struct value item,
                 struct problem *problem);
#endif
