// The shim's device: its memory, streams, events and graphs. Part of fsmc/cuda_shim.h.
//
// Device memory is the processor's. It is noted where each array lies: copies of the wrong kind or size, arguments of kernels
// that are no device pointers, writes beside an array and memory that is freed twice end the program. Fresh memory is filled
// with signalling NaNs, which are also large integers.
#ifndef FSMC_SHIM_DEVICE_H
#define FSMC_SHIM_DEVICE_H

#include <sys/mman.h>
#include <unistd.h>

#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

enum cudaError_t {
    cudaSuccess = 0,
    cudaErrorInvalidValue = 1,
    cudaErrorMemoryAllocation = 2,
    cudaErrorInvalidConfiguration = 9,
    cudaErrorInvalidDevice = 101,
    cudaErrorInvalidResourceHandle = 400,
    cudaErrorNotReady = 600,
    cudaErrorCooperativeLaunchTooLarge = 720,
    cudaErrorStreamCaptureUnsupported = 900,
    cudaErrorStreamCaptureInvalidated = 901
};
enum cudaMemcpyKind {
    cudaMemcpyHostToHost,
    cudaMemcpyHostToDevice,
    cudaMemcpyDeviceToHost,
    cudaMemcpyDeviceToDevice,
    cudaMemcpyDefault
};
enum { cudaHostAllocDefault = 0, cudaHostAllocPortable = 1, cudaHostAllocMapped = 2 };
enum { cudaStreamDefault = 0, cudaStreamNonBlocking = 1 };
enum { cudaEventDefault = 0, cudaEventBlockingSync = 1, cudaEventDisableTiming = 2 };
enum cudaStreamCaptureMode { cudaStreamCaptureModeGlobal, cudaStreamCaptureModeThreadLocal, cudaStreamCaptureModeRelaxed };
enum cudaStreamCaptureStatus { cudaStreamCaptureStatusNone, cudaStreamCaptureStatusActive, cudaStreamCaptureStatusInvalidated };
enum cudaDeviceAttr {
    cudaDevAttrMaxSharedMemoryPerBlockOptin = 97,
    cudaDevAttrMultiProcessorCount = 16,
    cudaDevAttrComputeCapabilityMajor = 75
};
enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize = 8 };

namespace fsm::shim {

[[noreturn]] __attribute__((format(printf, 1, 2))) inline void stop(const char *format, ...) {
    va_list values;
    va_start(values, format);
    std::fflush(stdout);
    std::fputs("cuda shim: ", stderr);
    std::vfprintf(stderr, format, values);
    std::fputs("\n", stderr);
    va_end(values);
    std::fflush(stderr);
    _exit(134);
}

struct Options {
    size_t memory = size_t(2) << 30; // bytes of the device
    bool reverse = false, guard = false;
    uint64_t seed = 0; // 0: blocks in their order
    Options() {
        const char *s = std::getenv("FSM_CUDA_SHIM");
        while (s && *s) {
            size_t n = std::strcspn(s, " ,");
            if (!std::strncmp(s, "memory=", 7)) memory = std::strtoull(s + 7, nullptr, 10);
            else if (!std::strncmp(s, "blocks=", 7)) seed = std::strtoull(s + 7, nullptr, 10);
            else if (n == 7 && !std::strncmp(s, "reverse", n)) reverse = true;
            else if (n == 5 && !std::strncmp(s, "guard", n)) guard = true;
            else if (n) stop("FSM_CUDA_SHIM has memory=N, blocks=SEED, reverse and guard, not '%.*s'", int(n), s);
            s += n + (s[n] != 0);
        }
    }
};
inline Options &options() {
    static Options o;
    return o;
}

// ---- poison

constexpr uint64_t POISON = 0x7ff4dead7fa4dead; // as Double and as Float a NaN, as Int beyond any array
constexpr uint64_t FENCE = 0x7ff5feed7fa5feed; // likewise, of what lies beside arrays

inline void fill(void *memory, uint64_t word, size_t bytes) {
    char *p = static_cast<char *>(memory);
    for (; bytes >= 8; p += 8, bytes -= 8) std::memcpy(p, &word, 8);
    std::memcpy(p, &word, bytes);
}
inline bool is_filled(const void *memory, uint64_t word, size_t bytes) {
    const char *p = static_cast<const char *>(memory);
    for (; bytes >= 8; p += 8, bytes -= 8)
        if (std::memcmp(p, &word, 8)) return false;
    return !std::memcmp(p, &word, bytes);
}

// ---- memory

enum class Place { DEVICE, MAPPED }; // MAPPED: of the host, for both

struct Allocation {
    size_t size;    // bytes asked for
    char *base;     // what malloc or mmap gave
    size_t mapped;  // bytes of mmap; 0: malloc
    Place place;
};

class Memory {
  public:
    static constexpr size_t SIDE = 256; // bytes beside each array that nobody writes

