// The rules by name (rules.def): which of them may rewrite, and what they did.
#ifndef IR_RULE_H
#define IR_RULE_H

#include "ir/ir.h"

typedef enum Rule {
#define RULE(name, ...) RULE_##name,
#include "ir/rules.def"
    RULE_COUNT
} Rule;

typedef struct RuleInfo { // the columns of rules.def
    const char *name;
    bool form;   // always applies
    bool coarse; // part of coarsening
    const char *source, *law, *condition;
} RuleInfo;
extern const RuleInfo rule_info[RULE_COUNT];

typedef struct Rules Rules;

// Of one compilation. Without one (Ir.rules is NULL), all rules apply and nothing is counted. fuel: how many rewritings
// there may be, -1: any number. `off` has RULE_COUNT entries and outlives it; NULL: none is off.
Rules *rules_new(Arena *arena, const bool *off, int64_t fuel, bool noting);
void rules_delete(Rules *r);
bool rules_restricted(const Rules *r);       // is any off, or is there a limit? r may be NULL
int64_t rules_count(const Rules *r, Rule k); // how often it has rewritten a term
// Notes which rules rewrote what, and how often, if r was made to remember.
void rules_explain(Rules *r, Explain *x);

bool rules_ask(Rules *r, Rule k, Span at);

// Asked before a pass that has a name of its own changes a function: it is a step like a rewriting. r may be NULL.
bool rules_step(Rules *r, const char *pass, Span at);

// What has been done: how many rewritings and passes there were, and which was the last, a rule or a pass, and where; "" if there
// was none. r must have a limit.
typedef struct RulesDone {
    int64_t steps;
    const char *last;
    bool pass; // that is a pass
    Span at;
} RulesDone;
RulesDone rules_done(const Rules *r);
// Calls watch(data, …) at each step, before it is done.
void rules_watch(Rules *r, void (*watch)(void *data, const RulesDone *now), void *data);

// Asked right before a term is rewritten by rule k, when pattern and condition hold: may it?
static inline bool rule(Ir *m, Rule k) { return !m->rules || rules_ask(m->rules, k, m->span); }

#endif
