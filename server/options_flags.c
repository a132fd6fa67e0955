// SPDX-License-Identifier: Apache-2.0
// The table of flags: a row gives a flag's name, whether it takes a value, what parses
// it, and its line of help; the environment's name is derived from it.
#include "server/options_internal.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- Values

bool options_parse_size(const char *text, int64_t *out)
{
    char *end;
    if (!isdigit((unsigned char)text[0]))
        return false;
    double number = strtod(text, &end);
    static const char units[] = "KMGT";
    double factor = 1;
    const char *unit = *end == '\0' ? NULL : strchr(units, toupper((unsigned char)*end));
    if (unit != NULL) {
        factor = ldexp(1, 10 * (int)(unit - units + 1));
        end++;
        if (*end == 'i' && end[1] == 'B')
            end++;
    }
    if (*end == 'B')
        end++;
    if (*end != '\0' || strpbrk(text, "xXpPeE") != NULL || number * factor >= 0x1p63)
        return false;
    *out = (int64_t)(number * factor);
    return true;
}

static enum status parse_size(const char *value, int64_t least, int64_t *out,
                              struct problem *problem)
{
    if (!options_parse_size(value, out))
        return problem_set(problem, STATUS_VALUE,
                           "'%s' is no size: 4GiB, 512MiB, 1000000.", value);
    if (*out < least)
        return problem_set(problem, STATUS_VALUE, "'%s' is too small.", value);
    return STATUS_OK;
}

static enum status parse_count(const char *value, int least, int most, int *out,
                               struct problem *problem)
{
    char *end;
    errno = 0;
    long number = strtol(value, &end, 10);
    if (!isdigit((unsigned char)value[0]) || *end != '\0' || errno != 0 ||
        number < least || number > most)
        return problem_set(problem, STATUS_VALUE, "'%s' is no number from %d to %d.",
                           value, least, most);
    *out = (int)number;
    return STATUS_OK;
}

static enum status append(const char **list, const char *value, struct problem *problem)
{
    size_t n = 0;
    while (list[n] != NULL)
        n++;
    if (n == OPTIONS_MAX_LIST)
        return problem_set(problem, STATUS_VALUE, "More than %d values.",
                           OPTIONS_MAX_LIST);
    list[n] = value;
    return STATUS_OK;
}

// ---- A parser per flag

static enum status set_listen(struct options *o, const char *value, struct problem *p)
{
    o->listen = value;
    return STATUS_OK;
}

// "all", or "cpu" and "cuda:N" joined by commas.
static enum status set_devices(struct options *o, const char *value, struct problem *p)
{
    o->n_cuda = 0;
    o->all_devices = strcmp(value, "all") == 0;
    bool host = o->all_devices;
    for (const char *at = value; !o->all_devices; at++) {
        size_t length = strcspn(at, ",");
        if (length == 3 && memcmp(at, "cpu", 3) == 0) {
            host = true;
        } else if (length >= 6 && length <= 7 && memcmp(at, "cuda:", 5) == 0 &&
                   strspn(at + 5, "0123456789") == length - 5 &&
                   o->n_cuda < OPTIONS_MAX_CUDA) {
            o->cuda[o->n_cuda++] = (int)strtol(at + 5, NULL, 10);
        } else {
            return problem_set(p, STATUS_VALUE,
                               "'%s' names no devices: all, cpu, or cpu,cuda:0.", value);
        }
        at += length;
        if (*at == '\0')
            break;
    }
    return host ? STATUS_OK
                : problem_set(p, STATUS_VALUE, "cpu is always there: --devices cpu,%s.",
                              value);
}

static enum status set_memory(struct options *o, const char *value, struct problem *p)
{
    return parse_size(value, 1 << 20, &o->memory, p);
}

static enum status set_device_memory(struct options *o, const char *value,
                                     struct problem *p)
{
    return parse_size(value, 1 << 20, &o->device_memory, p);
}

static enum status set_max_body(struct options *o, const char *value, struct problem *p)
{
    return parse_size(value, 1, &o->max_body, p);
}

static enum status set_max_steps(struct options *o, const char *value, struct problem *p)
{
    return parse_size(value, 1, &o->max_steps, p);
}

static enum status set_max_source(struct options *o, const char *value, struct problem *p)
{
    return parse_size(value, 1, &o->max_source, p);
}

static enum status set_max_nesting(struct options *o, const char *value,
                                   struct problem *p)
{
    return parse_count(value, 1, 200, &o->max_nesting, p);
}

static enum status set_threads(struct options *o, const char *value, struct problem *p)
{
    return parse_count(value, 1, 1024, &o->threads, p);
}

