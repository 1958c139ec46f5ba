// Polynomials that say how a count grows: with sizes, with trip counts that only data decides, and, inside of loops,
// with the indices of these. They are upper bounds: what stands in them is never negative, and what is dropped was to
// be subtracted.
#ifndef LOWER_GROWTH_H
#define LOWER_GROWTH_H

#include "support/diag.h"

#include <stdbool.h>

// What a count grows with. Two are the same if their texts are, whatever function they come from.
typedef struct GrowthAtom GrowthAtom;
struct GrowthAtom {
    int id;           // order in texts
    const char *text; // as users read it: `n`, `n/2`, `trips at 12:5`
    bool index;       // of a loop that is still open: it may be 0; all others count as at least 1
    struct Node *size; // an Int over the arguments of the function that it was first met in; NULL: data decides
    const GrowthAtom *by; // of a quotient: what it divides by; NULL: it is none
    GrowthAtom *of;       // and what is divided
};

typedef struct GrowthTerm {
    double coeff;
    int n; // degree
    GrowthAtom **atom; // sorted by id, repeated for powers
    Span at;           // of the innermost loop that most of it comes from; nowhere: of none
} GrowthTerm;

// Sorted: higher degrees first. Lives in an arena, and is never changed.
typedef struct Growth {
    int n;
    GrowthTerm *term;
} Growth;

Growth growth_const(Arena *a, double value);
Growth growth_atom(Arena *a, GrowthAtom *x);
Growth growth_add(Arena *a, Growth x, Growth y);
Growth growth_scale(Arena *a, Growth x, double by);
Growth growth_mul(Arena *a, Growth x, Growth y);
// At least both, term by term.
Growth growth_max(Arena *a, Growth x, Growth y);
// Without the terms that are to be subtracted.
Growth growth_positive(Arena *a, Growth x);
// Each term comes from there.
Growth growth_from(Arena *a, Growth x, Span at);
bool growth_has(Growth x, const GrowthAtom *v);
// At least x for every v from 0 to below `trips`.
Growth growth_greatest(Arena *a, Growth x, const GrowthAtom *v, Growth trips);
// At least the sum of x over v from 0 to below `trips`; exact: that is the trip count, and not only a bound of it.
Growth growth_sum(Arena *a, Growth x, const GrowthAtom *v, Growth trips, bool exact);
// A few terms that are at least x: where there are many, small ones count as much as those that they divide.
Growth growth_short(Arena *a, Growth x);
// Which of two bounds is less for large sizes: < 0: x is.
int growth_compare(Growth x, Growth y);
// The term of x that no term of `base` is a multiple of: x grows faster. NULL: there is none.
const GrowthTerm *growth_beyond(Arena *a, Growth x, Growth base);
// The greatest quotient of x by base that large sizes tend to, whatever their proportions, where nothing is beyond.
double growth_ratio(Growth x, Growth base);
// `3 n^2 m + n + 2`: coefficients of three digits, rounded up.
void growth_print(Str *out, Growth x);

#endif
