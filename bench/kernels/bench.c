// Compares and times the kernels of kernels.h: fsmc's against by_hand.c's, or, with --threads, calls in N threads against N
// copies of them at once, or, with --roofline, against what the machine can do.
// usage: bench [--check] [--quick] [--roofline] [--threads N] [--only NAME]...
#define _GNU_SOURCE
#include "kernels.h"
#include "measure.h"
#include "roofline.h"

#include <dirent.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernels_fsm.h" // by fsmc: the entries of kernels.fsm

#define CALL(function, ...) function(ctx, __VA_ARGS__)
KERNELS(ADAPT_F, ADAPT_V)
static const struct side fsmc_kernels[] = {KERNELS(SIDE, SIDE)};

extern const struct side gcc_kernels[];
#ifdef HAS_CLANG
extern const struct side clang_kernels[];
enum { SIDES = 3 };
static const struct side *const sides[SIDES] = {fsmc_kernels, gcc_kernels, clang_kernels};
#else
enum { SIDES = 2 };
static const struct side *const sides[SIDES] = {fsmc_kernels, gcc_kernels};
#endif
static const char *const side_names[] = {"fsmc", "gcc", "clang"};

enum { MOST = 6, BATCHES = 15 };

// An array of the problem: numbers from lo to hi, or integers from 0 to below bound.
struct array {
    int64_t extent;
    double lo, hi;
    int64_t bound;
};
// What a kernel reads and writes, for its sizes. The gradient of a kernel with an array as its result has one input more.
struct shape {
    struct array in[MOST];
    int64_t result;
    int64_t gradient[MOST];
};
struct kernel {
    const char *name;
    int64_t size[4], small[4];
    void (*shape)(const int64_t *size, struct shape *shape);
    int inputs, seeds, gradients;
};

// Functions, since macros with commas in them would be counted wrongly by COUNT.
static inline struct array U(int64_t extent) {
    return (struct array){extent, -1, 1, 0};
}
static inline struct array R(int64_t extent, double lo, double hi) {
    return (struct array){extent, lo, hi, 0};
}
static inline struct array I(int64_t extent, int64_t bound) {
    return (struct array){extent, 0, 0, bound};
}
#define LIST(...) __VA_ARGS__
#define SHAPE(name, ...)                                                                                                    \
    static void name##_shape(const int64_t *size, struct shape *shape) {                                                    \
        int64_t n = size[0], m = size[1], k = size[2], l = size[3];                                                         \
        (void)n, (void)m, (void)k, (void)l;                                                                                 \
        *shape = (struct shape){__VA_ARGS__};                                                                               \
    }
#define SHAPE_F(name, sizes, small, inputs, gradient) SHAPE(name, {LIST inputs}, 1, {LIST gradient})
#define SHAPE_V(name, sizes, small, inputs, result, gradient) SHAPE(name, {LIST inputs, U(result)}, result, {LIST gradient})
KERNELS(SHAPE_F, SHAPE_V)

#define ROW_F(name, sizes, small, inputs, gradient) {#name, {LIST sizes}, {LIST small}, name##_shape, COUNT inputs, 0, COUNT gradient},
#define ROW_V(name, sizes, small, inputs, result, gradient) {#name, {LIST sizes}, {LIST small}, name##_shape, COUNT inputs, 1, COUNT gradient},
static const struct kernel kernels[] = {KERNELS(ROW_F, ROW_V)};
enum { KERNEL_COUNT = sizeof kernels / sizeof *kernels };

static fsm_context *ctx;
static const int64_t *size;
static struct shape shape;
static void *in[MOST + 1];
static void *out[SIDES][MOST]; // by side
static bool failed;

static void *allocate(int64_t extent) {
    void *memory = aligned_alloc(64, (size_t)(extent * 8 + 63) / 64 * 64);
    if (!memory) exit((fprintf(stderr, "bench: out of memory\n"), 1));
    return memory;
}

// The same numbers on every machine, from 0 to below 1.
static double next_number(void) {
    static uint64_t state = 1;
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (double)(state >> 11) * 0x1p-53;
}

static void fill(void *to, struct array a) {
    for (int64_t i = 0; i < a.extent; i++) {
        double x = next_number();
        if (a.bound) ((int64_t *)to)[i] = (int64_t)(x * (double)a.bound);
        else ((double *)to)[i] = a.lo + (a.hi - a.lo) * x;
    }
}

