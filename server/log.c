// SPDX-License-Identifier: Apache-2.0
// See log.h. Without log_open, warnings and errors go to stderr as text.
#include "server/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static struct {
    int descriptor;
    bool json;
    enum log_level least;
} log_state = {STDERR_FILENO, false, LOG_WARNING};

static const char *const level_names[] = {"debug", "info", "warning", "error"};

void log_open(int descriptor, bool json, enum log_level least)
{
    log_state.descriptor = descriptor;
    log_state.json = json;
    log_state.least = least;
}

// "2026-01-31T12:00:00.123Z"
static void print_time(char *text, size_t size)
{
    struct timespec now;
    struct tm utc;
    char seconds[32];
    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &utc);
    strftime(seconds, sizeof seconds, "%Y-%m-%dT%H:%M:%S", &utc);
    snprintf(text, size, "%s.%03ldZ", seconds, now.tv_nsec / 1000000);
}

// Copies in to out (of size) with JSON's escapes; also keeps a line of text one line.
static void escape(const char *in, char *out, size_t size, bool json)
{
    size_t used = 0;
    for (; *in != '\0' && used + 7 < size; in++) {
        unsigned char c = (unsigned char)*in;
        if (c < ' ' || c == 0x7F)
            used += (size_t)snprintf(out + used, size - used, "\\u%04x", c);
        else if (json && (c == '"' || c == '\\'))
            used += (size_t)snprintf(out + used, size - used, "\\%c", c);
        else
            out[used++] = (char)c;
    }
    out[used] = '\0';
}

void log_event(enum log_level level, const char *event, const char *format, ...)
{
    if (level < log_state.least)
        return;
    char when[48], message[600], escaped[700], line[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    escape(message, escaped, sizeof escaped, log_state.json);
    print_time(when, sizeof when);
    int length = snprintf(
        line, sizeof line,
        log_state.json ? "{\"time\": \"%s\", \"level\": \"%s\", \"event\": \"%.100s\", "
                         "\"message\": \"%s\"}\n"
                       : "%s %s %.100s: %s\n",
        when, level_names[level], event, escaped);
    ssize_t written = write(log_state.descriptor, line, (size_t)length);
    (void)written; // there is nobody to tell
}
