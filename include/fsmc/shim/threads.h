// The shim's threads: kernels, blocks, barriers, shuffles, shared memory. Part of fsmc/cuda_shim.h.
//
// With -fsanitize=thread, ThreadSanitizer takes each thread of a block for one of the processor's, which meets the others at
// barriers alone, and reports races in all memory. Threads of the same number in different blocks are one to it.
//
// A fiber does the threads of a block one after the other until one of them has to wait; the next fiber takes over the threads
// that have not begun. So a kernel without barriers is a loop, and one with barriers has a fiber for each thread of a block.
//
// Ends the program with a message: a thread that ends while others wait for it at a barrier, threads that wait at different
// barriers (by line of the source), shuffles in which not all threads of the mask take part, launches beyond a device's limits,
// and pointer arguments of kernels that are no device pointers.
#ifndef FSMC_SHIM_THREADS_H
#define FSMC_SHIM_THREADS_H

#include "fsmc/shim/streams.h"

#include <sys/mman.h>
#include <ucontext.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <memory>
#include <numeric>
#include <optional>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#if defined(__SANITIZE_ADDRESS__)
#define FSM_SHIM_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define FSM_SHIM_ASAN 1
#endif
#endif
#ifdef FSM_SHIM_ASAN
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(__SANITIZE_THREAD__)
#define FSM_SHIM_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define FSM_SHIM_TSAN 1
#endif
#endif
#ifdef FSM_SHIM_TSAN
#include <sanitizer/tsan_interface.h>
extern "C" void AnnotateIgnoreReadsBegin(const char *, int);
extern "C" void AnnotateIgnoreReadsEnd(const char *, int);
extern "C" void AnnotateIgnoreWritesBegin(const char *, int);
extern "C" void AnnotateIgnoreWritesEnd(const char *, int);
#endif

struct uint3 {
    unsigned x, y, z;
};
struct dim3 {
    unsigned x, y, z;
    constexpr dim3(unsigned a = 1, unsigned b = 1, unsigned c = 1) : x(a), y(b), z(c) {}
    constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
};

inline thread_local uint3 threadIdx{}, blockIdx{};
inline thread_local dim3 blockDim, gridDim;
constexpr int warpSize = 32;

