// ADBench's problems and their derivatives by hand, in plain C. `work` is memory for a call, of so many numbers.
#ifndef ADBENCH_MANUAL_H
#define ADBENCH_MANUAL_H

#include "../adbench.h"

int64_t gmm_work(const Gmm *g);
double gmm_value(const Gmm *g, double *work);
void gmm_gradient(const Gmm *g, double *work, double *gradient);

void ba_value(const Ba *a, double *errors);
void ba_jacobian(const Ba *a, int64_t *starts, int32_t *places, double *values);

int64_t lstm_work(const Lstm *s);
double lstm_value(const Lstm *s, double *work);
void lstm_gradient(const Lstm *s, double *work, double *gradient);

int64_t hand_work(const Hand *h);
void hand_value(const Hand *h, double *work, double *errors);
void hand_jacobian(const Hand *h, double *work, double *columns);

#endif