// What a call writes: the result, or the parts of the gradient.
static int outputs(const struct kernel *k, bool gradient) {
    return gradient ? k->gradients : 1;
}
static int64_t extent_of(int output, bool gradient) {
    return gradient ? shape.gradient[output] : shape.result;
}

static int64_t largest(const struct kernel *k, int output) {
    int64_t extent = output == 0 ? shape.result : 0;
    if (output < k->gradients && shape.gradient[output] > extent) extent = shape.gradient[output];
    return extent;
}

static void set_up(const struct kernel *k, bool small) {
    size = small ? k->small : k->size;
    k->shape(size, &shape);
    for (int i = 0; i < k->inputs + k->seeds; i++) fill(in[i] = allocate(shape.in[i].extent), shape.in[i]);
    for (int s = 0; s < SIDES; s++)
        for (int i = 0; i < k->gradients; i++) out[s][i] = allocate(largest(k, i));
}
static void tear_down(const struct kernel *k) {
    for (int i = 0; i < k->inputs + k->seeds; i++) free(in[i]);
    for (int s = 0; s < SIDES; s++)
        for (int i = 0; i < k->gradients; i++) free(out[s][i]);
}

static void invoke(const struct kernel *k, bool gradient, int side) {
    const struct side *pair = &sides[side][k - kernels];
    int code = (gradient ? pair->gradient : pair->primal)(ctx, size, in, out[side]);
    if (code != FSM_OK) exit((fprintf(stderr, "bench: %s: %s\n", k->name, fsm_context_error(ctx)), 1));
}

// Each element of fsmc's result must be within 1e-9 of by_hand.c's, of its magnitude and the mean magnitude.
static void compare(const struct kernel *k, bool gradient, int side) {
    for (int o = 0; o < outputs(k, gradient); o++) {
        const double *actual = out[0][o], *expected = out[side][o];
        int64_t extent = extent_of(o, gradient);
        double magnitudes = 0;
        for (int64_t i = 0; i < extent; i++) magnitudes += fabs(expected[i]);
        if (!(magnitudes > 0)) {
            printf("%s%s: result %d by %s is zero or NaN: nothing to compare\n", k->name, gradient ? "_grad" : "", o, side_names[side]);
            failed = true;
        }
        for (int64_t i = 0; i < extent; i++) {
            if (fabs(actual[i] - expected[i]) <= 1e-9 * (fabs(expected[i]) + magnitudes / (double)extent)) continue;
            printf("%s%s: result %d, element %lld: %.17g by fsmc, %.17g by %s\n", k->name, gradient ? "_grad" : "", o,
                   (long long)i, actual[i], expected[i], side_names[side]);
            failed = true;
            break;
        }
    }
}

static void check(const struct kernel *k) {
    for (int gradient = 0; gradient < 2; gradient++) {
        // What a kernel leaves unwritten is to be seen.
        for (int s = 0; s < SIDES; s++)
            for (int i = 0; i < outputs(k, gradient); i++) memset(out[s][i], 0xff, (size_t)extent_of(i, gradient) * 8);
        for (int s = 0; s < SIDES; s++) invoke(k, gradient, s);
        for (int s = 1; s < SIDES; s++) compare(k, gradient, s);
    }
}

static double batch(const struct kernel *k, bool gradient, int side, int64_t calls) {
    double start = seconds();
    for (int64_t i = 0; i < calls; i++) invoke(k, gradient, side);
    return seconds() - start;
}

// Median nanoseconds of a call of each of the first n sides, the sides' batches in turn. A batch takes at least `least` seconds.
static void time_sides(const struct kernel *k, bool gradient, double least, int n, double *ns) {
    double times[SIDES][BATCHES];
    int64_t calls[SIDES];
    for (int s = 0; s < n; s++) {
        calls[s] = 1;
        for (double t; (t = batch(k, gradient, s, calls[s])) < least;)
            calls[s] = t < least / 10 ? calls[s] * 8 : (int64_t)((double)calls[s] * 1.2 * least / t) + 1;
    }
    for (int b = 0; b < BATCHES; b++)
        for (int s = 0; s < n; s++) times[s][b] = batch(k, gradient, s, calls[s]) / (double)calls[s];
    for (int s = 0; s < n; s++) ns[s] = 1e9 * median(times[s], BATCHES);
}

