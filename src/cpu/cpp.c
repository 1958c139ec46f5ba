// Wrappers for C++: inline functions over the C ones that take views of arrays (include/fsmc/fsmc.hpp), find the sizes in
// them, and throw. One fills arrays of the caller, the other returns what it has computed.
#include "cpu/cpu.h"

#include "lower/lower.h"

#include <ctype.h>
#include <inttypes.h>

// A size as an expression of C++. False if it depends on more than sizes and Int parameters.
static bool print_size(Str *out, const Node *n, const char *const *names) {
    const char *call = NULL;
    switch (n->op) {
    case OP_lit: str_printf(out, n->u.num < 0 ? "(%" PRId64 ")" : "%" PRId64, n->u.num); return true;
    case OP_input: str_puts(out, names[n->u.num]); return n->rank == 0;
    case OP_add: call = "fsmc::detail::add"; break;
    case OP_sub: call = "fsmc::detail::sub"; break;
    case OP_mul: call = "fsmc::detail::mul"; break;
    case OP_idiv: call = "fsmc::detail::div"; break;
    case OP_irem: call = "fsmc::detail::rem"; break;
    case OP_min: call = "std::min<std::int64_t>"; break;
    case OP_max: call = "std::max<std::int64_t>"; break;
    case OP_neg: str_puts(out, "fsmc::detail::sub(0, "); break;
    case OP_conv: // an Int32 argument as an Int
        if (n->args[0]->kind != KIND_INT32) return false;
        call = "std::int64_t";
        break;
    default: return false;
    }
    if (call) str_printf(out, "%s(", call);
    for (int i = 0; i < n->nargs; i++) {
        if (i) str_puts(out, ", ");
        if (!print_size(out, n->args[i], names)) return false;
    }
    str_putc(out, ')');
    return true;
}

// NULL where it depends on more.
static const char *size_text(Arena *a, const Node *n, const char *const *names) {
    Str s = {0};
    const char *text = print_size(&s, n, names) ? arena_strdup(a, str_text(&s)) : NULL;
    str_free(&s);
    return text;
}

static const char *element_type(Kind kind) { return kind_info[kind].cpp; }

static const char *scalar_type(Kind kind) { return kind_info[kind].cpp_scalar; }

// One entry, with what is known of it.
typedef struct Wrapper {
    Arena *arena;
    const Func *f;
    const char *name, **names;
    const char *extents; // the array of what NAME_sizes tells; NULL: the shapes of all results are known on entry
} Wrapper;

static const Node *result(const Wrapper *w, int k) { return w->f->outputs[k]; }
static const char *result_name(const Wrapper *w, int k) { return w->names[w->f->ninputs + k]; }

static int count_extents(const Func *f) {
    int n = 0;
    for (int k = 0; k < f->noutputs; k++) n += f->outputs[k]->rank;
    return n;
}

// Extent d of result k.
static const char *result_extent(const Wrapper *w, int k, int d) {
    int number = d;
    if (!w->extents) return size_text(w->arena, result(w, k)->shape[d], w->names);
    for (int i = 0; i < k; i++) number += result(w, i)->rank;
    return arena_printf(w->arena, "%s[%d]", w->extents, number);
}

static void print_inputs(Str *out, const Wrapper *w) {
    for (int i = w->f->nsizes; i < w->f->ninputs; i++) {
        const Node *n = w->f->inputs[i];
        if (n->rank) str_printf(out, ", fsmc::view<const %s, %d> %s", element_type(n->kind), n->rank, w->names[i]);
        else str_printf(out, ", %s %s", scalar_type(n->kind), w->names[i]);
    }
}

// The sizes, from where they occur first on their own, and the extents that have to agree with them.
static void print_sizes(Str *out, const Wrapper *w) {
    const Func *f = w->f;
    for (int s = 0; s < f->nsizes; s++) {
        bool found = false;
        for (int i = f->nsizes; i < f->ninputs && !found; i++)
            for (int k = 0; k < f->inputs[i]->rank && !found; k++)
                if (f->inputs[i]->shape[k] == f->inputs[s]) {
                    str_printf(out, "    const std::int64_t %s = %s.extent(%d);\n", w->names[s], w->names[i], k);
                    found = true;
                }
        if (!found) str_printf(out, "    const std::int64_t %s = 0;\n", w->names[s]);
    }
    for (int i = f->nsizes; i < f->ninputs; i++)
        for (int k = 0; k < f->inputs[i]->rank; k++) {
            const char *want = size_text(w->arena, f->inputs[i]->shape[k], w->names);
            if (want)
                str_printf(out, "    fsmc::detail::same(\"%s\", %d, %s, %s.extent(%d));\n", w->names[i], k, want, w->names[i], k);
        }
}

static void begin_call(Str *out, const Wrapper *w, const char *suffix) {
    const Func *f = w->f;
    str_printf(out, "    ctx.check(::%s%s(ctx.get()", w->name, suffix);
    for (int i = 0; i < f->ninputs; i++) str_printf(out, f->inputs[i]->rank ? ", %s.data()" : ", %s", w->names[i]);
}

// Asks for the extents of the results if they depend on elements of arguments.
static void print_query(Str *out, const Wrapper *w) {
    int n = count_extents(w->f);
    if (!w->extents) return;
    str_printf(out, "    std::int64_t %s[%d];\n", w->extents, n);
    begin_call(out, w, "_sizes");
    for (int i = 0; i < n; i++) str_printf(out, ", &%s[%d]", w->extents, i);
    str_puts(out, "));\n");
}

