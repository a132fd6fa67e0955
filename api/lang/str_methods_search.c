// SPDX-License-Identifier: Apache-2.0
// Methods of str that look for a part: find, count, startswith, replace and their kin.
// The program's thread.
#include "api/lang/str_methods.h"

#include "kernels/base/size.h"

// The part of self between two positions as arguments give them, in bytes and characters.
struct window {
    const struct string *self;
    const char *begin, *end;
    int64_t first;  // character of begin
    int64_t length; // characters
    bool inside;    // start <= stop, and start is not behind the end
};

static enum outcome read_bound(struct vm *vm, struct value value, int64_t otherwise,
                               int64_t length, int64_t *out)
{
    *out = otherwise;
    if (!is_given(value) || value.tag == VALUE_NONE)
        return OUTCOME_OK;
    if (!value_is_integer(value) && !value_is_tensor(value))
        return vm_raise(vm, STATUS_TYPE,
                        "slice indices must be integers or None or have an __index__ "
                        "method");
    enum outcome outcome = value_to_index(vm, value, out);
    if (outcome == OUTCOME_OK && *out < 0)
        *out = *out + length < 0 ? 0 : *out + length;
    return outcome;
}

static enum outcome read_window(struct vm *vm, const struct string *self,
                                struct value start, struct value stop, struct window *out)
{
    int64_t from, to, length = self->characters;
    enum outcome outcome = read_bound(vm, start, 0, length, &from);
    if (outcome == OUTCOME_OK)
        outcome = read_bound(vm, stop, length, length, &to);
    if (outcome != OUTCOME_OK)
        return outcome;
    to = to > length ? length : to;
    *out = (struct window){.self = self, .first = from, .inside = from <= to};
    if (!out->inside)
        return OUTCOME_OK;
    out->length = to - from;
    out->begin = self->text + string_offset(self, from);
    out->end = self->text + string_offset(self, to);
    return vm_spend(vm, (out->end - self->text) / 16);
}

// slots: self, part, start, end. STATUS_TYPE if the part is no string.
static enum outcome read_search(struct vm *vm, struct value *slots, const char *method,
                                struct window *window, const struct string **part)
{
    const struct string *self;
    if (str_self(vm, slots, method, &self) == OUTCOME_ERROR)
        return OUTCOME_ERROR;
    *part = str_of(slots[1]);
    if (*part == NULL)
        return vm_raise(vm, STATUS_TYPE, "must be str, not %s",
                        value_type_name(slots[1]));
    return read_window(vm, self, slots[2], slots[3], window);
}

static const char *find_first(const char *begin, const char *end,
                              const struct string *part)
{
    return memmem(begin, (size_t)(end - begin), part->text, (size_t)part->bytes);
}

// From the right; what memmem is from the left.
static const char *find_last(const char *begin, const char *end,
                             const struct string *part)
{
    if (end - begin < part->bytes)
        return NULL;
    if (part->bytes == 0)
        return end;
    for (const char *p = end - part->bytes;; p--) {
        if (*p == part->text[0] && memcmp(p, part->text, (size_t)part->bytes) == 0)
            return p;
        if (p == begin)
            return NULL;
    }
}

const char *str_find_part(const char *begin, const char *end, const struct string *part,
                          bool last)
{
    return last ? find_last(begin, end, part) : find_first(begin, end, part);
}

int64_t str_find_cost(int64_t bytes, const struct string *part, bool last)
{
    int64_t cost = bytes / 8;
    if (last && !size_multiply(bytes, 1 + part->bytes / 64, &cost))
        cost = INT64_MAX;
    return cost;
}

// The character where the part is, or -1.
static enum outcome search(struct vm *vm, struct value *slots, const char *method,
                           bool last, int64_t *out)
{
    struct window window;
    const struct string *part;
    enum outcome outcome = read_search(vm, slots, method, &window, &part);
    if (outcome != OUTCOME_OK)
        return outcome;
    *out = -1;
    if (!window.inside)
        return OUTCOME_OK;
    if (vm_spend(vm, str_find_cost(window.end - window.begin, part, last)) ==
        OUTCOME_ERROR)
        return OUTCOME_ERROR;
    const char *found = str_find_part(window.begin, window.end, part, last);
    if (found != NULL)
        *out = window.first + utf8_count(window.begin, (size_t)(found - window.begin));
    return OUTCOME_OK;
}

