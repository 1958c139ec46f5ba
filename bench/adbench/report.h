#ifndef ADBENCH_REPORT_H
#define ADBENCH_REPORT_H

#include "results.h"

#include <stdio.h>

// What is drawn over the sizes of a set, each with a line for every tool.
typedef enum Drawing { OBJECTIVE, DERIVATIVE, RATIO, SPEED_UP, DRAWINGS } Drawing;
extern const char *const drawing_names[DRAWINGS], *const drawing_titles[DRAWINGS];

double drawn(const Board *b, const Row *row, int tool, Drawing what); // NAN if there is nothing to draw

// ---- draw.c
bool can_draw(void); // whether there is gnuplot
// FOLDER/SET-WHAT.svg and .png for rows first, …, last - 1, a set.
void draw(const Board *b, int64_t first, int64_t last, const char *folder);
const char *drawing_file(const char *folder, const Instance *of, Drawing what, const char *suffix);

// ---- page.c
void write_page(const char *file, const Board *b, const About *about, const char *folder);

#endif
