// SPDX-License-Identifier: Apache-2.0
// Appenders of text.h. No snprintf: these run in every answer.
#include "api/text.h"

#include <math.h>
#include <stdlib.h>

void text_end(struct text *text)
{
    if (text->owned)
        free(text->data);
    *text = (struct text){0};
}

bool text_reserve(struct text *text, size_t more)
{
    if (text->failed || more > SIZE_MAX / 4 || text->length > SIZE_MAX / 4) {
        text->failed = true;
        return false;
    }
    if (text->capacity - text->length >= more)
        return true;
    size_t capacity = text->capacity < 256 ? 256 : text->capacity;
    while (capacity - text->length < more)
        capacity *= 2;
    char *data = realloc(text->owned ? text->data : NULL, capacity);
    if (data == NULL) {
        text->failed = true;
        return false;
    }
    if (!text->owned && text->length > 0)
        memcpy(data, text->data, text->length);
    text->data = data;
    text->capacity = capacity;
    text->owned = true;
    return true;
}

void text_integer(struct text *text, int64_t value)
{
    char digits[20];
    size_t start = sizeof digits;
    uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    do {
        digits[--start] = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest > 0);
    if (value < 0)
        text_literal(text, "-");
    text_add(text, digits + start, sizeof digits - start);
}

void text_hex(struct text *text, uint64_t value)
{
    char digits[16];
    size_t start = sizeof digits;
    do {
        digits[--start] = "0123456789abcdef"[value & 15];
        value >>= 4;
    } while (value > 0);
    text_add(text, digits + start, sizeof digits - start);
}

// value with exactly `width` digits.
static inline void put_padded(char *to, int64_t value, int width)
{
    uint32_t rest = (uint32_t)value; // a few digits
    for (int i = width - 1; i >= 0; i--, rest /= 10)
        to[i] = (char)('0' + rest % 10);
}

void text_seconds(struct text *text, double seconds)
{
    double limit = seconds < 0 ? 0 : seconds > 1e15 ? 1e15 : seconds;
    int64_t milliseconds = (int64_t)(limit * 1000 + 0.5);
    char fraction[4] = ".";
    put_padded(fraction + 1, milliseconds % 1000, 3);
    text_integer(text, milliseconds / 1000);
    text_add(text, fraction, sizeof fraction);
}

// Length of the valid UTF-8 sequence at bytes, 0 if there is none.
static size_t utf8_length(const unsigned char *bytes, size_t left)
{
    unsigned char lead = bytes[0];
    size_t length = lead < 0x80   ? 1
                    : lead < 0xC2 ? 0
                    : lead < 0xE0 ? 2
                    : lead < 0xF0 ? 3
                    : lead < 0xF5 ? 4
                                  : 0;
    if (length == 0 || length > left)
        return 0;
    for (size_t i = 1; i < length; i++)
        if ((bytes[i] & 0xC0) != 0x80)
            return 0;
    if ((lead == 0xE0 && bytes[1] < 0xA0) || (lead == 0xED && bytes[1] > 0x9F) ||
        (lead == 0xF0 && bytes[1] < 0x90) || (lead == 0xF4 && bytes[1] > 0x8F))
        return 0;
    return length;
}

static void add_escape(struct text *text, unsigned char byte)
{
    switch (byte) {
    case '"':
        text_literal(text, "\\\"");
        break;
    case '\\':
        text_literal(text, "\\\\");
        break;
    case '\n':
        text_literal(text, "\\n");
        break;
    default: {
        char escape[6] = {'\\',
                          'u',
                          '0',
                          '0',
                          "0123456789abcdef"[byte >> 4],
                          "0123456789abcdef"[byte & 15]};
        text_add(text, escape, sizeof escape);
    }
    }
}

