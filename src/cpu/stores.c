// Runs of stores. A row of what a sparse Jacobian's columns are is a few numbers plus constants, in elements that lie together:
// vectors are put together of these and stored at once.
#include "cpu/body.h"

enum { LEAST = 4, MOST = 64, AHEAD = 500, BASES = 3 };

// An Int as a temp and a constant.
typedef struct Sum {
    Temp base; // -1: there is none
    int64_t more;
} Sum;

static Sum sum_of(const Body *p, Temp t) {
    const Stmt *s = p->def[t];
    if (!s || body_kind(p, t) != KIND_INT) return (Sum){t, 0};
    if (s->kind == ST_LIT) return (Sum){-1, s->u.num};
    const Stmt *by = s->kind == ST_OP && s->op == OP_add ? p->def[s->args[1]] : NULL;
    return by && by->kind == ST_LIT ? (Sum){s->args[0], by->u.num} : (Sum){t, 0};
}

bool stores_follow(const Body *p, const Stmt *a, const Stmt *b) {
    int last = a->nargs - 1;
    if (a->buf != b->buf || last == 0) return false;
    for (int k = 1; k < last; k++)
        if (a->args[k] != b->args[k]) return false;
    Sum i = sum_of(p, a->args[last]), j = sum_of(p, b->args[last]);
    return i.base == j.base && j.more == i.more + 1;
}

bool stores_let_pass(const Stmt *s, const Buf *b) {
    switch (s->kind) {
    case ST_LIT:
    case ST_OP:
    case ST_CONV:
    case ST_SELECT:
    case ST_CHECK: return true;
    case ST_LOAD: return s->buf != b;
    default: return false;
    }
}

static bool is_int(Kind k) { return k == KIND_INT || k == KIND_INT32; }

// Those of the first `n` statements; *end: the first one after them.
static int find_run(const Body *p, int n, Stmt *const *s, Stmt **run, int *end) {
    int count = 0;
    *end = 0;
    if (!p->e->width || s[0]->kind != ST_STORE || !is_int(s[0]->buf->kind)) return 0;
    for (int i = 0; i < n && i < AHEAD && count < MOST; i++) {
        if (s[i]->kind == ST_STORE && s[i]->buf == s[0]->buf) {
            if (count && !stores_follow(p, run[count - 1], s[i])) break;
            run[count++] = s[i], *end = i + 1;
        } else if (!stores_let_pass(s[i], s[0]->buf)) {
            break;
        }
    }
    return count;
}

int stores_run(const Body *p, int n, Stmt *const *s) {
    Stmt *run[MOST];
    int end, count = find_run(p, n, s, run, &end);
    return count < LEAST ? 0 : end;
}

// The number that the store's value is a sum with, as that; a conversion keeps the low bits of both.
static Sum value_of(const Body *p, const Stmt *store) {
    const Stmt *conv = p->def[store->args[0]];
    return sum_of(p, conv && conv->kind == ST_CONV && body_kind(p, conv->args[0]) == KIND_INT ? conv->args[0] : store->args[0]);
}

static int bases(int n, const Sum *v, Temp *base) {
    int count = 0;
    for (int i = 0; i < n; i++) {
        int k = 0;
        while (k < count && base[k] != v[i].base) k++;
        if (k == count) base[count++] = v[i].base;
    }
    return count;
}

static LLVMValueRef splat(Body *p, LLVMTypeRef type, int n, Temp t) {
    LLVMBuilderRef b = p->e->builder;
    if (t < 0) return LLVMConstNull(LLVMVectorType(type, (unsigned)n));
    LLVMValueRef x = body_value(p, t), poison = LLVMGetPoison(LLVMVectorType(type, (unsigned)n));
    if (LLVMTypeOf(x) != type) x = LLVMBuildTrunc(b, x, type, "");
    LLVMValueRef one = LLVMBuildInsertElement(b, poison, x, LLVMConstInt(p->e->type_i32, 0, false), "");
    return LLVMBuildShuffleVector(b, one, poison, LLVMConstNull(LLVMVectorType(p->e->type_i32, (unsigned)n)), "");
}

static LLVMValueRef together(Body *p, LLVMTypeRef type, int n, const Sum *v, int nbases, const Temp *base) {
    LLVMValueRef sum = splat(p, type, n, base[0]), lane[MOST];
    for (int k = 1; k < nbases; k++) {
        for (int i = 0; i < n; i++) lane[i] = LLVMConstInt(p->e->type_i1, v[i].base == base[k], false);
        sum = LLVMBuildSelect(p->e->builder, LLVMConstVector(lane, (unsigned)n), splat(p, type, n, base[k]), sum, "");
    }
    for (int i = 0; i < n; i++) lane[i] = LLVMConstInt(type, (unsigned long long)v[i].more, true);
    return LLVMBuildAdd(p->e->builder, sum, LLVMConstVector(lane, (unsigned)n), "");
}

void stores_emit(Body *p, int n, Stmt *const *s) {
    Stmt *run[MOST];
    Sum v[MOST];
    Temp base[MOST];
    Kind kind = s[0]->buf->kind;
    int end, count = find_run(p, n, s, run, &end), most = p->e->native * (int)sizeof(double) / (int)kind_size(kind);
    for (int i = 0; i < count; i++) v[i] = value_of(p, run[i]);
    for (int i = 0, many; i < count; i += many) {
        for (many = most; many > count - i || (many > 1 && bases(many, v + i, base) > BASES); many /= 2) continue;
        LLVMValueRef at = body_element(p, run[i]->buf, run[i]->args + 1);
        if (many == 1) {
            body_store(p, kind, body_value(p, run[i]->args[0]), at);
            continue;
        }
        LLVMValueRef x = together(p, emit_memory_type(p->e, kind), many, v + i, bases(many, v + i, base), base);
        LLVMSetAlignment(LLVMBuildStore(p->e->builder, x, at), body_alignment(kind));
    }
}
