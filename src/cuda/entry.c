// The functions of an entry: those of the CPU's object, and NAME_device, which takes addresses on the device and a stream.
#include "cuda/print.h"

#include "cpu/cpu.h"
#include "fsmc/runtime.h"

#include <ctype.h>
#include <inttypes.h>

// An entry, or its size query, and which arrays its run-time description lists: the inputs that are arrays, then all outputs.
typedef struct Entry {
    Arena *arena;
    Str *out;
    const Tree *tree;
    const Func *f;
    const char *name, *space; // in C; the namespace of what belongs to it
    const char **params;
    const Node **array;
    const char **array_name;
    int ninputs, narrays, nextents;
    bool query;       // it is a size query
    bool needs_query; // an output's extent is what the size query says
} Entry;

// f: what users know of it, its function without assumptions.
static Entry entry_of(Arena *a, Str *out, const Tree *tree, const Func *f, const char *name, const char **params) {
    Entry p = {.arena = a, .out = out, .tree = tree, .f = f, .name = name, .params = params};
    p.space = expr_text(a, "fsmc_%s", name);
    p.array = ARENA_ARRAY(a, const Node *, f->ninputs + f->noutputs + 1);
    p.array_name = ARENA_ARRAY(a, const char *, f->ninputs + f->noutputs + 1);
    for (int i = 0; i < f->ninputs; i++)
        if (f->inputs[i]->rank) p.array_name[p.narrays] = params[i], p.array[p.narrays++] = f->inputs[i];
    p.ninputs = p.narrays;
    for (int i = 0; i < f->noutputs; i++) {
        p.array_name[p.narrays] = params[f->ninputs + i], p.array[p.narrays++] = f->outputs[i];
        for (int k = 0; k < f->outputs[i]->rank; k++) p.needs_query |= !cpu_size_is_known(f->outputs[i]->shape[k]);
    }
    for (int i = 0; i < p.narrays; i++) p.nextents += p.array[i]->rank;
    return p;
}

// ---- parameters and arguments

typedef enum Form { FORM_C, FORM_GENERAL, FORM_CODE } Form; // FORM_CODE: of functions of the namespace, where a Bool is a bool

static const char *scalar_type(Kind k, Form form) { return k == KIND_BOOL && form != FORM_CODE ? "int" : cuda_type(k); }

// From input `first` on, each with a comma before it.
static void parameters(Entry *p, Form form) {
    for (int i = form == FORM_GENERAL ? p->f->nsizes : 0; i < p->f->ninputs; i++) {
        const Node *n = p->f->inputs[i];
        if (!n->rank) str_printf(p->out, ", %s %s", scalar_type(n->kind, form), p->params[i]);
        else if (form == FORM_GENERAL) str_printf(p->out, ", const fsm_view *%s", p->params[i]);
        else str_printf(p->out, ", const %s *%s", cuda_element(n->kind), p->params[i]);
    }
    for (int i = 0; i < p->f->noutputs; i++) {
        const Node *n = p->f->outputs[i];
        const char *name = p->params[p->f->ninputs + i];
        if (form == FORM_GENERAL && n->rank) str_printf(p->out, ", const fsm_view *%s", name);
        else str_printf(p->out, ", %s *%s", cuda_element(n->kind), name);
    }
}

static void scalar_parameters(Entry *p) {
    for (int i = 0; i < p->f->ninputs; i++)
        if (!p->f->inputs[i]->rank) str_printf(p->out, ", %s %s", cuda_type(p->f->inputs[i]->kind), p->params[i]);
}

static const char *argument(Entry *p, int i, bool as_bool) {
    return as_bool && !p->f->inputs[i]->rank && p->f->inputs[i]->kind == KIND_BOOL ? expr_text(p->arena, "%s != 0", p->params[i])
                                                                                   : p->params[i];
}

// The arguments; arrays have `suffix` after their names.
static void arguments(Entry *p, const char *suffix, bool as_bool) {
    for (int i = 0; i < p->f->ninputs; i++)
        str_printf(p->out, ", %s%s", argument(p, i, as_bool), p->f->inputs[i]->rank ? suffix : "");
    for (int i = 0; i < p->f->noutputs; i++) str_printf(p->out, ", %s%s", p->params[p->f->ninputs + i], suffix);
}

