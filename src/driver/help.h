// The texts of --help.
#ifndef DRIVER_HELP_H
#define DRIVER_HELP_H

#include "driver/options.h"

// The text of --help in lines of at most `width` columns: of the sub-command; of everything for COMMAND_COMPILE.
void help_print(Str *out, Command command, int width);
// The width of the terminal on standard output, or what COLUMNS says; 100 where neither is known. Between 40 and 120.
int help_width(void);

#endif
