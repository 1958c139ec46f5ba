// Substitution, rebuilding, copying, and walks over graphs of terms.
#include "ir/internal.h"
#include "support/map.h"
#include "support/vec.h"

#include <string.h>

static Node *binder(Ir *m, Op op, Var *v, Node *body) {
    switch (op) {
    case OP_gen: return ir_gen(m, v, body);
    case OP_argmin: return ir_argmin(m, v, body);
    case OP_argmax: return ir_argmax(m, v, body);
    default: return m->planning && body->rank ? ir_binder_plain(m, op, v, body) : ir_sum(m, v, body);
    }
}

static Node *rebuild(Ir *m, Node *e, Node **args) {
    switch (e->op) {
    case OP_lit:
    case OP_input:
    case OP_param:
    case OP_var: return e;
    case OP_conv: return ir_conv(m, e->kind, args[0]);
    case OP_stop: return ir_stop(m, args[0]);
    case OP_select: return ir_select(m, args[0], args[1], args[2]);
    case OP_bracket: return ir_bracket(m, args[0], args[1]);
    case OP_assert: return ir_assert_values(m, args[0], e->u.text, args[1], e->nargs - 2, args + 2);
    case OP_evaluated: return ir_evaluated(m, e->nargs, args);
    case OP_at: return ir_at(m, args[0], e->nargs - 1, args + 1);
    case OP_gen:
    case OP_sum:
    case OP_argmin:
    case OP_argmax: return binder(m, e->op, e->u.var, args[0]);
    case OP_final: return ir_final(m, args[0], (int)e->u.num);
    case OP_trace: return ir_trace(m, args[0], (int)e->u.num);
    case OP_count: return ir_count(m, args[0]);
    case OP_result: return ir_result(m, args[0], (int)e->u.num);
    case OP_extern: return ir_extern(m, e->u.ext, e->result, e->nargs, args);
    case OP_custom: return ir_custom(m, e->u.loop, args, args + e->u.loop->n);
    case OP_pack: {
        int64_t *extents = ARENA_ARRAY(m->arena, int64_t, e->rank);
        for (int k = 0; k < e->rank; k++) extents[k] = e->shape[k]->u.num;
        return ir_pack(m, e->kind, e->rank, extents, args);
    }
    case OP_fold:
    case OP_while: return ir_loop_like(m, e, e->u.loop, args);
    default: return ir_op(m, e->op, args[0], e->nargs > 1 ? args[1] : NULL);
    }
}

Node *ir_rebuild(Ir *m, Node *e, Node **args) {
    Span before = ir_from(m, e);
    Node *r = rebuild(m, e, args);
    m->span = before;
    return r;
}

Node *ir_map(Ir *m, Node *e, Node *(*f)(Node *e, void *data), void *data) {
    Node *few[8], **args = e->nargs <= 8 ? few : ARENA_ARRAY(m->arena, Node *, e->nargs);
    bool same = true;
    for (int i = 0; i < e->nargs; i++) {
        args[i] = f(e->args[i], data);
        same &= args[i] == e->args[i];
    }
    return same ? e : ir_rebuild(m, e, args);
}

// A scope of a rewriting: the outermost replaces the given leaves; each renamed binder inside adds one.
typedef struct Scope {
    struct Scope *outer;
    int n;
    Node **from, **to; // var nodes, except in the outermost scope
    Map memo;
} Scope;

typedef struct Rewrite {
    Ir *m;
    bool copy;                                   // rebuild everything with fresh variables, perhaps into another Ir
    Node *(*change)(Ir *m, Node *e, void *data); // what takes e's place, whose operands are done; NULL: e itself
    void *data;
    bool vars_only;        // the outermost scope replaces only variables
    const VarSet *capture; // variables free in the replacements
    Scope *outermost;
    Map terms; // terms that are replaced -> what takes their place
} Rewrite;

static Node *rewrite(Rewrite *r, Scope *s, Node *e);

