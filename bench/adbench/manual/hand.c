#include "manual.h"

#include <math.h>
#include <string.h>

typedef double Affine[3][4]; // a linear map, and what is added

enum { ANGLES = THETAS - 6, PER_FINGER = 4 };

static void after(const Affine a, const Affine b, Affine to) {
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 4; j++) to[i][j] = a[i][0] * b[0][j] + a[i][1] * b[1][j] + a[i][2] * b[2][j] + (j == 3 ? a[i][3] : 0);
}

// The same for a derivative of a, which adds nothing to the last row of its matrix.
static void after_matrix(const Affine a, const double *b, Affine to) {
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 4; j++) to[i][j] = a[i][0] * b[j] + a[i][1] * b[4 + j] + a[i][2] * b[8 + j] + (j == 3 ? a[i][3] : 0);
}

// A turn about x, then about z; by_x and by_z, if asked for, are its derivatives.
static void turn(double x, double z, Affine to, Affine by_x, Affine by_z) {
    double cx = cos(x), sx = sin(x), cz = cos(z), sz = sin(z);
    const Affine value = {{cz, -sz * cx, sz * sx, 0}, {sz, cz * cx, -cz * sx, 0}, {0, sx, cx, 0}};
    memcpy(to, value, sizeof value);
    if (!by_x) return;
    const Affine dx = {{0, sz * sx, sz * cx, 0}, {0, -cz * sx, -cz * cx, 0}, {0, cx, -sx, 0}};
    const Affine dz = {{-sz, -cz * cx, cz * sx, 0}, {cz, -sz * cx, sz * sx, 0}, {0, 0, 0, 0}};
    memcpy(by_x, dx, sizeof dx);
    memcpy(by_z, dz, sizeof dz);
}

// The places among the angles of a bone's x and z, -1 if it does not turn about it.
static void places_of(int64_t bone, int *x, int *z) {
    int finger = (int)(bone - 1) / PER_FINGER, place = (int)(bone - 1) % PER_FINGER;
    *x = *z = -1;
    if (bone < 1 || finger >= FINGERS || place == 0) return;
    *x = PER_FINGER * finger + (place == 1 ? 0 : place);
    if (place == 1) *z = PER_FINGER * finger + 1;
}

typedef struct Skeleton {
    Affine absolute[BONES], moves[BONES];
    Affine by_angle[BONES][ANGLES];            // of moves
    Affine of_frame[BONES][ANGLES];            // of absolute
    int angles[BONES][ANGLES], nangles[BONES]; // those that a bone depends on
    double global[3][3], by_axis[3][3][3];
} Skeleton;

static void add_angle(Skeleton *s, int64_t bone, int place, const Affine frame, const Affine by, const Affine base) {
    Affine own;
    after(base, by, own);
    for (int i = 0; i < 3; i++) own[i][3] = 0; // the turn has no part that is added
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 4; j++)
            s->of_frame[bone][place][i][j] = frame[i][0] * own[0][j] + frame[i][1] * own[1][j] + frame[i][2] * own[2][j];
    s->angles[bone][s->nangles[bone]++] = place;
}

static void pose_bone(const Hand *h, int64_t bone, Skeleton *s, bool derivative) {
    static const Affine identity = {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}};
    int64_t parent = h->parents[bone];
    int x, z;
    places_of(bone, &x, &z);
    Affine turned, by_x, by_z, base, own;
    turn(x < 0 ? 0 : h->theta[6 + x], z < 0 ? 0 : h->theta[6 + z], turned, derivative ? by_x : NULL, by_z);
    memcpy(base, h->base + 16 * bone, sizeof base);
    after(base, turned, own);
    const double(*frame)[4] = parent < 0 ? identity : (const double(*)[4])s->absolute[parent];
    after(frame, own, s->absolute[bone]);
    after_matrix((const double(*)[4])s->absolute[bone], h->inverse + 16 * bone, s->moves[bone]);
    if (!derivative) return;
    s->nangles[bone] = 0;
    for (int k = 0; parent >= 0 && k < s->nangles[parent]; k++) {
        int place = s->angles[parent][k];
        after((const double(*)[4])s->of_frame[parent][place], (const double(*)[4])own, s->of_frame[bone][place]);
        s->angles[bone][s->nangles[bone]++] = place;
    }
    if (x >= 0) add_angle(s, bone, x, frame, (const double(*)[4])by_x, (const double(*)[4])base);
    if (z >= 0) add_angle(s, bone, z, frame, (const double(*)[4])by_z, (const double(*)[4])base);
    for (int k = 0; k < s->nangles[bone]; k++) {
        int place = s->angles[bone][k];
        after_matrix((const double(*)[4])s->of_frame[bone][place], h->inverse + 16 * bone, s->by_angle[bone][place]);
    }
}