namespace fsm::shim {

// ---- switching between stacks

#if defined(__x86_64__)
// Puts what a function keeps on the stack, leaves its address in *from, and takes the same from the other stack.
__attribute__((naked, noinline)) inline void switch_stack(void ** /*from*/, void * /*to*/) {
    __asm__ volatile("pushq %rbp\n\tpushq %rbx\n\tpushq %r12\n\tpushq %r13\n\tpushq %r14\n\tpushq %r15\n\t"
                     "movq %rsp, (%rdi)\n\tmovq %rsi, %rsp\n\t"
                     "popq %r15\n\tpopq %r14\n\tpopq %r13\n\tpopq %r12\n\tpopq %rbx\n\tpopq %rbp\n\tret");
}
struct Stack {
    void *at = nullptr;
    void begin(char *memory, size_t size, void (*f)()) {
        void **top = reinterpret_cast<void **>(memory + size) - 8; // aligned to 16; six registers, f, its return address
        std::fill(top, top + 8, nullptr);
        top[6] = reinterpret_cast<void *>(f);
        at = top;
    }
    static void change(Stack &from, Stack &to) { switch_stack(&from.at, to.at); }
};
#else
struct Stack {
    ucontext_t at;
    void begin(char *memory, size_t size, void (*f)()) {
        getcontext(&at);
        at.uc_stack.ss_sp = memory;
        at.uc_stack.ss_size = size;
        makecontext(&at, f, 0);
    }
    static void change(Stack &from, Stack &to) { swapcontext(&from.at, &to.at); }
};
#endif

#ifdef FSM_SHIM_ASAN
constexpr size_t STACK = 1 << 20;
#else
constexpr size_t STACK = 256 << 10;
#endif

struct Fiber {
    Stack stack;
    const void *bottom = nullptr; // of the stack
    size_t size = 0;
    bool owned = false;
    void *fake = nullptr; // what AddressSanitizer keeps for it
    void *thread = nullptr; // ThreadSanitizer's
    Fiber() = default;
    Fiber(const Fiber &) = delete;
    explicit Fiber(void (*f)()) : size(STACK), owned(true) {
        void *p = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (p == MAP_FAILED) stop("no memory for the stack of a thread");
        mprotect(p, 4096, PROT_NONE);
        bottom = p;
        // Tops of stacks that are a power of two apart would share few lines of the processor's caches.
        static std::atomic<size_t> made;
        stack.begin(static_cast<char *>(p), size - made++ % 61 * 17 * 64, f);
#ifdef FSM_SHIM_TSAN
        thread = __tsan_create_fiber(0);
#endif
    }
    ~Fiber() {
#ifdef FSM_SHIM_TSAN
        if (owned) __tsan_destroy_fiber(thread);
#endif
        if (owned) munmap(const_cast<void *>(bottom), size);
    }
};

// ---- ThreadSanitizer

#ifdef FSM_SHIM_TSAN
constexpr bool WATCHED = true;
struct Quiet { // what the shim itself does is nobody's race
    Quiet() { AnnotateIgnoreReadsBegin(__FILE__, __LINE__), AnnotateIgnoreWritesBegin(__FILE__, __LINE__); }
    ~Quiet() { AnnotateIgnoreReadsEnd(__FILE__, __LINE__), AnnotateIgnoreWritesEnd(__FILE__, __LINE__); }
};
#define FSM_SHIM_UNWATCHED __attribute__((no_sanitize("thread")))
inline void before_others(void *p) { __tsan_release(p); }
inline void after_others(void *p) { __tsan_acquire(p); }
#else
constexpr bool WATCHED = false;
struct Quiet {
    Quiet() {}
};
#define FSM_SHIM_UNWATCHED
inline void before_others(void *) {}
inline void after_others(void *) {}
#endif

// ---- threads

struct Block;

struct Thread {
    uint3 index;
    int number; // in its block
    Block *block;
    Fiber *fiber;
    int parity; // which of two results of its last barrier or shuffle it reads
};

struct Site { // of a barrier or a shuffle
    const char *what, *file;
    int line;
    bool operator==(const Site &s) const { return line == s.line && what == s.what && (file == s.file || !std::strcmp(file, s.file)); }
};

// Threads that wait for each other: of a block, of a grid, or those of one mask of a warp.
struct Meeting {
    unsigned mask = 0;
    uint32_t lanes = 0; // that have come; of a warp
    int parity = 0;
    uint64_t times = 0; // it has taken place
    Site site{};
    std::vector<Thread *> waiting;
    int count[2] = {0, 0};      // of those that have come, whose condition holds
    uint64_t value[2][32] = {}; // of lanes
    uint32_t present[2] = {0, 0};
};

struct Warp {
    uint32_t live = 0;
    std::vector<Meeting> meetings; // one for each mask
};

struct Shared { // a variable in shared memory
    const void *key;
    std::unique_ptr<char[]> memory;
    char *data;
    size_t size;
};

struct Block {
    uint3 index;
    uint64_t number = 0; // in the grid
    int threads = 0, begun = 0, live = 0;
    std::vector<Thread> thread;
    std::vector<Warp> warp;
    Meeting barrier;
    std::vector<Shared> shared;
};

struct Taken { // of the heap, by a thread
    size_t now = 0, most = 0;
};

struct Machine {
    dim3 grid, size;
    size_t dynamic = 0; // bytes of shared memory of the launch
    std::function<void()> kernel;
    std::vector<Block> blocks; // that run now: one, or all of a cooperative launch
    std::deque<Thread *> ready;
    Thread *current = nullptr, *starting = nullptr;
    std::vector<Shared> retired; // of blocks that have ended, if it must not be used again in the launch
    Fiber outside, *running = nullptr;
    std::vector<std::unique_ptr<Fiber>> fibers;
    std::vector<Fiber *> idle;
    Meeting grid_barrier;
    int live = 0;
    std::unordered_map<uint64_t, Taken> taken; // by threads of the grid
    size_t heap = 0;                           // bytes, if all of these have what they have at most
    bool active = false, cooperative = false;
    uint64_t random = 0;
    int64_t launches = 0, switches = 0; // ever made
};
inline Machine &machine() {
    static thread_local Machine m;
    return m;
}

inline uint64_t next_random(uint64_t &s) { // splitmix64
    uint64_t z = (s += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

FSM_SHIM_UNWATCHED inline void change_fiber(Machine &m, Fiber *to) {
    Fiber *from = m.running;
    m.running = to;
    m.switches++;
#ifdef FSM_SHIM_ASAN
    __sanitizer_start_switch_fiber(&from->fake, to->bottom, to->size);
#endif
#ifdef FSM_SHIM_TSAN
    if (!from->owned) from->thread = __tsan_get_current_fiber();
    __tsan_switch_to_fiber(to->thread, __tsan_switch_to_fiber_no_sync);
#endif
    Stack::change(from->stack, to->stack);
#ifdef FSM_SHIM_ASAN
    __sanitizer_finish_switch_fiber(from->fake, nullptr, nullptr);
#endif
}

inline void select(Machine &m, Thread *t) {
    m.current = t;
    if (!t) return;
    threadIdx = t->index;
    blockIdx = t->block->index;
}

inline void wait(Machine &m) {
    Thread *t = m.current;
    Fiber *next = &m.outside;
    t->fiber = m.running;
    if (!m.ready.empty()) {
        m.current = m.ready.front(), m.ready.pop_front();
        next = m.current->fiber;
    }
    change_fiber(m, next);
    select(m, t);
}

inline void release(Machine &m, Meeting &meeting) {
    auto &w = meeting.waiting;
    if (options().reverse) std::reverse(w.begin(), w.end());
    if (m.random && !w.empty()) std::rotate(w.begin(), w.begin() + std::ptrdiff_t(next_random(m.random) % w.size()), w.end());
    m.ready.insert(m.ready.end(), w.begin(), w.end());
    w.clear();
    meeting.lanes = 0;
    meeting.parity ^= 1;
    meeting.times++;
    meeting.count[meeting.parity] = 0;
    meeting.present[meeting.parity] = 0;
}

inline void check_site(Meeting &meeting, bool first, const Site &site) {
    if (first) meeting.site = site;
    else if (!(meeting.site == site))
        stop("threads of a block wait at different places: %s at %s:%d, and %s at %s:%d", meeting.site.what, meeting.site.file,
             meeting.site.line, site.what, site.file, site.line);
}

// What stands for the n-th time that threads of a block meet, by which ThreadSanitizer knows who has met.
inline void *meeting_point(uint64_t block, uint64_t meeting, uint64_t n) {
    static char points[1 << 16];
    uint64_t word = block * 0x9e3779b97f4a7c15 + meeting * 0xbf58476d1ce4e5b9 + n * 0x94d049bb133111eb;
    return &points[word >> 48 & 0xfff8];
}

// Waits until `expected` threads have come, some of which have come already; how many conditions hold.
inline int meet(Meeting &meeting, size_t expected, int threads, bool condition, const Site &site) {
    Machine &m = machine();
    if (int(expected) != threads)
        stop("%d of %d threads have ended and will not come to %s at %s:%d", threads - int(expected), threads, site.what, site.file, site.line);
    check_site(meeting, meeting.waiting.empty(), site);
    int parity = meeting.parity;
    void *point = meeting_point(m.current->block->number, 0, meeting.times);
    if (&meeting == &m.grid_barrier) point = meeting_point(UINT64_MAX, 0, meeting.times);
    before_others(point);
    meeting.count[parity] += condition;
    if (meeting.waiting.size() + 1 == expected) {
        release(m, meeting);
    } else {
        meeting.waiting.push_back(m.current);
        wait(m);
    }
    after_others(point);
    return meeting.count[parity];
}

inline int sync_block(bool condition, const char *what, const char *file, int line) {
    Quiet quiet;
    Block &b = *machine().current->block;
    return meet(b.barrier, size_t(b.live), b.threads, condition, Site{what, file, line});
}

inline void sync_grid(const char *file, int line) {
    Quiet quiet;
    Machine &m = machine();
    if (!m.cooperative) stop("a grid waits at %s:%d that was not started by FSM_LAUNCH_GRID", file, line);
    meet(m.grid_barrier, size_t(m.live), int(m.blocks.size()) * m.blocks[0].threads, false, Site{"a barrier of the grid", file, line});
}

// The meeting of the lanes of the mask, once all have come; each brings a value. Read it with the parity given back.
inline Meeting &meet_warp(unsigned mask, uint64_t value, bool condition, const Site &site, int *parity) {
    Machine &m = machine();
    Thread *t = m.current;
    Warp &w = t->block->warp[size_t(t->number / 32)];
    unsigned lane = unsigned(t->number % 32);
    if (!(mask >> lane & 1)) stop("%s at %s:%d by lane %u, which is not in its mask %x", site.what, site.file, site.line, lane, mask);
    auto at = std::find_if(w.meetings.begin(), w.meetings.end(), [&](const Meeting &x) { return x.mask == mask; });
    if (at == w.meetings.end()) {
        w.meetings.reserve(64); // references stay valid
        if (w.meetings.size() == 64) stop("a warp uses more than 64 masks");
        at = w.meetings.emplace(w.meetings.end());
        at->mask = mask;
    }
    Meeting &meeting = *at;
    check_site(meeting, !meeting.lanes, site);
    int p = *parity = meeting.parity;
    meeting.lanes |= 1u << lane;
    meeting.value[p][lane] = value;
    meeting.present[p] |= uint32_t(condition) << lane;
    if (meeting.lanes == (mask & w.live)) {
        release(m, meeting);
    } else {
        meeting.waiting.push_back(t);
        wait(m);
    }
    return meeting;
}

inline void end_thread(Machine &m) {
    Thread *t = m.current;
    Block &b = *t->block;
    b.live--;
    m.live--;
    for (Meeting *x : {&b.barrier, &m.grid_barrier})
        if (!x->waiting.empty())
            stop("thread (%u, %u, %u) ended while others wait at %s at %s:%d", t->index.x, t->index.y, t->index.z, x->site.what,
                 x->site.file, x->site.line);
    Warp &w = b.warp[size_t(t->number / 32)];
    w.live &= ~(1u << (t->number % 32));
    for (Meeting &x : w.meetings)
        if (x.lanes && x.lanes == (x.mask & w.live)) release(m, x);
}

// The next thread that has not begun.
inline Thread *next_thread(Machine &m) {
    for (Block &b : m.blocks)
        if (b.begun < b.threads) {
            int k = b.begun++;
            return &b.thread[size_t(options().reverse ? b.threads - 1 - k : k)];
        }
    return nullptr;
}

inline void fiber_main() {
    Machine &m = machine();
#ifdef FSM_SHIM_ASAN
    __sanitizer_finish_switch_fiber(nullptr, &m.outside.bottom, &m.outside.size);
#endif
    std::optional<Quiet> quiet(std::in_place);
    for (;;) {
        for (Thread *t = m.starting; t; t = WATCHED ? nullptr : next_thread(m)) {
            select(m, t);
            quiet.reset();
            after_others(&m.grid);
            m.kernel();
            before_others(&m.live);
            quiet.emplace();
            end_thread(m);
        }
        if (!WATCHED) m.idle.push_back(m.running);
        quiet.reset(); // it may be the end of the fiber
        change_fiber(m, &m.outside);
        quiet.emplace();
    }
}

// The fiber that begins the thread; of its own, if ThreadSanitizer is to know it.
inline Fiber *fiber_for(Machine &m, const Thread *t) {
    size_t number = WATCHED ? size_t(t->block - m.blocks.data()) * size_t(t->block->threads) + size_t(t->number) : m.fibers.size();
    if (!WATCHED && !m.idle.empty()) {
        Fiber *f = m.idle.back();
        m.idle.pop_back();
        return f;
    }
    while (m.fibers.size() <= number) m.fibers.push_back(std::make_unique<Fiber>(fiber_main));
    return m.fibers[number].get();
}

inline void run_blocks(Machine &m) {
    for (;;) {
        if (!m.ready.empty()) {
            Thread *t = m.ready.front();
            m.ready.pop_front();
            m.current = t;
            change_fiber(m, t->fiber);
        } else if (Thread *t = next_thread(m)) {
            m.starting = t;
            change_fiber(m, fiber_for(m, t));
        } else if (m.live) {
            for (Block &b : m.blocks)
                for (Warp &w : b.warp)
                    for (Meeting &x : w.meetings)
                        if (x.lanes)
                            stop("lanes %x of mask %x wait at %s at %s:%d for lanes that wait elsewhere", x.lanes, x.mask, x.site.what,
                                 x.site.file, x.site.line);
            stop("all threads wait");
        } else {
            return;
        }
    }
}

inline void begin_block(Machine &m, Block &b, uint64_t number) {
    b.index = {unsigned(number % m.grid.x), unsigned(number / m.grid.x % m.grid.y), unsigned(number / m.grid.x / m.grid.y)};
    b.number = number;
    b.threads = b.live = int(m.size.x * m.size.y * m.size.z);
    b.begun = 0;
    b.thread.resize(size_t(b.threads));
    b.warp.resize(size_t(b.threads + 31) / 32);
    for (Warp &w : b.warp) w.live = 0;
    for (int i = 0; i < b.threads; i++) {
        unsigned k = unsigned(i);
        b.thread[k] = {{k % m.size.x, k / m.size.x % m.size.y, k / m.size.x / m.size.y}, i, &b, nullptr, 0};
        b.warp[k / 32].live |= 1u << (k % 32);
    }
    if (WATCHED) {
        std::move(b.shared.begin(), b.shared.end(), std::back_inserter(m.retired));
        b.shared.clear();
    }
    for (Shared &s : b.shared) fill(s.data, POISON, s.size);
    m.live += b.threads;
}

inline void check_shared(const Block &b) {
    for (const Shared &s : b.shared)
        if (!is_filled(s.data + s.size, FENCE, 64)) stop("a kernel wrote behind an array of %zu bytes in shared memory", s.size);
}

constexpr size_t SHARED_LIMIT = 227 * 1024;

inline char *shared_memory(const void *key, size_t size) {
    Quiet quiet;
    Block &b = *machine().current->block;
    for (Shared &s : b.shared)
        if (s.key == key) return s.data;
    size_t all = size;
    for (Shared &s : b.shared) all += s.size;
    if (all > SHARED_LIMIT) stop("a block has %zu bytes of shared memory: at most %zu are possible", all, SHARED_LIMIT);
    Shared s{key, std::make_unique<char[]>(size + 128 + 64), nullptr, size};
    s.data = s.memory.get() + 128 - reinterpret_cast<uintptr_t>(s.memory.get()) % 128;
    fill(s.data, POISON, size);
    fill(s.data + size, FENCE, 64);
    b.shared.push_back(std::move(s));
    return b.shared.back().data;
}
inline char *dynamic_shared() {
    static const char key = 0;
    return shared_memory(&key, machine().dynamic);
}

// malloc of a kernel's thread, or of the host. The heap is as full as if all threads ran at once, each with what it has at most.
struct HeapBlock {
    Taken *owner;
    size_t bytes;
};
inline void *heap_take(size_t bytes) {
    Quiet quiet;
    Machine &m = machine();
    const size_t room = (bytes + 2 * sizeof(HeapBlock) - 1) / sizeof(HeapBlock) * sizeof(HeapBlock);
    Taken *t = nullptr;
    if (m.active) {
        std::lock_guard<std::mutex> lock(heap().mutex);
        heap().used = true;
        t = &m.taken[m.current->block->number << 10 | uint64_t(m.current->number)];
        const size_t more = t->now + room > t->most ? t->now + room - t->most : 0;
        if (room > heap().limit || m.heap + more > heap().limit) return nullptr;
        t->now += room, t->most += more, m.heap += more;
    }
    HeapBlock *b = static_cast<HeapBlock *>(std::malloc(room));
    if (!b) return nullptr;
    *b = {t, room};
    fill(b + 1, POISON, bytes);
    return b + 1;
}
inline void heap_return(void *memory) {
    Quiet quiet;
    if (!memory) return;
    HeapBlock *b = static_cast<HeapBlock *>(memory) - 1;
    if (b->owner) b->owner->now -= b->bytes;
    std::free(b);
}

inline cudaError_t check_shape(dim3 grid, dim3 block, size_t shared) {
    bool ok = grid.x && grid.y && grid.z && block.x && block.y && block.z && grid.x <= 0x7fffffff && grid.y <= 65535 &&
              grid.z <= 65535 && block.x <= 1024 && block.y <= 1024 && block.z <= 64 &&
              uint64_t(block.x) * block.y * block.z <= 1024;
    return ok && shared <= SHARED_LIMIT ? cudaSuccess : cudaErrorInvalidConfiguration;
}

inline void run(dim3 grid, dim3 block, size_t shared, bool cooperative, std::function<void()> kernel) {
    Machine &m = machine();
    if (m.active) stop("a kernel starts a kernel");
    uint64_t n = uint64_t(grid.x) * grid.y * grid.z;
    m.active = true;
    m.cooperative = cooperative;
    m.grid = gridDim = grid;
    m.size = blockDim = block;
    m.dynamic = shared;
    m.kernel = std::move(kernel);
    m.live = 0;
    m.running = &m.outside;
    m.launches++;
    m.random = options().seed ? options().seed + uint64_t(m.launches) : 0;
    uint64_t offset = 0, step = options().reverse ? n - 1 : 1; // of the blocks' order
    if (m.random) {
        offset = next_random(m.random) % n;
        do step = next_random(m.random) % n;
        while (std::gcd(step, n) != 1);
    }
    m.blocks.clear();
    m.blocks.resize(cooperative ? size_t(n) : 1);
    before_others(&m.grid);
    std::optional<Quiet> quiet(std::in_place);
    for (uint64_t i = 0; i < n; i++) {
        begin_block(m, m.blocks[cooperative ? size_t(i) : 0], (offset + i * step) % n);
        if (cooperative && i + 1 < n) continue;
        run_blocks(m);
        for (Block &b : m.blocks) check_shared(b);
    }
    quiet.reset();
    after_others(&m.live);
    m.retired.clear();
    m.taken.clear();
    m.heap = 0;
    m.kernel = nullptr;
    m.active = false;
}

template <class T> void check_argument(const T &x) {
    if constexpr (std::is_pointer_v<T>)
        if (x) memory().require(x, 0, true, "a kernel", "argument");
}

// A kernel and its arguments, as bytes of which one function knows the type: a program has thousands of kinds of
// kernels, so that little is made for each.
using CallKernel = void (*)(const void *kernel);
template <class F> void call_kernel(const void *kernel) { (*static_cast<const F *>(kernel))(); }

inline void start(bool cooperative, dim3 grid, dim3 block, size_t shared, cudaStream_t stream, CallKernel call,
                  const void *kernel, size_t size) {
    cudaError_t e = cudaSuccess;
    if (fails("launch", &e) || note(check_shape(grid, block, shared))) return;
    counts().launches++;
    std::shared_ptr<std::max_align_t> copy(static_cast<std::max_align_t *>(std::malloc(size)), std::free);
    std::memcpy(copy.get(), kernel, size);
    enqueue(stream, [=] { run(grid, block, shared, cooperative, [&] { call(copy.get()); }); });
}

// The threads of one block after the other call kernel(arguments…), which are copied as bytes, as CUDA does it.
template <class T> struct AsIs {
    using type = T;
};
template <class... P>
void launch(bool cooperative, void (*kernel)(P...), dim3 grid, dim3 block, size_t shared, cudaStream_t stream, typename AsIs<P>::type... x) {
    (check_argument(x), ...);
    const auto call = [=] { kernel(x...); };
    using F = std::remove_const_t<decltype(call)>;
    static_assert(std::is_trivially_copyable_v<F> && alignof(F) <= alignof(std::max_align_t),
                  "arguments of kernels are plain bytes");
    start(cooperative, grid, block, shared, stream, call_kernel<F>, &call, sizeof call);
}

} // namespace fsm::shim

#define FSM_LAUNCH(kernel, grid, block, shared_bytes, stream, ...) \
    fsm::shim::launch(false, kernel, grid, block, shared_bytes, stream, __VA_ARGS__)
// All blocks run at once, and may wait for each other by fsm::cuda::sync_grid().
#define FSM_LAUNCH_GRID(kernel, grid, block, shared_bytes, stream, ...) \
    fsm::shim::launch(true, kernel, grid, block, shared_bytes, stream, __VA_ARGS__)
// A variable NAME of the type in the shared memory of the block.
#define FSM_SHARED(name, ...)                   \
    static const char name##_key = 0;           \
    auto &name = *reinterpret_cast<fsm::shim::Itself<__VA_ARGS__> *>( \
        fsm::shim::shared_memory(&name##_key, sizeof(fsm::shim::Itself<__VA_ARGS__>)))
#define FSM_MALLOC(bytes) fsm::shim::heap_take(bytes)
#define FSM_FREE(memory) fsm::shim::heap_return(memory)
// What races to the end of the scope is meant to.
#define FSM_RACES fsm::shim::Quiet fsm_races
// The loop's iterations are written out.
#define FSM_UNROLL
// NAME is the address of the shared memory that the launch asks for.
#define FSM_DYNAMIC_SHARED(type, name) type *name = reinterpret_cast<type *>(fsm::shim::dynamic_shared())

namespace fsm::shim {
template <class T> using Itself = T;
}

// ---- CUDA's functions for threads; file and line are those of the caller

inline void __syncthreads(const char *file = __builtin_FILE(), int line = __builtin_LINE()) {
    fsm::shim::sync_block(false, "__syncthreads", file, line);
}
inline int __syncthreads_count(int p, const char *file = __builtin_FILE(), int line = __builtin_LINE()) {
    return fsm::shim::sync_block(p != 0, "__syncthreads_count", file, line);
}
inline int __syncthreads_or(int p, const char *file = __builtin_FILE(), int line = __builtin_LINE()) {
    return fsm::shim::sync_block(p != 0, "__syncthreads_or", file, line) != 0;
}
inline int __syncthreads_and(int p, const char *file = __builtin_FILE(), int line = __builtin_LINE()) {
    return fsm::shim::sync_block(p == 0, "__syncthreads_and", file, line) == 0;
}

namespace fsm::shim {
template <class T> uint64_t to_word(T x) {
    static_assert(sizeof(T) <= 8 && std::is_trivially_copyable_v<T>, "a shuffle moves at most 8 bytes");
    uint64_t w = 0;
    std::memcpy(&w, &x, sizeof x);
    return w;
}
// What lane `from` brings; nothing that can be used if it is none of the mask.
template <class T> T shuffle(unsigned mask, T x, int from, const Site &site) {
    Quiet quiet;
    int parity;
    Meeting &meeting = meet_warp(mask, to_word(x), true, site, &parity);
    uint64_t w = meeting.present[parity] >> from & 1 ? meeting.value[parity][from] : POISON;
    std::memcpy(&x, &w, sizeof x);
    return x;
}
inline int lane() {
    Quiet quiet;
    return machine().current->number % 32;
}
inline unsigned vote(unsigned mask, bool p, const Site &site) {
    Quiet quiet;
    int parity;
    return meet_warp(mask, 0, p, site, &parity).present[parity];
}
} // namespace fsm::shim

inline void __syncwarp(unsigned mask = 0xffffffff, const char *file = __builtin_FILE(), int line = __builtin_LINE()) {
    fsm::shim::Quiet quiet;
    const fsm::shim::Thread &t = *fsm::shim::machine().current;
    // One point for all times: what the lanes did before is then known to them, and more.
    void *point = fsm::shim::meeting_point(t.block->number, 1 + unsigned(t.number / 32), mask);
    fsm::shim::before_others(point); // of these functions, only this one orders what is in memory
    fsm::shim::vote(mask, false, {"__syncwarp", file, line});
    fsm::shim::after_others(point);
}
inline unsigned __ballot_sync(unsigned mask, int p, const char *file = __builtin_FILE(), int line = __builtin_LINE()) {
    return fsm::shim::vote(mask, p, {"__ballot_sync", file, line});
}
inline int __any_sync(unsigned mask, int p, const char *file = __builtin_FILE(), int line = __builtin_LINE()) {
    return fsm::shim::vote(mask, p, {"__any_sync", file, line}) != 0;
}
inline int __all_sync(unsigned mask, int p, const char *file = __builtin_FILE(), int line = __builtin_LINE()) {
    return fsm::shim::vote(mask, !p, {"__all_sync", file, line}) == 0;
}
template <class T>
T __shfl_sync(unsigned mask, T x, int from, int width = 32, const char *file = __builtin_FILE(), int line = __builtin_LINE()) {
    int lane = fsm::shim::lane();
    return fsm::shim::shuffle(mask, x, (lane & ~(width - 1)) | (from & (width - 1)), {"__shfl_sync", file, line});
}
template <class T>
T __shfl_up_sync(unsigned mask, T x, unsigned by, int width = 32, const char *file = __builtin_FILE(), int line = __builtin_LINE()) {
    int lane = fsm::shim::lane(), from = lane - int(by);
    return fsm::shim::shuffle(mask, x, from < (lane & ~(width - 1)) ? lane : from, {"__shfl_up_sync", file, line});
}
template <class T>
T __shfl_down_sync(unsigned mask, T x, unsigned by, int width = 32, const char *file = __builtin_FILE(), int line = __builtin_LINE()) {
    int lane = fsm::shim::lane(), from = lane + int(by);
    return fsm::shim::shuffle(mask, x, from > (lane | (width - 1)) ? lane : from, {"__shfl_down_sync", file, line});
}
template <class T>
T __shfl_xor_sync(unsigned mask, T x, int by, int width = 32, const char *file = __builtin_FILE(), int line = __builtin_LINE()) {
    int lane = fsm::shim::lane(), from = lane ^ by;
    return fsm::shim::shuffle(mask, x, from > (lane | (width - 1)) ? lane : from, {"__shfl_xor_sync", file, line});
}
template <class T>
unsigned __match_any_sync(unsigned mask, T x, const char *file = __builtin_FILE(), int line = __builtin_LINE()) {
    fsm::shim::Quiet quiet;
    int parity;
    fsm::shim::Meeting &meeting = fsm::shim::meet_warp(mask, fsm::shim::to_word(x), true, {"__match_any_sync", file, line}, &parity);
    unsigned same = 0;
    for (unsigned k = 0; k < 32; k++)
        if (meeting.present[parity] >> k & 1 && meeting.value[parity][k] == fsm::shim::to_word(x)) same |= 1u << k;
    return same;
}
namespace fsm::cuda {
inline void sync_grid(const char *file = __builtin_FILE(), int line = __builtin_LINE()) { fsm::shim::sync_grid(file, line); }
}
inline unsigned __activemask() {
    fsm::shim::Quiet quiet;
    return fsm::shim::machine().current->block->warp[size_t(fsm::shim::machine().current->number / 32)].live; }
inline void __threadfence() {}
inline void __threadfence_block() {}
inline void __threadfence_system() {}

#endif
