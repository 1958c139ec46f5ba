// Loops around grids, where these are small. A launch takes longer than what it starts, then: one block does the loop, as it does
// an iteration of a grid with loops inside (block.c), and its threads share out the grids. Which it is, is decided in a call, by
// extents.
#include "cuda/print.h"

enum { MOST_TEXT = 1000, MOST_SHARED = 1 << 14 };

typedef struct Owner {
    Buf *buf;
    Stmt *grid; // that has one for each iteration, or NULL
} Owner;

typedef struct Fold {
    Unit *u;
    Stmt *loop;
    const char *grids; // a list of how many iterations they have, and how many the loops inside have in each
    const char *steps; // how often grids run in an iteration of the loop, as factors
    Map made;          // arrays that come into being in the loop
    VEC(Owner) owners; // of which the block has one, or each of its threads
    int64_t shared;    // bytes of small arrays of the block
} Fold;

static void note_made(Fold *p, const Stmt *s) {
    if (s->dst >= 0 && s->kind != ST_SET) p->u->made[s->dst] = p->u->stamp;
    if (s->kind == ST_NEW) map_put(&p->made, s->buf, s->buf);
    const Block *in[] = {s->body, s->other};
    for (int k = 0; k < 2; k++)
        for (int i = 0; in[k] && i < in[k]->stmts.len; i++) note_made(p, in[k]->stmts.data[i]);
}

// ---- extents: what decides must be known before the loop, but bounds will do

static bool is_known(const Unit *u, Temp t) { return u->made[t] != u->stamp && (!u->device[t] || u->read[t]); }

// About the most that it can be; NULL if the host does not know.
static const char *bound(Unit *u, Temp t) {
    const Stmt *s = u->def[t];
    if (s->kind == ST_LIT) return expr_value(u, s);
    if (u->made[t] != u->stamp) return is_known(u, t) ? expr_temp(u, t) : NULL;
    if (s->kind == ST_FOR) return bound(u, s->args[0]);
    if (s->kind != ST_OP) return NULL;
    const char *x = bound(u, s->args[0]), *y = s->nargs > 1 ? bound(u, s->args[1]) : NULL;
    if (s->op == OP_sub) return x;
    if (s->op == OP_min) return x ? x : y;
    return s->op == OP_add && x && y ? expr_text(u->arena, "fsm::wrap_add(%s, %s)", x, y) : NULL;
}

static const char *bound_trips(Unit *u, const Stmt *loop) {
    const char *end = bound(u, loop->args[0]);
    bool from = loop->nargs > 1 && (u->def[loop->args[1]]->kind == ST_LIT || is_known(u, loop->args[1]));
    return end && from ? expr_text(u->arena, "fsm::trips(%s, %s)", bound(u, loop->args[1]), end) : end;
}

// Adds a grid to the list; false if that becomes too long.
static bool list(Fold *p, const char *width, const char *inner) {
    Arena *a = p->u->arena;
    const char *n = expr_text(a, *inner ? "{fsm::count_of(%s), fsm::count_of(%s)}" : "{fsm::count_of(%s), 1}", width, inner);
    if (!p->grids) p->grids = n;
    else if (!strstr(p->grids, n)) p->grids = expr_text(a, "%s, %s", p->grids, n);
    return strlen(p->grids) < MOST_TEXT;
}

// ---- whether a block can do it

static const char *times(Fold *p, const char *factors, const char *n) {
    return expr_text(p->u->arena, "%s%s%s", factors, *factors ? ", " : "", n);
}

// How many elements an array has, as factors; NULL if the host does not know.
static const char *elements(Fold *p, const Buf *b) {
    const char *n = "";
    for (int k = 0; k < b->rank; k++) {
        const char *extent = bound(p->u, b->extent[k]);
        if (!extent) return NULL;
        n = times(p, n, extent);
    }
    return *n ? n : "1";
}

static bool look_inside(Fold *p, const Block *b, const char *width, const char *inner) {
    for (int i = 0; b && i < b->stmts.len; i++) {
        const Stmt *s = b->stmts.data[i];
        const char *all = inner;
        if (s->kind == ST_LOOP) return false;
        if (s->kind == ST_FOR || s->kind == ST_FILL || s->kind == ST_COPY) {
            const char *n = s->kind == ST_FOR ? bound_trips(p->u, s) : elements(p, s->buf);
            if (!n) return false;
            all = times(p, inner, n);
            if (!list(p, width, all)) return false;
        }
        if (!look_inside(p, s->body, width, all) || !look_inside(p, s->other, width, all)) return false;
    }
    return true;
}

static bool look_grid(Fold *p, Stmt *s, const char *repeats) {
    const char *n = "";
    for (int k = 0; k < s->grid->depth; k++) {
        const char *trips = bound_trips(p->u, grid_loop(s, k));
        if (!trips) return false;
        n = times(p, n, trips);
    }
    return list(p, n, repeats) && look_inside(p, grid_loop(s, s->grid->depth - 1)->body, n, repeats);
}

static bool is_of_host(const Unit *u, const Buf *b) { return b && b->where == BUF_TEMP && !u->device_buf[b->id]; }

// A grid that adds to arrays at places of other iterations: the block does these one after the other, with the grids inside.
static bool is_serial(const Stmt *s) { return s->grid && s->grid->ncopies; }

static bool look(Fold *p, const Block *b, const char *steps, const char *repeats);

