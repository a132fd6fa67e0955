// SPDX-License-Identifier: Apache-2.0
// Name keys and predicted groups, told as the requests that need them.
#include "house.h"

static void test_name_keys(void **state)
{
    struct house h;
    house_open(&h);
    uint64_t x = registry_name_key(h.space, "x"), y = registry_name_key(h.space, "y");
    assert_true(x != 0 && y != 0 && x != y);
    assert_true(registry_name_key(h.space, "x") == x);
    // Eight bytes and nine: both ends of a hashed word count.
    assert_true(registry_name_key(h.space, "12345678") !=
                registry_name_key(h.space, "12345678a"));
    assert_true(registry_name_key(h.space, "a2345678") !=
                registry_name_key(h.space, "b2345678"));
    house_close(&h);
}

static void test_group_of_a_binding_is_its_storage(void **state)
{
    struct house h;
    house_open(&h);
    assert_int_equal(registry_group(h.space, "x"), 0);
    struct tensor *tensor = fixture_tensor(&h.fixture, 8);
    put(&h, "x", tensor);
    put(&h, "view", tensor);
    assert_int_equal(registry_group(h.space, "x"), storage_id(tensor->storage));
    assert_int_equal(registry_group(h.space, "view"), registry_group(h.space, "x"));
    tensor_release(tensor);
    house_close(&h);
}

static void test_predictions_nest(void **state)
{
    struct house h;
    house_open(&h);
    put_bytes(&h, "x", 8);
    uint64_t bound = registry_group(h.space, "x");
    uint64_t first = registry_predict(h.space, "x", 0),
             second = registry_predict(h.space, "x", 0);
    assert_true(first != 0 && second != 0 && first != second && first != bound);
    assert_int_equal(registry_group(h.space, "x"), second);
    registry_forget(h.space, "x", second); // it failed
    assert_int_equal(registry_group(h.space, "x"), first);
    registry_forget(h.space, "x", second); // unknown: nothing
    registry_forget(h.space, "never", first);
    assert_int_equal(registry_group(h.space, "x"), first);
    registry_forget(h.space, "x", first);
    assert_int_equal(registry_group(h.space, "x"), bound);

    // The same group twice is two predictions.
    registry_predict(h.space, "v", bound);
    registry_predict(h.space, "v", bound);
    registry_forget(h.space, "v", bound);
    assert_int_equal(registry_group(h.space, "v"), bound);
    registry_forget(h.space, "v", bound);
    assert_int_equal(registry_group(h.space, "v"), 0);
    house_close(&h);
}

// y = a + b; then twice y += 1, the second accepted after the first request has
// committed: the two must meet.
static void test_a_committed_storage_takes_over_its_group(void **state)
{
    struct house h;
    house_open(&h);
    uint64_t group = registry_predict(h.space, "y", 0);
    uint64_t early = registry_group(h.space, "y");
    put_bytes(&h, "y", 8);
    uint64_t between = registry_group(h.space, "y");
    registry_forget(h.space, "y", group);
    uint64_t late = registry_group(h.space, "y");
    assert_true(early == group && between == group && late == group);
    house_close(&h);
}

// y = ..., v = view of y, while nothing has run; afterwards both names have one group.
static void test_views_of_what_is_to_come(void **state)
{
    struct house h;
    house_open(&h);
    uint64_t group = registry_predict(h.space, "y", 0);
    assert_int_equal(registry_predict(h.space, "v", registry_group(h.space, "y")), group);
    struct tensor *tensor = fixture_tensor(&h.fixture, 8);
    put(&h, "y", tensor);
    registry_forget(h.space, "y", group);
    put(&h, "v", tensor);
    registry_forget(h.space, "v", group);
    assert_int_equal(registry_group(h.space, "y"), group);
    assert_int_equal(registry_group(h.space, "v"), group);
    tensor_release(tensor);
    house_close(&h);
}

