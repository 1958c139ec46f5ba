// Marks of statements in the text of loop trees: the rows of tree_marks.def.
#include "lower/tree_read_internal.h"

#include <limits.h>
#include <string.h>

// ---- values

static int64_t number(TreeReader *z, int64_t low, int64_t high) {
    Span at = z->r->at;
    int64_t n = read_integer(z->r, "a number");
    if (n < low || n > high) read_error(z->r, at, "expected a number from %lld to %lld", (long long)low, (long long)high);
    return n;
}

static Buf **bufs(TreeReader *z, int *n) {
    Buf *list[MAX_LIST];
    read_expect(z->r, '[');
    for (*n = 0; !read_is(z->r, ']');) {
        if (*n == MAX_LIST) read_error(z->r, z->r->at, "too many operands");
        list[(*n)++] = tree_read_buf(z);
        if (!read_is(z->r, ']')) read_expect(z->r, ',');
    }
    read_next(z->r);
    return arena_copy(z->arena, list, sizeof *list * (size_t)(*n + 1));
}

// They may be made later: copies of statements name what belongs to the original.
static Temp *temps(TreeReader *z, int *n) {
    Name *list[MAX_LIST];
    *n = tree_read_later(z, list);
    Temp *to = ARENA_ARRAY(z->arena, Temp, *n + 1);
    for (int k = 0; k < *n; k++) vec_push(&z->later, ((Later){list[k], &to[k]}));
    return to;
}

static void joins(TreeReader *z, Grid *g) {
    static const Op ops[] = {OP_add, OP_min, OP_max};
    Reader *r = z->r;
    Temp cell[MAX_LIST];
    Op by[MAX_LIST];
    read_expect(r, '[');
    do {
        size_t k = 0;
        while (k < 3 && !read_is_word(r, op_info[ops[k]].name)) k++;
        if (k == 3) read_error(r, r->at, "expected %s", "'add', 'min' or 'max'");
        if (g->nsums == MAX_LIST) read_error(r, r->at, "too many operands");
        read_next(r);
        by[g->nsums] = ops[k], cell[g->nsums++] = tree_read_temp(z);
    } while (read_accept(r, ','));
    read_expect(r, ']');
    g->cell = arena_copy(z->arena, cell, sizeof *cell * (size_t)g->nsums);
    g->by = arena_copy(z->arena, by, sizeof *by * (size_t)g->nsums);
}

static Grid *grid(TreeReader *z) {
    Reader *r = z->r;
    Grid *g = ARENA_NEW(z->arena, Grid);
    read_expect(r, '(');
    if ((g->inner = read_accept_word(r, "inner"))) read_expect(r, ',');
    if (!read_accept_word(r, "depth")) read_error(r, r->at, "expected '%s'", "depth");
    g->depth = (int)number(z, 1, INT_MAX);
    while (read_accept(r, ','))
        if (read_accept_word(r, "joins")) joins(z, g);
        else if (read_accept_word(r, "copies")) g->copy = bufs(z, &g->ncopies);
        else if (read_accept_word(r, "atomics")) g->atomic = bufs(z, &g->natomics);
        else read_error(r, r->at, "expected %s", "'joins', 'copies' or 'atomics'");
    read_expect(r, ')');
    return g;
}

static Recurrence *recurrence(TreeReader *z) {
    Reader *r = z->r;
    Recurrence *c = ARENA_NEW(z->arena, Recurrence);
    const struct {
        const char *word;
        Buf **to;
    } part[] = {{"state", &c->state}, {"first", &c->first}, {"second", &c->second}, {"before", &c->before}};
    read_expect(r, '(');
    c->between = read_accept_word(r, "between");
    if (!c->between && !read_accept_word(r, "affine")) read_error(r, r->at, "expected %s", "'affine' or 'between'");
    if (!read_accept_word(r, "rows")) c->cell = tree_read_temp(z);
    while (read_accept(r, ',')) {
        size_t k = 0;
        while (k < 4 && !read_accept_word(r, part[k].word)) k++;
        if (k == 4) read_error(r, r->at, "expected %s", "'state', 'first', 'second' or 'before'");
        *part[k].to = tree_read_buf(z);
    }
    read_expect(r, ')');
    return c;
}

