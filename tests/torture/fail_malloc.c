// SPDX-License-Identifier: Apache-2.0
// LD_PRELOAD library that makes the n-th allocation fail. $TORTURE_FILE is a file of two
// int64: `countdown` (0: off; the allocation that brings it to 0 fails) and `failed` (how
// many have). The test writes it while the daemon runs; both map it. glibc only: the real
// functions are its __libc_ ones.
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

struct control {
    _Atomic int64_t countdown, failed;
};
static struct control *control;

__attribute__((constructor)) static void attach(void)
{
    const char *path = getenv("TORTURE_FILE");
    int fd = path != NULL ? open(path, O_RDWR) : -1;
    if (fd < 0)
        return;
    void *memory = (void *)syscall(SYS_mmap, NULL, sizeof *control,
                                   PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (memory != MAP_FAILED)
        control = memory;
}

// The simulator is C++ and stands for a driver; its own allocations are not what is
// tested.
static bool is_simulator(const void *caller)
{
    static const char *const libraries[] = {"libcudart", "libcublas", "libcuda.so",
                                            "libnvidia-ml", "libstdc++"};
    Dl_info info;
    if (dladdr(caller, &info) == 0 || info.dli_fname == NULL)
        return false;
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++)
        if (strstr(info.dli_fname, libraries[i]) != NULL)
            return true;
    return false;
}

static bool must_fail(const void *caller)
{
    if (control == NULL ||
        atomic_load_explicit(&control->countdown, memory_order_relaxed) <= 0)
        return false;
    if (is_simulator(caller) || atomic_fetch_sub(&control->countdown, 1) != 1)
        return false;
    atomic_fetch_add(&control->failed, 1);
    errno = ENOMEM;
    return true;
}

void *malloc(size_t size)
{
    return must_fail(__builtin_return_address(0)) ? NULL : __libc_malloc(size);
}
void *calloc(size_t count, size_t size)
{
    return must_fail(__builtin_return_address(0)) ? NULL : __libc_calloc(count, size);
}
void *realloc(void *memory, size_t size)
{
    return must_fail(__builtin_return_address(0)) ? NULL : __libc_realloc(memory, size);
}
void *memalign(size_t alignment, size_t size)
{
    return must_fail(__builtin_return_address(0)) ? NULL
                                                  : __libc_memalign(alignment, size);
}
void *aligned_alloc(size_t alignment, size_t size)
{
    return memalign(alignment, size);
}
int posix_memalign(void **out, size_t alignment, size_t size)
{
    if (must_fail(__builtin_return_address(0)))
        return ENOMEM;
    *out = __libc_memalign(alignment, size);
    return *out != NULL ? 0 : ENOMEM;
}
void *mmap(void *address, size_t length, int protection, int flags, int fd, off_t offset)
{
    if ((flags & MAP_ANONYMOUS) && must_fail(__builtin_return_address(0)))
        return MAP_FAILED;
    return (void *)syscall(SYS_mmap, address, length, protection, flags, fd, offset);
}
