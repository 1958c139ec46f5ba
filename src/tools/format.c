// The formatter walks the syntax tree and takes the source's tokens in order, so no token is made or lost. What it
// decides is where lines are broken:
//   - an author's line breaks stay after `=`, `->`, `then` and `else`, before `else`, at infix operators, and between
//     the elements of arrays and tuples; all others are made by what fits;
//   - a block goes on the line of what opens it, or whole on lines of its own, two columns further in;
//   - a last argument that is a function stays on the line of its call, and only its body goes below.
#include "tools/format.h"

#include "front/layout.h"
#include "tools/format_internal.h"

#include "fsm.tab.h"

// ---- pieces

static const Doc *text(Format *f, const char *s) { return doc_text(f->arena, s); }
static const Doc *space(Format *f) { return doc_space(f->arena); }
static const Doc *line(Format *f) { return doc_line(f->arena); }
static const Doc *nest(Format *f, const Doc *d) { return doc_nest(f->arena, FORMAT_INDENT, d); }
static const Doc *group(Format *f, const Doc *d) { return doc_group(f->arena, d); }
static const Doc *nothing(Format *f) { return doc_cat(f->arena, 0, NULL); }
static const Doc *joined(Format *f, Docs *d) {
    const Doc *all = doc_cat(f->arena, d->len, d->data);
    vec_free(d);
    return all;
}
#define CAT(...) DOC_CAT(f->arena, __VA_ARGS__)

// The next token, and whether a new line stands before it.
static const SourceToken *next(const Format *f) { return &f->tokens.token[f->next]; }
static bool at(const Format *f, int kind) { return next(f)->kind == kind; }
static bool on_new_line(const Format *f) { return f->next > 0 && next(f)->line != next(f)[-1].line; }

// ---- tokens

static const Doc *comments_behind(Format *f, const SourceToken *t, const Doc *d) {
    const char *all = NULL;
    for (int i = 0; i < t->ncomments; i++)
        if (t->comment[i].place == COMMENT_BEHIND)
            all = all ? arena_printf(f->arena, "%s %s", all, t->comment[i].text) : t->comment[i].text;
    return all ? CAT(d, doc_comment(f->arena, all, false)) : d;
}

// The comments that stand before t, further right than it if they seem to belong to what was above.
static void comments_before(Format *f, const SourceToken *t, bool blanks, bool first, Docs *out) {
    for (int i = f->seen; i < t->ncomments; i++) {
        const Comment *c = &t->comment[i];
        if (c->place == COMMENT_BEHIND) continue;
        if (blanks && c->blank && !(first && !out->len)) vec_push(out, doc_blank(f->arena));
        if (c->place == COMMENT_BEFORE && !blanks) {
            bool sign = f->next > 0 && (t[-1].kind == MINUS || t[-1].kind == PLUS); // `(- (**)` is not `(-(**)`
            vec_push(out, CAT(sign ? space(f) : nothing(f), text(f, c->text), space(f)));
            continue;
        }
        const Doc *d = doc_comment(f->arena, c->text, true);
        bool inner = c->place == COMMENT_OWN_LINE && c->column > t->column;
        vec_push(out, inner && (blanks || t->kind == ELSE || t->kind == ELIF) ? nest(f, d) : d);
        vec_push(out, doc_newline(f->arena));
    }
    f->seen = t->ncomments;
}

const Doc *format_before_item(Format *f, bool first) {
    Docs d = {0};
    const SourceToken *t = next(f);
    comments_before(f, t, true, first, &d);
    if (t->blank && !(first && !d.len)) vec_push(&d, doc_blank(f->arena));
    return joined(f, &d);
}

// Takes the next token.
static const Doc *token(Format *f) {
    const SourceToken *t = next(f);
    Docs d = {0};
    comments_before(f, t, false, false, &d);
    vec_push(&d, text(f, arena_strndup(f->arena, f->src->text + t->begin, t->end - t->begin)));
    if (f->next < f->tokens.n - 1) f->next++; // not past the end, whatever the tree says: the result is compared
    f->seen = 0;
    const Doc *all = joined(f, &d);
    return f->next < f->tokens.n ? comments_behind(f, t + 1, all) : all;
}

