// An entry's derivatives as functions of their own: what checks of derivatives call.
#ifndef AD_FAMILY_H
#define AD_FAMILY_H

#include "ir/ir.h"

// The functions made from an entry f with floating inputs x and outputs y: itself, and with directions v of x and w of y
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

// An entry in one Ir, in all forms; form[k] is NULL if there is no such derivative (error[k] says why).
typedef struct Family {
    Func *form[FORMS];
    const char *error[FORMS];
} Family;
// Rules of customVjp and customJvp are used where Ir.keep_customs was set before f was made.
// Derives the forms up to this order (0, 1 or 2). The names of the functions are the entry's with a suffix.
Family family_derive(Func *f, int order);

#endif
