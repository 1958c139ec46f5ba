#include "models/two.hpp"

#include <iostream>

int main() {
    fsmc::context ctx;
    std::cout << "C++: " << fsm::second(ctx, 21) << '\n';
}
