// SPDX-License-Identifier: Apache-2.0
// Accept (RFC 9110, 12.5.1): the most specific range that matches a type gives its
// quality; the best quality wins, and among equals the first in the order of enum format.
#include "api/negotiate.h"

#include <string.h>
#include <strings.h>

// A media range of Accept: type/subtype and its quality in thousandths.
struct media_range {
    const char *type;
    size_t length; // of "type/subtype"
    int quality;
};

// ";q=0.5" among parameters; 1000 without. Other parameters are passed over.
static int read_quality(const char *parameters, size_t length)
{
    for (size_t i = 0; i + 2 < length; i++) {
        bool starts = i == 0 || parameters[i - 1] == ';' || parameters[i - 1] == ' ';
        if (!starts || (parameters[i] | 0x20) != 'q' || parameters[i + 1] != '=')
            continue;
        int quality = parameters[i + 2] == '1' ? 1000 : 0, scale = 100;
        if (parameters[i + 2] == '0' && i + 3 < length && parameters[i + 3] == '.')
            for (size_t j = i + 4; j < length && scale > 0; j++, scale /= 10) {
                if (parameters[j] < '0' || parameters[j] > '9')
                    break;
                quality += (parameters[j] - '0') * scale;
            }
        return quality;
    }
    return 1000;
}

// The next range of the field; what follows, NULL at the end.
static const char *next_range(const char *field, struct media_range *out)
{
    field += strspn(field, " \t,");
    if (*field == '\0')
        return NULL;
    size_t whole = strcspn(field, ",");
    out->type = field;
    out->length = strcspn(field, ",; \t");
    out->quality = read_quality(field + out->length, whole - out->length);
    return field + whole;
}

// 3: the type itself; 2: type/*; 1: */*; 0: another type.
static int specificity(const struct media_range *range, const char *type, size_t length)
{
    const char *slash = memchr(type, '/', length);
    size_t main = slash != NULL ? (size_t)(slash - type) + 1 : length;
    if (range->length == length && strncasecmp(range->type, type, length) == 0)
        return 3;
    if (range->length == main + 1 && range->type[main] == '*' &&
        strncasecmp(range->type, type, main) == 0)
        return 2;
    return range->length == 3 && memcmp(range->type, "*/*", 3) == 0 ? 1 : 0;
}

static int type_quality(const char *accept, const char *type)
{
    int best = 0, quality = 0;
    struct media_range range;
    while ((accept = next_range(accept, &range)) != NULL) {
        int specific = specificity(&range, type, strcspn(type, ";"));
        if (specific > best) {
            best = specific;
            quality = range.quality;
        }
    }
    return quality;
}

unsigned negotiate_writable(void)
{
    unsigned mask = 0;
    for (int i = 0; i < FORMAT_COUNT; i++)
        if (format_row(i)->writable)
            mask |= 1u << i;
    return mask;
}

static enum status refuse(const char *wanted, unsigned allowed, struct problem *problem)
{
    char list[128];
    size_t length = 0;
    list[0] = '\0';
    for (int i = 0; i < FORMAT_COUNT; i++) {
        const char *name = format_row(i)->name;
        size_t count = strlen(name);
        if (!(allowed >> i & 1) || length + count + 3 > sizeof list)
            continue;
        if (length > 0) {
            memcpy(list + length, ", ", 2);
            length += 2;
        }
        memcpy(list + length, name, count + 1);
        length += count;
    }
    return problem_set(problem, STATUS_NOT_ACCEPTABLE,
                       "\"%.60s\" is no form of this; there are %s (format=).", wanted,
                       list);
}

enum status negotiate_format(const char *name, const char *accept, unsigned allowed,
                             enum format *out, struct problem *problem)
{
    if (name != NULL) {
        if (format_parse(name, strlen(name), out) && (allowed >> *out & 1))
            return STATUS_OK;
        return refuse(name, allowed, problem);
    }
    *out = FORMAT_JSON;
    if (accept == NULL || *accept == '\0' || strcmp(accept, "*/*") == 0)
        return STATUS_OK;
    int best = 0;
    for (int i = 0; i < FORMAT_COUNT; i++) {
        int quality =
            allowed >> i & 1 ? type_quality(accept, format_row(i)->media_type) : 0;
        if (quality > best) {
            best = quality;
            *out = (enum format)i;
        }
    }
    return best > 0 ? STATUS_OK : refuse(accept, allowed, problem);
}

bool negotiate_html(const char *accept)
{
    if (accept == NULL)
        return false;
    int html = type_quality(accept, "text/html");
    return html > 0 && html > type_quality(accept, "text/plain") &&
           html > type_quality(accept, "application/json");
}
