#include "front/parse.h"

#include "front/layout.h"
#include "support/vec.h"

#include "fsm.tab.h"

#include <string.h>

Span parse_span(const Parser *p, Loc at) { return (Span){p->src, at.begin, at.end}; }

// ---- lists

List *parse_list(Parser *p, List *before, void *item) {
    List *l = ARENA_NEW(p->arena, List);
    *l = (List){item, before, before ? before->len + 1 : 1};
    return l;
}

static int list_len(const List *l) { return l ? l->len : 0; }

// The items in order, an arena array of pointers; NULL for none.
static void *list_items(Parser *p, const List *l) {
    if (!l) return NULL;
    void **items = ARENA_ARRAY(p->arena, void *, l->len);
    for (int i = l->len; i-- > 0; l = l->prev) items[i] = l->item;
    return items;
}

// ---- nesting

static int max_int(int a, int b) { return a > b ? a : b; }

// Whether a node of this depth may be; an error, once a declaration, if not. The caller then drops its children.
static bool depth_ok(Parser *p, Loc at, int depth) {
    if (depth <= AST_MAX_DEPTH) return true;
    if (!p->too_deep) diag_error(p->diag, parse_span(p, at), "nesting deeper than %d levels", AST_MAX_DEPTH);
    p->too_deep = true;
    return false;
}

static int type_depth(const TypeExpr *t) { return t ? t->depth : 0; }

static int patterns_depth(Pattern *const *patterns, int n) {
    int depth = 0;
    for (int i = 0; i < n; i++) depth = max_int(depth, patterns[i]->depth);
    return depth;
}

static int exprs_depth(Expr *const *args, int n) {
    int depth = 0;
    for (int i = 0; i < n; i++) depth = max_int(depth, args[i]->depth);
    return depth;
}

// ---- expressions

static Expr *leaf(Parser *p, Loc at, ExprKind kind) {
    Expr *e = ARENA_NEW(p->arena, Expr);
    e->kind = kind;
    e->span = parse_span(p, at);
    e->depth = 1;
    return e;
}

// A node over args. Where that nests too deep, a leaf instead: an error has been reported, so nobody will look at it.
static Expr *node(Parser *p, Loc at, ExprKind kind, Expr **args, int nargs) {
    int depth = 1 + exprs_depth(args, nargs);
    if (!depth_ok(p, at, depth)) return leaf(p, at, EX_UNIT);
    Expr *e = leaf(p, at, kind);
    e->args = args;
    e->nargs = nargs;
    e->depth = depth;
    return e;
}

static Expr *node_of(Parser *p, Loc at, ExprKind kind, int n, Expr *a, Expr *b, Expr *c) {
    Expr *given[] = {a, b, c};
    return node(p, at, kind, arena_copy(p->arena, given, (size_t)n * sizeof *given), n);
}

// Takes more children into account, those not in args.
static Expr *deepen(Parser *p, Loc at, Expr *e, int children) {
    if (children < e->depth) return e;
    if (!depth_ok(p, at, children + 1)) return leaf(p, at, EX_UNIT);
    e->depth = children + 1;
    return e;
}

Expr *parse_int(Parser *p, Loc at, int64_t value) {
    Expr *e = leaf(p, at, EX_INT);
    e->ival = value;
    return e;
}

Expr *parse_real(Parser *p, Loc at, double value) {
    Expr *e = leaf(p, at, EX_REAL);
    e->rval = value;
    return e;
}

Expr *parse_leaf(Parser *p, Loc at, ExprKind kind, const char *name, int64_t value) {
    Expr *e = leaf(p, at, kind);
    e->name = name;
    e->ival = value;
    return e;
}

Expr *parse_section(Parser *p, Loc at, Loc op_at, BinOp op) {
    Expr *e = leaf(p, at, EX_SECTION);
    e->binop = op;
    e->op_span = parse_span(p, op_at);
    return e;
}

Expr *parse_exprs(Parser *p, Loc at, ExprKind kind, List *args) { return node(p, at, kind, list_items(p, args), list_len(args)); }

Expr *parse_binary(Parser *p, Loc at, Loc op_at, BinOp op, Expr *a, Expr *b) {
    Expr *e = node_of(p, at, EX_BINARY, 2, a, b, NULL);
    e->binop = op;
    e->op_span = parse_span(p, op_at);
    return e;
}

