#include "driver/options.h"

#include "driver/passes.h"
#include "front/module.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
#define COMMAND(id, ...) MASK_##id = 1 << COMMAND_##id,
#include "driver/options.def"
    COMPILE = MASK_COMPILE,
    RUN = MASK_RUN,
    COST = MASK_COST,
    CHECK = MASK_CHECK,
    PARSE = MASK_PARSE,
    ALL = (1 << COMMAND_COUNT) - 1
};

typedef enum OptionId {
#define OPTION(id, ...) OPTION_##id,
#include "driver/options.def"
    OPTION_COUNT
} OptionId;

typedef struct OptionRow {
    const char *group; // heading before this row, or NULL
    OptionId id;
    char letter;
    const char *name, *value;
    unsigned commands;
    const char *help;
} OptionRow;

// A heading is a row of its own without a help text.
static const OptionRow option_rows[] = {
#define GROUP(title)                                    {.group = title},
#define OPTION(id, letter, name, value, commands, help) {NULL, OPTION_##id, letter, name, value, commands, help},
#include "driver/options.def"
};
enum { ROW_COUNT = sizeof option_rows / sizeof *option_rows };

static const struct {
    const char *name, *operands, *help;
} command_rows[] = {
#define COMMAND(id, name, operands, help) {name, operands, help},
#include "driver/options.def"
};

static const struct {
    const char *name, *help;
} emit_rows[] = {
#define EMIT(id, name, help) {name, help},
#include "driver/options.def"
};

static const char *const emit_names[] = {
#define EMIT(id, name, help) name,
#include "driver/options.def"
    NULL};
static const char *const fp_names[] = {
    [CPU_FP_PRECISE] = "precise", [CPU_FP_CONTRACT] = "contract", [CPU_FP_FAST] = "fast", NULL};
static const char *const when_names[] = {[WHEN_AUTO] = "auto", [WHEN_ALWAYS] = "always", [WHEN_NEVER] = "never", NULL};

void options_init(Options *o) {
    *o = (Options){.emit = EMIT_OBJ, .level = 2, .fp = CPU_FP_CONTRACT, .error_limit = 20};
    for (const Pass *p = pass_table; p->name; p++) o->passes[o->npasses++] = p;
}

void options_free(Options *o) {
    vec_free(&o->include);
    vec_free(&o->words);
}

// ---- reading

typedef struct OptionReader {
    Options *o;
    int argc, next;
    char *const *argv;
    Str *message;
    bool plain;                // after "--"
    bool listed;               // --passes was given
    unsigned given[ROW_COUNT]; // how often
    VEC(const Pass *) disabled;
    int operands;
} OptionReader;

