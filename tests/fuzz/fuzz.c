#include "fuzz/fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const FuzzTarget fuzz_targets[] = {
    {"lexer", fuzz_lexer}, {"layout", fuzz_layout}, {"parser", fuzz_parser}, {"types", fuzz_types},
    {"json", fuzz_json},   {"npy", fuzz_npy},       {"ir", fuzz_ir},         {"tree", fuzz_tree},
    {NULL, NULL},
};

void fuzz_fail(const char *file, int line, const char *what) {
    fprintf(stderr, "%s:%d: this does not hold: %s\n", file, line, what);
    abort();
}

void fuzz_show(const Diag *diag, const Str *text) {
    Str out = {0};
    diag_print(diag, &out, false);
    fprintf(stderr, "%s%s", str_text(text), str_text(&out));
    str_free(&out);
}

FuzzInput fuzz_open(const char *name, const uint8_t *data, size_t size) {
    Arena *arena = arena_new();
    FuzzInput in = {arena, diag_new(arena), ARENA_NEW(arena, Source)};
    char *text = malloc(size + 1);
    if (!text) diag_out_of_memory();
    if (size) memcpy(text, data, size);
    text[size] = 0;
    *in.src = (Source){name, text, size};
    return in;
}

static void check_message(DiagLevel level, Span at, const char *text, void *data) {
    (void)level;
    (void)data;
    FUZZ_CHECK(*text);
    for (const char *p = text; *p; p++) FUZZ_CHECK((unsigned char)*p >= ' ' && *p != 0x7F);
    if (!at.src) return;
    FUZZ_CHECK(at.begin <= at.end);
    FUZZ_CHECK(at.end <= at.src->len);
}

void fuzz_check_messages(const Diag *diag) {
    diag_each(diag, check_message, NULL);
    Str out = {0};
    diag_print(diag, &out, true);
    FUZZ_CHECK(!diag_errors(diag) == !strstr(str_text(&out), "error:"));
    str_free(&out);
}

void fuzz_close(FuzzInput *in) {
    fuzz_check_messages(in->diag);
    diag_delete(in->diag);
    free((char *)in->src->text);
    arena_free(in->arena);
}
