// SPDX-License-Identifier: Apache-2.0
// string % arguments: printf's conversions as Python has them. The program's thread.
//
// Arguments are the items of a tuple, or one value; a value that can be indexed (a dict
// first of all) may also be named: "%(key)s", after which nothing else is left.
#include "api/lang/builtins.h"

#include <math.h>

#include "api/lang/strings.h"
#include "api/lang/unicode.h"

struct percent {
    struct vm *vm;
    const struct string *format;
    const char *p, *end;
    struct text *text;
    const struct value *items; // what is left by position
    int64_t left;
    bool single;        // not a tuple
    struct value all;   // the right operand
    struct value named; // the last %(key)'s value: a reference, or ABSENT
    bool is_mapping;
};

struct conversion {
    bool left, plus, blank, alternate, zero;
    int64_t width, precision; // -1: none
    char kind;
};

static enum outcome next_argument(struct percent *state, struct value *out)
{
    if (state->left == 0)
        return vm_raise(state->vm, STATUS_TYPE, "not enough arguments for format string");
    state->left--;
    *out = *state->items++;
    return OUTCOME_OK;
}

// ---- Reading a conversion

static enum outcome read_key(struct percent *state)
{
    if (!state->is_mapping)
        return vm_raise(state->vm, STATUS_TYPE, "format requires a mapping");
    const char *begin = ++state->p;
    for (int open = 1; state->p < state->end; state->p++) {
        open += (*state->p == '(') - (*state->p == ')');
        if (open == 0)
            break;
    }
    if (state->p == state->end)
        return vm_raise(state->vm, STATUS_VALUE, "incomplete format key");
    struct string *key = string_new(vm_heap(state->vm), begin,
                                    (size_t)(state->p++ - begin), vm_problem(state->vm));
    if (key == NULL)
        return OUTCOME_ERROR;
    struct value value;
    enum outcome outcome = value_get_item(state->vm, state->all, value_of(key), &value);
    value_release(value_of(key));
    if (outcome != OUTCOME_OK)
        return outcome;
    value_release(state->named);
    state->named = value;
    state->items = &state->named;
    state->left = 1;
    state->single = true;
    return OUTCOME_OK;
}

static void read_flags(struct percent *state, struct conversion *conversion)
{
    for (; state->p < state->end; state->p++) {
        switch (*state->p) {
        case '-':
            conversion->left = true;
            break;
        case '+':
            conversion->plus = true;
            break;
        case ' ':
            conversion->blank = true;
            break;
        case '#':
            conversion->alternate = true;
            break;
        case '0':
            conversion->zero = true;
            break;
        default:
            return;
        }
    }
}

// Digits or a star; -1 where there are none.
static enum outcome read_amount(struct percent *state, int64_t limit, const char *too_big,
                                int64_t *out)
{
    *out = -1;
    if (state->p < state->end && *state->p == '*') {
        struct value value;
        state->p++;
        if (next_argument(state, &value) == OUTCOME_ERROR)
            return OUTCOME_ERROR;
        if (!value_is_integer(value))
            return vm_raise(state->vm, STATUS_TYPE, "* wants int");
        if (value.i > limit || value.i < -limit)
            return vm_raise(state->vm, STATUS_OVERFLOW,
                            "Python int too large to convert to C int");
        *out = value.i;
        return OUTCOME_OK;
    }
    for (; state->p < state->end && *state->p >= '0' && *state->p <= '9'; state->p++) {
        int64_t number = *out < 0 ? 0 : *out;
        if (number > (limit - (*state->p - '0')) / 10)
            return vm_raise(state->vm, STATUS_VALUE, "%s too big", too_big);
        *out = number * 10 + (*state->p - '0');
    }
    return OUTCOME_OK;
}

static enum outcome read_conversion(struct percent *state, struct conversion *conversion)
{
    *conversion = (struct conversion){.width = -1, .precision = -1};
    if (state->p < state->end && *state->p == '(') {
        enum outcome outcome = read_key(state);
        if (outcome != OUTCOME_OK)
            return outcome;
    }
    read_flags(state, conversion);
    const char *width = state->p;
    if (read_amount(state, INT64_MAX, "width", &conversion->width) == OUTCOME_ERROR)
        return OUTCOME_ERROR;
    if (conversion->width < 0 && state->p > width) { // of a star
        conversion->left = true;
        conversion->width = -conversion->width;
    }
    if (state->p < state->end && *state->p == '.') {
        state->p++;
        if (read_amount(state, INT32_MAX, "precision", &conversion->precision) ==
            OUTCOME_ERROR)
            return OUTCOME_ERROR;
        if (conversion->precision < 0)
            conversion->precision = 0;
    }
    if (state->p < state->end && strchr("hlL", *state->p) != NULL && *state->p != '\0')
        state->p++;
    if (state->p == state->end)
        return vm_raise(state->vm, STATUS_VALUE, "incomplete format");
    conversion->kind = *state->p;
    return OUTCOME_OK;
}

