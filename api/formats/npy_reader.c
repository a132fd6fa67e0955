// SPDX-License-Identifier: Apache-2.0
// npy files, versions 1 to 3: the header is gathered and parsed, memory is reserved once,
// then the bytes go straight to their place and big-endian elements are swapped as they
// become complete. One thread at a time.
#include "api/formats/npy_header.h"
#include "api/formats/reader.h"

#include <inttypes.h>

// The longest header that is read; NumPy itself refuses more than 10,000 bytes unless
// told otherwise.
enum { NPY_MAX_HEADER = 65535, NPY_MAX_PREFIX = 12 };

// What comes next. Each part of the header says how long the next one is.
enum npy_part { NPY_MAGIC, NPY_LENGTH, NPY_DICTIONARY, NPY_ELEMENTS };

struct npy_reader {
    struct reader base;
    struct npy_dictionary dictionary;
    enum npy_part part;
    int64_t header_needed; // bytes up to the end of part
    int64_t header_received;
    char *data;
    int64_t bytes, received, swapped; // of the elements
    char header[NPY_MAX_PREFIX + NPY_MAX_HEADER];
};

// ---- The header

static int prefix_length(const struct npy_reader *npy)
{
    return npy->header[6] == 1 ? 10 : 12;
}

static enum status read_version(struct npy_reader *npy, struct problem *problem)
{
    int major = npy->header[6], minor = npy->header[7];
    if (major < 1 || major > 3 || minor != 0)
        return problem_set(problem, STATUS_MALFORMED,
                           "npy version %d.%d is not known; 1 to 3 are.", major & 0xFF,
                           minor & 0xFF);
    npy->header_needed = prefix_length(npy);
    return STATUS_OK;
}

static enum status read_length(struct npy_reader *npy, struct problem *problem)
{
    const uint8_t *bytes = (const uint8_t *)npy->header;
    int64_t length = bytes[8] | bytes[9] << 8;
    if (bytes[6] > 1)
        length |= (int64_t)bytes[10] << 16 | (int64_t)bytes[11] << 24;
    if (length > NPY_MAX_HEADER)
        return problem_set(problem, STATUS_MALFORMED,
                           "The npy header claims %" PRId64
                           " bytes; at most %d are read.",
                           length, NPY_MAX_HEADER);
    npy->header_needed += length;
    return STATUS_OK;
}

static enum status wrong_length(int64_t got, int64_t expected, const char *how,
                                struct problem *problem)
{
    return problem_set(problem, STATUS_MALFORMED,
                       "The npy body has %s%" PRId64
                       " bytes of elements; its header asks for %" PRId64 ".",
                       how, got, expected);
}

// The header is whole: parse it, compare it with the declared length, reserve.
static enum status begin_elements(struct npy_reader *npy, struct problem *problem)
{
    struct npy_dictionary *dictionary = &npy->dictionary;
    struct reader *reader = &npy->base;
    int prefix = prefix_length(npy);
    enum status status = npy_dictionary_parse(npy->header + prefix,
                                              (size_t)(npy->header_received - prefix),
                                              dictionary, problem);
    if (status != STATUS_OK)
        return status;
    if (!size_of_shape(dictionary->ndim, dictionary->shape, &npy->bytes) ||
        !size_multiply(npy->bytes, dtype_size(dictionary->dtype), &npy->bytes)) {
        problem_set(problem, STATUS_SHAPE,
                    "The npy header's shape has too many elements.");
        reader_shape_text(dictionary->ndim, dictionary->shape, problem->shapes,
                          sizeof problem->shapes);
        return problem->status;
    }
    int64_t length = reader->options.length;
    if (length >= 0 && length - npy->header_received != npy->bytes)
        return wrong_length(length - npy->header_received, npy->bytes, "", problem);
    if (npy->bytes > reader->options.max_bytes - npy->header_received)
        return problem_set(problem, STATUS_TOO_LARGE,
                           "The npy header asks for %" PRId64 " bytes; at most %" PRId64
                           " are read here.",
                           npy->bytes, reader->options.max_bytes);
    if (npy->bytes == 0)
        return STATUS_OK;
    void *data;
    status = reader->memory.reserve(reader->memory.context, npy->bytes, &data, problem);
    npy->data = data;
    return status;
}

static enum status not_npy(struct problem *problem)
{
    return problem_set(problem, STATUS_MALFORMED,
                       "The body does not begin with npy's magic \\x93NUMPY.");
}

// Moves bytes into the header until the part is whole (true) or they run out.
static bool gather(struct npy_reader *npy, const char **bytes, size_t *count)
{
    size_t part = (size_t)(npy->header_needed - npy->header_received);
    if (part > *count)
        part = *count;
    memcpy(npy->header + npy->header_received, *bytes, part);
    npy->header_received += (int64_t)part;
    *bytes += part;
    *count -= part;
    return npy->header_received == npy->header_needed;
}

