// Derivatives of an entry as functions of their own.
#include "ad/family.h"

#include "ad/ad.h"

#include <string.h>

const char *const form_names[FORMS] = {[FORM_VALUE] = "value",
                                       [FORM_TANGENT] = "tangent",
                                       [FORM_ADJOINT] = "adjoint",
                                       [FORM_FR] = "forward over reverse",
                                       [FORM_RF] = "reverse over forward",
                                       [FORM_RR] = "reverse over reverse"};

static const char *const suffix[FORMS] = {"", "_tangent", "_adjoint", "_fr", "_rf", "_rr"};

enum { MAX_LEAVES = 256 };

typedef struct Derive {
    Ir *m;
    Func *f;
    int nx, ny, ninputs;
    Node *x[MAX_LEAVES], *v[MAX_LEAVES], *y[MAX_LEAVES], *w[MAX_LEAVES];
    Node **inputs;
} Derive;

static Node *direction(Derive *d, const char *name, const Node *like) {
    int k = d->ninputs++;
    name = arena_printf(d->m->arena, "%s_%d", name, k);
    return d->inputs[k] = ir_input(d->m, k, name, like->kind, like->rank, like->shape);
}

static bool open_derive(Derive *d, Func *f) {
    *d = (Derive){.m = f->ir, .f = f, .ninputs = f->ninputs};
    d->inputs = ARENA_ARRAY(d->m->arena, Node *, f->ninputs + 2 * MAX_LEAVES);
    memcpy(d->inputs, f->inputs, sizeof *d->inputs * (size_t)f->ninputs);
    for (int i = 0; i < f->ninputs; i++) {
        if (!kind_is_float(f->inputs[i]->kind)) continue;
        if (d->nx == MAX_LEAVES) return false;
        d->x[d->nx++] = f->inputs[i];
    }
    for (int i = 0; i < f->noutputs; i++) {
        if (!kind_is_float(f->outputs[i]->kind)) continue;
        if (d->ny == MAX_LEAVES) return false;
        d->y[d->ny++] = f->outputs[i];
    }
    for (int j = 0; j < d->nx; j++) d->v[j] = direction(d, "v", d->x[j]);
    for (int i = 0; i < d->ny; i++) d->w[i] = direction(d, "w", d->y[i]);
    return d->nx && d->ny;
}

static SigType *sig_of(Arena *a, const Node *e) {
    SigType *t = ARENA_NEW(a, SigType);
    *t = (SigType){.form = SIG_SCALAR, .kind = e->kind};
    for (int k = e->rank; k-- > 0;) {
        SigType *outer = ARENA_NEW(a, SigType);
        *outer = (SigType){.form = SIG_ARRAY, .kind = e->kind, .extent = e->shape[k], .nparts = 1};
        outer->parts = arena_copy(a, &t, sizeof t);
        t = outer;
    }
    return t;
}

// Parameters for the directions after those of the entry, and a tuple as result.
static void sign(Derive *d, Func *g) {
    Arena *a = d->m->arena;
    int more = d->ninputs - d->f->ninputs;
    g->params = ARENA_ARRAY(a, SigParam, g->nparams + more);
    if (g->nparams) memcpy(g->params, d->f->params, sizeof *g->params * (size_t)g->nparams);
    for (int k = d->f->ninputs; k < d->ninputs; k++)
        g->params[g->nparams++] = (SigParam){d->inputs[k]->name, sig_of(a, d->inputs[k]), k, 1};
    g->result = ARENA_NEW(a, SigType);
    *g->result = (SigType){.form = SIG_TUPLE, .nparts = g->noutputs, .parts = ARENA_ARRAY(a, SigType *, g->noutputs)};
    for (int k = 0; k < g->noutputs; k++) g->result->parts[k] = sig_of(a, g->outputs[k]);
    if (g->noutputs == 1) g->result = g->result->parts[0];
}

