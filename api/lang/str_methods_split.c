// SPDX-License-Identifier: Apache-2.0
// Methods of str that take text apart and put it together: split, splitlines, partition,
// join. The program's thread.
#include "api/lang/str_methods.h"

#include "api/lang/sequence.h"
#include "kernels/base/size.h"

// ---- A list of pieces in the making

struct pieces {
    struct vm *vm;
    struct list *list;
    bool failed;
};

static void add_piece(struct pieces *pieces, const char *begin, const char *end)
{
    struct value piece;
    if (pieces->failed || vm_spend(pieces->vm, 4) == OUTCOME_ERROR ||
        str_new(pieces->vm, begin, (size_t)(end - begin), &piece) == OUTCOME_ERROR) {
        pieces->failed = true;
        return;
    }
    pieces->failed =
        !list_append(vm_heap(pieces->vm), pieces->list, piece, vm_problem(pieces->vm));
    value_release(piece);
}

static enum outcome begin_pieces(struct vm *vm, const struct string *self,
                                 struct pieces *pieces)
{
    *pieces = (struct pieces){.vm = vm};
    if (vm_spend(vm, 1 + self->bytes / 4) == OUTCOME_ERROR)
        return OUTCOME_ERROR;
    pieces->list = list_new(vm_heap(vm), 0, NULL, vm_problem(vm));
    return pieces->list == NULL ? OUTCOME_ERROR : OUTCOME_OK;
}

static enum outcome end_pieces(struct pieces *pieces, bool reverse, struct value *result)
{
    if (pieces->failed) {
        value_release(value_of(pieces->list));
        return OUTCOME_ERROR;
    }
    struct value *items = pieces->list->items;
    for (int64_t i = 0, k = pieces->list->count - 1; reverse && i < k; i++, k--) {
        struct value item = items[i];
        items[i] = items[k];
        items[k] = item;
    }
    *result = value_of(pieces->list);
    return OUTCOME_OK;
}

// ---- split

static const char *skip_blanks(const char *p, const char *end, bool blanks)
{
    while (p < end) {
        const char *next = p;
        if (unicode_is_space(utf8_next(&next, end)) != blanks)
            break;
        p = next;
    }
    return p;
}

static const char *skip_blanks_back(const char *begin, const char *p, bool blanks)
{
    while (p > begin) {
        const char *next = p;
        if (unicode_is_space(utf8_previous(&next, begin)) != blanks)
            break;
        p = next;
    }
    return p;
}

static void split_blanks(struct pieces *pieces, const char *p, const char *end,
                         int64_t most)
{
    for (; (p = skip_blanks(p, end, true)) < end && !pieces->failed; most--) {
        const char *stop = most == 0 ? end : skip_blanks(p, end, false);
        add_piece(pieces, p, stop);
        p = stop;
    }
}

static void rsplit_blanks(struct pieces *pieces, const char *begin, const char *end,
                          int64_t most)
{
    for (; (end = skip_blanks_back(begin, end, true)) > begin && !pieces->failed;
         most--) {
        const char *start = most == 0 ? begin : skip_blanks_back(begin, end, false);
        add_piece(pieces, start, end);
        end = start;
    }
}

static void split_at(struct pieces *pieces, const char *p, const char *end,
                     const struct string *separator, int64_t most)
{
    for (; most != 0 && !pieces->failed; most--) {
        const char *found =
            memmem(p, (size_t)(end - p), separator->text, (size_t)separator->bytes);
        if (found == NULL)
            break;
        add_piece(pieces, p, found);
        p = found + separator->bytes;
    }
    add_piece(pieces, p, end);
}

static void rsplit_at(struct pieces *pieces, const char *begin, const char *end,
                      const struct string *separator, int64_t most)
{
    size_t size = (size_t)separator->bytes;
    const char *p = end;
    while (most != 0 && !pieces->failed && (size_t)(p - begin) >= size) {
        const char *at = p - size;
        if (*at == *separator->text && memcmp(at, separator->text, size) == 0) {
            add_piece(pieces, at + size, end);
            end = p = at;
            most--;
        } else {
            p--;
        }
    }
    add_piece(pieces, begin, end);
}

