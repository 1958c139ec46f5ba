// Loop trees as text: the short form, for people (--emit=loops), and the complete form, which tree_read.c reads (--emit=tree). What
// the forms have in common stands once; of the complete form are kinds where operands do not tell them, literals as statements, the
// marks of tree_marks.def, places, and names that stand for one thing each.
#include "lower/tree_internal.h"
#include "support/place.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

// ---- what both forms of text, and the reader, know

#define ANY     UINT32_MAX
#define ON(of)  (1u << ST_##of)
#define OF_STMT Stmt
#define OF_TEMP TempInfo
#define OF_BUF  Buf
const TreeMark tree_marks[] = {
#define MARK(of, name, field, count, value, on)                                                                                    \
    {#name, MARK_##of, MARK_##value, offsetof(OF_##of, field), offsetof(OF_##of, count), on},
#include "lower/tree_marks.def"
    {NULL, MARK_STMT, MARK_FLAG, 0, 0, 0},
};

void *mark_field(const TreeMark *m, Stmt *s, TempInfo *t) {
    char *of = m->of == MARK_STMT ? (char *)s : m->of == MARK_TEMP ? (char *)t : (char *)s->buf;
    return of && (m->on >> s->kind & 1) ? of + m->field : NULL;
}

const char *const tree_words[] = {
    "for",    "loop",   "if",    "else",   "var", "new",  "fill",  "copy",      "move",    "fetch",
    "break",  "check",  "out",   "of",     "to",  "from", "dim",   "arg",       "chunk",   "threads",
    "extern", "unless", "input", "output", "end", "doc",  "param", "result",    "extents", "any",
    "true",   "false",  "inf",   "inff",   "nan", "nanf", "none",  "elsewhere", "top",     "proc",
    "call",   NULL,
};

static bool is_digits(const char *p) {
    if (!*p) return false;
    while (isdigit((unsigned char)*p)) p++;
    return !*p;
}

bool tree_name_is_numbered(const char *name, int *length) {
    static const char *const without[] = {"t", "c", "b", "in", "out"};
    for (size_t k = 0; k < sizeof without / sizeof *without; k++) {
        size_t n = strlen(without[k]);
        if (!strncmp(name, without[k], n) && is_digits(name + n)) return *length = -1, true;
    }
    const char *dot = strrchr(name, '.');
    if (!dot || !is_digits(dot + 1 + (dot[1] == 'b'))) return false;
    *length = (int)(dot - name);
    return true;
}

int tree_kind_of(const Tree *t, const Stmt *s) {
    const TempInfo *temp = t->temps.data;
    switch (s->kind) {
    case ST_LIT: return temp[s->dst].kind == KIND_INT32 ? KIND_INT : (int)temp[s->dst].kind;
    case ST_ARG: return (int)t->func->inputs[s->u.num]->kind;
    case ST_OP: {
        OpType type = op_info[s->op].type;
        return type == T_CMP ? KIND_BOOL : (int)temp[s->args[type == T_PSI ? 1 : 0]].kind;
    }
    case ST_EXTERN: return s->nout ? KIND_INT : -1;
    case ST_PARAM: return -1;
    case ST_CONV: return (int)temp[s->dst].kind;
    case ST_SELECT: return (int)temp[s->args[1]].kind;
    case ST_CELL:
    case ST_GET: return (int)temp[s->args[0]].kind;
    case ST_LOAD: return (int)s->buf->kind;
    default: return KIND_INT;
    }
}

// ---- names

typedef struct Printer {
    const Tree *t;
    Str *out;
    const Stmt **lit;   // by temp: the literal that defines it, which stands in its place; NULL: literals are statements
    const char **names; // all names in use, sorted
    int nnames;
    // Of the complete form:
    bool complete, places; // also where statements come from
    int *temp, *buf;       // numbers, from 1, in order of definition
    int *undefined;        // the number of the last temp; those that nothing defines, but extents name, come last
    Map *block;            // Block * -> the loop whose body it is, or its label, that arrays have it for home
    PlaceWriter *place;
} Printer;

// Where a block is: the body of a loop, or one with a label.
typedef struct Place {
    const Stmt *loop;
    int label; // 0: none, since nothing names it; -1: the whole tree
} Place;

static int by_name(const void *a, const void *b) { return strcmp(*(const char *const *)a, *(const char *const *)b); }

static void find_literals(Printer *p, const Block *b) {
    if (!b) return;
    for (int i = 0; i < b->stmts.len; i++) {
        const Stmt *s = b->stmts.data[i];
        if (s->kind == ST_LIT) p->lit[s->dst] = s;
        find_literals(p, s->body);
        find_literals(p, s->other);
    }
}

// Those that something makes, in the complete form.
static void collect_names(Printer *p) {
    const Tree *t = p->t;
    p->names = malloc(sizeof *p->names * (size_t)(t->temps.len + t->bufs.len + 1));
    if (!p->names) diag_out_of_memory();
    for (int i = 0; i < t->temps.len; i++)
        if (t->temps.data[i].name && (!p->complete || p->temp[i])) p->names[p->nnames++] = t->temps.data[i].name;
    for (int i = 0; i < t->bufs.len; i++)
        if (t->bufs.data[i]->name && (!p->complete || p->buf[i])) p->names[p->nnames++] = t->bufs.data[i]->name;
    if (p->nnames) qsort(p->names, (size_t)p->nnames, sizeof *p->names, by_name);
}

static bool is_unique(const Printer *p, const char *name) {
    const char **at = bsearch(&name, p->names, (size_t)p->nnames, sizeof *p->names, by_name);
    if (!at) return true;
    if (at > p->names && !strcmp(at[-1], name)) return false;
    return at + 1 == p->names + p->nnames || strcmp(at[1], name);
}

// A name by itself, which text of the complete form reads as such.
static bool is_plain_name(const char *name) {
    int length;
    if (!isalpha((unsigned char)*name) && *name != '_') return false;
    for (const char *p = name; *p; p++)
        if (!isalnum((unsigned char)*p) && !strchr("_.'", *p)) return false;
    if (tree_name_is_numbered(name, &length)) return false;
    for (int k = 0; tree_words[k]; k++)
        if (!strcmp(name, tree_words[k])) return false;
    for (Kind k = KIND_BOOL; k <= KIND_DOUBLE; k++)
        if (!strcmp(name, kind_name(k))) return false;
    return true;
}

// A name with a number, quoted where it is not one word.
static void print_numbered(Str *out, const char *name, const char *before, int number) {
    bool word = isalpha((unsigned char)*name) || *name == '_';
    for (const char *p = name; *p; p++) word &= isalnum((unsigned char)*p) || strchr("_.'", *p);
    str_printf(out, word ? "%s.%s%d" : "`%s.%s%d`", name, before, number);
}

static bool can_be_quoted(const char *name) { return !strpbrk(name, "`\n"); }

static void print_lit(Str *out, Kind k, const Stmt *s) {
    if (k == KIND_BOOL) str_puts(out, s->u.num ? "true" : "false");
    else if (k == KIND_INT) str_printf(out, "%lld", (long long)s->u.num);
    else {
        if (isnan(s->u.real) && signbit(s->u.real)) str_putc(out, '-');
        str_double(out, s->u.real);
        if (k == KIND_FLOAT) str_putc(out, 'f');
    }
}

static void print_temp_completely(const Printer *p, Temp i) {
    const TempInfo *info = &p->t->temps.data[i];
    bool defined = p->temp[i] && p->temp[i] <= p->undefined[-1];
    if (!p->temp[i]) p->temp[i] = ++*p->undefined;
    if (!info->name || !can_be_quoted(info->name)) str_printf(p->out, "%c%d", info->cell ? 'c' : 't', p->temp[i]);
    else if (defined && is_unique(p, info->name) && is_plain_name(info->name)) str_puts(p->out, info->name);
    else print_numbered(p->out, info->name, "", p->temp[i]);
}

static void print_temp(const Printer *p, Temp i) {
    const TempInfo *info = &p->t->temps.data[i];
    if (p->complete) print_temp_completely(p, i);
    else if (p->lit[i]) print_lit(p->out, info->kind, p->lit[i]);
    else if (!info->name) str_printf(p->out, "%c%d", info->cell ? 'c' : 't', i);
    else if (is_unique(p, info->name)) str_puts(p->out, info->name);
    else str_printf(p->out, "%s_%d", info->name, i);
}

static void print_temps(const Printer *p, int n, const Temp *temps) {
    for (int k = 0; k < n; k++) {
        if (k) str_puts(p->out, ", ");
        print_temp(p, temps[k]);
    }
}

static void print_buf(const Printer *p, const Buf *b) {
    const bool named = b->name && (!p->complete || can_be_quoted(b->name));
    if (p->complete && named && !(is_unique(p, b->name) && is_plain_name(b->name)))
        print_numbered(p->out, b->name, "b", p->buf[b->id]);
    else if (p->complete && !named && b->where != BUF_INPUT && b->where != BUF_OUTPUT)
        str_printf(p->out, "b%d", p->buf[b->id]);
    else if (named && is_unique(p, b->name)) str_puts(p->out, b->name);
    else if (b->where == BUF_OUTPUT) str_printf(p->out, "out%d", b->number);
    else if (b->where == BUF_INPUT) str_printf(p->out, "in%d", b->number);
    else if (named) str_printf(p->out, "%s_b%d", b->name, b->id);
    else str_printf(p->out, "b%d", b->id);
}

static void print_element(const Printer *p, const Buf *b, const Temp *idx) {
    print_buf(p, b);
    str_putc(p->out, '[');
    print_temps(p, b->rank, idx);
    str_putc(p->out, ']');
}

static void print_op(const Printer *p, const Stmt *s) {
    const OpInfo *info = &op_info[s->op];
    if (info->form == FSM_IN) {
        print_temp(p, s->args[0]);
        str_printf(p->out, " %s ", info->sym);
        print_temp(p, s->args[1]);
    } else if (info->form == FSM_PRE) {
        str_puts(p->out, info->sym);
        print_temp(p, s->args[0]);
    } else {
        str_printf(p->out, "%s(", info->sym);
        print_temps(p, s->nargs, s->args);
        str_putc(p->out, ')');
    }
}

static void print_check(const Printer *p, const Stmt *s) {
    str_puts(p->out, "check ");
    print_temp(p, s->args[0]);
    str_printf(p->out, " else %d ", s->u.check->code);
    if (p->complete) str_quoted(p->out, s->u.check->text);
    else str_printf(p->out, "\"%s\"", s->u.check->text);
    if (s->nargs > 1) {
        str_puts(p->out, " (");
        print_temps(p, s->nargs - 1, s->args + 1);
        str_putc(p->out, ')');
    }
    if (p->complete) place_write(p->place, p->out, s->u.check->span);
}

// Its name and type.
static void print_declared(const Printer *p, const Buf *b) {
    print_buf(p, b);
    str_printf(p->out, ": %s[", kind_name(b->kind));
    print_temps(p, b->rank, b->extent);
    str_putc(p->out, ']');
}

static void print_new(const Printer *p, const Buf *b) {
    str_puts(p->out, "new ");
    print_declared(p, b);
}

static void print_call(const Printer *p, const Stmt *s) {
    if (s->kind == ST_CALL) str_printf(p->out, "call %lld(", (long long)s->u.num);
    else str_printf(p->out, "extern %s(", s->u.name);
    int first = p->complete ? s->nin - s->nout : s->nin; // of what is named after the call
    for (int k = 0, scalars = 0; k < s->nin; k++) {
        str_puts(p->out, k == first ? ") to " : k ? ", " : "");
        if (s->in[k]) print_buf(p, s->in[k]);
        else print_temp(p, s->args[scalars++]);
    }
    if (first == s->nin) str_putc(p->out, ')');
}

// Everything that stands on the line of a statement without a body.
static void print_simple(const Printer *p, const Stmt *s) {
    Str *out = p->out;
    switch (s->kind) {
    case ST_CELL: str_puts(out, "var "); break;
    case ST_STORE:
    case ST_ADDTO: print_element(p, s->buf, s->args + 1); break;
    case ST_OUT: str_printf(out, p->complete ? "out %lld" : "out%lld", (long long)s->u.num); break;
    case ST_NEW: print_new(p, s->buf); return;
    case ST_FILL:
        str_puts(out, "fill ");
        print_buf(p, s->buf);
        break;
    case ST_COPY:
        str_puts(out, "copy ");
        print_buf(p, s->buf);
        break;
    case ST_MOVE:
        str_puts(out, "move ");
        print_temp(p, s->args[1]);
        str_puts(out, " of ");
        print_buf(p, s->src);
        str_puts(out, " to ");
        print_buf(p, s->buf);
        str_puts(out, " from ");
        print_temp(p, s->args[0]);
        if (p->complete) str_printf(out, " dim %lld", (long long)s->u.num);
        return;
    case ST_FETCH:
        str_puts(out, "fetch ");
        print_temp(p, s->args[0]);
        str_puts(out, " from ");
        print_element(p, s->buf, s->args + 1);
        return;
    case ST_BREAK:
        str_puts(out, "break unless ");
        print_temp(p, s->args[0]);
        return;
    case ST_CHECK: print_check(p, s); return;
    case ST_CALL: print_call(p, s); return;
    default: break;
    }
    if (s->dst >= 0) print_temp(p, s->dst);
    if (p->complete && s->dst >= 0 && s->kind != ST_SET && (int)p->t->temps.data[s->dst].kind != tree_kind_of(p->t, s))
        str_printf(out, ": %s", kind_name(p->t->temps.data[s->dst].kind));
    str_puts(out, s->kind == ST_ADDTO ? " += " : " = ");
    switch (s->kind) {
    case ST_LIT: print_lit(out, tree_kind_of(p->t, s), s); break;
    case ST_ARG: str_printf(out, "arg %lld", (long long)s->u.num); break;
    case ST_OP: print_op(p, s); break;
    case ST_EXTERN: print_call(p, s); break;
    case ST_PARAM: str_printf(out, "param %lld", (long long)s->u.num); break;
    case ST_THREADS: str_puts(out, "threads()"); break;
    case ST_CHUNK:
        str_puts(out, "chunk(");
        print_temps(p, s->nargs, s->args);
        str_printf(out, ", %lld)", (long long)s->u.num);
        break;
    case ST_CONV:
        str_printf(out, "%s(", kind_name(p->t->temps.data[s->dst].kind));
        print_temp(p, s->args[0]);
        str_putc(out, ')');
        break;
    case ST_SELECT:
        print_temp(p, s->args[0]);
        str_puts(out, " ? ");
        print_temp(p, s->args[1]);
        str_puts(out, " : ");
        print_temp(p, s->args[2]);
        break;
    case ST_LOAD: print_element(p, s->buf, s->args); break;
    case ST_COPY: print_buf(p, s->src); break;
    default: print_temp(p, s->args[0]);
    }
}

// ---- marks

static bool is_set(const TreeMark *m, const Stmt *s, const void *field) {
    switch (m->value) {
    case MARK_BUFS: return *(const int *)((const char *)s + m->count);
    case MARK_FLAG: return *(const bool *)field;
    case MARK_INT: return *(const int *)field;
    case MARK_LONG:
    case MARK_STEP: return *(const int64_t *)field;
    case MARK_HOME: return true;
    default: return *(void *const *)field;
    }
}

static void print_bufs(const Printer *p, const char *word, int n, Buf *const *bufs) {
    if (word && !n) return;
    if (word) str_printf(p->out, ", %s ", word);
    str_putc(p->out, '[');
    for (int k = 0; k < n; k++) {
        if (k) str_puts(p->out, ", ");
        print_buf(p, bufs[k]);
    }
    str_putc(p->out, ']');
}

static void print_grid(const Printer *p, const Grid *g) {
    str_printf(p->out, "(%sdepth %d", g->inner ? "inner, " : "", g->depth);
    for (int k = 0; k < g->nsums; k++) {
        str_printf(p->out, "%s%s ", k ? ", " : ", joins [", op_info[g->by[k]].name);
        print_temp(p, g->cell[k]);
    }
    if (g->nsums) str_putc(p->out, ']');
    print_bufs(p, "copies", g->ncopies, g->copy);
    print_bufs(p, "atomics", g->natomics, g->atomic);
    str_putc(p->out, ')');
}

static void print_recurrence(const Printer *p, const Recurrence *r) {
    const char *const name[] = {"state", "first", "second", "before"};
    Buf *const buf[] = {r->state, r->first, r->second, r->before};
    str_puts(p->out, r->between ? "(between " : "(affine ");
    if (r->state) str_puts(p->out, "rows");
    else print_temp(p, r->cell);
    for (int k = 0; k < 4; k++) {
        if (!buf[k]) continue;
        str_printf(p->out, ", %s ", name[k]);
        print_buf(p, buf[k]);
    }
    str_putc(p->out, ')');
}

static void print_wishes(const Printer *p, const Wishes *w) {
    const char *before = "(";
    for (int k = 0; k < WISH_COUNT; k++) {
        if (!w->of[k]) continue;
        str_printf(p->out, "%s%s", before, wish_info[k].name);
        if (wish_info[k].number) str_printf(p->out, " %" PRId64, w->of[k]->number);
        if (p->places) place_write(p->place, p->out, w->of[k]->span);
        before = ", ";
    }
    str_puts(p->out, *before == '(' ? "()" : ")");
}

static void print_home(const Printer *p, const Buf *b) {
    const Place *place = b->home ? map_get(p->block, b->home) : NULL;
    if (!b->home) str_puts(p->out, "none");
    else if (!place) str_puts(p->out, "elsewhere");
    else if (place->loop) print_temp(p, place->loop->dst);
    else if (place->label < 0) str_puts(p->out, "top");
    else str_printf(p->out, "%d", place->label);
}

static void print_simple(const Printer *p, const Stmt *s);

static void print_value(const Printer *p, const TreeMark *m, const Stmt *s, const void *field) {
    switch (m->value) {
    case MARK_FLAG: return;
    case MARK_INT: str_printf(p->out, "%d", *(const int *)field); return;
    case MARK_STEP:
        if (*(const int64_t *)field == STEP_ANY) {
            str_puts(p->out, "any");
            return;
        } // fall through
    case MARK_LONG: str_printf(p->out, "%" PRId64, *(const int64_t *)field); return;
    case MARK_TEMPS:
        str_putc(p->out, '[');
        print_temps(p, *(const int *)((const char *)s + m->count), *(Temp *const *)field);
        str_putc(p->out, ']');
        return;
    case MARK_BUFS: print_bufs(p, NULL, *(const int *)((const char *)s + m->count), *(Buf * *const *)field); return;
    case MARK_BUFFER: print_buf(p, *(Buf *const *)field); return;
    case MARK_HOME: print_home(p, s->buf); return;
    case MARK_STATEMENT:
        str_putc(p->out, '(');
        print_simple(p, *(Stmt *const *)field);
        str_putc(p->out, ')');
        return;
    case MARK_GRID: print_grid(p, *(Grid *const *)field); return;
    case MARK_RECURRENCE: print_recurrence(p, *(Recurrence *const *)field); return;
    case MARK_WISHES: print_wishes(p, *(const Wishes *const *)field); return;
    }
}

// around: the block with the statement.
static void print_marks(const Printer *p, const Stmt *s, const Block *around) {
    TempInfo *t = s->dst >= 0 && s->kind != ST_SET ? &p->t->temps.data[s->dst] : NULL;
    for (const TreeMark *m = tree_marks; p->complete && m->name; m++) {
        const void *field = mark_field(m, (Stmt *)s, t);
        if (!field || !is_set(m, s, field) || (m->value == MARK_HOME && s->buf->home == around)) continue;
        str_printf(p->out, " #%s", m->name);
        if (m->value != MARK_FLAG) str_putc(p->out, ' ');
        print_value(p, m, s, field);
    }
    if (p->places && s->kind != ST_CHECK) place_write(p->place, p->out, s->span);
}

// ---- statements with a body

static void print_block(const Printer *p, const Block *b, int indent);

static void print_body(const Printer *p, const Block *b, int indent) {
    const Place *place = p->complete && b ? map_get(p->block, b) : NULL;
    if (place && place->label > 0) str_printf(p->out, " #block %d", place->label);
    str_puts(p->out, " {\n");
    print_block(p, b, indent + 2);
    str_indent(p->out, indent);
    str_putc(p->out, '}');
}

static const char *loop_word(const Stmt *s) {
    return s->grid         ? s->grid->inner ? "block for " : "grid for "
           : s->recurrence ? "scan for "
           : s->threads    ? "threads for "
           : s->lanes > 1  ? "blocks of lanes for "
           : s->masked     ? "masked lanes for "
           : s->lanes      ? "lanes for "
           : s->rows       ? "rows for "
           : s->few        ? "few for "
           : s->outer      ? "outer for "
                           : "for ";
}

static void print_for(const Printer *p, const Stmt *s, const Block *around, int indent) {
    str_puts(p->out, p->complete ? "for " : loop_word(s));
    print_temp(p, s->dst);
    if (s->nargs > 1) {
        str_puts(p->out, " = ");
        print_temp(p, s->args[1]);
    }
    str_puts(p->out, " < ");
    print_temp(p, s->args[0]);
    print_marks(p, s, around);
    if (s->streams && !p->complete) str_printf(p->out, ", past caches from %lld,", (long long)s->streams);
    if (s->whole && !s->from && !p->complete)
        str_puts(p->out, s->streams ? " else the next ones asked for," : ", the next ones asked for,");
    print_body(p, s->body, indent);
}

// `proc 0(x: Double[n], y: Double[]) to z: Double[n] { … }`
static void print_proc(const Printer *p, const Stmt *s, const Block *around, int indent) {
    int first = s->nin - s->nout;
    str_printf(p->out, "proc %lld(", (long long)s->u.num);
    for (int k = 0; k < s->nin; k++) {
        str_puts(p->out, k == first ? ") to " : k ? ", " : "");
        print_declared(p, s->in[k]);
    }
    if (first == s->nin) str_putc(p->out, ')');
    print_marks(p, s, around);
    print_body(p, s->body, indent);
}

static void print_stmt(const Printer *p, const Stmt *s, const Block *around, int indent) {
    switch (s->kind) {
    case ST_PROC: print_proc(p, s, around, indent); break;
    case ST_FOR: print_for(p, s, around, indent); break;
    case ST_LOOP:
        str_puts(p->out, "loop");
        print_marks(p, s, around);
        print_body(p, s->body, indent);
        break;
    case ST_IF:
        str_puts(p->out, "if ");
        print_temp(p, s->args[0]);
        print_marks(p, s, around);
        print_body(p, s->body, indent);
        if (s->other && (s->other->stmts.len || p->complete)) {
            str_puts(p->out, " else");
            print_body(p, s->other, indent);
        }
        break;
    default: print_simple(p, s); print_marks(p, s, around);
    }
}

static void print_block(const Printer *p, const Block *b, int indent) {
    for (int i = 0; b && i < b->stmts.len; i++) {
        const Stmt *s = b->stmts.data[i];
        if (s->kind == ST_LIT && !p->complete) continue;
        str_indent(p->out, indent);
        print_stmt(p, s, b, indent);
        str_putc(p->out, '\n');
        if (p->complete && b == p->t->body && i + 1 == p->t->prologue) str_puts(p->out, "  end\n");
    }
}

// ---- the short form

void tree_print_stmt(Str *out, const Tree *t, const Stmt *s) {
    Stmt bare = *s;
    bare.body = bare.other = NULL;
    Printer p = {.t = t, .out = out};
    p.lit = calloc((size_t)t->temps.len + 1, sizeof *p.lit);
    p.names = calloc(1, sizeof *p.names);
    if (!p.lit || !p.names) diag_out_of_memory();
    if (s->kind != ST_CHECK) print_stmt(&p, &bare, NULL, 0);
    free(p.lit);
    free(p.names);
}

static void print_tree(Str *out, const Tree *t, const char *when) {
    Printer p = {.t = t, .out = out};
    p.lit = calloc((size_t)t->temps.len + 1, sizeof *p.lit);
    if (!p.lit) diag_out_of_memory();
    find_literals(&p, t->body);
    collect_names(&p);
    str_printf(out, "loops %s(", t->func->name);
    for (int k = 0; k < t->func->ninputs; k++)
        str_printf(out, "%s%s", k ? ", " : "", t->func->inputs[k]->name ? t->func->inputs[k]->name : "_");
    str_printf(out, ")%s {\n", when);
    print_block(&p, t->body, 2);
    str_puts(out, "}\n");
    free(p.lit);
    free(p.names);
}

// ` of (k[_], pairs[_, 0])`
static void print_measured(Str *out, const Func *f) {
    for (int i = 0; i < f->ir->nmeasured; i++) {
        const Measured *x = &f->ir->measured[i];
        str_puts(out, i ? ", " : " of (");
        ir_print_extent(out, f->inputs[x->array]);
        for (int k = 0; k < x->rank; k++) {
            str_puts(out, k ? ", " : "[");
            if (x->at[k] < 0) str_putc(out, '_');
            else str_printf(out, "%" PRId64, x->at[k]);
        }
        str_putc(out, ']');
    }
    if (f->ir->nmeasured) str_putc(out, ')');
}

// What the version f assumes: ` for sizes >= 1, n >= 4, n - 4*h >= 0, least k >= 0`; so that it can be read, too:
// ` for sizes >= 1 of (k[_]), n >= 4, (sub n (mul 4 h)) >= 0, `least k` >= 0`.
static void print_assumed(Str *out, const Func *f, bool readable) {
    Assumption *all;
    int n = ir_assumptions(f, &all);
    str_puts(out, " for sizes >= 1");
    if (readable) print_measured(out, f);
    for (int i = 0; i < n; i++) {
        if (!all[i].says) continue;
        str_puts(out, ", ");
        if (readable) ir_print_extent(out, all[i].e);
        else ir_print_size(out, all[i].e);
        str_printf(out, " >= %" PRId64, all[i].least);
    }
}

void tree_print(Str *out, const Tree *t) {
    Str when = {0};
    if (t->otherwise) print_assumed(&when, t->func, false);
    print_tree(out, t, str_text(&when));
    str_free(&when);
    if (t->otherwise) print_tree(out, t->otherwise, " otherwise");
}

// ---- the complete form

static void number_block(Printer *p, const Block *b, int *temps, int *bufs) {
    for (int i = 0; b && i < b->stmts.len; i++) {
        const Stmt *s = b->stmts.data[i];
        if (s->dst >= 0 && s->kind != ST_SET) p->temp[s->dst] = ++*temps;
        if (s->kind == ST_NEW) p->buf[s->buf->id] = ++*bufs;
        for (int k = 0; s->kind == ST_PROC && k < s->nin; k++) p->buf[s->in[k]->id] = ++*bufs;
        number_block(p, s->body, temps, bufs);
        number_block(p, s->other, temps, bufs);
    }
}

// Labels the blocks that are homes of arrays which come into being elsewhere, and are not bodies of loops.
static void place_blocks(Printer *p, Arena *a, const Block *b, const Stmt *loop, const Map *homes, int *labels) {
    if (!b) return;
    Place *place = ARENA_NEW(a, Place);
    place->loop = loop;
    if (!loop) place->label = b == p->t->body ? -1 : map_get(homes, b) ? ++*labels : 0;
    map_put(p->block, b, place);
    for (int i = 0; i < b->stmts.len; i++) {
        const Stmt *s = b->stmts.data[i];
        place_blocks(p, a, s->body, s->kind == ST_FOR ? s : NULL, homes, labels);
        place_blocks(p, a, s->other, NULL, homes, labels);
    }
}

static void note_homes(const Block *b, Map *homes) {
    for (int i = 0; b && i < b->stmts.len; i++) {
        const Stmt *s = b->stmts.data[i];
        if (s->kind == ST_NEW && s->buf->home && s->buf->home != b) map_put(homes, s->buf->home, s->buf);
        note_homes(s->body, homes);
        note_homes(s->other, homes);
    }
}

static void print_sizes(const Printer *p) {
    const Func *f = p->t->func;
    if (f->ir->positive) print_assumed(p->out, f, true);
}

// Does it need a line? Outputs that are scalars have none.
static bool is_argument(const Buf *b) { return (b->where == BUF_INPUT || b->where == BUF_OUTPUT) && b->rank; }

static void print_arrays(const Printer *p) {
    for (int i = 0; i < p->t->bufs.len; i++) {
        const Buf *b = p->t->bufs.data[i];
        if (!is_argument(b)) continue;
        str_printf(p->out, "  %s %d ", b->where == BUF_INPUT ? "input" : "output", b->number);
        print_element(p, b, b->extent);
        str_putc(p->out, '\n');
    }
}

static void write_version(Str *out, const Tree *t, const char *word, PlaceWriter *place, bool places) {
    Map blocks = {0}, homes = {0};
    Arena *a = arena_new();
    int temps = 0, bufs = 0, labels = 0;
    Printer p = {.t = t, .out = out, .complete = true, .places = places, .block = &blocks, .place = place};
    p.temp = ARENA_ARRAY(a, int, t->temps.len + 1), p.buf = ARENA_ARRAY(a, int, t->bufs.len + 1);
    for (int i = 0; i < t->bufs.len; i++)
        if (is_argument(t->bufs.data[i])) p.buf[i] = ++bufs;
    number_block(&p, t->body, &temps, &bufs);
    note_homes(t->body, &homes);
    place_blocks(&p, a, t->body, NULL, &homes, &labels);
    int last[] = {temps, temps};
    p.undefined = &last[1];
    collect_names(&p);
    ir_print_signature(out, word, t->func);
    print_sizes(&p);
    if (places) place_write(place, out, t->func->span);
    str_puts(out, " {\n");
    ir_print_facts(out, t->func, place);
    print_arrays(&p);
    print_block(&p, t->body, 2);
    str_puts(out, "}\n");
    free(p.names);
    map_free(&blocks), map_free(&homes);
    arena_free(a);
}

static void write_tree(Str *out, const Tree *t, bool places) {
    PlaceWriter place = {0};
    write_version(out, t, "tree", &place, places);
    if (t->otherwise) write_version(out, t->otherwise, "otherwise", &place, places);
    if (t->sizes) write_version(out, t->sizes, "sizes", &place, places);
    place_writer_free(&place);
}

void tree_write(Str *out, const Tree *t) { write_tree(out, t, false); }
void tree_write_places(Str *out, const Tree *t) { write_tree(out, t, true); }
