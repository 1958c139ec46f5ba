// Growable arrays: a struct with fields `data`, `len`, `cap`, declared by VEC(T), grown with malloc.
#ifndef SUPPORT_VEC_H
#define SUPPORT_VEC_H

#include <stdlib.h>
#include <string.h>

#define VEC(T)                                                                                                                     \
    struct {                                                                                                                       \
        T *data;                                                                                                                   \
        int len, cap;                                                                                                              \
    }

// Makes room for one more element of `size` bytes; returns the (moved) data. Used by vec_push only.
void *vec_grow_(void *data, int len, int *cap, size_t size);

#define vec_push(v, x)                                                                                                             \
    ((v)->data = vec_grow_((v)->data, (v)->len, &(v)->cap, sizeof *(v)->data), (void)((v)->data[(v)->len++] = (x)))
#define vec_pop(v)  ((v)->data[--(v)->len])
#define vec_last(v) ((v)->data[(v)->len - 1])
#define vec_free(v) (free((v)->data), (v)->data = NULL, (v)->len = (v)->cap = 0)

#endif
