// fsmc gradcheck: the derivatives of an entry against each other and against differences.
//
// With random weights w of the results, L(x) = <w, f(x)> is a number, and its derivative by each element of the
// arguments is computed three ways: by reverse mode (all at once), by forward mode, and by differences of three widths,
// extrapolated twice (Richardson). What the extrapolations disagree by says how far the difference can be trusted.
#include "ad/family.h"
#include "driver/args.h"
#include "driver/driver.h"
#include "driver/file.h"
#include "support/random.h"
#include "tools/engine.h"

#include <math.h>
#include <string.h>

enum { MAX_ELEMENTS = 100 }; // of each argument, checked in a trial

typedef struct Sample {
    double forward, reverse, difference; // NaN where there is none
    double error;                        // relative to the largest derivative by the argument
    int64_t index;
    bool wrong;
} Sample;

// One floating argument, or component of one.
typedef struct Row {
    const char *name;
    Span at;
    int input; // its number
    int64_t elements, checked, kinks, uncertain;
    double largest; // derivative
    bool any;
    Sample worst;
    const int64_t *shape;
    int rank;
} Row;

typedef struct Gradcheck {
    Compilation *c;
    const Options *opt;
    Func *f;
    Family family;
    int which[FORMS]; // number of the form's function, -1 if there is none
    Caller caller;
    Row *row;
    int nrows, ny;
    const int *y;    // floating outputs
    Tensor *in;      // arguments, directions, weights
    Tensor *adjoint; // of the rows, for these weights; NULL without reverse mode
    double eps;
    double agreement; // of the modes: the largest relative difference so far
    bool disagreed;
} Gradcheck;

static bool single(const Func *f) {
    bool any = false;
    for (int k = 0; k < f->ninputs; k++) any |= f->inputs[k]->kind == KIND_FLOAT;
    for (int k = 0; k < f->noutputs; k++) any |= f->outputs[k]->kind == KIND_FLOAT;
    return any;
}

// ---- preparing

// Where the entry's declaration has the parameter.
static Span param_span(const Gradcheck *g, int k) {
    const Unit *u = g->c->unit;
    const Def *d = u ? module_find(u, u->main, g->f->name) : NULL;
    return d && k < d->decl->nparams ? d->decl->params[k]->span : g->f->span;
}

static void make_rows(Gradcheck *g) {
    const Func *f = g->f;
    Arena *a = g->c->arena;
    g->row = ARENA_ARRAY(a, Row, f->ninputs + 1);
    for (int k = 0; k < f->nparams; k++) {
        const SigParam *p = &f->params[k];
        const char *name = p->name ? p->name : arena_printf(a, "#%d", k + 1);
        for (int i = p->first; i < p->first + p->count; i++) {
            if (!kind_is_float(f->inputs[i]->kind)) continue;
            Row *r = &g->row[g->nrows++];
            *r = (Row){.name = p->count > 1 ? arena_printf(a, "%s.%d", name, i - p->first) : name, .input = i};
            r->at = param_span(g, k);
        }
    }
    int *y = ARENA_ARRAY(a, int, f->noutputs + 1);
    for (int k = 0; k < f->noutputs; k++)
        if (kind_is_float(f->outputs[k]->kind)) y[g->ny++] = k;
    g->y = y;
}

static bool derive(Gradcheck *g) {
    g->family = family_derive(g->f, 1);
    Func **funcs = ARENA_ARRAY(g->c->arena, Func *, FORMS);
    int n = 0;
    for (Form k = 0; k <= FORM_ADJOINT; k++) {
        g->which[k] = g->family.form[k] ? n : -1;
        if (!g->family.form[k]) continue;
        ir_verify(g->family.form[k]);
        funcs[n++] = g->family.form[k];
    }
    if (n == 1) {
        diag_error(g->c->diag, g->f->span, "`%s` has no derivative that could be checked: %s", g->f->name,
                   g->family.error[FORM_TANGENT]);
        return false;
    }
    return caller_open(&g->caller, g->c, (FuncList){n, funcs, NULL});
}

