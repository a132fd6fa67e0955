// SPDX-License-Identifier: Apache-2.0
// Characters beyond ASCII: is the source UTF-8, what may stand in a name, and what to say
// of those that come along when a program is copied from a page. Pure functions; any
// thread.
#include "api/lang/lexer.h"

#include <stdio.h>
#include <string.h>

uint32_t lexer_character(const char *text, uint32_t *bytes)
{
    const unsigned char *c = (const unsigned char *)text;
    if (c[0] < 0x80) {
        *bytes = 1;
        return c[0];
    }
    if (c[0] < 0xE0) {
        *bytes = 2;
        return (c[0] & 0x1FU) << 6 | (c[1] & 0x3FU);
    }
    if (c[0] < 0xF0) {
        *bytes = 3;
        return (c[0] & 0x0FU) << 12 | (c[1] & 0x3FU) << 6 | (c[2] & 0x3FU);
    }
    *bytes = 4;
    return (c[0] & 0x07U) << 18 | (c[1] & 0x3FU) << 12 | (c[2] & 0x3FU) << 6 |
           (c[3] & 0x3FU);
}

struct range {
    uint32_t first, last;
};

static bool within(uint32_t character, const struct range *ranges, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (character >= ranges[i].first && character <= ranges[i].last)
            return true;
    return false;
}

// Punctuation, symbols, spaces, controls, private use and pictures, block by block;
// whatever else is beyond ASCII counts as a letter.
bool lexer_is_letter(uint32_t character)
{
    static const struct range others[] = {
        {0x80, 0xA9},       {0xAB, 0xB4},       {0xB6, 0xB9},     {0xBB, 0xBF},
        {0xD7, 0xD7},       {0xF7, 0xF7},       {0x1680, 0x1680}, {0x2000, 0x203E},
        {0x2041, 0x2053},   {0x2055, 0x2070},   {0x2074, 0x207E}, {0x2080, 0x208F},
        {0x20A0, 0x20CF},   {0x2190, 0x2BFF},   {0x2E00, 0x2E7F}, {0x3000, 0x3004},
        {0x3008, 0x3020},   {0x3030, 0x3030},   {0xD800, 0xF8FF}, {0xFD3E, 0xFD3F},
        {0xFE10, 0xFE1F},   {0xFE30, 0xFE32},   {0xFE35, 0xFE4C}, {0xFE50, 0xFE6F},
        {0xFEFF, 0xFEFF},   {0xFF00, 0xFF0F},   {0xFF1A, 0xFF20}, {0xFF3B, 0xFF3E},
        {0xFF40, 0xFF40},   {0xFF5B, 0xFF65},   {0xFFE0, 0xFFFF}, {0x1F000, 0x1FAFF},
        {0xE0000, 0xE00FF}, {0xF0000, 0x10FFFF}};
    return !within(character, others, sizeof others / sizeof *others);
}

// The length of the UTF-8 character at c, 0 if there is none: no stray or missing
// continuation, nothing longer than need be, no surrogates, nothing beyond U+10FFFF.
static uint32_t valid_length(const unsigned char *c, size_t left)
{
    uint32_t length = c[0] < 0xC2   ? 0
                      : c[0] < 0xE0 ? 2
                      : c[0] < 0xF0 ? 3
                      : c[0] < 0xF5 ? 4
                                    : 0;
    if (length == 0 || length > left)
        return 0;
    for (uint32_t i = 1; i < length; i++)
        if ((c[i] & 0xC0) != 0x80)
            return 0;
    if ((c[0] == 0xE0 && c[1] < 0xA0) || (c[0] == 0xED && c[1] > 0x9F) ||
        (c[0] == 0xF0 && c[1] < 0x90) || (c[0] == 0xF4 && c[1] > 0x8F))
        return 0;
    return length;
}

