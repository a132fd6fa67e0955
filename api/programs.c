// SPDX-License-Identifier: Apache-2.0
// See programs.h. A place holds the last program with its hash; what is found is compared
// byte by byte. Refused programs are compiled anew. HTTP thread.
#include "api/programs.h"

#include <string.h>

#include "api/lang/code.h"

static struct code **place_of(struct programs *programs, const char *source, size_t bytes)
{
    uint64_t hash = 0;
    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ (unsigned char)source[i]) * 0x9E3779B97F4A7C15u;
    return &programs->kept[(hash >> 32) % PROGRAMS_KEPT];
}

static bool is_of(const struct code *code, const char *source, size_t bytes)
{
    return code != NULL && code->unit->source_bytes == bytes &&
           memcmp(code->unit->source, source, bytes) == 0;
}

enum status programs_compile(struct programs *programs, const char *source, size_t bytes,
                             struct code **out, struct problem *problem)
{
    if (bytes == 0 || bytes > PROGRAMS_SOURCE_MAX)
        return program_compile(source, bytes, false, out, problem);
    struct code **place = place_of(programs, source, bytes);
    if (!is_of(*place, source, bytes)) {
        struct code *code;
        enum status status = program_compile(source, bytes, false, &code, problem);
        if (status != STATUS_OK)
            return status;
        code_release(*place);
        *place = code;
    }
    *out = code_reference(*place);
    return STATUS_OK;
}

void programs_clear(struct programs *programs)
{
    for (int i = 0; i < PROGRAMS_KEPT; i++) {
        code_release(programs->kept[i]);
        programs->kept[i] = NULL;
    }
}
