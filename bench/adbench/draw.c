// Plots, by gnuplot: logarithmic axes with ticks at 1, 2 and 5, so that also a narrow range has some.
#define _GNU_SOURCE
#include "report.h"
#include "text.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

// The exit status of gnuplot with these words; its output is not shown.
static int gnuplot(const char *word) {
    fflush(NULL);
    pid_t child = fork();
    if (child < 0) fail(STATUS_TOOL, "no new process: %s", strerror(errno));
    if (!child) {
        if (!freopen("/dev/null", "w", stdout)) _exit(126);
        setenv("LC_ALL", "C.UTF-8", 1);
        execlp("gnuplot", "gnuplot", word, (char *)NULL);
        _exit(127);
    }
    int status;
    if (waitpid(child, &status, 0) < 0) fail(STATUS_TOOL, "gnuplot: %s", strerror(errno));
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

bool can_draw(void) { return gnuplot("--version") == 0; }

const char *drawing_file(const char *folder, const Instance *of, Drawing what, const char *suffix) {
    char set[INSTANCE_NAME];
    snprintf(set, sizeof set, "%s", set_of(of));
    for (char *at = set; *at; at++)
        if (*at == '/') *at = '-';
    return text("%s/%s-%s.%s", folder, set, drawing_names[what], suffix);
}

// The next number of 1, 2, 5, 10, … below or above.
static double round_to(double value, bool up) {
    static const double steps[] = {1, 2, 5, 10};
    double decade = pow(10, floor(log10(value) + 1e-12));
    for (int k = 0; k < 3; k++)
        if (up ? value <= steps[k] * decade * (1 + 1e-9) : value < steps[k + 1] * decade * (1 - 1e-9)) return steps[k] * decade;
    return 10 * decade;
}

static const char *tick_label(double value) {
    return value >= 1e6 ? text("%gM", value / 1e6) : value >= 1e3 ? text("%gk", value / 1e3) : text("%g", value);
}

typedef struct Range {
    double low, high;
} Range;

static void stretch(Range *r, double value) {
    if (isnan(value)) return;
    r->low = fmin(r->low, value), r->high = fmax(r->high, value);
}

// One tick for each decade where there are many.
static void put_axis(FILE *f, char axis, Range r) {
    double low = round_to(r.low, false), high = round_to(r.high, true);
    if (high < 5 * low) low = round_to(low / 1.5, false), high = round_to(high * 1.5, true);
    bool decades = high / low > 2000;
    enum { MARGIN = 5 }; // in 100, so that no mark is on an axis
    fprintf(f, "set %crange [%.12g:%.12g]\nset %ctics (", axis, low * (1 - MARGIN / 100.), high * (1 + MARGIN / 100.), axis);
    bool first = true;
    for (double at = low; at <= high * (1 + 1e-9); at = round_to(at * 1.01, true)) {
        bool decade = fabs(log10(at) - round(log10(at))) < 1e-9;
        if (decades && !decade) continue;
        fprintf(f, "%s\"%s\" %.12g", first ? "" : ", ", tick_label(at), at);
        first = false;
    }
    fputs(")\n", f);
}

static const char *size_title(Kind kind) {
    switch (kind) {
    case GMM: return "K (d + 1) (d + 2) / 2, the parameters";
    case BA: return "11 n + 3 m + 2 p, for n cameras, m points and p observations";
    case LSTM: return "l · c, layers by length of the sequence";
    default: return "points";
    }
}

// Colours that are told apart also by those who do not see all colours alike (Okabe and Ito), and other marks. The first tool's
// is its own; where there are more tools than colours, the others' come again, dashed.
static void put_styles(FILE *f) {
    static const char *const colours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#8c6d31"};
    enum { COLOURS = sizeof colours / sizeof *colours };
    static const int marks[COLOURS] = {7, 5, 9, 11, 13, 6, 4, 8};
    for (int k = 0; k < TOOLS; k++) {
        int look = k ? 1 + (k - 1) % (COLOURS - 1) : 0;
        fprintf(f, "set linetype %d lc rgb '%s' lw %s pt %d ps 0.8 dt %d\n", k + 1, colours[look], k ? "1.5" : "2.5", marks[look],
                k < COLOURS ? 1 : 2);
    }
}

// False if there is nothing to draw.
static bool put_drawing(FILE *f, const Board *b, int64_t first, int64_t last, Drawing what, const char *folder) {
    Range x = {INFINITY, 0}, y = {INFINITY, 0};
    for (int t = 0; t < b->ntools; t++)
        for (int64_t i = first; i < last; i++) {
            double value = drawn(b, &b->rows[i], t, what);
            stretch(&y, value);
            if (!isnan(value)) stretch(&x, b->rows[i].size);
        }
    if (!(x.low <= x.high)) return false;
    const Instance *of = &b->rows[first].instance;
    put_axis(f, 'x', x), put_axis(f, 'y', y);
    fprintf(f, "set title '%s: %s'\nset xlabel '%s'\n", set_of(of), drawing_titles[what], size_title(of->kind));
    fputs("$data << EOD\n", f);
    bool has[TOOLS] = {false};
    for (int t = 0; t < b->ntools; t++) {
        for (int64_t i = first; i < last; i++) {
            double value = drawn(b, &b->rows[i], t, what);
            if (isnan(value)) continue;
            fprintf(f, "%.9g %.9g\n", b->rows[i].size, value);
            has[t] = true;
        }
        if (has[t]) fputs("\n\n", f); // what ends a block of data
    }
    fputs("EOD\n", f);
    static const char *const terminals[] = {"svg size 640,420 font 'sans-serif,12' background '#ffffff'",
                                            "pngcairo size 1280,840 font 'DejaVu Sans,12' fontscale 1.6 linewidth 2 "
                                            "pointscale 2"};
    static const char *const suffixes[] = {"svg", "png"};
    for (int k = 0; k < 2; k++) {
        fprintf(f, "set terminal %s noenhanced\nset output '%s'\nplot ", terminals[k], drawing_file(folder, of, what, suffixes[k]));
        if (what == SPEED_UP) fputs("1 with lines lt 1 lw 1 lc rgb '#999999' dt 2 notitle, ", f);
        for (int t = 0, block = 0; t < b->ntools; t++) {
            if (!has[t]) continue;
            fprintf(f, "%s$data index %d with linespoints lt %d title '%s'", block ? ", " : "", block, t + 1, b->tools[t]);
            block++;
        }
        fputs("\n", f);
    }
    return true;
}

void draw(const Board *b, int64_t first, int64_t last, const char *folder) {
    char script[4096];
    snprintf(script, sizeof script, "%s/plots.gp", folder);
    FILE *f = open_to_write(script);
    fputs("set encoding utf8\nset logscale xy\nset grid xtics ytics lt 1 lc rgb '#dddddd' lw 0.5\nset border 3 lc rgb "
          "'#555555'\nset tics nomirror textcolor rgb '#333333'\nset key tmargin left horizontal Left reverse samplen "
          "2\n",
          f);
    put_styles(f);
    bool any = false;
    for (int what = 0; what < DRAWINGS; what++) any |= put_drawing(f, b, first, last, (Drawing)what, folder);
    fputs("set output\n", f);
    close_written(f, script);
    int status = any ? gnuplot(script) : 0;
    if (status) fail(STATUS_TOOL, "gnuplot %s: exit status %d", script, status);
    remove(script);
}
