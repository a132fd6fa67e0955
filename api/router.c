// SPDX-License-Identifier: Apache-2.0
// The router. Paths have at most five segments, so that matching is a comparison of short
// strings.
#include "api/router.h"

#include <string.h>

#include "api/formats/format.h"
#include "api/handlers.h"
#include "api/query.h"

#define P(name) (1u << QUERY_##name)
const struct route route_table[] = {
#define ROUTE(method, pattern, handler, body, parameters, doc)                           \
    {METHOD_##method, pattern, handle_##handler, BODY_##body, parameters, doc},
#include "api/routes.def"
};
const int route_count = sizeof route_table / sizeof *route_table;

enum { MAX_SEGMENTS = 5 };
struct segment {
    const char *text;
    size_t length;
};
struct segments {
    int count; // MAX_SEGMENTS + 1: more
    struct segment items[MAX_SEGMENTS];
};

static struct segments patterns[sizeof route_table / sizeof *route_table];

static const char *const method_names[METHOD_COUNT] = {
    "GET", "HEAD", "PUT", "POST", "PATCH", "DELETE", "OPTIONS"};

// "/" has no segment, "/a/" has two, the last one empty. path begins with a slash.
static void split(const char *path, struct segments *out)
{
    out->count = 0;
    if (path[1] == '\0')
        return;
    while (*path == '/') {
        size_t length = 0;
        for (path++; path[length] != '/' && path[length] != '\0';)
            length++;
        if (out->count == MAX_SEGMENTS) {
            out->count++;
            return;
        }
        out->items[out->count++] = (struct segment){path, length};
        path += length;
    }
}

void router_initialize(void)
{
    for (int i = 0; i < route_count; i++)
        split(route_table[i].pattern, &patterns[i]);
}

const char *method_name(enum method method)
{
    return method_names[method];
}

void methods_text(unsigned mask, char *text, size_t size)
{
    size_t length = 0;
    for (int i = 0; i < METHOD_COUNT; i++) {
        size_t count = strlen(method_names[i]);
        if (!(mask >> i & 1) || length + count + 3 > size)
            continue;
        if (length > 0) {
            memcpy(text + length, ", ", 2);
            length += 2;
        }
        memcpy(text + length, method_names[i], count);
        length += count;
    }
    text[length] = '\0';
}

static bool method_parse(const char *name, enum method *out)
{
    for (int i = 0; i < METHOD_COUNT; i++)
        if (strcmp(method_names[i], name) == 0) {
            *out = (enum method)i;
            return true;
        }
    return false;
}

static bool segment_is(const struct segment *segment, const struct segment *pattern)
{
    return segment->length == pattern->length && segment->text[0] == pattern->text[0] &&
           memcmp(segment->text, pattern->text, pattern->length) == 0;
}

// The format whose suffix ends the segment, and the length without it; NULL if there is
// none.
static const char *find_suffix(const char *text, size_t length, size_t *stem)
{
    if (memchr(text, '.', length) == NULL)
        return NULL;
    for (int i = 0; i < FORMAT_COUNT; i++) {
        const char *suffix = format_row((enum format)i)->suffix;
        size_t count = strlen(suffix);
        if (length > count && memcmp(text + length - count, suffix, count) == 0) {
            *stem = length - count;
            return format_row((enum format)i)->name;
        }
    }
    return NULL;
}

// Does the path match the row? *target: the index of the segment that {x} matched, or -1.
static bool row_matches(int row, const struct segments *path, int *target,
                        const char **suffix)
{
    const struct segments *pattern = &patterns[row];
    *target = -1;
    *suffix = NULL;
    if (path->count != pattern->count)
        return false;
    for (int i = path->count - 1; i >= 0; i--) { // most rows differ at the end
        if (pattern->items[i].text[0] == '{') {
            *target = i;
            continue;
        }
        if (segment_is(&path->items[i], &pattern->items[i]))
            continue;
        struct segment stem = path->items[i];
        bool takes_suffix =
            i == path->count - 1 && (route_table[row].parameters & P(FORMAT));
        *suffix = takes_suffix ? find_suffix(stem.text, stem.length, &stem.length) : NULL;
        if (*suffix == NULL || !segment_is(&stem, &pattern->items[i]))
            return false;
    }
    return true;
}

static enum status set_target(struct route_match *match, const struct segment *segment,
                              struct problem *problem)
{
    size_t length = segment->length;
    if (length >= 3 * TARGET_SIZE)
        return problem_set(problem, STATUS_NOT_FOUND, "Nothing has so long a name.");
    char decoded[3 * TARGET_SIZE];
    memcpy(decoded, segment->text, length);
    if (memchr(decoded, '%', length) != NULL &&
        (!percent_decode(segment->text, segment->length, false, decoded, &length) ||
         memchr(decoded, '/', length) != NULL))
        return problem_set(problem, STATUS_MALFORMED,
                           "The path has a %%-escape that is broken or stands for a "
                           "slash or a zero byte.");
    bool last = segment->text[segment->length] == '\0';
    if (last && match->route != NULL && (match->route->parameters & P(FORMAT)))
        match->suffix = find_suffix(decoded, length, &length);
    if (length >= TARGET_SIZE)
        return problem_set(problem, STATUS_NOT_FOUND, "Nothing has so long a name.");
    decoded[length] = '\0';
    if (length == 0 || strcmp(decoded, ".") == 0 || strcmp(decoded, "..") == 0)
        return problem_set(problem, STATUS_NOT_FOUND,
                           "The path has a segment that names nothing.");
    memcpy(match->target, decoded, length + 1);
    match->has_target = true;
    return STATUS_OK;
}

static enum status refuse_method(const char *method, const struct route_match *match,
                                 struct problem *problem)
{
    char allowed[64];
    methods_text(match->allowed, allowed, sizeof allowed);
    return problem_set(problem, STATUS_METHOD, "%.20s is not answered here; %s are.",
                       method, allowed);
}

// The first row that has the method and matches.
static bool find_row(const struct segments *path, enum method method,
                     struct route_match *out, int *target)
{
    for (int i = 0; i < route_count; i++) {
        if (route_table[i].method != method ||
            !row_matches(i, path, target, &out->suffix))
            continue;
        out->allowed = 1u << method;
        out->route = &route_table[i];
        return true;
    }
    out->suffix = NULL;
    return false;
}

static void find_other_methods(const struct segments *path, struct route_match *out,
                               int *found_target)
{
    int target;
    const char *suffix;
    for (int i = 0; i < route_count; i++)
        if (row_matches(i, path, &target, &suffix)) {
            out->allowed |= 1u << route_table[i].method;
            *found_target = target;
        }
}

enum status route_find(const char *method, const char *path, struct route_match *out,
                       struct problem *problem)
{
    struct segments segments;
    bool known = method_parse(method, &out->method);
    enum method wanted = out->method == METHOD_HEAD ? METHOD_GET : out->method;
    out->route = NULL;
    out->has_target = false;
    out->suffix = NULL;
    out->allowed = 0;
    if (path[0] == '*' && path[1] == '\0' && known && wanted == METHOD_OPTIONS) {
        out->allowed = (1u << METHOD_COUNT) - 1;
        return STATUS_OK;
    }
    if (path[0] != '/')
        return problem_set(problem, STATUS_MALFORMED,
                           "The path does not begin with a slash.");
    split(path, &segments);
    int found_target = -1;
    if (!known || !find_row(&segments, wanted, out, &found_target))
        find_other_methods(&segments, out, &found_target);
    if (out->allowed == 0)
        return problem_set(problem, STATUS_NOT_FOUND,
                           "There is nothing at %.120s; /openapi.json lists all routes.",
                           path);
    if (found_target >= 0) {
        enum status status = set_target(out, &segments.items[found_target], problem);
        if (status != STATUS_OK)
            return status;
    }
    if (out->route != NULL)
        return STATUS_OK;
    if (out->allowed & 1u << METHOD_GET)
        out->allowed |= 1u << METHOD_HEAD;
    out->allowed |= 1u << METHOD_OPTIONS;
    if (known && wanted == METHOD_OPTIONS)
        return STATUS_OK;
    return refuse_method(method, out, problem);
}
