#include "support/explain.h"

#include "support/vec.h"

#include <stdlib.h>
#include <string.h>

typedef struct Note {
    ExplainTopic topic;
    Span at;
    int order; // in which it was made
    const char *entry, *text;
} Note;

struct Explain {
    Arena *arena;
    unsigned topics;
    const char *entry;
    VEC(Note) notes;
};

static const struct {
    const char *name, *help;
} topics[] = {
#define TOPIC(id, name, help) {name, help},
#include "support/explain.def"
};

const char *explain_topic_name(ExplainTopic topic) { return topics[topic].name; }
const char *explain_topic_help(ExplainTopic topic) { return topics[topic].help; }

Explain *explain_new(Arena *arena, unsigned wanted) {
    Explain *x = ARENA_NEW(arena, Explain);
    *x = (Explain){.arena = arena, .topics = wanted};
    return x;
}

void explain_delete(Explain *x) {
    if (x) vec_free(&x->notes);
}

void explain_entry(Explain *x, const char *name) {
    if (x) x->entry = name;
}

bool explain_wants(const Explain *x, ExplainTopic topic) { return x && x->topics & 1u << topic; }

static bool same(const Note *a, const Note *b) {
    return a->topic == b->topic && a->at.src == b->at.src && a->at.begin == b->at.begin && a->entry == b->entry &&
           !strcmp(a->text, b->text);
}

void explain(Explain *x, ExplainTopic topic, Span at, const char *fmt, ...) {
    if (!explain_wants(x, topic)) return;
    va_list ap;
    va_start(ap, fmt);
    Note note = {topic, at, x->notes.len, x->entry, arena_vprintf(x->arena, fmt, ap)};
    va_end(ap);
    for (int i = 0; i < x->notes.len; i++)
        if (same(&x->notes.data[i], &note)) return;
    vec_push(&x->notes, note);
}

static int by_place(const void *p, const void *q) {
    const Note *a = p, *b = q;
    const char *s = a->at.src ? a->at.src->name : "", *t = b->at.src ? b->at.src->name : "";
    if (a->at.src != b->at.src && strcmp(s, t)) return strcmp(s, t);
    if (a->at.begin != b->at.begin) return a->at.begin < b->at.begin ? -1 : 1;
    return a->order - b->order;
}

void explain_print(const Explain *x, Str *out) {
    if (!x || !x->notes.len) return;
    qsort(x->notes.data, (size_t)x->notes.len, sizeof *x->notes.data, by_place);
    for (int i = 0; i < x->notes.len; i++) {
        const Note *n = &x->notes.data[i];
        diag_print_place(out, n->at);
        str_printf(out, "%s: %s", explain_topic_name(n->topic), n->text);
        if (n->entry) str_printf(out, " (%s)", n->entry);
        str_putc(out, '\n');
    }
}
