// Modules: what is known of a tree before it is printed, and the file.
#include "cuda/print.h"

#include "cpu/cpu.h"

#include <ctype.h>

// ---- parameters

// Words of generated code that a parameter must not hide.
static bool hides(const char *name) {
    static const char *const words[] = {
        "call",    "checks",  "run",           "start",          "ctx",  "args", "info", "arrays",   "sizes", "Frame",  "fsm",
        "prepare", "on_host", "input_extents", "output_extents", "fmod", "fabs", "NAN",  "INFINITY", "leaf",  "LEAVES", NULL};
    size_t n = strlen(name);
    if (!strncmp(name, "fsm_", 4)) return true;
    for (int i = 0; words[i]; i++)
        if (!strcmp(words[i], name)) return true;
    for (int k = 0; k < OP_COUNT; k++)
        if (op_is_elementwise((Op)k) && !strcmp(op_info[k].name, name)) return true;
    size_t digits = 0; // those of temps, arrays, kernels and functions end in numbers
    while (digits < n && isdigit((unsigned char)name[n - 1 - digits])) digits++;
    return digits && digits < n && (name[n - 1 - digits] == '_' || (n == digits + 1 && strchr("tcbkf", *name)));
}

static const char **parameters(Arena *a, const Func *f) {
    const char **names = cpu_parameter_names(a, f);
    for (int i = 0; i < f->ninputs + f->noutputs; i++)
        for (bool again = hides(names[i]); again;) {
            names[i] = expr_text(a, "%s_", names[i]), again = false;
            for (int k = 0; k < f->ninputs + f->noutputs; k++) again |= k != i && !strcmp(names[k], names[i]);
        }
    return names;
}

// ---- trees

bool unit_is_dead(const Unit *u, const Stmt *s) {
    switch (s->kind) {
    case ST_LIT:
    case ST_ARG:
    case ST_OP:
    case ST_CONV:
    case ST_SELECT:
    case ST_GET:
    case ST_LOAD: return !u->uses[s->dst];
    case ST_CHECK: return u->def[s->args[0]]->kind == ST_LIT && u->def[s->args[0]]->u.num;
    default: return s->kind == ST_FETCH;
    }
}

static void use(Unit *u, Temp t, const Block *b) { u->uses[t]++, u->user[t] = b; }

static void use_extents(Unit *u, const Buf *b, int from, const Block *block) {
    for (int k = from; b && k < b->rank; k++)
        use(u, b->extent[k], block), use(u, b->extent[k], block); // its text stands more than once
}

// From the end: what nothing uses that comes after it is dead.
static void note_uses(Unit *u, const Block *b) {
    for (int i = b ? b->stmts.len : 0; i-- > 0;) {
        const Stmt *s = b->stmts.data[i];
        note_uses(u, s->other), note_uses(u, s->body);
        if (unit_is_dead(u, s)) continue;
        for (int k = 0; k < s->nargs; k++) use(u, s->args[k], b);
        bool whole = s->kind == ST_NEW || s->kind == ST_FILL || s->kind == ST_COPY;
        use_extents(u, s->buf, whole ? 0 : 1, b), use_extents(u, s->src, 1, b);
        for (int k = 0; s->grid && k < s->grid->ncopies; k++) use_extents(u, s->grid->copy[k], 0, b);
    }
}

