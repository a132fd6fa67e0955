// SPDX-License-Identifier: Apache-2.0
// The rules before routing, as pure functions: framing, Host, Origin, Sec-Fetch-Site,
// preflight, token. The tables are the contract's sentences written out.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "server/guard.h"

static const char *const no_names[] = {NULL};
static const char *const hosts[] = {"gpu.lan", NULL};
static const char *const origins[] = {"https://notes.example", "http://localhost:3000",
                                      NULL};
static const struct guard_rules loopback = {true, no_names, no_names, NULL};
static const struct guard_rules listed = {true, hosts, origins, NULL};
static const struct guard_rules public_bind = {false, no_names, no_names, NULL};
static struct guard_rules with_token = {true, hosts, origins, NULL};

// headers: "Name: value\n" lines.
static struct guard_facts facts_of(const char *method, const char *target, char *headers)
{
    struct guard_facts facts = {
        .method = method, .target = target, .query = "", .http_1_1 = true};
    for (char *line = headers; *line != '\0';) {
        char *colon = strchr(line, ':'), *end = strchr(line, '\n');
        char *value = colon + 1 + strspn(colon + 1, " ");
        *end = '\0';
        guard_note(&facts, line, (size_t)(colon - line), value, strlen(value));
        line = end + 1;
    }
    return facts;
}

struct outcome {
    enum guard_verdict verdict;
    enum status status;
    bool cors;
    int user;
};

static struct outcome ask(const struct guard_rules *rules, const char *method,
                          const char *target, const char *headers)
{
    char copy[1024];
    const char *allow_origin;
    int user;
    struct problem problem;
    problem_clear(&problem);
    snprintf(copy, sizeof copy, "%s", headers);
    struct guard_facts facts = facts_of(method, target, copy);
    struct outcome outcome;
    outcome.verdict = guard_check(rules, &facts, &allow_origin, &user, &problem);
    outcome.status = problem.status;
    outcome.cors = allow_origin != NULL;
    outcome.user = user;
    return outcome;
}

static void assert_outcome(const struct guard_rules *rules, const char *method,
                           const char *target, const char *headers,
                           enum guard_verdict verdict, enum status status)
{
    struct outcome outcome = ask(rules, method, target, headers);
    if (outcome.verdict != verdict || outcome.status != status)
        print_error("%s %s [%s]\n", method, target, headers);
    assert_int_equal(outcome.verdict, verdict);
    assert_int_equal(outcome.status, status);
}

#define PASSES(rules, method, headers)                                                   \
    assert_outcome(rules, method, "/v1", headers, GUARD_PASS, STATUS_OK)
#define REFUSES(rules, method, headers, status)                                          \
    assert_outcome(rules, method, "/v1", headers, GUARD_REFUSE, status)
#define CLOSES(method, target, headers)                                                  \
    assert_outcome(&loopback, method, target, headers, GUARD_CLOSE, STATUS_MALFORMED)

static void framing(void **state)
{
    PASSES(&loopback, "PUT", "Host: localhost\nContent-Length: 3\n");
    PASSES(&loopback, "PUT", "Host: localhost\nTransfer-Encoding: chunked\n");
    PASSES(&loopback, "PUT", "Host: localhost\ntransfer-encoding: Chunked\n");
    CLOSES("PUT", "/v1",
           "Host: localhost\nContent-Length: 3\nTransfer-Encoding: chunked\n");
    CLOSES("PUT", "/v1",
           "Host: localhost\nTransfer-Encoding: chunked\nContent-Length: 3\n");
    CLOSES("PUT", "/v1", "Host: localhost\nContent-Length: 3\nContent-Length: 3\n");
    CLOSES("PUT", "/v1",
           "Host: localhost\nTransfer-Encoding: chunked\nTransfer-Encoding: chunked\n");
    CLOSES("PUT", "/v1", "Host: localhost\nTransfer-Encoding: gzip, chunked\n");
    CLOSES("PUT", "/v1", "Host: localhost\nTransfer-Encoding: identity\n");
    CLOSES("PUT", "/v1", "Host: localhost\nTransfer-Encoding: \n");
    CLOSES("PUT", "/v1", "Host: localhost\nContent-Length : 3\n");
    CLOSES("PUT", "/v1", "Host: localhost\nX\tY: 3\n");
    CLOSES("PUT", "/v1", "Host: localhost\n: 3\n");
    CLOSES("GET", "/v1", "Host: localhost\nX: a\rb\n");
    CLOSES("GET", "/v1", "");
    CLOSES("GET", "/v1", "Host: localhost\nHost: localhost\n");
    CLOSES("GET", "v1", "Host: localhost\n");
    CLOSES("GET", "", "Host: localhost\n");
    CLOSES("GET", "*", "Host: localhost\n");
    CLOSES("CONNECT", "localhost:80", "Host: localhost\n");
    CLOSES("GET", "/v1\x01", "Host: localhost\n");
    CLOSES("GET", "/a b", "Host: localhost\n");
    assert_outcome(&loopback, "OPTIONS", "*", "Host: localhost\n", GUARD_PASS, STATUS_OK);
}

