// SPDX-License-Identifier: Apache-2.0
// Strings: immutable UTF-8. Positions that a program sees count characters; positions in
// C count bytes. The text of every string is valid UTF-8: whoever makes one sees to it.
// With heap NULL, string_new and string_allocate make an immortal string, a constant of
// code: its owner gives it back with free(). Threads: immortal strings may be read by
// several programs at once.
#ifndef TENSORD_API_LANG_STRINGS_H
#define TENSORD_API_LANG_STRINGS_H

#include <string.h>

#include "api/lang/operate.h"

// ---- UTF-8
// Bytes of the character that starts with this byte (of valid UTF-8).
static inline int utf8_length(char lead)
{
    unsigned char byte = (unsigned char)lead;
    return byte < 0x80 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
}
// The character at text (valid UTF-8) and how many bytes it takes.
uint32_t utf8_decode(const char *text, int *length);
// Writes the character (up to 0x10FFFF), returns its 1 to 4 bytes.
int utf8_encode(uint32_t code, char text[4]);
int64_t utf8_count(const char *text, size_t bytes); // characters

// ---- Strings
static inline bool string_is_ascii(const struct string *string)
{
    return string->bytes == string->characters;
}
// The byte where character `index` (0 to characters) begins.
int64_t string_offset(const struct string *string, int64_t index);
// The character that the byte at offset is the first of, as an index.
int64_t string_index(const struct string *string, int64_t offset);
// A string of one character. NULL: problem set.
struct string *string_of_code(struct heap *heap, uint32_t code, struct problem *problem);
// Characters start, start + step ... (count of them), all inside.
enum outcome string_slice(struct vm *vm, struct string *string, int64_t start,
                          int64_t step, int64_t count, struct value *result);
// One after the other.
enum outcome string_concat(struct vm *vm, const struct string *a, const struct string *b,
                           struct value *result);
enum outcome string_repeat(struct vm *vm, struct string *string, int64_t times,
                           struct value *result);
static inline bool string_is(const struct string *string, const char *text, size_t bytes)
{
    return (size_t)string->bytes == bytes && memcmp(string->text, text, bytes) == 0;
}
// Negative, 0 or positive, by code points.
int string_compare(const struct string *a, const struct string *b);
bool string_contains(const struct string *string, const struct string *part);
uint64_t text_hash(const char *text, size_t bytes); // never 0
uint64_t string_hash(const struct string *string);  // of its text; kept
#endif
