// Runs the test-suite: golden commands, parser goldens, unit programs and pages of documentation, several at a time.
// tests/README.md describes the files.
#define _GNU_SOURCE
#include "pages.h"
#include "times.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <glob.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { EXIT_SKIP = 77, DIFF_LINES = 120, DEAREST = 10, COSTS = 60 };

// A limit is in seconds of processor time without further output, of a case with all its processes, so that it means the same on
// a busy machine. What sleeps or hangs is stopped after so many times as long by the clock.
enum { LIMIT_GOLDEN = 120, LIMIT_UNIT = 600, CLOCK_FACTOR = 20 };

typedef enum Kind {
    KIND_UNIT,    // unit/NAME.c, built as a program
    KIND_PROGRAM, // ad/NAME.fsm, which ad_programs runs
    KIND_CMD,     // NAME.cmd with NAME.out
    KIND_PARSE,   // parse/NAME.fsm with NAME.ast or NAME.err
    KIND_PAGE,    // the blocks of a page, whose path is the name
    KIND_SOURCE,  // messages/NAME.fsm with NAME.out: its first line says how to run it
    KIND_BROKEN,  // a file that looks like part of a test but is not; `problem` says why
} Kind;

typedef enum State { STATE_WAITING, STATE_RUNNING, STATE_ENDED } State;

typedef struct Case {
    Kind kind;
    char *name; // path below tests/ without suffix; of a page, below the root
    char *problem;
    State state;
    bool judged;
    pid_t pid;
    int status; // as a shell shows it: 128 + signal for a killed process
    double cost;      // what it is expected to use, in seconds of processor time; 0: not known
    double reaped;    // seconds of processor time of its processes that have ended, children that they waited for included
    double used;      // of all of its processes, when it was last looked at
    double limit;     // see LIMIT_GOLDEN
    char *stopped;    // why it was stopped, or NULL
    double last_used, last_time; // when it last had written something
    off_t written;    // bytes of its output by then
} Case;

static const char *root = FSMC_ROOT, *build = FSMC_BUILD;
static char *tmp_root;
static bool update, verbose;
static Case *cases;
static size_t case_count;
static int passed, failed, skipped;
static Times costs; // from earlier runs
static char *skip_list;

// --- Text --------------------------------------------------------------------------------------------------------

__attribute__((format(printf, 1, 2))) static char *format(const char *fmt, ...) {
    char *s;
    va_list ap;
    va_start(ap, fmt);
    if (vasprintf(&s, fmt, ap) < 0) abort();
    va_end(ap);
    return s;
}

// The text of a file and its length, NUL-terminated; NULL if it cannot be read.
static char *read_file(const char *path, size_t *size) {
    FILE *f = fopen(path, "rb");
    if (!f) return NULL;
    char *text = NULL;
    *size = 0;
    FILE *out = open_memstream(&text, size);
    char chunk[65536];
    for (size_t n; (n = fread(chunk, 1, sizeof chunk, f)) > 0;) fwrite(chunk, 1, n, out);
    fclose(f);
    fclose(out);
    return text;
}

static bool write_file(const char *path, const char *text, size_t size) {
    FILE *f = fopen(path, "wb");
    if (!f) return false;
    bool ok = fwrite(text, 1, size, f) == size;
    return fclose(f) == 0 && ok;
}

// What the case wrote ("out" or "err"), with the paths that differ between machines replaced by their variables.
static char *read_output(size_t number, const char *which, size_t *size) {
    char *path = format("%s/%zu.%s", tmp_root, number, which);
    char *text = read_file(path, size);
    free(path);
    if (!text) text = strdup(""), *size = 0;
    char *tmp = format("%s/%zu", tmp_root, number);
    const char *paths[][2] = {{tmp, "$FSMC_TEST_TMP"}, {build, "$FSMC_BUILD"}, {root, "$FSMC_ROOT"}};
    for (int i = 0; i < 3; i++) {
        char *next = NULL, *from = text, *end = text + *size, *hit;
        FILE *out = open_memstream(&next, size);
        size_t len = strlen(paths[i][0]);
        while ((hit = memmem(from, (size_t)(end - from), paths[i][0], len))) {
            fwrite(from, 1, (size_t)(hit - from), out);
            fputs(paths[i][1], out);
            from = hit + len;
        }
        fwrite(from, 1, (size_t)(end - from), out);
        fclose(out);
        free(text);
        text = next;
    }
    free(tmp);
    return text;
}

