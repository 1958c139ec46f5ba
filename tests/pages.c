#define _GNU_SOURCE
#include "pages.h"
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// A line or a block of the page.
typedef struct Text {
    const char *at;
    size_t size;
} Text;

typedef struct Block {
    int line; // of the opening fence
    Text kind, body;
    char *not_run, *needs; // from the comment before it; NULL: none
    char *file;            // the name under which it is written; NULL: none
} Block;

typedef struct Page {
    const char *root, *name;
    char *text;
    Block *blocks;
    int block_count;
    bool update, installed;
    FILE *updated;      // the page with the output of the commands
    const char *copied; // how far the text has been copied to it
} Page;

// The kinds of blocks that are files: how a comment begins there.
static const struct {
    const char *kind, *comment;
} file_kinds[] = {
    {"fsm", "//"}, {"c", "//"}, {"cpp", "//"}, {"cmake", "#"}, {"python", "#"}, {"make", "#"}, {"ir", "//"}, {"tree", "//"},
};

// --- Text --------------------------------------------------------------------------------------------------------

__attribute__((format(printf, 1, 2))) static char *format(const char *fmt, ...) {
    char *s;
    va_list ap;
    va_start(ap, fmt);
    if (vasprintf(&s, fmt, ap) < 0) abort();
    va_end(ap);
    return s;
}

static char *read_text(FILE *f) {
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    char chunk[65536];
    for (size_t n; (n = fread(chunk, 1, sizeof chunk, f)) > 0;) fwrite(chunk, 1, n, out);
    fclose(out);
    return text;
}

static char *read_file(const char *path) {
    FILE *f = fopen(path, "rb");
    if (!f) return NULL;
    char *text = read_text(f);
    fclose(f);
    return text;
}

static bool write_file(const char *path, Text text) {
    FILE *f = fopen(path, "wb");
    if (!f) return false;
    bool ok = fwrite(text.at, 1, text.size, f) == text.size;
    return fclose(f) == 0 && ok;
}

// Takes the next line, without its end, off the text.
static bool next_line(Text *text, Text *line) {
    if (!text->size) return false;
    const char *end = memchr(text->at, '\n', text->size);
    size_t taken = end ? (size_t)(end - text->at) + 1 : text->size;
    *line = (Text){text->at, end ? taken - 1 : taken};
    text->at += taken;
    text->size -= taken;
    return true;
}

static bool starts_with(Text t, const char *prefix) { return t.size >= strlen(prefix) && !memcmp(t.at, prefix, strlen(prefix)); }

static bool equals(Text t, const char *s) { return t.size == strlen(s) && !memcmp(t.at, s, t.size); }

static bool contains(Text t, const char *s) { return memmem(t.at, t.size, s, strlen(s)) != NULL; }

static void put(FILE *to, Text t) { fwrite(t.at, 1, t.size, to); }

// --- Reading a page ----------------------------------------------------------------------------------------------

// The text of `<!-- WORD: text -->`.
static char *comment_text(Text line, const char *word) {
    char *before = format("<!-- %s: ", word), *text = NULL;
    size_t skip = strlen(before), close = strlen(" -->");
    if (starts_with(line, before) && line.size > skip + close && !memcmp(line.at + line.size - close, " -->", close))
        text = strndup(line.at + skip, line.size - skip - close);
    free(before);
    return text;
}

// How comments begin in a kind of block that is a file; NULL if it is no such kind.
static const char *comment_of(Text kind) {
    for (size_t i = 0; i < sizeof file_kinds / sizeof *file_kinds; i++)
        if (equals(kind, file_kinds[i].kind)) return file_kinds[i].comment;
    return NULL;
}

// The file's name: the only word of a comment in the first line. Without one, F̃ is example.fsm.
static char *file_name(const Block *b) {
    const char *comment = comment_of(b->kind);
    if (!comment) return NULL;
    Text body = b->body, line;
    if (next_line(&body, &line) && starts_with(line, comment)) {
        Text name = {line.at + strlen(comment), line.size - strlen(comment)};
        while (name.size && *name.at == ' ') name.at++, name.size--;
        size_t n = 0;
        while (n < name.size && (isalnum((unsigned char)name.at[n]) || strchr("._-/", name.at[n]))) n++;
        bool file = n && n == name.size && (memchr(name.at, '.', n) || equals(name, "Makefile"));
        if (file && *name.at != '/' && !contains(name, "..")) return strndup(name.at, n);
    }
    return equals(b->kind, "fsm") ? strdup("example.fsm") : NULL;
}

static void fail(int line, const char *why) { printf("not ok %d: %s\n", line, why); }

// Whether a line of prose looks like code that is not fenced: four spaces after an empty line, and not in a list.
static bool is_indented_code(Text line, Text before, bool in_list) { return starts_with(line, "    ") && !before.size && !in_list; }

