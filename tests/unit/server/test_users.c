// SPDX-License-Identifier: Apache-2.0
// SHA-256 against NIST's examples, the users file, authentication and reloading. The
// digests of tokens are coreutils' (sha256sum).
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "server/log.h"
#include "server/users.h"

static struct problem problem;

// ---- SHA-256

static void assert_digest(const void *bytes, size_t count, const char *hex)
{
    uint8_t digest[SHA256_SIZE];
    char text[2 * SHA256_SIZE + 1];
    sha256(bytes, count, digest);
    for (int i = 0; i < SHA256_SIZE; i++)
        snprintf(text + 2 * i, 3, "%02x", digest[i]);
    assert_string_equal(text, hex);
}

// FIPS 180-4's examples and NIST's byte vectors (SHA256ShortMsg.rsp).
static void nist_vectors(void **state)
{
    assert_digest("abc", 3,
                  "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    assert_digest("", 0,
                  "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    assert_digest("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 56,
                  "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    assert_digest("abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmno"
                  "ijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu",
                  112,
                  "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1");
    assert_digest("\xd3", 1,
                  "28969cdfa74a12c82f3bad960b0b000aca2ac329deea5c2328ebc6f2ba9802c1");
    char *million = malloc(1000000);
    assert_non_null(million);
    memset(million, 'a', 1000000);
    assert_digest(million, 1000000,
                  "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    free(million);
}

// Lengths around the padding's edges, against sha256sum of that many 'a'.
static void padding(void **state)
{
    char bytes[64];
    memset(bytes, 'a', sizeof bytes);
    assert_digest(bytes, 55,
                  "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318");
    assert_digest(bytes, 56,
                  "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a");
    assert_digest(bytes, 63,
                  "7d3e74a05d7db15bce4ad9ec0658ea98e3f06eeecf16b4c6fff2da457ddc2f34");
    assert_digest(bytes, 64,
                  "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb");
}

// ---- The file

// sha256sum of "one" and "two".
#define ONE "7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed"
#define TWO "3fc4ccfe745870e2c0d99f71f30ff0656c8dedd41cc1d7d3d376b0dbe685e2f3"
#define USER(name, digest) "{\"name\": \"" name "\", \"token_sha256\": \"" digest "\"}"

static struct user_list parsed(const char *text)
{
    struct user_list list;
    enum status status = users_parse(text, strlen(text), &list, &problem);
    if (status != STATUS_OK)
        print_error("%s\n%s\n", text, problem.detail);
    assert_int_equal(status, STATUS_OK);
    return list;
}

static void defaults(void **state)
{
    struct user_list list = parsed("{\"users\": [" USER("ann", ONE) "]}");
    assert_int_equal(list.count, 1);
    const struct user_settings *ann = list.users;
    assert_string_equal(ann->name, "ann");
    assert_true(ann->weight == 1 && ann->rate == 0 && !ann->admin);
    assert_true(ann->memory == INT64_MAX && ann->device_memory == INT64_MAX);
    assert_int_equal(ann->max_queued, 64);
    assert_int_equal(ann->max_running, 4);
    assert_int_equal(ann->token[0], 0x76);
    assert_int_equal(ann->token[31], 0xed);
    free(list.users);
    list = parsed("{\"users\":[]}");
    assert_int_equal(list.count, 0);
    free(list.users);
}

static void all_members(void **state)
{
    struct user_list list = parsed(" {\"users\" : [\n" USER(
        "a", TWO) ",\r\n{ \"admin\":true,\"rate\":0.5,"
                  "\"max_running\":2, \"max_queued\": 7,\"device_memory\": 1000,"
                  "\"memory\":\"4GiB\",\"weight\":2.5e0,\"token_sha256\":\"" ONE "\","
                  "\"name\":\"b_2-x\"}\t] }\n");
    assert_int_equal(list.count, 2);
    const struct user_settings *b = &list.users[1];
    assert_string_equal(b->name, "b_2-x");
    assert_true(b->admin && b->rate == 0.5 && b->weight == 2.5);
    assert_int_equal(b->max_running, 2);
    assert_int_equal(b->max_queued, 7);
    assert_true(b->device_memory == 1000 && b->memory == INT64_C(4) << 30);
    free(list.users);
}

static void refused(const char *text, size_t length, const char *why)
{
    struct user_list list;
    enum status status = users_parse(text, length, &list, &problem);
    if (status == STATUS_OK || strstr(problem.detail, why) == NULL)
        print_error("%s\n%s\n", text, status == STATUS_OK ? "accepted" : problem.detail);
    assert_int_equal(status, STATUS_VALUE);
    assert_non_null(strstr(problem.detail, why));
}

#define WITH(more)                                                                       \
    "{\"users\": [{\"name\": \"ann\", \"token_sha256\": \"" ONE "\", " more "}]}"

static void bad_files(void **state)
{
    static const char *const table[][2] = {
        {"", "is to hold"},
        {"[]", "is to hold"},
        {"{}", "string"},
        {"{\"people\": []}", "is to hold"},
        {"{\"users\": [] , \"x\": 1}", "brace"},
        {"{\"users\": []} x", "follows"},
        {"{\"users\": [" USER("ann", ONE) ",]}", "object"},
        {"{\"users\": [" USER("ann", ONE) "]", "brace"},
        {"{\"users\": [" USER("ann", ONE), "bracket"},
        {"{\"users\": [{}]}", "string"},
        {"{\"users\": [{\"name\": \"ann\"}]}", "needed"},
        {"{\"users\": [{\"token_sha256\": \"" ONE "\"}]}", "needed"},
        {"{\"users\": [" USER("", ONE) "]}", "name"},
        {"{\"users\": [" USER("Ann", ONE) "]}", "name"},
        {"{\"users\": [" USER("1a", ONE) "]}", "name"},
        {"{\"users\": [" USER("a.b", ONE) "]}", "name"},
        {"{\"users\": [" USER("a23456789012345678901234567890123", ONE) "]}", "name"},
        {"{\"users\": [" USER("ann", "76") "]}", "64 hexadecimal"},
        {"{\"users\": [{\"name\": \"a\\u006e\", \"token_sha256\": \"" ONE "\"}]}",
         "backslashes"},
        {"{\"users\": [" USER("ann", ONE) ", " USER("ann", TWO) "]}", "same name"},
        {"{\"users\": [" USER("ann", ONE) ", " USER("bob", ONE) "]}", "same token"},
        {WITH("\"colour\": 1"), "\"colour\" is no member"},
        {WITH("\"name\": \"ann\""), "twice"},
        {WITH("\"weight\": 0"), "weight"},
        {WITH("\"weight\": -1"), "weight"},
        {WITH("\"weight\": NaN"), "weight"},
        {WITH("\"weight\": 0x1"), "weight"},
        {WITH("\"weight\": 01"), "weight"},
        {WITH("\"weight\": 1."), "weight"},
        {WITH("\"weight\": \"1\""), "weight"},
        {WITH("\"memory\": \"lots\""), "memory"},
        {WITH("\"memory\": -1"), "memory"},
        {WITH("\"memory\": 1.5"), "memory"},
        {WITH("\"memory\": 1e30"), "memory"},
        {WITH("\"memory\": null"), "memory"},
        {WITH("\"max_queued\": 0"), "max_queued"},
        {WITH("\"max_queued\": 1001"), "max_queued"},
        {WITH("\"max_running\": 1.5"), "max_running"},
        {WITH("\"rate\": 0"), "rate"},
        {WITH("\"rate\": 1e7"), "rate"},
        {WITH("\"admin\": 1"), "admin"},
    };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        refused(table[i][0], strlen(table[i][0]), table[i][1]);
    refused("{\"users\": []}\0", 14, "follows");
    refused("{\n\n\"users\": [5]}", 17, "line 3, users[0]");
}

// Every prefix of a good file is refused, and nothing is read beyond it.
static void truncated(void **state)
{
    static const char text[] = WITH("\"weight\": 2, \"admin\": true");
    for (size_t length = 0; length < sizeof text - 1; length++) {
        struct user_list list;
        char *copy = malloc(length + 1); // one byte for length 0
        assert_non_null(copy);
        memcpy(copy, text, length);
        char *exact = realloc(copy, length > 0 ? length : 1);
        assert_non_null(exact);
        assert_int_equal(users_parse(exact, length, &list, &problem), STATUS_VALUE);
        free(exact);
    }
}

// ---- Who it is

static char path[] = "/tmp/tensord-users-XXXXXX";

static void write_users(const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void authentication(void **state)
{
    struct users *users;
    struct user_settings settings;
    write_users("{\"users\": [" USER("ann", ONE) ", " USER("bob", TWO) "]}");
    assert_int_equal(users_create(path, NULL, &users, &problem), STATUS_OK);
    assert_int_equal(users_count(users), 2);
    assert_int_equal(users_authenticate(users, "one"), 0);
    assert_int_equal(users_authenticate(users, "two"), 1);
    assert_int_equal(users_authenticate(users, ""), -1);
    assert_int_equal(users_authenticate(users, "three"), -1);
    assert_int_equal(users_authenticate(users, ONE), -1); // the digest is no token
    char *huge = malloc((1 << 20) + 1);
    assert_non_null(huge);
    memset(huge, 'x', 1 << 20);
    huge[1 << 20] = '\0';
    assert_int_equal(users_authenticate(users, huge), -1);
    free(huge);
    assert_true(users_settings(users, 1, &settings));
    assert_string_equal(settings.name, "bob");
    users_free(users);
}

static void reloading(void **state)
{
    struct users *users;
    struct user_settings settings;
    write_users("{\"users\": [" USER("ann", ONE) "]}");
    assert_int_equal(users_create(path, NULL, &users, &problem), STATUS_OK);
    unsigned generation = users_generation(users);
    // A bad one changes nothing.
    write_users("{\"users\": [" USER("bob", TWO));
    assert_int_equal(users_reload(users, &problem), STATUS_VALUE);
    assert_int_equal(users_generation(users), generation);
    assert_int_equal(users_authenticate(users, "one"), 0);
    // Another user, and the first one is gone, but keeps his number.
    write_users("{\"users\": [" USER("bob", TWO) "]}");
    assert_int_equal(users_reload(users, &problem), STATUS_OK);
    assert_int_not_equal(users_generation(users), generation);
    assert_int_equal(users_authenticate(users, "one"), -1);
    assert_int_equal(users_authenticate(users, "two"), 1);
    assert_false(users_settings(users, 0, &settings));
    // He comes back, with another token.
    write_users("{\"users\": [" USER("ann", TWO) "]}");
    assert_int_equal(users_reload(users, &problem), STATUS_OK);
    assert_int_equal(users_authenticate(users, "two"), 0);
    assert_int_equal(users_count(users), 2);
    unlink(path);
    assert_int_equal(users_reload(users, &problem), STATUS_VALUE);
    assert_non_null(strstr(problem.detail, "No such file"));
    assert_int_equal(users_authenticate(users, "two"), 0);
    users_free(users);
}

static void one_token(void **state)
{
    struct users *users;
    struct user_settings settings;
    assert_int_equal(users_create(NULL, "s3cret", &users, &problem), STATUS_OK);
    assert_int_equal(users_authenticate(users, "s3cret"), 0);
    assert_int_equal(users_authenticate(users, "s3cre"), -1);
    assert_true(users_settings(users, 0, &settings));
    assert_true(settings.admin && settings.name[0] == '\0');
    assert_int_equal(users_reload(users, &problem), STATUS_OK);
    users_free(users);
}

static void new_tokens(void **state)
{
    char token[USERS_NEW_TOKEN + 1], digest[2 * SHA256_SIZE + 1],
        other[USERS_NEW_TOKEN + 1];
    assert_int_equal(users_new_token("ann", token, digest, &problem), STATUS_OK);
    assert_int_equal(strlen(token), USERS_NEW_TOKEN);
    assert_digest(token, strlen(token), digest);
    assert_int_equal(users_new_token("ann", other, digest, &problem), STATUS_OK);
    assert_string_not_equal(token, other);
    assert_int_equal(users_new_token("Ann", token, digest, &problem), STATUS_VALUE);
    assert_int_equal(users_new_token("", token, digest, &problem), STATUS_VALUE);
}

int main(void)
{
    int file = mkstemp(path);
    close(file);
    log_open(STDERR_FILENO, false, LOG_ERROR + 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nist_vectors),   cmocka_unit_test(padding),
        cmocka_unit_test(defaults),       cmocka_unit_test(all_members),
        cmocka_unit_test(bad_files),      cmocka_unit_test(truncated),
        cmocka_unit_test(authentication), cmocka_unit_test(reloading),
        cmocka_unit_test(one_token),      cmocka_unit_test(new_tokens),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(path);
    return failed;
}
