// The host's part of an entry: it computes what it knows, makes arrays, and starts kernels.
#include "cuda/print.h"

static void block(Code *c, const Block *b);

static void flush(Code *c) {
    int n = c->pending.len;
    Stmt **s = arena_copy(c->u->arena, c->pending.data, sizeof *s * (size_t)n);
    c->pending.len = 0, c->batch++;
    if (n) kernel_serial(c, n, s);
}

// Notes the cells that the statement reads.
static void wait_for(Code *c, const Stmt *s) {
    if (s->kind == ST_GET) c->u->waits[s->args[0]] = c->batch + 1;
    const Block *in[] = {s->body, s->other};
    for (int k = 0; k < 2; k++)
        for (int i = 0; in[k] && i < in[k]->stmts.len; i++) wait_for(c, in[k]->stmts.data[i]);
}

// Does the statement, of the host, change what one that waits is to read?
static bool changes(const Code *c, const Stmt *s) {
    bool any = s->kind == ST_SET && c->u->waits[s->dst] == c->batch + 1;
    const Block *in[] = {s->body, s->other};
    for (int k = 0; k < 2; k++)
        for (int i = 0; in[k] && i < in[k]->stmts.len; i++) any |= changes(c, in[k]->stmts.data[i]);
    return any;
}

void host_launch(Code *c, const char *kernel, const char *shape, const char *arguments) {
    c->u->nlaunches++;
    code_line(c, "FSM_LAUNCH(%s, %s, 0, call.stream(), %s);", kernel, shape, arguments);
}

void host_read(Code *c, Temp t) {
    Unit *u = c->u;
    if (!u->device[t] || u->read[t] || (u->def[t] && u->def[t]->kind == ST_LIT)) return;
    flush(c);
    u->asks = true;
    u->frame[unit_in_frame(u, t)] = u->read[t] = true;
    u->text[t] = NULL;
    const char *name = expr_temp(u, t);
    code_line(c, "const %s %s = call.read(&fsm_frame->%s);", cuda_type(unit_kind(u, t)), name, expr_temp(u, unit_in_frame(u, t)));
    code_line(c, "if (call.code()) return call.code();");
}

// What a branch or loop inside has read of the device is not known after it.
static void inside(Code *c, const Block *b) {
    Unit *u = c->u;
    int n = u->tree->temps.len;
    bool *before = arena_copy(u->arena, u->read, sizeof *before * (size_t)n);
    c->indent += 4;
    block(c, b);
    c->indent -= 4;
    memcpy(u->read, before, sizeof *before * (size_t)n);
}

static void new_array(Code *c, const Buf *b) {
    Unit *u = c->u;
    const char *type = cuda_element(b->kind), *name = expr_buf(u, b);
    if (map_get(&u->own, b)) return; // the grid makes it
    for (int k = 0; k < b->rank; k++) host_read(c, b->extent[k]);
    code_line(c, "%s *const %s = call.alloc<%s>(%s);", type, name, type, expr_count(u, b, NULL));
    code_line(c, "if (!%s) return call.code();", name);
}

// Filling or copying all of an array.
static void all_elements(Code *c, const Stmt *s) {
    Unit *u = c->u;
    const Buf *b = s->buf;
    for (int k = 0; k < b->rank; k++) host_read(c, b->extent[k]);
    const char *n = expr_count(u, b, NULL), *type = cuda_element(b->kind), *value;
    const char *shape = expr_text(u->arena, "fsm::shape(%s).blocks, fsm::BLOCK", n);
    if (s->src) {
        value = expr_buf(u, s->src);
        host_launch(c, expr_text(u->arena, "fsm::copy_array<%s>", type), shape,
                    expr_text(u->arena, "%s, %s, %s, %s", kernel_errors(u), expr_buf(u, b), value, n));
        return;
    }
    value = expr_temp(u, s->args[0]);
    value = expr_text(u->arena, "static_cast<%s>(%s)", type, value);
    host_launch(c, expr_text(u->arena, "fsm::fill_array<%s>", type), shape,
                expr_text(u->arena, "%s, %s, %s, %s", kernel_errors(u), expr_buf(u, b), n, value));
}

// A loop or branch with grids inside.
static void control(Code *c, Stmt *s) {
    Unit *u = c->u;
    for (int k = 0; k < s->nargs; k++) host_read(c, s->args[k]);
    bool folds = fold_print(c, s);
    if (folds) c->indent += 4;
    if (s->kind == ST_IF) {
        code_line(c, "if (%s) {", expr_temp(u, s->args[0]));
        if (s->body) inside(c, s->body);
        if (s->other && s->other->stmts.len) {
            code_line(c, "} else {");
            inside(c, s->other);
        }
    } else {
        code_loop_head(c, s);
        code_line(c, "    if (call.poll()) return call.code();");
        u->repeats = true;
        inside(c, s->body);
    }
    code_line(c, "}");
    if (!folds) return;
    c->indent -= 4;
    code_line(c, "}");
}

