// Modules of LLVM IR: making them from trees, optimising, and writing them out.
#include "cpu/emit.h"

#include <llvm-c/Analysis.h>
#include <llvm-c/BitWriter.h>
#include <llvm-c/ErrorHandling.h>
#include <llvm-c/IRReader.h>
#include <llvm-c/Support.h>
#include <llvm-c/Target.h>
#include <llvm-c/Transforms/PassBuilder.h>

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

// ---- the target

static void on_fatal_error(const char *reason) {
    diag_current_pass = "llvm";
    fatal_bug("%s", reason);
}

static void start_llvm(void) {
    static bool started;
    if (started) return;
    started = true;
    LLVMInstallFatalErrorHandler(on_fatal_error);
    if (LLVMInitializeNativeTarget() || LLVMInitializeNativeAsmPrinter()) fatal_bug("LLVM lacks this machine");
    static const char *const options[] = {
        "fsmc",
        // What loops with vectors of 8 leave over is done as shorter vectors, as LLVM does after those of 16 by itself.
        "-epilogue-vectorization-minimum-VF=8",
        // Loops whose number of iterations is not known are not unrolled: lanes and register blocks (lower/jam.c) have
        // done what pays, and the copies were a tenth of an object and more of the time that it took.
        "-unroll-runtime=false",
#if defined(__x86_64__)
        // What moves masks to registers of their own takes time that grows with the square of a function's length.
        "-disable-x86-domain-reassignment",
#endif
    };
    LLVMParseCommandLineOptions(sizeof options / sizeof *options, options, "");
}

// LLVM ignores a processor it does not know, or ends the program, so that unknown names must not reach it. The names
// are those of 64-bit x86 processors in LLVM 19; on other architectures every name is passed on.
#if defined(__x86_64__)
static const char known_cpus[] = " "
                                 "native baseline generic x86-64 x86-64-v2 x86-64-v3 x86-64-v4 alderlake amdfam10 arrowlake "
                                 "arrowlake-s athlon64 athlon64-sse3 athlon-fx atom barcelona bdver1 bdver2 bdver3 bdver4 "
                                 "bonnell broadwell btver1 btver2 cannonlake cascadelake clearwaterforest cooperlake core2 "
                                 "corei7 corei7-avx core-avx2 core-avx-i emeraldrapids goldmont goldmont-plus gracemont "
                                 "grandridge graniterapids graniterapids-d haswell icelake-client icelake-server ivybridge k8 "
                                 "k8-sse3 knl knm lunarlake meteorlake nehalem nocona opteron opteron-sse3 pantherlake penryn "
                                 "raptorlake rocketlake sandybridge sapphirerapids sierraforest silvermont skx skylake "
                                 "skylake-avx512 slm tigerlake tremont westmere znver1 znver2 znver3 znver4 ";

static bool cpu_known(const char *cpu) {
    size_t n = strlen(cpu);
    if (!n || strchr(cpu, ' ')) return false;
    for (const char *s = known_cpus; (s = strstr(s, cpu)); s++)
        if (s[-1] == ' ' && s[n] == ' ') return true;
    return false;
}
#else
static bool cpu_known(const char *cpu) { return *cpu != 0; }
#endif

LLVMTargetMachineRef cpu_machine(const CpuOptions *opt, bool jit) {
    static const LLVMCodeGenOptLevel levels[] = {LLVMCodeGenLevelNone, LLVMCodeGenLevelLess, LLVMCodeGenLevelDefault,
                                                 LLVMCodeGenLevelAggressive};
    start_llvm();
    char *triple = LLVMGetDefaultTargetTriple(), *host = LLVMGetHostCPUName(), *features = LLVMGetHostCPUFeatures();
    const char *cpu = opt->cpu ? opt->cpu : "native", *enabled = "";
    if (!strcmp(cpu, "native")) cpu = host, enabled = features;
    else if (!strcmp(cpu, "baseline")) cpu = strncmp(triple, "x86_64", 6) ? "generic" : "x86-64";
    LLVMTargetRef target;
    char *error = NULL;
    if (LLVMGetTargetFromTriple(triple, &target, &error)) fatal_bug("%s", error);
    int level = opt->level < 0 ? 0 : opt->level > 3 ? 3 : opt->level;
    LLVMTargetMachineRef machine = LLVMCreateTargetMachine(target, triple, cpu, enabled, levels[level], LLVMRelocPIC,
                                                           jit ? LLVMCodeModelJITDefault : LLVMCodeModelDefault);
    LLVMDisposeMessage(triple);
    LLVMDisposeMessage(host);
    LLVMDisposeMessage(features);
    if (!machine) fatal_bug("LLVM makes no code for '%s'", cpu);
    return machine;
}

