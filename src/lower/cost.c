// The cost model of the schedule: how long a loop takes one iteration after the other, and several at once. Times are in additions;
// what is assumed of the machine is in machine.def, of operations in ops.def.
#include "lower/cost.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { LONG_BODY = 24, LONG_PLAIN = 200 }; // statements

// Is it a size less another?
static bool is_rest(const Model *p, Temp t, Linear *x) {
    bool more = false, less = false;
    linear_add(p->it.tree->temps.len, p->it.def, t, 1, x);
    for (int k = 0; k < x->n; k++) {
        const Stmt *s = p->it.def[x->t[k]];
        if (!s || s->kind != ST_ARG) return false;
        more |= x->by[k] > 0, less |= x->by[k] < 0;
    }
    return !x->fails && more && less;
}

static void find_windows(Model *p, const Block *block) {
    for (int i = 0; block && i < block->stmts.len; i++) {
        const Stmt *s = block->stmts.data[i];
        Linear x = {0};
        bool rest = s->kind == ST_FOR && is_rest(p, s->args[0], &x);
        if (rest) map_put(&p->rests, (void *)((intptr_t)s->args[0] + 1), p);
        for (int k = 0; rest && k < x.n; k++)
            if (x.by[k] < 0) map_put(&p->windows, (void *)((intptr_t)x.t[k] + 1), p);
        find_windows(p, s->body);
        find_windows(p, s->other);
    }
}

void model_find_windows(Model *p) { find_windows(p, p->it.tree->body); }

void model_more(Model *p, const Block *made) {
    iter_more(&p->it, made);
    find_windows(p, made);
}

double model_trips(const Model *p, const Stmt *s, bool outermost) {
    int64_t n;
    if (s->few) return 2;
    if (iter_literal(&p->it, s->args[0], &n)) return (double)(n > 0 ? n : 0);
    if (map_get(&p->windows, (void *)((intptr_t)s->args[0] + 1))) return p->machine->window;
    if (outermost) return p->machine->long_trips;
    return p->machine->short_trips * (map_get(&p->rests, (void *)((intptr_t)s->args[0] + 1)) ? p->machine->window : 1);
}

// Of an element of a vector whose elements are apart.
static double apart_cost(const Model *p, const Stmt *s) {
    return s->kind == ST_LOAD && p->gathers ? p->machine->gather : p->machine->move;
}

// Of an access, or of an addition, which is two.
static double move_cost(const Model *p, const Stmt *s, int vectors) {
    const Buf *b = s->buf;
    const Temp *index = stmt_index(s);
    int k = iter_apart(&p->it, b, index);
    double moves = s->kind == ST_ADDTO ? 2 : 1;
    const double across = p->across && s->kind == ST_ADDTO ? p->machine->reduce : 0;
    if (iter_all_agree(&p->it, b, index)) return (moves + across) / p->machine->lanes / vectors;
    for (int i = 0; i < p->loads; i++)
        if (p->load[i].move == s) return moves / p->machine->lanes + p->machine->row;
    for (int j = 0; j < b->rank; j++)
        if (j != k && iter_varies(&p->it, index[j])) return moves * apart_cost(p, s);
    if (iter_is_own(&p->it, b)) return moves * apart_cost(p, s);
    if (k == b->rank - 1 && iter_info(&p->it, index[k])->step == 1) return moves / p->machine->lanes;
    if (k == b->rank - 1 && iter_info(&p->it, index[k])->step == -1) return 2 * moves / p->machine->lanes; // turned round
    for (int i = 0; i < p->runs; i++)
        if (p->run[i].move == s && p->run[i].length > 1) return moves / p->machine->lanes + p->machine->row;
    bool again, row = lanes_row(p->it.loop, p->inner.len, p->inner.data, s, &again) >= 0;
    return row ? moves / p->machine->lanes + p->machine->row / (again ? p->machine->short_trips : 1) : moves * apart_cost(p, s);
}

double model_lanes(Model *p, const Block *block, int vectors) {
    const double lanes = p->machine->lanes;
    double sum = 0;
    for (int i = 0; block && i < block->stmts.len; i++) {
        Stmt *s = block->stmts.data[i];
        double cost = 1;
        switch (s->kind) {
        case ST_LIT: continue;
        case ST_OP:
            cost = machine_op(p->machine, s->op) / (!iter_varies(&p->it, s->dst) || op_info[s->op].lanes ? lanes : 1.0);
            break;
        case ST_LOAD:
        case ST_STORE:
        case ST_ADDTO: cost = move_cost(p, s, vectors); break;
        case ST_FOR:
            vec_push(&p->inner, s);
            cost = (model_trips(p, s, false) + (s->together ? lanes : 0)) *
                   (p->machine->trip / lanes / vectors + model_lanes(p, s->body, vectors));
            p->inner.len--;
            break;
        case ST_IF: cost = 1 / lanes + model_lanes(p, s->body, vectors) + model_lanes(p, s->other, vectors); break;
        case ST_CALL:
        case ST_EXTERN: cost = p->machine->call; break;
        default: cost = 1 / lanes; break;
        }
        sum += cost;
    }
    return sum;
}

