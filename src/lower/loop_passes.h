// The passes over loop trees (loop_passes.def), and what runs them.
#ifndef LOWER_LOOP_PASSES_H
#define LOWER_LOOP_PASSES_H

#include "lower/lower.h"

typedef enum LoopTarget { CPU = 1, GPU = 2, BOTH = CPU | GPU } LoopTarget;

// When a pass runs; the columns of loop_passes.def.
typedef enum LoopPassWhen {
    WHEN_REORDERED = 1, // sums need not keep their order: not with --fp=precise
    WHEN_FAST = 2,      // --fp=fast
    WHEN_SCHEDULED = 4, // -O2 and -O3
    WHEN_LANES = 8,     // there, unless lanes are turned off, and for trees that are not very large
    WHEN_THREADS = 16,  // --threads
    VERSIONS = 32,      // of the trees for sizes of 0 and for the extents of results, too; else only of the tree itself
    NEEDED = 64,        // it cannot be left out
} LoopPassWhen;

// What holds of a tree: a pass works on what others have established, and does nothing in a tree where they have not.
typedef enum LoopPassProperty {
    LOOPS_LANES = 1, // it is decided which loops have lanes
    LOOPS_GRIDS = 2, // it is decided which loops are grids
} LoopPassProperty;

// A loop with lanes, the block that it is in, and what makes each of the temps that there were when these loops were looked for.
typedef struct LaneLoop {
    Block *block;
    Stmt *loop;
    Stmt *const *def; // by temp
    int known;        // so many temps
} LaneLoop;

// A pass changes the tree that it gets; what it makes lives in the arena. Its file has the contract.
typedef void TreePass(Arena *arena, Tree *tree, const LoopOptions *opt);
typedef void LanesPass(Arena *arena, Tree *tree, const LoopOptions *opt, const LaneLoop *at);
#define TREE_PASS(name, function, ...)  TreePass function;
#define LANES_PASS(name, function, ...) LanesPass function;
#include "lower/loop_passes.def"

typedef struct LoopPass {
    const char *name;
    TreePass *run;       // one of the two
    LanesPass *run_loop; // of each loop with lanes
    LoopTarget target;
    unsigned when;                // LoopPassWhen
    unsigned requires, establishes; // LoopPassProperty
    const char *help;
} LoopPass;

extern const LoopPass loop_passes[]; // in the order in which they run, ended by a row whose name is NULL

// What back ends decide by themselves.
typedef struct BackEndDecision {
    const char *name, *file;
    LoopTarget target;
    const char *help;
} BackEndDecision;
extern const BackEndDecision back_end_decisions[]; // ended by a row whose name is NULL

const LoopPass *loop_pass_find(const char *name); // NULL if there is none
// Whether the pass runs with these options, on a tree that is not too large.
bool loop_pass_applies(const LoopPass *p, const LoopOptions *opt);

// Who looks on. Either may be NULL.
typedef struct LoopPassHook {
    void (*before)(void *data, const LoopPass *p, Tree *t);
    void (*after)(void *data, const LoopPass *p, Tree *t); // may check the tree, or print it; once for all loops with lanes
    void *data;
} LoopPassHook;

// Runs those of the n passes that apply, in the order given, on a tree that lower_func made or that was read.
void loop_passes_run(Arena *arena, Tree *tree, const LoopOptions *opt, int n, const LoopPass *const *list, LoopPassHook hook);

#endif
