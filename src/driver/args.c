#define _POSIX_C_SOURCE 200809L
#include "driver/args.h"

#include "driver/file.h"
#include "driver/json.h"
#include "driver/npy.h"
#include "ir/interp.h"
#include "support/random.h"

#include <ctype.h>
#include <string.h>
#include <unistd.h>

typedef struct Args {
    Arena *arena;
    Diag *diag;
    Span at; // of the call in a file of calls, or nowhere
    const Func *func;
    json_t **param;    // by parameter
    JsonShape **shape; // by parameter
    json_t **size;     // by size: set by name
    Tensor *input;     // by input
    const char **from; // by size: the argument that tells it, NULL while it is not known
    bool *known;       // by input: a size or a scalar Int argument whose value is there
} Args;

static bool is_integer(Kind k) { return k == KIND_INT || k == KIND_INT32; }

static const char *param_name(const Args *a, int k) {
    const char *name = a->func->params[k].name;
    return name ? name : arena_printf(a->arena, "#%d", k + 1);
}

// ---- collecting

// The place for the argument of that name; NULL after reporting that there is none.
static json_t **slot_named(Args *a, const char *name, Span at) {
    const Func *f = a->func;
    NameGuess guess = {.wanted = name};
    for (int k = 0; k < f->nparams; k++) {
        if (!strcmp(param_name(a, k), name)) return &a->param[k];
        name_guess(&guess, param_name(a, k));
    }
    for (int k = 0; k < f->nsizes; k++) {
        if (!strcmp(f->inputs[k]->name, name)) return &a->size[k];
        name_guess(&guess, f->inputs[k]->name);
    }
    diag_error(a->diag, at, "`%s` has no parameter `%s`", f->name, name);
    if (guess.best) diag_note(a->diag, at, "did you mean `%s`?", guess.best);
    return NULL;
}

// A bare number or word of the command line that JSON would not accept: `.5`, `+1`, `NaN`.
static json_t *bare_value(const char *text) {
    char *end;
    if (!strcmp(text, "NaN") || !strcmp(text, "Infinity") || !strcmp(text, "-Infinity")) return json_string(text);
    if (!*text || text[strspn(text, "0123456789+-.eE")]) return NULL;
    double x = strtod(text, &end);
    return *end ? NULL : json_real(x); // NULL if it is too large
}

static bool read_word(Args *a, const char *word) {
    const char *value = strchr(word, '=') + 1;
    const char *name = arena_strndup(a->arena, word, (size_t)(value - 1 - word));
    json_t **slot = slot_named(a, name, nowhere);
    if (!slot) return false;
    if (*slot) {
        diag_error(a->diag, nowhere, "argument `%s` is given twice", name);
        return false;
    }
    if (*value == '@') {
        const Source *text = file_read(a->arena, a->diag, value + 1);
        return text && (*slot = npy_is(value) ? npy_read(a->diag, text) : json_parse(a->diag, text));
    }
    Source *text = ARENA_NEW(a->arena, Source);
    *text = (Source){arena_printf(a->arena, "argument %s", name), value, strlen(value)};
    return (*slot = json_parse(NULL, text)) || (*slot = bare_value(value)) || (*slot = json_parse(a->diag, text));
}

// A parameter of type () takes no argument.
static bool takes_argument(const Args *a, int k) { return a->func->params[k].count > 0; }

static void count_arguments(const Args *a, size_t *all, size_t *missing) {
    *all = *missing = 0;
    for (int k = 0; k < a->func->nparams; k++) {
        *all += takes_argument(a, k);
        *missing += takes_argument(a, k) && !a->param[k];
    }
}

// What a message about arguments begins with whose place is not that of a call.
static const char *told_by(const Args *a, const Source *text) {
    return a->at.src ? "" : arena_printf(a->arena, "%s: ", text->name);
}

// The elements are the parameters that the command line does not set, or all of them.
static bool take_array(Args *a, const Source *text, const json_t *list) {
    size_t all, missing, count = json_array_size(list), i = 0;
    count_arguments(a, &all, &missing);
    if (count != all && count != missing) {
        diag_error(a->diag, a->at, "%s`%s` has %zu parameter%s, but the array has %zu element%s", told_by(a, text),
                   a->func->name, all, all == 1 ? "" : "s", count, count == 1 ? "" : "s");
        if (all == 1) diag_note(a->diag, a->at, "the outer array is the list of arguments: [[1, 2]] is one array");
        return false;
    }
    for (int k = 0; k < a->func->nparams; k++) {
        if (!takes_argument(a, k) || (count < all && a->param[k])) continue;
        if (!a->param[k]) a->param[k] = json_incref(json_array_get(list, i));
        i++;
    }
    return true;
}

