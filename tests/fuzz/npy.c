// The .npy reader: what it accepts can be an argument, and is the same array after it is written and read again.
#include "driver/npy.h"

#include "driver/json.h"
#include "fuzz/fuzz.h"

// The kinds of scalars found in a value, as bits.
enum { HAS_BOOL = 1, HAS_INT = 2, HAS_REAL = 4 };

static int kinds(const json_t *j) {
    if (json_is_array(j)) {
        int found = 0;
        for (size_t i = 0; i < json_array_size(j); i++) found |= kinds(json_array_get(j, i));
        return found;
    }
    FUZZ_CHECK(json_is_boolean(j) || json_is_number(j) || json_is_string(j));
    return json_is_boolean(j) ? HAS_BOOL : json_is_integer(j) ? HAS_INT : HAS_REAL;
}

static SigType *type_of(Arena *a, const json_t *j, Kind kind) {
    SigType *t = ARENA_NEW(a, SigType);
    if (!json_is_array(j)) {
        *t = (SigType){.form = SIG_SCALAR, .kind = kind};
        return t;
    }
    *t = (SigType){.form = SIG_ARRAY, .nparts = 1, .parts = ARENA_NEW(a, SigType *)};
    json_t *zero = json_integer(0);
    t->parts[0] = type_of(a, json_array_size(j) ? json_array_get(j, 0) : zero, kind);
    json_decref(zero);
    return t;
}

static void set_lengths(JsonShape *s) {
    if (s->type->form == SIG_ARRAY && s->length < 0) s->length = 0;
    for (int i = 0; i < s->type->nparts; i++) set_lengths(s->parts[i]);
}

// Writes the value as an array and reads that.
static json_t *again(FuzzInput *in, const json_t *j, Kind kind) {
    const SigType *type = type_of(in->arena, j, kind);
    JsonShape *shape = json_measure(in->arena, in->diag, (Span){NULL, 0, 0}, "x", type, j);
    FUZZ_CHECK(shape); // it is rectangular
    set_lengths(shape);
    Tensor t;
    json_leaves(in->arena, shape, j, &t);
    Str file = {0};
    npy_write(&file, &t);
    Source src = {"written.npy", str_text(&file), file.len};
    json_t *back = npy_read(in->diag, &src);
    str_free(&file);
    return back;
}

void fuzz_npy(const uint8_t *data, size_t size) {
    FuzzInput in = fuzz_open("input.npy", data, size);
    json_t *j = npy_read(in.diag, in.src);
    FUZZ_CHECK(!j == (diag_errors(in.diag) > 0));
    int found = j ? kinds(j) : 0;
    // Integers beyond those of Int are numbers without a sign: only as near as a Double can be.
    if (j && found != (HAS_INT | HAS_REAL)) {
        json_t *back = again(&in, j, found & HAS_BOOL ? KIND_BOOL : found & HAS_INT ? KIND_INT : KIND_DOUBLE);
        FUZZ_CHECK(back && json_equal(j, back));
        json_decref(back);
    }
    json_decref(j);
    fuzz_close(&in);
}
