#define _DEFAULT_SOURCE
#include "oracle/guard.h"

#include "fsmc/runtime_internal.h"
#include "oracle/oracle.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

// ---- pages

// Pages between two that cannot be touched, and what is in them.
typedef struct Pages {
    char *map;   // the page before
    size_t room; // between the two
    char *data;
    size_t bytes;
} Pages;

enum { FILL = 0xff }; // bytes of NaNs, and of -1

static size_t page_size(void) { return (size_t)sysconf(_SC_PAGESIZE); }

static size_t rounded(size_t bytes, size_t unit) { return (bytes + unit - 1) / unit * unit; }

static Pages pages_new(size_t bytes, size_t unit, bool ends) {
    const size_t page = page_size(), room = rounded(bytes, page);
    char *map = mmap(NULL, room + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (map == MAP_FAILED || (room && mprotect(map + page, room, PROT_READ | PROT_WRITE))) diag_out_of_memory();
    memset(map + page, FILL, room);
    return (Pages){map, room, map + page + (ends ? room - rounded(bytes, unit) : 0), bytes};
}

static bool is_filled(const char *from, const char *to) {
    while (from < to && (unsigned char)*from == FILL) from++;
    return from >= to;
}

// False if something beside the data has been written.
static bool pages_free(const Pages *p) {
    const size_t page = page_size();
    const char *begin = p->map + page;
    bool well = is_filled(begin, p->data) && is_filled(p->data + p->bytes, begin + p->room);
    munmap(p->map, p->room + 2 * page);
    return well;
}

// ---- scratch memory

typedef struct Scratch {
    Pages pages;
    const fsm_context *owner;
    int64_t number;
    struct Scratch *before;
} Scratch;

// That of all contexts, the last first. well: nothing was found beside pieces that were given back.
static struct {
    pthread_mutex_t lock;
    Scratch *last;
    int64_t number; // of the last
    bool ends, well;
} scratch = {.lock = PTHREAD_MUTEX_INITIALIZER};

enum { SCRATCH_UNIT = 64, MOST_SCRATCH = 1 << 28 }; // what is larger is not guarded

static void *scratch_alloc(fsm_context *ctx, int64_t count, int64_t size) {
    if (count < 0 || count > MOST_SCRATCH / size) return fsm_alloc(ctx, count, size);
    Scratch *s = malloc(sizeof *s);
    if (!s) diag_out_of_memory();
    s->pages = pages_new((size_t)(count * size), SCRATCH_UNIT, scratch.ends);
    s->owner = ctx;
    pthread_mutex_lock(&scratch.lock);
    s->number = ++scratch.number;
    s->before = scratch.last;
    scratch.last = s;
    pthread_mutex_unlock(&scratch.lock);
    return s->pages.data;
}

static int64_t scratch_mark(fsm_context *ctx) {
    (void)ctx;
    pthread_mutex_lock(&scratch.lock);
    int64_t number = scratch.number;
    pthread_mutex_unlock(&scratch.lock);
    return number;
}

// owner NULL: that of all contexts.
static void scratch_release(fsm_context *owner, int64_t mark) {
    pthread_mutex_lock(&scratch.lock);
    for (Scratch **at = &scratch.last, *s; (s = *at) && s->number > mark;) {
        if (owner && s->owner != owner) {
            at = &s->before;
            continue;
        }
        *at = s->before;
        scratch.well &= pages_free(&s->pages);
        free(s);
    }
    pthread_mutex_unlock(&scratch.lock);
}

typedef struct Chunks {
    fsm_chunk_function *f;
    const void *shared;
} Chunks;

static int do_chunk(fsm_context *ctx, fsm_context *call, int64_t c, const void *data) {
    const Chunks *chunks = data;
    int64_t mark = scratch_mark(ctx);
    int code = chunks->f(ctx, call, c, chunks->shared);
    scratch_release(ctx, mark);
    return code;
}

static int scratch_parallel(fsm_context *ctx, fsm_chunk_function *f, const void *shared, int64_t n, int32_t threads) {
    return fsm_parallel(ctx, do_chunk, &(Chunks){f, shared}, n, threads);
}

const CpuSymbol guard_scratch[] = {{"fsm_alloc", (uintptr_t)scratch_alloc},
                                   {"fsm_mark", (uintptr_t)scratch_mark},
                                   {"fsm_release", (uintptr_t)scratch_release},
                                   {"fsm_parallel", (uintptr_t)scratch_parallel},
                                   {NULL, 0}};

// ---- calls

static size_t bytes_of(const Tensor *t) { return (size_t)tensor_count(t) * kind_size(t->kind); }

static Pages argument(const Tensor *t, bool ends) {
    Pages p = pages_new(bytes_of(t), 1, ends);
    if (p.bytes) memcpy(p.data, t->data, p.bytes);
    if (p.room) mprotect(p.map + page_size(), p.room, PROT_READ);
    return p;
}

int guard_call(Arena *a, CpuJit *jit, const Func *f, const Tensor *in, Tensor *out, bool ends, const char **error) {
    CpuCall call;
    int code = cpu_prepare(a, jit, f, in, out, &call, error);
    if (code) return code;
    const int n = f->ninputs + f->noutputs;
    Pages *pages = ARENA_ARRAY(a, Pages, n + 1);
    for (int i = 0; i < n; i++) {
        pages[i] = i < f->ninputs ? argument(&in[i], ends) : pages_new(bytes_of(&out[i - f->ninputs]), 1, ends);
        call.args[i] = pages[i].data;
    }
    scratch.ends = ends, scratch.well = true;
    code = cpu_invoke(&call, error);
    if (code) *error = arena_strdup(a, *error);
    scratch_release(NULL, 0);
    if (!scratch.well) fatal_bug("compiled code wrote beside its scratch memory");
    for (int i = 0; i < n; i++) {
        if (i >= f->ninputs && pages[i].bytes) memcpy(out[i - f->ninputs].data, pages[i].data, pages[i].bytes);
        if (!pages_free(&pages[i])) fatal_bug("compiled code wrote beside result %d", i - f->ninputs);
    }
    return code;
}

// ---- crashes

static int crash_out;

static void on_crash(int signal) {
    static const char before[] = "crash: at ";
    const char *where = oracle_where();
    bool told = write(crash_out, before, sizeof before - 1) > 0 && write(crash_out, where, strlen(where)) > 0;
    if (told && write(crash_out, "\n", 1) == 1) raise(signal); // which is no longer caught
    _exit(9);
}

void guard_tell_crashes(int fd) {
    static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
    struct sigaction tell = {.sa_handler = on_crash, .sa_flags = (int)SA_RESETHAND}, was;
    crash_out = fd;
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        if (!sigaction(signals[i], NULL, &was) && was.sa_handler == SIG_DFL) // else it is a sanitizer's
            sigaction(signals[i], &tell, NULL);
}
