#include "front/types.h"

#include "support/str.h"

#include <string.h>

// ---- making types

static Type scalar_types[] = {
#define KIND(name, ...) {.form = TYPE_SCALAR, .kind = KIND_##name},
#include "../runtime/elements.def"
};
static Type error_type = {.form = TYPE_ERROR};
static Type unit_type = {.form = TYPE_TUPLE};

Type *type_scalar(Kind kind) { return &scalar_types[kind]; }

Type *type_error(void) { return &error_type; }

Type *type_unit(void) { return &unit_type; }

Type *type_var(Arena *a, TypeClass cls) {
    Type *t = ARENA_NEW(a, Type);
    t->form = TYPE_VAR;
    t->cls = cls;
    return t;
}

Type *type_array(Arena *a, Type *elem, const char *extent) {
    Type *t = ARENA_NEW(a, Type);
    t->form = TYPE_ARRAY;
    t->nparts = 1;
    t->parts = ARENA_NEW(a, Type *);
    t->parts[0] = elem;
    t->extent = extent;
    return t;
}

Type *type_tuple(Arena *a, int n, Type **parts) {
    if (!n) return type_unit();
    Type *t = ARENA_NEW(a, Type);
    t->form = TYPE_TUPLE;
    t->nparts = n;
    t->parts = arena_copy(a, parts, sizeof *parts * (size_t)n);
    return t;
}

Type *type_named(Arena *a, const char *name) {
    static const struct {
        const char *name;
        Kind kind;
        int rank;
        bool dual;
    } table[] = {
        {"Double", KIND_DOUBLE, 0, false}, {"Float", KIND_FLOAT, 0, false},   {"Int", KIND_INT, 0, false},
        {"Index", KIND_INT, 0, false},     {"Card", KIND_INT, 0, false},      {"Bool", KIND_BOOL, 0, false},
        {"Vector", KIND_DOUBLE, 1, false}, {"Matrix", KIND_DOUBLE, 2, false}, {"DoubleD", KIND_DOUBLE, 0, true},
        {"VectorD", KIND_DOUBLE, 1, true}, {"MatrixD", KIND_DOUBLE, 2, true},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if (strcmp(table[i].name, name)) continue;
        Type *t = type_scalar(table[i].kind);
        if (table[i].dual) t = type_tuple(a, 2, (Type *[]){t, t});
        for (int r = 0; r < table[i].rank; r++) t = type_array(a, t, NULL);
        return t;
    }
    return NULL;
}

// ---- questions

Type *type_prune(Type *t) {
    while (t->form == TYPE_VAR && t->link) {
        if (t->link->form == TYPE_VAR && t->link->link) t->link = t->link->link; // shorten the path
        t = t->link;
    }
    return t;
}

bool type_is_array(Type *t) { return type_prune(t)->form == TYPE_ARRAY; }

bool type_is_error(Type *t) { return type_prune(t)->form == TYPE_ERROR; }

bool type_has_vars(Type *t, bool any) {
    t = type_prune(t);
    if (t->form == TYPE_VAR) return !any || t->cls == CLASS_ANY;
    for (int i = 0; i < t->nparts; i++)
        if (type_has_vars(t->parts[i], any)) return true;
    return false;
}

bool type_has_error(Type *t) {
    t = type_prune(t);
    if (t->form == TYPE_ERROR) return true;
    for (int i = 0; i < t->nparts; i++)
        if (type_has_error(t->parts[i])) return true;
    return false;
}

// ---- unification

static bool occurs(const Type *var, Type *t) {
    t = type_prune(t);
    if (t == var) return true;
    for (int i = 0; i < t->nparts; i++)
        if (occurs(var, t->parts[i])) return true;
    return false;
}

static bool class_accepts(TypeClass cls, const Type *t) {
    if (cls == CLASS_ANY) return true;
    return t->form == TYPE_SCALAR && (kind_is_float(t->kind) || (cls == CLASS_NUM && t->kind == KIND_INT));
}

static bool bind(Type *var, Type *t) {
    if (t->form == TYPE_VAR) {
        if (var->cls > t->cls) t->cls = var->cls;
    } else if (t->form != TYPE_ERROR && (!class_accepts(var->cls, t) || occurs(var, t))) {
        return false;
    }
    var->link = t;
    return true;
}

bool type_unify(Type *a, Type *b) {
    a = type_prune(a), b = type_prune(b);
    if (a == b || a->form == TYPE_ERROR || b->form == TYPE_ERROR) return true;
    if (a->form == TYPE_VAR) return bind(a, b);
    if (b->form == TYPE_VAR) return bind(b, a);
    if (a->form != b->form || a->nparts != b->nparts || (a->form == TYPE_SCALAR && a->kind != b->kind)) return false;
    for (int i = 0; i < a->nparts; i++)
        if (!type_unify(a->parts[i], b->parts[i])) return false;
    return true;
}

bool type_constrain(Type *t, TypeClass cls) {
    t = type_prune(t);
    if (t->form == TYPE_ERROR) return true;
    if (t->form == TYPE_VAR) {
        if (cls > t->cls) t->cls = cls;
        return true;
    }
    return t->form == TYPE_SCALAR && class_accepts(cls, t);
}

