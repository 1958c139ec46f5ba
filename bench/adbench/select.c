// What is run: instances and tools.
#define _GNU_SOURCE
#include "run.h"

#include "text.h"

#include <dirent.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
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

// The tools that are known by their names: all that `--tool=all` is.
static const char *const known[] = {"fsmc", "fsmc-threads", "manual-gcc", "manual-clang", "adolc", "jax", "pytorch"};

static bool runs_in(const Plan *plan, const char *name) { return strcmp(name, plan->threads > 1 ? "fsmc" : "fsmc-threads") != 0; }

static bool is_shared_object(const char *path) {
    size_t length = strlen(path);
    return length > 3 && !strcmp(path + length - 3, ".so");
}

// What a user has besides: $FSMC_ADBENCH_TOOLS, a folder of shared objects NAME.so and of programs NAME; else "".
static const char *tools_folder(void) {
    const char *folder = getenv("FSMC_ADBENCH_TOOLS");
    return folder ? folder : "";
}

static void add_tools_of_folder(Plan *plan) {
    struct dirent **entries;
    int count = *tools_folder() ? scandir(tools_folder(), &entries, NULL, alphasort) : 0;
    if (count < 0) fail(STATUS_FILE, "%s cannot be read", tools_folder());
    for (int i = 0; i < count; i++) {
        const char *name = entries[i]->d_name, *path = text("%s/%s", tools_folder(), name);
        struct stat info;
        bool file = *name != '.' && !stat(path, &info) && S_ISREG(info.st_mode);
        if (file && is_shared_object(name)) add_peer(plan, text("%.*s", (int)strlen(name) - 3, name));
        else if (file && !strchr(name, '.') && access(path, X_OK) == 0) add_peer(plan, name);
    }
}

// NAME=HOW is a shared object if it ends so, else a program.
void add_peer(Plan *plan, const char *word) {
    if (!strcmp(word, "all")) {
        for (size_t k = 0; k < sizeof known / sizeof *known; k++)
            if (runs_in(plan, known[k])) add_peer(plan, known[k]);
        add_tools_of_folder(plan);
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
    if (is_shared_object(equals + 1)) p->module = equals + 1;
    else p->command = equals + 1;
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

// NAME.so, or a program NAME which understands --version. False if the folder has neither.
static bool find_in(const char *folder, Peer *p) {
    const char *module = text("%s/%s.so", folder, p->name), *adapter = text("%s/%s", folder, p->name);
    if (exists(module)) p->module = strdup(module);
    else if (access(adapter, X_OK) == 0) p->command = strdup(adapter), p->adapter = true;
    return p->module || p->command;
}

// Built in; beside this program; an adapter; or of the user's folder. False if there is none.
static bool find_peer(Peer *p) {
    if (!strcmp(p->name, fsmc_tool.name)) {
        p->module = fsmc_tool.name;
        return true;
    }
    return find_in(beside("."), p) || find_in(ADBENCH_PEERS, p) || (*tools_folder() && find_in(tools_folder(), p));
}

void find_peers(Plan *plan) {
    int kept = 0;
    for (int t = 0; t < plan->npeers; t++) {
        Peer *p = &plan->peers[t];
        bool found = p->module || p->command || find_peer(p);
        if (!found && !is_known(p->name)) fail(STATUS_USAGE, "there is no tool %s (%s)", p->name, beside(text("%s.so", p->name)));
        const char *why = found ? NULL : "it was not built";
        if (found && p->adapter) why = adapter_skips(p);
        if (why) fprintf(stderr, "skipped %s: %s\n", p->name, why);
        else plan->peers[kept++] = *p;
    }
    plan->npeers = kept;
    if (!kept) fail(STATUS_TOOL, "there is no tool to run");
}
