// SPDX-License-Identifier: Apache-2.0
// The log: one line per event on stderr, as text or JSON. Events, never data or secrets.
// Any thread; a line is written with one system call.
#ifndef TENSORD_SERVER_LOG_H
#define TENSORD_SERVER_LOG_H

#include <stdbool.h>

enum log_level { LOG_DEBUG, LOG_INFO, LOG_WARNING, LOG_ERROR };

// Before threads. descriptor: where lines go (2).
void log_open(int descriptor, bool json, enum log_level least);
// event: a few constant words ("device missing"); the rest is printed like printf, the
// format always a literal. Control characters are escaped; a line has at most 1 KiB.
void log_event(enum log_level level, const char *event, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
#endif
