// Tiles. Where each iteration of a loop goes over many matrices, these go through the caches for each block of lanes:
//
//     for i < n { x; for c < k { for j, l { … q[c,j,l] * x[l] … } z[c] }; y; for c < k { … z[c] … for j, l { g[c,j,l] += u[j] * x[l] } } }
//
// becomes, a tile of iterations at a time, with arrays for what one part needs of another,
//
//     for t { for p { x[p] }; for c < k { for p { … z[c,p] } }; for p { y[p] }; for c < k { for p { … u[j,p] }; for j, l { … } } }
//
// so that each matrix is read once for a tile, by the lanes p; and products that are added to a matrix, of numbers of the
// iteration, are sums over the tile, whose lanes are columns l: g[c,j,l] += sum over p of u[j,p] * x[l,p] (tile_products.c).
#include "lower/loop_passes.h"
#include "lower/tile.h"

#include <string.h>

// Iterations of a tile: whole blocks of lanes (the vectors of 8 numbers are those of machines with many registers, and blocks
// long), and no power of 2 of lines, so that rows of a tile do not meet in the same places of a cache. More if little waits for
// each.
enum { TILE = 48, TILE_OF_LONG = 32, LONG = 8, MORE = 2, LEAST = 255 };

enum { FREE = -1, GONE = -2 };

static Stmt *const *body_of(const Tiler *z) { return z->loop->body->stmts.data; }
const Stmt *tile_def(const Tiler *z, Temp t) { return t < z->known ? z->m.it.def[t] : NULL; }
bool tile_makes(const Tiler *z, Temp t) { return t >= z->known || z->m.it.made_in[t] == z->m.it.stamp || t == z->loop->dst; }

// ---- arrays

// An array with these extents for each iteration of a tile, which is new in each run of the block.
Buf *tile_buf(Tiler *z, const Block *home, Kind kind, int rank, const Temp *extent) {
    Temp all[RANK_MAX + 1];
    if (rank) memcpy(all, extent, sizeof *extent * (size_t)rank);
    all[rank] = z->size;
    return build_buf(&z->b, &z->before, home, kind, rank + 1, all);
}

// ---- which parts there are

// Do all loops around the access, from c on, go along a matrix of an array that the loop does not make, and that is the same for
// its iterations?
static bool is_matrix(const Tiler *z, const Stmt *s, int n, Stmt *const *around) {
    if ((s->kind != ST_LOAD && s->kind != ST_ADDTO) || n < 3 || s->buf->rank < 3 || iter_is_own(&z->m.it, s->buf)) return false;
    for (int k = 0; k < s->buf->rank; k++)
        if (iter_varies(&z->m.it, stmt_index(s)[k])) return false;
    for (int i = 0; i < n; i++) {
        bool at = false;
        for (int k = 0; k < s->buf->rank; k++) at |= stmt_index(s)[k] == around[i]->dst;
        if (!at) return false;
    }
    return true;
}

static void note_matrix(Tiler *z, const Stmt *s, const Stmt *c) {
    if (z->matrix && (z->added || s->kind != ST_ADDTO)) return;
    z->matrix = s->buf, z->added = s->kind == ST_ADDTO, z->which = 0;
    while (stmt_index(s)[z->which] != c->dst) z->which++;
}

static bool has_matrix(Tiler *z, const Block *b, int n, Stmt **around) {
    bool found = false;
    for (int i = 0; b && i < b->stmts.len; i++) {
        Stmt *s = b->stmts.data[i];
        if (is_matrix(z, s, n, around)) found = true, note_matrix(z, s, around[0]);
        if (s->kind == ST_FOR && n < MOST_INSIDE) around[n] = s;
        found |= has_matrix(z, s->body, n + (s->kind == ST_FOR && n < MOST_INSIDE), around);
        found |= has_matrix(z, s->other, n, around);
    }
    return found;
}

static bool is_heavy(Tiler *z, Stmt *s) {
    Stmt *around[MOST_INSIDE] = {s};
    return nest_is_plain(s) && !s->few && !tile_makes(z, s->args[0]) && has_matrix(z, s->body, 1, around);
}

static bool is_free(const Tiler *z, const Stmt *s) {
    bool op = s->kind == ST_OP && z->b.tree->temps.data[s->dst].kind == KIND_INT && op_info[s->op].cost <= 1;
    if (s->kind != ST_LIT && s->kind != ST_ARG && !op) return false;
    for (int k = 0; k < s->nargs; k++) {
        const Stmt *by = tile_def(z, s->args[k]);
        if (tile_makes(z, s->args[k]) && s->args[k] != z->loop->dst && !(by && is_free(z, by))) return false;
    }
    return true;
}

