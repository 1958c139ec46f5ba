// Kernels whose blocks do the iterations of a grid. All threads of a block compute its scalars; one of them stores, or adds to an
// array; they share out the iterations of inner grids, and join what these add up. Where threads access what others have written,
// or write what others may still read, they wait for each other.
#include "cuda/print.h"

typedef struct BlockCode {
    Code *c;
    Unit *u;
    Stmt *loop;        // the grid
    Map changing;      // arrays that its iterations write to
    Map read, written; // of these, those that threads have accessed since they waited
} BlockCode;

// ---- whether blocks can do it

static Temp extent_of(const Stmt *inner) { return inner->args[0]; }

// The largest number of iterations of an inner grid that the host knows; "" if it knows none.
static void find_inner(Unit *u, const Block *b, const Stmt *grid, const char **most) {
    for (int i = 0; b && i < b->stmts.len; i++) {
        const Stmt *s = b->stmts.data[i];
        if (s->grid && s->grid->inner) {
            const char *n = NULL;
            for (int k = 0; k < s->grid->depth; k++) {
                Temp t = extent_of(grid_loop((Stmt *)s, k));
                bool known = u->def[t]->kind == ST_LIT || u->def[t]->kind == ST_ARG || u->made[t] != u->stamp;
                if (!known || u->device[t]) continue;
                n = n ? expr_text(u->arena, "%s, %s", n, expr_temp(u, t)) : expr_temp(u, t);
            }
            if (n) n = expr_text(u->arena, "fsm::count_of(%s)", n);
            if (n && !*most) *most = n;
            else if (n && strcmp(n, *most) && strlen(*most) < 200)
                *most = expr_text(u->arena, "fsm::greatest_int(%s, %s)", *most, n);
            continue;
        }
        find_inner(u, s->body, grid, most), find_inner(u, s->other, grid, most);
    }
}

static bool is_in(const Block *b, const Block *in) {
    if (b == in) return true;
    for (int i = 0; b && i < b->stmts.len; i++) {
        const Stmt *s = b->stmts.data[i];
        if ((s->body && is_in(s->body, in)) || (s->other && is_in(s->other, in))) return true;
    }
    return false;
}

// The home of an array is in an inner grid.
static bool home_is_inner(const Block *b, const Block *home) {
    for (int i = 0; b && i < b->stmts.len; i++) {
        const Stmt *s = b->stmts.data[i];
        if (s->grid && s->grid->inner) {
            if (is_in(s->body, home)) return true;
        } else if (home_is_inner(s->body, home) || home_is_inner(s->other, home)) {
            return true;
        }
    }
    return false;
}

bool block_shares(Unit *u, Stmt *loop, const Buf *b) { return map_get(&u->own, b) == loop && !home_is_inner(loop->body, b->home); }

// Are arrays that a block has made before it begins? Not if their sizes are known in an iteration only.
static bool sizes_known(Unit *u, Stmt *loop) {
    for (int i = 0; i < u->tree->bufs.len; i++) {
        const Buf *b = u->tree->bufs.data[i];
        if (!block_shares(u, loop, b)) continue;
        for (int k = 0; k < b->rank; k++)
            if (u->made[b->extent[k]] == u->stamp && u->def[b->extent[k]]->kind != ST_LIT) return false;
    }
    return true;
}

bool block_can(Unit *u, Stmt *loop, const char **inner) { // u->made is that of the loop
    *inner = NULL;
    if (!grid_has_inner(grid_loop(loop, loop->grid->depth - 1)->body) || !sizes_known(u, loop)) return false;
    find_inner(u, loop->body, loop, inner);
    return *inner != NULL;
}

// ---- waiting

static void wait(BlockCode *p) {
    code_line(p->c, "fsm::sync_team();");
    map_free(&p->read), map_free(&p->written);
    p->read = p->written = (Map){0};
}

static bool must_wait(const BlockCode *p, const Buf *b, bool writes) {
    return map_get(&p->written, b) || (writes && map_get(&p->read, b));
}