static enum outcome search_or_raise(struct vm *vm, struct value *slots,
                                    const char *method, bool last, bool raise,
                                    struct value *result)
{
    int64_t found;
    enum outcome outcome = search(vm, slots, method, last, &found);
    if (outcome != OUTCOME_OK)
        return outcome;
    if (found < 0 && raise)
        return vm_raise(vm, STATUS_VALUE, "substring not found");
    *result = value_int(found);
    return OUTCOME_OK;
}

enum outcome str_find(struct vm *vm, struct value *slots, struct value *result)
{
    return search_or_raise(vm, slots, "find", false, false, result);
}

enum outcome str_rfind(struct vm *vm, struct value *slots, struct value *result)
{
    return search_or_raise(vm, slots, "rfind", true, false, result);
}

enum outcome str_index(struct vm *vm, struct value *slots, struct value *result)
{
    return search_or_raise(vm, slots, "index", false, true, result);
}

enum outcome str_rindex(struct vm *vm, struct value *slots, struct value *result)
{
    return search_or_raise(vm, slots, "rindex", true, true, result);
}

// Occurrences that do not overlap, at most so many (negative: all).
static int64_t count_parts(const char *begin, const char *end, const struct string *part,
                           int64_t most)
{
    int64_t count = 0;
    while (count != most && (begin = find_first(begin, end, part)) != NULL) {
        begin += part->bytes;
        count++;
    }
    return count;
}

enum outcome str_count(struct vm *vm, struct value *slots, struct value *result)
{
    struct window window;
    const struct string *part;
    enum outcome outcome = read_search(vm, slots, "count", &window, &part);
    if (outcome != OUTCOME_OK)
        return outcome;
    int64_t count = 0;
    if (window.inside && part->bytes == 0) {
        count = window.length + 1;
    } else if (window.inside) {
        if (vm_spend(vm, window.end - window.begin) == OUTCOME_ERROR)
            return OUTCOME_ERROR;
        count = count_parts(window.begin, window.end, part, -1);
    }
    *result = value_int(count);
    return OUTCOME_OK;
}

// ---- At one end

static bool stands_at(const struct window *window, const struct string *part, bool at_end)
{
    if (!window->inside || window->end - window->begin < part->bytes)
        return false;
    const char *p = at_end ? window->end - part->bytes : window->begin;
    return memcmp(p, part->text, (size_t)part->bytes) == 0;
}

static enum outcome one_end(struct vm *vm, struct value *slots, const char *method,
                            bool at_end, struct value *result)
{
    const struct string *self;
    struct window window;
    if (str_self(vm, slots, method, &self) == OUTCOME_ERROR)
        return OUTCOME_ERROR;
    enum outcome outcome = read_window(vm, self, slots[2], slots[3], &window);
    if (outcome != OUTCOME_OK)
        return outcome;
    const struct string *part = str_of(slots[1]);
    if (part != NULL) {
        *result = value_bool(stands_at(&window, part, at_end));
        return OUTCOME_OK;
    }
    if (!value_is_object(slots[1], OBJECT_TUPLE))
        return vm_raise(vm, STATUS_TYPE,
                        "%s first arg must be str or a tuple of str, not %s", method,
                        value_type_name(slots[1]));
    const struct tuple *parts = VALUE_AS(tuple, slots[1]);
    bool holds = false;
    for (int64_t i = 0; i < parts->count && !holds; i++) {
        part = str_of(parts->items[i]);
        if (part == NULL)
            return vm_raise(vm, STATUS_TYPE, "tuple for %s must only contain str, not %s",
                            method, value_type_name(parts->items[i]));
        if (vm_spend(vm, 1 + part->bytes / 32) == OUTCOME_ERROR)
            return OUTCOME_ERROR;
        holds = stands_at(&window, part, at_end);
    }
    *result = value_bool(holds);
    return OUTCOME_OK;
}

