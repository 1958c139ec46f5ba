// The bound of the cost at two sizes: nested sums, and what their derivatives execute.
//
// The design promises that a derivative of order r costs at most (4 + D)^r times what the value, the arguments, the
// results and a call (16) do, where D is how deep sequential loops are nested. The oracle checks that for weighted
// floating-point work at sizes up to five (check_costs), where a lost power of n is not seen. Here all executed
// operations, iterations, loads and stores count, as in `fsmc cost`, at sizes that are far apart. The constants differ:
//
// - `factor`, 6: adjoints compute indices and conditions once more, and additions to elements are two accesses.
//   Of adjoints, nine in ten stay below 5. From D = 3 on, each loop adds 1, as in 4 + D.
// - `growth`, 1.6: between sizes that are three times apart, terms of lower order make ratios differ by less, and a
//   lost power of n triples them. It counts from 4 r on: below that, what a value does once for all indices, and its
//   derivative does not, has not yet shown what it comes to.
#include "random/fuzz.h"

#include "oracle/count.h"
#include "random/child.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { FORMS_COUNTED = 3, CALL = 16, LOOPLESS = 4, PATIENCE = 24 };

static const struct {
    const char *entry;
    int order;
} forms[FORMS_COUNTED] = {{"f_grad", 1}, {"f_jvp", 1}, {"f_hvp", 2}};

void bound_options_init(BoundOptions *b) { *b = (BoundOptions){.sizes = {8, 24}, .factor = 6, .growth = 1.6}; }

// How a derivative stands to the bound.
typedef enum Standing { ABSENT, WITHIN, DEAR, GROWING } Standing;

typedef enum Outcome { SETTLED, REFUSED, FAILING, UNFINISHED, BROKEN } Outcome; // BROKEN: wrong, slow, or a crash

typedef struct Ruling {
    Outcome outcome;
    bool over;
    Standing is[FORMS_COUNTED];
    double ratio[FORMS_COUNTED][2];
    int compared;   // derivatives whose values are the interpreter's
    char why[1000]; // of what is broken
} Ruling;

// ---- one program, in a process of its own

typedef struct Subject {
    const Source *src;
    OracleOptions o;
    unsigned forms; // a bit for each that is wanted
    bool compare;   // values, too
} Subject;

static const char *const words[] = {[ORACLE_REFUSED] = "refused", [ORACLE_FAILS] = "fails", [ORACLE_WRONG] = "wrong: "};

// Counts an entry, or sends what is wrong with it.
static bool counted(const Subject *p, Arena *a, const char *entry, OracleCounted *c, int out) {
    const char *why;
    OracleCounting what = oracle_count(a, p->src, entry, &p->o, p->compare, c, &why);
    if (what == ORACLE_COUNTED) return true;
    child_send(out, words[what]);
    if (what == ORACLE_WRONG) child_send(out, why);
    return false;
}

// Sends a line for each derivative: its number, D, both ratios, and whether its values were compared; then "done".
static int count_program(void *data, int out) {
    const Subject *p = data;
    Arena *a = arena_new();
    OracleCounted value, c;
    bool ok = counted(p, a, "f", &value, out);
    for (int k = 0; k < FORMS_COUNTED && ok; k++) {
        if (!(p->forms >> k & 1) || !strstr(p->src->text, arena_printf(a, "entry %s ", forms[k].entry))) continue;
        double ratio[2];
        ok = counted(p, a, forms[k].entry, &c, out);
        for (int i = 0; i < 2; i++) ratio[i] = (double)c.done[i] / (double)(CALL + value.done[i] + c.data[i]);
        if (ok)
            child_send(out, arena_printf(a, "%d %d %.17g %.17g %d\n", k, value.depth, ratio[0], ratio[1], c.compared));
    }
    if (ok) child_send(out, "done");
    arena_free(a);
    return 0;
}

// ---- rulings

static Standing standing_of(const BoundOptions *b, int order, int depth, const double ratio[2]) {
    double dear = pow(b->factor + fmax(0, depth - 2), order), low = fmin(LOOPLESS * order, dear);
    if (ratio[1] > b->growth * ratio[0] && ratio[1] > low) return GROWING;
    return ratio[1] > dear || ratio[0] > dear ? DEAR : WITHIN;
}

static Ruling ruling_of(const Subject *p, const BoundOptions *b, bool quiet) {
    Ruling r = {.outcome = UNFINISHED};
    char text[1000];
    int k, depth, compared, used;
    double ratio[2];
    child_run(&(Child){count_program, (void *)p, quiet, PATIENCE}, text, sizeof text);
    const char *rest = text;
    for (; sscanf(rest, "%d %d %lf %lf %d\n%n", &k, &depth, &ratio[0], &ratio[1], &compared, &used) == 5;
         rest += used) {
        memcpy(r.ratio[k], ratio, sizeof ratio);
        r.is[k] = standing_of(b, forms[k].order, depth, ratio);
        r.over |= r.is[k] > WITHIN, r.compared += compared;
    }
    if (!strcmp(rest, "done")) r.outcome = SETTLED;
    else if (!strcmp(rest, words[ORACLE_REFUSED])) r.outcome = REFUSED;
    else if (!strcmp(rest, words[ORACLE_FAILS])) r.outcome = FAILING;
    else if (*rest) r.outcome = BROKEN, snprintf(r.why, sizeof r.why, "%s", rest);
    return r;
}

