// The instances of ADBench, by name: problem[/sub-type]/file, such as gmm/1k/gmm_d10_K25.
#ifndef ADBENCH_INSTANCES_H
#define ADBENCH_INSTANCES_H

#include "adbench.h"

enum { INSTANCE_NAME = 96 };

typedef struct Instance {
    char name[INSTANCE_NAME];
    Kind kind;
    bool usual;     // ADBench runs it if nothing is said
    bool replicate; // its file has one data line for all
} Instance;

int64_t all_instances(Instance **to); // sorted by problem, sub-type and size
Kind instance_kind(const char *name); // KINDS if that is no name
bool replicates(const char *name);
int64_t points_of_gmm(const char *name);            // n of gmm/1k/…, 0 if the name does not say it
int64_t size_in(const char *name, const char *key); // the number after `key`, such as _d, in the last part; 0 if none
double size_of(const char *name);                   // by which ADBench's plots are drawn; 0 if the name does not say it

// The observations of ADBench's instance with n cameras and m points, 0 if there is none: a name may lack a digit.
int64_t ba_observations(int64_t n, int64_t m);

#endif
