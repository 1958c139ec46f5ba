#include "models/two.h"

#include <iostream>

int main() {
    double y = 0;
    fsm_context *ctx = fsm_context_new();
    int code = second(ctx, 21, &y);
    std::cout << "C++: " << code << ' ' << y << '\n';
    fsm_context_free(ctx);
    return code;
}
