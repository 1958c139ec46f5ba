#include "driver/passes.h"

#include "lower/loop_passes.h"
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
    size_t bytes = sizeof *f->outputs * (size_t)func_roots(f);
    Node **before = malloc(bytes + 1);
    if (!before) diag_out_of_memory();
    if (bytes) memcpy(before, f->outputs, bytes);
    diag_current_pass = p->name;
    p->run(f);
    bool changed = bytes && memcmp(before, f->outputs, bytes);
    free(before);
    return changed;
}

// ---- the pipeline as text

static const char *target_name(LoopTarget t) { return t == CPU ? "CPU" : t == GPU ? "GPU" : "both"; }

static const char *when_name(const LoopPass *p) {
    if (p->when & WHEN_FAST) return "fast";
    if (p->when & WHEN_REORDERED) return "not precise";
    return p->when & WHEN_THREADS ? "threads" : "";
}

// The least level of -O.
static int level_of(const LoopPass *p) { return p->when & (WHEN_SCHEDULED | WHEN_LANES) ? 2 : 0; }

void passes_print(Str *out) {
    str_puts(out, "over values, from -O1\n");
    for (const Pass *p = pass_table; p->name; p++) str_printf(out, "  %-12s%s\n", p->name, p->help);
    str_puts(out, "over loop trees: target, least -O, and where not always: with which --fp, or --threads\n");
    for (const LoopPass *p = loop_passes; p->name; p++)
        str_printf(out, "  %-12s%-5sO%d %-12s%s\n", p->name, target_name(p->target), level_of(p), when_name(p), p->help);
    str_puts(out, "by the back ends themselves\n");
    for (const BackEndDecision *d = back_end_decisions; d->name; d++)
        str_printf(out, "  %-12s%-5s%-15s%s\n", d->name, target_name(d->target), d->file, d->help);
}
