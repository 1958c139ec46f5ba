// Scratch memory of compiled programs (tests/abi/memory.fsm): every allocation made to fail in turn gives the right
// error, loses nothing, and leaves a context that works; and calls that are repeated take no more memory.
#define _POSIX_C_SOURCE 200809L
#include "cpu/cpu.h"
#include "driver/compile.h"
#include "driver/file.h"
#include "fsmc/runtime.h"
#include "fsmc/runtime_internal.h"
#include "ir/interp.h"
#include "ir/tensor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LENGTH = 20000, CALLS = 10000 };

// ---- an allocator that counts, and fails when it is told to

typedef struct Heap {
    int64_t asked, live;
    int64_t fail_at; // the number of the allocation that fails; 0: none
    bool fail_after; // all later ones, too
} Heap;

static void *heap_alloc(size_t size, void *data) {
    Heap *h = data;
    h->asked++;
    if (h->fail_at && (h->asked == h->fail_at || (h->fail_after && h->asked > h->fail_at))) return NULL;
    void *p = malloc(size);
    h->live += p != NULL;
    return p;
}

static void heap_release(void *memory, void *data) {
    Heap *h = data;
    h->live -= memory != NULL;
    free(memory);
}

static fsm_context *new_context(Heap *h) { return fsm_context_new_with((fsm_allocator){heap_alloc, heap_release, h}); }

// ---- calls

typedef int Caller(fsm_context *, void **);

typedef struct Entry {
    Arena *arena;
    const Func *func;
    Caller *caller;
    void **args;
    Tensor *out, *expected;
} Entry;

static bool outputs_right(const Entry *e) {
    for (int k = 0; k < e->func->noutputs; k++)
        if (memcmp(e->out[k].data, e->expected[k].data, (size_t)tensor_count(&e->out[k]) * kind_size(e->out[k].kind))) return false;
    return true;
}

static int call(Entry *e, fsm_context *ctx) {
    for (int k = 0; k < e->func->noutputs; k++)
        memset(e->out[k].data, 0x5a, (size_t)tensor_count(&e->out[k]) * kind_size(e->out[k].kind));
    return e->caller(ctx, e->args);
}

// The size, vectors of that size, and small Ints.
static Tensor *make_inputs(Arena *a, const Func *f) {
    Tensor *in = ARENA_ARRAY(a, Tensor, f->ninputs);
    for (int k = 0; k < f->ninputs; k++) {
        const Node *e = f->inputs[k];
        in[k] = tensor_new(a, e->kind, e->rank, (int64_t[]){LENGTH});
        for (int64_t i = 0; i < tensor_count(&in[k]); i++)
            tensor_set(&in[k], i, k < f->nsizes ? LENGTH : e->rank ? (double)((i * 37) % 101) / 101 - 0.5 : 2);
    }
    return in;
}

static bool open_entry(Entry *e, CpuJit *jit, const Func *f) {
    *e = (Entry){.arena = f->ir->arena, .func = f};
    Tensor *in = make_inputs(e->arena, f);
    e->out = ARENA_ARRAY(e->arena, Tensor, f->noutputs + 1);
    e->expected = ARENA_ARRAY(e->arena, Tensor, f->noutputs + 1);
    const char *error;
    if (func_prepare(e->arena, f, in, e->out, &error) || func_prepare(e->arena, f, in, e->expected, &error)) return false;
    e->caller = (Caller *)(uintptr_t)cpu_jit_symbol(jit, arena_printf(e->arena, "%s__call", f->name));
    e->args = ARENA_ARRAY(e->arena, void *, f->ninputs + f->noutputs);
    for (int k = 0; k < f->ninputs; k++) e->args[k] = in[k].data;
    for (int k = 0; k < f->noutputs; k++) e->args[f->ninputs + k] = e->expected[k].data;
    fsm_context *ctx = fsm_context_new();
    bool ok = e->caller && ctx && !e->caller(ctx, e->args);
    for (int k = 0; k < f->noutputs; k++) e->args[f->ninputs + k] = e->out[k].data;
    fsm_context_free(ctx);
    return ok;
}

