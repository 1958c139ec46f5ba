// Kernels and their launches.
//
// A kernel gets what its statements use from outside: what the host knows as arguments, other scalars from the frame. Arrays that
// each thread has for itself are local if they are small, else parts of memory that the host takes for all threads: element e of
// thread t is at e * threads + t, so that neighbouring threads access neighbouring places.
#include "cuda/print.h"

// ---- what it uses

static void note_made(Region *r, const Stmt *s) {
    Unit *u = r->u;
    if (s->dst >= 0 && s->kind != ST_SET) u->made[s->dst] = u->stamp;
    if (s->kind == ST_NEW && !map_get(&r->inside, s->buf))
        map_put(&r->inside, s->buf, s->buf), vec_push(&r->made, s->buf);
    const Block *in[] = {s->body, s->other};
    for (int k = 0; k < 2; k++)
        for (int i = 0; in[k] && i < in[k]->stmts.len; i++) note_made(r, in[k]->stmts.data[i]);
}

static bool is_outside(const Unit *u, Temp t) { return u->made[t] != u->stamp && u->def[t]->kind != ST_LIT; }

static void use_temp(Region *r, Temp t) {
    Unit *u = r->u;
    if (!is_outside(u, t) || u->seen[t] == u->stamp) return;
    u->seen[t] = u->stamp;
    vec_push(&r->temps, t);
    r->frame |= u->device[t];
}

static bool extents_outside(const Unit *u, const Buf *b) {
    for (int k = 0; k < b->rank; k++)
        if (is_outside(u, b->extent[k]) != (u->def[b->extent[k]]->kind != ST_LIT)) return false;
    return true;
}

static void use_buf(Region *r, Buf *b, bool shape) {
    Unit *u = r->u;
    bool inside = map_get(&r->inside, b), own = inside || (r->grid && map_get(&u->own, b) == r->grid);
    for (int k = shape || (inside && !extents_outside(u, b)) ? 0 : 1; k < b->rank; k++) use_temp(r, b->extent[k]);
    if (u->seen_buf[b->id] == u->stamp) return;
    if (own && code_is_local(u, b)) {
        for (int k = 0; k < r->local.len; k++) own &= r->local.data[k] != b;
        if (own && !inside) vec_push(&r->local, b);
    } else if (!own || extents_outside(u, b)) { // else its thread makes it
        if (own) vec_push(&r->own, b);
        else vec_push(&r->bufs, b);
        u->seen_buf[b->id] = u->stamp;
    }
}

static void use_stmt(Region *r, const Stmt *s) {
    Unit *u = r->u;
    if (unit_is_dead(u, s)) return;
    for (int k = 0; k < s->nargs; k++) use_temp(r, s->args[k]);
    if (s->kind == ST_SET && is_outside(u, s->dst)) {
        use_temp(r, s->dst);
        bool known = false;
        for (int k = 0; k < r->set.len; k++) known |= r->set.data[k] == s->dst;
        if (!known) vec_push(&r->set, s->dst);
    }
    if (s->kind == ST_OUT) vec_push(&r->outs, (int)s->u.num);
    if (s->dst >= 0 && u->frame[s->dst]) r->frame = true;
    if (s->buf) use_buf(r, s->buf, s->kind == ST_FILL || s->kind == ST_COPY);
    if (s->src) use_buf(r, s->src, false);
    const Block *in[] = {s->body, s->other};
    for (int k = 0; k < 2; k++)
        for (int i = 0; in[k] && i < in[k]->stmts.len; i++) use_stmt(r, in[k]->stmts.data[i]);
}

static void region_begin(Region *r) {
    Unit *u = r->u;
    u->stamp++;
    for (int i = 0; i < r->n; i++) note_made(r, r->stmts[i]);
    for (int i = 0; i < r->n; i++) use_stmt(r, r->stmts[i]);
    for (int i = 0; i < r->temps.len; i++)
        if (u->device[r->temps.data[i]]) u->frame[unit_in_frame(u, r->temps.data[i])] = true;
    for (int i = 0; i < r->own.len; i++) // what the host needs to know to make them
        for (int k = 0; k < r->own.data[i]->rank; k++) host_read(r->host, r->own.data[i]->extent[k]);
}

static void region_end(Region *r) {
    vec_free(&r->temps), vec_free(&r->set), vec_free(&r->outs), vec_free(&r->bufs), vec_free(&r->own), vec_free(&r->local);
    map_free(&r->inside), vec_free(&r->made);
    vec_free(&r->params);
}

// ---- parameters

static void param(Region *r, const char *type, const char *name, const char *arg) {
    vec_push(&r->params, ((Param){type, name, arg}));
}

static bool is_set(const Region *r, Temp t) {
    for (int k = 0; k < r->set.len; k++)
        if (r->set.data[k] == t) return true;
    return false;
}

static bool is_written(const Block *b, const Buf *buf);

