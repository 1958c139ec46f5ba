#include "front/builtins.h"

#include <string.h>

const BuiltinInfo builtin_info[BI_COUNT] = {
#define BUILTIN(name, text, least, most, what) {text, least, most, what},
#include "front/builtins.def"
};

Builtin builtin_find(const char *name) {
    for (int i = 0; i < BI_COUNT; i++)
        if (!strcmp(builtin_info[i].name, name)) return (Builtin)i;
    return BI_COUNT;
}

Op builtin_find_op(const char *name) {
    for (int i = 0; i < OP_COUNT; i++)
        if (op_info[i].arity && op_info[i].form == FSM_FN && !strcmp(op_info[i].sym, name)) return (Op)i;
    return OP_COUNT;
}

bool builtin_known(const char *name) { return builtin_find(name) != BI_COUNT || builtin_find_op(name) != OP_COUNT; }

void builtin_each(void (*visit)(const char *name, void *value, void *data), void *data) {
    for (int i = 0; i < BI_COUNT; i++) visit(builtin_info[i].name, NULL, data);
    for (int i = 0; i < OP_COUNT; i++)
        if (op_info[i].arity && op_info[i].form == FSM_FN) visit(op_info[i].sym, NULL, data);
}
