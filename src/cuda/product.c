// Matrix products (lower/product.h): where they are large, a call of fsm::cuda::matmul takes the place of a kernel of their grid.
//
// Where elements lie is printed as functions of the three indices, which the program calls for four places to know what they are
// apart by. Where something else than a product is added up, a struct with that function is printed before the kernels,
// and two if the factors are functions of several elements: then it is a call of fsm::cuda::matmul_factors, with one more for what
// is summed up beside.
#include "cuda/print.h"
#include "lower/product.h"

#include <string.h>

typedef struct Places {
    Unit *u;
    const Product *p;
    Map made, needed; // Temp + 1: in the nest; for the place of an element
} Places;

static void *key(Temp t) { return (void *)((intptr_t)t + 1); }

static void note_made(Map *made, const Stmt *s) {
    if (s->dst >= 0) map_put(made, key(s->dst), (void *)1);
    for (int i = 0; s->body && i < s->body->stmts.len; i++) note_made(made, s->body->stmts.data[i]);
}

// The loop besides the three, of a batch or around the sum; NULL if there is none.
static const Stmt *fourth(const Product *p) { return p->batch ? p->batch : p->over; }

// Notes what t is computed from in the nest; false if the host does not know it.
static bool need(Places *z, Temp t) {
    const Stmt *s = z->u->def[t];
    for (int k = 0; k < 3; k++)
        if (z->p->loop[k]->dst == t) return true;
    const Stmt *outer = fourth(z->p);
    if (outer && outer->dst == t) return true;
    if (!map_get(&z->made, key(t))) return s->kind == ST_LIT || !z->u->device[t];
    if (s->kind != ST_LIT && s->kind != ST_ARG && s->kind != ST_OP) return false;
    for (int k = 0; k < s->nargs; k++)
        if (!need(z, s->args[k])) return false;
    map_put(&z->needed, key(t), (void *)1);
    return true;
}

static bool need_place(Places *z, const Stmt *s) {
    for (int d = 0; d < s->buf->rank; d++)
        if (!need(z, stmt_index(s)[d]) || (d && !need(z, s->buf->extent[d]))) return false;
    return true;
}

static void print_needed(Code *c, const Map *needed, const Block *b) {
    for (int i = 0; i < b->stmts.len; i++) {
        const Stmt *s = b->stmts.data[i];
        if (s->dst >= 0 && map_get(needed, key(s->dst))) code_stmt(c, s, NULL);
        if (s->kind == ST_FOR) print_needed(c, needed, s->body);
    }
}

// const auto NAME = fsm::cuda::places_of([=](i, j, k) { … });
static bool print_places(Code *c, const Product *p, const char *name, const Stmt *s) {
    Unit *u = c->u;
    Places z = {.u = u, .p = p};
    const Stmt *outer = p->batch ? p->batch : p->loop[0];
    note_made(&z.made, outer);
    bool known = need_place(&z, s);
    if (known) {
        const char *var[4], *list = "", *unused = "", *comma = "";
        for (int k = 0; k < 4; k++) {
            if (k == 0 && !fourth(p)) continue;
            var[k] = expr_temp(u, k ? p->loop[k - 1]->dst : fourth(p)->dst);
            list = expr_text(u->arena, "%s%sint64_t %s", list, comma, var[k]),
            unused = expr_text(u->arena, "%s%s(void)%s", unused, comma, var[k]), comma = ", ";
        }
        code_line(c, "const auto %s = fsm::cuda::places_of%s([=](%s) {", name, fourth(p) ? "_batch" : "", list);
        c->indent += 4;
        code_line(c, "%s;", unused);
        print_needed(c, &z.needed, outer->body);
        code_line(c, "return int64_t(%s);", expr_place(u, s->buf, stmt_index(s)));
        c->indent -= 4;
        code_line(c, "});");
    }
    map_free(&z.made), map_free(&z.needed);
    return known;
}

// ---- functions of elements

// One that is printed: of loads, that are called so.
typedef struct Function {
    Temp value;
    int n;
    Stmt *const *leaf;
    const char *const *name;
} Function;

static int leaf_number(const Function *f, const Stmt *s) {
    int k = 0;
    while (k < f->n && f->leaf[k] != s) k++;
    return k;
}

// Notes what the value is computed from in the nest, and what from outside; false if the host does not know that.
static bool need_value(Places *z, const Function *f, Temp t, Map *outside) {
    const Stmt *s = z->u->def[t];
    if (leaf_number(f, s) < f->n) return true;
    if (s->kind == ST_LIT) return map_put(&z->needed, key(t), (void *)1), true;
    if (!map_get(&z->made, key(t))) return map_put(outside, key(t), (void *)1), !z->u->device[t];
    for (int k = 0; k < s->nargs; k++)
        if (!need_value(z, f, s->args[k], outside)) return false;
    map_put(&z->needed, key(t), (void *)1);
    return true;
}