// Takes the next token for its comments only.
static const Doc *drop_token(Format *f) {
    const SourceToken *t = next(f);
    const Doc *d = nothing(f);
    for (int i = 0; i < t->ncomments; i++)
        if (t->comment[i].place != COMMENT_BEHIND)
            d = CAT(d, doc_comment(f->arena, t->comment[i].text, t->comment[i].place == COMMENT_OWN_LINE));
    f->next++, f->seen = 0;
    return comments_behind(f, t + 1, d);
}

static bool is_word(int k) {
    return k == NAME || k == INT || k == REAL || k == STRING || k == TRUE || k == FALSE || k == WILD || k == INT_MIN_MAGNITUDE ||
           k == STAR_SECTION || k == RPAREN || k == RBRACK || k == RARRAY || k == GT;
}

// Whether a space stands between two tokens of a pattern, a type or an attribute.
static bool spaced(const SourceToken *a, const SourceToken *b, bool sign) {
    int k = a->kind, n = b->kind;
    if (((k == LPAREN || k == LPAREN_CALL) && n == STAR) || (k == STAR && n == RPAREN))
        return true; // not `(*)`, which is one token
    if (n == COMMA || n == RPAREN || n == RBRACK || n == LINDEX || n == LPAREN_CALL || n == SEMI) return false;
    if (k == LPAREN || k == LPAREN_CALL || k == LBRACK || k == LINDEX || k == LATTR || k == BANG) return false;
    if (k == PMINUS || (k == MINUS && sign)) return n == MINUS || n == PMINUS;
    if (k == DOTDOT || n == DOTDOT || n == LT || k == LT || n == GT) return false;
    if (n == LBRACK) return !is_word(k); // the `[` of a type
    return n != COLON;
}

// Tokens up to (not including) index `end`, on one line but for breaks after commas.
static const Doc *tokens_to(Format *f, int end) {
    Docs d = {0};
    const Doc *first = nothing(f);
    bool sign = true; // a minus sign here has no left operand
    while (f->next < end) {
        const SourceToken *t = next(f);
        const Doc *one = token(f);
        if (d.len) vec_push(&d, one);
        else first = one, vec_push(&d, nothing(f));
        if (f->next < end && t->kind == COMMA) vec_push(&d, group(f, line(f)));
        else if (f->next < end && spaced(t, next(f), sign)) vec_push(&d, space(f));
        sign = !is_word(t->kind);
    }
    const Doc *rest = nest(f, joined(f, &d));
    return doc_align(f->arena, CAT(first, rest));
}

// The index of the next token of that kind outside brackets.
static int find(const Format *f, int kind) {
    int i = f->next;
    while (i < f->tokens.n - 1 && f->tokens.token[i].kind != kind) {
        const SourceToken *t = &f->tokens.token[i];
        i = t->partner > i ? t->partner + 1 : i + 1;
    }
    return i;
}

// The index of the first token at or behind a place in the source.
static int index_at(const Format *f, uint32_t place) {
    int i = f->next;
    while (i < f->tokens.n - 1 && f->tokens.token[i].begin < place) i++;
    return i;
}

// ---- what is put together

// A form with a part at its end that can go on lines below while the head stays: head, block and closers are NULL if
// there is none. `all` prints it as it is best alone.
typedef struct Form {
    const Doc *all, *head, *block, *closers;
    bool open; // ends in a block: what follows on the same line would belong to that
} Form;

static Form expr(Format *f, const Expr *e, uint32_t end);
static Form block_of(Format *f, const Expr *e, uint32_t end);

static Form plain(const Doc *d) { return (Form){.all = d}; }

// The form with its head on one line, or as `otherwise`.
static Form hugging(Format *f, const Doc *head, Form tail, const Doc *closers, const Doc *otherwise) {
    if (doc_is_broken(head) || doc_is_broken(closers)) return plain(otherwise);
    Form out = {.head = head, .block = tail.block, .closers = closers};
    out.all = doc_choice(f->arena, CAT(doc_flat(f->arena, head), tail.block, closers), otherwise);
    return out;
}