static bool take_object(Args *a, json_t *all) {
    const char *name;
    json_t *value;
    bool ok = true;
    json_object_foreach(all, name, value) {
        json_t **slot = slot_named(a, arena_strdup(a->arena, name), a->at);
        ok &= slot != NULL;
        if (slot && !*slot) *slot = json_incref(value);
    }
    return ok;
}

static bool is_blank(const Source *s) {
    for (size_t i = 0; i < s->len; i++)
        if (!isspace((unsigned char)s->text[i])) return false;
    return true;
}

static bool read_all(Args *a, const Source *text, json_t *all) {
    if (!all) return false;
    bool ok = false;
    if (json_is_array(all)) ok = take_array(a, text, all);
    else if (json_is_object(all)) ok = take_object(a, all);
    else diag_error(a->diag, a->at, "%sexpected an array or an object of arguments", told_by(a, text));
    json_decref(all);
    return ok;
}

// Whether standard input has arguments. A terminal has them if a call cannot do without.
static bool has_input(const Options *opt, bool needed) {
    return opt->file && strcmp(opt->file, "-") && (needed || !isatty(STDIN_FILENO));
}

// From the place of the call. Or what is missing, from the text, or without one from standard input, which is read
// once, however many calls or entries have arguments there.
static bool read_rest(Args *a, Compilation *c, const Source *text, bool needed) {
    size_t all, missing;
    if (a->at.src) return read_all(a, a->at.src, json_parse_piece(a->diag, a->at));
    count_arguments(a, &all, &missing);
    if (!missing || (!text && !has_input(c->opt, needed))) return true;
    if (!text && !c->input) c->input = file_read(c->arena, a->diag, "-");
    if (!text) text = c->input;
    return text && (is_blank(text) || read_all(a, text, json_parse(a->diag, text)));
}

// What the words say, and then the rest; `needed`: a call needs all arguments.
static bool collect(Args *a, Compilation *c, const Source *text, bool needed) {
    bool ok = true;
    for (int i = 0; i < c->opt->words.len; i++) ok &= read_word(a, c->opt->words.data[i]);
    return ok && read_rest(a, c, text, needed);
}

// Reports arguments that are missing.
static bool complete(Args *a) {
    bool ok = true;
    for (int k = 0; k < a->func->nparams; k++) {
        if (a->param[k]) continue;
        if (!takes_argument(a, k)) {
            a->param[k] = json_array();
            continue;
        }
        diag_error(a->diag, a->at, "argument `%s` of `%s` is missing", param_name(a, k), a->func->name);
        ok = false;
    }
    return ok;
}

// ---- sizes

static void set_int(Args *a, int input, int64_t value) {
    a->input[input] = tensor_new(a->arena, KIND_INT, 0, NULL);
    *(int64_t *)a->input[input].data = value;
    a->known[input] = true;
}

// The value of an Int or Bool over sizes and scalar arguments; false if it is not known.
static bool evaluate(const Args *a, const Node *e, int64_t *out) {
    if (e->rank || kind_is_float(e->kind)) return false;
    int64_t x[3] = {0};
    if (e->op == OP_lit || e->op == OP_input) {
        if (e->op == OP_input && !a->known[e->u.num]) return false;
        *out = e->op == OP_lit ? e->u.num : tensor_get_int(&a->input[e->u.num], 0);
        return true;
    }
    if (!op_is_elementwise(e->op) && e->op != OP_select && e->op != OP_conv) return false;
    for (int i = 0; i < e->nargs; i++)
        if (!evaluate(a, e->args[i], &x[i])) return false;
    if (e->op == OP_select || e->op == OP_conv) {
        *out = e->op == OP_conv ? x[0] : x[0] ? x[1] : x[2];
        return true;
    }
    if ((e->op == OP_idiv || e->op == OP_irem) && x[1] == 0) return false;
    *out = scalar_op(e->op, e->args[0]->kind, (Scalar){.i = x[0]}, (Scalar){.i = x[1]}).i;
    return true;
}

static bool is_size(const Args *a, const Node *e) { return e && e->op == OP_input && e->u.num < a->func->nsizes; }

// Takes the sizes that stand alone as an extent from the lengths found there.
static void bind_sizes(Args *a, const JsonShape *s) {
    const Node *e = s->type->form == SIG_ARRAY ? s->type->extent : NULL;
    if (is_size(a, e) && s->length >= 0 && !a->known[e->u.num]) {
        set_int(a, (int)e->u.num, s->length);
        a->from[e->u.num] = s->first;
    }
    for (int i = 0; i < s->type->nparts; i++) bind_sizes(a, s->parts[i]);
}

