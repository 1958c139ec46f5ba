// The loop around what lanes.c prints: whole vectors, blocks of them, and what is left over; the lanes' own copies of what they add
// to, which are added up afterwards; and stores past the caches.
#include "cpu/lanes.h"

#include "lower/lower.h"

enum { SHORT_RUN = 8 };

typedef struct Sum {
    Temp cell;
    LLVMValueRef outer; // its slot
    Op by;              // OP_add, OP_min or OP_max
    bool scanned;       // all lanes have the same
    LLVMValueRef lanes; // what the loops so far have left in theirs; NULL before the first
} Sum;

typedef struct LaneLoop {
    Body *p;
    VEC(Sum) sums;       // cells from outside
    LLVMValueRef enough; // is there room for all lanes, and are there iterations enough?
    char *seen;          // by buffer
} LaneLoop;

static bool listed(const LaneLoop *z, Temp cell) {
    for (int i = 0; i < z->sums.len; i++)
        if (z->sums.data[i].cell == cell) return true;
    return false;
}

static void look_inside(LaneLoop *z, const Block *block) {
    Body *p = z->p;
    for (int i = 0; block && i < block->stmts.len; i++) {
        const Stmt *s = block->stmts.data[i];
        if (s->kind == ST_SET && p->temp[s->dst] && !listed(z, s->dst)) {
            const Stmt *by = p->def[s->args[0]];
            bool extreme = by->kind == ST_OP && (by->op == OP_min || by->op == OP_max);
            vec_push(&z->sums, ((Sum){s->dst, p->temp[s->dst], extreme ? by->op : OP_add, lanes_sets_scan(p, s), NULL}));
        }
        const Buf *bufs[] = {s->buf, s->src};
        for (int k = 0; k < 2; k++) {
            if (!bufs[k] || !p->roomy[bufs[k]->id] || z->seen[bufs[k]->id]) continue;
            z->seen[bufs[k]->id] = 1;
            z->enough = LLVMBuildAnd(p->e->builder, z->enough, p->roomy[bufs[k]->id], "");
        }
        look_inside(z, s->body);
        look_inside(z, s->other);
    }
}

// The lanes' copies of the arrays that they add to: zeros. They pay if they stay in the cache, and the loop is long;
// otherwise there are none.
static void begin_sums(LaneLoop *z, const Stmt *s, LLVMValueRef n) {
    Body *p = z->p;
    LLVMBuilderRef b = p->e->builder;
    LLVMValueRef *count = ARENA_ARRAY(p->e->arena, LLVMValueRef, s->nin + 1);
    p->copied = LLVMBuildICmp(b, LLVMIntSGE, n, emit_int(p->e, SHORT_RUN * p->e->width), "");
    p->copied = LLVMBuildAnd(b, p->copied, z->enough, "");
    for (int i = 0; i < s->nin; i++) {
        int64_t most = lanes_copied((double)p->e->opt->cache, s->in[i]->kind, lanes_of_vector(p));
        count[i] = body_count(p, s->in[i]);
        p->copied = LLVMBuildAnd(b, p->copied, LLVMBuildICmp(b, LLVMIntSLE, count[i], emit_int(p->e, most), ""), "");
    }
    for (int i = 0; i < s->nin; i++) {
        const Buf *buf = s->in[i];
        int64_t size = (int64_t)kind_size(buf->kind);
        LLVMValueRef elements = LLVMBuildNSWMul(b, count[i], emit_int(p->e, lanes_of_vector(p)), "");
        elements = LLVMBuildSelect(b, p->copied, elements, emit_int(p->e, 0), "");
        p->sums[buf->id] = body_alloc(p, elements, size);
        LLVMValueRef bytes = LLVMBuildNSWMul(b, elements, emit_int(p->e, size), "");
        LLVMBuildMemSet(b, p->sums[buf->id], LLVMConstNull(p->e->type_i8), bytes, ALIGNMENT);
    }
}

