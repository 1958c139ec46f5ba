#include "driver/manual.h"

#include "driver/options_table.h"
#include "driver/passes.h"

#include <string.h>

// One character of UTF-8, as roff names those beyond ASCII; returns its last byte.
static const char *put_character(Str *out, const char *s) {
    unsigned char c = (unsigned char)*s;
    if (c < 0xC0) {
        str_putc(out, *s);
        return s;
    }
    int more = c >= 0xF0 ? 3 : c >= 0xE0 ? 2 : 1;
    unsigned code = c & (0x3Fu >> more);
    while (more-- > 0 && s[1]) code = code << 6 | ((unsigned char)*++s & 0x3F);
    str_printf(out, "\\[u%04X]", code);
    return s;
}

// Text with nothing in it that roff would understand.
static void put_text(Str *out, const char *s) {
    if (*s == '.' || *s == '\'') str_puts(out, "\\&");
    for (; *s; s++) {
        switch (*s) {
        case '\\': str_puts(out, "\\e"); break;
        case '-': str_puts(out, "\\-"); break;
        case '~': str_puts(out, "\\(ti"); break;
        case '\'': str_puts(out, "\\(aq"); break;
        case '`': str_puts(out, "\\(ga"); break;
        case '^': str_puts(out, "\\(ha"); break;
        default: s = put_character(out, s);
        }
    }
}

static void put_line(Str *out, const char *text) {
    put_text(out, text);
    str_putc(out, '\n');
}

static void put_entry(Str *out, const char *name, const char *text) {
    str_puts(out, ".TP\n.B ");
    put_line(out, name);
    put_line(out, text);
}

static void put_synopsis(Str *out) {
    str_puts(out, ".SH SYNOPSIS\n");
    for (int k = 0; k < COMMAND_COUNT; k++) {
        const CommandRow *c = &command_rows[k];
        if (k) str_puts(out, ".br\n");
        str_printf(out, ".B fsmc %s\n", c->name);
        if (c->shape < SHAPE_WORD) str_puts(out, ".RI [ options ]\n");
        if (*c->operands) put_line(out, c->operands);
    }
}

static void put_description(Str *out) {
    str_puts(out, ".SH DESCRIPTION\n"
                  ".B fsmc\n"
                  "compiles F\\(ti, a small functional array language with differentiation as part of the language, to\n"
                  "object files with a plain C interface.\n"
                  "FILE is an F\\(ti program, values as\n.B \\-\\-emit=ir\nprints them if its name ends in .ir, loops as\n.B \\-\\-emit=tree\ndoes if it ends in .tree, or\n.B \\-\n"
                  "for standard input.\n"
                  ".SH COMMANDS\n");
    for (int k = 0; k < COMMAND_COUNT; k++) put_entry(out, k ? command_rows[k].name : "(none)", command_rows[k].help);
}

static void put_arguments(Str *out) {
    str_puts(out, ".SH ARGUMENTS OF A CALL\n"
                  "Arguments are JSON.\n"
                  ".IR NAME = VALUE\nsets one,\n.IR NAME =@ FILE\n"
                  "reads it from a file of JSON, or from a NumPy file if its name ends in .npy.\n"
                  "The others are read from standard input: one array in the order of the parameters, or one object\n"
                  "by name.\n"
                  "A tuple is an array; numbers that are not finite are the strings \"NaN\", \"Infinity\" and\n"
                  "\"\\-Infinity\".\n");
}

static void put_option(Str *out, const OptionRow *o) {
    char name[32];
    option_spelling(o, name, sizeof name);
    str_puts(out, ".TP\n");
    str_puts(out, o->value ? ".BI " : ".B ");
    if (o->letter && o->name) {
        str_printf(out, "\\-%c, ", o->letter);
        put_text(out, name);
    } else {
        put_text(out, name);
    }
    if (o->value) {
        bool joined = name[1] == '-', glued = option_is_glued(o);
        str_puts(out, o->value[0] == '[' ? " [=" : joined ? "= " : glued ? " " : " \" \" ");
        put_text(out, o->value + (o->value[0] == '['));
    }
    str_putc(out, '\n');
    put_line(out, o->help);
    unsigned all = 0;
    for (int k = 0; k < COMMAND_COUNT; k++)
        if (command_rows[k].shape < SHAPE_WORD) all |= 1u << k;
    if ((o->commands & all) == all) return;
    str_puts(out, ".br\nGoes with");
    bool first = true;
    for (int k = 0; k < COMMAND_COUNT; k++) {
        if (!(o->commands & 1u << k)) continue;
        str_printf(out, "%s %s", first ? "" : ",", k ? command_rows[k].name : "compiling");
        first = false;
    }
    str_puts(out, ".\n");
}

