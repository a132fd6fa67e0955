// SPDX-License-Identifier: Apache-2.0
// The users that are known, and their file (users.h). Parsing: users_file.c.
#include "server/users.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>

#include "server/log.h"

enum { FILE_MAX = 4 << 20 };

struct known {
    struct user_settings settings;
    bool present; // in the file
};

struct users {
    pthread_mutex_t mutex; // guards count and known
    const char *path;      // NULL: a token
    atomic_uint generation;
    int count;
    struct known known[USERS_MAX];
};

bool users_name_is_good(const char *name, size_t length)
{
    if (length == 0 || length > USER_NAME_MAX || name[0] < 'a' || name[0] > 'z')
        return false;
    for (size_t i = 1; i < length; i++)
        if (!((name[i] >= 'a' && name[i] <= 'z') || (name[i] >= '0' && name[i] <= '9') ||
              name[i] == '_' || name[i] == '-'))
            return false;
    return true;
}

// ---- Reading

static enum status file_problem(const char *path, const char *what,
                                struct problem *problem)
{
    return problem_set(problem, STATUS_VALUE, "--users %s: %s", path, what);
}

// *text is the caller's.
static enum status read_all(const char *path, char **text, size_t *length,
                            struct problem *problem)
{
    FILE *file = fopen(path, "re");
    struct stat facts;
    if (file == NULL)
        return file_problem(path, strerror(errno), problem);
    if (fstat(fileno(file), &facts) == 0 && (facts.st_mode & S_IROTH) != 0)
        log_event(LOG_WARNING, "users file", "%s can be read by everybody: chmod o-r",
                  path);
    *text = malloc(FILE_MAX);
    *length = *text == NULL ? 0 : fread(*text, 1, FILE_MAX, file);
    bool failed = *text == NULL || ferror(file) != 0 || *length == FILE_MAX;
    fclose(file);
    if (!failed)
        return STATUS_OK;
    free(*text);
    return file_problem(path, "it cannot be read, or has 4 MiB or more", problem);
}

static enum status read_list(const char *path, struct user_list *out,
                             struct problem *problem)
{
    char *text = NULL;
    size_t length = 0;
    enum status status = read_all(path, &text, &length, problem);
    if (status != STATUS_OK)
        return status;
    status = users_parse(text, length, out, problem);
    free(text);
    if (status == STATUS_OK)
        return status;
    char detail[PROBLEM_DETAIL_MAX];
    memcpy(detail, problem->detail, sizeof detail);
    return file_problem(path, detail, problem);
}

static int find(const struct users *users, const char *name)
{
    int i = 0;
    while (i < users->count && strcmp(users->known[i].settings.name, name) != 0)
        i++;
    return i;
}

// All of the list or nothing.
static enum status replace(struct users *users, const struct user_list *list,
                           struct problem *problem)
{
    pthread_mutex_lock(&users->mutex);
    int n_new = 0;
    for (int i = 0; i < list->count; i++)
        n_new += find(users, list->users[i].name) == users->count;
    bool room = n_new <= USERS_MAX - users->count;
    for (int i = 0; room && i < users->count; i++)
        users->known[i].present = false;
    for (int i = 0; room && i < list->count; i++) {
        int number = find(users, list->users[i].name);
        users->known[number] = (struct known){list->users[i], true};
        if (number == users->count)
            users->count++;
    }
    if (room)
        atomic_fetch_add(&users->generation, 1);
    pthread_mutex_unlock(&users->mutex);
    return room ? STATUS_OK
                : file_problem(users->path, "more users than one process can know",
                               problem);
}

static enum status load(struct users *users, struct problem *problem)
{
    struct user_list list;
    enum status status = read_list(users->path, &list, problem);
    if (status != STATUS_OK)
        return status;
    status = replace(users, &list, problem);
    free(list.users);
    return status;
}

// ---- Life