static void scalar_arguments(Entry *p, bool as_bool) {
    for (int i = 0; i < p->f->ninputs; i++)
        if (!p->f->inputs[i]->rank) str_printf(p->out, ", %s", argument(p, i, as_bool));
}

// Ends the list of parameters; then, in the order in which they are declared, those that the body does not mention, and the body.
static void finish_function(Entry *p, bool scalars, const char *more, Str *body) {
    const char *text = str_text(body);
    str_printf(p->out, "%s) {\n", more);
    if (!expr_mentions(text, "ctx") && !expr_mentions(text, "call")) str_puts(p->out, "    (void)ctx;\n");
    for (int i = 0; i < p->f->ninputs + (scalars ? 0 : p->f->noutputs); i++)
        if ((!scalars || !p->f->inputs[i]->rank) && !expr_mentions(text, p->params[i]))
            str_printf(p->out, "    (void)%s;\n", p->params[i]);
    str_printf(p->out, "%s}\n\n", text);
    str_free(body);
}

// ---- the description

static void print_info(Entry *p) {
    Arena *a = p->arena;
    const char **names = cpu_parameter_names(a, p->f);
    int nsizes = cpu_has_general(p->f) ? p->f->nsizes : 0;
    if (p->narrays) str_puts(p->out, "static const fsm_array_info arrays[] = {\n");
    for (int i = 0; i < p->f->ninputs + p->f->noutputs; i++) {
        const Node *n = i < p->f->ninputs ? p->f->inputs[i] : p->f->outputs[i - p->f->ninputs];
        if (i >= p->f->ninputs || n->rank)
            str_printf(p->out, "    {%s, %d, %d},\n", expr_string(a, names[i]), (int)kind_info[n->kind].type, n->rank);
    }
    if (p->narrays) str_puts(p->out, "};\n");
    if (nsizes) str_puts(p->out, "static const fsm_size_info sizes[] = {\n");
    for (int i = 0; i < nsizes; i++) {
        int array = 0, dim = 0;
        cpu_size_source(p->f, i, &array, &dim);
        str_printf(p->out, "    {%s, %d, %d},\n", expr_string(a, names[i]), array, dim);
    }
    if (nsizes) str_puts(p->out, "};\n");
    str_printf(p->out, "static const fsm_entry_info info = {%d, %d, %d, %d, %s, %s, %s};\n\n", FSM_ABI_VERSION, nsizes, p->ninputs,
               p->f->noutputs, expr_string(a, p->name), p->narrays ? "arrays" : "nullptr", nsizes ? "sizes" : "nullptr");
}

// ---- extents

static const char *size_text(Entry *p, const Node *n, bool *wraps) {
    Arena *a = p->arena;
    const char *x[3] = {"", "", ""};
    if (n->op == OP_lit) return expr_lit(a, n->kind, n->u.real, n->u.num);
    if (n->op == OP_input) return p->params[n->u.num];
    for (int i = 0; i < n->nargs; i++) x[i] = size_text(p, n->args[i], wraps);
    if (n->op == OP_stop) return x[0];
    if (n->op == OP_conv) return expr_text(a, "(%s)", expr_conv(a, n->kind, n->args[0]->kind, x[0]));
    if (n->op == OP_select) return expr_text(a, "(%s ? %s : %s)", x[0], x[1], x[2]);
    const char *checked = n->kind != KIND_INT ? NULL
                          : n->op == OP_add   ? "add"
                          : n->op == OP_sub   ? "sub"
                          : n->op == OP_mul   ? "mul"
                                              : NULL;
    if (checked) {
        *wraps = true;
        return expr_text(a, "fsm::size_%s(%s, %s, &fsm_wraps)", checked, x[0], x[1]);
    }
    return expr_text(a, "(%s)", expr_op(a, n->op, n->args[op_info[n->op].type == T_PSI ? 1 : 0]->kind, x[0], x[1]));
}