static void put_options(Str *out) {
    str_puts(out, ".SH OPTIONS\n"
                  "The value of a long option follows after = or as the next word.\n"
                  ".B \\-\\-\nends the options.\n");
    for (int i = 0; i < option_row_count; i++) {
        if (option_rows[i].group) {
            str_puts(out, ".SS ");
            put_line(out, option_rows[i].group);
        } else {
            put_option(out, &option_rows[i]);
        }
    }
}

static void put_response_files(Str *out) {
    str_puts(out, ".SH RESPONSE FILES\n"
                  "The word\n.BI @ FILE\nin the place of an option or operand stands for the words in FILE, which may name\n"
                  "further ones, 8 deep.\n"
                  "White space separates words; inside \"...\" and \\(aq...\\(aq it does not.\n"
                  "A backslash takes the next character as it is, except inside \\(aq...\\(aq.\n"
                  "After\n.B \\-\\-\nthere are no response files.\n");
}

static void put_examples(Str *out) {
    str_puts(out, ".SH EXAMPLES\n");
    for (int i = 0; i < example_row_count; i++) {
        str_puts(out, ".TP\n.B ");
        put_line(out, example_rows[i].line);
        put_line(out, example_rows[i].help);
    }
}

void manual_print(Str *out) {
    str_puts(out, ".TH FSMC 1 \"\" \"fsmc " FSMC_VERSION "\" \"User Commands\"\n"
                  ".SH NAME\nfsmc \\- compile differentiable array programs\n");
    put_synopsis(out);
    put_description(out);
    put_arguments(out);
    put_options(out);
    str_puts(out, ".SH KINDS OF OUTPUT\n");
    for (int k = 0; k < EMIT_COUNT; k++) put_entry(out, emit_rows[k].name, emit_rows[k].help);
    str_puts(out, ".SH WARNINGS\nTurned on and off by\n.BR \\-W :\n");
    for (int k = 0; k < WARNING_COUNT; k++) put_entry(out, warning_info[k].name, warning_info[k].help);
    str_puts(out, ".SH TOPICS OF \\-\\-EXPLAIN\n");
    for (int k = 0; k < EXPLAIN_TOPICS; k++)
        put_entry(out, explain_topic_name((ExplainTopic)k), explain_topic_help((ExplainTopic)k));
    str_puts(out, ".SH PASSES\nIn the order in which they run, over values:\n");
    for (const Pass *p = pass_table; p->name; p++) put_entry(out, p->name, p->help);
    str_puts(out, ".PP\nThen over loop trees:\n");
    for (const LoopPass *p = loop_passes; p->name; p++) put_entry(out, p->name, p->help);
    put_response_files(out);
    str_puts(out, ".SH EXIT STATUS\n");
    put_entry(out, "0", "success");
    put_entry(out, "1", "an error in the program or its arguments");
    put_entry(out, "2", "wrong usage");
    put_entry(out, "3", "an internal error; a file to report it with is named on standard error");
    str_puts(out, ".SH ENVIRONMENT\n");
    put_entry(out, "COLUMNS", "the width of --help, where standard output is no terminal");
    put_entry(out, "FSMC_CACHE", "a folder where objects are kept, which the same code needs again");
    put_entry(out, "FSMC_CACHE_SIZE", "at most so many bytes of them; K, M or G may follow; 1G otherwise");
    put_entry(out, "FSMC_MACHINE", "the file of --machine, where none is given");
    put_entry(out, "NO_COLOR", "if not empty, messages have no colors unless --color=always says so");
    put_entry(out, "TMPDIR", "where files go that are needed for a while, and the one for reporting an internal error; /tmp otherwise");
    put_examples(out);
}
