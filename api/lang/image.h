// SPDX-License-Identifier: Apache-2.0
// Values between programs: what a name holds when no program runs.
//
// An image is an immutable copy of values that hang together: everything reachable from
// the names that a program assigned, so that `a = []; b = a` stays one list. It stands
// behind the names in the registry (struct named). A later program that looks such a name
// up thaws the whole image into its own heap, once; when it commits, images whose objects
// may have been changed are frozen anew, with all names that hold them. So a program that
// fails has changed nothing, and one name's value never changes under a reader.
//
//   numbers, strings, containers, functions (with defaults and closures), modules
//
// Values that cannot be stored (devices, types, namespaces, iterators, generator
// expressions) stay in their program: a name that holds one, or a container with one
// inside, is not stored. Tensors inside containers, closures and modules are kept as
// tensors that share their storage. Memory: an image is charged to its user's account on
// the host, 1 KiB at least. Threads: images are immutable; a counter keeps them. Freezing
// and thawing belong to the program's thread.
#ifndef TENSORD_API_LANG_IMAGE_H
#define TENSORD_API_LANG_IMAGE_H

#include "api/lang/value.h"
#include "tensor/cells.h"
#include "tensor/registry.h"

struct image; // counted; shared by all its names

// One name of an image: struct named first.
struct image_name {
    struct named named;
    struct image *image; // a reference
    int root;            // which of its values
};

// ---- Thawing. A program's record of the images it has thawed.
struct thawed;
// space: tensors that one of its read-only names shows cannot be written through images
// either.
enum status thawed_create(struct heap *heap, struct cells *cells,
                          struct name_space *space, struct thawed **out,
                          struct problem *problem);
// Bytes of the host that the program holds; they do not come back while freeze waits.
void thawed_note_held(struct thawed *thawed, int64_t bytes);
// Lets the objects go, before their heap does; NULL is ignored. thawed_free follows when
// the heap is gone: its objects may be constants of functions that only an image keeps.
void thawed_clear(struct thawed *thawed);
void thawed_free(struct thawed *thawed);
bool thawed_any(const struct thawed *thawed);
// The value of a name (a new reference). The image's other names share its objects.
enum status thaw(struct thawed *thawed, const char *name, const struct named *named,
                 struct value *out, struct problem *problem);
// What thawing the name's image takes, in bytes.
int64_t image_size(const struct named *named);
// JSON-free facts for listings, without thawing: the type's name ("int", "function",
// "Sequential") and, for functions and modules, how it prints.
const char *image_type_text(const struct named *named);

// ---- Freezing. After the last flush of the program.
struct freeze_name {
    const char *name; // terminated; borrowed
    struct value
        value; // borrowed; ABSENT: deleted, or bound to something that is no image
};
struct frozen_name {
    const char *name;     // borrowed from freeze_name or from an image in `thawed`
    struct named *object; // a reference
    struct value value;   // what was frozen, in the program's heap; borrowed
};
struct frozen {
    int count, capacity;
    struct frozen_name *names; // malloc'ed
};
// Makes images for the names that a program bound to storable values, and anew for the
// names of every thawed image that was changed, or that shares an object with one of
// those: as far as they are still bound to it in space and not among the program's own.
// Values that hang together get one image. STATUS_OUT_OF_MEMORY.
enum status freeze(const struct thawed *thawed, struct account *account,
                   struct name_space *space, const struct freeze_name *names, int count,
                   struct frozen *out, struct problem *problem);
void frozen_free(struct frozen *frozen);
// Whether a value can be stored: false for iterators, devices and the like, and for what
// contains one. STATUS_OUT_OF_MEMORY.
enum status value_is_storable(struct value value, bool *storable,
                              struct problem *problem);

// Makes room for one more item of an array that grows while names are gathered; false when
// memory is out.
bool image_grow(void *items, int *capacity, int count, size_t item_size);
#endif
