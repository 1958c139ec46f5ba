#ifndef ADBENCH_RUN_H
#define ADBENCH_RUN_H

#include "instances.h"

enum { TOOLS = 32, NAME = 64 };

// A tool's name and how it is run: a module of this program, or a program of its own with the runner's command line.
typedef struct Peer {
    char name[NAME];
    const char *module;  // fsmc, or the path of a shared object; NULL for a program
    const char *command; // words
    bool adapter;        // a program of peers/
    const char *version; // NULL if it is not known
} Peer;

typedef struct Plan {
    Instance *instances;
    int64_t count;
    Peer peers[TOOLS];
    int npeers;
    const char *data, *out; // folders
    const char *minimum, *samples, *derivative_samples, *limit;
    double timeout, tolerance;
    double memory; // bytes that a tool may have, 0: any number
    bool again;
    int64_t rounds; // of each instance by all tools in turn; the least times count
    int threads;
} Plan;

// Those that patterns (as of a shell) select, or that ADBench runs if there is none. A name need not be one of
// ADBench's.
int64_t select_instances(char **patterns, int count, Instance **to);
void add_peer(Plan *plan, const char *text); // NAME, NAME=HOW, or all
void add_usual_peers(Plan *plan);
void find_peers(Plan *plan); // what was given by name alone; those that cannot be run here are left out, by name

int run_plan(const Plan *plan); // an exit status

#endif
