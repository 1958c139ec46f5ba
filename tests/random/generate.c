// Random well-typed terms. A term of a wanted type is chosen among the constructs that give one; indices are mostly in
// range by construction, by a guard, or by being clamped, and sometimes not at all.
#include "random/term.h"

#include <string.h>

typedef struct Name {
    const char *name;
    const Sort *type;
    const char *extent; // of an index variable: of its loop, else NULL
} Name;

typedef struct Gen {
    Sample *s;
    Arena *arena;
    Random *r, attributes; // these have a sequence of their own: programs are the same but for them
    int budget, nnames, fresh;
    Name name[256];
    bool loops;  // sequential folds
    bool wild;   // indices that may be out of range, sizes that may be negative, assertions
    bool nested; // derivatives inside
    bool single; // Floats
    bool poles;  // see sample_has_poles
    int call;    // what the first call is: seeds take turns, so that no operation waits for its chance; then -1
} Gen;

static const Sort real = {.form = 'r'}, integer = {.form = 'i'}, truth = {.form = 'b'}, half = {.form = 'f'};

static int pick(Gen *g, int n) { return (int)(random_bits(g->r) % (uint64_t)n); }
static bool chance(Gen *g, int percent) { return pick(g, 100) < percent; }

// How the loop over an index runs (docs/language.md, "Attributes").
static const char *gen_wish(Gen *g) {
    static const char *const texts[] = {
        "#[lane] ", "#[lane] ", "#[sequential] ", "#[block 2] ", "#[block 3] ", "#[lane] #[block 16] ", "#[materialise] "};
    uint64_t bits = random_bits(&g->attributes);
    return bits % 4 ? "" : texts[bits / 4 % (sizeof texts / sizeof *texts)];
}

static const Sort *array_of(Gen *g, const char *extent, const Sort *element) {
    Sort *t = ARENA_NEW(g->arena, Sort);
    *t = (Sort){.form = 'a', .extent = extent, .part = element};
    return t;
}

static const Sort *pair_of(Gen *g, const Sort *a, const Sort *b) {
    Sort *t = ARENA_NEW(g->arena, Sort);
    *t = (Sort){.form = 't', .part = a, .other = b};
    return t;
}

Piece *piece_of(Arena *a, const Sort *type, const char *text, int n, ...) {
    Piece *t = ARENA_NEW(a, Piece);
    *t = (Piece){.type = type, .text = text, .n = n};
    va_list ap;
    va_start(ap, n);
    for (int k = 0; k < n; k++) t->part[k] = va_arg(ap, Piece *);
    va_end(ap);
    return t;
}

#define TEXT(...) arena_printf(g->arena, __VA_ARGS__)

static const char *fresh(Gen *g, const char *hint) { return TEXT("%s%d", hint, g->fresh++); }

static void declare(Gen *g, const char *name, const Sort *type, const char *extent) {
    if (g->nnames < 256) g->name[g->nnames++] = (Name){name, type, extent};
}

static Piece *gen(Gen *g, const Sort *t);
static Piece *gen_int(Gen *g);
static Piece *gen_bool(Gen *g);
static Piece *gen_real(Gen *g);
static Piece *gen_single(Gen *g);
static Piece *gen_build(Gen *g, const Sort *t);

// ---- sizes

static const char *index_name(Gen *g) {
    int found = 0;
    const char *name = NULL;
    for (int k = 0; k < g->nnames; k++)
        if (g->name[k].extent && pick(g, ++found) == 0) name = g->name[k].name;
    return name;
}

static const char *gen_extent(Gen *g) {
    static const char *const plain[] = {"n", "n", "n", "m", "m", "2", "3", "1", "n + 1", "n * m", "2 * n", "0", "4"};
    const char *i = index_name(g);
    if (i && chance(g, 12)) return TEXT(chance(g, 70) ? "%s + 1" : "%s", i);
    if (g->wild && chance(g, 8)) return chance(g, 50) ? "n - 1" : "k";
    return plain[pick(g, sizeof plain / sizeof *plain)];
}

static Piece *gen_fold(Gen *g, const Sort *t);

static const Sort *gen_array_sort(Gen *g) {
    const Sort *e = chance(g, 72)                ? &real
                    : g->single && chance(g, 50) ? &half
                    : chance(g, 50)              ? &integer
                    : chance(g, 40)              ? &truth
                                                 : pair_of(g, &real, chance(g, 50) ? &real : &integer);
    const Sort *t = array_of(g, gen_extent(g), e);
    return chance(g, 20) ? array_of(g, gen_extent(g), t) : t;
}

// ---- names and reads

static Piece *gen_name(Gen *g, const Sort *t) {
    int found = 0;
    const char *name = NULL;
    for (int k = 0; k < g->nnames; k++)
        if (sort_same(g->name[k].type, t) && pick(g, ++found) == 0) name = g->name[k].name;
    return name ? piece(g, t, name, 0) : NULL;
}