static bool has_temp(int n, const Temp *t, Temp x) {
    for (int i = 0; i < n; i++)
        if (t[i] == x) return true;
    return false;
}

// Loops that go over matrices are parts of their own; what is between them is one each. A cell is made where it is needed first.
static bool divide(Tiler *z) {
    bool heavy = false, open = false;
    z->parts = 0;
    for (int i = 0; i < z->n; i++) {
        Stmt *s = body_of(z)[i];
        if (z->of[i].stops) return false;
        for (int k = 0; s->kind == ST_NEW && k < s->buf->rank; k++)
            if (tile_makes(z, s->buf->extent[k])) return false;
        if (s->kind == ST_NEW || s->kind == ST_CELL) z->part[i] = GONE;
        else if (is_free(z, s)) z->part[i] = FREE;
        else if (is_heavy(z, s)) z->parts += open, z->part[i] = z->parts++, open = false, heavy = true;
        else z->part[i] = z->parts, open = true;
    }
    z->parts += open;
    for (int i = 0; i < z->n; i++)
        for (int k = i + 1; k < z->n && body_of(z)[i]->kind == ST_CELL && z->part[i] == GONE; k++)
            if (has_temp(z->of[k].gets.len, z->of[k].gets.data, body_of(z)[i]->dst) ||
                has_temp(z->of[k].sets.len, z->of[k].sets.data, body_of(z)[i]->dst))
                z->part[i] = z->part[k];
    return heavy;
}

static void survey(Tiler *z) {
    z->n = z->loop->body->stmts.len;
    z->part = ARENA_ARRAY(z->b.arena, int, z->n + 1), z->of = ARENA_ARRAY(z->b.arena, Effects, z->n + 1);
    for (int i = 0; i < z->n; i++) effects_add(&z->of[i], body_of(z)[i]);
}

static void forget(Tiler *z) {
    for (int i = 0; i < z->n; i++) effects_free(&z->of[i]);
}

static int maker(const Tiler *z, Temp t) {
    for (int i = 0; i < z->n; i++)
        if (body_of(z)[i]->dst == t && body_of(z)[i]->kind != ST_SET) return i;
    return -1;
}

// Does the statement use a cell that the body makes?
static bool uses_cell(const Tiler *z, int i) {
    for (int k = 0; k < z->of[i].gets.len; k++)
        if (maker(z, z->of[i].gets.data[k]) >= 0) return true;
    for (int k = 0; k < z->of[i].sets.len; k++)
        if (maker(z, z->of[i].sets.data[k]) >= 0) return true;
    return false;
}

// A loop that follows another over matrices, and needs of it what the same iteration has made, becomes part of that.
static bool join(Tiler *z) {
    for (int i = 0; i < z->n; i++) {
        int k = i + 1;
        while (k < z->n && z->part[k] == FREE) k++;
        if (k == z->n || z->part[i] < 0 || !is_heavy(z, body_of(z)[i])) continue;
        Stmt *a = body_of(z)[i], *b = body_of(z)[k];
        if (!nest_is_plain(b) || b->few || b->args[0] != a->args[0] || is_heavy(z, b) || uses_cell(z, k)) continue;
        if (effects_share_cells(&z->of[i], &z->of[k]) || !effects_apart(&z->of[i], a->dst, &z->of[k], b->dst)) continue;
        for (int f = i + 1; f < k; f++)
            if (has_temp(z->of[k].uses.len, z->of[k].uses.data, body_of(z)[f]->dst)) b = NULL, f = k;
        if (!b) continue;
        for (int n = 0; n < z->b.tree->bufs.len; n++)
            if (z->b.tree->bufs.data[n]->home == b->body) z->b.tree->bufs.data[n]->home = a->body;
        block_rename(b->body, b->dst, a->dst);
        for (int n = 0; n < b->body->stmts.len; n++) vec_push(&a->body->stmts, b->body->stmts.data[n]);
        block_delete(z->loop->body, k);
        return true;
    }
    return false;
}

