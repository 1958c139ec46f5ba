// What a folder of results says: the times of tools, and what it was that was measured.
#ifndef ADBENCH_RESULTS_H
#define ADBENCH_RESULTS_H

#include "run.h"

typedef struct Row {
    Instance instance;
    double size;            // by which plots are drawn
    double times[TOOLS][2]; // of objective and derivative in seconds; NAN: not measured; INFINITY: out of time
} Row;

// Rows of a set (gmm/1k, …) follow each other, by their sizes. The first tool is the one that the others are beside.
typedef struct Board {
    Row *rows;
    int64_t count;
    char tools[TOOLS][NAME];
    int ntools;
} Board;

// Of the tools of the plan, or all that there are, and of the instances that patterns select, or all that there are.
Board read_board(const Plan *plan, char **patterns, int count);
bool same_set(const Instance *a, const Instance *b);
const char *set_of(const Instance *i); // gmm/1k
const char *base_of(const Instance *i);
bool read_times(const char *file, double times[2]);
bool measured(const double times[2]); // and in time
// Whose objective (0) or derivative (1) is the quickest, but for the first tool; -1: none.
int best_peer(const Board *b, const Row *row, int what);
double speed_up(const Board *b, const Row *row, int tool, int what); // that time by the tool's; NAN if there is none

// Of the first tool, over rows of one kind: how many there are, and of those that have a peer the geometric means and
// the least of the speed-ups of objective (0) and derivative (1); of all, the mean and the greatest ratio.
typedef struct Summary {
    int64_t rows, compared;
    double mean[2], least[2], ratio, most;
} Summary;
Summary summary_of(const Board *b, Kind kind); // KINDS: of all rows
// How many times as long as the first a tool takes, by the geometric mean.
double mean_slow_down(const Board *b, int tool, int what, int64_t *rows);

// What is known of the machine and of tools: lines `KEY: TEXT` of about.txt.
typedef struct About {
    char lines[64][512];
    int count;
} About;
About read_about(const Plan *plan);
const char *about(const About *a, const char *key); // "" if it is not known
void set_about(About *a, const char *key, const char *value);
void write_about(const Plan *plan, const About *a);
void about_machine(About *a);

const char *three_digits(double value); // at least; until 16 more such texts are made
int print_table(const Plan *plan, char **patterns, int count);
int write_report(const Plan *plan, char **patterns, int count);

#endif
