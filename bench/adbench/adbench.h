// The four problems of ADBench, their results, and what a tool does with them. A tool is linked in, a shared object
// that defines `const Tool adbench_tool`, or a program with the command line of ADBench's runner (docs/benchmarks.md).
#ifndef ADBENCH_H
#define ADBENCH_H

#include <stdbool.h>
#include <stdint.h>

typedef enum Kind { GMM, BA, LSTM, HAND, HAND_COMPLICATED, KINDS } Kind;
extern const char *const kind_names[KINDS]; // as ADBench's runner calls them

static inline bool is_hand(Kind kind) { return kind == HAND || kind == HAND_COMPLICATED; }

enum {
    THETAS = 26,
    FINGERS = 5,
    BONES = 22,
    CAMERA = 11,
    BLOCK = 15,
    ENTRIES = 31
}; // BA: entries of a row, and of an observation

// All arrays are row-major without gaps.
typedef struct Gmm {
    int64_t d, k, n, m;
    double gamma, sign;               // the sign of the prior: 1 in ADBench, -1 in GradBench
    double *alphas, *means, *icf, *x; // [k], [k][d], [k][d (d + 1) / 2], [n][d]; the first three follow each other
} Gmm;

typedef struct Ba {
    int64_t n, m, p;
    double *cams, *points, *weights, *feats; // [n][11], [m][3], [p], [p][2]
    int32_t *obs;                            // [p][2]: camera and point
} Ba;

typedef struct Lstm {
    int64_t l, c, b;
    double *params, *extra, *state, *sequence; // [2 l][4 b], [3][b], [2 l][b], [c][b]; the first two follow each other
} Lstm;

typedef struct Hand {
    int64_t bones, vertices, shares, triangles, n; // shares: of bones in vertices, all together
    double theta[THETAS];
    double *base, *inverse;  // [bones][4][4]
    double *rest;            // [vertices][3]
    double *weights;         // [shares]
    double *points, *us;     // [n][3]; complicated: [n][2]
    int32_t *parents;        // [bones]
    int32_t *starts, *by;    // [vertices + 1]: where the shares of a vertex begin; [shares]: their bones
    int32_t *corners, *corr; // [triangles][3], [n]
} Hand;

typedef struct Problem {
    Kind kind;
    Gmm gmm;
    Ba ba;
    Lstm lstm;
    Hand hand;
} Problem;

// GMM and LSTM: a number and its gradient. BA: 2 p reprojection errors, then p weight errors; the entries of the
// Jacobian row by row, and its offsets and columns. HAND: 3 n errors; the Jacobian column by column.
typedef struct Results {
    int64_t values, derivatives, rows, columns; // rows and columns of the Jacobian
    double *value, *derivative;
    int64_t *starts; // BA
    int32_t *places; // BA
} Results;

// Errors are texts that live until the next call; NULL is success.
typedef struct Tool {
    const char *name;
    const char *version;                      // and how it was compiled
    void *(*prepare)(const Problem *problem); // NULL if there is no memory
    const char *(*objective)(void *state, Results *results);
    const char *(*derivative)(void *state, Results *results);
    void (*release)(void *state);
} Tool;

extern const Tool fsmc_tool;

// Exit statuses, also those of a runner.
enum { STATUS_DIFFERS = 1, STATUS_USAGE = 2, STATUS_FILE = 3, STATUS_TOOL = 4, STATUS_PLOTS = 5 };

// ---- problem.c
Kind kind_named(const char *name); // KINDS if there is none
void problem_free(Problem *problem);
Results results_new(const Problem *problem, bool derivative);
void results_free(Results *results);
const char *problem_text(const Problem *problem); // its sizes; until the next call

// ---- read.c, read_hand.c
Problem read_problem(Kind kind, const char *file, bool replicate); // replicate: one data line of GMM stands for all
void read_hand(Problem *problem, const char *file);

// ---- generate.c
void generate(const char *folder, const char *instance); // writes folder/instance.txt, and what it needs

// ---- time.c
typedef struct Timing {
    double minimum, limit; // seconds
    int64_t samples;
} Timing;
double time_calls(const Timing *timing, const char *(*call)(void *, Results *), void *state, Results *results);

// ---- write.c
void write_times(const char *file, double objective, double derivative);
void write_values(const char *file, const Problem *problem, const Results *results);
void write_derivative(const char *file, const Problem *problem, const Results *results);

// ---- compare.c
typedef struct Comparison {
    double largest, sum;
    int64_t compared, violations;
    bool shape; // the files do not have the same numbers of numbers
} Comparison;
Comparison compare_files(const char *file, const char *reference, double tolerance);
void write_comparison(const char *to, const char *file, const char *reference, double tolerance, const Comparison *c);
double difference(double x, double y); // ADBench's measure; infinite if one is NaN

// ---- expected.c
double compare_expected(const char *file, const Problem *problem, const Results *results); // the largest difference

#endif
