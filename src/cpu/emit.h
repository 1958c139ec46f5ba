// Shared by the files of the printer of loop trees as LLVM IR.
#ifndef CPU_EMIT_H
#define CPU_EMIT_H

#include "cpu/cpu.h"
#include "support/map.h"

#include <llvm-c/Core.h>
#include <llvm-c/Orc.h>
#include <llvm-c/TargetMachine.h>

struct CpuModule {
    CpuOptions opt;
    LLVMOrcThreadSafeContextRef owner;
    LLVMContextRef context;
    LLVMModuleRef plain;
    LLVMTargetMachineRef machine;
    bool quick; // it is so large that code is generated fast rather than well; known once it is optimised
};

typedef struct Debug Debug;

// Types and declarations of a module that are looked up again and again.
typedef struct Emitter {
    Arena *arena;
    const CpuOptions *opt;
    LLVMContextRef context;
    LLVMModuleRef module;
    LLVMBuilderRef builder;
    LLVMTypeRef type_void, type_i1, type_i8, type_i32, type_i64, type_float, type_double, type_ptr;
    Debug *debug; // NULL: no line tables
    int width;    // how many lanes a loop gets that may have some; 0: none
    int native;   // how many the processor's vectors hold
    bool gathers; // has it an instruction for vectors of numbers from anywhere, and a fast one?
    int lanes;    // emit_op, emit_conv, emit_accumulate make vectors of so many; 0: scalars
} Emitter;

// Line tables (debug.c); d may be NULL, and nothing is done then. `main` is the source of the compilation. Between
// begin_function and nowhere, instructions come from the last place that was named.
Debug *debug_new(Emitter *e, const Source *main);
void debug_begin_function(Debug *d, LLVMValueRef function, const Func *f, const char *name);
void debug_place(Debug *d, Span at);
// Another function in the midst of one: what comes before debug_leave is of the other.
typedef struct DebugFunction {
    LLVMMetadataRef function;
    Map scopes;
} DebugFunction;
DebugFunction debug_enter(Debug *d, LLVMValueRef function, const Func *f, const char *name);
void debug_leave(Debug *d, DebugFunction around);
void debug_nowhere(Debug *d);
void debug_finish(Debug *d); // when the module is complete

// The value of an elementwise operation; kind: of the result, for comparisons that of the operands. (values.c)
LLVMValueRef emit_op(Emitter *e, Op op, Kind kind, LLVMValueRef x, LLVMValueRef y);
LLVMValueRef emit_conv(Emitter *e, Kind to, Kind from, LLVMValueRef x);
const char *emit_libm_name(Op op);                  // of the function of libm that it is, or NULL
bool emit_op_takes_vectors(Op op);                  // may e->lanes be set? Of powi only with a literal exponent that is inlined
bool emit_powi_inline(Kind kind, int64_t exponent); // is it multiplications?
// A call of the C function that a program declares; changes args. It writes to the last `nout` of them.
LLVMValueRef emit_extern(Emitter *e, const char *name, LLVMTypeRef result, int n, LLVMValueRef *args, int nout);
// A call of a pure C function on the types of its arguments, scalars or vectors.
LLVMValueRef emit_pure_call(Emitter *e, const char *name, LLVMTypeRef result, int n, LLVMValueRef *args);
// x + y as a step of an accumulation: its order is free unless the mode is precise.
LLVMValueRef emit_accumulate(Emitter *e, Kind kind, LLVMValueRef x, LLVMValueRef y, bool subtract);
LLVMValueRef emit_int(Emitter *e, int64_t value);
LLVMValueRef emit_lit(Emitter *e, Kind kind, double real, int64_t num);
LLVMTypeRef emit_type(Emitter *e, Kind kind);        // of a value in a register, a vector if e->lanes
LLVMTypeRef emit_memory_type(Emitter *e, Kind kind); // of an array element: Bool is a byte
// Declares a function of the run-time library or libm; attrs is a list of names of enum attributes ended by NULL.
LLVMValueRef emit_declare(Emitter *e, const char *name, LLVMTypeRef type, const char *const *attrs);
LLVMTypeRef emit_function_type(Emitter *e, LLVMTypeRef result, int n, const LLVMTypeRef *params, bool variadic);
void emit_attribute(Emitter *e, LLVMValueRef function, LLVMAttributeIndex at, const char *name, uint64_t value);
// Of a name that LLVM need not know.
void emit_text_attribute(Emitter *e, LLVMValueRef function, const char *name, const char *value);
// A function with loops: LLVM makes vectors as wide as the lanes, where it would take half of them by itself.
void emit_wide(Emitter *e, LLVMValueRef function);
LLVMValueRef emit_intrinsic(Emitter *e, const char *name, int ntypes, LLVMTypeRef *types, int nargs, LLVMValueRef *args);
// An Int operation by the intrinsic NAME, like "llvm.smul.with.overflow"; sets *over where the result does not fit.
LLVMValueRef emit_checked(Emitter *e, const char *name, LLVMValueRef a, LLVMValueRef b, LLVMValueRef *over);
// A private constant string.
LLVMValueRef emit_string(Emitter *e, const char *text);

