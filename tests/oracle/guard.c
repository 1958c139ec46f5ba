#define _DEFAULT_SOURCE
#include "oracle/guard.h"

#include "oracle/oracle.h"

#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

Guarded guard_begin(Arena *a, int n, const Tensor *in, bool ends) {
    Guarded g = {n, ARENA_ARRAY(a, Tensor, n + 1), ARENA_ARRAY(a, void *, n + 1), ARENA_ARRAY(a, size_t, n + 1)};
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    for (int i = 0; i < n; i++) {
        g.in[i] = in[i], g.map[i] = NULL;
        if (in[i].rank == 0) continue;
        const size_t bytes = (size_t)tensor_count(&in[i]) * kind_size(in[i].kind);
        const size_t room = (bytes + page - 1) / page * page;
        char *map = mmap(NULL, room + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (map == MAP_FAILED) continue;
        mprotect(ends ? map + room : map, page, PROT_NONE);
        g.map[i] = map, g.bytes[i] = room + page;
        g.in[i].data = ends ? map + room - bytes : map + page;
        if (bytes) memcpy(g.in[i].data, in[i].data, bytes);
    }
    return g;
}

void guard_end(Guarded *g) {
    for (int i = 0; i < g->n; i++)
        if (g->map[i]) munmap(g->map[i], g->bytes[i]);
}

static int crash_out;

static void on_crash(int signal) {
    static const char before[] = "crash: at ";
    const char *where = oracle_where();
    bool told = write(crash_out, before, sizeof before - 1) > 0 && write(crash_out, where, strlen(where)) > 0;
    if (told && write(crash_out, "\n", 1) == 1) raise(signal); // which is no longer caught
    _exit(9);
}

void guard_tell_crashes(int fd) {
    static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
    struct sigaction tell = {.sa_handler = on_crash, .sa_flags = (int)SA_RESETHAND}, was;
    crash_out = fd;
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        if (!sigaction(signals[i], NULL, &was) && was.sa_handler == SIG_DFL) // else it is a sanitizer's
            sigaction(signals[i], &tell, NULL);
}