static int best_of(const double ns[SIDES]) {
    return SIDES > 2 && ns[SIDES - 1] < ns[1] ? SIDES - 1 : 1;
}

// Prints a row; adds the logarithms of primal C / fsmc, gradient C / fsmc, gradient / primal to those.
static void measure(const struct kernel *k, double least, double logs[3]) {
    double primal[SIDES], gradient[SIDES];
    time_sides(k, false, least, SIDES, primal);
    time_sides(k, true, least, SIDES, gradient);
    int p = best_of(primal), g = best_of(gradient);
    double ratios[3] = {primal[p] / primal[0], gradient[g] / gradient[0], gradient[0] / primal[0]};
    for (int i = 0; i < 3; i++) logs[i] += log(ratios[i]);
    char sizes[64] = "";
    for (int i = 0; i < 4 && size[i]; i++)
        snprintf(sizes + strlen(sizes), sizeof sizes - strlen(sizes), "%s%lld", i ? " x " : "", (long long)size[i]);
    printf("%-14s %-18s %11.0f %11.0f %-5s %6.2f %11.0f %11.0f %-5s %6.2f %9.2f\n", k->name, sizes, primal[0], primal[p],
           side_names[p], ratios[0], gradient[0], gradient[g], side_names[g], ratios[1], ratios[2]);
    fflush(stdout);
}

// ---- shares of the roofline

// What elementwise kernels and reductions cannot do without, for each of n elements: streams read and written, where what is
// needed again after a sum over all is read again, calls of a function of libm, additions and multiplications.
static const struct work {
    const char *kernel;
    bool gradient;
    int reads, writes, again; // again: streams that are only read, in passes of their own
    const char *function;
    int operations;
} works[] = {
    {"axpy", false, 2, 1, 0, NULL, 2},      {"axpy", true, 1, 2, 0, NULL, 1},
    {"horner", false, 1, 1, 0, NULL, 10},   {"horner", true, 2, 1, 0, NULL, 9},
    {"gauss", false, 1, 1, 0, "exp", 1},    {"gauss", true, 2, 1, 0, "exp", 4},
    {"tanhs", false, 1, 1, 0, "tanh", 0},   {"tanhs", true, 2, 1, 0, "tanh", 3},
    {"piecewise", false, 1, 1, 0, NULL, 5}, {"piecewise", true, 2, 1, 0, NULL, 5},
    {"dotp", false, 2, 0, 0, NULL, 2},      {"dotp", true, 2, 2, 0, NULL, 0},
    {"norm2", false, 1, 0, 0, NULL, 2},     {"norm2", true, 1, 1, 1, NULL, 3},
    {"abssum", false, 1, 0, 0, NULL, 2},    {"abssum", true, 1, 1, 0, NULL, 2},
    {"varianceOf", false, 1, 0, 1, NULL, 4}, {"varianceOf", true, 1, 1, 1, NULL, 4},
    {"lse", false, 1, 0, 1, "exp", 2},      {"lse", true, 1, 1, 1, "exp", 3},
    {"smax", false, 1, 1, 1, "exp", 3},     {"entropy", false, 1, 0, 0, "log", 2},
    {"entropy", true, 1, 1, 0, "log", 2},   {"cosine", false, 2, 0, 0, NULL, 6},
    {"cosine", true, 2, 2, 2, NULL, 12},    {"normalise", false, 1, 1, 1, NULL, 3},
};

// The time of the work: of what takes longest, moving, calling or calculating.
static double roof_time(const struct work *w, int64_t n, double peak) {
    double moves = stream_ns(n, w->reads, w->writes) + (w->again ? stream_ns(n, w->again, 0) : 0);
    return fmax(moves, fmax(function_ns(n, w->function), 1e9 * (double)w->operations * (double)n / (2 * peak)));
}