static Piece *gen_index(Gen *g, const char *extent) {
    int found = 0;
    const char *name = NULL;
    for (int k = 0; k < g->nnames; k++)
        if (g->name[k].extent && !strcmp(g->name[k].extent, extent) && pick(g, ++found) == 0) name = g->name[k].name;
    if (name && chance(g, 75)) return piece(g, &integer, name, 0);
    if (name && chance(g, 50)) return piece(g, &integer, TEXT("(%s - 1 - %s)", extent, name), 0);
    return NULL;
}

// The element of array a at a random place, as a term of element type t.
static Piece *read_array(Gen *g, Piece *a, const char *extent, const Sort *t) {
    Piece *i = gen_index(g, extent);
    if (i) return piece(g, t, "($0)[$1]", 2, a, i);
    i = gen_int(g);
    if (g->wild && chance(g, 30)) return piece(g, t, "($0)[$1]", 2, a, i);
    Piece *other = gen(g, t);
    if (t->form == 'r' && chance(g, 60)) return piece(g, t, TEXT("([0 <= $1 && $1 < %s] * ($0)[$1])", extent), 2, a, i);
    if (chance(g, 40))
        return piece(g, t, TEXT("(if %s > 0 then ($0)[max 0 (min (%s - 1) $1)] else $2)", extent, extent), 3, a, i, other);
    return piece(g, t, TEXT("(if 0 <= $1 && $1 < %s then ($0)[$1] else $2)", extent), 3, a, i, other);
}

// An element of an array that has a name.
static Piece *gen_read(Gen *g, const Sort *t) {
    int found = 0;
    const Name *name = NULL;
    for (int k = 0; k < g->nnames; k++) {
        const Sort *a = g->name[k].type;
        if (a->form == 'a' && sort_same(a->part, t) && pick(g, ++found) == 0) name = &g->name[k];
    }
    if (!name) return NULL;
    return read_array(g, piece(g, name->type, name->name, 0), name->type->extent, t);
}

// ---- constructs for every type

static Piece *gen_let(Gen *g, const Sort *t) {
    const Sort *bound = chance(g, 60)                ? gen_array_sort(g)
                        : chance(g, 60)              ? &real
                        : chance(g, 50)              ? &integer
                        : g->single && chance(g, 50) ? &half
                        : chance(g, 30)              ? &truth
                                                     : pair_of(g, &real, gen_array_sort(g));
    int names = g->nnames;
    Piece *value = gen(g, bound);
    if (bound->form == 't') {
        const char *a = fresh(g, "p"), *b = fresh(g, "q");
        declare(g, a, bound->part, NULL), declare(g, b, bound->other, NULL);
        Piece *body = gen(g, t);
        g->nnames = names;
        return piece(g, t, TEXT("(let (%s, %s) = $0 in $1)", a, b), 2, value, body);
    }
    const char *v = fresh(g, "v");
    declare(g, v, bound, NULL);
    Piece *body = gen(g, t);
    g->nnames = names;
    return piece(g, t, TEXT("(let %s = $0 in $1)", v), 2, value, body);
}

static Piece *under_index(Gen *g, const Sort *t, const char *extent, const char **i) {
    int names = g->nnames;
    *i = fresh(g, "i");
    declare(g, *i, &integer, extent);
    Piece *body = gen(g, t);
    g->nnames = names;
    return body;
}

// A condition on the place j in an array, at iteration i.
static Piece *gen_place(Gen *g, const char *j, const char *i) {
    static const char *const texts[] = {
        "(J = I)",     "(J < I)",          "(J > I)",          "(J <> I)",    "(I <= J && J < I + 2)",
        "(J <= I)",    "(J % 2 = 0)",      "(J = I || J = 0)", "(J = $0)",    "($0 <= J)",
        "(J + 1 = I)", "(J > 0 && J < I)", "(2 * J = I)",      "(J + I = 3)", "(not (J = I))"};
    const char *t = texts[pick(g, sizeof texts / sizeof *texts)];
    Str s = {0};
    for (const char *p = t; *p; p++)
        if (*p == 'J' || *p == 'I') str_puts(&s, *p == 'J' ? j : i);
        else str_putc(&s, *p);
    const char *text = arena_strdup(g->arena, str_text(&s));
    str_free(&s);
    return strchr(t, '$') ? piece(g, &truth, text, 1, gen_int(g)) : piece(g, &truth, text, 0);
}

// The element of state d at a place other than j, where there is one.
static Piece *gen_neighbour(Gen *g, const Sort *t, const char *d, const char *j, const char *i) {
    static const char *const texts[] = {"(if %2$s > 0 then %1$s[%2$s - 1] else $0)",
                                        "(if %2$s + 1 < %3$s then %1$s[%2$s + 1] else $0)",
                                        "%1$s[%3$s - 1 - %2$s]",
                                        "(if %4$s < %3$s then %1$s[%4$s] else $0)",
                                        "%1$s[0]",
                                        "%1$s[%3$s - 1]"};
    return piece(g, t->part, TEXT(texts[pick(g, 6)], d, j, t->extent, i), 1, gen(g, t->part));
}

static const char *build_over(Gen *g, const Sort *t, const char *j, const char *body) {
    return TEXT("(build (%s) (fun %s -> %s))", t->extent, j, body);
}

