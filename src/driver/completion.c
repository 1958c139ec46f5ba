// The scripts have the same parts: what completes values of options, options by command, and operands by command. The
// names of entries are read from the lines `entry NAME …` (F̃) or `func NAME(…` (textual IR) of the file.
#include "driver/completion.h"

#include "driver/options_table.h"

#include <stdio.h>
#include <string.h>

// Prints the entries of a file.
static const char entries_script[] = "sed -n -e \"s/^entry[[:blank:]]\\{1,\\}\\([A-Za-z_][A-Za-z0-9_']*\\).*/\\1/p\" \\\n"
                                     "        -e 's/^func \\([A-Za-z_][A-Za-z0-9_]*\\)(.*/\\1/p' -- ";

static bool is_list(const char *value) { return strchr(value, ',') != NULL; }

static void put_choices(Str *out, const char *value) {
    const char *word;
    for (int i = 0; (word = option_choice(value, i)); i++) str_printf(out, "%s%s", i ? " " : "", word);
}

// The first clause of a help text, which is what fits beside a word.
static size_t clause(const char *help) { return strcspn(help, ";"); }

// Text inside '…' of a shell; `special` characters get a backslash.
static void put_quoted(Str *out, const char *s, size_t n, const char *special) {
    for (size_t i = 0; i < n; i++)
        if (s[i] == '\'') str_puts(out, "'\\''");
        else str_printf(out, "%s%c", strchr(special, s[i]) ? "\\" : "", s[i]);
}

// The spellings of an option: "-h --help".
static void put_spellings(Str *out, const OptionRow *o, const char *between) {
    char name[32];
    if (o->letter && o->name) str_printf(out, "-%c%s", o->letter, between);
    str_puts(out, option_spelling(o, name, sizeof name));
}

// ---- bash

static void bash_values(Str *out) {
    str_puts(out, "# What option $1 may have: words, or @file, @dir, @any; nothing if it has no value.\n"
                  "_fsmc_values() {\n    case $1 in\n");
    for (int i = 0; i < option_row_count; i++) {
        const OptionRow *o = &option_rows[i];
        if (o->group || !o->value || option_is_glued(o)) continue;
        str_puts(out, "    ");
        put_spellings(out, o, " | ");
        str_puts(out, ") echo '");
        if (option_choice(o->value, 0)) put_choices(out, o->value);
        else
            str_puts(out, !strcmp(o->value, "FILE")    ? "@file"
                          : !strcmp(o->value, "DIR")   ? "@dir"
                          : !strcmp(o->value, "ENTRY") ? "@entry"
                                                       : "@any");
        str_puts(out, "' ;;\n");
    }
    str_puts(out, "    esac\n}\n\n");
}

static void bash_options(Str *out) {
    str_puts(out, "# The options of command $1.\n_fsmc_options() {\n    case $1 in\n");
    for (int k = 0; k < COMMAND_COUNT; k++) {
        str_printf(out, "    '%s') echo '", command_rows[k].name);
        for (int i = 0; i < option_row_count; i++) {
            const OptionRow *o = &option_rows[i];
            if (o->group || !(o->commands & 1u << k)) continue;
            const char *word;
            for (int w = 0; option_is_glued(o) && (word = option_choice(o->value, w)); w++)
                str_printf(out, "-%c%s ", o->letter, word);
            if (option_is_glued(o)) continue;
            put_spellings(out, o, " ");
            bool open = o->value && o->name && o->name[0] != '-' && o->value[0] != '[';
            str_puts(out, open ? "= " : " ");
        }
        str_puts(out, "' ;;\n");
    }
    str_puts(out, "    esac\n}\n\n");
}

static void bash_operands(Str *out) {
    str_puts(out, "# What operand number $2 (from 0) of command $1 is: words, or @program, @entry, @argument.\n"
                  "_fsmc_operand() {\n    case $1 in\n");
    for (int k = 0; k < COMMAND_COUNT; k++) {
        const CommandRow *c = &command_rows[k];
        str_printf(out, "    '%s') ", c->name);
        if (c->shape == SHAPE_WORD) {
            str_puts(out, "[ \"$2\" -gt 0 ] || echo '");
            put_choices(out, c->operands);
            str_puts(out, "'");
        } else if (c->shape == SHAPE_CALL) {
            str_puts(out, "case $2 in 0) echo @program ;; 1) echo @entry ;; *) echo @argument ;; esac");
        } else {
            str_puts(out, c->shape == SHAPE_NONE ? ":" : "echo @program");
        }
        str_puts(out, " ;;\n");
    }
    str_puts(out, "    esac\n}\n\n");
}