bool kernel_writes(const Stmt *s, const Buf *buf) {
    return (s->buf == buf && s->kind != ST_LOAD && s->kind != ST_NEW) || is_written(s->body, buf) || is_written(s->other, buf);
}

static bool is_written(const Block *b, const Buf *buf) {
    for (int i = 0; b && i < b->stmts.len; i++)
        if (kernel_writes(b->stmts.data[i], buf)) return true;
    return false;
}

static void buf_param(Region *r, const Buf *b) {
    bool written = false;
    for (int i = 0; i < r->n; i++) written |= kernel_writes(r->stmts[i], b);
    const char *name = expr_buf(r->u, b);
    bool apart = !r->blocks || !written; // threads do not read what others write
    param(r, expr_text(r->u->arena, "%s%s *%s", written ? "" : "const ", cuda_element(b->kind), apart ? "__restrict__ " : ""), name,
          name);
}

static void plain_params(Region *r) {
    Unit *u = r->u;
    if (u->may_fail) param(r, "fsm::cuda::Errors ", "fsm_errors", kernel_errors(u));
    if (r->frame) param(r, "Frame *__restrict__ ", "fsm_frame", "fsm_frame");
    for (int i = 0; i < r->temps.len; i++) {
        Temp t = r->temps.data[i];
        const char *name = expr_temp(u, t);
        bool known = u->device[t];
        for (int k = 0; k < i; k++) known |= !strcmp(name, expr_temp(u, r->temps.data[k])); // an argument of the entry
        if (!known) param(r, expr_text(u->arena, "%s ", cuda_type(unit_kind(u, t))), name, name);
    }
    for (int i = 0; i < r->bufs.len; i++) {
        bool copied = false;
        for (int k = 0; r->grid && k < r->grid->grid->ncopies; k++) copied |= r->grid->grid->copy[k] == r->bufs.data[i];
        if (!copied) buf_param(r, r->bufs.data[i]);
    }
    for (int i = 0; i < r->outs.len; i++) {
        const char *name = u->params[u->func->ninputs + r->outs.data[i]];
        bool known = false;
        for (int k = 0; k < i; k++) known |= r->outs.data[k] == r->outs.data[i];
        if (!known)
            param(r, expr_text(u->arena, "%s *__restrict__ ", cuda_element(u->func->outputs[r->outs.data[i]]->kind)), name, name);
    }
}

// Scalars of the frame that the statements mention, before them; those that are sums have values of their own.
static void load_frame(Region *r, Str *out, const char *body) {
    Unit *u = r->u;
    Code head = {.u = u, .out = out, .indent = 4, .where = CODE_KERNEL}, *c = &head;
    if (u->may_fail) code_line(c, "if (fsm::cuda::stopped(fsm_errors)) return;");
    for (int i = 0; i < r->temps.len; i++) {
        Temp t = r->temps.data[i];
        bool sum = r->grid && !r->fold && is_set(r, t);
        if (!u->device[t] || sum) continue;
        const char *name = expr_temp(u, t);
        if (expr_mentions(body, name))
            code_line(c, "%s%s %s = fsm_frame->%s;", is_set(r, t) ? "" : "const ", cuda_type(unit_kind(u, t)), name,
                      expr_temp(u, unit_in_frame(u, t)));
    }
}

// Prints it with the parameters that it mentions; the arguments of its launch.
static const char *print_kernel(Region *r, const char *name, const Code *c) {
    Str *out = &r->u->kernels;
    Str text = {0};
    load_frame(r, &text, str_text(c->out));
    str_puts(&text, str_text(c->out));
    const char *args = "", *body = str_text(&text), *comma = "";
    str_printf(out, "\nstatic __global__ void %s(", name);
    for (int i = 0; i < r->params.len; i++) {
        const Param *p = &r->params.data[i];
        if (!expr_mentions(body, p->name)) continue;
        str_printf(out, "%s%s%s", comma, p->type, p->name);
        args = expr_text(r->u->arena, "%s%s%s", args, comma, p->arg), comma = ", ";
    }
    str_printf(out, ") {\n%s}\n", body);
    str_free(&text);
    return args;
}

static const char *next_name(Unit *u) { return expr_text(u->arena, "k%d", ++u->nkernels); }

// ---- a kernel of one thread

