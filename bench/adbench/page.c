// A page that needs no other file: tables, and the plots in it.
#include "report.h"
#include "text.h"

#include <math.h>
#include <string.h>

static const char head[] =
    "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
    "<meta name=\"viewport\" content=\"width=device-width\">\n<title>ADBench by fsmc</title>\n<style>\n"
    "body { font: 15px/1.45 system-ui, sans-serif; color: #222; max-width: 1360px; margin: 0 auto; padding: 1em; }\n"
    "h1, h2 { line-height: 1.2; } h2 { margin-top: 2em; border-bottom: 1px solid #ccc; }\n"
    ".plots { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(480px, 100%), 1fr)); gap: 1em; }\n"
    ".plots svg { width: 100%; height: auto; border: 1px solid #ddd; }\n"
    ".wide { overflow-x: auto; } table { border-collapse: collapse; margin: 1em 0; }\n"
    "th, td { padding: 0.15em 0.55em; font-size: 0.93em; border-bottom: 1px solid #ddd; text-align: right; "
    "white-space: nowrap; }\n"
    "th { border-bottom: 2px solid #999; } td:first-child, th:first-child, td.name, .about td { text-align: left; }\n"
    ".about td { white-space: normal; } .group { border-left: 1px solid #ccc; }\n"
    "</style>\n</head>\n<body>\n";

static void put_text(FILE *f, const char *s) {
    for (; *s; s++)
        if (*s == '<' || *s == '>' || *s == '&' || *s == '"') fprintf(f, "&#%d;", *s);
        else fputc(*s, f);
}

static void put_cell(FILE *f, double value, bool group) {
    fprintf(f, group ? "<td class=\"group\">" : "<td>");
    if (isinf(value)) fputs("out of time", f);
    else if (!isnan(value)) fputs(three_digits(value), f);
    fputs("</td>", f);
}

static double ratio_of(const double times[2]) { return measured(times) ? times[1] / times[0] : NAN; }

static void put_times(FILE *f, const double times[2], bool group) {
    put_cell(f, 1e3 * times[0], group);
    put_cell(f, 1e3 * times[1], false);
    put_cell(f, ratio_of(times), false);
}

// A plot; names in it become those of this plot alone.
static void put_drawing(FILE *f, const char *file, int number, const char *title) {
    Reader r = reader_open(file);
    const char *at = strstr(r.text, "<svg");
    if (!at) fail(STATUS_TOOL, "%s: gnuplot made no picture", file);
    fprintf(f, "<svg role=\"img\" aria-label=\"%s\"", title);
    for (at += strlen("<svg"); *at; at++) {
        static const char *const before[] = {"id='", "id=\"", "href='#", "url(#"};
        int k = 0;
        while (k < 4 && strncmp(at, before[k], strlen(before[k])) != 0) k++;
        if (k == 4) {
            fputc(*at, f);
            continue;
        }
        fprintf(f, "%sp%d-", before[k], number);
        at += strlen(before[k]) - 1;
    }
    reader_close(&r);
}

static void put_set(FILE *f, const Board *b, int64_t first, int64_t last, const char *folder) {
    const Instance *of = &b->rows[first].instance;
    fprintf(f, "<h2>%s</h2>\n<div class=\"plots\">\n", set_of(of));
    for (int what = 0; what < DRAWINGS; what++) {
        const char *file = drawing_file(folder, of, (Drawing)what, "svg");
        if (exists(file)) put_drawing(f, file, (int)first * DRAWINGS + what, text("%s: %s", set_of(of), drawing_titles[what]));
    }
    fputs("</div>\n<div class=\"wide\"><table>\n<tr><th>instance</th><th>size</th><th class=\"group\">", f);
    put_text(f, b->tools[0]);
    fputs(": objective, ms</th><th>derivative, ms</th><th>ratio</th><th class=\"group\">best peer</th>"
          "<th>objective, ms</th><th>derivative, ms</th><th>ratio</th><th class=\"group\">speed-up: objective</th>"
          "<th>derivative</th></tr>\n",
          f);
    for (int64_t i = first; i < last; i++) {
        const Row *row = &b->rows[i];
        const double none[2] = {NAN, NAN};
        int best = best_peer(b, row, 1);
        fprintf(f, "<tr><td>%s</td><td>%.0f</td>", base_of(&row->instance), row->size);
        put_times(f, row->times[0], true);
        fprintf(f, "<td class=\"name group\">%s</td>", best < 0 ? "" : b->tools[best]);
        put_times(f, best < 0 ? none : row->times[best], false);
        put_cell(f, speed_up(b, row, 0, 0), true), put_cell(f, speed_up(b, row, 0, 1), false);
        fputs("</tr>\n", f);
    }
    fputs("</table></div>\n<details><summary>All tools</summary><div class=\"wide\"><table>\n<tr><th>instance</th>", f);
    for (int t = 0; t < b->ntools; t++) {
        fputs("<th class=\"group\">", f);
        put_text(f, b->tools[t]);
        fputs(": objective, ms</th><th>derivative, ms</th><th>ratio</th>", f);
    }
    fputs("</tr>\n", f);
    for (int64_t i = first; i < last; i++) {
        fprintf(f, "<tr><td>%s</td>", base_of(&b->rows[i].instance));
        for (int t = 0; t < b->ntools; t++) put_times(f, b->rows[i].times[t], true);
        fputs("</tr>\n", f);
    }
    fputs("</table></div></details>\n", f);
}

static void put_about(FILE *f, const About *known) {
    fputs("<table class=\"about\">\n", f);
    for (int i = 0; i < known->count; i++) {
        const char *line = known->lines[i], *colon = strstr(line, ": ");
        if (!colon) continue;
        fputs("<tr><td>", f);
        put_text(f, text("%.*s", (int)(colon - line), line));
        fputs("</td><td>", f);
        put_text(f, colon + 2);
        fputs("</td></tr>\n", f);
    }
    fputs("</table>\n", f);
}

static void put_means(FILE *f, const Board *b) {
    Summary s = summary_of(b, KINDS);
    if (!s.compared) return;
    fputs("<p>Against the best peer of each row, ", f);
    put_text(f, b->tools[0]);
    fprintf(f,
            " is %.2f times as fast by the geometric mean of %lld rows for objectives, and %.2f times for "
            "derivatives.</p>\n",
            s.mean[0], (long long)s.compared, s.mean[1]);
}

void write_page(const char *file, const Board *b, const About *known, const char *folder) {
    FILE *f = open_to_write(file);
    fputs(head, f);
    fputs("<h1>ADBench’s problems, measured</h1>\n"
          "<p>Times are of one call, in milliseconds: the least of what was measured. The ratio is the derivative’s "
          "time by "
          "the objective’s. The best peer of a row is the tool with the quickest derivative besides the first; a "
          "speed-up is the quickest peer’s time by that of the first tool, or, in plots, of the tool of a line.</p>\n",
          f);
    put_means(f, b);
    put_about(f, known);
    for (int64_t first = 0, last; first < b->count; first = last) {
        for (last = first + 1; last < b->count && same_set(&b->rows[first].instance, &b->rows[last].instance);) last++;
        put_set(f, b, first, last, folder);
    }
    fputs("</body>\n</html>\n", f);
    close_written(f, file);
}
