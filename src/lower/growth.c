// The algebra of growth.h.
#include "lower/growth.h"

#include <math.h>
#include <string.h>

static int atoms_cmp(const GrowthTerm *x, const GrowthTerm *y) {
    if (x->n != y->n) return y->n - x->n;
    for (int i = 0; i < x->n; i++)
        if (x->atom[i] != y->atom[i]) return x->atom[i]->id < y->atom[i]->id ? -1 : 1;
    return 0;
}

Growth growth_const(Arena *a, double value) {
    GrowthTerm t = {.coeff = value};
    return (Growth){value != 0, arena_copy(a, &t, sizeof t)};
}

Growth growth_atom(Arena *a, GrowthAtom *x) {
    GrowthTerm t = {.coeff = 1, .n = 1, .atom = arena_copy(a, &x, sizeof x)};
    return (Growth){1, arena_copy(a, &t, sizeof t)};
}

// greater: of two terms of one degree the greater counts, and what the other lacks is 0 there; else their sum.
static Growth merge(Arena *a, Growth x, Growth y, bool greater) {
    Growth r = {0, ARENA_ARRAY(a, GrowthTerm, x.n + y.n + 1)};
    for (int i = 0, j = 0; i < x.n || j < y.n;) {
        int c = i == x.n ? 1 : j == y.n ? -1 : atoms_cmp(&x.term[i], &y.term[j]);
        GrowthTerm t = c <= 0 ? x.term[i++] : y.term[j++];
        if (c) {
            if (greater && t.coeff < 0) continue;
        } else {
            const GrowthTerm *o = &y.term[j++];
            if (o->coeff > t.coeff) t.at = o->at;
            t.coeff = !greater ? t.coeff + o->coeff : o->coeff > t.coeff ? o->coeff : t.coeff;
        }
        if (t.coeff != 0) r.term[r.n++] = t;
    }
    return r;
}

Growth growth_add(Arena *a, Growth x, Growth y) { return !x.n ? y : !y.n ? x : merge(a, x, y, false); }
Growth growth_max(Arena *a, Growth x, Growth y) { return merge(a, x, y, true); }

Growth growth_scale(Arena *a, Growth x, double by) {
    Growth r = {0, ARENA_ARRAY(a, GrowthTerm, x.n + 1)};
    for (int i = 0; i < x.n && by != 0; i++) {
        r.term[r.n] = x.term[i];
        r.term[r.n++].coeff *= by;
    }
    return r;
}

static GrowthTerm term_mul(Arena *a, const GrowthTerm *x, const GrowthTerm *y) {
    GrowthTerm t = {x->coeff * y->coeff, 0, ARENA_ARRAY(a, GrowthAtom *, x->n + y->n + 1), y->at.src ? y->at : x->at};
    for (int i = 0, j = 0; i < x->n || j < y->n;)
        t.atom[t.n++] = j == y->n || (i < x->n && x->atom[i]->id <= y->atom[j]->id) ? x->atom[i++] : y->atom[j++];
    return t;
}

Growth growth_mul(Arena *a, Growth x, Growth y) {
    Growth r = {0};
    for (int i = 0; i < x.n; i++)
        for (int j = 0; j < y.n; j++) {
            GrowthTerm t = term_mul(a, &x.term[i], &y.term[j]);
            r = growth_add(a, r, (Growth){1, arena_copy(a, &t, sizeof t)});
        }
    return r;
}

Growth growth_positive(Arena *a, Growth x) { return growth_max(a, x, (Growth){0}); }

Growth growth_from(Arena *a, Growth x, Span at) {
    Growth r = {x.n, ARENA_ARRAY(a, GrowthTerm, x.n + 1)};
    for (int i = 0; i < x.n; i++) {
        r.term[i] = x.term[i];
        if (!r.term[i].at.src) r.term[i].at = at;
    }
    return r;
}

static int power_of(const GrowthTerm *t, const GrowthAtom *v) {
    int n = 0;
    for (int i = 0; i < t->n; i++) n += t->atom[i] == v;
    return n;
}

bool growth_has(Growth x, const GrowthAtom *v) {
    for (int i = 0; i < x.n; i++)
        if (power_of(&x.term[i], v)) return true;
    return false;
}

