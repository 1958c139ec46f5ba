// What this machine can do with one thread.
#include <stdbool.h>

void print_roofline(bool quick);
double peak_multiply_adds(int runs); // a second
