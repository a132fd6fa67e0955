// SPDX-License-Identifier: Apache-2.0
// A token bucket: how many requests a second somebody may send, and a second's worth of
// them at once. Pure; time is the caller's, monotonic, in nanoseconds.
#ifndef TENSORD_API_BUCKET_H
#define TENSORD_API_BUCKET_H

#include <stdbool.h>
#include <stdint.h>

struct bucket {
    double rate;   // tokens a second; 0: no limit
    double tokens; // there now
    int64_t time;  // of the last look
};

// A full bucket, or the new rate of one that is in use (it keeps what it has).
void bucket_set(struct bucket *bucket, double rate, int64_t now);
// Takes a token; false if there is none.
bool bucket_take(struct bucket *bucket, int64_t now);
// The most that it holds: a second's worth, at least one.
int bucket_size(const struct bucket *bucket);
// Whole seconds, at least one: until there is a token; in which an empty one fills.
int bucket_wait(const struct bucket *bucket);
int bucket_window(const struct bucket *bucket);
#endif