static void fill(Tensor *t, Random *r) {
    for (int64_t i = 0; i < tensor_count(t); i++) tensor_set(t, i, random_real(r, -1, 1));
}

// The arguments of a trial with random directions and weights. False after an error.
static bool arguments(Gradcheck *g, int trial) {
    const Options *o = g->opt;
    const Func *f = g->f, *full = g->caller.funcs.f[g->caller.funcs.n - 1];
    Arena *a = g->c->arena;
    ArgsFill how = {(uint64_t)(o->seed + trial), 3, 1, o->low, o->high};
    Tensor *in = args_fill(g->c, f, &how);
    if (!in) return false;
    g->in = ARENA_ARRAY(a, Tensor, full->ninputs + 1);
    memcpy(g->in, in, sizeof *in * (size_t)f->ninputs);
    Random r = random_named((uint64_t)(o->seed + trial), "directions");
    int k = f->ninputs;
    for (int i = 0; i < g->nrows; i++, k++) {
        const Tensor *x = &in[g->row[i].input];
        g->row[i].shape = x->shape, g->row[i].rank = x->rank;
        g->row[i].elements = tensor_count(x);
        g->in[k] = tensor_new(a, x->kind, x->rank, x->shape);
        fill(&g->in[k], &r);
    }
    const char *error = NULL;
    Tensor *out = ARENA_ARRAY(a, Tensor, f->noutputs + 1);
    if (caller_call(&g->caller, a, g->which[FORM_VALUE], g->in, out, &error)) {
        diag_error(g->c->diag, nowhere, "%s", error);
        return false;
    }
    for (int i = 0; i < g->ny; i++, k++) {
        const Tensor *y = &out[g->y[i]];
        g->in[k] = tensor_new(a, y->kind, y->rank, y->shape);
        fill(&g->in[k], &r);
    }
    return true;
}

// ---- calls

static const Tensor *weights(const Gradcheck *g) { return &g->in[g->f->ninputs + g->nrows]; }
static Tensor *directions(const Gradcheck *g) { return &g->in[g->f->ninputs]; }

// <w, out> over the results that have weights; `first` is the number of the first of them in out, or -1: as in f.
static double weighted(const Gradcheck *g, const Tensor *out, bool of_value, double *magnitude) {
    double total = 0;
    for (int i = 0; i < g->ny; i++) {
        const Tensor *y = &out[of_value ? g->y[i] : i], *w = &weights(g)[i];
        for (int64_t k = 0; k < tensor_count(y); k++) {
            double p = tensor_get(y, k) * tensor_get(w, k);
            total += p, *magnitude += fabs(p);
        }
    }
    return total;
}

// A form with results as those of f: <w, value> or <w, tangent>. NaN if the call fails.
static double call(const Gradcheck *g, Form form, double *magnitude) {
    Arena *a = arena_new();
    Tensor *out = ARENA_ARRAY(a, Tensor, g->family.form[form]->noutputs + 1);
    const char *error;
    double unused = 0, result = NAN;
    if (!caller_call(&g->caller, a, g->which[form], g->in, out, &error))
        result = weighted(g, out, form == FORM_VALUE, magnitude ? magnitude : &unused);
    arena_free(a);
    return result;
}

// L with element i of the argument moved by h, and how far it really was moved.
static double moved(const Gradcheck *g, const Row *r, int64_t i, double h, double *by, double *magnitude) {
    Tensor *x = &g->in[r->input];
    double old = tensor_get(x, i);
    tensor_set(x, i, old + h);
    *by = tensor_get(x, i) - old;
    double value = call(g, FORM_VALUE, magnitude);
    tensor_set(x, i, old);
    return value;
}

// ---- differences

typedef struct Difference {
    double value, error; // NaN if L is not defined on both sides
    double noise;        // the part of the error that rounding makes
    bool kink;           // the slopes on both sides differ however near
    double left, right;
} Difference;

