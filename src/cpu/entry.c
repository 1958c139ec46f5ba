// The C functions of an entry. NAME takes a context, calls the body, and gives the context back; NAME_general finds the
// sizes and the addresses for the body in views. NAME_sizes is itself an entry: Tree.sizes.
#include "cpu/emit.h"

#include "fsmc/runtime.h"
#include "support/map.h"

static const char *const plain_attrs[] = {"nounwind", NULL};

// An entry, and which arrays its run-time description lists: the inputs that are arrays, then all outputs.
typedef struct Entry {
    Emitter *e;
    const Tree *tree;
    const Func *f;
    const char *name;
    LLVMValueRef function;
    LLVMValueRef *input; // by number; in NAME_general only scalars and sizes
    Map known;           // Int nodes of the signature -> values
    Map wraps;           // to those that have one: whether computing the value overflows
    const Node **array;
    LLVMValueRef *address; // of these, in the body
    int ninputs, narrays, nextents;
} Entry;

// ---- small things

static LLVMValueRef call(Entry *p, const char *name, LLVMTypeRef result, int n, LLVMValueRef *args) {
    LLVMTypeRef params[8];
    for (int i = 0; i < n; i++) params[i] = LLVMTypeOf(args[i]);
    LLVMTypeRef type = emit_function_type(p->e, result, n, params, false);
    return LLVMBuildCall2(p->e->builder, type, emit_declare(p->e, name, type, plain_attrs), args, (unsigned)n, "");
}

// Room on the stack: at the start of the function.
static LLVMValueRef slots(Entry *p, LLVMTypeRef type, int n, const char *name) {
    LLVMBuilderRef b = p->e->builder;
    LLVMBasicBlockRef here = LLVMGetInsertBlock(b), entry = LLVMGetEntryBasicBlock(p->function);
    LLVMValueRef first = LLVMGetFirstInstruction(entry);
    if (first) LLVMPositionBuilderBefore(b, first);
    else LLVMPositionBuilderAtEnd(b, entry);
    LLVMValueRef slot = LLVMBuildAlloca(b, LLVMArrayType2(type, (uint64_t)(n ? n : 1)), name);
    LLVMPositionBuilderAtEnd(b, here);
    return slot;
}

static LLVMValueRef slot_at(Entry *p, LLVMTypeRef type, LLVMValueRef slot, int i) {
    LLVMValueRef at[] = {emit_int(p->e, i)};
    return LLVMBuildInBoundsGEP2(p->e->builder, type, slot, at, 1, "");
}

static LLVMBasicBlockRef new_block(Entry *p, const char *name) {
    return LLVMAppendBasicBlockInContext(p->e->context, p->function, name);
}

static LLVMValueRef is_ok(Entry *p, LLVMValueRef code) {
    return LLVMBuildICmp(p->e->builder, LLVMIntEQ, code, LLVMConstNull(p->e->type_i32), "");
}

// Goes on in a new block if the code is FSM_OK; otherwise returns it, after fsm_end(ctx) if `end`.
static void return_unless_ok(Entry *p, LLVMValueRef code, bool end) {
    LLVMBuilderRef b = p->e->builder;
    LLVMBasicBlockRef fail = new_block(p, "fail"), rest = new_block(p, "ok");
    LLVMValueRef ctx = LLVMGetParam(p->function, 0);
    LLVMBuildCondBr(b, is_ok(p, code), rest, fail);
    LLVMPositionBuilderAtEnd(b, fail);
    if (end) call(p, "fsm_end", p->e->type_void, 1, &ctx);
    LLVMBuildRet(b, code);
    LLVMPositionBuilderAtEnd(b, rest);
}

// ---- scalars of the signature: extents as values, NULL where they depend on array elements

static LLVMValueRef size_value(Entry *p, Node *n);

static void note_wrap(Entry *p, const Node *n, LLVMValueRef wraps) {
    LLVMValueRef known = map_get(&p->wraps, n);
    if (wraps) map_put(&p->wraps, n, known ? LLVMBuildOr(p->e->builder, known, wraps, "") : wraps);
}