static bool fills_grid(const Unit *u, const Stmt *s) {
    if (place_on_host(u, s)) return false;
    return (s->kind == ST_COPY || (s->kind == ST_FILL && !u->device[s->args[0]])) && grid_is_large(u->def, s->buf);
}

static bool mentions(const Stmt *s, Temp cell) {
    bool any = s->kind == ST_SET && s->dst == cell;
    for (int k = 0; k < s->nargs; k++) any |= s->args[k] == cell;
    const Block *in[] = {s->body, s->other};
    for (int k = 0; k < 2; k++)
        for (int i = 0; in[k] && i < in[k]->stmts.len; i++) any |= mentions(in[k]->stmts.data[i], cell);
    return any;
}

// A sum that begins with a literal: the kernel that joins what threads have begins with it, and none is needed before.
static void take_first(Code *c, Temp cell) {
    int at = -1, others = 0;
    for (int i = 0; i < c->pending.len; i++) {
        const Stmt *s = c->pending.data[i];
        if (s->kind == ST_CELL && s->dst == cell && c->u->def[s->args[0]]->kind == ST_LIT) at = i;
        else others += mentions(s, cell);
    }
    if (at < 0 || others) return;
    c->u->first[cell] = expr_temp(c->u, c->pending.data[at]->args[0]);
    for (int i = at; i + 1 < c->pending.len; i++) c->pending.data[i] = c->pending.data[i + 1];
    c->pending.len--;
}

// Is what statement `at` of the block reads of a cell, which kernels have left in the frame, its value from then on?
static bool is_last(const Code *c, const Block *b, int at) {
    const Stmt *get = b->stmts.data[at];
    const Temp cell = get->kind == ST_GET ? get->args[0] : -1;
    if (cell < 0 || !c->u->device[cell] || !block_makes(b, cell)) return false;
    for (int i = 0; i < c->pending.len; i++)
        if (mentions(c->pending.data[i], cell)) return false; // a kernel does that, too
    for (int i = at + 1; i < b->stmts.len; i++)
        if (stmt_sets(b->stmts.data[i], cell)) return false;
    return true;
}

static void stmt(Code *c, const Block *b, int at, bool prologue) {
    Unit *u = c->u;
    Stmt *s = b->stmts.data[at];
    if (s->recurrence) {
        flush(c);
        recurrence_print(c, s);
    } else if (s->grid) {
        for (int i = 0; i < s->grid->nsums; i++) take_first(c, s->grid->cell[i]);
        flush(c);
        kernel_grid(c, s);
        for (int i = 0; i < s->grid->nsums; i++) u->first[s->grid->cell[i]] = NULL;
    } else if (place_has_grid(u, s)) {
        flush(c);
        control(c, s);
    } else if (s->kind == ST_NEW && !place_on_host(u, s)) {
        new_array(c, s->buf);
    } else if (fills_grid(u, s)) {
        flush(c);
        all_elements(c, s);
    } else if (s->kind == ST_BREAK) {
        host_read(c, s->args[0]);
        flush(c);
        code_line(c, "if (!%s) break;", expr_temp(u, s->args[0]));
    } else if (place_on_host(u, s)) {
        if (changes(c, s)) flush(c);
        bool told =
            prologue && (s->kind == ST_CHECK || (s->dst >= 0 && !u->later[s->dst] &&
                                                 (s->kind == ST_OP || s->kind == ST_CONV || s->kind == ST_SELECT))); // by `prepare`
        if (!told) code_stmt(c, s, NULL);
    } else if (!unit_is_dead(u, s) && is_last(c, b, at)) {
        u->alias[s->dst] = s->args[0] + 1, u->frame[s->args[0]] = true;
    } else if (!unit_is_dead(u, s)) {
        vec_push(&c->pending, s);
        wait_for(c, s);
    }
}

static bool has_new(const Unit *u, const Block *b) {
    for (int i = 0; i < b->stmts.len; i++)
        if (b->stmts.data[i]->kind == ST_NEW && !place_on_host(u, b->stmts.data[i]) && !map_get(&u->own, b->stmts.data[i]->buf))
            return true;
    return false;
}

static void block(Code *c, const Block *b) {
    bool mark = has_new(c->u, b);
    if (mark) code_line(c, "const auto fsm_before = call.mark();");
    for (int i = 0; i < b->stmts.len; i++) stmt(c, b, i, false);
    flush(c);
    if (mark) code_line(c, "call.release(fsm_before);");
}

void host_tree(Unit *u, Str *out) {
    Code c = {.u = u, .out = out, .indent = 4, .where = CODE_HOST};
    const Block *b = u->tree->body;
    for (int i = 0; i < b->stmts.len; i++) stmt(&c, b, i, i < u->tree->prologue);
    flush(&c);
    vec_free(&c.pending);
}