static bool wrong(OptionReader *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static bool wrong(OptionReader *r, const char *fmt, ...) {
    va_list ap;
    char text[1024];
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    str_puts(r->message, text);
    return false;
}

// "--emit" or "-o", as the messages write it.
static const char *spelling(const OptionRow *row, char *buffer, size_t size) {
    if (row->name)
        snprintf(buffer, size, "--%s", row->name);
    else
        snprintf(buffer, size, "-%c", row->letter);
    return buffer;
}

static bool choose(OptionReader *r, const OptionRow *row, const char *value, const char *const *names, int *out) {
    for (int i = 0; names[i]; i++)
        if (!strcmp(names[i], value)) {
            *out = i;
            return true;
        }
    wrong(r, "--%s: expected ", row->name);
    for (int i = 0; names[i]; i++) str_printf(r->message, "%s%s", i == 0 ? "" : names[i + 1] ? ", " : " or ", names[i]);
    return wrong(r, ", not `%s`", value);
}

static const Pass *find_pass(OptionReader *r, const OptionRow *row, const char *name) {
    const Pass *p = pass_find(name);
    if (p) return p;
    NameGuess guess = {.wanted = name};
    for (p = pass_table; p->name; p++) name_guess(&guess, p->name);
    wrong(r, "--%s: there is no pass `%s`", row->name, name);
    if (guess.best) {
        wrong(r, "; did you mean `%s`?", guess.best);
        return NULL;
    }
    str_puts(r->message, "; the passes are");
    for (p = pass_table; p->name; p++) str_printf(r->message, " %s", p->name);
    return NULL;
}

static bool read_passes(OptionReader *r, const OptionRow *row, const char *list) {
    r->listed = true;
    r->o->npasses = 0;
    while (*list) {
        size_t n = strcspn(list, ",");
        char name[64];
        snprintf(name, sizeof name, "%.*s", (int)n, list);
        const Pass *p = find_pass(r, row, name);
        if (!p) return false;
        if (r->o->npasses == PASS_MAX) return wrong(r, "--passes: at most %d passes can be run", PASS_MAX);
        r->o->passes[r->o->npasses++] = p;
        list += n;
        if (*list == ',') list++;
    }
    return true;
}

static bool read_number(OptionReader *r, const OptionRow *row, const char *value, int max, int *out) {
    char *end, name[32];
    long n = strtol(value, &end, 10);
    if (*value < '0' || *value > '9' || *end || n > max)
        return wrong(r, "%s: expected a number from 0 to %d, not `%s`", spelling(row, name, sizeof name), max, value);
    *out = (int)n;
    return true;
}

static bool set_engine(OptionReader *r, Engine engine) {
    if (r->o->engine != ENGINE_JIT && r->o->engine != engine) return wrong(r, "--interp and --exec exclude each other");
    r->o->engine = engine;
    return true;
}

static bool apply(OptionReader *r, const OptionRow *row, const char *value) {
    Options *o = r->o;
    int k = 0;
    switch (row->id) {
    case OPTION_OUTPUT: o->output = value; return true;
    case OPTION_EMIT:
        if (!choose(r, row, value, emit_names, &k)) return false;
        o->emit = (Emit)k;
        return true;
    case OPTION_ENTRY: o->entry = value; return true;
    case OPTION_INCLUDE: vec_push(&o->include, value); return true;
    case OPTION_LEVEL: return read_number(r, row, value, 3, &o->level);
    case OPTION_FP:
        if (!choose(r, row, value, fp_names, &k)) return false;
        o->fp = (CpuFp)k;
        return true;
    case OPTION_TARGET_CPU: o->cpu = value; return true;
    case OPTION_INTERP: return set_engine(r, ENGINE_INTERP);
    case OPTION_EXEC: return set_engine(r, ENGINE_EXEC);
    case OPTION_COLOR:
        if (!choose(r, row, value, when_names, &k)) return false;
        o->color = (When)k;
        return true;
    case OPTION_ERROR_LIMIT: return read_number(r, row, value, 1000000, &o->error_limit);
    case OPTION_WERROR: return o->werror = true;
    case OPTION_PASSES: return read_passes(r, row, value);
    case OPTION_DISABLE_PASS: {
        const Pass *p = find_pass(r, row, value);
        if (p) vec_push(&r->disabled, p);
        return p;
    }
    case OPTION_DUMP_AFTER:
        o->dump_after = value;
        return !strcmp(value, "all") || !strcmp(value, "elaborate") || find_pass(r, row, value);
    case OPTION_TIME_PASSES: return o->time_passes = true;
    case OPTION_DEBUG_NAN: return o->debug_nan = true;
    case OPTION_DEBUG: return o->debug = true;
    case OPTION_VERIFY: return o->verify = true;
    case OPTION_HELP: return o->help = true;
    case OPTION_VERSION: return o->version = true;
    default: return false;
    }
}

// Whether arg is the option `--name` or `--name=value`.
static bool is_long(const OptionRow *row, const char *arg) {
    if (!row->name || strncmp(arg, "--", 2)) return false;
    size_t n = strlen(row->name);
    return !strncmp(arg + 2, row->name, n) && (arg[2 + n] == 0 || arg[2 + n] == '=');
}

static bool unknown_option(OptionReader *r, const char *arg) {
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(arg, "="), arg);
    NameGuess guess = {.wanted = name + (name[0] == '-') + (name[0] == '-' && name[1] == '-')};
    for (int i = 0; i < ROW_COUNT; i++)
        if (option_rows[i].name) name_guess(&guess, option_rows[i].name);
    wrong(r, "unknown option `%s`", name);
    if (guess.best && !strncmp(arg, "--", 2)) wrong(r, "; did you mean `--%s`?", guess.best);
    return false;
}

