// What a call starts, recorded as a CUDA graph and started again by later calls of the same arguments. Part of fsmc/cuda.h.
#ifndef FSMC_CUDA_GRAPH_H
#define FSMC_CUDA_GRAPH_H

#include "fsmc/cuda/call.h"

#include <cstddef>

// So many calls run as they are before one is recorded; another number is for tests. Recording takes longer than a call, and is for
// nothing where each call has arrays of its own.
#ifndef FSM_RECORD_AFTER
#define FSM_RECORD_AFTER 1
#endif

namespace fsm::cuda {

// An argument as a word of a key.
template <class T> uint64_t word(T x) {
    static_assert(sizeof x <= 8, "an argument is a number or an address");
    uint64_t w = 0;
    memcpy(&w, &x, sizeof x);
    return w;
}

// A key that has been seen, and its graph if it has been recorded.
struct KeptGraph {
    enum { OWN = 5 }; // words before those that are given
    uint64_t *key;    // owned
    size_t nkey;
    uint64_t hash;
    int64_t seen, starts; // calls; what one starts
    cudaGraphExec_t exec;
    unsigned long long numbers; // launches that may fail
    KeptGraph *next;
};

// What starts kernels, copies and fills. It has one type, so that a program of many such bodies has one way of
// recording them.
struct Body {
    void (*start)(void *body);
    void *data;
};

struct Graphs {
    // Of a context; a graph of fewer launches gains nothing, one of more takes too much memory.
    enum { MOST_KEPT = 64, LEAST = 4, MOST = 1 << 16 };

    static void drop(KeptGraph *g) {
        if (g->exec) cudaGraphExecDestroy(g->exec);
        delete[] g->key;
        delete g;
    }
    static void drop_all(void *list) {
        for (KeptGraph *g = static_cast<KeptGraph *>(list), *next; g; g = next) next = g->next, drop(g);
    }

    // What launches depend on besides arguments: where the call's scratch lies, and how failures are told.
    static void own_words(Call &call, const void *site, uint64_t *own) {
        const Pool &pool = call.part_->pool;
        own[0] = word(site), own[1] = word(call.checks_), own[2] = word(pool.place());
        own[3] = pool.generation, own[4] = call.launch_;
    }
    static uint64_t hash_of(const uint64_t *own, const uint64_t *key, size_t n) {
        uint64_t h = 0xcbf29ce484222325;
        for (size_t i = 0; i < KeptGraph::OWN; i++) h = (h ^ own[i]) * 0x9e3779b97f4a7c15, h ^= h >> 29;
        for (size_t i = 0; i < n; i++) h = (h ^ key[i]) * 0x9e3779b97f4a7c15, h ^= h >> 29;
        return h;
    }

    // What is kept of the key, as the first of the list; NULL if it has not been seen. Of too many, the last is dropped.
    static KeptGraph *find(DevicePart *part, uint64_t hash, const uint64_t *own, const uint64_t *key, size_t n) {
        KeptGraph **first = reinterpret_cast<KeptGraph **>(&part->graphs.handle), **at = first;
        for (int count = 0; *at; at = &(*at)->next) {
            KeptGraph *x = *at;
            if (x->hash == hash && x->nkey == n && !memcmp(x->key, own, KeptGraph::OWN * sizeof *own) &&
                !memcmp(x->key + KeptGraph::OWN, key, n * sizeof *key)) {
                *at = x->next;
                x->next = *first;
                return *first = x;
            }
            if (++count == MOST_KEPT) {
                *at = nullptr;
                drop_all(x);
                return nullptr;
            }
        }
        return nullptr;
    }
    static void keep(DevicePart *part, uint64_t hash, const uint64_t *own, const uint64_t *key, size_t n, int64_t starts) {
        KeptGraph *g =
            new (std::nothrow) KeptGraph{new (std::nothrow) uint64_t[KeptGraph::OWN + n], n, hash, 0, starts, nullptr, 0, nullptr};
        if (!g || !g->key) return delete g;
        memcpy(g->key, own, KeptGraph::OWN * sizeof *own);
        memcpy(g->key + KeptGraph::OWN, key, n * sizeof *key);
        g->next = static_cast<KeptGraph *>(part->graphs.handle);
        part->graphs = {g, drop_all};
    }

