// The C header of a module, and names that C accepts.
#include "cpu/cpu.h"

#include "fsmc/runtime.h"
#include "lower/lower.h"

#include <ctype.h>
#include <inttypes.h>

// ---- names

// Words of C and C++, and macros, types and namespaces that common headers, ours or compilers define.
static const char *const c_words[] = {"alignas",      "alignof",   "and",
                                      "and_eq",       "asm",       "assert",
                                      "atomic",       "auto",      "bitand",
                                      "bitor",        "bool",      "break",
                                      "case",         "catch",     "char",
                                      "char16_t",     "char32_t",  "char8_t",
                                      "class",        "co_await",  "co_return",
                                      "co_yield",     "compl",     "complex",
                                      "concept",      "const",     "const_cast",
                                      "consteval",    "constexpr", "constinit",
                                      "continue",     "decltype",  "default",
                                      "delete",       "do",        "double",
                                      "dynamic_cast", "else",      "enum",
                                      "EOF",          "errno",     "explicit",
                                      "export",       "extern",    "false",
                                      "float",        "for",       "friend",
                                      "goto",         "I",         "i386",
                                      "if",           "imaginary", "inline",
                                      "int",          "int64_t",   "linux",
                                      "long",         "mutable",   "namespace",
                                      "new",          "noexcept",  "noreturn",
                                      "not",          "not_eq",    "NULL",
                                      "nullptr",      "operator",  "or",
                                      "or_eq",        "private",   "protected",
                                      "public",       "register",  "reinterpret_cast",
                                      "requires",     "restrict",  "return",
                                      "short",        "signed",    "sizeof",
                                      "size_t",       "static",    "static_assert",
                                      "static_cast",  "stderr",    "stdin",
                                      "stdout",       "struct",    "switch",
                                      "template",     "this",      "thread_local",
                                      "throw",        "true",      "try",
                                      "typedef",      "typeid",    "typename",
                                      "typeof",       "uint8_t",   "union",
                                      "unix",         "unsigned",  "using",
                                      "virtual",      "void",      "volatile",
                                      "wchar_t",      "while",     "xor",
                                      "xor_eq",       "INT64_C",   "INT64_MAX",
                                      "INT64_MIN",    "SIZE_MAX",  "max_align_t",
                                      "offsetof",     "ptrdiff_t", "va_list",
                                      "intptr_t",     "uintptr_t", "intmax_t",
                                      "uintmax_t",    "int8_t",    "int16_t",
                                      "int32_t",      "uint16_t",  "uint32_t",
                                      "uint64_t",     "std",       "fsm",
                                      "fsmc",         NULL};

// Functions of the C library besides those of ops.def. Some are needed by compiled code; the others would replace those
// of the program that the object is linked into, or clash with their declarations. Of <math.h>, also with the suffixes f
// and l:
static const char c_maths[] =
    " acosh asinh atanh ceil copysign drem exp10 exp2 fabs fdim finite floor fma fmax fmin fmod fpclassify frexp gamma "
    "hypot ilogb isfinite isinf isnan isnormal j0 j1 jn ldexp lgamma lgamma_r llrint llround log10 log1p log2 logb lrint "
    "lround modf nan nearbyint nextafter nexttoward pow pow10 remainder remquo rint round roundeven scalb scalbln scalbn "
    "signbit significand sincos tgamma trunc y0 y1 yn ";
