// The passes over loop trees, each by itself: tests/loop/PASS/NAME.in is a tree before the pass, NAME.after what it makes of it.
//
//   // fsmc: OPTIONS                       of the command line, such as -O2 --fp=fast
//   // changed: what becomes of what       or   // unchanged: why the pass must leave it alone: then there is no NAME.after
//   // oracle: sizes 3 5                   if wanted: the arguments with which both trees run (oracle/oracle.h)
//
// What both give, in the executor, must be the same; both texts must read back; and each pass has tests of both kinds. With
// FSMC_UPDATE=1 in the environment NAME.after is written anew. Words on the command line: only tests whose names contain one.
#define _POSIX_C_SOURCE 200809L
#include "driver/driver.h"
#include "ir/interp.h"
#include "lower/exec.h"
#include "oracle/internal.h"

#include <dirent.h>
#include <glob.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Passes that have no tests of both kinds yet. That one of them has some is a failure, too.
static const char *const untested[] = {NULL};

enum { TRIALS = 6, WORDS = 32, CHANGED = 1, UNCHANGED = 2 };

typedef struct Test {
    const char *path, *name; // without suffix; PASS/NAME
    char pass[64];
    char *text, *out; // of NAME.in, of NAME.after or NULL
    int kind;         // CHANGED or UNCHANGED
    Options opt;
    OracleOptions with;
    bool ran;     // the pass
    bool numbers; // both trees were run
    Str got, why; // what the pass has made; what is wrong
} Test;

static char *read_text(const char *path) {
    FILE *f = fopen(path, "r");
    if (!f) return NULL;
    Str s = {0};
    char part[4096];
    for (size_t n; (n = fread(part, 1, sizeof part, f)) > 0;) str_write(&s, part, n);
    fclose(f);
    str_text(&s);
    return s.data ? s.data : calloc(1, 1);
}

// ---- what the file says

static bool read_options(Test *t, char *line) {
    static char *argv[WORDS];
    static char list[128];
    int argc = 0;
    argv[argc++] = "fsmc";
    for (char *w = strtok(line, " "); w && argc < WORDS - 2; w = strtok(NULL, " ")) argv[argc++] = w;
    snprintf(list, sizeof list, "--loop-passes=%s", t->pass);
    argv[argc++] = list;
    argv[argc++] = "test.tree";
    options_init(&t->opt);
    return options_parse(&t->opt, argc, argv, &t->why);
}

static bool read_head(Test *t) {
    char first[256];
    if (sscanf(t->text, "// fsmc:%255[^\n]", first) != 1) {
        str_puts(&t->why, "the first line is not `// fsmc: OPTIONS`");
        return false;
    }
    const char *second = strchr(t->text, '\n');
    if (second && !strncmp(second, "\n// changed: ", 13)) t->kind = CHANGED;
    if (second && !strncmp(second, "\n// unchanged: ", 15)) t->kind = UNCHANGED;
    if (!t->kind) str_puts(&t->why, "the second line is neither `// changed: ` nor `// unchanged: `, and why");
    oracle_options_init(&t->with);
    if (!oracle_options_read(&t->with, t->text)) str_puts(&t->why, "a line `// oracle:` is not understood");
    return read_options(t, first) && !t->why.len;
}

// ---- both trees

typedef struct Run {
    const Tensor *in;
    Tensor *out;
    int code;
} Run;

static void execute(Arena *a, const Tree *t, Run *r) {
    const char *error = NULL;
    r->out = ARENA_ARRAY(a, Tensor, t->func->noutputs + 1);
    r->code = tree_exec(a, t, r->in, r->out, NULL, &error);
}

static double largest(const Tensor *t) {
    double most = 1;
    for (int64_t i = 0; i < tensor_count(t); i++) most = fmax(most, isfinite(tensor_get(t, i)) ? fabs(tensor_get(t, i)) : 0);
    return most;
}

static void compare(Test *t, const Func *f, const Run *before, const Run *after) {
    if (before->code != after->code) str_printf(&t->why, "error %d was %d before", after->code, before->code);
    for (int k = 0; k < f->noutputs && !before->code && !t->why.len; k++) {
        const Tensor *x = &before->out[k], *y = &after->out[k];
        double allowed = x->kind == KIND_FLOAT ? 2e-4 : t->opt.fp == CPU_FP_PRECISE || !kind_is_float(x->kind) ? 0 : t->with.tolerance;
        for (int64_t i = 0; i < tensor_count(x) && !t->why.len; i++) {
            double u = tensor_get(x, i), v = tensor_get(y, i);
            if (u == v || (isnan(u) && isnan(v)) || fabs(u - v) <= allowed * largest(x)) continue;
            str_printf(&t->why, "element %" PRId64 " of result %d is %.17g, and was %.17g before", i, k, v, u);
        }
    }
}

