// The whole front end: names, inference and elaboration, with rules and without. What it accepts passes the verifier, is
// printed as textual IR that reads back as the same nodes, can be interpreted, and is printed as F̃ that is accepted.
#include "front/elab.h"
#include "front/infer.h"
#include "front/module.h"
#include "fuzz/fuzz.h"
#include "ir/fsm_print.h"

enum { MOST_CORES = 3000, MOST_TEXT = 1 << 16 };

// Whether the source can be parsed (what cannot is for another target, and the prelude takes time) and opens no files.
static bool is_program(FuzzInput *in) {
    Diag *diag = diag_new(in->arena);
    const Program *p = parse_program(in->arena, diag, in->src);
    bool ok = diag_errors(diag) == 0;
    for (int i = 0; i < p->ndecls; i++) ok &= p->decls[i]->kind != DECL_OPEN;
    diag_delete(diag);
    return ok;
}

static const CoreProgram *infer_source(FuzzInput *in, Diag *diag, const Source *src, int most) {
    Unit *u = module_load(in->arena, diag, src, NULL, 0);
    u->max_cores = most;
    if (diag_errors(diag)) return NULL;
    const CoreProgram *p = infer_program(u, 0, NULL);
    return diag_errors(diag) ? NULL : p;
}

// The function printed as F̃.
static void check_printed(FuzzInput *in, const Func *f) {
    Str out = {0};
    fsm_print(&out, f);
    if (out.len < MOST_TEXT) {
        Source src = {"printed.fsm", str_text(&out), out.len};
        Diag *diag = diag_new(in->arena);
        const CoreProgram *p = infer_source(in, diag, &src, 0);
        if (!p) fuzz_show(diag, &out);
        FUZZ_CHECK(p);
        diag_delete(diag);
    }
    str_free(&out);
}

static void elaborate(FuzzInput *in, const CoreProgram *p, bool raw) {
    Ir *m = ir_new(in->arena);
    m->raw = raw;
    int n;
    Func **fs = elab_program(m, p, &n);
    if (!diag_errors(in->diag)) {
        fuzz_check_functions(in, m, fs, n);
        if (!raw && n) check_printed(in, fs[in->src->len % (size_t)n]); // of several, one is enough
    }
    ir_delete(m);
}

void fuzz_types(const uint8_t *data, size_t size) {
    FuzzInput in = fuzz_open("input.fsm", data, size);
    if (is_program(&in)) {
        const CoreProgram *p = infer_source(&in, in.diag, in.src, MOST_CORES);
        FUZZ_CHECK(!p == (diag_errors(in.diag) > 0));
        if (p) elaborate(&in, p, true);
        if (p && !diag_errors(in.diag)) elaborate(&in, p, false);
    }
    fuzz_close(&in);
}