// ---- Writing one

// prefix is the sign and 0x; numbers may be filled with zeros behind it.
static enum outcome write_padded(struct percent *state,
                                 const struct conversion *conversion, const char *prefix,
                                 size_t prefix_bytes, const char *body, size_t bytes,
                                 int64_t characters, bool is_number)
{
    bool zeros = is_number && conversion->zero && !conversion->left;
    struct format_spec spec = {
        .fill = zeros ? "0" : " ",
        .fill_bytes = 1,
        .align = conversion->left ? '<'
                 : zeros          ? '='
                                  : '>',
        .width = conversion->width,
    };
    return format_padded(state->vm, &spec, prefix, prefix_bytes, body, bytes, characters,
                         state->text);
}

static size_t put_sign(const struct conversion *conversion, bool negative, char *prefix)
{
    if (!negative && !conversion->plus && !conversion->blank)
        return 0;
    *prefix = negative ? '-' : conversion->plus ? '+' : ' ';
    return 1;
}

static enum outcome write_integer(struct percent *state,
                                  const struct conversion *conversion, int64_t value)
{
    char kind = conversion->kind, prefix[3], small[128], digits[NUMBER_TEXT_MAX];
    int base = kind == 'o' ? 8 : kind == 'x' || kind == 'X' ? 16 : 10;
    size_t prefix_bytes = put_sign(conversion, value < 0, prefix);
    if (conversion->alternate && base != 10) {
        prefix[prefix_bytes++] = '0';
        prefix[prefix_bytes++] = kind;
    }
    size_t count = integer_digits(integer_magnitude(value), base, kind == 'X', digits);
    struct text body;
    text_begin(&body, small, sizeof small);
    int64_t zeros = conversion->precision - (int64_t)count;
    enum outcome outcome =
        text_charge(state->vm, &body, (zeros < 0 ? 0 : zeros) + (int64_t)count);
    if (outcome == OUTCOME_OK)
        text_fill(&body, "0", 1, zeros);
    text_add(&body, digits, count);
    if (outcome == OUTCOME_OK)
        outcome = write_padded(state, conversion, prefix, prefix_bytes, body.data,
                               body.length, (int64_t)body.length, true);
    text_end(&body);
    return outcome;
}

static enum outcome convert_integer(struct percent *state,
                                    const struct conversion *conversion,
                                    struct value value)
{
    bool decimal = strchr("diu", conversion->kind) != NULL;
    if (value_is_tensor(value)) {
        enum outcome outcome = tensor_number(state->vm, value, &value);
        if (outcome != OUTCOME_OK)
            return outcome;
    }
    if (value_is_integer(value))
        return write_integer(state, conversion, value.i);
    if (value.tag == VALUE_WIDE)
        return vm_raise(state->vm, STATUS_OVERFLOW, "integers have 64 bits");
    if (!decimal)
        return vm_raise(state->vm, STATUS_TYPE,
                        "%%%c format: an integer is required, not %s", conversion->kind,
                        value_type_name(value));
    if (value.tag != VALUE_FLOAT)
        return vm_raise(state->vm, STATUS_TYPE,
                        "%%%c format: a real number is required, not %s",
                        conversion->kind, value_type_name(value));
    int64_t whole;
    if (float_to_int(state->vm, value.f, &whole) == OUTCOME_ERROR)
        return OUTCOME_ERROR;
    return write_integer(state, conversion, whole);
}

static enum outcome convert_float(struct percent *state,
                                  const struct conversion *conversion, struct value value)
{
    double number;
    enum outcome outcome = value_to_double(state->vm, value, &number);
    if (outcome != OUTCOME_OK)
        return outcome;
    int64_t precision = conversion->precision < 0 ? 6 : conversion->precision;
    if (precision > FLOAT_MAX_PRECISION)
        return vm_raise(state->vm, STATUS_VALUE, "precision too big");
    char buffer[FLOAT_TEXT_MAX], prefix[1];
    size_t length = float_print(number, conversion->kind, (int)precision,
                                conversion->alternate, buffer);
    bool negative = length > 0 && buffer[0] == '-';
    size_t prefix_bytes = put_sign(conversion, negative, prefix);
    return write_padded(state, conversion, prefix, prefix_bytes, buffer + negative,
                        length - negative, (int64_t)(length - negative), true);
}

static enum outcome convert_character(struct percent *state,
                                      const struct conversion *conversion,
                                      struct value value)
{
    char bytes[4];
    const struct string *string = VALUE_AS(string, value);
    if (value_is_object(value, OBJECT_STRING) && string->characters == 1)
        return write_padded(state, conversion, "", 0, string->text, (size_t)string->bytes,
                            1, false);
    if (!value_is_integer(value))
        return vm_raise(state->vm, STATUS_TYPE, "%%c requires int or char");
    if (value.i < 0 || value.i > 0x10FFFF)
        return vm_raise(state->vm, STATUS_OVERFLOW, "%%c arg not in range(0x110000)");
    if (value.i >= 0xD800 && value.i < 0xE000)
        return vm_raise(state->vm, STATUS_VALUE, "surrogates are not allowed in text");
    return write_padded(state, conversion, "", 0, bytes,
                        (size_t)utf8_encode((uint32_t)value.i, bytes), 1, false);
}

