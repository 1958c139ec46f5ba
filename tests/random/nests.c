// Nested sums: programs in which a derivative can lose a power of n. Sums, elements of arrays and loops stand inside
// of each other, four indices deep, and read arrays at places that are computed of these indices: plain, reversed,
// clamped, halved, strided, remainders, distances, and what an array of Ints says. All places are in range, and no
// part fails, so that each program can be counted at any size; some have parts of which the compiler cannot know it.
// Names are bound by `let` in three programs of five at most: what has no name is what must be recognised as the same.
#include "random/term.h"

#include <string.h>

const char *const nest_indices[] = {"i", "j", "k", "l", NULL};
enum { INDICES = 4, ARRAYS = 4 };

typedef struct Nest {
    Sample *s;
    Arena *arena;
    Random *r;
    const char *n;     // the extent of all arrays, as it is written
    int indices;       // so many of nest_indices have a value here
    int arrays, fresh; // names bound: v0, …
    bool state;        // s is the state of a loop
    bool lets;         // arrays have names
    bool loops;        // states, updates, scans, histograms
    bool fails;        // parts that might fail, as far as is known
    bool vectors;      // Vector and Matrix, and the functions for these
} Nest;

static const Sort real = {.form = 'r'}, integer = {.form = 'i'}, truth = {.form = 'b'};
static const Sort reals = {.form = 'a', .extent = "n", .part = &real};
static const Sort integers = {.form = 'a', .extent = "n", .part = &integer};
static const Sort matrix = {.form = 'a', .extent = "n", .part = &reals};

static int pick(Nest *g, int n) { return (int)(random_bits(g->r) % (uint64_t)n); }
static bool chance(Nest *g, int percent) { return pick(g, 100) < percent; }

#define TEXT(...)   arena_printf(g->arena, __VA_ARGS__)
#define CHOOSE(...) choose(g, (const char *const[]){__VA_ARGS__}, sizeof(const char *[]){__VA_ARGS__} / sizeof(char *))

static const char *choose(Nest *g, const char *const *texts, size_t n) { return texts[pick(g, (int)n)]; }

// With parts that are made by `part`, one for each $0 and $1 of the text. Nothing here leaves it to the C compiler
// which of two arguments comes first: a seed is the same program everywhere.
static Piece *with(Nest *g, const Sort *type, const char *text, Piece *(*part)(Nest *g)) {
    Piece *t = piece(g, type, text, 0);
    for (; t->n < 2 && strstr(text, t->n ? "$1" : "$0"); t->n++) t->part[t->n] = part(g);
    if (t->n == 2 && !strcmp(t->part[0]->text, t->part[1]->text)) t->part[1] = part(g); // rather two than one
    return t;
}

static Piece *gen_real(Nest *g, int budget);

// ---- places and conditions

static Piece *index_of(Nest *g) { return piece(g, &integer, nest_indices[pick(g, g->indices)], 0); }

static Piece *gen_place(Nest *g) {
    static const char *const texts[] = {"$0",
                                        "(N - 1 - $0)",
                                        "(min (N - 1) ($0 + $1))",
                                        "(max 0 ($0 - $1))",
                                        "($0 / 2)",
                                        "($0 / 2 + $1 / 2)",
                                        "(abs ($0 - $1))",
                                        "(($0 + $1) % N)",
                                        "at[$0]",
                                        "(min (N - 1) (2 * $0))",
                                        "(($0 + $1) / 2)",
                                        "(max 0 (min (N - 1) ($0 + 2)))",
                                        "(max 0 (min (N - 1) ($0 - 1)))",
                                        "($0 % 4)",
                                        "(min $0 $1)",
                                        "($0 / (at[$1] + 1))", // from here on: as far as is known, they may fail
                                        "(at[$0] / (1 + $1))",
                                        "($0 % (at[$1] + 1))"};
    enum { SAFE = 15, ALL = sizeof texts / sizeof *texts };
    const char *text = texts[pick(g, g->fails ? ALL : SAFE)];
    Str s = {0};
    for (; *text; text++)
        if (*text == 'N') str_puts(&s, g->n);
        else str_putc(&s, *text);
    text = arena_strdup(g->arena, str_text(&s));
    str_free(&s);
    return strcmp(text, "$0") ? with(g, &integer, text, index_of) : index_of(g);
}