// What follows an opener of a block.
static const Doc *below(Format *f, Form b, bool forced) {
    if (forced) return nest(f, CAT(doc_newline(f->arena), b.all));
    const Doc *hug = b.head ? CAT(doc_flat(f->arena, b.head), b.block, b.closers) : NULL;
    return doc_hang(f->arena, FORMAT_INDENT, hug, b.all);
}

// The block after the opener just taken, printed as `opener`.
static const Doc *opened_block(Format *f, const Expr *e, uint32_t end, const Doc *opener) {
    bool forced = on_new_line(f) || doc_ends_line(opener);
    return below(f, block_of(f, e, end), forced);
}

// ---- bindings

static const Doc *attribute(Format *f) {
    const Doc *d = tokens_to(f, next(f)->partner + 1);
    return CAT(d, on_new_line(f) ? doc_newline(f->arena) : space(f));
}

// One parameter or pattern, or a comma between patterns; with the space before it that it takes.
static const Doc *parameter(Format *f, bool first) {
    const SourceToken *t = next(f);
    bool tight = t->kind == COMMA || t->kind == LPAREN_CALL, below = !first && on_new_line(f);
    const Doc *d = tokens_to(f, t->partner > f->next ? t->partner + 1 : f->next + 1);
    return first ? d : group(f, CAT(tight ? nothing(f) : below ? doc_newline(f->arena) : line(f), d));
}

// `let`, `entry` or `extern` and what it binds, up to the token `eq`.
static const Doc *signature(Format *f, int eq) {
    Docs rest = {0};
    const Doc *head = token(f), *name = parameter(f, true);
    head = CAT(head, space(f), name);
    bool tight = at(f, COMMA) || at(f, LPAREN_CALL);
    while (f->next < eq && !at(f, COLON)) {
        const Doc *d = parameter(f, !rest.len);
        vec_push(&rest, d);
    }
    if (f->next < eq) {
        const Doc *before = rest.len && on_new_line(f) ? doc_newline(f->arena) : line(f), *colon = token(f);
        vec_push(&rest, group(f, CAT(before, colon, space(f), tokens_to(f, eq))));
        tight |= rest.len == 1;
    }
    if (rest.len) {
        const Doc *all = joined(f, &rest);
        head = CAT(head, tight ? nothing(f) : space(f), doc_align(f->arena, all));
    }
    return head;
}

static const Doc *binding_head(Format *f) {
    const Doc *head = signature(f, find(f, EQ));
    return doc_nest(f->arena, 2 * FORMAT_INDENT, CAT(head, space(f), token(f)));
}

// A whole binding with the attribute before it.
static const Doc *binding(Format *f, const Expr *bound) {
    const Doc *attr = nothing(f);
    if (at(f, LATTR)) {
        attr = attribute(f);
        if (bound->kind == EX_ATTR) bound = bound->args[0];
    }
    const Doc *head = binding_head(f);
    bool forced = on_new_line(f) || doc_ends_line(head) || doc_width(head) > f->width;
    return CAT(attr, head, below(f, block_of(f, bound, bound->span.end), forced));
}

// Whether a parenthesis that stands next encloses e, whose text ends at `end`.
static bool in_parentheses(const Format *f, const Expr *e, uint32_t end) {
    const SourceToken *t = next(f);
    if ((t->kind != LPAREN && t->kind != LPAREN_CALL) || t->partner < 0) return false;
    if (f->tokens.token[t->partner].end != end) return false;
    int inside = t->partner - f->next - 1;
    return !(e->kind == EX_UNIT && inside == 0) && !(e->kind == EX_SECTION && inside == 1 && t[1].kind != STAR_SECTION);
}

