// SPDX-License-Identifier: Apache-2.0
// The lanes of a thread block. Compiled without -fsanitize, as fiber.cpp is.
//
// A fiber takes lanes that have not started, one after another, and runs each to its end:
// kernels without barriers switch once a block. A lane that waits keeps its fiber, and
// another fiber takes the lanes that follow. When no lane can run, the waits that are
// complete are released: a barrier when every unfinished lane is at it, an exchange when
// every lane of its mask is in the same one. If none is complete, the block is divergent.
//
// Order shown to ThreadSanitizer: launch before lanes, lanes before the block's end,
// arrivals at a wait before departures. Two lanes are otherwise unordered, so that a
// missing barrier is a race.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <numeric>
#include <random>
#include <vector>

#include "fiber.h"
#include "sim.h"

__thread struct cudasim_lane_view *cudasim_lane;

namespace cudasim
{

namespace
{
enum : unsigned { MOST_LANES = 1024, WARP = 32 };
enum class lane_state { fresh, ready, at_barrier, in_exchange, done };

struct scheduler;
struct lane {
    cudasim_lane_view view; // first: cudasim_lane points here
    lane_state state;
    fiber *on;
    enum cudasim_exchange kind;
    unsigned mask;
    void *value;
    unsigned bytes;
    int source;
    unsigned char sent[16];
};

struct worker_fiber {
    fiber *context;
    scheduler *home;
    int lane; // under fiber_tells_lanes_apart: the only one it runs
};

// One for each thread that runs blocks.
struct scheduler {
    lane lanes[MOST_LANES];
    std::vector<worker_fiber *> fibers, idle;
    std::vector<unsigned> order;
    size_t next_fresh = 0;
    unsigned count = 0;
    const std::function<void()> *body = nullptr;
    char started, waited, finished; // places for order_release and order_acquire

