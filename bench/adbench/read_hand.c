// ADBench's files of HAND: an instance, and the model in the folder `model` beside it.
#include "adbench.h"
#include "text.h"

#include <stdlib.h>
#include <string.h>

static Reader open_model(const char *folder, const char *name) {
    Reader r = reader_open(text("%smodel/%s", folder, name));
    r.separator = ':';
    return r;
}

// Lines that are not empty.
static int64_t count_lines(const Reader *of) {
    Reader r = *of;
    int64_t count = 0;
    for (; reader_word(&r); count++) reader_skip_line(&r);
    return count;
}

static void read_bones(const char *folder, Hand *h) {
    Reader r = open_model(folder, "bones.txt");
    h->bones = count_lines(&r);
    // The angles are those of a hand: theta says nothing about other bones.
    if (h->bones != BONES) fail(STATUS_FILE, "%s: expected %d bones, found %lld", r.name, BONES, (long long)h->bones);
    h->parents = allocate(h->bones, sizeof *h->parents);
    h->base = allocate(16 * h->bones, sizeof *h->base);
    h->inverse = allocate(16 * h->bones, sizeof *h->inverse);
    for (int64_t i = 0; i < h->bones; i++) {
        r.at += reader_word(&r); // the name
        h->parents[i] = (int32_t)reader_int(&r, "the parent of a bone", -1, i - 1);
        reader_numbers(&r, "entry of the relative matrix", h->base + 16 * i, 16);
        reader_numbers(&r, "entry of the inverse matrix", h->inverse + 16 * i, 16);
    }
    reader_end(&r, "the bones");
    reader_close(&r);
}

enum { IGNORED = 5 }; // numbers of a vertex between its position and its bones

static void read_vertices(const char *folder, Hand *h) {
    Reader r = open_model(folder, "vertices.txt");
    h->vertices = count_lines(&r);
    double skipped[IGNORED];
    h->rest = allocate(3 * h->vertices, sizeof *h->rest);
    h->starts = allocate(h->vertices + 1, sizeof *h->starts);
    h->weights = allocate(reader_most(&r), sizeof *h->weights);
    h->by = allocate(reader_most(&r), sizeof *h->by);
    for (int64_t v = 0; v < h->vertices; v++) {
        reader_numbers(&r, "coordinate", h->rest + 3 * v, 3);
        reader_numbers(&r, "unused number", skipped, IGNORED);
        int64_t count = reader_int(&r, "the number of bones of a vertex", 1, h->bones);
        for (int64_t k = 0; k < count; k++, h->shares++) {
            h->by[h->shares] = (int32_t)reader_int(&r, "a bone", 0, h->bones - 1);
            h->weights[h->shares] = reader_finite(&r, "weight", k, count);
        }
        h->starts[v + 1] = (int32_t)h->shares;
    }
    reader_end(&r, "the vertices");
    reader_close(&r);
}

static void read_triangles(const char *folder, Hand *h) {
    Reader r = open_model(folder, "triangles.txt");
    h->triangles = count_lines(&r);
    h->corners = allocate(3 * h->triangles, sizeof *h->corners);
    for (int64_t i = 0; i < 3 * h->triangles; i++) h->corners[i] = (int32_t)reader_int(&r, "a corner", 0, h->vertices - 1);
    reader_end(&r, "the triangles");
    reader_close(&r);
}

void read_hand(Problem *q, const char *file) {
    Hand *h = &q->hand;
    bool complicated = q->kind == HAND_COMPLICATED;
    const char *slash = strrchr(file, '/');
    const char *folder = text("%.*s", slash ? (int)(slash + 1 - file) : 0, file);
    Reader r = reader_open(file);
    read_bones(folder, h);
    read_vertices(folder, h);
    read_triangles(folder, h);
    h->n = reader_int(&r, "the number of points", 1, reader_most(&r));
    reader_int(&r, "the number of angles", THETAS, THETAS);
    h->corr = allocate(h->n, sizeof *h->corr);
    h->points = allocate(3 * h->n, sizeof *h->points);
    for (int64_t i = 0; i < h->n; i++) {
        h->corr[i] = complicated ? (int32_t)reader_int(&r, "a triangle", 0, h->triangles - 1)
                                 : (int32_t)reader_int(&r, "a vertex", 0, h->vertices - 1);
        reader_numbers(&r, "coordinate", h->points + 3 * i, 3);
    }
    if (complicated) {
        h->us = allocate(2 * h->n, sizeof *h->us);
        reader_numbers(&r, "coordinate in a triangle", h->us, 2 * h->n);
    }
    reader_numbers(&r, "angle", h->theta, THETAS);
    reader_end(&r, "the angles");
    reader_close(&r);
}
