// SPDX-License-Identifier: Apache-2.0
// The fuzz targets: each takes any bytes and ends the process if a promise of its parser
// is broken. They run under libFuzzer (`make fuzz`) and over the committed corpora
// (replay.c, in `make check`).
#ifndef TENSORD_TESTS_FUZZ_FUZZ_H
#define TENSORD_TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>

#include "api/formats/format.h"

int fuzz_npy(const uint8_t *data, size_t size);
int fuzz_json(const uint8_t *data, size_t size);
int fuzz_csv(const uint8_t *data, size_t size);
int fuzz_index(const uint8_t *data, size_t size);
int fuzz_program(const uint8_t *data, size_t size);
int fuzz_eval(const uint8_t *data, size_t size);

// Prints what does not hold and aborts, so that the fuzzer keeps the input.
#define FUZZ_REQUIRE(condition)                                                          \
    do {                                                                                 \
        if (!(condition))                                                                \
            fuzz_fail(__FILE__, __LINE__, #condition);                                   \
    } while (0)
_Noreturn void fuzz_fail(const char *file, int line, const char *condition);

// One reading of a body.
struct fuzz_reading {
    enum status status;
    struct problem problem;
    struct reader_result result;
    void *memory;
    int64_t reserved;
};
// Reads data in pieces whose sizes follow from seed; 0: at once. Checks that a result is
// consistent in itself.
void fuzz_read(struct fuzz_reading *reading, enum format format,
               const struct reader_options *options, const uint8_t *data, size_t size,
               uint32_t seed);
void fuzz_release(struct fuzz_reading *reading);
// Reads data at once, byte by byte and in odd pieces, and requires the same outcome; the
// first one is returned.
void fuzz_read_splits(struct fuzz_reading *reading, enum format format,
                      const struct reader_options *options, const uint8_t *data,
                      size_t size);
// Writes an accepted value in format and requires that reading it with options gives the
// same elements.
void fuzz_round_trip(const struct fuzz_reading *reading, enum format format,
                     const struct reader_options *options);
#endif