    // Starts what the body starts in the call's stream; gives the number of launches.
    static int64_t run(Call &call, Body body) {
        const int64_t before = call.starts_;
        Pool::Mark mark = call.mark();
        body.start(body.data);
        call.release(mark);
        return call.starts_ - before;
    }

    // Leaves g->exec NULL where a graph cannot be made, or would not have all of it: the call does without, and tells what is
    // wrong.
    static void capture(Call &call, KeptGraph *g, Body body) {
        DevicePart *part = call.part_;
        g->starts = 0; // otherwise, no call tries again
        if (!part->capture && cudaStreamCreateWithFlags(&part->capture, cudaStreamNonBlocking)) return forget();
        if (cudaStreamBeginCapture(part->capture, cudaStreamCaptureModeRelaxed)) return forget();
        cudaStream_t stream = call.stream_;
        const unsigned long long before = call.launch_;
        const bool may_fail = call.may_fail_;
        call.use(part->capture), call.may_fail_ = false; // a failure waits for nothing
        const int64_t starts = run(call, body);
        call.use(stream), call.may_fail_ = may_fail;
        const unsigned long long numbers = call.launch_ - before;
        call.launch_ = before;
        const bool failed = call.code_ != FSM_OK;
        if (failed && call.code_ != FSM_ERROR_CANCELLED) { // it does when the body runs, or a kernel before it
            call.code_ = FSM_OK;
            fsm_text_begin(call.ctx_);
        }
        cudaGraph_t graph = nullptr;
        cudaError_t e = cudaGetLastError(); // of launches
        const cudaError_t ended = cudaStreamEndCapture(part->capture, &graph);
        if (!e) e = ended;
        if (!e && !failed) e = cudaGraphInstantiate(&g->exec, graph, 0);
        if (graph) cudaGraphDestroy(graph);
        if (e) g->exec = nullptr, forget();
        else if (!failed) g->starts = starts, g->numbers = numbers;
    }
    static void forget() { cudaGetLastError(); }
    // Starts what was recorded. Nothing has been started if it cannot be, as for want of memory.
    static bool start(Call &call, KeptGraph *g) {
        if (cudaGraphLaunch(g->exec, call.stream())) {
            forget();
            cudaGraphExecDestroy(g->exec);
            g->exec = nullptr, g->starts = 0;
            return false;
        }
        call.launch_ += g->numbers;
        call.may_fail_ = call.may_fail_ || g->numbers;
        return true;
    }

    static int recorded(Call &call, const void *site, const uint64_t *key, size_t n, Body body) {
        if (call.code() || call.poll()) return call.code();
        if (call.captured_) return run(call, body), call.code(); // a part of the caller's graph
        DevicePart *part = call.part_;
        uint64_t own[KeptGraph::OWN];
        own_words(call, site, own);
        uint64_t hash = hash_of(own, key, n);
        KeptGraph *g = find(part, hash, own, key, n);
        if (!g && FSM_RECORD_AFTER == 0) keep(part, hash, own, key, n, LEAST), g = static_cast<KeptGraph *>(part->graphs.handle);
        if (g && !g->exec && ++g->seen >= FSM_RECORD_AFTER && g->starts >= LEAST && g->starts <= MOST) capture(call, g, body);
        if (call.code() || (g && g->exec && start(call, g))) return call.code();
        const int64_t starts = run(call, body);
        if (call.code() || g) return call.code();
        const unsigned long long launch = own[4];
        own_words(call, site, own), own[4] = launch; // the pool as the next call finds it
        hash = hash_of(own, key, n);
        keep(part, hash, own, key, n, starts);
        return FSM_OK;
    }
};

// Does body(), which only starts kernels, copies and fills on the device, in call.stream(). When it has been done with the same
// key, what it started is recorded, and from then on started again at once, in other calls, too. So it must not look at anything
// that may differ: the key has all that its launches depend on besides the site, such as sizes, addresses and other arguments, as
// words. The site is an address of its own for each place in a program. Gives code() back.
template <class F, size_t N> int recorded(Call &call, const void *site, const uint64_t (&key)[N], F body) {
    return Graphs::recorded(call, site, key, N, {[](void *f) { (*static_cast<F *>(f))(); }, &body});
}

} // namespace fsm::cuda

#endif