// An operation on values of the signature. Sizes do not wrap around: that they would is noted.
static LLVMValueRef size_operation(Entry *p, const Node *n, LLVMValueRef *a) {
    Emitter *e = p->e;
    const char *name = n->op == OP_add   ? "llvm.sadd.with.overflow"
                       : n->op == OP_sub ? "llvm.ssub.with.overflow"
                       : n->op == OP_mul ? "llvm.smul.with.overflow"
                                         : NULL;
    if (!name || n->kind != KIND_INT) return emit_op(e, n->op, n->kind == KIND_BOOL ? n->args[0]->kind : n->kind, a[0], a[1]);
    LLVMValueRef pair = emit_intrinsic(e, name, 1, &e->type_i64, 2, a);
    note_wrap(p, n, LLVMBuildExtractValue(e->builder, pair, 1, ""));
    return LLVMBuildExtractValue(e->builder, pair, 0, "");
}

static LLVMValueRef size_compute(Entry *p, Node *n) {
    Emitter *e = p->e;
    LLVMValueRef a[3] = {NULL, NULL, NULL};
    if (n->rank || n->nargs > 3) return NULL;
    if (n->op == OP_lit) return emit_lit(e, n->kind, n->u.real, n->u.num);
    if (n->op == OP_input) {
        LLVMValueRef v = p->input[n->u.num];
        return n->kind == KIND_BOOL ? LLVMBuildICmp(e->builder, LLVMIntNE, v, LLVMConstNull(e->type_i32), "") : v;
    }
    if (!op_is_elementwise(n->op) && n->op != OP_conv && n->op != OP_select && n->op != OP_stop) return NULL;
    for (int i = 0; i < n->nargs; i++)
        if (!(a[i] = size_value(p, n->args[i]))) return NULL;
    for (int i = 0; i < n->nargs; i++) note_wrap(p, n, map_get(&p->wraps, n->args[i]));
    if (n->op == OP_stop) return a[0];
    if (n->op == OP_conv) return emit_conv(e, n->kind, n->args[0]->kind, a[0]);
    if (n->op == OP_select) return LLVMBuildSelect(e->builder, a[0], a[1], a[2], "");
    return size_operation(p, n, a);
}

static LLVMValueRef size_value(Entry *p, Node *n) {
    LLVMValueRef v = map_get(&p->known, n);
    if (!v) {
        v = size_compute(p, n);
        map_put(&p->known, n, v);
    }
    return v;
}

// ---- the description

// As users know it: of the function without assumptions.
static Entry entry_new(Emitter *e, const Tree *tree, const char *name, LLVMValueRef function) {
    const Func *f = tree_given(tree);
    Entry p = {.e = e, .tree = tree, .f = f, .name = name, .function = function};
    p.input = ARENA_ARRAY(e->arena, LLVMValueRef, f->ninputs + 1);
    p.array = ARENA_ARRAY(e->arena, const Node *, f->ninputs + f->noutputs + 1);
    p.address = ARENA_ARRAY(e->arena, LLVMValueRef, f->ninputs + f->noutputs + 1);
    for (int i = 0; i < f->ninputs; i++)
        if (f->inputs[i]->rank) p.array[p.narrays++] = f->inputs[i];
    p.ninputs = p.narrays;
    for (int i = 0; i < f->noutputs; i++) p.array[p.narrays++] = f->outputs[i];
    for (int i = 0; i < p.narrays; i++) p.nextents += p.array[i]->rank;
    return p;
}

static LLVMValueRef constant(Emitter *e, LLVMValueRef value, const char *name) {
    LLVMValueRef g = LLVMAddGlobal(e->module, LLVMTypeOf(value), name);
    LLVMSetInitializer(g, value);
    LLVMSetGlobalConstant(g, true);
    LLVMSetLinkage(g, LLVMPrivateLinkage);
    return g;
}

static LLVMValueRef int32(Emitter *e, int value) { return LLVMConstInt(e->type_i32, (unsigned)value, true); }

// A row of fsm_array_info or fsm_size_info.
static LLVMValueRef info_row(Emitter *e, const char *name, int x, int y) {
    LLVMValueRef fields[] = {emit_string(e, name), int32(e, x), int32(e, y)};
    return LLVMConstStructInContext(e->context, fields, 3, false);
}

static LLVMValueRef info_table(Emitter *e, LLVMValueRef *rows, int n) {
    if (!n) return LLVMConstNull(e->type_ptr);
    return constant(e, LLVMConstArray2(LLVMTypeOf(rows[0]), rows, (uint64_t)n), ".rows");
}

