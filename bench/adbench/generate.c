// Instances of ADBench's kind, from their names: the sizes in them, and its distributions. The same name always gives
// the same numbers.
#include "../../examples/random.h"
#include "adbench.h"
#include "instances.h"
#include "text.h"

#include <stdlib.h>
#include <string.h>

// FNV-1a
static Random random_of(const char *name) {
    uint64_t hash = 0xcbf29ce484222325u;
    for (; *name; name++) hash = (hash ^ (unsigned char)*name) * 0x100000001b3u;
    return (Random){.state = hash};
}

static void write_rows(FILE *f, Random *r, double (*draw)(Random *), int64_t rows, int64_t columns) {
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < columns; j++) fprintf(f, "%.6f%c", draw(r), j + 1 < columns ? ' ' : '\n');
}

static int64_t needed_size(const char *name, const char *key) {
    int64_t size = size_in(name, key);
    if (!size) fail(STATUS_USAGE, "%s: expected a size %s… in the name", name, key);
    return size;
}

// ---- GMM, LSTM

static void generate_gmm(FILE *f, Random *r, const char *name) {
    int64_t d = needed_size(name, "_d"), k = needed_size(name, "_K"), n = points_of_gmm(name);
    if (!n) fail(STATUS_USAGE, "%s: expected a number of points after gmm/", name);
    fprintf(f, "%lld %lld %lld\n", (long long)d, (long long)k, (long long)n);
    write_rows(f, r, normal, k, 1);
    write_rows(f, r, uniform, k, d);
    write_rows(f, r, normal, k, d * (d + 1) / 2);
    write_rows(f, r, normal, replicates(name) ? 1 : n, d);
    fputs("1.000000 0\n", f);
}

static void generate_lstm(FILE *f, Random *r, const char *name) {
    enum { USUAL_BITS = 14, CHARACTERS = 128 };
    int64_t l = needed_size(name, "_l"), c = needed_size(name, "_c"), b = size_in(name, "_b");
    if (!b) b = USUAL_BITS;
    fprintf(f, "%lld %lld %lld\n\n", (long long)l, (long long)c, (long long)b);
    write_rows(f, r, uniform, 2 * l, 4 * b);
    fputc('\n', f);
    write_rows(f, r, uniform, 3, b);
    fputc('\n', f);
    write_rows(f, r, uniform, 2 * l, b);
    fputc('\n', f);
    for (int64_t t = 0; t < c; t++) {
        int64_t character = (int64_t)(CHARACTERS * uniform(r));
        for (int64_t j = 0; j < b; j++) // the most significant bit first
            fprintf(f, "%d.0%c", b - 1 - j < 62 ? (int)(character >> (b - 1 - j) & 1) : 0, j + 1 < b ? ' ' : '\n');
    }
}

// ---- BA

static void generate_ba(FILE *f, Random *r, const char *name) {
    int64_t n = needed_size(name, "_n"), m = needed_size(name, "_m"), p = ba_observations(n, m);
    if (!p) p = needed_size(name, "_p");
    fprintf(f, "%lld %lld %lld\n", (long long)n, (long long)m, (long long)p);
    for (int i = 0; i < 3; i++) fprintf(f, "%.6f ", normal(r));
    for (int i = 0; i < 3; i++) fprintf(f, "%.6f ", 10 * uniform(r));
    fprintf(f, "%.6f %.6f %.6f ", 300 + 200 * uniform(r), 10 * normal(r), 10 * normal(r));
    fprintf(f, "%.6f %.6f\n", 0.05 * normal(r), 0.005 * normal(r));
    for (int i = 0; i < 3; i++) fprintf(f, "%.6f ", 20 + 20 * uniform(r)); // far from the camera, so that nothing is near its plane
    fprintf(f, "\n%.6f\n%.6f %.6f\n", uniform(r), 200 * uniform(r), 200 * uniform(r));
}

// ---- HAND

typedef double Matrix[4][4];

static void rigid(Random *r, Matrix to, double angle, double shift) {
    double axis[3], norm = 0;
    for (int i = 0; i < 3; i++) axis[i] = normal(r), norm += axis[i] * axis[i];
    for (int i = 0; i < 3; i++) axis[i] /= sqrt(norm);
    double c = cos(angle), s = sin(angle);
    const double cross[3][3] = {{0, -axis[2], axis[1]}, {axis[2], 0, -axis[0]}, {-axis[1], axis[0], 0}};
    memset(to, 0, sizeof(Matrix));
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) to[i][j] = (i == j) * c + (1 - c) * axis[i] * axis[j] + s * cross[i][j];
        to[i][3] = shift * normal(r);
    }
    to[3][3] = 1;
}

static void product(Matrix to, Matrix a, Matrix b) {
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) {
            to[i][j] = 0;
            for (int k = 0; k < 4; k++) to[i][j] += a[i][k] * b[k][j];
        }
}

