// SPDX-License-Identifier: Apache-2.0
// str.format: text with fields in braces,
//
//   {[name or number]{.attribute | [index]}[!conversion][:spec]}
//
// where the spec may have fields of its own, one level deep. The program's thread.
#include "api/lang/builtins.h"

#include "api/lang/strings.h"
#include "api/lang/unicode.h"

enum { TEMPLATE_MAX_DEPTH = 2 };

struct template
{
    struct vm *vm;
    const struct tuple *positional;
    const struct dict *keywords;
    enum numbering { NUMBERING_NONE, NUMBERING_AUTOMATIC, NUMBERING_MANUAL } numbering;
    int64_t next; // automatic
};

// A field as written, without its braces.
struct field {
    const char *name, *name_end; // first part, attributes and indexes
    uint32_t conversion;         // 0: none
    const char *spec, *spec_end;
    bool spec_nested; // has fields
};

static enum outcome expand(struct template *state, const char *p, const char *end,
                           int depth, struct text *text);

// ---- Which value

// The text as an index if it is all digits: 1; -1: not a number; 0: problem set.
static int read_index(struct template *state, const char *p, const char *end,
                      int64_t *out)
{
    *out = 0;
    if (p == end)
        return -1;
    for (; p < end; p++) {
        if (*p < '0' || *p > '9')
            return -1;
        if (*out > (INT64_MAX - (*p - '0')) / 10) {
            vm_raise(state->vm, STATUS_VALUE, "Too many decimal digits in format string");
            return 0;
        }
        *out = *out * 10 + (*p - '0');
    }
    return 1;
}

static enum outcome check_numbering(struct template *state, bool automatic)
{
    enum numbering wanted = automatic ? NUMBERING_AUTOMATIC : NUMBERING_MANUAL;
    if (state->numbering == NUMBERING_NONE)
        state->numbering = wanted;
    if (state->numbering == wanted)
        return OUTCOME_OK;
    return vm_raise(state->vm, STATUS_VALUE,
                    automatic ? "cannot switch from manual field specification to "
                                "automatic field numbering"
                              : "cannot switch from automatic field numbering to manual "
                                "field specification");
}

// The first part of a name: a reference.
static enum outcome find_argument(struct template *state, const char *p, const char *end,
                                  struct value *out)
{
    int64_t index;
    bool automatic = p == end;
    int number = read_index(state, p, end, &index);
    if (number == 0)
        return OUTCOME_ERROR;
    if (number < 0 && !automatic) {
        struct value found = {.tag = VALUE_ABSENT};
        if (state->keywords != NULL)
            found = dict_find_text(state->keywords, p, (size_t)(end - p));
        if (found.tag == VALUE_ABSENT) {
            struct text name;
            text_begin(&name, NULL, 0);
            text_repr_string(&name, p, (size_t)(end - p), false);
            vm_raise(state->vm, STATUS_KEY, "%.*s",
                     name.length > 400 ? 400 : (int)name.length, name.data);
            text_end(&name);
            return OUTCOME_ERROR;
        }
        *out = value_reference(found);
        return OUTCOME_OK;
    }
    if (check_numbering(state, automatic) == OUTCOME_ERROR)
        return OUTCOME_ERROR;
    if (automatic)
        index = state->next++;
    if (index >= state->positional->count)
        return vm_raise(state->vm, STATUS_INDEX,
                        "Replacement index %lld out of range for positional args tuple",
                        (long long)index);
    *out = value_reference(state->positional->items[index]);
    return OUTCOME_OK;
}

// Replaces *value by its attribute, or by its item.
static enum outcome step_into(struct template *state, bool is_index, const char *p,
                              const char *end, struct value *value)
{
    if (p == end)
        return vm_raise(state->vm, STATUS_VALUE, "Empty attribute in format string");
    int64_t index = 0;
    int number = is_index ? read_index(state, p, end, &index) : -1;
    if (number == 0)
        return OUTCOME_ERROR;
    struct value key = value_int(index), next;
    if (number < 0) {
        struct string *name =
            string_new(vm_heap(state->vm), p, (size_t)(end - p), vm_problem(state->vm));
        if (name == NULL)
            return OUTCOME_ERROR;
        key = value_of(name);
    }
    enum outcome outcome =
        is_index ? value_get_item(state->vm, *value, key, &next)
                 : value_get_attribute(state->vm, *value, VALUE_AS(string, key), &next);
    value_release(key);
    if (outcome != OUTCOME_OK)
        return outcome;
    value_release(*value);
    *value = next;
    return OUTCOME_OK;
}

