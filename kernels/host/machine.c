// SPDX-License-Identifier: Apache-2.0
// Facts from /proc and /sys (machine.h).
#include "kernels/host/machine.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernels/base/size.h"

// The beginning of a file, terminated; false if it cannot be read.
static bool read_text(const char *path, char *text, size_t size)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return false;
    size_t length = 0;
    ssize_t count = 0;
    while (length < size - 1 &&
           (count = read(file, text + length, size - 1 - length)) > 0)
        length += (size_t)count;
    close(file);
    text[length] = '\0';
    return count >= 0;
}

// The value of the first line "name   : value" or "name: value" in text; NULL if there is
// none.
static const char *line_value(const char *text, const char *name)
{
    size_t length = strlen(name);
    for (const char *line = text; line != NULL; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, name, length) != 0)
            continue;
        const char *at = line + length + strspn(line + length, " \t");
        if (*at == ':')
            return at + 1 + strspn(at + 1, " \t");
    }
    return NULL;
}

void machine_processor(char *name, size_t size)
{
    char text[4096];
    const char *value = NULL;
    if (read_text("/proc/cpuinfo", text, sizeof text)) {
        value = line_value(text, "model name"); // x86
        value = value != NULL ? value : line_value(text, "Model");
    }
    if (value == NULL || *value == '\n' || *value == '\0')
        value = "unknown processor";
    snprintf(name, size, "%.*s", (int)strcspn(value, "\n"), value);
}

int64_t meminfo_bytes(const char *text, const char *name)
{
    const char *value = line_value(text, name);
    int64_t bytes;
    if (value == NULL || *value < '0' || *value > '9' ||
        !size_multiply(strtoll(value, NULL, 10), 1024, &bytes))
        return -1;
    return bytes;
}

// The number in a file of the control group; -1 if there is none ("max").
static int64_t read_number(const char *folder, const char *file)
{
    char path[600], text[64];
    int length = snprintf(path, sizeof path, "%s/%s", folder, file);
    if (length < 0 || (size_t)length >= sizeof path ||
        !read_text(path, text, sizeof text) || text[0] < '0' || text[0] > '9')
        return -1;
    return strtoll(text, NULL, 10);
}

// Lowers the numbers to what the process's control group and those around it allow.
static void apply_control_groups(struct machine_memory *memory)
{
    char text[2048], folder[512];
    if (!read_text("/proc/self/cgroup", text, sizeof text))
        return;
    const char *path = strstr(text, "0::/");
    if (path == NULL || (path != text && path[-1] != '\n'))
        return;
    path += 3;
    int length = snprintf(folder, sizeof folder, "/sys/fs/cgroup%.*s",
                          (int)strcspn(path, "\n"), path);
    if (length < 0 || (size_t)length >= sizeof folder)
        return;
    static const char root[] = "/sys/fs/cgroup";
    while (strlen(folder) >= sizeof root - 1) {
        int64_t limit = read_number(folder, "memory.max");
        int64_t current = read_number(folder, "memory.current");
        if (limit >= 0 && current >= 0 && limit < memory->total) {
            int64_t rest = limit > current ? limit - current : 0;
            memory->total = limit;
            memory->used = current;
            memory->available = rest < memory->available ? rest : memory->available;
        }
        char *slash = strrchr(folder, '/');
        *slash = '\0';
    }
}

void machine_memory(struct machine_memory *out)
{
    char text[4096];
    *out = (struct machine_memory){0, 0, 0};
    if (!read_text("/proc/meminfo", text, sizeof text))
        return;
    int64_t total = meminfo_bytes(text, "MemTotal");
    int64_t available = meminfo_bytes(text, "MemAvailable");
    out->total = total < 0 ? 0 : total;
    out->available = available < 0 ? 0 : available;
    out->used = out->total - out->available;
    apply_control_groups(out);
}