// Does one part need a cell, or the value of a kind of which there are no arrays, of another? Notes other values.
static bool settle_scalars(Tiler *z) {
    for (int i = 0; i < z->n; i++)
        for (int k = 0; k < z->n; k++)
            if (z->part[i] != z->part[k] && effects_share_cells(&z->of[i], &z->of[k])) return false;
    for (int i = 0; i < z->n; i++)
        for (int k = 0; k < z->of[i].uses.len; k++) {
            Temp t = z->of[i].uses.data[k];
            int by = maker(z, t);
            Kind kind = z->b.tree->temps.data[t].kind;
            if (by < 0 || z->part[by] == FREE || z->part[by] == z->part[i] || body_of(z)[by]->kind == ST_FOR) continue;
            if (body_of(z)[by]->kind == ST_CELL || (kind != KIND_INT && !kind_is_float(kind))) return false;
            bool known = false;
            for (int w = 0; w < z->waiting.len; w++) known |= z->waiting.data[w].temp == t;
            if (!known) vec_push(&z->waiting, ((Waiting){.temp = t}));
        }
    return true;
}

static int parts_with(const Tiler *z, const Buf *b, int *any) {
    int n = 0;
    for (int part = 0; part < z->parts; part++) {
        bool has = false;
        for (int i = 0; i < z->n; i++)
            for (int k = 0; k < z->of[i].access.len && z->part[i] == part; k++) has |= z->of[i].access.data[k].buf == b;
        n += has;
        if (has) *any = part;
    }
    return n;
}

bool tile_has_whole(const Block *block, const Buf *b) {
    for (int i = 0; block && i < block->stmts.len; i++) {
        const Stmt *s = block->stmts.data[i];
        bool element = s->kind == ST_LOAD || s->kind == ST_STORE || s->kind == ST_ADDTO || s->kind == ST_NEW;
        if ((!element && (s->buf == b || s->src == b)) || tile_has_whole(s->body, b) || tile_has_whole(s->other, b)) return true;
    }
    return false;
}

static Stmt *heavy_loop(Tiler *z, int part) {
    for (int i = 0; i < z->n; i++)
        if (z->part[i] == part) return is_heavy(z, body_of(z)[i]) ? body_of(z)[i] : NULL;
    return NULL;
}

// Arrays that are new in an iteration: those of one part alone may stay so, unless it is one whose outer loop comes to stand
// outside.
static bool settle_arrays(Tiler *z) {
    for (int i = 0, n = z->b.tree->bufs.len; i < n; i++) {
        Buf *b = z->b.tree->bufs.data[i];
        int part = 0;
        if (b->home != z->loop->body) continue;
        int parts = parts_with(z, b, &part);
        for (int k = 0; k < b->rank; k++)
            if (tile_makes(z, b->extent[k])) return false;
        if (parts < 2 && !heavy_loop(z, part)) continue;
        if (b->rank + 1 > RANK_MAX || tile_has_whole(z->loop->body, b)) return false;
        vec_push(&z->wide, ((Widened){.from = b, .at = -1}));
    }
    return true;
}

// Rows of arrays from outside that heavy parts read, of which lanes had better have copies.
static bool is_row(const Tiler *z, const Stmt *s, int n, Stmt *const *around, int *at) {
    *at = -1;
    if (s->kind != ST_LOAD || s->buf->rank < 2 || iter_is_own(&z->m.it, s->buf)) return false;
    for (int d = 0; d < s->buf->rank; d++) {
        Temp t = stmt_index(s)[d];
        bool along = false;
        for (int i = 1; i < n; i++) along |= around[i]->dst == t;
        if (t == z->loop->dst && *at < 0) *at = d;
        else if (!along) return false;
    }
    for (int i = 0; i < z->m.it.outside.len; i++) // it is not changed
        if (z->m.it.outside.data[i]->buf == s->buf && z->m.it.outside.data[i]->kind != ST_LOAD) return false;
    return *at >= 0 && *at < s->buf->rank - 1;
}

static void find_rows(Tiler *z, const Block *b, int n, Stmt **around) {
    for (int i = 0; b && i < b->stmts.len; i++) {
        Stmt *s = b->stmts.data[i];
        int at;
        bool known = false;
        if (is_row(z, s, n, around, &at)) {
            for (int k = 0; k < z->wide.len; k++) known |= z->wide.data[k].from == s->buf && z->wide.data[k].at == at;
            if (!known) vec_push(&z->wide, ((Widened){.from = s->buf, .at = at}));
        }
        if (s->kind == ST_FOR && n < MOST_INSIDE) around[n] = s;
        find_rows(z, s->body, n + (s->kind == ST_FOR && n < MOST_INSIDE), around);
        find_rows(z, s->other, n, around);
    }
}

// ---- the parts

