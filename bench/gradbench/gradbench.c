// fsmc-gradbench: a tool of GradBench (https://github.com/gradbench/gradbench, CONTRIBUTING.md). Reads a message a line from
// standard input and answers it on standard output.
// usage: fsmc-gradbench [OPTION of `fsmc run`]... FOLDER
//   FOLDER has MODULE.fsm for each module that is offered; without options, --fp=fast and one thread
#define _POSIX_C_SOURCE 200809L
#include "module.h"

#include "driver/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EXIT_MESSAGE = 1, EXIT_OPTIONS = 2 };

static const char *folder;
static int noptions;
static char **options;
static BenchModule *modules; // that were defined

// ---- answers

static void put_timing(Str *out, const char *name, double seconds) {
    str_printf(out, "{\"name\": \"%s\", \"nanoseconds\": %lld}", name, (long long)(seconds * 1e9));
}

static void put_error(Str *out, const char *text) {
    json_t *quoted = json_string(text);
    char *dumped = json_dumps(quoted ? quoted : json_null(), JSON_ENCODE_ANY);
    str_printf(out, ", \"success\": false, \"error\": %s", dumped ? dumped : "null");
    free(dumped);
    json_decref(quoted);
}

static BenchModule *find(const char *name) {
    for (BenchModule *m = modules; m; m = m->next)
        if (!strcmp(m->name, name)) return m;
    return NULL;
}

static void define(Str *out, const json_t *message) {
    const char *name = json_string_value(json_object_get(message, "module"));
    Str error = {0};
    BenchModule *m = find(name ? name : "");
    if (!m && name && (m = module_open(folder, name, noptions, options, &error))) m->next = modules, modules = m;
    if (m) {
        str_puts(out, ", \"success\": true, \"timings\": [");
        put_timing(out, "compile", m->compile_s);
        str_putc(out, ']');
    } else {
        put_error(out, name ? str_text(&error) : "the message names no module");
    }
    str_free(&error);
}

static void evaluate(Str *out, const json_t *message) {
    const char *name = json_string_value(json_object_get(message, "module"));
    const char *function = json_string_value(json_object_get(message, "function"));
    BenchModule *m = find(name ? name : "");
    Result r = {0};
    if (!m || !function) put_error(out, m ? "the message names no function" : "this module was not defined");
    else if (!module_call(m, function, json_object_get(message, "input"), &r)) put_error(out, str_text(&r.error));
    else {
        str_printf(out, ", \"success\": true, \"output\": %s, \"timings\": [", str_text(&r.output));
        put_timing(out, "prepare", r.prepare_s);
        for (int i = 0; i < r.seconds.len; i++) {
            str_puts(out, ", ");
            put_timing(out, "evaluate", r.seconds.data[i]);
        }
        str_putc(out, ']');
    }
    result_free(&r);
}

// False if the line is no message.
static bool answer(const char *line, size_t length) {
    json_error_t e;
    json_t *message = json_loadb(line, length, 0, &e);
    const json_t *id = json_object_get(message, "id");
    const char *kind = json_string_value(json_object_get(message, "kind"));
    Str out = {0};
    bool ok = json_is_integer(id) && kind;
    if (!message) fprintf(stderr, "fsmc-gradbench: this is not JSON: %s (column %d)\n", e.text, e.column);
    else if (!ok) fprintf(stderr, "fsmc-gradbench: a message has an integer `id` and a string `kind`\n");
    else {
        str_printf(&out, "{\"id\": %lld", (long long)json_integer_value(id));
        if (!strcmp(kind, "start")) str_puts(&out, ", \"tool\": \"fsmc\"");
        if (!strcmp(kind, "define")) define(&out, message);
        if (!strcmp(kind, "evaluate")) evaluate(&out, message);
        str_putc(&out, '}');
        puts(str_text(&out));
        fflush(stdout);
    }
    str_free(&out);
    json_decref(message);
    return ok;
}

int main(int argc, char **argv) {
    if (argc < 2 || argv[argc - 1][0] == '-') {
        fprintf(stderr, "usage: fsmc-gradbench [OPTION of `fsmc run`]... FOLDER\n");
        return EXIT_OPTIONS;
    }
    folder = argv[argc - 1], noptions = argc - 2, options = argv + 1;
    char *line = NULL;
    size_t capacity = 0;
    ssize_t length;
    bool ok = true;
    while (ok && (length = getline(&line, &capacity, stdin)) > 0)
        if (line[strspn(line, " \t\r\n")]) ok = answer(line, (size_t)length);
    free(line);
    while (modules) {
        BenchModule *next = modules->next;
        module_close(modules);
        modules = next;
    }
    return ok ? 0 : EXIT_MESSAGE;
}
