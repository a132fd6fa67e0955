// SPDX-License-Identifier: Apache-2.0
// A registry with one name space over the fake device, and short words for what its tests
// do.
#ifndef TENSORD_TESTS_TENSOR_HOUSE_H
#define TENSORD_TESTS_TENSOR_HOUSE_H

#include "fake_device.h"

#include <stdio.h>
#include <time.h>

#include "tensor/registry.h"

struct house {
    struct fixture fixture;
    struct registry *registry;
    struct name_space *space;
};

static inline void house_open(struct house *house)
{
    struct problem problem;
    fixture_open(&house->fixture, 1LL << 40);
    assert_int_equal(registry_create(&house->registry, &problem), STATUS_OK);
    assert_int_equal(registry_space(house->registry, "", &house->space, &problem),
                     STATUS_OK);
}

static inline void house_close(struct house *house)
{
    registry_free(house->registry);
    fixture_close(&house->fixture);
}

// Binds name to tensor (NULL deletes), without keeping attributes.
static inline void put(struct house *house, const char *name, struct tensor *tensor)
{
    struct problem problem;
    struct registry_change change = {.name = name, .tensor = tensor};
    struct registry_commit commit = {.n_changes = 1, .changes = &change};
    assert_int_equal(registry_commit(house->space, &commit, &problem), STATUS_OK);
}

// Binds name to a fresh tensor of that many bytes.
static inline void put_bytes(struct house *house, const char *name, int64_t bytes)
{
    struct tensor *tensor = fixture_tensor(&house->fixture, bytes);
    put(house, name, tensor);
    tensor_release(tensor);
}

static inline bool exists(struct house *house, const char *name)
{
    struct binding binding;
    struct problem problem;
    enum status status = registry_find(house->space, name, &binding, &problem);
    if (status == STATUS_OK)
        binding_release(&binding);
    else
        assert_int_equal(status, STATUS_UNDEFINED);
    return status == STATUS_OK;
}

static inline struct binding find(struct house *house, const char *name)
{
    struct binding binding;
    struct problem problem;
    assert_int_equal(registry_find(house->space, name, &binding, &problem), STATUS_OK);
    return binding;
}

static inline double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

// "a b c" of a page.
static inline const char *page(struct house *house, const char *prefix, const char *after,
                               int limit, bool *more)
{
    static char text[4096];
    struct binding *bindings;
    struct problem problem;
    int count;
    size_t length = 0;
    assert_int_equal(registry_list(house->space, ALL_NAMES, prefix, after, limit, &bindings, &count,
                                   more, &problem),
                     STATUS_OK);
    text[0] = '\0';
    for (int i = 0; i < count; i++)
        length += (size_t)snprintf(text + length, sizeof text - length, "%s%s",
                                   i ? " " : "", bindings[i].name);
    binding_array_free(bindings, count);
    return text;
}
#endif
