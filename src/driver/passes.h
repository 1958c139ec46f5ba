// The table of passes.
#ifndef DRIVER_PASSES_H
#define DRIVER_PASSES_H

#include "ir/ir.h"
#include "support/str.h"

// What a pass needs of a program, and what holds after it.
typedef enum PassProperty {
    PASS_SIMPLE = 1,  // simplified
    PASS_KEPT = 2,    // what is kept of loops has been decided: not a second time
    PASS_PLANNED = 4, // arranged for loops (Ir.planning): no longer what F̃ can say
} PassProperty;

typedef struct Pass {
    const char *name;
    void (*run)(Func *f);
    unsigned requires, establishes; // PassProperty
    const char *help;
} Pass;

extern const Pass pass_table[]; // in the order in which they run, ended by a row whose name is NULL

const Pass *pass_find(const char *name); // NULL if there is none
// The property names a pass that establishes it.
const char *pass_establishing(unsigned property);
// Runs p on f; true if it changed anything.
bool pass_run(const Pass *p, Func *f);

// The whole pipeline, a line each: passes over values, passes over loop trees, and what back ends decide by themselves.
void passes_print(Str *out);

#endif