static void read_blocks(Page *p) {
    Text rest = {p->text, strlen(p->text)}, line, before = {0};
    char *not_run = NULL, *needs = NULL;
    bool in_list = false;
    for (int number = 1; next_line(&rest, &line); before = line, number++) {
        char *comment;
        if ((comment = comment_text(line, "not run"))) not_run = comment;
        else if ((comment = comment_text(line, "needs"))) needs = comment;
        if (line.size && line.at[0] != ' ') in_list = strchr("-*0123456789", line.at[0]) != NULL;
        if (is_indented_code(line, before, in_list)) fail(number, "code that is not in a fenced block");
        if (!starts_with(line, "```")) continue;
        Block b = {.line = number, .kind = {line.at + 3, line.size - 3}, .not_run = not_run, .needs = needs};
        b.body.at = rest.at;
        bool closed = false;
        while (!closed && next_line(&rest, &line)) closed = equals(line, "```"), number++;
        b.body.size = (size_t)((closed ? line.at : rest.at) - b.body.at);
        if (!closed) fail(b.line, "the block is not closed");
        b.file = file_name(&b);
        not_run = needs = NULL;
        p->blocks = realloc(p->blocks, (size_t)(p->block_count + 1) * sizeof b);
        if (!p->blocks) abort();
        p->blocks[p->block_count++] = b;
    }
}

// --- Commands ----------------------------------------------------------------------------------------------------

// Whether actual text is what is shown. "…" in a line stands for any text, a line "…" for any number of lines.
static bool line_matches(Text shown, Text actual) {
    const char *dots = memmem(shown.at, shown.size, "…", strlen("…"));
    if (!dots) return shown.size == actual.size && !memcmp(shown.at, actual.at, shown.size);
    size_t head = (size_t)(dots - shown.at);
    if (actual.size < head || memcmp(shown.at, actual.at, head)) return false;
    Text tail = {dots + strlen("…"), shown.size - head - strlen("…")};
    for (size_t i = head; i <= actual.size; i++)
        if (line_matches(tail, (Text){actual.at + i, actual.size - i})) return true;
    return false;
}

static bool text_matches(Text shown, Text actual) {
    Text line, other;
    while (next_line(&shown, &line)) {
        if (equals(line, "…")) {
            do
                if (text_matches(shown, actual)) return true;
            while (next_line(&actual, &other));
            return false;
        }
        if (!next_line(&actual, &other) || !line_matches(line, other)) return false;
    }
    return !actual.size;
}

typedef struct Command {
    Text code, shown;
} Command;

// The end of a here-document that the line opens, or "".
static char *here_document_end(Text line) {
    const char *mark = memmem(line.at, line.size, "<<", 2);
    if (!mark) return strdup("");
    mark += 2 + strspn(mark + 2, "-'\"");
    size_t n = 0;
    while (mark + n < line.at + line.size && isalnum((unsigned char)mark[n])) n++;
    return strndup(mark, n);
}

// Splits a block at its lines `$ command`; a command goes on after a line that ends in \, and through a here-document.
static int split_commands(Text body, Command **commands) {
    int count = 0;
    Text line;
    *commands = NULL;
    while (next_line(&body, &line)) {
        Command *last = count ? &(*commands)[count - 1] : NULL;
        if (!starts_with(line, "$ ")) {
            if (!last) return 0;
            last->shown.size = (size_t)(body.at - last->shown.at);
            continue;
        }
        char *end = here_document_end(line);
        Command c = {.code = {line.at + 2, 0}};
        while ((*end ? !equals(line, end) : line.size && line.at[line.size - 1] == '\\') && next_line(&body, &line)) {}
        free(end);
        c.code.size = (size_t)(body.at - c.code.at);
        c.shown.at = body.at;
        *commands = realloc(*commands, (size_t)(count + 1) * sizeof c);
        if (!*commands) abort();
        (*commands)[count++] = c;
    }
    return count;
}

// What one shell prints for the commands, each after a mark.
static char *run_commands(const Command *commands, int count) {
    FILE *script = fopen("../commands", "wb");
    if (!script) abort();
    fputs("exec 2>&1 </dev/null\n", script);
    for (int i = 0; i < count; i++) {
        fputs("printf '\\036'\n", script);
        put(script, commands[i].code);
        putc('\n', script);
    }
    fclose(script);
    fflush(stdout);
    FILE *shell = popen("sh ../commands", "r");
    if (!shell) abort();
    char *out = read_text(shell);
    pclose(shell);
    return out;
}

static void copy_page_until(Page *p, const char *end) {
    fwrite(p->copied, 1, (size_t)(end - p->copied), p->updated);
    p->copied = end;
}

