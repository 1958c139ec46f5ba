#define _POSIX_C_SOURCE 200809L
#include "tools/engine.h"

#include "lower/exec.h"

#include <math.h>
#include <time.h>

bool caller_open(Caller *x, Compilation *c, FuncList funcs) {
    *x = (Caller){.c = c, .funcs = funcs};
    if (!compile_externs(c, funcs)) return false;
    if (c->opt->engine == ENGINE_INTERP) return true;
    compile_passes(c, &x->funcs, true);
    x->trees = compile_trees(c, x->funcs);
    if (c->opt->engine == ENGINE_EXEC) return compile_ok(c);
    CpuModule *m = compile_module(c, x->funcs, x->trees, true);
    if (!m) return false;
    compile_stage(c, "llvm");
    x->jit = cpu_jit(m, c->diag);
    cpu_delete(m);
    return x->jit;
}

void caller_close(Caller *x) {
    cpu_jit_delete(x->jit);
    x->jit = NULL;
}

int caller_call(const Caller *x, Arena *a, int i, const Tensor *inputs, Tensor *outputs, const char **error) {
    const Func *f = x->funcs.f[i];
    if (x->jit) return cpu_call(a, x->jit, f, inputs, outputs, error);
    if (x->trees) return tree_exec(a, x->trees[i], inputs, outputs, NULL, error);
    return interp_run(a, f, inputs, outputs, NULL, error);
}

double timer_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

double timer_batch(const CpuCall *call, int64_t calls) {
    const char *error;
    double start = timer_now();
    for (int64_t i = 0; i < calls; i++) cpu_invoke(call, &error);
    return (timer_now() - start) / (double)calls;
}

int64_t timer_calibrate(const CpuCall *call, double batch_s) {
    int64_t batch = 1;
    for (double spent = 0; spent < batch_s;) {
        double each = timer_batch(call, batch), wanted = batch_s / fmax(each, 1e-9);
        spent = each * (double)batch;
        if (spent >= batch_s / 2) break;
        batch = (int64_t)fmin(fmax(wanted, (double)batch * 2), 1e9);
    }
    return (int64_t)fmax(1, fmin(batch_s / fmax(timer_batch(call, batch), 1e-9), 1e9));
}
