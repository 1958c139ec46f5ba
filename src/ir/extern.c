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
    for (int i = 0; i < n; i++) ir_walk(f[i]->noutputs, f[i]->outputs, find_missing, &missing);
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
    ffi_arg wide; // results narrower than a register are widened
} Value;

Scalar extern_call(const char *name, Kind result, int n, const Kind *kinds, const Scalar *args) {
    ffi_type **types = malloc(sizeof *types * (size_t)(n + 1));
    Value *values = malloc(sizeof *values * (size_t)(n + 1)), r = {0};
    void **at = malloc(sizeof *at * (size_t)(n + 1));
    void *address = extern_find(name);
    ffi_cif cif;
    if (!types || !values || !at) diag_out_of_memory();
    for (int k = 0; k < n; k++) {
        types[k] = type_of(kinds[k]);
        at[k] = &values[k];
        if (kinds[k] == KIND_FLOAT) values[k].f = (float)args[k].d;
        else if (kinds[k] == KIND_DOUBLE) values[k].d = args[k].d;
        else if (kinds[k] == KIND_BOOL) values[k].b = args[k].i != 0;
        else values[k].i = args[k].i;
    }
    if (!address || ffi_prep_cif(&cif, FFI_DEFAULT_ABI, (unsigned)n, type_of(result), types) != FFI_OK)
        fatal_bug("the C function %s cannot be called", name);
    ffi_call(&cif, FFI_FN((void (*)(void))(uintptr_t)address), &r, at);
    free(types), free(values), free(at);
    if (result == KIND_DOUBLE) return (Scalar){.d = r.d};
    if (result == KIND_FLOAT) return (Scalar){.d = r.f};
    return (Scalar){.i = result == KIND_BOOL ? (r.wide & 0xff) != 0 : r.i};
}