// Items of a block: `let`s and a last expression.
static Form block_of(Format *f, const Expr *e, uint32_t end) {
    Docs d = {0};
    bool flat = next(f)->line == f->tokens.token[index_at(f, end) - 1].line, items = false;
    for (; e->kind == EX_LET && !in_parentheses(f, e, end); e = e->args[1], items = true) {
        vec_push(&d, format_before_item(f, !items));
        vec_push(&d, binding(f, e->args[0]));
        if (at(f, IN)) vec_push(&d, drop_token(f));
        vec_push(&d, flat ? doc_line_or(f->arena, " in ") : doc_newline(f->arena));
    }
    const Doc *before = format_before_item(f, !items);
    Form last = expr(f, e, end);
    if (!items && !doc_is_broken(before)) {
        vec_free(&d);
        return last;
    }
    vec_push(&d, before);
    vec_push(&d, last.all);
    return (Form){.all = group(f, joined(f, &d)), .open = last.open};
}

// ---- expressions

static Form parenthesised(Format *f, const Expr *e) {
    const SourceToken *close = &f->tokens.token[next(f)->partner];
    const Doc *open = token(f);
    Form inner = block_of(f, e, close[-1].end);
    const Doc *end = token(f), *all = CAT(open, doc_align(f->arena, inner.all), end);
    if (doc_ends_line(open)) return plain(CAT(open, nest(f, CAT(doc_newline(f->arena), inner.all)), end));
    if (!inner.head) return plain(all);
    return hugging(f, CAT(open, inner.head), inner, CAT(inner.closers, end), all);
}

static Form lambda(Format *f, const Expr *e) {
    const Doc *fun = token(f), *params = tokens_to(f, find(f, ARROW)), *arrow = token(f);
    const Doc *head = doc_align(f->arena, doc_nest(f->arena, 2 * FORMAT_INDENT, CAT(fun, space(f), params, space(f), arrow)));
    const Doc *block = opened_block(f, e->args[0], e->args[0]->span.end, arrow);
    Form out = {.all = CAT(head, block), .open = true};
    if (doc_is_broken(head)) return out;
    out.head = head, out.block = block, out.closers = nothing(f);
    return out;
}

// A loop is the application of a built-in function whose last function is the body.
static Form loop(Format *f, const Expr *e) {
    bool counts = e->args[1]->nparams == 2; // ifold; else whileLoop
    const Expr *body = e->args[counts ? 1 : 2]->args[0], *bound = counts ? e->args[3] : e->args[1]->args[0];
    const Doc *head = tokens_to(f, find(f, counts ? FOR : WHILE));
    head = CAT(head, space(f), token(f), space(f));
    if (counts) head = CAT(head, tokens_to(f, find(f, LT)), space(f), token(f), space(f));
    head = CAT(head, expr(f, bound, bound->span.end).all);
    const Doc *word = token(f);
    const Doc *block = opened_block(f, body, body->span.end, word);
    Form out = {.all = CAT(head, space(f), word, block), .open = true};
    if (doc_is_broken(head)) return out;
    out.head = CAT(head, space(f), word), out.block = block, out.closers = nothing(f);
    return out;
}

enum { SHORT = 40 }; // columns of the arguments that may stand behind a function on its last line

// One argument that is a function may go on below, if what follows it is short.
static Form application(Format *f, const Expr *e) {
    Form last = expr(f, e->args[0], e->args[0]->span.end), function = {0};
    const Doc *head = last.all, *first = last.all, *after = nothing(f);
    Docs broken = {0};
    int functions = 0;
    for (int i = 1; i < e->nargs; i++) {
        bool tight = at(f, LPAREN_CALL), open = last.open;
        last = expr(f, e->args[i], e->args[i]->span.end);
        const Doc *before = tight ? nothing(f) : space(f);
        vec_push(&broken, open ? doc_newline(f->arena) : tight ? before : line(f));
        vec_push(&broken, last.all);
        if (last.head && !functions++) function = last, head = CAT(head, before, last.head);
        else if (functions) after = CAT(after, before, last.all), functions += open;
        else head = CAT(head, before, last.all);
    }
    const Doc *all = group(f, CAT(first, nest(f, joined(f, &broken))));
    bool hugs = functions == 1 && !doc_is_broken(after) && doc_width(after) <= SHORT;
    Form out = hugs ? hugging(f, head, function, CAT(function.closers, doc_flat(f->arena, after)), all) : plain(all);
    out.open = last.open;
    return out;
}

