// The shim's device: its memory, and errors. Part of fsmc/cuda_shim.h.
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
#include <map>
#include <mutex>

enum cudaError_t {
    cudaSuccess = 0,
    cudaErrorInvalidValue = 1,
    cudaErrorMemoryAllocation = 2,
    cudaErrorInvalidConfiguration = 9,
    cudaErrorInvalidDevice = 101,
    cudaErrorNoKernelImageForDevice = 209,
    cudaErrorInvalidResourceHandle = 400,
    cudaErrorNotReady = 600,
    cudaErrorCooperativeLaunchTooLarge = 720,
    cudaErrorStreamCaptureUnsupported = 900,
    cudaErrorStreamCaptureInvalidated = 901,
    cudaErrorStreamCaptureIsolation = 905,
    cudaErrorStreamCaptureImplicit = 906
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
enum cudaLimit { cudaLimitMallocHeapSize = 2 };
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
    bool reverse = false, guard = false, late = false, others = false;
    uint64_t seed = 0; // 0: blocks in their order
    Options() {
        const char *s = std::getenv("FSM_CUDA_SHIM");
        while (s && *s) {
            size_t n = std::strcspn(s, " ,");
            if (!std::strncmp(s, "memory=", 7)) memory = std::strtoull(s + 7, nullptr, 10);
            else if (!std::strncmp(s, "blocks=", 7)) seed = std::strtoull(s + 7, nullptr, 10);
            else if (n == 7 && !std::strncmp(s, "reverse", n)) reverse = true;
            else if (n == 5 && !std::strncmp(s, "guard", n)) guard = true;
            else if (n == 4 && !std::strncmp(s, "late", n)) late = true;
            else if (n == 6 && !std::strncmp(s, "others", n)) late = others = true;
            else if (n) stop("FSM_CUDA_SHIM has memory=N, blocks=SEED, reverse, guard, late and others, not '%.*s'", int(n), s);
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
constexpr uint64_t FENCE = 0x7ff5feed7fa5feed;  // likewise, of what lies beside arrays

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
    size_t size;   // bytes asked for
    char *base;    // what malloc or mmap gave
    size_t mapped; // bytes of mmap; 0: malloc
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
            if (a && a->second.place == Place::DEVICE && bytes)
                stop("%s: the %s is device memory where the host's is expected", function, what);
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
        if (!is_filled(a.first + a.second.size, FENCE, 2 * SIDE - before))
            stop("a kernel wrote behind an array of %zu bytes", a.second.size);
    }
};
inline Memory &memory() {
    static Memory m;
    return m;
}

// What threads take by malloc.
struct Heap {
    std::mutex mutex;
    size_t limit = 8 << 20; // bytes
    bool used = false;      // a kernel has had some: the limit stays
};
inline Heap &heap() {
    static Heap h;
    return h;
}

// At the end of a test: all memory has been freed.
inline void stop_if_left() {
    std::lock_guard<std::recursive_mutex> lock(memory().mutex);
    if (!memory().all.empty())
        stop("%zu arrays of device memory were not freed, one of %zu bytes", memory().all.size(),
             memory().all.begin()->second.size);
}

inline thread_local cudaError_t last_error = cudaSuccess;
inline cudaError_t note(cudaError_t e) {
    if (e) last_error = e;
    return e;
}

// For tests: what the next calls of a function, or launches, of the thread say instead of doing anything.
struct Fault {
    const char *function = "";
    cudaError_t error = cudaSuccess;
    int64_t times = 0;
};
inline thread_local Fault fault;
inline bool fails(const char *function, cudaError_t *e) {
    if (!fault.times || std::strcmp(fault.function, function)) return false;
    fault.times--;
    *e = note(fault.error);
    return true;
}

// What the thread has asked of CUDA, for tests of what a call costs.
struct Counts {
    int64_t launches, graphs, copies, fills, allocations, waits; // graphs: that are started, as launches are
};
inline Counts &counts() {
    static thread_local Counts c;
    return c;
}

} // namespace fsm::shim

// ---- CUDA's functions

inline cudaError_t cudaGetDeviceCount(int *n) { return *n = 1, cudaSuccess; }
inline cudaError_t cudaGetDevice(int *device) { return *device = 0, cudaSuccess; }
inline cudaError_t cudaSetDevice(int device) { return fsm::shim::note(device ? cudaErrorInvalidDevice : cudaSuccess); }
inline cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr what, int) {
    *value = what == cudaDevAttrMultiProcessorCount ? 4 : what == cudaDevAttrComputeCapabilityMajor ? 9 : 227 * 1024;
    return cudaSuccess;
}
inline cudaError_t cudaMemGetInfo(size_t *free, size_t *total) {
    std::lock_guard<std::recursive_mutex> lock(fsm::shim::memory().mutex);
    *total = fsm::shim::options().memory;
    *free = *total - fsm::shim::memory().used;
    return cudaSuccess;
}
inline cudaError_t cudaDeviceGetLimit(size_t *value, cudaLimit) {
    std::lock_guard<std::mutex> lock(fsm::shim::heap().mutex);
    return *value = fsm::shim::heap().limit, cudaSuccess;
}
inline cudaError_t cudaDeviceSetLimit(cudaLimit, size_t value) {
    std::lock_guard<std::mutex> lock(fsm::shim::heap().mutex);
    if (fsm::shim::heap().used) return fsm::shim::note(cudaErrorInvalidValue);
    return fsm::shim::heap().limit = value, cudaSuccess;
}
template <class F> cudaError_t cudaFuncSetAttribute(F *, cudaFuncAttribute, int bytes) {
    return fsm::shim::note(bytes > 227 * 1024 ? cudaErrorInvalidValue : cudaSuccess);
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
    case cudaErrorNoKernelImageForDevice: return "cudaErrorNoKernelImageForDevice";
    case cudaErrorCooperativeLaunchTooLarge: return "cudaErrorCooperativeLaunchTooLarge";
    case cudaErrorStreamCaptureUnsupported: return "cudaErrorStreamCaptureUnsupported";
    case cudaErrorStreamCaptureInvalidated: return "cudaErrorStreamCaptureInvalidated";
    case cudaErrorStreamCaptureIsolation: return "cudaErrorStreamCaptureIsolation";
    case cudaErrorStreamCaptureImplicit: return "cudaErrorStreamCaptureImplicit";
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
    case cudaErrorNoKernelImageForDevice: return "no kernel image is available for execution on the device";
    case cudaErrorCooperativeLaunchTooLarge: return "too many blocks in cooperative launch";
    case cudaErrorStreamCaptureUnsupported: return "operation not permitted when stream is capturing";
    case cudaErrorStreamCaptureInvalidated: return "operation failed due to a previous error during capture";
    case cudaErrorStreamCaptureIsolation: return "dependency created on uncaptured work in another stream";
    case cudaErrorStreamCaptureImplicit: return "operation would make the legacy stream depend on a capturing blocking stream";
    default: return "unknown error";
    }
}

#endif