void kernel_serial(Code *host, int n, Stmt *const *stmts) {
    Unit *u = host->u;
    Region r = {.host = host, .u = u, .n = n, .stmts = stmts};
    Str body = {0};
    Code c = {.u = u, .out = &body, .indent = 4, .where = CODE_KERNEL, .fail = "return;", .order = "0"};
    region_begin(&r);
    plain_params(&r);
    for (int i = 0; i < n; i++) {
        const Stmt *s = stmts[i];
        code_stmt(&c, s, NULL);
        bool value = s->dst >= 0 && s->kind != ST_SET && s->kind != ST_CELL && s->kind != ST_FOR;
        if (value && u->frame[s->dst]) code_line(&c, "fsm_frame->%s = %s;", expr_temp(u, s->dst), expr_temp(u, s->dst));
    }
    for (int i = 0; i < r.set.len; i++)
        code_line(&c, "fsm_frame->%s = %s;", expr_temp(u, r.set.data[i]), expr_temp(u, r.set.data[i]));
    for (int i = 0; i < n; i++)
        if (stmts[i]->kind == ST_CELL && u->frame[stmts[i]->dst])
            code_line(&c, "fsm_frame->%s = %s;", expr_temp(u, stmts[i]->dst), expr_temp(u, stmts[i]->dst));
    const char *name = next_name(u);
    for (int i = 0; i < r.own.len; i++)
        param(&r, expr_text(u->arena, "%s *__restrict__ ", cuda_element(r.own.data[i]->kind)), expr_buf(u, r.own.data[i]),
              expr_buf(u, r.own.data[i]));
    const char *args = print_kernel(&r, name, &c);
    if (r.own.len) {
        code_line(host, "{");
        host->indent += 4;
        code_line(host, "const auto fsm_mark = call.mark();");
    }
    for (int i = 0; i < r.own.len; i++) {
        Buf *b = r.own.data[i];
        const char *type = cuda_element(b->kind), *array = expr_buf(u, b);
        code_line(host, "%s *const %s = call.alloc<%s>(%s);", type, array, type, expr_count(u, b, NULL));
        code_line(host, "if (!%s) return call.code();", array);
    }
    host_launch(host, name, "1, 1", args);
    if (r.own.len) {
        code_line(host, "call.release(fsm_mark);");
        host->indent -= 4;
        code_line(host, "}");
    }
    str_free(&body);
    region_end(&r);
}

// ---- a grid

const char *kernel_errors(const Unit *u) { return u->may_fail ? "call.errors()" : "fsm::cuda::Errors()"; }

const char *kernel_join(Op by) { return by == OP_min ? "fsm::Least" : by == OP_max ? "fsm::Greatest" : "fsm::Add"; }

const char *kernel_trips(Unit *u, const Stmt *loop) {
    const char *end = expr_temp(u, loop->args[0]);
    return loop->nargs > 1 ? expr_text(u->arena, "fsm::trips(%s, %s)", expr_temp(u, loop->args[1]), end) : end;
}

// An array of each thread, `from` being those of all.
static void own_array(Region *r, Code *c, Buf *b, bool *stepped) {
    Unit *u = r->u;
    const char *type = cuda_element(b->kind), *name = expr_buf(u, b), *all = expr_text(u->arena, "%s_all", name);
    bool shared = r->blocks && (block_shares(u, r->grid, b) || !map_get(&u->own, b)); // by the threads of a block
    param(r, expr_text(u->arena, shared ? "%s *" : "%s *__restrict__ ", type), all, all);
    code_line(r->host, "%s *const %s = call.alloc<%s>(%s);", type, all, type,
              expr_count(u, b, shared ? "fsm_shape.blocks" : "fsm_shape.threads()"));
    code_line(r->host, "if (!%s) return call.code();", all);
    if (shared) {
        code_line(c, "%s *const %s = %s + int64_t(blockIdx.x) * %s;", type, name, all, expr_count(u, b, NULL));
        return;
    }
    if (!*stepped) code_line(c, "const int64_t fsm_step = fsm::thread_count();");
    *stepped = true;
    code_line(c, "%s *const %s = %s + fsm::thread_number();", type, name, all);
    map_put(&c->step, b, "fsm_step");
}

static void local_array(Region *r, Code *c, const Buf *b) {
    Unit *u = r->u;
    int64_t n = 1;
    for (int k = 0; k < b->rank; k++) n *= u->def[b->extent[k]]->u.num;
    const char *form = r->blocks && block_shares(u, r->grid, b) ? "FSM_SHARED(%2$s, %1$s[%3$lld]);" : "%s %s[%lld];";
    code_line(c, form, cuda_element(b->kind), expr_buf(u, b), (long long)(n ? n : 1));
}

// What each thread, or block, has of its own before its first iteration.
static void begin_threads(Region *r, Code *c) {
    Unit *u = r->u;
    Grid *g = r->grid->grid;
    bool stepped = false;
    const char *first = r->blocks ? "threadIdx.x" : "0", *step = r->blocks ? "blockDim.x" : "1";
    for (int i = 0; i < r->own.len; i++) own_array(r, c, r->own.data[i], &stepped);
    for (int i = 0; i < g->ncopies && !r->shares && !r->rows; i++) {
        Buf *b = g->copy[i];
        own_array(r, c, b, &stepped);
        code_line(c, "for (int64_t fsm_e = %s, fsm_all = %s; fsm_e < fsm_all; fsm_e += %s) %s[fsm_e%s] = 0;", first,
                  expr_count(u, b, NULL), step, expr_buf(u, b), r->blocks ? "" : " * fsm_step");
    }
    for (int i = 0; i < r->local.len; i++) local_array(r, c, r->local.data[i]);
    for (int i = 0; r->blocks && i < r->made.len; i++) {
        const Buf *b = r->made.data[i];
        if (!code_is_local(u, b) || !block_shares(u, r->grid, b)) continue;
        local_array(r, c, b);
        u->seen_buf[b->id] = u->stamp; // it is there when it comes into being
    }
    for (int i = 0; i < g->nsums; i++) {
        const char *name = expr_temp(u, g->cell[i]), *type = cuda_type(unit_kind(u, g->cell[i]));
        if (g->by[i] == OP_add) code_line(c, "%s %s = 0;", type, name);
        else if (u->first[g->cell[i]]) code_line(c, "%s %s = %s;", type, name, u->first[g->cell[i]]);
        else code_line(c, "%s %s = fsm_frame->%s;", type, name, name);
        const char *parts = expr_text(u->arena, "%s_parts", name);
        param(r, expr_text(u->arena, "%s *__restrict__ ", type), parts, parts);
        code_line(r->host, "%s *const %s = call.alloc<%s>(fsm_shape.blocks);", type, parts, type);
        code_line(r->host, "if (!%s) return call.code();", parts);
    }
}

