// What this machine can do with one thread.
#include <stdbool.h>
#include <stdint.h>

void print_roofline(bool quick);
double peak_multiply_adds(int runs); // a second

// The median nanoseconds of a loop that adds up elements of so many arrays of n numbers and writes the sums to others (none: adds
// them all), which stay in the cache in which they fit; and of one that calls a function of libm for each of n numbers, NULL: 0.
double stream_ns(int64_t n, int reads, int writes);
double function_ns(int64_t n, const char *name);
