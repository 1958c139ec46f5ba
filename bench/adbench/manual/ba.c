#include "manual.h"

#include <math.h>

enum { CENTRE = 3, FOCAL = 6, PRINCIPAL = 7, RADIAL = 9 }; // places in a camera

static double dot(const double a[3], const double b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

static void cross(const double a[3], const double b[3], double to[3]) {
    to[0] = a[1] * b[2] - a[2] * b[1];
    to[1] = a[2] * b[0] - a[0] * b[2];
    to[2] = a[0] * b[1] - a[1] * b[0];
}

// y = x turned by r.
static void rotate(const double r[3], const double x[3], double y[3]) {
    double squares = dot(r, r), turned[3];
    if (squares == 0) {
        cross(r, x, turned);
        for (int i = 0; i < 3; i++) y[i] = x[i] + turned[i];
        return;
    }
    double angle = sqrt(squares), c = cos(angle), s = sin(angle), v[3];
    for (int i = 0; i < 3; i++) v[i] = r[i] / angle;
    cross(v, x, turned);
    double along = dot(v, x) * (1 - c);
    for (int i = 0; i < 3; i++) y[i] = x[i] * c + turned[i] * s + v[i] * along;
}

static void project(const double *cam, const double *point, double to[2]) {
    double x[3], y[3];
    for (int i = 0; i < 3; i++) x[i] = point[i] - cam[CENTRE + i];
    rotate(cam, x, y);
    double a = y[0] / y[2], b = y[1] / y[2], rho = a * a + b * b;
    double distortion = 1 + cam[RADIAL] * rho + cam[RADIAL + 1] * rho * rho;
    to[0] = cam[FOCAL] * distortion * a + cam[PRINCIPAL];
    to[1] = cam[FOCAL] * distortion * b + cam[PRINCIPAL + 1];
}

void ba_value(const Ba *p, double *errors) {
    for (int64_t o = 0; o < p->p; o++) {
        double seen[2];
        project(p->cams + CAMERA * p->obs[2 * o], p->points + 3 * p->obs[2 * o + 1], seen);
        for (int k = 0; k < 2; k++) errors[2 * o + k] = p->weights[o] * (seen[k] - p->feats[2 * o + k]);
        errors[2 * p->p + o] = 1 - p->weights[o] * p->weights[o];
    }
}

// Also the derivatives: by_r[j] by r[j], by_x[j] by x[j].
static void rotate_derivative(const double r[3], const double x[3], double y[3], double by_r[3][3], double by_x[3][3]) {
    double squares = dot(r, r);
    if (squares == 0) {
        for (int j = 0; j < 3; j++) {
            double unit[3] = {0};
            unit[j] = 1;
            cross(unit, x, by_r[j]);
            for (int i = 0; i < 3; i++) by_x[j][i] = unit[i];
            y[j] = x[j];
        }
        return;
    }
    double angle = sqrt(squares), c = cos(angle), s = sin(angle), v[3], turned[3], by_angle[3];
    for (int i = 0; i < 3; i++) v[i] = r[i] / angle;
    cross(v, x, turned);
    double along = dot(v, x);
    for (int i = 0; i < 3; i++) {
        y[i] = x[i] * c + turned[i] * s + v[i] * along * (1 - c);
        by_angle[i] = -x[i] * s + turned[i] * c + v[i] * along * s;
    }
    for (int j = 0; j < 3; j++) {
        double unit[3] = {0}, dv[3], dv_turned[3], unit_turned[3];
        unit[j] = 1;
        for (int i = 0; i < 3; i++) dv[i] = (unit[i] - v[i] * v[j]) / angle;
        cross(dv, x, dv_turned);
        cross(v, unit, unit_turned);
        double dv_along = dot(dv, x);
        for (int i = 0; i < 3; i++) {
            by_r[j][i] = by_angle[i] * v[j] + dv_turned[i] * s + (dv[i] * along + v[i] * dv_along) * (1 - c);
            by_x[j][i] = unit[i] * c + unit_turned[i] * s + v[i] * v[j] * (1 - c);
        }
    }
}

// The rows of an observation: camera, point, weight.
static void block(const double *cam, const double *point, double weight, const double *feat, double rows[2][BLOCK]) {
    double x[3], y[3], by_r[3][3], by_x[3][3];
    for (int i = 0; i < 3; i++) x[i] = point[i] - cam[CENTRE + i];
    rotate_derivative(cam, x, y, by_r, by_x);
    double inverse = 1 / y[2], ab[2] = {y[0] * inverse, y[1] * inverse}, rho = ab[0] * ab[0] + ab[1] * ab[1];
    double distortion = 1 + cam[RADIAL] * rho + cam[RADIAL + 1] * rho * rho;
    double by_rho = cam[RADIAL] + 2 * cam[RADIAL + 1] * rho, f = cam[FOCAL];
    for (int k = 0; k < 2; k++) {
        // By a and b, then by y.
        double by_a = weight * f * (2 * ab[k] * ab[0] * by_rho + (k == 0 ? distortion : 0));
        double by_b = weight * f * (2 * ab[k] * ab[1] * by_rho + (k == 1 ? distortion : 0));
        double by_y[3] = {by_a * inverse, by_b * inverse, -(by_a * ab[0] + by_b * ab[1]) * inverse};
        double *row = rows[k];
        for (int j = 0; j < 3; j++) {
            row[j] = dot(by_y, by_r[j]);
            row[CAMERA + j] = dot(by_y, by_x[j]);
            row[CENTRE + j] = -row[CAMERA + j];
        }
        row[FOCAL] = weight * distortion * ab[k];
        row[PRINCIPAL + k] = weight;
        row[PRINCIPAL + 1 - k] = 0;
        row[RADIAL] = weight * f * ab[k] * rho;
        row[RADIAL + 1] = row[RADIAL] * rho;
        row[BLOCK - 1] = f * distortion * ab[k] + cam[PRINCIPAL + k] - feat[k];
    }
}

void ba_jacobian(const Ba *p, int64_t *starts, int32_t *places, double *values) {
    int32_t points = (int32_t)(CAMERA * p->n), weights = points + (int32_t)(3 * p->m);
    starts[0] = 0;
    for (int64_t o = 0; o < p->p; o++) {
        int32_t camera = p->obs[2 * o], point = p->obs[2 * o + 1];
        block(p->cams + CAMERA * camera, p->points + 3 * point, p->weights[o], p->feats + 2 * o,
              (double(*)[BLOCK])(values + 2 * BLOCK * o));
        for (int k = 0; k < 2; k++) {
            int64_t row = 2 * o + k;
            int32_t *to = places + BLOCK * row;
            for (int j = 0; j < CAMERA; j++) to[j] = CAMERA * camera + j;
            for (int j = 0; j < 3; j++) to[CAMERA + j] = points + 3 * point + j;
            to[BLOCK - 1] = weights + (int32_t)o;
            starts[row + 1] = BLOCK * (row + 1);
        }
    }
    for (int64_t o = 0; o < p->p; o++) {
        int64_t at = 2 * BLOCK * p->p + o;
        values[at] = -2 * p->weights[o];
        places[at] = weights + (int32_t)o;
        starts[2 * p->p + o + 1] = at + 1;
    }
}