static bool read_option(OptionReader *r, const char *arg) {
    const OptionRow *row = NULL;
    const char *value = NULL;
    for (int i = 0; i < ROW_COUNT && !row; i++) {
        const OptionRow *try = &option_rows[i];
        if (try->group) continue;
        if (is_long(try, arg)) {
            row = try;
            value = strchr(arg, '=');
            if (value) value++;
        } else if (try->letter && arg[1] == try->letter && (try->value || !arg[2])) {
            row = try;
            value = arg[2] ? arg + 2 : NULL;
        }
    }
    if (!row) return unknown_option(r, arg);
    char name[32];
    spelling(row, name, sizeof name);
    if (!row->value && value) return wrong(r, "%s takes no value", name);
    if (row->value && !value) {
        if (row->id == OPTION_LEVEL || r->next == r->argc) return wrong(r, "%s: a value is missing", name);
        value = r->argv[r->next++];
    }
    r->given[row - option_rows]++;
    return apply(r, row, value);
}

static bool read_operand(OptionReader *r, const char *arg) {
    Options *o = r->o;
    bool calls = o->command == COMMAND_RUN || o->command == COMMAND_COST;
    switch (r->operands++) {
    case 0:
        for (int i = 1; i < COMMAND_COUNT && !r->plain; i++)
            if (o->command == COMMAND_COMPILE && !strcmp(arg, command_rows[i].name)) {
                o->command = (Command)i;
                r->operands = 0;
                return true;
            }
        o->file = arg;
        return true;
    case 1:
        if (calls) {
            o->entry = arg;
            return true;
        }
        break;
    default:
        if (!calls) break;
        if (!strchr(arg, '=')) return wrong(r, "expected NAME=VALUE, not `%s`", arg);
        vec_push(&o->words, arg);
        return true;
    }
    return wrong(r, "one file is compiled at a time: `%s` and `%s` were given", o->file, arg);
}

// ---- what goes with what

static bool misplaced(OptionReader *r, const OptionRow *row) {
    const char *command = command_rows[r->o->command].name;
    char name[32];
    wrong(r, "%s goes with", spelling(row, name, sizeof name));
    bool first = true;
    for (int i = 0; i < COMMAND_COUNT; i++) {
        if (!(row->commands & 1u << i)) continue;
        str_printf(r->message, "%s %s", first ? "" : ",", i == COMMAND_COMPILE ? "compiling" : command_rows[i].name);
        first = false;
    }
    return wrong(r, ", not with %s", *command ? command : "compiling");
}

static bool check_commands(OptionReader *r) {
    for (int i = 0; i < ROW_COUNT; i++)
        if (r->given[i] && !(option_rows[i].commands & 1u << r->o->command)) return misplaced(r, &option_rows[i]);
    return true;
}

static bool choose_passes(OptionReader *r) {
    Options *o = r->o;
    if (o->level == 0 && !r->listed) o->npasses = 0;
    int n = 0;
    unsigned have = 0;
    for (int i = 0; i < o->npasses; i++) {
        bool wanted = true;
        for (int k = 0; k < r->disabled.len; k++) wanted &= o->passes[i] != r->disabled.data[k];
        if (wanted) o->passes[n++] = o->passes[i];
    }
    o->npasses = n;
    for (int i = 0; i < n; i++) {
        unsigned missing = o->passes[i]->requires & ~have;
        if (missing)
            return wrong(r, "pass `%s` has to come after `%s`", o->passes[i]->name, pass_establishing(missing));
        have |= o->passes[i]->establishes;
    }
    return true;
}

static bool check_operands(OptionReader *r) {
    const Options *o = r->o;
    if (!o->file) return wrong(r, "a file is expected");
    bool calls = o->command == COMMAND_RUN || o->command == COMMAND_COST;
    if (calls && !o->entry) return wrong(r, "the name of an entry is expected after `%s`", o->file);
    if (o->command == COMMAND_COMPILE && o->emit == EMIT_OBJ) {
        if (!o->output && !strcmp(o->file, "-"))
            return wrong(r, "the program comes from standard input: name the object with -o FILE");
        if (o->output && !strcmp(o->output, "-")) return wrong(r, "an object is not written to standard output");
        size_t n = o->output ? strlen(o->output) : 0;
        if (n >= 2 && !strcmp(o->output + n - 2, ".h"))
            return wrong(r, "-o %s would be both the object and its header", o->output);
    }
    return true;
}