static void print_shares(bool quick) {
    enum { TURNS = 9 };
    double peak = peak_multiply_adds(200);
    printf("%-14s %-8s %10s %11s %11s %8s\n", "kernel", "", "size", "roof ns", "fsmc ns", "share");
    for (size_t i = 0; i < sizeof works / sizeof *works; i++) {
        const struct kernel *k = kernels;
        while (strcmp(k->name, works[i].kernel)) k++;
        double ns[TURNS], roof[TURNS], share[TURNS];
        set_up(k, false);
        // In turn, since other programs share a cache, and each long enough alone for what it leaves there.
        for (int t = 0; t < TURNS; t++) {
            time_sides(k, works[i].gradient, quick ? 0.001 : 0.005, 1, &ns[t]);
            roof[t] = roof_time(&works[i], size[0], peak);
            share[t] = roof[t] / ns[t];
        }
        printf("%-14s %-8s %10lld %11.0f %11.0f %8.2f\n", k->name, works[i].gradient ? "gradient" : "", (long long)size[0],
               median(roof, TURNS), median(ns, TURNS), median(share, TURNS));
        fflush(stdout);
        tear_down(k);
    }
}

// ---- threads

enum { COPIES = 64, ROUNDS = 61, LARGEST = 256 << 20 };

// A call of a kernel at a size of its own, with a context and arrays of its own.
struct copy {
    const struct kernel *kernel;
    bool gradient;
    fsm_context *ctx;
    int64_t size[4];
    struct shape shape;
    void *in[MOST + 1], *out[MOST];
    int64_t calls;
    pthread_barrier_t *start;
    int number;
    double seconds;
};

// Gives a thread of this program (0: the one that calls) a processor for itself, so that what else runs does not bring two of
// them onto one.
static void pin(pid_t thread, int number) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(number % sysconf(_SC_NPROCESSORS_ONLN), &set);
    sched_setaffinity(thread, sizeof set, &set);
}

// Lets the thread that calls run on all of them, as the threads that it starts, until they are pinned.
static void unpin(void) {
    cpu_set_t set;
    CPU_ZERO(&set);
    for (long i = 0; i < sysconf(_SC_NPROCESSORS_ONLN); i++) CPU_SET(i, &set);
    sched_setaffinity(0, sizeof set, &set);
}

// How many there are.
static int pin_all(void) {
    DIR *tasks = opendir("/proc/self/task");
    int number = 0;
    for (struct dirent *d; tasks && (d = readdir(tasks));)
        if (d->d_name[0] != '.') pin(atoi(d->d_name), number++);
    if (tasks) closedir(tasks);
    return number;
}

static int64_t bytes_of(const struct kernel *k, const struct shape *s) {
    int64_t n = s->result;
    for (int i = 0; i < k->inputs + k->seeds; i++) n += s->in[i].extent;
    for (int i = 0; i < k->gradients; i++) n += s->gradient[i];
    return 8 * n;
}

static int64_t written(const struct copy *c, int output) {
    return c->gradient ? c->shape.gradient[output] : c->shape.result;
}

static void copy_set_up(struct copy *c, const struct kernel *k, bool gradient, const int64_t *size) {
    *c = (struct copy){.kernel = k, .gradient = gradient, .ctx = fsm_context_new(), .calls = 1};
    memcpy(c->size, size, sizeof c->size);
    k->shape(size, &c->shape);
    for (int i = 0; i < k->inputs + k->seeds; i++) fill(c->in[i] = allocate(c->shape.in[i].extent), c->shape.in[i]);
    for (int i = 0; i < outputs(k, gradient); i++) c->out[i] = allocate(written(c, i));
}

static void copy_tear_down(struct copy *c) {
    for (int i = 0; i <= MOST; i++) free(c->in[i]);
    for (int i = 0; i < MOST; i++) free(c->out[i]);
    fsm_context_free(c->ctx);
}

static void *copy_run(void *data) {
    struct copy *c = data;
    const struct side *pair = &fsmc_kernels[c->kernel - kernels];
    if (c->start) pin(0, c->number), pthread_barrier_wait(c->start);
    double start = seconds();
    for (int64_t i = 0; i < c->calls; i++)
        if ((c->gradient ? pair->gradient : pair->primal)(c->ctx, c->size, c->in, c->out))
            exit((fprintf(stderr, "bench: %s: %s\n", c->kernel->name, fsm_context_error(c->ctx)), 1));
    c->seconds = seconds() - start;
    return NULL;
}

