// Rows of arrays in loops with lanes. Lanes that read the same element of neighbouring rows would gather what does not lie
// together; where whole rows are read, or short ones, vectors of memory are loaded instead and turned over in registers.
#include "cpu/rows.h"

static const TempInfo *info(const Body *p, Temp t) { return &p->tree->temps.data[t]; }

// ---- short rows

static bool literal(const Body *p, Temp t, int64_t *value) {
    const Stmt *s = p->def[t];
    if (!s || s->kind != ST_LIT) return false;
    *value = s->u.num;
    return true;
}

// Are the lanes' rows neighbours: does their number vary by 1, and no index before it?
static bool side_by_side(const Body *p, const Temp *index, int d) {
    for (int k = 0; k < d; k++)
        if (info(p, index[k])->varies) return false;
    return d >= 0 && info(p, index[d])->varies && info(p, index[d])->step == 1;
}

// How long the rows may be for which shuffles are faster than loads of single elements.
static int most_in_row(const Body *p) { return lanes_of_vector(p) > 4 ? 8 : lanes_of_vector(p) - 1; }

// If lanes access an element of neighbouring short rows of fixed length: that length, and which element it is; else 0.
static int64_t short_row(const Body *p, const Buf *b, const Temp *index, int64_t *place) {
    int64_t length = 1, n, i;
    int d = b->rank;
    *place = 0;
    while (d-- > 0 && !info(p, index[d])->varies) {
        if (!literal(p, b->extent[d], &n) || !literal(p, index[d], &i) || n > most_in_row(p)) return 0;
        *place += i * length, length *= n;
    }
    if (p->mask || lanes_of_vector(p) < 4 || length < 2 || length > most_in_row(p)) return 0;
    return side_by_side(p, index, d) ? length : 0;
}

// The lanes of one vector of elements that are so far apart, from the vectors of memory that hold them.
static LLVMValueRef pick(Body *p, const LLVMValueRef *from, int64_t apart, int64_t place) {
    LLVMValueRef v = from[0], mask[64];
    int n = lanes_of_vector(p);
    for (int64_t k = 1; k < apart; k++) {
        for (int l = 0; l < n; l++) {
            int64_t at = l * apart + place;
            int64_t old = k == 1 ? at % n : l;
            mask[l] = lanes_index(p, (int)(at / n == k ? n + at % n : at / n < k ? old : 0));
        }
        v = LLVMBuildShuffleVector(p->e->builder, v, from[k], LLVMConstVector(mask, (unsigned)n), "");
    }
    return v;
}

// A power of 2 of vectors one after the other; they are changed.
static LLVMValueRef all_joined(Body *p, LLVMValueRef *v, int n) {
    for (; n > 1; n /= 2)
        for (int i = 0; i < n / 2; i++) v[i] = lanes_joined(p, v[2 * i], v[2 * i + 1]);
    return v[0];
}

// What gather does, for element `place` of neighbouring rows that together are `length` vectors.
static LLVMValueRef load_apart(Body *p, const Buf *b, const Temp *index, int64_t length, int64_t place) {
    LLVMBuilderRef build = p->e->builder;
    const int n = lanes_of_vector(p);
    LLVMTypeRef type = LLVMVectorType(emit_memory_type(p->e, b->kind), (unsigned)n);
    LLVMValueRef row = LLVMBuildNSWSub(build, lanes_first_number(p, b, index), emit_int(p->e, place), ""), all[64], from[8];
    int vectors = p->lanes / n;
    for (int g = 0; g < vectors; g++) {
        for (int64_t k = 0; k < length; k++) {
            LLVMValueRef at = lanes_address(p, b, LLVMBuildNSWAdd(build, row, emit_int(p->e, (g * length + k) * n), ""));
            from[k] = LLVMBuildLoad2(build, type, at, "");
            LLVMSetAlignment(from[k], body_alignment(b->kind));
        }
        all[g] = pick(p, from, length, place);
    }
    return all_joined(p, all, vectors);
}

