// What this machine can do with one thread.
#include <stdbool.h>

void print_roofline(bool quick);
