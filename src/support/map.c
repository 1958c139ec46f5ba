#include "support/map.h"

#include "support/diag.h"

#include <stdint.h>
#include <stdlib.h>

static size_t slot_of(const Map *m, const void *key) {
    uint64_t h = (uint64_t)(uintptr_t)key * UINT64_C(0x9E3779B97F4A7C15);
    size_t k = (size_t)(h >> 20) & (m->cap - 1);
    while (m->key[k] && m->key[k] != key) k = (k + 1) & (m->cap - 1);
    return k;
}

void *map_get(const Map *m, const void *key) {
    if (!m->cap) return NULL;
    size_t k = slot_of(m, key);
    return m->key[k] ? m->value[k] : NULL;
}

void map_put(Map *m, const void *key, void *value) {
    if (2 * (m->len + 1) > m->cap) {
        Map big = {.cap = m->cap ? m->cap * 2 : 32};
        big.key = calloc(big.cap, sizeof *big.key);
        big.value = calloc(big.cap, sizeof *big.value);
        if (!big.key || !big.value) diag_out_of_memory();
        for (size_t i = 0; i < m->cap; i++)
            if (m->key[i]) {
                size_t k = slot_of(&big, m->key[i]);
                big.key[k] = m->key[i], big.value[k] = m->value[i], big.len++;
            }
        map_free(m);
        *m = big;
    }
    size_t k = slot_of(m, key);
    if (!m->key[k]) m->len++;
    m->key[k] = key, m->value[k] = value;
}

void map_free(Map *m) {
    free(m->key);
    free(m->value);
    *m = (Map){0};
}