// --- Discovery ---------------------------------------------------------------------------------------------------

static bool test_file_exists(const char *name, const char *suffix) {
    char *path = format("%s/tests/%s%s", root, name, suffix);
    bool exists = access(path, F_OK) == 0;
    free(path);
    return exists;
}

static void add_case(Kind kind, const char *name, char *problem) {
    cases = realloc(cases, (case_count + 1) * sizeof *cases);
    if (!cases) abort();
    cases[case_count++] = (Case){.kind = kind, .name = strdup(name), .problem = problem};
}

static void add_file(const char *name, const char *suffix) {
    bool parse = !strncmp(name, "parse/", 6), message = !strncmp(name, "messages/", 9);
    if (!strcmp(suffix, ".cmd")) {
        add_case(KIND_CMD, name, NULL);
    } else if (!strcmp(suffix, ".c") && (!strncmp(name, "unit/", 5) || !strncmp(name, "cuda/", 5))) {
        add_case(KIND_UNIT, name, NULL);
    } else if (!strcmp(suffix, ".fsm") && !strncmp(name, "ad/", 3)) {
        add_case(KIND_PROGRAM, name, NULL);
    } else if (test_file_exists(name, ".cmd")) {
        return;
    } else if (!strcmp(suffix, ".fsm") && parse) {
        add_case(KIND_PARSE, name, NULL);
    } else if (!strcmp(suffix, ".fsm") && message) {
        add_case(KIND_SOURCE, name, NULL);
    } else if (!strcmp(suffix, ".out") && !(message && test_file_exists(name, ".fsm"))) {
        add_case(KIND_BROKEN, name, format("there is a %s file, but no .cmd file", suffix));
    } else if (!strcmp(suffix, ".ast") || !strcmp(suffix, ".err")) {
        if (!parse || !test_file_exists(name, ".fsm"))
            add_case(KIND_BROKEN, name, format("there is a %s file, but no test that uses it", suffix));
    }
}

static bool is_directory(const char *name) {
    char *path = format("%s/tests/%s", root, name);
    struct stat st;
    bool directory = stat(path, &st) == 0 && S_ISDIR(st.st_mode);
    free(path);
    return directory;
}

static void discover(const char *below) {
    char *dir = format("%s/tests/%s", root, below);
    struct dirent **entries;
    int n = scandir(dir, &entries, NULL, alphasort);
    free(dir);
    for (int i = 0; i < n; i++) {
        char *entry = entries[i]->d_name;
        if (entry[0] != '.') {
            char *name = format("%s%s", below, entry);
            if (is_directory(name)) {
                char *inner = format("%s/", name);
                discover(inner);
                free(inner);
            } else {
                char *dot = strrchr(name, '.');
                char *suffix = strdup(dot && !strchr(dot, '/') ? dot : "");
                name[strlen(name) - strlen(suffix)] = 0;
                add_file(name, suffix);
                free(suffix);
            }
            free(name);
        }
        free(entries[i]);
    }
    if (n >= 0) free(entries);
}

static void discover_pages(void) {
    static const char *const patterns[] = {"*.md", "docs/*.md", "tests/*.md", "examples/*.md", "examples/*/*.md"};
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
        char *pattern = format("%s/%s", root, patterns[i]);
        glob_t found;
        if (!glob(pattern, 0, NULL, &found))
            for (size_t k = 0; k < found.gl_pathc; k++) add_case(KIND_PAGE, found.gl_pathv[k] + strlen(root) + 1, NULL);
        globfree(&found);
        free(pattern);
    }
}

static bool reports_tests(const Case *c) { return c->kind == KIND_UNIT || c->kind == KIND_PROGRAM || c->kind == KIND_PAGE; }

// The dearest start first, so that the last ones to end are short. Of what is not known, unit programs and pages take longest.
static int compare_cases(const void *a, const void *b) {
    const Case *x = a, *y = b;
    if (x->cost != y->cost) return x->cost < y->cost ? 1 : -1;
    int units = reports_tests(y) - reports_tests(x);
    return units ? units : strcmp(x->name, y->name);
}

