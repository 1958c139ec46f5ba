// The manual page of fsmc.
#ifndef DRIVER_MANUAL_H
#define DRIVER_MANUAL_H

#include "support/str.h"

// The page fsmc(1), in the man macros of roff.
void manual_print(Str *out);

#endif
