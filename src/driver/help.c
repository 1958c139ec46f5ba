#define _DEFAULT_SOURCE // TIOCGWINSZ
#include "driver/help.h"

#include "driver/options_table.h"
#include "driver/passes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { NARROW = 40, USUAL = 100, WIDE = 120, LEFT = 24 };

int help_width(void) {
    const char *columns = getenv("COLUMNS");
    struct winsize size;
    int n = columns ? atoi(columns) : 0;
    if (n <= 0 && isatty(STDOUT_FILENO) && !ioctl(STDOUT_FILENO, TIOCGWINSZ, &size)) n = size.ws_col;
    if (n <= 0) n = USUAL;
    return n < NARROW ? NARROW : n > WIDE ? WIDE : n;
}

typedef struct Page {
    Str *out;
    int width;
} Page;

// Text whose first line begins at the column `indent`, as the others do; broken between words.
static void paragraph(const Page *p, int indent, const char *text) {
    int column = indent;
    for (bool first = true; *text; first = false) {
        int n = (int)strcspn(text, " ");
        if (!first && column + 1 + n > p->width) {
            str_putc(p->out, '\n');
            str_indent(p->out, column = indent);
        } else if (!first) {
            str_putc(p->out, ' ');
            column++;
        }
        str_write(p->out, text, (size_t)n);
        column += n;
        text += n + (text[n] == ' ');
    }
    str_putc(p->out, '\n');
}

static void row(const Page *p, const char *left, const char *text) {
    int n = (int)strlen(left), column = p->width < 60 ? 8 : LEFT;
    str_puts(p->out, left);
    if (n + 2 > column) str_putc(p->out, '\n'), n = 0;
    str_indent(p->out, column - n);
    paragraph(p, column, text);
}

static void named_row(const Page *p, const char *name, const char *text) {
    char left[64];
    snprintf(left, sizeof left, "  %s", name);
    row(p, left, text);
}

static void option_row(const Page *p, const OptionRow *o) {
    char left[64], name[32];
    const char *value = o->value ? o->value : "";
    option_spelling(o, name, sizeof name);
    if (o->letter && o->name) snprintf(left, sizeof left, "  -%c, %s", o->letter, name);
    else
        snprintf(left, sizeof left, "  %s%s%s", name,
                 !o->value || option_is_glued(o) ? ""
                 : *value == '['                 ? "[="
                 : name[1] == '-'                ? "="
                                                 : " ",
                 value + (*value == '['));
    row(p, left, o->help);
}

static void options_of(const Page *p, unsigned commands) {
    const char *group = NULL;
    for (int i = 0; i < option_row_count; i++) {
        const OptionRow *o = &option_rows[i];
        if (o->group) group = o->group;
        if (o->group || !(o->commands & commands)) continue;
        if (group) str_printf(p->out, "\n%s:\n", group);
        group = NULL;
        option_row(p, o);
    }
}

static void usage(const Page *p, Command command) {
    str_puts(p->out, "Usage:\n");
    for (int i = 0; i < COMMAND_COUNT; i++) {
        if (command != COMMAND_COMPILE && i != (int)command) continue;
        const char *name = command_rows[i].name;
        str_printf(p->out, "  fsmc %s%s%s%s\n      ", name, *name ? " " : "",
                   command_rows[i].shape >= SHAPE_WORD ? "" : "[options] ", command_rows[i].operands);
        paragraph(p, 6, command_rows[i].help);
    }
}

static void operands(const Page *p, Command command) {
    CommandShape shape = command_rows[command].shape;
    if (shape >= SHAPE_WORD) return;
    str_putc(p->out, '\n');
    paragraph(p, 0, "FILE is an F~ program, values as --emit=ir prints them if its name ends in .ir, loops as --emit=tree does if it ends "
                    "in .tree, or '-' for standard input.");
    if (shape == SHAPE_CALL || command == COMMAND_COMPILE)
        paragraph(p, 0,
                  "Arguments of a call are JSON: NAME=VALUE or NAME=@FILE (also NumPy's .npy) for single ones, the "
                  "others on standard input as one array in order or one object by name.");
    paragraph(p, 0, "@FILE stands for the words in FILE, and '--' ends the options.");
}

static void examples(const Page *p, Command command) {
    str_puts(p->out, "\nExamples:\n");
    for (int i = 0; i < example_row_count; i++) {
        if (example_rows[i].command != command) continue;
        str_printf(p->out, "  %s\n      ", example_rows[i].line);
        paragraph(p, 6, example_rows[i].help);
    }
}

static void warnings(const Page *p) {
    str_puts(p->out, "\nWarnings:\n");
    for (int i = 0; i < WARNING_COUNT; i++) {
        char text[256];
        snprintf(text, sizeof text, "%s%s", warning_info[i].help, warning_info[i].on ? "" : " (off by default)");
        named_row(p, warning_info[i].name, text);
    }
}

void help_print(Str *out, Command command, int width) {
    Page p = {out, width};
    bool emits = command == COMMAND_COMPILE, optimises = false;
    usage(&p, command);
    operands(&p, command);
    options_of(&p, emits ? ~0u : 1u << command);
    for (int i = 0; i < option_row_count; i++)
        optimises |= !option_rows[i].group && option_rows[i].id == OPTION_PASSES && option_rows[i].commands & 1u << command;
    if (emits) str_puts(out, "\nKinds of output:\n");
    for (int i = 0; i < EMIT_COUNT && emits; i++) named_row(&p, emit_rows[i].name, emit_rows[i].help);
    if (command_rows[command].shape < SHAPE_WORD) warnings(&p);
    if (optimises) str_puts(out, "\nPasses over values, in order:\n");
    for (const Pass *pass = pass_table; pass->name && optimises; pass++) named_row(&p, pass->name, pass->help);
    if (optimises) str_puts(out, "\nThen passes over loop trees:\n");
    for (const LoopPass *pass = loop_passes; pass->name && optimises; pass++) named_row(&p, pass->name, pass->help);
    if (optimises) str_puts(out, "\nTopics of --explain:\n");
    for (int i = 0; i < EXPLAIN_TOPICS && optimises; i++)
        named_row(&p, explain_topic_name((ExplainTopic)i), explain_topic_help((ExplainTopic)i));
    examples(&p, command);
    str_putc(out, '\n');
    paragraph(&p, 0,
              "Exit status: 0 on success, 1 for an error in the program or its arguments, 2 for wrong usage, 3 for an "
              "internal error.");
}
