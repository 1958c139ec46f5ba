#define _POSIX_C_SOURCE 200809L
#include "driver/options.h"

#include "driver/emit.h"
#include "driver/file.h"
#include "driver/options_table.h"
#include "driver/passes.h"
#include "driver/response.h"
#include "front/module.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void options_init(Options *o) {
    *o = (Options){.arena = arena_new(),
                   .emit = 1u << EMIT_OBJ,
                   .level = 2,
                   .fp = CPU_FP_CONTRACT,
                   .error_limit = 20,
                   .fuel = -1,
                   .lanes = -1,
                   .threads = -1};
    o->seed = 1, o->low = -1, o->high = 1, o->trials = 3, o->min_time = 1, o->runs = 20;
    for (const Pass *p = pass_table; p->name; p++) o->passes[o->npasses++] = p;
    for (const LoopPass *p = loop_passes; p->name; p++) o->loop_passes[o->nloop_passes++] = p;
    for (int i = 0; i < WARNING_COUNT; i++) o->warn[i] = warning_info[i].on;
}

void options_free(Options *o) {
    vec_free(&o->include);
    vec_free(&o->entries);
    vec_free(&o->load);
    vec_free(&o->words);
    vec_free(&o->deps_targets);
    vec_free(&o->argv);
    arena_free(o->arena);
}

const char *options_command(const Options *o) {
    const CommandRow *row = &command_rows[o->command];
    return row->shape >= SHAPE_WORD ? "" : row->name;
}

// ---- reading