static enum outcome find_value(struct template *state, const struct field *field,
                               struct value *value)
{
    const char *p = field->name, *end = field->name_end;
    while (p < end && *p != '.' && *p != '[')
        p++;
    enum outcome outcome = find_argument(state, field->name, p, value);
    if (outcome != OUTCOME_OK)
        return outcome;
    while (p < end && outcome == OUTCOME_OK) {
        bool is_index = *p == '[';
        if (!is_index && *p != '.') {
            outcome =
                vm_raise(state->vm, STATUS_VALUE,
                         "Only '.' or '[' may follow ']' in format field specifier");
            break;
        }
        const char *begin = ++p;
        while (p < end && (is_index ? *p != ']' : *p != '.' && *p != '['))
            p++;
        if (is_index && p == end) {
            outcome = vm_raise(state->vm, STATUS_VALUE, "Missing ']' in format string");
            break;
        }
        outcome = step_into(state, is_index, begin, p, value);
        p += is_index;
    }
    if (outcome != OUTCOME_OK)
        value_release(*value);
    return outcome;
}

// ---- Reading a field

static enum outcome read_conversion(struct template *state, const char **p,
                                    const char *end, struct field *field)
{
    ++*p;
    if (*p == end)
        return vm_raise(state->vm, STATUS_VALUE,
                        "end of string while looking for conversion specifier");
    field->conversion = utf8_next(p, end);
    if (*p == end)
        return vm_raise(state->vm, STATUS_VALUE, "unmatched '{' in format spec");
    if (**p == ':' || **p == '}')
        return OUTCOME_OK;
    if (field->conversion == '}')
        return vm_raise(state->vm, STATUS_VALUE, "unmatched '{' in format spec");
    return vm_raise(state->vm, STATUS_VALUE, "expected ':' after conversion specifier");
}

// *p is behind the opening brace and goes behind the closing one.
static enum outcome read_field(struct template *state, const char **p, const char *end,
                               struct field *field)
{
    *field = (struct field){.name = *p};
    bool in_brackets = false;
    for (; *p < end; ++*p) {
        if (**p == '{' && !in_brackets)
            return vm_raise(state->vm, STATUS_VALUE, "unexpected '{' in field name");
        in_brackets = in_brackets ? **p != ']' : **p == '[';
        if (!in_brackets && (**p == '}' || **p == ':' || **p == '!'))
            break;
    }
    field->name_end = field->spec = field->spec_end = *p;
    if (*p == end)
        return vm_raise(state->vm, STATUS_VALUE, "expected '}' before end of string");
    if (**p == '!' && read_conversion(state, p, end, field) == OUTCOME_ERROR)
        return OUTCOME_ERROR;
    if (**p == ':') {
        int open = 1;
        field->spec = ++*p;
        for (; *p < end; ++*p) {
            field->spec_nested = field->spec_nested || **p == '{';
            open += (**p == '{') - (**p == '}');
            if (open == 0)
                break;
        }
        if (*p == end)
            return vm_raise(state->vm, STATUS_VALUE, "unmatched '{' in format spec");
        field->spec_end = *p;
    }
    ++*p;
    return OUTCOME_OK;
}

// ---- Writing it