bool lanes_load_apart(Body *p, const Buf *b, const Temp *index, LLVMValueRef *v) {
    int64_t place, length = short_row(p, b, index, &place);
    if (length) *v = load_apart(p, b, index, length, place);
    return length;
}

// ---- copies of rows

typedef struct RowCopy {
    const Stmt *load, *store; // one of which is of the row buffer
    const Stmt *of;           // the other one
    Rows rows;
    LLVMValueRef number;      // of the element where the rows begin
    // If what is stored may wait until whole rows are there: where the first row begins then, the number of its first element, and
    // whether it does wait, to go past the caches; else NULL.
    LLVMValueRef to, start, waits;
} RowCopy;

// The address of element 0 of the buffer in a lane.
static LLVMValueRef buffer_at(Body *p, const Stmt *move) {
    LLVMBuilderRef b = p->e->builder;
    LLVMValueRef n = LLVMBuildNSWMul(b, lanes_first_number(p, move->buf, stmt_index(move)), emit_int(p->e, p->lanes), "");
    return lanes_address(p, move->buf, n);
}

// Elements j … j + size - 1 of all lanes.
static void move_rows(Body *p, const Stmt *loop, const RowCopy *z, LLVMValueRef j, int size) {
    if (size == 1) {
        p->temp[loop->dst] = j;
        body_emit(p, loop->body);
        return;
    }
    for (int lane = 0; lane < p->lanes; lane += lanes_of_vector(p)) rows_move(p, &z->rows, j, lane, size);
}

enum { FEW = 3 };

// Short rows of fixed length that lie side by side, of which all is moved: that length; else 0.
static int64_t whole_short(const Body *p, const Stmt *loop, const Stmt *move) {
    const Buf *b = move->buf;
    const Temp *index = stmt_index(move);
    int64_t n, moved, d = b->rank - 1;
    bool all = d > 0 && index[d] == loop->dst && side_by_side(p, index, (int)d - 1) && literal(p, b->extent[d], &n);
    return all && literal(p, loop->args[0], &moved) && moved == n && n > 1 && n <= most_in_row(p) ? n : 0;
}

static void copy_short(Body *p, const Stmt *loop, const RowCopy *z, int64_t n) {
    for (int64_t k = 0; k < n; k++) {
        p->temp[loop->dst] = emit_int(p->e, k);
        LLVMValueRef v = load_apart(p, z->of->buf, stmt_index(z->of), n, k);
        LLVMSetAlignment(LLVMBuildStore(p->e->builder, v, buffer_at(p, z->store)),
                         lanes_aligned(z->of->buf->kind, p->lanes));
    }
}

// The other way round, for rows that are so short that not many vectors take part in each of memory: vector `to` of these.
static LLVMValueRef mix(Body *p, const LLVMValueRef *from, int64_t length, int64_t to) {
    LLVMValueRef v = from[0], mask[64];
    int n = lanes_of_vector(p);
    for (int64_t k = 1; k < length; k++) {
        for (int l = 0; l < n; l++) {
            int64_t row = (to * n + l) / length, place = (to * n + l) % length;
            mask[l] = lanes_index(p, (int)(place == k ? n + row : k == 1 ? row : l));
        }
        v = LLVMBuildShuffleVector(p->e->builder, v, from[k], LLVMConstVector(mask, (unsigned)n), "");
    }
    return v;
}

