// What was measured, and where: about.txt in a folder of results.
#define _GNU_SOURCE
#include "results.h"
#include "text.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char *file_of(const Plan *plan) { return text("%s/about.txt", plan->out); }

// Where the value of a line begins if its key is this one.
static const char *value_in(const char *line, const char *key) {
    size_t length = strlen(key);
    return !strncmp(line, key, length) && !strncmp(line + length, ": ", 2) ? line + length + 2 : NULL;
}

About read_about(const Plan *plan) {
    About a = {0};
    FILE *f = fopen(file_of(plan), "r");
    if (!f) return a;
    while (a.count < (int)(sizeof a.lines / sizeof *a.lines) && fgets(a.lines[a.count], sizeof *a.lines, f))
        a.lines[a.count][strcspn(a.lines[a.count], "\n")] = 0, a.count++;
    fclose(f);
    return a;
}

const char *about(const About *a, const char *key) {
    for (int i = 0; i < a->count; i++) {
        const char *value = value_in(a->lines[i], key);
        if (value) return value;
    }
    return "";
}

void set_about(About *a, const char *key, const char *value) {
    int i = 0;
    while (i < a->count && !value_in(a->lines[i], key)) i++;
    if (i == (int)(sizeof a->lines / sizeof *a->lines)) return;
    if (i == a->count) a->count++;
    snprintf(a->lines[i], sizeof *a->lines, "%s: %s", key, value);
}

void write_about(const Plan *plan, const About *a) {
    const char *file = file_of(plan);
    FILE *f = open_to_write(file);
    for (int i = 0; i < a->count; i++) fprintf(f, "%s\n", a->lines[i]);
    close_written(f, file);
}

// What follows `key` and blanks, colons or `=` in the first line of a file that begins so.
static const char *entry_of(const char *file, const char *key) {
    char line[512];
    const char *entry = NULL;
    FILE *f = fopen(file, "r");
    while (f && !entry && fgets(line, sizeof line, f)) {
        if (strncmp(line, key, strlen(key)) != 0) continue;
        char *at = line + strlen(key);
        at += strspn(at, " \t:=\"");
        at[strcspn(at, "\"\n")] = 0;
        entry = text("%s", at);
    }
    if (f) fclose(f);
    return entry ? entry : "unknown";
}

void about_machine(About *a) {
    time_t seconds = time(NULL);
    char day[32];
    strftime(day, sizeof day, "%Y-%m-%d", gmtime(&seconds));
    set_about(a, "machine", text("%s, %s", entry_of("/proc/cpuinfo", "model name"), entry_of("/etc/os-release", "PRETTY_NAME")));
    set_about(a, "day", day);
}
