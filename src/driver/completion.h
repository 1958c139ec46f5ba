// Completion of fsmc's command lines by shells.
#ifndef DRIVER_COMPLETION_H
#define DRIVER_COMPLETION_H

#include "support/str.h"

#include <stdbool.h>

// The script for a shell: "bash", "zsh" or "fish"; false if it is another one.
bool completion_print(Str *out, const char *shell);

#endif