static int precedence(BinOp op) {
    switch (op) {
    case BIN_OR: return 1;
    case BIN_AND: return 2;
    case BIN_ADD:
    case BIN_SUB: return 4;
    case BIN_MUL:
    case BIN_DIV:
    case BIN_MOD: return 5;
    case BIN_POW: return 6;
    default: return 3;
    }
}

// Operands of one precedence are one list.
static Form chain(Format *f, const Expr *e) {
    VEC(const Expr *) spine = {0};
    int prec = precedence(e->binop);
    for (;; e = e->args[0]) {
        vec_push(&spine, e);
        const Expr *left = e->args[0];
        if (prec == 6 || left->kind != EX_BINARY || precedence(left->binop) != prec) break;
        if (in_parentheses(f, left, left->span.end)) break;
    }
    Form last = expr(f, e->args[0], e->args[0]->span.end);
    const Doc *head = last.all, *first = last.all;
    Docs broken = {0};
    bool forced = false;
    while (spine.len) {
        e = vec_pop(&spine);
        forced |= on_new_line(f) || last.open;
        const Doc *op = token(f);
        forced |= on_new_line(f);
        last = expr(f, e->args[1], e->args[1]->span.end);
        vec_push(&broken, CAT(line(f), op, space(f), last.all));
        head = CAT(head, space(f), op, space(f), spine.len || !last.head ? last.all : last.head);
    }
    vec_free(&spine);
    const Doc *rest = nest(f, joined(f, &broken));
    const Doc *all = forced ? CAT(first, doc_break(f->arena, rest)) : group(f, CAT(first, rest));
    bool hugs = last.head && doc_is_broken(last.block) && !forced;
    Form out = hugs ? hugging(f, head, last, last.closers, all) : plain(all);
    out.open = last.open;
    return out;
}

static Form unary(Format *f, const Expr *e) {
    bool word = at(f, NOT);
    const Doc *op = token(f);
    bool sign = at(f, MINUS) || at(f, PMINUS);
    Form a = expr(f, e->args[0], e->args[0]->span.end);
    return (Form){.all = CAT(op, word || sign ? space(f) : nothing(f), nest(f, a.all)), .open = a.open};
}

static Form conditional(Format *f, const Expr *e) {
    Docs d = {0};
    for (bool more = true; more; e = e->args[2]) {
        const Doc *keyword = token(f), *cond = expr(f, e->args[0], e->args[0]->span.end).all, *then = token(f);
        const Doc *head = CAT(keyword, space(f), doc_nest(f->arena, 2 * FORMAT_INDENT, cond), space(f), then);
        vec_push(&d, doc_align(f->arena, head));
        vec_push(&d, opened_block(f, e->args[1], e->args[1]->span.end, then));
        vec_push(&d, on_new_line(f) ? doc_newline(f->arena) : line(f));
        more = at(f, ELIF);
        if (more) continue;
        const Doc *otherwise = token(f);
        vec_push(&d, otherwise);
        more = at(f, IF) && e->args[2]->kind == EX_IF && !on_new_line(f) && !doc_ends_line(otherwise);
        vec_push(&d, more ? space(f) : opened_block(f, e->args[2], e->args[2]->span.end, otherwise));
    }
    return (Form){.all = group(f, joined(f, &d)), .open = true};
}

// Elements with what separates them; line breaks stay, and more are made where they do not fit.
static const Doc *elements(Format *f, int n, Expr *const *e, bool *open) {
    Docs d = {0};
    for (int i = 0; i < n; i++) {
        Form one = expr(f, e[i], e[i]->span.end);
        vec_push(&d, one.all);
        bool separated = at(f, COMMA) || at(f, SEMI);
        if (separated) vec_push(&d, token(f));
        *open = one.open;
        if (i == n - 1) break;
        vec_push(&d, on_new_line(f) || !separated ? doc_newline(f->arena) : group(f, line(f)));
    }
    return joined(f, &d);
}