static Piece *gen_condition(Nest *g) {
    if (chance(g, 12)) return with(g, &truth, TEXT("$0 + $1 < %s", g->n), index_of);
    const char *text = CHOOSE("$0 < $1", "$0 = $1", "$0 % 2 = 0", "abs ($0 - $1) <= 2", "x[$0] > 0.0", "$0 <= $1",
                              "$0 / 4 = $1 / 4", "at[$0] = $1", "x[$0] < w[$1]");
    return with(g, &truth, text, index_of);
}

static Piece *gen_extent(Nest *g) {
    const char *n = g->n;
    switch (pick(g, g->fails ? 9 : 7)) {
    case 0: return with(g, &integer, "4", index_of);
    case 1: return with(g, &integer, "($0 + 1)", index_of);
    case 2: return with(g, &integer, TEXT("(%s / 2)", n), index_of);
    case 3: return with(g, &integer, TEXT("(%s - $0)", n), index_of);
    case 7: return with(g, &integer, "at[$0]", index_of);
    case 8: return with(g, &integer, TEXT("(%s / (at[$0] + 1))", n), index_of);
    default: return with(g, &integer, n, index_of);
    }
}

// ---- reads

static Piece *gen_read(Nest *g) {
    if (g->vectors && chance(g, 15)) return with(g, &real, "m[$0, $1]", gen_place);
    const char *array = chance(g, 65) ? "x" : "w";
    if (g->arrays && chance(g, 60)) array = TEXT("v%d", pick(g, g->arrays));
    return with(g, &real, TEXT("%s[$0]", array), gen_place);
}

static Piece *gen_leaf(Nest *g) {
    if (g->state && chance(g, 25)) return piece(g, &real, "s", 0);
    if (chance(g, 15)) return piece(g, &real, CHOOSE("0.5", "1.5", "0.3"), 0);
    return chance(g, 20) ? with(g, &real, "(x[$0] * w[$1])", gen_place) : gen_read(g);
}

// ---- what binds an index

// With the next index in the place of %s; $0 is made by `first`, and $1, where the index and the state have values, is
// any term.
static Piece *gen_over(Nest *g, const char *text, Piece *(*first)(Nest *g), bool state, int budget) {
    bool kept = g->state;
    Piece *outside = first(g);
    const char *index = nest_indices[g->indices++];
    g->state |= state;
    Piece *body = gen_real(g, budget);
    g->state = kept, g->indices--;
    Piece *t = piece(g, &real, TEXT(text, index), 2, outside, body);
    t->binds = index;
    return t;
}

static Piece *gen_sum(Nest *g, int budget) { return gen_over(g, "(sum $0 (fun %s -> $1))", gen_extent, false, budget); }

static Piece *gen_element(Nest *g, int budget) {
    return gen_over(g, TEXT("(build %s (fun %%s -> $1))[$0]", g->n), gen_place, false, budget);
}

static Piece *gen_fold(Nest *g, int budget) {
    const char *step = CHOOSE("0.5 * s + $1", "s + $1", "tanh (s + $1)", "0.9 * s * cos ($1)", "max s $1",
                              "if x[%1$s] > 0.0 then 0.5 * s + $1 else s", "if %1$s %% 3 = 0 then s + $1 else s");
    return gen_over(g, TEXT("(ifold (fun s %%1$s -> %s) 0.1 $0)", step), gen_extent, true, budget);
}

static Piece *gen_while(Nest *g, int budget) {
    const char *end = CHOOSE("3", g->n, "at[0]"), *by = CHOOSE("1", "2");
    return gen_over(g,
                    TEXT("(fst (whileLoop (fun (s, %%1$s) -> %%1$s < %s) (fun (s, %%1$s) -> "
                         "(0.5 * s + $1, %%1$s + %s)) (x[$0], 0)))",
                         end, by),
                    gen_place, true, budget);
}

// Arrays that a loop makes: element by element, at places that it computes, and under conditions.
static Piece *gen_update(Nest *g, int budget) {
    const char *change = CHOOSE("if q = %1$s then $1 else d[q]", "if q = at[%1$s] then d[q] + $1 else d[q]",
                                "if q > %1$s then 0.5 * d[q] + $1 else d[q]", "d[q] + [q = %1$s / 2] * $1",
                                "if q = %1$s && x[q] > 0.0 then d[max 0 (q - 1)] * $1 else d[q]", "0.5 * d[q] + $1");
    const char *start = CHOOSE("x", "w", TEXT("(build %s (fun q -> 0.0))", g->n));
    return gen_over(g, TEXT("(ifold (fun d %%1$s -> build %s (fun q -> %s)) %s %s)[$0]", g->n, change, start, g->n),
                    gen_place, false, budget);
}

