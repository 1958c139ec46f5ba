// The manifest: what a module exports, as JSON for tools (share/fsmc/manifest.schema.json describes it).
#ifndef DRIVER_MANIFEST_H
#define DRIVER_MANIFEST_H

#include "driver/compile.h"

// Appends the manifest of the entries; `name`: of the header and object, without directories or suffix.
void manifest_print(Str *out, const Compilation *c, const char *name, const FuncList *funcs);

#endif
