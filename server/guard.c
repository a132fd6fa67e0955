// SPDX-License-Identifier: Apache-2.0
// See guard.h. The order of the checks: framing, Host, Origin and Sec-Fetch-Site,
// preflight, token. A preflight carries no token, so it is answered before that.
#include "server/guard.h"

#include <string.h>
#include <strings.h>

// ---- Collecting

static bool is_name(const char *name, size_t length, const char *wanted)
{
    return strncasecmp(name, wanted, length) == 0;
}

static void note_first(const char **slot, int *count, const char *value)
{
    if ((*count)++ == 0)
        *slot = value;
}

static void note_single(const char **slot, const char *value)
{
    if (*slot == NULL)
        *slot = value;
}

void guard_note(struct guard_facts *facts, const char *name, size_t length,
                const char *value, size_t value_length)
{
    facts->bad_name |= length == 0;
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)name[i] <= ' ' || name[i] == 0x7F)
            facts->bad_name = true;
    if (memchr(value, '\r', value_length) != NULL)
        facts->bad_value = true;
    switch (length) { // the lengths tell most names apart
    case 4:
        if (is_name(name, length, "Host"))
            note_first(&facts->host, &facts->n_host, value);
        break;
    case 6:
        if (is_name(name, length, "Origin"))
            note_first(&facts->origin, &facts->n_origin, value);
        else if (is_name(name, length, "Expect"))
            facts->expects_continue |= strcasecmp(value, "100-continue") == 0;
        break;
    case 13:
        if (is_name(name, length, "Authorization"))
            note_single(&facts->authorization, value);
        break;
    case 14:
        if (is_name(name, length, "Content-Length"))
            note_first(&facts->content_length, &facts->n_content_length, value);
        else if (is_name(name, length, "Sec-Fetch-Site"))
            note_single(&facts->fetch_site, value);
        else if (is_name(name, length, "Sec-Fetch-Mode"))
            note_single(&facts->fetch_mode, value);
        break;
    case 17:
        if (is_name(name, length, "Transfer-Encoding"))
            note_first(&facts->transfer_encoding, &facts->n_transfer_encoding, value);
        break;
    case 29:
        if (is_name(name, length, "Access-Control-Request-Method"))
            note_single(&facts->preflight_method, value);
        break;
    case 38:
        if (is_name(name, length, "Access-Control-Request-Private-Network"))
            facts->preflight_private = strcasecmp(value, "true") == 0;
        break;
    default:
        break;
    }
}

bool guard_split_absolute(char *target, char **authority, char **rest)
{
    char *start;
    if (strncasecmp(target, "http://", 7) == 0)
        start = target + 7;
    else if (strncasecmp(target, "https://", 8) == 0)
        start = target + 8;
    else
        return false;
    size_t length = strcspn(start, "/?");
    if (length == 0)
        return false;
    // The authority moves over the scheme, to have room for its end.
    memmove(target, start, length);
    target[length] = '\0';
    *authority = target;
    *rest = start + length;
    return true;
}

int64_t guard_body_length(const struct guard_facts *facts)
{
    if (facts->n_transfer_encoding > 0)
        return -1;
    if (facts->content_length == NULL)
        return 0;
    int64_t length = 0; // libmicrohttpd has checked the digits
    for (const char *c = facts->content_length; *c >= '0' && *c <= '9'; c++)
        if (__builtin_mul_overflow(length, 10, &length) ||
            __builtin_add_overflow(length, *c - '0', &length))
            return INT64_MAX;
    return length;
}

// ---- Framing

static const char *framing_fault(const struct guard_facts *facts)
{
    if (facts->bad_name)
        return "A header's name is empty or contains a blank.";
    if (facts->bad_value)
        return "A header's value contains a carriage return.";
    if (facts->folded)
        return "A header goes on in the next line.";
    if (facts->n_content_length > 0 && facts->n_transfer_encoding > 0)
        return "Content-Length and Transfer-Encoding exclude each other.";
    if (facts->n_content_length > 1)
        return "There are two Content-Length headers.";
    if (facts->n_transfer_encoding > 1)
        return "There are two Transfer-Encoding headers.";
    if (facts->transfer_encoding != NULL &&
        strcasecmp(facts->transfer_encoding, "chunked") != 0)
        return "The only Transfer-Encoding read here is chunked.";
    if (facts->transfer_encoding != NULL && !facts->http_1_1)
        return "HTTP/1.0 has no Transfer-Encoding.";
    if (facts->n_host > 1)
        return "There are two Host headers.";
    if (facts->n_host == 0 && facts->http_1_1)
        return "There is no Host header.";
    return NULL;
}

static bool has_blank(const char *text)
{
    for (; *text != '\0'; text++)
        if ((unsigned char)*text <= ' ' || *text == 0x7F)
            return true;
    return false;
}

static const char *target_fault(const struct guard_facts *facts)
{
    const char *target = facts->target;
    if (strcmp(target, "*") == 0 && strcmp(facts->method, "OPTIONS") == 0)
        return NULL;
    if (target[0] != '/')
        return "The request's target does not start with '/'.";
    if (has_blank(target) || has_blank(facts->query))
        return "The request's target contains a blank or a control character.";
    return NULL;
}

// ---- Host