static const char c_functions[] =
    // <stdlib.h>, <string.h>
    " abort abs aligned_alloc alloca atexit atof atoi atol atoll bcmp bcopy bsearch bzero calloc div exit ffs free getenv "
    "index labs ldiv llabs lldiv malloc memccpy memchr memcmp memcpy memmove memset mkstemp mktemp putenv qsort rand "
    "random realloc rindex setenv srand srandom stpcpy strcat strchr strcmp strcoll strcpy strcspn strdup strerror strlen "
    "strncat strncmp strncpy strndup strpbrk strrchr strsep strspn strstr strtod strtof strtok strtol strtold strtoll "
    "strtoul strtoull strxfrm system "
    // <stdio.h>, <time.h>, <setjmp.h>, <signal.h>
    "clearerr clock ctime difftime fclose feof ferror fflush fgetc fgets fopen fprintf fputc fputs fread freopen fscanf "
    "fseek ftell fwrite getc getchar getline gets gmtime localtime longjmp mktime perror printf putc putchar puts raise "
    "remove rename rewind scanf setbuf setjmp setvbuf signal snprintf sprintf sscanf strftime time tmpfile tmpnam ungetc "
    "vfprintf vprintf vsnprintf vsprintf "
    // <unistd.h>, <sys/socket.h>, …
    "accept access acct alarm bind brk chdir close connect dup dup2 environ execl execv execve fork getopt getpid ioctl "
    "kill link listen lseek mmap munmap nice open pause pipe poll read recv sbrk select send shutdown sleep socket stat "
    "sync syscall truncate unlink usleep wait waitpid write "
    // symbols of the start-up code and the linker
    "_end _fini _init _start edata end etext main ";
static const char *const op_functions[] = {
#define INS(f, i)                                                                  NULL
#define CMPI(f, i)                                                                 NULL
#define OWN                                                                        NULL
#define RTL(s)                                                                     s
#define LIBM(s)                                                                    s
#define INTR(s)                                                                    &(s)[sizeof "llvm"]
#define OP(name, arity, type, dx, dy, eval_f, eval_i, llvm, fsm, count, cost, ...) llvm,
#include "ir/ops.def"
};

static bool is_c_word(const char *name) {
    for (int i = 0; c_words[i]; i++)
        if (!strcmp(c_words[i], name)) return true;
    return !strncmp(name, "FSM_", 4) || (name[0] == '_' && (name[1] == '_' || isupper((unsigned char)name[1])));
}

// Equal, or equal with the suffix f or l.
static bool same_function(const char *function, const char *name) {
    size_t n = strlen(function);
    if (strncmp(function, name, n)) return false;
    return !name[n] || ((name[n] == 'f' || name[n] == 'l') && !name[n + 1]);
}

// Whether one of the words of a list is the first n bytes of name.
static bool is_listed(const char *words, const char *name, size_t n) {
    for (const char *s = words; (s = strchr(s, *name)); s++)
        if (s[-1] == ' ' && !strncmp(s, name, n) && s[n] == ' ') return n > 0;
    return false;
}

static bool is_c_function(const char *name) {
    size_t n = strlen(name);
    bool suffix = n && (name[n - 1] == 'f' || name[n - 1] == 'l');
    return is_listed(c_maths, name, n) || (suffix && is_listed(c_maths, name, n - 1)) || is_listed(c_functions, name, n);
}

bool cpu_name_reserved(const char *name) {
    static const char caller[] = "__call";
    size_t n = strlen(name);
    if (is_c_word(name) || !strncmp(name, "fsm_", 4)) return true;
    if (n >= sizeof caller && !strcmp(name + n + 1 - sizeof caller, caller)) return true;
    if (is_c_function(name)) return true;
    for (size_t i = 0; i < sizeof op_functions / sizeof *op_functions; i++)
        if (op_functions[i] && same_function(op_functions[i], name)) return true;
    return false;
}

const char *cpu_c_name(Arena *a, const char *name) {
    Str s = {0};
    if (isdigit((unsigned char)*name)) str_putc(&s, '_');
    for (const char *c = name; *c; c++)
        if (*c == '\'') str_puts(&s, "_prime");
        else str_putc(&s, isalnum((unsigned char)*c) && (unsigned char)*c < 128 ? *c : '_');
    if (is_c_word(str_text(&s))) str_putc(&s, '_');
    char *result = arena_strdup(a, str_text(&s));
    str_free(&s);
    return result;
}

static bool is_taken(const char *const *names, int n, const char *name) {
    for (int i = 0; i < n; i++)
        if (!strcmp(names[i], name)) return true;
    return !strcmp(name, "ctx");
}