// Accesses to arrays of an iteration become those to arrays of a tile.
void tile_access_wide(Tiler *z, Block *b, Temp p, int n, Stmt **around, bool heavy) {
    for (int i = 0; b && i < b->stmts.len; i++) {
        Stmt *s = b->stmts.data[i];
        for (int k = 0; k < z->wide.len; k++) {
            const Widened *w = &z->wide.data[k];
            int at, values = s->kind == ST_LOAD ? 0 : 1, m = values;
            bool row = w->at >= 0;
            if (s->buf != w->from || s->kind == ST_NEW || (row && !(heavy && is_row(z, s, n, around, &at) && at == w->at)))
                continue;
            Temp *args = ARENA_ARRAY(z->b.arena, Temp, w->to->rank + 1);
            if (values) args[0] = s->args[0];
            for (int d = 0; d < w->from->rank; d++)
                if (d != w->at) args[m++] = s->args[values + d];
            args[m++] = p;
            s->args = args, s->nargs = m, s->buf = w->to;
            break;
        }
        if (s->kind == ST_FOR && n < MOST_INSIDE) around[n] = s;
        tile_access_wide(z, s->body, p, n + (s->kind == ST_FOR && n < MOST_INSIDE), around, heavy);
        tile_access_wide(z, s->other, p, n, around, heavy);
    }
}

static bool uses(const Block *b, Temp t) {
    for (int i = 0; b && i < b->stmts.len; i++) {
        const Stmt *s = b->stmts.data[i];
        for (int k = 0; k < s->nargs; k++)
            if (s->args[k] == t) return true;
        if (uses(s->body, t) || uses(s->other, t)) return true;
    }
    return false;
}

// Puts what the body needs of others at its beginning.
static void fill_needs(Tiler *z, Block *body, Temp p) {
    for (int k = 0; k < z->waiting.len; k++) {
        const Waiting *w = &z->waiting.data[k];
        bool made = false;
        for (int i = 0; i < body->stmts.len; i++) made |= body->stmts.data[i]->dst == w->temp;
        if (made) {
            build_store(&z->b, body, ST_STORE, w->buf, w->temp, &p);
        } else if (uses(body, w->temp)) {
            Block one = {0};
            Temp value = build_load(&z->b, &one, w->buf, &p);
            block_rename(body, w->temp, value);
            block_insert(body, 0, one.stmts.data[0]);
            vec_free(&one.stmts);
        }
    }
    for (int i = z->n; i-- > 0;) {
        const Stmt *s = body_of(z)[i];
        if (z->part[i] != FREE || !uses(body, s->dst)) continue;
        Stmt *copy = arena_copy(z->b.arena, s, sizeof *s);
        copy->args = arena_copy(z->b.arena, s->args, sizeof *s->args * (size_t)s->nargs);
        copy->dst = build_temp(&z->b, z->b.tree->temps.data[s->dst]);
        block_rename(body, s->dst, copy->dst);
        block_insert(body, 0, copy);
    }
    if (uses(body, z->loop->dst)) {
        Block one = {0};
        Temp i = build_int(&z->b, &one, OP_add, z->base, p);
        block_rename(body, z->loop->dst, i);
        block_insert(body, 0, one.stmts.data[0]);
        vec_free(&one.stmts);
    }
}

static void put_light(Tiler *z, int part) {
    Stmt *p = build_loop(&z->b, z->tile, z->loop->dst, z->count), *around[MOST_INSIDE];
    for (int i = 0; i < z->n; i++)
        if (z->part[i] == part) vec_push(&p->body->stmts, body_of(z)[i]);
    for (int i = 0; i < z->b.tree->bufs.len; i++) {
        Buf *b = z->b.tree->bufs.data[i];
        int at = -1;
        if (b->home == z->loop->body && parts_with(z, b, &at) == 1 && at == part) b->home = p->body;
    }
    tile_access_wide(z, p->body, p->dst, 0, around, false);
    fill_needs(z, p->body, p->dst);
}

static void put_heavy(Tiler *z, Stmt *c) {
    Stmt *around[MOST_INSIDE] = {c};
    Block *body = c->body;
    c->outer = true;
    c->body = ARENA_NEW(z->b.arena, Block);
    vec_push(&z->tile->stmts, c);
    Stmt *p = build_loop(&z->b, c->body, z->loop->dst, z->count);
    block_free(p->body);
    p->body = body; // arrays that are new in it still are
    tile_access_wide(z, body, p->dst, 1, around, true);
    fill_needs(z, body, p->dst);
    tile_split_products(z, c, p);
}