void kernel_iteration(Code *c, Stmt *grid, const char *number) {
    Unit *u = c->u;
    int depth = grid->grid->depth;
    for (int k = depth; k-- > 0;) {
        const Stmt *loop = grid_loop(grid, k);
        const char *n = kernel_trips(u, loop);
        if (!strcmp(n, "0")) n = "1"; // there is no iteration
        const char *at = !number      ? expr_text(u->arena, "fsm_at.index[%d]", k)
                         : depth == 1 ? number
                         : k          ? expr_text(u->arena, "fsm_rest%d - fsm_rest%d * %s", k, k - 1, n)
                                      : "fsm_rest0";
        if (number && depth > 1 && k == depth - 1) code_line(c, "const int64_t fsm_rest%d = %s;", k, number);
        if (k && number) code_line(c, "const int64_t fsm_rest%d = fsm::quotient(fsm_rest%d, %s);", k - 1, k, n);
        if (loop->nargs > 1) at = expr_text(u->arena, "%s + %s", expr_temp(u, loop->args[1]), at);
        if (u->uses[loop->dst] && (!c->only || c->only[loop->dst]))
            code_line(c, "%sconst int64_t %s = %s;", number ? "" : "[[maybe_unused]] ", expr_temp(u, loop->dst),
                      at); // but for places
    }
    for (int k = 0; k + 1 < depth; k++) {
        const Stmt *loop = grid_loop(grid, k), *inner = grid_loop(grid, k + 1);
        for (int i = 0; loop->body->stmts.data[i] != inner; i++) code_stmt(c, loop->body->stmts.data[i], loop->body);
    }
}

static void end_threads(Region *r, Code *c) {
    Unit *u = r->u;
    Grid *g = r->grid->grid;
    if (g->nsums && c->fails) {
        c->indent -= 4;
        code_line(c, "done:");
        c->indent += 4;
    }
    for (int i = 0; i < g->nsums; i++) {
        const char *name = expr_temp(u, g->cell[i]);
        code_line(c, "fsm::join_threads<%s>(%s_parts, %s);", kernel_join(g->by[i]), name, name);
    }
}

// The launches that follow, of kernels that join what threads have.
static void join(Region *r) {
    Unit *u = r->u;
    Code *host = r->host;
    Grid *g = r->grid->grid;
    for (int i = 0; i < g->nsums; i++) {
        const char *name = expr_temp(u, g->cell[i]), *type = cuda_type(unit_kind(u, g->cell[i]));
        const char *first = u->first[g->cell[i]];
        host_launch(host, expr_text(u->arena, "(fsm::join_blocks<%s, %s>)", kernel_join(g->by[i]), type), "1, fsm::BLOCK",
                    expr_text(u->arena, "%s, &fsm_frame->%s, %s_parts, fsm_shape.blocks, %s, static_cast<%s>(%s)",
                              kernel_errors(u), name, name, first ? "true" : "false", type, first ? first : "0"));
    }
    if (r->shares) shares_end(host, r->shares);
    for (int i = 0; i < g->ncopies && !r->shares; i++) {
        Buf *b = g->copy[i];
        const char *name = expr_buf(u, b), *n = expr_count(u, b, NULL);
        const char *type = cuda_element(b->kind), *copies = r->blocks ? "fsm_shape.blocks" : "fsm_shape.threads()";
        const char *common = expr_text(u->arena, "%s, %s, %s_all, %s, %s", kernel_errors(u), name, name, n, copies);
        if (!r->blocks) {
            code_line(host, "fsm::add_thread_copies<%s>(call, %s);", type, common);
            code_line(host, "if (call.code()) return call.code();");
            u->nlaunches += 2;
            continue;
        }
        const char *rows = expr_text(u->arena, "%s_rows", name);
        code_line(host, "const fsm::CopiesShape %s = fsm::copies_shape(%s, %s);", rows, n, copies);
        host_launch(host, expr_text(u->arena, "fsm::add_block_copies<%s>", type),
                    expr_text(u->arena, "%s.blocks, %s.block", rows, rows), expr_text(u->arena, "%s, %s.width", common, rows));
    }
}