// The statement that notes extent number `at` of the entry's arrays, of array number `array`.
static void print_extent(Entry *p, const Node *n, int array, int at, int *asked) {
    bool wraps = false;
    if (!cpu_size_is_known(n)) {
        str_printf(p->out, "    fsm_extents[%d] = fsm_on_device && !fsm_data[%d] ? 0 : fsm_sizes[%d];\n", at, array, (*asked)++);
        return;
    }
    ++*asked;
    const char *text = size_text(p, n, &wraps);
    if (wraps)
        str_printf(
            p->out,
            "    {\n        bool fsm_wraps = false;\n        fsm_extents[%d] = %s;\n        if (fsm_wraps) fsm_extents[%d] = INT64_MIN;\n    }\n",
            at, text, at);
    else str_printf(p->out, "    fsm_extents[%d] = %s;\n", at, text);
}

// Calls the size query; data has the addresses of the arguments in the host's memory. What they are on the device, the caller has
// asked before: an extent is taken to be at least 1, so that results which begin in the memory of another array are found.
static void ask_sizes(Entry *p) {
    const Func *g = p->tree->sizes->func;
    int arrays = 0;
    str_printf(p->out,
               "    int64_t fsm_sizes[%d];\n    for (int64_t &fsm_size : fsm_sizes) fsm_size = 1;\n"
               "    const int fsm_code = fsm_on_device ? FSM_OK : fsmc_%s_sizes::run(ctx",
               g->noutputs, p->name);
    for (int i = 0; i < g->ninputs; i++)
        if (g->inputs[i]->rank)
            str_printf(p->out, ", static_cast<const %s *>(fsm_data[%d])", cuda_element(g->inputs[i]->kind), arrays++);
        else str_printf(p->out, ", %s", p->params[i]);
    for (int i = 0; i < g->noutputs; i++) str_printf(p->out, ", &fsm_sizes[%d]", i);
    str_puts(p->out, ");\n    if (fsm_code) return fsm_code;\n");
}

// int input_extents(…) and output_extents(…).
static void print_extents(Entry *p, bool outputs) {
    Str *out = p->out, body = {0};
    int at = 0, asked = 0;
    str_printf(out, "static inline int %s(fsm_context *ctx", outputs ? "output_extents" : "input_extents");
    scalar_parameters(p);
    p->out = &body;
    if (outputs && p->needs_query) ask_sizes(p);
    for (int i = 0; i < p->narrays; i++)
        for (int k = 0; k < p->array[i]->rank; k++, at++)
            if ((i >= p->ninputs) == outputs) print_extent(p, p->array[i]->shape[k], i, at, &asked);
    str_puts(&body, "    return FSM_OK;\n");
    p->out = out;
    bool asks = outputs && p->needs_query;
    const char *extents = expr_mentions(str_text(&body), "fsm_extents") ? "fsm_extents" : "";
    finish_function(p, true,
                    expr_text(p->arena, ", void *const *%s, int64_t *%s%s", asks ? "fsm_data" : "", extents,
                              asks ? ", bool fsm_on_device" : ""),
                    &body);
}

// ---- checks of arguments

// The checks of sizes, and what they need.
static void print_prologue(Code *c, const Tree *tree) {
    bool *needed = ARENA_ARRAY(c->u->arena, bool, tree->temps.len + 1);
    for (int i = tree->prologue; i-- > 0;) {
        const Stmt *s = tree->body->stmts.data[i];
        bool live = s->kind == ST_CHECK ? !unit_is_dead(c->u, s) : s->dst >= 0 && needed[s->dst];
        for (int k = 0; k < s->nargs && live; k++) needed[s->args[k]] = true;
    }
    for (int i = 0; i < tree->prologue; i++) {
        const Stmt *s = tree->body->stmts.data[i];
        if (s->dst < 0 || needed[s->dst] || s->kind == ST_LIT || s->kind == ST_ARG) code_stmt(c, s, NULL);
    }
}

