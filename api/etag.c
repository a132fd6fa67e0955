// SPDX-License-Identifier: Apache-2.0
// Writing and comparing entity tags (RFC 9110, 8.8.3).
#include "api/etag.h"

#include <string.h>

#include "api/text.h"

static uint64_t hash_text(uint64_t hash, const char *text)
{
    for (; *text != '\0'; text++)
        hash = (hash ^ (unsigned char)*text) * 0x100000001B3u; // FNV-1a
    return (hash ^ 0xFF) * 0x100000001B3u;
}

size_t etag_write(char tag[ETAG_SIZE], const struct version *version, const char *format,
                  const char *index, const char *dtype)
{
    struct text text;
    text_begin(&text, tag,
               ETAG_SIZE); // 3 * 16 + 16 digits, a short name and punctuation fit
    text_literal(&text, "\"");
    text_hex(&text, version->boot);
    text_literal(&text, ".");
    text_hex(&text, version->serial);
    text_literal(&text, ".");
    text_hex(&text, version->writes);
    if (format != NULL) {
        text_literal(&text, ".");
        text_string(&text, format);
    }
    if ((index != NULL && *index != '\0') || (dtype != NULL && *dtype != '\0')) {
        uint64_t hash = hash_text(0xCBF29CE484222325u, index != NULL ? index : "");
        text_literal(&text, ".");
        text_hex(&text, hash_text(hash, dtype != NULL ? dtype : ""));
    }
    text_add(&text, "\"", 2);
    return text.length - 1;
}

// The next tag of a list. Returns what follows, NULL at the end. *length 0: a piece that
// is no tag.
static const char *next_tag(const char *field, const char **tag, size_t *length,
                            bool *weak)
{
    while (*field == ' ' || *field == '\t' || *field == ',')
        field++;
    if (*field == '\0')
        return NULL;
    *weak = field[0] == 'W' && field[1] == '/';
    if (*weak)
        field += 2;
    if (*field == '"') {
        const char *end = strchr(field + 1, '"');
        *tag = field + 1;
        *length = end != NULL ? (size_t)(end - field - 1) : 0;
        return end != NULL ? end + 1 : field + strlen(field);
    }
    *tag = field; // without quotes, as in a JSON member
    *length = strcspn(field, " \t,\"");
    return field + (*length > 0 ? *length : 1);
}

// Does the tag (without quotes) begin with the three fields of version?
static bool begins_with_version(const char *tag, size_t length,
                                const struct version *version)
{
    char own[ETAG_SIZE];
    size_t count = etag_write(own, version, NULL, NULL, NULL) - 2;
    return length >= count && memcmp(tag, own + 1, count) == 0 &&
           (length == count || tag[count] == '.');
}

static bool is_star(const char *field)
{
    field += strspn(field, " \t");
    return field[0] == '*' && field[1 + strspn(field + 1, " \t")] == '\0';
}

bool etag_names_version(const char *field, const struct version *version, bool strong)
{
    const char *tag;
    size_t length;
    bool weak;
    if (is_star(field))
        return true;
    while ((field = next_tag(field, &tag, &length, &weak)) != NULL)
        if (!(weak && strong) && begins_with_version(tag, length, version))
            return true;
    return false;
}

bool etag_in_list(const char *field, const char *tag)
{
    const char *other;
    size_t length, own = strlen(tag) - 2;
    bool weak;
    if (is_star(field))
        return true;
    while ((field = next_tag(field, &other, &length, &weak)) != NULL)
        if (length == own && memcmp(other, tag + 1, own) == 0)
            return true;
    return false;
}

bool etag_equals(const char *field, const char *tag)
{
    size_t length = strlen(tag);
    return strncmp(field, tag, length) == 0 &&
           field[length + strspn(field + length, " \t")] == '\0';
}