static void store_short(Body *p, const Stmt *loop, const RowCopy *z, int64_t length) {
    LLVMBuilderRef b = p->e->builder;
    const int n = lanes_of_vector(p);
    LLVMTypeRef type = LLVMVectorType(emit_memory_type(p->e, z->of->buf->kind), (unsigned)n);
    LLVMValueRef from[FEW];
    LLVMTypeRef element = emit_memory_type(p->e, z->of->buf->kind);
    p->temp[loop->dst] = emit_int(p->e, 0);
    LLVMValueRef row = lanes_first_number(p, z->of->buf, stmt_index(z->of)), buffer = buffer_at(p, z->load);
    for (int g = 0; g < p->lanes / n; g++) {
        for (int64_t k = 0; k < length; k++) {
            LLVMValueRef at = emit_int(p->e, k * p->lanes + g * n);
            from[k] = LLVMBuildLoad2(b, type, LLVMBuildInBoundsGEP2(b, element, buffer, &at, 1, ""), "");
            LLVMSetAlignment(from[k], lanes_aligned(z->of->buf->kind, n));
        }
        for (int64_t k = 0; k < length; k++) {
            LLVMValueRef at = lanes_address(p, z->of->buf, LLVMBuildNSWAdd(b, row, emit_int(p->e, (g * length + k) * n), ""));
            LLVMSetAlignment(LLVMBuildStore(b, mix(p, from, length, k), at), body_alignment(z->of->buf->kind));
        }
    }
}

// A fixed number of elements: blocks of one size, of which the last one may overlap the one before; long rows by a loop.
static void move_known(Body *p, const Stmt *loop, const RowCopy *z, int64_t n, int size) {
    enum { UNROLLED = 8 };
    int64_t done = 0;
    while (size > n) size /= 2;
    if (n > UNROLLED * size) {
        done = n / size * size;
        Counted c = body_begin_for(p, emit_int(p->e, 0), emit_int(p->e, done), size, info(p, loop->dst)->name);
        move_rows(p, loop, z, c.index, size);
        body_end_for(p, &c);
    }
    for (; done < n && size; done += size) move_rows(p, loop, z, emit_int(p->e, done + size <= n ? done : n - size), size);
}

// Where the rows and the buffer begin; the loop's index is 0.
static void find_rows(Body *p, RowCopy *z) {
    const Temp *index = stmt_index(z->of);
    Rows *r = &z->rows;
    *r = (Rows){.kind = z->of->buf->kind, .in = z->of == z->load, .lanes = emit_int(p->e, p->lanes)};
    r->buffer = buffer_at(p, r->in ? z->store : z->load);
    r->apart = lanes_stride(p, z->of->buf, index);
    for (int k = 0; k < z->of->buf->rank; k++)
        if (info(p, index[k])->varies && info(p, index[k])->step == STEP_ANY) r->apart = NULL;
    LLVMValueRef all = r->apart ? NULL : lanes_numbers(p, z->of->buf, index);
    for (int l = 0; all && l < p->lanes; l++) r->row[l] = LLVMBuildExtractElement(p->e->builder, all, lanes_index(p, l), "");
    z->number = r->apart ? lanes_first_number(p, z->of->buf, index) : emit_int(p->e, 0);
    r->first = lanes_address(p, z->of->buf, z->number);
}

// ---- rows of results

enum { LINE = CACHE_LINE, MOST_LINES = 128 };

// The rows of a block, if they lie side by side and are not too many: how many bytes; else 0.
static int64_t together(const Body *p, const Stmt *loop, const RowCopy *z) {
    bool all = z->rows.apart && LLVMIsAConstantInt(z->rows.apart) && LLVMConstIntGetSExtValue(z->rows.apart) == loop->whole;
    int64_t bytes = loop->whole * p->lanes * (int64_t)kind_size(z->of->buf->kind);
    return all && bytes <= LINE * MOST_LINES ? bytes : 0;
}

static void ask_for(Body *p, LLVMValueRef address) {
    enum { WRITE = 1, FIRST = 3, DATA = 1 };
    LLVMValueRef args[4] = {address};
    for (int k = 0; k < 3; k++) args[k + 1] = LLVMConstInt(p->e->type_i32, (const unsigned[]){WRITE, FIRST, DATA}[k], false);
    emit_intrinsic(p->e, "llvm.prefetch", 1, &p->e->type_ptr, 4, args);
}

static LLVMValueRef bytes_from(Body *p, LLVMValueRef address, LLVMValueRef bytes) {
    return LLVMBuildGEP2(p->e->builder, p->e->type_i8, address, &bytes, 1, "");
}