// The bytes of what each thread, or block, has for itself, as a sum.
static const char *own_bytes(Region *r) {
    Unit *u = r->u;
    Grid *g = r->grid->grid;
    const char *bytes = NULL;
    for (int i = 0; i < r->own.len + (r->shares ? 0 : g->ncopies); i++) {
        const Buf *b = i < r->own.len ? r->own.data[i] : g->copy[i - r->own.len];
        bool threads = r->blocks && i < r->own.len && !block_shares(u, r->grid, b);
        const char *n = expr_count(u, b, expr_text(u->arena, "%d", (int)kind_size(b->kind) * (threads ? 256 : 1)));
        bytes = bytes ? expr_text(u->arena, "%s + %s", bytes, n) : n;
    }
    return bytes ? bytes : "0";
}

static void note_atomic(Map *m, const Stmt *s) {
    for (int i = 0; s->grid && i < s->grid->natomics; i++) map_put(m, s->grid->atomic[i], s->grid->atomic[i]);
    const Block *in[] = {s->body, s->other};
    for (int k = 0; k < 2; k++)
        for (int i = 0; in[k] && i < in[k]->stmts.len; i++) note_atomic(m, in[k]->stmts.data[i]);
}

// All extents of what threads have for themselves.
static void extent_params(Region *r) {
    Unit *u = r->u;
    const Grid *g = r->grid->grid;
    for (int i = 0; i < g->ncopies + r->own.len; i++) {
        const Buf *b = i < g->ncopies ? g->copy[i] : r->own.data[i - g->ncopies];
        for (int k = 0; k < b->rank; k++) {
            Temp t = b->extent[k];
            if (!is_outside(u, t) || u->seen[t] == u->stamp) continue;
            u->seen[t] = u->stamp;
            param(r, "int64_t ", expr_temp(u, t), expr_temp(u, t));
        }
    }
}

// May several teams be in a block? It has nothing then that teams would have in common.
static bool may_be_teams(const Region *r) {
    const Grid *g = r->grid->grid;
    bool own = r->own.len || r->local.len || g->nsums || (g->ncopies && !r->shares);
    for (int i = 0; i < r->made.len; i++) own |= block_shares(r->u, r->grid, r->made.data[i]);
    return !own;
}

// A kernel whose threads do iterations, or blocks if there is a text for how many the inner grids have, and its launch. shares:
// what it lists, or NULL.
static void print_grid(Code *host, Stmt *loop, const char *inner, const Shares *shares) {
    Unit *u = host->u;
    bool blocks = inner;
    Grid *g = loop->grid;
    Region r = {.host = host, .u = u, .n = 1, .stmts = &loop, .grid = loop, .blocks = blocks, .shares = shares};
    Str body = {0};
    Code c = {.u = u,
              .shares = shares,
              .out = &body,
              .indent = 4,
              .where = CODE_KERNEL,
              .fail = g->nsums ? "goto done;" : "return;",
              .order = blocks         ? "uint64_t(fsm_i) << 24"
                       : g->depth > 1 ? "fsm_at.number"
                                      : "fsm_i"};
    region_begin(&r);
    const char *bytes = own_bytes(&r);
    const char *form = blocks ? expr_text(u->arena, "block_shape(fsm_n, %s", inner) : "shape(fsm_n";
    if (blocks && may_be_teams(&r)) bytes = "0, true";
    else if (!strcmp(bytes, "0")) bytes = NULL;
    code_line(host, "const fsm::Shape fsm_shape = fsm::%s%s%s);", form, bytes ? ", " : "", bytes ? bytes : "");
    param(&r, "int64_t ", "fsm_n", "fsm_n");
    plain_params(&r);
    extent_params(&r);
    for (int i = 0; shares && i < shares->n; i++) {
        const char *place = shares_place(u, i), *value = shares_value(u, i);
        param(&r, "int64_t *__restrict__ ", place, place);
        param(&r, expr_text(u->arena, "%s *__restrict__ ", cuda_element(shares->site[i].add->buf->kind)), value, value);
    }
    for (int i = 0; shares && i < shares->nrows; i++)
        param(&r, "const unsigned long long *__restrict__ ", shares_first(u, i), shares_first(u, i));
    if (shares) shares_begin(host, shares);
    note_atomic(&c.atomic, loop);
    begin_threads(&r, &c);
    const char *lengths = NULL;
    for (int k = 0; k < g->depth; k++) {
        const char *n = kernel_trips(u, grid_loop(loop, k));
        lengths = lengths ? expr_text(u->arena, "%s, %s", lengths, n) : n;
    }
    bool walk = !blocks && g->depth > 1;
    if (blocks) code_line(&c, "for (int64_t fsm_i = fsm::team_number(); fsm_i < fsm_n; fsm_i += fsm::team_count()) {");
    else if (walk)
        code_line(&c, "for (fsm::Walk<%d> fsm_at(fsm_n, {%s}); fsm_at.number < fsm_n; fsm_at.next()) {", g->depth, lengths);
    else code_line(&c, "for (int64_t fsm_i = fsm::thread_number(); fsm_i < fsm_n; fsm_i += fsm::thread_count()) {");
    c.indent += 4;
    if (blocks) code_line(&c, "fsm::sync_team();");
    if (walk && shares) code_line(&c, "const int64_t fsm_i = fsm_at.number;");
    kernel_iteration(&c, loop, walk ? NULL : "fsm_i");
    const Block *innermost = grid_loop(loop, g->depth - 1)->body;
    u->walk = walk ? loop : NULL;
    if (blocks) block_code(&c, loop, innermost);
    else code_block(&c, innermost);
    u->walk = NULL;
    c.indent -= 4;
    code_line(&c, "}");
    end_threads(&r, &c);
    const char *name = next_name(u);
    host_launch(host, name, blocks ? "fsm_shape.blocks, fsm_shape.size()" : "fsm_shape.blocks, fsm_shape.block",
                print_kernel(&r, name, &c));
    join(&r);
    map_free(&c.step), map_free(&c.atomic);
    str_free(&body);
    region_end(&r);
}

