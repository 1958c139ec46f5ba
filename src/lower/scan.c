// Prefix sums: an iteration adds once to a cell from outside the loop, and uses what this is before or after. That is no sum that
// lanes may have each for itself, but all lanes get what they need of it from few additions of vectors that are shifted.
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
        if ((s->buf == b && s->kind != ST_LOAD) || is_stored(s->body, b) || is_stored(s->other, b)) return true;
    }
    return false;
}

// Can t be computed at the beginning of an iteration?
static bool is_early(const Iterations *p, Temp t) {
    const Stmt *s = p->def[t];
    if (p->made_in[t] != p->stamp || t == p->loop->dst) return true;
    if (!s || place_of(p->loop->body, s) < 0) return false;
    bool pure = s->kind == ST_LIT || s->kind == ST_OP || s->kind == ST_CONV || s->kind == ST_SELECT;
    if (!pure && (s->kind != ST_LOAD || is_stored(p->loop->body, s->buf))) return false;
    for (int k = 0; k < s->nargs; k++)
        if (!is_early(p, s->args[k])) return false;
    return true;
}

Temp iter_scan_term(const Iterations *p, const Stmt *set, const Stmt **get) {
    const Stmt *sum = p->def[set->args[0]];
    if (!sum || sum->kind != ST_OP || sum->op != OP_add) return -1;
    for (int k = 0; k < 2; k++) {
        *get = p->def[sum->args[k]];
        if (*get && (*get)->kind == ST_GET && (*get)->args[0] == set->dst) return sum->args[!k];
    }
    return -1;
}

bool iter_is_scan(const Iterations *p, const Stmt *set) {
    const Stmt *get;
    const Block *body = p->loop->body;
    Kind kind = iter_info(p, set->dst)->kind;
    Temp term = iter_scan_term(p, set, &get), sum = set->args[0];
    if (!p->lanes || term < 0 || kind == KIND_BOOL || (p->precise && kind_is_float(kind))) return false;
    if (p->uses[sum] == 1 && p->uses[get->dst] == 1) return false; // a mere sum
    if (place_of(body, set) < 0 || place_of(body, get) < 0 || place_of(body, p->def[sum]) < 0) return false;
    return count(body, set->dst) == 2 && is_early(p, term);
}

// What the term needs comes first.
static void move_up(Iterations *p, Stmt **to, int *n, bool *moved, Temp t) {
    Stmt *s = p->def[t];
    int at = p->made_in[t] == p->stamp && t != p->loop->dst ? place_of(p->loop->body, s) : -1;
    if (at < 0 || moved[at]) return;
    for (int k = 0; k < s->nargs; k++) move_up(p, to, n, moved, s->args[k]);
    moved[at] = true, to[(*n)++] = s;
}

void iter_settle_scans(Iterations *p) {
    Block *body = p->loop->body;
    int n = 0, len = body->stmts.len;
    Stmt **to = ARENA_ARRAY(p->arena, Stmt *, len + 1);
    bool *moved = ARENA_ARRAY(p->arena, bool, len + 1);
    for (int i = 0; i < p->scans.len; i++) {
        const Stmt *set = p->scans.data[i], *get;
        move_up(p, to, &n, moved, iter_scan_term(p, set, &get));
        iter_info(p, get->dst)->scanned = true;
    }
    for (int i = 0; p->scans.len && i < len; i++)
        if (!moved[i]) to[n++] = body->stmts.data[i];
    for (int i = 0; i < n; i++) body->stmts.data[i] = to[i];
}
