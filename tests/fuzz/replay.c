// SPDX-License-Identifier: Apache-2.0
// Runs the fuzz targets over files, without libFuzzer.
//   replay                 every file of tests/fuzz/corpus/TARGET, each also cut short
//                          everywhere
//   replay TARGET FILE...  the files, or all files of a folder, through one target
// A broken promise aborts; the last line is "N passed, 0 failed".
#include "tests/fuzz/fuzz.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

enum { MAX_FILE = 1 << 20, MAX_TRUNCATED = 512 };

static const struct {
    const char *name;
    int (*run)(const uint8_t *data, size_t size);
} targets[] = {{"npy", fuzz_npy},
               {"json", fuzz_json},
               {"csv", fuzz_csv},
               {"index", fuzz_index},
               {"program", fuzz_program},
               {"eval", fuzz_eval}};
enum { N_TARGETS = sizeof targets / sizeof *targets };

static int passed, failed;

// A copy of exactly size bytes, so that sanitizers see one byte too many.
static void run_copy(int target, const uint8_t *data, size_t size)
{
    uint8_t *copy = malloc(size > 0 ? size : 1);
    FUZZ_REQUIRE(copy != NULL);
    memcpy(copy, data, size);
    targets[target].run(copy, size);
    free(copy);
}

static void run_file(int target, const char *path)
{
    static uint8_t data[MAX_FILE];
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        perror(path);
        failed++;
        return;
    }
    size_t size = fread(data, 1, sizeof data, file);
    fclose(file);
    run_copy(target, data, size);
    for (size_t length = 0; length < size && size <= MAX_TRUNCATED; length++)
        run_copy(target, data, length);
    passed++;
}

static void run_folder(int target, const char *path)
{
    DIR *folder = opendir(path);
    if (folder == NULL) {
        perror(path);
        failed++;
        return;
    }
    int before = passed;
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        char name[1024];
        if (entry->d_name[0] == '.')
            continue;
        snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
        run_file(target, name);
    }
    closedir(folder);
    failed += passed == before; // an empty corpus shows nothing
}

static void run_path(int target, const char *path)
{
    struct stat info;
    if (stat(path, &info) == 0 && S_ISDIR(info.st_mode))
        run_folder(target, path);
    else
        run_file(target, path);
}

int main(int argc, char **argv)
{
    int wanted = -1;
    for (int i = 0; i < N_TARGETS; i++) {
        char path[64];
        snprintf(path, sizeof path, "tests/fuzz/corpus/%s", targets[i].name);
        if (argc == 1)
            run_folder(i, path);
        else if (strcmp(argv[1], targets[i].name) == 0)
            wanted = i;
    }
    if (argc > 1 && (wanted < 0 || argc < 3)) {
        fprintf(stderr, "usage: replay [npy|json|csv|index|program FILE...]\n");
        return 2;
    }
    for (int i = 2; i < argc; i++)
        run_path(wanted, argv[i]);
    printf("%d passed, %d failed\n", passed, failed);
    return failed > 0;
}