static enum outcome split(struct vm *vm, struct value *slots, const char *method,
                          bool from_right, struct value *result)
{
    const struct string *self, *separator = str_of(slots[1]);
    struct pieces pieces;
    int64_t most;
    if (str_self(vm, slots, method, &self) == OUTCOME_ERROR)
        return OUTCOME_ERROR;
    bool blanks = !is_given(slots[1]) || slots[1].tag == VALUE_NONE;
    enum outcome outcome = str_integer(vm, slots[2], -1, &most);
    if (outcome != OUTCOME_OK)
        return outcome;
    if (!blanks && separator == NULL)
        return vm_raise(vm, STATUS_TYPE, "must be str or None, not %s",
                        value_type_name(slots[1]));
    if (!blanks && separator->bytes == 0)
        return vm_raise(vm, STATUS_VALUE, "empty separator");
    if ((!blanks && vm_spend(vm, str_find_cost(self->bytes, separator, from_right)) ==
                        OUTCOME_ERROR) ||
        begin_pieces(vm, self, &pieces) == OUTCOME_ERROR)
        return OUTCOME_ERROR;
    const char *begin = self->text, *end = begin + self->bytes;
    if (blanks && from_right)
        rsplit_blanks(&pieces, begin, end, most);
    else if (blanks)
        split_blanks(&pieces, begin, end, most);
    else if (from_right)
        rsplit_at(&pieces, begin, end, separator, most);
    else
        split_at(&pieces, begin, end, separator, most);
    return end_pieces(&pieces, from_right, result);
}

enum outcome str_split(struct vm *vm, struct value *slots, struct value *result)
{
    return split(vm, slots, "split", false, result);
}

enum outcome str_rsplit(struct vm *vm, struct value *slots, struct value *result)
{
    return split(vm, slots, "rsplit", true, result);
}

enum outcome str_splitlines(struct vm *vm, struct value *slots, struct value *result)
{
    const struct string *self;
    struct pieces pieces;
    int64_t keep;
    if (str_self(vm, slots, "splitlines", &self) == OUTCOME_ERROR)
        return OUTCOME_ERROR;
    enum outcome outcome = str_integer(vm, slots[1], 0, &keep);
    if (outcome != OUTCOME_OK)
        return outcome;
    if (begin_pieces(vm, self, &pieces) == OUTCOME_ERROR)
        return OUTCOME_ERROR;
    const char *p = self->text, *end = p + self->bytes, *begin = p;
    while (p < end && !pieces.failed) {
        const char *stop = p;
        uint32_t code = utf8_next(&p, end);
        if (!unicode_ends_line(code))
            continue;
        if (code == '\r' && p < end && *p == '\n')
            p++;
        add_piece(&pieces, begin, keep ? p : stop);
        begin = p;
    }
    if (begin < end)
        add_piece(&pieces, begin, end);
    return end_pieces(&pieces, false, result);
}

// ---- partition