// Elements of small structures, with fixed places in them, LLVM loads well.
static bool is_fixed_place(const Model *p, const Stmt *s, int from) {
    int64_t c;
    for (int k = from; k < s->buf->rank; k++)
        if (!iter_literal(&p->it, stmt_index(s)[k], &c) || !iter_literal(&p->it, s->buf->extent[k], &c)) return false;
    return true;
}

static bool is_access(const Stmt *s) { return s->kind == ST_LOAD || s->kind == ST_STORE || s->kind == ST_ADDTO; }

// Does the block write to one row of an array, and access another, which LLVM takes for the same?
static bool has_rows(const Block *block) {
    for (int i = 0; i < block->stmts.len; i++) {
        const Stmt *s = block->stmts.data[i];
        if (s->kind != ST_STORE && s->kind != ST_ADDTO) continue;
        for (int k = 0; k < block->stmts.len; k++) {
            const Stmt *o = block->stmts.data[k];
            bool other = is_access(o) && o->buf == s->buf;
            if (other && memcmp(stmt_index(o), stmt_index(s), sizeof(Temp) * (size_t)s->buf->rank)) return true;
        }
    }
    return false;
}

// Is t what a cell is made of what it was by a product? Then iterations wait for each other.
static bool multiplies(const Model *p, Temp t, Temp cell, bool product, int depth) {
    enum { DEEP = 6 };
    const Stmt *s = p->it.def[t];
    if (s && s->kind == ST_GET) return product && s->args[0] == cell;
    if (!s || s->kind != ST_OP || depth == DEEP) return false;
    product |= s->op == OP_mul || s->op == OP_div;
    if (!product && s->op != OP_add && s->op != OP_sub) return false;
    return multiplies(p, s->args[0], cell, product, depth + 1) ||
           (s->nargs > 1 && multiplies(p, s->args[1], cell, product, depth + 1));
}

// Is there nothing in it that LLVM would not turn into vectors by itself?
static bool is_plain(const Model *p, const Block *block, Temp index) {
    for (int i = 0; i < block->stmts.len; i++) {
        const Stmt *s = block->stmts.data[i];
        if (s->body || s->other || s->kind == ST_CHECK || stmt_calls(s) || s->kind == ST_BREAK) return false;
        if (s->kind == ST_OP && op_info[s->op].cost >= op_info[OP_exp].cost) return false;
        if (s->kind == ST_OP && s->op == OP_sqrt && p->roots) return false;
        if (s->kind == ST_OP && s->op == OP_div && p->shared && block_makes(block, s->args[1])) return false;
        if (s->kind == ST_SET && p->it.def[s->args[0]] && iter_is_extreme(p->it.def[s->args[0]])) return false;
        if (s->kind == ST_SET && (p->it.uses[s->args[0]] > 1 || multiplies(p, s->args[0], s->dst, false, 0))) return false;
        if (!is_access(s)) continue;
        const Temp *at = stmt_index(s);
        for (int k = 0; k < s->buf->rank - 1; k++)
            if (at[k] == index && !is_fixed_place(p, s, k + 1)) return false;
    }
    return block->stmts.len > LONG_PLAIN || !has_rows(block);
}

// Does it load elements of one array at several places?
static bool has_neighbours(const Block *block) {
    for (int i = 0; i < block->stmts.len; i++) {
        const Stmt *s = block->stmts.data[i];
        for (int k = 0; k < i && s->kind == ST_LOAD; k++)
            if (block->stmts.data[k]->kind == ST_LOAD && block->stmts.data[k]->buf == s->buf) return true;
    }
    return false;
}

bool model_adds(const Block *block) {
    for (int i = 0; i < block->stmts.len; i++)
        if (block->stmts.data[i]->kind == ST_SET || block->stmts.data[i]->kind == ST_ADDTO) return true;
    return false;
}