Expr *parse_unary(Parser *p, Loc at, Loc op_at, UnOp op, Expr *a) {
    Expr *e = node_of(p, at, EX_UNARY, 1, a, NULL, NULL);
    e->unop = op;
    e->op_span = parse_span(p, op_at);
    return e;
}

Expr *parse_if(Parser *p, Loc at, Expr *cond, Expr *yes, Expr *no) { return node_of(p, at, EX_IF, 3, cond, yes, no); }

// A literal is no function: mostly a forgotten operator, or `1 -x`, which applies 1 to -x.
static void check_applied(Parser *p, const Expr *f, const Expr *first) {
    if (p->too_deep || f->kind > EX_UNIT) return;
    bool number = f->kind == EX_INT || f->kind == EX_REAL;
    diag_error(p->diag, f->span, "this %s is not a function, but an argument follows it", number ? "number" : "literal");
    bool negated = first->kind == EX_UNARY && first->unop == UN_NEG;
    if (number && negated) diag_note(p->diag, first->op_span, "to subtract, write `- ` with a space after it");
    else if (number) diag_note(p->diag, first->span, "to multiply, write `*`");
}

Expr *parse_apply(Parser *p, Loc at, Expr *f, List *args, bool flatten) {
    int before = flatten && f->kind == EX_APP ? f->nargs : 1, n = before + args->len;
    Expr **all = ARENA_ARRAY(p->arena, Expr *, n);
    for (int i = n; i-- > before; args = args->prev) all[i] = args->item;
    if (before > 1) memcpy(all, f->args, sizeof *all * (size_t)before);
    else all[0] = f;
    check_applied(p, all[0], all[1]);
    return node(p, at, EX_APP, all, n);
}

Expr *parse_lambda(Parser *p, Loc at, List *params, Expr *body) {
    Expr *e = node_of(p, at, EX_LAMBDA, 1, body, NULL, NULL);
    e->params = list_items(p, params);
    e->nparams = list_len(params);
    return deepen(p, at, e, patterns_depth(e->params, e->nparams));
}

IndexItem *parse_item(Parser *p, Loc at, bool slice, Expr *a, Expr *b) {
    IndexItem *item = ARENA_NEW(p->arena, IndexItem);
    *item = slice ? (IndexItem){true, NULL, a, b, parse_span(p, at)} : (IndexItem){false, a, NULL, NULL, parse_span(p, at)};
    return item;
}

Expr *parse_index(Parser *p, Loc at, Expr *array, List *items) {
    Expr *e = node_of(p, at, EX_INDEX, 1, array, NULL, NULL);
    e->nitems = items->len;
    e->items = ARENA_ARRAY(p->arena, IndexItem, items->len);
    int depth = 0;
    for (int i = items->len; i-- > 0; items = items->prev) {
        const IndexItem *x = items->item;
        Expr *parts[] = {x->at, x->lo, x->hi};
        for (int k = 0; k < 3; k++)
            if (parts[k]) depth = max_int(depth, parts[k]->depth);
        e->items[i] = *x;
    }
    return deepen(p, at, e, depth);
}

Expr *parse_bracket(Parser *p, Loc at, Expr *cond) { return node_of(p, at, EX_BRACKET, 1, cond, NULL, NULL); }

Expr *parse_annot(Parser *p, Loc at, Expr *e, TypeExpr *type) {
    Expr *annot = node_of(p, at, EX_ANNOT, 1, e, NULL, NULL);
    annot->type = type;
    return deepen(p, at, annot, type_depth(type));
}

Expr *parse_attr(Parser *p, Loc at, const char *name, List *args) {
    Expr *e = leaf(p, at, EX_ATTR);
    e->name = name;
    e->attr_args = list_items(p, args);
    e->nattr_args = list_len(args);
    return deepen(p, at, e, exprs_depth(e->attr_args, e->nattr_args));
}

Expr *parse_attach(Parser *p, Expr *attr, Expr *e) {
    if (attr->kind != EX_ATTR) return e; // its arguments nested too deep
    Loc at = {attr->span.begin, e->span.end};
    Expr *whole = node_of(p, at, EX_ATTR, 1, e, NULL, NULL);
    whole->name = attr->name;
    whole->op_span = attr->span;
    whole->attr_args = attr->attr_args;
    whole->nattr_args = attr->nattr_args;
    return deepen(p, at, whole, exprs_depth(attr->attr_args, attr->nattr_args));
}