static Difference extrapolated(const Gradcheck *g, const Row *r, int64_t i, double h) {
    double d[3], magnitude = 0, up, down;
    for (int k = 0; k < 3; k++, h /= 2) {
        double b = moved(g, r, i, h, &up, &magnitude), a = moved(g, r, i, -h, &down, &magnitude);
        d[k] = (b - a) / (up - down);
    }
    double once = (4 * d[1] - d[0]) / 3, again = (4 * d[2] - d[1]) / 3, twice = (16 * again - once) / 15;
    double noise = 2 * g->eps * magnitude / (2 * h);
    return (Difference){.value = twice, .error = fabs(twice - again) + noise, .noise = noise};
}

// One-sided slopes that do not come together with the step are a kink.
static void look_for_kink(const Gradcheck *g, const Row *r, int64_t i, double h, double tolerance, Difference *d) {
    double gap[2], by, magnitude = 0, here = call(g, FORM_VALUE, &magnitude);
    for (int k = 0; k < 2; k++, h /= 4) {
        d->right = (moved(g, r, i, h, &by, &magnitude) - here) / by;
        d->left = (moved(g, r, i, -h, &by, &magnitude) - here) / by;
        gap[k] = fabs(d->right - d->left);
    }
    double noise = 4 * g->eps * magnitude / (4 * h), size = fmax(fabs(d->left), fabs(d->right));
    d->kink = gap[1] > 0.6 * gap[0] && gap[1] > tolerance * size + noise;
}

static Difference difference(const Gradcheck *g, const Row *r, int64_t i) {
    double scale = fmax(1, fabs(tensor_get(&g->in[r->input], i))), h = g->opt->step * scale;
    Difference best = extrapolated(g, r, i, h);
    for (int k = 0; k < 2; k++) { // nearer, if there is something in the way
        if (best.error <= 0.1 * g->opt->tolerance * fabs(best.value)) break;
        h /= 8;
        Difference d = extrapolated(g, r, i, h);
        if (!(d.error >= best.error)) best = d;
    }
    return best;
}

// ---- comparing

static bool agrees(double derivative, const Difference *d, double tolerance) {
    if (isnan(derivative)) return false;
    double size = fmax(fabs(derivative), fabs(d->value));
    return derivative == d->value || fabs(derivative - d->value) <= tolerance * size + 2 * d->error;
}

// At a kink any slope between those of the sides will do.
static bool between(double derivative, const Difference *d, double tolerance) {
    double low = fmin(d->left, d->right), high = fmax(d->left, d->right), more = tolerance * (fabs(low) + fabs(high));
    return derivative >= low - more && derivative <= high + more;
}

typedef enum Verdict { AGREES, WRONG, AT_KINK, UNCERTAIN } Verdict;

static Verdict judge(const Gradcheck *g, const Row *r, const Sample *s, Difference *d) {
    double tolerance = g->opt->tolerance, size = fabs(d->value);
    const double *mode[] = {g->which[FORM_TANGENT] >= 0 ? &s->forward : NULL, g->adjoint ? &s->reverse : NULL};
    bool agree = isfinite(d->value), nan = false, fits = true;
    for (int k = 0; k < 2; k++) {
        if (!mode[k]) continue;
        agree = agree && agrees(*mode[k], d, tolerance);
        nan |= isnan(*mode[k]);
        size = fmax(size, fabs(*mode[k]));
    }
    if (agree && d->error <= 1e-3 * size + 10 * d->noise) return AGREES;
    look_for_kink(g, r, s->index, g->opt->step / 64 * fmax(1, fabs(tensor_get(&g->in[r->input], s->index))), tolerance, d);
    for (int k = 0; k < 2; k++) fits = fits && (!mode[k] || between(*mode[k], d, tolerance));
    if (d->kink && fits) return AT_KINK;
    return agree || (!isfinite(d->value) && !nan) ? UNCERTAIN : WRONG;
}

