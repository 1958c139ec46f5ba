// Runs the targets of fuzzing on the inputs that are kept: what they need to reach all that was reached, and what they
// once failed on (tests/fuzz/corpus and tests/fuzz/crashes). A target has a process of its own, since it ends by abort.
#define _GNU_SOURCE
#include "fuzz/fuzz.h"

#include "driver/compile.h"
#include "driver/file.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct Progress {
    int count;
    char path[4096]; // of the input that is being run
} Progress;

typedef struct Job {
    const FuzzTarget *target;
    const char *root;
    Progress *progress;
} Job;

static void run_file(const FuzzTarget *t, const char *path) {
    Arena *a = arena_new();
    Diag *diag = diag_new(a);
    const Source *file = file_read(a, diag, path);
    FUZZ_CHECK(file);
    t->run((const uint8_t *)file->text, file->len);
    diag_delete(diag);
    arena_free(a);
}

static void run_folder(const Job *job, const char *folder) {
    char path[2048];
    struct dirent **entry;
    snprintf(path, sizeof path, "%s/tests/fuzz/%s/%s", job->root, folder, job->target->name);
    int n = scandir(path, &entry, NULL, alphasort);
    for (int i = 0; i < n; i++) {
        if (entry[i]->d_name[0] != '.') {
            Progress *p = job->progress;
            snprintf(p->path, sizeof p->path, "%s/%s", path, entry[i]->d_name);
            run_file(job->target, p->path);
            p->count++;
        }
        free(entry[i]);
    }
    if (n >= 0) free(entry);
}

static int run_target(void *data) {
    run_folder(data, "corpus");
    run_folder(data, "crashes");
    return 0;
}

static void test_target(Job *job) {
    *job->progress = (Progress){0};
    fflush(stdout);
    pid_t pid = fork();
    if (!pid) {
        int result = 1, left = compile_guarded(run_target, job, &result);
        _exit(left || result);
    }
    int status = 0;
    waitpid(pid, &status, 0);
    if (!WIFEXITED(status) || WEXITSTATUS(status)) printf("not ok %s: it fails on %s\n", job->target->name, job->progress->path);
    else if (!job->progress->count) printf("not ok %s: there are no inputs\n", job->target->name);
    else printf("ok %s\n", job->target->name);
}

int main(void) {
    Job job = {.root = getenv("FSMC_ROOT")};
    job.progress = mmap(NULL, sizeof *job.progress, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (!job.root || job.progress == MAP_FAILED) {
        printf("not ok fuzz_corpus: FSMC_ROOT is not set, or no memory\n");
        return 1;
    }
    for (job.target = fuzz_targets; job.target->name; job.target++) test_target(&job);
    return 0;
}
