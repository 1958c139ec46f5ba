// fsmc repl: definitions and expressions, one after the other. A session is a list of declarations; what is typed is
// compiled together with them, in a compilation of its own, so that no error outlives its line.
#define _POSIX_C_SOURCE 200809L
#include "driver/driver.h"
#include "driver/file.h"
#include "front/tokens.h"
#include "ir/fsm_print.h"
#include "tools/engine.h"
#include "tools/line.h"
#include "tools/show.h"

#include "front/layout.h"

#include "fsm.tab.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define VALUE_NAME "it'" // the entry that stands for an expression

typedef struct Repl {
    Compilation *c;
    Arena *arena;
    VEC(const char *) decls; // the session, in order
    const char *file;        // of :load, or NULL
    const char *name;        // of the session in messages; its folder is where `open` looks
    char *ahead;             // a line that was read already, or NULL
    bool ended, quit;
} Repl;

typedef enum What { SHOW_VALUE, SHOW_TYPE, SHOW_IR, SHOW_FSM, SHOW_TIME, SHOW_NOTHING } What;

// ---- the session

static Source text_source(Repl *r, const char *name, const char *text) {
    return (Source){name ? name : r->name, text, strlen(text)};
}

static const char *session_text(Repl *r, const char *more) {
    Str s = {0};
    for (int i = 0; i < r->decls.len; i++) str_printf(&s, "%s\n", r->decls.data[i]);
    str_puts(&s, more);
    const char *text = arena_strndup(r->arena, str_text(&s), s.len);
    str_free(&s);
    return text;
}

static bool binds(const Pattern *p, const char *name) {
    if (p->kind == PAT_NAME) return !strcmp(p->name, name);
    for (int i = 0; i < p->nparts; i++)
        if (binds(p->parts[i], name)) return true;
    return false;
}

// Does declaration d define all that `old` defines?
static bool replaces(const Decl *d, const Decl *old) {
    if (old->kind == DECL_OPEN || d->kind == DECL_OPEN) return d->kind == old->kind && !strcmp(d->name, old->name);
    if (old->kind != DECL_TUPLE) return d->kind == DECL_TUPLE ? binds(d->pattern, old->name) : !strcmp(d->name, old->name);
    if (d->kind != DECL_TUPLE) return false;
    for (int i = 0; i < old->pattern->nparts; i++) {
        const Pattern *p = old->pattern->parts[i];
        if (p->kind == PAT_NAME && !binds(d->pattern, p->name)) return false;
    }
    return true;
}

static const Program *parse(Repl *r, const char *text, bool *ok) {
    Diag *diag = diag_new(r->arena);
    Source *src = ARENA_NEW(r->arena, Source);
    *src = text_source(r, NULL, text);
    const Program *p = parse_program(r->arena, diag, src);
    *ok = !diag_errors(diag) && p->ndecls > 0;
    diag_delete(diag);
    return p;
}

static const char *decl_text(Repl *r, const Decl *d) {
    return arena_strndup(r->arena, d->span.src->text + d->span.begin, d->span.end - d->span.begin);
}

// Takes the declarations of a program over, in place of those that they define anew.
static void adopt(Repl *r, const Program *p) {
    for (int i = 0; i < p->ndecls; i++) {
        int n = 0;
        for (int k = 0; k < r->decls.len; k++) {
            bool ok;
            const Program *old = parse(r, r->decls.data[k], &ok);
            if (!(ok && replaces(p->decls[i], old->decls[0]))) r->decls.data[n++] = r->decls.data[k];
        }
        r->decls.len = n;
        const char *text = decl_text(r, p->decls[i]);
        vec_push(&r->decls, text);
    }
}

// ---- compiling

typedef struct Job {
    Repl *r;
    Compilation *c;
    const Source *src;
    What what;
    bool ok;
} Job;

static double now_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static void print(const Str *s) {
    fwrite(str_text(s), 1, s->len, stdout);
    fflush(stdout);
}

