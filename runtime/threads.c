// Threads: the chunks of a loop, shared out to the threads of a context.
//
// How a loop is cut into chunks depends on its size alone, and what chunks add up is combined in their order, by compiled
// code, after all of them: so results do not depend on how many threads there are, nor on which of them does what. Each thread
// has a range of the chunks, takes one after the other of it, and then of the others' ranges: loops over the same data find in a
// thread's caches what it has had before. The thread of the call takes part, and waits only for those that have begun: a thread
// that comes late finds nothing to do.
#define _GNU_SOURCE
#include "context.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

// PIECES: the least chunk is so many times smaller if nothing is copied for it, so that threads end closer together. COPIES: the
// most elements that are copied for chunks; a gradient by some millions of numbers is still shared out. SPINS: how long a thread
// looks for work before it sleeps, a tenth of a millisecond: waking one takes half of that on a virtual machine, and a loop
// between two that are shared out, like the top of a block of a matrix that is factored, may take as long.
enum { MOST_CHUNKS = 64, PIECES = 4, COPIES = 32 << 20, SPINS = 10000, MOST_THREADS = 1024 };

int64_t fsm_chunk(int64_t n, double work, double copied, int64_t block) {
    double least = FSM_COPY_WORK * copied > FSM_CHUNK_WORK ? FSM_COPY_WORK * copied : FSM_CHUNK_WORK;
    if (copied <= 0) least /= PIECES;
    int64_t chunks = 1;
    if (n <= 0) return n <= -INT64_MAX ? INT64_MAX : 1 - n; // of which (n + size - 1) / size are none
    if (n == 1) return 1;
    while (chunks < MOST_CHUNKS && (double)n * work >= 2 * (double)chunks * least && 2 * (double)chunks * copied <= COPIES) chunks *= 2;
    int64_t size = (n - 1) / chunks + 1;
    int64_t over = size % block;
    return chunks == 1 || !over || size > INT64_MAX - block ? size : size - over + block;
}

// ---- teams

typedef struct Worker {
    fsm_context ctx;
    Team *team;
    int number;    // from 1: the call's thread is 0
    uint32_t seen; // the number of the last job that it looked at
    _Atomic int64_t next; // chunk of its range
    pthread_t thread;
} Worker;

struct Team {
    fsm_context *ctx;
    pid_t process; // in another one the threads do not exist
    pthread_mutex_t lock;
    pthread_cond_t wake, done;
    Worker *worker[MOST_THREADS];
    int n; // workers 1 … n
    atomic_int spins;     // none if there are more threads than processors
    atomic_int sleeping;  // workers that wait for `wake`
    atomic_bool waiting;  // the call's thread waits for `done`
    // The job: its number (32 bits), whether it may still be joined (1), how many threads may (15), how many have (16).
    _Atomic uint64_t state;
    fsm_chunk_function *f;
    const void *shared;
    int64_t chunks;
    _Atomic int64_t next;   // chunk of the range of the call's thread
    _Atomic int64_t failed; // the first chunk that has, set under the lock; those before it are done all the same
    int code;
    char error[ERROR_SIZE];
};

static const uint64_t OPEN = UINT64_C(1) << 31, ACTIVE = 0xffff;
static uint32_t job_of(uint64_t state) { return (uint32_t)(state >> 32); }
static int limit_of(uint64_t state) { return (int)(state >> 16 & 0x7fff); }

void team_lock(Team *t) { pthread_mutex_lock(&t->lock); }
void team_unlock(Team *t) { pthread_mutex_unlock(&t->lock); }

