#include "driver/deps.h"

#include <string.h>

// A file's name with the characters escaped that mean something in a rule.
static bool print_name(Compilation *c, const char *name, Str *out) {
    if (strpbrk(name, "\n\r")) {
        diag_error(c->diag, nowhere, "a rule cannot hold the file name `%s`: it has a line break", name);
        return false;
    }
    for (const char *p = name; *p; p++) {
        if (*p == ' ' || *p == '\t' || *p == '#' || *p == ':') {
            // Backslashes just before an escaped character would escape each other.
            for (const char *q = p; q > name && q[-1] == '\\'; q--) str_putc(out, '\\');
            str_putc(out, '\\');
        } else if (*p == '$') {
            str_putc(out, '$');
        }
        str_putc(out, *p);
    }
    return true;
}

bool deps_print(Compilation *c, int ntargets, const char *const *targets, bool phony, Str *out) {
    bool ok = true, console = !strcmp(c->opt->file, "-");
    for (int i = 0; i < ntargets; i++) {
        if (i) str_putc(out, ' ');
        ok &= print_name(c, targets[i], out);
    }
    str_putc(out, ':');
    int n = c->unit ? c->unit->nmodules : 0;
    if (!n && !console) {
        str_putc(out, ' ');
        ok &= print_name(c, c->src->name, out);
    }
    for (int i = 0; i < n; i++) {
        const Module *m = c->unit->modules[i];
        if (m->prelude || (m == c->unit->main && console)) continue;
        str_puts(out, " \\\n  ");
        ok &= print_name(c, m->src->name, out);
    }
    str_putc(out, '\n');
    for (int i = 0; phony && i < n; i++) {
        const Module *m = c->unit->modules[i];
        if (m->prelude || m == c->unit->main) continue;
        str_putc(out, '\n');
        ok &= print_name(c, m->src->name, out);
        str_puts(out, ":\n");
    }
    return ok;
}
