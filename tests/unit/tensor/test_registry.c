// SPDX-License-Identifier: Apache-2.0
// The registry: names, bindings, commits, attributes.
#include "house.h"

// ---- Names
static void test_which_names_are_names(void **state)
{
    static const struct {
        const char *name, *why; // NULL: accepted
    } cases[] = {
        {"x", NULL},
        {"_", NULL},
        {"a.b-c_9", NULL},
        {"net.0.weight", NULL},
        {"Torch", NULL},
        {"truE", NULL},
        {"x.npyz", NULL},
        {"npy", NULL},
        {"x.npy.", NULL},
        {"f", NULL},
        {"lambda_", NULL},
        {"x.NPY", NULL},
        {"print", NULL},
        {"match", NULL},
        {"np.x", NULL},
        {"continued", NULL},
        {"", "at least one"},
        {"9x", "begin with"},
        {"-x", "begin with"},
        {".x", "begin with"},
        {"a b", "character 2"},
        {"a:b", "character 2"},
        {"a/b", "character 2"},
        {"\xc3\xa9", "begin with"},
        {"a\xc3\xa9", "character 2"},
        {"ab\n", "character 3"},
        {"x.npy", ".npy"},
        {"x.npz", ".npz"},
        {"x.json", ".json"},
        {"x.csv", ".csv"},
        {"x.txt", ".txt"},
        {"x.raw", ".raw"},
        {"x.png", ".png"},
        {"x.safetensors", ".safetensors"},
        {"a.b.npy", ".npy"},
        {"torch", "reserved"},
        {"np", "reserved"},
        {"nn", "reserved"},
        {"F", "reserved"},
    };
    // What `python3 -c "import keyword; print(keyword.kwlist)"` prints (3.11).
    static const char *const keywords[] = {
        "False",  "None",   "True",    "and",      "as",       "assert", "async",
        "await",  "break",  "class",   "continue", "def",      "del",    "elif",
        "else",   "except", "finally", "for",      "from",     "global", "if",
        "import", "in",     "is",      "lambda",   "nonlocal", "not",    "or",
        "pass",   "raise",  "return",  "try",      "while",    "with",   "yield",
    };
    struct problem problem;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        enum status status = name_check(cases[i].name, strlen(cases[i].name), &problem);
        assert_int_equal(status, cases[i].why ? STATUS_NAME : STATUS_OK);
        if (cases[i].why && !strstr(problem.detail, cases[i].why))
            fail_msg("\"%s\": %s", cases[i].name, problem.detail);
    }
    for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++) {
        assert_int_equal(name_check(keywords[i], strlen(keywords[i]), &problem),
                         STATUS_NAME);
        assert_non_null(strstr(problem.detail, "keyword"));
    }
    char name[NAME_MAX_LENGTH + 2];
    memset(name, 'x', sizeof name);
    assert_int_equal(name_check(name, NAME_MAX_LENGTH, &problem), STATUS_OK);
    assert_int_equal(name_check(name, NAME_MAX_LENGTH + 1, &problem), STATUS_NAME);
    assert_non_null(strstr(problem.detail, "129"));
    assert_int_equal(name_check("a\0b", 3, &problem), STATUS_NAME);
}

static void test_nearest_name(void **state)
{
    struct house h;
    struct problem problem;
    struct binding binding;
    static const struct {
        const char *asked, *nearest;
    } cases[] = {
        {"weigths", "weights"},
        {"weight", "weights"},
        {"Weights", "weights"},
        {"wieght", "weights"},
        {"bia", "bias"},
        {"bisa", "bias"},
        {"something", ""},
        {"images_tran", "images_train"},
        {"images_tarin", "images_train"},
        {"y", "x"},
        {"weightsss", "weights"},
        {"biasbias", ""},
    };
    house_open(&h);
    put_bytes(&h, "weights", 1);
    put_bytes(&h, "bias", 1);
    put_bytes(&h, "images_train", 1);
    put_bytes(&h, "x", 1);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(registry_find(h.space, cases[i].asked, &binding, &problem),
                         STATUS_UNDEFINED);
        assert_string_equal(problem.nearest, cases[i].nearest);
        assert_non_null(strstr(problem.detail, cases[i].asked));
    }
    char longest[400];
    memset(longest, 'w', sizeof longest);
    longest[399] = '\0';
    assert_int_equal(registry_find(h.space, longest, &binding, &problem),
                     STATUS_UNDEFINED);
    house_close(&h);
}