// Calls until enough time has passed to say how long one takes.
static double time_calls(const Caller *x, Tensor *out) {
    double best = 0, start = now_ms();
    for (int i = 0; i < 1000 && (i < 3 || now_ms() - start < 200); i++) {
        Arena *a = arena_new();
        const char *error;
        double before = now_ms();
        caller_call(x, a, 0, NULL, out, &error);
        double ms = now_ms() - before;
        arena_free(a);
        if (i == 0 || ms < best) best = ms;
    }
    return best;
}

static void evaluate(Job *j, FuncList funcs, Str *out) {
    Compilation *c = j->c;
    Caller x;
    double start = now_ms();
    if (!caller_open(&x, c, funcs)) return;
    const Func *f = funcs.f[0];
    Tensor *results = ARENA_ARRAY(c->arena, Tensor, f->noutputs + 1);
    const char *error = NULL;
    if (caller_call(&x, c->arena, 0, NULL, results, &error)) {
        diag_error(c->diag, nowhere, "%s", error);
    } else {
        double ready = now_ms() - start;
        show_value(out, f->result, results);
        str_puts(out, " : ");
        show_type(out, f->result, results);
        str_putc(out, '\n');
        if (j->what == SHOW_TIME) {
            Tensor *again = ARENA_ARRAY(c->arena, Tensor, f->noutputs + 1);
            str_printf(out, "compiled in %.3g ms, one call takes %.3g ms\n", ready, time_calls(&x, again));
        }
    }
    caller_close(&x);
}

static int compile(void *data) {
    Job *j = data;
    Compilation *c = j->c;
    FuncList funcs = {0};
    Str out = {0};
    bool raw = c->opt->engine == ENGINE_INTERP && (j->what == SHOW_VALUE || j->what == SHOW_TIME);
    bool ok = compile_load(c, j->src) && (j->what == SHOW_NOTHING || compile_funcs(c, raw, &funcs));
    if (ok && (j->what == SHOW_VALUE || j->what == SHOW_TIME)) evaluate(j, funcs, &out);
    if (ok && j->what == SHOW_TYPE) show_type(&out, funcs.f[0]->result, NULL), str_putc(&out, '\n');
    if (ok && (j->what == SHOW_IR || j->what == SHOW_FSM)) {
        compile_passes(c, &funcs, j->what == SHOW_IR);
        (j->what == SHOW_IR ? ir_print : fsm_print)(&out, funcs.f[0]);
    }
    j->ok = ok && compile_ok(c);
    if (j->ok) print(&out);
    str_free(&out);
    if (j->ok && j->what == SHOW_NOTHING) line_learn(c->unit);
    return 0;
}

// Compiles a program and shows what it is for; messages go to standard error.
static bool attempt(Repl *r, const Source *src, What what) {
    Options opt = *r->c->opt;
    static const char *const names[] = {VALUE_NAME};
    const char *entries[] = {names[0]};
    opt.entries.data = entries, opt.entries.len = what != SHOW_NOTHING;
    Compilation *c = compile_new(&opt);
    Job j = {r, c, src, what, false};
    int unused;
    if (compile_guarded(compile, &j, &unused)) j.ok = false;
    if (!j.ok || what == SHOW_NOTHING) {
        Str s = {0};
        diag_print(c->diag, &s, isatty(STDERR_FILENO));
        fflush(stdout);
        fwrite(str_text(&s), 1, s.len, stderr);
        str_free(&s);
    }
    compile_delete(c);
    return j.ok;
}

// ---- what is typed

static void define(Repl *r, const Program *p) {
    int before = r->decls.len;
    const char **old = arena_copy(r->arena, r->decls.data, sizeof *old * (size_t)before);
    adopt(r, p);
    Source src = text_source(r, NULL, session_text(r, ""));
    if (attempt(r, &src, SHOW_NOTHING)) return;
    r->decls.len = 0;
    for (int i = 0; i < before; i++) vec_push(&r->decls, old[i]);
}