static void set_target(CpuModule *m) {
    char *triple = LLVMGetTargetMachineTriple(m->machine);
    LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(m->machine);
    LLVMSetTarget(m->plain, triple);
    LLVMSetModuleDataLayout(m->plain, layout);
    LLVMDisposeTargetData(layout);
    LLVMDisposeMessage(triple);
}

// Does the machine have such an instruction for this IR, with registers of that name? LLVM says what its processors can
// do only by the code that it makes.
static bool makes(LLVMTargetMachineRef machine, const char *ir, const char *instruction, const char *registers) {
    LLVMContextRef context = LLVMContextCreate();
    LLVMMemoryBufferRef text = LLVMCreateMemoryBufferWithMemoryRangeCopy(ir, strlen(ir), "probe"), code = NULL;
    LLVMModuleRef module;
    char *error = NULL;
    if (LLVMParseIRInContext(context, text, &module, &error)) fatal_bug("%s", error);
    if (LLVMTargetMachineEmitToMemoryBuffer(machine, module, LLVMAssemblyFile, &error, &code)) fatal_bug("%s", error);
    bool found = false;
    for (const char *at = LLVMGetBufferStart(code); !found && (at = strstr(at, instruction)); at++) {
        const char *name = strstr(at, registers);
        found = name && name < at + strcspn(at, "\n");
    }
    LLVMDisposeMemoryBuffer(code);
    LLVMDisposeModule(module);
    LLVMContextDispose(context);
    return found;
}

// Is the feature in the list?
static bool has(const char *features, const char *feature) {
    size_t n = strlen(feature);
    for (const char *at = features; (at = strstr(at, feature)); at += n)
        if (at[n] == ',' || !at[n]) return true;
    return false;
}

// How many doubles the machine's vectors hold: with AVX-512DQ (which not all that have AVX-512 do) 8, with AVX2 and FMA
// 4.
static int native_lanes(LLVMTargetMachineRef machine) {
    static const char with8[] =
        "define <8 x double> @f(<8 x i64> %x) {\n%y = sitofp <8 x i64> %x to <8 x double>\nret <8 x double> %y\n}";
    static const char with4[] = "define <4 x i64> @f(<4 x i64> %x, <4 x i64> %y) {\n%z = add <4 x i64> %x, %y\nret <4 x i64> %z\n}";
    char *triple = LLVMGetTargetMachineTriple(machine), *features = LLVMGetTargetMachineFeatureString(machine);
    char *cpu = LLVMGetTargetMachineCPU(machine);
    int lanes = 2;
    if (*features) // of this processor
        lanes = has(features, "+avx512dq") ? 8 : has(features, "+avx2") && has(features, "+fma") ? 4 : 2;
    else if (!strncmp(triple, "x86_64", 6) && strcmp(cpu, "x86-64"))
        lanes = makes(machine, with8, "vcvtqq2pd", "zmm") ? 8 : makes(machine, with4, "vpaddq", "ymm") ? 4 : 2;
    LLVMDisposeMessage(triple);
    LLVMDisposeMessage(features);
    LLVMDisposeMessage(cpu);
    return lanes;
}

