// A call of an entry: device memory, copies, errors. Part of fsmc/cuda.h.
#ifndef FSMC_CUDA_CALL_H
#define FSMC_CUDA_CALL_H

#include "fsmc/runtime_internal.h"

#include <cstdint>
#include <cstring>
#include <new>

namespace fsm::cuda {

// ---- errors of kernels

enum { MAX_VALUES = 8 }; // of the text of a check

// What a program checks: the code it fails with, the place in the source, and the text, with a "%d" or "%g" for each value.
struct Check {
    int code;
    const char *where, *text;
};

// In device memory: the failure that a call reports. Of several it is the one that comes first by `at`: the launch, and the key
// that the kernel gave, which is that of the iteration in the order of the program.
struct ErrorRecord {
    int lock, set;
    int check, nvalues;
    unsigned long long at[2];
    long long values[MAX_VALUES];
};

// What a kernel gets that may fail. An argument by value.
struct Errors {
    ErrorRecord *record;
    int *flag;                 // in memory of the host: not 0 if there is a failure
    unsigned long long launch; // numbers the launches of a call
};

__host__ __device__ inline long long value_bits(double x) {
#ifdef __CUDA_ARCH__
    return __double_as_longlong(x);
#else
    long long w;
    memcpy(&w, &x, sizeof w);
    return w;
#endif
}
__host__ __device__ inline long long value_bits(float x) { return value_bits(double(x)); }
template <class T> __host__ __device__ inline long long value_bits(T x) { return static_cast<long long>(x); }

// Notes that check number `check` failed in iteration `key` of this launch. The thread may go on: what it computes is not used.
// Of several failures the one of the smallest key is kept, whatever the order in which threads run.
template <class... V> __device__ inline void fail(const Errors &e, unsigned long long key, int check, V... values) {
    static_assert(sizeof...(V) <= MAX_VALUES, "too many values");
    FSM_RACES;
    ErrorRecord *r = e.record;
    volatile ErrorRecord *seen = r;
    if (seen->set && seen->at[0] == e.launch && seen->at[1] <= key) return; // at[1] only becomes smaller
    const long long all[MAX_VALUES + 1] = {value_bits(values)...};
    for (bool done = false; !done;) {
        if (atomicCAS(&r->lock, 0, 1)) continue;
        __threadfence();
        const unsigned long long a = seen->at[0], b = seen->at[1];
        if (!seen->set || e.launch < a || (e.launch == a && key < b)) {
            seen->at[0] = e.launch, seen->at[1] = key;
            seen->check = check;
            seen->nvalues = int(sizeof...(V));
            for (int i = 0; i < MAX_VALUES; i++) seen->values[i] = all[i];
            __threadfence();
            seen->set = 1;
            *static_cast<volatile int *>(e.flag) = 1;
        }
        __threadfence_system();
        atomicExch(&r->lock, 0);
        done = true;
    }
}

// Has an earlier launch failed? Then this one has nothing to do, and what it would read may be anything. The same for all
// threads of a launch.
__device__ inline bool stopped(const Errors &e) {
    FSM_RACES;
    const volatile ErrorRecord *r = e.record;
    if (!r->set) return false;
    __threadfence();
    return r->at[0] < e.launch;
}

// ---- what a context owns on a device

// Memory of the device, used as a stack, as that of the host in runtime/context.c: chunks stay until the context is freed, and
// a call of the same sizes as one before allocates nothing.
class Pool {
  public:
    struct Mark {
        int64_t bytes;
    };
    Pool() = default;
    Pool(const Pool &) = delete;
    ~Pool() { clear(); }
    void clear() {
        generation++;
        returned(0);
        drop(first);
        first = chunk = nullptr;
        top = reserved = 0;
    }

