// Calls with several threads: results to the last bit, the first error, ranges of chunks, cancellation, memory, many callers
// at once, and a process that forks.
#include "fsmc/runtime_internal.h"
#include "parallel.h"

#include <dirent.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { N = 200000, ROWS = 5000, COLUMNS = 40, BINS = 50, RAGGED = 16000, ENTRIES = 6, MOST = N };

static double x[ROWS * COLUMNS > N ? ROWS *COLUMNS : N], y[N];
static int64_t is[N], lengths[RAGGED];
static int runs = 100;

static int call(fsm_context *ctx, int entry, double *out) {
    int64_t count = 0;
    int code = 0;
    switch (entry) {
    case 0:
        code = total(ctx, N, x, y, out, out + 1, &count);
        out[2] = (double)count;
        return code;
    case 1: return weights(ctx, ROWS, COLUMNS, x, y, out);
    case 2: return bins(ctx, N, is, x, out);
    case 3: return ragged(ctx, RAGGED, lengths, x, out);
    case 4: return steps(ctx, N, x, out);
    default: return look_up(ctx, N, BINS, is, x, out);
    }
}

static double want[ENTRIES][MOST];

static void fill(void) {
    fsm_context *ctx = fsm_context_new();
    for (int i = 0; i < ROWS * COLUMNS; i++) x[i] = (double)(i * 7919 % 1000) / 1000 - 0.5;
    for (int i = 0; i < N; i++) y[i] = (double)(i % 997 * 104 % 997) / 997, is[i] = i * 7 % BINS;
    for (int i = 0; i < RAGGED; i++) lengths[i] = i % 13 * 20;
    for (int e = 0; e < ENTRIES; e++)
        if (call(ctx, e, want[e])) puts(fsm_context_error(ctx));
    fsm_context_free(ctx);
}

// How many calls gave anything else than one thread does.
static int differing(fsm_context *ctx, int times) {
    double *out = calloc(MOST, sizeof *out);
    int wrong = 0;
    for (int r = 0; r < times; r++)
        for (int e = 0; e < ENTRIES; e++) {
            memset(out, 0, MOST * sizeof *out);
            wrong += call(ctx, e, out) || memcmp(out, want[e], sizeof want[e]);
        }
    free(out);
    return wrong;
}

static int started(void) {
    DIR *tasks = opendir("/proc/self/task");
    int n = 0;
    for (struct dirent *d; tasks && (d = readdir(tasks));) n += d->d_name[0] != '.';
    if (tasks) closedir(tasks);
    return n;
}

static void same_bits(void) {
    static const int threads[] = {1, 2, 3, 8};
    for (int k = 0; k < 4; k++) {
        fsm_context *ctx = fsm_context_new();
        fsm_context_set_threads(ctx, threads[k]);
        int before = started(), wrong = differing(ctx, runs);
        const char *all = started() - before < threads[k] - 1 ? " (which did not start)" : "";
        printf("%d threads%s: %d of %d calls differ\n", threads[k], all, wrong, runs * ENTRIES);
        fsm_context_free(ctx);
    }
}

static void first_error(void) {
    fsm_context *ctx = fsm_context_new();
    double out;
    int wrong = 0;
    is[N / 3] = -3, is[N / 2] = 51, is[N - 1] = 52;
    for (int i = 0; i < 100; i++) {
        fsm_context_set_threads(ctx, 1 + i % 4);
        int code = look_up(ctx, N, BINS, is, x, &out);
        wrong += code != FSM_ERROR_BOUNDS || !strstr(fsm_context_error(ctx), "index -3 is out of range for an array of 50");
    }
    is[N / 3] = N / 3 * 7 % BINS, is[N / 2] = N / 2 * 7 % BINS, is[N - 1] = (N - 1) * 7 % BINS;
    wrong += look_up(ctx, N, BINS, is, x, &out) != 0 || out != want[5][0];
    printf("errors: %d wrong\n", wrong);
    fsm_context_free(ctx);
}

// ---- who does what

enum { CHUNKS = 64 };
static atomic_bool begun[CHUNKS];
static atomic_int apart;

// The first chunk of a half looks for that of the other before it lets its thread go on.
static int note(fsm_context *ctx, fsm_context *of, int64_t c, const void *shared) {
    (void)ctx, (void)of, (void)shared;
    atomic_store(&begun[c], true);
    int64_t other = CHUNKS / 2 - c;
    if (c != 0 && c != CHUNKS / 2) return FSM_OK;
    for (int i = 0; i < 5000 && !atomic_load(&begun[other]); i++) usleep(1000);
    atomic_fetch_add(&apart, atomic_load(&begun[other]) && !atomic_load(&begun[CHUNKS / 2 - 1]));
    return FSM_OK;
}

// Threads begin in ranges of their own, which later loops give them again.
static void ranges(void) {
    fsm_context *ctx = fsm_context_new();
    int done = 0;
    if (fsm_parallel(ctx, note, NULL, CHUNKS, 2)) puts(fsm_context_error(ctx));
    for (int i = 0; i < CHUNKS; i++) done += atomic_load(&begun[i]);
    printf("%d of %d chunks done, the halves %s\n", done, CHUNKS, atomic_load(&apart) ? "apart" : "by turns");
    fsm_context_free(ctx);
}

