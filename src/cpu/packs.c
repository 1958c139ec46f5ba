// Packs. What an iteration stores into neighbouring elements, by the same operations on elements of small arrays, as the product of
// two matrices of 4 by 4, is computed as vectors. Elements of such an array are parts of vectors that are loaded as a whole, for
// LLVM, which packs stores by itself, loads each element that a vector has in places of its own, and moves it there.
#include "cpu/body.h"

enum { LEAST = 4, MOST = 64, AHEAD = 500, WIDEST = 16, MOST_OPS = 64, MOST_LEAVES = 64, MOST_PARTS = 2 };

// An element: which one of those that indices and extents known here leave, behind indices that are not.
typedef struct Place {
    const Buf *buf;
    const Temp *index;
    int outer;            // how many indices are not known
    int64_t offset, size; // of so many elements that lie together
} Place;

typedef struct Leaf {
    Place of;
    int n, at[WIDEST]; // the offsets of the lanes' elements
    LLVMValueRef value;
} Leaf;

typedef struct Packer {
    Body *p;
    bool emits; // or only finds out whether it can be done
    int ops, moves, leaves;
    Leaf leaf[MOST_LEAVES];
} Packer;

static bool literal(const Body *p, Temp t, int64_t *value) {
    const Stmt *s = p->def[t];
    if (!s || s->kind != ST_LIT || body_kind(p, t) != KIND_INT) return false;
    *value = s->u.num;
    return true;
}

static Place place_of(const Body *p, const Buf *b, const Temp *index) {
    Place at = {b, index, b->rank, 0, 1};
    for (int64_t i, n; at.outer && literal(p, index[at.outer - 1], &i) && literal(p, b->extent[at.outer - 1], &n); at.outer--) {
        if (n <= 0 || i < 0 || i >= n || at.size > INT32_MAX / n) break;
        at.offset += i * at.size, at.size *= n;
    }
    return at;
}

static bool are_together(const Place *a, const Place *b) {
    if (a->buf != b->buf || a->outer != b->outer) return false;
    for (int k = 0; k < a->outer; k++)
        if (a->index[k] != b->index[k]) return false;
    return true;
}

// ---- elements

// The first element of the vector of w that has the offset; vectors lie side by side, but for the last one, which ends with the array.
static int64_t begin_of(const Place *of, int w, int64_t offset) {
    int64_t begin = offset / w * w;
    return begin < of->size - w ? begin : of->size - w;
}

static LLVMValueRef load(Packer *z, const Place *of, int w, int64_t begin) {
    Emitter *e = z->p->e;
    LLVMValueRef base = NULL;
    for (int k = 0; k < of->outer; k++) {
        LLVMValueRef i = body_value(z->p, of->index[k]);
        if (base) i = LLVMBuildNSWAdd(e->builder, LLVMBuildNSWMul(e->builder, base, body_value(z->p, of->buf->extent[k]), ""), i, "");
        base = i;
    }
    LLVMValueRef at = emit_int(e, begin);
    if (base) at = LLVMBuildNSWAdd(e->builder, LLVMBuildNSWMul(e->builder, base, emit_int(e, of->size), ""), at, "");
    LLVMTypeRef type = emit_memory_type(e, of->buf->kind);
    LLVMValueRef address = LLVMBuildInBoundsGEP2(e->builder, type, body_buffer(z->p, of->buf), &at, 1, "");
    LLVMValueRef v = LLVMBuildLoad2(e->builder, LLVMVectorType(type, (unsigned)w), address, "");
    LLVMSetAlignment(v, body_alignment(of->buf->kind));
    return v;
}

// The vectors that the elements are parts of: at most two.
static int parts_of(const Leaf *l, int w, int64_t *begin) {
    int parts = 0;
    for (int i = 0; i < l->n; i++) {
        int k = 0;
        int64_t at = begin_of(&l->of, w, l->at[i]);
        while (k < parts && begin[k] != at) k++;
        if (k == MOST_PARTS) return MOST_PARTS + 1;
        if (k == parts) begin[parts++] = at;
    }
    return parts;
}

static int width_of(const Packer *z, const Place *of) {
    int w = z->p->e->native * (int)(sizeof(double) / kind_size(of->buf->kind));
    while (w > of->size) w /= 2;
    return w;
}

