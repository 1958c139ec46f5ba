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

// What an adapter's --version says; why it cannot be run if its exit status is not 0, else NULL.
static const char *adapter_skips(Peer *p) {
    char line[256] = "";
    FILE *f = popen(text("'%s' --version", p->command), "r");
    if (!f) return "no new process";
    if (!fgets(line, sizeof line, f)) line[0] = 0;
    line[strcspn(line, "\n")] = 0;
    int status = pclose(f);
    if (status) return *line ? text("%s", line) : "its --version failed";
    p->version = strdup(line);
    return NULL;
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

// The tools that are known by their names: all that `--tool=all` is.
static const char *const known[] = {"fsmc", "fsmc-threads", "manual-gcc", "manual-clang", "adolc", "jax", "pytorch"};

static bool runs_in(const Plan *plan, const char *name) {
    return strcmp(name, plan->threads > 1 ? "fsmc" : "fsmc-threads") != 0;
}

// NAME=HOW is a shared object if it ends so, else a program.
void add_peer(Plan *plan, const char *word) {
    if (!strcmp(word, "all")) {
        for (size_t k = 0; k < sizeof known / sizeof *known; k++)
            if (runs_in(plan, known[k])) add_peer(plan, known[k]);
        return;
    }
    if (plan->npeers == TOOLS) fail(STATUS_USAGE, "more than %d tools", TOOLS);
    Peer *p = &plan->peers[plan->npeers++];
    const char *equals = strchr(word, '=');
    int length = equals ? (int)(equals - word) : (int)strlen(word);
    if (!length || (size_t)length >= sizeof p->name || memchr(word, '/', (size_t)length))
        fail(STATUS_USAGE, "expected NAME or NAME=HOW, found \"%s\"", word);
    *p = (Peer){0};
    memcpy(p->name, word, (size_t)length);
    if (!equals) return;
    size_t rest = strlen(equals + 1);
    if (rest > 3 && !strcmp(equals + 1 + rest - 3, ".so"))
        p->module = equals + 1;
    else
        p->command = equals + 1;
}

void add_usual_peers(Plan *plan) {
    static const char *const names[] = {"manual-gcc", "manual-clang"};
    add_peer(plan, plan->threads > 1 ? "fsmc-threads" : "fsmc");
    for (int i = 0; i < 2; i++)
        if (exists(beside(text("%s.so", names[i])))) add_peer(plan, names[i]);
}

static bool is_known(const char *name) {
    for (size_t k = 0; k < sizeof known / sizeof *known; k++)
        if (!strcmp(known[k], name)) return true;
    return false;
}

// Built in; a shared object beside this program; or an adapter. False if there is none.
static bool find_peer(Peer *p) {
    const char *module = beside(text("%s.so", p->name)), *adapter = text("%s/%s", ADBENCH_PEERS, p->name);
    if (!strcmp(p->name, fsmc_tool.name))
        p->module = fsmc_tool.name;
    else if (exists(module))
        p->module = strdup(module);
    else if (access(adapter, X_OK) == 0)
        p->command = strdup(adapter), p->adapter = true;
    else
        return false;
    return true;
}

void find_peers(Plan *plan) {
    int kept = 0;
    for (int t = 0; t < plan->npeers; t++) {
        Peer *p = &plan->peers[t];
        bool found = p->module || p->command || find_peer(p);
        if (!found && !is_known(p->name))
            fail(STATUS_USAGE, "there is no tool %s (%s)", p->name, beside(text("%s.so", p->name)));
        const char *why = found ? NULL : "it was not built";
        if (found && p->adapter) why = adapter_skips(p);
        if (why)
            fprintf(stderr, "skipped %s: %s\n", p->name, why);
        else
            plan->peers[kept++] = *p;
    }
    plan->npeers = kept;
    if (!kept) fail(STATUS_TOOL, "there is no tool to run");
}
