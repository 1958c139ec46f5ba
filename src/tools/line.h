// Lines of standard input: with editing, history and completion of names on a terminal, if the library for that was
// there at build time; plain otherwise.
#ifndef TOOLS_LINE_H
#define TOOLS_LINE_H

#include "front/module.h"

void line_open(void);
// A line without its end, to be freed by line_free; NULL at the end of the input. The prompt is for a terminal only.
char *line_read(const char *prompt);
void line_free(char *line);
// Takes over the names of a unit for completion.
void line_learn(const Unit *u);

#endif