// Calls per second of all copies, running at once.
static double joint_throughput(struct copy *copy, int n) {
    pthread_t thread[COPIES];
    pthread_barrier_t start;
    double sum = 0;
    pthread_barrier_init(&start, NULL, (unsigned)n);
    for (int i = 0; i < n; i++) {
        copy[i].start = &start, copy[i].number = i;
        if (pthread_create(&thread[i], NULL, copy_run, &copy[i])) exit(1);
    }
    for (int i = 0; i < n; i++) pthread_join(thread[i], NULL), copy[i].start = NULL;
    for (int i = 0; i < n; i++) sum += (double)copy[i].calls / copy[i].seconds;
    pthread_barrier_destroy(&start);
    return sum;
}

// The kernel's size with its first extent doubled until a call takes so long, unless it never does.
static bool grow(const struct kernel *k, bool gradient, double least, int64_t size[4]) {
    memcpy(size, k->size, sizeof k->size);
    for (int i = 0; i < 16; i++, size[0] *= 2) {
        struct shape s;
        k->shape(size, &s);
        if (bytes_of(k, &s) > LARGEST) return false;
        struct copy c;
        copy_set_up(&c, k, gradient, size);
        double shortest = 1e9;
        for (int r = 0; r < 5; r++) {
            copy_run(&c);
            if (c.seconds < shortest) shortest = c.seconds;
        }
        copy_tear_down(&c);
        if (shortest >= least) return true;
    }
    return false;
}

// Does the kernel with 1, 2, 3 and 8 threads, and says how many results are not the same to the last bit.
static int differing(const struct kernel *k, bool gradient, double least, int runs) {
    static const int threads[] = {1, 2, 3, 8};
    int64_t size[4];
    struct copy one, c;
    int wrong = 0;
    grow(k, gradient, least, size);
    if (size[0] > k->size[0] << 10) memcpy(size, k->size, sizeof size);
    copy_set_up(&one, k, gradient, size);
    copy_run(&one);
    copy_set_up(&c, k, gradient, size);
    for (int i = 0; i < k->inputs + k->seeds; i++) memcpy(c.in[i], one.in[i], (size_t)one.shape.in[i].extent * 8);
    for (int t = 0; t < 4; t++) {
        fsm_context_set_threads(c.ctx, threads[t]);
        for (int r = 0; r < runs; r++) {
            bool same = true;
            for (int i = 0; i < outputs(k, gradient); i++) memset(c.out[i], 0xff, (size_t)written(&c, i) * 8);
            copy_run(&c);
            for (int i = 0; i < outputs(k, gradient); i++) same &= !memcmp(c.out[i], one.out[i], (size_t)written(&c, i) * 8);
            wrong += !same;
        }
    }
    copy_tear_down(&one), copy_tear_down(&c);
    return wrong;
}

static void check_threads(const struct kernel *k, bool quick) {
    for (int gradient = 0; gradient < 2; gradient++) {
        int wrong = differing(k, gradient, quick ? 0.0002 : 0.001, quick ? 5 : 100);
        if (wrong) printf("%s%s: %d results depend on the number of threads\n", k->name, gradient ? "_grad" : "", wrong), failed = true;
    }
}

