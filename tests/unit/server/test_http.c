// SPDX-License-Identifier: Apache-2.0
// The HTTP layer over a real socket: a request's life, suspended requests, bodies,
// streams, refusals, clients that go away. Framing and browser rules: test_http_guard.c.
#include "tests/unit/server/http_fixture.h"

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

#define HOST "Host: localhost\r\n"

static void gives_path_and_query_as_sent(void **state)
{
    expect("GET /facts/a%2Fb%20c?x=%41+b&y HTTP/1.1\r\n" HOST "X-Test: 1 2\r\n\r\n", 200,
           "GET|/facts/a%2Fb%20c|x=%41+b&y|1 2|0");
    expect("GET /facts?a=1&b=2?c HTTP/1.1\r\n" HOST "\r\n", 200,
           "GET|/facts|a=1&b=2?c|none|0");
    expect("GET /facts/%zz/../x HTTP/1.1\r\n" HOST "\r\n", 200,
           "GET|/facts/%zz/../x||none|0");
    expect("GET http://localhost/facts?q HTTP/1.1\r\n" HOST "\r\n", 200,
           "GET|/facts|q|none|0");
    expect("GET http://127.0.0.1:1234?q HTTP/1.1\r\n" HOST "\r\n", 200, "");
    char text[6000];
    size_t n = (size_t)snprintf(text, sizeof text, "GET /facts?");
    for (int i = 0; i < 500; i++) // many parameters, longer than the inline buffer
        n += (size_t)snprintf(text + n, sizeof text - n, "&a%d", i);
    snprintf(text + n, sizeof text - n, " HTTP/1.1\r\n" HOST "\r\n");
    expect(text, 200, NULL);
}

static void has_the_fixed_headers(void **state)
{
    struct client client;
    struct reply reply;
    client_open(&client, http_address(server));
    client_send(&client, "GET /facts HTTP/1.1\r\n" HOST "\r\n");
    assert_true(client_reply(&client, &reply, true));
    assert_string_equal(reply_header(&reply, "X-Content-Type-Options"), "nosniff");
    assert_string_equal(reply_header(&reply, "Cross-Origin-Resource-Policy"),
                        "same-origin");
    assert_null(reply_header(&reply, "Access-Control-Allow-Origin"));
    assert_null(reply_header(&reply, "Connection"));
    reply_free(&reply);
    client_close(&client);
}

// One connection, several requests sent at once; answers come in order.
static void answers_pipelined_requests(void **state)
{
    struct client client;
    struct reply reply;
    client_open(&client, http_address(server));
    client_send(&client, "POST /echo HTTP/1.1\r\n" HOST "Content-Length: 3\r\n\r\none"
                         "GET /worker HTTP/1.1\r\n" HOST "\r\n"
                         "GET /begin HTTP/1.1\r\n" HOST "\r\n"
                         "GET /worker-begin HTTP/1.1\r\n" HOST "\r\n"
                         "POST /echo HTTP/1.1\r\n" HOST "Content-Length: 3\r\n\r\ntwo");
    const char *bodies[] = {"one", "worked", "begin", "worked", "two"};
    for (int i = 0; i < 5; i++) {
        assert_true(client_reply(&client, &reply, true));
        assert_int_equal(reply.status, 200);
        assert_string_equal(reply.body, bodies[i]);
        reply_free(&reply);
    }
    assert_int_equal(opened_connections, 1);
    client_close(&client);
}

static void reads_bodies_in_any_split(void **state)
{
    const char *text =
        "PUT /echo HTTP/1.1\r\n" HOST "Content-Length: 10\r\n\r\n0123456789";
    struct client client;
    struct reply reply;
    client_open(&client, http_address(server));
    for (size_t i = 0; i < strlen(text); i++)
        client_send_bytes(&client, text + i, 1);
    assert_true(client_reply(&client, &reply, true));
    assert_string_equal(reply.body, "0123456789");
    reply_free(&reply);
    client_send(&client,
                "PUT /facts HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n"
                "4\r\nabcd\r\n3;x=y\r\nefg\r\n0\r\n\r\n");
    assert_true(client_reply(&client, &reply, true));
    assert_string_equal(reply.body, "PUT|/facts||none|-1");
    reply_free(&reply);
    client_send(&client,
                "PUT /echo HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n"
                "4\r\nabcd\r\n3\r\nefg\r\n0\r\n\r\n");
    assert_true(client_reply(&client, &reply, true));
    assert_string_equal(reply.body, "abcdefg");
    reply_free(&reply);
    client_close(&client);
}