    // NULL if there is no memory, or `error` says otherwise. size: of an element; count and size are such that all bytes can be
    // addressed.
    void *alloc(int64_t count, int64_t size) {
        int64_t bytes = count * size, room = padded(bytes);
        if ((!chunk || chunk->size - top < room) && !next_chunk(room)) return nullptr;
        char *p = chunk->data + top;
        top += room;
        if (peak < chunk->before + top) peak = chunk->before + top;
        lent(p, bytes, room);
        return p;
    }
    Mark mark() const { return {chunk ? chunk->before + top : 0}; }
    void release(Mark m) {
        if (!chunk) return;
        returned(m.bytes);
        while (chunk->before > m.bytes) chunk = chunk->previous;
        top = m.bytes - chunk->before;
    }
    // Where what is not in use begins.
    const void *place() const {
        const Chunk *next = chunk ? chunk->next : first;
        if (chunk && (top < chunk->size || !next)) return chunk->data + top;
        return next ? next->data : nullptr;
    }
    // Is there room without asking CUDA for more?
    bool has(int64_t count, int64_t size) const {
        const int64_t room = padded(count * size);
        const Chunk *next = chunk ? chunk->next : first;
        return (chunk && chunk->size - top >= room) || (next && next->size >= room);
    }
    // For what comes now, in the order of the stream.
    void use(cudaStream_t s) { stream = s; }
    static bool fits(int64_t count, int64_t size) { return count >= 0 && count <= (INT64_MAX / 4 - 2 * ALIGNMENT) / size; }
    int64_t peak = 0;                // bytes in use at most
    uint64_t generation = 0;         // changes when arrays asked for as before may lie elsewhere
    bool keep = false;               // nothing is freed before the context: a graph of the caller's has the addresses
    cudaError_t error = cudaSuccess; // of the last cudaMalloc

  private:
    enum : int64_t { ALIGNMENT = 256, FIRST_CHUNK = 1 << 20 };
    struct Chunk {
        Chunk *previous, *next;
        char *data;
        int64_t size, before; // before: bytes in use in the chunks before this one
    };
    Chunk *first = nullptr, *chunk = nullptr; // chunk: the one in use
    int64_t top = 0, reserved = 0;
    [[maybe_unused]] cudaStream_t stream = nullptr;

    static void drop(Chunk *c) {
        while (c) {
            Chunk *next = c->next;
            cudaFree(c->data);
            delete c;
            c = next;
        }
    }
    Chunk *make(int64_t size) {
        void *data = nullptr;
        error = cudaMalloc(&data, size_t(size));
        if (error) {
            cudaGetLastError(); // it is said otherwise
            return nullptr;
        }
        Chunk *c = new (std::nothrow) Chunk{nullptr, nullptr, static_cast<char *>(data), size, 0};
        if (!c) cudaFree(data), error = cudaErrorMemoryAllocation;
        return c;
    }
    // Chunks double the memory held. Where that is not to be had, one of the size asked for will do; if need be, in the place of
    // those that are not in use.
    bool next_chunk(int64_t size) {
        Chunk *here = chunk, *after = here ? here->next : first, *c = after;
        const int64_t before = here ? here->before + top : 0;
        if (!c || c->size < size) {
            int64_t want = reserved > FIRST_CHUNK ? reserved : int64_t(FIRST_CHUNK);
            generation++;
            c = want > size ? make(want) : nullptr;
            if (!c) c = make(size);
            if (!c && here && !top) after = here, here = here->previous;
            if (!c && after && !keep) {
                for (Chunk *x = after; x; x = x->next) reserved -= x->size;
                drop(after);
                after = nullptr;
                (here ? here->next : first) = nullptr;
                c = make(size);
            }
            if (!c) {
                chunk = here;
                top = here ? before - here->before : 0;
                return false;
            }
            reserved += c->size;
            c->previous = here;
            c->next = after;
            if (after) after->previous = c;
            (here ? here->next : first) = c;
        }
        c->before = before;
        chunk = c;
        top = 0;
        return true;
    }

#ifdef FSMC_CUDA_SHIM_H // arrays are fenced, poisoned and checked
    struct Loan {
        int64_t at, bytes, room;
        char *data;
    };
    std::vector<Loan> loans;
    static int64_t padded(int64_t bytes) { return (bytes + int64_t(shim::POOL_FENCE) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT; }
    void lent(char *p, int64_t bytes, int64_t room) {
        loans.push_back({chunk->before + top - room, bytes, room, p});
        shim::pool_lent(stream, p, size_t(bytes), size_t(room));
    }
    void returned(int64_t mark) {
        for (; !loans.empty() && loans.back().at >= mark; loans.pop_back())
            shim::pool_returned(stream, loans.back().data, size_t(loans.back().bytes), size_t(loans.back().room));
    }
#else
    static int64_t padded(int64_t bytes) { return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT; }
    void lent(char *, int64_t, int64_t) {}
    void returned(int64_t) {}
#endif
};

// Something else that is made when it is first needed, and freed by its function.
struct Library {
    void *handle = nullptr;
    void (*destroy)(void *handle) = nullptr;
};

// On one device. Made by the first call there; freed with the context.
struct DevicePart {
    int device = 0;
    DevicePart *next = nullptr;
    Pool pool;
    ErrorRecord *record = nullptr;
    int *flag = nullptr, *flag_device = nullptr; // the same memory of the host, as both see it
    // Recorded at the end of a call that has not waited for its kernels. The next one does, even if its stream has the same handle:
    // that of a destroyed stream may be another's, and cudaStreamPerThread is one for each thread.
    cudaEvent_t done = nullptr;
    bool pending = false;
    bool heap = false;              // that of kernels' threads has its size
    Library graphs, blas;           // graph.h, matmul.h
    cudaStream_t capture = nullptr; // where graphs are recorded