// Do vectors of 8 numbers from anywhere come in by one instruction that is faster than a load for each? LLVM takes
// those apart of processors for which it is not, but for AMD's, which do them by microcode.
static bool has_gathers(LLVMTargetMachineRef machine) {
    static const char gather[] = "declare <8 x double> @llvm.masked.gather.v8f64.v8p0(<8 x ptr>, i32, <8 x i1>, <8 x double>)\n"
                                 "define <8 x double> @f(<8 x ptr> %p, <8 x i1> %m) {\n%x = call <8 x double> "
                                 "@llvm.masked.gather.v8f64.v8p0(<8 x ptr> %p, i32 8, <8 x i1> %m, <8 x double> zeroinitializer)\n"
                                 "ret <8 x double> %x\n}";
    char *cpu = LLVMGetTargetMachineCPU(machine);
    bool amd = !strncmp(cpu, "znver", 5);
    LLVMDisposeMessage(cpu);
    return !amd && native_lanes(machine) == 8 && makes(machine, gather, "vgatherqpd", "zmm");
}

int cpu_width(const char *cpu) {
    CpuOptions opt = {.cpu = cpu};
    if (cpu && !cpu_known(cpu)) return 2; // cpu_emit will say so
    LLVMTargetMachineRef machine = cpu_machine(&opt, false);
    int n = native_lanes(machine);
    LLVMDisposeTargetMachine(machine);
    return n;
}

bool cpu_gathers(const char *cpu) {
    CpuOptions opt = {.cpu = cpu};
    if (cpu && !cpu_known(cpu)) return false;
    LLVMTargetMachineRef machine = cpu_machine(&opt, false);
    bool gathers = has_gathers(machine);
    LLVMDisposeTargetMachine(machine);
    return gathers;
}

int cpu_registers(const char *cpu) {
    CpuOptions opt = {.cpu = cpu};
    if (cpu && !cpu_known(cpu)) return 16; // cpu_emit will say so
    LLVMTargetMachineRef machine = cpu_machine(&opt, false);
    char *triple = LLVMGetTargetMachineTriple(machine);
    int n = strncmp(triple, "x86_64", 6) || native_lanes(machine) == 8 ? 32 : 16;
    LLVMDisposeMessage(triple);
    LLVMDisposeTargetMachine(machine);
    return n;
}

// ---- printing trees

static Emitter emitter_new(Arena *a, const CpuModule *m) {
    LLVMContextRef c = m->context;
    return (Emitter){.arena = a,
                     .opt = &m->opt,
                     .context = c,
                     .module = m->plain,
                     .builder = LLVMCreateBuilderInContext(c),
                     .type_void = LLVMVoidTypeInContext(c),
                     .type_i1 = LLVMInt1TypeInContext(c),
                     .type_i8 = LLVMInt8TypeInContext(c),
                     .type_i32 = LLVMInt32TypeInContext(c),
                     .type_i64 = LLVMInt64TypeInContext(c),
                     .type_float = LLVMFloatTypeInContext(c),
                     .type_double = LLVMDoubleTypeInContext(c),
                     .type_ptr = LLVMPointerTypeInContext(c, 0)};
}

static void verify(const CpuModule *m, LLVMModuleRef module) {
    char *error = NULL;
    if (LLVMVerifyModule(module, LLVMReturnStatusAction, &error)) {
        diag_current_pass = "llvm";
        fatal_bug("module %s: %s", m->opt.name, error);
    }
    LLVMDisposeMessage(error);
}

// Whether x is y with the ending of one of the functions that come with an entry.
static bool is_companion(const char *x, const char *y) {
    static const char *const endings[] = {GENERAL_SUFFIX, SIZES_SUFFIX, SIZES_SUFFIX GENERAL_SUFFIX, DEVICE_SUFFIX};
    size_t n = strlen(y);
    for (int i = 0; i < 4; i++)
        if (!strncmp(x, y, n) && !strcmp(x + n, endings[i])) return true;
    return false;
}

