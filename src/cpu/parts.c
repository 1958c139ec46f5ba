// Long functions. LLVM takes more than linear time for them, most of it for promoting cells to values and for allocating
// registers; so runs of statements of long blocks become functions of their own, of a size that is compiled in full. What they
// need of each other is stored in a frame when it is defined, as much of it would be if there were one function: a
// register does not hold a value for thousands of statements. Literals and arguments are everywhere.
#include "cpu/body.h"

#include "fsmc/runtime.h"

// A function of more statements than LONG is divided into parts of about PART. One of more than VERY_LONG, where a loop counts as
// much as many statements because it takes LLVM as long, is compiled quickly rather than well.
enum { LONG = 3000, PART = 300, VERY_LONG = 60000, LOOP_WEIGHT = 70 };

// ---- which parts

static int weight(const Block *block, int of_loop) {
    int n = 0;
    for (int i = 0; block && i < block->stmts.len; i++) {
        const Stmt *s = block->stmts.data[i];
        if (s->kind == ST_PROC) continue; // a function already
        n += s->kind == ST_FOR || s->kind == ST_LOOP ? of_loop : 1;
        n += weight(s->body, of_loop) + weight(s->other, of_loop);
    }
    return n;
}

static void add_part(Body *p, const Block *block, int begin, int end, Part **last) {
    Part *part = ARENA_NEW(p->e->arena, Part);
    *part = (Part){.block = block, .begin = begin, .end = end, .number = ++p->nparts};
    if (*last) (*last)->next = part;
    else map_put(&p->parts, block, part);
    *last = part;
}

// Divides the block if it is long. Returns how many statements are left in the function around it, calls among them.
static int divide(Body *p, const Block *block, int first) {
    int n = block->stmts.len, total = 0, left = 0, begin = first, run = 0;
    int *size = malloc(sizeof *size * ((size_t)n + 1));
    if (!size) diag_out_of_memory();
    for (int i = 0; i < n; i++) {
        const Stmt *s = block->stmts.data[i];
        size[i] = 1;
        const bool whole = s->lanes || s->threads;
        if (s->body && s->kind != ST_PROC) size[i] += whole ? weight(s->body, 1) : divide(p, s->body, 0);
        if (s->other) size[i] += divide(p, s->other, 0);
        total += size[i];
    }
    Part *last = NULL;
    for (int i = 0; i < n && total > PART; i++) {
        bool stays = i < first || block->stmts.data[i]->kind == ST_BREAK;
        if (!stays) run += size[i];
        if (run < PART && !stays && i < n - 1) continue;
        int end = stays ? i : i + 1;
        if (run > PART / 2) add_part(p, block, begin, end, &last), left++;
        else left += run;
        left += stays, begin = i + 1, run = 0;
    }
    free(size);
    return total > PART ? left : total;
}

// ---- what they need of each other

typedef struct Survey {
    Body *p;
    Part *part;         // around what is being looked at
    Part **temp, **buf; // where they are defined
} Survey;

static bool is_everywhere(const Body *p, Temp t) { return p->def[t] && p->def[t]->kind == ST_LIT; }

static void use_temp(Survey *y, Temp t) {
    Body *p = y->p;
    Part *from = y->temp[t];
    if (from == y->part || is_everywhere(p, t) || map_get(&y->part->seen, &p->temp[t])) return;
    map_put(&y->part->seen, &p->temp[t], p);
    if (from->outer == y->part) vec_push(&from->back, t);
    else vec_push(&y->part->in, t);
    if (p->def[t] && p->def[t]->kind == ST_ARG) return;
    if (!p->slot[t]) p->slot[t] = ++p->nslots;
}

static void use_buf(Survey *y, const Buf *b) {
    Body *p = y->p;
    for (int k = 0; b && k < b->rank; k++) use_temp(y, b->extent[k]);
    Part *from = b && b->where == BUF_TEMP ? y->buf[b->id] : NULL;
    if (!from || from == y->part || map_get(&y->part->seen, b)) return;
    map_put(&y->part->seen, b, p);
    if (from->outer == y->part) vec_push(&from->back_buf, b);
    else vec_push(&y->part->in_buf, b);
    if (!p->buf_slot[b->id]) p->buf_slot[b->id] = p->nslots + 1, p->nslots += 2;
}

static void use_works(Survey *y, const Works *w) {
    if (w->kind == WORKS_NONZERO) use_temp(y, w->extent);
    if (w->left) use_works(y, w->left), use_works(y, w->right);
}

static void look(Survey *y, const Block *block);