// Bash splits words at '=' and '@' as well: `--emit=ir` is three words, `x=@f` is `x`, `=@` and `f`.
static const char bash_script[] =
    "_fsmc() {\n"
    "    local cur=${COMP_WORDS[COMP_CWORD]} command='' count=0 option='' word what i\n"
    "    COMPREPLY=()\n"
    "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
    "        word=${COMP_WORDS[i]}\n"
    "        if [[ $word == -* && $word != - ]]; then\n"
    "            option=''\n"
    "            [[ -n $(_fsmc_values \"$word\") ]] && option=$word\n"
    "            if [[ $option == --explain && ${COMP_WORDS[i + 1]} != = ]]; then option=''; fi\n"
    "            if [[ -n $option && ${COMP_WORDS[i + 1]} == = ]]; then ((i++)); fi\n"
    "            if [[ -n $option && $((i + 1)) -lt $COMP_CWORD ]]; then option='' && ((i++)); fi\n"
    "        elif [[ $count -eq 0 && -z $command && \" $_fsmc_commands \" == *\" $word \"* ]]; then\n"
    "            command=$word\n"
    "        elif [[ $word != *[=@]* && ${COMP_WORDS[i - 1]} != *[=@] && ${COMP_WORDS[i + 1]} != =* ]]; then\n"
    "            ((count++))\n"
    "        fi\n"
    "    done\n"
    "    [[ $cur == = || $cur == @ || $cur == =@ ]] && word=$cur cur='' || word=${COMP_WORDS[COMP_CWORD - 1]}\n"
    "    if [[ -n $option ]]; then\n"
    "        what=$(_fsmc_values \"$option\")\n"
    "    elif [[ $word == @ || $word == =@ ]]; then\n"
    "        what=@file\n"
    "    elif [[ $cur == -* ]]; then\n"
    "        what=$(_fsmc_options \"$command\")\n"
    "    else\n"
    "        what=$(_fsmc_operand \"$command\" $count)\n"
    "        [[ $count -eq 0 && -z $command ]] && what=\"$what $_fsmc_commands\"\n"
    "    fi\n"
    "    case $what in\n"
    "    @program*)\n"
    "        compopt -o filenames\n"
    "        mapfile -t COMPREPLY < <(compgen -f -X '!*.fsm' -- \"$cur\"; compgen -f -X '!*.ir' -- \"$cur\"\n"
    "            compgen -f -X '!*.tree' -- \"$cur\"\n"
    "            compgen -d -- \"$cur\"; compgen -W \"${what#@program}\" -- \"$cur\")\n"
    "        ;;\n"
    "    @file) compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- \"$cur\") ;;\n"
    "    @dir) compopt -o filenames; mapfile -t COMPREPLY < <(compgen -d -- \"$cur\") ;;\n"
    "    @entry) mapfile -t COMPREPLY < <(compgen -W \"$(_fsmc_entries)\" -- \"$cur\") ;;\n"
    "    @*) ;;\n"
    "    *)\n"
    "        word=''\n"
    "        if [[ $cur == *,* ]]; then word=${cur%,*}, cur=${cur##*,}; fi\n"
    "        mapfile -t COMPREPLY < <(compgen -P \"$word\" -W \"$what\" -- \"$cur\")\n"
    "        [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace\n"
    "        ;;\n"
    "    esac\n"
    "}\n"
    "complete -F _fsmc fsmc\n";

static void print_bash(Str *out) {
    str_puts(out, "# Completion of fsmc for bash.\n_fsmc_commands='");
    for (int k = 1; k < COMMAND_COUNT; k++) str_printf(out, "%s%s", k > 1 ? " " : "", command_rows[k].name);
    str_puts(out, "'\n\n");
    bash_values(out);
    bash_options(out);
    bash_operands(out);
    str_puts(out, "# The entries of the program in the command line.\n_fsmc_entries() {\n    local file\n"
                  "    for file in \"${COMP_WORDS[@]}\"; do\n"
                  "        [[ $file == *.fsm || $file == *.ir || $file == *.tree ]] && [[ -r $file && -f $file ]] || continue\n        ");
    str_printf(out, "%s\"$file\"\n    done\n}\n\n", entries_script);
    str_puts(out, bash_script);
}

// ---- zsh

// What completes a value: the end of a specification of _arguments.
static void zsh_value(Str *out, const char *value) {
    str_putc(out, ':');
    const char *choices = value;
    value += value[0] == '[';
    put_quoted(out, value, strcspn(value, ",]"), "");
    str_putc(out, ':');
    if (!option_choice(choices, 0)) {
        str_puts(out, !strcmp(value, "FILE")    ? "_files"
                      : !strcmp(value, "DIR")   ? "_files -/"
                      : !strcmp(value, "ENTRY") ? "_fsmc_entry"
                                                : "( )");
        return;
    }
    str_puts(out, is_list(value) ? "_sequence compadd - " : "(");
    put_choices(out, choices);
    if (!is_list(value)) str_putc(out, ')');
}

