// Statements that one thread runs: in a kernel, or on the host where it runs a whole tree alone.
#include "cuda/print.h"

#include "fsmc/runtime.h"
#include "lower/idle.h"

#include <stdarg.h>

enum { LOCAL_BYTES = 512 }; // of an array that a thread has to itself, and not in memory that is made for it

void code_line(Code *c, const char *format, ...) {
    va_list ap;
    va_start(ap, format);
    str_indent(c->out, c->indent);
    str_puts(c->out, arena_vprintf(c->u->arena, format, ap));
    str_putc(c->out, '\n');
    va_end(ap);
}

bool code_is_local(const Unit *u, const Buf *b) {
    int64_t bytes = (int64_t)kind_size(b->kind);
    for (int k = 0; k < b->rank; k++) {
        const Stmt *s = u->def[b->extent[k]];
        if (!s || s->kind != ST_LIT || s->u.num < 0 || s->u.num > LOCAL_BYTES) return false;
        bytes *= s->u.num;
        if (bytes > LOCAL_BYTES) return false;
    }
    return true;
}

// ---- scalars

// May the text of a value stand in the place of its only use? Not where it would be computed again, nor what depends on when.
static bool stands_inside(const Unit *u, const Stmt *s, const Block *in, size_t length) {
    enum { LONG = 72 };
    if (s->kind != ST_OP && s->kind != ST_CONV && s->kind != ST_SELECT) return false;
    return u->uses[s->dst] == 1 && u->user[s->dst] == in && !u->frame[s->dst] && length < LONG;
}

static void define(Code *c, const Stmt *s, const Block *in) {
    Unit *u = c->u;
    if (s->kind == ST_LIT || s->kind == ST_ARG) {
        u->text[s->dst] = expr_value(u, s);
        return;
    }
    const char *value = s->kind == ST_LOAD ? NULL : expr_value(u, s);
    if (value && stands_inside(u, s, in, strlen(value))) {
        u->text[s->dst] = expr_text(u->arena, "(%s)", value);
        return;
    }
    u->text[s->dst] = NULL;
    if (value) code_line(c, "const %s %s = %s;", cuda_type(unit_kind(u, s->dst)), expr_temp(u, s->dst), value);
}

// ---- checks

// Fails with a code and a text unless `ok` holds; values are those of the text, each after a comma.
static void code_failure(Code *c, const char *ok, int code, const char *where, const char *text, int n, const char *values) {
    Unit *u = c->u;
    where = expr_string(u->arena, where), text = expr_string(u->arena, text);
    if (c->where == CODE_ALONE) {
        code_line(c, "if (!%s) return fsm_fail(ctx, %d, %s, %s, %d%s);", ok, code, where, text, n, values);
        return;
    }
    str_printf(&u->sites, "    {%d, %s, %s},\n", code, where, text);
    if (c->where == CODE_HOST) {
        code_line(c, "if (!%s) return call.fail(%d%s);", ok, u->nsites++, values);
        return;
    }
    code_line(c, "if (!%s) {", ok);
    code_line(c, "    fsm::cuda::fail(fsm_errors, %s, %d%s);", c->order, u->nsites++, values);
    code_line(c, "    %s", c->fail);
    code_line(c, "}");
    c->fails = u->failing = true;
}

static void check(Code *c, const Stmt *s) {
    Unit *u = c->u;
    const char *ok = expr_temp(u, s->args[0]), *values = "";
    if (!strcmp(ok, "true")) return;
    for (int k = 1; k < s->nargs; k++) {
        const char *v = expr_temp(u, s->args[k]);
        bool real = kind_is_float(unit_kind(u, s->args[k]));
        if (c->where == CODE_ALONE) v = expr_text(u->arena, real ? "int64_t(fsm::cuda::value_bits(%s))" : "int64_t(%s)", v);
        values = expr_text(u->arena, "%s, %s", values, v);
    }
    code_failure(c, ok, s->u.check->code, diag_line(u->arena, s->u.check->span), s->u.check->text, s->nargs - 1, values);
}

// ---- arrays

static const char *element(Code *c, const Buf *b, const Temp *index) {
    Unit *u = c->u;
    const char *step = map_get(&c->step, b), *at = expr_place(u, b, index);
    return step ? expr_text(u->arena, "%s[(%s) * %s]", expr_buf(u, b), at, step)
                : expr_text(u->arena, "%s[%s]", expr_buf(u, b), at);
}