static void note_run(void *data, const LoopPass *p, Tree *tree) {
    (void)tree;
    Test *t = data;
    t->ran |= !strcmp(p->name, t->pass);
}

// The text without that of the tree for the extents of results, which reading has made anew.
static void write_text(Test *t, Arena *a, const Tree *tree, const char *when, Str *text) {
    Tree bare = *tree;
    Str why = {0};
    bare.sizes = NULL;
    tree_write(text, &bare);
    if (!tree_round_trips(a, tree, &why)) str_printf(&t->why, "the tree %s reads as another one: %s", when, str_text(&why));
    str_free(&why);
}

static void judge(Test *t, const Str *before) {
    bool changed = strcmp(str_text(before), str_text(&t->got)) != 0;
    if (!t->ran) str_puts(&t->why, "the pass did not run");
    else if (t->kind == UNCHANGED && changed) str_puts(&t->why, "the tree is changed");
    else if (t->kind == UNCHANGED && t->out) str_puts(&t->why, "a .after, but the tree is to be left unchanged");
    else if (t->kind == CHANGED && !changed) str_puts(&t->why, "the tree is left unchanged");
    else if (t->kind == CHANGED && !getenv("FSMC_UPDATE") && !t->out) str_puts(&t->why, "no .after");
    else if (t->kind == CHANGED && !getenv("FSMC_UPDATE") && strcmp(t->out, str_text(&t->got))) str_puts(&t->why, "another tree");
}

static void pass_over(Test *t, Compilation *c, FuncList funcs) {
    Arena *a = c->arena;
    Tree *tree = c->read[0];
    const Func *f = tree->func;
    Run before[TRIALS] = {0}, after;
    Random r = {t->with.seed};
    for (int k = 0; k < TRIALS; k++) {
        before[k].in = arguments_make(a, f, f->ninputs, &t->with, k, &r);
        if (before[k].in) execute(a, tree, &before[k]), t->numbers |= !before[k].code;
    }
    Str text = {0};
    write_text(t, a, tree, "before the pass", &text);
    c->after_loop_pass = note_run, c->after_data = t;
    tree = compile_trees(c, funcs)[0];
    tree_verify(tree);
    write_text(t, a, tree, "after the pass", &t->got);
    for (int k = 0; k < TRIALS && !t->why.len; k++) {
        if (!before[k].in) continue;
        after = before[k];
        execute(a, tree, &after);
        compare(t, f, &before[k], &after);
    }
    if (!t->why.len && !t->numbers) str_puts(&t->why, "the tree cannot be run with random arguments");
    if (!t->why.len) judge(t, &text);
    str_free(&text);
}

static int job(void *data) {
    Test *t = data;
    Compilation *c = compile_new(&t->opt);
    Source src = {"test.tree", t->text, strlen(t->text)};
    FuncList funcs = {0};
    if (compile_load(c, &src) && compile_funcs(c, false, &funcs) && funcs.n == 1) pass_over(t, c, funcs);
    else str_puts(&t->why, "it is not one tree"), diag_print(c->diag, &t->why, false);
    compile_delete(c);
    return 0;
}

// ---- one test

// The lines of what was made and what was expected from the first to the last that differ, or some of these.
static void show_difference(const char *want, const char *got) {
    enum { SOME = 12 };
    while (*want && *want == *got) want++, got++;
    for (int side = 0; side < 2; side++) {
        const char *p = side ? got : want;
        for (int n = 0; n < SOME && *p; n++) {
            int length = (int)strcspn(p, "\n");
            fprintf(stderr, "%c %.*s\n", side ? '+' : '-', length, p);
            p += length + (p[length] == '\n');
        }
    }
}

static void write_out(const Test *t, const char *path) {
    FILE *f = t->kind == CHANGED ? fopen(path, "w") : NULL;
    if (!f) return;
    fputs(str_text(&t->got), f);
    fclose(f);
}