// ---- Bindings
static void test_bind_find_rebind_delete(void **state)
{
    struct house h;
    house_open(&h);
    double start = now();
    struct tensor *first = fixture_tensor(&h.fixture, 100);
    put(&h, "x", first);
    tensor_release(first);
    assert_int_equal(fixture_settled(&h.fixture), 100);
    struct binding one = find(&h, "x");
    assert_string_equal(one.name, "x");
    assert_ptr_equal(one.tensor, first);
    assert_true(one.serial != 0 && one.writes == 0);
    assert_true(one.created >= start && one.created <= now() &&
                one.modified == one.created);
    assert_false(one.readonly || one.pinned || one.expires != 0);
    assert_int_equal(registry_count(h.space), 1);

    put_bytes(&h, "x", 30); // the old value lives on with whoever found it
    assert_int_equal(fixture_used(&h.fixture), 130);
    assert_int_equal(fixture_settled(&h.fixture), 30);
    struct binding two = find(&h, "x");
    assert_true(two.serial > one.serial);
    assert_true(two.created == one.created && two.modified >= one.modified);
    binding_release(&one);
    assert_int_equal(fixture_used(&h.fixture), 30);
    binding_release(&two);

    put(&h, "x", NULL);
    put(&h, "x", NULL); // deleting what is not there does nothing
    assert_false(exists(&h, "x"));
    assert_int_equal(registry_count(h.space), 0);
    assert_int_equal(fixture_used(&h.fixture), 0);
    put_bytes(&h, "x", 5);
    struct binding three = find(&h, "x");
    assert_true(three.serial > two.serial);
    binding_release(&three);
    house_close(&h);
}

static void test_spaces_are_apart(void **state)
{
    struct house h;
    struct problem problem;
    struct name_space *ann, *again;
    struct binding binding;
    house_open(&h);
    assert_int_equal(registry_space(h.registry, "ann", &ann, &problem), STATUS_OK);
    assert_int_equal(registry_space(h.registry, "ann", &again, &problem), STATUS_OK);
    assert_ptr_equal(ann, again);
    put_bytes(&h, "x", 1);
    assert_int_equal(registry_find(ann, "x", &binding, &problem), STATUS_UNDEFINED);
    assert_int_equal(registry_count(ann), 0);
    assert_true(registry_name_key(ann, "x") != registry_name_key(h.space, "x"));
    house_close(&h);
}

static void test_a_commit_writes_and_binds_together(void **state)
{
    struct house h;
    struct problem problem;
    house_open(&h);
    put_bytes(&h, "x", 64);
    put_bytes(&h, "gone", 16);
    struct binding before = find(&h, "x");
    struct tensor *fresh = fixture_tensor(&h.fixture, 32);
    struct block *block = fixture_block(&h.fixture, 64);
    memset(block->data, 42, 64);
    struct registry_change changes[] = {
        {.name = "y", .tensor = fresh}, {.name = "z", .tensor = fresh}, {.name = "gone"}};
    struct registry_write writes[] = {{before.tensor->storage, block}};
    struct registry_commit commit = {3, changes, 1, writes};
    assert_int_equal(registry_commit(h.space, &commit, &problem), STATUS_OK);
    tensor_release(fresh);
    bool more;
    assert_string_equal(page(&h, "", NULL, 10, &more), "x y z");
    struct binding after = find(&h, "x");
    assert_int_equal(after.serial, before.serial);
    assert_int_equal(after.writes, before.writes + 1);
    assert_true(after.modified > before.modified);
    struct block *pin = storage_pin(after.tensor->storage);
    assert_ptr_equal(pin, block);
    block_release(pin);
    assert_int_equal(fixture_used(&h.fixture), 64 + 32);
    assert_int_equal(fixture_settled(&h.fixture), 64 + 32);
    binding_release(&before);
    binding_release(&after);
    // A write in place has been counted by storage_claim; the commit has nothing left to
    // do for it.
    struct binding x = find(&h, "x");
    assert_true(storage_claim(x.tensor->storage));
    commit = (struct registry_commit){0, NULL, 1,
                                      &(struct registry_write){x.tensor->storage, NULL}};
    assert_int_equal(registry_commit(h.space, &commit, &problem), STATUS_OK);
    assert_int_equal(storage_writes(x.tensor->storage), 2);
    binding_release(&x);
    house_close(&h);
}