// A filter may name a block of a page, `docs/language.md:120`; the page runs as a whole.
static bool is_selected(const Case *c, const char *filter) {
    return strstr(c->name, filter) || (c->kind == KIND_PAGE && !strncmp(filter, c->name, strlen(c->name)));
}

static void select_cases(char **filters, int count) {
    size_t kept = 0;
    for (size_t i = 0; i < case_count; i++) {
        bool keep = count == 0;
        for (int k = 0; k < count; k++) keep |= is_selected(&cases[i], filters[k]);
        if (keep) cases[kept++] = cases[i];
        else free(cases[i].name), free(cases[i].problem);
    }
    case_count = kept;
}

// --- Running -----------------------------------------------------------------------------------------------------

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void redirect(int to, const char *path, int flags) {
    int fd = open(path, flags, 0666);
    if (fd < 0 || dup2(fd, to) < 0) _exit(126);
    close(fd);
}

// The command of messages/NAME.fsm: after `// $ ` in its first line, where $F is the file; else it is checked.
static const char *command_of(const char *file) {
    size_t size;
    char *text = read_file(file, &size);
    setenv("F", file, 1);
    if (!text || strncmp(text, "// $ ", 5)) return "fsmc check $F";
    return strndup(text + 5, strcspn(text + 5, "\n"));
}

// In the child process: becomes the case.
static void exec_case(const Case *c, size_t number) {
    setpgid(0, 0);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    redirect(0, "/dev/null", O_RDONLY);
    redirect(1, format("%s/%zu.out", tmp_root, number), O_WRONLY | O_CREAT | O_TRUNC);
    redirect(2, format("%s/%zu.err", tmp_root, number), O_WRONLY | O_CREAT | O_TRUNC);
    setenv("FSMC_TEST_TMP", format("%s/%zu", tmp_root, number), 1);
    if (c->kind == KIND_PAGE) {
        int status = page_check(root, c->name, update);
        fflush(NULL);
        _exit(status);
    }
    char *path = format("%s/tests/%s", root, c->name), *slash = strrchr(path, '/');
    *slash = 0;
    if (chdir(path) < 0) _exit(126);
    if (c->kind == KIND_PARSE) {
        execlp("fsmc", "fsmc", "parse", format("%s.fsm", slash + 1), NULL);
    } else if (c->kind == KIND_SOURCE) {
        execl("/bin/sh", "sh", "-c", command_of(format("%s.fsm", slash + 1)), NULL);
    } else if (c->kind == KIND_UNIT) {
        const char *program = format("%s/tests/%s", build, slash + 1);
        execl(program, program, NULL);
    } else if (c->kind == KIND_PROGRAM) {
        const char *program = format("%s/tests/ad_programs", build);
        execl(program, program, format("%s.fsm", slash + 1), NULL);
    } else {
        size_t size;
        char *script = read_file(format("%s.cmd", slash + 1), &size);
        if (script) execl("/bin/sh", "sh", "-c", script, NULL);
    }
    fprintf(stderr, "cannot run it: %s\n", strerror(errno));
    _exit(126);
}

static void start(Case *c, size_t number) {
    char *tmp = format("%s/%zu", tmp_root, number);
    mkdir(tmp, 0777);
    free(tmp);
    fflush(NULL);
    const char *limit = getenv("FSMC_TEST_TIMEOUT");
    c->limit = limit ? atof(limit) : reports_tests(c) ? LIMIT_UNIT : LIMIT_GOLDEN;
    c->last_time = now();
    c->pid = fork();
    if (c->pid == 0) exec_case(c, number);
    if (c->pid < 0) {
        c->problem = format("cannot start it: %s", strerror(errno));
        c->state = STATE_ENDED;
        return;
    }
    setpgid(c->pid, c->pid);
    c->state = STATE_RUNNING;
}

// Whether a case has written something since this was last asked: then its limit counts from now on.
static bool goes_on(Case *c, size_t number) {
    struct stat st;
    char *out = format("%s/%zu.out", tmp_root, number);
    bool more = !stat(out, &st) && st.st_size > c->written;
    free(out);
    if (more) c->last_used = c->used, c->last_time = now(), c->written = st.st_size;
    return more;
}

static void stop(Case *c, char *why) {
    free(c->stopped);
    c->stopped = why;
    kill(-c->pid, SIGKILL);
}

