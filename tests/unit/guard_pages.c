// Whether the pages around arrays (oracle/guard.h) show what code does beside them: loop trees that go wrong on purpose, compiled.
#define _POSIX_C_SOURCE 200809L
#include "driver/compile.h"
#include "oracle/guard.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

// An index stands for %s: of an access of the argument, the result or the scratch array, each of which has n elements.
static const char text[] = "tree f(n: i64 size, x: f64[n]) -> f64[n] {\n"
                           "  input 1 x[n]\n  output 0 out0[n]\n  n = arg 0\n  minus = -1\n  more = 64\n  far = n + more\n"
                           "  end\n"
                           "  new b: f64[n]\n  copy b = x\n  copy out0 = b\n  zero = 0\n"
                           "  %s\n}\n"
                           "sizes f_sizes(n: i64 size, x: f64[n]) -> out0_dim0: i64 {\n  input 1 x[n]\n  n = arg 0\n  end\n  out 0 = n\n}\n";

static const struct {
    const char *name, *does;
    bool ends, well;
} cases[] = {
    {"nothing, at the end", "t = x[zero]", true, true},
    {"nothing, at the beginning", "t = b[zero]\n  out0[zero] = t", false, true},
    {"argument, read behind", "t = x[n]\n  out0[zero] = t", true, false},
    {"argument, read before", "t = x[minus]\n  out0[zero] = t", false, false},
    {"result, read behind", "t = out0[n]\n  out0[zero] = t", true, false},
    {"result, written behind", "t = x[zero]\n  out0[n] = t", true, false},
    {"result, written behind in the same page", "t = x[zero]\n  out0[n] = t", false, false},
    {"result, written before", "t = x[zero]\n  out0[minus] = t", false, false},
    {"result, written before in the same page", "t = x[zero]\n  out0[minus] = t", true, false},
    {"scratch, read behind", "t = b[far]\n  out0[zero] = t", true, false},
    {"scratch, written behind", "t = x[zero]\n  b[far] = t", true, false},
    {"scratch, written before", "t = x[zero]\n  b[minus] = t", false, false},
    {"scratch, written before in the same page", "t = x[zero]\n  b[minus] = t", true, false},
};

enum { SIZE = 37, WELL = 11, NOT_READY, BUG }; // the last ones: how a process ends that does not crash

static int call(void *data) {
    const int k = *(int *)data;
    Arena *a = arena_new();
    Diag *diag = diag_new(a);
    const char *s = arena_printf(a, text, cases[k].does), *error = NULL;
    Source src = {"f.tree", s, strlen(s)};
    int n;
    Tree **trees = tree_read(a, diag, &src, &n);
    if (!trees) return NOT_READY;
    CpuOptions opt = {.cpu = "native", .name = "f", .callable = true, .instead = guard_scratch};
    CpuModule *m = cpu_emit(a, diag, n, trees, &opt);
    CpuJit *jit = m ? cpu_jit(m, diag) : NULL;
    if (!jit) return NOT_READY;
    Tensor in[2] = {tensor_new(a, KIND_INT, 0, NULL), tensor_new(a, KIND_DOUBLE, 1, (int64_t[]){SIZE})}, out[1];
    tensor_set(&in[0], 0, SIZE);
    return guard_call(a, jit, trees[0]->func, in, out, cases[k].ends, &error) ? NOT_READY : WELL;
}

// In a process of its own: what is expected?
static bool is_right(int k) {
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        int result = 0;
        if (!freopen("/dev/null", "w", stderr)) _exit(NOT_READY);
        _exit(compile_guarded(call, &k, &result) ? BUG : result);
    }
    int status = 0;
    waitpid(pid, &status, 0);
    const int end = WIFEXITED(status) ? WEXITSTATUS(status) : 0; // a sanitizer may make an exit of a crash
    return cases[k].well ? end == WELL : end != WELL && end != NOT_READY;
}

int main(void) {
    int failures = 0;
    for (int k = 0; k < (int)(sizeof cases / sizeof *cases); k++) {
        bool ok = is_right(k);
        printf("%s guard pages, %s%s\n", ok ? "ok" : "not ok", cases[k].name, ok ? "" : ": not as it should be");
        failures += !ok;
    }
    return failures > 0;
}