static void print_value(Code *c, const Places *z, const Function *f, const Block *b) {
    for (int i = 0; i < b->stmts.len; i++) {
        const Stmt *s = b->stmts.data[i];
        const int leaf = leaf_number(f, s);
        if (leaf < f->n) {
            c->u->text[s->dst] = NULL; // its name
            code_line(c, "const %s %s = %s;", cuda_type(unit_kind(c->u, s->dst)), expr_temp(c->u, s->dst), f->name[leaf]);
        } else if (s->dst >= 0 && map_get(&z->needed, key(s->dst))) code_stmt(c, s, NULL);
        if (s->kind == ST_FOR) print_value(c, z, f, s->body);
    }
}

// struct NAME { first; …; T operator()(parameters) const { … } }: an object of it, NULL if the value needs what the device alone
// knows.
static const char *print_function(Unit *u, const Product *p, const Function *f, const char *first, const char *parameters) {
    Places z = {.u = u, .p = p};
    const Stmt *outer = p->batch ? p->batch : p->loop[0];
    Map outside = {0};
    const char *values = "", *object = NULL;
    note_made(&z.made, outer);
    if (need_value(&z, f, f->value, &outside)) {
        Code c = {.u = u, .out = &u->kernels, .indent = 4, .where = CODE_KERNEL};
        const char *name = expr_text(u->arena, "f%d", ++u->nkernels);
        str_printf(&u->kernels, "\nstruct %s {\n%s", name, first);
        for (Temp t = 0; t < u->tree->temps.len; t++) {
            if (!map_get(&outside, key(t))) continue;
            code_line(&c, "%s %s;", cuda_type(unit_kind(u, t)), expr_temp(u, t));
            values = expr_text(u->arena, "%s%s%s", values, *values ? ", " : "", expr_temp(u, t));
        }
        code_line(&c, "__device__ %s operator()(%s) const {", cuda_element(p->to->buf->kind), parameters);
        c.indent += 4;
        print_value(&c, &z, f, outer->body);
        code_line(&c, "return %s;", expr_temp(u, f->value));
        c.indent -= 4;
        code_line(&c, "}");
        str_puts(&u->kernels, "};\n");
        object = expr_text(u->arena, "%s{%s}", name, values);
    }
    map_free(&z.made), map_free(&z.needed), map_free(&outside);
    return object;
}

static const char *print_term(Unit *u, const Product *p) {
    const char *type = cuda_element(p->to->buf->kind);
    return print_function(
        u, p,
        &(Function){
            .value = p->term, .n = 2, .leaf = (Stmt *const[]){p->left, p->right}, .name = (const char *const[]){"fsm_x", "fsm_y"}},
        "", expr_text(u->arena, "%s fsm_x, %s fsm_y", type, type));
}

// What include/fsmc/cuda/factors.h asks of a factor's function.
static const char *print_factor(Unit *u, const Product *p, const ProductFactor *f) {
    static const char *const leaf[] = {[0] = "ROW", [OF_ROW] = "ROW", [OF_COLUMN] = "COLUMN", [OF_ROW | OF_COLUMN] = "EACH"};
    if (f->n == 1 && f->of[0] == (OF_ROW | OF_COLUMN) && f->value == f->leaf[0]->dst) return "fsm::cuda::Element{}";
    const char *name[FACTOR_LEAVES], *kinds = expr_text(u->arena, "fsm::cuda::Leaf::%s", leaf[f->of[f->n - 1]]);
    for (int k = f->n; k-- > 0;) {
        name[k] = expr_text(u->arena, "fsm_x[%d]", k);
        if (k + 1 < f->n) kinds = expr_text(u->arena, "fsm_n == %d ? fsm::cuda::Leaf::%s : %s", k, leaf[f->of[k]], kinds);
    }
    const char *first = expr_text(u->arena,
                                  "    enum { LEAVES = %d };\n"
                                  "    static __host__ __device__ constexpr fsm::cuda::Leaf leaf(int%s) { return %s; }\n",
                                  f->n, f->n > 1 ? " fsm_n" : "", kinds);
    return print_function(u, p, &(Function){.value = f->value, .n = f->n, .leaf = f->leaf, .name = name}, first,
                          "const double *fsm_x");
}

// ---- the call

// {its data, steps}; which: of the indices, that of rows and that of columns.
static const char *matrix(Unit *u, const Product *p, const Stmt *s, const char *name, const char *which) {
    const char *at = expr_text(u->arena, "%s + %s.at", expr_buf(u, s->buf), name), *apart = "0";
    if (p->batch) apart = expr_text(u->arena, "%s.batch", name);
    if (p->over) at = expr_text(u->arena, "%s + fsm_b * %s.batch", at, name);
    return expr_text(u->arena, "{%s, %s.%c, %s.%c, %s}", at, name, which[0], name, which[1], apart);
}

