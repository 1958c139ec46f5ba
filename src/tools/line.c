#define _POSIX_C_SOURCE 200809L
#include "tools/line.h"

#include "front/builtins.h"
#include "support/vec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#if defined FSMC_LIBEDIT
#include <editline/readline.h>
#elif defined FSMC_READLINE
#include <readline/history.h>
#include <readline/readline.h>
#endif

static bool terminal;

static char *plain_line(void) {
    char *line = NULL;
    size_t size = 0;
    ssize_t n = getline(&line, &size, stdin);
    if (n < 0) {
        free(line);
        return NULL;
    }
    if (n && line[n - 1] == '\n') line[n - 1] = 0;
    return line;
}

void line_free(char *line) { free(line); }

#if defined FSMC_LIBEDIT || defined FSMC_READLINE

static VEC(char *) names;

static void learn(const char *name, void *value, void *data) {
    (void)value, (void)data;
    for (int i = 0; i < names.len; i++)
        if (!strcmp(names.data[i], name)) return;
    char *copy = strdup(name);
    if (copy) vec_push(&names, copy);
}

void line_learn(const Unit *u) {
    for (int i = 0; terminal && i < u->nmodules; i++) name_map_each(&u->modules[i]->defs, learn, NULL);
    if (terminal) builtin_each(learn, NULL);
}

static char *complete(const char *text, int state) {
    static int next;
    size_t n = strlen(text);
    if (!state) next = 0;
    while (next < names.len) {
        const char *name = names.data[next++];
        if (!strncmp(name, text, n)) return strdup(name);
    }
    return NULL;
}

static char **completions(const char *text, int start, int end) {
    (void)start, (void)end;
    rl_attempted_completion_over = 1;
    return rl_completion_matches(text, complete);
}

void line_open(void) {
    static const char *const words[] = {"let", "in", "fun", "if", "then", "elif", "else", "open", "entry", "true", "false", "not"};
    terminal = isatty(STDIN_FILENO);
    if (!terminal) return;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) learn(words[i], NULL, NULL);
    rl_readline_name = "fsmc";
    rl_attempted_completion_function = completions;
}

char *line_read(const char *prompt) {
    if (!terminal) return plain_line();
    char *line = readline(prompt);
    if (line && *line) add_history(line);
    return line;
}

#else

void line_learn(const Unit *u) { (void)u; }
void line_open(void) { terminal = isatty(STDIN_FILENO); }

char *line_read(const char *prompt) {
    if (terminal) fputs(prompt, stdout), fflush(stdout);
    return plain_line();
}

#endif