    // NULL if it cannot be made; *error says why. The legacy stream is not used, which others would wait for, and may not use.
    static DevicePart *make(int device, cudaStream_t stream, cudaError_t *error) {
        DevicePart *p = new (std::nothrow) DevicePart;
        if (!p) return *error = cudaErrorMemoryAllocation, nullptr;
        p->device = device;
        *error = cudaMalloc(&p->record, sizeof *p->record);
        if (!*error) *error = cudaMemsetAsync(p->record, 0, sizeof *p->record, stream);
        if (!*error) *error = cudaStreamSynchronize(stream);
        if (!*error) *error = cudaHostAlloc(&p->flag, sizeof *p->flag, cudaHostAllocMapped);
        if (!*error) *p->flag = 0, *error = cudaHostGetDevicePointer(&p->flag_device, p->flag, 0);
        if (!*error) *error = cudaEventCreateWithFlags(&p->done, cudaEventDisableTiming);
        if (!*error) return p;
        delete p;
        return nullptr;
    }
    ~DevicePart() {
        int before = 0;
        cudaGetDevice(&before);
        if (before != device) cudaSetDevice(device);
        if (pending) cudaEventSynchronize(done);
        for (Library *l : {&graphs, &blas})
            if (l->handle) l->destroy(l->handle);
        if (capture) cudaStreamDestroy(capture);
        if (done) cudaEventDestroy(done);
        if (flag) cudaFreeHost(flag);
        if (record) cudaFree(record);
        pool.clear();
        if (before != device) cudaSetDevice(before);
    }
};

// All that a context owns. The layout is that of LAYOUT: objects of other versions refuse it.
struct ContextPart {
    enum : uint64_t { LAYOUT = 0x66736d6375640003 };
    uint64_t layout = LAYOUT;
    DevicePart *devices = nullptr;

    static void release(void *data) {
        ContextPart *p = static_cast<ContextPart *>(data);
        for (DevicePart *d = p->devices, *next; d; d = next) next = d->next, delete d;
        delete p;
    }
};

// ---- calls

// The product of extents; -1 if one is negative or the product does not fit.
template <class... E> int64_t count_of(E... extents) {
    int64_t all[] = {1, int64_t(extents)...}, n = 1;
    bool zero = false, wide = false;
    for (int64_t e : all) {
        if (e < 0) return -1;
        zero = zero || !e;
        wide = __builtin_mul_overflow(n, e ? e : 1, &n) || wide;
    }
    return zero ? 0 : wide ? -1 : n;
}

// From its making to finish(), a call has the context. After a failure everything is as if nothing was asked for: code() is not
// 0, alloc() gives NULL. The text of the failure is the context's.
class Call {
  public:
    // checks: those that kernels name by number.
    Call(fsm_context *ctx, const fsm_entry_info *info, cudaStream_t stream, const Check *checks)
        : ctx_(ctx), stream_(stream), checks_(checks) {
        code_ = fsm_begin(ctx, info);
        begun_ = code_ == FSM_OK;
        if (begun_) find_part();
    }
    Call(const Call &) = delete;
    Call &operator=(const Call &) = delete;
    ~Call() { finish(); }

    int code() const { return code_; }
    fsm_context *context() const { return ctx_; }
    // For a launch, a copy or a fill on the device, which asks for it once.
    cudaStream_t stream() { return starts_++, stream_; }

    // Uninitialised device memory for `count` elements of `size` bytes, aligned to 256; count < 0 stands for a number that does not
    // fit. NULL after a failure. Lives until release() of an earlier mark, or the end of the call.
    void *alloc(int64_t count, int64_t size) {
        if (code_) return nullptr;
        if (!Pool::fits(count, size)) {
            fail_with(FSM_ERROR_MEMORY, "an intermediate array is too large to be addressed", 0, 0, 0);
            return nullptr;
        }
        if (captured_ && !part_->pool.has(count, size)) return not_made(), nullptr;
        void *p = part_->pool.alloc(count, size);
        if (!p && part_->pool.error == cudaErrorMemoryAllocation) out_of_memory(count * size);
        else if (!p) check(part_->pool.error);
        return p;
    }
    template <class T> T *alloc(int64_t count) { return static_cast<T *>(alloc(count, int64_t(sizeof(T)))); }
    Pool::Mark mark() const { return part_ ? part_->pool.mark() : Pool::Mark{0}; }
    void release(Pool::Mark m) {
        if (part_) part_->pool.release(m);
    }

