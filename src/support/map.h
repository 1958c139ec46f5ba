// A hash map from pointers to pointers, for memo tables of graph walks.
#ifndef SUPPORT_MAP_H
#define SUPPORT_MAP_H

#include <stddef.h>

typedef struct Map {
    const void **key;
    void **value;
    size_t len, cap;
} Map;

// The value stored under key, or NULL.
void *map_get(const Map *m, const void *key);
// Stores value (which may be NULL) under key, replacing an earlier one.
void map_put(Map *m, const void *key, void *value);
void map_free(Map *m);

#endif