static LLVMValueRef size_row(Entry *p, int number, const char *name) {
    int array = 0, dim = 0;
    if (!cpu_size_source(p->f, number, &array, &dim)) return NULL;
    return info_row(p->e, name, array, dim);
}

// The fsm_entry_info.
static LLVMValueRef entry_info(Entry *p) {
    Emitter *e = p->e;
    const Func *f = p->f;
    const char *global = arena_printf(e->arena, "%s.info", p->name);
    LLVMValueRef known = LLVMGetNamedGlobal(e->module, global);
    if (known) return known;
    const char **names = cpu_parameter_names(e->arena, f);
    LLVMValueRef *rows = ARENA_ARRAY(e->arena, LLVMValueRef, f->ninputs + f->noutputs + 1);
    int nsizes = cpu_has_general(f) ? f->nsizes : 0, n = 0;
    for (int i = 0; i < nsizes; i++) rows[i] = size_row(p, i, names[i]);
    LLVMValueRef sizes = info_table(e, rows, nsizes);
    for (int i = 0; i < f->ninputs; i++)
        if (f->inputs[i]->rank) rows[n++] = info_row(e, names[i], kind_info[f->inputs[i]->kind].type, f->inputs[i]->rank);
    for (int i = 0; i < f->noutputs; i++)
        rows[n++] = info_row(e, names[f->ninputs + i], kind_info[f->outputs[i]->kind].type, f->outputs[i]->rank);
    LLVMValueRef fields[] = {int32(e, FSM_ABI_VERSION),
                             int32(e, nsizes),
                             int32(e, p->ninputs),
                             int32(e, f->noutputs),
                             emit_string(e, p->name),
                             info_table(e, rows, n),
                             sizes};
    return constant(e, LLVMConstStructInContext(e->context, fields, 7, false), global);
}

// ---- extents

// Calls the body of the size query with the arguments whose addresses are in data; returns where its answers are.
static LLVMValueRef ask_sizes(Entry *p, LLVMValueRef data) {
    Emitter *e = p->e;
    const Func *g = p->tree->sizes->func;
    int n = 0, arrays = 0;
    LLVMValueRef *args = ARENA_ARRAY(e->arena, LLVMValueRef, 1 + g->ninputs + g->noutputs);
    LLVMValueRef answers = slots(p, e->type_i64, g->noutputs, "sizes");
    args[n++] = LLVMGetParam(p->function, 0);
    for (int j = 0; j < g->ninputs; j++) {
        LLVMValueRef v = p->input[j];
        if (g->inputs[j]->rank) v = LLVMBuildLoad2(e->builder, e->type_ptr, slot_at(p, e->type_ptr, data, arrays++), "");
        args[n++] = v;
    }
    for (int j = 0; j < g->noutputs; j++) args[n++] = slot_at(p, e->type_i64, answers, j);
    const char *name = arena_printf(e->arena, "%s" SIZES_SUFFIX BODY_SUFFIX, p->name);
    LLVMValueRef body = LLVMGetNamedFunction(e->module, name);
    LLVMValueRef code = LLVMBuildCall2(e->builder, emit_entry_type(e, g), body, args, (unsigned)n, "");
    return_unless_ok(p, code, LLVMGetLinkage(p->function) != LLVMInternalLinkage);
    return answers;
}

// Stores the extents of the inputs, or of the outputs. Those that depend on array elements come from the size query.
static void store_extents(Entry *p, LLVMValueRef extents, bool outputs, LLVMValueRef data) {
    Emitter *e = p->e;
    LLVMValueRef answers = NULL;
    int at = 0, number = 0;
    for (int i = 0; i < p->narrays; i++) {
        for (int k = 0; k < p->array[i]->rank; k++, at++) {
            if (i >= p->ninputs) number++;
            if ((i >= p->ninputs) != outputs) continue;
            LLVMValueRef v = size_value(p, p->array[i]->shape[k]), wraps = map_get(&p->wraps, p->array[i]->shape[k]);
            if (wraps) v = LLVMBuildSelect(e->builder, wraps, emit_int(e, INT64_MIN), v, "");
            if (!v && !answers) answers = ask_sizes(p, data);
            if (!v) v = LLVMBuildLoad2(e->builder, e->type_i64, slot_at(p, e->type_i64, answers, number - 1), "");
            LLVMBuildStore(e->builder, v, slot_at(p, e->type_i64, extents, at));
        }
    }
}

