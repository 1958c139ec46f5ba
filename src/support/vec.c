#include "support/vec.h"

#include "support/diag.h"

void *vec_grow_(void *data, int len, int *cap, size_t size) {
    if (len < *cap) return data;
    *cap = *cap ? *cap * 2 : 8;
    data = realloc(data, (size_t)*cap * size);
    if (!data) diag_out_of_memory();
    return data;
}