static Wishes *wishes(TreeReader *z) {
    Reader *r = z->r;
    Wishes *w = ARENA_NEW(z->arena, Wishes);
    read_expect(r, '(');
    while (!read_is(r, ')')) {
        int k = 0;
        while (k < WISH_COUNT && !read_is_word(r, wish_info[k].name)) k++;
        if (k == WISH_COUNT) read_error(r, r->at, "expected an attribute of loops");
        Span at = r->at;
        read_next(r);
        int64_t n = wish_info[k].number ? number(z, 1, INT_MAX) : 1;
        w->of[k] = wish_new(r->m, (WishKind)k, n, at);
        read_place(r, &w->of[k]->span);
        if (!read_is(r, ')')) read_expect(r, ',');
    }
    read_next(r);
    return w;
}

static void home(TreeReader *z, Buf *b) {
    Reader *r = z->r;
    Home h = {.buf = b, .at = r->at};
    b->home = NULL;
    if (read_accept_word(r, "none")) return;
    if (read_accept_word(r, "elsewhere")) b->home = ARENA_NEW(z->arena, Block);
    else if (read_accept_word(r, "top")) b->home = z->t->body;
    else if (r->tok == T_INTEGER) h.label = number(z, 1, INT_MAX), vec_push(&z->homes, h);
    else h.loop = tree_read_name(z, "a block"), vec_push(&z->homes, h);
}

static Stmt *statement(TreeReader *z) {
    read_expect(z->r, '(');
    Span at = z->r->at;
    Stmt *s = tree_read_simple(z);
    if (s->kind != ST_FILL && s->kind != ST_COPY) read_error(z->r, at, "expected %s", "'fill' or 'copy'");
    read_expect(z->r, ')');
    return s;
}

static void set(TreeReader *z, const TreeMark *m, Stmt *s, void *field) {
    switch (m->value) {
    case MARK_FLAG: *(bool *)field = true; return;
    case MARK_INT: *(int *)field = (int)number(z, INT_MIN, INT_MAX); return;
    case MARK_STEP:
        if (read_accept_word(z->r, "any")) {
            *(int64_t *)field = STEP_ANY;
            return;
        } // fall through
    case MARK_LONG: *(int64_t *)field = read_integer(z->r, "a number"); return;
    case MARK_TEMPS: *(const Temp **)field = temps(z, (int *)((char *)s + m->count)); return;
    case MARK_BUFS: *(Buf ***)field = bufs(z, (int *)((char *)s + m->count)); return;
    case MARK_BUFFER: *(Buf **)field = tree_read_buf(z); return;
    case MARK_HOME: home(z, s->buf); return;
    case MARK_STATEMENT: *(Stmt **)field = statement(z); return;
    case MARK_GRID: *(Grid **)field = grid(z); return;
    case MARK_RECURRENCE: *(Recurrence **)field = recurrence(z); return;
    case MARK_WISHES: *(const Wishes **)field = wishes(z); return;
    }
}

// ---- of a statement

void tree_read_marks(TreeReader *z, Stmt *s) {
    Reader *r = z->r;
    while (read_is(r, '#')) {
        const char *hash = r->p;
        Span before = r->before, at = r->at;
        read_next(r);
        if (read_is_word(r, "block")) { // goes back: it is the label of a block
            r->p = hash, r->tok = T_PUNCT, r->punct = '#', r->at = at, r->before = before;
            return;
        }
        Span name = r->at;
        const char *text = read_name(r, "a mark");
        const TreeMark *m = tree_marks;
        TempInfo *t = s->dst >= 0 && s->kind != ST_SET ? &z->t->temps.data[s->dst] : NULL;
        void *field = NULL;
        for (; m->name && !field; m += !field)
            if (!strcmp(m->name, text)) field = mark_field(m, s, t);
        if (!field) read_error(r, name, "'#%s' is no mark of this statement", text);
        set(z, m, s, field);
    }
}

void tree_note_label(TreeReader *z, Block *b) {
    Label l = {number(z, 1, INT_MAX), b};
    vec_push(&z->labels, l);
}

static const Block *home_of(const TreeReader *z, const Home *h) {
    for (int i = 0; i < z->loops.len && h->loop; i++)
        if (z->loops.data[i].index == h->loop->temp) return z->loops.data[i].body;
    for (int i = 0; i < z->labels.len && !h->loop; i++)
        if (z->labels.data[i].number == h->label) return z->labels.data[i].block;
    return NULL;
}

void tree_set_homes(TreeReader *z) {
    for (int i = 0; i < z->homes.len; i++) {
        const Home *h = &z->homes.data[i];
        h->buf->home = home_of(z, h);
        if (!h->buf->home) read_error(z->r, h->at, "there is no such block");
    }
}
