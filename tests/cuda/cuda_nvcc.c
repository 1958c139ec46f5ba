// Programs of tests/ad, and their first derivatives, as nvcc takes them: without a warning. In the suite nvcc's front
// end and code generator get those entries that together use all that any of them uses; ptxas and the host's compiler,
// which take ten times as long, those that have most of it, for two kinds of GPUs. With -a all get all programs.
// Skipped where there is no nvcc (on the PATH, or what FSM_NVCC names).
#define _POSIX_C_SOURCE 200809L
#include "driver/file.h"
#include "support/arena.h"
#include "support/diag.h"
#include "support/str.h"
#include "support/vec.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LEAST_USES = 200 }; // that entries have: with fewer, something is no longer found

// Compiles the files that `list`, a command, names, two at a time. Each reports when it is done: all together may take minutes.
static int compile(Arena *a, const char *folder, const char *list, const char *what, const char *options) {
    const char *nvcc = getenv("FSM_NVCC"), *root = getenv("FSMC_ROOT");
    return system(arena_printf(
        a,
        "cd '%s' && %s | xargs -P 2 -I FILE sh -c '"
        "\"%s\" -std=c++17 -Xcicc -O0 -Xptxas -O0 -Werror all-warnings -I \"%s/include\" %s FILE -o FILE.out "
        "&& echo ok FILE%s || { echo not ok FILE%s; exit 1; }'",
        folder, list, nvcc ? nvcc : "nvcc", root, options, what, what));
}

// ---- the entries that are enough

typedef VEC(uint64_t) Words;

typedef struct Entry {
    const char *text;
    size_t len;
    Words uses; // hashes of what it uses; then their numbers
} Entry;

typedef VEC(Entry) Entries;

static int compare_words(const void *x, const void *y) {
    const uint64_t *a = x, *b = y;
    return (*a > *b) - (*a < *b);
}
static void sort_words(Words *w) {
    if (!w->len) return;
    qsort(w->data, (size_t)w->len, sizeof *w->data, compare_words);
    int n = 1;
    for (int i = 1; i < w->len; i++)
        if (w->data[i] != w->data[n - 1]) w->data[n++] = w->data[i];
    w->len = n;
}

static bool begins(const char *text, const char *with) { return !strncmp(text, with, strlen(with)); }
static bool is_letter(char c) { return isalpha((unsigned char)c) || c == '_'; }

// The end of a name with its scopes.
static const char *name_end(const char *p) {
    while (is_letter(*p) || isdigit((unsigned char)*p) || (p[0] == ':' && p[1] == ':' && is_letter(p[2])))
        p += *p == ':' ? 2 : 1;
    return p;
}

// Adds the arguments of a template, if there are some: what the program has named is what it is without its number.
static void add_arguments(Str *word, const char *p, const char *end) {
    int depth = 0;
    for (; p < end && (depth || *p == '<'); p++) {
        depth += (*p == '<') - (*p == '>');
        if (!(isdigit((unsigned char)*p) && is_letter(p[-1]))) str_putc(word, *p);
    }
}

// What the entry uses: names of our headers, with the arguments of templates, and of CUDA; functions that it calls;
// words that its lines begin with. Its own names are numbered, or begin with those of the program.
static void find_uses(Entry *e) {
    Str word = {0};
    bool line = true; // nothing but spaces so far
    for (const char *p = e->text, *end = p + e->len; p < end;) {
        if (*p == '\n' || *p == ' ') {
            line = line || *p == '\n';
            p++;
            continue;
        }
        const bool first = line;
        line = false;
        if (p[0] == '/' && p[1] == '/') {
            while (p < end && *p != '\n') p++;
        } else if (*p == '"') {
            for (p++; p < end && *p != '"'; p++) p += *p == '\\';
            p++;
        } else if (is_letter(*p)) {
            const char *name = p;
            p = name_end(p);
            const bool theirs = begins(name, "fsm::") || begins(name, "FSM_") || begins(name, "__");
            const bool numbered = islower((unsigned char)name[0]) && isdigit((unsigned char)name[1]);
            const bool own = numbered || begins(name, "p_") || begins(name, "fsm_p_");
            if (!theirs && (own || (*p != '(' && !(first && *p == ' ')))) continue;
            word.len = 0;
            str_write(&word, name, (size_t)(p - name));
            vec_push(&e->uses, str_hash(word.data, word.len));
            if (!theirs || *p != '<') continue;
            add_arguments(&word, p, end);
            vec_push(&e->uses, str_hash(word.data, word.len));
        } else {
            p++;
        }
    }
    str_free(&word);
    sort_words(&e->uses);
}

