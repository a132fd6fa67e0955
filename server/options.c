// SPDX-License-Identifier: Apache-2.0
// Reading the command line and the environment, defaults, and the rules that involve more
// than one flag. The flags themselves: options_flags.c.
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "server/listen.h"
#include "server/limits.h"
#include "server/options_internal.h"

enum { MAX_FLAGS = 32 };

// Puts the flag's name before what its parser said.
static enum status name_flag(const char *name, struct problem *problem)
{
    char detail[PROBLEM_DETAIL_MAX];
    memcpy(detail, problem->detail, sizeof detail);
    return problem_set(problem, problem->status, "%s: %s", name, detail);
}

// ---- The command line

// The flag of "--name" or "--name=value" (*value is then that).
static const struct flag *find_flag(const char *text, const char **value)
{
    if (strncmp(text, "--", 2) != 0)
        return NULL;
    size_t length = strcspn(text + 2, "=");
    *value = text[2 + length] == '=' ? text + 3 + length : NULL;
    for (int i = 0; i < n_option_flags; i++)
        if (strlen(option_flags[i].name) == length &&
            memcmp(option_flags[i].name, text + 2, length) == 0)
            return &option_flags[i];
    return NULL;
}

static enum status parse_arguments(int argc, char *const *argv, struct options *options,
                                   bool *given, struct problem *problem)
{
    for (int i = 1; i < argc; i++) {
        const char *value;
        const struct flag *flag = find_flag(argv[i], &value);
        if (flag == NULL)
            return problem_set(problem, STATUS_VALUE, "unknown option '%s'", argv[i]);
        if (flag->argument == NULL && value != NULL)
            return problem_set(problem, STATUS_VALUE, "--%s takes no value", flag->name);
        if (flag->argument != NULL && value == NULL && ++i < argc)
            value = argv[i];
        if (flag->argument != NULL && value == NULL)
            return problem_set(problem, STATUS_VALUE, "--%s needs a value", flag->name);
        char name[32];
        snprintf(name, sizeof name, "--%s", flag->name);
        if (flag->parse(options, value, problem) != STATUS_OK)
            return name_flag(name, problem);
        given[flag - option_flags] = true;
    }
    return STATUS_OK;
}

// ---- The environment

static void environment_name(const struct flag *flag, char *name, size_t size)
{
    snprintf(name, size, "TENSORD_%s", flag->name);
    for (char *c = name; *c != '\0'; c++)
        *c = *c == '-' ? '_' : (char)toupper((unsigned char)*c);
}

static const char *environment_value(char *const *environment, const char *name)
{
    size_t length = strlen(name);
    for (; environment != NULL && *environment != NULL; environment++)
        if (strncmp(*environment, name, length) == 0 && (*environment)[length] == '=')
            return *environment + length + 1;
    return NULL;
}

// A list's values are joined by commas.
static enum status parse_list(struct options *options, const struct flag *flag,
                              const char *value, char **copy, struct problem *problem)
{
    *copy = strdup(value);
    if (*copy == NULL)
        return problem_set(problem, STATUS_OUT_OF_MEMORY, "no memory");
    for (char *at = *copy;;) {
        size_t length = strcspn(at, ",");
        bool last = at[length] == '\0';
        at[length] = '\0';
        enum status status = length == 0 ? STATUS_OK : flag->parse(options, at, problem);
        if (status != STATUS_OK || last)
            return status;
        at += length + 1;
    }
}

static enum status parse_switch(struct options *options, const struct flag *flag,
                                const char *value, struct problem *problem)
{
    if (strcmp(value, "1") == 0 || strcasecmp(value, "true") == 0 ||
        strcasecmp(value, "yes") == 0)
        return flag->parse(options, NULL, problem);
    if (value[0] == '\0' || strcmp(value, "0") == 0 || strcasecmp(value, "false") == 0 ||
        strcasecmp(value, "no") == 0)
        return STATUS_OK;
    return problem_set(problem, STATUS_VALUE, "'%s' is neither 1 nor 0", value);
}