typedef struct OptionReader {
    Options *o;
    Words words;
    Str *message;
    bool plain;                   // after "--"
    bool listed, given_kinds;     // --passes, --emit were given
    unsigned given[OPTION_COUNT]; // how often
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

// The number of the value among those that the option may have.
static bool choose(OptionReader *r, const OptionRow *row, const char *value, int *out) {
    const char *name;
    char option[32];
    for (int i = 0; (name = option_choice(row->value, i)); i++)
        if (!strcmp(name, value)) {
            *out = i;
            return true;
        }
    NameGuess guess = {.wanted = value};
    wrong(r, "%s: expected ", option_spelling(row, option, sizeof option));
    for (int i = 0; (name = option_choice(row->value, i)); i++) {
        str_printf(r->message, "%s%s", i == 0 ? "" : option_choice(row->value, i + 1) ? ", " : " or ", name);
        name_guess(&guess, name);
    }
    wrong(r, ", not `%s`", value);
    if (guess.best) wrong(r, "; did you mean `%s`?", guess.best);
    return false;
}

// A name that is none of those that the option may have.
static bool no_pass(OptionReader *r, const OptionRow *row, const char *name) {
    NameGuess guess = {.wanted = name};
    const char *choice;
    for (int k = 0; (choice = option_choice(row->value, k)); k++) name_guess(&guess, choice);
    wrong(r, "--%s: there is no pass `%s`", row->name, name);
    if (guess.best) return wrong(r, "; did you mean `%s`?", guess.best);
    str_puts(r->message, "; the passes are");
    for (int k = 0; (choice = option_choice(row->value, k)); k++) str_printf(r->message, " %s", choice);
    return false;
}

static bool disable_pass(OptionReader *r, const OptionRow *row, const char *name) {
    Options *o = r->o;
    const Pass *p = pass_find(name);
    const LoopPass *l = loop_pass_find(name);
    if (p) vec_push(&r->disabled, p);
    if (p) return true;
    if (!l) return no_pass(r, row, name);
    if (l->when & NEEDED) return wrong(r, "--%s: `%s` cannot be left out: code is made from what it decides", row->name, name);
    int n = 0;
    for (int k = 0; k < o->nloop_passes; k++)
        if (o->loop_passes[k] != l) o->loop_passes[n++] = o->loop_passes[k];
    o->nloop_passes = n;
    return true;
}

static bool disable_rule(OptionReader *r, const OptionRow *row, const char *name) {
    NameGuess guess = {.wanted = name};
    for (int k = 0; k < RULE_COUNT; k++) {
        name_guess(&guess, rule_info[k].name);
        if (strcmp(rule_info[k].name, name)) continue;
        if (rule_info[k].form) return wrong(r, "--%s: `%s` cannot be left out: others rely on it", row->name, name);
        return r->o->rules_off[k] = true;
    }
    wrong(r, "--%s: there is no rule `%s`", row->name, name);
    if (guess.best) return wrong(r, "; did you mean `%s`?", guess.best);
    return wrong(r, "; --explain=rules names those that apply");
}

static bool read_passes(OptionReader *r, const OptionRow *row, const char *list) {
    Options *o = r->o;
    bool loops = row->id == OPTION_LOOP_PASSES;
    int *count = loops ? &o->nloop_passes : &o->npasses;
    *(loops ? &o->loops_listed : &r->listed) = true;
    *count = 0;
    while (*list) {
        size_t n = strcspn(list, ",");
        char name[64];
        snprintf(name, sizeof name, "%.*s", (int)n, list);
        const Pass *p = loops ? NULL : pass_find(name);
        const LoopPass *l = loops ? loop_pass_find(name) : NULL;
        if (!p && !l) return no_pass(r, row, name);
        if (*count == PASS_MAX) return wrong(r, "--%s: at most %d passes can be run", row->name, PASS_MAX);
        if (p) o->passes[*count] = p;
        else o->loop_passes[*count] = l;
        ++*count;
        list += n;
        if (*list == ',') list++;
    }
    return true;
}

static bool read_topics(OptionReader *r, const OptionRow *row, const char *list) {
    if (!list || !strcmp(list, "all")) r->o->explain |= ~(1u << EXPLAIN_RULES | 1u << EXPLAIN_COST); // they are many, and it takes time
    while (list && *list && strcmp(list, "all")) {
        size_t n = strcspn(list, ",");
        int k = 0;
        while (k < EXPLAIN_TOPICS &&
               (strlen(explain_topic_name((ExplainTopic)k)) != n || strncmp(list, explain_topic_name((ExplainTopic)k), n)))
            k++;
        if (k == EXPLAIN_TOPICS) {
            wrong(r, "--%s: there is no topic `%.*s`; the topics are", row->name, (int)n, list);
            for (k = 0; k < EXPLAIN_TOPICS; k++) wrong(r, " %s", explain_topic_name((ExplainTopic)k));
            return false;
        }
        r->o->explain |= 1u << k;
        list += n + (list[n] == ',');
    }
    return true;
}

static bool read_kinds(OptionReader *r, const OptionRow *row, const char *list) {
    if (!r->given_kinds) r->o->emit = 0;
    r->given_kinds = true;
    for (const char *p = list;; p++) {
        size_t n = strcspn(p, ",");
        int k;
        if (!choose(r, row, arena_strndup(r->o->arena, p, n), &k)) return false;
        r->o->emit |= 1u << k;
        p += n;
        if (!*p) return true;
    }
}

static bool read_number(OptionReader *r, const OptionRow *row, const char *value, int max, int *out) {
    char *end, name[32];
    long n = strtol(value, &end, 10);
    if (*value < '0' || *value > '9' || *end || n > max)
        return wrong(r, "%s: expected a number from 0 to %d, not `%s`", option_spelling(row, name, sizeof name), max, value);
    *out = (int)n;
    return true;
}

// -WNAME, -Wno-NAME, -Werror=NAME, -Wno-error=NAME, where NAME may be `all`; -Werror.
static bool read_warning(OptionReader *r, const char *value) {
    Options *o = r->o;
    const char *name = value;
    bool on = strncmp(name, "no-", 3) != 0;
    if (!on) name += 3;
    bool error = !strncmp(name, "error", 5) && (!name[5] || name[5] == '=');
    if (error && !name[5]) {
        o->werror = on;
        return true;
    }
    if (error) name += 6;
    bool all = !strcmp(name, "all"), found = all;
    NameGuess guess = {.wanted = name};
    for (int i = 0; i < WARNING_COUNT; i++) {
        name_guess(&guess, warning_info[i].name);
        if (!all && strcmp(warning_info[i].name, name)) continue;
        found = true;
        if (on || !error) o->warn[i] = on;
        if (error) o->warn_error[i] = on;
    }
    if (found) return true;
    wrong(r, "-W%s: there is no warning `%s`", value, name);
    if (guess.best) return wrong(r, "; did you mean `%s`?", guess.best);
    str_puts(r->message, "; the warnings are all");
    for (int i = 0; i < WARNING_COUNT; i++) str_printf(r->message, " %s", warning_info[i].name);
    return false;
}

static bool set_engine(OptionReader *r, Engine engine) {
    if (r->o->engine != ENGINE_JIT && r->o->engine != engine) return wrong(r, "--interp and --exec exclude each other");
    r->o->engine = engine;
    return true;
}

// A number above `least`.
static bool read_real(OptionReader *r, const OptionRow *row, const char *value, double least, double *out) {
    char *end;
    *out = strtod(value, &end);
    if (end != value && !*end && isfinite(*out) && *out > least) return true;
    return wrong(r, "--%s: expected a number above %g, not `%s`", row->name, least, value);
}

static bool read_range(OptionReader *r, const OptionRow *row, const char *value, Options *o) {
    char *end;
    o->low = strtod(value, &end);
    bool ok = end != value && *end == ',';
    const char *second = end + ok;
    o->high = strtod(second, &end);
    if (ok && end != second && !*end && isfinite(o->low) && isfinite(o->high) && o->low <= o->high) return true;
    return wrong(r, "--%s: expected two numbers LOW,HIGH, not `%s`", row->name, value);
}

// A count of at least 1.
static bool read_count(OptionReader *r, const OptionRow *row, const char *value, int max, int *out) {
    if (!read_number(r, row, value, max, out)) return false;
    return *out > 0 || wrong(r, "--%s: expected a number above 0, not `%s`", row->name, value);
}

static bool read_bytes(OptionReader *r, const OptionRow *row, const char *value, int64_t *out) {
    static const char units[] = "KMG";
    char *end;
    long long n = strtoll(value, &end, 10);
    const char *unit = *end ? strchr(units, *end) : NULL;
    int shift = unit ? 10 * (int)(unit - units + 1) : 0;
    if (*value < '0' || *value > '9' || (*end && (!unit || end[1])) || n < 1 || n > INT64_MAX >> shift)
        return wrong(r, "--%s: expected a number of bytes, not `%s`", row->name, value);
    *out = (int64_t)n << shift;
    return true;
}

static bool read_lanes(OptionReader *r, const OptionRow *row, const char *value, int *out) {
    static const char *const names[] = {"0", "2", "4", "8", "auto"};
    static const int lanes[] = {0, 2, 4, 8, -1};
    for (int i = 0; i < 5; i++) {
        if (strcmp(value, names[i])) continue;
        *out = lanes[i];
        return true;
    }
    return wrong(r, "--%s: expected 0, 2, 4, 8 or auto, not `%s`", row->name, value);
}

static bool read_threads(OptionReader *r, const OptionRow *row, const char *value, int *out) {
    if (strcmp(value, "auto")) return read_count(r, row, value, 1000, out);
    *out = 0;
    return true;
}

// Words of a form that nvcc may know: they become arguments of it.
static bool read_arch(OptionReader *r, const OptionRow *row, const char *value) {
    for (const char *p = value; *p;) {
        size_t n = strcspn(p, ","), prefix = !strncmp(p, "sm_", 3) ? 3 : !strncmp(p, "compute_", 8) ? 8 : 0;
        bool ok = prefix && n > prefix && strspn(p + prefix, "0123456789af") == n - prefix;
        if (!ok) return wrong(r, "--%s: expected names like sm_90 or compute_90, separated by commas, not `%s`", row->name, value);
        p += n;
        if (*p == ',') p++;
    }
    if (!*value) return wrong(r, "--%s: expected names like sm_90 or compute_90, separated by commas, not `%s`", row->name, value);
    r->o->cuda_arch = value;
    return true;
}

static bool apply(OptionReader *r, const OptionRow *row, const char *value) {
    Options *o = r->o;
    int k = 0;
    switch (row->id) {
    case OPTION_OUTPUT: o->output = value; return true;
    case OPTION_EMIT: return read_kinds(r, row, value);
    case OPTION_LIBRARY: o->library = value; return true;
    case OPTION_ENTRY: vec_push(&o->entries, value); return true;
    case OPTION_DEPS: return o->deps_only = true;
    case OPTION_DEPS_TOO: return o->deps_too = true;
    case OPTION_DEPS_FILE: o->deps_file = value; return true;
    case OPTION_DEPS_TARGET: vec_push(&o->deps_targets, value); return true;
    case OPTION_DEPS_PHONY: return o->deps_phony = true;
    case OPTION_INCLUDE: vec_push(&o->include, value); return true;
    case OPTION_LOAD: vec_push(&o->load, value); return true;
    case OPTION_CALLS: o->calls = value; return true;
    case OPTION_LEVEL: return read_number(r, row, value, 3, &o->level);
    case OPTION_FP:
        if (!choose(r, row, value, &k)) return false;
        o->fp = (CpuFp)k;
        return true;
    case OPTION_TARGET:
        if (!choose(r, row, value, &k)) return false;
        o->target = (Target)k;
        return true;
    case OPTION_CUDA_ARCH: return read_arch(r, row, value);
    case OPTION_FAST_ATOMICS: return o->fast_atomics = true;
    case OPTION_CUBLAS: return o->cublas = true;
    case OPTION_TARGET_CPU: o->cpu = value; return true;
    case OPTION_INTERP: return set_engine(r, ENGINE_INTERP);
    case OPTION_EXEC: return set_engine(r, ENGINE_EXEC);
    case OPTION_COLOR:
        if (!choose(r, row, value, &k)) return false;
        o->color = (When)k;
        return true;
    case OPTION_BY:
        if (!choose(r, row, value, &k)) return false;
        o->by = (Measure)k;
        return true;
    case OPTION_ERROR_LIMIT: return read_number(r, row, value, 1000000, &o->error_limit);
    case OPTION_WARN: return read_warning(r, value);
    case OPTION_WERROR: return o->werror = true;
    case OPTION_PASSES:
    case OPTION_LOOP_PASSES: return read_passes(r, row, value);
    case OPTION_DISABLE_PASS: return disable_pass(r, row, value);
    case OPTION_DISABLE_RULE: return disable_rule(r, row, value);
    case OPTION_NO_COARSEN:
        for (k = 0; k < RULE_COUNT; k++) o->rules_off[k] |= rule_info[k].coarse;
        return true;
    case OPTION_FUEL: {
        int fuel;
        if (!read_number(r, row, value, INT_MAX, &fuel)) return false;
        o->fuel = fuel;
        return true;
    }
    case OPTION_DUMP_AFTER:
        o->dump_after = value;
        for (k = 0; option_choice(row->value, k); k++)
            if (!strcmp(value, option_choice(row->value, k))) return true;
        return no_pass(r, row, value);
    case OPTION_TIME_PASSES: return o->time_passes = true;
    case OPTION_EXPLAIN: return read_topics(r, row, value);
    case OPTION_CHECK_BOUNDS:
        if (!choose(r, row, value, &k)) return false;
        o->check_bounds = (When)k;
        return true;
    case OPTION_DEBUG_NAN: return o->debug_nan = true;
    case OPTION_TAPE_LIMIT: return read_bytes(r, row, value, &o->tape_limit);
    case OPTION_CODE_SIZE: return read_bytes(r, row, value, &o->code_size);
    case OPTION_MACHINE: o->machine = value; return true;
    case OPTION_LANES: return read_lanes(r, row, value, &o->lanes);
    case OPTION_THREADS: return read_threads(r, row, value, &o->threads);
    case OPTION_JOBS: return read_threads(r, row, value, &o->jobs);
    case OPTION_STRICT_NAN: return o->strict_nan = true;
    case OPTION_DEBUG: return o->debug = true;
    case OPTION_SEED: return read_number(r, row, value, INT_MAX, &o->seed);
    case OPTION_RANGE: return read_range(r, row, value, o);
    case OPTION_TRIALS: return read_count(r, row, value, 1000, &o->trials);
    case OPTION_TOLERANCE: return read_real(r, row, value, 0, &o->tolerance);
    case OPTION_STEP: return read_real(r, row, value, 0, &o->step);
    case OPTION_COMPARE: o->compare = value; return true;
    case OPTION_MIN_TIME: return read_real(r, row, value, 0, &o->min_time);
    case OPTION_RUNS: return read_count(r, row, value, 10000, &o->runs);
    case OPTION_JSON: return o->json = true;
    case OPTION_IN_PLACE: return o->in_place = true;
    case OPTION_FMT_CHECK: return o->fmt_check = true;
    case OPTION_VERIFY: return o->verify = true;
    case OPTION_HELP: return o->help = true;
    case OPTION_VERSION: return o->version = true;
    default: return false;
    }
}

// If arg is the option of this row: true, with the value that is written in the same word, or NULL.
static bool matches(const OptionRow *row, const char *arg, const char **value) {
    *value = NULL;
    if (row->group) return false;
    if (row->letter && arg[1] == row->letter && (row->value || !arg[2])) {
        if (arg[2]) *value = arg + 2;
        return true;
    }
    if (!row->name) return false;
    char name[32];
    size_t n = strlen(option_spelling(row, name, sizeof name));
    if (strncmp(arg, name, n)) return false;
    if (name[1] != '-') { // -MF FILE, -MFFILE
        if (arg[n]) *value = arg + n;
        return !arg[n] || row->value;
    }
    if (arg[n] == '=') *value = arg + n + 1;
    return !arg[n] || arg[n] == '=';
}

static bool unknown_option(OptionReader *r, const char *arg) {
    char name[64], best[32], spelled[32];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(arg, "="), arg);
    NameGuess guess = {.wanted = name + strspn(name, "-")};
    for (int i = 0; i < option_row_count; i++) {
        const char *before = guess.best;
        const OptionRow *row = &option_rows[i];
        if (row->name) name_guess(&guess, row->name + strspn(row->name, "-"));
        if (guess.best != before) option_spelling(row, best, sizeof best);
    }
    wrong(r, "unknown option `%s`", name);
    if (guess.best) return wrong(r, "; did you mean `%s`?", best);
    for (int i = 0; i < option_row_count; i++) // -ofile of an option that has no value
        if (option_rows[i].letter && option_rows[i].letter == arg[1])
            return wrong(r, ": %s takes no value", option_spelling(&option_rows[i], spelled, sizeof spelled));
    return false;
}