void type_make_real(Type *t) {
    t = type_prune(t);
    if (t->form == TYPE_VAR) t->cls = CLASS_REAL;
    for (int i = 0; i < t->nparts; i++) type_make_real(t->parts[i]);
}

void type_default(Type *t) {
    t = type_prune(t);
    if (t->form == TYPE_VAR) t->link = type_scalar(t->cls == CLASS_NUM ? KIND_INT : KIND_DOUBLE);
    for (int i = 0; i < t->nparts; i++) type_default(t->parts[i]);
}

// ---- leaves

static int leaf_list(Type *t, int rank, int n, Kind *kinds, int *ranks) {
    t = type_prune(t);
    if (t->form == TYPE_ARRAY) return leaf_list(t->parts[0], rank + 1, n, kinds, ranks);
    if (t->form == TYPE_TUPLE) {
        for (int i = 0; i < t->nparts; i++) n = leaf_list(t->parts[i], rank, n, kinds, ranks);
        return n;
    }
    if (kinds) kinds[n] = t->form == TYPE_SCALAR ? t->kind : KIND_DOUBLE;
    if (ranks) ranks[n] = rank;
    return n + 1;
}

int type_leaf_list(Type *t, Kind *kinds, int *ranks) { return leaf_list(t, 0, 0, kinds, ranks); }

int type_leaves(Type *t) { return leaf_list(t, 0, 0, NULL, NULL); }

// ---- types of derivatives

// t with floating scalars replaced by `by` (NULL: themselves) and, if dual, paired with themselves.
static Type *replace_scalars(Arena *a, Type *t, Type *by, bool dual) {
    t = type_prune(t);
    switch (t->form) {
    case TYPE_VAR: // a literal's type; the callers have made it real
    case TYPE_SCALAR: {
        bool real = t->form == TYPE_VAR || kind_is_float(t->kind);
        Type *d = !real ? type_unit() : by ? by : t;
        return dual ? type_tuple(a, 2, (Type *[]){t, d}) : d;
    }
    case TYPE_ARRAY: {
        Type *elem = replace_scalars(a, t->parts[0], by, dual);
        if (elem->form == TYPE_TUPLE && !elem->nparts) return elem;
        return type_array(a, elem, t->extent);
    }
    case TYPE_TUPLE: {
        Type **parts = ARENA_ARRAY(a, Type *, t->nparts);
        for (int i = 0; i < t->nparts; i++) parts[i] = replace_scalars(a, t->parts[i], by, dual);
        return type_tuple(a, t->nparts, parts);
    }
    case TYPE_ERROR: break;
    }
    return t;
}

Type *type_tangent(Arena *a, Type *t) { return replace_scalars(a, t, NULL, false); }

Type *type_jacobian(Arena *a, Type *t, Type *by) { return replace_scalars(a, t, by, false); }

static bool all_float(Type *t) {
    t = type_prune(t);
    bool all = t->form != TYPE_SCALAR || t->kind != KIND_DOUBLE;
    for (int i = 0; i < t->nparts; i++) all &= all_float(t->parts[i]);
    return all;
}

Type *type_sparse(Arena *a, Type *t, Type *by) {
    Type *index = type_array(a, type_scalar(KIND_INT), NULL);
    Type *value = type_scalar(all_float(t) && all_float(by) ? KIND_FLOAT : KIND_DOUBLE);
    return type_tuple(a, 3, (Type *[]){index, index, type_array(a, value, NULL)});
}

Type *type_dual(Arena *a, Type *t) { return replace_scalars(a, t, NULL, true); }

// ---- text

static void print(Str *out, Type *t, bool inside) {
    t = type_prune(t);
    switch (t->form) {
    case TYPE_VAR: str_puts(out, t->cls == CLASS_NUM ? "Int" : t->cls == CLASS_REAL ? "Double" : "_"); break;
    case TYPE_SCALAR: str_puts(out, kind_info[t->kind].fsm); break;
    case TYPE_ERROR: str_puts(out, "_"); break;
    case TYPE_ARRAY: {
        Type *elem = t;
        while (elem->form == TYPE_ARRAY) elem = type_prune(elem->parts[0]);
        print(out, elem, true);
        // Double[n][m] has n rows: the outermost extent comes first.
        for (Type *s = t; s->form == TYPE_ARRAY; s = type_prune(s->parts[0])) str_printf(out, "[%s]", s->extent ? s->extent : "");
        break;
    }
    case TYPE_TUPLE:
        if (!t->nparts) {
            str_puts(out, "()");
            break;
        }
        if (inside) str_putc(out, '(');
        for (int i = 0; i < t->nparts; i++) {
            if (i) str_puts(out, " * ");
            print(out, t->parts[i], true);
        }
        if (inside) str_putc(out, ')');
        break;
    }
}

const char *type_text(Arena *a, Type *t) {
    Str s = {0};
    print(&s, t, false);
    const char *text = arena_strdup(a, str_text(&s));
    str_free(&s);
    return text;
}