static void check_limits(void) {
    static double last;
    if (now() < last + 0.5) return; // looking through all processes has its price
    last = now();
    for (size_t i = 0; i < case_count; i++) {
        Case *c = &cases[i];
        if (c->state != STATE_RUNNING || c->stopped) continue;
        c->used = c->reaped + times_of_group(c->pid);
        double used = c->used - c->last_used, time = now() - c->last_time;
        bool busy = used > c->limit;
        if ((!busy && time <= CLOCK_FACTOR * c->limit) || goes_on(c, i)) continue;
        stop(c, busy ? format("it used %.1f s of processor time without further output and was stopped; the limit is %g s", used,
                              c->limit)
                     : format("it took %.1f s by the clock, and %.1f s of processor time, without further output and was stopped; "
                              "the limit is %g s by the clock",
                              time, used, CLOCK_FACTOR * c->limit));
    }
}

static void kill_running(void) {
    for (size_t i = 0; i < case_count; i++)
        if (cases[i].state == STATE_RUNNING) stop(&cases[i], strdup("interrupted"));
}

// The case that runs as this group, or NULL.
static Case *case_of_group(pid_t group) {
    for (size_t i = 0; i < case_count; i++)
        if (cases[i].state == STATE_RUNNING && cases[i].pid == group) return &cases[i]; // numbers of ended ones are given again
    return NULL;
}

// Waits for a process that has ended: a case, or one that its parent left behind. True if it was a case.
static bool reap(pid_t pid) {
    Case *c = case_of_group(getpgid(pid));
    struct rusage usage;
    int status;
    if (wait4(pid, &status, 0, &usage) != pid || !c) return false;
    c->reaped += times_of_usage(&usage);
    if (c->pid != pid) return false;
    c->status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    c->state = STATE_ENDED;
    return true;
}

// Waits until a case ends or its time is up; returns how many ended.
static int wait_for_some(const sigset_t *signals) {
    int signal = sigtimedwait(signals, NULL, &(struct timespec){0, 200000000});
    if (signal == SIGINT || signal == SIGTERM) {
        kill_running();
        return -1;
    }
    check_limits();
    int ended = 0;
    for (siginfo_t info = {0}; !waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) && info.si_pid; info.si_pid = 0)
        ended += reap(info.si_pid);
    return ended;
}

// --- Judging -----------------------------------------------------------------------------------------------------

__attribute__((format(printf, 2, 3))) static void report_failure(const char *name, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    printf("FAILED %s: ", name);
    vprintf(fmt, ap);
    putchar('\n');
    va_end(ap);
    failed++;
}

static void report_skip(const char *name, const char *why) {
    char *list = format("%sskipped %s: %s\n", skip_list ? skip_list : "", name, why);
    free(skip_list);
    skip_list = list;
    skipped++;
}

static void report_pass(const char *name) {
    if (verbose) printf("passed %s\n", name);
    passed++;
}

// Prints at most DIFF_LINES lines of a text, indented.
static void print_lines(const char *text, size_t size) {
    const char *end = text + size;
    for (int line = 0; text < end; line++) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        const char *stop = newline ? newline : end;
        if (line == DIFF_LINES) {
            puts("    …");
            return;
        }
        printf("    %.*s\n", (int)(stop - text), text);
        text = stop + 1;
    }
}

static void print_diff(const char *golden, const char *text, size_t size) {
    char *actual = format("%s/actual", tmp_root);
    write_file(actual, text, size);
    char *command = format("diff -a -u -L expected -L actual '%s' '%s'", golden, actual);
    fflush(stdout);
    FILE *diff = popen(command, "r");
    if (diff) {
        char line[4096];
        for (int n = 0; fgets(line, sizeof line, diff); n++)
            if (n < DIFF_LINES) printf("    %s", line);
        pclose(diff);
    }
    free(command);
    free(actual);
}

static bool crashed(int status) {
    return status == 128 + SIGSEGV || status == 128 + SIGABRT || status == 128 + SIGBUS || status == 128 + SIGFPE ||
           status == 128 + SIGILL || status == 128 + SIGKILL || status == 128 + SIGTRAP;
}

