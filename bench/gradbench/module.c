#define _POSIX_C_SOURCE 200809L
#include "module.h"

#include "driver/args.h"
#include "driver/file.h"
#include "driver/json.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

// ---- compiling

typedef struct Opening {
    BenchModule *m;
    const char *path;
} Opening;

static int open_job(void *data) {
    Opening *o = data;
    Compilation *c = o->m->c;
    FuncList funcs = {0};
    const Source *src = file_read(c->arena, c->diag, o->path);
    if (!src) return 1;
    c->src = src;
    if (!compile_load(c, src) || !compile_funcs(c, false, &funcs) || !caller_open(&o->m->caller, c, funcs)) return 1;
    for (int i = 0; i < funcs.n; i++) // the first lookup makes the machine code
        if (!cpu_jit_symbol(o->m->caller.jit, cpu_c_name(c->arena, funcs.f[i]->name)))
            fatal_bug("no code for `%s`", funcs.f[i]->name);
    return 0;
}

// Reads the options as those of `fsmc run FILE ENTRY`; the entry is not looked at, since all are compiled.
static bool read_options(BenchModule *m, const char *path, int noptions, char **options, Str *error) {
    static const char *const usual[] = {"--fp=fast", "--target-cpu=native"};
    int nusual = noptions ? 0 : 2, argc = 0;
    char **argv = ARENA_ARRAY(m->options.arena, char *, noptions + nusual + 5);
    argv[argc++] = (char *)"fsmc", argv[argc++] = (char *)"run";
    for (int i = 0; i < nusual; i++) argv[argc++] = (char *)usual[i];
    for (int i = 0; i < noptions; i++) argv[argc++] = options[i];
    argv[argc++] = (char *)path, argv[argc++] = (char *)"all";
    if (!options_parse(&m->options, argc, argv, error)) return false;
    m->options.entries.len = 0;
    return true;
}

BenchModule *module_open(const char *folder, const char *name, int noptions, char **options, Str *error) {
    BenchModule *m = calloc(1, sizeof *m);
    if (!m) abort();
    options_init(&m->options);
    m->name = arena_strdup(m->options.arena, name);
    const char *path = arena_printf(m->options.arena, "%s/%s.fsm", folder, name);
    double start = now();
    if (read_options(m, path, noptions, options, error)) {
        Opening o = {m, path};
        int failed = 1;
        m->c = compile_new(&m->options);
        if (!compile_guarded(open_job, &o, &failed) && !failed && compile_ok(m->c)) {
            m->compile_s = now() - start;
            return m;
        }
        diag_print(m->c->diag, error, false);
    }
    module_close(m);
    return NULL;
}

void module_close(BenchModule *m) {
    if (m->c) caller_close(&m->caller);
    compile_delete(m->c);
    options_free(&m->options);
    free(m);
}

// ---- calling

typedef struct Call {
    BenchModule *m;
    const char *function;
    json_t *input;
    Result *r;
    Compilation *c; // for the arena and the messages of this call
} Call;

static const Func *entry(const Call *call, const char *before, const char *after) {
    const char *name = arena_printf(call->c->arena, "%s_%s%s", call->m->name, before, after);
    for (int i = 0; i < call->m->caller.funcs.n; i++)
        if (!strcmp(call->m->caller.funcs.f[i]->name, name)) return call->m->caller.funcs.f[i];
    return NULL;
}

// The field of that name, the outermost first; NULL if there is none.
static json_t *field(json_t *value, const char *name) {
    const char *key;
    json_t *inner, *found = json_object_get(value, name);
    if (!found) json_object_foreach(value, key, inner) if ((found = field(inner, name))) break;
    return found;
}

// The arguments from a JSON text; what does not fit is a message of call->c.
static Tensor *arguments(const Call *call, const Func *f, const char *text) {
    Source *src = ARENA_NEW(call->c->arena, Source);
    *src = (Source){"input", text, strlen(text)};
    return args_read_text(call->c, f, src);
}

static Tensor *from_input(const Call *call, const Func *f) {
    json_t *fields = json_is_object(call->input) ? json_object() : json_array();
    if (json_is_array(fields)) json_array_append(fields, call->input); // the only argument
    for (int i = 0; i < f->nparams; i++) {
        json_t *value = f->params[i].name ? field(call->input, f->params[i].name) : NULL;
        if (value) json_object_set(fields, f->params[i].name, value);
    }
    char *text = json_dumps(fields, JSON_REAL_PRECISION(17));
    const char *copy = arena_strdup(call->c->arena, text ? text : "");
    free(text);
    json_decref(fields);
    return arguments(call, f, copy);
}