// Whether the body of the size query is needed to check the outputs.
static bool needs_query(Entry *p) {
    bool needed = false;
    for (int i = p->ninputs; i < p->narrays; i++)
        for (int k = 0; k < p->array[i]->rank; k++) needed |= !cpu_size_is_known(p->array[i]->shape[k]);
    return needed;
}

// The addresses and extents, for fsm_check_arrays; returns what it says.
static LLVMValueRef ask_check(Entry *p) {
    Emitter *e = p->e;
    LLVMValueRef data = slots(p, e->type_ptr, p->narrays, "data"), extents = slots(p, e->type_i64, p->nextents, "extents");
    for (int i = 0; i < p->narrays; i++) LLVMBuildStore(e->builder, p->address[i], slot_at(p, e->type_ptr, data, i));
    store_extents(p, extents, false, data);
    LLVMValueRef args[] = {LLVMGetParam(p->function, 0), entry_info(p), data, extents, int32(e, p->ninputs)};
    if (needs_query(p)) return_unless_ok(p, call(p, "fsm_check_arrays", e->type_i32, 5, args), false);
    store_extents(p, extents, true, data);
    args[4] = int32(e, p->narrays);
    return call(p, "fsm_check_arrays", e->type_i32, 5, args);
}

static LLVMValueRef either(Entry *p, LLVMValueRef a, LLVMValueRef b) { return LLVMBuildOr(p->e->builder, a, b, ""); }

static LLVMValueRef compare(Entry *p, LLVMIntPredicate how, LLVMValueRef a, LLVMValueRef b) {
    return LLVMBuildICmp(p->e->builder, how, a, b, "");
}

// Is it in doubt whether array i is there, aligned, and apart from those before it? Notes where it begins and ends.
static LLVMValueRef in_doubt(Entry *p, int i, LLVMValueRef *begin, LLVMValueRef *end) {
    Emitter *e = p->e;
    const Node *a = p->array[i];
    LLVMValueRef zero = emit_int(e, 0), doubt, bytes = emit_int(e, kind_size(a->kind));
    begin[i] = LLVMBuildPtrToInt(e->builder, p->address[i], e->type_i64, "");
    doubt = compare(p, LLVMIntEQ, begin[i], zero);
    LLVMValueRef off = LLVMBuildAnd(e->builder, begin[i], emit_int(e, kind_size(a->kind) - 1), "");
    doubt = either(p, doubt, compare(p, LLVMIntNE, off, zero));
    for (int k = 0; k < a->rank; k++) {
        LLVMValueRef extent = size_value(p, a->shape[k]), wraps = map_get(&p->wraps, a->shape[k]);
        if (wraps) doubt = either(p, doubt, wraps);
        doubt = either(p, doubt, compare(p, LLVMIntSLE, extent, zero));
        bytes = emit_checked(e, "llvm.smul.with.overflow", bytes, extent, &doubt);
    }
    end[i] = emit_checked(e, "llvm.uadd.with.overflow", begin[i], bytes, &doubt);
    for (int j = 0; i >= p->ninputs && j < i; j++) {
        LLVMValueRef before = compare(p, LLVMIntULT, begin[j], end[i]), behind = compare(p, LLVMIntULT, begin[i], end[j]);
        doubt = either(p, doubt, LLVMBuildAnd(e->builder, before, behind, ""));
    }
    return doubt;
}

enum { MAX_PAIRS = 64 }; // of arrays that are compared without a call

