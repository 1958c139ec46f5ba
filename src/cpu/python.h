// Python modules that call compiled entries.
#ifndef CPU_PYTHON_H
#define CPU_PYTHON_H

#include "cpu/cpu.h"

// The module for the entries that an object holds: runtime/python/module.py, then one function per entry. It loads
// `library`, a file name, from its own folder; `source` is named in its documentation. Entries whose names cannot be told
// apart in Python, and sizes of results that Python cannot compute, are reported to diag; false after that.
bool cpu_python(Str *out, Diag *diag, const char *source, const char *library, int nfuncs, Func *const *funcs);
// Whether `import` accepts the name.
bool cpu_python_importable(const char *name);

#endif
