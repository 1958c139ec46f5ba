// Prefix sums: an iteration adds once to a cell from outside the loop, and uses what this is before or after. That is no sum that
// lanes may have each for itself, but all lanes get what they need of it from few additions of vectors that are shifted. With
// --fp=fast the same is done where an iteration multiplies the cell, too: two steps s = a * s + b are one, with other a and b.
#include "lower/independent.h"
#include "lower/internal.h"

// How often the cell is read and set inside.
static int count(const Block *block, Temp cell) {
    int n = 0;
    for (int i = 0; block && i < block->stmts.len; i++) {
        const Stmt *s = block->stmts.data[i];
        n += (s->kind == ST_SET && s->dst == cell) + (s->kind == ST_GET && s->args[0] == cell);
        n += count(s->body, cell) + count(s->other, cell);
    }
    return n;
}

static int place_of(const Block *block, const Stmt *s) {
    for (int i = 0; i < block->stmts.len; i++)
        if (block->stmts.data[i] == s) return i;
    return -1;
}

static bool is_stored(const Block *block, const Buf *b) {
    for (int i = 0; block && i < block->stmts.len; i++) {
        const Stmt *s = block->stmts.data[i];
        if (stmt_writes(s, b) || is_stored(s->body, b) || is_stored(s->other, b)) return true;
    }
    return false;
}

// May a check before it be what it needs?
static bool needs_checks(const Stmt *s) {
    return s->kind == ST_LOAD || (s->kind == ST_OP && (s->op == OP_idiv || s->op == OP_irem));
}

static bool is_early_beside(const Iterations *p, Temp t, bool checked);

// May the checks before statement `at` be made early? That is only looked for, if `checked`, where they need nothing
// checked.
static bool checks_are_early(const Iterations *p, int at, bool checked) {
    for (int i = 0; i < at; i++) {
        const Stmt *s = p->loop->body->stmts.data[i];
        if (s->kind != ST_CHECK) continue;
        for (int k = 0; k < s->nargs; k++)
            if (!checked || !is_early_beside(p, s->args[k], false)) return false;
    }
    return true;
}

// Can t be computed at the beginning of an iteration, after the checks before it? Unless `checked`, there are to be
// none.
static bool is_early_beside(const Iterations *p, Temp t, bool checked) {
    const Stmt *s = p->def[t];
    if (p->made_in[t] != p->stamp || t == p->loop->dst) return true;
    int at = s ? place_of(p->loop->body, s) : -1;
    if (at < 0 || (needs_checks(s) && !checks_are_early(p, at, checked))) return false;
    bool pure = s->kind == ST_LIT || s->kind == ST_OP || s->kind == ST_CONV || s->kind == ST_SELECT;
    if (!pure && (s->kind != ST_LOAD || is_stored(p->loop->body, s->buf))) return false;
    for (int k = 0; k < s->nargs; k++)
        if (!is_early_beside(p, s->args[k], checked)) return false;
    return true;
}

static bool is_early(const Iterations *p, Temp t) { return is_early_beside(p, t, true); }

// What t is of the cell as it was, which is read where get says: nothing, it and a term, or a multiple of it and a term.
typedef enum Form { FORM_TERM, FORM_SUM, FORM_SCALED, FORM_OTHER } Form;

static Form form_of(const Iterations *p, Temp t, Temp get, int *steps) {
    const Stmt *s = p->def[t];
    if (t == get) return FORM_SUM;
    if (is_early(p, t)) return FORM_TERM;
    if (!s || s->kind != ST_OP || place_of(p->loop->body, s) < 0 || --*steps < 0) return FORM_OTHER;
    Form x = form_of(p, s->args[0], get, steps), y = s->nargs > 1 ? form_of(p, s->args[1], get, steps) : FORM_TERM;
    if (x == FORM_OTHER || y == FORM_OTHER) return FORM_OTHER;
    switch (s->op) {
    case OP_add: return x == FORM_TERM ? y : y == FORM_TERM ? x : FORM_SCALED;
    case OP_sub: return y == FORM_TERM ? x : FORM_SCALED;
    case OP_neg: return FORM_SCALED;
    case OP_mul: return x == FORM_TERM || y == FORM_TERM ? FORM_SCALED : FORM_OTHER;
    case OP_div: return y == FORM_TERM ? FORM_SCALED : FORM_OTHER;
    default: return FORM_OTHER;
    }
}

const Stmt *iter_scan_get(const Block *body, Temp cell) {
    for (int i = 0; i < body->stmts.len; i++)
        if (body->stmts.data[i]->kind == ST_GET && body->stmts.data[i]->args[0] == cell) return body->stmts.data[i];
    return NULL;
}

bool iter_is_scan(const Iterations *p, const Stmt *set) {
    enum { STEPS = 16 };
    const Block *body = p->loop->body;
    const Stmt *get = iter_scan_get(body, set->dst);
    Kind kind = iter_info(p, set->dst)->kind;
    Temp next = set->args[0];
    int steps = STEPS;
    if (!p->lanes || !get || kind == KIND_BOOL || (p->precise && kind_is_float(kind))) return false;
    if (place_of(body, set) < 0 || count(body, set->dst) != 2) return false;
    Form form = form_of(p, next, get->dst, &steps);
    if (form == FORM_SCALED) return p->fast && kind_is_float(kind);
    return form == FORM_SUM && next != get->dst && (p->uses[next] > 1 || p->uses[get->dst] > 1); // else it is a mere sum
}

// What terms and factors need comes first.
static void move_up(Iterations *p, Stmt **to, int *n, bool *moved, Temp t) {
    Stmt *s = p->def[t];
    int at = p->made_in[t] == p->stamp && t != p->loop->dst ? place_of(p->loop->body, s) : -1;
    if (at < 0 || moved[at]) return;
    for (int i = 0; needs_checks(s) && i < at; i++) {
        Stmt *check = p->loop->body->stmts.data[i];
        if (check->kind != ST_CHECK || moved[i]) continue;
        for (int k = 0; k < check->nargs; k++) move_up(p, to, n, moved, check->args[k]);
        moved[i] = true, to[(*n)++] = check;
    }
    for (int k = 0; k < s->nargs; k++) move_up(p, to, n, moved, s->args[k]);
    moved[at] = true, to[(*n)++] = s;
}

static void move_terms(Iterations *p, Stmt **to, int *n, bool *moved, Temp t, Temp get) {
    const Stmt *s = p->def[t];
    if (t == get) return;
    if (is_early(p, t)) move_up(p, to, n, moved, t);
    else
        for (int k = 0; k < s->nargs; k++) move_terms(p, to, n, moved, s->args[k], get);
}

void iter_settle_scans(Iterations *p) {
    Block *body = p->loop->body;
    int n = 0, len = body->stmts.len;
    Stmt **to = ARENA_ARRAY(p->arena, Stmt *, len + 1);
    bool *moved = ARENA_ARRAY(p->arena, bool, len + 1);
    for (int i = 0; i < p->scans.len; i++) {
        const Stmt *set = p->scans.data[i], *get = iter_scan_get(body, set->dst);
        move_terms(p, to, &n, moved, set->args[0], get->dst);
        iter_info(p, get->dst)->scanned = true;
    }
    for (int i = 0; p->scans.len && i < len; i++)
        if (!moved[i]) to[n++] = body->stmts.data[i];
    for (int i = 0; i < n; i++) body->stmts.data[i] = to[i];
}
