// Values and types as F̃ writes them, for people: long arrays are shortened.
#ifndef TOOLS_SHOW_H
#define TOOLS_SHOW_H

#include "ir/tensor.h"

void show_value(Str *out, const SigType *type, const Tensor *leaves);
// With the extents of the leaves; those of the type if leaves is NULL.
void show_type(Str *out, const SigType *type, const Tensor *leaves);

#endif