    ~scheduler() { discard_fibers(); }
    const char *run(const launch_shape &shape, uint3 position, void *shared);
    void run_lane(lane &one);
    void resume(lane &one);
    void start_fresh();
    bool release_barrier();
    bool release_exchanges();
    bool exchange_complete(const lane *warp, unsigned lanes, unsigned i) const;
    void exchange(lane *warp, unsigned lanes, unsigned mask);
    worker_fiber *fiber_for(unsigned number);
    void discard_fibers();
};

scheduler &own()
{
    static thread_local scheduler one;
    return one;
}

lane *current()
{
    return reinterpret_cast<lane *>(cudasim_lane);
}

void copy(void *to, const void *from, unsigned bytes) // memcpy would be intercepted
{
    volatile unsigned char *t = static_cast<unsigned char *>(to);
    const volatile unsigned char *f = static_cast<const unsigned char *>(from);
    for (unsigned i = 0; i < bytes; i++)
        t[i] = f[i];
}

void fiber_main(void *argument)
{
    worker_fiber *self = static_cast<worker_fiber *>(argument);
    scheduler &home = *self->home;
    for (;;) {
        if (self->lane >= 0) {
            home.lanes[self->lane].on = self->context;
            home.run_lane(home.lanes[self->lane]);
        } else {
            while (home.next_fresh < home.count) {
                lane &one = home.lanes[home.order[home.next_fresh++]];
                one.on = self->context;
                home.run_lane(one);
            }
            home.idle.push_back(self);
        }
        fiber_leave(self->context);
    }
}

// On the lane's fiber: gives way until the wait is over.
void give_way(lane_state state)
{
    lane *self = current();
    scheduler &home = own();
    self->state = state;
    order_release(&home.waited);
    fiber_leave(self->on);
    order_acquire(&home.waited);
}
} // namespace

void scheduler::run_lane(lane &one)
{
    cudasim_lane = &one.view;
    order_acquire(&started);
    (*body)();
    order_release(&finished);
    one.state = lane_state::done;
}

void scheduler::resume(lane &one)
{
    cudasim_lane = &one.view;
    fiber_enter(one.on);
}

worker_fiber *scheduler::fiber_for(unsigned number)
{
    bool apart = fiber_tells_lanes_apart();
    if (apart) {
        for (worker_fiber *one : fibers)
            if (one->lane == static_cast<int>(number))
                return one;
    } else if (!idle.empty()) {
        worker_fiber *one = idle.back();
        idle.pop_back();
        return one;
    }
    worker_fiber *one =
        new worker_fiber{nullptr, this, apart ? static_cast<int>(number) : -1};
    one->context = fiber_create(fiber_main, one);
    fibers.push_back(one);
    return one;
}

// Starts every lane; returns when each has finished or waits.
void scheduler::start_fresh()
{
    while (next_fresh < count) {
        unsigned number = order[next_fresh];
        if (fiber_tells_lanes_apart())
            next_fresh++;
        fiber_enter(fiber_for(number)->context);
    }
}

bool scheduler::release_barrier()
{
    bool some = false;
    for (unsigned i = 0; i < count; i++) {
        if (lanes[i].state == lane_state::in_exchange)
            return false;
        some |= lanes[i].state == lane_state::at_barrier;
    }
    for (unsigned i = 0; some && i < count; i++)
        if (lanes[i].state == lane_state::at_barrier)
            lanes[i].state = lane_state::ready;
    return some;
}

// Whether all lanes of the mask of lane i are in the same exchange (or have ended).
bool scheduler::exchange_complete(const lane *warp, unsigned lanes_in_warp,
                                  unsigned i) const
{
    if (!(warp[i].mask >> i & 1))
        return false;
    for (unsigned j = 0; j < lanes_in_warp; j++) {
        if (!(warp[i].mask >> j & 1) || warp[j].state == lane_state::done)
            continue;
        if (warp[j].state != lane_state::in_exchange || warp[j].mask != warp[i].mask ||
            warp[j].kind != warp[i].kind)
            return false;
    }
    return true;
}

void scheduler::exchange(lane *warp, unsigned lanes_in_warp, unsigned mask)
{
    unsigned votes = 0;
    for (unsigned i = 0; i < lanes_in_warp; i++) {
        if (!(mask >> i & 1) || warp[i].state != lane_state::in_exchange)
            continue;
        if (warp[i].kind == CUDASIM_BALLOT && *static_cast<unsigned *>(warp[i].value))
            votes |= 1u << i;
        copy(warp[i].sent, warp[i].value, warp[i].bytes);
    }
    for (unsigned i = 0; i < lanes_in_warp; i++) {
        lane &one = warp[i];
        if (!(mask >> i & 1) || one.state != lane_state::in_exchange)
            continue;
        if (one.kind == CUDASIM_BALLOT)
            copy(one.value, &votes, sizeof votes);
        unsigned from = static_cast<unsigned>(one.source);
        bool present = one.kind == CUDASIM_SHUFFLE && from < lanes_in_warp &&
                       (mask >> from & 1) && warp[from].kind == CUDASIM_SHUFFLE &&
                       warp[from].state != lane_state::done;
        if (present)
            copy(one.value, warp[from].sent, one.bytes);
        else if (one.kind == CUDASIM_SHUFFLE)
            for (unsigned b = 0; b < one.bytes;
                 b++) // undefined on the device: visible here
                static_cast<volatile unsigned char *>(one.value)[b] = 0xff;
    }
    for (unsigned i = 0; i < lanes_in_warp; i++)
        if ((mask >> i & 1) && warp[i].state == lane_state::in_exchange)
            warp[i].state = lane_state::ready;
}

bool scheduler::release_exchanges()
{
    bool some = false;
    for (unsigned first = 0; first < count; first += WARP) {
        unsigned in_warp = std::min<unsigned>(WARP, count - first);
        for (unsigned i = 0; i < in_warp; i++) {
            lane *warp = lanes + first;
            if (warp[i].state == lane_state::in_exchange &&
                exchange_complete(warp, in_warp, i)) {
                exchange(warp, in_warp, warp[i].mask);
                some = true;
            }
        }
    }
    return some;
}

// Also after a divergent block, whose fibers cannot be used again.
void scheduler::discard_fibers()
{
    for (worker_fiber *one : fibers) {
        fiber_destroy(one->context);
        delete one;
    }
    fibers.clear();
    idle.clear();
}

const char *scheduler::run(const launch_shape &shape, uint3 position, void *shared)
{
    count = shape.block.x * shape.block.y * shape.block.z;
    order.resize(count);
    std::iota(order.begin(), order.end(), 0u);
    if (shape.seed != 0)
        std::shuffle(order.begin(), order.end(), std::minstd_rand(shape.seed));
    for (unsigned i = 0; i < count; i++) {
        const dim3 &size = shape.block;
        lanes[i].view = {{i % size.x, i / size.x % size.y, i / (size.x * size.y)},
                         position,
                         size,
                         shape.grid,
                         shared,
                         i % WARP};
        lanes[i].state = lane_state::fresh;
    }
    next_fresh = 0;
    order_release(&started);
    start_fresh();
    while (release_exchanges() || release_barrier())
        for (unsigned i = 0; i < count; i++)
            if (lanes[order[i]].state == lane_state::ready)
                resume(lanes[order[i]]);
    for (unsigned i = 0; i < count; i++) {
        if (lanes[i].state != lane_state::done) {
            order_acquire(&waited);
            order_acquire(&finished);
            discard_fibers();
            return "divergent barrier or exchange: some threads wait for others that "
                   "never come";
        }
    }
    order_acquire(&finished);
    return nullptr;
}

const char *run_block(const launch_shape &shape, uint3 position,
                      const std::function<void()> &body)
{
    static std::mutex one_at_a_time; // __shared__ variables are static ones
    std::lock_guard<std::mutex> lock(one_at_a_time);
    scheduler &home = own();
    void *shared = shape.shared_bytes ? malloc(shape.shared_bytes) : nullptr;
    if (shared)
        for (size_t i = 0; i < shape.shared_bytes; i++)
            static_cast<volatile unsigned char *>(shared)[i] = 0xcb;
    home.body = &body;
    const char *error = home.run(shape, position, shared);
    cudasim_lane = nullptr;
    free(shared);
    return error;
}

} // namespace cudasim

using namespace cudasim;

extern "C" void cudasim_barrier(void)
{
    give_way(lane_state::at_barrier);
}

extern "C" void cudasim_exchange(enum cudasim_exchange kind, unsigned mask, void *value,
                                 unsigned bytes, int source)
{
    lane *self = current();
    unsigned lanes_in_block =
        self->view.block_size.x * self->view.block_size.y * self->view.block_size.z;
    unsigned number = static_cast<unsigned>(self - own().lanes);
    unsigned in_warp = std::min<unsigned>(WARP, lanes_in_block - number / WARP * WARP);
    self->kind = kind;
    self->mask = in_warp < WARP ? mask & ((1u << in_warp) - 1) : mask;
    self->value = value;
    self->bytes = bytes;
    self->source = source;
    give_way(lane_state::in_exchange);
}
