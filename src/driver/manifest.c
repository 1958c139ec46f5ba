// Entries with their C parameters, sizes and documentation, and which entry is the derivative of what: that is read off
// the source where an entry's body is an operator of differentiation applied to a function.
#include "driver/manifest.h"

#include "driver/file.h"
#include "front/ast.h"
#include "front/builtins.h"
#include "fsmc/runtime.h"
#include "lower/lower.h"

#include <jansson.h>
#include <string.h>

enum { MANIFEST_VERSION = 3 };

// ---- types and sizes

static json_t *text(const Str *s) { return json_stringn(s->data ? s->data : "", s->len); }

static json_t *size(Node *e, const char *const *names) {
    Str s = {0};
    cpu_print_size(&s, e, names);
    json_t *j = strchr(str_text(&s), '?') ? json_null() : text(&s);
    str_free(&s);
    return j;
}

static json_t *shape(const Node *e, const char *const *names) {
    json_t *j = json_array();
    for (int k = 0; k < e->rank; k++) json_array_append_new(j, size(e->shape[k], names));
    return j;
}

// The type as F~ writes it.
static void print_type(Str *out, const SigType *t, const char *const *names, bool part) {
    if (t->form == SIG_SCALAR) {
        str_puts(out, kind_info[t->kind].fsm);
    } else if (t->form == SIG_TUPLE) {
        if (part && t->nparts) str_putc(out, '(');
        for (int i = 0; i < t->nparts; i++) {
            if (i) str_puts(out, " * ");
            print_type(out, t->parts[i], names, true);
        }
        str_puts(out, !t->nparts ? "()" : part ? ")" : "");
    } else {
        const SigType *inner = t;
        while (inner->form == SIG_ARRAY) inner = inner->parts[0];
        print_type(out, inner, names, true);
        for (; t->form == SIG_ARRAY; t = t->parts[0]) {
            str_putc(out, '[');
            if (t->extent) cpu_print_size(out, t->extent, names);
            str_putc(out, ']');
        }
    }
}

static json_t *type(const SigType *t, const char *const *names) {
    Str s = {0};
    print_type(&s, t, names, false);
    json_t *j = text(&s);
    str_free(&s);
    return j;
}

// ---- entries

// One parameter of the C function.
static json_t *c_parameter(const Node *e, const char *name, const char *role, const char *const *names) {
    return json_pack("{s:s, s:s, s:s, s:o}", "name", name, "role", role, "element", kind_info[e->kind].numpy, "shape",
                     shape(e, names));
}

static json_t *c_parameters(const Func *f, const char *const *names) {
    json_t *j = json_array();
    for (int i = 0; i < f->ninputs; i++)
        json_array_append_new(j, c_parameter(f->inputs[i], names[i], i < f->nsizes ? "size" : "input", names));
    for (int k = 0; k < f->noutputs; k++)
        json_array_append_new(j, c_parameter(f->outputs[k], names[f->ninputs + k], "output", names));
    return j;
}

static json_t *parameters(const Func *f, const char *const *names) {
    json_t *j = json_array();
    for (int i = 0; i < f->nparams; i++) {
        const SigParam *p = &f->params[i];
        json_t *parts = json_array();
        for (int k = 0; k < p->count; k++) json_array_append_new(parts, json_string(names[p->first + k]));
        json_array_append_new(j, json_pack("{s:s, s:o, s:o}", "name", p->name, "type", type(p->type, names), "parts", parts));
    }
    return j;
}

// ---- derivatives

static const Expr *bare(const Expr *e) {
    while (e->kind == EX_ANNOT || e->kind == EX_ATTR) e = e->args[0];
    return e;
}

static const Decl *entry_decl(const Compilation *c, const char *name) {
    const Program *p = c->unit ? c->unit->main->program : NULL;
    for (int i = 0; p && i < p->ndecls; i++)
        if (p->decls[i]->kind == DECL_ENTRY && !strcmp(p->decls[i]->name, name)) return p->decls[i];
    return NULL;
}

static bool is_parameter(const Decl *d, const char *name) {
    for (int i = 0; i < d->nparams; i++)
        if (d->params[i]->kind == PAT_NAME && !strcmp(d->params[i]->name, name)) return true;
    return false;
}

static const char *applied(const Expr *e) { // f in `f …`, or in the body of `fun … -> f …`
    e = bare(e);
    if (e->kind == EX_LAMBDA) e = bare(e->args[0]);
    if (e->kind == EX_APP) e = bare(e->args[0]);
    return e->kind == EX_NAME ? e->name : NULL;
}

// The operators whose result is a derivative of their first argument at the second.
static bool is_operator(const Compilation *c, const Decl *d, const char *name) {
    static const char *const operators[] = {"grad",   "valueAndGrad",   "jvp",     "jvp2", "vjp", "vjp2", "jacobian", "jacfwd",
                                            "jacrev", "jacobianSparse", "hessian", "hvp",  NULL};
    int i = 0;
    while (operators[i] && strcmp(operators[i], name)) i++;
    return operators[i] && !is_parameter(d, name) && !module_find(c->unit, c->unit->main, name);
}