// ---- every allocation fails in turn

// What is wrong if allocation k fails, or NULL; *done: there are fewer than k.
static const char *fail_one(Entry *e, int64_t k, bool after, bool *done) {
    Heap h = {.fail_at = k, .fail_after = after};
    fsm_context *ctx = new_context(&h);
    if (!ctx) return k == 1 && !h.live ? NULL : "the context is not there though it could be had";
    int code = call(e, ctx);
    *done = h.asked < k;
    const char *why = NULL;
    if (code == FSM_OK) {
        // a smaller piece of memory may have done
        if (!outputs_right(e)) why = "success with wrong results";
    } else if (code != FSM_ERROR_MEMORY) {
        why = "the code is not FSM_ERROR_MEMORY";
    } else if (!strstr(fsm_context_error(ctx), "out of memory")) {
        why = "the text does not speak of memory";
    }
    if (after && !*done && code == FSM_OK) why = "no memory, and no error";
    h.fail_at = 0;
    if (!why && (call(e, ctx) || !outputs_right(e))) why = "the next call fails";
    if (!why && *fsm_context_error(ctx)) why = "the next call has an error text";
    fsm_context_free(ctx);
    return why ? why : h.live ? "memory is lost" : NULL;
}

static int check_failures(Entry *e) {
    for (int after = 0; after < 2; after++) {
        bool done = false;
        int64_t k = 1;
        for (; !done; k++) {
            const char *why = fail_one(e, k, after, &done);
            if (!why) continue;
            printf("not ok abi memory %s: allocation %lld%s fails: %s\n", e->func->name, (long long)k,
                   after ? " and all later ones" : "", why);
            return 1;
        }
        if (k < 4) { // the context, and at least one piece of scratch memory
            printf("not ok abi memory %s: it needs no scratch memory, and shows nothing\n", e->func->name);
            return 1;
        }
    }
    printf("ok abi memory %s\n", e->func->name);
    return 0;
}

// ---- many calls

static int64_t resident(void) {
    long pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (!f) return -1;
    if (fscanf(f, "%*s %ld", &pages) != 1) pages = -1;
    fclose(f);
    return pages < 0 ? -1 : pages * sysconf(_SC_PAGESIZE);
}

// CALLS calls of all entries together, errors among them, with one context.
static int check_flat(Entry *entry, int n) {
    Heap h = {0};
    fsm_context *ctx = new_context(&h);
    int64_t before = 0, asked = 0, failures = 0;
    for (int i = 0; i < CALLS + n; i++) {
        if (i == n) before = resident(), asked = h.asked; // after a round
        Entry *e = &entry[i % n];
        int64_t size = LENGTH, few = i >= n && i % 3 ? 100 : -1;
        void *first = e->args[0];
        if (i >= n) e->args[0] = few < 0 && i % 5 == 0 ? &few : &size; // the sizes of most calls are smaller
        if (i >= n && few > 0) e->args[0] = &few;
        int code = e->caller(ctx, e->args);
        bool bad = *(int64_t *)e->args[0] < 0;
        failures += bad ? code != FSM_ERROR_NEGATIVE : code != FSM_OK;
        e->args[0] = first;
    }
    int64_t more = resident() - before;
    asked = h.asked - asked;
    fsm_context_free(ctx);
    if (failures || h.live || asked || (before > 0 && more > 2 << 20)) {
        printf("not ok abi memory, many calls: %lld wrong codes, %lld pieces lost, %lld allocations, %lld bytes more\n",
               (long long)failures, (long long)h.live, (long long)asked, (long long)more);
        return 1;
    }
    printf("ok abi memory, many calls\n");
    return 0;
}

// ---- large calls

enum { PIECES = 3, PIECE = 1 << 18 };