// What every call checks of its arrays. Only if there is a doubt, or an array is empty, the run-time library is asked, which
// knows what to say.
void emit_array_checks(Emitter *e, const Tree *tree, LLVMValueRef function) {
    Entry p = entry_new(e, tree, arena_printf(e->arena, "%s", cpu_c_name(e->arena, tree->func->name)), function);
    int n = 0, total = p.f->ninputs + p.f->noutputs;
    for (int i = 0; i < total; i++) {
        LLVMValueRef v = LLVMGetParam(function, (unsigned)i + 1);
        if (i < p.f->ninputs) p.input[i] = v;
        if (i >= p.f->ninputs || p.f->inputs[i]->rank) p.address[n++] = v;
    }
    if (needs_query(&p) || p.f->noutputs * p.narrays > MAX_PAIRS) {
        return_unless_ok(&p, ask_check(&p), false);
    } else {
        LLVMValueRef *begin = ARENA_ARRAY(e->arena, LLVMValueRef, n + 1), *end = ARENA_ARRAY(e->arena, LLVMValueRef, n + 1);
        LLVMValueRef doubt = LLVMConstNull(e->type_i1);
        for (int i = 0; i < n; i++) doubt = either(&p, doubt, in_doubt(&p, i, begin, end));
        LLVMBasicBlockRef ask = new_block(&p, "ask"), rest = new_block(&p, "ok");
        LLVMBuildCondBr(e->builder, doubt, ask, rest);
        LLVMPositionBuilderAtEnd(e->builder, ask);
        return_unless_ok(&p, ask_check(&p), false);
        LLVMBuildBr(e->builder, rest);
        LLVMPositionBuilderAtEnd(e->builder, rest);
    }
    map_free(&p.known);
    map_free(&p.wraps);
}

// What is measured of an argument lies in rows of so many columns, few and known, one of them; else the rows have one
// column.
static int columns_of(const Node *array, const Measured *x, int *column) {
    enum { MOST_COLUMNS = 4 };
    int64_t columns = 1, n;
    *column = 0;
    for (int k = x->rank; k-- > 0 && x->at[k] >= 0; columns *= n) {
        if (!ir_is_int_lit(array->shape[k], &n) || x->at[k] >= n || columns * n > MOST_COLUMNS) return *column = 0, 1;
        *column += (int)(x->at[k] * columns);
    }
    return (int)columns;
}

// Are both columns of the same rows?
static bool same_rows(const Node *array, const Measured *x, const Measured *y) {
    int column;
    bool same = x->array == y->array && columns_of(array, x, &column) > 1 && columns_of(array, y, &column) > 1;
    for (int k = 0; k < x->rank && same; k++) {
        same = x->at[k] == y->at[k] || (k > 0 && x->at[k - 1] < 0 && y->at[k] >= 0 && x->at[k] >= 0);
        if (x->at[k] >= 0 && k > 0 && x->at[k - 1] < 0) break; // here the columns begin
    }
    return same;
}

// The extremes of all columns of the rows, of an argument that has been checked.
static LLVMValueRef measure_rows(Entry *p, const Measured *x, int columns) {
    Emitter *e = p->e;
    LLVMBuilderRef b = e->builder;
    const Node *array = p->f->inputs[x->array];
    LLVMValueRef out = slots(p, e->type_i64, 2 * columns, "measured"), zero = emit_int(e, 0);
    LLVMValueRef n = emit_int(e, 1), step = n, from = zero, stride = n;
    bool is_column = columns > 1, rows = false; // rows: of dimensions that follow each other (ir_may_be_measured)
    for (int k = x->rank; k-- > 0;) {
        LLVMValueRef extent = size_value(p, array->shape[k]), at = emit_int(e, x->at[k]);
        is_column &= x->at[k] >= 0;
        if (x->at[k] < 0) {
            if (!rows) step = stride;
            rows = true;
            n = LLVMBuildMul(b, n, extent, "");
        } else if (!is_column) {
            from = LLVMBuildAdd(b, from, LLVMBuildMul(b, at, stride, ""), "");
            n = LLVMBuildSelect(b, compare(p, LLVMIntSLT, at, extent), n, zero, "");
        }
        stride = LLVMBuildMul(b, stride, extent, "");
    }
    LLVMValueRef first = LLVMBuildGEP2(b, emit_memory_type(e, array->kind), p->input[x->array], &from, 1, "");
    LLVMValueRef args[] = {first, int32(e, kind_size(array->kind)), n, step, int32(e, columns), out};
    call(p, "fsm_measure", e->type_void, 6, args);
    return out;
}

// Makes the least and the greatest of all that is measured inputs.
static void emit_measured(Entry *p, const Ir *m) {
    Emitter *e = p->e;
    LLVMValueRef out[MOST_MEASURED];
    for (int i = 0; i < m->nmeasured; i++) {
        const Measured *x = &m->measured[i];
        const Node *array = p->f->inputs[x->array];
        int column, columns = columns_of(array, x, &column);
        out[i] = NULL;
        for (int j = 0; j < i && !out[i]; j++)
            if (same_rows(array, x, &m->measured[j])) out[i] = out[j];
        if (!out[i]) out[i] = measure_rows(p, x, columns);
        for (int k = 0; k < 2; k++)
            p->input[x->least->u.num + k] =
                LLVMBuildLoad2(e->builder, e->type_i64, slot_at(p, e->type_i64, out[i], 2 * column + k), "");
    }
}