// The term without the atom.
static Growth without(Arena *a, const GrowthTerm *t, const GrowthAtom *v) {
    GrowthTerm r = {t->coeff, 0, ARENA_ARRAY(a, GrowthAtom *, t->n + 1), t->at};
    for (int i = 0; i < t->n; i++)
        if (t->atom[i] != v) r.atom[r.n++] = t->atom[i];
    return (Growth){1, arena_copy(a, &r, sizeof r)};
}

static Growth to_the(Arena *a, Growth x, int power) {
    Growth r = growth_const(a, 1);
    for (int i = 0; i < power; i++) r = growth_short(a, growth_mul(a, r, x));
    return r;
}

Growth growth_greatest(Arena *a, Growth x, const GrowthAtom *v, Growth trips) {
    Growth r = {0};
    for (int i = 0; i < x.n; i++) {
        int power = power_of(&x.term[i], v);
        if (power && x.term[i].coeff < 0) continue;
        r = growth_add(a, r, growth_mul(a, without(a, &x.term[i], v), to_the(a, trips, power)));
    }
    return r;
}

// The sum of v^power for v from 0 to below t: t, t^2/2 - t/2, t^3/3 - t^2/2 + t/6; at most t^(p+1)/(p+1).
static Growth power_sum(Arena *a, Growth t, int power, bool exact) {
    Growth r = growth_scale(a, to_the(a, t, power + 1), 1.0 / (power + 1));
    if (!exact || power < 1 || power > 2) return r;
    r = growth_add(a, r, growth_scale(a, to_the(a, t, power), -0.5));
    return power == 2 ? growth_add(a, r, growth_scale(a, t, 1.0 / 6)) : r;
}

Growth growth_sum(Arena *a, Growth x, const GrowthAtom *v, Growth trips, bool exact) {
    Growth r = {0};
    for (int i = 0; i < x.n; i++) {
        int power = power_of(&x.term[i], v);
        bool known = exact && power <= 2;
        if (x.term[i].coeff < 0 && !known) continue;
        r = growth_add(a, r, growth_mul(a, without(a, &x.term[i], v), power_sum(a, trips, power, known)));
    }
    return r;
}

// Is y a multiple of x for all sizes of at least 1? strictly: and another.
static bool divides(const GrowthTerm *x, const GrowthTerm *y, bool strictly) {
    int i = 0;
    for (int j = 0; j < y->n; j++) {
        if (i < x->n && x->atom[i] == y->atom[j]) i++;
        else if (y->atom[j]->index) return false;
    }
    return i == x->n && (!strictly || y->n > x->n);
}

enum { MANY = 48 };

Growth growth_short(Arena *a, Growth x) {
    if (x.n <= MANY) return x;
    Growth r = {x.n, arena_copy(a, x.term, (size_t)x.n * sizeof *x.term)};
    for (int i = r.n; i-- > 1 && r.n > MANY / 2;) { // small ones are at the end
        int to = i - 1;
        while (to >= 0 && !(r.term[to].coeff > 0 && divides(&r.term[i], &r.term[to], false))) to--;
        if (to < 0) continue;
        if (r.term[i].coeff > 0) r.term[to].coeff += r.term[i].coeff;
        memmove(&r.term[i], &r.term[i + 1], (size_t)(r.n - i - 1) * sizeof *r.term);
        r.n--;
    }
    return r;
}

int growth_compare(Growth x, Growth y) {
    for (int i = 0, j = 0; i < x.n || j < y.n;) {
        int degree = i == x.n ? y.term[j].n : j == y.n || x.term[i].n > y.term[j].n ? x.term[i].n : y.term[j].n;
        double left = 0, right = 0;
        for (; i < x.n && x.term[i].n == degree; i++) left += fmax(x.term[i].coeff, 0);
        for (; j < y.n && y.term[j].n == degree; j++) right += fmax(y.term[j].coeff, 0);
        if (left != right) return left < right ? -1 : 1;
    }
    return 0;
}