static bool make_leaf(Packer *z, Leaf *l) {
    int64_t begin[MOST_PARTS];
    int w = width_of(z, &l->of), parts = parts_of(l, w, begin);
    if (parts > MOST_PARTS) return false;
    bool whole = l->n == w && parts == 1;
    for (int i = 0; i < l->n; i++) whole &= l->at[i] == begin[0] + i;
    z->moves += !whole;
    if (!z->emits) return true;
    LLVMValueRef part[MOST_PARTS], lane[WIDEST];
    for (int k = 0; k < parts; k++) part[k] = load(z, &l->of, w, begin[k]);
    for (int i = 0; i < l->n; i++) {
        int k = begin_of(&l->of, w, l->at[i]) != begin[0];
        lane[i] = LLVMConstInt(z->p->e->type_i32, (unsigned long long)(k * w + l->at[i] - begin[k]), false);
    }
    LLVMValueRef other = parts > 1 ? part[1] : LLVMGetPoison(LLVMTypeOf(part[0]));
    l->value = whole ? part[0] : LLVMBuildShuffleVector(z->p->e->builder, part[0], other, LLVMConstVector(lane, (unsigned)l->n), "");
    return true;
}

static bool is_leaf(const Leaf *a, const Leaf *b) {
    bool same = a->n == b->n && are_together(&a->of, &b->of);
    for (int i = 0; same && i < a->n; i++) same = a->at[i] == b->at[i];
    return same;
}

// Of arrays that nothing changes: they are loaded later than the program says.
static bool pack_loads(Packer *z, int n, const Temp *t, LLVMValueRef *v) {
    Leaf l = {.n = n};
    for (int i = 0; i < n; i++) {
        const Stmt *s = z->p->def[t[i]];
        Place at = place_of(z->p, s->buf, s->args);
        if (!i) l.of = at;
        if (s->buf->where != BUF_INPUT || !are_together(&at, &l.of)) return false;
        l.at[i] = (int)at.offset;
    }
    int k = 0;
    while (k < z->leaves && !is_leaf(&z->leaf[k], &l)) k++;
    if (k == MOST_LEAVES || (k == z->leaves && !make_leaf(z, &l))) return false;
    if (k == z->leaves) z->leaf[z->leaves++] = l;
    *v = z->leaf[k].value;
    return true;
}

// ---- operations

static bool pack(Packer *z, int n, const Temp *t, LLVMValueRef *v);

// Not in another part of the function, nor outside of a chunk of threads: only then has what it is made of values here, too.
static bool is_made_here(const Body *p, Temp t) {
    return !(p->part && p->slot[t]) && !(p->temp[t] && LLVMIsAArgument(p->temp[t]));
}

static LLVMValueRef splat(Packer *z, int n, Temp t) {
    Emitter *e = z->p->e;
    LLVMValueRef x = body_value(z->p, t), poison = LLVMGetPoison(LLVMVectorType(LLVMTypeOf(x), (unsigned)n));
    LLVMValueRef one = LLVMBuildInsertElement(e->builder, poison, x, LLVMConstInt(e->type_i32, 0, false), "");
    return LLVMBuildShuffleVector(e->builder, one, poison, LLVMConstNull(LLVMVectorType(e->type_i32, (unsigned)n)), "");
}

// How much are two values alike?
static int likeness(const Body *p, Temp t, Temp u) {
    const Stmt *a = p->def[t], *b = p->def[u];
    if (t == u) return 3;
    if (!a || !b || a->kind != b->kind) return 0;
    return a->kind == ST_LOAD ? 2 * (a->buf == b->buf) : a->kind == ST_OP && a->op == b->op;
}

static bool pack_ops(Packer *z, int n, const Temp *t, LLVMValueRef *v) {
    Body *p = z->p;
    const Stmt *first = p->def[t[0]];
    const Op op = first->op;
    if ((op != OP_add && op != OP_sub && op != OP_mul) || ++z->ops > MOST_OPS) return false;
    Temp side[2][WIDEST];
    for (int i = 0; i < n; i++) {
        const Stmt *s = p->def[t[i]];
        if (s->op != op || s->kept) return false;
        int as = likeness(p, s->args[0], first->args[0]) + likeness(p, s->args[1], first->args[1]),
            turned = likeness(p, s->args[1], first->args[0]) + likeness(p, s->args[0], first->args[1]);
        bool turns = op != OP_sub && turned > as;
        side[0][i] = s->args[turns], side[1][i] = s->args[!turns];
    }
    LLVMValueRef x = NULL, y = NULL;
    if (!pack(z, n, side[0], &x) || !pack(z, n, side[1], &y)) return false;
    if (z->emits) *v = emit_op(p->e, op, body_kind(p, t[0]), x, y);
    return true;
}