static void show(Repl *r, const char *text, What what) {
    Str s = {0};
    str_puts(&s, "entry " VALUE_NAME " =\n  ");
    for (const char *p = text; *p; p++) {
        str_putc(&s, *p);
        if (*p == '\n' && p[1]) str_puts(&s, "  ");
    }
    str_putc(&s, '\n');
    Source src = text_source(r, NULL, session_text(r, str_text(&s)));
    str_free(&s);
    attempt(r, &src, what);
}

static void load(Repl *r, const char *path) {
    Diag *diag = diag_new(r->arena);
    const Source *src = file_read(r->arena, diag, path);
    Str s = {0};
    diag_print(diag, &s, isatty(STDERR_FILENO));
    fwrite(str_text(&s), 1, s.len, stderr);
    str_free(&s);
    diag_delete(diag);
    if (!src || !attempt(r, src, SHOW_NOTHING)) return;
    bool ok;
    r->decls.len = 0;
    r->file = arena_strdup(r->arena, path);
    r->name = arena_printf(r->arena, "%.*srepl", (int)(file_base(path) - path), path);
    adopt(r, parse(r, src->text, &ok));
}

static void help(void) {
    fputs("let f x = e     define; a name that is defined already gets the new meaning\n"
          "e               evaluate, and print the value and its type\n"
          ":type e         the type of e\n"
          ":time e         evaluate, and say how long compiling and a call take\n"
          ":ir e           the optimised program of e as values\n"
          ":fsm e          the optimised program of e as F~\n"
          ":load FILE      start over with the definitions of FILE\n"
          ":reload         load that file again\n"
          ":list           the definitions of the session\n"
          ":help  :quit\n"
          "A line that ends in `=`, `->` or an operator, or leaves a bracket open, goes on; an empty line ends it.\n",
          stdout);
}

static const struct {
    const char *name;
    What what;
} shows[] = {{"type", SHOW_TYPE}, {"time", SHOW_TIME}, {"ir", SHOW_IR}, {"fsm", SHOW_FSM}};

static void command(Repl *r, const char *line) {
    size_t n = strcspn(line, " \t\n");
    const char *name = arena_strndup(r->arena, line, n), *rest = line + n;
    while (isspace((unsigned char)*rest)) rest++;
    for (size_t i = 0; i < sizeof shows / sizeof *shows; i++)
        if (!strcmp(name, shows[i].name)) {
            if (*rest) show(r, rest, shows[i].what);
            else fprintf(stderr, "an expression is expected after :%s\n", name);
            return;
        }
    if (!strcmp(name, "quit") || !strcmp(name, "q")) r->quit = true;
    else if (!strcmp(name, "help")) help();
    else if (!strcmp(name, "list"))
        for (int i = 0; i < r->decls.len; i++) puts(r->decls.data[i]);
    else if (!strcmp(name, "load") || (!strcmp(name, "reload") && r->file))
        if (*name == 'l' && !*rest) fprintf(stderr, "a file is expected after :load\n");
        else load(r, *name == 'l' ? rest : r->file);
    else if (!strcmp(name, "reload")) fprintf(stderr, "no file has been loaded\n");
    else fprintf(stderr, "there is no command :%s; :help lists them\n", name);
}

static bool begins_declaration(const char *text) {
    static const char *const words[] = {"let", "entry", "open"};
    size_t n = strcspn(text, " (\n");
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (n == strlen(words[i]) && !strncmp(text, words[i], n)) return true;
    return false;
}

// An expression may begin with `let` too.
static bool is_expression(Repl *r, const char *text) {
    bool ok;
    parse(r, arena_printf(r->arena, "let x =\n  %s\n", text), &ok);
    return ok;
}