// What a step does to an array state: `d` is the state, j runs over its extent.
static Piece *gen_update(Gen *g, const Sort *t, const char *d, const char *i) {
    const char *j = fresh(g, "j"), *e;
    int names = g->nnames, how = pick(g, 10);
    bool number = t->part->form == 'r';
    Piece *r = NULL, *c;
    if (pick(g, 2)) declare(g, d, t, NULL);
    if (how == 0) { // anything
        r = gen(g, t);
        g->nnames = names;
        return r;
    }
    if (how == 1) { // one after the other
        e = fresh(g, "e");
        r = gen_update(g, t, d, i);
        Piece *next = gen_update(g, t, e, i);
        g->nnames = names;
        return piece(g, t, TEXT("(let %s = $0 in $1)", e), 2, r, next);
    }
    declare(g, j, &integer, t->extent);
    c = gen_place(g, j, i);
    switch (how) {
    case 2:
    case 3: r = piece(g, t, build_over(g, t, j, TEXT("if $0 then $1 else %s[%s]", d, j)), 2, c, gen(g, t->part)); break;
    case 4:
        r = piece(g, t, build_over(g, t, j, TEXT("if $0 then $1 else %s[%s]", d, j)), 2, c, gen_neighbour(g, t, d, j, i));
        break;
    case 5:
        r = piece(g, t, build_over(g, t, j, TEXT("if $0 then $1 else if $2 then $3 else %s[%s]", d, j)), 4, c, gen(g, t->part),
                  gen_place(g, j, i), gen_neighbour(g, t, d, j, i));
        break;
    case 6:
        if (number)
            r = piece(g, t, build_over(g, t, j, TEXT("%s[%s] %s [$0] * $1", d, j, pick(g, 2) ? "+" : "-")), 2, c, gen_real(g));
        break;
    case 7:
        if (number)
            r = piece(g, t, build_over(g, t, j, TEXT("0.5 * %s[%s] + $0", d, j)), 1,
                      pick(g, 2) ? gen_real(g) : gen_neighbour(g, t, d, j, i));
        break;
    case 8:
        if (number) r = piece(g, t, build_over(g, t, j, TEXT("if $0 then %s[%s] + $1 else %s[%s]", d, j, d, j)), 2, c, gen_real(g));
        break;
    default: break;
    }
    if (!r) r = piece(g, t, build_over(g, t, j, "$0"), 1, gen_neighbour(g, t, d, j, i));
    g->nnames = names;
    return r;
}

// The same for a matrix.
static Piece *gen_update_matrix(Gen *g, const Sort *t, const char *d, const char *i) {
    const char *j = fresh(g, "j"), *l = fresh(g, "l"), *rows = t->extent, *columns = t->part->extent;
    int names = g->nnames;
    if (pick(g, 2)) declare(g, d, t, NULL);
    declare(g, j, &integer, rows);
    Piece *c = gen_place(g, j, i), *r;
    switch (pick(g, 4)) {
    case 0:
        r = piece(g, t, TEXT("(build (%s) (fun %s -> if $0 then $1 else %s[%s]))", rows, j, d, j), 2, c, gen(g, t->part));
        break;
    case 1:
        declare(g, l, &integer, columns);
        r = piece(g, t,
                  TEXT("(build (%s) (fun %s -> build (%s) (fun %s -> if $0 && $1 then $2 else %s[%s, %s])))", rows, j, columns, l,
                       d, j, l),
                  3, c, gen_place(g, l, i), gen(g, t->part->part));
        break;
    case 2:
        declare(g, l, &integer, columns);
        r = piece(g, t,
                  TEXT("(build (%s) (fun %s -> build (%s) (fun %s -> if $0 then %s[%s, %s - 1 - %s] else %s[%s, %s])))", rows, j,
                       columns, l, d, j, columns, l, d, j, l),
                  1, gen_place(g, l, i));
        break;
    default:
        declare(g, l, &integer, columns);
        r = t->part->part->form != 'r'
                ? gen_build(g, t)
                : piece(g, t,
                        TEXT("(build (%s) (fun %s -> build (%s) (fun %s -> %s[%s, %s] - [$0] * $1 * %s[0, %s])))", rows, j, columns,
                             l, d, j, l, d, l),
                        2, gen_place(g, pick(g, 2) ? j : l, i), gen_real(g));
    }
    g->nnames = names;
    return r;
}

static Piece *gen_step(Gen *g, const Sort *t, const char *s, const char *i) {
    if (t->form == 'a') return t->part->form == 'a' ? gen_update_matrix(g, t, s, i) : gen_update(g, t, s, i);
    if (t->form == 'r' && chance(g, 70)) {
        Piece *e = gen_real(g);
        if (chance(g, 30)) return piece(g, t, TEXT("(%s + $0)", s), 1, e);
        if (chance(g, 30)) return piece(g, t, TEXT("(max %s $0)", s), 1, e);
        if (chance(g, 30)) return piece(g, t, TEXT("(if %s = $1 then $0 else %s)", i, s), 2, e, gen_int(g));
        return piece(g, t, TEXT("(0.5 * %s + $0)", s), 1, e);
    }
    int names = g->nnames;
    declare(g, s, t, NULL);
    Piece *e = gen(g, t);
    g->nnames = names;
    return e;
}