// What checks the arguments of a call evaluates the sizes of arrays, for which there are no loops there.
static void check_sizes(Diag *diag, const Func *f) {
    bool known = true;
    for (int i = 0; i < f->ninputs; i++)
        for (int k = 0; k < f->inputs[i]->rank; k++) known &= cpu_size_is_known(f->inputs[i]->shape[k]);
    if (known) return;
    diag_error(diag, f->span, "entry '%s' has a parameter whose size is computed by a loop: only the interpreter can do that",
               f->name);
}

const char **cpu_entry_names(Arena *a, Diag *diag, int n, Tree *const *trees) {
    const char **names = ARENA_ARRAY(a, const char *, n + 1);
    int errors = diag_errors(diag);
    for (int i = 0; i < n; i++) {
        const Func *f = trees[i]->func;
        names[i] = cpu_c_name(a, f->name);
        check_sizes(diag, f);
        if (cpu_name_reserved(f->name))
            diag_error(diag, f->span, "entry '%s' cannot be exported: the name is reserved in C", f->name);
        for (int j = 0; j < i; j++) {
            bool longer = is_companion(names[i], names[j]);
            if (longer || is_companion(names[j], names[i]))
                diag_error(diag, f->span, "entries '%s' and '%s' cannot both be exported: '%s' is a function of the other",
                           trees[j]->func->name, f->name, names[longer ? i : j]);
            if (!strcmp(names[i], names[j]))
                diag_error(diag, f->span, "entries '%s' and '%s' would both be '%s' in C", trees[j]->func->name, f->name, names[i]);
        }
    }
    return diag_errors(diag) > errors ? NULL : names;
}

CpuModule *cpu_emit(Arena *a, Diag *diag, int ntrees, Tree *const *trees, const CpuOptions *opt) {
    if (opt->cpu && !cpu_known(opt->cpu)) {
        diag_error(diag, nowhere, "unknown processor '%s'", opt->cpu);
        return NULL;
    }
    const char **names = cpu_entry_names(a, diag, ntrees, trees);
    if (!names) return NULL;
    CpuModule *m = ARENA_NEW(a, CpuModule);
    m->opt = *opt;
    m->quick = opt->quick;
    m->opt.name = arena_strdup(a, opt->name ? opt->name : "fsmc");
    if (opt->cpu) m->opt.cpu = arena_strdup(a, opt->cpu);
    m->machine = cpu_machine(&m->opt, false);
    m->owner = LLVMOrcCreateNewThreadSafeContext();
    m->context = LLVMOrcThreadSafeContextGetContext(m->owner);
    m->plain = LLVMModuleCreateWithNameInContext(m->opt.name, m->context);
    set_target(m);
    Emitter e = emitter_new(a, m);
    e.native = native_lanes(m->machine);
    e.gathers = has_gathers(m->machine);
    e.width = opt->level < 2 ? 0 : opt->lanes >= 0 ? opt->lanes : e.native;
    if (opt->debug && ntrees && trees[0]->func->span.src) e.debug = debug_new(&e, trees[0]->func->span.src);
    for (int i = 0; i < ntrees; i++) emit_entry(&e, trees[i], names[i]);
    for (int i = 0; i < ntrees && opt->callable; i++) emit_caller(&e, trees[i]->func, names[i]);
    debug_finish(e.debug);
    LLVMDisposeBuilder(e.builder);
    verify(m, m->plain);
    return m;
}

void cpu_delete(CpuModule *m) {
    if (!m) return;
    LLVMDisposeModule(m->plain);
    LLVMDisposeTargetMachine(m->machine);
    LLVMOrcDisposeThreadSafeContext(m->owner);
}

// ---- optimisation

// Beyond these numbers, of blocks in a function and of instructions in a block, LLVM's time grows with their square and
// faster. What comes from statements is divided before (parts.c); these are long loops with lanes, and entries with
// thousands of arguments.
enum { MANY_BLOCKS = 4000, LONG_BLOCK = 10000 };

static bool is_huge(LLVMValueRef function) {
    if (LLVMCountBasicBlocks(function) > MANY_BLOCKS) return true;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b)) {
        int n = 0;
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
            if (++n > LONG_BLOCK) return true;
    }
    return false;
}

