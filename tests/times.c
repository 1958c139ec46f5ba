#define _GNU_SOURCE
#include "times.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

double times_of_usage(const struct rusage *u) {
    return (double)(u->ru_utime.tv_sec + u->ru_stime.tv_sec) + 1e-6 * (double)(u->ru_utime.tv_usec + u->ru_stime.tv_usec);
}

// Of a process, in ticks; 0 if it is of another group or gone. Its name, which may have any characters, is in parentheses.
static unsigned long ticks_of(const char *pid, pid_t group) {
    char path[300], text[1024];
    snprintf(path, sizeof path, "/proc/%s/stat", pid);
    FILE *f = fopen(path, "r");
    if (!f) return 0;
    text[fread(text, 1, sizeof text - 1, f)] = 0;
    fclose(f);
    const char *after = strrchr(text, ')');
    int its_group;
    unsigned long used[4];
    if (!after || sscanf(after + 1, " %*c %*d %d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu %lu %lu", &its_group, &used[0], &used[1],
                         &used[2], &used[3]) != 5)
        return 0;
    return its_group == group ? used[0] + used[1] + used[2] + used[3] : 0;
}

double times_of_group(pid_t group) {
    DIR *proc = opendir("/proc");
    unsigned long ticks = 0;
    if (!proc) return 0;
    for (struct dirent *e; (e = readdir(proc));)
        if (e->d_name[0] >= '0' && e->d_name[0] <= '9') ticks += ticks_of(e->d_name, group);
    closedir(proc);
    return (double)ticks / (double)sysconf(_SC_CLK_TCK);
}

static struct TimesRow *find(const Times *t, const char *name) {
    for (size_t i = 0; i < t->n; i++)
        if (!strcmp(t->row[i].name, name)) return &t->row[i];
    return NULL;
}

double times_get(const Times *t, const char *name) {
    const struct TimesRow *row = find(t, name);
    return row ? row->seconds : 0;
}

void times_set(Times *t, const char *name, double seconds) {
    struct TimesRow *row = find(t, name);
    if (row) {
        row->seconds = seconds;
        return;
    }
    t->row = realloc(t->row, (t->n + 1) * sizeof *t->row);
    if (!t->row) abort();
    t->row[t->n++] = (struct TimesRow){strdup(name), seconds};
}

bool times_read(Times *t, const char *path) {
    FILE *f = fopen(path, "r");
    if (!f) return false;
    char line[4096], name[4000];
    double seconds;
    while (fgets(line, sizeof line, f))
        if (sscanf(line, "%lf %3999s", &seconds, name) == 2 && !find(t, name)) times_set(t, name, seconds);
    fclose(f);
    return true;
}

double times_sum(const Times *t) {
    double sum = 0;
    for (size_t i = 0; i < t->n; i++) sum += t->row[i].seconds;
    return sum;
}

static int compare(const void *a, const void *b) {
    const struct TimesRow *x = a, *y = b;
    return x->seconds != y->seconds ? (x->seconds < y->seconds ? 1 : -1) : strcmp(x->name, y->name);
}

void times_sort(Times *t) {
    if (t->n) qsort(t->row, t->n, sizeof *t->row, compare);
}

bool times_write(Times *t, const char *path, size_t most, bool rounded) {
    char *new;
    if (asprintf(&new, "%s.%d", path, (int)getpid()) < 0) abort();
    FILE *f = fopen(new, "w");
    times_sort(t);
    for (size_t i = 0; f && i < t->n && i < most; i++)
        fprintf(f, rounded ? "%.0f %s\n" : "%.3f %s\n", t->row[i].seconds, t->row[i].name);
    bool ok = f && !ferror(f);
    ok = f && !fclose(f) && ok && !rename(new, path);
    free(new);
    return ok;
}

void times_free(Times *t) {
    for (size_t i = 0; i < t->n; i++) free(t->row[i].name);
    free(t->row);
    *t = (Times){0};
}
