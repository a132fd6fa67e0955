// SPDX-License-Identifier: Apache-2.0
// Framing, Host, Origin and token rules over a real socket: that what libmicrohttpd lets
// through is refused, and what a refusal does to the connection. All cases of the rules:
// test_guard.c.
#include "tests/unit/server/http_fixture.h"

#include "server/users.h"

#define HOST "Host: localhost\r\n"

static int setup(void **state)
{
    server_start();
    return 0;
}

static int teardown(void **state)
{
    server_stop();
    return 0;
}

// The request is refused, the connection closed, and nothing behind it is taken for a
// request.
static void refuses_and_closes(const char *text, int status)
{
    struct client client;
    struct reply reply;
    int before = atomic_load(&begun);
    client_open(&client, http_address(server));
    client_send(&client, text);
    client_send(&client, "GET /begin HTTP/1.1\r\n" HOST "\r\n");
    assert_true(client_reply(&client, &reply, true));
    assert_int_equal(reply.status, status);
    assert_string_equal(reply_header(&reply, "Connection"), "close");
    assert_string_equal(reply_header(&reply, "X-Content-Type-Options"), "nosniff");
    reply_free(&reply);
    assert_true(client_is_closed(&client));
    client_close(&client);
    assert_int_equal(begun, before);
}

static void framing_is_refused(void **state)
{
    static const char *const texts[] = {
        "PUT /echo HTTP/1.1\r\n" HOST
        "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n"
        "0\r\n\r\n",
        "PUT /echo HTTP/1.1\r\n" HOST
        "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n"
        "0\r\n\r\n",
        "PUT /echo HTTP/1.1\r\n" HOST
        "Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
        "PUT /echo HTTP/1.1\r\n" HOST
        "Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello",
        "PUT /echo HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n"
        "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "PUT /echo HTTP/1.1\r\n" HOST "Transfer-Encoding: gzip\r\n\r\n0\r\n\r\n",
        "PUT /echo HTTP/1.1\r\n" HOST
        "Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
        "PUT /echo HTTP/1.1\r\n" HOST "Content-Length : 5\r\n\r\nhello",
        "PUT /echo HTTP/1.1\r\n" HOST "Content-Length\t: 5\r\n\r\nhello",
        "GET /echo HTTP/1.1\r\n X-Test: one\r\n" HOST "\r\n",
        "GET /echo HTTP/1.1\r\n" HOST "X-Test: one\r\n two\r\n\r\n",
        "PUT /echo HTTP/1.1\r\n" HOST "Transfer-:chunked\r\n Encoding\r\n\r\n0\r\n\r\n",
        "GET /echo HTTP/1.1\r\n\r\n",
        "GET /echo HTTP/1.1\r\n" HOST "Host: 127.0.0.1\r\n\r\n",
        "GET echo HTTP/1.1\r\n" HOST "\r\n",
        "GET /echo x HTTP/1.1\r\n" HOST "\r\n",
        "GET /echo?a b HTTP/1.1\r\n" HOST "\r\n",
        "PUT /echo HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        refuses_and_closes(texts[i], 400);
}

// What libmicrohttpd refuses by itself, with its own page.
static void malformed_requests_are_refused(void **state)
{
    static const struct {
        const char *text;
        int status;
    } table[] = {
        {"PUT /echo HTTP/1.1\r\n" HOST "Content-Length: 5, 5\r\n\r\nhello", 400},
        {"PUT /echo HTTP/1.1\r\n" HOST "Content-Length: +5\r\n\r\nhello", 400},
        {"PUT /echo HTTP/1.1\r\n" HOST "Content-Length: -5\r\n\r\nhello", 400},
        {"PUT /echo HTTP/1.1\r\n" HOST "Content-Length: 99999999999999999999\r\n\r\n",
         413},
        {"PUT /echo HTTP/1.1\r\n" HOST "no colon\r\n\r\n", 400},
        {"PUT /echo HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\nzz\r\n", 400},
        {"PUT /echo HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n2\r\nabc\r\n",
         400},
        {"GET /echo HTTP/2.0\r\n" HOST "\r\n", 505},
        {"GET /echo\r\n\r\n", 400},
    };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        expect(table[i].text, table[i].status, NULL);
    struct client client;
    client_open(&client, http_address(server));
    client_send(&client, "GET\r\n\r\n"); // no target: closed without a word
    assert_true(client_is_closed(&client));
    client_close(&client);
}

static void long_lines_are_refused(void **state)
{
    char *text = malloc(200000);
    char long_part[100001];
    memset(long_part, 'a', 100000);
    long_part[100000] = '\0';
    snprintf(text, 200000, "GET /%s HTTP/1.1\r\n" HOST "\r\n", long_part);
    expect(text, 414, NULL);
    snprintf(text, 200000, "GET / HTTP/1.1\r\n" HOST "X: %s\r\n\r\n", long_part);
    expect(text, 431, NULL);
    free(text);
}

// A refusal that leaves the framing intact keeps the connection and swallows the body.
static void foreign_hosts_and_origins_are_refused(void **state)
{
    static const struct {
        const char *header;
        int status;
    } table[] = {
        {"Host: evil.example\r\n", 421},
        {HOST "Origin: http://evil.example\r\n", 403},
        {HOST "Origin: null\r\n", 403},
        {HOST "Sec-Fetch-Site: cross-site\r\n", 403},
    };
    struct client client;
    struct reply reply;
    char text[512];
    client_open(&client, http_address(server));
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        snprintf(text, sizeof text,
                 "POST /echo HTTP/1.1\r\n%sContent-Type: text/plain\r\n"
                 "Content-Length: 5\r\n\r\nhello",
                 table[i].header);
        client_send(&client, text);
        assert_true(client_reply(&client, &reply, true));
        assert_int_equal(reply.status, table[i].status);
        reply_free(&reply);
    }
    assert_int_equal(begun, 0);
    client_send(&client, "POST /echo HTTP/1.1\r\n" HOST "Content-Length: 2\r\n\r\nok");
    assert_true(client_reply(&client, &reply, true));
    assert_string_equal(reply.body, "ok");
    reply_free(&reply);
    client_close(&client);
}