    // The array on the device; of no elements: an address that is not NULL.
    template <class T> T *upload(const T *from, int64_t count) {
        T *p = alloc<T>(count);
        if (p && count) check(cudaMemcpyAsync(p, from, size_t(count) * sizeof(T), cudaMemcpyHostToDevice, stream_));
        return code_ ? nullptr : p;
    }
    template <class T> void download(T *to, const T *from, int64_t count) {
        if (code_ || !count || waits_in_capture()) return;
        copied_ = true;
        check(cudaMemcpyAsync(to, from, size_t(count) * sizeof(T), cudaMemcpyDeviceToHost, stream_));
    }
    // One value from the device, which the host waits for; 0 after a failure.
    template <class T> T read(const T *from) {
        T x{};
        download(&x, from, 1);
        wait();
        return code_ ? T{} : x;
    }

    // What the next kernel gets that may fail.
    Errors errors() {
        may_fail_ = !waits_in_capture();
        return {part_ ? part_->record : nullptr, part_ ? part_->flag_device : nullptr, launch_++};
    }
    // Check number k, of the host, failed, unless a kernel did before; gives code() back.
    template <class... V> int fail(int k, V... values) {
        const Check &c = checks_[k];
        if (!failed_before()) code_ = fsm_fail(ctx_, c.code, c.where, c.text, int(sizeof...(V)), int64_t(value_bits(values))...);
        return code_;
    }
    // Notes an error of CUDA, unless something has failed before; gives code() back.
    int check(cudaError_t e) {
        if (!e || code_) return code_;
        cudaGetLastError(); // forgets it
        if (e == cudaErrorMemoryAllocation) return out_of_memory(0);
        fsm_text t = fsm_text_begin(ctx_);
        fsm_text_add(&t, "CUDA: %s (%s)", cudaGetErrorString(e), cudaGetErrorName(e));
        return code_ = FSM_ERROR_DEVICE;
    }
    // Likewise for what a library says.
    int fail_library(const char *library, const char *says) {
        if (failed_before()) return code_;
        fsm_text t = fsm_text_begin(ctx_);
        fsm_text_add(&t, "%s: %s", library, says);
        return code_ = FSM_ERROR_DEVICE;
    }
    // Before kernels whose threads make arrays as they go. These are on one heap, which has 8 MB where nobody asks for more before
    // the first such kernel: an eighth of the device's memory, but not more than a quarter of what is free.
    int use_heap() {
        if (code_ || captured_ || part_->heap) return code_;
        size_t free = 0, total = 0, now = 0;
        if (check(cudaMemGetInfo(&free, &total)) || check(cudaDeviceGetLimit(&now, cudaLimitMallocHeapSize))) return code_;
        const size_t want = total / 8 < free / 4 ? total / 8 : free / 4;
        if (now < want && cudaDeviceSetLimit(cudaLimitMallocHeapSize, want))
            cudaGetLastError(); // there was such a kernel: it stays
        part_->heap = true;
        return code_;
    }
    // May the call make what later ones keep?
    bool may_make() {
        if (captured_) not_made();
        return !code_;
    }
    Library *blas() { return part_ ? &part_->blas : nullptr; }
    // Has the call been cancelled? Asked between launches of a loop.
    int poll() {
        if (!code_) code_ = fsm_poll(ctx_);
        return code_;
    }
    // Waits for the kernels so far; gives code() back, which is that of the first of them that failed.
    int wait() {
        if (!part_ || waits_in_capture()) return code_;
        check(cudaGetLastError()); // of launches: what these were to leave is not there
        cudaError_t e = cudaStreamSynchronize(stream_);
        part_->pending = may_fail_ = copied_ = false;
        if (!e && *part_->flag) report();
        return check(e);
    }
    // The end of the call: its code. Waits for the kernels if they may fail, or if something was copied to the host.
    int finish() {
        if (!begun_) return code_;
        begun_ = false;
        if (part_) {
            check(cudaGetLastError());
            part_->pool.release({0});
            if (captured_) part_->pool.keep = true;
            else if (may_fail_ || copied_ || code_) wait();
            else leave_running();
        }
        fsm_end(ctx_);
        return code_;
    }