    std::recursive_mutex mutex;
    std::map<const char *, Allocation> all;
    size_t used = 0;
    int64_t allocations = 0; // ever made

    cudaError_t take(void **out, size_t size, Place place) {
        std::lock_guard<std::recursive_mutex> lock(mutex);
        *out = nullptr;
        if (place == Place::DEVICE && (size > options().memory || used > options().memory - size)) return cudaErrorMemoryAllocation;
        Allocation a{size, nullptr, 0, place};
        char *data = options().guard ? map_guarded(a) : surround(a);
        if (!data) return cudaErrorMemoryAllocation;
        fill(data, POISON, size);
        all.emplace(data, a);
        if (place == Place::DEVICE) used += size;
        allocations++;
        *out = data;
        return cudaSuccess;
    }
    void give_back(void *memory, Place place, const char *function) {
        std::lock_guard<std::recursive_mutex> lock(mutex);
        if (!memory) return;
        auto at = all.find(static_cast<char *>(memory));
        if (at == all.end() || at->second.place != place) stop("%s of %p, which is not such memory", function, memory);
        check_sides(*at);
        if (place == Place::DEVICE) used -= at->second.size;
        if (at->second.mapped) munmap(at->second.base, at->second.mapped);
        else std::free(at->second.base);
        all.erase(at);
    }
    // The array that the address is in, or ends at; NULL if there is none.
    const std::pair<const char *const, Allocation> *find(const void *p) {
        auto at = all.upper_bound(static_cast<const char *>(p));
        if (at == all.begin()) return nullptr;
        --at;
        return static_cast<size_t>(static_cast<const char *>(p) - at->first) <= at->second.size ? &*at : nullptr;
    }
    void require(const void *p, size_t bytes, bool device, const char *function, const char *what) {
        std::lock_guard<std::recursive_mutex> lock(mutex);
        auto a = find(p);
        if (!device) {
            if (a && a->second.place == Place::DEVICE && bytes) stop("%s: the %s is device memory where the host's is expected", function, what);
            return;
        }
        if (!a) stop("%s: the %s, %p, is not device memory", function, what, p);
        if (a->first + a->second.size < static_cast<const char *>(p) + bytes)
            stop("%s: %zu bytes at offset %td of the %s, which has %zu", function, bytes, static_cast<const char *>(p) - a->first,
                 what, a->second.size);
    }
    void check_all_sides() {
        std::lock_guard<std::recursive_mutex> lock(mutex);
        for (auto &a : all) check_sides(a);
    }
    ~Memory() { check_all_sides(); }

