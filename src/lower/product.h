// Matrix products in loop trees.
#ifndef LOWER_PRODUCT_H
#define LOWER_PRODUCT_H

#include "lower/tree.h"

// A factor of a product that is a function of some elements: of each, does it depend on the row, i or j, and the column, k?
enum { FACTOR_LEAVES = 4, FACTOR_ARRAYS = 3, OF_ROW = 1, OF_COLUMN = 2 };
typedef struct ProductFactor {
    Temp value;
    int n, of[FACTOR_LEAVES];
    Stmt *leaf[FACTOR_LEAVES]; // ST_LOAD
} ProductFactor;

// What is summed up beside a product, of Doubles, once its loop over j is done: a function of the elements [i, k] of its left
// factor, over k, or of its results [i, j], over j.
typedef enum SumOf { SUM_OF_NOTHING, SUM_OF_FACTORS, SUM_OF_RESULTS } SumOf;
typedef struct ProductSum {
    SumOf of;
    Stmt *leaf; // what the element is there
    Temp value; // what is added up
    Stmt *to;   // ST_STORE or ST_ADDTO, whose indices are i and that of a batch
} ProductSum;

// to[.. i .. j ..] = or += the sum over k of left[.. i .. k ..] * right[.. j .. k ..], where indices are affine in the three; for
// each index of a batch, if there is one, in which they are affine, too. In the place of `*` there may be another function.
typedef struct Product {
    Stmt *loop[3];      // over i, j and k
    Stmt *batch;        // the loop around them, or NULL
    Stmt *over;         // what is added up is so in each iteration of this loop, which stands around that over k, or NULL
    Stmt *left, *right; // ST_LOAD; NULL if the factors are made of several elements
    Stmt *to;           // ST_STORE or ST_ADDTO
    Temp term;          // what is added up, if it is not the product of left and right, but another function of them; else -1
    ProductFactor rows, columns; // of Doubles: what stands for left and right if they are NULL
    ProductSum sum;              // if they are
} Product;

// Takes a nest in a block apart as loops_products does (loop_passes.def), whose iterations are independent; operands
// are computed again wherever they are needed, and not kept in arrays. def: what makes each temp. Were there any
// products in it?
bool products_split_nest(Arena *arena, Tree *tree, Stmt **def, Block *around, Stmt *nest);
// In b, and blocks in it: cheap arrays that products alone read are computed where these need elements (factors.c). scope: blocks
// that hold all accesses to arrays of b.
void products_take_factors(Arena *arena, Tree *tree, Block *b, Block *const *scope, int nscope);
// By temp, what makes it: in the tree, in blocks that are not in it yet, and in a nest, which may be NULL.
Stmt **product_definitions(Arena *arena, const Tree *tree, Block *const *scope, int nscope, Stmt *nest);
// Is the loop the outermost of a product? def: by temp.
bool product_find(Stmt *const *def, Stmt *loop, Product *out);

// Elements of an array whose index `column` is less than index `row` plus a number.
typedef struct Triangle {
    int row, column;
    int64_t plus;
} Triangle;
// Are all others zero? (triangle.c) all: the tree's body.
bool triangle_of_zeros(const Block *all, Stmt *const *def, const Buf *b, Triangle *t);
// Does nothing but the product access others, other than to fill the array?
bool triangle_asked_for(const Block *all, Stmt *const *def, const Buf *b, const Stmt *product, Triangle *t);

#endif
