#include "manual.h"

#include <math.h>
#include <string.h>

enum { FORGET, IN, OUT, CHANGE, GATES, CELL = GATES, SQUASHED, OUTPUT, KEPT }; // what is kept of a layer in a step

static double sigmoid(double x) { return 1 / (1 + exp(-x)); }

// A step of a layer: the gates, the new cell, its tanh and the new output.
static void layer(int64_t b, const double *weights, const double *biases, const double *input, const double *last,
                  const double *cell, double *restrict to) {
    for (int64_t j = 0; j < b; j++) {
        double f = sigmoid(input[j] * weights[j] + biases[j]);
        double i = sigmoid(last[j] * weights[b + j] + biases[b + j]);
        double o = sigmoid(input[j] * weights[2 * b + j] + biases[2 * b + j]);
        double change = tanh(last[j] * weights[3 * b + j] + biases[3 * b + j]);
        double next = cell[j] * f + i * change, squashed = tanh(next);
        to[FORGET * b + j] = f, to[IN * b + j] = i, to[OUT * b + j] = o, to[CHANGE * b + j] = change;
        to[CELL * b + j] = next, to[SQUASHED * b + j] = squashed, to[OUTPUT * b + j] = o * squashed;
    }
}

// For each step the input and the layers; the adjoints of outputs and cells; what is predicted, and its adjoint.
static int64_t kept_of_step(const Lstm *s) { return s->b * (1 + KEPT * s->l); }

int64_t lstm_work(const Lstm *s) { return (s->c - 1) * kept_of_step(s) + 2 * s->l * s->b + 3 * s->b; }

// Output (0) or cell (1) of a layer before step t.
static const double *before(const Lstm *s, const double *work, int64_t t, int64_t i, int which) {
    if (t == 0) return s->state + (2 * i + which) * s->b;
    return work + (t - 1) * kept_of_step(s) + s->b * (1 + KEPT * i + (which ? CELL : OUTPUT));
}

static void forward(const Lstm *s, double *work, int64_t t) {
    double *kept = work + t * kept_of_step(s);
    for (int64_t j = 0; j < s->b; j++) kept[j] = s->sequence[t * s->b + j] * s->extra[j];
    const double *input = kept;
    for (int64_t i = 0; i < s->l; i++) {
        double *to = kept + s->b * (1 + KEPT * i);
        const double *weights = s->params + 8 * i * s->b;
        layer(s->b, weights, weights + 4 * s->b, input, before(s, work, t, i, 0), before(s, work, t, i, 1), to);
        input = to + OUTPUT * s->b;
    }
}

// What a step says of the next bits; y is for the predictions, the logarithm of their sum is returned in `norm`.
static double prediction(const Lstm *s, const double *work, int64_t t, double *y, double *norm) {
    const double *last = work + t * kept_of_step(s) + s->b * (1 + KEPT * (s->l - 1) + OUTPUT), *next = s->sequence + (t + 1) * s->b;
    double sum = 2, total = 0;
    for (int64_t j = 0; j < s->b; j++) {
        y[j] = last[j] * s->extra[s->b + j] + s->extra[2 * s->b + j];
        sum += exp(y[j]);
    }
    *norm = log(sum);
    for (int64_t j = 0; j < s->b; j++) total += next[j] * (y[j] - *norm);
    return total;
}

double lstm_value(const Lstm *s, double *work) {
    double total = 0, norm, *y = work + (s->c - 1) * kept_of_step(s);
    for (int64_t t = 0; t + 1 < s->c; t++) {
        forward(s, work, t);
        total += prediction(s, work, t, y, &norm);
    }
    return -total / (double)(s->b * (s->c - 1));
}

// Back through a layer: from the adjoints of its output and cell to those of its last output, cell and input.
static void layer_back(int64_t b, const double *weights, const double *input, const double *last, const double *cell,
                       const double *kept, double *restrict of_output, double *restrict of_cell, const double *of_above,
                       double *restrict of_input, double *restrict gradient) {
    for (int64_t j = 0; j < b; j++) {
        double f = kept[FORGET * b + j], i = kept[IN * b + j], o = kept[OUT * b + j], change = kept[CHANGE * b + j];
        double squashed = kept[SQUASHED * b + j], h = of_output[j] + of_above[j];
        double c = of_cell[j] + h * o * (1 - squashed * squashed);
        double df = c * cell[j] * f * (1 - f), di = c * change * i * (1 - i);
        double dout = h * squashed * o * (1 - o), dchange = c * i * (1 - change * change);
        gradient[j] += df * input[j], gradient[b + j] += di * last[j];
        gradient[2 * b + j] += dout * input[j], gradient[3 * b + j] += dchange * last[j];
        gradient[4 * b + j] += df, gradient[5 * b + j] += di;
        gradient[6 * b + j] += dout, gradient[7 * b + j] += dchange;
        of_input[j] = df * weights[j] + dout * weights[2 * b + j];
        of_output[j] = di * weights[b + j] + dchange * weights[3 * b + j];
        of_cell[j] = c * f;
    }
}

void lstm_gradient(const Lstm *s, double *work, double *gradient) {
    int64_t b = s->b, steps = s->c - 1;
    double *adjoints = work + steps * kept_of_step(s), *y = adjoints + 2 * s->l * b, *above = y + b, *below = above + b;
    double *extra = gradient + 8 * s->l * b, scale = -1 / (double)(b * steps), norm;
    memset(gradient, 0, (size_t)(8 * s->l * b + 3 * b) * sizeof *gradient);
    memset(adjoints, 0, (size_t)(2 * s->l * b) * sizeof *adjoints);
    for (int64_t t = 0; t < steps; t++) forward(s, work, t);
    for (int64_t t = steps - 1; t >= 0; t--) {
        const double *kept = work + t * kept_of_step(s), *next = s->sequence + (t + 1) * b;
        const double *last = kept + b * (1 + KEPT * (s->l - 1) + OUTPUT);
        prediction(s, work, t, y, &norm);
        double bits = 0;
        for (int64_t j = 0; j < b; j++) bits += next[j];
        for (int64_t j = 0; j < b; j++) {
            double dy = scale * (next[j] - bits * exp(y[j] - norm));
            extra[b + j] += dy * last[j];
            extra[2 * b + j] += dy;
            above[j] = dy * s->extra[b + j];
        }
        for (int64_t i = s->l - 1; i >= 0; i--) {
            const double *input = i ? kept + b * (1 + KEPT * (i - 1) + OUTPUT) : kept;
            layer_back(b, s->params + 8 * i * b, input, before(s, work, t, i, 0), before(s, work, t, i, 1),
                       kept + b * (1 + KEPT * i), adjoints + 2 * i * b, adjoints + (2 * i + 1) * b, above, below,
                       gradient + 8 * i * b);
            double *swap = above;
            above = below, below = swap;
        }
        for (int64_t j = 0; j < b; j++) extra[j] += above[j] * s->sequence[t * b + j];
    }
}
