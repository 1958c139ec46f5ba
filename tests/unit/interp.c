// The reference interpreter: programs in the textual IR, their results, errors and counts. Every program runs as
// written and after the algebraic rules, which must not change what it gives; counts are those of the program as
// written.
#include "ir/interp.h"
#include "fsmc/runtime.h"
#include "lower/tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// in:  arguments, separated by ';': numbers of a scalar, or "[extents] elements"
// out: results, separated by "; ", arrays in brackets without structure; or "error CODE: text"
// counts: "add mul div call iterations loads stores", or NULL
typedef struct Case {
    const char *name, *ir, *in, *out, *counts;
} Case;

#define F0(type, body)  "func f() -> " type " {\n" body "\n}\n"
#define F1(type, body)  "func f(x: f64) -> " type " {\n" body "\n}\n"
#define FV(type, body)  "func f(n: i64 size, x: f64[n]) -> " type " {\n" body "\n}\n"
#define FVI(type, body) "func f(n: i64 size, x: f64[n], i: i64) -> " type " {\n" body "\n}\n"

static const Case cases[] = {
    // ---- elementwise operations
    {"int arithmetic", F0("i64, i64, i64, i64", "return (add 2 3), (sub 2 3), (mul -4 3), (neg 5)"), "", "5; -1; -12; -5",
     "0 0 0 0 0 0 0"},
    {"int wraps", "func f(a: i64) -> i64, i64 {\n return (add a 1), (mul a 2)\n}\n", "9223372036854775807",
     "-9223372036854775808; -2", NULL},
    {"int division", "func f(a: i64, b: i64) -> i64, i64 {\n return (idiv a b), (irem a b)\n}\n", "-7; 2", "-3; -1", NULL},
    {"int division wraps", "func f(a: i64, b: i64) -> i64, i64 {\n return (idiv a b), (irem a b)\n}\n", "-9223372036854775808; -1",
     "-9223372036854775808; 0", NULL},
    {"division by zero", "func f(a: i64, b: i64) -> i64 {\n return (idiv a b)\n}\n", "1; 0", "error 5: division by zero", NULL},
    {"remainder by zero", "func f(a: i64, b: i64) -> i64 {\n return (irem a b)\n}\n", "1; 0", "error 5: division by zero", NULL},
    {"int min max abs", "func f(a: i64, b: i64) -> i64, i64, i64 {\n return (min a b), (max a b), (abs a)\n}\n", "-3; 2",
     "-3; 2; 3", NULL},
    {"float arithmetic", F1("f64, f64, f64, f64, f64", "return (add x 0.5), (sub x 0.5), (mul x 3.0), (div x 4.0), (neg x)"), "2",
     "2.5; 1.5; 6; 0.5; -2", "3 1 1 0 0 0 0"},
    {"remainder", F1("f64, f64", "return (rem x 3.0), (rem (neg x) 3.0)"), "7.5", "1.5; -1.5", NULL},
    {"abs min max", F1("f64, f64, f64", "return (abs x), (min x 1.0), (max x 1.0)"), "-2", "2; -2; 1", "3 0 0 0 0 0 0"},
    {"min and max of nan", F1("f64, f64, f64, f64", "return (min x 1.0), (min 1.0 x), (max x 1.0), (max 1.0 x)"), "nan",
     "nan; nan; nan; nan", NULL},
    {"min of equals is the first", F1("f64, f64", "return (min x 0.0), (max x 0.0)"), "-0", "-0; -0", NULL},
    {"rounding", F1("f64, f64, f64, f64", "return (floor x), (ceil x), (round x), (trunc x)"), "-2.5", "-3; -2; -3; -2",
     "0 0 0 4 0 0 0"},
    {"roots and powers", F1("f64, f64, f64, f64, f64", "return (sqrt x), (cbrt 8.0), (pow x 0.5), (powi x 3), (powi x -1)"), "4",
     "2; 2; 2; 64; 0.25", NULL},
    {"powers by zero", F1("f64, f64", "return (powi x 0), (pow x 0.0)"), "nan", "1; 1", NULL},
    {"exponentials", F1("f64, f64, f64, f64", "return (exp x), (expm1 x), (log (add x 1.0)), (log1p x)"), "0", "1; 0; 0; 0",
     "1 0 0 4 0 0 0"},
    {"circular functions",
     F1("f64, f64, f64, f64, f64, f64, f64", "return (sin x), (cos x), (tan x), (asin x), "
                                             "(acos (cos x)), (atan x), (atan2 x 1.0)"),
     "0", "0; 1; 0; 0; 0; 0; 0", NULL},
    {"hyperbolic functions", F1("f64, f64, f64, f64, f64", "return (sinh x), (cosh x), (tanh x), (erf x), (erfc x)"), "0",
     "0; 1; 0; 0; 1", NULL},
    {"inverse hyperbolic functions",
     F1("f64, f64, f64", "return (round (mul (asinh x) 1e15)), (round (mul (acosh (add x 1.0)) 1e15)), "
                         "(round (mul (atanh x) 1e15))"),
     "0.5", "481211825059604; 962423650119207; 549306144334055", NULL},
    {"other bases", F1("f64, f64, f64, f64", "return (exp2 x), (log2 x), (log10 (mul x x)), (hypot x 12.0)"), "5",
     "32; 2.3219280948873622; 1.3979400086720377; 13", NULL},
    {"gamma functions",
     F1("f64, f64, f64", "return (lgamma x), (round (mul (digamma x) 1e12)), (round (mul (polygamma 1 x) 1e12))"), "1",
     "0; -577215664902; 1644934066848", NULL},
    {"comparisons", F1("bool, bool, bool, bool", "return (lt x 1.0), (le x 1.0), (eq x 1.0), (ne x 1.0)"), "1",
     "false; true; true; false", "0 0 0 0 0 0 0"},
    {"comparisons with nan", F1("bool, bool, bool, bool", "return (lt x 1.0), (le x 1.0), (eq x x), (ne x x)"), "nan",
     "false; false; false; true", NULL},
    {"truth values", "func f(a: bool, b: bool) -> bool, bool, bool {\n return (and a b), (or a b), (not a)\n}\n", "true; false",
     "false; true; false", NULL},
    {"and by need", FVI("bool", "return (and (lt i n) (lt 0.0 (at x[i])))"), "2; [2] 1 2; 7", "false", NULL},
    {"or by need", FVI("bool", "return (or (le n i) (lt 0.0 (at x[i])))"), "2; [2] 1 2; 7", "true", NULL},
    // ---- single precision
    {"f32 rounds", "func f(x: f32, y: f32) -> f32, f32, f32 {\n return (add x y), (mul x y), (exp x)\n}\n", "0.1; 16777216",
     "16777216; 1677721.625; 1.1051709651947021", NULL},
    {"f32 sums round", "func f(n: i64 size, x: f32[n]) -> f32 {\n %1 = sum i < n {\n yield (at x[i])\n }\n return %1\n}\n",
     "3; [3] 16777216 1 1", "16777216", "2 0 0 0 3 3 0"},
    // ---- conversions
    {"conversions to int", F1("i64, i64", "return (conv i64 x), (conv i64 (neg x))"), "2.75", "2; -2", NULL},
    {"conversions saturate", F1("i64, i64, i64", "return (conv i64 x), (conv i64 (neg x)), (conv i64 (sub x x))"), "inf",
     "9223372036854775807; -9223372036854775808; 0", NULL},
    {"conversions from int", "func f(a: i64) -> f64, f32, f64 {\n return (conv f64 a), (conv f32 a), (conv f64 (lt a 0))\n}\n",
     "16777217", "16777217; 16777216; 0", NULL},
    {"conversions between floats", F1("f32, f64", "return (conv f32 x), (conv f64 (conv f32 x))"), "0.1",
     "0.10000000149011612; 0.10000000149011612", NULL},
    // ---- choices
    {"select", F1("f64, f64", "return (select (lt x 0.0) (neg x) x), (select (lt x 0.0) 1.0 (exp x))"), "-2", "2; 1",
     "1 0 0 0 0 0 0"},
    {"select by need", FVI("f64", "return (select (lt i n) (at x[i]) -1.0)"), "2; [2] 1 2; 2", "-1", NULL},
    {"bracket", F1("f64, f64", "return (bracket (lt x 0.0) (exp x)), (bracket (le 0.0 x) (exp x))"), "0", "0; 1", "0 0 0 1 0 0 0"},
    {"bracket by need", FVI("f64", "return (bracket (lt i n) (at x[i]))"), "2; [2] 1 2; 2", "0", "0 0 0 0 0 0 0"},
    {"bracket of an int", "func f(a: i64) -> i64 {\n return (bracket (lt 0 a) (idiv 6 a))\n}\n", "0", "0", NULL},
    {"stop", F1("f64", "return (stop x)"), "3", "3", NULL},
    {"assert holds", F1("f64", "return (assert (lt x 1.0) \"x is too large\" (mul x 2.0))"), "0.5", "1", "0 1 0 0 0 0 0"},
    {"assert fails", F1("f64", "return (assert (lt x 1.0) \"x is too large\" (mul x 2.0))"), "1", "error 4: x is too large", NULL},
    {"assert not needed", F1("f64", "return (bracket (lt x 1.0) (assert (lt x 1.0) \"x is too large\" x))"), "1", "0", NULL},
    // ---- arrays
    {"at", FVI("f64", "return (at x[i])"), "3; [3] 1 2 4; 2", "4", "0 0 0 0 0 1 0"},
    {"at beyond the end", FVI("f64", "return (at x[i])"), "5; [5] 0 0 0 0 0; 5",
     "error 3: index 5 is out of range for an array of 5 elements", NULL},
    {"at a negative index", FVI("f64", "return (at x[i])"), "1; [1] 0; -1",
     "error 3: index -1 is out of range for an array of 1 elements", NULL},
    {"at of an empty array", FVI("f64", "return (at x[i])"), "0; [0]; 0",
     "error 3: index 0 is out of range for an array of 0 elements", NULL},
    {"at of a matrix", "func f(n: i64 size, m: i64 size, a: f64[n, m], i: i64, j: i64) -> f64 {\n return (at a[i, j])\n}\n",
     "2; 3; [2 3] 1 2 3 4 5 6; 1; 2", "6", NULL},
    {"at of a matrix, second index",
     "func f(n: i64 size, m: i64 size, a: f64[n, m], i: i64, j: i64) -> f64 {\n return (at a[i, j])\n}\n",
     "2; 3; [2 3] 1 2 3 4 5 6; 1; 3", "error 3: index 3 is out of range for an array of 3 elements", NULL},
    {"row of a matrix", "func f(n: i64 size, m: i64 size, a: f64[n, m]) -> f64[m] {\n return (at a[1])\n}\n",
     "2; 3; [2 3] 1 2 3 4 5 6", "[4 5 6]", NULL},
    {"gen", FV("f64[n]", "%1 = gen i < n {\n yield (mul (at x[i]) 2.0)\n }\n return %1"), "3; [3] 1 2 3", "[2 4 6]",
     "0 3 0 0 3 3 3"},
    {"gen of nothing", FV("f64[n]", "%1 = gen i < n {\n yield (mul (at x[i]) 2.0)\n }\n return %1"), "0; [0]", "[]",
     "0 0 0 0 0 0 0"},
    {"gen of ints and bools",
     "func f(n: i64 size) -> i64[n], bool[n] {\n %1 = gen i < n { yield (mul i i) }\n"
     " %2 = gen i < n { yield (eq i 1) }\n return %1, %2\n}\n",
     "3", "[0 1 4]; [false true false]", NULL},
    {"gen of gens",
     "func f(n: i64 size, m: i64 size) -> i64[n, m] {\n %1 = gen i < n {\n %2 = gen j < m {\n"
     " yield (add (mul i 10) j)\n }\n yield %2\n }\n return %1\n}\n",
     "2; 3", "[0 1 2 10 11 12]", NULL},
    {"gen of an array", FV("f64[2, n]", "%1 = gen i < 2 { yield x }\n return %1"), "2; [2] 5 6", "[5 6 5 6]", NULL},
    {"gen of negative size", "func f(k: i64) -> f64[k] {\n %1 = gen i < k { yield 1.0 }\n return %1\n}\n", "-1",
     "error 13: size -1 is negative", NULL},
    {"negative size not needed",
     "func f(k: i64) -> f64 {\n %1 = gen i < k { yield (conv f64 i) }\n"
     " return (bracket (lt 0 k) (at %1[0]))\n}\n",
     "-1", "0", NULL},
    {"only the element asked for", FVI("f64", "%1 = gen j < 4 { yield (at x[(add i j)]) }\n return (at %1[1])"), "2; [2] 3 4; 0",
     "4", NULL},
    {"an element that fails", FVI("f64", "%1 = gen j < 4 { yield (at x[(add i j)]) }\n return (at %1[2])"), "2; [2] 3 4; 0",
     "error 3: index 2 is out of range for an array of 2 elements", NULL},
    {"elements are computed once",
     FVI("f64", "%1 = gen j < n { yield (exp (at x[j])) }\n return (add (at %1[i]) (at %1[(irem i n)]))"), "2; [2] 0 1; 0", "2",
     "1 0 0 1 1 3 1"},
    {"pack", F1("f64[2, 2]", "return (pack f64[2, 2] x 1.0 2.0 (exp x))"), "0", "[0 1 2 1]", NULL},
    {"pack by need", F1("f64", "return (at (pack f64[2] x (exp x))[0])"), "3", "3", "0 0 0 0 0 1 0"},
    {"empty pack", F0("f64[0]", "return (pack f64[0])"), "", "[]", NULL},
    {"an input as result", FV("f64[n]", "return x"), "2; [2] 1 2", "[1 2]", "0 0 0 0 0 2 2"},
    // ---- sums
    {"sum", FV("f64", "%1 = sum i < n { yield (at x[i]) }\n return %1"), "4; [4] 1 2 3 4", "10", "3 0 0 0 4 4 0"},
    {"sum of nothing", FV("f64", "%1 = sum i < n { yield (at x[i]) }\n return %1"), "0; [0]", "0", "0 0 0 0 0 0 0"},
    {"sum over a negative range", "func f(k: i64) -> f64 {\n %1 = sum i < k { yield (conv f64 i) }\n return %1\n}\n", "-5", "0",
     "0 0 0 0 0 0 0"},
    {"sum of ints", "func f(n: i64 size) -> i64 {\n %1 = sum i < n { yield (mul i i) }\n return %1\n}\n", "4", "14",
     "0 0 0 0 4 0 0"},
    {"sum in index order", FV("f64", "%1 = sum i < n { yield (at x[i]) }\n return %1"), "3; [3] 1e16 1 -1e16", "0", NULL},
    {"triangular sum",
     "func f(n: i64 size) -> i64 {\n %1 = sum i < n {\n %2 = sum j < i { yield 1 }\n yield %2\n }\n"
     " return %1\n}\n",
     "4", "6", "0 0 0 0 10 0 0"},
    {"invariants are computed once", FV("f64", "%1 = sum i < n { yield (mul (at x[i]) (exp (at x[0]))) }\n return %1"),
     "3; [3] 0 1 2", "3", "2 3 0 1 3 4 0"},
    {"argmin and argmax",
     FV("i64, i64", "%1 = argmin i < n { yield (at x[i]) }\n %2 = argmax i < n { yield (at x[i]) }\n"
                    " return %1, %2"),
     "5; [5] 2 1 3 1 3", "1; 2", "0 0 0 0 10 10 0"},
    {"argmin and argmax of nan",
     FV("i64, i64", "%1 = argmin i < n { yield (at x[i]) }\n"
                    " %2 = argmax i < n { yield (at x[i]) }\n return %1, %2"),
     "4; [4] 2 nan -1 nan", "1; 1", NULL},
    {"argmin of nothing", FV("i64", "%1 = argmin i < n { yield (at x[i]) }\n return %1"), "0; [0]", "-1", NULL},
    {"the least of nothing", FV("f64", "%1 = argmin i < n { yield (at x[i]) }\n return (at x[%1])"), "0; [0]",
     "error 3: an empty array has no smallest element", NULL},
    {"argmax of ints", "func f(n: i64 size, a: i64[n]) -> i64 {\n %1 = argmax i < n { yield (at a[i]) }\n return %1\n}\n",
     "3; [3] -5 -2 -9", "1", NULL},
    // ---- loops
    {"fold", FV("f64", "%1 = fold i < n, s: f64 = 1.0 { yield (mul s (at x[i])) }\n return (final %1 0)"), "3; [3] 2 3 4", "24",
     "0 3 0 0 3 3 0"},
    {"fold of nothing", FV("f64", "%1 = fold i < n, s: f64 = 1.0 { yield (mul s (at x[i])) }\n return (final %1 0)"), "0; [0]", "1",
     NULL},
    {"fold of two states",
     "func f(n: i64 size) -> i64, i64 {\n %1 = fold i < n, a: i64 = 0, b: i64 = 1 {\n"
     " yield b, (add a b)\n }\n return (final %1 0), (final %1 1)\n}\n",
     "10", "55; 89", "0 0 0 0 10 0 0"},
    {"states step at once",
     F1("f64, f64", "%1 = fold i < 3, a: f64 = x, b: f64 = 2.0 { yield b, a }\n return (final %1 0), (final %1 1)"), "1", "2; 1",
     NULL},
    {"fold of an array",
     FV("f64[n]", "%1 = fold t < 3, a: f64[n] = x {\n %2 = gen j < n { yield (add (at a[j]) (conv f64 t)) }\n yield %2\n }\n"
                  " return (final %1 0)"),
     "2; [2] 10 20", "[13 23]", NULL},
    {"state that is not needed",
     FV("f64", "%1 = fold i < 5, s: f64 = 0.0, u: f64 = 0.0 {\n"
               " yield (add s 1.0), (exp (at x[i]))\n }\n return (final %1 0)"),
     "2; [2] 0 0", "5", "5 0 0 0 5 0 0"},
    {"state that fails",
     FV("f64", "%1 = fold i < 5, s: f64 = 0.0, u: f64 = 0.0 {\n"
               " yield (add s 1.0), (exp (at x[i]))\n }\n"
               " return (select (lt n 2) (final %1 0) (final %1 1))"),
     "2; [2] 0 0", "error 3: index 4 is out of range for an array of 2 elements", NULL},
    {"state that fails and is not read",
     FV("f64", "%1 = fold i < 5, s: f64 = 0.0, u: f64 = 0.0 {\n"
               " yield (add s 1.0), (exp (at x[i]))\n }\n"
               " return (select (le n 2) (final %1 0) (final %1 1))"),
     "2; [2] 0 0", "5", NULL},
    {"element of a state that fails",
     FVI("f64", "%1 = fold t < 2, a: f64[3] = (pack f64[3] 0.0 0.0 0.0) {\n"
                " %2 = gen j < 3 { yield (add (at a[j]) (at x[j])) }\n yield %2\n }\n"
                " return (at (final %1 0)[i])"),
     "2; [2] 3 4; 1", "8", NULL},
    {"element of a state that fails is read",
     FVI("f64", "%1 = fold t < 2, a: f64[3] = (pack f64[3] 0.0 0.0 0.0) {\n"
                " %2 = gen j < 3 { yield (add (at a[j]) (at x[j])) }\n yield %2\n"
                " }\n return (at (final %1 0)[i])"),
     "2; [2] 3 4; 2", "error 3: index 2 is out of range for an array of 2 elements", NULL},
    {"fold inside a gen",
     "func f(n: i64 size) -> i64[n] {\n %1 = gen k < n {\n"
     " %2 = fold i < k, p: i64 = 1 { yield (mul p (add i 1)) }\n yield (final %2 0)\n }\n return %1\n}\n",
     "5", "[1 1 2 6 24]", NULL},
    {"fold inside a fold",
     "func f(n: i64 size) -> i64 {\n %1 = fold i < n, s: i64 = 0 {\n"
     " %2 = fold j < i, u: i64 = s { yield (add u j) }\n yield (final %2 0)\n }\n"
     " return (final %1 0)\n}\n",
     "5", "10", NULL},
    {"while",
     "func f(k: i64) -> i64, i64 {\n %1 = while a: i64 = k, c: i64 = 0 {\n test (lt 1 a)\n"
     " %2 = select (eq (irem a 2) 0) (idiv a 2) (add (mul 3 a) 1)\n yield %2, (add c 1)\n }\n"
     " return (final %1 0), (final %1 1)\n}\n",
     "27", "1; 111", "0 0 0 0 111 0 0"},
    {"while that does not start",
     F1("f64", "%1 = while s: f64 = x {\n test (lt s 0.0)\n yield (add s 1.0)\n }\n"
               " return (final %1 0)"),
     "1", "1", NULL},
    // ---- counts ([TL] Fig. 6)
    {"false brackets cost nothing in a sum",
     FV("f64", "%1 = sum i < n { yield (bracket (le 2 i) (mul (at x[i]) 2.0)) }\n return %1"), "5; [5] 1 1 1 1 1", "6",
     "2 3 0 0 5 3 0"},
    {"a sum with one true bracket", FVI("f64", "%1 = sum j < n { yield (bracket (eq j i) (at x[j])) }\n return %1"),
     "5; [5] 1 2 3 4 5; 3", "4", "0 0 0 0 5 1 0"},
    {"a sum without true brackets", FVI("f64", "%1 = sum j < n { yield (bracket (eq j i) (at x[j])) }\n return %1"),
     "5; [5] 1 2 3 4 5; 9", "0", "0 0 0 0 5 0 0"},
    {"sums of sums count jointly",
     FV("f64", "%1 = sum i < n {\n %2 = sum j < n { yield (bracket (lt j i) (at x[j])) }\n yield %2\n }\n return %1"),
     "4; [4] 1 1 1 1", "6", "5 0 0 0 20 5 0"},
    {"additions of brackets",
     "func f(a: f64, b: f64) -> f64, f64, f64 {\n %1 = bracket (lt a 0.0) a\n"
     " %2 = bracket (lt b 0.0) b\n %3 = bracket (le 0.0 b) b\n"
     " return (add %1 %2), (add %1 %3), (add %2 %3)\n}\n",
     "-1; -2", "-3; -1; -2", "1 0 0 0 0 0 0"},
    {"shared terms count once", F1("f64", "%1 = exp x\n %2 = mul %1 %1\n return (add %2 (mul %2 %2))"), "0", "2", "1 2 0 1 0 0 0"},
    // ---- functions
    {"checks",
     "func f(n: i64, x: f64) -> f64 {\n check 2 (le 0 n) \"size %d is negative, and so is %d\" [n, (add n 1)]\n"
     " return x\n}\n",
     "-4; 1", "error 2: size -4 is negative, and so is -3", NULL},
    {"checks that hold", "func f(n: i64, x: f64) -> f64 {\n check 2 (le 0 n) \"size %d is negative\" [n]\n return x\n}\n", "4; 1",
     "1", NULL},
    {"extents that do not agree", "func f(n: i64 size, x: f64[n], y: f64[n]) -> f64 {\n return (at y[0])\n}\n",
     "2; [2] 1 2; [3] 1 2 3", "error 2: y has extent 3 where 2 is expected", NULL},
    {"extents computed from inputs", "func f(n: i64 size, x: f64[(mul n n)]) -> f64[(mul n n)] {\n return x\n}\n", "2; [4] 1 2 3 4",
     "[1 2 3 4]", NULL},
};