Expr *parse_paren(Parser *p, Loc at, Expr *e) {
    e->span = parse_span(p, at);
    return e;
}

// ---- bindings and blocks

Binding *parse_binding_fun(Parser *p, Loc name_at, const char *name, List *params, TypeExpr *result) {
    Binding *b = ARENA_NEW(p->arena, Binding);
    *b = (Binding){.name_at = name_at, .name = name, .params = params, .type = result};
    return b;
}

Binding *parse_binding_pat(Parser *p, Pattern *pattern, TypeExpr *type) {
    Binding *b = ARENA_NEW(p->arena, Binding);
    *b = (Binding){{pattern->span.begin, pattern->span.end}, pattern->name, pattern, NULL, type, NULL};
    return b;
}

Expr *parse_let(Parser *p, Loc at, Binding *b, Expr *bound) {
    Expr *e = node_of(p, at, EX_LET, 1, bound, NULL, NULL);
    if (e->kind != EX_LET) return e;
    e->args = arena_copy(p->arena, (Expr *[]){bound, NULL}, 2 * sizeof(Expr *));
    if (b->params) {
        e->name = b->name;
        e->op_span = parse_span(p, b->name_at);
        e->params = list_items(p, b->params);
        e->nparams = list_len(b->params);
        e->type = b->type;
        return deepen(p, at, e, max_int(patterns_depth(e->params, e->nparams), type_depth(b->type)));
    }
    Loc pattern_at = {b->pattern->span.begin, b->type ? b->type->span.end : b->pattern->span.end};
    e->pattern = b->type ? parse_pattern_typed(p, pattern_at, b->pattern, b->type) : b->pattern;
    return deepen(p, at, e, e->pattern->depth);
}

Expr *parse_block(Parser *p, List *lets, Expr *last) {
    (void)p;
    for (; lets; lets = lets->prev) {
        Expr *let = lets->item;
        if (let->kind != EX_LET) continue; // nested too deep
        let->args[1] = last;
        let->nargs = 2;
        let->span = span_join(let->span, last->span);
        let->depth = max_int(let->depth, last->depth);
        last = let;
    }
    return last;
}

// ---- patterns

Pattern *parse_pattern(Parser *p, Loc at, PatternKind kind, const char *name) {
    Pattern *q = ARENA_NEW(p->arena, Pattern);
    q->kind = kind;
    q->span = parse_span(p, at);
    q->name = name;
    q->depth = 1;
    return q;
}

Pattern *parse_pattern_typed(Parser *p, Loc at, Pattern *pattern, TypeExpr *type) {
    if (pattern->type) diag_error(p->diag, type->span, "a second type for the same pattern");
    pattern->type = type;
    pattern->span = parse_span(p, at);
    if (depth_ok(p, at, type->depth + 1)) pattern->depth = max_int(pattern->depth, type->depth + 1);
    else pattern->type = NULL;
    return pattern;
}

Pattern *parse_pattern_tuple(Parser *p, Loc at, List *parts) {
    Pattern *only = parts->item;
    if (parts->len == 1) {
        only->span = parse_span(p, at);
        return only;
    }
    Pattern *q = parse_pattern(p, at, PAT_TUPLE, NULL);
    q->parts = list_items(p, parts);
    q->nparts = parts->len;
    q->depth = 1 + patterns_depth(q->parts, q->nparts);
    return depth_ok(p, at, q->depth) ? q : parse_pattern(p, at, PAT_WILD, NULL);
}

// ---- loops

Binding *parse_loop_state(Parser *p, Pattern *pattern, Expr *value) {
    Binding *b = parse_binding_pat(p, pattern, NULL);
    b->value = value;
    return b;
}

// The built-in function, whatever hides its name.
static Expr *built_in(Parser *p, Loc at, const char *name) { return parse_leaf(p, at, EX_NAME, name, 1); }

