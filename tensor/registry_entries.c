// SPDX-License-Identifier: Apache-2.0
// The structures over a name space's entries: hash table, skip list, heap of expiry
// times. An entry is one allocation and is in the table and the list, or in neither.
#include <stdlib.h>
#include <string.h>

#include "tensor/registry_internal.h"

// ---- Hash
static inline uint64_t rotate(uint64_t value, int by)
{
    return value << by | value >> (64 - by);
}

static inline void sip_round(uint64_t v[4])
{
    v[0] += v[1], v[2] += v[3];
    v[1] = rotate(v[1], 13) ^ v[0], v[3] = rotate(v[3], 16) ^ v[2];
    v[0] = rotate(v[0], 32);
    v[2] += v[1], v[0] += v[3];
    v[1] = rotate(v[1], 17) ^ v[2], v[3] = rotate(v[3], 21) ^ v[0];
    v[2] = rotate(v[2], 32);
}

// Fewer than 8 bytes as a little-endian number. Names are short: no call of memcpy.
static inline uint64_t load_tail(const char *bytes, size_t count)
{
    if (count >= 4) {
        uint32_t low, high; // they overlap unless count is 8
        memcpy(&low, bytes, 4);
        memcpy(&high, bytes + count - 4, 4);
        return low | (uint64_t)high << 8 * (count - 4);
    }
    uint64_t word = 0;
    for (size_t i = 0; i < count; i++)
        word |= (uint64_t)(unsigned char)bytes[i] << 8 * i;
    return word;
}

// SipHash with one round per word and three at the end (Aumasson, Bernstein).
uint64_t space_hash(const struct name_space *space, const char *name, size_t length)
{
    uint64_t v[4] = {
        space->key[0] ^ 0x736f6d6570736575u, space->key[1] ^ 0x646f72616e646f6du,
        space->key[0] ^ 0x6c7967656e657261u, space->key[1] ^ 0x7465646279746573u};
    for (size_t i = 0; i <= length; i += 8) {
        uint64_t word;
        if (length - i >= 8)
            memcpy(&word, name + i, 8);
        else
            word = load_tail(name + i, length - i) | (uint64_t)length << 56;
        v[3] ^= word;
        sip_round(v);
        v[0] ^= word;
    }
    v[2] ^= 0xff;
    for (int i = 0; i < 3; i++)
        sip_round(v);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

// ---- Entries
static uint64_t next_random(struct name_space *space)
{
    uint64_t x = space->random; // xorshift64
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    return space->random = x;
}

struct entry *entry_create(struct name_space *space, const char *name, size_t length,
                           uint64_t hash)
{
    int height = 1 + __builtin_ctzll(next_random(space) | 1ull << 62) / 2;
    if (height > SKIP_LEVELS)
        height = SKIP_LEVELS;
    struct entry *entry =
        malloc(sizeof *entry + (size_t)height * sizeof entry->next[0] + length + 1);
    if (!entry)
        return NULL;
    *entry = (struct entry){.space = space, .hash = hash, .heap_position = -1};
    entry->height = (uint8_t)height;
    entry->length = (uint8_t)length;
    char *own = (char *)&entry->next[height];
    memcpy(own, name, length);
    own[length] = '\0';
    return entry;
}

struct entry *entry_find(const struct name_space *space, const char *name, size_t length,
                         uint64_t hash)
{
    struct entry *entry = space->buckets[hash & (space->n_buckets - 1)];
    while (entry && (entry->hash != hash || entry->length != length ||
                     memcmp(entry_name(entry), name, length) != 0))
        entry = entry->chain;
    return entry;
}

static void grow_table(struct name_space *space)
{
    size_t n_buckets = space->n_buckets * 2;
    struct entry **buckets = calloc(n_buckets, sizeof *buckets);
    if (!buckets)
        return; // longer chains serve as well, only slower
    for (size_t i = 0; i < space->n_buckets; i++) {
        struct entry *entry = space->buckets[i];
        while (entry) {
            struct entry *rest = entry->chain,
                         **bucket = &buckets[entry->hash & (n_buckets - 1)];
            entry->chain = *bucket;
            *bucket = entry;
            entry = rest;
        }
    }
    free(space->buckets);
    space->buckets = buckets;
    space->n_buckets = n_buckets;
}

void entry_seek(struct name_space *space, const char *name, bool strict,
                struct place *place)
{
    struct entry **next = space->head;
    for (int level = SKIP_LEVELS - 1; level >= 0; level--) {
        while (next[level]) {
            int order = strcmp(entry_name(next[level]), name); // unsigned bytes
            if (order > 0 || (order == 0 && !strict))
                break;
            next = next[level]->next;
        }
        place->links[level] = &next[level];
    }
}

void entry_insert(struct name_space *space, struct entry *entry)
{
    struct place place;
    entry_seek(space, entry_name(entry), false, &place);
    for (int level = 0; level < entry->height; level++) {
        entry->next[level] = *place.links[level];
        *place.links[level] = entry;
    }
    if ((size_t)++space->count > space->n_buckets)
        grow_table(space);
    struct entry **bucket = &space->buckets[entry->hash & (space->n_buckets - 1)];
    entry->chain = *bucket;
    *bucket = entry;
}

void entry_remove_at(struct name_space *space, struct place *place)
{
    struct entry *entry = place_entry(place);
    for (int level = 0; level < entry->height; level++)
        *place->links[level] =
            entry->next[level]; // it was the first after the place on each
    struct entry **link = &space->buckets[entry->hash & (space->n_buckets - 1)];
    while (*link != entry)
        link = &(*link)->chain;
    *link = entry->chain;
    space->count--;
    expiry_set(space, entry, 0);
}

void entry_remove(struct name_space *space, struct entry *entry)
{
    struct place place;
    entry_seek(space, entry_name(entry), false, &place);
    entry_remove_at(space, &place);
}

// ---- Heap of expiry times
bool expiry_reserve(struct name_space *space)
{
    if (space->heap_count < space->heap_capacity)
        return true;
    int64_t capacity = space->heap_capacity ? space->heap_capacity * 2 : 16;
    struct entry **heap = realloc(space->heap, (size_t)capacity * sizeof *heap);
    if (!heap)
        return false;
    space->heap = heap;
    space->heap_capacity = capacity;
    return true;
}

static void put_at(struct name_space *space, int64_t position, struct entry *entry)
{
    space->heap[position] = entry;
    entry->heap_position = position;
}

// Moves entry from the hole at position to where it belongs.
static void sift(struct name_space *space, int64_t position, struct entry *entry)
{
    struct entry **heap = space->heap;
    while (position > 0 && heap[(position - 1) / 2]->expires > entry->expires) {
        put_at(space, position, heap[(position - 1) / 2]);
        position = (position - 1) / 2;
    }
    for (;;) {
        int64_t child = 2 * position + 1;
        if (child + 1 < space->heap_count &&
            heap[child + 1]->expires < heap[child]->expires)
            child++;
        if (child >= space->heap_count || heap[child]->expires >= entry->expires)
            break;
        put_at(space, position, heap[child]);
        position = child;
    }
    put_at(space, position, entry);
}

void expiry_set(struct name_space *space, struct entry *entry, double expires)
{
    int64_t position = entry->heap_position;
    entry->expires = expires;
    if (expires != 0) {
        sift(space, position >= 0 ? position : space->heap_count++, entry);
        return;
    }
    if (position < 0)
        return;
    entry->heap_position = -1;
    struct entry *last = space->heap[--space->heap_count];
    if (last != entry)
        sift(space, position, last);
}
