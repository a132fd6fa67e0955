// SPDX-License-Identifier: Apache-2.0
// The registry: expiry, listings, deletion by prefix.
#include "house.h"

static void expire_at(struct house *h, const char *name, double expires)
{
    struct problem problem;
    struct registry_attributes attributes = {.set_expires = true, .expires = expires};
    assert_int_equal(registry_set_attributes(h->space, name, &attributes, &problem),
                     STATUS_OK);
}

static void test_expired_names_are_invisible(void **state)
{
    struct house h;
    struct problem problem;
    bool more;
    int64_t count, bytes;
    house_open(&h);
    for (int i = 0; i < 5; i++)
        put_bytes(&h, (char[]){'a' + i, 0}, 10);
    expire_at(&h, "b", now() - 1);
    assert_false(exists(&h, "b"));
    assert_int_equal(registry_group(h.space, "b"), 0);
    assert_int_equal(fixture_used(&h.fixture), 50); // not yet freed
    struct registry_attributes attributes = {.set_expires = true, .expires = 0};
    assert_int_equal(registry_set_attributes(h.space, "b", &attributes, &problem),
                     STATUS_UNDEFINED);
    assert_string_equal(page(&h, "", NULL, 10, &more), "a c d e");
    assert_int_equal(fixture_used(&h.fixture), 40);

    expire_at(&h, "c", now() - 1);
    assert_int_equal(registry_count(h.space), 3);
    expire_at(&h, "d", now() - 1);
    assert_int_equal(registry_rename(h.space, "a", "d", &problem), STATUS_OK);
    expire_at(&h, "e", now() - 1);
    assert_int_equal(registry_delete_prefix(h.space, "", &count, &bytes, &problem),
                     STATUS_OK);
    assert_int_equal(count, 1); // d, which was a
    assert_int_equal(bytes, 10);
    assert_int_equal(fixture_used(&h.fixture), 0);

    // Binding an expired name starts anew.
    put_bytes(&h, "x", 10);
    struct binding old = find(&h, "x");
    expire_at(&h, "x", now() - 1);
    struct tensor *tensor = fixture_tensor(&h.fixture, 8);
    struct registry_change change = {
        .name = "x", .tensor = tensor, .keep_attributes = true};
    struct registry_commit commit = {1, &change, 0, NULL};
    assert_int_equal(registry_commit(h.space, &commit, &problem), STATUS_OK);
    struct binding fresh = find(&h, "x");
    assert_true(fresh.expires == 0 && fresh.created > old.created);
    binding_release(&old);
    binding_release(&fresh);
    tensor_release(tensor);
    house_close(&h);
}

// Random expiry times: what registry_expire leaves is what a plain scan leaves.
static void test_expiry_order(void **state)
{
    enum { MANY = 300 };
    struct house h;
    double expiry[MANY];
    char name[16];
    unsigned seed = 3;
    house_open(&h);
    double base = now() + 1e6;
    for (int i = 0; i < MANY; i++) {
        snprintf(name, sizeof name, "n%d", i);
        put_bytes(&h, name, 1);
        expire_at(&h, name, expiry[i] = base + rand_r(&seed) % 100);
    }
    for (int i = 0; i < MANY; i += 3) { // some change their mind, some never expire
        snprintf(name, sizeof name, "n%d", i);
        expire_at(&h, name, expiry[i] = i % 2 ? base + rand_r(&seed) % 100 : 0);
    }
    for (double t = base - 1; t < base + 101; t += 10) {
        double next = registry_expire(h.space, t), wanted = 0;
        int left = 0;
        for (int i = 0; i < MANY; i++) {
            if (expiry[i] != 0 && expiry[i] <= t)
                continue;
            left++;
            if (expiry[i] != 0 && (wanted == 0 || expiry[i] < wanted))
                wanted = expiry[i];
        }
        assert_true(next == wanted);
        assert_int_equal(registry_count(h.space), left);
        assert_int_equal(fixture_settled(&h.fixture), left);
    }
    house_close(&h);
}

