// SPDX-License-Identifier: Apache-2.0
// The command line, the environment, sizes, exposure rules, and what the machine gives.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "server/limits.h"
#include "server/options.h"

static char *const no_environment[] = {NULL};
static struct options options;
static struct problem problem;

// Parses arguments (NULL-terminated, without the program) and an environment.
static enum status parse(char *const *environment, const char *const *arguments)
{
    char *argv[32] = {"tensord"};
    int argc = 1;
    for (; *arguments != NULL; arguments++)
        argv[argc++] = (char *)*arguments;
    options_free(&options);
    memset(&options, 0, sizeof options);
    problem_clear(&problem);
    return options_parse(argc, argv, environment, &options, &problem);
}
#define ARGUMENTS(...) ((const char *const[]){__VA_ARGS__, NULL})
#define ACCEPTS(...)                                                                     \
    assert_int_equal(parse(no_environment, ARGUMENTS(__VA_ARGS__)), STATUS_OK)
#define REFUSES(text, ...)                                                               \
    do {                                                                                 \
        assert_int_equal(parse(no_environment, ARGUMENTS(__VA_ARGS__)), STATUS_VALUE);   \
        if (strstr(problem.detail, text) == NULL)                                        \
            print_error("%s\n", problem.detail);                                         \
        assert_non_null(strstr(problem.detail, text));                                   \
    } while (0)

static void defaults(void **state)
{
    const char *const none[] = {NULL};
    assert_int_equal(parse(no_environment, none), STATUS_OK);
    assert_string_equal(options.listen, "127.0.0.1:8080");
    assert_true(options.all_devices);
    assert_int_equal(options.idle_seconds, 60);
    assert_int_equal(options.drain_seconds, 30);
    assert_int_equal(options.threads, limits_cores(""));
    assert_true(options.memory == limits_memory_limit("") / 5 * 4);
    assert_true(options.max_body == options.memory);
    assert_true(options.device_memory == 0);
    assert_false(options.log_json || options.behind_proxy || options.insecure_public);
    assert_string_equal(options.token, "");
    assert_null(options.hosts[0]);
    assert_null(options.origins[0]);
}

static void flags_are_read(void **state)
{
    ACCEPTS("--listen", "[::1]:0", "--memory=2GiB", "--device-memory", "512M",
            "--max-body", "1000", "--threads", "3", "--idle-seconds=5", "--drain-seconds",
            "0", "--log", "json", "--host", "gpu.lan", "--host=b", "--origin",
            "https://a.example", "--behind-proxy", "--insecure-public");
    assert_string_equal(options.listen, "[::1]:0");
    assert_true(options.memory == 2147483648);
    assert_true(options.device_memory == 536870912);
    assert_true(options.max_body == 1000);
    assert_int_equal(options.threads, 3);
    assert_int_equal(options.idle_seconds, 5);
    assert_int_equal(options.drain_seconds, 0);
    assert_true(options.log_json && options.behind_proxy && options.insecure_public);
    assert_string_equal(options.hosts[0], "gpu.lan");
    assert_string_equal(options.hosts[1], "b");
    assert_null(options.hosts[2]);
    assert_string_equal(options.origins[0], "https://a.example");
    ACCEPTS("--help");
    assert_true(options.show_help);
    ACCEPTS("--version");
    assert_true(options.show_version);
}

static void usage_errors(void **state)
{
    REFUSES("unknown option '--tls-cert'", "--tls-cert", "f");
    REFUSES("unknown option 'x'", "x");
    REFUSES("unknown option '-h'", "-h");
    REFUSES("unknown option '--listenx'", "--listenx", "f");
    REFUSES("--listen needs a value", "--listen");
    REFUSES("--behind-proxy takes no value", "--behind-proxy=1");
    REFUSES("--memory: 'much'", "--memory", "much");
    REFUSES("--memory: '1K' is too small", "--memory", "1K");
    REFUSES("--threads", "--threads", "0");
    REFUSES("--threads", "--threads", "99999999999999999999");
    REFUSES("--threads", "--threads", "2x");
    REFUSES("--threads", "--threads", "");
    REFUSES("--log", "--log", "xml");
    REFUSES("--origin", "--origin", "evil.example");
    REFUSES("--origin", "--origin", "https://a.example/path");
    REFUSES("--listen", "--listen", "8080");
    REFUSES("--listen", "--listen", "127.0.0.1");
    REFUSES("--listen", "--listen", "::1:80");
    REFUSES("--listen", "--listen", "127.0.0.1:65536");
    REFUSES("--listen", "--listen", "127.0.0.1:http");
    REFUSES("--listen", "--listen", "unix:");
}