static int failed;

static void report(const char *name, const char *how, const char *expected, const char *found) {
    bool ok = !strcmp(expected, found);
    printf(ok ? "ok %s%s\n" : "not ok %s%s: expected \"%s\", found \"%s\"\n", name, how, expected, found);
    failed += !ok;
}

// ---- arguments and results as text

static Scalar read_scalar(Kind k, const char **p) {
    char *end;
    while (**p == ' ') ++*p;
    if (k == KIND_BOOL) {
        bool yes = **p == 't';
        *p += yes ? 4 : 5;
        return (Scalar){.i = yes};
    }
    Scalar s;
    if (!kind_is_float(k)) s.i = strtoll(*p, &end, 10);
    else s.d = strtod(*p, &end);
    *p = end;
    return s;
}

static Tensor read_tensor(Arena *a, Kind k, const char **p) {
    int64_t shape[8], rank = 0;
    while (**p == ' ' || **p == ';') ++*p;
    if (**p == '[') {
        for (++*p; **p != ']'; rank++) shape[rank] = read_scalar(KIND_INT, p).i;
        ++*p;
    }
    Tensor t = tensor_new(a, k, (int)rank, shape);
    for (int64_t i = 0; i < tensor_count(&t); i++) tensor_put(&t, i, read_scalar(k, p));
    return t;
}