static bool given_sizes(Args *a) {
    static const SigType size_type = {.form = SIG_SCALAR, .kind = KIND_INT};
    bool ok = true;
    for (int k = 0; k < a->func->nsizes; k++) {
        if (!a->size[k]) continue;
        const char *name = a->func->inputs[k]->name;
        JsonShape *s = json_measure(a->arena, a->diag, a->at, name, &size_type, a->size[k]);
        if (!s) {
            ok = false;
            continue;
        }
        json_leaves(a->arena, s, a->size[k], &a->input[k]);
        a->known[k] = true;
        if (tensor_get_int(&a->input[k], 0) >= 0) continue;
        diag_error(a->diag, a->at, "size `%s` is negative", name);
        ok = false;
    }
    return ok;
}

// ---- shapes

// The extents of s and the arrays directly inside it: what they should be, or what they are.
static const char *shape_text(const Args *a, const JsonShape *s, bool expected) {
    Str out = {0};
    for (; s->type->form == SIG_ARRAY; s = s->parts[0]) {
        int64_t n = s->length;
        const Node *e = s->type->extent;
        bool known = expected ? e && evaluate(a, e, &n) : n >= 0;
        if (known) str_printf(&out, "[%lld]", (long long)n);
        else str_puts(&out, expected && e && e->op == OP_input ? arena_printf(a->arena, "[%s]", e->name) : "[]");
    }
    const char *text = arena_strdup(a->arena, str_text(&out));
    str_free(&out);
    return text;
}

// Says which arguments tell the sizes in e.
static void note_sizes(const Args *a, const Node *e) {
    if (e->op == OP_input && e->u.num < a->func->nsizes && a->from[e->u.num])
        diag_note(a->diag, a->at, "%s is %lld because of `%s`", e->name,
                  (long long)tensor_get_int(&a->input[e->u.num], 0), a->from[e->u.num]);
    for (int i = 0; i < e->nargs; i++) note_sizes(a, e->args[i]);
}

// Compares the lengths with the extents of the types, and sets those that are not known.
static bool check_shape(const Args *a, JsonShape *s, const JsonShape *whole, const char *where) {
    bool ok = true;
    if (s->type->form == SIG_ARRAY) {
        int64_t n = 0;
        bool known = s->type->extent && evaluate(a, s->type->extent, &n);
        if (!whole) whole = s, where = s->first ? s->first : where;
        if (known && s->length >= 0 && s->length != n) {
            diag_error(a->diag, a->at, "argument `%s`: expected shape %s, got %s", where, shape_text(a, whole, true),
                       shape_text(a, whole, false));
            note_sizes(a, s->type->extent);
            return false;
        }
        if (s->length < 0) s->length = known && n > 0 ? n : 0;
    } else {
        whole = NULL;
    }
    for (int i = 0; i < s->type->nparts; i++) ok &= check_shape(a, s->parts[i], whole, where);
    return ok;
}

static bool measure_all(Args *a) {
    const Func *f = a->func;
    bool ok = true;
    for (int k = 0; k < f->nparams; k++) {
        const SigParam *p = &f->params[k];
        if (!a->param[k]) continue; // args_fill
        a->shape[k] = json_measure(a->arena, a->diag, a->at, param_name(a, k), p->type, a->param[k]);
        ok &= a->shape[k] != NULL;
        if (!a->shape[k] || p->type->form != SIG_SCALAR || !is_integer(p->type->kind)) continue;
        json_leaves(a->arena, a->shape[k], a->param[k], &a->input[p->first]);
        a->known[p->first] = true;
    }
    return ok;
}

static bool convert(Args *a) {
    const Func *f = a->func;
    if (!measure_all(a) || !given_sizes(a)) return false;
    for (int k = 0; k < f->nparams; k++) bind_sizes(a, a->shape[k]);
    for (int k = 0; k < f->nsizes; k++)
        if (!a->known[k]) set_int(a, k, 0); // only empty arrays have it
    bool ok = true;
    for (int k = 0; k < f->nparams; k++) ok &= check_shape(a, a->shape[k], NULL, param_name(a, k));
    for (int k = 0; k < f->nparams && ok; k++) json_leaves(a->arena, a->shape[k], a->param[k], &a->input[f->params[k].first]);
    return ok;
}

// ---- random arguments

static bool size_is_known(const Args *a, const Node *e, int64_t *n) { return e && evaluate(a, e, n); }