// int prepare(ctx, …, extents, on_device): checks sizes and arrays, and notes the arrays' extents.
static void print_prepare(Entry *p, Unit *u) {
    Str *out = p->out, body = {0};
    Code c = {.u = u, .out = &body, .indent = 4, .where = CODE_ALONE};
    str_puts(out, "static inline int prepare(fsm_context *ctx");
    parameters(p, FORM_CODE);
    p->out = &body;
    print_prologue(&c, u->tree);
    str_puts(&body, "    void *const fsm_data[] = {");
    for (int i = 0; i < p->narrays; i++)
        str_printf(&body, i < p->ninputs ? "const_cast<%s *>(%s), " : "%.0s%s, ", cuda_element(p->array[i]->kind),
                   p->array_name[i]);
    str_puts(&body, "nullptr};\n    int fsm_result = input_extents(ctx");
    scalar_arguments(p, false);
    str_puts(&body, ", fsm_data, fsm_extents);\n");
    if (p->needs_query)
        str_printf(&body, "    if (!fsm_result) fsm_result = fsm_check_arrays(ctx, &info, fsm_data, fsm_extents, %d);\n",
                   p->ninputs);
    str_puts(&body, "    if (!fsm_result) fsm_result = output_extents(ctx");
    scalar_arguments(p, false);
    str_printf(
        &body,
        ", fsm_data, fsm_extents%s);\n    return fsm_result ? fsm_result : fsm_check_arrays(ctx, &info, fsm_data, fsm_extents, %d);\n",
        p->needs_query ? ", fsm_on_device" : "", p->narrays);
    p->out = out;
    finish_function(p, false, p->needs_query ? ", int64_t *fsm_extents, bool fsm_on_device" : ", int64_t *fsm_extents, bool",
                    &body);
}

// ---- the functions of the device

static const char *count_of(Entry *p, int array) {
    const char *list = "";
    for (int i = 0, at = 0; i <= array; i++)
        for (int k = 0; k < p->array[i]->rank; k++, at++)
            if (i == array) list = expr_text(p->arena, "%s%sfsm_extents[%d]", list, k ? ", " : "", at);
    return expr_text(p->arena, "fsm::count_of(%s)", list);
}

// int on_host(call, …): with arrays in the host's memory.
static void print_on_host(Entry *p) {
    str_puts(p->out, "static int on_host(fsm::cuda::Call &call");
    parameters(p, FORM_CODE);
    str_printf(p->out, ") {\n    int64_t fsm_extents[%d];\n    const int fsm_code = prepare(call.context()", p->nextents + 1);
    arguments(p, "", false);
    str_puts(p->out, ", fsm_extents, false);\n    if (fsm_code) return fsm_code;\n");
    for (int i = 0; i < p->narrays; i++) {
        const char *name = p->array_name[i], *type = cuda_element(p->array[i]->kind), *n = count_of(p, i);
        if (i < p->ninputs) str_printf(p->out, "    const %s *const %s_device = call.upload(%s, %s);\n", type, name, name, n);
        else str_printf(p->out, "    %s *const %s_device = call.alloc<%s>(%s);\n", type, name, type, n);
    }
    str_puts(p->out, "    if (call.code()) return call.code();\n    run(call");
    arguments(p, "_device", false);
    str_puts(p->out, ");\n");
    for (int i = p->ninputs; i < p->narrays; i++)
        str_printf(p->out, "    call.download(%s, %s_device, %s);\n", p->array_name[i], p->array_name[i], count_of(p, i));
    str_puts(p->out, "    return call.wait();\n}\n\n");
}

static void print_plain(Entry *p) {
    str_printf(p->out, "\nextern \"C\" int %s(fsm_context *ctx", p->name);
    parameters(p, FORM_C);
    str_printf(
        p->out,
        ") {\n    fsm::cuda::Call call(ctx, &%s::info, nullptr, %s::checks);\n    if (call.code()) return call.code();\n    const int fsm_code = %s::on_host(call",
        p->space, p->space, p->space);
    arguments(p, "", true);
    str_printf(p->out, ");\n    const int fsm_end = call.finish();\n    return fsm_code ? fsm_code : fsm_end;\n}\n");
}