Expr *parse_loop(Parser *p, Loc at, Loc states_at, List *states, Pattern *index, Expr *bound, Expr *body) {
    Binding **items = list_items(p, states);
    int n = list_len(states);
    List *patterns = NULL, *values = NULL;
    for (int i = 0; i < n; i++) {
        patterns = parse_list(p, patterns, items[i]->pattern);
        values = parse_list(p, values, items[i]->value);
    }
    Pattern *state = parse_pattern_tuple(p, states_at, patterns);
    Expr *init = n == 1 ? items[0]->value : parse_exprs(p, states_at, EX_TUPLE, values);
    List *params = parse_list(p, NULL, state), *args = NULL;
    Loc head = {at.begin, at.begin + 4};
    if (index) {
        args = parse_list(p, args, parse_lambda(p, at, parse_list(p, params, index), body));
        args = parse_list(p, parse_list(p, args, init), bound);
        return parse_apply(p, at, built_in(p, head, "ifold"), args, false);
    }
    args = parse_list(p, args, parse_lambda(p, at, params, bound));
    args = parse_list(p, parse_list(p, args, parse_lambda(p, at, params, body)), init);
    return parse_apply(p, at, built_in(p, head, "whileLoop"), args, false);
}

// ---- types

static TypeExpr *type_node(Parser *p, Loc at, TypeExprKind kind, TypeExpr **args, int nargs, Expr *extent) {
    int depth = extent ? extent->depth : 0;
    for (int i = 0; i < nargs; i++) depth = max_int(depth, args[i]->depth);
    TypeExpr *t = ARENA_NEW(p->arena, TypeExpr);
    *t = (TypeExpr){.kind = kind, .span = parse_span(p, at), .args = args, .nargs = nargs, .extent = extent, .depth = depth + 1};
    if (!depth_ok(p, at, t->depth)) *t = (TypeExpr){.kind = TX_NAME, .span = t->span, .name = "Double", .depth = 1};
    return t;
}

TypeExpr *parse_type_name(Parser *p, Loc at, const char *name) {
    TypeExpr *t = type_node(p, at, TX_NAME, NULL, 0, NULL);
    t->name = name;
    return t;
}

TypeExpr *parse_type_generic(Parser *p, Loc at, Loc name_at, const char *name, TypeExpr *arg) {
    if (strcmp(name, "Array") != 0)
        diag_error(p->diag, parse_span(p, name_at), "`%s` takes no type argument; only `Array<T>` does", name);
    return type_node(p, at, TX_ARRAY, arena_copy(p->arena, &arg, sizeof arg), 1, NULL);
}

TypeExpr *parse_type_array(Parser *p, Loc at, TypeExpr *element, List *extents) {
    for (; extents; extents = extents->prev)
        element = type_node(p, at, TX_ARRAY, arena_copy(p->arena, &element, sizeof element), 1, extents->item);
    return element;
}

TypeExpr *parse_type_tuple(Parser *p, Loc at, List *parts) {
    if (parts->len == 1) return parts->item;
    return type_node(p, at, TX_TUPLE, list_items(p, parts), parts->len, NULL);
}

TypeExpr *parse_type_fun(Parser *p, Loc at, List *parts) {
    return type_node(p, at, TX_FUN, list_items(p, parts), parts->len, NULL);
}

// ---- declarations

static Decl *decl(Parser *p, Loc at, DeclKind kind, Loc name_at, const char *name, Expr *body) {
    Decl *d = ARENA_NEW(p->arena, Decl);
    *d = (Decl){.kind = kind, .span = parse_span(p, at), .name_span = parse_span(p, name_at), .name = name, .body = body};
    return d;
}

Decl *parse_decl_let(Parser *p, Loc at, Binding *b, Expr *body) {
    bool named = !b->pattern || b->pattern->kind == PAT_NAME;
    Decl *d = decl(p, at, named ? DECL_LET : DECL_TUPLE, b->name_at, named ? b->name : NULL, body);
    d->params = list_items(p, b->params);
    d->nparams = list_len(b->params);
    if (!named) {
        d->pattern = b->pattern;
        if (b->type) parse_pattern_typed(p, b->name_at, b->pattern, b->type);
        return d;
    }
    d->result = b->type;
    if (b->pattern && b->pattern->type) { // `let (x: T) = e`
        if (b->type) diag_error(p->diag, b->type->span, "a second type for the same pattern");
        d->result = b->pattern->type;
    }
    return d;
}

static void mark_signature(TypeExpr *t) {
    if (!t) return;
    t->signature = t->kind == TX_NAME;
    for (int i = 0; i < t->nargs; i++) mark_signature(t->args[i]);
}

static Decl *decl_with_signature(Parser *p, Loc at, DeclKind kind, Binding *b, Expr *body) {
    Decl *d = decl(p, at, kind, b->name_at, b->name, body);
    d->params = list_items(p, b->params);
    d->nparams = list_len(b->params);
    d->result = b->type;
    for (int i = 0; i < d->nparams; i++) mark_signature(d->params[i]->type);
    return d;
}

