#define _GNU_SOURCE
#include "results.h"

#include "text.h"

#include <fnmatch.h>
#include <ftw.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *base_of(const Instance *i) { return strrchr(i->name, '/') + 1; }

const char *set_of(const Instance *i) { return text("%.*s", (int)(base_of(i) - i->name) - 1, i->name); }

bool same_set(const Instance *a, const Instance *b) {
    size_t length = (size_t)(base_of(a) - a->name);
    return !strncmp(a->name, b->name, length) && !strchr(b->name + length, '/');
}

bool read_times(const char *file, double times[2]) {
    FILE *f = fopen(file, "r");
    if (!f) return false;
    bool whole = fscanf(f, "%lf %lf", &times[0], &times[1]) == 2;
    fclose(f);
    return whole;
}

bool measured(const double times[2]) { return isfinite(times[0]) && isfinite(times[1]); }

// ---- what a folder has

typedef struct Found {
    char name[INSTANCE_NAME], tool[NAME], file[4096];
} Found;

// Static, since nftw passes nothing on.
static struct {
    Found *at;
    int64_t count;
    size_t root; // length of the folder's name
} found;

// ROOT/SET/TOOL/BASE_times_TOOL.txt
static int visit(const char *file, const struct stat *info, int type, struct FTW *where) {
    (void)info;
    const char *base = file + where->base, *end = base - 1, *tool = end;
    if (type != FTW_F) return 0;
    while (tool > file + found.root && tool[-1] != '/') tool--;
    if (tool <= file + found.root + 1) return 0;
    const char *suffix = text("_times_%.*s.txt", (int)(end - tool), tool), *at = strstr(base, suffix);
    if (!at || strcmp(at, suffix) != 0 || end - tool >= NAME) return 0;
    const char *name = text("%.*s%.*s", (int)(tool - file - (long)found.root - 1), file + found.root + 1, (int)(at - base), base);
    if (strlen(name) >= INSTANCE_NAME || instance_kind(name) == KINDS) return 0;
    found.at = realloc(found.at, (size_t)(found.count + 1) * sizeof *found.at);
    if (!found.at) fail(STATUS_TOOL, "out of memory");
    Found *f = &found.at[found.count++];
    snprintf(f->name, sizeof f->name, "%s", name);
    snprintf(f->tool, sizeof f->tool, "%.*s", (int)(end - tool), tool);
    snprintf(f->file, sizeof f->file, "%s", file);
    return 0;
}

static bool wanted(const char *name, char **patterns, int count) {
    for (int k = 0; k < count; k++)
        if (!fnmatch(patterns[k], name, 0) || !strcmp(patterns[k], "all")) return true;
    return !count;
}

static int tool_at(const Board *b, const char *name) {
    for (int t = 0; t < b->ntools; t++)
        if (!strcmp(b->tools[t], name)) return t;
    return -1;
}

static void add_tool(Board *b, const char *name) {
    if (tool_at(b, name) >= 0) return;
    if (b->ntools == TOOLS) fail(STATUS_USAGE, "more than %d tools: choose some by --tool", TOOLS);
    strcpy(b->tools[b->ntools++], name);
}

static int by_name(const void *a, const void *b) {
    const char *x = a, *y = b;
    bool own = !strncmp(x, "fsmc", 4), their_own = !strncmp(y, "fsmc", 4);
    return own != their_own ? their_own - own : strcmp(x, y);
}

static Row *row_of(Board *b, const char *name) {
    for (int64_t i = 0; i < b->count; i++)
        if (!strcmp(b->rows[i].instance.name, name)) return &b->rows[i];
    b->rows = realloc(b->rows, (size_t)(b->count + 1) * sizeof *b->rows);
    if (!b->rows) fail(STATUS_TOOL, "out of memory");
    Row *row = &b->rows[b->count++];
    *row = (Row){.instance = {.kind = instance_kind(name), .replicate = replicates(name)}, .size = size_of(name)};
    strcpy(row->instance.name, name);
    for (int t = 0; t < TOOLS; t++) row->times[t][0] = row->times[t][1] = NAN;
    return row;
}

