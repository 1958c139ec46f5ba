// What narrow.c has found is written: which directions may give what is not zero, before the loop over them, and a loop
// over these.
#include "lower/narrow.h"

// ---- what is computed before a loop

static Temp copy_of(const Narrower *z, Temp t) {
    intptr_t c = (intptr_t)map_get(&z->copies, (void *)((intptr_t)t + 1));
    return c ? (Temp)(c - 1) : t;
}

static void put_copy(Narrower *z, Temp t, Temp copy) {
    map_put(&z->copies, (void *)((intptr_t)t + 1), (void *)((intptr_t)copy + 1));
}

static bool is_block_atom(const Narrower *z, const Stmt *s) {
    for (int i = 0; i < z->atoms.len; i++)
        if (z->atoms.data[i].kind == AT_BLOCK && z->atoms.data[i].in == s && z->atoms.data[i].cells[0] >= 0) return true;
    return false;
}

static void need(Narrower *z, Temp t) {
    z->changed |= !z->needed[t];
    z->needed[t] = true;
}

static void need_support(Narrower *z, const Support *s) {
    for (int k = 0; k < s->n; k++) {
        Atom *a = &z->atoms.data[s->atom[k]];
        for (int j = 0; a->kind == AT_ROW && j < a->load->nargs; j++) need(z, a->load->args[j]);
        for (int j = 0; a->kind == AT_POINT && j < a->is.n; j++) need(z, a->is.t[j]);
        if (a->kind == AT_WHERE) need(z, a->cond);
        if (a->kind == AT_BLOCK) a->cells[0] = 0;
        if (a->kind == AT_WHERE || a->kind == AT_BLOCK) need_support(z, &a->of);
    }
}

// Is the statement to be copied? Then what it needs is, too.
static bool is_wanted(Narrower *z, const Stmt *s) {
    bool wanted = s->kind == ST_CHECK || is_block_atom(z, s);
    if (s->dst >= 0 && s->kind != ST_FOR) wanted |= z->needed[s->dst];
    for (int i = 0; s->body && i < s->body->stmts.len; i++) wanted |= is_wanted(z, s->body->stmts.data[i]);
    for (int i = 0; s->other && i < s->other->stmts.len; i++) wanted |= is_wanted(z, s->other->stmts.data[i]);
    for (int k = 0; wanted && k < s->nargs; k++) need(z, s->args[k]);
    return wanted;
}

static Temp number(Narrower *z, Block *to, int64_t n) { return build_literal(&z->b, to, KIND_INT, n); }

static Temp pick(Narrower *z, Block *to, Temp cond, Temp a, Temp b) {
    return build_stmt(&z->b, to, ST_SELECT, build_temp(&z->b, (TempInfo){.kind = KIND_INT}), 3, (Temp[]){cond, a, b})->dst;
}

static Temp get(Narrower *z, Block *to, Temp cell) {
    return build_stmt(&z->b, to, ST_GET, build_temp(&z->b, (TempInfo){.kind = KIND_INT}), 1, &cell)->dst;
}

static void eval(Narrower *z, Block *to, const Support *s, Temp out[2]);

// The direction in which the sum is zero: how many blocks from it to the end, and from the start to it; 0 if there is
// no such direction.
static void eval_point(Narrower *z, Block *to, const Atom *a, Temp out[2]) {
    const Sweep *w = z->now;
    int64_t sign = 0;
    for (int k = 0; k < a->is.n; k++)
        if (a->is.t[k] == w->loop->dst) sign = -a->is.by[k];
    Temp at = number(z, to, sign * a->is.plus), zero = number(z, to, 0);
    for (int k = 0; k < a->is.n; k++) {
        if (a->is.t[k] == w->loop->dst || !a->is.by[k]) continue;
        int64_t by = sign * a->is.by[k];
        Temp t = copy_of(z, a->is.t[k]);
        if (by != 1 && by != -1) t = build_int(&z->b, to, OP_mul, number(z, to, by), t);
        at = build_int(&z->b, to, by == -1 ? OP_sub : OP_add, at, t);
    }
    Temp from = build_op(&z->b, to, KIND_BOOL, OP_le, zero, at),
         below = build_op(&z->b, to, KIND_BOOL, OP_lt, at, number(z, to, w->count));
    Temp is = build_op(&z->b, to, KIND_BOOL, OP_and, from, below),
         block = build_int(&z->b, to, OP_idiv, at, number(z, to, w->lanes));
    Temp end[2] = {build_int(&z->b, to, OP_sub, number(z, to, w->blocks), block),
                   build_int(&z->b, to, OP_add, block, number(z, to, 1))};
    for (int k = 0; k < 2; k++) out[k] = pick(z, to, is, end[k], zero);
}