Decl *parse_decl_entry(Parser *p, Loc at, Binding *b, Expr *body) {
    mark_signature(b->type);
    return decl_with_signature(p, at, DECL_ENTRY, b, body);
}

Decl *parse_decl_extern(Parser *p, Loc at, Binding *b) { return decl_with_signature(p, at, DECL_EXTERN, b, NULL); }

void parse_extern_rule(Parser *p, Decl *d, Loc word_at, const char *word, Expr *rule) {
    d->adjoint = !strcmp(word, "vjp");
    if (!d->adjoint && strcmp(word, "jvp"))
        diag_error(p->diag, parse_span(p, word_at), "a derivative is given `with jvp = …` or `with vjp = …`, not `%s`", word);
    d->body = rule;
}

Decl *parse_decl_open(Parser *p, Loc at, Loc path_at, const char *path) { return decl(p, at, DECL_OPEN, path_at, path, NULL); }

// ---- the whole source

// The offset of the first byte that is not part of well-formed UTF-8, or len.
static size_t utf8_prefix(const unsigned char *s, size_t len) {
    for (size_t i = 0; i < len;) {
        unsigned char c = s[i];
        size_t n = c < 0x80 ? 1 : c >= 0xC2 && c < 0xE0 ? 2 : c >= 0xE0 && c < 0xF0 ? 3 : c >= 0xF0 && c < 0xF5 ? 4 : 0;
        if (!n || len - i < n) return i;
        for (size_t k = 1; k < n; k++)
            if ((s[i + k] & 0xC0) != 0x80) return i;
        if ((c == 0xE0 && s[i + 1] < 0xA0) || (c == 0xED && s[i + 1] >= 0xA0)) return i;
        if ((c == 0xF0 && s[i + 1] < 0x90) || (c == 0xF4 && s[i + 1] >= 0x90)) return i;
        i += n;
    }
    return len;
}

bool parse_is_text(Diag *diag, const Source *src) {
    if (src->len > PARSE_MAX_SOURCE) {
        diag_error(diag, (Span){src, 0, 0}, "the source is larger than %d bytes", PARSE_MAX_SOURCE);
        return false;
    }
    const char *nul = memchr(src->text, 0, src->len);
    size_t text = utf8_prefix((const unsigned char *)src->text, src->len);
    if (nul && (size_t)(nul - src->text) <= text) {
        uint32_t at = (uint32_t)(nul - src->text);
        diag_error(diag, (Span){src, at, at + 1}, "this is not a text file: a NUL byte");
        return false;
    }
    if (text < src->len) {
        diag_error(diag, (Span){src, (uint32_t)text, (uint32_t)text + 1}, "this is not UTF-8 text: byte 0x%02X",
                   (unsigned char)src->text[text]);
        return false;
    }
    return true;
}

// The names up to the `=` of a declaration that could not be parsed: what it would have defined is among them.
static List *broken_names(Parser *p, List *names, uint32_t from) {
    const char *s = p->src->text + from;
    while (*s && *s != '=' && *s != '\n') {
        size_t n = strspn(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789'");
        if (n) names = parse_list(p, names, arena_strndup(p->arena, s, n));
        s += n ? n : 1;
    }
    return names;
}

Program *parse_program(Arena *arena, Diag *diag, const Source *src) {
    Program *program = ARENA_NEW(arena, Program);
    if (!parse_is_text(diag, src)) return program;
    Parser p = {.arena = arena, .diag = diag, .src = src, .layout = layout_new(arena, diag, src)};
    List *decls = NULL, *broken = NULL;
    const char *doc = NULL;
    while (layout_next_decl(p.layout, &doc)) {
        p.decl = NULL;
        p.too_deep = false;
        uint32_t from = layout_state(p.layout).next_at.begin;
        if (fsm_parse(&p) != 0 || !p.decl) {
            broken = broken_names(&p, broken, from);
            continue;
        }
        p.decl->doc = doc;
        decls = parse_list(&p, decls, p.decl);
    }
    layout_free(p.layout);
    program->decls = list_items(&p, decls);
    program->ndecls = list_len(decls);
    program->broken = list_items(&p, broken);
    program->nbroken = list_len(broken);
    return program;
}
