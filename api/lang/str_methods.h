// SPDX-License-Identifier: Apache-2.0
// Methods of str: what their files share, and the functions behind the table in
// str_methods.c.
//   str_methods.c         the table, format, predicates, translate
//   str_methods_case.c    lower, upper, title ...
//   str_methods_search.c  find, count, startswith, replace ...
//   str_methods_split.c   split, splitlines, partition, join
//   str_methods_pad.c     strip, center, zfill, expandtabs ...
// All work on bytes where they can: in valid UTF-8 a part is found at characters only.
// Threads: the program's.
#ifndef TENSORD_API_LANG_STR_METHODS_H
#define TENSORD_API_LANG_STR_METHODS_H

#include "api/lang/builtins.h"
#include "api/lang/strings.h"
#include "api/lang/unicode.h"

// slots[0] as a string: STATUS_TYPE if it is something else (str.upper(1)).
enum outcome str_self(struct vm *vm, const struct value *slots, const char *method,
                      const struct string **out);
static inline const struct string *str_of(struct value value)
{
    return value_is_object(value, OBJECT_STRING) ? VALUE_AS(string, value) : NULL;
}
static inline bool is_given(struct value value)
{
    return value.tag != VALUE_ABSENT;
}
// A piece of text as a new string.
enum outcome str_new(struct vm *vm, const char *text, size_t bytes, struct value *result);
// The same string once more.
static inline enum outcome str_same(const struct string *string, struct value *result)
{
    *result = value_reference(value_of((void *)(uintptr_t)string));
    return OUTCOME_OK;
}
// An integer argument, or the default where it was not given.
enum outcome str_integer(struct vm *vm, struct value value, int64_t otherwise,
                         int64_t *out);

// The first or last place of part, or NULL, and the steps that looking for it may cost.
const char *str_find_part(const char *begin, const char *end, const struct string *part,
                          bool last);
int64_t str_find_cost(int64_t bytes, const struct string *part, bool last);

#define STR_METHOD(name)                                                                 \
    enum outcome str_##name(struct vm *vm, struct value *slots, struct value *result);
STR_METHOD(lower)
STR_METHOD(upper)
STR_METHOD(title)
STR_METHOD(capitalize)
STR_METHOD(swapcase)
STR_METHOD(casefold)
STR_METHOD(find)
STR_METHOD(rfind)
STR_METHOD(index)
STR_METHOD(rindex)
STR_METHOD(count)
STR_METHOD(startswith)
STR_METHOD(endswith)
STR_METHOD(replace)
STR_METHOD(removeprefix)
STR_METHOD(removesuffix)
STR_METHOD(split)
STR_METHOD(rsplit)
STR_METHOD(splitlines)
STR_METHOD(partition)
STR_METHOD(rpartition)
STR_METHOD(join)
STR_METHOD(strip)
STR_METHOD(lstrip)
STR_METHOD(rstrip)
STR_METHOD(center)
STR_METHOD(ljust)
STR_METHOD(rjust)
STR_METHOD(zfill)
STR_METHOD(expandtabs)
STR_METHOD(translate)
STR_METHOD(maketrans)
#undef STR_METHOD
#endif
