// SPDX-License-Identifier: Apache-2.0
// How an image is built, for image.c (life, thawing) and freeze.c. Nobody else includes
// this.
//
// An image is a table of objects in one arena. Values inside it refer to objects by their
// place in the table (VALUE_OBJECT: i), so that nothing in it points into a heap.
#ifndef TENSORD_API_LANG_IMAGE_INTERNAL_H
#define TENSORD_API_LANG_IMAGE_INTERNAL_H

#include "api/lang/image.h"
#include "tensor/arena.h"

struct image_object {
    uint8_t kind; // enum object_kind
    int64_t count;
    struct value *items; // what it contains, in the order of freeze.c's item_at
    union {
        struct {
            const char *text;
            int64_t bytes;
        } string;
        struct {
            int64_t start, stop, step;
        } range;
        struct {
            bool is_size;
            const char *const *fields;
            const char *type_text;
        } tuple;
        struct code *code; // FUNCTION: a reference
        struct {
            struct tensor *tensor; // a reference; its storage is held
            bool is_array, is_parameter, requires_grad;
        } tensor;
        struct {
            int type;
            bool training, approximate;
            int64_t sizes[2];
            double p;
        } module;
    };
};
struct image_root {
    const char *name; // in the arena
    struct value value;
};
struct image {
    atomic_int references;
    struct account *account;
    int64_t bytes; // charged
    struct arena arena;
    int n_objects, n_roots;
    struct image_object *objects;
    struct image_root *roots;
};

// An image that a program has thawed, and what its objects became.
struct thawed_image {
    struct image *image;     // a reference
    struct object **objects; // references
    struct lazy **lazies;    // of tensors as they were: references, else NULL
};
struct thawed {
    struct heap *heap;
    struct cells *cells;
    struct name_space *space;
    int64_t held;
    int count, capacity;
    struct thawed_image *images;
};

void image_release(struct image *image);
// A name of the image (takes no reference: makes its own); NULL when memory is out.
struct named *image_name_new(struct image *image, int root);
#endif
