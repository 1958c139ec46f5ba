// Line tables: which line of which source an instruction comes from, for debuggers and profilers.
#define _POSIX_C_SOURCE 200809L
#include "cpu/emit.h"

#include <llvm-c/DebugInfo.h>

#include <stdlib.h>
#include <unistd.h>

// What is known of a source: its file, and the offsets at which its lines begin.
typedef struct Lines {
    LLVMMetadataRef file;
    int n;
    uint32_t *begin;
} Lines;

struct Debug {
    Arena *arena;
    LLVMContextRef context;
    LLVMBuilderRef builder;
    LLVMDIBuilderRef info;
    LLVMMetadataRef unit, function_type, function;
    const Source *home; // of the function; pieces of other sources get a scope of their own
    Map lines;          // Source -> Lines
    Map scopes;         // Source -> scope inside the function
    const char *directory;
};

static Lines *lines_of(Debug *d, const Source *src) {
    Lines *l = map_get(&d->lines, src);
    if (l) return l;
    l = ARENA_NEW(d->arena, Lines);
    l->file = LLVMDIBuilderCreateFile(d->info, src->name, strlen(src->name), d->directory, strlen(d->directory));
    int n = 1;
    for (size_t i = 0; i < src->len; i++) n += src->text[i] == '\n';
    l->begin = ARENA_ARRAY(d->arena, uint32_t, n);
    l->n = 1;
    for (size_t i = 0; i < src->len; i++)
        if (src->text[i] == '\n') l->begin[l->n++] = (uint32_t)i + 1;
    map_put(&d->lines, src, l);
    return l;
}

static unsigned line_at(const Lines *l, uint32_t offset) {
    int low = 0, high = l->n;
    while (high - low > 1) {
        int middle = (low + high) / 2;
        if (l->begin[middle] <= offset) low = middle;
        else high = middle;
    }
    return (unsigned)low + 1;
}

static unsigned column_at(const Lines *l, uint32_t offset) { return offset - l->begin[line_at(l, offset) - 1] + 1; }

Debug *debug_new(Emitter *e, const Source *main) {
    Debug *d = ARENA_NEW(e->arena, Debug);
    *d = (Debug){.arena = e->arena, .context = e->context, .builder = e->builder};
    char *directory = getcwd(NULL, 0);
    d->directory = arena_strdup(e->arena, directory ? directory : ".");
    free(directory);
    d->info = LLVMCreateDIBuilder(e->module);
    static const char producer[] = "fsmc";
    d->unit =
        LLVMDIBuilderCreateCompileUnit(d->info, LLVMDWARFSourceLanguageC99, lines_of(d, main)->file, producer, sizeof producer - 1,
                                       true, "", 0, 0, "", 0, LLVMDWARFEmissionLineTablesOnly, 0, false, false, "", 0, "", 0);
    d->function_type = LLVMDIBuilderCreateSubroutineType(d->info, lines_of(d, main)->file, NULL, 0, LLVMDIFlagZero);
    static const char key[] = "Debug Info Version";
    LLVMMetadataRef version = LLVMValueAsMetadata(LLVMConstInt(e->type_i32, LLVMDebugMetadataVersion(), false));
    LLVMAddModuleFlag(e->module, LLVMModuleFlagBehaviorWarning, key, sizeof key - 1, version);
    return d;
}

void debug_begin_function(Debug *d, LLVMValueRef function, const Func *f, const char *name) {
    if (!d) return;
    d->home = f->span.src;
    map_free(&d->scopes);
    d->function = NULL;
    if (!d->home) return; // a function without a place in a source
    Lines *l = lines_of(d, d->home);
    unsigned line = line_at(l, f->span.begin);
    d->function = LLVMDIBuilderCreateFunction(d->info, l->file, name, strlen(name), name, strlen(name), l->file, line,
                                              d->function_type, false, true, line, LLVMDIFlagZero, true);
    LLVMSetSubprogram(function, d->function);
    debug_place(d, f->span);
}

void debug_place(Debug *d, Span at) {
    if (!d || !d->function || !at.src) return;
    Lines *l = lines_of(d, at.src);
    LLVMMetadataRef scope = d->function;
    if (at.src != d->home) {
        scope = map_get(&d->scopes, at.src);
        if (!scope) scope = LLVMDIBuilderCreateLexicalBlockFile(d->info, d->function, l->file, 0);
        map_put(&d->scopes, at.src, scope);
    }
    LLVMMetadataRef place = LLVMDIBuilderCreateDebugLocation(d->context, line_at(l, at.begin), column_at(l, at.begin), scope, NULL);
    LLVMSetCurrentDebugLocation2(d->builder, place);
}

DebugFunction debug_enter(Debug *d, LLVMValueRef function, const Func *f, const char *name) {
    if (!d) return (DebugFunction){NULL, {0}};
    DebugFunction around = {d->function, d->scopes};
    d->scopes = (Map){0};
    debug_begin_function(d, function, f, name);
    return around;
}

void debug_leave(Debug *d, DebugFunction around) {
    if (!d) return;
    map_free(&d->scopes);
    d->function = around.function, d->scopes = around.scopes;
}

void debug_nowhere(Debug *d) {
    if (d) LLVMSetCurrentDebugLocation2(d->builder, NULL);
}

void debug_finish(Debug *d) {
    if (!d) return;
    LLVMDIBuilderFinalize(d->info);
    LLVMDisposeDIBuilder(d->info);
    map_free(&d->lines);
    map_free(&d->scopes);
}
