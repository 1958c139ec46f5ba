// The shim's streams, events and graphs, and copies. Part of fsmc/cuda_shim.h.
//
// What a stream is asked to do is done at once. With the word `late` it waits in a queue until something waits for it: a
// synchronisation, a copy that the host waits for, cudaFree; and then only what it is to come after is done before. So
// what lacks an order comes in the wrong one, and what the host looks at too early is not there. With `others` all else that may
// come first does.
//
// While a stream is captured, what CUDA forbids then gives its errors.
#ifndef FSMC_SHIM_STREAMS_H
#define FSMC_SHIM_STREAMS_H

#include "fsmc/shim/device.h"

#include <atomic>
#include <ctime>
#include <deque>
#include <functional>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

namespace fsm::shim {

// What a graph consists of, in order.
using Work = std::vector<std::function<void()>>;

// ---- queues

struct Queue;
struct Point { // in a queue: the work up to this number
    Queue *queue = nullptr;
    uint64_t number = 0;
};
struct Item {
    uint64_t number;
    std::function<void()> work;
    std::vector<Point> after;
};
// What a stream has been asked for and has not done. Numbers go up over all queues, so that a queue may be the next stream's. None
// is freed: which of several shared libraries made it, and whether that is still there, does not matter.
struct Queue {
    std::deque<Item> items;
    bool blocking = true; // with respect to the legacy stream
    bool used = true;
};

// A stream's handle; a destroyed one is the next that is made, as it may be with CUDA.
struct Stream {
    Queue *queue = nullptr;
    std::shared_ptr<Work> recording; // while it is captured
    bool invalid = false;            // something forbidden has been done meanwhile
    cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
    std::thread::id thread;
};

class Streams {
  public:
    std::recursive_mutex mutex;
    Stream legacy;
    std::atomic<int> captures{0};
    std::vector<Stream *> captured, unused;

    Streams() { make(&legacy, true); }
    void make(Stream *s, bool blocking) {
        std::lock_guard<std::recursive_mutex> lock(mutex);
        *s = Stream();
        for (Queue *q : queues)
            if (!q->used && q->items.empty()) s->queue = q;
        if (!s->queue) queues.push_back(s->queue = new Queue);
        s->queue->used = true, s->queue->blocking = blocking;
    }
    void end(Stream *s) { // what it has been asked for will be done
        std::lock_guard<std::recursive_mutex> lock(mutex);
        s->queue->used = false;
        s->queue = nullptr;
    }
    void add(Stream &s, std::function<void()> work, std::vector<Point> after) {
        std::lock_guard<std::recursive_mutex> lock(mutex);
        const bool waits = &s != &legacy && s.queue->blocking;
        if (waits && !legacy.queue->items.empty()) after.push_back({legacy.queue, legacy.queue->items.back().number});
        for (Queue *q : queues)
            if (&s == &legacy && q->blocking && q != s.queue && !q->items.empty()) after.push_back({q, q->items.back().number});
        s.queue->items.push_back({++last, std::move(work), std::move(after)});
    }
    Point last_of(Stream &s) {
        std::lock_guard<std::recursive_mutex> lock(mutex);
        return {s.queue, s.queue->items.empty() ? 0 : s.queue->items.back().number};
    }
    bool is_done(const Point &p) {
        std::lock_guard<std::recursive_mutex> lock(mutex);
        return !p.queue || p.queue->items.empty() || p.queue->items.front().number > p.number;
    }
    void wait(const Point &p) {
        std::lock_guard<std::recursive_mutex> lock(mutex);
        if (is_done(p)) return;
        for (bool any = options().others; any;) {
            any = false;
            for (size_t k = 0; k < queues.size(); k++)
                while (queues[k] != p.queue && may_begin(*queues[k])) first(*queues[k]), any = true;
        }
        drain(p);
    }
    void wait_for_all() {
        std::lock_guard<std::recursive_mutex> lock(mutex);
        for (size_t k = queues.size(); k-- > 0;)
            if (!queues[k]->items.empty()) drain({queues[k], queues[k]->items.back().number});
    }

