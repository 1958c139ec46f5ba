// The report: numbers as CSV, plots as SVG and PNG, and a page with all of it.
#include "report.h"

#include "text.h"

#include <math.h>

const char *const drawing_names[] = {"objective", "derivative", "ratio", "speed-up"};
const char *const drawing_titles[] = {"objective, ms", "derivative, ms", "derivative ÷ objective",
                                      "speed-up of the derivative against the best peer"};

double drawn(const Board *b, const Row *row, int tool, Drawing what) {
    const double *times = row->times[tool];
    double value = !measured(times)     ? NAN
                   : what == OBJECTIVE  ? 1e3 * times[0]
                   : what == DERIVATIVE ? 1e3 * times[1]
                   : what == RATIO      ? times[1] / times[0]
                                        : speed_up(b, row, tool, 1);
    return isfinite(value) && value > 0 && row->size > 0 ? value : NAN;
}

static void put_value(FILE *f, double value) {
    if (isnan(value)) fputc(',', f);
    else fprintf(f, ",%.6g", value);
}

static void write_numbers(const char *file, const Board *b) {
    FILE *f = open_to_write(file);
    fputs("instance,size,tool,objective_seconds,derivative_seconds,ratio,speed_up\n", f);
    for (int64_t i = 0; i < b->count; i++)
        for (int t = 0; t < b->ntools; t++) {
            const Row *row = &b->rows[i];
            const double *times = row->times[t];
            if (isnan(times[0])) continue;
            fprintf(f, "%s,%.0f,%s", row->instance.name, row->size, b->tools[t]);
            put_value(f, times[0]), put_value(f, times[1]);
            put_value(f, isinf(times[1]) ? NAN : times[1] / times[0]), put_value(f, speed_up(b, row, t, 1));
            fputc('\n', f);
        }
    close_written(f, file);
}

int write_report(const Plan *plan, char **patterns, int count) {
    Board b = read_board(plan, patterns, count);
    About known = read_about(plan);
    const char *folder = text("%s/report", plan->out);
    char numbers[4096], page[4096], plots[4096];
    snprintf(numbers, sizeof numbers, "%s/results.csv", folder);
    snprintf(page, sizeof page, "%s/report.html", folder);
    snprintf(plots, sizeof plots, "%s/plots", folder);
    write_numbers(numbers, &b);
    if (!can_draw())
        fail(STATUS_PLOTS, "there is no gnuplot (Debian: gnuplot-nox): %s was written, plots and page were not", numbers);
    for (int64_t first = 0, last; first < b.count; first = last) {
        for (last = first + 1; last < b.count && same_set(&b.rows[first].instance, &b.rows[last].instance);) last++;
        draw(&b, first, last, plots);
    }
    write_page(page, &b, &known, plots);
    fprintf(stderr, "%s, %s and %s/*.png were written\n", page, numbers, plots);
    return 0;
}