static void know_token(struct users *users, const char *token)
{
    struct user_settings *only = &users->known[0].settings;
    *only = (struct user_settings){
        .weight = 1, .memory = INT64_MAX, .device_memory = INT64_MAX, .admin = true};
    sha256(token, strlen(token), only->token);
    users->known[0].present = true;
    users->count = 1;
}

enum status users_create(const char *path, const char *token, struct users **out,
                         struct problem *problem)
{
    struct users *users = calloc(1, sizeof *users);
    if (users == NULL)
        return problem_set(problem, STATUS_OUT_OF_MEMORY, "No memory for the users.");
    pthread_mutex_init(&users->mutex, NULL);
    users->path = path;
    enum status status = STATUS_OK;
    if (path == NULL)
        know_token(users, token);
    else
        status = load(users, problem);
    if (status != STATUS_OK)
        users_free(users);
    else
        *out = users;
    return status;
}

void users_free(struct users *users)
{
    if (users == NULL)
        return;
    pthread_mutex_destroy(&users->mutex);
    free(users);
}

enum status users_reload(struct users *users, struct problem *problem)
{
    if (users->path == NULL)
        return STATUS_OK;
    enum status status = load(users, problem);
    if (status == STATUS_OK)
        log_event(LOG_INFO, "users read", "%s", users->path);
    else
        log_event(LOG_ERROR, "users not read", "%s; the old ones stay", problem->detail);
    return status;
}

// ---- Asking

// Zero if equal; the time depends on nothing.
static unsigned difference(const uint8_t *a, const uint8_t *b)
{
    unsigned bits = 0;
    for (int i = 0; i < SHA256_SIZE; i++)
        bits |= (unsigned)(a[i] ^ b[i]);
    return bits;
}

int users_authenticate(struct users *users, const char *token)
{
    uint8_t digest[SHA256_SIZE];
    size_t length = strnlen(token, USERS_TOKEN_MAX + 1);
    if (length == 0 || length > USERS_TOKEN_MAX)
        return -1;
    sha256(token, length, digest);
    int number = -1;
    pthread_mutex_lock(&users->mutex);
    for (int i = 0; i < users->count; i++) {
        const struct known *known = &users->known[i];
        // All ones if this is the one, without a branch.
        unsigned other = difference(known->settings.token, digest) | !known->present;
        int mask = -(int)(other == 0);
        number = (number & ~mask) | (i & mask);
    }
    pthread_mutex_unlock(&users->mutex);
    return number;
}

bool users_settings(struct users *users, int number, struct user_settings *out)
{
    pthread_mutex_lock(&users->mutex);
    *out = users->known[number].settings;
    bool present = users->known[number].present;
    pthread_mutex_unlock(&users->mutex);
    return present;
}

bool users_are_named(const struct users *users)
{
    return users->path != NULL;
}

int users_count(struct users *users)
{
    pthread_mutex_lock(&users->mutex);
    int count = users->count;
    pthread_mutex_unlock(&users->mutex);
    return count;
}

unsigned users_generation(const struct users *users)
{
    return atomic_load_explicit(&users->generation, memory_order_acquire);
}

// ---- New tokens

static void print_hex(const uint8_t *bytes, char *text)
{
    for (int i = 0; i < SHA256_SIZE; i++)
        snprintf(text + 2 * i, 3, "%02x", bytes[i]);
}

enum status users_new_token(const char *name, char token[USERS_NEW_TOKEN + 1],
                            char digest[2 * SHA256_SIZE + 1], struct problem *problem)
{
    uint8_t bytes[SHA256_SIZE];
    if (!users_name_is_good(name, strlen(name)))
        return problem_set(problem, STATUS_VALUE,
                           "'%.40s' is no name for a user: [a-z][a-z0-9_-]{0,31}.", name);
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
        return problem_set(problem, STATUS_DEVICE_FAULT,
                           "The system gives no random bytes.");
    print_hex(bytes, token);
    sha256(token, USERS_NEW_TOKEN, bytes);
    print_hex(bytes, digest);
    return STATUS_OK;
}
