// SPDX-License-Identifier: Apache-2.0
// What every writer has in common. A writer's struct begins with a struct writer;
// writer.c frees it. The formats' own header.
#ifndef TENSORD_API_FORMATS_WRITER_H
#define TENSORD_API_FORMATS_WRITER_H

#include "api/formats/number.h"

enum { WRITER_MIN_BUFFER = 512 };

struct writer_vtable {
    // Fills up to size (>= WRITER_MIN_BUFFER) bytes; 0 at the end.
    size_t (*next)(struct writer *writer, char *buffer, size_t size);
};

struct writer {
    const struct writer_vtable *vt;
    struct writer_options options;
    int64_t count;  // elements
    int64_t length; // of the whole output, or -1
};

// Zeroed, with options, count and length -1 set; the caller's. STATUS_OUT_OF_MEMORY, or
// STATUS_SHAPE if the shape does not describe elements in memory.
enum status writer_allocate(size_t size, const struct writer_vtable *vt,
                            const struct writer_options *options, struct writer **out,
                            struct problem *problem);

enum status json_writer_open(const struct writer_options *options, struct writer **out,
                             struct problem *problem);
enum status npy_writer_open(const struct writer_options *options, struct writer **out,
                            struct problem *problem);
enum status raw_writer_open(const struct writer_options *options, struct writer **out,
                            struct problem *problem);
enum status csv_writer_open(const struct writer_options *options, struct writer **out,
                            struct problem *problem);
enum status text_writer_open(const struct writer_options *options, struct writer **out,
                             struct problem *problem);

// STATUS_NOT_ACCEPTABLE if a tensor without elements would be written as more lists or
// lines than anybody wants: its text would not be bounded by its bytes.
enum status writer_check_rows(int64_t count, int64_t rows, struct problem *problem);

// The i-th element of data.
static inline union element writer_element(const struct writer *writer, int64_t i)
{
    const char *data = writer->options.data;
    union element element = {.i64 = 0};
    switch (dtype_size(
        writer->options.dtype)) { // sizes known to the compiler make plain loads
    case 1:
        memcpy(&element, data + i, 1);
        break;
    case 2:
        memcpy(&element, data + i * 2, 2);
        break;
    case 4:
        memcpy(&element, data + i * 4, 4);
        break;
    default:
        memcpy(&element, data + i * 8, 8);
    }
    return element;
}
#endif