static Func *make(Derive *d, Form form, int n, Node *const *outputs) {
    Func *g = arena_copy(d->m->arena, d->f, sizeof *d->f);
    g->name = arena_printf(d->m->arena, "%s%s", d->f->name, suffix[form]);
    g->ninputs = d->ninputs, g->inputs = d->inputs;
    g->noutputs = n, g->output_names = NULL;
    g->outputs = ARENA_ARRAY(d->m->arena, Node *, n + 1);
    for (int i = 0; i < n; i++) g->outputs[i] = ir_expand(d->m, outputs[i]);
    Node *raises = ir_expand(d->m, ir_evaluated(d->m, func_roots(d->f), d->f->outputs));
    g->ndemands = raises->partial;
    if (raises->partial) g->outputs[n] = raises;
    sign(d, g);
    return g;
}

// Sum of the products of corresponding elements.
static Node *inner(Ir *m, Node *a, Node *b) {
    Var *v[16];
    Node *i[16];
    for (int k = 0; k < a->rank; k++) v[k] = ir_index(m, "q", a->shape[k]), i[k] = ir_var(v[k]);
    Node *e = ir_mul(m, ir_at(m, a, a->rank, i), ir_at(m, b, a->rank, i));
    for (int k = a->rank; k-- > 0;) e = ir_sum(m, v[k], e);
    return e;
}

static void second_order(Derive *d, Family *out, Node **tan, Node **adj) {
    Ir *m = d->m;
    Node *r[MAX_LEAVES];
    AdError error = {0};
    if (ad_forward(m, d->nx, adj, r, d->nx, d->x, d->v, &error)) out->form[FORM_FR] = make(d, FORM_FR, d->nx, r);
    else out->error[FORM_FR] = error.text;
    if (ad_reverse(m, d->nx, adj, d->v, d->nx, d->x, r, &error)) out->form[FORM_RR] = make(d, FORM_RR, d->nx, r);
    else out->error[FORM_RR] = error.text;
    Node *s = NULL, *one = NULL;
    for (int i = 0; i < d->ny; i++) { // in the precision of the first: all are alike in what follows
        Node *t = ir_conv(m, d->y[0]->kind, inner(m, d->w[i], tan[i]));
        s = s ? ir_add(m, s, t) : t;
    }
    one = ir_real(m, s->kind, 1);
    if (ad_reverse(m, 1, &s, &one, d->nx, d->x, r, &error)) out->form[FORM_RF] = make(d, FORM_RF, d->nx, r);
    else out->error[FORM_RF] = error.text;
}

// The entry itself, without what was kept for derivatives.
static Func *expanded(Func *f) {
    Func *g = arena_copy(f->ir->arena, f, sizeof *f);
    g->outputs = ARENA_ARRAY(f->ir->arena, Node *, func_roots(f) + 1);
    for (int i = 0; i < func_roots(f); i++) g->outputs[i] = ir_expand(f->ir, f->outputs[i]);
    return g;
}

Family family_derive(Func *f, int order) {
    Family out = {.form = {expanded(f)}};
    Derive d;
    Node *tan[MAX_LEAVES], *adj[MAX_LEAVES];
    AdError error = {0};
    if (order < 1) return out;
    if (!open_derive(&d, f)) {
        for (Form k = FORM_TANGENT; k < FORMS; k++) out.error[k] = "nothing to differentiate";
        return out;
    }
    diag_current_pass = "differentiate";
    if (ad_forward(d.m, d.ny, d.y, tan, d.nx, d.x, d.v, &error)) out.form[FORM_TANGENT] = make(&d, FORM_TANGENT, d.ny, tan);
    else out.error[FORM_TANGENT] = error.text;
    if (!ad_reverse(d.m, d.ny, d.y, d.w, d.nx, d.x, adj, &error)) {
        for (Form k = FORM_ADJOINT; k < FORMS; k++) out.error[k] = error.text;
        return out;
    }
    out.form[FORM_ADJOINT] = make(&d, FORM_ADJOINT, d.nx, adj);
    if (order > 1) second_order(&d, &out, tan, adj);
    return out;
}