static void listed_origins_get_cors(void **state)
{
    static const char *const origins[] = {"https://notes.example", NULL};
    struct client client;
    struct reply reply;
    server_stop();
    fixture_options.origins = origins;
    struct problem users_problem;
    assert_int_equal(users_create(NULL, "s3cret", &fixture_options.users, &users_problem),
                     STATUS_OK);
    server_start();
    client_open(&client, http_address(server));
    client_send(&client,
                "OPTIONS /v1 HTTP/1.1\r\n" HOST "Origin: https://notes.example\r\n"
                "Access-Control-Request-Method: PUT\r\n"
                "Access-Control-Request-Private-Network: true\r\n\r\n");
    assert_true(client_reply(&client, &reply, true));
    assert_int_equal(reply.status, 204);
    assert_string_equal(reply_header(&reply, "Access-Control-Allow-Origin"),
                        "https://notes.example");
    assert_non_null(
        strstr(reply_header(&reply, "Access-Control-Allow-Methods"), "PATCH"));
    assert_non_null(
        strstr(reply_header(&reply, "Access-Control-Allow-Headers"), "Authorization"));
    assert_string_equal(reply_header(&reply, "Access-Control-Allow-Private-Network"),
                        "true");
    reply_free(&reply);
    // Without the token, but readable by the page.
    client_send(&client,
                "GET /v1 HTTP/1.1\r\n" HOST "Origin: https://notes.example\r\n\r\n");
    assert_true(client_reply(&client, &reply, true));
    assert_int_equal(reply.status, 401);
    assert_string_equal(reply_header(&reply, "WWW-Authenticate"), "Bearer");
    assert_string_equal(reply_header(&reply, "Access-Control-Allow-Origin"),
                        "https://notes.example");
    assert_string_equal(reply_header(&reply, "Vary"), "Origin");
    reply_free(&reply);
    client_send(&client,
                "GET /begin HTTP/1.1\r\n" HOST "Authorization: Bearer s3cret\r\n\r\n");
    assert_true(client_reply(&client, &reply, true));
    assert_int_equal(reply.status, 200);
    assert_null(reply_header(&reply, "Access-Control-Allow-Origin"));
    reply_free(&reply);
    client_close(&client);
    fixture_options.origins = NULL;
    server_stop();
    users_free(fixture_options.users);
    fixture_options.users = NULL;
    server_start();
}

static void http_1_0_is_served(void **state)
{
    struct client client;
    struct reply reply;
    client_open(&client, http_address(server));
    client_send(&client, "GET /begin HTTP/1.0\r\n\r\n");
    assert_true(client_reply(&client, &reply, true));
    assert_string_equal(reply.body, "begin");
    reply_free(&reply);
    assert_true(client_is_closed(&client));
    client_close(&client);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(framing_is_refused),      TEST(malformed_requests_are_refused),
        TEST(long_lines_are_refused),  TEST(foreign_hosts_and_origins_are_refused),
        TEST(listed_origins_get_cors), TEST(http_1_0_is_served),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
