#include "driver/options_table.h"

#include "driver/passes.h"

#include <stdio.h>
#include <string.h>

// The commands as the column `commands` writes them.
enum {
#define COMMAND(id, ...) id = 1 << COMMAND_##id,
#include "driver/options.def"
    ANY = (1 << COMMAND_COUNT) - 1,
    ALL = 0 // but those that only print a text about fsmc
#define COMMAND(id, name, shape, ...) | ((shape) >= SHAPE_WORD ? 0 : id)
#include "driver/options.def"
};

const OptionRow option_rows[] = {
#define GROUP(title)                                    {.group = title},
#define OPTION(id, letter, name, value, commands, help) {NULL, OPTION_##id, letter, name, value, commands, help},
#include "driver/options.def"
};
const int option_row_count = sizeof option_rows / sizeof *option_rows;

const CommandRow command_rows[COMMAND_COUNT] = {
#define COMMAND(id, name, shape, operands, help) {name, shape, operands, help},
#include "driver/options.def"
};

const ExampleRow example_rows[] = {
#define EXAMPLE(command, line, help) {COMMAND_##command, line, help},
#include "driver/options.def"
};
const int example_row_count = sizeof example_rows / sizeof *example_rows;

const EmitRow emit_rows[EMIT_COUNT] = {
#define EMIT(id, name, suffix, place, function, help) {name, suffix, place, help},
#include "driver/options.def"
};

const char *const option_fp_names[] = {[CPU_FP_PRECISE] = "precise", [CPU_FP_CONTRACT] = "contract", [CPU_FP_FAST] = "fast", NULL};
const char *const option_when_names[] = {[WHEN_AUTO] = "auto", [WHEN_ALWAYS] = "always", [WHEN_NEVER] = "never", NULL};

const char *option_spelling(const OptionRow *row, char *buffer, size_t size) {
    if (row->name) snprintf(buffer, size, "%s%s", row->name[0] == '-' ? "" : "--", row->name);
    else snprintf(buffer, size, "-%c", row->letter);
    return buffer;
}

bool option_is_glued(const OptionRow *row) { return row->value && row->letter && option_choice(row->value, 0); }

static const char *loop_pass_choice(int k) {
    for (const LoopPass *p = loop_passes; p->name; p++)
        if (k-- == 0) return p->name;
    return NULL;
}

// Passes over values, over loop trees, then names of other stages.
static const char *stage_choice(int k, const char *const *others) {
    for (const Pass *p = pass_table; p->name; p++)
        if (k-- == 0) return p->name;
    for (const LoopPass *p = loop_passes; p->name; p++)
        if (k-- == 0) return p->name;
    return others[k];
}

const char *option_choice(const char *value, int k) {
    static const char *const levels[] = {"0", "1", "2", "3", NULL}, *const machines[] = {"cpu", "cuda", NULL};
    static const char *const cpus[] = {"native", "baseline", NULL}, *const stages[] = {"elaborate", "lower", "all", NULL};
    static const char *const none[] = {NULL};
    static const char *const measures[] = {"result", "size", "time", "operations", NULL};
    static const char *const shells[] = {"bash", "zsh", "fish", NULL};
    static const char *const warnings[] = {"all", "error",
#define WARNING(id, name, ...) name, "no-" name,
#include "support/warnings.def"
                                           NULL};
    const char *const *list = NULL;
    if (!value) return NULL;
    if (!strcmp(value, "KIND,...")) return k < EMIT_COUNT ? emit_rows[k].name : NULL;
    if (!strcmp(value, "PASS,...")) return pass_table[k].name;
    if (!strcmp(value, "LOOP-PASS,...")) return loop_pass_choice(k);
    if (!strcmp(value, "PASS")) return stage_choice(k, none);
    if (!strcmp(value, "RULE")) {
        for (int i = 0; i < RULE_COUNT; i++)
            if (!rule_info[i].form && k-- == 0) return rule_info[i].name;
        return NULL;
    }
    if (!strcmp(value, "[TOPIC,...]")) return k < EXPLAIN_TOPICS ? explain_topic_name((ExplainTopic)k) : NULL;
    if (!strcmp(value, "STAGE")) return stage_choice(k, stages);
    if (!strcmp(value, "[COMMAND]")) return k + 1 < COMMAND_COUNT ? command_rows[k + 1].name : NULL;
    if (!strcmp(value, "SHELL")) list = shells;
    if (!strcmp(value, "MEASURE")) list = measures;
    if (!strcmp(value, "MODE")) list = option_fp_names;
    if (!strcmp(value, "WHEN")) list = option_when_names;
    if (!strcmp(value, "NAME")) list = warnings;
    if (!strcmp(value, "LEVEL")) list = levels;
    if (!strcmp(value, "CPU")) list = cpus;
    if (!strcmp(value, "MACHINE")) list = machines;
    return list ? list[k] : NULL;
}

Command command_named(const char *name) {
    int i = 1;
    while (i < COMMAND_COUNT && strcmp(command_rows[i].name, name)) i++;
    return (Command)i;
}