// Its kind, or 0 if it failed.
static int run_test(const char *path) {
    Test t = {.path = path};
    char out[4096];
    int length = (int)strlen(path) - 3, slashes = 0, begin = length, result = 0;
    while (begin > 0 && (path[begin - 1] != '/' || ++slashes < 2)) begin--;
    snprintf(out, sizeof out, "%.*s.after", length, path);
    snprintf(t.pass, sizeof t.pass, "%.*s", (int)strcspn(path + begin, "/"), path + begin);
    t.text = read_text(path), t.out = read_text(out);
    if (!loop_pass_find(t.pass)) str_printf(&t.why, "there is no pass %s", t.pass);
    else if (read_head(&t) && compile_guarded(job, &t, &result)) str_puts(&t.why, "a broken invariant");
    bool ok = !t.why.len;
    if (ok && getenv("FSMC_UPDATE")) write_out(&t, out);
    if (ok) printf("ok %.*s\n", length - begin, path + begin);
    else printf("not ok %.*s: %s\n", length - begin, path + begin, str_text(&t.why));
    fflush(stdout);
    if (!ok && t.got.len) show_difference(t.kind == CHANGED && t.out ? t.out : "", str_text(&t.got));
    str_free(&t.got);
    str_free(&t.why);
    options_free(&t.opt);
    free(t.text);
    free(t.out);
    return ok ? t.kind : 0;
}

// ---- all

static bool is_untested(const char *pass) {
    for (int k = 0; untested[k]; k++)
        if (!strcmp(untested[k], pass)) return true;
    return false;
}

static bool wanted(const char *path, int n, char **words) {
    for (int k = 0; k < n; k++)
        if (strstr(path, words[k])) return true;
    return n == 0;
}

static bool ends_with(const char *text, const char *end) {
    size_t n = strlen(text), m = strlen(end);
    return n > m && !strcmp(text + n - m, end);
}

// Prints what the folder of a pass has beside tests: NAME.in is one, and NAME.after belongs to it.
static void report_strays(const char *folder, const char *pass) {
    struct dirent **entry;
    int n = scandir(folder, &entry, NULL, alphasort);
    if (n < 0) printf("not ok %s: it is no folder\n", pass);
    for (int i = 0; i < n; i++) {
        const char *name = entry[i]->d_name;
        Str in = {0};
        if (ends_with(name, ".after")) {
            str_printf(&in, "%s/%.*s.in", folder, (int)strlen(name) - 6, name);
            if (access(str_text(&in), F_OK)) printf("not ok %s/%s: there is no .in\n", pass, name);
        } else if (name[0] != '.' && !ends_with(name, ".in")) {
            printf("not ok %s/%s: neither .in nor .after\n", pass, name);
        }
        str_free(&in);
        free(entry[i]);
    }
    if (n >= 0) free(entry);
}

// Prints what there is beside the folders of passes, and in these beside tests. Hidden files are left alone.
static void report_all_strays(const char *root) {
    Str all = {0};
    struct dirent **entry;
    str_printf(&all, "%s/tests/loop", root);
    int n = scandir(str_text(&all), &entry, NULL, alphasort);
    for (int i = 0; i < n; i++) {
        const char *name = entry[i]->d_name;
        Str folder = {0};
        str_printf(&folder, "%s/%s", str_text(&all), name);
        if (loop_pass_find(name)) report_strays(str_text(&folder), name);
        else if (name[0] != '.') printf("not ok %s: there is no pass of this name\n", name);
        str_free(&folder);
        free(entry[i]);
    }
    if (n >= 0) free(entry);
    str_free(&all);
}

int main(int argc, char **argv) {
    const char *root = getenv("FSMC_ROOT");
    char pattern[4096];
    if (!root) return fprintf(stderr, "FSMC_ROOT is not set\n"), 1;
    unsigned kinds[PASS_MAX] = {0};
    for (const LoopPass *p = loop_passes; p->name; p++) {
        glob_t found = {0};
        snprintf(pattern, sizeof pattern, "%s/tests/loop/%s/*.in", root, p->name);
        if (glob(pattern, 0, NULL, &found)) found.gl_pathc = 0;
        for (size_t k = 0; k < found.gl_pathc; k++)
            if (wanted(found.gl_pathv[k], argc - 1, argv + 1)) kinds[p - loop_passes] |= (unsigned)run_test(found.gl_pathv[k]);
        globfree(&found);
        if (argc > 1) continue;
        bool both = kinds[p - loop_passes] == (CHANGED | UNCHANGED);
        if (is_untested(p->name) ? !both : both) printf("ok %s has tests\n", p->name);
        else printf("not ok %s has tests: %s\n", p->name, both ? "it is in the list of those without" : "not one of each kind");
    }
    if (argc == 1) report_all_strays(root);
    return 0;
}