static void print_tensor(Str *out, const Tensor *t) {
    int64_t n = tensor_count(t);
    if (t->rank) str_putc(out, '[');
    for (int64_t i = 0; i < n; i++) {
        Scalar x = tensor_scalar(t, i);
        if (i) str_putc(out, ' ');
        if (t->kind == KIND_BOOL) str_puts(out, x.i ? "true" : "false");
        else if (!kind_is_float(t->kind)) str_printf(out, "%lld", (long long)x.i);
        else if (isnan(x.d)) str_puts(out, "nan");
        else str_printf(out, "%.17g", x.d);
    }
    if (t->rank) str_putc(out, ']');
}

// Runs the one function of the text and gives its results, or its error, as text.
static void run_case(const Case *c, bool raw, Str *out, Counts *counts) {
    Arena *a = arena_new();
    Ir *m = ir_new(a);
    m->raw = raw;
    Diag *d = diag_new(a);
    Source src = {c->name, c->ir, strlen(c->ir)};
    int n;
    Func **fs = ir_read(m, d, &src, &n);
    if (!fs) {
        diag_print(d, out, false);
    } else {
        ir_verify(fs[0]);
        Tensor in[16], res[16];
        const char *p = c->in, *error = NULL;
        for (int k = 0; k < fs[0]->ninputs; k++) in[k] = read_tensor(a, fs[0]->inputs[k]->kind, &p);
        int code = interp_run(a, fs[0], in, res, counts, &error);
        size_t n = strlen(c->name); // the place, which is that of an operation after the rules have moved it
        if (code && !strncmp(error, c->name, n) && error[n] == ':') error = strchr(error + n + 1, ':') + 2;
        if (code) str_printf(out, "error %d: %s", code, error);
        for (int k = 0; !code && k < fs[0]->noutputs; k++) {
            if (k) str_puts(out, "; ");
            print_tensor(out, &res[k]);
        }
    }
    diag_delete(d);
    ir_delete(m);
    arena_free(a);
}