static void print_call(Str *out, const Wrapper *w) {
    const Func *f = w->f;
    for (int k = 0; k < f->noutputs; k++)
        if (!result(w, k)->rank && result(w, k)->kind == KIND_BOOL)
            str_printf(out, "    std::uint8_t %s_byte = 0;\n", result_name(w, k));
    begin_call(out, w, "");
    for (int k = 0; k < f->noutputs; k++) {
        bool boolean = !result(w, k)->rank && result(w, k)->kind == KIND_BOOL;
        str_printf(out, result(w, k)->rank ? ", %s.data()" : boolean ? ", &%s_byte" : ", &%s", result_name(w, k));
    }
    str_puts(out, "));\n");
    for (int k = 0; k < f->noutputs; k++)
        if (!result(w, k)->rank && result(w, k)->kind == KIND_BOOL)
            str_printf(out, "    %s = %s_byte != 0;\n", result_name(w, k), result_name(w, k));
}

static void print_filling(Str *out, const Wrapper *w) {
    const Func *f = w->f;
    str_printf(out, "inline void %s(fsmc::context &ctx", w->name);
    print_inputs(out, w);
    for (int k = 0; k < f->noutputs; k++) {
        const Node *n = result(w, k);
        if (n->rank) str_printf(out, ", fsmc::view<%s, %d> %s", element_type(n->kind), n->rank, result_name(w, k));
        else str_printf(out, ", %s &%s", scalar_type(n->kind), result_name(w, k));
    }
    str_puts(out, ") {\n");
    print_sizes(out, w);
    print_query(out, w);
    for (int k = 0; k < f->noutputs; k++)
        for (int d = 0; d < result(w, k)->rank; d++)
            str_printf(out, "    fsmc::detail::same(\"%s\", %d, %s, %s.extent(%d));\n", result_name(w, k), d,
                       result_extent(w, k, d), result_name(w, k), d);
    print_call(out, w);
    str_puts(out, "}\n");
}

static const char *result_type(const Wrapper *w, int k) {
    const Node *n = result(w, k);
    Str s = {0};
    if (n->rank) str_printf(&s, "fsmc::array<%s, %d>", element_type(n->kind), n->rank);
    else str_puts(&s, scalar_type(n->kind));
    const char *type = arena_strdup(w->arena, str_text(&s));
    str_free(&s);
    return type;
}

// Several results come as a struct.
static void print_returning(Str *out, const Wrapper *w) {
    const Func *f = w->f;
    const char *type = f->noutputs == 1 ? result_type(w, 0) : arena_printf(w->arena, "%s_result", w->name);
    if (f->noutputs != 1) {
        str_printf(out, "struct %s {\n", type);
        for (int k = 0; k < f->noutputs; k++) str_printf(out, "    %s %s{};\n", result_type(w, k), result_name(w, k));
        str_puts(out, "};\n");
    }
    str_printf(out, "inline %s %s(fsmc::context &ctx", type, w->name);
    print_inputs(out, w);
    str_puts(out, ") {\n");
    print_sizes(out, w);
    print_query(out, w);
    for (int k = 0; k < f->noutputs; k++) {
        const Node *n = result(w, k);
        str_printf(out, "    %s %s", result_type(w, k), result_name(w, k));
        if (!n->rank) str_puts(out, "{}");
        for (int d = 0; d < n->rank; d++) str_printf(out, "%s%s", d ? ", " : "({", result_extent(w, k, d));
        str_puts(out, n->rank ? "});\n" : ";\n");
    }
    print_call(out, w);
    str_puts(out, "    return ");
    if (f->noutputs != 1) str_puts(out, "{");
    for (int k = 0; k < f->noutputs; k++)
        str_printf(out, f->noutputs == 1 ? "%s%s" : "%sstd::move(%s)", k ? ", " : "", result_name(w, k));
    str_puts(out, f->noutputs == 1 ? ";\n}\n" : "};\n}\n");
}

static void print_wrapper(Str *out, Arena *a, const Func *f) {
    Wrapper w = {.arena = a, .f = f, .name = cpu_c_name(a, f->name), .names = cpu_parameter_names(a, f)};
    bool sized = true;
    for (int k = 0; k < f->noutputs; k++)
        for (int d = 0; d < f->outputs[k]->rank; d++) sized &= size_text(a, f->outputs[k]->shape[d], w.names) != NULL;
    if (!sized) w.extents = "extents";
    for (int i = 0; w.extents && i < f->ninputs + f->noutputs; i++)
        if (!strcmp(w.names[i], w.extents)) w.extents = arena_printf(a, "%s_", w.extents), i = -1;
    str_putc(out, '\n');
    if (f->doc) cpu_print_comment(out, f->doc);
    print_filling(out, &w);
    if (f->noutputs) print_returning(out, &w);
}

void cpu_cpp_header(Str *out, const char *name, int nfuncs, Func *const *funcs) {
    Arena *a = arena_new();
    char *guard = arena_printf(a, "%s_%s_HPP", cpu_c_name(a, name), nfuncs ? cpu_c_name(a, funcs[0]->name) : "");
    for (char *c = guard; *c; c++) *c = (char)toupper((unsigned char)*c);
    str_printf(out, "// Written by fsmc. C++ wrappers of the functions in %s.h.\n", name);
    str_puts(out, "//\n// Sizes come from the views. What is wrong is thrown as fsmc::error.\n");
    str_printf(out, "#ifndef %s\n#define %s\n\n#include \"%s.h\"\n\n#include \"fsmc/fsmc.hpp\"\n\nnamespace fsm {\n", guard, guard,
               name);
    for (int i = 0; i < nfuncs; i++) print_wrapper(out, a, funcs[i]);
    str_puts(out, "\n} // namespace fsm\n\n#endif\n");
    arena_free(a);
}
