// SPDX-License-Identifier: Apache-2.0
// The registry from many threads (run it under the thread sanitizer too): commits are
// whole, nothing is lost, and the books balance at the end.
#include "house.h"

#include <pthread.h>

enum { ROUNDS = 1500, BYTES = 64, OTHERS = 6 };

struct scene {
    struct house house;
    atomic_int broken;
    struct tensor *counter; // "c": every writer adds one to its bytes, in order
    pthread_mutex_t order;  // stands for the queue's keys
};

// Binds left and right to tensors of one content, and overwrites the counter, in one
// commit.
static void *commit_pairs(void *context)
{
    struct scene *scene = context;
    struct problem problem;
    for (int i = 0; i < ROUNDS; i++) {
        struct tensor *pair[2];
        for (int j = 0; j < 2; j++) {
            pair[j] = fixture_tensor(&scene->house.fixture, BYTES);
            struct block *block = storage_pin(pair[j]->storage);
            memset(block->data, i, BYTES);
            block_release(block);
        }
        struct registry_change changes[] = {{.name = "left", .tensor = pair[0]},
                                            {.name = "right", .tensor = pair[1]}};
        pthread_mutex_lock(&scene->order);
        struct block *old = storage_pin(scene->counter->storage);
        struct block *new = fixture_block(&scene->house.fixture, BYTES);
        for (int j = 0; j < BYTES; j++)
            ((unsigned char *)new->data)[j] =
                (unsigned char)(((unsigned char *)old->data)[j] + 1);
        block_release(old);
        struct registry_write write = {scene->counter->storage, new};
        struct registry_commit commit = {2, changes, 1, &write};
        if (registry_commit(scene->house.space, &commit, &problem) != STATUS_OK)
            scene->broken++;
        pthread_mutex_unlock(&scene->order);
        tensor_release(pair[0]);
        tensor_release(pair[1]);
    }
    return NULL;
}

static unsigned char content(struct scene *scene, const struct tensor *tensor)
{
    struct block *block = storage_pin(tensor->storage);
    const unsigned char *bytes = block->data;
    unsigned char first = bytes[0];
    for (int j = 1; j < BYTES; j++)
        if (bytes[j] != first)
            scene->broken++;
    block_release(block);
    return first;
}

// A listing is one look: left and right are of one commit, so their contents agree and
// their serials follow.
static void *list_pairs(void *context)
{
    struct scene *scene = context;
    struct problem problem;
    for (int i = 0; i < ROUNDS; i++) {
        struct binding *bindings;
        int count, left = -1, right = -1;
        bool more;
        if (registry_list(scene->house.space, ALL_NAMES, "", NULL, 100, &bindings, &count, &more,
                          &problem) != STATUS_OK) {
            scene->broken++;
            continue;
        }
        for (int j = 0; j < count; j++) {
            if (strcmp(bindings[j].name, "left") == 0)
                left = j;
            if (strcmp(bindings[j].name, "right") == 0)
                right = j;
        }
        if ((left < 0) != (right < 0))
            scene->broken++;
        else if (left >= 0 && content(scene, bindings[left].tensor) !=
                                  content(scene, bindings[right].tensor))
            scene->broken++;
        binding_array_free(bindings, count);
    }
    return NULL;
}

static void *find_and_read(void *context)
{
    struct scene *scene = context;
    struct problem problem;
    uint64_t last = 0;
    for (int i = 0; i < ROUNDS; i++) {
        struct binding binding;
        if (registry_find(scene->house.space, "c", &binding, &problem) != STATUS_OK) {
            scene->broken++;
            continue;
        }
        if (binding.writes < last) // versions only grow
            scene->broken++;
        last = binding.writes;
        content(scene, binding.tensor);
        binding_release(&binding);
    }
    return NULL;
}

// Names that come, go, expire, are renamed and predicted beside all that.
static void *come_and_go(void *context)
{
    struct scene *scene = context;
    struct name_space *space = scene->house.space;
    static _Atomic unsigned instance;
    unsigned seed = ++instance;
    for (int i = 0; i < ROUNDS; i++) {
        struct problem problem;
        char name[16], other[16];
        snprintf(name, sizeof name, "n%d", rand_r(&seed) % OTHERS);
        snprintf(other, sizeof other, "n%d", rand_r(&seed) % OTHERS);
        struct tensor *tensor = fixture_tensor(&scene->house.fixture, BYTES);
        struct registry_change changes[] = {
            {.name = name, .tensor = tensor},
            {.name = other, .tensor = i % 3 ? tensor : NULL}};
        struct registry_commit commit = {2, changes, 0, NULL};
        struct registry_attributes attributes = {.set_expires = true,
                                                 .expires = now() + 1e-4};
        uint64_t group = registry_predict(space, name, 0), key, groups[8];
        if (registry_commit(space, &commit, &problem) != STATUS_OK)
            scene->broken++;
        registry_group(space, other);
        registry_groups(space, name, &key, groups, 8);
        registry_forget(space, name, group);
        char **shared;
        int count;
        if (registry_shared_with(space, tensor->storage, name, &shared, &count,
                                 &problem) == STATUS_OK) {
            while (count > 0)
                free(shared[--count]);
            free(shared);
        }
        registry_rename(space, name, other, &problem);
        registry_set_attributes(space, other, &attributes, &problem);
        int64_t deleted, bytes;
        if (i % 50 == 0)
            registry_delete_prefix(space, "n1", &deleted, &bytes, &problem);
        if (i % 10 == 0)
            registry_expire(space, now());
        tensor_release(tensor);
    }
    return NULL;
}

static void test_everything_at_once(void **state)
{
    static struct scene scene;
    void *(*const bodies[])(void *) = {commit_pairs,  commit_pairs, list_pairs,
                                       find_and_read, come_and_go,  come_and_go};
    enum { N = sizeof bodies / sizeof *bodies };
    pthread_t threads[N];
    house_open(&scene.house);
    pthread_mutex_init(&scene.order, NULL);
    scene.counter = fixture_tensor(&scene.house.fixture, BYTES);
    struct block *block = storage_pin(scene.counter->storage);
    memset(block->data, 0, BYTES);
    block_release(block);
    put(&scene.house, "c", scene.counter);
    for (int i = 0; i < N; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, bodies[i], &scene), 0);
    for (int i = 0; i < N; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(scene.broken, 0);
    assert_int_equal(storage_writes(scene.counter->storage), 2 * ROUNDS);
    assert_int_equal(content(&scene, scene.counter), 2 * ROUNDS % 256);
    // Nothing but names holds memory now.
    tensor_release(scene.counter);
    struct problem problem;
    int64_t deleted, bytes;
    assert_int_equal(
        registry_delete_prefix(scene.house.space, "n", &deleted, &bytes, &problem),
        STATUS_OK);
    assert_int_equal(registry_count(scene.house.space), 3);
    assert_int_equal(fixture_used(&scene.house.fixture), 3 * BYTES);
    assert_int_equal(fixture_settled(&scene.house.fixture), 3 * BYTES);
    house_close(&scene.house);
    pthread_mutex_destroy(&scene.order);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_everything_at_once),
    };
    return cmocka_run_group_tests_name("registry_threads", tests, NULL, NULL);
}