static void append_names(json_t *to, const Decl *d, const Expr *e) {
    e = bare(e);
    if (e->kind == EX_NAME && is_parameter(d, e->name)) json_array_append_new(to, json_string(e->name));
    for (int i = 0; e->kind == EX_TUPLE && i < e->nargs; i++) append_names(to, d, e->args[i]);
}

// The entries that are that function, or an application of it.
static json_t *entries_of(const Compilation *c, const char *function) {
    json_t *j = json_array();
    const Program *p = c->unit->main->program;
    for (int i = 0; i < p->ndecls; i++) {
        const Decl *d = p->decls[i];
        if (d->kind != DECL_ENTRY) continue;
        const Expr *body = bare(d->body);
        const char *of = body->kind == EX_APP ? applied(body) : NULL;
        if (!strcmp(d->name, function) || (of && !is_parameter(d, of) && !strcmp(of, function)))
            json_array_append_new(j, json_string(d->name));
    }
    return j;
}

// Which results are the arrays of a sparse matrix in compressed rows.
static json_t *pattern(const Func *f, const char *const *names) {
    const char *const *out = names + f->ninputs;
    return json_pack("{s:s, s:s, s:s, s:s}", "format", "csr", "starts", out[0], "columns", out[1], "values", out[2]);
}

static json_t *derivative(const Compilation *c, const Func *f, const char *const *names) {
    const Decl *d = entry_decl(c, f->name);
    const Expr *e = d ? bare(d->body) : NULL;
    if (!e || e->kind != EX_APP || e->nargs < 3) return json_null();
    const Expr *operator= bare(e->args[0]);
    const char *of = applied(e->args[1]);
    if (operator->kind != EX_NAME || !is_operator(c, d, operator->name) || !of || is_parameter(d, of)) return json_null();
    json_t *by = json_array();
    append_names(by, d, e->args[2]);
    json_t *j = json_pack("{s:s, s:s, s:o, s:o}", "operator", operator->name, "of", of, "by", by, "entries", entries_of(c, of));
    if (!strcmp(operator->name, builtin_info[BI_JACSPARSE].name)) json_object_set_new(j, "pattern", pattern(f, names));
    return j;
}

// ---- the whole

// The other C functions of an entry (docs/c-abi.md), null where there is none.
static json_t *functions(const Compilation *c, const Func *f) {
    const char *name = cpu_c_name(c->arena, f->name);
    bool general = cpu_has_general(f), sizes = lower_size_query(c->arena, f) != NULL, device = c->opt->target == TARGET_CUDA;
    return json_pack("{s:o, s:o, s:o, s:o}", "device", device ? json_sprintf("%s_device", name) : json_null(), "general",
                     general ? json_sprintf("%s_general", name) : json_null(), "sizes",
                     sizes ? json_sprintf("%s_sizes", name) : json_null(), "sizes_general",
                     sizes && general ? json_sprintf("%s_sizes_general", name) : json_null());
}

static json_t *entry(const Compilation *c, const Func *f) {
    const char **names = cpu_parameter_names(c->arena, f);
    json_t *sizes = json_array();
    for (int i = 0; i < f->nsizes; i++) json_array_append_new(sizes, json_string(names[i]));
    return json_pack("{s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "name", f->name, "symbol", cpu_c_name(c->arena, f->name),
                     "functions", functions(c, f), "doc", f->doc ? json_string(f->doc) : json_null(), "sizes", sizes, "parameters",
                     parameters(f, names), "result", f->result ? type(f->result, names) : json_null(), "c_parameters",
                     c_parameters(f, names), "derivative", derivative(c, f, names));
}

void manifest_print(Str *out, const Compilation *c, const char *name, const FuncList *funcs) {
    json_t *entries = json_array();
    for (int i = 0; i < funcs->n; i++) json_array_append_new(entries, entry(c, funcs->f[i]));
    static const char *const libraries[] = {"-lcublas", "-lcudart", "-lstdc++"};
    json_t *link = json_pack("[ss]", "-lfsmrt", "-lm");
    if (c->opt->target == TARGET_CUDA)
        for (int i = c->opt->cublas ? 0 : 1; i < 3; i++) json_array_append_new(link, json_string(libraries[i]));
    json_t *j = json_pack("{s:i, s:i, s:s, s:o, s:o, s:o, s:o}", "manifest", MANIFEST_VERSION, "abi", FSM_ABI_VERSION, "source",
                          file_base(c->src->name), "header", json_sprintf("%s.h", name), "object", json_sprintf("%s.o", name),
                          "link", link, "entries", entries);
    char *dump = j ? json_dumps(j, JSON_INDENT(2) | JSON_PRESERVE_ORDER) : NULL;
    if (!dump) diag_out_of_memory();
    str_puts(out, dump);
    str_putc(out, '\n');
    free(dump);
    json_decref(j);
}
