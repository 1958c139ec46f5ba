// Matrix products (lower/product.h): where they are large, a call of fsm::cuda::matmul takes the place of a kernel of their grid.
//
// Where elements lie is printed as functions of the three indices, which the program calls for four places to know what they are
// apart by.
#include "cuda/print.h"
#include "lower/product.h"

typedef struct Places {
    Unit *u;
    const Product *p;
    Map made, needed; // Temp + 1: in the nest; for the place of an element
} Places;

static void *key(Temp t) { return (void *)((intptr_t)t + 1); }

static void note_made(Map *made, const Stmt *s) {
    if (s->dst >= 0) map_put(made, key(s->dst), (void *)1);
    for (int i = 0; s->body && i < s->body->stmts.len; i++) note_made(made, s->body->stmts.data[i]);
}

// Notes what t is computed from in the nest; false if the host does not know it.
static bool need(Places *z, Temp t) {
    const Stmt *s = z->u->def[t];
    for (int k = 0; k < 3; k++)
        if (z->p->loop[k]->dst == t) return true;
    if (!map_get(&z->made, key(t))) return s->kind == ST_LIT || !z->u->device[t];
    if (s->kind != ST_LIT && s->kind != ST_ARG && s->kind != ST_OP) return false;
    for (int k = 0; k < s->nargs; k++)
        if (!need(z, s->args[k])) return false;
    map_put(&z->needed, key(t), (void *)1);
    return true;
}

static bool need_place(Places *z, const Stmt *s) {
    for (int d = 0; d < s->buf->rank; d++)
        if (!need(z, stmt_index(s)[d]) || (d && !need(z, s->buf->extent[d]))) return false;
    return true;
}

static void print_needed(Code *c, const Map *needed, const Block *b) {
    for (int i = 0; i < b->stmts.len; i++) {
        const Stmt *s = b->stmts.data[i];
        if (s->dst >= 0 && map_get(needed, key(s->dst))) code_stmt(c, s, NULL);
        if (s->kind == ST_FOR) print_needed(c, needed, s->body);
    }
}

// const auto NAME = fsm::cuda::places_of([=](i, j, k) { … });
static bool print_places(Code *c, const Product *p, const char *name, const Stmt *s) {
    Unit *u = c->u;
    Places z = {.u = u, .p = p};
    note_made(&z.made, p->loop[0]);
    bool known = need_place(&z, s);
    if (known) {
        const char *var[3];
        for (int k = 0; k < 3; k++) var[k] = expr_temp(u, p->loop[k]->dst);
        code_line(c, "const auto %s = fsm::cuda::places_of([=](int64_t %s, int64_t %s, int64_t %s) {", name, var[0], var[1], var[2]);
        c->indent += 4;
        code_line(c, "(void)%s, (void)%s, (void)%s;", var[0], var[1], var[2]);
        print_needed(c, &z.needed, p->loop[0]->body);
        code_line(c, "return int64_t(%s);", expr_place(u, s->buf, stmt_index(s)));
        c->indent -= 4;
        code_line(c, "});");
    }
    map_free(&z.made), map_free(&z.needed);
    return known;
}

bool product_print(Code *host, Stmt *loop) {
    Unit *u = host->u;
    const Grid *g = loop->grid;
    Product p;
    if (g->depth != 2 || g->nsums || g->ncopies || g->natomics || !product_find(u->def, loop, &p)) return false;
    for (int k = 0; k < 3; k++)
        if (u->device[p.loop[k]->args[0]]) return false;
    Str *out = host->out, text = {0};
    host->out = &text;
    bool known = print_places(host, &p, "fsm_left", p.left) && print_places(host, &p, "fsm_right", p.right) && print_places(host, &p, "fsm_to", p.to);
    host->out = out;
    if (known) str_puts(out, str_text(&text));
    str_free(&text);
    if (!known) return false;
    const char *type = cuda_element(p.to->buf->kind), *n[3];
    for (int k = 0; k < 3; k++) n[k] = expr_temp(u, p.loop[k]->args[0]);
    code_line(host, "if (fsm::cuda::is_product(%s, %s, %s)) {", n[0], n[1], n[2]);
    code_line(host, "    fsm::cuda::matmul<%s>(call, %s, %s, %s, 1, 1, {%s + fsm_left.at, fsm_left.i, fsm_left.k, 0}, {%s + fsm_right.at, fsm_right.k, fsm_right.j, 0}, %d, {%s + fsm_to.at, fsm_to.i, fsm_to.j, 0});",
              type, n[0], n[1], n[2], expr_buf(u, p.left->buf), expr_buf(u, p.right->buf), p.to->kind == ST_ADDTO, expr_buf(u, p.to->buf));
    u->nlaunches++;
    return true;
}
