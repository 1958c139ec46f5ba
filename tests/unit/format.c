// The formatter on every program of the repository, on random ones, at several widths, and with comments everywhere:
// what it writes is the same program, it writes that again from it, and no declaration had to stay as it was.
#include "tools/format.h"

#include "driver/compile.h"
#include "front/tokens.h"
#include "random/term.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static Source *source(Arena *a, const char *name, const char *text) {
    Source *s = ARENA_NEW(a, Source);
    *s = (Source){name, text, strlen(text)};
    return s;
}

// How many programs were formatted, and in how many of them a declaration stayed as it was written.
static int tried, stayed;

// The formatted text; NULL with *why set if the formatter reports errors.
static const char *formatted(Arena *a, const Source *src, int width, const char **why) {
    Diag *diag = diag_new(a);
    Str out = {0};
    int kept = 0;
    const char *text = NULL;
    if (!format_program(a, diag, src, width, &out, &kept)) *why = "it does not parse";
    else text = arena_strndup(a, str_text(&out), out.len);
    tried++, stayed += kept > 0;
    diag_delete(diag);
    str_free(&out);
    return text;
}

// NULL if all is well.
static const char *try(Arena *a, const Source *src, int width) {
    const char *why = NULL, *once = formatted(a, src, width, &why);
    if (!once) return why;
    const Source *first = source(a, src->name, once);
    if (!format_same(a, src, first)) return "another program";
    const char *twice = formatted(a, first, width, &why);
    if (!twice) return why;
    return strcmp(once, twice) ? arena_printf(a, "not idempotent at width %d:\n%s\n--- then\n%s", width, once, twice) : NULL;
}

static bool parses(Arena *a, const Source *src) {
    Diag *diag = diag_new(a);
    parse_program(a, diag, src);
    bool ok = !diag_errors(diag);
    diag_delete(diag);
    return ok;
}

static void report(const char *name, const char *text, const char *why) {
    if (!why) {
        printf("ok %s\n", name);
        return;
    }
    printf("not ok %s: %s\n", name, strncmp(why, "not idem", 8) ? why : "not idempotent");
    for (const char *p = why; *p; p += strcspn(p, "\n"), p += *p == '\n') printf("# %.*s\n", (int)strcspn(p, "\n"), p);
    printf("# --- source\n");
    for (const char *p = text; p && *p; p += strcspn(p, "\n"), p += *p == '\n') printf("# %.*s\n", (int)strcspn(p, "\n"), p);
}

static const Source *read(Arena *a, const char *path) {
    FILE *f = fopen(path, "rb");
    if (!f) return NULL;
    Str text = {0};
    char block[4096];
    for (size_t n; (n = fread(block, 1, sizeof block, f)) > 0;) str_write(&text, block, n);
    fclose(f);
    Source *s = ARENA_NEW(a, Source);
    *s = (Source){arena_strdup(a, path), arena_strndup(a, str_text(&text), text.len), text.len};
    str_free(&text);
    return s;
}

static glob_t files(const char *const *patterns, int n) {
    const char *root = getenv("FSMC_ROOT");
    glob_t g = {0};
    for (int i = 0; i < n; i++) {
        char pattern[1024];
        snprintf(pattern, sizeof pattern, "%s/%s", root ? root : ".", patterns[i]);
        glob(pattern, i ? GLOB_APPEND : 0, NULL, &g);
    }
    return g;
}

static const int widths[] = {FORMAT_WIDTH, 60, 30};
enum { WIDTHS = sizeof widths / sizeof *widths };

static void test_files(void) {
    static const char *const patterns[] = {"examples/*.fsm", "runtime/prelude/*.fsm", "tests/*/*.fsm", "tests/*/*/*.fsm",
                                           "bench/*.fsm"};
    glob_t g = files(patterns, sizeof patterns / sizeof *patterns);
    int n = 0;
    const char *why = NULL;
    for (size_t i = 0; i < g.gl_pathc && !why; i++) {
        Arena *a = arena_new();
        const Source *src = read(a, g.gl_pathv[i]);
        bool program = src && parses(a, src);
        n += program;
        for (int w = 0; program && w < WIDTHS && !why; w++) why = try(a, src, widths[w]);
        if (why) report(g.gl_pathv[i], src->text, why);
        arena_free(a);
    }
    globfree(&g);
    if (!why) report("files", NULL, n > 100 ? NULL : "there are no programs");
}

