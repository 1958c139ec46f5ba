// Whole files.
#ifndef DRIVER_FILE_H
#define DRIVER_FILE_H

#include "support/diag.h"

// The text of a file ("-": standard input, shown as <stdin>) in the arena; NULL after reporting to diag.
Source *file_read(Arena *a, Diag *diag, const char *path);
// Writes text to a file ("-": standard output); false after reporting to diag. Leaves no partly written file.
bool file_write(Diag *diag, const char *path, const Str *text);
// Makes an empty file of its own for something that is needed for a while, in $TMPDIR or else /tmp: `prefix`, what
// makes the name unlike others, `suffix`. False, with errno, if there can be none; *path is what it was to be called.
bool file_temporary(Arena *a, const char *prefix, const char *suffix, char **path);
// Whether two paths name one existing file.
bool file_same(const char *a, const char *b);
// The path with `suffix` in place of its own suffix, if it has one.
const char *file_with_suffix(Arena *a, const char *path, const char *suffix);
// The part of a path after its last '/'.
const char *file_base(const char *path);

#endif
