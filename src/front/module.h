// Source files and the definitions in them: loading, `open`, the prelude, and which definition a name means.
#ifndef FRONT_MODULE_H
#define FRONT_MODULE_H

#include "front/ast.h"

// A hash map from strings to pointers, in an arena.
typedef struct NameMap {
    Arena *arena;
    struct NameCell **bucket;
    int nbuckets, len;
} NameMap;

void *name_map_get(const NameMap *m, const char *name);
// The place of the value stored under name, made (as NULL) if it is missing.
void **name_map_slot(NameMap *m, const char *name);
void name_map_each(const NameMap *m, void (*visit)(const char *name, void *value, void *data), void *data);

typedef struct Module Module;

// A definition at the top of a file.
typedef struct Def {
    const char *name;
    Decl *decl;
    const Pattern *part; // of `let (a, b) = e`: the pattern of this name
    Module *module;
    bool used;           // typed as part of an entry
    bool referenced;     // named by another definition
    bool recursive;      // on a cycle of uses, which was reported
    int mark;            // of the search for cycles
    struct DefRef *refs; // the definitions that this one names
} Def;

typedef struct DefRef {
    Def *to;
    Span at;
    struct DefRef *next;
} DefRef;

// The deepest nesting of expressions, and of uses of functions inside functions, that is accepted.
enum { FRONT_MAX_DEPTH = 2000 };

struct Module {
    const Source *src;
    Program *program;
    bool prelude;
    NameMap defs;    // name -> Def
    NameMap broken;  // names that a definition with a syntax error may have
    bool incomplete; // a file that it opens could not be read
    Module **opened; // in order; later ones hide earlier ones
    int nopened;
    Def **list; // the definitions in order
    int ndefs;
};

// Everything one compilation reads.
typedef struct Unit Unit;
struct Unit {
    Arena *arena;
    Diag *diag;
    Module *main;
    Module **modules; // all files, the prelude's first
    int nmodules;
    NameMap prelude; // name -> Def, of all files of the prelude
    const char *const *include;
    int ninclude;
    int max_cores; // how many expressions a program may grow to when functions are expanded; 0: CORE_LIMIT
};

// Parses src, the files it opens (looked for beside the opening file, then in the include folders) and the prelude, and
// checks all names in them: unknown names, recursion, duplicates. Errors go to diag; the result is never NULL.
Unit *module_load(Arena *arena, Diag *diag, const Source *src, const char *const *include, int ninclude);

// What the name means at the top of module m: its own definition, then an opened one, then the prelude's; NULL if none.
Def *module_find(const Unit *u, const Module *m, const char *name);
// Another definition that the name might mean: one of another opened file, if m has none itself. NULL: there is none.
Def *module_clash(const Module *m, const char *name);
// Whether an error that was reported may be why the name has no definition in m.
bool module_may_define(const Module *m, const char *name);
// Whether d is a value (not a function) of the user's, to which a size in a type may refer.
bool def_is_size(const Def *d);
// Whether the definition is written as a function.
bool def_is_function(const Def *d);

// names.c: reports unknown names (with the nearest known one), duplicates, and cycles among definitions.
void names_check(Unit *u);
// The best of the offered names for a misspelt one. Start with best = NULL.
typedef struct NameGuess {
    const char *wanted, *best;
    int distance;
} NameGuess;
void name_guess(NameGuess *g, const char *candidate);

#endif
