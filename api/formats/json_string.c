// SPDX-License-Identifier: Apache-2.0
// JSON strings: escapes and UTF-8. Pure functions; any thread.
#include "api/formats/json_reader.h"

#include <math.h>

// The length of the UTF-8 sequence at p, 0 if it is none (overlong forms and surrogates
// are none).
static size_t utf8_length(const unsigned char *p, const unsigned char *end)
{
    if (p[0] < 0x80)
        return 1;
    size_t length = p[0] >= 0xF0 ? 4 : p[0] >= 0xE0 ? 3 : 2;
    if (p[0] < 0xC2 || p[0] > 0xF4 || (size_t)(end - p) < length)
        return 0;
    for (size_t i = 1; i < length; i++) {
        if ((p[i] & 0xC0) != 0x80)
            return 0;
    }
    bool bad = (p[0] == 0xE0 && p[1] < 0xA0) || (p[0] == 0xED && p[1] > 0x9F) ||
               (p[0] == 0xF0 && p[1] < 0x90) || (p[0] == 0xF4 && p[1] > 0x8F);
    return bad ? 0 : length;
}

// Four hexadecimal digits at p, or -1.
static int32_t hex4(const char *p, const char *end)
{
    int32_t value = 0;
    if (end - p < 4)
        return -1;
    for (int i = 0; i < 4; i++) {
        int digit = is_digit(p[i])               ? p[i] - '0'
                    : p[i] >= 'a' && p[i] <= 'f' ? p[i] - 'a' + 10
                    : p[i] >= 'A' && p[i] <= 'F' ? p[i] - 'A' + 10
                                                 : -1;
        if (digit < 0)
            return -1;
        value = value << 4 | digit;
    }
    return value;
}

static char *put_utf8(char *out, int32_t code)
{
    if (code < 0x80) {
        *out++ = (char)code;
        return out;
    }
    if (code < 0x800) {
        *out++ = (char)(0xC0 | code >> 6);
    } else {
        if (code < 0x10000) {
            *out++ = (char)(0xE0 | code >> 12);
        } else {
            *out++ = (char)(0xF0 | code >> 18);
            *out++ = (char)(0x80 | (code >> 12 & 0x3F));
        }
        *out++ = (char)(0x80 | (code >> 6 & 0x3F));
    }
    *out++ = (char)(0x80 | (code & 0x3F));
    return out;
}

// \uXXXX, or a pair of them for a character beyond 16 bits; p is after the first u. NULL
// if it is none.
static const char *decode_unicode(const char *p, const char *end, char **out)
{
    int32_t code = hex4(p, end);
    if (code < 0)
        return NULL;
    p += 4;
    if (code >= 0xD800 && code < 0xE000) {
        int32_t low = end - p >= 6 && p[0] == '\\' && p[1] == 'u' ? hex4(p + 2, end) : -1;
        if (code >= 0xDC00 || low < 0xDC00 || low >= 0xE000)
            return NULL;
        code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
        p += 6;
    }
    *out = put_utf8(*out, code);
    return p;
}

// One escape; p is after the backslash.
static const char *decode_escape(const char *p, const char *end, char **out)
{
    static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
    if (p >= end)
        return NULL;
    if (*p == 'u')
        return decode_unicode(p + 1, end, out);
    const char *name = memchr(names, *p, sizeof names - 1);
    if (name == NULL)
        return NULL;
    *(*out)++ = values[name - names];
    return p + 1;
}

enum status json_string_decode(const char *text, size_t length, char *out,
                               size_t *out_length, struct problem *problem)
{
    const char *p = text + 1, *end = text + length - 1;
    char *to = out;
    while (p < end) {
        if (*p == '\\') {
            p = decode_escape(p + 1, end, &to);
            if (p == NULL)
                return problem_set(
                    problem, STATUS_MALFORMED,
                    "A string has a backslash that begins no JSON escape.");
            continue;
        }
        if ((unsigned char)*p < 0x20)
            return problem_set(
                problem, STATUS_MALFORMED,
                "A string has a control character; write it as an escape.");
        size_t sequence =
            utf8_length((const unsigned char *)p, (const unsigned char *)end);
        if (sequence == 0)
            return problem_set(problem, STATUS_MALFORMED, "A string is not valid UTF-8.");
        memcpy(to, p, sequence);
        to += sequence;
        p += sequence;
    }
    *out_length = (size_t)(to - out);
    return STATUS_OK;
}

bool json_special(const char *text, size_t length, double *value)
{
    static const struct {
        const char *word;
        double value;
    } words[] = {{"NaN", NAN}, {"Infinity", INFINITY}, {"-Infinity", -INFINITY}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strlen(words[i].word) == length && memcmp(words[i].word, text, length) == 0) {
            *value = words[i].value;
            return true;
        }
    }
    return false;
}