static void print_device(Entry *p) {
    str_printf(p->out, "\nextern \"C\" int %s_device(fsm_context *ctx, void *fsm_stream", p->name);
    parameters(p, FORM_C);
    str_printf(
        p->out,
        ") {\n    fsm::cuda::Call call(ctx, &%s::info, static_cast<cudaStream_t>(fsm_stream), %s::checks);\n    if (call.code()) return call.code();\n",
        p->space, p->space);
    str_printf(p->out, "    int64_t fsm_extents[%d];\n    const int fsm_code = %s::prepare(ctx", p->nextents + 1, p->space);
    arguments(p, "", true);
    str_printf(p->out, ", fsm_extents, true);\n    if (!fsm_code) %s::run(call", p->space);
    arguments(p, "", true);
    str_printf(p->out, ");\n    const int fsm_end = call.finish();\n    return fsm_code ? fsm_code : fsm_end;\n}\n");
}

static void print_caller(Entry *p) {
    str_printf(p->out, "\nextern \"C\" int %s__call(fsm_context *ctx, void **args) {\n    return %s(ctx", p->name, p->name);
    for (int i = 0; i < p->f->ninputs; i++) {
        const Node *n = p->f->inputs[i];
        str_printf(p->out, n->rank ? ", static_cast<const %s *>(args[%d])" : ", *static_cast<const %s *>(args[%d])",
                   cuda_element(n->kind), i);
    }
    for (int i = 0; i < p->f->noutputs; i++)
        str_printf(p->out, ", static_cast<%s *>(args[%d])", cuda_element(p->f->outputs[i]->kind), p->f->ninputs + i);
    str_puts(p->out, ");\n}\n");
}

// ---- views

// The addresses and sizes that views have, and the call with them.
static void print_general(Entry *p) {
    const char *s = p->space, *end = p->query ? "fsm_end(ctx)" : "call.finish()";
    Str *out = p->out;
    str_printf(out, "\nextern \"C\" int %s_general(fsm_context *ctx", p->name);
    parameters(p, FORM_GENERAL);
    if (p->query) str_printf(out, ") {\n    int fsm_code = fsm_begin(ctx, &%s::info);\n    if (fsm_code) return fsm_code;\n", s);
    else
        str_printf(
            out,
            ") {\n    fsm::cuda::Call call(ctx, &%s::info, nullptr, %s::checks);\n    int fsm_code = call.code();\n    if (fsm_code) return fsm_code;\n",
            s, s);
    str_puts(out, "    const void *const fsm_views[] = {");
    for (int i = 0; i < p->narrays; i++) str_printf(out, "%s, ", p->array_name[i]);
    str_printf(out, "nullptr};\n    void *fsm_data[%d];\n    int64_t fsm_sizes[%d], fsm_extents[%d];\n", p->narrays + 1,
               p->f->nsizes + 1, p->nextents + 1);
    str_printf(out,
               "    fsm_code = fsm_view_sizes(ctx, &%s::info, fsm_views, fsm_sizes);\n    if (fsm_code) return %s, fsm_code;\n", s,
               end);
    for (int i = 0; i < p->f->nsizes; i++) str_printf(out, "    const int64_t %s = fsm_sizes[%d];\n", p->params[i], i);
    for (int outputs = 0; outputs < 2; outputs++) {
        str_printf(out, "    fsm_code = %s::%s(ctx", s, outputs ? "output_extents" : "input_extents");
        scalar_arguments(p, true);
        str_printf(
            out,
            ", fsm_data, fsm_extents%s);\n    if (!fsm_code) fsm_code = fsm_view_%s(ctx, &%s::info, fsm_views, fsm_extents, fsm_data);\n",
            outputs && p->needs_query ? ", false" : "", outputs ? "outputs" : "inputs", s);
        str_printf(out, "    if (fsm_code) return %s, fsm_code;\n", end);
    }
    str_printf(out, p->query ? "    fsm_code = %s::on_host(ctx" : "    fsm_code = %s::on_host(call", s);
    int n = 0;
    for (int i = 0; i < p->f->ninputs; i++)
        if (p->f->inputs[i]->rank)
            str_printf(out, ", static_cast<const %s *>(fsm_data[%d])", cuda_element(p->f->inputs[i]->kind), n++);
        else str_printf(out, ", %s", argument(p, i, true));
    for (int i = 0; i < p->f->noutputs; i++)
        str_printf(out, ", static_cast<%s *>(fsm_data[%d])", cuda_element(p->f->outputs[i]->kind), n++);
    str_printf(out, ");\n    if (!fsm_code) fsm_view_finish(&%s::info, fsm_views, fsm_data);\n    %s;\n    return fsm_code;\n}\n",
               s, end);
}