static void check_element(Gradcheck *g, Row *r, int number, int64_t i) {
    Sample s = {NAN, NAN, NAN, 0, i, false};
    double error = 0;
    Difference d = difference(g, r, i);
    s.difference = d.value;
    if (g->which[FORM_TANGENT] >= 0) {
        tensor_set(&directions(g)[number], i, 1);
        s.forward = call(g, FORM_TANGENT, NULL);
        tensor_set(&directions(g)[number], i, 0);
        error = fabs(s.forward - d.value);
    }
    if (g->adjoint) {
        s.reverse = tensor_get(&g->adjoint[number], i);
        double other = fabs(s.reverse - d.value);
        if (!(other <= error)) error = other;
    }
    Verdict v = judge(g, r, &s, &d);
    s.wrong = v == WRONG, s.error = isnan(error) ? INFINITY : error;
    r->checked++;
    r->kinks += v == AT_KINK, r->uncertain += v == UNCERTAIN;
    if (isfinite(d.value)) r->largest = fmax(r->largest, fabs(d.value));
    bool worse = !r->any || s.wrong > r->worst.wrong || (s.wrong == r->worst.wrong && s.error > r->worst.error);
    if ((v == WRONG || v == AGREES) && worse) r->worst = s, r->any = true;
}

static void check_row(Gradcheck *g, int number, Random *random) {
    Row *r = &g->row[number];
    bool all = r->elements <= MAX_ELEMENTS;
    for (int k = 0; k < (all ? r->elements : MAX_ELEMENTS); k++)
        check_element(g, r, number, all ? k : random_int(random, 0, r->elements - 1));
}

// ---- the modes against each other

static bool check_modes(Gradcheck *g) {
    if (g->which[FORM_ADJOINT] < 0) return true;
    Arena *a = g->c->arena;
    const char *error = NULL;
    g->adjoint = ARENA_ARRAY(a, Tensor, g->nrows + 1);
    if (caller_call(&g->caller, a, g->which[FORM_ADJOINT], g->in, g->adjoint, &error)) {
        diag_error(g->c->diag, nowhere, "the reverse mode of `%s` fails: %s", g->f->name, error);
        return false;
    }
    if (g->which[FORM_TANGENT] < 0) return true;
    double size = 0, along = call(g, FORM_TANGENT, &size), back = 0;
    for (int i = 0; i < g->nrows; i++)
        for (int64_t k = 0; k < g->row[i].elements; k++) {
            double p = tensor_get(&g->adjoint[i], k) * tensor_get(&directions(g)[i], k);
            back += p, size += fabs(p);
        }
    double relative = size > 0 ? fabs(along - back) / size : fabs(along - back);
    if (!(relative <= g->agreement)) g->agreement = relative;
    if (relative <= 1e4 * g->eps || g->disagreed) return true;
    g->disagreed = true;
    diag_error(g->c->diag, g->f->span, "forward and reverse mode disagree about `%s`: <w, J v> is %.6g, <J^T w, v> is %.6g",
               g->f->name, along, back);
    return true;
}

static bool trial(Gradcheck *g, int number) {
    if (!arguments(g, number)) return false;
    double size = 0, here = call(g, FORM_VALUE, &size);
    if (!isfinite(here)) {
        diag_error(g->c->diag, g->f->span, "the result of `%s` is not finite for random arguments of seed %llu", g->f->name,
                   (unsigned long long)g->opt->seed + (unsigned long long)number);
        diag_note(g->c->diag, nowhere, "give arguments, or a range for random ones: --range=LOW,HIGH");
        return false;
    }
    if (!check_modes(g)) return false;
    for (int i = 0; i < g->nrows; i++)
        memset(directions(g)[i].data, 0, kind_size(directions(g)[i].kind) * (size_t)g->row[i].elements);
    Random r = random_named((uint64_t)(g->opt->seed + number), "elements");
    for (int i = 0; i < g->nrows; i++) check_row(g, i, &r);
    return true;
}