static bool is_quick(LLVMValueRef function) {
    LLVMAttributeIndex at = (LLVMAttributeIndex)LLVMAttributeFunctionIndex;
    return LLVMGetStringAttributeAtIndex(function, at, QUICK_ATTRIBUTE, sizeof QUICK_ATTRIBUTE - 1) != NULL;
}

// Runs some passes that take nearly linear time, and keeps the huge functions, and those of programs that are so long
// that all of it would take too long, from all others.
static LLVMErrorRef tidy_huge_functions(CpuModule *m, LLVMModuleRef module, LLVMPassBuilderOptionsRef options) {
    static const char *const attributes[] = {"noinline", "optnone"};
    LLVMContextRef context = LLVMGetModuleContext(module);
    bool huge = false, quick = false;
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f)) huge |= is_huge(f), quick |= is_quick(f);
    if (!huge && !quick) return NULL;
    m->quick = true;
    const char *passes = huge ? "function(sroa,simplifycfg,adce)"
                              : "function(sroa,early-cse,simplifycfg,loop-simplify,loop-mssa(licm),early-cse,adce)";
    LLVMErrorRef error = LLVMRunPasses(module, passes, m->machine, options);
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f && !error; f = LLVMGetNextFunction(f)) {
        for (int i = 0; i < 2 && (is_quick(f) || is_huge(f)); i++) {
            unsigned kind = LLVMGetEnumAttributeKindForName(attributes[i], strlen(attributes[i]));
            LLVMAddAttributeAtIndex(f, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, LLVMCreateEnumAttribute(context, kind, 0));
        }
    }
    return error;
}

// Passes that use what the module promises of arguments, memory and numbers, and leave out most that only makes code
// faster.
#define COMBINE "instcombine<no-verify-fixpoint>"
#define LICM    "loop-mssa(licm)"
static const char quick_passes[] = "function(sroa,early-cse<memssa>,simplifycfg," COMBINE
                                   ",loop-simplify," LICM ",gvn," COMBINE ",dse,simplifycfg,adce)";

// At -O2, of LLVM's passes at its own -O2, what pays: each was left out in turn. Not among them are gvn, indvars and
// loop-unroll (6 to 8 % of the time of all each; values are one by the interning of terms), and jump-threading, which
// made a chain of choices twice as slow as what selects. First comes what looks at several functions …
static const char passes_of_modules[] =
    // nests that entries have in common, as an objective and its gradient do, are one procedure
    "constmerge,mergefunc,"
    // what procedures always return, as that they do not fail, and what they are always given
    "ipsccp,cgscc(inline)";
// … of each function by itself, before vectors are made of what stands side by side …
static const char passes_that_pay[] =
    "function("
    "sroa,early-cse<memssa>,simplifycfg," COMBINE ",loop-simplify,lcssa," LICM ","
    // what does not change in a loop stands outside by now, so that indices are known not to be negative, nor divisors:
    // the quotient and the remainder of an index by an extent are taken together to be that index again
    "correlated-propagation," COMBINE ",loop-simplify,lcssa," LICM ","
    "loop(loop-idiom,loop-deletion,loop-unroll-full),sroa,early-cse<memssa>,dse," LICM ","
    "loop-vectorize," COMBINE ",simplifycfg<bonus-inst-threshold=1;forward-switch-cond;switch-range-to-icmp;"
    "switch-to-lookup;no-keep-loops;hoist-common-insts;sink-common-insts>,early-cse)";
// … and after these.
static const char passes_that_pay_last[] =
    "function("
    // reciprocals of what divides in inner loops go outside of these
    LICM ",simplifycfg,adce),deadargelim,globaldce,constmerge"; // messages of checks are often the same

// ---- fences