static void cross_matrix(const double a[3], double scale, double to[3][3]) {
    to[0][1] -= scale * a[2], to[0][2] += scale * a[1], to[1][2] -= scale * a[0];
    to[1][0] += scale * a[2], to[2][0] -= scale * a[1], to[2][1] += scale * a[0];
}

static void turn_all(const double r[3], double to[3][3], double by[3][3][3]) {
    double angle = sqrt(r[0] * r[0] + r[1] * r[1] + r[2] * r[2]);
    memset(to, 0, 9 * sizeof(double));
    memset(by, 0, 27 * sizeof(double));
    for (int i = 0; i < 3; i++) to[i][i] = 1;
    if (angle < 1e-4) return;
    double c = cos(angle), s = sin(angle), a[3];
    for (int i = 0; i < 3; i++) a[i] = r[i] / angle;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) to[i][j] = (i == j ? c : 0) + (1 - c) * a[i] * a[j];
    cross_matrix(a, s, to);
    for (int k = 0; k < 3; k++) {
        double da[3];
        for (int i = 0; i < 3; i++) da[i] = ((i == k) - a[i] * a[k]) / angle;
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) by[k][i][j] = s * a[k] * (a[i] * a[j] - (i == j)) + (1 - c) * (da[i] * a[j] + a[i] * da[j]);
        cross_matrix(a, c * a[k], by[k]);
        cross_matrix(da, s, by[k]);
    }
}

static void pose(const Hand *h, Skeleton *s, bool derivative) {
    for (int64_t bone = 0; bone < h->bones; bone++) pose_bone(h, bone, s, derivative);
    turn_all(h->theta, s->global, s->by_axis);
}

static void transform(const Affine a, const double *x, double weight, double to[3]) {
    for (int i = 0; i < 3; i++) to[i] += weight * (a[i][0] * x[0] + a[i][1] * x[1] + a[i][2] * x[2] + a[i][3]);
}

static void times(const double m[3][3], const double x[3], double to[3]) {
    for (int i = 0; i < 3; i++) to[i] = m[i][0] * x[0] + m[i][1] * x[1] + m[i][2] * x[2];
}

static void place_vertex(const Hand *h, const Skeleton *s, int64_t v, double posed[3], double to[3]) {
    posed[0] = posed[1] = posed[2] = 0;
    for (int32_t k = h->starts[v]; k < h->starts[v + 1]; k++)
        transform((const double(*)[4])s->moves[h->by[k]], h->rest + 3 * v, h->weights[k], posed);
    times((const double(*)[3])s->global, posed, to);
    for (int i = 0; i < 3; i++) to[i] += h->theta[3 + i];
}

// The columns of theta for a vertex.
static void vertex_derivative(const Hand *h, const Skeleton *s, int64_t v, const double posed[3], double to[THETAS][3]) {
    double by_angle[ANGLES][3];
    bool used[ANGLES] = {false};
    memset(to, 0, THETAS * sizeof *to);
    for (int k = 0; k < 3; k++) {
        times((const double(*)[3])s->by_axis[k], posed, to[k]);
        to[3 + k][k] = 1;
    }
    for (int32_t k = h->starts[v]; k < h->starts[v + 1]; k++) {
        int32_t bone = h->by[k];
        for (int n = 0; n < s->nangles[bone]; n++) {
            int place = s->angles[bone][n];
            if (!used[place]) memset(by_angle[place], 0, sizeof by_angle[place]);
            used[place] = true;
            transform((const double(*)[4])s->by_angle[bone][place], h->rest + 3 * v, h->weights[k], by_angle[place]);
        }
    }
    for (int place = 0; place < ANGLES; place++)
        if (used[place]) times((const double(*)[3])s->global, by_angle[place], to[6 + place]);
}