static void devices(void **state)
{
    ACCEPTS("--devices", "all");
    assert_true(options.all_devices);
    ACCEPTS("--devices", "cpu");
    assert_false(options.all_devices);
    assert_int_equal(options.n_cuda, 0);
    ACCEPTS("--devices", "cpu,cuda:0,cuda:12");
    assert_int_equal(options.n_cuda, 2);
    assert_int_equal(options.cuda[0], 0);
    assert_int_equal(options.cuda[1], 12);
    REFUSES("cpu is always there", "--devices", "cuda:0");
    REFUSES("names no devices", "--devices", "");
    REFUSES("names no devices", "--devices", "cpu,");
    REFUSES("names no devices", "--devices", "cpu,cuda:");
    REFUSES("names no devices", "--devices", "cpu,cuda:x");
    REFUSES("names no devices", "--devices", "cpu,cuda:123");
    REFUSES("names no devices", "--devices", "gpu");
    REFUSES("names no devices", "--devices", "all,cpu");
}

static void sizes(void **state)
{
    static const struct {
        const char *text;
        int64_t bytes; // -1: none
    } table[] = {
        {"0", 0},
        {"1", 1},
        {"1B", 1},
        {"1K", 1024},
        {"1KB", 1024},
        {"1KiB", 1024},
        {"3m", 3145728},
        {"4GiB", 4294967296},
        {"1.5G", 1610612736},
        {"2TiB", 2199023255552},
        {"8191P", -1},
        {"9999999999T", -1},
        {"-1", -1},
        {"", -1},
        {"K", -1},
        {"1KK", -1},
        {"1Ki", -1},
        {"1iB", -1},
        {" 1", -1},
        {"1 ", -1},
        {"0x10", -1},
        {"1e3", -1},
        {"inf", -1},
        {"nan", -1},
        {"9223372036854775808", -1},
    };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        int64_t bytes = -1;
        bool good = options_parse_size(table[i].text, &bytes);
        if (good != (table[i].bytes >= 0))
            print_error("'%s'\n", table[i].text);
        assert_int_equal(good, table[i].bytes >= 0);
        if (good)
            assert_true(bytes == table[i].bytes);
    }
}

static void the_environment_is_read(void **state)
{
    char *const environment[] = {"PATH=/bin",
                                 "TENSORD_LISTEN=127.0.0.1:99",
                                 "TENSORD_IDLE_SECONDS=7",
                                 "TENSORD_MAX_BODY=1KiB",
                                 "TENSORD_BEHIND_PROXY=1",
                                 "TENSORD_INSECURE_PUBLIC=0",
                                 "TENSORD_HOST=a,b",
                                 "TENSORD_ORIGIN=http://x,https://y:1",
                                 "TENSORD_VERSION=3",
                                 "TENSORD_UNKNOWN=1",
                                 NULL};
    assert_int_equal(parse(environment, ARGUMENTS("--idle-seconds", "8", "--host", "c")),
                     STATUS_OK);
    assert_string_equal(options.listen, "127.0.0.1:99");
    assert_int_equal(options.idle_seconds, 8); // the command line wins
    assert_true(options.max_body == 1024);
    assert_true(options.behind_proxy);
    assert_false(options.insecure_public || options.show_version);
    assert_string_equal(options.hosts[0], "c");
    assert_null(options.hosts[1]);
    assert_string_equal(options.origins[0], "http://x");
    assert_string_equal(options.origins[1], "https://y:1");
    char *const bad[] = {"TENSORD_THREADS=many", NULL};
    const char *const none[] = {NULL};
    assert_int_equal(parse(bad, none), STATUS_VALUE);
    assert_non_null(strstr(problem.detail, "TENSORD_THREADS"));
    char *const neither[] = {"TENSORD_BEHIND_PROXY=maybe", NULL};
    assert_int_equal(parse(neither, none), STATUS_VALUE);
}

// ---- Exposure

static char folder[64];

static const char *write_file(const char *name, const char *text)
{
    static char path[512];
    snprintf(path, sizeof path, "%s%s", folder, name);
    for (char *slash = path + strlen(folder) + 1; (slash = strchr(slash, '/')) != NULL;
         slash++) {
        *slash = '\0';
        mkdir(path, 0700);
        *slash = '/';
    }
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    return path;
}

static void a_public_bind_needs_a_token_and_more(void **state)
{
    const char *token = write_file("/token", "s3cret\n");
    REFUSES("--token-file is needed", "--listen", "0.0.0.0:80");
    REFUSES("--token-file is needed", "--listen", "0.0.0.0:80", "--insecure-public");
    REFUSES("--token-file is needed", "--listen", "[::]:80", "--behind-proxy");
    REFUSES("--behind-proxy or --insecure-public", "--listen", "0.0.0.0:80",
            "--token-file", token);
    ACCEPTS("--listen", "0.0.0.0:80", "--token-file", token, "--insecure-public");
    assert_string_equal(options.token, "s3cret");
    ACCEPTS("--listen", "192.168.1.1:80", "--token-file", token, "--behind-proxy");
    ACCEPTS("--listen", "localhost:80");
    ACCEPTS("--listen", "127.1.2.3:80");
    ACCEPTS("--listen", "unix:/run/x.sock");
    ACCEPTS("--token-file", token);
}