static bool read_option(OptionReader *r, const char *arg) {
    const OptionRow *row = NULL;
    const char *value = NULL;
    for (int i = 0; i < option_row_count && !row; i++)
        if (matches(&option_rows[i], arg, &value)) row = &option_rows[i];
    if (!row) return unknown_option(r, arg);
    char name[32];
    option_spelling(row, name, sizeof name);
    if (!row->value && value) return wrong(r, "%s takes no value", name);
    if (row->value && !value && *row->value != '[') {
        if (row->id == OPTION_LEVEL || r->words.next == r->words.list.len) return wrong(r, "%s: a value is missing", name);
        value = r->words.list.data[r->words.next++].text;
    }
    r->given[row->id]++;
    return apply(r, row, value);
}

// The command that a word which is neither a file nor a command may have been meant for.
static const char *meant_command(const char *word) {
    NameGuess guess = {.wanted = word};
    for (int i = 1; i < COMMAND_COUNT && !strpbrk(word, "./"); i++) name_guess(&guess, command_rows[i].name);
    return guess.best && access(word, F_OK) ? guess.best : NULL;
}

static bool unknown_command(OptionReader *r, const char *word) {
    wrong(r, "there is no command `%s`", word);
    const char *best = meant_command(word);
    return best ? wrong(r, "; did you mean `%s`?", best) : false;
}