static void row_index(const Narrower *z, const Wide *w, const Stmt *s, Temp end, Temp *index) {
    int n = 0;
    for (int k = 0; k < s->buf->rank; k++)
        if (narrow_is_row(z, w, k)) index[n++] = copy_of(z, stmt_index(s)[k]);
    index[n] = end;
}

static void eval_atom(Narrower *z, Block *to, const Atom *a, Temp out[2]) {
    switch (a->kind) {
    case AT_ROW:
        for (int k = 0; k < 2; k++) {
            Temp index[RANK_MAX + 1];
            const Wide *w = narrow_wide(z, a->load->buf);
            row_index(z, w, a->load, number(z, to, k), index);
            out[k] = build_load(&z->b, to, w->kept, index);
        }
        break;
    case AT_POINT: eval_point(z, to, a, out); break;
    case AT_WHERE: {
        Temp cond = copy_of(z, a->cond), zero = number(z, to, 0);
        eval(z, to, &a->of, out);
        for (int k = 0; k < 2; k++) out[k] = a->unless ? pick(z, to, cond, zero, out[k]) : pick(z, to, cond, out[k], zero);
        break;
    }
    default:
        for (int k = 0; k < 2; k++) out[k] = get(z, to, a->cells[k]);
    }
}

// The hull of the atoms: how many blocks from the first to the end, and from the start to the last one; both 0 if there
// is none.
static void eval(Narrower *z, Block *to, const Support *s, Temp out[2]) {
    for (int i = 0; i < s->n; i++) {
        Temp one[2];
        Atom a = z->atoms.data[s->atom[i]];
        eval_atom(z, to, &a, one);
        for (int k = 0; k < 2; k++) out[k] = i ? build_int(&z->b, to, OP_max, out[k], one[k]) : one[k];
    }
}

static void end_block(Narrower *z, Block *to, const Stmt *s, bool unless) {
    for (int i = 0; i < z->atoms.len; i++) {
        Atom a = z->atoms.data[i];
        Temp out[2];
        if (a.kind != AT_BLOCK || a.in != s || a.unless != unless || a.cells[0] < 0) continue;
        eval(z, to, &a.of, out);
        for (int k = 0; k < 2; k++) {
            Temp most = build_int(&z->b, to, OP_max, get(z, to, a.cells[k]), out[k]);
            build_stmt(&z->b, to, ST_SET, a.cells[k], 1, &most);
        }
    }
}

static void copy_block(Narrower *z, const Block *from, Block *to) {
    for (int i = 0; from && i < from->stmts.len; i++) {
        const Stmt *s = from->stmts.data[i];
        if (!is_wanted(z, s)) continue;
        Stmt *copy = arena_copy(z->b.arena, s, sizeof *s);
        copy->args = arena_copy(z->b.arena, s->args, sizeof *s->args * (size_t)(s->nargs + 1));
        for (int k = 0; k < s->nargs; k++) copy->args[k] = copy_of(z, s->args[k]);
        if (s->kind == ST_SET) copy->dst = copy_of(z, s->dst);
        else if (s->dst >= 0) {
            copy->dst = build_temp(&z->b, z->b.tree->temps.data[s->dst]);
            put_copy(z, s->dst, copy->dst);
        }
        copy->few = s->kind == ST_FOR; // it finds out about others, and has no lanes
        vec_push(&to->stmts, copy);
        if (s->body) copy_block(z, s->body, copy->body = ARENA_NEW(z->b.arena, Block)), end_block(z, copy->body, s, false);
        if (s->other) copy_block(z, s->other, copy->other = ARENA_NEW(z->b.arena, Block)), end_block(z, copy->other, s, true);
    }
}

static void remove_checks(Block *block) {
    for (int i = 0; block && i < block->stmts.len; i++) {
        Stmt *s = block->stmts.data[i];
        if (s->kind == ST_CHECK) block_delete(block, i--);
        remove_checks(s->body);
        remove_checks(s->other);
    }
}