// ---- loops

static void put_rows(Tiler *z, const Widened *w) {
    Temp index[RANK_MAX], to[RANK_MAX];
    int n = 0;
    Stmt *p = build_loop(&z->b, z->tile, z->loop->dst, z->count);
    Block *body = p->body;
    Temp i = build_int(&z->b, body, OP_add, z->base, p->dst);
    for (int d = 0; d < w->from->rank; d++) {
        index[d] = i;
        if (d == w->at) continue;
        Stmt *s = build_loop(&z->b, body, z->loop->dst, w->from->extent[d]);
        z->b.tree->temps.data[s->dst].name = NULL;
        index[d] = to[n++] = s->dst, body = s->body;
    }
    to[n] = p->dst;
    build_store(&z->b, body, ST_STORE, w->to, build_load(&z->b, body, (Buf *)w->from, index), to);
}

static void put_wide(Tiler *z) {
    for (int k = 0; k < z->wide.len; k++) {
        Widened *w = &z->wide.data[k];
        Temp extent[RANK_MAX];
        int n = 0;
        for (int d = 0; d < w->from->rank; d++)
            if (d != w->at) extent[n++] = w->from->extent[d];
        w->to = tile_buf(z, z->tile, w->from->kind, n, extent);
        w->to->name = w->from->where == BUF_TEMP ? w->from->name : NULL;
        if (w->at >= 0) put_rows(z, w);
    }
    for (int k = 0; k < z->waiting.len; k++)
        z->waiting.data[k].buf = tile_buf(z, z->tile, z->b.tree->temps.data[z->waiting.data[k].temp].kind, 0, NULL);
}

static bool is_wide(const Tiler *z, const Buf *b) {
    for (int k = 0; k < z->wide.len; k++)
        if (z->wide.data[k].from == b) return true;
    return false;
}

// Do tiles pay? They do if matrices that are added to are not small, or if all of those that are read are more than the cache has
// room for. -1: that is known not to be so.
static Temp put_worth(Tiler *z, Block *to) {
    int64_t known, least = z->added ? LEAST : z->cache / kind_size(z->matrix->kind);
    Temp count = tile_count(z, to, z->matrix, z->added ? z->which : -1, &known);
    if (known >= 0 && known <= least) return -1;
    return build_op(&z->b, to, KIND_BOOL, OP_lt, build_literal(&z->b, to, KIND_INT, least), count);
}

// The loop as it is, for where tiles do not pay.
static void put_copy(Tiler *z, Block *to) {
    Stmt *copy = tree_clone_apart(z->b.arena, z->b.tree, z->loop, to);
    copy->small = z->added;
    vec_push(&to->stmts, copy);
    map_put(&z->seen, copy, copy);
}

static int tile_size(const Tiler *z) {
    bool much = false;
    for (int k = 0; k < z->wide.len; k++) much |= z->wide.data[k].at < 0 && z->wide.data[k].from->rank > 1;
    return much ? z->most : MORE * z->most;
}

static void build(Tiler *z, int at, Temp worth, const Block *condition) {
    Temp n = z->loop->args[0];
    Stmt *branch = tree_stmt(z->b.arena, ST_IF, -1, 1, &worth, z->loop->span);
    branch->body = ARENA_NEW(z->b.arena, Block), branch->other = ARENA_NEW(z->b.arena, Block);
    put_copy(z, branch->other);
    int size = tile_size(z);
    z->size = build_literal(&z->b, &z->before, KIND_INT, size);
    Temp up = build_int(&z->b, &z->before, OP_add, n, build_literal(&z->b, &z->before, KIND_INT, size - 1));
    Temp tiles = build_int(&z->b, &z->before, OP_idiv, up, z->size);
    Stmt *loop = build_loop(&z->b, branch->body, z->loop->dst, tiles);
    loop->outer = true;
    z->tile = loop->body;
    z->base = build_int(&z->b, z->tile, OP_mul, loop->dst, z->size);
    z->count = build_int(&z->b, z->tile, OP_min, build_int(&z->b, z->tile, OP_sub, n, z->base), z->size);
    put_wide(z);
    for (int i = 0; i < z->n; i++)
        if (body_of(z)[i]->kind == ST_NEW && !is_wide(z, body_of(z)[i]->buf)) vec_push(&z->before.stmts, body_of(z)[i]);
    for (int part = 0; part < z->parts; part++) {
        Stmt *c = heavy_loop(z, part);
        if (c) put_heavy(z, c);
        else put_light(z, part);
    }
    for (int i = 0; i < z->before.stmts.len; i++) block_insert(branch->body, i, z->before.stmts.data[i]);
    vec_free(&z->before.stmts);
    z->around->stmts.data[at] = branch;
    for (int i = 0; i < condition->stmts.len; i++) block_insert(z->around, at + i, condition->stmts.data[i]);
}