// A number and an array as the states of one loop.
static Piece *gen_states(Nest *g, int budget) {
    const char *change =
        CHOOSE("if q = %1$s then s else d[q]", "if q >= %1$s then d[q] * s else d[q]", "d[q] + [q = at[%1$s]] * s");
    const char *loop = TEXT("ifold (fun (s, d) %%1$s -> (0.5 * s + $1 * d[%%1$s], build %s (fun q -> %s))) (0.1, x) %s",
                            g->n, change, g->n);
    return gen_over(g, TEXT(chance(g, 50) ? "(fst (%s) + x[$0])" : "(snd (%s))[$0]", loop), gen_place, true, budget);
}

static Piece *gen_library(Nest *g, int budget) {
    const char *n = g->n;
    const char *how =
        CHOOSE("scan (+) 0.1 V", "scanEx (+) 0.1 V", "scan (fun a b -> 0.5 * a + b) 0.1 V", "scan max 0.1 V",
               "hist (+) 0.0 N at V", "hist max 0.0 N at V", "scatter x (build (N / 2) (fun q -> 2 * q + 1)) H",
               "scatter w (build N (fun q -> N - 1 - q)) V");
    Str s = {0};
    for (; *how; how++)
        if (*how == 'V' || *how == 'H')
            str_printf(&s, "(build %s (fun %%s -> $1))", *how == 'V' ? n : TEXT("(%s / 2)", n));
        else if (*how == 'N') str_puts(&s, n);
        else str_putc(&s, *how);
    const char *text = TEXT("(%s)[$0]", str_text(&s));
    str_free(&s);
    return gen_over(g, text, gen_place, false, budget);
}

// An array with a name, for the rest of the term.
static Piece *gen_let(Nest *g, int budget) {
    const char *name = TEXT("v%d", g->arrays), *index = nest_indices[g->indices];
    g->indices++;
    Piece *value = gen_real(g, budget - 1);
    g->indices--, g->arrays++;
    Piece *body = gen_real(g, budget);
    g->arrays--;
    Piece *t = piece(g, &real, TEXT("(let %s = build %s (fun %s -> $0) in $1)", name, g->n, index), 2, value, body);
    t->binds = index, t->named = TEXT("%s[$0]", name);
    return t;
}

// ---- Vector and Matrix

static Piece *gen_vectors(Nest *g, int budget) {
    Piece *place;
    switch (pick(g, 9)) {
    case 0: return piece(g, &real, "(vectorSum (vectorMap x (fun t -> t * $0)))", 1, gen_real(g, budget));
    case 1: return piece(g, &real, "(vectorDot (vectorSMul x $0) w)", 1, gen_real(g, budget));
    case 2: return with(g, &real, "(matrixMap m (fun r -> vectorDot r x))[$0]", gen_place);
    case 3: return piece(g, &real, "(matrixTrace (vectorOutProd (vectorSMul w $0) x))", 1, gen_real(g, budget));
    case 4:
        place = gen_place(g);
        return piece(g, &real, "(vectorMap2 x w (fun t u -> t * u * $1))[$0]", 2, place, gen_real(g, budget));
    case 5: return with(g, &real, "(matVec (matrixTranspose m) (vectorAdd x w))[$0]", gen_place);
    case 6: return with(g, &real, "(matrixMul m (vectorOutProd x w))[$0, $1]", gen_place);
    case 7: return with(g, &real, "(vectorSum (vectorSlice x 0 $0))", gen_place);
    default:
        if (g->indices == INDICES) return gen_read(g);
        return gen_over(g, TEXT("(vectorEMul x (build %s (fun %%s -> $1)))[$0]", g->n), gen_place, false, budget);
    }
}

// ---- terms

static Piece *gen_call(Nest *g, int budget) {
    const char *text = CHOOSE("(sin $0)", "(cos $0)", "(tanh $0)", "(exp $0)");
    return piece(g, &real, text, 1, gen_real(g, budget));
}

static Piece *gen_checked(Nest *g, int budget) {
    Piece *at = index_of(g);
    return piece(g, &real, TEXT("(assert (at[$0] < %s) \"a place\" $1)", g->n), 2, at, gen_real(g, budget));
}

static Piece *gen_pair(Nest *g, const char *text, int budget) {
    Piece *left = gen_real(g, budget - 1);
    return piece(g, &real, text, 2, left, gen_real(g, budget - 2));
}