// A leaf of an argument that is not given.
static bool fill_leaf(Args *a, const ArgsFill *how, int input, int64_t smallest, Random *r) {
    static const int64_t most = (int64_t)1 << 31;
    const Node *e = a->func->inputs[input];
    int64_t *shape = ARENA_ARRAY(a->arena, int64_t, e->rank + 1), count = 1;
    for (int d = 0; d < e->rank; d++) {
        if (!size_is_known(a, e->shape[d], &shape[d]) || shape[d] < 0) {
            diag_error(a->diag, a->at, "no random argument `%s` has a possible size; give sizes or arguments", e->name);
            return false;
        }
        if (shape[d] && count > most / shape[d]) {
            diag_error(a->diag, a->at, "a random argument `%s` would have more than %lld elements", e->name,
                       (long long)most);
            return false;
        }
        count *= shape[d];
    }
    Tensor *t = &a->input[input];
    *t = tensor_new(a->arena, e->kind, e->rank, shape);
    for (int64_t i = 0; i < count; i++) {
        bool real = kind_is_float(e->kind);
        double x = real ? random_real(r, how->low, how->high)
                        : (double)random_int(r, 0, is_integer(e->kind) && smallest > 0 ? smallest - 1 : 1);
        tensor_set(t, i, x);
    }
    return true;
}

// The sizes that nothing tells, then the arguments that are not given: numbers first, for sizes may depend on them.
static bool fill(Args *a, const ArgsFill *how) {
    const Func *f = a->func;
    int64_t next = how->size, smallest = INT64_MAX;
    for (int k = 0; k < f->nsizes; k++) {
        if (!a->known[k]) set_int(a, k, next), next += how->step;
        int64_t n = tensor_get_int(&a->input[k], 0);
        if (n > 0 && n < smallest) smallest = n;
    }
    if (smallest == INT64_MAX) smallest = 2;
    for (int round = 0; round < 2; round++)
        for (int k = 0; k < f->nparams; k++) {
            if (a->param[k]) continue;
            Random r = random_named(how->seed, param_name(a, k));
            for (int i = f->params[k].first; i < f->params[k].first + f->params[k].count; i++) {
                if ((f->inputs[i]->rank > 0) != round) continue;
                if (!fill_leaf(a, how, i, smallest, &r)) return false;
                a->known[i] = f->inputs[i]->rank == 0 && !kind_is_float(f->inputs[i]->kind);
            }
        }
    return true;
}

static bool convert_some(Args *a, const ArgsFill *how) {
    const Func *f = a->func;
    bool ok = measure_all(a) && given_sizes(a);
    for (int k = 0; k < f->nparams && ok; k++)
        if (a->param[k]) bind_sizes(a, a->shape[k]);
    ok = ok && fill(a, how);
    for (int k = 0; k < f->nparams && ok; k++)
        if (a->param[k]) ok = check_shape(a, a->shape[k], NULL, param_name(a, k));
    for (int k = 0; k < f->nparams && ok; k++)
        if (a->param[k]) json_leaves(a->arena, a->shape[k], a->param[k], &a->input[f->params[k].first]);
    return ok;
}

static Args args_open(Compilation *c, const Func *f, Span at) {
    Arena *arena = c->arena;
    return (Args){arena,
                  c->diag,
                  at,
                  f,
                  ARENA_ARRAY(arena, json_t *, f->nparams + 1),
                  ARENA_ARRAY(arena, JsonShape *, f->nparams + 1),
                  ARENA_ARRAY(arena, json_t *, f->nsizes + 1),
                  ARENA_ARRAY(arena, Tensor, f->ninputs + 1),
                  ARENA_ARRAY(arena, const char *, f->nsizes + 1),
                  ARENA_ARRAY(arena, bool, f->ninputs + 1)};
}

static Tensor *args_close(Args *a, bool ok) {
    for (int k = 0; k < a->func->nparams; k++) json_decref(a->param[k]);
    for (int k = 0; k < a->func->nsizes; k++) json_decref(a->size[k]);
    return ok ? a->input : NULL;
}

Tensor *args_read(Compilation *c, const Func *f) { return args_read_text(c, f, NULL); }

Tensor *args_read_text(Compilation *c, const Func *f, const Source *text) {
    Args a = args_open(c, f, nowhere);
    return args_close(&a, collect(&a, c, text, true) && complete(&a) && convert(&a));
}

Tensor *args_read_piece(Compilation *c, const Func *f, Span at) {
    Args a = args_open(c, f, at);
    return args_close(&a, collect(&a, c, NULL, true) && complete(&a) && convert(&a));
}

Tensor *args_fill(Compilation *c, const Func *f, const ArgsFill *how) {
    Args a = args_open(c, f, nowhere);
    return args_close(&a, collect(&a, c, NULL, false) && convert_some(&a, how));
}