// Is a simple loop inside of others nothing but sums along rows? If masks are cheap, it has lanes: of what is left over of a row
// they make a vector or two, where LLVM's loops take it one by one, and iterations of the loop around may share it (jam.c). Loops
// of few iterations are written out.
static bool sums_rows(Model *p, Stmt *loop) {
    enum { LEAST = 16 };
    int64_t n;
    int sums = 0;
    if (!p->mask_registers || loop->few || loop->outer || map_get(&p->windows, (void *)((intptr_t)loop->args[0] + 1))) return false;
    if (iter_literal(&p->it, loop->args[0], &n) && n < LEAST) return false;
    bool rows = model_look(p, loop);
    for (int i = 0; rows && i < loop->body->stmts.len; i++) {
        const Stmt *s = loop->body->stmts.data[i];
        sums += s->kind == ST_SET;
        if (s->kind != ST_LOAD) {
            bool sum = s->kind == ST_SET && kind_is_float(iter_info(&p->it, s->dst)->kind);
            rows = sum || s->kind == ST_LIT || s->kind == ST_GET || (s->kind == ST_OP && op_info[s->op].lanes);
            continue;
        }
        const int last = s->buf->rank - 1, k = iter_apart(&p->it, s->buf, stmt_index(s));
        for (int j = 0; j < last; j++) rows &= !iter_varies(&p->it, stmt_index(s)[j]);
        rows &= iter_all_agree(&p->it, s->buf, stmt_index(s)) || (k == last && iter_info(&p->it, stmt_index(s)[k])->step == 1);
    }
    iter_forget(&p->it);
    return rows && sums;
}

// Is a simple loop that stands alone better left to LLVM? It does several vectors at a time, which sums need, but which is slower
// where moves are the limit. Of neighbours it loads those that are new and shifts vectors: that is good for moves, not for sums.
static bool is_llvms(const Block *block) { return model_adds(block) != has_neighbours(block); }

// Is a simple loop inside of others better left to LLVM, too? It makes several vectors of short ones at a time, and then does what
// is left one by one, but one vector of long ones. Sums, and additions to arrays, are its own to arrange (jam.c). Not so of a loop
// that iterations of the one around cannot share: with masks, what is left is one vector, and it may be all there is.
static bool is_short(const Block *block) {
    int n = 0;
    for (int i = 0; i < block->stmts.len; i++) {
        StmtKind k = block->stmts.data[i]->kind;
        if (k == ST_SET || k == ST_ADDTO) return true;
        n += k != ST_LIT;
    }
    return n < LONG_BODY;
}

// The least time of a block, its loops being treated as is best for each of them.
static double plain_cost(Model *p, const Block *block) {
    double sum = 0;
    for (int i = 0; block && i < block->stmts.len; i++) {
        Stmt *s = block->stmts.data[i];
        bool lanes;
        switch (s->kind) {
        case ST_LIT: break;
        case ST_OP: sum += machine_op(p->machine, s->op); break;
        case ST_CONV: sum += iter_info(&p->it, s->dst)->kind != KIND_INT32; break; // half of an Int's register
        case ST_ADDTO: sum += 2; break;
        case ST_FOR: sum += model_best(p, s, &lanes); break;
        case ST_LOOP: sum += p->machine->short_trips * plain_cost(p, s->body); break;
        case ST_IF: sum += 1 + p->machine->taken * (plain_cost(p, s->body) + plain_cost(p, s->other)); break;
        case ST_CALL:
        case ST_EXTERN: sum += p->machine->call; break;
        default: sum += 1; break;
        }
    }
    return sum;
}

bool model_wished(const Model *p, const Stmt *loop) { return map_get(&p->wished, loop); }

static bool has_wished(const Model *p, const Block *block) {
    for (int i = 0; p->wished.len && block && i < block->stmts.len; i++) {
        const Stmt *s = block->stmts.data[i];
        if (model_wished(p, s) || has_wished(p, s->body) || has_wished(p, s->other)) return true;
    }
    return false;
}

static bool long_enough(const Model *p, const Stmt *loop) {
    int64_t n;
    if (loop->few && !p->always && !model_wished(p, loop)) return false;
    return !iter_literal(&p->it, loop->args[0], &n) || n >= (p->always || model_wished(p, loop) ? 2 : p->machine->lanes);
}

bool model_look(Model *p, Stmt *loop) {
    if (!iter_look(&p->it, loop, true)) return false;
    p->runs = lanes_runs(p->it.arena, p->it.tree, loop, p->it.def, p->it.tree->temps.len, &p->run);
    p->loads = lanes_row_loads(p->it.arena, p->it.tree, loop, p->it.def, p->it.tree->temps.len, &p->load);
    return true;
}

// Has it a loop with lanes already, as tiles have?
static bool has_lanes(const Block *block) {
    for (int i = 0; block && i < block->stmts.len; i++) {
        const Stmt *s = block->stmts.data[i];
        if (s->lanes || has_lanes(s->body) || has_lanes(s->other)) return true;
    }
    return false;
}