static void answers_head_without_a_body(void **state)
{
    struct client client;
    struct reply reply;
    client_open(&client, http_address(server));
    client_send(&client, "HEAD /borrow HTTP/1.1\r\n" HOST "\r\n");
    assert_true(client_reply(&client, &reply, false));
    assert_int_equal(strtol(reply_header(&reply, "Content-Length"), NULL, 10), BIG + 5);
    reply_free(&reply);
    client_send(&client, "HEAD /stream HTTP/1.1\r\n" HOST "\r\n");
    assert_true(client_reply(&client, &reply, false));
    assert_int_equal(strtol(reply_header(&reply, "Content-Length"), NULL, 10), BIG);
    reply_free(&reply);
    client_send(&client, "GET /begin HTTP/1.1\r\n" HOST "\r\n");
    assert_true(client_reply(&client, &reply, true));
    assert_string_equal(reply.body, "begin");
    reply_free(&reply);
    client_close(&client);
    wait_for(&released, 2);
}

static void a_suspended_request_may_be_answered_at_once(void **state)
{
    struct client client;
    struct reply reply;
    client_open(&client, http_address(server));
    for (int i = 0; i < 20; i++) {
        client_send(&client, "POST /self HTTP/1.1\r\n" HOST "Content-Length: 1\r\n\r\nx");
        assert_true(client_reply(&client, &reply, true));
        assert_int_equal(reply.status, 503);
        assert_string_equal(reply.body, "self");
        reply_free(&reply);
    }
    assert_int_equal(opened_connections, 1);
    client_close(&client);
}

// ---- Expect: 100-continue

static void expect_text(struct client *client, const char *body, bool more)
{
    struct reply reply;
    assert_true(client_reply(client, &reply, true));
    assert_int_equal(reply.status, 200);
    assert_string_equal(reply.body, body);
    assert_int_equal(strtoul(reply_header(&reply, "Content-Length"), NULL, 10),
                     strlen(body));
    assert_string_equal(reply_header(&reply, "Content-Type"), "text/plain");
    assert_string_equal(reply_header(&reply, "Cache-Control"), "no-store");
    assert_int_equal(reply_header(&reply, "X-More") != NULL, more);
    reply_free(&reply);
}

static void send_text(struct client *client, const char *path, const char *body)
{
    char text[6000];
    snprintf(text, sizeof text,
             "POST %s HTTP/1.1\r\n" HOST "Content-Length: %zu\r\n\r\n%s", path,
             strlen(body), body);
    client_send(client, text);
}

// Of one form on many connections at once, of more forms than are kept, too long to be
// kept, and with a header of its own.
static void small_answers_serve_again(void **state)
{
    enum { CLIENTS = 24 };
    struct client clients[CLIENTS];
    char body[5000];
    for (int i = 0; i < CLIENTS; i++)
        client_open(&clients[i], http_address(server));
    for (int round = 0; round < 6; round++) {
        for (int i = 0; i < CLIENTS; i++) {
            snprintf(body, sizeof body, "%d-%d", round, 10 + i);
            send_text(&clients[i], i % 5 == round ? "/text-more" : "/text", body);
        }
        for (int i = 0; i < CLIENTS; i++) {
            snprintf(body, sizeof body, "%d-%d", round, 10 + i);
            expect_text(&clients[i], body, i % 5 == round);
        }
    }
    memset(body, 'b', sizeof body);
    for (size_t i = 0; i < 80; i++) {
        size_t length = i == 40 ? sizeof body - 1 : 1 + i * 7 % 40;
        body[length] = '\0';
        send_text(&clients[0], "/text", body);
        expect_text(&clients[0], body, false);
        body[length] = 'b';
    }
    for (int i = 0; i < CLIENTS; i++)
        client_close(&clients[i]);
}

static void expect_is_answered(void **state)
{
    struct client client;
    struct reply reply;
    client_open(&client, http_address(server));
    client_send(&client, "PUT /echo HTTP/1.1\r\n" HOST "Content-Length: 4\r\n"
                         "Expect: 100-continue\r\n\r\n");
    assert_true(client_reply(&client, &reply, false));
    assert_int_equal(reply.status, 100);
    reply_free(&reply);
    client_send(&client, "body");
    assert_true(client_reply(&client, &reply, true));
    assert_int_equal(reply.status, 200);
    assert_string_equal(reply.body, "body");
    reply_free(&reply);
    // A refusal comes instead of the 100.
    client_send(&client,
                "PUT /refuse HTTP/1.1\r\n" HOST "Content-Length: 400000000000\r\n"
                "Expect: 100-continue\r\n\r\n");
    assert_true(client_reply(&client, &reply, true));
    assert_int_equal(reply.status, 413);
    assert_string_equal(reply_header(&reply, "Connection"), "close");
    reply_free(&reply);
    assert_true(client_is_closed(&client));
    client_close(&client);
}

// ---- Refusals with a body under way