// What stands for the sum beside the product, after `, `; NULL if it needs what the device alone knows.
static const char *print_sum(Unit *u, const Product *p) {
    const ProductSum *sum = &p->sum;
    const char *function =
        print_function(u, p, &(Function){.value = sum->value, .n = 1, .leaf = &sum->leaf, .name = (const char *const[]){"fsm_x"}},
                       "", "double fsm_x");
    if (!function) return NULL;
    return expr_text(u->arena, ", fsm::cuda::Sums<fsm::cuda::Beside::%s, %.*s>{%s, %s + fsm_beside.at, fsm_beside.i, %s, %s}",
                     sum->of == SUM_OF_FACTORS ? "FACTORS" : "RESULTS", (int)strcspn(function, "{"), function, function,
                     expr_buf(u, sum->to->buf), p->batch ? "fsm_beside.batch" : "0", sum->to->kind == ST_ADDTO ? "true" : "false");
}

// Of one of the product's factors: loads of its elements, and the names of their places.
typedef struct Operand {
    int n;
    Stmt *const *leaf;
    const char *name[FACTOR_LEAVES], *all;
} Operand;

static bool print_operand(Code *host, const Product *p, const char *name, Stmt *const *one, const ProductFactor *f, Operand *x) {
    const bool made = !*one;
    x->n = made ? f->n : 1, x->leaf = made ? f->leaf : one, x->all = "";
    for (int k = 0; k < x->n; k++) {
        x->name[k] = made ? expr_text(host->u->arena, "%s%d", name, k) : name;
        x->all = k ? expr_text(host->u->arena, "%s, %s", x->all, x->name[k]) : x->name[k];
        if (!print_places(host, p, x->name[k], x->leaf[k])) return false;
    }
    if (made) x->all = expr_text(host->u->arena, "{%s}", x->all);
    return true;
}

// {its function, {its arrays}}
static const char *factor(Unit *u, const Product *p, const char *function, const Operand *x, const char *which) {
    const char *all = "";
    for (int k = 0; k < x->n; k++)
        all = expr_text(u->arena, "%s%s%s", all, k ? ", " : "", matrix(u, p, x->leaf[k], x->name[k], which));
    return expr_text(u->arena, "fsm::cuda::Factor<%.*s>{%s, {%s}}", (int)strcspn(function, "{"), function, function, all);
}

// Are the elements of a row neighbours in memory, as far as that is known?
static bool lies_along(const Product *p, const ProductFactor *f) {
    for (int k = 0; k < f->n; k++)
        if (f->of[k] == (OF_ROW | OF_COLUMN)) return f->leaf[k]->args[f->leaf[k]->nargs - 1] == p->loop[2]->dst;
    return true;
}

// ---- triangles

// Is t zero where the element is?
static bool vanishes(const Unit *u, Temp t, const Stmt *leaf) {
    const Stmt *s = u->def[t];
    if (s == leaf) return true;
    if (!s || s->kind != ST_OP) return false;
    return s->op == OP_mul ? vanishes(u, s->args[0], leaf) || vanishes(u, s->args[1], leaf)
                           : s->op == OP_neg && vanishes(u, s->args[0], leaf);
}

static const char *plus_text(const Unit *u, int64_t plus) { return expr_text(u->arena, "%lld", (long long)plus); }

// For k < row + the number the factor's elements may be others than zero.
static const char *zeros(const Unit *u, const Product *p, const ProductFactor *f, const Stmt *row) {
    for (int k = 0; k < f->n; k++) {
        Triangle t;
        const Stmt *s = f->leaf[k];
        if (triangle_of_zeros(u->tree->body, u->def, s->buf, &t) && s->args[t.column] == p->loop[2]->dst &&
            s->args[t.row] == row->dst && vanishes(u, f->value, s))
            return plus_text(u, t.plus);
    }
    return NULL;
}

// For j < i + the number the sums are asked for.
static const char *asked(const Unit *u, const Product *p) {
    Triangle t;
    const Temp *index = stmt_index(p->to);
    if (!triangle_asked_for(u->tree->body, u->def, p->to->buf, p->batch ? p->batch : p->loop[0], &t)) return NULL;
    return index[t.column] == p->loop[1]->dst && index[t.row] == p->loop[0]->dst ? plus_text(u, t.plus) : NULL;
}

