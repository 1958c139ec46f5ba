// Differentiation of values. Both modes turn IR into IR ([TL] Figs. 13, 15, 16; [FS] Fig. 7): no tape, no accumulators.
#ifndef AD_AD_H
#define AD_AD_H

#include "ir/ir.h"

// Why a derivative cannot be built: the value that stands in the way and a text saying so.
typedef struct AdError {
    Node *at;
    const char *text;
} AdError;

// Tangents: dy[i] becomes the derivative of y[i] in the direction in which x[j] (param or input or state leaves, of any
// rank, floating) moves by dx[j]. A dx[j] of NULL means zero. dy[i] has kind, rank and shape of y[i]; it is a zero if
// y[i] does not depend on any x, or is of kind Int or Bool. False if a construct has no derivative; *error says which.
bool ad_forward(Ir *m, int ny, Node *const *y, Node **dy, int nx, Node *const *x, Node *const *dx, AdError *error);

// Adjoints: x_adj[j] becomes Σ_i (∂y[i]/∂x[j])ᵀ y_adj[i]. y_adj[i] has the shape of y[i]; NULL means zero. Variables that
// are free in the y's belong to the surroundings and are not summed over.
bool ad_reverse(Ir *m, int ny, Node *const *y, Node *const *y_adj, int nx, Node *const *x, Node **x_adj, AdError *error);

// e with forms that are smooth where they are smooth (smooth.c), of HELD operations.
Node *ad_smooth(Ir *m, Node *e);
// e with forms, of HELD operations, for logarithms and quotients of exponentials that do not overflow: for its value.
Node *ad_stable(Ir *m, Node *e);

// Can a derivative flow through e? Floating values, loops and customs, unless stopped.
static inline bool ad_carries(const Node *e) {
    return (kind_is_float(e->kind) && e->op != OP_stop) || e->op == OP_fold || e->op == OP_while || e->op == OP_custom;
}

// The partial derivative of the elementwise operation e by its argument k (0 or 1) as a value; NULL if zero or none.
// (partials.c: reads ops.def)
Node *ad_partial(Ir *m, Node *e, int k);

#endif
