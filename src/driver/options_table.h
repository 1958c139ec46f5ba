// The rows of options.def, for what derives from them: reading, help, completion and the manual.
#ifndef DRIVER_OPTIONS_TABLE_H
#define DRIVER_OPTIONS_TABLE_H

#include "driver/options.h"

typedef enum OptionId {
#define OPTION(id, ...) OPTION_##id,
#include "driver/options.def"
    OPTION_COUNT
} OptionId;

// A heading is a row of its own: `group` alone is set.
typedef struct OptionRow {
    const char *group;
    OptionId id;
    char letter;
    const char *name, *value;
    unsigned commands; // a bit for each Command
    const char *help;
} OptionRow;

// What the operands of a command are; from SHAPE_WORD on, it compiles nothing.
typedef enum CommandShape {
    SHAPE_FILE,    // one program
    SHAPE_SESSION, // at most one program
    SHAPE_FILES,   // one or more programs
    SHAPE_CALL,    // a program, an entry, and arguments NAME=VALUE
    SHAPE_WORD,    // at most one word, which stands for no file
    SHAPE_NONE,    // nothing
} CommandShape;

typedef struct CommandRow {
    const char *name;
    CommandShape shape;
    const char *operands, *help;
} CommandRow;

typedef struct ExampleRow {
    Command command;
    const char *line, *help;
} ExampleRow;

// Where a kind of output goes without -o.
typedef enum EmitPlace {
    PLACE_CONSOLE, // to standard output
    PLACE_FILE,    // to a file with the source's name
} EmitPlace;

typedef struct EmitRow {
    const char *name, *suffix;
    EmitPlace place;
    const char *help;
} EmitRow;

extern const OptionRow option_rows[];
extern const int option_row_count;
extern const CommandRow command_rows[COMMAND_COUNT];
extern const ExampleRow example_rows[];
extern const int example_row_count;
extern const EmitRow emit_rows[EMIT_COUNT];

extern const char *const option_fp_names[];   // by CpuFp, ended by NULL
extern const char *const option_when_names[]; // by When, ended by NULL

// "--emit", "-o" or "-MF", as messages write an option.
const char *option_spelling(const OptionRow *row, char *buffer, size_t size);
// Whether the value is one of few and follows the letter without a space: -O2.
bool option_is_glued(const OptionRow *row);
// The k-th word that an option of this `value`, or a command of these operands, may have; NULL after the last. There is
// none if any word will do.
const char *option_choice(const char *value, int k);
// The command of that name, COMMAND_COUNT if there is none.
Command command_named(const char *name);

#endif
