// Finds the texts of all messages in the sources and requires of each a golden file that shows it, and a row of the
// catalogue docs/errors.md. tests/README.md says what to do when this fails.
#define _POSIX_C_SOURCE 200809L
#include "support/arena.h"
#include "support/str.h"
#include "support/vec.h"

#include <ctype.h>
#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

// ---- where messages are made

typedef enum Kind {
    ERROR,    // the first text is a whole message: "error: TEXT" ends a line
    WARNING,  // the same after "warning: "
    NOTE,     // the same after "note: "
    TEXT,     // a message, or a part of one, of a function that puts it together: anywhere in a line
    PHRASE,   // a part that names something in a message ("the condition"): not in the catalogue
    INTERNAL, // tells of a bug of the compiler: needs neither
    IGNORED   // like printf, but for no message
} Kind;

static const struct {
    const char *name; // of a function; or of a table, function or structure whose braces hold texts
    Kind kind;
    bool braces;
} makers[] = {
    // The compiler.
    {"diag_error", ERROR, false},
    {"diag_warning", WARNING, false},
    {"diag_note", NOTE, false},
    {"report_error", ERROR, false},
    {"infer_error", ERROR, false},
    {"infer_note", NOTE, false},
    {"elab_error", ERROR, false},
    {"ERROR", ERROR, false},         // grammar/fsm.l
    {"lexical_error", ERROR, false}, // grammar/fsm.l
    {"read_error", ERROR, false},    // src/ir/read_tokens.c
    {"wrong", TEXT, false},          // src/driver/options.c
    {"usage_error", TEXT, false},    // src/main.c
    {"mismatch", PHRASE, false},     // src/driver/json.c
    {"bad", TEXT, false},            // src/driver/npy.c
    {"arena_printf", PHRASE, false},
    {"infer_expect", PHRASE, false},
    {"apply_annotation", PHRASE, false},
    {"need_array", PHRASE, false},
    {"check_nonnegative", PHRASE, false},
    {"size_require", TEXT, false},
    {"size_same_shape", TEXT, false},
    {"reserved", TEXT, true}, // grammar/fsm.l
    {"AdError", ERROR, true},
    {"phrase", PHRASE, true}, // grammar/fsm.y
    // Programs that run, by every engine.
    {"interp_fail", TEXT, false},    // src/ir/interp_needs.c
    {"interp_fail_at", TEXT, false}, // src/ir/interp_needs.c
    {"ir_assert", TEXT, false},
    {"lower_check", TEXT, false},
    {"ir_bounds_text", TEXT, true},
    {"fsm_fail", TEXT, false},         // runtime/
    {"fsm_text_add", IGNORED, false},  // runtime/, shown by tests/unit/abi.c
    {"fail_named", TEXT, false},       // runtime/
    {"fsm_context_error", TEXT, true}, // runtime/
    {"size_error", TEXT, false},       // include/fsmc/fsmc.hpp
    // Others.
    {"fatal_bug", INTERNAL, false},
    {"str_printf", IGNORED, false},
    {"code_line", IGNORED, false},
    {"expr_text", IGNORED, false},
    {"explain", IGNORED, false},
    {"arena_vprintf", IGNORED, false},
    {"note_decision", IGNORED, false},
};
enum { MAKERS = sizeof makers / sizeof *makers };

static const char *const source_folders[] = {"grammar", "src", "runtime", "include"};

// ---- files

typedef VEC(const char *) Paths;

static Arena *arena;
static const char *root;
static bool all_ok = true;

static bool ends_with(const char *text, const char *end) {
    size_t n = strlen(text), m = strlen(end);
    return n >= m && !strcmp(text + n - m, end);
}

// The files below the folder, by name.
static void list(Paths *out, const char *folder) {
    struct dirent **entry;
    int n = scandir(arena_printf(arena, "%s/%s", root, folder), &entry, NULL, alphasort);
    for (int i = 0; i < n; i++) {
        const char *name = arena_printf(arena, "%s/%s", folder, entry[i]->d_name);
        bool hidden = entry[i]->d_name[0] == '.';
        free(entry[i]);
        struct stat st;
        if (hidden || stat(arena_printf(arena, "%s/%s", root, name), &st)) continue;
        if (S_ISDIR(st.st_mode)) list(out, name);
        else vec_push(out, name);
    }
    if (n >= 0) free(entry);
}