static const char *as_element(Unit *u, Kind k, const char *value) {
    return k == KIND_BOOL ? expr_text(u->arena, "uint8_t(%s)", value) : value;
}

static void load(Code *c, const Stmt *s) {
    Unit *u = c->u;
    u->text[s->dst] = NULL;
    const char *from = element(c, s->buf, s->args), *in = NULL;
    for (int k = 0; c->only && k < s->buf->rank; k++) {
        const char *is = expr_text(u->arena, "fsm::is_index(%s, %s)", expr_temp(u, s->args[k]), expr_temp(u, s->buf->extent[k]));
        in = in ? expr_text(u->arena, "%s && %s", in, is) : is;
    }
    if (in) from = expr_text(u->arena, "(%s ? %s : 0)", in, from);
    code_line(c, "const %s %s = %s%s;", cuda_type(s->buf->kind), expr_temp(u, s->dst), from,
              s->buf->kind == KIND_BOOL ? " != 0" : "");
}

static void store(Code *c, const Stmt *s) {
    Unit *u = c->u;
    for (int i = 0; c->shares && i < c->shares->n; i++)
        if (c->shares->site[i].add == s) {
            shares_note(c, i, &c->shares->site[i], expr_place(u, s->buf, s->args + 1), expr_temp(u, s->args[0]));
            return;
        }
    const char *to = element(c, s->buf, s->args + 1), *value = expr_temp(u, s->args[0]);
    if (s->kind == ST_ADDTO && map_get(&c->atomic, s->buf)) code_line(c, "fsm::add_at_once(&%s, %s);", to, value);
    else if (s->kind == ST_STORE) code_line(c, "%s = %s;", to, as_element(u, s->buf->kind, value));
    else if (kind_is_float(s->buf->kind)) code_line(c, "%s += %s;", to, value);
    else code_line(c, "%s = %s;", to, expr_op(u->arena, OP_add, s->buf->kind, to, value));
}

// Filling and copying element by element.
static void all_elements(Code *c, const Stmt *s) {
    Unit *u = c->u;
    const char *to = expr_buf(u, s->buf), *step = map_get(&c->step, s->buf), *from_step = s->src ? map_get(&c->step, s->src) : NULL;
    const char *value = s->src ? expr_text(u->arena, from_step ? "%s[fsm_e * %s]" : "%s[fsm_e]", expr_buf(u, s->src), from_step)
                               : as_element(u, s->buf->kind, expr_temp(u, s->args[0]));
    code_line(c, "for (int64_t fsm_e = 0, fsm_all = %s; fsm_e < fsm_all; fsm_e++) %s[fsm_e%s%s] = %s;", expr_count(u, s->buf, NULL),
              to, step ? " * " : "", step ? step : "", value);
}

// An array that comes into being while a thread runs: memory of the thread's own.
static void new_array(Code *c, const Stmt *s) {
    Unit *u = c->u;
    const Buf *b = s->buf;
    const char *name = expr_buf(u, b), *type = cuda_element(b->kind);
    if (u->seen_buf[b->id] == u->stamp && c->where == CODE_KERNEL) return; // it is among the kernel's arguments
    if (code_is_local(u, b)) {
        int64_t n = 1;
        for (int k = 0; k < b->rank; k++) n *= u->def[b->extent[k]]->u.num;
        code_line(c, "%s %s[%lld];", type, name, (long long)(n ? n : 1));
        return;
    }
    code_line(c, "const fsm::Memory<%s> %s_memory(%s);", type, name, expr_count(u, b, NULL));
    u->heap |= c->where == CODE_KERNEL;
    code_failure(c, expr_text(u->arena, "%s_memory.ok()", name), FSM_ERROR_MEMORY, "",
                 c->where == CODE_KERNEL
                     ? "out of device memory: %d bytes asked for an array of a thread, the heap of all threads has %d"
                     : "out of memory: %d bytes for an intermediate array",
                 1, expr_text(u->arena, ", %s_memory.bytes()", name));
    code_line(c, "[[maybe_unused]] %s *const %s = %s_memory.data();", type, name, name);
}

// ---- loops and branches

bool code_breaks(const Block *b, bool in_for) {
    for (int i = 0; b && i < b->stmts.len; i++) {
        const Stmt *s = b->stmts.data[i];
        if (s->kind == ST_BREAK && in_for) return true;
        if (s->kind == ST_LOOP) continue;
        if (code_breaks(s->body, in_for || s->kind == ST_FOR) || code_breaks(s->other, in_for)) return true;
    }
    return false;
}

