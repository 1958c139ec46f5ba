// Launches that are recorded once, as a CUDA graph, and then made again. Part of fsmc/cuda.h.
#ifndef FSMC_CUDA_GRAPH_H
#define FSMC_CUDA_GRAPH_H

#include "fsmc/cuda/call.h"

#include <initializer_list>

namespace fsm::cuda {

template <class = void> __global__ void next_replay(ErrorRecord *record, int64_t *index) {
    record->replay++;
    ++*index;
}

// A graph that a context keeps, for later calls.
struct KeptGraph {
    const void *site;
    uint64_t *key; // owned
    int nkey;
    cudaGraphExec_t exec;
    unsigned long long launches; // that may fail, in it
    KeptGraph *next;
};

struct Graphs {
    enum { MOST = 64, OWN = 4 }; // graphs of a context; words that are added to a key

    static void drop(KeptGraph *g) {
        if (g->exec) cudaGraphExecDestroy(g->exec);
        delete[] g->key;
        delete g;
    }
    static void drop_all(void *list) {
        for (KeptGraph *g = static_cast<KeptGraph *>(list), *next; g; g = next) next = g->next, drop(g);
    }

    // A graph without `exec`, or NULL.
    static KeptGraph *make(Call &call, const void *site, std::initializer_list<uint64_t> key) {
        KeptGraph *g = new (std::nothrow) KeptGraph{site, nullptr, int(key.size()) + OWN, nullptr, 0, nullptr};
        if (g) g->key = new (std::nothrow) uint64_t[size_t(g->nkey)];
        if (!g || !g->key) {
            delete g;
            return nullptr;
        }
        uint64_t *k = g->key;
        for (uint64_t word : key) *k++ = word;
        *k++ = call.part_->pool.generation;
        *k++ = uint64_t(call.mark().bytes);
        *k++ = call.launch_;
        *k++ = reinterpret_cast<uintptr_t>(call.checks_);
        return g;
    }
    // The kept graph that is as g would be, as the first of the list; NULL if there is none. Of too many, the last is dropped.
    static KeptGraph *find(DevicePart *part, const KeptGraph *g) {
        KeptGraph **first = reinterpret_cast<KeptGraph **>(&part->graphs.handle), **at = first;
        for (int n = 0; *at; at = &(*at)->next) {
            KeptGraph *x = *at;
            if (x->site == g->site && x->nkey == g->nkey && !memcmp(x->key, g->key, size_t(g->nkey) * sizeof *g->key)) {
                *at = x->next;
                x->next = *first;
                return *first = x;
            }
            if (++n == MOST) {
                *at = nullptr;
                drop_all(x);
                return nullptr;
            }
        }
        return nullptr;
    }

    // The body once, and the step of the index.
    template <class F> static void once(Call &call, int64_t *index, F &body) {
        Pool::Mark mark = call.mark();
        body(static_cast<const int64_t *>(index));
        call.release(mark);
        if (!call.code()) FSM_LAUNCH(next_replay<>, 1, 1, 0, call.stream_, call.part_->record, index);
    }

    template <class F> static void capture(Call &call, KeptGraph *g, int64_t *index, F &body) {
        DevicePart *part = call.part_;
        if (!part->capture && call.check(cudaStreamCreateWithFlags(&part->capture, cudaStreamNonBlocking))) return;
        if (call.check(cudaStreamBeginCapture(part->capture, cudaStreamCaptureModeRelaxed))) return;
        cudaStream_t stream = call.stream_;
        unsigned long long before = call.launch_;
        call.stream_ = part->capture;
        once(call, index, body);
        call.stream_ = stream;
        g->launches = call.launch_ - before;
        call.launch_ = before;
        cudaGraph_t graph = nullptr;
        call.check(cudaStreamEndCapture(part->capture, &graph));
        if (!call.code()) call.check(cudaGraphInstantiate(&g->exec, graph, 0));
        if (graph) cudaGraphDestroy(graph);
    }

    template <class F> static int replay(Call &call, const void *site, std::initializer_list<uint64_t> key, int64_t times, F &body) {
        if (call.code() || times <= 0) return call.code();
        cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
        if (call.check(cudaStreamIsCapturing(call.stream_, &status))) return call.code();
        Pool::Mark mark = call.mark();
        int64_t *index = call.alloc<int64_t>(1);
        KeptGraph *g = nullptr;
        if (call.code() || call.check(cudaMemsetAsync(index, 0, sizeof *index, call.stream_))) return call.code();
        if (status == cudaStreamCaptureStatusNone) g = make(call, site, key);
        if (!g) { // part of the user's graph; or there is no memory to keep one
            for (int64_t t = 0; t < times && !call.poll(); t++) once(call, index, body);
            call.release(mark);
            return call.code();
        }
        KeptGraph *known = find(call.part_, g);
        if (known) {
            drop(g);
        } else {
            capture(call, g, index, body);
            if (call.code()) return drop(g), call.code();
            known = g;
            g->next = static_cast<KeptGraph *>(call.part_->graphs.handle);
            call.part_->graphs = {g, drop_all};
        }
        for (int64_t t = 0; t < times && !call.poll(); t++) call.check(cudaGraphLaunch(known->exec, call.stream_));
        call.launch_ += known->launches;
        call.may_fail_ = call.may_fail_ || known->launches;
        call.release(mark);
        return call.code();
    }
};

// Does body(index) `times` times, where *index, in device memory, is 0, 1, …. The body only starts kernels and copies on the
// device, in call.stream(); it runs once, and what it started is started again, in this call and later ones. So it must not
// look at anything that may differ: the key has all that its launches depend on besides the site, such as sizes, addresses and
// other arguments, as words. The site is an address of its own for each place in a program. Gives code() back.
template <class F> int replay(Call &call, const void *site, std::initializer_list<uint64_t> key, int64_t times, F body) {
    return Graphs::replay(call, site, key, times, body);
}

} // namespace fsm::cuda

#endif