// ---- Listings
static void test_pages(void **state)
{
    struct house h;
    bool more;
    static const char *const names[] = {"b",    "a.2", "a",  "B",  "a_1",
                                        "a.10", "ab",  "a-", "_z", "c"};
    house_open(&h);
    assert_string_equal(page(&h, "", NULL, 10, &more), "");
    assert_false(more);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        put_bytes(&h, names[i], 1);
    // sorted(names) in Python
    assert_string_equal(page(&h, "", NULL, 10, &more), "B _z a a- a.10 a.2 a_1 ab b c");
    assert_false(more);
    assert_string_equal(page(&h, "", NULL, 9, &more), "B _z a a- a.10 a.2 a_1 ab b");
    assert_true(more);
    assert_string_equal(page(&h, "a", NULL, 100, &more), "a a- a.10 a.2 a_1 ab");
    assert_false(more);
    assert_string_equal(page(&h, "a", NULL, 2, &more), "a a-");
    assert_true(more);
    assert_string_equal(page(&h, "a", "a-", 2, &more), "a.10 a.2");
    assert_true(more);
    assert_string_equal(page(&h, "a", "a.2", 2, &more), "a_1 ab");
    assert_false(more);
    assert_string_equal(page(&h, "a", "ab", 2, &more), "");
    assert_false(more);
    assert_string_equal(page(&h, "a", "B", 2, &more), "a a-"); // before the prefix
    assert_string_equal(page(&h, "a", "c", 2, &more), "");     // beyond it
    assert_string_equal(page(&h, "a.", NULL, 5, &more), "a.10 a.2");
    assert_string_equal(page(&h, "", "a.1", 2, &more),
                        "a.10 a.2"); // after need not exist
    assert_string_equal(page(&h, "zzz", NULL, 5, &more), "");
    assert_string_equal(page(&h, "", NULL, 0, &more), "");
    assert_true(more);
    house_close(&h);
}

static void test_delete_prefix(void **state)
{
    struct house h;
    struct problem problem;
    int64_t count, bytes;
    bool more;
    house_open(&h);
    struct tensor *shared = fixture_tensor(&h.fixture, 100);
    put(&h, "a.1", shared);
    put(&h, "a.2", shared);
    put(&h, "b", shared);
    tensor_release(shared);
    put_bytes(&h, "a.3", 10);
    put_bytes(&h, "a", 1);
    assert_int_equal(registry_delete_prefix(h.space, "a.", &count, &bytes, &problem),
                     STATUS_OK);
    assert_int_equal(count, 3);
    assert_int_equal(bytes, 10); // b still holds the shared storage
    assert_string_equal(page(&h, "", NULL, 9, &more), "a b");
    assert_int_equal(registry_delete_prefix(h.space, "q", &count, &bytes, &problem),
                     STATUS_OK);
    assert_int_equal(count, 0);
    assert_int_equal(registry_delete_prefix(h.space, "", &count, &bytes, &problem),
                     STATUS_OK);
    assert_int_equal(count, 2);
    assert_int_equal(bytes, 101);
    house_close(&h);
}

// Random names in and out, against a plain sorted array.
enum { MODEL_NAMES = 500 };

static int compare(const void *a, const void *b)
{
    return strcmp(a, b);
}

static void test_random_names_stay_sorted(void **state)
{
    struct house h;
    static char present[MODEL_NAMES][8];
    int n = 0;
    unsigned seed = 11;
    house_open(&h);
    struct tensor *tensor = fixture_tensor(&h.fixture, 1);
    for (int step = 0; step < 4000; step++) {
        char name[8];
        snprintf(name, sizeof name, "k%d", rand_r(&seed) % MODEL_NAMES);
        char *known = bsearch(name, present, (size_t)n, sizeof present[0], compare);
        assert_int_equal(exists(&h, name), known != NULL);
        put(&h, name, known ? NULL : tensor);
        if (known)
            memmove(known, present[--n], sizeof present[0]);
        else
            memcpy(present[n++], name, sizeof name);
        qsort(present, (size_t)n, sizeof present[0], compare);
        assert_int_equal(registry_count(h.space), n);
        if (step % 100 != 0)
            continue;
        struct binding *bindings;
        struct problem problem;
        int count;
        bool more;
        assert_int_equal(
            registry_list(h.space, ALL_NAMES, "", NULL, 10000, &bindings, &count, &more, &problem),
            STATUS_OK);
        assert_int_equal(count, n);
        for (int i = 0; i < n; i++)
            assert_string_equal(bindings[i].name, present[i]);
        binding_array_free(bindings, count);
    }
    tensor_release(tensor);
    house_close(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_expired_names_are_invisible),
        cmocka_unit_test(test_expiry_order),
        cmocka_unit_test(test_pages),
        cmocka_unit_test(test_delete_prefix),
        cmocka_unit_test(test_random_names_stay_sorted),
    };
    return cmocka_run_group_tests_name("registry_list", tests, NULL, NULL);
}
