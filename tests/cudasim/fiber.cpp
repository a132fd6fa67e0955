// SPDX-License-Identifier: Apache-2.0
// Compiled without -fsanitize even in sanitizer builds (CUDASIM_ASAN or CUDASIM_TSAN is
// defined then): this file tells the sanitizers about the switches itself.
#include "fiber.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <sys/mman.h>

#if !defined(__x86_64__)
#include <ucontext.h>
#endif

#ifdef CUDASIM_ASAN
extern "C" void __sanitizer_start_switch_fiber(void **save, const void *bottom,
                                               size_t size);
extern "C" void __sanitizer_finish_switch_fiber(void *save, const void **bottom,
                                                size_t *size);
#define ASAN(...) __VA_ARGS__
#else
#define ASAN(...)
#endif
#ifdef CUDASIM_TSAN
extern "C" void *__tsan_create_fiber(unsigned flags);
extern "C" void __tsan_destroy_fiber(void *one);
extern "C" void *__tsan_get_current_fiber(void);
extern "C" void __tsan_switch_to_fiber(void *one, unsigned flags);
extern "C" void __tsan_acquire(void *place);
extern "C" void __tsan_release(void *place);
enum { NO_SYNCHRONIZATION = 1 };
#define TSAN(...) __VA_ARGS__
#else
#define TSAN(...)
#endif

namespace cudasim
{

namespace
{
enum : size_t {
#if defined(CUDASIM_ASAN) || defined(CUDASIM_TSAN)
    STACK_BYTES = 512 << 10,
#else
    STACK_BYTES = 128 << 10,
#endif
    GUARD_BYTES = 64 << 10, // at least a page everywhere
};
} // namespace

struct fiber {
    void *mapping;
    void (*entry)(void *);
    void *argument;
#if defined(__x86_64__)
    void *stack_pointer, *thread_stack_pointer;
#else
    ucontext_t context, thread_context;
#endif
    ASAN(const void *thread_stack; size_t thread_stack_bytes;
         void *fake_stack, *thread_fake_stack;)
    TSAN(void *tsan, *thread_tsan;)
};

#if defined(__x86_64__)
// Saves what a call must preserve on the current stack, stores the stack pointer,
// continues on the other stack.
asm(".text\n"
    ".type cudasim_switch, @function\n"
    "cudasim_switch:\n"
    "  push %rbp\n  push %rbx\n  push %r12\n  push %r13\n  push %r14\n  push %r15\n"
    "  mov %rsp, (%rdi)\n"
    "  mov %rsi, %rsp\n"
    "  pop %r15\n  pop %r14\n  pop %r13\n  pop %r12\n  pop %rbx\n  pop %rbp\n"
    "  ret\n"
    ".size cudasim_switch, .-cudasim_switch\n");
extern "C" void cudasim_switch(void **save, void *to);
#endif

static char *stack_of(fiber *one)
{
    return static_cast<char *>(one->mapping) + GUARD_BYTES;
}

static thread_local fiber *starting;

static void first_entry()
{
    fiber *one = starting;
    ASAN(__sanitizer_finish_switch_fiber(nullptr, &one->thread_stack,
                                         &one->thread_stack_bytes));
    one->entry(one->argument);
    abort();
}

fiber *fiber_create(void (*entry)(void *), void *argument)
{
    fiber *one = new fiber{};
    one->mapping = mmap(nullptr, GUARD_BYTES + STACK_BYTES, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (one->mapping == MAP_FAILED) {
        perror("cudasim: no memory for the stack of a lane");
        abort();
    }
    mprotect(one->mapping, GUARD_BYTES, PROT_NONE);
    one->entry = entry;
    one->argument = argument;
#if defined(__x86_64__)
    uintptr_t top =
        reinterpret_cast<uintptr_t>(stack_of(one) + STACK_BYTES) & ~uintptr_t(15);
    void **frame = reinterpret_cast<void **>(top);
    *--frame = nullptr; // where first_entry would return to
    *--frame = reinterpret_cast<void *>(first_entry);
    for (int i = 0; i < 6; i++)
        *--frame = nullptr;
    one->stack_pointer = frame;
#else
    getcontext(&one->context);
    one->context.uc_stack.ss_sp = stack_of(one);
    one->context.uc_stack.ss_size = STACK_BYTES;
    makecontext(&one->context, first_entry, 0);
#endif
    TSAN(one->tsan = __tsan_create_fiber(0));
    return one;
}

void fiber_destroy(fiber *one)
{
    TSAN(__tsan_destroy_fiber(one->tsan));
    munmap(one->mapping, GUARD_BYTES + STACK_BYTES);
    delete one;
}

void fiber_enter(fiber *one)
{
    starting = one;
    ASAN(__sanitizer_start_switch_fiber(&one->thread_fake_stack, stack_of(one),
                                        STACK_BYTES));
    TSAN(one->thread_tsan = __tsan_get_current_fiber());
    TSAN(__tsan_switch_to_fiber(one->tsan, NO_SYNCHRONIZATION));
#if defined(__x86_64__)
    cudasim_switch(&one->thread_stack_pointer, one->stack_pointer);
#else
    swapcontext(&one->thread_context, &one->context);
#endif
    ASAN(__sanitizer_finish_switch_fiber(one->thread_fake_stack, nullptr, nullptr));
}

void fiber_leave(fiber *one)
{
    ASAN(__sanitizer_start_switch_fiber(&one->fake_stack, one->thread_stack,
                                        one->thread_stack_bytes));
    TSAN(__tsan_switch_to_fiber(one->thread_tsan, NO_SYNCHRONIZATION));
#if defined(__x86_64__)
    cudasim_switch(&one->stack_pointer, one->thread_stack_pointer);
#else
    swapcontext(&one->context, &one->thread_context);
#endif
    ASAN(__sanitizer_finish_switch_fiber(one->fake_stack, &one->thread_stack,
                                         &one->thread_stack_bytes));
}

void order_release(void *place)
{
    TSAN(__tsan_release(place));
    (void)place;
}

void order_acquire(void *place)
{
    TSAN(__tsan_acquire(place));
    (void)place;
}

bool fiber_tells_lanes_apart()
{
#ifdef CUDASIM_TSAN
    return true;
#else
    return false;
#endif
}

} // namespace cudasim