// Asks for the rows of the next block: processors that fetch what follows in memory do not see that rows which are stored in pieces
// go on there. There may be none: nothing is read then.
static void ask_ahead(Body *p, LLVMValueRef rows, int64_t bytes) {
    for (int64_t at = 0; at < bytes; at += LINE) ask_for(p, bytes_from(p, rows, emit_int(p->e, bytes + at)));
}

// Lines of the cache that are stored in pieces are loaded first, even if nothing of what was there is left. So, where results are
// large, rows wait until all those of the block are there, and go to memory in whole lines, past the caches. They wait where they
// would lie within a line there.
static LLVMValueRef within_line(Body *p, LLVMValueRef address) {
    LLVMBuilderRef b = p->e->builder;
    return LLVMBuildAnd(b, LLVMBuildPtrToInt(b, address, p->e->type_i64, ""), emit_int(p->e, LINE - 1), "");
}

static void begin_result(Body *p, const Stmt *s, RowCopy *z) {
    LLVMBuilderRef b = p->e->builder;
    int64_t bytes = together(p, s, z);
    if (!bytes) return;
    LLVMValueRef start = LLVMBuildNSWSub(b, z->number, emit_int(p->e, s->from), ""),
                 rows = lanes_address(p, z->of->buf, start);
    if (!s->streams || bytes % LINE) {
        if (!s->from) ask_ahead(p, rows, bytes);
        return;
    }
    z->start = start;
    z->waits = LLVMBuildICmp(b, LLVMIntSGE, body_count(p, z->of->buf), emit_int(p->e, s->streams), "");
    z->to = LLVMBuildSelect(b, z->waits, bytes_from(p, body_buffer(p, s->src), within_line(p, rows)), rows, "");
    z->rows.first = bytes_from(p, z->to, emit_int(p->e, s->from * (int64_t)kind_size(z->of->buf->kind)));
    if (s->from) return;
    LLVMBasicBlockRef ask = body_new_block(p, "ask"), next = body_new_block(p, "next");
    LLVMBuildCondBr(b, z->waits, next, ask);
    body_go_on(p, ask);
    ask_ahead(p, rows, bytes);
    LLVMBuildBr(b, next);
    body_go_on(p, next);
}

// A line of what waits: past the caches, or, if only its words before or from `within` on are of these rows, these words.
static void store_line(Body *p, LLVMValueRef from, LLVMValueRef to, LLVMValueRef at, LLVMIntPredicate part, LLVMValueRef within) {
    enum { WORD = 4 };
    LLVMBuilderRef b = p->e->builder;
    const int n = lanes_of_vector(p) * (int)sizeof(double) / WORD;
    LLVMTypeRef type = LLVMVectorType(p->e->type_i32, (unsigned)n);
    for (int first = 0; first < LINE / WORD; first += n) {
        LLVMValueRef offset = LLVMBuildNSWAdd(b, at, emit_int(p->e, first * WORD), ""), address = bytes_from(p, to, offset),
                     number[64];
        LLVMValueRef v = LLVMBuildLoad2(b, type, bytes_from(p, from, offset), "");
        LLVMSetAlignment(v, (unsigned)(n * WORD));
        if (!within) {
            lanes_past_caches(p, LLVMBuildStore(b, v, address), n * WORD);
            continue;
        }
        for (int i = 0; i < n; i++) number[i] = lanes_index(p, (first + i) * WORD);
        LLVMValueRef bound = LLVMBuildTrunc(b, within, p->e->type_i32, ""), all = LLVMGetUndef(type);
        for (int i = 0; i < n; i++) all = LLVMBuildInsertElement(b, all, bound, lanes_index(p, i), "");
        LLVMTypeRef types[] = {type, p->e->type_ptr};
        LLVMValueRef mask = LLVMBuildICmp(b, part, LLVMConstVector(number, (unsigned)n), all, "");
        LLVMValueRef args[] = {v, address, LLVMConstInt(p->e->type_i32, (unsigned)(n * WORD), false), mask};
        emit_intrinsic(p->e, "llvm.masked.store", 2, types, 4, args);
    }
}