// Counts what each iteration lists, where the host does not know that; whether it is listed depends on how much there is.
static void print_counts(Code *host, Stmt *loop, const Shares *shares) {
    Unit *u = host->u;
    Region r = {.host = host, .u = u, .n = 1, .stmts = &loop, .grid = loop, .shares = shares};
    Str body = {0};
    Code c = {.u = u, .out = &body, .indent = 4, .where = CODE_KERNEL, .only = shares->needed};
    region_begin(&r);
    for (int i = 0; i < r.bufs.len; i++)
        for (int k = 0; k < r.bufs.data[i]->rank; k++) use_temp(&r, r.bufs.data[i]->extent[k]);
    for (int i = 0; i < r.temps.len; i++)
        if (u->device[r.temps.data[i]]) u->frame[unit_in_frame(u, r.temps.data[i])] = true;
    param(&r, "int64_t ", "fsm_n", "fsm_n");
    plain_params(&r);
    code_line(host, "bool fsm_lists = %s;", shares_test(u, shares));
    for (int i = 0; i < shares->nrows; i++) {
        const char *first = shares_first(u, i);
        code_line(host, "int64_t fsm_total%d = 0;", i);
        code_line(host, "unsigned long long *const %s = call.alloc<unsigned long long>(fsm_lists ? fsm_n + 1 : 0);", first);
        code_line(host, "if (!%s) return call.code();", first);
        param(&r, "unsigned long long *__restrict__ ", first, first);
    }
    code_line(&c, "for (int64_t fsm_i = fsm::thread_number(); fsm_i < fsm_n; fsm_i += fsm::thread_count()) {");
    c.indent += 4;
    kernel_iteration(&c, loop, "fsm_i");
    shares_count(&c, shares);
    c.indent -= 4;
    code_line(&c, "}");
    code_line(host, "if (fsm_lists) {");
    host->indent += 4;
    const char *name = next_name(u);
    host_launch(host, name, "fsm::shape(fsm_n).blocks, fsm::BLOCK", print_kernel(&r, name, &c));
    shares_counted(host, shares);
    host->indent -= 4;
    code_line(host, "}");
    str_free(&body);
    region_end(&r);
}

