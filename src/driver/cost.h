// What entries cost, by their loop trees (--explain=cost), and derivatives that cost more than promised (-Wcost).
#ifndef DRIVER_COST_H
#define DRIVER_COST_H

#include "driver/compile.h"

// Notes, where that is wanted, what the entries do at most, by loop trees made for that: before loops are cut for lanes
// and caches, and with whole traces, since checkpoints have the price that their plan states. An entry with derivatives
// is compared with the program that has the functions themselves in their place (Ir.primal).
void cost_explain(Compilation *c);

#endif
