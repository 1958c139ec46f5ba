// Processor time of tests: what groups of processes use, and what tests used in earlier runs.
#ifndef TESTS_TIMES_H
#define TESTS_TIMES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/resource.h>
#include <sys/types.h>

// Seconds that a call of wait4 tells of.
double times_of_usage(const struct rusage *u);
// Seconds that the living processes of a group have used, with those of the children that they waited for. 0 without /proc.
double times_of_group(pid_t group);

// A table of seconds by the names of tests. A file of it has lines `SECONDS NAME`, the dearest first.
typedef struct Times {
    struct TimesRow {
        char *name;
        double seconds;
    } * row;
    size_t n;
} Times;

// Adds the rows of a file to the table; false if there is none. What is known already stays.
bool times_read(Times *t, const char *path);
// 0 if it is not known.
double times_get(const Times *t, const char *name);
void times_set(Times *t, const char *name, double seconds);
double times_sum(const Times *t);
// The dearest first.
void times_sort(Times *t);
// Writes the dearest `most` rows, with three digits or, `rounded`, with one; false if that fails. Readers see the old file or the new one.
bool times_write(Times *t, const char *path, size_t most, bool rounded);
void times_free(Times *t);

#endif