static void a_refused_body_is_swallowed(void **state)
{
    struct client client;
    struct reply reply;
    char *body = calloc(1, 1 << 20);
    client_open(&client, http_address(server));
    for (int i = 0; i < 2; i++) {
        const char *path = i == 0 ? "/refuse" : "/discard";
        char head[256];
        snprintf(head, sizeof head,
                 "PUT %s HTTP/1.1\r\n" HOST "Content-Length: 1048576\r\n\r\n", path);
        client_send(&client, head);
        client_send_bytes(&client, body, 1 << 20);
        assert_true(client_reply(&client, &reply, true));
        assert_int_equal(reply.status, i == 0 ? 413 : 422);
        assert_null(reply_header(&reply, "Connection"));
        reply_free(&reply);
    }
    client_send(&client,
                "PUT /discard HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n"
                "4\r\nabcd\r\n4\r\nabcd\r\n0\r\n\r\n");
    assert_true(client_reply(&client, &reply, true));
    assert_int_equal(reply.status, 422);
    reply_free(&reply);
    client_close(&client);
    free(body);
}

// Too long to swallow: the answer comes, the connection closes.
static void a_refused_long_body_is_cut_off(void **state)
{
    struct client client;
    struct reply reply;
    char *body = calloc(1, 1 << 18);
    client_open(&client, http_address(server));
    client_send(&client,
                "PUT /refuse HTTP/1.1\r\n" HOST "Content-Length: 99999999999\r\n\r\n");
    client_send_bytes(&client, body, 1 << 18);
    assert_true(client_reply(&client, &reply, true));
    assert_int_equal(reply.status, 413);
    reply_free(&reply);
    assert_true(client_is_closed(&client));
    client_close(&client);
    free(body);
}

// ---- Large answers

static void check_big(const struct reply *reply, size_t skip)
{
    assert_int_equal(reply->length, BIG + skip);
    size_t wrong = 0;
    for (size_t i = 0; i < BIG; i++)
        wrong += reply->body[skip + i] != expected_byte(i);
    assert_int_equal(wrong, 0);
}

static void sends_borrowed_memory_and_streams(void **state)
{
    struct client client;
    struct reply reply;
    client_open(&client, http_address(server));
    client_send(&client, "GET /borrow HTTP/1.1\r\n" HOST "\r\n");
    assert_true(client_reply(&client, &reply, true));
    check_big(&reply, 5);
    assert_memory_equal(reply.body, "head:", 5);
    reply_free(&reply);
    client_send(&client, "GET /stream HTTP/1.1\r\n" HOST "\r\n");
    assert_true(client_reply(&client, &reply, true));
    check_big(&reply, 0);
    reply_free(&reply);
    client_send(&client, "GET /chunked HTTP/1.1\r\n" HOST "\r\n");
    assert_true(client_reply(&client, &reply, true));
    assert_string_equal(reply_header(&reply, "Transfer-Encoding"), "chunked");
    check_big(&reply, 0);
    reply_free(&reply);
    client_close(&client);
    wait_for(&released, 3);
}

static void a_failing_stream_closes(void **state)
{
    struct client client;
    struct reply reply;
    client_open(&client, http_address(server));
    client_send(&client, "GET /failing HTTP/1.1\r\n" HOST "\r\n");
    assert_false(client_reply(&client, &reply, true));
    client_close(&client);
    client_open(&client, http_address(server));
    client_send(&client, "GET /null HTTP/1.1\r\n" HOST "\r\n");
    assert_true(client_is_closed(&client));
    client_close(&client);
}

// ---- Clients that go away

static void a_vanished_client_is_noticed(void **state)
{
    struct client clients[5];
    for (int i = 0; i < 5; i++) {
        client_open(&clients[i], http_address(server));
        client_send(&clients[i], "GET /worker HTTP/1.1\r\n" HOST "\r\n");
        struct reply reply;
        assert_true(client_reply(&clients[i], &reply, true));
        reply_free(&reply);
        client_send(&clients[i],
                    "POST /hang HTTP/1.1\r\n" HOST "Content-Length: 1\r\n\r\nx");
    }
    wait_for(&suspended_now, 5);
    assert_int_equal(vanished, 0);
    for (int i = 0; i < 5; i++) {
        if (i == 0)
            shutdown(clients[i].socket, SHUT_WR); // a half-close counts
        else
            client_close(&clients[i]);
        wait_for(&vanished, i + 1);
        wait_for(&closed, 5 + i + 1);
    }
    client_close(&clients[0]);
}

static void wait_for_quiet(int connections)
{
    wait_for(&opened_connections, connections);
    for (int i = 0; i < 20000 && http_connections(server) > 0; i++)
        usleep(1000);
    assert_int_equal(http_connections(server), 0);
}

