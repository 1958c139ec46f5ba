#define _GNU_SOURCE
#include "driver/spawn.h"

#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

void spawn_words(Arena *a, SpawnWords *to, const char *text) {
    while (*(text += strspn(text, " \t"))) {
        size_t n = strcspn(text, " \t");
        vec_push(to, arena_strndup(a, text, n));
        text += n;
    }
}

int spawn_run(char *const *argv) {
    pid_t pid;
    fflush(NULL);
    int status, error = posix_spawnp(&pid, argv[0], NULL, NULL, argv, environ);
    if (error) return 127;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR) return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}
