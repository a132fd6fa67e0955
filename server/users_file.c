// SPDX-License-Identifier: Apache-2.0
// The users file: {"users": [{"name": "ann", "token_sha256": "9f86…", …}, …]}. A strict
// reader of JSON for this one shape: two levels, strings without escapes (nothing in the
// file needs one), no member twice, none unknown. Pure; any thread.
#include "server/users.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/options.h"

struct reader {
    const char *start, *at, *end;
    int user; // whose members are being read; -1: none's
    struct problem *problem;
};

// A string or a number as it stands in the file.
struct token {
    const char *text;
    size_t length;
};

// ---- Complaints

static int line_of(const struct reader *reader)
{
    int line = 1;
    for (const char *c = reader->start; c < reader->at; c++)
        line += *c == '\n';
    return line;
}

static enum status complain(struct reader *reader, const char *what)
{
    char where[32] = "";
    if (reader->user >= 0)
        snprintf(where, sizeof where, ", users[%d]", reader->user);
    return problem_set(reader->problem, STATUS_VALUE, "line %d%s: %s", line_of(reader),
                       where, what);
}

static enum status complain_member(struct reader *reader, const char *member,
                                   const char *what)
{
    char text[200];
    snprintf(text, sizeof text, "\"%s\" %s", member, what);
    return complain(reader, text);
}

// ---- JSON

static char peek(struct reader *reader)
{
    while (reader->at < reader->end && strchr(" \t\r\n", *reader->at) != NULL &&
           *reader->at != '\0')
        reader->at++;
    return reader->at < reader->end ? *reader->at : '\0';
}

static bool accept(struct reader *reader, char c)
{
    if (peek(reader) != c)
        return false;
    reader->at++;
    return true;
}

static enum status read_string(struct reader *reader, struct token *out)
{
    if (!accept(reader, '"'))
        return complain(reader, "a string is needed here.");
    out->text = reader->at;
    while (reader->at < reader->end && *reader->at != '"' && *reader->at != '\\' &&
           (unsigned char)*reader->at >= ' ')
        reader->at++;
    if (reader->at == reader->end || *reader->at != '"')
        return complain(reader, "a string ends on its line and has no backslashes here.");
    out->length = (size_t)(reader->at++ - out->text);
    return STATUS_OK;
}

// JSON's grammar of numbers; at most 30 characters.
static bool read_number(struct reader *reader, double *out)
{
    char copy[32];
    size_t length = 0;
    peek(reader);
    while (reader->at + length < reader->end && length < sizeof copy - 1 &&
           strchr("+-.0123456789eE", reader->at[length]) != NULL &&
           reader->at[length] != '\0')
        length++;
    memcpy(copy, reader->at, length);
    copy[length] = '\0';
    const char *digits = copy + (copy[0] == '-');
    char *end;
    bool good = isdigit((unsigned char)digits[0]) && strpbrk(copy, "xXpP") == NULL &&
                !(digits[0] == '0' && isdigit((unsigned char)digits[1]));
    *out = strtod(copy, &end);
    if (!good || *end != '\0' || !isdigit((unsigned char)end[-1]))
        return false;
    reader->at += length;
    return true;
}

static bool read_word(struct reader *reader, const char *word)
{
    size_t length = strlen(word);
    peek(reader);
    if ((size_t)(reader->end - reader->at) < length ||
        memcmp(reader->at, word, length) != 0)
        return false;
    reader->at += length;
    return true;
}

// ---- Members of a user

static enum status read_name(struct reader *reader, struct user_settings *user)
{
    struct token name;
    enum status status = read_string(reader, &name);
    if (status != STATUS_OK)
        return status;
    if (!users_name_is_good(name.text, name.length))
        return complain_member(reader, "name", "is to match [a-z][a-z0-9_-]{0,31}.");
    memcpy(user->name, name.text, name.length);
    user->name[name.length] = '\0';
    return STATUS_OK;
}

