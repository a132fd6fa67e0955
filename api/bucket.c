// SPDX-License-Identifier: Apache-2.0
// See bucket.h.
#include "api/bucket.h"

#include <math.h>

int bucket_size(const struct bucket *bucket)
{
    return bucket->rate <= 1 ? 1 : (int)ceil(bucket->rate);
}

static int whole_seconds(double seconds)
{
    return seconds <= 1 ? 1 : seconds >= 86400 ? 86400 : (int)ceil(seconds);
}

static void fill(struct bucket *bucket, int64_t now)
{
    double seconds = now > bucket->time ? (double)(now - bucket->time) * 1e-9 : 0;
    bucket->tokens = fmin(bucket->tokens + seconds * bucket->rate, bucket_size(bucket));
    bucket->time = now;
}

void bucket_set(struct bucket *bucket, double rate, int64_t now)
{
    bool fresh = bucket->rate == 0;
    if (!fresh)
        fill(bucket, now);
    bucket->rate = rate;
    bucket->time = now;
    if (fresh || bucket->tokens > bucket_size(bucket))
        bucket->tokens = bucket_size(bucket);
}

bool bucket_take(struct bucket *bucket, int64_t now)
{
    if (bucket->rate == 0)
        return true;
    fill(bucket, now);
    if (bucket->tokens < 1)
        return false;
    bucket->tokens -= 1;
    return true;
}

int bucket_wait(const struct bucket *bucket)
{
    return bucket->rate == 0 ? 1 : whole_seconds((1 - bucket->tokens) / bucket->rate);
}

int bucket_window(const struct bucket *bucket)
{
    return bucket->rate == 0 ? 1 : whole_seconds(bucket_size(bucket) / bucket->rate);
}