static void http_1_0_needs_no_host(void **state)
{
    char none[1] = "", chunked[] = "Transfer-Encoding: chunked\n";
    const char *allow_origin;
    int user;
    struct problem problem;
    struct guard_facts facts = facts_of("GET", "/v1", none);
    facts.http_1_1 = false;
    assert_int_equal(guard_check(&loopback, &facts, &allow_origin, &user, &problem),
                     GUARD_PASS);
    facts = facts_of("GET", "/v1", chunked);
    facts.http_1_1 = false;
    assert_int_equal(guard_check(&loopback, &facts, &allow_origin, &user, &problem),
                     GUARD_CLOSE);
    char folded[] = "Host: localhost\n";
    facts = facts_of("GET", "/v1", folded);
    facts.folded = true;
    assert_int_equal(guard_check(&loopback, &facts, &allow_origin, &user, &problem),
                     GUARD_CLOSE);
}

static void host_names(void **state)
{
    static const char *const ours[] = {
        "Host: localhost\n", "Host: LocalHost:8080\n", "Host: 127.0.0.1:1\n",
        "Host: [::1]\n",     "Host: [::1]:8080\n",
    };
    static const char *const foreign[] = {
        "Host: evil.example\n",
        "Host: localhost.evil.example\n",
        "Host: 127.0.0.2\n",
        "Host: localhost:80@evil\n",
        "Host: localhost:\x38x\n",
        "Host: \n",
        "Host: [::2]\n",
        "Host: [::1\n",
        "Host: [::1]x\n",
        "Host: evil:localhost\n",
        "Host: 127.0.0.1.nip.io\n",
        "Host: localhos\n",
    };
    for (size_t i = 0; i < sizeof ours / sizeof ours[0]; i++)
        PASSES(&loopback, "GET", ours[i]);
    for (size_t i = 0; i < sizeof foreign / sizeof foreign[0]; i++) {
        REFUSES(&loopback, "GET", foreign[i], STATUS_MISDIRECTED);
        PASSES(&public_bind, "GET", foreign[i]);
    }
    REFUSES(&loopback, "GET", "Host: gpu.lan\n", STATUS_MISDIRECTED);
    PASSES(&listed, "GET", "Host: gpu.lan\n");
    PASSES(&listed, "GET", "Host: GPU.lan:8080\n");
    REFUSES(&listed, "GET", "Host: x.gpu.lan\n", STATUS_MISDIRECTED);
}

