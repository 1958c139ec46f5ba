// Jobs in processes of their own, which may crash, break an invariant or take too long.
#ifndef RANDOM_CHILD_H
#define RANDOM_CHILD_H

#include <stdbool.h>
#include <stddef.h>

typedef struct Child {
    int (*job)(void *data, int out); // writes what it found to out, by child_send
    void *data;
    bool quiet;   // its standard output and error go nowhere
    int patience; // seconds of the processor, after which it ends, as if it had nothing more to say
} Child;

// Runs the job on a large stack. text becomes what it sent, or "crash: …" or "slow: STAGE": a stage of the compiler
// (oracle_where) in which two ticks of some seconds fall takes too long; what runs programs may take its time.
void child_run(const Child *c, char *text, size_t size);
void child_send(int out, const char *text);

#endif
