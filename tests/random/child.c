#define _GNU_SOURCE
#include "random/child.h"

#include "oracle/guard.h"
#include "oracle/oracle.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef FSMC_COVERAGE // the preset of that name
enum { COVERAGE = 1 };
#else
enum { COVERAGE = 0 };
#endif

void child_send(int out, const char *text) {
    size_t n = strlen(text);
    if (write(out, text, n) != (ssize_t)n) _exit(9);
}

// ---- slow programs

enum { TICK = 6 }; // seconds of the processor

static int slow_out, ticks, patience;
static char last_where[256];

// What runs programs has a trial.
static void on_tick(int signal) {
    const char *now = oracle_where();
    bool runs = strstr(now, "trial") && !strstr(now, "trial -1");
    if (!runs && !strcmp(now, last_where)) {
        child_send(slow_out, "slow: ");
        child_send(slow_out, now);
        _exit(0);
    }
    if (++ticks * TICK >= patience) _exit(0);
    snprintf(last_where, sizeof last_where, "%s", now);
    (void)signal;
}

static void watch(int out) {
    struct itimerval every = {{TICK, 0}, {TICK, 0}};
    slow_out = out;
    signal(SIGPROF, on_tick);
    setitimer(ITIMER_PROF, &every, NULL);
}

// ---- the process

typedef struct Guarded {
    const Child *c;
    int out;
} Guarded;

static int run_guarded(void *data) {
    Guarded *g = data;
    return g->c->job(g->c->data, g->out);
}

static void child(const Child *c, int out) {
    Guarded g = {c, out};
    int result = 0;
    patience = c->patience;
    watch(out);
    guard_tell_crashes(out);
    if (c->quiet && (!freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr))) _exit(9);
    int left = compile_guarded(run_guarded, &g, &result);
    if (left) {
        char why[600];
        snprintf(why, sizeof why, "crash: %s at %s", left == DIAG_EXIT_MEMORY ? "out of memory" : "a broken invariant",
                 oracle_where());
        child_send(out, why);
    }
    if (COVERAGE) exit(0); // which writes the counts
    fflush(stdout);
    _exit(0);
}

void child_run(const Child *c, char *text, size_t size) {
    int fd[2], status;
    text[0] = 0;
    fflush(stdout);
    if (pipe(fd)) return;
    pid_t pid = fork();
    if (pid == 0) {
        close(fd[0]);
        child(c, fd[1]);
    }
    close(fd[1]);
    size_t n = 0;
    for (ssize_t got; n < size - 1 && (got = read(fd[0], text + n, size - 1 - n)) > 0;) n += (size_t)got;
    text[n] = 0;
    close(fd[0]);
    waitpid(pid, &status, 0);
    if (!n && WIFSIGNALED(status)) snprintf(text, size, "crash: signal %d", WTERMSIG(status));
    else if (!n && WEXITSTATUS(status)) snprintf(text, size, "crash: exit %d", WEXITSTATUS(status));
}