LLVMValueRef emit_is_as_assumed(Emitter *e, const Tree *tree, LLVMValueRef function, bool measured) {
    Entry p = entry_new(e, tree, tree->func->name, function);
    LLVMValueRef all = LLVMConstInt(e->type_i1, 1, false);
    Assumption *assumed;
    p.input = ARENA_ARRAY(e->arena, LLVMValueRef, ir_argument_numbers(p.f));
    for (int i = 0; i < p.f->ninputs; i++) p.input[i] = LLVMGetParam(function, (unsigned)i + 1);
    if (measured) emit_measured(&p, tree->func->ir);
    for (int i = 0, n = ir_assumptions(tree->func, &assumed); i < n; i++) {
        const Assumption *a = &assumed[i];
        if (a->measured != measured) continue;
        LLVMValueRef value = size_value(&p, a->computed), wraps = map_get(&p.wraps, a->computed);
        if (wraps) all = LLVMBuildAnd(e->builder, all, LLVMBuildNot(e->builder, wraps, ""), "");
        all = LLVMBuildAnd(e->builder, all, compare(&p, LLVMIntSGE, value, emit_int(e, a->least)), "");
        if (a->most == INT64_MAX) continue;
        all = LLVMBuildAnd(e->builder, all, compare(&p, LLVMIntSLE, value, emit_int(e, a->most)), "");
    }
    map_free(&p.known);
    map_free(&p.wraps);
    return all;
}

// ---- the functions

static LLVMTypeRef input_type(Emitter *e, const Node *n) {
    if (n->rank) return e->type_ptr;
    return n->kind == KIND_BOOL ? e->type_i32 : emit_type(e, n->kind);
}

// Parameters: the context, the inputs from `first` on, the outputs.
static LLVMTypeRef function_type(Emitter *e, const Func *f, int first) {
    int n = 0;
    LLVMTypeRef *params = ARENA_ARRAY(e->arena, LLVMTypeRef, 1 + f->ninputs + f->noutputs);
    params[n++] = e->type_ptr;
    for (int i = first; i < f->ninputs; i++) params[n++] = input_type(e, f->inputs[i]);
    for (int i = 0; i < f->noutputs; i++) params[n++] = e->type_ptr;
    return emit_function_type(e, e->type_i32, n, params, false);
}

LLVMTypeRef emit_entry_type(Emitter *e, const Func *f) { return function_type(e, f, 0); }

// Adds an exported function.
static Entry entry_begin(Emitter *e, const Tree *tree, const char *entry, const char *name, int first) {
    LLVMValueRef function = LLVMAddFunction(e->module, name, function_type(e, tree->func, first));
    emit_attribute(e, function, LLVMAttributeFunctionIndex, "nounwind", 0);
    emit_attribute(e, function, LLVMAttributeFunctionIndex, "noinline", 0); // so that debuggers can stop in it
    Entry p = entry_new(e, tree, entry, function);
    LLVMPositionBuilderAtEnd(e->builder, new_block(&p, "entry"));
    debug_begin_function(e->debug, function, p.f, name);
    const char **names = cpu_parameter_names(e->arena, p.f);
    LLVMSetValueName2(LLVMGetParam(function, 0), "ctx", 3);
    for (int i = first; i < p.f->ninputs + p.f->noutputs; i++)
        LLVMSetValueName2(LLVMGetParam(function, (unsigned)(i - first) + 1), names[i], strlen(names[i]));
    return p;
}

static void take_context(Entry *p) {
    LLVMValueRef args[] = {LLVMGetParam(p->function, 0), entry_info(p)};
    return_unless_ok(p, call(p, "fsm_begin", p->e->type_i32, 2, args), false);
}

static LLVMValueRef body_of(Entry *p) {
    return LLVMGetNamedFunction(p->e->module, arena_printf(p->e->arena, "%s" BODY_SUFFIX, p->name));
}