// The innermost scope that can change e; NULL if none can.
static Scope *scope_of(Rewrite *r, Scope *s, const Node *e) {
    for (; s->outer; s = s->outer)
        for (int i = 0; i < s->n; i++)
            if (varset_has(e->fv, s->from[i]->u.var)) return s;
    if (!r->vars_only) return s;
    for (int i = 0; i < s->n; i++)
        if (varset_has(e->fv, s->from[i]->u.var)) return s;
    return NULL;
}

static Node **rewrite_shape(Rewrite *r, Scope *s, int rank, Node **shape) {
    Node **out = ARENA_ARRAY(r->m->arena, Node *, rank);
    for (int k = 0; k < rank; k++) out[k] = rewrite(r, s, shape[k]);
    return out;
}

static Node *rewrite_leaf(Rewrite *r, Scope *s, Node *e) {
    for (; s; s = s->outer)
        for (int i = 0; i < s->n; i++)
            if (s->from[i] == e) return s->to[i];
    if (!r->copy) return e;
    switch (e->op) {
    case OP_lit:
        return kind_is_float(e->kind) ? ir_real(r->m, e->kind, e->u.real)
               : e->kind == KIND_BOOL ? ir_bool(r->m, e->u.num != 0)
                                      : ir_int(r->m, e->u.num);
    case OP_input:
        if (e->nonneg) return ir_size(r->m, (int)e->u.num, e->name);
        return ir_input(r->m, (int)e->u.num, e->name, e->kind, e->rank, rewrite_shape(r, r->outermost, e->rank, e->shape));
    default: return e;
    }
}

// Must variable v of a binder be renamed when its surroundings are rewritten?
static bool must_rename(Rewrite *r, Scope *s, const Var *v, Node *extent) {
    if (r->copy || extent != v->extent || varset_has(r->capture, v)) return true;
    for (; s; s = s->outer)
        for (int i = 0; i < s->n; i++)
            if (s->from[i]->op == OP_var && s->from[i]->u.var == v) return true;
    return false;
}

static Node *rewrite_binder(Rewrite *r, Scope *s, Node *e) {
    Var *v = e->u.var;
    Node *extent = rewrite(r, s, v->extent);
    if (!must_rename(r, s, v, extent)) {
        Node *body = rewrite(r, s, e->args[0]);
        return body == e->args[0] ? e : ir_rebuild(r->m, e, &body);
    }
    Var *w = ir_index_like(r->m, v, extent);
    Node *from = ir_var(v), *to = ir_var(w);
    Scope inner = {.outer = s, .n = 1, .from = &from, .to = &to};
    Node *body = rewrite(r, &inner, e->args[0]);
    map_free(&inner.memo);
    return binder(r->m, e->op, w, body);
}

static bool loop_must_rename(Rewrite *r, Scope *s, const Loop *l) {
    for (int k = 0; k < l->n; k++) {
        const Var *v = l->state[k];
        if (must_rename(r, s, v, v->extent)) return true;
        for (int d = 0; d < v->rank; d++)
            if (rewrite(r, s, v->shape[d]) != v->shape[d]) return true;
    }
    return l->index && must_rename(r, s, l->index, rewrite(r, s, l->index->extent));
}

static Node *rewrite_args(Rewrite *r, Scope *s, Node *e) {
    Node *few[8], **args = e->nargs <= 8 ? few : ARENA_ARRAY(r->m->arena, Node *, e->nargs);
    bool same = !r->copy;
    for (int i = 0; i < e->nargs; i++) {
        args[i] = rewrite(r, s, e->args[i]);
        same &= args[i] == e->args[i];
    }
    return same ? e : ir_rebuild(r->m, e, args);
}