static enum status read_digest(struct reader *reader, struct user_settings *user)
{
    static const char digits[] = "0123456789abcdef";
    struct token text;
    enum status status = read_string(reader, &text);
    if (status != STATUS_OK)
        return status;
    bool good = text.length == 2 * SHA256_SIZE;
    for (size_t i = 0; good && i < text.length; i++) {
        const char *digit = memchr(digits, tolower((unsigned char)text.text[i]), 16);
        good = digit != NULL;
        if (good)
            user->token[i / 2] =
                (uint8_t)(user->token[i / 2] << 4 | (uint8_t)(digit - digits));
    }
    return good
               ? STATUS_OK
               : complain_member(reader, "token_sha256",
                                 "is to have 64 hexadecimal digits: printf %s \"$TOKEN\" "
                                 "| sha256sum.");
}

// "4GiB" or a number of bytes.
static enum status read_size(struct reader *reader, const char *member, int64_t *out)
{
    struct token text;
    char copy[32];
    double number;
    if (peek(reader) != '"') {
        if (!read_number(reader, &number) || number < 0 || number >= 0x1p62 ||
            number != (double)(int64_t)number)
            return complain_member(reader, member, "is a size: \"4GiB\" or bytes.");
        *out = (int64_t)number;
        return STATUS_OK;
    }
    enum status status = read_string(reader, &text);
    if (status != STATUS_OK)
        return status;
    if (text.length >= sizeof copy)
        return complain_member(reader, member, "is a size: \"4GiB\" or bytes.");
    memcpy(copy, text.text, text.length);
    copy[text.length] = '\0';
    if (!options_parse_size(copy, out))
        return complain_member(reader, member, "is a size: \"4GiB\" or bytes.");
    return STATUS_OK;
}

static enum status read_count(struct reader *reader, const char *member, int most,
                              int *out)
{
    double number;
    if (!read_number(reader, &number) || number < 1 || number > most ||
        number != (double)(int)number) {
        char what[64];
        snprintf(what, sizeof what, "is a whole number from 1 to %d.", most);
        return complain_member(reader, member, what);
    }
    *out = (int)number;
    return STATUS_OK;
}

static enum status read_positive(struct reader *reader, const char *member, double least,
                                 double most, double *out)
{
    if (read_number(reader, out) && *out >= least && *out <= most)
        return STATUS_OK;
    char what[64];
    snprintf(what, sizeof what, "is a number from %g to %g.", least, most);
    return complain_member(reader, member, what);
}

static enum status read_admin(struct reader *reader, struct user_settings *user)
{
    user->admin = read_word(reader, "true");
    if (user->admin || read_word(reader, "false"))
        return STATUS_OK;
    return complain_member(reader, "admin", "is true or false.");
}

static const char *const members[] = {"name",        "token_sha256",  "weight",
                                      "memory",      "device_memory", "max_queued",
                                      "max_running", "rate",          "admin"};
enum member {
    NAME,
    DIGEST,
    WEIGHT,
    MEMORY,
    DEVICE_MEMORY,
    MAX_QUEUED,
    MAX_RUNNING,
    RATE,
    ADMIN,
    MEMBERS
};

static enum status read_value(struct reader *reader, enum member member,
                              struct user_settings *user)
{
    const char *name = members[member];
    switch (member) {
    case NAME:
        return read_name(reader, user);
    case DIGEST:
        return read_digest(reader, user);
    case WEIGHT:
        return read_positive(reader, name, 0.001, 1000, &user->weight);
    case MEMORY:
        return read_size(reader, name, &user->memory);
    case DEVICE_MEMORY:
        return read_size(reader, name, &user->device_memory);
    case MAX_QUEUED:
        return read_count(reader, name, 1000, &user->max_queued);
    case MAX_RUNNING:
        return read_count(reader, name, 1000, &user->max_running);
    case RATE:
        return read_positive(reader, name, 0.001, 1e6, &user->rate);
    case ADMIN:
        return read_admin(reader, user);
    case MEMBERS:
        break;
    }
    return STATUS_OK;
}

