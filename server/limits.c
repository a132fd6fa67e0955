// SPDX-License-Identifier: Apache-2.0
// See limits.h. cgroup v2 files first, then those of v1.
#include "server/limits.h"

#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>

enum { PATH_SIZE = 4096 };

// The first line of a file. False if there is none.
static bool read_line(const char *path, char *line, size_t size)
{
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return false;
    bool read = fgets(line, (int)size, file) != NULL;
    fclose(file);
    return read;
}

// The process's cgroup v2 ("0::/path"), "" if it has none.
static void own_cgroup(const char *root, char *path, size_t size)
{
    char name[PATH_SIZE], line[PATH_SIZE];
    snprintf(name, sizeof name, "%.1024s/proc/self/cgroup", root);
    path[0] = '\0';
    FILE *file = fopen(name, "re");
    if (file == NULL)
        return;
    while (fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, "0::/", 4) == 0) {
            line[strcspn(line, "\n")] = '\0';
            snprintf(path, size, "%.1000s", line + 3);
        }
    fclose(file);
}

// The next cgroup towards the root; false at the root.
static bool cgroup_parent(char *path)
{
    char *slash = strrchr(path, '/');
    if (slash == NULL)
        return false;
    *slash = '\0';
    return true;
}

static void lower(int64_t *limit, const char *path)
{
    char line[128];
    char *end;
    if (!read_line(path, line, sizeof line))
        return;
    long long value = strtoll(line, &end, 10);
    if (end != line && value > 0 && value < *limit)
        *limit = value; // "max" is no number
}

int64_t limits_memory_limit(const char *root)
{
    struct sysinfo info;
    int64_t limit = INT64_MAX;
    if (sysinfo(&info) == 0)
        limit = (int64_t)info.totalram * info.mem_unit;
    char group[1024], path[PATH_SIZE];
    own_cgroup(root, group, sizeof group);
    do {
        snprintf(path, sizeof path, "%.1024s/sys/fs/cgroup%s/memory.max", root, group);
        lower(&limit, path);
    } while (cgroup_parent(group));
    snprintf(path, sizeof path, "%.1024s/sys/fs/cgroup/memory/memory.limit_in_bytes",
             root);
    lower(&limit, path);
    return limit;
}

// Cores of a quota "200000 100000" (microseconds a period); 0 if there is none.
static int quota_cores(const char *path)
{
    char line[128];
    long long quota, period;
    if (!read_line(path, line, sizeof line) ||
        sscanf(line, "%lld %lld", &quota, &period) != 2 || quota <= 0 || period <= 0)
        return 0;
    return (int)((quota + period - 1) / period);
}

int limits_cores(const char *root)
{
    cpu_set_t set;
    int cores = 1;
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        cores = CPU_COUNT(&set);
    char group[1024], path[PATH_SIZE];
    own_cgroup(root, group, sizeof group);
    do {
        snprintf(path, sizeof path, "%.1024s/sys/fs/cgroup%s/cpu.max", root, group);
        int quota = quota_cores(path);
        if (quota > 0 && quota < cores)
            cores = quota;
    } while (cgroup_parent(group));
    return cores;
}

int64_t limits_raise_files(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return 1024;
    rlim_t had = limit.rlim_cur;
    limit.rlim_cur = limit.rlim_max;
    if (setrlimit(RLIMIT_NOFILE, &limit) != 0)
        return (int64_t)had;
    return limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur > INT32_MAX
               ? INT32_MAX
               : (int64_t)limit.rlim_cur;
}
