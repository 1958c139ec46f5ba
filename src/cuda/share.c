// Additions to computed places, as lists. Where each thread would need a copy of a large array, of which an iteration changes
// little, a kernel notes what it adds, and where, and a primitive adds that up (fsmc/cuda/scatter.h).
// An iteration's shares have a part of the list. It is the same for all iterations if the host knows how long the loops around an
// addition are; else another kernel, which computes nothing but that, counts them first, and the host reads how many there are.
#include "cuda/print.h"

enum { MOST_SITES = 16 };

// ---- which there are

// An extent that is needed after all, though nothing else asks for it but checks of arguments. The next time that the tree is
// printed it is there.
static void keep(Unit *u, Temp t) {
    if (u->later[t] && u->uses[t]) return;
    u->later[t] += 2, u->uses[t] += 2; // of two uses, its text does not stand in the place of one
    for (int k = 0; k < u->def[t]->nargs; k++) keep(u, u->def[t]->args[k]);
}

// Notes what a temp of an iteration of the grid is computed from, if that is possible without anything that may fail or change:
// elements are 0 where there are none.
static bool need(Unit *u, Shares *p, Temp t) {
    const Stmt *s = u->def[t];
    Stmt *grid = p->grid;
    bool *needed = p->needed, outside = u->made[t] != u->stamp && s->kind != ST_CELL;
    p->asks |= s->kind == ST_LOAD || (outside && u->device[t]);
    if (needed[t] || outside) return true;
    bool ok = s->kind == ST_LIT || s->kind == ST_ARG || s->kind == ST_OP || s->kind == ST_CONV || s->kind == ST_SELECT;
    if (s->kind == ST_LOAD) ok = !map_get(&u->own, s->buf) && !kernel_writes(grid, s->buf);
    for (int k = 0; s->kind == ST_FOR && k < grid->grid->depth; k++)
        if (grid_loop(grid, k) == s) return needed[t] = true;
    for (int k = 0; k < s->nargs && ok; k++) ok = need(u, p, s->args[k]);
    return needed[t] = ok;
}

static bool is_copied(const Grid *g, const Buf *b) {
    for (int i = 0; i < g->ncopies; i++)
        if (g->copy[i] == b) return true;
    return false;
}

// Is the loop's length known before the grid?
static bool is_fixed(const Unit *u, Temp n) { return u->def[n]->kind == ST_LIT || (!u->device[n] && u->made[n] != u->stamp); }

// The number of the product of the lengths that vary of the loops around an addition; -1 if there are too many.
static int rows_of(Shares *p, const ShareSite *site) {
    ShareRows r = {0};
    for (int k = 0; k < site->nloops; k++)
        if (!site->fixed[k]) r.length[r.n++] = site->loop[k]->args[0];
    for (int i = 0; i < p->nrows; i++)
        if (p->rows[i].n == r.n && !memcmp(p->rows[i].length, r.length, sizeof(Temp) * (size_t)r.n)) return i;
    if (p->nrows == SHARE_ROWS) return -1;
    p->rows[p->nrows] = r;
    return p->nrows++;
}

static bool add_site(Unit *u, ShareSite site, Shares *out) {
    bool vary = false;
    if (out->n == MOST_SITES) return false;
    for (int k = 0; k < site.nloops; k++) {
        if (site.fixed[k]) continue;
        if (!need(u, out, site.loop[k]->args[0])) return false;
        vary = true;
    }
    site.rows = vary ? rows_of(out, &site) : -1;
    out->site[out->n++] = site;
    return !vary || site.rows >= 0;
}

// Finds the additions in the block. around: the loops in the grid that it is in; counted: they are such that shares can be counted.
static bool find(Unit *u, Stmt *grid, const Block *b, const ShareSite *around, bool counted, Shares *out) {
    for (int i = 0; b && i < b->stmts.len; i++) {
        const Stmt *s = b->stmts.data[i];
        ShareSite site = *around;
        bool still = counted;
        site.add = s;
        if (s->kind == ST_ADDTO && is_copied(grid->grid, s->buf) && (!counted || !add_site(u, site, out))) return false;
        if (s->kind == ST_FOR || s->kind == ST_LOOP) {
            still = counted && s->kind == ST_FOR && s->nargs == 1 && site.nloops < SHARE_LOOPS;
            if (still) site.fixed[site.nloops] = is_fixed(u, s->args[0]), site.loop[site.nloops++] = s;
        }
        if (!find(u, grid, s->body, &site, still, out) || !find(u, grid, s->other, &site, still, out)) return false;
    }
    return true;
}

bool shares_find(Unit *u, Stmt *loop, Shares *out) { // u->made is that of the loop
    const Grid *g = loop->grid;
    *out = (Shares){.grid = loop};
    out->site = ARENA_ARRAY(u->arena, ShareSite, MOST_SITES);
    out->needed = ARENA_ARRAY(u->arena, bool, u->tree->temps.len + 1);
    if (!g->ncopies || !find(u, loop, grid_loop(loop, g->depth - 1)->body, &(ShareSite){0}, true, out)) return false;
    if (out->nrows && !out->asks) return false; // triangles have copies: for their lengths alone, the host need not wait
    for (Temp t = 0; t < u->tree->temps.len; t++)
        for (int k = 0; out->needed[t] && u->def[t]->kind == ST_LOAD && k < u->def[t]->buf->rank; k++)
            keep(u, u->def[t]->buf->extent[k]);
    return true;
}