static void relax(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static void note_failure(Team *t, int64_t c, int code, const char *error) {
    team_lock(t);
    if (c < atomic_load(&t->failed)) {
        t->code = code;
        memcpy(t->error, error, ERROR_SIZE);
        atomic_store(&t->failed, c);
    }
    team_unlock(t);
}

static int do_chunk(fsm_context *ctx, fsm_context *call, fsm_chunk_function *f, const void *shared, int64_t c) {
    int64_t mark = fsm_mark(ctx);
    int code = f(ctx, call, c, shared);
    fsm_release(ctx, mark);
    return code;
}

// Where range r of n begins.
static int64_t range_begin(const Team *t, int r, int n) {
    int64_t more = t->chunks % n;
    return t->chunks / n * r + (r < more ? r : more);
}

static _Atomic int64_t *range_next(Team *t, int r) { return r ? &t->worker[r]->next : &t->next; }

// Those of the thread's range, number `own` of n, and what is left of the others.
static void do_chunks(Team *t, fsm_context *ctx, int own, int n) {
    for (int k = 0; k < n; k++) {
        int r = (own + k) % n;
        int64_t end = range_begin(t, r + 1, n);
        for (int64_t c; (c = atomic_fetch_add(range_next(t, r), 1)) < end;) {
            if (c > atomic_load(&t->failed)) break;
            int code = do_chunk(ctx, t->ctx, t->f, t->shared, c);
            if (code) note_failure(t, c, code, ctx->error);
        }
    }
}

// The state when there is a job that the worker has not seen.
static uint64_t wait_for_job(Worker *w) {
    Team *t = w->team;
    for (int i = atomic_load(&t->spins); i > 0; i--) {
        uint64_t s = atomic_load(&t->state);
        if (job_of(s) != w->seen) return s;
        relax();
    }
    team_lock(t);
    atomic_fetch_add(&t->sleeping, 1);
    while (job_of(atomic_load(&t->state)) == w->seen) pthread_cond_wait(&t->wake, &t->lock);
    atomic_fetch_sub(&t->sleeping, 1);
    team_unlock(t);
    return atomic_load(&t->state);
}

static void *work(void *data) {
    Worker *w = data;
    Team *t = w->team;
    for (;;) {
        uint64_t s = wait_for_job(w);
        w->seen = job_of(s);
        bool joined = false;
        while (!joined && job_of(s) == w->seen && (s & OPEN) && w->number < limit_of(s))
            joined = atomic_compare_exchange_weak(&t->state, &s, s + 1);
        if (joined) {
            do_chunks(t, &w->ctx, w->number, limit_of(s));
            uint64_t before = atomic_fetch_sub(&t->state, 1);
            if ((before & ACTIVE) != 1 || !atomic_load(&t->waiting)) continue;
            team_lock(t);
            pthread_cond_signal(&t->done);
            team_unlock(t);
        } else if (!limit_of(s) && job_of(s) == w->seen) {
            return NULL; // the job that ends all
        }
    }
}

static void start_job(Team *t, uint64_t open, int limit) {
    uint32_t number = job_of(atomic_load(&t->state)) + 1;
    atomic_store(&t->state, (uint64_t)number << 32 | open | (uint64_t)limit << 16);
    if (!atomic_load(&t->sleeping)) return;
    team_lock(t);
    pthread_cond_broadcast(&t->wake);
    team_unlock(t);
}

// Nobody joins the job any more, and those who have are done.
static void end_job(Team *t) {
    uint64_t s = atomic_fetch_and(&t->state, ~OPEN);
    for (int i = atomic_load(&t->spins); i > 0 && (s & ACTIVE); i--) {
        relax();
        s = atomic_load(&t->state);
    }
    if (!(s & ACTIVE)) return;
    team_lock(t);
    atomic_store(&t->waiting, true);
    while (atomic_load(&t->state) & ACTIVE) pthread_cond_wait(&t->done, &t->lock);
    atomic_store(&t->waiting, false);
    team_unlock(t);
}

void team_delete(Team *t) {
    if (!t) return;
    fsm_allocator allocator = t->ctx->allocator;
    bool here = t->process == getpid();
    if (here) start_job(t, 0, 0);
    for (int i = 1; i <= t->n; i++) {
        if (here) pthread_join(t->worker[i]->thread, NULL);
        context_give_back(&t->worker[i]->ctx);
        allocator.release(t->worker[i], allocator.data);
    }
    if (here) {
        pthread_cond_destroy(&t->done);
        pthread_cond_destroy(&t->wake);
        pthread_mutex_destroy(&t->lock);
    }
    allocator.release(t, allocator.data);
}

static Team *team_new(fsm_context *ctx) {
    Team *t = ctx->allocator.alloc(sizeof *t, ctx->allocator.data);
    if (!t) return NULL;
    memset(t, 0, sizeof *t);
    t->ctx = ctx;
    t->process = getpid();
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->wake, NULL);
    pthread_cond_init(&t->done, NULL);
    atomic_init(&t->spins, 0);
    atomic_init(&t->sleeping, 0);
    atomic_init(&t->waiting, false);
    atomic_init(&t->state, 0);
    atomic_init(&t->next, 0);
    atomic_init(&t->failed, 0);
    return t;
}

