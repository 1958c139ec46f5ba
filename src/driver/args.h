// The arguments of a call from the command line and standard input: of every command that calls an entry.
#ifndef DRIVER_ARGS_H
#define DRIVER_ARGS_H

#include "driver/compile.h"
#include "ir/tensor.h"

// Reads the arguments of f: c->opt->words (NAME=VALUE, NAME=@FILE) set single ones, by the names of parameters and
// sizes; what is missing comes from standard input, as one array in order or one object by name. The sizes follow from
// the shapes. NULL after reporting errors; else f->ninputs tensors.
Tensor *args_read(Compilation *c, const Func *f);
// Likewise, with `text` in the place of standard input.
Tensor *args_read_text(Compilation *c, const Func *f, const Source *text);
// Likewise, with the text at `at` in the place of standard input, which is read in any case; messages have that place.
Tensor *args_read_piece(Compilation *c, const Func *f, Span at);

// Where the arguments come from that neither c->opt->words nor standard input have (a terminal is not asked): random
// numbers, a sequence for each name.
typedef struct ArgsFill {
    uint64_t seed;
    int64_t size, step; // the sizes that nothing tells: size, size + step, …
    double low, high;   // range of floating arguments; Int arguments are indices of the smallest array
} ArgsFill;
Tensor *args_fill(Compilation *c, const Func *f, const ArgsFill *how);

#endif