// ---- cancellation

static atomic_bool over;

static void *cancel(void *data) {
    for (int i = 0; i < 20; i++) {
        usleep(2000);
        fsm_context_cancel(data);
    }
    atomic_store(&over, true);
    return NULL;
}

static void cancelling(void) {
    fsm_context *ctx = fsm_context_new();
    pthread_t thread;
    int cancelled = 0, wrong = 0;
    double *out = calloc(MOST, sizeof *out);
    fsm_context_set_threads(ctx, 3);
    if (pthread_create(&thread, NULL, cancel, ctx)) return;
    for (int e = 0; !atomic_load(&over); e = (e + 1) % ENTRIES) {
        memset(out, 0, MOST * sizeof *out);
        int code = call(ctx, e, out);
        if (code == FSM_ERROR_CANCELLED) cancelled++;
        else wrong += code || memcmp(out, want[e], sizeof want[e]);
    }
    pthread_join(thread, NULL);
    if (call(ctx, 0, out) == FSM_ERROR_CANCELLED) cancelled++;
    printf("cancelled: %s, %d wrong\n", cancelled && cancelled <= 20 ? "some" : "none, or too many", wrong + differing(ctx, 1));
    fsm_context_free(ctx);
    free(out);
}

// ---- memory

typedef struct Memory {
    atomic_int inside, overlapping, asked, held, allowed;
} Memory;

static void *take(size_t size, void *data) {
    Memory *m = data;
    if (atomic_fetch_add(&m->inside, 1)) atomic_fetch_add(&m->overlapping, 1);
    void *p = atomic_fetch_add(&m->asked, 1) < atomic_load(&m->allowed) ? malloc(size) : NULL;
    if (p) atomic_fetch_add(&m->held, 1);
    atomic_fetch_sub(&m->inside, 1);
    return p;
}

static void give(void *p, void *data) {
    atomic_fetch_sub(&((Memory *)data)->held, 1);
    free(p);
}

static void memory(void) {
    Memory m = {.allowed = 1000000};
    fsm_context *ctx = fsm_context_new_with((fsm_allocator){take, give, &m});
    fsm_context_set_threads(ctx, 4);
    int wrong = differing(ctx, 1), before = atomic_load(&m.asked);
    wrong += differing(ctx, 20);
    printf("memory: %d wrong, asked for %d times later, %d times by two at once", wrong, atomic_load(&m.asked) - before,
           atomic_load(&m.overlapping));
    fsm_context_free(ctx);
    printf(", %d pieces not given back\n", atomic_load(&m.held));
    int failed = 0;
    for (int allowed = 1; allowed < before + 2; allowed++) {
        Memory little = {.allowed = allowed};
        double *out = calloc(MOST, sizeof *out);
        ctx = fsm_context_new_with((fsm_allocator){take, give, &little});
        fsm_context_set_threads(ctx, 4);
        for (int e = 0; e < ENTRIES; e++) {
            memset(out, 0, MOST * sizeof *out);
            int code = call(ctx, e, out);
            failed += code == FSM_ERROR_MEMORY;
            wrong += code ? code != FSM_ERROR_MEMORY : memcmp(out, want[e], sizeof want[e]) != 0;
        }
        fsm_context_free(ctx);
        wrong += atomic_load(&little.held);
        free(out);
    }
    printf("little memory: %s, %d wrong\n", failed ? "some fail" : "none fails", wrong);
}

// ---- many

static void *caller(void *data) {
    fsm_context *ctx = fsm_context_new();
    fsm_context_set_threads(ctx, 2);
    *(int *)data = differing(ctx, runs / 20);
    fsm_context_free(ctx);
    return NULL;
}

static void many_callers(void) {
    enum { CALLERS = 8 };
    pthread_t thread[CALLERS];
    int wrong[CALLERS], all = 0;
    for (int i = 0; i < CALLERS; i++)
        if (pthread_create(&thread[i], NULL, caller, &wrong[i])) exit(1);
    for (int i = 0; i < CALLERS; i++) pthread_join(thread[i], NULL), all += wrong[i];
    printf("callers at once: %d wrong\n", all);
}

// A context goes on in the child of a process that forks, with threads of its own.
static void forking(void) {
#ifndef __SANITIZE_THREAD__
    fsm_context *ctx = fsm_context_new();
    fsm_context_set_threads(ctx, 2);
    int wrong = differing(ctx, 1), status = 0;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        wrong = differing(ctx, 1);
        fsm_context_free(ctx);
        _exit(wrong != 0);
    }
    if (child < 0 || waitpid(child, &status, 0) < 0 || status) wrong++;
    wrong += differing(ctx, 1);
    printf("a child process: %d wrong\n", wrong);
    fsm_context_free(ctx);
#else
    puts("a child process: 0 wrong"); // threads cannot start in one under the sanitizer
#endif
}

int main(int argc, char **argv) {
    if (argc > 1) runs = atoi(argv[1]);
    fill();
    same_bits();
    first_error();
    ranges();
    cancelling();
    memory();
    many_callers();
    forking();
    return 0;
}