// One worker more; false if it cannot be had. Signals are for the program's own threads.
static bool add_worker(Team *t) {
    fsm_context *ctx = t->ctx;
    Worker *w = ctx->allocator.alloc(sizeof *w, ctx->allocator.data);
    if (!w) return false;
    memset(w, 0, sizeof *w);
    w->team = t;
    w->number = t->n + 1;
    w->seen = job_of(atomic_load(&t->state));
    w->ctx.call = ctx;
    w->ctx.allocator = ctx->allocator;
    atomic_init(&w->next, 0);
    atomic_init(&w->ctx.cancelled, false);
    atomic_init(&w->ctx.state, 0);
    atomic_init(&w->ctx.threads, 0);
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(&w->thread, NULL, work, w);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error) ctx->allocator.release(w, ctx->allocator.data);
    else t->worker[++t->n] = w;
    return !error;
}

static int processors(void) {
#ifdef __linux__
    cpu_set_t set;
    if (!sched_getaffinity(0, sizeof set, &set)) return CPU_COUNT(&set);
#endif
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n > 0 && n < MOST_THREADS ? (int)n : 1;
}

// The context's team with so many threads, the call's among them, or as many as can be had.
static Team *team_of(fsm_context *ctx, int threads) {
    if (ctx->team && ctx->team->process != getpid()) {
        team_delete(ctx->team);
        ctx->team = NULL;
    }
    if (!ctx->team) ctx->team = team_new(ctx);
    if (!ctx->team) return NULL;
    if (ctx->team->n + 1 < threads) atomic_store(&ctx->team->spins, threads <= processors() ? SPINS : 0);
    while (ctx->team->n + 1 < threads && add_worker(ctx->team)) continue;
    return ctx->team->n ? ctx->team : NULL;
}

// ---- loops

static int wanted(const fsm_context *ctx, int64_t n, int32_t threads) {
    int set = atomic_load_explicit(&ctx->threads, memory_order_relaxed);
    if (set > 0) threads = set;
    if (ctx->call || ctx->parallel || n < 2) return 1; // threads of threads are none
    if (set < 0 || threads <= 0) threads = processors();
    if (threads > n) threads = (int32_t)n;
    return threads < MOST_THREADS ? threads : MOST_THREADS - 1;
}

int64_t fsm_threads(const fsm_context *ctx, int32_t threads) { return wanted(ctx, INT64_MAX, threads); }

// Room for what a chunk needs, so that it does not depend on who did which whether a later call asks for memory.
static void reserve(fsm_context *ctx, int64_t bytes) {
    int64_t mark = fsm_mark(ctx);
    if (bytes && !fsm_alloc(ctx, bytes, 1)) ctx->error[0] = 0;
    fsm_release(ctx, mark);
}

static void share_memory(Team *t, int threads, int64_t before, int64_t mark) {
    fsm_context *ctx = t->ctx;
    int64_t need = ctx->peak - mark, all = ctx->peak;
    for (int i = 1; i < threads; i++) {
        int64_t peak = t->worker[i]->ctx.peak;
        if (peak > need) need = peak;
        all += peak;
    }
    reserve(ctx, need);
    for (int i = 1; i < threads; i++) reserve(&t->worker[i]->ctx, need);
    ctx->peak = all > before ? all : before;
}

static int in_order(fsm_context *ctx, fsm_chunk_function *f, const void *shared, int64_t n) {
    int code = FSM_OK;
    for (int64_t c = 0; c < n && !code; c++) code = do_chunk(ctx, ctx->call ? ctx->call : ctx, f, shared, c);
    return code;
}

int fsm_parallel(fsm_context *ctx, fsm_chunk_function *f, const void *shared, int64_t n, int32_t threads) {
    threads = wanted(ctx, n, threads);
    Team *t = threads > 1 ? team_of(ctx, threads) : NULL;
    if (!t) return in_order(ctx, f, shared, n);
    if (threads > t->n + 1) threads = t->n + 1;
    int64_t mark = fsm_mark(ctx), before = ctx->peak;
    ctx->peak = mark;
    ctx->parallel = true;
    t->f = f, t->shared = shared, t->chunks = n, t->code = FSM_OK;
    atomic_store(&t->failed, n);
    for (int r = 0; r < threads; r++) atomic_store(range_next(t, r), range_begin(t, r, threads));
    start_job(t, OPEN, threads);
    do_chunks(t, ctx, 0, threads);
    end_job(t);
    ctx->parallel = false;
    share_memory(t, threads, before, mark);
    if (t->code) memcpy(ctx->error, t->error, ERROR_SIZE);
    if (t->code == FSM_ERROR_CANCELLED) atomic_store_explicit(&ctx->cancelled, false, memory_order_relaxed);
    return t->code;
}
