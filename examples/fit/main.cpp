// The curve at a few points, from C++.
#include "decay.h"

#include <iostream>
#include <memory>
#include <vector>

int main() {
    std::unique_ptr<fsm_context, decltype(&fsm_context_free)> ctx(fsm_context_new(), fsm_context_free);
    std::vector<double> t = {0, 1, 2, 3}, y(t.size());
    if (curve(ctx.get(), (int64_t)t.size(), 2.0, 0.5, t.data(), y.data())) {
        std::cerr << fsm_context_error(ctx.get()) << '\n';
        return 1;
    }
    for (double v : y) std::cout << v << '\n';
}
