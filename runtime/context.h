// What a context is, for the files of the run-time library.
#ifndef RUNTIME_CONTEXT_H
#define RUNTIME_CONTEXT_H

#include "fsmc/runtime.h"
#include "fsmc/runtime_internal.h"

#include <stdatomic.h>
#include <stdbool.h>

enum { ERROR_SIZE = 1024 };

typedef struct Chunk Chunk; // of scratch memory
typedef struct Team Team;   // threads.c

struct fsm_context {
    atomic_bool cancelled; // first: compiled code reads this byte between iterations, and calls fsm_poll if it is set
    atomic_bool failed;    // the last call left an error text
    bool parallel;         // its team is at work
    atomic_int state;
    fsm_allocator allocator;
    Chunk *first, *chunk; // chunk: the one in use; NULL if there is none yet
    int64_t top;          // bytes in use in it
    int64_t reserved;     // in all chunks
    int64_t used;         // of its own memory, at most, in all calls
    bool apart;           // no memory could be had for all of it in one piece
    int64_t peak;
    atomic_int threads;   // fsm_context_set_threads
    Team *team;           // NULL until it is needed
    fsm_context *call;    // of a thread of a team: the context of the call; else NULL
    fsm_part device;
    char error[ERROR_SIZE];
};

void context_give_back(fsm_context *ctx); // its scratch memory
// Around what the threads of a team do one at a time, such as asking for memory.
void team_lock(Team *t);
void team_unlock(Team *t);
void team_delete(Team *t); // NULL is allowed

#endif