// "" if everything counts. Where a batch has become one product, rows have other numbers. Sums need all of what they add up.
static const char *triangles(const Unit *u, const Product *p) {
    const bool factors = p->sum.of == SUM_OF_FACTORS, results = p->sum.of == SUM_OF_RESULTS;
    const char *all = "fsm::cuda::ALL", *left = factors ? NULL : zeros(u, p, &p->rows, p->loop[0]),
               *right = factors ? NULL : zeros(u, p, &p->columns, p->loop[1]), *to = results ? NULL : asked(u, p);
    if (p->over || (!left && !right && !to)) return p->sum.of ? ", fsm::cuda::Triangles{}" : "";
    const char *is = expr_text(u->arena, "fsm::cuda::Triangles{%s, %s, %s}", left ? left : all, right ? right : all, to ? to : all);
    if (!p->batch) return expr_text(u->arena, ", %s", is);
    return expr_text(u->arena, ", fsm_size.batch == %s ? %s : fsm::cuda::Triangles{}", expr_temp((Unit *)u, p->batch->args[0]), is);
}

bool product_print(Code *host, Stmt *loop) {
    Unit *u = host->u;
    const Grid *g = loop->grid;
    Product p;
    Operand left, right;
    if (g->nsums || g->ncopies || g->natomics || !product_find(u->def, loop, &p) || g->depth != !!p.batch + 1 + !p.sum.of)
        return false;
    if (fourth(&p) && u->device[fourth(&p)->args[0]]) return false;
    for (int k = 0; k < 3; k++)
        if (u->device[p.loop[k]->args[0]]) return false;
    const bool made = !p.left;
    const char *function = made ? print_factor(u, &p, &p.rows) : p.term < 0 ? "" : print_term(u, &p);
    const char *other = made ? print_factor(u, &p, &p.columns) : "", *sum = p.sum.of ? print_sum(u, &p) : "";
    if (!function || !other || !sum) return false;
    Str *out = host->out, text = {0};
    host->out = &text;
    bool known = print_operand(host, &p, "fsm_left", &p.left, &p.rows, &left) &&
                 print_operand(host, &p, "fsm_right", &p.right, &p.columns, &right) && print_places(host, &p, "fsm_to", p.to) &&
                 (!p.sum.of || print_places(host, &p, "fsm_beside", p.sum.to));
    host->out = out;
    if (known) str_puts(out, str_text(&text));
    str_free(&text);
    if (!known) return false;
    const char *type = cuda_element(p.to->buf->kind), *n[3];
    for (int k = 0; k < 3; k++) n[k] = expr_temp(u, p.loop[k]->args[0]);
    if (fourth(&p)) // sums are one for each row, as elements of the left factor
        code_line(host, "const fsm::cuda::Extents fsm_size = fsm::cuda::%s(%s, %s, %s, %s, %s, %s, fsm_to);",
                  p.batch ? "one_of_batch" : "one_of_sums", n[0], n[1], n[2], expr_temp(u, fourth(&p)->args[0]),
                  p.sum.of ? expr_text(u->arena, "{%.*s, fsm_beside}", (int)strlen(left.all) - 2, left.all + 1) : left.all,
                  right.all);
    const char *batch = p.batch ? "fsm_size.batch" : "1", *added = p.to->kind == ST_ADDTO ? "1" : p.over ? "fsm_b > 0" : "0";
    for (int k = 0; k < 3 && fourth(&p); k++) n[k] = expr_text(u->arena, "fsm_size.%c", "ijk"[k]);
    const char *small =
        made ? expr_text(u->arena, " && fsm::cuda::has_small_steps(%s) && fsm::cuda::has_small_steps(%s)", left.all, right.all)
             : "";
    code_line(host, "if (fsm::cuda::is_product(%s, %s, %s)%s) {", n[0], n[1], n[2], small);
    if (p.over) code_line(host, "    for (int64_t fsm_b = 0; fsm_b < fsm_size.batch; fsm_b++)");
    const char *call = made ? expr_text(u->arena, "matmul_factors<%s, %s>", lies_along(&p, &p.rows) ? "true" : "false",
                                        lies_along(&p, &p.columns) ? "true" : "false")
                            : expr_text(u->arena, "%s<%s>", p.term < 0 ? "matmul" : "contract", type);
    const char *factors =
        made ? expr_text(u->arena, "%s, %s", factor(u, &p, function, &left, "ik"), factor(u, &p, other, &right, "jk"))
             : expr_text(u->arena, "%s%s1, %s, %s", function, *function ? ", " : "", matrix(u, &p, p.left, left.name[0], "ik"),
                         matrix(u, &p, p.right, right.name[0], "kj"));
    code_line(host, "%s    fsm::cuda::%s(call, %s, %s, %s, %s, %s, %s, %s%s%s);", p.over ? "    " : "", call, n[0], n[1], n[2],
              batch, factors, added, matrix(u, &p, p.to, "fsm_to", "ij"), made ? triangles(u, &p) : "", sum);
    u->nlaunches++;
    return true;
}