// t with `of` in the place of atom number `at`, without atom number `out` (-1: none is left out).
static GrowthTerm put_in(Arena *a, const GrowthTerm *t, int at, GrowthAtom *of, int out) {
    GrowthTerm r = {t->coeff, 0, ARENA_ARRAY(a, GrowthAtom *, t->n + 1), t->at};
    for (int k = 0; k < t->n; k++) {
        if (k == out) continue;
        GrowthAtom *x = k == at ? of : t->atom[k];
        int to = r.n++;
        for (; to > 0 && r.atom[to - 1]->id > x->id; to--) r.atom[to] = r.atom[to - 1];
        r.atom[to] = x;
    }
    return r;
}

static int place_of(const GrowthTerm *t, const GrowthAtom *x) {
    int k = 0;
    while (k < t->n && t->atom[k] != x) k++;
    return k < t->n ? k : -1;
}

static bool is_within(Arena *a, const GrowthTerm *t, Growth base);

// With a quotient q of n by k, which counts as at least 1: k q is at most n, and k is.
static bool is_within_with(Arena *a, const GrowthTerm *t, Growth base, GrowthAtom *q) {
    int by = q->by ? place_of(t, q->by) : -1, at = place_of(t, q);
    if (by < 0) return false;
    GrowthTerm less = at < 0 ? put_in(a, t, by, q->of, -1) : put_in(a, t, at, q->of, by);
    return is_within(a, &less, base);
}

static bool is_within(Arena *a, const GrowthTerm *t, Growth base) {
    for (int j = 0; j < base.n; j++)
        if (base.term[j].coeff > 0 && divides(t, &base.term[j], false)) return true;
    for (int k = 0; k < t->n; k++)
        if (is_within_with(a, t, base, t->atom[k])) return true;
    for (int j = 0; j < base.n; j++)
        for (int k = 0; k < base.term[j].n; k++)
            if (is_within_with(a, t, base, base.term[j].atom[k])) return true;
    return false;
}

const GrowthTerm *growth_beyond(Arena *a, Growth x, Growth base) {
    for (int i = 0; i < x.n; i++)
        if (x.term[i].coeff > 0 && !is_within(a, &x.term[i], base)) return &x.term[i];
    return NULL;
}

static bool is_small(const GrowthTerm *t, Growth base) {
    for (int j = 0; j < base.n; j++)
        if (base.term[j].coeff > 0 && divides(t, &base.term[j], true)) return true;
    return false;
}

double growth_ratio(Growth x, Growth base) {
    double ratio = 0;
    for (int i = 0; i < x.n; i++)
        for (int j = 0; j < base.n; j++) {
            if (atoms_cmp(&x.term[i], &base.term[j]) || is_small(&x.term[i], base)) continue;
            double r = x.term[i].coeff / base.term[j].coeff;
            if (r > ratio) ratio = r;
        }
    return ratio;
}

// Three digits, rounded up; a whole number of up to six as it is.
static void print_number(Str *out, double x) {
    double whole = nearbyint(x);
    if (fabs(x - whole) < 1e-9 * fabs(x) + 1e-12 && fabs(whole) < 1e6) {
        str_printf(out, "%.0f", whole);
        return;
    }
    double unit = pow(10, floor(log10(x)) - 2);
    str_printf(out, "%.3g", ceil(x / unit - 1e-6) * unit);
}

static void print_term(Str *out, const GrowthTerm *t) {
    double size = fabs(t->coeff);
    if (t->n == 0 || size != 1) print_number(out, size);
    for (int i = 0, power; i < t->n; i += power) {
        power = power_of(t, t->atom[i]);
        bool quotes = strpbrk(t->atom[i]->text, " /") != NULL;
        if (i || size != 1) str_putc(out, ' ');
        str_printf(out, quotes ? "(%s)" : "%s", t->atom[i]->text);
        if (power > 1) str_printf(out, "^%d", power);
    }
}

void growth_print(Str *out, Growth x) {
    if (!x.n) str_putc(out, '0');
    for (int i = 0; i < x.n; i++) {
        bool less = x.term[i].coeff < 0;
        str_puts(out, i ? less ? " - " : " + " : less ? "-" : "");
        print_term(out, &x.term[i]);
    }
}