static void explain_tile(const Tiler *z) {
    const char *name = z->b.tree->temps.data[z->loop->dst].name;
    explain(z->b.tree->func->ir->explain, EXPLAIN_SCHEDULE, z->loop->span,
            "loop over `%s`: tiles of %d iterations, for each of which the matrices of loops inside are read once",
            name ? name : "i", tile_size(z));
}

// Do attributes say how the loops inside are to run?
static bool has_wishes(const Block *block) {
    for (int i = 0; block && i < block->stmts.len; i++) {
        const Stmt *s = block->stmts.data[i];
        if (s->wishes || has_wishes(s->body) || has_wishes(s->other)) return true;
    }
    return false;
}

static bool tile(Tiler *z, Block *block, int at) {
    if (map_get(&z->seen, block->stmts.data[at])) return false;
    z->loop = block->stmts.data[at], z->b.span = z->loop->span, z->around = block, z->n = z->loop->body->stmts.len;
    z->waiting.len = z->wide.len = 0, z->matrix = NULL, z->before = (Block){0};
    const Stmt *length = tile_def(z, z->loop->args[0]);
    Stmt *around[MOST_INSIDE];
    bool is_short = z->loop->few || (length && length->kind == ST_LIT && length->u.num < 2 * z->most);
    if (z->loop->outer || !nest_is_plain(z->loop) || has_wishes(z->loop->body) || is_short) return false;
    bool lanes = false;
    model_best(&z->m, z->loop, &lanes);
    if (!lanes) return false;
    if (!iter_look(&z->m.it, z->loop, true) || z->m.it.scans.len) return iter_forget(&z->m.it), false;
    survey(z);
    bool good = divide(z);
    while (good && join(z)) {
        forget(z), survey(z);
        good = iter_look(&z->m.it, z->loop, true) && divide(z);
    }
    good = good && settle_scalars(z) && settle_arrays(z);
    if (good) {
        for (int part = 0; part < z->parts; part++) {
            Stmt *c = around[0] = heavy_loop(z, part);
            if (c) find_rows(z, c->body, 1, around);
        }
        Block condition = {0};
        Temp worth = put_worth(z, &condition);
        good = worth >= 0 && tree_step(z->b.tree, z->loop);
        if (good) explain_tile(z), build(z, at, worth, &condition);
        vec_free(&condition.stmts);
    }
    forget(z);
    iter_forget(&z->m.it);
    return good;
}

static bool tile_all(Tiler *z, Block *block) {
    for (int i = 0; block && i < block->stmts.len; i++) {
        Stmt *s = block->stmts.data[i];
        if (s->outer || s->wishes) continue; // attributes come first
        if (s->kind == ST_FOR && tile(z, block, i)) return true;
        z->m.depth += s->kind == ST_FOR || s->kind == ST_LOOP;
        if (tile_all(z, s->body) || tile_all(z, s->other)) return true;
        z->m.depth -= s->kind == ST_FOR || s->kind == ST_LOOP;
    }
    return false;
}

void loops_tile(Arena *arena, Tree *tree, const LoopOptions *opt) {
    Map seen = {0};
    bool any = false;
    for (bool more = true; more;) {
        Tiler z = {.b = {.arena = arena, .tree = tree}, .known = tree->temps.len, .seen = seen};
        z.m = (Model){.machine = opt->machine,
                      .roots = opt->roots,
                      .shared = opt->shared,
                      .masks = opt->width >= LANES_MASKED,
                      .silent = true,
                      .always = opt->always};
        z.width = opt->width, z.most = opt->width < LONG ? TILE : TILE_OF_LONG;
        z.cache = (int64_t)opt->machine->cache;
        iter_init(&z.m.it, arena, tree, false);
        model_find_windows(&z.m);
        more = tile_all(&z, tree->body);
        any |= more;
        seen = z.seen;
        iter_free(&z.m.it);
        map_free(&z.m.windows), map_free(&z.m.rests);
        vec_free(&z.m.inner), vec_free(&z.m.taken), vec_free(&z.waiting), vec_free(&z.wide);
    }
    map_free(&seen);
    if (any) lower_remove_dead(arena, tree);
}
