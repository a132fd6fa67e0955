// SPDX-License-Identifier: Apache-2.0
// Wire formats of tensors: names, media types, suffixes, and the two interfaces every
// format implements: a push reader (bytes arrive in pieces of any size) and a pull writer
// (fills a buffer of any size). Formats know nothing of HTTP, registries or devices.
// Adding one: a row in format_table (format.c), a file reader/writer here, tests in
// tests/unit/api/, a corpus in tests/fuzz/.
#ifndef TENSORD_API_FORMATS_FORMAT_H
#define TENSORD_API_FORMATS_FORMAT_H

#include "kernels/base/dtype.h"
#include "kernels/base/problem.h"
#include "kernels/base/size.h"

enum { FORMAT_MAX_NDIM = 32 };

enum format {
    FORMAT_JSON,
    FORMAT_NPY,
    FORMAT_RAW,
    FORMAT_CSV,
    FORMAT_TEXT,
    FORMAT_COUNT
};

struct format_row {
    const char *name;       // "npy": ?format=
    const char *suffix;     // ".npy"; names may not end in it
    const char *media_type; // of answers, with parameters
    bool readable, writable;
};
const struct format_row *format_row(enum format format);
bool format_parse(const char *name, size_t length, enum format *out);

// Where a reader puts elements. Memory is admitted by the owner: it may refuse
// (OUT_OF_MEMORY, TOO_LARGE).
struct reader_memory {
    void *context;
    // Grows (or first makes) the one buffer to at least bytes, keeping its content; *data
    // is its new address.
    enum status (*reserve)(void *context, int64_t bytes, void **data,
                           struct problem *problem);
};

// What a reader needs to know before the first byte, and what it found.
struct reader_options {
    bool has_dtype;
    enum dtype dtype; // RAW: of the bytes. Others: a conversion the owner does later,
                      // except that JSON and CSV parse straight into it
    bool has_shape;   // RAW only
    int ndim;
    int64_t shape[FORMAT_MAX_NDIM]; // one -1 is inferred
    int64_t length;                 // declared body bytes or -1
    int64_t max_bytes;              // of the body
};
struct reader_result {
    enum dtype dtype;
    int ndim;
    int64_t shape[FORMAT_MAX_NDIM];
    bool fortran_order; // npy: elements are in Fortran order
    void *data; // in the reader_memory's buffer; native byte order; NULL if there are no
                // elements
    int64_t bytes;
    bool has_device; // JSON's "device" member
    char device[16];
};

struct reader; // opaque
enum status reader_open(enum format format, const struct reader_options *options,
                        const struct reader_memory *memory, struct reader **out,
                        struct problem *problem);
// Any split of the body gives the same result. After an error the reader only accepts
// close.
enum status reader_feed(struct reader *reader, const char *bytes, size_t count,
                        struct problem *problem);
// The body is complete: checks that nothing is missing.
enum status reader_finish(struct reader *reader, struct reader_result *result,
                          struct problem *problem);
void reader_close(struct reader *reader);

// What a writer prints: C-contiguous host elements.
struct writer_options {
    enum format format;
    enum dtype dtype;
    int ndim;
    int64_t shape[FORMAT_MAX_NDIM];
    const void *
        data; // borrowed until writer_close; may be NULL for NPY and RAW with header_only
    const char *name;   // JSON, TEXT; NULL: no "name" member
    const char *device; // JSON, TEXT
    const char *suffix; // TEXT: shown after device, size and dtype; NULL: none
    bool header_only;   // NPY: only the header (the elements travel by another road)
    bool bare;          // JSON: only the nested list, no object, no newline
};
struct writer;
enum status writer_open(const struct writer_options *options, struct writer **out,
                        struct problem *problem);
// Exact length of the whole output if it is cheap to know (npy, raw), else -1.
int64_t writer_length(const struct writer *writer);
// Fills up to size bytes; 0 at the end. size is at least 512.
size_t writer_next(struct writer *writer, char *buffer, size_t size);
void writer_close(struct writer *writer);

// npy's header for dtype and shape into buffer (at least 1 KiB); its length (a multiple
// of 64). bfloat16 is announced as '<f4'.
size_t npy_header(enum dtype dtype, int ndim, const int64_t *shape, char *buffer);
// The shortest digits that round-trip the dtype, floats with ".0"; NaN, Infinity,
// -Infinity without quotes. Length written
// (<= 32), no terminator.
size_t print_element(union element element, enum dtype dtype, char *buffer);
// One number in JSON's or CSV's syntax. Accepts what JSON accepts, plus NaN, Infinity,
// -Infinity. Returns characters used; 0 if it is none. INT when it has neither point nor
// exponent and fits int64; integers beyond: *is_big with the double nearest.
size_t parse_number(const char *text, size_t length, struct scalar *out, bool *is_big);
#endif