static enum status set_idle(struct options *o, const char *value, struct problem *p)
{
    return parse_count(value, 1, 86400, &o->idle_seconds, p);
}

static enum status set_drain(struct options *o, const char *value, struct problem *p)
{
    return parse_count(value, 0, 86400, &o->drain_seconds, p);
}

static enum status set_users(struct options *o, const char *value, struct problem *p)
{
    o->users_file = value;
    return STATUS_OK;
}

static enum status set_token_file(struct options *o, const char *value, struct problem *p)
{
    o->token_file = value;
    return STATUS_OK;
}

static enum status set_behind_proxy(struct options *o, const char *value,
                                    struct problem *p)
{
    o->behind_proxy = true;
    return STATUS_OK;
}

static enum status set_insecure(struct options *o, const char *value, struct problem *p)
{
    o->insecure_public = true;
    return STATUS_OK;
}

enum status option_add_host(struct options *o, const char *value, struct problem *p)
{
    return append(o->hosts, value, p);
}

enum status option_add_origin(struct options *o, const char *value, struct problem *p)
{
    size_t scheme = strncmp(value, "http://", 7) == 0    ? 7
                    : strncmp(value, "https://", 8) == 0 ? 8
                                                         : 0;
    if (scheme == 0 || value[scheme] == '\0' || strpbrk(value + scheme, "/?# ") != NULL)
        return problem_set(p, STATUS_VALUE, "'%s' is no origin: https://host[:port].",
                           value);
    return append(o->origins, value, p);
}

static enum status set_log(struct options *o, const char *value, struct problem *p)
{
    o->log_json = strcmp(value, "json") == 0;
    if (o->log_json || strcmp(value, "text") == 0)
        return STATUS_OK;
    return problem_set(p, STATUS_VALUE, "'%s' is no log format: text or json.", value);
}

static enum status set_version(struct options *o, const char *value, struct problem *p)
{
    o->show_version = true;
    return STATUS_OK;
}

static enum status set_help(struct options *o, const char *value, struct problem *p)
{
    o->show_help = true;
    return STATUS_OK;
}

const struct flag option_flags[] = {
    {"listen", "ADDRESS", "127.0.0.1:8080, [::1]:8080 or unix:PATH; port 0 picks one",
     set_listen},
    {"devices", "LIST", "all (default), cpu, or cpu,cuda:0", set_devices},
    {"memory", "SIZE", "host memory for tensors (default 80 % of what there is)",
     set_memory},
    {"device-memory", "SIZE", "memory on each GPU (default 90 % of what is free)",
     set_device_memory},
    {"max-body", "SIZE", "largest request body (default: --memory)", set_max_body},
    {"max-steps", "N", "instructions of one program (default: 200000000)", set_max_steps},
    {"max-source", "SIZE", "source of one program (default: 1MiB)", set_max_source},
    {"max-nesting", "N", "levels of nesting in a program, 1 to 200 (default: 200)",
     set_max_nesting},
    {"threads", "N", "compute threads (default: the cores)", set_threads},
    {"idle-seconds", "N", "idle connections close after this (default 60)", set_idle},
    {"users", "FILE", "users, their tokens and quotas (JSON); SIGHUP reads it again",
     set_users},
    {"token-file", "FILE", "requests must carry the bearer token in FILE",
     set_token_file},
    {"behind-proxy", NULL, "a proxy in front speaks TLS", set_behind_proxy},
    {"insecure-public", NULL, "allow plain HTTP beyond this machine", set_insecure},
    {"host", "NAME", "a further name in the Host header (repeatable)", option_add_host},
    {"origin", "URL", "web pages of this origin may call (repeatable)",
     option_add_origin},
    {"drain-seconds", "N", "longest wait for running work at the end (default 30)",
     set_drain},
    {"log", "FORMAT", "text (default) or json", set_log},
    {"version", NULL, "print the version", set_version},
    {"help", NULL, "print this", set_help},
};
const int n_option_flags = sizeof option_flags / sizeof option_flags[0];

void options_print_help(FILE *file)
{
    fputs("usage: tensord [flags]\n"
          "       tensord token NAME    a new token and its line for --users\n"
          "Tensor math over plain HTTP. Sizes: 4GiB, 512MiB. Every flag is also read "
          "from the\n"
          "environment, --idle-seconds as TENSORD_IDLE_SECONDS.\n\n",
          file);
    for (int i = 0; i < n_option_flags; i++) {
        char left[40];
        snprintf(left, sizeof left, "--%s %s", option_flags[i].name,
                 option_flags[i].argument == NULL ? "" : option_flags[i].argument);
        fprintf(file, "  %-24s %s\n", left, option_flags[i].help);
    }
}
