// SPDX-License-Identifier: Apache-2.0
// The log: one line per event, as text and as JSON, with nothing in it that breaks a
// line.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "server/log.h"

static int pipe_ends[2];

static const char *logged(void)
{
    static char text[4096];
    ssize_t n = read(pipe_ends[0], text, sizeof text - 1);
    text[n < 0 ? 0 : n] = '\0';
    return text;
}

static void text_lines(void **state)
{
    log_open(pipe_ends[1], false, LOG_INFO);
    log_event(LOG_DEBUG, "quiet", "not written");
    log_event(LOG_WARNING, "device missing", "cuda:%d: %s", 3, "a\nb\x1b");
    const char *line = logged();
    assert_non_null(strstr(line, " warning device missing: cuda:3: a\\u000ab\\u001b\n"));
    assert_int_equal(line[10], 'T');
    assert_int_equal(line[23], 'Z');
    assert_null(strstr(line, "not written"));
}

static void json_lines(void **state)
{
    log_open(pipe_ends[1], true, LOG_INFO);
    log_event(LOG_ERROR, "bad", "a \"quoted\" \\ thing\n");
    const char *line = logged();
    assert_int_equal(line[0], '{');
    assert_non_null(strstr(line, "\"level\": \"error\", \"event\": \"bad\", \"message\": "
                                 "\"a \\\"quoted\\\" \\\\ thing\\u000a\"}\n"));
    char much[5000];
    memset(much, '"', sizeof much);
    much[4999] = '\0';
    log_event(LOG_INFO, "long", "%s", much);
    line = logged();
    assert_true(strlen(line) < 1024);
    assert_string_equal(line + strlen(line) - 3, "\"}\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_lines),
        cmocka_unit_test(json_lines),
    };
    if (pipe(pipe_ends) != 0)
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
