// For the programs of this folder: each prints a line "ok NAME" for a test, or stops with what is wrong.
#ifndef TESTS_CUDA_CHECK_H
#define TESTS_CUDA_CHECK_H

#include "fsmc/cuda.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#define CHECK(condition)                                                                                                           \
    do {                                                                                                                           \
        if (!(condition)) {                                                                                                        \
            std::printf("%s:%d: not true: %s\n", __FILE__, __LINE__, #condition);                                                  \
            std::exit(1);                                                                                                          \
        }                                                                                                                          \
    } while (0)
inline void check_text(const char *file, int line, const std::string &got, const std::string &wanted) {
    if (got == wanted) return;
    std::printf("%s:%d: '%s' is expected, got '%s'\n", file, line, wanted.c_str(), got.c_str());
    std::exit(1);
}
#define CHECK_TEXT(got, wanted) check_text(__FILE__, __LINE__, got, wanted)

static const fsm_entry_info info = {FSM_ABI_VERSION, 0, 0, 0, "test", nullptr, nullptr};

#endif