void text_quoted(struct text *text, const char *string, size_t length)
{
    const unsigned char *bytes = (const unsigned char *)string;
    text_literal(text, "\"");
    size_t run = 0; // bytes before i that go out as they are
    for (size_t i = 0; i < length;) {
        size_t step = utf8_length(bytes + i, length - i);
        if (step == 0 || bytes[i] < 0x20 || bytes[i] == '"' || bytes[i] == '\\' ||
            bytes[i] == 0x7F) {
            text_add(text, string + i - run, run);
            run = 0;
            if (step == 0)
                text_literal(text, "\xEF\xBF\xBD");
            else
                add_escape(text, bytes[i]);
            i++;
        } else {
            run += step;
            i += step;
        }
    }
    text_add(text, string + length - run, run);
    text_literal(text, "\"");
}

void text_integers(struct text *text, int count, const int64_t *values)
{
    text_literal(text, "[");
    for (int i = 0; i < count; i++) {
        if (i > 0)
            text_literal(text, ", ");
        text_integer(text, values[i]);
    }
    text_literal(text, "]");
}

// Year, month and day of a day number since 1970-01-01 (proleptic Gregorian calendar;
// days >= 0). Counting from 1 March 0000 puts the leap day last, so that months have a
// closed form.
static void civil_date(int64_t days, int64_t *year, int64_t *month, int64_t *day)
{
    int64_t shifted = days + 719468;
    int64_t era = shifted / 146097, day_of_era = shifted % 146097;
    int64_t year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    int64_t day_of_year =
        day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    int64_t shifted_month = (5 * day_of_year + 2) / 153;
    *day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    *month = shifted_month < 10 ? shifted_month + 3 : shifted_month - 9;
    *year = year_of_era + era * 400 + (*month <= 2);
}

enum { TIME_LENGTH = 26 };

static void put_second(char form[TIME_LENGTH], int64_t second)
{
    int64_t year, month, day;
    int32_t second_of_day = (int32_t)(second % 86400);
    civil_date(second / 86400, &year, &month, &day);
    memcpy(form, "\"YYYY-MM-DDThh:mm:ss.mmmZ\"", TIME_LENGTH);
    put_padded(form + 1, year, 4);
    put_padded(form + 6, month, 2);
    put_padded(form + 9, day, 2);
    put_padded(form + 12, second_of_day / 3600, 2);
    put_padded(form + 15, second_of_day / 60 % 60, 2);
    put_padded(form + 18, second_of_day % 60, 2);
}

// Answers tell the present and a few moments before: a thread keeps the seconds that it
// wrote last.
void text_time(struct text *text, double seconds)
{
    static _Thread_local struct {
        int64_t second;
        char form[TIME_LENGTH];
    } written[8]; // second 0 is written as it is
    int64_t milliseconds =
        seconds > 0 && seconds < 2.5e11 ? (int64_t)(seconds * 1000) : 0;
    int64_t second = milliseconds / 1000;
    int i = (int)(second % 8);
    if (written[i].second != second || second == 0) {
        put_second(written[i].form, second);
        written[i].second = second;
    }
    char form[TIME_LENGTH];
    memcpy(form, written[i].form, sizeof form);
    put_padded(form + 21, milliseconds % 1000, 3);
    text_add(text, form, sizeof form);
}

void text_url(struct text *text, const char *string)
{
    for (const unsigned char *byte = (const unsigned char *)string; *byte != 0; byte++) {
        bool plain = (*byte >= 'a' && *byte <= 'z') || (*byte >= 'A' && *byte <= 'Z') ||
                     (*byte >= '0' && *byte <= '9') || *byte == '-' || *byte == '.' ||
                     *byte == '_' || *byte == '~';
        char escape[3] = {'%', "0123456789ABCDEF"[*byte >> 4],
                          "0123456789ABCDEF"[*byte & 15]};
        if (plain)
            text_add(text, (const char *)byte, 1);
        else
            text_add(text, escape, sizeof escape);
    }
}

void text_html(struct text *text, const char *string)
{
    for (; *string != '\0'; string++) {
        if (*string == '&')
            text_literal(text, "&amp;");
        else if (*string == '<')
            text_literal(text, "&lt;");
        else if (*string == '>')
            text_literal(text, "&gt;");
        else if (*string == '"')
            text_literal(text, "&quot;");
        else
            text_add(text, string, 1);
    }
}
