// Wishes: what attributes ask of loops. They are no part of what a value is: terms that are equal but for them are one node,
// whose variables have the wishes of both.
#include "ir/ir.h"

const WishInfo wish_info[] = {
#define WISH(name, number, missing) {#name, number, missing},
#include "ir/wishes.def"
};

Wish *wish_new(Ir *m, WishKind kind, int64_t number, Span span) {
    Wish *w = ARENA_NEW(m->arena, Wish);
    *w = (Wish){.kind = kind, .number = number, .span = span, .why = wish_info[kind].missing};
    if (m->last_wish) m->last_wish->next = w;
    else m->wishes = w;
    return m->last_wish = w;
}

static Wish *root(Wish *w) {
    while (w->same) w = w->same;
    return w;
}

// Both become one if they ask for the same.
static void join(Wish *a, Wish *b) {
    a = root(a), b = root(b);
    if (a == b) return;
    if (a->number != b->number) {
        b->why = "another attribute of the loop says otherwise";
        return;
    }
    a->followed |= b->followed;
    b->same = a;
}

static void inherit(Wish **to, Wish *from) {
    if (from && *to) join(*to, from);
    else if (from) *to = from;
}

void wishes_join(Wishes *to, const Wishes *from) {
    for (int k = 0; k < WISH_COUNT; k++) inherit(&to->of[k], from->of[k]);
}

void wishes_pass_on(Wishes *to, const Wishes *from) {
    for (int k = 0; k < WISH_COUNT; k++)
        if (k != WISH_materialise && k != WISH_reassociate) inherit(&to->of[k], from->of[k]);
}

bool wishes_agree(const Wishes *a, const Wishes *b) {
    for (int k = 0; k < WISH_COUNT; k++)
        if (!a->of[k] != !b->of[k] || (a->of[k] && a->of[k]->number != b->of[k]->number)) return false;
    return true;
}

bool wishes_any(const Wishes *w) {
    for (int k = 0; k < WISH_COUNT; k++)
        if (w->of[k]) return true;
    return false;
}

void wish_follow(Wish *w) { root(w)->followed = true; }
void wish_refuse(Wish *w, const char *why) { root(w)->why = why; }

const char *wish_refused(const Ir *m, Wish *w) {
    const char *why = root(w)->why;
    for (Wish *o = m->wishes; o; o = o->next) { // of a function that is used in several places, one is enough
        bool same = o->kind == w->kind && o->span.src == w->span.src && o->span.begin == w->span.begin;
        if (same && root(o)->followed) return NULL;
    }
    return why;
}
