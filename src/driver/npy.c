#include "driver/npy.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_RANK = 32, ALIGNMENT = 64 };

static const char magic[] = "\x93NUMPY";
enum { MAGIC = sizeof magic - 1 };

bool npy_is(const char *path) {
    size_t n = strlen(path);
    return n > 4 && !strcmp(path + n - 4, ".npy");
}

// ---- reading

typedef struct Npy {
    char type;   // 'f', 'i', 'u' or 'b'
    size_t size; // of an element
    bool little; // its bytes begin with the least significant one
    bool fortran;
    int rank;
    size_t shape[MAX_RANK], stride[MAX_RANK]; // in elements
    const unsigned char *data;
} Npy;

static bool bad(Diag *diag, const Source *file, const char *why) {
    diag_error(diag, nowhere, "`%s` is not an array in NumPy's format: %s", file->name, why);
    return false;
}

// The text after `'key':` in the header.
static const char *field(const char *header, const char *key) {
    const char *p = strstr(header, key);
    if (!p) return NULL;
    p += strlen(key);
    return p + strspn(p, ": ");
}

static bool read_shape(Npy *a, const char *p) {
    if (*p++ != '(') return false;
    for (p += strspn(p, " "); *p != ')'; p += strspn(p, ", ")) {
        char *end;
        unsigned long long n = strtoull(p, &end, 10);
        if (end == p || a->rank == MAX_RANK) return false;
        a->shape[a->rank++] = (size_t)n;
        p = end;
    }
    return true;
}

static bool is_little(void) {
    const uint16_t one = 1;
    return *(const unsigned char *)&one;
}

static bool read_type(Npy *a, const char *p) {
    if (*p++ != '\'' || !*p || !strchr("<>=|", *p)) return false;
    a->little = *p == '<' || (*p != '>' && is_little());
    a->type = p[1];
    a->size = (size_t)strtoul(p + 2, NULL, 10);
    size_t n = a->size;
    return (a->type == 'f' && (n == 2 || n == 4 || n == 8)) || (a->type == 'b' && n == 1) ||
           ((a->type == 'i' || a->type == 'u') && (n == 1 || n == 2 || n == 4 || n == 8));
}

// Sets the strides; false if there are not as many elements as the shape says.
static bool measure(Npy *a, size_t bytes) {
    const size_t most_rows = (size_t)1 << 20; // of none
    size_t count = 1, rows = 1;
    for (int k = 0; k < a->rank; k++) {
        int d = a->fortran ? k : a->rank - 1 - k;
        a->stride[d] = count;
        if (__builtin_mul_overflow(count, a->shape[d], &count)) return false;
        if (a->shape[d] && __builtin_mul_overflow(rows, a->shape[d], &rows)) return false;
    }
    if (!count && rows > most_rows) return false;
    return !__builtin_mul_overflow(count, a->size, &count) && count == bytes;
}

static bool read_header(Npy *a, Diag *diag, const Source *file) {
    const unsigned char *p = (const unsigned char *)file->text;
    if (file->len < MAGIC + 4 || memcmp(p, magic, MAGIC)) return bad(diag, file, "it does not begin like one");
    if (p[MAGIC] < 1 || p[MAGIC] > 3) return bad(diag, file, "it has an unknown version");
    size_t start = p[MAGIC] == 1 ? MAGIC + 4 : MAGIC + 6, n = p[MAGIC + 2] | (size_t)p[MAGIC + 3] << 8;
    if (start > file->len) return bad(diag, file, "it ends in the header");
    if (p[MAGIC] > 1) n |= (size_t)p[MAGIC + 4] << 16 | (size_t)p[MAGIC + 5] << 24;
    if (n > file->len - start) return bad(diag, file, "it ends in the header");
    char *header = calloc(1, n + 1);
    if (!header) diag_out_of_memory();
    memcpy(header, file->text + start, n);
    const char *type = field(header, "'descr'"), *order = field(header, "'fortran_order'"), *shape = field(header, "'shape'");
    bool typed = type && read_type(a, type), shaped = shape && order && read_shape(a, shape);
    a->fortran = order && !strncmp(order, "True", 4);
    free(header);
    if (!typed) return bad(diag, file, "its elements are neither truth values nor numbers of at most 8 bytes");
    if (!shaped) return bad(diag, file, "its header has no shape");
    a->data = p + start + n;
    return measure(a, file->len - start - n) || bad(diag, file, "it does not have as many elements as its shape says");
}

static json_t *real_value(double x) {
    if (isnan(x)) return json_string("NaN");
    return isinf(x) ? json_string(x < 0 ? "-Infinity" : "Infinity") : json_real(x);
}

// A number of 16 bits in IEEE format: sign, 5 bits of exponent, 10 of mantissa.
static double half(uint64_t bits) {
    int exponent = (int)(bits >> 10 & 31);
    double mantissa = (double)(bits & 1023), x;
    if (exponent == 31) x = mantissa != 0.0 ? NAN : INFINITY;
    else x = exponent ? ldexp(1024.0 + mantissa, exponent - 25) : ldexp(mantissa, -24);
    return bits >> 15 ? -x : x;
}

static double real_element(size_t size, uint64_t bits) {
    if (size == 2) return half(bits);
    if (size == 8) {
        double x;
        memcpy(&x, &bits, sizeof x);
        return x;
    }
    const uint32_t word = (uint32_t)bits;
    float x;
    memcpy(&x, &word, sizeof x);
    return (double)x;
}

static json_t *element(const Npy *a, size_t at) {
    const unsigned char *p = a->data + at * a->size;
    uint64_t x = 0;
    for (size_t i = 0; i < a->size; i++) x = x << 8 | p[a->little ? a->size - 1 - i : i];
    if (a->type == 'b') return json_boolean(x);
    if (a->type == 'f') return real_value(real_element(a->size, x));
    int unused = 64 - 8 * (int)a->size;
    if (a->type == 'i') return json_integer((json_int_t)((int64_t)(x << unused) >> unused));
    return x > INT64_MAX ? json_real((double)x) : json_integer((json_int_t)x);
}

static json_t *value(const Npy *a, int dim, size_t at) {
    if (dim == a->rank) return element(a, at);
    json_t *list = json_array();
    for (size_t i = 0; i < a->shape[dim]; i++) json_array_append_new(list, value(a, dim + 1, at + i * a->stride[dim]));
    return list;
}

json_t *npy_read(Diag *diag, const Source *file) {
    Npy a = {0};
    return read_header(&a, diag, file) ? value(&a, 0, 0) : NULL;
}

// ---- writing

void npy_write(Str *out, const Tensor *t) {
    const char *type = kind_info[t->kind].npy;
    Str header = {0};
    str_printf(&header, "{'descr': '%c%s', 'fortran_order': False, 'shape': (", *type == '<' && !is_little() ? '>' : *type,
               type + 1);
    for (int k = 0; k < t->rank; k++) str_printf(&header, "%lld%s", (long long)t->shape[k], k && k + 1 == t->rank ? "" : ",");
    str_puts(&header, "), }");
    while ((MAGIC + 4 + header.len + 1) % ALIGNMENT) str_putc(&header, ' ');
    str_putc(&header, '\n');
    str_write(out, magic, MAGIC);
    str_write(out, "\1\0", 2);
    str_putc(out, (char)(header.len & 0xFF));
    str_putc(out, (char)(header.len >> 8));
    str_write(out, header.data, header.len);
    str_write(out, t->data, (size_t)tensor_count(t) * kind_size(t->kind));
    str_free(&header);
}