// A skeleton, a mark for each vertex, its position, and its derivatives.
enum { SKELETON = (sizeof(Skeleton) + sizeof(double) - 1) / sizeof(double), PER_VERTEX = 1 + 3 + 3 * THETAS };

int64_t hand_work(const Hand *h) { return SKELETON + PER_VERTEX * h->vertices; }

typedef struct Vertices {
    double *done, (*at)[3], (*by)[THETAS][3];
} Vertices;

// Vertices are placed when a point needs them first.
static void need(const Hand *h, const Skeleton *s, Vertices *vs, int64_t v, bool derivative) {
    double posed[3];
    if (vs->done[v] != 0) return;
    vs->done[v] = 1;
    place_vertex(h, s, v, posed, vs->at[v]);
    if (derivative) vertex_derivative(h, s, v, posed, vs->by[v]);
}

static Vertices vertices_of(const Hand *h, Skeleton *s, bool derivative) {
    double *after_skeleton = (double *)s + SKELETON;
    pose(h, s, derivative);
    memset(after_skeleton, 0, (size_t)h->vertices * sizeof(double));
    double *at = after_skeleton + h->vertices;
    return (Vertices){after_skeleton, (double(*)[3])at, (double(*)[THETAS][3])(at + 3 * h->vertices)};
}

void hand_value(const Hand *h, double *work, double *errors) {
    Skeleton *s = (Skeleton *)work;
    Vertices vs = vertices_of(h, s, false);
    for (int64_t i = 0; i < h->n; i++) {
        const int32_t *corners = h->us ? h->corners + 3 * h->corr[i] : h->corr + i;
        double shares[3] = {h->us ? h->us[2 * i] : 1, h->us ? h->us[2 * i + 1] : 0, 0};
        shares[2] = 1 - shares[0] - shares[1];
        double *error = errors + 3 * i;
        for (int j = 0; j < 3; j++) error[j] = h->points[3 * i + j];
        for (int c = 0; c < (h->us ? 3 : 1); c++) {
            need(h, s, &vs, corners[c], false);
            for (int j = 0; j < 3; j++) error[j] -= shares[c] * vs.at[corners[c]][j];
        }
    }
}

void hand_jacobian(const Hand *h, double *work, double *columns) {
    Skeleton *s = (Skeleton *)work;
    Vertices vs = vertices_of(h, s, true);
    int64_t rows = 3 * h->n;
    double *of_theta = columns + (h->us ? 2 * rows : 0);
    for (int64_t i = 0; i < h->n; i++) {
        const int32_t *corners = h->us ? h->corners + 3 * h->corr[i] : h->corr + i;
        for (int c = 0; c < (h->us ? 3 : 1); c++) need(h, s, &vs, corners[c], true);
        if (!h->us) {
            for (int k = 0; k < THETAS; k++)
                for (int j = 0; j < 3; j++) of_theta[k * rows + 3 * i + j] = -vs.by[corners[0]][k][j];
            continue;
        }
        double u = h->us[2 * i], v = h->us[2 * i + 1];
        for (int j = 0; j < 3; j++)
            for (int c = 0; c < 2; c++) columns[c * rows + 3 * i + j] = vs.at[corners[2]][j] - vs.at[corners[c]][j];
        for (int k = 0; k < THETAS; k++)
            for (int j = 0; j < 3; j++)
                of_theta[k * rows + 3 * i + j] =
                    -(u * vs.by[corners[0]][k][j] + v * vs.by[corners[1]][k][j] + (1 - u - v) * vs.by[corners[2]][k][j]);
    }
}
