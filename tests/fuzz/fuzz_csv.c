// SPDX-License-Identifier: Apache-2.0
// CSV: any cut gives the same outcome, and what was read comes back bit for bit.
#include "tests/fuzz/fuzz.h"

int fuzz_csv(const uint8_t *data, size_t size)
{
    struct fuzz_reading reading;
    struct reader_options options = {.length = -1, .max_bytes = 1 << 20};
    fuzz_read_splits(&reading, FORMAT_CSV, &options, data, size);
    if (reading.status == STATUS_OK)
        fuzz_round_trip(&reading, FORMAT_CSV, &options);
    fuzz_release(&reading);
    options.has_dtype = true;
    options.dtype = (enum dtype)(size % DTYPE_COUNT);
    options.length = (int64_t)size;
    fuzz_read_splits(&reading, FORMAT_CSV, &options, data, size);
    if (reading.status == STATUS_OK)
        fuzz_round_trip(&reading, FORMAT_CSV,
                        &(struct reader_options){.has_dtype = true,
                                                 .dtype = options.dtype,
                                                 .length = -1,
                                                 .max_bytes = 1 << 24});
    fuzz_release(&reading);
    return 0;
}
