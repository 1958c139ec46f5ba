// Other programs: compilers that link or compile what fsmc writes.
#ifndef DRIVER_SPAWN_H
#define DRIVER_SPAWN_H

#include "support/arena.h"
#include "support/vec.h"

typedef VEC(char *) SpawnWords;

// Appends the words of a text, as CC in the environment has them.
void spawn_words(Arena *a, SpawnWords *to, const char *text);
// Runs a command, which ends with NULL, and waits. Its exit status; 127 if there is no such program; -1 if it was killed.
int spawn_run(char *const *argv);

#endif