// Sorts iterations by the row that they add to, and does them in that order.
static void print_rows(Code *host, Stmt *loop, const char *inner, const Rows *rows) {
    Unit *u = host->u;
    const Grid *g = loop->grid;
    const char *places = expr_temp(u, rows->places), *row = expr_temp(u, rows->row);
    Region r = {.host = host, .u = u, .n = 1, .stmts = &loop, .grid = loop};
    Str body = {0}, text = {0};
    Code c = {.u = u, .out = &body, .indent = 4, .where = CODE_KERNEL, .only = rows->needed};
    region_begin(&r);
    for (int i = 0; i < r.bufs.len; i++)
        for (int k = 0; k < r.bufs.data[i]->rank; k++) use_temp(&r, r.bufs.data[i]->extent[k]);
    param(&r, "int64_t ", "fsm_n", "fsm_n"), param(&r, "unsigned *__restrict__ ", "fsm_key", "fsm_key");
    plain_params(&r);
    extent_params(&r);
    code_line(host, "unsigned *const fsm_key = call.alloc<unsigned>(fsm_n);");
    code_line(host, "if (!fsm_key) return call.code();");
    code_line(&c, "for (int64_t fsm_i = fsm::thread_number(); fsm_i < fsm_n; fsm_i += fsm::thread_count()) {");
    c.indent += 4;
    kernel_iteration(&c, loop, "fsm_i");
    for (int i = 0; i < loop->body->stmts.len; i++) code_stmt(&c, loop->body->stmts.data[i], loop->body);
    code_line(&c, "fsm_key[fsm_i] = unsigned(fsm::is_index(%s, %s) ? %s : %s);", row, places, row, places);
    c.indent -= 4;
    code_line(&c, "}");
    const char *name = next_name(u);
    host_launch(host, name, "fsm::shape(fsm_n).blocks, fsm::BLOCK", print_kernel(&r, name, &c));
    region_end(&r);

    r = (Region){.host = host, .u = u, .n = 1, .stmts = &loop, .grid = loop, .blocks = true, .rows = true};
    c = (Code){.u = u, .out = &text, .indent = 4, .where = CODE_KERNEL, .fail = "return;", .order = "0"};
    region_begin(&r);
    code_line(host, "const fsm::Rows fsm_rows = fsm::sort_rows(call, fsm_n, %s, fsm_key);", places);
    code_line(host, "const fsm::Shape fsm_shape = fsm::block_shape(fsm_rows.parts(), %s);", inner);
    param(&r, "fsm::Rows ", "fsm_rows", "fsm_rows");
    plain_params(&r);
    extent_params(&r);
    begin_threads(&r, &c);
    code_line(&c, "for (int64_t fsm_part = blockIdx.x; fsm_part < fsm_rows.parts(); fsm_part += gridDim.x) {");
    code_line(&c, "    for (int64_t fsm_k = fsm_rows.first(fsm_part); fsm_k < fsm_rows.end(fsm_part); fsm_k++) {");
    c.indent += 8;
    code_line(&c, "__syncthreads();");
    code_line(&c, "const int64_t fsm_i = fsm_rows.item[fsm_k], fsm_row = fsm_rows.row[fsm_k];");
    for (int k = 0; k < g->ncopies; k++) {
        const Buf *b = g->copy[k];
        const char *type = cuda_element(b->kind), *array = expr_buf(u, b), *length = rows_length(u, b);
        const char *to = expr_text(u->arena, "%s_to", array), *beside = expr_text(u->arena, "%s_beside", array);
        code_line(host, "%s *const %s = call.alloc<%s>(fsm::count_of(fsm_rows.parts(), %s));", type, beside, type, length);
        code_line(
            host,
            "if (call.code() || call.check(cudaMemsetAsync(%s, 0, size_t(fsm_rows.parts() * %s) * sizeof *%s, call.stream()))) "
            "return call.code();",
            beside, length, beside);
        param(&r, expr_text(u->arena, "%s *", type), to, array), param(&r, expr_text(u->arena, "%s *", type), beside, beside);
        code_line(&c, "%s *const %s = fsm_rows.begun(fsm_part, fsm_row) ? %s + (fsm_part - fsm_row) * %s : %s;", type, array,
                  beside, length, to);
    }
    kernel_iteration(&c, loop, "fsm_i");
    block_code(&c, loop, loop->body);
    c.indent -= 8;
    code_line(&c, "    }");
    code_line(&c, "}");
    name = next_name(u);
    host_launch(host, name, "fsm_shape.blocks, fsm_shape.block", print_kernel(&r, name, &c));
    for (int k = 0; k < g->ncopies; k++) {
        const Buf *b = g->copy[k];
        const char *array = expr_buf(u, b);
        host_launch(
            host, expr_text(u->arena, "fsm::add_beside<%s>", cuda_element(b->kind)), "fsm_shape.blocks, fsm_shape.block",
            expr_text(u->arena, "%s, fsm_rows, %s, %s, %s_beside, %s", kernel_errors(u), places, array, array, rows_length(u, b)));
    }
    str_free(&body), str_free(&text);
    region_end(&r);
}

// Reads of the device what the host has to know of it; notes how large the arrays of a thread are.
static const char *prepare_grid(Code *host, Stmt *loop) {
    Unit *u = host->u;
    Grid *g = loop->grid;
    Region r = {.host = host, .u = u, .n = 1, .stmts = &loop, .grid = loop};
    for (int i = 0; i < g->ncopies; i++)
        for (int k = 0; k < g->copy[i]->rank; k++) host_read(host, g->copy[i]->extent[k]);
    for (int k = 0; k < g->depth; k++)
        for (int i = 0; i < grid_loop(loop, k)->nargs; i++) host_read(host, grid_loop(loop, k)->args[i]);
    region_begin(&r);
    const char *bytes = own_bytes(&r);
    region_end(&r);
    return bytes;
}

// Of the elements that inner loops read: those along a row that the iteration has to itself, and those that neighbouring iterations
// have side by side.
static void count_reads(const Block *b, Temp index, Temp along, int *rows, int *columns) {
    for (int i = 0; b && i < b->stmts.len; i++) {
        const Stmt *s = b->stmts.data[i];
        if (s->kind == ST_LOAD && s->nargs && along >= 0) {
            bool own = false;
            for (int k = 0; k + 1 < s->nargs; k++) own |= s->args[k] == index;
            *rows += own && s->args[s->nargs - 1] == along;
            *columns += s->args[s->nargs - 1] == index;
        }
        count_reads(s->body, index, s->kind == ST_FOR ? s->dst : along, rows, columns);
        count_reads(s->other, index, along, rows, columns);
    }
}