static void users_are_named(void **state)
{
    ACCEPTS("--users", "/nowhere/users.json");
    assert_string_equal(options.users_file, "/nowhere/users.json");
    ACCEPTS("--listen", "0.0.0.0:80", "--users", "u", "--behind-proxy");
    REFUSES("--behind-proxy or --insecure-public", "--listen", "0.0.0.0:80", "--users",
            "u");
    REFUSES("exclude each other", "--users", "u", "--token-file",
            write_file("/token", "s3cret\n"));
}

static void token_files_are_checked(void **state)
{
    REFUSES("No such file", "--token-file", "/nowhere/token");
    REFUSES("a token", "--token-file", write_file("/empty", ""));
    REFUSES("a token", "--token-file", write_file("/blank", "\n"));
    REFUSES("a token", "--token-file", write_file("/two", "a b\n"));
    REFUSES("a token", "--token-file", write_file("/lines", "a\nb\n"));
    char longest[2000];
    memset(longest, 'x', sizeof longest);
    longest[1999] = '\0';
    REFUSES("a token", "--token-file", write_file("/long", longest));
}

// ---- The machine, as its files tell

static void memory_is_the_least_limit(void **state)
{
    int64_t machine = limits_memory_limit("/nowhere");
    assert_true(machine > 1 << 20);
    write_file("/v2/proc/self/cgroup", "1:name=systemd:/x\n0::/a/b\n");
    write_file("/v2/sys/fs/cgroup/a/b/memory.max", "max\n");
    write_file("/v2/sys/fs/cgroup/a/memory.max", "33554432\n");
    write_file("/v2/sys/fs/cgroup/memory.max", "99999999999999\n");
    write_file("/v2/sys/fs/cgroup/a/b/cpu.max", "150000 100000\n");
    write_file("/v2/sys/fs/cgroup/a/cpu.max", "max 100000\n");
    char root[128];
    snprintf(root, sizeof root, "%s/v2", folder);
    assert_true(limits_memory_limit(root) == 33554432);
    int cores = limits_cores("/nowhere");
    assert_int_equal(limits_cores(root), cores < 2 ? cores : 2); // 1.5 rounded up
    write_file("/v1/sys/fs/cgroup/memory/memory.limit_in_bytes", "16777216\n");
    snprintf(root, sizeof root, "%s/v1", folder);
    assert_true(limits_memory_limit(root) == 16777216);
    assert_true(limits_raise_files() >= 256);
}

static int make_folder(void **state)
{
    snprintf(folder, sizeof folder, "/tmp/tensord-options-XXXXXX");
    return mkdtemp(folder) == NULL;
}

static int remove_folder(void **state)
{
    options_free(&options);
    char path[128];
    static const char *const files[] = {"/token",
                                        "/empty",
                                        "/blank",
                                        "/two",
                                        "/lines",
                                        "/long",
                                        "/v2/proc/self/cgroup",
                                        "/v2/proc/self",
                                        "/v2/proc",
                                        "/v2/sys/fs/cgroup/a/b/memory.max",
                                        "/v2/sys/fs/cgroup/a/b/cpu.max",
                                        "/v2/sys/fs/cgroup/a/b",
                                        "/v2/sys/fs/cgroup/a/memory.max",
                                        "/v2/sys/fs/cgroup/a/cpu.max",
                                        "/v2/sys/fs/cgroup/a",
                                        "/v2/sys/fs/cgroup/memory.max",
                                        "/v2/sys/fs/cgroup",
                                        "/v2/sys/fs",
                                        "/v2/sys",
                                        "/v2",
                                        "/v1/sys/fs/cgroup/memory/memory.limit_in_bytes",
                                        "/v1/sys/fs/cgroup/memory",
                                        "/v1/sys/fs/cgroup",
                                        "/v1/sys/fs",
                                        "/v1/sys",
                                        "/v1",
                                        ""};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        snprintf(path, sizeof path, "%s%s", folder, files[i]);
        remove(path);
    }
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults),
        cmocka_unit_test(flags_are_read),
        cmocka_unit_test(usage_errors),
        cmocka_unit_test(devices),
        cmocka_unit_test(sizes),
        cmocka_unit_test(the_environment_is_read),
        cmocka_unit_test(a_public_bind_needs_a_token_and_more),
        cmocka_unit_test(users_are_named),
        cmocka_unit_test(token_files_are_checked),
        cmocka_unit_test(memory_is_the_least_limit),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