// ---- size queries: the host does them alone

static void print_query(Str *out, Unit *u, const char *name, const CudaOptions *opt) {
    Entry p = entry_of(u->arena, out, u->tree, u->func, name, u->params);
    Str body = {0};
    Code c = {.u = u, .out = &body, .indent = 4, .where = CODE_ALONE};
    p.query = true;
    str_printf(out, "namespace %s {\n\n", p.space);
    print_info(&p);
    print_extents(&p, false), print_extents(&p, true);
    print_prepare(&p, u);
    str_puts(out, "static inline int run(fsm_context *ctx");
    parameters(&p, FORM_CODE);
    code_block(&c, u->tree->body);
    str_puts(&body, "    return FSM_OK;\n");
    finish_function(&p, false, "", &body);
    str_puts(out, "static inline int on_host(fsm_context *ctx");
    parameters(&p, FORM_CODE);
    str_printf(out, ") {\n    int64_t fsm_extents[%d];\n    const int fsm_code = prepare(ctx", p.nextents + 1);
    arguments(&p, "", false);
    str_puts(out, ", fsm_extents, false);\n    return fsm_code ? fsm_code : run(ctx");
    arguments(&p, "", false);
    str_printf(out, ");\n}\n\n} // namespace %s\n\nextern \"C\" int %s(fsm_context *ctx", p.space, name);
    parameters(&p, FORM_C);
    str_printf(
        out,
        ") {\n    int fsm_code = fsm_begin(ctx, &%s::info);\n    if (fsm_code) return fsm_code;\n    fsm_code = %s::on_host(ctx",
        p.space, p.space);
    arguments(&p, "", true);
    str_puts(out, ");\n    fsm_end(ctx);\n    return fsm_code;\n}\n");
    if (!opt->callable && cpu_has_general(u->func)) print_general(&p);
    str_putc(out, '\n');
}

// ---- the kernels of a version, and the host's part

static void print_frame(Str *out, Unit *u) {
    bool any = false;
    for (int i = 0; i < u->tree->temps.len; i++) any |= u->frame[i];
    if (!any) return;
    str_puts(out, "// Scalars that one kernel leaves to another, or to the host.\nstruct Frame {\n");
    for (int i = 0; i < u->tree->temps.len; i++)
        if (u->frame[i]) {
            u->text[i] = NULL;
            str_printf(out, "    %s %s;\n", cuda_type(unit_kind(u, i)), expr_temp(u, i));
        }
    str_puts(out, "};\n\n");
}

// Is recording what it starts of use, and possible? What the host learns of the device, it may learn otherwise the next time.
static bool is_recorded(const Unit *u) { return !u->asks && (u->repeats || u->nlaunches >= 4); }

// int run(call, …), of which later calls with the same arguments start again what one has started.
static void print_recorded(Entry *p, const char *before) {
    Str *out = p->out;
    str_puts(out, "static int run(fsm::cuda::Call &call");
    parameters(p, FORM_CODE);
    str_printf(out, ") {\n%s    static const char fsm_site = 0;\n    const uint64_t fsm_key[] = {", before);
    for (int i = 0; i < p->f->ninputs + p->f->noutputs; i++) str_printf(out, "%sfsm::cuda::word(%s)", i ? ", " : "", p->params[i]);
    str_puts(out, "};\n    return fsm::cuda::recorded(call, &fsm_site, fsm_key, [&] { start(call");
    arguments(p, "", false);
    str_puts(out, "); });\n}\n\n");
}

