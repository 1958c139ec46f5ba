// Runs instances by tools, each in a process of its own, and keeps what they write in ADBench's folders.
#define _GNU_SOURCE
#include "results.h"

#include "runner.h"
#include "text.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

// ADBench's path of what a tool says of an instance.
static const char *result_path(const Plan *plan, const Instance *i, const Peer *p, const char *what, const char *suffix) {
    const char *base = base_of(i);
    return text("%s/Release/%.*s%s/%s_%s_%s%s", plan->out, (int)(base - i->name), i->name, p->name, base, what, p->name, suffix);
}

static const char *input_of(const Plan *plan, const Instance *i) {
    const char *given = plan->data ? text("%s/%s.txt", plan->data, i->name) : NULL;
    if (given && exists(given)) return given;
    const char *folder = text("%s/data", plan->out), *made = text("%s/%s.txt", folder, i->name);
    if (!exists(made)) {
        fprintf(stderr, "  generating %s\n", made);
        generate(folder, i->name);
    }
    return made;
}

// ---- processes

enum { MOST_WORDS = 64 };

// As many processors, of those that this process may use, the last ones.
static void use_threads(int threads) {
    cpu_set_t allowed, some;
    CPU_ZERO(&some);
    if (sched_getaffinity(0, sizeof allowed, &allowed)) _exit(126);
    for (int cpu = CPU_SETSIZE - 1; cpu >= 0 && CPU_COUNT(&some) < threads; cpu--)
        if (CPU_ISSET(cpu, &allowed)) CPU_SET(cpu, &some);
    if (sched_setaffinity(0, sizeof some, &some)) _exit(126);
    struct sched_param priority; // of real time, as by chrt: less than that of this program, which may have to end it
    if (sched_getscheduler(0) != SCHED_OTHER && !sched_getparam(0, &priority) && priority.sched_priority > 1) {
        priority.sched_priority--;
        sched_setparam(0, &priority);
    }
    setenv("FSMC_ADBENCH_THREADS", text("%d", threads), 1);
    setenv("OMP_NUM_THREADS", text("%d", threads), 1);
}

