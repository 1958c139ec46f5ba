// Shared by the files of the oracle only.
#ifndef ORACLE_INTERNAL_H
#define ORACLE_INTERNAL_H

#include "oracle/oracle.h"

// The programs made from an entry f with floating inputs x and outputs y: itself, and with directions v of x and w of y
// as further inputs
typedef enum Form {
    FORM_VALUE,   // y
    FORM_TANGENT, // dy, y moving along v (forward mode)
    FORM_ADJOINT, // the adjoint of x for that w of y (reverse mode)
    FORM_FR,      // the derivative of the adjoint along v: forward over reverse
    FORM_RF,      // the adjoint of <w, tangent along v>: reverse over forward
    FORM_RR,      // the adjoint of <v, adjoint>: reverse over reverse
    FORMS
} Form;
extern const char *const form_names[FORMS];
OracleGroup form_group(Form f);

// An entry in one Ir, in all forms; form[k] is NULL if there is no such derivative (error[k] says why).
typedef struct Family {
    Func *form[FORMS];
    const char *error[FORMS];
} Family;
// Derives up to `groups` of forms. The names of the functions are the entry's with a suffix.
Family family_derive(Func *f, int groups);

typedef struct Random {
    uint64_t state;
} Random;
uint64_t random_bits(Random *r);
double random_real(Random *r, double low, double high);
int64_t random_int(Random *r, int64_t low, int64_t high); // both ends included

// Arguments for f (of FORM_TANGENT if there is one, else of FORM_VALUE); NULL if the sizes are not possible.
Tensor *arguments_make(Arena *a, const Func *f, int nvalue_inputs, const OracleOptions *o, int trial, Random *r);

#endif