// Compares a text with the golden file tests/NAME.suffix, or rewrites that file. Prints what differs.
static bool matches(const Case *c, const char *suffix, const char *text, size_t size) {
    char *path = format("%s/tests/%s%s", root, c->name, suffix);
    size_t golden_size = 0;
    char *golden = read_file(path, &golden_size);
    bool same = golden && golden_size == size && !memcmp(golden, text, size);
    if (!same && update) {
        same = write_file(path, text, size);
        if (same) printf("wrote tests/%s%s\n", c->name, suffix);
    }
    if (!same) {
        report_failure(c->name, golden ? "%s differs" : "%s is missing (--update writes it)", suffix);
        if (golden) print_diff(path, text, size);
        if (!golden) print_lines(text, size);
    }
    free(golden);
    free(path);
    return same;
}

static void remove_golden(const Case *c, const char *suffix) {
    char *path = format("%s/tests/%s%s", root, c->name, suffix);
    if (unlink(path) == 0) printf("removed tests/%s%s\n", c->name, suffix);
    free(path);
}

static void put_text(FILE *to, const char *text, size_t size) {
    fwrite(text, 1, size, to);
    if (size && text[size - 1] != '\n') putc('\n', to);
}

static void judge_cmd(const Case *c, const char *out, size_t out_size, const char *err, size_t err_size) {
    char *text;
    size_t size;
    FILE *f = open_memstream(&text, &size);
    if (err_size || c->status) put_text(f, out, out_size);
    else fwrite(out, 1, out_size, f);
    if (err_size) fputs("--- stderr\n", f), put_text(f, err, err_size);
    if (c->status) fprintf(f, "--- exit %d\n", c->status);
    fclose(f);
    if (c->status == EXIT_SKIP) {
        char *why = out_size ? strndup(out, strcspn(out, "\n")) : strndup(err, strcspn(err, "\n"));
        report_skip(c->name, why);
        free(why);
    } else if (crashed(c->status)) {
        report_failure(c->name, "crashed");
        print_lines(text, size);
    } else if (matches(c, ".out", text, size)) {
        report_pass(c->name);
    }
    free(text);
}

static void judge_parse(const Case *c, const char *out, size_t out_size, const char *err, size_t err_size) {
    if (c->status > 1) {
        report_failure(c->name, "exit status %d", c->status);
        print_lines(err, err_size);
        return;
    }
    bool has_ast = test_file_exists(c->name, ".ast"), has_err = test_file_exists(c->name, ".err");
    if (update) {
        has_ast = c->status == 0 || out_size;
        has_err = c->status == 1 || err_size;
        if (!has_ast) remove_golden(c, ".ast");
        if (!has_err) remove_golden(c, ".err");
    }
    if (!has_ast && !has_err) {
        report_failure(c->name, "neither .ast nor .err exists (--update writes them)");
    } else if (!has_err && (c->status || err_size)) {
        report_failure(c->name, "diagnostics (exit status %d), but there is no .err file", c->status);
        print_lines(err, err_size);
    } else if (!has_ast && c->status == 0) {
        report_failure(c->name, "exit status 0, but there is no .ast file");
    } else if ((!has_ast || matches(c, ".ast", out, out_size)) && (!has_err || matches(c, ".err", err, err_size))) {
        report_pass(c->name);
    }
}

// A unit program, ad_programs or page prints "ok NAME", "not ok NAME: why" and "skip NAME: why"; other lines are comments.
static void judge_unit(const Case *c, char *out, const char *err, size_t err_size) {
    int tests = 0, failed_before = failed;
    const char *colon = c->kind == KIND_PAGE ? ":" : ": ";
    for (char *line = strtok(out, "\n"); line; line = strtok(NULL, "\n")) {
        char *name = NULL;
        if (!strncmp(line, "ok ", 3)) {
            report_pass(name = format("%s%s%s", c->name, colon, line + 3));
        } else if (!strncmp(line, "not ok ", 7)) {
            char *why = strchr(line, ':');
            if (why) *why++ = 0;
            name = format("%s%s%s", c->name, colon, line + 7);
            report_failure(name, "%s", why ? why + strspn(why, " ") : "");
        } else if (!strncmp(line, "skip ", 5)) {
            char *why = strchr(line, ':');
            if (why) *why++ = 0;
            report_skip(name = format("%s%s%s", c->name, colon, line + 5), why ? why + strspn(why, " ") : "");
        } else {
            continue;
        }
        free(name);
        tests++;
    }
    if (crashed(c->status)) report_failure(c->name, "crashed with status %d after %d tests", c->status, tests);
    else if (c->status && failed == failed_before) report_failure(c->name, "exit status %d, though no test failed", c->status);
    else if (!tests) report_failure(c->name, "it reported no test");
    if (failed > failed_before || (update && c->kind == KIND_PAGE)) print_lines(err, err_size);
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw) {
    (void)st, (void)type, (void)ftw;
    return remove(path);
}