// How the loop's trace is kept: all of it, in so many levels, or in so many bytes (docs/language.md, "Attributes").
static const char *gen_attribute(Gen *g) {
    static const char *const texts[] = {"#[stripmine 2] ", "#[stripmine 2] ",  "#[stripmine 3] ",   "#[stripmine 4] ",
                                        "#[stripmine 1] ", "#[tapeLimit 60] ", "#[tapeLimit 200] ", "#[tapeLimit 1000] "};
    return chance(g, 30) ? texts[pick(g, sizeof texts / sizeof *texts)] : "";
}

static Piece *gen_fold(Gen *g, const Sort *t) {
    const char *extent = gen_extent(g), *how = gen_attribute(g), *i = fresh(g, "i"), *s = fresh(g, "s"), *d = fresh(g, "d");
    Piece *init = gen(g, t);
    if (chance(g, t->form == 'r' ? 12 : 5)) { // counted, so that it ends
        int names = g->nnames;
        declare(g, s, t, NULL), declare(g, i, &integer, NULL);
        Piece *more = gen_bool(g), *step = gen(g, t);
        g->nnames = names;
        if (chance(g, 50)) // the step sets a flag
            return piece(g, t,
                         TEXT("(fst (whileLoop (fun (%s, (%s, %s)) -> %s && %s < 3)"
                              " (fun (%s, (%s, %s)) -> ($2, (%s + 1, if %s = 0 then %s else $1))) ($0, (0, true))))",
                              s, i, d, d, i, s, i, d, i, i, d),
                         3, init, more, step);
        return piece(
            g, t, TEXT("(fst (whileLoop (fun (%s, %s) -> %s < 3 && $1) (fun (%s, %s) -> ($2, %s + 1)) ($0, 0)))", s, i, i, s, i, i),
            3, init, more, step);
    }
    int names = g->nnames;
    declare(g, i, &integer, extent);
    if (chance(g, 70)) {
        Piece *step = gen_step(g, t, s, i);
        g->nnames = names;
        return piece(g, t, TEXT("(%sifold (fun %s %s -> $1) $0 (%s))", how, s, i, extent), 2, init, step);
    }
    const Sort *other = chance(g, 70) ? gen_array_sort(g) : &real;
    g->nnames = names;
    Piece *init2 = gen(g, other);
    declare(g, i, &integer, extent);
    declare(g, d, other, NULL);
    Piece *step = gen_step(g, t, s, i);
    declare(g, s, t, NULL);
    Piece *step2 = gen_step(g, other, d, i);
    g->nnames = names;
    return piece(g, t, TEXT("(fst (%sifold (fun (%s, %s) %s -> ($2, $3)) ($0, $1) (%s)))", how, s, d, i, extent), 4, init, init2,
                 step, step2);
}

// A term of type t by a construct that every type has; NULL: none this time.
static Piece *gen_common(Gen *g, const Sort *t) {
    switch (pick(g, 8)) {
    case 0: return piece(g, t, "(if $0 then $1 else $2)", 3, gen_bool(g), gen(g, t), gen(g, t));
    case 1:
    case 2: return gen_let(g, t);
    case 3: return g->loops ? gen_fold(g, t) : NULL;
    case 4: return gen_read(g, t);
    case 5:
        if (chance(g, 30)) return piece(g, t, chance(g, 50) ? "(fst ($0, $1))" : "(snd ($1, $0))", 2, gen(g, t), gen_real(g));
        return NULL;
    case 6:
        if (g->wild && chance(g, 40)) return piece(g, t, "(assert $0 \"wrong\" $1)", 2, gen_bool(g), gen(g, t));
        return NULL;
    default: return gen_name(g, t);
    }
}

// ---- scalars

static Piece *gen_bool(Gen *g) {
    if (--g->budget < 0) return piece(g, &truth, "true", 0);
    Piece *t;
    switch (pick(g, 10)) {
    case 0: return piece(g, &truth, chance(g, 80) ? "($0 < $1)" : "($0 >= $1)", 2, gen_real(g), gen_real(g));
    case 1: return piece(g, &truth, "($0 && $1)", 2, gen_bool(g), gen_bool(g));
    case 2: return piece(g, &truth, "($0 || $1)", 2, gen_bool(g), gen_bool(g));
    case 3: return piece(g, &truth, "(not $0)", 1, gen_bool(g));
    case 4: return piece(g, &truth, "($0 = $1)", 2, gen_int(g), gen_int(g));
    case 5: return piece(g, &truth, "($0 <= $1)", 2, gen_int(g), gen_int(g));
    case 6: return piece(g, &truth, "($0 <> $1)", 2, gen_int(g), gen_int(g));
    case 7: return piece(g, &truth, "($0 < $1)", 2, gen_int(g), gen_int(g));
    case 8: t = gen_read(g, &truth); break;
    default: t = chance(g, 40) ? gen_common(g, &truth) : gen_name(g, &truth);
    }
    return t ? t : piece(g, &truth, "(k > $0)", 1, gen_int(g));
}