static void zsh_option(Str *out, const OptionRow *o, const char *name) {
    bool joined = name[1] == '-';
    str_printf(out, "            '*%s%s[", name,
               !o->value            ? ""
               : o->value[0] == '[' ? "=-"
               : option_is_glued(o) ? "-"
               : joined             ? "="
                                    : "+");
    put_quoted(out, o->help, clause(o->help), "[]:\\");
    str_putc(out, ']');
    if (o->value) zsh_value(out, o->value);
    str_puts(out, "' \\\n");
}

static void zsh_options(Str *out, int command) {
    for (int i = 0; i < option_row_count; i++) {
        const OptionRow *o = &option_rows[i];
        if (o->group || !(o->commands & 1u << command)) continue;
        char name[32], letter[] = {'-', o->letter, 0};
        if (o->letter && o->name) zsh_option(out, o, letter);
        zsh_option(out, o, option_spelling(o, name, sizeof name));
    }
}

static void zsh_operands(Str *out, const CommandRow *c) {
    switch (c->shape) {
    case SHAPE_NONE: str_puts(out, "            && return\n"); return;
    case SHAPE_WORD:
        str_puts(out, "            '1:word:(");
        put_choices(out, c->operands);
        str_puts(out, ")'\n");
        return;
    case SHAPE_CALL:
        str_puts(out, "            '1:program:_fsmc_program' '2:entry:_fsmc_entry' '*:argument:_fsmc_argument'\n");
        return;
    default: str_puts(out, "            '*:program:_fsmc_program'\n");
    }
}

static void print_zsh(Str *out) {
    str_puts(out, "#compdef fsmc\n# Completion of fsmc for zsh.\n\n"
                  "_fsmc_program() { _files -g '*.(fsm|ir|tree)' }\n\n"
                  "_fsmc_entry() {\n"
                  "    local -a files=(${(MQ)words:#*.(fsm|ir|tree)})\n"
                  "    [[ -r $files[1] && -f $files[1] ]] || return 1\n"
                  "    local -a entries=(${(f)\"$(");
    str_printf(out, "%s$files[1])\"})\n    _wanted entries expl entry compadd -a entries\n}\n\n", entries_script);
    str_puts(out, "_fsmc_argument() { if compset -P '*=@'; then _files; else _message 'NAME=VALUE'; fi }\n\n"
                  "_fsmc_command() {\n    local -a commands=(\n");
    for (int k = 1; k < COMMAND_COUNT; k++) {
        str_printf(out, "        '%s:", command_rows[k].name);
        put_quoted(out, command_rows[k].help, clause(command_rows[k].help), ":\\");
        str_puts(out, "'\n");
    }
    str_puts(out, "    )\n    _describe -t commands command commands\n    _fsmc_program\n}\n\n"
                  "_fsmc() {\n"
                  "    local curcontext=$curcontext command='' expl\n    local -a line\n"
                  "    if (( CURRENT > 2 )); then\n        case $words[2] in\n        ");
    for (int k = 1; k < COMMAND_COUNT; k++) str_printf(out, "%s%s", k > 1 ? " | " : "", command_rows[k].name);
    str_puts(out, ") command=$words[2]; shift words; (( CURRENT-- )) ;;\n        esac\n    fi\n    case $command in\n");
    for (int k = 0; k < COMMAND_COUNT; k++) {
        str_printf(out, "    '%s')\n        _arguments \\\n", command_rows[k].name);
        zsh_options(out, k);
        if (k) zsh_operands(out, &command_rows[k]);
        else str_puts(out, "            '1:program or command:_fsmc_command'\n");
        str_puts(out, "        ;;\n");
    }
    str_puts(out,
             "    esac\n}\n\nif [[ $zsh_eval_context[-1] == loadautofunc ]]; then _fsmc \"$@\"; else compdef _fsmc fsmc; fi\n");
}

// ---- fish

