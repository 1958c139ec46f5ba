// Jacobians by rows, of which only what is not zero by structure is there.
#ifndef AD_SPARSE_H
#define AD_SPARSE_H

#include "ad/ad.h"

// The Jacobian of the floating y's by the x's (as for ad_reverse) in compressed rows. A row is an element of the y's, a
// column one of the x's, in order, row-major.
typedef struct AdSparse {
    Node *starts;  // Int[rows + 1]: where the entries of each row begin
    Node *columns; // Int[entries]: ascending in a row, no two equal
    Node *values;  // of the given kind
} AdSparse;
bool ad_sparse(Ir *m, Kind kind, int ny, Node *const *y, int nx, Node *const *x, AdSparse *out, AdError *error);

#endif
