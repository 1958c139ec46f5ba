// Compiled code in this process, and calls of it with arguments of any kinds.
#include "cpu/emit.h"

#include "fsmc/runtime_internal.h"
#include "ir/interp.h"

#include <llvm-c/ExecutionEngine.h>
#include <llvm-c/LLJIT.h>
#include <llvm-c/OrcEE.h>

struct CpuJit {
    LLVMOrcLLJITRef lljit;
    fsm_context *context;
};

// ---- loading

// The run-time library is linked into this program, whether or not its symbols can be found by name; libm is found by
// the search of the process.
enum { MAX_SYMBOLS = 32 };
static int runtime_symbols(CpuSymbol *table, const CpuSymbol *instead) {
    int n = 0;
#define SYMBOL(f) table[n++] = (CpuSymbol){#f, (uintptr_t)f}
    SYMBOL(fsm_begin);
    SYMBOL(fsm_end);
    SYMBOL(fsm_is_free);
    SYMBOL(fsm_check_arrays);
    SYMBOL(fsm_view_sizes);
    SYMBOL(fsm_view_inputs);
    SYMBOL(fsm_view_outputs);
    SYMBOL(fsm_view_finish);
    SYMBOL(fsm_fail);
    SYMBOL(fsm_poll);
    SYMBOL(fsm_alloc);
    SYMBOL(fsm_mark);
    SYMBOL(fsm_release);
    SYMBOL(fsm_columns);
    SYMBOL(fsm_measure);
    SYMBOL(fsm_chunk);
    SYMBOL(fsm_parallel);
    SYMBOL(fsm_threads);
    SYMBOL(fsm_lgamma);
    SYMBOL(fsm_digamma);
    SYMBOL(fsm_polygamma);
    SYMBOL(fsm_powi);
#undef SYMBOL
    for (const CpuSymbol *s = instead; s && s->name; s++)
        for (int i = 0; i < n; i++)
            if (!strcmp(table[i].name, s->name)) table[i] = *s;
    return n;
}

// Those of lanes (cpu/lanes.c), which linkers of C programs find by -lm.
static LLVMErrorRef find_vector_functions(LLVMOrcLLJITRef lljit, char prefix) {
#if defined(__x86_64__) && defined(__GLIBC__)
    LLVMOrcDefinitionGeneratorRef libmvec;
    LLVMErrorRef error = LLVMOrcCreateDynamicLibrarySearchGeneratorForPath(&libmvec, "libmvec.so.1", prefix, NULL, NULL);
    if (!error) LLVMOrcJITDylibAddGenerator(LLVMOrcLLJITGetMainJITDylib(lljit), libmvec);
    return error;
#else
    (void)lljit, (void)prefix;
    return NULL;
#endif
}

static LLVMErrorRef define_symbols(LLVMOrcLLJITRef lljit, const CpuSymbol *instead) {
    CpuSymbol symbols[MAX_SYMBOLS];
    const int n = runtime_symbols(symbols, instead);
    LLVMOrcCSymbolMapPair pairs[MAX_SYMBOLS];
    for (int i = 0; i < n; i++) {
        pairs[i].Name = LLVMOrcLLJITMangleAndIntern(lljit, symbols[i].name);
        pairs[i].Sym.Address = symbols[i].address;
        pairs[i].Sym.Flags = (LLVMJITSymbolFlags){LLVMJITSymbolGenericFlagsExported, 0};
    }
    LLVMOrcJITDylibRef library = LLVMOrcLLJITGetMainJITDylib(lljit);
    LLVMErrorRef error = LLVMOrcJITDylibDefine(library, LLVMOrcAbsoluteSymbols(pairs, (size_t)n));
    if (error) return error;
    LLVMOrcDefinitionGeneratorRef process;
    char prefix = LLVMOrcLLJITGetGlobalPrefix(lljit);
    error = LLVMOrcCreateDynamicLibrarySearchGeneratorForProcess(&process, prefix, NULL, NULL);
    if (!error) LLVMOrcJITDylibAddGenerator(library, process);
    return error ? error : find_vector_functions(lljit, prefix);
}