// A loop that all threads run together: in a grid, it takes its time.
static bool look_loop(Fold *p, const Stmt *s, const char *steps, const char *repeats) {
    const bool grids = grid_inside(s->body), counts = is_serial(s) || *repeats;
    if (!grids && !counts) return look(p, s->body, steps, repeats);
    if (s->kind == ST_LOOP) return false; // which may take any time; the call cannot be cancelled in it
    const char *n = bound_trips(p->u, s);
    if (!n) return false;
    if (counts) return list(p, "1", times(p, repeats, n)) && look(p, s->body, steps, times(p, repeats, n));
    steps = times(p, steps, n);
    if (strlen(steps) > strlen(p->steps)) p->steps = steps;
    return look(p, s->body, steps, repeats);
}

static bool look_stmt(Fold *p, Stmt *s, const char *steps, const char *repeats) {
    Unit *u = p->u;
    const char *n;
    if (unit_is_dead(u, s)) return true;
    if (s->recurrence || is_of_host(u, s->buf) || is_of_host(u, s->src)) return false;
    if (s->grid && !is_serial(s)) return look_grid(p, s, repeats);
    switch (s->kind) {
    case ST_CHECK: return u->fails || !place_on_host(u, s);               // a call whose kernels cannot fail does not wait for them
    case ST_SET: return u->made[s->dst] == u->stamp || u->device[s->dst]; // else the host would not know it afterwards
    case ST_FILL:
    case ST_COPY: return (n = elements(p, s->buf)) && list(p, n, repeats);
    case ST_FOR:
    case ST_LOOP: return look_loop(p, s, steps, repeats);
    case ST_IF: return look(p, s->body, steps, repeats) && look(p, s->other, steps, repeats);
    case ST_OUT:
    case ST_EXTERN:
    case ST_PARAM:
    case ST_CALL:
    case ST_PROC:
    case ST_MOVE:
    case ST_CHUNK:
    case ST_THREADS: return false;
    default: return true;
    }
}

// steps: of the host's loops around; repeats: of loops that are a part of a grid.
static bool look(Fold *p, const Block *b, const char *steps, const char *repeats) {
    for (int i = 0; b && i < b->stmts.len; i++)
        if (!look_stmt(p, b->stmts.data[i], steps, repeats)) return false;
    return true;
}

// ---- what is the block's

// Grids of the loop are the inner ones of a block.
static void set_inner(const Block *b, bool inner) {
    for (int i = 0; b && i < b->stmts.len; i++) {
        const Stmt *s = b->stmts.data[i];
        if (is_serial(s)) continue;
        if (s->grid) s->grid->inner = inner;
        else set_inner(s->body, inner), set_inner(s->other, inner);
    }
}

static bool has_grid(const Block *b, const Stmt *grid) {
    for (int i = 0; b && i < b->stmts.len; i++) {
        const Stmt *s = b->stmts.data[i];
        if (s == grid || (!s->grid && (has_grid(s->body, grid) || has_grid(s->other, grid)))) return true;
    }
    return false;
}

static bool own_size(Fold *p, const Buf *b) {
    Unit *u = p->u;
    bool shared = block_shares(u, p->loop, b);
    int64_t bytes = (int64_t)kind_size(b->kind);
    for (int k = 0; k < b->rank; k++) {
        Temp t = b->extent[k];
        if (u->def[t]->kind != ST_LIT && (u->made[t] == u->stamp ? shared : !is_known(u, t))) return false;
        if (code_is_local(u, b)) bytes *= u->def[t]->u.num;
    }
    if (shared && code_is_local(u, b)) p->shared += bytes;
    return p->shared <= MOST_SHARED;
}

// Arrays that the loop, or a grid in it, has for each iteration are the block's or its threads'; false if the host cannot make
// them.
static bool take_arrays(Fold *p) {
    Unit *u = p->u;
    bool ok = true;
    for (int i = 0; i < u->tree->bufs.len; i++) {
        Buf *b = u->tree->bufs.data[i];
        Stmt *grid = map_get(&u->own, b);
        if (grid ? !has_grid(p->loop->body, grid) : !map_get(&p->made, b)) continue;
        vec_push(&p->owners, ((Owner){b, grid}));
        map_put(&u->own, b, p->loop);
        ok &= own_size(p, b);
    }
    return ok;
}

static void give_arrays(Fold *p) {
    for (int i = 0; i < p->owners.len; i++) map_put(&p->u->own, p->owners.data[i].buf, p->owners.data[i].grid);
}

bool fold_print(Code *host, Stmt *loop) {
    Unit *u = host->u;
    Grid grid = {.depth = 1};
    Fold p = {.u = u, .loop = loop, .steps = "1"};
    bool can = loop->kind == ST_FOR && !loop->grid;
    if (can) {
        u->stamp++;
        note_made(&p, loop);
        can = look(&p, loop->body, "1", "");
    }
    if (can) {
        set_inner(loop->body, true);
        loop->grid = &grid;
        can = take_arrays(&p);
        if (can) {
            code_line(host, "if (fsm::by_fold({%s})) {", p.grids);
            host->indent += 4;
            kernel_fold(host, loop, p.grids, p.steps);
            host->indent -= 4;
            code_line(host, "} else {");
        }
        give_arrays(&p);
        loop->grid = NULL;
        set_inner(loop->body, false);
    }
    map_free(&p.made), vec_free(&p.owners);
    return can;
}
