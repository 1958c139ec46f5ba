// Reading text files of numbers, with errors that say where; memory; and messages.
#ifndef ADBENCH_TEXT_H
#define ADBENCH_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

// Prints a message and ends the program.
__attribute__((format(printf, 2, 3))) _Noreturn void fail(int status, const char *fmt, ...);
void *allocate(int64_t count, size_t size); // zeroed
// For names of files; until 16 more such texts are made.
__attribute__((format(printf, 1, 2))) const char *text(const char *fmt, ...);
bool exists(const char *file);
const char *beside(const char *name); // in the folder of this program
void make_folders(const char *file);  // those above the file
FILE *open_to_write(const char *file);
void close_written(FILE *f, const char *file);

// Words are divided by blanks and line breaks, and by `separator` if that is not 0.
typedef struct Reader {
    const char *name;
    char *text, *at, *end;
    int64_t line;
    char separator;
} Reader;

Reader reader_open(const char *file);
void reader_close(Reader *r);
size_t reader_word(Reader *r); // skips to the next word and returns its length, 0 at the end of the file
bool reader_takes(Reader *r, const char *word);
void reader_skip_line(Reader *r);
__attribute__((format(printf, 2, 3))) _Noreturn void reader_expected(Reader *r, const char *fmt, ...);
int64_t reader_int(Reader *r, const char *what, int64_t least, int64_t most);
double reader_number(Reader *r, const char *what); // any, also NaN
double reader_finite(Reader *r, const char *what, int64_t index, int64_t count);
void reader_numbers(Reader *r, const char *what, double *to, int64_t count);
void reader_end(Reader *r, const char *after);
int64_t reader_most(const Reader *r); // numbers that the file can hold

#endif