static bool pack(Packer *z, int n, const Temp *t, LLVMValueRef *v) {
    const Stmt *first = z->p->def[t[0]];
    bool same = true, alike = first && is_made_here(z->p, t[0]);
    for (int i = 1; i < n; i++) {
        const Stmt *s = z->p->def[t[i]];
        same &= t[i] == t[0], alike = alike && s && s->kind == first->kind && is_made_here(z->p, t[i]);
    }
    if (same) {
        z->moves += !first || first->kind != ST_LOAD; // a load may go to all lanes
        if (z->emits) *v = splat(z, n, t[0]);
        return true;
    }
    if (!alike) return false;
    return first->kind == ST_LOAD ? pack_loads(z, n, t, v) : first->kind == ST_OP && pack_ops(z, n, t, v);
}

// ---- runs of stores

// Those of the first `n` statements; *end: the first one after them.
static int find_run(const Body *p, int n, Stmt *const *s, const Stmt **run, int *end) {
    int count = 0;
    *end = 0;
    if (!p->e->width || s[0]->kind != ST_STORE || !kind_is_float(s[0]->buf->kind) || !s[0]->buf->rank) return 0;
    Place first = place_of(p, s[0]->buf, s[0]->args + 1);
    for (int i = 0; i < n && i < AHEAD && count < MOST; i++) {
        if (s[i]->kind == ST_STORE && s[i]->buf == s[0]->buf) {
            Place at = place_of(p, s[i]->buf, s[i]->args + 1);
            if (!are_together(&first, &at) || at.offset != first.offset + count) break;
            run[count++] = s[i], *end = i + 1;
        } else if (!stores_let_pass(s[i], s[0]->buf)) {
            break;
        }
    }
    return count;
}

// How many of the stores are one vector: 1 if that cannot be, and *v is not made then.
static int pack_group(Packer *z, int n, const Stmt *const *run, LLVMValueRef *v) {
    int many = z->p->e->native * (int)(sizeof(double) / kind_size(run[0]->buf->kind));
    while (many > n || many > WIDEST) many /= 2;
    for (; many >= LEAST; many /= 2) {
        Temp t[WIDEST];
        Packer before = *z;
        for (int i = 0; i < many; i++) t[i] = run[i]->args[0];
        z->emits = false, z->ops = 0;
        bool can = pack(z, many, t, v);
        int ops = z->ops + before.ops;
        if (can && before.emits) *z = before, z->ops = 0, pack(z, many, t, v);
        else if (!can) *z = before;
        z->emits = before.emits, z->ops = can ? ops : before.ops;
        if (can) return many;
    }
    return 1;
}

int packs_run(Body *p, int n, Stmt *const *s) {
    const Stmt *run[MOST];
    int end, count = find_run(p, n, s, run, &end);
    LLVMValueRef v = NULL;
    Packer z = {.p = p};
    for (int i = 0; i < count && count >= LEAST;) i += pack_group(&z, count - i, run + i, &v);
    return z.ops > z.moves ? end : 0;
}

void packs_emit(Body *p, int n, Stmt *const *s) {
    const Stmt *run[MOST];
    int end, count = find_run(p, n, s, run, &end);
    Kind kind = s[0]->buf->kind;
    Packer z = {.p = p, .emits = true};
    for (int i = 0, many; i < count; i += many) {
        LLVMValueRef v = NULL;
        many = pack_group(&z, count - i, run + i, &v);
        LLVMValueRef at = body_element(p, run[i]->buf, run[i]->args + 1);
        if (many == 1) body_store(p, kind, body_value(p, run[i]->args[0]), at);
        else LLVMSetAlignment(LLVMBuildStore(p->e->builder, v, at), body_alignment(kind));
    }
}