static void look_at(Survey *y, const Stmt *s) {
    if (s->kind == ST_PROC) return; // it needs nothing of what is around
    for (int k = 0; k < s->nargs; k++) use_temp(y, s->args[k]);
    if (s->kind == ST_FOR) use_works(y, body_works(y->p, s)); // what is asked before it
    if (s->kind == ST_SET) use_temp(y, s->dst);
    else if (s->dst >= 0) y->temp[s->dst] = y->part;
    if (s->kind == ST_NEW) y->buf[s->buf->id] = y->part;
    use_buf(y, s->buf), use_buf(y, s->src);
    for (int k = 0; k < s->nin; k++) use_buf(y, s->in[k]);
    if (s->body) look(y, s->body);
    if (s->other) look(y, s->other);
}

static void look(Survey *y, const Block *block) {
    Part *outer = y->part, *next = map_get(&y->p->parts, block);
    for (int i = 0; i < block->stmts.len; i++) {
        if (next && i == next->begin) next->outer = outer, y->part = next;
        look_at(y, block->stmts.data[i]);
        if (next && i == next->end - 1) next = next->next, y->part = outer;
    }
}

static void define(Body *p, const Block *block) {
    for (int i = 0; i < block->stmts.len; i++) {
        Stmt *s = block->stmts.data[i];
        if (s->dst >= 0 && s->kind != ST_SET) p->def[s->dst] = s;
        if (s->body) define(p, s->body);
        if (s->other) define(p, s->other);
    }
}

void parts_divide(Body *p, int first) {
    Arena *a = p->e->arena;
    if (weight(p->tree->body, 1) > LONG) {
        p->quick = weight(p->tree->body, LOOP_WEIGHT) > VERY_LONG;
        if (p->quick) body_mark_quick(p->e, p->function);
        divide(p, p->tree->body, first);
    }
    if (!p->nparts && !p->cold) return;
    int ntemps = p->tree->temps.len, nbufs = 1;
    for (int i = 0; i < p->tree->bufs.len; i++)
        if (nbufs <= p->tree->bufs.data[i]->id) nbufs = p->tree->bufs.data[i]->id + 1;
    p->slot = ARENA_ARRAY(a, int, ntemps + 1), p->buf_slot = ARENA_ARRAY(a, int, nbufs);
    define(p, p->tree->body);
    if (p->nparts) {
        p->part = ARENA_NEW(a, Part);
        Survey y = {p, p->part, ARENA_ARRAY(a, Part *, ntemps + 1), ARENA_ARRAY(a, Part *, nbufs)};
        look(&y, p->tree->body);
    }
    if (p->cold) procs_capture(p, nbufs);
}

// ---- the frame

LLVMValueRef parts_place(Body *p, int slot) {
    LLVMValueRef at = emit_int(p->e, slot - 1);
    return LLVMBuildInBoundsGEP2(p->e->builder, p->e->type_i64, p->frame, &at, 1, "");
}

static void keep(Body *p, LLVMValueRef v, int slot) { LLVMBuildStore(p->e->builder, v, parts_place(p, slot)); }

void parts_frame(Body *p) {
    if (!p->part && !p->nslots) return;
    p->frame = body_alloc(p, emit_int(p->e, p->nslots), 8);
    for (int i = 0; i < p->tree->bufs.len; i++) {
        const Buf *b = p->tree->bufs.data[i];
        const bool given = b->where == BUF_INPUT || b->where == BUF_OUTPUT;
        if (given && p->buf_slot[b->id]) keep(p, body_buffer(p, b), p->buf_slot[b->id]);
    }
}

void parts_defined(Body *p, Temp t) {
    if (p->slot && p->slot[t]) keep(p, p->temp[t], p->slot[t]);
}

void parts_new_buffer(Body *p, const Buf *b) {
    if (!p->buf_slot || !p->buf_slot[b->id]) return;
    keep(p, p->base[b->id], p->buf_slot[b->id]);
    if (p->roomy[b->id]) keep(p, p->roomy[b->id], p->buf_slot[b->id] + 1);
}

LLVMValueRef parts_cell(Body *p, Temp t) { return p->part && p->slot[t] ? parts_place(p, p->slot[t]) : NULL; }

static void bring(Body *p, int n, const Temp *temps, int nbufs, const Buf *const *bufs) {
    Emitter *e = p->e;
    for (int i = 0; i < n; i++) {
        Temp t = temps[i];
        const TempInfo *info = &p->tree->temps.data[t];
        if (p->temp[t] && LLVMIsAConstantInt(p->temp[t])) continue;
        if (!p->slot[t]) p->temp[t] = body_definition(p, p->def[t]);
        else if (info->cell) p->temp[t] = parts_place(p, p->slot[t]);
        else p->temp[t] = LLVMBuildLoad2(e->builder, emit_type(e, info->kind), parts_place(p, p->slot[t]), "");
    }
    for (int i = 0; i < nbufs; i++) {
        int id = bufs[i]->id;
        p->base[id] = LLVMBuildLoad2(e->builder, e->type_ptr, parts_place(p, p->buf_slot[id]), "");
        if (!p->roomy[id]) continue;
        p->roomy[id] = LLVMBuildLoad2(e->builder, e->type_i1, parts_place(p, p->buf_slot[id] + 1), "");
    }
}

