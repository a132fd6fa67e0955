// SPDX-License-Identifier: Apache-2.0
// npy files: any cut gives the same outcome, a lying header reserves nothing it cannot
// fill, and what was read can be written again.
#include "tests/fuzz/fuzz.h"

int fuzz_npy(const uint8_t *data, size_t size)
{
    struct fuzz_reading reading, known;
    struct reader_options options = {.length = -1, .max_bytes = 1 << 20};
    fuzz_read_splits(&reading, FORMAT_NPY, &options, data, size);
    options.length = (int64_t)size;
    fuzz_read(&known, FORMAT_NPY, &options, data, size, 0);
    FUZZ_REQUIRE((known.status == STATUS_OK) == (reading.status == STATUS_OK));
    FUZZ_REQUIRE(known.reserved <= (int64_t)size);
    fuzz_release(&known);
    options.length = -1;
    if (reading.status == STATUS_OK) {
        fuzz_round_trip(&reading, FORMAT_NPY, &options);
        fuzz_round_trip(&reading, FORMAT_TEXT, NULL);
    }
    fuzz_release(&reading);
    return 0;
}