static enum outcome convert_text(struct percent *state,
                                 const struct conversion *conversion, struct value value)
{
    char small[256];
    struct text body;
    text_begin(&body, small, sizeof small);
    enum outcome outcome = conversion->kind == 's' ? value_str(state->vm, value, &body)
                           : conversion->kind == 'r'
                               ? value_repr(state->vm, value, &body)
                               : value_ascii(state->vm, value, &body);
    if (outcome == OUTCOME_OK && body.failed)
        outcome = text_out_of_memory(state->vm);
    if (outcome == OUTCOME_OK) {
        size_t bytes = body.length;
        if (conversion->precision >= 0)
            bytes = utf8_offset(body.data, bytes, conversion->precision);
        outcome = write_padded(state, conversion, "", 0, body.data, bytes,
                               utf8_count(body.data, bytes), false);
    }
    text_end(&body);
    return outcome;
}

static enum outcome convert(struct percent *state, const struct conversion *conversion,
                            struct value value)
{
    switch (conversion->kind) {
    case 's':
    case 'r':
    case 'a':
        return convert_text(state, conversion, value);
    case 'c':
        return convert_character(state, conversion, value);
    case 'd':
    case 'i':
    case 'u':
    case 'o':
    case 'x':
    case 'X':
        return convert_integer(state, conversion, value);
    case 'e':
    case 'E':
    case 'f':
    case 'F':
    case 'g':
    case 'G':
        return convert_float(state, conversion, value);
    default:
        break;
    }
    const char *at = state->p;
    uint32_t code = utf8_next(&at, state->end);
    return vm_raise(state->vm, STATUS_VALUE,
                    "unsupported format character '%c' (0x%x) at index %lld",
                    code > 31 && code < 127 ? (char)code : '?', code,
                    (long long)utf8_count(state->format->text,
                                          (size_t)(state->p - state->format->text)));
}

static enum outcome one_conversion(struct percent *state)
{
    struct conversion conversion;
    struct value value;
    if (state->p < state->end && *state->p == '%') {
        state->p++;
        text_literal(state->text, "%");
        return OUTCOME_OK;
    }
    enum outcome outcome = read_conversion(state, &conversion);
    if (outcome == OUTCOME_OK)
        outcome = next_argument(state, &value);
    else
        state->p = state->end; // in the middle of it: what follows cannot be read
    if (outcome == OUTCOME_OK)
        outcome = convert(state, &conversion, value);
    if (state->p < state->end)
        state->p++;
    return outcome;
}

// ---- All of them

static enum outcome all_conversions(struct percent *state)
{
    enum outcome all = OUTCOME_OK;
    while (state->p < state->end) {
        const char *mark = memchr(state->p, '%', (size_t)(state->end - state->p));
        const char *stop = mark != NULL ? mark : state->end;
        if (text_charge(state->vm, state->text, stop - state->p) == OUTCOME_ERROR)
            return OUTCOME_ERROR;
        text_add(state->text, state->p, (size_t)(stop - state->p));
        if (mark == NULL)
            break;
        state->p = mark + 1;
        enum outcome one = one_conversion(state);
        if (!outcome_keep(&all, one))
            return OUTCOME_ERROR;
    }
    if (all == OUTCOME_OK && state->left > 0 && !(state->is_mapping && state->single))
        return vm_raise(state->vm, STATUS_TYPE,
                        "not all arguments converted during string formatting");
    return all;
}

static bool can_be_indexed(struct value value)
{
    if (value.tag != VALUE_OBJECT)
        return false;
    switch ((enum object_kind)value.object->kind) {
    case OBJECT_DICT:
    case OBJECT_LIST:
    case OBJECT_RANGE:
    case OBJECT_TENSOR:
    case OBJECT_MODULE:
        return true;
    default:
        return false;
    }
}

enum outcome string_percent(struct vm *vm, struct string *format, struct value arguments,
                            struct value *result)
{
    char small[512];
    struct text text;
    text_begin(&text, small, sizeof small);
    struct percent state = {
        .vm = vm,
        .format = format,
        .p = format->text,
        .end = format->text + format->bytes,
        .text = &text,
        .all = arguments,
        .is_mapping = can_be_indexed(arguments),
    };
    if (value_is_object(arguments, OBJECT_TUPLE)) {
        const struct tuple *tuple = VALUE_AS(tuple, arguments);
        state.items = tuple->items;
        state.left = tuple->count;
    } else {
        state.items = &state.all;
        state.left = 1;
        state.single = true;
    }
    enum outcome outcome = all_conversions(&state);
    value_release(state.named);
    return text_to_string(vm, &text, outcome, result);
}
