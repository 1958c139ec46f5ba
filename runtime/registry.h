// The set of live contexts, for any number of threads.
#ifndef RUNTIME_REGISTRY_H
#define RUNTIME_REGISTRY_H

#include <stdbool.h>

bool registry_add(const void *p); // false without memory
bool registry_has(const void *p);
bool registry_remove(const void *p); // false if it is not in the set

#endif
