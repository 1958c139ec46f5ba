// What an entry of a program executes at several sizes, as `fsmc cost` counts it.
#ifndef FSMC_ORACLE_COUNT_H
#define FSMC_ORACLE_COUNT_H

#include "oracle/oracle.h"

enum { ORACLE_SIZES = 2 };

typedef struct OracleCounted {
    int64_t done[ORACLE_SIZES]; // operations, iterations, loads and stores: all that `fsmc cost` counts but bytes
    int64_t data[ORACLE_SIZES]; // numbers in the arguments and results
    int depth;                  // how deep sequential loops are nested, as written
    bool compared;              // values at the first size are those of the interpreter
} OracleCounted;

typedef enum OracleCounting {
    ORACLE_COUNTED,
    ORACLE_REFUSED, // it does not compile
    ORACLE_FAILS,   // a call ends with an error
    ORACLE_WRONG    // a value is not the interpreter's
} OracleCounting;

// Calls the entry with all sizes o->sizes[0], then o->sizes[1]. Arguments are those of oracle_check's first trial for
// o->seed, so entries whose first parameters are alike get the same there. With `compare`, values at the first size
// are compared with those of the program as written, unless the interpreter needs too long for these. *why (in the
// arena) says what is wrong, if anything is.
OracleCounting oracle_count(Arena *a, const Source *src, const char *entry, const OracleOptions *o, bool compare,
                            OracleCounted *c, const char **why);

#endif