static const char *slurp(const char *name) {
    FILE *f = fopen(arena_printf(arena, "%s/%s", root, name), "rb");
    if (!f) return "";
    Str s = {0};
    char block[1 << 14];
    size_t n;
    while ((n = fread(block, 1, sizeof block, f)) > 0) str_write(&s, block, n);
    fclose(f);
    for (size_t i = 0; i < s.len; i++)
        if (!s.data[i]) s.data[i] = ' ';
    const char *text = arena_strndup(arena, str_text(&s), s.len);
    str_free(&s);
    return text;
}

// ---- tokens of C, as far as needed

typedef enum TokenKind { END, WORD, STRING, OTHER } TokenKind;

typedef struct Scanner {
    const char *p, *file;
    int line;
    TokenKind kind;
    const char *text; // of a word or a string (unescaped)
    char punct;
} Scanner;

static const char *unescape(const char *from, const char *to) {
    char *out = arena_strndup(arena, from, (size_t)(to - from)), *q = out;
    for (const char *p = from; p < to; p++) {
        if (*p == '\\' && p + 1 < to) {
            p++;
            *q++ = *p == 'n' ? '\n' : *p == 't' ? '\t' : *p == '0' ? ' ' : *p;
        } else {
            *q++ = *p;
        }
    }
    *q = 0;
    return out;
}

// The end of a literal that begins at p, after its closing mark; NULL if it is not closed on its line.
static const char *literal_end(const char *p) {
    char mark = *p++;
    for (; *p && *p != '\n' && *p != mark; p++)
        if (*p == '\\' && p[1] && p[1] != '\n') p++;
    return *p == mark ? p + 1 : NULL;
}

static void skip_blank(Scanner *s) {
    for (;;) {
        while (isspace((unsigned char)*s->p)) s->line += *s->p++ == '\n';
        if (s->p[0] == '/' && s->p[1] == '/') {
            while (*s->p && *s->p != '\n') s->p++;
        } else if (s->p[0] == '/' && s->p[1] == '*') {
            for (s->p += 2; *s->p && !(s->p[0] == '*' && s->p[1] == '/'); s->p++) s->line += *s->p == '\n';
            s->p += *s->p ? 2 : 0;
        } else {
            return;
        }
    }
}

static void scan(Scanner *s) {
    skip_blank(s);
    s->punct = 0;
    const char *begin = s->p, *end;
    if (!*s->p) {
        s->kind = END;
    } else if (*s->p == '"' && (end = literal_end(s->p))) {
        s->kind = STRING;
        s->text = unescape(begin + 1, end - 1);
        s->p = end;
    } else if (isalpha((unsigned char)*s->p) || *s->p == '_') {
        while (isalnum((unsigned char)*s->p) || *s->p == '_') s->p++;
        s->kind = WORD;
        s->text = arena_strndup(arena, begin, (size_t)(s->p - begin));
    } else {
        s->kind = OTHER;
        if (*s->p == '\'' && (end = literal_end(s->p)) && end - s->p <= 6) s->p = end;
        else s->punct = *s->p++;
    }
}

// ---- messages

typedef struct Message {
    Kind kind;
    const char *text, *file;
    int line;
    bool excepted;
} Message;

static VEC(Message) messages;

static int maker_named(const char *name) {
    for (int i = 0; i < MAKERS; i++)
        if (!strcmp(makers[i].name, name)) return i;
    return -1;
}

static const char *conversion_end(const char *p) { // p is after a '%'
    p += strspn(p, "-+ #0123456789.*'");
    p += strspn(p, "hlzjtL");
    return *p ? p + 1 : p;
}

// Whether anything is left of the text without its conversions.
static bool says_something(const char *text, bool phrase) {
    int letters = 0;
    bool space = false;
    for (const char *p = text; *p;) {
        if (*p == '%') {
            p = p[1] == '%' ? p + 2 : conversion_end(p + 1);
            continue;
        }
        letters += isalpha((unsigned char)*p) != 0;
        space |= *p == ' ' && p > text;
        p++;
    }
    return letters >= 3 && (space || !phrase);
}

