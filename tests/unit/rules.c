// The table of rules, ir/rules.def: each row is a line of docs/rules.md.
#include "driver/file.h"
#include "ir/rule.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures;

static void report(bool ok, const char *name, const char *why) {
    if (ok) printf("ok %s\n", name);
    else printf("not ok %s: %s\n", name, why);
    failures += !ok;
}

static const char *root(void) {
    const char *path = getenv("FSMC_ROOT");
    return path ? path : "../..";
}

static const Source *read_file(Arena *a, const char *path) {
    Diag *diag = diag_new(a);
    const Source *src = file_read(a, diag, arena_printf(a, "%s/%s", root(), path));
    diag_delete(diag);
    return src;
}

// ---- the page

// A cell of a table in Markdown.
static const char *cell(Arena *a, const char *text) {
    Str s = {0};
    for (; *text; text++) str_printf(&s, *text == '|' ? "\\%c" : "%c", *text);
    const char *r = arena_strdup(a, str_text(&s));
    str_free(&s);
    return r;
}

static void test_page(Arena *a) {
    const Source *page = read_file(a, "docs/rules.md");
    int lines = 0;
    for (const char *p = page ? page->text : ""; (p = strstr(p, "\n| `")); p++) lines++;
    for (int k = 0; k < RULE_COUNT; k++) {
        const RuleInfo *r = &rule_info[k];
        const char *line = arena_printf(a, "\n| `%s`%s | `%s` | %s | %s |\n", r->name, r->form ? " *always*" : "",
                                        cell(a, r->law), cell(a, r->condition), r->source);
        if (!page || !strstr(page->text, line)) report(false, "docs/rules.md", arena_printf(a, "there is no line%s", line));
    }
    report(lines == RULE_COUNT, "docs/rules.md has a line for each rule", arena_printf(a, "%d lines, %d rules", lines, RULE_COUNT));
}

int main(void) {
    Arena *a = arena_new();
    test_page(a);
    arena_free(a);
    return failures > 0;
}