// The throughput of calls in n threads by that of n copies at once, each in one: the best of each, which is what other programs
// disturb least, and the median of what was measured in turn. Nothing is printed if no call is long.
static void measure_threads(const struct kernel *k, bool gradient, int n, bool quick) {
    struct copy whole, copy[COPIES];
    double ratio[ROUNDS], speed[ROUNDS], joint[ROUNDS], alone[ROUNDS];
    int64_t size[4];
    if (!grow(k, gradient, quick ? 0.002 : 0.004, size)) return;
    copy_set_up(&whole, k, gradient, size);
    for (int i = 0; i < n; i++) copy_set_up(&copy[i], k, gradient, size), fsm_context_set_threads(copy[i].ctx, 1), copy_run(&copy[i]);
    fsm_context_set_threads(whole.ctx, n);
    unpin();
    copy_run(&whole);
    int rounds = pin_all() > 1 ? ROUNDS : 0; // none if no loop has been cut
    for (int r = 0; r < rounds; r++) {
        copy_run(&copy[0]);
        alone[r] = copy[0].seconds;
        whole.calls = 4 + (int64_t)(0.02 / copy[0].seconds);
        for (int i = 0; i < n; i++) copy[i].calls = whole.calls;
        copy_run(&whole);
        speed[r] = (double)whole.calls / whole.seconds;
        joint[r] = joint_throughput(copy, n);
        ratio[r] = speed[r] / joint[r];
        copy[0].calls = 1;
    }
    qsort(joint, ROUNDS, sizeof *joint, ascending);
    qsort(speed, ROUNDS, sizeof *speed, ascending);
    qsort(alone, ROUNDS, sizeof *alone, ascending);
    if (!rounds) printf("%-14s %-8s %10lld: one thread\n", k->name, gradient ? "gradient" : "", (long long)size[0]);
    else printf("%-14s %-8s %10lld %10.2f %10.2f %8.2f %8.2f %8.2f\n", k->name, gradient ? "gradient" : "", (long long)size[0],
           1e3 * alone[0], 1e3 / speed[ROUNDS - 1], alone[0] * speed[ROUNDS - 1], speed[ROUNDS - 1] / joint[ROUNDS - 1], median(ratio, ROUNDS));
    fflush(stdout);
    copy_tear_down(&whole);
    for (int i = 0; i < n; i++) copy_tear_down(&copy[i]);
}

int main(int argc, char **argv) {
    bool only_check = false, quick = false, roofline = false, wanted[KERNEL_COUNT] = {0}, some = false;
    int threads = 0;
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--check")) only_check = true;
        else if (!strcmp(argv[i], "--quick")) quick = true;
        else if (!strcmp(argv[i], "--roofline")) roofline = true;
        else if (!strcmp(argv[i], "--threads") && i + 1 < argc && (threads = atoi(argv[i + 1])) > 0 && threads <= COPIES) i++;
        else if (!strcmp(argv[i], "--only") && i + 1 < argc) {
            int k = 0;
            while (k < KERNEL_COUNT && strcmp(kernels[k].name, argv[i + 1])) k++;
            if (k == KERNEL_COUNT) return fprintf(stderr, "bench: there is no kernel `%s`\n", argv[i + 1]), 2;
            wanted[k] = some = true;
            i++;
        } else return fprintf(stderr, "usage: bench [--check] [--quick] [--roofline] [--threads N] [--only NAME]...\n"), 2;
    }
    ctx = fsm_context_new();
    if (roofline) return print_shares(quick), fsm_context_free(ctx), 0;
    double logs[3] = {0};
    int count = 0;
    if (threads && !only_check)
        printf("%-14s %-8s %10s %10s %10s %8s %8s %8s\n", "kernel", "", "size", "1, ms", "N, ms", "faster", "N/copies", "median");
    else if (!only_check) {
        print_roofline(quick);
        printf("%-14s %-18s %11s %11s %-5s %6s %11s %11s %-5s %6s %9s\n", "kernel", "size", "fsmc ns", "best C ns", "by",
               "C/fsmc", "grad ns", "C grad ns", "by", "C/fsmc", "grad/own");
    }
    for (int i = 0; i < KERNEL_COUNT; i++) {
        if (some && !wanted[i]) continue;
        const struct kernel *k = &kernels[i];
        count++;
        if (threads) {
            if (only_check) check_threads(k, quick);
            else measure_threads(k, false, threads, quick), measure_threads(k, true, threads, quick);
            continue;
        }
        set_up(k, true);
        check(k);
        tear_down(k);
        set_up(k, false);
        if (!quick || !only_check) check(k);
        if (!only_check) measure(k, quick ? 0.001 : 0.005, logs);
        tear_down(k);
    }
    if (threads && only_check) printf("%d kernels and their gradients with any number of threads: %s\n", count, failed ? "some differ" : "the same bits");
    else if (only_check) printf("%d kernels and their gradients %s\n", count, failed ? "compared: some disagree" : "agree");
    else if (!threads) printf("geometric means of %d: C / fsmc %.2f, gradient C / fsmc %.2f, gradient / own primal %.2f\n", count,
                exp(logs[0] / count), exp(logs[1] / count), exp(logs[2] / count));
    fsm_context_free(ctx);
    return failed;
}