// Takes header bytes from *bytes until the header is done or they run out.
static enum status feed_header(struct npy_reader *npy, const char **bytes, size_t *count,
                               struct problem *problem)
{
    static const char magic[] = "\x93NUMPY";
    enum status status = STATUS_OK;
    while (status == STATUS_OK && npy->part != NPY_ELEMENTS) {
        bool whole = gather(npy, bytes, count);
        size_t seen = npy->header_received < 6 ? (size_t)npy->header_received : 6;
        if (memcmp(npy->header, magic, seen) != 0)
            return not_npy(problem);
        if (!whole)
            return STATUS_OK;
        if (npy->part == NPY_MAGIC)
            status = read_version(npy, problem);
        else if (npy->part == NPY_LENGTH)
            status = read_length(npy, problem);
        else
            status = begin_elements(npy, problem);
        npy->part++;
    }
    return status;
}

// ---- Elements

// One loop for each size, which compilers turn into vector code. The memory is aligned
// for its elements, as malloc aligns.
static void swap_elements(struct npy_reader *npy)
{
    int size = dtype_size(npy->dictionary.dtype);
    int64_t count = (npy->received - npy->swapped) / size;
    void *start = npy->data + npy->swapped;
    uint16_t *halves = start;
    uint32_t *words = start;
    uint64_t *longs = start;
    for (int64_t i = 0; size == 2 && i < count; i++)
        halves[i] = __builtin_bswap16(halves[i]);
    for (int64_t i = 0; size == 4 && i < count; i++)
        words[i] = __builtin_bswap32(words[i]);
    for (int64_t i = 0; size == 8 && i < count; i++)
        longs[i] = __builtin_bswap64(longs[i]);
    npy->swapped += count * size;
}

// Bytes of elements; what is wrong with the first of them is said first, however the body
// is cut.
static enum status take_elements(struct npy_reader *npy, const char *bytes, int64_t count,
                                 struct problem *problem)
{
    if (npy->dictionary.dtype == DTYPE_BOOL) {
        int64_t bad = reader_find_bad_bool((const uint8_t *)bytes, count);
        if (bad < count)
            return problem_set(problem, STATUS_VALUE,
                               "Element %" PRId64 " is the byte %d; a bool is 0 or 1.",
                               npy->received + bad, (uint8_t)bytes[bad]);
    }
    memcpy(npy->data + npy->received, bytes, (size_t)count);
    npy->received += count;
    if (npy->dictionary.big_endian && dtype_size(npy->dictionary.dtype) > 1)
        swap_elements(npy);
    return STATUS_OK;
}

static enum status npy_feed(struct reader *reader, const char *bytes, size_t count,
                            struct problem *problem)
{
    struct npy_reader *npy = (struct npy_reader *)reader;
    enum status status = feed_header(npy, &bytes, &count, problem);
    if (status != STATUS_OK || count == 0)
        return status;
    int64_t left = npy->bytes - npy->received, part = (int64_t)count;
    part = part < left ? part : left;
    if (part > 0)
        status = take_elements(npy, bytes, part, problem);
    if (status == STATUS_OK && part < (int64_t)count)
        return wrong_length(npy->bytes, npy->bytes, "more than ", problem);
    return status;
}

static enum status npy_finish(struct reader *reader, struct reader_result *result,
                              struct problem *problem)
{
    struct npy_reader *npy = (struct npy_reader *)reader;
    if (npy->header_received < 6)
        return not_npy(problem);
    if (npy->part != NPY_ELEMENTS)
        return problem_set(problem, STATUS_MALFORMED,
                           "The npy body ends inside its header.");
    if (npy->received != npy->bytes)
        return wrong_length(npy->received, npy->bytes, "", problem);
    result->dtype = npy->dictionary.dtype;
    result->ndim = npy->dictionary.ndim;
    memcpy(result->shape, npy->dictionary.shape, sizeof result->shape);
    result->fortran_order = npy->dictionary.fortran_order && result->ndim > 1;
    result->data = npy->data;
    result->bytes = npy->bytes;
    return STATUS_OK;
}

static const struct reader_vtable npy_reader_vtable = {npy_feed, npy_finish};

enum status npy_reader_open(const struct reader_options *options,
                            const struct reader_memory *memory, struct reader **out,
                            struct problem *problem)
{
    *out = reader_allocate(sizeof(struct npy_reader), &npy_reader_vtable, options, memory,
                           problem);
    if (*out == NULL)
        return problem->status;
    ((struct npy_reader *)*out)->header_needed = 8;
    return STATUS_OK;
}