// The call of the body; that of a small one becomes its code here if `in_place`.
static LLVMValueRef call_body(Entry *p, LLVMValueRef *args, bool in_place) {
    unsigned n = (unsigned)(1 + p->f->ninputs + p->f->noutputs), noinline = LLVMGetEnumAttributeKindForName("noinline", 8);
    bool flush = flush_wanted(p->e, p->tree);
    LLVMValueRef was = flush ? slots(p, p->e->type_i32, 1, "was") : NULL;
    if (flush) flush_begin(p->e, was, slots(p, p->e->type_i32, 1, "now"));
    LLVMValueRef body = body_of(p), code = LLVMBuildCall2(p->e->builder, emit_entry_type(p->e, p->f), body, args, n, "");
    if (flush) flush_end(p->e, was);
    LLVMAttributeIndex function = (LLVMAttributeIndex)LLVMAttributeFunctionIndex;
    if (in_place) LLVMRemoveEnumAttributeAtIndex(body, function, noinline);
    else LLVMAddCallSiteAttribute(code, function, LLVMCreateEnumAttribute(p->e->context, noinline, 0));
    return code;
}

static void end(Entry *p, LLVMValueRef code) {
    LLVMValueRef ctx = LLVMGetParam(p->function, 0);
    call(p, "fsm_end", p->e->type_void, 1, &ctx);
    LLVMBuildRet(p->e->builder, code);
    debug_nowhere(p->e->debug);
    map_free(&p->known);
    map_free(&p->wraps);
}

enum { NEEDS_CONTEXT = -1 }; // a body called without a context returns it where it would use one

// If a body uses the context only to ask about arrays that are in doubt, it becomes one that can be called without (NULL).
static bool without_context(Entry *p) {
    LLVMBuilderRef b = p->e->builder;
    LLVMValueRef body = body_of(p), ctx = LLVMGetParam(body, 0);
    LLVMUseRef use = LLVMGetFirstUse(ctx);
    if (!use || LLVMGetNextUse(use)) return false;
    LLVMBasicBlockRef ask = LLVMGetInstructionParent(LLVMGetUser(use));
    LLVMUseRef jump = LLVMGetFirstUse(LLVMBasicBlockAsValue(ask));
    if (!jump || LLVMGetNextUse(jump) || LLVMGetNumSuccessors(LLVMGetUser(jump)) != 2) return false;
    LLVMBasicBlockRef here = LLVMGetInsertBlock(b), owned = LLVMInsertBasicBlockInContext(p->e->context, ask, "owned");
    LLVMBasicBlockRef refuse = LLVMInsertBasicBlockInContext(p->e->context, ask, "refuse");
    LLVMValueRef from = LLVMGetUser(jump);
    for (unsigned i = 0; i < 2; i++)
        if (LLVMGetSuccessor(from, i) == ask) LLVMSetSuccessor(from, i, owned);
    debug_nowhere(p->e->debug); // the places noted are of the entry's function
    LLVMPositionBuilderAtEnd(b, owned);
    LLVMBuildCondBr(b, LLVMBuildIsNull(b, ctx, ""), refuse, ask);
    LLVMPositionBuilderAtEnd(b, refuse);
    LLVMBuildRet(b, int32(p->e, NEEDS_CONTEXT));
    LLVMPositionBuilderAtEnd(b, here);
    debug_place(p->e->debug, p->f->span);
    return true;
}

// First without taking the context, if that is possible: two atomic exchanges are half of a small function's time.
static void try_without_context(Entry *p, LLVMValueRef *args) {
    Emitter *e = p->e;
    LLVMValueRef ask[] = {args[0], entry_info(p)}, ctx = args[0];
    LLVMBasicBlockRef body = new_block(p, "alone"), done = new_block(p, "done"), whole = new_block(p, "whole");
    LLVMBuildCondBr(e->builder, is_ok(p, call(p, "fsm_is_free", e->type_i32, 2, ask)), whole, body);
    LLVMPositionBuilderAtEnd(e->builder, body);
    args[0] = LLVMConstNull(e->type_ptr);
    LLVMValueRef code = call_body(p, args, true);
    args[0] = ctx;
    LLVMBuildCondBr(e->builder, compare(p, LLVMIntEQ, code, int32(e, NEEDS_CONTEXT)), whole, done);
    LLVMPositionBuilderAtEnd(e->builder, done);
    LLVMBuildRet(e->builder, code);
    LLVMPositionBuilderAtEnd(e->builder, whole);
}

