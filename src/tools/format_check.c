// Whole programs: declaration by declaration, each compared with what it was.
#include "tools/format.h"

#include "front/layout.h"
#include "tools/format_internal.h"

#include "fsm.tab.h"

#include <string.h>

// ---- comparing

// The tree as text; NULL if the source does not parse. The comments are compared apart.
static const char *tree_text(Arena *a, const Source *src) {
    Diag *diag = diag_new(a);
    Program *p = parse_program(a, diag, src);
    Str out = {0};
    for (int i = 0; i < p->ndecls; i++) p->decls[i]->doc = p->decls[i]->doc ? "" : NULL;
    bool ok = !diag_errors(diag);
    if (ok) ast_print(&out, p);
    const char *text = ok ? arena_strndup(a, str_text(&out), out.len) : NULL;
    diag_delete(diag);
    str_free(&out);
    return text;
}

static bool same_token(const Source *s, const SourceToken *a, const Source *t, const SourceToken *b) {
    return a->end - a->begin == b->end - b->begin && !memcmp(s->text + a->begin, t->text + b->begin, a->end - a->begin);
}

// The next token that is no `in`.
static int skip_in(SourceTokens t, int i) {
    while (t.token[i].kind == IN) i++;
    return i;
}

static bool same_tokens(const Source *s, SourceTokens a, const Source *t, SourceTokens b) {
    int i = 0, k = 0;
    for (;; i++, k++) {
        i = skip_in(a, i), k = skip_in(b, k);
        if (a.token[i].kind == FSM_EOF || b.token[k].kind == FSM_EOF) return a.token[i].kind == b.token[k].kind;
        if (!same_token(s, &a.token[i], t, &b.token[k])) return false;
    }
}

typedef VEC(const char *) Texts;

static Texts comments_of(SourceTokens t) {
    Texts out = {0};
    for (int i = 0; i < t.n; i++)
        for (int k = 0; k < t.token[i].ncomments; k++) vec_push(&out, t.token[i].comment[k].text);
    return out;
}

static bool same_comments(SourceTokens a, SourceTokens b) {
    Texts s = comments_of(a), t = comments_of(b);
    bool same = s.len == t.len;
    for (int i = 0; same && i < s.len; i++) same = !strcmp(s.data[i], t.data[i]);
    vec_free(&s);
    vec_free(&t);
    return same;
}

bool format_same_tree(Arena *a, const Source *one, const Source *other) {
    const char *before = tree_text(a, one), *after = tree_text(a, other);
    return before && after && !strcmp(before, after);
}

bool format_same(Arena *a, const Source *one, const Source *other) {
    if (!format_same_tree(a, one, other)) return false;
    SourceTokens s = tokens_read(a, one), t = tokens_read(a, other);
    return same_tokens(one, s, other, t) && same_comments(s, t);
}

// ---- declarations

static Source source_of(const char *text) { return (Source){"<declaration>", text, strlen(text)}; }

// Where the declaration ends whose last token is t, with the comment behind it.
static uint32_t end_of(const Format *f, const SourceToken *t) {
    uint32_t end = t->end;
    bool behind = false;
    for (int i = 0; i < t[1].ncomments; i++) behind |= t[1].comment[i].place == COMMENT_BEHIND;
    while (behind && end < f->src->len && f->src->text[end] != '\n') end++;
    return end;
}

// The declaration as it is written, moved to the first column.
static const char *as_written(Format *f, const SourceToken *first, const SourceToken *last) {
    Str out = {0};
    const char *p = f->src->text + first->begin, *end = f->src->text + end_of(f, last);
    while (p < end) {
        const char *stop = memchr(p, '\n', (size_t)(end - p)), *next = stop ? stop + 1 : end;
        if (!stop) stop = end;
        while (stop > p && strchr(" \t\r", stop[-1])) stop--;
        str_write(&out, p, (size_t)(stop - p));
        if (next < end) str_putc(&out, '\n');
        p = next;
        for (int k = 0; k < first->column && p < end && *p == ' '; k++) p++;
    }
    const char *text = arena_strndup(f->arena, str_text(&out), out.len);
    str_free(&out);
    return text;
}

// The declaration at the next token as text.
static const char *declaration(Format *f, const Decl *d, int *kept) {
    const SourceToken *first = &f->tokens.token[f->next];
    Str out = {0};
    doc_print(&out, format_decl(f, d), f->width);
    const char *text = arena_strndup(f->arena, str_text(&out), out.len);
    str_free(&out);
    const SourceToken *end = first; // where the parser has found it, whatever the formatter took
    while (end->begin < d->span.end && end->kind != FSM_EOF) end++;
    f->next = (int)(end - f->tokens.token), f->seen = 0;
    const char *written = as_written(f, first, end - 1);
    Source before = source_of(written), after = source_of(text);
    if (format_same(f->arena, &before, &after)) return text;
    ++*kept;
    return written;
}

bool format_program(Arena *a, Diag *diag, const Source *src, int width, Str *out, int *kept) {
    const Program *p = parse_program(a, diag, src);
    *kept = 0;
    if (diag_errors(diag)) return false;
    Format f = {.arena = a, .src = src, .width = width, .tokens = tokens_read(a, src)};
    Docs d = {0};
    for (int i = 0; i < p->ndecls; i++) {
        vec_push(&d, format_before_item(&f, i == 0));
        vec_push(&d, doc_text(a, declaration(&f, p->decls[i], kept)));
        vec_push(&d, doc_newline(a));
    }
    vec_push(&d, format_before_item(&f, p->ndecls == 0));
    Str text = {0};
    doc_print(&text, doc_cat(a, d.len, d.data), width);
    vec_free(&d);
    while (text.len && text.data[text.len - 1] == '\n') text.data[--text.len] = 0;
    if (text.len) str_putc(&text, '\n');
    Source after = {src->name, arena_strndup(a, str_text(&text), text.len), text.len};
    diag_current_pass = "fmt";
    if (!format_same(a, src, &after)) fatal_bug("`%s` would not be the same program", src->name);
    str_write(out, str_text(&text), text.len);
    str_free(&text);
    return true;
}
