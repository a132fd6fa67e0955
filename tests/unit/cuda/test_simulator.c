// SPDX-License-Identifier: Apache-2.0
// The simulator itself (tests/cudasim): runs each case of its selftest, and the script
// that runs commands on it.
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/cuda/fixture.h"

// The build folder, from the program's own path.
static void build_folder(char *path, size_t size)
{
    ssize_t length = readlink("/proc/self/exe", path, size - 1);
    assert_true(length > 0);
    path[length] = '\0';
    char *end = strstr(path, "/tests/unit/cuda/");
    assert_non_null(end);
    *end = '\0';
}

// Exit status of a program, or 1000 + signal. Its error output is dropped.
static int run(char *const *arguments, const char *name, const char *value)
{
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        if (name)
            setenv(name, value, 1);
        if (!freopen("/dev/null", "w", stderr))
            _exit(126);
        execv(arguments[0], arguments);
        _exit(127);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFSIGNALED(status) ? 1000 + WTERMSIG(status) : WEXITSTATUS(status);
}

static int selftest(const char *name, const char *variable, const char *value)
{
    char folder[PATH_MAX], path[PATH_MAX + 32], argument[32];
    build_folder(folder, sizeof folder);
    snprintf(path, sizeof path, "%s/cudasim/selftest", folder);
    snprintf(argument, sizeof argument, "%s", name);
    char *arguments[] = {path, argument, NULL};
    return run(arguments, variable, value);
}

static void test_kernels(void **state)
{
    static const char *const cases[] = {"indices", "barriers", "warp", "atomics",
                                        "events"};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        assert_int_equal(selftest(cases[c], NULL, NULL), 0);
        assert_int_equal(selftest(cases[c], "CUDASIM_SEED", "0"), 0);
        assert_int_equal(selftest(cases[c], "CUDASIM_SEED", "12345"), 0);
        assert_int_equal(selftest(cases[c], "CUDASIM_JITTER_US", "500"), 0);
    }
    assert_int_equal(selftest("order", "CUDASIM_SEED", "7"), 0);
    assert_int_equal(selftest("order", "CUDASIM_SEED", "0"), 0);
}

static void test_mistakes(void **state)
{
    assert_int_equal(selftest("divergent", NULL, NULL), 0);
    assert_int_equal(selftest("freed-argument", NULL, NULL), 0);
    assert_int_equal(selftest("host-argument", NULL, NULL), 0);
    assert_int_equal(selftest("bad-copies", NULL, NULL), 0);
}

// A race by design: ThreadSanitizer ends it earlier than its own check does.
static void test_missing_barrier(void **state)
{
    int result = selftest("missing-barrier", "TSAN_OPTIONS", "exitcode=66");
    assert_true(result == 0 || result == 66);
}

// Touching device memory from the host ends the process (with a sanitizer: in its
// report).
static void test_host_touch(void **state)
{
    int result = selftest("host-touch", NULL, NULL);
    assert_true(result == 1000 + SIGSEGV || result == 1000 + SIGBUS || result == 1 ||
                result == 66);
}

// tests/cudasim/run passes the command's status on and shows it the simulator.
static void test_script(void **state)
{
    char folder[PATH_MAX], command[] = "test -e \"$TENSORD_CUDA_PLUGIN\" && exit 42";
    char shell[] = "/bin/sh", script[] = "tests/cudasim/run", option[] = "-c";
    build_folder(folder, sizeof folder);
    if (access(script, X_OK) != 0)
        skip(); // not run from the root of the sources
    char *arguments[] = {script, shell, option, command, NULL};
    assert_int_equal(run(arguments, "CUDASIM_BUILD", folder), 42);
    assert_int_equal(run(arguments, "CUDASIM_BUILD", "/nonexistent"), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kernels),         cmocka_unit_test(test_mistakes),
        cmocka_unit_test(test_missing_barrier), cmocka_unit_test(test_host_touch),
        cmocka_unit_test(test_script),
    };
    return cmocka_run_group_tests_name("simulator", tests, NULL, NULL);
}