// Two pending y = ...: each commit takes the prediction of its own request, the oldest
// unused or the one it names.
static void test_commits_take_predictions_in_order(void **state)
{
    struct house h;
    struct problem problem;
    house_open(&h);
    uint64_t first = registry_predict(h.space, "y", 0),
             second = registry_predict(h.space, "y", 0);
    struct tensor *a = fixture_tensor(&h.fixture, 8), *b = fixture_tensor(&h.fixture, 8);
    put(&h, "y", a);
    assert_int_equal(storage_group(a->storage), first);
    assert_int_equal(registry_group(h.space, "y"), second);
    put(&h, "y", b);
    assert_int_equal(storage_group(b->storage), second);
    registry_forget(h.space, "y", first);
    registry_forget(h.space, "y", second);
    assert_int_equal(registry_group(h.space, "y"), second);
    tensor_release(a);
    tensor_release(b);

    first = registry_predict(h.space, "y", 0);
    second = registry_predict(h.space, "y", 0);
    struct tensor *c = fixture_tensor(&h.fixture, 8);
    struct registry_change change = {.name = "y", .tensor = c, .group = second};
    struct registry_commit commit = {1, &change, 0, NULL};
    assert_int_equal(registry_commit(h.space, &commit, &problem), STATUS_OK);
    assert_int_equal(storage_group(c->storage), second);
    tensor_release(c);
    house_close(&h); // predictions left behind are freed
}

// A wrong guess: v was to be fresh and is a view. The binding tells the truth.
static void test_a_prediction_that_was_wrong(void **state)
{
    struct house h;
    house_open(&h);
    struct tensor *tensor = fixture_tensor(&h.fixture, 8);
    put(&h, "x", tensor);
    uint64_t guess = registry_predict(h.space, "v", 0);
    put(&h, "v", tensor);
    assert_int_equal(registry_group(h.space, "v"), registry_group(h.space, "x"));
    registry_forget(h.space, "v", guess);
    assert_int_equal(registry_group(h.space, "v"), storage_id(tensor->storage));
    tensor_release(tensor);
    house_close(&h);
}

// y is bound, y = ... is pending and may fail: y += 1 must meet whoever touches either
// storage.
static void test_all_groups_a_name_may_stand_for(void **state)
{
    struct house h;
    uint64_t key, groups[3];
    house_open(&h);
    assert_int_equal(registry_groups(h.space, "y", &key, groups, 3), 0);
    put_bytes(&h, "y", 8);
    uint64_t bound = registry_group(h.space, "y");
    assert_int_equal(registry_groups(h.space, "y", &key, groups, 3), 1);
    assert_int_equal(groups[0], bound);
    uint64_t first = registry_predict(h.space, "y", 0);
    registry_predict(h.space, "y", first);
    registry_predict(h.space, "y", bound);
    assert_int_equal(registry_groups(h.space, "y", &key, groups, 3), 2);
    assert_int_equal(groups[0], bound);
    assert_int_equal(groups[1], first);
    uint64_t second = registry_predict(h.space, "y", 0);
    assert_int_equal(registry_groups(h.space, "y", &key, groups, 3), 3);
    assert_int_equal(groups[1], second);
    assert_int_equal(key, registry_name_key(h.space, "y"));
    registry_predict(h.space, "y", 0);
    registry_predict(h.space, "y", 0);
    assert_int_equal(registry_groups(h.space, "y", &key, groups, 3), 4); // more than fit
    assert_int_equal(registry_groups(h.space, "y", &key, groups, 0), 1);
    house_close(&h);
}

static void test_many_predicted_names(void **state)
{
    enum { MANY = 300 };
    struct house h;
    uint64_t groups[MANY];
    char name[16];
    house_open(&h);
    for (int i = 0; i < MANY; i++) {
        snprintf(name, sizeof name, "n%d", i);
        groups[i] = registry_predict(h.space, name, 0);
        assert_true(i == 0 || groups[i] > groups[i - 1]);
    }
    for (int i = 0; i < MANY; i += 2) {
        snprintf(name, sizeof name, "n%d", i);
        registry_forget(h.space, name, groups[i]);
    }
    for (int i = 0; i < MANY; i++) {
        snprintf(name, sizeof name, "n%d", i);
        assert_int_equal(registry_group(h.space, name), i % 2 ? groups[i] : 0);
    }
    house_close(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_name_keys),
        cmocka_unit_test(test_group_of_a_binding_is_its_storage),
        cmocka_unit_test(test_predictions_nest),
        cmocka_unit_test(test_a_committed_storage_takes_over_its_group),
        cmocka_unit_test(test_views_of_what_is_to_come),
        cmocka_unit_test(test_commits_take_predictions_in_order),
        cmocka_unit_test(test_a_prediction_that_was_wrong),
        cmocka_unit_test(test_all_groups_a_name_may_stand_for),
        cmocka_unit_test(test_many_predicted_names),
    };
    return cmocka_run_group_tests_name("registry_order", tests, NULL, NULL);
}
