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
    const char *binds; // the index that it binds in its parts, if these may go on with another in its place; or NULL
    const char *named; // by a let: what reads an element of the array with the name, whose elements are the first part
} Piece;

typedef struct Param {
    const char *name;
    const Sort *type;
    bool gone;         // taken out again
    const char *spelt; // how its type is written, if not as extents; or NULL
} Param;

enum { MAX_PARAMS = 16 };

typedef struct Sample {
    Arena *arena;
    Random random;
    int nparams;
    Param param[MAX_PARAMS];
    Piece *body;
    bool nests;          // of nest_new: it has its derivatives as entries, and the indices of nest_indices
    const char *extents; // where it is not n: how that is written in the body
} Sample;

// A program of about `size` operations for this seed.
Sample *sample_new(Arena *a, uint64_t seed, int size);
// Does it have operations that make infinities and NaN? These agree under --fp=precise only.
bool sample_has_poles(uint64_t seed);
// Nested sums for this seed: an entry f of arrays of n numbers, all in range, and f_grad, f_jvp and f_hvp by the first
// of them. About size / 10 constructs are inside of each other.
Sample *nest_new(Arena *a, uint64_t seed, int size);
void nest_print_derivatives(Str *out, const Sample *s);
extern const char *const nest_indices[]; // ended by NULL
// Its source.
const char *sample_text(const Sample *s);
int piece_size(const Piece *t);
// A piece with n parts, which follow.
Piece *piece_of(Arena *a, const Sort *type, const char *text, int n, ...);
#define piece(g, ...) piece_of((g)->arena, __VA_ARGS__)

// Replaces parts of s by smaller ones as long as fails(text) says that the source still shows the failure; at most
// `limit` attempts.
void sample_shrink(Sample *s, bool (*fails)(void *data, const char *text), void *data, int limit);
// The simplest term of a type.
Piece *piece_simplest(Arena *a, const Sort *t);

#endif