static void print_ruling(const Ruling *r, const BoundOptions *b) {
    static const char *const says[] = {
        [WITHIN] = "", [DEAR] = ", over the bound", [GROWING] = ", growing over the bound"};
    if (r->outcome == BROKEN) printf("  %s\n", r->why);
    for (int k = 0; k < FORMS_COUNTED; k++)
        if (r->is[k])
            printf("  %s: %.2f times the value at %lld, %.2f at %lld%s\n", forms[k].entry, r->ratio[k][0],
                   (long long)b->sizes[0], r->ratio[k][1], (long long)b->sizes[1], says[r->is[k]]);
}

// ---- smaller programs

typedef struct Shrinking {
    Subject p;
    const BoundOptions *b;
    Ruling was;
    int form; // that is over the bound, or -1
} Shrinking;

static bool rules_alike(void *data, const char *text) {
    Shrinking *x = data;
    Source src = {"nest.fsm", text, strlen(text)};
    x->p.src = &src;
    Ruling r = ruling_of(&x->p, x->b, true);
    if (x->form >= 0) return r.is[x->form] == x->was.is[x->form];
    return r.outcome == BROKEN && !strncmp(r.why, x->was.why, 4);
}

// The derivative that is looked at: one that grows, if any does, and of lower order if that does.
static int worst_of(const Ruling *r) {
    for (Standing s = GROWING; s > WITHIN; s--)
        for (int k = 0; k < FORMS_COUNTED; k++)
            if (r->is[k] == s) return k;
    return -1;
}

static void report(const FuzzOptions *o, const BoundOptions *b, uint64_t seed, Sample *s, const Subject *p,
                   const Ruling *r) {
    printf("seed %llu:\n", (unsigned long long)seed);
    print_ruling(r, b);
    printf("%s", sample_text(s));
    fflush(stdout);
    if (!o->shrink) return;
    Shrinking x = {*p, b, *r, r->outcome == BROKEN ? -1 : worst_of(r)};
    if (x.form >= 0) x.p.forms = 1u << x.form, x.p.compare = false;
    sample_shrink(s, rules_alike, &x, o->shrink);
    const char *text = sample_text(s);
    Source src = {"nest.fsm", text, strlen(text)};
    Subject small = *p;
    small.src = &src;
    Ruling now = ruling_of(&small, b, true);
    printf("smaller:\n");
    print_ruling(&now, b);
    printf("%s", text);
    fflush(stdout);
}

// ---- the campaign

static Subject program_of(const FuzzOptions *o, const BoundOptions *b, uint64_t seed, const Source *src) {
    Subject p = {.src = src, .forms = (1u << FORMS_COUNTED) - 1, .compare = true};
    oracle_options_init(&p.o);
    p.o.seed = seed, p.o.fast = o->fast;
    p.o.low = -1, p.o.high = 1;
    p.o.nsizes = 2, p.o.sizes[0] = b->sizes[0], p.o.sizes[1] = b->sizes[1];
    return p;
}

typedef struct Tally {
    int done, nameless, over, compared, of[BROKEN + 1];
} Tally;

static void run_seed(const FuzzOptions *o, const BoundOptions *b, uint64_t seed, Tally *all) {
    Arena *a = arena_new();
    Sample *s = nest_new(a, seed, o->size);
    const char *text = sample_text(s);
    Source src = {"nest.fsm", text, strlen(text)};
    Subject p = program_of(o, b, seed, &src);
    if (o->verbose) printf("seed %llu\n%s", (unsigned long long)seed, text);
    Ruling r = ruling_of(&p, b, !o->verbose);
    if (o->verbose) print_ruling(&r, b);
    all->done++, all->of[r.outcome]++;
    all->nameless += !strstr(text, "(let ");
    all->over += r.over, all->compared += r.compared;
    if (r.outcome == UNFINISHED) printf("seed %llu takes too long\n", (unsigned long long)seed);
    if (r.over || r.outcome == BROKEN) report(o, b, seed, s, &p, &r);
    arena_free(a);
}

int bound_run(const FuzzOptions *o, const BoundOptions *b) {
    Tally all = {0};
    time_t start = time(NULL);
    for (int i = 0; i < o->count && !(o->stop && all.over + all.of[BROKEN]); i++) {
        if (o->seconds && time(NULL) - start >= o->seconds) break;
        run_seed(o, b, o->first + (uint64_t)i, &all);
    }
    printf("%d derivatives compared; %d programs without let, %d refused, %d failing, %d too slow\n", all.compared,
           all.nameless, all.of[REFUSED], all.of[FAILING], all.of[UNFINISHED]);
    printf("%d programs from seed %llu, %d of them counted, %d over the bound, %d failures\n", all.done,
           (unsigned long long)o->first, all.of[SETTLED], all.over, all.of[BROKEN]);
    return all.over + all.of[BROKEN];
}

int bound_file(const FuzzOptions *o, const BoundOptions *b, const char *path) {
    static const char *const says[] = {"", ": it does not compile", ": a call fails", ": it takes too long", ""};
    FILE *f = fopen(path, "r");
    if (!f) return printf("%s: cannot be read\n", path), 1;
    Str text = {0};
    for (int c; (c = getc(f)) != EOF;) str_putc(&text, (char)c);
    fclose(f);
    Source src = {path, str_text(&text), text.len};
    Subject p = program_of(o, b, o->first, &src);
    Ruling r = ruling_of(&p, b, false);
    printf("%s%s\n", path, says[r.outcome]);
    print_ruling(&r, b);
    str_free(&text);
    return r.over || r.outcome != SETTLED;
}
