// SPDX-License-Identifier: Apache-2.0
// Methods of str that change the case of letters, by the full mappings of Unicode. The
// program's thread.
#include "api/lang/str_methods.h"

enum { SIGMA = 0x3A3, FINAL_SIGMA = 0x3C2 };

// Whether the sigma before p (which is behind it) ends a word: a cased character comes
// before and none behind, ignorable ones aside.
static bool sigma_is_final(const char *begin, const char *p, const char *end)
{
    const char *before = p;
    utf8_previous(&before, begin);
    unsigned properties = 0;
    while (before > begin) {
        properties = unicode_properties(utf8_previous(&before, begin));
        if (!(properties & UNICODE_IGNORABLE))
            break;
    }
    if (!(properties & UNICODE_CASED) || (properties & UNICODE_IGNORABLE))
        return false;
    while (p < end) {
        properties = unicode_properties(utf8_next(&p, end));
        if (!(properties & UNICODE_IGNORABLE))
            return !(properties & UNICODE_CASED);
    }
    return true;
}

// What happens to a character, given whether the one before it is cased and whether it is
// the first.
typedef enum unicode_case choose_case(unsigned properties, bool after_cased, bool first);

static enum outcome change_all(struct vm *vm, const struct value *slots,
                               const char *method, choose_case *choose,
                               struct value *result)
{
    const struct string *self;
    if (str_self(vm, slots, method, &self) == OUTCOME_ERROR)
        return OUTCOME_ERROR;
    char small[256];
    struct text text;
    text_begin(&text, small, sizeof small);
    if (vm_spend(vm, self->bytes) == OUTCOME_ERROR ||
        text_charge(vm, &text, self->bytes) == OUTCOME_ERROR)
        return text_to_string(vm, &text, OUTCOME_ERROR, result);
    const char *p = self->text, *end = p + self->bytes;
    for (bool cased = false, first = true; p < end; first = false) {
        uint32_t code = utf8_next(&p, end), to[UNICODE_MAX_CHANGED];
        unsigned properties = unicode_properties(code);
        enum unicode_case change = choose(properties, cased, first);
        cased = (properties & UNICODE_CASED) != 0;
        if (change == CASE_KEEP) {
            text_code(&text, code);
        } else if (change == CASE_LOWER && code == SIGMA) {
            text_code(&text, sigma_is_final(self->text, p, end) ? FINAL_SIGMA : 0x3C3);
        } else {
            int count = unicode_change(change, code, to);
            for (int i = 0; i < count; i++)
                text_code(&text, to[i]);
        }
    }
    return text_to_string(vm, &text, OUTCOME_OK, result);
}

static enum outcome change_ascii(struct vm *vm, const struct string *self, char first,
                                 struct value *result)
{
    if (vm_spend(vm, self->bytes / 8) == OUTCOME_ERROR)
        return OUTCOME_ERROR;
    struct string *string =
        string_allocate(vm_heap(vm), (size_t)self->bytes, vm_problem(vm));
    if (string == NULL)
        return OUTCOME_ERROR;
    for (int64_t i = 0; i < self->bytes; i++) {
        unsigned char c = (unsigned char)self->text[i];
        string->text[i] = (char)((unsigned)(c - first) < 26 ? c ^ 0x20 : c);
    }
    string_finish(string);
    *result = value_of(string);
    return OUTCOME_OK;
}

static enum unicode_case to_lower(unsigned properties, bool after_cased, bool first)
{
    return CASE_LOWER;
}

static enum unicode_case to_upper(unsigned properties, bool after_cased, bool first)
{
    return CASE_UPPER;
}

static enum unicode_case to_fold(unsigned properties, bool after_cased, bool first)
{
    return CASE_FOLD;
}

static enum unicode_case to_title(unsigned properties, bool after_cased, bool first)
{
    return after_cased ? CASE_LOWER : CASE_TITLE;
}

static enum unicode_case to_capital(unsigned properties, bool after_cased, bool first)
{
    return first ? CASE_TITLE : CASE_LOWER;
}

static enum unicode_case to_other(unsigned properties, bool after_cased, bool first)
{
    return properties & UNICODE_IS_UPPER   ? CASE_LOWER
           : properties & UNICODE_IS_LOWER ? CASE_UPPER
                                           : CASE_KEEP;
}

enum outcome str_lower(struct vm *vm, struct value *slots, struct value *result)
{
    const struct string *self = str_of(slots[0]);
    if (self != NULL && string_is_ascii(self))
        return change_ascii(vm, self, 'A', result);
    return change_all(vm, slots, "lower", to_lower, result);
}

enum outcome str_upper(struct vm *vm, struct value *slots, struct value *result)
{
    const struct string *self = str_of(slots[0]);
    if (self != NULL && string_is_ascii(self))
        return change_ascii(vm, self, 'a', result);
    return change_all(vm, slots, "upper", to_upper, result);
}

enum outcome str_casefold(struct vm *vm, struct value *slots, struct value *result)
{
    return change_all(vm, slots, "casefold", to_fold, result);
}

enum outcome str_title(struct vm *vm, struct value *slots, struct value *result)
{
    return change_all(vm, slots, "title", to_title, result);
}

enum outcome str_capitalize(struct vm *vm, struct value *slots, struct value *result)
{
    return change_all(vm, slots, "capitalize", to_capital, result);
}

enum outcome str_swapcase(struct vm *vm, struct value *slots, struct value *result)
{
    return change_all(vm, slots, "swapcase", to_other, result);
}