static void emit_plain(Emitter *e, const Tree *tree, const char *name) {
    Entry p = entry_begin(e, tree, name, name, 0);
    LLVMValueRef *args = ARENA_ARRAY(e->arena, LLVMValueRef, 1 + p.f->ninputs + p.f->noutputs);
    LLVMGetParams(p.function, args);
    if (without_context(&p)) try_without_context(&p, args);
    take_context(&p);
    end(&p, call_body(&p, args, false));
}

// Stores the views, reads the sizes off them, and notes the scalars.
static LLVMValueRef read_views(Entry *p) {
    Emitter *e = p->e;
    const Func *f = p->f;
    LLVMValueRef views = slots(p, e->type_ptr, p->narrays, "views"), sizes = slots(p, e->type_i64, f->nsizes, "sizes");
    int n = 0;
    for (int i = f->nsizes; i < f->ninputs + f->noutputs; i++) {
        LLVMValueRef v = LLVMGetParam(p->function, (unsigned)(i - f->nsizes) + 1);
        if (i < f->ninputs && !f->inputs[i]->rank) p->input[i] = v;
        else LLVMBuildStore(e->builder, v, slot_at(p, e->type_ptr, views, n++));
    }
    LLVMValueRef args[] = {LLVMGetParam(p->function, 0), entry_info(p), views, sizes};
    return_unless_ok(p, call(p, "fsm_view_sizes", e->type_i32, 4, args), true);
    for (int i = 0; i < f->nsizes; i++)
        p->input[i] = LLVMBuildLoad2(e->builder, e->type_i64, slot_at(p, e->type_i64, sizes, i), "");
    return views;
}

// The arguments of the body: scalars, and what fsm_view_… found for the arrays.
static LLVMValueRef *body_args(Entry *p, LLVMValueRef data) {
    Emitter *e = p->e;
    const Func *f = p->f;
    LLVMValueRef *args = ARENA_ARRAY(e->arena, LLVMValueRef, 1 + f->ninputs + f->noutputs);
    args[0] = LLVMGetParam(p->function, 0);
    for (int i = 0, n = 0; i < f->ninputs + f->noutputs; i++)
        if (i < f->ninputs && !f->inputs[i]->rank) args[i + 1] = p->input[i];
        else args[i + 1] = LLVMBuildLoad2(e->builder, e->type_ptr, slot_at(p, e->type_ptr, data, n++), "");
    return args;
}

static void emit_general(Emitter *e, const Tree *tree, const char *name) {
    const char *general = arena_printf(e->arena, "%s" GENERAL_SUFFIX, name);
    Entry p = entry_begin(e, tree, name, general, tree->func->nsizes);
    take_context(&p);
    LLVMValueRef views = read_views(&p), ctx = LLVMGetParam(p.function, 0), info = entry_info(&p);
    LLVMValueRef data = slots(&p, e->type_ptr, p.narrays, "data");
    LLVMValueRef extents = slots(&p, e->type_i64, p.nextents, "extents");
    LLVMValueRef args[] = {ctx, info, views, extents, data}, result[] = {info, views, data};
    store_extents(&p, extents, false, data);
    return_unless_ok(&p, call(&p, "fsm_view_inputs", e->type_i32, 5, args), true);
    store_extents(&p, extents, true, data);
    return_unless_ok(&p, call(&p, "fsm_view_outputs", e->type_i32, 5, args), true);
    LLVMValueRef code = call_body(&p, body_args(&p, data), false);
    return_unless_ok(&p, code, true);
    call(&p, "fsm_view_finish", e->type_void, 3, result);
    end(&p, code);
}

void emit_entry(Emitter *e, const Tree *tree, const char *name) {
    if (tree->sizes) {
        const char *sizes = arena_printf(e->arena, "%s" SIZES_SUFFIX, name);
        emit_body(e, tree->sizes, arena_printf(e->arena, "%s" BODY_SUFFIX, sizes));
        if (!e->opt->callable) emit_plain(e, tree->sizes, sizes);
        if (!e->opt->callable && cpu_has_general(tree->func)) emit_general(e, tree->sizes, sizes);
    }
    emit_body(e, tree, arena_printf(e->arena, "%s" BODY_SUFFIX, name));
    emit_plain(e, tree, name);
    if (!e->opt->callable && cpu_has_general(tree->func)) emit_general(e, tree, name);
}