static void judge(const Case *c, size_t number) {
    if (c->problem) {
        report_failure(c->name, "%s", c->problem);
        return;
    }
    size_t out_size, err_size;
    char *out = read_output(number, "out", &out_size), *err = read_output(number, "err", &err_size);
    if (c->stopped) {
        report_failure(c->name, "%s", c->stopped);
        print_lines(err, err_size);
    } else if (c->kind == KIND_CMD || c->kind == KIND_SOURCE) {
        judge_cmd(c, out, out_size, err, err_size);
    } else if (c->kind == KIND_PARSE) {
        judge_parse(c, out, out_size, err, err_size);
    } else {
        judge_unit(c, out, err, err_size);
    }
    fflush(stdout);
    free(out);
    free(err);
    char *tmp = format("%s/%zu", tmp_root, number);
    nftw(tmp, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
    free(tmp);
}

// Judges a case, and keeps what it has used.
static void finish(Case *c, size_t number) {
    c->judged = true;
    judge(c, number);
    if (c->kind != KIND_BROKEN && !c->problem && !c->stopped) times_set(&costs, c->name, c->reaped);
}

// Keeps `jobs` cases running, and judges each when it ends. Returns false when interrupted.
static bool run_all(long jobs) {
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGCHLD);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    sigprocmask(SIG_BLOCK, &signals, NULL);
    long running = 0;
    size_t next = 0;
    while (next < case_count || running) {
        for (; next < case_count && running < jobs; next++) {
            if (cases[next].kind == KIND_BROKEN) cases[next].state = STATE_ENDED;
            else start(&cases[next], next);
            if (cases[next].state == STATE_RUNNING) running++;
            else finish(&cases[next], next);
        }
        if (running && wait_for_some(&signals) < 0) return false;
        for (size_t i = 0; i < next; i++) {
            if (cases[i].state != STATE_ENDED || cases[i].judged) continue;
            finish(&cases[i], i);
            running--;
        }
    }
    return true;
}

// --- Costs -------------------------------------------------------------------------------------------------------

// What each case is expected to use: as this build has seen it, else as tests/costs says of the dearest.
static char *read_costs(void) {
    const char *given = getenv("FSMC_TEST_TIMES");
    char *file = given ? strdup(given) : format("%s/test-times", build), *committed = format("%s/tests/costs", root);
    Times first = {0};
    times_read(&costs, file);
    times_read(&first, committed);
    for (size_t i = 0; i < case_count; i++) {
        double known = times_get(&costs, cases[i].name);
        cases[i].cost = known > 0 ? known : times_get(&first, cases[i].name);
    }
    times_free(&first);
    free(committed);
    return file;
}

static int update_costs(void) {
    char *file = read_costs(), *committed = format("%s/tests/costs", root);
    bool ok = costs.n > 0 && times_write(&costs, committed, COSTS, true);
    if (ok) printf("wrote tests/costs\n");
    else fprintf(stderr, "fsmc_tests: %s\n", costs.n ? strerror(errno) : "no times are known: run the tests first");
    free(file);
    free(committed);
    return !ok;
}

static void print_dearest(size_t most) {
    Times run = {0};
    for (size_t i = 0; i < case_count; i++) times_set(&run, cases[i].name, cases[i].reaped);
    times_sort(&run);
    double all = times_sum(&run);
    printf("the dearest tests, in seconds of processor time (%.1f in all):\n", all);
    for (size_t i = 0; i < run.n && i < most; i++)
        printf("%8.1f %5.1f%%  %s\n", run.row[i].seconds, all > 0 ? 100 * run.row[i].seconds / all : 0, run.row[i].name);
    times_free(&run);
}

static bool is_installed(const char *program) {
    char *command = format("command -v %s >/dev/null 2>&1", program);
    bool is = system(command) == 0;
    free(command);
    return is;
}