static void fish_option(Str *out, const OptionRow *o) {
    str_puts(out, "complete -c fsmc");
    if (o->commands != (1u << COMMAND_COUNT) - 1) {
        str_puts(out, " -n '__fsmc_is");
        for (int k = 0; k < COMMAND_COUNT; k++)
            if (o->commands & 1u << k) str_printf(out, " %s", k ? command_rows[k].name : "compile");
        str_putc(out, '\'');
    }
    if (o->letter) str_printf(out, " -s %c", o->letter);
    if (o->name) str_printf(out, " -%s %s", o->name[0] == '-' ? "o" : "l", o->name + (o->name[0] == '-'));
    str_puts(out, " -d '");
    put_quoted(out, o->help, clause(o->help), "");
    str_putc(out, '\'');
    if (o->value && option_choice(o->value, 0)) {
        if (is_list(o->value)) {
            str_puts(out, " -x -a '(__fish_append , ");
            put_choices(out, o->value);
            str_puts(out, ")'");
        } else {
            str_puts(out, " -x -a '");
            put_choices(out, o->value);
            str_putc(out, '\'');
        }
    } else if (o->value) {
        str_puts(out, !strcmp(o->value, "FILE")    ? " -r -F"
                      : !strcmp(o->value, "DIR")   ? " -x -a '(__fish_complete_directories)'"
                      : !strcmp(o->value, "ENTRY") ? " -x -a '(__fsmc_entries)'"
                                                   : " -x");
    }
    str_putc(out, '\n');
}

static void print_fish(Str *out) {
    str_puts(out, "# Completion of fsmc for fish.\n"
                  "set -g __fsmc_commands");
    for (int k = 1; k < COMMAND_COUNT; k++) str_printf(out, " %s", command_rows[k].name);
    str_puts(out, "\n\n# The words so far that are no options: the command (compile where none is written), then its operands.\n"
                  "function __fsmc_words\n"
                  "    set -l words (commandline -opc | string match -v -- '-?*')\n"
                  "    set -e words[1]\n"
                  "    contains -- \"$words[1]\" $__fsmc_commands; or set -p words compile\n"
                  "    printf '%s\\n' $words\n"
                  "end\n\n"
                  "function __fsmc_is\n"
                  "    set -l words (__fsmc_words)\n"
                  "    contains -- $words[1] $argv\n"
                  "end\n\n"
                  "# Whether operand number $argv[1] (from 0) of the commands $argv[2..] is completed.\n"
                  "function __fsmc_at\n"
                  "    set -l words (__fsmc_words)\n"
                  "    test (count $words) -eq (math $argv[1] + 1); and contains -- $words[1] $argv[2..-1]\n"
                  "end\n\n"
                  "function __fsmc_entries\n"
                  "    for file in (commandline -o | string match -r '.*\\.(?:fsm|ir|tree)$')\n"
                  "        test -r \"$file\" -a -f \"$file\"; or continue\n        ");
    str_printf(out, "%s$file\n    end\nend\n\ncomplete -c fsmc -f\n", entries_script);
    for (int k = 1; k < COMMAND_COUNT; k++) {
        const CommandRow *c = &command_rows[k];
        str_printf(out, "complete -c fsmc -n '__fsmc_at 0 compile' -a %s -d '", c->name);
        put_quoted(out, c->help, clause(c->help), "");
        str_puts(out, "'\n");
        if (c->shape == SHAPE_WORD) {
            str_printf(out, "complete -c fsmc -n '__fsmc_at 0 %s' -a '", c->name);
            put_choices(out, c->operands);
            str_puts(out, "'\n");
        }
        if (c->shape == SHAPE_FILES)
            str_printf(out, "complete -c fsmc -n '__fsmc_is %s' -k -a '(__fish_complete_suffix .fsm)'\n", c->name);
        if (c->shape == SHAPE_CALL) {
            str_printf(out, "complete -c fsmc -n '__fsmc_at 1 %s' -a '(__fsmc_entries)'\n", c->name);
            str_printf(out, "complete -c fsmc -n '__fsmc_is %s; and not __fsmc_at 0 %s; and not __fsmc_at 1 %s' -F\n", c->name,
                       c->name, c->name);
        }
    }
    str_puts(out, "complete -c fsmc -n '__fsmc_at 0 compile");
    for (int k = 1; k < COMMAND_COUNT; k++)
        if (command_rows[k].shape < SHAPE_WORD) str_printf(out, " %s", command_rows[k].name);
    str_puts(out, "' -k -a '(__fish_complete_suffix .fsm; __fish_complete_suffix .ir; __fish_complete_suffix .tree)'\n\n");
    for (int i = 0; i < option_row_count; i++)
        if (!option_rows[i].group) fish_option(out, &option_rows[i]);
}

bool completion_print(Str *out, const char *shell) {
    if (!strcmp(shell, "bash")) print_bash(out);
    else if (!strcmp(shell, "zsh")) print_zsh(out);
    else if (!strcmp(shell, "fish")) print_fish(out);
    else return false;
    return true;
}