static void inside(Code *c, const Block *b) {
    c->indent += 4;
    code_block(c, b);
    c->indent -= 4;
}

// When a loop does anything; NULL: always, or the host does not know.
static const char *works(const Code *c, const Works *w) {
    Unit *u = c->u;
    const char *left, *right;
    switch (w->kind) {
    case WORKS_NEVER: return "false";
    case WORKS_ALWAYS: return NULL;
    case WORKS_NONZERO:
        if (c->where != CODE_KERNEL && u->device[w->extent]) return NULL;
        return expr_text(u->arena, "%s != 0", expr_temp(u, w->extent));
    default: break;
    }
    const bool both = w->kind == WORKS_BOTH;
    left = works(c, w->left), right = works(c, w->right);
    if (!left || !right) return !both ? NULL : left ? left : right;
    return expr_text(u->arena, both ? "(%s && %s)" : "(%s || %s)", left, right);
}

void code_loop_head(Code *c, const Stmt *s) {
    Unit *u = c->u;
    if (s->kind == ST_LOOP) {
        code_line(c, "for (;;) {");
        return;
    }
    // the version for sizes of at least 1 has no such rows
    const char *i = expr_temp(u, s->dst), *when = NULL;
    if (!u->func->ir->positive) when = works(c, loop_works(u->arena, u->tree, u->def, s));
    code_line(c, "for (int64_t %s = %s; %s < %s%s%s; %s++) {", i, s->nargs > 1 ? expr_temp(u, s->args[1]) : "0", i,
              expr_temp(u, s->args[0]), when ? " && " : "", when ? when : "", i);
}

static void loop(Code *c, const Stmt *s) {
    if (s->kind == ST_LOOP && code_breaks(s->body, false))
        fatal_bug("%s: a break from the middle of a counted loop", c->u->name);
    code_loop_head(c, s);
    inside(c, s->body);
    code_line(c, "}");
}

static void branch(Code *c, const Stmt *s) {
    code_line(c, "if (%s) {", expr_temp(c->u, s->args[0]));
    if (s->body) inside(c, s->body);
    if (s->other && s->other->stmts.len) {
        code_line(c, "} else {");
        inside(c, s->other);
    }
    code_line(c, "}");
}

void code_stmt(Code *c, const Stmt *s, const Block *in) {
    Unit *u = c->u;
    if (unit_is_dead(u, s) || (c->only && (s->dst < 0 || s->kind == ST_FOR || !c->only[s->dst]))) return;
    switch (s->kind) {
    case ST_LIT:
    case ST_ARG:
    case ST_OP:
    case ST_CONV:
    case ST_SELECT:
    case ST_GET: define(c, s, in); break;
    case ST_CELL:
        code_line(c, "%s%s %s = %s;", u->uses[s->dst] ? "" : "[[maybe_unused]] ", cuda_type(unit_kind(u, s->dst)),
                  expr_temp(u, s->dst), expr_temp(u, s->args[0]));
        break;
    case ST_SET: code_line(c, "%s = %s;", expr_temp(u, s->dst), expr_temp(u, s->args[0])); break;
    case ST_NEW: new_array(c, s); break;
    case ST_FILL:
    case ST_COPY: all_elements(c, s); break;
    case ST_LOAD: load(c, s); break;
    case ST_STORE:
    case ST_ADDTO: store(c, s); break;
    case ST_FETCH: break;
    case ST_OUT:
        code_line(c, "*%s = %s;", u->params[u->func->ninputs + s->u.num],
                  as_element(u, unit_kind(u, s->args[0]), expr_temp(u, s->args[0])));
        break;
    case ST_FOR:
    case ST_LOOP: loop(c, s); break;
    case ST_BREAK: code_line(c, "if (!%s) break;", expr_temp(u, s->args[0])); break;
    case ST_IF: branch(c, s); break;
    case ST_CHECK: check(c, s); break;
    case ST_EXTERN:
    case ST_PARAM:
    case ST_CALL:
    case ST_PROC:
    case ST_MOVE:
    case ST_CHUNK:
    case ST_THREADS: fatal_bug("%s: statement %d in CUDA code", u->name, (int)s->kind);
    }
}

void code_block(Code *c, const Block *b) {
    for (int i = 0; b && i < b->stmts.len; i++) code_stmt(c, b->stmts.data[i], b);
}
