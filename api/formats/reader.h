// SPDX-License-Identifier: Apache-2.0
// What every reader has in common: the table of its functions and the account of the
// bytes fed. A reader's struct begins with a struct reader; its open function allocates
// it zeroed, reader.c frees it. The formats' own header.
#ifndef TENSORD_API_FORMATS_READER_H
#define TENSORD_API_FORMATS_READER_H

#include "api/formats/format.h"

struct reader_vtable {
    enum status (*feed)(struct reader *reader, const char *bytes, size_t count,
                        struct problem *problem);
    enum status (*finish)(struct reader *reader, struct reader_result *result,
                          struct problem *problem);
};

struct reader {
    const struct reader_vtable *vt;
    struct reader_options options;
    struct reader_memory memory;
    int64_t fed; // bytes before the current feed
    bool failed;
};

// A zeroed struct of size bytes that begins with a struct reader; the caller's. NULL: out
// of memory, in problem.
struct reader *reader_allocate(size_t size, const struct reader_vtable *vt,
                               const struct reader_options *options,
                               const struct reader_memory *memory,
                               struct problem *problem);

enum status json_reader_open(const struct reader_options *options,
                             const struct reader_memory *memory, struct reader **out,
                             struct problem *problem);
enum status npy_reader_open(const struct reader_options *options,
                            const struct reader_memory *memory, struct reader **out,
                            struct problem *problem);
enum status raw_reader_open(const struct reader_options *options,
                            const struct reader_memory *memory, struct reader **out,
                            struct problem *problem);
enum status csv_reader_open(const struct reader_options *options,
                            const struct reader_memory *memory, struct reader **out,
                            struct problem *problem);

// "(2, 3)" into text, truncated to size.
void reader_shape_text(int ndim, const int64_t *shape, char *text, size_t size);
// The first of count bytes that is neither 0 nor 1, or count: what a bool may not be.
int64_t reader_find_bad_bool(const uint8_t *bytes, int64_t count);
// Replaces one -1 in shape so that it has count elements; STATUS_SHAPE if it cannot.
enum status reader_infer_shape(int64_t count, int ndim, int64_t *shape,
                               struct problem *problem);
#endif