static void end_sums(LaneLoop *z, const Stmt *s) {
    Body *p = z->p;
    LLVMBuilderRef b = p->e->builder;
    for (int i = 0; i < s->nin; i++) {
        const Buf *buf = s->in[i];
        LLVMTypeRef type = emit_memory_type(p->e, buf->kind);
        LLVMValueRef n = LLVMBuildSelect(b, p->copied, body_count(p, buf), emit_int(p->e, 0), "");
        Counted c = body_begin_for(p, emit_int(p->e, 0), n, 1, "sum");
        LLVMValueRef k = LLVMBuildNSWMul(b, c.index, emit_int(p->e, lanes_of_vector(p)), "");
        LLVMValueRef at = LLVMBuildInBoundsGEP2(b, type, p->sums[buf->id], &k, 1, "");
        LLVMValueRef v = LLVMBuildLoad2(b, LLVMVectorType(type, (unsigned)lanes_of_vector(p)), at, ""),
                     to = lanes_address(p, buf, c.index);
        LLVMValueRef sum = emit_accumulate(p->e, buf->kind, body_load(p, buf->kind, to), lanes_sum(p, buf->kind, v), false);
        body_store(p, buf->kind, sum, to);
        body_end_for(p, &c);
        p->sums[buf->id] = NULL;
    }
}

// What the lanes of the loops so far have left, in those of one vector of n.
static LLVMValueRef folded(Body *p, const Sum *s, int n) {
    return s->scanned ? lanes_part(p, s->lanes, 0, n) : lanes_folded(p, s->by, body_kind(p, s->cell), s->lanes, n);
}

static void begin_cells(LaneLoop *z) {
    Body *p = z->p;
    for (int i = 0; i < z->sums.len; i++) {
        const Sum *s = &z->sums.data[i];
        LLVMTypeRef one = emit_type(p->e, body_kind(p, s->cell)), type = lanes_vector_type(p, one);
        LLVMValueRef start = s->lanes                         ? folded(p, s, p->lanes)
                             : s->by == OP_add && !s->scanned ? LLVMConstNull(type)
                                                              : lanes_splat(p, LLVMBuildLoad2(p->e->builder, one, s->outer, ""));
        p->sums_cell[s->cell] = true;
        p->temp[s->cell] = body_slot(p, type, p->tree->temps.data[s->cell].name);
        LLVMBuildStore(p->e->builder, start, p->temp[s->cell]);
    }
}

static void end_cells(LaneLoop *z) {
    Body *p = z->p;
    for (int i = 0; i < z->sums.len; i++) {
        Sum *s = &z->sums.data[i];
        LLVMTypeRef type = lanes_vector_type(p, emit_type(p->e, body_kind(p, s->cell)));
        s->lanes = LLVMBuildLoad2(p->e->builder, type, p->temp[s->cell], "");
        p->temp[s->cell] = s->outer;
        p->sums_cell[s->cell] = false;
    }
}

// The least or the greatest of the lanes.
static LLVMValueRef extreme_of(Body *p, const Sum *s) {
    LLVMValueRef v = folded(p, s, 2);
    return emit_op(p->e, s->by, body_kind(p, s->cell), lanes_extract(p, v, 0), lanes_extract(p, v, 1));
}

// The sums among the cells: those of cells of one kind that follow one another are made at once.
static void add_up_cells(LaneLoop *z, LLVMValueRef *v) {
    Body *p = z->p;
    for (int i = 0, n; i < z->sums.len; i += n) {
        const Sum *s = &z->sums.data[i];
        Kind kind = body_kind(p, s->cell);
        for (n = 0; i + n < z->sums.len; n++) {
            const Sum *o = s + n;
            if (o->by != OP_add || o->scanned || body_kind(p, o->cell) != kind) break;
        }
        lanes_sum_each(p, kind, n, v + i);
        n += !n;
    }
}

