// Loops, sums and arrays that are being emitted. What needs one of them cannot be part of what that needs. They are as many as the
// program has loops in a chain, each emitted because the one before it needs it: then what needs any of them needs the last.
#include "lower/internal.h"

void lower_push_busy(Lower *l, Node *e) {
    int last = l->busy.len;
    vec_push(&l->busy, ((Busy){e, l->last_busy, l->last_busy, l->covered.len, ++l->nbusy}));
    for (int before = last, i = l->last_busy; i >= 0; i = l->busy.data[i].next) {
        if (!reach(l->reach, l->busy.data[i].e, e)) {
            before = i;
            continue;
        }
        vec_push(&l->covered, ((Covered){before, i})); // until e is done
        l->busy.data[before].next = l->busy.data[i].next;
    }
    l->last_busy = last;
}

void lower_pop_busy(Lower *l, int len) {
    while (l->busy.len > len) {
        const Busy *b = &vec_pop(&l->busy);
        while (l->covered.len > b->covered) {
            Covered c = vec_pop(&l->covered);
            l->busy.data[c.before].next = c.i;
        }
        l->last_busy = b->outer;
    }
}

static int needed(const Lower *l, Node *e) {
    int i = l->last_busy;
    while (i >= 0 && !reach(l->reach, e, l->busy.data[i].e)) i = l->busy.data[i].next;
    return i;
}

bool lower_needs_busy(const Lower *l, Node *e) { return needed(l, e) >= 0; }

bool lower_must_wait(const Lower *l, Candidate *c) {
    if (c->number && c->needs < l->busy.len && l->busy.data[c->needs].number == c->number) return true;
    c->needs = needed(l, c->e);
    c->number = c->needs >= 0 ? l->busy.data[c->needs].number : 0;
    return c->number;
}
