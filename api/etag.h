// SPDX-License-Identifier: Apache-2.0
// Versions as entity tags: "<boot>.<serial>.<writes>" names a version, ".<format>" its
// representation in a format, ".<hash>" a part or a conversion of that. Comparisons of
// versions look at the first three fields only, so that any tag of a tensor guards it.
// Pure functions; any thread.
#ifndef TENSORD_API_ETAG_H
#define TENSORD_API_ETAG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct version {
    uint64_t boot;   // of the process
    uint64_t serial; // of the binding
    uint64_t writes; // of its storage
};

enum { ETAG_SIZE = 96 };
// Writes the tag with its quotes, terminated; its length. format may be NULL (the version
// alone). part: texts (index=, dtype=) that choose a part, NULL or "" for none.
size_t etag_write(char tag[ETAG_SIZE], const struct version *version, const char *format,
                  const char *index, const char *dtype);

// Is some tag of a field (a list, or *) of this version? The values of If-Match,
// If-None-Match on writes, and `if` (whose tags may lack their quotes). A weak tag never
// matches when strong.
bool etag_names_version(const char *field, const struct version *version, bool strong);
// Is tag (with quotes) in the list, by weak comparison? If-None-Match on reads. *
// matches.
bool etag_in_list(const char *field, const char *tag);
// Is the field exactly this strong tag? If-Range.
bool etag_equals(const char *field, const char *tag);
#endif