// Does a call get its memory, and keep what is in it? *together: it is one piece.
static bool take_pieces(fsm_context *ctx, bool *together) {
    static const fsm_entry_info info = {.abi = FSM_ABI_VERSION};
    double *piece[PIECES];
    if (fsm_begin(ctx, &info)) return false;
    bool ok = true;
    for (int k = 0; k < PIECES; k++) {
        piece[k] = fsm_alloc(ctx, PIECE, sizeof(double));
        for (int i = 0; piece[k] && i < PIECE; i++) piece[k][i] = k;
    }
    *together = true;
    for (int k = 0; k < PIECES; k++) {
        ok &= piece[k] && piece[k][0] == k && piece[k][PIECE - 1] == k;
        *together &= piece[k] == piece[0] + k * PIECE;
    }
    fsm_end(ctx);
    return ok;
}

// After a large call, the memory of the next is one piece, which stays; if that is not to be had, calls go on without, and do not ask
// again.
static int check_joined(bool fails) {
    Heap h = {0};
    fsm_context *ctx = new_context(&h);
    bool first, second, third, ok = take_pieces(ctx, &first);
    if (fails) h.fail_at = h.asked + 1;
    ok &= take_pieces(ctx, &second);
    int64_t asked = h.asked;
    ok &= take_pieces(ctx, &third) && !first && second == !fails && third == !fails;
    bool same = h.asked == asked && (fails || h.live == 2);
    fsm_context_free(ctx);
    printf("%s abi memory, a large call%s\n", ok && same && !h.live ? "ok" : "not ok", fails ? ", and none in one piece" : "");
    return !(ok && same && !h.live);
}

// However many iterations there are, chunks of so many are neither more than these nor, if there are none, any.
static int check_chunks(void) {
    static const int64_t n[] = {INT64_MIN, -INT64_MAX, -5000, -1, 0, 1, 2, 33, 5000};
    static const double work[] = {-1e9, 0, 1, 1e9};
    int failures = 0;
    for (int i = 0; i < 9; i++)
        for (int k = 0; k < 4; k++) {
            int64_t size = fsm_chunk(n[i], work[k], 1, 32), chunks = size > 0 ? (n[i] + (size - 1)) / size : -1;
            failures += chunks < 0 || chunks > (n[i] < 0 ? 0 : n[i]) || (n[i] > 0 && !chunks);
        }
    printf(failures ? "not ok abi memory chunks: %d numbers of them\n" : "ok abi memory chunks\n", failures);
    return failures;
}

// ---- the whole

static int run(void *data) {
    (void)data;
    const char *root = getenv("FSMC_ROOT");
    Options o;
    options_init(&o);
    o.level = 1;
    Compilation *c = compile_new(&o);
    FuncList funcs;
    int failures = 0, n = 0;
    Source *src = file_read(c->arena, c->diag, arena_printf(c->arena, "%s/tests/abi/memory.fsm", root ? root : "../.."));
    bool ok = src && compile_load(c, src) && compile_funcs(c, false, &funcs);
    CpuModule *m = NULL;
    if (ok) {
        compile_passes(c, &funcs, true);
        m = compile_module(c, funcs, compile_trees(c, funcs), true);
    }
    CpuJit *jit = m ? cpu_jit(m, c->diag) : NULL;
    Entry *entry = jit ? ARENA_ARRAY(c->arena, Entry, funcs.n) : NULL;
    if (!jit) printf("not ok abi memory: it does not compile\n"), failures++;
    for (int i = 0; jit && i < funcs.n; i++, n++) {
        if (!open_entry(&entry[i], jit, funcs.f[i])) {
            printf("not ok abi memory %s: it cannot be called\n", funcs.f[i]->name);
            failures++;
            break;
        }
        failures += check_failures(&entry[i]);
    }
    if (jit && n == funcs.n) failures += check_flat(entry, n);
    failures += check_joined(false) + check_joined(true) + check_chunks();
    cpu_jit_delete(jit);
    cpu_delete(m);
    compile_delete(c);
    options_free(&o);
    return failures;
}

int main(void) {
    int failures = 1;
    if (compile_guarded(run, NULL, &failures)) printf("not ok abi memory: a broken invariant\n");
    return failures > 0;
}