static void test_repeated_names_in_one_commit(void **state)
{
    struct house h;
    struct problem problem;
    house_open(&h);
    struct tensor *a = fixture_tensor(&h.fixture, 1), *b = fixture_tensor(&h.fixture, 2);
    put(&h, "old", a);
    struct registry_change changes[] = {
        {.name = "x", .tensor = a},   {.name = "x", .tensor = b},    {.name = "old"},
        {.name = "old", .tensor = b}, {.name = "gone", .tensor = a}, {.name = "gone"}};
    struct registry_commit commit = {6, changes, 0, NULL};
    assert_int_equal(registry_commit(h.space, &commit, &problem), STATUS_OK);
    tensor_release(a);
    tensor_release(b);
    struct binding x = find(&h, "x"), old = find(&h, "old");
    assert_ptr_equal(x.tensor, b);
    assert_ptr_equal(old.tensor, b);
    assert_false(exists(&h, "gone"));
    assert_int_equal(registry_count(h.space), 2);
    binding_release(&x);
    binding_release(&old);
    assert_int_equal(fixture_used(&h.fixture), 2);
    house_close(&h);
}

static void test_a_refused_commit_changes_nothing(void **state)
{
    struct house h;
    struct problem problem;
    char name[NAME_MAX_LENGTH + 2];
    memset(name, 'x', sizeof name);
    name[NAME_MAX_LENGTH + 1] = '\0';
    house_open(&h);
    struct tensor *tensor = fixture_tensor(&h.fixture, 8);
    struct block *block = fixture_block(&h.fixture, 8);
    struct registry_change changes[] = {{.name = "y", .tensor = tensor},
                                        {.name = name, .tensor = tensor}};
    struct registry_write write = {tensor->storage, block};
    struct registry_commit commit = {2, changes, 1, &write};
    assert_int_equal(registry_commit(h.space, &commit, &problem), STATUS_NAME);
    assert_false(exists(&h, "y"));
    assert_int_equal(storage_writes(tensor->storage), 0);
    block_release(block); // still the caller's
    tensor_release(tensor);
    house_close(&h);
}

static void test_a_commit_of_many(void **state)
{
    enum { MANY = 100 };
    struct house h;
    struct problem problem;
    static char names[MANY][16];
    struct registry_change changes[MANY];
    house_open(&h);
    struct tensor *tensor = fixture_tensor(&h.fixture, 8);
    for (int i = 0; i < MANY; i++) {
        snprintf(names[i], sizeof names[i], "n%03d", i);
        changes[i] = (struct registry_change){.name = names[i], .tensor = tensor};
    }
    struct registry_commit commit = {MANY, changes, 0, NULL};
    assert_int_equal(registry_commit(h.space, &commit, &problem), STATUS_OK);
    assert_int_equal(registry_count(h.space), MANY);
    char **shared;
    int count;
    assert_int_equal(
        registry_shared_with(h.space, tensor->storage, "n050", &shared, &count, &problem),
        STATUS_OK);
    assert_int_equal(count, MANY - 1);
    for (int i = 0; i < count; i++) {
        assert_string_equal(shared[i], names[i < 50 ? i : i + 1]);
        free(shared[i]);
    }
    free(shared);
    tensor_release(tensor);
    house_close(&h);
}

static void test_shared_with_nobody(void **state)
{
    struct house h;
    struct problem problem;
    struct name_space *ann;
    char **shared = (char **)&h;
    int count = -1;
    house_open(&h);
    struct tensor *tensor = fixture_tensor(&h.fixture, 8);
    put(&h, "x", tensor);
    assert_int_equal(
        registry_shared_with(h.space, tensor->storage, "x", &shared, &count, &problem),
        STATUS_OK);
    assert_int_equal(count, 0);
    assert_null(shared);
    // Another owner's names are not told.
    assert_int_equal(registry_space(h.registry, "ann", &ann, &problem), STATUS_OK);
    assert_int_equal(
        registry_shared_with(ann, tensor->storage, NULL, &shared, &count, &problem),
        STATUS_OK);
    assert_int_equal(count, 0);
    tensor_release(tensor);
    house_close(&h);
}