static void add(Kind kind, const char *text, const char *file, int line) {
    if (kind == IGNORED || kind == INTERNAL || !says_something(text, kind >= TEXT)) return;
    for (int i = 0; i < messages.len; i++)
        if (messages.data[i].kind == kind && !strcmp(messages.data[i].text, text)) return;
    Message m = {kind, text, file, line, false};
    vec_push(&messages, m);
}

// Adds the texts up to the closing bracket; the scanner is after the opening one. Calls of other functions inside are
// skipped, unless they make messages.
static void collect(Scanner *s, Kind kind, char close) {
    int depth = 1, skip = 0; // skip: the depth of a call that is not looked at
    bool first = true;
    bool word = false;
    for (scan(s); s->kind != END; scan(s)) {
        if (s->kind == STRING) {
            Str text = {0};
            int line = s->line;
            while (s->kind == STRING) {
                str_puts(&text, s->text);
                const Scanner before = *s;
                scan(s);
                if (s->kind == WORD && ends_with(s->text, "PRId64")) {
                    str_puts(&text, "%d");
                    scan(s);
                } else if (s->kind != STRING) {
                    *s = before;
                    break;
                }
            }
            Kind later = kind < TEXT ? TEXT : kind; // of the texts that go into the first
            if (!skip) add(first || close == '}' ? kind : later, arena_strdup(arena, str_text(&text)), s->file, line);
            first &= skip > 0;
            str_free(&text);
            word = false;
            continue;
        }
        if (s->punct == '(' || s->punct == '{') {
            depth++;
            if (word && !skip) skip = depth;
        } else if (s->punct == ')' || s->punct == '}') {
            if (skip == depth) skip = 0;
            if (--depth == 0 && s->punct == close) return;
            if (depth <= 0) return;
        }
        word = false;
        if (s->kind == WORD) {
            bool operand = !strcmp(s->text, "return") || !strcmp(s->text, "if") || !strcmp(s->text, "sizeof");
            word = !operand && maker_named(s->text) < 0;
        }
    }
}

static void skip_balanced(Scanner *s, char open, char close) {
    for (int depth = 1; depth > 0 && s->kind != END;) {
        scan(s);
        depth += (s->punct == open) - (s->punct == close);
    }
    scan(s);
}

// Whether the scanner, which is after a name, is before what has braces: `name[…] = {`, `name(…) {` or `(name){`. If so
// it is after the brace then.
static bool enter_braces(Scanner *s) {
    Scanner try = *s;
    scan(&try);
    if (try.punct == '(') skip_balanced(&try, '(', ')');
    else if (try.punct == '[') skip_balanced(&try, '[', ']');
    else if (try.punct == ')') scan(&try);
    else return false;
    if (try.punct == '=') scan(&try);
    if (try.punct != '{') return false;
    *s = try;
    return true;
}

static void read_source(const char *file) {
    Scanner s = {.p = slurp(file), .file = file, .line = 1};
    for (scan(&s); s.kind != END; scan(&s)) {
        int m = s.kind == WORD ? maker_named(s.text) : -1;
        if (m < 0) continue;
        if (makers[m].braces) {
            if (enter_braces(&s)) collect(&s, makers[m].kind, '}');
            continue;
        }
        Scanner after = s;
        scan(&after);
        if (after.punct != '(') continue;
        s = after;
        collect(&s, makers[m].kind, ')');
    }
}

static bool is_source(const char *name) {
    static const char *const suffixes[] = {".c", ".h", ".def", ".l", ".y", ".hpp", ".inc"};
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++)
        if (ends_with(name, suffixes[i])) return true;
    return false;
}

// ---- matching

// A conversion at p: `%d`, or `%%d` (`%%g`) in the text of a check, whose conversions are replaced when it fails.
static bool is_conversion(const char *p) { return *p == '%' && (p[1] != '%' || p[2] == 'd' || p[2] == 'g'); }

