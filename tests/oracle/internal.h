// Shared by the files of the oracle, and tests that need its arguments.
#ifndef ORACLE_INTERNAL_H
#define ORACLE_INTERNAL_H

#include "ad/family.h"
#include "oracle/oracle.h"
#include "support/random.h"

OracleGroup form_group(Form f);

// Arguments for f (of FORM_TANGENT if there is one, else of FORM_VALUE); NULL if the sizes are not possible.
Tensor *arguments_make(Arena *a, const Func *f, int nvalue_inputs, const OracleOptions *o, int trial, Random *r);

// Are the sizes what a version of a function assumes (Ir.positive), or, of others, at least 1? (arguments.c)
bool sizes_assumed(const Func *f, const Tensor *in);

// How deep sequential loops are nested.
int oracle_loop_depth(const Func *f);
// What goes on now, for oracle_where: a stage of the compiler, or a call, which has a trial of at least 0.
void oracle_note_where(const char *entry, const char *stage, int trial);
// The compiler's messages as comments of a test's output.
void oracle_print_messages(const Diag *d);

#endif
