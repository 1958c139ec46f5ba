// expect [--small] [WORD…]: what the CPU's code gives for the cases whose names contain a word, for run.cu to compare with.
// A line: the case's name, the number of the result, its largest magnitude, and samples; a tab between each.
#include "cases.h"

int main(int argc, char **argv) {
    const bool small = argc > 1 && !strcmp(argv[1], "--small");
    const std::vector<std::string> words(argv + 1 + small, argv + argc);
    fsm_context *ctx = fsm_context_new();
    for (const Case &c : cases()) {
        if (!is_meant(c, words, small)) continue;
        Problem p = c.problem();
        std::vector<Any> in, out;
        for (Array &a : p.in) in.push_back({a.bytes.data()});
        for (Array &a : p.out) a = Numbers::empty(a.kind, a.count), out.push_back({a.bytes.data()});
        if (c.program.call(ctx, nullptr, c.size, in.data(), out.data())) {
            fprintf(stderr, "%s: %s\n", c.name().c_str(), fsm_context_error(ctx));
            return 1;
        }
        for (size_t k = 0; k < p.out.size(); k++) {
            const Array &a = p.out[k];
            double largest = 0;
            for (int64_t i = 0; i < a.count; i++) largest = fmax(largest, fabs(a.at(i)));
            printf("%s\t%zu\t%a", c.name().c_str(), k, largest);
            for (int64_t i = 0; i < a.count; i += sample_step(a.count)) printf("\t%a", a.at(i));
            putchar('\n');
        }
        fflush(stdout);
    }
    fsm_context_free(ctx);
    return 0;
}
