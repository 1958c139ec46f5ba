// expect [--small] [WORD…]: what the CPU's code gives for the cases whose names contain a word, for run.cu to compare with.
// A line: the case's name, the number of the result, its largest magnitude, and samples; a tab between each.
#include "cases.h"

int main(int argc, char **argv) {
    const bool small = argc > 1 && !strcmp(argv[1], "--small");
    fsm_context *ctx = fsm_context_new();
    for (const Case &c : cases) {
        bool wanted = argc <= 1 + small;
        for (int i = 1 + small; i < argc; i++) wanted = wanted || c.name().find(argv[i]) != std::string::npos;
        if (!wanted || (small && !c.small)) continue;
        Problem p = make_problem(c);
        void *in[4], *out[4];
        for (size_t i = 0; i < p.in.size(); i++) in[i] = p.in[i].bytes.data();
        for (size_t i = 0; i < p.out.size(); i++) {
            p.out[i].bytes.resize(p.out[i].size * size_t(p.out[i].count));
            out[i] = p.out[i].bytes.data();
        }
        if (call_case(c, ctx, nullptr, in, out)) {
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