// The entries that a file of the folder has, each from its namespace on.
static bool read_entries(Arena *a, const char *folder, Entries *entries) {
    Diag *diag = diag_new(a);
    bool ok = true;
    for (int k = 0; ok; k++) {
        const char *path = arena_printf(a, "%s/%d.cu", folder, k);
        if (access(path, R_OK)) break;
        const Source *file = file_read(a, diag, path);
        ok = file != NULL;
        for (const char *p = ok ? strstr(file->text, "\nnamespace fsmc_") : NULL, *next; p; p = next) {
            next = strstr(p + 1, "\nnamespace fsmc_");
            const char *include = strstr(p, "\n#include"), *end = next ? next : p + strlen(p);
            if (include && include < end) end = include;
            vec_push(entries, ((Entry){.text = p, .len = (size_t)(end - p)}));
            find_uses(&entries->data[entries->len - 1]);
        }
    }
    diag_delete(diag);
    return ok;
}

// Writes FOLDER/uses.cu: the entry that has most for its length of what those before it have not, and so on;
// FOLDER/most.cu ends where three quarters are there. The numbers of entries and of what they use go to *taken and
// *uses.
static bool write_cover(Arena *a, const char *folder, int *taken, int *uses) {
    Entries entries = {0};
    Words all = {0};
    bool ok = read_entries(a, folder, &entries), has_most = false;
    for (int i = 0; i < entries.len; i++)
        for (int k = 0; k < entries.data[i].uses.len; k++) vec_push(&all, entries.data[i].uses.data[k]);
    sort_words(&all);
    bool *there = ARENA_ARRAY(a, bool, all.len + 1);
    for (int i = 0; i < entries.len; i++)
        for (int k = 0; k < entries.data[i].uses.len; k++) {
            uint64_t *word = &entries.data[i].uses.data[k];
            *word = (uint64_t)((uint64_t *)bsearch(word, all.data, (size_t)all.len, sizeof *word, compare_words) -
                               all.data);
        }
    Str text = {0};
    Diag *diag = diag_new(a);
    str_puts(&text, "#include <fsmc/cuda_grid.h>\n");
    for (int left = all.len; left > 0; ++*taken) {
        const Entry *best = NULL;
        double most = 0;
        for (int i = 0; i < entries.len; i++) {
            const Entry *e = &entries.data[i];
            int n = 0;
            for (int k = 0; k < e->uses.len; k++) n += !there[e->uses.data[k]];
            if (n / (double)e->len > most) most = n / (double)e->len, best = e;
        }
        if (!best) break;
        for (int k = 0; k < best->uses.len; k++) left -= !there[best->uses.data[k]], there[best->uses.data[k]] = true;
        str_write(&text, best->text, best->len);
        if (has_most || left > all.len / 4) continue;
        has_most = true;
        ok = file_write(diag, arena_printf(a, "%s/most.cu", folder), &text) && ok;
    }
    *uses = all.len;
    ok = file_write(diag, arena_printf(a, "%s/uses.cu", folder), &text) && ok;
    diag_delete(diag);
    for (int i = 0; i < entries.len; i++) vec_free(&entries.data[i].uses);
    vec_free(&entries), vec_free(&all), str_free(&text);
    return ok;
}

int main(int argc, char **argv) {
    Arena *a = arena_new();
    const char *nvcc = getenv("FSM_NVCC"), *folder = getenv("FSMC_TEST_TMP"), *build = getenv("FSMC_BUILD");
    bool all = argc > 1 && !strcmp(argv[1], "-a");
    if (!folder || !build || !getenv("FSMC_ROOT"))
        return printf("not ok: FSMC_TEST_TMP, FSMC_BUILD and FSMC_ROOT name folders\n"), 1;
    if (system(arena_printf(a, "command -v '%s' > /dev/null", nvcc ? nvcc : "nvcc")))
        return printf("skip programs: there is no nvcc\n"), 0;
    if (system(arena_printf(a, "'%s/tests/cuda_programs' %s -p '%s' > /dev/null", build, all ? "-a" : "", folder)))
        return printf("not ok: printing\n"), 1;
    const char *list = "ls [0-9]*.cu", *objects = list;
    if (!all) {
        int taken = 0, uses = 0;
        if (!write_cover(a, folder, &taken, &uses) || uses < LEAST_USES)
            return printf("not ok: %d entries have %d things that entries use\n", taken, uses), 1;
        list = "ls uses.cu", objects = "ls most.cu";
    }
    int failed = compile(a, folder, list, "", "-ptx -arch=compute_80");
    failed |= compile(a, folder, objects, ", as object",
                      "-c -gencode arch=compute_80,code=sm_80 -gencode arch=compute_80,code=sm_90");
    arena_free(a);
    return failed != 0;
}
