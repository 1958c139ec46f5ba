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
    RulesDone last; // of what fuel is used up by
    void (*watch)(void *data, const RulesDone *now);
    void *watcher;
    VEC(Rewriting) done; // in order, if noting
};

Rules *rules_new(Arena *arena, const bool *off, int64_t fuel, bool noting) {
    Rules *r = ARENA_NEW(arena, Rules);
    *r = (Rules){.off = off, .fuel = fuel, .limited = fuel >= 0, .noting = noting, .last = {.last = ""}};
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

// Uses fuel, if there is a limit and some is left.
static bool use(Rules *r, const char *name, bool pass, Span at) {
    if (!r->limited) return true;
    if (r->fuel == 0) return false;
    r->fuel--;
    r->last = (RulesDone){r->last.steps + 1, name, pass, at};
    if (r->watch) r->watch(r->watcher, &r->last);
    return true;
}

bool rules_step(Rules *r, const char *pass, Span at) { return !r || use(r, pass, true, at); }

RulesDone rules_done(const Rules *r) { return r->last; }

void rules_watch(Rules *r, void (*watch)(void *data, const RulesDone *now), void *data) {
    r->watch = watch, r->watcher = data;
}

bool rules_ask(Rules *r, Rule k, Span at) {
    if (!rule_info[k].form) {
        if (r->off && r->off[k]) return false;
        if (!use(r, rule_info[k].name, false, at)) return false;
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
    Rewriting *done = r->done.data;
    qsort(done, (size_t)r->done.len, sizeof *done, by_place);
    for (int i = 0, n; i < r->done.len; i += n) {
        const RuleInfo *info = &rule_info[done[i].rule];
        for (n = 1; i + n < r->done.len && by_place(&done[i], &done[i + n]) == 0;) n++;
        explain(x, EXPLAIN_RULES, done[i].at, "%s, %d %s: %s", info->name, n, n == 1 ? "time" : "times", info->law);
    }
    if (r->limited && r->fuel == 0 && r->last.steps)
        explain(x, EXPLAIN_RULES, r->last.at, "the last %s that --fuel allows: %s", r->last.pass ? "pass" : "rewriting",
                r->last.last);
}
