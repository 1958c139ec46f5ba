// Elaboration: what the rule of a customJvp differentiates by although it captures it. The rule's third parameter, `total`, is
// jvp, and besides moves the variables that its function uses and that are bound outside of the customJvp. These are part of
// what the custom is a function of: while function and rule are built, states stand for the leaves of them that may be
// active, and while the function of a `total` is built, placeholders. So what the rule has computed of them before stays.
// Leaves that no `total` depends on after all (it uses another part of a tuple) stand as they are in the end, like all else
// that is captured.
#include "front/elab_internal.h"

#include "support/map.h"
#include "support/vec.h"

// ---- variables in core

typedef VEC(const Core *) Cores;

static void push_spec(Cores *rest, const SizeSpec *s) {
    if (s && s->extent) vec_push(rest, s->extent);
    for (int i = 0; s && i < s->nparts; i++) push_spec(rest, s->parts[i]);
}

static void push_parts(Cores *rest, const Core *c) {
    for (int i = c->nargs; i-- > 0;) vec_push(rest, c->args[i]);
    for (int i = c->nbinds; i-- > 0;) vec_push(rest, c->binds[i].value);
    for (int i = c->nitems; i-- > 0;) {
        Core *const of[] = {c->items[i].at, c->items[i].lo, c->items[i].hi};
        for (int k = 0; k < 3; k++)
            if (of[k]) vec_push(rest, of[k]);
    }
    push_spec(rest, c->spec);
}

// All that c is made of, each once, by a stack of its own: chains are as long as programs make them.
static Cores parts_of(const Core *c) {
    Cores all = {0}, rest = {0};
    Map seen = {0};
    vec_push(&rest, c);
    while (rest.len) {
        const Core *e = vec_pop(&rest);
        if (map_get(&seen, e)) continue;
        map_put(&seen, e, (void *)e);
        vec_push(&all, e);
        push_parts(&rest, e);
    }
    vec_free(&rest);
    map_free(&seen);
    return all;
}

static void put_bound(Map *bound, const Core *c) {
    for (size_t i = 0; c->kind != CORE_VAR && i < sizeof c->vars / sizeof *c->vars; i++)
        if (c->vars[i]) map_put(bound, c->vars[i], c->vars[i]);
    for (int i = 0; i < c->nbinds; i++)
        if (c->binds[i].var) map_put(bound, c->binds[i].var, c->binds[i].var);
}

// ---- what is captured

// The floating leaves of the variable that may be active.
static void add_leaves(Elab *el, OpenCustom *o, CoreVar *v) {
    for (int j = 0; j < v->value.n; j++) {
        Node *e = v->value.leaf[j];
        if (!e || !kind_is_float(e->kind) || !elab_is_active(el, 1, &e, true)) continue;
        Captured *more = ARENA_ARRAY(el->arena, Captured, o->n + 1);
        for (int i = 0; i < o->n; i++) more[i] = o->captured[i];
        more[o->n++] = (Captured){.var = v, .leaf = j};
        o->captured = more;
    }
}

void total_find(Elab *el, OpenCustom *o) {
    if (!o->c->total || !el->active) return;
    Cores all = parts_of(o->c);
    Map bound = {0};
    for (int i = 0; i < all.len; i++) put_bound(&bound, all.data[i]);
    for (int i = 0; i < all.len; i++) {
        const Core *c = all.data[i];
        if (c->kind != CORE_AD || c->vars[1] != o->c->vars[2]) continue;
        Cores inside = parts_of(c->args[1]);
        for (int k = 0; k < inside.len; k++) {
            CoreVar *v = inside.data[k]->kind == CORE_VAR ? inside.data[k]->vars[0] : NULL;
            if (!v || map_get(&bound, v)) continue;
            map_put(&bound, v, v);
            add_leaves(el, o, v);
        }
        vec_free(&inside);
    }
    vec_free(&all);
    map_free(&bound);
}

Node **total_values(Elab *el, const OpenCustom *o) {
    Node **e = ARENA_ARRAY(el->arena, Node *, o->n + 1);
    for (int i = 0; i < o->n; i++) e[i] = o->captured[i].var->value.leaf[o->captured[i].leaf];
    return e;
}

void total_put(Elab *el, const OpenCustom *o, Node *const *e) {
    for (int i = 0; i < o->n; i++) {
        Value *at = &o->captured[i].var->value, v = value_new(el, at->n);
        for (int j = 0; j < v.n; j++) v.leaf[j] = j == o->captured[i].leaf ? e[i] : at->leaf[j];
        *at = v;
    }
}

// ---- a use

const OpenCustom *total_of(Elab *el, const Core *c) {
    static const OpenCustom none;
    if (!c->vars[1]) return &none;
    if (el->custom && el->custom->c->vars[2] == c->vars[1]) return el->custom;
    elab_error(el, c, c->span, "`%s` differentiates in the rule that it is a parameter of, not inside of another function's",
               c->text);
    return &none;
}