// The authority of an absolute target goes before the Host header.
static void absolute_targets(void **state)
{
    char target[] = "http://evil.example/v1?x";
    char *authority, *rest;
    assert_true(guard_split_absolute(target, &authority, &rest));
    assert_string_equal(authority, "evil.example");
    char again[] = "HTTPS://h:1?x";
    assert_true(guard_split_absolute(again, &authority, &rest));
    assert_string_equal(authority, "h:1");
    char plain[] = "/v1/http://x", empty[] = "http:///x", other[] = "ftp://x/";
    assert_false(guard_split_absolute(plain, &authority, &rest));
    assert_false(guard_split_absolute(empty, &authority, &rest));
    assert_false(guard_split_absolute(other, &authority, &rest));

    char headers[] = "Host: localhost\n";
    struct guard_facts facts = facts_of("GET", "/v1", headers);
    const char *allow_origin;
    int user;
    struct problem problem;
    facts.authority = "evil.example";
    assert_int_equal(guard_check(&loopback, &facts, &allow_origin, &user, &problem),
                     GUARD_REFUSE);
    assert_int_equal(problem.status, STATUS_MISDIRECTED);
}

#define HOST "Host: localhost:8080\n"

static void origins_and_fetch_sites(void **state)
{
    // No browser: nothing to check.
    PASSES(&loopback, "POST", HOST);
    PASSES(&loopback, "POST", HOST "Sec-Fetch-Site: none\n");
    PASSES(&loopback, "POST", HOST "Sec-Fetch-Site: same-origin\n");
    // Our own pages.
    PASSES(&loopback, "POST", HOST "Origin: http://localhost:8080\n");
    PASSES(&loopback, "POST",
           HOST "Origin: http://localhost:8080\n"
                "Sec-Fetch-Site: cross-site\n");
    // Foreign ones.
    static const char *const foreign[] = {
        HOST "Origin: http://evil.example\n",
        HOST "Origin: null\n",
        HOST "Origin: \n",
        HOST "Origin: http://localhost\n",
        HOST "Origin: http://localhost:3000\n",
        HOST "Origin: http://localhost:80801\n",
        HOST "Origin: ftp://localhost:8080\n",
        HOST "Origin: localhost:8080\n",
        HOST "Origin: http://localhost:8080\nOrigin: http://localhost:8080\n",
        HOST "Sec-Fetch-Site: cross-site\n",
        HOST "Sec-Fetch-Site: same-site\n",
        HOST "Sec-Fetch-Site: Cross-Site\nSec-Fetch-Mode: no-cors\n",
    };
    for (size_t i = 0; i < sizeof foreign / sizeof foreign[0]; i++) {
        REFUSES(&loopback, "POST", foreign[i], STATUS_FORBIDDEN);
        REFUSES(&loopback, "GET", foreign[i], STATUS_FORBIDDEN);
        assert_false(ask(&loopback, "GET", "/v1", foreign[i]).cors);
    }
    // A link from elsewhere may be followed, a form may not be posted.
    PASSES(&loopback, "GET",
           HOST "Sec-Fetch-Site: cross-site\nSec-Fetch-Mode: navigate\n");
    REFUSES(&loopback, "POST",
            HOST "Sec-Fetch-Site: cross-site\nSec-Fetch-Mode: navigate\n",
            STATUS_FORBIDDEN);
}

static void listed_origins_get_cors(void **state)
{
    struct outcome outcome = ask(&listed, "POST", "/v1",
                                 HOST "Origin: https://notes.example\n"
                                      "Sec-Fetch-Site: cross-site\n");
    assert_int_equal(outcome.verdict, GUARD_PASS);
    assert_true(outcome.cors);
    assert_true(ask(&listed, "GET", "/v1", HOST "Origin: http://localhost:3000\n").cors);
    assert_false(ask(&listed, "GET", "/v1", HOST "Origin: http://localhost:8080\n").cors);
    REFUSES(&listed, "GET", HOST "Origin: https://notes.example.evil\n",
            STATUS_FORBIDDEN);
    outcome = ask(&listed, "OPTIONS", "/v1",
                  HOST "Origin: https://notes.example\nSec-Fetch-Site: cross-site\n"
                       "Access-Control-Request-Method: PUT\n");
    assert_int_equal(outcome.verdict, GUARD_PREFLIGHT);
    assert_true(outcome.cors);
    // Foreign preflights get no permission; a plain OPTIONS is routed.
    REFUSES(&listed, "OPTIONS",
            HOST "Origin: http://evil.example\nAccess-Control-Request-Method: PUT\n",
            STATUS_FORBIDDEN);
    PASSES(&listed, "OPTIONS", HOST);
}