static void write_matrix(FILE *f, Matrix m) {
    for (int i = 0; i < 16; i++) fprintf(f, ":%.17g", m[i / 4][i % 4]);
}

static void generate_bones(const char *folder, Random *r) {
    const char *file = text("%s/bones.txt", folder);
    FILE *f = open_to_write(file);
    Matrix absolute[BONES];
    for (int b = 0; b < BONES; b++) {
        int parent = b == 0 ? -1 : b % 4 == 1 ? 0 : b - 1; // five fingers of four bones, and the forearm
        Matrix base, inverse = {{0}};
        rigid(r, base, 0.5 * uniform(r), b ? 0.3 : 0);
        if (b) product(absolute[b], absolute[parent], base);
        else memcpy(absolute[b], base, sizeof base);
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) {
                inverse[i][j] = absolute[b][j][i];
                inverse[i][3] -= absolute[b][j][i] * absolute[b][j][3];
            }
        inverse[3][3] = 1;
        fprintf(f, "bone%d:%d", b, parent);
        write_matrix(f, base);
        write_matrix(f, inverse);
        fputc('\n', f);
    }
    close_written(f, file);
}

enum { SMALL_MODEL = 544, BIG_MODEL = 10000, TRIANGLES = 1084 };

// One to four bones, 1.71 on average, whose weights have the sum 1.
static void write_vertex(FILE *f, Random *r) {
    double share = uniform(r), weights[4], sum = 0;
    int count = share < 0.55 ? 1 : share < 0.8 ? 2 : share < 0.94 ? 3 : 4, bones[4];
    for (int i = 0; i < count; i++) {
        sum += weights[i] = uniform(r);
        bones[i] = ((int)(BONES * uniform(r)) + i) % BONES;
    }
    for (int i = 0; i < 3; i++) fprintf(f, "%.17g:", 0.5 * normal(r));
    fprintf(f, "0:0:0:0:0:%d", count);
    for (int i = 0; i < count; i++) fprintf(f, ":%d:%.17g", bones[i], weights[i] / sum);
    fputc('\n', f);
}

// A big model has the vertices of the small one again and again.
static void generate_model(const char *folder, int64_t vertices) {
    Random r = random_of("model");
    generate_bones(folder, &r);
    const char *file = text("%s/vertices.txt", folder);
    FILE *f = open_to_write(file);
    Random first = r;
    for (int64_t v = 0; v < vertices; v++) {
        if (v % SMALL_MODEL == 0) r = first;
        write_vertex(f, &r);
    }
    close_written(f, file);
    file = text("%s/triangles.txt", folder);
    f = open_to_write(file);
    for (int i = 0; i < TRIANGLES; i++) {
        int corner = (int)(SMALL_MODEL * uniform(&r));
        fprintf(f, "%d:%d:%d\n", corner, (corner + 1) % SMALL_MODEL, (corner + 2 + i % 7) % SMALL_MODEL);
    }
    close_written(f, file);
}

static void generate_hand(FILE *f, Random *r, const char *folder, const char *name) {
    int64_t n = needed_size(name, "_c"), vertices = strstr(name, "_big/") ? BIG_MODEL : SMALL_MODEL;
    bool complicated = instance_kind(name) == HAND_COMPLICATED;
    const char *model = text("%s/%.*s/model", folder, (int)(strrchr(name, '/') - name), name);
    if (!exists(model)) generate_model(model, vertices);
    fprintf(f, "%lld %d\n", (long long)n, THETAS);
    int64_t choices = complicated ? TRIANGLES : SMALL_MODEL;
    for (int64_t i = 0; i < n; i++) {
        fprintf(f, "%d ", (int)((double)choices * uniform(r)));
        write_rows(f, r, normal, 1, 3);
    }
    for (int64_t i = 0; complicated && i < n; i++) {
        double u = uniform(r), v = uniform(r);
        fprintf(f, "%.6f %.6f\n", u + v > 1 ? 1 - u : u, u + v > 1 ? 1 - v : v);
    }
    for (int i = 0; i < THETAS; i++) fprintf(f, "%.6f\n", 0.3 * normal(r));
}

void generate(const char *folder, const char *name) {
    const char *file = text("%s/%s.txt", folder, name), *partial = text("%s.partial", file);
    Kind kind = instance_kind(name);
    if (kind == KINDS || !strrchr(name, '/')) fail(STATUS_USAGE, "%s: expected a name such as gmm/1k/gmm_d2_K5", name);
    FILE *f = open_to_write(partial);
    Random r = random_of(name);
    switch (kind) {
    case GMM: generate_gmm(f, &r, name); break;
    case LSTM: generate_lstm(f, &r, name); break;
    case BA: generate_ba(f, &r, name); break;
    default: generate_hand(f, &r, folder, name);
    }
    close_written(f, partial);
    if (rename(partial, file)) fail(STATUS_FILE, "%s cannot be renamed", partial);
}