// ---- reporting

static const char *element_name(const Gradcheck *g, const Row *r, int64_t index) {
    const char *text = r->name;
    int64_t below = r->elements;
    for (int d = 0; d < r->rank; d++) {
        below /= r->shape[d] ? r->shape[d] : 1;
        text = arena_printf(g->c->arena, "%s[%lld]", text, (long long)(index / below));
        index %= below;
    }
    return text;
}

static double relative(const Row *r) { return r->largest > 0 ? r->worst.error / r->largest : r->worst.error; }

static void report_errors(Gradcheck *g) {
    for (int i = 0; i < g->nrows; i++) {
        const Row *r = &g->row[i];
        const Sample *s = &r->worst;
        if (!r->any || !s->wrong) continue;
        diag_error(g->c->diag, r->at, "the derivative of `%s` by `%s` is wrong", g->f->name, element_name(g, r, s->index));
        const char *none = "not possible";
        diag_note(g->c->diag, nowhere, "forward mode %s, reverse mode %s, differences %.6g",
                  g->which[FORM_TANGENT] < 0 ? none : arena_printf(g->c->arena, "%.6g", s->forward),
                  !g->adjoint ? none : arena_printf(g->c->arena, "%.6g", s->reverse), s->difference);
    }
}

static void place(Str *out, Span at) {
    int line = 1;
    for (uint32_t i = 0; at.src && i < at.begin; i++) line += at.src->text[i] == '\n';
    if (at.src) str_printf(out, " (%s:%d)", file_base(at.src->name), line);
}

static void print_sizes(Str *out, const Gradcheck *g, const char *form, const char *between) {
    for (int k = 0; k < g->f->nsizes; k++) {
        if (k) str_puts(out, between);
        str_printf(out, form, g->f->inputs[k]->name, (long long)tensor_get_int(&g->in[k], 0));
    }
}

static void print_mode(Str *out, const Gradcheck *g, const char *name, Form form) {
    if (g->which[form] < 0) str_printf(out, "  %s mode skipped: %s\n", name, g->family.error[form]);
}

static void print_text(Str *out, const Gradcheck *g) {
    str_puts(out, g->f->name);
    place(out, g->f->span);
    if (g->f->nsizes) str_puts(out, ", ");
    print_sizes(out, g, "%s = %lld", ", ");
    str_printf(out, ": %d trial%s from seed %llu\n", g->opt->trials, g->opt->trials == 1 ? "" : "s",
               (unsigned long long)g->opt->seed);
    print_mode(out, g, "forward", FORM_TANGENT);
    print_mode(out, g, "reverse", FORM_ADJOINT);
    if (g->which[FORM_TANGENT] >= 0 && g->adjoint) str_printf(out, "  forward and reverse mode agree to %.0e\n", g->agreement);
    for (int i = 0; i < g->nrows; i++) {
        const Row *r = &g->row[i];
        str_printf(out, "  %s", r->name);
        place(out, r->at);
        str_printf(out, ": %lld checked", (long long)r->checked);
        if (r->kinks) str_printf(out, ", %lld at kinks", (long long)r->kinks);
        if (r->uncertain) str_printf(out, ", %lld where differences say little", (long long)r->uncertain);
        if (!r->any) {
            str_putc(out, '\n');
            continue;
        }
        const Sample *s = &r->worst;
        str_printf(out, "; worst %s: relative error %.1e", element_name(g, r, s->index), relative(r));
        if (g->which[FORM_TANGENT] >= 0) str_printf(out, ", forward %.6g", s->forward);
        if (g->adjoint) str_printf(out, ", reverse %.6g", s->reverse);
        str_printf(out, ", differences %.6g%s\n", s->difference, s->wrong ? "  WRONG" : "");
    }
}