// What is checked in the loop, and the hull.
static void build_before(Narrower *z, Block *to, Temp out[2]) {
    Sweep *w = z->now;
    z->needed = ARENA_ARRAY(z->b.arena, bool, z->b.tree->temps.len + 1);
    for (int i = 0; i < z->atoms.len; i++) z->atoms.data[i].cells[0] = -1;
    need_support(z, &w->hull);
    for (int i = 0; i < w->stores.len; i++)
        for (int k = 1; k < w->stores.data[i]->nargs; k++) need(z, w->stores.data[i]->args[k]);
    z->needed[w->loop->dst] = false;
    do {
        z->changed = false;
        for (int i = 0; i < w->loop->body->stmts.len; i++) is_wanted(z, w->loop->body->stmts.data[i]);
    } while (z->changed);
    for (int i = 0; i < z->atoms.len; i++) {
        Atom *a = &z->atoms.data[i];
        if (a->kind != AT_BLOCK || a->cells[0] < 0) continue;
        Temp zero = number(z, to, 0);
        for (int k = 0; k < 2; k++)
            a->cells[k] =
                build_stmt(&z->b, to, ST_CELL, build_temp(&z->b, (TempInfo){.kind = KIND_INT, .cell = true}), 1, &zero)->dst;
    }
    copy_block(z, w->loop->body, to);
    eval(z, to, &w->hull, out);
    remove_checks(w->loop->body);
}

// ---- the loops

static bool is_exactly_read(const Narrower *z, const Buf *b) {
    const Wide *a = narrow_wide(z, b);
    return a && !a->fails && a->exact;
}

// Zeros in the place of what the block stores outside, but what nobody reads.
static void store_zeros(Narrower *z, Block *to, const Block *from) {
    for (int i = 0; i < from->stmts.len; i++) {
        const Stmt *s = from->stmts.data[i];
        Temp index[RANK_MAX];
        int64_t count;
        if (s->kind == ST_FOR && iter_literal(&z->it, s->args[0], &count)) {
            Stmt *loop = build_loop(&z->b, to, s->dst, number(z, to, count));
            put_copy(z, s->dst, loop->dst);
            store_zeros(z, loop->body, s->body);
            if (!loop->body->stmts.len) to->stmts.len -= 2;
        }
        if (s->kind != ST_STORE || !narrow_stores_to(z->now, s->buf) || is_exactly_read(z, s->buf)) continue;
        for (int k = 0; k < s->buf->rank; k++) index[k] = copy_of(z, s->args[1 + k]);
        build_store(&z->b, to, ST_STORE, s->buf, build_literal(&z->b, to, s->buf->kind, 0), index);
    }
}

static bool has_arm(const Block *block, const Block *arm) {
    bool has = block && block == arm;
    for (int i = 0; block && i < block->stmts.len && !has; i++)
        has = block->stmts.data[i]->kind == ST_IF &&
              (has_arm(block->stmts.data[i]->body, arm) || has_arm(block->stmts.data[i]->other, arm));
    return has;
}

// How often the array is named in the block, but for what runs instead of the block `arm` in it.
static int accesses_with(const Block *block, const Block *arm, const Buf *b) {
    int n = 0;
    for (int i = 0; i < block->stmts.len; i++) {
        const Stmt *s = block->stmts.data[i];
        const Block *in = s->kind != ST_IF ? NULL : has_arm(s->body, arm) ? s->body : has_arm(s->other, arm) ? s->other : NULL;
        n += in ? accesses_with(in, arm, b) : stmt_accesses(s, b);
    }
    return n;
}

static bool is_moved(const Block *block, const Buf *b) {
    for (int i = 0; i < block->stmts.len; i++)
        if (block->stmts.data[i]->kind == ST_MOVE && block->stmts.data[i]->src == b) return true;
    return false;
}

// Does nothing else write to the array, and nothing read it here? A part of an array is moved there afterwards.
static bool is_alone(const Narrower *z, const Buf *b) {
    const Sweep *w = z->now;
    if (b->where == BUF_OUTPUT) return accesses_with(z->b.tree->body, w->outermost, b) == w->stores.len;
    return b->home && is_moved(b->home, b) && block_accesses(z->b.tree->body, b) == w->stores.len + 1;
}

// The outermost of the loops around in which the array is not new each time; *block has it.
static int first_around(const Narrower *z, const Buf *b, Block **block) {
    const Sweep *w = z->now;
    int first = 0;
    *block = w->outermost;
    for (int k = 0; k < w->around.len && b->where == BUF_TEMP; k++)
        if (w->around.data[k]->body == b->home) first = k + 1, *block = w->around.data[k]->body;
    return first;
}

static int find_stmt(const Block *block, const Stmt *s) {
    int at = 0;
    while (at < block->stmts.len && block->stmts.data[at] != s) at++;
    return at;
}

