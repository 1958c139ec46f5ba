#include "tools/engine.h"

#include "lower/exec.h"

bool caller_open(Caller *x, Compilation *c, FuncList funcs) {
    *x = (Caller){.c = c, .funcs = funcs};
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
