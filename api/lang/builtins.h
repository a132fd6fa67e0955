// SPDX-License-Identifier: Apache-2.0
// Text of values and Python's builtins: what their files share with each other and with
// the rest of the language. operate.h has the entry points (value_repr, value_str,
// value_format) and the tables.
//
//   text_repr.c        repr and str of every kind of value
//   text_number.c      floats and integers as text: repr, printf's conversions, grouping
//   text_spec.c        the mini-language of format(): reading it, padding; str
//   text_spec_number.c the same for int, float, bool
//   text_percent.c     string % arguments
//   text_template.c    str.format
//   text_parse.c         int("..."), float("...")
//   str_methods*.c     methods of str
//   builtins*.c        functions without a module
//   constructors.c     int(), list(), ...
//   math*.c            math.*
//
// Pieces of text grow in memory of their own (struct text) until they become a string of
// the heap. text_charge keeps that bounded: it counts the work as steps and lets the heap
// admit what the text will take before it grows. Threads: the program's.
#ifndef TENSORD_API_LANG_BUILTINS_H
#define TENSORD_API_LANG_BUILTINS_H

#include "api/lang/container.h"
#include "api/lang/operate.h"
#include "api/text.h"

// ---- Growing text
// To be called before so many bytes are appended (other than a few).
enum outcome text_charge(struct vm *vm, struct text *text, int64_t more);
// Ends text. After OUTCOME_OK its content becomes a string, *result; else the outcome is
// handed through.
enum outcome text_to_string(struct vm *vm, struct text *text, enum outcome outcome,
                            struct value *result);
enum outcome text_out_of_memory(struct vm *vm);
// One of several outcomes: an error before waiting, waiting before success. Who has
// several values to look at goes on after WAIT, so that one flush serves all.
static inline bool outcome_keep(enum outcome *all, enum outcome one) // false: stop
{
    if (one == OUTCOME_ERROR || *all == OUTCOME_OK)
        *all = one;
    return one != OUTCOME_ERROR;
}
void text_code(struct text *text, uint32_t code); // one character as UTF-8
// count times the same few bytes. After text_charge, so that the product fits.
void text_fill(struct text *text, const char *fill, size_t bytes, int64_t count);

// ---- repr (text_repr.c)
// The literal of a string. ascii: what is beyond ASCII is escaped.
void text_repr_string(struct text *text, const char *string, size_t bytes, bool ascii);
// ascii(value).
enum outcome value_ascii(struct vm *vm, struct value value, struct text *text);
// id() and the address in a repr: stable and distinct while the object lives, and without
// relation to where it lies in memory.
int64_t value_id(struct value value);

// ---- Numbers as text (text_number.c)
enum { NUMBER_TEXT_MAX = 72 };
// repr of a float; the length. NaN is "nan".
size_t float_repr(double value, char buffer[NUMBER_TEXT_MAX]);
// As printf's %.*e, %.*f, %.*g (conversion 'e' 'f' 'g', or upper case) with or without
// '#'; 'r': repr's digits. The sign of NaN is dropped, inf and nan in the case of the
// conversion. precision at most FLOAT_MAX_PRECISION.
enum { FLOAT_MAX_PRECISION = 2000, FLOAT_TEXT_MAX = FLOAT_MAX_PRECISION + 400 };
size_t float_print(double value, char conversion, int precision, bool alternate,
                   char buffer[FLOAT_TEXT_MAX]);
// Digits of a magnitude in base 2, 8, 10, 16 without prefix; the length.
size_t integer_digits(uint64_t magnitude, int base, bool upper,
                      char buffer[NUMBER_TEXT_MAX]);
static inline uint64_t integer_magnitude(int64_t value)
{
    return value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
}

// ---- Text as numbers (text_parse.c); text as Python's literals with blanks around
// them allowed, digits of every script.
// base 0 or 2 to 36. STATUS_VALUE (the text is quoted in the detail), STATUS_OVERFLOW.
enum outcome text_to_int(struct vm *vm, const char *text, size_t bytes, int base,
                         int64_t *out);
enum outcome text_to_float(struct vm *vm, const char *text, size_t bytes, double *out);
// A float's whole part: STATUS_OVERFLOW for infinities and beyond 64 bits, STATUS_VALUE
// for NaN.
enum outcome float_to_int(struct vm *vm, double value, int64_t *out);

// ---- Formatting numbers (text_spec*.c)
struct format_spec {
    const char *fill; // one character of UTF-8
    size_t fill_bytes;
    char align; // < > ^ =
    char sign;  // - + space
    bool zero_coercion, alternate;
    int64_t width;     // -1: none
    char grouping;     // , _ or 0
    int64_t precision; // -1: none
    uint32_t type;     // a character; 0: none
    bool align_given;
};
// what: the type's name for messages; default_align '<' or '>'.
enum outcome format_spec_read(struct vm *vm, const char *text, size_t bytes,
                              char default_align, const char *what,
                              struct format_spec *spec);
enum outcome format_unknown_code(struct vm *vm, uint32_t code, const char *what);
// body of so many characters, padded to the width. prefix (sign, 0x) is before '='
// padding.
enum outcome format_padded(struct vm *vm, const struct format_spec *spec,
                           const char *prefix, size_t prefix_bytes, const char *body,
                           size_t body_bytes, int64_t body_characters, struct text *text);
enum outcome format_integer(struct vm *vm, int64_t value, const char *spec,
                            size_t spec_bytes, const char *what, struct text *text);
enum outcome format_float(struct vm *vm, double value, const char *spec,
                          size_t spec_bytes, struct text *text);
enum outcome format_string(struct vm *vm, const char *string, size_t bytes,
                           int64_t characters, const char *spec, size_t spec_bytes,
                           struct text *text);

// ---- Templates
enum outcome string_percent(struct vm *vm, struct string *format, struct value arguments,
                            struct value *result);
enum outcome string_template(struct vm *vm, const struct string *format,
                             const struct tuple *positional, const struct dict *keywords,
                             struct value *result);

// ---- Numbers out of arguments
// A float from a number, or of a tensor of one element. STATUS_TYPE "must be real number,
// not str".
enum outcome value_to_double(struct vm *vm, struct value value, double *out);
// The one element of a tensor as a number. STATUS_VALUE if it has more or none.
enum outcome tensor_number(struct vm *vm, struct value tensor, struct value *out);
static inline bool value_is_tensor(struct value value)
{
    return value_is_object(value, OBJECT_TENSOR);
}
// The type's name as in messages ("'str' object"): short_name of value_type, NoneType ...
const char *value_type_name(struct value value);
// value ** exponent % modulus, modulus != 0.
enum outcome power_modulo(struct vm *vm, int64_t value, int64_t exponent, int64_t modulus,
                          int64_t *out);

// ---- Constants of math: pi, e, tau, inf, nan.
bool math_constant(const char *name, size_t length, double *out);
#endif
