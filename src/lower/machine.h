// The table of what the schedule's estimates assume (machine.def).
#ifndef LOWER_MACHINE_H
#define LOWER_MACHINE_H

#include "ir/ir.h"

#include <stddef.h>

typedef struct Machine {
#define MACHINE(name, ...) double name;
#include "lower/machine.def"
} Machine;
typedef struct MachineRow {
    const char *name;
    size_t offset; // in a Machine
    double least, most;
    const char *help;
} MachineRow;
extern const MachineRow machine_rows[];
extern const int machine_nrows;
extern const Machine machine_default;
static inline double *machine_value(Machine *m, const MachineRow *row) { return (double *)((char *)m + row->offset); }

// Reads lines `name value`; what is left out stays as it is in *m. False if there is an error, which was reported.
bool machine_read(Machine *m, Diag *diag, const Source *src);
void machine_write(Str *out, const Machine *m); // such lines, with comments

double machine_op(const Machine *m, Op op); // the time of an operation

#endif
