// Diagnostics: source files, spans, and the collected errors and warnings of one compilation.
#ifndef SUPPORT_DIAG_H
#define SUPPORT_DIAG_H

#include "support/arena.h"
#include "support/str.h"

#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>

// One source text. Columns count Unicode code points; offsets count bytes.
typedef struct Source {
    const char *name; // as shown in messages
    const char *text; // NUL-terminated
    size_t len;
} Source;

// A piece of source text: bytes [begin, end) of `src`.
typedef struct Span {
    const Source *src;
    uint32_t begin, end;
} Span;
extern const Span nowhere; // without a source: of what is about the command line, or a file as a whole

// From the start of a to the end of b.
Span span_join(Span a, Span b);

typedef enum DiagLevel { DIAG_ERROR, DIAG_WARNING, DIAG_NOTE } DiagLevel;

// What can be warned of; each has a name, by which it is turned on and off.
typedef enum Warning {
#define WARNING(id, name, on, help) WARN_##id,
#include "support/warnings.def"
    WARNING_COUNT
} Warning;

typedef struct WarningInfo {
    const char *name;
    bool on; // by default
    const char *help;
} WarningInfo;
extern const WarningInfo warning_info[WARNING_COUNT];

typedef struct Diag Diag;

Diag *diag_new(Arena *arena);
void diag_delete(Diag *d);
// Reports one message; printed text is
//   file:line:col: error: message
//     line of source
//     ^~~~
// For a span of several lines the last one is shown too. Columns count code points. Errors beyond the limit (default
// 20) are counted, not kept. The same message at the same place is kept once.
void diag_error(Diag *d, Span at, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
// The same as a warning: an error where diag_set_warning says so, nothing where it is off.
void diag_warning(Diag *d, Warning w, Span at, const char *fmt, ...) __attribute__((format(printf, 4, 5)));
// A note that belongs to the message before it ("first used here", a hint); once, and only if that message is kept.
void diag_note(Diag *d, Span at, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
int diag_errors(const Diag *d);
int diag_warnings(const Diag *d);
void diag_set_limit(Diag *d, int errors);
bool diag_warns(const Diag *d, Warning w); // is it on?
void diag_set_warning(Diag *d, Warning w, bool on, bool as_error);
// Calls visit for every message that is kept, in order of report.
void diag_each(const Diag *d, void (*visit)(DiagLevel level, Span at, const char *text, void *data), void *data);
// Appends all messages, in order of report, to out. With color: ANSI escapes.
void diag_print(const Diag *d, Str *out, bool color);

// "file:line" of the start of the span, "" for nowhere: what messages of programs that run begin with.
const char *diag_line(Arena *arena, Span at);
// Appends "file:line:col: ", nothing for nowhere.
void diag_print_place(Str *out, Span at);
// The source text of a span on one line, cut to a few words: for naming values in notes. "" for nowhere.
const char *diag_quote(Arena *arena, Span at);

// Where fatal_bug and diag_out_of_memory longjmp to, with a DiagExit as value; NULL for none. One per thread; it is
// used once. The jmp_buf must outlive its use.
typedef enum DiagExit { DIAG_EXIT_BUG = 1, DIAG_EXIT_MEMORY = 2 } DiagExit;
void diag_set_boundary(jmp_buf *b);
// A broken invariant of the compiler: prints the pass and message, then leaves through the boundary set by
// diag_set_boundary (or exits with code 3 if none is set).
_Noreturn void fatal_bug(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
_Noreturn void diag_out_of_memory(void);
// The pass named in messages of fatal_bug.
extern const char *diag_current_pass;

#endif