static void test_random(void) {
    enum { COUNT = 300 };
    for (uint64_t seed = 1; seed <= COUNT; seed++) {
        Arena *a = arena_new();
        const Source *src = source(a, "random.fsm", sample_text(sample_new(a, seed, 10 + (int)(seed % 60))));
        const char *why = NULL;
        for (int w = 0; w < WIDTHS && !why; w++) why = try(a, src, widths[w]);
        if (why) report(arena_printf(a, "random program %d", (int)seed), src->text, why);
        arena_free(a);
        if (why) return;
    }
    report("random programs", NULL, NULL);
}

// ---- comments everywhere

// The declaration with a comment before its k-th token. A line comment puts the token on the next line, in its column.
static const char *with_comment(Arena *a, const Source *src, const SourceToken *t, int form) {
    static const char *const text[] = {"(* c *) ", " (* c *)", "(* c\n   d *)", "// c", "// c"};
    bool line = form >= 3, own = form == 4;
    Str out = {0};
    str_write(&out, src->text, t->begin);
    if (own) str_puts(&out, "\n ");
    str_puts(&out, text[form]);
    if (line) {
        str_putc(&out, '\n');
        str_indent(&out, t->column);
    }
    str_puts(&out, src->text + t->begin);
    const char *all = arena_strndup(a, str_text(&out), out.len);
    str_free(&out);
    return all;
}

// All comments in one declaration; *n counts the programs that stayed the same program with one.
static const char *try_comments(const Source *src, int *n, const char **which) {
    static char shown[8192];
    const char *why = NULL;
    Arena *outer = arena_new();
    SourceTokens tokens = tokens_read(outer, src);
    for (int i = 0; i < tokens.n && !why; i++) {
        bool sign = i && src->text[tokens.token[i - 1].begin] == '-';
        for (int form = 0; form < 5 && !why; form++) {
            if ((form + i) % 5 > 1 || (sign && form == 2)) continue; // the sign of an argument touches what follows
            Arena *a = arena_new();
            const Source *commented = source(a, src->name, with_comment(a, src, &tokens.token[i], form));
            if (format_same_tree(a, src, commented)) {
                ++*n;
                why = try(a, commented, form % 2 ? FORMAT_WIDTH : 40);
                if (why) {
                    snprintf(shown, sizeof shown, "%s", commented->text);
                    *which = shown;
                    static char kept[8192];
                    snprintf(kept, sizeof kept, "%s", why);
                    why = kept;
                }
            }
            arena_free(a);
        }
    }
    arena_free(outer);
    return why;
}

static void test_comments(void) {
    static const char *const patterns[] = {"examples/*.fsm", "runtime/prelude/arrays.fsm", "tests/parse/[a-z]*.fsm"};
    glob_t g = files(patterns, sizeof patterns / sizeof *patterns);
    int n = 0, failed = 0;
    for (size_t i = 0; i < g.gl_pathc; i++) {
        Arena *a = arena_new();
        const Source *src = read(a, g.gl_pathv[i]);
        Diag *diag = diag_new(a);
        Program *p = parse_program(a, diag, src);
        int decls = diag_errors(diag) ? 0 : p->ndecls;
        for (int k = 0; k < decls; k++) {
            Span at = p->decls[k]->span;
            const char *text = arena_strndup(a, src->text + at.begin, at.end - at.begin), *which = NULL;
            const Source *one = source(a, arena_printf(a, "comments in declaration %d of %s", k, src->name), text);
            const char *why = parses(a, one) ? try_comments(one, &n, &which) : NULL;
            if (why) report(one->name, which, why), failed++;
        }
        diag_delete(diag);
        arena_free(a);
    }
    globfree(&g);
    if (!failed) report("comments at every token", NULL, n > 1000 ? NULL : "too few");
    printf("# %d programs with a comment\n", n);
}

static int all(void *data) {
    (void)data;
    test_files();
    test_random();
    test_comments();
    // that is the way out where a comment stands oddly: it has to be rare
    bool rare = stayed * 500 <= tried;
    printf("%s formatting keeps few declarations as they are: %d of %d programs\n", rare ? "ok" : "not ok", stayed, tried);
    return 0;
}

int main(void) {
    int result = 0;
    if (compile_guarded(all, NULL, &result)) printf("not ok format: left by the boundary\n");
    return 0;
}