static bool read_operand(OptionReader *r, const char *arg) {
    Options *o = r->o;
    if (!r->plain && !r->operands && o->command == COMMAND_COMPILE && command_named(arg) != COMMAND_COUNT) {
        o->command = command_named(arg);
        return true;
    }
    CommandShape shape = command_rows[o->command].shape;
    if (shape == SHAPE_NONE) return wrong(r, "%s takes no operand, not `%s`", command_rows[o->command].name, arg);
    int k = r->operands++;
    if (k == 0) {
        *(shape == SHAPE_WORD ? &o->word : &o->file) = arg;
        return true;
    }
    if (shape == SHAPE_WORD) return wrong(r, "%s takes one word, not also `%s`", command_rows[o->command].name, arg);
    if (shape == SHAPE_FILE || shape == SHAPE_SESSION) {
        if (o->command == COMMAND_COMPILE && meant_command(o->file)) return unknown_command(r, o->file);
        return wrong(r, "one file is compiled at a time: `%s` and `%s` were given", o->file, arg);
    }
    if (shape == SHAPE_FILES) {
        vec_push(&o->words, arg);
    } else if (k == 1) {
        vec_push(&o->entries, arg);
    } else {
        if (!strchr(arg, '=')) return wrong(r, "expected NAME=VALUE, not `%s`", arg);
        vec_push(&o->words, arg);
    }
    return true;
}

