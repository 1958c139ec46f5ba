// The parser: every node's span lies in the source and in its parent's, depths are what they say; what has no errors is
// the same tree with another line below, and what has errors has them still.
#include "front/ast.h"

#include "fuzz/fuzz.h"

#include <string.h>

typedef struct Walk {
    const Source *src;
    int nodes;
} Walk;

static void check_expr(Walk *w, const Expr *e, int depth);
static void check_type(Walk *w, const TypeExpr *t, int depth);

static void check_span(const Walk *w, Span s) {
    FUZZ_CHECK(s.src == w->src);
    FUZZ_CHECK(s.begin <= s.end && s.end <= w->src->len);
}

// `depth` is the most that the node may say.
static void check_node(Walk *w, Span s, int depth, int most) {
    w->nodes++;
    check_span(w, s);
    FUZZ_CHECK(depth > 0 && depth <= most);
}

static void check_pattern(Walk *w, const Pattern *p, int depth) {
    check_node(w, p->span, p->depth, depth);
    FUZZ_CHECK((p->kind == PAT_NAME) == (p->name != NULL));
    FUZZ_CHECK((p->kind == PAT_TUPLE) == (p->nparts > 1));
    for (int i = 0; i < p->nparts; i++) check_pattern(w, p->parts[i], p->depth - 1);
    if (p->type) check_type(w, p->type, p->depth - 1);
}

static void check_type(Walk *w, const TypeExpr *t, int depth) {
    check_node(w, t->span, t->depth, depth);
    FUZZ_CHECK((t->kind == TX_NAME) == (t->name != NULL));
    FUZZ_CHECK(t->nargs >= (t->kind == TX_NAME ? 0 : t->kind == TX_ARRAY ? 1 : 2));
    for (int i = 0; i < t->nargs; i++) check_type(w, t->args[i], t->depth - 1);
    if (t->extent) check_expr(w, t->extent, t->depth - 1);
}

static int least_args(ExprKind kind) {
    switch (kind) {
    case EX_LAMBDA:
    case EX_INDEX:
    case EX_BRACKET:
    case EX_UNARY:
    case EX_ANNOT:
    case EX_ATTR: return 1;
    case EX_APP:
    case EX_LET:
    case EX_TUPLE:
    case EX_BINARY: return 2;
    case EX_IF: return 3;
    default: return 0;
    }
}

static void check_expr(Walk *w, const Expr *e, int depth) {
    for (; e->kind == EX_LET; e = e->args[1]) { // a `let` is no level for its body
        check_node(w, e->span, e->depth, depth);
        FUZZ_CHECK(e->nargs == 2);
        FUZZ_CHECK(e->nparams ? e->name != NULL : e->pattern != NULL);
        if (!e->nparams) check_pattern(w, e->pattern, e->depth - 1);
        for (int i = 0; i < e->nparams; i++) check_pattern(w, e->params[i], e->depth - 1);
        if (e->type) check_type(w, e->type, e->depth - 1);
        check_expr(w, e->args[0], e->depth - 1);
        FUZZ_CHECK(e->span.begin <= e->args[1]->span.begin && e->args[1]->span.end <= e->span.end);
        depth = e->depth;
    }
    check_node(w, e->span, e->depth, depth);
    FUZZ_CHECK(e->nargs >= least_args(e->kind));
    bool named = e->kind == EX_NAME || e->kind == EX_STRING || e->kind == EX_ATTR;
    FUZZ_CHECK(!named || e->name);
    if (e->kind == EX_BINARY || e->kind == EX_UNARY || e->kind == EX_SECTION) check_span(w, e->op_span);
    for (int i = 0; i < e->nargs; i++) {
        check_expr(w, e->args[i], e->depth - 1);
        FUZZ_CHECK(e->span.begin <= e->args[i]->span.begin && e->args[i]->span.end <= e->span.end);
    }
    for (int i = 0; i < e->nparams; i++) check_pattern(w, e->params[i], e->depth - 1);
    if (e->type) check_type(w, e->type, e->depth - 1);
    FUZZ_CHECK(e->kind != EX_INDEX || e->nitems > 0);
    for (int i = 0; i < e->nitems; i++) {
        const IndexItem *x = &e->items[i];
        check_span(w, x->span);
        FUZZ_CHECK(x->slice ? !x->at : x->at && !x->lo && !x->hi);
        const Expr *part[] = {x->at, x->lo, x->hi};
        for (int k = 0; k < 3; k++)
            if (part[k]) check_expr(w, part[k], e->depth - 1);
    }
    for (int i = 0; i < e->nattr_args; i++) check_expr(w, e->attr_args[i], e->depth - 1);
}

static void check_decl(Walk *w, const Decl *d) {
    check_span(w, d->span);
    check_span(w, d->name_span);
    FUZZ_CHECK(d->kind == DECL_TUPLE ? d->pattern != NULL : d->name != NULL);
    FUZZ_CHECK((d->kind == DECL_OPEN) == !d->body);
    if (d->pattern) check_pattern(w, d->pattern, AST_MAX_DEPTH);
    for (int i = 0; i < d->nparams; i++) check_pattern(w, d->params[i], AST_MAX_DEPTH);
    if (d->result) check_type(w, d->result, AST_MAX_DEPTH);
    if (d->body) check_expr(w, d->body, AST_MAX_DEPTH);
}

// The printed tree of a text; *errors is how many it has.
static char *parse(FuzzInput *in, const Source *src, int *errors) {
    Diag *diag = diag_new(in->arena);
    const Program *p = parse_program(in->arena, diag, src);
    Walk w = {src, 0};
    for (int i = 0; i < p->ndecls; i++) check_decl(&w, p->decls[i]);
    FUZZ_CHECK(w.nodes <= 4 * (int)src->len);
    *errors = diag_errors(diag);
    Str out = {0};
    if (!*errors) ast_print(&out, p);
    char *text = arena_strdup(in->arena, str_text(&out));
    str_free(&out);
    fuzz_check_messages(diag);
    diag_delete(diag);
    return text;
}

void fuzz_parser(const uint8_t *data, size_t size) {
    static const char below[] = "\n// the end\n";
    FuzzInput in = fuzz_open("input.fsm", data, size);
    int errors, again;
    const char *tree = parse(&in, in.src, &errors);
    char *text = arena_alloc(in.arena, size + sizeof below);
    if (size) memcpy(text, data, size);
    memcpy(text + size, below, sizeof below);
    Source longer = {"longer.fsm", text, size + sizeof below - 1};
    const char *same = parse(&in, &longer, &again);
    FUZZ_CHECK(!errors == !again);
    FUZZ_CHECK(!strcmp(tree, same));
    fuzz_close(&in);
}
