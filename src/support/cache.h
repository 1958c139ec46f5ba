// What long work has made, kept in a folder for the next time. Several processes may use one folder at once.
#ifndef SUPPORT_CACHE_H
#define SUPPORT_CACHE_H

#include "support/str.h"

#include <stdbool.h>

typedef struct Cache {
    const char *folder; // is made where it is missing
    int64_t most;       // bytes that all of it may take
} Cache;

// The folder that FSMC_CACHE in the environment names, with at most FSMC_CACHE_SIZE bytes (K, M or G may follow; 1G if
// nothing is said); false if it names none. The environment's strings must stay.
bool cache_of_environment(Cache *c);
// What was made of this key: it is compared as a whole, so what is found is right. False if there is nothing.
bool cache_find(const Cache *c, const Str *key, Str *value);
// Keeps a value, and forgets those that were not used for longest if there are too many. What goes wrong is passed over,
// and the value is made again the next time.
void cache_keep(const Cache *c, const Str *key, const char *value, size_t size);

#endif
