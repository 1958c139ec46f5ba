#include "directions.h"

#include "runner.h"

#include "../../examples/random.h"
#include "text.h"

#include <stdlib.h>
#include <string.h>

// What an objective is differentiated by: arrays, in the order of the Jacobian's columns.
typedef struct Part {
    double *at;
    int64_t length;
} Part;

enum { PARTS = 3 };

static void parts_of(Problem *q, Part parts[PARTS]) {
    memset(parts, 0, PARTS * sizeof *parts);
    switch (q->kind) {
    case GMM: parts[0] = (Part){q->gmm.alphas, q->gmm.k * (q->gmm.d + 1) * (q->gmm.d + 2) / 2}; break;
    case LSTM: parts[0] = (Part){q->lstm.params, 8 * q->lstm.l * q->lstm.b + 3 * q->lstm.b}; break;
    case BA:
        parts[0] = (Part){q->ba.cams, CAMERA * q->ba.n};
        parts[1] = (Part){q->ba.points, 3 * q->ba.m};
        parts[2] = (Part){q->ba.weights, q->ba.p};
        break;
    default: parts[0] = (Part){q->hand.us, q->hand.us ? 2 * q->hand.n : 0}; parts[1] = (Part){q->hand.theta, THETAS};
    }
}

// Jacobian times direction. The two columns of HAND's us are of all points.
static double *times_direction(const Problem *q, const Results *r, const double *v) {
    double *product = allocate(r->rows, sizeof *product);
    for (int64_t i = 0; i < r->rows; i++) {
        if (r->starts)
            for (int64_t e = r->starts[i]; e < r->starts[i + 1]; e++) product[i] += r->derivative[e] * v[r->places[e]];
        else if (!is_hand(q->kind))
            for (int64_t j = 0; j < r->columns; j++) product[i] += r->derivative[j] * v[j];
        else {
            int64_t packed = r->columns - THETAS, us = packed ? 2 * q->hand.n : 0;
            for (int64_t j = 0; j < packed; j++) product[i] += r->derivative[j * r->rows + i] * v[2 * (i / 3) + j];
            for (int64_t j = 0; j < THETAS; j++) product[i] += r->derivative[(packed + j) * r->rows + i] * v[us + j];
        }
    }
    return product;
}

static void move(const Part parts[PARTS], const double *v, double step) {
    for (int k = 0; k < PARTS; k++)
        for (int64_t i = 0; i < parts[k].length; i++) parts[k].at[i] += step * *v++;
}

double difference_of_direction(Problem *problem, const Tool *tool, void *state, const Results *r) {
    static const double step = 1e-5;
    Part parts[PARTS];
    parts_of(problem, parts);
    int64_t count = 0;
    for (int k = 0; k < PARTS; k++) count += parts[k].length;
    double *v = allocate(count, sizeof *v), worst = 0;
    Random random = {.state = 1};
    for (int64_t i = 0; i < count; i++) v[i] = 2 * uniform(&random) - 1;
    Results sides[2];
    for (int s = 0; s < 2; s++) {
        sides[s] = results_new(problem, false);
        move(parts, v, s ? -2 * step : step);
        check_tool(tool, state, &sides[s]);
    }
    move(parts, v, step);
    double *product = times_direction(problem, r, v);
    for (int64_t i = 0; i < r->rows; i++) {
        double slope = (sides[0].value[i] - sides[1].value[i]) / (2 * step), rho = difference(slope, product[i]);
        if (!(rho <= worst)) worst = rho;
    }
    results_free(&sides[0]);
    results_free(&sides[1]);
    free(product);
    free(v);
    return worst;
}
