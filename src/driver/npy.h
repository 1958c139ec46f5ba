// NumPy's file format for one array.
#ifndef DRIVER_NPY_H
#define DRIVER_NPY_H

#include "ir/tensor.h"

#include <jansson.h>

// Whether a file's name says that it is one.
bool npy_is(const char *path);
// The array as nested JSON arrays, so that it is checked like any other argument; NULL after reporting to diag.
json_t *npy_read(Diag *diag, const Source *file);
// The file of an array or scalar.
void npy_write(Str *out, const Tensor *t);

#endif