const char **cpu_parameter_names(Arena *a, const Func *f) {
    int n = f->ninputs + f->noutputs;
    const char **names = ARENA_ARRAY(a, const char *, n + 1);
    for (int i = 0; i < n; i++) {
        int k = i - f->ninputs;
        const char *hint = k < 0 ? f->inputs[i]->name : f->output_names ? f->output_names[k] : NULL;
        if (!hint || !*hint) hint = arena_printf(a, k < 0 ? "in%d" : "out%d", k < 0 ? i : k);
        const char *base = cpu_c_name(a, hint), *name = base;
        for (int tries = 2; is_taken(names, i, name); tries++) name = arena_printf(a, "%s_%d", base, tries);
        names[i] = name;
    }
    return names;
}

// ---- sizes

bool cpu_size_source(const Func *f, int number, int *array, int *dim) {
    *array = 0;
    for (int i = f->nsizes; i < f->ninputs; i++) {
        const Node *n = f->inputs[i];
        for (*dim = 0; *dim < n->rank; ++*dim)
            if (n->shape[*dim] == f->inputs[number]) return true;
        *array += n->rank > 0;
    }
    return false;
}

bool cpu_has_general(const Func *f) {
    int array, dim;
    bool arrays = false;
    for (int i = 0; i < f->ninputs; i++) arrays |= f->inputs[i]->rank > 0;
    for (int i = 0; i < f->noutputs; i++) arrays |= f->outputs[i]->rank > 0;
    if (!arrays) return false;
    for (int i = 0; i < f->nsizes; i++)
        if (!cpu_size_source(f, i, &array, &dim)) return false;
    return true;
}

bool cpu_size_is_known(const Node *n) {
    if (n->rank || n->nargs > 3) return false;
    if (n->op == OP_lit || n->op == OP_input) return true;
    if (!op_is_elementwise(n->op) && n->op != OP_conv && n->op != OP_select && n->op != OP_stop) return false;
    for (int i = 0; i < n->nargs; i++)
        if (!cpu_size_is_known(n->args[i])) return false;
    return true;
}

// ---- sizes in comments

// Prints an Int expression over the inputs; prec: how tightly its surroundings bind (0 nothing, 1 sums, 2 products).
static void print_size(Str *out, const Node *n, const char *const *names, int prec);

static void print_infix(Str *out, const Node *n, const char *const *names, int prec, int own, const char *symbol) {
    if (prec > own) str_putc(out, '(');
    print_size(out, n->args[0], names, own);
    str_puts(out, symbol);
    print_size(out, n->args[1], names, own + (n->op != OP_add && n->op != OP_mul));
    if (prec > own) str_putc(out, ')');
}

static bool negative_part(const Node *n) {
    if (n->op == OP_lit) return n->u.num < 0;
    return n->op == OP_neg || (n->op == OP_mul && n->args[0]->op == OP_lit && n->args[0]->u.num < 0);
}

// a + (-b) as "a - b".
static void print_sum(Str *out, const Node *n, const char *const *names, int prec) {
    const Node *x = n->args[0], *y = n->args[1];
    if (negative_part(x) && !negative_part(y)) {
        const Node *t = x;
        x = y;
        y = t;
    }
    if (prec > 1) str_putc(out, '(');
    print_size(out, x, names, 1);
    if (!negative_part(y)) {
        str_puts(out, " + ");
        print_size(out, y, names, 1);
    } else if (y->op == OP_lit) {
        str_printf(out, " - %" PRIu64, 0 - (uint64_t)y->u.num);
    } else if (y->op == OP_neg) {
        str_puts(out, " - ");
        print_size(out, y->args[0], names, 2);
    } else {
        str_puts(out, " - ");
        if (y->args[0]->u.num != -1) str_printf(out, "%" PRIu64 "*", 0 - (uint64_t)y->args[0]->u.num);
        print_size(out, y->args[1], names, 2);
    }
    if (prec > 1) str_putc(out, ')');
}