static Piece *int_leaf(Gen *g) {
    static const char *const lit[] = {"0", "1", "2", "(-1)", "3", "n", "(n - 1)", "m"};
    Piece *t = chance(g, 75) ? gen_name(g, &integer) : NULL;
    return t ? t : piece(g, &integer, lit[pick(g, sizeof lit / sizeof *lit)], 0);
}

static Piece *gen_int(Gen *g) {
    static const char *const two[] = {"($0 + $1)", "($0 - $1)", "(min $0 $1)", "(max $0 $1)", "($0 * $1)"};
    static const char *const one[] = {"($0 + 1)", "($0 - 1)", "($0 / 2)", "($0 % 3)",
                                      "(2 * $0)", "(abs $0)", "(-$0)",    "((min $0 3) ** 2)"};
    if (--g->budget < 0 || chance(g, 45)) return int_leaf(g);
    const char *i, *extent;
    Piece *t;
    switch (pick(g, 7)) {
    case 0: return piece(g, &integer, two[pick(g, 5)], 2, gen_int(g), gen_int(g));
    case 1:
    case 2: return piece(g, &integer, one[pick(g, sizeof one / sizeof *one)], 1, gen_int(g));
    case 3: t = gen_read(g, &integer); return t ? t : int_leaf(g);
    case 4:
        if (g->wild && chance(g, 20)) return piece(g, &integer, "($0 / $1)", 2, gen_int(g), gen_int(g));
        if (chance(g, 15)) return piece(g, &integer, "(int (0.37 + 1.7 * $0))", 1, gen_real(g));
        t = chance(g, 30) ? gen_common(g, &integer) : NULL;
        return t ? t : int_leaf(g);
    case 5:
        if (chance(g, 50)) return int_leaf(g);
        extent = gen_extent(g);
        t = under_index(g, &integer, extent, &i);
        return piece(g, &integer, TEXT("(%ssum (%s) (fun %s -> $0))", gen_wish(g), extent, i), 1, t);
    default:
        if (chance(g, 50)) return int_leaf(g);
        t = gen(g, array_of(g, gen_extent(g), &real));
        return piece(g, &integer, chance(g, 60) ? "(argmax $0)" : chance(g, 50) ? "(argmin $0)" : "(length $0)", 1, t);
    }
}

static Piece *real_leaf(Gen *g) {
    static const char *const lit[] = {"0.5", "1.5", "(-0.7)", "2.0", "1.0", "0.0", "s"};
    Piece *t = chance(g, 40) ? gen_name(g, &real) : gen_read(g, &real);
    return t ? t : piece(g, &real, lit[pick(g, sizeof lit / sizeof *lit)], 0);
}

static Piece *gen_sum(Gen *g) {
    const char *i, *extent = gen_extent(g);
    Piece *body = under_index(g, &real, extent, &i);
    if (chance(g, 25)) body = piece(g, &real, "([$0] * $1)", 2, gen_bool(g), body);
    return piece(g, &real, TEXT("(%ssum (%s) (fun %s -> $0))", gen_wish(g), extent, i), 1, body);
}

// A derivative of a scalar with respect to a fresh scalar or array, as a scalar.
static Piece *derivative_of_scalar(Gen *g, const Sort *t, const char *z, bool forward, Piece *body, Piece *x) {
    if (forward) return piece(g, &real, TEXT("(jvp (fun %s -> $0) $1 $2)", z), 3, body, x, gen(g, t));
    if (chance(g, 15) && t->form == 'r') return piece(g, &real, TEXT("(hvp (fun %s -> $0) $1 $2)", z), 3, body, x, gen(g, t));
    Piece *d = piece(g, t, TEXT("(grad (fun %s -> $0) $1)", z), 2, body, x);
    return t->form == 'r' ? d : read_array(g, d, t->extent, &real);
}

// The same of an array.
static Piece *derivative_of_array(Gen *g, const Sort *t, const char *z, bool forward, Piece *body, Piece *x) {
    const Sort *made = body->type;
    if (forward && chance(g, 50)) {
        Piece *d = piece(g, made, TEXT("(jvp (fun %s -> $0) $1 $2)", z), 3, body, x, gen(g, t));
        return read_array(g, d, made->extent, &real);
    }
    if (!forward && chance(g, 50)) {
        Piece *d = piece(g, t, TEXT("(vjp (fun %s -> $0) $1 $2)", z), 3, body, x, gen(g, made));
        return t->form == 'r' ? d : read_array(g, d, t->extent, &real);
    }
    const Sort *row = t->form == 'r' ? t : array_of(g, t->extent, &real);
    Piece *j =
        piece(g, array_of(g, made->extent, row), TEXT("(%s (fun %s -> $0) $1)", forward ? "jacfwd" : "jacrev", z), 2, body, x);
    Piece *r = read_array(g, j, made->extent, row);
    return t->form == 'r' ? r : read_array(g, r, t->extent, &real);
}