// Whether the pieces of the text between its conversions are found in this order in [p, end), the last at the end if
// `whole`.
static bool matches_at(const char *text, const char *p, const char *end, bool whole, bool anywhere) {
    Str piece = {0};
    bool ok = true, free_start = anywhere;
    while (ok) {
        size_t n = 0;
        piece.len = 0;
        for (; text[n] && text[n] != '\n' && !is_conversion(text + n); n++) {
            str_putc(&piece, text[n]);
            n += text[n] == '%';
        }
        bool last = !text[n] || text[n] == '\n';
        const char *word = str_text(&piece);
        size_t len = piece.len;
        const char *found = NULL;
        if (last && whole && len) {
            const char *stop = end; // a warning's name may follow
            for (const char *q = p; q + 4 < end; q++)
                if (!strncmp(q, " [-W", 4)) stop = q;
            found = (size_t)(stop - p) >= len && !memcmp(stop - len, word, len) ? stop - len : NULL;
            if (found && !free_start && found != p) found = NULL;
        } else {
            for (const char *q = p; q + len <= end && !found; q++) {
                if (!memcmp(q, word, len)) found = q;
                if (!free_start) break;
            }
        }
        ok = found != NULL;
        if (!ok || last) break;
        p = found + len;
        text = conversion_end(text + n + 1 + (text[n + 1] == '%'));
        free_start = true;
    }
    str_free(&piece);
    return ok;
}

static const char *prefix_of(Kind kind) {
    return kind == ERROR ? "error: " : kind == WARNING ? "warning: " : kind == NOTE ? "note: " : "";
}

// Whether a line of the file shows the message.
static bool shown_in(const Message *m, const char *file, bool catalogue) {
    const char *prefix = catalogue ? "" : prefix_of(m->kind);
    for (const char *line = file; *line;) {
        const char *end = line + strcspn(line, "\n"), *p = line;
        size_t n = strlen(prefix);
        if (!n && matches_at(m->text, line, end, false, true)) return true;
        while (n && (p = strstr(p, prefix)) && p < end) {
            p += n;
            const char *inner = p; // "in `f`: " may come before
            if (matches_at(m->text, p, end, true, false)) return true;
            if (!strncmp(p, "in `", 4) && (inner = strstr(p, "`: ")) && inner < end &&
                matches_at(m->text, inner + 3, end, true, false))
                return true;
        }
        line = *end ? end + 1 : end;
    }
    return false;
}

// ---- checks

__attribute__((format(printf, 2, 3))) static void failed(const char *name, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    printf("not ok %s: ", name);
    vprintf(fmt, ap);
    putchar('\n');
    va_end(ap);
    all_ok = false;
}

// The texts with backslashes where they have line ends.
static const char *on_one_line(const char *text) { return arena_strndup(arena, text, strcspn(text, "\n")); }

// tests/messages/unreached.txt: "# reason" lines, then texts as the sources have them, one a line.
static void read_exceptions(void) {
    const char *p = slurp("tests/messages/unreached.txt");
    while (*p) {
        const char *line = arena_strndup(arena, p, strcspn(p, "\n"));
        p += strlen(line);
        p += *p == '\n';
        if (!*line || *line == '#') continue;
        bool found = false;
        for (int i = 0; i < messages.len; i++)
            if (!strcmp(on_one_line(messages.data[i].text), line)) messages.data[i].excepted = found = true;
        if (!found) failed("exceptions", "tests/messages/unreached.txt names a text that is in no source: %s", line);
    }
}

static void check_goldens(void) {
    Paths files = {0};
    VEC(const char *) golden = {0};
    list(&files, "tests");
    for (int i = 0; i < files.len; i++)
        if (ends_with(files.data[i], ".out") || ends_with(files.data[i], ".err")) vec_push(&golden, slurp(files.data[i]));
    bool ok = true;
    for (int i = 0; i < messages.len; i++) {
        const Message *m = &messages.data[i];
        bool shown = false;
        for (int k = 0; k < golden.len && !shown; k++) shown = shown_in(m, golden.data[k], false);
        if (shown == !m->excepted) continue;
        ok = false;
        if (shown)
            failed("goldens", "this message is shown by a golden; remove it from tests/messages/unreached.txt: %s",
                   on_one_line(m->text));
        else
            failed("goldens", "%s:%d: no golden file shows this message; add a test to tests/messages/: %s%s", m->file, m->line,
                   prefix_of(m->kind), on_one_line(m->text));
    }
    if (ok) printf("ok every message has a golden (%d texts)\n", messages.len);
    vec_free(&files);
    vec_free(&golden);
}