// Gives the cells what the lanes of all loops have left.
static void settle_cells(LaneLoop *z) {
    Body *p = z->p;
    LLVMValueRef *v = ARENA_ARRAY(p->e->arena, LLVMValueRef, z->sums.len + 1);
    p->lanes = p->e->width;
    for (int i = 0; i < z->sums.len; i++) v[i] = folded(p, &z->sums.data[i], p->lanes);
    add_up_cells(z, v);
    for (int i = 0; i < z->sums.len; i++) {
        const Sum *s = &z->sums.data[i];
        Kind kind = body_kind(p, s->cell);
        if (s->scanned) {
            v[i] = lanes_extract(p, v[i], 0);
        } else if (s->by == OP_add) {
            LLVMValueRef old = LLVMBuildLoad2(p->e->builder, emit_type(p->e, kind), s->outer, "");
            v[i] = emit_accumulate(p->e, kind, old, v[i], false);
        } else {
            v[i] = extreme_of(p, s);
        }
        LLVMBuildStore(p->e->builder, v[i], s->outer);
    }
    p->lanes = 0;
}

// Runs the iterations from `first` on as lanes, and says where it stopped: with a mask at the end, without one where less
// than all lanes are left.
static LLVMValueRef run(LaneLoop *z, const Stmt *s, LLVMValueRef first, LLVMValueRef n, int lanes, bool masked) {
    Body *p = z->p;
    LLVMBuilderRef b = p->e->builder;
    p->lanes = lanes;
    begin_cells(z);
    LLVMValueRef some = LLVMBuildICmp(b, LLVMIntSGT, n, first, "");
    LLVMValueRef end = n; // whole vectors
    if (!masked) end = LLVMBuildAdd(b, first, LLVMBuildAnd(b, LLVMBuildSub(b, n, first, ""), emit_int(p->e, -lanes), ""), "");
    end = LLVMBuildSelect(b, LLVMBuildAnd(b, some, z->enough, ""), end, first, "");
    Counted c = body_begin_for(p, first, end, lanes, p->tree->temps.data[s->dst].name);
    p->temp[s->dst] = c.index;
    p->loop = s;
    if (masked) p->in_range = p->mask = LLVMBuildICmp(b, LLVMIntSLT, lanes_value(p, s->dst), lanes_splat(p, n), "");
    if (masked) p->left = LLVMBuildNSWSub(b, n, c.index, "");
    if (!p->depth || body_is_long(p, s->body)) body_poll(p); // an innermost loop of a nest is done soon
    LLVMValueRef inner = body_allocates(p, s->body, false) ? body_mark(p) : NULL;
    p->depth++;
    body_emit(p, s->body);
    p->depth--;
    if (inner) body_release(p, inner);
    p->in_range = p->mask = NULL;
    body_end_for(p, &c);
    end_cells(z);
    p->lanes = 0;
    return end;
}

// Is the array so large that the loop's stores go past the caches, and does each array that it stores to have as many elements
// before the next whole vector as the others, from `first` on? How many these are.
static LLVMValueRef streams(Body *p, const Stmt *s, LLVMValueRef first, int lanes, LLVMValueRef *before) {
    LLVMBuilderRef b = p->e->builder;
    LLVMValueRef large = NULL;
    for (int i = 0; i < s->body->stmts.len; i++) {
        const Stmt *store = s->body->stmts.data[i];
        if (store->kind != ST_STORE) continue;
        LLVMValueRef at = LLVMBuildPtrToInt(b, lanes_address(p, store->buf, first), p->e->type_i64, "");
        LLVMValueRef missing =
            LLVMBuildAnd(b, LLVMBuildLShr(b, LLVMBuildNeg(b, at, ""), emit_int(p->e, 3), ""), emit_int(p->e, lanes - 1), "");
        if (large) {
            large = LLVMBuildAnd(b, large, LLVMBuildICmp(b, LLVMIntEQ, missing, *before, ""), "");
        } else {
            *before = missing;
            large = LLVMBuildICmp(b, LLVMIntSGE, body_count(p, store->buf), emit_int(p->e, s->streams), "");
        }
    }
    return large;
}

// Who is told that the function has returned sees what it has stored.
static void finish_streams(Body *p) { emit_intrinsic(p->e, "llvm.x86.sse.sfence", 0, NULL, 0, NULL); }