static void take(Repl *r, const char *text) {
    if (*text == ':') {
        command(r, text + 1);
        return;
    }
    bool ok;
    const Program *p = parse(r, text, &ok);
    if (ok) {
        define(r, p);
    } else if (begins_declaration(text) && !is_expression(r, text)) {
        Source bad = text_source(r, "repl", text);
        attempt(r, &bad, SHOW_NOTHING);
    } else {
        show(r, text, SHOW_VALUE);
    }
}

// ---- reading

static bool is_blank(const char *s) { return !s[strspn(s, " \t\r\n")]; }

static bool goes_on_after(int kind) {
    switch (kind) {
    case EQ:
    case ARROW:
    case THEN:
    case ELSE:
    case IN:
    case COMMA:
    case PLUS:
    case MINUS:
    case STAR:
    case SLASH:
    case PERCENT:
    case POW:
    case AND:
    case OR:
    case EQEQ:
    case NE:
    case LT:
    case LE:
    case GT:
    case GE:
    case IF:
    case LET:
    case FUN:
    case DO:
    case NOT:
    case PMINUS:
    case BANG: return true;
    default: return false;
    }
}

// Is a line like this for certain not the last: a bracket is open, or something has to follow?
static bool unfinished(Repl *r, const char *text) {
    Source src = {"repl", text, strlen(text)};
    SourceTokens t = tokens_read(r->arena, &src);
    for (int i = 0; i < t.n; i++)
        if (t.token[i].partner < 0 && (t.token[i].kind == LPAREN || t.token[i].kind == LPAREN_CALL || t.token[i].kind == LBRACK ||
                                       t.token[i].kind == LINDEX || t.token[i].kind == LARRAY))
            return true;
    return t.n > 1 && goes_on_after(t.token[t.n - 2].kind);
}

static char *read_line(Repl *r, bool more) {
    char *line = r->ahead;
    r->ahead = NULL;
    if (!line) line = line_read(more ? ". " : "> ");
    if (!line) r->ended = true;
    return line;
}

// Does a line in the first column go on with the block above it?
static bool continues(const char *line) {
    static const char *const words[] = {"else", "elif", "then", "in"};
    size_t n = strcspn(line, " \t(");
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (n == strlen(words[i]) && !strncmp(line, words[i], n)) return true;
    return !*line || isspace((unsigned char)*line) || strchr(")]|", *line);
}

// The next piece of input, of one or more lines; NULL at the end.
static const char *read_piece(Repl *r) {
    Str s = {0};
    bool block = false, open = false;
    for (;;) {
        char *line = read_line(r, s.len > 0);
        if (!line) break;
        if (s.len && block && !open && !continues(line)) {
            r->ahead = line; // the next piece begins in the first column
            break;
        }
        bool blank = is_blank(line);
        if (!blank) str_puts(&s, line), str_putc(&s, '\n');
        line_free(line);
        if (blank && s.len) break;
        if (blank) continue;
        open = unfinished(r, str_text(&s));
        block |= open;
        if (!block || str_text(&s)[0] == ':') break;
    }
    const char *text = s.len ? arena_strndup(r->arena, str_text(&s), s.len) : NULL;
    str_free(&s);
    return text;
}

void command_repl(Compilation *c) {
    Repl r = {.c = c, .arena = c->arena, .name = "repl"};
    bool terminal = isatty(STDIN_FILENO);
    line_open();
    if (terminal) puts("fsmc " FSMC_VERSION "; :help lists the commands");
    if (c->opt->file) load(&r, c->opt->file);
    const char *text;
    while (!r.quit && !r.ended) {
        text = read_piece(&r);
        if (!text) continue;
        char *end = (char *)text + strlen(text);
        while (end > text && isspace((unsigned char)end[-1])) *--end = 0;
        take(&r, text);
        fflush(stdout);
    }
    if (terminal && !r.quit) putchar('\n');
    line_free(r.ahead);
    vec_free(&r.decls);
}