// Makes operand k of this a call `fence x`, before `at`. No code is made of it, but what it is made of is not seen
// through it.
static LLVMValueRef fence(LLVMModuleRef module, LLVMBuilderRef builder, LLVMValueRef user, unsigned k,
                          LLVMValueRef at) {
    static const char name[] = "llvm.arithmetic.fence";
    LLVMValueRef x = LLVMGetOperand(user, k);
    LLVMTypeRef type = LLVMTypeOf(x);
    LLVMValueRef function = LLVMGetIntrinsicDeclaration(module, LLVMLookupIntrinsicID(name, sizeof name - 1), &type, 1);
    LLVMPositionBuilderBefore(builder, at);
    LLVMValueRef fenced = LLVMBuildCall2(builder, LLVMGlobalGetValueType(function), function, &x, 1, "");
    LLVMSetOperand(user, k, fenced);
    return fenced;
}

// Is this a number that such an instruction makes?
static bool is_number(LLVMValueRef i, LLVMOpcode opcode) {
    LLVMTypeKind kind = LLVMGetTypeKind(LLVMTypeOf(i));
    return LLVMGetInstructionOpcode(i) == opcode && (kind == LLVMDoubleTypeKind || kind == LLVMFloatTypeKind);
}

// ---- states that must not be one vector

// What marks the fences of states.
static unsigned state_mark(LLVMModuleRef module) {
    static const char name[] = "fsm.state";
    return LLVMGetMDKindIDInContext(LLVMGetModuleContext(module), name, sizeof name - 1);
}

// Does a block end in a way to each block of which a phi can have a value of its own? Where two ways lead to one, it
// cannot.
static bool goes_once(LLVMValueRef end) {
    if (LLVMGetInstructionOpcode(end) != LLVMBr) return false;
    return !LLVMIsConditional(end) || LLVMGetSuccessor(end, 0) != LLVMGetSuccessor(end, 1);
}

static void fence_state(LLVMModuleRef module, LLVMBuilderRef builder, LLVMValueRef phi) {
    LLVMContextRef context = LLVMGetModuleContext(module);
    LLVMValueRef mark = LLVMMetadataAsValue(context, LLVMMDNodeInContext2(context, NULL, 0));
    for (unsigned k = 0; k < LLVMCountIncoming(phi); k++) {
        LLVMValueRef end = LLVMGetBasicBlockTerminator(LLVMGetIncomingBlock(phi, k));
        if (!LLVMIsAInstruction(LLVMGetOperand(phi, k)) || !goes_once(end)) continue;
        LLVMSetMetadata(fence(module, builder, phi, k, end), state_mark(module), mark);
    }
}

// The numbers that a loop carries, as the (x, y) of an integrator, wait for each other: a vector of them takes as long
// as one of them, and what turns it about for `x * y` comes on top. So they are fenced while vectors are made of what
// stands side by side; of a sum that a loop carries, lanes have been made before.
static void fence_states(LLVMModuleRef module) {
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(LLVMGetModuleContext(module));
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
            for (LLVMValueRef i = LLVMGetFirstInstruction(b); i && LLVMIsAPHINode(i); i = LLVMGetNextInstruction(i))
                if (is_number(i, LLVMPHI)) fence_state(module, builder, i);
    LLVMDisposeBuilder(builder);
}

static void free_states(LLVMModuleRef module) {
    unsigned mark = state_mark(module);
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
            for (LLVMValueRef i = LLVMGetFirstInstruction(b), next; i; i = next) {
                next = LLVMGetNextInstruction(i);
                if (!LLVMHasMetadata(i) || !LLVMGetMetadata(i, mark)) continue;
                LLVMReplaceAllUsesWith(i, LLVMGetOperand(i, 0));
                LLVMInstructionEraseFromParent(i);
            }
}

// ---- loads that must not be folded

// Is this a number that is loaded, for this alone?
static bool is_lone_load(LLVMValueRef v) {
    LLVMUseRef use = LLVMIsALoadInst(v) ? LLVMGetFirstUse(v) : NULL;
    return use && !LLVMGetNextUse(use);
}

