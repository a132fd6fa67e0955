// SPDX-License-Identifier: Apache-2.0
// The table of wire formats. Constant; any thread.
#include "api/formats/format.h"

static const struct format_row format_table[FORMAT_COUNT] = {
    [FORMAT_JSON] = {"json", ".json", "application/json", true, true},
    [FORMAT_NPY] = {"npy", ".npy", "application/x-npy", true, true},
    [FORMAT_RAW] = {"raw", ".raw", "application/octet-stream", true, true},
    [FORMAT_CSV] = {"csv", ".csv", "text/csv", true, true},
    [FORMAT_TEXT] = {"text", ".txt", "text/plain; charset=utf-8", false, true},
};

const struct format_row *format_row(enum format format)
{
    return &format_table[format];
}

bool format_parse(const char *name, size_t length, enum format *out)
{
    for (int i = 0; i < FORMAT_COUNT; i++) {
        const char *known = format_table[i].name;
        if (strlen(known) == length && memcmp(known, name, length) == 0) {
            *out = (enum format)i;
            return true;
        }
    }
    return false;
}