static enum outcome partition(struct vm *vm, struct value *slots, const char *method,
                              bool from_right, struct value *result)
{
    const struct string *self, *separator = str_of(slots[1]);
    if (str_self(vm, slots, method, &self) == OUTCOME_ERROR)
        return OUTCOME_ERROR;
    if (separator == NULL)
        return vm_raise(vm, STATUS_TYPE, "must be str, not %s",
                        value_type_name(slots[1]));
    if (separator->bytes == 0)
        return vm_raise(vm, STATUS_VALUE, "empty separator");
    if (vm_spend(vm, str_find_cost(self->bytes, separator, from_right)) == OUTCOME_ERROR)
        return OUTCOME_ERROR;
    const char *begin = self->text, *end = begin + self->bytes;
    const char *found = str_find_part(begin, end, separator, from_right);
    struct value before, behind;
    bool absent = found == NULL;
    if (absent) // one of the outer pieces is everything, the other two are empty
        found = from_right ? begin : end;
    const char *rest = absent ? found : found + separator->bytes;
    if (str_new(vm, begin, (size_t)(found - begin), &before) == OUTCOME_ERROR)
        return OUTCOME_ERROR;
    if (str_new(vm, rest, (size_t)(end - rest), &behind) == OUTCOME_ERROR) {
        value_release(before);
        return OUTCOME_ERROR;
    }
    struct value middle = !absent ? slots[1] : from_right ? before : behind;
    struct value items[] = {before, middle, behind};
    struct tuple *tuple = tuple_new(vm_heap(vm), 3, items, vm_problem(vm));
    value_release(before);
    value_release(behind);
    if (tuple == NULL)
        return OUTCOME_ERROR;
    *result = value_of(tuple);
    return OUTCOME_OK;
}

enum outcome str_partition(struct vm *vm, struct value *slots, struct value *result)
{
    return partition(vm, slots, "partition", false, result);
}

enum outcome str_rpartition(struct vm *vm, struct value *slots, struct value *result)
{
    return partition(vm, slots, "rpartition", true, result);
}

// ---- join

static enum outcome joined_bytes(struct vm *vm, const struct string *separator,
                                 const struct value *items, int64_t count, int64_t *bytes)
{
    *bytes = 0;
    if (vm_spend(vm, count) == OUTCOME_ERROR)
        return OUTCOME_ERROR;
    for (int64_t i = 0; i < count; i++) {
        const struct string *item = str_of(items[i]);
        if (item == NULL)
            return vm_raise(vm, STATUS_TYPE,
                            "sequence item %lld: expected str instance, %s found",
                            (long long)i, value_type_name(items[i]));
        if (!size_add(*bytes, item->bytes, bytes) ||
            (i > 0 && !size_add(*bytes, separator->bytes, bytes)))
            return vm_raise(vm, STATUS_OVERFLOW,
                            "join() result is too long for a Python string");
    }
    return OUTCOME_OK;
}

static enum outcome join(struct vm *vm, const struct string *separator,
                         const struct value *items, int64_t count, struct value *result)
{
    int64_t bytes;
    if (joined_bytes(vm, separator, items, count, &bytes) == OUTCOME_ERROR ||
        vm_spend(vm, bytes / 16) == OUTCOME_ERROR)
        return OUTCOME_ERROR;
    struct string *string = string_allocate(vm_heap(vm), (size_t)bytes, vm_problem(vm));
    if (string == NULL)
        return OUTCOME_ERROR;
    char *to = string->text;
    for (int64_t i = 0; i < count; i++) {
        if (i > 0) {
            memcpy(to, separator->text, (size_t)separator->bytes);
            to += separator->bytes;
        }
        const struct string *item = str_of(items[i]);
        memcpy(to, item->text, (size_t)item->bytes);
        to += item->bytes;
    }
    string_finish(string);
    *result = value_of(string);
    return OUTCOME_OK;
}

enum outcome str_join(struct vm *vm, struct value *slots, struct value *result)
{
    const struct string *self;
    if (str_self(vm, slots, "join", &self) == OUTCOME_ERROR)
        return OUTCOME_ERROR;
    int64_t count;
    if (value_is_sequence(slots[1])) {
        const struct value *items = sequence_items(slots[1], &count);
        return join(vm, self, items, count, result);
    }
    struct list *list;
    enum outcome outcome = sequence_collect(vm, slots[1], &list);
    if (outcome == OUTCOME_ERROR && vm_problem(vm)->status == STATUS_TYPE)
        return vm_raise(vm, STATUS_TYPE, "can only join an iterable");
    if (outcome != OUTCOME_OK)
        return outcome;
    outcome = join(vm, self, list->items, list->count, result);
    value_release(value_of(list));
    return outcome;
}