static enum status parse_variable(struct options *options, const struct flag *flag,
                                  const char *value, struct problem *problem)
{
    if (flag->argument == NULL)
        return parse_switch(options, flag, value, problem);
    if (flag->parse == option_add_host)
        return parse_list(options, flag, value, &options->hosts_copy, problem);
    if (flag->parse == option_add_origin)
        return parse_list(options, flag, value, &options->origins_copy, problem);
    return flag->parse(options, value, problem);
}

// What the command line has not given.
static enum status parse_environment(char *const *environment, struct options *options,
                                     const bool *given, struct problem *problem)
{
    for (int i = 0; i < n_option_flags; i++) {
        char name[40];
        const struct flag *flag = &option_flags[i];
        environment_name(flag, name, sizeof name);
        const char *value = environment_value(environment, name);
        if (value == NULL || given[i] || strcmp(flag->name, "help") == 0 ||
            strcmp(flag->name, "version") == 0)
            continue;
        if (parse_variable(options, flag, value, problem) != STATUS_OK)
            return name_flag(name, problem);
    }
    return STATUS_OK;
}

// ---- Rules and defaults

static enum status read_token(struct options *options, struct problem *problem)
{
    char *token = options->token;
    FILE *file = fopen(options->token_file, "re");
    size_t length = 0;
    if (file != NULL) {
        length = fread(token, 1, OPTIONS_TOKEN_SIZE, file);
        fclose(file);
    }
    if (file == NULL)
        return problem_set(problem, STATUS_VALUE, "--token-file %s: %s",
                           options->token_file, strerror(errno));
    while (length > 0 && isspace((unsigned char)token[length - 1]))
        length--;
    bool usable = length > 0 && length < OPTIONS_TOKEN_SIZE;
    for (size_t i = 0; usable && i < length; i++)
        usable = token[i] > ' ' && token[i] < 0x7F;
    if (!usable)
        return problem_set(problem, STATUS_VALUE,
                           "--token-file %s: one line with a token of visible ASCII "
                           "characters, fewer than %d, is needed",
                           options->token_file, OPTIONS_TOKEN_SIZE);
    token[length] = '\0';
    return STATUS_OK;
}

static enum status check_exposure(const struct options *options, struct problem *problem)
{
    struct listen_address address;
    if (listen_parse(options->listen, &address, problem) != STATUS_OK)
        return name_flag("--listen", problem);
    if (address.is_loopback)
        return STATUS_OK;
    if (options->token_file == NULL && options->users_file == NULL)
        return problem_set(
            problem, STATUS_VALUE,
            "--listen %s is reachable from elsewhere: --users or --token-file is needed",
            options->listen);
    if (!options->behind_proxy && !options->insecure_public)
        return problem_set(problem, STATUS_VALUE,
                           "--listen %s is reachable from elsewhere without TLS: say "
                           "--behind-proxy or --insecure-public",
                           options->listen);
    return STATUS_OK;
}

static void set_defaults(struct options *options)
{
    if (options->memory == 0)
        options->memory = limits_memory_limit("") / 5 * 4;
    if (options->max_body == 0)
        options->max_body = options->memory;
    if (options->threads == 0)
        options->threads = limits_cores("");
}

enum status options_parse(int argc, char *const *argv, char *const *environment,
                          struct options *out, struct problem *problem)
{
    bool given[MAX_FLAGS] = {false};
    *out = (struct options){.listen = "127.0.0.1:8080",
                            .all_devices = true,
                            .max_steps = 200 * 1000 * 1000,
                            .max_source = 1 << 20,
                            .max_nesting = 200,
                            .idle_seconds = 60,
                            .drain_seconds = 30};
    enum status status = parse_arguments(argc, argv, out, given, problem);
    if (status != STATUS_OK || out->show_help || out->show_version)
        return status;
    status = parse_environment(environment, out, given, problem);
    if (status == STATUS_OK && out->users_file != NULL && out->token_file != NULL)
        status = problem_set(problem, STATUS_VALUE,
                             "--users and --token-file exclude each other");
    if (status == STATUS_OK)
        status = check_exposure(out, problem);
    if (status == STATUS_OK && out->token_file != NULL)
        status = read_token(out, problem);
    set_defaults(out);
    return status;
}

void options_free(struct options *options)
{
    free(options->hosts_copy);
    free(options->origins_copy);
}