enum outcome str_startswith(struct vm *vm, struct value *slots, struct value *result)
{
    return one_end(vm, slots, "startswith", false, result);
}

enum outcome str_endswith(struct vm *vm, struct value *slots, struct value *result)
{
    return one_end(vm, slots, "endswith", true, result);
}

static enum outcome remove_end(struct vm *vm, struct value *slots, const char *method,
                               bool at_end, struct value *result)
{
    const struct string *self, *part = str_of(slots[1]);
    if (str_self(vm, slots, method, &self) == OUTCOME_ERROR)
        return OUTCOME_ERROR;
    if (part == NULL)
        return vm_raise(vm, STATUS_TYPE, "%s() argument must be str, not %s", method,
                        slots[1].tag == VALUE_NONE ? "None" : value_type_name(slots[1]));
    struct window all = {
        .begin = self->text, .end = self->text + self->bytes, .inside = true};
    if (part->bytes == 0 || !stands_at(&all, part, at_end))
        return str_same(self, result);
    return str_new(vm, self->text + (at_end ? 0 : part->bytes),
                   (size_t)(self->bytes - part->bytes), result);
}

enum outcome str_removeprefix(struct vm *vm, struct value *slots, struct value *result)
{
    return remove_end(vm, slots, "removeprefix", false, result);
}

enum outcome str_removesuffix(struct vm *vm, struct value *slots, struct value *result)
{
    return remove_end(vm, slots, "removesuffix", true, result);
}

// ---- replace

// Puts `with` in place of count parts; an empty part stands before every character and at
// the end.
static void fill_replaced(const struct string *self, const struct string *part,
                          const struct string *with, int64_t count, char *to)
{
    const char *p = self->text, *end = p + self->bytes;
    for (; count > 0; count--) {
        const char *next = part->bytes == 0 ? p : find_first(p, end, part);
        memcpy(to, p, (size_t)(next - p));
        to += next - p;
        memcpy(to, with->text, (size_t)with->bytes);
        to += with->bytes;
        p = next + part->bytes;
        if (part->bytes == 0 && p < end) {
            size_t size = (size_t)utf8_length(*p);
            memcpy(to, p, size);
            to += size;
            p += size;
        }
    }
    memcpy(to, p, (size_t)(end - p));
}

enum outcome str_replace(struct vm *vm, struct value *slots, struct value *result)
{
    const struct string *self, *part = str_of(slots[1]), *with = str_of(slots[2]);
    int64_t most, added, bytes;
    if (str_self(vm, slots, "replace", &self) == OUTCOME_ERROR)
        return OUTCOME_ERROR;
    if (part == NULL || with == NULL)
        return vm_raise(vm, STATUS_TYPE, "replace() argument %d must be str, not %s",
                        part == NULL ? 1 : 2,
                        value_type_name(slots[part == NULL ? 1 : 2]));
    enum outcome outcome = str_integer(vm, slots[3], -1, &most);
    if (outcome != OUTCOME_OK)
        return outcome;
    if (vm_spend(vm, self->bytes / 4) == OUTCOME_ERROR)
        return OUTCOME_ERROR;
    int64_t count = part->bytes == 0 ? self->characters + 1
                                     : count_parts(self->text, self->text + self->bytes,
                                                   part, most < 0 ? -1 : most);
    if (most >= 0 && count > most)
        count = most;
    if (count == 0)
        return str_same(self, result);
    if (!size_multiply(count, with->bytes, &added) ||
        !size_add(self->bytes - count * part->bytes, added, &bytes))
        return vm_raise(vm, STATUS_OVERFLOW, "replace string is too long");
    if (vm_spend(vm, bytes / 16 + count) == OUTCOME_ERROR)
        return OUTCOME_ERROR;
    struct string *string = string_allocate(vm_heap(vm), (size_t)bytes, vm_problem(vm));
    if (string == NULL)
        return OUTCOME_ERROR;
    fill_replaced(self, part, with, count, string->text);
    string_finish(string);
    *result = value_of(string);
    return OUTCOME_OK;
}