// Calls see(p, b, writes) for the arrays that the statement accesses, of those that change.
static bool each_access(BlockCode *p, const Stmt *s, bool (*see)(BlockCode *p, const Buf *b, bool writes)) {
    bool any = false;
    if (unit_is_dead(p->u, s)) return false;
    if (s->buf && s->kind != ST_NEW && map_get(&p->changing, s->buf)) any |= see(p, s->buf, s->kind != ST_LOAD);
    if (s->src && map_get(&p->changing, s->src)) any |= see(p, s->src, false);
    const Block *in[] = {s->body, s->other};
    for (int k = 0; k < 2; k++)
        for (int i = 0; in[k] && i < in[k]->stmts.len; i++) any |= each_access(p, in[k]->stmts.data[i], see);
    return any;
}

static bool see_conflict(BlockCode *p, const Buf *b, bool writes) { return must_wait(p, b, writes); }

static bool see_access(BlockCode *p, const Buf *b, bool writes) {
    map_put(writes ? &p->written : &p->read, b, (void *)b);
    return false;
}

static bool see_write(BlockCode *p, const Buf *b, bool writes) {
    (void)p, (void)b;
    return writes;
}

static void before(BlockCode *p, const Stmt *s) {
    if (each_access(p, s, see_conflict)) wait(p);
    each_access(p, s, see_access);
}

// ---- statements

static void block(BlockCode *p, const Block *b);

static bool is_outer_sum(const BlockCode *p, Temp cell) {
    for (int i = 0; i < p->loop->grid->nsums; i++)
        if (p->loop->grid->cell[i] == cell) return true;
    return false;
}

// An inner grid, whose iterations threads share out. Its sums, but for those of the grid, all threads have afterwards.
static void inner_grid(BlockCode *p, Stmt *s) {
    Code *c = p->c;
    Unit *u = p->u;
    Grid *g = s->grid;
    const char *n = NULL, *fail = c->fail, *order = c->order;
    before(p, s);
    code_line(c, "{");
    c->indent += 4;
    for (int i = 0; i < g->nsums; i++) {
        const char *name = expr_temp(u, g->cell[i]);
        if (is_outer_sum(p, g->cell[i]) || g->by[i] != OP_add) continue;
        code_line(c, "const %s %s_before = %s;", cuda_type(unit_kind(u, g->cell[i])), name, name);
        code_line(c, "%s = 0;", name);
    }
    for (int k = 0; k < g->depth; k++) {
        const char *trips = kernel_trips(u, grid_loop(s, k));
        n = n ? expr_text(u->arena, "%s, %s", n, trips) : trips;
    }
    bool fails_before = c->fails;
    int label = ++u->nlabels;
    c->fails = false, c->fail = expr_text(u->arena, "{ fsm_failed%d = true; goto fsm_next%d; }", label, label);
    c->order = expr_text(u->arena, "(%s) + fsm_j", order);
    Str *out = c->out, body = {0};
    c->out = &body;
    code_line(c, "for (int64_t fsm_j = threadIdx.x, fsm_m = fsm::count_of(%s); fsm_j < fsm_m; fsm_j += blockDim.x) {", n);
    c->indent += 4;
    kernel_iteration(c, s, "fsm_j");
    code_block(c, grid_loop(s, g->depth - 1)->body);
    c->indent -= 4;
    code_line(c, "}");
    c->out = out, c->fail = fail, c->order = order;
    if (c->fails) code_line(c, "bool fsm_failed%d = false;", label);
    str_puts(out, str_text(&body));
    str_free(&body);
    if (c->fails) {
        code_line(c, "fsm_next%d:", label);
        code_line(c, "if (fsm::any_of_team(fsm_failed%d)) %s", label, fail);
    }
    c->fails |= fails_before;
    for (int i = 0; i < g->nsums; i++) {
        const char *name = expr_temp(u, g->cell[i]), *by = kernel_join(g->by[i]), *type = cuda_type(unit_kind(u, g->cell[i]));
        if (is_outer_sum(p, g->cell[i])) continue;
        if (g->by[i] != OP_add) code_line(c, "%s = fsm::join_all<%s>(%s);", name, by, name);
        else code_line(c, "%s = %s<%s>::join(%s_before, fsm::join_all<%s>(%s));", name, by, type, name, by, name);
    }
    c->indent -= 4;
    code_line(c, "}");
}