// ---- what goes with what

static bool misplaced(OptionReader *r, const OptionRow *row) {
    const char *command = command_rows[r->o->command].name;
    char name[32];
    wrong(r, "%s goes with", option_spelling(row, name, sizeof name));
    bool first = true;
    for (int i = 0; i < COMMAND_COUNT; i++) {
        if (!(row->commands & 1u << i)) continue;
        str_printf(r->message, "%s %s", first ? "" : ",", i == COMMAND_COMPILE ? "compiling" : command_rows[i].name);
        first = false;
    }
    return wrong(r, ", not with %s", *command ? command : "compiling");
}

static bool check_commands(OptionReader *r) {
    for (int i = 0; i < option_row_count; i++) {
        const OptionRow *row = &option_rows[i];
        if (!row->group && r->given[row->id] && !(row->commands & 1u << r->o->command)) return misplaced(r, row);
    }
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
        if (missing) return wrong(r, "pass `%s` has to come after `%s`", o->passes[i]->name, pass_establishing(missing));
        have |= o->passes[i]->establishes;
    }
    return true;
}

// The kind that is written, if it is one; EMIT_COUNT if there are several.
static Emit only_kind(const Options *o) {
    int k = 0;
    while (k < EMIT_COUNT && o->emit != 1u << k) k++;
    return (Emit)k;
}