  private:
    friend struct Graphs;
    fsm_context *ctx_;
    cudaStream_t stream_;
    const Check *checks_;
    DevicePart *part_ = nullptr;
    int code_;
    bool begun_, copied_ = false, captured_ = false; // captured_: in a graph of the caller's
    bool may_fail_ = false;                          // kernels that have not been waited for
    unsigned long long launch_ = 0;
    int64_t starts_ = 0; // launches and the like

    // Has something failed that comes before what is about to be reported?
    bool failed_before() {
        const bool recording = part_ && part_->capture && stream_ == part_->capture; // what is recorded has not run
        if (!code_ && may_fail_ && !recording) wait();
        return code_ != FSM_OK;
    }
    int fail_with(int code, const char *text, int n, int64_t a, int64_t b, int64_t c = 0) {
        return failed_before() ? code_ : code_ = fsm_fail(ctx_, code, "", text, n, a, b, c);
    }
    int out_of_memory(int64_t bytes) {
        size_t free = 0, total = 0;
        cudaMemGetInfo(&free, &total);
        return bytes
                   ? fail_with(FSM_ERROR_MEMORY,
                               "out of device memory: %d bytes asked for an intermediate array, %d of %d are free", 3, bytes,
                               int64_t(free), int64_t(total))
                   : fail_with(FSM_ERROR_MEMORY, "out of device memory: %d of %d bytes are free", 2, int64_t(free), int64_t(total));
    }
    // In a graph of the caller's there is what earlier calls have made, and nothing that the host would have to wait for.
    void not_made() {
        fail_with(FSM_ERROR_DEVICE, "the stream is captured: a call of the same sizes has to come before the capture", 0, 0, 0);
    }
    bool waits_in_capture() {
        if (captured_)
            fail_with(FSM_ERROR_DEVICE, "the stream is captured: this call cannot be, since the host waits for its kernels", 0, 0,
                      0);
        return captured_;
    }
    void use(cudaStream_t s) {
        stream_ = s;
        part_->pool.use(s);
    }
    void find_part() {
        cudaGetLastError(); // an error that the program has left is none of the call's
        fsm_part *slot = fsm_device_part(ctx_);
        if (!slot->data) {
            slot->data = new (std::nothrow) ContextPart;
            slot->release = ContextPart::release;
        }
        ContextPart *p = static_cast<ContextPart *>(slot->data);
        if (!p) return void(out_of_memory(0));
        if (p->layout != ContextPart::LAYOUT)
            return void(
                fail_with(FSM_ERROR_VERSION, "the context is in use by objects for CUDA of another version of fsmc", 0, 0, 0));
        int device = 0;
        cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
        cudaError_t e = cudaStreamIsCapturing(stream_, &status);
        if (!e) e = cudaGetDevice(&device);
        captured_ = status != cudaStreamCaptureStatusNone;
        DevicePart *d = p->devices;
        while (d && d->device != device) d = d->next;
        if (!d && !e && captured_) return not_made();
        if (!d && !e && (d = DevicePart::make(device, stream_, &e))) d->next = p->devices, p->devices = d;
        if (check(e)) return;
        part_ = d;
        use(stream_);
        if (d->pending && !captured_) check(cudaStreamWaitEvent(stream_, d->done, 0));
    }
    // The failure that the kernels have noted, which is forgotten on the device, before any later call may find it.
    void report() {
        ErrorRecord r;
        cudaError_t e = cudaMemcpyAsync(&r, part_->record, sizeof r, cudaMemcpyDeviceToHost, stream_);
        if (!e) e = cudaMemsetAsync(part_->record, 0, sizeof r, stream_);
        if (!e) e = cudaStreamSynchronize(stream_);
        *part_->flag = 0;
        if (code_ || check(e) || !r.set) return;
        const Check &c = checks_[r.check];
        long long *v = r.values;
        size_t heap = 0;
        if (c.code == FSM_ERROR_MEMORY && !check(cudaDeviceGetLimit(&heap, cudaLimitMallocHeapSize)))
            v[r.nvalues++] = (long long)heap;
        if (code_) return;
        code_ = fsm_fail(ctx_, c.code, c.where, c.text, r.nvalues, int64_t(v[0]), int64_t(v[1]), int64_t(v[2]), int64_t(v[3]),
                         int64_t(v[4]), int64_t(v[5]), int64_t(v[6]), int64_t(v[7]));
    }
    // The next call with this context, in another stream maybe, waits for this one's kernels.
    void leave_running() {
        if (!check(cudaEventRecord(part_->done, stream_))) part_->pending = true;
    }
};

} // namespace fsm::cuda

#endif
