// Fuzzing of everything that reads input. A target takes any bytes, gives them to one reader, and checks what has to
// hold whatever they are; a check that fails ends the process. tests/README.md says how to run them.
#ifndef FUZZ_H
#define FUZZ_H

#include "ir/ir.h"

typedef struct FuzzTarget {
    const char *name;
    void (*run)(const uint8_t *data, size_t size);
} FuzzTarget;

// All targets; the last has no name.
extern const FuzzTarget fuzz_targets[];

void fuzz_lexer(const uint8_t *data, size_t size);
void fuzz_layout(const uint8_t *data, size_t size);
void fuzz_parser(const uint8_t *data, size_t size);
void fuzz_types(const uint8_t *data, size_t size);
void fuzz_json(const uint8_t *data, size_t size);
void fuzz_npy(const uint8_t *data, size_t size);
void fuzz_ir(const uint8_t *data, size_t size);
void fuzz_tree(const uint8_t *data, size_t size);

// What a reader is given, and what it reports to. Made anew for each input, so that no input sees another's leftovers.
typedef struct FuzzInput {
    Arena *arena;
    Diag *diag;
    Source *src; // the bytes, in a block of their own that ends with a NUL
} FuzzInput;

FuzzInput fuzz_open(const char *name, const uint8_t *data, size_t size);
// Checks the messages (their spans, their text, that they can be printed) and frees everything.
void fuzz_close(FuzzInput *in);

// As fuzz_close does: every span lies in its source, no text is empty or has control characters.
void fuzz_check_messages(const Diag *diag);

// Checks functions of m: verified, printed, read back, and interpreted for a moment. (ir.c)
void fuzz_check_functions(FuzzInput *in, Ir *m, Func **fs, int n);

// Prints a text that should have been accepted, and why it was not.
void fuzz_show(const Diag *diag, const Str *text);
_Noreturn void fuzz_fail(const char *file, int line, const char *what);

#define FUZZ_CHECK(cond)                                                                                                           \
    do {                                                                                                                           \
        if (!(cond)) fuzz_fail(__FILE__, __LINE__, #cond);                                                                         \
    } while (0)

#endif