static bool to_console(const Options *o) {
    if (o->output) return !strcmp(o->output, "-");
    Emit k = only_kind(o);
    return k != EMIT_COUNT && emit_rows[k].place == PLACE_CONSOLE;
}

// What stands from the last dot on.
static const char *last_suffix(const char *path) {
    const char *dot = strrchr(file_base(path), '.');
    return dot ? dot : "";
}

// Without --emit, the name of the output says what it is: what is no object is not written into a file as one. A
// device, a pipe and standard output have no such name.
static bool choose_kind(OptionReader *r) {
    Options *o = r->o;
    if (!o->output || r->given_kinds || !strcmp(o->output, "-") || !emit_is_regular(o->output)) return true;
    const char *suffix = last_suffix(o->output);
    for (int k = 0; k < EMIT_COUNT; k++) {
        if (strcmp(suffix, last_suffix(emit_rows[k].suffix))) continue;
        o->emit = 1u << k;
        return true;
    }
    wrong(r, "-o %s does not say what is written; names end in", o->output);
    for (int k = 0; k < EMIT_COUNT; k++)
        wrong(r, "%s %s (%s)", k ? "," : "", last_suffix(emit_rows[k].suffix), emit_rows[k].name);
    return wrong(r, "; --emit=KIND goes with any name");
}

// What a GPU is for: the kind.
static bool check_target(OptionReader *r) {
    Options *o = r->o;
    if (o->emit & 1u << EMIT_CUDA) o->target = TARGET_CUDA;
    if (o->target == TARGET_CPU && (o->cuda_arch || o->fast_atomics || o->cublas))
        return wrong(r, "--%s goes with --target=cuda", o->cuda_arch ? "cuda-arch" : o->cublas ? "cublas" : "fast-atomics");
    if (o->target == TARGET_CPU) return true;
    static const Emit cpu_only[] = {EMIT_LLVM, EMIT_ASM, EMIT_PYTHON};
    for (int i = 0; i < 3; i++)
        if (o->emit & 1u << cpu_only[i]) return wrong(r, "--emit=%s does not go with --target=cuda", emit_rows[cpu_only[i]].name);
    return true;
}

