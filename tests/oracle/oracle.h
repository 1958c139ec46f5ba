// The oracle: one F̃ program run by every engine, after every pass and at every level of optimisation, and its
// derivatives in both modes checked against each other and against differences.
#ifndef ORACLE_ORACLE_H
#define ORACLE_ORACLE_H

#include "driver/compile.h"
#include "ir/tensor.h"

// What is checked of an entry.
typedef enum OracleGroup {
    ORACLE_ENGINES,     // all engines agree on the entry
    ORACLE_DERIVATIVES, // the dot-product identity, differences; the engines agree on tangents and adjoints
    ORACLE_SECOND,      // three ways to a Hessian times a vector; the engines agree on them
    ORACLE_GROUPS
} OracleGroup;
extern const char *const oracle_group_names[ORACLE_GROUPS];

// Code for a GPU: first it is printed, for all forms of all entries, then what it was compiled to is called (tests/cuda).
typedef struct OracleCuda {
    Str *text;          // where it is printed; NULL: `library` is called
    void *library;      // of dlopen
    const char *prefix; // of the names of entries
} OracleCuda;

typedef struct OracleOptions {
    uint64_t seed; // of the arguments
    int trials;    // calls of each entry
    int nsizes;    // sizes to choose from; the first trial takes the first for all sizes
    int64_t sizes[16];
    double low, high;              // range of floating arguments
    int64_t int_low, int_high;     // range of Int arguments; if empty: 0 to about the largest size
    int64_t count_low, count_high; // the same where costs are compared (oracle_worth), if not 0
    unsigned levels;               // bit k: compile at -Ok
    // All passes of LLVM at every level, for all forms; all trials after every pass; all ways to second derivatives
    // through these, and both first derivatives of each entry as CUDA code.
    bool thorough;
    const char *cpu;               // compiled for this one; NULL: this processor's own, and at -O0 one without AVX-512
    unsigned second;               // those of them at which second derivatives are compiled too
    int groups;                    // check the first so many of OracleGroup
    bool says_groups;              // this is how many the program says
    bool host;                     // not as CUDA code
    bool written;                  // only as written: no passes, no compiled code
    bool differences;              // the entries are smooth where they are called
    bool ties;                     // floating arguments are multiples of 1/2, so that they meet kinks: no differences
    bool precise;           // by --fp=precise: values that are NaN or infinite agree too; derivatives may have some where they
                            // are not compared
    bool fast;              // by --fp=fast
    bool eager_states;      // compiled code may fail where a loop's state is computed that turns out not to be needed
    double tolerance;       // between engines, relative to the largest element
    int64_t tape_limit;     // --tape-limit
    bool worth;             // for tests/random: oracle_worth is asked
    bool tight;             // it, or an attribute, may be too small for some loop
    const OracleCuda *cuda; // not NULL: that is checked, and no other engine
    const bool *rules_off;  // NULL, or for each Rule whether it is left out (--disable-rule); costs are not bounded then
    bool *reached;   // if not NULL: becomes true for the operations and structural kinds of the entries as written and of their
                     // derivatives
    double identity; // of the dot-product identity and between second derivatives
    int cost_bound;  // of derivatives, if not 0: known to be above the bound of check_costs
    struct OracleCost *cost; // if not NULL: what the derivatives cost
    bool print_costs;        // of each derivative, in each trial
} OracleOptions;

// The largest cost of a derivative so far, in terms of the bound: see check_costs.
typedef struct OracleCost {
    double ratio, bound;
    char what[160]; // entry and form
} OracleCost;

void oracle_options_init(OracleOptions *o);
// The levels of x86-64 above the first that this processor has, the lowest first: names for OracleOptions.cpu. Returns how many.
enum { ORACLE_CPUS = 3 };
int oracle_cpus(const char **cpu);
// Reads lines `// oracle: WORD VALUE…` from a source: `sizes 1 2 5`, `range LOW HIGH`, `ints LOW HIGH`, `trials N`,
// `counts LOW HIGH` (ints where costs are compared), `seed N`, `groups N`, `levels 0123` (digits of -O), `host` (not as CUDA
// code), `kinks` (no differences), `eager`, `precise`, `fast`, `ties`, `tape N`, `tolerance X`, `identity X`, `cost N`. False if one
// is not understood.
bool oracle_options_read(OracleOptions *o, const char *text);

// Called for every group of every entry; why is NULL if all is well, and begins with "skip: " if it cannot be checked.
typedef void OracleReport(void *data, const char *entry, OracleGroup group, const char *why);

// Checks all entries of a source. False, with the compiler's messages printed to standard output as comments, if it
// does not compile. Broken invariants leave through the boundary of diag_set_boundary.
bool oracle_check(const Source *src, const OracleOptions *o, OracleReport *report, void *data);
// What rules and passes are worth. Costs are operations of loop trees that the results need (tree_exec_needed), weighted as in
// ir/ops.def, of all trials together but those in which a size is 0.
typedef struct OracleWorth {
    bool each_pass; // also without each pass that saves operations
    bool each_rule; // and without each rule that rewrote something
    // If not NULL: called where the form of an entry costs more than without the rules (`without` is "rules"), a pass or a rule.
    void (*cost)(void *data, const char *entry, const char *form, const char *without, int64_t work, int64_t less);
    int64_t work, without;    // in all
    int64_t numbers, skipped; // compared; those among them of infinite terms
} OracleWorth;

// The part of the size of their terms (ir/terms.h) by which numbers may differ from those as written; if anything is computed in
// single precision, it is larger.
#define ORACLE_TERMS        1e-12
#define ORACLE_TERMS_SINGLE 1e-3

// Compares the values of all entries of a source, and of their derivatives, with what they are as written: by the loop trees
// that the compiler makes with all rules and passes, and without. Reports what differs; else as oracle_check.
bool oracle_worth(const Source *src, const OracleOptions *o, OracleWorth *w, OracleReport *report, void *data);
// The text of what went on last, for reports of crashes: "ENTRY: after PASS, trial N".
const char *oracle_where(void);

#endif