// What one entry gives, as arguments of the next.
static Tensor *from_result(const Call *call, const Func *next, const Func *f, const Tensor *outputs) {
    Str text = {0};
    bool one = f->result->form != SIG_TUPLE;
    if (one) str_putc(&text, '[');
    json_print(&text, f->result, outputs);
    if (one) str_putc(&text, ']');
    const char *copy = arena_strdup(call->c->arena, str_text(&text));
    str_free(&text);
    return arguments(call, next, copy);
}

// Makes the call ready and runs it once. NULL after reporting an error.
static Tensor *run(const Call *call, const Func *f, const Tensor *inputs, CpuCall *ready) {
    Arena *a = call->c->arena;
    const char *error = NULL;
    Tensor *outputs = ARENA_ARRAY(a, Tensor, f->noutputs + 1);
    if (inputs && !cpu_prepare(a, call->m->caller.jit, f, inputs, outputs, ready, &error) && !cpu_invoke(ready, &error))
        return outputs;
    if (error) diag_error(call->c->diag, (Span){NULL, 0, 0}, "%s", error);
    return NULL;
}

static void time_calls(const Call *call, const CpuCall *ready) {
    json_int_t runs = json_integer_value(json_object_get(call->input, "min_runs"));
    double least = json_number_value(json_object_get(call->input, "min_seconds")), spent = 0;
    do {
        const char *error;
        double start = now();
        cpu_invoke(ready, &error);
        double seconds = now() - start;
        vec_push(&call->r->seconds, seconds);
        spent += seconds;
    } while (call->r->seconds.len < runs || spent < least);
}

// ---- answering

// What is answered: a text in which #0, #1, … stand for the parts of a result.
static const struct Form {
    const char *module, *function, *text;
} forms[] = {
    {"gmm", "jacobian", "{\"alpha\": #0, \"mu\": #1, \"q\": #2, \"l\": #3}"},
    {"ba", "objective", "{\"reproj_error\": {\"elements\": #0, \"repeated\": #1}, \"w_err\": {\"element\": #2, \"repeated\": #3}}"},
    {"ba", "jacobian", "{\"rows\": #0, \"cols\": #1, \"vals\": #2}"},
};

// Functions that do something else where a field of the input is an array with elements: then M_F_FIELD is called.
static const struct Variant { const char *module, *field; } variants[] = {{"ht", "us"}};

static void put_line(Str *out, const SigType *type, const Tensor *leaves) {
    json_print(out, type, leaves);
    out->data[--out->len] = 0; // without the line's end
}

static void put_part(Str *out, const SigType *result, const Tensor *outputs, int part) {
    for (int i = 0; i < part; i++) outputs += sig_leaves(result->parts[i]);
    put_line(out, result->parts[part], outputs);
}

static void put_result(const Call *call, const Func *f, const Tensor *outputs) {
    const char *text = NULL;
    Str *out = &call->r->output;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (!strcmp(forms[i].module, call->m->name) && !strcmp(forms[i].function, call->function)) text = forms[i].text;
    if (!text) {
        put_line(out, f->result, outputs);
        return;
    }
    for (; *text; text++)
        if (*text == '#') put_part(out, f->result, outputs, *++text - '0');
        else str_putc(out, *text);
}

static int call_job(void *data) {
    Call *call = data;
    const Func *f = entry(call, call->function, ""), *output = entry(call, call->function, "_output");
    const Func *inputs = entry(call, call->function, "_inputs");
    CpuCall ready;
    double start = now();
    if (!inputs) inputs = entry(call, "inputs", "");
    if (!f) {
        diag_error(call->c->diag, (Span){NULL, 0, 0}, "the module `%s` has no function `%s`", call->m->name, call->function);
        return 1;
    }
    Tensor *in = from_input(call, inputs ? inputs : f), *out;
    if (inputs && (out = run(call, inputs, in, &ready))) in = from_result(call, f, inputs, out);
    if (!compile_ok(call->c) || !(out = run(call, f, in, &ready))) return 1;
    call->r->prepare_s = now() - start;
    time_calls(call, &ready);
    if (output) {
        in = from_result(call, output, f, out);
        if (!(out = run(call, f = output, in, &ready))) return 1;
    }
    put_result(call, f, out);
    return 0;
}

bool module_call(BenchModule *m, const char *function, json_t *input, Result *r) {
    Call call = {m, function, input, r, compile_new(&m->options)};
    int failed = 1;
    for (size_t i = 0; i < sizeof variants / sizeof *variants; i++)
        if (!strcmp(variants[i].module, m->name) && json_array_size(field(input, variants[i].field)))
            call.function = arena_printf(call.c->arena, "%s_%s", function, variants[i].field);
    bool ok = !compile_guarded(call_job, &call, &failed) && !failed && compile_ok(call.c);
    if (!ok) diag_print(call.c->diag, &r->error, false);
    compile_delete(call.c);
    return ok;
}

void result_free(Result *r) {
    str_free(&r->output);
    str_free(&r->error);
    vec_free(&r->seconds);
}