static bool check_output(OptionReader *r) {
    const Options *o = r->o;
    if (!check_target(r)) return false;
    Emit only = only_kind(o);
    if (o->library && !(o->emit & 1u << EMIT_PYTHON)) return wrong(r, "--library goes with --emit=python");
    if (!o->output && !strcmp(o->file, "-") && !to_console(o))
        return wrong(r, "the program comes from standard input: name the output with -o FILE");
    if (to_console(o)) {
        if (only == EMIT_COUNT) return wrong(r, "several kinds of output are not written to standard output");
        if (only == EMIT_OBJ) return wrong(r, "an object is not written to standard output");
        if (only == EMIT_PYTHON && !o->library)
            return wrong(r, "a module on standard output needs --library: nothing is linked for it");
    }
    size_t n = o->output ? strlen(o->output) : 0;
    if (only == EMIT_OBJ && n >= 2 && !strcmp(o->output + n - 2, ".h"))
        return wrong(r, "-o %s would be both the object and its header", o->output);
    return true;
}

// What is asked of dependencies must say where they go and what depends on them.
static bool check_deps(OptionReader *r) {
    Options *o = r->o;
    if (o->deps_only && o->deps_too) return wrong(r, "-M and -MD exclude each other");
    if (o->deps_file && !o->deps_only) o->deps_too = true;
    if (!o->deps_only && !o->deps_too && (o->deps_targets.len || o->deps_phony))
        return wrong(r, "%s goes with -M, -MD or -MF", o->deps_targets.len ? "-MT" : "-MP");
    bool console = to_console(o) || (!o->output && !strcmp(o->file, "-"));
    if (!o->deps_only && !o->deps_too) return true;
    if (console && !o->deps_targets.len)
        return wrong(r, "the rule has no target: the output goes to no file, name one with -MT TARGET");
    if (o->deps_too && console && !o->deps_file) return wrong(r, "name the file of the rule with -MF FILE");
    if (o->deps_too && console && !strcmp(o->deps_file, "-")) return wrong(r, "the output and -MF cannot both be standard output");
    return true;
}

static bool check_shell(OptionReader *r) {
    const char *shell, *word = r->o->word;
    for (int i = 0; word && (shell = option_choice("SHELL", i)); i++)
        if (!strcmp(shell, word)) return true;
    wrong(r, "the name of a shell is expected: bash, zsh or fish");
    return word ? wrong(r, ", not `%s`", word) : false;
}

static bool check_operands(OptionReader *r) {
    const Options *o = r->o;
    CommandShape shape = command_rows[o->command].shape;
    if (o->command == COMMAND_USAGE && o->word && command_named(o->word) == COMMAND_COUNT) return unknown_command(r, o->word);
    if (o->command == COMMAND_COMPLETION) return check_shell(r);
    if (shape >= SHAPE_WORD) return true;
    if (shape == SHAPE_SESSION && !o->file) return true;
    if (!o->file) return wrong(r, "a file is expected");
    if (shape == SHAPE_CALL && !o->entries.len) return wrong(r, "the name of an entry is expected after `%s`", o->file);
    if (o->compare) vec_push(&r->o->entries, o->compare);
    if (o->in_place && o->fmt_check) return wrong(r, "--in-place and --check exclude each other");
    if (o->command != COMMAND_COMPILE) return true;
    if (!r->plain && meant_command(o->file)) return unknown_command(r, o->file);
    return choose_kind(r) && check_deps(r) && (o->deps_only || check_output(r));
}

static bool read_words(OptionReader *r) {
    bool ok = true;
    while (ok && r->words.next < r->words.list.len) {
        const char *arg = r->words.list.data[r->words.next++].text;
        if (r->plain || (arg[0] != '-' && arg[0] != '@') || (arg[0] == '-' && !arg[1])) ok = read_operand(r, arg);
        else if (arg[0] == '@') ok = response_expand(&r->words, r->o->arena, r->message);
        else if (!strcmp(arg, "--")) r->plain = true;
        else ok = read_option(r, arg);
    }
    return ok;
}

bool options_parse(Options *o, int argc, char *const *argv, Str *message) {
    OptionReader r = {.o = o, .message = message};
    for (int i = 1; i < argc; i++) vec_push(&r.words.list, ((Word){argv[i], 0}));
    bool ok = read_words(&r);
    if (ok && !o->help && !o->version) ok = check_commands(&r) && choose_passes(&r) && check_operands(&r);
    vec_push(&o->argv, argc ? argv[0] : "fsmc");
    for (int i = 0; i < r.words.list.len; i++) vec_push(&o->argv, r.words.list.data[i].text);
    vec_free(&r.words.list);
    vec_free(&r.disabled);
    return ok;
}
