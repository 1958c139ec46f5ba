// Modules: what is known of a tree before it is printed, and the file.
#include "cuda/print.h"

#include "cpu/cpu.h"

#include <ctype.h>

// ---- parameters

// Words of generated code that a parameter must not hide.
static bool hides(const char *name) {
    static const char *const words[] = {"call", "checks", "run", "ctx", "args", "info", "arrays", "sizes", "Frame", "fsm", "prepare", "on_host",
                                        "input_extents", "output_extents", "fmod", "fabs", "NAN", "INFINITY", NULL};
    size_t n = strlen(name);
    for (int i = 0; words[i]; i++)
        if (!strcmp(words[i], name)) return true;
    for (int k = 0; k < OP_COUNT; k++)
        if (op_is_elementwise((Op)k) && !strcmp(op_info[k].name, name)) return true;
    size_t digits = 0; // those of temps, arrays and kernels end in numbers
    while (digits < n && isdigit((unsigned char)name[n - 1 - digits])) digits++;
    return digits && digits < n && (name[n - 1 - digits] == '_' || (n == digits + 1 && strchr("tcbk", *name)));
}

static const char **parameters(Arena *a, const Func *f) {
    const char **names = cpu_parameter_names(a, f);
    for (int i = 0; i < f->ninputs + f->noutputs; i++)
        for (bool again = hides(names[i]); again;) {
            names[i] = arena_printf(a, "%s_", names[i]), again = false;
            for (int k = 0; k < f->ninputs + f->noutputs; k++) again |= k != i && !strcmp(names[k], names[i]);
        }
    return names;
}

// ---- trees

static void note_uses(Unit *u, const Block *b) {
    for (int i = 0; b && i < b->stmts.len; i++) {
        const Stmt *s = b->stmts.data[i];
        for (int k = 0; k < s->nargs; k++) u->uses[s->args[k]]++, u->user[s->args[k]] = b;
        note_uses(u, s->body), note_uses(u, s->other);
    }
}

// The extents of arrays are used where their elements are: more than once, as far as is known here.
static void note_extents(Unit *u) {
    for (int i = 0; i < u->tree->bufs.len; i++) {
        const Buf *b = u->tree->bufs.data[i];
        for (int k = 0; k < b->rank; k++) u->uses[b->extent[k]] += 2;
    }
}

static void note_blocks(Map *blocks, const Block *b) {
    if (!b) return;
    map_put(blocks, b, (void *)b);
    for (int i = 0; i < b->stmts.len; i++) note_blocks(blocks, b->stmts.data[i]->body), note_blocks(blocks, b->stmts.data[i]->other);
}

// The arrays that are new in each iteration of a grid, wherever they come into being.
static void note_own(Unit *u, const Block *b) {
    for (int i = 0; b && i < b->stmts.len; i++) {
        Stmt *s = b->stmts.data[i];
        if (s->grid) {
            Map blocks = {0};
            note_blocks(&blocks, s->body);
            for (int k = 0; k < u->tree->bufs.len; k++) {
                Buf *buf = u->tree->bufs.data[k];
                if (buf->home && map_get(&blocks, buf->home)) map_put(&u->own, buf, s);
            }
            map_free(&blocks);
            continue;
        }
        note_own(u, s->body), note_own(u, s->other);
    }
}

static Unit *unit_new(Arena *a, Diag *diag, const Tree *tree, const char *name) {
    Unit *u = ARENA_NEW(a, Unit);
    int n = tree->temps.len + 1, bufs = 1;
    for (int i = 0; i < tree->bufs.len; i++)
        if (bufs <= tree->bufs.data[i]->id) bufs = tree->bufs.data[i]->id + 1;
    *u = (Unit){.arena = a, .diag = diag, .tree = tree, .func = tree->func, .name = name, .params = parameters(a, tree->func), .may_fail = true};
    u->def = ARENA_ARRAY(a, Stmt *, n);
    u->uses = ARENA_ARRAY(a, int, n);
    u->user = ARENA_ARRAY(a, const Block *, n);
    u->text = ARENA_ARRAY(a, const char *, n);
    u->device = ARENA_ARRAY(a, bool, n);
    u->frame = ARENA_ARRAY(a, bool, n);
    u->read = ARENA_ARRAY(a, bool, n);
    u->made = ARENA_ARRAY(a, int, n);
    u->seen = ARENA_ARRAY(a, int, n);
    u->seen_buf = ARENA_ARRAY(a, int, bufs);
    tree_definitions(tree->body, u->def);
    note_uses(u, tree->body);
    note_extents(u);
    note_own(u, tree->body);
    place_temps(u);
    return u;
}

static void unit_free(Unit *u) {
    if (!u) return;
    str_free(&u->kernels), str_free(&u->sites);
    map_free(&u->own);
}

static void forget(Unit *u) {
    str_free(&u->kernels), str_free(&u->sites);
    u->nkernels = u->nsites = 0;
    memset(u->read, 0, sizeof *u->read * (size_t)u->tree->temps.len);
}

void unit_print(Unit *u, Str *host) {
    host_tree(u, host); // shows what has to be in the frame, and whether something may fail
    str_free(host);
    bool fails = u->nsites > 0;
    forget(u);
    host_tree(u, host);
    str_free(host);
    forget(u);
    u->may_fail = fails;
    host_tree(u, host);
}

// ---- what cannot be done

static bool find_extern(Diag *diag, const Tree *t, const Block *b) {
    bool found = false;
    for (int i = 0; b && i < b->stmts.len && !found; i++) {
        const Stmt *s = b->stmts.data[i];
        if (s->kind == ST_EXTERN) {
            diag_error(diag, s->span, "entry '%s' calls the C function '%s': a GPU cannot, with --target=cuda", t->func->name, s->u.name);
            return true;
        }
        found = find_extern(diag, t, s->body) || find_extern(diag, t, s->other);
    }
    return found;
}

bool cuda_print(Str *out, Arena *a, Diag *diag, int ntrees, Tree *const *trees, const CudaOptions *opt) {
    bool ok = true;
    const char **names = cpu_entry_names(a, diag, ntrees, trees);
    for (int i = 0; i < ntrees; i++) ok &= !find_extern(diag, trees[i], trees[i]->body);
    if (!ok || !names) return false;
    str_printf(out, "// Made by fsmc from %s.\n#include <fsmc/cuda_grid.h>\n\n", opt->name);
    for (int i = 0; i < ntrees; i++) {
        Tree *t = trees[i];
        Unit *u = unit_new(a, diag, t, names[i]), *otherwise = t->otherwise ? unit_new(a, diag, t->otherwise, names[i]) : NULL;
        Unit *sizes = t->sizes ? unit_new(a, diag, t->sizes, arena_printf(a, "%s_sizes", names[i])) : NULL;
        if (otherwise) otherwise->empty = true;
        entry_print(out, u, otherwise, sizes, opt);
        if (i + 1 < ntrees) str_putc(out, '\n');
        unit_free(u), unit_free(otherwise), unit_free(sizes);
    }
    return true;
}