// ---- their functions

// What is known of the function around a part, while the part is emitted.
typedef struct Around {
    LLVMValueRef function, context, call, frame, zero, dump, *temp, *base, *roomy;
    LLVMBasicBlockRef slots, here, leave;
    Part *part;
} Around;

static Around leave(Body *p, const Part *part) {
    Around a = {
        .function = p->function, .context = p->context, .frame = p->frame, .slots = p->slots, .leave = p->leave, .part = p->part};
    a.call = p->call, a.zero = p->zero, a.dump = p->dump;
    a.here = LLVMGetInsertBlock(p->e->builder);
    a.temp = ARENA_ARRAY(p->e->arena, LLVMValueRef, part->in.len);
    a.base = ARENA_ARRAY(p->e->arena, LLVMValueRef, part->in_buf.len),
    a.roomy = ARENA_ARRAY(p->e->arena, LLVMValueRef, part->in_buf.len);
    for (int i = 0; i < part->in.len; i++) a.temp[i] = p->temp[part->in.data[i]];
    for (int i = 0; i < part->in_buf.len; i++)
        a.base[i] = p->base[part->in_buf.data[i]->id], a.roomy[i] = p->roomy[part->in_buf.data[i]->id];
    return a;
}

static void come_back(Body *p, const Part *part, const Around *a) {
    p->function = a->function, p->context = a->context, p->frame = a->frame, p->slots = a->slots, p->leave = a->leave,
    p->part = a->part;
    p->call = a->call, p->zero = a->zero, p->dump = a->dump;
    for (int i = 0; i < part->in.len; i++) p->temp[part->in.data[i]] = a->temp[i];
    for (int i = 0; i < part->in_buf.len; i++)
        p->base[part->in_buf.data[i]->id] = a->base[i], p->roomy[part->in_buf.data[i]->id] = a->roomy[i];
    body_go_on(p, a->here);
}

static void emit_part(Body *p, Part *part, LLVMValueRef function) {
    Emitter *e = p->e;
    unsigned last = (unsigned)(p->func->ninputs + p->func->noutputs) + 1;
    if (p->quick) body_mark_quick(e, function);
    emit_attribute(e, function, last + 1, "noalias", 0);
    emit_attribute(e, function, last + 1, "nocapture", 0);
    p->function = function, p->part = part, p->leave = NULL, p->zero = p->dump = NULL;
    p->context = p->call = LLVMGetParam(function, 0), p->frame = LLVMGetParam(function, last);
    body_declare_parameters(p);
    p->slots = body_new_block(p, "entry");
    LLVMBasicBlockRef start = body_new_block(p, "start");
    body_go_on(p, start);
    bring(p, part->in.len, part->in.data, part->in_buf.len, part->in_buf.data);
    body_emit_range(p, part->block, part->begin, part->end);
    body_return_code(p, LLVMConstNull(e->type_i32));
    body_go_on(p, p->slots);
    LLVMBuildBr(e->builder, start);
}

void parts_emit(Body *p, Part *part) {
    Emitter *e = p->e;
    Around around = leave(p, part);
    LLVMValueRef function = body_function(e, p->tree, arena_printf(e->arena, "%s.%d", p->name, part->number), 1, p->cold);
    DebugFunction debugged = debug_enter(e->debug, function, p->func, LLVMGetValueName(function));
    emit_part(p, part, function);
    come_back(p, part, &around);
    debug_leave(e->debug, debugged);
    debug_place(e->debug, p->func->span);
    int n = 1 + p->func->ninputs + p->func->noutputs;
    LLVMValueRef *args = ARENA_ARRAY(e->arena, LLVMValueRef, n + 1);
    for (int i = 0; i < n; i++) args[i] = LLVMGetParam(p->function, (unsigned)i);
    args[n] = p->frame;
    LLVMValueRef code = LLVMBuildCall2(e->builder, LLVMGlobalGetValueType(function), function, args, (unsigned)n + 1, "");
    LLVMValueRef ok = LLVMBuildICmp(e->builder, LLVMIntEQ, code, LLVMConstNull(e->type_i32), "");
    LLVMBasicBlockRef rest = body_split_failure(p, ok);
    body_return_code(p, code);
    body_go_on(p, rest);
    bring(p, part->back.len, part->back.data, part->back_buf.len, part->back_buf.data);
}

void parts_free(Body *p) {
    for (size_t i = 0; i < p->parts.cap; i++)
        for (Part *part = p->parts.key[i] ? p->parts.value[i] : NULL; part; part = part->next) {
            vec_free(&part->in), vec_free(&part->back), vec_free(&part->in_buf), vec_free(&part->back_buf);
            map_free(&part->seen);
        }
    map_free(&p->parts);
    if (p->part) map_free(&p->part->seen);
}