  private:
    static char *surround(Allocation &a) {
        a.base = static_cast<char *>(std::malloc(a.size + 2 * SIDE));
        if (!a.base) return nullptr;
        char *data = a.base + SIDE - reinterpret_cast<uintptr_t>(a.base) % SIDE;
        fill(a.base, FENCE, size_t(data - a.base));
        fill(data + a.size, FENCE, SIDE - size_t(data - a.base) + SIDE);
        return data;
    }
    // The end is where a page without access begins, but for what alignment to 16 bytes asks.
    static char *map_guarded(Allocation &a) {
        size_t page = size_t(sysconf(_SC_PAGESIZE)), bytes = (a.size + page - 1) / page * page;
        a.mapped = bytes + page;
        void *p = mmap(nullptr, a.mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (p == MAP_FAILED) return nullptr;
        a.base = static_cast<char *>(p);
        mprotect(a.base + bytes, page, PROT_NONE);
        return a.base + (bytes - a.size) / 16 * 16;
    }
    static void check_sides(const std::pair<const char *const, Allocation> &a) {
        if (a.second.mapped) return;
        size_t before = size_t(a.first - a.second.base);
        if (!is_filled(a.second.base, FENCE, before)) stop("a kernel wrote before an array of %zu bytes", a.second.size);
        if (!is_filled(a.first + a.second.size, FENCE, 2 * SIDE - before)) stop("a kernel wrote behind an array of %zu bytes", a.second.size);
    }
};
inline Memory &memory() {
    static Memory m;
    return m;
}

// At the end of a test: all memory has been freed.
inline void stop_if_left() {
    std::lock_guard<std::recursive_mutex> lock(memory().mutex);
    if (!memory().all.empty())
        stop("%zu arrays of device memory were not freed, one of %zu bytes", memory().all.size(), memory().all.begin()->second.size);
}

inline thread_local cudaError_t last_error = cudaSuccess;
inline cudaError_t note(cudaError_t e) {
    if (e) last_error = e;
    return e;
}

// ---- streams and graphs

// What the thread has asked of CUDA, for tests of what a call costs.
struct Counts {
    int64_t launches, graphs, copies, fills, allocations, waits; // graphs: that are started, as launches are
};
inline Counts &counts() {
    static thread_local Counts c;
    return c;
}

// What a graph consists of, in order.
using Work = std::vector<std::function<void()>>;

struct Stream {
    std::shared_ptr<Work> recording; // while it is captured
};
inline Stream &default_stream() {
    static thread_local Stream s;
    return s;
}
inline Stream &stream_of(Stream *s) { return s ? *s : default_stream(); }

// Does it, or notes it while the stream is captured.
template <class F> cudaError_t enqueue(Stream *s, F &&work) {
    Stream &stream = stream_of(s);
    if (stream.recording) stream.recording->push_back(std::forward<F>(work));
    else work();
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
inline void pool_lent(void *p, size_t bytes, size_t room) {
    fill(p, POISON, bytes);
    fill(static_cast<char *>(p) + bytes, FENCE, room - bytes);
}
inline void pool_returned(const void *p, size_t bytes, size_t room) {
    if (!is_filled(static_cast<const char *>(p) + bytes, FENCE, room - bytes)) stop("a kernel wrote behind an array of %zu bytes", bytes);
}

} // namespace fsm::shim

using cudaStream_t = fsm::shim::Stream *;
struct fsm_shim_event {
    double at;
};
using cudaEvent_t = fsm_shim_event *;
using cudaGraph_t = std::shared_ptr<fsm::shim::Work> *;
using cudaGraphExec_t = std::shared_ptr<fsm::shim::Work> *;

// ---- CUDA's functions

inline cudaError_t cudaMalloc(void **p, size_t size) {
    fsm::shim::counts().allocations++;
    if (fsm::shim::default_stream().recording) return fsm::shim::note(cudaErrorStreamCaptureUnsupported);
    return fsm::shim::note(fsm::shim::memory().take(p, size, fsm::shim::Place::DEVICE));
}
template <class T> cudaError_t cudaMalloc(T **p, size_t size) { return cudaMalloc(reinterpret_cast<void **>(p), size); }
inline cudaError_t cudaFree(void *p) {
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
    fsm::shim::memory().give_back(p, fsm::shim::Place::MAPPED, "cudaFreeHost");
    return cudaSuccess;
}
template <class T> cudaError_t cudaHostGetDevicePointer(T **device, void *host, unsigned) {
    *device = static_cast<T *>(host);
    return cudaSuccess;
}
inline cudaError_t cudaMemGetInfo(size_t *free, size_t *total) {
    std::lock_guard<std::recursive_mutex> lock(fsm::shim::memory().mutex);
    *total = fsm::shim::options().memory;
    *free = *total - fsm::shim::memory().used;
    return cudaSuccess;
}
inline cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind kind, cudaStream_t s = nullptr) {
    fsm::shim::counts().copies++;
    return fsm::shim::enqueue(s, [=] { fsm::shim::copy(to, from, bytes, kind); });
}
inline cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind) {
    if (fsm::shim::default_stream().recording) return fsm::shim::note(cudaErrorStreamCaptureUnsupported);
    return cudaMemcpyAsync(to, from, bytes, kind);
}
inline cudaError_t cudaMemsetAsync(void *p, int byte, size_t bytes, cudaStream_t s = nullptr) {
    fsm::shim::counts().fills++;
    return fsm::shim::enqueue(s, [=] {
        fsm::shim::memory().require(p, bytes, true, "cudaMemset", "destination");
        if (bytes) std::memset(p, byte, bytes);
    });
}
inline cudaError_t cudaMemset(void *p, int byte, size_t bytes) { return cudaMemsetAsync(p, byte, bytes); }

