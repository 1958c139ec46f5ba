// The CPU backend: loop trees printed as LLVM IR, then an object file, assembly text, or code in memory.
#ifndef CPU_CPU_H
#define CPU_CPU_H

#include "ir/tensor.h"
#include "lower/tree.h"
#include "support/cache.h"

typedef enum CpuFp {
    CPU_FP_PRECISE,  // IEEE operations in the order of the tree
    CPU_FP_CONTRACT, // also fused multiply-add, and any order of the additions into one accumulator
    CPU_FP_FAST      // any algebraic rule of the reals; NaN and infinity are still honoured
} CpuFp;

// A function of the run-time library.
typedef struct CpuSymbol {
    const char *name;
    uintptr_t address;
} CpuSymbol;

typedef struct CpuOptions {
    int level;       // of optimisation, 0 … 3
    const char *cpu; // NULL or "native": this machine; "baseline": any machine of its architecture; or a name LLVM knows
    CpuFp fp;
    const char *name; // of the module, as shown in its text
    bool callable;    // also make what cpu_call needs
    bool debug;       // line tables
    bool quick;       // LLVM takes few passes instead of those of the level, and generates code fast rather than well
    int lanes;        // of loops that may have some: 2, 4 or 8; 0: none; -1: as many as the processor's vectors hold
    int threads;      // of calls whose context does not say how many; 0: one for each processor
    int64_t cache;    // bytes that a processor has for itself
    int jobs;         // threads that generate code; 0: as many as there are processors
    const Cache *kept;        // where objects are kept for the next time, which must stay; NULL: nowhere
    const CpuSymbol *instead; // what cpu_jit takes instead of functions of these names, up to one of none; NULL: nothing
} CpuOptions;

// How many registers for vectors a processor (CpuOptions.cpu) has.
int cpu_registers(const char *cpu);
// How many lanes loops have.
int cpu_width(const char *cpu);
// Whether that of this name loads a vector of numbers from anywhere by one fast instruction.
bool cpu_gathers(const char *cpu);

typedef struct CpuModule CpuModule;
typedef struct CpuJit CpuJit;

// One module with an exported C function per tree (DESIGN: C ABI). Entries whose name is reserved in C or clashes with
// another, and unknown processors, are reported to diag. NULL after an error. The trees' functions must outlive the module.
CpuModule *cpu_emit(Arena *a, Diag *diag, int ntrees, Tree *const *trees, const CpuOptions *opt);
void cpu_delete(CpuModule *m); // NULL is allowed

// The module as LLVM IR, as printed from the trees or after optimisation.
void cpu_print_llvm(CpuModule *m, Str *out, bool optimised);
void cpu_print_asm(CpuModule *m, Str *out);
// Writes a relocatable object file; false after reporting an error.
bool cpu_write_object(CpuModule *m, Diag *diag, const char *path);

// Code in this process. Valid until cpu_jit_delete, independently of the module. NULL after reporting an error.
CpuJit *cpu_jit(CpuModule *m, Diag *diag);
void cpu_jit_delete(CpuJit *jit); // NULL is allowed
// The address of an entry, NULL if there is none of that name.
void *cpu_jit_symbol(CpuJit *jit, const char *name);
// Calls the entry compiled from f (module made with `callable`). Allocates the outputs in the arena. Returns 0, or a
// code of fsmc/runtime.h with *error set to a text in the arena.
int cpu_call(Arena *a, CpuJit *jit, const Func *f, const Tensor *inputs, Tensor *outputs, const char **error);
// A call made ready: everything is checked and its outputs are there, so that only the code itself is left to run.
struct fsm_context;
typedef struct CpuCall {
    CpuJit *jit;
    int (*code)(struct fsm_context *, void **);
    void **args;
} CpuCall;
// The inputs must stay where they are. Returns 0, or a code with *error set, as cpu_call does.
int cpu_prepare(Arena *a, CpuJit *jit, const Func *f, const Tensor *inputs, Tensor *outputs, CpuCall *call, const char **error);
// Runs it. *error is valid until the next call.
int cpu_invoke(const CpuCall *call, const char **error);
// The most scratch memory that a call so far has needed.
int64_t cpu_jit_peak_bytes(const CpuJit *jit);

// The C header that declares the entries; `name` (without directories or suffix) gives the include guard.
void cpu_header(Str *out, const char *name, int nfuncs, Func *const *funcs);
void cpu_device_header(Str *out, const char *name, int nfuncs, Func *const *funcs); // of code for a GPU
// An extent, an Int over the inputs, as comments write it; names: of the inputs.
void cpu_print_size(Str *out, const Node *n, const char *const *names);
// A text of the user as lines of comment in C, with nothing that could end or continue them wrongly.
void cpu_print_comment(Str *out, const char *text);
// C++ wrappers of the functions that NAME.h declares.
void cpu_cpp_header(Str *out, const char *name, int nfuncs, Func *const *funcs);
// The name of an entry or parameter in C: primes become "_prime", keywords get a trailing '_'.
const char *cpu_c_name(Arena *a, const char *name);
// Those of the entries; NULL after reporting some that C cannot have.
const char **cpu_entry_names(Arena *a, Diag *diag, int n, Tree *const *trees);
// What `entry` names cannot be: words of C and C++, and functions that compiled code or its callers need.
bool cpu_name_reserved(const char *name);
// Unique C names for the inputs and then the outputs of f, in the order of the C function's parameters after ctx.
const char **cpu_parameter_names(Arena *a, const Func *f);
// The argument that shows size `number` of f: its index among those that are arrays, and which of its extents. False if
// there is none (an array of empty tuples binds it).
bool cpu_size_source(const Func *f, int number, int *array, int *dim);
// Whether f has the general form NAME_general: it has arrays, and every size can be read off one.
bool cpu_has_general(const Func *f);
// Whether an extent is an expression in the sizes and scalar arguments.
bool cpu_size_is_known(const Node *n);

#endif
