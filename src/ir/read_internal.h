// What the files of the IR's reader share: tokens and names (read_tokens.c), values (read_values.c), functions.
#ifndef IR_READ_INTERNAL_H
#define IR_READ_INTERNAL_H

#include "ir/internal.h"
#include "support/place.h"

#include <setjmp.h>

typedef enum Tok { T_END, T_NAME, T_QUOTED, T_VALUE, T_INTEGER, T_REAL, T_STRING, T_PUNCT } Tok;

// What a name stands for; `next` is the entry with the same hash.
typedef struct Entry {
    struct Entry *next;
    const char *name; // with its '%'
    Node *node;       // NULL: not in scope
    void *data;       // of other readers
} Entry;

enum { MAX_NESTING = 400, MAX_LIST = 255, MAX_LEAVES = 1024 };

typedef struct Reader {
    Ir *m;
    Diag *diag;
    const Source *src;
    bool exact;
    jmp_buf *out;
    const char *p; // next character
    Tok tok;
    char punct;       // T_PUNCT; '>' for "->"
    const char *text; // names, strings (with escapes resolved): in the arena
    int64_t num;
    double real;
    Span at;            // of tok
    Span before;        // of the token before it
    Entry **table;      // of names, by hash
    size_t buckets, entries;
    VEC(Entry *) scope; // entries defined, innermost last
    int depth;
    Func **funcs; // read so far, in the arena
    int nfuncs;
    struct Header *header; // of the function that is read: the types of its outputs
    // Of other text that has values in it:
    const char *symbols; // further characters that are tokens
    bool floats;         // the letter f after a number makes it `single`
    bool single;
    PlaceReader *places; // places are read
} Reader;

// Reports an error at a place, and ends the reading.
_Noreturn void read_error(Reader *r, Span at, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

// ---- tokens: r->tok is the next one. What is said to be expected is an error where it is not. (read_tokens.c)

void read_skip_space(Reader *r); // and comments
void read_next(Reader *r);
bool read_is(const Reader *r, char c); // the next one, a character
bool read_is_word(const Reader *r, const char *word);
bool read_accept(Reader *r, char c); // goes on if the token is c
void read_expect(Reader *r, char c);
bool read_accept_word(Reader *r, const char *word);
const char *read_name(Reader *r, const char *what);
int64_t read_integer(Reader *r, const char *what);
const char *read_string(Reader *r);

// A place, if there is one, to *to; true if there is. (read_tokens.c)
bool read_place(Reader *r, Span *to);

// ---- names in scope (read_tokens.c)

Entry *read_entry(Reader *r, const char *name);
void read_define(Reader *r, Span at, const char *name, Node *node); // an error if it is defined already
void read_leave(Reader *r, int mark);                               // forgets what was defined since the scope had this length

// ---- values (read_values.c)

Kind read_kind(Reader *r);
Node *read_typed_operand(Reader *r, Kind k, int rank);
int read_shape(Reader *r, Node **out); // its rank
void read_lines(Reader *r);            // definitions, up to what is none

// ---- functions (read.c)

// What ir_print_signature prints, and ir_print_facts after it. The function has no values: outputs have the right types.
Func *read_signature(Reader *r, const char *word);
void read_facts(Reader *r, Func *f);

#endif
