#include "ir/extern.h"

#include <dlfcn.h>
#include <ffi.h>
#include <stdlib.h>

bool extern_load(const char *path, const char **error) {
    if (dlopen(path, RTLD_NOW | RTLD_GLOBAL)) return true;
    *error = dlerror();
    return false;
}

void *extern_find(const char *name) { return dlsym(RTLD_DEFAULT, name); }

static void find_missing(Node *e, void *data) {
    const char **missing = data;
    if (e->op == OP_extern && !*missing && !extern_find(e->u.ext->name)) *missing = e->u.ext->name;
}

const char *extern_missing(int n, Func *const *f) {
    const char *missing = NULL;
    for (int i = 0; i < n; i++) ir_walk(func_roots(f[i]), f[i]->outputs, find_missing, &missing);
    return missing;
}

static ffi_type *type_of(Kind k) {
    switch (k) {
    case KIND_BOOL: return &ffi_type_uint8;
    case KIND_INT: return &ffi_type_sint64;
    case KIND_FLOAT: return &ffi_type_float;
    default: return &ffi_type_double;
    }
}

typedef union Value {
    uint8_t b;
    int64_t i;
    float f;
    double d;
    void *p;
    ffi_arg wide; // results narrower than a register are widened
} Value;

// The value of an argument as C gets it.
static Value passed(const ExternArg *a) {
    if (a->array) return (Value){.p = a->data};
    switch (a->kind) {
    case KIND_BOOL: return (Value){.b = a->value.i != 0};
    case KIND_INT: return (Value){.i = a->value.i};
    case KIND_FLOAT: return (Value){.f = (float)a->value.d};
    default: return (Value){.d = a->value.d};
    }
}

static Value call(const char *name, ffi_type *result, int n, const ExternArg *args) {
    ffi_type **types = malloc(sizeof *types * (size_t)(n + 1));
    Value *values = malloc(sizeof *values * (size_t)(n + 1)), r = {0};
    void **at = malloc(sizeof *at * (size_t)(n + 1));
    void *address = extern_find(name);
    ffi_cif cif;
    if (!types || !values || !at) diag_out_of_memory();
    for (int k = 0; k < n; k++) {
        types[k] = args[k].array ? &ffi_type_pointer : type_of(args[k].kind);
        values[k] = passed(&args[k]);
        at[k] = &values[k];
    }
    if (!address || ffi_prep_cif(&cif, FFI_DEFAULT_ABI, (unsigned)n, result, types) != FFI_OK)
        fatal_bug("the C function %s cannot be called", name);
    ffi_call(&cif, FFI_FN((void (*)(void))(uintptr_t)address), &r, at);
    free(types), free(values), free(at);
    return r;
}

Scalar extern_call(const char *name, Kind result, int n, const ExternArg *args) {
    Value r = call(name, type_of(result), n, args);
    if (result == KIND_DOUBLE) return (Scalar){.d = r.d};
    if (result == KIND_FLOAT) return (Scalar){.d = r.f};
    return (Scalar){.i = result == KIND_BOOL ? (r.wide & 0xff) != 0 : r.i};
}

int extern_fill(const char *name, int n, const ExternArg *args) { return (int)call(name, &ffi_type_sint, n, args).wide; }

const char *extern_failure(Arena *a, const char *name) {
    return arena_printf(a, "the C function `%s` failed with status %%d", name);
}
