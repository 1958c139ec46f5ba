// The set of live contexts, for any number of threads.
#ifndef RUNTIME_REGISTRY_H
#define RUNTIME_REGISTRY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

bool registry_add(const void *p); // false without memory
bool registry_remove(const void *p); // false if it is not in the set

// The first of the tables of registry.c, in which nearly all contexts are: every call looks here.
enum { REGISTRY_SLOTS = 8, REGISTRY_LINE = 64, REGISTRY_ROWS = 256 };
typedef struct RegistryRow {
    _Alignas(REGISTRY_LINE) _Atomic(const void *) slot[REGISTRY_SLOTS];
} RegistryRow;
extern RegistryRow registry_first[REGISTRY_ROWS];

bool registry_has_elsewhere(const void *p);

static inline uint64_t registry_hash(const void *p) { return (uint64_t)(uintptr_t)p * UINT64_C(0x9e3779b97f4a7c15) >> 40; }

static inline bool registry_has(const void *p) {
    RegistryRow *row = &registry_first[registry_hash(p) % REGISTRY_ROWS];
    for (int j = 0; p && j < REGISTRY_SLOTS; j++)
        if (atomic_load_explicit(&row->slot[j], memory_order_acquire) == p) return true;
    return p && registry_has_elsewhere(p);
}

#endif
