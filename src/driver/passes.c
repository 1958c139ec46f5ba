#include "driver/passes.h"

#include "pass/pass.h"

#include <stdlib.h>
#include <string.h>

const Pass pass_table[] = {
#define PASS(name, function, requires, establishes, help) {#name, function, requires, establishes, help},
#include "driver/passes.def"
    {NULL, NULL, 0, 0, NULL}};

const Pass *pass_find(const char *name) {
    for (const Pass *p = pass_table; p->name; p++)
        if (!strcmp(p->name, name)) return p;
    return NULL;
}

const char *pass_establishing(unsigned property) {
    for (const Pass *p = pass_table; p->name; p++)
        if (p->establishes & property) return p->name;
    return NULL;
}

bool pass_run(const Pass *p, Func *f) {
    size_t bytes = sizeof *f->outputs * (size_t)f->noutputs;
    Node **before = malloc(bytes + 1);
    if (!before) diag_out_of_memory();
    if (bytes) memcpy(before, f->outputs, bytes);
    diag_current_pass = p->name;
    p->run(f);
    bool changed = bytes && memcmp(before, f->outputs, bytes);
    free(before);
    return changed;
}