static Node *rewrite_loop(Rewrite *r, Scope *s, Node *e) {
    Loop *l = e->u.loop;
    Ir *m = r->m;
    if (!loop_must_rename(r, s, l)) return rewrite_args(r, s, e);
    Node **args = ARENA_ARRAY(m->arena, Node *, e->nargs);
    for (int k = 0; k < l->n; k++) args[k] = rewrite(r, s, e->args[k]);
    Node **from = ARENA_ARRAY(m->arena, Node *, l->n + 1), **to = ARENA_ARRAY(m->arena, Node *, l->n + 1);
    Var **state = ARENA_ARRAY(m->arena, Var *, l->n), *index = NULL;
    int n = 0;
    for (int k = 0; k < l->n; k++, n++) {
        Var *v = l->state[k];
        state[k] = ir_state(m, v->name, v->kind, v->rank, rewrite_shape(r, s, v->rank, v->shape));
        from[n] = ir_var(v), to[n] = ir_var(state[k]);
    }
    if (l->index) {
        index = ir_index_like(m, l->index, rewrite(r, s, l->index->extent));
        from[n] = ir_var(l->index), to[n++] = ir_var(index);
    }
    Scope inner = {.outer = s, .n = n, .from = from, .to = to};
    for (int k = l->n; k < e->nargs; k++) args[k] = rewrite(r, &inner, e->args[k]);
    map_free(&inner.memo);
    Loop renamed = *l;
    renamed.index = index, renamed.state = state;
    return e->op == OP_custom ? ir_custom(m, &renamed, args, args + l->n) : ir_loop_like(m, e, &renamed, args);
}

static Node *rewrite(Rewrite *r, Scope *top, Node *e) {
    Scope *s = scope_of(r, top, e);
    if (!s) return e;
    for (int i = 0; s == r->outermost && i < s->n; i++) // elsewhere e speaks of a variable bound further inside
        if (s->from[i] == e) return s->to[i];
    Node *known = map_get(&s->memo, e);
    if (known) return known;
    if (e->nargs == 0 && e->op != OP_pack) return rewrite_leaf(r, s, e);
    Node *out = s == r->outermost ? NULL : map_get(&r->terms, e);
    if (out) { // it mentions a variable of a binder that is renamed, since its extent is another one
        out = rewrite(r, s, out);
        map_put(&s->memo, e, out);
        return out;
    }
    Span keep = ir_from(r->m, e);
    if (ir_is_binder(e)) {
        out = rewrite_binder(r, s, e);
        if (r->change) out = r->change(r->m, out, r->data);
    } else if (e->op == OP_fold || e->op == OP_while || e->op == OP_custom) {
        out = rewrite_loop(r, s, e);
    } else {
        out = rewrite_args(r, s, e);
        if (r->change) out = r->change(r->m, out, r->data);
    }
    r->m->span = keep;
    map_put(&s->memo, e, out);
    return out;
}

struct Rewriting {
    Scope s;
    Rewrite r;
};

Rewriting *ir_substituting(Ir *m, int n, Node **from, Node **to) {
    Rewriting *w = ARENA_NEW(m->arena, Rewriting);
    size_t size = sizeof *from * (size_t)n;
    w->s = (Scope){.n = n, .from = arena_copy(m->arena, from, size), .to = arena_copy(m->arena, to, size)};
    w->r = (Rewrite){.m = m, .vars_only = true, .capture = varset_empty, .outermost = &w->s};
    for (int i = 0; i < n; i++) {
        if (from[i]->op != OP_var) w->r.vars_only = false;
        w->r.capture = varset_union(m, w->r.capture, to[i]->fv);
    }
    return w;
}

Rewriting *ir_replacing(Ir *m, int n, Node **from, Node **to) {
    Rewriting *w = ir_substituting(m, 0, NULL, NULL);
    w->r.vars_only = false;
    for (int i = 0; i < n; i++) ir_replacing_too(w, from[i], to[i]);
    return w;
}

void ir_replacing_too(Rewriting *w, Node *from, Node *to) {
    map_put(&w->s.memo, from, to);
    if (from != to) map_put(&w->r.terms, from, to);
}

Rewriting *ir_changing(Ir *m, const Var *v, Node *(*change)(Ir *m, Node *e, void *data), void *data) {
    Node *same = v ? ir_var(v) : NULL;
    Rewriting *w = ir_substituting(m, v != NULL, &same, &same);
    w->r.vars_only = v, w->r.capture = varset_empty, w->r.change = change, w->r.data = data;
    return w;
}

