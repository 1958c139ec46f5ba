// Places in sources as text, `@"file":line:column`: what is printed of spans where text stands for something that comes from other
// sources. The file is left out where it is the one of the place before.
#ifndef SUPPORT_PLACE_H
#define SUPPORT_PLACE_H

#include "support/diag.h"
#include "support/vec.h"

typedef struct PlaceLines { // where the lines of a source begin
    const Source *src;
    VEC(uint32_t) start;
} PlaceLines;

typedef struct PlaceWriter {
    const char *named; // the file of the place before; NULL: there is none
    VEC(PlaceLines) sources;
} PlaceWriter;

// Appends " @…", nothing for nowhere.
void place_write(PlaceWriter *w, Str *out, Span at);
void place_writer_free(PlaceWriter *w);

// Places that have been read. Their sources are not there, so spans lie in texts of as many lines of blanks.
enum { PLACE_LINES = 1 << 16, PLACE_COLUMNS = 120 }; // the last that are told

typedef struct PlaceFile {
    Source *src; // has its text at the end
    int lines;
} PlaceFile;

typedef struct PlaceReader {
    int named; // number of the file of the place before
    VEC(PlaceFile) files;
} PlaceReader;

// The span of the place (from 1:1). file: NULL if it is left out; false: then there is none.
bool place_read(PlaceReader *r, Arena *arena, const char *file, int line, int column, Span *span);
// The sources are there from now on, as long as the arena.
void place_finish(PlaceReader *r, Arena *arena);

#endif