// Zeros in a matrix of columns take long if each row stores its own. The array if the loop stores one only, where each
// row is stored once, and by nothing else.
static Buf *find_columns(const Narrower *z) {
    const Sweep *w = z->now;
    Buf *b = w->stores.data[0]->buf;
    Block *block;
    int first = first_around(z, b, &block);
    for (int i = 0; i < w->stores.len; i++) {
        const Stmt *s = w->stores.data[i];
        if (s->buf != b || narrow_dimension(s, w->loop->dst) == b->rank - 1) return NULL;
        for (int k = first; k < w->around.len; k++)
            if (w->around.data[k]->kind != ST_FOR || narrow_dimension(s, w->around.data[k]->dst) < 0) return NULL;
    }
    bool there = first < w->around.len && find_stmt(block, w->around.data[first]) < block->stmts.len;
    return there && is_alone(z, b) ? b : NULL;
}

static void insert_before(Block *block, const Stmt *s, Block *what) {
    int at = find_stmt(block, s);
    for (int i = 0; i < what->stmts.len; i++) block_insert(block, at + i, what->stmts.data[i]);
    vec_free(&what->stmts);
}

static void put_fill(Narrower *z, Block *to, Buf *b) {
    Temp zero = build_literal(&z->b, to, b->kind, 0);
    build_stmt(&z->b, to, ST_FILL, -1, 1, &zero)->buf = b;
}

// Where the array of columns fits the cache, as parts of one do, it is zero before the loops around. Whether it is not; -1: it is.
static Temp fill_columns(Narrower *z, Buf *b) {
    const Sweep *w = z->now;
    Block *out, before = {0};
    const Stmt *first = w->around.data[first_around(z, b, &out)];
    if (b->where == BUF_TEMP) {
        put_fill(z, &before, b);
        insert_before(out, first, &before);
        return -1;
    }
    Temp size = number(z, &before, (int64_t)kind_size(b->kind));
    for (int k = 0; k < b->rank; k++) size = build_int(&z->b, &before, OP_mul, size, b->extent[k]);
    Temp fits = build_op(&z->b, &before, KIND_BOOL, OP_le, size, number(z, &before, (int64_t)z->opt->machine->cache));
    Stmt *fill = build_if(&z->b, &before, fits, false);
    put_fill(z, fill->body, b);
    Temp rest = build_op(&z->b, &before, KIND_BOOL, OP_not, fits, -1);
    insert_before(out, first, &before);
    return rest;
}

// A loop over the iterations of a block, as lanes; *k: the index of that over all.
static Stmt *build_lanes(Narrower *z, Block *to, const Stmt *blocks, Temp *k) {
    const Sweep *w = z->now;
    Temp lanes = number(z, to, w->lanes), from = build_int(&z->b, to, OP_mul, lanes, blocks->dst);
    if (w->count % w->lanes)
        lanes = build_int(&z->b, to, OP_min, lanes, build_int(&z->b, to, OP_sub, number(z, to, w->count), from));
    Stmt *loop = build_loop(&z->b, to, w->loop->dst, lanes);
    loop->lanes = 1;
    *k = build_int(&z->b, loop->body, OP_add, from, loop->dst);
    return loop;
}

static Stmt *build_blocks(Narrower *z, Block *to, Temp from, Temp end) {
    Stmt *blocks = build_loop_named(&z->b, to, "block", end);
    blocks->args = arena_copy(z->b.arena, (Temp[]){end, from}, 2 * sizeof(Temp)), blocks->nargs = 2;
    return blocks;
}

static void build_zeros(Narrower *z, Block *to, Temp from, Temp end) {
    Temp k;
    Stmt *blocks = build_blocks(z, to, from, end);
    Block *body = build_lanes(z, blocks->body, blocks, &k)->body;
    put_copy(z, z->now->loop->dst, k);
    store_zeros(z, body, z->now->loop->body);
}

static bool reads_stored(const Sweep *w, const Block *body) {
    for (int i = 0; i < w->stores.len; i++)
        if (narrow_loads(body, w->stores.data[i]->buf)) return true;
    return false;
}