// As all_instances has the sets, what ADBench does not have last.
static int64_t place_of(const Instance *of) {
    static Instance *all;
    static int64_t count;
    if (!all) count = all_instances(&all);
    for (int64_t i = 0; i < count; i++)
        if (same_set(&all[i], of)) return i;
    return count;
}

static int by_set_and_size(const void *a, const void *b) {
    const Row *x = a, *y = b;
    int64_t p = place_of(&x->instance), q = place_of(&y->instance);
    if (p != q) return p < q ? -1 : 1;
    int sets = same_set(&x->instance, &y->instance) ? 0 : strcmp(x->instance.name, y->instance.name);
    if (sets) return sets;
    return x->size != y->size ? (x->size > y->size) - (x->size < y->size) : strcmp(x->instance.name, y->instance.name);
}

Board read_board(const Plan *plan, char **patterns, int count) {
    Board b = {0};
    char root[4096];
    snprintf(root, sizeof root, "%s/Release", plan->out);
    found.root = strlen(root);
    if (!exists(root)) fail(STATUS_FILE, "%s: there are no results", root);
    if (nftw(root, visit, 16, FTW_PHYS)) fail(STATUS_FILE, "%s cannot be read", root);
    for (int t = 0; t < plan->npeers; t++) add_tool(&b, plan->peers[t].name);
    for (int64_t i = 0; i < found.count && !plan->npeers; i++)
        if (wanted(found.at[i].name, patterns, count)) add_tool(&b, found.at[i].tool);
    if (!plan->npeers) qsort(b.tools, (size_t)b.ntools, sizeof *b.tools, by_name);
    for (int64_t i = 0; i < found.count; i++) {
        const Found *f = &found.at[i];
        int tool = tool_at(&b, f->tool);
        if (tool < 0 || !wanted(f->name, patterns, count)) continue;
        double times[2];
        if (!read_times(f->file, times)) fail(STATUS_FILE, "%s: expected two numbers", f->file);
        memcpy(row_of(&b, f->name)->times[tool], times, sizeof times);
    }
    if (!b.count) fail(STATUS_FILE, "%s: there are no such results", root);
    qsort(b.rows, (size_t)b.count, sizeof *b.rows, by_set_and_size);
    return b;
}

int best_peer(const Board *b, const Row *row, int what) {
    int best = -1;
    for (int t = 1; t < b->ntools; t++)
        if (measured(row->times[t]) && (best < 0 || row->times[t][what] < row->times[best][what])) best = t;
    return best;
}

double speed_up(const Board *b, const Row *row, int tool, int what) {
    int best = best_peer(b, row, what);
    return best < 0 || !measured(row->times[tool]) ? NAN : row->times[best][what] / row->times[tool][what];
}

// ---- the table

const char *three_digits(double value) { return text(value >= 1000 ? "%.0f" : "%.3g", value); }

static void print_time(double seconds) {
    if (isinf(seconds)) printf(" out of time |");
    else if (isnan(seconds)) printf(" |");
    else printf(" %s |", three_digits(1e3 * seconds));
}

static void print_best(const Board *b, const Row *row, int what) {
    int best = best_peer(b, row, what);
    if (best < 0) printf(" |");
    else printf(" %s %s |", three_digits(1e3 * row->times[best][what]), b->tools[best]);
}

double mean_slow_down(const Board *b, int tool, int what, int64_t *rows) {
    double logs = 0;
    *rows = 0;
    for (int64_t i = 0; i < b->count; i++) {
        const double *own = b->rows[i].times[0], *its = b->rows[i].times[tool];
        if (measured(own) && measured(its)) logs += log(its[what] / own[what]), ++*rows;
    }
    return *rows ? exp(logs / (double)*rows) : NAN;
}

