// Runs the passes over loop trees.
#include "lower/loop_passes.h"

#include "ir/rule.h"

#include <string.h>

const LoopPass loop_passes[] = {
#define TREE_PASS(name, function, target, when, requires, establishes, help)                                                       \
    {#name, function, NULL, target, when, requires, establishes, help},
#define LANES_PASS(name, function, target, when, requires, establishes, help)                                                      \
    {#name, NULL, function, target, when, requires, establishes, help},
#include "lower/loop_passes.def"
    {0}};

const BackEndDecision back_end_decisions[] = {
#define BACK_END(name, file, target, help) {name, file, target, help},
#include "lower/loop_passes.def"
    {0}};

enum { LARGEST_TREE = 100000 }; // temps: lanes are looked for in smaller ones

const LoopPass *loop_pass_find(const char *name) {
    for (const LoopPass *p = loop_passes; p->name; p++)
        if (!strcmp(p->name, name)) return p;
    return NULL;
}

bool loop_pass_applies(const LoopPass *p, const LoopOptions *opt) {
    unsigned given = VERSIONS | NEEDED;
    if (!opt->precise) given |= WHEN_REORDERED;
    if (opt->fast) given |= WHEN_FAST;
    if (opt->scheduled) given |= WHEN_SCHEDULED;
    if (opt->scheduled && opt->lanes) given |= WHEN_LANES;
    if (opt->threads) given |= WHEN_THREADS;
    return p->target & (opt->gpu ? GPU : CPU) && !(p->when & ~given);
}

typedef struct Runner {
    Arena *arena;
    const LoopOptions *opt;
    LoopPassHook hook;
    bool looked;          // for loops with lanes
    VEC(LaneLoop) loops;
} Runner;

// The loops with lanes, which are in no other one.
static void find_lanes(Runner *r, Block *block, Stmt *const *def, int known) {
    for (int i = 0; block && i < block->stmts.len; i++) {
        Stmt *s = block->stmts.data[i];
        if (s->kind == ST_FOR && s->lanes) {
            vec_push(&r->loops, ((LaneLoop){block, s, def, known}));
        } else {
            find_lanes(r, s->body, def, known), find_lanes(r, s->other, def, known);
        }
    }
}

static void begin(Runner *r, const LoopPass *p, Tree *t) {
    diag_current_pass = p->name;
    if (r->hook.before) r->hook.before(r->hook.data, p, t);
}

static void end(Runner *r, const LoopPass *p, Tree *t) {
    if (r->hook.after) r->hook.after(r->hook.data, p, t);
}

// May the pass run, as one more step of --fuel? What is made from nothing else runs in any case.
static bool may_run(const LoopPass *p, const Tree *t) {
    return p->when & NEEDED || rules_step(t->func->ir->rules, p->name, t->func->span);
}

static void run_version(const Runner *r, const LoopPass *p, Tree *t) {
    p->run(r->arena, t, r->opt);
    if (p->when & VERSIONS && t->otherwise) run_version(r, p, t->otherwise);
    if (p->when & VERSIONS && t->sizes) run_version(r, p, t->sizes);
}

// The first n passes of a list, at one loop with lanes after the other. The loops are those that have lanes before the first such
// pass: what passes make of one is theirs. Who looks on does so after the last loop: a look at a tree takes as long as it is large,
// and it may have as many loops.
static void run_loops(Runner *r, int n, const LoopPass *const *list, Tree *t) {
    if (!r->looked) {
        Stmt **def = ARENA_ARRAY(r->arena, Stmt *, t->temps.len + 1);
        tree_definitions(t->body, def);
        find_lanes(r, t->body, def, t->temps.len);
        r->looked = true;
    }
    for (int i = 0; i < r->loops.len; i++)
        for (int k = 0; k < n; k++) {
            if (!may_run(list[k], t)) continue;
            begin(r, list[k], t);
            list[k]->run_loop(r->arena, t, r->opt, &r->loops.data[i]);
            if (i + 1 == r->loops.len) end(r, list[k], t);
        }
}

void loop_passes_run(Arena *arena, Tree *tree, const LoopOptions *opt, int n, const LoopPass *const *list, LoopPassHook hook) {
    Runner r = {.arena = arena, .opt = opt, .hook = hook};
    const LoopPass **applies = ARENA_ARRAY(arena, const LoopPass *, n + 1);
    int count = 0;
    bool large = false, asked = false;
    for (int k = 0; k < n; k++)
        if (loop_pass_applies(list[k], opt)) applies[count++] = list[k];
    for (int k = 0, together; k < count; k += together) {
        const LoopPass *p = applies[k];
        for (together = 1; p->run_loop && k + together < count && applies[k + together]->run_loop;) together++;
        if (p->when & WHEN_LANES && !asked) large = tree->temps.len > LARGEST_TREE, asked = true;
        if (p->when & WHEN_LANES && large) continue;
        if (p->run && may_run(p, tree)) begin(&r, p, tree), run_version(&r, p, tree), end(&r, p, tree);
        if (p->run_loop) run_loops(&r, together, applies + k, tree);
    }
    vec_free(&r.loops);
}