// ---- how many

// How many there are of a site for each iteration, or of a site whose loops vary for each of their iterations: factors.
static const char *fixed_count(Unit *u, const ShareSite *site) {
    const char *count = "1";
    for (int k = 0; k < site->nloops; k++)
        if (site->fixed[k]) count = expr_text(u->arena, "%s, %s", count, expr_temp(u, site->loop[k]->args[0]));
    return count;
}

static const char *all_count(Unit *u, const ShareSite *site) {
    const char *of = site->rows < 0 ? "fsm_n" : expr_text(u->arena, "fsm_total%d", site->rows);
    return expr_text(u->arena, "fsm::count_of(%s, %s)", of, fixed_count(u, site));
}

const char *shares_first(Unit *u, int rows) { return expr_text(u->arena, "fsm_first%d", rows); }

// Prints how many there are in an iteration.
static void print_needed(Code *c, const Block *b) {
    for (int i = 0; b && i < b->stmts.len; i++) {
        const Stmt *s = b->stmts.data[i];
        code_stmt(c, s, b);
        print_needed(c, s->body), print_needed(c, s->other);
    }
}

void shares_count(Code *c, const Shares *p) {
    Unit *u = c->u;
    print_needed(c, grid_loop(p->grid, p->grid->grid->depth - 1)->body);
    for (int i = 0; i < p->nrows; i++) {
        const char *count = NULL;
        for (int k = 0; k < p->rows[i].n; k++) {
            const char *n = expr_temp(u, p->rows[i].length[k]);
            count = count ? expr_text(u->arena, "%s, %s", count, n) : n;
        }
        code_line(c, "%s[fsm_i] = fsm::shares_of(fsm::count_of(%s));", shares_first(u, i), count);
    }
}

// The test whether it may be worth it to count them, or, if there is nothing to count, to list them.
const char *shares_test(Unit *u, const Shares *p) {
    const char *test = NULL;
    const Grid *g = p->grid->grid;
    for (int i = 0; p->nrows && i < g->ncopies; i++) {
        const char *bytes = expr_count(u, g->copy[i], expr_text(u->arena, "%d", (int)kind_size(g->copy[i]->kind)));
        test = test ? expr_text(u->arena, "%s, %s", test, bytes) : bytes;
    }
    if (test) return expr_text(u->arena, "fsm::by_counts(fsm_n, fsm::sum_of(%s))", test);
    for (int i = 0; i < p->n; i++) {
        const Buf *b = p->site[i].add->buf;
        const char *one = expr_text(u->arena, "fsm::by_shares(fsm_n, fsm::count_of(%s), %s, %d)", fixed_count(u, &p->site[i]),
                                    expr_count(u, b, NULL), (int)kind_size(b->kind));
        test = test ? expr_text(u->arena, "%s && %s", test, one) : one;
    }
    return test;
}

// After the kernel that counts them: where each iteration's begin, how many there are, and whether they are to be listed.
void shares_counted(Code *host, const Shares *p) {
    Unit *u = host->u;
    const Grid *g = p->grid->grid;
    const char *all = NULL, *places = NULL;
    for (int i = 0; i < p->nrows; i++) {
        code_line(host, "fsm_total%d = fsm::places_in_list(call, fsm_n, %s);", i, shares_first(u, i));
        code_line(host, "if (call.code()) return call.code();");
        u->nlaunches += 3;
    }
    for (int i = 0; i < p->n; i++) {
        const char *n = all_count(u, &p->site[i]);
        all = all ? expr_text(u->arena, "%s, %s", all, n) : n;
    }
    for (int i = 0; i < g->ncopies; i++) {
        const char *n = expr_count(u, g->copy[i], NULL);
        places = places ? expr_text(u->arena, "%s, %s", places, n) : n;
    }
    code_line(host, "fsm_lists = fsm::by_lists(fsm_n, fsm::sum_of(%s), fsm::sum_of(%s));", all, places);
    u->asks = true;
}

// ---- lists

const char *shares_place(Unit *u, int site) { return expr_text(u->arena, "fsm_place%d", site); }
const char *shares_value(Unit *u, int site) { return expr_text(u->arena, "fsm_value%d", site); }

// The lists, with no place in them.
void shares_begin(Code *host, const Shares *p) {
    Unit *u = host->u;
    for (int i = 0; i < p->n; i++) {
        const char *place = shares_place(u, i), *value = shares_value(u, i), *type = cuda_element(p->site[i].add->buf->kind);
        code_line(host, "const int64_t fsm_all%d = %s;", i, all_count(u, &p->site[i]));
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
    Unit *u = c->u;
    const char *at = of->rows < 0 ? "fsm_i" : NULL;
    for (int k = 0; k < of->nloops; k++) {
        const char *i = expr_temp(u, of->loop[k]->dst);
        at = at ? expr_text(u->arena, "(%s) * %s + %s", at, expr_temp(u, of->loop[k]->args[0]), i) : i;
    }
    if (of->rows >= 0)
        at = expr_text(u->arena, "int64_t(%s[fsm_i]) * fsm::count_of(%s) + %s", shares_first(u, of->rows), fixed_count(u, of), at);
    code_line(c, "%s[%s] = %s;", shares_place(u, site), at, place);
    code_line(c, "%s[%s] = %s;", shares_value(u, site), at, value);
}
