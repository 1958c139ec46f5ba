// The names that the compiler knows: built-in functions and the elementwise operations of ir/ops.def.
#ifndef FRONT_BUILTINS_H
#define FRONT_BUILTINS_H

#include "ir/ir.h"

typedef enum Builtin {
#define BUILTIN(name, text, least, most, what) BI_##name,
#include "front/builtins.def"
    BI_COUNT
} Builtin;

typedef struct BuiltinInfo {
    const char *name;
    int least, most;  // arguments
    const char *what; // they are, for messages
} BuiltinInfo;
extern const BuiltinInfo builtin_info[BI_COUNT];

// BI_COUNT if there is no built-in function of that name.
Builtin builtin_find(const char *name);
// The elementwise operation that F̃ writes as a function of that name, or OP_COUNT.
Op builtin_find_op(const char *name);
bool builtin_known(const char *name);
void builtin_each(void (*visit)(const char *name, void *value, void *data), void *data);

#endif