// The length of the name in "name:port", "[v6]:port", "name"; 0 if it is none of these.
static size_t host_name_length(const char *host)
{
    size_t length = host[0] == '[' ? strcspn(host, "]") + 1 : strcspn(host, ":");
    if (host[0] == '[' && length > strlen(host))
        return 0;
    const char *port = host + length;
    if (*port == ':')
        port += 1 + strspn(port + 1, "0123456789");
    return *port == '\0' ? length : 0;
}

static bool same_text(const char *text, size_t length, const char *other)
{
    return strlen(other) == length && strncasecmp(text, other, length) == 0;
}

static bool host_is_ours(const struct guard_rules *rules, const char *host)
{
    static const char *const loopback[] = {"localhost", "127.0.0.1", "[::1]"};
    size_t length = host_name_length(host);
    if (length == 0)
        return false;
    for (size_t i = 0; i < sizeof loopback / sizeof loopback[0]; i++)
        if (same_text(host, length, loopback[i]))
            return true;
    for (const char *const *name = rules->hosts; name != NULL && *name != NULL; name++)
        if (same_text(host, length, *name) || strcasecmp(host, *name) == 0)
            return true;
    return false;
}

// ---- Origin

// An origin is ours if its authority is the one the request was sent to. (A proxy in
// front may speak https.)
static bool origin_is_ours(const char *origin, const char *host)
{
    size_t scheme = strncasecmp(origin, "http://", 7) == 0    ? 7
                    : strncasecmp(origin, "https://", 8) == 0 ? 8
                                                              : 0;
    return scheme != 0 && host != NULL && strcasecmp(origin + scheme, host) == 0;
}

static bool origin_is_listed(const struct guard_rules *rules, const char *origin)
{
    for (const char *const *o = rules->origins; o != NULL && *o != NULL; o++)
        if (strcasecmp(*o, origin) == 0)
            return true;
    return false;
}

static const char *browser_fault(const struct guard_rules *rules,
                                 const struct guard_facts *facts, const char *host,
                                 const char **allow_origin)
{
    if (facts->n_origin > 1)
        return "There are two Origin headers.";
    if (facts->origin != NULL) {
        if (origin_is_listed(rules, facts->origin))
            *allow_origin = facts->origin;
        else if (!origin_is_ours(facts->origin, host))
            return "The request comes from a page of another origin; start the server "
                   "with "
                   "--origin to allow it.";
        return NULL;
    }
    const char *site = facts->fetch_site;
    if (site == NULL ||
        (strcasecmp(site, "cross-site") != 0 && strcasecmp(site, "same-site") != 0))
        return NULL;
    bool navigation = facts->fetch_mode != NULL &&
                      strcasecmp(facts->fetch_mode, "navigate") == 0 &&
                      strcmp(facts->method, "GET") == 0;
    return navigation ? NULL : "The request comes from a page of another site.";
}

// ---- Token

static bool path_is_open(const char *path)
{
    static const char *const open[] = {"/", "/healthz", "/readyz", "/openapi.json"};
    for (size_t i = 0; i < sizeof open / sizeof open[0]; i++)
        if (strcmp(path, open[i]) == 0)
            return true;
    static const char problems[] = "/problems/";
    if (strncmp(path, problems, sizeof problems - 1) != 0)
        return false;
    const char *kind = path + sizeof problems - 1;
    return kind[strspn(kind, "abcdefghijklmnopqrstuvwxyz-")] == '\0';
}

static int user_of(const struct guard_rules *rules, const struct guard_facts *facts)
{
    const char *value = facts->authorization;
    if (value == NULL || strncasecmp(value, "Bearer ", 7) != 0)
        return -1;
    value += 7;
    value += strspn(value, " ");
    return users_authenticate(rules->users, value);
}

// ---- All of it

static enum guard_verdict refuse(struct problem *problem, enum status status,
                                 const char *detail)
{
    problem_set(problem, status, "%s", detail);
    return GUARD_REFUSE;
}

enum guard_verdict guard_check(const struct guard_rules *rules,
                               const struct guard_facts *facts, const char **allow_origin,
                               int *user, struct problem *problem)
{
    *allow_origin = NULL;
    *user = -1;
    const char *fault = framing_fault(facts);
    if (fault == NULL)
        fault = target_fault(facts);
    if (fault != NULL) {
        refuse(problem, STATUS_MALFORMED, fault);
        return GUARD_CLOSE;
    }
    // An absolute target names the host itself (RFC 9112, 3.2.2).
    const char *host = facts->authority != NULL ? facts->authority : facts->host;
    if (rules->check_host && host != NULL && !host_is_ours(rules, host))
        return refuse(
            problem, STATUS_MISDIRECTED,
            "The Host header names neither localhost nor a --host of this server.");
    fault = browser_fault(rules, facts, host, allow_origin);
    if (fault != NULL)
        return refuse(problem, STATUS_FORBIDDEN, fault);
    if (*allow_origin != NULL && facts->preflight_method != NULL &&
        strcmp(facts->method, "OPTIONS") == 0)
        return GUARD_PREFLIGHT;
    if (rules->users == NULL || path_is_open(facts->target))
        return GUARD_PASS;
    *user = user_of(rules, facts);
    if (*user < 0)
        return refuse(problem, STATUS_UNAUTHORIZED,
                      facts->authorization == NULL
                          ? "Send your token: curl -H \"Authorization: Bearer $TOKEN\"."
                          : "The token is nobody's here.");
    return GUARD_PASS;
}