static bool refuse_byte(struct lexer *lexer, unsigned byte)
{
    char message[96];
    snprintf(message, sizeof message,
             byte == 0
                 ? "byte %u of the program is NUL (0x%02x), which no program may hold"
                 : "byte %u of the program (0x%02x) is not UTF-8",
             (unsigned)lexer->at.position + 1, byte);
    return lexer_fail_bare(lexer, STATUS_SYNTAX, lexer_place(lexer, 1), message);
}

// Moves the lexer over the whole source, so that its position is right for a problem.
static bool check_bytes(struct lexer *lexer)
{
    const unsigned char *source = (const unsigned char *)lexer->source;
    while (lexer->at.position < lexer->bytes) {
        unsigned char c = source[lexer->at.position];
        if (c == '\n' || c == '\r') {
            lexer_skip_newline(lexer);
        } else if (c < 0x80 && c != 0) {
            lexer_skip(lexer, 1);
        } else {
            uint32_t length = valid_length(source + lexer->at.position,
                                           lexer->bytes - lexer->at.position);
            if (length == 0)
                return refuse_byte(lexer, c);
            lexer->at.position += length;
            lexer->at.column++;
        }
    }
    return true;
}

bool lexer_open(struct lexer *lexer, const char *source, uint32_t bytes,
                struct arena *arena, struct problem *problem)
{
    lexer->source = source;
    lexer->bytes = bytes;
    lexer->failed = false;
    lexer->n_indents = 0;
    lexer->arena = arena;
    lexer->problem = problem;
    names_open(&lexer->names, arena);
    uint32_t first = bytes >= 3 && memcmp(source, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
    struct lexer_cursor start = {
        .position = first, .end = bytes, .line = 1, .column = 1, .line_start = true};
    lexer->at = start;
    if (!check_bytes(lexer))
        return false;
    lexer->at = start;
    return true;
}

// What to say of characters that pages put in the place of ASCII ones.
static const char *advice(uint32_t character)
{
    static const struct {
        uint32_t first, last;
        const char *text;
    } known[] = {
        {'!', '!', "is no operator; write not"},
        {'`', '`', "is no quote; strings stand between ' or \""},
        {0xA0, 0xA0, "is a non-breaking space; replace it by a space"},
        {0xB4, 0xB4, "is no quote; strings stand between ' or \""},
        {0xD7, 0xD7, "is a mathematical sign; write *"},
        {0xF7, 0xF7, "is a mathematical sign; write /"},
        {0x2000, 0x200A, "is a special space; replace it by a space"},
        {0x200B, 0x200F, "is an invisible character; remove it"},
        {0x2010, 0x2015, "is a dash; minus is -"},
        {0x2018, 0x201F, "is a curly quote; strings stand between ' or \""},
        {0x2026, 0x2026, "is one character; write three dots"},
        {0x2028, 0x202E, "is an invisible character; remove it"},
        {0x202F, 0x202F, "is a non-breaking space; replace it by a space"},
        {0x2060, 0x2064, "is an invisible character; remove it"},
        {0x2212, 0x2212, "is a mathematical minus; write -"},
        {0x2260, 0x2260, "is a mathematical sign; write !="},
        {0x2264, 0x2264, "is a mathematical sign; write <="},
        {0x2265, 0x2265, "is a mathematical sign; write >="},
        {0x3000, 0x3000, "is a wide space; replace it by a space"},
        {0xFEFF, 0xFEFF, "is an invisible character; remove it"},
        {0xFF01, 0xFF5E, "is a wide character; write the ASCII one"},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (character >= known[i].first && character <= known[i].last)
            return known[i].text;
    return "is not a character of the language";
}

bool lexer_refuse_character(struct lexer *lexer)
{
    uint32_t bytes;
    uint32_t character = lexer_character(lexer->source + lexer->at.position, &bytes);
    struct syntax_place place = lexer_place(lexer, bytes);
    const char *text = advice(character);
    if (character >= ' ' && character < 0x7F)
        return lexer_fail(lexer, STATUS_SYNTAX, place, "%c %s", (char)character, text);
    return lexer_fail(lexer, STATUS_SYNTAX, place, "U+%04X %s", (unsigned)character,
                      text);
}