    // Is something captured that forbids what may wait for the device? Such captures come to nothing.
    bool forbids(bool all_modes) {
        if (!captures) return false;
        std::lock_guard<std::recursive_mutex> lock(mutex);
        bool any = false;
        for (Stream *s : captured) {
            const bool own = s->mode == cudaStreamCaptureModeThreadLocal && s->thread == std::this_thread::get_id();
            if (all_modes || own || s->mode == cudaStreamCaptureModeGlobal) any = s->invalid = true;
        }
        return any;
    }
    // Likewise of the legacy stream, which would wait for a stream that is captured.
    bool forbids_legacy(bool spoils) {
        if (!captures) return false;
        std::lock_guard<std::recursive_mutex> lock(mutex);
        bool any = false;
        for (Stream *s : captured)
            if (s->queue->blocking) any = true, s->invalid |= spoils;
        return any;
    }

  private:
    std::vector<Queue *> queues;
    uint64_t last = 0;

    bool may_begin(const Queue &q) {
        if (q.items.empty()) return false;
        for (const Point &p : q.items.front().after)
            if (!is_done(p)) return false;
        return true;
    }
    static void first(Queue &q) {
        Item item = std::move(q.items.front());
        q.items.pop_front();
        item.work();
    }
    void drain(const Point &p) { // what an item comes after was asked for before it
        while (!p.queue->items.empty() && p.queue->items.front().number <= p.number) {
            for (const Point &before : p.queue->items.front().after) drain(before);
            first(*p.queue);
        }
    }
};
inline Streams &streams() {
    static Streams &s = *new Streams;
    return s;
}

} // namespace fsm::shim

using cudaStream_t = fsm::shim::Stream *;
#define cudaStreamLegacy    (reinterpret_cast<cudaStream_t>(1))
#define cudaStreamPerThread (reinterpret_cast<cudaStream_t>(2))

namespace fsm::shim {

inline Stream &stream_of(cudaStream_t s) {
    if (!s || s == cudaStreamLegacy) return streams().legacy;
    if (s != cudaStreamPerThread) return *s;
    struct Own : Stream {
        Own() { streams().make(this, true); }
        ~Own() { streams().end(this); }
    };
    static thread_local Own own;
    return own;
}

// Does it, or notes it for later, or in a graph.
template <class F> cudaError_t enqueue(cudaStream_t s, F &&work, std::vector<Point> after = {}) {
    Stream &stream = stream_of(s);
    if (stream.recording) {
        if (stream.invalid) return note(cudaErrorStreamCaptureInvalidated);
        stream.recording->push_back(std::forward<F>(work));
        return cudaSuccess;
    }
    if (&stream == &streams().legacy && streams().forbids_legacy(true)) return note(cudaErrorStreamCaptureImplicit);
    if (options().late) streams().add(stream, std::forward<F>(work), std::move(after));
    else work();
    return cudaSuccess;
}
// The host waits for all that the stream has been asked for.
inline cudaError_t synchronize(cudaStream_t s) {
    Stream &stream = stream_of(s);
    if (stream.recording) return stream.invalid = true, note(cudaErrorStreamCaptureUnsupported);
    if (&stream == &streams().legacy && streams().forbids_legacy(true)) return note(cudaErrorStreamCaptureImplicit);
    if (!options().late) return cudaSuccess;
    if (&stream == &streams().legacy) streams().add(stream, [] {}, {}); // comes after other streams' work, too
    streams().wait(streams().last_of(stream));
    return cudaSuccess;
}

inline bool is_to_device(cudaMemcpyKind k) { return k == cudaMemcpyHostToDevice || k == cudaMemcpyDeviceToDevice; }
inline bool is_from_device(cudaMemcpyKind k) { return k == cudaMemcpyDeviceToHost || k == cudaMemcpyDeviceToDevice; }

inline void copy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind) {
    if (kind != cudaMemcpyDefault) {
        memory().require(to, bytes, is_to_device(kind), "cudaMemcpy", "destination");
        memory().require(from, bytes, is_from_device(kind), "cudaMemcpy", "source");
    }
    if (bytes) std::memmove(to, from, bytes);
}