// A linker that tells debuggers and profilers of the code.
static LLVMOrcObjectLayerRef observed_layer(void *data, LLVMOrcExecutionSessionRef session, const char *triple) {
    (void)data, (void)triple;
    LLVMOrcObjectLayerRef layer = LLVMOrcCreateRTDyldObjectLinkingLayerWithSectionMemoryManager(session);
    LLVMJITEventListenerRef listeners[] = {LLVMCreateGDBRegistrationListener(), LLVMCreatePerfJITEventListener()};
    for (int i = 0; i < 2; i++)
        if (listeners[i]) LLVMOrcRTDyldObjectLinkingLayerRegisterJITEventListener(layer, listeners[i]);
    return layer;
}

static void report(Diag *diag, LLVMErrorRef error) {
    char *text = LLVMGetErrorMessage(error);
    diag_error(diag, nowhere, "cannot load the compiled code: %s", text);
    LLVMDisposeErrorMessage(text);
}

static LLVMErrorRef load(CpuModule *m, LLVMOrcLLJITRef *lljit) {
    LLVMOrcLLJITBuilderRef builder = LLVMOrcCreateLLJITBuilder();
    LLVMTargetMachineRef machine = cpu_machine(&m->opt, true);
    LLVMOrcLLJITBuilderSetJITTargetMachineBuilder(builder, LLVMOrcJITTargetMachineBuilderCreateFromTargetMachine(machine));
    if (m->opt.debug) LLVMOrcLLJITBuilderSetObjectLinkingLayerCreator(builder, observed_layer, NULL);
    LLVMErrorRef error = LLVMOrcCreateLLJIT(lljit, builder);
    if (error) return error;
    if ((error = define_symbols(*lljit, m->opt.instead))) return error;
    return LLVMOrcLLJITAddObjectFile(*lljit, LLVMOrcLLJITGetMainJITDylib(*lljit), cpu_object(m, true));
}

CpuJit *cpu_jit(CpuModule *m, Diag *diag) {
    CpuJit *jit = calloc(1, sizeof *jit);
    if (!jit || !(jit->context = fsm_context_new())) diag_out_of_memory();
    LLVMErrorRef error = load(m, &jit->lljit);
    if (!error) return jit;
    report(diag, error);
    cpu_jit_delete(jit);
    return NULL;
}

void cpu_jit_delete(CpuJit *jit) {
    if (!jit) return;
    LLVMErrorRef error = jit->lljit ? LLVMOrcDisposeLLJIT(jit->lljit) : NULL;
    if (error) LLVMConsumeError(error);
    fsm_context_free(jit->context);
    free(jit);
}

void *cpu_jit_symbol(CpuJit *jit, const char *name) {
    LLVMOrcExecutorAddress address = 0;
    LLVMErrorRef error = LLVMOrcLLJITLookup(jit->lljit, &address, name);
    if (!error) return (void *)(uintptr_t)address;
    LLVMConsumeError(error);
    return NULL;
}

int64_t cpu_jit_peak_bytes(const CpuJit *jit) { return fsm_context_peak_bytes(jit->context); }

// ---- calling

int cpu_prepare(Arena *a, CpuJit *jit, const Func *f, const Tensor *inputs, Tensor *outputs, CpuCall *call, const char **error) {
    typedef int Caller(fsm_context *, void **);
    Caller *caller = (Caller *)(uintptr_t)cpu_jit_symbol(jit, arena_printf(a, "%s" CALLER_SUFFIX, cpu_c_name(a, f->name)));
    if (!caller) fatal_bug("no compiled code for '%s'", f->name);
    int code = func_prepare(a, f, inputs, outputs, error);
    if (code) return code;
    void **args = ARENA_ARRAY(a, void *, f->ninputs + f->noutputs + 1);
    for (int i = 0; i < f->ninputs; i++) args[i] = inputs[i].data;
    for (int i = 0; i < f->noutputs; i++) args[f->ninputs + i] = outputs[i].data;
    *call = (CpuCall){jit, caller, args};
    return 0;
}

int cpu_invoke(const CpuCall *call, const char **error) {
    int code = call->code(call->jit->context, call->args);
    if (code) *error = fsm_context_error(call->jit->context);
    return code;
}

int cpu_call(Arena *a, CpuJit *jit, const Func *f, const Tensor *inputs, Tensor *outputs, const char **error) {
    CpuCall call;
    int code = cpu_prepare(a, jit, f, inputs, outputs, &call, error);
    if (code) return code;
    code = cpu_invoke(&call, error);
    if (code) *error = arena_strdup(a, *error);
    return code;
}
