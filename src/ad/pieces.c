// What the iterations of a loop add to an array, taken apart. [NP] section 5.2 distributes the reverse of a scan over two
// loops: the recurrence of the adjoints, and a map that makes the array's adjoint of them. The same holds for every loop
// in which iteration i adds to elements whose indices depend on i alone, a different one in each: the array is one of
// the values added in all iterations.
#include "ad/graph.h"

enum { MAX_CONJUNCTS = 64, MAX_RANK = 16 };

// A term of an array's element at v: [v[d] = at[d] for some d, and rest] * value.
typedef struct Piece {
    Ir *m;
    const AdAdded *in;
    int n;
    Var **v;
    Node *at[MAX_RANK]; // NULL: the whole dimension
    Node *rest, *value;
} Piece;

// An index that the loop's index decides, and nothing else in the loop.
static bool is_decided(const Piece *p, const Node *a) {
    if (a->partial) return false;
    for (int i = 0; i < a->fv->n; i++)
        if (a->fv->v[i] != p->in->index && !varset_has(p->in->outer, a->fv->v[i])) return false;
    return true;
}

static bool take_apart(Piece *p, Node *term) {
    Node *c[MAX_CONJUNCTS];
    int n = 0;
    bool any = false;
    if (term->op != OP_bracket || !ir_conjuncts(term->args[0], c, &n, MAX_CONJUNCTS)) return false;
    for (int d = 0; d < p->n; d++) {
        p->at[d] = NULL;
        for (int j = 0; j < n && !p->at[d]; j++) {
            Node *a = c[j] ? ir_solve(p->m, c[j], p->v[d]) : NULL;
            if (a && is_decided(p, a)) {
                p->at[d] = a;
                c[j] = NULL;
                any |= node_has_var(a, p->in->index);
            }
        }
    }
    p->rest = ir_bool(p->m, true);
    for (int j = 0; j < n; j++) p->rest = c[j] ? ir_and(p->m, p->rest, c[j]) : p->rest;
    p->value = term->args[1];
    return any;
}

// What an iteration adds, in the dimensions that are left.
static Node *output(const Piece *p) {
    Ir *m = p->m;
    Node *from[MAX_RANK], *to[MAX_RANK], *inside = ir_bool(m, true);
    int n = 0;
    for (int d = 0; d < p->n; d++) {
        if (p->at[d]) {
            Node *a = to[n] = p->at[d];
            from[n++] = ir_var(p->v[d]);
            inside = ir_and(m, inside, ir_and(m, ir_le(m, ir_int(m, 0), a), ir_lt(m, a, p->v[d]->extent)));
        }
    }
    Node *rest = ir_and(m, inside, ir_subst(m, p->rest, n, from, to));
    Node *e = ir_bracket(m, rest, ir_subst(m, p->value, n, from, to));
    for (int d = p->n; d-- > 0;) e = p->at[d] ? e : ir_gen(m, p->v[d], e);
    return e;
}

// The sum of what all iterations add, in terms of a placeholder for the trace; NULL if it is a sum indeed.
static Node *gathered(const Piece *p, AdPiece *out) {
    Ir *m = p->m;
    Node *n = p->in->index->extent, *shape[MAX_RANK + 1], *idx[MAX_RANK + 1], *hit = ir_bool(m, true);
    Var *w = ir_index_like(m, p->in->index, n);
    int rank = 1;
    shape[0] = p->in->count;
    idx[0] = ir_sub(m, ir_sub(m, n, ir_int(m, 1)), ir_var(w));
    for (int d = 0; d < p->n; d++) {
        Node *k = ir_var(p->v[d]);
        if (p->at[d]) {
            hit = ir_and(m, hit, ir_eq(m, k, ir_subst1(m, p->at[d], ir_var(p->in->index), ir_var(w))));
        } else {
            shape[rank] = p->v[d]->extent;
            idx[rank++] = k;
        }
    }
    out->trace = ir_param(m, p->value->kind, rank, shape);
    Node *e = ir_sum(m, w, ir_bracket(m, hit, ir_at(m, out->trace, rank, idx))), *one = e;
    while (one->op == OP_bracket) one = one->args[1];
    if (one->op != OP_at || one->args[0] != out->trace) return NULL;
    for (int d = p->n; d-- > 0;) e = ir_gen(m, p->v[d], e);
    return e;
}

Node *ad_pieces(Ir *m, const AdAdded *in, Node *e, AdPiece *piece, int *count) {
    Var *v[MAX_RANK];
    Node **term, *rest = NULL;
    int rank, n = ir_terms(m, e, v, &rank, &term);
    *count = 0;
    if (n == 0) return e;
    for (int i = 0; i < n; i++) {
        Piece p = {.m = m, .in = in, .n = rank, .v = v};
        AdPiece *out = &piece[*count];
        if (*count < AD_PIECES && take_apart(&p, term[i]) && (out->array = gathered(&p, out))) {
            out->output = output(&p);
            ++*count;
        } else {
            rest = rest ? ir_add(m, rest, term[i]) : term[i];
        }
    }
    for (int d = rank; rest && d-- > 0;) rest = ir_gen(m, v[d], rest);
    return *count ? rest : e;
}