static void print_size(Str *out, const Node *n, const char *const *names, int prec) {
    switch (n->op) {
    case OP_lit: str_printf(out, "%" PRId64, n->u.num); break;
    case OP_input: str_puts(out, names[n->u.num]); break;
    case OP_add: print_sum(out, n, names, prec); break;
    case OP_sub: print_infix(out, n, names, prec, 1, " - "); break;
    case OP_mul: print_infix(out, n, names, prec, 2, "*"); break;
    case OP_idiv: print_infix(out, n, names, prec, 2, "/"); break;
    case OP_irem: print_infix(out, n, names, prec, 2, "%"); break;
    case OP_neg:
        str_putc(out, '-');
        print_size(out, n->args[0], names, 3);
        break;
    case OP_min:
    case OP_max:
        str_printf(out, "%s(", op_info[n->op].name);
        print_size(out, n->args[0], names, 0);
        str_puts(out, ", ");
        print_size(out, n->args[1], names, 0);
        str_putc(out, ')');
        break;
    case OP_conv: // an Int32 argument as an Int
        if (n->args[0]->kind == KIND_INT32) {
            print_size(out, n->args[0], names, prec);
            break;
        }
        // fall through
    default: str_putc(out, '?');
    }
}

void cpu_print_size(Str *out, const Node *n, const char *const *names) { print_size(out, n, names, 0); }

// ---- the header

void cpu_print_comment(Str *out, const char *text) {
    while (*text) {
        size_t n = strcspn(text, "\n"), shown = n;
        while (shown && isspace((unsigned char)text[shown - 1])) shown--;
        str_puts(out, "// ");
        str_write(out, text, shown);
        if (shown && text[shown - 1] == '\\') str_putc(out, '.');
        str_putc(out, '\n');
        text += n + (text[n] == '\n');
    }
}

static void print_shape(Str *out, const Node *n, const char *const *names) {
    str_puts(out, kind_info[n->kind].c);
    for (int k = 0; k < n->rank; k++) {
        str_putc(out, '[');
        print_size(out, n->shape[k], names, 0);
        str_putc(out, ']');
    }
}

// What the arrays of an entry are, as comments.
static void print_arrays(Str *out, const Func *f, const char *const *names, const char *name) {
    for (int i = 0; i < f->nsizes; i++)
        str_printf(out, "%s%s%s", i ? ", " : "// Sizes: ", names[i], i + 1 < f->nsizes ? "" : ".\n");
    for (int i = f->nsizes; i < f->ninputs; i++) {
        if (!f->inputs[i]->rank) continue;
        str_printf(out, "// %s: ", names[i]);
        print_shape(out, f->inputs[i], names);
        str_putc(out, '\n');
    }
    bool known = true;
    for (int i = 0; i < f->noutputs; i++) {
        str_printf(out, "// %s: result, ", names[f->ninputs + i]);
        print_shape(out, f->outputs[i], names);
        str_putc(out, '\n');
        for (int k = 0; k < f->outputs[i]->rank; k++) known &= cpu_size_is_known(f->outputs[i]->shape[k]);
    }
    if (!known)
        str_printf(out,
                   "// A size that is shown as ? depends on array elements: %s"
                   "_sizes gives it.\n",
                   name);
}

typedef enum Form {
    FORM_PLAIN,
    FORM_GENERAL, // with views for arrays, and without sizes
    FORM_DEVICE   // with arrays on a GPU
} Form;

static void print_prototype(Str *out, const Func *f, const char *name, const char *const *names, Form form) {
    static const char *const heads[] = {"(fsm_context *ctx", "_general(fsm_context *ctx", "_device(fsm_context *ctx, void *stream"};
    bool general = form == FORM_GENERAL;
    str_printf(out, "int %s%s", name, heads[form]);
    for (int i = general ? f->nsizes : 0; i < f->ninputs; i++) {
        const Node *n = f->inputs[i];
        if (n->rank && general) str_printf(out, ", const fsm_view *%s", names[i]);
        else if (n->rank) str_printf(out, ", const %s *%s", kind_info[n->kind].c, names[i]);
        else str_printf(out, ", %s %s", kind_info[n->kind].c_scalar, names[i]);
    }
    for (int i = 0; i < f->noutputs; i++)
        if (general && f->outputs[i]->rank) str_printf(out, ", const fsm_view *%s", names[f->ninputs + i]);
        else str_printf(out, ", %s *%s", kind_info[f->outputs[i]->kind].c, names[f->ninputs + i]);
    str_puts(out, ");\n");
}

typedef VEC(const char *) Names;

static void note_extern(Node *e, void *data) {
    Names *names = data;
    bool known = e->op != OP_extern;
    for (int i = 0; !known && i < names->len; i++) known = !strcmp(names->data[i], e->u.ext->name);
    if (!known) vec_push(names, e->u.ext->name);
}