static enum status read_member(struct reader *reader, struct user_settings *user,
                               unsigned *seen)
{
    struct token name;
    enum status status = read_string(reader, &name);
    if (status != STATUS_OK)
        return status;
    int member = 0;
    while (member < MEMBERS && (strlen(members[member]) != name.length ||
                                memcmp(members[member], name.text, name.length) != 0))
        member++;
    char shown[48];
    snprintf(shown, sizeof shown, "%.*s", name.length > 40 ? 40 : (int)name.length,
             name.text);
    if (member == MEMBERS)
        return complain_member(reader, shown, "is no member of a user.");
    if (*seen & 1u << member)
        return complain_member(reader, shown, "is there twice.");
    *seen |= 1u << member;
    if (!accept(reader, ':'))
        return complain(reader, "a colon is needed here.");
    return read_value(reader, (enum member)member, user);
}

static enum status read_user(struct reader *reader, struct user_settings *user)
{
    unsigned seen = 0;
    *user = (struct user_settings){.weight = 1,
                                   .memory = INT64_MAX,
                                   .device_memory = INT64_MAX,
                                   .max_queued = 64,
                                   .max_running = 4};
    if (!accept(reader, '{'))
        return complain(reader, "a user is an object.");
    do {
        enum status status = read_member(reader, user, &seen);
        if (status != STATUS_OK)
            return status;
    } while (accept(reader, ','));
    if (!accept(reader, '}'))
        return complain(reader, "a comma or a brace is needed here.");
    if ((seen & (1u << NAME | 1u << DIGEST)) != (1u << NAME | 1u << DIGEST))
        return complain(reader, "\"name\" and \"token_sha256\" are needed.");
    return STATUS_OK;
}

// ---- The file

static enum status check_distinct(struct reader *reader, const struct user_list *list)
{
    const struct user_settings *last = &list->users[list->count - 1];
    for (int i = 0; i < list->count - 1; i++) {
        if (strcmp(list->users[i].name, last->name) == 0)
            return complain(reader, "another user has the same name.");
        if (memcmp(list->users[i].token, last->token, SHA256_SIZE) == 0)
            return complain(reader, "another user has the same token.");
    }
    return STATUS_OK;
}

static enum status read_end(struct reader *reader)
{
    if (!accept(reader, '}'))
        return complain(reader, "a brace is needed here.");
    return peek(reader) == '\0' && reader->at == reader->end
               ? STATUS_OK
               : complain(reader, "something follows the end.");
}

static enum status read_users(struct reader *reader, struct user_list *out)
{
    struct token name;
    if (!accept(reader, '{'))
        return complain(reader, "the file is to hold {\"users\": [...]}.");
    enum status status = read_string(reader, &name);
    if (status != STATUS_OK)
        return status;
    if (name.length != 5 || memcmp(name.text, "users", 5) != 0 || !accept(reader, ':') ||
        !accept(reader, '['))
        return complain(reader, "the file is to hold {\"users\": [...]}.");
    if (accept(reader, ']'))
        return read_end(reader);
    do {
        reader->user = out->count;
        if (out->count == USERS_MAX)
            return complain(reader, "so many users are not kept account of.");
        status = read_user(reader, &out->users[out->count++]);
        if (status == STATUS_OK)
            status = check_distinct(reader, out);
        if (status != STATUS_OK)
            return status;
    } while (accept(reader, ','));
    reader->user = -1;
    if (!accept(reader, ']'))
        return complain(reader, "a comma or a bracket is needed here.");
    return read_end(reader);
}

enum status users_parse(const char *text, size_t length, struct user_list *out,
                        struct problem *problem)
{
    struct reader reader = {text, text, text + length, -1, problem};
    *out = (struct user_list){.users = malloc(USERS_MAX * sizeof out->users[0])};
    if (out->users == NULL)
        return problem_set(problem, STATUS_OUT_OF_MEMORY, "No memory for the users.");
    enum status status = read_users(&reader, out);
    if (status != STATUS_OK) {
        free(out->users);
        *out = (struct user_list){0};
    }
    return status;
}