static Piece *gen_real(Nest *g, int budget) {
    bool deeper = g->indices < INDICES;
    if (budget <= 0) return gen_leaf(g);
    switch (pick(g, 20)) {
    case 0:
    case 1:
    case 2:
    case 3: return deeper ? gen_sum(g, budget - 1) : gen_leaf(g);
    case 4:
    case 5: return gen_pair(g, "($0 * $1)", budget);
    case 6:
    case 7: return gen_pair(g, "($0 + $1)", budget);
    case 8:
    case 9: return gen_call(g, budget - 1);
    case 10: {
        Piece *c = gen_condition(g), *yes = gen_real(g, budget - 1);
        return piece(g, &real, "(if $0 then $1 else $2)", 3, c, yes, gen_real(g, budget - 2));
    }
    case 11: {
        Piece *c = gen_condition(g);
        return piece(g, &real, "([$0] * $1)", 2, c, gen_real(g, budget - 1));
    }
    case 12: return deeper ? gen_element(g, budget - 1) : gen_real(g, budget - 1);
    case 13: return deeper ? gen_fold(g, budget - 1) : gen_real(g, budget - 1);
    case 14:
        if (g->loops && deeper) return (chance(g, 70) ? gen_update : gen_states)(g, budget - 1);
        return gen_real(g, budget - 1);
    case 15: return g->loops && deeper ? gen_library(g, budget - 1) : gen_real(g, budget - 1);
    case 16: return g->fails ? gen_checked(g, budget - 1) : gen_real(g, budget - 1);
    case 17: return g->lets && deeper && g->arrays < ARRAYS ? gen_let(g, budget - 1) : gen_real(g, budget - 1);
    case 18: return g->vectors ? gen_vectors(g, budget - 1) : gen_real(g, budget - 1);
    default: return g->loops && deeper && chance(g, 40) ? gen_while(g, budget - 1) : gen_real(g, budget - 1);
    }
}

// ---- programs

static void add_param(Nest *g, const char *name, const Sort *type, const char *spelt) {
    g->s->param[g->s->nparams++] = (Param){.name = name, .type = type, .spelt = g->vectors ? spelt : NULL};
}

Sample *nest_new(Arena *a, uint64_t seed, int size) {
    Sample *s = ARENA_NEW(a, Sample);
    *s = (Sample){.arena = a, .random = {seed}, .nests = true};
    Nest *g = &(Nest){.s = s, .arena = a, .r = &s->random};
    random_bits(g->r);
    g->lets = chance(g, 55), g->loops = chance(g, 35), g->fails = chance(g, 25), g->vectors = chance(g, 15);
    g->n = g->vectors ? "(length x)" : "n";
    if (g->vectors) s->extents = g->n;
    add_param(g, "x", &reals, "Vector");
    add_param(g, "w", &reals, "Vector");
    add_param(g, "at", &integers, "Int[]");
    if (g->vectors) add_param(g, "m", &matrix, "Matrix");
    g->indices = 1;
    int budget = size / 10 + pick(g, 3);
    Piece *body = g->lets && chance(g, 40) ? gen_let(g, budget) : gen_real(g, budget);
    s->body = piece(g, &real, TEXT("sum %s (fun i -> $0)", g->n), 1, body);
    s->body->binds = "i";
    return s;
}

static void print_call(Str *out, const Sample *s) {
    str_puts(out, "(fun x -> f");
    for (int k = 0; k < s->nparams; k++)
        if (!s->param[k].gone) str_printf(out, " %s", s->param[k].name);
    str_puts(out, ") x");
}

void nest_print_derivatives(Str *out, const Sample *s) {
    static const struct {
        const char *name, *by, *direction;
    } forms[] = {{"f_grad", "grad", ""}, {"f_jvp", "jvp", " dx"}, {"f_hvp", "hvp", " dx"}};
    for (size_t k = 0; k < sizeof forms / sizeof *forms; k++) {
        str_printf(out, "entry %s", forms[k].name);
        for (int p = 0; p < s->nparams + !!*forms[k].direction; p++) {
            const Param *q = &s->param[p < s->nparams ? p : 0]; // a direction is like x
            if (q->gone) continue;
            str_printf(out, " (%s: ", p < s->nparams ? q->name : "dx");
            if (q->spelt) str_puts(out, q->spelt);
            else sort_print(out, q->type);
            str_putc(out, ')');
        }
        str_printf(out, " = %s ", forms[k].by);
        print_call(out, s);
        str_printf(out, "%s\n", forms[k].direction);
    }
}