LLVMValueRef lanes_streams(Body *p, const Stmt *s) {
    LLVMBuilderRef b = p->e->builder;
    if (p->e->native < LANES_MASKED) return body_first(p, s);
    LaneLoop z = {.p = p, .enough = LLVMConstInt(p->e->type_i1, 1, false)};
    const int lanes = lanes_of_vector(p);
    LLVMValueRef n = body_value(p, s->args[0]), first = body_first(p, s), before = NULL,
                 large = streams(p, s, first, lanes, &before);
    LLVMBasicBlockRef from = LLVMGetInsertBlock(b), stream = body_new_block(p, "stream"), rest = body_new_block(p, "rest");
    LLVMBuildCondBr(b, large, stream, rest);
    body_go_on(p, stream);
    LLVMValueRef start = LLVMBuildNSWAdd(b, first, before, ""), few = LLVMBuildICmp(b, LLVMIntSLT, n, start, "");
    start = run(&z, s, first, LLVMBuildSelect(b, few, n, start, ""), lanes, true);
    p->streams = true;
    LLVMValueRef done = run(&z, s, start, n, lanes, false);
    p->streams = false;
    finish_streams(p);
    stream = LLVMGetInsertBlock(b);
    LLVMBuildBr(b, rest);
    body_go_on(p, rest);
    LLVMValueRef phi = LLVMBuildPhi(b, p->e->type_i64, "");
    LLVMAddIncoming(phi, &first, &from, 1);
    LLVMAddIncoming(phi, &done, &stream, 1);
    return phi;
}

static int64_t left(LLVMValueRef n, LLVMValueRef done) { return LLVMConstIntGetSExtValue(n) - LLVMConstIntGetSExtValue(done); }

// Vectors for which there are no registers wait on the stack. None is to lie across two lines of the cache, or pages: what has just
// been stored is not forwarded then to the load that needs it, and the loop takes up to twice as long.
static void align_stack(Body *p) {
    if (p->e->native < LANES_MASKED) return;
    emit_text_attribute(p->e, LLVMGetBasicBlockParent(LLVMGetInsertBlock(p->e->builder)), "stackrealign", "");
}

static bool rows_stream(const Body *p, const Stmt *s) {
    bool any = false;
    for (int i = 0; i < s->body->stmts.len; i++) any |= s->body->stmts.data[i]->rows && s->body->stmts.data[i]->streams;
    return any && p->e->native >= LANES_MASKED;
}

// Machines with masks take what is left over as one vector, others one by one. A block of vectors leaves some whole ones, and a
// large one half of it.
void lanes_for(Body *p, const Stmt *s) {
    LaneLoop z = {.p = p, .enough = LLVMConstInt(p->e->type_i1, 1, false)};
    z.seen = ARENA_ARRAY(p->e->arena, char, p->tree->bufs.len + 1);
    LLVMValueRef n = body_value(p, s->args[0]), mark = s->nin ? body_mark(p) : NULL, done = body_first(p, s);
    p->loop = s;
    look_inside(&z, s->body);
    lanes_plan_roots(p, s);
    if (s->streams) done = lanes_streams(p, s);
    begin_sums(&z, s, LLVMBuildSub(p->e->builder, n, done, ""));
    align_stack(p);
    const int width = p->e->width;
    const bool masks = width >= LANES_MASKED;
    if (!s->masked || !masks) done = run(&z, s, done, n, width * s->lanes, false);
    bool known = LLVMIsConstant(n) && LLVMIsConstant(done) && !s->nin; // then it is known which of the following there are
    for (int k = s->lanes / 2; masks && k > 0; k /= 2) {
        bool half = s->lanes == LANES_LARGE && k == LANES_LARGE / 2;
        if (known ? left(n, done) >= width * k : half) done = run(&z, s, done, n, width * k, false);
    }
    if ((masks || s->lanes > 1) && !(known && left(n, done) == 0)) done = run(&z, s, done, n, width, masks);
    settle_cells(&z);
    if (rows_stream(p, s)) finish_streams(p);
    end_sums(&z, s);
    vec_free(&z.sums);
    if (mark) body_release(p, mark);
    if (!masks || !LLVMIsConstant(z.enough)) body_emit_scalar_for(p, s, done);
}