// `if (!…)`: are the arguments not as f assumes?
static void print_unless_assumed(Entry *p, const Func *f) {
    Assumption *all;
    Str holds = {0};
    bool wraps = false;
    const char *and = "";
    if (f->ir->nmeasured) str_puts(&holds, "false"), and = " && "; // the host does not see the elements
    for (int i = 0, n = ir_assumptions(f, &all); i < n; i++) {
        if (all[i].measured) continue;
        const char *value = size_text(p, all[i].computed, &wraps);
        str_printf(&holds, "%s%s >= %s", and, value, expr_lit(p->arena, KIND_INT, 0, all[i].least));
        and = " && ";
        if (all[i].most == INT64_MAX) continue;
        str_printf(&holds, " && %s <= %s", value, expr_lit(p->arena, KIND_INT, 0, all[i].most));
    }
    if (wraps) str_puts(p->out, "    bool fsm_wraps = false;\n");
    str_printf(p->out, "    if (!(%s%s))", str_text(&holds), wraps ? " && !fsm_wraps" : "");
    str_free(&holds);
}

// otherwise: the name of the namespace of the version for unusual arguments, or NULL.
static void print_run(Entry *p, Unit *u, const char *otherwise) {
    Str body = {0};
    bool frame = false;
    unit_print(u, &body);
    for (int i = 0; i < u->tree->temps.len; i++) frame |= u->frame[i];
    print_frame(p->out, u);
    str_puts(p->out, str_text(&u->kernels));
    const bool recorded = is_recorded(u);
    const char *before = u->heap ? "    if (call.use_heap()) return call.code();\n" : "";
    str_printf(p->out, "\nstatic int %s(fsm::cuda::Call &call", recorded ? "start" : "run");
    parameters(p, FORM_CODE);
    Str *out = p->out, text = {0};
    p->out = &text;
    if (otherwise) {
        print_unless_assumed(p, u->func);
        str_printf(&text, " return %s::run(call", otherwise);
        arguments(p, "", false);
        str_puts(&text, ");\n");
    }
    if (frame) str_puts(&text, "    Frame *const fsm_frame = call.alloc<Frame>(1);\n    if (!fsm_frame) return call.code();\n");
    str_printf(&text, "%s%s    return call.code();\n", recorded ? "" : before, str_text(&body));
    p->out = out;
    finish_function(p, false, "", &text);
    str_free(&body);
    if (recorded) print_recorded(p, before);
}

void entry_print(Str *out, Unit *u, Unit *otherwise, Unit *sizes, const CudaOptions *opt) {
    Unit *given = otherwise ? otherwise : u;
    Entry p = entry_of(u->arena, out, u->tree, given->func, u->name, u->params);
    if (sizes && (!opt->callable || p.needs_query)) print_query(out, sizes, expr_text(u->arena, "%s_sizes", u->name), opt);
    str_printf(out, "namespace %s {\n\n", p.space);
    print_info(&p);
    if (otherwise) {
        str_puts(out, "// If a size is 0, or something else is not as assumed.\nnamespace empty {\n\n");
        print_run(&p, otherwise, NULL);
        str_puts(out, "} // namespace empty\n\n");
        u->first_site = otherwise->nsites;
    }
    print_run(&p, u, otherwise ? "empty" : NULL);
    str_printf(out, "static const fsm::cuda::Check checks[] = {\n%s%s    {0, \"\", \"\"},\n};\n\n",
               otherwise ? str_text(&otherwise->sites) : "", str_text(&u->sites));
    print_extents(&p, false), print_extents(&p, true);
    print_prepare(&p, given);
    print_on_host(&p);
    str_printf(out, "} // namespace %s\n", p.space);
    print_plain(&p);
    if (opt->callable) {
        print_caller(&p);
        return;
    }
    print_device(&p);
    if (cpu_has_general(u->func)) print_general(&p);
}
