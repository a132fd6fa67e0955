// SPDX-License-Identifier: Apache-2.0
// What a name may be, and how far two names are apart.
#include <stdio.h>
#include <string.h>

#include "tensor/registry_internal.h"

static const char *const suffixes[] = {
    ".npy", ".npz", ".json", ".csv", ".txt", ".raw", ".png", ".safetensors",
};

// Python's keywords, and the names programs know without asking the registry.
static const char *const keywords[] = {
    "False",  "None",   "True",    "and",      "as",       "assert", "async",
    "await",  "break",  "class",   "continue", "def",      "del",    "elif",
    "else",   "except", "finally", "for",      "from",     "global", "if",
    "import", "in",     "is",      "lambda",   "nonlocal", "not",    "or",
    "pass",   "raise",  "return",  "try",      "while",    "with",   "yield",
};
static const char *const reserved[] = {"torch", "np", "nn", "F"};

enum { LONGEST_WORD = 8, QUOTED = 60 };

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_inner(char c)
{
    return is_letter(c) || (c >= '0' && c <= '9') || c == '.' || c == '-';
}

static bool among(const char *const *words, size_t count, const char *name, size_t length)
{
    for (size_t i = 0; i < count; i++)
        if (words[i][0] == name[0] && strlen(words[i]) == length &&
            memcmp(words[i], name, length) == 0)
            return true;
    return false;
}

static const char *format_suffix(const char *name, size_t length)
{
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        size_t count = strlen(suffixes[i]);
        if (length >= count && memcmp(name + length - count, suffixes[i], count) == 0)
            return suffixes[i];
    }
    return NULL;
}

enum status name_check(const char *name, size_t length, struct problem *problem)
{
    int shown = length > QUOTED ? QUOTED : (int)length;
    if (length == 0)
        return problem_set(problem, STATUS_NAME, "a name has at least one character");
    if (length > NAME_MAX_LENGTH)
        return problem_set(problem, STATUS_NAME,
                           "the name has %zu characters; at most %d are allowed", length,
                           NAME_MAX_LENGTH);
    if (!is_letter(name[0]))
        return problem_set(problem, STATUS_NAME,
                           "the name \"%.*s\" must begin with a letter or _", shown,
                           name);
    bool dotted = false;
    for (size_t i = 1; i < length; i++) {
        dotted |= name[i] == '.';
        if (!is_inner(name[i]))
            return problem_set(
                problem, STATUS_NAME,
                "character %zu of the name \"%.*s\" is none of letters, digits, "
                "_, . and -",
                i + 1, shown, name);
    }
    const char *suffix = dotted ? format_suffix(name, length) : NULL;
    if (suffix)
        return problem_set(
            problem, STATUS_NAME,
            "the name \"%.*s\" ends in %s, which names a format; leave it out", shown,
            name, suffix);
    if (length <= LONGEST_WORD &&
        among(keywords, sizeof keywords / sizeof *keywords, name, length))
        return problem_set(problem, STATUS_NAME, "%.*s is a keyword of Python", shown,
                           name);
    if (length <= LONGEST_WORD &&
        among(reserved, sizeof reserved / sizeof *reserved, name, length))
        return problem_set(problem, STATUS_NAME,
                           "%.*s is reserved: programs mean the library by it", shown,
                           name);
    return STATUS_OK;
}

// Only cells within limit of the diagonal can matter, so a row has 2 * limit + 1 of them:
// cell j of row i stands for column i + j - limit.
int name_distance(const char *a, size_t a_length, const char *b, size_t b_length,
                  int limit)
{
    enum { WIDTH = 7 };
    for (; a_length && b_length && *a == *b; a++, b++)
        a_length--, b_length--;
    while (a_length && b_length && a[a_length - 1] == b[b_length - 1])
        a_length--, b_length--;
    int rows[3][WIDTH + 2], la = (int)a_length, lb = (int)b_length, far = limit + 1;
    int difference = la > lb ? la - lb : lb - la;
    if (difference > limit || limit > 3)
        return far;
    for (int i = 0; i <= la; i++) {
        int *row = rows[i % 3], *above = rows[(i + 2) % 3],
            *two_above = rows[(i + 1) % 3];
        int best = far;
        for (int j = 0; j <= 2 * limit; j++) {
            int column = i + j - limit, value = far;
            if (column == 0)
                value = i;
            else if (i == 0 && column > 0)
                value = column;
            else if (column > 0 && column <= lb) {
                value = above[j] + (a[i - 1] != b[column - 1]);
                if (j < 2 * limit && above[j + 1] + 1 < value)
                    value = above[j + 1] + 1;
                if (j > 0 && row[j - 1] + 1 < value)
                    value = row[j - 1] + 1;
                if (i > 1 && column > 1 && a[i - 1] == b[column - 2] &&
                    a[i - 2] == b[column - 1] && two_above[j] + 1 < value)
                    value = two_above[j] + 1;
            }
            row[j] = value < far ? value : far;
            best = row[j] < best ? row[j] : best;
        }
        if (best == far)
            return far;
    }
    return rows[la % 3][lb - la + limit];
}
