#ifndef ADBENCH_DIRECTIONS_H
#define ADBENCH_DIRECTIONS_H

#include "adbench.h"

// The largest difference between the derivative along a made-up direction and central differences of the objective.
double difference_of_direction(Problem *problem, const Tool *tool, void *state, const Results *results);

#endif