static void json_real_to(Str *out, const char *name, bool there, double x) {
    if (!there) str_printf(out, ", \"%s\": null", name);
    else if (isfinite(x)) str_printf(out, ", \"%s\": %.17g", name, x);
    else str_printf(out, ", \"%s\": \"%s\"", name, isnan(x) ? "NaN" : x > 0 ? "Infinity" : "-Infinity");
}

static void json_text(Str *out, const char *text) {
    str_putc(out, '"');
    for (; *text; text++) {
        if (*text == '"' || *text == '\\') str_putc(out, '\\');
        str_putc(out, (unsigned char)*text < ' ' ? ' ' : *text);
    }
    str_putc(out, '"');
}

static void print_json(Str *out, const Gradcheck *g, bool ok) {
    bool forward = g->which[FORM_TANGENT] >= 0, reverse = g->adjoint;
    str_printf(out, "{\"entry\": \"%s\", \"ok\": %s, \"seed\": %llu, \"trials\": %d, \"sizes\": {", g->f->name,
               ok ? "true" : "false", (unsigned long long)g->opt->seed, g->opt->trials);
    print_sizes(out, g, "\"%s\": %lld", ", ");
    str_puts(out, "}, \"skipped\": {");
    for (Form k = FORM_TANGENT; k <= FORM_ADJOINT; k++) {
        if (g->which[k] >= 0) continue;
        str_printf(out, "%s\"%s\": ", k == FORM_ADJOINT && !forward ? ", " : "", k == FORM_TANGENT ? "forward" : "reverse");
        json_text(out, g->family.error[k]);
    }
    str_puts(out, "}");
    json_real_to(out, "agreement", forward && reverse, g->agreement);
    str_puts(out, ", \"parameters\": [");
    for (int i = 0; i < g->nrows; i++) {
        const Row *r = &g->row[i];
        str_printf(out, "%s{\"name\": \"%s\", \"elements\": %lld, \"checked\": %lld, \"kinks\": %lld, \"uncertain\": %lld",
                   i ? ", " : "", r->name, (long long)r->elements, (long long)r->checked, (long long)r->kinks,
                   (long long)r->uncertain);
        if (r->any) {
            str_printf(out, ", \"worst\": \"%s\"", element_name(g, r, r->worst.index));
            json_real_to(out, "forward", forward, r->worst.forward);
            json_real_to(out, "reverse", reverse, r->worst.reverse);
            json_real_to(out, "differences", true, r->worst.difference);
            json_real_to(out, "error", true, relative(r));
            str_printf(out, ", \"wrong\": %s", r->worst.wrong ? "true" : "false");
        }
        str_putc(out, '}');
    }
    str_puts(out, "]}\n");
}

void command_gradcheck(Compilation *c) {
    FuncList funcs = {0};
    const Source *src = file_read(c->arena, c->diag, c->opt->file);
    c->keep_customs = true;
    if (!src || !compile_load(c, src)) return;
    if (compile_is_tree(src)) {
        diag_error(c->diag, nowhere, "`%s` has loops, but no values: they cannot be differentiated", src->name);
        return;
    }
    if (!compile_funcs(c, c->opt->engine == ENGINE_INTERP, &funcs)) return;
    Options opt = *c->opt; // with what depends on the entry
    Gradcheck g = {.c = c, .opt = &opt, .f = funcs.f[0]};
    bool low = single(g.f);
    g.eps = low ? 0x1p-23 : 0x1p-52;
    if (opt.step <= 0) opt.step = low ? 0.1 : 0.01;
    if (opt.tolerance <= 0) opt.tolerance = low ? 1e-2 : 1e-6;
    make_rows(&g);
    bool ok = derive(&g);
    if (ok) compile_stage(c, "check");
    for (int t = 0; ok && t < opt.trials; t++) ok = trial(&g, t);
    if (ok) report_errors(&g);
    Str out = {0};
    if (ok) (opt.json ? print_json(&out, &g, compile_ok(c)) : print_text(&out, &g));
    if (ok) file_write(c->diag, "-", &out);
    str_free(&out);
    caller_close(&g.caller);
}