// The C functions of one tree: NAME, and unless the module is for cpu_call also NAME_general, NAME_sizes and
// NAME_sizes_general. (entry.c)
void emit_entry(Emitter *e, const Tree *tree, const char *name);
// In a function with the parameters of an entry: returns with a code unless fsm_check_arrays says FSM_OK. (entry.c)
void emit_array_checks(Emitter *e, const Tree *tree, LLVMValueRef function);
// In such a function: are the arguments as the version assumes (ir_assumptions)? (entry.c)
LLVMValueRef emit_is_as_assumed(Emitter *e, const Tree *tree, LLVMValueRef function, bool measured);
LLVMTypeRef emit_entry_type(Emitter *e, const Func *f);
// What an entry does after fsm_begin, as an internal function. (emit.c)
void emit_body(Emitter *e, const Tree *tree, const char *name);
// The uniform function of cpu_call. (emit.c)
void emit_caller(Emitter *e, const Func *f, const char *name);

// Around code with loops, under --fp=fast: results below the least normal numbers become 0. was, now: room for 32 bits each.
// (flush.c)
bool flush_wanted(const Emitter *e, const Tree *tree);
void flush_begin(Emitter *e, LLVMValueRef was, LLVMValueRef now);
void flush_end(Emitter *e, LLVMValueRef was);

// A target machine for the options; the caller disposes of it. (llvm.c)
LLVMTargetMachineRef cpu_machine(const CpuOptions *opt, bool jit);
// The target machine that code is generated for: for this process, or for others; the caller disposes of it. (llvm.c)
LLVMTargetMachineRef cpu_generator(const CpuModule *m, bool jit);
// The passes that look at one function at a time, on a module of which those for several have run. (llvm.c)
void cpu_optimise_apart(const CpuModule *m, LLVMTargetMachineRef machine, LLVMModuleRef module);
// The code of an optimised module, which changes it; to be disposed of. (llvm.c)
LLVMMemoryBufferRef cpu_generate(LLVMTargetMachineRef machine, LLVMModuleRef module, LLVMCodeGenFileType type);
// Its object file, for this process or for others, made or kept from before; to be disposed of. (llvm.c)
LLVMMemoryBufferRef cpu_object(CpuModule *m, bool jit);
// An object of a module of which the passes for several functions have run, made by several threads. (partition.c)
LLVMMemoryBufferRef partition_generate(const CpuModule *m, LLVMModuleRef module, bool jit);
// One relocatable object of n, in this order; to be disposed of. Not on all systems. (object.c)
bool object_can_join(void);
LLVMMemoryBufferRef object_joined(int n, const LLVMMemoryBufferRef *parts);

// An attribute of functions for which code is made fast rather than well.
#define QUICK_ATTRIBUTE  "fsm-quick"
// The name of the uniform function of an entry.
#define CALLER_SUFFIX    "__call"
#define GENERAL_SUFFIX   "_general"
#define SIZES_SUFFIX     "_sizes"
#define DEVICE_SUFFIX    "_device"
// Of internal functions: with a dot, which no other name has.
#define BODY_SUFFIX      ".body"
#define OTHERWISE_SUFFIX ".empty" // the version for sizes of 0

#endif
