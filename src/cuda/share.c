// Additions to computed places, as lists. Where each thread would need a copy of a large array, of which an iteration changes
// little, a kernel notes what it adds, and where, and a primitive adds that up (fsmc/cuda/scatter.h).
#include "cuda/print.h"

enum { DEEPEST = 4, MOST_SITES = 8 };

// Is the loop's length known before the grid?
static bool is_fixed(const Unit *u, const Stmt *loop) {
    Temp n = loop->args[0];
    return loop->kind == ST_FOR && loop->nargs == 1 && (u->def[n]->kind == ST_LIT || (!u->device[n] && u->made[n] != u->stamp));
}

static bool is_copied(const Grid *g, const Buf *b) {
    for (int i = 0; i < g->ncopies; i++)
        if (g->copy[i] == b) return true;
    return false;
}

// Finds the additions in the block; at, count: the text of an iteration's number, and of how many there are in one of the grid.
static bool find(Unit *u, const Grid *g, const Block *b, const char *at, const char *count, bool fixed, Shares *out) {
    for (int i = 0; b && i < b->stmts.len; i++) {
        const Stmt *s = b->stmts.data[i];
        if (s->kind == ST_ADDTO && is_copied(g, s->buf)) {
            if (!fixed || out->n == MOST_SITES) return false;
            out->site[out->n++] = (ShareSite){s, at, count};
        }
        const char *inner = at, *all = count;
        bool still = fixed;
        if (s->kind == ST_FOR || s->kind == ST_LOOP) {
            still = fixed && is_fixed(u, s);
            if (still) {
                inner = expr_text(u->arena, "(%s) * %s + %s", at, expr_temp(u, s->args[0]), expr_temp(u, s->dst));
                all = expr_text(u->arena, "%s, %s", count, expr_temp(u, s->args[0]));
            }
        }
        if (!find(u, g, s->body, inner, all, still, out) || !find(u, g, s->other, inner, all, still, out)) return false;
    }
    return true;
}

bool shares_find(Unit *u, Stmt *loop, Shares *out) { // u->made is that of the loop
    const Grid *g = loop->grid;
    *out = (Shares){0};
    out->site = ARENA_ARRAY(u->arena, ShareSite, MOST_SITES);
    return g->ncopies && find(u, g, grid_loop(loop, g->depth - 1)->body, "fsm_i", "1", true, out);
}

const char *shares_test(Unit *u, const Shares *p) {
    const char *test = NULL;
    for (int i = 0; i < p->n; i++) {
        const Buf *b = p->site[i].add->buf;
        const char *one = expr_text(u->arena, "fsm::by_shares(fsm_n, fsm::count_of(%s), %s, %d)", p->site[i].count,
                                    expr_count(u, b, NULL), (int)kind_size(b->kind));
        test = test ? expr_text(u->arena, "%s && %s", test, one) : one;
    }
    return test;
}

const char *shares_place(Unit *u, int site) { return expr_text(u->arena, "fsm_place%d", site); }
const char *shares_value(Unit *u, int site) { return expr_text(u->arena, "fsm_value%d", site); }

// The lists, with no place in them.
void shares_begin(Code *host, const Shares *p) {
    Unit *u = host->u;
    for (int i = 0; i < p->n; i++) {
        const char *place = shares_place(u, i), *value = shares_value(u, i), *type = cuda_element(p->site[i].add->buf->kind);
        code_line(host, "const int64_t fsm_all%d = fsm::count_of(fsm_n, %s);", i, p->site[i].count);
        code_line(host, "int64_t *const %s = call.alloc<int64_t>(fsm_all%d);", place, i);
        code_line(host, "%s *const %s = call.alloc<%s>(fsm_all%d);", type, value, type, i);
        code_line(
            host,
            "if (call.code() || call.check(cudaMemsetAsync(%s, 0xff, size_t(fsm_all%d) * sizeof *%s, call.stream()))) return call.code();",
            place, i, place);
    }
}

void shares_end(Code *host, const Shares *p) {
    Unit *u = host->u;
    for (int i = 0; i < p->n; i++) {
        const Buf *b = p->site[i].add->buf;
        const char *type = cuda_element(b->kind);
        code_line(host, "fsm::cuda::scatter_add(call, fsm_all%d, fsm::cuda::ListedShares<%s>{%s, %s}, %s, %s);", i, type,
                  shares_place(u, i), shares_value(u, i), expr_count(u, b, NULL), expr_buf(u, b));
        code_line(host, "if (call.code()) return call.code();");
        u->nlaunches += 2;
    }
}

void shares_note(Code *c, int site, const ShareSite *of, const char *place, const char *value) {
    code_line(c, "%s[%s] = %s;", shares_place(c->u, site), of->at, place);
    code_line(c, "%s[%s] = %s;", shares_value(c->u, site), of->at, value);
}