static void tokens(void **state)
{
    struct problem problem;
    assert_int_equal(users_create(NULL, "s3cret-token", &with_token.users, &problem),
                     STATUS_OK);
    assert_int_equal(
        ask(&with_token, "GET", "/v1", HOST "Authorization: Bearer s3cret-token\n").user,
        0);
    assert_int_equal(ask(&with_token, "GET", "/healthz", HOST).user, -1);
    assert_int_equal(ask(&loopback, "GET", "/v1", HOST).user, -1);
    PASSES(&with_token, "GET", HOST "Authorization: Bearer s3cret-token\n");
    PASSES(&with_token, "GET", HOST "authorization: bearer  s3cret-token\n");
    static const char *const wrong[] = {
        HOST,
        HOST "Authorization: Bearer\n",
        HOST "Authorization: Bearer \n",
        HOST "Authorization: Bearer s3cret-toke\n",
        HOST "Authorization: Bearer s3cret-tokens\n",
        HOST "Authorization: Bearer s3cret-tokens3cret-token\n",
        HOST "Authorization: Bearer S3cret-token\n",
        HOST "Authorization: Basic s3cret-token\n",
        HOST "Authorization: s3cret-token\n",
        HOST "Authorization: Bearer wrong\nAuthorization: Bearer s3cret-token\n",
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        REFUSES(&with_token, "GET", wrong[i], STATUS_UNAUTHORIZED);
    static const char *const open[] = {"/", "/healthz", "/readyz", "/openapi.json",
                                       "/problems/not-found"};
    for (size_t i = 0; i < sizeof open / sizeof open[0]; i++)
        assert_outcome(&with_token, "GET", open[i], HOST, GUARD_PASS, STATUS_OK);
    static const char *const closed[] = {
        "/v1/tensors/x", "/problems/../v1", "/problems/%2e", "/healthz/", "//",
        "/metrics"};
    for (size_t i = 0; i < sizeof closed / sizeof closed[0]; i++)
        assert_outcome(&with_token, "GET", closed[i], HOST, GUARD_REFUSE,
                       STATUS_UNAUTHORIZED);
    // Foreign pages learn nothing about the token; preflights carry none.
    REFUSES(&with_token, "GET", HOST "Origin: null\n", STATUS_FORBIDDEN);
    assert_int_equal(ask(&with_token, "OPTIONS", "/v1",
                         HOST "Origin: http://localhost:3000\n"
                              "Access-Control-Request-Method: PUT\n")
                         .verdict,
                     GUARD_PREFLIGHT);
    struct outcome outcome =
        ask(&with_token, "GET", "/v1", HOST "Origin: http://localhost:3000\n");
    assert_int_equal(outcome.status, STATUS_UNAUTHORIZED);
    assert_true(outcome.cors);
    users_free(with_token.users);
}

static void body_lengths(void **state)
{
    struct {
        const char *headers;
        int64_t length;
    } table[] = {
        {"Host: h\n", 0},
        {"Content-Length: 0\n", 0},
        {"Content-Length: 268435584\n", 268435584},
        {"Content-Length: 9223372036854775807\n", INT64_MAX},
        {"Content-Length: 18446744073709551615\n", INT64_MAX},
        {"Transfer-Encoding: chunked\n", -1},
    };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        char copy[128];
        snprintf(copy, sizeof copy, "%s", table[i].headers);
        struct guard_facts facts = facts_of("PUT", "/", copy);
        assert_true(guard_body_length(&facts) == table[i].length);
    }
    char expects[] = "Expect: 100-Continue\n";
    assert_true(facts_of("PUT", "/", expects).expects_continue);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(framing),
        cmocka_unit_test(http_1_0_needs_no_host),
        cmocka_unit_test(host_names),
        cmocka_unit_test(absolute_targets),
        cmocka_unit_test(origins_and_fetch_sites),
        cmocka_unit_test(listed_origins_get_cors),
        cmocka_unit_test(tokens),
        cmocka_unit_test(body_lengths),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
