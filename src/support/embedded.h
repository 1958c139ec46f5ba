// Files of the source tree that are part of the compiler; the build writes the arrays (cmake/embed.cmake).
#ifndef SUPPORT_EMBEDDED_H
#define SUPPORT_EMBEDDED_H

#include <stddef.h>

typedef struct FsmcEmbedded {
    const char *name; // base name, "linalg.fsm"
    const char *text; // NUL-terminated
    size_t size;      // without the NUL
} FsmcEmbedded;

// runtime/prelude/*.fsm in alphabetical order, ended by a row whose name is NULL.
extern const FsmcEmbedded fsmc_prelude_files[];
// runtime/python/module.py, then that row.
extern const FsmcEmbedded fsmc_python_files[];

#endif