static Piece *gen_derivative(Gen *g) {
    const char *z = fresh(g, "z");
    int names = g->nnames, kept = g->budget;
    bool nested = g->nested, loops = g->loops, forward = chance(g, 50), array = chance(g, 30);
    g->budget = kept < 8 ? kept : 8;
    g->nested = false;
    const Sort *t = chance(g, 50) ? &real : array_of(g, chance(g, 70) ? "n" : "2", &real);
    Piece *x = gen(g, t);
    declare(g, z, t, NULL);
    declare(g, z, t, NULL);
    Piece *body = array ? gen(g, array_of(g, chance(g, 70) ? "m" : "3", &real)) : gen_real(g);
    g->nnames = names, g->nested = nested, g->loops = loops;
    g->budget = kept - 8;
    return (array ? derivative_of_array : derivative_of_scalar)(g, t, z, forward, body, x);
}

// Functions of the library and of C, and functions with a derivative of their own, where they are smooth.
static const char *const call_one[] = {"(tan (0.5 * sin $0))",
                                       "(asin (0.9 * sin $0))",
                                       "(acos (0.9 * cos $0))",
                                       "(sinh (sin $0))",
                                       "(cosh (sin $0))",
                                       "(asinh $0)",
                                       "(acosh (1.5 + $0 * $0))",
                                       "(atanh (0.9 * sin $0))",
                                       "(erf $0)",
                                       "(erfc $0)",
                                       "(lgamma (1.5 + $0 * $0))",
                                       "(digamma (1.5 + $0 * $0))",
                                       "(polygamma 1 (1.5 + $0 * $0))",
                                       "(expm1 (sin $0))",
                                       "(log1p ($0 * $0))",
                                       "(exp2 (sin $0))",
                                       "(log2 (1.5 + $0 * $0))",
                                       "(log10 (1.5 + $0 * $0))",
                                       "(cbrt (1.5 + $0 * $0))",
                                       "(floor (0.37 + 1.7 * $0))",
                                       "(ceil (0.37 + 1.7 * $0))",
                                       "(round (0.37 + 1.7 * $0))",
                                       "(trunc (0.37 + 1.7 * $0))",
                                       "(stopGradient $0)",
                                       "(j0 (sin $0))",
                                       "(customVjp (fun u -> sin u) (fun u w -> w * cos u) $0)",
                                       "(customJvp (fun u -> u * u) (fun u w -> 2.0 * (u * w)) $0)"};
static const char *const call_two[] = {
    "(atan2 $0 (1.0 + $1 * $1))",
    "(hypot $0 (0.5 + $1 * $1))",
    "((0.37 + $0) % (2.0 + $1 * $1))",
    "((1.5 + sin $0) ** $1)",
    "(customVjp (fun (u, v) -> u * sin v) (fun (u, v) w -> (w * sin v, w * (u * cos v))) ($0, $1))",
    "(customJvp (fun (u, v) -> u * v) (fun (u, v) (p, q) -> p * v + u * q) ($0, $1))",
    "(customJvp (fun u -> sin u * $1) (fun u w total -> total (fun u -> sin u * $1) u w) $0)",
    "(customJvp (fun u -> u * u + $1) (fun u w total -> 2.0 * u * w + total (fun u -> $1 + 0.0 * u) u w) $0)",
    "(customVjp (fun u -> u * u) (fun u w -> 2.0 * (u * w)) (fun u w -> 2.0 * (u * w)) ($0 * $1))"};

static Piece *gen_pole(Gen *g) {
    static const char *const one[] = {"(log $0)", "(sqrt $0)", "(1.0 / $0)", "(0.0 * $0)", "($0 - $0)", "(acosh $0)"};
    static const char *const two[] = {"($0 / $1)", "($0 ** $1)", "($0 * log $1)", "($0 % $1)", "(atan2 $0 $1)"};
    if (chance(g, 50)) return piece(g, &real, one[pick(g, sizeof one / sizeof *one)], 1, gen_real(g));
    return piece(g, &real, two[pick(g, sizeof two / sizeof *two)], 2, gen_real(g), gen_real(g));
}

enum { CALLS_ONE = sizeof call_one / sizeof *call_one, CALLS_TWO = sizeof call_two / sizeof *call_two };
enum { CALLS = CALLS_ONE + CALLS_TWO + 2 };

static Piece *gen_call(Gen *g) {
    static const char *const whole[] = {"(sumOf $0)",          "(norm1 $0)",   "(dot $0 $0)",
                                        "(reduce max 0.0 $0)", "(maximum $0)", "(minimum $0)"}; // the last two fail if it is empty
    int k = g->call >= 0 ? g->call : pick(g, CALLS);
    g->call = -1;
    if (k < CALLS_ONE) return piece(g, &real, call_one[k], 1, gen_real(g));
    k -= CALLS_ONE;
    if (k < CALLS_TWO) return piece(g, &real, call_two[k], 2, gen_real(g), gen_real(g));
    if (k == CALLS_TWO) return piece(g, &real, "((1.5 + sin $0) ** (min 3 (max (-2) $1)))", 2, gen_real(g), gen_int(g));
    return piece(g, &real, whole[pick(g, g->wild ? 6 : 4)], 1, gen(g, array_of(g, gen_extent(g), &real)));
}