// What the pool of fsmc/cuda.h lends of its memory: arrays are apart by a fence, and fresh ones are poisoned.
constexpr size_t POOL_FENCE = 64;
inline void pool_lent(cudaStream_t s, void *p, size_t bytes, size_t room) {
    enqueue(
        s,
        [=] {
            fill(p, POISON, bytes);
            fill(static_cast<char *>(p) + bytes, FENCE, room - bytes);
        });
}
inline void pool_returned(cudaStream_t s, const void *p, size_t bytes, size_t room) {
    enqueue(
        s,
        [=] {
            if (!is_filled(static_cast<const char *>(p) + bytes, FENCE, room - bytes))
                stop("a kernel wrote behind an array of %zu bytes", bytes);
        });
}

} // namespace fsm::shim

// ---- CUDA's functions: memory

inline cudaError_t cudaMalloc(void **p, size_t size) {
    cudaError_t e = cudaSuccess;
    fsm::shim::counts().allocations++;
    if (fsm::shim::fails("cudaMalloc", &e)) return e;
    if (fsm::shim::streams().forbids(false)) return fsm::shim::note(cudaErrorStreamCaptureUnsupported);
    return fsm::shim::note(fsm::shim::memory().take(p, size, fsm::shim::Place::DEVICE));
}
template <class T> cudaError_t cudaMalloc(T **p, size_t size) { return cudaMalloc(reinterpret_cast<void **>(p), size); }
inline cudaError_t cudaFree(void *p) { // it waits for the device
    if (fsm::shim::streams().forbids(false)) return fsm::shim::note(cudaErrorStreamCaptureUnsupported);
    fsm::shim::streams().wait_for_all();
    fsm::shim::memory().give_back(p, fsm::shim::Place::DEVICE, "cudaFree");
    return cudaSuccess;
}
inline cudaError_t cudaHostAlloc(void **p, size_t size, unsigned) {
    return fsm::shim::note(fsm::shim::memory().take(p, size, fsm::shim::Place::MAPPED));
}
template <class T> cudaError_t cudaHostAlloc(T **p, size_t size, unsigned flags) {
    return cudaHostAlloc(reinterpret_cast<void **>(p), size, flags);
}
inline cudaError_t cudaFreeHost(void *p) {
    fsm::shim::streams().wait_for_all();
    fsm::shim::memory().give_back(p, fsm::shim::Place::MAPPED, "cudaFreeHost");
    return cudaSuccess;
}
template <class T> cudaError_t cudaHostGetDevicePointer(T **device, void *host, unsigned) {
    *device = static_cast<T *>(host);
    return cudaSuccess;
}
// The host's memory is read, or written, when the copy is done, as that is which cannot be paged.
inline cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind kind, cudaStream_t s = nullptr) {
    fsm::shim::counts().copies++;
    return fsm::shim::enqueue(s, [=] { fsm::shim::copy(to, from, bytes, kind); });
}
// What comes from the host has been read then; it need not have arrived.
inline cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind) {
    if (fsm::shim::streams().forbids(false)) return fsm::shim::note(cudaErrorStreamCaptureUnsupported);
    if (kind == cudaMemcpyHostToDevice && fsm::shim::options().late) {
        if (cudaError_t e = fsm::shim::synchronize(nullptr)) return e;
        fsm::shim::memory().require(to, bytes, true, "cudaMemcpy", "destination");
        fsm::shim::memory().require(from, bytes, false, "cudaMemcpy", "source");
        auto bytes_of =
            std::make_shared<std::vector<char>>(static_cast<const char *>(from), static_cast<const char *>(from) + bytes);
        fsm::shim::counts().copies++;
        return fsm::shim::enqueue(nullptr, [=] { fsm::shim::copy(to, bytes_of->data(), bytes, kind); });
    }
    cudaError_t e = cudaMemcpyAsync(to, from, bytes, kind);
    return e || kind == cudaMemcpyDeviceToDevice ? e : fsm::shim::synchronize(nullptr);
}
inline cudaError_t cudaMemsetAsync(void *p, int byte, size_t bytes, cudaStream_t s = nullptr) {
    fsm::shim::counts().fills++;
    return fsm::shim::enqueue(s, [=] {
        fsm::shim::memory().require(p, bytes, true, "cudaMemset", "destination");
        if (bytes) std::memset(p, byte, bytes);
    });
}
// Of device memory: the host does not wait.
inline cudaError_t cudaMemset(void *p, int byte, size_t bytes) {
    if (fsm::shim::streams().forbids(false)) return fsm::shim::note(cudaErrorStreamCaptureUnsupported);
    return cudaMemsetAsync(p, byte, bytes);
}