// Every element of an array, by all threads.
static void all_elements(BlockCode *p, const Stmt *s) {
    Unit *u = p->u;
    before(p, s);
    const char *value = s->src ? expr_text(u->arena, "%s[fsm_e]", expr_buf(u, s->src)) : expr_temp(u, s->args[0]);
    if (!s->src && s->buf->kind == KIND_BOOL) value = expr_text(u->arena, "uint8_t(%s)", value);
    code_line(p->c, "for (int64_t fsm_e = threadIdx.x, fsm_all = %s; fsm_e < fsm_all; fsm_e += blockDim.x) %s[fsm_e] = %s;",
              expr_count(u, s->buf, NULL), expr_buf(u, s->buf), value);
}

static void one_thread(BlockCode *p, const Stmt *s) {
    Code *c = p->c;
    if (s->kind != ST_SET) before(p, s);
    code_line(c, "if (threadIdx.x == 0) {");
    c->indent += 4;
    code_stmt(c, s, NULL);
    c->indent -= 4;
    code_line(c, "}");
}

static void inside(BlockCode *p, const Block *b) {
    p->c->indent += 4;
    block(p, b);
    p->c->indent -= 4;
}

// A loop that all threads run together.
static void sequential(BlockCode *p, const Stmt *s) {
    Code *c = p->c;
    Unit *u = p->u;
    const char *i = s->dst >= 0 ? expr_temp(u, s->dst) : NULL;
    if (s->kind == ST_LOOP) code_line(c, "for (;;) {");
    else
        code_line(c, "for (int64_t %s = %s; %s < %s; %s++) {", i, s->nargs > 1 ? expr_temp(u, s->args[1]) : "0", i,
                  expr_temp(u, s->args[0]), i);
    c->indent += 4;
    if (each_access(p, s, see_write)) wait(p); // for those that are in the iteration before
    c->indent -= 4;
    inside(p, s->body);
    code_line(c, "}");
    each_access(p, s, see_access);
}

static Map copy_of(const Map *m) {
    Map copy = {0};
    for (size_t i = 0; i < m->cap; i++)
        if (m->key[i]) map_put(&copy, m->key[i], m->value[i]);
    return copy;
}

static void branch(BlockCode *p, const Stmt *s) {
    Map read = copy_of(&p->read), written = copy_of(&p->written);
    code_line(p->c, "if (%s) {", expr_temp(p->u, s->args[0]));
    if (s->body) inside(p, s->body);
    map_free(&p->read), map_free(&p->written);
    p->read = copy_of(&read), p->written = copy_of(&written);
    if (s->other && s->other->stmts.len) {
        code_line(p->c, "} else {");
        inside(p, s->other);
    }
    code_line(p->c, "}");
    map_free(&p->read), map_free(&p->written);
    p->read = read, p->written = written;
    each_access(p, s, see_access);
}

static void stmt(BlockCode *p, Stmt *s, const Block *in) {
    if (unit_is_dead(p->u, s)) return;
    if (s->kind == ST_FOR && s->grid && s->grid->inner) {
        inner_grid(p, s);
        return;
    }
    switch (s->kind) {
    case ST_FOR:
    case ST_LOOP: sequential(p, s); break;
    case ST_IF: branch(p, s); break;
    case ST_FILL:
    case ST_COPY: all_elements(p, s); break;
    case ST_STORE:
    case ST_ADDTO: one_thread(p, s); break;
    case ST_SET:
        if (is_outer_sum(p, s->dst)) one_thread(p, s);
        else code_stmt(p->c, s, in);
        break;
    case ST_LOAD: before(p, s); // fall through
    default: code_stmt(p->c, s, in);
    }
}

static void block(BlockCode *p, const Block *b) {
    for (int i = 0; b && i < b->stmts.len; i++) stmt(p, b->stmts.data[i], b);
}

static void note_changing(Map *m, const Block *b) {
    for (int i = 0; b && i < b->stmts.len; i++) {
        const Stmt *s = b->stmts.data[i];
        if (s->buf && s->kind != ST_LOAD && s->kind != ST_NEW) map_put(m, s->buf, s->buf);
        note_changing(m, s->body), note_changing(m, s->other);
    }
}

void block_code(Code *c, Stmt *loop, const Block *b) {
    BlockCode p = {.c = c, .u = c->u, .loop = loop};
    note_changing(&p.changing, loop->body);
    block(&p, b);
    map_free(&p.changing), map_free(&p.read), map_free(&p.written);
}
