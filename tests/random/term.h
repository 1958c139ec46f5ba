// Random F̃ programs as terms that know their type, so that they can be made smaller.
#ifndef RANDOM_TERM_H
#define RANDOM_TERM_H

#include "oracle/internal.h"

// A type; extents are F̃ expressions as texts.
typedef struct Sort {
    char form; // 'r' Double, 'f' Float, 'i' Int, 'b' Bool, 'a' array, 't' pair
    const char *extent;
    const struct Sort *part, *other; // array: the element; pair: both
} Sort;

bool sort_same(const Sort *a, const Sort *b);
void sort_print(Str *out, const Sort *t);

enum { MAX_PARTS = 6 };

// A text in which $0 … $5 stand for the parts, in parentheses where needed.
typedef struct Piece {
    const Sort *type;
    const char *text;
    int n;
    struct Piece *part[MAX_PARTS];
} Piece;

typedef struct Param {
    const char *name;
    const Sort *type;
    bool gone; // taken out again
} Param;

enum { MAX_PARAMS = 16 };

typedef struct Sample {
    Arena *arena;
    Random random;
    int nparams;
    Param param[MAX_PARAMS];
    Piece *body;
} Sample;

// A program of about `size` operations for this seed.
Sample *sample_new(Arena *a, uint64_t seed, int size);
// Does it have operations that make infinities and NaN? These agree under --fp=precise only.
bool sample_has_poles(uint64_t seed);
// Its source.
const char *sample_text(const Sample *s);
int piece_size(const Piece *t);

// Replaces parts of s by smaller ones as long as fails(text) says that the source still shows the failure; at most
// `limit` attempts.
void sample_shrink(Sample *s, bool (*fails)(void *data, const char *text), void *data, int limit);
// The simplest term of a type.
Piece *piece_simplest(Arena *a, const Sort *t);

#endif