// What is wrong is the user's: no error or warning has its place in the prelude, which the user has not written.
static void check_places(void) {
    Paths files = {0};
    bool ok = true;
    list(&files, "tests");
    for (int i = 0; i < files.len; i++) {
        if (!ends_with(files.data[i], ".out") && !ends_with(files.data[i], ".err")) continue;
        for (const char *line = slurp(files.data[i]); line; line = strchr(line, '\n')) {
            line += *line == '\n';
            const char *text = on_one_line(line);
            if (strncmp(text, "prelude/", 8) || (!strstr(text, ": error: ") && !strstr(text, ": warning: "))) continue;
            ok = false;
            failed("places", "%s shows a message that is placed in the prelude: %s", files.data[i], text);
        }
    }
    if (ok) puts("ok no message is placed in the prelude");
    vec_free(&files);
}

static void check_catalogue(void) {
    const char *text = slurp("docs/errors.md");
    bool ok = true;
    int n = 0;
    for (int i = 0; i < messages.len; i++) {
        const Message *m = &messages.data[i];
        if (m->kind == PHRASE) continue;
        n++;
        if (shown_in(m, text, true)) continue;
        ok = false;
        failed("catalogue", "%s:%d: docs/errors.md does not have this message: %s", m->file, m->line, on_one_line(m->text));
    }
    if (ok) printf("ok the catalogue has every message (%d texts)\n", n);
}

// A function declared like printf in a source has to be in the table above.
static void check_makers(const char *file, bool *ok) {
    Scanner s = {.p = slurp(file), .file = file, .line = 1};
    const char *name = NULL, *word = NULL;
    bool wanted = false;
    int depth = 0;
    for (scan(&s); s.kind != END; scan(&s)) {
        if (s.kind == WORD && !strcmp(s.text, "format")) {
            scan(&s);
            scan(&s);
            wanted = s.kind == WORD && !strcmp(s.text, "printf");
        } else if (s.punct == '(' && depth == 0 && word && strcmp(word, "__attribute__")) {
            name = word;
        }
        word = s.kind == WORD ? s.text : NULL;
        depth += (s.punct == '(') - (s.punct == ')');
        if (s.punct == '#' || depth < 0) depth = 0;
        if (depth == 0 && (s.punct == ';' || s.punct == '{' || s.punct == '}')) {
            if (wanted && name && maker_named(name) < 0) {
                *ok = false;
                failed("makers", "%s: %s is declared like printf; add it to the table of tests/unit/messages.c", file, name);
            }
            wanted = false;
            name = NULL;
        }
    }
}

static void check_all_makers(const Paths *files) {
    bool ok = true;
    for (int i = 0; i < files->len; i++)
        if (is_source(files->data[i])) check_makers(files->data[i], &ok);
    if (ok) printf("ok every function like printf is known\n");
}

int main(int argc, char **argv) {
    root = getenv("FSMC_ROOT");
    if (!root) {
        puts("not ok messages: FSMC_ROOT is not set");
        return 1;
    }
    arena = arena_new();
    Paths files = {0};
    for (size_t i = 0; i < sizeof source_folders / sizeof *source_folders; i++) list(&files, source_folders[i]);
    for (int i = 0; i < files.len; i++)
        if (is_source(files.data[i])) read_source(files.data[i]);
    if (argc > 1 && !strcmp(argv[1], "--list")) {
        for (int i = 0; i < messages.len; i++)
            printf("%s:%d: %s%s\n", messages.data[i].file, messages.data[i].line, prefix_of(messages.data[i].kind),
                   on_one_line(messages.data[i].text));
    } else {
        read_exceptions();
        check_goldens();
        check_places();
        check_catalogue();
        check_all_makers(&files);
    }
    vec_free(&files);
    vec_free(&messages);
    arena_free(arena);
    return !all_ok;
}