static Form array(Format *f, const Expr *e) {
    bool open;
    const Doc *begin = token(f);
    if (!e->nargs) return plain(CAT(begin, token(f)));
    const Doc *all = elements(f, e->nargs, e->args, &open), *end = token(f);
    return plain(CAT(begin, space(f), doc_align(f->arena, all), space(f), end));
}

static const Doc *index_item(Format *f, const IndexItem *item) {
    if (!item->slice) return expr(f, item->at, item->at->span.end).all;
    const Doc *lo = item->lo ? expr(f, item->lo, item->lo->span.end).all : nothing(f), *dots = token(f);
    const Doc *hi = item->hi ? expr(f, item->hi, item->hi->span.end).all : nothing(f);
    bool wide = (item->lo && item->lo->kind == EX_BINARY) || (item->hi && item->hi->kind == EX_BINARY);
    return CAT(lo, wide && item->lo ? space(f) : nothing(f), dots, wide && item->hi ? space(f) : nothing(f), hi);
}

static Form indexing(Format *f, const Expr *e) {
    const Doc *base = expr(f, e->args[0], e->args[0]->span.end).all, *open = token(f);
    Docs d = {0};
    for (int i = 0; i < e->nitems; i++) {
        vec_push(&d, index_item(f, &e->items[i]));
        if (i == e->nitems - 1) break;
        vec_push(&d, token(f));
        vec_push(&d, group(f, line(f)));
    }
    const Doc *items = joined(f, &d);
    return plain(CAT(base, open, doc_align(f->arena, items), token(f)));
}

static Form bracket(Format *f, const Expr *e) {
    const SourceToken *close = &f->tokens.token[next(f)->partner];
    const Doc *open = token(f), *inner = block_of(f, e->args[0], close[-1].end).all;
    return plain(CAT(open, doc_align(f->arena, inner), token(f)));
}

static Form annotation(Format *f, const Expr *e, uint32_t end) {
    const Doc *a = expr(f, e->args[0], e->args[0]->span.end).all, *colon = token(f);
    return plain(CAT(a, space(f), colon, space(f), tokens_to(f, index_at(f, end))));
}

static Form attributed(Format *f, const Expr *e) {
    const Doc *attr = attribute(f);
    Form inner = expr(f, e->args[0], e->args[0]->span.end);
    Form out = {.all = CAT(attr, inner.all), .open = inner.open};
    if (!inner.head || doc_is_broken(attr)) return out;
    out.head = CAT(attr, inner.head), out.block = inner.block, out.closers = inner.closers;
    return out;
}

// A `let` inside an expression, which its `in` ends.
static Form operand_let(Format *f, const Expr *e) {
    const Doc *let = binding(f, e->args[0]), *in = token(f);
    const Doc *body = opened_block(f, e->args[1], e->args[1]->span.end, in);
    return (Form){.all = group(f, CAT(let, space(f), in, body)), .open = true};
}

// e, whose text ends at `end`.
static Form expr(Format *f, const Expr *e, uint32_t end) {
    if (in_parentheses(f, e, end)) return parenthesised(f, e);
    switch (e->kind) {
    case EX_LAMBDA: return lambda(f, e);
    case EX_APP: return at(f, LOOP) && e->args[0]->ival ? loop(f, e) : application(f, e);
    case EX_LET: return operand_let(f, e);
    case EX_IF: return conditional(f, e);
    case EX_TUPLE: {
        Form out = {0};
        out.all = elements(f, e->nargs, e->args, &out.open);
        return out;
    }
    case EX_ARRAY: return array(f, e);
    case EX_INDEX: return indexing(f, e);
    case EX_BRACKET: return bracket(f, e);
    case EX_BINARY: return chain(f, e);
    case EX_UNARY: return unary(f, e);
    case EX_ANNOT: return annotation(f, e, end);
    case EX_ATTR: return attributed(f, e);
    default: return plain(tokens_to(f, index_at(f, end)));
    }
}

const Doc *format_decl(Format *f, const Decl *d) {
    if (d->body) return binding(f, d->body);
    if (d->kind == DECL_EXTERN) return signature(f, index_at(f, d->span.end));
    return tokens_to(f, index_at(f, d->span.end));
}
