// SPDX-License-Identifier: Apache-2.0
// JSON data: any cut gives the same outcome, and what was read comes back bit for bit.
// The last byte chooses a dtype to read into.
#include "tests/fuzz/fuzz.h"

int fuzz_json(const uint8_t *data, size_t size)
{
    struct fuzz_reading reading;
    struct reader_options options = {.length = -1, .max_bytes = 1 << 20}, plain = options;
    fuzz_read_splits(&reading, FORMAT_JSON, &options, data, size);
    if (reading.status == STATUS_OK) {
        fuzz_round_trip(&reading, FORMAT_JSON, &plain);
        fuzz_round_trip(&reading, FORMAT_TEXT, &plain);
    }
    fuzz_release(&reading);
    if (size == 0)
        return 0;
    options.has_dtype = true;
    options.dtype = (enum dtype)(data[size - 1] % DTYPE_COUNT);
    options.length = (int64_t)size;
    fuzz_read_splits(&reading, FORMAT_JSON, &options, data, size);
    if (reading.status == STATUS_OK) {
        FUZZ_REQUIRE(reading.result.dtype == options.dtype);
        fuzz_round_trip(&reading, FORMAT_JSON, &plain);
    }
    fuzz_release(&reading);
    return 0;
}
