// What is run: instances and tools.
#define _GNU_SOURCE
#include "run.h"

#include "text.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool selected(const Instance *i, char **patterns, int count) {
    if (!count) return i->usual;
    for (int k = 0; k < count; k++)
        if (!fnmatch(patterns[k], i->name, 0) || !strcmp(patterns[k], "all")) return true;
    return false;
}

int64_t select_instances(char **patterns, int count, Instance **to) {
    int64_t all = all_instances(to), kept = 0;
    for (int64_t i = 0; i < all; i++)
        if (selected(&(*to)[i], patterns, count)) (*to)[kept++] = (*to)[i];
    for (int k = 0; k < count; k++) {
        bool found = !strcmp(patterns[k], "all");
        for (int64_t i = 0; i < kept && !found; i++) found = !fnmatch(patterns[k], (*to)[i].name, 0);
        if (found) continue;
        if (instance_kind(patterns[k]) == KINDS || strpbrk(patterns[k], "*?[") || strlen(patterns[k]) >= INSTANCE_NAME)
            fail(STATUS_USAGE, "no instance is named %s: see `fsmc-adbench list all`", patterns[k]);
        *to = realloc(*to, (size_t)(kept + 1) * sizeof **to);
        if (!*to) fail(STATUS_TOOL, "out of memory");
        Instance *i = &(*to)[kept++];
        *i = (Instance){.kind = instance_kind(patterns[k]), .replicate = replicates(patterns[k])};
        strcpy(i->name, patterns[k]);
    }
    return kept;
}

static const char *own_path(void) {
    char path[4096];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    if (length < 0) fail(STATUS_USAGE, "the path of this program is not known");
    return text("%.*s", (int)length, path);
}

static const char *beside(const char *name) {
    const char *own = own_path();
    return text("%.*s%s", (int)(strrchr(own, '/') + 1 - own), own, name);
}

// fsmc; a shared object beside this program; or NAME=HOW, a shared object if it ends so, else a program.
void add_peer(Plan *plan, const char *word) {
    if (plan->npeers == TOOLS) fail(STATUS_USAGE, "more than %d tools", TOOLS);
    Peer *p = &plan->peers[plan->npeers++];
    const char *equals = strchr(word, '=');
    int length = equals ? (int)(equals - word) : (int)strlen(word);
    if (!length || (size_t)length >= sizeof p->name || memchr(word, '/', (size_t)length))
        fail(STATUS_USAGE, "expected NAME or NAME=HOW, found \"%s\"", word);
    *p = (Peer){0};
    memcpy(p->name, word, (size_t)length);
    if (!equals) {
        p->module = !strcmp(p->name, fsmc_tool.name) ? fsmc_tool.name : strdup(beside(text("%s.so", p->name)));
        if (!p->module || (strchr(p->module, '/') && !exists(p->module)))
            fail(STATUS_USAGE, "there is no tool %s (%s)", p->name, p->module ? p->module : "");
        return;
    }
    size_t rest = strlen(equals + 1);
    if (rest > 3 && !strcmp(equals + 1 + rest - 3, ".so"))
        p->module = equals + 1;
    else
        p->command = equals + 1;
}

void add_usual_peers(Plan *plan) {
    static const char *const names[] = {"manual-gcc", "manual-clang"};
    add_peer(plan, fsmc_tool.name);
    for (int i = 0; i < 2; i++)
        if (exists(beside(text("%s.so", names[i])))) add_peer(plan, names[i]);
}