// Gone before the request is suspended, and in the middle of an answer.
static void clients_vanish_at_any_moment(void **state)
{
    struct client client;
    for (int i = 0; i < 30; i++) {
        const char *texts[] = {
            "POST /hang HTTP/1.1\r\n" HOST "\r\n",
            "POST /worker HTTP/1.1\r\n" HOST "\r\n",
            "GET /stream HTTP/1.1\r\n" HOST "\r\n",
            "GET /borrow HTTP/1.1\r\n" HOST "\r\n",
            "PUT /echo HTTP/1.1\r\n" HOST "Content-Length: 100\r\n\r\nhalf",
            "GET /worker-begin HTTP/1.1\r\n" HOST "\r\n",
        };
        client_open(&client, http_address(server));
        client_send(&client, texts[i % 6]);
        client_close(&client);
    }
    wait_for_quiet(30);
    assert_int_equal(begun, closed);
    assert_int_equal(http_pending(server), 0);
}

// Many connections, each with suspended requests, answered and dropped at once.
static void *storm(void *argument)
{
    for (int i = 0; i < 60; i++) {
        struct client client;
        struct reply reply;
        client_open(&client, http_address(server));
        for (int j = 0; j < 3; j++) {
            client_send(&client, "POST /worker HTTP/1.1\r\n" HOST "\r\n");
            if ((i + j) % 4 == 0)
                break; // gone while it is worked at
            assert_true(client_reply(&client, &reply, true));
            assert_string_equal(reply.body, "worked");
            reply_free(&reply);
        }
        client_close(&client);
    }
    return NULL;
}
static void many_connections_come_and_go(void **state)
{
    pthread_t threads[6];
    for (int i = 0; i < 6; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, storm, NULL), 0);
    for (int i = 0; i < 6; i++)
        pthread_join(threads[i], NULL);
    wait_for_quiet(6 * 60);
    assert_true(begun >= 6 * 60);
}

// ---- Timeouts and other servers

static void slow_senders_are_closed(void **state)
{
    struct client slow, idle;
    server_stop();
    fixture_options.idle_seconds = 1;
    server_start();
    client_open(&slow, http_address(server));
    client_send(&slow, "PUT /echo HTTP/1.1\r\n" HOST "Content-Length: 100\r\n\r\nab");
    client_open(&idle, http_address(server));
    assert_true(client_is_closed(&slow));
    assert_true(client_is_closed(&idle));
    client_close(&slow);
    client_close(&idle);
    fixture_options.idle_seconds = 60;
}

static void serves_a_unix_socket(void **state)
{
    server_stop();
    char listen[64];
    snprintf(listen, sizeof listen, "unix:/tmp/tensord-test-%d.sock", (int)getpid());
    fixture_options.listen = listen;
    // A socket file left behind by a dead server is replaced.
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s", listen + 5);
    int stale = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_int_equal(bind(stale, (struct sockaddr *)&address, sizeof address), 0);
    close(stale);
    server_start();
    assert_string_equal(http_address(server), listen);
    expect("GET /facts HTTP/1.1\r\nHost: whatever\r\n\r\n", 200, NULL);
    // One that serves is not.
    struct http_server *second;
    struct problem problem;
    assert_int_equal(http_start(&fixture_options, &fixture_handler, &second, &problem),
                     STATUS_CONFLICT);
    server_stop();
    assert_int_not_equal(access(listen + 5, F_OK), 0);
    fixture_options.listen = "127.0.0.1:0";
    server_start();
}

static void refuses_a_taken_port(void **state)
{
    struct http_options options = fixture_options;
    struct http_server *second;
    struct problem problem;
    options.listen = http_address(server) + strlen("http://");
    assert_int_equal(http_start(&options, &fixture_handler, &second, &problem),
                     STATUS_CONFLICT);
    options.listen = "nonsense";
    assert_int_equal(http_start(&options, &fixture_handler, &second, &problem),
                     STATUS_VALUE);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(gives_path_and_query_as_sent),
        TEST(has_the_fixed_headers),
        TEST(answers_pipelined_requests),
        TEST(reads_bodies_in_any_split),
        TEST(answers_head_without_a_body),
        TEST(a_suspended_request_may_be_answered_at_once),
        TEST(small_answers_serve_again),
        TEST(expect_is_answered),
        TEST(a_refused_body_is_swallowed),
        TEST(a_refused_long_body_is_cut_off),
        TEST(sends_borrowed_memory_and_streams),
        TEST(a_failing_stream_closes),
        TEST(a_vanished_client_is_noticed),
        TEST(clients_vanish_at_any_moment),
        TEST(many_connections_come_and_go),
        TEST(slow_senders_are_closed),
        TEST(serves_a_unix_socket),
        TEST(refuses_a_taken_port),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