static void set_environment(void) {
    const char *path = getenv("PATH");
    char *with_build = format("%s:%s", build, path ? path : "/usr/bin:/bin");
    setenv("PATH", with_build, 1);
    free(with_build);
    setenv("CC", FSMC_CC, 1);
    // What compiles generated C++: without optimisation, Clang takes half as long as GCC.
    if (!getenv("FSMC_CXX")) setenv("FSMC_CXX", is_installed("clang++") ? "clang++" : "g++", 1);
    setenv("FSMC_ROOT", root, 1);
    setenv("FSMC_BUILD", build, 1);
    setenv("LC_ALL", "C", 1);
    setenv("UBSAN_OPTIONS", "print_stacktrace=1", 0);
    const char *tmp = getenv("TMPDIR");
    tmp_root = format("%s/fsmc-tests.XXXXXX", tmp && *tmp ? tmp : "/tmp");
    if (!mkdtemp(tmp_root)) {
        fprintf(stderr, "runner: cannot make %s: %s\n", tmp_root, strerror(errno));
        exit(2);
    }
    // Tests call the same entries again and again with other arguments.
    char *kept = format("%s/objects", tmp_root);
    setenv("FSMC_CACHE", kept, 0);
    free(kept);
}

static int usage(FILE *to, int status) {
    fputs("usage: fsmc_tests [--update] [--list] [-v] [-j JOBS] [--dearest [N]] [FILTER...]\n"
          "       fsmc_tests --update-costs\n"
          "Runs the tests whose names contain a FILTER (all without one).\n"
          "  --update  rewrites the golden files, and the output shown in pages\n"
          "  --dearest [N]  also prints the N (10) tests that used most processor time\n"
          "  --update-costs  rewrites tests/costs, the order for a build without times, from the times of this build\n"
          "  --list    prints the names of the tests and runs nothing\n"
          "  -v        also prints the tests that pass\n"
          "  --page PAGE [ROOT]  checks a page of documentation in the folder $FSMC_TEST_TMP\n",
          to);
    return status;
}

int main(int argc, char **argv) {
    const char *other = getenv("FSMC_TEST_ROOT"); // a test of this program has tests of its own
    if (other) root = other;
    long jobs = sysconf(_SC_NPROCESSORS_ONLN);
    bool list = false;
    int filters = 0;
    size_t dearest = 0;
    for (int i = 1; i < argc; i++)
        if (!strcmp(argv[i], "--update")) update = true;
        else if (!strcmp(argv[i], "--list")) list = true;
        else if (!strcmp(argv[i], "-v")) verbose = true;
        else if (!strcmp(argv[i], "--page") && i + 1 < argc)
            return page_check(argv[i + 2] ? argv[i + 2] : root, argv[i + 1], update);
        else if (!strcmp(argv[i], "-j") && i + 1 < argc) jobs = atol(argv[++i]);
        else if (!strcmp(argv[i], "--update-costs")) return update_costs();
        else if (!strcmp(argv[i], "--dearest"))
            dearest = i + 1 < argc && atol(argv[i + 1]) > 0 ? (size_t)atol(argv[++i]) : DEAREST;
        else if (!strcmp(argv[i], "--help")) return usage(stdout, 0);
        else if (argv[i][0] == '-') return usage(stderr, 2);
        else argv[1 + filters++] = argv[i];
    discover("");
    discover_pages();
    select_cases(argv + 1, filters);
    char *times = read_costs();
    if (case_count) qsort(cases, case_count, sizeof *cases, compare_cases);
    if (list) {
        for (size_t i = 0; i < case_count; i++) puts(cases[i].name);
        return 0;
    }
    set_environment();
    prctl(PR_SET_CHILD_SUBREAPER, 1); // processes that their parents leave behind count, too
    bool complete = run_all(jobs > 0 ? jobs : 1);
    if (!case_count) report_failure("all", "no test was found%s", filters ? " by that filter" : "");
    if (!complete) report_failure("all", "interrupted");
    nftw(tmp_root, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
    times_write(&costs, times, SIZE_MAX, false);
    if (dearest) print_dearest(dearest);
    if (skip_list) fputs(skip_list, stdout);
    printf("%d passed, %d failed", passed, failed);
    if (skipped) printf(", %d skipped", skipped);
    putchar('\n');
    return failed != 0;
}