inline cudaError_t cudaGetDeviceCount(int *n) { return *n = 1, cudaSuccess; }
inline cudaError_t cudaGetDevice(int *device) { return *device = 0, cudaSuccess; }
inline cudaError_t cudaSetDevice(int device) { return fsm::shim::note(device ? cudaErrorInvalidDevice : cudaSuccess); }
inline cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr what, int) {
    *value = what == cudaDevAttrMultiProcessorCount ? 4 : what == cudaDevAttrComputeCapabilityMajor ? 9 : 227 * 1024;
    return cudaSuccess;
}
inline cudaError_t cudaDeviceSynchronize() {
    fsm::shim::counts().waits++;
    fsm::shim::memory().check_all_sides();
    return cudaSuccess;
}
inline cudaError_t cudaGetLastError() {
    cudaError_t e = fsm::shim::last_error;
    fsm::shim::last_error = cudaSuccess;
    return e;
}
inline cudaError_t cudaPeekAtLastError() { return fsm::shim::last_error; }
inline const char *cudaGetErrorName(cudaError_t e) {
    switch (e) {
    case cudaSuccess: return "cudaSuccess";
    case cudaErrorInvalidValue: return "cudaErrorInvalidValue";
    case cudaErrorMemoryAllocation: return "cudaErrorMemoryAllocation";
    case cudaErrorInvalidConfiguration: return "cudaErrorInvalidConfiguration";
    case cudaErrorInvalidDevice: return "cudaErrorInvalidDevice";
    case cudaErrorCooperativeLaunchTooLarge: return "cudaErrorCooperativeLaunchTooLarge";
    case cudaErrorStreamCaptureUnsupported: return "cudaErrorStreamCaptureUnsupported";
    case cudaErrorStreamCaptureInvalidated: return "cudaErrorStreamCaptureInvalidated";
    default: return "an unknown error";
    }
}
inline const char *cudaGetErrorString(cudaError_t e) {
    switch (e) {
    case cudaSuccess: return "no error";
    case cudaErrorInvalidValue: return "invalid argument";
    case cudaErrorMemoryAllocation: return "out of memory";
    case cudaErrorInvalidConfiguration: return "invalid configuration argument";
    case cudaErrorInvalidDevice: return "invalid device ordinal";
    case cudaErrorCooperativeLaunchTooLarge: return "too many blocks in cooperative launch";
    case cudaErrorStreamCaptureUnsupported: return "operation not permitted when stream is capturing";
    case cudaErrorStreamCaptureInvalidated: return "operation failed due to a previous error during capture";
    default: return "unknown error";
    }
}

inline cudaError_t cudaStreamCreateWithFlags(cudaStream_t *s, unsigned) { return *s = new fsm::shim::Stream, cudaSuccess; }
inline cudaError_t cudaStreamCreate(cudaStream_t *s) { return cudaStreamCreateWithFlags(s, 0); }
inline cudaError_t cudaStreamDestroy(cudaStream_t s) { return delete s, cudaSuccess; }
inline cudaError_t cudaStreamSynchronize(cudaStream_t s) {
    if (fsm::shim::stream_of(s).recording) return fsm::shim::note(cudaErrorStreamCaptureUnsupported);
    return cudaDeviceSynchronize();
}
inline cudaError_t cudaStreamBeginCapture(cudaStream_t s, cudaStreamCaptureMode) {
    if (!s || s->recording) return fsm::shim::note(cudaErrorStreamCaptureUnsupported);
    s->recording = std::make_shared<fsm::shim::Work>();
    return cudaSuccess;
}
inline cudaError_t cudaStreamEndCapture(cudaStream_t s, cudaGraph_t *graph) {
    if (!s || !s->recording) return fsm::shim::note(cudaErrorInvalidValue);
    *graph = new std::shared_ptr<fsm::shim::Work>(std::move(s->recording));
    s->recording.reset();
    return cudaSuccess;
}
inline cudaError_t cudaStreamIsCapturing(cudaStream_t s, cudaStreamCaptureStatus *status) {
    *status = fsm::shim::stream_of(s).recording ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
    return cudaSuccess;
}
inline cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long = 0) {
    return *exec = new std::shared_ptr<fsm::shim::Work>(*graph), cudaSuccess;
}
inline cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t s) {
    fsm::shim::counts().graphs++;
    return fsm::shim::enqueue(s, [work = *exec] {
        for (auto &f : *work) f();
    });
}
inline cudaError_t cudaGraphDestroy(cudaGraph_t graph) { return delete graph, cudaSuccess; }
inline cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec) { return delete exec, cudaSuccess; }

inline cudaError_t cudaEventCreateWithFlags(cudaEvent_t *e, unsigned) { return *e = new fsm_shim_event{0}, cudaSuccess; }
inline cudaError_t cudaEventCreate(cudaEvent_t *e) { return cudaEventCreateWithFlags(e, 0); }
inline cudaError_t cudaEventDestroy(cudaEvent_t e) { return delete e, cudaSuccess; }
inline cudaError_t cudaEventRecord(cudaEvent_t e, cudaStream_t s = nullptr) {
    return fsm::shim::enqueue(s, [e] {
        timespec t;
        clock_gettime(CLOCK_MONOTONIC, &t);
        e->at = double(t.tv_sec) * 1e3 + double(t.tv_nsec) * 1e-6;
    });
}
inline cudaError_t cudaEventSynchronize(cudaEvent_t) { return cudaDeviceSynchronize(); }
inline cudaError_t cudaEventQuery(cudaEvent_t) { return cudaSuccess; }
inline cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t a, cudaEvent_t b) { return *ms = float(b->at - a->at), cudaSuccess; }
inline cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned = 0) { return cudaSuccess; }
template <class F> cudaError_t cudaFuncSetAttribute(F *, cudaFuncAttribute, int bytes) {
    return fsm::shim::note(bytes > 227 * 1024 ? cudaErrorInvalidValue : cudaSuccess);
}

#endif