static void test_case(const Case *c) {
    Counts n;
    for (int raw = 1; raw >= 0; raw--) {
        Str out = {0};
        run_case(c, raw, &out, raw ? &n : NULL);
        report(c->name, raw ? "" : " after the rules", c->out, str_text(&out));
        str_free(&out);
    }
    if (!c->counts) return;
    char text[128];
    snprintf(text, sizeof text, "%lld %lld %lld %lld %lld %lld %lld", (long long)n.ops[COUNT_ADD], (long long)n.ops[COUNT_MUL],
             (long long)n.ops[COUNT_DIV], (long long)n.ops[COUNT_CALL], (long long)n.iterations, (long long)n.loads,
             (long long)n.stores);
    report(c->name, ", counts", c->counts, text);
}

// ---- deep programs: neither may need a deep C stack

enum { DEPTH = 100000 };

static void run_deep(const char *name, Arena *a, Ir *m, Node *result, Node *x, double expected) {
    Func f = {.name = "deep", .ir = m, .ninputs = 1, .inputs = &x, .noutputs = 1, .outputs = &result};
    double value = 1.0;
    Tensor in = {.kind = KIND_DOUBLE, .data = &value}, out;
    const char *error = "";
    int code = interp_run(a, &f, &in, &out, NULL, &error);
    bool ok = !code && tensor_get(&out, 0) == expected;
    if (ok) printf("ok %s\n", name);
    else printf("not ok %s: %s\n", name, code ? error : "the value is wrong");
    failed += !ok;
}

static void test_deep(void) {
    Arena *a = arena_new();
    Ir *m = ir_new(a);
    m->raw = true;
    Node *x = ir_input(m, 0, "x", KIND_DOUBLE, 0, NULL), *e = x, *array = NULL, *two = ir_int(m, 2);
    for (int k = 0; k < DEPTH; k++) e = ir_add(m, e, x);
    run_deep("a chain of 100000 additions", a, m, e, x, DEPTH + 1.0);
    for (int k = 0; k < DEPTH / 5; k++) {
        Var *v = ir_index(m, "i", two);
        Node *i = ir_var(v);
        array = ir_gen(m, v, ir_add(m, array ? ir_at1(m, array, i) : x, x));
    }
    run_deep("a chain of 20000 arrays", a, m, ir_at1(m, array, ir_int(m, 1)), x, DEPTH / 5 + 1.0);
    ir_delete(m);
    arena_free(a);
}

int main(void) {
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) test_case(&cases[k]);
    test_deep();
    return failed != 0;
}