static void check_console(Page *p, const Block *b) {
    Command *commands;
    int count = split_commands(b->body, &commands);
    if (!count) {
        fail(b->line, "a console block begins with `$ command`");
        return;
    }
    char *out = run_commands(commands, count), *mark = out;
    const Command *wrong = NULL;
    for (int i = 0; i < count; i++) {
        const Command *c = &commands[i];
        char *from = mark && *mark ? mark + 1 : "", *end = strchrnul(from, '\036');
        mark = end;
        char *text = format("%.*s%s", (int)(end - from), from, end > from && end[-1] != '\n' ? "\n" : "");
        Text actual = {text, strlen(text)};
        if (!text_matches(c->shown, actual)) {
            if (!wrong) wrong = c;
            fprintf(stderr, "%s:%d: $ %.*sshown:\n%.*sprinted:\n%s", p->name, b->line, (int)c->code.size, c->code.at,
                    (int)c->shown.size, c->shown.at, text);
            copy_page_until(p, c->shown.at);
            put(p->updated, actual);
            p->copied += c->shown.size;
        }
        free(text);
    }
    free(out);
    if (wrong && !p->update) {
        Text code = wrong->code, line;
        next_line(&code, &line);
        printf("not ok %d: `%.*s` prints something else than shown\n", b->line, (int)line.size, line.at);
    } else {
        printf("ok %d\n", b->line);
    }
    free(commands);
}

// --- Files -------------------------------------------------------------------------------------------------------

static void make_folders(const char *file) {
    for (const char *slash = file; (slash = strchr(slash, '/')); slash++) {
        char *folder = strndup(file, (size_t)(slash - file));
        mkdir(folder, 0777);
        free(folder);
    }
}

// Whether a later block mentions the block's file while it is there. What cmake and make read need not be named.
static bool is_used(const Page *p, const Block *b) {
    const char *slash = strrchr(b->file, '/');
    char *stem = strdup(slash ? slash + 1 : b->file), *dot = strrchr(stem, '.');
    if (dot) *dot = 0;
    bool any = !strcmp(stem, "CMakeLists") || !strcmp(stem, "Makefile"), used = false;
    for (const Block *next = b + 1; next < p->blocks + p->block_count && !used; next++) {
        if (next->file && !strcmp(next->file, b->file)) break;
        used = (any && equals(next->kind, "console")) || contains(next->body, stem);
    }
    free(stem);
    return used;
}

static void check_file(const Page *p, const Block *b) {
    make_folders(b->file);
    if (!write_file(b->file, b->body)) {
        fail(b->line, "its file cannot be written");
        return;
    }
    if (is_used(p, b)) {
        printf("ok %d\n", b->line);
        return;
    }
    if (!equals(b->kind, "fsm")) {
        fail(b->line, "no later block uses this file");
        return;
    }
    char *command = format("fsmc check %s 2>&1", b->file);
    FILE *shell = popen(command, "r");
    char *out = shell ? read_text(shell) : strdup("");
    int status = shell ? pclose(shell) : 1;
    if (status || *out) fail(b->line, "`fsmc check` does not accept it"), fprintf(stderr, "%s\n", out);
    else printf("ok %d\n", b->line);
    free(out);
    free(command);
}

// --- Links -------------------------------------------------------------------------------------------------------

// The anchor of a heading: letters in lower case, blanks as hyphens, without other signs.
static char *anchor_of(Text heading) {
    while (heading.size && (*heading.at == '#' || *heading.at == ' ')) heading.at++, heading.size--;
    char *anchor = strndup(heading.at, heading.size), *to = anchor;
    for (char *c = anchor; *c; c++)
        if (isalnum((unsigned char)*c) || (unsigned char)*c >= 0x80 || *c == '-' || *c == '_') *to++ = (char)tolower(*c);
        else if (*c == ' ') *to++ = '-';
    *to = 0;
    return anchor;
}

// The next heading, or line of prose: skips fenced blocks.
static bool next_prose(Text *rest, Text *line) {
    if (!next_line(rest, line)) return false;
    if (!starts_with(*line, "```")) return true;
    while (next_line(rest, line) && !equals(*line, "```")) {}
    *line = (Text){rest->at, 0};
    return true;
}

static bool has_anchor(const char *page, const char *anchor) {
    Text rest = {page, strlen(page)}, line;
    bool found = false;
    while (!found && next_prose(&rest, &line)) {
        char *name = starts_with(line, "#") ? anchor_of(line) : NULL;
        found = name && !strcmp(name, anchor);
        free(name);
    }
    return found;
}

static bool link_works(const Page *p, char *target) {
    if (strstr(target, "://")) return true;
    char *anchor = strchr(target, '#'), *slash = strrchr(p->name, '/');
    if (anchor) *anchor++ = 0;
    int folder = slash ? (int)(slash - p->name) : 0;
    char *path = *target ? format("%s/%.*s/%s", p->root, folder, p->name, target) : format("%s/%s", p->root, p->name);
    bool works = access(path, F_OK) == 0;
    if (works && anchor) {
        char *page = read_file(path);
        works = page && has_anchor(page, anchor);
        free(page);
    }
    free(path);
    return works;
}