static void test_rename(void **state)
{
    struct house h;
    struct problem problem;
    struct registry_attributes attributes = {.set_readonly = true,
                                             .readonly = true,
                                             .set_expires = true,
                                             .expires = now() + 1000};
    house_open(&h);
    put_bytes(&h, "a", 8);
    put_bytes(&h, "b", 9);
    assert_int_equal(registry_set_attributes(h.space, "a", &attributes, &problem),
                     STATUS_OK);
    struct binding before = find(&h, "a");
    assert_int_equal(registry_rename(h.space, "a", "b", &problem), STATUS_CONFLICT);
    assert_int_equal(registry_rename(h.space, "c", "d", &problem), STATUS_UNDEFINED);
    assert_int_equal(registry_rename(h.space, "a", "a", &problem), STATUS_OK);
    assert_int_equal(registry_rename(h.space, "a", "long.new.name", &problem), STATUS_OK);
    assert_false(exists(&h, "a"));
    struct binding after = find(&h, "long.new.name");
    assert_ptr_equal(after.tensor, before.tensor);
    assert_int_equal(after.serial, before.serial);
    assert_true(after.readonly && after.created == before.created &&
                after.expires == attributes.expires);
    assert_int_equal(fixture_settled(&h.fixture), 17);
    binding_release(&before);
    binding_release(&after);
    assert_true(registry_expire(h.space, now()) == attributes.expires);
    put(&h, "b", NULL);
    assert_int_equal(registry_rename(h.space, "long.new.name", "b", &problem), STATUS_OK);
    bool more;
    assert_string_equal(page(&h, "", NULL, 10, &more), "b");
    char name[NAME_MAX_LENGTH + 2];
    memset(name, 'x', sizeof name);
    name[NAME_MAX_LENGTH + 1] = '\0';
    assert_int_equal(registry_rename(h.space, "b", name, &problem), STATUS_NAME);
    house_close(&h);
}

static void test_attributes_stay_only_if_asked(void **state)
{
    struct house h;
    struct problem problem;
    struct registry_attributes attributes = {.set_readonly = true,
                                             .readonly = true,
                                             .set_pinned = true,
                                             .pinned = true,
                                             .set_expires = true,
                                             .expires = now() + 1000};
    house_open(&h);
    put_bytes(&h, "x", 8);
    assert_int_equal(registry_set_attributes(h.space, "nope", &attributes, &problem),
                     STATUS_UNDEFINED);
    assert_int_equal(registry_set_attributes(h.space, "x", &attributes, &problem),
                     STATUS_OK);
    struct tensor *tensor = fixture_tensor(&h.fixture, 8);
    struct registry_change change = {
        .name = "x", .tensor = tensor, .keep_attributes = true};
    struct registry_commit commit = {1, &change, 0, NULL};
    assert_int_equal(registry_commit(h.space, &commit, &problem), STATUS_OK);
    struct binding kept = find(&h, "x");
    assert_true(kept.readonly && kept.pinned && kept.expires == attributes.expires);
    binding_release(&kept);
    attributes = (struct registry_attributes){.set_pinned = true};
    assert_int_equal(registry_set_attributes(h.space, "x", &attributes, &problem),
                     STATUS_OK);
    kept = find(&h, "x");
    assert_true(kept.readonly && !kept.pinned && kept.expires != 0);
    binding_release(&kept);
    put(&h, "x", tensor);
    struct binding reset = find(&h, "x");
    assert_false(reset.readonly || reset.pinned || reset.expires != 0);
    assert_true(registry_expire(h.space, now()) == 0);
    binding_release(&reset);
    tensor_release(tensor);
    house_close(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_which_names_are_names),
        cmocka_unit_test(test_nearest_name),
        cmocka_unit_test(test_bind_find_rebind_delete),
        cmocka_unit_test(test_spaces_are_apart),
        cmocka_unit_test(test_a_commit_writes_and_binds_together),
        cmocka_unit_test(test_repeated_names_in_one_commit),
        cmocka_unit_test(test_a_refused_commit_changes_nothing),
        cmocka_unit_test(test_a_commit_of_many),
        cmocka_unit_test(test_shared_with_nobody),
        cmocka_unit_test(test_rename),
        cmocka_unit_test(test_attributes_stay_only_if_asked),
    };
    return cmocka_run_group_tests_name("registry", tests, NULL, NULL);
}