static Piece *gen_single(Gen *g) {
    static const char *const texts[] = {"(float $0)", "(sin $0)",  "(tanh $0)", "(-$0)",
                                        "($0 + $1)",  "($0 - $1)", "($0 * $1)", "(max $0 $1)"};
    Piece *t = chance(g, 30) ? gen_name(g, &half) : chance(g, 30) ? gen_read(g, &half) : NULL;
    if (t) return t;
    if (--g->budget < 0) return piece(g, &half, chance(g, 50) ? "(float s)" : "(float 0.5)", 0);
    int k = pick(g, 10);
    if (k == 0) return piece(g, &half, texts[0], 1, gen_real(g));
    if (k < 4) return piece(g, &half, texts[k], 1, gen_single(g));
    if (k < 8) return piece(g, &half, texts[k], 2, gen_single(g), gen_single(g));
    if (k == 8) {
        const char *i, *extent = gen_extent(g);
        t = under_index(g, &half, extent, &i);
        return piece(g, &half, TEXT("(%ssum (%s) (fun %s -> $0))", gen_wish(g), extent, i), 1, t);
    }
    t = gen_common(g, &half);
    return t ? t : piece(g, &half, "(float $0)", 1, gen_real(g));
}

static Piece *gen_real(Gen *g) {
    static const char *const one[] = {"(sin $0)",
                                      "(cos $0)",
                                      "(tanh $0)",
                                      "(exp (sin $0))",
                                      "(log (1.0 + $0 * $0))",
                                      "(sqrt (1.0 + $0 * $0))",
                                      "(atan $0)",
                                      "(-$0)",
                                      "($0 ** 2)",
                                      "($0 / (2.0 + $0 * $0))",
                                      "(abs $0)",
                                      "(0.5 * $0)"};
    static const char *const two[] = {"($0 + $1)",   "($0 - $1)",  "($0 * $1)", "($0 / (1.0 + $1 * $1))",
                                      "(max $0 $1)", "(min $0 $1)"};
    if (--g->budget < 0 || chance(g, 12)) return real_leaf(g);
    if (g->call >= 0 && chance(g, 25)) return gen_call(g);
    Piece *t = NULL;
    switch (pick(g, 14)) {
    case 0:
    case 1: return piece(g, &real, one[pick(g, sizeof one / sizeof *one)], 1, gen_real(g));
    case 2:
    case 3:
    case 4: return piece(g, &real, two[pick(g, sizeof two / sizeof *two)], 2, gen_real(g), gen_real(g));
    case 5:
    case 6: return gen_sum(g);
    case 7: return piece(g, &real, chance(g, 50) ? "([$0] * $1)" : "([$0] * $1 * $1)", 2, gen_bool(g), gen_real(g));
    case 8: return piece(g, &real, "(double $0)", 1, gen_int(g));
    case 9:
        if (g->nested && chance(g, 60)) return gen_derivative(g);
        break;
    case 10:
        t = gen(g, gen_array_sort(g));
        if (t->type->part->form == 'r') return read_array(g, t, t->type->extent, &real);
        t = NULL;
        break;
    case 11: return g->poles && chance(g, 60) ? gen_pole(g) : gen_call(g);
    case 12:
        if (g->single) return piece(g, &real, "(double $0)", 1, gen_single(g));
        break;
    default: break;
    }
    t = gen_common(g, &real);
    return t ? t : real_leaf(g);
}

// ---- arrays and pairs

static Piece *gen_build(Gen *g, const Sort *t) {
    const char *i;
    Piece *e = under_index(g, t->part, t->extent, &i);
    return piece(g, t, TEXT("(%sbuild (%s) (fun %s -> $0))", gen_wish(g), t->extent, i), 1, e);
}

static Piece *gen_histogram(Gen *g, const Sort *t) {
    const char *i = fresh(g, "i"), *b = fresh(g, "b"), *extent = gen_extent(g);
    int names = g->nnames;
    declare(g, i, &integer, extent);
    Piece *at = gen_int(g), *e = gen_real(g);
    g->nnames = names;
    return piece(g, t, TEXT("(build (%s) (fun %s -> sum (%s) (fun %s -> [$0 = %s] * $1)))", t->extent, b, extent, i, b), 2, at, e);
}

// Loops of the prelude.
static Piece *gen_library(Gen *g, const Sort *t) {
    const char *extent = gen_extent(g), *i = fresh(g, "i");
    const Sort *keys = array_of(g, extent, &integer), *values = array_of(g, extent, &real);
    switch (pick(g, 4)) {
    case 0: return piece(g, t, "(scan (+) $0 $1)", 2, gen_real(g), gen(g, t));
    case 1: return piece(g, t, TEXT("(hist max $0 (%s) $1 $2)", t->extent), 3, gen_real(g), gen(g, keys), gen(g, values));
    case 2:
        return piece(g, t, TEXT("(hist (fun a b -> 0.5 * a + b) $0 (%s) $1 $2)", t->extent), 3, gen_real(g), gen(g, keys),
                     gen(g, values));
    default: // distinct places
        return piece(g, t, TEXT("(scatter $0 (build (%s) (fun %s -> 2 * %s - 1)) $1)", extent, i, i), 2, gen(g, t), gen(g, values));
    }
}