// Would LLVM load 16 bytes for a number of 8? With AVX and without AVX-512 it blends whole registers to choose between
// two numbers, and where it selects instructions quickly (at -O0, and in functions that are not optimised) it folds the
// load of one into the blend, also where the array ends behind it.
static bool loads_too_much(LLVMTargetMachineRef machine) {
    static const char choice[] =
        "define double @f(double %w, ptr %p, double %y) noinline optnone {\n%x = load double, ptr %p\n"
        "%c = fcmp olt double %w, %y\n%z = select i1 %c, double %x, double %y\nret double %z\n}";
    return makes(machine, choice, "vblendvpd", "(");
}

// Keeps the loads of numbers that are chosen from apart from the choice: `select c, y, load p` is `select c, y, fence
// (load p)`. Only this late does it keep nothing from being optimised.
static void fence_loads(LLVMTargetMachineRef machine, LLVMModuleRef module) {
    LLVMBuilderRef builder = NULL; // made for the first of them
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
            for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
                for (unsigned k = 1; is_number(i, LLVMSelect) && k < 3; k++) {
                    if (!is_lone_load(LLVMGetOperand(i, k))) continue;
                    if (!builder && !loads_too_much(machine)) return;
                    if (!builder) builder = LLVMCreateBuilderInContext(LLVMGetModuleContext(module));
                    fence(module, builder, i, k, i);
                }
    if (builder) LLVMDisposeBuilder(builder);
}

// ---- the pipeline

static void require(LLVMErrorRef error) {
    if (!error) return;
    diag_current_pass = "llvm";
    fatal_bug("%s", LLVMGetErrorMessage(error));
}

static LLVMPassBuilderOptionsRef pass_options(int level) {
    LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
    LLVMPassBuilderOptionsSetLoopVectorization(options, level >= 2);
    LLVMPassBuilderOptionsSetSLPVectorization(options, level >= 2);
    LLVMPassBuilderOptionsSetLoopInterleaving(options, level >= 2);
    return options;
}

static int level_of(const CpuModule *m) { return m->opt.level < 0 ? 0 : m->opt.level > 3 ? 3 : m->opt.level; }

// A copy of the module after the passes that look at several functions.
static LLVMModuleRef optimised_together(CpuModule *m) {
    static const char *const pipelines[] = {"default<O0>", "default<O1>", passes_of_modules, "default<O3>"};
    int level = level_of(m);
    LLVMModuleRef module = LLVMCloneModule(m->plain);
    LLVMPassBuilderOptionsRef options = pass_options(level);
    LLVMErrorRef error = level ? tidy_huge_functions(m, module, options) : NULL;
    bool quick = level && m->opt.quick;
    if (!error) error = LLVMRunPasses(module, quick ? quick_passes : pipelines[level], m->machine, options);
    LLVMDisposePassBuilderOptions(options);
    require(error);
    return module;
}

void cpu_optimise_apart(const CpuModule *m, LLVMTargetMachineRef machine, LLVMModuleRef module) {
    if (level_of(m) == 2 && !m->opt.quick) {
        LLVMPassBuilderOptionsRef options = pass_options(2);
        require(LLVMRunPasses(module, passes_that_pay, machine, options));
        fence_states(module);
        require(LLVMRunPasses(module, "function(slp-vectorizer)", machine, options));
        free_states(module);
        require(LLVMRunPasses(module, passes_that_pay_last, machine, options));
        LLVMDisposePassBuilderOptions(options);
    }
    fence_loads(machine, module);
    verify(m, module);
}

static LLVMModuleRef optimised(CpuModule *m) {
    LLVMModuleRef module = optimised_together(m);
    cpu_optimise_apart(m, m->machine, module);
    return module;
}

// ---- output

void cpu_print_llvm(CpuModule *m, Str *out, bool after) {
    LLVMModuleRef module = after ? optimised(m) : m->plain;
    char *text = LLVMPrintModuleToString(module);
    str_puts(out, text);
    LLVMDisposeMessage(text);
    if (after) LLVMDisposeModule(module);
}