static void print_externs(Str *out, int nfuncs, Func *const *funcs) {
    Names names = {0};
    for (int i = 0; i < nfuncs; i++) ir_walk(func_roots(funcs[i]), funcs[i]->outputs, note_extern, &names);
    for (int i = 0; i < names.len; i++)
        str_printf(out, "%s%s%s", i ? ", " : "// Link also what defines ", names.data[i], i + 1 == names.len ? ".\n" : "");
    vec_free(&names);
}

static void print_entry(Str *out, Arena *a, const Func *f, bool device) {
    const char **names = cpu_parameter_names(a, f), *name = cpu_c_name(a, f->name);
    const Func *query = lower_size_query(a, f);
    str_putc(out, '\n');
    if (f->doc) cpu_print_comment(out, f->doc);
    print_arrays(out, f, names, name);
    print_prototype(out, f, name, names, FORM_PLAIN);
    if (device) print_prototype(out, f, name, names, FORM_DEVICE);
    if (cpu_has_general(f)) print_prototype(out, f, name, names, FORM_GENERAL);
    if (!query) return;
    names = cpu_parameter_names(a, query);
    name = arena_printf(a, "%s_sizes", name);
    print_prototype(out, query, name, names, FORM_PLAIN);
    if (cpu_has_general(f)) print_prototype(out, query, name, names, FORM_GENERAL);
}

static const char header_comment[] =
    "//\n"
    "// Every function returns FSM_OK or an FSM_ERROR code, whose text fsm_context_error(ctx) has; it names the argument,\n"
    "// what was expected and what was given. After an error the arguments are untouched, the results unspecified, and the\n"
    "// next call works. A context serves one call at a time; threads use contexts of their own. fsm_context_cancel ends a\n"
    "// call from another thread. fsmc/runtime.h has contexts, codes, allocators and views.\n"
    "//\n"
    "// NAME          sizes first, then the arguments, then the results. Arrays are row-major and contiguous; results must\n"
    "//               not overlap anything.\n"
    "// NAME_general  the same with a view for each array, which may have any strides; sizes are read off the views and\n"
    "//               must agree. Contiguous arrays are used in place, others copied to and from scratch memory.\n"
    "// NAME_sizes    the extents of the results for these arguments: outN_dimK, outermost first.\n";

static const char device_comment[] =
    "// NAME_device   the same as NAME with addresses in the memory of the current device, scalar results, too. The work is\n"
    "//               done in a stream (a cudaStream_t), which it waits for only where something may fail.\n";

static void print_header(Str *out, const char *name, int nfuncs, Func *const *funcs, bool device) {
    Arena *a = arena_new();
    // Headers of equal names in different folders: a program has an entry only once.
    char *guard = arena_printf(a, "%s_%s_H", cpu_c_name(a, name), nfuncs ? cpu_c_name(a, funcs[0]->name) : "");
    for (char *c = guard; *c; c++) *c = (char)toupper((unsigned char)*c);
    str_printf(out, "// Written by fsmc. Link with -lfsmrt -lm%s.\n",
               device ? ", and with the CUDA run-time library: -lcudart -lstdc++" : "");
    print_externs(out, nfuncs, funcs);
    str_puts(out, header_comment);
    if (device) str_puts(out, device_comment);
    str_printf(out, "#ifndef %s\n#define %s\n\n#include \"fsmc/runtime.h\"\n\n", guard, guard);
    str_printf(out, "#if FSM_ABI_VERSION != %d\n#error \"compile the program again: fsmc/runtime.h is of another version\"\n",
               FSM_ABI_VERSION);
    str_puts(out, "#endif\n\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n");
    for (int i = 0; i < nfuncs; i++) print_entry(out, a, funcs[i], device);
    str_puts(out, "\n#ifdef __cplusplus\n}\n#endif\n#endif\n");
    arena_free(a);
}

void cpu_header(Str *out, const char *name, int nfuncs, Func *const *funcs) { print_header(out, name, nfuncs, funcs, false); }

void cpu_device_header(Str *out, const char *name, int nfuncs, Func *const *funcs) { print_header(out, name, nfuncs, funcs, true); }
