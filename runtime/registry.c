// Which contexts there are. A context is looked up by its address and not touched, so that any address can be asked for.
//
// Tables of rows of eight slots, a cache line; an address may be in one row of each table. A full row sends to the next
// table, twice as large. Tables are never moved or freed, so that no lock is needed.
#include "registry.h"

#include <stdlib.h>

enum { SLOTS = REGISTRY_SLOTS, FIRST_ROWS = REGISTRY_ROWS, MAX_TABLES = 32, LINE = REGISTRY_LINE };

typedef RegistryRow Row;

typedef struct Table {
    Row *row;
    uint64_t mask; // of the number of a row
} Table;

Row registry_first[FIRST_ROWS];
static Table first = {registry_first, FIRST_ROWS - 1};
static _Atomic(Table *) tables[MAX_TABLES] = {&first};

static Row *row_of(const Table *t, const void *p) {
    return &t->row[registry_hash(p) & t->mask];
}

static Table *table_at(int k) { return atomic_load_explicit(&tables[k], memory_order_acquire); }

// The k-th table, made if it is missing; NULL without memory.
static Table *table_make(int k) {
    Table *t = table_at(k), *missing = NULL;
    if (t) return t;
    uint64_t rows = (uint64_t)FIRST_ROWS << k;
    Row *row = aligned_alloc(LINE, rows * sizeof *row);
    if (!(t = row ? malloc(sizeof *t) : NULL)) {
        free(row);
        return NULL;
    }
    *t = (Table){row, rows - 1};
    for (uint64_t i = 0; i < rows; i++)
        for (int j = 0; j < SLOTS; j++) atomic_init(&row[i].slot[j], NULL);
    if (atomic_compare_exchange_strong(&tables[k], &missing, t)) return t;
    free(row);
    free(t);
    return missing;
}

bool registry_add(const void *p) {
    for (int k = 0; k < MAX_TABLES; k++) {
        Table *t = table_make(k);
        if (!t) return false;
        Row *row = row_of(t, p);
        for (int j = 0; j < SLOTS; j++) {
            const void *empty = NULL;
            if (atomic_compare_exchange_strong(&row->slot[j], &empty, p)) return true;
        }
    }
    return false;
}

static _Atomic(const void *) *find(const void *p) {
    Table *t;
    for (int k = 0; k < MAX_TABLES && (t = table_at(k)); k++) {
        Row *row = row_of(t, p);
        for (int j = 0; j < SLOTS; j++)
            if (atomic_load_explicit(&row->slot[j], memory_order_acquire) == p) return &row->slot[j];
    }
    return NULL;
}

bool registry_has_elsewhere(const void *p) { return find(p); }

bool registry_remove(const void *p) {
    _Atomic(const void *) *slot = p ? find(p) : NULL;
    return slot && atomic_compare_exchange_strong(slot, &p, NULL);
}
