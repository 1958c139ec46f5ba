// JSON to and from the values of a call. A tuple is an array; an array of tuples is an array of arrays; non-finite
// numbers are the strings "NaN", "Infinity" and "-Infinity".
#ifndef DRIVER_JSON_H
#define DRIVER_JSON_H

#include "ir/tensor.h"

#include <jansson.h>

// The extents found in a JSON value, in the form of its type.
typedef struct JsonShape {
    const SigType *type;
    int64_t length;    // of an array; -1 if there is no element to tell (inside an empty array)
    const char *first; // where that was found
    struct JsonShape **parts;
} JsonShape;

// Parses a text; NULL after reporting to diag (unless that is NULL). To be released by json_decref.
json_t *json_parse(Diag *diag, const Source *text);
json_t *json_parse_piece(Diag *diag, Span at); // of a text
// Checks the value of argument `name` against a type and measures it; NULL after reporting what does not fit and where
// in the value. at: the place of the call, or nowhere.
JsonShape *json_measure(Arena *a, Diag *diag, Span at, const char *name, const SigType *type, const json_t *value);
// Makes the leaves of a value that was measured; lengths that were -1 have been set.
void json_leaves(Arena *a, const JsonShape *shape, const json_t *value, Tensor *leaves);
// The number of leaves of a type.
int sig_leaves(const SigType *type);
// Prints leaves as one line of JSON.
void json_print(Str *out, const SigType *type, const Tensor *leaves);

#endif