bool options_parse(Options *o, int argc, char *const *argv, Str *message) {
    o->argc = argc, o->argv = argv;
    OptionReader r = {.o = o, .argc = argc, .next = 1, .argv = argv, .message = message};
    bool ok = true;
    while (ok && r.next < argc) {
        const char *arg = argv[r.next++];
        if (r.plain || arg[0] != '-' || !arg[1])
            ok = read_operand(&r, arg);
        else if (!strcmp(arg, "--"))
            r.plain = true;
        else
            ok = read_option(&r, arg);
    }
    if (ok && !o->help && !o->version) ok = check_commands(&r) && choose_passes(&r) && check_operands(&r);
    vec_free(&r.disabled);
    return ok;
}

// ---- help

enum { HELP_COLUMN = 24, HELP_WIDTH = 100 };

// Text in a column, broken between words.
static void help_text(Str *out, const char *text) {
    int column = HELP_COLUMN;
    for (bool first = true; *text; first = false) {
        int n = (int)strcspn(text, " ");
        if (!first && column + 1 + n > HELP_WIDTH) {
            str_putc(out, '\n');
            str_indent(out, column = HELP_COLUMN);
        } else if (!first) {
            str_putc(out, ' ');
            column++;
        }
        str_write(out, text, (size_t)n);
        column += n;
        text += n + (text[n] == ' ');
    }
    str_putc(out, '\n');
}

static void help_row(Str *out, const char *left, const char *text) {
    str_puts(out, left);
    int n = (int)strlen(left);
    if (n + 2 > HELP_COLUMN) str_putc(out, '\n'), n = 0;
    str_indent(out, HELP_COLUMN - n);
    help_text(out, text);
}

static void help_options(Str *out, unsigned commands) {
    const char *group = NULL;
    for (int i = 0; i < ROW_COUNT; i++) {
        const OptionRow *row = &option_rows[i];
        if (row->group) {
            group = row->group;
            continue;
        }
        if (!(row->commands & commands)) continue;
        if (group) str_printf(out, "\n%s:\n", group);
        group = NULL;
        char left[64];
        const char *value = row->value ? row->value : "";
        if (!row->name)
            snprintf(left, sizeof left, "  -%c%s%s", row->letter, row->id == OPTION_LEVEL ? "" : " ", value);
        else if (row->letter)
            snprintf(left, sizeof left, "  -%c, --%s", row->letter, row->name);
        else
            snprintf(left, sizeof left, "  --%s%s%s", row->name, row->value ? "=" : "", value);
        help_row(out, left, row->help);
    }
}

void options_help(Str *out, Command command) {
    str_puts(out, "Usage:\n");
    for (int i = 0; i < COMMAND_COUNT; i++) {
        if (command != COMMAND_COMPILE && i != (int)command) continue;
        const char *name = command_rows[i].name;
        str_printf(out, "  fsmc %s%s[options] %s\n", name, *name ? " " : "", command_rows[i].operands);
        str_indent(out, 6);
        str_printf(out, "%s\n", command_rows[i].help);
    }
    str_puts(out,
             "FILE is an F~ program, values as --emit=ir prints them if its name ends in .ir, or '-' for standard\n"
             "input.");
    if (command == COMMAND_RUN || command == COMMAND_COST || command == COMMAND_COMPILE)
        str_puts(out, " Arguments of a call are JSON: NAME=VALUE or NAME=@FILE (also NumPy's .npy) for single ones,\n"
                      "the others on standard input as one array in order or one object by name.");
    str_putc(out, '\n');
    help_options(out, command == COMMAND_COMPILE ? ALL : 1u << command);
    if (command == COMMAND_COMPILE) {
        str_puts(out, "\nKinds of output:\n");
        for (int i = 0; i < EMIT_COUNT; i++) {
            char left[64];
            snprintf(left, sizeof left, "  %s", emit_rows[i].name);
            help_row(out, left, emit_rows[i].help);
        }
    }
    if (command != COMMAND_PARSE && command != COMMAND_CHECK) {
        str_puts(out, "\nPasses, in order:\n");
        for (const Pass *p = pass_table; p->name; p++) {
            char left[64];
            snprintf(left, sizeof left, "  %s", p->name);
            help_row(out, left, p->help);
        }
    }
    str_puts(
        out,
        "\nExit status: 0 on success, 1 for an error in the program or its arguments, 2 for wrong usage, 3 for an\n"
        "internal error.\n");
}
