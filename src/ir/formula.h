// The words of the formulas in ir/ops.def: what stands there for derivatives and forms, as calls of builders. Where
// they are used, m is the Ir, r the operation, x and y its operands.
#ifndef IR_FORMULA_H
#define IR_FORMULA_H

#include "ir/ir.h"

#define ZERO NULL
#define NONE NULL
#define LIT(c) ir_real(m, r->kind, c)
#define IREF(c) ir_int(m, c)
#define CONV(a) ir_conv(m, r->kind, a)
#define SEL(c, a, b) ir_select(m, c, a, b)
#define STRICT(a, b) (m->strict_nan ? (a) : (b))
#define KINK(c, e) STRICT(e, SEL(c, LIT(0.0), e))
#define ADD(a, b) ir_add(m, a, b)
#define SUB(a, b) ir_sub(m, a, b)
#define MUL(a, b) ir_mul(m, a, b)
#define DIV(a, b) ir_div(m, a, b)
#define NEG(a) ir_neg(m, a)
#define ROUND(a) ir_round(m, a)
#define HYPOT(a, b) ir_hypot(m, a, b)
#define SQRT(a) ir_sqrt(m, a)
#define EXP(a) ir_exp(m, a)
#define LOG(a) ir_log(m, a)
#define SIN(a) ir_sin(m, a)
#define COS(a) ir_cos(m, a)
#define SINH(a) ir_sinh(m, a)
#define COSH(a) ir_cosh(m, a)
#define DIGAMMA(a) ir_digamma(m, a)
#define POLYGAMMA(a, b) ir_polygamma(m, a, b)
#define POW(a, b) ir_pow(m, a, b)
#define POWI(a, b) ir_powi(m, a, b)
#define LT(a, b) ir_lt(m, a, b)
#define LE(a, b) ir_le(m, a, b)
#define EQ(a, b) ir_eq(m, a, b)
#define AND(a, b) ir_and(m, a, b)
#define ABS(a) ir_abs(m, a)
#define MAX(a, b) ir_max(m, a, b)
#define MIN(a, b) ir_min(m, a, b)
#define OR(a, b) ir_or(m, a, b)
#define EXPM1(a) ir_expm1(m, a)
#define LOG1P(a) ir_log1p(m, a)
// a where x is known to be at most 0, else b
#define BELOW0(x, a, b) (ir_range(x).high <= 0 ? (a) : (b))
#define DIFFERENCE(a, b) ir_difference(m, a, b)
#define SIGMOID(a) ir_sigmoid(m, a)

#endif
