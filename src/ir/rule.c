#include "ir/rule.h"

#include "support/vec.h"

#include <stdlib.h>

const RuleInfo rule_info[RULE_COUNT] = {
#define USE_RULE                                false, false
#define USE_COARSE                              false, true
#define USE_FORM                                true, false
#define RULE(name, use, source, law, condition) {#name, USE_##use, source, law, condition},
#include "ir/rules.def"
};

typedef struct Rewriting {
    Rule rule;
    Span at;
} Rewriting;

struct Rules {
    const bool *off;
    int64_t fuel, count[RULE_COUNT];
    bool noting, limited;
    VEC(Rewriting) done; // in order, if noting
};

Rules *rules_new(Arena *arena, const bool *off, int64_t fuel, bool noting) {
    Rules *r = ARENA_NEW(arena, Rules);
    *r = (Rules){.off = off, .fuel = fuel, .limited = fuel >= 0, .noting = noting};
    return r;
}

void rules_delete(Rules *r) {
    if (r) vec_free(&r->done);
}

bool rules_restricted(const Rules *r) {
    if (!r || r->limited) return r;
    for (int k = 0; k < RULE_COUNT; k++)
        if (r->off && r->off[k]) return true;
    return false;
}

int64_t rules_count(const Rules *r, Rule k) { return r->count[k]; }

bool rules_ask(Rules *r, Rule k, Span at) {
    if (!rule_info[k].form) {
        if (r->off && r->off[k]) return false;
        if (r->limited && r->fuel == 0) return false;
        if (r->limited) r->fuel--;
    }
    r->count[k]++;
    if (r->noting) vec_push(&r->done, ((Rewriting){k, at}));
    return true;
}

// ---- notes

static int by_place(const void *p, const void *q) {
    const Rewriting *a = p, *b = q;
    if (a->at.src != b->at.src) return a->at.src < b->at.src ? -1 : 1; // explain_print orders sources by name
    if (a->at.begin != b->at.begin) return a->at.begin < b->at.begin ? -1 : 1;
    return (int)a->rule - (int)b->rule;
}

void rules_explain(Rules *r, Explain *x) {
    if (!r || !r->done.len) return;
    Rewriting *done = r->done.data, last = vec_last(&r->done);
    for (int i = r->done.len; r->limited && i-- > 0;) { // what the fuel was used up for
        last = done[i];
        if (!rule_info[last.rule].form) break;
    }
    qsort(done, (size_t)r->done.len, sizeof *done, by_place);
    for (int i = 0, n; i < r->done.len; i += n) {
        const RuleInfo *info = &rule_info[done[i].rule];
        for (n = 1; i + n < r->done.len && by_place(&done[i], &done[i + n]) == 0;) n++;
        explain(x, EXPLAIN_RULES, done[i].at, "%s, %d %s: %s", info->name, n, n == 1 ? "time" : "times", info->law);
    }
    if (r->limited && r->fuel == 0 && !rule_info[last.rule].form)
        explain(x, EXPLAIN_RULES, last.at, "the last rewriting that --fuel allows: %s", rule_info[last.rule].name);
}