// The time with lanes; DBL_MAX if it cannot have any. each: the time of an iteration without.
static double with_lanes(Model *p, Stmt *loop, double n, double each) {
    const Machine *m = p->machine;
    if (p->never || loop->outer || has_lanes(loop->body) || !long_enough(p, loop)) return DBL_MAX;
    double time = DBL_MAX, left = n < m->long_trips ? floor((m->lanes - 1) / 2) * each : 0; // over, done one by one
    if (model_look(p, loop)) {
        double one = 1 / m->lanes + model_lanes(p, loop->body, 1);
        time = n * one + (p->masks ? fmin(left, m->lanes * one) : left) + m->reduce * p->it.added.len + n * p->it.scans.len;
    }
    iter_forget(&p->it);
    return time;
}

// ---- what is said of it

static const char *name_of(const Model *p, const Stmt *loop) {
    const char *name = iter_info(&p->it, loop->dst)->name;
    return name ? name : "i";
}

// "0.5 without", or, where loops inside have lanes, "0.5 with lanes over `j` inside, 2 without any".
static const char *alternatives(Model *p, Stmt *loop, double plain) {
    Str s = {0};
    bool lanes;
    str_printf(&s, "%.3g with", plain);
    p->taken.len = 0, p->noting = true;
    plain_cost(p, loop->body);
    p->noting = false, p->never = true;
    for (int i = 0; i < p->taken.len; i++) {
        bool again = false;
        for (int k = 0; k < i; k++) again |= !strcmp(name_of(p, p->taken.data[k]), name_of(p, p->taken.data[i]));
        if (!again) str_printf(&s, "%s `%s`", i ? "," : " lanes over", name_of(p, p->taken.data[i]));
    }
    if (p->taken.len) str_printf(&s, " inside, %.3g without any", model_best(p, loop, &lanes));
    else str_puts(&s, "out");
    p->never = false;
    const char *text = arena_strdup(p->it.arena, str_text(&s));
    str_free(&s);
    return text;
}

static void explain_choice(Model *p, Stmt *loop, double plain, double laned, const char *attribute, bool lanes) {
    Explain *x = p->it.tree->func->ir->explain;
    if (p->silent || loop->few || loop->outer || !explain_wants(x, EXPLAIN_SCHEDULE)) return;
    const char *choice = lanes ? "several iterations at once" : "one iteration after the other", *name = name_of(p, loop);
    p->silent = true;
    if (attribute) explain(x, EXPLAIN_SCHEDULE, loop->span, "loop over `%s`: %s: `#[%s]` says so", name, choice, attribute);
    else if (laned == DBL_MAX) explain(x, EXPLAIN_SCHEDULE, loop->span, "loop over `%s`: %s: it cannot have lanes", name, choice);
    else
        explain(x, EXPLAIN_SCHEDULE, loop->span, "loop over `%s`: %s: about %.3g with lanes, %s", name, choice, laned,
                alternatives(p, loop, plain));
    p->silent = false;
}

static void explain_rows(const Model *p, const Stmt *loop) {
    Explain *x = p->it.tree->func->ir->explain;
    if (!p->silent && explain_wants(x, EXPLAIN_SCHEDULE))
        explain(x, EXPLAIN_SCHEDULE, loop->span, "loop over `%s`: several iterations at once: it adds up rows", name_of(p, loop));
}

double model_best(Model *p, Stmt *loop, bool *lanes) {
    bool outermost = p->depth++ == 0, wished = model_wished(p, loop), simple = !wished && is_plain(p, loop->body, loop->dst);
    const char *attribute = wished || has_wished(p, loop->body) ? "lane" : stmt_wish(loop, WISH_sequential) ? "sequential" : NULL;
    bool silent = p->silent, chained = p->chained && p->masks;
    p->silent = true, p->chained = false;
    double n = model_trips(p, loop, outermost), each = 1 + plain_cost(p, loop->body), laned = DBL_MAX;
    bool far = outermost || map_get(&p->rests, (void *)((intptr_t)loop->args[0] + 1));
    double plain = n * each / (!simple ? 1 : far ? p->machine->plain_long : p->machine->plain_short);
    p->silent = silent;
    p->depth--;
    bool alone = simple && (outermost ? is_llvms(loop->body) : !chained && is_short(loop->body));
    if (wished || (!attribute && (p->always || !alone))) laned = with_lanes(p, loop, n, each);
    *lanes = p->always || wished ? laned < DBL_MAX : laned * p->machine->worth < plain;
    if (!alone || attribute) explain_choice(p, loop, plain, laned, attribute, *lanes);
    if (!*lanes && !attribute && simple && !outermost && !p->never && sums_rows(p, loop)) {
        map_put(&p->rows, loop, loop);
        explain_rows(p, loop);
        return *lanes = true, plain;
    }
    if (*lanes && p->noting) vec_push(&p->taken, loop);
    return *lanes ? laned : plain;
}