static Piece *gen_literal(Gen *g, const Sort *t) {
    static const char *const texts[] = {"[| $0 |]", "[| $0; $1 |]", "[| $0; $1; $2 |]", "[| $0; $1; $2; $3 |]"};
    int n = *t->extent - '0';
    Piece *p[4] = {0};
    for (int k = 0; k < n; k++) p[k] = gen(g, t->part);
    return piece(g, t, texts[n - 1], n, p[0], p[1], p[2], p[3]);
}

static Piece *gen_sum_of_arrays(Gen *g, const Sort *t) {
    const char *i, *extent = gen_extent(g);
    Piece *body = under_index(g, t, extent, &i);
    if (chance(g, 40)) body = piece(g, t, "([$0] * $1)", 2, gen_bool(g), body);
    return piece(g, t, TEXT("(%ssum (%s) (fun %s -> $0))", gen_wish(g), extent, i), 1, body);
}

static Piece *gen_array(Gen *g, const Sort *t) {
    if (--g->budget < 0) {
        Piece *x = gen_name(g, t);
        return x ? x : piece_simplest(g->arena, t);
    }
    if (chance(g, 25)) {
        Piece *x = gen_common(g, t);
        if (x) return x;
    }
    if (t->part->form == 'r' && chance(g, 8)) return gen_histogram(g, t);
    if (strchr("1234", *t->extent) && !t->extent[1] && chance(g, 40)) return gen_literal(g, t);
    if (t->part->form == 'r' && chance(g, 6)) return gen_sum_of_arrays(g, t);
    if (g->loops && chance(g, 45)) return gen_fold(g, t);
    if (g->loops && t->part->form == 'r' && chance(g, 10)) return gen_library(g, t);
    if (t->part->form == 'r' && chance(g, 6)) return piece(g, t, "(map2 (*) $0 $1)", 2, gen(g, t), gen(g, t));
    if (t->part->form == 'r' && chance(g, 5))
        return piece(g, t, TEXT("($0[1 .. (%s)])", t->extent), 1, gen(g, array_of(g, TEXT("(%s) + 1", t->extent), &real)));
    if (t->part->form == 'a' && chance(g, 15))
        return piece(g, t, "(transpose $0)", 1, gen(g, array_of(g, t->part->extent, array_of(g, t->extent, t->part->part))));
    return gen_build(g, t);
}

static Piece *gen(Gen *g, const Sort *t) {
    switch (t->form) {
    case 'r': return gen_real(g);
    case 'i': return gen_int(g);
    case 'b': return gen_bool(g);
    case 'f': return gen_single(g);
    case 'a': return gen_array(g, t);
    default: {
        Piece *x = chance(g, 20) && --g->budget > 0 ? gen_common(g, t) : NULL;
        return x ? x : piece(g, t, "($0, $1)", 2, gen(g, t->part), gen(g, t->other));
    }
    }
}

// ---- programs

static void add_param(Gen *g, const char *name, const Sort *type) {
    g->s->param[g->s->nparams++] = (Param){.name = name, .type = type};
    declare(g, name, type, NULL);
}

bool sample_has_poles(uint64_t seed) { return seed % 8 == 7; }

Sample *sample_new(Arena *a, uint64_t seed, int size) {
    Sample *s = ARENA_NEW(a, Sample);
    *s = (Sample){.arena = a, .random = {seed}};
    Gen *g = ARENA_NEW(a, Gen);
    *g = (Gen){.s = s, .arena = a, .r = &s->random, .attributes = {s->random.state}};
    g->budget = size / 3 + pick(g, size);
    g->wild = chance(g, 25), g->loops = chance(g, 35), g->nested = chance(g, 20), g->single = chance(g, 8);
    g->poles = sample_has_poles(seed), g->call = (int)(seed % CALLS);
    const Sort *vector = array_of(g, "n", &real), *ints = array_of(g, "n", &integer);
    add_param(g, "x", vector);
    add_param(g, "y", array_of(g, "m", &real));
    add_param(g, "a", array_of(g, "n", array_of(g, "m", &real)));
    add_param(g, "c", array_of(g, "n", array_of(g, "n", &real)));
    add_param(g, "s", &real);
    add_param(g, "is", ints);
    add_param(g, "js", array_of(g, "m", &integer));
    add_param(g, "k", &integer);
    static const char *const extents[] = {"n", "m", "2", "n + 1", "n"};
    const Sort *t = &real;
    switch (pick(g, 4)) {
    case 0: break;
    case 1: t = array_of(g, extents[pick(g, 5)], &real); break;
    case 2: t = array_of(g, extents[pick(g, 5)], array_of(g, extents[pick(g, 5)], &real)); break;
    default: t = pair_of(g, array_of(g, extents[pick(g, 5)], &real), &real);
    }
    s->body = gen(g, t);
    return s;
}
