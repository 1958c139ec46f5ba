// Whole files.
#ifndef DRIVER_FILE_H
#define DRIVER_FILE_H

#include "support/diag.h"

// The text of a file ("-": standard input, shown as <stdin>) in the arena; NULL after reporting to diag.
Source *file_read(Arena *a, Diag *diag, const char *path);
// Writes text to a file ("-": standard output); false after reporting to diag. Leaves no partly written file.
bool file_write(Diag *diag, const char *path, const Str *text);
// Whether two paths name one existing file.
bool file_same(const char *a, const char *b);
// The path with `suffix` in place of its own suffix, if it has one.
const char *file_with_suffix(Arena *a, const char *path, const char *suffix);
// The part of a path after its last '/'.
const char *file_base(const char *path);

#endif