Node *ir_rewrite(Rewriting *w, Node *e) { return rewrite(&w->r, &w->s, e); }

void ir_rewriting_end(Rewriting *w) { map_free(&w->s.memo), map_free(&w->r.terms); }

static Node *rewritten(Rewriting *w, Node *e) {
    Node *out = ir_rewrite(w, e);
    ir_rewriting_end(w);
    return out;
}

Node *ir_subst(Ir *m, Node *e, int n, Node **from, Node **to) { return rewritten(ir_substituting(m, n, from, to), e); }

Node *ir_replace(Ir *m, Node *e, Node *from, Node *to) { return rewritten(ir_replacing(m, 1, &from, &to), e); }

void ir_replace_in(Ir *m, int n, Node **roots, Node *from, Node *to) {
    Rewriting *w = ir_replacing(m, 1, &from, &to);
    for (int i = 0; i < n; i++) roots[i] = ir_rewrite(w, roots[i]);
    ir_rewriting_end(w);
}

Node *ir_change(Ir *m, Node *e, Node *(*change)(Ir *m, Node *e, void *data), void *data) {
    return rewritten(ir_changing(m, NULL, change, data), e);
}

Rewriting *ir_copying(Ir *m, int n, Node **from, Node **to) {
    Rewriting *w = ir_substituting(m, n, from, to);
    w->r.vars_only = false, w->r.copy = true;
    return w;
}

Node *ir_copy(Ir *m, Node *e) { return rewritten(ir_copying(m, 0, NULL, NULL), e); }

// ---- walks

// The map has the targets, the oldest of which is `oldest`, with itself, and what was seen.
static bool reaches(Node *e, uint32_t oldest, Map *seen) {
    if (e->id < oldest) return false;
    void *known = map_get(seen, e);
    if (known) return known == seen;
    map_put(seen, e, e);
    for (int i = 0; i < e->nargs; i++)
        if (reaches(e->args[i], oldest, seen)) return true;
    return ir_is_binder(e) && reaches(e->u.var->extent, oldest, seen);
}

bool ir_reaches_any(Node *e, int n, Node *const *targets) {
    Map seen = {0};
    uint32_t oldest = UINT32_MAX;
    for (int i = 0; i < n; i++) {
        if (targets[i]->id > e->id) continue;
        map_put(&seen, targets[i], &seen);
        if (targets[i]->id < oldest) oldest = targets[i]->id;
    }
    bool r = reaches(e, oldest, &seen);
    map_free(&seen);
    return r;
}

bool ir_reaches(Node *e, Node *target) { return e == target || ir_reaches_any(e, 1, &target); }

typedef struct Frame {
    Node *e;
    int next;
} Frame;

Node *ir_operand(const Node *e, int k) {
    if (k < e->nargs) return e->args[k];
    k -= e->nargs;
    if (ir_is_binder(e)) return k == 0 ? e->u.var->extent : NULL;
    if (e->op == OP_fold) return k == 0 ? e->u.loop->index->extent : NULL;
    if (e->op == OP_input || e->op == OP_param) return k < e->rank ? e->shape[k] : NULL;
    return NULL;
}

void ir_walk(int n, Node *const *roots, void (*visit)(Node *e, void *data), void *data) {
    Map seen = {0};
    VEC(Frame) stack = {0};
    for (int i = 0; i < n; i++) {
        if (map_get(&seen, roots[i])) continue;
        map_put(&seen, roots[i], roots[i]);
        vec_push(&stack, ((Frame){roots[i], 0}));
        while (stack.len) {
            Frame *top = &vec_last(&stack);
            Node *b = ir_operand(top->e, top->next++);
            if (!b) {
                visit(top->e, data);
                (void)vec_pop(&stack);
            } else if (!map_get(&seen, b)) {
                map_put(&seen, b, b);
                vec_push(&stack, ((Frame){b, 0}));
            }
        }
    }
    vec_free(&stack);
    map_free(&seen);
}
