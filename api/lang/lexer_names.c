// SPDX-License-Identifier: Apache-2.0
// Interned names: a chained hash table in the arena. Its key is drawn once per process,
// so that nobody can send a program whose names all collide. One thread for each table.
#include "api/lang/lexer.h"

#include <pthread.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

struct name_entry {
    struct syntax_name name; // first: a name is its entry
    uint64_t hash;
    uint32_t mark;
    struct name_entry *next;
};

static uint64_t process_key;
static pthread_once_t process_key_once = PTHREAD_ONCE_INIT;

static void draw_key(void)
{
    if (getrandom(&process_key, sizeof process_key, GRND_NONBLOCK) !=
        sizeof process_key) {
        struct timespec now;
        clock_gettime(CLOCK_REALTIME, &now);
        process_key = (uint64_t)now.tv_nsec << 32 ^ (uint64_t)now.tv_sec;
    }
}

void names_open(struct names *names, struct arena *arena)
{
    pthread_once(&process_key_once, draw_key);
    *names = (struct names){.arena = arena, .key = process_key};
}

// Halves of the 128-bit product folded: every bit of both factors reaches every bit.
static uint64_t fold(uint64_t a, uint64_t b)
{
    unsigned __int128 product = (unsigned __int128)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static uint64_t hash_of(const struct names *names, const char *text, uint32_t bytes)
{
    uint64_t hash = fold(names->key ^ bytes, 0x9E3779B97F4A7C15), word;
    for (; bytes >= 8; bytes -= 8, text += 8) {
        memcpy(&word, text, 8);
        hash = fold(hash ^ word, names->key | 1);
    }
    word = 0;
    memcpy(&word, text, bytes);
    return fold(hash ^ word, 0xD6E8FEB86659FD93 ^ names->key);
}

static bool grow(struct names *names)
{
    uint32_t wanted = names->n_buckets > 0 ? names->n_buckets * 4 : 32;
    struct name_entry **buckets = arena_take(names->arena, wanted * sizeof *buckets);
    if (buckets == NULL)
        return false;
    memset(buckets, 0, wanted * sizeof *buckets);
    for (uint32_t i = 0; i < names->n_buckets; i++) {
        for (struct name_entry *entry = names->buckets[i], *next; entry; entry = next) {
            struct name_entry **bucket = &buckets[entry->hash & (wanted - 1)];
            next = entry->next;
            entry->next = *bucket;
            *bucket = entry;
        }
    }
    names->buckets = buckets;
    names->n_buckets = wanted;
    return true;
}

const struct syntax_name *names_intern(struct names *names, const char *text,
                                       uint32_t bytes)
{
    uint64_t hash = hash_of(names, text, bytes);
    if (names->n_buckets > 0) {
        struct name_entry *entry = names->buckets[hash & (names->n_buckets - 1)];
        for (; entry; entry = entry->next)
            if (entry->hash == hash && entry->name.bytes == bytes &&
                memcmp(entry->name.text, text, bytes) == 0)
                return &entry->name;
    }
    if (names->count >= names->n_buckets && !grow(names))
        return NULL;
    struct name_entry *entry = arena_take(names->arena, sizeof *entry + bytes + 1);
    if (entry == NULL)
        return NULL;
    char *copy = (char *)(entry + 1);
    memcpy(copy, text, bytes);
    copy[bytes] = '\0';
    struct name_entry **bucket = &names->buckets[hash & (names->n_buckets - 1)];
    *entry = (struct name_entry){{copy, bytes, names->count++}, hash, 0, *bucket};
    *bucket = entry;
    return &entry->name;
}

bool names_mark(const struct syntax_name *name, uint32_t mark)
{
    // Names are const for everybody else; the mark lies beside the name.
    struct name_entry *entry = (struct name_entry *)(uintptr_t)name;
    bool again = entry->mark == mark;
    entry->mark = mark;
    return again;
}