static void start(const Plan *plan, const Instance *i, const Peer *p, const char *input, const char *prefix) {
    char *words[MOST_WORDS + 16];
    int n = 0;
    if (p->command)
        for (char *word = strtok(strdup(p->command), " "); word && n < MOST_WORDS; word = strtok(NULL, " ")) words[n++] = word;
    else words[n++] = (char *)"/proc/self/exe";
    const char *rest[] = {kind_names[i->kind],
                          p->module ? text("%s=%s", p->name, p->module) : p->name,
                          input,
                          prefix,
                          plan->minimum,
                          plan->samples,
                          plan->derivative_samples,
                          plan->limit,
                          i->replicate ? "-rep" : NULL,
                          NULL};
    for (int k = 0; k < 10; k++) words[n++] = (char *)rest[k];
    use_threads(plan->threads);
    execvp(words[0], words);
    fprintf(stderr, "fsmc-adbench: %s: %s\n", words[0], strerror(errno));
    _exit(127);
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// What a process has in memory now.
static double bytes_of(pid_t process) {
    double pages = 0;
    FILE *f = fopen(text("/proc/%d/statm", (int)process), "r");
    if (f && fscanf(f, "%*f %lf", &pages) != 1) pages = 0;
    if (f) fclose(f);
    return pages * (double)sysconf(_SC_PAGESIZE);
}

enum { TOO_LONG = -1, TOO_LARGE = -2 };

// The exit status, or why the process was ended.
static int wait_for(const Plan *plan, pid_t child) {
    int status, over = 0;
    for (double begin = now(); waitpid(child, &status, WNOHANG) == 0;) {
        if (now() - begin > plan->timeout) over = TOO_LONG;
        if (plan->memory > 0 && bytes_of(child) > plan->memory) over = TOO_LARGE;
        if (over) {
            kill(child, SIGKILL);
            waitpid(child, &status, 0);
            return over;
        }
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int run_peer(const Plan *plan, const Instance *i, const Peer *p, const char *times) {
    const char *prefix = text("%.*s", (int)(strlen(times) - strlen(text("%s_times_%s.txt", base_of(i), p->name))), times);
    const char *input = input_of(plan, i);
    make_folders(times);
    unlink(times);
    pid_t child = fork();
    if (child < 0) fail(STATUS_TOOL, "no new process: %s", strerror(errno));
    if (!child) start(plan, i, p, input, prefix);
    return wait_for(plan, child);
}

// ---- results

// Whether the tool, at a size of the same set before this one that is not larger, was out of time.
static bool hopeless(const Plan *plan, int64_t at, const Peer *p) {
    double times[2], size = size_of(plan->instances[at].name);
    for (int64_t k = 0; k < at; k++)
        if (same_set(&plan->instances[at], &plan->instances[k]) && size_of(plan->instances[k].name) <= size &&
            read_times(result_path(plan, &plan->instances[k], p, "times", ".txt"), times) && isinf(times[0]))
            return true;
    return false;
}

// The other tools' derivatives are compared with those of the first whose name begins with manual.
static const Peer *reference_of(const Plan *plan) {
    for (int t = 0; t < plan->npeers; t++)
        if (!strncmp(plan->peers[t].name, "manual", 6)) return &plan->peers[t];
    return NULL;
}

static bool compare_with_reference(const Plan *plan, const Instance *i, const Peer *p) {
    const Peer *reference = reference_of(plan);
    if (!reference || reference == p) return true;
    static const char *const parts[] = {"F", "J"};
    for (int k = 0; k < 2; k++) {
        const char *file = result_path(plan, i, p, parts[k], ".txt"), *with = result_path(plan, i, reference, parts[k], ".txt");
        if (!exists(file) || !exists(with)) continue;
        Comparison c = compare_files(file, with, plan->tolerance);
        if (k) write_comparison(result_path(plan, i, p, "correctness", ".txt"), file, with, plan->tolerance, &c);
        if (!c.shape && !c.violations) continue;
        fprintf(stderr, "  %s: %s differs from that of %s: %lld of %lld numbers%s, the largest difference is %.1e\n", p->name, file,
                reference->name, (long long)c.violations, (long long)c.compared,
                c.shape ? ", and the files have different shapes" : "", c.largest);
        return false;
    }
    return true;
}

static void say_times(const Peer *p, const double times[2], const char *more) {
    if (isinf(times[0])) fprintf(stderr, "  %s: out of time%s\n", p->name, more);
    else fprintf(stderr, "  %s: %.6g ms, derivative %.6g ms%s\n", p->name, 1e3 * times[0], 1e3 * times[1], more);
}

// Whether there is nothing to run: it was run before, or cannot be hoped to end in time.
static bool settled(const Plan *plan, int64_t at, const Peer *p) {
    const char *file = result_path(plan, &plan->instances[at], p, "times", ".txt");
    double times[2];
    if (!plan->again && read_times(file, times)) {
        say_times(p, times, " (from before)");
        return true;
    }
    if (!hopeless(plan, at, p)) return false;
    fprintf(stderr, "  %s: not run, a smaller size took too long\n", p->name);
    write_times(file, INFINITY, INFINITY);
    return true;
}

// After a first round, the lesser of its times and those before stays. False if the tool failed; `over` if more rounds
// are no use.
static bool measure(const Plan *plan, const Instance *i, const Peer *p, int64_t round, bool *over) {
    char file[4096];
    snprintf(file, sizeof file, "%s", result_path(plan, i, p, "times", ".txt"));
    double times[2] = {INFINITY, INFINITY}, least[2];
    if (!round || !read_times(file, least)) least[0] = least[1] = INFINITY;
    int status = run_peer(plan, i, p, file);
    if (status == TOO_LONG) fprintf(stderr, "  %s: longer than %g s\n", p->name, plan->timeout);
    else if (status == TOO_LARGE) fprintf(stderr, "  %s: more than %g GB\n", p->name, 1e-9 * plan->memory);
    else if (status || !read_times(file, times)) {
        fprintf(stderr, "  %s: failed, exit status %d\n", p->name, status);
        *over = true;
        return false;
    }
    *over = status < 0;
    for (int k = 0; k < 2; k++) times[k] = fmin(times[k], least[k]);
    if (status < 0 || round) write_times(file, times[0], times[1]);
    if (round == plan->rounds - 1 && !*over) say_times(p, times, "");
    return true;
}

static bool run_instance(const Plan *plan, int64_t at) {
    bool good = true, done[TOOLS];
    for (int t = 0; t < plan->npeers; t++) done[t] = settled(plan, at, &plan->peers[t]);
    for (int64_t round = 0; round < plan->rounds; round++)
        for (int t = 0; t < plan->npeers; t++)
            if (!done[t]) good &= measure(plan, &plan->instances[at], &plan->peers[t], round, &done[t]);
    for (int t = 0; t < plan->npeers; t++) good &= compare_with_reference(plan, &plan->instances[at], &plan->peers[t]);
    return good;
}

// Results of one folder are of one number of threads.
static void say_about(const Plan *plan) {
    About a = read_about(plan);
    const char *threads = text("%d", plan->threads), *before = about(&a, "threads");
    if (*before && strcmp(before, threads) != 0)
        fail(STATUS_USAGE, "%s has results of %s threads, not of %s", plan->out, before, threads);
    about_machine(&a);
    set_about(&a, "threads", threads);
    const char *clock = getenv("FSMC_ADBENCH_CLOCK");
    set_about(&a, "clock", clock && !strcmp(clock, "cpu") && plan->threads == 1 ? "processor time of the thread" : "wall clock");
    for (int t = 0; t < plan->npeers; t++) {
        const Peer *p = &plan->peers[t];
        const char *version = p->module ? tool_named(p->module)->version : p->version;
        if (version) set_about(&a, p->name, version);
    }
    write_about(plan, &a);
}

int run_plan(const Plan *plan) {
    bool good = true;
    say_about(plan);
    for (int64_t at = 0; at < plan->count; at++) {
        fprintf(stderr, "[%lld/%lld] %s\n", (long long)at + 1, (long long)plan->count, plan->instances[at].name);
        good &= run_instance(plan, at);
    }
    return good ? 0 : STATUS_DIFFERS;
}