static enum outcome write_converted(struct template *state, uint32_t conversion,
                                    struct value value, const char *spec,
                                    size_t spec_bytes, struct text *text)
{
    struct text body;
    enum outcome outcome;
    text_begin(&body, NULL, 0);
    switch (conversion) {
    case 's':
        outcome = value_str(state->vm, value, &body);
        break;
    case 'r':
        outcome = value_repr(state->vm, value, &body);
        break;
    case 'a':
        outcome = value_ascii(state->vm, value, &body);
        break;
    default:
        outcome = conversion > 32 && conversion < 127
                      ? vm_raise(state->vm, STATUS_VALUE,
                                 "Unknown conversion specifier %c", (char)conversion)
                      : vm_raise(state->vm, STATUS_VALUE,
                                 "Unknown conversion specifier \\x%x", conversion);
        break;
    }
    if (outcome == OUTCOME_OK && body.failed)
        outcome = text_out_of_memory(state->vm);
    if (outcome == OUTCOME_OK)
        outcome =
            format_string(state->vm, body.length > 0 ? body.data : "", body.length,
                          utf8_count(body.data, body.length), spec, spec_bytes, text);
    text_end(&body);
    return outcome;
}

static enum outcome write_field(struct template *state, const struct field *field,
                                int depth, struct text *text)
{
    struct value value;
    enum outcome outcome = find_value(state, field, &value);
    if (outcome != OUTCOME_OK)
        return outcome;
    struct text nested;
    text_begin(&nested, NULL, 0);
    const char *spec = field->spec;
    size_t spec_bytes = (size_t)(field->spec_end - field->spec);
    if (field->spec_nested) {
        outcome = expand(state, field->spec, field->spec_end, depth + 1, &nested);
        spec = nested.length > 0 ? nested.data : "";
        spec_bytes = nested.length;
        if (outcome == OUTCOME_OK && nested.failed)
            outcome = text_out_of_memory(state->vm);
    }
    if (outcome == OUTCOME_OK)
        outcome =
            field->conversion != 0
                ? write_converted(state, field->conversion, value, spec, spec_bytes, text)
                : value_format(state->vm, value, spec, spec_bytes, text);
    text_end(&nested);
    value_release(value);
    return outcome;
}

// The literal text up to the next field; p goes behind the brace that opens it, or to the
// end. Doubled braces stand for one.
static enum outcome write_literal(struct template *state, const char **p, const char *end,
                                  bool *field_follows, struct text *text)
{
    *field_follows = false;
    while (*p < end) {
        const char *begin = *p;
        while (*p < end && **p != '{' && **p != '}')
            ++*p;
        if (text_charge(state->vm, text, *p - begin) == OUTCOME_ERROR)
            return OUTCOME_ERROR;
        text_add(text, begin, (size_t)(*p - begin));
        if (*p == end)
            return OUTCOME_OK;
        char brace = *(*p)++;
        if (*p < end && **p == brace) {
            text_add(text, (*p)++, 1);
            continue;
        }
        if (brace == '}' || *p == end)
            return vm_raise(state->vm, STATUS_VALUE,
                            "Single '%c' encountered in format string", brace);
        *field_follows = true;
        return OUTCOME_OK;
    }
    return OUTCOME_OK;
}

static enum outcome expand(struct template *state, const char *p, const char *end,
                           int depth, struct text *text)
{
    if (depth > TEMPLATE_MAX_DEPTH)
        return vm_raise(state->vm, STATUS_VALUE, "Max string recursion exceeded");
    enum outcome all = OUTCOME_OK;
    bool field_follows = true;
    struct field field;
    while (p < end) {
        if (write_literal(state, &p, end, &field_follows, text) == OUTCOME_ERROR)
            return OUTCOME_ERROR;
        if (!field_follows)
            break;
        if (read_field(state, &p, end, &field) == OUTCOME_ERROR ||
            !outcome_keep(&all, write_field(state, &field, depth, text)))
            return OUTCOME_ERROR;
    }
    return all;
}

enum outcome string_template(struct vm *vm, const struct string *format,
                             const struct tuple *positional, const struct dict *keywords,
                             struct value *result)
{
    char small[512];
    struct text text;
    text_begin(&text, small, sizeof small);
    struct template state = {.vm = vm, .positional = positional, .keywords = keywords};
    enum outcome outcome =
        expand(&state, format->text, format->text + format->bytes, 1, &text);
    return text_to_string(vm, &text, outcome, result);
}