// ---- streams

inline cudaError_t cudaDeviceSynchronize() {
    fsm::shim::counts().waits++;
    if (fsm::shim::streams().forbids(true)) return fsm::shim::note(cudaErrorStreamCaptureUnsupported);
    fsm::shim::streams().wait_for_all();
    fsm::shim::memory().check_all_sides();
    return cudaSuccess;
}
inline cudaError_t cudaStreamCreateWithFlags(cudaStream_t *s, unsigned flags) {
    fsm::shim::Streams &all = fsm::shim::streams();
    std::lock_guard<std::recursive_mutex> lock(all.mutex);
    if (all.unused.empty()) all.unused.push_back(new fsm::shim::Stream);
    *s = all.unused.back();
    all.unused.pop_back();
    all.make(*s, !(flags & cudaStreamNonBlocking));
    return cudaSuccess;
}
inline cudaError_t cudaStreamCreate(cudaStream_t *s) { return cudaStreamCreateWithFlags(s, 0); }
inline cudaError_t cudaStreamDestroy(cudaStream_t s) {
    fsm::shim::Streams &all = fsm::shim::streams();
    std::lock_guard<std::recursive_mutex> lock(all.mutex);
    if (s->recording) fsm::shim::stop("cudaStreamDestroy of a stream that is captured");
    all.end(s);
    all.unused.push_back(s);
    return cudaSuccess;
}
inline cudaError_t cudaStreamSynchronize(cudaStream_t s) {
    fsm::shim::counts().waits++;
    cudaError_t e = fsm::shim::synchronize(s);
    if (!e) fsm::shim::memory().check_all_sides();
    return e;
}

// ---- capture and graphs

using cudaGraph_t = std::shared_ptr<fsm::shim::Work> *;
using cudaGraphExec_t = std::shared_ptr<fsm::shim::Work> *;

inline cudaError_t cudaStreamBeginCapture(cudaStream_t handle, cudaStreamCaptureMode mode) {
    fsm::shim::Stream &s = fsm::shim::stream_of(handle);
    fsm::shim::Streams &all = fsm::shim::streams();
    std::lock_guard<std::recursive_mutex> lock(all.mutex);
    if (&s == &all.legacy || s.recording) return fsm::shim::note(cudaErrorStreamCaptureUnsupported);
    s.recording = std::make_shared<fsm::shim::Work>();
    s.invalid = false, s.mode = mode, s.thread = std::this_thread::get_id();
    all.captured.push_back(&s);
    all.captures++;
    return cudaSuccess;
}
inline cudaError_t cudaStreamEndCapture(cudaStream_t handle, cudaGraph_t *graph) {
    fsm::shim::Stream &s = fsm::shim::stream_of(handle);
    fsm::shim::Streams &all = fsm::shim::streams();
    std::lock_guard<std::recursive_mutex> lock(all.mutex);
    *graph = nullptr;
    if (!s.recording) return fsm::shim::note(cudaErrorInvalidValue);
    for (size_t k = all.captured.size(); k-- > 0;)
        if (all.captured[k] == &s) all.captured.erase(all.captured.begin() + std::ptrdiff_t(k));
    all.captures--;
    const std::shared_ptr<fsm::shim::Work> work = std::move(s.recording);
    s.recording.reset();
    if (s.invalid) return fsm::shim::note(cudaErrorStreamCaptureInvalidated);
    *graph = new std::shared_ptr<fsm::shim::Work>(work);
    return cudaSuccess;
}
inline cudaError_t cudaStreamIsCapturing(cudaStream_t handle, cudaStreamCaptureStatus *status) {
    const fsm::shim::Stream &s = fsm::shim::stream_of(handle);
    if (&s == &fsm::shim::streams().legacy && fsm::shim::streams().forbids_legacy(false))
        return fsm::shim::note(cudaErrorStreamCaptureImplicit);
    *status = !s.recording ? cudaStreamCaptureStatusNone
              : s.invalid  ? cudaStreamCaptureStatusInvalidated
                           : cudaStreamCaptureStatusActive;
    return cudaSuccess;
}
inline cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long = 0) {
    cudaError_t e = cudaSuccess;
    if (fsm::shim::fails("cudaGraphInstantiate", &e)) return e;
    return *exec = new std::shared_ptr<fsm::shim::Work>(*graph), cudaSuccess;
}
inline cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t s) {
    cudaError_t e = cudaSuccess;
    if (fsm::shim::fails("cudaGraphLaunch", &e)) return e;
    fsm::shim::counts().graphs++;
    return fsm::shim::enqueue(s, [work = *exec] {
        for (auto &f : *work) f();
    });
}
inline cudaError_t cudaGraphDestroy(cudaGraph_t graph) { return delete graph, cudaSuccess; }
inline cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec) { return delete exec, cudaSuccess; }

