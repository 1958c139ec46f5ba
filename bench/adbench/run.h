#ifndef ADBENCH_RUN_H
#define ADBENCH_RUN_H

#include "instances.h"

enum { TOOLS = 16, NAME = 64 };

// A tool's name and how it is run: a module of this program, or a program of its own with the runner's command line.
typedef struct Peer {
    char name[NAME];
    const char *module;  // fsmc, or the path of a shared object; NULL for a program
    const char *command; // words
} Peer;

typedef struct Plan {
    Instance *instances;
    int64_t count;
    Peer peers[TOOLS];
    int npeers;
    const char *data, *out; // folders
    const char *minimum, *samples, *derivative_samples, *limit;
    double timeout, tolerance;
    bool again;
    int64_t rounds; // of each instance by all tools in turn; the least times count
} Plan;

// Those that patterns (as of a shell) select, or that ADBench runs if there is none. A name need not be one of
// ADBench's.
int64_t select_instances(char **patterns, int count, Instance **to);
void add_peer(Plan *plan, const char *text); // NAME or NAME=HOW
void add_usual_peers(Plan *plan);

int run_plan(const Plan *plan); // an exit status

#endif