Summary summary_of(const Board *b, Kind kind) {
    Summary s = {.least = {INFINITY, INFINITY}};
    for (int64_t i = 0; i < b->count; i++) {
        const Row *row = &b->rows[i];
        if ((kind != KINDS && row->instance.kind != kind) || !measured(row->times[0])) continue;
        double ratio = row->times[0][1] / row->times[0][0];
        s.rows++, s.ratio += log(ratio), s.most = fmax(s.most, ratio);
        double of[2] = {speed_up(b, row, 0, 0), speed_up(b, row, 0, 1)};
        if (!isfinite(of[0]) || !isfinite(of[1])) continue;
        s.compared++;
        for (int what = 0; what < 2; what++) s.mean[what] += log(of[what]), s.least[what] = fmin(s.least[what], of[what]);
    }
    s.ratio = exp(s.ratio / (double)s.rows);
    for (int what = 0; what < 2; what++) s.mean[what] = exp(s.mean[what] / (double)s.compared);
    return s;
}

static void print_ratio(double ratio) {
    if (isfinite(ratio)) printf(" %.2f |", ratio);
    else printf(" |");
}

static void print_summaries(const Board *b) {
    printf("\n| problem | rows | ratio: mean | greatest | with peers | speed-up of the objective: mean | least | of the "
           "derivative: mean | least |\n|---|---|---|---|---|---|---|---|---|\n");
    for (int kind = 0; kind <= KINDS; kind++) {
        Summary s = summary_of(b, (Kind)kind);
        if (!s.rows) continue;
        printf("| %s | %lld |", kind == KINDS ? "all" : kind_names[kind], (long long)s.rows);
        print_ratio(s.ratio), print_ratio(s.most);
        printf(" %lld |", (long long)s.compared);
        for (int what = 0; what < 2; what++) print_ratio(s.mean[what]), print_ratio(s.least[what]);
        putchar('\n');
    }
}

// Objective and derivative of each tool, and how many times as long as the first it takes by the geometric mean.
static void print_all_tools(const Board *b) {
    int64_t rows;
    printf("\n| objective, derivative |");
    for (int t = 0; t < b->ntools; t++) printf(" %s |", b->tools[t]);
    printf("\n|---|");
    for (int t = 0; t < b->ntools; t++) printf("---|");
    for (int64_t i = 0; i < b->count; i++) {
        printf("\n| `%s` |", b->rows[i].instance.name);
        for (int t = 0; t < b->ntools; t++) {
            const double *times = b->rows[i].times[t];
            if (isnan(times[0])) printf(" |");
            else if (isinf(times[0])) printf(" out of time |");
            else printf(" %s, %s |", three_digits(1e3 * times[0]), three_digits(1e3 * times[1]));
        }
    }
    printf("\n| by %s's, mean |", b->tools[0]);
    for (int t = 0; t < b->ntools; t++) {
        double objective = mean_slow_down(b, t, 0, &rows), derivative = mean_slow_down(b, t, 1, &rows);
        if (rows) printf(" %.2f, %.2f |", objective, derivative);
        else printf(" |");
    }
    putchar('\n');
}

int print_table(const Plan *plan, char **patterns, int count) {
    Board b = read_board(plan, patterns, count);
    About known = read_about(plan);
    printf("| instance | %s: objective | derivative | ratio | best peer: objective | derivative | speed-up: objective | "
           "derivative |\n|---|---|---|---|---|---|---|---|\n",
           b.tools[0]);
    for (int64_t i = 0; i < b.count; i++) {
        const Row *row = &b.rows[i];
        const double *own = row->times[0];
        printf("| `%s` |", row->instance.name);
        print_time(own[0]), print_time(own[1]), print_ratio(own[1] / own[0]);
        print_best(&b, row, 0), print_best(&b, row, 1);
        print_ratio(speed_up(&b, row, 0, 0)), print_ratio(speed_up(&b, row, 0, 1));
        putchar('\n');
    }
    print_summaries(&b);
    if (b.ntools > 1) print_all_tools(&b);
    for (int k = 0; k < known.count; k++) printf("%s%s\n", k ? "" : "\n", known.lines[k]);
    return 0;
}