LLVMMemoryBufferRef cpu_generate(LLVMTargetMachineRef machine, LLVMModuleRef module, LLVMCodeGenFileType type) {
    LLVMMemoryBufferRef buffer;
    char *error = NULL;
    if (LLVMTargetMachineEmitToMemoryBuffer(machine, module, type, &error, &buffer)) {
        diag_current_pass = "llvm";
        fatal_bug("%s", error);
    }
    return buffer;
}

LLVMTargetMachineRef cpu_generator(const CpuModule *m, bool jit) {
    CpuOptions opt = m->opt;
    if (m->quick) opt.level = 0;
    return cpu_machine(&opt, jit);
}

// All that an object depends on: this very compiler, the target, how much is optimised, and the module.
static bool put_key(CpuModule *m, bool jit, Str *key) {
    struct stat st;
    if (stat("/proc/self/exe", &st)) return false;
    unsigned major, minor, patch;
    LLVMGetVersion(&major, &minor, &patch);
    char *triple = LLVMGetTargetMachineTriple(m->machine), *cpu = LLVMGetTargetMachineCPU(m->machine);
    char *features = LLVMGetTargetMachineFeatureString(m->machine);
    str_printf(key, "%s %lld %lld %lld %u.%u.%u %s %s %s %d %d %d\n", FSMC_VERSION, (long long)st.st_size,
               (long long)st.st_mtim.tv_sec, (long long)st.st_mtim.tv_nsec, major, minor, patch, triple, cpu, features,
               m->opt.level, m->opt.quick, jit);
    LLVMDisposeMessage(triple);
    LLVMDisposeMessage(cpu);
    LLVMDisposeMessage(features);
    LLVMMemoryBufferRef module = LLVMWriteBitcodeToMemoryBuffer(m->plain);
    str_write(key, LLVMGetBufferStart(module), LLVMGetBufferSize(module));
    LLVMDisposeMemoryBuffer(module);
    return true;
}

LLVMMemoryBufferRef cpu_object(CpuModule *m, bool jit) {
    Str key = {0}, value = {0};
    LLVMMemoryBufferRef object;
    bool kept = m->opt.kept && put_key(m, jit, &key);
    if (kept && cache_find(m->opt.kept, &key, &value)) {
        object = LLVMCreateMemoryBufferWithMemoryRangeCopy(value.data, value.len, "object");
    } else {
        LLVMModuleRef module = optimised_together(m);
        object = partition_generate(m, module, jit);
        LLVMDisposeModule(module);
        if (kept) cache_keep(m->opt.kept, &key, LLVMGetBufferStart(object), LLVMGetBufferSize(object));
    }
    str_free(&key);
    str_free(&value);
    return object;
}

void cpu_print_asm(CpuModule *m, Str *out) {
    LLVMModuleRef module = optimised(m);
    LLVMTargetMachineRef machine = cpu_generator(m, false);
    LLVMMemoryBufferRef text = cpu_generate(machine, module, LLVMAssemblyFile);
    str_write(out, LLVMGetBufferStart(text), LLVMGetBufferSize(text));
    LLVMDisposeMemoryBuffer(text);
    LLVMDisposeTargetMachine(machine);
    LLVMDisposeModule(module);
}

bool cpu_write_object(CpuModule *m, Diag *diag, const char *path) {
    LLVMMemoryBufferRef object = cpu_object(m, false);
    size_t size = LLVMGetBufferSize(object);
    FILE *file = fopen(path, "wb");
    bool ok = file && fwrite(LLVMGetBufferStart(object), 1, size, file) == size;
    int cause = errno;
    if (file && fclose(file)) {
        if (ok) cause = errno;
        ok = false;
    }
    LLVMDisposeMemoryBuffer(object);
    if (ok) return true;
    diag_error(diag, nowhere, "cannot write '%s': %s", path, strerror(cause));
    struct stat st;
    if (file && !stat(path, &st) && S_ISREG(st.st_mode)) remove(path);
    return false;
}