// Links must lead to files and headings that are there; a page with a list of its sections must have all of them.
static void check_links(const Page *p) {
    Text rest = {p->text, strlen(p->text)}, line;
    int wrong = 0, own = 0;
    while (next_prose(&rest, &line)) {
        char *text = strndup(line.at, line.size), *link = text, *end;
        while ((link = strstr(link, "](")) && (end = strchr(link, ')'))) {
            char *target = strndup(link + 2, (size_t)(end - link - 2)), *shown = strdup(target);
            own += *target == '#';
            if (!link_works(p, target)) wrong++, printf("not ok links: `%s` leads nowhere\n", shown);
            free(target);
            free(shown);
            link = end;
        }
        free(text);
    }
    rest = (Text){p->text, strlen(p->text)};
    while (own >= 3 && next_prose(&rest, &line)) {
        if (!starts_with(line, "## ")) continue;
        char *anchor = anchor_of(line), *link = format("](#%s)", anchor);
        if (!strstr(p->text, link)) wrong++, printf("not ok links: no link to the section `#%s`\n", anchor);
        free(anchor);
        free(link);
    }
    if (!wrong) puts("ok links");
}

// --- Blocks ------------------------------------------------------------------------------------------------------

// Installs the built tree below $HOME once, for blocks that use it as an installed one.
static bool install(Page *p, const Block *b) {
    if (p->installed || !(contains(b->body, "~/") || contains(b->body, "$HOME") || contains(b->body, "find_package"))) return true;
    p->installed = true;
    return system("cmake --install \"$FSMC_BUILD\" --prefix \"$HOME/.local\" >/dev/null") == 0;
}

static void check_block(Page *p, const Block *b) {
    char *needs = b->needs ? format("{ %s; } >/dev/null 2>&1", b->needs) : NULL;
    if (b->not_run) printf("skip %d: %s\n", b->line, b->not_run);
    else if (needs && system(needs)) printf("skip %d: it needs %s\n", b->line, b->needs);
    else if (!install(p, b)) fail(b->line, "the installation failed");
    else if (equals(b->kind, "console")) check_console(p, b);
    else if (b->file) check_file(p, b);
    else fail(b->line, comment_of(b->kind) ? "its first line names no file" : "an unknown kind of block");
    free(needs);
}

// Programs that the blocks call by names of their own: the compilers, with the flags of this build.
static void make_compilers(const char *tmp) {
    const char *cc = getenv("CC"), *flags = strchrnul(cc, ' ');
    const char *const names[][2] = {{"cc", cc}, {"c++", "/usr/bin/c++"}};
    for (int i = 0; i < 2; i++) {
        if (*names[i][1] == '/' && access(names[i][1], X_OK)) continue;
        char *path = format("%s/bin/%s", tmp, names[i][0]);
        char *script = format("#!/bin/sh\nexec %s%s \"$@\"\n", names[i][1], i ? flags : "");
        write_file(path, (Text){script, strlen(script)});
        chmod(path, 0777);
        free(script);
        free(path);
    }
}

static bool enter_folder(void) {
    const char *tmp = getenv("FSMC_TEST_TMP"), *path = getenv("PATH");
    const char *const folders[] = {"bin", "home", "page"};
    if (!tmp || !path || chdir(tmp)) return false;
    for (int i = 0; i < 3; i++)
        if (mkdir(folders[i], 0777)) return false;
    make_compilers(tmp);
    setenv("HOME", format("%s/home", tmp), 1);
    setenv("PATH", format("%s/home/.local/bin:%s/bin:%s", tmp, tmp, path), 1);
    unsetenv("CC");
    return chdir("page") == 0;
}

int page_check(const char *root, const char *name, bool update) {
    char *absolute = realpath(root, NULL), *path = format("%s/%s", absolute ? absolute : root, name), *updated;
    size_t size;
    Page p = {.root = absolute, .name = name, .text = read_file(path), .update = update};
    if (!p.text || !enter_folder()) {
        fprintf(stderr, "cannot read %s, or make its folder\n", path);
        return 2;
    }
    p.copied = p.text;
    p.updated = open_memstream(&updated, &size);
    read_blocks(&p);
    check_links(&p);
    for (int i = 0; i < p.block_count; i++) check_block(&p, &p.blocks[i]);
    copy_page_until(&p, p.text + strlen(p.text));
    fclose(p.updated);
    if (update && strcmp(updated, p.text)) write_file(path, (Text){updated, size});
    free(absolute), free(path), free(updated);
    return 0;
}
