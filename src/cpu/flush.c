// Numbers below the least normal ones, in the loops of --fp=fast: results that small become 0. Intel's processors take a
// hundred times as long for each of them, and weights such as softmax has, exponentials of differences, go through them on the way
// to 0: gradients of mixtures took up to four times as long. How numbers are computed is a mode of the thread: it is set before the
// code that has the loops, and is afterwards what it was. Functions of C keep the mode of their caller: what calls some is left as
// it is.
#include "cpu/emit.h"

static bool calls_c(const Block *block) {
    for (int i = 0; block && i < block->stmts.len; i++) {
        const Stmt *s = block->stmts.data[i];
        if (s->kind == ST_EXTERN || calls_c(s->body) || calls_c(s->other)) return true;
    }
    return false;
}

bool flush_wanted(const Emitter *e, const Tree *tree) {
#if defined(__x86_64__)
    return e->opt->fp == CPU_FP_FAST && block_has_for(tree->body) && !calls_c(tree->body);
#else
    (void)e, (void)tree;
    return false;
#endif
}

enum { FLUSH_TO_ZERO = 0x8000 }; // of the register MXCSR

static void set_mode(Emitter *e, LLVMValueRef from) { emit_intrinsic(e, "llvm.x86.sse.ldmxcsr", 0, NULL, 1, &from); }

void flush_begin(Emitter *e, LLVMValueRef was, LLVMValueRef now) {
    LLVMBuilderRef b = e->builder;
    emit_intrinsic(e, "llvm.x86.sse.stmxcsr", 0, NULL, 1, &was);
    LLVMValueRef mode = LLVMBuildLoad2(b, e->type_i32, was, "");
    LLVMBuildStore(b, LLVMBuildOr(b, mode, LLVMConstInt(e->type_i32, FLUSH_TO_ZERO, false), ""), now);
    set_mode(e, now);
}

void flush_end(Emitter *e, LLVMValueRef was) { set_mode(e, was); }
