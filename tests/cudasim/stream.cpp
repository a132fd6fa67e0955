// SPDX-License-Identifier: Apache-2.0
// Streams and events: each stream is a thread with a queue, so that everything the
// program launches is as asynchronous as on a device. The default stream, with its
// implicit ordering, is not simulated: using it is an error.
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <set>
#include <thread>
#include <unistd.h>

#include "sim.h"

using namespace cudasim;
using steady = std::chrono::steady_clock;

struct CUstream_st {
    const int device;
    std::mutex mutex;
    std::condition_variable changed;
    std::deque<std::function<void()>> queue;
    uint64_t posted = 0, done = 0; // numbers of work items
    bool stopping = false;
    std::thread thread;

    explicit CUstream_st(int number) : device(number), thread([this] { run(); }) {}
    ~CUstream_st()
    {
        {
            std::lock_guard<std::mutex> lock(mutex);
            stopping = true;
        }
        changed.notify_all();
        thread.join();
    }
    void wait(uint64_t number)
    {
        std::unique_lock<std::mutex> lock(mutex);
        changed.wait(lock, [&] { return done >= number; });
    }
    bool reached(uint64_t number)
    {
        std::lock_guard<std::mutex> lock(mutex);
        return done >= number;
    }
    uint64_t post(std::function<void()> work)
    {
        uint64_t number;
        {
            std::lock_guard<std::mutex> lock(mutex);
            queue.push_back(std::move(work));
            number = ++posted;
        }
        changed.notify_all();
        return number;
    }

  private:
    void run()
    {
        static const long jitter = setting("CUDASIM_JITTER_US", 0);
        unsigned random = 12345;
        set_current_device(device);
        for (;;) {
            std::function<void()> work;
            {
                std::unique_lock<std::mutex> lock(mutex);
                changed.wait(lock, [&] { return stopping || !queue.empty(); });
                if (queue.empty())
                    return;
                work = std::move(queue.front());
                queue.pop_front();
            }
            random = random * 1103515245u + 12345u;
            if (jitter > 0)
                usleep(static_cast<useconds_t>(random / 65536 %
                                               static_cast<unsigned long>(jitter)));
            work();
            work = nullptr;
            {
                std::lock_guard<std::mutex> lock(mutex);
                done++;
            }
            changed.notify_all();
        }
    }
};

struct CUevent_st {
    std::mutex mutex;
    bool timed;
    CUstream_st *stream = nullptr; // of the last record
    uint64_t number = 0;
    steady::time_point time;
};

namespace
{
struct state {
    std::mutex mutex;
    std::set<CUstream_st *> streams;
};
state &all()
{
    static state *one = new state;
    return *one;
}

struct recorded {
    CUstream_st *stream;
    uint64_t number;
};
recorded last_record(cudaEvent_t event)
{
    std::lock_guard<std::mutex> lock(event->mutex);
    return {event->stream, event->number};
}
cudaError_t sticky()
{
    return sticky_error(current_device());
}
} // namespace

namespace cudasim
{

cudaError_t enqueue(cudaStream_t stream, std::function<void()> work)
{
    if (!stream)
        return cudaErrorNotSupported;
    stream->post(std::move(work));
    return cudaSuccess;
}

int device_of_stream(cudaStream_t stream)
{
    return stream ? stream->device : current_device();
}

void wait_for_device(int device)
{
    std::lock_guard<std::mutex> lock(all().mutex);
    for (CUstream_st *stream : all().streams) {
        if (stream->device != device)
            continue;
        uint64_t number;
        {
            std::lock_guard<std::mutex> inner(stream->mutex);
            number = stream->posted;
        }
        stream->wait(number);
    }
}

} // namespace cudasim

extern "C" {

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *out, unsigned)
{
    cudaError_t error = enter("cudaStreamCreateWithFlags");
    if (error)
        return answer(error);
    *out = new CUstream_st(current_device());
    std::lock_guard<std::mutex> lock(all().mutex);
    all().streams.insert(*out);
    return cudaSuccess;
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    {
        std::lock_guard<std::mutex> lock(all().mutex);
        if (all().streams.erase(stream) == 0)
            return answer(cudaErrorInvalidResourceHandle);
    }
    delete stream;
    return answer(enter("cudaStreamDestroy"));
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    cudaError_t error = enter("cudaStreamSynchronize");
    if (error)
        return answer(error);
    if (!stream)
        return answer(cudaErrorNotSupported);
    uint64_t number;
    {
        std::lock_guard<std::mutex> lock(stream->mutex);
        number = stream->posted;
    }
    stream->wait(number);
    return answer(sticky());
}

cudaError_t cudaStreamQuery(cudaStream_t stream)
{
    cudaError_t error = enter("cudaStreamQuery");
    if (error)
        return answer(error);
    if (!stream)
        return answer(cudaErrorNotSupported);
    std::lock_guard<std::mutex> lock(stream->mutex);
    return stream->done == stream->posted ? cudaSuccess : cudaErrorNotReady;
}

cudaError_t cudaDeviceSynchronize(void)
{
    cudaError_t error = enter("cudaDeviceSynchronize");
    if (error)
        return answer(error);
    wait_for_device(current_device());
    return answer(sticky());
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *out, unsigned flags)
{
    cudaError_t error = enter("cudaEventCreateWithFlags");
    if (error)
        return answer(error);
    *out = new CUevent_st;
    (*out)->timed = !(flags & cudaEventDisableTiming);
    return cudaSuccess;
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    recorded at = last_record(event);
    if (at.stream)
        at.stream->wait(at.number); // the record still writes to it
    delete event;
    return answer(enter("cudaEventDestroy"));
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    cudaError_t error = enter("cudaEventRecord");
    if (error)
        return answer(error);
    if (!stream)
        return answer(cudaErrorNotSupported);
    std::lock_guard<std::mutex> lock(event->mutex);
    event->stream = stream;
    event->number = stream->post([event] {
        std::lock_guard<std::mutex> inner(event->mutex);
        event->time = steady::now();
    });
    return cudaSuccess;
}

cudaError_t cudaEventQuery(cudaEvent_t event)
{
    cudaError_t error = enter("cudaEventQuery");
    if (error)
        return answer(error);
    recorded at = last_record(event);
    return !at.stream || at.stream->reached(at.number) ? answer(sticky())
                                                       : cudaErrorNotReady;
}

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    cudaError_t error = enter("cudaEventSynchronize");
    if (error)
        return answer(error);
    recorded at = last_record(event);
    if (at.stream)
        at.stream->wait(at.number);
    return answer(sticky());
}

cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t start, cudaEvent_t end)
{
    cudaError_t error = enter("cudaEventElapsedTime");
    if (error)
        return answer(error);
    if (!start->timed || !end->timed)
        return answer(cudaErrorInvalidResourceHandle);
    std::scoped_lock lock(start->mutex, end->mutex);
    *milliseconds =
        std::chrono::duration<float, std::milli>(end->time - start->time).count();
    return cudaSuccess;
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned)
{
    cudaError_t error = enter("cudaStreamWaitEvent");
    if (error)
        return answer(error);
    recorded at = last_record(event);
    if (!at.stream || at.stream == stream)
        return cudaSuccess;
    return answer(enqueue(stream, [at] { at.stream->wait(at.number); }));
}

} // extern "C"