// ---- events

struct fsm_shim_event {
    std::shared_ptr<double> time; // of the last record
    fsm::shim::Point point;
    std::shared_ptr<fsm::shim::Work> recording; // it was recorded while this was captured
};
using cudaEvent_t = fsm_shim_event *;

inline cudaError_t cudaEventCreateWithFlags(cudaEvent_t *e, unsigned) { return *e = new fsm_shim_event, cudaSuccess; }
inline cudaError_t cudaEventCreate(cudaEvent_t *e) { return cudaEventCreateWithFlags(e, 0); }
inline cudaError_t cudaEventDestroy(cudaEvent_t e) { return delete e, cudaSuccess; }
inline cudaError_t cudaEventRecord(cudaEvent_t e, cudaStream_t s = nullptr) {
    fsm::shim::Stream &stream = fsm::shim::stream_of(s);
    auto time = std::make_shared<double>(0);
    cudaError_t error = fsm::shim::enqueue(s, [time] {
        timespec t;
        clock_gettime(CLOCK_MONOTONIC, &t);
        *time = double(t.tv_sec) * 1e3 + double(t.tv_nsec) * 1e-6;
    });
    if (!error) *e = {time, stream.recording ? fsm::shim::Point() : fsm::shim::streams().last_of(stream), stream.recording};
    return error;
}
inline cudaError_t cudaEventSynchronize(cudaEvent_t e) {
    fsm::shim::counts().waits++;
    if (e->recording) return fsm::shim::note(cudaErrorStreamCaptureUnsupported);
    fsm::shim::streams().wait(e->point);
    return cudaSuccess;
}
// Who asks again is told that it is.
inline cudaError_t cudaEventQuery(cudaEvent_t e) {
    if (e->recording) return fsm::shim::note(cudaErrorStreamCaptureUnsupported);
    if (fsm::shim::streams().is_done(e->point)) return cudaSuccess;
    fsm::shim::streams().wait(e->point);
    return cudaErrorNotReady;
}
inline cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t a, cudaEvent_t b) {
    if (!fsm::shim::streams().is_done(a->point) || !fsm::shim::streams().is_done(b->point)) return cudaErrorNotReady;
    return *ms = float(*b->time - *a->time), cudaSuccess;
}
inline cudaError_t cudaStreamWaitEvent(cudaStream_t s, cudaEvent_t e, unsigned = 0) {
    fsm::shim::Stream &stream = fsm::shim::stream_of(s);
    if (stream.recording && stream.recording != e->recording)
        return stream.invalid = true, fsm::shim::note(cudaErrorStreamCaptureIsolation);
    if (!stream.recording && e->recording)
        fsm::shim::stop("cudaStreamWaitEvent: captures of several streams are not part of the shim");
    return stream.recording || !e->point.queue ? cudaSuccess : fsm::shim::enqueue(s, [] {}, {e->point});
}

#endif