static bool reads_rows(Stmt *loop) {
    const Stmt *last = grid_loop(loop, loop->grid->depth - 1);
    int rows = 0, columns = 0;
    count_reads(last->body, last->dst, -1, &rows, &columns);
    return rows > columns;
}

void kernel_grid(Code *host, Stmt *loop) {
    Unit *u = host->u;
    const char *bytes = prepare_grid(host, loop), *n = NULL, *inner = NULL, *otherwise = "";
    Shares shares;
    Rows of_rows;
    for (int k = 0; k < loop->grid->depth; k++) {
        const char *trips = kernel_trips(u, grid_loop(loop, k));
        n = n ? expr_text(u->arena, "%s, %s", n, trips) : trips;
    }
    code_line(host, "{");
    host->indent += 4;
    code_line(host, "const auto fsm_mark = call.mark();");
    code_line(host, "const int64_t fsm_n = fsm::count_of(%s);", n);
    bool lists = shares_find(u, loop, &shares), blocks = block_can(u, loop, &inner), rows = blocks && rows_find(u, loop, &of_rows);
    if (lists && shares.nrows) print_counts(host, loop, &shares);
    if (product_print(host, loop)) otherwise = "} else ";
    if (rows) {
        code_line(host, "%sif (%s) {", otherwise, rows_test(u, loop, &of_rows, inner));
        host->indent += 4;
        print_rows(host, loop, inner, &of_rows);
        host->indent -= 4;
        otherwise = "} else ";
    }
    if (lists) {
        code_line(host, "%sif (%s) {", otherwise, shares.nrows ? "fsm_lists" : shares_test(u, &shares));
        host->indent += 4;
        print_grid(host, loop, NULL, &shares);
        host->indent -= 4;
        otherwise = "} else ";
    }
    if (blocks) {
        code_line(host, "%sif (fsm::by_blocks(fsm_n, %s, %s%s)) {", otherwise, inner, bytes, reads_rows(loop) ? ", true" : "");
        host->indent += 4;
        print_grid(host, loop, inner, NULL);
        host->indent -= 4;
        otherwise = "} else ";
    }
    if (*otherwise) code_line(host, "} else {");
    if (*otherwise) host->indent += 4;
    print_grid(host, loop, NULL, NULL);
    if (*otherwise) host->indent -= 4;
    if (*otherwise) code_line(host, "}");
    code_line(host, "call.release(fsm_mark);");
    host->indent -= 4;
    code_line(host, "}");
}

// ---- a loop around grids, by one block

void kernel_fold(Code *host, Stmt *loop, const char *grids, const char *steps) {
    Unit *u = host->u;
    Region r = {.host = host, .u = u, .n = 1, .stmts = &loop, .grid = loop, .blocks = true, .fold = true};
    Str body = {0};
    Code c = {.u = u, .out = &body, .indent = 4, .where = CODE_KERNEL, .fail = "return;", .order = "0"};
    const char *i = expr_temp(u, loop->dst);
    region_begin(&r);
    code_line(host, "const auto fsm_mark = call.mark();");
    code_line(host, "const fsm::Shape fsm_shape = fsm::fold_shape({%s});", grids);
    param(&r, "int64_t ", "fsm_from", "fsm_from"), param(&r, "int64_t ", "fsm_to", "fsm_to");
    plain_params(&r);
    extent_params(&r);
    note_atomic(&c.atomic, loop);
    begin_threads(&r, &c);
    code_line(&c, "for (int64_t %s = fsm_from; %s < fsm_to; %s++) {", i, i, i);
    c.indent += 4;
    code_line(&c, "__syncthreads();");
    block_code(&c, loop, loop->body);
    c.indent -= 4;
    code_line(&c, "}");
    for (int k = 0; k < r.set.len; k++) {
        const char *name = expr_temp(u, r.set.data[k]);
        code_line(&c, "if (threadIdx.x == 0) fsm_frame->%s = %s;", name, name);
    }
    const char *name = next_name(u), *args = print_kernel(&r, name, &c);
    code_line(host, "for (int64_t fsm_from = %s, fsm_end = %s, fsm_to; fsm_from < fsm_end; fsm_from = fsm_to) {",
              loop->nargs > 1 ? expr_temp(u, loop->args[1]) : "0", expr_temp(u, loop->args[0]));
    host->indent += 4;
    code_line(host, "if (call.poll()) return call.code();");
    code_line(host, "fsm_to = fsm::fold_end(fsm_from, fsm_end, fsm::count_of(%s));", steps);
    host_launch(host, name, "fsm_shape.blocks, fsm_shape.block", args);
    host->indent -= 4;
    code_line(host, "}");
    code_line(host, "call.release(fsm_mark);");
    map_free(&c.step), map_free(&c.atomic);
    str_free(&body);
    region_end(&r);
}