// The loop over the blocks of the hull, in each of which the iterations are lanes, and zeros in the others: in all if
// the loop reads nothing of what it stores. If it does, an iteration reads what is at its own index, of whichever row.
static void build_narrow(Narrower *z, Block *to, const Temp hull[2], Stmt *loop) {
    const Sweep *w = z->now;
    Buf *columns = find_columns(z);
    bool zeros = false;
    Temp zero = number(z, to, 0), all = number(z, to, w->blocks), first = build_int(&z->b, to, OP_sub, all, hull[0]), k;
    for (int i = 0; i < w->stores.len; i++) zeros |= !is_exactly_read(z, w->stores.data[i]->buf);
    if (columns) {
        Temp rest = fill_columns(z, columns);
        if (rest >= 0) build_zeros(z, build_if(&z->b, to, rest, false)->body, zero, all);
    } else if (zeros && !reads_stored(w, loop->body)) {
        build_zeros(z, to, zero, all);
    } else if (zeros) {
        build_zeros(z, to, zero, first);
        build_zeros(z, to, hull[1], all);
    }
    Stmt *blocks = build_blocks(z, to, first, hull[1]);
    Stmt *lanes = build_lanes(z, blocks->body, blocks, &k);
    block_rename(loop->body, loop->dst, k);
    block_insert(loop->body, 0, lanes->body->stmts.data[0]);
    lanes->body = loop->body; // the home of arrays that are new in each iteration
}

// The hull is kept for the rows that the loop stores.
static void keep(Narrower *z, Block *to, const Temp hull[2]) {
    for (int i = 0; i < z->wide.len; i++) {
        const Wide *a = z->wide.data[i];
        if (a->by != z->now || !a->kept) continue;
        for (int k = 0; k < 2; k++) {
            Temp index[RANK_MAX + 1];
            row_index(z, a, a->store, number(z, to, k), index);
            build_store(&z->b, to, ST_STORE, a->kept, hull[k], index);
        }
    }
}

// The loop over few directions, or over all.
static void choose(Narrower *z, Block *to, const Temp hull[2]) {
    Sweep *w = z->now;
    Temp both = build_int(&z->b, to, OP_add, hull[0], hull[1]), most = number(z, to, w->blocks + w->blocks / 2);
    Stmt *few = build_if(&z->b, to, build_op(&z->b, to, KIND_BOOL, OP_le, both, most), true);
    Block news = {0};
    Stmt *copy = tree_clone_apart(z->b.arena, z->b.tree, w->loop, &news);
    for (int i = news.stmts.len; i-- > 0;) block_insert(to, 0, news.stmts.data[i]);
    vec_free(&news.stmts);
    build_narrow(z, few->body, hull, copy);
    vec_push(&few->other->stmts, w->loop);
    const char *name = z->b.tree->temps.data[w->loop->dst].name;
    explain(z->b.tree->func->ir->explain, EXPLAIN_SCHEDULE, w->loop->span,
            "loop over `%s`: where few of its iterations may give what is not zero, only those are done", name ? name : "i");
}

void narrow_loop(Narrower *z, Sweep *w) {
    Block *out = ARENA_NEW(z->b.arena, Block), *block = w->block;
    Temp hull[2];
    int at = 0;
    z->now = w, z->b.span = w->loop->span;
    build_before(z, out, hull);
    keep(z, out, hull);
    if (w->worth) choose(z, out, hull);
    else vec_push(&out->stmts, w->loop);
    while (block->stmts.data[at] != w->loop) at++;
    block->stmts.data[at] = out->stmts.data[0];
    for (int i = 1; i < out->stmts.len; i++) block_insert(block, at + i, out->stmts.data[i]);
    vec_free(&out->stmts);
    map_free(&z->copies);
    z->copies = (Map){0};
}

void narrow_keep(Narrower *z, Block *block) {
    for (int i = 0; block && i < block->stmts.len; i++) {
        Stmt *s = block->stmts.data[i];
        Wide *a = s->kind == ST_NEW ? narrow_wide(z, s->buf) : NULL;
        narrow_keep(z, s->body);
        narrow_keep(z, s->other);
        if (!a || !a->asked) continue;
        Block made = {0};
        Temp extent[RANK_MAX + 1];
        int n = 0;
        for (int k = 0; k < a->buf->rank; k++)
            if (narrow_is_row(z, a, k)) extent[n++] = a->buf->extent[k];
        extent[n++] = number(z, &made, 2);
        a->kept = build_buf(&z->b, &made, a->buf->home, KIND_INT, n, extent);
        Temp zero = number(z, &made, 0);
        build_stmt(&z->b, &made, ST_FILL, -1, 1, &zero)->buf = a->kept;
        for (int k = 0; k < made.stmts.len; k++) block_insert(block, ++i, made.stmts.data[k]);
        vec_free(&made.stmts);
    }
}