// The last of what the rows have is there. Lines that two blocks share, at both ends, are stored in the caches.
static void end_result(Body *p, const Stmt *s, const RowCopy *z, int64_t moved) {
    LLVMBuilderRef b = p->e->builder;
    if (!z->to || s->from + moved < s->whole) return;
    int64_t bytes = together(p, s, z);
    LLVMBasicBlockRef go = body_new_block(p, "past"), whole = body_new_block(p, "whole"), parts = body_new_block(p, "parts"),
                      next = body_new_block(p, "next");
    LLVMBuildCondBr(b, z->waits, go, next);
    body_go_on(p, go);
    LLVMValueRef rows = lanes_address(p, z->of->buf, z->start), within = within_line(p, rows), back = LLVMBuildNeg(b, within, "");
    LLVMValueRef to = bytes_from(p, rows, back), from = body_buffer(p, s->src);
    Counted c = body_begin_for(p, emit_int(p->e, LINE), emit_int(p->e, bytes), LINE, "line");
    store_line(p, from, to, c.index, LLVMIntEQ, NULL);
    body_end_for(p, &c);
    LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntEQ, within, emit_int(p->e, 0), ""), whole, parts);
    body_go_on(p, whole);
    store_line(p, from, to, emit_int(p->e, 0), LLVMIntEQ, NULL);
    LLVMBuildBr(b, next);
    body_go_on(p, parts);
    store_line(p, from, to, emit_int(p->e, 0), LLVMIntSGE, within);
    store_line(p, from, to, emit_int(p->e, bytes), LLVMIntSLT, within);
    ask_for(p, bytes_from(p, rows, emit_int(p->e, 2 * bytes)));
    LLVMBuildBr(b, next);
    body_go_on(p, next);
}

// Where some lanes are not at work, elements are moved one by one.
bool lanes_rows(Body *p, const Stmt *s) {
    LLVMBuilderRef b = p->e->builder;
    const int last = s->body->stmts.len - 1;
    RowCopy z = {.load = s->body->stmts.data[last - 1], .store = s->body->stmts.data[last]};
    int64_t known = 0;
    z.of = lanes_own(z.load->buf) ? z.store : z.load;
    if (p->mask || lanes_of_vector(p) < 4 || z.of->buf->kind == KIND_BOOL) return false;
    int64_t length = whole_short(p, s, z.of);
    if (length && (z.of == z.load || length <= FEW)) {
        if (z.of == z.load) copy_short(p, s, &z, length);
        else store_short(p, s, &z, length);
        return true;
    }
    const bool fixed = literal(p, s->args[0], &known);
    LLVMValueRef n = body_value(p, s->args[0]), done = emit_int(p->e, 0);
    p->temp[s->dst] = done;
    body_emit_range(p, s->body, 0, last - 1);
    find_rows(p, &z);
    int size = lanes_of_vector(p);
    if (fixed) {
        if (s->whole) begin_result(p, s, &z);
        if (known > size && z.rows.apart) rows_call(p, &z.rows, n);
        else move_known(p, s, &z, known, size);
        end_result(p, s, &z, known);
        return true;
    }
    if (z.rows.apart) {
        rows_call(p, &z.rows, n);
        return true;
    }
    LLVMValueRef end = LLVMBuildAnd(b, n, emit_int(p->e, -size), "");
    Counted c = body_begin_for(p, done, end, size, info(p, s->dst)->name);
    move_rows(p, s, &z, c.index, size);
    body_end_for(p, &c);
    done = end;
    for (size /= 2; size > 0; size /= 2) {
        LLVMValueRef some = LLVMBuildAnd(b, n, emit_int(p->e, size), "");
        LLVMBasicBlockRef move = body_new_block(p, "rows"), next = body_new_block(p, "next");
        LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntNE, some, emit_int(p->e, 0), ""), move, next);
        body_go_on(p, move);
        move_rows(p, s, &z, done, size);
        LLVMBuildBr(b, next);
        body_go_on(p, next);
        done = LLVMBuildAdd(b, done, some, "");
    }
    return true;
}