static void note_blocks(Map *blocks, const Block *b) {
    if (!b) return;
    map_put(blocks, b, (void *)b);
    for (int i = 0; i < b->stmts.len; i++)
        note_blocks(blocks, b->stmts.data[i]->body), note_blocks(blocks, b->stmts.data[i]->other);
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
    *u = (Unit){.arena = a,
                .diag = diag,
                .tree = tree,
                .func = tree->func,
                .name = name,
                .params = parameters(a, tree->func),
                .may_fail = true};
    u->def = ARENA_ARRAY(a, Stmt *, n);
    u->uses = ARENA_ARRAY(a, int, n);
    u->user = ARENA_ARRAY(a, const Block *, n);
    u->text = ARENA_ARRAY(a, const char *, n);
    u->device = ARENA_ARRAY(a, bool, n);
    u->device_buf = ARENA_ARRAY(a, bool, bufs);
    u->frame = ARENA_ARRAY(a, bool, n);
    u->read = ARENA_ARRAY(a, bool, n);
    u->alias = ARENA_ARRAY(a, Temp, n);
    u->first = ARENA_ARRAY(a, const char *, n);
    u->waits = ARENA_ARRAY(a, int, n);
    u->made = ARENA_ARRAY(a, int, n);
    u->seen = ARENA_ARRAY(a, int, n);
    u->seen_buf = ARENA_ARRAY(a, int, bufs);
    tree_definitions(tree->body, u->def);
    note_uses(u, tree->body);
    u->later = arena_copy(a, u->uses, sizeof *u->later * (size_t)n);
    for (int i = tree->prologue; i-- > 0;) {
        const Stmt *s = tree->body->stmts.data[i];
        bool told = !unit_is_dead(u, s) && (s->kind == ST_CHECK || (s->dst >= 0 && !u->later[s->dst]));
        for (int k = 0; k < s->nargs && told; k++) u->later[s->args[k]]--;
    }
    note_own(u, tree->body);
    place_temps(u);
    return u;
}

static void unit_free(Unit *u) {
    if (!u) return;
    str_free(&u->kernels), str_free(&u->sites);
    map_free(&u->own);
}

static void forget(Unit *u, Str *host) {
    str_free(&u->kernels), str_free(&u->sites), str_free(host);
    u->nkernels = u->nlabels = u->nlaunches = 0, u->nsites = u->first_site;
    u->asks = u->repeats = u->heap = false;
    memset(u->waits, 0, sizeof *u->waits * (size_t)u->tree->temps.len);
    memset(u->read, 0, sizeof *u->read * (size_t)u->tree->temps.len);
}

void unit_print(Unit *u, Str *host) {
    forget(u, host);
    for (int k = 0; k < 2; k++) { // shows what has to be in the frame, then whether something may fail
        host_tree(u, host);
        forget(u, host);
        u->fails = u->failing; // of the first, in which kernels check nothing that the host can
    }
    u->may_fail = u->failing;
    host_tree(u, host);
}

// ---- what cannot be done

static bool find_extern(Diag *diag, const Tree *t, const Block *b) {
    bool found = false;
    for (int i = 0; b && i < b->stmts.len && !found; i++) {
        const Stmt *s = b->stmts.data[i];
        if (s->kind == ST_EXTERN) {
            diag_error(diag, s->span, "entry '%s' calls the C function '%s': a GPU cannot, with --target=cuda", t->func->name,
                       s->u.name);
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
    str_printf(out, "// Made by fsmc from %s.\n", opt->name);
    // For nvcc alone: a processor that runs the kernels has no cuBLAS.
    if (opt->cublas) str_puts(out, "#if defined(__CUDACC__) && !defined(FSM_CUDA_CUBLAS)\n#define FSM_CUDA_CUBLAS 1\n#endif\n");
    str_puts(out, "#include <fsmc/cuda_grid.h>\n\n");
    for (int i = 0; i < ntrees; i++) {
        Tree *t = trees[i];
        Unit *u = unit_new(a, diag, t, names[i]), *otherwise = t->otherwise ? unit_new(a, diag, t->otherwise, names[i]) : NULL;
        Unit *sizes = t->sizes ? unit_new(a, diag, t->sizes, expr_text(a, "%s_sizes", names[i])) : NULL;
        entry_print(out, u, otherwise, sizes, opt);
        if (i + 1 < ntrees) str_putc(out, '\n');
        unit_free(u), unit_free(otherwise), unit_free(sizes);
    }
    return true;
}
