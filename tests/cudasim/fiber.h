// SPDX-License-Identifier: Apache-2.0
// Fibers: stacks of their own that one OS thread switches between, known to
// AddressSanitizer and ThreadSanitizer. A fiber belongs to the thread that made it.
#ifndef CUDASIM_FIBER_H
#define CUDASIM_FIBER_H

namespace cudasim
{

struct fiber;
// A fiber that will run entry(argument), which must never return.
fiber *fiber_create(void (*entry)(void *), void *argument);
void fiber_destroy(
    fiber *one); // not while it is inside entry's work, unless its stack is to be lost
// From the thread's own stack to the fiber, until it calls fiber_leave.
void fiber_enter(fiber *one);
// From inside a fiber back to the thread's own stack.
void fiber_leave(fiber *one);

// What ThreadSanitizer must know about an order that switching alone does not show it.
void order_release(void *place);
void order_acquire(void *place);
// Whether each lane needs a fiber of its own to be told apart by a sanitizer.
bool fiber_tells_lanes_apart();

} // namespace cudasim
#endif
