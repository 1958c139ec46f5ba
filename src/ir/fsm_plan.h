// Where values stand in F̃ text: shared by the files of fsm_print only.
#ifndef IR_FSM_PLAN_H
#define IR_FSM_PLAN_H

#include "ir/ir.h"
#include "support/map.h"
#include "support/vec.h"

typedef struct Place Place;

// A part of the text that may begin with `let`s: an entry's or a lambda's body, or what a condition guards.
typedef struct Region {
    struct Region *parent;
    bool guard;  // binds nothing: evaluated only if a condition holds
    int indices; // how many index variables are bound here and around
    int nvars;   // variables bound here, and their names
    Var **vars;
    const char **names;
    Place *lets; // the values bound here, operands before users
} Region;

// One occurrence of a value's text. A value has one place for every region that has to hold it: the variables that it
// mentions may be bound by several binders.
struct Place {
    Node *e;
    Region *home;       // the innermost region around it that binds one of its variables
    Region *at;         // the innermost region around all its uses; once it is planned, where its text stands
    int uses;           // in the text
    int level;          // levels of nesting around it since the last `let`
    bool named;         // has to have a name, as indexing needs it
    bool let;           // is bound by a `let` in `at`
    const char *name;   // of a `let`, given when it is printed
    const char **names; // of a loop's states, or a C function's results, bound by a `let`; NULL for those not needed
    bool *needed;       // which of the states are needed
    Region *sub[2];     // its bodies: a lambda's; `then` and `else`; condition and step of a while loop
    Place *next;        // another place of the same value
    Place *below;       // the next of the region's `let`s
};

typedef struct Plan {
    Arena *arena;
    VEC(const char *) taken; // names that variables cannot have
    int nlets;
    Map places; // Node -> Place
    Map inputs; // the inputs that are mentioned
    Region *root;
} Plan;

// Starts a plan: its root region.
void plan_init(Plan *p, Arena *arena);
void plan_free(Plan *p);
// A region inside parent that binds the variables (none: a guard).
Region *plan_region(Plan *p, Region *parent, int nvars, Var *const *vars);
// Says that e is mentioned in r, a result.
void plan_use(Plan *p, Node *e, Region *r);
// Decides about everything that the roots, whose uses are planned already, need.
void plan_values(Plan *p, int nroots, Node *const *roots);
// The place of e as mentioned in r; NULL for leaves and what was not planned.
Place *plan_find(const Plan *p, const Node *e, const Region *r);
// A loop with several results, which a pattern names.
bool plan_is_multiple(const Node *e);
// Keeps variables from having this name, which must live as long as the plan.
void plan_take(Plan *p, const char *name);
// hint, or hint with a number, such that no variable has that name yet. In the arena.
const char *plan_name(Plan *p, const char *hint);
// A name for the next `let`, once everything is planned.
const char *plan_let_name(Plan *p);

#endif
